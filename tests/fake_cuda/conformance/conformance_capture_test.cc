// CUDA's behaviour: stream capture and graphs.

#include "conformance/conformance.h"

namespace conformance {
namespace {

class CaptureTest : public CudaTest {
 protected:
  void Begin(cudaStream_t stream) {
    ASSERT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  }
  // Ends an invalid capture.
  void ExpectInvalid(cudaStream_t stream) {
    cudaGraph_t graph = nullptr;
    EXPECT_CUDA(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
    EXPECT_EQ(graph, nullptr);
    cudaGetLastError();
  }
};

TEST_F(CaptureTest, ReplaysWhatWasCaptured) {
  Stream stream;
  DeviceArray<char> data(64), other(64);
  ASSERT_OK(cudaMemset(data.get(), 1, 64));
  ASSERT_OK(cudaDeviceSynchronize());
  Begin(stream);
  ASSERT_OK(cudaMemsetAsync(data.get(), 2, 64, stream));
  ASSERT_OK(cudaMemcpyAsync(other.get(), data.get(), 64, cudaMemcpyDeviceToDevice, stream));
  cudaStreamCaptureStatus status;
  ASSERT_OK(cudaStreamIsCapturing(stream, &status));
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  cudaGraph_t graph;
  ASSERT_OK(cudaStreamEndCapture(stream, &graph));
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(data.Read()[0], 1);  // captured, not run
  size_t nodes = 0;
  ASSERT_OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_EQ(nodes, 2u);
  cudaGraphExec_t exec;
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  ASSERT_OK(cudaGraphDestroy(graph));
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(cudaMemset(other.get(), 0, 64));
    ASSERT_OK(cudaDeviceSynchronize());
    ASSERT_OK(cudaGraphLaunch(exec, stream));
    ASSERT_OK(cudaStreamSynchronize(stream));
    EXPECT_EQ(other.Read()[63], 2);
  }
  ASSERT_OK(cudaGraphExecDestroy(exec));
}

TEST_F(CaptureTest, FollowsEventsIntoOtherStreams) {
  Stream first, second;
  Event fork, join;
  DeviceArray<char> left(64), right(64), sum(128);
  Begin(first);
  ASSERT_OK(cudaMemsetAsync(left.get(), 1, 64, first));
  ASSERT_OK(cudaEventRecord(fork, first));
  ASSERT_OK(cudaStreamWaitEvent(second, fork, 0));
  cudaStreamCaptureStatus status;
  ASSERT_OK(cudaStreamIsCapturing(second, &status));
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  ASSERT_OK(cudaMemcpyAsync(right.get(), left.get(), 64, cudaMemcpyDeviceToDevice, second));
  ASSERT_OK(cudaMemcpyAsync(sum.get(), left.get(), 64, cudaMemcpyDeviceToDevice, first));
  ASSERT_OK(cudaEventRecord(join, second));
  ASSERT_OK(cudaStreamWaitEvent(first, join, 0));
  ASSERT_OK(cudaMemcpyAsync(sum.get() + 64, right.get(), 64, cudaMemcpyDeviceToDevice, first));
  cudaGraph_t graph;
  ASSERT_OK(cudaStreamEndCapture(first, &graph));
  ASSERT_OK(cudaStreamIsCapturing(second, &status));
  EXPECT_EQ(status, cudaStreamCaptureStatusNone);
  cudaGraphExec_t exec;
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 5; ++i) {
    ASSERT_OK(cudaMemset(sum.get(), 0, 128));
    ASSERT_OK(cudaDeviceSynchronize());
    ASSERT_OK(cudaGraphLaunch(exec, first));
    ASSERT_OK(cudaStreamSynchronize(first));
    EXPECT_EQ(sum.Read(), std::vector<char>(128, 1));
  }
  ASSERT_OK(cudaGraphExecDestroy(exec));
  ASSERT_OK(cudaGraphDestroy(graph));
}

TEST_F(CaptureTest, RequiresForksToBeJoined) {
  Stream first, second;
  Event fork;
  DeviceArray<char> data(64);
  Begin(first);
  ASSERT_OK(cudaEventRecord(fork, first));
  ASSERT_OK(cudaStreamWaitEvent(second, fork, 0));
  ASSERT_OK(cudaMemsetAsync(data.get(), 1, 64, second));
  cudaGraph_t graph = nullptr;
  EXPECT_CUDA(cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(first, &graph));
  EXPECT_EQ(graph, nullptr);
  cudaGetLastError();
}

TEST_F(CaptureTest, RejectsWaitsInACapture) {
  Stream stream;
  Begin(stream);
  EXPECT_CUDA(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(stream));
  EXPECT_CUDA(cudaErrorStreamCaptureInvalidated, cudaLaunchHostFunc(
                                                     stream, [](void*) {}, nullptr));
  ExpectInvalid(stream);
}

TEST_F(CaptureTest, RejectsAllocationsInACapture) {
  Stream stream;
  Begin(stream);
  void* ptr = nullptr;
  EXPECT_CUDA(cudaErrorStreamCaptureUnsupported, cudaMalloc(&ptr, 64));
  ExpectInvalid(stream);
}

TEST_F(CaptureTest, LetsARelaxedThreadAllocate) {
  Stream stream;
  Begin(stream);
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  ASSERT_OK(cudaThreadExchangeStreamCaptureMode(&mode));
  void* ptr = nullptr;
  EXPECT_OK(cudaMalloc(&ptr, 64));
  ASSERT_OK(cudaThreadExchangeStreamCaptureMode(&mode));
  cudaGraph_t graph;
  ASSERT_OK(cudaStreamEndCapture(stream, &graph));
  ASSERT_OK(cudaGraphDestroy(graph));
  ASSERT_OK(cudaFree(ptr));
}

TEST_F(CaptureTest, RejectsTheLegacyStream) {
  EXPECT_CUDA(cudaErrorStreamCaptureUnsupported,
              cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal));
  Stream blocking(cudaStreamDefault);
  DeviceArray<char> data(64);
  ASSERT_OK(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeThreadLocal));
  EXPECT_CUDA(cudaErrorStreamCaptureImplicit, cudaMemsetAsync(data.get(), 0, 64, nullptr));
  ExpectInvalid(blocking);
}

TEST_F(CaptureTest, RejectsWaitsForEarlierWork) {
  Stream stream, outside;
  Event event;
  ASSERT_OK(cudaEventRecord(event, outside));
  Begin(stream);
  EXPECT_CUDA(cudaErrorStreamCaptureIsolation, cudaStreamWaitEvent(stream, event, 0));
  ExpectInvalid(stream);
}

TEST_F(CaptureTest, RejectsTheEndOfACaptureThatHasNotBegun) {
  Stream stream;
  cudaGraph_t graph;
  EXPECT_CUDA(cudaErrorIllegalState, cudaStreamEndCapture(stream, &graph));
  Begin(stream);
  EXPECT_CUDA(cudaErrorIllegalState,
              cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  ASSERT_OK(cudaStreamEndCapture(stream, &graph));
  ASSERT_OK(cudaGraphDestroy(graph));
  cudaGetLastError();
}

TEST_F(CaptureTest, UpdatesAGraphOfTheSameShape) {
  Stream stream;
  DeviceArray<char> data(64);
  cudaGraph_t graphs[2];
  for (int i = 0; i < 2; ++i) {
    Begin(stream);
    ASSERT_OK(cudaMemsetAsync(data.get(), 5 + i, 64, stream));
    ASSERT_OK(cudaStreamEndCapture(stream, &graphs[i]));
  }
  cudaGraphExec_t exec;
  ASSERT_OK(cudaGraphInstantiate(&exec, graphs[0], 0));
  cudaGraphExecUpdateResultInfo info;
  ASSERT_OK(cudaGraphExecUpdate(exec, graphs[1], &info));
  EXPECT_EQ(info.result, cudaGraphExecUpdateSuccess);
  ASSERT_OK(cudaGraphLaunch(exec, stream));
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(data.Read()[0], 6);
  ASSERT_OK(cudaGraphExecDestroy(exec));
  for (cudaGraph_t graph : graphs) ASSERT_OK(cudaGraphDestroy(graph));
}

}  // namespace
}  // namespace conformance
