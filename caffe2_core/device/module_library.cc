#include "caffe2_core/device/module_library.h"

#include <absl/strings/str_join.h>
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/own_library.h"

namespace caffe2rt {

// caffe2_core/runtime/module_links.h, which this folder may not include.
void CheckModuleLinks(const std::string& file);

namespace {

std::string LastLoaderError() {
  const char* const why = dlerror();
  return why != nullptr ? why : "unknown reason";
}

// RTLD_NODELETE keeps the module loaded: its operators and contexts are used until the process
// ends.
void* Open(const std::string& file, int more = 0) {
  return dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | more);
}

// THROWS if the file would bring a second copy of the library.
void* OpenNew(const ModuleLibrary& library, const std::string& file) {
  try {
    CheckModuleLinks(file);
  } catch (const OutOfMemory&) {
    throw;
  } catch (const EnforceNotMet& error) {
    CAFFE_THROW(library.subject, ": ", error.message());
  }
  ExportOwnLibrary();
  return Open(file);
}

OpenedLibrary Opened(void* handle) {
  OpenedLibrary opened{.handle = handle};
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr) opened.path = map->l_name;
  return opened;
}

OpenedLibrary OpenFile(const ModuleLibrary& library, const std::string& file) {
  if (void* const handle = OpenNew(library, file); handle != nullptr) return Opened(handle);
  const std::string why = LastLoaderError();
  OpenedLibrary broken{.is_broken = true, .path = file};
  broken.message = MakeString(library.subject, ": cannot load \"", file, "\": ", why);
  if (why.find("undefined symbol") != std::string::npos) {
    broken.message +=
        "; the program must export all symbols of the static library, or use the shared library";
  }
  return broken;
}

}  // namespace

OpenedLibrary OpenModuleLibrary(const ModuleLibrary& library) {
  const std::string& file_name = library.file_name;
  if (void* const handle = Open(file_name, RTLD_NOLOAD); handle != nullptr) return Opened(handle);
  const char* const named = std::getenv(library.variable.c_str());
  if (named != nullptr && named[0] != '\0') return OpenFile(library, named);
  std::vector<std::string> searched;
  if (const std::filesystem::path own = OwnLibraryFolder(); !own.empty()) {
    for (const std::filesystem::path& folder : {own, own.parent_path() / "lib"}) {
      const std::string file = (folder / file_name).string();
      searched.push_back(folder.string());
      if (access(file.c_str(), F_OK) == 0) return OpenFile(library, file);
    }
  }
  if (void* const handle = OpenNew(library, file_name); handle != nullptr) return Opened(handle);
  const std::string why = LastLoaderError();
  // If the loader's error names another file, the module exists, but a library that it needs is
  // missing.
  if (why.find(file_name + ": cannot open shared object") == std::string::npos) {
    return {.is_broken = true, .message = library.subject + ": cannot load " + why};
  }
  return {.message = MakeString(
              library.subject, library.in_this_build ? ": " : ": not in this build; ", file_name,
              " is not in ", absl::StrJoin(searched, ", "), " or in the loader's search path; set ",
              library.variable, " to its path")};
}

}  // namespace caffe2rt
