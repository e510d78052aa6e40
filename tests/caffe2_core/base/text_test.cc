#include "caffe2_core/base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>

namespace caffe2rt::text_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TextTest, WritesNumbersAsPrintfDoes) {
  EXPECT_EQ(FixedText(1234.56, 1), "1234.6");
  EXPECT_EQ(FixedText(-0.0004, 3), "-0.000");
  EXPECT_EQ(FixedText(2, 0), "2");
  EXPECT_EQ(FixedText(NAN, 3), "nan");
  EXPECT_EQ(FixedText(-INFINITY, 3), "-inf");
  EXPECT_EQ(FixedText(DBL_MAX, 6).size(), 309u + 7);
  EXPECT_EQ(ShortText(1234567), "1.23457e+06");
  EXPECT_EQ(ShortText(0.5), "0.5");
  EXPECT_EQ(IntegerText(INT64_MIN), "-9223372036854775808");
}

TEST(TextTest, ReadsNumbersThatAreTheWholeText) {
  int number = 7;
  EXPECT_TRUE(ParseNumber("-12", &number));
  EXPECT_EQ(number, -12);
  for (const char* text : {"", " 1", "1 ", "1x", "99999999999", "1.5"}) {
    EXPECT_FALSE(ParseNumber(text, &number)) << text;
  }
  EXPECT_EQ(number, -12);
  double value = 0;
  EXPECT_TRUE(ParseNumber("1.5e3", &value));
  EXPECT_EQ(value, 1500);
  EXPECT_FALSE(ParseNumber("1,5", &value));
}

TEST(TextTest, SplitsAtSeparators) {
  EXPECT_THAT(SplitAt("a\n\nb\n", '\n'), ElementsAre("a", "", "b"));
  EXPECT_THAT(SplitAt("a", '\n'), ElementsAre("a"));
  EXPECT_THAT(SplitAt("", '\n'), IsEmpty());
}

TEST(TextTest, ChangesLettersOfAsciiOnly) {
  EXPECT_EQ(AsciiLower("Int32 [@Z`{\xc4"), "int32 [@z`{\xc4");
  EXPECT_EQ(AsciiUpper("int32 [@z`{\xe4"), "INT32 [@Z`{\xe4");
  EXPECT_TRUE(IsAsciiSpace('\v'));
  EXPECT_FALSE(IsAsciiSpace('\xa0'));
}

}  // namespace
}  // namespace caffe2rt::text_test
