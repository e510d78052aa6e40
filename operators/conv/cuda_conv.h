#pragma once
// Convolutions on CUDA: native kernels for any arguments, and cuDNN where it takes them.
//
// ConvOp and ConvTransposeOp hold a CudaConv, which makes a plan for each shape it meets and keeps
// it: null where native kernels run. Steady state: no allocation, no search.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/tensor/tensor.h"
#include "operators/common/cuda_engine.h"
#include "operators/conv/conv_arguments.h"
#include "operators/conv/cuda_conv_kernels.h"

namespace caffe2rt {

// Caffe2's arguments for cuDNN. enable_tensor_core is none of them: it is about 16-bit numbers.
struct CudnnConvOptions {
  size_t workspace_limit_bytes = static_cast<size_t>(kConvWorkspaceLimit.default_value);
  bool exhaustive_search = false;  // time the algorithms in the first run instead of asking
  bool deterministic = false;      // only algorithms that give the same sum every time
  int algorithm = -1;              // cuDNN's number of the algorithm to take; -1: choose

  // THROWS for a negative limit.
  static CudnnConvOptions Read(const ArgumentHelper& args, bool transposed);
};

// A library's way to compute one shape. Used by one thread at a time.
class CudaConvPlan {
 public:
  virtual ~CudaConvPlan() = default;
  // False, with the reason, when the library does not support the shape after all.
  virtual bool Run(CUDAContext& context, const float* x, const float* filter, const float* bias,
                   float* y, std::string* reason) = 0;
};

// Null when cuDNN does not take the shape, with the reason. Of pads that differ before and behind,
// or crop, the plan makes a copy of X in `scratch` first: a tensor of CUDA that the plans of one
// operator share and that outlives them. REQUIRES: cuDNN is here; Y is not empty.
std::unique_ptr<CudaConvPlan> NewCudnnConv(CUDAContext& context, const ConvShape& shape,
                                           const CudnnConvOptions& options, Tensor* scratch,
                                           std::string* reason);
std::unique_ptr<CudaConvPlan> NewCudnnConv(CUDAContext& context, const ConvTransposeShape& shape,
                                           const CudnnConvOptions& options, Tensor* scratch,
                                           std::string* reason);

// The runner of ConvOp (Shape: ConvShape) and ConvTransposeOp (ConvTransposeShape).
template <class Shape, CudaEngine kEngine>
class CudaConv {
 public:
  explicit CudaConv(const OperatorBase& op)
      : options_(CudnnConvOptions::Read(op.args(), std::is_same_v<Shape, ConvTransposeShape>)),
        choice_(op, kEngine) {}

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
    if (!planned_) ChoosePlan(context);
    if (plan_ != nullptr) {
      std::string reason;
      if (plan_->Run(context, x, filter, bias, y, &reason)) return;
      DropPlan(reason);
    }
    RunNative(context, shape_, x, filter, bias, y);
  }

 private:
  static constexpr size_t kMaxPlans = 64;  // then all are forgotten

  void ChoosePlan(CUDAContext& context) {
    for (const auto& [shape, plan] : plans_) {
      if (!(shape == shape_)) continue;
      plan_ = plan.get();
      planned_ = true;
      return;
    }
    std::string reason;
    std::unique_ptr<CudaConvPlan> plan =
        NewCudnnConv(context, shape_, options_, &scratch_, &reason);
    if (plan == nullptr) choice_.Refused(reason);
    if (plans_.size() == kMaxPlans) plans_.clear();
    plan_ = plan.get();
    plans_.emplace_back(shape_, std::move(plan));
    planned_ = true;
  }

  void DropPlan(const std::string& reason) {
    choice_.Refused(reason);
    for (auto& [shape, plan] : plans_) {
      if (plan.get() == plan_) plan = nullptr;
    }
    plan_ = nullptr;
  }

  const CudnnConvOptions options_;
  CudaEngineChoice choice_;
  Tensor scratch_{CUDA};
  Shape shape_;
  bool planned_ = false;
  CudaConvPlan* plan_ = nullptr;  // one of plans_; null: native
  std::vector<std::pair<Shape, std::unique_ptr<CudaConvPlan>>> plans_;
};

}  // namespace caffe2rt
