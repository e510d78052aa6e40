#pragma once
// cuDNN: its version, types and descriptors. If cuDNN's headers are not installed, this header only
// includes common_gpu.h. The descriptors are only available in sources that are compiled with CUDA
// (caffe2rt_cuda/with_cuda.h).
#include <array>
#include <mutex>
#include <vector>

#include "caffe2/core/common.h"
#include "caffe2/core/common_gpu.h"
#include "caffe2/core/context.h"
#include "caffe2/core/logging.h"
#include "caffe2/core/types.h"

#if __has_include(<cudnn.h>)
#include "caffe2_core/base/float16.h"
#if CAFFE2RT_WITH_CUDA
#include "contexts/cuda/cudnn_library.h"
#endif

#define CUDNN_VERSION_MIN(major, minor, patch) \
  (CUDNN_VERSION >= ((major)*10000 + (minor)*100 + (patch)))

namespace caffe2 {

namespace internal_gpu {
// cuDNN's value for an element type T, and the type of its scaling factors, `Scale`.
template <class T, class Scale, cudnnDataType_t kType>
struct CudnnType {
  static constexpr cudnnDataType_t type = kType;
  using ScalingParamType = const Scale;
  using BNParamType = Scale;
  static ScalingParamType* kOne() {
    static ScalingParamType value = 1;
    return &value;
  }
  static ScalingParamType* kZero() {
    static ScalingParamType value = 0;
    return &value;
  }
};
}  // namespace internal_gpu

template <class T>
class cudnnTypeWrapper;
template <>
class cudnnTypeWrapper<float> : public internal_gpu::CudnnType<float, float, CUDNN_DATA_FLOAT> {};
template <>
class cudnnTypeWrapper<double> : public internal_gpu::CudnnType<double, double, CUDNN_DATA_DOUBLE> {
};
template <>
class cudnnTypeWrapper<int> : public internal_gpu::CudnnType<int, int, CUDNN_DATA_INT32> {};
template <>
class cudnnTypeWrapper<::caffe2rt::float16>
    : public internal_gpu::CudnnType<::caffe2rt::float16, float, CUDNN_DATA_HALF> {};

inline cudnnTensorFormat_t GetCudnnTensorFormat(const StorageOrder& order) {
  CAFFE_ENFORCE(order == StorageOrder::NHWC || order == StorageOrder::NCHW, "order ",
                static_cast<int>(order), " is not supported by cuDNN, want NCHW or NHWC");
  return order == StorageOrder::NHWC ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
}

#if CAFFE2RT_WITH_CUDA
using ::caffe2rt::CheckCuDNNVersions;
using ::caffe2rt::cudnnRuntimeVersion;
inline size_t cudnnCompiledVersion() { return CUDNN_VERSION; }

// A tensor descriptor that is created once and set again for each shape. `dims` have the order of
// the tensor's format: N, C, H, W or N, H, W, C.
class cudnnTensorDescWrapper {
 public:
  cudnnTensorDescWrapper() {
    CUDNN_ENFORCE(::caffe2rt::Cudnn().CreateTensorDescriptor(&descriptor_), "tensor descriptor");
  }
  ~cudnnTensorDescWrapper() { ::caffe2rt::Cudnn().DestroyTensorDescriptor(descriptor_); }
  cudnnTensorDescWrapper(const cudnnTensorDescWrapper&) = delete;
  cudnnTensorDescWrapper& operator=(const cudnnTensorDescWrapper&) = delete;

  cudnnTensorDescriptor_t Descriptor(const cudnnTensorFormat_t format, const cudnnDataType_t type,
                                     const std::vector<int>& dims, bool* changed) {
    const bool same = set_ && format == format_ && type == type_ && dims == dims_;
    if (changed != nullptr) *changed = !same;
    if (same) return descriptor_;
    CAFFE_ENFORCE_EQ(dims.size(), size_t{4}, "dimensions of a tensor for cuDNN");
    const bool nhwc = format == CUDNN_TENSOR_NHWC;
    CUDNN_ENFORCE(::caffe2rt::Cudnn().SetTensor4dDescriptor(descriptor_, format, type, dims[0],
                                                            dims[nhwc ? 3 : 1], dims[nhwc ? 1 : 2],
                                                            dims[nhwc ? 2 : 3]),
                  "tensor of shape ", dims);
    format_ = format;
    type_ = type;
    dims_ = dims;
    set_ = true;
    return descriptor_;
  }
  template <class T>
  cudnnTensorDescriptor_t Descriptor(const StorageOrder& order, const std::vector<int>& dims) {
    return Descriptor(GetCudnnTensorFormat(order), cudnnTypeWrapper<T>::type, dims, nullptr);
  }

 private:
  cudnnTensorDescriptor_t descriptor_ = nullptr;
  cudnnTensorFormat_t format_ = CUDNN_TENSOR_NCHW;
  cudnnDataType_t type_ = CUDNN_DATA_FLOAT;
  std::vector<int> dims_;
  bool set_ = false;
};

// The same for a filter.
class cudnnFilterDescWrapper {
 public:
  cudnnFilterDescWrapper() {
    CUDNN_ENFORCE(::caffe2rt::Cudnn().CreateFilterDescriptor(&descriptor_), "filter descriptor");
  }
  ~cudnnFilterDescWrapper() { ::caffe2rt::Cudnn().DestroyFilterDescriptor(descriptor_); }
  cudnnFilterDescWrapper(const cudnnFilterDescWrapper&) = delete;
  cudnnFilterDescWrapper& operator=(const cudnnFilterDescWrapper&) = delete;

  cudnnFilterDescriptor_t Descriptor(const StorageOrder& order, const cudnnDataType_t type,
                                     const std::vector<int>& dims, bool* changed) {
    const bool same = set_ && order == order_ && type == type_ && dims == dims_;
    if (changed != nullptr) *changed = !same;
    if (same) return descriptor_;
    CAFFE_ENFORCE_EQ(dims.size(), size_t{4}, "dimensions of a filter for cuDNN");
    const bool nhwc = order == StorageOrder::NHWC;
    CUDNN_ENFORCE(::caffe2rt::Cudnn().SetFilter4dDescriptor(
                      descriptor_, type, GetCudnnTensorFormat(order), dims[0], dims[nhwc ? 3 : 1],
                      dims[nhwc ? 1 : 2], dims[nhwc ? 2 : 3]),
                  "filter of shape ", dims);
    order_ = order;
    type_ = type;
    dims_ = dims;
    set_ = true;
    return descriptor_;
  }
  template <class T>
  cudnnFilterDescriptor_t Descriptor(const StorageOrder& order, const std::vector<int>& dims) {
    return Descriptor(order, cudnnTypeWrapper<T>::type, dims, nullptr);
  }

 private:
  cudnnFilterDescriptor_t descriptor_ = nullptr;
  StorageOrder order_ = StorageOrder::NCHW;
  cudnnDataType_t type_ = CUDNN_DATA_FLOAT;
  std::vector<int> dims_;
  bool set_ = false;
};
#endif  // CAFFE2RT_WITH_CUDA

}  // namespace caffe2
#else
#define CUDNN_VERSION_MIN(major, minor, patch) 0
#endif  // __has_include(<cudnn.h>)
