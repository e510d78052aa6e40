#include "caffe2_core/base/type_meta.h"

#include <cxxabi.h>

#include <cstdlib>
#include <map>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/mutex.h"

namespace caffe2rt::internal {
namespace {
struct TypeTable {
  Mutex mutex;
  std::map<std::string, TypeData*> by_mangled_name ABSL_GUARDED_BY(mutex);
};

TypeTable& Table() {
  static TypeTable* const table = new TypeTable;  // never destroyed: used until the process ends
  return *table;
}

const char* Demangle(const char* mangled) {
  int status = 0;
  char* name = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  return status == 0 ? name : mangled;  // kept for the life of the process
}
}  // namespace

const TypeData kNoType{};

const TypeData* RegisterType(const std::type_info& info, const TypeData& candidate) {
  TypeTable& table = Table();
  const MutexLock lock(table.mutex);
  TypeData*& data = table.by_mangled_name[info.name()];
  if (data == nullptr) {
    data = new TypeData(candidate);
    data->id = reinterpret_cast<CaffeTypeId>(data);
    data->name = info == typeid(std::string) ? "std::string" : Demangle(info.name());
  }
  return data;
}

void ThrowNotCopyable(const char* name) {
  const char* const readable = Demangle(name);
  const std::string type = readable;
  if (readable != name) std::free(const_cast<char*>(readable));
  CAFFE_THROW("elements of type ", type, " cannot be copied");
}

}  // namespace caffe2rt::internal
