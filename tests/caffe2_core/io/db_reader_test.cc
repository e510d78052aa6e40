// Positions, epochs, shards and shuffled orders of DBReader.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2rt/db_reader.pb.h"
#include "tests/caffe2_core/io/records.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::db_reader_test {
namespace {

using db::DBReader;
using db::DBReaderOptions;
using db::DBReaderPosition;
using ::testing::ElementsAre;
using Keys = std::vector<std::string>;

// Records "a", "b" and so on, which every type of database accepts.
Records Letters(int count) {
  Records records;
  for (int i = 0; i < count; ++i) {
    TensorProto tensor;
    tensor.set_name(std::string(1, static_cast<char>('a' + i)));
    records[tensor.name()] = tensor.SerializeAsString();
  }
  return records;
}

Keys ReadKeys(const DBReader& reader, int count) {
  Keys keys;
  db::DBRecord record;
  for (int i = 0; i < count; ++i) {
    reader.Read(&record);
    keys.push_back(record.key);
  }
  return keys;
}

std::string Text(const DBReaderPosition& position) {
  return MakeString(position.epoch, ":", position.record);
}

class DBReaderTest : public testing::TestWithParam<const char*> {
 protected:
  void Write(int count) { Put(type_, path_, db::NEW, Letters(count)); }
  const std::string type_ = GetParam();
  const TempDir dir_;
  const std::string path_ = dir_.path("db");
};

TEST_P(DBReaderTest, CountsEpochsAndRecords) {
  Write(5);
  const DBReader reader(type_, path_, 2, 1);  // b, d
  Keys positions;
  db::DBRecord record;
  for (int i = 0; i < 5; ++i) {
    positions.push_back(Text(reader.position()));
    reader.Read(&record);
    positions.back() += record.key + Text(record.position);
  }
  EXPECT_THAT(positions, ElementsAre("0:0b0:0", "0:1d0:1", "1:0b1:0", "1:1d1:1", "2:0b2:0"));
  reader.SeekToFirst();
  EXPECT_EQ(reader.position(), DBReaderPosition());
}

// What three readers of blocks of 4 read together is what one reader reads, also where 5 records an epoch
// divide neither by 3 nor by 4.
TEST_P(DBReaderTest, DividesTheEndlessSequenceInBlocks) {
  Write(5);
  for (const bool shuffle : {false, true}) {
    const DBReader whole(type_, path_, DBReaderOptions{.shuffle = shuffle, .shuffle_seed = 3});
    const Keys all = ReadKeys(whole, 40);
    for (const int64_t first : {0, 2}) {
      Keys together(40);
      for (int shard = 0; shard < 3; ++shard) {
        const DBReader reader(type_, path_,
                              DBReaderOptions{.num_shards = 3,
                                              .shard_id = shard,
                                              .shuffle = shuffle,
                                              .shuffle_seed = 3,
                                              .block = 4,
                                              .first_block = first});
        for (int64_t block = first; block < 10; ++block) {
          for (int64_t i = shard; i < 4; i += 3)
            together[static_cast<size_t>(4 * block + i)] = ReadKeys(reader, 1)[0];
        }
        // The next one is the first of block 10, and 40 records are 8 epochs.
        EXPECT_EQ(Text(reader.position()), MakeString("8:", shard));
      }
      EXPECT_EQ(Keys(together.begin() + 4 * first, together.end()),
                Keys(all.begin() + 4 * first, all.end()));
    }
  }
}

TEST_P(DBReaderTest, ContinuesInABlock) {
  Write(5);
  const DBReader reader(type_, path_, DBReaderOptions{.num_shards = 2, .shard_id = 1, .block = 3});
  (void)ReadKeys(reader, 4);
  const DBReader again(reader.ToProto("reader"));
  EXPECT_EQ(again.position(), reader.position());
  EXPECT_EQ(ReadKeys(again, 7), ReadKeys(reader, 7));
}

TEST_P(DBReaderTest, ABlockHasARecordForEachShard) {
  Write(5);
  ExpectThrows([&] { DBReader(type_, path_, DBReaderOptions{.num_shards = 3, .block = 2}); },
               "num_shards 3, block 2");
}

TEST_P(DBReaderTest, CountsTheRecordsOfAnEpoch) {
  Write(5);
  struct Row {
    int num_shards, shard_id, records;
  };
  for (const Row& row : {Row{1, 0, 5}, {2, 0, 3}, {2, 1, 2}, {3, 1, 2}, {3, 2, 1}, {5, 4, 1}}) {
    for (const bool shuffle : {false, true}) {
      const DBReader reader(type_, path_,
                            DBReaderOptions{row.num_shards, row.shard_id, shuffle, 1});
      EXPECT_EQ(reader.NumRecords(), row.records) << row.num_shards << " " << row.shard_id;
    }
  }
}

// The orders were worked out with NumPy's generator from the definition: Fisher and Yates' shuffle,
// driven by mt19937 with the lower half of SplitMix64's mix of seed and epoch.
TEST_P(DBReaderTest, ShufflesEachEpoch) {
  Write(5);
  const DBReader reader(type_, path_, DBReaderOptions{.shuffle = true, .shuffle_seed = 7});
  EXPECT_THAT(ReadKeys(reader, 5), ElementsAre("c", "a", "e", "b", "d"));
  EXPECT_THAT(ReadKeys(reader, 5), ElementsAre("d", "a", "e", "c", "b"));
  EXPECT_THAT(ReadKeys(reader, 5), ElementsAre("b", "e", "c", "a", "d"));
  EXPECT_EQ(Text(reader.position()), "3:0");
  reader.SeekToFirst();
  EXPECT_THAT(ReadKeys(reader, 2), ElementsAre("c", "a"));
  const DBReader other(type_, path_, DBReaderOptions{.shuffle = true, .shuffle_seed = 8});
  EXPECT_NE(ReadKeys(other, 10), (Keys{"c", "a", "e", "b", "d", "d", "a", "e", "c", "b"}));
}

TEST_P(DBReaderTest, ShardsDivideTheShuffledOrder) {
  Write(5);
  DBReaderOptions options{.num_shards = 2, .shuffle = true, .shuffle_seed = 7};
  const DBReader even(type_, path_, options);
  options.shard_id = 1;
  const DBReader odd(type_, path_, options);
  EXPECT_THAT(ReadKeys(even, 5), ElementsAre("c", "e", "d", "d", "e"));
  EXPECT_THAT(ReadKeys(odd, 4), ElementsAre("a", "b", "a", "c"));
}

TEST_P(DBReaderTest, ReopensWhereItStood) {
  Write(5);
  for (const bool shuffle : {false, true}) {
    for (const int shards : {1, 2}) {
      const DBReader reader(type_, path_, DBReaderOptions{shards, shards - 1, shuffle, 3});
      for (int i = 0; i < 12; ++i) {
        Blob saved, restored;
        SCOPED_TRACE(MakeString("shuffle ", shuffle, ", shards ", shards, ", record ", i));
        const DBReaderProto proto = reader.ToProto("r");
        const DBReader again(proto), third(proto);
        EXPECT_EQ(again.position(), reader.position());
        EXPECT_EQ(proto.key(), ReadKeys(third, 1)[0]);
        EXPECT_EQ(ReadKeys(again, 1), ReadKeys(reader, 1));
        EXPECT_EQ(again.ToProto("r").SerializeAsString(), reader.ToProto("r").SerializeAsString());
      }
    }
  }
}

TEST_P(DBReaderTest, IsSerializedWithItsPosition) {
  Write(5);
  Blob blob, restored;
  blob.GetMutable<DBReader>()->Open(type_, path_,
                                    DBReaderOptions{.shuffle = true, .shuffle_seed = 7});
  ReadKeys(blob.Get<DBReader>(), 6);
  DeserializeBlob(SerializeBlob(blob, "r"), &restored);
  EXPECT_EQ(Text(restored.Get<DBReader>().position()), "1:1");
  EXPECT_THAT(ReadKeys(restored.Get<DBReader>(), 4), ElementsAre("a", "e", "c", "b"));
}

TEST_P(DBReaderTest, RejectsADatabaseThatHasChanged) {
  Write(5);
  const DBReader plain(type_, path_);
  ReadKeys(plain, 3);
  const DBReader shuffled(type_, path_, DBReaderOptions{.shuffle = true, .shuffle_seed = 7});
  ReadKeys(shuffled, 3);
  DBReaderProto of_plain = plain.ToProto("r"), of_shuffled = shuffled.ToProto("r");
  Records others = Letters(3);
  const std::string path = dir_.path("other");
  Put(type_, path, db::NEW, others);
  of_plain.set_source(path);
  of_shuffled.set_source(path);
  ExpectThrows([&] { DBReader{of_plain}; }, "with the key \"d\"; there is no such record");
  ExpectThrows([&] { DBReader{of_shuffled}; }, "which has 3 records now");
}

TEST_P(DBReaderTest, RejectsAPositionThatDoesNotExist) {
  Write(5);
  for (const bool shuffle : {false, true}) {
    const DBReader reader(type_, path_, DBReaderOptions{.shuffle = shuffle});
    DBReaderState state;
    ASSERT_TRUE(state.ParseFromString(reader.ToProto("r").SerializeAsString()));
    state.clear_key();
    for (const auto& [epoch, record] : std::vector<std::pair<int64_t, int64_t>>{
             {0, 5}, {0, -1}, {-1, 0}, {INT64_MAX, 0}, {0, INT64_MAX}}) {
      state.set_epoch(epoch);
      state.set_record(record);
      DBReaderProto proto;
      ASSERT_TRUE(proto.ParseFromString(state.SerializeAsString()));
      ExpectThrows([&] { DBReader{proto}; }, "there is no such record");
    }
  }
}

TEST_P(DBReaderTest, ReportsAnEmptyDatabase) {
  db::CreateDB(type_, path_, db::NEW)->Close();
  for (const bool shuffle : {false, true}) {
    const DBReader reader(type_, path_, DBReaderOptions{.shuffle = shuffle});
    EXPECT_EQ(reader.NumRecords(), 0);
    ExpectThrows([&] { ReadKeys(reader, 1); }, "has no records");
    EXPECT_EQ(DBReader(reader.ToProto("r")).position(), DBReaderPosition());
  }
}

INSTANTIATE_TEST_SUITE_P(Types, DBReaderTest,
                         testing::Values("minidb", "leveldb", "lmdb", "protodb"));

TEST(MiniDBReaderTest, DistinguishesRecordsWithTheSameKey) {
  const TempDir dir;
  {
    const auto database = db::CreateDB("minidb", dir.path("m"), db::NEW);
    const auto transaction = database->NewTransaction();
    for (const char* const value : {"1", "2", "3"}) transaction->Put("k", value);
  }
  const DBReader reader("minidb", dir.path("m"));
  ReadKeys(reader, 2);
  std::string key, value;
  DBReader(reader.ToProto("r")).Read(&key, &value);
  EXPECT_EQ(value, "3");
}

// A database of a user's, whose cursors can only go forward.
class ForwardDB final : public db::DB {
 public:
  using DB::DB;
  void Close() override {}
  std::unique_ptr<db::Cursor> NewCursor() override { return std::make_unique<ForwardCursor>(); }
  std::unique_ptr<db::Transaction> NewTransaction() override { return nullptr; }

 private:
  class ForwardCursor final : public db::Cursor {
   public:
    void Seek(const std::string&) override { CAFFE_THROW("no seek"); }
    void SeekToFirst() override { at_ = 0; }
    void Next() override { ++at_; }
    bool Valid() override { return at_ < 3; }
    std::string key() override { return std::to_string(at_); }
    std::string value() override { return "v"; }

   private:
    int at_ = 0;
  };
};
REGISTER_CAFFE2_DB(forward_only, ForwardDB);

TEST(ForwardDBReaderTest, ReadsButDoesNotShuffleOrCount) {
  const DBReader reader("forward_only", "x");
  EXPECT_THAT(ReadKeys(reader, 4), ElementsAre("0", "1", "2", "0"));
  EXPECT_THAT(ReadKeys(DBReader(reader.ToProto("r")), 2), ElementsAre("1", "2"));
  ExpectThrows([&] { (void)reader.NumRecords(); }, "cannot seek");
  ExpectThrows([&] { DBReader("forward_only", "x", DBReaderOptions{.shuffle = true}); },
               "cannot shuffle database \"x\" of type forward_only: its cursors cannot seek");
}

// The key of a state is that of the next record. Without one, the reader begins at the first.
TEST(DBReaderStateTest, HasAKeyIfThereIsANextRecord) {
  const TempDir dir;
  dir.Write("empty", "");
  DBReaderProto state = DBReader("minidb", dir.path("empty")).ToProto("r");
  EXPECT_FALSE(state.has_key());
  EXPECT_EQ(state.source(), dir.path("empty"));
  EXPECT_EQ(state.db_type(), "minidb");
  {
    const auto database = db::CreateDB("minidb", dir.path("empty"), db::WRITE);
    database->NewTransaction()->Put("k", "v");
  }
  std::string key, value;
  DBReader(state).Read(&key, &value);
  EXPECT_EQ(key, "k");
  state = DBReader("minidb", dir.path("empty")).ToProto("r");
  EXPECT_EQ(state.key(), "k");
}

}  // namespace
}  // namespace caffe2rt::test::db_reader_test
