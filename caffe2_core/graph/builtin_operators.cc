#include "caffe2_core/graph/builtin_operators.h"

#include <mutex>

namespace caffe2rt {

void RegisterBuiltinOperatorsOnce() {
  static std::once_flag once;
  std::call_once(once, RegisterBuiltinOperators);
}

}  // namespace caffe2rt
