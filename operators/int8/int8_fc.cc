// Int8FC: a fully connected layer on quantized tensors: Y = X * W^T + b.

#include <cstring>
#include <vector>

#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/plans_ahead.h"
#include "operators/common/inference.h"
#include "operators/int8/int8_operator.h"
#include "operators/int8/int8_product.h"
#include "operators/int8/prepared_int8.h"

namespace caffe2rt {

namespace {

class Int8FCOp final : public Int8Operator, public PlansAhead {
 public:
  Int8FCOp(const OperatorDef& def, Workspace* ws)
      : Int8Operator(def, ws),
        isa_(BestInt8Isa()),
        prepared_(MakeString("Int8FC weights for ", Int8IsaName(isa_))) {}

  void PlanAhead(const AheadInputs& inputs) override {
    const QuantizedInput x = InputInt8(0, "X"), w = InputInt8(1, "W");
    CheckShapes(*x.tensor, *w.tensor);
    const int64_t rows = x.tensor->dim(0), n = w.tensor->dim(0), k = w.tensor->dim(1);
    OutputInt8(0, {rows, n});
    if (rows > 0 && n > 0 && inputs.is_constant(1)) (void)Prepare(w, n, k);
  }
  bool PreparesWeights() const override { return true; }

  bool RunOnDevice() override {
    const QuantizedInput x = InputInt8(0, "X"), w = InputInt8(1, "W");
    CheckShapes(*x.tensor, *w.tensor);
    const int64_t rows = x.tensor->dim(0), n = w.tensor->dim(0), k = w.tensor->dim(1);
    const int32_t* bias = InputInt8Bias(2, n);
    const Requantization requantization = MakeRequantization(
        x.quantization.scale * w.quantization.scale / output().scale, output().zero_point, 0,
        "scale of input 0 (X) times that of input 1 (W) divided by argument Y_scale");
    uint8_t* y = OutputInt8(0, {rows, n});
    if (rows == 0 || n == 0) return true;
    const Int8Weights weights = Prepare(w, n, k);
    start_.resize(static_cast<size_t>(weights.padded_n()));
    StartOfSums(weights, bias, x.quantization.zero_point, start_.data());
    const Int8Product product{.weights = &weights,
                              .start = start_.data(),
                              .requantization = requantization,
                              .rows = rows,
                              .y = y,
                              .y_stride = n};
    const uint8_t* elements = x.data();
    RunInt8Product(product, &scratch_,
                   [&](int64_t first, int64_t count, uint8_t* buffer, const uint8_t** pointers) {
                     RowsOf(elements + first * k, count, weights, buffer, pointers);
                   });
    return true;
  }

 private:
  static void CheckShapes(const Tensor& x, const Tensor& w) {
    CAFFE_ENFORCE_EQ(w.dim(), 2, "rank of input 1 (W) of shape ", w.sizes(),
                     ", want [outputs, inputs]");
    CAFFE_ENFORCE_GE(x.dim(), 2, "rank of input 0 (X) of shape ", x.sizes());
    CAFFE_ENFORCE_EQ(x.size_from_dim(1), w.dim(1), "elements of a row of input 0 (X) of shape ",
                     x.sizes(), ", want the columns of input 1 (W) of shape ", w.sizes());
    CAFFE_ENFORCE_GT(w.dim(1), 0, "columns of input 1 (W)");
  }

  Int8Weights Prepare(const QuantizedInput& w, int64_t n, int64_t k) {
    const Int8FormOptions options = {.zero_point = w.quantization.zero_point,
                                     .nbytes = Int8WeightBytes(isa_, n, k)};
    const char* const form = prepared_.Get(*w.tensor, options, [&](void* to) {
      PackInt8Weights(isa_, {.n = n, .k = k, .n_stride = k}, w.data(), options.zero_point, to);
    });
    return {isa_, n, k, options.zero_point, form};
  }

  // Rows that are shorter than padded_k are copied, because the kernels read beyond them.
  static void RowsOf(const uint8_t* x, int64_t count, const Int8Weights& weights, uint8_t* buffer,
                     const uint8_t** pointers) {
    const int64_t k = weights.k();
    for (int64_t r = 0; r < count; ++r) {
      pointers[r] = x + r * k;
      if (k == weights.padded_k()) continue;
      std::memcpy(buffer, pointers[r], static_cast<size_t>(k));
      pointers[r] = buffer;
      buffer += weights.padded_k();
    }
  }

  const Int8Isa isa_;
  PreparedInt8 prepared_;
  std::vector<int32_t> start_;
  ThreadScratch scratch_;
};

std::vector<TensorShape> InferInt8FC(const OperatorDef& def, const std::vector<TensorShape>& in) {
  std::vector<TensorShape> result = UnknownOutputs(def);
  if (!AreKnown(in, 2)) return result;
  const std::vector<int64_t> x = GetDimsVector(in[0]), w = GetDimsVector(in[1]);
  if (x.empty() || w.empty()) return result;
  result[0] = CreateTensorShape(std::vector<int64_t>{x[0], w[0]}, in[0].data_type());
  return result;
}

MemoryTraits::Extra Int8FCMemory(const OperatorDef&, const std::vector<TensorShape>& in,
                                 const std::vector<TensorShape>&) {
  if (!AreKnown(in, 2)) return {.prepared_unknown = true};
  const std::vector<int64_t> w = GetDimsVector(in[1]);
  if (w.size() != 2 || w[0] <= 0 || w[1] <= 0) return {};  // a run fails, or computes nothing
  return {.prepared_bytes = static_cast<int64_t>(Int8WeightBytes(BestInt8Isa(), w[0], w[1]))};
}

}  // namespace

void RegisterInt8Fc() {
  RegisterInt8Schema("Int8FC", __FILE__)
      .NumInputs(3, 4)
      .NumOutputs(1, 4)
      .Arg(kInt8UnusedOrder)
      .Input(0, "X", "a quantized tensor; its first dimension counts rows")
      .Input(1, "W", "quantized weights [outputs, inputs]")
      .Input(2, "b",
             "a quantized tensor of int32 elements [outputs]; its scale and zero point have "
             "no effect")
      .Input(3, "Qparam", "(optional) has no effect")
      .Output(0, "Y", "a quantized tensor [rows, outputs]; further outputs are not written")
      .TensorInferenceFunction(InferInt8FC)
      .Traits({.multiply_adds = MultiplyAddCount::kFC})
      .Memory({.quantized_outputs = true, .extra = Int8FCMemory})
      .SetDoc(
          "Computes X * W^T + b for quantized matrices, with sums of 32 bits. The scale of X times "
          "that of W must be below Y_scale.");
  RegisterCpuOperator<Int8FCOp>("Int8FC", __FILE__);
}

}  // namespace caffe2rt
