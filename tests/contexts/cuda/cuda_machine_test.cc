// Machines that lack something, and the end of a program. Each test runs in its own process.
#include <sys/wait.h>
#include <unistd.h>

#include <iostream>
#include <thread>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/tensor/tensor.h"
#include "caffe2rt/caffe2.pb.h"
#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/cuda_graph.h"
#include "contexts/cuda/pinned_allocator.h"
#include "tests/contexts/cuda/cuda_fake_testing.h"

namespace caffe2rt::test::cuda_machine_test {
namespace {

using testing::AllOf;
using testing::ExitedWithCode;
using testing::HasSubstr;
using State = CudaMachine::State;

class CudaMachineTest : public testing::Test {
 protected:
  void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

// Every entry point reports why CUDA is unavailable, and every query returns an answer.
void ExpectNoCuda(State state) {
  EXPECT_EQ(TheCudaMachine().state, state);
  EXPECT_FALSE(HasCudaGPU());
  EXPECT_FALSE(TensorCoreAvailable());
  EXPECT_EQ(GetGPUIDForPointer(&state), -1);
  EXPECT_TRUE(TotalMemoryByGpu().empty());
  EXPECT_EQ(CudaMemoryJson(), "[]");
  std::vector<std::vector<bool>> pattern;
  EXPECT_FALSE(GetCudaPeerAccessPattern(&pattern));
  RegisterCUDAContext();
  DeviceOption option;
  option.set_device_type(CUDA);
  const std::string why = TheCudaMachine().message + "; run on the CPU";
  EXPECT_THAT(ErrorOf([&] { GetStaticContext(CUDA)->CreateContext(option); }), HasSubstr(why));
  EXPECT_THAT(ErrorOf([] { GetStaticContext(CUDA)->New(16); }),
              HasSubstr(TheCudaMachine().message));
  EXPECT_THAT(ErrorOf([] { Tensor({2}, CUDA).mutable_data<float>(); }), HasSubstr(why));
  std::cerr << TheCudaMachine().message << "\n";
}

TEST_F(CudaMachineTest, ReportsAMissingDriver) {
  FakeCudaConfig config{};
  config.no_driver = 1;
  EXPECT_EXIT(OnMachine(config, [] { ExpectNoCuda(State::kNoDriver); }), ExitedWithCode(0),
              "CUDA: .*driver.* .cudaGetDeviceCount: CUDA driver version is insufficient");
}

TEST_F(CudaMachineTest, NamesTheDriverAndThePackageThatReplacesIt) {
  FakeCudaConfig config{};
  config.driver_version = 12040;
  EXPECT_EXIT(OnMachine(config, [] { ExpectNoCuda(State::kNoDriver); }), ExitedWithCode(0),
              "CUDA: the driver.* is for CUDA 12.4, want one for CUDA 13.0 or later "
              ".release 580 or later.; install it, or on a data center GPU the package "
              "cuda-compat-13-[0-9]+ .cudaGetDeviceCount: CUDA driver version is insufficient");
}

TEST(CudaDriverTest, ReadsTheReleaseOfTheKernelModule) {
  EXPECT_EQ(internal::DriverRelease("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  "
                                    "Thu Feb 22 01:44:30 UTC 2024\nGCC version:  gcc 12.2.0\n"),
            "550.54.14");
  EXPECT_EQ(internal::DriverRelease("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  "
                                    "580.65.06  Release Build"),
            "580.65.06");
  EXPECT_EQ(internal::DriverRelease("NVRM version: unknown\nGCC version:  gcc 12.2.0\n"), "");
  EXPECT_EQ(internal::DriverRelease(""), "");
}

TEST_F(CudaMachineTest, ReportsAMissingDevice) {
  FakeCudaConfig config{};
  config.devices = -1;
  EXPECT_EXIT(OnMachine(config, [] { ExpectNoCuda(State::kNoDevice); }), ExitedWithCode(0),
              "CUDA: no device on this machine .cudaGetDeviceCount: ");
}

TEST_F(CudaMachineTest, ReportsADriverThatDidNotStart) {
  EXPECT_EXIT(OnMachine({},
                        [] {
                          fakecuda_fail("cudaGetDeviceCount", 0, -1, cudaErrorSystemDriverMismatch,
                                        0);
                          ExpectNoCuda(State::kUnavailable);
                        }),
              ExitedWithCode(0), "CUDA: the driver did not start .*error 803");
}

// The library is found and lacks no function, but its version is wrong.
TEST_F(CudaMachineTest, ReportsACudnnThatCannotBeUsedOnce) {
  if (!CudnnIsInThisBuild()) GTEST_SKIP() << CudnnProblem();
  const auto body = [] {
    SetLogThreshold(1);  // warnings
    fakecuda_set("cudnn_version", 91002);
    EXPECT_FALSE(HasCudnn());
    EXPECT_FALSE(HasCudnn());
    EXPECT_FALSE(ShouldReportCudnnProblem());  // it has been logged
    EXPECT_THAT(ErrorOf([] { CUDAContext().cudnn_handle(); }),
                HasSubstr("cuDNN 9.10.2 was found and cannot be used"));
    std::cerr << "end\n";
  };
  EXPECT_EXIT(OnMachine({}, body), ExitedWithCode(0),
              "^[^\n]*cuDNN 9.10.2 was found and cannot be used, want 9.12.0 or later of the same "
              "major version; native kernels run\nend\n$");
}

TEST_F(CudaMachineTest, UsesACudnnOlderThanItsHeaders) {
  if (!CudnnIsInThisBuild()) GTEST_SKIP() << CudnnProblem();
  const auto body = [] {
    fakecuda_set("cudnn_version", 91200);
    EXPECT_TRUE(HasCudnn()) << CudnnProblem();
    EXPECT_NE(CUDAContext().cudnn_handle(), nullptr);
  };
  EXPECT_EXIT(OnMachine({}, body), ExitedWithCode(0), "^$");
}

TEST_F(CudaMachineTest, UsesSixteenOfMoreDevices) {
  FakeCudaConfig config{};
  config.devices = 20;
  config.bytes_per_device = size_t{64} << 20;
  EXPECT_EXIT(OnMachine(config,
                        [] {
                          EXPECT_EQ(TheCudaMachine().state, State::kTooMany);
                          EXPECT_EQ(TheCudaMachine().found, 20);
                          EXPECT_EQ(NumCudaDevices(), 16);
                          CUDAContext last(15);
                          last.SwitchToDevice(0);
                          EXPECT_NE(DataPtr(CUDAContext::New(100)).get(), nullptr);
                          EXPECT_EQ(ErrorOf([] { CUDAContext beyond(16); }),
                                    "CUDA device 16 is not on this machine, want 0 to 15");
                          std::cerr << TheCudaMachine().message << "\n";
                        }),
              ExitedWithCode(0), "CUDA: 20 devices, more than the 16 that can be used");
}

TEST_F(CudaMachineTest, ForkedProcessReportsThatCudaIsUnusable) {
  const auto body = [] {
    RegisterCUDAContext();
    CUDAContext context;
    Tensor tensor({100}, CUDA);
    tensor.mutable_data<float>();
    const pid_t child = fork();
    if (child == 0) {
      EXPECT_FALSE(HasCudaGPU());
      EXPECT_EQ(TheCudaMachine().state, State::kLostByFork);
      for (const std::function<void()>& entry : std::initializer_list<std::function<void()>>{
               [] { CUDAContext(); }, [] { CUDAContext::New(16); }, [] { CaffeCudaGetDevice(); },
               [&] { context.FinishDeviceComputation(); }, [&] { context.SwitchToDevice(0); },
               [&] { context.CopyBytesSameDevice(4, &context, &context); },
               [] { CudaGraph(0).BeginCapture(0); }}) {
        EXPECT_THAT(ErrorOf(entry), HasSubstr("this process was forked"));
      }
      tensor.FreeMemory();  // has no effect
      std::cerr << TheCudaMachine().message << std::endl;
      std::_Exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
    context.FinishDeviceComputation();  // the parent process is unaffected
  };
  EXPECT_EXIT(OnMachine({}, body), ExitedWithCode(0), "CUDA: this process was forked");
}

TEST_F(CudaMachineTest, FreesNothingWhileTheRuntimeGoes) {
  const auto body = [] {
    RegisterCUDAContext();
    Tensor tensor({100}, CUDA);
    tensor.mutable_data<float>();
    DataPtr shared(CUDAContext::New(1000));
    std::thread([&] {  // uses the memory on a stream that is never waited for
      CUDAContext context;
      context.SwitchToDevice(0);
      shared.Reset();
    })
        .join();
    auto graph = std::make_unique<CudaGraph>(0);
    graph->BeginCapture(0);
    std::string reason;
    EXPECT_TRUE(graph->EndCapture(&reason)) << reason;
    fakecuda_set_unloading(1);
    tensor.FreeMemory();
    graph.reset();
    ReleaseCachedCudaMemory();
    EXPECT_THROW(CUDAContext::New(size_t{8} << 20), EnforceNotMet);
    EXPECT_TRUE(CudaIsUnloading());
    std::cerr << "quiet\n";
  };
  EXPECT_EXIT(OnMachine({}, body), ExitedWithCode(0), "^quiet\n$");
}

TEST_F(CudaMachineTest, CopiesThroughTheHostBetweenDevicesThatAreNoPeers) {
  FakeCudaConfig config{};
  config.peer_group = 1;
  const auto body = [] {
    EXPECT_FALSE(EnableCudaPeerAccess(0, 1));
    EXPECT_FALSE(EnableCudaPeerAccess(1, 0));
    std::vector<std::vector<bool>> pattern;
    EXPECT_TRUE(GetCudaPeerAccessPattern(&pattern));
    EXPECT_FALSE(pattern[0][1] || pattern[1][0]);
    CUDAContext first(0), second(1);
    second.SwitchToDevice(0);
    const DataPtr there(CUDAContext::New(4));
    first.SwitchToDevice(0);
    const DataPtr here(CUDAContext::New(4));
    first.CopyBytesFromCPU(4, "abcd", here.get());
    first.CopyBytesSameDevice(4, here.get(), there.get());
    first.FinishDeviceComputation();
    char back[5] = "....";
    second.CopyBytesToCPU(4, there.get(), back);
    second.FinishDeviceComputation();
    EXPECT_STREQ(back, "abcd");
    EXPECT_EQ(fakecuda_calls("peer_copy_staged"), 1);
    EXPECT_EQ(fakecuda_calls("peer_copy_direct"), 0);
    EXPECT_EQ(fakecuda_calls("cudaDeviceEnablePeerAccess"), 0);
  };
  EXPECT_EXIT(OnMachine(config, body), ExitedWithCode(0), "");
}

TEST_F(CudaMachineTest, PinnedMemoryBecomesTheCpuAllocatorOnRequest) {
  const auto body = [] {
    GlobalCudaMemoryOptions().pinned_cpu = true;
    Tensor before({100}, CPU);
    before.mutable_data<float>();
    CUDAContext context;
    Tensor after({100}, CPU);
    after.mutable_data<float>();
    cudaPointerAttributes attributes{};
    CUDA_ENFORCE(cudaPointerGetAttributes(&attributes, before.raw_data()));
    EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
    CUDA_ENFORCE(cudaPointerGetAttributes(&attributes, after.raw_data()));
    EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  };
  EXPECT_EXIT(OnMachine({}, body), ExitedWithCode(0), "");
}

TEST_F(CudaMachineTest, RegistersPinnedMemoryOfTheThreadsNode) {
  const auto body = [] {
    GlobalCudaMemoryOptions().pinned_numa = true;
    CUDAContext context;
    PinnedCPUAllocator allocator;
    DataPtr memory(allocator.New(100000));
    static_cast<char*>(memory.get())[99999] = 1;
    cudaPointerAttributes attributes{};
    CUDA_ENFORCE(cudaPointerGetAttributes(&attributes, memory.get()));
    EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
    EXPECT_EQ(fakecuda_calls("cudaHostAlloc"), 0);
    const long registered = fakecuda_calls("cudaHostRegister");
    EXPECT_GT(registered, 0);
    memory.Reset();
    memory = DataPtr(allocator.New(100000));
    EXPECT_EQ(fakecuda_calls("cudaHostRegister"), registered);  // the memory was cached
    memory.Reset();
    PinnedPool().ReleaseCached();
    EXPECT_EQ(fakecuda_calls("cudaHostUnregister"), registered);
    fakecuda_fail("cudaHostRegister", 0, -1, cudaErrorMemoryAllocation, 0);
    EXPECT_THAT(ErrorOf([&] { allocator.New(100000); }),
                HasSubstr("pinned memory is out of memory: asked 97.7 KiB"));
  };
  EXPECT_EXIT(OnMachine({}, body), ExitedWithCode(0), "");
}

// Checks that each device can access the memory of the other's pool. With `early`, the pools exist
// before access is enabled.
void ExpectPeersReachPools(bool early) {
  GlobalCudaMemoryOptions().pool = CudaMemoryPoolType::ASYNC;
  CUDAContext first(0), second(1);
  if (early) CudaPool(0), CudaPool(1);
  EXPECT_TRUE(EnableCudaPeerAccess(0, 1));
  first.SwitchToDevice(0);
  const DataPtr here(CUDAContext::New(1000));
  second.SwitchToDevice(0);
  const DataPtr there(CUDAContext::New(1000));
  const auto problem = [](const DataPtr& memory, int device) {
    const char* const text = fakecuda_check_range(memory.get(), 1000, device);
    return std::string(text != nullptr ? text : "");
  };
  EXPECT_EQ(problem(here, 1), "");
  EXPECT_EQ(problem(there, 0), "");
}

TEST_F(CudaMachineTest, PeersReachTheDriversPools) {
  EXPECT_EXIT(OnMachine({}, [] { ExpectPeersReachPools(true); }), ExitedWithCode(0), "");
  EXPECT_EXIT(OnMachine({}, [] { ExpectPeersReachPools(false); }), ExitedWithCode(0), "");
}

}  // namespace
}  // namespace caffe2rt::test::cuda_machine_test
