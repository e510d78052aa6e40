#include "templated_shift_op.h"

#include "caffe2/core/context_gpu.h"
#include "caffe2/utils/math.h"

namespace caffe2 {

namespace {

template <typename T>
__global__ void TemplatedShiftKernel(const int n, const T shift, const T* x, T* y) {
  CUDA_1D_KERNEL_LOOP(i, n) { y[i] = x[i] + shift; }
}

// Deduces the context from the tensor.
template <class Context>
int CountOf(const Tensor<Context>& tensor) {
  return static_cast<int>(tensor.size());
}

}  // namespace

template <>
bool TemplatedShiftOp<float, CUDAContext>::RunOnDevice() {
  const Tensor<CUDAContext>& X = Input(0);
  Tensor<CUDAContext>* Y = Output(0);
  buffer_.CopyFrom(X, &context_);
  host_.CopyFrom<CUDAContext>(X, &context_);
  Y->ResizeLike(X);
  TemplatedShiftKernel<float>
      <<<CAFFE_GET_BLOCKS(CountOf(X)), CAFFE_CUDA_NUM_THREADS, 0, context_.cuda_stream()>>>(
          CountOf(X), shift_, buffer_.data<float>(), Y->mutable_data<float>());
  return true;
}

REGISTER_CUDA_OPERATOR(TemplatedShift, TemplatedShiftOp<float, CUDAContext>);

}  // namespace caffe2
