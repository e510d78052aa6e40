// SpatialBN and SpatialBNFusion on IDEEP, in test mode only, in the layout of X. The parameters are on
// the CPU. With output_precision bf16 or int8, SpatialBNFusion writes Y in these elements: bytes in
// nhwc. It writes floats if the activation does more than to bound, if Y is in place of X, and instead
// of bf16 where convolutions do not multiply that.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "caffe2_core/graph/passes/conv_layouts.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/plans_ahead.h"
#include "contexts/onednn/onednn_context.h"
#include "operators/common/channel_functions.h"
#include "operators/common/fused_activation.h"
#include "operators/common/host_input.h"
#include "operators/common/onednn_argument.h"
#include "operators/common/onednn_planes.h"
#include "operators/norm/spatial_bn.h"

namespace caffe2rt {

namespace {

using Element = dnnl::memory::data_type;

// y = x * factor + term.
struct FactorsOfBatchNorm {
  CAFFE2RT_SIMD_INLINE void operator()(const BatchNormTest* parameters, int64_t n, float* factor,
                                       float* term) const {
    const BatchNormTest p = *parameters;
    CAFFE2RT_SIMD_LOOP
    for (int64_t i = 0; i < n; ++i) {
      factor[i] = p.scale[i] / __builtin_sqrtf(p.var[i] + p.epsilon);
      term[i] = p.bias[i] - p.mean[i] * factor[i];
    }
  }
};

template <class T>
using Block [[gnu::vector_size(kChannelBlock * sizeof(T))]] = T;

// Conversions of a block of results to the elements of Y.
struct ToFloats {
  using Element = float;
  CAFFE2RT_SIMD_INLINE void operator()(const Block<float>& y, Block<float>* to) const { *to = y; }
};
// The upper halves, rounded to even. A NaN stays.
struct ToBfloat16s {
  using Element = uint16_t;
  CAFFE2RT_SIMD_INLINE void operator()(const Block<float>& y, Block<uint16_t>* to) const {
    Block<uint32_t> bits;
    std::memcpy(&bits, &y, sizeof(bits));
    const Block<uint32_t> rounded = bits + 0x7fff + ((bits >> 16) & 1);
    const Block<uint32_t> quiet = bits | 0x400000;
    const Block<uint32_t> kept = (bits & 0x7fffffff) > 0x7f800000 ? quiet : rounded;
    *to = __builtin_convertvector(kept >> 16, Block<uint16_t>);
  }
};
// clamp(round(y / scale) + zero point, 0, 255). Halves are rounded to even; a NaN becomes 0.
struct ToBytes {
  using Element = uint8_t;
  float inverse, zero_point;
  CAFFE2RT_SIMD_INLINE void operator()(const Block<float>& y, Block<uint8_t>* to) const {
    constexpr float kNoFraction = 12582912;  // 1.5 * 2^23: a sum with it has no bits for a fraction
    const Block<float> low = Block<float>{} - zero_point, high = low + 255;
    Block<float> q = y * inverse;
    q = q >= low ? q : low;
    q = q <= high ? q : high;
    q = (q + kNoFraction) - kNoFraction;
    *to = __builtin_convertvector(__builtin_convertvector(q - low, Block<int32_t>), Block<uint8_t>);
  }
};

// y = x * a + b, at least `lowest` and at most `highest`. A NaN stays.
template <class Convert>
struct BoundedScaleAndShift {
  using Element = typename Convert::Element;
  Convert convert;
  float lowest, highest;

  CAFFE2RT_SIMD_INLINE void operator()(int64_t pixels, int64_t lanes, const float* a,
                                       const float* b, const float* x, Element* y) const {
    const BoundedScaleAndShift local = *this;
    if (lanes == kChannelBlock) {
      for (int64_t i = 0; i < pixels * lanes; i += kChannelBlock) local.Run(a, b, x + i, y + i);
      return;
    }
    for (int64_t p = 0; p < pixels; ++p, x += lanes, y += lanes) {
      int64_t c = 0;
      for (; c + kChannelBlock <= lanes; c += kChannelBlock) local.Run(a + c, b + c, x + c, y + c);
      if (c < lanes) local.RunSome(lanes - c, a + c, b + c, x + c, y + c);
    }
  }

  CAFFE2RT_SIMD_INLINE void Run(const float* a, const float* b, const float* x, Element* y) const {
    Block<float> v, factor, term;
    std::memcpy(&v, x, sizeof(v));
    std::memcpy(&factor, a, sizeof(v));
    std::memcpy(&term, b, sizeof(v));
    v = v * factor + term;
    const Block<float> low = Block<float>{} + lowest, high = Block<float>{} + highest;
    v = v < low ? low : v;
    v = v > high ? high : v;
    Block<Element> result;
    convert(v, &result);
    std::memcpy(y, &result, sizeof(result));
  }
  // The first channels of a block, computed by the same instructions.
  CAFFE2RT_SIMD_INLINE void RunSome(int64_t count, const float* a, const float* b, const float* x,
                                    Element* y) const {
    float in[3][kChannelBlock] = {};
    Element out[kChannelBlock];
    for (int64_t i = 0; i < count; ++i) {
      in[0][i] = a[i];
      in[1][i] = b[i];
      in[2][i] = x[i];
    }
    Run(in[0], in[1], in[2], out);
    for (int64_t i = 0; i < count; ++i) y[i] = out[i];
  }
};

// The same for `pixels` pixels of an image in nChw16c, whose blocks are `plane` floats apart. Y is in nhwc.
struct BlocksToPixels {
  BoundedScaleAndShift<ToBytes> scale;

  CAFFE2RT_SIMD_INLINE void operator()(int64_t pixels, int64_t channels, int64_t plane,
                                       const float* a, const float* b, const float* x,
                                       uint8_t* y) const {
    constexpr int64_t kTogether = 4 * kChannelBlock;  // the bytes of a cache line
    const BoundedScaleAndShift<ToBytes> local = scale;
    int64_t c = 0;
    for (; c + kTogether <= channels; c += kTogether) {
      const float* const blocks = x + c / kChannelBlock * plane;
      for (int64_t p = 0; p < pixels; ++p) {
        for (int64_t i = 0; i < kTogether; i += kChannelBlock) {
          local.Run(a + c + i, b + c + i, blocks + i / kChannelBlock * plane + p * kChannelBlock,
                    y + p * channels + c + i);
        }
      }
    }
    for (; c < channels; c += kChannelBlock) {
      const float* const block = x + c / kChannelBlock * plane;
      const int64_t count = std::min(kChannelBlock, channels - c);
      for (int64_t p = 0; p < pixels; ++p) {
        const float* const from = block + p * kChannelBlock;
        uint8_t* const to = y + p * channels + c;
        if (count == kChannelBlock) {
          local.Run(a + c, b + c, from, to);
        } else {
          local.RunSome(count, a + c, b + c, from, to);
        }
      }
    }
  }
};

class SpatialBNOnednnOp final : public Operator<IDEEPContext>, public PlansAhead {
 public:
  SpatialBNOnednnOp(const OperatorDef& def, Workspace* ws)
      : Operator<IDEEPContext>(def, ws), epsilon_(ReadArgument(kSpatialBnEpsilon)) {
    CAFFE_ENFORCE(ReadArgument(kSpatialBnIsTest),
                  "argument is_test is 0, want 1: IDEEP is for inference");
    CAFFE_ENFORCE(ReadStorageOrder(args()) == StorageOrder::NCHW,
                  "argument order is NHWC, want NCHW: tensors on IDEEP have dims N, C, H, W");
    CAFFE_ENFORCE_EQ(OutputSize(), 1, "outputs with is_test 1");
    if (type() != "SpatialBNFusion") return;
    activation_ = ReadActivation(args());
    bounds_ = FindBounds(activation_, &lowest_, &highest_);
    if (!bounds_) return;
    const std::string precision = ReadArgument(kOutputPrecision);
    if (precision == "bf16" && WhyNoBf16Convs().empty()) wanted_ = Element::bf16;
    if (precision != "int8") return;
    wanted_ = Element::u8;
    quantization_ = QuantizationOfRange(ReadArgument(kOutputMin), ReadArgument(kOutputMax));
  }

  void PlanAhead(const AheadInputs&) override {
    Plan(Input(0), Output(0));
    PrepareOutputMemory(Output(0), Input(0).dims(), layout_);
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    Tensor* const Y = Output(0);
    if (!input_.Matches(X)) Plan(X, Y);
    ComputeFactors();
    const float* const x = input_.Read(X);
    const InplaceInput kept(X, Y);
    void* const y = PrepareOutputMemory(Y, X.dims(), layout_);
    switch (element_) {
      case Element::bf16:
        Scale(ToBfloat16s{}, x, static_cast<uint16_t*>(y));
        break;
      case Element::u8:
        ScaleToBytes(x, static_cast<uint8_t*>(y));
        break;
      default:
        Scale(ToFloats{}, x, static_cast<float*>(y));
        if (!bounds_) Activate(static_cast<float*>(y));
    }
    return true;
  }

 private:
  void Plan(const Tensor& X, const Tensor* Y) {
    element_ = &X == Y ? Element::f32 : wanted_;
    input_.Plan(0, X);
    input_.Forget();  // until all is planned: there may be no memory for the rest
    const ChannelPlanes& planes = input_.planes();
    const bool blocked = planes.blocked && element_ != Element::u8;
    const auto format = blocked ? OnednnFormat::kBlocked16 : OnednnFormat::kNhwc;
    layout_ = element_ == Element::f32
                  ? LayoutOf(planes)
                  : OnednnLayout::New(DescIn(format, X.dims(), element_), quantization_);
    // The padding of the last block keeps factor and term 0.
    factor_.assign(static_cast<size_t>(planes.padded_channels()), 0.0f);
    term_ = factor_;
    input_.Remember(X);
  }

  void ComputeFactors() {
    const int64_t channels = input_.planes().channels;
    const auto vector = [&](int i, const char* name) {
      return ChannelVector(parameters_[i - 1].Read(*this, i), i, name, channels);
    };
    const BatchNormTest parameters{.epsilon = epsilon_,
                                   .scale = vector(1, "scale"),
                                   .bias = vector(2, "bias"),
                                   .mean = vector(3, "mean"),
                                   .var = vector(4, "var")};
    RunSimd(FactorsOfBatchNorm{}, &parameters, channels, factor_.data(), term_.data());
  }

  template <class Convert>
  void Scale(const Convert& convert, const float* x, typename Convert::Element* y) const {
    const ChannelPlanes& planes = input_.planes();
    const BoundedScaleAndShift<Convert> kernel{convert, lowest_, highest_};
    RunOnPixels(planes, kernel, factor_.data(), term_.data(), 0, x, y);
    if (lowest_ > 0 || highest_ < 0) ClearPadding(planes, y);
  }

  void ScaleToBytes(const float* x, uint8_t* y) const {
    const ToBytes convert{1 / quantization_.scale, static_cast<float>(quantization_.zero_point)};
    const ChannelPlanes& planes = input_.planes();
    if (!planes.blocked) return Scale(convert, x, y);
    const BlocksToPixels kernel{{convert, lowest_, highest_}};
    const int64_t width = planes.width;
    ForEachRange(planes.batch * planes.height, width * planes.padded_channels(), 1,
                 [&](int64_t row, int64_t last) {
                   for (; row < last; ++row) {
                     const int64_t from = row / planes.height * planes.image_size() +
                                          row % planes.height * width * kChannelBlock;
                     RunSimd(kernel, width, planes.channels, planes.plane_size(), factor_.data(),
                             term_.data(), x + from, y + row * width * planes.channels);
                   }
                 });
  }

  void Activate(float* y) const {
    const ChannelPlanes& planes = input_.planes();
    ForEachRange(planes.size() / kChannelBlock, kChannelBlock, 2, [&](int64_t first, int64_t last) {
      const int64_t count = (last - first) * kChannelBlock;
      FinishRows(nullptr, activation_, 1, count, y + first * kChannelBlock, count);
    });
    const int64_t rest = planes.size() % kChannelBlock;
    if (rest > 0) FinishRows(nullptr, activation_, 1, rest, y + planes.size() - rest, rest);
    ClearPadding(planes, y);
  }

  const float epsilon_;
  Activation activation_;
  bool bounds_ = true;  // that is all that the activation does
  float lowest_ = -std::numeric_limits<float>::infinity();
  float highest_ = std::numeric_limits<float>::infinity();
  Element wanted_ = Element::f32, element_ = Element::f32;  // of Y
  OnednnQuantization quantization_;                         // of bytes
  PlanesInput input_;
  HostInput parameters_[4];
  std::shared_ptr<const OnednnLayout> layout_;
  std::vector<float> factor_, term_;
};

}  // namespace

void RegisterSpatialBnIdeep() {
  RegisterOperator<SpatialBNOnednnOp>(IDEEP, "SpatialBN", __FILE__);
  RegisterOperator<SpatialBNOnednnOp>(IDEEP, "SpatialBNFusion", __FILE__);
}

}  // namespace caffe2rt
