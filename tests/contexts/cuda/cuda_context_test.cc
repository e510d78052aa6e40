// Behaviour specific to CUDA's contexts and events, beyond the shared suite.
#include "contexts/cuda/cuda_context.h"

#include <chrono>
#include <numeric>
#include <thread>

#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/tensor/blob.h"
#include "caffe2_core/tensor/tensor.h"
#include "caffe2rt/caffe2.pb.h"
#include "contexts/cuda/cuda_staging.h"
#include "contexts/synced/synced_memory.h"
#include "tests/contexts/cuda/cuda_testing.h"

namespace caffe2rt::test::cuda_context_test {
namespace {

using testing::HasSubstr;

class CudaContextTest : public CudaTest {
 protected:
  static void SetUpTestSuite() { RegisterCUDAContext(); }
  static DeviceOption OnDevice(int id) {
    DeviceOption option;
    option.set_device_type(CUDA);
    option.set_device_id(id);
    return option;
  }
  static std::string Pattern(size_t nbytes) {
    std::string bytes(nbytes, '\0');
    for (size_t i = 0; i < nbytes; ++i) bytes[i] = static_cast<char>(i * 7 + i / 253);
    return bytes;
  }
};
using CudaEventTest = CudaContextTest;

TEST_F(CudaContextTest, UsesDeviceAndSeedOfItsOption) {
  const int last = NumCudaDevices() - 1;
  DeviceOption option = OnDevice(last);
  option.set_random_seed(17);
  const CUDAContext context(option);
  EXPECT_EQ(context.cuda_gpu_id(), last);
  EXPECT_EQ(context.random_seed(), 17u);
  EXPECT_EQ(CaffeCudaGetDevice(), 0);  // only SwitchToDevice changes the thread's device
  EXPECT_NE(CUDAContext().random_seed(), CUDAContext().random_seed());
}

TEST_F(CudaContextTest, ListsTheDevicesIfOneIsMissing) {
  EXPECT_THAT(ErrorOf([] { CUDAContext context(OnDevice(99)); }),
              HasSubstr("CUDA device 99 is not on this machine, want 0 to "));
}

TEST_F(CudaContextTest, SwitchMakesDeviceAndStreamTheThreads) {
  const int last = NumCudaDevices() - 1;
  CUDAContext context(OnDevice(last));
  context.SwitchToDevice(6);
  EXPECT_EQ(CaffeCudaGetDevice(), last);
  EXPECT_EQ(context.cuda_stream(), CUDAContext::cuda_stream(last, 6));
  EXPECT_EQ(&CurrentStream(last), &context.stream());
  CaffeCudaSetDevice(0);
}

TEST_F(CudaContextTest, CopiesLargePageableMemoryInPieces) {
  const std::string source = Pattern((size_t{9} << 20) + 5);
  std::string back(source.size(), '?');
  CUDAContext context;
  context.SwitchToDevice(0);
  const DataPtr memory(context.New(source.size()));
  std::string changing = source;
  context.CopyBytesFromCPU(changing.size(), changing.data(), memory.get());
  changing.assign(changing.size(), 'x');  // a pageable source may change or be freed
  context.CopyBytesToCPU(back.size(), memory.get(), back.data());
  context.FinishDeviceComputation();
  EXPECT_EQ(back, source);
}

// The copy passes through two buffers, of which the device may still read both.
TEST_F(CudaContextTest, WaitsForTheDeviceBeforeItFillsABufferAgain) {
  const std::string source = Pattern(4 * CudaStaging::kBytes);
  std::string back(source.size(), '?');
  CUDAContext context;
  context.SwitchToDevice(0);
  const DataPtr memory(context.New(source.size()));
  context.CopyBytesFromCPU(4, source.data(), memory.get());  // allocates the buffers
  Gate gate(context.cuda_stream());
  std::jthread opener([&gate] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    gate.Open();
  });
  context.CopyBytesFromCPU(source.size(), source.data(), memory.get());
  opener.join();
  context.CopyBytesToCPU(back.size(), memory.get(), back.data());
  context.FinishDeviceComputation();
  EXPECT_TRUE(back == source);
}

TEST_F(CudaContextTest, DoesNotWaitToCopyFromPageableMemory) {
  CUDAContext context;
  context.SwitchToDevice(0);
  const DataPtr memory(context.New(4));
  std::string back = "....";
  Gate gate(context.cuda_stream());
  context.CopyBytesFromCPU(4, "abcd", memory.get());  // would never return if it waited
  gate.Open();
  context.CopyBytesToCPU(4, memory.get(), back.data());
  EXPECT_EQ(back, "abcd");  // the copy has waited: nothing on the stream fills pageable memory
}

TEST_F(CudaContextTest, CopiesBetweenDevices) {
  SKIP_BELOW_DEVICES(2);
  const std::string source = Pattern(100000);
  std::string back(source.size(), '?');
  CUDAContext first(OnDevice(0)), second(OnDevice(1));
  second.SwitchToDevice(0);
  const DataPtr there(CUDAContext::New(source.size()));
  first.SwitchToDevice(0);
  const DataPtr here(CUDAContext::New(source.size()));
  first.CopyBytesFromCPU(source.size(), source.data(), here.get());
  first.CopyBytesSameDevice(source.size(), here.get(), there.get());
  Event copied(OnDevice(0));
  first.Record(&copied);
  second.WaitEvent(copied);
  second.CopyBytesToCPU(back.size(), there.get(), back.data());
  second.FinishDeviceComputation();
  EXPECT_EQ(back, source);
}

TEST_F(CudaContextTest, RejectsTypesWithConstructors) {
  CUDAContext context;
  const std::string words[1];
  EXPECT_THAT(
      ErrorOf([&] { context.CopyItemsFromCPU(TypeMeta::Make<std::string>(), 1, words, nullptr); }),
      HasSubstr("are supported only on the CPU, not on CUDA"));
}

TEST_F(CudaContextTest, FinishReportsALaunchThatFailed) {
  CUDAContext context;
  // Sets the last error, like a bad launch.
  EXPECT_EQ(cudaSetDevice(12345), cudaErrorInvalidDevice);
  EXPECT_THROW(context.FinishDeviceComputation(), CudaError);
  context.FinishDeviceComputation();  // reported only once
}

TEST_F(CudaContextTest, TensorsAreReadBackOnTheDeviceTheyWereOn) {
  SKIP_BELOW_DEVICES(2);
  Tensor host({2}, CPU);
  host.mutable_data<float>()[0] = 1.5f;
  host.mutable_data<float>()[1] = -2.f;
  Blob blob;
  {
    const DeviceGuard guard(1);
    blob.GetMutableTensor(CUDA)->CopyFrom(host);
  }
  const std::string record = SerializeBlob(blob, "w");
  BlobProto proto;
  ASSERT_TRUE(proto.ParseFromString(record));
  EXPECT_EQ(proto.tensor().device_detail().device_id(), 1);
  Blob read;
  DeserializeBlob(record, &read);
  EXPECT_EQ(GetGPUIDForPointer(read.Get<Tensor>().raw_data()), 1);
  const Tensor back(read.Get<Tensor>(), CPU);
  EXPECT_EQ(back.data<float>()[1], -2.f);
  CaffeCudaSetDevice(0);
}

TEST_F(CudaEventTest, ReportsNoErrorOnSuccess) {
  CUDAContext context;
  Event event(OnDevice(0));
  EXPECT_EQ(event.ErrorMessage(), "No error");
  context.Record(&event);
  event.Finish();
  EXPECT_EQ(event.ErrorMessage(), "No error");
}

TEST_F(CudaEventTest, IsFinishedByHandOnlyBeforeItIsRecorded) {
  CUDAContext context;
  Gate gate(context.cuda_stream());
  Event event(OnDevice(0));
  context.Record(&event);
  EXPECT_EQ(event.Query(), EventStatus::EVENT_SCHEDULED);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);  // "not ready" is not an error
  EXPECT_THROW(event.SetFinished(), EnforceNotMet);
  gate.Open();
  event.Finish();
  EXPECT_EQ(event.Query(), EventStatus::EVENT_SUCCESS);
}

TEST_F(CudaEventTest, BlocksWaitersUntilItIsRecorded) {
  CUDAContext context;
  Event event(OnDevice(0));
  bool finished = false;
  std::thread waiter([&] {
    event.Finish();
    finished = true;
  });
  EXPECT_EQ(event.Query(), EventStatus::EVENT_INITIALIZED);
  context.Record(&event);
  waiter.join();
  EXPECT_TRUE(finished);
}

TEST_F(CudaEventTest, ForgetsItsTextWhenItIsReset) {
  CUDAContext context;
  Event event(OnDevice(0));
  context.Record(&event, "bad");
  EXPECT_EQ(event.ErrorMessage(), "bad");
  event.Reset();
  EXPECT_EQ(event.ErrorMessage(), "No error");
  EXPECT_EQ(event.Query(), EventStatus::EVENT_INITIALIZED);
}

TEST_F(CudaEventTest, RejectsAContextOfAnotherDevice) {
  SKIP_BELOW_DEVICES(2);
  const CUDAContext context(OnDevice(1));
  Event event(OnDevice(0));
  EXPECT_EQ(ErrorOf([&] { context.Record(&event); }),
            "an event of CUDA device 0 cannot be recorded by a context on device 1");
  EXPECT_EQ(event.Query(), EventStatus::EVENT_INITIALIZED);
}

TEST_F(CudaContextTest, CarriesSyncedMemory) {
  SyncedMemory memory(sizeof(int) * 4);
  int* const values = static_cast<int*>(memory.mutable_cpu_data());
  std::iota(values, values + 4, 1);
  EXPECT_EQ(GetGPUIDForPointer(memory.gpu_data()), 0);
  EXPECT_EQ(memory.head(), SyncedMemory::SYNCED);
  memory.mutable_gpu_data();
  EXPECT_EQ(memory.head(), SyncedMemory::HEAD_AT_GPU);
  EXPECT_EQ(static_cast<const int*>(memory.cpu_data())[3], 4);
}

}  // namespace
}  // namespace caffe2rt::test::cuda_context_test
