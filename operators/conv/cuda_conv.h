#pragma once
// Convolutions and their gradients on CUDA: native kernels for any arguments, and cuDNN where it
// supports them.
//
// ConvOp and ConvTransposeOp hold a CudaConv, and ConvGradientOp holds one for each of the gradients
// of X and the filter. A CudaConv creates a plan for each shape and caches it; the plan is null
// where native kernels run. In the steady state a run neither allocates nor
// searches for an algorithm.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "caffe2_core/tensor/tensor.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/common/cuda_engine.h"
#include "operators/conv/conv_arguments.h"
#include "operators/conv/cuda_conv_kernels.h"

namespace caffe2rt {

// cuDNN's directions, numbered as in argument force_algo.
enum class ConvDirection { kForward = 0, kFilterGradient = 1, kDataGradient = 2 };

// The direction in which cuDNN computes a shape of type Shape.
template <class Shape>
inline constexpr ConvDirection kDirectionOf = ConvDirection::kForward;
template <>
inline constexpr ConvDirection kDirectionOf<ConvTransposeShape> = ConvDirection::kDataGradient;
template <>
inline constexpr ConvDirection kDirectionOf<ConvDataGradientShape> = ConvDirection::kDataGradient;
template <>
inline constexpr ConvDirection kDirectionOf<ConvFilterGradientShape> =
    ConvDirection::kFilterGradient;

// The workspace limit of a convolution on a device with this much memory: a sixteenth of it, which is
// 1 GiB on a GPU of 16 GiB, and at least 64 MiB. A share of the free memory would let the algorithm,
// and so the last bits of the result, depend on what else is allocated.
inline size_t DefaultWorkspaceLimit(size_t device_bytes) {
  constexpr size_t kLeast = size_t{64} << 20, kShare = 16;
  return std::max(kLeast, device_bytes / kShare);
}

// Caffe2's arguments for cuDNN. enable_tensor_core is not among them: it only concerns 16-bit
// floats.
struct CudnnConvOptions {
  // Not set: DefaultWorkspaceLimit.
  std::optional<size_t> workspace_limit_bytes = std::nullopt;
  // Time the algorithms in the first run, instead of using the heuristics. The result is kept for
  // the process, by shape, options and device.
  bool exhaustive_search = false;
  // Use only deterministic algorithms, which add without atomics. Always set for
  // ConvFilterGradientShape and ConvDataGradientShape; argument force_algo can still select another
  // algorithm.
  bool deterministic = false;
  // cuDNN's number of the algorithm to use; -1: choose one.
  int algorithm = -1;

  // THROWS if an argument is invalid, e.g. a negative workspace limit.
  static CudnnConvOptions Read(const ArgumentHelper& args, ConvDirection direction);
};

// The computation of one shape by a library. Used by one thread at a time.
class CudaConvPlan {
 public:
  virtual ~CudaConvPlan() = default;
  // Returns false and sets *reason if the library does not support the shape after all.
  virtual bool Run(CUDAContext& context, const float* x, const float* filter, const float* bias,
                   float* y, std::string* reason) = 0;
};
// The gradients use the parameters of Run in this way: that of the filter reads X as `x` and dY as
// `filter`; that of X reads dY as `x`. `bias` is null.

// Returns null and sets *reason if cuDNN does not support the shape. For asymmetric or negative
// padding the plan copies X into `scratch` with its padding, or computes the gradient of X there;
// transposed convolutions do not use `scratch`. `scratch` is a CUDA tensor that the plans of one operator share and that must
// outlive them. REQUIRES: cuDNN is available; Y is not empty.
std::unique_ptr<CudaConvPlan> NewCudnnConv(CUDAContext& context, const ConvShape& shape,
                                           const CudnnConvOptions& options, Tensor* scratch,
                                           std::string* reason);
std::unique_ptr<CudaConvPlan> NewCudnnConv(CUDAContext& context, const ConvTransposeShape& shape,
                                           const CudnnConvOptions& options, Tensor* scratch,
                                           std::string* reason);
std::unique_ptr<CudaConvPlan> NewCudnnConv(CUDAContext& context,
                                           const ConvFilterGradientShape& shape,
                                           const CudnnConvOptions& options, Tensor* scratch,
                                           std::string* reason);
std::unique_ptr<CudaConvPlan> NewCudnnConv(CUDAContext& context, const ConvDataGradientShape& shape,
                                           const CudnnConvOptions& options, Tensor* scratch,
                                           std::string* reason);

// Runner policy of ConvOp (Shape is ConvShape) and ConvTransposeOp (Shape is ConvTransposeShape),
// and a part of that of ConvGradientOp.
template <class Shape, CudaEngine kEngine>
class CudaConv {
 public:
  explicit CudaConv(OperatorBase& op)
      : options_(CudnnConvOptions::Read(op.args(), kDirectionOf<Shape>)), choice_(op, kEngine) {
    constexpr bool kIsGradient = std::is_same_v<Shape, ConvFilterGradientShape> ||
                                 std::is_same_v<Shape, ConvDataGradientShape>;
    options_.deterministic |= kIsGradient;
  }

  void Plan(const Shape& shape) {
    shape_ = shape;
    plan_ = nullptr;
    planned_ = !choice_.may_use_cudnn();
  }
  void Run(CUDAContext& context, const float* x, const Tensor& filter, const float* bias,
           float* y) {
    Run(context, x, filter.data<float>(), bias, y);
  }
  void Run(CUDAContext& context, const float* x, const float* filter, const float* bias, float* y) {
    if (!planned_ || (plan_ != nullptr && plan_allows_tf32_ != context.allow_tf32())) {
      ChoosePlan(context);
    }
    if (plan_ != nullptr) {
      std::string reason;
      if (plan_->Run(context, x, filter, bias, y, &reason)) return;
      DropPlan(reason);
    }
    RunNative(context, shape_, x, filter, bias, y);
  }

 private:
  struct Key {
    Shape shape;
    bool allows_tf32;
  };
  static constexpr size_t kMaxPlans = 64;  // beyond this number all plans are dropped

  void ChoosePlan(CUDAContext& context) {
    plan_allows_tf32_ = context.allow_tf32();
    for (const auto& [key, plan] : plans_) {
      if (!(key.shape == shape_) || key.allows_tf32 != plan_allows_tf32_) continue;
      plan_ = plan.get();
      planned_ = true;
      if (plan_ == nullptr) choice_.Refused("");
      return;
    }
    std::string reason;
    std::unique_ptr<CudaConvPlan> plan =
        NewCudnnConv(context, shape_, options_, &scratch_, &reason);
    if (plan == nullptr) choice_.Refused(reason);
    if (plans_.size() == kMaxPlans) plans_.clear();
    plan_ = plan.get();
    plans_.emplace_back(Key{shape_, plan_allows_tf32_}, std::move(plan));
    planned_ = true;
  }

  void DropPlan(const std::string& reason) {
    choice_.Refused(reason);
    for (auto& [key, plan] : plans_) {
      if (plan.get() == plan_) plan = nullptr;
    }
    plan_ = nullptr;
  }

  CudnnConvOptions options_;
  CudaEngineChoice choice_;
  Tensor scratch_{CUDA};
  Shape shape_;
  bool planned_ = false;
  bool plan_allows_tf32_ = false;
  CudaConvPlan* plan_ = nullptr;  // owned by plans_; null: native kernels run
  std::vector<std::pair<Key, std::unique_ptr<CudaConvPlan>>> plans_;
};

}  // namespace caffe2rt
