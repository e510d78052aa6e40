// DeformConv: convolution of images whose taps are moved by offsets and weighted by a mask
// (deformable convolution, Zhu et al. 2018).
//   X [N, C, H, W], W [M, C / group, kh, kw], offset [N, 2 * G * kh * kw, oh, ow], optional bias [M],
//   optional mask [N, G * kh * kw, oh, ow], for G groups of offsets  ->  Y [N, M, oh, ow]
// Elements between pixels are interpolated linearly; outside of the image they are 0.

#include <algorithm>
#include <cmath>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/optional_inputs.h"
#include "operators/common/window_attributes.h"
#include "operators/primitives/gemm.h"
#include "operators/primitives/parallel_ranges.h"
#include "operators/primitives/scratch.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int64_t> kDeformGroup{
    "group", 1, "the number of groups of channels", {[](int64_t g) { return g > 0; }, "above 0"}};
constexpr ArgumentSpec<int64_t> kDeformOffsetGroup{
    "offset_group",
    1,
    "the number of groups of input channels that share offsets",
    {[](int64_t g) { return g > 0; }, "above 0"}};

void PlanDeform(const WindowAttributes& attributes, int64_t group, int64_t offset_group,
                IntArrayRef x, IntArrayRef w, Windows* windows) {
  CAFFE_ENFORCE(x.size() == 4 && w.size() == 4, "inputs 0 (X) and 1 (W) have shapes ", x, " and ",
                w, ", want [N, C, H, W] and [M, C / group, kh, kw]");
  WindowsOf(attributes, x, w.slice(2), windows);
  CAFFE_ENFORCE(
      x[1] % group == 0 && w[1] == x[1] / group && w[0] % group == 0 && x[1] % offset_group == 0,
      "input 1 (W) has shape ", w, ", want [M, ", x[1], " / ", group,
      ", kh, kw] for the channels of input 0 (X), with M divisible by group and the channels by "
      "offset_group ",
      offset_group);
}

// The element of an image at a place between pixels.
float Interpolate(const float* x, int64_t height, int64_t width, float y, float v) {
  if (!(y > -1.f && v > -1.f && y < static_cast<float>(height) && v < static_cast<float>(width))) {
    return 0;
  }
  const float top = std::floor(y), left = std::floor(v);
  const int64_t row = static_cast<int64_t>(top), column = static_cast<int64_t>(left);
  const float down = y - top, right = v - left;
  const auto at = [&](int64_t i, int64_t j) {
    return i >= 0 && i < height && j >= 0 && j < width ? x[i * width + j] : 0.f;
  };
  return (1 - down) * ((1 - right) * at(row, column) + right * at(row, column + 1)) +
         down * ((1 - right) * at(row + 1, column) + right * at(row + 1, column + 1));
}

class DeformConvOp final : public Operator<CPUContext> {
 public:
  DeformConvOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        places_(args(), InputSize()),
        attributes_(args()),
        group_(ReadArgument(kDeformGroup)),
        offset_group_(ReadArgument(kDeformOffsetGroup)) {}

  bool RunOnDevice() override {
    const Tensor &X = Input(0), &W = Input(1), &offset = Input(2);
    for (int i = 0; i < InputSize(); ++i) RequireElements<float>(Input(i));
    PlanDeform(attributes_, group_, offset_group_, X.sizes(), W.sizes(), &windows_);
    const int64_t n = X.dim(0), taps = windows_.taps(), oh = windows_.axis[1].out,
                  ow = windows_.axis[2].out;
    CheckShape(2, "offset", {n, 2 * offset_group_ * taps, oh, ow});
    if (places_.Has(3)) CheckShape(places_[3], "B", {W.dim(0)});
    if (places_.Has(4)) CheckShape(places_[4], "mask", {n, offset_group_ * taps, oh, ow});
    WindowOutputDims(windows_, W.dim(0), &dims_);
    float* y = OutputData<float>(0, dims_);
    if (Output(0)->numel() == 0) return true;
    const float* mask = places_.Has(4) ? Input(places_[4]).data<float>() : nullptr;
    const float* bias = places_.Has(3) ? Input(places_[3]).data<float>() : nullptr;
    const int64_t depth = windows_.channels * taps, pixels = oh * ow;
    float* columns = scratch_.Floats(CheckedMultiply(depth, pixels));
    for (int64_t i = 0; i < n; ++i) {
      const float* x =
          X.numel() > 0 ? X.data<float>() + i * windows_.channels * windows_.in_size() : nullptr;
      const float* moves = offset.data<float>() + i * 2 * offset_group_ * taps * pixels;
      const float* weights = mask == nullptr ? nullptr : mask + i * offset_group_ * taps * pixels;
      ParallelRanges(windows_.channels, taps * pixels * 8, [&](int64_t first, int64_t last) {
        for (int64_t c = first; c < last; ++c) {
          SampleChannel(c, x + c * windows_.in_size(), moves, weights, columns + c * taps * pixels);
        }
      });
      Multiply(W, columns, bias, y + i * W.dim(0) * pixels);
    }
    return true;
  }

 private:
  void CheckShape(int i, const char* name, IntArrayRef want) const {
    CAFFE_ENFORCE(Input(i).sizes() == want, "input ", i, " (", name, ") has shape ",
                  Input(i).sizes(), ", want ", want);
  }

  // columns [taps, oh, ow] of one channel
  void SampleChannel(int64_t channel, const float* x, const float* moves, const float* weights,
                     float* columns) const {
    const WindowAxis &h = windows_.axis[1], &w = windows_.axis[2];
    const int64_t taps = windows_.taps(), pixels = h.out * w.out;
    const int64_t g = channel / (windows_.channels / offset_group_);
    for (int64_t t = 0; t < taps; ++t) {
      const float* down = moves + (g * taps + t) * 2 * pixels;
      const float* right = down + pixels;
      const float* weight = weights == nullptr ? nullptr : weights + (g * taps + t) * pixels;
      const int64_t row = t / w.kernel * h.dilation - h.pad_head;
      const int64_t column = t % w.kernel * w.dilation - w.pad_head;
      for (int64_t p = 0; p < pixels; ++p) {
        const float y = static_cast<float>(p / w.out * h.stride + row) + down[p];
        const float v = static_cast<float>(p % w.out * w.stride + column) + right[p];
        const float value = Interpolate(x, h.in, w.in, y, v);
        columns[t * pixels + p] = weight == nullptr ? value : value * weight[p];
      }
    }
  }

  void Multiply(const Tensor& W, const float* columns, const float* bias, float* y) const {
    const int64_t pixels = windows_.out_size(), channels = W.dim(0), out_group = channels / group_;
    const int64_t depth = windows_.channels / group_ * windows_.taps();
    for (int64_t m = 0; m < channels; ++m) {
      std::fill_n(y + m * pixels, pixels, bias == nullptr ? 0.f : bias[m]);
    }
    if (depth == 0) return;
    for (int64_t g = 0; g < group_; ++g) {
      ParallelRanges(out_group, depth * pixels / 8 + 1, [&](int64_t first, int64_t last) {
        const int64_t m = g * out_group + first;
        Sgemm(false, false, last - first, pixels, depth, 1.f, W.data<float>() + m * depth, depth,
              columns + g * depth * pixels, pixels, 1.f, y + m * pixels, pixels);
      });
    }
  }

  const InputPlaces places_;
  const WindowAttributes attributes_;
  const int64_t group_, offset_group_;
  Windows windows_;
  std::vector<int64_t> dims_;
  ThreadScratch scratch_;
};

}  // namespace

void RegisterOnnxDeformConv() {
  OpSchema& schema = RegisterSchema("ONNXDeformConv", __FILE__);
  schema.NumInputs(3, 5)
      .NumOutputs(1)
      .Args(kDeformGroup, kDeformOffsetGroup, kOmittedInputs)
      .Input(0, "X", "float, [N, C, H, W]")
      .Input(1, "W", "float, [M, C / group, kh, kw]")
      .Input(2, "offset", "[N, 2 * offset_group * kh * kw, oh, ow]: for each tap, down and right")
      .Input(3, "B", "[M]; default: 0")
      .Input(4, "mask", "[N, offset_group * kh * kw, oh, ow]; default: 1")
      .Output(0, "Y", "[N, M, oh, ow]")
      .FloatInputs(5)
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 2)) return UnknownOutputs(def);
        const ArgumentHelper args(def);
        const std::vector<int64_t> w = GetDimsVector(in[1]);
        Windows windows;
        std::vector<int64_t> dims;
        PlanDeform(WindowAttributes(args), args.Read(kDeformGroup), args.Read(kDeformOffsetGroup),
                   GetDimsVector(in[0]), w, &windows);
        WindowOutputDims(windows, w[0], &dims);
        (void)CheckedProduct(dims);
        return std::vector<TensorShape>{CreateTensorShape(dims, TensorProto_DataType_FLOAT)};
      })
      .Traits({.family = OperatorFamily::kConv, .writes_float = true, .has_weights = true})
      .SetDoc("Deformable convolution of images, as ONNX's DeformConv.");
  DeclareWindowAttributes(schema, false);
  RegisterCpuOperator<DeformConvOp>("ONNXDeformConv", __FILE__);
  // Caffe2 has no such operator, so no net trains through it.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("ONNXDeformConv", __FILE__);
}

}  // namespace caffe2rt
