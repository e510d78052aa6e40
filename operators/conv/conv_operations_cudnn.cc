#include "operators/conv/conv_operations_cudnn.h"

#include <array>
#include <span>

namespace caffe2rt {

namespace {

CudnnDescriptor NewTensor(CudnnConvTensor id, StorageOrder order, int rank,
                          const std::array<int, 5>& sizes) {
  std::array<int64_t, 5> dims{}, strides{};
  const auto axes = static_cast<size_t>(rank);
  int64_t step = 1;
  const auto place = [&](size_t axis) {
    dims[axis] = sizes[axis];
    strides[axis] = step;
    step *= sizes[axis];
  };
  const bool last = order == StorageOrder::NHWC;
  if (last) place(1);
  for (size_t axis = axes; axis-- > 2;) place(axis);
  if (!last) place(1);
  place(0);
  CudnnDescriptor tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  tensor.Set(CUDNN_ATTR_TENSOR_UNIQUE_ID, static_cast<int64_t>(id));
  tensor.Set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT);
  tensor.Set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, static_cast<int64_t>(kCudnnTensorAlignment));
  tensor.Set(CUDNN_ATTR_TENSOR_DIMENSIONS, std::span<const int64_t>(dims.data(), axes));
  tensor.Set(CUDNN_ATTR_TENSOR_STRIDES, std::span<const int64_t>(strides.data(), axes));
  tensor.Set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, id == kCudnnConvSum);
  tensor.Finalize();
  return tensor;
}

CudnnDescriptor NewWindows(const CudnnWindow& window) {
  CudnnDescriptor windows(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  const auto set = [&](cudnnBackendAttributeName_t name, const std::array<int, 3>& values) {
    const std::array<int64_t, 3> wide = {values[0], values[1], values[2]};
    windows.Set(name, std::span<const int64_t>(wide.data(), static_cast<size_t>(window.axes)));
  };
  windows.Set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  windows.Set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
  windows.Set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, static_cast<int64_t>(window.axes));
  set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, window.pad);
  set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, window.pad);
  set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, window.stride);
  set(CUDNN_ATTR_CONVOLUTION_DILATIONS, window.dilation);
  windows.Finalize();
  return windows;
}

CudnnDescriptor NewConvolution(const CudnnDescriptor& windows, const CudnnDescriptor& x,
                               const CudnnDescriptor& filter, const CudnnDescriptor& y) {
  CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  operation.Set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1.0f);
  operation.Set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0.0f);
  operation.SetDescriptor(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, windows);
  operation.SetDescriptor(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x);
  operation.SetDescriptor(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, filter);
  operation.SetDescriptor(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, y);
  operation.Finalize();
  return operation;
}

CudnnDescriptor NewAddition() {
  CudnnDescriptor addition(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  addition.Set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_ADD);
  addition.Set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT);
  addition.Finalize();
  return addition;
}

CudnnDescriptor NewBiasAddition(const CudnnDescriptor& addition, const CudnnDescriptor& sum,
                                const CudnnDescriptor& bias, const CudnnDescriptor& y) {
  CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.SetDescriptor(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, addition);
  operation.SetDescriptor(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, sum);
  operation.SetDescriptor(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, bias);
  operation.SetDescriptor(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
  operation.Finalize();
  return operation;
}

}  // namespace

CudnnConvGraph NewForwardGraph(cudnnHandle_t handle, const ConvShape& shape,
                               const CudnnWindow& window, bool adds_bias) {
  const auto tensor = [&](CudnnConvTensor id, int64_t outer, int64_t inner,
                          const std::array<int, 3>& sizes) {
    return NewTensor(id, shape.window.order, window.rank(), window.Dims(outer, inner, sizes));
  };
  CudnnConvGraph made;
  auto& [tensors, settings, operations, graph] = made;
  const int64_t batch = shape.window.batch;
  tensors.push_back(tensor(kCudnnConvX, batch, shape.window.channels, window.in));
  tensors.push_back(tensor(kCudnnConvFilter, shape.out_channels, shape.in_group(), window.kernel));
  tensors.push_back(tensor(kCudnnConvY, batch, shape.out_channels, window.out));
  settings.push_back(NewWindows(window));
  if (adds_bias) {
    tensors.push_back(tensor(kCudnnConvBias, 1, shape.out_channels, {1, 1, 1}));
    tensors.push_back(tensor(kCudnnConvSum, batch, shape.out_channels, window.out));
    settings.push_back(NewAddition());
  }
  operations.push_back(
      NewConvolution(settings[0], tensors[0], tensors[1], tensors[adds_bias ? 4 : 2]));
  if (adds_bias) {
    operations.push_back(NewBiasAddition(settings[1], tensors[4], tensors[3], tensors[2]));
  }
  graph.Set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle);
  graph.SetDescriptors(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations);
  graph.Finalize();
  return made;
}

}  // namespace caffe2rt
