#pragma once

// From descriptors to a convolution, with the checks that cuDNN makes.

#include "cudnn/convolution.h"
#include "cudnn/descriptors.h"

namespace fakecuda {

// The shape of y. It is set as far as it is known also when the status is an error.
cudnnStatus_t OutputDims(const cudnnConvolutionStruct& conv, const std::vector<int>& x,
                         const std::vector<int>& w, std::vector<int>* y);

cudnnStatus_t MakeConvolution(const cudnnConvolutionStruct* descriptor, const cudnnTensorStruct* x,
                              const cudnnFilterStruct* w, const cudnnTensorStruct* y,
                              Convolution* conv);

// What an algorithm wants as workspace. Made up: the fake needs none, callers must give it anyway.
size_t WorkspaceBytes(const Convolution& conv, bool wants_workspace);

inline bool WantsWorkspace(cudnnConvolutionFwdAlgo_t algo) {
  return algo != CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM &&
         algo != CUDNN_CONVOLUTION_FWD_ALGO_DIRECT;
}
inline bool WantsWorkspace(cudnnConvolutionBwdDataAlgo_t algo) {
  return algo != CUDNN_CONVOLUTION_BWD_DATA_ALGO_0;
}
inline bool WantsWorkspace(cudnnConvolutionBwdFilterAlgo_t algo) {
  return algo != CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0;
}

}  // namespace fakecuda
