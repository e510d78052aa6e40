// Mistakes in programs that use the CUDA contexts, detected in builds with ThreadSanitizer. Each
// mistake is made in its own process, which must die with a report, whatever the timing. The
// corresponding correct programs must not.
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "caffe2rt/caffe2.pb.h"
#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/pinned_allocator.h"
#include "tests/contexts/cuda/cuda_fake_testing.h"
#include "tests/support/sanitizers.h"

namespace caffe2rt::test::cuda_catch_test {
namespace {

constexpr int kTimes = 20;
constexpr int kNumbers = 1024;

class CudaCatchTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!kHasThreadSanitizer) GTEST_SKIP() << "needs ThreadSanitizer";
    testing::FLAGS_gtest_death_test_style = "threadsafe";
  }
};

void AddOne(void* data) {
  for (int i = 0; i < kNumbers; ++i) static_cast<float*>(data)[i] += 1;
}
void LaunchAddOne(const CUDAContext& context, void* data) {
  CUDA_ENFORCE(fakecuda_enqueue_host(context.cuda_stream(), "AddOne", AddOne, data, nullptr));
}

[[noreturn]] void End() {
  fakecuda_reset(nullptr);
  std::fprintf(stderr, "no mistake seen\n");
  std::exit(0);
}

// Two streams add to the same memory. Correct only if the second one waits.
[[noreturn]] void AddOnTwoStreams(bool wait) {
  RegisterCUDAContext();
  DeviceOption option;
  option.set_device_type(CUDA);
  CUDAContext first(option), second(option);
  second.SwitchToDevice(2);
  first.SwitchToDevice(1);
  auto [data, deleter] = CUDAContext::New(kNumbers * sizeof(float));
  LaunchAddOne(first, data);
  Event added(option);
  first.Record(&added);
  if (wait) second.WaitEvent(added);
  LaunchAddOne(second, data);
  first.FinishDeviceComputation();
  second.FinishDeviceComputation();
  End();
}

// The host reads pinned memory that a copy writes. Correct only if the host waits.
[[noreturn]] void ReadWhatArrives(bool wait) {
  CUDAContext context;
  context.SwitchToDevice(0);
  auto [data, deleter] = CUDAContext::New(kNumbers * sizeof(float));
  PinnedCPUAllocator allocator;
  auto* const host = static_cast<float*>(allocator.New(kNumbers * sizeof(float)).first);
  LaunchAddOne(context, data);
  context.CopyBytesToCPU(kNumbers * sizeof(float), data, host);
  if (wait) context.FinishDeviceComputation();
  // All numbers are read, because the sanitizer may miss two simultaneous accesses.
  std::fprintf(stderr, "%g\n", std::accumulate(host, host + kNumbers, 0.0));
  context.FinishDeviceComputation();
  End();
}

void ExpectCaught(void (*program)(bool wait)) {
  for (int i = 0; i < kTimes; ++i) {
    EXPECT_EXIT(
        program(false), [](int status) { return status != 0; }, "ThreadSanitizer: data race");
  }
  EXPECT_EXIT(program(true), testing::ExitedWithCode(0), "no mistake seen");
}

TEST_F(CudaCatchTest, StreamThatDoesNotWaitForAnother) { ExpectCaught(AddOnTwoStreams); }
TEST_F(CudaCatchTest, HostThatDoesNotWaitForItsCopy) { ExpectCaught(ReadWhatArrives); }

}  // namespace
}  // namespace caffe2rt::test::cuda_catch_test
