// GenerateProposals: turns the output of a region proposal network into boxes. GenerateProposalsCPP
// is the same.
//   scores [N, A, H, W], deltas [N, A * 4, H, W], im_info [N, 3] (height, width, scale),
//   anchors [A, 4]
//   ->  rois [R, 5] (image, x1, y1, x2, y2), their scores [R]
// The anchors are shifted to every position of the map. The best pre_nms_topN boxes of an image are
// decoded, clipped to the image, whose size is truncated, and, if they are not too small, selected by non-maximum suppression.
// Rotated anchors and boxes have five numbers, and rois six.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"
#include "operators/detection/box_decoder.h"
#include "operators/detection/box_suppression.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<float> kProposalsSpatialScale{"spatial_scale", 1.0f / 16,
                                                     "positions of the map per pixel of the image"};
constexpr ArgumentSpec<int> kProposalsPreNmsTopN{
    "pre_nms_topN", 6000, "boxes of an image before the suppression; not above 0: all"};
constexpr ArgumentSpec<int> kProposalsPostNmsTopN{
    "post_nms_topN", 300, "boxes of an image after the suppression; not above 0: all"};
constexpr ArgumentSpec<float> kProposalsNmsThresh{
    "nms_thresh", 0.7f, "boxes that overlap a better one more than this are dropped"};
constexpr ArgumentSpec<float> kProposalsMinSize{
    "min_size", 16.0f, "the least width and height of a box, before the image was scaled"};
constexpr ArgumentSpec<bool> kProposalsCorrectCoords{
    "correct_transform_coords", false, "has no effect: the coordinates are always correct"};

struct ProposalMap {
  int64_t images = 0, anchors = 0, height = 0, width = 0;
  int64_t positions() const { return height * width; }
  int64_t boxes() const { return anchors * positions(); }  // of an image
};

class GenerateProposalsOp final : public Operator<CPUContext> {
 public:
  using Context = CPUContext;
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  GenerateProposalsOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        decoder_(ReadBoxDecoder(args())),
        stride_(1 / ReadArgument(kProposalsSpatialScale)),
        pre_nms_top_n_(ReadArgument(kProposalsPreNmsTopN)),
        post_nms_top_n_(ReadArgument(kProposalsPostNmsTopN)),
        nms_thresh_(ReadArgument(kProposalsNmsThresh)),
        min_size_(ReadArgument(kProposalsMinSize)) {}

  bool RunOnDevice() override {
    const Tensor &scores = Input(0), &deltas = Input(1), &info = Input(2), &anchors = Input(3);
    CheckShapes(scores.sizes(), deltas.sizes(), info.sizes(), anchors.sizes());
    const float* const score = scores.data<float>();
    const float* const delta = deltas.data<float>();
    const float* const image = info.data<float>();
    const float* const anchor = anchors.data<float>();
    const int64_t dim = decoder_.dim();
    rois_.clear();
    probabilities_.clear();
    for (int64_t n = 0; n < map_.images; ++n) {
      Decode(score + n * map_.boxes(), delta + n * map_.boxes() * dim, image + n * 3, anchor);
      SelectInto(static_cast<float>(n));
    }
    const int64_t count = static_cast<int64_t>(probabilities_.size());
    const int64_t dims[] = {count, dim + 1}, probability_dims[] = {count};
    std::copy(rois_.begin(), rois_.end(), OutputData<float>(0, dims));
    std::copy(probabilities_.begin(), probabilities_.end(), OutputData<float>(1, probability_dims));
    return true;
  }

 private:
  void CheckShapes(IntArrayRef scores, IntArrayRef deltas, IntArrayRef info, IntArrayRef anchors) {
    CAFFE_ENFORCE_EQ(scores.size(), 4u, "rank of input 0 (scores) of shape ", scores);
    map_ = {scores[0], scores[1], scores[2], scores[3]};
    CAFFE_ENFORCE(
        anchors.size() == 2 && anchors[0] == map_.anchors && (anchors[1] == 4 || anchors[1] == 5),
        "input 3 (anchors) has shape ", anchors, ", want [", map_.anchors, ", 4], or [",
        map_.anchors, ", 5] with rotated anchors");
    decoder_.rotated = anchors[1] == 5;
    const int64_t dim = decoder_.dim();
    CAFFE_ENFORCE(deltas.size() == 4 && deltas[0] == scores[0] && deltas[1] == dim * scores[1] &&
                      deltas[2] == scores[2] && deltas[3] == scores[3],
                  "input 1 (bbox_deltas) has shape ", deltas, ", want ", dim,
                  " times the channels of input 0 (scores) of shape ", scores);
    CAFFE_ENFORCE(info.size() == 2 && info[0] == map_.images && info[1] == 3,
                  "input 2 (im_info) has shape ", info, ", want [", map_.images,
                  ", 3]: height, width and scale of each image");
    CAFFE_ENFORCE(map_.images == 0 || (map_.boxes() > 0 && map_.boxes() < INT32_MAX),
                  "input 0 (scores) has shape ", scores,
                  ", want at least one score for each image, and less than 2147483647");
    if (map_.images > 0) decoder_.Check();
  }

  // Decodes the best boxes of an image and keeps those that are large enough and in the image.
  void Decode(const float* scores, const float* deltas, const float* image, const float* anchors) {
    const int64_t dim = decoder_.dim(), positions = map_.positions();
    const std::vector<int32_t>& order = by_score_.Sort(scores, map_.boxes(), pre_nms_top_n_, false);
    boxes_.resize(order.size() * static_cast<size_t>(dim));
    scores_.clear();
    float* out = boxes_.data();
    for (const int32_t i : order) {
      const int64_t anchor = i / positions, position = i % positions;
      const float shifts[] = {static_cast<float>(position % map_.width) * stride_,
                              static_cast<float>(position / map_.width) * stride_};
      float box[5], delta[5];
      for (int64_t k = 0; k < dim; ++k) {
        box[k] = anchors[anchor * dim + k];
        if (k < (decoder_.rotated ? 2 : 4)) box[k] += shifts[k % 2];
        delta[k] = deltas[(anchor * dim + k) * positions + position];
      }
      decoder_.Decode(box, delta, out);
      decoder_.Clip(std::trunc(image[0]), std::trunc(image[1]), out);
      if (!IsLargeAndInside(out, image)) continue;
      scores_.push_back(scores[i]);
      out += dim;
    }
  }

  bool IsLargeAndInside(const float* box, const float* image) const {
    const float least = min_size_ * image[2];
    for (int axis = 0; axis < 2; ++axis) {
      const bool rotated = decoder_.rotated;
      const float size = rotated ? box[2 + axis] : box[2 + axis] - box[axis] + decoder_.one;
      const float center = rotated ? box[axis] : box[axis] + size / 2;
      if (!(size >= least) || !(center < image[1 - axis])) return false;
    }
    return true;
  }

  // Adds the boxes that the suppression selects to the result.
  void SelectInto(float image) {
    const int64_t dim = decoder_.dim(), count = static_cast<int64_t>(scores_.size());
    for (int32_t i = static_cast<int32_t>(rows_.size()); i < count; ++i) rows_.push_back(i);
    const SuppressionRule rule{decoder_.rotated, decoder_.one, nms_thresh_};
    for (const int32_t row : suppressor_.Select(rule, boxes_.data(), rows_.data(), count,
                                                std::max(post_nms_top_n_, 0))) {
      rois_.push_back(image);
      const float* const box = boxes_.data() + row * dim;
      rois_.insert(rois_.end(), box, box + dim);
      probabilities_.push_back(scores_[static_cast<size_t>(row)]);
    }
  }

  BoxDecoder decoder_;
  const float stride_;  // pixels between positions
  const int pre_nms_top_n_;
  const int post_nms_top_n_;
  const float nms_thresh_;
  const float min_size_;
  ProposalMap map_;
  ScoreOrder by_score_;
  BoxSuppressor suppressor_;
  std::vector<float> boxes_, scores_;  // of an image
  std::vector<int32_t> rows_;          // 0, 1, 2, ...
  std::vector<float> rois_, probabilities_;
};

}  // namespace

void RegisterGenerateProposals() {
  for (const char* const type : {"GenerateProposals", "GenerateProposalsCPP"}) {
    RegisterSchema(type, __FILE__)
        .NumInputs(4)
        .NumOutputs(2)
        .Args(kProposalsSpatialScale, kProposalsPreNmsTopN, kProposalsPostNmsTopN,
              kProposalsNmsThresh, kProposalsMinSize, kProposalsCorrectCoords)
        .Args(kBoxLegacyPlusOne, kBoxAngleBoundOn, kBoxAngleBoundLo, kBoxAngleBoundHi,
              kBoxClipAngleThresh)
        .Input(0, "scores", "[N, A, H, W]")
        .Input(1, "bbox_deltas", "[N, A * 4, H, W]; with rotated anchors [N, A * 5, H, W]")
        .Input(2, "im_info", "[N, 3]: height, width and scale of each image")
        .Input(3, "anchors", "[A, 4]: x1, y1, x2, y2; or [A, 5]: center x, y, width, height, angle")
        .Output(0, "rois", "[R, 5]: image, x1, y1, x2, y2; with rotated anchors [R, 6]")
        .Output(1, "rois_probs", "[R]: their scores, in descending order for each image")
        .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>&) {
          return UnknownOutputs(def);
        })
        .SetDoc(
            "Generates the proposals of a region proposal network: decodes the best anchors, clips "
            "them to the image, drops small ones, and applies non-maximum suppression.");
    RegisterCpuOperator<GenerateProposalsOp>(type, __FILE__);
    // The boxes of a detector are not trained through.
    RegisterGradient<ThrowInTheTowelIfGradientIsCalled>(type, __FILE__);
  }
}

}  // namespace caffe2rt
