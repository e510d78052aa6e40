#include "operators/io/save.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

void RegisterSave() {
  RegisterSchema("Save", __FILE__)
      .NumInputs(1, INT32_MAX)
      .NumOutputs(0)
      .SetDoc(
          "Writes the input blobs into a new database: tensors as records NAME#%0, NAME#%1, ... of "
          "at most chunk_size "
          "elements, other blobs as one record NAME.")
      .Arg("absolute_path", "take db as it is, not below the root folder", 0)
      .Arg("strip_prefix", "taken off the names, with what stands before it", "")
      .Arg("blob_name_overrides", "names in the database, one for each input")
      .Arg("db", "path of the database", "")
      .Arg("db_type", "minidb, leveldb, lmdb", "")
      .Arg("chunk_size", "elements in a record; -1: 1000000, 0: all", -1)
      .Input(0, "X", "the blobs")
      .AccessesFiles();
  RegisterCpuOperator<SaveOp<CPUContext>>("Save", __FILE__);
  // It has no output.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("Save", __FILE__);
}

}  // namespace caffe2rt
