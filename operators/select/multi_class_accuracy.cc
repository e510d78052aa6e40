// MultiClassAccuracy: for each class, how many of its examples have it as the greatest prediction.
//   prediction [N, D] float, labels [N] int32 in [0, D)
//   ->  accuracies [D] float, 0 for a class without examples; amounts [D] int32, the examples of each class
#include <algorithm>
#include <limits>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

class MultiClassAccuracyOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;

  bool RunOnDevice() override {
    const Tensor& prediction = Input(0);
    const Tensor& labels = Input(1);
    CAFFE_ENFORCE_GE(prediction.dim(), 2, "rank of input 0 (prediction), want 2");
    const int64_t n = prediction.dim(0), classes = prediction.dim(1);
    CAFFE_ENFORCE_EQ(prediction.numel(), n * classes, "elements of input 0 (prediction) of shape ",
                     prediction.sizes(), ", want a matrix");
    CAFFE_ENFORCE_EQ(labels.numel(), n,
                     "elements of input 1 (labels), want the rows of prediction");
    RequireElements<float>(prediction);
    const int32_t* const label = labels.data<int32_t>();
    const float* const x = prediction.data<float>();
    float* const accuracies = OutputData<float>(0, {classes});
    int32_t* const amounts = OutputData<int32_t>(1, {classes});
    std::fill_n(accuracies, classes, 0.0f);
    std::fill_n(amounts, classes, 0);
    for (int64_t i = 0; i < n; ++i) {
      CAFFE_ENFORCE(label[i] >= 0 && label[i] < classes, "element ", i, " of input 1 (labels) is ",
                    label[i], ", want at least 0 and less than ", classes);
      ++amounts[label[i]];
      if (Greatest(x + i * classes, classes) == label[i]) ++accuracies[label[i]];
    }
    for (int64_t c = 0; c < classes; ++c) {
      if (amounts[c] > 0) accuracies[c] /= static_cast<float>(amounts[c]);
    }
    return true;
  }

 private:
  // The first of the greatest elements. NaN is greater than nothing.
  static int64_t Greatest(const float* x, int64_t n) {
    float greatest = std::numeric_limits<float>::lowest();
    int64_t position = 0;
    for (int64_t i = 0; i < n; ++i) {
      if (x[i] > greatest) {
        greatest = x[i];
        position = i;
      }
    }
    return position;
  }
};

std::vector<TensorShape> InferMultiClassAccuracy(const OperatorDef& def,
                                                 const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1) || in[0].dims_size() < 2) return UnknownOutputs(def);
  const std::vector<int64_t> dims = {in[0].dims(1)};
  return {CreateTensorShape(dims, TensorProto_DataType_FLOAT),
          CreateTensorShape(dims, TensorProto_DataType_INT32)};
}

}  // namespace

void RegisterMultiClassAccuracy() {
  RegisterSchema("MultiClassAccuracy", __FILE__)
      .NumInputs(2)
      .NumOutputs(2)
      .Input(0, "prediction", "[N, D], float: a number for each class")
      .Input(1, "labels", "[N], int32: the right class of each row")
      .Output(0, "accuracies", "[D], float: the part of each class's rows that is right, or 0")
      .Output(1, "amounts", "[D], int32: the rows of each class")
      .TensorInferenceFunction(InferMultiClassAccuracy)
      .SetDoc("Computes the accuracy of predictions for each class.");
  RegisterCpuOperator<MultiClassAccuracyOp>("MultiClassAccuracy", __FILE__);
  // The greatest element of a row has no derivative.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("MultiClassAccuracy", __FILE__);
}

}  // namespace caffe2rt
