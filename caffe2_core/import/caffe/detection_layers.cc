// Layers of detectors: SSD, Faster R-CNN, R-FCN, YOLO.

#include <algorithm>
#include <cmath>

#include "caffe2_core/base/text.h"
#include "caffe2_core/import/caffe/layer_table.h"

namespace caffe2rt {
namespace {

// --- SSD ---

void TranslatePriorBox(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("prior_box_param");
  std::vector<Argument> args;
  for (const char* name : {"min_size", "max_size", "aspect_ratio", "variance"}) {
    const std::vector<float> values = param.Floats(name);
    if (!values.empty()) args.push_back(MakeArgument(name, values));
  }
  args.push_back(MakeArgument("flip", param.Bool("flip", true) ? 1 : 0));
  args.push_back(MakeArgument("clip", param.Bool("clip", false) ? 1 : 0));
  const int64_t size = param.Integer("img_size", 0);
  args.push_back(MakeArgument("image_h", param.Integer("img_h", size)));
  args.push_back(MakeArgument("image_w", param.Integer("img_w", size)));
  const float step = param.Float("step", 0);
  args.push_back(MakeArgument("step_h", param.Float("step_h", step)));
  args.push_back(MakeArgument("step_w", param.Float("step_w", step)));
  args.push_back(MakeArgument("offset", param.Float("offset", 0.5f)));
  c->Emit("PriorBox", {c->Bottom(0), c->Bottom(1)}, {c->Top(0)}, args);
}

void TranslateDetectionOutput(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("detection_output_param");
  const CaffeMessage& nms = param.Message("nms_param");
  const int code = param.Enum("code_type", {"CORNER", "CENTER_SIZE", "CORNER_SIZE"}, 0, {1, 2, 3});
  constexpr const char* kCodes[] = {"CORNER", "CENTER_SIZE", "CORNER_SIZE"};
  CAFFE_ENFORCE(c->bottoms() == 3, "it has ", CountText(c->bottoms(), "bottom"), ", want 3");
  CAFFE_ENFORCE(param.Has("num_classes"), "detection_output_param wants num_classes");
  c->Emit(
      "DetectionOutput", {c->Bottom(0), c->Bottom(1), c->Bottom(2)}, {c->Top(0)},
      {MakeArgument("num_classes", param.Integer("num_classes", 0)),
       MakeArgument("share_location", param.Bool("share_location", true) ? 1 : 0),
       MakeArgument("background_label", param.Integer("background_label_id", 0)),
       MakeArgument("code_type", std::string(kCodes[code])),
       MakeArgument("variance_encoded_in_target",
                    param.Bool("variance_encoded_in_target", false) ? 1 : 0),
       MakeArgument("nms_threshold", nms.Float("nms_threshold", 0.3f)),
       MakeArgument("nms_eta", nms.Float("eta", 1)),
       MakeArgument("nms_top_k", nms.Integer("top_k", -1)),
       MakeArgument("keep_top_k", param.Integer("keep_top_k", -1)),
       MakeArgument("confidence_threshold",
                    param.Float("confidence_threshold", std::numeric_limits<float>::lowest()))});
}

// --- regions of interest ---

// The bottom as rows of `columns`: older files state boxes and sizes of images with four axes.
std::string Rows(CaffeLayerContext* c, const std::string& bottom, int64_t columns) {
  if (!c->HasDims(bottom) || c->Rank(bottom) == 2) return bottom;
  const std::string flat = c->Top(0) + "/rows";
  c->Emit("Reshape", {bottom}, {flat, flat + "/old_shape"},
          {MakeArgument("shape", CaffeDims{-1, columns})});
  return flat;
}

void TranslateRoiPooling(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("roi_pooling_param");
  c->Emit("RoIPool", {c->Bottom(0), Rows(c, c->Bottom(1), 5)}, {c->Top(0)},
          {MakeArgument("is_test", 1), MakeArgument("pooled_h", param.Integer("pooled_h", 0)),
           MakeArgument("pooled_w", param.Integer("pooled_w", 0)),
           MakeArgument("spatial_scale", param.Float("spatial_scale", 1))});
}

void TranslatePsRoiPooling(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("psroi_pooling_param");
  c->Emit("PSRoIPool", {c->Bottom(0), Rows(c, c->Bottom(1), 5)},
          {c->Top(0), c->Top(0) + "/channels"},
          {MakeArgument("spatial_scale", param.Float("spatial_scale", 1)),
           MakeArgument("group_size", param.Integer("group_size", 0)),
           MakeArgument("output_dim", param.Integer("output_dim", 0))});
}

// --- proposals ---

struct Proposals {
  float stride = 16, base = 16, min_size = 16, nms = 0.7f;
  int64_t before = 6000, after = 300;
  std::vector<float> ratios = {0.5f, 1, 2}, scales = {8, 16, 32};
};

// The anchors of py-faster-rcnn: boxes around the centre of [0, base - 1] of the area base^2 with
// sides rounded to integers (halves to even), one for each ratio, each in all scales.
std::vector<float> AnchorsOf(const Proposals& proposals) {
  const float center = 0.5f * (proposals.base - 1);
  std::vector<float> anchors;
  for (const float ratio : proposals.ratios) {
    const float width = std::nearbyint(std::sqrt(proposals.base * proposals.base / ratio));
    const float height = std::nearbyint(width * ratio);
    for (const float scale : proposals.scales) {
      const float x = 0.5f * (width * scale - 1), y = 0.5f * (height * scale - 1);
      for (const float value : {center - x, center - y, center + x, center + y}) {
        anchors.push_back(value);
      }
    }
  }
  return anchors;
}

void EmitProposals(CaffeLayerContext* c, const Proposals& proposals) {
  const auto anchors = static_cast<int64_t>(proposals.ratios.size() * proposals.scales.size());
  CAFFE_ENFORCE(anchors > 0 && anchors <= 4096, "it has ", anchors, " anchors, want 1 to 4096");
  CAFFE_ENFORCE(proposals.stride > 0, "feat_stride is ", proposals.stride, ", want more than 0");
  // The second half of the channels is the scores of the foreground.
  const std::string scores = c->Value("Slice", {c->Bottom(0)},
                                      {MakeArgument("starts", CaffeDims{0, anchors, 0, 0}),
                                       MakeArgument("ends", CaffeDims{-1, 2 * anchors, -1, -1})});
  const std::string boxes = c->Constant("anchors", {anchors, 4}, AnchorsOf(proposals));
  const std::string image = Rows(c, c->Bottom(2), 3);
  const std::string probabilities = c->tops() > 1 ? c->Top(1) + "/flat" : c->Top(0) + "/scores";
  c->Emit(
      "GenerateProposals", {scores, c->Bottom(1), image, boxes}, {c->Top(0), probabilities},
      {MakeArgument("spatial_scale", 1 / proposals.stride),
       MakeArgument("pre_nms_topN", proposals.before),
       MakeArgument("post_nms_topN", proposals.after), MakeArgument("nms_thresh", proposals.nms),
       MakeArgument("min_size", proposals.min_size), MakeArgument("legacy_plus_one", 1)});
  if (c->tops() < 2) return;
  c->Emit("ExpandDims", {probabilities}, {c->Top(1)}, {MakeArgument("dims", CaffeDims{1})});
}

void TranslateProposal(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("proposal_param");
  Proposals proposals = {.stride = param.Float("feat_stride", 16),
                         .base = param.Float("base_size", 16),
                         .min_size = param.Float("min_size", 16),
                         .nms = param.Float("nms_thresh", 0.7f),
                         .before = param.Integer("pre_nms_topn", 6000),
                         .after = param.Integer("post_nms_topn", 300)};
  if (param.Has("ratio")) proposals.ratios = param.Floats("ratio");
  if (param.Has("scale")) proposals.scales = param.Floats("scale");
  EmitProposals(c, proposals);
}

// --- Python layers ---

// The numbers behind `key` in a text that is YAML or a Python dictionary: one, or several in
// brackets or parentheses.
std::vector<float> NumbersOfKey(const std::string& text, const std::string& key) {
  size_t at = text.find(key);
  if (at == std::string::npos) return {};
  at = text.find(':', at);
  if (at == std::string::npos) return {};
  at = text.find_first_not_of(" \t", at + 1);
  if (at == std::string::npos) return {};
  const bool list = text[at] == '[' || text[at] == '(';
  size_t end = text.find_first_of(list ? "])" : ",}\n", at);
  if (end == std::string::npos) end = text.size();
  std::vector<float> numbers;
  std::string word;
  for (size_t i = at; i <= end; ++i) {
    const char c = i < end ? text[i] : ' ';
    if ((c >= '0' && c <= '9') || c == '.' || c == '-' || c == 'e') {
      word.push_back(c);
      continue;
    }
    float number = 0;
    if (ParseNumber(word, &number)) numbers.push_back(number);
    word.clear();
  }
  return numbers;
}

// No Python is run: layers whose meaning is known by their module and name become operators.
void TranslatePython(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("python_param");
  const std::string text = param.Text("param_str", param.Text("param_str_"));
  Proposals proposals;
  if (const auto stride = NumbersOfKey(text, "feat_stride"); !stride.empty()) {
    proposals.stride = stride[0];
  }
  if (const auto scales = NumbersOfKey(text, "scales"); !scales.empty()) proposals.scales = scales;
  if (const auto ratios = NumbersOfKey(text, "ratios"); !ratios.empty()) proposals.ratios = ratios;
  EmitProposals(c, proposals);
}

constexpr const char* kTakeInputs =
    "end the net before it and take the blobs that it reads as outputs";
constexpr const char* kNoOperator = "there is no operator for it";

}  // namespace

bool IsKnownCaffePython(const CaffeLayer& layer) {
  return layer.fields.Message("python_param").Text("layer") == "ProposalLayer";
}

std::vector<CaffeLayerRow> CaffeDetectionLayers() {
  using enum CaffeLayerKind;
  return {
      {"DetectionOutput", kTranslated, TranslateDetectionOutput},
      {"PSROIPooling", kTranslated, TranslatePsRoiPooling},
      {"PriorBox", kTranslated, TranslatePriorBox},
      {"Proposal", kTranslated, TranslateProposal},
      {"Python", kTranslated, TranslatePython},
      {"ROIPooling", kTranslated, TranslateRoiPooling},
      {"Correlation", kRefused, nullptr, kNoOperator},
      {"FlowWarp", kRefused, nullptr, kNoOperator},
      {"MultiStageMeanfield", kRefused, nullptr, kNoOperator},
      {"Region", kRefused, nullptr, kTakeInputs},
      {"Resample", kRefused, nullptr, kNoOperator},
      {"YoloDetectionOutput", kRefused, nullptr, kTakeInputs},
      {"Yolov3DetectionOutput", kRefused, nullptr, kTakeInputs},
  };
}

}  // namespace caffe2rt
