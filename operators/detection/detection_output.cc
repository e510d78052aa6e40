// DetectionOutput: the detections of SSD.
//   loc [N, P * 4], or [N, P * classes * 4]; conf [N, P * classes]; prior [1, 2, P * 4]
//   ->  Y [1, 1, K, 7]: image, label, score, x1, y1, x2, y2
// Boxes are decoded from the priors and are not clipped. For each class but the background those
// with a score above the threshold compete, best first and at most nms_top_k of them: one that
// overlaps a kept one more than nms_threshold is dropped. After each kept box, an eta below 1
// multiplies the threshold while it is above 0.5. Of all classes the keep_top_k best remain. If
// nothing is found, there is a row for each image: its number and six times -1.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int> kDetectionClasses{.name = "num_classes",
                                              .default_value = 0,
                                              .doc = "number of classes, with the background",
                                              .required = true};
constexpr ArgumentSpec<bool> kDetectionShareLocation{"share_location", true,
                                                     "1: all classes have the same boxes"};
constexpr ArgumentSpec<int> kDetectionBackground{"background_label", 0,
                                                 "the class to skip; -1: none"};
constexpr ArgumentSpec<std::string> kDetectionCodeType{
    "code_type", "CORNER", "how boxes are encoded: CORNER, CENTER_SIZE or CORNER_SIZE"};
constexpr ArgumentSpec<bool> kDetectionEncodedVariance{
    "variance_encoded_in_target", false, "1: the variances of the priors have no effect"};
constexpr ArgumentSpec<float> kDetectionNmsThreshold{
    "nms_threshold", 0.3f, "boxes that overlap a better one more are dropped"};
constexpr ArgumentSpec<float> kDetectionNmsEta{"nms_eta", 1,
                                               "factor of the threshold after a kept box"};
constexpr ArgumentSpec<int> kDetectionNmsTopK{"nms_top_k", -1,
                                              "boxes of a class that compete; -1: all"};
constexpr ArgumentSpec<int> kDetectionKeepTopK{"keep_top_k", -1, "boxes of an image; -1: all"};
constexpr ArgumentSpec<float> kDetectionConfidence{"confidence_threshold",
                                                   std::numeric_limits<float>::lowest(),
                                                   "boxes with a score above it compete"};

using DetectionBox = std::array<float, 4>;
enum class Code { kCorner, kCenterSize, kCornerSize };

Code CodeOf(const std::string& name) {
  if (name == "CORNER") return Code::kCorner;
  if (name == "CENTER_SIZE") return Code::kCenterSize;
  CAFFE_ENFORCE(name == "CORNER_SIZE", "argument code_type is \"", name,
                "\", want CORNER, CENTER_SIZE or CORNER_SIZE");
  return Code::kCornerSize;
}

DetectionBox DecodePrior(Code code, const float* prior, const float* variance, const float* delta) {
  const float width = prior[2] - prior[0], height = prior[3] - prior[1];
  DetectionBox box;
  if (code == Code::kCenterSize) {
    const float x = variance[0] * delta[0] * width + (prior[0] + prior[2]) / 2;
    const float y = variance[1] * delta[1] * height + (prior[1] + prior[3]) / 2;
    const float half_w = std::exp(variance[2] * delta[2]) * width / 2;
    const float half_h = std::exp(variance[3] * delta[3]) * height / 2;
    return {x - half_w, y - half_h, x + half_w, y + half_h};
  }
  for (size_t i = 0; i < 4; ++i) {
    const float unit = code == Code::kCorner ? 1 : i % 2 == 0 ? width : height;
    box[i] = prior[i] + variance[i] * delta[i] * unit;
  }
  return box;
}

float DetectionArea(const DetectionBox& box) {
  if (box[2] < box[0] || box[3] < box[1]) return 0;
  return (box[2] - box[0]) * (box[3] - box[1]);
}

float DetectionOverlap(const DetectionBox& a, const DetectionBox& b) {
  const float width = std::min(a[2], b[2]) - std::max(a[0], b[0]);
  const float height = std::min(a[3], b[3]) - std::max(a[1], b[1]);
  if (!(width > 0 && height > 0)) return 0;
  const float shared = width * height;
  return shared / (DetectionArea(a) + DetectionArea(b) - shared);
}

struct ScoredBox {
  float score = 0;
  int label = 0;
  int64_t prior = 0;
  DetectionBox box = {};
};

bool ScoresHigher(const ScoredBox& a, const ScoredBox& b) { return a.score > b.score; }

class DetectionOutputOp final : public Operator<CPUContext> {
 public:
  using Context = CPUContext;
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  DetectionOutputOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        classes_(ReadArgument(kDetectionClasses)),
        share_location_(ReadArgument(kDetectionShareLocation)),
        background_(ReadArgument(kDetectionBackground)),
        code_(CodeOf(ReadArgument(kDetectionCodeType))),
        encoded_variance_(ReadArgument(kDetectionEncodedVariance)),
        nms_threshold_(ReadArgument(kDetectionNmsThreshold)),
        eta_(ReadArgument(kDetectionNmsEta)),
        nms_top_k_(ReadArgument(kDetectionNmsTopK)),
        keep_top_k_(ReadArgument(kDetectionKeepTopK)),
        confidence_(ReadArgument(kDetectionConfidence)) {
    CAFFE_ENFORCE(classes_ > 0, "argument num_classes is ", classes_, ", want at least 1");
    CAFFE_ENFORCE(eta_ > 0 && eta_ <= 1, "argument nms_eta is ", eta_, ", want 0 to 1");
  }

  bool RunOnDevice() override {
    const Tensor &loc = Input(0), &conf = Input(1), &prior = Input(2);
    const int64_t images = SetSizes(loc, conf, prior);
    const float* const locations = loc.data<float>();
    const float* const scores = conf.data<float>();
    found_.clear();
    rows_.clear();
    for (int64_t n = 0; n < images; ++n) {
      FindInImage(locations + n * priors_ * location_classes() * 4, scores + n * priors_ * classes_,
                  prior.data<float>());
      for (const ScoredBox& row : found_) {
        rows_.insert(rows_.end(), {static_cast<float>(n), static_cast<float>(row.label), row.score,
                                   row.box[0], row.box[1], row.box[2], row.box[3]});
      }
    }
    if (rows_.empty()) {
      rows_.assign(static_cast<size_t>(images) * 7, -1);
      for (int64_t n = 0; n < images; ++n)
        rows_[static_cast<size_t>(n) * 7] = static_cast<float>(n);
    }
    const int64_t dims[] = {1, 1, static_cast<int64_t>(rows_.size() / 7), 7};
    std::copy(rows_.begin(), rows_.end(), OutputData<float>(0, dims));
    return true;
  }

 private:
  int64_t location_classes() const { return share_location_ ? 1 : classes_; }

  // Returns the number of images.
  int64_t SetSizes(const Tensor& loc, const Tensor& conf, const Tensor& prior) {
    CAFFE_ENFORCE(prior.dim() == 3 && prior.dim(1) == 2 && prior.dim(2) % 4 == 0,
                  "input 2 (prior) has shape ", prior.sizes(), ", want [1, 2, P * 4]");
    priors_ = prior.dim(2) / 4;
    CAFFE_ENFORCE(loc.dim() >= 1 && conf.dim() >= 1 && loc.dim(0) == conf.dim(0),
                  "inputs 0 (loc) and 1 (conf) have shapes ", loc.sizes(), " and ", conf.sizes(),
                  ", want the same number of images");
    const int64_t images = loc.dim(0);
    const int64_t scores = CheckedProduct(std::vector<int64_t>{images, priors_, classes_});
    const int64_t deltas =
        CheckedProduct(std::vector<int64_t>{images, priors_, location_classes(), 4});
    CAFFE_ENFORCE(conf.numel() == scores, "input 1 (conf) has shape ", conf.sizes(), ", want [",
                  images, ", ", priors_, " * ", classes_, "]");
    CAFFE_ENFORCE(loc.numel() == deltas, "input 0 (loc) has shape ", loc.sizes(), ", want [",
                  images, ", ", priors_, " * ", location_classes(), " * 4]");
    return images;
  }

  void FindInImage(const float* locations, const float* scores, const float* prior) {
    found_.clear();
    for (int label = 0; label < classes_; ++label) {
      if (label != background_) FindOfClass(label, locations, scores, prior);
    }
    if (keep_top_k_ < 0 || found_.size() <= static_cast<size_t>(keep_top_k_)) return;
    std::stable_sort(found_.begin(), found_.end(), ScoresHigher);
    found_.resize(static_cast<size_t>(keep_top_k_));
    std::stable_sort(found_.begin(), found_.end(),
                     [](const ScoredBox& a, const ScoredBox& b) { return a.label < b.label; });
  }

  void FindOfClass(int label, const float* locations, const float* scores, const float* prior) {
    candidates_.clear();
    for (int64_t p = 0; p < priors_; ++p) {
      const float score = scores[p * classes_ + label];
      if (score > confidence_) candidates_.push_back({.score = score, .label = label, .prior = p});
    }
    std::stable_sort(candidates_.begin(), candidates_.end(), ScoresHigher);
    if (nms_top_k_ >= 0 && candidates_.size() > static_cast<size_t>(nms_top_k_)) {
      candidates_.resize(static_cast<size_t>(nms_top_k_));
    }
    static constexpr float kOnes[] = {1, 1, 1, 1};
    const int64_t location = share_location_ ? 0 : label;
    float threshold = nms_threshold_;
    const size_t first = found_.size();
    for (ScoredBox& candidate : candidates_) {
      const int64_t p = candidate.prior;
      candidate.box =
          DecodePrior(code_, prior + p * 4, encoded_variance_ ? kOnes : prior + (priors_ + p) * 4,
                      locations + (p * location_classes() + location) * 4);
      const auto overlaps = [&](const ScoredBox& kept) {
        return !(DetectionOverlap(candidate.box, kept.box) <= threshold);
      };
      if (std::any_of(found_.begin() + static_cast<int64_t>(first), found_.end(), overlaps))
        continue;
      found_.push_back(candidate);
      if (eta_ < 1 && threshold > 0.5f) threshold *= eta_;
    }
  }

  const int classes_;
  const bool share_location_;
  const int background_;
  const Code code_;
  const bool encoded_variance_;
  const float nms_threshold_, eta_;
  const int nms_top_k_, keep_top_k_;
  const float confidence_;
  int64_t priors_ = 0;
  std::vector<ScoredBox> candidates_, found_;  // of a class, and of an image
  std::vector<float> rows_;
};

}  // namespace

void RegisterDetectionOutput() {
  RegisterSchema("DetectionOutput", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Args(kDetectionClasses, kDetectionShareLocation, kDetectionBackground, kDetectionCodeType,
            kDetectionEncodedVariance, kDetectionNmsThreshold, kDetectionNmsEta, kDetectionNmsTopK,
            kDetectionKeepTopK, kDetectionConfidence)
      .Input(0, "loc", "[N, P * 4], or [N, P * num_classes * 4] if share_location is 0")
      .Input(1, "conf", "[N, P * num_classes]: scores")
      .Input(2, "prior", "[1, 2, P * 4]: the output of PriorBox")
      .Output(0, "Y", "[1, 1, K, 7]: image, label, score, x1, y1, x2, y2")
      .FloatInputs(3)
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>&) {
        return UnknownOutputs(def);
      })
      .SetDoc(
          "Finds the detections of a single shot detector (SSD): decodes boxes from priors, "
          "applies non-maximum suppression to each class, and keeps the best of all classes.");
  RegisterCpuOperator<DetectionOutputOp>("DetectionOutput", __FILE__);
  // The boxes of a detector are not trained through.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("DetectionOutput", __FILE__);
}

}  // namespace caffe2rt
