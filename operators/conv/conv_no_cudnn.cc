// Where cuDNN's headers were missing when this was built.

#include "operators/conv/cuda_conv.h"

namespace caffe2rt {

std::string WhyNoCudnnConv() { return "this library was built without cuDNN's headers"; }

std::unique_ptr<CudaConvPlan> NewCudnnConv(CUDAContext&, const ConvShape&, const CudnnConvOptions&,
                                           std::string* reason) {
  *reason = WhyNoCudnnConv();
  return nullptr;
}

std::unique_ptr<CudaConvPlan> NewCudnnConv(CUDAContext&, const ConvTransposeShape&,
                                           const CudnnConvOptions&, std::string* reason) {
  *reason = WhyNoCudnnConv();
  return nullptr;
}

}  // namespace caffe2rt
