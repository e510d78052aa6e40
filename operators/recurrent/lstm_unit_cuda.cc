#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/recurrent/lstm_unit.h"

namespace caffe2rt {

void RegisterLstmUnitCuda() {
  RegisterOperator<LSTMUnitOp<CUDAContext>>(CUDA, "LSTMUnit", __FILE__);
  RegisterOperator<LSTMUnitGradientOp<CUDAContext>>(CUDA, "LSTMUnitGradient", __FILE__);
}

}  // namespace caffe2rt
