#include "caffe2_core/training/array_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/io/npy.h"
#include "tests/caffe2_core/training/training_records.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::array_records_test {
namespace {

using ::testing::ElementsAre;

class ArrayRecordsTest : public ::testing::Test {
 protected:
  template <class T>
  std::string Write(const std::string& name, std::vector<int64_t> dims,
                    const std::vector<T>& values) {
    Tensor tensor(dims, CPU);
    std::copy(values.begin(), values.end(), tensor.mutable_data<T>());
    WriteNpy(dir_.path(name), tensor);
    return dir_.path(name);
  }
  static std::vector<TrainingRecord> Make(const std::vector<std::string>& files,
                                          int64_t limit = 0) {
    return Collect([&](const RecordAcceptor& accept) { ArrayRecords(files, limit, accept); });
  }
  const TempDir dir_;
};

TEST_F(ArrayRecordsTest, HasARowOfEachArrayInEachRecord) {
  const auto records = Make({Write<float>("x.npy", {2, 1, 3}, {1, 2, 3, 4, 5, 6.5f}),
                             Write<uint8_t>("pixels.npy", {2, 2}, {1, 2, 3, 255}),
                             Write<int64_t>("y.npy", {2}, {7, -8}),
                             Write<int64_t>("pairs.npy", {2, 2}, {1, 2, 3, int64_t{1} << 40})});
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[1].key, "00000001");
  const TensorProtos& row = records[1].tensors;
  ASSERT_EQ(row.protos_size(), 4);
  EXPECT_EQ(row.protos(0).name(), "x");
  EXPECT_THAT(DimsOf(row.protos(0)), ElementsAre(1, 3));
  EXPECT_THAT(ValuesOf<float>(row.protos(0)), ElementsAre(4, 5, 6.5f));
  EXPECT_EQ(row.protos(1).data_type(), TensorProto::BYTE);
  EXPECT_THAT(ValuesOf<uint8_t>(row.protos(1)), ElementsAre(3, 255));
  EXPECT_THAT(DimsOf(row.protos(2)), ElementsAre());
  EXPECT_THAT(ValuesOf<int32_t>(row.protos(2)), ElementsAre(-8));
  EXPECT_THAT(ValuesOf<int64_t>(row.protos(3)), ElementsAre(3, int64_t{1} << 40));
}

// One row of each element type; labels alone become int32.
TEST_F(ArrayRecordsTest, RowsKeepTheirElementTypes) {
  const auto records =
      Make({Write<double>("d.npy", {2, 2}, {1, 2, 3, 0.1}), Write<int32_t>("i.npy", {2}, {5, -6}),
            Write<bool>("b.npy", {2, 1}, {true, false}), Write<int16_t>("s.npy", {2, 1}, {7, -300}),
            Write<uint8_t>("u.npy", {2}, {8, 200})});
  ASSERT_EQ(records.size(), 2u);
  const TensorProtos& row = records[1].tensors;
  EXPECT_EQ(row.protos(0).data_type(), TensorProto::DOUBLE);
  EXPECT_THAT(ValuesOf<double>(row.protos(0)), ElementsAre(3, 0.1));
  EXPECT_EQ(row.protos(1).data_type(), TensorProto::INT32);
  EXPECT_THAT(ValuesOf<int32_t>(row.protos(1)), ElementsAre(-6));
  EXPECT_THAT(DimsOf(row.protos(1)), ElementsAre());
  EXPECT_EQ(row.protos(2).data_type(), TensorProto::BOOL);
  EXPECT_FALSE(TensorOf(row.protos(2)).data<bool>()[0]);
  EXPECT_EQ(row.protos(3).data_type(), TensorProto::INT16);
  EXPECT_THAT(ValuesOf<int16_t>(row.protos(3)), ElementsAre(-300));
  EXPECT_EQ(row.protos(4).data_type(), TensorProto::BYTE);
  EXPECT_THAT(ValuesOf<uint8_t>(row.protos(4)), ElementsAre(200));
  for (const TensorProto& proto : row.protos()) {
    EXPECT_FALSE(proto.has_segment() || proto.has_device_detail()) << proto.name();
  }
  EXPECT_EQ(row.protos(4).name(), "u");
  EXPECT_EQ(Make({Write<float>("x.npy", {0, 3}, {})}).size(), 0u);
  EXPECT_EQ(Make({}).size(), 0u);
}

TEST_F(ArrayRecordsTest, StopsAtTheLimit) {
  EXPECT_EQ(Make({Write<float>("x.npy", {3, 1}, {1, 2, 3})}, 3).size(), 3u);
  EXPECT_EQ(Make({Write<float>("x.npy", {3, 1}, {1, 2, 3})}, 4).size(), 3u);
  EXPECT_EQ(Make({Write<float>("x.npy", {3, 1}, {1, 2, 3})}, -1).size(), 3u);
  EXPECT_EQ(Make({Write<float>("x.npy", {3, 1}, {1, 2, 3})}, 2).size(), 2u);
}

TEST_F(ArrayRecordsTest, RejectsArraysThatDoNotFit) {
  const std::string two = Write<float>("two.npy", {2, 1}, {1, 2}),
                    three = Write<float>("three.npy", {3, 1}, {1, 2, 3});
  ExpectThrows([&] { Make({two, three}); }, "rows of");
  ExpectThrows([&] { Make({Write<float>("one.npy", {}, {1})}); }, "want rows");
  ExpectThrows([&] { Make({Write<float>("empty.npy", {2, 0}, {})}); }, "0 elements");
  ExpectThrows([&] { Make({Write<int64_t>("large.npy", {1}, {int64_t{1} << 31})}); },
               "is 2147483648, which no int32 holds");
}

}  // namespace
}  // namespace caffe2rt::test::array_records_test
