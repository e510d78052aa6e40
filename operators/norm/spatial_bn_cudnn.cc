// SpatialBN by cuDNN: test mode without its gradient, and training over one batch that is not in
// place, with its gradient.

#include <limits>
#include <memory>

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/common/cuda_engine.h"
#include "operators/common/descriptors_cudnn.h"
#include "operators/common/status_cudnn.h"
#include "operators/norm/spatial_bn.h"

namespace caffe2rt {

namespace {

class CudnnBatchNorm {
 public:
  explicit CudnnBatchNorm(OperatorBase& op) : choice_(op, CudaEngine::kAny) {}

  void operator()(CUDAContext& context, const Channels& shape, const BatchNormTest& parameters,
                  const float* x, float* y) {
    const float one = 1, zero = 0;
    if (Takes(shape, parameters.epsilon) &&
        CudnnDid(Cudnn().BatchNormalizationForwardInference(
                     context.cudnn_handle(), CUDNN_BATCHNORM_SPATIAL, &one, &zero, plan_->tensor, x,
                     plan_->tensor, y, plan_->channels, parameters.scale, parameters.bias,
                     parameters.mean, parameters.var, parameters.epsilon),
                 &choice_, shape.batch, " images of ", shape.count, " channels")) {
      return;
    }
    NormalizeBatch(context, shape, parameters, x, nullptr, y);
  }

  void operator()(CUDAContext& context, const Channels& shape, const BatchNormTraining& parameters,
                  const float* x, float* y) {
    // A single value has no unbiased variance; cuDNN and Caffe2 give different results for it.
    if (parameters.num_batches > 1 || x == y || shape.batch * shape.positions < 2) {
      choice_.Refused("sums of several batches, in place, or a single value for each channel");
      return NormalizeBatch(context, shape, parameters, x, nullptr, y);
    }
    if (!Takes(shape, parameters.epsilon)) {
      return NormalizeBatch(context, shape, parameters, x, nullptr, y);
    }
    const size_t bytes = static_cast<size_t>(shape.count) * sizeof(float);
    if (!parameters.keep_mean) Clear(context, parameters.running_mean, bytes);
    if (!parameters.keep_var) Clear(context, parameters.running_var, bytes);
    const float one = 1, zero = 0;
    if (CudnnDid(Cudnn().BatchNormalizationForwardTraining(
                     context.cudnn_handle(), CUDNN_BATCHNORM_SPATIAL, &one, &zero, plan_->tensor, x,
                     plan_->tensor, y, plan_->channels, parameters.scale, parameters.bias,
                     1.0 - parameters.momentum, parameters.running_mean, parameters.running_var,
                     parameters.epsilon, parameters.saved_mean, parameters.saved_scale),
                 &choice_, shape.batch, " images of ", shape.count, " channels")) {
      return;
    }
    NormalizeBatch(context, shape, parameters, x, nullptr, y);
  }

  void operator()(CUDAContext& context, const Channels& shape, float epsilon,
                  const BatchNormGradient& parameters, const float* x, const float* dy, float* dx) {
    const bool constant = parameters.var != nullptr;
    if (constant) choice_.Refused("gradient in test mode");
    if (parameters.num_batches > 1) choice_.Refused("sums of several batches");
    // The gradient of a single value is 0; cuDNN gives what rounding leaves of it.
    const bool single = shape.batch * shape.positions < 2;
    if (single) choice_.Refused("a single value for each channel");
    const float one = 1, zero = 0;
    if (!constant && parameters.num_batches <= 1 && !single && Takes(shape, epsilon) &&
        CudnnDid(Cudnn().BatchNormalizationBackward(
                     context.cudnn_handle(), CUDNN_BATCHNORM_SPATIAL, &one, &zero, &one, &zero,
                     plan_->tensor, x, plan_->tensor, dy, plan_->tensor, dx, plan_->channels,
                     parameters.scale, parameters.dscale, parameters.dbias, epsilon,
                     parameters.mean, parameters.inverse),
                 &choice_, shape.batch, " images of ", shape.count, " channels")) {
      return;
    }
    GradientOfBatch(context, shape, parameters, x, dy, nullptr, dx);
  }

 private:
  struct Plan {
    CudnnTensor tensor, channels;
  };

  static void Clear(CUDAContext& context, float* values, size_t bytes) {
    CUDA_ENFORCE(cudaMemsetAsync(values, 0, bytes, context.cuda_stream()), "running values");
  }

  bool Takes(const Channels& shape, float epsilon) {
    if (!choice_.may_use_cudnn()) return false;
    if (shape == shape_) return true;
    if (static_cast<double>(epsilon) < CUDNN_BN_MIN_EPSILON) {
      choice_.Refused("epsilon is too small");
      return false;
    }
    if (shape.batch * shape.count * shape.positions > std::numeric_limits<int>::max()) {
      choice_.Refused("2^31 elements or more");
      return false;
    }
    shape_ = {};
    if (plan_ == nullptr) plan_ = std::make_unique<Plan>();
    if (!CudnnDid(Cudnn().SetTensor4dDescriptor(
                      plan_->tensor, shape.last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW,
                      CUDNN_DATA_FLOAT, static_cast<int>(shape.batch),
                      static_cast<int>(shape.count), static_cast<int>(shape.positions), 1),
                  &choice_, "SpatialBN of ", shape.count, " channels") ||
        !CudnnDid(Cudnn().DeriveBNTensorDescriptor(plan_->channels, plan_->tensor,
                                                   CUDNN_BATCHNORM_SPATIAL),
                  &choice_, "SpatialBN of ", shape.count, " channels")) {
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

void RegisterSpatialBnCudnn() {
  for (const char* engine : {"", "CUDNN"}) {
    RegisterOperator<SpatialBNOp<CUDAContext, CudnnBatchNorm>>(CUDA, "SpatialBN", __FILE__, engine);
    RegisterOperator<SpatialBNGradientOp<CUDAContext, CudnnBatchNorm>>(CUDA, "SpatialBNGradient",
                                                                       __FILE__, engine);
  }
}

}  // namespace caffe2rt
