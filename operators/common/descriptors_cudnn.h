#pragma once
// Descriptors of cuDNN that free themselves, and windows in cuDNN's terms. For files that are built
// where cuDNN's headers are.

#include <array>
#include <limits>
#include <string>

#include "contexts/cuda/cudnn_library.h"
#include "operators/common/conv_geometry.h"

namespace caffe2rt {

// THROWS when cuDNN has none.
#define CAFFE2RT_CUDNN_DESCRIPTOR(Class, Name)                                              \
  class Class {                                                                             \
   public:                                                                                  \
    Class() { CUDNN_ENFORCE(Cudnn().Create##Name(&descriptor_), "descriptor"); }            \
    ~Class() { (void)Cudnn().Destroy##Name(descriptor_); }                                  \
    Class(const Class&) = delete;                                                           \
    Class& operator=(const Class&) = delete;                                                \
    operator cudnn##Name##_t() const { return descriptor_; } /* NOLINT: it stands for it */ \
                                                                                            \
   private:                                                                                 \
    cudnn##Name##_t descriptor_ = nullptr;                                                  \
  }
CAFFE2RT_CUDNN_DESCRIPTOR(CudnnTensor, TensorDescriptor);
CAFFE2RT_CUDNN_DESCRIPTOR(CudnnFilter, FilterDescriptor);
CAFFE2RT_CUDNN_DESCRIPTOR(CudnnConvolution, ConvolutionDescriptor);
CAFFE2RT_CUDNN_DESCRIPTOR(CudnnActivation, ActivationDescriptor);
CAFFE2RT_CUDNN_DESCRIPTOR(CudnnPooling, PoolingDescriptor);
CAFFE2RT_CUDNN_DESCRIPTOR(CudnnLRNWindow, LRNDescriptor);
#undef CAFFE2RT_CUDNN_DESCRIPTOR

inline cudnnTensorFormat_t CudnnFormat(StorageOrder order) {
  return order == StorageOrder::NHWC ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
}

// Whether windows over an axis of `from`, with pad_head on both sides, are `to` ones.
bool HasEvenPads(const WindowAxis& axis, int64_t from, int64_t to);

// A geometry in cuDNN's terms: two or three axes (a single one gets a first of size 1), the same
// padding before and behind.
struct CudnnWindow {
  int axes = 0;
  std::array<int, 3> in{}, out{}, kernel{}, stride{}, dilation{}, pad{};

  // False with the reason when cuDNN has no word for it. `transposed`: the windows slide over what
  // comes out.
  static bool Make(const WindowGeometry& geometry, bool transposed, CudnnWindow* window,
                   std::string* reason);

  // [batch, channels, sizes...].
  std::array<int, 5> Dims(int64_t batch, int64_t channels, const std::array<int, 3>& sizes) const {
    return {static_cast<int>(batch), static_cast<int>(channels), sizes[0], sizes[1], sizes[2]};
  }
  int rank() const { return axes + 2; }
};

// THROWS what cuDNN says.
inline void Describe(const CudnnTensor& tensor, cudnnTensorFormat_t format,
                     const CudnnWindow& window, const std::array<int, 5>& dims) {
  CUDNN_ENFORCE(
      Cudnn().SetTensorNdDescriptorEx(tensor, format, CUDNN_DATA_FLOAT, window.rank(), dims.data()),
      "tensor of ", window.axes, " axes");
}

}  // namespace caffe2rt
