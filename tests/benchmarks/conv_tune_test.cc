// Runs conv_tune and checks the table that it prints.
#include <gtest/gtest.h>

#include "operators/conv/conv_tuning.h"
#include "tests/programs/program_runner.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::conv_tune_test {
namespace {

std::string Row(Isa isa, const std::string& input) {
  return std::string(IsaName(isa)) + "\tNCHW\t" + input +
         "\t3\t1x1\t1x1\t0x0\t0x0\t1x1\t1\tim2col\t5\n";
}

TEST(ConvTuneTest, TimesEachShapeOfThisInstructionSetOnce) {
  const Isa other = CpuIsa() == Isa::kPlain ? Isa::kAvx2 : Isa::kPlain;
  const std::string table = Row(CpuIsa(), "1x2x4x4") + Row(other, "1x2x5x5") +
                            Row(CpuIsa(), "1x2x6x6") + Row(CpuIsa(), "1x2x4x4");
  const TempDir dir;
  const ProgramResult result =
      RunProgram(BuildPath(CONV_TUNE), {dir.Write("table.tsv", table), "--milliseconds=1"});
  ASSERT_EQ(result.code, 0) << result.err;
  const ConvTuning given(table), made(result.out);
  ASSERT_EQ(made.rows().size(), 2u) << result.out;
  EXPECT_EQ(made.rows()[0].isa, CpuIsa());
  EXPECT_EQ(made.rows()[0].shape, given.rows()[0].shape);
  EXPECT_EQ(made.rows()[1].shape, given.rows()[2].shape);
}

TEST(ConvTuneTest, ReportsErrors) {
  EXPECT_EQ(RunProgram(BuildPath(CONV_TUNE), {}).code, 2);
  EXPECT_EQ(RunProgram(BuildPath(CONV_TUNE), {"table.tsv", "--milliseconds=0"}).code, 2);
  EXPECT_EQ(RunProgram(BuildPath(CONV_TUNE), {"/no/such/table.tsv"}).code, 1);
}

}  // namespace
}  // namespace caffe2rt::test::conv_tune_test
