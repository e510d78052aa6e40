// Convolutions, pools and what else counts in windows.

#include <algorithm>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/export/operator_export.h"

namespace caffe2rt {
namespace {

// The numbers of one argument for each spatial axis: a list, one number, or one for height and width.
std::vector<int64_t> PerAxis(const OperatorExport& op, const std::string& name, size_t axes,
                             int64_t default_value) {
  const ArgumentHelper& args = op.args;
  if (args.HasArgument(name + "s")) {
    const auto values = args.GetRepeatedArgument<int64_t>(name + "s");
    CAFFE_ENFORCE_EQ(values.size(), axes, "numbers of argument ", name, "s");
    return values;
  }
  const std::string h = name + "_h", w = name + "_w";
  if (args.HasArgument(h) && args.HasArgument(w) && axes == 2) {
    return {args.GetSingleArgument<int64_t>(h, default_value),
            args.GetSingleArgument<int64_t>(w, default_value)};
  }
  return std::vector<int64_t>(axes, args.GetSingleArgument<int64_t>(name, default_value));
}

// Heads of all axes, then tails, as ONNX counts them, too.
std::vector<int64_t> PadsOf(const OperatorExport& op, size_t axes) {
  const ArgumentHelper& args = op.args;
  if (args.HasArgument("pads")) return args.GetRepeatedArgument<int64_t>("pads");
  if (args.HasArgument("pad_t") && args.HasArgument("pad_l") && args.HasArgument("pad_b") &&
      args.HasArgument("pad_r") && axes == 2) {
    std::vector<int64_t> pads;
    for (const char* name : {"pad_t", "pad_l", "pad_b", "pad_r"}) {
      pads.push_back(args.GetSingleArgument<int64_t>(name, 0));
    }
    return pads;
  }
  return std::vector<int64_t>(axes * 2, args.GetSingleArgument<int64_t>("pad", 0));
}

size_t AxesOfWindow(const OperatorExport& op) {
  const size_t listed = op.args.GetRepeatedArgument<int64_t>("kernels").size();
  if (listed > 0) return listed;
  if (op.KnowsInput(0) && op.Rank(0) > 2) return static_cast<size_t>(op.Rank(0) - 2);
  const std::string& type = op.def().type();
  return type.ends_with("1D") ? 1 : type.ends_with("3D") ? 3 : 2;
}

struct Window {
  std::vector<int64_t> kernel, stride, dilation, pads;
  size_t axes() const { return kernel.size(); }
  int rank() const { return static_cast<int>(axes()) + 2; }
};

// The pads for which ONNX, which rounds down, counts as many windows as the operator has.
void ApplyLegacyPad(const OperatorExport& op, int64_t legacy, Window* window) {
  const OnnxDims in = op.InputDims(0), out = op.OutputDims(0);
  const size_t first = op.IsNHWC() ? 1 : 2;
  for (size_t i = 0; i < window->axes(); ++i) {
    const int64_t extent = (window->kernel[i] - 1) * window->dilation[i] + 1;
    const int64_t needed = (out.at(first + i) - 1) * window->stride[i] + extent - in.at(first + i);
    int64_t& head = window->pads[i];
    int64_t& tail = window->pads[i + window->axes()];
    if (legacy != 3) head = legacy == 2 ? std::max<int64_t>(needed, 0) / 2 : 0;
    tail = std::max<int64_t>(needed - head, 0);
  }
}

Window WindowOf(const OperatorExport& op) {
  const size_t axes = AxesOfWindow(op);
  Window window = {.kernel = PerAxis(op, "kernel", axes, 0),
                   .stride = PerAxis(op, "stride", axes, 1),
                   .dilation = PerAxis(op, "dilation", axes, 1),
                   .pads = PadsOf(op, axes)};
  const auto legacy = op.args.GetSingleArgument<int64_t>("legacy_pad", 0);
  if (legacy != 0) ApplyLegacyPad(op, legacy, &window);
  return window;
}

OnnxAttributes WindowAttributes(const Window& window, bool has_dilation) {
  OnnxAttributes attributes = {Ints("kernel_shape", window.kernel), Ints("strides", window.stride),
                               Ints("pads", window.pads)};
  if (has_dilation) attributes.push_back(Ints("dilations", window.dilation));
  return attributes;
}

// The filter, whose channels are last in NHWC.
std::vector<std::string> ConvInputs(OperatorExport* op, int rank) {
  std::vector<std::string> inputs = op->Ins();
  if (op->IsNHWC()) inputs.at(1) = op->FromNHWC(inputs.at(1), rank);
  return inputs;
}

void WriteConv(OperatorExport* op) {
  CAFFE_ENFORCE(op->args.GetSingleArgument<int>("global_pooling", 0) == 0,
                "argument global_pooling of a convolution has no counterpart in ONNX");
  const Window window = WindowOf(*op);
  OnnxAttributes attributes = WindowAttributes(window, true);
  attributes.push_back(Int("group", op->args.GetSingleArgument<int64_t>("group", 1)));
  op->NodeNCHW("Conv", ConvInputs(op, window.rank()), window.rank(), attributes);
}

void WriteConvTranspose(OperatorExport* op) {
  CAFFE_ENFORCE(op->args.GetSingleArgument<int>("legacy_pad", 0) == 0,
                "argument legacy_pad of ConvTranspose has no counterpart in ONNX");
  const Window window = WindowOf(*op);
  OnnxAttributes attributes = WindowAttributes(window, false);
  attributes.push_back(Int("group", op->args.GetSingleArgument<int64_t>("group", 1)));
  attributes.push_back(Ints("output_padding", PerAxis(*op, "adj", window.axes(), 0)));
  op->NodeNCHW("ConvTranspose", ConvInputs(op, window.rank()), window.rank(), attributes);
}

void WritePool(OperatorExport* op) {
  const std::string type(op->row().onnx_type);
  const bool is_average = type == "AveragePool";
  const std::vector<std::string> inputs = {op->In(0)};
  if (op->args.GetSingleArgument<int>("global_pooling", 0) != 0) {
    return op->NodeNCHW("Global" + type, inputs, op->IsNHWC() ? op->Rank(0) : 0, {});
  }
  const Window window = WindowOf(*op);
  const bool dilated = std::any_of(window.dilation.begin(), window.dilation.end(),
                                   [](int64_t dilation) { return dilation != 1; });
  CAFFE_ENFORCE(!dilated || !is_average || op->graph().opset() >= 19,
                "AveragePool with a dilation needs opset 19; want --opset 19");
  const bool crops =
      std::any_of(window.pads.begin(), window.pads.end(), [](int64_t pad) { return pad < 0; });
  CAFFE_ENFORCE(!crops, op->def().type(), " with negative pads has no counterpart in ONNX");
  OnnxAttributes attributes = WindowAttributes(window, dilated);
  if (is_average) {
    attributes.push_back(
        Int("count_include_pad", op->args.GetSingleArgument<int64_t>("count_include_pad", 0)));
  }
  op->NodeNCHW(type, inputs, window.rank(), attributes);
}

// Pads of four axes in ONNX: heads of all, then tails of all.
void WritePadImage(OperatorExport* op) {
  const std::vector<int64_t> pads = PadsOf(*op, 2);
  const bool last = op->IsNHWC();
  const int64_t t = pads.at(0), l = pads.at(1), b = pads.at(2), r = pads.at(3);
  const std::string counts = op->graph().Constant(last ? OnnxDims{0, t, l, 0, 0, b, r, 0}
                                                       : OnnxDims{0, 0, t, l, 0, 0, b, r});
  const auto mode = op->args.GetSingleArgument<std::string>("mode", "constant");
  std::vector<std::string> inputs = {op->In(0), counts};
  if (mode == "constant") {
    inputs.push_back(op->graph().Scalar(op->args.GetSingleArgument<float>("value", 0)));
  }
  op->Node("Pad", inputs, {op->Out()}, {Text("mode", mode.c_str())});
}

void WriteResizeNearest(OperatorExport* op) {
  CAFFE_ENFORCE(!op->HasInput(1),
                "input 1 (scales) of ResizeNearest is computed by the net, want a weight");
  OnnxGraph& graph = op->graph();
  const auto h = op->args.GetSingleArgument<float>("height_scale", 1);
  const auto w = op->args.GetSingleArgument<float>("width_scale", 1);
  const std::string scales = graph.NewName("scales");
  auto* values = graph.AddInitializer(scales, onnx::TensorProto::FLOAT, {4});
  for (const float scale : op->IsNHWC() ? OnnxFloats{1, h, w, 1} : OnnxFloats{1, 1, h, w}) {
    values->add_float_data(scale);
  }
  const std::string x = op->In(0);
  op->Node("Resize", {x, "", scales}, {op->Out()},
           {Text("mode", "nearest"), Text("coordinate_transformation_mode", "asymmetric"),
            Text("nearest_mode", "floor")});
}

// To the sizes that the operator computes, which need not be multiples of the scales.
void WriteUpsampleBilinear(OperatorExport* op) {
  CAFFE_ENFORCE(!op->HasInput(1),
                "input 1 (scales) of UpsampleBilinear is computed by the net, want a weight");
  const std::string x = op->In(0);
  op->Node("Resize", {x, "", "", op->graph().Constant(op->OutputDims(0))}, {op->Out()},
           {Text("mode", "linear"), Text("coordinate_transformation_mode", "align_corners")});
}

// Y[n, i * group + g] = X[n, g * C / group + i].
void WriteChannelShuffle(OperatorExport* op) {
  const auto group = op->args.GetSingleArgument<int64_t>("group", 1);
  const OnnxDims dims = op->InputDims(0);
  const bool last = op->IsNHWC();
  const int64_t channels = last ? dims.back() : dims.at(1);
  const std::string x = op->In(0);
  OnnxDims split;
  std::vector<int64_t> perm;
  if (last) {
    split = {-1, group, channels / group};
    perm = {0, 2, 1};
  } else {
    split = {0, group, channels / group, -1};
    perm = {0, 2, 1, 3};
  }
  const std::string parts = op->Emit("Reshape", {x, op->graph().Constant(split)});
  const std::string turned = op->Emit("Transpose", {parts}, {Ints("perm", perm)});
  OnnxDims joined = dims;
  joined[0] = -1;
  op->Node("Reshape", {turned, op->graph().Constant(joined)}, {op->Out()});
}

// RoIs [R, 5]: the number of the image, then its corners.
void WriteRoIAlign(OperatorExport* op) {
  const OnnxDims boxes_dims = op->InputDims(1);
  CAFFE_ENFORCE_EQ(
      boxes_dims.at(1), 5,
      "columns of input 1 (RoIs); RoIs without the number of an image have no counterpart");
  OnnxGraph& graph = op->graph();
  const bool aligned = op->args.GetSingleArgument<int>("aligned", 0) != 0;
  CAFFE_ENFORCE(!aligned || graph.opset() >= 16, "RoIAlign with aligned needs opset 16");
  const std::string x = op->In(0), rois = op->In(1);
  const std::string boxes =
      op->Emit("Slice", {rois, graph.Constant({1}), graph.Constant({5}), graph.Constant({1})});
  const std::string column = op->Emit("Gather", {rois, graph.Scalar(int64_t{0})}, {Int("axis", 1)});
  const std::string images = op->Emit("Cast", {column}, {Int("to", onnx::TensorProto::INT64)});
  OnnxAttributes attributes = {
      Text("mode", "avg"),
      Float("spatial_scale", op->args.GetSingleArgument<float>("spatial_scale", 1)),
      Int("output_height", op->args.GetSingleArgument<int64_t>("pooled_h", 1)),
      Int("output_width", op->args.GetSingleArgument<int64_t>("pooled_w", 1)),
      Int("sampling_ratio",
          std::max<int64_t>(op->args.GetSingleArgument<int64_t>("sampling_ratio", -1), 0))};
  if (graph.opset() >= 16) {
    attributes.push_back(
        Text("coordinate_transformation_mode", aligned ? "half_pixel" : "output_half_pixel"));
  }
  op->NodeNCHW("RoiAlign", {x, boxes, images}, 4, attributes);
}

}  // namespace

std::vector<OnnxExportRow> WindowExportRows() {
  return {
      {"Conv", WriteConv},
      {"Conv1D", WriteConv},
      {"Conv2D", WriteConv},
      {"Conv3D", WriteConv},
      {"ConvTranspose", WriteConvTranspose},
      {"MaxPool", WritePool, "MaxPool"},
      {"MaxPool1D", WritePool, "MaxPool"},
      {"MaxPool2D", WritePool, "MaxPool"},
      {"MaxPool3D", WritePool, "MaxPool"},
      {"AveragePool", WritePool, "AveragePool"},
      {"AveragePool1D", WritePool, "AveragePool"},
      {"AveragePool2D", WritePool, "AveragePool"},
      {"AveragePool3D", WritePool, "AveragePool"},
      {"PadImage", WritePadImage},
      {"ResizeNearest", WriteResizeNearest},
      {"UpsampleBilinear", WriteUpsampleBilinear},
      {"ChannelShuffle", WriteChannelShuffle},
      {"RoIAlign", WriteRoIAlign},
  };
}

}  // namespace caffe2rt
