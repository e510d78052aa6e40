#pragma once
// A LevelDB environment under which opening a database changes no file.
//
// LevelDB has no read-only mode: opening a database writes a new manifest, renames logs, takes a
// lock and may start a compaction. In this environment everything that LevelDB writes goes to
// memory, and SealForReading stops background work. Used only by leveldb.cc.

#include <leveldb/env.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/mutex.h"

namespace leveldb {
class DB;
}

namespace caffe2rt {
namespace db {
namespace internal {

// The database may be hostile: its file CURRENT names another file to open, and its files may be
// links or pipes. Only regular files in the database's folder are opened.
//
// Wraps `base`, which must outlive this. This must outlive the database opened with it. Thread
// safe.
class LevelDBReadOnlyEnv final : public leveldb::EnvWrapper {
 public:
  explicit LevelDBReadOnlyEnv(leveldb::Env* base) : EnvWrapper(base) {}

  // REQUIRES: called right after DB::Open. From then on writing fails, which makes LevelDB stop all
  // compactions.
  void SealForReading(leveldb::DB* db);

  leveldb::Status NewSequentialFile(const std::string& path,
                                    leveldb::SequentialFile** result) override;
  leveldb::Status NewRandomAccessFile(const std::string& path,
                                      leveldb::RandomAccessFile** result) override;
  leveldb::Status NewWritableFile(const std::string& path, leveldb::WritableFile** result) override;
  leveldb::Status NewAppendableFile(const std::string& path,
                                    leveldb::WritableFile** result) override;
  bool FileExists(const std::string& path) override;
  leveldb::Status GetChildren(const std::string& folder, std::vector<std::string>* names) override;
  leveldb::Status RemoveFile(const std::string& path) override;
  leveldb::Status CreateDir(const std::string&) override { return leveldb::Status::OK(); }
  leveldb::Status RemoveDir(const std::string&) override { return leveldb::Status::OK(); }
  leveldb::Status GetFileSize(const std::string& path, uint64_t* size) override;
  leveldb::Status RenameFile(const std::string& from, const std::string& to) override;
  leveldb::Status LockFile(const std::string& path, leveldb::FileLock** lock) override;
  leveldb::Status UnlockFile(leveldb::FileLock* lock) override;
  leveldb::Status NewLogger(const std::string& path, leveldb::Logger** result) override;
  void Schedule(void (*function)(void*), void* argument) override;

  struct MemoryFile {
    Mutex mutex;
    std::string bytes ABSL_GUARDED_BY(mutex);
  };

 private:
  leveldb::Status CheckFile(const std::string& path);
  std::shared_ptr<MemoryFile> Find(const std::string& path);
  bool IsRemoved(const std::string& path);

  Mutex mutex_;
  std::map<std::string, std::shared_ptr<MemoryFile>> written_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> removed_ ABSL_GUARDED_BY(mutex_);
  // Of CURRENT, the first file opened; ends in a slash.
  std::string folder_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<bool> sealed_ = std::make_shared<bool>(false);
  std::vector<std::pair<void (*)(void*), void*>> scheduled_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace internal
}  // namespace db
}  // namespace caffe2rt
