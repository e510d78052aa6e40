// A thousand CUDA failures, one in each run of a workload with nets, copies, events and tensors.
// None may cause a leak, a changed current device, or a wrong number in the next run.
#include <google/protobuf/text_format.h>

#include <array>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <thread>

#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/blob.h"
#include "caffe2_core/tensor/tensor.h"
#include "caffe2rt/caffe2.pb.h"
#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/cuda_graph.h"
#include "contexts/cuda/pinned_allocator.h"
#include "operators/register_cuda.h"
#include "tests/contexts/cuda/cuda_fake_testing.h"

namespace caffe2rt::test::cuda_faults_test {
namespace {

// The functions that fail. The workload calls each of them.
constexpr std::array kFunctions = {"cudaMalloc",
                                   "cudaMemcpyAsync",
                                   "cudaMemcpyPeerAsync",
                                   "cudaEventCreateWithFlags",
                                   "cudaEventRecord",
                                   "cudaStreamCreateWithFlags",
                                   "cudaStreamWaitEvent",
                                   "cudaStreamSynchronize",
                                   "cudaEventSynchronize",
                                   "cudaEventQuery",
                                   "cudaHostAlloc",
                                   "cudaSetDevice",
                                   "cudaGetDevice",
                                   "cudaPointerGetAttributes",
                                   "cudaStreamBeginCapture",
                                   "cudaGraphInstantiate",
                                   "cudaGraphLaunch",
                                   "kernel"};
constexpr size_t kCount = 5000;

DeviceOption OnDevice(int id) {
  DeviceOption option;
  option.set_device_type(CUDA);
  option.set_device_id(id);
  return option;
}

class CudaFaultsTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    SKIP_BELOW_DEVICES(2);
    RegisterCUDAContext();
    RegisterCudaOperators();
    NetDef def;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(R"(
      name: "halves" device_option { device_type: 1 device_id: 1 }
      op { type: "Relu" input: "x" output: "y" }
      op { type: "Relu" input: "y" output: "z" }
    )",
                                                              &def));
    const DeviceGuard guard(0);
    workspace_.CreateBlob("x");
    net_ = workspace_.CreateNet(def);
  }

  // Copies data to the devices and back, across both devices and two streams, through events, a net
  // and a graph. Returns the result. Each call with a new `stream` number uses a new stream.
  std::vector<float> Work(int stream) {
    back_.assign(kCount, -1.f);
    const DeviceGuard guard(0);
    ReleaseCachedCudaMemory();
    PinnedPool().ReleaseCached();
    CUDAContext first(OnDevice(0)), second(OnDevice(1));
    second.SwitchToDevice(stream);
    Tensor x({static_cast<int64_t>(kCount)}, CUDA);
    x.mutable_data<float>();
    first.SwitchToDevice(stream);
    Tensor here({static_cast<int64_t>(kCount)}, CUDA);
    const DataPtr pinned(PinnedCPUAllocator().New(x.nbytes()));
    std::memcpy(pinned.get(), input_.data(), x.nbytes());
    first.CopyBytesFromCPU(x.nbytes(), pinned.get(), here.mutable_data<float>());
    GetCUDAStaticContext()->RecordUse(x.storage()->deleter(), first);
    first.CopyBytesSameDevice(x.nbytes(), here.raw_data(), x.raw_mutable_data());
    Event arrived(OnDevice(0));
    first.Record(&arrived);
    second.WaitEvent(arrived);
    second.FinishDeviceComputation();
    *workspace_.GetBlob("x")->GetMutableTensor(CUDA) = x;
    net_->Run();
    const auto& z = workspace_.GetBlob("z")->Get<Tensor>();
    const std::unique_ptr<DeviceGraph> graph = GetCUDAStaticContext()->CreateGraph(OnDevice(1));
    second.SwitchToDevice(stream);
    second.FinishDeviceComputation();
    graph->BeginCapture(stream);
    second.CopyBytesSameDevice(x.nbytes(), z.raw_data(), x.raw_mutable_data());
    std::string reason;
    CAFFE_ENFORCE(graph->EndCapture(&reason), reason);
    graph->Launch(stream);
    second.CopyBytesToCPU(x.nbytes(), x.raw_data(), back_.data());
    Event over(OnDevice(1));
    second.Record(&over);
    over.Finish();
    second.FinishDeviceComputation();
    return back_;
  }

  void Settle() {
    for (int device = 0; device < 2; ++device) {
      const DeviceGuard guard(device);
      ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    }
    cudaGetLastError();
    workspace_.GetBlob("x")->Reset();
    for (const char* name : {"y", "z"})
      workspace_.GetBlob(name)->GetMutableTensor(CUDA)->FreeMemory();
  }

  static size_t InUse() {
    const std::vector<long> total = TotalMemoryByGpu();
    return static_cast<size_t>(std::accumulate(total.begin(), total.end(), 0L)) +
           PinnedPool().Statistics().in_use_bytes;
  }
  static int Leaks(const std::string& kind) {
    struct Count {
      std::string kind;
      int found = 0;
    } count{kind};
    fakecuda_leaks(
        [](void* state, const char* line) {
          auto& found = *static_cast<Count*>(state);
          if (std::string(line).find(found.kind) != std::string::npos) ++found.found;
        },
        &count);
    return count.found;
  }

  std::vector<float> input_ = [] {
    std::vector<float> values(kCount);
    for (size_t i = 0; i < kCount; ++i) values[i] = static_cast<float>(i) - 2500;
    return values;
  }();
  std::vector<float> expected_ = [] {
    std::vector<float> values(kCount);
    for (size_t i = 0; i < kCount; ++i) values[i] = i < 2500 ? 0.f : static_cast<float>(i) - 2500;
    return values;
  }();
  std::vector<float> back_;  // written until Settle, even when Work throws
  Workspace workspace_;
  NetBase* net_ = nullptr;
};

TEST_F(CudaFaultsTest, AThousandFailuresLeaveNothingBehind) {
  std::mt19937 random(20);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(Work(0), expected_);
    Settle();
  }
  const size_t in_use = InUse();
  const int graphs = Leaks("graph");
  std::map<std::string, long> calls;  // counts in a run without failures
  fakecuda_reset_calls();
  ASSERT_EQ(Work(0), expected_);
  for (const char* function : kFunctions) calls[function] = std::max(fakecuda_calls(function), 2L);
  int thrown = 0, events_half_way = 0;
  // Events are held so that new ones must be created.
  std::array<std::vector<cudaEvent_t>, 2> held;
  for (int round = 0; round < 1000; ++round) {
    const std::string function = kFunctions[random() % kFunctions.size()];
    const int stream = function == "cudaStreamCreateWithFlags" ? round + 1 : 0;
    if (function == "cudaEventCreateWithFlags") {
      for (int device = 0; device < 2; ++device) {
        for (int i = 0; i < 40; ++i)
          held[static_cast<size_t>(device)].push_back(TakeCudaEvent(device));
      }
    }
    // With more failures, every call that sets or gets the device would fail, and no thread could
    // return to its own device.
    const unsigned most = function.ends_with("etDevice") ? 2 : 4;
    const cudaError_t error = function == "cudaMalloc" || function == "cudaHostAlloc"
                                  ? cudaErrorMemoryAllocation
                                  : cudaErrorUnknown;
    fakecuda_fail(function.c_str(),
                  static_cast<int>(random() % static_cast<unsigned long>(calls[function])),
                  1 + static_cast<int>(random() % most), error, 0);
    try {
      const std::vector<float> result = Work(stream);
      EXPECT_EQ(result, expected_) << function << " failed unseen";  // the library recovered
    } catch (const EnforceNotMet&) {
      ++thrown;
    }
    fakecuda_fail(function.c_str(), 0, 0, cudaSuccess, 0);
    int device = -1;
    ASSERT_EQ(cudaGetDevice(&device), cudaSuccess);
    ASSERT_EQ(device, 0) << "after a failure of " << function;
    ASSERT_EQ(RecordingOfThread(), nullptr);
    for (size_t i = 0; i < 2; ++i) {
      for (const cudaEvent_t event : held[i]) GiveCudaEvent(static_cast<int>(i), event);
      held[i].clear();
    }
    Settle();
    ASSERT_EQ(Work(0), expected_) << "after a failure of " << function;
    Settle();
    ASSERT_EQ(InUse(), in_use) << "after a failure of " << function << " in round " << round;
    ASSERT_EQ(Leaks("graph"), graphs) << "after a failure of " << function;
    for (int i = 0; i < 2; ++i) CudaPool(i).CheckInvariants();
    PinnedPool().CheckInvariants();
    if (round == 500) events_half_way = Leaks("event");
  }
  EXPECT_EQ(Leaks("event"), events_half_way);  // the stock stopped growing
  ReleaseCachedCudaMemory();
  PinnedPool().ReleaseCached();
  EXPECT_EQ(
      fakecuda_live_bytes(0) + fakecuda_live_bytes(1) + PinnedPool().Statistics().reserved_bytes,
      in_use);
  EXPECT_GT(thrown, 500);  // in the other rounds the pools retried successfully
}

}  // namespace
}  // namespace caffe2rt::test::cuda_faults_test
