#include "caffe2_core/training/database_copies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "caffe2rt/caffe2_legacy.pb.h"
#include "tests/caffe2_core/io/records.h"
#include "tests/caffe2_core/training/training_records.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::database_copies_test {
namespace {

using ::testing::ElementsAre;

CaffeDatum Datum(const std::string& planes) {
  CaffeDatum datum;
  datum.set_channels(2);
  datum.set_height(1);
  datum.set_width(3);
  datum.set_data(planes);
  datum.set_label(6);
  return datum;
}

class DatabaseCopiesTest : public ::testing::Test {
 protected:
  Records CopyOf(const Records& records) {
    Put("lmdb", dir_.path("from.lmdb"), db::NEW, records);
    EXPECT_EQ(CopyDatabase({"lmdb", dir_.path("from.lmdb")}, {"minidb", dir_.path("to.minidb")}),
              static_cast<int64_t>(records.size()));
    return GetAll("minidb", dir_.path("to.minidb"));
  }
  const TempDir dir_;
};

TEST_F(DatabaseCopiesTest, KeepsKeysAndValues) {
  const Records records = {{"a", "1"}, {"b", std::string("\0\xff", 2)}};
  EXPECT_EQ(CopyOf(records), records);
}

TEST_F(DatabaseCopiesTest, ConvertsPixelsOfCaffe) {
  TensorProtos tensors;
  ASSERT_TRUE(
      tensors.ParseFromString(CopyOf({{"k", Datum("abcABC").SerializeAsString()}}).at("k")));
  ASSERT_EQ(tensors.protos_size(), 2);
  EXPECT_EQ(tensors.protos(0).data_type(), TensorProto::BYTE);
  EXPECT_THAT(DimsOf(tensors.protos(0)), ElementsAre(1, 3, 2));
  EXPECT_EQ(tensors.protos(0).byte_data(), "aAbBcC");
  EXPECT_THAT(DimsOf(tensors.protos(1)), ElementsAre(1));
  EXPECT_THAT(ValuesOf<int32_t>(tensors.protos(1)), ElementsAre(6));
}

// Any number of channels, each a plane of the datum, whatever its sides are.
TEST_F(DatabaseCopiesTest, ConvertsAnyNumberOfChannels) {
  const struct {
    int channels, height, width;
    const char *planes, *pixels;
  } rows[] = {{1, 2, 2, "abcd", "abcd"},
              {3, 1, 2, "abABxy", "aAxbBy"},
              {4, 1, 2, "abABxyXY", "aAxXbByY"},
              {5, 2, 1, "abcdefghij", "acegibdfhj"},
              {4, 1, 1, "abcd", "abcd"}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.planes);
    CaffeDatum datum = Datum(row.planes);
    datum.set_channels(row.channels);
    datum.set_height(row.height);
    datum.set_width(row.width);
    TensorProtos tensors;
    std::filesystem::remove_all(dir_.path("from.lmdb"));
    std::filesystem::remove_all(dir_.path("to.minidb"));
    ASSERT_TRUE(tensors.ParseFromString(CopyOf({{"k", datum.SerializeAsString()}}).at("k")));
    EXPECT_EQ(tensors.protos(0).byte_data(), row.pixels);
    EXPECT_THAT(DimsOf(tensors.protos(0)), ElementsAre(row.height, row.width, row.channels));
  }
}

TEST_F(DatabaseCopiesTest, LeavesImagesOfCaffeEncoded) {
  CaffeDatum datum;
  datum.set_encoded(true);
  datum.set_data("bytes of a JPEG");
  TensorProtos tensors;
  ASSERT_TRUE(tensors.ParseFromString(CopyOf({{"k", datum.SerializeAsString()}}).at("k")));
  EXPECT_EQ(tensors.protos(0).data_type(), TensorProto::STRING);
  EXPECT_THAT(DimsOf(tensors.protos(0)), ElementsAre(1));
  EXPECT_EQ(tensors.protos(0).string_data(0), "bytes of a JPEG");
  EXPECT_THAT(ValuesOf<int32_t>(tensors.protos(1)), ElementsAre(0));
}

TEST_F(DatabaseCopiesTest, RejectsFloatsOfCaffe) {
  CaffeDatum datum = Datum("");
  datum.clear_data();
  for (int i = 0; i < 6; ++i) datum.add_float_data(1);
  ExpectThrows(
      [&] {
        CopyOf({{"the key", datum.SerializeAsString()}});
      },
      "\"the key\" is a Datum of floats");
  EXPECT_FALSE(std::filesystem::exists(dir_.path("to.minidb")));
}

TEST_F(DatabaseCopiesTest, ReportsProgress) {
  Put("minidb", dir_.path("from"), db::NEW, {{"a", "1"}, {"b", "2"}});
  std::vector<int64_t> counts;
  CopyDatabase({"minidb", dir_.path("from")}, {"minidb", dir_.path("to")},
               {.progress = [&](int64_t records) { counts.push_back(records); }});
  EXPECT_THAT(counts, ElementsAre(1, 2));
}

TEST_F(DatabaseCopiesTest, SplitsInTurns) {
  const DatabasePlace from = {"leveldb", dir_.path("from")};
  Put(from.type, from.path, db::NEW, {{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}, {"e", "5"}});
  const std::string prefix = dir_.path("part_");
  EXPECT_THAT(SplitDatabase(from, 2, prefix), ElementsAre(prefix + "0", prefix + "1"));
  EXPECT_EQ(GetAll(from.type, prefix + "0"), (Records{{"a", "1"}, {"c", "3"}, {"e", "5"}}));
  EXPECT_EQ(GetAll(from.type, prefix + "1"), (Records{{"b", "2"}, {"d", "4"}}));
}

TEST_F(DatabaseCopiesTest, RejectsMorePartsThanRecords) {
  Put("minidb", dir_.path("from"), db::NEW, {{"a", "1"}, {"b", "2"}});
  ExpectThrows(
      [&] {
        SplitDatabase({"minidb", dir_.path("from")}, 3, dir_.path("part_"));
      },
      "of 3 parts");
  EXPECT_FALSE(std::filesystem::exists(dir_.path("part_0")));
  ExpectThrows(
      [&] {
        SplitDatabase({"minidb", dir_.path("from")}, 0, dir_.path("part_"));
      },
      "parts of the database");
}

}  // namespace
}  // namespace caffe2rt::test::database_copies_test
