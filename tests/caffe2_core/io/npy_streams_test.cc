#include "caffe2_core/io/npy_streams.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"
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

uint64_t NumberAt(const std::string& bytes, size_t at, size_t count) {
  uint64_t number = 0;
  for (size_t i = count; i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

// Bit 11 states that a name is UTF-8, in the entry and in the directory.
TEST(NpzStreamTest, MarksNamesInUtf8) {
  const TempDir dir;
  const std::pair<std::string, uint64_t> rows[] = {
      {"plain", 0}, {"\xc3\xa9", 0x800}, {"\xff", 0}, {"a\xe2\x82\xac", 0x800}};
  for (const auto& [name, flags] : rows) {
    NpzStream archive(dir.path("a.npz"));
    archive.Add(name, Floats({1}, 0));
    archive.Finish();
    const std::string bytes = ReadWholeFile(dir.path("a.npz"));
    EXPECT_EQ(bytes.substr(0, 4), "PK\3\4");
    EXPECT_EQ(NumberAt(bytes, 6, 2), flags) << name;
    const size_t record = bytes.rfind("PK\1\2");
    ASSERT_NE(record, std::string::npos);
    EXPECT_EQ(NumberAt(bytes, record + 8, 2), flags) << name;
    EXPECT_EQ(NumberAt(bytes, record + 28, 2), name.size() + 4);
    EXPECT_EQ(bytes.substr(record + 46, name.size() + 4), name + ".npy");
  }
}

// Entries that 16 bits cannot count are counted by the records of Zip64, which lie before the end.
TEST(NpzStreamTest, LargeNumbersOfEntriesAreInTheRecordsOfZip64) {
  const TempDir dir;
  {
    NpzStream archive(dir.path("a.npz"));
    const Tensor none = Floats({0}, 0);
    for (int i = 0; i < 65535; ++i) archive.Add(std::to_string(i), none);
    archive.Finish();
  }
  const std::string bytes = ReadWholeFile(dir.path("a.npz"));
  const size_t end = bytes.size() - 22, locator = end - 20, end64 = locator - 56;
  const uint64_t size = NumberAt(bytes, end64 + 40, 8), offset = NumberAt(bytes, end64 + 48, 8);
  EXPECT_EQ(bytes.substr(end64, 4), "PK\6\6");
  EXPECT_EQ(NumberAt(bytes, end64 + 4, 8), 44u);  // bytes behind this number
  EXPECT_EQ(NumberAt(bytes, end64 + 12, 4), 45u << 16 | 45u);
  EXPECT_EQ(NumberAt(bytes, end64 + 16, 8), 0u);
  EXPECT_EQ(NumberAt(bytes, end64 + 24, 8), 65535u);
  EXPECT_EQ(NumberAt(bytes, end64 + 32, 8), 65535u);
  EXPECT_EQ(offset + size, end64);
  EXPECT_EQ(bytes.substr(offset, 4), "PK\1\2");
  EXPECT_EQ(bytes.substr(locator, 8), std::string("PK\6\7\0\0\0\0", 8));
  EXPECT_EQ(NumberAt(bytes, locator + 8, 8), end64);
  EXPECT_EQ(NumberAt(bytes, locator + 16, 4), 1u);
  EXPECT_EQ(bytes.substr(end, 8), std::string("PK\5\6\0\0\0\0", 8));
  EXPECT_EQ(NumberAt(bytes, end + 8, 4), 0xffffffffu);
  EXPECT_EQ(NumberAt(bytes, end + 12, 4), size);
  EXPECT_EQ(NumberAt(bytes, end + 16, 4), offset);
  EXPECT_EQ(NumberAt(bytes, end + 20, 2), 0u);
}

}  // namespace
}  // namespace caffe2rt::test::npy_streams_test
