// Choosing algorithms. The fake has one implementation. It offers three algorithms with different
// workspace sizes, so that the choice of a caller with a workspace limit can be tested.

#include <algorithm>

#include "cudnn/convolution_shape.h"

namespace fakecuda {

size_t WorkspaceBytes(const Convolution& conv, bool wants_workspace) {
  if (!wants_workspace) return 0;
  const size_t taps = static_cast<size_t>(conv.kernel[0]) * static_cast<size_t>(conv.kernel[1]) *
                      static_cast<size_t>(conv.kernel[2]);
  const size_t out = static_cast<size_t>(conv.out[0]) * static_cast<size_t>(conv.out[1]) *
                     static_cast<size_t>(conv.out[2]);
  return taps * out * static_cast<size_t>(conv.c / conv.groups) * sizeof(float);
}

namespace {

// In cuDNN, these algorithms add with atomics.
cudnnDeterminism_t DeterminismOf(cudnnConvolutionFwdAlgo_t) { return CUDNN_DETERMINISTIC; }
cudnnDeterminism_t DeterminismOf(cudnnConvolutionBwdDataAlgo_t algorithm) {
  return algorithm == CUDNN_CONVOLUTION_BWD_DATA_ALGO_0 ? CUDNN_NON_DETERMINISTIC
                                                        : CUDNN_DETERMINISTIC;
}
cudnnDeterminism_t DeterminismOf(cudnnConvolutionBwdFilterAlgo_t algorithm) {
  return algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0 ? CUDNN_NON_DETERMINISTIC
                                                          : CUDNN_DETERMINISTIC;
}

template <class Perf, class Algo>
cudnnStatus_t List(const Convolution& conv, std::initializer_list<Algo> algorithms, int wanted,
                   int* count, Perf* results) {
  int made = 0;
  float time = 1;
  // Algorithms of a library that is newer than the headers, which do not support this shape.
  const long all = fakecuda_get("cudnn_algorithms", 0);
  for (long i = static_cast<long>(algorithms.size()); i < all && made < wanted; ++i) {
    Perf perf = {};
    perf.algo = static_cast<Algo>(100 + i);
    perf.status = CUDNN_STATUS_NOT_SUPPORTED;
    results[made++] = perf;
  }
  for (const Algo algorithm : algorithms) {
    if (made == wanted) break;
    Perf perf = {};
    perf.algo = algorithm;
    perf.status = CUDNN_STATUS_SUCCESS;
    perf.time = time++;
    perf.memory = WorkspaceBytes(conv, WantsWorkspace(algorithm));
    perf.determinism = DeterminismOf(algorithm);
    perf.mathType = CUDNN_DEFAULT_MATH;
    results[made++] = perf;
  }
  *count = made;
  return CUDNN_STATUS_SUCCESS;
}

int MaxCount(int of_headers) {
  return std::max(of_headers, static_cast<int>(fakecuda_get("cudnn_algorithms", 0)));
}

struct Query {
  cudnnHandle_t handle;
  const cudnnTensorStruct* x;
  const cudnnFilterStruct* w;
  const cudnnConvolutionStruct* conv;
  const cudnnTensorStruct* y;
  int wanted;
  int* count;
};

cudnnStatus_t Check(const Query& query, const void* results, Convolution* conv) {
  FAKECUDNN_NEED(query.handle != nullptr && query.wanted > 0 && query.count != nullptr &&
                 results != nullptr);
  *query.count = 0;
  return MakeConvolution(query.conv, query.x, query.w, query.y, conv);
}

cudnnStatus_t Forward(const Query& query, cudnnConvolutionFwdAlgoPerf_t* results) {
  Convolution conv;
  const cudnnStatus_t status = Check(query, results, &conv);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  return List(conv,
              {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
               CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, CUDNN_CONVOLUTION_FWD_ALGO_GEMM},
              query.wanted, query.count, results);
}

cudnnStatus_t BackwardData(const Query& query, cudnnConvolutionBwdDataAlgoPerf_t* results) {
  Convolution conv;
  const cudnnStatus_t status = Check(query, results, &conv);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  return List(conv, {CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, CUDNN_CONVOLUTION_BWD_DATA_ALGO_0},
              query.wanted, query.count, results);
}

cudnnStatus_t BackwardFilter(const Query& query, cudnnConvolutionBwdFilterAlgoPerf_t* results) {
  Convolution conv;
  const cudnnStatus_t status = Check(query, results, &conv);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  return List(conv, {CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0},
              query.wanted, query.count, results);
}

template <class Algo>
cudnnStatus_t Workspace(const Query& query, Algo algo, size_t* bytes) {
  FAKECUDNN_NEED(query.handle != nullptr && bytes != nullptr);
  Convolution conv;
  const cudnnStatus_t status = MakeConvolution(query.conv, query.x, query.w, query.y, &conv);
  *bytes = status == CUDNN_STATUS_SUCCESS ? WorkspaceBytes(conv, WantsWorkspace(algo)) : 0;
  return status;
}

}  // namespace
}  // namespace fakecuda

using namespace fakecuda;

extern "C" {

cudnnStatus_t cudnnGetConvolutionForwardAlgorithmMaxCount(cudnnHandle_t handle, int* count) {
  FAKECUDNN_NEED(handle != nullptr && count != nullptr);
  *count = MaxCount(CUDNN_CONVOLUTION_FWD_ALGO_COUNT);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithmMaxCount(cudnnHandle_t handle, int* count) {
  FAKECUDNN_NEED(handle != nullptr && count != nullptr);
  *count = MaxCount(CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithmMaxCount(cudnnHandle_t handle, int* count) {
  FAKECUDNN_NEED(handle != nullptr && count != nullptr);
  *count = MaxCount(CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t w,
    const cudnnConvolutionDescriptor_t conv, const cudnnTensorDescriptor_t y, const int wanted,
    int* count, cudnnConvolutionFwdAlgoPerf_t* results) {
  return Forward({handle, x, w, conv, y, wanted, count}, results);
}

cudnnStatus_t cudnnFindConvolutionForwardAlgorithm(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t w,
    const cudnnConvolutionDescriptor_t conv, const cudnnTensorDescriptor_t y, const int wanted,
    int* count, cudnnConvolutionFwdAlgoPerf_t* results) {
  return Forward({handle, x, w, conv, y, wanted, count}, results);
}

cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const void*,
    const cudnnFilterDescriptor_t w, const void*, const cudnnConvolutionDescriptor_t conv,
    const cudnnTensorDescriptor_t y, void*, const int wanted, int* count,
    cudnnConvolutionFwdAlgoPerf_t* results, void*, size_t) {
  if (!Begin(__func__)) return CUDNN_STATUS_INTERNAL_ERROR;
  return Forward({handle, x, w, conv, y, wanted, count}, results);
}

cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
    cudnnHandle_t handle, const cudnnFilterDescriptor_t w, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t conv, const cudnnTensorDescriptor_t dx, const int wanted,
    int* count, cudnnConvolutionBwdDataAlgoPerf_t* results) {
  return BackwardData({handle, dx, w, conv, dy, wanted, count}, results);
}

cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithm(
    cudnnHandle_t handle, const cudnnFilterDescriptor_t w, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t conv, const cudnnTensorDescriptor_t dx, const int wanted,
    int* count, cudnnConvolutionBwdDataAlgoPerf_t* results) {
  return BackwardData({handle, dx, w, conv, dy, wanted, count}, results);
}

cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithmEx(
    cudnnHandle_t handle, const cudnnFilterDescriptor_t w, const void*,
    const cudnnTensorDescriptor_t dy, const void*, const cudnnConvolutionDescriptor_t conv,
    const cudnnTensorDescriptor_t dx, void*, const int wanted, int* count,
    cudnnConvolutionBwdDataAlgoPerf_t* results, void*, size_t) {
  if (!Begin(__func__)) return CUDNN_STATUS_INTERNAL_ERROR;
  return BackwardData({handle, dx, w, conv, dy, wanted, count}, results);
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t conv, const cudnnFilterDescriptor_t dw, const int wanted,
    int* count, cudnnConvolutionBwdFilterAlgoPerf_t* results) {
  return BackwardFilter({handle, x, dw, conv, dy, wanted, count}, results);
}

cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithm(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t conv, const cudnnFilterDescriptor_t dw, const int wanted,
    int* count, cudnnConvolutionBwdFilterAlgoPerf_t* results) {
  return BackwardFilter({handle, x, dw, conv, dy, wanted, count}, results);
}

cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithmEx(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const void*,
    const cudnnTensorDescriptor_t dy, const void*, const cudnnConvolutionDescriptor_t conv,
    const cudnnFilterDescriptor_t dw, void*, const int wanted, int* count,
    cudnnConvolutionBwdFilterAlgoPerf_t* results, void*, size_t) {
  if (!Begin(__func__)) return CUDNN_STATUS_INTERNAL_ERROR;
  return BackwardFilter({handle, x, dw, conv, dy, wanted, count}, results);
}

cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t w,
    const cudnnConvolutionDescriptor_t conv, const cudnnTensorDescriptor_t y,
    cudnnConvolutionFwdAlgo_t algo, size_t* bytes) {
  return Workspace({handle, x, w, conv, y, 1, nullptr}, algo, bytes);
}

cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
    cudnnHandle_t handle, const cudnnFilterDescriptor_t w, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t conv, const cudnnTensorDescriptor_t dx,
    cudnnConvolutionBwdDataAlgo_t algo, size_t* bytes) {
  return Workspace({handle, dx, w, conv, dy, 1, nullptr}, algo, bytes);
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t conv, const cudnnFilterDescriptor_t dw,
    cudnnConvolutionBwdFilterAlgo_t algo, size_t* bytes) {
  return Workspace({handle, x, dw, conv, dy, 1, nullptr}, algo, bytes);
}

}  // extern "C"
