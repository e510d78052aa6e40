#pragma once
// A folder with a database that appears complete or not at all.
//
//   AtomicFolder folder("weights.lmdb", 0755);
//   ... write the files of a LevelDB or an LMDB in folder.path() ...
//   folder.Commit();             // only now is there a weights.lmdb
//
// The files are written in a temporary folder beside the target (temporary.h); Commit syncs them
// and renames the folder, so that a reader or a crash sees nothing or all. Without Commit the
// temporary folder is removed. Not thread safe.

#include <sys/types.h>

#include <string>

#include "caffe2_core/io/temporary.h"

namespace caffe2rt {

class AtomicFolder {
 public:
  // Whether a folder can be put at `path`: there is nothing, or an empty folder.
  static bool IsFree(const std::string& path);

  // `mode`: of the new folder, before the umask; an empty folder that is there keeps its own.
  // REQUIRES IsFree(path). THROWS when the folder of `path` cannot be written to.
  AtomicFolder(const std::string& path, mode_t mode);
  ~AtomicFolder();  // removes the temporary folder when Commit was not called
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;

  // Where the files are now: the temporary folder, after Commit the target.
  const std::string& path() const { return committed_ ? path_ : temporary_.path; }
  bool committed() const { return committed_; }
  // Syncs and renames. THROWS, with the target untouched, when the disk fails or when another one
  // was put in place in the meantime.
  void Commit();

 private:
  void SyncFiles() const;

  std::string path_;  // with links resolved
  internal::Temporary temporary_;
  bool committed_ = false;
};

}  // namespace caffe2rt
