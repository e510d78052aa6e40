// The replayer on the fake CUDA with cases built here, and the program with the recorded cases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>

#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "contexts/cuda/cuda_context.h"
#include "fake_cuda/fake_cuda.h"
#include "tests/oracle/device_differences.h"
#include "tests/oracle/isolate.h"
#include "tests/oracle/replay.h"
#include "tests/support/operator_test.h"
#include "tests/support/sanitizers.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::oracle_on_cuda_test {
namespace {

using testing::HasSubstr;

// Y is the argument "value", or 1 on the CPU.
template <class Context>
class OracleTestValueOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  OracleTestValueOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}
  bool RunOnDevice() override {
    const bool cpu = Context::GetDeviceType() == CPU;
    const std::vector<float> values = {cpu ? 1.f
                                           : this->template GetSingleArgument<float>("value", 1.f)};
    CAFFE_ENFORCE_NE(values[0], 0, "argument value, want another; cudaErrorInvalidDeviceFunction");
    Output(0)->CopyFrom(values, &context_);
    return true;
  }
};
OPERATOR_SCHEMA(OracleTestValue).NumInputs(0).NumOutputs(1);
OPERATOR_SCHEMA(OracleTestOnCpu).NumInputs(0).NumOutputs(1);
REGISTER_CPU_OPERATOR(OracleTestValue, OracleTestValueOp<CPUContext>);
REGISTER_CPU_OPERATOR(OracleTestOnCpu, OracleTestValueOp<CPUContext>);
REGISTER_CUDA_OPERATOR(OracleTestValue, OracleTestValueOp<CUDAContext>);

const ReplayTarget kCuda = {.device = CUDA, .engine = "", .native = false};

oracle::OperatorCase CaseOf(const std::string& op) {
  TensorProto one;
  one.set_data_type(TensorProto::FLOAT);
  one.add_dims(1);
  one.add_float_data(1);
  oracle::OperatorCase recorded;
  recorded.set_id("case");
  recorded.set_op(ParseOp(op).SerializeAsString());
  recorded.add_output()->set_name("Y");
  recorded.mutable_output(0)->set_tensor(one.SerializeAsString());
  return recorded;
}

TEST(ReplayOnCudaTest, ComparesWhatComesFromTheDevice) {
  EXPECT_EQ(ReplayOperator(CaseOf(R"(type: "OracleTestValue" output: "Y")"), kCuda).what, "");
  const oracle::OperatorCase other =
      CaseOf(R"(type: "OracleTestValue" output: "Y" arg { name: "value" f: 2 })");
  EXPECT_THAT(ReplayOperator(other, kCuda).what, HasSubstr("got 2, want 1"));
  EXPECT_EQ(ReplayOperator(other).what, "");
}

TEST(ReplayOnCudaTest, LeavesOutWhatTheDeviceLacks) {
  const oracle::OperatorCase recorded = CaseOf(R"(type: "OracleTestOnCpu" output: "Y")");
  EXPECT_EQ(ReplayOperator(recorded, kCuda).status, CaseStatus::kNotImplemented);
  const CaseResult engine = ReplayOperator(CaseOf(R"(type: "OracleTestValue" output: "Y")"),
                                           {.device = CUDA, .engine = "CUDNN"});
  EXPECT_EQ(engine.status, CaseStatus::kNotImplemented);
  EXPECT_THAT(engine.what, HasSubstr("engine CUDNN of operator OracleTestValue"));
}

TEST(ReplayOnCudaTest, RecognizesKernelsThatNeedHardware) {
  oracle::OperatorCase recorded =
      CaseOf(R"(type: "OracleTestValue" output: "Y" arg { name: "value" f: 0 })");
  EXPECT_EQ(ReplayOperator(recorded, kCuda).status, CaseStatus::kNeedsHardware);
  recorded.set_throws(true);
  EXPECT_EQ(ReplayOperator(recorded, kCuda).status, CaseStatus::kNeedsHardware);
}

TEST(ReplayOnCudaTest, RunsSequencesOnTheDevice) {
  oracle::SequenceCase recorded;
  *recorded.mutable_output() = CaseOf(R"(type: "OracleTestValue" output: "Y")").output();
  recorded.set_net(ParseNet(R"(op { type: "OracleTestValue" output: "Y" }
                               op { type: "OracleTestValue" output: "Y"
                                    arg { name: "value" f: 3 } })")
                       .SerializeAsString());
  EXPECT_THAT(ReplaySequence(recorded, kCuda).what, HasSubstr("got 3, want 1"));
  EXPECT_EQ(ReplaySequence(recorded).what, "");
}

// Runs in a process of its own, in which nothing works afterwards.
TEST(WhyCudaIsUnusableDeathTest, NamesAnErrorThatStaysWithTheDevice) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EQ(WhyCudaIsUnusable(), "");
  const auto break_device = [] {
    fakecuda_fail("cudaStreamSynchronize", 0, 1, cudaErrorIllegalAddress, 1);
    std::fprintf(stderr, "%s\n", WhyCudaIsUnusable().c_str());  // the call that fails
    std::fprintf(stderr, "%s\n", WhyCudaIsUnusable().c_str());
    std::_Exit(0);
  };
  EXPECT_EXIT(break_device(), testing::ExitedWithCode(0),
              "illegal memory access.*\n.*illegal memory access");
}

TEST(DifferencesOnTest, DependOnDeviceAndEngine) {
  EXPECT_EQ(DifferencesOn({}).size(), 0u);
  EXPECT_EQ(DifferencesOn(kCuda).size(), 2u);
  EXPECT_EQ(DifferencesOn({.device = CUDA, .engine = "CUDNN"}).size(), 5u);
}

class CaffeOracleOnCudaTest : public testing::TestWithParam<std::string> {};

TEST_P(CaffeOracleOnCudaTest, PassesTheRecordedCases) {
  SKIP_WITHOUT_SHARED("oracle/operators");
  const std::string command = BuildPath(CAFFE2_ORACLE_PROGRAM) + " '" + SharedPath("oracle") +
                              "' --device cuda " + GetParam() + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string output;
  char buffer[4096];
  while (const size_t n = fread(buffer, 1, sizeof(buffer), pipe)) output.append(buffer, n);
  const int status = pclose(pipe);
  EXPECT_EQ(WEXITSTATUS(status), 0) << output;
  EXPECT_THAT(output, testing::HasSubstr(" need hardware"));
  EXPECT_THAT(output, testing::Not(testing::StartsWith("0 passed")));
  std::printf("%s", output.substr(output.rfind('\n', output.size() - 2) + 1).c_str());
}
// Every case runs in a new process, which starts slowly under ThreadSanitizer. There only the few
// cases of one engine run.
INSTANTIATE_TEST_SUITE_P(Engines, CaffeOracleOnCudaTest,
                         testing::ValuesIn(kHasThreadSanitizer
                                               ? std::vector<std::string>{"--engine CUDNN"}
                                               : std::vector<std::string>{"", "--native",
                                                                          "--engine CUDNN"}));

}  // namespace
}  // namespace caffe2rt::test::oracle_on_cuda_test
