#include "caffe2_core/io/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "caffe2_core/base/byte_size.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/io/standard_streams.h"
#include "caffe2_core/io/temporary.h"

namespace caffe2rt {
namespace {

constexpr size_t kBufferBytes = 1 << 20;

}  // namespace

FileDescriptor::FileDescriptor(FileDescriptor&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)) {}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    Close();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void FileDescriptor::Close() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

AtomicFile::AtomicFile(const std::string& path, Existing existing, Order order)
    : existing_(existing), path_(path) {
  CAFFE_ENFORCE(!path.empty(), "cannot write a file: its path is empty");
  struct stat info;
  const bool is_stream = IsStandardStream(path);
  const bool exists = !is_stream && stat(path.c_str(), &info) == 0;
  if (is_stream) {
    OpenDirectly(nullptr, order);
  } else if (exists && !S_ISREG(info.st_mode)) {
    CAFFE_ENFORCE(!S_ISDIR(info.st_mode), "cannot write \"", path, "\": it is a directory");
    OpenDirectly(path.c_str(), order);
  } else {
    if (exists) path_ = internal::ResolveLinks(path);
    internal::Temporary temporary = internal::CreateTemporaryFile(path_);
    temporary_path_ = std::move(temporary.path);
    file_ = std::move(temporary.file);
    if (exists) (void)fchmod(file_.get(), info.st_mode & 07777);
  }
  buffer_.reserve(kBufferBytes);
}

// Opens a pipe, a device, or standard output (null) for writing.
void AtomicFile::OpenDirectly(const char* path, Order order) {
  FileDescriptor opened(path == nullptr ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                                        : open(path, O_WRONLY | O_CLOEXEC));
  if (!opened) Fail("open");
  if (order == Order::kAnywhere) {
    file_ = internal::AnonymousFile();
    target_ = std::move(opened);
  } else {
    file_ = std::move(opened);
    committed_ = true;
  }
}

AtomicFile::~AtomicFile() {
  if (committed_) {
    try {
      if (!failed_) Flush();
    } catch (...) {
      // A destructor cannot report errors; callers that need them call Commit.
    }
  } else if (!temporary_path_.empty()) {
    (void)unlink(temporary_path_.c_str());
    internal::ForgetTemporary(temporary_path_);
  }
}

void AtomicFile::Write(std::string_view bytes) {
  size_ += static_cast<int64_t>(bytes.size());
  if (buffer_.size() + bytes.size() > kBufferBytes) Flush();
  if (bytes.size() > kBufferBytes) {
    WriteNow(bytes);
  } else {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  }
}

void AtomicFile::Overwrite(int64_t offset, std::string_view bytes) {
  CAFFE_ENFORCE(offset >= 0 && offset + static_cast<int64_t>(bytes.size()) <= size_,
                "cannot overwrite bytes ", offset, " to ",
                offset + static_cast<int64_t>(bytes.size()), " of \"", path_, "\": it has ", size_);
  const int64_t flushed = size_ - static_cast<int64_t>(buffer_.size());
  if (offset >= flushed) {
    std::copy(bytes.begin(), bytes.end(), buffer_.begin() + (offset - flushed));
    return;
  }
  Flush();
  while (!bytes.empty()) {
    const ssize_t written = pwrite(file_.get(), bytes.data(), bytes.size(), offset);
    if (written < 0) {
      if (errno == EINTR) continue;
      Fail("write");
    }
    offset += written;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

void AtomicFile::Flush() {
  const std::string_view bytes(buffer_.data(), buffer_.size());
  WriteNow(bytes);
  buffer_.clear();
}

void AtomicFile::WriteNow(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file_.get(), bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      Fail("write");
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

void AtomicFile::Commit() {
  CAFFE_ENFORCE(!failed_, "an earlier write to \"", path_, "\" failed, the file is not complete");
  Flush();
  if (committed_) return;
  if (target_) {
    CopyToTarget();
    committed_ = true;
    return;
  }
  if (!internal::Sync(file_)) Fail("sync");
  Rename();
  internal::ForgetTemporary(temporary_path_);
  committed_ = true;
  (void)flock(file_.get(), LOCK_UN);  // it is no longer a temporary
  internal::SyncFolder(internal::FolderOf(path_));
}

// Writes the content of file_ to target_, which becomes the file.
void AtomicFile::CopyToTarget() {
  const FileDescriptor content = std::exchange(file_, std::move(target_));
  std::vector<char> bytes(kBufferBytes);
  for (int64_t at = 0; at < size_;) {
    const auto count =
        static_cast<size_t>(std::min<int64_t>(size_ - at, static_cast<int64_t>(bytes.size())));
    ReadAt(content, path_, at, bytes.data(), count);
    WriteNow({bytes.data(), count});
    at += static_cast<int64_t>(count);
  }
}

void AtomicFile::Rename() {
  const char* const from = temporary_path_.c_str();
  const char* const to = path_.c_str();
  if (existing_ == Existing::kThrow) {
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return;
    struct stat info;
    const bool unsupported = errno == EINVAL || errno == ENOSYS;
    if (unsupported && lstat(to, &info) == 0) errno = EEXIST;
    if (!unsupported || errno == EEXIST) Fail("rename the new file to");
  }
  if (rename(from, to) != 0) Fail("rename the new file to");
}

void AtomicFile::Fail(const char* action) {
  const int error = errno;
  failed_ = true;
  CAFFE_THROW("cannot ", action, " \"", path_, "\": ", std::strerror(error));
}

void WriteFileAtomically(const std::string& path, std::string_view bytes) try {
  AtomicFile file(path);
  file.Write(bytes);
  file.Commit();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

FileDescriptor OpenForReading(const std::string& path) {
  if (FileDescriptor kept = internal::OpenKeptPipe(path)) return kept;
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const int error = errno;
  CAFFE_ENFORCE(file, "cannot open \"", path, "\": ", std::strerror(error));
  struct stat info;
  CAFFE_ENFORCE_EQ(fstat(file.get(), &info), 0, "cannot stat \"", path, "\"");
  CAFFE_ENFORCE(!S_ISDIR(info.st_mode), "cannot read \"", path,
                "\": it is a directory, want a file");
  return file;
}

void ReadAt(const FileDescriptor& file, const std::string& path, int64_t offset, void* data,
            size_t size) {
  char* to = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = pread(file.get(), to, size, offset);
    if (got < 0 && errno == EINTR) continue;
    const int error = errno;
    CAFFE_ENFORCE_GE(got, 0, "cannot read \"", path, "\": ", std::strerror(error));
    CAFFE_ENFORCE_GT(got, 0, "file \"", path, "\" is truncated: it ends before byte ",
                     offset + static_cast<int64_t>(size));
    to += got;
    offset += got;
    size -= static_cast<size_t>(got);
  }
}

int64_t FileSize(const FileDescriptor& file, const std::string& path) {
  struct stat info;
  const int result = fstat(file.get(), &info);
  const int error = errno;
  CAFFE_ENFORCE_EQ(result, 0, "cannot stat \"", path, "\": ", std::strerror(error));
  return info.st_size;
}

std::string ReadWholeFile(const std::string& path, int64_t limit_bytes) try {
  FileDescriptor file = internal::OpenKeptPipe(path, limit_bytes);
  if (!file) file = OpenForReading(path);
  const int64_t expected = FileSize(file, path);  // 0 for a pipe
  CAFFE_ENFORCE(expected <= limit_bytes, "bytes of file \"", path, "\": got ",
                ByteSizeText(static_cast<uint64_t>(expected)), ", want at most ",
                ByteSizeText(static_cast<uint64_t>(limit_bytes)));
  std::string bytes(static_cast<size_t>(expected), '\0');
  size_t filled = 0;
  while (true) {
    if (filled == bytes.size()) {
      char more;
      const ssize_t got = read(file.get(), &more, 1);
      if (got == 0) break;
      if (got < 0 && errno == EINTR) continue;
      const int error = errno;
      CAFFE_ENFORCE_GT(got, 0, "cannot read \"", path, "\": ", std::strerror(error));
      CAFFE_ENFORCE(static_cast<int64_t>(filled) < limit_bytes, "bytes of file \"", path,
                    "\": got more than ", ByteSizeText(static_cast<uint64_t>(limit_bytes)));
      bytes.resize(std::min(std::max<size_t>(4096, filled * 2), static_cast<size_t>(limit_bytes)));
      bytes[filled++] = more;
      continue;
    }
    const ssize_t got = read(file.get(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    const int error = errno;
    CAFFE_ENFORCE_GE(got, 0, "cannot read \"", path, "\": ", std::strerror(error));
    if (got == 0) break;
    filled += static_cast<size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
