// leveldb: a folder of Google's LevelDB. READ uses an environment that changes nothing on disk. A
// new database is built next to its target and renamed into place by the first Commit.
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/write_batch.h>

#include <cstring>
#include <filesystem>
#include <new>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/atomic_folder.h"
#include "caffe2_core/io/db_backends.h"
#include "caffe2_core/io/leveldb_log.h"
#include "caffe2_core/io/leveldb_read_only_env.h"

namespace caffe2rt {
namespace db {
namespace {

// Caffe2's options.
constexpr size_t kBlockBytes = 65536;
constexpr size_t kWriteBufferBytes = 268435456;
constexpr int kMaxOpenFiles = 100;
// While the database is not yet visible, a batch of this size is written immediately, so that a
// transaction with a whole model does not hold the model twice.
constexpr size_t kMaxBatchBytes = 64 << 20;

// Rethrows exceptions from LevelDB, such as std::bad_alloc for a size read from a damaged file, as
// EnforceNotMet.
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

leveldb::Options CommonOptions() {
  leveldb::Options options;
  options.block_size = kBlockBytes;
  options.write_buffer_size = kWriteBufferBytes;
  options.max_open_files = kMaxOpenFiles;
  options.paranoid_checks = true;
  return options;
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

// A table's footer has no checksum, and LevelDB allocates the sizes stored in it. It consists of
// two block handles {offset, size}, padding and a magic number.
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
                  "\" is damaged: its footer points to a block outside the file");
  }
}

// Checks tables when they are opened. Tables left half-written by a killed process are never
// opened, because no manifest names them.
class CheckedEnv final : public leveldb::EnvWrapper {
 public:
  CheckedEnv() : EnvWrapper(leveldb::Env::Default()) {}
  leveldb::Status NewRandomAccessFile(const std::string& path,
                                      leveldb::RandomAccessFile** result) override {
    try {
      if (path.ends_with(".ldb") || path.ends_with(".sst")) CheckTableFooter(path);
    } catch (const EnforceNotMet& error) {
      return leveldb::Status::Corruption(error.message());
    }
    return target()->NewRandomAccessFile(path, result);
  }
};

class LevelDBCursor final : public Cursor {
 public:
  LevelDBCursor(leveldb::DB* db, const std::string& path) : db_(db), path_(path) {
    NewIterator();
    SeekToFirst();
  }
  void Seek(const std::string& key) override {
    before_.clear();
    Move([&] { iterator_->Seek(key); });
  }
  bool SupportsSeek() override { return true; }
  void SeekToFirst() override {
    before_.clear();
    Move([&] { iterator_->SeekToFirst(); });
  }
  void Next() override {
    CheckValid();
    const leveldb::Slice key = iterator_->key();
    before_.assign(key.data(), key.size());
    Move([&] { iterator_->Next(); });
  }
  bool Valid() override { return iterator_->Valid(); }
  bool IsBehindDamage() override { return is_behind_damage_; }
  std::string key() override {
    CheckValid();
    return iterator_->key().ToString();
  }
  std::string value() override {
    CheckValid();
    return iterator_->value().ToString();
  }

 private:
  void NewIterator() {
    leveldb::ReadOptions options;
    options.verify_checksums = true;
    options.fill_cache = false;
    iterator_.reset(db_->NewIterator(options));
  }
  // LevelDB leaves blocks out that are damaged, and keeps the error of the first one. Throws it, and
  // continues behind the block with an iterator that has no error.
  template <class Function>
  void Move(Function move) {
    is_behind_damage_ = false;
    Guarded(path_, move);
    const leveldb::Status status = iterator_->status();
    if (status.ok()) return;
    const std::string key = iterator_->Valid() ? iterator_->key().ToString() : std::string();
    const bool at_end = !iterator_->Valid();
    NewIterator();
    if (!at_end) Guarded(path_, [&] { iterator_->Seek(key); });
    is_behind_damage_ = iterator_->status().ok() && iterator_->Valid() != at_end;
    CAFFE_THROW("cannot read leveldb \"", path_, "\": records are damaged ", Place(at_end, key),
                ": ", status.ToString());
  }
  // Between which records the damage is. `next` is the key behind it, unless it reaches to the end.
  std::string Place(bool at_end, const std::string& next) const {
    const std::string from =
        before_.empty() ? "from the first one" : MakeString("after key \"", before_, "\"");
    return from + (at_end ? " to the last one" : MakeString(" and before key \"", next, "\""));
  }
  void CheckValid() const {
    CAFFE_ENFORCE(iterator_->Valid(), "leveldb \"", path_,
                  "\": the cursor is past the last record");
  }
  leveldb::DB* const db_;
  const std::string path_;
  std::string before_;  // the key before the last move; empty if the move did not start at a record
  std::unique_ptr<leveldb::Iterator> iterator_;
  bool is_behind_damage_ = false;
};

// A database open for writing, in a temporary folder if it is new and not yet committed.
class LevelDBWriter {
 public:
  LevelDBWriter(const std::string& path, Mode mode) : path_(path) {
    const bool is_free = AtomicFolder::IsFree(path);
    CAFFE_ENFORCE(is_free || mode == WRITE, "cannot create leveldb \"", path,
                  "\": it exists and is not an empty folder");
    // LevelDB would put a new database among the files.
    std::error_code error;  // such as one of permissions, which LevelDB reports
    const bool is_database = std::filesystem::exists(path + "/CURRENT", error) || error;
    CAFFE_ENFORCE(is_free || is_database, "cannot open leveldb \"", path,
                  "\" for writing: it holds no LevelDB");
    if (is_free) new_folder_ = std::make_unique<AtomicFolder>(path, 0755);
    Open(true);
  }

  bool is_visible() const { return new_folder_ == nullptr; }
  // After this call nothing more is written, and a database that is not visible yet never becomes
  // visible.
  void Fail() { failed_ = true; }
  bool failed() const { return failed_; }

  void Write(leveldb::WriteBatch* batch, bool sync) {
    CheckNotFailed();
    failed_ = true;  // until all of it is written
    if (db_ == nullptr) Open(false);
    leveldb::WriteOptions options;
    options.sync = sync;
    leveldb::Status status;
    try {
      status = db_->Write(options, batch);
    } catch (const std::bad_alloc&) {
      (void)db_.release();  // leaked, see LevelDB::LevelDB
      throw;
    }
    Check(status, "write", path_);
    failed_ = false;
  }

  void MakeVisible() {
    if (is_visible()) return;
    CheckNotFailed();
    failed_ = true;
    db_.reset();  // LevelDB opens its files by path
    new_folder_->Commit();
    new_folder_.reset();
    failed_ = false;
  }

 private:
  void CheckNotFailed() const {
    CAFFE_ENFORCE(!failed_, "an earlier write to leveldb \"", path_,
                  "\" failed, nothing is committed");
  }
  void Open(bool create) {
    leveldb::Options options = CommonOptions();
    options.create_if_missing = create;
    options.env = &env_;
    const std::string& folder = is_visible() ? path_ : new_folder_->path();
    leveldb::DB* opened = nullptr;
    Check(Guarded(path_, [&] { return leveldb::DB::Open(options, folder, &opened); }), "open",
          path_);
    db_.reset(opened);
  }

  const std::string path_;
  CheckedEnv env_;
  std::unique_ptr<AtomicFolder> new_folder_;  // null when the database is visible
  // Null between MakeVisible and the next write. Declared after new_folder_, so that it is
  // destroyed first.
  std::unique_ptr<leveldb::DB> db_;
  bool failed_ = false;
};

class LevelDBTransaction final : public Transaction {
 public:
  explicit LevelDBTransaction(LevelDBWriter* writer) : writer_(writer) {}
  ~LevelDBTransaction() override {
    // Part of the transaction may already be written.
    if (unwinding_.Unwinding() && !writer_->is_visible()) writer_->Fail();
    internal::CommitInDestructor(this, unwinding_);
  }
  void Put(const std::string& key, const std::string& value) override {
    batch_.Put(key, value);
    is_empty_ = false;
    if (!writer_->is_visible() && batch_.ApproximateSize() > kMaxBatchBytes) Write(false);
  }
  void Commit() override {
    if (!is_empty_) Write(true);
    writer_->MakeVisible();
  }

 private:
  void Write(bool sync) {
    writer_->Write(&batch_, sync);
    batch_.Clear();
    is_empty_ = true;
  }
  LevelDBWriter* const writer_;
  leveldb::WriteBatch batch_;
  bool is_empty_ = true;
  const internal::UnwindingDetector unwinding_;
};

class LevelDB final : public DB {
 public:
  LevelDB(const std::string& source, Mode mode) : DB(source, mode), path_(source) {
    if (mode != READ) {
      writer_ = std::make_unique<LevelDBWriter>(source, mode);
      return;
    }
    leveldb::Options options = CommonOptions();
    options.env = &read_only_env_;
    leveldb::DB* opened = nullptr;
    const leveldb::Status status =
        Guarded(source, [&] { return leveldb::DB::Open(options, source, &opened); });
    CAFFE_ENFORCE(status.ok(), "cannot open leveldb \"", source, "\": ", status.ToString(),
                  status.IsCorruption() ? internal::LevelDBLogDamage(source) : "");
    // LevelDB is not exception safe: after an exception its mutex is still locked, and closing the
    // database would deadlock. Such a database is leaked.
    read_only_env_.SealForReading(opened);
    db_.reset(opened);
  }
  ~LevelDB() override {
    if (unwinding_.Unwinding()) return;
    try {
      Close();
    } catch (...) {
      LOG(ERROR) << "cannot close leveldb \"" << path_ << "\": " << CurrentExceptionMessage();
    }
  }

  void Close() override {
    const std::unique_ptr<LevelDBWriter> writer = std::move(writer_);
    db_.reset();
    if (writer != nullptr && !writer->failed()) writer->MakeVisible();
  }
  std::unique_ptr<Cursor> NewCursor() override {
    CAFFE_ENFORCE(db_ != nullptr, "leveldb \"", path_, "\" is not open for READ");
    try {
      return std::make_unique<LevelDBCursor>(db_.get(), path_);
    } catch (const std::bad_alloc&) {
      (void)db_.release();  // leaked, see the constructor
      throw;
    }
  }
  std::unique_ptr<Transaction> NewTransaction() override {
    CAFFE_ENFORCE(writer_ != nullptr, "leveldb \"", path_, "\" is not open for WRITE or NEW");
    return std::make_unique<LevelDBTransaction>(writer_.get());
  }

 private:
  const std::string path_;
  CheckedEnv env_;
  internal::LevelDBReadOnlyEnv read_only_env_{&env_};
  std::unique_ptr<leveldb::DB> db_;  // for READ; after the environments: it is destroyed first
  std::unique_ptr<LevelDBWriter> writer_;
  const internal::UnwindingDetector unwinding_;
};

}  // namespace

std::unique_ptr<DB> NewLevelDB(const std::string& source, Mode mode) {
  return std::make_unique<LevelDB>(source, mode);
}

}  // namespace db
}  // namespace caffe2rt
