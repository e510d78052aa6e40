#pragma once
// A folder for a database that appears completely or not at all.
//
//   AtomicFolder folder("weights.lmdb", 0755);
//   ... write the files of a LevelDB or an LMDB in folder.path() ...
//   folder.Commit();  // weights.lmdb appears only now
//
// The files are written to a temporary folder next to the target (temporary.h). Commit syncs them
// and renames the folder, so that a reader, also after a crash, sees all of the files or none. If
// Commit is not called, the destructor removes the temporary folder. Not thread safe.

#include <sys/types.h>

#include <string>

#include "caffe2_core/io/temporary.h"

namespace caffe2rt {

class AtomicFolder {
 public:
  // Returns whether a folder can be created at `path`: nothing exists there, or an empty folder.
  static bool IsFree(const std::string& path);

  // `mode` is the mode of the new folder, before the umask; an existing empty folder keeps its own.
  // REQUIRES: IsFree(path). THROWS if the parent folder of `path` is not writable.
  AtomicFolder(const std::string& path, mode_t mode);
  ~AtomicFolder();  // removes the temporary folder if Commit was not called
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;

  // The folder that holds the files now: the temporary folder, or the target after Commit.
  const std::string& path() const { return committed_ ? path_ : temporary_.path; }
  bool committed() const { return committed_; }
  // Syncs and renames. THROWS and leaves the target unchanged if the disk fails, or if something
  // else was created at the target in the meantime.
  void Commit();

 private:
  void SyncFiles() const;

  std::string path_;  // symbolic links resolved
  internal::Temporary temporary_;
  bool committed_ = false;
};

}  // namespace caffe2rt
