// Proposals of a feature pyramid network.
//
// CollectRpnProposals: merges the proposals of all levels and keeps the best.
//   rois [R, 5] (image, x1, y1, x2, y2) of each level, then scores [R] of each level  ->  rois
// DistributeFpnProposals: divides proposals among the levels by the size of the boxes.
//   rois [R, 5], or [R, 4] of image 0
//   ->  rois [R, 5] of each level, int32 [R]: where each proposal is in the rois of all levels
// CollectAndDistributeFpnRpnProposals: both.
//   rois and scores of each level  ->  the merged rois, rois of each level, int32 [R]
//
// Equal scores keep their order.

#include <algorithm>
#include <climits>
#include <cmath>
#include <string>
#include <vector>

#include "caffe2_core/base/float_index.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"
#include "operators/detection/box_decoder.h"
#include "operators/detection/box_suppression.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int> kFpnCanonicalScale{
    "roi_canonical_scale", 224, "the square root of the area of a box of roi_canonical_level"};
constexpr ArgumentSpec<int> kFpnCanonicalLevel{
    "roi_canonical_level", 4, "the level of boxes of that size; twice the size is one level more"};
constexpr ArgumentSpec<int> kFpnMaxLevel{"roi_max_level", 5, "the last level of the outputs"};
constexpr ArgumentSpec<int> kFpnMinLevel{"roi_min_level", 2, "the first level of the outputs"};
constexpr ArgumentSpec<int> kFpnInputMaxLevel{"rpn_max_level", 6, "the last level of the inputs"};
constexpr ArgumentSpec<int> kFpnInputMinLevel{"rpn_min_level", 2, "the first level of the inputs"};
constexpr ArgumentSpec<int> kFpnPostNmsTopN{"rpn_post_nms_topN", 2000,
                                            "proposals to keep; not above 0: all"};

// The number of levels. THROWS if there are none.
int64_t CountLevels(int low, int high, const char* first, const char* last) {
  CAFFE_ENFORCE(low <= high, "argument ", last, " is ", high, ", want at least argument ", first,
                ", which is ", low);
  return int64_t{high} - low + 1;
}

// Merges the proposals of all levels.
class Collector {
 public:
  explicit Collector(const ArgumentHelper& args)
      : levels_(CountLevels(args.Read(kFpnInputMinLevel), args.Read(kFpnInputMaxLevel),
                            kFpnInputMinLevel.name, kFpnInputMaxLevel.name)),
        top_(args.Read(kFpnPostNmsTopN)) {}

  // Writes the best proposals to output 0, in descending order, and returns them.
  const Tensor& Run(Operator<CPUContext>* op) {
    CAFFE_ENFORCE_EQ(op->InputSize(), 2 * levels_,
                     "number of inputs, want the rois and the scores of each level");
    rois_.clear();
    scores_.clear();
    for (int64_t level = 0; level < levels_; ++level) {
      AddLevel(op, static_cast<int>(level), static_cast<int>(level + levels_));
    }
    const int64_t count = static_cast<int64_t>(scores_.size());
    CAFFE_ENFORCE_LT(count, INT32_MAX, "number of proposals");
    const std::vector<int32_t>& order = by_score_.Sort(scores_.data(), count, top_, true);
    const int64_t dims[] = {static_cast<int64_t>(order.size()), 5};
    float* to = op->OutputData<float>(0, dims);
    for (const int32_t i : order) to = std::copy_n(rois_.data() + i * int64_t{5}, 5, to);
    return *op->Output(0);
  }

 private:
  void AddLevel(Operator<CPUContext>* op, int roi_input, int score_input) {
    const Tensor &rois = op->Input(roi_input), &scores = op->Input(score_input);
    const int64_t rows = rois.dim() == 0 ? 0 : rois.dims()[0];
    // No rois may have any number of columns.
    CAFFE_ENFORCE((rois.numel() == 0 && rows == 0) || (rois.dim() == 2 && rois.dims()[1] == 5),
                  "input ", roi_input, " (rois) has shape ", rois.sizes(), ", want [R, 5]");
    CAFFE_ENFORCE(scores.dim() >= 1 && scores.dims()[0] == rows && scores.numel() == rows, "input ",
                  score_input, " (scores) has shape ", scores.sizes(), ", want [", rows,
                  "], because input ", roi_input, " (rois) has shape ", rois.sizes());
    const float* const roi = rois.data<float>();
    const float* const score = scores.data<float>();
    rois_.insert(rois_.end(), roi, roi + rois.numel());
    scores_.insert(scores_.end(), score, score + rows);
  }

  const int64_t levels_;
  const int top_;
  ScoreOrder by_score_;
  std::vector<float> rois_, scores_;
};

// Divides proposals among levels.
class Distributor {
 public:
  explicit Distributor(const ArgumentHelper& args)
      : low_(args.Read(kFpnMinLevel)),
        levels_(CountLevels(low_, args.Read(kFpnMaxLevel), kFpnMinLevel.name, kFpnMaxLevel.name)),
        canonical_scale_(static_cast<float>(args.Read(kFpnCanonicalScale))),
        canonical_level_(static_cast<float>(args.Read(kFpnCanonicalLevel))),
        one_(args.Read(kBoxLegacyPlusOne) ? 1.0f : 0.0f) {}

  // Writes the rois of each level and their places to the outputs from `first` on.
  void Run(Operator<CPUContext>* op, const Tensor& rois, int first) {
    CAFFE_ENFORCE_EQ(op->OutputSize() - first - 1, levels_,
                     "number of outputs with the rois of a level, want one for each level");
    CAFFE_ENFORCE(rois.dim() == 2 && (rois.dims()[1] == 4 || rois.dims()[1] == 5),
                  "input 0 (rois) has shape ", rois.sizes(), ", want [R, 5] or [R, 4]");
    const int64_t rows = rois.dims()[0], columns = rois.dims()[1];
    const float* const roi = rois.data<float>();
    counts_.assign(static_cast<size_t>(levels_), 0);
    of_row_.clear();
    for (int64_t i = 0; i < rows; ++i) {
      of_row_.push_back(LevelOf(roi + (i + 1) * columns - 4, i));
      ++counts_[of_row_.back()];
    }
    places_.clear();
    to_.clear();
    int64_t place = 0;
    for (size_t level = 0; level < counts_.size(); ++level) {
      const int64_t dims[] = {counts_[level], 5};
      to_.push_back(op->OutputData<float>(first + static_cast<int>(level), dims));
      places_.push_back(place);
      place += counts_[level];
    }
    const int64_t dims[] = {rows};
    int32_t* const restore = op->OutputData<int32_t>(first + static_cast<int>(levels_), dims);
    for (int64_t i = 0; i < rows; ++i) {
      const size_t level = of_row_[static_cast<size_t>(i)];
      if (columns == 4) *to_[level]++ = 0;  // the image
      to_[level] = std::copy_n(roi + i * columns, columns, to_[level]);
      restore[i] = static_cast<int32_t>(places_[level]++);
    }
  }

 private:
  // The index of the level of a box.
  size_t LevelOf(const float* box, int64_t row) const {
    const float area = (box[2] - box[0] + one_) * (box[3] - box[1] + one_);
    CAFFE_ENFORCE(area >= 0, "row ", row, " of the rois has area ", area,
                  ", want x2 and y2 not below x1 and y1");
    const float size = std::sqrt(area) / canonical_scale_;
    const float level =
        std::floor(canonical_level_ + std::log2(size + 1e-6f)) - static_cast<float>(low_);
    // As in Caffe2, a box of infinite size belongs to the first level.
    if (std::isinf(level)) return 0;
    return static_cast<size_t>(ClampedIndex(level, levels_ - 1));
  }

  const int low_;
  const int64_t levels_;
  const float canonical_scale_;
  const float canonical_level_;
  const float one_;
  std::vector<size_t> of_row_;
  std::vector<int64_t> counts_, places_;
  std::vector<float*> to_;
};

class CollectRpnProposalsOp final : public Operator<CPUContext> {
 public:
  CollectRpnProposalsOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), collector_(args()) {}
  bool RunOnDevice() override {
    collector_.Run(this);
    return true;
  }

 private:
  Collector collector_;
};

class DistributeFpnProposalsOp final : public Operator<CPUContext> {
 public:
  DistributeFpnProposalsOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), distributor_(args()) {}
  bool RunOnDevice() override {
    distributor_.Run(this, Input(0), 0);
    return true;
  }

 private:
  Distributor distributor_;
};

class CollectAndDistributeFpnRpnProposalsOp final : public Operator<CPUContext> {
 public:
  CollectAndDistributeFpnRpnProposalsOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), collector_(args()), distributor_(args()) {}
  bool RunOnDevice() override {
    distributor_.Run(this, collector_.Run(this), 1);
    return true;
  }

 private:
  Collector collector_;
  Distributor distributor_;
};

std::vector<TensorShape> InferNothing(const OperatorDef& def, const std::vector<TensorShape>&) {
  return UnknownOutputs(def);
}

constexpr const char kInputsDoc[] =
    "the rois [R, 5] (image, x1, y1, x2, y2) of every level from rpn_min_level to rpn_max_level, "
    "then their scores [R]";
constexpr const char kLevelsDoc[] =
    "the rois [R, 5] of every level from roi_min_level to roi_max_level, then int32 [R]: the place "
    "of each "
    "of the rois in those of all levels";

}  // namespace

void RegisterCollectAndDistributeFpnRpnProposals() {
  RegisterSchema("CollectRpnProposals", __FILE__)
      .NumInputs(2, INT_MAX)
      .NumOutputs(1)
      .Args(kFpnInputMaxLevel, kFpnInputMinLevel, kFpnPostNmsTopN)
      .Input(0, "rpn_rois, rpn_roi_probs", kInputsDoc)
      .Output(0, "rois", "[R, 5]: the best rois of all levels, in descending order of their scores")
      .TensorInferenceFunction(InferNothing)
      .SetDoc("Merges the proposals of all levels of a feature pyramid network.");
  RegisterCpuOperator<CollectRpnProposalsOp>("CollectRpnProposals", __FILE__);

  RegisterSchema("DistributeFpnProposals", __FILE__)
      .NumInputs(1)
      .NumOutputs(2, INT_MAX)
      .Args(kFpnCanonicalScale, kFpnCanonicalLevel, kFpnMaxLevel, kFpnMinLevel, kBoxLegacyPlusOne)
      .Input(0, "rois", "[R, 5]: image, x1, y1, x2, y2; or [R, 4], without the image, of image 0")
      .Output(0, "rois_fpn, rois_idx_restore", kLevelsDoc)
      .TensorInferenceFunction(InferNothing)
      .SetDoc("Divides proposals among the levels of a feature pyramid network, by their sizes.");
  RegisterCpuOperator<DistributeFpnProposalsOp>("DistributeFpnProposals", __FILE__);

  RegisterSchema("CollectAndDistributeFpnRpnProposals", __FILE__)
      .NumInputs(2, INT_MAX)
      .NumOutputs(3, INT_MAX)
      .Args(kFpnInputMaxLevel, kFpnInputMinLevel, kFpnPostNmsTopN)
      .Args(kFpnCanonicalScale, kFpnCanonicalLevel, kFpnMaxLevel, kFpnMinLevel, kBoxLegacyPlusOne)
      .Input(0, "rpn_rois, rpn_roi_probs", kInputsDoc)
      .Output(0, "rois", "[R, 5]: the best rois of all levels, in descending order of their scores")
      .Output(1, "rois_fpn, rois_idx_restore", kLevelsDoc)
      .TensorInferenceFunction(InferNothing)
      .SetDoc(
          "Merges the proposals of all levels of a feature pyramid network, and divides the best "
          "of "
          "them among levels again, by their sizes.");
  RegisterCpuOperator<CollectAndDistributeFpnRpnProposalsOp>("CollectAndDistributeFpnRpnProposals",
                                                             __FILE__);
  for (const char* const type :
       {"CollectRpnProposals", "DistributeFpnProposals", "CollectAndDistributeFpnRpnProposals"}) {
    // The boxes of a detector are not trained through.
    RegisterGradient<ThrowInTheTowelIfGradientIsCalled>(type, __FILE__);
  }
}

}  // namespace caffe2rt
