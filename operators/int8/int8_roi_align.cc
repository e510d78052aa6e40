// Int8RoIAlign: bilinear samples of regions of quantized images, averaged in each bin of a region.
//
// As in Caffe2, the four weights of a sample are rounded to 255ths. A sample outside the image
// counts as stored zeros, which stand for -scale * zero point.

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "caffe2_core/base/simd.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/common/order_argument.h"
#include "operators/int8/int8_operator.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<std::string> kInt8RoIOrder{
    "order", "NHWC", "NHWC", {[](const std::string& order) { return order == "NHWC"; }, "NHWC"}};
constexpr ArgumentSpec<float> kInt8RoIScale{"spatial_scale", 1,
                                            "factor from the coordinates of RoIs to those of X"};
constexpr ArgumentCheck<int> kInt8RoISizeCheck{[](int size) { return size > 0; }, "above 0"};
constexpr ArgumentSpec<int> kInt8RoIHeight{"pooled_h", 1, "rows of bins in a region",
                                           kInt8RoISizeCheck};
constexpr ArgumentSpec<int> kInt8RoIWidth{"pooled_w", 1, "columns of bins in a region",
                                          kInt8RoISizeCheck};
constexpr ArgumentSpec<int> kInt8RoISamples{
    "sampling_ratio", -1, "samples of a bin in each direction; 0 or less: one for each pixel"};

constexpr int32_t kWeightSteps = 255;
constexpr int64_t kMostSamples = 32768;  // the sum of their products has 31 bits

// One sample: pixels of the image, and their weights in 255ths. Without weights if it lies outside.
struct Int8Sample {
  std::array<int64_t, 4> pixel{};
  std::array<int32_t, 4> weight{};
};

// A position along one axis between two pixels.
struct Int8Position {
  int64_t low = 0, high = 0;
  float fraction = 0;  // distance from the lower pixel
  bool inside = false;
};

Int8Position PositionOf(float at, int64_t size) {
  // False for NaN.
  if (!(at >= -1 && at <= static_cast<float>(size))) return {};
  at = std::max(at, 0.0f);
  const auto low = static_cast<int64_t>(at);
  if (low >= size - 1) return {size - 1, size - 1, 0, true};
  return {low, low + 1, at - static_cast<float>(low), true};
}

Int8Sample SampleAt(float y, float x, int64_t height, int64_t width) {
  const Int8Position row = PositionOf(y, height), column = PositionOf(x, width);
  if (!row.inside || !column.inside) return {};
  const auto steps = [](float weight) {
    return static_cast<int32_t>(std::round(weight * kWeightSteps));
  };
  const float above = 1 - row.fraction, before = 1 - column.fraction;
  return {{row.low * width + column.low, row.low * width + column.high,
           row.high * width + column.low, row.high * width + column.high},
          {steps(above * before), steps(above * column.fraction), steps(row.fraction * before),
           steps(row.fraction * column.fraction)}};
}

CAFFE2RT_SIMD void AddWeightedInt8(const uint8_t* x, int64_t n, int32_t weight, int32_t* sums) {
  for (int64_t i = 0; i < n; ++i) sums[i] += weight * x[i];
}

// A region in pixels of X.
struct Int8Region {
  int64_t image = 0;
  float top = 0, left = 0;
  float bin_height = 0, bin_width = 0;
  int64_t rows = 0, columns = 0;  // samples of a bin
};

class Int8RoIAlignOp final : public Int8Operator {
 public:
  Int8RoIAlignOp(const OperatorDef& def, Workspace* ws)
      : Int8Operator(def, ws),
        spatial_scale_(ReadArgument(kInt8RoIScale)),
        height_(ReadArgument(kInt8RoIHeight)),
        width_(ReadArgument(kInt8RoIWidth)),
        samples_(ReadArgument(kInt8RoISamples)) {
    (void)ReadArgument(kInt8RoIOrder);
  }

  bool RunOnDevice() override {
    const QuantizedInput x = InputInt8(0, "X");
    CAFFE_ENFORCE_EQ(x.tensor->dim(), 4, "rank of input 0 (X) of shape ", x.tensor->sizes(),
                     ", want [N, H, W, C]");
    const Tensor& rois = Input(1);
    const int64_t count = rois.numel() == 0 ? 0 : CountRoIs(rois);
    const float* roi = rois.data<float>();
    const int64_t channels = x.tensor->dim(3);
    uint8_t* y = OutputInt8(0, {count, height_, width_, channels});
    if (count == 0 || channels == 0) return true;
    CAFFE_ENFORCE_GT(x.tensor->numel(), 0, "elements of input 0 (X) of shape ", x.tensor->sizes());
    sums_.resize(static_cast<size_t>(channels));
    const int64_t roi_size = rois.dim(1), y_size = int64_t{height_} * width_ * channels;
    for (int64_t i = 0; i < count; ++i, roi += roi_size, y += y_size) {
      AlignRegion(x, RegionOf(i, roi, roi_size, *x.tensor), y);
    }
    return true;
  }

 private:
  int64_t CountRoIs(const Tensor& rois) const {
    CAFFE_ENFORCE(rois.dim() == 2 && (rois.dim(1) == 4 || rois.dim(1) == 5),
                  "input 1 (RoIs) has shape ", rois.sizes(),
                  ", want [R, 5] (image, x1, y1, x2, y2) or [R, 4]");
    return rois.dim(0);
  }

  Int8Region RegionOf(int64_t i, const float* roi, int64_t size, const Tensor& x) const {
    Int8Region region;
    if (size == 5) {
      const float image = *roi++;
      CAFFE_ENFORCE(image > -1 && image < static_cast<float>(x.dim(0)), "image of row ", i,
                    " of input 1 (RoIs) is ", image, ", want 0 to ", x.dim(0) - 1);
      region.image = static_cast<int64_t>(image);
    }
    region.left = roi[0] * spatial_scale_;
    region.top = roi[1] * spatial_scale_;
    const float width = std::max(roi[2] * spatial_scale_ - region.left, 1.0f);
    const float height = std::max(roi[3] * spatial_scale_ - region.top, 1.0f);
    region.bin_height = height / static_cast<float>(height_);
    region.bin_width = width / static_cast<float>(width_);
    const float rows = samples_ > 0 ? static_cast<float>(samples_) : std::ceil(region.bin_height);
    const float columns = samples_ > 0 ? static_cast<float>(samples_) : std::ceil(region.bin_width);
    // False for NaN.
    CAFFE_ENFORCE(rows * columns <= kMostSamples, "row ", i, " of input 1 (RoIs), ", roi[0], ", ",
                  roi[1], ", ", roi[2], ", ", roi[3], ", has ", rows, " x ", columns,
                  " samples in a bin, want at most ", kMostSamples);
    region.rows = static_cast<int64_t>(rows);
    region.columns = static_cast<int64_t>(columns);
    return region;
  }

  void AlignRegion(const QuantizedInput& x, const Int8Region& region, uint8_t* y) {
    const int64_t channels = x.tensor->dim(3);
    const uint8_t* image = x.data() + region.image * x.tensor->size_from_dim(1);
    for (int i = 0; i < height_; ++i) {
      for (int j = 0; j < width_; ++j, y += channels) {
        std::fill(sums_.begin(), sums_.end(), 0);
        AddSamples(x, region, image, i, j);
        ScaleBin(x.quantization, region.rows * region.columns, y);
      }
    }
  }

  void AddSamples(const QuantizedInput& x, const Int8Region& region, const uint8_t* image, int i,
                  int j) {
    const int64_t channels = x.tensor->dim(3);
    const auto rows = static_cast<float>(region.rows);
    const auto columns = static_cast<float>(region.columns);
    for (int64_t r = 0; r < region.rows; ++r) {
      const float y = region.top + static_cast<float>(i) * region.bin_height +
                      (static_cast<float>(r) + 0.5f) * region.bin_height / rows;
      for (int64_t c = 0; c < region.columns; ++c) {
        const float at = region.left + static_cast<float>(j) * region.bin_width +
                         (static_cast<float>(c) + 0.5f) * region.bin_width / columns;
        const Int8Sample sample = SampleAt(y, at, x.tensor->dim(1), x.tensor->dim(2));
        for (size_t k = 0; k < sample.weight.size(); ++k) {
          if (sample.weight[k] == 0) continue;
          AddWeightedInt8(image + sample.pixel[k] * channels, channels, sample.weight[k],
                          sums_.data());
        }
      }
    }
  }

  // The factor is a multiplier of 31 bits and a shift. The product is rounded to nearest, halves
  // away from zero.
  void ScaleBin(const Quantization& input, int64_t samples, uint8_t* y) const {
    constexpr float kWeightScale = 1.0f / kWeightSteps;
    constexpr int kMultiplierBits = 31;
    const float factor =
        input.scale * kWeightScale / (output().scale * static_cast<float>(samples));
    CAFFE_ENFORCE(factor > 0 && factor < 1, "scale ", input.scale,
                  " of input 0 (X) divided by 255 and argument Y_scale ", output().scale, " is ",
                  factor * static_cast<float>(samples), ", want above 0 and below 1");
    int exponent = 0;
    const double mantissa = std::frexp(double{factor}, &exponent);
    const auto multiplier = static_cast<int64_t>(std::ldexp(mantissa, kMultiplierBits));
    const int shift = std::min(-exponent, kMultiplierBits);
    const auto offset = static_cast<int32_t>(samples * kWeightSteps * input.zero_point);
    const int64_t half = int64_t{1} << (kMultiplierBits - 1 + shift);
    for (size_t i = 0; i < sums_.size(); ++i) {
      const int64_t sum = int64_t{sums_[i]} - offset;
      const int64_t steps = (std::abs(sum) * multiplier + half) >> (kMultiplierBits + shift);
      const int64_t stored = (sum < 0 ? -steps : steps) + output().zero_point;
      y[i] = static_cast<uint8_t>(std::clamp(stored, int64_t{0}, int64_t{kInt8Highest}));
    }
  }

  const float spatial_scale_;
  const int height_;
  const int width_;
  const int samples_;
  std::vector<int32_t> sums_;  // of one bin, for each channel
};

std::vector<TensorShape> InferInt8RoIAlign(const OperatorDef& def,
                                           const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 2)) return {UnknownShape()};
  const std::vector<int64_t> x = GetDimsVector(in[0]), rois = GetDimsVector(in[1]);
  if (x.size() != 4 || rois.empty()) return {UnknownShape()};
  const ArgumentHelper args(def);
  const int64_t count = NumElements(in[1]) == 0 ? 0 : rois[0];
  const std::vector<int64_t> result = {count, args.Read(kInt8RoIHeight), args.Read(kInt8RoIWidth),
                                       x[3]};
  return {CreateTensorShape(result, in[0].data_type())};
}

}  // namespace

void RegisterInt8RoiAlign() {
  RegisterInt8Schema("Int8RoIAlign", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Args(kInt8RoIOrder, kInt8RoIScale, kInt8RoIHeight, kInt8RoIWidth, kInt8RoISamples)
      .Input(0, "X", "a quantized tensor [N, H, W, C]")
      .Input(1, "RoIs",
             "float [R, 5]: image, x1, y1, x2, y2; or [R, 4] without the image, which is "
             "image 0")
      .Output(0, "Y", "a quantized tensor [R, pooled_h, pooled_w, C]")
      .TensorInferenceFunction(InferInt8RoIAlign)
      .SetDoc(
          "Divides regions of quantized images into bins, and averages bilinear samples in each.");
  RegisterCpuOperator<Int8RoIAlignOp>("Int8RoIAlign", __FILE__);
}

}  // namespace caffe2rt
