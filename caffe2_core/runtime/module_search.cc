#include "caffe2_core/runtime/module_search.h"

#include <cxxabi.h>
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/runtime/module_links.h"

namespace caffe2rt {
namespace {

bool IsFile(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

// Whether the file begins as a shared library does, or cannot be read.
bool IsElf(const std::string& path) {
  const std::string start = "\177ELF";
  std::error_code ignored;
  if (std::filesystem::file_size(path, ignored) < start.size()) return false;
  try {
    const FileDescriptor file = OpenForReading(path);
    std::string read(start.size(), '\0');
    ReadAt(file, path, 0, read.data(), read.size());
    return read == start;
  } catch (const EnforceNotMet&) {
    return true;
  }
}

std::string Demangled(const std::string& symbol) {
  int status = 0;
  char* const text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  const std::string demangled = status == 0 ? text : symbol;
  std::free(text);
  return demangled;
}

// Whether modules can use the symbols of this library: LoadModule, for example.
bool ExportsSymbols() {
  return dlsym(RTLD_DEFAULT,
               "_ZN8caffe2rt10LoadModuleERKNSt7__cxx1112basic_stringIcSt11char_"
               "traitsIcESaIcEEES7_") != nullptr;
}

// Explains a symbol that no loaded library has, in terms of how the module and the program were
// built.
std::string UndefinedSymbolText(const std::string& symbol) {
  constexpr std::string_view kSchemaMark = "CAFFE2_PLEASE_ADD_OPERATOR_SCHEMA_FOR_";
  if (symbol.starts_with(kSchemaMark)) {
    const std::string type = symbol.substr(kSchemaMark.size());
    return MakeString("operator \"", type, "\" has no schema; add OPERATOR_SCHEMA(", type,
                      ") to a source of the module");
  }
  const std::string name = Demangled(symbol);
  const bool is_ours = name.find("caffe2rt::") != std::string::npos;
  const std::string subject = MakeString("it uses \"", Shortened(name), "\", which ");
  if (!is_ours) {
    return subject +
           "neither the program nor a library that the module needs has; link the module "
           "with the library that defines it";
  }
  if (!ExportsSymbols()) {
    return subject +
           "the program does not export; link the program with -rdynamic (CMake: "
           "ENABLE_EXPORTS) or with the shared library";
  }
  // The new ABI writes std::__cxx11::basic_string.
  if (name.find("std::string") != std::string::npos ||
      name.find("std::basic_string<") != std::string::npos) {
    return subject +
           "has the old ABI of std::string; build the module without "
           "_GLIBCXX_USE_CXX11_ABI=0";
  }
  return subject +
         "the library in this program does not have; build the module with the headers of "
         "the same version, and link the program with the whole library";
}

}  // namespace

std::string PathOfModule(const std::string& file) {
  const bool is_name = file.find('/') == std::string::npos;
  return is_name && IsFile(file) ? "./" + file : file;
}

void CheckIsModule(const std::string& file, const std::string& path) {
  CheckModuleLinks(path);
  CAFFE_ENFORCE(MayUseLibrary(path), "cannot load module \"", file,
                "\": it is a shared library, but not a module: it does not use caffe2rt");
}

std::string WhyNotLoaded(const std::string& path, const char* error) {
  if (path.find('/') == std::string::npos && error != nullptr &&
      std::string(error).starts_with(path + ": cannot open shared object file")) {
    return "it is neither in the current folder nor in the loader's path (LD_LIBRARY_PATH, "
           "ld.so.conf)";
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return "it is a folder, not a shared library";
  if (IsFile(path) && !IsElf(path)) {
    return "the file exists, but it is not a module: it is not a shared library";
  }
  if (error == nullptr) return "unknown reason";
  constexpr std::string_view kUndefined = "undefined symbol: ";
  const std::string text = error;
  if (const size_t at = text.find(kUndefined); at != std::string::npos) {
    const std::string symbol = text.substr(at + kUndefined.size());
    return UndefinedSymbolText(symbol.substr(0, symbol.find_first_of(", \t")));
  }
  return text;
}

}  // namespace caffe2rt
