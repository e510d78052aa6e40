#include "operators/detection/roi_align_rotated.h"

#include <algorithm>
#include <string>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

// The four pixels of a sample and their weights.
struct SampleTaps {
  int64_t pixels[4] = {};
  float weights[4] = {};
};

// Returns whether the sample is inside the image.
bool TapsOfSample(const RotatedRoi& roi, float x, float y, SampleTaps* taps) {
  const AxisTap row = TapAt(y, roi.rows.size), column = TapAt(x, roi.columns.size);
  if (!row.inside || !column.inside) return false;
  const int64_t width = roi.columns.size;
  *taps = {{row.low * width + column.low, row.low * width + column.high,
            row.high * width + column.low, row.high * width + column.high},
           {(1 - row.share) * (1 - column.share), (1 - row.share) * column.share,
            row.share * (1 - column.share), row.share * column.share}};
  return true;
}

// Calls visit(taps) for every sample of a bin that is inside the image.
template <class Visit>
void ForEachSample(const RotatedRoi& roi, int64_t row, int64_t column, Visit visit) {
  for (int64_t i = 0; i < roi.rows.samples; ++i) {
    for (int64_t j = 0; j < roi.columns.samples; ++j) {
      float x = 0, y = 0;
      roi.Sample(row, i, column, j, &x, &y);
      SampleTaps taps;
      if (TapsOfSample(roi, x, y, &taps)) visit(taps);
    }
  }
}

// Calls visit(RoI, its number, row, column) for every bin.
template <class Visit>
void ForEachBin(const RoiGeometry& g, const float* rois, Visit visit) {
  for (int64_t r = 0; r < g.rois; ++r) {
    RotatedRoi roi;
    CheckRoiFault(PlaceRotatedRoi(g, rois + r * g.columns, &roi), r, g.batch);
    for (int64_t i = 0; i < g.bins(); ++i) visit(roi, r, i / g.pooled_w, i % g.pooled_w);
  }
}

// How the channels of an image and of the bins of a RoI are stored.
struct Strides {
  int64_t pixel, channel, bin, bin_channel;
  explicit Strides(const RoiGeometry& g)
      : pixel(g.last ? g.channels : 1),
        channel(g.last ? 1 : g.pixels()),
        bin(g.last ? g.channels : 1),
        bin_channel(g.last ? 1 : g.bins()) {}
};

class GetRoIAlignRotatedGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("RoIAlignRotatedGradient", "",
                             std::vector<std::string>{I(0), I(1), GO(0)},
                             std::vector<std::string>{GI(0)});
  }
};

}  // namespace

void AlignRotatedRois(CPUContext&, const RoiGeometry& g, const float* x, const float* rois,
                      float* y) {
  const Strides strides(g);
  std::fill_n(y, g.out_elements(), 0.0f);
  ForEachBin(g, rois, [&](const RotatedRoi& roi, int64_t number, int64_t row, int64_t column) {
    const float* const image = x + roi.image * g.channels * g.pixels();
    float* const to =
        y + number * g.channels * g.bins() + (row * g.pooled_w + column) * strides.bin;
    ForEachSample(roi, row, column, [&](const SampleTaps& taps) {
      for (int64_t c = 0; c < g.channels; ++c) {
        const float* const plane = image + c * strides.channel;
        float value = 0;
        for (int k = 0; k < 4; ++k)
          value += taps.weights[k] * plane[taps.pixels[k] * strides.pixel];
        to[c * strides.bin_channel] += value;
      }
    });
    const float samples =
        static_cast<float>(roi.rows.samples) * static_cast<float>(roi.columns.samples);
    for (int64_t c = 0; c < g.channels; ++c) to[c * strides.bin_channel] /= samples;
  });
}

void AlignRotatedRoisGradient(CPUContext&, const RoiGeometry& g, const float* rois, const float* dy,
                              float* dx) {
  const Strides strides(g);
  std::fill_n(dx, g.in_elements(), 0.0f);
  ForEachBin(g, rois, [&](const RotatedRoi& roi, int64_t number, int64_t row, int64_t column) {
    float* const image = dx + roi.image * g.channels * g.pixels();
    const float* const from =
        dy + number * g.channels * g.bins() + (row * g.pooled_w + column) * strides.bin;
    const float samples =
        static_cast<float>(roi.rows.samples) * static_cast<float>(roi.columns.samples);
    ForEachSample(roi, row, column, [&](const SampleTaps& taps) {
      for (int64_t c = 0; c < g.channels; ++c) {
        const float share = from[c * strides.bin_channel] / samples;
        float* const plane = image + c * strides.channel;
        for (int k = 0; k < 4; ++k)
          plane[taps.pixels[k] * strides.pixel] += taps.weights[k] * share;
      }
    });
  });
}

void RegisterRoiAlignRotated() {
  RegisterSchema("RoIAlignRotated", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Args(kStorageOrder, kRoiSpatialScale, kRoiPooledH, kRoiPooledW, kRoiSamplingRatio,
            kRoiAligned)
      .Input(0, "X", "[N, C, H, W], or [N, H, W, C] in order NHWC")
      .Input(
          1, "RoIs",
          "[R, 6]: image, center x, center y, width, height, angle in degrees; or [R, 5], without "
          "the image, of image 0")
      .Output(0, "Y", "[R, C, pooled_h, pooled_w], or [R, pooled_h, pooled_w, C]")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (AreKnown(in, 2) && NumElements(in[1]) == 0) {  // of any shape
          std::vector<TensorShape> none = in;
          none[1] = CreateTensorShape(std::vector<int64_t>{0, 6}, TensorProto::FLOAT);
          return InferRoiOutput(def, none, ReadRoiAlignRotated);
        }
        return InferRoiOutput(def, in, ReadRoiAlignRotated);
      })
      .SetDoc("RoIAlign of rotated regions of interest.");
  RegisterCpuOperator<RoIAlignRotatedOp<CPUContext, false>>("RoIAlignRotated", __FILE__);

  RegisterSchema("RoIAlignRotatedGradient", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Args(kStorageOrder, kRoiSpatialScale, kRoiPooledH, kRoiPooledW, kRoiSamplingRatio,
            kRoiAligned)
      .Input(0, "X", "the input of RoIAlignRotated; only its shape is used")
      .Input(1, "RoIs", "the RoIs of RoIAlignRotated")
      .Input(2, "dY", "the gradient of Y")
      .Output(0, "dX", "the gradient of X")
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc("The gradient of RoIAlignRotated.");
  RegisterCpuOperator<RoIAlignRotatedOp<CPUContext, true>>("RoIAlignRotatedGradient", __FILE__);
  RegisterGradient<GetRoIAlignRotatedGradient>("RoIAlignRotated", __FILE__);
}

}  // namespace caffe2rt
