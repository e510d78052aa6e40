#pragma once
// The fixture that the graph tests share.

#include <memory>
#include <optional>
#include <string>

#include "caffe2rt/caffe2.pb.h"
#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/cuda_graph.h"
#include "tests/contexts/cuda/cuda_testing.h"

namespace caffe2rt::test {

// Has two numbers on the device, and the context that works on them.
class CudaGraphTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (!HasCudaGPU()) return;
    RegisterCUDAContext();
    context_.emplace();
    context_->SwitchToDevice(0);
    from_ = DataPtr(CUDAContext::New(sizeof(int)));
    to_ = DataPtr(CUDAContext::New(sizeof(int)));
    Set(from_, 1);
    Set(to_, 2);
    DeviceOption option;
    option.set_device_type(CUDA);
    option.set_device_id(0);
    graph_ = GetCUDAStaticContext()->CreateGraph(option);
  }
  void TearDown() override {
    graph_.reset();
    from_.Reset();
    to_.Reset();
    context_.reset();
    CudaTest::TearDown();
  }
  void Set(const DataPtr& memory, int value) {
    context_->CopyBytesFromCPU(sizeof(int), &value, memory.get());
    context_->FinishDeviceComputation();
  }
  int Get(const DataPtr& memory) {
    int value = 0;
    context_->CopyBytesToCPU(sizeof(int), memory.get(), &value);
    context_->FinishDeviceComputation();
    return value;
  }
  void CopyOnDevice() { context_->CopyBytesSameDevice(sizeof(int), from_.get(), to_.get()); }
  // Records the copy.
  void RecordCopy() {
    graph_->BeginCapture(0);
    CopyOnDevice();
    std::string reason;
    ASSERT_TRUE(graph_->EndCapture(&reason)) << reason;
  }
  // Records the copy and another action, and returns the reason why the recording cannot be
  // replayed.
  std::string ReasonAgainst(const std::function<void()>& action) {
    graph_->BeginCapture(0);
    CopyOnDevice();
    action();
    std::string reason;
    EXPECT_FALSE(graph_->EndCapture(&reason));
    EXPECT_EQ(Get(to_), 2);  // nothing has run
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
    CopyOnDevice();  // the stream still works
    EXPECT_EQ(Get(to_), 1);
    return reason;
  }

  std::optional<CUDAContext> context_;
  DataPtr from_, to_;
  std::unique_ptr<DeviceGraph> graph_;
};

}  // namespace caffe2rt::test
