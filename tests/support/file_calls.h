#pragma once
// The system calls of this thread that change files: records them, and fails one or kills the
// process at one.
//
//   FileCalls calls;
//   WriteFileAtomically("a", "x");
//   calls.all();                                   // open, flock, write, fsync, rename, ...
//
//   RunAndKill({.call = 3}, [] { WriteFileAtomically("a", "x"); });
//
// Records open with O_CREAT, mkdir, write, pwrite, writev, fsync, fdatasync, ftruncate, rename,
// renameat2, unlink, unlinkat and flock, as the libraries call them. For programs that link it
// alone: its functions stand for those of the C library there, and fsync does not wait for the
// disk.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace caffe2rt::test {

struct FileCall {
  std::string name;  // "write"
  std::string path;  // of the file; where it is renamed to
  size_t bytes = 0;  // to be written
};

struct Interruption {
  size_t call = SIZE_MAX;  // at this one, counted from 0
  size_t bytes = 0;        // of a write that are written first
  int error = 0;           // the errno of the call; 0: kill the process
  bool goes_on = false;    // later calls fail too, but unlink and flock
};

class FileCalls {
 public:
  explicit FileCalls(const Interruption& interruption = {});
  ~FileCalls();
  FileCalls(const FileCalls&) = delete;
  FileCalls& operator=(const FileCalls&) = delete;

  const std::vector<FileCall>& all() const { return all_; }

  // For the functions that stand for the C library's: whether to record; the bytes of a write that
  // are to be written, or -1 with errno; what follows a write.
  static bool Recording();
  static int64_t Before(const char* name, const std::string& path, size_t bytes = 0);
  static void AfterWrite();

 private:
  const Interruption interruption_;
  std::vector<FileCall> all_;
};

// Runs `act` in a child process that is killed at the interruption. Whether it came to the end.
// REQUIRES a process with one thread.
bool RunAndKill(const Interruption& interruption, const std::function<void()>& act);

}  // namespace caffe2rt::test
