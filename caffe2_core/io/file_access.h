#pragma once
// FileAccess decides which files the operators of a net (Load, Save, Print with to_file, ...) may
// open.
//
//   ws.SetFileAccess(FileAccess::Below({"models/"}));
//   const std::string path = ws.file_access().CheckRead(name);  // THROWS if it is not allowed
//
// A net is untrusted input that can name files. The policy applies to the paths that nets name,
// never to the paths that a user gives on the command line. Values are immutable and thread safe.
//
// Limits of Below: a check holds for the files as they are at the time of the check. No operator
// creates symbolic links, hard links or devices, so a net cannot invalidate a check before the file
// is used. Another process that writes to the same folders can.

#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace caffe2rt {

class FileAccess {
 public:
  // Allows any file, as Caffe2 does.
  static FileAccess Free();
  // Allows no file. Error messages end with `remedy`, which states how to allow the access.
  static FileAccess Off(std::string remedy = kDefaultRemedy);
  // Allows regular files and folders below one of `roots`, provided that no symbolic link leads out
  // of the roots. A root that does not exist, or is "", allows nothing.
  static FileAccess Below(const std::vector<std::string>& roots,
                          std::string remedy = kDefaultRemedy);

  bool is_free() const { return kind_ == Kind::kFree; }
  bool is_off() const { return kind_ == Kind::kOff; }
  const std::vector<std::string>& roots() const { return roots_; }

  // Returns the path to open: under Free() `path` unchanged, under Below() the absolute path with
  // symbolic links resolved. A file that does not exist is not an error. THROWS EnforceNotMet if
  // the policy forbids the access; the error names the path, the policy and the remedy. Below()
  // also forbids pipes, sockets and devices, and folders (databases) that contain one of these or a
  // symbolic link out of the roots.
  std::string CheckRead(const std::string& path) const;
  // Like CheckRead, for a file or folder to be created or changed. It must not itself be a root,
  // because a new folder is renamed into place from next to it. Files in an existing folder must
  // not have a second hard link either.
  std::string CheckWrite(const std::string& path) const;

 private:
  enum class Kind { kFree, kOff, kBelow };
  enum class Purpose { kRead, kWrite };
  static constexpr const char* kDefaultRemedy =
      "Workspace::SetFileAccess or PredictorOptions::file_access allows it";

  FileAccess(Kind kind, std::vector<std::string> roots, std::string remedy)
      : kind_(kind), roots_(std::move(roots)), remedy_(std::move(remedy)) {}
  std::string Check(const std::string& path, Purpose purpose) const;
  bool IsBelowRoots(const std::string& resolved, Purpose purpose) const;
  std::string FindProblem(const std::string& path, Purpose purpose, std::string* resolved) const;
  std::string FindProblemInFolder(const std::string& folder, Purpose purpose) const;

  Kind kind_;
  std::vector<std::string> roots_;  // absolute, without symbolic links
  std::string remedy_;
};

// While a scope is alive, its policy applies to the files that DeserializeBlob opens on this thread
// (the record of a DBReader names a database). Scopes nest; outside of any scope access is free.
class FileAccessScope {
 public:
  // `access` must outlive the scope.
  explicit FileAccessScope(const FileAccess& access);
  ~FileAccessScope();
  FileAccessScope(const FileAccessScope&) = delete;
  FileAccessScope& operator=(const FileAccessScope&) = delete;

  static const FileAccess& Current();

 private:
  const FileAccess* const outer_;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
