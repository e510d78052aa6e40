#pragma once
// Temporary files and folders: where a file or a database is built beside its target until it is
// complete. For atomic_file.cc and atomic_folder.cc alone.
//
// The temporary of "models/a.minidb" is "models/.a.minidb.caffe2rt-tmp-PROCESS-RANDOM" with the
// decimal process id and 16 hexadecimal digits; names are never used twice. Its owner holds a lock
// (flock) on it. A process that is killed leaves its temporary behind, but not the lock: the next
// temporary that is made in the same folder removes it first. On a file system without locks
// nothing is removed.

#include <sys/types.h>

#include <string>
#include <vector>

#include "caffe2_core/io/atomic_file.h"

namespace caffe2rt {
namespace internal {

struct Temporary {
  std::string path;
  FileDescriptor file;  // locked; a file is open for writing, a folder for reading
};

// Make an empty temporary for the target `path`, after CollectTemporaries of its folder. THROW when
// the folder cannot be written to.
Temporary CreateTemporaryFile(const std::string& path);
Temporary CreateTemporaryFolder(const std::string& path, mode_t mode);

// Removes a temporary folder with the files of a database in it. Leaves it where it is when there
// is anything else in it.
void RemoveTemporaryFolder(const Temporary& folder);

// Removes the temporaries in `folder` that nobody holds the lock of: only what has such a name, is
// a regular file or a folder with nothing but the files of a database, and is owned by this user.
// Reads the whole folder. Never throws because of a temporary that cannot be removed.
void CollectTemporaries(const std::string& folder);

// The names in an open folder, without "." and "..". Empty when it cannot be read.
std::vector<std::string> NamesIn(const FileDescriptor& folder);

// The folder of `path`: "." for a plain name.
std::string FolderOf(const std::string& path);

// `path` without symbolic links, or itself when it does not exist.
std::string ResolveLinks(const std::string& path);

// fsync. A file system that cannot sync is no error. False with errno when the disk fails.
bool Sync(const FileDescriptor& file);

// Makes the names in `folder` durable. THROWS when the disk fails.
void SyncFolder(const std::string& folder);

}  // namespace internal
}  // namespace caffe2rt
