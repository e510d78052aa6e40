// ImageInput over a LevelDB with a damaged block, whose records the database itself cannot read: an
// error that names the keys around it, or all of them are left out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/io/image_input.h"
#include "tests/caffe2_core/io/records.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::damaged_images_test {
namespace {

constexpr int kImages = 60;

// Blocks of LevelDB have a few of these records, which do not compress.
Records NoisyImages() {
  std::mt19937 random(1);
  Records records;
  for (int i = 0; i < kImages; ++i) {
    TensorProtos record;
    TensorProto* const pixel = record.add_protos();
    pixel->set_data_type(TensorProto::BYTE);
    for (int d = 0; d < 2; ++d) pixel->add_dims(1);
    pixel->set_byte_data(std::string(1, static_cast<char>(i)));
    TensorProto* const label = record.add_protos();
    label->set_data_type(TensorProto::INT32);
    label->add_int32_data(i);
    std::string noise(6000, '\0');
    for (char& byte : noise) byte = static_cast<char>(random());
    label->set_name(noise);
    records[MakeString("key", 100 + i)] = record.SerializeAsString();
  }
  return records;
}

std::filesystem::path LargestTable(const std::string& database) {
  std::filesystem::path largest;
  for (const auto& entry : std::filesystem::directory_iterator(database)) {
    if (largest.empty() || entry.file_size() > std::filesystem::file_size(largest))
      largest = entry.path();
  }
  return largest;
}

class DamagedImagesTest : public testing::Test {
 protected:
  DamagedImagesTest() : path_(dir_.path("l")) {
    Put("leveldb", path_, db::NEW, NoisyImages());
    db::CreateDB("leveldb", path_, db::WRITE)->Close();  // moves the log to a table
    const std::filesystem::path table = LargestTable(path_);
    std::string bytes = ReadWholeFile(table);
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    dir_.Write(std::filesystem::relative(table, dir_.path()), bytes);
    for (const char* name : {"x", "y"}) ws_.CreateBlob(name);
  }
  std::unique_ptr<OperatorBase> Images(const std::string& more) {
    return CreateOperator(
        ParseOp("type: 'ImageInput' output: 'x' output: 'y' arg { name: 'db_type' s: 'leveldb' } "
                "arg { name: 'db' s: '" +
                path_ +
                "' } arg { name: 'batch_size' i: 1 } arg { name: 'crop' i: 1 } arg { name: 'scale' "
                "i: 1 } arg { name: 'decode_threads' i: 1 } arg { name: 'color' i: 0 } " +
                more),
        &ws_);
  }
  int Next(OperatorBase* op) {
    EXPECT_TRUE(op->Run());
    const int label = Fetch<int32_t>(ws_, "y")[0];
    EXPECT_EQ(Fetch<float>(ws_, "x")[0], static_cast<float>(label));
    return label;
  }
  const TempDir dir_;
  const std::string path_;
  Workspace ws_;
};

TEST_F(DamagedImagesTest, ABlockThatCannotBeReadIsAnErrorOrLeftOut) {
  for (const int no_prefetch : {1, 0}) {
    const std::string prefetch = MakeString("arg { name: 'no_prefetch' i: ", no_prefetch, " } ");
    const auto stop = Images(prefetch);
    int before = 0;
    const std::string error = MessageOf([&] {
      while (before < kImages) {
        stop->Run();
        EXPECT_EQ(Fetch<int32_t>(ws_, "y")[0], before);
        ++before;
      }
    });
    ASSERT_GT(before, 5);
    ASSERT_LT(before, kImages - 5);
    EXPECT_THAT(error, testing::HasSubstr("checksum"));
    const int behind = Next(stop.get());  // the next run continues behind the block
    EXPECT_GT(behind, before);
    EXPECT_THAT(error,
                testing::HasSubstr(MakeString("records are damaged after key \"key", 99 + before,
                                              "\" and before key \"key", 100 + behind, "\"")));
    const auto skip = Images(prefetch + "arg { name: 'on_error' s: 'skip' }");
    for (int epoch = 0; epoch < 2; ++epoch) {
      for (int i = 0; i < kImages; ++i) {
        if (i >= before && i < behind) continue;
        EXPECT_EQ(Next(skip.get()), i);
      }
    }
    EXPECT_EQ(dynamic_cast<ImageInputOp&>(*skip).skipped(), 2);  // one in each epoch
  }
}

}  // namespace
}  // namespace caffe2rt::test::damaged_images_test
