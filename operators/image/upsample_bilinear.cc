#include "operators/image/upsample_bilinear.h"

#include <algorithm>
#include <string>

#include "caffe2_core/base/simd_fma.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<std::string> kUpsampleBilinearOrder{
    "order", "NCHW", "has no effect: the layout is always NCHW"};

std::vector<TensorShape> InferUpsampleBilinear(const OperatorDef& def,
                                               const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1) || def.input_size() > 1) return UnknownOutputs(def);
  std::vector<int64_t> dims = GetDimsVector(in[0]);
  CAFFE_ENFORCE_EQ(dims.size(), 4u, "rank of input 0 (X), want 4");
  const ArgumentHelper args(def);
  dims[2] = ScaledSize(dims[2], args.Read(kHeightScale));
  dims[3] = ScaledSize(dims[3], args.Read(kWidthScale));
  return {CreateTensorShape(dims, in[0].data_type())};
}

void FillSources(const LinearAxis& axis, std::vector<LinearSource>* sources) {
  sources->resize(static_cast<size_t>(axis.out));
  for (int64_t i = 0; i < axis.out; ++i) (*sources)[static_cast<size_t>(i)] = axis.Source(i);
}

// dx[i] += weight * sums[i]
CAFFE2RT_SIMD_FMA void AddWeighted(float weight, const float* sums, int64_t n, float* dx) {
  for (int64_t i = 0; i < n; ++i) dx[i] += weight * sums[i];
}

class GetUpsampleBilinearGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    std::vector<std::string> inputs{GO(0), I(0)};
    if (Def().input_size() == 2) inputs.push_back(I(1));
    return SingleGradientDef("UpsampleBilinearGradient", "", inputs,
                             std::vector<std::string>{GI(0)});
  }
};

}  // namespace

// Adds up a row of dY for the columns of X first, then adds the result to two rows of X.
void InterpolatePixelsGradient(CPUContext&, int64_t planes, const LinearAxis& height,
                               const LinearAxis& width, LinearTables* tables, const float* dy,
                               float* dx) {
  FillSources(height, &tables->rows);
  FillSources(width, &tables->columns);
  const int64_t in_size = height.in * width.in, out_size = height.out * width.out;
  constexpr int64_t kElementsPerPiece = 16384;
  const int64_t work = planes * (in_size + out_size);
  const int64_t pieces = std::min({int64_t{GetNumThreads()}, planes, work / kElementsPerPiece + 1});
  tables->sums.resize(static_cast<size_t>(pieces * width.in));
  ParallelFor(static_cast<int>(pieces), [&](int piece) {
    float* const sums = tables->sums.data() + piece * width.in;
    for (int64_t p = planes * piece / pieces; p < planes * (piece + 1) / pieces; ++p) {
      float* const image = dx + p * in_size;
      const float* from = dy + p * out_size;
      std::fill_n(image, in_size, 0.0f);
      for (const LinearSource& row : tables->rows) {
        std::fill_n(sums, width.in, 0.0f);
        for (const LinearSource& column : tables->columns) {
          sums[column.first] += (1 - column.share) * *from;
          sums[column.second] += column.share * *from++;
        }
        AddWeighted(1 - row.share, sums, width.in, image + row.first * width.in);
        AddWeighted(row.share, sums, width.in, image + row.second * width.in);
      }
    }
  });
}

void InterpolatePixels(CPUContext&, int64_t planes, const LinearAxis& height,
                       const LinearAxis& width, LinearTables* tables, const float* x, float* y) {
  FillSources(height, &tables->rows);
  FillSources(width, &tables->columns);
  const std::vector<LinearSource>& rows = tables->rows;
  const std::vector<LinearSource>& columns = tables->columns;
  const int64_t in_height = height.in, in_width = width.in;
  for (int64_t p = 0; p < planes; ++p, x += in_height * in_width) {
    for (const LinearSource& row : rows) {
      const float* const upper = x + row.first * in_width;
      const float* const lower = x + row.second * in_width;
      for (const LinearSource& column : columns) {
        const float above =
            (1 - column.share) * upper[column.first] + column.share * upper[column.second];
        const float below =
            (1 - column.share) * lower[column.first] + column.share * lower[column.second];
        *y++ = (1 - row.share) * above + row.share * below;
      }
    }
  }
}

void RegisterUpsampleBilinear() {
  RegisterSchema("UpsampleBilinear", __FILE__)
      .NumInputs(1, 2)
      .NumOutputs(1)
      .Args(kWidthScale, kHeightScale, kUpsampleBilinearOrder)
      .Input(0, "X", "[N, C, H, W]")
      .Input(1, "scales",
             "optional scale factors of height and width, [2]; overrides the arguments")
      .Output(0, "Y", "X resized to height and width trunc(size * scale)")
      .TensorInferenceFunction(InferUpsampleBilinear)
      .Traits({.family = OperatorFamily::kShape})
      .SetDoc("Resizes images by bilinear interpolation. The corner pixels keep their values.");
  RegisterCpuOperator<UpsampleBilinearOp<CPUContext>>("UpsampleBilinear", __FILE__);

  RegisterSchema("UpsampleBilinearGradient", __FILE__)
      .NumInputs(2, 3)
      .NumOutputs(1)
      .Args(kWidthScale, kHeightScale, kUpsampleBilinearOrder)
      .Input(0, "dY", "the gradient of the output of UpsampleBilinear")
      .Input(1, "X", "the input of UpsampleBilinear; only its shape is used")
      .Input(2, "scales", "optional, not used: the scales follow from the shapes")
      .Output(0, "dX", "the gradient of X")
      .IdenticalTypeAndShapeOfInput(1)
      .SetDoc("The gradient of UpsampleBilinear.");
  RegisterCpuOperator<UpsampleBilinearGradientOp<CPUContext>>("UpsampleBilinearGradient", __FILE__);
  RegisterGradient<GetUpsampleBilinearGradient>("UpsampleBilinear", __FILE__);
  // Caffe2 has no gradient of this gradient.
  RegisterGradient<GradientNotImplementedYet>("UpsampleBilinearGradient", __FILE__);
}

}  // namespace caffe2rt
