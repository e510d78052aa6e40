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
               {"a", Column::kNumber, true},
               {"b", Column::kNumber},
               {"c", Column::kNumber, true}});
  table.Add({"abcdefghijklmnop", "111111", "222222", "333333"});
  // 4 gaps of 2 columns, 3 numbers of 6, and a name of at least 8.
  EXPECT_EQ(table.Lines(34)[1], "  abcd\u2026nop  111111  222222  333333");
  EXPECT_EQ(table.Lines(33)[1], "  abcdefg\u2026jklmnop  111111  222222");
  EXPECT_EQ(table.Lines(25)[1], "  abcdefg\u2026jklmnop  222222");
}

TEST(TableTest, ATableWithoutTitlesHasOnlyItsRows) {
  Table table({{.kind = Column::kText}, {.kind = Column::kNumber}});
  table.Add({"weights", "4 B"});
  EXPECT_THAT(table.Lines(80), ElementsAre("  weights  4 B"));
}

}  // namespace
}  // namespace caffe2rt::test::table_test
