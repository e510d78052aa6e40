#include "binaries/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "caffe2_core/base/display_width.h"

namespace caffe2rt::test::table_test {
namespace {

using ::testing::ElementsAre;

TEST(TableTest, AlignsTextToTheLeftAndNumbersToTheRight) {
  Table table({{"type", Column::kName}, {"ms", Column::kNumber}, {"note", Column::kText}});
  table.Add({"Relu", "0.125", "a"});
  table.Add({"Conv", "12.5"});
  EXPECT_THAT(table.Lines(80),
              ElementsAre("  type     ms  note", "  Relu  0.125  a", "  Conv   12.5"));
}

TEST(TableTest, AlignsNamesOfAnyScript) {
  Table table({{"name", Column::kName}, {"n", Column::kNumber}});
  table.Add({"\u6f22\u5b57", "1"});
  table.Add({"caf\u00e9", "2"});
  table.Add({"e\u0301", "3"});
  EXPECT_THAT(table.Lines(80),
              ElementsAre("  name  n", "  \u6f22\u5b57  1", "  caf\u00e9  2", "  e\u0301     3"));
}

TEST(TableTest, ShortensNamesBeforeTextAndNeverNumbers) {
  Table table({{"name", Column::kName}, {"text", Column::kText}, {"n", Column::kNumber}});
  table.Add({"abcdefghijklmnopqrstuvwxyz", "the text", "123456789012"});
  // The name has what the others leave: 36 - (2 + 2 + 8 + 2 + 12) columns.
  EXPECT_THAT(table.Lines(36), ElementsAre("  name        text                 n",
                                           "  abcde\u2026wxyz  the text  123456789012"));
  for (const size_t width : {22u, 30u, 36u, 50u}) {
    for (const std::string& line : table.Lines(width)) EXPECT_LE(DisplayWidth(line), width) << line;
  }
  // Too narrow for the number.
  EXPECT_NE(table.Lines(10)[1].find("123456789012"), std::string::npos);
}

TEST(TableTest, LeavesOutOptionalColumnsBeforeNamesAreUnreadable) {
  Table table({{"name", Column::kName},
               {"a", Column::kNumber, 1},
               {"b", Column::kNumber},
               {"c", Column::kNumber, 1}});
  table.Add({"abcdefghijklmnopqrst", "111111", "222222", "333333"});
  // 4 gaps of 2 columns, 3 numbers of 6, and a name of at least 16.
  EXPECT_EQ(table.Lines(42)[1], "  abcdefgh\u2026nopqrst  111111  222222  333333");
  EXPECT_EQ(table.Lines(41)[1], "  abcdefghijklmnopqrst  111111  222222");
  EXPECT_EQ(table.Lines(33)[1], "  abcdefghijklmnopqrst  222222");
  // No column is left to leave out.
  EXPECT_EQ(table.Lines(25)[1], "  abcdefg\u2026nopqrst  222222");
}

TEST(TableTest, LeavesOutTheColumnOfTheLargestNumberFirst) {
  Table table({{"a", Column::kNumber, 1},
               {"b", Column::kNumber, 3},
               {"c", Column::kNumber},
               {"d", Column::kNumber, 2}});
  table.Add({"1111", "2222", "3333", "4444"});
  EXPECT_EQ(table.Lines(24)[0], "     a     b     c     d");
  EXPECT_EQ(table.Lines(23)[0], "     a     c     d");
  EXPECT_EQ(table.Lines(17)[0], "     a     c");
  EXPECT_EQ(table.Lines(11)[0], "     c");
  EXPECT_EQ(table.Lines(1)[0], "     c");
}

TEST(TableTest, OfColumnsWithOneNumberTheLastIsLeftOutFirst) {
  Table table({{"a", Column::kNumber, 1}, {"b", Column::kNumber, 1}, {"c", Column::kNumber}});
  table.Add({"1111", "2222", "3333"});
  EXPECT_EQ(table.Lines(18)[0], "     a     b     c");
  EXPECT_EQ(table.Lines(17)[0], "     a     c");
  EXPECT_EQ(table.Lines(12)[0], "     a     c");
  EXPECT_EQ(table.Lines(11)[0], "     c");
}

// A column of short words needs their width, not the least width of its kind.
TEST(TableTest, ShortColumnsLeaveRoomForOptionalOnes) {
  Table table(
      {{"n", Column::kName}, {"s", Column::kText, 0, kLeastShapeWidth}, {"x", Column::kNumber, 1}});
  table.Add({"ab", "cd", "7"});
  EXPECT_THAT(table.Lines(11), ElementsAre("  n   s   x", "  ab  cd  7"));
  EXPECT_THAT(table.Lines(10), ElementsAre("  n   s", "  ab  cd"));
}

TEST(TableTest, LeavesOutOptionalColumnsWithoutContent) {
  Table table({{"a", Column::kNumber, 1}, {"b", Column::kNumber, 1}, {"c", Column::kNumber}});
  table.Add({"1", "", ""});
  table.Add({"", "", ""});
  EXPECT_EQ(table.Lines(80)[0], "  a  c");
  Table texts({{"a", Column::kText, 1}, {"b", Column::kName, 1}, {"c"}, {"d", Column::kText, 1}});
  texts.Add({"", "", "", "x"});
  texts.Add({"", "", "", ""});
  EXPECT_EQ(texts.Lines(80)[0], "  c  d");
}

TEST(TableTest, KeepsTheLeastWidthOfAColumn) {
  Table table({{"name", Column::kName},
               {"shape", Column::kText, 0, kLeastShapeWidth},
               {"n", Column::kNumber, 1}});
  const std::string shape = "float [1, 64, 113, 113]";
  table.Add({std::string(40, 'n'), shape, "7"});
  // The name gives up to 24 of its 40 columns.
  for (const size_t width : {46u, 60u, 80u}) {
    EXPECT_NE(table.Lines(width)[1].find(shape + "  "), std::string::npos) << width;
  }
  EXPECT_NE(table.Lines(43)[1].find(shape), std::string::npos);  // without n
  EXPECT_EQ(table.Lines(38)[1].find(shape), std::string::npos);  // too narrow for both
}

// All columns first shrink to their least widths, the names before the texts; further only if that is
// not enough.
TEST(TableTest, ShrinksToTheLeastWidthsFirst) {
  Table table({{.title = "n", .kind = Column::kName, .least_width = 10},
               {.title = "t", .kind = Column::kText, .least_width = 20}});
  const std::string name(30, 'n'), text(30, 't');
  table.Add({name, text});
  const auto widths = [&](size_t width) {
    const std::string line = table.Lines(width)[1];
    const size_t second = line.find("  ", 2);
    return std::pair(DisplayWidth(line.substr(2, second - 2)),
                     DisplayWidth(line.substr(second + 2)));
  };
  EXPECT_EQ(widths(64), std::pair(size_t{30}, size_t{30}));
  EXPECT_EQ(widths(63), std::pair(size_t{29}, size_t{30}));
  EXPECT_EQ(widths(44), std::pair(size_t{10}, size_t{30}));
  EXPECT_EQ(widths(43), std::pair(size_t{10}, size_t{29}));
  EXPECT_EQ(widths(34), std::pair(size_t{10}, size_t{20}));
  // Then to 12, 8, 4 and 1 columns.
  EXPECT_EQ(widths(33), std::pair(size_t{10}, size_t{19}));
  EXPECT_EQ(widths(26), std::pair(size_t{10}, size_t{12}));
  EXPECT_EQ(widths(25), std::pair(size_t{9}, size_t{12}));
  EXPECT_EQ(widths(24), std::pair(size_t{8}, size_t{12}));
  EXPECT_EQ(widths(23), std::pair(size_t{8}, size_t{11}));
  EXPECT_EQ(widths(20), std::pair(size_t{8}, size_t{8}));
  EXPECT_EQ(widths(19), std::pair(size_t{7}, size_t{8}));
  EXPECT_EQ(widths(6), std::pair(size_t{1}, size_t{1}));
  EXPECT_EQ(widths(1), std::pair(size_t{1}, size_t{1}));
}

TEST(TableTest, TheWidestOfSeveralNamesShrinksFirst) {
  Table table({{"a", Column::kName}, {"b", Column::kName}, {"c", Column::kName}});
  table.Add({std::string(20, 'a'), std::string(30, 'b'), std::string(20, 'c')});
  // 6 columns of gaps.
  EXPECT_EQ(table.Lines(66)[1],
            "  " + std::string(20, 'a') + "  bbbbbbbbbb\u2026bbbbbbbbb  " + std::string(20, 'c'));
  EXPECT_EQ(table.Lines(65)[1],
            "  aaaaaaaaa\u2026aaaaaaaaa  bbbbbbbbbb\u2026bbbbbbbbb  " + std::string(20, 'c'));
}

TEST(TableTest, ANameHasAtMost1000Columns) {
  Table table({{"name", Column::kName}, {"text", Column::kText}, {"n", Column::kNumber}});
  table.Add({std::string(1001, 'n'), std::string(1000, 't'), std::string(1001, '1')});
  const std::string line = table.Lines(5000)[1];
  EXPECT_EQ(DisplayWidth(line), 6u + 1000 + 1000 + 1001);
  EXPECT_NE(line.find("\u2026"), std::string::npos);
  EXPECT_NE(line.find("  " + std::string(1000, 't') + "  " + std::string(1001, '1')),
            std::string::npos);
}

TEST(TableTest, ATableWithoutTitlesHasOnlyItsRows) {
  Table table({{.kind = Column::kText}, {.kind = Column::kNumber}});
  table.Add({"weights", "4 B"});
  EXPECT_THAT(table.Lines(80), ElementsAre("  weights  4 B"));
}

}  // namespace
}  // namespace caffe2rt::test::table_test
