#include "caffe2_core/base/utf8.h"

#include <gtest/gtest.h>

namespace caffe2rt::utf8_test {
namespace {

TEST(Utf8Test, MeasuresCharacters) {
  EXPECT_EQ(Utf8CharacterSize("a", 0), 1u);
  EXPECT_EQ(Utf8CharacterSize("x\xc3\xa9", 1), 2u);
  EXPECT_EQ(Utf8CharacterSize("\xe2\x82\xac", 0), 3u);
  EXPECT_EQ(Utf8CharacterSize("\xf0\x9f\x98\x80", 0), 4u);
}

TEST(Utf8Test, RejectsInvalidSequences) {
  for (const char* bytes : {"\x80", "\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80",
                            "\xf4\x90\x80\x80", "\xff", "\xe2\x82"}) {
    EXPECT_EQ(Utf8CharacterSize(bytes, 0), 0u) << testing::PrintToString(std::string(bytes));
  }
}

TEST(Utf8Test, ShortensBetweenCharacters) {
  EXPECT_EQ(Shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(Shortened("abcdefg", 6), "abc...");
  EXPECT_EQ(Shortened("ab\xc3\xa9"
                      "efg",
                      6),
            "ab...");  // the third byte is the first half of a character
  EXPECT_EQ(Shortened(std::string(1000, 'x')).size(), 200u);
  EXPECT_EQ(Shortened("\x80\x80\x80\x80", 3), "...");
}

TEST(Utf8Test, ShowsControlCharacters) {
  using namespace std::string_literals;
  EXPECT_EQ(EscapeControls("\x1b[31mred\x07\x7f\0"s), "\\x1b[31mred\\x07\\x7f\\x00");
  EXPECT_EQ(EscapeControls("a\tb\nc\rd"), "a\tb\nc\\x0dd");
  EXPECT_EQ(OneLine("a\tb\nc\rd"), "a\\x09b\\x0ac\\x0dd");
  // U+0080, U+009B (CSI) and U+009F are control characters; U+00A0 and above are not.
  EXPECT_EQ(EscapeControls("\xc2\x80 \xc2\x9b"
                           "31m \xc2\x9f"),
            "\\xc2\\x80 \\xc2\\x9b31m \\xc2\\x9f");
  EXPECT_EQ(EscapeControls("\xc2\xa0\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"),
            "\xc2\xa0\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  // A bare CSI of 8-bit terminals, and an incomplete character.
  EXPECT_EQ(EscapeControls("\x9b"
                           "31m \xe2\x82"),
            "\\x9b31m \\xe2\\x82");
}

TEST(Utf8Test, AcceptsTheFirstAndLastCharacterOfEachLength) {
  const struct {
    const char* bytes;
    size_t size;
  } rows[] = {
      {"\x01", 1},
      {"\x7f", 1},
      {"\xc2\x80", 2},
      {"\xdf\xbf", 2},
      {"\xe0\xa0\x80", 3},
      {"\xed\x9f\xbf", 3},
      {"\xee\x80\x80", 3},
      {"\xef\xbf\xbf", 3},
      {"\xf0\x90\x80\x80", 4},
      {"\xf4\x8f\xbf\xbf", 4},
      {"\xf1\x80\x80\x80", 4},
      // invalid
      {"\xc1\xbf", 0},
      {"\xbf", 0},
      {"\xe0\x9f\xbf", 0},
      {"\xed\xbf\xbf", 0},
      {"\xf0\x8f\xbf\xbf", 0},
      {"\xf5\x80\x80\x80", 0},
      {"\xc3\x28", 0},
      {"\xe2\x82\x28", 0},
      {"\xe2\x28\xa1", 0},
      {"\xf0\x9f\x98\x28", 0},
      {"\xf0\x9f\x98", 0},
      {"\xc3\xc3", 0},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Utf8CharacterSize(row.bytes, 0), row.size)
        << testing::PrintToString(std::string(row.bytes));
  }
  EXPECT_EQ(Utf8CharacterSize(std::string("\0", 1), 0), 1u);
}

TEST(Utf8Test, ShortensToNoMoreThanTheLimit) {
  EXPECT_EQ(Shortened("abcd", 3), "...");
  EXPECT_EQ(Shortened("abcde", 4), "a...");
  EXPECT_EQ(Shortened("", 3), "");
  EXPECT_EQ(Shortened(std::string(200, 'x')), std::string(200, 'x'));
  EXPECT_EQ(Shortened(std::string(201, 'x')), std::string(197, 'x') + "...");
  // A character that ends at the limit stays.
  EXPECT_EQ(Shortened("a\xc3\xa9zzzzz", 6), "a\xc3\xa9...");
}

TEST(Utf8Test, EscapesEachBoundOfTheControlCharacters) {
  EXPECT_EQ(EscapeControls("\x1f \x20~"), "\\x1f  ~");
  EXPECT_EQ(EscapeControls("\x0b\x08\x0e"), "\\x0b\\x08\\x0e");
  EXPECT_EQ(OneLine("\xc2\x9f\xc2\xa0"), "\\xc2\\x9f\xc2\xa0");
  EXPECT_EQ(OneLine("\xc3\x80"), "\xc3\x80") << "the second byte alone means nothing";
  EXPECT_EQ(OneLine("a\\x"), "a\\x");
}

}  // namespace
}  // namespace caffe2rt::utf8_test
