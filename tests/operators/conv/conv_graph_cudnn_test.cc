// Convolutions by cuDNN's backend API. The engines are those of the fake cuDNN
// (tests/fake_cuda/cudnn/backend_engines.cc).
#include "operators/conv/conv_graph_cudnn.h"

#include <absl/cleanup/cleanup.h>

#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/cuda_graph.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/devices_agree.h"

extern "C" __attribute__((weak)) long fakecuda_calls(const char* function);
extern "C" __attribute__((weak)) void fakecuda_fail(const char* function, int after, int times,
                                                    cudaError_t error, int sticky);
extern "C" __attribute__((weak)) void fakecuda_set(const char* value, long number);
extern "C" __attribute__((weak)) void fakecuda_set_limit(int device, size_t bytes);
extern "C" __attribute__((weak)) size_t fakecuda_live_bytes(int device);

namespace caffe2rt::test::conv_graph_cudnn_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int kEngines = 8, kAllEngines = (1 << kEngines) - 1;
// The engines by what their notes say; see the fake.
enum Engine {
  kTensorCore,
  kDownConverts,
  kCompiles,
  kReducedSums,
  kNondeterministic,
  kWinograd,  // with a workspace; not for groups
  kStrict,    // without a workspace
  kFallback,  // only the fallback heuristics list it, after kStrict
};

struct Case {
  int64_t size = 9;
  int64_t group = 1;
  bool bias = true;
  StorageOrder order = StorageOrder::NCHW;
};

ConvShape ShapeOf(const Case& c) {
  ConvShape shape;
  shape.window.order = c.order;
  shape.window.axes = 2;
  shape.window.batch = 2;
  shape.window.channels = 4;
  shape.out_channels = 6;
  shape.group = c.group;
  shape.bias = c.bias;
  for (size_t a = 0; a < 2; ++a) {
    shape.window.axis[a] = {.in = c.size, .out = c.size, .kernel = 3, .pad_head = 1, .pad_tail = 1};
  }
  return shape;
}

// A convolution with its plan and random inputs.
class OneConv {
 public:
  explicit OneConv(const Case& c, const CudnnConvOptions& options = {}) : shape_(ShapeOf(c)) {
    Fill(&x_, shape_.window.batch * shape_.window.channels * shape_.window.in_size() + kSpare);
    Fill(&filter_, shape_.out_channels * shape_.in_group() * 9);
    Fill(&bias_, shape_.out_channels);
    for (Tensor* const y : {&y_, &want_}) {
      y->Resize(shape_.window.batch * shape_.out_channels * shape_.window.out_size());
      y->mutable_data<float>();
    }
    std::string reason;
    plan_ = NewCudnnConv(context_, shape_, options, &scratch_, &reason);
    EXPECT_NE(plan_, nullptr) << reason;
  }
  // Runs the plan, on X from its element `offset` on. Returns the engines that have run.
  std::vector<int> Run(int64_t offset = 0) {
    std::vector<long> before;
    for (int i = 0; i < kEngines; ++i) before.push_back(Runs(i));
    std::string reason;
    EXPECT_TRUE(RunOnly(offset, &reason)) << reason;
    context_.FinishDeviceComputation();
    std::vector<int> ran;
    for (int i = 0; i < kEngines; ++i) {
      if (Runs(i) > before[static_cast<size_t>(i)]) ran.push_back(i);
    }
    return ran;
  }
  bool RunOnly(int64_t offset, std::string* reason) {
    return plan_->Run(context_, x_.data<float>() + offset, filter_.data<float>(), bias(),
                      y_.mutable_data<float>(), reason);
  }
  // Compares Y with what native kernels compute, and overwrites it.
  void ExpectRight(int64_t offset = 0) {
    RunNative(context_, shape_, x_.data<float>() + offset, filter_.data<float>(), bias(),
              want_.mutable_data<float>());
    const Tensor got(y_, CPU), want(want_, CPU);
    for (int64_t i = 0; i < got.numel(); ++i) {
      ASSERT_NEAR(got.data<float>()[i], want.data<float>()[i], 1e-5) << i;
    }
    y_.CopyFrom(x_);
    y_.Resize(want_.numel());
    (void)y_.mutable_data<float>();
  }
  CUDAContext& context() { return context_; }

 private:
  static constexpr int64_t kSpare = 64;
  static long Runs(int engine) {
    return fakecuda_calls(("cudnn_engine_" + std::to_string(engine)).c_str());
  }
  void Fill(Tensor* tensor, int64_t count) {
    Workspace ws;
    tensor->CopyFrom(*FeedRandom(&ws, "T", {count}, -1, 1, static_cast<uint32_t>(count)));
  }
  const float* bias() const { return shape_.bias ? bias_.data<float>() : nullptr; }

  CUDAContext context_{0};
  const ConvShape shape_;
  Tensor x_{CUDA}, filter_{CUDA}, bias_{CUDA}, y_{CUDA}, want_{CUDA}, scratch_{CUDA};
  std::unique_ptr<CudaConvPlan> plan_;
};

class ConvGraphCudnnTest : public OnDeviceTest {
 protected:
  void SetUp() override {
    OnDeviceTest::SetUp();
    if (IsSkipped()) return;
    if (&fakecuda_calls == nullptr) GTEST_SKIP() << "the engines are those of the fake cuDNN";
  }
  void TearDown() override {
    if (&fakecuda_calls == nullptr) return;
    SetEngines(kAllEngines, kAllEngines);
    GlobalCudaLibraryOptions().allow_tf32 = false;
    GlobalCudaLibraryOptions().cudnn_graph = true;
  }
  // The engines that exist, as bits, for graphs without and with a bias.
  static void SetEngines(int plain, int with_bias) {
    fakecuda_set("cudnn_engines", plain);
    fakecuda_set("cudnn_bias_engines", with_bias);
  }
  static long Calls(const char* function) { return fakecuda_calls(function); }
};

TEST_F(ConvGraphCudnnTest, RunsTheFirstEngineThatMayBeUsed) {
  struct Row {
    bool allow_tf32, deterministic;
    std::optional<size_t> limit;
    int64_t group;
    int want;
  };
  const Row rows[] = {{false, false, std::nullopt, 1, kNondeterministic},
                      {true, false, std::nullopt, 1, kTensorCore},
                      {false, true, std::nullopt, 1, kWinograd},
                      {false, false, 0, 1, kStrict},
                      {true, false, 0, 1, kStrict},
                      {false, true, 100, 1, kStrict},
                      {false, true, std::nullopt, 2, kStrict}};
  for (const bool bias : {false, true}) {
    for (const StorageOrder order : {StorageOrder::NCHW, StorageOrder::NHWC}) {
      for (const Row& row : rows) {
        SCOPED_TRACE(&row - rows);
        GlobalCudaLibraryOptions().allow_tf32 = row.allow_tf32;
        OneConv conv({.group = row.group, .bias = bias, .order = order},
                     {.workspace_limit_bytes = row.limit, .deterministic = row.deterministic});
        EXPECT_THAT(conv.Run(), ElementsAre(row.want));
        if (row.want != kTensorCore) conv.ExpectRight();
      }
    }
  }
}

TEST_F(ConvGraphCudnnTest, AsksForFallbackEnginesLast) {
  SetEngines(1 << kFallback, 0);
  OneConv conv({});
  EXPECT_THAT(conv.Run(), ElementsAre(kFallback));
  conv.ExpectRight();
}

TEST_F(ConvGraphCudnnTest, AddsTheBiasAfterwardsIfNoEngineDoes) {
  for (const StorageOrder order : {StorageOrder::NCHW, StorageOrder::NHWC}) {
    SetEngines(1 << kStrict, 1 << kCompiles);
    OneConv conv({.order = order});
    EXPECT_THAT(conv.Run(), ElementsAre(kStrict));
    conv.ExpectRight();
  }
}

TEST_F(ConvGraphCudnnTest, LeavesShapesWithoutAnEngineToTheLegacyApi) {
  const int refused = 1 << kTensorCore | 1 << kDownConverts | 1 << kCompiles | 1 << kReducedSums;
  for (const bool bias : {false, true}) {
    SetEngines(refused, refused);
    OneConv conv({.bias = bias});
    EXPECT_THAT(conv.Run(), IsEmpty());
    conv.ExpectRight();
  }
}

TEST_F(ConvGraphCudnnTest, IsNotUsedForForcedAlgorithmsNorWithoutTheFlag) {
  EXPECT_THAT(OneConv({}, {.algorithm = 0}).Run(), IsEmpty());
  GlobalCudaLibraryOptions().cudnn_graph = false;
  EXPECT_THAT(OneConv({}).Run(), IsEmpty());
}

TEST_F(ConvGraphCudnnTest, IsNotUsedWithALibraryThatLacksAFunction) {
  auto& functions = const_cast<CudnnFunctions&>(Cudnn());
  const auto execute = functions.BackendExecute;
  functions.BackendExecute = nullptr;
  EXPECT_FALSE(HasCudnnBackend());
  OneConv conv({});
  EXPECT_THAT(conv.Run(), IsEmpty());
  conv.ExpectRight();
  functions.BackendExecute = execute;
  EXPECT_TRUE(HasCudnnBackend());
}

TEST_F(ConvGraphCudnnTest, LeavesUnalignedTensorsToTheLegacyApi) {
  OneConv conv({});
  for (const int64_t offset : {0, 1, 2, 4, 3}) {
    EXPECT_EQ(conv.Run(offset).empty(), offset % 4 != 0) << offset;
    conv.ExpectRight(offset);
  }
}

// Fails each call of the backend API in turn.
TEST_F(ConvGraphCudnnTest, LeavesShapesThatCudnnRejectsToTheLegacyApi) {
  for (const char* const function :
       {"cudnnBackendCreateDescriptor", "cudnnBackendSetAttribute", "cudnnBackendGetAttribute",
        "cudnnBackendFinalize", "cudnnBackendExecute"}) {
    const long before = Calls(function);
    {
      OneConv conv({});
      conv.Run();
    }
    const long calls = Calls(function) - before;
    EXPECT_GT(calls, 0) << function;
    for (int after = 0; after < calls; ++after) {
      SCOPED_TRACE(std::string(function) + " " + std::to_string(after));
      fakecuda_fail(function, after, -1, cudaErrorUnknown, 0);
      OneConv conv({});
      EXPECT_THAT(conv.Run(), IsEmpty());
      conv.ExpectRight();
      fakecuda_fail(function, 0, 0, cudaSuccess, 0);
      conv.Run();
      conv.ExpectRight();
    }
  }
}

TEST_F(ConvGraphCudnnTest, StaysWithTheLegacyApiAfterAFailedRun) {
  OneConv conv({});
  EXPECT_THAT(conv.Run(), ElementsAre(kNondeterministic));
  fakecuda_fail("cudnnBackendExecute", 0, 1, cudaErrorUnknown, 0);
  const absl::Cleanup cancel = [] { fakecuda_fail("cudnnBackendExecute", 0, 0, cudaSuccess, 0); };
  for (int run = 0; run < 2; ++run) {
    EXPECT_THAT(conv.Run(), IsEmpty());
    conv.ExpectRight();
  }
}

TEST_F(ConvGraphCudnnTest, UsesASmallerWorkspaceWhereMemoryIsShort) {
  constexpr size_t kMiB = size_t{1} << 20;
  OneConv conv({.size = 512});  // 36 MiB
  ReleaseCachedCudaMemory();
  const size_t live = fakecuda_live_bytes(0);
  fakecuda_set_limit(0, live + 8 * kMiB);
  const absl::Cleanup unlimited = [] { fakecuda_set_limit(0, size_t{1} << 30); };
  EXPECT_THAT(conv.Run(), ElementsAre(kStrict));
  EXPECT_THAT(conv.Run(), ElementsAre(kStrict));
  EXPECT_LE(fakecuda_live_bytes(0), live + 8 * kMiB);
}

TEST_F(ConvGraphCudnnTest, KeepsTheFastestEngineForAllConvolutionsOfTheProcess) {
  const CudnnConvOptions options{.exhaustive_search = true};
  fakecuda_set("cudnn_engine_us", 60'000'000);  // nothing waits
  const absl::Cleanup fast = [] { fakecuda_set("cudnn_engine_us", 0); };
  const auto timed = [] { return Calls("cudaEventElapsedTime"); };
  for (const bool bias : {false, true}) {
    // The fastest is the second one. With a bias, graphs without it are timed too.
    SetEngines(kAllEngines, 1 << kNondeterministic | 1 << kWinograd);
    OneConv conv({.size = 21, .bias = bias}, options);
    long before = timed();
    EXPECT_THAT(conv.Run(), ElementsAre(kNondeterministic, kWinograd, kStrict, kFallback));
    EXPECT_EQ(timed() - before, bias ? 7 : 5);
    conv.ExpectRight();
    before = timed();
    EXPECT_THAT(conv.Run(), ElementsAre(kWinograd));
    OneConv again({.size = 21, .bias = bias}, options);
    EXPECT_THAT(again.Run(), ElementsAre(kWinograd));
    EXPECT_EQ(timed(), before);
    again.ExpectRight();
    OneConv other({.size = 21, .bias = bias}, {.exhaustive_search = true, .deterministic = true});
    other.Run();
    EXPECT_GT(timed(), before);
  }
}

TEST_F(ConvGraphCudnnTest, BindsPointersOnlyWhenTheyChange) {
  OneConv conv({});
  conv.Run();
  const auto made = [] { return Calls("cudnnBackendCreateDescriptor"); };
  const long before = made();
  for (int run = 0; run < 3; ++run) conv.Run();
  EXPECT_EQ(made(), before);
  conv.Run(4);
  conv.ExpectRight(4);
  EXPECT_EQ(made(), before + 1);
}

TEST_F(ConvGraphCudnnTest, AllocatesAndLocksNothingInTheSteadyState) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer replaces the allocator";
  OneConv conv({});
  conv.Run();
  // Without the fake's own allocations.
  auto& functions = const_cast<CudnnFunctions&>(Cudnn());
  const auto execute = functions.BackendExecute;
  static int executions;
  executions = 0;
  functions.BackendExecute = [](cudnnHandle_t, cudnnBackendDescriptor_t, cudnnBackendDescriptor_t) {
    ++executions;
    return CUDNN_STATUS_SUCCESS;
  };
  std::string reason;
  const AllocationCounter counter;
  for (int run = 0; run < 3; ++run) conv.RunOnly(0, &reason);
  const AllocationCounts counts = counter.Counts();
  functions.BackendExecute = execute;
  EXPECT_EQ(executions, 3);
  EXPECT_EQ(counts.allocations, 0);
  EXPECT_EQ(counts.locks, 0);
}

TEST_F(ConvGraphCudnnTest, CanBeCapturedAsACudaGraph) {
  for (const bool search : {false, true}) {
    for (const bool fused : {false, true}) {
      SetEngines(kAllEngines, fused ? kAllEngines : 0);
      OneConv conv({.size = 10}, {.exhaustive_search = search});
      conv.Run();
      conv.Run();
      conv.ExpectRight();
      CudaGraph graph(0);
      const long made = Calls("cudnnBackendCreateDescriptor");
      std::string reason;
      graph.BeginCapture(0);
      EXPECT_TRUE(conv.RunOnly(0, &reason));
      ASSERT_TRUE(graph.EndCapture(&reason)) << reason;
      EXPECT_EQ(Calls("cudnnBackendCreateDescriptor"), made);
      graph.Launch(0);
      conv.context().FinishDeviceComputation();
      conv.ExpectRight();
    }
  }
}

// A search waits for the device, which a captured stream must not do.
TEST_F(ConvGraphCudnnTest, DefersASearchWhileAGraphIsCaptured) {
  SetEngines(1 << kStrict, 1 << kStrict);  // no workspace is allocated
  OneConv conv({.size = 11}, {.exhaustive_search = true});
  const long timed = Calls("cudaEventElapsedTime");
  CudaGraph graph(0);
  std::string reason;
  graph.BeginCapture(0);
  EXPECT_TRUE(conv.RunOnly(0, &reason));
  ASSERT_TRUE(graph.EndCapture(&reason)) << reason;
  graph.Launch(0);
  conv.context().FinishDeviceComputation();
  conv.ExpectRight();
  EXPECT_EQ(Calls("cudaEventElapsedTime"), timed);
  conv.Run();
  EXPECT_GT(Calls("cudaEventElapsedTime"), timed);
}

}  // namespace
}  // namespace caffe2rt::test::conv_graph_cudnn_test
