#include "operators/io/save.h"

#include "caffe2_core/graph/created_databases.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

CreatedDatabase DatabaseOfSave(const OperatorDef& def) {
  const ArgumentHelper args(def);
  return {.type = args.Read(kDatabaseType),
          .path = args.Read(kDatabasePath),
          .is_absolute = args.Read(kDatabaseIsAbsolute) != 0};
}

void RegisterSave() {
  RegisterSchema("Save", __FILE__)
      .NumInputs(1, INT32_MAX)
      .NumOutputs(0)
      .SetDoc(
          "Writes its inputs to a new database. A tensor is divided into records NAME#%0, NAME#%1, "
          "... of at most chunk_size elements; any other blob is one record NAME.")
      .Args(kDatabaseIsAbsolute, kStripPrefix, kBlobNameOverrides, kDatabasePath, kDatabaseType,
            kChunkSize)
      .Input(0, "X", "blobs to save")
      .AccessesFiles();
  DeclareCreatedDatabase("Save", DatabaseOfSave);
  RegisterCpuOperator<SaveOp<CPUContext>>("Save", __FILE__);
  // The operator has no outputs.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("Save", __FILE__);
}

}  // namespace caffe2rt
