#include "caffe2_core/runtime/operator_registry.h"
#include "operators/pool/pool_ideep.h"

namespace caffe2rt {

void RegisterAveragePoolIdeep() {
  for (const char* type : {"AveragePool", "AveragePool2D"}) {
    RegisterOperator<PoolOnednnOp<MeanPoolPlanes>>(IDEEP, type, __FILE__);
  }
}

}  // namespace caffe2rt
