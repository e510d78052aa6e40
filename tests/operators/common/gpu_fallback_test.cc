// CPU operators that are used as CUDA operators, on the fake CUDA.
#include "operators/common/gpu_fallback.h"

#include "caffe2_core/io/file_access.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "contexts/cuda/cuda_context.h"
#include "tests/contexts/cuda/cuda_testing.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::gpu_fallback_test {
namespace {

// Y = X + 1; the optional output 1 is the sum of X. Increments the optional input 1 ("state"),
// which is not a tensor.
class FallbackTestOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const Tensor& x = Input(0);
    const std::vector<float> values(x.data<float>(), x.data<float>() + x.numel());
    float* y = Output(0, x.sizes(), x.dtype())->mutable_data<float>();
    for (size_t i = 0; i < values.size(); ++i) y[i] = values[i] + 1;
    if (OutputSize() > 1) {
      float* sum = OutputData<float>(1, {});
      *sum = 0;
      for (const float value : values) *sum += value;
    }
    if (InputSize() > 1) ++*const_cast<int*>(&OperatorBase::Input<int>(1));
    return true;
  }
};
// An operator whose output is not a tensor.
class FallbackTestTextOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    *OperatorBase::Output<std::string>(0) = "text";
    return true;
  }
};
class FallbackTestSeedOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    EXPECT_EQ(device_option().device_type(), CPU);
    EXPECT_FALSE(device_option().has_device_id());
    *OutputData<int>(0, {}) = static_cast<int>(device_option().random_seed());
    return true;
  }
};
class FallbackTestDrawOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    *OutputData<int>(0, {}) = static_cast<int>(context_.RandGenerator()() >> 1);
    return true;
  }
};
// An operator that requests access to a file.
class FallbackTestFileOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    workspace()->file_access().CheckRead("file");
    *OutputData<int>(0, {}) = 1;
    return true;
  }
};
// Writes its output and then fails unless input 0 is 1.
class FallbackTestFailOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const float x = *Input(0).data<float>();
    *OutputData<float>(0, {}) = x + 1;
    return x == 1;
  }
};
class FallbackTestObserver final : public ObserverBase<OperatorBase> {
 public:
  FallbackTestObserver(OperatorBase* op, std::string* calls)
      : ObserverBase<OperatorBase>(op), calls_(*calls) {}
  void Start() override { calls_ += "start "; }
  void Stop() override { calls_ += "stop "; }

 private:
  std::string& calls_;
};

OPERATOR_SCHEMA(FallbackTest).NumInputs(1, 2).NumOutputs(1, 2).AllowInplace({{0, 0}});
OPERATOR_SCHEMA(FallbackTestSkip).NumInputs(1).NumOutputs(2);
OPERATOR_SCHEMA(FallbackTestText).NumInputs(0).NumOutputs(1);
OPERATOR_SCHEMA(FallbackTestSkipText).NumInputs(0).NumOutputs(1);
OPERATOR_SCHEMA(FallbackTestSeed).NumInputs(0).NumOutputs(1);
OPERATOR_SCHEMA(FallbackTestDraw).NumInputs(0).NumOutputs(1);
OPERATOR_SCHEMA(FallbackTestFail).NumInputs(1).NumOutputs(1);
OPERATOR_SCHEMA(FallbackTestFile).NumInputs(0).NumOutputs(1).AccessesFiles();
REGISTER_CPU_OPERATOR(FallbackTest, FallbackTestOp);
REGISTER_CUDA_OPERATOR(FallbackTest, GPUFallbackOpEx<>);
REGISTER_CUDA_OPERATOR(FallbackTestSkip, GPUFallbackOp<FallbackTestOp, SkipIndices<1>>);
REGISTER_CUDA_OPERATOR(FallbackTestText, GPUFallbackOp<FallbackTestTextOp>);
REGISTER_CUDA_OPERATOR(FallbackTestSkipText, GPUFallbackOp<FallbackTestTextOp, SkipIndices<0>>);
REGISTER_CUDA_OPERATOR(FallbackTestSeed, GPUFallbackOp<FallbackTestSeedOp>);
REGISTER_CPU_OPERATOR(FallbackTestDraw, FallbackTestDrawOp);
REGISTER_CUDA_OPERATOR(FallbackTestDraw, GPUFallbackOpEx<>);
REGISTER_CUDA_OPERATOR(FallbackTestFail, GPUFallbackOp<FallbackTestFailOp>);
REGISTER_CUDA_OPERATOR(FallbackTestFile, GPUFallbackOp<FallbackTestFileOp>);

class GPUFallbackTest : public testing::Test {
 protected:
  void SetUp() override { RegisterCUDAContext(); }
  Tensor* FeedCuda(const std::string& name, const std::vector<float>& values) {
    Tensor host(CPU);
    host.CopyFrom(values);
    Tensor* const tensor = ws_.CreateBlob(name)->GetMutableTensor(CUDA);
    tensor->CopyFrom(host);
    return tensor;
  }
  std::vector<float> Values(const std::string& name) {
    const Tensor host(BlobGetTensor(*ws_.GetBlob(name), CUDA), CPU);
    return {host.data<float>(), host.data<float>() + host.numel()};
  }
  void Run(const std::string& text) {
    OperatorDef def = ParseOp(text);
    def.mutable_device_option()->set_device_type(CUDA);
    ASSERT_TRUE(ws_.RunOperatorOnce(def));
  }
  Workspace ws_;
};

using Floats = std::vector<float>;

TEST_F(GPUFallbackTest, CopiesTensorsToTheCpuAndBack) {
  FeedCuda("X", {1, 2, 3});
  Run(R"(type: "FallbackTest" input: "X" output: "Y" output: "S")");
  EXPECT_EQ(Values("Y"), (Floats{2, 3, 4}));
  EXPECT_EQ(Values("S"), (Floats{6}));
  EXPECT_EQ(Values("X"), (Floats{1, 2, 3}));
}

TEST_F(GPUFallbackTest, RunsAgainOnTheCurrentInputs) {
  FeedCuda("X", {1, 2});
  OperatorDef def = ParseOp(R"(type: "FallbackTest" input: "X" output: "Y")");
  def.mutable_device_option()->set_device_type(CUDA);
  const std::unique_ptr<OperatorBase> op = CreateOperator(def, &ws_);
  EXPECT_TRUE(op->Run());
  EXPECT_EQ(Values("Y"), (Floats{2, 3}));
  FeedCuda("X", {7, 8, 9});
  EXPECT_TRUE(op->Run());
  EXPECT_EQ(Values("Y"), (Floats{8, 9, 10}));
  FeedCuda("X", {});
  EXPECT_TRUE(op->Run());
  EXPECT_EQ(Values("Y"), Floats{});
  Feed<float>(&ws_, "X", {1}, {4});  // the blob is on the CPU now
  EXPECT_TRUE(op->Run());
  EXPECT_EQ(Values("Y"), (Floats{5}));
  FeedCuda("X", {5});
  EXPECT_TRUE(op->Run());
  EXPECT_EQ(Values("Y"), (Floats{6}));
}

TEST_F(GPUFallbackTest, WritesOverItsInputInPlace) {
  FeedCuda("X", {1, 2});
  Run(R"(type: "FallbackTest" input: "X" output: "X" output: "S")");
  EXPECT_EQ(Values("X"), (Floats{2, 3}));
  EXPECT_EQ(Values("S"), (Floats{3}));
}

TEST_F(GPUFallbackTest, RunsInPlaceOnADeviceTensor) {
  Feed<float>(&ws_, "X", {2}, {1, 2});
  OperatorDef def = ParseOp(R"(type: "FallbackTest" input: "X" output: "X")");
  def.mutable_device_option()->set_device_type(CUDA);
  const std::unique_ptr<OperatorBase> op = CreateOperator(def, &ws_);
  EXPECT_TRUE(op->Run());
  EXPECT_EQ(Values("X"), (Floats{2, 3}));
  EXPECT_TRUE(op->Run());
  EXPECT_EQ(Values("X"), (Floats{3, 4}));
}

TEST_F(GPUFallbackTest, SharesWhatIsNoTensor) {
  FeedCuda("X", {1});
  *ws_.CreateBlob("count")->GetMutable<int>() = 3;
  Run(R"(type: "FallbackTest" input: "X" input: "count" output: "Y")");
  EXPECT_EQ(ws_.GetBlob("count")->Get<int>(), 4);
}

TEST_F(GPUFallbackTest, FollowsThePolicyForFilesOfTheWorkspace) {
  Run(R"(type: "FallbackTestFile" output: "Y")");
  ws_.SetFileAccess(FileAccess::Off());
  ExpectThrows([&] { Run(R"(type: "FallbackTestFile" output: "Y")"); },
               "a net may not read \"file\": nets may not access any file");
}

TEST_F(GPUFallbackTest, LeavesSkippedOutputsAlone) {
  FeedCuda("X", {1, 2});
  *ws_.CreateBlob("S")->GetMutable<int>() = 9;
  Run(R"(type: "FallbackTestSkip" input: "X" output: "Y" output: "S")");
  EXPECT_EQ(Values("Y"), (Floats{2, 3}));
  EXPECT_EQ(ws_.GetBlob("S")->Get<int>(), 9);
  Run(R"(type: "FallbackTestSkipText" output: "S")");
  EXPECT_EQ(ws_.GetBlob("S")->Get<int>(), 9);
}

TEST_F(GPUFallbackTest, RejectsOutputsThatAreNotTensors) {
  ExpectThrows([&] { Run(R"(type: "FallbackTestText" output: "T")"); },
               "output 0 \"T\" of FallbackTestText on the CPU is a string, want a tensor to "
               "copy to CUDA: name it in SkipIndices");
}

TEST_F(GPUFallbackTest, KeepsTheSeedAndNothingElseOfTheDevice) {
  SKIP_BELOW_DEVICES(2);
  Run(R"(type: "FallbackTestSeed" output: "Y" device_option { device_id: 1 random_seed: 12 })");
  const Tensor host(BlobGetTensor(*ws_.GetBlob("Y"), CUDA), CPU);
  EXPECT_EQ(*host.data<int>(), 12);
}

// The outputs of a run that fails are those of the run before; observers see its end.
TEST_F(GPUFallbackTest, KeepsItsOutputsAndStopsObserversIfTheOperatorFails) {
  FeedCuda("X", {1});
  OperatorDef def = ParseOp(R"(type: "FallbackTestFail" input: "X" output: "Y")");
  def.mutable_device_option()->set_device_type(CUDA);
  const std::unique_ptr<OperatorBase> op = CreateOperator(def, &ws_);
  std::string calls;
  op->AttachObserver(std::make_unique<FallbackTestObserver>(op.get(), &calls));
  EXPECT_TRUE(op->Run());
  EXPECT_EQ(Values("Y"), (Floats{2}));
  FeedCuda("X", {5});
  EXPECT_FALSE(op->Run());
  EXPECT_EQ(Values("Y"), (Floats{2}));
  EXPECT_EQ(calls, "start stop start stop ");
}

TEST_F(GPUFallbackTest, DrawsTheNumbersThatItDrawsOnTheCpu) {
  ws_.SetRandomSeed(1);
  ASSERT_TRUE(ws_.RunOperatorOnce(ParseOp(R"(type: "FallbackTestDraw" output: "C")")));
  // The stream has the name of the output.
  Run(R"(type: "FallbackTestDraw" output: "Y" arg { name: "random_stream" s: "C" })");
  const Tensor host(BlobGetTensor(*ws_.GetBlob("Y"), CUDA), CPU);
  EXPECT_EQ(*host.data<int>(), *ws_.GetBlob("C")->Get<Tensor>().data<int>());
}

}  // namespace
}  // namespace caffe2rt::test::gpu_fallback_test
