#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/elementwise/nary.h"

namespace caffe2rt {

void RegisterNaryCuda() {
  kNary.ForEach([]<NaryKind kKind, class... Ts>(const NaryRow<kKind, Ts...>& row) {
    RegisterOperator<NaryOp<CUDAContext, kKind, Ts...>>(CUDA, row.type, __FILE__);
  });
}

}  // namespace caffe2rt
