#include "caffe2_core/io/leveldb_read_only_env.h"

#include <leveldb/db.h>
#include <leveldb/write_batch.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace caffe2rt {
namespace db {
namespace internal {
namespace {

using leveldb::Slice;
using leveldb::Status;
using MemoryFile = LevelDBReadOnlyEnv::MemoryFile;

// Copies up to n bytes at `offset` to scratch.
Slice CopyOut(MemoryFile& file, uint64_t offset, size_t n, char* scratch) {
  const MutexLock lock(file.mutex);
  if (offset >= file.bytes.size()) return Slice(scratch, 0);
  const size_t count = std::min<size_t>(n, file.bytes.size() - offset);
  std::memcpy(scratch, file.bytes.data() + offset, count);
  return Slice(scratch, count);
}

class MemorySequentialFile final : public leveldb::SequentialFile {
 public:
  explicit MemorySequentialFile(std::shared_ptr<MemoryFile> file) : file_(std::move(file)) {}
  Status Read(size_t n, Slice* result, char* scratch) override {
    *result = CopyOut(*file_, at_, n, scratch);
    at_ += result->size();
    return Status::OK();
  }
  Status Skip(uint64_t n) override {
    at_ += n;
    return Status::OK();
  }

 private:
  const std::shared_ptr<MemoryFile> file_;  // shared with the environment's table of files
  uint64_t at_ = 0;
};

class MemoryRandomAccessFile final : public leveldb::RandomAccessFile {
 public:
  explicit MemoryRandomAccessFile(std::shared_ptr<MemoryFile> file) : file_(std::move(file)) {}
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    *result = CopyOut(*file_, offset, n, scratch);
    return Status::OK();
  }

 private:
  const std::shared_ptr<MemoryFile> file_;  // shared with the environment's table of files
};

class MemoryWritableFile final : public leveldb::WritableFile {
 public:
  MemoryWritableFile(std::shared_ptr<MemoryFile> file, std::shared_ptr<bool> sealed)
      : file_(std::move(file)), sealed_(std::move(sealed)) {}
  Status Append(const Slice& data) override {
    const MutexLock lock(file_->mutex);
    file_->bytes.append(data.data(), data.size());
    return Status::OK();
  }
  Status Close() override { return Status::OK(); }
  Status Flush() override { return Status::OK(); }
  Status Sync() override {
    return *sealed_ ? Status::IOError("the database is open for reading") : Status::OK();
  }

 private:
  const std::shared_ptr<MemoryFile> file_;  // shared with the environment's table of files
  const std::shared_ptr<bool> sealed_;      // shared: the file may outlive the environment's table
};

class NoLock final : public leveldb::FileLock {};

class NoLogger final : public leveldb::Logger {
 public:
  void Logv(const char*, std::va_list) override {}
};

}  // namespace

void LevelDBReadOnlyEnv::SealForReading(leveldb::DB* db) {
  *sealed_ = true;
  // LevelDB records a failed sync of a write as an error, after which it starts no background work.
  leveldb::WriteOptions options;
  options.sync = true;
  leveldb::WriteBatch nothing;
  (void)db->Write(options, &nothing);
  std::vector<std::pair<void (*)(void*), void*>> scheduled;
  {
    const MutexLock lock(mutex_);
    scheduled.swap(scheduled_);
  }
  // Run the work scheduled during opening: it finds the error, and signals LevelDB that it has
  // finished.
  for (const auto& [function, argument] : scheduled) function(argument);
}

void LevelDBReadOnlyEnv::Schedule(void (*function)(void*), void* argument) {
  const MutexLock lock(mutex_);
  scheduled_.emplace_back(function, argument);
}

std::shared_ptr<MemoryFile> LevelDBReadOnlyEnv::Find(const std::string& path) {
  const MutexLock lock(mutex_);
  const auto it = written_.find(path);
  return it == written_.end() ? nullptr : it->second;
}

Status LevelDBReadOnlyEnv::CheckFile(const std::string& path) {
  constexpr std::string_view kCurrent = "CURRENT";
  {
    const MutexLock lock(mutex_);
    if (folder_.empty() && path.ends_with(kCurrent)) {
      folder_ = path.substr(0, path.size() - kCurrent.size());
    }
    const bool is_inside = !folder_.empty() && path.starts_with(folder_) &&
                           path.find('/', folder_.size()) == std::string::npos;
    if (!is_inside) return Status::Corruption(path, "is not a file in the database's folder");
  }
  struct stat info;
  const bool is_special = stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  return is_special ? Status::IOError(path, "is not a regular file") : Status::OK();
}

bool LevelDBReadOnlyEnv::IsRemoved(const std::string& path) {
  const MutexLock lock(mutex_);
  return removed_.contains(path);
}

Status LevelDBReadOnlyEnv::NewSequentialFile(const std::string& path,
                                             leveldb::SequentialFile** result) {
  if (auto file = Find(path)) {
    *result = new MemorySequentialFile(std::move(file));
    return Status::OK();
  }
  if (IsRemoved(path)) return Status::NotFound(path);
  const Status status = CheckFile(path);
  return status.ok() ? target()->NewSequentialFile(path, result) : status;
}

Status LevelDBReadOnlyEnv::NewRandomAccessFile(const std::string& path,
                                               leveldb::RandomAccessFile** result) {
  if (auto file = Find(path)) {
    *result = new MemoryRandomAccessFile(std::move(file));
    return Status::OK();
  }
  if (IsRemoved(path)) return Status::NotFound(path);
  const Status status = CheckFile(path);
  return status.ok() ? target()->NewRandomAccessFile(path, result) : status;
}

Status LevelDBReadOnlyEnv::NewWritableFile(const std::string& path,
                                           leveldb::WritableFile** result) {
  auto file = std::make_shared<MemoryFile>();
  {
    const MutexLock lock(mutex_);
    written_[path] = file;
    removed_.erase(path);
  }
  *result = new MemoryWritableFile(std::move(file), sealed_);
  return Status::OK();
}

Status LevelDBReadOnlyEnv::NewAppendableFile(const std::string& path, leveldb::WritableFile**) {
  return Status::NotSupported(path, "appending to a database that is open for reading");
}

bool LevelDBReadOnlyEnv::FileExists(const std::string& path) {
  return Find(path) != nullptr || (!IsRemoved(path) && target()->FileExists(path));
}

Status LevelDBReadOnlyEnv::GetChildren(const std::string& folder, std::vector<std::string>* names) {
  std::vector<std::string> there;
  const Status status = target()->GetChildren(folder, &there);
  if (!status.ok()) return status;
  std::set<std::string> all;
  const MutexLock lock(mutex_);
  for (const std::string& name : there) {
    if (!removed_.contains(folder + "/" + name)) all.insert(name);
  }
  for (const auto& [path, file] : written_) {
    if (path.starts_with(folder + "/")) all.insert(path.substr(folder.size() + 1));
  }
  names->assign(all.begin(), all.end());
  return Status::OK();
}

Status LevelDBReadOnlyEnv::RemoveFile(const std::string& path) {
  const MutexLock lock(mutex_);
  written_.erase(path);
  removed_.insert(path);
  return Status::OK();
}

Status LevelDBReadOnlyEnv::GetFileSize(const std::string& path, uint64_t* size) {
  if (const auto file = Find(path)) {
    const MutexLock lock(file->mutex);
    *size = file->bytes.size();
    return Status::OK();
  }
  if (IsRemoved(path)) return Status::NotFound(path);
  return target()->GetFileSize(path, size);
}

Status LevelDBReadOnlyEnv::RenameFile(const std::string& from, const std::string& to) {
  const MutexLock lock(mutex_);
  const auto it = written_.find(from);
  if (it == written_.end()) return Status::OK();  // the old info log, which is never read
  written_[to] = it->second;
  written_.erase(from);
  removed_.erase(to);
  return Status::OK();
}

Status LevelDBReadOnlyEnv::LockFile(const std::string&, leveldb::FileLock** lock) {
  *lock = new NoLock();
  return Status::OK();
}

Status LevelDBReadOnlyEnv::UnlockFile(leveldb::FileLock* lock) {
  delete lock;
  return Status::OK();
}

Status LevelDBReadOnlyEnv::NewLogger(const std::string&, leveldb::Logger** result) {
  *result = new NoLogger();
  return Status::OK();
}

}  // namespace internal
}  // namespace db
}  // namespace caffe2rt
