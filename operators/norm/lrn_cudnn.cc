// LRN and LRNGradient by cuDNN: windows of up to 16 channels, in NCHW, without the scale output.

#include <limits>
#include <memory>

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/common/cuda_engine.h"
#include "operators/common/descriptors_cudnn.h"
#include "operators/common/status_cudnn.h"
#include "operators/norm/lrn.h"

namespace caffe2rt {

namespace {

class CudnnLRN {
 public:
  explicit CudnnLRN(OperatorBase& op) : choice_(op, CudaEngine::kAny) {}

  void operator()(CUDAContext& context, const Channels& shape, const LRNWindow& window,
                  const float* x, float* y, float* scale) {
    const float one = 1, zero = 0;
    if (Takes(shape, window, scale != nullptr) &&
        CudnnDid(Cudnn().LRNCrossChannelForward(context.cudnn_handle(), plan_->lrn,
                                                CUDNN_LRN_CROSS_CHANNEL_DIM1, &one, plan_->tensor,
                                                x, &zero, plan_->tensor, y),
                 &choice_, shape.batch, " images of ", shape.count, " channels")) {
      return;
    }
    NormalizeLocally(context, shape, window, x, nullptr, y, scale);
  }

  void operator()(CUDAContext& context, const Channels& shape, const LRNWindow& window,
                  const float* x, const float* y, const float* dy, float* scratch, float* dx) {
    const float one = 1, zero = 0;
    if (Takes(shape, window, false) &&
        CudnnDid(Cudnn().LRNCrossChannelBackward(context.cudnn_handle(), plan_->lrn,
                                                 CUDNN_LRN_CROSS_CHANNEL_DIM1, &one, plan_->tensor,
                                                 y, plan_->tensor, dy, plan_->tensor, x, &zero,
                                                 plan_->tensor, dx),
                 &choice_, shape.batch, " images of ", shape.count, " channels")) {
      return;
    }
    GradientOfLocal(context, shape, window, x, y, dy, scratch, dx);
  }

 private:
  struct Plan {
    CudnnTensor tensor;
    CudnnLRNWindow lrn;
  };

  static const char* Objection(const Channels& shape, const LRNWindow& window, bool scale) {
    const int64_t size = window.before + window.after + 1;
    if (scale) return "output 1 (Y_scale) is requested";
    if (shape.last) return "order is NHWC";
    if (size < CUDNN_LRN_MIN_N || size > CUDNN_LRN_MAX_N) return "size is not 1 to 16";
    if (window.beta < CUDNN_LRN_MIN_BETA || window.bias < CUDNN_LRN_MIN_K) {
      return "beta or bias is too small";
    }
    if (shape.batch * shape.count * shape.positions > std::numeric_limits<int>::max()) {
      return "2^31 elements or more";
    }
    return nullptr;
  }

  bool Takes(const Channels& shape, const LRNWindow& window, bool scale) {
    if (!choice_.may_use_cudnn()) return false;
    if (shape == shape_ && !scale) return true;
    if (const char* const objection = Objection(shape, window, scale)) {
      choice_.Refused(objection);
      return false;
    }
    shape_ = {};
    if (plan_ == nullptr) plan_ = std::make_unique<Plan>();
    const int64_t size = window.before + window.after + 1;
    if (!CudnnDid(Cudnn().SetTensor4dDescriptor(plan_->tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT,
                                                static_cast<int>(shape.batch),
                                                static_cast<int>(shape.count),
                                                static_cast<int>(shape.positions), 1),
                  &choice_, "LRN of ", shape.count, " channels") ||
        !CudnnDid(Cudnn().SetLRNDescriptor(plan_->lrn, static_cast<unsigned>(size),
                                           window.alpha * static_cast<double>(size), window.beta,
                                           window.bias),
                  &choice_, "window of ", size, " channels")) {
      return false;
    }
    shape_ = shape;
    return true;
  }

  CudaEngineChoice choice_;
  std::unique_ptr<Plan> plan_;
  Channels shape_;  // the shape of plan_
};

}  // namespace

void RegisterLrnCudnn() {
  for (const char* engine : {"", "CUDNN"}) {
    RegisterOperator<LRNOp<CUDAContext, CudnnLRN>>(CUDA, "LRN", __FILE__, engine);
    RegisterOperator<LRNGradientOp<CUDAContext, CudnnLRN>>(CUDA, "LRNGradient", __FILE__, engine);
  }
}

}  // namespace caffe2rt
