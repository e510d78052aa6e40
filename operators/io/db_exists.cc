#include "operators/io/db_exists.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

void RegisterDbExists() {
  RegisterSchema("DBExists", __FILE__)
      .NumInputs(0)
      .NumOutputs(1)
      .SetDoc("Checks whether a database can be opened for reading.")
      .Args(kDatabaseIsAbsolute, kDatabaseName, kSoughtDatabaseType)
      .Output(0, "exists", "bool, rank 0")
      .ScalarType(TensorProto::BOOL)
      .AccessesFiles();
  RegisterCpuOperator<DBExistsOp<CPUContext>>("DBExists", __FILE__);
  // The output does not depend on a tensor.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("DBExists", __FILE__);
}

}  // namespace caffe2rt
