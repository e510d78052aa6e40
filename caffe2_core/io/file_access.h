#pragma once
// FileAccess: which files the operators of nets may open (Load, Save, Print with to_file, ...).
//
//   ws.SetFileAccess(FileAccess::Below({"models/"}));
//   const std::string path = ws.file_access().CheckRead(name);   // THROWS when it is not allowed
//
// A net is hostile input and names files. The policy applies to what nets name, never to the paths
// that a program's user gives on the command line. Values are immutable and thread safe.
//
// Below: what a check promises, it promises for the files as they are at the time of the check. No
// operator makes a symbolic link, a hard link or a device, so nets cannot change that between the
// check and the use. Another process that writes to the same folders can.

#include <string>
#include <utility>
#include <vector>

namespace caffe2rt {

class FileAccess {
 public:
  // Any file, as in Caffe2.
  static FileAccess Free();
  // No file. `remedy` ends the error messages: what allows the access.
  static FileAccess Off(std::string remedy = kDefaultRemedy);
  // Regular files and folders below one of the folders, reached through no symbolic link that
  // leaves them. A folder that does not exist allows nothing; "" is none.
  static FileAccess Below(const std::vector<std::string>& roots,
                          std::string remedy = kDefaultRemedy);

  bool is_free() const { return kind_ == Kind::kFree; }
  bool is_off() const { return kind_ == Kind::kOff; }
  const std::vector<std::string>& roots() const { return roots_; }

  // The path to open: with free access `path` as it is, below roots the absolute path without
  // symbolic links. A file that does not exist is no error. THROWS EnforceNotMet when the policy
  // forbids the access, naming the path, the policy and what allows it: also for a pipe, a socket
  // or a device, and for a folder (a database) with such an entry or with a link out of the roots.
  std::string CheckRead(const std::string& path) const;
  // The same for a file or folder that is made or changed, which must not be a root itself: a
  // folder is put in place from beside it. Files in an existing folder must have no second name
  // (hard link) either.
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

// While it lives, the policy for what DeserializeBlob opens on this thread: the record of a
// DBReader names a database. Scopes nest; outside of them access is free.
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
