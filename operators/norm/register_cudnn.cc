#include "operators/norm/register_cuda.h"

namespace caffe2rt {

void RegisterNormCudnn() {
  RegisterLRNCudnn();
  RegisterSoftmaxCudnn();
  RegisterSpatialBNCudnn();
}

}  // namespace caffe2rt
