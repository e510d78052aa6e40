// CUDA operators over blobs of the CPU, on the fake CUDA.
#include "tests/support/device_run.h"

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "contexts/cuda/cuda_context.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::device_run_test {
namespace {

// Appends X to Y, and then the number in the optional input 1, which must be on the CPU.
template <class Context>
class AppendTestOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  AppendTestOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}
  bool RunOnDevice() override {
    const Tensor& x = Input(0);
    EXPECT_EQ(x.GetDeviceType(), Context::GetDeviceType());
    Tensor host(*Output(0), CPU);
    std::vector<float> values;
    if (host.numel() > 0) values.assign(host.data<float>(), host.data<float>() + host.numel());
    const Tensor added(x, CPU);
    values.insert(values.end(), added.data<float>(), added.data<float>() + added.numel());
    if (InputSize() > 1) values.push_back(Input(1, CPU).template data<float>()[0]);
    Output(0)->CopyFrom(values, &context_);
    return true;
  }
};
OPERATOR_SCHEMA(DeviceRunAppend).NumInputs(1, 2).NumOutputs(1).AllowInplace({{0, 0}});
OPERATOR_SCHEMA(DeviceRunNowhere).NumInputs(1).NumOutputs(1);
REGISTER_CPU_OPERATOR(DeviceRunAppend, AppendTestOp<CPUContext>);
REGISTER_CPU_OPERATOR(DeviceRunNowhere, AppendTestOp<CPUContext>);
REGISTER_CUDA_OPERATOR(DeviceRunAppend, AppendTestOp<CUDAContext>);

void RunOnCuda(Workspace* ws, const std::string& text) {
  ASSERT_TRUE(RunOperatorOn(CUDA, ParseOp(text), ws));
}

TEST(RunOperatorOnTest, CopiesInputsAndOldOutputsToTheDeviceAndOutputsBack) {
  Workspace ws;
  Feed<float>(&ws, "X", {2}, {1, 2});
  RunOnCuda(&ws, R"(type: "DeviceRunAppend" input: "X" output: "Y")");
  ExpectTensor<float>(ws, "Y", {2}, {1, 2});
  RunOnCuda(&ws, R"(type: "DeviceRunAppend" input: "X" output: "Y")");
  ExpectTensor<float>(ws, "Y", {4}, {1, 2, 1, 2});
  RunOnCuda(&ws, R"(type: "DeviceRunAppend" input: "X" output: "X")");
  ExpectTensor<float>(ws, "X", {4}, {1, 2, 1, 2});
}

TEST(RunOperatorOnTest, LeavesDeclaredCpuInputsOnTheCpu) {
  Workspace ws;
  Feed<float>(&ws, "X", {1}, {1});
  Feed<float>(&ws, "n", {1}, {5});
  RunOnCuda(&ws, R"(type: "DeviceRunAppend" input: "X" input: "n" output: "Y")");
  ExpectTensor<float>(ws, "Y", {2}, {1, 5});
}

TEST(RunOperatorOnTest, ReportsWhatTheOperatorThrows) {
  Workspace ws;
  *ws.CreateBlob("X")->GetMutable<int>() = 1;
  ExpectThrows([&] { RunOnCuda(&ws, R"(type: "DeviceRunAppend" input: "X" output: "Y")"); },
               "input 0 (\"X\")");
  ExpectThrows([&] { RunOnCuda(&ws, R"(type: "DeviceRunAppend" input: "none" output: "Y")"); },
               "none");
}

TEST(RunOpTest, RunsOnTheDeviceOfTheRun) {
  if (TestDevice() != CUDA) GTEST_SKIP() << "CAFFE2_TEST_DEVICE is not cuda";
  Workspace ws;
  Feed<float>(&ws, "X", {1}, {1});
  RunOp(&ws, R"(type: "DeviceRunAppend" input: "X" output: "Y")");
  ExpectTensor<float>(ws, "Y", {1}, {1});
  RunOp(&ws, R"(type: "DeviceRunNowhere" input: "X" output: "Z")");
  ADD_FAILURE() << "an operator without a CUDA implementation did not end the test";
}

}  // namespace
}  // namespace caffe2rt::test::device_run_test
