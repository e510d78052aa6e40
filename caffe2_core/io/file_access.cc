#include "caffe2_core/io/file_access.h"

#include <absl/strings/str_join.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/thread_state.h"

namespace caffe2rt {
namespace {

// Sets `resolved` to the absolute path without symbolic links, "." and "..". A trailing part that
// does not exist is appended unchanged, since it cannot contain links. Returns a description of the
// problem, or "".
std::string Resolve(const std::string& path, std::string* resolved) {
  if (path.empty()) return "its name is empty";
  if (path.find('\0') != std::string::npos) return "its name has a null character";
  std::string existing = path, missing;
  while (true) {
    // With a trailing slash, lstat would follow a link.
    while (existing.size() > 1 && existing.ends_with('/')) existing.pop_back();
    const std::unique_ptr<char, decltype(&std::free)> real(
        realpath(existing.empty() ? "." : existing.c_str(), nullptr), &std::free);
    if (real != nullptr) {
      *resolved = real.get();
      if (*resolved == "/") resolved->clear();
      *resolved += missing;
      if (resolved->empty()) *resolved = "/";
      return "";
    }
    if (errno != ENOENT || existing.empty()) return std::strerror(errno);
    struct stat info;
    if (lstat(existing.c_str(), &info) == 0) {
      return MakeString("\"", existing, "\" is a symbolic link to a file that does not exist");
    }
    const size_t slash = existing.rfind('/');
    const std::string name = existing.substr(slash == std::string::npos ? 0 : slash + 1);
    if (name == "..") return "it has \"..\" after a folder that does not exist";
    if (name != ".") missing = "/" + name + missing;
    existing.resize(slash == std::string::npos ? 0 : slash + 1);
  }
}

// Returns "" for a regular file or a folder, else a description of the problem.
std::string KindProblem(mode_t mode) {
  if (S_ISREG(mode) || S_ISDIR(mode)) return "";
  const char* kind = S_ISFIFO(mode)                   ? "a pipe"
                     : S_ISSOCK(mode)                 ? "a socket"
                     : S_ISCHR(mode) || S_ISBLK(mode) ? "a device"
                                                      : "of an unknown kind";
  return MakeString("it is ", kind, ", want a regular file or a folder");
}

}  // namespace

FileAccess FileAccess::Free() { return {Kind::kFree, {}, ""}; }
FileAccess FileAccess::Off(std::string remedy) { return {Kind::kOff, {}, std::move(remedy)}; }

FileAccess FileAccess::Below(const std::vector<std::string>& roots, std::string remedy) {
  std::vector<std::string> resolved_roots;
  for (const std::string& root : roots) {
    std::string resolved;
    if (!Resolve(root, &resolved).empty()) continue;
    const auto known = std::find(resolved_roots.begin(), resolved_roots.end(), resolved);
    if (known == resolved_roots.end()) resolved_roots.push_back(std::move(resolved));
  }
  return {Kind::kBelow, std::move(resolved_roots), std::move(remedy)};
}

std::string FileAccess::CheckRead(const std::string& path) const {
  return Check(path, Purpose::kRead);
}
std::string FileAccess::CheckWrite(const std::string& path) const {
  return Check(path, Purpose::kWrite);
}

std::string FileAccess::Check(const std::string& path, Purpose purpose) const {
  if (is_free()) return path;
  std::string resolved;
  const std::string problem =
      is_off() ? "nets may not access any file" : FindProblem(path, purpose, &resolved);
  // No policy allows a path that cannot be resolved, so the remedy would not help.
  const bool may_help = is_off() || !resolved.empty();
  CAFFE_ENFORCE(problem.empty(), "a net may not ", purpose == Purpose::kRead ? "read" : "write",
                " \"", path, "\": ", problem, may_help ? "; " + remedy_ : "");
  return resolved;
}

bool FileAccess::IsBelowRoots(const std::string& resolved, Purpose purpose) const {
  for (const std::string& root : roots_) {
    if (resolved == root) {
      if (purpose == Purpose::kRead) return true;
    } else if (root == "/" || (resolved.starts_with(root) && resolved[root.size()] == '/')) {
      return true;
    }
  }
  return false;
}

std::string FileAccess::FindProblem(const std::string& path, Purpose purpose,
                                    std::string* resolved) const {
  const std::string problem = Resolve(path, resolved);
  if (!problem.empty()) return problem;
  if (!IsBelowRoots(*resolved, purpose)) {
    return roots_.empty()
               ? std::string("no folder is given for nets to access")
               : MakeString("it is not below \"", absl::StrJoin(roots_, "\" or \""), "\"");
  }
  struct stat info;
  if (lstat(resolved->c_str(), &info) != 0) return errno == ENOENT ? "" : std::strerror(errno);
  if (S_ISDIR(info.st_mode)) return FindProblemInFolder(*resolved, purpose);
  return KindProblem(info.st_mode);
}

// A database is a folder of files that LevelDB and LMDB open by name, following links.
std::string FileAccess::FindProblemInFolder(const std::string& folder, Purpose purpose) const {
  namespace fs = std::filesystem;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string path = entry->path().string();
    std::string resolved;
    std::string problem = Resolve(path, &resolved);
    struct stat info;
    if (problem.empty() && !IsBelowRoots(resolved, Purpose::kRead)) {
      problem = "it is a symbolic link out of the allowed folders";
    }
    if (problem.empty() && lstat(resolved.c_str(), &info) == 0) {
      problem = KindProblem(info.st_mode);
      if (purpose == Purpose::kWrite && S_ISREG(info.st_mode) && info.st_nlink > 1) {
        problem = "it has a second name (hard link)";
      }
    }
    if (!problem.empty()) return MakeString("entry \"", path, "\": ", problem);
  }
  return error ? error.message() : "";
}

FileAccessScope::FileAccessScope(const FileAccess& access) : outer_(t_thread_state.file_access) {
  t_thread_state.file_access = &access;
}
FileAccessScope::~FileAccessScope() { t_thread_state.file_access = outer_; }

const FileAccess& FileAccessScope::Current() {
  static const FileAccess free_access = FileAccess::Free();
  return t_thread_state.file_access != nullptr ? *t_thread_state.file_access : free_access;
}

}  // namespace caffe2rt
