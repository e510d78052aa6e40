#include "operators/select/register.h"

namespace caffe2rt {

void RegisterSelectOperators() {
  RegisterAccuracy();
  RegisterArgMax();
  RegisterBatchOneHot();
  RegisterHasElements();
  RegisterIsEmpty();
  RegisterOneHot();
  RegisterPrint();
  RegisterTopK();
}

}  // namespace caffe2rt
