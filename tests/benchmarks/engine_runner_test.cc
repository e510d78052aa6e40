// Runs engine_runner on the demo's net and checks its answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "caffe2_core/io/npy.h"
#include "tests/programs/program_runner.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::engine_runner_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::string> Lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class EngineRunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"init_net.pb", "predict_net.pb"}) {
      std::filesystem::copy_file(DemoFile(name), dir_.path() + "/" + name);
    }
    Tensor data(CPU);
    data.Resize(1, 3, 64, 64);
    float* const values = data.mutable_data<float>();
    for (int64_t i = 0; i < data.numel(); ++i) values[i] = static_cast<float>(i % 17) / 17;
    WriteNpy(dir_.path() + "/data_1.npy", data);
  }
  const TempDir dir_;
};

TEST_F(EngineRunnerTest, RunsANetAndSavesTheOutputOfCaffe2Run) {
  const std::string saved = dir_.path() + "/saved.npy";
  const ProgramResult result = RunProgram(
      BuildPath(ENGINE_RUNNER), {"load " + dir_.path() + " 1", "run 3", "save " + saved, "memory"});
  ASSERT_EQ(result.code, 0) << result.out << result.err;
  const std::vector<std::string> lines = Lines(result.out);
  ASSERT_EQ(lines.size(), 4u) << result.out;
  EXPECT_THAT(lines[0], StartsWith("ok "));
  std::istringstream times(lines[1].substr(3));
  int count = 0;
  for (double ms = 0; times >> ms; ++count) EXPECT_GT(ms, 0);
  EXPECT_EQ(count, 3);
  EXPECT_EQ(lines[2], "ok");
  EXPECT_GT(std::stoll(lines[3].substr(3)), 1000);

  const ProgramResult run = RunCaffe2(
      WithDemo({"run", "--input", "data=" + dir_.path() + "/data_1.npy", "--output", dir_.path()}));
  ASSERT_EQ(run.code, 0) << run.err;
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
    const std::string name = entry.path().filename();
    if (name.ends_with(".npy") && name != "data_1.npy" && name != "saved.npy") {
      files.push_back(entry.path());
    }
  }
  ASSERT_EQ(files.size(), 1u);
  const Tensor ours = ReadNpy(saved), theirs = ReadNpy(files[0]);
  ASSERT_EQ(ours.numel(), theirs.numel());
  for (int64_t i = 0; i < ours.numel(); ++i) {
    EXPECT_FLOAT_EQ(ours.data<float>()[i], theirs.data<float>()[i]);
  }
}

TEST_F(EngineRunnerTest, ComputesInThePrecisionThatIsAskedFor) {
  for (const char* precision : {"bf16", "int8"}) {
    const ProgramResult result =
        RunProgram(BuildPath(ENGINE_RUNNER),
                   {"--precision", precision, "load " + dir_.path() + " 1", "run 1"});
    EXPECT_EQ(result.code, 0) << result.out << result.err;
  }
  // The net with ranges is preferred.
  std::ofstream(dir_.path() + "/predict_net_int8.pb") << "no net";
  EXPECT_EQ(
      RunProgram(BuildPath(ENGINE_RUNNER), {"--precision", "int8", "load " + dir_.path() + " 1"})
          .code,
      1);
  EXPECT_NE(RunProgram(BuildPath(ENGINE_RUNNER), {"--precision", "fp8", "describe"}).code, 0);
}

TEST_F(EngineRunnerTest, ReportsErrorsAndGoesOn) {
  const ProgramResult result = RunProgram(
      BuildPath(ENGINE_RUNNER), {"run 1", "load /no/such/folder 1", "save x", "fly", "describe"});
  EXPECT_EQ(result.code, 1);
  const std::vector<std::string> lines = Lines(result.out);
  ASSERT_EQ(lines.size(), 5u) << result.out;
  EXPECT_THAT(lines[0], HasSubstr("no net is loaded"));
  EXPECT_THAT(lines[1], HasSubstr("/no/such/folder"));
  EXPECT_THAT(lines[2], HasSubstr("no net has run"));
  EXPECT_THAT(lines[3], HasSubstr("\"fly\" is not known"));
  EXPECT_THAT(lines[4], HasSubstr("1 threads"));
}

TEST_F(EngineRunnerTest, RejectsAnUnknownOption) {
  EXPECT_EQ(RunProgram(BuildPath(ENGINE_RUNNER), {"--thread=1"}).code, 2);
}

}  // namespace
}  // namespace caffe2rt::test::engine_runner_test
