#include "operators/norm/register_cuda.h"

namespace caffe2rt {

void RegisterNormCudaOperators() {
  RegisterInstanceNormCuda();
  RegisterLayerNormCuda();
  RegisterLRNCuda("NATIVE");
  RegisterSoftmaxCuda("NATIVE");
  RegisterSpatialBNCuda("NATIVE");
  RegisterNormCudnn();
}

}  // namespace caffe2rt
