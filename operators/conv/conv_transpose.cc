#include "operators/conv/conv_transpose.h"

#include <algorithm>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/conv/conv_arguments.h"
#include "operators/primitives/gemm.h"

namespace caffe2rt {

namespace {

struct Sizes {
  int64_t in_group, out_group, taps, in_width, out_size;
  int64_t rows_at_once;  // input rows whose columns are computed together
};

// The floats of the columns of one input row, and as many rows as fit kColumnBudget.
int64_t ColumnsOfRow(const ConvTransposeShape& shape) {
  const WindowGeometry& window = shape.window;
  return CheckedMultiply(CheckedMultiply(shape.out_group(), window.kernel_size()),
                         window.axis[1].in);
}
int64_t RowsAtOnce(const ConvTransposeShape& shape, int64_t row_columns) {
  return std::clamp<int64_t>(kColumnBudget / row_columns, 1, shape.window.axis[0].in);
}

// The inputs whose tap at `offset` lands inside the output axis: [first, last).
void InsideInputs(const WindowAxis& axis, int64_t offset, int64_t* first, int64_t* last) {
  const int64_t shift = offset - axis.pad_head;  // output index of input 0
  *first = std::min(shift >= 0 ? 0 : (-shift + axis.stride - 1) / axis.stride, axis.in);
  *last =
      std::clamp(shift >= axis.out ? 0 : (axis.out - 1 - shift) / axis.stride + 1, *first, axis.in);
}

// NCHW. Adds the columns of input rows [row, row + rows) to y:
// columns [out_group, kh, kw, rows, in_w], y [out_group, out_h, out_w].
void AddColumnsFirst(const WindowGeometry& window, const Sizes& sizes, int64_t row, int64_t rows,
                     const float* columns, float* y) {
  const WindowAxis &h = window.axis[0], &w = window.axis[1];
  for (int64_t m = 0; m < sizes.out_group; ++m, y += sizes.out_size) {
    for (int64_t i = 0; i < h.kernel; ++i) {
      for (int64_t j = 0; j < w.kernel; ++j) {
        int64_t first, last;
        InsideInputs(w, j, &first, &last);
        for (int64_t r = row; r < row + rows; ++r, columns += w.in) {
          const int64_t at = r * h.stride + i - h.pad_head;
          if (at < 0 || at >= h.out) continue;
          float* to = y + at * w.out + j - w.pad_head;
          if (w.stride == 1) {
            for (int64_t c = first; c < last; ++c) to[c] += columns[c];
          } else if (w.stride == 2) {
            for (int64_t c = first; c < last; ++c) to[2 * c] += columns[c];
          } else {
            for (int64_t c = first; c < last; ++c) to[c * w.stride] += columns[c];
          }
        }
      }
    }
  }
}

// NHWC. Adds the columns of input rows [row, row + rows) to y:
// columns [rows, in_w, kh, kw, out_group], y [out_h, out_w, out_channels] from the group's first
// channel.
void AddColumnsLast(const WindowGeometry& window, const Sizes& sizes, int64_t out_channels,
                    int64_t row, int64_t rows, const float* columns, float* y) {
  const WindowAxis &h = window.axis[0], &w = window.axis[1];
  for (int64_t r = row; r < row + rows; ++r) {
    for (int64_t c = 0; c < w.in; ++c) {
      for (int64_t i = 0; i < h.kernel; ++i) {
        const int64_t at = r * h.stride + i - h.pad_head;
        for (int64_t j = 0; j < w.kernel; ++j, columns += sizes.out_group) {
          const int64_t column = c * w.stride + j - w.pad_head;
          if (at < 0 || at >= h.out || column < 0 || column >= w.out) continue;
          float* to = y + (at * w.out + column) * out_channels;
          for (int64_t m = 0; m < sizes.out_group; ++m) to[m] += columns[m];
        }
      }
    }
  }
}

void FillBias(const ConvTransposeShape& shape, int64_t out_size, const float* bias, float* y) {
  const int64_t count = shape.window.batch * shape.out_channels * out_size;
  if (bias == nullptr) {
    std::fill_n(y, count, 0.f);
  } else if (shape.window.order == StorageOrder::NHWC) {
    FillRowVector(shape.window.batch * out_size, shape.out_channels, bias, y);
  } else {
    for (int64_t i = 0; i < shape.window.batch * shape.out_channels; ++i) {
      std::fill_n(y + i * out_size, out_size, bias[i % shape.out_channels]);
    }
  }
}

OpSchema::Cost ConvTransposeCost(const OperatorDef& def, const std::vector<TensorShape>& in) {
  OpSchema::Cost cost;
  if (!AreKnown(in, 2)) return cost;
  const std::vector<TensorShape> out = InferConvTransposeShape(def, in);
  const uint64_t inputs = NumElements(in[0]), weights = NumElements(in[1]);
  const uint64_t channels = static_cast<uint64_t>(in[1].dims(0)), outputs = NumElements(out[0]);
  const bool bias = in.size() > 2;
  const uint64_t biases = bias && IsKnown(in[2]) ? NumElements(in[2]) : 0;
  cost.flops = inputs * (channels > 0 ? 2 * (weights / channels) : 0) + (bias ? outputs : 0);
  cost.params_bytes = (weights + biases) * sizeof(float);
  cost.bytes_read = inputs * sizeof(float) + cost.params_bytes;
  cost.bytes_written = outputs * sizeof(float);
  cost.bytes_moved = cost.bytes_read + cost.bytes_written;
  return cost;
}

MemoryTraits::Extra ConvTransposeExtraMemory(const OperatorDef& def,
                                             const std::vector<TensorShape>& in,
                                             const std::vector<TensorShape>& out) {
  if (in.size() < 2 || out.empty() || NumElements(out[0]) == 0) return {};
  const ConvTransposeShape shape =
      MakeConvTransposeShape(ParseWindowArguments(ArgumentHelper(def), WindowUse::kConvTranspose),
                             GetDimsVector(in[0]), GetDimsVector(in[1]), in.size() > 2);
  const int64_t columns = ColumnsOfRow(shape);
  const int64_t floats = CheckedMultiply(columns, RowsAtOnce(shape, columns));
  return {.scratch_bytes = CheckedMultiply<int64_t>(floats, sizeof(float)), .prepared_bytes = 0};
}

}  // namespace

// A GEMM multiplies the filter with a few input rows; its result, the columns, holds what each
// input pixel adds to each output of its window (col2im). The columns are then added to Y. As many
// rows are processed at a time as fit kColumnBudget.
void RunConvTranspose(CPUContext&, const ConvTransposeShape& shape, const float* x,
                      const float* filter, const float* bias, ThreadScratch* scratch, float* y) {
  const WindowGeometry& window = shape.window;
  const bool last = shape.channels_last();
  Sizes sizes;
  sizes.in_group = shape.in_group();
  sizes.out_group = shape.out_group();
  sizes.taps = window.kernel_size();
  sizes.in_width = window.axis[1].in;
  sizes.out_size = window.out_size();
  const int64_t in_size = window.in_size(), depth = CheckedMultiply(sizes.out_group, sizes.taps);
  const int64_t row_columns = ColumnsOfRow(shape);
  sizes.rows_at_once = RowsAtOnce(shape, row_columns);
  float* columns = scratch->Floats(CheckedMultiply(row_columns, sizes.rows_at_once));
  FillBias(shape, sizes.out_size, bias, y);
  for (int64_t image = 0; image < window.batch; ++image) {
    const float* from = x + image * window.channels * in_size;
    float* to = y + image * shape.out_channels * sizes.out_size;
    for (int64_t g = 0; g < shape.group; ++g) {
      const float* w = filter + g * sizes.in_group * depth;
      for (int64_t row = 0; row < window.axis[0].in; row += sizes.rows_at_once) {
        const int64_t rows = std::min(sizes.rows_at_once, window.axis[0].in - row);
        const int64_t pixels = rows * sizes.in_width, first = row * sizes.in_width;
        if (last) {
          Sgemm(false, false, pixels, depth, sizes.in_group, 1.f,
                from + first * window.channels + g * sizes.in_group, window.channels, w, depth, 0.f,
                columns, depth);
          AddColumnsLast(window, sizes, shape.out_channels, row, rows, columns,
                         to + g * sizes.out_group);
        } else {
          Sgemm(true, false, depth, pixels, sizes.in_group, 1.f, w, depth,
                from + g * sizes.in_group * in_size + first, in_size, 0.f, columns, pixels);
          AddColumnsFirst(window, sizes, row, rows, columns,
                          to + g * sizes.out_group * sizes.out_size);
        }
      }
    }
  }
}

void ConvTransposeOnCpu::PrepareLibrary() const {
  const int64_t rows = RowsAtOnce(shape_, ColumnsOfRow(shape_));
  PrepareSgemm(CheckedMultiply(shape_.out_group(), shape_.window.kernel_size()),
               rows * shape_.window.axis[1].in, shape_.in_group());
}

void RegisterConvTranspose() {
  OpSchema& schema =
      RegisterSchema("ConvTranspose", __FILE__)
          .NumInputs(2, 3)
          .NumOutputs(1)
          .TensorInferenceFunction(InferConvTransposeShape)
          .CostInferenceFunction(ConvTransposeCost)
          .FloatInputs(3)
          .Traits({.family = OperatorFamily::kConv,
                   .writes_float = true,
                   .linear = LinearForm::kConvTranspose,
                   .multiply_adds = MultiplyAddCount::kConvTranspose,
                   .has_weights = true})
          .Memory({.extra = ConvTransposeExtraMemory})
          .SetDoc(
              "Computes the transposed convolution of images, and adds an optional bias. Each "
              "input pixel, multiplied by the filter, is added to a window of the output. The size "
              "of each output axis is (in - 1) * stride + kernel + adj - pads.")
          .Input(0, "X", "images, [N, C, H, W] or [N, H, W, C]")
          .Input(1, "filter",
                 "weights, [C, M / group, kh, kw] in NCHW, [C, kh, kw, M / group] in NHWC")
          .Input(2, "bias", "optional bias, [M]: one value for each output channel")
          .Output(0, "Y", "result, in the layout of X, with M channels");
  DeclareWindowArguments(schema, WindowUse::kConvTranspose);
  schema.Arg(kConvTransposeNoBias);
  DeclareConvArguments(schema);
  RegisterCpuOperator<ConvTransposeOp<CPUContext, ConvTransposeOnCpu>>("ConvTranspose", __FILE__);
}

}  // namespace caffe2rt
