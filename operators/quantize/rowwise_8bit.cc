// Rows of bytes with a scale and a bias for each row: element = byte * scale + bias.
//
// Fused rows have scale and bias behind their bytes, as floats (8 bytes) or as float16 (4 bytes):
//   FloatToFused8BitRowwiseQuantized, HalfFloatToFused8BitRowwiseQuantized   [..., D] -> uint8 [..., D + 8]
//   Fused8BitRowwiseQuantizedToFloat, -ToHalfFloat                           uint8 [..., D + 8] -> [..., D]
//   the same four with ...QuantizedHalfScaleBias                             uint8 [..., D + 4]
//   GatherFused8BitRowwise                    data uint8 [N, D + 8], indices -> [indices.., D]
// Or scale and bias are a tensor [N, 2] of their own:
//   FloatToRowwiseQuantized8Bits              [N, ...] -> uint8 [N, ...], [N, 2]
//   Rowwise8BitQuantizedToFloat               uint8 [N, ...], [N, 2] -> [N, ...]
#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/quantize/fused_rows.h"

namespace caffe2rt {
namespace {

// Added to the range of a fused row, so that a constant row has a finite factor.
constexpr float kLeastRange = 1e-8f;
// A row of the other form with a smaller range has the scale 1.
constexpr float kConstantRange = 1e-10f;
constexpr float kGreatestByte = 255.0f;

// Rounds to nearest by `round`: Caffe2's fused rows round ties to even, its other rows away from zero.
template <class T, class Round>
void QuantizeRow(const T* x, int64_t n, float least, float factor, Round round, uint8_t* y) {
  for (int64_t i = 0; i < n; ++i) {
    const float step = round((static_cast<float>(x[i]) - least) * factor);
    y[i] = CodeOfStep<8>(step);
  }
}

// T: elements; S: scale and bias.
template <class T, class S>
class ToFusedRowsOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_GE(X.dim(), 1, "rank of input 0 (input)");
    const T* x = X.data<T>();
    const int64_t n = X.dims().back();
    CAFFE_ENFORCE_GE(n, 1, "size of the last dimension of input 0 (input)");
    dims_.assign(X.dims().begin(), X.dims().end());
    dims_.back() = CheckedAdd(n, kTailBytes<S>);
    uint8_t* y = OutputData<uint8_t>(0, dims_);
    for (int64_t row = 0; row < X.numel() / n; ++row, x += n, y += n + kTailBytes<S>) {
      const auto [least, greatest] = RangeOfRow(x, n);
      const float range = greatest - least;
      ScaleAndBias row_scale{range / kGreatestByte, least};
      float factor = kGreatestByte / (range + kLeastRange);
      if constexpr (std::is_same_v<S, float16>) {
        // The bytes are those of the rounded scale and bias.
        row_scale = {float16(row_scale.scale), float16(row_scale.bias)};
        factor = 1.0f / (row_scale.scale > 0 ? row_scale.scale : 1.0f);
      }
      QuantizeRow(
          x, n, row_scale.bias, factor, [](float step) { return std::nearbyint(step); }, y);
      WriteTail<S>(row_scale, y + n);
    }
    return true;
  }

 private:
  std::vector<int64_t> dims_;
};

class GatherFusedRowsOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    return DispatchByType<int32_t, int64_t>(Input(1).dtype(), "input 1 (INDICES)",
                                            [&](auto index) { return Gather<decltype(index)>(); });
  }

 private:
  template <class Index>
  bool Gather() {
    const Tensor& data = Input(0);
    const Tensor& indices = Input(1);
    CAFFE_ENFORCE_EQ(data.dim(), 2, "rank of input 0 (DATA) of shape ", data.sizes());
    CAFFE_ENFORCE_EQ(indices.dim(), 1, "rank of input 1 (INDICES) of shape ", indices.sizes());
    const int64_t rows = data.dim(0), bytes = data.dim(1), n = FusedElements<float>(bytes);
    const uint8_t* const x = data.data<uint8_t>();
    const Index* const index = indices.data<Index>();
    float* const y = OutputData<float>(0, {indices.numel(), n});
    for (int64_t i = 0; i < indices.numel(); ++i) {
      CAFFE_ENFORCE(index[i] >= 0 && index[i] < rows, "element ", i, " of input 1 (INDICES) is ",
                    index[i], ", want at least 0 and less than ", rows,
                    ", the rows of input 0 (DATA)");
      const uint8_t* const row = x + index[i] * bytes;
      DequantizeCodes<8>(row, n, ReadTail<float>(row + n), y + i * n);
    }
    return true;
  }
};

class ToRowsAndScalesOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_GE(X.dim(), 1, "rank of input 0 (input)");
    const int64_t rows = X.dim(0), n = X.size_from_dim(1);
    CAFFE_ENFORCE(rows == 0 || n > 0, "input 0 (input) has shape ", X.sizes(),
                  ", want rows with elements");
    const float* x = X.data<float>();
    uint8_t* y = OutputData<uint8_t>(0, X.sizes());
    float* scale_bias = OutputData<float>(1, {rows, 2});
    for (int64_t row = 0; row < rows; ++row, x += n, y += n) {
      const auto [least, greatest] = RangeOfRow(x, n);
      const float range = greatest - least;
      const float scale = range < kConstantRange ? 1.0f : range / kGreatestByte;
      QuantizeRow(
          x, n, least, 1.0f / scale, [](float step) { return std::round(step); }, y);
      *scale_bias++ = scale;
      *scale_bias++ = least;
    }
    return true;
  }
};

class FromRowsAndScalesOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_GE(X.dim(), 1, "rank of input 0 (quantized_input)");
    const uint8_t* const x = X.data<uint8_t>();
    const float* const scale_bias = ScalesOfRows(X, Input(1), 1);
    const int64_t n = X.size_from_dim(1);
    float* const y = OutputData<float>(0, X.sizes());
    for (int64_t row = 0; row < X.dim(0); ++row) {
      DequantizeCodes<8>(x + row * n, n, {scale_bias[2 * row], scale_bias[2 * row + 1]},
                         y + row * n);
    }
    return true;
  }
};

// The shape of input 0, whose last dimension grows by `added`.
auto InferRowsThatGrow(int64_t added, TensorProto_DataType type) {
  return [added, type](const OperatorDef& def, const std::vector<TensorShape>& in) {
    if (!AreKnown(in, 1) || in[0].dims_size() == 0) return UnknownOutputs(def);
    std::vector<int64_t> dims = GetDimsVector(in[0]);
    dims.back() += added;
    if (dims.back() < 0) return UnknownOutputs(def);
    return std::vector<TensorShape>{CreateTensorShape(dims, type)};
  };
}

template <class T>
constexpr TensorProto_DataType kTypeOf =
    std::is_same_v<T, float> ? TensorProto_DataType_FLOAT : TensorProto_DataType_FLOAT16;

// From: the elements that rows are read as.
template <class T, class S, class From = T>
void RegisterFused(const std::string& to, const std::string& from) {
  const std::string elements = std::is_same_v<T, float> ? "float" : "float16";
  const std::string tail = std::is_same_v<S, float> ? "8" : "4";
  RegisterSchema(to, __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Input(0, "input", "[..., D] " + elements + ", D at least 1")
      .Output(0, "output",
              "uint8 [..., D + " + tail + "]: the bytes of each row, its scale and its bias")
      .TensorInferenceFunction(InferRowsThatGrow(kTailBytes<S>, TensorProto_DataType_UINT8))
      .SetDoc("Quantizes rows to bytes, each with its scale and bias behind its bytes.");
  RegisterCpuOperator<ToFusedRowsOp<T, S>>(to, __FILE__);
  RegisterSchema(from, __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Input(0, "scale_bias_quantized_input",
             "uint8 [..., D + " + tail + "]: rows of bytes, scale and bias")
      .Output(0, "output",
              "[..., D] " + std::string(std::is_same_v<From, float> ? "float" : "float16"))
      .TensorInferenceFunction(InferRowsThatGrow(-kTailBytes<S>, kTypeOf<From>))
      .SetDoc("Computes the elements of fused rows: byte * scale + bias.");
  RegisterCpuOperator<FromFusedRowsOp<From, S, 8>>(from, __FILE__);
  // As in Caffe2, the gradient is absent without an error.
  for (const std::string& type : {to, from}) RegisterGradient<NoGradient>(type, __FILE__);
}

void RegisterGather() {
  RegisterSchema("GatherFused8BitRowwise", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "DATA", "uint8 [N, D + 8]: rows of bytes, scale and bias")
      .Input(1, "INDICES", "[M] int32 or int64: rows of DATA")
      .Output(0, "OUTPUT", "float [M, D]: the elements of these rows")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 2) || in[0].dims_size() != 2 || in[1].dims_size() != 1 ||
            in[0].dims(1) < kTailBytes<float>) {
          return UnknownOutputs(def);
        }
        const std::vector<int64_t> dims = {in[1].dims(0), in[0].dims(1) - kTailBytes<float>};
        return std::vector<TensorShape>{CreateTensorShape(dims, TensorProto_DataType_FLOAT)};
      })
      .SetDoc("Gathers fused rows and computes their elements.");
  RegisterCpuOperator<GatherFusedRowsOp>("GatherFused8BitRowwise", __FILE__);
}

void RegisterSeparate() {
  RegisterSchema("FloatToRowwiseQuantized8Bits", __FILE__)
      .NumInputs(1)
      .NumOutputs(2)
      .Input(0, "input", "[N, ...] float")
      .Output(0, "quantized_input", "uint8, the shape of input")
      .Output(1, "scale_bias", "float [N, 2]: scale and bias of each row")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1) || in[0].dims_size() == 0) return UnknownOutputs(def);
        return std::vector<TensorShape>{
            CreateTensorShape(GetDimsVector(in[0]), TensorProto_DataType_UINT8),
            CreateTensorShape(std::vector<int64_t>{in[0].dims(0), 2}, TensorProto_DataType_FLOAT)};
      })
      .SetDoc(
          "Quantizes rows to bytes, each with a scale and a bias; a constant row has the scale 1.");
  RegisterCpuOperator<ToRowsAndScalesOp>("FloatToRowwiseQuantized8Bits", __FILE__);
  RegisterSchema("Rowwise8BitQuantizedToFloat", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "quantized_input", "uint8 [N, ...]")
      .Input(1, "scale_bias", "float [N, 2]: scale and bias of each row")
      .Output(0, "output", "float, the shape of quantized_input")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) return UnknownOutputs(def);
        return std::vector<TensorShape>{
            CreateTensorShape(GetDimsVector(in[0]), TensorProto_DataType_FLOAT)};
      })
      .SetDoc("Computes the elements of rows of bytes: byte * scale + bias.");
  RegisterCpuOperator<FromRowsAndScalesOp>("Rowwise8BitQuantizedToFloat", __FILE__);
  for (const char* type : {"FloatToRowwiseQuantized8Bits", "Rowwise8BitQuantizedToFloat"}) {
    RegisterGradient<NoGradient>(type, __FILE__);
  }
}

}  // namespace

void RegisterRowwise8bit() {
  RegisterFused<float, float>("FloatToFused8BitRowwiseQuantized",
                              "Fused8BitRowwiseQuantizedToFloat");
  RegisterFused<float16, float>("HalfFloatToFused8BitRowwiseQuantized",
                                "Fused8BitRowwiseQuantizedToHalfFloat");
  RegisterFused<float, float16>("FloatToFused8BitRowwiseQuantizedHalfScaleBias",
                                "Fused8BitRowwiseQuantizedHalfScaleBiasToFloat");
  // As in Caffe2, the second type writes float in spite of its name.
  RegisterFused<float16, float16, float>("HalfFloatToFused8BitRowwiseQuantizedHalfScaleBias",
                                         "Fused8BitRowwiseQuantizedHalfScaleBiasToHalfFloat");
  RegisterGather();
  RegisterSeparate();
}

}  // namespace caffe2rt
