#include "caffe2_core/import/caffe/weights_file.h"

#include <gtest/gtest.h>

#include <cstring>

#include "caffe2_core/base/float16.h"
#include "caffe2_core/import/caffe/caffe_import.h"
#include "caffe2_core/io/atomic_file.h"
#include "tests/caffe2_core/import/caffe/imported_net.h"
#include "tests/caffe2_core/import/caffe/wire_text.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::weights_file_test {
namespace {

const std::vector<float> kValues = {1, -0.5f, 0.25f, 3, 0, -2};
const std::string kShape = Bytes(7, Bytes(1, Varint(2) + Varint(3)));  // [2, 3], packed

std::string Packed(const std::vector<float>& values) {
  std::string bytes;
  for (const float value : values) bytes += Raw(value);
  return bytes;
}
std::string Doubles() {
  std::string bytes;
  for (const float value : kValues) bytes += Raw(static_cast<double>(value));
  return bytes;
}
std::string Halves() {
  std::string bytes;
  for (const float value : kValues) bytes += Raw(float16(value).x);
  return bytes;
}
std::string Unpacked() {
  std::string bytes;
  for (const float value : kValues) bytes += Tag(5, 5) + Raw(value);
  return bytes;
}

CaffeWeightsFile Open(std::string bytes) {
  static std::vector<std::unique_ptr<std::string>> kept;
  kept.push_back(std::make_unique<std::string>(std::move(bytes)));
  return {std::make_shared<MemoryInput>(*kept.back()), "net.caffemodel"};
}
// A V2 layer "l" with one blob.
std::string NetWith(const std::string& blob) {
  return Bytes(100, Bytes(1, "l") + Bytes(2, "Convolution") + Bytes(7, blob));
}

struct Encoding {
  const char* name;
  std::string blob;
};
class CaffeBlobTest : public testing::TestWithParam<Encoding> {};
TEST_P(CaffeBlobTest, IsReadAsFloats) {
  const CaffeWeightsFile file = Open(NetWith(GetParam().blob));
  ASSERT_EQ(file.layers().size(), 1u);
  EXPECT_EQ(file.layers()[0].name, "l");
  EXPECT_EQ(file.layers()[0].type, "Convolution");
  const Tensor got = file.ReadBlob(file.layers()[0].blobs.at(0));
  EXPECT_EQ(got.dims(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(Difference(got, Floats({2, 3}, kValues)), 0);
}
INSTANTIATE_TEST_SUITE_P(
    Each, CaffeBlobTest,
    testing::Values(Encoding{"Packed", kShape + Bytes(5, Packed(kValues))},
                    Encoding{"NotPacked", kShape + Unpacked()},
                    Encoding{"InTwoRuns", Bytes(5, Packed({1, -0.5f})) + kShape +
                                              Bytes(5, Packed({0.25f, 3, 0, -2}))},
                    Encoding{"Double", kShape + Bytes(8, Doubles())},
                    Encoding{"DoubleBesideFloat",
                             kShape + Bytes(5, Packed({7, 7, 7, 7, 7, 7})) + Bytes(8, Doubles())},
                    Encoding{"Half", kShape + Number(10, 2) + Bytes(12, Halves())},
                    Encoding{"RawFloat", kShape + Number(10, 1) + Bytes(12, Packed(kValues))},
                    Encoding{"RawDouble", kShape + Number(10, 0) + Bytes(12, Doubles())},
                    Encoding{"WithDiff",
                             kShape + Bytes(6, Packed({9, 9, 9})) + Bytes(5, Packed(kValues))},
                    Encoding{"ShapeNotPacked",
                             Bytes(7, Number(1, 2) + Number(1, 3)) + Bytes(5, Packed(kValues))},
                    Encoding{"UnknownFields", kShape + Number(99, 1) + Bytes(2000, "x") +
                                                  Bytes(5, Packed(kValues))}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(CaffeWeightsFileTest, LegacyShapesHaveFourDimensions) {
  const CaffeWeightsFile file = Open(NetWith(Number(1, 1) + Number(2, 1) + Number(3, 2) +
                                             Number(4, 3) + Bytes(5, Packed(kValues))));
  const CaffeBlob& blob = file.layers()[0].blobs[0];
  EXPECT_TRUE(blob.legacy);
  EXPECT_EQ(blob.dims, (std::vector<int64_t>{1, 1, 2, 3}));
  // An empty shape is a scalar.
  const CaffeWeightsFile scalar = Open(NetWith(Bytes(7, "") + Bytes(5, Packed({4}))));
  EXPECT_TRUE(scalar.layers()[0].blobs[0].dims.empty());
  EXPECT_EQ(scalar.ReadBlob(scalar.layers()[0].blobs[0]).numel(), 1);
}

TEST(CaffeWeightsFileTest, ReadsThreeGenerationsAndText) {
  const std::string blob = kShape + Bytes(5, Packed(kValues));
  const std::string v1 = Bytes(2, Bytes(4, "l") + Number(5, 4) + Bytes(6, blob));
  const std::string v0 = Bytes(2, Bytes(1, Bytes(1, "l") + Bytes(2, "conv") + Bytes(50, blob)));
  const std::string text =
      "layer { name: 'l' type: 'Convolution' blobs { shape { dim: 2 dim: 3 } "
      "data: [1, -0.5, 0.25, 3] data: 0 data: -2 } }";
  for (const std::string& bytes : {NetWith(blob), v1, v0, text}) {
    const CaffeWeightsFile file = Open(bytes);
    ASSERT_EQ(file.layers().size(), 1u);
    EXPECT_EQ(file.layers()[0].name, "l");
    EXPECT_EQ(Difference(file.ReadBlob(file.layers()[0].blobs.at(0)), Floats({2, 3}, kValues)), 0);
  }
}

TEST(CaffeWeightsFileTest, RejectsDamagedFiles) {
  const auto read = [](const std::string& blob) {
    const CaffeWeightsFile file = Open(NetWith(blob));
    (void)file.ReadBlob(file.layers()[0].blobs.at(0));
  };
  ExpectThrows(
      [&] {
        read(kShape + Bytes(5, Packed({1, 2})));
      },
      "a blob of shape [2, 3] has 2 values");
  ExpectThrows([&] { read(Bytes(7, Bytes(1, Varint(1ull << 40) + Varint(1ull << 40)))); },
               "size overflow");
  ExpectThrows([&] { read(Bytes(7, Number(1, ~0ull)) + Bytes(5, Packed({1}))); }, "dimension");
  ExpectThrows([&] { read(kShape + Number(10, 7) + Bytes(12, Halves())); },
               "raw_data_type 7, want 0 (double), 1 (float) or 2 (half)");
  // Six values that are counted and cannot be copied, and halves that are cut in the middle.
  std::string numbers;
  for (int i = 0; i < 6; ++i) numbers += Number(5, 1);
  for (const std::string& values :
       {numbers, Bytes(12, Halves().substr(0, 3)) + Bytes(12, Halves().substr(3))}) {
    ExpectThrows([&] { read(kShape + values); }, "values of a wrong wire type");
  }
  // Raw values that are no bytes: 48 of them would be 6 doubles, and are copied as 12 floats.
  std::string fixed;
  for (int i = 0; i < 12; ++i) fixed += Float(12, 1);
  ExpectThrows([&] { read(kShape + Number(10, 0) + fixed); }, "values of a wrong wire type");
  const std::string whole = NetWith(kShape + Bytes(5, Packed(kValues)));
  for (size_t size = 1; size < whole.size(); ++size) {
    ExpectThrows([&] { Open(whole.substr(0, size)); }, "net.caffemodel");
  }
  ExpectThrows([&] { Open(Number(1, 70000) + Bytes(2, "net_iter_70000.caffemodel")); },
               "solverstate");
  ExpectThrows([&] { Open("\x89HDF\r\n\x1a\n"); },
               "is an HDF5 file, want a prototxt or a caffemodel");
  ExpectThrows([&] { Open("net: 'train.prototxt'\nbase_lr: 0.01\n"); },
               "is a solver of Caffe, not a net; give the prototxt that it names "
               "(\"train.prototxt\")");
}

// The first field of a solverstate is the number of its iteration; force_backward is number 5 of a
// net.
TEST(CaffeWeightsFileTest, ANetMayBeginWithANumber) {
  const CaffeWeightsFile file = Open(Number(5, 1) + NetWith(kShape + Bytes(5, Packed(kValues))));
  ASSERT_EQ(file.layers().size(), 1u);
  EXPECT_EQ(Difference(file.ReadBlob(file.layers()[0].blobs.at(0)), Floats({2, 3}, kValues)), 0);
}

TEST(CaffeWeightsFileTest, ReadsMeanImages) {
  const TempDir folder;
  const std::string path = folder.path() + "/mean.binaryproto";
  WriteFileAtomically(
      path, Number(1, 1) + Number(2, 1) + Number(3, 2) + Number(4, 3) + Bytes(5, Packed(kValues)));
  EXPECT_EQ(Difference(ReadCaffeMean(path), Floats({1, 1, 2, 3}, kValues)), 0);
  WriteFileAtomically(path, kShape + Bytes(5, Packed(kValues)));
  ExpectThrows([&] { ReadCaffeMean(path); }, "has 2 axes, want [1, C, H, W]");
}

}  // namespace
}  // namespace caffe2rt::test::weights_file_test
