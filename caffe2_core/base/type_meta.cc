#include "caffe2_core/base/type_meta.h"

#include <absl/strings/str_replace.h>
#include <cxxabi.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/base/text.h"

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

std::string Demangled(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &status), &std::free);
  return status == 0 ? name.get() : mangled;
}

// Removes the arguments of templates that begin with ", <start>", up to their closing bracket.
void RemoveArguments(std::string_view start, std::string* name) {
  for (size_t at = 0; (at = name->find(start, at)) != std::string::npos;) {
    size_t end = at + start.size();
    for (int depth = 1; end < name->size() && depth > 0; ++end) {
      depth += (*name)[end] == '<' ? 1 : (*name)[end] == '>' ? -1 : 0;
    }
    name->erase(at, end - at);
  }
}

void ReplaceWord(std::string_view word, std::string_view by, std::string* name) {
  for (size_t at = 0; (at = name->find(word, at)) != std::string::npos;) {
    const size_t end = at + word.size();
    const bool begins = at == 0 || !(IsAsciiWord((*name)[at - 1]) || (*name)[at - 1] == ':');
    const bool ends = end == name->size() || !(IsAsciiWord((*name)[end]) || (*name)[end] == ':');
    if (begins && ends) name->replace(at, word.size(), by);
    at += begins && ends ? by.size() : word.size();
  }
}

// "map<string, int64>" for a demangled std::map<std::string, long> with all its arguments.
std::string WithoutCpp(std::string name) {
  static constexpr char kString[] =
      "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";
  name = absl::StrReplaceAll(name, {{kString, "string"}});
  for (const char* helper : {", std::allocator<", ", std::less<", ", std::hash<",
                             ", std::equal_to<", ", std::default_delete<"})
    RemoveArguments(helper, &name);
  name = absl::StrReplaceAll(name, {{"std::", ""}, {"caffe2rt::", ""}, {" >", ">"}});
  static constexpr std::pair<const char*, const char*> kIntegers[] = {
      {"signed char", "int8"},     {"unsigned char", "uint8"}, {"unsigned short", "uint16"},
      {"short", "int16"},          {"unsigned int", "uint32"}, {"int", "int32"},
      {"unsigned long", "uint64"}, {"long", "int64"}};
  for (const auto& [word, by] : kIntegers) ReplaceWord(word, by, &name);
  return name;
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
  return strdup(WithoutCpp(Demangled(info.name())).c_str());  // kept for the life of the process
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
  CAFFE_THROW("elements of type ", WithoutCpp(Demangled(name)), " cannot be copied");
}

}  // namespace caffe2rt::internal
