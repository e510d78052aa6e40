#pragma once
// LineFile: a file in the root folder of a workspace to which operators append lines, if the
// workspace's file policy allows it (caffe2_core/io/file_access.h).
//
// The file is opened by the first line. It is truncated unless another operator has it open; each
// operator holds a shared flock on it. Lines are appended atomically, so that several operators may
// write to one file. The file must be a regular file, not a symbolic link, and have no other hard
// link.

#include <string>

#include "caffe2_core/io/atomic_file.h"

namespace caffe2rt {

class Workspace;

// Returns a file name for a blob, which cannot leave its folder: '%', '/' and control characters are
// written as '%' and two hexadecimal digits, e.g. "gpu_0%2Ffc" for "gpu_0/fc".
std::string FileNameOfBlob(const std::string& blob);

// Not thread safe.
class [[gnu::visibility("default")]] LineFile {
 public:
  // `name` is that of the file in the root folder. `ws` must outlive the object.
  LineFile(const Workspace& ws, const std::string& name);
  // Opens the file unless it is open. THROWS if the file policy forbids the file, or it cannot be
  // opened.
  void EnsureOpen();
  // Appends the line, which has no newline at its end. THROWS as EnsureOpen, or if the file cannot be
  // written.
  void Append(const std::string& line);

 private:
  const Workspace& ws_;
  const std::string path_;
  FileDescriptor file_;
};

}  // namespace caffe2rt
