// `caffe2 run` ends on Ctrl-C and when the time of --timeout is over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/io/image.h"
#include "tests/programs/program_runner.h"
#include "tests/support/json.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::run_stop_test {
namespace {

using testing::HasSubstr;

// Waits for ever in operator 3.
constexpr char kWaits[] = R"(name: "waits"
    op { type: "CreateBlobsQueue" output: "q" }
    op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 1 } }
    op { type: "Print" input: "x" }
    op { type: "DequeueBlobs" input: "q" control_input: "x" output: "y" })";

TEST(RunStopTest, EndsWhenTheTimeIsOver) {
  const TempDir dir;
  const std::string net = dir.Write("net.pbtxt", kWaits);
  for (const char* executor : {"simple", "async_scheduling"}) {
    const ProgramResult result =
        RunCaffe2({"run", "--predict-net", net, "--timeout", "0.05", "--executor", executor});
    EXPECT_EQ(result.code, 1);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr("caffe2: the 0.05 s of --timeout are over: net \"waits\", "
                                      "operator 3 (DequeueBlobs"));
  }
}

TEST(RunStopTest, RejectsTimesThatAreNotPositive) {
  const TempDir dir;
  const std::string net = dir.Write("net.pbtxt", kWaits);
  for (const char* seconds : {"0", "-1", "nan", "inf", "soon", "1,2", "1e10"}) {
    const ProgramResult result = RunCaffe2({"run", "--predict-net", net, "--timeout", seconds});
    EXPECT_EQ(result.code, 2) << seconds;
    EXPECT_THAT(result.err, HasSubstr("want a number of seconds above 0, at most 1e9")) << seconds;
  }
}

TEST(RunStopTest, EndsOnASignal) {
  const TempDir dir;
  const std::string net = dir.Write("net.pbtxt", kWaits);
  const ProgramResult result =
      InterruptCaffe2({"run", "--predict-net", net}, "Tensor x of type float. Dims: (1,): 0\n");
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(
      result.err,
      HasSubstr("\ncaffe2: the program was interrupted by a signal: net \"waits\", operator"));
}

// The net prints and waits for each image. After the signal no other image is run.
TEST(RunStopTest, ASignalEndsTheRunOfAFolder) {
  const TempDir dir;
  const std::string net = dir.Write("net.pbtxt", R"(name: "waits" external_input: "data"
      op { type: "Copy" input: "data" output: "d" }
      op { type: "CreateBlobsQueue" output: "q" }
      op { type: "ConstantFill" output: "x" control_input: "d" arg { name: "shape" ints: 1 } }
      op { type: "Print" input: "x" }
      op { type: "DequeueBlobs" input: "q" control_input: "x" output: "y" })");
  for (const char* name : {"in/a.png", "in/b.png", "in/c.png"}) {
    dir.Write(name, "");
    SavePng(dir.path(name), {.width = 1, .height = 1, .rgb = {1, 2, 3}});
  }
  const std::string printed = "Tensor x of type float. Dims: (1,): 0\n";
  const std::string stopped = "the program was interrupted by a signal";
  const ProgramResult result =
      InterruptCaffe2({"run", "--predict-net", net, "--image", dir.path("in"), "--json"}, printed);
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(JsonAt(result.out, "/images"), "[]");
  EXPECT_EQ(JsonSize(result.out, "/failed"), 1u) << result.out;
  EXPECT_EQ(JsonAt(result.out, "/failed/0/file"), "\"" + dir.path("in/a.png") + "\"");
  EXPECT_TRUE(result.err.starts_with(printed + "caffe2: \"" + dir.path("in/a.png") +
                                     "\": " + stopped + ": net \"waits\", operator "))
      << result.err;
  EXPECT_TRUE(result.err.ends_with("\ncaffe2: " + stopped + "\n")) << result.err;
}

}  // namespace
}  // namespace caffe2rt::test::run_stop_test
