#include "operators/io/register.h"

namespace caffe2rt {

void RegisterIoOperators() {
  RegisterCheckpoint();
  RegisterCreateDB();
  RegisterDBExists();
  RegisterLoad();
  RegisterSave();
}

}  // namespace caffe2rt
