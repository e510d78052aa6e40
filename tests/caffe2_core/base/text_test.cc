#include "caffe2_core/base/text.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>

namespace caffe2rt::text_test {
namespace {

TEST(TextTest, WritesNumbersAsPrintfDoes) {
  EXPECT_EQ(FixedText(1234.56, 1), "1234.6");
  EXPECT_EQ(FixedText(-0.0004, 3), "-0.000");
  EXPECT_EQ(FixedText(2, 0), "2");
  EXPECT_EQ(FixedText(NAN, 3), "nan");
  EXPECT_EQ(FixedText(-INFINITY, 3), "-inf");
  EXPECT_EQ(FixedText(DBL_MAX, 6).size(), 309u + 7);
  EXPECT_EQ(FixedText(0.125, 2), "0.12");  // a tie, to the even digit
  EXPECT_EQ(ShortText(1234567), "1.23457e+06");
  EXPECT_EQ(ShortText(0.5), "0.5");
  EXPECT_EQ(ShortText(100000), "100000");
  EXPECT_EQ(ShortText(1e-5), "1e-05");
  EXPECT_EQ(ShortText(-NAN), "-nan");
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

TEST(TextTest, CountsHaveTheNounOfTheirNumber) {
  EXPECT_EQ(CountText(0, "operator"), "0 operators");
  EXPECT_EQ(CountText(1, "operator"), "1 operator");
  EXPECT_EQ(CountText(-1, "operator"), "-1 operators");
  EXPECT_EQ(CountText(size_t{1}, "axis", "axes"), "1 axis");
  EXPECT_EQ(CountText(uint8_t{2}, "axis", "axes"), "2 axes");
  EXPECT_EQ(CountText(INT64_MAX, "entry is", "entries are"), "9223372036854775807 entries are");
}

TEST(TextTest, WordsAreOfAsciiLettersDigitsAndUnderscores) {
  for (const char c : {'a', 'z', 'A', 'Z', '0', '9', '_'}) EXPECT_TRUE(IsAsciiWord(c)) << c;
  for (const char c : {'@', '[', '`', '{', '/', ':', ' ', '\xe4'})
    EXPECT_FALSE(IsAsciiWord(c)) << c;
}

}  // namespace
}  // namespace caffe2rt::text_test
