#include "caffe2_core/runtime/module_search.h"

#include <filesystem>

#include "caffe2_core/base/enforce.h"
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
  return error != nullptr ? error : "unknown reason";
}

}  // namespace caffe2rt
