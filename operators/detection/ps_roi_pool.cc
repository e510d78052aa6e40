#include "operators/detection/ps_roi_pool.h"

#include <algorithm>
#include <string>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

// Calls visit(bin of Y, channel of X, rows, columns) for every bin of a RoI.
template <class Visit>
void ForEachPosition(const RoiGeometry& g, int64_t outputs, const float* rois, int64_t roi,
                     Visit visit) {
  PoolWindow window;
  CheckRoiFault(PlacePool(g, rois + roi * 5, /*by_position=*/true, &window), roi, g.batch);
  for (int64_t i = 0; i < outputs * g.bins(); ++i) {
    visit(roi * outputs * g.bins() + i, window.image * g.channels + i, i,
          window.rows.Span(i / g.pooled_w % g.pooled_h), window.columns.Span(i % g.pooled_w));
  }
}

int64_t AreaOf(PoolSpan rows, PoolSpan columns) {
  return std::max<int64_t>(0, rows.last - rows.first) *
         std::max<int64_t>(0, columns.last - columns.first);
}

class GetPSRoIPoolGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("PSRoIPoolGradient", "",
                             std::vector<std::string>{I(0), I(1), O(1), GO(0)},
                             std::vector<std::string>{GI(0)});
  }
};

std::vector<TensorShape> InferPositionPool(const OperatorDef& def,
                                           const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 2)) return UnknownOutputs(def);
  const ArgumentHelper args(def);
  RoiGeometry geometry = ReadPositionPool(args);
  const int64_t outputs = args.Read(kPSRoiOutputDim);
  const std::vector<int64_t> x = GetDimsVector(in[0]), rois = GetDimsVector(in[1]);
  SetPositionSizes(x, rois, outputs, &geometry);
  const RoiDims sizes = PositionOutputDims(geometry, outputs);
  const std::vector<int64_t> dims(sizes.begin(), sizes.end());
  return {CreateTensorShape(dims, TensorProto::FLOAT), CreateTensorShape(dims, TensorProto::INT32)};
}

}  // namespace

void AveragePoolPositions(CPUContext&, const RoiGeometry& g, int64_t outputs, const float* x,
                          const float* rois, float* y, int32_t* channel) {
  for (int64_t roi = 0; roi < g.rois; ++roi) {
    ForEachPosition(
        g, outputs, rois, roi,
        [&](int64_t bin, int64_t plane, int64_t of_image, PoolSpan rows, PoolSpan columns) {
          float sum = 0;
          for (int64_t h = rows.first; h < rows.last; ++h) {
            const float* const row = x + plane * g.pixels() + h * g.width;
            for (int64_t w = columns.first; w < columns.last; ++w) sum += row[w];
          }
          const int64_t area = AreaOf(rows, columns);
          y[bin] = area > 0 ? sum / static_cast<float>(area) : 0;
          channel[bin] = static_cast<int32_t>(of_image);
        });
  }
}

void AveragePoolPositionsGradient(CPUContext&, const RoiGeometry& g, int64_t outputs,
                                  const float* rois, const float* dy, float* dx) {
  std::fill_n(dx, g.in_elements(), 0.0f);
  for (int64_t roi = 0; roi < g.rois; ++roi) {
    ForEachPosition(g, outputs, rois, roi,
                    [&](int64_t bin, int64_t plane, int64_t, PoolSpan rows, PoolSpan columns) {
                      const float share = dy[bin] / static_cast<float>(AreaOf(rows, columns));
                      for (int64_t h = rows.first; h < rows.last; ++h) {
                        float* const row = dx + plane * g.pixels() + h * g.width;
                        for (int64_t w = columns.first; w < columns.last; ++w) row[w] += share;
                      }
                    });
  }
}

RoiGeometry ReadPositionPool(const ArgumentHelper& args) {
  RoiGeometry geometry;
  geometry.scale = args.Read(kRoiPoolSpatialScale);
  geometry.pooled_h = geometry.pooled_w = args.Read(kPSRoiGroupSize);
  return geometry;
}

void SetPositionSizes(IntArrayRef x, IntArrayRef rois, int64_t outputs, RoiGeometry* geometry) {
  SetRoiSizes(x, rois, 5, /*or_fewer=*/false, geometry);
  const int64_t want = CheckedMultiply(outputs, geometry->bins());
  CAFFE_ENFORCE_EQ(geometry->channels, want, "channels of input 0 (X) of shape ", x,
                   ", want output_dim * group_size * group_size");
  static_cast<void>(CheckedCast<int32_t>(want, "the number of channels of input 0 (X)"));
}

RoiDims PositionOutputDims(const RoiGeometry& geometry, int64_t outputs) {
  return {geometry.rois, outputs, geometry.pooled_h, geometry.pooled_w};
}

void CheckPositionOutput(int i, const char* name, IntArrayRef dims, const RoiGeometry& geometry,
                         int64_t outputs) {
  const RoiDims want = PositionOutputDims(geometry, outputs);
  CAFFE_ENFORCE(dims == DimsRef(want), "input ", i, " (", name, ") has shape ", dims,
                ", want that of the output ", DimsRef(want));
}

void RegisterPsRoiPool() {
  RegisterSchema("PSRoIPool", __FILE__)
      .NumInputs(2)
      .NumOutputs(2)
      .Args(kRoiPoolSpatialScale, kPSRoiGroupSize, kPSRoiOutputDim)
      .Input(0, "X", "[N, output_dim * group_size * group_size, H, W]")
      .Input(1, "RoIs", "[R, 5]: image, x1, y1, x2, y2")
      .Output(0, "Y", "[R, output_dim, group_size, group_size]")
      .Output(1, "channels", "int32, the shape of Y: the channel of X that each bin averages")
      .TensorInferenceFunction(InferPositionPool)
      .SetDoc(
          "Position-sensitive pooling: divides regions of interest into bins and averages, in each "
          "bin, the channel of X that belongs to the bin and the channel of Y.");
  RegisterCpuOperator<PSRoIPoolOp<CPUContext>>("PSRoIPool", __FILE__);

  RegisterSchema("PSRoIPoolGradient", __FILE__)
      .NumInputs(4)
      .NumOutputs(1)
      .Args(kRoiPoolSpatialScale, kPSRoiGroupSize, kPSRoiOutputDim)
      .Input(0, "X", "the input of PSRoIPool; only its shape is used")
      .Input(1, "RoIs", "the RoIs of PSRoIPool")
      .Input(2, "channels", "the second output of PSRoIPool; only its shape is used")
      .Input(3, "dY", "the gradient of Y")
      .Output(0, "dX", "the gradient of X")
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc("The gradient of PSRoIPool.");
  RegisterCpuOperator<PSRoIPoolGradientOp<CPUContext>>("PSRoIPoolGradient", __FILE__);
  RegisterGradient<GetPSRoIPoolGradient>("PSRoIPool", __FILE__);
}

}  // namespace caffe2rt
