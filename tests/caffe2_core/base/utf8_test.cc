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

}  // namespace
}  // namespace caffe2rt::utf8_test
