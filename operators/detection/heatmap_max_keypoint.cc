// HeatmapMaxKeypoint: the place of the maximum of each heatmap, in the coordinates of its box.
//   heatmaps [N, K, S, S] float, S at least 2; bboxes [N, 4 or more] float: x0, y0, x1, y1
//   ->  keypoints [N, 4, K] float: x, y, score, probability
// The place is the extremum of the quadratic surface through the greatest pixel and its neighbours. Outside the map,
// it is reflected at its outer pixels.
#include <algorithm>
#include <cmath>
#include <utility>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<bool> kKeypointSoftmax{
    "should_output_softmax", false,
    "1: the probability is the softmax of the heatmap at its maximum; 0: it is 0"};

struct Keypoint {
  double x, y;  // in pixels of the heatmap
  float score, probability;
};

// The step from the pixel (x, y) to the extremum of the surface through it and its neighbours. *rise is the
// difference of the surface.
std::pair<double, double> StepToExtremum(const float* map, int64_t size, int64_t x, int64_t y,
                                         double* rise) {
  const auto at = [&](int64_t dx, int64_t dy) -> double {
    const int64_t column = x + dx < 0 || x + dx >= size ? x - dx : x + dx;
    const int64_t row = y + dy < 0 || y + dy >= size ? y - dy : y + dy;
    return static_cast<double>(map[row * size + column]);
  };
  const double center = at(0, 0);
  const double gx = (at(1, 0) - at(-1, 0)) / 2, gy = (at(0, 1) - at(0, -1)) / 2;
  const double xx = at(1, 0) + at(-1, 0) - 2 * center, yy = at(0, 1) + at(0, -1) - 2 * center;
  const double xy = (at(1, 1) - at(-1, 1) - at(1, -1) + at(-1, -1)) / 4;
  // A surface that is flat in a direction has no extremum.
  const double determinant = xx * yy - xy * xy;
  std::pair<double, double> step{(xy * gy - yy * gx) / determinant,
                                 (xy * gx - xx * gy) / determinant};
  auto& [dx, dy] = step;
  if (determinant == 0 || !std::isfinite(dx) || !std::isfinite(dy)) step = {0, 0};
  constexpr double kFarthest = 1.5;  // outside, the neighbours say nothing about the surface
  const double farther = std::max(std::abs(dx), std::abs(dy));
  if (farther > kFarthest) {
    dx *= kFarthest / farther;
    dy *= kFarthest / farther;
  }
  *rise = gx * dx + gy * dy + (xx * dx * dx + 2 * xy * dx * dy + yy * dy * dy) / 2;
  return step;
}

Keypoint FindKeypoint(const float* map, int64_t size, bool softmax) {
  int64_t best = 0;
  for (int64_t i = 1; i < size * size; ++i) {
    if (map[i] > map[best] || (std::isnan(map[best]) && !std::isnan(map[i]))) best = i;
  }
  double rise = 0;
  const auto [dx, dy] = StepToExtremum(map, size, best % size, best / size, &rise);
  Keypoint keypoint{.x = static_cast<double>(best % size) + 0.5 + dx,
                    .y = static_cast<double>(best / size) + 0.5 + dy,
                    .score = static_cast<float>(static_cast<double>(map[best]) + rise),
                    .probability = 0};
  if (softmax) {
    double sum = 0;
    for (int64_t i = 0; i < size * size; ++i) {
      sum += static_cast<double>(std::exp(map[i] - map[best]));
    }
    keypoint.probability = static_cast<float>(1 / sum);
  }
  return keypoint;
}

void CheckHeatmaps(IntArrayRef heatmaps) {
  CAFFE_ENFORCE(heatmaps.size() == 4 && heatmaps[2] == heatmaps[3] && heatmaps[2] >= 2,
                "input 0 (heatmaps) has shape ", heatmaps, ", want [N, K, S, S] with S at least 2");
}

class HeatmapMaxKeypointOp final : public Operator<CPUContext> {
 public:
  HeatmapMaxKeypointOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), softmax_(ReadArgument(kKeypointSoftmax)) {}

  bool RunOnDevice() override {
    const Tensor& heatmaps = Input(0);
    const Tensor& boxes = Input(1);
    CheckHeatmaps(heatmaps.sizes());
    const int64_t n = heatmaps.dim(0), keypoints = heatmaps.dim(1), size = heatmaps.dim(2);
    CAFFE_ENFORCE(boxes.dim() == 2 && boxes.dim(0) == n && boxes.dim(1) >= 4,
                  "input 1 (bboxes) has shape ", boxes.sizes(), ", want ", n,
                  " rows of at least 4 elements");
    RequireElements<float>(heatmaps);
    const float* box = boxes.data<float>();
    const float* map = heatmaps.data<float>();
    float* y = OutputData<float>(0, {n, 4, keypoints});
    for (int64_t i = 0; i < n; ++i, box += boxes.dim(1), y += 4 * keypoints) {
      const double width = std::max(1.0f, box[2] - box[0]),
                   height = std::max(1.0f, box[3] - box[1]);
      for (int64_t k = 0; k < keypoints; ++k, map += size * size) {
        const Keypoint keypoint = FindKeypoint(map, size, softmax_);
        const auto count = static_cast<double>(size);
        y[k] = static_cast<float>(static_cast<double>(box[0]) + keypoint.x * (width / count));
        y[keypoints + k] =
            static_cast<float>(static_cast<double>(box[1]) + keypoint.y * (height / count));
        y[2 * keypoints + k] = keypoint.score;
        y[3 * keypoints + k] = keypoint.probability;
      }
    }
    return true;
  }

 private:
  const bool softmax_;
};

}  // namespace

void RegisterHeatmapMaxKeypoint() {
  RegisterSchema("HeatmapMaxKeypoint", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Arg(kKeypointSoftmax)
      .Input(0, "heatmaps", "[N, K, S, S] float, S at least 2: a map for each box and keypoint")
      .Input(1, "bboxes", "[N, 4 or more] float: x0, y0, x1, y1 of the boxes")
      .Output(0, "keypoints", "[N, 4, K] float: x, y, score and probability of each keypoint")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) return UnknownOutputsOfInputType(def, in);
        const std::vector<int64_t> dims = GetDimsVector(in[0]);
        CheckHeatmaps(dims);
        return std::vector<TensorShape>{
            CreateTensorShape(std::vector<int64_t>{dims[0], 4, dims[1]}, in[0].data_type())};
      })
      .SetDoc(
          "Finds the maximum of each heatmap, refines its place by the quadratic surface through "
          "it "
          "and its neighbours, and converts it to the coordinates of the box. The score is that of "
          "the surface. A box is at least 1 wide and high.");
  RegisterCpuOperator<HeatmapMaxKeypointOp>("HeatmapMaxKeypoint", __FILE__);
  // It is used after the training.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("HeatmapMaxKeypoint", __FILE__);
}

}  // namespace caffe2rt
