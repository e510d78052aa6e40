// leveldb: a folder of Google's LevelDB. READ goes through an environment that changes nothing on
// the disk.
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/write_batch.h>

#include <cstring>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/db_backends.h"
#include "caffe2_core/io/leveldb_read_only_env.h"

namespace caffe2rt {
namespace db {
namespace {

// Caffe2's options.
constexpr size_t kBlockBytes = 65536;
constexpr size_t kWriteBufferBytes = 268435456;
constexpr int kMaxOpenFiles = 100;
// A batch of this size is written at once, so that a transaction of a whole model does not hold it
// twice.
constexpr size_t kMaxBatchBytes = 64 << 20;

// What LevelDB throws as std::bad_alloc for a size from a damaged file becomes our error.
template <class Function>
auto Guarded(const std::string& path, Function function) {
  try {
    return function();
  } catch (const EnforceNotMet&) {
    throw;
  } catch (const std::exception&) {
    RethrowWithFrame(MakeString("cannot read leveldb \"", path, "\""));
  }
}

void Check(const leveldb::Status& status, const char* action, const std::string& path) {
  CAFFE_ENFORCE(status.ok(), "cannot ", action, " leveldb \"", path, "\": ", status.ToString());
}

bool ReadVarint(std::string_view* bytes, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && !bytes->empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes->front());
    bytes->remove_prefix(1);
    *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

// A table's footer has no checksum, and LevelDB allocates the sizes that stand in it: two handles
// {offset, size} of blocks, padding, magic number.
void CheckTableFooter(const std::string& path) {
  constexpr int64_t kFooterBytes = 48;
  constexpr uint64_t kBlockTrailerBytes = 5;
  const FileDescriptor file = OpenForReading(path);
  const int64_t size = FileSize(file, path);
  CAFFE_ENFORCE_GE(size, kFooterBytes, "bytes of leveldb table \"", path, "\"");
  char footer[kFooterBytes];
  ReadAt(file, path, size - kFooterBytes, footer, sizeof(footer));
  std::string_view rest(footer, 40);
  for (int block = 0; block < 2; ++block) {
    uint64_t offset, length;
    const bool fits = ReadVarint(&rest, &offset) && ReadVarint(&rest, &length) &&
                      offset <= static_cast<uint64_t>(size) &&
                      length <= static_cast<uint64_t>(size) - offset &&
                      length + kBlockTrailerBytes <= static_cast<uint64_t>(size) - offset;
    CAFFE_ENFORCE(fits, "leveldb table \"", path,
                  "\" is damaged: its footer names a block outside of it");
  }
}

void CheckTables(const std::string& folder) {
  std::vector<std::string> names;
  if (!leveldb::Env::Default()->GetChildren(folder, &names).ok()) return;
  for (const std::string& name : names) {
    if (name.ends_with(".ldb") || name.ends_with(".sst")) CheckTableFooter(folder + "/" + name);
  }
}

class LevelDBCursor final : public Cursor {
 public:
  LevelDBCursor(leveldb::DB* db, const std::string& path) : path_(path) {
    leveldb::ReadOptions options;
    options.verify_checksums = true;
    options.fill_cache = false;
    iterator_.reset(db->NewIterator(options));
    SeekToFirst();
  }
  void Seek(const std::string& key) override {
    Move([&] { iterator_->Seek(key); });
  }
  bool SupportsSeek() override { return true; }
  void SeekToFirst() override {
    Move([&] { iterator_->SeekToFirst(); });
  }
  void Next() override {
    CheckValid();
    Move([&] { iterator_->Next(); });
  }
  bool Valid() override { return iterator_->Valid(); }
  std::string key() override {
    CheckValid();
    return iterator_->key().ToString();
  }
  std::string value() override {
    CheckValid();
    return iterator_->value().ToString();
  }

 private:
  template <class Function>
  void Move(Function move) {
    Guarded(path_, move);
    if (!iterator_->Valid()) Check(iterator_->status(), "read", path_);
  }
  void CheckValid() const {
    CAFFE_ENFORCE(iterator_->Valid(), "leveldb \"", path_,
                  "\": the cursor is behind the last record");
  }
  const std::string path_;
  std::unique_ptr<leveldb::Iterator> iterator_;
};

class LevelDBTransaction final : public Transaction {
 public:
  LevelDBTransaction(leveldb::DB* db, const std::string& path) : db_(db), path_(path) {}
  ~LevelDBTransaction() override { internal::CommitInDestructor(this, unwinding_); }
  void Put(const std::string& key, const std::string& value) override {
    batch_.Put(key, value);
    if (batch_.ApproximateSize() > kMaxBatchBytes) Write(false);
  }
  void Commit() override { Write(true); }

 private:
  void Write(bool sync) {
    leveldb::WriteOptions options;
    options.sync = sync;
    Check(db_->Write(options, &batch_), "write", path_);
    batch_.Clear();
  }
  leveldb::DB* const db_;
  const std::string path_;
  leveldb::WriteBatch batch_;
  const internal::UnwindingDetector unwinding_;
};

class LevelDB final : public DB {
 public:
  LevelDB(const std::string& source, Mode mode) : DB(source, mode), path_(source) {
    leveldb::Options options;
    options.block_size = kBlockBytes;
    options.write_buffer_size = kWriteBufferBytes;
    options.max_open_files = kMaxOpenFiles;
    options.error_if_exists = mode == NEW;
    options.create_if_missing = mode != READ;
    options.paranoid_checks = true;
    if (mode == READ) options.env = &read_only_env_;
    CheckTables(source);
    leveldb::DB* opened = nullptr;
    Check(Guarded(source, [&] { return leveldb::DB::Open(options, source, &opened); }), "open",
          source);
    db_.reset(opened);
    if (mode == READ) read_only_env_.SealForReading(opened);
  }

  void Close() override { db_.reset(); }
  std::unique_ptr<Cursor> NewCursor() override {
    CAFFE_ENFORCE(db_ != nullptr && mode_ == READ, "leveldb \"", path_, "\" is not open for READ");
    return std::make_unique<LevelDBCursor>(db_.get(), path_);
  }
  std::unique_ptr<Transaction> NewTransaction() override {
    CAFFE_ENFORCE(db_ != nullptr && mode_ != READ, "leveldb \"", path_,
                  "\" is not open for WRITE or NEW");
    return std::make_unique<LevelDBTransaction>(db_.get(), path_);
  }

 private:
  const std::string path_;
  internal::LevelDBReadOnlyEnv read_only_env_;
  std::unique_ptr<leveldb::DB> db_;  // behind the environment: it goes first
};

}  // namespace

std::unique_ptr<DB> NewLevelDB(const std::string& source, Mode mode) {
  return std::make_unique<LevelDB>(source, mode);
}

}  // namespace db
}  // namespace caffe2rt
