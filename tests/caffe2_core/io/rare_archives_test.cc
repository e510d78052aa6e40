// Rare forms of .npy and .npz: headers of every length, the longest comment, sizes at their limits,
// archives that are finished twice.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/npy_streams.h"
#include "tests/caffe2_core/io/zip_bytes.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::rare_archives_test {
namespace {

using namespace std::string_literals;

// The elements begin at a multiple of 64 bytes, with less than 64 spaces before them.
TEST(NpyHeadersTest, AreAsShortAsTheirAlignmentAllows) {
  std::vector<bool> seen(64);
  for (int rank = 1; rank <= 30; ++rank) {
    for (const int64_t last : {1, 10, 100}) {
      std::vector<int64_t> dims(static_cast<size_t>(rank), 1);
      dims.back() = last;
      Tensor tensor(dims, CPU);
      std::fill_n(tensor.mutable_data<uint8_t>(), last, uint8_t{7});
      const std::string bytes = NpyBytes(tensor);
      const size_t head = bytes.size() - static_cast<size_t>(last);
      const size_t dict_end = bytes.find('}') + 1;
      EXPECT_EQ(head % 64, 0u) << rank << " " << last;
      EXPECT_EQ(head - 10,
                static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]));
      EXPECT_EQ(bytes.substr(dict_end, head - dict_end),
                std::string(head - dict_end - 1, ' ') + "\n");
      ASSERT_LT(head - dict_end - 1, 64u) << rank << " " << last;
      seen[head - dict_end - 1] = true;
      EXPECT_EQ(ParseNpy(bytes, "x").dims(), dims);
    }
  }
  EXPECT_TRUE(seen[0]);  // a dictionary that needs no space is among them
  EXPECT_TRUE(seen[63]);
}

TEST(NpyHeadersTest, HaveTheirKeysInAnyOrder) {
  std::vector<std::string> keys = {"\"descr\": \"<i4\"", "'fortran_order': True",
                                   "'shape': (2, 3)"};
  std::string elements;
  for (const char value : {1, 2, 3, 4, 5, 6}) elements += value + "\0\0\0"s;
  std::sort(keys.begin(), keys.end());
  int orders = 0;
  do {
    const std::string dict = "{" + keys[0] + ", " + keys[1] + ", " + keys[2] + "}\n";
    const Tensor tensor = ParseNpy("\x93NUMPY\1\0"s + U16(dict.size()) + dict + elements, "x");
    EXPECT_EQ(tensor.dims(), (std::vector<int64_t>{2, 3}));
    // Columns first: rows are 1, 3, 5 and 2, 4, 6.
    const int32_t* const got = tensor.data<int32_t>();
    EXPECT_EQ((std::vector<int32_t>{got, got + 6}), (std::vector<int32_t>{1, 3, 5, 2, 4, 6}))
        << dict;
    ++orders;
  } while (std::next_permutation(keys.begin(), keys.end()));
  EXPECT_EQ(orders, 6);
}

// Python reads (3) as a number, and (3,) as a shape.
TEST(NpyHeadersTest, OfOneDimensionHaveACommaBehindIt) {
  const TempDir dir;
  Tensor scalar(std::vector<int64_t>{}, CPU), row(std::vector<int64_t>{1, 2}, CPU);
  scalar.mutable_data<uint8_t>()[0] = 7;
  std::fill_n(row.mutable_data<uint8_t>(), 2, uint8_t{7});
  const auto header_of = [&](const Tensor& tensor) {
    NpyRows rows(dir.path("a.npy"));
    for (int i = 0; i < 3; ++i) rows.Add(tensor);
    rows.Finish();
    const std::string bytes = ReadWholeFile(dir.path("a.npy"));
    return bytes.substr(10, bytes.find('}') - 9);
  };
  EXPECT_EQ(header_of(scalar), "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }");
  EXPECT_EQ(header_of(row), "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 2), }");
  EXPECT_NE(NpyBytes(scalar).find("'shape': (), }"), std::string::npos);
}

TEST(NpyHeadersTest, OfStringsHaveAWidthOfAtLeastOneByte) {
  Tensor strings(std::vector<int64_t>{2}, CPU);
  strings.mutable_data<std::string>();
  const std::string bytes = NpyBytes(strings);
  EXPECT_NE(bytes.find("'descr': '|S1', "), std::string::npos) << bytes;
  EXPECT_EQ(bytes.substr(bytes.size() - 2), "\0\0"s);
  strings.mutable_data<std::string>()[1] = "abc";
  EXPECT_TRUE(NpyBytes(strings).ends_with("\0\0\0abc"s));
}

TEST(NpzCommentsTest, MayHaveTheLongestSize) {
  const TempDir dir;
  const std::vector<ZipEntry> entries = {ZipEntry::Of("x.npy", NpyOf("abc"))};
  std::string bytes = Zip(entries);
  bytes.resize(bytes.size() - 2);
  for (const size_t size : {size_t{0}, size_t{1}, size_t{65534}, size_t{65535}}) {
    const std::string comment(size, 'c');
    const NamedTensors read = ReadNpz(dir.Write("a.npz", bytes + U16(size) + comment));
    ASSERT_EQ(read.size(), 1u) << size;
    EXPECT_EQ(read[0].second.numel(), 3) << size;
  }
  // The same behind the records of Zip64.
  const std::string local = entries[0].Local(), directory = entries[0].Directory(0);
  std::string large = local + directory +
                      Zip64End(1, directory.size(), local.size(), local.size() + directory.size());
  large.resize(large.size() - 2);
  const std::string path = dir.Write("b.npz", large + U16(65535) + std::string(65535, 'c'));
  EXPECT_EQ(ReadNpz(path).size(), 1u);
}

TEST(NpzErrorsTest, NameTheArchiveAndTheEntry) {
  const TempDir dir;
  const std::vector<ZipEntry> entries = {ZipEntry::Of("good.npy", NpyOf("abc")),
                                         ZipEntry::Of("bad/x.npy", "no array at all")};
  const std::string path = dir.Write("a.npz", Zip(entries));
  ExpectThrows([&] { ReadNpz(path); },
               "cannot read \"" + path + ":bad/x.npy\" as .npy: it does not begin with");
}

// What is unpacked counts: the array with its header, and what holds it meanwhile.
TEST(NpzErrorsTest, StateTheBytesThatDoNotFitIntoMemory) {
  const TempDir dir;
  // Numbers of 32 bits without a sign, which become int64: 3.8 MiB in the file, 7.6 in memory.
  const std::string npy = NpyOf(std::string(4'000'000, 'a'), "<u4", 4);
  const std::string path =
      dir.Write("a.npz", Zip(std::vector<ZipEntry>{ZipEntry::Of("x.npy", npy, true)}));
  const size_t used = GetCPUMemoryUsage().in_use_bytes;
  const size_t before = GlobalCPUMemoryOptions().limit_bytes;
  GlobalCPUMemoryOptions().limit_bytes = used + (size_t{1} << 20);
  std::string error;
  try {
    (void)ReadNpz(path);
  } catch (const EnforceNotMet& thrown) {
    error = thrown.message();
  }
  GlobalCPUMemoryOptions().limit_bytes = before;
  EXPECT_TRUE(error.starts_with("out of CPU memory: asked 3.8 MiB, in use ")) << error;
  EXPECT_EQ(GetCPUMemoryUsage().in_use_bytes, used);
  EXPECT_EQ(ReadNpz(path).size(), 1u);
}

// Small archives may unpack to 64 MiB, large ones to 100 times their size. The entry that states its
// size is not that long: whether it is read shows which limit holds.
TEST(NpzErrorsTest, LargeArchivesMayUnpackToAHundredTimesTheirSize) {
  const TempDir dir;
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  const auto error_of = [&](uint64_t unpacked, size_t padding) {
    ZipEntry entry = ZipEntry::Of("x.npy", NpyOf("abc"), true);
    entry.unpacked_bytes = unpacked;
    const std::vector<ZipEntry> entries = {entry,
                                           ZipEntry::Of("y.npy", NpyOf(std::string(padding, 'p')))};
    try {
      (void)ReadNpz(dir.Write("a.npz", Zip(entries)));
    } catch (const EnforceNotMet& error) {
      return error.message();
    }
    return std::string();
  };
  EXPECT_NE(error_of(65 * kMiB, 10).find("its entries unpack to 65.0 MiB, want at most 64 MiB"),
            std::string::npos);
  EXPECT_NE(error_of(65 * kMiB, 700'000).find("entry \"x.npy\" is damaged"), std::string::npos);
  EXPECT_NE(error_of(70 * kMiB, 700'000).find("its entries unpack to "), std::string::npos);
}

TEST(NpzStreamEndsTest, ASecondFinishChangesNothing) {
  const TempDir dir;
  const std::string path = dir.path("a.npz");
  Tensor x(std::vector<int64_t>{2}, CPU);
  std::fill_n(x.mutable_data<float>(), 2, 1.5f);
  std::string first;
  {
    NpzStream archive(path);
    archive.Add("x", x);
    archive.Finish();
    first = ReadWholeFile(path);
    archive.Finish();
    EXPECT_EQ(ReadWholeFile(path), first);
  }
  EXPECT_EQ(ReadWholeFile(path), first);
  EXPECT_EQ(ReadNpz(path).size(), 1u);
}

// A name that is rejected, or a tensor that cannot be written, leaves the archive as it was.
TEST(NpzStreamEndsTest, WhatIsRejectedIsNoEntry) {
  const TempDir dir;
  Tensor x(std::vector<int64_t>{1}, CPU);
  x.mutable_data<uint8_t>()[0] = 1;
  NpzStream archive(dir.path("a.npz"));
  archive.Add("x", x);
  ExpectThrows([&] { archive.Add("x", x); }, "the name \"x\" exists twice");
  ExpectThrows([&] { archive.Add("a\0b"s, x); }, "contains a zero byte");
  ExpectThrows([&] { archive.Add(std::string(65532, 'n'), x); }, "is longer than 65531 bytes");
  ExpectThrows([&] { archive.Add("y", Tensor(CPU)); }, "without shape or type");
  archive.Add("y", x);
  archive.Finish();
  const NamedTensors read = ReadNpz(dir.path("a.npz"));
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].first, "x");
  EXPECT_EQ(read[1].first, "y");
}

}  // namespace
}  // namespace caffe2rt::test::rare_archives_test
