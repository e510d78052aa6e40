#include "caffe2_core/training/cifar_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/caffe2_core/training/training_records.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::cifar_records_test {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;

constexpr size_t kPlane = 1024;

// Red counts up, green is g and blue is b everywhere.
std::string Planes() {
  std::string planes;
  for (size_t i = 0; i < kPlane; ++i) planes += static_cast<char>(i % 100);
  return planes + std::string(kPlane, 'g') + std::string(kPlane, 'b');
}

class CifarRecordsTest : public ::testing::Test {
 protected:
  std::vector<TrainingRecord> Make(const std::vector<std::string>& contents,
                                   CifarOptions options = {}) {
    std::vector<std::string> files;
    for (size_t i = 0; i < contents.size(); ++i)
      files.push_back(dir_.Write(std::to_string(i), contents[i]));
    return Collect([&](const RecordAcceptor& accept) { CifarRecords(files, options, accept); });
  }
  const TempDir dir_;
};

TEST_F(CifarRecordsTest, PutsChannelsLast) {
  const auto records = Make({"\x03" + Planes() + "\x09" + Planes(), "\x01" + Planes()});
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[2].key, "00002");
  const TensorProto& data = records[2].tensors.protos(0);
  EXPECT_EQ(data.data_type(), TensorProto::BYTE);
  EXPECT_THAT(DimsOf(data), ElementsAre(32, 32, 3));
  EXPECT_EQ(data.byte_data().size(), 3 * kPlane);
  // The pixel in row 1, column 2.
  EXPECT_EQ(data.byte_data().substr(3 * 34, 3), "\"gb");
  EXPECT_THAT(DimsOf(records[2].tensors.protos(1)), ElementsAre(1));
  EXPECT_THAT(ValuesOf<int32_t>(records[1].tensors.protos(1)), ElementsAre(9));
}

TEST_F(CifarRecordsTest, PutsChannelsFirst) {
  const auto records = Make({"\x03" + Planes()}, {.order = PixelOrder::kChannelsFirst});
  EXPECT_THAT(DimsOf(records.at(0).tensors.protos(0)), ElementsAre(3, 32, 32));
  EXPECT_EQ(records[0].tensors.protos(0).data_type(), TensorProto::BYTE);
  EXPECT_EQ(records[0].tensors.protos(1).data_type(), TensorProto::INT32);
  EXPECT_EQ(records[0].tensors.protos(0).byte_data(), Planes());
}

TEST_F(CifarRecordsTest, TakesTheLabelThatIsAskedFor) {
  const std::string coarse_then_fine = "\x0b\x51";
  const auto label = [&](CifarLabels labels) {
    return ValuesOf<int32_t>(
        Make({coarse_then_fine + Planes()}, {.labels = labels}).at(0).tensors.protos(1));
  };
  EXPECT_THAT(label(CifarLabels::kCifar100), ElementsAre(0x51));
  EXPECT_THAT(label(CifarLabels::kCifar100Coarse), ElementsAre(0x0b));
}

TEST_F(CifarRecordsTest, StopsAtTheLimit) {
  const std::string image = "\x03" + Planes();
  EXPECT_EQ(Make({image + image, image}, {.limit = 2}).size(), 2u);
}

TEST_F(CifarRecordsTest, KeysHaveFiveDigits) {
  constexpr size_t kImages = 500;
  std::string images;
  for (size_t i = 0; i < kImages; ++i) images += "\x03" + std::string(3 * kPlane, 'x');
  std::vector<std::string> files(100000 / kImages, dir_.Write("images", images));
  int64_t records = 0;
  std::string key;
  const RecordAcceptor count = [&](const TrainingRecord& record) {
    ++records;
    key = record.key;
  };
  const CifarOptions options = {.order = PixelOrder::kChannelsFirst};
  CifarRecords(files, options, count);
  EXPECT_EQ(records, 100000);
  EXPECT_EQ(key, "99999");
  files.push_back(files[0]);
  records = 0;
  ExpectThrows([&] { CifarRecords(files, options, count); }, "images, whose keys have five digits");
  EXPECT_EQ(records, 100000);
}

TEST_F(CifarRecordsTest, RejectsOtherFiles) {
  ExpectThrows([&] { Make({"\x0a" + Planes()}); }, "is 10, want 0 to 9");
  ExpectThrows([&] { Make({"\x14\x01" + Planes()}, {.labels = CifarLabels::kCifar100Coarse}); },
               "want 0 to 19");
  ExpectThrows([&] { Make({"\x01" + Planes() + "x"}); }, "bytes of an image missing");
}

TEST_F(CifarRecordsTest, FindsTheFilesOfAFolder) {
  ExpectThrows([&] { CifarFilesOf(dir_.path(), false); }, "data_batch_1.bin");
  for (const char* name :
       {"data_batch_2.bin", "data_batch_1.bin", "test_batch.bin", "batches.meta.txt"})
    dir_.Write(name, "");
  EXPECT_THAT(CifarFilesOf(dir_.path(), false),
              ElementsAre(EndsWith("data_batch_1.bin"), EndsWith("data_batch_2.bin")));
  EXPECT_THAT(CifarFilesOf(dir_.path(), true), ElementsAre(EndsWith("test_batch.bin")));
}

}  // namespace
}  // namespace caffe2rt::test::cifar_records_test
