#pragma once

// Builds a Convolution from descriptors, with the checks of cuDNN.

#include "cudnn/convolution.h"
#include "cudnn/descriptors.h"

namespace fakecuda {

// Computes the shape of y. If it fails, `y` holds the dimensions computed so far.
cudnnStatus_t OutputDims(const cudnnConvolutionStruct& conv, const std::vector<int>& x,
                         const std::vector<int>& w, std::vector<int>* y);

cudnnStatus_t MakeConvolution(const cudnnConvolutionStruct* descriptor, const cudnnTensorStruct* x,
                              const cudnnFilterStruct* w, const cudnnTensorStruct* y,
                              Convolution* conv);

// The workspace size of an algorithm. The fake needs none and invents a size, which callers must
// nevertheless provide.
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
