#pragma once
// Convolutions by cuDNN's backend API. An execution plan is made once for a shape; a run then binds
// the pointers and executes it, which takes a fraction of the host's time of a call of the legacy
// API.

#include <functional>
#include <memory>
#include <string>

#include "operators/common/descriptors_cudnn.h"
#include "operators/conv/cuda_conv.h"

namespace caffe2rt {

// Makes a plan of the legacy API for the same shape; as NewCudnnConv.
using NewLegacyConv =
    std::function<std::unique_ptr<CudaConvPlan>(CUDAContext& context, std::string* reason)>;

// Returns null if no engine of the backend API computes the shape within the options. `window`: the
// shape's windows. The legacy plan is made when it is first needed: for tensors that are not aligned
// to kCudnnTensorAlignment, and for every run after one that cuDNN has rejected.
std::unique_ptr<CudaConvPlan> NewCudnnGraphConv(CUDAContext& context, const ConvShape& shape,
                                                const CudnnWindow& window,
                                                const CudnnConvOptions& options,
                                                NewLegacyConv legacy);

}  // namespace caffe2rt
