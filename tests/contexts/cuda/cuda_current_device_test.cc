// Which devices the library starts: it creates no context on a device that was not selected. Each
// test runs in its own process.
#include <functional>
#include <string>
#include <thread>

#include "caffe2rt/caffe2.pb.h"
#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/cuda_graph.h"
#include "contexts/cuda/pinned_allocator.h"
#include "tests/contexts/cuda/cuda_fake_testing.h"

namespace caffe2rt::test::cuda_current_device_test {
namespace {

using testing::ExitedWithCode;

class CudaCurrentDeviceTest : public testing::Test {
 protected:
  void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

void InThread(const std::function<void()>& body) { std::thread(body).join(); }

int RuntimesDevice() {
  int device = -1;
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  return device;
}

// The work that a program does on device 1. Each step runs in a thread of its own, which starts on
// device 0, and leaves device 0 as it was.
void UseDeviceOne() {
  RegisterCUDAContext();
  DeviceOption option;
  option.set_device_type(CUDA);
  option.set_device_id(1);
  CUDAContext shared(option);
  shared.SwitchToDevice(1);
  DataPtr memory(CUDAContext::New(4096));
  Event event(option);
  shared.Record(&event);
  const auto graph = std::make_unique<CudaGraph>(1);
  char pageable[4096] = {};
  const DataPtr pinned(PinnedCPUAllocator().New(4096));
  struct Step {
    std::string name;
    std::function<void()> run;
  };
  const Step steps[] = {
      {"guard", [] { const DeviceGuard guard(1); }},
      {"wait", [&] { shared.FinishDeviceComputation(); }},
      {"from pageable", [&] { shared.CopyBytesFromCPU(4096, pageable, memory.get()); }},
      {"to pageable", [&] { shared.CopyBytesToCPU(4096, memory.get(), pageable); }},
      {"from pinned", [&] { shared.CopyBytesFromCPU(4096, pinned.get(), memory.get()); }},
      {"on the device", [&] { shared.CopyBytesSameDevice(8, memory.get(), memory.get()); }},
      {"query", [&] { event.Query(); }},
      {"finish", [&] { event.Finish(); }},
      {"device of a pointer", [&] { EXPECT_EQ(GetGPUIDForPointer(memory.get()), 1); }},
      {"pinned memory", [] { PinnedCPUAllocator().New(size_t{1} << 20); }},
      {"release pinned memory", [] { PinnedPool().ReleaseCached(); }},
      {"graph",
       [&] {
         CUDAContext context(option);
         context.SwitchToDevice(0);
         graph->BeginCapture(0);
         std::string reason;
         EXPECT_TRUE(graph->EndCapture(&reason)) << reason;
         graph->Launch(0);
         context.FinishDeviceComputation();
       }},
      {"memory", [&] { NewCudaMemory(size_t{3} << 20, shared.stream()); }},
      {"handle", [&] { CUDAContext(option).cublas_handle(); }},
      {"free", [&] { memory.Reset(); }},
      {"release memory", [] { ReleaseCachedCudaMemory(); }},
  };
  for (const Step& step : steps) {
    InThread([&step] {
      step.run();
      EXPECT_FALSE(fakecuda_has_context(0)) << step.name;
    });
    if (testing::Test::HasFailure()) return;
  }
}

TEST_F(CudaCurrentDeviceTest, WorkOnOneDeviceStartsNoOther) {
  const auto body = [] {
    UseDeviceOne();
    EXPECT_TRUE(fakecuda_has_context(1));
    EXPECT_TRUE(CudaDeviceIsStarted(1));
    EXPECT_FALSE(CudaDeviceIsStarted(0));
    EXPECT_EQ(FindStartedCudaDevice(), 1);
  };
  EXPECT_EXIT(OnMachine({}, body), ExitedWithCode(0), "");
}

TEST_F(CudaCurrentDeviceTest, QueriesStartNone) {
  const auto body = [] {
    int local = 0;
    EXPECT_EQ(GetGPUIDForPointer(&local), -1);
    EXPECT_TRUE(TensorCoreAvailable());
    std::vector<std::vector<bool>> pattern;
    EXPECT_TRUE(GetCudaPeerAccessPattern(&pattern));
    EXPECT_FALSE(CudaDeviceIsStarted(0));
    EXPECT_EQ(FindStartedCudaDevice(), -1);
    EXPECT_FALSE(fakecuda_has_context(0) || fakecuda_has_context(1));
  };
  EXPECT_EXIT(OnMachine({}, body), ExitedWithCode(0), "");
}

TEST_F(CudaCurrentDeviceTest, GuardGoesBackToTheChosenDeviceWithoutStartingIt) {
  const auto body = [] {
    { const DeviceGuard guard(1); }
    EXPECT_EQ(CaffeCudaGetDevice(), 0);
    EXPECT_EQ(RuntimesDevice(), 1);
    {
      const DeviceGuard outer(1);
      const DeviceGuard inner(1);
    }
    EXPECT_EQ(CaffeCudaGetDevice(), 0);
    EXPECT_FALSE(fakecuda_has_context(0));
    // The chosen device is where memory and contexts without a device go.
    const DataPtr memory(CUDAContext::New(100));
    EXPECT_EQ(GetGPUIDForPointer(memory.get()), 0);
    EXPECT_EQ(CUDAContext().device_id(), 0);
    CUDAContext context(0);
    context.SwitchToDevice(0);
    EXPECT_EQ(RuntimesDevice(), 0);
    // Now that device 0 is started, the guard sets it again.
    { const DeviceGuard guard(1); }
    EXPECT_EQ(RuntimesDevice(), 0);
  };
  EXPECT_EXIT(OnMachine({}, body), ExitedWithCode(0), "");
}

TEST_F(CudaCurrentDeviceTest, GuardGoesBackToADeviceThatOtherCodeStarted) {
  const auto body = [] {
    EXPECT_EQ(cudaFree(nullptr), cudaSuccess);  // starts device 0
    { const DeviceGuard guard(1); }
    EXPECT_EQ(RuntimesDevice(), 0);
  };
  EXPECT_EXIT(OnMachine({}, body), ExitedWithCode(0), "");
}

TEST_F(CudaCurrentDeviceTest, OtherCodesChoiceReplacesTheParkedOne) {
  FakeCudaConfig config{};
  config.devices = 3;
  const auto body = [] {
    { const DeviceGuard guard(1); }
    EXPECT_EQ(cudaSetDevice(2), cudaSuccess);
    EXPECT_EQ(CaffeCudaGetDevice(), 2);
    EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
    EXPECT_EQ(CaffeCudaGetDevice(), 1);
  };
  EXPECT_EXIT(OnMachine(config, body), ExitedWithCode(0), "");
}

}  // namespace
}  // namespace caffe2rt::test::cuda_current_device_test
