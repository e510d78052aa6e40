#include "operators/matmul/mat_mul.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/common/onednn_argument.h"
#include "operators/primitives/gemm.h"

namespace caffe2rt {

namespace {

MatMulSizes SizesOf(const OperatorDef& def, const std::vector<TensorShape>& in) {
  const ArgumentHelper args(def);
  return CheckMatMulShapes(GetDimsVector(in[0]), GetDimsVector(in[1]), args.Read(kMatMulAxisA),
                           args.Read(kMatMulAxisB), args.Read(kMatMulTransA) != 0,
                           args.Read(kMatMulTransB) != 0);
}

std::vector<TensorShape> InferMatMul(const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 2)) return UnknownOutputs(def);
  const MatMulSizes sizes = SizesOf(def, in);
  if (in.size() < 3) {
    return {CreateTensorShape(std::vector<int64_t>{sizes.m, sizes.n}, in[0].data_type())};
  }
  if (!IsKnown(in[2])) return UnknownOutputs(def);
  return {CreateTensorShape(GetDimsVector(in[2]), in[0].data_type())};
}

OpSchema::Cost MatMulCost(const OperatorDef& def, const std::vector<TensorShape>& in) {
  OpSchema::Cost cost;
  if (!AreKnown(in, 2)) return cost;
  const MatMulSizes sizes = SizesOf(def, in);
  const uint64_t m = static_cast<uint64_t>(sizes.m), n = static_cast<uint64_t>(sizes.n),
                 k = static_cast<uint64_t>(sizes.k);
  cost.flops = 2 * m * n * k;
  cost.bytes_read = (m * k + k * n) * sizeof(float);
  cost.bytes_written = m * n * sizeof(float);
  cost.bytes_moved = cost.bytes_read + cost.bytes_written;
  return cost;
}

// For Y = op(A) op(B): the gradients of A and B are products of dY and the other operand, in the
// shapes of A and B. An operand keeps its axis, but as in Caffe2 any axis except 0 becomes 1. For an
// operand of rank above 2, the gradient operators throw if that is another matrix.
class GetMatMulGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  bool CopyArguments() const override { return false; }

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    const ArgumentHelper args(def_);
    const bool trans_a = args.Read(kMatMulTransA) != 0, trans_b = args.Read(kMatMulTransB) != 0;
    const Operand a{I(0), AxisOf(args.Read(kMatMulAxisA))};
    const Operand b{I(1), AxisOf(args.Read(kMatMulAxisB))};
    const Operand dy{GO(0), std::nullopt};
    const OperatorDef da = trans_a ? Multiply(b, trans_b, dy, true, a.name, GI(0))
                                   : Multiply(dy, false, b, !trans_b, a.name, GI(0));
    const OperatorDef db = trans_b ? Multiply(dy, true, a, trans_a, b.name, GI(1))
                                   : Multiply(a, !trans_a, dy, false, b.name, GI(1));
    return {da, db};
  }

 private:
  struct Operand {
    std::string name;
    std::optional<int> axis;  // none: the default
  };
  static int AxisOf(int axis) { return axis == 0 ? 0 : 1; }

  // The operator that computes op(left) op(right) in the shape of `like`.
  static OperatorDef Multiply(const Operand& left, bool trans_left, const Operand& right,
                              bool trans_right, const std::string& like,
                              const std::string& result) {
    std::vector<Argument> args;
    if (trans_left) args.push_back(MakeArgument<int>(kMatMulTransA.name, 1));
    if (trans_right) args.push_back(MakeArgument<int>(kMatMulTransB.name, 1));
    if (left.axis) args.push_back(MakeArgument<int>(kMatMulAxisA.name, *left.axis));
    if (right.axis) args.push_back(MakeArgument<int>(kMatMulAxisB.name, *right.axis));
    return CreateOperatorDef("MatMul", "", {left.name, right.name, like}, {result}, args);
  }
};

}  // namespace

MatMulSizes CheckMatMulShapes(IntArrayRef a, IntArrayRef b, int axis_a, int axis_b, bool trans_a,
                              bool trans_b) {
  const int cut_a = canonical_axis_index_(axis_a, static_cast<int>(a.size()));
  const int cut_b = canonical_axis_index_(axis_b, static_cast<int>(b.size()));
  int64_t m = size_to_dim_(cut_a, a), k = size_from_dim_(cut_a, a);
  int64_t k_of_b = size_to_dim_(cut_b, b), n = size_from_dim_(cut_b, b);
  if (trans_a) std::swap(m, k);
  if (trans_b) std::swap(k_of_b, n);
  CAFFE_ENFORCE_EQ(k, k_of_b, "columns of input 0 (A) of shape ", a, trans_a ? " transposed" : "",
                   ", want the rows of input 1 (B) of shape ", b, trans_b ? " transposed" : "");
  return {m, n, k};
}

// Threads divide the M rows of Y, one GEMM each.
void RunMatMul(CPUContext&, math::GemmEngine, const MatMulSizes& sizes, bool trans_a, bool trans_b,
               const float* a, const float* b, float* y) {
  const auto [m, n, k] = sizes;
  const int64_t lda = std::max<int64_t>(trans_a ? m : k, 1);
  const int64_t ldb = std::max<int64_t>(trans_b ? k : n, 1);
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const int pieces =
      work < kGemmWorthCutting ? 1 : static_cast<int>(std::min<int64_t>(GetNumThreads(), m));
  ParallelFor(pieces, [&, m = m, n = n, k = k](int piece) {
    const int64_t first = m * piece / pieces, last = m * (piece + 1) / pieces;
    Sgemm(trans_a, trans_b, last - first, n, k, 1.f, trans_a ? a + first : a + first * k, lda, b,
          ldb, 0.f, y + first * n, n);
  });
}

void RegisterMatMul() {
  RegisterSchema("MatMul", __FILE__)
      .NumInputs(2, 3)
      .NumOutputs(1)
      .TensorInferenceFunction(InferMatMul)
      .CostInferenceFunction(MatMulCost)
      .FloatInputs(2)
      .Traits({.family = OperatorFamily::kMatMul, .multiply_adds = MultiplyAddCount::kMatMul})
      .SetDoc(
          "Matrix multiplication: Y = op(A) op(B), where A and B are flattened to matrices at "
          "axis_a and axis_b, and op transposes if trans_a or trans_b is set.")
      .Args(kMatMulAxisA, kMatMulAxisB, kMatMulTransA, kMatMulTransB, kLeastPrecision)
      .Input(0, "A", "left operand")
      .Input(1, "B", "right operand")
      .Input(2, "shape",
             "optional; Y gets the shape of this tensor, which must have M * N elements")
      .Output(0, "Y", "product, [M, N], or the shape of input 2");
  RegisterCpuOperator<MatMulOp<CPUContext>>("MatMul", __FILE__);
  RegisterGradient<GetMatMulGradient>("MatMul", __FILE__);
}

}  // namespace caffe2rt
