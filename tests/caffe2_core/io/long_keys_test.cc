// Databases of several hundred records with keys so long that a page holds few of them: trees of
// several levels, and all that readers do with them.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "caffe2_core/io/db.h"
#include "caffe2_core/io/lmdb_file.h"
#include "tests/caffe2_core/io/records.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::long_keys_test {
namespace {

using db::Cursor;
using db::DBReader;
using KeysAndValues = std::vector<std::pair<std::string, std::string>>;

constexpr int kRecords = 400;

// In an order of their own; keys differ at their end, and values are from 1 byte to some pages
// long.
KeysAndValues LongRecords(int first, char letter) {
  KeysAndValues records;
  for (int i = 0; i < kRecords; ++i) {
    const int number = first + i * 147 % kRecords * 2;
    std::string key = MakeString(std::string(440, 'k'), 10000 + number);
    records.emplace_back(std::move(key),
                         std::string(static_cast<size_t>(1 + number * number % 5003), letter));
  }
  return records;
}

class LongKeysTest : public ::testing::TestWithParam<const char*> {
 protected:
  bool IsSorted() const { return type_ != "minidb"; }
  void PutAll(db::Mode mode, const KeysAndValues& records) {
    const auto database = db::CreateDB(type_, path_, mode);
    auto transaction = database->NewTransaction();
    for (size_t i = 0; i < records.size(); ++i) {
      transaction->Put(records[i].first, records[i].second);
      if (i == records.size() / 3) transaction->Commit();
    }
    transaction->Commit();
  }
  // What a cursor gives, from the first record to the last.
  KeysAndValues All() {
    const auto database = db::CreateDB(type_, path_, db::READ);
    const auto cursor = database->NewCursor();
    KeysAndValues all;
    for (; cursor->Valid(); cursor->Next()) all.emplace_back(cursor->key(), cursor->value());
    return all;
  }
  KeysAndValues InOrder(KeysAndValues records) const {
    if (IsSorted()) std::sort(records.begin(), records.end());
    return records;
  }
  const std::string type_ = GetParam();
  const TempDir dir_;
  const std::string path_ = dir_.path("db");
};

TEST_P(LongKeysTest, AllRecordsComeInTheirOrder) {
  const KeysAndValues records = LongRecords(0, 'a');
  PutAll(db::NEW, records);
  EXPECT_TRUE(All() == InOrder(records));
  if (type_ == "lmdb") {
    const db::internal::LmdbFile file(path_);
    EXPECT_GE(file.main_tree().depth, 3);
  }
  const DBReader reader(type_, path_);
  EXPECT_EQ(reader.NumRecords(), kRecords);
}

TEST_P(LongKeysTest, CursorsGoToEveryRecordAndOnFromThere) {
  PutAll(db::NEW, LongRecords(0, 'a'));
  const KeysAndValues want = InOrder(LongRecords(0, 'a'));
  const auto database = db::CreateDB(type_, path_, db::READ);
  const auto cursor = database->NewCursor();
  std::vector<int64_t> offsets;
  for (; cursor->Valid(); cursor->Next()) {
    if (cursor->SupportsOffsets()) offsets.push_back(cursor->Offset());
  }
  EXPECT_EQ(offsets.size(), IsSorted() ? 0u : want.size());
  for (size_t step = 0; step < want.size(); ++step) {
    const size_t i = step * 91 % want.size();
    if (IsSorted()) {
      cursor->Seek(want[i].first);
    } else {
      cursor->SeekToOffset(offsets[i]);
    }
    for (size_t k = i; k < std::min(i + 3, want.size()); ++k, cursor->Next()) {
      ASSERT_TRUE(cursor->Valid()) << k;
      ASSERT_TRUE(cursor->key() == want[k].first) << k;
      ASSERT_TRUE(cursor->value() == want[k].second) << k;
    }
    if (!IsSorted()) continue;
    // The numbers of the keys are even: between two of them, the next one follows.
    std::string between = want[i].first;
    ++between.back();
    cursor->Seek(between);
    ASSERT_EQ(cursor->Valid(), i + 1 < want.size());
    if (cursor->Valid()) ASSERT_TRUE(cursor->key() == want[i + 1].first) << i;
  }
  cursor->SeekToFirst();
  EXPECT_TRUE(cursor->key() == want[0].first);
  if (IsSorted()) {
    cursor->Seek("a");
    EXPECT_TRUE(cursor->key() == want[0].first);
    cursor->Seek("z");
    EXPECT_FALSE(cursor->Valid());
  }
}

TEST_P(LongKeysTest, RecordsAreReplacedAndAdded) {
  const KeysAndValues old = LongRecords(0, 'a'), added = LongRecords(1, 'b');
  PutAll(db::NEW, old);
  KeysAndValues changes = added;
  for (size_t i = 0; i < old.size(); i += 3) changes.emplace_back(old[i].first, "new");
  PutAll(db::WRITE, changes);
  if (!IsSorted()) {  // a file of records keeps both
    KeysAndValues want = old;
    want.insert(want.end(), changes.begin(), changes.end());
    EXPECT_TRUE(All() == want);
    return;
  }
  Records want(old.begin(), old.end());
  for (const auto& [key, value] : changes) want[key] = value;
  EXPECT_TRUE(All() == KeysAndValues(want.begin(), want.end()));
  PutAll(db::WRITE, {{"first", "1"}, {"last" + std::string(400, 'z'), "2"}});
  want["first"] = "1";
  want["last" + std::string(400, 'z')] = "2";
  EXPECT_TRUE(All() == KeysAndValues(want.begin(), want.end()));
}

TEST_P(LongKeysTest, ShardsAndShuffledEpochsHaveEveryRecordOnce) {
  const KeysAndValues records = LongRecords(0, 'a');
  PutAll(db::NEW, records);
  const std::set<std::pair<std::string, std::string>> want(records.begin(), records.end());
  for (const bool shuffle : {false, true}) {
    std::set<std::pair<std::string, std::string>> got;
    for (int shard = 0; shard < 3; ++shard) {
      const DBReader reader(
          type_, path_,
          db::DBReaderOptions{.num_shards = 3, .shard_id = shard, .shuffle = shuffle});
      const int64_t count = reader.NumRecords();
      EXPECT_EQ(count, shard == 0 ? 134 : 133);
      for (int64_t i = 0; i < count; ++i) {
        std::pair<std::string, std::string> record;
        reader.Read(&record.first, &record.second);
        got.insert(std::move(record));
      }
      EXPECT_EQ(reader.position().epoch, 1);
    }
    EXPECT_TRUE(got == want) << shuffle;
  }
}

// A reader that is saved goes on at the same record, whatever its order.
TEST_P(LongKeysTest, SavedReadersGoOnWhereTheyStood) {
  PutAll(db::NEW, LongRecords(0, 'a'));
  for (const bool shuffle : {false, true}) {
    for (const int read : {0, 1, 57, 399, 400, 523}) {
      const DBReader reader(type_, path_,
                            db::DBReaderOptions{.shuffle = shuffle, .shuffle_seed = 4});
      std::string key, value, again;
      for (int i = 0; i < read; ++i) reader.Read(&key, &value);
      const DBReader saved(reader.ToProto("r"));
      for (int i = 0; i < 3; ++i) {
        reader.Read(&key, &value);
        saved.Read(&again, &value);
        ASSERT_TRUE(again == key) << read;
        EXPECT_EQ(saved.position(), reader.position());
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, LongKeysTest, testing::Values("minidb", "leveldb", "lmdb"));

}  // namespace
}  // namespace caffe2rt::test::long_keys_test
