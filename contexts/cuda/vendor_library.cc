#include "contexts/cuda/vendor_library.h"

#include <absl/strings/str_join.h>
#include <dlfcn.h>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

VendorLibrary::VendorLibrary(const char* name, const char* file)
    : name_(name), file_(file), library_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
  if (library_ != nullptr) return;
  const char* const reason = dlerror();
  reason_ = reason != nullptr ? reason : "no reason given";
}

void* VendorLibrary::Find(const char* symbol) {
  if (library_ == nullptr) return nullptr;
  void* const found = dlsym(library_, symbol);
  if (found == nullptr) missing_.emplace_back(symbol);
  return found;
}

std::string VendorLibrary::Problem() const {
  if (library_ == nullptr) {
    return MakeString(name_, " is not available: ", reason_, "; install ", file_,
                      " or add its folder to LD_LIBRARY_PATH");
  }
  if (missing_.empty()) return "";
  return MakeString(name_, " (", file_, ") is of another version than this build's: it lacks ",
                    absl::StrJoin(missing_, ", "));
}

}  // namespace caffe2rt
