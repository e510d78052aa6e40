#include "caffe2_core/base/display_width.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace caffe2rt::display_width_test {
namespace {

TEST(DisplayWidthTest, CountsColumnsAndNotBytes) {
  EXPECT_EQ(DisplayWidth(""), 0u);
  EXPECT_EQ(DisplayWidth("conv1"), 5u);
  EXPECT_EQ(DisplayWidth("caf\u00e9"), 4u);
  EXPECT_EQ(DisplayWidth("\u0434\u0430"), 2u);
}

TEST(DisplayWidthTest, EastAsianWideCharactersAndEmojiHaveTwoColumns) {
  EXPECT_EQ(DisplayWidth("\u6f22\u5b57"), 4u);  // Chinese
  EXPECT_EQ(DisplayWidth("\u30ab\u30ca"), 4u);  // Katakana
  EXPECT_EQ(DisplayWidth("\uff76\uff85"), 2u);  // halfwidth Katakana
  EXPECT_EQ(DisplayWidth("\uff21"), 2u);        // fullwidth A
  EXPECT_EQ(DisplayWidth("\ud55c\uae00"), 4u);  // Hangul syllables
  EXPECT_EQ(DisplayWidth("\U0001f600"), 2u);    // an emoji
  EXPECT_EQ(DisplayWidth("\U00020000"), 2u);    // a character of plane 2
}

TEST(DisplayWidthTest, CombiningCharactersHaveNone) {
  EXPECT_EQ(DisplayWidth("e\u0301"), 1u);
  EXPECT_EQ(DisplayWidth("a\u200bb"), 2u);            // zero-width space
  EXPECT_EQ(DisplayWidth("\u1112\u1161\u11ab"), 2u);  // one Hangul syllable in three parts
}

std::string Utf8Of(char32_t c) {
  const auto byte = [](char32_t bits) { return static_cast<char>(bits); };
  if (c < 0x80) return {byte(c)};
  if (c < 0x800) return {byte(0xc0 | c >> 6), byte(0x80 | (c & 63))};
  if (c < 0x10000) return {byte(0xe0 | c >> 12), byte(0x80 | (c >> 6 & 63)), byte(0x80 | (c & 63))};
  return {byte(0xf0 | c >> 18), byte(0x80 | (c >> 12 & 63)), byte(0x80 | (c >> 6 & 63)),
          byte(0x80 | (c & 63))};
}

// The checksum (FNV-1a) and the counts were made with Python's unicodedata 14.0: width 0 for the
// categories Mn, Me and Cf, except the soft hyphen, and for 0x1160 to 0x11ff; 2 for the East Asian
// widths W and F; 1 for the others. Unassigned characters have the width of those around them if it
// is one.
TEST(DisplayWidthTest, EveryCharacterHasTheWidthOfUnicodesDatabase) {
  uint64_t hash = 14695981039346656037ull;
  int counts[3] = {};
  for (char32_t c = 0; c < 0x20000; ++c) {
    if (c >= 0xd800 && c <= 0xdfff) continue;  // surrogates have no UTF-8
    const size_t width = DisplayWidth(Utf8Of(c));
    ASSERT_LE(width, 2u);
    ++counts[width];
    hash = (hash ^ width) * 1099511628211ull;
  }
  EXPECT_EQ(counts[0], 6776);
  EXPECT_EQ(counts[1], 61479);
  EXPECT_EQ(counts[2], 60769);
  EXPECT_EQ(hash, 0xa46b3ea94e68fe98ull);
  EXPECT_EQ(DisplayWidth(Utf8Of(0x20000) + Utf8Of(0x3fffd)), 4u);
  EXPECT_EQ(DisplayWidth(Utf8Of(0x3fffe)), 1u);
  // The tags and variation selectors of plane 14.
  for (const char32_t c : {0xe0001, 0xe0020, 0xe007f, 0xe0100, 0xe01ef}) {
    EXPECT_EQ(DisplayWidth(Utf8Of(c)), 0u);
  }
  for (const char32_t c : {0xe0000, 0xe01f0, 0x10ffff}) EXPECT_EQ(DisplayWidth(Utf8Of(c)), 1u);
}

TEST(DisplayWidthTest, InvalidBytesHaveOneEach) { EXPECT_EQ(DisplayWidth("a\xff\xe2\x82"), 4u); }

TEST(DisplayWidthTest, ShortensInTheMiddle) {
  EXPECT_EQ(ShortenedInMiddle("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(ShortenedInMiddle("abcdefgh", 7), "abc\u2026fgh");
  EXPECT_EQ(ShortenedInMiddle("abcdefgh", 4), "ab\u2026h");
  EXPECT_EQ(ShortenedInMiddle("abcdefgh", 1), "\u2026");
}

TEST(DisplayWidthTest, ShorteningSplitsNoCharacter) {
  // A wide character that would need half a column more is left out.
  EXPECT_EQ(ShortenedInMiddle("\u6f22\u5b57\u6f22\u5b57", 4), "\u6f22\u2026");
  EXPECT_EQ(ShortenedInMiddle("\u6f22\u5b57\u6f22\u5b57", 5), "\u6f22\u2026\u5b57");
  EXPECT_EQ(ShortenedInMiddle("xe\u0301yzxe\u0301", 4), "xe\u0301\u2026e\u0301");
  // Nor is the accent kept of a first character that has no room.
  EXPECT_EQ(ShortenedInMiddle("\u6f22\u0301x", 2), "\u2026x");
  EXPECT_EQ(ShortenedInMiddle("\u6f22\u0301\u0302xy", 3), "\u2026xy");
}

}  // namespace
}  // namespace caffe2rt::display_width_test
