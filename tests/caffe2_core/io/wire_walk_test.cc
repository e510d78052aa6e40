// WireWalk: fields of every wire type, and each way in which bytes are no message.
#include "caffe2_core/io/wire_walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/operator_test.h"

namespace caffe2rt::test::wire_walk_test {
namespace {

using namespace std::string_literals;
using ::testing::ElementsAre;

// Each field as "number:type value [begin,end)" of the bytes in [begin, end).
std::vector<std::string> Fields(const std::string& bytes, int64_t begin = 0, int64_t end = -1) {
  const MemoryInput input(bytes);
  WireCursor cursor(input);
  const std::string subject = "f";
  WireWalk walk(&cursor, begin, end < 0 ? static_cast<int64_t>(bytes.size()) : end, &subject,
                "a model");
  std::vector<std::string> fields;
  for (WireItem item; walk.Next(&item);) {
    fields.push_back(
        MakeString(item.number, ":", item.wire_type,
                   item.wire_type == 2 || item.wire_type == 3 ? "" : MakeString(" ", item.value),
                   " [", item.begin, ",", item.end, ")"));
    item = {};
  }
  return fields;
}

TEST(WireWalkTest, ReadsFieldsOfEveryWireType) {
  EXPECT_THAT(Fields("\x08\x96\x01"s), ElementsAre("1:0 150 [1,3)"));
  EXPECT_THAT(Fields("\x11\1\0\0\0\0\0\0\x80"s), ElementsAre("2:1 9223372036854775809 [1,9)"));
  EXPECT_THAT(Fields("\x1d\0\1\0\0"s), ElementsAre("3:5 256 [1,5)"));
  EXPECT_THAT(Fields("\x22\3abc\x08\0"s), ElementsAre("4:2 [2,5)", "1:0 0 [6,7)"));
  EXPECT_THAT(Fields("\x22\0"s), ElementsAre("4:2 [2,2)"));
  // Group 5 with a number and group 6 within.
  EXPECT_THAT(Fields("\x2b\x08\1\x33\x34\x2c\x08\2"s), ElementsAre("5:3 [1,6)", "1:0 2 [7,8)"));
  // The largest varint and the largest number of a field.
  EXPECT_THAT(Fields("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\1"s),
              ElementsAre("1:0 18446744073709551615 [1,11)"));
  EXPECT_THAT(Fields("\xf8\xff\xff\xff\x0f\0"s), ElementsAre("536870911:0 0 [5,6)"));
  // Not the shortest encodings, and only the bytes between begin and end.
  EXPECT_THAT(Fields("\x88\x80\0\x80\0"s), ElementsAre("1:0 0 [3,5)"));
  EXPECT_THAT(Fields("xx\x08\1\x08\2yy"s, 2, 6), ElementsAre("1:0 1 [3,4)", "1:0 2 [5,6)"));
  EXPECT_THAT(Fields(""), ElementsAre());
}

TEST(WireWalkTest, NamesTheByteWhereTheMessageEnds) {
  const auto nested = [](int depth) {
    return std::string(static_cast<size_t>(depth), '\x0b') +
           std::string(static_cast<size_t>(depth), '\x0c');
  };
  EXPECT_THAT(Fields(nested(32)), ElementsAre("1:3 [1,64)"));
  const std::pair<std::string, const char*> cases[] = {
      {"\x88"s, "byte 0: a number has no end"},
      {"\x08"s, "byte 1: a number has no end"},
      {"\x08\x80\x80"s, "byte 1: a number has no end"},
      {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1"s, "byte 1: a number has no end"},
      {"\x11\0\0\0\0\0\0\0"s, "byte 1: a number has no end"},
      {"\x1d\0\0\0"s, "byte 1: a number has no end"},
      {"\x22\4abc"s, "byte 2: a field ends behind its message"},
      {"\x22\xff\xff\xff\xff\xff\xff\xff\xff\xff\1"s, "byte 11: a field ends behind its message"},
      {"\x2b\x08\1"s, "byte 3: a group has no end"},
      {"\x2b\x34"s, "byte 2: the end of another group"},
      {nested(33), "byte 33: groups are nested too deep"},
      {"\x0c"s, "byte 1: a field of an unknown wire type"},
      {"\x0e"s, "byte 1: a field of an unknown wire type"},
      {"\x0f"s, "byte 1: a field of an unknown wire type"},
      {"\0"s, "byte 1: a field number out of range"},
      {"\x80\x80\x80\x80\x10\0"s, "byte 5: a field number out of range"}};
  for (const auto& [bytes, message] : cases) {
    ExpectThrows([&, &b = bytes] { Fields(b); }, std::string("cannot read \"f\": ") + message +
                                                     "; the file is damaged or not a model");
  }
  // The end of the message counts, not that of the file.
  ExpectThrows([] { Fields("\x08\x80\1"s, 0, 2); }, "byte 1: a number has no end");
  ExpectThrows([] { Fields("\x22\2ab"s, 0, 3); }, "byte 2: a field ends behind its message");
}

}  // namespace
}  // namespace caffe2rt::test::wire_walk_test
