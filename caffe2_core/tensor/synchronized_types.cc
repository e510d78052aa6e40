#include "caffe2_core/tensor/synchronized_types.h"

#include <set>

#include "caffe2_core/base/mutex.h"

namespace caffe2rt {
namespace {

struct Types {
  Mutex mutex;
  std::set<CaffeTypeId> ids ABSL_GUARDED_BY(mutex);
};

Types& TheTypes() {
  static Types* const types = new Types;
  return *types;
}

}  // namespace

namespace internal {

bool DeclareSynchronized(TypeMeta type) noexcept {
  try {
    Types& types = TheTypes();
    const MutexLock lock(types.mutex);
    types.ids.insert(type.id());
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace internal

bool IsSynchronizedType(TypeMeta type) {
  Types& types = TheTypes();
  const MutexLock lock(types.mutex);
  return types.ids.contains(type.id());
}

}  // namespace caffe2rt
