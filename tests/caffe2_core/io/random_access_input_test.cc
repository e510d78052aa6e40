#include "caffe2_core/io/random_access_input.h"

#include <gtest/gtest.h>

#include "tests/caffe2_core/io/wire_writer.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::random_access_input_test {
namespace {

using namespace test;  // used throughout this file

// Bytes that are all different within any 251.
std::string Pattern(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i % 251);
  return bytes;
}

TEST(RandomAccessInputTest, FilesAndMemoryReturnTheSameBytes) {
  const TempDir dir;
  const std::string bytes = Pattern(1000);
  const FileInput file(dir.Write("file", bytes));
  const MemoryInput memory(bytes);
  for (const RandomAccessInput* input : {static_cast<const RandomAccessInput*>(&file),
                                         static_cast<const RandomAccessInput*>(&memory)}) {
    ASSERT_EQ(input->size(), 1000);
    std::string part(10, '\0');
    input->Read(990, part.data(), 10);
    EXPECT_EQ(part, bytes.substr(990));
    ExpectThrows([&] { input->Read(991, part.data(), 10); }, "");
  }
}

TEST(WireCursorTest, ReadsTagsAndLengths) {
  std::string bytes;
  AppendBytes(5, "abc", &bytes);
  const MemoryInput input(bytes);
  WireCursor cursor(input);
  int field = 0, wire_type = 0;
  int64_t length = 0;
  ASSERT_TRUE(cursor.ReadTag(&field, &wire_type));
  EXPECT_EQ(field, 5);
  EXPECT_EQ(wire_type, 2);
  ASSERT_TRUE(cursor.ReadLength(cursor.size(), &length));
  EXPECT_EQ(length, 3);
  std::string content;
  cursor.AppendTo(&content, 3);
  EXPECT_EQ(content, "abc");
  EXPECT_FALSE(cursor.ReadTag(&field, &wire_type)) << "the end";
}

TEST(WireCursorTest, RejectsNumbersOfMoreThan64Bits) {
  const struct {
    char last;
    bool fits;
  } rows[] = {{1, true}, {2, false}, {0x7f, false}};
  for (const auto& row : rows) {
    const std::string bytes = std::string(9, '\xff') + row.last;
    const MemoryInput input(bytes);
    WireCursor cursor(input);
    EXPECT_EQ(cursor.SkipValue(0, cursor.size()), row.fits) << static_cast<int>(row.last);
  }
}

TEST(WireCursorTest, ReadsRangesThatAreBufferedInPart) {
  const std::string bytes = Pattern(WireCursor::kBufferBytes + 1000);
  const MemoryInput input(bytes);
  WireCursor cursor(input);
  ASSERT_EQ(cursor.Peek(1).size(), WireCursor::kBufferBytes);
  constexpr int64_t kEnd = WireCursor::kBufferBytes;
  for (const auto& [offset, count] :
       {std::pair<int64_t, int64_t>(0, 7), {kEnd - 10, 10}, {kEnd - 10, 500}, {kEnd, 500}}) {
    std::string range = "before ";
    cursor.AppendRange(offset, count, &range);
    EXPECT_TRUE(range ==
                "before " + bytes.substr(static_cast<size_t>(offset), static_cast<size_t>(count)))
        << offset << " " << count;
  }
}

TEST(WireCursorTest, RejectsWhatIsNotCanonical) {
  const auto tag_is_read = [](const std::string& bytes) {
    const MemoryInput input(bytes);
    int field = 0, wire_type = 0;
    return WireCursor(input).ReadTag(&field, &wire_type);
  };
  EXPECT_FALSE(tag_is_read("\x92\x01")) << "field 18";
  EXPECT_FALSE(tag_is_read(std::string("\x92\x00", 2))) << "padded";
  EXPECT_FALSE(tag_is_read("\x02")) << "field 0";
  const auto length_is_read = [](const std::string& bytes) {
    const MemoryInput input(bytes);
    int64_t length = 0;
    return WireCursor(input).ReadLength(input.size(), &length);
  };
  EXPECT_TRUE(length_is_read(std::string("\x01", 1) + "a"));
  EXPECT_FALSE(length_is_read(std::string("\x81\x00", 2) + "a")) << "padded";
  EXPECT_FALSE(
      length_is_read("\x02"
                     "a"))
      << "beyond the end";
  EXPECT_FALSE(length_is_read("\x81")) << "truncated";
  EXPECT_FALSE(length_is_read(std::string(11, '\xff'))) << "too long";
}

TEST(WireCursorTest, SkipsValuesOfEveryWireType) {
  const auto skipped = [](int wire_type, const std::string& bytes) {
    const MemoryInput input(bytes);
    WireCursor cursor(input);
    return cursor.SkipValue(wire_type, input.size()) ? cursor.at() : -1;
  };
  EXPECT_EQ(skipped(0,
                    "\xff\x01"
                    "rest"),
            2);
  EXPECT_EQ(skipped(1, "12345678rest"), 8);
  EXPECT_EQ(skipped(2,
                    "\x03"
                    "abcrest"),
            4);
  EXPECT_EQ(skipped(5, "1234rest"), 4);
  EXPECT_EQ(skipped(1, "1234567"), -1);
  EXPECT_EQ(skipped(2,
                    "\x03"
                    "ab"),
            -1);
  EXPECT_EQ(skipped(5, "123"), -1);
  for (const int group : {3, 4, 6, 7}) EXPECT_EQ(skipped(group, "1234567890"), -1);
}

TEST(WireCursorTest, ReadsAcrossItsBuffer) {
  constexpr size_t kSize = 3 * WireCursor::kBufferBytes + 17;
  const std::string bytes = Pattern(kSize);
  const MemoryInput input(bytes);
  WireCursor cursor(input);
  std::string got;
  while (cursor.at() < cursor.size()) {
    const std::string_view view = cursor.Peek(100);
    ASSERT_GE(view.size(), std::min<size_t>(100, kSize - got.size()));
    const size_t used = std::min<size_t>(view.size(), 777);
    got.append(view.substr(0, used));
    cursor.Advance(used);
  }
  EXPECT_EQ(got, bytes);
  cursor.Seek(5);
  std::string block(kSize - 10, '\0');
  cursor.ReadInto(block.data(), block.size());
  EXPECT_EQ(block, bytes.substr(5, kSize - 10));
  EXPECT_EQ(cursor.at(), static_cast<int64_t>(kSize) - 5);
  std::string rest;
  cursor.AppendTo(&rest, 3);
  EXPECT_EQ(rest, bytes.substr(kSize - 5, 3));
  EXPECT_EQ(cursor.at(), static_cast<int64_t>(kSize) - 2);
  char last[2];
  cursor.ReadInto(last, 2);
  EXPECT_EQ(std::string(last, 2), bytes.substr(kSize - 2));
  cursor.ReadInto(last, 0);
  EXPECT_EQ(cursor.at(), cursor.size());
  EXPECT_EQ(cursor.Peek(1).size(), 0u);
  std::string range;
  cursor.AppendRange(static_cast<int64_t>(WireCursor::kBufferBytes) - 3, 6, &range);
  EXPECT_EQ(range, bytes.substr(WireCursor::kBufferBytes - 3, 6));
}

}  // namespace
}  // namespace caffe2rt::random_access_input_test
