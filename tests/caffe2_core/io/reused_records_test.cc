// Reading into one DBRecord again and again: what a failed read leaves in it, what the message
// names, and which record is the next.
#include <gtest/gtest.h>

#include "caffe2_core/io/db.h"
#include "caffe2_core/io/records_ahead.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::reused_records_test {
namespace {

using db::DBReader;
using db::DBReaderOptions;
using db::DBReaderPosition;
using db::DBRecord;

// The records of all databases of this test: "k0" to "k4". Reading the key or the value of one may
// throw.
struct Faults {
  int key = -1, value = -1;
  bool offsets = false;  // the cursors return by offsets
};
Faults faults;

class FaultyCursor final : public db::Cursor {
 public:
  bool SupportsSeek() override { return true; }
  void Seek(const std::string& key) override { at_ = key[1] - '0'; }
  bool SupportsOffsets() override { return faults.offsets; }
  int64_t Offset() override { return at_; }
  void SeekToOffset(int64_t offset) override { at_ = static_cast<int>(offset); }
  void SeekToFirst() override { at_ = 0; }
  void Next() override { ++at_; }
  bool Valid() override { return at_ < 5; }
  std::string key() override {
    if (at_ == faults.key) CAFFE_THROW("the key is cut");
    return MakeString("k", at_);
  }
  std::string value() override {
    if (at_ == faults.value) CAFFE_THROW("the value is cut");
    return MakeString("v", at_);
  }

 private:
  int at_ = 0;
};

class FaultyDB final : public db::DB {
 public:
  using DB::DB;
  void Close() override {}
  std::unique_ptr<db::Cursor> NewCursor() override { return std::make_unique<FaultyCursor>(); }
  std::unique_ptr<db::Transaction> NewTransaction() override { return nullptr; }
};
REGISTER_CAFFE2_DB(faultyrecords, FaultyDB);

class ReusedRecordsTest : public ::testing::Test {
 protected:
  ReusedRecordsTest() { faults = Faults(); }

  // Reads the record with this number into record_.
  void ExpectRead(const DBReader& reader, int number, const DBReaderPosition& position) {
    reader.Read(&record_);
    EXPECT_EQ(record_.key, MakeString("k", number));
    EXPECT_EQ(record_.value, MakeString("v", number));
    EXPECT_EQ(record_.position, position);
  }
  // Expects a failed read of the record at `position`, whose key becomes `key`.
  void ExpectFailure(const DBReader& reader, const std::string& message, const std::string& key,
                     const DBReaderPosition& position) {
    EXPECT_EQ(MessageOf([&] { reader.Read(&record_); }), message);
    EXPECT_EQ(record_.key, key);
    EXPECT_EQ(record_.position, position);
  }

  DBRecord record_;
};

// Where the cursor stands is not known: the record stays the next.
TEST_F(ReusedRecordsTest, AKeyThatCannotBeReadIsTriedAgain) {
  struct Row {
    DBReaderOptions options;
    DBReaderPosition first, failed, behind;
    int numbers[3];
  };
  const Row rows[] = {
      {{}, {0, 0}, {0, 1}, {0, 2}, {0, 1, 2}},
      {{.num_shards = 2, .shard_id = 1}, {0, 0}, {0, 1}, {1, 0}, {1, 3, 1}},
      {{.num_shards = 2, .block = 4}, {0, 0}, {0, 2}, {0, 4}, {0, 2, 4}},
  };
  for (const Row& row : rows) {
    const DBReader reader("faultyrecords", "db", row.options);
    SCOPED_TRACE(row.numbers[1]);
    ExpectRead(reader, row.numbers[0], row.first);
    faults.key = row.numbers[1];
    for (int i = 0; i < 2; ++i) {
      ExpectFailure(reader, "the key is cut", "", row.failed);
      EXPECT_EQ(reader.position(), row.failed);
    }
    faults.key = -1;
    ExpectRead(reader, row.numbers[1], row.failed);
    ExpectRead(reader, row.numbers[2], row.behind);
  }
}

TEST_F(ReusedRecordsTest, AValueThatCannotBeReadIsPassed) {
  const DBReader reader("faultyrecords", "db");
  ExpectRead(reader, 0, {0, 0});
  faults.value = 1;
  ExpectFailure(reader,
                "record \"k1\", number 1 of epoch 0 of database \"db\" of type faultyrecords: "
                "the value is cut",
                "k1", {0, 1});
  EXPECT_EQ(reader.position(), (DBReaderPosition{0, 2}));
  ExpectRead(reader, 2, {0, 2});
}

// The order is known, so the next record can be read.
TEST_F(ReusedRecordsTest, AShuffledRecordIsPassed) {
  for (const bool offsets : {false, true}) {
    faults = {.offsets = offsets};
    const DBReader reader("faultyrecords", "db", {.shuffle = true, .shuffle_seed = 5});
    std::vector<int> order;
    for (int i = 0; i < 5; ++i) {
      reader.Read(&record_);
      order.push_back(record_.key[1] - '0');
    }
    for (const bool value : {false, true}) {
      SCOPED_TRACE(testing::Message() << offsets << value);
      faults.key = faults.value = -1;
      reader.SeekToFirst();
      for (int i = 0; i < 2; ++i) ExpectRead(reader, order[static_cast<size_t>(i)], {0, i});
      (value ? faults.value : faults.key) = order[2];
      const std::string key = value ? MakeString("k", order[2]) : "";
      ExpectFailure(reader,
                    MakeString("record \"", key,
                               "\", number 2 of epoch 0 of database \"db\" of type "
                               "faultyrecords: the ",
                               value ? "value" : "key", " is cut"),
                    key, {0, 2});
      EXPECT_EQ(reader.position(), (DBReaderPosition{0, 3}));
      ExpectRead(reader, order[3], {0, 3});
      ExpectRead(reader, order[4], {0, 4});
    }
  }
}

// The same through a reader ahead, and for the strings of a caller.
TEST_F(ReusedRecordsTest, OtherWaysToReadFailInTheSameWay) {
  const DBReader reader("faultyrecords", "db");
  db::RecordsAhead ahead;
  ahead.Attach(reader);
  ASSERT_TRUE(ahead.Begin());
  ASSERT_TRUE(ahead.Read(&record_));
  EXPECT_EQ(record_.key, "k0");
  faults.key = 1;
  EXPECT_EQ(MessageOf([&] { (void)ahead.Read(&record_); }), "the key is cut");
  EXPECT_EQ(record_.key, "");
  ahead.Release();

  reader.SeekToFirst();
  std::string key, value;
  reader.Read(&key, &value);
  EXPECT_EQ(MessageOf([&] { reader.Read(&key, &value); }), "the key is cut");
  faults.key = -1;
  reader.Read(&key, &value);
  EXPECT_EQ(key + value, "k1v1");
}

}  // namespace
}  // namespace caffe2rt::test::reused_records_test
