// Synced memory between the CPU and CUDA: what is copied, when and on which device, and the
// arithmetic that the device does itself.
#include <cstring>
#include <thread>
#include <utility>

#include "caffe2rt/caffe2.pb.h"
#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/cuda_error.h"
#include "contexts/synced/synced_blob.h"
#include "contexts/synced/synced_math.h"
#include "contexts/synced/synced_tensors.h"
#include "operators/register_cuda.h"
#include "tests/contexts/cuda/cuda_testing.h"
#include "tests/contexts/synced/published_sequence.h"
#include "tests/support/operator_test.h"

// Defined by tests/fake_cuda.
extern "C" __attribute__((weak)) long fakecuda_calls(const char* function);

namespace caffe2rt::test::synced_cuda_test {
namespace {

SyncedContexts BothSides() { return {GetStaticContext(CPU), GetCUDAStaticContext()}; }

template <class T>
std::vector<T> OnDevice(const T* data, size_t n) {
  std::vector<T> host(n);
  CUDA_ENFORCE(cudaMemcpy(host.data(), data, n * sizeof(T), cudaMemcpyDeviceToHost), "of the test");
  return host;
}
// cudaMemcpy from pageable memory may return before the values are on the device.
template <class T>
void WriteOnDevice(T* data, const std::vector<T>& values) {
  CUDA_ENFORCE(cudaMemcpy(data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
               "of the test");
  CUDA_ENFORCE(cudaStreamSynchronize(nullptr), "of the test");
}
template <class T>
void FillCpu(T* data, const std::vector<T>& values) {
  std::copy(values.begin(), values.end(), data);
}

// The library's calls of CUDA since the previous Take(). A copy to pageable memory of the CPU waits
// for one event.
struct Asked {
  long copies, to_cpu, kernels;
  bool operator==(const Asked&) const = default;
};
void PrintTo(const Asked& asked, std::ostream* out) {
  *out << asked.copies << " copies, " << asked.to_cpu << " of them to the CPU, " << asked.kernels
       << " kernels";
}
class CallCounter {
 public:
  Asked Take() {
    const Asked now = Now();
    const Asked asked = {now.copies - before_.copies, now.to_cpu - before_.to_cpu,
                         now.kernels - before_.kernels};
    before_ = now;
    return asked;
  }

 private:
  static Asked Now() {
    return {fakecuda_calls("cudaMemcpyAsync"), fakecuda_calls("cudaEventSynchronize"),
            fakecuda_calls("kernel")};
  }
  Asked before_ = Now();
};
constexpr Asked kNone = {0, 0, 0};
constexpr Asked kToDevice = {1, 0, 0};
constexpr Asked kToCpu = {1, 1, 0};

class SyncedCudaTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    RegisterCUDAContext();
    RegisterCudaOperators();
  }
};
class SyncedCudaCountTest : public SyncedCudaTest {
 protected:
  void SetUp() override {
    SyncedCudaTest::SetUp();
    if (&fakecuda_calls == nullptr) GTEST_SKIP() << "only the fake CUDA counts calls";
  }
};

TEST_F(SyncedCudaTest, IsTheDefault) {
  EXPECT_EQ(SyncedMemory(4).contexts(), BothSides());
  EXPECT_EQ(SyncedMemory(4).device_id(), 0);
}

TEST_F(SyncedCudaCountTest, CopiesFourTimesInThePublishedSequence) {
  ExpectFourCopiesInThePublishedSequence<CallCounter>(BothSides(), kNone, kToDevice, kToCpu);
}

TEST_F(SyncedCudaCountTest, ZerosOnTheDeviceAreNotCopied) {
  SyncedMemory memory(3000000, BothSides());
  CallCounter counter;
  const char* data = static_cast<const char*>(memory.gpu_data());
  EXPECT_EQ(counter.Take(), kNone);
  EXPECT_EQ(OnDevice(data, 3000000), std::vector<char>(3000000, 0));
  EXPECT_EQ(memory.head(), SyncedMemory::HEAD_AT_GPU);
}

TEST_F(SyncedCudaTest, CarriesWhatEachSideWrites) {
  SyncedMemory memory(10, BothSides());
  std::memset(memory.mutable_cpu_data(), 1, 10);
  EXPECT_EQ(OnDevice(static_cast<const char*>(memory.gpu_data()), 10), std::vector<char>(10, 1));
  WriteOnDevice(static_cast<char*>(memory.mutable_gpu_data()), std::vector<char>(10, 2));
  const char* cpu = static_cast<const char*>(memory.cpu_data());
  EXPECT_EQ(std::vector<char>(cpu, cpu + 10), std::vector<char>(10, 2));
  SyncedMemory nothing(0, BothSides());
  nothing.gpu_data();
  nothing.mutable_cpu_data();
  nothing.async_gpu_push(0);
  EXPECT_EQ(nothing.head(), SyncedMemory::SYNCED);
}

// --- async_gpu_push ---

TEST_F(SyncedCudaTest, PushReturnsBeforeTheCopyAndWorkOnTheStreamSeesIt) {
  CUDAContext stream(0);
  stream.SwitchToDevice(9);
  SyncedMemory memory(10, BothSides());
  const DataPtr seen(CUDAContext::New(10));
  // The copy to the CPU makes the memory of both sides and for copies on this stream: nothing is
  // allocated at the gate.
  memory.mutable_gpu_data();
  std::memset(memory.mutable_cpu_data(), 1, 10);
  Gate gate(stream.cuda_stream());
  memory.async_gpu_push(9);
  EXPECT_EQ(memory.head(), SyncedMemory::SYNCED);
  EXPECT_FALSE(IsStreamFree(0, 9));
  stream.CopyBytesSameDevice(10, memory.gpu_data(), seen.get());
  gate.Open();
  stream.FinishDeviceComputation();
  EXPECT_EQ(OnDevice(static_cast<const char*>(seen.get()), 10), std::vector<char>(10, 1));
  stream.SwitchToDevice(0);
}

TEST_F(SyncedCudaTest, WriterOfTheCpuSideWaitsForThePush) {
  CUDAContext stream(0);
  SyncedMemory memory(10, BothSides());
  memory.mutable_gpu_data();  // not allocated at the gate
  std::memset(memory.mutable_cpu_data(), 1, 10);
  Gate gate(stream.cuda_stream());
  memory.async_gpu_push(stream);
  std::thread opener([&] { gate.Open(); });
  std::memset(memory.mutable_cpu_data(), 2, 10);  // the copy does not read these bytes
  opener.join();
  EXPECT_TRUE(IsStreamFree(0, 0));
  EXPECT_EQ(OnDevice(static_cast<const char*>(memory.gpu_buffer()->get()), 10),
            std::vector<char>(10, 1));
}

TEST_F(SyncedCudaTest, PushGoesToTheDeviceThatIsCurrent) {
  SKIP_BELOW_DEVICES(2);
  const bool check = std::exchange(GlobalSyncedOptions().check_device, false);
  {
    SyncedMemory memory(10, BothSides());
    for (const int device : {1, 0, 1}) {
      const DeviceGuard guard(device);
      const StreamGuard stream(device, 0);
      std::memset(memory.mutable_cpu_data(), device + 1, 10);
      memory.async_gpu_push(3);
      EXPECT_EQ(memory.head(), SyncedMemory::SYNCED);
      memory.mutable_cpu_data();  // waits
      EXPECT_EQ(GetGPUIDForPointer(memory.gpu_buffer()->get()), 1);
      EXPECT_EQ(OnDevice(static_cast<const char*>(memory.gpu_buffer()->get()), 10),
                std::vector<char>(10, static_cast<char>(device + 1)));
    }
  }
  GlobalSyncedOptions().check_device = check;
}

TEST_F(SyncedCudaTest, PushWaitsForWhatItsNewMemoryWasUsedForBefore) {
  CUDAContext pusher, current;
  pusher.SwitchToDevice(9);
  current.SwitchToDevice(0);
  // A freed block that its stream still writes to.
  DataPtr twos(CUDAContext::New(10)), old(CUDAContext::New(10));
  WriteOnDevice(static_cast<char*>(twos.get()), std::vector<char>(10, 2));
  SyncedMemory memory(10, BothSides());
  std::memset(memory.mutable_cpu_data(), 1, 10);
  Gate gate(current.cuda_stream());
  current.CopyBytesSameDevice(10, twos.get(), old.get());
  if (GetCudaMemoryPoolType() != CudaMemoryPoolType::NONE) old.Reset();  // would wait otherwise
  memory.async_gpu_push(pusher);
  EXPECT_TRUE(StaysBusy(0, 9));
  gate.Open();
  current.FinishDeviceComputation();
  pusher.FinishDeviceComputation();
  EXPECT_EQ(OnDevice(static_cast<const char*>(memory.gpu_data()), 10), std::vector<char>(10, 1));
}

TEST_F(SyncedCudaTest, PushRequiresTheHeadAtTheCpuAndACudaContext) {
  SyncedMemory memory(10, BothSides());
  ExpectThrows([&] { memory.async_gpu_push(0); }, "want HEAD_AT_CPU");
  memory.mutable_cpu_data();
  const auto cpu = GetStaticContext(CPU)->CreateContext();
  ExpectThrows([&] { memory.async_gpu_push(*cpu); }, "on a context of CPU, want one of CUDA");
}

// Memory belongs to the current stream, because work of that stream may still use a freed block.
TEST_F(SyncedCudaTest, CopiesOnTheStreamThatItsMemoryIsFor) {
  const StreamGuard guard(0, 4);
  const auto context = GetCUDAStaticContext()->CreateContext();
  EXPECT_EQ(static_cast<CUDAContext&>(*context).cuda_stream(), ThreadStream(0, 4).stream);
  EXPECT_EQ(&CurrentStream(0), &ThreadStream(0, 4));
}

// --- devices ---

class SyncedCudaDevicesTest : public SyncedCudaTest {
 protected:
  SyncedCudaDevicesTest() : before_(GlobalSyncedOptions()) {
    GlobalSyncedOptions().check_device = true;
  }
  ~SyncedCudaDevicesTest() override { GlobalSyncedOptions() = before_; }
  const SyncedOptions before_;
};

TEST_F(SyncedCudaDevicesTest, StaysOnTheDeviceOfItsConstruction) {
  SKIP_BELOW_DEVICES(2);
  SyncedMemory first(16, BothSides());
  std::memset(first.mutable_cpu_data(), 1, 16);
  EXPECT_EQ(GetGPUIDForPointer(first.gpu_data()), 0);
  {
    const DeviceGuard guard(1);
    SyncedMemory second(16, BothSides());
    EXPECT_EQ(second.device_id(), 1);
    std::memset(second.mutable_cpu_data(), 2, 16);
    EXPECT_EQ(GetGPUIDForPointer(second.gpu_data()), 1);
    EXPECT_EQ(OnDevice(static_cast<const char*>(second.gpu_data()), 16), std::vector<char>(16, 2));
    ExpectThrows([&] { first.gpu_data(); }, "current device of the thread that uses synced memory");
    ExpectThrows([&] { first.mutable_cpu_data(); }, "current device");
  }
  EXPECT_EQ(OnDevice(static_cast<const char*>(first.gpu_data()), 16), std::vector<char>(16, 1));
}

TEST_F(SyncedCudaDevicesTest, RejectsOwnedMemoryOnAnotherDevice) {
  SKIP_BELOW_DEVICES(2);
  GlobalSyncedOptions().check_device = false;
  SyncedMemory memory(10, BothSides());
  {
    const DeviceGuard guard(1);
    memory.gpu_data();
  }
  GlobalSyncedOptions().check_device = true;
  ExpectThrows([&] { memory.gpu_data(); }, "device of the memory that synced memory owns");
  GlobalSyncedOptions().check_device = false;  // or the destructor would fail
}

// --- arithmetic ---

TEST_F(SyncedCudaCountTest, DoesArithmeticWhereTheHeadIs) {
  SyncedBlob<float> blob({2, 3}, BothSides());
  const std::vector<float> values = {1, -2, 3, -4, 5, -6};
  FillCpu(blob.mutable_cpu_data(), values);
  WriteOnDevice(blob.mutable_gpu_diff(), values);
  CallCounter counter;
  EXPECT_EQ(blob.asum_data(), 21.f);
  EXPECT_EQ(blob.sumsq_data(), 91.f);
  blob.scale_data(2);
  EXPECT_EQ(counter.Take(), kNone);
  EXPECT_EQ(blob.asum_diff(), 21.f);  // two kernels, and a copy of the sum to the CPU
  EXPECT_EQ(counter.Take(), (Asked{1, 1, 2}));
  EXPECT_EQ(blob.sumsq_diff(), 91.f);
  EXPECT_EQ(counter.Take(), (Asked{1, 1, 2}));
  blob.scale_diff(-1);
  EXPECT_EQ(counter.Take(), (Asked{0, 0, 1}));
  EXPECT_EQ(blob.diff()->head(), SyncedMemory::HEAD_AT_GPU);
  EXPECT_EQ(OnDevice(blob.gpu_diff(), 6), (std::vector<float>{-1, 2, -3, 4, -5, 6}));
  blob.gpu_data();  // both sides agree, so the device is used
  counter.Take();
  blob.Update();
  EXPECT_EQ(counter.Take(), (Asked{0, 0, 1}));
  EXPECT_EQ(blob.data()->head(), SyncedMemory::HEAD_AT_GPU);
  EXPECT_EQ(OnDevice(blob.gpu_data(), 6), (std::vector<float>{3, -6, 9, -12, 15, -18}));
  EXPECT_EQ(counter.Take(), kNone);
}

TEST_F(SyncedCudaTest, SumsMoreThanOneBlockOfThreadsHandles) {
  // 1,024 parts, the last of which is short.
  constexpr int kSize = 5000011;
  SyncedBlob<double> blob({kSize}, BothSides());
  double* data = blob.mutable_cpu_data();
  for (int i = 0; i < kSize; ++i) data[i] = i % 2 == 0 ? 0.5 : -2;
  blob.gpu_data();
  EXPECT_EQ(blob.asum_data(), 0.5 * 2500006 + 2.0 * 2500005);
  EXPECT_EQ(blob.sumsq_data(), 0.25 * 2500006 + 4.0 * 2500005);
}

TEST_F(SyncedCudaTest, MathAcceptsEmptyBlobsAndRejectsIntegers) {
  const SyncedMath& math = SyncedMathOf(CUDA);
  CUDAContext context(0);
  const TypeMeta real = TypeMeta::Make<float>(), whole = TypeMeta::Make<int>();
  math.Zero(context, 0, nullptr);
  math.Scale(context, real, 0, 2, nullptr);
  math.Subtract(context, real, 0, nullptr, nullptr);
  EXPECT_EQ(math.Asum(context, real, 0, nullptr), 0);
  EXPECT_EQ(math.Sumsq(context, real, 0, nullptr), 0);
  ExpectThrows([&] { math.Asum(context, whole, 1, nullptr); }, "for float and double");
  ExpectThrows([&] { math.Sumsq(context, whole, 1, nullptr); }, "for float and double");
  ExpectThrows([&] { math.Scale(context, whole, 1, 2, nullptr); }, "for float and double");
  ExpectThrows([&] { math.Subtract(context, whole, 1, nullptr, nullptr); }, "for float and double");
}

// --- blobs ---

TEST_F(SyncedCudaTest, CopiesBlobsOnTheSideOfTheHead) {
  SyncedBlob<float> source({4}, BothSides()), copy({4}, BothSides());
  WriteOnDevice(source.mutable_gpu_data(), std::vector<float>{1, 2, 3, 4});
  copy.CopyFrom(source);
  EXPECT_EQ(copy.data()->head(), SyncedMemory::HEAD_AT_GPU);
  EXPECT_EQ(source.data()->head(), SyncedMemory::HEAD_AT_GPU);
  EXPECT_EQ(copy.cpu_data()[3], 4.f);
  EXPECT_EQ(OnDevice(copy.gpu_shape(), 1), std::vector<int>{4});
}

TEST_F(SyncedCudaTest, IsATensorOfEachSideToOperators) {
  SyncedBlob<float> blob({2, 2}, BothSides());
  FillCpu(blob.mutable_cpu_data(), {-1, 2, -3, 4});
  SyncedTensors<float> tensors(blob, SyncedPart::kData);
  Workspace ws;
  ws.CreateBlob("x")->GetMutableTensor(CUDA);
  *ws.GetBlob("x")->GetMutable<Tensor>() = *tensors.mutable_device();
  OperatorDef relu = ParseOp(R"(type: "Relu" input: "x" output: "x"
      device_option { device_type: 1 device_id: 0 })");
  ASSERT_TRUE(ws.RunOperatorOnce(relu));
  EXPECT_EQ(std::vector<float>(blob.cpu_data(), blob.cpu_data() + 4),
            (std::vector<float>{0, 2, 0, 4}));
}

}  // namespace
}  // namespace caffe2rt::test::synced_cuda_test
