#pragma once
// cuDNN through a table of functions, which is filled on first use.
//
//   CUDNN_ENFORCE(Cudnn().SoftmaxForward(context.cudnn_handle(), ...), "softmax of X");
//
// Members have the names of the functions, without the prefix. To add a function, add its name to
// the list. Only files that are built if cuDNN's headers are found (CAFFE2RT_HAS_CUDNN in CMake)
// may include this. Thread safe.

#include <cudnn.h>

#include "caffe2_core/base/enforce.h"
#include "contexts/cuda/cuda_libraries.h"
#include "contexts/cuda/vendor_library.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// clang-format off
#define CAFFE2RT_CUDNN_FUNCTIONS(X) \
  X(Create) X(Destroy) X(SetStream) X(GetStream) X(GetVersion) X(GetMaxDeviceVersion) \
  X(GetCudartVersion) X(GetProperty) X(GetErrorString) X(GetLastErrorString) \
  X(CreateTensorDescriptor) X(DestroyTensorDescriptor) X(SetTensor4dDescriptor) \
  X(SetTensor4dDescriptorEx) X(SetTensorNdDescriptor) X(SetTensorNdDescriptorEx) \
  X(GetTensor4dDescriptor) X(GetTensorNdDescriptor) X(GetTensorSizeInBytes) X(AddTensor) \
  X(OpTensor) X(ScaleTensor) X(SetTensor) X(TransformTensor) X(CreateOpTensorDescriptor) \
  X(DestroyOpTensorDescriptor) X(SetOpTensorDescriptor) X(CreateFilterDescriptor) \
  X(DestroyFilterDescriptor) X(SetFilter4dDescriptor) X(SetFilterNdDescriptor) \
  X(GetFilter4dDescriptor) X(GetFilterNdDescriptor) X(GetFilterSizeInBytes) \
  X(CreateConvolutionDescriptor) X(DestroyConvolutionDescriptor) X(SetConvolution2dDescriptor) \
  X(SetConvolutionNdDescriptor) X(GetConvolution2dDescriptor) X(SetConvolutionGroupCount) \
  X(GetConvolutionGroupCount) X(SetConvolutionMathType) X(GetConvolutionMathType) \
  X(SetConvolutionReorderType) X(GetConvolution2dForwardOutputDim) \
  X(GetConvolutionNdForwardOutputDim) X(ConvolutionForward) X(ConvolutionBiasActivationForward) \
  X(ConvolutionBackwardData) X(ConvolutionBackwardFilter) X(ConvolutionBackwardBias) \
  X(GetConvolutionForwardAlgorithmMaxCount) X(GetConvolutionForwardAlgorithm_v7) \
  X(FindConvolutionForwardAlgorithm) X(FindConvolutionForwardAlgorithmEx) \
  X(GetConvolutionForwardWorkspaceSize) X(GetConvolutionBackwardDataAlgorithmMaxCount) \
  X(GetConvolutionBackwardDataAlgorithm_v7) X(FindConvolutionBackwardDataAlgorithm) \
  X(FindConvolutionBackwardDataAlgorithmEx) X(GetConvolutionBackwardDataWorkspaceSize) \
  X(GetConvolutionBackwardFilterAlgorithmMaxCount) X(GetConvolutionBackwardFilterAlgorithm_v7) \
  X(FindConvolutionBackwardFilterAlgorithm) X(FindConvolutionBackwardFilterAlgorithmEx) \
  X(GetConvolutionBackwardFilterWorkspaceSize) X(CreateActivationDescriptor) \
  X(DestroyActivationDescriptor) X(SetActivationDescriptor) X(GetActivationDescriptor) \
  X(ActivationForward) X(ActivationBackward) X(CreatePoolingDescriptor) \
  X(DestroyPoolingDescriptor) X(SetPooling2dDescriptor) X(SetPoolingNdDescriptor) \
  X(GetPooling2dForwardOutputDim) X(GetPoolingNdForwardOutputDim) X(PoolingForward) \
  X(PoolingBackward) X(SoftmaxForward) X(SoftmaxBackward) X(CreateLRNDescriptor) \
  X(DestroyLRNDescriptor) X(SetLRNDescriptor) X(GetLRNDescriptor) X(LRNCrossChannelForward) \
  X(LRNCrossChannelBackward) X(DeriveBNTensorDescriptor) X(BatchNormalizationForwardInference) \
  X(BatchNormalizationForwardTraining) X(BatchNormalizationBackward) \
  X(CreateReduceTensorDescriptor) X(DestroyReduceTensorDescriptor) X(SetReduceTensorDescriptor) \
  X(GetReductionIndicesSize) X(GetReductionWorkspaceSize) X(ReduceTensor) \
  X(CreateDropoutDescriptor) X(DestroyDropoutDescriptor) X(DropoutGetStatesSize) \
  X(SetDropoutDescriptor) X(CreateRNNDescriptor) X(DestroyRNNDescriptor) \
  X(SetRNNDescriptor_v8) X(GetRNNWeightSpaceSize) X(GetRNNWeightParams) \
  X(GetRNNTempSpaceSizes) X(CreateRNNDataDescriptor) X(DestroyRNNDataDescriptor) \
  X(SetRNNDataDescriptor) X(RNNForward) X(RNNBackwardData_v8) X(RNNBackwardWeights_v8)
// The backend API. A library without these functions can be used: see HasCudnnBackend.
#define CAFFE2RT_CUDNN_BACKEND_FUNCTIONS(X) \
  X(BackendCreateDescriptor) X(BackendDestroyDescriptor) X(BackendSetAttribute) \
  X(BackendGetAttribute) X(BackendFinalize) X(BackendExecute)
// clang-format on

struct CudnnFunctions {
#define CAFFE2RT_MEMBER(name) decltype(&cudnn##name) name = nullptr;
  CAFFE2RT_CUDNN_FUNCTIONS(CAFFE2RT_MEMBER)
  CAFFE2RT_CUDNN_BACKEND_FUNCTIONS(CAFFE2RT_MEMBER)
#undef CAFFE2RT_MEMBER
};

// THROWS CudnnProblem() if cuDNN is not available.
const CudnnFunctions& Cudnn();

// Whether the library has all functions of the backend API. THROWS as Cudnn().
bool HasCudnnBackend();

// Returns text such as "CUDNN_STATUS_BAD_PARAM (status 2000): detail", where the detail is cuDNN's
// text for this thread's last failure.
std::string CudnnStatusText(cudnnStatus_t status);

// Caffe2's names. The versions of the headers and of the library, as 10000 * major + 100 * minor +
// patch.
constexpr size_t cudnnCompileTimeVersion() { return CUDNN_VERSION; }
// THROWS as Cudnn().
size_t cudnnRuntimeVersion();
// THROWS CudnnProblem() if the library is not available or its version cannot be used.
void CheckCuDNNVersions();

namespace internal {
[[noreturn]] void ThrowCudnnError(const char* file, int line, const char* call,
                                  cudnnStatus_t status, const std::string& message);
// What a library says of itself, as cudnnGetVersion and cudnnGetCudartVersion number it.
struct CudnnVersions {
  size_t cudnn;
  size_t cudart;
};
// The first release for CUDA 13. All functions that this library calls exist since then, so an
// older library than the headers of the build can be used.
inline constexpr size_t kOldestCudnn = 91200;
// Returns an empty string if a library of these versions can be used, else one line for a person.
std::string CudnnVersionProblem(const CudnnVersions& found);
}  // namespace internal

// Caffe2's name. The parts after the call are formatted only if it fails.
#define CUDNN_ENFORCE(call, ...)                                                        \
  do {                                                                                  \
    const cudnnStatus_t caffe2rt_status = (call);                                       \
    if (__builtin_expect(caffe2rt_status != CUDNN_STATUS_SUCCESS, 0)) {                 \
      ::caffe2rt::internal::ThrowCudnnError(__FILE__, __LINE__, #call, caffe2rt_status, \
                                            ::caffe2rt::MakeString(__VA_ARGS__));       \
    }                                                                                   \
  } while (false)

}  // namespace caffe2rt
#pragma GCC visibility pop
