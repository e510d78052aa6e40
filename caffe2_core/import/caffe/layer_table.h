#pragma once
// The table of Caffe's layers: for each type what becomes of it, with a function that writes its
// operators.

#include <string_view>
#include <vector>

#include "caffe2_core/import/caffe/layer_context.h"

namespace caffe2rt {

enum class CaffeLayerKind {
  kTranslated,
  kInput,    // its tops are inputs of the net
  kData,     // the same, and its second top holds labels
  kDropped,  // for training: it and what nothing but it reads are left out
  kRefused,  // known, and not supported; `remedy` says what to do
};

struct CaffeLayerRow {
  std::string_view type;
  CaffeLayerKind kind = CaffeLayerKind::kTranslated;
  void (*translate)(CaffeLayerContext* layer) = nullptr;
  std::string_view remedy = {};
};

// Null for a type that is not known. Every type that ends with "Loss" is one to drop.
const CaffeLayerRow* FindCaffeLayer(std::string_view type);
std::vector<std::string_view> CaffeLayerTypes();

// Whether the layer of type Python is one of those that become operators.
bool IsKnownCaffePython(const CaffeLayer& layer);
inline constexpr const char* kKnownCaffePython =
    "no Python is run; known is ProposalLayer of rpn.proposal_layer (Faster R-CNN)";

// Whether the layer cannot be computed without blobs in the weights.
bool NeedsCaffeBlobs(const CaffeLayer& layer);

// Whether the layer hands its bottom on.
bool IsCaffeIdentity(std::string_view type);

// The rows, by topic.
std::vector<CaffeLayerRow> CaffeElementwiseLayers();
std::vector<CaffeLayerRow> CaffeNormalizationLayers();
std::vector<CaffeLayerRow> CaffeShapeLayers();
std::vector<CaffeLayerRow> CaffeWindowLayers();
std::vector<CaffeLayerRow> CaffeDetectionLayers();
std::vector<CaffeLayerRow> CaffeRecurrentLayers();

}  // namespace caffe2rt
