#include "caffe2/core/context_gpu.h"
#include "scale_shift_op.h"

namespace caffe2 {

namespace {
template <typename T>
__global__ void ScaleShiftKernel(const int n, const T scale, const T shift, const T* x, T* y) {
  CUDA_1D_KERNEL_LOOP(i, n) { y[i] = scale * x[i] + shift; }
}
}  // namespace

template <>
bool ScaleShiftOp<float, CUDAContext>::RunOnDevice() {
  auto& X = Input(0);
  auto* Y = Output(0);
  Y->ResizeLike(X);
  ScaleShiftKernel<float>
      <<<CAFFE_GET_BLOCKS(X.size()), CAFFE_CUDA_NUM_THREADS, 0, context_.cuda_stream()>>>(
          X.size(), scale_, shift_, X.data<float>(), Y->mutable_data<float>());
  CUDA_ENFORCE(cudaGetLastError());
  return true;
}

REGISTER_CUDA_OPERATOR(ScaleShift, ScaleShiftOp<float, CUDAContext>);

}  // namespace caffe2
