#pragma once
// Key-value databases behind one interface. Caffe2's names.
//
//   auto db = db::CreateDB("minidb", "weights.minidb", db::NEW);
//   auto transaction = db->NewTransaction();
//   transaction->Put("key", "value");
//   transaction->Commit();
//
//   db::DBReader reader("minidb", "weights.minidb");
//   reader.Read(&key, &value);            // thread safe; begins again after the last record
//
// Types: minidb, leveldb, lmdb, protodb (and MiniDB, LevelDB, LMDB, ProtoDB). Opening for READ
// never creates or changes a file. Files may be hostile: every size is checked against what is
// there. A DB, a Cursor and a Transaction are used by one thread at a time; a DBReader by many.

#include <memory>
#include <mutex>
#include <string>

#include "caffe2_core/base/registry.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {
namespace db {

// READ what exists; WRITE adds to it, or makes it; NEW starts empty (leveldb and lmdb reject what
// exists, but leveldb takes an empty folder).
//
// A database that is made is absent, or what it was before, until its first commit (protodb: until
// it is closed): a process that is killed or a disk that is full leaves no empty or incomplete one.
// It is built in a temporary file or folder beside it, ".NAME.caffe2rt-tmp-...", which the next
// save in the same folder removes when its process was killed. Of two processes that make a leveldb
// or an lmdb at the same time, the one that commits first wins, and the other one's commit throws.
//
// Later commits, and all commits to what existed, write in place. There, leveldb and lmdb keep a
// transaction whole or not at all, and leveldb holds it in memory. minidb appends: a full disk
// leaves the file as it was, a killed process may leave a part of the transaction at its end.
enum Mode { READ, WRITE, NEW };

// Goes through the records in the order of the keys (minidb and protodb: of the file).
class Cursor {
 public:
  Cursor() = default;
  virtual ~Cursor() = default;
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  // To `key`, or to the next one that there is. THROWS where SupportsSeek() is false.
  virtual void Seek(const std::string& key) = 0;
  virtual bool SupportsSeek() { return false; }
  virtual void SeekToFirst() = 0;
  virtual void Next() = 0;
  // REQUIRES Valid() of these two.
  virtual std::string key() = 0;
  virtual std::string value() = 0;
  virtual bool Valid() = 0;
};

// Destruction commits what was put, unless an exception is on its way. After a write that failed
// nothing more is committed.
class Transaction {
 public:
  Transaction() = default;
  virtual ~Transaction() = default;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  virtual void Put(const std::string& key, const std::string& value) = 0;
  // Readers that open after this see what was put. leveldb and lmdb, and all that are made, are
  // synced to the disk first.
  virtual void Commit() = 0;
};

class DB {
 public:
  // Opens. THROWS when it cannot: for READ when nothing is there.
  DB(const std::string& /*source*/, Mode mode) : mode_(mode) {}
  virtual ~DB() = default;
  DB(const DB&) = delete;
  DB& operator=(const DB&) = delete;
  // A database that is made without a commit appears now, empty, unless a transaction of it failed
  // or ended in an exception. So does destruction, unless an exception is on its way.
  virtual void Close() = 0;
  // Cursors and transactions must not outlive the DB.
  virtual std::unique_ptr<Cursor> NewCursor() = 0;
  virtual std::unique_ptr<Transaction> NewTransaction() = 0;

 protected:
  const Mode mode_;
};

using DBRegistryType = Registry<std::string, std::unique_ptr<DB>, const std::string&, Mode>;
// With the built-in types in it.
DBRegistryType& Caffe2DBRegistry();

// For users: REGISTER_CAFFE2_DB(zmqdb, ZmqDB) at namespace scope; the class is built with (source,
// mode).
#define REGISTER_CAFFE2_DB(name, ...)                                                 \
  static const bool caffe2rt_db_##name = ::caffe2rt::db::Caffe2DBRegistry().Register( \
      #name,                                                                          \
      [](const std::string& source, ::caffe2rt::db::Mode mode) {                      \
        return std::unique_ptr<::caffe2rt::db::DB>(new __VA_ARGS__(source, mode));    \
      },                                                                              \
      __FILE__)

// Null for a type that nobody registered. THROWS when it cannot be opened.
std::unique_ptr<DB> CreateDB(const std::string& type, const std::string& source, Mode mode);

// The same, but THROWS for an unknown type, naming the close ones.
std::unique_ptr<DB> OpenDB(const std::string& type, const std::string& source, Mode mode);

// Whether it can be opened for reading.
bool DBExists(const std::string& type, const std::string& source);

// Reads records round and round, for many threads. `num_shards` readers with shard_id 0, 1, ...
// share a database.
class DBReader {
 public:
  DBReader() = default;
  DBReader(const std::string& type, const std::string& source, int num_shards = 1,
           int shard_id = 0) {
    Open(type, source, num_shards, shard_id);
  }
  // At the key of the proto, when it has one. THROWS then where the type cannot seek.
  explicit DBReader(const DBReaderProto& proto);
  explicit DBReader(std::unique_ptr<DB> db) { Open(std::move(db)); }
  DBReader(const DBReader&) = delete;
  DBReader& operator=(const DBReader&) = delete;

  void Open(const std::string& type, const std::string& source, int num_shards = 1,
            int shard_id = 0);
  void Open(std::unique_ptr<DB>&& db, int num_shards = 1, int shard_id = 0);

  // The present record; then goes on by num_shards records, at the end to the beginning. THROWS
  // when not open, when the database is empty, or when the record is damaged.
  void Read(std::string* key, std::string* value) const;
  void SeekToFirst() const;
  // Not thread safe.
  Cursor* cursor() const { return cursor_.get(); }
  bool IsOpen() const { return cursor_ != nullptr; }

  // What reopens it where it stands: the key only where the type can seek.
  DBReaderProto ToProto(const std::string& name) const;

 private:
  void MoveToBeginning() const;

  std::string type_;
  std::string source_;
  std::unique_ptr<DB> db_;
  std::unique_ptr<Cursor> cursor_;
  mutable std::mutex mutex_;
  int num_shards_ = 1;
  int shard_id_ = 0;
};

// The built-in back ends; Caffe2DBRegistry calls it.
void RegisterBuiltinDBs(DBRegistryType* registry);

}  // namespace db
}  // namespace caffe2rt
