// Host code of a target with kernels. The operator is registered for both devices, and CUDA either
// works or reports why it does not.
#include <iostream>

#include "caffe2/core/common_gpu.h"
#include "caffe2/core/context_gpu.h"
#include "caffe2/core/init.h"
#include "caffe2/core/operator.h"

int main(int argc, char** argv) {
  caffe2::GlobalInit(&argc, &argv);
  if (!caffe2::CUDAOperatorRegistry()->Has("ScaleShift")) {
    std::cerr << "the operator of the .cu file is not registered\n";
    return 1;
  }
  if (!caffe2::HasCudaGPU()) {
    try {
      caffe2::CUDAContext context;
      std::cerr << "a CUDAContext without a device\n";
      return 1;
    } catch (const std::exception& error) {
      std::cout << error.what() << "\n";
      return 0;
    }
  }
  caffe2::DeviceGuard guard(caffe2::NumCudaDevices() - 1);
  caffe2::CUDAContext context(0);
  caffe2::Tensor cpu(std::vector<int>{3}, caffe2::CPU);
  for (int i = 0; i < 3; ++i) cpu.mutable_data<float>()[i] = static_cast<float>(i);
  caffe2::TensorCUDA there(caffe2::CUDA);
  there.CopyFrom(cpu, &context);
  caffe2::Tensor back(caffe2::CPU);
  back.CopyFrom(there, &context);
  context.FinishDeviceComputation();
  return back.data<float>()[2] == 2.f && context.cuda_stream() != nullptr ? 0 : 1;
}
