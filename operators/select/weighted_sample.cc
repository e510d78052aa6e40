// WeightedSample: draws a column of each row, with probabilities in proportion to weights.
//   sampling_weights [N, M] float, optional sampling_values [N, M] float
//   ->  sampled_indexes [N, 1] int32, sampled_values [N, 1]; [0] if N or M is 0
#include <cmath>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/primitives/random.h"

namespace caffe2rt {
namespace {

class WeightedSampleOp final : public Operator<CPUContext> {
 public:
  WeightedSampleOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {
    CAFFE_ENFORCE_EQ(InputSize(), OutputSize(), "inputs, want as many as outputs");
  }

  bool RunOnDevice() override {
    const Tensor& weights = Input(0);
    const bool with_values = InputSize() == 2;
    CAFFE_ENFORCE(weights.dim() >= 2 && weights.size_from_dim(2) == 1,
                  "input 0 (sampling_weights) has shape ", weights.sizes(), ", want a matrix");
    CAFFE_ENFORCE(!with_values || Input(1).sizes() == weights.sizes(),
                  "input 1 (sampling_values) has shape ", Input(InputSize() - 1).sizes(),
                  ", want that of input 0 (sampling_weights), ", weights.sizes());
    if (with_values) RequireElements<float>(Input(1));
    const int64_t rows = weights.dim(0);
    const auto columns = CheckedCast<int32_t>(weights.dim(1), "columns of input 0");
    const float* weight = weights.data<float>();
    const float* value = with_values ? Input(1).data<float>() : nullptr;
    const int64_t dims[] = {weights.numel() == 0 ? 0 : rows, 1};
    const IntArrayRef sizes(dims, weights.numel() == 0 ? 1 : 2);
    int32_t* const indexes = OutputData<int32_t>(0, sizes);
    float* const values = with_values ? OutputData<float>(1, sizes) : nullptr;
    for (int64_t r = 0; r < dims[0]; ++r, weight += columns) {
      indexes[r] = Draw(weight, columns, r);
      if (with_values) values[r] = value[r * columns + indexes[r]];
    }
    return true;
  }

 private:
  int32_t Draw(const float* weight, int32_t columns, int64_t row) {
    float sum = 0;
    for (int32_t i = 0; i < columns; ++i) {
      CAFFE_ENFORCE(weight[i] >= 0, "element [", row, ", ", i,
                    "] of input 0 (sampling_weights) is ", weight[i], ", want at least 0");
      sum += weight[i];
    }
    CAFFE_ENFORCE(std::isfinite(sum), "sum of row ", row, " of input 0 (sampling_weights) is ", sum,
                  ", want a finite number");
    const float place = math::UniformFloat(context_.RandGenerator(), 0, sum);
    float below = 0;
    int32_t last = 0;  // if all weights are 0
    for (int32_t i = 0; i < columns; ++i) {
      below += weight[i];
      if (place < below) return i;
      if (weight[i] > 0) last = i;
    }
    return last;
  }
};

}  // namespace

void RegisterWeightedSample() {
  RegisterSchema("WeightedSample", __FILE__)
      .NumInputs(1, 2)
      .NumOutputs(1, 2)
      .Input(0, "sampling_weights", "[N, M] float, at least 0")
      .Input(1, "sampling_values", "[N, M] float (optional)")
      .Output(0, "sampled_indexes", "[N, 1] int32: the columns; [0] without weights")
      .Output(1, "sampled_values", "[N, 1] float: the values there, if there are values")
      .HasEffect(Effect::kRandom)
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        std::vector<TensorShape> out(static_cast<size_t>(def.output_size()),
                                     UnknownShapeOf(TensorProto_DataType_FLOAT));
        out[0].set_data_type(TensorProto_DataType_INT32);
        if (!AreKnown(in, 1) || in[0].dims_size() < 2) return out;
        const int64_t rows = in[0].dims(0);
        const std::vector<int64_t> dims =
            NumElements(in[0]) == 0 ? std::vector<int64_t>{0} : std::vector<int64_t>{rows, 1};
        for (TensorShape& shape : out) shape = CreateTensorShape(dims, shape.data_type());
        return out;
      })
      .SetDoc(
          "Draws a column of each row with a probability in proportion to its weight. A row whose "
          "weights are all 0 yields column 0.");
  RegisterCpuOperator<WeightedSampleOp>("WeightedSample", __FILE__);
  // A draw is no differentiable function of the weights.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("WeightedSample", __FILE__);
}

}  // namespace caffe2rt
