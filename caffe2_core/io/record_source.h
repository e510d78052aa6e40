#pragma once
// RecordSource: the records of a database in the order in which a DBReader (db.h) hands them out, in
// an endless loop of epochs. Used by db.cc only.
//
// An epoch contains each record of the shard once: the records shard_id, shard_id + num_shards and
// so on of the database's order or, with shuffle, of a permutation of all records that depends on
// the seed, the epoch and the number of records. The permutation needs an index of the records,
// which one scan of the database makes. With blocks (DBReaderOptions), the shards divide the endless
// sequence instead, and positions count all records of an epoch.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/io/db.h"
#include "caffe2_core/io/records_ahead.h"

namespace caffe2rt {
namespace db {
namespace internal {

// Not thread safe.
class RecordSource {
 public:
  // Stands at the first record. THROWS if the options do not fit the database, or if `shuffle` needs
  // an index and the database cannot be scanned.
  RecordSource(std::unique_ptr<DB> db, const DBReaderOptions& options, std::string name);
  RecordSource(const RecordSource&) = delete;
  RecordSource& operator=(const RecordSource&) = delete;

  // Reads the next record and advances. THROWS if the database is empty or the record cannot be read.
  // After an error the source has advanced, unless the database cannot be read behind the damage.
  void Read(DBRecord* record);
  DBReaderPosition position() const { return at_; }
  // The place of the next record.
  RecordPlace Place();
  void SeekToFirst();
  // Goes to a place of this database. A place with a key that the record there does not have, or
  // behind the last record of its epoch, is an error.
  void GoTo(const RecordPlace& place);
  // Goes to the first record that has at least this key or, if the database cannot seek, this key.
  // Returns false if a database that cannot seek does not have it.
  bool GoToKey(const std::string& key);
  // Whether GoTo needs no scan.
  bool CanReturn();
  // Of an epoch. Scans the database once. THROWS if the database can be read only once.
  int64_t NumRecords();
  int64_t NumRecordsOfAllShards();

  Cursor* cursor() { return cursor_.get(); }
  const DBReaderOptions& options() const { return options_; }

 private:
  bool IsEmpty();
  // Counts the records and, if `with_places` is set, lists where they are.
  void MakeIndex(bool with_places);
  void MoveTo(const RecordPlace& place);
  // THROWS if the database has no such record at the place.
  void CheckIsAt(const RecordPlace& place);
  // With shuffle: moves the cursor to the record at at_.
  void GoToShuffled();
  void MoveToBeginning();
  void BeginEpoch();
  // `key` is that of the record before.
  void Advance(const std::string& key);
  // With blocks: the number of records from this one to the next one of the shard.
  int64_t StepInBlocks() const;
  void AdvanceCursor(int64_t records);
  void Skip(int64_t records);
  // THROWS if the shard of a database with `count` records does not exist.
  void CheckShard(int64_t count) const;
  [[noreturn]] void ThrowDamageBehind();

  const std::unique_ptr<DB> db_;
  const std::unique_ptr<Cursor> cursor_;
  const DBReaderOptions options_;
  const std::string name_;  // for messages: database "x" of type y
  DBReaderPosition at_;
  // Without shuffle, the cursor stands at the record of at_; with it, only if this is set.
  bool cursor_is_at_ = false;
  // Why the cursor could not move to at_; Read throws it. Empty: it could.
  std::string damage_behind_;

  int64_t num_records_ = -1;  // of the database; -1: not known
  // The places of all records: offsets, or keys if the cursor has no offsets.
  std::vector<int64_t> offsets_;
  std::string keys_;
  std::vector<size_t> key_ends_;
  std::vector<int64_t> order_;  // the permutation of epoch order_epoch_
  int64_t order_epoch_ = -1;
};

}  // namespace internal
}  // namespace db
}  // namespace caffe2rt
