// PriorBox: the boxes of SSD around each position of a map.
//   X [N, C, H, W], image [N, C, h, w] (only their shapes are used)  ->  Y [1, 2, H * W * boxes * 4]
// The first row has the boxes (x1, y1, x2, y2 in parts of the image), the second their variances.
// The boxes of a position, for each of the sizes: min_size; if there are max_sizes,
// sqrt(min_size * max_size); then min_size with each aspect ratio other than 1. Sizes are truncated
// to integers first, as in Caffe's fork for SSD.

#include <algorithm>
#include <cmath>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

constexpr RepeatedArgumentSpec<float> kPriorMinSizes{"min_size", "sizes in pixels; truncated"};
constexpr RepeatedArgumentSpec<float> kPriorMaxSizes{
    "max_size", "larger sizes in pixels, one for each of min_size; truncated"};
constexpr RepeatedArgumentSpec<float> kPriorRatios{
    "aspect_ratio", "width / height of further boxes; 1 and repetitions have no effect"};
constexpr ArgumentSpec<bool> kPriorFlip{"flip", true, "1: a box with 1 / r after each ratio r"};
constexpr ArgumentSpec<bool> kPriorClip{"clip", false, "1: limit the boxes to the image"};
constexpr RepeatedArgumentSpec<float> kPriorVariances{"variance", "1 or 4 values; default: 0.1"};
constexpr ArgumentSpec<int> kPriorImageHeight{"image_h", 0, "0: the height of input 1"};
constexpr ArgumentSpec<int> kPriorImageWidth{"image_w", 0, "0: the width of input 1"};
constexpr ArgumentSpec<float> kPriorStepHeight{
    "step_h", 0, "pixels between two rows of positions; 0: the height of the image / H"};
constexpr ArgumentSpec<float> kPriorStepWidth{
    "step_w", 0, "pixels between two positions of a row; 0: the width of the image / W"};
constexpr ArgumentSpec<float> kPriorOffset{"offset", 0.5f,
                                           "place of the first position, in steps from the corner"};

// The sizes of the boxes of a position, and what else the arguments say.
struct PriorBoxes {
  struct Size {
    float width = 0, height = 0;
  };
  std::vector<Size> sizes;
  std::vector<float> variances;
  bool clip = false;
  int64_t image_h = 0, image_w = 0;
  float step_h = 0, step_w = 0, offset = 0;
};

// 1, then the ratios that differ from those before them.
std::vector<float> DistinctRatios(const std::vector<float>& given, bool flip) {
  std::vector<float> ratios = {1};
  for (const float ratio : given) {
    CAFFE_ENFORCE(ratio > 0, "argument aspect_ratio has value ", ratio, ", want more than 0");
    const auto same = [&](float other) { return std::fabs(ratio - other) < 1e-6f; };
    if (std::any_of(ratios.begin(), ratios.end(), same)) continue;
    ratios.push_back(ratio);
    if (flip) ratios.push_back(1 / ratio);
  }
  return ratios;
}

void ReadSizes(const ArgumentHelper& args, PriorBoxes* boxes) {
  const std::vector<float> least = args.Read(kPriorMinSizes), most = args.Read(kPriorMaxSizes);
  CAFFE_ENFORCE(!least.empty(), "argument min_size is missing");
  CAFFE_ENFORCE(most.empty() || most.size() == least.size(), "argument max_size has ", most.size(),
                " values, want one for each of the ", least.size(), " of min_size");
  const std::vector<float> ratios = DistinctRatios(args.Read(kPriorRatios), args.Read(kPriorFlip));
  for (size_t i = 0; i < least.size(); ++i) {
    const float size = std::trunc(least[i]);
    CAFFE_ENFORCE(size > 0, "argument min_size has value ", least[i], ", want at least 1");
    boxes->sizes.push_back({size, size});
    if (!most.empty()) {
      CAFFE_ENFORCE(most[i] > least[i], "argument max_size has value ", most[i],
                    ", want more than min_size ", least[i]);
      const float larger = std::sqrt(size * std::trunc(most[i]));
      boxes->sizes.push_back({larger, larger});
    }
    for (size_t k = 1; k < ratios.size(); ++k) {
      const float root = std::sqrt(ratios[k]);
      boxes->sizes.push_back({size * root, size / root});
    }
  }
}

PriorBoxes ReadPriorBoxes(const ArgumentHelper& args) {
  PriorBoxes boxes;
  ReadSizes(args, &boxes);
  boxes.variances = args.Read(kPriorVariances);
  CAFFE_ENFORCE(boxes.variances.size() <= 1 || boxes.variances.size() == 4,
                "argument variance has ", boxes.variances.size(), " values, want 1 or 4");
  if (boxes.variances.empty()) boxes.variances = {0.1f};
  boxes.variances.resize(4, boxes.variances[0]);
  boxes.clip = args.Read(kPriorClip);
  boxes.image_h = args.Read(kPriorImageHeight);
  boxes.image_w = args.Read(kPriorImageWidth);
  boxes.step_h = args.Read(kPriorStepHeight);
  boxes.step_w = args.Read(kPriorStepWidth);
  boxes.offset = args.Read(kPriorOffset);
  return boxes;
}

// Writes the four numbers of a box in parts of the image.
void WriteBox(const PriorBoxes& boxes, const PriorBoxes::Size& size, float x, float y, float* to) {
  const auto width = static_cast<float>(boxes.image_w), height = static_cast<float>(boxes.image_h);
  to[0] = (x - size.width / 2) / width;
  to[1] = (y - size.height / 2) / height;
  to[2] = (x + size.width / 2) / width;
  to[3] = (y + size.height / 2) / height;
  if (!boxes.clip) return;
  for (int i = 0; i < 4; ++i) to[i] = std::clamp(to[i], 0.0f, 1.0f);
}

class PriorBoxOp final : public Operator<CPUContext> {
 public:
  using Context = CPUContext;
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  PriorBoxOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), boxes_(ReadPriorBoxes(args())) {}

  bool RunOnDevice() override {
    const IntArrayRef map = Input(0).sizes(), image = Input(1).sizes();
    CAFFE_ENFORCE_EQ(map.size(), 4u, "rank of input 0 (X) of shape ", map);
    CAFFE_ENFORCE_EQ(image.size(), 4u, "rank of input 1 (image) of shape ", image);
    PriorBoxes boxes = boxes_;
    if (boxes.image_h == 0 || boxes.image_w == 0) {
      boxes.image_h = image[2];
      boxes.image_w = image[3];
    }
    if (boxes.step_h == 0 || boxes.step_w == 0) {
      boxes.step_h = static_cast<float>(boxes.image_h) / static_cast<float>(map[2]);
      boxes.step_w = static_cast<float>(boxes.image_w) / static_cast<float>(map[3]);
    }
    const int64_t count = CheckedProduct(
        std::vector<int64_t>{map[2], map[3], static_cast<int64_t>(boxes.sizes.size())});
    const int64_t dims[] = {1, 2, CheckedMultiply<int64_t>(count, 4)};
    float* to = OutputData<float>(0, dims);
    for (int64_t h = 0; h < map[2]; ++h) {
      for (int64_t w = 0; w < map[3]; ++w) {
        const float x = (static_cast<float>(w) + boxes.offset) * boxes.step_w;
        const float y = (static_cast<float>(h) + boxes.offset) * boxes.step_h;
        for (const PriorBoxes::Size& size : boxes.sizes) {
          WriteBox(boxes, size, x, y, to);
          to += 4;
        }
      }
    }
    for (int64_t i = 0; i < count * 4; ++i) *to++ = boxes.variances[static_cast<size_t>(i % 4)];
    return true;
  }

 private:
  const PriorBoxes boxes_;
};

std::vector<TensorShape> InferPriorBox(const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1) || in[0].dims_size() != 4) return UnknownOutputs(def);
  const auto sizes = static_cast<int64_t>(ReadPriorBoxes(ArgumentHelper(def)).sizes.size());
  const int64_t count =
      CheckedProduct(std::vector<int64_t>{in[0].dims(2), in[0].dims(3), sizes, 4});
  return {CreateTensorShape(std::vector<int64_t>{1, 2, count}, TensorProto::FLOAT)};
}

}  // namespace

void RegisterPriorBox() {
  RegisterSchema("PriorBox", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Args(kPriorMinSizes, kPriorMaxSizes, kPriorRatios, kPriorFlip, kPriorClip, kPriorVariances,
            kPriorImageHeight, kPriorImageWidth, kPriorStepHeight, kPriorStepWidth, kPriorOffset)
      .Input(0, "X", "[N, C, H, W]: the map; only its shape is used")
      .Input(1, "image", "[N, C, h, w]: the image; only its shape is used")
      .Output(0, "Y", "[1, 2, H * W * boxes * 4]: the boxes x1, y1, x2, y2, then their variances")
      .TensorInferenceFunction(InferPriorBox)
      .SetDoc(
          "Creates the boxes of a single shot detector (SSD): boxes of several sizes and ratios "
          "around each position of a map, in parts of the image.");
  RegisterCpuOperator<PriorBoxOp>("PriorBox", __FILE__);
  // The boxes depend on shapes only.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("PriorBox", __FILE__);
}

}  // namespace caffe2rt
