#include "cudnn/backend_graph.h"

#include <algorithm>
#include <limits>

namespace fakecuda {
namespace {

BackendTensor ReadTensor(const BackendNode& node) {
  BackendTensor tensor;
  tensor.id = node.Value<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID, 0);
  tensor.alignment = node.Value<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 1);
  tensor.is_virtual = node.Value<bool>(CUDNN_ATTR_TENSOR_IS_VIRTUAL, false);
  tensor.data_type = node.Value(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT);
  FromCudnn(tensor.data_type, &tensor.layout.type);
  for (const int64_t dim : node.List<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS)) {
    tensor.layout.dims.push_back(static_cast<int>(dim));
  }
  tensor.layout.strides = node.List<int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
  return tensor;
}

bool IsFinalized(const BackendNode* node, cudnnBackendDescriptorType_t type) {
  return node != nullptr && node->finalized && node->type == type;
}
bool IsTensor(const BackendNode* node) {
  return IsFinalized(node, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
}

// Reads the operation of a convolution. The fake wants all attributes of the windows to be set;
// cuDNN has defaults that are not documented.
cudnnStatus_t ReadConvolution(const BackendNode& node, BackendGraph* graph) {
  const BackendNode* const windows = node.Child(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC);
  const BackendNode* const x = node.Child(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X);
  const BackendNode* const w = node.Child(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W);
  const BackendNode* const y = node.Child(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y);
  FAKECUDNN_NEED(IsFinalized(windows, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR) && IsTensor(x) &&
                 IsTensor(w) && IsTensor(y));
  FAKECUDNN_NEED(windows->Has(CUDNN_ATTR_CONVOLUTION_COMP_TYPE) &&
                 windows->Has(CUDNN_ATTR_CONVOLUTION_CONV_MODE));
  *graph = {{}, ReadTensor(*x), ReadTensor(*w), ReadTensor(*y), std::nullopt};
  const auto axes =
      static_cast<size_t>(windows->Value<int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 0));
  const std::vector<int>&xs = graph->x.layout.dims, &ws = graph->w.layout.dims,
        &ys = graph->y.layout.dims;
  FAKECUDNN_NEED(axes >= 1 && axes <= 3 && xs.size() == axes + 2 && ws.size() == xs.size() &&
                 ys.size() == xs.size());
  const auto pre = windows->List<int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
  const auto post = windows->List<int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
  const auto strides = windows->List<int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
  const auto dilations = windows->List<int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS);
  FAKECUDNN_NEED(pre.size() == axes && post.size() == axes && strides.size() == axes &&
                 dilations.size() == axes);
  FAKECUDNN_NEED(xs[1] % ws[1] == 0 && ws[0] % (xs[1] / ws[1]) == 0 && ys[0] == xs[0] &&
                 ys[1] == ws[0]);
  Convolution& conv = graph->convolution;
  conv.n = xs[0];
  conv.c = xs[1];
  conv.k = ws[0];
  conv.groups = xs[1] / ws[1];
  conv.flipped = windows->Value(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION) ==
                 CUDNN_CONVOLUTION;
  for (size_t d = 0; d < axes; ++d) {
    FAKECUDNN_NEED(pre[d] >= 0 && post[d] >= 0 && strides[d] > 0 && dilations[d] > 0);
    const int64_t reach = (ws[d + 2] - 1) * dilations[d] + 1;
    const int64_t room = xs[d + 2] + pre[d] + post[d] - reach;
    FAKECUDNN_NEED(room >= 0 && ys[d + 2] == room / strides[d] + 1);
    const size_t to = 3 - axes + d;
    conv.in[to] = xs[d + 2];
    conv.out[to] = ys[d + 2];
    conv.kernel[to] = ws[d + 2];
    conv.pad[to] = static_cast<int>(pre[d]);
    conv.stride[to] = static_cast<int>(strides[d]);
    conv.dilation[to] = static_cast<int>(dilations[d]);
  }
  return CUDNN_STATUS_SUCCESS;
}

// Adds the operation that adds a bias to the convolution's result.
cudnnStatus_t ReadBias(const BackendNode& node, BackendGraph* graph) {
  if (node.type != CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR ||
      node.Child(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR)
              ->Value(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_MUL) != CUDNN_POINTWISE_ADD) {
    return CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN;
  }
  const BackendTensor sum = ReadTensor(*node.Child(CUDNN_ATTR_OPERATION_POINTWISE_XDESC));
  const BackendTensor bias = ReadTensor(*node.Child(CUDNN_ATTR_OPERATION_POINTWISE_BDESC));
  const BackendTensor y = ReadTensor(*node.Child(CUDNN_ATTR_OPERATION_POINTWISE_YDESC));
  if (sum != graph->y || !sum.is_virtual || y.is_virtual || bias.is_virtual) {
    return CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN;
  }
  std::vector<int> channels(y.layout.dims.size(), 1);
  channels[1] = graph->convolution.k;
  if (y.layout.dims != sum.layout.dims || bias.layout.dims != channels) {
    return CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH;
  }
  graph->y = y;
  graph->bias = bias;
  return CUDNN_STATUS_SUCCESS;
}

bool HasDistinctIds(const BackendGraph& graph) {
  std::vector<int64_t> ids = {graph.x.id, graph.w.id, graph.y.id};
  if (graph.bias.has_value()) ids.push_back(graph.bias->id);
  std::sort(ids.begin(), ids.end());
  return std::adjacent_find(ids.begin(), ids.end()) == ids.end();
}

}  // namespace

cudnnStatus_t FinalizeTensor(const BackendNode& node) {
  const auto dims = node.List<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  const auto alignment = node.Value<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 0);
  FAKECUDNN_NEED(node.Has(CUDNN_ATTR_TENSOR_UNIQUE_ID) && node.Has(CUDNN_ATTR_TENSOR_DATA_TYPE));
  FAKECUDNN_NEED(alignment > 0 && (alignment & (alignment - 1)) == 0);
  FAKECUDNN_NEED(!dims.empty() &&
                 dims.size() == node.List<int64_t>(CUDNN_ATTR_TENSOR_STRIDES).size());
  for (const int64_t dim : dims) {
    FAKECUDNN_NEED(dim > 0 && dim <= std::numeric_limits<int>::max());
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t FinalizeOperation(const BackendNode& node) {
  if (node.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR) {
    BackendGraph graph;
    return ReadConvolution(node, &graph);
  }
  FAKECUDNN_NEED(IsFinalized(node.Child(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR),
                             CUDNN_BACKEND_POINTWISE_DESCRIPTOR));
  for (const auto name :
       {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
        CUDNN_ATTR_OPERATION_POINTWISE_YDESC}) {
    FAKECUDNN_NEED(IsTensor(node.Child(name)));
  }
  return CUDNN_STATUS_SUCCESS;
}

// cuDNN 9.19 needs no handle; earlier versions do, and so does the fake.
cudnnStatus_t FinalizeGraph(BackendNode* node) {
  FAKECUDNN_NEED(node->Has(CUDNN_ATTR_OPERATIONGRAPH_HANDLE) &&
                 node->Has(CUDNN_ATTR_OPERATIONGRAPH_OPS));
  const auto& operations = node->attributes[CUDNN_ATTR_OPERATIONGRAPH_OPS].children;
  for (const auto& operation : operations) {
    if (!operation->finalized) return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
  }
  if (operations[0]->type != CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR ||
      operations.size() > 2) {
    return CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN;
  }
  BackendGraph graph;
  cudnnStatus_t status = ReadConvolution(*operations[0], &graph);
  if (status == CUDNN_STATUS_SUCCESS && operations.size() == 2) {
    status = ReadBias(*operations[1], &graph);
  }
  if (status != CUDNN_STATUS_SUCCESS) return status;
  if (graph.y.is_virtual) return CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN;
  if (!HasDistinctIds(graph)) return CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES;
  for (const BackendTensor* const tensor : {&graph.x, &graph.w, &graph.y}) {
    if (tensor->data_type != CUDNN_DATA_FLOAT) return CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE;
  }
  node->graph = std::make_shared<const BackendGraph>(std::move(graph));
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace fakecuda
