// Names and values of nets as text in DOT, XML and JSON, cut to the room that there is, and the
// classes of arrows in images.
#include "caffe2_core/graph/drawing/markup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "caffe2_core/graph/net_drawing.h"
#include "caffe2_core/graph/net_summary.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::markup_test {
namespace {

using ::testing::HasSubstr;

TEST(MarkupTest, OnlyPrintableCharactersAreShown) {
  const std::pair<const char*, const char*> rows[] = {
      {"", ""},
      {"a b~", "a b~"},
      {"a\tb\nc\x01\x1f\x7f", "a?b?c???"},
      {"\xC2\x80|\xC2\x9F", "?|?"},                      // U+0080, U+009F
      {"\xC2\xA0|\xC3\x80", "\xC2\xA0|\xC3\x80"},        // U+00A0, U+00C0
      {"\xE2\x82\xAC\xF0\x9F\x98\x80", "\xE2\x82\xAC\xF0\x9F\x98\x80"},
      {"\xFF\xFE", "??"},
      {"\xE2\x82", "??"},      // a character that ends early
      {"\x80z", "?z"},         // one that begins nowhere
      {"\xC0\xAF", "??"},      // longer than needed
      {"\xED\xA0\x80", "???"}  // half of a pair
  };
  for (const auto& [text, shown] : rows) EXPECT_EQ(Printable(text), shown);
}

TEST(MarkupTest, CharactersWithAMeaningAreEscaped) {
  struct Row {
    const char *text, *dot, *xml, *json;
  };
  for (const Row& row : {
           Row{"plain", "plain", "plain", "\"plain\""},
           Row{"a\"b", "a\\\"b", "a&quot;b", "\"a\\\"b\""},
           Row{"a\\b", "a\\\\b", "a\\b", "\"a\\\\b\""},
           Row{"<&>", "<&>", "&lt;&amp;&gt;", "\"\\u003c\\u0026\\u003e\""},
           Row{"&amp;", "&amp;", "&amp;amp;", "\"\\u0026amp;\""},
           Row{"\n", "?", "?", "\"?\""},
           Row{"'", "'", "'", "\"'\""},
           // U+2028 and U+2029 end lines of scripts; U+FFFE and U+FFFF are not allowed in XML.
           Row{"\xE2\x80\xA8", "\xE2\x80\xA8", "\xE2\x80\xA8", "\"\\u2028\""},
           Row{"\xE2\x80\xA9", "\xE2\x80\xA9", "\xE2\x80\xA9", "\"\\u2029\""},
           Row{"\xEF\xBF\xBE", "\xEF\xBF\xBE", "?", "\"\xEF\xBF\xBE\""},
           Row{"\xEF\xBF\xBF", "\xEF\xBF\xBF", "?", "\"\xEF\xBF\xBF\""},
           Row{"\xEF\xBF\xBD", "\xEF\xBF\xBD", "\xEF\xBF\xBD", "\"\xEF\xBF\xBD\""},
       }) {
    EXPECT_EQ(EscapeDot(row.text), row.dot);
    EXPECT_EQ(EscapeXml(row.text), row.xml);
    EXPECT_EQ(JsonString(row.text), row.json);
  }
}

// Letters such as a are 6.4 px wide in a size of 10 px, the mark and other characters 10 px.
TEST(MarkupTest, TextIsCutWhereTheRoomEnds) {
  const std::string mark = "\xE2\x80\xA6", euro = "\xE2\x82\xAC";
  const auto fitted = [](const std::string& text, double most) {
    return FittedText(text, 10, false, most);
  };
  EXPECT_EQ(fitted("aaaa", 25.7), "aaaa");
  EXPECT_EQ(fitted("aaaa", 25.5), "aa" + mark);   // 22.8
  EXPECT_EQ(fitted("aaaa", 22.9), "aa" + mark);
  EXPECT_EQ(fitted("aaaa", 22.7), "a" + mark);    // 16.4
  EXPECT_EQ(fitted("aaaa", 10), mark);
  EXPECT_EQ(fitted("aaaa", 1), mark);
  EXPECT_EQ(fitted("", 1), "");
  EXPECT_EQ(fitted("aaa", 17), "a" + mark);
  EXPECT_EQ(fitted("a", 6.3), mark);
  EXPECT_EQ(fitted(euro + euro + euro, 29), euro + mark);
  EXPECT_EQ(fitted(euro + euro + euro, 31), euro + euro + euro);
  EXPECT_EQ(fitted(euro + euro + euro + euro, 40), euro + euro + euro + euro);
  EXPECT_EQ(fitted(euro + euro + euro + euro, 39.9), euro + euro + mark);
  EXPECT_EQ(fitted(euro + euro + euro + euro, 30), euro + euro + mark);
  // Marks of the text before the cut are not repeated.
  EXPECT_EQ(fitted("a" + mark + "aaaa", 27), "a" + mark);
  EXPECT_EQ(fitted("a" + mark + mark + "aaaa", 37), "a" + mark);
  EXPECT_EQ(fitted("a" + mark + "aaaa", 33), "a" + mark + "a" + mark);
  EXPECT_EQ(FittedText("aaaa", 10, true, 28.7), "aaaa");  // 4 * 6.4 * 1.12
  EXPECT_EQ(FittedText("aaaa", 10, true, 28.6), "aa" + mark);
}

TEST(MarkupTest, ControlInputsAreArrowsOfTheirOwn) {
  EnsureBuiltinOperators();
  const NetDef net = ParseNet(R"(op { type: "Relu" input: "x" output: "a" }
      op { type: "Tanh" input: "x" output: "b" control_input: "a" }
      op { type: "Sum" input: "a" input: "b" output: "y" })");
  const std::string svg = NetAsSvg(net, SummarizeNet({}, net, {}));
  EXPECT_THAT(svg, HasSubstr("<g class=\"edge control\" id=\"e2\"><title>a</title>"));
  const std::string control = "<g class=\"edge control\"";
  EXPECT_EQ(svg.find(control), svg.rfind(control));
}

}  // namespace
}  // namespace caffe2rt::test::markup_test
