// Rows of codes of 4 or 2 bits with a scale and a bias each: element = code * scale + bias. Types with
// 2Bit instead of 4Bit have four codes in a byte instead of two.
//
//   FloatToFused4BitRowwiseQuantized, HalfToFused4BitRowwiseQuantized   [..., D] -> uint8 [..., D / 2 + 4]
//   Fused4BitRowwiseQuantizedToFloat, -ToHalf                           uint8 [..., D / 2 + 4] -> [..., D]
//   FloatToFused4BitFakeRowwiseQuantized, HalfToFused4BitFakeRowwiseQuantized   [N, D] -> uint8 [N, D + 8]
//
// Scale and bias are float16 behind the codes. The fake ones write the same codes as bytes, and the
// rounded scale and bias as floats, which is the form of Fused8BitRowwiseQuantizedToFloat.
// The engine GREEDY searches a smaller range of each row with less error.
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"
#include "operators/quantize/fused_rows.h"

namespace caffe2rt {
namespace {

// The scale and bias of codes from `least` to `greatest`, as float16. The scale is 1 where a float16
// has no inverse.
template <int kBits>
ScaleAndBias ScaleOfRange(float least, float greatest) {
  const float bias = float16(least);
  const float range = greatest - bias;
  float scale = range == 0 ? 1.0f : static_cast<float>(float16(range / kGreatestCode<kBits>));
  if (scale == 0) scale = 1;
  return {scale, bias};
}

template <int kBits>
uint8_t CodeOf(float x, const ScaleAndBias& row) {
  return CodeOfStep<kBits>(std::nearbyint((x - row.bias) * (1.0f / row.scale)));
}

template <int kBits, class T>
float SquaredError(const T* x, int64_t n, float least, float greatest) {
  const ScaleAndBias row = ScaleOfRange<kBits>(least, greatest);
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const auto value = static_cast<float>(x[i]);
    const float error =
        static_cast<float>(CodeOf<kBits>(value, row)) * row.scale + row.bias - value;
    sum += error * error;
  }
  return sum;
}

// Narrows the range of a row step by step, by a 200th of it at the end that leaves less error, until
// 84 percent are left. The result is the best local minimum of the error, or the whole range.
template <int kBits, class T>
std::pair<float, float> SearchRange(const T* x, int64_t n, std::pair<float, float> whole) {
  constexpr int kSteps = 200, kKeptSteps = 168;
  std::pair<float, float> best = whole;
  auto [least, greatest] = whole;
  const float step = (greatest - least) / kSteps;
  float error = SquaredError<kBits>(x, n, least, greatest), least_error = error;
  // Steps that are smaller than the spacing of floats change nothing: hence the count.
  for (int i = 0; i < kSteps && least + kKeptSteps * step < greatest; ++i) {
    const float of_low = SquaredError<kBits>(x, n, least + step, greatest),
                of_high = SquaredError<kBits>(x, n, least, greatest - step);
    if (error < of_low && error < of_high && error < least_error) {
      least_error = error;
      best = {least, greatest};
    }
    if (of_low < of_high) {
      least += step;
      error = of_low;
    } else {
      greatest -= step;
      error = of_high;
    }
  }
  return best;
}

template <class T, int kBits, bool kFake, bool kSearch>
class ToFusedCodesOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    if (kFake) {
      CAFFE_ENFORCE_EQ(X.dim(), 2, "rank of input 0 (input) of shape ", X.sizes());
    } else {
      CAFFE_ENFORCE_GE(X.dim(), 1, "rank of input 0 (input)");
    }
    const T* x = X.data<T>();
    const int64_t n = X.dims().back();
    CAFFE_ENFORCE_GE(n, 1, "size of the last dimension of input 0 (input)");
    CAFFE_ENFORCE_EQ(n % kPerByte, 0, "size ", n,
                     " of the last dimension of input 0 (input) modulo ", kPerByte,
                     ", the codes of a byte");
    const int64_t bytes = n / kPerByte;
    dims_.assign(X.dims().begin(), X.dims().end());
    dims_.back() = CheckedAdd(bytes, kTailBytes<Tail>);
    uint8_t* y = OutputData<uint8_t>(0, dims_);
    for (int64_t i = 0; i < X.numel() / n; ++i, x += n, y += bytes + kTailBytes<Tail>) {
      std::pair<float, float> range = RangeOfRow(x, n);
      if (kSearch) range = SearchRange<kBits>(x, n, range);
      ScaleAndBias row = ScaleOfRange<kBits>(range.first, range.second);
      std::fill_n(y, bytes, uint8_t{0});
      for (int64_t j = 0; j < n; ++j) {
        const int shift = static_cast<int>(j % kPerByte) * kBits;
        y[j / kPerByte] = static_cast<uint8_t>(
            y[j / kPerByte] | CodeOf<kBits>(static_cast<float>(x[j]), row) << shift);
      }
      if constexpr (kFake) {
        // As in Caffe2, a scale that is less than a float16 is 0 here.
        const float scale = float16((range.second - row.bias) / kGreatestCode<kBits>);
        if (scale == 0 && range.second != row.bias) row.scale = scale;
      }
      WriteTail<Tail>(row, y + bytes);
    }
    return true;
  }

 private:
  using Tail = std::conditional_t<kFake, float, float16>;
  static constexpr int64_t kPerByte = kFake ? 1 : kCodesPerByte<kBits>;
  std::vector<int64_t> dims_;
};

template <class T>
const char* const kElements = std::is_same_v<T, float> ? "float" : "float16";

template <class T, int kBits, bool kFake>
void RegisterToFused(const std::string& type) {
  constexpr int64_t kPerByte = kFake ? 1 : kCodesPerByte<kBits>;
  const std::string per_byte = MakeString(kPerByte);
  RegisterSchema(type, __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Input(0, "input",
             kFake ? std::string("[N, D] ") + kElements<T> + ", D at least 1"
                   : std::string("[..., D] ") + kElements<T> + ", D a multiple of " + per_byte)
      .Output(0, "output",
              kFake ? std::string("uint8 [N, D + 8]: the codes of each row as bytes, its scale and "
                                  "its bias as floats")
                    : "uint8 [..., D / " + per_byte +
                          " + 4]: the codes of each row, its scale and its bias as float16")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1) || in[0].dims_size() == 0 || (kFake && in[0].dims_size() != 2))
          return UnknownOutputs(def);
        std::vector<int64_t> dims = GetDimsVector(in[0]);
        if (dims.back() % kPerByte != 0) return UnknownOutputs(def);
        dims.back() = CheckedAdd<int64_t>(dims.back() / kPerByte,
                                          kFake ? kTailBytes<float> : kTailBytes<float16>);
        return std::vector<TensorShape>{CreateTensorShape(dims, TensorProto_DataType_UINT8)};
      })
      .SetDoc(
          MakeString("Quantizes rows to codes of ", kBits) +
          " bits, each row with its scale and bias behind its codes. The engine GREEDY searches "
          "a smaller range of each row with less error.");
  RegisterCpuOperator<ToFusedCodesOp<T, kBits, kFake, false>>(type, __FILE__);
  RegisterCpuOperator<ToFusedCodesOp<T, kBits, kFake, true>>(type, __FILE__, "GREEDY");
  RegisterGradient<NoGradient>(type, __FILE__);
}

template <class T, int kBits>
void RegisterFromFused(const std::string& type, const std::string& output) {
  constexpr int64_t kPerByte = kCodesPerByte<kBits>;
  RegisterSchema(type, __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Input(0, "scale_bias_quantized_input",
             MakeString("uint8 [..., D / ", kPerByte, " + 4]: rows of codes, scale and bias"))
      .Output(0, output, std::string("[..., D] ") + kElements<T>)
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1) || in[0].dims_size() == 0) return UnknownOutputs(def);
        std::vector<int64_t> dims = GetDimsVector(in[0]);
        if (dims.back() < kTailBytes<float16>) return UnknownOutputs(def);
        dims.back() = CheckedMultiply<int64_t>(dims.back() - kTailBytes<float16>, kPerByte);
        return std::vector<TensorShape>{
            CreateTensorShape(dims, std::is_same_v<T, float> ? TensorProto_DataType_FLOAT
                                                             : TensorProto_DataType_FLOAT16)};
      })
      .SetDoc("Computes the elements of fused rows: code * scale + bias.");
  RegisterCpuOperator<FromFusedRowsOp<T, float16, kBits>>(type, __FILE__);
  RegisterGradient<NoGradient>(type, __FILE__);
}

template <int kBits>
void RegisterBits() {
  const std::string bits = MakeString("Fused", kBits, "Bit");
  RegisterToFused<float, kBits, false>("FloatTo" + bits + "RowwiseQuantized");
  RegisterToFused<float16, kBits, false>("HalfTo" + bits + "RowwiseQuantized");
  RegisterToFused<float, kBits, true>("FloatTo" + bits + "FakeRowwiseQuantized");
  RegisterToFused<float16, kBits, true>("HalfTo" + bits + "FakeRowwiseQuantized");
  RegisterFromFused<float, kBits>(bits + "RowwiseQuantizedToFloat", "float_output");
  RegisterFromFused<float16, kBits>(bits + "RowwiseQuantizedToHalf", "float16_output");
}

}  // namespace

void RegisterRowwise4bit() {
  RegisterBits<4>();
  RegisterBits<2>();
}

}  // namespace caffe2rt
