#pragma once
// Checks that a database can be created, before a program spends time on its content.

#include <string>

#pragma GCC visibility push(default)
namespace caffe2rt {
namespace db {

// THROWS if CreateDB(type, path, NEW) would fail: the type is not known, its folder does not exist
// or is not writable, or, for leveldb and lmdb, the target exists. Creates a file beside the target
// and removes it again: check before whether the path may be written. A type that a user registered
// is not asked.
void CheckNewDatabase(const std::string& type, const std::string& path);

// The same for a path whose name is not known yet, such as "models/a_%06d.minidb": checks the type
// and the folder.
void CheckNewDatabaseFolder(const std::string& type, const std::string& path);

}  // namespace db
}  // namespace caffe2rt
#pragma GCC visibility pop
