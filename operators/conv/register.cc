#include "operators/conv/register.h"

namespace caffe2rt {

void RegisterConvOperators() {
  RegisterConv();
  RegisterConvTranspose();
}

}  // namespace caffe2rt
