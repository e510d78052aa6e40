#include "caffe2_core/import/caffe/layer_table.h"

#include <algorithm>
#include <map>
#include <set>

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

bool NeedsCaffeBlobs(const CaffeLayer& layer) {
  static const std::set<std::string_view> types = {"BN",
                                                   "BatchNorm",
                                                   "BatchNormScale",
                                                   "CuDNNBatchNorm",
                                                   "Convolution",
                                                   "Deconvolution",
                                                   "ConvolutionDepthwise",
                                                   "DepthwiseConvolution",
                                                   "Embed",
                                                   "InnerProduct",
                                                   "LSTM",
                                                   "PReLU",
                                                   "Parameter",
                                                   "RNN"};
  if (layer.type == "Scale" || layer.type == "Bias") return layer.bottoms.size() == 1;
  const bool fills_itself =
      layer.fields.Message("convolution_param").Message("weight_filler").Text("type") == "bilinear";
  const bool by_batch = !layer.fields.Message("batch_norm_param").Bool("use_global_stats", true);
  return types.contains(layer.type) && !fills_itself && !by_batch;
}

std::vector<std::string_view> CaffeLayerTypes() {
  std::vector<std::string_view> types;
  for (const auto& [type, row] : Table()) types.push_back(type);
  return types;
}

}  // namespace caffe2rt
