#include "operators/matmul/fc.h"

#include <algorithm>

#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/primitives/gemm.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int> kFcFloat16Compute{"float16_compute", 0,
                                              "has no effect; accepted for compatibility"};

FCSizes SizesOf(const OperatorDef& def, const std::vector<TensorShape>& in, bool transposed,
                int* axis) {
  const ArgumentHelper args(def);
  *axis = args.Read(kFcAxis);
  const std::vector<int64_t> x = GetDimsVector(in[0]);
  const FCSizes sizes = CheckFCShapes(x, GetDimsVector(in[1]), GetDimsVector(in[2]), *axis,
                                      args.Read(kFcAxisW), transposed);
  *axis = canonical_axis_index_(*axis, static_cast<int>(x.size()));
  return sizes;
}

template <bool kTransposed>
std::vector<TensorShape> InferFC(const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 3)) return UnknownOutputs(def);
  int axis = 0;
  const FCSizes sizes = SizesOf(def, in, kTransposed, &axis);
  std::vector<int64_t> dims = GetDimsVector(in[0]);
  dims.resize(static_cast<size_t>(axis));
  dims.push_back(sizes.n);
  return {CreateTensorShape(dims, in[0].data_type())};
}

template <bool kTransposed>
OpSchema::Cost FCCost(const OperatorDef& def, const std::vector<TensorShape>& in) {
  OpSchema::Cost cost;
  if (!AreKnown(in, 3)) return cost;
  int axis = 0;
  const FCSizes sizes = SizesOf(def, in, kTransposed, &axis);
  const uint64_t m = static_cast<uint64_t>(sizes.m), n = static_cast<uint64_t>(sizes.n),
                 k = static_cast<uint64_t>(sizes.k);
  cost.flops = m * n * (2 * k + 1);
  cost.params_bytes = (n * k + n) * sizeof(float);
  cost.bytes_read = m * k * sizeof(float) + cost.params_bytes;
  cost.bytes_written = m * n * sizeof(float);
  cost.bytes_moved = cost.bytes_read + cost.bytes_written;
  return cost;
}

OpSchema& RegisterType(const char* type, const char* doc) {
  return RegisterSchema(type, __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .SetDoc(doc)
      .Args(kFcAxis, kFcAxisW, kFcFloat16Compute)
      .Input(0, "X", "input, flattened to [M, K] at `axis`")
      .Input(1, "W", "weights")
      .Input(2, "b", "bias, [N]")
      .Output(0, "Y", "result: the axes of X before `axis`, then N");
}

}  // namespace

FCSizes CheckFCShapes(IntArrayRef x, IntArrayRef w, IntArrayRef b, int axis, int axis_w,
                      bool transposed) {
  const int cut = canonical_axis_index_(axis, static_cast<int>(x.size()));
  const int cut_w = canonical_axis_index_(axis_w, static_cast<int>(w.size()));
  const int64_t rows = size_to_dim_(cut_w, w), columns = size_from_dim_(cut_w, w);
  FCSizes sizes;
  sizes.m = size_to_dim_(cut, x);
  sizes.k = size_from_dim_(cut, x);
  sizes.n = transposed ? columns : rows;
  CAFFE_ENFORCE_EQ(sizes.k, transposed ? rows : columns, "input 0 (X) of shape ", x,
                   " has rows of ", sizes.k, " at axis ", cut, ", but input 1 (W) of shape ", w,
                   " needs rows of ", transposed ? rows : columns);
  CAFFE_ENFORCE(b.size() == 1 && b[0] == sizes.n, "input 2 (b) has shape ", b, ", want [", sizes.n,
                "]: one value for each output of input 1 (W) of shape ", w);
  return sizes;
}

// Fills Y with the bias and adds the product with one GEMM for each thread. Threads divide the N
// outputs, so that each reads only its part of W, which is usually the largest operand.
void RunFC(CPUContext&, math::GemmEngine, const FCSizes& sizes, bool transposed, const float* x,
           const float* w, const float* b, float* y) {
  const auto [m, n, k] = sizes;
  FillRowVector(m, n, b, y);
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const int pieces =
      work < kGemmWorthCutting ? 1 : static_cast<int>(std::min<int64_t>(GetNumThreads(), n));
  ParallelFor(pieces, [&, m = m, n = n, k = k](int piece) {
    const int64_t first = n * piece / pieces, last = n * (piece + 1) / pieces;
    Sgemm(false, !transposed, m, last - first, k, 1.f, x, std::max<int64_t>(k, 1),
          transposed ? w + first : w + first * k, std::max<int64_t>(transposed ? n : k, 1), 1.f,
          y + first, n);
  });
}

void RegisterFc() {
  RegisterType("FC",
               "Fully connected layer: Y = X W^T + b. X is flattened to a matrix [M, K] at `axis`, "
               "W to [N, K] at `axis_w`.")
      .TensorInferenceFunction(InferFC<false>)
      .CostInferenceFunction(FCCost<false>);
  RegisterCpuOperator<FullyConnectedOp<CPUContext, false>>("FC", __FILE__);
  RegisterType("FCTransposed",
               "Fully connected layer with transposed weights: Y = X W + b. X is flattened to a "
               "matrix [M, K] at `axis`, W to [K, N] at `axis_w`.")
      .TensorInferenceFunction(InferFC<true>)
      .CostInferenceFunction(FCCost<true>);
  RegisterCpuOperator<FullyConnectedOp<CPUContext, true>>("FCTransposed", __FILE__);
}

}  // namespace caffe2rt
