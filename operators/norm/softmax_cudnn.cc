// Softmax and SoftmaxGradient by cuDNN, if the def names engine CUDNN. The native kernels are the
// default: on an H200, cuDNN's gradient took 27 to 370 times as long in rows of 1,000 and more, and
// its softmax of a row of which all elements are minus infinity is 0 or NaN, by the length of the
// row.

#include <limits>
#include <memory>

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/common/cuda_engine.h"
#include "operators/common/descriptors_cudnn.h"
#include "operators/common/status_cudnn.h"
#include "operators/norm/softmax.h"

namespace caffe2rt {

namespace {

class CudnnSoftmax {
 public:
  explicit CudnnSoftmax(OperatorBase& op) : choice_(op, CudaEngine::kOnRequest) {}

  void operator()(CUDAContext& context, int64_t rows, int64_t n, const float* x, float* y) {
    if (rows == 0 || n == 0) return;
    const float one = 1, zero = 0;
    if (Takes(rows, n) &&
        CudnnDid(Cudnn().SoftmaxForward(context.cudnn_handle(), CUDNN_SOFTMAX_ACCURATE,
                                        CUDNN_SOFTMAX_MODE_CHANNEL, &one, *tensor_, x, &zero,
                                        *tensor_, y),
                 &choice_, rows, " rows of ", n)) {
      return;
    }
    SoftmaxRows(context, rows, n, x, y);
  }

  void operator()(CUDAContext& context, int64_t rows, int64_t n, const float* y, const float* dy,
                  float* dx) {
    if (rows == 0 || n == 0) return;
    const float one = 1, zero = 0;
    if (Takes(rows, n) &&
        CudnnDid(Cudnn().SoftmaxBackward(context.cudnn_handle(), CUDNN_SOFTMAX_ACCURATE,
                                         CUDNN_SOFTMAX_MODE_CHANNEL, &one, *tensor_, y, *tensor_,
                                         dy, &zero, *tensor_, dx),
                 &choice_, rows, " rows of ", n)) {
      return;
    }
    SoftmaxRowsGradient(context, rows, n, y, dy, dx);
  }

 private:
  bool Takes(int64_t rows, int64_t n) {
    if (!choice_.may_use_cudnn()) return false;
    if (rows == rows_ && n == n_) return true;
    if (rows > std::numeric_limits<int>::max() / n) {
      choice_.Refused("2^31 elements or more");
      return false;
    }
    rows_ = n_ = -1;
    if (tensor_ == nullptr) tensor_ = std::make_unique<CudnnTensor>();
    if (!CudnnDid(Cudnn().SetTensor4dDescriptor(*tensor_, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT,
                                                static_cast<int>(rows), static_cast<int>(n), 1, 1),
                  &choice_, rows, " rows of ", n)) {
      return false;
    }
    rows_ = rows;
    n_ = n;
    return true;
  }

  CudaEngineChoice choice_;
  std::unique_ptr<CudnnTensor> tensor_;
  int64_t rows_ = -1, n_ = -1;  // the shape of tensor_
};

}  // namespace

void RegisterSoftmaxCudnn() {
  for (const char* engine : {"", "CUDNN"}) {
    RegisterOperator<SoftmaxOp<CUDAContext, CudnnSoftmax>>(CUDA, "Softmax", __FILE__, engine);
    RegisterOperator<SoftmaxGradientOp<CUDAContext, CudnnSoftmax>>(CUDA, "SoftmaxGradient",
                                                                   __FILE__, engine);
  }
}

}  // namespace caffe2rt
