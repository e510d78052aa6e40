#include "contexts/cuda/vendor_library.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "contexts/cuda/cuda_options.h"

namespace caffe2rt {
namespace {

namespace fs = std::filesystem;

constexpr int kMode = RTLD_NOW | RTLD_LOCAL;

std::string LoaderError() {
  const char* const reason = dlerror();
  return reason != nullptr ? reason : "no reason given";
}

// The folders in `folder` whose names start with `prefix`, sorted. Empty if it cannot be read.
std::vector<std::string> FoldersIn(const std::string& folder, const std::string& prefix) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code not_a_folder;
    if (it->path().filename().string().rfind(prefix, 0) != 0) continue;
    if (it->is_directory(not_a_folder)) found.push_back(it->path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// pip's packages of CUDA: nvidia/cublas/lib, nvidia/cudnn/lib, nvidia/cu13/lib.
void AddPackages(const std::string& site_packages, std::vector<std::string>* folders) {
  for (const std::string& package : FoldersIn(site_packages + "/nvidia", "")) {
    folders->push_back(package + "/lib");
  }
}

void AddVariable(const char* name, std::vector<std::string>* roots) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return;
  for (const auto& root : absl::StrSplit(text, ':', absl::SkipEmpty())) roots->emplace_back(root);
}

std::vector<std::string> NamedRoots() {
  const std::string& path = GlobalCudaLibraryOptions().library_path;
  std::vector<std::string> roots = absl::StrSplit(path, ':', absl::SkipEmpty());
  AddVariable("CAFFE2_CUDA_LIBRARY_PATH", &roots);
  return roots;
}

std::vector<std::string> UsualRoots() {
  std::vector<std::string> roots;
  for (const char* const name : {"CUDA_HOME", "CUDA_PATH"}) AddVariable(name, &roots);
  roots.emplace_back("/usr/local/cuda");
  for (const char* const name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) AddVariable(name, &roots);
  return roots;
}

}  // namespace

std::string internal::LibraryOrigin(const std::string& path, int major, int minor, int patch) {
  return MakeString(path, ", version ", major, ".", minor, ".", patch);
}

std::vector<std::string> internal::LibraryFolders(const std::string& root) {
  std::vector<std::string> folders = {root, root + "/lib64", root + "/lib"};
  for (const std::string& target : FoldersIn(root + "/targets", "")) {
    folders.push_back(target + "/lib");
  }
  AddPackages(root, &folders);
  for (const std::string& python : FoldersIn(root + "/lib", "python3")) {
    AddPackages(python + "/site-packages", &folders);
  }
  std::erase_if(folders, [](const std::string& folder) {
    std::error_code error;
    return !fs::is_directory(folder, error);
  });
  return folders;
}

VendorLibrary::VendorLibrary(const char* name, const char* file,
                             std::vector<const char*> companions)
    : name_(name), file_(file), companions_(std::move(companions)) {
  OpenBelow(NamedRoots());
  if (library_ != nullptr) return;
  library_ = dlopen(file, kMode);
  if (library_ != nullptr) return;
  absl::StrAppend(&reason_, reason_.empty() ? "" : "; ", LoaderError());
  OpenBelow(UsualRoots());
}

void VendorLibrary::OpenBelow(const std::vector<std::string>& roots) {
  std::vector<std::string> folders;
  for (const std::string& root : roots) {
    absl::StrAppend(&tried_, tried_.empty() ? "" : ", ", root);
    const std::vector<std::string> below = internal::LibraryFolders(root);
    folders.insert(folders.end(), below.begin(), below.end());
  }
  const auto open = [](const std::string& path) -> void* {
    std::error_code error;
    return fs::exists(path, error) ? dlopen(path.c_str(), kMode) : nullptr;
  };
  for (const std::string& folder : folders) {
    const std::string path = absl::StrCat(folder, "/", file_);
    std::error_code error;
    if (!fs::exists(path, error)) continue;
    for (const char* const companion : companions_) {
      (void)std::any_of(folders.begin(), folders.end(), [&](const std::string& other) {
        return open(absl::StrCat(other, "/", companion)) != nullptr;
      });
    }
    library_ = open(path);
    if (library_ != nullptr) return;
    absl::StrAppend(&reason_, reason_.empty() ? "" : "; ", LoaderError());
  }
}

void* VendorLibrary::Find(const char* symbol, bool required) {
  if (library_ == nullptr) return nullptr;
  void* const found = dlsym(library_, symbol);
  if (found == nullptr && required) missing_.emplace_back(symbol);
  return found;
}

std::string VendorLibrary::Path() const {
  const link_map* map = nullptr;
  if (library_ == nullptr || dlinfo(library_, RTLD_DI_LINKMAP, &map) != 0) return "";
  std::error_code error;
  const fs::path path = fs::canonical(map->l_name, error);
  return error ? map->l_name : path.string();
}

std::string VendorLibrary::Problem() const {
  if (library_ == nullptr) {
    return MakeString(name_, " is not available: ", reason_, "; searched the loader's path and ",
                      tried_, "; install ", file_,
                      " or add its folder to LD_LIBRARY_PATH, or name a toolkit or a Python "
                      "environment that contains it by --caffe2_cuda_library_path");
  }
  if (missing_.empty()) return "";
  return MakeString(name_, " (", file_, ") is of another version than this build's: it lacks ",
                    absl::StrJoin(missing_, ", "));
}

}  // namespace caffe2rt
