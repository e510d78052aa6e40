#include "operators/io/create_db.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

void RegisterCreateDb() {
  RegisterSchema("CreateDB", __FILE__)
      .NumInputs(0)
      .NumOutputs(1)
      .SetDoc("Opens a database for the operators that read from one.")
      .Arg("db_type", "minidb, leveldb, lmdb, protodb", "leveldb")
      .Arg("db", "path of the database", "")
      .Arg("num_shards", "readers that share the database", 1)
      .Arg("shard_id", "which of them this is", 0)
      .Output(0, "reader", "DBReader")
      .AccessesFiles();
  RegisterCpuOperator<CreateDBOp<CPUContext>>("CreateDB", __FILE__);
  // Its output is no tensor.
  RegisterGradient<NoGradient>("CreateDB", __FILE__);
}

}  // namespace caffe2rt
