#include "operators/reduce/register.h"

namespace caffe2rt {

void RegisterReduceOperators() {
  RegisterReduceFrontBack();
  RegisterReductions();
  RegisterRowMax();
  RegisterSumElements();
  RegisterSumReduceLike();
}

}  // namespace caffe2rt
