#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/recurrent/recurrent_network_blob_fetcher.h"

namespace caffe2rt {

void RegisterRecurrentNetworkBlobFetcherCuda() {
  RegisterOperator<RecurrentNetworkBlobFetcherOp<CUDAContext>>(CUDA, "RecurrentNetworkBlobFetcher",
                                                               __FILE__);
}

}  // namespace caffe2rt
