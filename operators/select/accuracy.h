#pragma once
// Accuracy: the share of rows whose label is among the top_k largest predictions.
//   predictions float [N, D], labels int32 [N]  ->  float scalar; NaN for N = 0
//
// A label is right when fewer than top_k classes stand before it: with a larger value, or the same
// and a lower index. A label that is no class is wrong.

#include "caffe2_core/runtime/operator.h"

namespace caffe2rt {

template <class Context>
class AccuracyOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  AccuracyOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), top_k_(this->template GetSingleArgument<int>("top_k", 1)) {}

  bool RunOnDevice() override {
    const Tensor& predictions = Input(0);
    const Tensor& labels = Input(1);
    CAFFE_ENFORCE_EQ(predictions.dim(), 2, "rank of input 0 (predictions) of shape ",
                     predictions.sizes());
    CAFFE_ENFORCE_EQ(labels.dim(), 1, "rank of input 1 (labels) of shape ", labels.sizes());
    CAFFE_ENFORCE_EQ(labels.dim(0), predictions.dim(0),
                     "elements of input 1 (labels), want the rows of "
                     "input 0 (predictions)");
    const int64_t rows = predictions.dim(0), classes = predictions.dim(1);
    const float* row = predictions.template data<float>();
    const int32_t* label = labels.template data<int32_t>();
    int64_t right = 0;
    for (int64_t i = 0; i < rows; ++i, row += classes) {
      if (label[i] < 0 || label[i] >= classes) continue;
      right += ClassesBefore(row, classes, label[i]) < top_k_ ? 1 : 0;
    }
    *this->template OutputData<float>(0, {}) = static_cast<float>(right) / static_cast<float>(rows);
    return true;
  }

 private:
  static int64_t ClassesBefore(const float* row, int64_t classes, int64_t label) {
    const float value = row[label];
    int64_t before = 0;
    for (int64_t j = 0; j < label; ++j) before += row[j] >= value ? 1 : 0;
    for (int64_t j = label + 1; j < classes; ++j) before += row[j] > value ? 1 : 0;
    return before;
  }

  const int top_k_;
};

}  // namespace caffe2rt
