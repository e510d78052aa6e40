#pragma once
// FileAccess: which files the operators of nets may open (Load, Save, Print with to_file, ...).
//
//   ws.SetFileAccess(FileAccess::Below({"models/"}));
//   const std::string path = ws.file_access().CheckRead(name);   // THROWS when it is not allowed
//
// A net is hostile input and names files. The policy applies to what nets name, never to the paths
// that a program's user gives on the command line. Values are immutable and thread safe.

#include <string>
#include <vector>

namespace caffe2rt {

class FileAccess {
 public:
  // Any file, as in Caffe2.
  static FileAccess Free();
  // No file.
  static FileAccess Off();
  // Regular files and folders below one of the folders, reached through no symbolic link that
  // leaves them. A folder that does not exist allows nothing.
  static FileAccess Below(std::vector<std::string> roots);

  bool is_free() const { return kind_ == Kind::kFree; }
  bool is_off() const { return kind_ == Kind::kOff; }
  const std::vector<std::string>& roots() const { return roots_; }

  // The path to open. THROWS EnforceNotMet when the policy forbids it, naming the path, the policy
  // and what allows it.
  std::string CheckRead(const std::string& path) const;
  std::string CheckWrite(const std::string& path) const;

 private:
  enum class Kind { kFree, kOff, kBelow };
  FileAccess(Kind kind, std::vector<std::string> roots) : kind_(kind), roots_(std::move(roots)) {}

  Kind kind_;
  std::vector<std::string> roots_;  // absolute, without symbolic links
};

}  // namespace caffe2rt
