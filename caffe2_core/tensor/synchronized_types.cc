#include "caffe2_core/tensor/synchronized_types.h"

#include <mutex>
#include <set>

namespace caffe2rt {
namespace {

struct Types {
  std::mutex mutex;
  std::set<CaffeTypeId> ids;
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
    const std::lock_guard<std::mutex> lock(types.mutex);
    types.ids.insert(type.id());
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace internal

bool IsSynchronizedType(TypeMeta type) {
  Types& types = TheTypes();
  const std::lock_guard<std::mutex> lock(types.mutex);
  return types.ids.contains(type.id());
}

}  // namespace caffe2rt
