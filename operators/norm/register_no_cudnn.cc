// For builds without cuDNN's headers.

#include "operators/norm/register_cuda.h"

namespace caffe2rt {

void RegisterNormCudnn() {
  RegisterLRNCuda("");
  RegisterSoftmaxCuda("");
  RegisterSpatialBNCuda("");
}

}  // namespace caffe2rt
