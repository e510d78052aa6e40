// CUDA's behaviour: devices, errors, events and streams.

#include "conformance/conformance.h"

#include <cstring>
#include <thread>

namespace conformance {
namespace {

TEST_F(CudaTest, NamesErrors) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_STREQ(cudaGetErrorString(cudaSuccess), "no error");
  EXPECT_STREQ(cudaGetErrorString(static_cast<cudaError_t>(12345)), "unrecognized error code");
}

TEST_F(CudaTest, KeepsTheLastErrorUntilItIsRead) {
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaSetDevice(-1));
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaPeekAtLastError());
  int device = -1;
  EXPECT_OK(cudaGetDevice(&device));  // a successful call does not clear the error
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaGetLastError());
  EXPECT_CUDA(cudaSuccess, cudaGetLastError());
}

TEST_F(CudaTest, KeepsTheLastErrorPerThread) {
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaSetDevice(-1));
  cudaError_t other = cudaErrorUnknown;
  std::thread([&other] { other = cudaPeekAtLastError(); }).join();
  EXPECT_EQ(other, cudaSuccess);
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaGetLastError());
}

TEST_F(CudaTest, StartsThreadsOnDeviceZero) {
  SKIP_BELOW(2);
  ASSERT_OK(cudaSetDevice(1));
  int device = -1;
  std::thread([&device] { cudaGetDevice(&device); }).join();
  EXPECT_EQ(device, 0);
}

TEST_F(CudaTest, RejectsMissingDevices) {
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaSetDevice(devices_));
  cudaDeviceProp properties;
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaGetDeviceProperties(&properties, devices_));
  int value;
  EXPECT_CUDA(cudaErrorInvalidDevice,
              cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, devices_));
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaGetLastError());
}

TEST_F(CudaTest, ReportsEqualPropertiesAndAttributes) {
  cudaDeviceProp properties;
  ASSERT_OK(cudaGetDeviceProperties(&properties, 0));
  EXPECT_GT(strlen(properties.name), 0u);
  EXPECT_EQ(properties.warpSize, 32);
  int value = 0;
  ASSERT_OK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
  EXPECT_EQ(value, properties.multiProcessorCount);
  ASSERT_OK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0));
  EXPECT_EQ(value, properties.major);
  ASSERT_OK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0));
  EXPECT_EQ(value, properties.maxThreadsPerBlock);
  size_t free_bytes = 0, total = 0;
  ASSERT_OK(cudaMemGetInfo(&free_bytes, &total));
  EXPECT_GT(free_bytes, 0u);
  EXPECT_LE(free_bytes, total);
}

TEST_F(CudaTest, ReportsThatAnEventNotRecordedIsDone) {
  Event event;
  EXPECT_OK(cudaEventQuery(event));
  EXPECT_OK(cudaEventSynchronize(event));
  Stream stream;
  EXPECT_OK(cudaStreamWaitEvent(stream, event, 0));
}

TEST_F(CudaTest, ReportsNotReadyWhileWorkIsPending) {
  Stream stream;
  Event event;
  Gate gate(stream);
  ASSERT_OK(cudaEventRecord(event, stream));
  EXPECT_CUDA(cudaErrorNotReady, cudaEventQuery(event));
  EXPECT_CUDA(cudaErrorNotReady, cudaStreamQuery(stream));
  cudaGetLastError();
  gate.Open();
  ASSERT_OK(cudaEventSynchronize(event));
  EXPECT_OK(cudaEventQuery(event));
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_OK(cudaStreamQuery(stream));
}

TEST_F(CudaTest, OrdersStreamsByEvents) {
  Stream first, second;
  Event event;
  DeviceArray<char> data(4096);
  PinnedArray<char> host(4096);
  Gate gate(first);
  ASSERT_OK(cudaMemsetAsync(data.get(), 7, data.bytes(), first));
  ASSERT_OK(cudaEventRecord(event, first));
  ASSERT_OK(cudaStreamWaitEvent(second, event, 0));
  ASSERT_OK(cudaMemcpyAsync(host.get(), data.get(), data.bytes(), cudaMemcpyDeviceToHost, second));
  EXPECT_CUDA(cudaErrorNotReady, cudaStreamQuery(second));
  cudaGetLastError();
  gate.Open();
  ASSERT_OK(cudaStreamSynchronize(second));
  EXPECT_EQ(host[0], 7);
  EXPECT_EQ(host[4095], 7);
}

TEST_F(CudaTest, WaitsForTheRecordThatWasTheLastAtTheWait) {
  Stream first, second;
  Event event;
  ASSERT_OK(cudaEventRecord(event, first));
  ASSERT_OK(cudaStreamWaitEvent(second, event, 0));
  Gate gate(first);
  ASSERT_OK(cudaEventRecord(event, first));  // a new record does not change the wait
  EXPECT_OK(cudaStreamSynchronize(second));
  gate.Open();
}

TEST_F(CudaTest, KeepsAWaitWhoseEventIsDestroyed) {
  Stream first, second;
  Gate gate(first);
  cudaEvent_t event;
  ASSERT_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  ASSERT_OK(cudaEventRecord(event, first));
  ASSERT_OK(cudaStreamWaitEvent(second, event, 0));
  ASSERT_OK(cudaEventDestroy(event));
  EXPECT_CUDA(cudaErrorNotReady, cudaStreamQuery(second));
  cudaGetLastError();
  gate.Open();
  EXPECT_OK(cudaStreamSynchronize(second));
}

TEST_F(CudaTest, MeasuresTimeBetweenEvents) {
  Stream stream;
  Event start(cudaEventDefault), end(cudaEventDefault), untimed;
  float milliseconds = -1;
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, start, end));
  ASSERT_OK(cudaEventRecord(start, stream));
  {
    Gate gate(stream);
    ASSERT_OK(cudaEventRecord(end, stream));
    EXPECT_CUDA(cudaErrorNotReady, cudaEventElapsedTime(&milliseconds, start, end));
  }
  ASSERT_OK(cudaEventSynchronize(end));
  EXPECT_OK(cudaEventElapsedTime(&milliseconds, start, end));
  EXPECT_GE(milliseconds, 0);
  ASSERT_OK(cudaEventRecord(untimed, stream));
  ASSERT_OK(cudaEventSynchronize(untimed));
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, start, untimed));
  cudaGetLastError();
}

TEST_F(CudaTest, RejectsAnEventOfAnotherDevice) {
  SKIP_BELOW(2);
  Stream stream;
  ASSERT_OK(cudaSetDevice(1));
  Event event;
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaEventRecord(event, stream));
  Stream other;
  EXPECT_OK(cudaEventRecord(event, other));
  EXPECT_OK(cudaStreamWaitEvent(stream, event, 0));  // waiting across devices is allowed
  ASSERT_OK(cudaSetDevice(0));
  EXPECT_OK(cudaEventSynchronize(event));
  EXPECT_OK(cudaEventQuery(event));
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cudaGetLastError());
}

TEST_F(CudaTest, RunsHostFunctionsInOrder) {
  Stream stream;
  std::vector<int> order;
  struct Step {
    std::vector<int>* order;
    int number;
  };
  Step steps[] = {{&order, 1}, {&order, 2}, {&order, 3}};
  for (Step& step : steps) {
    ASSERT_OK(cudaLaunchHostFunc(
        stream,
        [](void* state) {
          const auto* s = static_cast<Step*>(state);
          s->order->push_back(s->number);
        },
        &step));
  }
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST_F(CudaTest, GivesCallbacksTheirStream) {
  Stream stream;
  struct Seen {
    cudaStream_t stream = nullptr;
    cudaError_t status = cudaErrorUnknown;
  } seen;
  const auto callback = [](cudaStream_t called_for, cudaError_t status, void* state) {
    *static_cast<Seen*>(state) = {called_for, status};
  };
  ASSERT_OK(cudaStreamAddCallback(stream, callback, &seen, 0));
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(seen.stream, static_cast<cudaStream_t>(stream));
  EXPECT_EQ(seen.status, cudaSuccess);
}

TEST_F(CudaTest, OrdersTheLegacyStreamWithBlockingStreamsOnly) {
  Stream blocking(cudaStreamDefault), other(cudaStreamDefault), free_running;
  DeviceArray<char> data(64);
  Gate gate(blocking);
  ASSERT_OK(cudaMemsetAsync(data.get(), 1, 64, nullptr));  // after the gate
  ASSERT_OK(cudaMemsetAsync(data.get(), 2, 64, other));    // after the legacy stream
  EXPECT_CUDA(cudaErrorNotReady, cudaStreamQuery(nullptr));
  EXPECT_CUDA(cudaErrorNotReady, cudaStreamQuery(other));
  EXPECT_OK(cudaStreamSynchronize(free_running));
  cudaGetLastError();
  gate.Open();
  EXPECT_OK(cudaStreamSynchronize(other));
  EXPECT_EQ(data.Read()[0], 2);
}

TEST_F(CudaTest, GivesEachThreadAStreamOfItsOwn) {
  Gate gate(cudaStreamPerThread);
  EXPECT_CUDA(cudaErrorNotReady, cudaStreamQuery(cudaStreamPerThread));
  cudaError_t other = cudaErrorUnknown;
  std::thread([&other] { other = cudaStreamQuery(cudaStreamPerThread); }).join();
  EXPECT_EQ(other, cudaSuccess);
  cudaGetLastError();
  gate.Open();
  EXPECT_OK(cudaStreamSynchronize(cudaStreamPerThread));
}

TEST_F(CudaTest, FinishesTheWorkOfADestroyedStream) {
  PinnedArray<int> host(1, 0);
  PinnedArray<int> source(1, 5);
  cudaStream_t stream;
  ASSERT_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  DeviceArray<int> data(1);
  Gate gate(stream);
  ASSERT_OK(cudaMemcpyAsync(data.get(), source.get(), 4, cudaMemcpyHostToDevice, stream));
  ASSERT_OK(cudaMemcpyAsync(host.get(), data.get(), 4, cudaMemcpyDeviceToHost, stream));
  ASSERT_OK(cudaStreamDestroy(stream));
  gate.Open();
  ASSERT_OK(cudaDeviceSynchronize());
  EXPECT_EQ(host[0], 5);
}

TEST_F(CudaTest, ReportsPropertiesOfAStream) {
  int least = 1, greatest = 1;
  ASSERT_OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT_LE(greatest, least);
  cudaStream_t stream;
  ASSERT_OK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
  unsigned flags = 0;
  int priority = 1, device = -1;
  EXPECT_OK(cudaStreamGetFlags(stream, &flags));
  EXPECT_EQ(flags, unsigned{cudaStreamNonBlocking});
  EXPECT_OK(cudaStreamGetPriority(stream, &priority));
  EXPECT_EQ(priority, greatest);
  EXPECT_OK(cudaStreamGetDevice(stream, &device));
  EXPECT_EQ(device, 0);
  EXPECT_OK(cudaStreamDestroy(stream));
  EXPECT_CUDA(cudaErrorInvalidValue, cudaStreamCreateWithFlags(&stream, 0x80));
  cudaGetLastError();
}

TEST_F(CudaTest, EnablesPeerAccessOnce) {
  SKIP_BELOW(2);
  int can = 0;
  ASSERT_OK(cudaDeviceCanAccessPeer(&can, 0, 0));
  EXPECT_EQ(can, 0);
  ASSERT_OK(cudaDeviceCanAccessPeer(&can, 0, 1));
  if (can == 0) GTEST_SKIP() << "devices 0 and 1 do not reach each other";
  EXPECT_CUDA(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(1));
  EXPECT_OK(cudaDeviceEnablePeerAccess(1, 0));
  EXPECT_CUDA(cudaErrorPeerAccessAlreadyEnabled, cudaDeviceEnablePeerAccess(1, 0));
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(0, 0));
  EXPECT_OK(cudaDeviceDisablePeerAccess(1));
  EXPECT_CUDA(cudaErrorInvalidDevice, cudaGetLastError());
}

}  // namespace
}  // namespace conformance
