// ONNXConvTranspose: transposed convolution over one to three axes, with dilations, output_padding,
// output_shape and negative pads. ConvTranspose is Caffe2's, for images.
//   X [N, C, in...], W [C, M / group, kernel...], optional bias [M]  ->  Y [N, M, out...]
//
// A GEMM multiplies the filters of some output channels with an image; the result holds what each
// element adds to each output of its window.

#include <algorithm>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/window_attributes.h"
#include "operators/primitives/gemm.h"
#include "operators/primitives/parallel_ranges.h"
#include "operators/primitives/scratch.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int64_t> kOnnxTransposeGroup{
    "group", 1, "the number of groups of channels", {[](int64_t g) { return g > 0; }, "above 0"}};
constexpr RepeatedArgumentSpec<int64_t> kOnnxTransposeOutputPadding{
    "output_padding", "additional elements at the end of each axis; default: 0"};
constexpr RepeatedArgumentSpec<int64_t> kOnnxTransposeOutputShape{
    "output_shape", "the size of each spatial axis of Y, from which the pads follow"};

constexpr int64_t kLargestAxis = int64_t{1} << 30;

struct OnnxTransposeArguments {
  WindowAttributes attributes;
  int64_t group;
  std::vector<int64_t> output_padding, output_shape;

  explicit OnnxTransposeArguments(const ArgumentHelper& args)
      : attributes(args),
        group(args.Read(kOnnxTransposeGroup)),
        output_padding(args.Read(kOnnxTransposeOutputPadding)),
        output_shape(args.Read(kOnnxTransposeOutputShape)) {
    for (const auto* values : {&output_padding, &output_shape}) {
      for (const int64_t value : *values) {
        CAFFE_ENFORCE(value >= 0 && value <= kLargestAxis, "argument ",
                      values == &output_shape ? kOnnxTransposeOutputShape.name
                                              : kOnnxTransposeOutputPadding.name,
                      " contains ", value, ", want 0 to ", kLargestAxis);
      }
    }
  }
};

// Sets the pads and the size of the output of an axis.
void PlaceTransposedAxis(const OnnxTransposeArguments& arguments, size_t i, WindowAxis* axis) {
  const AutoPad mode = arguments.attributes.auto_pad;
  const int64_t padding = arguments.output_padding.empty() ? 0 : arguments.output_padding[i];
  const int64_t full = CheckedAdd(CheckedMultiply(axis->stride, std::max<int64_t>(axis->in - 1, 0)),
                                  CheckedAdd(padding, axis->extent()));
  const bool same = mode == AutoPad::kSameUpper || mode == AutoPad::kSameLower;
  if (arguments.output_shape.empty() && !same) {
    axis->out = full - axis->pad_head - axis->pad_tail;
  } else {
    axis->out = arguments.output_shape.empty() ? CheckedMultiply(axis->in, axis->stride)
                                               : arguments.output_shape[i];
    const int64_t total = std::max<int64_t>(0, full - axis->out);
    axis->pad_head = mode == AutoPad::kSameUpper ? total / 2 : total - total / 2;
    axis->pad_tail = total - axis->pad_head;
  }
  CAFFE_ENFORCE(axis->out >= 0 && axis->out <= kLargestAxis, "spatial axis ", i,
                " of the output has size ", axis->out, ", want 0 to ", kLargestAxis);
}

void PlanOnnxTranspose(const OnnxTransposeArguments& arguments, IntArrayRef x, IntArrayRef w,
                       Windows* windows) {
  CAFFE_ENFORCE(w.size() == x.size() && x.size() >= 3, "input 1 (W) has shape ", w,
                ", want the rank of input 0 (X) of shape ", x, ", at least 3");
  WindowAxesOf(arguments.attributes, x, w.slice(2), windows);
  const int64_t group = arguments.group;
  CAFFE_ENFORCE(w[0] == x[1] && x[1] % group == 0, "input 1 (W) has shape ", w, ", want [", x[1],
                ", ...] for the channels of input 0 (X), divisible by ", group, " groups");
  const size_t axes = static_cast<size_t>(windows->axes);
  CAFFE_ENFORCE(arguments.output_padding.empty() || arguments.output_padding.size() == axes,
                "argument output_padding has ", arguments.output_padding.size(), " numbers, want ",
                axes);
  CAFFE_ENFORCE(arguments.output_shape.empty() || arguments.output_shape.size() == axes,
                "argument output_shape has ", arguments.output_shape.size(), " numbers, want ",
                axes);
  for (size_t i = 0; i < axes; ++i) PlaceTransposedAxis(arguments, i, &windows->axis[3 - axes + i]);
  (void)CheckedMultiply(CheckedMultiply(windows->axis[0].kernel, windows->axis[1].kernel),
                        windows->axis[2].kernel);
}

void OnnxTransposeDims(const Windows& windows, int64_t channels, std::vector<int64_t>* dims) {
  WindowOutputDims(windows, channels, dims);
  (void)CheckedProduct(*dims);
}

// Adds the columns [taps, in...] of one output channel to its plane.
void AddTransposedColumns(const Windows& windows, const float* columns, float* y) {
  const WindowAxis &d = windows.axis[0], &h = windows.axis[1], &w = windows.axis[2];
  for (int64_t i = 0; i < d.kernel; ++i) {
    for (int64_t j = 0; j < h.kernel; ++j) {
      for (int64_t k = 0; k < w.kernel; ++k) {
        const int64_t shift = k * w.dilation - w.pad_head;
        const int64_t first = std::min(shift >= 0 ? 0 : (-shift + w.stride - 1) / w.stride, w.in);
        const int64_t last =
            std::clamp(shift >= w.out ? 0 : (w.out - 1 - shift) / w.stride + 1, first, w.in);
        for (int64_t a = 0; a < d.in; ++a) {
          const int64_t z = a * d.stride + i * d.dilation - d.pad_head;
          for (int64_t b = 0; b < h.in; ++b, columns += w.in) {
            const int64_t row = b * h.stride + j * h.dilation - h.pad_head;
            if (z < 0 || z >= d.out || row < 0 || row >= h.out) continue;
            float* to = y + (z * h.out + row) * w.out;
            for (int64_t c = first; c < last; ++c) to[c * w.stride + shift] += columns[c];
          }
        }
      }
    }
  }
}

class OnnxConvTransposeOp final : public Operator<CPUContext> {
 public:
  OnnxConvTransposeOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), arguments_(args()) {}

  bool RunOnDevice() override {
    const Tensor &X = Input(0), &W = Input(1);
    RequireElements<float>(X);
    RequireElements<float>(W);
    PlanOnnxTranspose(arguments_, X.sizes(), W.sizes(), &windows_);
    out_group_ = W.dim(1);
    const int64_t channels = CheckedMultiply(out_group_, arguments_.group);
    if (InputSize() > 2) {
      RequireElements<float>(Input(2));
      CAFFE_ENFORCE_EQ(Input(2).numel(), channels, "elements of input 2 (B) of shape ",
                       Input(2).sizes());
    }
    OnnxTransposeDims(windows_, channels, &dims_);
    float* y = OutputData<float>(0, dims_);
    if (Output(0)->numel() == 0) return true;
    const float* bias = InputSize() > 2 ? Input(2).data<float>() : nullptr;
    for (int64_t i = 0; i < windows_.batch * channels; ++i) {
      std::fill_n(y + i * windows_.out_size(), windows_.out_size(),
                  bias == nullptr ? 0.f : bias[i % channels]);
    }
    if (X.numel() > 0) AddWindows(X.data<float>(), W.data<float>(), y);
    return true;
  }

 private:
  // A task is some output channels of one group of an image.
  void AddWindows(const float* x, const float* w, float* y) {
    constexpr int64_t kColumnFloats = int64_t{1} << 20;
    const int64_t pixels = windows_.in_size(), taps = windows_.taps(), group = arguments_.group;
    const int64_t in_group = windows_.channels / group;
    const int64_t columns = CheckedMultiply(taps, pixels);
    const int64_t some = std::clamp<int64_t>(kColumnFloats / columns, 1, out_group_);
    const int64_t blocks = (out_group_ - 1) / some + 1, tasks = windows_.batch * group * blocks;
    const int pieces = static_cast<int>(std::min<int64_t>(GetNumThreads(), tasks));
    const PieceScratch scratch = scratch_.ForPieces(pieces, CheckedMultiply(some, columns));
    ParallelFor(pieces, [&](int piece) {
      for (int64_t t = piece; t < tasks; t += pieces) {
        const int64_t image = t / blocks / group, g = t / blocks % group;
        const int64_t first = t % blocks * some, count = std::min(some, out_group_ - first);
        Sgemm(true, false, count * taps, pixels, in_group, 1.f,
              w + (g * in_group * out_group_ + first) * taps, out_group_ * taps,
              x + (image * windows_.channels + g * in_group) * pixels, pixels, 0.f, scratch[piece],
              pixels);
        for (int64_t m = 0; m < count; ++m) {
          AddTransposedColumns(
              windows_, scratch[piece] + m * columns,
              y + ((image * group + g) * out_group_ + first + m) * windows_.out_size());
        }
      }
    });
  }

  const OnnxTransposeArguments arguments_;
  Windows windows_;
  int64_t out_group_ = 0;
  std::vector<int64_t> dims_;
  ThreadScratch scratch_;
};

}  // namespace

void RegisterOnnxConvTranspose() {
  OpSchema& schema = RegisterSchema("ONNXConvTranspose", __FILE__);
  schema.NumInputs(2, 3)
      .NumOutputs(1)
      .Args(kOnnxTransposeGroup, kOnnxTransposeOutputPadding, kOnnxTransposeOutputShape)
      .Input(0, "X", "float, [N, C, in...], one to three spatial axes")
      .Input(1, "W", "float, [C, M / group, kernel...]")
      .Input(2, "B", "float, [M]; default: 0")
      .Output(0, "Y", "float, [N, M, out...]")
      .FloatInputs(3)
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 2)) return UnknownOutputs(def);
        const OnnxTransposeArguments arguments{ArgumentHelper(def)};
        const std::vector<int64_t> w = GetDimsVector(in[1]);
        Windows windows;
        std::vector<int64_t> dims;
        PlanOnnxTranspose(arguments, GetDimsVector(in[0]), w, &windows);
        OnnxTransposeDims(windows, CheckedMultiply(w[1], arguments.group), &dims);
        return std::vector<TensorShape>{CreateTensorShape(dims, TensorProto_DataType_FLOAT)};
      })
      .Traits({.family = OperatorFamily::kConv,
               .writes_float = true,
               .multiply_adds = MultiplyAddCount::kConvTranspose,
               .has_weights = true})
      .SetDoc(
          "Transposed convolution with all of ONNX's attributes. Each axis of Y has (in - 1) * "
          "stride + "
          "output_padding + (kernel - 1) * dilation + 1 - pads elements, or those of "
          "output_shape.");
  DeclareWindowAttributes(schema, false);
  RegisterCpuOperator<OnnxConvTransposeOp>("ONNXConvTranspose", __FILE__);
  // ConvTranspose has a gradient.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("ONNXConvTranspose", __FILE__);
}

}  // namespace caffe2rt
