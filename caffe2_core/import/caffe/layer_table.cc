#include "caffe2_core/import/caffe/layer_table.h"

#include <algorithm>
#include <map>

namespace caffe2rt {
namespace {

std::vector<CaffeLayerRow> InputAndTrainingLayers() {
  using enum CaffeLayerKind;
  return {
      {"Input", kInput},
      {"AnnotatedData", kData},
      {"Data", kData},
      {"DummyData", kInput},
      {"HDF5Data", kData},
      {"ImageData", kData},
      {"MemoryData", kData},
      {"VideoData", kData},
      {"WindowData", kData},
      {"Accuracy", kDropped},
      {"BoxAnnotatorOHEM", kDropped},
      {"DetectionEvaluate", kDropped},
      {"HDF5Output", kDropped},
      {"Silence", kDropped},
      {"SoftmaxWithLossOHEM", kDropped},
      {"SmoothL1LossOHEM", kDropped},
  };
}

const std::map<std::string_view, CaffeLayerRow>& Table() {
  static const std::map<std::string_view, CaffeLayerRow> table = [] {
    std::map<std::string_view, CaffeLayerRow> rows;
    for (const auto& topic : {InputAndTrainingLayers(), CaffeElementwiseLayers(),
                              CaffeNormalizationLayers(), CaffeShapeLayers(), CaffeWindowLayers(),
                              CaffeDetectionLayers(), CaffeRecurrentLayers()}) {
      for (const CaffeLayerRow& row : topic) rows.emplace(row.type, row);
    }
    return rows;
  }();
  return table;
}

}  // namespace

const CaffeLayerRow* FindCaffeLayer(std::string_view type) {
  static const CaffeLayerRow loss = {"Loss", CaffeLayerKind::kDropped};
  const auto found = Table().find(type);
  if (found != Table().end()) return &found->second;
  return type.ends_with("Loss") || type == "SoftmaxWithLoss" ? &loss : nullptr;
}

std::vector<std::string_view> CaffeLayerTypes() {
  std::vector<std::string_view> types;
  for (const auto& [type, row] : Table()) types.push_back(type);
  return types;
}

}  // namespace caffe2rt
