// Replaces conv_cudnn.cc in builds without cuDNN's headers.

#include "operators/conv/cuda_conv.h"

namespace caffe2rt {

std::unique_ptr<CudaConvPlan> NewCudnnConv(CUDAContext&, const ConvShape&, const CudnnConvOptions&,
                                           Tensor*, std::string* reason) {
  *reason = CudnnProblem();
  return nullptr;
}

std::unique_ptr<CudaConvPlan> NewCudnnConv(CUDAContext&, const ConvTransposeShape&,
                                           const CudnnConvOptions&, Tensor*, std::string* reason) {
  *reason = CudnnProblem();
  return nullptr;
}

std::unique_ptr<CudaConvPlan> NewCudnnConv(CUDAContext&, const ConvFilterGradientShape&,
                                           const CudnnConvOptions&, Tensor*, std::string* reason) {
  *reason = CudnnProblem();
  return nullptr;
}

std::unique_ptr<CudaConvPlan> NewCudnnConv(CUDAContext&, const ConvDataGradientShape&,
                                           const CudnnConvOptions&, Tensor*, std::string* reason) {
  *reason = CudnnProblem();
  return nullptr;
}

}  // namespace caffe2rt
