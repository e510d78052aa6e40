#include "operators/recurrent/recurrent_network_blob_fetcher.h"

#include "caffe2_core/graph/device_inference.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt {

void RegisterRecurrentNetworkBlobFetcher() {
  RegisterSchema("RecurrentNetworkBlobFetcher", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Arg(kFetcherPrefix)
      .Input(0, "ScratchWorkspaceBlob", "the last output of RecurrentNetwork")
      .Output(0, "blob_names", "the names of the copies, on the CPU")
      .DeviceInferenceFunction(OnCPU({}, {0}))
      // It creates the copies.
      .AccessesUnlistedBlobs([](const OperatorDef&) { return true; })
      .Memory({.keeps_memory = true})
      .SetDoc(
          "Copies the blobs of the time steps of a RecurrentNetwork to the workspace, for "
          "debugging.");
  RegisterCpuOperator<RecurrentNetworkBlobFetcherOp<CPUContext>>("RecurrentNetworkBlobFetcher",
                                                                 __FILE__);
  // The output is a list of names.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("RecurrentNetworkBlobFetcher", __FILE__);
}

}  // namespace caffe2rt
