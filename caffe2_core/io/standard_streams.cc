#include "caffe2_core/io/standard_streams.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "caffe2_core/base/byte_size.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/mutex.h"

namespace caffe2rt {
namespace {

std::atomic<bool> used = false;

// Writes all bytes. Returns false, with errno set, if it cannot.
bool WriteAll(int to, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t written = write(to, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    data += written;
    size -= static_cast<size_t>(written);
  }
  return true;
}

// Whether reading the device never ends: /dev/zero, full, random and urandom. Their numbers are
// fixed (admin-guide/devices.txt of Linux).
bool IsEndless(const struct stat& info) {
  if (!S_ISCHR(info.st_mode) || major(info.st_rdev) != 1) return false;
  const unsigned number = minor(info.st_rdev);
  return number == 5 || number == 7 || number == 8 || number == 9;
}

// Reads `from` to its end. The bytes stay reserved for the life of the process.
FileDescriptor ContentOf(int from, const std::string& path, int64_t limit_bytes) {
  FileDescriptor kept = internal::AnonymousFile();
  std::vector<char> buffer(1 << 16);
  int64_t size = 0;
  while (true) {
    const ssize_t got = read(from, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    const int error = errno;
    CAFFE_ENFORCE_GE(got, 0, "cannot read \"", path, "\": ", std::strerror(error));
    if (got == 0) return kept;
    size += got;
    CAFFE_ENFORCE(size <= limit_bytes, "bytes of file \"", path, "\": got more than ",
                  ByteSizeText(static_cast<uint64_t>(limit_bytes)),
                  limit_bytes == kMaxPipeBytes ? "; write a larger input to a file" : "");
    ReserveCPUBytes(static_cast<size_t>(got));
    CAFFE_ENFORCE(WriteAll(kept.get(), buffer.data(), static_cast<size_t>(got)),
                  "cannot keep the content of \"", path, "\": ", std::strerror(errno));
  }
}

// A second descriptor of an open file, with a position of its own at the start.
FileDescriptor Reopened(int file, const std::string& path) {
  FileDescriptor opened(open(MakeString("/proc/self/fd/", file).c_str(), O_RDONLY | O_CLOEXEC));
  const int error = errno;
  CAFFE_ENFORCE(opened, "cannot open \"", path, "\" again: ", std::strerror(error));
  return opened;
}

// The pipes that have been read, by device and inode.
class KeptPipes {
 public:
  FileDescriptor Open(const std::string& path, const struct stat& info, int64_t limit_bytes) {
    CAFFE_ENFORCE(!IsEndless(info), "cannot read \"", path,
                  "\": it is a device without an end, want a file or a pipe");
    const MutexLock lock(mutex_);
    FileDescriptor& kept = pipes_[{info.st_dev, info.st_ino}];
    if (!kept) {
      if (path == "-") {
        kept = ContentOf(STDIN_FILENO, path, limit_bytes);
      } else {
        const FileDescriptor pipe(open(path.c_str(), O_RDONLY | O_CLOEXEC));
        const int error = errno;
        CAFFE_ENFORCE(pipe, "cannot open \"", path, "\": ", std::strerror(error));
        kept = ContentOf(pipe.get(), path, limit_bytes);
      }
    }
    return Reopened(kept.get(), path);
  }

 private:
  Mutex mutex_;
  std::map<std::pair<dev_t, ino_t>, FileDescriptor> pipes_ ABSL_GUARDED_BY(mutex_);
};

KeptPipes& AllKeptPipes() {
  static KeptPipes& pipes = *new KeptPipes;  // never destroyed: other threads may still read
  return pipes;
}

}  // namespace

void UseStandardStreams() { used = true; }

bool IsStandardStream(const std::string& path) { return used && path == "-"; }

bool PathExists(const std::string& path) {
  std::error_code ignored;
  return IsStandardStream(path) || std::filesystem::exists(path, ignored);
}

bool CanReadAgain(const std::string& path) {
  if (IsStandardStream(path)) return true;
  struct stat info;
  if (stat(path.c_str(), &info) != 0 || S_ISDIR(info.st_mode)) return false;
  return S_ISREG(info.st_mode) || used;
}

namespace internal {

FileDescriptor OpenKeptPipe(const std::string& path, int64_t limit_bytes) {
  if (!used) return {};
  struct stat info;
  if (path == "-") {
    const bool found = fstat(STDIN_FILENO, &info) == 0;
    const int error = errno;
    CAFFE_ENFORCE(found, "cannot read \"-\", standard input: ", std::strerror(error));
    CAFFE_ENFORCE(!S_ISDIR(info.st_mode), "cannot read \"-\": standard input is a directory");
    // A file from its start on is read where it is, whatever its size.
    if (S_ISREG(info.st_mode) && lseek(STDIN_FILENO, 0, SEEK_CUR) == 0) {
      FileDescriptor opened(open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC));
      if (opened) return opened;
    }
  } else if (stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode) ||
             S_ISBLK(info.st_mode)) {
    return {};
  }
  return AllKeptPipes().Open(path, info, std::min(limit_bytes, kMaxPipeBytes));
}

FileDescriptor AnonymousFile() {
  FileDescriptor file(memfd_create("caffe2rt", MFD_CLOEXEC));
  const int error = errno;
  CAFFE_ENFORCE(file, "cannot create a file in memory: ", std::strerror(error));
  return file;
}

}  // namespace internal
}  // namespace caffe2rt
