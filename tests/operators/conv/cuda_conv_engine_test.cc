// Which engine runs a convolution on CUDA, and whether its results are reproducible.
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/runtime/kernel_choice.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_libraries.h"
#include "tests/operators/conv/cudnn_api.h"
#include "tests/support/devices_agree.h"

extern "C" __attribute__((weak)) long fakecuda_calls(const char* function);

namespace caffe2rt::test::cuda_conv_engine_test {
namespace {

class CudaConvEngineTest : public OnBothCudnnApis {
 protected:
  void SetUp() override {
    OnDeviceTest::SetUp();
    if (!IsSkipped() && !HasCudnn()) GTEST_SKIP() << CudnnProblem();
  }
  // Copies a blob of the CPU to one without the ending "_cpu".
  void ToCuda(const std::string& name) {
    ws_.RunOperatorOnce(ParseOp("type: \"CopyCPUToGPU\" input: \"" + name + "_cpu\" output: \"" +
                                name + "\" device_option { device_type: 1 }"));
  }
};
INSTANTIATE_TEST_SUITE_P(Api, CudaConvEngineTest, testing::Bool(), NameOfCudnnApi);

TEST_P(CudaConvEngineTest, NamesTheEngineThatRan) {
  Feed<float>(&ws_, "X_cpu", {1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  Feed<float>(&ws_, "W_cpu", {1, 1, 2, 2}, {1, 1, 1, 1});
  for (const std::string name : {"X", "W"}) ToCuda(name);
  // Padding that makes X more than four times as large is left to the native kernels.
  struct Row {
    const char* engine;
    std::string args;
    const char* want;
    const char* reason;
  };
  const char* const named = "engine named by the net";
  const Row rows[] = {
      {"", "", "CUDNN", "rule"},
      {"CUDNN", "", "CUDNN", named},
      {"NATIVE", "", "NATIVE", named},
      {"", R"( arg { name: "pads" ints: 0 ints: 0 ints: 20 ints: 20 })", "NATIVE", "rule"},
      {"CUDNN", R"( arg { name: "pads" ints: 0 ints: 0 ints: 20 ints: 20 })", "NATIVE", "rule"}};
  for (const Row& row : rows) {
    OperatorDef def = ParseOp(R"(type: "Conv" input: "X" input: "W" output: "Y"
                                 device_option { device_type: 1 } arg { name: "kernel" i: 2 })" +
                              row.args);
    def.set_engine(row.engine);
    const std::unique_ptr<OperatorBase> op = CreateOperator(def, &ws_);
    for (int run = 0; run < 2; ++run) {
      ASSERT_TRUE(op->Run());
      EXPECT_EQ(op->engine(), row.want) << row.engine << row.args;
      const std::optional<KernelChoice> kernel = KernelOf(*op);
      ASSERT_TRUE(kernel);
      EXPECT_EQ(kernel->taken().algorithm, row.want) << row.engine << row.args;
      EXPECT_EQ(kernel->taken().reason, row.reason) << row.engine << row.args;
    }
  }
}

// In the fake cuDNN, the only algorithm without a workspace adds with atomics.
TEST_P(CudaConvEngineTest, TransposedConvolutionsAreDeterministicOnRequest) {
  if (&fakecuda_calls == nullptr) GTEST_SKIP() << "the algorithms are those of the fake cuDNN";
  ws_.RunNetOnce(ParseNet(R"(
      device_option { device_type: 1 }
      op { type: "ConstantFill" output: "X" arg { name: "shape" ints: 1 ints: 2 ints: 3 ints: 3 } }
      op { type: "ConstantFill" output: "W" arg { name: "shape" ints: 2 ints: 2 ints: 3 ints: 3 } })"));
  const auto engine = [&](const std::string& args) {
    const std::unique_ptr<OperatorBase> op =
        CreateOperator(ParseOp(R"(type: "ConvTranspose" input: "X" input: "W" output: "Y"
                                  device_option { device_type: 1 } arg { name: "kernel" i: 3 }
                                  arg { name: "ws_nbytes_limit" i: 0 })" +
                               args),
                       &ws_);
    EXPECT_TRUE(op->Run());
    return op->engine();
  };
  EXPECT_EQ(engine(""), "CUDNN");
  EXPECT_EQ(engine(R"( arg { name: "deterministic" i: 1 })"), "NATIVE");
}

// The bits of a replay are those of a plain run, if no operator adds with atomics.
TEST_P(CudaConvEngineTest, ReplaysOfDeterministicConvolutionsGiveWhatPlainRunsGive) {
  FeedRandom(&ws_, "X_cpu", {2, 3, 9, 9});
  FeedRandom(&ws_, "W_cpu", {4, 3, 3, 3}, -1, 1, 2);
  FeedRandom(&ws_, "V_cpu", {4, 5, 3, 3}, -1, 1, 3);
  NetDef net = ParseNet(R"(
      name: "plain" device_option { device_type: 1 }
      op { type: "Conv" input: "X" input: "W" output: "A" arg { name: "kernel" i: 3 }
           arg { name: "deterministic" i: 1 } }
      op { type: "ConvTranspose" input: "A" input: "V" output: "Y" arg { name: "kernel" i: 3 }
           arg { name: "deterministic" i: 1 } })");
  for (const std::string name : {"X", "W", "V"}) ToCuda(name);
  const auto result = [&] {
    const Tensor y(ws_.GetBlob("Y")->Get<Tensor>(), CPU);
    return std::vector<float>(y.data<float>(), y.data<float>() + y.numel());
  };
  NetBase* const plain = ws_.CreateNet(net);
  ASSERT_TRUE(plain->Run());
  const std::vector<float> want = result();
  net.set_name("graph");
  *net.add_arg() = MakeArgument<int>("cuda_graph", 1);
  NetBase* const graph = ws_.CreateNet(net);
  for (int run = 0; run < 6; ++run) {
    ASSERT_TRUE(graph->Run());
    EXPECT_EQ(result(), want) << "run " << run;
  }
}

}  // namespace
}  // namespace caffe2rt::test::cuda_conv_engine_test
