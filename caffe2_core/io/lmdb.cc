// lmdb: a folder of Symas' LMDB; only the unnamed main database is used. READ uses the library's
// own checked reader. Writing uses liblmdb, which opens an existing file only after that reader has
// checked all of it. A new database is built next to its target and renamed into place by the first
// Commit.
#include <lmdb.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/io/atomic_folder.h"
#include "caffe2_core/io/db_backends.h"
#include "caffe2_core/io/lmdb_file.h"

namespace caffe2rt {
namespace db {
namespace {

// Address space into which the file can grow; no memory is allocated. Halved until the process is
// allowed to reserve it.
constexpr size_t kMapBytes = size_t{1} << 40;
constexpr size_t kLeastMapBytes = size_t{1} << 30;

void Check(int result, const char* action, const std::string& path) {
  CAFFE_ENFORCE(result == MDB_SUCCESS, "cannot ", action, " lmdb \"", path,
                "\": ", mdb_strerror(result));
}

class LMDBCursor final : public Cursor {
 public:
  explicit LMDBCursor(const internal::LmdbFile& file)
      : file_(file), position_(file, file.main_tree()) {
    SeekToFirst();
  }
  void Seek(const std::string& key) override {
    is_damaged_ = true;
    position_.Seek(key);
    is_damaged_ = false;
  }
  bool SupportsSeek() override { return true; }
  void SeekToFirst() override { Seek({}); }
  void Next() override {
    CheckValid();
    is_damaged_ = true;  // until the position is that of an entry again
    position_.Next();
    is_damaged_ = false;
  }
  bool Valid() override { return !is_damaged_ && position_.Valid(); }
  std::string key() override {
    CheckValid();
    return std::string(position_.key());
  }
  std::string value() override {
    CheckValid();
    return position_.value();
  }

 private:
  void CheckValid() {
    CAFFE_ENFORCE(Valid(), "lmdb \"", file_.path(),
                  "\": the cursor is past the last record");
  }
  const internal::LmdbFile& file_;
  internal::LmdbPosition position_;
  bool is_damaged_ = false;
};

struct CloseEnvironment {
  void operator()(MDB_env* environment) const { mdb_env_close(environment); }
};
using Environment = std::unique_ptr<MDB_env, CloseEnvironment>;

// Turns liblmdb's assertion failures into exceptions instead of aborts.
void ThrowAssertion(MDB_env*, const char* text) {
  CAFFE_THROW("liblmdb reports a damaged database: ", text);
}

Environment OpenForWriting(const std::string& folder, const std::string& path) {
  for (size_t bytes = kMapBytes;; bytes /= 2) {
    MDB_env* created = nullptr;
    Check(mdb_env_create(&created), "open", path);
    Environment environment(created);
    Check(mdb_env_set_mapsize(created, bytes), "open", path);
    Check(mdb_env_set_assert(created, &ThrowAssertion), "open", path);
    const int result = mdb_env_open(created, folder.c_str(), 0, 0664);
    if (result == ENOMEM && bytes > kLeastMapBytes) continue;
    Check(result, "open", path);
    return environment;
  }
}

// A database open for writing, in a temporary folder if it is new and not yet committed.
class LMDBWriter {
 public:
  LMDBWriter(const std::string& path, Mode mode) : path_(path) {
    struct stat info;
    const bool exists = lstat(path.c_str(), &info) == 0;
    CAFFE_ENFORCE(!exists || mode == WRITE, "cannot create the folder \"", path,
                  "\" for a new lmdb: ", std::strerror(EEXIST));
    if (AtomicFolder::IsFree(path)) {
      new_folder_ = std::make_unique<AtomicFolder>(path, 0744);
    } else {
      // liblmdb would put a new database among the files of a folder.
      std::error_code ignored;
      const bool has_data = stat((path + "/data.mdb").c_str(), &info) == 0;
      CAFFE_ENFORCE(has_data || errno != ENOENT || !std::filesystem::is_directory(path, ignored),
                    "cannot open lmdb \"", path, "\" for writing: it holds no LMDB");
      if (has_data && info.st_size > 0) internal::CheckLmdbFile(path);
    }
    environment_ = OpenForWriting(is_visible() ? path : new_folder_->path(), path);
  }
  ~LMDBWriter() {
    if (abandoned_) (void)environment_.release();
  }

  const std::string& path() const { return path_; }
  MDB_env* environment() const { return environment_.get(); }
  bool is_visible() const { return new_folder_ == nullptr; }
  // After this call a database that is not visible yet never becomes visible.
  void Fail() { failed_ = true; }
  bool failed() const { return failed_; }
  // After a failed assertion the environment can be neither used nor closed safely, so it is
  // leaked.
  void Abandon() { failed_ = abandoned_ = true; }

  // The environment stays open, because liblmdb opens its files only once.
  void MakeVisible() {
    if (is_visible()) return;
    CAFFE_ENFORCE(!failed_, "an earlier write to lmdb \"", path_,
                  "\" failed, nothing is committed");
    failed_ = true;
    new_folder_->Commit();
    new_folder_.reset();
    failed_ = false;
  }

 private:
  const std::string path_;
  std::unique_ptr<AtomicFolder> new_folder_;  // null when the database is visible
  Environment environment_;                   // after its folder: it is destroyed first
  bool failed_ = false;
  bool abandoned_ = false;
};

class LMDBTransaction final : public Transaction {
 public:
  explicit LMDBTransaction(LMDBWriter* writer) : writer_(writer), path_(writer->path()) { Begin(); }
  ~LMDBTransaction() override {
    if (unwinding_.Unwinding()) writer_->Fail();
    if (transaction_ == nullptr) return;  // committed, or the failure was reported
    internal::CommitInDestructor(this, unwinding_);
    if (transaction_ != nullptr) mdb_txn_abort(transaction_);
  }
  void Put(const std::string& key, const std::string& value) override {
    CheckNotFailed();
    if (transaction_ == nullptr) Begin();  // not in Commit: a transaction holds the writer lock
    MDB_val mdb_key{key.size(), const_cast<char*>(key.data())};
    MDB_val mdb_value{value.size(), const_cast<char*>(value.data())};
    Check(Guarded([&] { return mdb_put(transaction_, tree_, &mdb_key, &mdb_value, 0); }), "write",
          path_);
  }
  void Commit() override {
    CheckNotFailed();
    if (transaction_ == nullptr) return;  // nothing was put since the last commit
    failed_ = true;
    const int result =
        Guarded([&] { return mdb_txn_commit(std::exchange(transaction_, nullptr)); });
    if (result != MDB_SUCCESS) writer_->Fail();
    // liblmdb reports a short write as EIO.
    CAFFE_ENFORCE(result != EIO, "cannot commit to lmdb \"", path_, "\": ", mdb_strerror(EIO),
                  ", or no space left on the device, or a limit on the size of files");
    Check(result, "commit to", path_);
    writer_->MakeVisible();
    failed_ = false;
  }

 private:
  void CheckNotFailed() const {
    CAFFE_ENFORCE(!failed_, "an earlier write to lmdb \"", path_,
                  "\" failed, nothing is committed");
  }
  void Begin() {
    Check(mdb_txn_begin(writer_->environment(), nullptr, 0, &transaction_), "write", path_);
    const int result = mdb_dbi_open(transaction_, nullptr, 0, &tree_);
    if (result != MDB_SUCCESS) mdb_txn_abort(std::exchange(transaction_, nullptr));
    Check(result, "write", path_);
  }
  template <class Function>
  int Guarded(Function function) {
    try {
      return function();
    } catch (...) {
      transaction_ = nullptr;
      failed_ = true;
      writer_->Abandon();
      throw;
    }
  }

  LMDBWriter* const writer_;
  const std::string path_;
  MDB_txn* transaction_ = nullptr;
  MDB_dbi tree_ = 0;
  bool failed_ = false;
  const internal::UnwindingDetector unwinding_;
};

class LMDB final : public DB {
 public:
  LMDB(const std::string& source, Mode mode) : DB(source, mode), path_(source) {
    if (mode == READ) {
      file_ = std::make_unique<internal::LmdbFile>(source);
    } else {
      writer_ = std::make_unique<LMDBWriter>(source, mode);
    }
  }
  ~LMDB() override {
    if (unwinding_.Unwinding()) return;
    try {
      Close();
    } catch (...) {
      LOG(ERROR) << "cannot close lmdb \"" << path_ << "\": " << CurrentExceptionMessage();
    }
  }

  void Close() override {
    const std::unique_ptr<LMDBWriter> writer = std::move(writer_);
    file_.reset();
    if (writer != nullptr && !writer->failed()) writer->MakeVisible();
  }
  std::unique_ptr<Cursor> NewCursor() override {
    CAFFE_ENFORCE(file_ != nullptr, "lmdb \"", path_, "\" is not open for READ");
    return std::make_unique<LMDBCursor>(*file_);
  }
  std::unique_ptr<Transaction> NewTransaction() override {
    CAFFE_ENFORCE(writer_ != nullptr, "lmdb \"", path_, "\" is not open for WRITE or NEW");
    return std::make_unique<LMDBTransaction>(writer_.get());
  }

 private:
  const std::string path_;
  std::unique_ptr<internal::LmdbFile> file_;
  std::unique_ptr<LMDBWriter> writer_;
  const internal::UnwindingDetector unwinding_;
};

}  // namespace

std::unique_ptr<DB> NewLMDB(const std::string& source, Mode mode) {
  return std::make_unique<LMDB>(source, mode);
}

}  // namespace db
}  // namespace caffe2rt
