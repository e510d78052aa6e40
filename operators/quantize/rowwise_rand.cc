// FloatToFusedRandRowwiseQuantized, FusedRandRowwiseQuantizedToFloat: rows of codes of 1, 2, 4 or 8
// bits, which are the multiples of a step from the least element, rounded at random or to nearest.
//   float [N, D]  ->  uint8 [N, 10 + S], S = D * bitwidth / 8 rounded up  ->  float [N, D]
//
// A row: the bitwidth (1 byte), the codes that its bytes could hold beyond D (1 byte), the least and
// the greatest element (floats), and S bytes. Code i is in byte i % S, at bit i / S * bitwidth.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"
#include "operators/primitives/random.h"

namespace caffe2rt {
namespace {

constexpr int64_t kRandHeaderBytes = 10;
// Added to the size of a step, so that a constant row has a finite inverse.
constexpr double kLeastStep = 1e-8;

bool IsRandBitwidth(int bits) { return bits == 1 || bits == 2 || bits == 4 || bits == 8; }

constexpr ArgumentSpec<int> kRandBitwidth{
    "bitwidth", 8, "the bits of a code: 1, 2, 4 or 8", {IsRandBitwidth, "1, 2, 4 or 8"}};
constexpr ArgumentSpec<bool> kRandRandom{
    "random", true, "1: rounds up with the probability of the fraction; 0: rounds to nearest"};

double StepOfRow(float least, float greatest, int bits) {
  return (greatest - least) / static_cast<float>((1 << bits) - 1) + kLeastStep;
}

int64_t BytesOfCodes(int64_t n, int bits) {
  const int64_t per_byte = 8 / bits;
  return n / per_byte + (n % per_byte != 0);
}

class ToRandRowsOp final : public Operator<CPUContext> {
 public:
  ToRandRowsOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        bits_(ReadArgument(kRandBitwidth)),
        random_(ReadArgument(kRandRandom)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_EQ(X.dim(), 2, "rank of input 0 (input) of shape ", X.sizes());
    const float* x = X.data<float>();
    const int64_t rows = X.dim(0), n = X.dim(1);
    CAFFE_ENFORCE_GE(n, 1, "size of the last dimension of input 0 (input)");
    const int64_t bytes = BytesOfCodes(n, bits_);
    uint8_t* y = OutputData<uint8_t>(0, {rows, CheckedAdd(bytes, kRandHeaderBytes)});
    for (int64_t row = 0; row < rows; ++row, x += n, y += bytes) {
      float range[2] = {std::numeric_limits<float>::infinity(),
                        -std::numeric_limits<float>::infinity()};
      for (int64_t i = 0; i < n; ++i) {
        range[0] = std::min(range[0], x[i]);
        range[1] = std::max(range[1], x[i]);
      }
      *y++ = static_cast<uint8_t>(bits_);
      *y++ = static_cast<uint8_t>(bytes * (8 / bits_) - n);
      std::memcpy(y, range, sizeof range);
      y += sizeof range;
      std::fill_n(y, bytes, uint8_t{0});
      const auto inverse = static_cast<float>(1 / StepOfRow(range[0], range[1], bits_));
      for (int64_t i = 0; i < n; ++i) {
        uint8_t& byte = y[i % bytes];
        byte = static_cast<uint8_t>(byte | CodeOf((x[i] - range[0]) * inverse)
                                               << static_cast<int>(i / bytes) * bits_);
      }
    }
    return true;
  }

 private:
  int CodeOf(float steps) {
    const float rounded =
        random_ ? std::floor(steps + math::UniformFloat(context_.RandGenerator(), 0.0f, 1.0f))
                : std::nearbyint(steps);
    const int greatest = (1 << bits_) - 1;
    // As in Caffe2, NaN has the greatest code.
    if (!(rounded < static_cast<float>(greatest))) return greatest;
    return rounded > 0 ? static_cast<int>(rounded) : 0;
  }

  const int bits_;
  const bool random_;
};

class FromRandRowsOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_EQ(X.dim(), 2, "rank of input 0 (quantized_input) of shape ", X.sizes());
    const uint8_t* x = X.data<uint8_t>();
    const int64_t rows = X.dim(0), bytes = X.dim(1) - kRandHeaderBytes;
    CAFFE_ENFORCE(rows >= 1 && bytes >= 0, "input 0 (quantized_input) has shape ", X.sizes(),
                  ", want at least one row of at least ", kRandHeaderBytes, " bytes");
    const int bits = x[0];
    CAFFE_ENFORCE(IsRandBitwidth(bits), "bitwidth in row 0 of input 0 (quantized_input) is ", bits,
                  ", want 1, 2, 4 or 8");
    const int unused = x[1];
    const int64_t n = CheckedMultiply<int64_t>(bytes, 8 / bits) - unused;
    CAFFE_ENFORCE_GE(n, 0, "elements of a row of input 0 (quantized_input) of shape ", X.sizes(),
                     " with ", unused, " unused codes");
    float* y = OutputData<float>(0, {rows, n});
    for (int64_t row = 0; row < rows; ++row, y += n, x += kRandHeaderBytes + bytes) {
      CAFFE_ENFORCE_EQ(int{x[0]}, bits, "bitwidth in row ", row,
                       " of input 0 (quantized_input), want that of row 0");
      CAFFE_ENFORCE_EQ(int{x[1]}, unused, "unused codes of row ", row,
                       " of input 0 (quantized_input), want those of row 0");
      float range[2];
      std::memcpy(range, x + 2, sizeof range);
      const auto step = static_cast<float>(StepOfRow(range[0], range[1], bits));
      const uint8_t* const codes = x + kRandHeaderBytes;
      for (int64_t i = 0; i < n; ++i) {
        const int code = codes[i % bytes] >> static_cast<int>(i / bytes) * bits & ((1 << bits) - 1);
        y[i] = range[0] + static_cast<float>(code) * step;
      }
    }
    return true;
  }
};

}  // namespace

void RegisterRowwiseRand() {
  RegisterSchema("FloatToFusedRandRowwiseQuantized", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Args(kRandBitwidth, kRandRandom)
      .Input(0, "input", "[N, D] float, D at least 1")
      .Output(
          0, "output",
          "uint8 [N, 10 + S], S = D * bitwidth / 8 rounded up: the bitwidth, the number of unused "
          "codes, the least and the greatest element (floats) and the codes of each row")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1) || in[0].dims_size() != 2) return UnknownOutputs(def);
        const int bits = ArgumentHelper(def).Read(kRandBitwidth);
        const std::vector<int64_t> dims = {
            in[0].dims(0), CheckedAdd(BytesOfCodes(in[0].dims(1), bits), kRandHeaderBytes)};
        return std::vector<TensorShape>{CreateTensorShape(dims, TensorProto_DataType_UINT8)};
      })
      .HasEffect(Effect::kRandom)
      .SetDoc(
          "Quantizes rows to codes of a few bits: multiples of a step from the least element, "
          "rounded at random, so that the mean of the result is the element, or to nearest.");
  RegisterCpuOperator<ToRandRowsOp>("FloatToFusedRandRowwiseQuantized", __FILE__);
  RegisterSchema("FusedRandRowwiseQuantizedToFloat", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Input(0, "quantized_input", "uint8 [N, 10 + S], N at least 1: rows of one bitwidth and size")
      .Output(0, "float_input", "float [N, D]: the least element + code * step")
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>&) {
        return std::vector<TensorShape>{UnknownShapeOf(TensorProto::FLOAT)};
      })
      .SetDoc("Computes the elements of the rows of FloatToFusedRandRowwiseQuantized.");
  RegisterCpuOperator<FromRandRowsOp>("FusedRandRowwiseQuantizedToFloat", __FILE__);
  for (const char* type :
       {"FloatToFusedRandRowwiseQuantized", "FusedRandRowwiseQuantizedToFloat"}) {
    RegisterGradient<NoGradient>(type, __FILE__);
  }
}

}  // namespace caffe2rt
