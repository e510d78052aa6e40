// An allocation that fails at any time, also before main, ends the program with an error.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/programs/program_runner.h"
#include "tests/support/allocation_sweep.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::terminate_handler_test {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

ProgramResult RunWithFailure(long number) {
  setenv("LD_PRELOAD", BuildPath(FAILING_MALLOC).c_str(), 1);
  setenv("FAILING_MALLOC", std::to_string(number).c_str(), 1);
  const ProgramResult result = RunCaffe2({"run", "--predict-net", "net.pb", "--threads"});
  unsetenv("LD_PRELOAD");
  unsetenv("FAILING_MALLOC");
  return result;
}

TEST(TerminateHandlerTest, EveryFailedAllocationIsAnError) {
  const long stride = 6 * Stride();
  int before_main = 0, failures = 0, successes = 0;
  // A program may do without one allocation, but not without several.
  for (long number = 0; successes < 3; number += stride) {
    SCOPED_TRACE(number);
    const ProgramResult result = RunWithFailure(number);
    if (result.code == 2) {  // the error of a run without a failure
      EXPECT_THAT(result.err, StartsWith("caffe2: option --threads needs a value"));
      ++successes;
      continue;
    }
    successes = 0;
    ++failures;
    ASSERT_EQ(result.signal, 0) << result.err;
    ASSERT_EQ(result.code, 1) << result.err;
    ASSERT_THAT(result.err, AllOf(StartsWith("caffe2: out of memory"), EndsWith("\n")));
    // There is no memory limit yet to be stated.
    if (result.err == "caffe2: out of memory\n") ++before_main;
  }
  EXPECT_GT(before_main, 0);
  EXPECT_GT(failures, before_main);
}

}  // namespace
}  // namespace caffe2rt::test::terminate_handler_test
