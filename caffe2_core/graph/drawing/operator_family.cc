#include "caffe2_core/graph/drawing/operator_family.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace caffe2rt {
namespace {

struct FamilyRow {
  const char* title;
  const char* css_class;
  const char* fill;
  const char* color;
};

constexpr std::array<FamilyRow, kNumOperatorFamilies> kRows = {{
    {"convolution", "conv", "#dce8f6", "#77aadd"},
    {"pooling", "pool", "#e0f4ff", "#99ddff"},
    {"normalization", "norm", "#fbf6dc", "#eedd88"},
    {"activation", "act", "#fbe1d7", "#ee8866"},
    {"elementwise", "elem", "#ffe8ec", "#ffaabb"},
    {"shape and indexing", "shape", "#f0f0f0", "#bbbbbb"},
    {"matrix multiplication", "matmul", "#cfeee6", "#44bb99"},
    {"loss and metric", "loss", "#ececc4", "#aaaa00"},
    {"data and fill", "data", "#f1f4d3", "#bbcc33"},
    {"other", "other", "#fafafa", "#777777"},
}};

const FamilyRow& RowOf(OperatorFamily family) { return kRows[static_cast<size_t>(family)]; }

bool IsActivation(const std::string& type) {
  static const std::set<std::string> types = {"Clip",
                                              "Dropout",
                                              "Elu",
                                              "Gelu",
                                              "HardSigmoid",
                                              "LeakyRelu",
                                              "Logit",
                                              "PRelu",
                                              "Relu",
                                              "Relu6",
                                              "ReluN",
                                              "Selu",
                                              "Sigmoid",
                                              "Softmax",
                                              "Softplus",
                                              "Softsign",
                                              "Swish",
                                              "Tanh",
                                              "LogSoftmax",
                                              "ThresholdedRelu",
                                              "HardSwish",
                                              "Mish",
                                              "Glu",
                                              "ConvRelu",
                                              "SpatialSoftmax",
                                              "GroupSpatialSoftmax"};
  return types.contains(type);
}

bool IsElementwise(const std::string& type) {
  static const std::set<std::string> types = {"Abs",
                                              "Add",
                                              "And",
                                              "Cast",
                                              "Ceil",
                                              "Copy",
                                              "Cos",
                                              "Cube",
                                              "Div",
                                              "EQ",
                                              "Exp",
                                              "Floor",
                                              "GE",
                                              "GT",
                                              "LE",
                                              "LT",
                                              "Log",
                                              "Max",
                                              "Mean",
                                              "Min",
                                              "Mod",
                                              "Mul",
                                              "NE",
                                              "Negative",
                                              "Not",
                                              "Or",
                                              "Pow",
                                              "Reciprocal",
                                              "Round",
                                              "Rsqrt",
                                              "Scale",
                                              "Sign",
                                              "Sin",
                                              "Sqr",
                                              "Sqrt",
                                              "StopGradient",
                                              "Sub",
                                              "Sum",
                                              "WeightedSum",
                                              "Where",
                                              "Xor",
                                              "Conditional",
                                              "ElementwiseLinear",
                                              "StumpFunc",
                                              "NanCheck",
                                              "Alias"};
  return types.contains(type);
}

bool IsShape(const std::string& type) {
  static const std::set<std::string> types = {"ChannelShuffle",
                                              "Concat",
                                              "DepthConcat",
                                              "DepthSplit",
                                              "Expand",
                                              "ExpandDims",
                                              "Flatten",
                                              "FlattenToVec",
                                              "Gather",
                                              "BatchGather",
                                              "MergeDim",
                                              "NCHW2NHWC",
                                              "NHWC2NCHW",
                                              "PadImage",
                                              "PrependDim",
                                              "Reshape",
                                              "ResizeLike",
                                              "ResizeNearest",
                                              "ResizeBilinear",
                                              "Shape",
                                              "Size",
                                              "Slice",
                                              "SpaceToBatch",
                                              "BatchToSpace",
                                              "Split",
                                              "Squeeze",
                                              "Stack",
                                              "Tile",
                                              "Transpose",
                                              "UpsampleNearest",
                                              "UpsampleBilinear",
                                              "OneHot",
                                              "TopK",
                                              "ArgMax",
                                              "ArgMin",
                                              "SparseToDense",
                                              "ScatterAssign",
                                              "PackSegments",
                                              "UnpackSegments",
                                              "ReversePackedSegs"};
  return types.contains(type);
}

bool IsMatMul(const std::string& type) {
  static const std::set<std::string> types = {"FC",          "FCTransposed", "FbFC",   "MatMul",
                                              "BatchMatMul", "Gemm",         "FCRelu", "PackedFC",
                                              "DotProduct",  "Attention"};
  return types.contains(type);
}

// The type without the parts that do not change the family.
std::string ForwardType(std::string type) {
  if (type.starts_with("Int8")) type.erase(0, 4);
  for (const std::string_view suffix : {"Gradient", "Grad", "Quantized", "Backward"}) {
    if (type.size() > suffix.size() && type.ends_with(suffix)) {
      type.resize(type.size() - suffix.size());
    }
  }
  return type;
}

bool HasPart(const std::string& type, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return type.find(part) != std::string::npos; });
}

}  // namespace

OperatorFamily FamilyOf(const std::string& full_type) {
  const std::string type = ForwardType(full_type);
  if (IsElementwise(full_type) || IsElementwise(type)) return OperatorFamily::kElementwise;
  if (IsShape(type)) return OperatorFamily::kShape;
  if (IsMatMul(type)) return OperatorFamily::kMatMul;
  if (HasPart(type, {"Loss", "CrossEntropy", "Accuracy", "Distance", "Similarity"}))
    return OperatorFamily::kLoss;
  if (IsActivation(type)) return OperatorFamily::kActivation;
  if (HasPart(type, {"Convert"})) return OperatorFamily::kOther;
  if (HasPart(type, {"Conv"})) return OperatorFamily::kConv;
  if (HasPart(type, {"Pool", "RoIAlign"})) return OperatorFamily::kPool;
  if (HasPart(type, {"Norm", "SpatialBN", "LRN", "AffineChannel", "Normalize"}))
    return OperatorFamily::kNorm;
  if (HasPart(type, {"Fill", "Load", "DBInput", "ImageInput", "CreateDB", "Range", "Dequeue",
                     "ReadNextBatch"}))
    return OperatorFamily::kData;
  return OperatorFamily::kOther;
}

const char* FamilyTitle(OperatorFamily family) { return RowOf(family).title; }
const char* FamilyClass(OperatorFamily family) { return RowOf(family).css_class; }
const char* FamilyFill(OperatorFamily family) { return RowOf(family).fill; }
const char* FamilyColor(OperatorFamily family) { return RowOf(family).color; }

}  // namespace caffe2rt
