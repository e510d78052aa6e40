#pragma once
// CreateDB: opens a database for operators that read from one.
//   no inputs  ->  reader: DBReader, at the first record
// With `shuffle`, the records of each epoch come in an order of its own, and the database is scanned
// once. The path is used as it is, not relative to the root folder. The workspace's file policy must
// allow it.

#include <cstdint>
#include <string>

#include "caffe2_core/io/db.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/workspace.h"
#include "operators/io/database_arguments.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<std::string> kReaderDatabaseType{
    "db_type", "leveldb", kDatabaseType.doc, kKnownDatabaseType};
inline constexpr ArgumentSpec<int> kNumShards{"num_shards", 1,
                                              "number of readers that share the database"};
inline constexpr ArgumentSpec<int> kShardId{"shard_id", 0, "index of this reader, from 0"};
// Arguments of this library, not of Caffe2.
inline constexpr ArgumentSpec<int64_t> kBlock{
    "block", 0,
    "0: the readers divide each epoch; else they divide blocks of so many records of the endless "
    "sequence of all epochs (an argument of this library, not of Caffe2)",
    {[](int64_t block) { return block >= 0; }, "at least 0"}};
inline constexpr ArgumentSpec<int64_t> kFirstBlock{
    "first_block", 0, "with block: the block at which the readers begin",
    {[](int64_t block) { return block >= 0; }, "at least 0"}};
inline constexpr ArgumentSpec<bool> kShuffle{"shuffle", false,
                                             "1: read the records of each epoch in a random order "
                                             "of its own (an argument of this library, not "
                                             "of Caffe2)"};
inline constexpr ArgumentSpec<int64_t> kShuffleSeed{
    "shuffle_seed", 0, "with shuffle: determines the order, together with the number of the epoch"};

template <class Context>
class CreateDBOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  CreateDBOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        db_type_(this->ReadArgument(kReaderDatabaseType)),
        db_name_(this->ReadArgument(kDatabasePath)),
        options_{.num_shards = this->ReadArgument(kNumShards),
                 .shard_id = this->ReadArgument(kShardId),
                 .shuffle = this->ReadArgument(kShuffle),
                 .shuffle_seed = static_cast<uint64_t>(this->ReadArgument(kShuffleSeed)),
                 .block = this->ReadArgument(kBlock),
                 .first_block = this->ReadArgument(kFirstBlock)} {}

  bool RunOnDevice() override {
    const std::string path = this->workspace()->file_access().CheckRead(db_name_);
    OperatorBase::Output<db::DBReader>(0)->Open(db_type_, path, options_);
    return true;
  }

 private:
  const std::string db_type_;
  const std::string db_name_;
  const db::DBReaderOptions options_;
};

}  // namespace caffe2rt
