// An operator whose kernel uses a function that sources defined in namespace caffe2. It means the same in both generations of
// sources and is compiled in both.
#include "caffe2/core/context_gpu.h"
#include "caffe2/core/operator.h"

namespace caffe2 {

template <typename T>
inline __device__ void gpu_atomic_add(const T value, T* address) {
  atomicAdd(address, value);
}

namespace {

template <typename T>
__global__ void AtomicSumKernel(const int n, const T* x, T* sum) {
  CUDA_1D_KERNEL_LOOP(i, n) { gpu_atomic_add(x[i], sum); }
}

// The sum of all elements, also as an integer on the CPU.
class AtomicSumOp final : public Operator<CUDAContext> {
 public:
  AtomicSumOp(const OperatorDef& operator_def, Workspace* ws)
      : Operator<CUDAContext>(operator_def, ws) {}
  bool RunOnDevice() override {
    auto& X = Input(0);
    auto* sum = Output(0);
    sum->Resize(1);
    const int n = X.size();
    float* to = sum->template mutable_data<float>();
    CUDA_ENFORCE(cudaMemsetAsync(to, 0, sizeof(float), context_.cuda_stream()));
    AtomicSumKernel<float>
        <<<CAFFE_GET_BLOCKS(n), CAFFE_CUDA_NUM_THREADS, 0, context_.cuda_stream()>>>(
            n, X.template data<float>(), to);
    CUDA_ENFORCE(cudaGetLastError());
    float host = 0;
    context_.Copy<float, CUDAContext, CPUContext>(1, to, &host);
    context_.FinishDeviceComputation();
    auto* rounded = OperatorBase::Output<TensorCPU>(1);
    rounded->Resize(1);
    rounded->template mutable_data<int>()[0] = static_cast<int>(host);
    return true;
  }
};

REGISTER_CUDA_OPERATOR(AtomicSum, AtomicSumOp);
OPERATOR_SCHEMA(AtomicSum).NumInputs(1).NumOutputs(2);
NO_GRADIENT(AtomicSum);

}  // namespace
}  // namespace caffe2
