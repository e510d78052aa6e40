#include "caffe2_core/io/new_database.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_join.h>

#include <filesystem>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/atomic_folder.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/temporary.h"

namespace caffe2rt {
namespace db {
namespace {

namespace fs = std::filesystem;

constexpr char kTargetRemedy[] = "; remove it, or choose another path";

// THROWS unless files can be created in the folder of `path`, by creating one that is removed
// again.
void CheckFolderOf(const std::string& path) {
  const std::string folder = caffe2rt::internal::FolderOf(path);
  std::error_code ignored;
  CAFFE_ENFORCE(fs::is_directory(folder, ignored), "cannot create the database \"", path,
                "\": its folder \"", folder, "\" does not exist");
  const AtomicFile unused((fs::path(folder) / "database").string());
}

void CheckType(const std::string& type) {
  CAFFE_ENFORCE(Caffe2DBRegistry().Has(type), "database type \"", type,
                "\" is not known; known types: ", absl::StrJoin(Caffe2DBRegistry().Keys(), ", "));
}

bool IsBuiltin(const std::string& type) {
  const std::string lower = absl::AsciiStrToLower(type);
  return lower == "minidb" || lower == "leveldb" || lower == "lmdb" || lower == "protodb";
}

// Whether it is neither a file nor a folder: a pipe or a device, which is written directly.
bool IsSpecialFile(const std::string& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

}  // namespace

void CheckNewDatabase(const std::string& type, const std::string& path) {
  CheckType(type);
  if (!IsBuiltin(type)) return;
  const std::string lower = absl::AsciiStrToLower(type);
  std::error_code ignored;
  const bool exists = fs::exists(fs::symlink_status(path, ignored));
  if (lower == "lmdb") {
    CAFFE_ENFORCE(!exists, "cannot create lmdb \"", path, "\": it exists", kTargetRemedy);
  } else if (lower == "leveldb") {
    CAFFE_ENFORCE(AtomicFolder::IsFree(path), "cannot create leveldb \"", path,
                  "\": it exists and is not an empty folder", kTargetRemedy);
  } else {
    if (IsSpecialFile(path)) return;
    CAFFE_ENFORCE(!fs::is_directory(path, ignored), "cannot create ", lower, " \"", path,
                  "\": it is a folder", kTargetRemedy);
  }
  CheckFolderOf(caffe2rt::internal::ResolveLinks(path));
}

void CheckNewDatabaseFolder(const std::string& type, const std::string& path) {
  CheckType(type);
  if (IsBuiltin(type)) CheckFolderOf(path);
}

}  // namespace db
}  // namespace caffe2rt
