#include "caffe2_core/graph/passes/onednn_estimates.h"

#include <algorithm>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/net_blobs.h"
#include "caffe2_core/graph/passes/onednn_placement.h"

namespace caffe2rt {
namespace {

constexpr int64_t kGuessedImage = 224;   // height and width of an input of unknown shape
constexpr int64_t kGuessedOutput = 14;   // of a convolution whose output is not known
constexpr double kGuessedCount = 100e3;  // elements of any other blob

TensorShape ShapeOf(const std::vector<int64_t>& dims) {
  TensorShape shape;
  for (const int64_t dim : dims) shape.add_dims(dim);
  shape.set_data_type(TensorProto::FLOAT);
  return shape;
}

double CountOf(const TensorShape& shape) {
  double count = 1;
  for (const int64_t dim : shape.dims()) count *= static_cast<double>(dim);
  return count;
}

bool IsKnownImage(const TensorShape& shape) {
  return !shape.unknown_shape() && shape.dims_size() == 4 &&
         shape.data_type() == TensorProto::FLOAT;
}

}  // namespace

OnednnEstimates::OnednnEstimates(const NetDef& net, const PassContext& context)
    : net_(net), context_(context) {
  ShapeMap shapes = context.input_shapes;
  const NetBlobs blobs(net);
  for (const uint32_t blob : blobs.read_first()) {
    const std::string& name = blobs.name(blob);
    if (const Tensor* value = context.constants.Find(name)) {
      TensorShape shape = ShapeOf(value->dims());
      if (!value->IsType<float>()) shape.set_data_type(TensorProto::UNDEFINED);
      shapes[name] = std::move(shape);
    }
  }
  for (size_t op = 0; op < blobs.num_operators(); ++op) {
    const OperatorDef& def = net.op(static_cast<int>(op));
    if (PlaceOnOnednn(def, context).role != OnednnRole::kConvolution || def.input_size() < 2) {
      continue;
    }
    const Tensor* filter = context.constants.Find(def.input(1));
    if (blobs.input_writers(op)[0] != NetBlobs::kNone || shapes.contains(def.input(0)) ||
        filter == nullptr || filter->dim() != 4) {
      continue;
    }
    shapes[def.input(0)] =
        ShapeOf({1, filter->dim(1) * OnednnWindowOf(def).group, kGuessedImage, kGuessedImage});
  }
  shapes_ = InferOpShapes({&net}, &shapes);
}

double OnednnEstimates::OutputCount(size_t op) const {
  const std::vector<TensorShape>& outputs = shapes_[op].outputs;
  if (outputs.empty() || outputs[0].unknown_shape()) return kGuessedCount;
  return CountOf(outputs[0]);
}

double OnednnEstimates::InputCount(size_t op, size_t i) const {
  const std::vector<TensorShape>& inputs = shapes_[op].inputs;
  if (i >= inputs.size() || inputs[i].unknown_shape()) return kGuessedCount;
  return CountOf(inputs[i]);
}

bool OnednnEstimates::IsImage(size_t op, size_t i) const {
  const std::vector<TensorShape>& inputs = shapes_[op].inputs;
  return i < inputs.size() && IsKnownImage(inputs[i]);
}

ConvSize OnednnEstimates::SizeOfConv(size_t op) const {
  const OperatorDef& def = net_.op(static_cast<int>(op));
  const OnednnWindow window = OnednnWindowOf(def);
  ConvSize size;
  size.group = std::max<int64_t>(window.group, 1);
  size.kernel_h = window.kernel[0];
  size.kernel_w = window.kernel[1];
  size.stride_h = window.stride[0];
  size.stride_w = window.stride[1];
  size.dilation_h = window.dilation[0];
  size.dilation_w = window.dilation[1];
  size.out_h = size.out_w = kGuessedOutput;
  const Tensor* filter = context_.constants.Find(def.input(1));
  if (filter != nullptr && filter->dim() == 4) {
    size.out_channels = filter->dim(0);
    size.in_channels = filter->dim(1) * size.group;
  }
  const std::vector<TensorShape>& outputs = shapes_[op].outputs;
  if (!outputs.empty() && IsKnownImage(outputs[0])) {
    size.batch = outputs[0].dims(0);
    size.out_h = outputs[0].dims(2);
    size.out_w = outputs[0].dims(3);
  }
  return size;
}

}  // namespace caffe2rt
