#pragma once
// Records the system calls of this thread that change files. Can make one of them fail, or kill the
// process at one.
//
//   FileCalls calls;
//   WriteFileAtomically("a", "x");
//   calls.all();  // open, flock, write, fsync, rename, ...
//
//   RunAndKill({.call = 3}, [] { WriteFileAtomically("a", "x"); });
//
// Records open with O_CREAT, mkdir, write, pwrite, writev, fsync, fdatasync, ftruncate, rename,
// renameat2, unlink, unlinkat and flock, called by the program or by a library. Only for programs
// that link caffe2rt_file_calls: its functions replace those of the C library, and its fsync does
// not wait for the disk.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace caffe2rt::test {

struct FileCall {
  std::string name;  // "write"
  std::string path;  // of the file; for a rename, the new path
  size_t bytes = 0;  // bytes to write
};

struct Interruption {
  size_t call = SIZE_MAX;  // the call to interrupt, counted from 0
  size_t bytes = 0;        // if it is a write: the bytes to write first
  int error = 0;           // the errno of the call; 0 kills the process
  bool goes_on = false;    // later calls fail too, except unlink and flock
};

class FileCalls {
 public:
  explicit FileCalls(const Interruption& interruption = {});
  ~FileCalls();
  FileCalls(const FileCalls&) = delete;
  FileCalls& operator=(const FileCalls&) = delete;

  const std::vector<FileCall>& all() const { return all_; }

  // The following are for the functions that replace those of the C library.
  // Whether calls of this thread are recorded.
  static bool Recording();
  // Records a call. Returns how many of its `bytes` to write, or -1 with errno set.
  static int64_t Before(const char* name, const std::string& path, size_t bytes = 0);
  // Kills the process if the write just done was the interrupted call.
  static void AfterWrite();

 private:
  const Interruption interruption_;
  std::vector<FileCall> all_;
};

// Runs `act` in a child process that is killed at the interruption. Returns whether `act`
// completed. REQUIRES: the process has one thread.
bool RunAndKill(const Interruption& interruption, const std::function<void()>& act);

}  // namespace caffe2rt::test
