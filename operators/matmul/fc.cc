#include "operators/matmul/fc.h"

#include <algorithm>

#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/common/onednn_argument.h"
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

template <bool kTransposed>
std::vector<TensorShape> InferFCGradient(const OperatorDef& def,
                                         const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 2)) return UnknownOutputs(def);
  const ArgumentHelper args(def);
  const std::vector<int64_t> x = GetDimsVector(in[0]), w = GetDimsVector(in[1]);
  const FCSizes sizes = FlattenFC(x, w, args.Read(kFcAxis), args.Read(kFcAxisW), kTransposed);
  std::vector<TensorShape> out = {
      CreateTensorShape(w, in[1].data_type()),
      CreateTensorShape(std::vector<int64_t>{sizes.n}, in[1].data_type())};
  if (def.output_size() > 2) out.push_back(CreateTensorShape(x, in[0].data_type()));
  return out;
}

template <bool kTransposed>
OpSchema::Cost FCGradientCost(const OperatorDef& def, const std::vector<TensorShape>& in) {
  OpSchema::Cost cost;
  if (!AreKnown(in, 2)) return cost;
  const ArgumentHelper args(def);
  const FCSizes sizes = FlattenFC(GetDimsVector(in[0]), GetDimsVector(in[1]), args.Read(kFcAxis),
                                  args.Read(kFcAxisW), kTransposed);
  const uint64_t m = static_cast<uint64_t>(sizes.m), n = static_cast<uint64_t>(sizes.n),
                 k = static_cast<uint64_t>(sizes.k);
  const bool has_dx = def.output_size() > 2;
  cost.flops = m * n * (2 * k + 1) + (has_dx ? 2 * m * n * k : 0);
  cost.params_bytes = n * k * sizeof(float);
  cost.bytes_read = (m * k + m * n) * sizeof(float) + cost.params_bytes;
  cost.bytes_written = (n * k + n + (has_dx ? m * k : 0)) * sizeof(float);
  cost.bytes_moved = cost.bytes_read + cost.bytes_written;
  return cost;
}

// FC has FCGradient, FCTransposed has FCTransposedGradient.
class GetFCGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef(def_.type() + "Gradient", "", {I(0), I(1), GO(0)},
                             {GI(1), GI(2), GI(0)});
  }
};

template <bool kTransposed>
void RegisterGradientOf(const char* forward) {
  const std::string type = MakeString(forward, "Gradient");
  RegisterSchema(type, __FILE__)
      .NumInputs(3)
      .NumOutputs(2, 3)
      .SetDoc(MakeString("Computes the gradients of the inputs of ", forward, "."))
      .Args(kFcAxis, kFcAxisW, kFcFloat16Compute)
      .Input(0, "X", "input, flattened to [M, K] at `axis`")
      .Input(1, "W", "weights")
      .Input(2, "dY", "the gradient of the output: M * N elements")
      .Output(0, "dW", "the gradient of W")
      .Output(1, "db", "the gradient of the bias, [N]")
      .Output(2, "dX", "(optional) the gradient of X")
      .TensorInferenceFunction(InferFCGradient<kTransposed>)
      .CostInferenceFunction(FCGradientCost<kTransposed>);
  RegisterCpuOperator<FullyConnectedGradientOp<CPUContext, kTransposed>>(type, __FILE__);
  RegisterGradient<GetFCGradient>(forward, __FILE__);
}

// C [m, n] = op(A) op(B), for matrices without gaps between their rows. Threads divide the rows of
// C.
void MultiplyMatrices(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, const float* a,
                      const float* b, float* c) {
  const int64_t lda = std::max<int64_t>(trans_a ? m : k, 1);
  const int64_t ldb = std::max<int64_t>(trans_b ? k : n, 1);
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const int pieces =
      work < kGemmWorthCutting ? 1 : static_cast<int>(std::min<int64_t>(GetNumThreads(), m));
  ParallelFor(pieces, [&](int piece) {
    const int64_t first = m * piece / pieces, last = m * (piece + 1) / pieces;
    Sgemm(trans_a, trans_b, last - first, n, k, 1.f, trans_a ? a + first : a + first * k, lda, b,
          ldb, 0.f, c + first * n, n);
  });
}

OpSchema& RegisterType(const char* type, LinearForm form, const char* doc) {
  return RegisterSchema(type, __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .SetDoc(doc)
      .Args(kFcAxis, kFcAxisW, kFcFloat16Compute, kLeastPrecision)
      .Input(0, "X", "input, flattened to [M, K] at `axis`")
      .Input(1, "W", "weights")
      .Input(2, "b", "bias, [N]")
      .DeviceInferenceFunction(OnednnWeightsOnCpu({1, 2}))
      .Traits({.family = OperatorFamily::kMatMul,
               .writes_float = true,
               .linear = form,
               .multiply_adds = MultiplyAddCount::kFC,
               .has_weights = true})
      .Output(0, "Y", "result: the axes of X before `axis`, then N");
}

}  // namespace

FCSizes FlattenFC(IntArrayRef x, IntArrayRef w, int axis, int axis_w, bool transposed) {
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
  return sizes;
}

FCSizes CheckFCShapes(IntArrayRef x, IntArrayRef w, IntArrayRef b, int axis, int axis_w,
                      bool transposed) {
  const FCSizes sizes = FlattenFC(x, w, axis, axis_w, transposed);
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

// dX = dY W, dW = dY^T X, or for transposed weights dX = dY W^T, dW = X^T dY. db is the sum of the
// rows of dY.
void RunFCGradient(CPUContext&, math::GemmEngine, const FCGradientTask& task) {
  const auto [m, n, k] = task.sizes;
  if (task.transposed) {
    MultiplyMatrices(true, false, k, n, m, task.x, task.dy, task.dw);
  } else {
    MultiplyMatrices(true, false, n, k, m, task.dy, task.x, task.dw);
  }
  std::fill_n(task.db, n, 0.0f);
  for (int64_t i = 0; i < m; ++i) AddRowVector(1, n, task.dy + i * n, task.db);
  if (task.dx == nullptr) return;
  MultiplyMatrices(false, task.transposed, m, k, n, task.dy, task.w, task.dx);
}

void RegisterFc() {
  RegisterType("FC", LinearForm::kFC,
               "Fully connected layer: Y = X W^T + b. X is flattened to a matrix [M, K] at `axis`, "
               "W to [N, K] at `axis_w`.")
      .FloatInputs(3)
      .TensorInferenceFunction(InferFC<false>)
      .CostInferenceFunction(FCCost<false>);
  RegisterCpuOperator<FullyConnectedOp<CPUContext, false>>("FC", __FILE__);
  RegisterGradientOf<false>("FC");
  RegisterType("FCTransposed", LinearForm::kFCTransposed,
               "Fully connected layer with transposed weights: Y = X W + b. X is flattened to a "
               "matrix [M, K] at `axis`, W to [K, N] at `axis_w`.")
      .FloatInputs(3)
      .TensorInferenceFunction(InferFC<true>)
      .CostInferenceFunction(FCCost<true>);
  RegisterCpuOperator<FullyConnectedOp<CPUContext, true>>("FCTransposed", __FILE__);
  RegisterGradientOf<true>("FCTransposed");
}

}  // namespace caffe2rt
