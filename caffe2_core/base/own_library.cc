#include "caffe2_core/base/own_library.h"

#include <dlfcn.h>
#include <link.h>

#include <system_error>

namespace caffe2rt {

namespace {

// The loader's path of the file that contains this code: "" for the program itself.
const char* OwnPath() {
  Dl_info info{};
  link_map* map = nullptr;
  if (dladdr1(reinterpret_cast<void*>(&OwnPath), &info, reinterpret_cast<void**>(&map),
              RTLD_DL_LINKMAP) == 0 ||
      map == nullptr || map->l_name == nullptr) {
    return "";
  }
  return map->l_name;
}

}  // namespace

std::filesystem::path OwnLibraryFolder() {
  const char* const path = OwnPath();
  std::error_code error;
  return std::filesystem::canonical(path[0] != '\0' ? path : "/proc/self/exe", error).parent_path();
}

void ExportOwnLibrary() {
  const char* const path = OwnPath();
  if (path[0] == '\0') return;
  // Opening it again with RTLD_GLOBAL changes the visibility of a loaded file.
  void* const handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
  if (handle != nullptr) dlclose(handle);
}

}  // namespace caffe2rt
