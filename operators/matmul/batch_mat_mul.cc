#include "operators/matmul/batch_mat_mul.h"

#include <algorithm>
#include <utility>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/common/onednn_argument.h"
#include "operators/primitives/gemm.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int> kBatchMatMulUseScratch{"use_scratch", 0,
                                                   "has no effect; accepted for compatibility"};

// An operand as a batch of matrices: its batch axes, and the rows and columns as stored.
struct Matrices {
  std::vector<int64_t> batch;
  int64_t rows = 1, columns = 1;
  bool vector = false;
};

Matrices AsMatrices(IntArrayRef dims, bool vector_is_row) {
  Matrices matrices;
  const size_t rank = dims.size();
  if (rank == 1) {
    matrices.vector = true;
    (vector_is_row ? matrices.columns : matrices.rows) = dims[0];
  } else {
    matrices.rows = dims[rank - 2];
    matrices.columns = dims[rank - 1];
    matrices.batch.assign(dims.begin(), dims.end() - 2);
  }
  return matrices;
}

// The stride, in matrices of `batch`, of each axis of `out`; 0 for a broadcast axis.
std::vector<int64_t> BroadcastStrides(const std::vector<int64_t>& batch,
                                      const std::vector<int64_t>& out) {
  std::vector<int64_t> strides(out.size(), 0);
  const size_t skipped = out.size() - batch.size();
  int64_t stride = 1;
  for (size_t i = batch.size(); i-- > 0;) {
    strides[i + skipped] = batch[i] == 1 ? 0 : stride;
    stride *= batch[i];
  }
  return strides;
}

std::vector<int64_t> BroadcastBatch(const Matrices& a, const Matrices& b, bool broadcast) {
  CAFFE_ENFORCE(
      broadcast || a.vector || b.vector || CheckedProduct(a.batch) == CheckedProduct(b.batch),
      "batch axes ", IntArrayRef(a.batch), " of input 0 (A) and ", IntArrayRef(b.batch),
      " of input 1 (B), want the same number of matrices, or the argument broadcast");
  std::vector<int64_t> out(std::max(a.batch.size(), b.batch.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t p = i < a.batch.size() ? a.batch[a.batch.size() - 1 - i] : 1;
    const int64_t q = i < b.batch.size() ? b.batch[b.batch.size() - 1 - i] : 1;
    CAFFE_ENFORCE(p == q || p <= 1 || q <= 1, "batch axes ", IntArrayRef(a.batch),
                  " of input 0 (A) and ", IntArrayRef(b.batch),
                  " of input 1 (B), want axes that are equal or 1");
    out[out.size() - 1 - i] = p == 0 || q == 0 ? 0 : std::max(p, q);
  }
  return out;
}

BatchMatMulPlan PlanOf(const OperatorDef& def, const std::vector<TensorShape>& in) {
  const ArgumentHelper args(def);
  return PlanBatchMatMul(GetDimsVector(in[0]), GetDimsVector(in[1]), args.Read(kBatchMatMulTransA),
                         args.Read(kBatchMatMulTransB), args.Read(kBatchMatMulBroadcast),
                         args.Read(kBatchMatMulScalar));
}

std::vector<TensorShape> InferBatchMatMul(const OperatorDef& def,
                                          const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 2)) return UnknownOutputs(def);
  return {CreateTensorShape(PlanOf(def, in).y_dims, in[0].data_type())};
}

OpSchema::Cost BatchMatMulCost(const OperatorDef& def, const std::vector<TensorShape>& in) {
  OpSchema::Cost cost;
  if (!AreKnown(in, 2)) return cost;
  const BatchMatMulPlan plan = PlanOf(def, in);
  const uint64_t outputs = static_cast<uint64_t>(CheckedProduct(plan.y_dims));
  cost.flops = 2 * outputs * static_cast<uint64_t>(plan.k);
  cost.bytes_read = (NumElements(in[0]) + NumElements(in[1])) * sizeof(float);
  cost.bytes_written = outputs * sizeof(float);
  cost.bytes_moved = cost.bytes_read + cost.bytes_written;
  return cost;
}

}  // namespace

BatchMatMulPlan PlanBatchMatMul(IntArrayRef a_dims, IntArrayRef b_dims, bool trans_a, bool trans_b,
                                bool broadcast, bool scalar) {
  CAFFE_ENFORCE(a_dims.size() >= 1 && b_dims.size() >= 1, "inputs have shapes ", a_dims, " and ",
                b_dims, ", want at least rank 1");
  const Matrices a = AsMatrices(a_dims, true), b = AsMatrices(b_dims, false);
  BatchMatMulPlan plan;
  plan.trans_a = trans_a && a_dims.size() > 1;
  plan.trans_b = trans_b && b_dims.size() > 1;
  plan.m = plan.trans_a ? a.columns : a.rows;
  plan.k = plan.trans_a ? a.rows : a.columns;
  plan.n = plan.trans_b ? b.rows : b.columns;
  CAFFE_ENFORCE_EQ(plan.trans_b ? b.columns : b.rows, plan.k, "rows of input 1 (B) of shape ",
                   b_dims, plan.trans_b ? " transposed" : "",
                   ", want the columns of input 0 (A) of shape ", a_dims,
                   plan.trans_a ? " transposed" : "");
  const std::vector<int64_t> out = BroadcastBatch(a, b, broadcast);
  plan.y_dims = out;
  if (a_dims.size() > 1) plan.y_dims.push_back(plan.m);
  if (b_dims.size() > 1) plan.y_dims.push_back(plan.n);
  if (plan.y_dims.empty() && !scalar) plan.y_dims.push_back(1);
  (void)CheckedProduct(plan.y_dims);
  plan.batch_dims = out;
  plan.a_strides = BroadcastStrides(a.batch, out);
  plan.b_strides = BroadcastStrides(b.batch, out);
  return plan;
}

int64_t LocateMatrix(const std::vector<int64_t>& dims, const std::vector<int64_t>& strides,
                     int64_t i) {
  int64_t at = 0;
  for (size_t axis = dims.size(); axis-- > 0;) {
    at += i % dims[axis] * strides[axis];
    i /= dims[axis];
  }
  return at;
}

// Threads divide the matrices of Y.
void RunBatchMatMul(CPUContext&, math::GemmEngine, const BatchMatMulPlan& plan, const float* a,
                    const float* b, float* y) {
  const int64_t lda = std::max<int64_t>(plan.trans_a ? plan.m : plan.k, 1);
  const int64_t ldb = std::max<int64_t>(plan.trans_b ? plan.k : plan.n, 1);
  const int64_t batch = CheckedProduct(plan.batch_dims);
  const int pieces = static_cast<int>(std::min<int64_t>(GetNumThreads(), batch));
  ParallelFor(pieces, [&](int piece) {
    const int64_t end = batch * (piece + 1) / pieces;
    int64_t run = 1;
    for (int64_t i = batch * piece / pieces; i < end; i += run) {
      const int64_t from_a = LocateMatrix(plan.batch_dims, plan.a_strides, i);
      const int64_t from_b = LocateMatrix(plan.batch_dims, plan.b_strides, i);
      // Consecutive matrices of A that are multiplied by the same B are multiplied as one tall
      // matrix.
      run = 1;
      while (!plan.trans_a && i + run < end &&
             LocateMatrix(plan.batch_dims, plan.b_strides, i + run) == from_b &&
             LocateMatrix(plan.batch_dims, plan.a_strides, i + run) == from_a + run) {
        ++run;
      }
      Sgemm(plan.trans_a, plan.trans_b, plan.m * run, plan.n, plan.k, 1.f,
            a + from_a * plan.m * plan.k, lda, b + from_b * plan.k * plan.n, ldb, 0.f,
            y + i * plan.m * plan.n, plan.n);
    }
  });
}

namespace {

// For Y = op(A) op(B): the gradients of A and B are products of dY and the other operand. With
// broadcast, which Caffe2 cannot differentiate, they are sums of such products.
class GetBatchMatMulGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  bool CopyArguments() const override { return false; }

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    const ArgumentHelper args(def_);
    if (args.Read(kBatchMatMulBroadcast)) {
      CAFFE_ENFORCE(args.Read(kBatchMatMulBroadcastGradient),
                    "the gradient of BatchMatMul with broadcast 1 is not implemented in Caffe2; "
                    "argument broadcast_gradient 1 allows that of this library");
      return {OfOperand(0), OfOperand(1)};
    }
    const bool trans_a = args.Read(kBatchMatMulTransA), trans_b = args.Read(kBatchMatMulTransB);
    const std::string a = I(0), b = I(1), dy = GO(0);
    return {
        trans_a ? Multiply(b, trans_b, dy, true, GI(0)) : Multiply(dy, false, b, !trans_b, GI(0)),
        trans_b ? Multiply(dy, true, a, trans_a, GI(1)) : Multiply(a, !trans_a, dy, false, GI(1))};
  }

 private:
  OperatorDef OfOperand(int operand) {
    std::vector<Argument> args;
    for (const auto& spec : {kBatchMatMulTransA, kBatchMatMulTransB, kBatchMatMulBroadcast}) {
      if (ArgumentHelper(def_).Read(spec)) args.push_back(MakeArgument<int>(spec.name, 1));
    }
    if (operand != 0) args.push_back(MakeArgument<int>("operand", operand));
    return CreateOperatorDef(
        "BatchMatMulGradient", "",
        {operand == 0 ? ShapeOf(0) : I(0), operand == 1 ? ShapeOf(1) : I(1), GO(0)}, {GI(operand)},
        args);
  }

  // The operator that computes op(left) op(right).
  static OperatorDef Multiply(const std::string& left, bool trans_left, const std::string& right,
                              bool trans_right, const std::string& result) {
    std::vector<Argument> args;
    if (trans_left) args.push_back(MakeArgument<int>(kBatchMatMulTransA.name, 1));
    if (trans_right) args.push_back(MakeArgument<int>(kBatchMatMulTransB.name, 1));
    return CreateOperatorDef("BatchMatMul", "", {left, right}, {result}, args);
  }
};

}  // namespace

void RegisterBatchMatMul() {
  RegisterSchema("BatchMatMul", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .TensorInferenceFunction(InferBatchMatMul)
      .CostInferenceFunction(BatchMatMulCost)
      .Traits({.family = OperatorFamily::kMatMul, .multiply_adds = MultiplyAddCount::kMatMul})
      .SetDoc(
          "Multiplies batches of matrices: Y = A B for the matrices in the last two axes of A and "
          "B, for each index of the batch axes. A vector A is treated as a row, a vector B as a "
          "column.")
      .Args(kBatchMatMulTransA, kBatchMatMulTransB, kBatchMatMulBroadcast,
            kBatchMatMulBroadcastGradient, kBatchMatMulScalar, kBatchMatMulUseScratch,
            kLeastPrecision)
      .Input(0, "A", "left operand, [batch..., M, K], or [batch..., K, M] with trans_a")
      .Input(1, "B", "right operand, [batch..., K, N], or [batch..., N, K] with trans_b")
      .Output(0, "Y", "product, [batch..., M, N]");
  RegisterCpuOperator<BatchMatMulOp<CPUContext>>("BatchMatMul", __FILE__);
  RegisterGradient<GetBatchMatMulGradient>("BatchMatMul", __FILE__);
}

}  // namespace caffe2rt
