#include "operators/matmul/batch_mat_mul_gradient.h"

#include <algorithm>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/primitives/gemm.h"

namespace caffe2rt {

namespace {

std::vector<TensorShape> InferBatchMatMulGradient(const OperatorDef& def,
                                                  const std::vector<TensorShape>& in) {
  const size_t operand = static_cast<size_t>(ArgumentHelper(def).Read(kBatchMatMulOperand));
  if (!IsKnown(in[operand])) return UnknownOutputs(def);
  return {CreateTensorShape(GetDimsVector(in[operand]), in[operand].data_type())};
}

OpSchema::Cost BatchMatMulGradientCost(const OperatorDef& def, const std::vector<TensorShape>& in) {
  OpSchema::Cost cost;
  if (!AreKnown(in, 3)) return cost;
  const ArgumentHelper args(def);
  const int operand = args.Read(kBatchMatMulOperand);
  const BatchMatMulPlan plan =
      PlanBatchMatMul(GetDimsVector(in[0]), GetDimsVector(in[1]), args.Read(kBatchMatMulTransA),
                      args.Read(kBatchMatMulTransB), args.Read(kBatchMatMulBroadcast));
  cost.flops = 2 * NumElements(in[2]) * static_cast<uint64_t>(plan.k);
  cost.bytes_read = (NumElements(in[operand == 0 ? 1 : 0]) + NumElements(in[2])) * sizeof(float);
  cost.bytes_written = NumElements(in[static_cast<size_t>(operand)]) * sizeof(float);
  cost.bytes_moved = cost.bytes_read + cost.bytes_written;
  return cost;
}

}  // namespace

BatchMatMulGradientPlan PlanBatchMatMulGradient(const BatchMatMulPlan& forward, bool of_b) {
  const int64_t m = forward.m, n = forward.n, k = forward.k;
  const bool trans = of_b ? forward.trans_b : forward.trans_a;
  BatchMatMulGradientPlan plan;
  // dA = dY op(B)^T or, transposed, op(B) dY^T; dB = op(A)^T dY or, transposed, dY^T op(A).
  plan.dy_is_left = of_b == trans;
  plan.inner = of_b ? m : n;
  plan.rows = of_b == trans ? (of_b ? n : m) : k;
  plan.columns = of_b == trans ? k : (of_b ? n : m);
  const bool other_trans = (of_b ? forward.trans_a : forward.trans_b) != (plan.dy_is_left != of_b);
  const bool dy_trans = trans;
  plan.trans_left = plan.dy_is_left ? dy_trans : other_trans;
  plan.trans_right = plan.dy_is_left ? other_trans : dy_trans;
  const int64_t other_step = of_b ? (forward.trans_a ? m : k) : (forward.trans_b ? k : n);
  plan.left_step = plan.dy_is_left ? n : other_step;
  plan.right_step = plan.dy_is_left ? other_step : n;
  plan.dy_size = m * n;
  plan.other_size = of_b ? m * k : k * n;
  plan.joins_inner = of_b && !forward.trans_a;
  plan.joins_rows = !of_b && !forward.trans_a;
  plan.batch_dims = forward.batch_dims;
  plan.other_strides = of_b ? forward.a_strides : forward.b_strides;
  const std::vector<int64_t>& strides = of_b ? forward.b_strides : forward.a_strides;
  int64_t stride = CheckedProduct(forward.batch_dims);
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    const int64_t dim = forward.batch_dims[axis];
    stride /= dim;
    const bool kept = strides[axis] != 0;
    (kept ? plan.kept_dims : plan.repeated_dims).push_back(dim);
    (kept ? plan.kept_strides : plan.repeated_strides).push_back(stride);
    (kept ? plan.matrices : plan.repeats) *= dim;
  }
  return plan;
}

// Threads divide the matrices of the gradient, or the rows of each if there are fewer.
void RunBatchMatMulGradient(CPUContext&, math::GemmEngine, const BatchMatMulGradientPlan& plan,
                            const float* other, const float* dy, float* gradient) {
  const double work = static_cast<double>(plan.matrices * plan.repeats * plan.rows) *
                      static_cast<double>(plan.columns) * static_cast<double>(plan.inner);
  const int64_t threads = work < kGemmWorthCutting ? 1 : GetNumThreads();
  const int64_t cuts =
      plan.matrices >= threads ? 1 : std::min((threads - 1) / plan.matrices + 1, plan.rows);
  const int64_t units = plan.matrices * cuts;
  const int pieces = static_cast<int>(std::min(threads, units));
  ParallelFor(pieces, [&](int piece) {
    const int64_t end = units * (piece + 1) / pieces;
    int64_t joined = 1;
    for (int64_t unit = units * piece / pieces; unit < end; unit += joined) {
      const int64_t matrix = unit / cuts, cut = unit % cuts;
      const int64_t first = plan.rows * cut / cuts, last = plan.rows * (cut + 1) / cuts;
      joined = 1;
      int64_t run = 1;
      for (int64_t repeat = 0; repeat < plan.repeats; repeat += run) {
        const int64_t i = plan.DyMatrix(matrix, repeat), o = plan.OtherMatrix(i);
        run = 1;
        while (plan.joins_inner && repeat + run < plan.repeats &&
               plan.DyMatrix(matrix, repeat + run) == i + run &&
               plan.OtherMatrix(i + run) == o + run) {
          ++run;
        }
        while (plan.joins_rows && cuts == 1 && plan.repeats == 1 && unit + joined < end &&
               plan.DyMatrix(matrix + joined, 0) == i + joined &&
               plan.OtherMatrix(i + joined) == o) {
          ++joined;
        }
        const float* left = plan.dy_is_left ? dy + i * plan.dy_size : other + o * plan.other_size;
        const float* right = plan.dy_is_left ? other + o * plan.other_size : dy + i * plan.dy_size;
        Sgemm(plan.trans_left, plan.trans_right, (last - first) * joined, plan.columns,
              plan.inner * run, 1.f, left + first * (plan.trans_left ? 1 : plan.left_step),
              plan.left_step, right, plan.right_step, repeat == 0 ? 0.f : 1.f,
              gradient + (matrix * plan.rows + first) * plan.columns, plan.columns);
      }
    }
  });
}

// It has no gradient: BatchMatMul without broadcast has one of products, which have gradients.
void RegisterBatchMatMulGradient() {
  RegisterSchema("BatchMatMulGradient", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .TensorInferenceFunction(InferBatchMatMulGradient)
      .CostInferenceFunction(BatchMatMulGradientCost)
      .Traits({.family = OperatorFamily::kMatMul})
      .SetDoc(
          "The gradient of one operand of BatchMatMul with broadcast: matrices that Y repeats have "
          "the sum of the gradients of their repeats. Nothing is read of the operand but its "
          "shape.")
      .Args(kBatchMatMulTransA, kBatchMatMulTransB, kBatchMatMulBroadcast, kBatchMatMulOperand)
      .Input(0, "A", "as in BatchMatMul")
      .Input(1, "B", "as in BatchMatMul")
      .Input(2, "dY", "the gradient of Y, as many elements as Y")
      .Output(0, "gradient", "the gradient of A or B, in its shape");
  RegisterCpuOperator<BatchMatMulGradientOp<CPUContext>>("BatchMatMulGradient", __FILE__);
}

}  // namespace caffe2rt
