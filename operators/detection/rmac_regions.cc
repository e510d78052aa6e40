// RMACRegions: the regions of an image at several scales, of which R-MAC takes the maxima (Tolias
// et al., Particular object retrieval with integral max-pooling of CNN activations).
//   X [N, C, H, W]  ->  RMAC_REGIONS float [M, 5]: image, x1, y1, x2, y2, both ends included
#include <algorithm>
#include <cmath>
#include <limits>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int> kRmacScales{"scales", 3, "the number of scales"};
constexpr ArgumentSpec<float> kRmacOverlap{
    "overlap", 0.4f, "the share of two neighbours that should overlap at the first scale"};

// How many more regions the longer side has than the shorter one: 1 to 6, by the overlap.
int64_t MoreRmacRegions(int64_t shorter, int64_t longer, float overlap) {
  if (shorter == longer) return 0;
  int64_t more = 0;
  float nearest = std::numeric_limits<float>::infinity();
  const auto side = static_cast<float>(shorter);
  for (int64_t steps = 1; steps <= 6; ++steps) {
    const float step = static_cast<float>(longer - shorter) / static_cast<float>(steps);
    const float miss = std::abs((side * side - side * step) / (side * side) - overlap);
    if (!(miss < nearest)) continue;
    nearest = miss;
    more = steps;
  }
  return more;
}

// The regions along one axis at one scale.
struct RmacAxis {
  RmacAxis(int64_t side, int64_t region, int64_t regions)
      : count(regions),
        side_(side),
        region_(region),
        step_(regions > 1 ? static_cast<float>(side - region) / static_cast<float>(regions - 1)
                          : 0.0f) {}
  int64_t First(int64_t i) const {
    const auto start = static_cast<int64_t>(step_ * static_cast<float>(i));
    return std::min(start, side_ - region_);
  }
  int64_t Last(int64_t i) const { return First(i) + region_ - 1; }

  int64_t count;

 private:
  int64_t side_, region_;
  float step_;
};

class RMACRegionsOp final : public Operator<CPUContext> {
 public:
  RMACRegionsOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        scales_(ReadArgument(kRmacScales)),
        overlap_(ReadArgument(kRmacOverlap)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_GE(X.dim(), 4, "rank of input 0 (X) of shape ", X.sizes());
    const int64_t batch = X.numel() == 0 ? 0 : X.dim(0), height = X.dim(2), width = X.dim(3);
    int64_t count = 0;
    if (batch > 0) {
      ForEachScale(height, width, [&](const RmacAxis& x, const RmacAxis& y) {
        count = CheckedAdd(count, CheckedMultiply(x.count, y.count));
      });
    }
    float* row = OutputData<float>(0, {CheckedMultiply(batch, count), 5});
    for (int64_t n = 0; n < batch; ++n) {
      ForEachScale(height, width, [&](const RmacAxis& x, const RmacAxis& y) {
        for (int64_t i = 0; i < x.count; ++i) {
          for (int64_t j = 0; j < y.count; ++j) {
            for (const int64_t value : {n, x.First(i), y.First(j), x.Last(i), y.Last(j)}) {
              *row++ = static_cast<float>(value);
            }
          }
        }
      });
    }
    return true;
  }

 private:
  // Scales whose regions would have no pixel have no regions.
  template <class Function>
  void ForEachScale(int64_t height, int64_t width, const Function& function) const {
    const int64_t shorter = std::min(height, width);
    const int64_t more = MoreRmacRegions(shorter, std::max(height, width), overlap_);
    for (int64_t scale = 1; scale <= scales_ && 2 * shorter >= scale + 1; ++scale) {
      const int64_t region = 2 * shorter / (scale + 1);
      function(RmacAxis(width, region, scale + (width > height ? more : 0)),
               RmacAxis(height, region, scale + (height > width ? more : 0)));
    }
  }

  const int scales_;
  const float overlap_;
};

}  // namespace

void RegisterRmacRegions() {
  RegisterSchema("RMACRegions", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Args(kRmacScales, kRmacOverlap)
      .Input(0, "X", "[N, C, H, W] of any type: only the shape is used")
      .Output(0, "RMAC_REGIONS",
              "[M, 5] float: image, x1, y1, x2 and y2 of each region, both ends included")
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>&) {
        return std::vector<TensorShape>{UnknownShapeOf(TensorProto::FLOAT)};
      })
      .SetDoc(
          "Computes square regions of images at several scales, for R-MAC. At scale l the shorter "
          "side of an image has l regions.");
  RegisterCpuOperator<RMACRegionsOp>("RMACRegions", __FILE__);
  // Regions depend on shapes only.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("RMACRegions", __FILE__);
}

}  // namespace caffe2rt
