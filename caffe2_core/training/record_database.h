#pragma once
// Writes the records of a new database.
//
//   RecordDatabase database("lmdb", "train.lmdb");
//   MnistRecords(files, options, database.Acceptor());
//   database.Finish();                                // train.lmdb appears only now
//
// The database appears whole or not at all: if Finish is not called, nothing of it stays.

#include <cstdint>
#include <memory>
#include <string>

#include "caffe2_core/io/db.h"
#include "caffe2_core/training/record.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Not thread safe.
class RecordDatabase {
 public:
  // THROWS if no database of this type can be created at `path` (new_database.h): before any record
  // is made.
  RecordDatabase(const std::string& type, const std::string& path);
  ~RecordDatabase();
  RecordDatabase(const RecordDatabase&) = delete;
  RecordDatabase& operator=(const RecordDatabase&) = delete;

  void Put(const std::string& key, const std::string& value);
  // Puts the records that it is called with, each with a checksum (record_checksum.h). Must not outlive the
  // database.
  RecordAcceptor Acceptor();
  int64_t records() const { return records_; }
  // Makes the database visible. THROWS if it has no record.
  void Finish();

 private:
  const std::string path_;
  std::unique_ptr<db::DB> db_;
  std::unique_ptr<db::Transaction> transaction_;
  int64_t records_ = 0;
};

// The type of a new database: the one that `type` names or, if it is "", that the end of the path
// names ("train.lmdb"). THROWS if there is none.
std::string NewDatabaseType(const std::string& type, const std::string& path);

}  // namespace caffe2rt
#pragma GCC visibility pop
