#include "caffe2_core/graph/drawing/operator_family.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

#include "caffe2_core/graph/op_schema.h"

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

bool IsOneOf(const std::string& type, std::initializer_list<std::string_view> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
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

// The family of a type that states none, without the parts that ForwardType removes.
OperatorFamily FamilyByName(const std::string& type) {
  // Types of Caffe2 that the library does not have.
  if (IsOneOf(type, {"ResizeBilinear", "Stack"})) return OperatorFamily::kShape;
  if (IsOneOf(type, {"Attention", "FCRelu", "FbFC", "Gemm", "PackedFC"})) {
    return OperatorFamily::kMatMul;
  }
  if (HasPart(type, {"Loss", "CrossEntropy", "Accuracy", "Distance", "Similarity"})) {
    return OperatorFamily::kLoss;
  }
  if (IsOneOf(type, {"HardSwish", "LogSoftmax", "Relu6", "SpatialSoftmax"})) {
    return OperatorFamily::kActivation;
  }
  if (HasPart(type, {"Convert"})) return OperatorFamily::kOther;
  if (HasPart(type, {"Conv"})) return OperatorFamily::kConv;
  if (HasPart(type, {"Pool", "RoIAlign"})) return OperatorFamily::kPool;
  if (HasPart(type, {"Norm", "SpatialBN", "LRN", "AffineChannel"})) return OperatorFamily::kNorm;
  if (HasPart(type, {"Fill", "Load", "DBInput", "ImageInput", "CreateDB", "Range", "Dequeue",
                     "ReadNextBatch"})) {
    return OperatorFamily::kData;
  }
  return OperatorFamily::kOther;
}

}  // namespace

OperatorFamily FamilyOf(const std::string& type) {
  const std::string forward = ForwardType(type);
  for (const std::string& stating : {type, forward}) {
    if (const auto family = TraitsOf(stating).family) return *family;
  }
  return FamilyByName(forward);
}

const char* FamilyTitle(OperatorFamily family) { return RowOf(family).title; }
const char* FamilyClass(OperatorFamily family) { return RowOf(family).css_class; }
const char* FamilyFill(OperatorFamily family) { return RowOf(family).fill; }
const char* FamilyColor(OperatorFamily family) { return RowOf(family).color; }

}  // namespace caffe2rt
