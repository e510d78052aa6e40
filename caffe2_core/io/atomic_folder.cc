#include "caffe2_core/io/atomic_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {
namespace {

std::string WithoutTrailingSlashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

bool AtomicFolder::IsFree(const std::string& path) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0) return true;
  std::error_code error;
  return std::filesystem::is_directory(path, error) && std::filesystem::is_empty(path, error);
}

AtomicFolder::AtomicFolder(const std::string& path, mode_t mode)
    : path_(internal::ResolveLinks(WithoutTrailingSlashes(path))) {
  CAFFE_ENFORCE(!path.empty(), "cannot create a folder: its path is empty");
  struct stat info;
  const bool exists = stat(path_.c_str(), &info) == 0;
  temporary_ = internal::CreateTemporaryFolder(path_, mode);
  if (exists) (void)fchmod(temporary_.file.get(), info.st_mode & 07777);
}

AtomicFolder::~AtomicFolder() {
  if (!committed_) internal::RemoveTemporaryFolder(temporary_);
}

void AtomicFolder::SyncFiles() const {
  const auto check = [](bool synced, const std::string& path) {
    const int error = errno;
    CAFFE_ENFORCE(synced, "cannot sync \"", path, "\": ", std::strerror(error));
  };
  for (const std::string& name : internal::NamesIn(temporary_.file)) {
    const FileDescriptor file(
        openat(temporary_.file.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    check(file && internal::Sync(file), temporary_.path + "/" + name);
  }
  check(internal::Sync(temporary_.file), temporary_.path);
}

void AtomicFolder::Commit() {
  if (committed_) return;
  SyncFiles();
  // rename replaces an empty folder and nothing else.
  const bool renamed = rename(temporary_.path.c_str(), path_.c_str()) == 0;
  const int error = errno;
  const bool exists = error == ENOTEMPTY || error == EEXIST || error == ENOTDIR;
  CAFFE_ENFORCE(renamed, "cannot put \"", path_, "\" in place: ",
                exists ? "something else was created there in the meantime" : std::strerror(error));
  committed_ = true;
  internal::ForgetTemporary(temporary_.path);
  temporary_.file.Close();
  internal::SyncFolder(internal::FolderOf(path_));
}

}  // namespace caffe2rt
