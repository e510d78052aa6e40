// FCFusion: a fully connected layer with packed weights, and bias and activation in the same loop.
//   X [outer..., inner...], W, optional b [N]  ->  Y [outer..., N]
//   Y = activation(X W^T + b), or activation(X W + b) with `transposed`
// X is flattened to [M, K] at `axis`, W at `axis_w` to [N, K], or to [K, N] with `transposed`.
// Supports float only. Sizes of 0 are allowed. With `precision`, W is prepared in bf16 or bytes, and rows
// of X are converted to that type; the results are float.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/passes/matmul_precisions.h"
#include "caffe2_core/graph/precision.h"
#include "caffe2_core/runtime/kernel_choice.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/plans_ahead.h"
#include "operators/common/fused_activation.h"
#include "operators/common/inference.h"
#include "operators/common/onednn_argument.h"
#include "operators/matmul/fc.h"
#include "operators/matmul/packed_weights.h"
#include "operators/matmul/reduced_weights.h"
#include "operators/primitives/gemm.h"
#include "operators/primitives/packed_gemm.h"
#include "operators/primitives/reduced_gemm.h"
#include "operators/primitives/scratch.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int> kFcFusionFloat16Compute{"float16_compute", 0,
                                                    "has no effect; accepted for compatibility"};
constexpr ArgumentSpec<std::string> kFcFusionPrecision{
    "precision",
    "f32",
    "bf16: X and W are rounded to bfloat16, and their products added in float. int8: each column "
    "of the "
    "matrix and each row of X is quantized to bytes. f32 is used instead where the machine cannot "
    "compute that, or W changes while the net runs",
    {IsPrecisionName, "f32, bf16 or int8"}};
constexpr ArgumentSpec<bool> kFcFusionTransposed{
    "transposed", false, "1: W is [K, N] and not transposed, as in FCTransposed"};
constexpr ArgumentSpec<bool> kFcFusionOneMatrix{"one_matrix", false,
                                                "1: the axes of X before its last two must have "
                                                "one index, as in BatchMatMul without broadcast"};

// With fewer rows the time is that of reading W. Then the packed form would only use memory.
constexpr int64_t kRowsWorthPacking = 4;

void CheckOneMatrix(IntArrayRef x) {
  if (x.size() <= 2) return;
  const IntArrayRef batch(x.data(), x.size() - 2);
  CAFFE_ENFORCE_EQ(CheckedProduct(batch), 1, "matrices in input 0 (X) of shape ", x,
                   ", want one, or the argument broadcast of BatchMatMul");
}

FCSizes SizesOf(const OperatorDef& def, const std::vector<TensorShape>& in, int* axis) {
  const ArgumentHelper args(def);
  const std::vector<int64_t> x = GetDimsVector(in[0]), w = GetDimsVector(in[1]);
  const int axis_w = args.Read(kFcAxisW);
  const bool transposed = args.Read(kFcFusionTransposed);
  if (args.Read(kFcFusionOneMatrix)) CheckOneMatrix(x);
  *axis = args.Read(kFcAxis);
  const FCSizes sizes = in.size() > 2
                            ? CheckFCShapes(x, w, GetDimsVector(in[2]), *axis, axis_w, transposed)
                            : FlattenFC(x, w, *axis, axis_w, transposed);
  *axis = canonical_axis_index_(*axis, static_cast<int>(x.size()));
  return sizes;
}

std::vector<TensorShape> InferFcFusion(const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (!AreKnown(in, static_cast<size_t>(def.input_size()))) return UnknownOutputs(def);
  int axis = 0;
  const FCSizes sizes = SizesOf(def, in, &axis);
  std::vector<int64_t> dims = GetDimsVector(in[0]);
  dims.resize(static_cast<size_t>(axis));
  dims.push_back(sizes.n);
  return {CreateTensorShape(dims, in[0].data_type())};
}

OpSchema::Cost FcFusionCost(const OperatorDef& def, const std::vector<TensorShape>& in) {
  OpSchema::Cost cost;
  if (!AreKnown(in, static_cast<size_t>(def.input_size()))) return cost;
  int axis = 0;
  const FCSizes sizes = SizesOf(def, in, &axis);
  const uint64_t m = static_cast<uint64_t>(sizes.m), n = static_cast<uint64_t>(sizes.n),
                 k = static_cast<uint64_t>(sizes.k);
  cost.flops = m * n * (2 * k + in.size() - 2);
  cost.params_bytes = (n * k + (in.size() > 2 ? n : 0)) * sizeof(float);
  cost.bytes_read = m * k * sizeof(float) + cost.params_bytes;
  cost.bytes_written = m * n * sizeof(float);
  cost.bytes_moved = cost.bytes_read + cost.bytes_written;
  return cost;
}

// What this machine can compute of what is asked for.
Precision PossiblePrecision(const std::string& name, int64_t k) {
  const Precision precision = ParsePrecision(name);
  if (precision == Precision::kInt8 && k > ReducedGemm::kMaxByteTerms) return Precision::kFloat32;
  if (precision == Precision::kBfloat16 && !WhyNoProductsIn(precision).empty()) {
    return Precision::kFloat32;
  }
  return precision;
}

MemoryTraits::Extra FcFusionExtraMemory(const OperatorDef& def, const std::vector<TensorShape>& in,
                                        const std::vector<TensorShape>&) {
  int axis = 0;
  const FCSizes sizes = SizesOf(def, in, &axis);
  if (sizes.k <= 0 || sizes.n <= 0) return {};
  const Precision precision =
      PossiblePrecision(ArgumentHelper(def).Read(kFcFusionPrecision), sizes.k);
  if (precision != Precision::kFloat32) {
    return {.prepared_bytes =
                static_cast<int64_t>(ReducedGemm(precision, sizes.k, sizes.n).nbytes())};
  }
  if (sizes.m < kRowsWorthPacking) return {};
  return {.prepared_bytes =
              CheckedMultiply(PackedFloats(sizes.k, sizes.n), int64_t{sizeof(float)})};
}

class FCFusionOp final : public Operator<CPUContext>, public PlansAhead, public ChoosesKernel {
 public:
  USE_OPERATOR_FUNCTIONS(CPUContext);

  FCFusionOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        axis_(ReadArgument(kFcAxis)),
        axis_w_(ReadArgument(kFcAxisW)),
        transposed_(ReadArgument(kFcFusionTransposed)),
        one_matrix_(ReadArgument(kFcFusionOneMatrix)),
        precision_(ReadArgument(kFcFusionPrecision)),
        activation_(ReadActivation(args())) {}

  void PlanAhead(const AheadInputs& inputs) override {
    Plan(Input(0), Input(1), InputSize() > 2 ? &Input(2) : nullptr);
    Output(0)->Resize(y_dims_);
    (void)Output(0)->mutable_data<float>();
    if (Output(0)->numel() == 0 || !inputs.is_constant(1)) return;
    if (reduced_.Get(Input(1)) == nullptr) (void)Packed(Input(1));
  }
  bool PreparesWeights() const override { return true; }

  std::optional<KernelChoice> Kernel() const override {
    if (!planned_) return std::nullopt;
    const Precision precision = ParsePrecision(precision_);
    KernelCandidate kernel{
        .algorithm = "gemm", .implementation = "built-in", .reason = "only_candidate"};
    if (reduced_.is_used()) {
      kernel.implementation += MakeString(" ", precision_);
      kernel.reason = "precision";
    } else if (precision != Precision::kFloat32) {
      kernel.reason = "fallback";
    } else if (args().HasArgument(kFcFusionPrecision)) {  // of less, by the pass matmul_precisions
      kernel.reason = "model";
    }
    return KernelChoice{.candidates = {std::move(kernel)}};
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& W = Input(1);
    const Tensor* const b = InputSize() > 2 ? &Input(2) : nullptr;
    if (!planned_ || X.dims() != x_dims_ || W.dims() != w_dims_ ||
        (b != nullptr && b->dims() != b_dims_)) {
      Plan(X, W, b);
    }
    const float* x = X.data<float>();
    W.CheckData<float>();
    const float* bias = b != nullptr ? b->data<float>() : nullptr;
    Tensor* Y = Output(0);
    Y->Resize(y_dims_);
    float* y = Y->mutable_data<float>();
    if (Y->numel() == 0) return true;
    const auto [m, n, k] = sizes_;
    if (const void* const form = reduced_.Get(W); form != nullptr) {
      RunReduced(x, form, bias, y);
      return true;
    }
    const float* const packed = Packed(W);
    if (packed == nullptr) {
      RunPlain(x, W.data<float>(), bias, y);
    } else {
      MultiplyPackedInParallel({.m = m,
                                .n = n,
                                .k = k,
                                .a = x,
                                .lda = k,
                                .b = packed,
                                .bias = bias,
                                .activation = activation_,
                                .c = y,
                                .ldc = n});
    }
    return true;
  }

 private:
  // The packed form of W, or null if W is used as it is.
  const float* Packed(const Tensor& W) {
    if (sizes_.m < kRowsWorthPacking || sizes_.k <= 0) return nullptr;
    return packed_.Get(W, sizes_.k, sizes_.n, /*transposed=*/!transposed_);
  }

  void Plan(const Tensor& X, const Tensor& W, const Tensor* b) {
    planned_ = false;
    if (one_matrix_) CheckOneMatrix(X.sizes());
    sizes_ = b != nullptr
                 ? CheckFCShapes(X.sizes(), W.sizes(), b->sizes(), axis_, axis_w_, transposed_)
                 : FlattenFC(X.sizes(), W.sizes(), axis_, axis_w_, transposed_);
    x_dims_ = X.dims();
    w_dims_ = W.dims();
    if (b != nullptr) b_dims_ = b->dims();
    y_dims_.assign(x_dims_.begin(), x_dims_.begin() + X.canonical_axis_index(axis_));
    y_dims_.push_back(sizes_.n);
    if (sizes_.k > 0 && sizes_.n > 0) {
      reduced_.Plan(PossiblePrecision(precision_, sizes_.k), sizes_.k, sizes_.n, !transposed_);
    }
    planned_ = true;
  }

  // With weights in bf16 or bytes.
  void RunReduced(const float* x, const void* form, const float* bias, float* y) {
    const ReducedGemm& gemm = reduced_.gemm();
    const ReducedProduct product = {.m = sizes_.m,
                                    .a = x,
                                    .lda = sizes_.k,
                                    .b = form,
                                    .bias = bias,
                                    .activation = activation_,
                                    .c = y,
                                    .ldc = sizes_.n};
    const int pieces = gemm.Pieces(sizes_.m, GetNumThreads());
    const PieceScratch scratch = scratch_.ForPieces(pieces, gemm.ScratchFloats(sizes_.m));
    ParallelFor(pieces,
                [&](int piece) { gemm.MultiplyPiece(product, piece, pieces, scratch[piece]); });
  }

  // Without the packed form. Threads divide the outputs, so that each reads only its part of W.
  void RunPlain(const float* x, const float* w, const float* bias, float* y) const {
    const auto [m, n, k] = sizes_;
    const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    const int pieces =
        work < kGemmWorthCutting ? 1 : static_cast<int>(std::min<int64_t>(GetNumThreads(), n));
    ParallelFor(pieces, [&, m = m, n = n, k = k](int piece) {
      const int64_t first = n * piece / pieces, last = n * (piece + 1) / pieces;
      Sgemm(false, !transposed_, m, last - first, k, 1.f, x, std::max<int64_t>(k, 1),
            transposed_ ? w + first : w + first * k, std::max<int64_t>(transposed_ ? n : k, 1), 0.f,
            y + first, n);
      FinishRows(bias != nullptr ? bias + first : nullptr, activation_, m, last - first, y + first,
                 n);
    });
  }

  const int axis_, axis_w_;
  const bool transposed_, one_matrix_;
  const std::string precision_;
  const Activation activation_;
  bool planned_ = false;
  std::vector<int64_t> x_dims_, w_dims_, b_dims_, y_dims_;
  FCSizes sizes_;
  PackedWeights packed_;
  ReducedWeights reduced_;
  ThreadScratch scratch_;
};

}  // namespace

// No gradient: graph passes make this operator from operators that have one.
void RegisterFcFusion() {
  OpSchema& schema = RegisterSchema("FCFusion", __FILE__);
  schema.NumInputs(2, 3)
      .NumOutputs(1)
      .Traits({.multiply_adds = MultiplyAddCount::kFC, .has_weights = true})
      .SetDoc(
          "Fully connected layer with an activation: Y = activation(X W^T + b). X is flattened to "
          "a matrix [M, K] at `axis`, W to [N, K] at `axis_w`. W is packed once, in memory that "
          "all "
          "operators with the same W share. Graph passes make this operator from FC, MatMul and "
          "BatchMatMul.")
      .Args(kFcAxis, kFcAxisW, kFcFusionFloat16Compute, kFcFusionTransposed, kFcFusionOneMatrix,
            kFcFusionPrecision, kLeastPrecision)
      .Input(0, "X", "input, flattened to [M, K] at `axis`")
      .Input(1, "W", "weights")
      .Input(2, "b", "(optional) bias, [N]")
      .Output(0, "Y", "result: the axes of X before `axis`, then N")
      .TensorInferenceFunction(InferFcFusion)
      .CostInferenceFunction(FcFusionCost)
      .Memory({.extra = FcFusionExtraMemory});
  DeclareActivation(schema);
  RegisterCpuOperator<FCFusionOp>("FCFusion", __FILE__);
}

}  // namespace caffe2rt
