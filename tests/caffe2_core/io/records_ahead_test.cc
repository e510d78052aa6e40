#include "caffe2_core/io/records_ahead.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <random>

#include "tests/caffe2_core/io/records.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::records_ahead_test {
namespace {

using db::DBReader;
using db::RecordPlace;
using db::RecordsAhead;

constexpr int kRecords = 7;

class RecordsAheadTest : public testing::TestWithParam<std::tuple<const char*, bool>> {
 protected:
  RecordsAheadTest() {
    Records records;
    for (int i = 0; i < kRecords; ++i) records[MakeString("key", i)] = "v";
    Put(type_, dir_.path("db"), db::NEW, records);
    reader_.Open(type_, dir_.path("db"), options_);
    // What a reader that nobody else uses reads.
    const DBReader alone(type_, dir_.path("db"), options_);
    std::string value;
    for (std::string& key : order_) alone.Read(&key, &value);
  }
  // The keys of the next records in the order of the reader.
  std::string Want(int count) {
    std::string keys;
    for (int i = 0; i < count; ++i) keys += order_[at_++];
    return keys;
  }
  std::string ReadDirectly() {
    std::string key, value;
    reader_.Read(&key, &value);
    return key;
  }
  static std::string ReadNow(RecordsAhead* ahead, int count) {
    std::string keys;
    db::DBRecord record;
    for (int i = 0; i < count; ++i) {
      ahead->ReadNow(&record);
      keys += record.key;
    }
    return keys;
  }
  // Nullopt: what was read ahead is void.
  static std::optional<std::string> ReadAhead(RecordsAhead* ahead, int count) {
    std::string keys;
    db::DBRecord record;
    for (int i = 0; i < count; ++i) {
      if (!ahead->Read(&record)) return std::nullopt;
      keys += record.key;
    }
    return keys;
  }
  void ExpectPosition() {
    EXPECT_EQ(reader_.position().epoch * kRecords + reader_.position().record,
              static_cast<int64_t>(at_));
    DBReader again(reader_.ToProto("r"));
    std::string key, value;
    again.Read(&key, &value);
    EXPECT_EQ(key, order_[at_]);
  }

  const std::string type_ = std::get<0>(GetParam());
  const db::DBReaderOptions options_{.shuffle = std::get<1>(GetParam()), .shuffle_seed = 5};
  const TempDir dir_;
  DBReader reader_;
  std::array<std::string, 4000> order_;
  size_t at_ = 0;
};

TEST_P(RecordsAheadTest, KeepsThePositionOfWhatWasHandedOut) {
  RecordsAhead ahead;
  ahead.Attach(reader_);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(ahead.Begin());
    const auto keys = ReadAhead(&ahead, 3);
    RecordPlace end;
    ahead.End(&end);
    ExpectPosition();
    ASSERT_TRUE(ahead.HandOut(&end));
    EXPECT_EQ(keys, Want(3));
    ExpectPosition();
  }
}

TEST_P(RecordsAheadTest, IsVoidWhenAnotherReads) {
  RecordsAhead ahead;
  ahead.Attach(reader_);
  ASSERT_TRUE(ahead.Begin());
  (void)ReadAhead(&ahead, 3);
  RecordPlace end;
  ahead.End(&end);
  EXPECT_EQ(ReadDirectly(), Want(1));
  EXPECT_FALSE(ahead.HandOut(&end));
  EXPECT_EQ(ReadAhead(&ahead, 1), std::nullopt);
  EXPECT_FALSE(ahead.Begin());  // two share the reader
  EXPECT_EQ(ReadNow(&ahead, 2), Want(2));
  ExpectPosition();
}

TEST_P(RecordsAheadTest, PutsBackWhatItHasReadWhenItEnds) {
  {
    RecordsAhead ahead;
    ahead.Attach(reader_);
    EXPECT_EQ(ReadNow(&ahead, 2), Want(2));
    ASSERT_TRUE(ahead.Begin());
    (void)ReadAhead(&ahead, 4);
  }
  ExpectPosition();
  RecordsAhead next;
  next.Attach(reader_);
  EXPECT_TRUE(next.Begin());  // the reader is not shared
  EXPECT_EQ(ReadAhead(&next, 4), Want(4));
}

TEST_P(RecordsAheadTest, PutsBackWhatItHasReadWhenItTurnsToAnotherReader) {
  const DBReader other(type_, dir_.path("db"), options_);
  RecordsAhead ahead;
  ahead.Attach(reader_);
  ASSERT_TRUE(ahead.Begin());
  (void)ReadAhead(&ahead, 4);
  ahead.Attach(other);
  EXPECT_EQ(ReadDirectly(), Want(1));
  RecordsAhead next;
  next.Attach(reader_);
  EXPECT_TRUE(next.Begin());  // the reader is not shared any more
}

TEST_P(RecordsAheadTest, EndsWithItsReader) {
  RecordsAhead ahead;
  {
    DBReader reader(type_, dir_.path("db"));
    ahead.Attach(reader);
    ASSERT_TRUE(ahead.Begin());
    EXPECT_TRUE(ahead.IsAttachedTo(reader));
    reader.Open(type_, dir_.path("db"));
    EXPECT_FALSE(ahead.IsAttachedTo(reader));
    EXPECT_EQ(ReadAhead(&ahead, 1), std::nullopt);
    ahead.Attach(reader);
    ASSERT_TRUE(ahead.Begin());
  }
  EXPECT_EQ(ReadAhead(&ahead, 1), std::nullopt);
  EXPECT_FALSE(ahead.Begin());
  ExpectThrows([&] { ReadNow(&ahead, 1); }, "has been closed");
  ExpectThrows([&] { ahead.Attach(DBReader()); }, "Reader not initialized");
}

TEST_P(RecordsAheadTest, EndsWhenItsReaderOpensAnotherDatabase) {
  RecordsAhead ahead;
  DBReader reader(type_, dir_.path("db"));
  ahead.Attach(reader);
  ASSERT_TRUE(ahead.Begin());
  reader.Open(db::CreateDB(type_, dir_.path("db"), db::READ));
  EXPECT_EQ(ReadAhead(&ahead, 1), std::nullopt);
  EXPECT_FALSE(ahead.IsAttachedTo(reader));
  // The database that was given has no name by which it could be opened again.
  EXPECT_EQ(reader.ToProto("r").source(), "");
  EXPECT_EQ(reader.ToProto("r").db_type(), "");
  EXPECT_FALSE(reader.ToProto("r").has_key());
  ExpectThrows([&] { reader.Open(type_, dir_.path("absent")); }, "");
  EXPECT_FALSE(reader.IsOpen());
  db::DBRecord record;
  ExpectThrows([&] { reader.Read(&record); }, "Reader not initialized");
}

TEST_P(RecordsAheadTest, NoThreadReadsAheadOfACursor) {
  RecordsAhead ahead;
  ahead.Attach(reader_);
  ASSERT_TRUE(ahead.Begin());
  (void)ReadAhead(&ahead, 2);
  ASSERT_NE(reader_.cursor(), nullptr);
  EXPECT_EQ(ReadAhead(&ahead, 1), std::nullopt);
  EXPECT_FALSE(ahead.Begin());
  EXPECT_EQ(ReadDirectly(), Want(1));  // what was read ahead is put back
  EXPECT_TRUE(ahead.IsAttachedTo(reader_));
  ahead.Release();
  EXPECT_FALSE(ahead.IsAttachedTo(reader_));
  ahead.Release();  // does nothing
}

// Two that read ahead, and others that read from the reader or move it, in any order.
TEST_P(RecordsAheadTest, ReadsEachRecordOnceWhoeverReads) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto below = [&](uint32_t n) { return static_cast<int>(random() % n); };
    reader_.Open(type_, dir_.path("db"), options_);
    at_ = 0;
    for (int life = 0; life < 3; ++life) {
      RecordsAhead readers[2];
      for (RecordsAhead& reader : readers) reader.Attach(reader_);
      for (int step = 0; step < 20; ++step) {
        RecordsAhead& ahead = readers[below(2)];
        const int count = 1 + below(4);
        const int action = below(seed % 3 == 0 ? 12 : 6);
        if (action < 4 && ahead.Begin()) {
          const auto keys = ReadAhead(&ahead, count);
          RecordPlace end;
          ahead.End(&end);
          if (action == 1) {
            EXPECT_EQ(ReadDirectly(), Want(1));
          }
          if (action == 2) continue;  // never handed out
          const bool valid = ahead.HandOut(&end);
          EXPECT_EQ(valid, action != 1);
          if (valid) {
            EXPECT_EQ(keys, Want(count));
          }
        } else if (action == 4) {
          reader_.SeekToFirst();
          at_ = 0;
        } else if (action == 5) {
          ExpectPosition();
        } else {
          EXPECT_EQ(ReadNow(&ahead, count), Want(count));
        }
        if (HasFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, RecordsAheadTest,
                         testing::Combine(testing::Values("minidb", "leveldb", "lmdb"),
                                          testing::Bool()));

// Whoever has the cursor may move it at any time, also if it was taken before.
TEST_P(RecordsAheadTest, NoThreadReadsAheadBehindACursor) {
  ASSERT_NE(reader_.cursor(), nullptr);
  RecordsAhead ahead;
  ahead.Attach(reader_);
  EXPECT_FALSE(ahead.Begin());
  EXPECT_EQ(ReadAhead(&ahead, 1), std::nullopt);
  EXPECT_EQ(ReadNow(&ahead, 2), Want(2));
}

}  // namespace
}  // namespace caffe2rt::test::records_ahead_test
