#include "operators/io/create_db.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

void RegisterCreateDb() {
  RegisterSchema("CreateDB", __FILE__)
      .NumInputs(0)
      .NumOutputs(1)
      .SetDoc("Opens a database and creates a reader for operators that read from it.")
      .Args(kReaderDatabaseType, kDatabasePath, kNumShards, kShardId, kBlock, kFirstBlock, kShuffle, kShuffleSeed)
      .Output(0, "reader", "DBReader, at the first record")
      .AccessesFiles();
  RegisterCpuOperator<CreateDBOp<CPUContext>>("CreateDB", __FILE__);
  // The output is not a tensor.
  RegisterGradient<NoGradient>("CreateDB", __FILE__);
}

}  // namespace caffe2rt
