// Convolutions and pools.

#include <algorithm>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/import/onnx/node_table.h"

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

// The pads that give the wanted output, and rows to add.
void FitTransposed(OnnxNode* n, const OnnxDims& adjs, Windows* windows) {
  const OnnxDims shape = n->IntList("output_shape");
  const std::string auto_pad = n->Text("auto_pad", "NOTSET");
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  if (shape.empty() && !same) return;
  const size_t axes = windows->axes();
  windows->pads.assign(2 * axes, 0);
  for (size_t i = 0; i < axes; ++i) {
    const int64_t size = n->FixedDim(n->In(0), static_cast<int64_t>(i) + 2);
    const int64_t window = (windows->kernels[i] - 1) * windows->dilations[i] + 1;
    const int64_t out =
        shape.empty() ? size * windows->strides[i] : shape.at(shape.size() - axes + i);
    const int64_t total =
        std::max<int64_t>(0, (size - 1) * windows->strides[i] + adjs[i] + window - out);
    const int64_t half = total / 2;
    windows->pads[i] = auto_pad == "SAME_UPPER" ? half : total - half;
    windows->pads[axes + i] = total - windows->pads[i];
  }
}

void TranslateConvTranspose(OnnxNode* n) {
  const OnnxDims kernels = KernelsOf(n);
  Windows windows = {.kernels = kernels,
                     .strides = ListOf(*n, "strides", kernels.size(), 1),
                     .pads = ListOf(*n, "pads", 2 * kernels.size(), 0),
                     .dilations = ListOf(*n, "dilations", kernels.size(), 1)};
  const OnnxDims adjs = ListOf(*n, "output_padding", kernels.size(), 0);
  FitTransposed(n, adjs, &windows);
  const bool dilated = windows.dilations != OnnxDims(kernels.size(), 1);
  CAFFE_ENFORCE(!dilated, "dilations other than 1 are not supported");
  std::vector<Argument> args = ArgumentsOf(windows);
  args.push_back(MakeArgument("adjs", adjs));
  args.push_back(MakeArgument("group", n->Int("group", 1)));
  n->Emit("ConvTranspose", n->Ins(), {n->Out(0)}, args);
}

// With ceil_mode, the last window starts within the input or its head padding: tail pads grow.
void CeilPads(OnnxNode* n, Windows* windows) {
  if (n->Int("ceil_mode", 0) == 0) return;
  const size_t axes = windows->axes();
  for (size_t i = 0; i < axes; ++i) {
    const int64_t size = n->FixedDim(n->In(0), static_cast<int64_t>(i) + 2);
    const int64_t window = (windows->kernels[i] - 1) * windows->dilations[i] + 1;
    const int64_t padded = size + windows->pads[i] + windows->pads[axes + i],
                  stride = windows->strides[i];
    int64_t out = (padded - window + stride - 1) / stride + 1;
    if ((out - 1) * stride >= size + windows->pads[i]) --out;
    windows->pads[axes + i] += std::max<int64_t>(0, (out - 1) * stride + window - padded);
  }
}

void EmitPool(OnnxNode* n, const char* type, std::vector<Argument> more, bool can_dilate) {
  Windows windows = WindowsOf(n, n->IntList("kernel_shape"));
  const OnnxDims pads = windows.pads;
  CeilPads(n, &windows);
  CAFFE_ENFORCE(windows.pads == pads || n->Int("count_include_pad", 0) == 0,
                "ceil_mode with count_include_pad is not supported");
  std::vector<Argument> args = ArgumentsOf(windows);
  const bool dilated = windows.dilations != OnnxDims(windows.axes(), 1);
  CAFFE_ENFORCE(!dilated || can_dilate, "dilations other than 1 are not supported");
  if (dilated) args.push_back(MakeArgument("dilations", windows.dilations));
  args.insert(args.end(), more.begin(), more.end());
  n->Emit(type, {n->In(0)}, {n->Out(0)}, args);
}

void TranslateMaxPool(OnnxNode* n) {
  CAFFE_ENFORCE(!n->HasOut(1), "output 1 (Indices) is not supported");
  EmitPool(n, "MaxPool", {}, false);
}

void TranslateAveragePool(OnnxNode* n) {
  EmitPool(n, "AveragePool", {MakeArgument("count_include_pad", n->Int("count_include_pad", 0))},
           false);
}

void TranslateLpPool(OnnxNode* n) {
  EmitPool(n, "LpPool", {MakeArgument("p", static_cast<float>(n->Int("p", 2)))}, false);
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
          {"GlobalAveragePool", &TranslateGlobalAveragePool},
          {"GlobalMaxPool", &TranslateGlobalMaxPool, "", true},
          {"LpPool", &TranslateLpPool},
          {"MaxPool", &TranslateMaxPool, "", true}};
}

}  // namespace caffe2rt
