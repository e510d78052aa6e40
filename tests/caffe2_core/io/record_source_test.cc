// What a reader returns from a database with damage, by a database in memory whose damage is
// chosen.
#include <gtest/gtest.h>

#include <set>

#include "caffe2_core/io/db.h"
#include "caffe2_core/io/records_ahead.h"
#include "caffe2rt/db_reader.pb.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::record_source_test {
namespace {

using db::DBReader;
using db::DBReaderOptions;

// The records of all databases of this test: "r0" to "r5". Moving onto a torn one throws, reading a
// broken one, too.
struct Script {
  std::set<int> torn, broken;
  bool goes_on = true;  // the cursor stands behind the damage after the error
  bool seeks = false;
  int records = 6;
  int gone = -1;  // Seek goes to the record behind it
  int keyless = -1;  // its key cannot be read
};
Script script;

class ScriptedCursor final : public db::Cursor {
 public:
  bool SupportsSeek() override { return script.seeks; }
  void Seek(const std::string& key) override {
    at_ = key[1] - '0';
    if (at_ == script.gone) ++at_;
  }
  void SeekToFirst() override { at_ = 0; }
  bool IsBehindDamage() override { return script.goes_on; }
  void Next() override {
    if (!script.torn.contains(++at_)) return;
    const int torn = script.goes_on ? at_++ : at_--;
    CAFFE_THROW("record r", torn, " is torn");
  }
  bool Valid() override { return at_ < script.records; }
  std::string key() override {
    if (at_ == script.keyless) CAFFE_THROW("its key is torn");
    return MakeString("r", at_);
  }
  std::string value() override {
    if (script.broken.contains(at_)) CAFFE_THROW("its checksum is wrong");
    return MakeString("v", at_);
  }

 private:
  int at_ = 0;
};

class ScriptedDB final : public db::DB {
 public:
  using DB::DB;
  void Close() override {}
  std::unique_ptr<db::Cursor> NewCursor() override { return std::make_unique<ScriptedCursor>(); }
  std::unique_ptr<db::Transaction> NewTransaction() override { return nullptr; }
};
REGISTER_CAFFE2_DB(scripted, ScriptedDB);

// The next record as "epoch:record key value", or the first line of the error in brackets.
std::string Next(const DBReader& reader) {
  db::DBRecord record;
  try {
    reader.Read(&record);
  } catch (const EnforceNotMet& error) {
    const std::string message = error.message();
    return "[" + message.substr(0, message.find('\n')) + "]";
  }
  return MakeString(record.position.epoch, ":", record.position.record, " ", record.key, " ",
                    record.value);
}
std::vector<std::string> Read(const DBReader& reader, int count) {
  std::vector<std::string> records;
  for (int i = 0; i < count; ++i) records.push_back(Next(reader));
  return records;
}
using Texts = std::vector<std::string>;

class RecordSourceTest : public ::testing::Test {
 protected:
  RecordSourceTest() { script = Script(); }
};

TEST_F(RecordSourceTest, ReportsATornRecordOnceAndGoesOnBehindIt) {
  script.torn = {2};
  const DBReader reader("scripted", "db");
  const std::string error =
      "[behind record \"r1\" of database \"db\" of type scripted: record r2 is torn]";
  const Texts epoch = {"r0 v0", "r1 v1", error, "r3 v3", "r4 v4", "r5 v5"};
  Texts want;
  for (int i = 0; i < 12; ++i) {
    const std::string& record = epoch[static_cast<size_t>(i % 6)];
    want.push_back(record == error ? error : MakeString(i / 6, ":", i % 6, " ", record));
  }
  EXPECT_EQ(Read(reader, 12), want);
}

TEST_F(RecordSourceTest, ATornLastRecordEndsTheEpoch) {
  script.torn = {5};
  const DBReader reader("scripted", "db");
  const std::string error =
      "[behind record \"r4\" of database \"db\" of type scripted: record r5 is torn]";
  EXPECT_EQ(Read(reader, 7), (Texts{"0:0 r0 v0", "0:1 r1 v1", "0:2 r2 v2", "0:3 r3 v3", "0:4 r4 v4",
                                    error, "1:0 r0 v0"}));
}

// Behind the damage, shards read what is left, and no record twice.
TEST_F(RecordSourceTest, ShardsTakeTurnsAgainBehindATornRecord) {
  script.torn = {2};
  const std::string end = "\" of database \"db\" of type scripted: record r2 is torn]";
  const auto read = [](int shards, int shard, int count) {
    return Read(
        DBReader("scripted", "db", DBReaderOptions{.num_shards = shards, .shard_id = shard}),
        count);
  };
  EXPECT_EQ(read(2, 0, 5), (Texts{"0:0 r0 v0", "[behind record \"r0" + end, "0:2 r3 v3",
                                  "0:3 r5 v5", "1:0 r0 v0"}));
  EXPECT_EQ(read(2, 1, 4),
            (Texts{"0:0 r1 v1", "[behind record \"r1" + end, "0:2 r4 v4", "1:0 r1 v1"}));
  // What is left behind the second damage starts with the first shard again: r4, r5 and r6.
  script.torn = {1, 3};
  script.records = 7;
  const Texts first = read(2, 0, 6);
  EXPECT_EQ(first[2], "0:2 r2 v2");
  EXPECT_EQ(first[4], "0:4 r4 v4");
  EXPECT_EQ(first[5], "0:5 r6 v6");
}

TEST_F(RecordSourceTest, RepeatsTheErrorOfACursorThatCannotGoOn) {
  script.torn = {2};
  script.goes_on = false;
  const DBReader reader("scripted", "db");
  const std::string error =
      "[behind record \"r1\" of database \"db\" of type scripted: record r2 is torn]";
  EXPECT_EQ(Read(reader, 4), (Texts{"0:0 r0 v0", "0:1 r1 v1", error, error}));
  reader.SeekToFirst();
  EXPECT_EQ(Read(reader, 3), (Texts{"0:0 r0 v0", "0:1 r1 v1", error}));
}

// The shards of blocks would part if one of them went on.
TEST_F(RecordSourceTest, AReaderInBlocksStopsAtATornRecord) {
  script.seeks = true;
  const DBReader reader("scripted", "db",
                        DBReaderOptions{.num_shards = 2, .shard_id = 1, .block = 4});
  script.torn = {2};
  const std::string error =
      "[behind record \"r1\" of database \"db\" of type scripted: record r2 is torn]";
  EXPECT_EQ(Read(reader, 3), (Texts{"0:1 r1 v1", error, error}));
}

TEST_F(RecordSourceTest, ABrokenValueIsReportedInItsPlace) {
  script.broken = {1};
  EXPECT_EQ(Read(DBReader("scripted", "db"), 3),
            (Texts{"0:0 r0 v0",
                   "[record \"r1\", number 1 of epoch 0 of database \"db\" of type scripted: its "
                   "checksum is wrong]",
                   "0:2 r2 v2"}));
  EXPECT_EQ(Read(DBReader("scripted", "db", DBReaderOptions{.num_shards = 2, .shard_id = 1}), 2),
            (Texts{"[record \"r1\", number 0 of epoch 0 of database \"db\" of type scripted: its "
                   "checksum is wrong]",
                   "0:1 r3 v3"}));
}

// A database whose cursors cannot seek is read up to the record of the position.
TEST_F(RecordSourceTest, ReopensByReadingUpToTheRecord) {
  for (const bool with_record : {false, true}) {
    const DBReader reader("scripted", "db", DBReaderOptions{.num_shards = 2, .shard_id = 1});
    EXPECT_EQ(Read(reader, 2), (Texts{"0:0 r1 v1", "0:1 r3 v3"}));
    DBReaderState state;
    ASSERT_TRUE(state.ParseFromString(reader.ToProto("r").SerializeAsString()));
    EXPECT_EQ(state.key(), "r5");
    if (!with_record) {
      // A proto of Caffe2 has the key alone, and counts from there.
      state.clear_epoch();
      state.clear_record();
      state.set_num_shards(1);
      state.set_shard_id(0);
    }
    DBReaderProto proto;
    ASSERT_TRUE(proto.ParseFromString(state.SerializeAsString()));
    const DBReader again(proto);
    EXPECT_EQ(Read(again, 2),
              with_record ? (Texts{"0:2 r5 v5", "1:0 r1 v1"}) : (Texts{"0:5 r5 v5", "1:0 r0 v0"}));
  }
}

// A proto of Caffe2 has no more than the key, to which a cursor that can seek goes at once.
TEST_F(RecordSourceTest, AKeyAloneIsSought) {
  script.seeks = true;
  script.torn = {2};  // is not passed
  DBReaderProto proto;
  proto.set_name("r");
  proto.set_db_type("scripted");
  proto.set_source("db");
  proto.set_key("r3");
  const DBReader reader(proto);
  db::DBRecord record;
  reader.Read(&record);
  EXPECT_EQ(record.key, "r3");
  reader.Read(&record);
  EXPECT_EQ(record.value, "v4");
}

TEST_F(RecordSourceTest, BlocksBeginAgainAndNeedARecord) {
  script.seeks = true;
  const DBReader reader("scripted", "db",
                        DBReaderOptions{.num_shards = 2, .shard_id = 1, .block = 4});
  const Texts first = Read(reader, 5);
  EXPECT_EQ(first, (Texts{"0:1 r1 v1", "0:3 r3 v3", "0:5 r5 v5", "1:1 r1 v1", "1:3 r3 v3"}));
  reader.SeekToFirst();
  EXPECT_EQ(Read(reader, 5), first);
  EXPECT_EQ(reader.NumRecords(), 6);
  script.records = 0;
  const DBReader none("scripted", "db", DBReaderOptions{.block = 2});
  EXPECT_EQ(Next(none), "[database \"db\" of type scripted has no records]");
  EXPECT_EQ(none.position(), (db::DBReaderPosition{0, 0}));
}

TEST_F(RecordSourceTest, AShuffledShardNeedsARecord) {
  script.seeks = true;
  script.records = 2;
  ExpectThrows(
      [] {
        DBReader("scripted", "db",
                 DBReaderOptions{.num_shards = 3, .shard_id = 2, .shuffle = true});
      },
      "the database has 2 records, want more than 2: the shard id");
  const DBReader last("scripted", "db",
                      DBReaderOptions{.num_shards = 2, .shard_id = 1, .shuffle = true});
  EXPECT_EQ(last.NumRecords(), 1);
}

TEST_F(RecordSourceTest, NamesAKeyThatIsNotThere) {
  const DBReader reader("scripted", "db");
  DBReaderProto proto;
  proto.set_name("r");
  proto.set_db_type("scripted");
  proto.set_source("db");
  proto.set_key("r9");
  ExpectThrows([&] { DBReader{proto}; },
               "reader \"r\" stood at the record with the key \"r9\", which database \"db\" of "
               "type scripted does "
               "not contain");
}

TEST_F(RecordSourceTest, DamageBeforeThePlaceIsReportedByTheNextRead) {
  const DBReader reader("scripted", "db");
  (void)Read(reader, 4);
  const DBReaderProto proto = reader.ToProto("r");
  script.torn = {2};
  const DBReader again(proto);
  EXPECT_EQ(Next(again),
            "[before record 4 of database \"db\" of type scripted: record r2 is torn]");
}

TEST_F(RecordSourceTest, AShardNeedsARecord) {
  script.records = 2;
  EXPECT_EQ(Read(DBReader("scripted", "db", DBReaderOptions{.num_shards = 3, .shard_id = 1}), 2),
            (Texts{"0:0 r1 v1", "1:0 r1 v1"}));
  ExpectThrows([] { DBReader("scripted", "db", DBReaderOptions{.num_shards = 3, .shard_id = 2}); },
               "the database has 2 records, want more than 2: the shard id");
  ExpectThrows([] { DBReader("scripted", "db", DBReaderOptions{.num_shards = 2, .shard_id = 2}); },
               "shard_id of a DBReader is 2, want at least 0 and less than num_shards 2");
  script.records = 0;
  EXPECT_EQ(Next(DBReader("scripted", "db")), "[database \"db\" of type scripted has no records]");
}

TEST_F(RecordSourceTest, RejectsOptionsThatDoNotFit) {
  const auto open = [](const DBReaderOptions& options) {
    return [options] { DBReader("scripted", "db", options); };
  };
  const std::string shard = "shard_id of a DBReader is ", block = "a DBReader has num_shards ";
  const std::string one_each = ": a block has at least one record for each shard";
  const int64_t most = INT64_MAX / 4 / 8;
  ExpectRefusals({
      {open({.num_shards = 0}), "num_shards of a DBReader: got 0, want at least 1"},
      {open({.num_shards = -2}), "num_shards of a DBReader: got -2, want at least 1"},
      {open({.num_shards = 2, .shard_id = -1}),
       shard + "-1, want at least 0 and less than num_shards 2"},
      {open({.num_shards = 2, .shard_id = 2}),
       shard + "2, want at least 0 and less than num_shards 2"},
      {open({.num_shards = 3, .block = 2}), block + "3, block 2 and first_block 0" + one_each},
      {open({.block = -1}), block + "1, block -1 and first_block 0" + one_each},
      {open({.block = 8, .first_block = -1}), block + "1, block 8 and first_block -1" + one_each},
      {open({.block = 8, .first_block = most}),
       MakeString(block, "1, block 8 and first_block ", most, one_each)},
      {open({.shuffle = true}),
       "cannot shuffle database \"db\" of type scripted: its cursors cannot seek; want a minidb, "
       "leveldb, lmdb or protodb"},
      {open({.block = 8}),
       "cannot count the records of database \"db\" of type scripted: its cursors cannot seek"},
  });
  script.seeks = true;
  // The last block that is accepted: its first record in the sequence of all epochs.
  const int64_t first = (most - 1) * 8;
  const DBReader last("scripted", "db", {.block = 8, .first_block = most - 1});
  EXPECT_EQ(last.position(), (db::DBReaderPosition{first / 6, first % 6}));
  const DBReader equal("scripted", "db", {.num_shards = 3, .shard_id = 2, .block = 3});
  EXPECT_EQ(Read(equal, 3), (Texts{"0:2 r2 v2", "0:5 r5 v5", "1:2 r2 v2"}));
}

TEST_F(RecordSourceTest, NamesWhereTheRecordsCannotBeCounted) {
  script.seeks = true;
  script.torn = {3};
  const std::string torn = "record r3 is torn";
  EXPECT_EQ(
      MessageOf([] { DBReader("scripted", "db", DBReaderOptions{.shuffle = true}); }),
      "counting the records of database \"db\" of type scripted, behind record 2 \"r2\": " + torn);
  const DBReader reader("scripted", "db");
  EXPECT_EQ(
      MessageOf([&] { (void)reader.NumRecords(); }),
      "counting the records of database \"db\" of type scripted, behind record 2 \"\": " + torn);
  script.torn = {};
  EXPECT_EQ(reader.NumRecords(), 6);
  script.records = 4;
  EXPECT_EQ(reader.NumRecords(), 6);  // counted once
}

TEST_F(RecordSourceTest, AShuffledRecordThatIsGoneIsReportedInItsPlace) {
  script.seeks = true;
  const DBReader reader("scripted", "db", DBReaderOptions{.shuffle = true, .shuffle_seed = 7});
  const Texts whole = Read(reader, 6);
  reader.SeekToFirst();
  script.records = 5;  // r5 is not there any more
  const Texts less = Read(reader, 6);
  for (size_t i = 0; i < 6; ++i) {
    if (whole[i].ends_with("r5 v5")) {
      EXPECT_EQ(less[i],
                MakeString("[record \"\", number ", i,
                           " of epoch 0 of database \"db\" of type scripted: record \"r5\" is "
                           "no longer found]"));
    } else {
      EXPECT_EQ(less[i], whole[i]);
    }
  }
}

TEST_F(RecordSourceTest, NamesAnotherRecordInThePlaceOfThatOfAProto) {
  const DBReader reader("scripted", "db");
  (void)Read(reader, 2);
  DBReaderProto proto = reader.ToProto("r");
  EXPECT_EQ(proto.key(), "r2");
  proto.set_key("r3");
  EXPECT_EQ(
      MessageOf([&] { DBReader{proto}; }),
      "a reader stood at record 2 of database \"db\" of type scripted, with the key \"r3\"; the "
      "record there has the key \"r2\": the database has changed");
  script.records = 1;
  proto.set_key("r2");
  EXPECT_EQ(MessageOf([&] { DBReader{proto}; }),
            "a reader stood at record 2 of database \"db\" of type scripted, with the key \"r2\"; "
            "there is no such record: the database has changed");
}

TEST_F(RecordSourceTest, AProtoHasTheOptionsThatAreSet) {
  script.seeks = true;
  const auto state_of = [](const DBReaderOptions& options, int records) {
    const DBReader reader("scripted", "db", options);
    (void)Read(reader, records);
    DBReaderState state;
    EXPECT_TRUE(state.ParseFromString(reader.ToProto("r").SerializeAsString()));
    return state;
  };
  const DBReaderState plain = state_of({}, 7);
  EXPECT_EQ(plain.name(), "r");
  EXPECT_EQ(plain.source(), "db");
  EXPECT_EQ(plain.db_type(), "scripted");
  EXPECT_EQ(plain.key(), "r1");
  EXPECT_EQ(plain.num_shards(), 1);
  EXPECT_EQ(plain.shard_id(), 0);
  EXPECT_EQ(plain.epoch(), 1);
  EXPECT_EQ(plain.record(), 1);
  EXPECT_FALSE(plain.has_block() || plain.has_shuffle() || plain.has_shuffle_seed() ||
               plain.has_num_records());
  const DBReaderState all =
      state_of({.num_shards = 2, .shard_id = 1, .shuffle = true, .shuffle_seed = 9, .block = 4}, 3);
  EXPECT_EQ(all.num_shards(), 2);
  EXPECT_EQ(all.shard_id(), 1);
  EXPECT_EQ(all.block(), 4);
  EXPECT_TRUE(all.shuffle());
  EXPECT_EQ(all.shuffle_seed(), 9u);
  EXPECT_EQ(all.num_records(), 6);
  // Blocks of a record each.
  const DBReaderState ones = state_of({.block = 1, .first_block = 2}, 5);
  EXPECT_TRUE(ones.has_block());
  EXPECT_EQ(ones.block(), 1);
  EXPECT_EQ(ones.epoch(), 1);
  EXPECT_EQ(ones.record(), 1);
  EXPECT_EQ(ones.key(), "r1");
  // Records 1, 3 and 5 of the sequence are read, and 7 is the next one.
  EXPECT_EQ(all.epoch(), 1);
  EXPECT_EQ(all.record(), 1);
}

TEST_F(RecordSourceTest, AShuffledOrderIsThatOfItsNumberOfRecords) {
  script.seeks = true;
  const DBReader reader("scripted", "db", DBReaderOptions{.shuffle = true, .shuffle_seed = 1});
  const DBReaderProto proto = reader.ToProto("r");
  EXPECT_EQ(Next(DBReader(proto)), Next(reader));
  script.records = 5;
  EXPECT_EQ(MessageOf([&] { DBReader{proto}; }),
            "reader \"r\" read database \"db\" with 6 records in a shuffled order, which has 5 "
            "records now: the order is another one");
}

TEST_F(RecordSourceTest, ReportsReadersThatAreNotOpen) {
  const DBReader none;
  std::string key, value;
  db::DBRecord record;
  const std::string want = "Reader not initialized.";
  const DBReader reader("scripted", "db");
  ExpectRefusals({
      {[&] { none.Read(&key, &value); }, want},
      {[&] { none.Read(&record); }, want},
      {[&] { none.SeekToFirst(); }, want},
      {[&] { (void)none.position(); }, want},
      {[&] { (void)none.NumRecords(); }, want},
      {[&] { reader.Read(nullptr, &value); }, "argument key or value of Read is null"},
      {[&] { reader.Read(&key, nullptr); }, "argument key or value of Read is null"},
      {[&] { reader.Read(nullptr); }, "argument record of Read is null"},
      {[&] { DBReader(std::unique_ptr<db::DB>()); }, "a DBReader needs a database, got null"},
  });
  EXPECT_EQ(none.cursor(), nullptr);
  EXPECT_FALSE(none.IsOpen());
  EXPECT_TRUE(reader.IsOpen());
  const DBReaderProto proto = none.ToProto("n");
  EXPECT_EQ(proto.name(), "n");
  EXPECT_FALSE(proto.has_key());
  // A database that was opened elsewhere cannot be opened again by its name.
  const DBReader given(db::CreateDB("scripted", "db", db::READ));
  EXPECT_EQ(Read(given, 1), (Texts{"0:0 r0 v0"}));
  EXPECT_FALSE(given.ToProto("g").has_key());
  EXPECT_EQ(given.ToProto("g").source(), "");
  EXPECT_EQ(given.cursor()->key(), "r1");
  script.records = 0;
  EXPECT_EQ(MessageOf([] { DBReader(db::CreateDB("scripted", "x", db::READ)).Read(nullptr); }),
            "argument record of Read is null");
  EXPECT_EQ(Next(DBReader(db::CreateDB("scripted", "x", db::READ))),
            "[the reader's database has no records]");
}

// Where a cursor stands is not known if it cannot read the key: nothing is skipped.
TEST_F(RecordSourceTest, ARecordWhoseKeyCannotBeReadStaysTheNext) {
  const DBReader reader("scripted", "db");
  script.keyless = 1;
  EXPECT_EQ(Read(reader, 3), (Texts{"0:0 r0 v0", "[its key is torn]", "[its key is torn]"}));
  EXPECT_FALSE(reader.ToProto("r").has_key());
  script.keyless = -1;
  EXPECT_EQ(Read(reader, 2), (Texts{"0:1 r1 v1", "0:2 r2 v2"}));
}

TEST_F(RecordSourceTest, RecordsAreReadAheadOnlyWhereTheyCanBeReadAgain) {
  for (const bool seeks : {false, true}) {
    script.seeks = seeks;
    const DBReader reader("scripted", "db");
    db::RecordsAhead ahead;
    ahead.Attach(reader);
    EXPECT_EQ(ahead.Begin(), seeks);
    db::DBRecord record;
    EXPECT_EQ(ahead.Read(&record), seeks);
    ahead.Release();
    EXPECT_EQ(Next(reader), "0:0 r0 v0");
  }
}

// The next record is not read in place of one that is gone.
TEST_F(RecordSourceTest, AShuffledRecordIsNotReplacedByTheNextOne) {
  script.seeks = true;
  const DBReader reader("scripted", "db", DBReaderOptions{.shuffle = true, .shuffle_seed = 3});
  const Texts whole = Read(reader, 6);
  reader.SeekToFirst();
  script.gone = 2;
  const Texts less = Read(reader, 6);
  for (size_t i = 0; i < 6; ++i) {
    if (whole[i].ends_with("r2 v2")) {
      EXPECT_NE(less[i].find("record \"r2\" is no longer found"), std::string::npos) << less[i];
    } else {
      EXPECT_EQ(less[i], whole[i]);
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::record_source_test
