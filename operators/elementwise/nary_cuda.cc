#include "contexts/cuda/cuda_context.h"
#include "operators/elementwise/nary.h"

namespace caffe2rt {

void RegisterNaryCuda() {
  kNary.ForEach([]<NaryKind kKind, class... Ts>(const NaryRow<kKind, Ts...>& row) {
    RegisterNaryOperators<CUDAContext>(row, __FILE__);
  });
}

}  // namespace caffe2rt
