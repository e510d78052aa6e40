#include "caffe2_core/base/type_meta.h"

#include <cxxabi.h>

#include <cstdlib>
#include <map>
#include <string_view>
#include <typeindex>

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

// The name that messages and files use for an element type: int64, not long.
const char* NameOf(const std::type_info& info) {
  static const std::map<std::type_index, const char*> names = {
      {typeid(signed char), "int8"},  {typeid(unsigned char), "uint8"},
      {typeid(short), "int16"},       {typeid(unsigned short), "uint16"},
      {typeid(int), "int32"},         {typeid(unsigned int), "uint32"},
      {typeid(long), "int64"},        {typeid(unsigned long), "uint64"},
      {typeid(long long), "int64"},   {typeid(unsigned long long), "uint64"},
      {typeid(std::string), "string"}};
  if (const auto it = names.find(info); it != names.end()) return it->second;
  const char* const name = Demangle(info.name());
  constexpr std::string_view kOwn = "caffe2rt::";
  // "Tensor", but "std::vector<caffe2rt::Tensor>".
  return std::string_view(name).starts_with(kOwn) ? name + kOwn.size() : name;
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
    data->name = NameOf(info);
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
