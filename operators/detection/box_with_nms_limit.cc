// BoxWithNMSLimit: the detections of a batch of images, from the scores and the boxes of each class.
//   scores [R, classes], boxes [R, classes * 4], optional splits [N] (rows of each image; float or
//   int32)
//   ->  scores [D], boxes [D, 4], classes [D] float, splits [N] float, optional keeps [D] int32 (row
//   in the image) and keeps_size [N, classes] int32
// For each image and each class but the first one, the background: boxes whose score is above
// score_thresh are selected by non-maximum suppression, in descending order of their scores. Of the
// boxes of an image, only the best detections_per_im remain. Rotated boxes have five numbers. Without
// input_boxes_include_bg_cls, the first column belongs to class 1, and the last one is not used.

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"
#include "operators/detection/box_decoder.h"
#include "operators/detection/box_suppression.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<float> kNmsLimitScoreThresh{"score_thresh", 0.05f,
                                                   "a box needs a score above this"};
constexpr ArgumentSpec<float> kNmsLimitNms{
    "nms", 0.3f, "boxes that overlap a better one more than this are dropped"};
constexpr ArgumentSpec<int> kNmsLimitDetectionsPerIm{"detections_per_im", 100,
                                                     "boxes of an image; not above 0: all"};
constexpr ArgumentSpec<bool> kNmsLimitSoft{"soft_nms_enabled", false,
                                           "1: boxes that overlap a better one lose score instead"};
constexpr ArgumentSpec<std::string> kNmsLimitSoftMethod{
    "soft_nms_method",
    "linear",
    "linear: above nms, scores are multiplied by 1 - overlap; gaussian: by exp(-overlap^2 / sigma)",
    {[](const std::string& method) { return method == "linear" || method == "gaussian"; },
     "linear or gaussian"}};
constexpr ArgumentSpec<float> kNmsLimitSoftSigma{"soft_nms_sigma", 0.5f, "sigma of gaussian"};
constexpr ArgumentSpec<float> kNmsLimitSoftMinScore{
    "soft_nms_min_score_thres", 0.001f, "boxes that lost score need at least this much"};
constexpr ArgumentSpec<bool> kNmsLimitRotated{
    "rotated", false, "1: boxes are x, y, width, height and angle, where x and y are the center"};
constexpr ArgumentSpec<bool> kNmsLimitClassAgnostic{"cls_agnostic_bbox_reg", false,
                                                    "1: a row has only one box, for all classes"};
constexpr ArgumentSpec<bool> kNmsLimitInputBackground{
    "input_boxes_include_bg_cls", true,
    "0: the columns of scores and boxes start with the class after the background; the last one is "
    "not used"};
constexpr ArgumentSpec<bool> kNmsLimitOutputBackground{
    "output_classes_include_bg_cls", true, "0: the class after the background is number 0"};

// A box that was selected: its class, its row in the image.
using Detection = std::pair<int32_t, int32_t>;

class BoxWithNMSLimitOp final : public Operator<CPUContext> {
 public:
  using Context = CPUContext;
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  BoxWithNMSLimitOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        rule_{ReadArgument(kNmsLimitRotated), ReadArgument(kBoxLegacyPlusOne) ? 1.0f : 0.0f,
              ReadArgument(kNmsLimitNms)},
        soft_{ReadArgument(kNmsLimitSoftMethod) == "gaussian" ? SoftMethod::kGaussian
                                                              : SoftMethod::kLinear,
              ReadArgument(kNmsLimitSoftSigma), ReadArgument(kNmsLimitSoftMinScore)},
        is_soft_(ReadArgument(kNmsLimitSoft)),
        score_thresh_(ReadArgument(kNmsLimitScoreThresh)),
        detections_per_im_(ReadArgument(kNmsLimitDetectionsPerIm)),
        class_agnostic_(ReadArgument(kNmsLimitClassAgnostic)),
        first_box_class_(ReadArgument(kNmsLimitInputBackground) ? 0 : 1),
        first_output_class_(ReadArgument(kNmsLimitOutputBackground) ? 0 : 1) {
    CAFFE_ENFORCE_NE(OutputSize(), 5, "number of outputs, want 3, 4 or 6");
  }

  bool RunOnDevice() override {
    const Tensor &scores = Input(0), &boxes = Input(1);
    CheckShapes(scores.sizes(), boxes.sizes());
    score_ = scores.data<float>();
    box_ = boxes.data<float>();
    ReadSplits(scores.dims()[0]);
    detections_.clear();
    images_.clear();
    decayed_.clear();
    int32_t* sizes = nullptr;
    if (OutputSize() > 5) {
      const int64_t dims[] = {static_cast<int64_t>(splits_.size()), classes_};
      sizes = OutputData<int32_t>(5, dims);
      std::fill_n(sizes, Output(5)->numel(), 0);
    }
    int64_t row = 0;
    for (const int64_t rows : splits_) {
      const size_t before = detections_.size();
      if (rows > 0) Detect(row, rows, sizes);
      images_.push_back({row, detections_.size() - before});
      row += rows;
      if (sizes != nullptr) sizes += classes_;
    }
    WriteOutputs();
    return true;
  }

 private:
  struct Image {
    int64_t row;  // the first one of the image
    size_t detections;
  };

  void CheckShapes(IntArrayRef scores, IntArrayRef boxes) {
    CAFFE_ENFORCE_EQ(scores.size(), 2u, "rank of input 0 (scores) of shape ", scores);
    CAFFE_ENFORCE(scores[0] < INT32_MAX && scores[1] < INT32_MAX, "input 0 (scores) has shape ",
                  scores, ", want less than 2147483647 rows and columns");
    classes_ = scores[1];
    box_columns_ = class_agnostic_ ? rule_.dim() : (classes_ - first_box_class_) * rule_.dim();
    CAFFE_ENFORCE(boxes.size() == 2 && boxes[0] == scores[0] && boxes[1] == box_columns_,
                  "input 1 (boxes) has shape ", boxes, ", want [", scores[0], ", ", box_columns_,
                  "] for input 0 (scores) of shape ", scores);
  }

  // The rows of each image. Fractions are truncated, as in Caffe2.
  void ReadSplits(int64_t rows) {
    splits_.clear();
    if (InputSize() < 3) {
      splits_.push_back(rows);
      return;
    }
    const Tensor& splits = Input(2);
    CAFFE_ENFORCE_EQ(splits.dim(), 1, "rank of input 2 (batch_splits) of shape ", splits.sizes());
    double sum = 0;
    DispatchByType<int32_t, float>(splits.dtype(), "input 2 (batch_splits)", [&](auto element) {
      for (int64_t i = 0; i < splits.numel(); ++i) {
        const double split = splits.data<decltype(element)>()[i];
        CAFFE_ENFORCE(split >= 0 && split <= static_cast<double>(rows), "input 2 (batch_splits) ",
                      "has value ", split, ", want 0 to ", rows, ", the rows of input 0 (scores)");
        sum += split;
        splits_.push_back(static_cast<int64_t>(split));
      }
      return true;
    });
    CAFFE_ENFORCE_EQ(sum, static_cast<double>(rows),
                     "sum of input 2 (batch_splits), want the rows of input 0 (scores)");
  }

  // The score of a row of the image.
  float& ScoreOf(int64_t row, int64_t c) {
    return scores_[static_cast<size_t>(row * classes_ + c - first_box_class_)];
  }
  int64_t BoxColumn(int64_t c) const {
    return class_agnostic_ ? 0 : (c - first_box_class_) * rule_.dim();
  }

  // Adds the detections of an image, class by class, and counts those of each class.
  void Detect(int64_t row, int64_t rows, int32_t* sizes) {
    const size_t first = detections_.size();
    // Soft suppression changes the scores of the image.
    scores_.assign(score_ + row * classes_, score_ + (row + rows) * classes_);
    for (int64_t c = 1; c < classes_; ++c) DetectClass(row, rows, c);
    const size_t count = detections_.size() - first;
    if (detections_per_im_ > 0 && count > static_cast<size_t>(detections_per_im_)) {
      KeepBest(first);
    }
    for (size_t i = first; i < detections_.size(); ++i) {
      const Detection& detection = detections_[i];
      if (sizes != nullptr) ++sizes[detection.first];
      decayed_.push_back(ScoreOf(detection.second, detection.first));
    }
  }

  void DetectClass(int64_t row, int64_t rows, int64_t c) {
    const int64_t dim = rule_.dim(), column = BoxColumn(c);
    candidates_.clear();
    class_scores_.clear();
    boxes_.clear();
    for (int64_t i = 0; i < rows; ++i) {
      const float score = ScoreOf(i, c);
      if (!(score > score_thresh_)) continue;
      candidates_.push_back(static_cast<int32_t>(i));
      class_scores_.push_back(score);
      const float* const box = box_ + (row + i) * box_columns_ + column;
      boxes_.insert(boxes_.end(), box, box + dim);
    }
    const int64_t count = static_cast<int64_t>(candidates_.size());
    for (const int32_t i : Suppress(count)) {
      const int32_t at = candidates_[static_cast<size_t>(i)];
      detections_.emplace_back(static_cast<int32_t>(c), at);
    }
    if (!is_soft_) return;
    for (size_t i = 0; i < candidates_.size(); ++i) {
      ScoreOf(candidates_[i], c) = class_scores_[i];
    }
  }

  // Returns the selected candidates. A class needs no more of them than an image.
  const std::vector<int32_t>& Suppress(int64_t count) {
    if (!is_soft_) {
      const int64_t top = std::max(detections_per_im_, 0);
      const std::vector<int32_t>& order = by_score_.Sort(class_scores_.data(), count, 0, false);
      return suppressor_.Select(rule_, boxes_.data(), order.data(), count, top);
    }
    for (int32_t i = static_cast<int32_t>(rows_.size()); i < count; ++i) rows_.push_back(i);
    return suppressor_.SelectSoftly(rule_, soft_, boxes_.data(), rows_.data(), count,
                                    class_scores_.data());
  }

  // Keeps the best detections from `first` on, class by class, in descending order.
  void KeepBest(size_t first) {
    class_scores_.clear();
    for (size_t i = first; i < detections_.size(); ++i) {
      class_scores_.push_back(ScoreOf(detections_[i].second, detections_[i].first));
    }
    const std::vector<int32_t>& order =
        by_score_.Sort(class_scores_.data(), static_cast<int64_t>(class_scores_.size()), 0, false);
    best_.clear();
    for (int32_t i = 0; i < detections_per_im_; ++i) {
      const Detection& detection =
          detections_[first + static_cast<size_t>(order[static_cast<size_t>(i)])];
      best_.push_back({detection.first, i, detection.second});
    }
    std::sort(best_.begin(), best_.end());
    detections_.resize(first);
    for (const auto& [c, rank, row] : best_) detections_.emplace_back(c, row);
  }

  void WriteOutputs() {
    const int64_t count = static_cast<int64_t>(detections_.size()), dim = rule_.dim();
    const int64_t dims[] = {count}, box_dims[] = {count, dim};
    std::copy(decayed_.begin(), decayed_.end(), OutputData<float>(0, dims));
    float* box = OutputData<float>(1, box_dims);
    float* const of_class = OutputData<float>(2, dims);
    int32_t* const keeps = OutputSize() > 4 ? OutputData<int32_t>(4, dims) : nullptr;
    size_t i = 0;
    for (const Image& image : images_) {
      for (const size_t end = i + image.detections; i < end; ++i, box += dim) {
        const auto [c, row] = detections_[i];
        std::copy_n(box_ + (image.row + row) * box_columns_ + BoxColumn(c), dim, box);
        of_class[i] = static_cast<float>(c - first_output_class_);
        if (keeps != nullptr) keeps[i] = row;
      }
    }
    const int64_t images = static_cast<int64_t>(images_.size());
    const int64_t split_dims[] = {images};
    if (OutputSize() > 3) {
      float* const splits = OutputData<float>(3, split_dims);
      for (size_t n = 0; n < images_.size(); ++n) {
        splits[n] = static_cast<float>(images_[n].detections);
      }
    }
  }

  const SuppressionRule rule_;
  const SoftRule soft_;
  const bool is_soft_;
  const float score_thresh_;
  const int detections_per_im_;
  const bool class_agnostic_;
  const int first_box_class_;
  const int first_output_class_;
  // Of a run.
  const float* score_ = nullptr;
  const float* box_ = nullptr;
  int64_t classes_ = 0, box_columns_ = 0;
  std::vector<int64_t> splits_;
  std::vector<Image> images_;
  std::vector<Detection> detections_;
  std::vector<float> decayed_;  // scores of the detections
  // Of an image and a class.
  ScoreOrder by_score_;
  BoxSuppressor suppressor_;
  std::vector<float> scores_, class_scores_, boxes_;
  std::vector<int32_t> candidates_, rows_;
  std::vector<std::array<int32_t, 3>> best_;  // class, rank, row
};

}  // namespace

void RegisterBoxWithNmsLimit() {
  RegisterSchema("BoxWithNMSLimit", __FILE__)
      .NumInputs(2, 3)
      .NumOutputs(3, 6)
      .Args(kNmsLimitScoreThresh, kNmsLimitNms, kNmsLimitDetectionsPerIm, kNmsLimitSoft,
            kNmsLimitSoftMethod, kNmsLimitSoftSigma, kNmsLimitSoftMinScore, kNmsLimitRotated)
      .Args(kNmsLimitClassAgnostic, kNmsLimitInputBackground, kNmsLimitOutputBackground,
            kBoxLegacyPlusOne)
      .Input(0, "scores", "[R, classes]; class 0 is the background")
      .Input(1, "boxes", "[R, classes * 4]; rotated: [R, classes * 5]")
      .Input(2, "batch_splits", "[N] float or int32: the number of rows of each image; default: R")
      .Output(0, "scores", "[D]")
      .Output(1, "boxes", "[D, 4]; rotated: [D, 5]")
      .Output(2, "classes", "float [D]")
      .Output(3, "batch_splits", "float [N]: the number of detections of each image")
      .Output(4, "keeps", "int32 [D]: the row of each detection in its image")
      .Output(5, "keeps_size", "int32 [N, classes]: the number of detections of each class")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>&) {
        return UnknownOutputs(def);
      })
      .SetDoc(
          "Selects the detections of each image and class by non-maximum suppression, and keeps "
          "the "
          "best ones of each image.");
  RegisterCpuOperator<BoxWithNMSLimitOp>("BoxWithNMSLimit", __FILE__);
  // The boxes of a detector are not trained through.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("BoxWithNMSLimit", __FILE__);
}

}  // namespace caffe2rt
