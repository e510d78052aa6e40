// Convolution descriptors, and the output shapes that follow from them.

#include <algorithm>

#include "cudnn/convolution_shape.h"

namespace fakecuda {

cudnnStatus_t OutputDims(const cudnnConvolutionStruct& conv, const std::vector<int>& x,
                         const std::vector<int>& w, std::vector<int>* y) {
  const size_t spatial = conv.pad.size();
  if (spatial == 0 || x.size() != spatial + 2 || w.size() != x.size()) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (x[1] != w[1] * conv.groups || w[0] % conv.groups != 0) return CUDNN_STATUS_BAD_PARAM;
  *y = {x[0], w[0]};
  for (size_t d = 0; d < spatial; ++d) {
    const int reach = (w[d + 2] - 1) * conv.dilation[d] + 1;
    const int room = x[d + 2] + 2 * conv.pad[d] - reach;
    y->push_back(room < 0 ? 0 : room / conv.stride[d] + 1);
  }
  const bool empty = std::any_of(y->begin(), y->end(), [](int dim) { return dim <= 0; });
  return empty ? CUDNN_STATUS_BAD_PARAM : CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t MakeConvolution(const cudnnConvolutionStruct* descriptor, const cudnnTensorStruct* x,
                              const cudnnFilterStruct* w, const cudnnTensorStruct* y,
                              Convolution* conv) {
  FAKECUDNN_NEED(descriptor != nullptr && IsSet(x) && IsSet(y) && w != nullptr);
  FAKECUDNN_NEED(x->data_type == y->data_type || x->layout.type == Element::kInt8);
  std::vector<int> out;
  const cudnnStatus_t status = OutputDims(*descriptor, x->layout.dims, w->layout.dims, &out);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  if (out != y->layout.dims) return CUDNN_STATUS_BAD_PARAM;
  if (x->data_type != w->data_type || descriptor->pad.size() > 3) {
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
  const bool wide = x->data_type == CUDNN_DATA_DOUBLE;
  if (wide != (descriptor->compute_type == CUDNN_DATA_DOUBLE)) return CUDNN_STATUS_NOT_SUPPORTED;
  *conv = Convolution();
  conv->n = out[0];
  conv->c = x->layout.dims[1];
  conv->k = out[1];
  conv->groups = descriptor->groups;
  conv->flipped = descriptor->mode == CUDNN_CONVOLUTION;
  const size_t spatial = descriptor->pad.size();
  for (size_t d = 0; d < spatial; ++d) {
    const size_t to = 3 - spatial + d;
    conv->in[to] = x->layout.dims[d + 2];
    conv->out[to] = out[d + 2];
    conv->kernel[to] = w->layout.dims[d + 2];
    conv->pad[to] = descriptor->pad[d];
    conv->stride[to] = descriptor->stride[d];
    conv->dilation[to] = descriptor->dilation[d];
  }
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace fakecuda

using namespace fakecuda;

extern "C" {

cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* descriptor) {
  FAKECUDNN_NEED(descriptor != nullptr);
  *descriptor = new cudnnConvolutionStruct;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t descriptor) {
  delete descriptor;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t descriptor, int rank,
                                              const int pads[], const int strides[],
                                              const int dilations[], cudnnConvolutionMode_t mode,
                                              cudnnDataType_t compute_type) {
  FAKECUDNN_NEED(descriptor != nullptr && rank > 0 && pads != nullptr && strides != nullptr &&
                 dilations != nullptr);
  if (rank > CUDNN_DIM_MAX - 2) return CUDNN_STATUS_NOT_SUPPORTED;
  FAKECUDNN_NEED(mode == CUDNN_CONVOLUTION || mode == CUDNN_CROSS_CORRELATION);
  for (int d = 0; d < rank; ++d) {
    FAKECUDNN_NEED(pads[d] >= 0 && strides[d] > 0 && dilations[d] > 0);
  }
  descriptor->pad.assign(pads, pads + rank);
  descriptor->stride.assign(strides, strides + rank);
  descriptor->dilation.assign(dilations, dilations + rank);
  descriptor->mode = mode;
  descriptor->compute_type = compute_type;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t descriptor, int pad_h,
                                              int pad_w, int stride_h, int stride_w, int dilation_h,
                                              int dilation_w, cudnnConvolutionMode_t mode,
                                              cudnnDataType_t compute_type) {
  const int pads[] = {pad_h, pad_w}, strides[] = {stride_h, stride_w};
  const int dilations[] = {dilation_h, dilation_w};
  return cudnnSetConvolutionNdDescriptor(descriptor, 2, pads, strides, dilations, mode,
                                         compute_type);
}

cudnnStatus_t cudnnGetConvolution2dDescriptor(const cudnnConvolutionDescriptor_t descriptor,
                                              int* pad_h, int* pad_w, int* stride_h, int* stride_w,
                                              int* dilation_h, int* dilation_w,
                                              cudnnConvolutionMode_t* mode,
                                              cudnnDataType_t* compute_type) {
  FAKECUDNN_NEED(descriptor != nullptr && descriptor->pad.size() == 2);
  *pad_h = descriptor->pad[0];
  *pad_w = descriptor->pad[1];
  *stride_h = descriptor->stride[0];
  *stride_w = descriptor->stride[1];
  *dilation_h = descriptor->dilation[0];
  *dilation_w = descriptor->dilation[1];
  *mode = descriptor->mode;
  *compute_type = descriptor->compute_type;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t descriptor,
                                          cudnnMathType_t math) {
  FAKECUDNN_NEED(descriptor != nullptr && math <= CUDNN_FMA_MATH);
  descriptor->math = math;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionMathType(cudnnConvolutionDescriptor_t descriptor,
                                          cudnnMathType_t* math) {
  FAKECUDNN_NEED(descriptor != nullptr && math != nullptr);
  *math = descriptor->math;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t descriptor, int groups) {
  FAKECUDNN_NEED(descriptor != nullptr && groups > 0);
  descriptor->groups = groups;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionGroupCount(cudnnConvolutionDescriptor_t descriptor, int* groups) {
  FAKECUDNN_NEED(descriptor != nullptr && groups != nullptr);
  *groups = descriptor->groups;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionReorderType(cudnnConvolutionDescriptor_t descriptor,
                                             cudnnReorderType_t reorder) {
  FAKECUDNN_NEED(descriptor != nullptr);
  descriptor->reorder = reorder;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionNdForwardOutputDim(const cudnnConvolutionDescriptor_t descriptor,
                                                    const cudnnTensorDescriptor_t x,
                                                    const cudnnFilterDescriptor_t w, int rank,
                                                    int dims[]) {
  FAKECUDNN_NEED(descriptor != nullptr && IsSet(x) && w != nullptr && dims != nullptr);
  FAKECUDNN_NEED(rank == static_cast<int>(x->layout.dims.size()));
  std::vector<int> out;
  const cudnnStatus_t status = OutputDims(*descriptor, x->layout.dims, w->layout.dims, &out);
  if (out.size() == static_cast<size_t>(rank)) std::copy(out.begin(), out.end(), dims);
  return status;
}

cudnnStatus_t cudnnGetConvolution2dForwardOutputDim(const cudnnConvolutionDescriptor_t descriptor,
                                                    const cudnnTensorDescriptor_t x,
                                                    const cudnnFilterDescriptor_t w, int* n, int* c,
                                                    int* h, int* width) {
  int dims[4] = {};
  const cudnnStatus_t status = cudnnGetConvolutionNdForwardOutputDim(descriptor, x, w, 4, dims);
  *n = dims[0];
  *c = dims[1];
  *h = dims[2];
  *width = dims[3];
  return status;
}

}  // extern "C"
