// Access of devices to each other's memory. Each test runs in its own process.
#include <iostream>

#include "contexts/cuda/cuda_context.h"
#include "tests/contexts/cuda/cuda_fake_testing.h"

namespace caffe2rt::test::cuda_peers_test {
namespace {

using testing::ExitedWithCode;

class CudaPeersTest : public testing::Test {
 protected:
  void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

constexpr int kDevices = 10;
constexpr size_t kBytes = 1000;

FakeCudaConfig Machine() {
  FakeCudaConfig config{};
  config.devices = kDevices;
  config.bytes_per_device = size_t{64} << 20;
  return config;
}

// Returns whether a kernel on `device` can access memory of `owner`.
bool Reaches(int device, int owner) {
  const DeviceGuard guard(owner);
  const DataPtr memory(NewCudaMemory(kBytes));
  return fakecuda_check_range(memory.get(), kBytes, device) == nullptr;
}
void ExpectPeers(int device, int peer) {
  EXPECT_TRUE(Reaches(device, peer));
  EXPECT_TRUE(Reaches(peer, device));
}
long Enabled() { return fakecuda_calls("cudaDeviceEnablePeerAccess"); }

void ExpectEnabledOnceForAPair(int device, int peer) {
  CaffeCudaSetDevice(2);
  EXPECT_FALSE(Reaches(device, peer) || Reaches(peer, device));
  EXPECT_TRUE(EnableCudaPeerAccess(device, peer));
  EXPECT_EQ(Enabled(), 2);
  ExpectPeers(device, peer);
  EXPECT_TRUE(EnableCudaPeerAccess(peer, device));
  EXPECT_TRUE(EnableCudaPeerAccess(device, peer));
  EXPECT_EQ(Enabled(), 2);
  for (const int other : {device, peer}) EXPECT_FALSE(Reaches(other, 2) || Reaches(2, other));
  EXPECT_EQ(CaffeCudaGetDevice(), 2);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST_F(CudaPeersTest, EnablesBothDirectionsOnceForAPair) {
  EXPECT_EXIT(OnMachine(Machine(), [] { ExpectEnabledOnceForAPair(0, 1); }), ExitedWithCode(0), "");
  EXPECT_EXIT(OnMachine(Machine(), [] { ExpectEnabledOnceForAPair(7, 4); }), ExitedWithCode(0), "");
}

TEST_F(CudaPeersTest, EnablesNoneBeyondAGroupOfEight) {
  const auto body = [] {
    EXPECT_FALSE(EnableCudaPeerAccess(7, 8));
    EXPECT_FALSE(EnableCudaPeerAccess(8, 0));
    EXPECT_EQ(Enabled(), 0);
    EXPECT_TRUE(EnableCudaPeerAccess(0, 7));
    EXPECT_TRUE(EnableCudaPeerAccess(8, 9));
    ExpectPeers(0, 7);
    ExpectPeers(8, 9);
    EXPECT_FALSE(Reaches(7, 8) || Reaches(8, 7));
    std::vector<std::vector<bool>> pattern;
    EXPECT_TRUE(GetCudaPeerAccessPattern(&pattern));
    for (size_t i = 0; i < kDevices; ++i) {
      for (size_t j = 0; j < kDevices; ++j) EXPECT_EQ(pattern[i][j], i / 8 == j / 8);
    }
  };
  EXPECT_EXIT(OnMachine(Machine(), body), ExitedWithCode(0), "");
}

// Another library in the program may have enabled access already, in either direction.
TEST_F(CudaPeersTest, AccessThatWasEnabledBeforeIsNoError) {
  const auto body = [] {
    const auto enable = [](int device, int peer) {
      const DeviceGuard guard(device);
      EXPECT_EQ(cudaDeviceEnablePeerAccess(peer, 0), cudaSuccess);
    };
    enable(0, 1);
    enable(3, 2);
    enable(4, 5);
    enable(5, 4);
    for (const int device : {0, 2, 4}) {
      EXPECT_TRUE(EnableCudaPeerAccess(device, device + 1));
      EXPECT_EQ(cudaGetLastError(), cudaSuccess) << device;
      ExpectPeers(device, device + 1);
    }
    CUDAContext().FinishDeviceComputation();  // no error is left for it to report
  };
  EXPECT_EXIT(OnMachine(Machine(), body), ExitedWithCode(0), "");
}

TEST_F(CudaPeersTest, FailureIsReportedAndTriedAgain) {
  const auto body = [] {
    for (const char* function : {"cudaDeviceCanAccessPeer", "cudaDeviceEnablePeerAccess"}) {
      for (const int after : {0, 1}) {
        const int device = (function[10] == 'C' ? 0 : 4) + 2 * after;
        fakecuda_fail(function, after, 1, cudaErrorUnknown, 0);
        EXPECT_THAT(ErrorOf([&] { EnableCudaPeerAccess(device, device + 1); }),
                    testing::HasSubstr("cudaErrorUnknown"));
        EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
        EXPECT_EQ(CaffeCudaGetDevice(), 0);
        EXPECT_TRUE(EnableCudaPeerAccess(device, device + 1));
        EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
        ExpectPeers(device, device + 1);
      }
    }
  };
  EXPECT_EXIT(OnMachine(Machine(), body), ExitedWithCode(0), "");
}

// The copies use a stream of either device, and nobody has enabled access explicitly.
TEST_F(CudaPeersTest, CopiesGoDirectlyBetweenPeers) {
  const auto body = [] {
    long direct = 0, enabled = 0;
    // The first three copies use the same pair of devices, so only the first one enables access.
    for (const auto& [from, to, stream] : std::vector<std::array<int, 3>>{
             {0, 1, 0}, {0, 1, 1}, {1, 0, 1}, {3, 2, 3}, {4, 5, 5}, {6, 7, 2}}) {
      CUDAContext source(from), target(to), copier(stream);
      target.SwitchToDevice(0);
      const DataPtr there(CUDAContext::New(4));
      source.SwitchToDevice(0);
      const DataPtr here(CUDAContext::New(4));
      source.CopyBytesFromCPU(4, "abcd", here.get());
      source.FinishDeviceComputation();
      copier.CopyBytesSameDevice(4, here.get(), there.get());
      copier.FinishDeviceComputation();
      char back[5] = "....";
      target.CopyBytesToCPU(4, there.get(), back);
      target.FinishDeviceComputation();
      EXPECT_STREQ(back, "abcd");
      enabled += from + to == 1 && direct > 0 ? 0 : 2;
      EXPECT_EQ(fakecuda_calls("peer_copy_direct"), ++direct);
      EXPECT_EQ(Enabled(), enabled);
      ExpectPeers(from, to);
    }
    EXPECT_EQ(fakecuda_calls("peer_copy_staged"), 0);
  };
  EXPECT_EXIT(OnMachine(Machine(), body), ExitedWithCode(0), "");
}

TEST_F(CudaPeersTest, CopiesWithinADeviceEnableNothing) {
  const auto body = [] {
    CUDAContext context(1);
    context.SwitchToDevice(0);
    const DataPtr from(CUDAContext::New(4)), to(CUDAContext::New(4));
    context.CopyBytesFromCPU(4, "abcd", from.get());
    context.CopyBytesSameDevice(4, from.get(), to.get());
    context.FinishDeviceComputation();
    EXPECT_EQ(Enabled(), 0);
    EXPECT_EQ(fakecuda_calls("cudaDeviceCanAccessPeer"), 0);
  };
  EXPECT_EXIT(OnMachine(Machine(), body), ExitedWithCode(0), "");
}

}  // namespace
}  // namespace caffe2rt::test::cuda_peers_test
