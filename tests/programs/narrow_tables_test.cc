// Tables on terminals that are too narrow for all columns: which of them are left out, and at which width.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/io/npy.h"
#include "tests/programs/program_folder.h"

namespace caffe2rt::test::narrow_tables_test {
namespace {

class NarrowTablesTest : public ProgramFolder {
 protected:
  // The first line of the output on a terminal of this width.
  std::string Titles(int columns, const Words& words) const {
    Environment environment;
    environment.Set("COLUMNS", std::to_string(columns));
    const std::string out = Run(words).out;
    return out.substr(0, out.find('\n'));
  }
};

struct NarrowRow {
  int columns;
  const char* titles;
};

// The types go first, then the numbers of elements, then the ratios.
TEST_F(NarrowTablesTest, ComparisonsKeepTheNamesAndTheLargestDifferences) {
  Array("a/v.npy", {2}, {1, 2});
  Array("b/v.npy", {2}, {1, 4});
  for (const NarrowRow& row :
       {NarrowRow{58, "     blob  max abs  max rel  SNR dB  beyond  of       type"},
        {57, "     blob  max abs  max rel  SNR dB  beyond  of"},
        {47, "     blob  max abs  max rel  SNR dB  beyond  of"},
        {46, "     blob  max abs  max rel  SNR dB  beyond"},
        {43, "     blob  max abs  max rel  SNR dB  beyond"},
        {42, "     blob  max abs  max rel  beyond"},
        {35, "     blob  max abs  max rel  beyond"},
        {34, "     blob  max abs  beyond"},
        {26, "     blob  max abs  beyond"}})
    EXPECT_EQ(Titles(row.columns, {"compare", "DIR/a", "DIR/b"}), row.titles) << row.columns;
}

TEST_F(NarrowTablesTest, RecordsKeepTheirContents) {
  Array("x.npy", {2, 2}, {1, 2, 3, 4});
  Tensor y(std::vector<int64_t>{2}, CPU);
  y.mutable_data<int64_t>()[0] = 7;
  y.mutable_data<int64_t>()[1] = 12345;
  dir_.Write("y.npy", "");
  WriteNpy(dir_.path("y.npy"), y);
  Out({"db", "make", "arrays", "DIR/x.npy", "DIR/y.npy", "--output", "DIR/d.minidb"});
  // The content has 19 characters: float [2], int32 [].
  for (const NarrowRow& row : {NarrowRow{45, "  key       bytes  label  content"},
                               {44, "  key       bytes  content"},
                               {38, "  key       bytes  content"}})
    EXPECT_EQ(Titles(row.columns, {"db", "list", "DIR/d.minidb"}), row.titles) << row.columns;
  // Records without labels have no column for them.
  Out({"db", "make", "arrays", "DIR/x.npy", "--output", "DIR/e.minidb"});
  EXPECT_EQ(Titles(80, {"db", "list", "DIR/e.minidb"}), "  key       bytes  content");
}

}  // namespace
}  // namespace caffe2rt::test::narrow_tables_test
