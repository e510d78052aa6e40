// ONNXRoiAlign: ONNX's RoiAlign (opset 22): samples X in the bins of regions of interest.
//   X float [N, C, H, W], rois float [R, 4] (x1, y1, x2, y2), images int64 [R]
//   ->  Y [R, C, output_height, output_width]
//
// A bin has a grid of bilinear samples. Mode avg is their average; mode max is the largest product of a
// pixel and its weight. Caffe2's RoIAlign has the images in the first column of rois, and mode avg only.

#include <algorithm>
#include <array>
#include <cmath>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/integer_input.h"
#include "operators/detection/roi_geometry.h"

namespace caffe2rt {

namespace {

constexpr ArgumentCheck<int64_t> kRoiOutputSize{
    [](int64_t size) { return size >= 1 && size <= 1 << 20; }, "1 to 1048576"};
constexpr ArgumentSpec<int64_t> kOnnxRoiHeight{"output_height", 1, "height of Y", kRoiOutputSize};
constexpr ArgumentSpec<int64_t> kOnnxRoiWidth{"output_width", 1, "width of Y", kRoiOutputSize};
constexpr ArgumentSpec<int64_t> kOnnxRoiSamples{
    "sampling_ratio",
    0,
    "samples of a bin along an axis; 0: its size, rounded up",
    {[](int64_t samples) { return samples >= 0 && samples <= 1024; }, "0 to 1024"}};
constexpr ArgumentSpec<float> kOnnxRoiScale{"spatial_scale", 1.0f, "pixels of X per unit of rois"};
constexpr ArgumentSpec<std::string> kOnnxRoiMode{
    "mode",
    "avg",
    "avg or max",
    {[](const std::string& mode) { return mode == "avg" || mode == "max"; }, "avg or max"}};
constexpr ArgumentSpec<std::string> kOnnxRoiCoordinates{
    "coordinate_transformation_mode",
    "half_pixel",
    "half_pixel: rois are shifted by half a pixel; output_half_pixel: not, and are of a pixel at "
    "least",
    {[](const std::string& mode) { return mode == "half_pixel" || mode == "output_half_pixel"; },
     "half_pixel or output_half_pixel"}};

// One axis of a region: where it begins, and the bins.
struct GridOfRoiAxis {
  float start, bin;
  int64_t samples;

  AxisTap Tap(int64_t bin_index, int64_t sample, int64_t size) const {
    const float place = start + static_cast<float>(bin_index) * bin +
                        (static_cast<float>(sample) + 0.5f) * bin / static_cast<float>(samples);
    return TapAt(place, size);
  }
};

class ONNXRoiAlignOp final : public Operator<CPUContext> {
 public:
  ONNXRoiAlignOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        height_(ReadArgument(kOnnxRoiHeight)),
        width_(ReadArgument(kOnnxRoiWidth)),
        samples_(ReadArgument(kOnnxRoiSamples)),
        scale_(ReadArgument(kOnnxRoiScale)),
        half_pixel_(ReadArgument(kOnnxRoiCoordinates) == "half_pixel"),
        max_(ReadArgument(kOnnxRoiMode) == "max") {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& rois = Input(1);
    CAFFE_ENFORCE_EQ(X.dim(), 4, "rank of input 0 (X)");
    CAFFE_ENFORCE(rois.dim() == 2 && rois.dim(1) == 4, "input 1 (rois) has shape ", rois.sizes(),
                  ", want [R, 4]");
    CAFFE_ENFORCE_EQ(Input(2).numel(), rois.dim(0),
                     "elements of input 2 (images), want one for each of the rois");
    RequireElements<float>(X);
    RequireElements<float>(rois);
    ReadIntegers(Input(2), "input 2 (images)", &images_);
    float* y = OutputData<float>(0, {rois.dim(0), X.dim(1), height_, width_});
    const int64_t plane = X.dim(2) * X.dim(3), size = X.dim(1) * height_ * width_;
    if (rois.dim(0) * size == 0) return true;
    CAFFE_ENFORCE_GT(plane, 0, "pixels of input 0 (X) of shape ", X.sizes());
    for (int64_t r = 0; r < rois.dim(0); ++r, y += size) {
      const int64_t image = images_[static_cast<size_t>(r)];
      CAFFE_ENFORCE(image >= 0 && image < X.dim(0), "element ", r, " of input 2 (images) is ",
                    image, ", want an image of input 0 (X) of shape ", X.sizes());
      AlignRoi(r, rois.data<float>() + r * 4, X.data<float>() + image * X.dim(1) * plane, y);
    }
    return true;
  }

 private:
  GridOfRoiAxis AxisOf(int64_t r, float begin, float end, int64_t bins) const {
    const float offset = half_pixel_ ? 0.5f : 0.0f;
    const float start = begin * scale_ - offset;
    float length = end * scale_ - offset - start;
    if (!half_pixel_) length = std::max(length, 1.0f);
    const float bin = length / static_cast<float>(bins);
    CAFFE_ENFORCE(IsFiniteFloat(start) && std::abs(bin) < 1024.0f * 1024.0f, "row ", r,
                  " of input 1 (rois) has an axis from ", begin, " to ", end,
                  ", want finite bins of at most 1048576 pixels");
    const int64_t grid = samples_ > 0 ? samples_ : static_cast<int64_t>(std::ceil(bin));
    return {start, bin, std::max<int64_t>(grid, 0)};
  }

  void AlignRoi(int64_t r, const float* roi, const float* x, float* y) {
    const GridOfRoiAxis rows = AxisOf(r, roi[1], roi[3], height_),
                        cols = AxisOf(r, roi[0], roi[2], width_);
    const int64_t height = Input(0).dim(2), width = Input(0).dim(3), channels = Input(0).dim(1);
    CAFFE_ENFORCE_LE(rows.samples * cols.samples, int64_t{1} << 20, "samples of a bin of row ", r,
                     " of input 1 (rois)");
    std::fill_n(y, channels * height_ * width_, 0.0f);
    const float share =
        1.0f / static_cast<float>(std::max<int64_t>(rows.samples * cols.samples, 1));
    for (int64_t bin = 0; bin < height_ * width_; ++bin) {
      for (int64_t s = 0; s < rows.samples * cols.samples; ++s) {
        const AxisTap row = rows.Tap(bin / width_, s / cols.samples, height);
        const AxisTap col = cols.Tap(bin % width_, s % cols.samples, width);
        const bool inside = row.inside && col.inside;
        for (int64_t c = 0; c < channels; ++c) {
          float& out = y[c * height_ * width_ + bin];
          const float* const image = x + c * height * width;
          if (max_) {
            const float value = inside ? LargestPart(image, width, row, col) : 0;
            out = s == 0 ? value : std::max(out, value);
          } else if (inside) {
            out += Interpolate(image, width, 1, row, col) * share;
          }
        }
      }
    }
  }
  static float LargestPart(const float* x, int64_t width, const AxisTap& row, const AxisTap& col) {
    const float* const upper = x + row.low * width;
    const float* const lower = x + row.high * width;
    return std::max({(1 - row.share) * (1 - col.share) * upper[col.low],
                     (1 - row.share) * col.share * upper[col.high],
                     row.share * (1 - col.share) * lower[col.low],
                     row.share * col.share * lower[col.high]});
  }

  const int64_t height_, width_, samples_;
  const float scale_;
  const bool half_pixel_, max_;
  std::vector<int64_t> images_;
};

}  // namespace

void RegisterOnnxRoiAlign() {
  RegisterSchema("ONNXRoiAlign", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Args(kOnnxRoiHeight, kOnnxRoiWidth, kOnnxRoiSamples, kOnnxRoiScale, kOnnxRoiMode,
            kOnnxRoiCoordinates)
      .Input(0, "X", "float [N, C, H, W]")
      .Input(1, "rois", "float [R, 4]: x1, y1, x2, y2")
      .Input(2, "images", "int32 or int64 [R]: the image of each")
      .Output(0, "Y", "[R, C, output_height, output_width]")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 2) || in[0].dims_size() != 4 || in[1].dims_size() != 2)
          return UnknownOutputs(def);
        const ArgumentHelper args(def);
        const std::vector<int64_t> dims = {in[1].dims(0), in[0].dims(1), args.Read(kOnnxRoiHeight),
                                           args.Read(kOnnxRoiWidth)};
        return std::vector<TensorShape>{CreateTensorShape(dims, TensorProto::FLOAT)};
      })
      .InheritOnnxSchema("RoiAlign")
      .Traits({.family = OperatorFamily::kOther})
      .SetDoc("Samples the bins of regions of interest, as ONNX's RoiAlign does.");
  RegisterCpuOperator<ONNXRoiAlignOp>("ONNXRoiAlign", __FILE__);
  // Models are trained by other operators.
  RegisterGradient<GradientNotImplementedYet>("ONNXRoiAlign", __FILE__);
}

}  // namespace caffe2rt
