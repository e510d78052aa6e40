// lmdb: a folder of Symas' LMDB, the unnamed main database. READ uses a checked reader of our own,
// writing uses liblmdb, which opens an existing file only after that reader went through all of it.
#include <lmdb.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/db_backends.h"
#include "caffe2_core/io/lmdb_file.h"

namespace caffe2rt {
namespace db {
namespace {

// Address space for the file to grow in; nothing is allocated. Halved where the process may not
// have so much.
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
  void Seek(const std::string& key) override { position_.Seek(key); }
  bool SupportsSeek() override { return true; }
  void SeekToFirst() override { position_.Seek({}); }
  void Next() override {
    CheckValid();
    position_.Next();
  }
  bool Valid() override { return position_.Valid(); }
  std::string key() override {
    CheckValid();
    return std::string(position_.key());
  }
  std::string value() override {
    CheckValid();
    return position_.value();
  }

 private:
  void CheckValid() const {
    CAFFE_ENFORCE(position_.Valid(), "lmdb \"", file_.path(),
                  "\": the cursor is behind the last record");
  }
  const internal::LmdbFile& file_;
  internal::LmdbPosition position_;
};

struct CloseEnvironment {
  void operator()(MDB_env* environment) const { mdb_env_close(environment); }
};
using Environment = std::unique_ptr<MDB_env, CloseEnvironment>;

// liblmdb's assertions become errors in place of aborts.
void ThrowAssertion(MDB_env*, const char* text) {
  CAFFE_THROW("liblmdb finds its database damaged: ", text);
}

class LMDBTransaction final : public Transaction {
 public:
  LMDBTransaction(MDB_env* environment, const std::string& path, bool* abandoned)
      : environment_(environment), path_(path), abandoned_(abandoned) {
    Begin();
  }
  ~LMDBTransaction() override {
    internal::CommitInDestructor(this, unwinding_);
    if (transaction_ != nullptr) mdb_txn_abort(transaction_);
  }
  void Put(const std::string& key, const std::string& value) override {
    CAFFE_ENFORCE(transaction_ != nullptr, "a write to lmdb \"", path_, "\" failed before");
    MDB_val mdb_key{key.size(), const_cast<char*>(key.data())};
    MDB_val mdb_value{value.size(), const_cast<char*>(value.data())};
    Check(Guarded([&] { return mdb_put(transaction_, tree_, &mdb_key, &mdb_value, 0); }), "write",
          path_);
  }
  void Commit() override {
    if (transaction_ == nullptr) return;
    Check(Guarded([&] { return mdb_txn_commit(std::exchange(transaction_, nullptr)); }),
          "commit to", path_);
    Begin();
  }

 private:
  void Begin() {
    Check(mdb_txn_begin(environment_, nullptr, 0, &transaction_), "write", path_);
    const int result = mdb_dbi_open(transaction_, nullptr, 0, &tree_);
    if (result != MDB_SUCCESS) mdb_txn_abort(std::exchange(transaction_, nullptr));
    Check(result, "write", path_);
  }
  // After a failed assertion the environment is in no state to be used or closed: it is left alone.
  template <class Function>
  int Guarded(Function function) {
    try {
      return function();
    } catch (...) {
      transaction_ = nullptr;
      *abandoned_ = true;
      throw;
    }
  }

  MDB_env* const environment_;
  const std::string path_;
  bool* const abandoned_;
  MDB_txn* transaction_ = nullptr;
  MDB_dbi tree_ = 0;
  const internal::UnwindingDetector unwinding_;
};

Environment OpenForWriting(const std::string& path) {
  for (size_t bytes = kMapBytes;; bytes /= 2) {
    MDB_env* created = nullptr;
    Check(mdb_env_create(&created), "open", path);
    Environment environment(created);
    Check(mdb_env_set_mapsize(created, bytes), "open", path);
    Check(mdb_env_set_assert(created, &ThrowAssertion), "open", path);
    const int result = mdb_env_open(created, path.c_str(), 0, 0664);
    if (result == ENOMEM && bytes > kLeastMapBytes) continue;
    Check(result, "open", path);
    return environment;
  }
}

class LMDB final : public DB {
 public:
  LMDB(const std::string& source, Mode mode) : DB(source, mode), path_(source) {
    if (mode == READ) {
      file_ = std::make_unique<internal::LmdbFile>(source);
      return;
    }
    struct stat info;
    const bool exists = stat(source.c_str(), &info) == 0;
    if (mode == NEW || !exists) {
      const int result = mkdir(source.c_str(), 0744);
      const int error = errno;
      CAFFE_ENFORCE_EQ(result, 0, "cannot make the folder \"", source,
                       "\" for a new lmdb: ", std::strerror(error));
    } else if (stat((source + "/data.mdb").c_str(), &info) == 0 && info.st_size > 0) {
      internal::CheckLmdbFile(source);
    }
    environment_ = OpenForWriting(source);
  }

  ~LMDB() override { Close(); }

  void Close() override {
    if (abandoned_) (void)environment_.release();
    environment_.reset();
    file_.reset();
  }
  std::unique_ptr<Cursor> NewCursor() override {
    CAFFE_ENFORCE(file_ != nullptr, "lmdb \"", path_, "\" is not open for READ");
    return std::make_unique<LMDBCursor>(*file_);
  }
  std::unique_ptr<Transaction> NewTransaction() override {
    CAFFE_ENFORCE(environment_ != nullptr, "lmdb \"", path_, "\" is not open for WRITE or NEW");
    return std::make_unique<LMDBTransaction>(environment_.get(), path_, &abandoned_);
  }

 private:
  const std::string path_;
  std::unique_ptr<internal::LmdbFile> file_;
  Environment environment_;
  bool abandoned_ = false;
};

}  // namespace

std::unique_ptr<DB> NewLMDB(const std::string& source, Mode mode) {
  return std::make_unique<LMDB>(source, mode);
}

}  // namespace db
}  // namespace caffe2rt
