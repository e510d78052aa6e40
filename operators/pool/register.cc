#include "operators/pool/register.h"

namespace caffe2rt {

void RegisterPoolOperators() {
  RegisterAveragePool();
  RegisterMaxPool();
}

}  // namespace caffe2rt
