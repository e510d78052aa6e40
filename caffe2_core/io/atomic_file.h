#pragma once
// Files that appear whole or not at all.
//
//   AtomicFile file("model.pb");
//   file.Write(bytes);
//   file.Commit();               // only now does model.pb change
//
// The bytes go to a temporary file in the same folder (temporary.h); Commit syncs it and renames it
// over the path, so that a reader or a crash sees the old file or the new one. Without Commit the
// temporary file is removed; that of a process that was killed is removed when the next file is
// written in the folder. A path that exists and is no regular file (a pipe, /dev/stdout) is written
// directly. A symbolic link keeps pointing to what it points to.
//
// Not thread safe. Every error THROWS EnforceNotMet with the path and the system's reason.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace caffe2rt {

// An open file descriptor; closed by the destructor. Move only.
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
  // Gives it away without closing it.
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

class AtomicFile {
 public:
  // What Commit does when the path exists: kThrow is for a file that was not there before.
  enum class Existing { kReplace, kThrow };
  explicit AtomicFile(const std::string& path, Existing existing = Existing::kReplace);
  ~AtomicFile();  // removes the temporary file when Commit was not called
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void Write(std::string_view bytes);
  // Bytes written so far, the buffered ones too.
  int64_t size() const { return size_; }
  // Flushes, syncs and renames. Afterwards Write goes on at the end of the now visible file, and
  // further calls flush.
  void Commit();
  bool committed() const { return committed_; }
  // The file itself, open for writing, for one who goes on in another way. REQUIRES committed(),
  // and that nothing is called afterwards.
  FileDescriptor TakeFile() { return std::move(file_); }

 private:
  void Flush();
  void WriteNow(std::string_view bytes);
  void Rename();
  [[noreturn]] void Fail(const char* action);

  const Existing existing_;
  std::string path_;            // with links resolved
  std::string temporary_path_;  // empty when written directly
  FileDescriptor file_;
  std::vector<char> buffer_;
  int64_t size_ = 0;
  bool committed_ = false;
  bool failed_ = false;  // nothing more is written then
};

// The whole of `bytes` as the file `path`, atomically.
void WriteFileAtomically(const std::string& path, std::string_view bytes);

// Opens for reading. THROWS when it is not there, may not be read, or is a directory.
FileDescriptor OpenForReading(const std::string& path);

// Reads exactly `size` bytes at `offset`. THROWS when the file ends before.
void ReadAt(const FileDescriptor& file, const std::string& path, int64_t offset, void* data,
            size_t size);

// The bytes of a regular file. THROWS as OpenForReading does.
int64_t FileSize(const FileDescriptor& file, const std::string& path);

// The whole file or pipe. THROWS when it is longer than `limit_bytes`.
std::string ReadWholeFile(const std::string& path, int64_t limit_bytes = INT64_MAX);

}  // namespace caffe2rt
