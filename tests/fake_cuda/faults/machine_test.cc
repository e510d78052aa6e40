// Features of the fake that CUDA does not have: configurable machines, call counts, lists of live
// objects, immediate reuse of handles and addresses.

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "faults/faults.h"

namespace faults {
namespace {

TEST_F(FaultsTest, CountsMemoryPerDevice) {
  EXPECT_EQ(fakecuda_live_bytes(0), 0u);
  void *first, *second;
  ASSERT_EQ(cudaMalloc(&first, 1000), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&second, 512), cudaSuccess);
  EXPECT_EQ(fakecuda_live_bytes(0), 1024u + 512u);
  EXPECT_EQ(fakecuda_live_bytes(1), 0u);
  ASSERT_EQ(cudaFree(first), cudaSuccess);
  EXPECT_EQ(fakecuda_live_bytes(0), 512u);
  EXPECT_EQ(fakecuda_peak_bytes(0), 1536u);
  fakecuda_set_limit(0, 1024);
  EXPECT_EQ(cudaMalloc(&first, 513), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMalloc(&first, 512), cudaSuccess);
  size_t free_bytes, total;
  ASSERT_EQ(cudaMemGetInfo(&free_bytes, &total), cudaSuccess);
  EXPECT_EQ(free_bytes, 0u);
  EXPECT_EQ(total, 1024u);
}

TEST_F(FaultsTest, ListsWhatIsAlive) {
  EXPECT_EQ(fakecuda_leaks(nullptr, nullptr), 0);
  void *device, *pinned;
  cudaEvent_t event;
  ASSERT_EQ(cudaMalloc(&device, 100), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(&pinned, 200), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  std::string all;
  const auto append = [](void* state, const char* line) {
    *static_cast<std::string*>(state) += std::string(line) + "\n";
  };
  EXPECT_EQ(fakecuda_leaks(append, &all), 3);
  EXPECT_NE(all.find("device memory of 100 bytes"), std::string::npos) << all;
  EXPECT_NE(all.find("pinned memory of 200 bytes"), std::string::npos) << all;
  EXPECT_NE(all.find("event "), std::string::npos) << all;
  ASSERT_EQ(cudaFree(device), cudaSuccess);
  ASSERT_EQ(cudaFreeHost(pinned), cudaSuccess);
  ASSERT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(fakecuda_leaks(nullptr, nullptr), 0);
}

TEST_F(FaultsTest, ReusesHandlesAndAddressesAtOnce) {
  void *first, *second, *keep;
  ASSERT_EQ(cudaMalloc(&first, 4096), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&keep, 4096), cudaSuccess);
  ASSERT_EQ(cudaFree(first), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&second, 100), cudaSuccess);
  EXPECT_EQ(second, first);
  cudaStream_t stream = NewStream();
  ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(NewStream(), stream);
  cudaEvent_t event, other;
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  ASSERT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaErrorInvalidResourceHandle);
  ASSERT_EQ(cudaEventCreate(&other), cudaSuccess);
  EXPECT_EQ(other, event);
}

TEST_F(FaultsTest, GivesAStreamItsOwnMemoryWithoutAWait) {
  cudaStream_t stream = NewStream(), other = NewStream();
  void *first, *second, *third;
  ASSERT_EQ(cudaMallocAsync(&first, 4096, stream), cudaSuccess);
  fakecuda_pause(stream);
  ASSERT_EQ(cudaMemsetAsync(first, 1, 4096, stream), cudaSuccess);
  ASSERT_EQ(cudaFreeAsync(first, stream), cudaSuccess);
  ASSERT_EQ(cudaMallocAsync(&third, 4096, other), cudaSuccess);
  EXPECT_NE(third, first);  // `stream` has not reached the free yet
  ASSERT_EQ(cudaMallocAsync(&second, 4096, stream), cudaSuccess);
  EXPECT_EQ(second, first);
  fakecuda_resume(stream);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(FaultsTest, FillsFreshMemory) {
  void* ptr;
  ASSERT_EQ(cudaMalloc(&ptr, 4), cudaSuccess);
  uint32_t value = 0;
  ASSERT_EQ(cudaMemcpy(&value, ptr, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(value, 0xCDCDCDCDu);
}

TEST_F(FaultsTest, ReportsAMissingDriver) {
  FakeCudaConfig config = Config(1);
  config.no_driver = 1;
  Reset(config);
  int value = -1;
  EXPECT_EQ(cudaGetDeviceCount(&value), cudaErrorInsufficientDriver);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInsufficientDriver);
  EXPECT_EQ(cudaDriverGetVersion(&value), cudaSuccess);
  EXPECT_EQ(value, 0);
  void* ptr;
  EXPECT_EQ(cudaMallocHost(&ptr, 8), cudaErrorInsufficientDriver);
}

TEST_F(FaultsTest, ReportsAMissingDevice) {
  Reset(Config(-1));
  int count = -1;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorNoDevice);
  EXPECT_EQ(count, 0);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNoDevice);
}

TEST_F(FaultsTest, BuildsManyDevicesAndTheirGroups) {
  FakeCudaConfig config = Config(20);
  config.peer_group = 8;
  config.compute_capability = 75;
  Reset(config);
  int count = 0, can = -1, major = 0;
  ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 20);
  ASSERT_EQ(cudaDeviceCanAccessPeer(&can, 0, 7), cudaSuccess);
  EXPECT_EQ(can, 1);
  ASSERT_EQ(cudaDeviceCanAccessPeer(&can, 7, 8), cudaSuccess);
  EXPECT_EQ(can, 0);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(8, 0), cudaErrorPeerAccessUnsupported);
  ASSERT_EQ(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 19), cudaSuccess);
  EXPECT_EQ(major, 7);
}

TEST_F(FaultsTest, AnswersWhileTheProcessEnds) {
  void* ptr;
  ASSERT_EQ(cudaMalloc(&ptr, 8), cudaSuccess);
  fakecuda_set_unloading(1);
  EXPECT_EQ(cudaFree(ptr), cudaErrorCudartUnloading);
  EXPECT_EQ(cudaGetLastError(), cudaErrorCudartUnloading);
  fakecuda_set_unloading(0);
  EXPECT_EQ(cudaFree(ptr), cudaSuccess);
}

TEST_F(FaultsTest, RejectsCallsFromHostFunctions) {
  cudaStream_t stream = NewStream();
  cudaError_t seen = cudaSuccess;
  ASSERT_EQ(cudaLaunchHostFunc(
                stream,
                [](void* state) {
                  void* ptr;
                  *static_cast<cudaError_t*>(state) = cudaMalloc(&ptr, 8);
                },
                &seen),
            cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(seen, cudaErrorNotPermitted);
}

TEST_F(FaultsTest, CountsPageableAndPeerCopies) {
  float* first = Floats(4);
  cudaSetDevice(1);
  float* second = Floats(4);
  float host[4] = {};
  ASSERT_EQ(cudaMemcpy(second, host, 16, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(fakecuda_calls("pageable_copy"), 1);
  ASSERT_EQ(cudaMemcpyPeerAsync(second, 1, first, 0, 16, nullptr), cudaSuccess);
  EXPECT_EQ(fakecuda_calls("peer_copy_staged"), 1);
  ASSERT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaSuccess);
  ASSERT_EQ(cudaMemcpyPeerAsync(second, 1, first, 0, 16, nullptr), cudaSuccess);
  EXPECT_EQ(fakecuda_calls("peer_copy_direct"), 1);
  fakecuda_reset_calls();
  EXPECT_EQ(fakecuda_calls("pageable_copy"), 0);
}

TEST_F(FaultsTest, ReturnsFromASynchronousCopyOfPageableMemoryBeforeItEnds) {
  float* const data = Floats(1);
  float value = 2, seen = 0;
  fakecuda_pause(nullptr);
  ASSERT_EQ(cudaMemcpy(data, &value, 4, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(nullptr), cudaErrorNotReady);
  value = 3;
  fakecuda_resume(nullptr);
  ASSERT_EQ(cudaMemcpy(&seen, data, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(seen, 2);
}

TEST_F(FaultsTest, ReleasesTheArgumentsOfTwinsOnce) {
  static std::atomic<int> released;
  released = 0;
  const auto run = [](void*) {};
  const auto release = [](void*) { ++released; };
  cudaStream_t stream = NewStream();
  ASSERT_EQ(fakecuda_enqueue_host(stream, "k", run, nullptr, release), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(released, 1);
  fakecuda_fail("kernel", 0, 1, cudaErrorLaunchFailure, 0);
  EXPECT_EQ(fakecuda_enqueue_host(stream, "k", run, nullptr, release), cudaErrorLaunchFailure);
  EXPECT_EQ(released, 2);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_EQ(fakecuda_enqueue_host(stream, "k", run, nullptr, release), cudaSuccess);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(released, 2);
  ASSERT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(released, 3);
}

TEST_F(FaultsTest, ChecksRanges) {
  float* data = Floats(4);
  EXPECT_EQ(fakecuda_check_range(data, 16, 0), nullptr);
  EXPECT_EQ(fakecuda_check_range(data + 1, 12, 0), nullptr);
  EXPECT_STREQ(fakecuda_check_range(nullptr, 16, 0), "a null pointer");
  EXPECT_NE(std::string(fakecuda_check_range(data + 1, 16, 0)).find("ends 4 bytes behind"),
            std::string::npos);
  EXPECT_NE(std::string(fakecuda_check_range(&data, 8, 0)).find("in no allocation"),
            std::string::npos);
  EXPECT_NE(std::string(fakecuda_check_range(data, 16, 1)).find("device 1 cannot reach"),
            std::string::npos);
}

TEST_F(FaultsTest, ForgetsTheStateOfThreadsOnReset) {
  cudaSetDevice(1);
  cudaSetDevice(77);
  Reset(Config(1));
  int device = -1;
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 0);
}

TEST_F(FaultsTest, ReadsItsMachineFromTheEnvironment) {
  setenv("FAKECUDA_DEVICES", "3", 1);
  setenv("FAKECUDA_BYTES", "0x10000", 1);
  fakecuda_reset(nullptr);
  int count = 0;
  size_t free_bytes = 0, total = 0;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 3);
  EXPECT_EQ(cudaMemGetInfo(&free_bytes, &total), cudaSuccess);
  EXPECT_EQ(total, 65536u);
  setenv("FAKECUDA_NO_DRIVER", "1", 1);
  fakecuda_reset(nullptr);
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorInsufficientDriver);
  for (const char* name : {"FAKECUDA_DEVICES", "FAKECUDA_BYTES", "FAKECUDA_NO_DRIVER"}) {
    unsetenv(name);
  }
}

TEST_F(FaultsTest, DoesNotWorkInAForkedChild) {
  void* ptr;
  ASSERT_EQ(cudaMalloc(&ptr, 8), cudaSuccess);
  const pid_t child = fork();
  if (child == 0) _exit(cudaFree(ptr) == cudaErrorInitializationError ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(cudaFree(ptr), cudaSuccess);
}

TEST_F(FaultsTest, RejectsCopiesOfFreedMemory) {
  void* ptr;
  int value = 0;
  ASSERT_EQ(cudaMalloc(&ptr, 4), cudaSuccess);
  ASSERT_EQ(cudaFree(ptr), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(&value, ptr, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(ptr, &value, 4, cudaMemcpyDefault), cudaErrorInvalidValue);
}

// The handler is registered first, so that it runs after the fake's own exit handler.
void FreeAfterTheEnd() {
  static void* ptr;
  atexit([] { fprintf(stderr, "%s\n", cudaGetErrorName(cudaFree(ptr))); });
  cudaMalloc(&ptr, 8);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  fakecuda_pause(stream);  // work that never runs does not keep the process alive
  cudaMemsetAsync(ptr, 0, 8, stream);
  exit(0);
}

// Not FaultsTest, which starts CUDA before the test does.
TEST(EndTest, CallsAreAnswered) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(FreeAfterTheEnd(), ::testing::ExitedWithCode(0), "cudaErrorCudartUnloading");
}

}  // namespace
}  // namespace faults
