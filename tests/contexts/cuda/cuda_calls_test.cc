// The CUDA calls that a program makes in the steady state, counted by the fake CUDA.
#include <optional>
#include <vector>

#include "caffe2_core/tensor/tensor.h"
#include "caffe2rt/caffe2.pb.h"
#include "contexts/cuda/cuda_context.h"
#include "tests/contexts/cuda/cuda_fake_testing.h"

namespace caffe2rt::test::cuda_calls_test {
namespace {

// CUDA functions that a program must not call once it is warm.
constexpr const char* kExpensive[] = {"cudaMalloc",
                                      "cudaFree",
                                      "cudaMallocHost",
                                      "cudaHostAlloc",
                                      "cudaFreeHost",
                                      "cudaEventCreate",
                                      "cudaEventCreateWithFlags",
                                      "cudaEventDestroy",
                                      "pageable_copy",
                                      "cudaHostRegister",
                                      "cudaHostUnregister",
                                      "cudaDeviceSynchronize",
                                      "cudaStreamCreateWithFlags"};

class CudaCallsTest : public CudaTest {
 protected:
  static long Expensive() {
    long calls = 0;
    for (const char* name : kExpensive) calls += fakecuda_calls(name);
    return calls;
  }
};

TEST_F(CudaCallsTest, SwitchInTheSteadyStateAsksForTheDeviceAlone) {
  CUDAContext context;
  context.SwitchToDevice(2);
  fakecuda_reset_calls();
  for (int i = 0; i < 10; ++i) context.SwitchToDevice(2);
  EXPECT_EQ(fakecuda_calls("cudaGetDevice"), 10);
  EXPECT_EQ(fakecuda_calls("cudaSetDevice"), 0);
}

TEST_F(CudaCallsTest, SwitchGoesBackToItsDeviceAndStream) {
  SKIP_BELOW_DEVICES(2);
  CUDAContext here(0), there(1);
  here.SwitchToDevice(2);
  there.SwitchToDevice(0);
  here.SwitchToDevice(2);
  EXPECT_EQ(CaffeCudaGetDevice(), 0);
  CUDAContext other(0);
  other.SwitchToDevice(3);
  here.SwitchToDevice(2);
  EXPECT_EQ(&CurrentStream(0), &ThreadStream(0, 2));
}

TEST_F(CudaCallsTest, HostWaitsForTheWorkOfAStreamOfAnyDevice) {
  SKIP_BELOW_DEVICES(2);
  for (const int device : {0, 1}) {
    const CudaStream& stream = ThreadStream(device, 2);
    Gate gate(stream.stream);
    const Before opener("cudaEventSynchronize", [&] { gate.Open(); });
    EXPECT_EQ(WaitForWork(stream), cudaSuccess);
    EXPECT_TRUE(opener.ran());
    EXPECT_TRUE(IsStreamFree(device, 2));
  }
}

TEST_F(CudaCallsTest, HandlesInTheSteadyStateAskNothing) {
  CUDAContext context;
  if (!HasCublas()) GTEST_SKIP() << CublasProblem();
  context.SwitchToDevice(0);
  context.cublas_handle();
  fakecuda_reset_calls();
  context.cublas_handle();
  EXPECT_EQ(fakecuda_calls("cudaGetDevice") + fakecuda_calls("cudaSetDevice"), 0);
}

TEST_F(CudaCallsTest, CopiesAndEventsInTheSteadyStateCreateNothing) {
  RegisterCUDAContext();
  DeviceOption option;
  option.set_device_type(CUDA);
  std::vector<float> host(3 << 18, 1.f);
  const auto run = [&](bool hold) {
    CUDAContext context, other;
    other.SwitchToDevice(1);
    context.SwitchToDevice(0);
    std::optional<Gate> gate;
    if (hold) gate.emplace(context.cuda_stream());  // so that all pieces of the copies are pending
    const DataPtr memory(CUDAContext::New(host.size() * sizeof(float)));
    context.CopyBytesFromCPU(host.size() * sizeof(float), host.data(), memory.get());
    Event event(option);
    context.Record(&event);
    other.WaitEvent(event);
    gate.reset();
    other.CopyBytesToCPU(host.size() * sizeof(float), memory.get(), host.data());
    other.FinishDeviceComputation();
  };
  if (GetCudaMemoryPoolType() == CudaMemoryPoolType::NONE) GTEST_SKIP() << "the pool keeps nothing";
  for (int i = 0; i < 3; ++i) run(true);
  fakecuda_reset_calls();
  for (int i = 0; i < 10; ++i) run(i % 2 == 0);
  EXPECT_EQ(Expensive(), 0);
  EXPECT_EQ(fakecuda_calls("cudaLaunchHostFunc"), 5);  // those of the gates: no copy stops a stream
}

}  // namespace
}  // namespace caffe2rt::test::cuda_calls_test
