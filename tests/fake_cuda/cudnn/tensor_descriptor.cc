// Descriptors of tensors and filters.

#include "cudnn/descriptors.h"

using namespace fakecuda;

namespace {

template <class Descriptor>
cudnnStatus_t Create(Descriptor** descriptor) {
  FAKECUDNN_NEED(descriptor != nullptr);
  *descriptor = new Descriptor;
  return CUDNN_STATUS_SUCCESS;
}

template <class Descriptor>
cudnnStatus_t Destroy(Descriptor* descriptor) {
  delete descriptor;
  return CUDNN_STATUS_SUCCESS;
}

// Sets any descriptor that has a type and a layout.
template <class Descriptor>
cudnnStatus_t Set(Descriptor* descriptor, cudnnDataType_t type, const std::vector<int>& dims,
                  std::vector<int64_t> strides) {
  FAKECUDNN_NEED(descriptor != nullptr);
  Element element;
  cudnnStatus_t status = FromCudnn(type, &element);
  if (status == CUDNN_STATUS_SUCCESS) status = CheckDims(dims);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  for (const int64_t stride : strides) FAKECUDNN_NEED(stride != 0);
  for (const int64_t stride : strides) {
    if (stride < 0) return CUDNN_STATUS_NOT_SUPPORTED;  // a limit of the fake
  }
  descriptor->data_type = type;
  descriptor->layout = {element, dims, std::move(strides)};
  return CUDNN_STATUS_SUCCESS;
}

bool KnownFormat(cudnnTensorFormat_t format) {
  return format == CUDNN_TENSOR_NCHW || format == CUDNN_TENSOR_NHWC;
}

int At(const std::vector<int>& dims, size_t i) { return i < dims.size() ? dims[i] : 1; }

}  // namespace

extern "C" {

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* descriptor) {
  return Create(descriptor);
}

cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t descriptor) {
  return Destroy(descriptor);
}

cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t descriptor,
                                         cudnnTensorFormat_t format, cudnnDataType_t type, int n,
                                         int c, int h, int w) {
  FAKECUDNN_NEED(KnownFormat(format));
  const std::vector<int> dims = {n, c, h, w};
  return Set(descriptor, type, dims, PackedStrides(dims, format == CUDNN_TENSOR_NHWC));
}

cudnnStatus_t cudnnSetTensor4dDescriptorEx(cudnnTensorDescriptor_t descriptor, cudnnDataType_t type,
                                           int n, int c, int h, int w, int n_stride, int c_stride,
                                           int h_stride, int w_stride) {
  return Set(descriptor, type, {n, c, h, w}, {n_stride, c_stride, h_stride, w_stride});
}

cudnnStatus_t cudnnGetTensor4dDescriptor(const cudnnTensorDescriptor_t descriptor,
                                         cudnnDataType_t* type, int* n, int* c, int* h, int* w,
                                         int* n_stride, int* c_stride, int* h_stride,
                                         int* w_stride) {
  FAKECUDNN_NEED(descriptor != nullptr);
  const Layout& layout = descriptor->layout;
  if (layout.dims.size() != 4) return CUDNN_STATUS_BAD_PARAM;
  *type = descriptor->data_type;
  int* const dims[] = {n, c, h, w};
  int* const strides[] = {n_stride, c_stride, h_stride, w_stride};
  for (size_t d = 0; d < 4; ++d) {
    *dims[d] = layout.dims[d];
    *strides[d] = static_cast<int>(layout.strides[d]);
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t descriptor, cudnnDataType_t type,
                                         int rank, const int dims[], const int strides[]) {
  FAKECUDNN_NEED(dims != nullptr && strides != nullptr && rank > 0);
  if (rank > CUDNN_DIM_MAX) return CUDNN_STATUS_NOT_SUPPORTED;
  return Set(descriptor, type, {dims, dims + rank}, {strides, strides + rank});
}

cudnnStatus_t cudnnSetTensorNdDescriptorEx(cudnnTensorDescriptor_t descriptor,
                                           cudnnTensorFormat_t format, cudnnDataType_t type,
                                           int rank, const int dims[]) {
  FAKECUDNN_NEED(dims != nullptr && rank > 0 && KnownFormat(format));
  if (rank > CUDNN_DIM_MAX) return CUDNN_STATUS_NOT_SUPPORTED;
  const std::vector<int> all(dims, dims + rank);
  return Set(descriptor, type, all, PackedStrides(all, format == CUDNN_TENSOR_NHWC));
}

cudnnStatus_t cudnnGetTensorNdDescriptor(const cudnnTensorDescriptor_t descriptor, int wanted,
                                         cudnnDataType_t* type, int* rank, int dims[],
                                         int strides[]) {
  FAKECUDNN_NEED(IsSet(descriptor) && wanted >= 0);
  const Layout& layout = descriptor->layout;
  *type = descriptor->data_type;
  *rank = static_cast<int>(layout.dims.size());
  for (size_t d = 0; d < layout.dims.size() && d < static_cast<size_t>(wanted); ++d) {
    dims[d] = layout.dims[d];
    strides[d] = static_cast<int>(layout.strides[d]);
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetTensorSizeInBytes(const cudnnTensorDescriptor_t descriptor, size_t* bytes) {
  FAKECUDNN_NEED(IsSet(descriptor) && bytes != nullptr);
  *bytes = descriptor->layout.extent_bytes();
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* descriptor) {
  return Create(descriptor);
}

cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t descriptor) {
  return Destroy(descriptor);
}

cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t descriptor, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int rank, const int dims[]) {
  FAKECUDNN_NEED(dims != nullptr && rank > 0 && KnownFormat(format));
  if (rank > CUDNN_DIM_MAX) return CUDNN_STATUS_NOT_SUPPORTED;
  const std::vector<int> all(dims, dims + rank);
  const cudnnStatus_t status =
      Set(descriptor, type, all, PackedStrides(all, format == CUDNN_TENSOR_NHWC));
  if (status == CUDNN_STATUS_SUCCESS) descriptor->format = format;
  return status;
}

cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t descriptor, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int k, int c, int h, int w) {
  const int dims[] = {k, c, h, w};
  return cudnnSetFilterNdDescriptor(descriptor, type, format, 4, dims);
}

cudnnStatus_t cudnnGetFilter4dDescriptor(const cudnnFilterDescriptor_t descriptor,
                                         cudnnDataType_t* type, cudnnTensorFormat_t* format, int* k,
                                         int* c, int* h, int* w) {
  FAKECUDNN_NEED(descriptor != nullptr);
  const std::vector<int>& dims = descriptor->layout.dims;
  *type = descriptor->data_type;
  *format = descriptor->format;
  *k = At(dims, 0);
  *c = At(dims, 1);
  *h = At(dims, 2);
  *w = At(dims, 3);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetFilterNdDescriptor(const cudnnFilterDescriptor_t descriptor, int wanted,
                                         cudnnDataType_t* type, cudnnTensorFormat_t* format,
                                         int* rank, int dims[]) {
  FAKECUDNN_NEED(descriptor != nullptr && wanted >= 0);
  const std::vector<int>& all = descriptor->layout.dims;
  *type = descriptor->data_type;
  *format = descriptor->format;
  *rank = static_cast<int>(all.size());
  for (size_t d = 0; d < all.size() && d < static_cast<size_t>(wanted); ++d) dims[d] = all[d];
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetFilterSizeInBytes(const cudnnFilterDescriptor_t descriptor, size_t* bytes) {
  FAKECUDNN_NEED(descriptor != nullptr && bytes != nullptr && !descriptor->layout.dims.empty());
  *bytes = descriptor->layout.extent_bytes();
  return CUDNN_STATUS_SUCCESS;
}

}  // extern "C"
