// Convolutions and pools.

#include <algorithm>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/import/onnx/node_table.h"
#include "caffe2_core/import/onnx/same_operator.h"

namespace caffe2rt {
namespace {

// The windows of a node, one number for each axis; pads are heads and then tails.
struct Windows {
  OnnxDims kernels, strides, pads, dilations;
  size_t axes() const { return kernels.size(); }
};

OnnxDims ListOf(const OnnxNode& n, const char* name, size_t count, int64_t missing) {
  OnnxDims values = n.IntList(name, OnnxDims(count, missing));
  CAFFE_ENFORCE_EQ(values.size(), count, "numbers in attribute \"", name, "\"");
  return values;
}

// The pads that auto_pad asks for, which depend on the size of the input.
void AddAutoPads(OnnxNode* n, const std::string& auto_pad, Windows* windows) {
  const bool upper = auto_pad == "SAME_UPPER";
  CAFFE_ENFORCE(upper || auto_pad == "SAME_LOWER", "auto_pad is \"", auto_pad,
                "\", want NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  const size_t axes = windows->axes();
  windows->pads.assign(2 * axes, 0);
  for (size_t i = 0; i < axes; ++i) {
    const int64_t size = n->FixedDim(n->In(0), static_cast<int64_t>(i) + 2);
    const int64_t stride = windows->strides[i];
    const int64_t window = (windows->kernels[i] - 1) * windows->dilations[i] + 1;
    const int64_t out = (size + stride - 1) / stride;
    const int64_t total = std::max<int64_t>(0, (out - 1) * stride + window - size);
    const int64_t less = total / 2;
    windows->pads[i] = upper ? less : total - less;
    windows->pads[axes + i] = upper ? total - less : less;
  }
}

Windows WindowsOf(OnnxNode* n, const OnnxDims& kernels) {
  const size_t axes = kernels.size();
  Windows windows = {.kernels = kernels,
                     .strides = ListOf(*n, "strides", axes, 1),
                     .pads = ListOf(*n, "pads", 2 * axes, 0),
                     .dilations = ListOf(*n, "dilations", axes, 1)};
  for (size_t i = 0; i < axes; ++i) {
    CAFFE_ENFORCE(kernels[i] > 0 && windows.strides[i] > 0 && windows.dilations[i] > 0, "kernel ",
                  kernels[i], ", stride ", windows.strides[i], ", dilation ", windows.dilations[i],
                  ": want at least 1");
    CAFFE_ENFORCE(kernels[i] <= INT32_MAX && windows.strides[i] <= INT32_MAX &&
                      windows.dilations[i] <= INT32_MAX,
                  "a kernel, stride or dilation is larger than ", INT32_MAX);
  }
  const std::string auto_pad = n->Text("auto_pad", "NOTSET");
  if (auto_pad != "NOTSET" && auto_pad != "VALID" && !auto_pad.empty()) {
    AddAutoPads(n, auto_pad, &windows);
  }
  return windows;
}

std::vector<Argument> ArgumentsOf(const Windows& windows) {
  return {MakeArgument("kernels", windows.kernels), MakeArgument("strides", windows.strides),
          MakeArgument("pads", windows.pads)};
}

// Of the attribute, or of the filter.
OnnxDims KernelsOf(OnnxNode* n) {
  if (n->HasAttr("kernel_shape")) return n->IntList("kernel_shape");
  const OnnxDims filter = n->Dims(n->In(1));
  CAFFE_ENFORCE_GE(filter.size(), size_t{3}, "axes of the filter");
  return {filter.begin() + 2, filter.end()};
}

void TranslateConv(OnnxNode* n) {
  const Windows windows = WindowsOf(n, KernelsOf(n));
  std::vector<Argument> args = ArgumentsOf(windows);
  args.push_back(MakeArgument("dilations", windows.dilations));
  args.push_back(MakeArgument("group", n->Int("group", 1)));
  n->Emit("Conv", n->Ins(), {n->Out(0)}, args);
}

// Caffe2's operator is for images, without dilations, and for pads that are known and not negative.
void TranslateConvTranspose(OnnxNode* n) {
  const OnnxDims kernels =
      n->HasAttr("kernel_shape") || n->HasDims(n->In(1)) ? KernelsOf(n) : OnnxDims();
  const std::string auto_pad = n->Text("auto_pad", "NOTSET");
  const OnnxDims ones(kernels.size(), 1), none(2 * kernels.size(), 0);
  const OnnxDims pads = n->IntList("pads", none), strides = n->IntList("strides", ones);
  const OnnxDims adjs = n->IntList("output_padding", OnnxDims(kernels.size(), 0));
  bool plain = kernels.size() == 2 && adjs.size() == 2 && strides.size() == 2 &&
               n->IntList("dilations", ones) == ones && n->IntList("output_shape").empty() &&
               (auto_pad == "NOTSET" || auto_pad == "VALID") &&
               std::all_of(pads.begin(), pads.end(), [](int64_t pad) { return pad >= 0; });
  for (size_t i = 0; plain && i < 2; ++i) plain = adjs[i] >= 0 && adjs[i] < strides[i];
  if (!plain) return EmitSame(n, "ONNXConvTranspose");
  std::vector<Argument> args = ArgumentsOf(WindowsOf(n, kernels));
  args.push_back(MakeArgument("adjs", adjs));
  args.push_back(MakeArgument("group", n->Int("group", 1)));
  n->Emit("ConvTranspose", n->Ins(), {n->Out(0)}, args);
}

// Whether Caffe2's pools cover the node: floats, windows without dilation whose pads are known and less
// than the kernel, and no part of a window beyond the padding.
bool IsPlainPool(OnnxNode* n) {
  const OnnxDims kernels = n->IntList("kernel_shape"), ones(kernels.size(), 1);
  const OnnxDims pads = n->IntList("pads", OnnxDims(2 * kernels.size(), 0));
  const std::string auto_pad = n->Text("auto_pad", "NOTSET");
  if (n->Type(n->In(0)) != onnx::TensorProto::FLOAT || n->Int("ceil_mode", 0) != 0 ||
      n->IntList("dilations", ones) != ones || (auto_pad != "NOTSET" && auto_pad != "VALID") ||
      pads.size() != 2 * kernels.size()) {
    return false;
  }
  for (size_t i = 0; i < pads.size(); ++i) {
    if (pads[i] < 0 || pads[i] >= kernels[i % kernels.size()]) return false;
  }
  return true;
}

void EmitPool(OnnxNode* n, const char* type, const std::vector<Argument>& more) {
  std::vector<Argument> args = ArgumentsOf(WindowsOf(n, n->IntList("kernel_shape")));
  args.insert(args.end(), more.begin(), more.end());
  n->Emit(type, {n->In(0)}, {n->Out(0)}, args);
}

void TranslateMaxPool(OnnxNode* n) {
  if (n->HasOut(1) || !IsPlainPool(n)) return EmitSame(n, "ONNXMaxPool");
  EmitPool(n, "MaxPool", {});
}

void TranslateAveragePool(OnnxNode* n) {
  if (!IsPlainPool(n)) return EmitSame(n, "ONNXAveragePool");
  EmitPool(n, "AveragePool", {MakeArgument("count_include_pad", n->Int("count_include_pad", 0))});
}

void TranslateLpPool(OnnxNode* n) {
  if (!IsPlainPool(n) || n->IntList("kernel_shape").size() != 2) return EmitSame(n, "ONNXLpPool");
  EmitPool(n, "LpPool", {MakeArgument("p", static_cast<float>(n->Int("p", 2)))});
}

// The norm over all spatial axes.
void TranslateGlobalLpPool(OnnxNode* n) {
  const int64_t p = n->Int("p", 2), rank = n->Rank(n->In(0));
  CAFFE_ENFORCE(p == 1 || p == 2, "p is ", p, ", want 1 or 2");
  OnnxDims axes;
  for (int64_t axis = 2; axis < rank; ++axis) axes.push_back(axis);
  n->EmitTyped(p == 1 ? "ReduceL1" : "ReduceL2", {n->In(0)}, n->Out(0),
               {MakeArgument("axes", axes), MakeArgument("keepdims", 1)});
}

void TranslateMaxRoiPool(OnnxNode* n) {
  const OnnxDims shape = n->IntList("pooled_shape");
  CAFFE_ENFORCE_EQ(shape.size(), size_t{2}, "numbers in attribute \"pooled_shape\"");
  n->Emit("RoIPool", {n->In(0), n->In(1)}, {n->Out(0)},
          {MakeArgument("is_test", 1), MakeArgument("pooled_h", shape[0]),
           MakeArgument("pooled_w", shape[1]),
           MakeArgument("spatial_scale", n->Float("spatial_scale", 1))});
}

void TranslateGlobalAveragePool(OnnxNode* n) {
  n->Emit("AveragePool", {n->In(0)}, {n->Out(0)}, {MakeArgument("global_pooling", 1)});
}

void TranslateGlobalMaxPool(OnnxNode* n) {
  n->Emit("MaxPool", {n->In(0)}, {n->Out(0)}, {MakeArgument("global_pooling", 1)});
}

}  // namespace

std::vector<OnnxRow> OnnxWindowRows() {
  return {{"AveragePool", &TranslateAveragePool},
          {"Conv", &TranslateConv},
          {"ConvTranspose", &TranslateConvTranspose},
          {"DeformConv", [](OnnxNode* n) { EmitSame(n, "ONNXDeformConv"); }},
          {"GlobalAveragePool", &TranslateGlobalAveragePool},
          {"GlobalLpPool", &TranslateGlobalLpPool},
          {"GlobalMaxPool", &TranslateGlobalMaxPool, "", true},
          {"LpPool", &TranslateLpPool},
          {"MaxPool", &TranslateMaxPool, "", true},
          {"MaxRoiPool", &TranslateMaxRoiPool, "", true},
          {"MaxUnpool", [](OnnxNode* n) { EmitSame(n, "MaxUnpool"); }, "", true}};
}

}  // namespace caffe2rt
