#include "operators/image/pad_image.h"

#include <algorithm>
#include <cstring>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/image/add_row.h"

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

std::vector<TensorShape> InferPadImageGradient(const OperatorDef& def,
                                               const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  const WindowArguments window = ParseWindowArguments(ArgumentHelper(def), WindowUse::kPad);
  std::vector<int64_t> dims = GetDimsVector(in[0]);
  const WindowGeometry geometry = PadGeometryOfOutput(window, dims);
  const size_t height = geometry.order == StorageOrder::NHWC ? 1 : 2;
  dims[height] = geometry.axis[0].in;
  dims[height + 1] = geometry.axis[1].in;
  return {CreateTensorShape(dims, in[0].data_type())};
}

class GetPadImageGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("PadImageGradient", "", std::vector<std::string>{GO(0)},
                             std::vector<std::string>{GI(0)});
  }
};

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

WindowGeometry PadGeometryOfOutput(const WindowArguments& window, IntArrayRef dims) {
  CAFFE_ENFORCE(dims.size() == 4 && window.kernel.size() == 2, "input 0 (dY) has shape ", dims,
                " and ", window.kernel.size(), " kernels are given, want rank 4 and 2 kernels");
  WindowGeometry geometry;
  geometry.order = window.order;
  geometry.axes = 2;
  geometry.batch = dims[0];
  const bool last = window.order == StorageOrder::NHWC;
  geometry.channels = dims[last ? 3 : 1];
  for (size_t i = 0; i < 2; ++i) {
    WindowAxis& axis = geometry.axis[i];
    axis.out = dims[i + (last ? 1 : 2)];
    axis.pad_head = window.pads[i];
    axis.pad_tail = window.pads[i + 2];
    axis.in = CheckedAdd(axis.out, -(axis.pad_head + axis.pad_tail));
    CAFFE_ENFORCE(axis.in > 0, "axis ", i, " of input 0 (dY) of shape ", dims, " has pads ",
                  axis.pad_head, " and ", axis.pad_tail, ", want less than its size");
  }
  return geometry;
}

void PadPixelsGradient(CPUContext&, int64_t planes, int64_t items, const PadAxis& height,
                       const PadAxis& width, PadMode, const int32_t* rows, const int32_t* columns,
                       const float* dy, float* dx) {
  // Columns [first, last) were copied from contiguous columns of the input.
  const int64_t first = std::clamp<int64_t>(width.head, 0, width.out);
  const int64_t last = std::clamp(width.head + width.in, first, width.out);
  const int64_t in_size = height.in * width.in * items, out_row = width.out * items;
  constexpr int64_t kElementsPerPiece = 16384;
  const int64_t work = planes * height.out * out_row;
  const int64_t pieces = std::min({int64_t{GetNumThreads()}, planes, work / kElementsPerPiece + 1});
  ParallelFor(static_cast<int>(pieces), [&](int piece) {
    for (int64_t p = planes * piece / pieces; p < planes * (piece + 1) / pieces; ++p) {
      float* const image = dx + p * in_size;
      std::fill_n(image, in_size, 0.0f);
      for (int64_t r = 0; r < height.out; ++r) {
        if (rows[r] < 0) continue;
        const float* const from = dy + (p * height.out + r) * out_row;
        float* const row = image + rows[r] * width.in * items;
        const auto add_pixel = [&](int64_t i) {
          if (columns[i] >= 0) AddRow(from + i * items, items, row + columns[i] * items);
        };
        for (int64_t i = 0; i < first; ++i) add_pixel(i);
        if (first < last) {
          AddRow(from + first * items, (last - first) * items, row + (first - width.head) * items);
        }
        for (int64_t i = last; i < width.out; ++i) add_pixel(i);
      }
    }
  });
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
          .Traits({.family = OperatorFamily::kShape})
          .SetDoc(
              "Pads images with a constant, with their edge pixels or by reflection; negative pads "
              "crop. Of the window arguments, only pads and order have an effect.");
  DeclareWindowArguments(schema, WindowUse::kPad);
  RegisterCpuOperator<PadImageOp<CPUContext>>("PadImage", __FILE__);

  OpSchema& gradient =
      RegisterSchema("PadImageGradient", __FILE__)
          .NumInputs(1)
          .NumOutputs(1)
          .Args(kPadMode, kPadValue)
          .Input(0, "dY", "the gradient of the output of PadImage")
          .Output(0, "dX", "the gradient of its input: dY without the pads")
          .TensorInferenceFunction(InferPadImageGradient)
          .SetDoc("The gradient of PadImage: adds each pixel to the one from which it was copied.");
  DeclareWindowArguments(gradient, WindowUse::kPad);
  RegisterCpuOperator<PadImageGradientOp<CPUContext>>("PadImageGradient", __FILE__);
  RegisterGradient<GetPadImageGradient>("PadImage", __FILE__);
}

}  // namespace caffe2rt
