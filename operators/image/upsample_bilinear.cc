#include "operators/image/upsample_bilinear.h"

#include <algorithm>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/image/register.h"

namespace caffe2rt {

namespace {

std::vector<TensorShape> InferShape(const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1) || def.input_size() > 1) return UnknownOutputs(def);
  std::vector<int64_t> dims = GetDimsVector(in[0]);
  CAFFE_ENFORCE_EQ(dims.size(), 4u, "rank of input 0 (X), want 4");
  const ArgumentHelper args(def);
  dims[2] = ScaledSize(dims[2], args.GetSingleArgument<float>("height_scale", 1));
  dims[3] = ScaledSize(dims[3], args.GetSingleArgument<float>("width_scale", 1));
  return {CreateTensorShape(dims, in[0].data_type())};
}

}  // namespace

void LinearSources(int64_t in, int64_t out, std::vector<LinearSource>* sources) {
  const float step = out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1) : 0;
  sources->resize(static_cast<size_t>(out));
  for (int64_t i = 0; i < out; ++i) {
    const float at = step * static_cast<float>(i);
    const int64_t first = std::min(static_cast<int64_t>(at), in - 1);
    (*sources)[static_cast<size_t>(i)] = {static_cast<int32_t>(first),
                                          static_cast<int32_t>(std::min(first + 1, in - 1)),
                                          at - static_cast<float>(first)};
  }
}

void InterpolatePixels(CPUContext&, int64_t planes, int64_t in_height, int64_t in_width,
                       const std::vector<LinearSource>& rows,
                       const std::vector<LinearSource>& columns, const float* x, float* y) {
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
      .Arg("width_scale", "factor of the width", 1)
      .Arg("height_scale", "factor of the height", 1)
      .Arg("order", "has no effect: the data is NCHW", "NCHW")
      .Input(0, "X", "[N, C, H, W]")
      .Input(1, "scales", "[2], factors of height and width, before the arguments; optional")
      .Output(0, "Y", "X with height and width trunc(size * scale)")
      .TensorInferenceFunction(InferShape)
      .SetDoc("Scales pictures by linear interpolation between pixels; corners stay corners.");
  RegisterCpuOperator<UpsampleBilinearOp<CPUContext>>("UpsampleBilinear", __FILE__);
}

}  // namespace caffe2rt
