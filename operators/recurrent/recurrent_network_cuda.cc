#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/recurrent/recurrent_network.h"
#include "operators/recurrent/recurrent_network_gradient.h"

namespace caffe2rt {

void RegisterRecurrentNetworkCuda() {
  RegisterOperator<RecurrentNetworkOp<CUDAContext>>(CUDA, "RecurrentNetwork", __FILE__);
  RegisterOperator<RecurrentNetworkGradientOp<CUDAContext>>(CUDA, "RecurrentNetworkGradient",
                                                            __FILE__);
}

}  // namespace caffe2rt
