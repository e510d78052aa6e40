// The operators of operators/io on CUDA: tensors are saved from any device and loaded to the
// requested device.
#include <gtest/gtest.h>

#include "caffe2_core/io/db.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/register_cuda.h"
#include "tests/contexts/cuda/cuda_testing.h"
#include "tests/support/operator_test.h"

// Defined by tests/fake_cuda.
extern "C" __attribute__((weak)) void fakecuda_before(const char* function, void (*hook)(void*),
                                                      void* state);

namespace caffe2rt::test::io_cuda_test {
namespace {

const std::string kFile = " arg { name: 'db_type' s: 'minidb' } arg { name: 'db' s: 'x' } ";
const std::string kOnCuda = " device_option { device_type: 1 device_id: 0 } ";
const std::string kOnCuda1 = " device_option { device_type: 1 device_id: 1 } ";

class IoCudaTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    RegisterCUDAContext();
    RegisterCudaOperators();
    Feed<float>(&ws_, "host", {2, 3}, {0, 1, 2, 3, 4, 5});
  }
  void TearDown() override {
    ws_.RemoveBlob("a");
    CaffeCudaSetDevice(0);
    CudaTest::TearDown();
  }
  // Makes blob "a" a copy of "host" on the device.
  void PutOnDevice(int device) {
    DeviceGuard guard(device);
    Tensor* a = ws_.CreateBlob("a")->GetMutableTensor(CUDA);
    a->FreeMemory();
    a->CopyFrom(ws_.GetBlob("host")->Get<Tensor>());
  }
  // Returns the device that holds the blob, or -1 for the CPU.
  int DeviceOf(const std::string& name) const {
    const Tensor& tensor = ws_.GetBlob(name)->Get<Tensor>();
    return tensor.GetDeviceType() == CPU ? -1 : GetGPUIDForPointer(tensor.raw_data());
  }
  void ExpectValues(const std::string& name) {
    const Tensor copy(ws_.GetBlob(name)->Get<Tensor>(), CPU);
    ws_.CreateBlob("copy")->GetMutableTensor(CPU)->CopyFrom(copy);
    ExpectTensor<float>(ws_, "copy", {2, 3}, {0, 1, 2, 3, 4, 5});
  }
  const TempDir dir_;
  Workspace ws_{dir_.path()};
};

TEST_F(IoCudaTest, SavesFromTheDeviceAndLoadsToTheDeviceAskedFor) {
  SKIP_BELOW_DEVICES(2);
  PutOnDevice(1);
  RunOp(&ws_, "type: 'Save' input: 'a' arg { name: 'chunk_size' i: 2 }" + kFile + kOnCuda1);
  RunOp(&ws_, "type: 'Load' output: 'a'" + kFile);
  EXPECT_EQ(DeviceOf("a"), -1);
  ExpectValues("a");
  RunOp(&ws_, "type: 'Load' output: 'a'" + kFile + kOnCuda);
  EXPECT_EQ(DeviceOf("a"), 0);
  ExpectValues("a");
  RunOp(&ws_, "type: 'Load' output: 'a'" + kFile + kOnCuda1);
  EXPECT_EQ(DeviceOf("a"), 1);
  ExpectValues("a");
  RunOp(&ws_, "type: 'Load' output: 'a' arg { name: 'keep_device' i: 1 }" + kFile + kOnCuda);
  EXPECT_EQ(DeviceOf("a"), 1);
  ExpectValues("a");
}

TEST_F(IoCudaTest, LoadsStringsToTheCpu) {
  Feed<std::string>(&ws_, "s", {2}, {"one", "two"});
  RunOp(&ws_, "type: 'Save' input: 's' input: 'host'" + kFile);
  RunOp(&ws_, "type: 'Load' output: 's' output: 'host'" + kFile + kOnCuda);
  ExpectTensor<std::string>(ws_, "s", {2}, {"one", "two"});
  EXPECT_EQ(DeviceOf("host"), 0);
}

TEST_F(IoCudaTest, SavesWhatIsStillBeingComputed) {
  if (&fakecuda_before == nullptr) GTEST_SKIP() << "only the fake CUDA reports waits";
  PutOnDevice(0);
  Tensor* a = ws_.GetBlob("a")->GetMutableTensor(CUDA);
  CUDAContext context(0);
  CUDA_ENFORCE(cudaMemset(a->raw_mutable_data(), 0, a->nbytes()), "a of the test");
  CUDA_ENFORCE(cudaDeviceSynchronize(), "no stream of a context waits for the default one");
  const auto save = CreateOperator(ParseOp("type: 'Save' input: 'a'" + kFile + kOnCuda), &ws_);
  Gate gate(context.cuda_stream());
  context.CopyFromCPU(6, ws_.GetBlob("host")->Get<Tensor>().data<float>(),
                      a->mutable_data<float>());
  fakecuda_before(
      "cudaStreamSynchronize", [](void* g) { static_cast<Gate*>(g)->Open(); }, &gate);
  ASSERT_TRUE(save->Run());
  RunOp(&ws_, "type: 'Load' output: 'a'" + kFile);
  ExpectValues("a");
}

TEST_F(IoCudaTest, ReadsTheIterationOfACheckpointFromEitherDevice) {
  PutOnDevice(0);
  const std::string checkpoint =
      "type: 'Checkpoint' input: 'iteration' input: 'a' arg { name: 'every' i: 2 } arg { name: "
      "'db_type' s: 'minidb' } arg { name: 'db' s: 'at_%d' }" +
      kOnCuda;
  Feed<int64_t>(&ws_, "iteration", {1}, {3});
  RunOp(&ws_, checkpoint);
  Feed<int64_t>(&ws_, "iteration", {1}, {4});
  RunOp(&ws_, checkpoint);
  const Tensor six = *Feed<int64_t>(&ws_, "six", {1}, {6});
  ws_.CreateBlob("iteration")->GetMutableTensor(CUDA)->CopyFrom(six);
  RunOp(&ws_, checkpoint);
  for (const int at : {3, 4, 6}) {
    RunOp(&ws_,
          "type: 'DBExists' output: 'there' arg { name: 'db_type' s: 'minidb' } arg { name: "
          "'db_name' s: 'at_" +
              std::to_string(at) + "' }" + kOnCuda);
    ExpectTensor<bool>(ws_, "there", {}, {at != 3});
  }
  RunOp(&ws_,
        "type: 'CreateDB' output: 'reader' arg { name: 'db_type' s: 'minidb' } arg { name: "
        "'db' s: '" +
            dir_.path("at_4") + "' }" + kOnCuda);
  ws_.RemoveBlob("a");
  ws_.CreateBlob("a");
  RunOp(&ws_, "type: 'Load' input: 'reader' output: 'a'" + kOnCuda);
  EXPECT_EQ(DeviceOf("a"), 0);
  ExpectValues("a");
}

}  // namespace
}  // namespace caffe2rt::test::io_cuda_test
