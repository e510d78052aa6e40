// `caffe2 run` ends on Ctrl-C and when the time of --timeout is over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"
#include "tests/programs/program_runner.h"
#include "tests/support/shared.h"
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
  EXPECT_EQ(RunCaffe2({"run", "--predict-net", net, "--timeout", "0"}).code, 2);
}

TEST(RunStopTest, EndsOnASignal) {
  const TempDir dir;
  const std::string net = dir.Write("net.pbtxt", kWaits);
  const std::string command = MakeString("exec ", BuildPath(CAFFE2_PROGRAM), " run --predict-net ",
                                         net, " >", dir.path("out"), " 2>", dir.path("err"));
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  ASSERT_GE(child, 0);
  const std::string printed = "Tensor x of type float. Dims: (1,): 0\n";
  int status = 0;
  bool interrupted = false;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (!interrupted && std::filesystem::exists(dir.path("err")) &&
        ReadWholeFile(dir.path("err")) == printed) {
      interrupted = kill(child, SIGINT) == 0;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(interrupted);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_EQ(ReadWholeFile(dir.path("out")), "");
  EXPECT_THAT(
      ReadWholeFile(dir.path("err")),
      HasSubstr("\ncaffe2: the program was interrupted by a signal: net \"waits\", operator"));
}

}  // namespace
}  // namespace caffe2rt::test::run_stop_test
