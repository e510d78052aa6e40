// NonMaxSuppression: ONNX's operator (opset 11): the best boxes of each class that overlap no better
// one too much.
//   boxes float [N, B, 4], scores float [N, C, B], max_output_boxes_per_class, iou_threshold,
//   score_threshold (arguments, or inputs 2 to 4 of one element)
//   ->  int64 [selected, 3]: image, class, box; by image, class and descending score
//
// Boxes are two opposite corners (y1, x1, y2, x2) in any order, or with center_point_box 1 the centre
// and the size (x, y, width, height). A box is selected if its score is above the threshold, and its
// intersection over union with each selected box of the class is not above the other one. Of equal
// scores, the box with the lower number comes first. An input without elements counts as not given.

#include <algorithm>
#include <limits>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/integer_input.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<bool> kSuppressionCenterPoint{
    "center_point_box", false, "1: boxes are centre and size (x, y, width, height)"};
constexpr ArgumentSpec<int64_t> kSuppressionMost{"max_output_boxes_per_class", 0,
                                                 "the most boxes to select of a class of an image"};
constexpr ArgumentSpec<float> kSuppressionOverlap{
    "iou_threshold",
    0.0f,
    "boxes with more overlap (intersection over union) are suppressed",
    {[](float overlap) { return overlap >= 0 && overlap <= 1; }, "0 to 1"}};
constexpr ArgumentSpec<float> kSuppressionScore{
    "score_threshold", -std::numeric_limits<float>::infinity(),
    "boxes with no more than this score are not selected"};

struct CornerBox {
  float y1, x1, y2, x2;

  CornerBox(const float* box, bool center) {
    if (center) {
      y1 = box[1] - box[3] / 2, y2 = box[1] + box[3] / 2;
      x1 = box[0] - box[2] / 2, x2 = box[0] + box[2] / 2;
    } else {
      y1 = std::min(box[0], box[2]), y2 = std::max(box[0], box[2]);
      x1 = std::min(box[1], box[3]), x2 = std::max(box[1], box[3]);
    }
  }
  float area() const { return (y2 - y1) * (x2 - x1); }
  bool Overlaps(const CornerBox& other, float threshold) const {
    const float height = std::min(y2, other.y2) - std::max(y1, other.y1);
    const float width = std::min(x2, other.x2) - std::max(x1, other.x1);
    if (!(height > 0) || !(width > 0)) return false;
    const float both = height * width, all = area() + other.area() - both;
    return all > 0 && both / all > threshold;
  }
};

class NonMaxSuppressionOp final : public Operator<CPUContext> {
 public:
  NonMaxSuppressionOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        center_(ReadArgument(kSuppressionCenterPoint)),
        most_(ReadArgument(kSuppressionMost)),
        overlap_(ReadArgument(kSuppressionOverlap)),
        score_(ReadArgument(kSuppressionScore)) {}

  bool RunOnDevice() override {
    const Tensor& boxes = Input(0);
    const Tensor& scores = Input(1);
    CAFFE_ENFORCE(boxes.dim() == 3 && boxes.dim(2) == 4, "input 0 (boxes) has shape ",
                  boxes.sizes(), ", want [images, boxes, 4]");
    CAFFE_ENFORCE(
        scores.dim() == 3 && scores.dim(0) == boxes.dim(0) && scores.dim(2) == boxes.dim(1),
        "input 1 (scores) has shape ", scores.sizes(),
        ", want [images, classes, boxes] for input 0 (boxes) of shape ", boxes.sizes());
    RequireElements<float>(boxes);
    RequireElements<float>(scores);
    const int64_t most = IntegerOf(*this, 2, "input 2 (max_output_boxes_per_class)", most_);
    const float overlap = Threshold(3, "input 3 (iou_threshold)", overlap_);
    const float least = Threshold(4, "input 4 (score_threshold)", score_);
    CAFFE_ENFORCE(overlap >= 0 && overlap <= 1, "input 3 (iou_threshold) is ", overlap,
                  ", want 0 to 1");
    selected_.clear();
    const int64_t images = scores.dim(0), classes = scores.dim(1), count = scores.dim(2);
    for (int64_t i = 0; most > 0 && count > 0 && i < images; ++i) {
      for (int64_t c = 0; c < classes; ++c) {
        const float* const score = scores.data<float>() + (i * classes + c) * count;
        Rank(score, count, least);
        Select(i, c, boxes.data<float>() + i * count * 4, most, overlap);
      }
    }
    int64_t* const y = OutputData<int64_t>(0, {static_cast<int64_t>(selected_.size() / 3), 3});
    std::copy(selected_.begin(), selected_.end(), y);
    return true;
  }

 private:
  float Threshold(int input, const char* subject, float argument) const {
    if (!IsGiven(*this, input)) return argument;
    CAFFE_ENFORCE_EQ(Input(input).numel(), 1, "elements of ", subject, ", want one");
    return *Input(input).data<float>();
  }
  // The boxes with enough score, best first. NaN is no score.
  void Rank(const float* score, int64_t count, float least) {
    order_.clear();
    for (int64_t b = 0; b < count; ++b) {
      const bool any = least == -std::numeric_limits<float>::infinity();
      if (score[b] > least || (any && score[b] == least)) order_.push_back(b);
    }
    std::sort(order_.begin(), order_.end(), [score](int64_t a, int64_t b) {
      return score[a] != score[b] ? score[a] > score[b] : a < b;
    });
  }
  void Select(int64_t image, int64_t type, const float* boxes, int64_t most, float overlap) {
    kept_.clear();
    for (const int64_t b : order_) {
      if (static_cast<int64_t>(kept_.size()) >= most) return;
      const CornerBox box(boxes + b * 4, center_);
      const bool suppressed = std::any_of(kept_.begin(), kept_.end(), [&](const CornerBox& better) {
        return box.Overlaps(better, overlap);
      });
      if (suppressed) continue;
      kept_.push_back(box);
      selected_.insert(selected_.end(), {image, type, b});
    }
  }

  const bool center_;
  const int64_t most_;
  const float overlap_, score_;
  std::vector<int64_t> order_, selected_;
  std::vector<CornerBox> kept_;
};

}  // namespace

void RegisterNonMaxSuppression() {
  RegisterSchema("NonMaxSuppression", __FILE__)
      .NumInputs(2, 5)
      .NumOutputs(1)
      .Args(kSuppressionCenterPoint, kSuppressionMost, kSuppressionOverlap, kSuppressionScore)
      .Input(0, "boxes", "float [N, B, 4]")
      .Input(1, "scores", "float [N, C, B]")
      .Input(2, "max_output_boxes_per_class",
             "(optional) one int32 or int64, instead of the argument")
      .Input(3, "iou_threshold", "(optional) one float, instead of the argument")
      .Input(4, "score_threshold", "(optional) one float, instead of the argument")
      .Output(0, "selected", "int64 [selected, 3]: image, class and box")
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>&) {
        TensorShape shape = UnknownShape();
        shape.set_data_type(TensorProto::INT64);
        return std::vector<TensorShape>{shape};
      })
      .InheritOnnxSchema()
      .Traits({.family = OperatorFamily::kOther,
               .no_shape_reason = "the number of boxes depends on the values of its inputs"})
      .SetDoc(
          "Selects the best boxes of each class that do not overlap better ones too much, as "
          "ONNX's "
          "NonMaxSuppression does.");
  RegisterCpuOperator<NonMaxSuppressionOp>("NonMaxSuppression", __FILE__);
  // The output is indices.
  RegisterGradient<NoGradient>("NonMaxSuppression", __FILE__);
}

}  // namespace caffe2rt
