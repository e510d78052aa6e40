#include "caffe2_core/io/npy_streams.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/npy.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::npy_streams_test {
namespace {

Tensor Floats(const std::vector<int64_t>& dims, float first) {
  Tensor tensor(dims, CPU);
  float* const to = tensor.mutable_data<float>();
  for (int64_t i = 0; i < tensor.numel(); ++i) to[i] = first + static_cast<float>(i);
  return tensor;
}

TEST(NpzStreamTest, IsReadLikeAnyArchive) {
  const TempDir dir;
  const std::string path = dir.path("a.npz");
  NpzStream archive(path);
  archive.Add("cat.jpg/prob", Floats({2, 3}, 1));
  archive.Add("\xc3\xa9", Floats({}, 7));  // é
  archive.Add("empty", Floats({0, 4}, 0));
  EXPECT_FALSE(std::filesystem::exists(path));
  archive.Finish();
  // ReadNpz is libzip, which checks lengths and checksums.
  const NamedTensors read = ReadNpz(path);
  ASSERT_EQ(read.size(), 3u);
  EXPECT_EQ(read[0].first, "cat.jpg/prob");
  EXPECT_EQ(NpyBytes(read[0].second), NpyBytes(Floats({2, 3}, 1)));
  EXPECT_EQ(read[1].first, "\xc3\xa9");
  EXPECT_EQ(read[1].second.data<float>()[0], 7);
  EXPECT_EQ(read[2].second.dims(), (std::vector<int64_t>{0, 4}));
}

TEST(NpzStreamTest, AnArchiveWithoutEntriesIsValid) {
  const TempDir dir;
  NpzStream archive(dir.path("a.npz"));
  archive.Finish();
  EXPECT_EQ(ReadNpz(dir.path("a.npz")).size(), 0u);
}

TEST(NpzStreamTest, HasTheChecksumOfTheFormat) {
  // The CRC-32 of the format is that of zlib; libzip compares it when it reads. Lengths from 0 to 40
  // bytes reach every path of the computation.
  const TempDir dir;
  for (int64_t size = 0; size <= 40; ++size) {
    Tensor bytes(std::vector<int64_t>{size}, CPU);
    uint8_t* const to = bytes.mutable_data<uint8_t>();
    for (int64_t i = 0; i < size; ++i) to[i] = static_cast<uint8_t>(i * 37 + 11);
    NpzStream archive(dir.path("a.npz"));
    archive.Add("x", bytes);
    archive.Finish();
    EXPECT_EQ(NpyBytes(ReadNpz(dir.path("a.npz"))[0].second), NpyBytes(bytes));
  }
}

TEST(NpzStreamTest, RejectsNamesThatAnArchiveCannotStore) {
  const TempDir dir;
  NpzStream archive(dir.path("a.npz"));
  archive.Add("a", Floats({1}, 0));
  ExpectThrows([&] { archive.Add("a", Floats({1}, 0)); }, "the name \"a\" exists twice");
  ExpectThrows([&] { archive.Add(std::string("b\0c", 3), Floats({1}, 0)); }, "a zero byte");
  ExpectThrows([&] { archive.Add(std::string(65532, 'n'), Floats({1}, 0)); }, "is longer than");
}

TEST(NpyRowsTest, EqualsTheFileOfTheJoinedArray) {
  const TempDir dir;
  NpyRows rows(dir.path("a.npy"));
  rows.Add(Floats({1, 2}, 0));
  rows.Add(Floats({3, 2}, 2));
  rows.Finish();
  const Tensor read = ReadNpy(dir.path("a.npy"));
  EXPECT_EQ(NpyBytes(read), NpyBytes(Floats({4, 2}, 0)));
}

TEST(NpyRowsTest, AScalarIsARow) {
  const TempDir dir;
  NpyRows rows(dir.path("a.npy"));
  rows.Add(Floats({}, 5));
  rows.Add(Floats({}, 6));
  rows.Finish();
  EXPECT_EQ(NpyBytes(ReadNpy(dir.path("a.npy"))), NpyBytes(Floats({2}, 5)));
}

TEST(NpyRowsTest, RejectsRowsOfAnotherShape) {
  const TempDir dir;
  NpyRows rows(dir.path("a.npy"));
  rows.Add(Floats({1, 2}, 0));
  ExpectThrows([&] { rows.Add(Floats({1, 3}, 0)); }, "cannot add float [1, 3] to \"");
  rows.Add(Floats({1, 2}, 2));
  rows.Finish();
  EXPECT_EQ(ReadNpy(dir.path("a.npy")).numel(), 4);
}

}  // namespace
}  // namespace caffe2rt::test::npy_streams_test
