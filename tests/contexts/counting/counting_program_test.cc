// The device in a module: the program runs nets on it without knowing the device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/programs/program_runner.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::counting_program_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// (2 + 2) on the device, then + 2 on the CPU.
constexpr const char* kNet = R"(
  name: "mixed"
  op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 3 } arg { name: "value" f: 2 } }
  op { type: "CopyFromCPUInput" input: "x" output: "d" device_option { device_type: 20 } }
  op { type: "Add" input: "d" input: "d" output: "e" device_option { device_type: 20 } }
  op { type: "EnsureCPUOutput" input: "e" output: "y" device_option { device_type: 20 } }
  op { type: "Add" input: "y" input: "x" output: "z" }
  external_output: "z")";

TEST(CountingProgramTest, RunsANetOnTheDeviceOfAModule) {
  TempDir dir;
  const std::string net = dir.Write("net.pbtxt", kNet);
  const ProgramResult result =
      RunCaffe2({"run", "--module", BuildPath(COUNTING_MODULE), "--predict-net", net});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, IsEmpty());
  EXPECT_THAT(result.out, HasSubstr("z  float [3]\n  6 6 6\n"));
}

TEST(CountingProgramTest, RunsANetThatMixesDevices) {
  TempDir dir;
  const std::string net = dir.Write("net.pbtxt", R"(
    name: "mixed"
    op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 3 } arg { name: "value" f: 2 } }
    op { type: "Add" input: "x" input: "x" output: "e" device_option { device_type: 20 } }
    op { type: "Relu" input: "e" output: "f" device_option { device_type: 20 } }
    op { type: "Add" input: "f" input: "x" output: "z" }
    external_output: "z")");
  for (const char* option : {"--seed=1", "--cuda-sync", "--cuda-graph"}) {
    SCOPED_TRACE(option);
    const ProgramResult result = RunCaffe2({"run", "--module", BuildPath(COUNTING_MODULE),
                                            "--predict-net", net, "--iterations", "5", option});
    EXPECT_EQ(result.code, 0);
    EXPECT_THAT(result.err, IsEmpty());
    EXPECT_THAT(result.out, HasSubstr("z  float [3]\n  6 6 6\n"));
  }
}

TEST(CountingProgramTest, RunsOnTheCpuWithAWarningIfTheModuleIsMissing) {
  TempDir dir;
  const std::string net = dir.Write("net.pbtxt", kNet);
  const ProgramResult result = RunCaffe2({"run", "--predict-net", net});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("device type 20"));
  EXPECT_THAT(result.out, HasSubstr("z  float [3]\n  6 6 6\n"));
}

}  // namespace
}  // namespace caffe2rt::test::counting_program_test
