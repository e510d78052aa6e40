#pragma once
// RAII wrappers of cuDNN descriptors, and window geometry in cuDNN's terms. Only for files that are
// built if cuDNN's headers are available.

#include <array>
#include <limits>
#include <string>

#include "contexts/cuda/cudnn_library.h"
#include "operators/common/conv_geometry.h"

namespace caffe2rt {

// The constructor THROWS if cuDNN cannot create the descriptor.
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
CAFFE2RT_CUDNN_DESCRIPTOR(CudnnDropout, DropoutDescriptor);
CAFFE2RT_CUDNN_DESCRIPTOR(CudnnRnn, RNNDescriptor);
CAFFE2RT_CUDNN_DESCRIPTOR(CudnnRnnData, RNNDataDescriptor);
#undef CAFFE2RT_CUDNN_DESCRIPTOR

inline cudnnTensorFormat_t CudnnFormat(StorageOrder order) {
  return order == StorageOrder::NHWC ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
}

// Whether an axis of size `from` has `to` windows if pad_head is applied to both ends.
bool HasEvenPads(const WindowAxis& axis, int64_t from, int64_t to);

// A window geometry in cuDNN's terms: two or three axes, with the same padding at both ends of an
// axis. For a geometry with one axis, a first axis of size 1 is added.
struct CudnnWindow {
  int axes = 0;
  std::array<int, 3> in{}, out{}, kernel{}, stride{}, dilation{}, pad{};

  // Returns false and sets `reason` if cuDNN does not support the geometry. `transposed`: the
  // windows slide over the output.
  static bool Make(const WindowGeometry& geometry, bool transposed, CudnnWindow* window,
                   std::string* reason);

  // [batch, channels, sizes...].
  std::array<int, 5> Dims(int64_t batch, int64_t channels, const std::array<int, 3>& sizes) const {
    return {static_cast<int>(batch), static_cast<int>(channels), sizes[0], sizes[1], sizes[2]};
  }
  int rank() const { return axes + 2; }
};

// Sets a tensor descriptor. THROWS if cuDNN reports an error.
inline void Describe(const CudnnTensor& tensor, cudnnTensorFormat_t format,
                     const CudnnWindow& window, const std::array<int, 5>& dims) {
  CUDNN_ENFORCE(
      Cudnn().SetTensorNdDescriptorEx(tensor, format, CUDNN_DATA_FLOAT, window.rank(), dims.data()),
      "tensor of ", window.axes, " axes");
}

}  // namespace caffe2rt
