// Tests that the fake detects programming errors: the host accesses device memory, a wait is
// missing, host memory is freed during a copy, a kernel accesses memory outside its allocation.
// Each error is made in a separate process, which must die with the right report. Errors that only
// a sanitizer detects are tested in builds with that sanitizer.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "fake_cuda/fake_cuda.h"

#if defined(__SANITIZE_THREAD__)
#define WITH_TSAN 1
#elif defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WITH_TSAN 1
#elif __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif

namespace {

constexpr int kTimes = 20;
constexpr int kCount = 1024;

class CatchTest : public ::testing::Test {
 protected:
  void SetUp() override { ::testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

float* Floats() {
  void* ptr = nullptr;
  if (cudaMalloc(&ptr, kCount * sizeof(float)) != cudaSuccess) abort();
  return static_cast<float*>(ptr);
}

cudaStream_t NewStream() {
  cudaStream_t stream = nullptr;
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) abort();
  return stream;
}

void AddOne(void* data) {
  for (int i = 0; i < kCount; ++i) static_cast<float*>(data)[i] += 1;
}

void Launch(cudaStream_t stream, float* data) {
  if (fakecuda_enqueue_host(stream, "add", AddOne, data, nullptr) != cudaSuccess) abort();
}

// Ends like a correct program.
[[noreturn]] void End() {
  cudaDeviceSynchronize();
  fakecuda_reset(nullptr);
  fprintf(stderr, "no mistake seen\n");
  exit(0);
}

void ReadDeviceMemoryOnTheHost() {
  float* data = Floats();
  Launch(nullptr, data);
  cudaDeviceSynchronize();
  const volatile float value = data[3];
  fprintf(stderr, "%g\n", static_cast<double>(value));
  End();
}

void WriteDeviceMemoryInAHostFunction() {
  float* data = Floats();
  cudaLaunchHostFunc(nullptr, AddOne, data);
  End();
}

void ReadMemoryOfAnotherDevice() {
  cudaSetDevice(1);
  float* data = Floats();
  cudaSetDevice(0);
  Launch(nullptr, data);
  End();
}

TEST_F(CatchTest, HostReadsOfDeviceMemory) {
  for (int i = 0; i < kTimes; ++i) {
    EXPECT_DEATH(ReadDeviceMemoryOnTheHost(),
                 "code that does not run on device 0 read its memory at 0x[0-9a-f]+: byte 12 of "
                 "the allocation of 4096 bytes");
  }
}

TEST_F(CatchTest, HostFunctionsThatWriteDeviceMemory) {
  EXPECT_DEATH(WriteDeviceMemoryInAHostFunction(), "code that does not run on device 0 ");
}

TEST_F(CatchTest, KernelsThatReadAnotherDevice) {
  EXPECT_DEATH(ReadMemoryOfAnotherDevice(), "code that does not run on device 1 ");
}

#ifdef WITH_TSAN
// Both streams write `data`; only an event would order them. Which runs first does not matter.
void ForgetToWait() {
  float* data = Floats();
  cudaStream_t first = NewStream(), second = NewStream();
  Launch(first, data);
  cudaStreamSynchronize(NewStream());
  Launch(second, data);
  End();
}

void ForgetToJoinInAGraph() {
  float* data = Floats();
  cudaStream_t first = NewStream(), second = NewStream();
  cudaEvent_t fork, join;
  cudaEventCreate(&fork);
  cudaEventCreate(&join);
  cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
  cudaEventRecord(fork, first);
  cudaStreamWaitEvent(second, fork, 0);
  Launch(first, data);
  Launch(second, data);  // not ordered after the launch on `first`
  cudaEventRecord(join, second);
  cudaStreamWaitEvent(first, join, 0);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamEndCapture(first, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, first);
  End();
}

void ReadPinnedMemoryTooEarly() {
  float* data = Floats();
  void* pinned;
  cudaMallocHost(&pinned, kCount * sizeof(float));
  cudaStream_t stream = NewStream();
  cudaMemcpyAsync(pinned, data, kCount * sizeof(float), cudaMemcpyDeviceToHost, stream);
  // Reads all numbers: the sanitizer may miss a race of two simultaneous accesses.
  const auto* const numbers = static_cast<const float*>(pinned);
  fprintf(stderr, "%g\n", std::accumulate(numbers, numbers + kCount, 0.0));
  End();
}

TEST_F(CatchTest, MissingStreamWaits) {
  for (int i = 0; i < kTimes; ++i) {
    EXPECT_EXIT(ForgetToWait(), ::testing::ExitedWithCode(66), "data race");
  }
}

TEST_F(CatchTest, MissingJoinsInGraphs) {
  for (int i = 0; i < kTimes; ++i) {
    EXPECT_EXIT(ForgetToJoinInAGraph(), ::testing::ExitedWithCode(66), "data race");
  }
}

TEST_F(CatchTest, PinnedMemoryReadBeforeTheWait) {
  for (int i = 0; i < kTimes; ++i) {
    EXPECT_EXIT(ReadPinnedMemoryTooEarly(), ::testing::ExitedWithCode(66), "data race");
  }
}
#endif

#ifdef WITH_ASAN
void FreeUnderACopy() {
  float* data = Floats();
  void* host = malloc(kCount * sizeof(float));
  cudaHostRegister(host, kCount * sizeof(float), 0);
  cudaStream_t stream = NewStream();
  fakecuda_pause(stream);
  cudaMemcpyAsync(data, host, kCount * sizeof(float), cudaMemcpyHostToDevice, stream);
  free(host);
  fakecuda_resume(stream);
  End();
}

void LeaveTheAllocation() {
  Launch(nullptr, Floats() + 1);
  End();
}

void UseAfterFree() {
  float* data = Floats();
  cudaFree(data);
  Launch(nullptr, data);
  End();
}

void UseAfterFreeToThePool() {
  cudaStream_t stream = NewStream();
  void* data;
  cudaMallocAsync(&data, kCount * sizeof(float), stream);
  cudaFreeAsync(data, stream);
  Launch(stream, static_cast<float*>(data));
  End();
}

TEST_F(CatchTest, HostMemoryFreedUnderACopy) {
  EXPECT_DEATH(FreeUnderACopy(), "heap-use-after-free");
}

TEST_F(CatchTest, KernelsThatLeaveTheirAllocation) {
  EXPECT_DEATH(LeaveTheAllocation(), "use-after-poison");
}

TEST_F(CatchTest, KernelsThatUseFreedMemory) {
  EXPECT_DEATH(UseAfterFree(), "use-after-poison");
  EXPECT_DEATH(UseAfterFreeToThePool(), "use-after-poison");
}
#endif

// Correct programs. They must cause no report, whatever the timing.

void OrderByEvent() {
  float* data = Floats();
  cudaStream_t first = NewStream(), second = NewStream();
  cudaEvent_t event;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  for (int i = 0; i < 10; ++i) {
    Launch(first, data);
    cudaEventRecord(event, first);
    cudaStreamWaitEvent(second, event, 0);
    Launch(second, data);
    cudaEventRecord(event, second);
    cudaStreamWaitEvent(first, event, 0);
  }
  End();
}

void OrderByLegacyStream() {
  float* data = Floats();
  cudaStream_t first, second;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  for (int i = 0; i < 10; ++i) {
    Launch(first, data);
    Launch(nullptr, data);
    Launch(second, data);
    cudaStreamDestroy(first);
    Launch(nullptr, data);
    cudaStreamCreate(&first);
  }
  End();
}

void OrderByHost() {
  float* data = Floats();
  void* pinned;
  cudaMallocHost(&pinned, kCount * sizeof(float));
  cudaStream_t first = NewStream(), second = NewStream();
  for (int i = 0; i < 10; ++i) {
    static_cast<float*>(pinned)[0] = static_cast<float>(i);
    cudaMemcpyAsync(data, pinned, kCount * sizeof(float), cudaMemcpyHostToDevice, first);
    cudaStreamSynchronize(first);
    Launch(second, data);
    cudaMemcpyAsync(pinned, data, kCount * sizeof(float), cudaMemcpyDeviceToHost, second);
    cudaDeviceSynchronize();
  }
  End();
}

void ReuseMemory() {
  cudaStream_t first = NewStream(), second = NewStream();
  for (int i = 0; i < 10; ++i) {
    float* data = Floats();
    Launch((i & 1) != 0 ? first : second, data);
    cudaFree(data);
    void* ptr;
    cudaMallocAsync(&ptr, kCount * sizeof(float), first);
    Launch(first, static_cast<float*>(ptr));
    cudaFreeAsync(ptr, first);
    cudaStreamSynchronize(first);
    cudaMallocAsync(&ptr, kCount * sizeof(float), second);
    Launch(second, static_cast<float*>(ptr));
    cudaFreeAsync(ptr, second);
  }
  End();
}

TEST_F(CatchTest, NothingInCorrectPrograms) {
  const auto good = ::testing::ExitedWithCode(0);
  for (int i = 0; i < kTimes; ++i) {
    EXPECT_EXIT(OrderByEvent(), good, "no mistake seen");
    EXPECT_EXIT(OrderByLegacyStream(), good, "no mistake seen");
    EXPECT_EXIT(OrderByHost(), good, "no mistake seen");
    EXPECT_EXIT(ReuseMemory(), good, "no mistake seen");
  }
}

}  // namespace
