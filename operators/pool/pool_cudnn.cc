// Pooling and its gradient by cuDNN.

#include "contexts/cuda/cuda_context.h"
#include "operators/common/descriptors_cudnn.h"
#include "operators/pool/cuda_pool.h"

namespace caffe2rt {

namespace {

class Plan final : public CudaPoolPlan {
 public:
  Plan(PoolKind kind, const CudnnWindow& window, const WindowGeometry& geometry, bool include_pad) {
    const cudnnTensorFormat_t format = CudnnFormat(geometry.order);
    Describe(in_, format, window, window.Dims(geometry.batch, geometry.channels, window.in));
    Describe(out_, format, window, window.Dims(geometry.batch, geometry.channels, window.out));
    // The other mode for maxima adds gradients with atomics.
    const cudnnPoolingMode_t mode = kind == PoolKind::kMax ? CUDNN_POOLING_MAX_DETERMINISTIC
                                    : include_pad ? CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING
                                                  : CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING;
    CUDNN_ENFORCE(Cudnn().SetPoolingNdDescriptor(pooling_, mode, CUDNN_NOT_PROPAGATE_NAN,
                                                 window.axes, window.kernel.data(),
                                                 window.pad.data(), window.stride.data()),
                  "windows of a pool");
  }

  bool Run(CUDAContext& context, const float* x, float* y, std::string* reason) override {
    constexpr float kOne = 1, kZero = 0;
    return IsDone(
        Cudnn().PoolingForward(context.cudnn_handle(), pooling_, &kOne, in_, x, &kZero, out_, y),
        reason);
  }

  bool RunGradient(CUDAContext& context, const PoolGradientData& data,
                   std::string* reason) override {
    constexpr float kOne = 1, kZero = 0;
    return IsDone(Cudnn().PoolingBackward(context.cudnn_handle(), pooling_, &kOne, out_, data.y,
                                          out_, data.dy, in_, data.x, &kZero, in_, data.dx),
                  reason);
  }

 private:
  // Returns false and sets *reason if cuDNN does not support the call.
  static bool IsDone(cudnnStatus_t status, std::string* reason) {
    if (CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED) {
      *reason = CudnnStatusText(status);
      return false;
    }
    CUDNN_ENFORCE(status, "pool");
    return true;
  }

  CudnnTensor in_, out_;
  CudnnPooling pooling_;
};

}  // namespace

std::unique_ptr<CudaPoolPlan> NewCudnnPool(PoolKind kind, const WindowGeometry& geometry,
                                           bool include_pad, std::string* reason) {
  CudnnWindow window;
  if (!CudnnWindow::Make(geometry, false, &window, reason)) return nullptr;
  for (int i = 0; i < window.axes; ++i) {
    const size_t axis = static_cast<size_t>(i);
    if (window.pad[axis] < window.kernel[axis]) continue;
    *reason =
        MakeString("pad ", window.pad[axis], " is not smaller than kernel ", window.kernel[axis]);
    return nullptr;
  }
  return std::make_unique<Plan>(kind, window, geometry, include_pad);
}

}  // namespace caffe2rt
