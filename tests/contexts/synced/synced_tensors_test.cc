#include "contexts/synced/synced_tensors.h"

#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/contexts/synced/synced_device.h"

namespace caffe2rt::test::synced_tensors_test {
namespace {

// y = x + x on the counting device.
class DoubleOnCountingOp final : public Operator<CountingContext> {
 public:
  using Operator<CountingContext>::Operator;
  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    Tensor* Y = Output(0, X.sizes(), X.dtype());
    context_.Launch([x = X.data<float>(), y = Y->mutable_data<float>(), n = X.numel()] {
      for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];
    });
    return true;
  }
};
REGISTER_DEVICE_OPERATOR(20, DoubleOnCounting, DoubleOnCountingOp);
OPERATOR_SCHEMA(DoubleOnCounting).NumInputs(1).NumOutputs(1);

class SyncedTensorsTest : public testing::Test {
 protected:
  SyncedTensorsTest() {
    float* data = blob_.mutable_cpu_data();
    for (int i = 0; i < 6; ++i) data[i] = static_cast<float>(i);
  }
  SyncedBlob<float> blob_{std::vector<int>{2, 3}, BothSides()};
  SyncedTensors<float> tensors_{blob_};
};

TEST_F(SyncedTensorsTest, ShareTheMemoryOfTheBlob) {
  const Tensor& cpu = tensors_.cpu();
  const Tensor& device = tensors_.device();
  EXPECT_EQ(cpu.GetDeviceType(), CPU);
  EXPECT_EQ(device.GetDeviceType(), kCounting);
  EXPECT_EQ(cpu.dims(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(device.dims(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(cpu.data<float>(), blob_.cpu_data());
  EXPECT_EQ(device.data<float>(), blob_.gpu_data());
  EXPECT_EQ(OnDevice(device.data<float>(), 6), (std::vector<float>{0, 1, 2, 3, 4, 5}));
}

TEST_F(SyncedTensorsTest, CopyOnlyWhatTheTwoSidesNeedToAgree) {
  CopyCounter counter;
  tensors_.cpu();
  EXPECT_EQ(counter.Take(), kNone);
  tensors_.device();
  EXPECT_EQ(counter.Take(), (CopyCounter::Copies{1, 0, 0}));
  tensors_.cpu();
  tensors_.mutable_device();
  EXPECT_EQ(counter.Take(), kNone);
  EXPECT_EQ(blob_.data()->head(), SyncedMemory::HEAD_AT_GPU);
  tensors_.mutable_cpu();
  EXPECT_EQ(counter.Take(), (CopyCounter::Copies{0, 1, 0}));
  EXPECT_EQ(blob_.data()->head(), SyncedMemory::HEAD_AT_CPU);
}

TEST_F(SyncedTensorsTest, CarryWhatIsWrittenThroughThem) {
  tensors_.mutable_cpu()->mutable_data<float>()[5] = 50;
  EXPECT_EQ(OnDevice(blob_.gpu_data(), 6).back(), 50.f);
  WriteOnDevice(tensors_.mutable_device()->mutable_data<float>(), std::vector<float>(6, 8.f));
  EXPECT_EQ(blob_.cpu_data()[5], 8.f);
}

// Memory given at the same address may be longer than before.
TEST_F(SyncedTensorsTest, HaveTheCapacityOfTheMemoryGivenLast) {
  std::vector<float> mine(8, 1.f);
  blob_.set_cpu_data(mine.data());
  EXPECT_EQ(tensors_.cpu().capacity_nbytes(), 6 * sizeof(float));
  blob_.Reshape({2, 4});
  blob_.set_cpu_data(mine.data());
  blob_.Reshape({2, 3});
  EXPECT_EQ(tensors_.cpu().data<float>(), mine.data());
  EXPECT_EQ(tensors_.cpu().dims(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(tensors_.cpu().capacity_nbytes(), 8 * sizeof(float));
}

TEST_F(SyncedTensorsTest, ShowDiffToo) {
  SyncedTensors<float> diff(blob_, SyncedPart::kDiff);
  diff.mutable_cpu()->mutable_data<float>()[0] = 3;
  EXPECT_EQ(blob_.cpu_diff()[0], 3.f);
  EXPECT_NE(diff.cpu().data<float>(), tensors_.cpu().data<float>());
}

TEST_F(SyncedTensorsTest, NetsOfTheDeviceReadAndWriteTheBlob) {
  SyncedBlob<float> result({2, 3}, BothSides());
  SyncedTensors<float> out(result);
  Workspace ws;
  BlobSetTensor(ws.CreateBlob("x"), tensors_.device().Alias());
  BlobSetTensor(ws.CreateBlob("y"), out.mutable_device()->Alias());
  ws.CreateNet(ParseNet(R"(name: "n" device_option { device_type: 20 }
                           op { type: "DoubleOnCounting" input: "x" output: "y" })"));
  ASSERT_TRUE(ws.RunNet("n"));
  EXPECT_EQ(std::vector<float>(result.cpu_data(), result.cpu_data() + 6),
            (std::vector<float>{0, 2, 4, 6, 8, 10}));
}

TEST_F(SyncedTensorsTest, FollowTheShapeAndTheMemory) {
  const float* before = tensors_.cpu().data<float>();
  blob_.Reshape({3, 2});
  EXPECT_EQ(tensors_.cpu().dims(), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(tensors_.cpu().data<float>(), before);
  blob_.Reshape({100});
  EXPECT_EQ(tensors_.cpu().numel(), 100);
  EXPECT_EQ(tensors_.cpu().data<float>()[99], 0.f);
  std::vector<float> mine(100, 4.f);
  blob_.set_cpu_data(mine.data());
  EXPECT_EQ(tensors_.cpu().data<float>(), mine.data());
  EXPECT_EQ(OnDevice(tensors_.device().data<float>(), 100), mine);
}

TEST_F(SyncedTensorsTest, TensorKeepsTheBufferWhenTheBlobGoes) {
  Tensor kept;
  {
    SyncedBlob<float> blob({2}, BothSides());
    blob.mutable_cpu_data()[1] = 9;
    SyncedTensors<float> tensors(blob);
    kept = tensors.device();
  }
  EXPECT_EQ(OnDevice(kept.data<float>(), 2), (std::vector<float>{0, 9}));
}

TEST_F(SyncedTensorsTest, GrowingATensorLeavesTheBlobAlone) {
  Tensor* cpu = tensors_.mutable_cpu();
  cpu->Resize(1000);
  cpu->mutable_data<float>()[0] = 77;
  EXPECT_EQ(blob_.cpu_data()[0], 0.f);
  EXPECT_EQ(tensors_.cpu().data<float>(), blob_.cpu_data());
  EXPECT_EQ(tensors_.cpu().dims(), (std::vector<int64_t>{2, 3}));
}

TEST_F(SyncedTensorsTest, AreEmptyForABlobWithoutElements) {
  SyncedBlob<float> blob({0, 3}, BothSides());
  SyncedTensors<float> tensors(blob);
  EXPECT_EQ(tensors.cpu().dims(), (std::vector<int64_t>{0, 3}));
  EXPECT_EQ(tensors.device().numel(), 0);
  EXPECT_TRUE(tensors.mutable_device()->IsType<float>());
}

TEST_F(SyncedTensorsTest, ReportWhatIsMissing) {
  SyncedBlob<float> fresh(BothSides());
  SyncedTensors<float> none(fresh);
  ExpectThrows([&] { none.cpu(); }, "call Reshape first");
  SyncedBlob<float> alone({2}, CpuAlone());
  SyncedTensors<float> one(alone);
  EXPECT_EQ(one.cpu().numel(), 2);
  ExpectThrows([&] { one.device(); }, "no device side");
}

}  // namespace
}  // namespace caffe2rt::test::synced_tensors_test
