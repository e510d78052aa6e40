// The comparison of ptxas's report with the limits, on logs written by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/programs/program_runner.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::kernel_limits_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

std::string Kernel(const std::string& name, int frame, int stores, int loads,
                   const std::string& architecture = "sm_90") {
  return "ptxas info    : Compiling entry function '" + name + "' for '" + architecture +
         "'\nptxas info    : Function properties for " + name + "\n    " + std::to_string(frame) +
         " bytes stack frame, " + std::to_string(stores) + " bytes spill stores, " +
         std::to_string(loads) + " bytes spill loads\nptxas info    : Used 38 registers\n";
}

ProgramResult Compare(const std::string& log) {
  const TempDir dir;
  const std::string limits = dir.Write("limits.json",
                                       R"({"architecture": "sm_90", "kernels_at_least": 3,
                                           "with_stack_frame_at_most": 1, "with_spills_at_most": 0})");
  return RunProgram(BUNDLE_PYTHON, {SourcePath("tests/bundle/kernel_limits.py"), "--limits", limits,
                                    dir.Write("log", log)});
}

const std::string kPlain = "[1/9] Building\nptxas info    : 0 bytes gmem\n" +
                           Kernel("_Z5PlainPf", 0, 0, 0) + Kernel("_Z5OtherPf", 0, 0, 0);

TEST(KernelLimitsTest, AcceptsWhatTheLimitsAllow) {
  const ProgramResult result = Compare(kPlain + Kernel("_Z5FramePf", 256, 0, 0));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, IsEmpty());
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("256 bytes of stack frame, 0 bytes of spills: "),
                    HasSubstr("3 kernels for sm_90, 1 with a stack frame, 0 with spills")));
}

TEST(KernelLimitsTest, ReportsWhatExceedsThem) {
  struct Row {
    std::string log;
    const char* problem;
  };
  const Row rows[] = {
      {kPlain + Kernel("_Z1APf", 8, 0, 0) + Kernel("_Z1BPf", 16, 0, 0),
       "2 kernels have a stack frame, want at most 1"},
      {kPlain + Kernel("_Z1APf", 8, 4, 0), "1 kernels have spills, want at most 0"},
      {kPlain + Kernel("_Z1APf", 8, 0, 4), "1 kernels have spills, want at most 0"},
      {kPlain, "the log has 2 kernels for sm_90, want at least 3"},
      // The same kernel twice, another architecture, and a function that is not a kernel.
      {kPlain + Kernel("_Z5PlainPf", 0, 0, 0) + Kernel("_Z1APf", 0, 0, 0, "sm_80") +
           "ptxas info    : Function properties for _Z4HelpPf\n    64 bytes stack frame, 8 bytes "
           "spill stores, 8 bytes spill loads\n",
       "the log has 2 kernels for sm_90, want at least 3"},
      {"", "the log has 0 kernels for sm_90, want at least 3"},
  };
  for (const Row& row : rows) {
    const ProgramResult result = Compare(row.log);
    EXPECT_EQ(result.code, 1) << result.out;
    EXPECT_THAT(result.err, HasSubstr(std::string("kernel_limits.py: ") + row.problem));
  }
}

TEST(KernelLimitsTest, RejectsWrongUsage) {
  EXPECT_EQ(RunProgram(BUNDLE_PYTHON, {SourcePath("tests/bundle/kernel_limits.py")}).code, 2);
}

}  // namespace
}  // namespace caffe2rt::test::kernel_limits_test
