#include "operators/norm/register.h"

namespace caffe2rt {

void RegisterNormOperators() {
  RegisterGroupNorm();
  RegisterInstanceNorm();
  RegisterLayerNorm();
  RegisterLRN();
  RegisterSoftmax();
  RegisterSpatialBN();
}

}  // namespace caffe2rt
