#pragma once
// Files that appear completely or not at all.
//
//   AtomicFile file("model.pb");
//   file.Write(bytes);
//   file.Commit();  // model.pb changes only now
//
// The bytes go to a temporary file in the same folder (temporary.h). Commit syncs it and renames it
// to the target path, so that a reader, also after a crash, sees either the old file or the new
// one. If Commit is not called, the destructor removes the temporary file. A temporary file left
// behind by a killed process is removed when the next file is written in the folder. An existing
// path that is not a regular file (a pipe, /dev/stdout) is written directly. A symbolic link is
// kept, and the file that it points to is replaced. In programs that call UseStandardStreams
// (standard_streams.h), "-" is standard input for readers and standard output for writers, and pipes
// can be read more than once.
//
// Not thread safe. Every failure THROWS EnforceNotMet with the path and the system's error message.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace caffe2rt {

// Owns an open file descriptor and closes it on destruction. Move only.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept;
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { Close(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void Close();
  // Returns the descriptor without closing it and gives up ownership.
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

class AtomicFile {
 public:
  // What Commit does if the path exists. Use kThrow if the file did not exist before.
  enum class Existing { kReplace, kThrow };
  // Whether Overwrite is called for bytes that may have left the buffer. With kAnywhere, the bytes
  // for a pipe are kept in memory until Commit.
  enum class Order { kForward, kAnywhere };
  explicit AtomicFile(const std::string& path, Existing existing = Existing::kReplace,
                      Order order = Order::kForward);
  ~AtomicFile();  // removes the temporary file if Commit was not called
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void Write(std::string_view bytes);
  // Replaces bytes that were written before. REQUIRES: they end at size() or before. THROWS if the
  // path is a pipe, they have left the buffer and the order is kForward.
  void Overwrite(int64_t offset, std::string_view bytes);
  // Bytes written so far, including buffered bytes.
  int64_t size() const { return size_; }
  // Flushes, syncs and renames. Later writes append to the file, which is now visible, and later
  // calls of Commit only flush.
  void Commit();
  bool committed() const { return committed_; }
  // Transfers ownership of the file, open for writing, to the caller. REQUIRES: committed(); no
  // other member function is called afterwards.
  FileDescriptor TakeFile() { return std::move(file_); }

 private:
  void Flush();
  void WriteNow(std::string_view bytes);
  void OpenDirectly(const char* path, Order order);
  void CopyToTarget();
  void Rename();
  [[noreturn]] void Fail(const char* action);

  const Existing existing_;
  std::string path_;            // symbolic links resolved
  std::string temporary_path_;  // empty if the path is written directly
  FileDescriptor file_;
  FileDescriptor target_;  // the pipe that gets the content of file_ at Commit
  std::vector<char> buffer_;
  int64_t size_ = 0;
  bool committed_ = false;
  bool failed_ = false;  // if true, nothing more is written
};

// Creates or replaces the file `path` with the content `bytes`, atomically.
void WriteFileAtomically(const std::string& path, std::string_view bytes);

// Opens `path` for reading. THROWS if it does not exist, is not readable, or is a directory.
FileDescriptor OpenForReading(const std::string& path);

// Reads exactly `size` bytes at `offset`. THROWS if the file ends before that.
void ReadAt(const FileDescriptor& file, const std::string& path, int64_t offset, void* data,
            size_t size);

// Returns the size of the file in bytes, 0 for a pipe. THROWS if fstat fails.
int64_t FileSize(const FileDescriptor& file, const std::string& path);

// Reads a whole file or pipe. THROWS as OpenForReading does, and if there are more than
// `limit_bytes` bytes.
std::string ReadWholeFile(const std::string& path, int64_t limit_bytes = INT64_MAX);

}  // namespace caffe2rt
#pragma GCC visibility pop
