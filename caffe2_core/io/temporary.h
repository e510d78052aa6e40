#pragma once
// Temporary files and folders, in which a file or a database is built next to its target until it
// is complete. Used only by atomic_file.cc, atomic_folder.cc and tensor_file_writer.cc.
//
// The temporary of "models/a.minidb" is named "models/.a.minidb.caffe2rt-tmp-PROCESS-RANDOM":
// PROCESS is the decimal process id, RANDOM is 16 hexadecimal digits. Names are never reused. The
// owner of a temporary holds a lock (flock) on it. A killed process leaves its temporary behind,
// but its lock is released; the next temporary created in the same folder removes the old one
// first. On a file system without locks nothing is removed.

#include <sys/types.h>

#include <string>
#include <vector>

#include "caffe2_core/io/atomic_file.h"

namespace caffe2rt {
namespace internal {

struct Temporary {
  std::string path;
  FileDescriptor file;  // locked; a file is open for writing, a folder is open for reading
};

// Create an empty temporary for the target `path`, after CollectTemporaries on its folder. THROW if
// the folder is not writable.
Temporary CreateTemporaryFile(const std::string& path);
Temporary CreateTemporaryFolder(const std::string& path, mode_t mode);

// Ends the tracking of a temporary that is removed or has been renamed into place, so that a signal
// no longer removes it (signal_cleanup.h).
void ForgetTemporary(const std::string& path);

// Removes a temporary folder and the database files in it. Leaves the folder unchanged if it
// contains anything else.
void RemoveTemporaryFolder(const Temporary& folder);

// Removes the temporaries in `folder` that are not locked by a process. A temporary is removed only
// if it has a temporary's name, belongs to the current user, and is a regular file or a folder that
// contains only database files. Reads the whole folder. Never throws because of a temporary that
// cannot be removed.
void CollectTemporaries(const std::string& folder);

// The names in an open folder, without "." and "..". Empty if the folder cannot be read.
std::vector<std::string> NamesIn(const FileDescriptor& folder);

// The parent folder of `path`: "." for a plain name.
std::string FolderOf(const std::string& path);

// `path` with symbolic links resolved, or `path` itself if it does not exist.
std::string ResolveLinks(const std::string& path);

// Calls fsync. Returns true if the file system does not support syncing, and false, with errno set,
// if the disk fails.
bool Sync(const FileDescriptor& file);

// Makes the directory entries of `folder` durable. THROWS if the disk fails.
void SyncFolder(const std::string& folder);

}  // namespace internal
}  // namespace caffe2rt
