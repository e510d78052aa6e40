#pragma once
// One interface for key-value databases, with Caffe2's names.
//
//   auto db = db::CreateDB("minidb", "weights.minidb", db::NEW);
//   auto transaction = db->NewTransaction();
//   transaction->Put("key", "value");
//   transaction->Commit();
//
//   db::DBReader reader("minidb", "weights.minidb");
//   reader.Read(&key, &value);  // thread safe; wraps around after the last record
//
// Types: minidb, leveldb, lmdb, protodb (and MiniDB, LevelDB, LMDB, ProtoDB). Opening for READ
// never creates or changes a file. Files may be hostile: every size is checked against the bytes
// present. A DB, a Cursor and a Transaction must each be used by one thread at a time; a DBReader
// is thread safe.

#include <cstdint>
#include <memory>
#include <string>

#include "caffe2_core/base/registry.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {
namespace db {

// READ opens an existing database. WRITE adds to an existing database or creates one. NEW creates
// an empty one: minidb and protodb replace an existing file; leveldb and lmdb reject an existing
// database, but leveldb accepts an empty folder.
//
// A new database appears at its first commit (protodb: when it is closed). Until then nothing
// exists at its path, or the previous content stays. A killed process or a full disk therefore
// leaves no empty or incomplete database. The database is built in a temporary file or folder next
// to its target, ".NAME.caffe2rt-tmp-...". If the process was killed, the next save in the same
// folder removes it. If two processes create the same leveldb or lmdb at the same time, the first
// to commit wins and the other's commit throws.
//
// Later commits, and all commits to an existing database, write in place. For these, leveldb and
// lmdb transactions are atomic, and leveldb holds a transaction in memory. minidb appends: a full
// disk leaves the file as it was, but a killed process may leave part of the transaction at its
// end.
enum Mode { READ, WRITE, NEW };

// Iterates over the records in key order (minidb and protodb: in file order).
class Cursor {
 public:
  Cursor() = default;
  virtual ~Cursor() = default;
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  // Moves to the first record whose key is at least `key`. THROWS if SupportsSeek() is false.
  virtual void Seek(const std::string& key) = 0;
  virtual bool SupportsSeek() { return false; }
  // Where the record is in the database, for cursors that can return there without its key. Offset
  // REQUIRES Valid(). SeekToOffset REQUIRES an offset of a record of this database.
  virtual bool SupportsOffsets() { return false; }
  virtual int64_t Offset() { return -1; }
  virtual void SeekToOffset(int64_t offset);
  virtual void SeekToFirst() = 0;
  virtual void Next() = 0;
  // REQUIRES: Valid(), for key() and value().
  virtual std::string key() = 0;
  virtual std::string value() = 0;
  virtual bool Valid() = 0;
  // After Next has thrown: whether the cursor has moved behind the damage, and can be used.
  virtual bool IsBehindDamage() { return false; }
};

// The destructor commits the records that were put, unless an exception is in flight. After a
// failed write nothing more is committed.
class Transaction {
 public:
  Transaction() = default;
  virtual ~Transaction() = default;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  virtual void Put(const std::string& key, const std::string& value) = 0;
  // Readers opened after this see the records that were put. leveldb, lmdb and every new database
  // are synced to disk first.
  virtual void Commit() = 0;
};

class DB {
 public:
  // Implementations open the database. They THROW if they cannot, for example if there is nothing
  // to READ.
  DB(const std::string& /*source*/, Mode mode) : mode_(mode) {}
  virtual ~DB() = default;
  DB(const DB&) = delete;
  DB& operator=(const DB&) = delete;
  // A new database without a commit appears now, empty, unless one of its transactions failed or
  // ended in an exception. The destructor does the same, unless an exception is in flight.
  virtual void Close() = 0;
  // Cursors and transactions must not outlive the DB.
  virtual std::unique_ptr<Cursor> NewCursor() = 0;
  virtual std::unique_ptr<Transaction> NewTransaction() = 0;

 protected:
  const Mode mode_;
};

using DBRegistryType = Registry<std::string, std::unique_ptr<DB>, const std::string&, Mode>;
// Contains the built-in types.
DBRegistryType& Caffe2DBRegistry();

// For users: REGISTER_CAFFE2_DB(zmqdb, ZmqDB) at namespace scope; the class is constructed with
// (source, mode).
#define REGISTER_CAFFE2_DB(name, ...)                                                 \
  static const bool caffe2rt_db_##name = ::caffe2rt::db::Caffe2DBRegistry().Register( \
      #name,                                                                          \
      [](const std::string& source, ::caffe2rt::db::Mode mode) {                      \
        return std::unique_ptr<::caffe2rt::db::DB>(new __VA_ARGS__(source, mode));    \
      },                                                                              \
      __FILE__)

// Returns null if the type is not registered. THROWS if the database cannot be opened.
std::unique_ptr<DB> CreateDB(const std::string& type, const std::string& source, Mode mode);

// Like CreateDB, but THROWS for an unknown type; the error lists the known types.
std::unique_ptr<DB> OpenDB(const std::string& type, const std::string& source, Mode mode);

// Returns whether the database can be opened for reading. THROWS OutOfMemory if memory runs out.
bool DBExists(const std::string& type, const std::string& source);

struct DBReaderOptions {
  // Share the records among this many readers; each has its own shard_id in [0, num_shards).
  int num_shards = 1;
  int shard_id = 0;
  // Read the records of each epoch in an order of its own: a permutation of all records that depends
  // on the seed, the epoch and the number of records only. Opening the database then scans it once;
  // its type must have cursors that can seek. The shards divide the permutation.
  bool shuffle = false;
  uint64_t shuffle_seed = 0;
  // 0: the shards divide each epoch, and each of them goes on to its next epoch at its own end, as
  // Caffe2's do. Else the shards divide the endless sequence of all epochs in blocks of so many
  // records, of which a shard reads the records shard_id, shard_id + num_shards and so on: together
  // they read what one reader would, whatever their number. Opening the database then counts its
  // records; its type must have cursors that can seek. REQUIRES: block >= num_shards.
  int64_t block = 0;
  int64_t first_block = 0;  // where the reader begins
};

// The number of a record in the order in which a reader returns them.
struct DBReaderPosition {
  int64_t epoch = 0;  // from 0
  // In the epoch, among the records of the reader's shard; with blocks, among all records.
  int64_t record = 0;
  friend bool operator==(const DBReaderPosition&, const DBReaderPosition&) = default;
};

struct DBRecord {
  std::string key;
  std::string value;
  DBReaderPosition position;
};

namespace internal {
struct ReaderState;
}
class RecordsAhead;

// Reads records in an endless loop. Thread safe, except for Open and cursor().
//
// Operators may read ahead (records_ahead.h). All members except NumRecords see the reader as if the
// records that were read ahead, but not handed out, were unread.
class DBReader {
 public:
  DBReader() = default;
  DBReader(const std::string& type, const std::string& source, int num_shards = 1,
           int shard_id = 0) {
    Open(type, source, num_shards, shard_id);
  }
  DBReader(const std::string& type, const std::string& source, const DBReaderOptions& options) {
    Open(type, source, options);
  }
  // Continues at the position in the proto, which ToProto wrote. A proto of Caffe2's has no more
  // than the key of the next record: a type that cannot seek is read from its beginning to the first
  // record with this key. THROWS if the database has no such record, or another one at its position.
  explicit DBReader(const DBReaderProto& proto);
  explicit DBReader(std::unique_ptr<DB> db, int num_shards = 1, int shard_id = 0) {
    Open(std::move(db), num_shards, shard_id);
  }
  ~DBReader() { Close(); }
  DBReader(const DBReader&) = delete;
  DBReader& operator=(const DBReader&) = delete;

  void Open(const std::string& type, const std::string& source, int num_shards = 1,
            int shard_id = 0) {
    Open(type, source, DBReaderOptions{.num_shards = num_shards, .shard_id = shard_id});
  }
  void Open(const std::string& type, const std::string& source, const DBReaderOptions& options);
  void Open(std::unique_ptr<DB>&& db, int num_shards = 1, int shard_id = 0) {
    Open(std::move(db), DBReaderOptions{.num_shards = num_shards, .shard_id = shard_id});
  }
  void Open(std::unique_ptr<DB>&& db, const DBReaderOptions& options);

  // Returns the current record, then advances to the next one of the shard, or to the first one of
  // the next epoch. THROWS if the reader is not open, the database is empty, or the record is
  // damaged; the reader then has advanced, unless nothing behind the damage can be read.
  // Shards take turns again from the first record behind the damage.
  void Read(std::string* key, std::string* value) const;
  void Read(DBRecord* record) const;
  // Goes to the first record of epoch 0.
  void SeekToFirst() const;
  // Not thread safe. Nobody reads ahead on this reader after the call.
  Cursor* cursor() const;
  bool IsOpen() const { return state_ != nullptr; }

  // Of the next record. THROWS if the reader is not open.
  DBReaderPosition position() const;
  // The records of an epoch. The first call scans the database, if it was not opened with `shuffle`.
  // THROWS if the type of the database has cursors that cannot seek.
  int64_t NumRecords() const;

  // Returns a proto that reopens the reader at its current position, unless it was opened with a DB. It is a DBReaderProto with the
  // key of the next record (Caffe2 sets the key only for types that can seek, and rejects it for
  // others) and, as fields that Caffe2 ignores, the other members of a DBReaderState
  // (proto/db_reader.proto).
  DBReaderProto ToProto(const std::string& name) const;

 private:
  friend class RecordsAhead;
  void Start(std::unique_ptr<DB> db, const DBReaderOptions& options);
  void Close() noexcept;
  // THROWS if the reader is not open.
  internal::ReaderState& State() const;

  std::string type_;
  std::string source_;
  // Null if the reader is not open. Shared with those who read ahead, on other threads.
  std::shared_ptr<internal::ReaderState> state_;
};

// Registers the built-in back ends. Called by Caffe2DBRegistry.
void RegisterBuiltinDBs(DBRegistryType* registry);

}  // namespace db
}  // namespace caffe2rt
#pragma GCC visibility pop
