#include "tests/support/file_calls.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <string_view>
#include <utility>

namespace caffe2rt::test {
namespace {

thread_local FileCalls* current = nullptr;

std::string PathOf(int fd) {
  char path[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t size = readlink(link.c_str(), path, sizeof(path));
  return size < 0 ? std::string() : std::string(path, static_cast<size_t>(size));
}

// A call that cannot be done partially.
template <class... Arguments>
int Whole(const char* name, const std::string& path, long number, Arguments... arguments) {
  if (FileCalls::Recording() && FileCalls::Before(name, path) < 0) return -1;
  return static_cast<int>(syscall(number, arguments...));
}

int Synced(const char* name, int fd) {
  return FileCalls::Recording() && FileCalls::Before(name, PathOf(fd)) < 0 ? -1 : 0;
}

// `write(n)` writes the first n bytes.
template <class Write>
ssize_t Written(const char* name, int fd, size_t bytes, Write write) {
  if (!FileCalls::Recording()) return write(bytes);
  const int64_t allowed = FileCalls::Before(name, PathOf(fd), bytes);
  if (allowed < 0) return -1;
  const ssize_t written = write(std::min(bytes, static_cast<size_t>(allowed)));
  FileCalls::AfterWrite();
  return written;
}

int Opened(const char* name, int folder, const char* path, int flags, va_list arguments) {
  if ((flags & O_CREAT) == 0) return static_cast<int>(syscall(SYS_openat, folder, path, flags, 0));
  return Whole(name, path, SYS_openat, folder, path, flags, va_arg(arguments, unsigned));
}

}  // namespace

FileCalls::FileCalls(const Interruption& interruption) : interruption_(interruption) {
  current = this;
}

FileCalls::~FileCalls() { current = nullptr; }

bool FileCalls::Recording() { return current != nullptr; }

int64_t FileCalls::Before(const char* name, const std::string& path, size_t bytes) {
  FileCalls* const calls = std::exchange(current, nullptr);  // do not record this function's calls
  if (calls == nullptr) return static_cast<int64_t>(bytes);
  const size_t index = calls->all_.size();
  calls->all_.push_back({name, path, bytes});
  current = calls;
  const Interruption& interruption = calls->interruption_;
  const std::string_view kind = name;
  const bool later = interruption.goes_on && index > interruption.call && kind != "unlink" &&
                     kind != "unlinkat" && kind != "flock";
  if (index != interruption.call && !later) return static_cast<int64_t>(bytes);
  if (interruption.bytes > 0 && !later) return static_cast<int64_t>(interruption.bytes);
  if (interruption.error == 0) kill(getpid(), SIGKILL);
  errno = interruption.error;
  return -1;
}

void FileCalls::AfterWrite() {
  if (current == nullptr) return;
  const Interruption& interruption = current->interruption_;
  const bool cut = interruption.bytes > 0 && current->all_.size() - 1 == interruption.call;
  if (cut && interruption.error == 0) kill(getpid(), SIGKILL);
}

bool RunAndKill(const Interruption& interruption, const std::function<void()>& act) {
  const pid_t child = fork();
  if (child == 0) {
    {
      const FileCalls calls(interruption);
      act();
    }
    _exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  const bool finished = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  EXPECT_TRUE(child > 0 && (killed || finished)) << "wait status " << status;
  return finished;
}

}  // namespace caffe2rt::test

// Replacements for functions of the C library, in the program and in all libraries it loads.
extern "C" {

using caffe2rt::test::Opened;
using caffe2rt::test::Synced;
using caffe2rt::test::Whole;
using caffe2rt::test::Written;

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const int result = Opened("open", AT_FDCWD, path, flags, arguments);
  va_end(arguments);
  return result;
}
int openat(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const int result = Opened("open", folder, path, flags, arguments);
  va_end(arguments);
  return result;
}
int mkdir(const char* path, mode_t mode) noexcept {
  return Whole("mkdir", path, SYS_mkdirat, AT_FDCWD, path, mode);
}
int rename(const char* from, const char* to) noexcept {
  return Whole("rename", to, SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  return Whole("renameat2", to, SYS_renameat2, from_folder, from, to_folder, to, flags);
}
int unlink(const char* path) noexcept {
  return Whole("unlink", path, SYS_unlinkat, AT_FDCWD, path, 0);
}
int unlinkat(int folder, const char* path, int flags) noexcept {
  return Whole("unlinkat", path, SYS_unlinkat, folder, path, flags);
}
int ftruncate(int fd, off_t size) noexcept {
  return Whole("ftruncate", caffe2rt::test::PathOf(fd), SYS_ftruncate, fd, size);
}
int flock(int fd, int operation) noexcept {
  return Whole("flock", caffe2rt::test::PathOf(fd), SYS_flock, fd, operation);
}
int fsync(int fd) { return Synced("fsync", fd); }
int fdatasync(int fd) { return Synced("fdatasync", fd); }
ssize_t write(int fd, const void* data, size_t bytes) {
  return Written("write", fd, bytes, [&](size_t n) { return syscall(SYS_write, fd, data, n); });
}
ssize_t pwrite(int fd, const void* data, size_t bytes, off_t offset) {
  return Written("pwrite", fd, bytes,
                 [&](size_t n) { return syscall(SYS_pwrite64, fd, data, n, offset); });
}
ssize_t writev(int fd, const struct iovec* parts, int count) {
  if (!caffe2rt::test::FileCalls::Recording()) return syscall(SYS_writev, fd, parts, count);
  std::string all;
  for (int i = 0; i < count; ++i) {
    all.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
  }
  return Written("writev", fd, all.size(),
                 [&](size_t n) { return syscall(SYS_write, fd, all.data(), n); });
}

}  // extern "C"
