#include "caffe2_core/training/mnist_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "tests/caffe2_core/training/training_records.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::mnist_records_test {
namespace {

using ::testing::ElementsAre;

class MnistRecordsTest : public ::testing::Test {
 protected:
  static std::string Images(uint32_t count = 2) {
    return BigEndian(2051) + BigEndian(count) + BigEndian(2) + BigEndian(3) +
           std::string("abcdef") + "ghijkl";
  }
  static std::string Labels(uint32_t count = 2) {
    return BigEndian(2049) + BigEndian(count) + "\x07" + "\x09";
  }

  std::vector<TrainingRecord> Make(const std::string& images, const std::string& labels,
                                   MnistOptions options = {}) {
    const MnistFiles files = {dir_.Write("images", images), dir_.Write("labels", labels)};
    return Collect([&](const RecordAcceptor& accept) { MnistRecords(files, options, accept); });
  }
  const TempDir dir_;
};

TEST_F(MnistRecordsTest, HasAnImageAndALabelInEachRecord) {
  const std::vector<TrainingRecord> records = Make(Images(), Labels());
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].key, "00000000");
  EXPECT_EQ(records[1].key, "00000001");
  const TensorProtos& second = records[1].tensors;
  ASSERT_EQ(second.protos_size(), 2);
  EXPECT_EQ(second.protos(0).data_type(), TensorProto::BYTE);
  EXPECT_THAT(DimsOf(second.protos(0)), ElementsAre(2, 3, 1));
  EXPECT_EQ(second.protos(0).byte_data(), "ghijkl");
  EXPECT_THAT(DimsOf(second.protos(1)), ElementsAre());
  EXPECT_THAT(ValuesOf<int32_t>(second.protos(1)), ElementsAre(9));
}

TEST_F(MnistRecordsTest, PutsTheChannelFirst) {
  const std::vector<TrainingRecord> records =
      Make(Images(), Labels(), {.order = PixelOrder::kChannelsFirst});
  EXPECT_THAT(DimsOf(records.at(0).tensors.protos(0)), ElementsAre(1, 2, 3));
}

TEST_F(MnistRecordsTest, StopsAtTheLimit) {
  EXPECT_EQ(Make(Images(), Labels(), {.limit = 1}).size(), 1u);
  EXPECT_EQ(Make(Images(), Labels(), {.limit = 3}).size(), 2u);
}

TEST_F(MnistRecordsTest, ReadsCompressedFiles) {
  const std::string path = dir_.path("images.gz"), bytes = Images();
  const gzFile file = gzopen(path.c_str(), "wb");
  ASSERT_EQ(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())),
            static_cast<int>(bytes.size()));
  ASSERT_EQ(gzclose(file), Z_OK);
  const std::string labels = dir_.Write("labels", Labels());
  const auto records = Collect([&](const RecordAcceptor& accept) {
    MnistRecords({path, labels}, {}, accept);
  });
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].tensors.protos(0).byte_data(), "abcdef");
  EXPECT_EQ(records[1].tensors.protos(0).byte_data(), "ghijkl");
}

TEST_F(MnistRecordsTest, RejectsDamagedCompression) {
  const std::string labels = dir_.Write("labels", Labels());
  constexpr char kBytes[] = "\x1f\x8b\x08\0\0\0\0\0\0\3 no deflated data";
  const std::string damaged = dir_.Write("images.gz", std::string(kBytes, sizeof(kBytes) - 1));
  ExpectThrows(
      [&] {
        MnistRecords({damaged, labels}, {}, [](const TrainingRecord&) {});
      },
      "images.gz\"");
}

TEST_F(MnistRecordsTest, RejectsOtherFiles) {
  ExpectThrows([&] { Make(Labels(), Images()); }, "begins with 2049, want 2051");
  ExpectThrows([&] { Make(Labels(), Images()); }, "seem to be swapped");
  ExpectThrows([&] { Make("not MNIST", Labels()); }, "want 2051, a file of images");
  ExpectThrows([&] { Make("", Labels()); }, "ends at byte 0");
  ExpectThrows([&] { Make(Images(), Labels(3)); }, "labels in");
  ExpectThrows(
      [&] { Make(BigEndian(2051) + BigEndian(2) + BigEndian(0) + BigEndian(3), Labels()); },
      "0 rows");
  ExpectThrows(
      [&] { Make(BigEndian(2051) + BigEndian(2) + BigEndian(2) + BigEndian(4097), Labels()); },
      "4097 columns");
}

TEST_F(MnistRecordsTest, RejectsFilesThatEndTooEarlyOrTooLate) {
  ExpectThrows([&] { Make(Images().substr(0, Images().size() - 1), Labels()); },
               "bytes of an image missing");
  ExpectThrows([&] { Make(Images(3), Labels(3) + "\x01"); }, "ends at byte 28, want an image");
  ExpectThrows([&] { Make(Images() + "x", Labels()); }, "has more bytes after the last image");
  ExpectThrows([&] { Make(Images(), Labels() + "x"); }, "has more bytes after the last label");
}

}  // namespace
}  // namespace caffe2rt::test::mnist_records_test
