#include "operators/image/pad_image.h"

#include <algorithm>
#include <cstring>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

// Writes one pixel: column `source` of the row, or the constant if `source` is negative.
void PadPixel(const float* row, int64_t source, int64_t items, float value, float* y) {
  if (source < 0) {
    std::fill_n(y, items, value);
  } else {
    std::copy_n(row + source * items, items, y);
  }
}

std::vector<TensorShape> InferPadImage(const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  const WindowArguments window = ParseWindowArguments(ArgumentHelper(def), WindowUse::kPad);
  const WindowGeometry geometry = MakeWindowGeometry(window, GetDimsVector(in[0]));
  return {CreateTensorShape(geometry.OutputDims(geometry.channels), in[0].data_type())};
}

}  // namespace

std::optional<PadMode> ParsePadMode(const std::string& name) {
  if (name == "constant") return PadMode::kConstant;
  if (name == "reflect") return PadMode::kReflect;
  if (name == "edge") return PadMode::kEdge;
  return std::nullopt;
}

void PadSources(const WindowAxis& axis, PadMode mode, std::vector<int32_t>* sources) {
  CAFFE_ENFORCE(std::in_range<int32_t>(axis.out) && std::in_range<int32_t>(axis.in),
                "axis of size ", axis.in, " is padded to ", axis.out, ", want at most 2147483647");
  sources->resize(static_cast<size_t>(axis.out));
  for (int64_t i = 0; i < axis.out; ++i) {
    const int64_t source = PadSource(i - axis.pad_head, axis.in, mode);
    CAFFE_ENFORCE(source >= 0 || mode != PadMode::kReflect, "axis of size ", axis.in, " with pads ",
                  axis.pad_head, " and ", axis.pad_tail,
                  " in mode reflect, want pads smaller than the axis");
    (*sources)[static_cast<size_t>(i)] = static_cast<int32_t>(source);
  }
}

void PadPixels(CPUContext&, int64_t planes, int64_t items, const PadAxis& height,
               const PadAxis& width, PadMode, const int32_t* rows, const int32_t* columns,
               float value, const float* x, float* y) {
  // Columns [first, last) are copied from contiguous columns of the input.
  const int64_t first = std::clamp<int64_t>(width.head, 0, width.out);
  const int64_t last = std::clamp(width.head + width.in, first, width.out);
  const size_t run_bytes = static_cast<size_t>((last - first) * items) * sizeof(float);
  for (int64_t p = 0; p < planes; ++p, x += height.in * width.in * items) {
    for (int64_t r = 0; r < height.out; ++r) {
      if (rows[r] < 0) {
        y = std::fill_n(y, width.out * items, value);
        continue;
      }
      const float* const row = x + rows[r] * width.in * items;
      for (int64_t i = 0; i < first; ++i, y += items) {
        PadPixel(row, columns[i], items, value, y);
      }
      if (run_bytes > 0) std::memcpy(y, row + (first - width.head) * items, run_bytes);
      y += (last - first) * items;
      for (int64_t i = last; i < width.out; ++i, y += items) {
        PadPixel(row, columns[i], items, value, y);
      }
    }
  }
}

void RegisterPadImage() {
  OpSchema& schema =
      RegisterSchema("PadImage", __FILE__)
          .NumInputs(1)
          .NumOutputs(1)
          .Args(kPadMode, kPadValue)
          .Input(0, "X", "[N, C, H, W] or [N, H, W, C]")
          .Output(0, "Y", "X with height H + pad_t + pad_b and width W + pad_l + pad_r")
          .TensorInferenceFunction(InferPadImage)
          .SetDoc(
              "Pads images with a constant, with their edge pixels or by reflection; negative pads "
              "crop. Of the window arguments, only pads and order have an effect.");
  DeclareWindowArguments(schema, WindowUse::kPad);
  RegisterCpuOperator<PadImageOp<CPUContext>>("PadImage", __FILE__);
}

}  // namespace caffe2rt
