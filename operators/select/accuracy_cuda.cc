#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/select/accuracy.h"
#include "operators/select/accuracy_kernels.h"

namespace caffe2rt {

void ShareOfRight(CUDAContext& context, int64_t rows, int64_t classes, int top_k,
                  const float* predictions, const int32_t* labels, float* share, Tensor* right,
                  Tensor* scratch) {
  right->Resize(rows);
  bool* const marks = right->mutable_data<bool>();
  MarkRightRows(context, rows, classes, top_k, predictions, labels, marks);
  WriteShareOfTrue(context, rows, marks, share, scratch);
}

void RegisterAccuracyCuda() {
  RegisterOperator<AccuracyOp<CUDAContext>>(CUDA, "Accuracy", __FILE__);
}

}  // namespace caffe2rt
