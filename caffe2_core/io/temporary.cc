#include "caffe2_core/io/temporary.h"

#include <absl/strings/str_cat.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/signal_cleanup.h"

namespace caffe2rt {
namespace internal {
namespace {

constexpr std::string_view kMark = ".caffe2rt-tmp-";
constexpr size_t kRandomDigits = 16;
// Limit on the part taken from the target's name, so that the whole name stays below the limit of
// 255 bytes.
constexpr size_t kMaxNameBytes = 200;
constexpr int kMaxAttempts = 100;

bool AllIn(std::string_view text, std::string_view allowed) {
  return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
}

bool IsDigits(std::string_view text) { return AllIn(text, "0123456789"); }

std::string TemporaryPath(const std::string& path) {
  uint64_t random = 0;
  CAFFE_ENFORCE_EQ(getrandom(&random, sizeof(random), 0), static_cast<ssize_t>(sizeof(random)),
                   "random bytes for a temporary name");
  const size_t slash = path.rfind('/');
  const size_t begin = slash == std::string::npos ? 0 : slash + 1;
  return MakeString(path.substr(0, begin), ".", path.substr(begin, kMaxNameBytes), kMark, getpid(),
                    "-", absl::StrCat(absl::Hex(random, absl::kZeroPad16)));
}

bool IsTemporaryName(std::string_view name) {
  const size_t mark = name.rfind(kMark);
  if (mark == std::string_view::npos || mark == 0 || name[0] != '.') return false;
  const std::string_view numbers = name.substr(mark + kMark.size());
  const size_t dash = numbers.find('-');
  if (dash == std::string_view::npos) return false;
  const std::string_view random = numbers.substr(dash + 1);
  return IsDigits(numbers.substr(0, dash)) && random.size() == kRandomDigits &&
         AllIn(random, "0123456789abcdef");
}

// Whether `name` is the name of a LevelDB or LMDB file.
bool IsDatabaseFile(std::string_view name) {
  for (const char* known : {"CURRENT", "LOCK", "LOG", "LOG.old", "data.mdb", "lock.mdb"}) {
    if (name == known) return true;
  }
  constexpr std::string_view kManifest = "MANIFEST-";
  if (name.starts_with(kManifest)) return IsDigits(name.substr(kManifest.size()));
  const size_t dot = std::min(name.find('.'), name.size());
  const std::string_view ending = name.substr(dot);
  return IsDigits(name.substr(0, dot)) &&
         (ending == ".log" || ending == ".ldb" || ending == ".sst" || ending == ".dbtmp");
}

// Removes the folder `name` in `parent`, open as `folder`, if it contains only database files.
void RemoveDatabase(int parent, const std::string& name, const FileDescriptor& folder) {
  const std::vector<std::string> files = NamesIn(folder);
  for (const std::string& file : files) {
    struct stat info;
    if (!IsDatabaseFile(file) ||
        fstatat(folder.get(), file.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(info.st_mode)) {
      return;
    }
  }
  for (const std::string& file : files) (void)unlinkat(folder.get(), file.c_str(), 0);
  (void)unlinkat(parent, name.c_str(), AT_REMOVEDIR);
}

void CollectOne(int folder, const std::string& name) {
  struct stat info;
  if (fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return;
  const bool is_folder = S_ISDIR(info.st_mode);
  if (info.st_uid != geteuid() || (!is_folder && (!S_ISREG(info.st_mode) || info.st_nlink != 1))) {
    return;
  }
  const int flags = is_folder ? O_RDONLY | O_DIRECTORY : O_WRONLY;
  const FileDescriptor file(
      openat(folder, name.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file || flock(file.get(), LOCK_EX | LOCK_NB) != 0) return;
  // The owner may have renamed it into place before the lock was released.
  struct stat opened, named;
  if (fstat(file.get(), &opened) != 0 ||
      fstatat(folder, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0) {
    return;
  }
  for (const struct stat& other : {opened, named}) {
    if (other.st_dev != info.st_dev || other.st_ino != info.st_ino) return;
  }
  if (is_folder) {
    RemoveDatabase(folder, name, file);
  } else {
    (void)unlinkat(folder, name.c_str(), 0);
  }
}

// Creates and locks a temporary. `make` creates and opens it, or returns -1 and sets errno; after
// EEXIST another name is tried.
template <class Make>
Temporary Create(const std::string& path, const char* kind, Make make) {
  CollectTemporaries(FolderOf(path));
  int error = EEXIST;
  for (int attempt = 0; attempt < kMaxAttempts && error == EEXIST; ++attempt) {
    Temporary made{TemporaryPath(path), {}};
    made.file = FileDescriptor(make(made.path.c_str()));
    error = errno;
    if (!made.file) continue;
    // Another process that collects temporaries may lock or remove this one before it is locked
    // here. On a file system without locks, flock fails with another error, for all processes.
    struct stat info;
    const bool taken = flock(made.file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!taken && lstat(made.path.c_str(), &info) == 0) {
      RememberTemporary(made.path);
      return made;
    }
    error = EEXIST;
  }
  CAFFE_THROW("cannot create a ", kind, " in \"", FolderOf(path), "\" to write \"", path,
              "\": ", std::strerror(error));
}

}  // namespace

Temporary CreateTemporaryFile(const std::string& path) {
  return Create(path, "file", [](const char* name) {
    return open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  });
}

Temporary CreateTemporaryFolder(const std::string& path, mode_t mode) {
  return Create(path, "folder", [mode](const char* name) {
    if (mkdir(name, mode) != 0) return -1;
    const int folder = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder >= 0) return folder;
    const int error = errno == ENOENT ? EEXIST : errno;  // ENOENT: already collected
    (void)rmdir(name);
    errno = error;
    return -1;
  });
}

void RemoveTemporaryFolder(const Temporary& folder) {
  RemoveDatabase(AT_FDCWD, folder.path, folder.file);
  ForgetTemporary(folder.path);
}

void CollectTemporaries(const std::string& folder) {
  const FileDescriptor opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return;
  for (const std::string& name : NamesIn(opened)) {
    if (IsTemporaryName(name)) CollectOne(opened.get(), name);
  }
}

struct FolderCloser {
  void operator()(DIR* folder) const { closedir(folder); }
};

std::vector<std::string> NamesIn(const FileDescriptor& folder) {
  std::vector<std::string> names;
  FileDescriptor again(openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!again) return names;
  const std::unique_ptr<DIR, FolderCloser> listing(fdopendir(again.get()));
  if (listing == nullptr) return names;
  again.Release();  // closedir closes it
  while (const dirent* entry = readdir(listing.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string ResolveLinks(const std::string& path) {
  std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr), &std::free);
  return real ? std::string(real.get()) : path;
}

bool Sync(const FileDescriptor& file) {
  int result;
  do {
    result = fsync(file.get());
  } while (result != 0 && errno == EINTR);
  return result == 0 || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
}

void SyncFolder(const std::string& folder) {
  const FileDescriptor opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const bool synced = !opened || Sync(opened);
  const int error = errno;
  CAFFE_ENFORCE(synced, "cannot sync the folder \"", folder, "\": ", std::strerror(error));
}

}  // namespace internal
}  // namespace caffe2rt
