#include "caffe2_core/io/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"

namespace caffe2rt {
namespace {

constexpr size_t kBufferBytes = 1 << 20;

std::string ResolveLinks(const std::string& path) {
  std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr), &std::free);
  return real ? std::string(real.get()) : path;
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Makes a rename durable; a file system that cannot is no error.
void SyncFolder(const std::string& folder) {
  FileDescriptor directory(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory) (void)fsync(directory.get());
}

// Opens a new file beside `path` and stores its name.
FileDescriptor CreateBeside(const std::string& path, std::string* temporary_path) {
  static std::atomic<uint64_t> counter{0};
  for (int attempt = 0; attempt < 100; ++attempt) {
    *temporary_path = MakeString(path, ".tmp.", getpid(), ".", counter.fetch_add(1));
    const int fd = open(temporary_path->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) return FileDescriptor(fd);
    if (errno != EEXIST) break;
  }
  const int error = errno;
  temporary_path->clear();
  CAFFE_THROW("cannot create a file in \"", FolderOf(path), "\" to write \"", path,
              "\": ", std::strerror(error));
}

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

AtomicFile::AtomicFile(const std::string& path) : path_(path) {
  CAFFE_ENFORCE(!path.empty(), "cannot write a file: its path is empty");
  struct stat info;
  const bool exists = stat(path.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) {
    CAFFE_ENFORCE(!S_ISDIR(info.st_mode), "cannot write \"", path, "\": it is a directory");
    file_ = FileDescriptor(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file_) Fail("open");
    committed_ = true;
  } else {
    if (exists) path_ = ResolveLinks(path);
    file_ = CreateBeside(path_, &temporary_path_);
    if (exists) (void)fchmod(file_.get(), info.st_mode & 07777);
  }
  buffer_.reserve(kBufferBytes);
}

AtomicFile::~AtomicFile() {
  if (committed_) {
    try {
      Flush();
    } catch (...) {
      // A destructor cannot report; who needs to know calls Commit.
    }
  } else if (!temporary_path_.empty()) {
    (void)unlink(temporary_path_.c_str());
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
  Flush();
  if (committed_) return;
  if (fsync(file_.get()) != 0 && errno != EINVAL && errno != ENOSYS) Fail("sync");
  if (rename(temporary_path_.c_str(), path_.c_str()) != 0) Fail("rename the new file to");
  committed_ = true;
  SyncFolder(FolderOf(path_));
}

void AtomicFile::Fail(const char* action) const {
  const int error = errno;
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
    CAFFE_ENFORCE_GT(got, 0, "file \"", path, "\" is cut: it ends before byte ",
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
  const FileDescriptor file = OpenForReading(path);
  const int64_t expected = FileSize(file, path);  // 0 for a pipe
  CAFFE_ENFORCE_LE(expected, limit_bytes, "bytes of file \"", path, "\"");
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
      CAFFE_ENFORCE_LT(static_cast<int64_t>(filled), limit_bytes, "bytes of file \"", path, "\"");
      bytes.resize(std::max<size_t>(4096, filled * 2));
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
