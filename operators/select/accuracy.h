#pragma once
// Accuracy: the fraction of rows whose label is among the top_k largest predictions.
//   predictions float [N, D], labels int32 [N]  ->  float scalar; NaN for N = 0
//
// A label is right if fewer than top_k classes rank before it. A class ranks before it if its value
// is larger, or equal with a lower index. A label that is not a class is wrong.

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kAccuracyTopK{
    "top_k", 1, "a label is correct if it is among this number of largest predictions"};

class CUDAContext;

// Writes the fraction of rows whose label is right. `right` and `scratch` are device memory, not
// used on the CPU.
inline void ShareOfRight(CPUContext&, int64_t rows, int64_t classes, int top_k, const float* row,
                         const int32_t* label, float* share, Tensor* /*right*/,
                         Tensor* /*scratch*/) {
  int64_t right = 0;
  for (int64_t i = 0; i < rows; ++i, row += classes) {
    if (label[i] < 0 || label[i] >= classes) continue;
    const float value = row[label[i]];
    int64_t before = 0;
    for (int64_t j = 0; j < label[i]; ++j) before += row[j] >= value ? 1 : 0;
    for (int64_t j = label[i] + 1; j < classes; ++j) before += row[j] > value ? 1 : 0;
    right += before < top_k ? 1 : 0;
  }
  *share = static_cast<float>(right) / static_cast<float>(rows);
}

void ShareOfRight(CUDAContext& context, int64_t rows, int64_t classes, int top_k,
                  const float* predictions, const int32_t* labels, float* share, Tensor* right,
                  Tensor* scratch);

template <class Context>
class AccuracyOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  AccuracyOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), top_k_(this->ReadArgument(kAccuracyTopK)) {}

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
    const float* const values = predictions.template data<float>();
    const int32_t* const classes_of_rows = labels.template data<int32_t>();
    ShareOfRight(context_, rows, classes, top_k_, values, classes_of_rows,
                 this->template OutputData<float>(0, {}), &right_, &scratch_);
    return true;
  }

 private:
  const int top_k_;
  Tensor right_{Context::GetDeviceType()};
  Tensor scratch_{Context::GetDeviceType()};
};

}  // namespace caffe2rt
