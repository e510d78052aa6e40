#include "operators/image/upsample_bilinear.h"

#include <string>

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

}  // namespace

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
      .SetDoc("Resizes images by bilinear interpolation. The corner pixels keep their values.");
  RegisterCpuOperator<UpsampleBilinearOp<CPUContext>>("UpsampleBilinear", __FILE__);
}

}  // namespace caffe2rt
