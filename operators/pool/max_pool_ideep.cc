#include "caffe2_core/runtime/operator_registry.h"
#include "operators/pool/pool_ideep.h"

namespace caffe2rt {

void RegisterMaxPoolIdeep() {
  for (const char* type : {"MaxPool", "MaxPool2D"}) {
    RegisterOperator<PoolOnednnOp<MaxPoolPlanes>>(IDEEP, type, __FILE__);
  }
}

}  // namespace caffe2rt
