#pragma once
// The directions of a convolution in cuDNN's legacy API: types and functions with the same names, for
// templates. Only for files that are built if cuDNN's headers are available.

#include "contexts/cuda/cudnn_library.h"
#include "operators/common/descriptors_cudnn.h"
#include "operators/conv/cuda_conv.h"

namespace caffe2rt {

// The descriptors that all directions use.
struct ConvDescriptors {
  CudnnTensor in, out, bias;
  CudnnFilter filter;
  CudnnConvolution conv;
};
struct ConvPointers {
  const float* in;
  const float* filter;
  float* out;
};
struct ConvWorkspace {
  void* data;
  size_t nbytes;
};
inline constexpr float kCudnnOne = 1, kCudnnZero = 0;

// The directions: types and functions of cuDNN.
struct CudnnForward {
  using Algorithm = cudnnConvolutionFwdAlgo_t;
  using Result = cudnnConvolutionFwdAlgoPerf_t;
  static constexpr ConvDirection kDirection = ConvDirection::kForward;
  static constexpr int kAlgorithms = CUDNN_CONVOLUTION_FWD_ALGO_COUNT;

  // The number of algorithms of the library, which may be newer than the headers.
  static cudnnStatus_t Count(cudnnHandle_t handle, int* count) {
    return Cudnn().GetConvolutionForwardAlgorithmMaxCount(handle, count);
  }
  static cudnnStatus_t Ask(cudnnHandle_t handle, const ConvDescriptors& d, int most, int* count,
                           Result* to) {
    return Cudnn().GetConvolutionForwardAlgorithm_v7(handle, d.in, d.filter, d.conv, d.out, most,
                                                     count, to);
  }
  static cudnnStatus_t Time(cudnnHandle_t handle, const ConvDescriptors& d, const ConvPointers& p,
                            const ConvWorkspace& space, int most, int* count, Result* to) {
    return Cudnn().FindConvolutionForwardAlgorithmEx(handle, d.in, p.in, d.filter, p.filter, d.conv,
                                                     d.out, p.out, most, count, to, space.data,
                                                     space.nbytes);
  }
  static cudnnStatus_t WorkspaceSize(cudnnHandle_t handle, const ConvDescriptors& d,
                                     Algorithm algorithm, size_t* nbytes) {
    return Cudnn().GetConvolutionForwardWorkspaceSize(handle, d.in, d.filter, d.conv, d.out,
                                                      algorithm, nbytes);
  }
  static cudnnStatus_t Run(cudnnHandle_t handle, const ConvDescriptors& d, const ConvPointers& p,
                           Algorithm algorithm, const ConvWorkspace& space) {
    return Cudnn().ConvolutionForward(handle, &kCudnnOne, d.in, p.in, d.filter, p.filter, d.conv,
                                      algorithm, space.data, space.nbytes, &kCudnnZero, d.out,
                                      p.out);
  }
  // Whether cuDNN can add the bias in the same call: only this algorithm supports it.
  static bool MayAddBias(Algorithm algorithm) {
    return algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
  }
  static cudnnStatus_t RunWithBias(cudnnHandle_t handle, const ConvDescriptors& d,
                                   const ConvPointers& p, Algorithm algorithm,
                                   const ConvWorkspace& space, const CudnnActivation& identity,
                                   const float* bias) {
    return Cudnn().ConvolutionBiasActivationForward(
        handle, &kCudnnOne, d.in, p.in, d.filter, p.filter, d.conv, algorithm, space.data,
        space.nbytes, &kCudnnZero, d.out, p.out, d.bias, bias, identity, d.out, p.out);
  }
};

struct CudnnBackwardData {
  using Algorithm = cudnnConvolutionBwdDataAlgo_t;
  using Result = cudnnConvolutionBwdDataAlgoPerf_t;
  static constexpr ConvDirection kDirection = ConvDirection::kDataGradient;
  static constexpr int kAlgorithms = CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT;

  // The number of algorithms of the library, which may be newer than the headers.
  static cudnnStatus_t Count(cudnnHandle_t handle, int* count) {
    return Cudnn().GetConvolutionBackwardDataAlgorithmMaxCount(handle, count);
  }
  static cudnnStatus_t Ask(cudnnHandle_t handle, const ConvDescriptors& d, int most, int* count,
                           Result* to) {
    return Cudnn().GetConvolutionBackwardDataAlgorithm_v7(handle, d.filter, d.in, d.conv, d.out,
                                                          most, count, to);
  }
  static cudnnStatus_t Time(cudnnHandle_t handle, const ConvDescriptors& d, const ConvPointers& p,
                            const ConvWorkspace& space, int most, int* count, Result* to) {
    return Cudnn().FindConvolutionBackwardDataAlgorithmEx(handle, d.filter, p.filter, d.in, p.in,
                                                          d.conv, d.out, p.out, most, count, to,
                                                          space.data, space.nbytes);
  }
  static cudnnStatus_t WorkspaceSize(cudnnHandle_t handle, const ConvDescriptors& d,
                                     Algorithm algorithm, size_t* nbytes) {
    return Cudnn().GetConvolutionBackwardDataWorkspaceSize(handle, d.filter, d.in, d.conv, d.out,
                                                           algorithm, nbytes);
  }
  static cudnnStatus_t Run(cudnnHandle_t handle, const ConvDescriptors& d, const ConvPointers& p,
                           Algorithm algorithm, const ConvWorkspace& space) {
    return Cudnn().ConvolutionBackwardData(handle, &kCudnnOne, d.filter, p.filter, d.in, p.in,
                                           d.conv, algorithm, space.data, space.nbytes, &kCudnnZero,
                                           d.out, p.out);
  }
  static bool MayAddBias(Algorithm) { return false; }
  static cudnnStatus_t RunWithBias(cudnnHandle_t, const ConvDescriptors&, const ConvPointers&,
                                   Algorithm, const ConvWorkspace&, const CudnnActivation&,
                                   const float*) {
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
};

// Reads X as p.in and dY as p.filter, and writes the gradient of the filter to p.out.
struct CudnnBackwardFilter {
  using Algorithm = cudnnConvolutionBwdFilterAlgo_t;
  using Result = cudnnConvolutionBwdFilterAlgoPerf_t;
  static constexpr ConvDirection kDirection = ConvDirection::kFilterGradient;
  static constexpr int kAlgorithms = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT;

  // The number of algorithms of the library, which may be newer than the headers.
  static cudnnStatus_t Count(cudnnHandle_t handle, int* count) {
    return Cudnn().GetConvolutionBackwardFilterAlgorithmMaxCount(handle, count);
  }
  static cudnnStatus_t Ask(cudnnHandle_t handle, const ConvDescriptors& d, int most, int* count,
                           Result* to) {
    return Cudnn().GetConvolutionBackwardFilterAlgorithm_v7(handle, d.in, d.out, d.conv, d.filter,
                                                            most, count, to);
  }
  static cudnnStatus_t Time(cudnnHandle_t handle, const ConvDescriptors& d, const ConvPointers& p,
                            const ConvWorkspace& space, int most, int* count, Result* to) {
    return Cudnn().FindConvolutionBackwardFilterAlgorithmEx(handle, d.in, p.in, d.out, p.filter,
                                                            d.conv, d.filter, p.out, most, count,
                                                            to, space.data, space.nbytes);
  }
  static cudnnStatus_t WorkspaceSize(cudnnHandle_t handle, const ConvDescriptors& d,
                                     Algorithm algorithm, size_t* nbytes) {
    return Cudnn().GetConvolutionBackwardFilterWorkspaceSize(handle, d.in, d.out, d.conv, d.filter,
                                                             algorithm, nbytes);
  }
  static cudnnStatus_t Run(cudnnHandle_t handle, const ConvDescriptors& d, const ConvPointers& p,
                           Algorithm algorithm, const ConvWorkspace& space) {
    return Cudnn().ConvolutionBackwardFilter(handle, &kCudnnOne, d.in, p.in, d.out, p.filter,
                                             d.conv, algorithm, space.data, space.nbytes,
                                             &kCudnnZero, d.filter, p.out);
  }
  static bool MayAddBias(Algorithm) { return false; }
  static cudnnStatus_t RunWithBias(cudnnHandle_t, const ConvDescriptors&, const ConvPointers&,
                                   Algorithm, const ConvWorkspace&, const CudnnActivation&,
                                   const float*) {
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
};

}  // namespace caffe2rt
