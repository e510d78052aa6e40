// ConvInteger: the convolution of X - x_zero_point with W - w_zero_point, exactly, as int32.
// QLinearConv: the same, plus an int32 bias, quantized with the scales of X, W and Y.
//   X [N, C, 1 to 3 spatial axes] and W [M, C / group, kernel...], uint8 or int8  ->  Y [N, M, ...]

#include <algorithm>
#include <cmath>
#include <cstdint>
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
#include "operators/primitives/parallel_ranges.h"
#include "operators/primitives/scratch.h"
#include "operators/quantize/integer_product.h"
#include "operators/quantize/integer_windows.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int64_t> kConvIntegerGroup{
    "group", 1, "the number of groups of channels", {[](int64_t g) { return g > 0; }, "above 0"}};

constexpr int64_t kPixelsAtOnce = 64;

// THROWS unless X and W fit together; sets the windows.
void PlanConvInteger(const WindowAttributes& attributes, int64_t group, IntArrayRef x,
                     IntArrayRef w, Windows* windows) {
  CAFFE_ENFORCE_EQ(w.size(), x.size(), "rank of the filter W of shape ", w,
                   ", want that of input 0 (X) of shape ", x);
  CAFFE_ENFORCE(w.size() >= 3, "input 0 (X) has shape ", x, ", want at least one spatial axis");
  WindowsOf(attributes, x, w.slice(2), windows);
  CAFFE_ENFORCE(
      attributes.kernel_shape.empty() || IntArrayRef(attributes.kernel_shape) == w.slice(2),
      "argument kernel_shape is ", IntArrayRef(attributes.kernel_shape), ", want ", w.slice(2),
      " as the filter W of shape ", w);
  CAFFE_ENFORCE(x[1] % group == 0 && w[1] == x[1] / group && w[0] % group == 0,
                "the filter W has shape ", w, ", want [M, ", x[1], " / ", group,
                ", ...] for the channels of input 0 (X), and M divisible by ", group, " groups");
  (void)CheckedMultiply(CheckedProduct(IntArrayRef{windows->batch, w[0]}), windows->out_size());
}

template <bool kQuantized>
class ConvIntegerOp final : public Operator<CPUContext> {
 public:
  ConvIntegerOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        places_(args(), InputSize()),
        attributes_(args()),
        group_(ReadArgument(kConvIntegerGroup)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& W = Input(kW);
    RequireElementsOf<uint8_t, int8_t>(X, "input 0 (X)");
    RequireElementsOf<uint8_t, int8_t>(W, "the filter W");
    if (x_dims_.empty() || X.dims() != x_dims_ || W.dims() != w_dims_) {
      x_dims_.clear();
      PlanConvInteger(attributes_, group_, X.sizes(), W.sizes(), &windows_);
      WindowOutputDims(windows_, W.dim(0), &y_dims_);
      w_dims_ = W.dims();
      x_dims_ = X.dims();
    }
    CheckParameters(X, W);
    Tensor* Y =
        Output(0, y_dims_,
               kQuantized ? Input(kQuantized ? kYZero : 0).dtype() : TypeMeta::Make<int32_t>());
    if (Y->numel() == 0) return true;
    ReadFilter(W);
    if constexpr (kQuantized) ReadScales(W.dim(0));
    return X.IsType<uint8_t>() ? Run<uint8_t>(X, Y) : Run<int8_t>(X, Y);
  }

 private:
  // ONNX's positions.
  static constexpr int kW = kQuantized ? 3 : 1;
  static constexpr int kXZero = 2, kWZero = kQuantized ? 5 : 3;
  static constexpr int kXScale = 1, kWScale = 4, kYScale = 6, kYZero = 7, kBias = 8;

  int Place(int position) const { return kQuantized ? position : places_[position]; }

  void CheckCount(int position, const char* name, int64_t count) const {
    const Tensor& tensor = Input(Place(position));
    CAFFE_ENFORCE(tensor.numel() == 1 || tensor.numel() == count, "input ", Place(position), " (",
                  name, ") has shape ", tensor.sizes(), ", want one element",
                  count > 1 ? " or one for each output channel" : "");
  }
  void CheckZero(int position, const char* name, const Tensor& like, int64_t count) const {
    if (Place(position) < 0) return;
    CAFFE_ENFORCE(Input(Place(position)).dtype() == like.dtype(), "input ", Place(position), " (",
                  name, ") has elements of type ", Input(Place(position)).dtype().name(), ", want ",
                  like.dtype().name());
    CheckCount(position, name, count);
  }
  void CheckParameters(const Tensor& X, const Tensor& W) const {
    CheckZero(kXZero, "x_zero_point", X, 1);
    CheckZero(kWZero, "w_zero_point", W, W.dim(0));
    if constexpr (kQuantized) {
      for (const int i : {kXScale, kWScale, kYScale}) RequireElements<float>(Input(i));
      CheckCount(kXScale, "x_scale", 1);
      CheckCount(kWScale, "w_scale", W.dim(0));
      CheckCount(kYScale, "y_scale", 1);
      RequireElementsOf<uint8_t, int8_t>(Input(kYZero), "input 7 (y_zero_point)");
      CheckCount(kYZero, "y_zero_point", 1);
      if (InputSize() > kBias) {
        RequireElements<int32_t>(Input(kBias));
        CAFFE_ENFORCE(Input(kBias).numel() == W.dim(0), "input 8 (B) has shape ",
                      Input(kBias).sizes(), ", want [", W.dim(0), "]");
      }
    }
  }

  void ReadFilter(const Tensor& W) {
    const int64_t row = W.numel() / W.dim(0);
    filter_.resize(static_cast<size_t>(W.numel()));
    for (int64_t m = 0; m < W.dim(0); ++m) {
      int32_t zero = 0;
      if (Place(kWZero) >= 0) {
        const Tensor& zeros = Input(Place(kWZero));
        zero = ByteAt(zeros, zeros.numel() == 1 ? 0 : m);
      }
      if (W.IsType<uint8_t>()) {
        WidenBytes(row, W.data<uint8_t>() + m * row, zero, filter_.data() + m * row);
      } else {
        WidenBytes(row, W.data<int8_t>() + m * row, zero, filter_.data() + m * row);
      }
    }
  }
  void ReadScales(int64_t channels) {
    const float x_scale = *Input(kXScale).template data<float>();
    const float y_scale = *Input(kYScale).template data<float>();
    CAFFE_ENFORCE(y_scale != 0 && std::isfinite(y_scale), "input 6 (y_scale) is ", y_scale,
                  ", want a finite number other than 0");
    const Tensor& scales = Input(kWScale);
    multipliers_.resize(static_cast<size_t>(channels));
    for (int64_t m = 0; m < channels; ++m) {
      const float w_scale = scales.data<float>()[scales.numel() == 1 ? 0 : m];
      multipliers_[static_cast<size_t>(m)] = x_scale * w_scale / y_scale;
    }
  }

  template <class T>
  bool Run(const Tensor& X, Tensor* Y) {
    const int32_t zero = Place(kXZero) < 0 ? 0 : ByteAt(Input(Place(kXZero)), 0);
    const T* x = X.data<T>();
    if constexpr (kQuantized) {
      sums_.resize(static_cast<size_t>(Y->numel()));
    } else {
      (void)Y->template mutable_data<int32_t>();
    }
    int32_t* sums = kQuantized ? sums_.data() : static_cast<int32_t*>(Y->raw_mutable_data());
    if (windows_.channels == group_) {
      RunDepthwise(x, zero, sums);
    } else {
      RunGroups(x, zero, sums);
    }
    if constexpr (kQuantized) {
      if (Y->IsType<uint8_t>()) {
        Quantize(sums, Y->template mutable_data<uint8_t>());
      } else {
        Quantize(sums, Y->template mutable_data<int8_t>());
      }
    }
    return true;
  }

  template <class T>
  void RunDepthwise(const T* x, int32_t zero, int32_t* sums) {
    const int64_t channels = y_dims_[1], pixels = windows_.out_size(), taps = windows_.taps();
    ParallelRanges(windows_.batch * channels, pixels * taps, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const int64_t image = i / channels, m = i % channels;
        const int64_t c = m / (channels / group_);
        IntegerDepthwiseSums(windows_, x + (image * windows_.channels + c) * windows_.in_size(),
                             zero, filter_.data() + m * taps, sums + i * pixels);
      }
    });
  }

  // A task is a block of pixels of one group of an image: its columns are multiplied by the filter.
  template <class T>
  void RunGroups(const T* x, int32_t zero, int32_t* sums) {
    const int64_t pixels = windows_.out_size(), blocks = (pixels - 1) / kPixelsAtOnce + 1;
    const int64_t in_group = windows_.channels / group_, out_group = y_dims_[1] / group_;
    const int64_t depth = in_group * windows_.taps();
    const int64_t tasks = windows_.batch * group_ * blocks;
    const int pieces = static_cast<int>(std::min<int64_t>(GetNumThreads(), tasks));
    // Room of int16 numbers, in floats.
    const PieceScratch scratch = scratch_.ForPieces(pieces, kPixelsAtOnce * depth / 2 + 16);
    ParallelFor(pieces, [&](int piece) {
      int16_t* rows = reinterpret_cast<int16_t*>(scratch[piece]);
      const int64_t end =
          tasks / pieces * (piece + 1) + std::min<int64_t>(piece + 1, tasks % pieces);
      for (int64_t t = tasks / pieces * piece + std::min<int64_t>(piece, tasks % pieces); t < end;
           ++t) {
        const int64_t image = t / blocks / group_, g = t / blocks % group_;
        const int64_t first = t % blocks * kPixelsAtOnce;
        const int64_t last = std::min(first + kPixelsAtOnce, pixels);
        IntegerColumns(windows_,
                       x + (image * windows_.channels + g * in_group) * windows_.in_size(),
                       in_group, zero, first, last, rows);
        MultiplyRows(out_group, last - first, depth, filter_.data() + g * out_group * depth, rows,
                     sums + (image * y_dims_[1] + g * out_group) * pixels + first, pixels);
      }
    });
  }

  template <class T>
  void Quantize(int32_t* sums, T* y) {
    const int64_t channels = y_dims_[1], pixels = windows_.out_size();
    const int32_t* bias = InputSize() > kBias ? Input(kBias).template data<int32_t>() : nullptr;
    const int32_t zero = ByteAt(Input(kYZero), 0);
    ParallelRanges(windows_.batch * channels, pixels, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        int32_t* row = sums + i * pixels;
        const int64_t m = i % channels;
        if (bias != nullptr) {
          const uint32_t term = static_cast<uint32_t>(bias[m]);
          for (int64_t p = 0; p < pixels; ++p) {
            row[p] = static_cast<int32_t>(static_cast<uint32_t>(row[p]) + term);
          }
        }
        RequantizeSums(pixels, row, {multipliers_.data() + m, 0, zero}, y + i * pixels);
      }
    });
  }

  const InputPlaces places_;
  const WindowAttributes attributes_;
  const int64_t group_;
  Windows windows_;
  std::vector<int64_t> x_dims_, w_dims_, y_dims_;
  std::vector<int16_t> filter_;
  std::vector<float> multipliers_;
  std::vector<int32_t> sums_;
  ThreadScratch scratch_;
};

std::vector<TensorShape> InferConvInteger(const OperatorDef& def,
                                          const std::vector<TensorShape>& in, size_t w,
                                          TensorProto_DataType type) {
  if (in.size() <= w || !IsKnown(in[0]) || !IsKnown(in[w])) return UnknownOutputs(def);
  const ArgumentHelper args(def);
  Windows windows;
  const std::vector<int64_t> filter = GetDimsVector(in[w]);
  PlanConvInteger(WindowAttributes(args), args.Read(kConvIntegerGroup), GetDimsVector(in[0]),
                  filter, &windows);
  std::vector<int64_t> dims;
  WindowOutputDims(windows, filter[0], &dims);
  return {CreateTensorShape(dims, type)};
}

}  // namespace

void RegisterConvInteger() {
  OpSchema& integer =
      RegisterSchema("ConvInteger", __FILE__)
          .NumInputs(2, 4)
          .NumOutputs(1)
          .Args(kConvIntegerGroup, kOmittedInputs)
          .Input(0, "X", "uint8 or int8, [N, C, spatial...]")
          .Input(1, "W", "uint8 or int8, [M, C / group, kernel...]")
          .Input(2, "x_zero_point", "the type of X, one element; default: 0")
          .Input(3, "w_zero_point", "the type of W: one element, or M; default: 0")
          .Output(0, "Y", "int32, [N, M, spatial...]")
          .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
            return InferConvInteger(def, in, 1, TensorProto_DataType_INT32);
          })
          .Traits({.family = OperatorFamily::kConv})
          .SetDoc(
              "Computes the convolution of bytes exactly: of X - x_zero_point, whose padding is 0, "
              "with W - w_zero_point.");
  DeclareWindowAttributes(integer, false);
  RegisterCpuOperator<ConvIntegerOp<false>>("ConvInteger", __FILE__);

  OpSchema& quantized =
      RegisterSchema("QLinearConv", __FILE__)
          .NumInputs(8, 9)
          .NumOutputs(1)
          .Args(kConvIntegerGroup, kOmittedInputs)
          .Input(0, "X", "uint8 or int8, [N, C, spatial...]")
          .Input(1, "x_scale", "float, one element")
          .Input(2, "x_zero_point", "the type of X, one element")
          .Input(3, "W", "uint8 or int8, [M, C / group, kernel...]")
          .Input(4, "w_scale", "float: one element, or M")
          .Input(5, "w_zero_point", "the type of W: one element, or M")
          .Input(6, "y_scale", "float, one element")
          .Input(7, "y_zero_point", "uint8 or int8, one element")
          .Input(8, "B", "int32, [M]: a bias with the scale x_scale * w_scale; default: none")
          .Output(0, "Y", "the type of y_zero_point, [N, M, spatial...]")
          .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
            if (in.size() < 8 || !in[7].has_data_type() ||
                in[7].data_type() == TensorProto_DataType_UNDEFINED) {
              return UnknownOutputs(def);
            }
            return InferConvInteger(def, in, 3, in[7].data_type());
          })
          .Traits({.family = OperatorFamily::kConv})
          .SetDoc(
              "Computes the convolution of quantized numbers as ONNX does: the exact sums, plus "
              "the "
              "bias, times x_scale * w_scale / y_scale, rounded to nearest, ties to even, plus "
              "y_zero_point.");
  DeclareWindowAttributes(quantized, false);
  RegisterCpuOperator<ConvIntegerOp<true>>("QLinearConv", __FILE__);
  // Inputs and outputs are integers.
  for (const char* type : {"ConvInteger", "QLinearConv"}) {
    RegisterGradient<ThrowInTheTowelIfGradientIsCalled>(type, __FILE__);
  }
}

}  // namespace caffe2rt
