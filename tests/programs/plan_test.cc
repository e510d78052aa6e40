// `caffe2 plan` and `caffe2 check` with untrusted plans.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"
#include "tests/programs/program_runner.h"
#include "tests/support/json.h"
#include "tests/support/sanitizers.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::plan_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Concurrent instances of one net that resize and write one tensor. This once caused a heap
// overflow.
const char kOverflow[] = R"(name: "attack"
    network { name: "init"
      op { type: "ConstantFill" output: "small" arg { name: "shape" ints: 2 } }
      op { type: "ConstantFill" output: "big" arg { name: "shape" ints: 20000 } } }
    network { name: "grow"
      op { type: "Copy" input: "big" output: "v" }
      op { type: "Concat" input: "v" input: "v" output: "x" output: "i" arg { name: "axis" i: 0 } }
      op { type: "Copy" input: "small" output: "v" }
      op { type: "Concat" input: "v" input: "v" output: "x" output: "i" arg { name: "axis" i: 0 } } }
    execution_step { network: "init" }
    execution_step { name: "many" num_concurrent_instances: 8
      substep { name: "one" network: "grow" num_iter: 3000 } })";

// Six levels of 1,000 instances.
std::string Multiplying() {
  std::string step = R"(network: "n")";
  for (int i = 0; i < 6; ++i) step = "num_concurrent_instances: 1000 substep { " + step + " }";
  return R"(name: "bomb" network { name: "n" } execution_step { name: "top" )" + step + "}";
}

// An operator's own device goes before that of its net. Options that name no device, such as a
// seed, leave it to the net.
TEST(PlanDevicesTest, NetsOfAMissingDeviceRunOnTheCpu) {
  Environment environment;
  environment.HideCuda();
  const TempDir dir;
  const auto plan = [&](const char* net, const char* first, const char* second) {
    return dir.Write("plan.pbtxt", MakeString(R"(name: "p" network { name: "n" )", net, R"(
        op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 2 }
             arg { name: "value" f: 3 } )",
                                              first, R"( }
        op { type: "Scale" input: "x" output: "y" arg { name: "scale" f: 2 } )",
                                              second, R"( } }
      execution_step { network: "n" })"));
  };
  constexpr const char *kCuda = "device_option { device_type: 1 }",
                       *kCpu = "device_option { device_type: 0 }",
                       *kSeed = "device_option { random_seed: 5 }";
  const struct {
    const char *net, *first, *second;
    bool names_cuda;
  } rows[] = {{kCuda, "", "", true},      {"", kCuda, "", true},   {"", "", kCuda, true},
              {kCuda, kCpu, kSeed, true}, {kCpu, "", kCuda, true}, {kCpu, kSeed, "", false},
              {"", kCpu, kSeed, false}};
  for (const auto& row : rows) {
    SCOPED_TRACE(MakeString(row.net, " ", row.first, " ", row.second));
    const std::string file = plan(row.net, row.first, row.second);
    for (const std::string device : {"auto", "cpu"}) {
      const ProgramResult result = RunCaffe2({"plan", file, "--device", device, "--fetch", "y"});
      EXPECT_EQ(result.code, 0);
      EXPECT_THAT(result.out, HasSubstr("y  float [2]\n  6 6\n"));
      EXPECT_EQ(result.err, device == "auto" && row.names_cuda
                                ? "caffe2: warning: plan \"p\" asks for CUDA, which is not "
                                  "available: it runs on the CPU\n"
                                : "");
    }
  }
}

class HostilePlanTest : public testing::Test {
 protected:
  // Runs the command, which must fail with a one-line error.
  ProgramResult RunOn(const std::string& command, const std::string& plan) {
    const ProgramResult result = RunCaffe2({command, dir_.Write("plan.pbtxt", plan)});
    EXPECT_EQ(result.code, 1);
    if (command == "plan") {
      EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    }
    return result;
  }
  TempDir dir_;
};

TEST_F(HostilePlanTest, RacesAreRejected) {
  EXPECT_THAT(
      RunOn("plan", kOverflow).err,
      AllOf(HasSubstr("is written by step \"one\" (net \"grow\")"), HasSubstr("--allow-races")));
  EXPECT_THAT(
      RunOn("check", kOverflow).out,
      AllOf(HasSubstr("error: blob \"i\" is written by step \"one\""), HasSubstr("--allow-races")));
}

TEST_F(HostilePlanTest, MultiplyingThreadsAreRejected) {
  EXPECT_THAT(RunOn("plan", Multiplying()).err, HasSubstr("runs 1001000 threads at once"));
  EXPECT_THAT(RunOn("check", Multiplying()).out, HasSubstr("runs 1001000 threads at once"));
}

// Checks that look at every net again for every step take minutes.
const int kManySteps = kHasAddressSanitizer ? 2000 : 10000;

TEST_F(HostilePlanTest, ManyStepsAndNetsAreCheckedQuickly) {
  std::string ops, steps;
  for (int i = 0; i < 2000; ++i) ops += "op { type: \"X\" output: \"o" + std::to_string(i) + "\" }";
  for (int i = 0; i < kManySteps; ++i) {
    steps +=
        "substep { create_workspace: true num_concurrent_instances: 2 substep { network: "
        "\"n\" } }\n";
  }
  const std::string plan = "network { name: \"n\" " + ops + " } execution_step { " + steps + " }";
  EXPECT_THAT(RunOn("check", plan).out, HasSubstr("operator type \"X\" is not known"));
  EXPECT_THAT(RunOn("plan", plan).err, HasSubstr("blob \"o0\""));
}

TEST_F(HostilePlanTest, ReportersOfManyStepsAreCheckedQuickly) {
  std::string ops, steps;
  for (int i = 0; i < 5000; ++i) ops += "op { type: \"X\" output: \"o" + std::to_string(i) + "\" }";
  for (int i = 0; i < kManySteps; ++i) {
    steps +=
        "execution_step { report_net: \"r\" report_interval: 1 num_concurrent_instances: 2 "
        "substep { } }\n";
  }
  EXPECT_THAT(RunOn("check", "network { name: \"r\" " + ops + " } " + steps).out,
              HasSubstr("operator type \"X\" is not known"));
}

// Neither step runs, so that nothing races.
TEST_F(HostilePlanTest, AllowRacesIsAnOptionOfTheCommandLine) {
  const std::string plan = dir_.Write("plan.pbtxt", R"(
      network { name: "n" op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 1 } } }
      execution_step { num_concurrent_instances: 2 substep { network: "n" num_iter: 0 } }
      execution_step { network: "n" })");
  EXPECT_EQ(RunCaffe2({"plan", plan}).code, 1);
  const ProgramResult allowed = RunCaffe2({"plan", plan, "--allow-races", "--fetch", "x"});
  EXPECT_EQ(allowed.code, 0) << allowed.err;
  EXPECT_THAT(allowed.out, HasSubstr("x  float [1]"));
}

// Sends the signal when the net has printed, which is within its first iteration or later.
TEST(PlanSignalTest, AnInterruptedPlanIsAnError) {
  const TempDir dir;
  const std::string plan = dir.Write("plan.pbtxt", R"(name: "long"
      network { name: "n" op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 1 } }
                op { type: "Print" input: "x" arg { name: "every_n" i: 2000000000 } } }
      execution_step { name: "train" network: "n" num_iter: 9223372036854775807 })");
  const ProgramResult result =
      InterruptCaffe2({"plan", plan, "--fetch", "x"}, "Tensor x of type float. Dims: (1,): 0\n");
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err,
              testing::ContainsRegex("\ncaffe2: plan \"long\" was interrupted by a signal in step "
                                     "\"train\", iteration [0-9]+ of 9223372036854775807\n$"));
}

// Behind a step that has ended.
TEST(PlanSignalTest, ThePositionIsThatOfTheStepThatRuns) {
  const TempDir dir;
  const std::string plan = dir.Write("plan.pbtxt", R"(name: "nested"
      network { name: "fill" op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 1 } } }
      network { name: "print"
                op { type: "Print" input: "x" arg { name: "every_n" i: 2000000000 } } }
      execution_step { name: "whole" num_iter: 2 substep { name: "outer" num_iter: 3
        substep { name: "first" network: "fill" num_iter: 2 }
        substep { name: "second" network: "print" num_iter: 9223372036854775807 } } })");
  const ProgramResult result =
      InterruptCaffe2({"plan", plan}, "Tensor x of type float. Dims: (1,): 0\n");
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, testing::ContainsRegex(
                              "\ncaffe2: plan \"nested\" was interrupted by a signal in step "
                              "\"whole\", iteration 1 of 2, step \"outer\", iteration 1 of 3, step "
                              "\"second\", iteration [0-9]+ of "
                              "9223372036854775807\n$"));
}

TEST(PlanTerminalTest, ATerminalShowsWhereThePlanStands) {
  const TempDir dir;
  std::string plan = dir.Write("plan.pbtxt", R"(
      network { name: "n" op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 1 } } }
      execution_step { name: "epoch" num_iter: 3
        substep { name: "train" network: "n" num_iter: 9223372036854775807 } })");
  std::string program = BuildPath(CAFFE2_PROGRAM), command = "plan";
  char* argv[] = {program.data(), command.data(), plan.data(), nullptr};
  int terminal = -1;
  const winsize size = {.ws_row = 24, .ws_col = 200, .ws_xpixel = 0, .ws_ypixel = 0};
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    execv(argv[0], argv);
    _exit(127);
  }
  ASSERT_GE(child, 0);
  std::string out;
  char piece[4096];
  bool interrupted = false;
  for (ssize_t count; (count = read(terminal, piece, sizeof(piece))) > 0;) {
    out.append(piece, static_cast<size_t>(count));
    // On a busy machine the first line may come before the plan is in the inner step.
    if (interrupted || out.find(" of 9223372036854775807, ") == std::string::npos) continue;
    interrupted = true;
    kill(child, SIGINT);
  }
  close(terminal);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_THAT(out, testing::ContainsRegex("\r\x1b\\[Kstep \"epoch\", iteration 1 of 3, step "
                                          "\"train\", iteration [0-9]+ of 9223372036854775807, "
                                          "[0-9]+ s"));
  // The line of the progress is cleared first.
  EXPECT_THAT(out, HasSubstr("\r\x1b[Kcaffe2: "));
  EXPECT_THAT(out, HasSubstr("interrupted by a signal in step \"epoch\", iteration 1 of 3, step"));
}

TEST(PlanFetchTest, PrintsTensorsInTheirRows) {
  const TempDir dir;
  const std::string plan = dir.Write("plan.pbtxt", R"(name: "both"
      network { name: "n" op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: 2 ints: 2 }
                arg { name: "values" floats: 0.25 floats: 0.75 floats: 1 floats: 0 } }
        op { type: "GivenTensorInt64Fill" output: "c" arg { name: "shape" ints: 2 ints: 1 ints: 2 }
             arg { name: "values" ints: 1 ints: 20 ints: 300 ints: 4 } } }
      execution_step { network: "n" })");
  const ProgramResult result = RunCaffe2({"plan", plan, "--fetch", "w", "--fetch", "c"});
  EXPECT_THAT(result.out, HasSubstr("w  float [2, 2]\n  0.25 0.75\n     1    0\n"
                                    "c  int64 [2, 1, 2]\n  [0, :, :]\n    1  20\n  [1, :, :]\n"
                                    "  300   4\n"));
  const ProgramResult json = RunCaffe2({"plan", plan, "--fetch", "c", "--fetch", "w", "--json"});
  EXPECT_EQ(JsonAt(json.out, "/plan"), "\"both\"");
  EXPECT_EQ(JsonSize(json.out, "/outputs"), 2u);
  EXPECT_EQ(JsonAt(json.out, "/outputs/0/name"), "\"c\"");
  EXPECT_EQ(JsonAt(json.out, "/outputs/1/name"), "\"w\"");
  EXPECT_EQ(JsonAt(json.out, "/outputs/1/values/1"), "0.75");
}

TEST(PlanTargetTest, ATargetThatExistsIsReportedBeforeThePlanRuns) {
  const TempDir dir;
  const std::string plan = dir.Write("plan.pbtxt", MakeString(R"(name: "p"
      network { name: "n" op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 1 } }
                op { type: "Print" input: "x" } }
      network { name: "save" op { type: "Save" input: "x" arg { name: "db" s: "weights" }
                arg { name: "db_type" s: "lmdb" } } }
      execution_step { network: "n" }
      execution_step { network: "save" })"));
  const std::vector<std::string> command = {"plan", plan, "--root", dir.path()};
  const ProgramResult first = RunCaffe2(command), second = RunCaffe2(command);
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(second.code, 1);
  EXPECT_EQ(second.out, "");  // Print has not run
  EXPECT_THAT(second.err,
              AllOf(HasSubstr("operator 0 (Save) of net \"save\", before the plan runs"),
                    HasSubstr("weights\": it exists; remove it, or choose another")));
}

TEST(PlanTargetTest, ATargetOfAStepThatMayNotRunIsNoError) {
  const TempDir dir;
  std::filesystem::create_directory(dir.path("weights"));
  for (const char* steps : {
           "execution_step { network: 'n' } execution_step { network: 'save' num_iter: 0 }",
           "execution_step { network: 'stop' network: 'save' should_stop_blob: 'stop' }",
           "execution_step { substep { network: 'stop' } substep { network: 'save' } "
           "should_stop_blob: 'stop' }",
           "execution_step { concurrent_substeps: true substep { network: 'n' } "
           "substep { network: 'save' run_every_ms: 3600000 } }",
       }) {
    SCOPED_TRACE(steps);
    const std::string plan = dir.Write("plan.pbtxt", MakeString(R"(name: "p"
        network { name: "n" op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 1 } } }
        network { name: "stop" op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 1 } }
                  op { type: "ConstantFill" output: "stop" arg { name: "dtype" i: 5 }
                  arg { name: "shape" ints: 1 } arg { name: "value" i: 1 } } }
        network { name: "save" op { type: "Save" input: "x" arg { name: "db" s: "weights" }
                  arg { name: "db_type" s: "lmdb" } } } )",
                                                                steps));
    const ProgramResult result = RunCaffe2({"plan", plan, "--root", dir.path()});
    EXPECT_EQ(result.code, 0) << result.err;
  }
}

// The check of the folder creates a file in it, which is removed again.
TEST(PlanTargetTest, AFolderThatANetMayNotWriteIsNotTouched) {
  const TempDir dir;
  std::filesystem::create_directory(dir.path("root"));
  std::filesystem::create_directory(dir.path("outside"));
  const auto before = std::filesystem::file_time_type::clock::now() - std::chrono::hours(24);
  std::filesystem::last_write_time(dir.path("outside"), before);
  const std::string plan = dir.Write("root/plan.pbtxt", MakeString(R"(name: "p"
      network { name: "n"
        op { type: "ConstantFill" output: "i" arg { name: "shape" ints: 1 }
             arg { name: "dtype" i: 10 } }
        op { type: "Checkpoint" input: "i" input: "i" arg { name: "absolute_path" i: 1 }
             arg { name: "db" s: ")",
                                                                   dir.path("outside"), R"(/x_%d" }
             arg { name: "db_type" s: "minidb" } arg { name: "every" i: 1 } } }
      execution_step { network: "n" })"));
  const ProgramResult result = RunCaffe2({"plan", plan, "--root", dir.path("root")});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("before the plan runs"), HasSubstr("a net may not write")));
  EXPECT_EQ(std::filesystem::last_write_time(dir.path("outside")), before);
}

}  // namespace
}  // namespace caffe2rt::test::plan_test
