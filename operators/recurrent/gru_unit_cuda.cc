#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/recurrent/gru_unit.h"

namespace caffe2rt {

void RegisterGruUnitCuda() {
  RegisterOperator<GRUUnitOp<CUDAContext>>(CUDA, "GRUUnit", __FILE__);
  RegisterOperator<GRUUnitGradientOp<CUDAContext>>(CUDA, "GRUUnitGradient", __FILE__);
}

}  // namespace caffe2rt
