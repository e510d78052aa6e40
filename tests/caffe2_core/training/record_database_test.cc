#include "caffe2_core/training/record_database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "caffe2_core/io/record_checksum.h"
#include "tests/caffe2_core/io/records.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::record_database_test {
namespace {

TEST(RecordDatabaseTest, AppearsWhenItIsFinished) {
  const TempDir dir;
  for (const char* type : {"lmdb", "leveldb", "minidb"}) {
    const std::string path = dir.path(type);
    RecordDatabase database(type, path);
    TrainingRecord record;
    record.key = RecordKey(12, 4);
    AddLabel(5, LabelDims::kOne, &record.tensors);
    database.Acceptor()(record);
    database.Put("0013", "x");
    EXPECT_FALSE(std::filesystem::exists(path)) << type;
    database.Finish();
    EXPECT_EQ(database.records(), 2);
    EXPECT_EQ(GetAll(type, path),
              (Records{{"0012", WithChecksum(record.tensors.SerializeAsString())}, {"0013", "x"}}))
        << type;
  }
}

TEST(RecordDatabaseTest, LeavesNothingAfterAnException) {
  for (const char* type : {"lmdb", "leveldb", "minidb"}) {
    const TempDir dir;
    const auto fail = [&] {
      RecordDatabase database(type, dir.path("new"));
      database.Put("key", "value");
      CAFFE_THROW("no more records");
    };
    ExpectThrows([&] { fail(); }, "no more records");
    EXPECT_TRUE(std::filesystem::is_empty(dir.path())) << type;
  }
}

TEST(RecordDatabaseTest, IsCheckedBeforeRecordsAreMade) {
  const TempDir dir;
  dir.Write("taken.lmdb/data.mdb", "x");
  ExpectThrows([&] { RecordDatabase("lmdb", dir.path("taken.lmdb")); }, "exists");
  ExpectThrows([&] { RecordDatabase("lmdb", dir.path("no/folder.lmdb")); }, "no");
}

TEST(RecordDatabaseTest, RejectsADatabaseWithoutRecords) {
  const TempDir dir;
  RecordDatabase database("minidb", dir.path("a.minidb"));
  ExpectThrows([&] { database.Finish(); }, "records of the new database");
}

TEST(RecordDatabaseTest, FindsTheTypeOfAName) {
  EXPECT_EQ(NewDatabaseType("", "a/b.lmdb"), "lmdb");
  EXPECT_EQ(NewDatabaseType("", "b.leveldb"), "leveldb");
  EXPECT_EQ(NewDatabaseType("minidb", "b.lmdb"), "minidb");
  ExpectThrows([&] { NewDatabaseType("", "b.db"); }, "states no type of database");
  ExpectThrows([&] { NewDatabaseType("protodb", "b.db"); }, "want lmdb, leveldb or minidb");
}

}  // namespace
}  // namespace caffe2rt::test::record_database_test
