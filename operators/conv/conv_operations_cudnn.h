#pragma once
// Convolutions as graphs of operations of cuDNN's backend API. Only for files that are built if
// cuDNN's headers are available.

#include <vector>

#include "contexts/cuda/cudnn_backend.h"
#include "operators/common/descriptors_cudnn.h"
#include "operators/conv/conv_shape.h"

namespace caffe2rt {

// The ids of the tensors in a graph, for variant packs.
enum CudnnConvTensor : int64_t {
  kCudnnConvX = 1,
  kCudnnConvFilter,
  kCudnnConvY,
  kCudnnConvBias,
  kCudnnConvSum,  // Y before the bias is added; not in memory
};

// The alignment that the graphs declare for all tensors in memory, in bytes.
inline constexpr size_t kCudnnTensorAlignment = 16;

// A graph and the descriptors that it was made from.
struct CudnnConvGraph {
  std::vector<CudnnDescriptor> tensors, settings, operations;
  CudnnDescriptor graph{CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR};
};

// Y = convolution of X with the filter, plus the bias if `adds_bias`, in float. graph.ok() tells
// whether cuDNN accepts it. `window`: the shape's windows. REQUIRES: HasCudnnBackend().
CudnnConvGraph NewForwardGraph(cudnnHandle_t handle, const ConvShape& shape,
                               const CudnnWindow& window, bool adds_bias);

}  // namespace caffe2rt
