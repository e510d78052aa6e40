// Nets that mix the CPU and CUDA devices, and where device errors are reported.
#include <thread>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/contexts/cuda/nets/cuda_net_testing.h"

namespace caffe2rt::test::cuda_net_test {
namespace {

// z = relu(x) + w, with the Relu on CUDA.
constexpr const char* kMixed = R"(
  name: "mixed" external_input: "x" external_input: "w" external_output: "z"
  op { type: "Relu" input: "x" output: "y" device_option { device_type: 1 } }
  op { type: "Add" input: "y" input: "w" output: "z" })";

TEST_F(CudaNetTest, NetThatMixesDevicesRunsUnedited) {
  Workspace ws;
  Feed<float>(&ws, "x", {3}, {-1, 2, 3});
  Feed<float>(&ws, "w", {3}, {10, 20, 30});
  const NetBase* const net = ws.CreateNet(ParseNet(kMixed));
  EXPECT_THAT(TypesOf(net->debug_def()),
              testing::ElementsAre("CopyCPUToGPU", "Relu", "CopyGPUToCPU", "Add"));
  EXPECT_TRUE(ws.HasBlob("x_gpu_0"));
  EXPECT_TRUE(ws.HasBlob("y_cpu"));
  for (const float top : {3.f, 7.f}) {
    Feed<float>(&ws, "x", {3}, {-1, 2, top});
    ASSERT_TRUE(ws.RunNet("mixed"));
    ExpectTensor<float>(ws, "z", {3}, {10, 22, 30 + top});
  }
}

TEST_F(CudaNetTest, SteadyStateAllocatesNothingAndWaitsOnlyForTheCpu) {
  Workspace ws;
  Feed<float>(&ws, "x", {3}, {-1, 2, 3});
  Feed<float>(&ws, "w", {3}, {10, 20, 30});
  ws.CreateNet(ParseNet(kMixed));
  for (int run = 0; run < 2; ++run) ASSERT_TRUE(ws.RunNet("mixed"));
  fakecuda_reset_calls();
  for (int run = 0; run < 3; ++run) ASSERT_TRUE(ws.RunNet("mixed"));
  for (const char* call : {"memory_wait", "cudaEventCreateWithFlags", "cudaEventCreate",
                           "cudaStreamCreateWithFlags", "pageable_copy"}) {
    EXPECT_EQ(fakecuda_calls(call), 0) << call;
  }
  EXPECT_EQ(fakecuda_calls("cudaStreamSynchronize"), 3);  // the wait before the Add
}

TEST_F(CudaNetTest, GoesFromOneGpuToAnother) {
  SKIP_BELOW_DEVICES(2);
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {-1, 2});
  const NetBase* const net = ws.CreateNet(ParseNet(R"(
    name: "two"
    op { type: "Relu" input: "x" output: "a" device_option { device_type: 1 device_id: 0 } }
    op { type: "Relu" input: "a" output: "b" device_option { device_type: 1 device_id: 1 } }
    op { type: "Add" input: "a" input: "b" output: "c" })"));
  EXPECT_THAT(TypesOf(net->debug_def()),
              testing::ElementsAre("CopyCPUToGPU", "Relu", "Copy", "Relu", "CopyGPUToCPU",
                                   "CopyGPUToCPU", "Add"));
  for (int run = 0; run < 3; ++run) ASSERT_TRUE(ws.RunNet("two"));
  ExpectTensor<float>(ws, "c", {2}, {0, 4});
  EXPECT_EQ(GetGPUIDForPointer(ws.GetBlob("a_gpu_1")->Get<Tensor>().raw_data()), 1);
  CaffeCudaSetDevice(0);
}

// The second device waits for the first one while the host goes on.
TEST_F(CudaNetTest, CrossesBetweenGpusWithoutAWaitOfTheHost) {
  SKIP_BELOW_DEVICES(2);
  Workspace ws;
  FeedCuda(&ws, "x", {2}, {-1, 2});
  ws.CreateNet(ParseNet(R"(
    name: "two"
    op { type: "Relu" input: "x" output: "a" device_option { device_type: 1 device_id: 0 } }
    op { type: "Relu" input: "a" output: "b" device_option { device_type: 1 device_id: 1 } }
    op { type: "Add" input: "b" input: "b" output: "c"
         device_option { device_type: 1 device_id: 1 } })"));
  for (int run = 0; run < 3; ++run) ASSERT_TRUE(ws.RunNet("two"));
  fakecuda_reset_calls();
  ASSERT_TRUE(ws.RunNet("two"));
  EXPECT_EQ(fakecuda_calls("cudaStreamSynchronize"), 2);  // at the end, for each device
  EXPECT_EQ(fakecuda_calls("cudaStreamWaitEvent"), 1);
  EXPECT_EQ(FetchCuda(ws, "c"), (std::vector<float>{0, 4}));
  CaffeCudaSetDevice(0);
}

// The branches are on two streams: the first stream waits for the second one before the join, and the
// host waits once, at the end.
TEST_F(CudaNetTest, BranchesUseSeveralStreamsWithOneWaitOfTheHost) {
  Workspace ws;
  FeedCuda(&ws, "x", {2}, {-1, 2});
  const std::string branches = R"( device_option { device_type: 1 }
    op { type: "Relu" input: "x" output: "a" } op { type: "Negative" input: "x" output: "b" }
    op { type: "Relu" input: "a" output: "a" } op { type: "Negative" input: "b" output: "b" }
    op { type: "Add" input: "a" input: "b" output: "c" })";
  struct Row {
    const char* type;
    int events;
  };
  for (const Row& row : {Row{"simple", 0}, Row{"dag", 1}, Row{"async_scheduling", 1}}) {
    ws.CreateNet(ParseNet(MakeString(R"(name: "n" type: ")", row.type, "\"", branches)), true);
    for (int run = 0; run < 3; ++run) ASSERT_TRUE(ws.RunNet("n"));
    fakecuda_reset_calls();
    ASSERT_TRUE(ws.RunNet("n"));
    EXPECT_EQ(fakecuda_calls("cudaStreamSynchronize"), 1) << row.type;
    EXPECT_EQ(fakecuda_calls("cudaStreamWaitEvent"), row.events) << row.type;
    EXPECT_EQ(FetchCuda(ws, "c"), (std::vector<float>{-1, 4})) << row.type;
  }
}

// Writes whether its context allows TF32.
std::vector<bool> g_allowed;
class ReportsTf32Op final : public Operator<CUDAContext> {
 public:
  using Operator<CUDAContext>::Operator;
  bool RunOnDevice() override {
    g_allowed.push_back(context_.allow_tf32());
    return true;
  }
};
REGISTER_CUDA_OPERATOR(ReportsTf32, ReportsTf32Op);
OPERATOR_SCHEMA(ReportsTf32).NumInputs(0).NumOutputs(0);

TEST_F(CudaNetTest, ArgumentAllowTf32HoldsForItsOperatorsAndNestedNets) {
  const std::string reports = R"(op { type: "ReportsTf32" device_option { device_type: 1 } } )";
  const auto branch = [](const std::string& ops) {
    return R"(op { type: "If" input: "yes" arg { name: "then_net" n { )" + ops + " } } } ";
  };
  struct Case {
    std::string net;
    bool global;
    std::vector<bool> want;
  };
  const std::string on = R"(arg { name: "allow_tf32" i: 1 } )",
                    off = R"(arg { name: "allow_tf32" i: 0 } )";
  const Case cases[] = {
      {reports, false, {false}},
      {reports, true, {true}},
      {on + reports, false, {true}},
      {off + reports, true, {false}},
      {on + branch(reports), false, {true}},
      {on + branch(branch(reports) + reports), false, {true, true}},
      {on + branch(off + reports) + reports, false, {false, true}},
      {branch(on + reports) + reports, false, {true, false}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.net);
    Workspace ws;
    Feed<bool>(&ws, "yes", {1}, {true});
    GlobalCudaLibraryOptions().allow_tf32 = c.global;
    g_allowed.clear();
    EXPECT_TRUE(ws.RunNetOnce(ParseNet("name: \"n\" " + c.net)));
    EXPECT_EQ(g_allowed, c.want);
  }
  GlobalCudaLibraryOptions().allow_tf32 = false;
}

TEST_F(CudaNetTest, InPlaceUpdateOnTheDeviceComesBack) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {-1, 2});
  ws.CreateNet(ParseNet(R"(
    name: "updates"
    op { type: "Relu" input: "x" output: "x" device_option { device_type: 1 } }
    op { type: "Add" input: "x" input: "x" output: "y" })"));
  ASSERT_TRUE(ws.RunNet("updates"));
  ExpectTensor<float>(ws, "x", {2}, {0, 2});
  ExpectTensor<float>(ws, "y", {2}, {0, 4});
}

// Each test uses its own simulated machine, because a failure stays on its device.
using CudaNetDeathTest = CudaNetTest;

// Relu, Tanh and Relu on CUDA. Tests can make the operation of the Tanh fail.
NetDef ThreeOnCuda() {
  return ParseNet(R"(
    name: "three" device_option { device_type: 1 }
    op { type: "Relu" input: "x" output: "a" }
    op { type: "Tanh" input: "a" output: "b" }
    op { type: "Relu" input: "b" output: "c" })");
}

std::string ErrorOfFailingRun(const NetDef& net) {
  Workspace ws;
  FeedCuda(&ws, "x", {2}, {-1, 2});
  ws.CreateNet(net);
  EXPECT_TRUE(ws.RunNet("three"));
  fakecuda_fail_async(1, cudaErrorIllegalAddress);
  return ErrorOf([&] { ws.RunNet("three"); });
}

// The same, but the device is held until all three operators have been enqueued.
std::string ErrorOfHeldFailingRun(const NetDef& net) {
  Workspace ws;
  FeedCuda(&ws, "x", {2}, {-1, 2});
  ws.CreateNet(net);
  EXPECT_TRUE(ws.RunNet("three"));
  const cudaStream_t stream = CUDAContext::cuda_stream(0, 0);
  fakecuda_pause(stream);
  fakecuda_reset_calls();
  fakecuda_fail_async(1, cudaErrorIllegalAddress);
  std::thread releaser([stream] {
    while (fakecuda_calls("kernel") < 3) std::this_thread::yield();
    fakecuda_resume(stream);
  });
  const std::string error = ErrorOf([&] { ws.RunNet("three"); });
  releaser.join();
  return error;
}

TEST_F(CudaNetDeathTest, ErrorOfTheDeviceNamesTheOperatorsSinceTheLastWait) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(OnMachine({},
                        [] {
                          RegisterCuda();
                          const std::string error = ErrorOfHeldFailingRun(ThreeOnCuda());
                          EXPECT_THAT(error, testing::HasSubstr("illegal memory access"));
                          EXPECT_THAT(error, testing::HasSubstr(
                                                 "net \"three\": work of operators 0 to 2 (Relu"));
                        }),
              testing::ExitedWithCode(0), "");
}

// Waits for the device before its operator starts. At that time the device has already failed.
class WaitsFirst final : public ObserverBase<OperatorBase> {
 public:
  using ObserverBase<OperatorBase>::ObserverBase;
  void Start() override {
    cudaDeviceSynchronize();
    cudaGetLastError();
  }
};

TEST_F(CudaNetDeathTest, OperatorOnAFailedDeviceIsNotBlamedAlone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(OnMachine({},
                        [] {
                          RegisterCuda();
                          Workspace ws;
                          FeedCuda(&ws, "x", {2}, {-1, 2});
                          const NetBase* const net = ws.CreateNet(ThreeOnCuda());
                          EXPECT_TRUE(ws.RunNet("three"));
                          OperatorBase* const last = net->GetOperators()[2];
                          last->AttachObserver(std::make_unique<WaitsFirst>(last));
                          fakecuda_fail_async(1, cudaErrorIllegalAddress);
                          const std::string error = ErrorOf([&] { ws.RunNet("three"); });
                          EXPECT_THAT(error, testing::HasSubstr("operator 2 (Relu"));
                          EXPECT_THAT(error, testing::HasSubstr(
                                                 "work of operators 0 to 1 on CUDA was under way"));
                        }),
              testing::ExitedWithCode(0), "");
}

TEST_F(CudaNetDeathTest, WithCudaSyncItNamesTheVeryOperator) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(OnMachine({},
                        [] {
                          RegisterCuda();
                          NetDef net = ThreeOnCuda();
                          *net.add_arg() = MakeArgument<int>("cuda_sync", 1);
                          EXPECT_THAT(ErrorOfFailingRun(net),
                                      testing::HasSubstr("net \"three\", operator 1 (Tanh"));
                        }),
              testing::ExitedWithCode(0), "");
}

// A cuDNN that is too old stops no operator, not even one that asks for it; one warning is logged.
TEST_F(CudaNetDeathTest, ConvolutionsRunNativelyWhereCudnnCannotBeUsed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto body = [] {
    RegisterCuda();
    SetLogThreshold(1);  // warnings
    fakecuda_set("cudnn_version", 91002);
    Workspace ws;
    FeedCuda(&ws, "X", {1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
    FeedCuda(&ws, "W", {1, 1, 2, 2}, {1, 1, 1, 1});
    for (const char* engine : {"", "CUDNN", "CUDNN"}) {
      OperatorDef def = ParseOp(R"(type: "Conv" input: "X" input: "W" output: "Y"
                                   device_option { device_type: 1 } arg { name: "kernel" i: 2 })");
      def.set_engine(engine);
      const std::unique_ptr<OperatorBase> op = CreateOperator(def, &ws);
      EXPECT_TRUE(op->Run());
      EXPECT_EQ(op->engine(), "NATIVE") << engine;
      EXPECT_EQ(FetchCuda(ws, "Y"), (std::vector<float>{12, 16, 24, 28})) << engine;
    }
  };
  EXPECT_EXIT(OnMachine({}, body), testing::ExitedWithCode(0),
              "^[^\n]*cuDNN 9.10.2 was found and cannot be used[^\n]*\n$");
}

TEST_F(CudaNetTest, CudaSyncWaitsAfterEachOperator) {
  Workspace ws;
  FeedCuda(&ws, "x", {2}, {-1, 2});
  NetDef net = ThreeOnCuda();
  *net.add_arg() = MakeArgument<int>("cuda_sync", 1);
  ws.CreateNet(net);
  ASSERT_TRUE(ws.RunNet("three"));
  fakecuda_reset_calls();
  ASSERT_TRUE(ws.RunNet("three"));
  EXPECT_EQ(fakecuda_calls("cudaStreamSynchronize"), 3);
}

}  // namespace
}  // namespace caffe2rt::test::cuda_net_test
