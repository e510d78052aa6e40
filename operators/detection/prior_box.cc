#include "operators/detection/prior_box.h"

#include <algorithm>
#include <cmath>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
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

std::vector<TensorShape> InferPriorBox(const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1) || in[0].dims_size() != 4) return UnknownOutputs(def);
  const auto sizes = static_cast<int64_t>(ReadPriorBoxes(ArgumentHelper(def)).sizes.size());
  const int64_t count =
      CheckedProduct(std::vector<int64_t>{in[0].dims(2), in[0].dims(3), sizes, 4});
  return {CreateTensorShape(std::vector<int64_t>{1, 2, count}, TensorProto::FLOAT)};
}

}  // namespace

PriorBoxes ReadPriorBoxes(const ArgumentHelper& args) {
  PriorBoxes boxes;
  ReadSizes(args, &boxes);
  std::vector<float> variances = args.Read(kPriorVariances);
  CAFFE_ENFORCE(variances.size() <= 1 || variances.size() == 4, "argument variance has ",
                variances.size(), " values, want 1 or 4");
  if (variances.empty()) variances = {0.1f};
  variances.resize(4, variances[0]);
  PriorBoxMap& map = boxes.map;
  std::copy_n(variances.data(), 4, map.variances);
  map.boxes = static_cast<int64_t>(boxes.sizes.size());
  map.clip = args.Read(kPriorClip);
  map.image_h = static_cast<float>(args.Read(kPriorImageHeight));
  map.image_w = static_cast<float>(args.Read(kPriorImageWidth));
  map.step_h = args.Read(kPriorStepHeight);
  map.step_w = args.Read(kPriorStepWidth);
  map.offset = args.Read(kPriorOffset);
  return boxes;
}

PriorBoxMap PriorBoxMapOf(const PriorBoxes& boxes, IntArrayRef map, IntArrayRef image) {
  CAFFE_ENFORCE_EQ(map.size(), 4u, "rank of input 0 (X) of shape ", map);
  CAFFE_ENFORCE_EQ(image.size(), 4u, "rank of input 1 (image) of shape ", image);
  PriorBoxMap made = boxes.map;
  made.height = map[2];
  made.width = map[3];
  (void)CheckedProduct(std::vector<int64_t>{made.height, made.width, made.boxes});
  if (made.image_h == 0 || made.image_w == 0) {
    made.image_h = static_cast<float>(image[2]);
    made.image_w = static_cast<float>(image[3]);
  }
  if (made.step_h == 0 || made.step_w == 0) {
    made.step_h = made.image_h / static_cast<float>(made.height);
    made.step_w = made.image_w / static_cast<float>(made.width);
  }
  return made;
}

void MakePriorBoxes(CPUContext&, const PriorBoxMap& map, const PriorBoxSize* sizes, float* y) {
  for (int64_t row = 0; row < map.height; ++row) {
    for (int64_t column = 0; column < map.width; ++column) {
      for (int64_t box = 0; box < map.boxes; ++box) map.Write(row, column, box, sizes[box], y);
    }
  }
}

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
  RegisterCpuOperator<PriorBoxOp<CPUContext>>("PriorBox", __FILE__);
  // The boxes depend on shapes only.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("PriorBox", __FILE__);
}

}  // namespace caffe2rt
