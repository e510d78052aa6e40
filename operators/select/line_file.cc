#include "operators/select/line_file.h"

#include <absl/strings/str_format.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {

std::string FileNameOfBlob(const std::string& blob) {
  std::string name;
  for (const char c : blob) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '/' || c == '%' || byte < 0x20 || byte == 0x7f) {
      name += absl::StrFormat("%%%02X", byte);
    } else {
      name += c;
    }
  }
  return name;
}

LineFile::LineFile(const Workspace& ws, const std::string& name)
    : ws_(ws), path_(ws.RootFolder() + "/" + name) {}

// Not called from the constructor, so that creating a net does not create files.
void LineFile::EnsureOpen() {
  if (file_) return;
  (void)ws_.file_access().CheckWrite(path_);
  // Open the original path, not the resolved one that CheckWrite returns: with O_NOFOLLOW a
  // symbolic link is an error wherever it leads.
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  FileDescriptor file(open(path_.c_str(), kFlags, 0666));
  const int error = errno;
  CAFFE_ENFORCE(file, "cannot open \"", path_, "\" to print to: ",
                error == ELOOP ? "it is a symbolic link" : std::strerror(error));
  struct stat info;
  const bool is_own = fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink <= 1;
  CAFFE_ENFORCE(is_own, "cannot print to \"", path_,
                "\": it is not a regular file, or it has more than one hard link");
  // If no other operator has the file open, its contents are from an earlier net and are truncated.
  // On a file system without locks, assume that no other operator has it open.
  const bool is_alone = flock(file.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
  if (is_alone) CAFFE_ENFORCE_EQ(ftruncate(file.get(), 0), 0, "cannot truncate \"", path_, "\"");
  (void)flock(file.get(), LOCK_SH);  // blocks only while another operator truncates the file
  file_ = std::move(file);
}

// Writes the line with one call, which the system appends atomically. If the disk is full and only
// a part was written, the part is removed unless another writer has appended after it.
void LineFile::Append(const std::string& text) {
  EnsureOpen();
  const std::string line = text + '\n';
  ssize_t written = 0;
  do {
    written = write(file_.get(), line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  const int error = errno;
  CAFFE_ENFORCE_GE(written, 0, "cannot write \"", path_, "\": ", std::strerror(error));
  if (static_cast<size_t>(written) != line.size()) {
    struct stat info;
    const off_t end = lseek(file_.get(), 0, SEEK_CUR);
    if (end >= written && fstat(file_.get(), &info) == 0 && info.st_size == end) {
      (void)!ftruncate(file_.get(), end - written);
    }
  }
  CAFFE_ENFORCE_EQ(static_cast<size_t>(written), line.size(), "bytes written to \"", path_,
                   "\": no space left");
}

}  // namespace caffe2rt
