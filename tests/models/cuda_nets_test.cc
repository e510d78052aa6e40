// Trained nets compute on CUDA what they compute on the CPU, both entirely on CUDA and mixed with
// the CPU. In steady state their only CUDA calls are launches, copies and one wait. Uses the fake
// CUDA.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "caffe2_core/graph/device_inference.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "operators/common/gpu_fallback.h"
#include "tests/models/golden_case.h"
#include "tests/support/shared.h"

// Controls of the fake CUDA; null on hardware.
extern "C" __attribute__((weak)) long fakecuda_calls(const char* function);
extern "C" __attribute__((weak)) void fakecuda_reset_calls(void);

namespace caffe2rt::test::cuda_nets_test {
namespace {

using Names = std::set<std::string>;

constexpr double kTolerance = 1e-4;

// The number of runs in steady state. Each makes the same accesses to memory, so that one suffices
// for a sanitizer.
#ifdef CAFFE2RT_SANITIZED
constexpr int kSteadyRuns = 1;
#else
constexpr int kSteadyRuns = 3;
#endif

DeviceOption OptionOf(DeviceType device) {
  DeviceOption option;
  option.set_device_type(device);
  if (device != CPU) option.set_device_id(0);
  return option;
}

// The net with all operators on one device.
NetDef Placed(NetDef net, DeviceType device) {
  *net.mutable_device_option() = OptionOf(device);
  for (OperatorDef& op : *net.mutable_op()) op.clear_device_option();
  return net;
}

Names WithoutFormOnCuda(const NetDef& net) {
  Names types;
  for (const OperatorDef& op : net.op()) {
    if (!HasOperator(CUDA, op.type())) types.insert(op.type());
  }
  return types;
}

Tensor OnCPU(const Workspace& ws, const std::string& name) {
  return Tensor(ws.GetBlob(name)->Get<Tensor>(), CPU);
}

void MoveTo(DeviceType device, Workspace* ws, const std::string& name) {
  Blob* const blob = ws->GetBlob(name);
  if (blob == nullptr || !blob->IsType<Tensor>() || blob->IsTensor(device)) return;
  const Tensor moved(blob->Get<Tensor>(), device);
  *blob->GetMutableTensor(device) = moved;
}

class CudaNetsTest : public testing::TestWithParam<GoldenCase> {
 protected:
  const GoldenCase& golden() const { return GetParam(); }
  std::string File(const std::string& name) const { return golden().folder + "/" + name; }

  void SetUp() override {
    predict_ = LoadNetForCPU(File(golden().predict));
    init_ = LoadNetForCPU(File(golden().init));
    for (const GoldenCase::Output& output : golden().outputs) outputs_.insert(output.blob);
    for (const std::string& name : outputs_) predict_.add_external_output(name);
    Prepare(&cpu_);
    ASSERT_TRUE(cpu_.RunNetOnce(Placed(predict_, CPU)));
  }

  // Creates the weights and inputs, on the CPU.
  void Prepare(Workspace* ws) const {
    ASSERT_TRUE(ws->RunNetOnce(Placed(init_, CPU)));
    for (const auto& [blob, file] : golden().inputs) {
      *ws->CreateBlob(blob)->GetMutableTensor(CPU) = ReadNpy(File(file));
    }
  }

  void ExpectOutputsOfTheCpu(const Workspace& ws, const char* way) const {
    for (const std::string& name : outputs_) {
      const Tensor want = OnCPU(cpu_, name);
      // Bytes are rounded; the record's tolerance allows a difference of one.
      const double tolerance = want.IsType<float>() ? kTolerance : golden().tolerance;
      const double error = RelativeError(OnCPU(ws, name), want);
      EXPECT_LE(error, tolerance) << way << ", " << name;
      std::printf("%s, %s: %.2g of the largest value (%s)\n", golden().Name().c_str(), name.c_str(),
                  error, way);
    }
  }

  // The operators of a net that fall back to the CPU, and their inputs.
  struct Fallbacks {
    int64_t operators = 0, inputs = 0;
    explicit Fallbacks(NetBase* net) {
      for (OperatorBase* const op : net->GetOperators()) {
        if (dynamic_cast<CPUFallbackOp*>(op) == nullptr) continue;
        ++operators;
        inputs += op->InputSize();
      }
    }
  };

  // Runs the net kSteadyRuns more times and counts its CUDA calls.
  void ExpectSteadyState(NetBase* net, bool one_wait) const {
    if (&fakecuda_calls == nullptr) return;
    fakecuda_reset_calls();
    for (int i = 0; i < kSteadyRuns; ++i) ASSERT_TRUE(net->Run());
    for (const char* call :
         {"cudaMalloc", "cudaMallocAsync", "cudaMallocFromPoolAsync", "cudaFree", "cudaFreeAsync",
          "cudaMallocHost", "cudaHostAlloc", "cudaHostRegister", "cudaFreeHost", "cudaEventCreate",
          "cudaEventCreateWithFlags", "cudaStreamCreateWithFlags", "cudaDeviceSynchronize",
          "pageable_copy"}) {
      EXPECT_EQ(fakecuda_calls(call), 0) << call;
    }
    EXPECT_GT(fakecuda_calls("kernel"), 0);
    if (!one_wait) return;
    // The host waits once per run, and once for each operator that falls back to the CPU. The copy
    // of each input of such an operator to pageable memory, in one piece, waits for an event.
    const Fallbacks fallbacks(net);
    EXPECT_EQ(fakecuda_calls("cudaStreamSynchronize"), kSteadyRuns * (1 + fallbacks.operators));
    EXPECT_EQ(fakecuda_calls("cudaEventSynchronize"), kSteadyRuns * fallbacks.inputs);
  }

  NetDef init_, predict_;
  Names outputs_;
  Workspace cpu_;  // in which the net has run on the CPU
};

TEST_P(CudaNetsTest, RunsWhollyOnCuda) {
  const Names missing = WithoutFormOnCuda(predict_);
  if (!missing.empty()) {
    GTEST_SKIP() << "no CUDA implementation: " << testing::PrintToString(missing);
  }
  Workspace ws;
  Prepare(&ws);
  const NetDef predict = Placed(predict_, CUDA);
  Names on_cpu;  // blobs that CUDA operators read on the CPU, such as shapes
  for (OperatorDef op : predict.op()) {
    *op.mutable_device_option() = predict.device_option();
    const std::vector<DeviceOption> inputs = InferOpInputOutputDevice(op).first;
    for (int i = 0; i < op.input_size(); ++i) {
      if (inputs[i].device_type() == CPU) on_cpu.insert(op.input(i));
    }
  }
  for (const std::string& name : ws.LocalBlobs()) {
    if (!on_cpu.contains(name)) MoveTo(CUDA, &ws, name);
  }
  NetBase* const net = ws.CreateNet(predict);
  ASSERT_NE(net, nullptr);
  ASSERT_TRUE(net->Run());
  ExpectOutputsOfTheCpu(ws, "CUDA, first run");
  for (const std::string& name : outputs_) {
    EXPECT_TRUE(ws.GetBlob(name)->IsTensor(CUDA)) << name << " is not on the device";
  }
  ExpectSteadyState(net, true);
  ExpectOutputsOfTheCpu(ws, "CUDA, last run");
}

TEST_P(CudaNetsTest, RunsWithEveryOtherOperatorOnCuda) {
  NetDef predict = Placed(predict_, CPU);
  int on_cuda = 0;
  for (int i = 0; i < predict.op_size(); i += 2) {
    OperatorDef* const op = predict.mutable_op(i);
    if (!HasOperator(CUDA, op->type())) continue;
    *op->mutable_device_option() = OptionOf(CUDA);
    ++on_cuda;
  }
  if (on_cuda == 0) GTEST_SKIP() << "none of the operators has a CUDA implementation";
  Workspace ws;
  Prepare(&ws);
  NetBase* const net = ws.CreateNet(predict);
  ASSERT_NE(net, nullptr);
  ASSERT_TRUE(net->Run());
  ExpectOutputsOfTheCpu(ws, "mixed, first run");
  ExpectSteadyState(net, false);
  ExpectOutputsOfTheCpu(ws, "mixed, last run");
}

INSTANTIATE_TEST_SUITE_P(Models, CudaNetsTest, testing::ValuesIn(ReadGoldenCases()),
                         [](const auto& row) { return row.param.Name(); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CudaNetsTest);

TEST(CudaNetsCasesTest, AreAllRead) {
  SKIP_WITHOUT_SHARED("models/CASES.tsv");
  EXPECT_GE(ReadGoldenCases().size(), 13u);
}

}  // namespace
}  // namespace caffe2rt::test::cuda_nets_test
