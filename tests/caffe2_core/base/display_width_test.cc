#include "caffe2_core/base/display_width.h"

#include <gtest/gtest.h>

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
}

}  // namespace
}  // namespace caffe2rt::display_width_test
