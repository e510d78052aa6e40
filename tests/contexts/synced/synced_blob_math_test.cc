// Arithmetic of SyncedBlob, with a device that has its own arithmetic.
#include "caffe2rt/caffe.pb.h"
#include "contexts/synced/synced_blob.h"
#include "contexts/synced/synced_math.h"
#include "tests/contexts/synced/synced_device.h"

namespace caffe2rt::test::synced_blob_math_test {
namespace {

// The counting device's own arithmetic: kernels on its memory. Counts the calls.
int g_device_math = 0;

class CountingMath final : public SyncedMath {
 public:
  double Asum(BaseContext& context, TypeMeta type, size_t n, const void* x) const override {
    return Run(context, [=] { return internal::HostAsum(type, n, x); });
  }
  double Sumsq(BaseContext& context, TypeMeta type, size_t n, const void* x) const override {
    return Run(context, [=] { return internal::HostSumsq(type, n, x); });
  }
  void Scale(BaseContext& context, TypeMeta type, size_t n, double factor, void* x) const override {
    ++g_device_math;
    static_cast<CountingContext&>(context).Launch([=] { internal::HostScale(type, n, factor, x); });
  }
  void Subtract(BaseContext& context, TypeMeta type, size_t n, const void* x,
                void* y) const override {
    ++g_device_math;
    static_cast<CountingContext&>(context).Launch([=] { internal::HostSubtract(type, n, x, y); });
  }

 private:
  template <class Kernel>
  static double Run(BaseContext& context, Kernel kernel) {
    ++g_device_math;
    double result = 0;
    static_cast<CountingContext&>(context).Launch([&] { result = kernel(); });
    context.FinishDeviceComputation();
    return result;
  }
};

class SyncedBlobMathTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    static const bool once = [] {
      RegisterSyncedMath(kCounting, std::make_unique<CountingMath>());
      return true;
    }();
    (void)once;
  }
  SyncedBlob<float> blob_{BothSides()};
  SyncedBlob<float> shaped_{std::vector<int>{2, 3}, BothSides()};
};

TEST_F(SyncedBlobMathTest, ReturnsWhenTheDeviceHasFinished) {
  WriteOnDevice(shaped_.mutable_gpu_data(), {1, 2, 3, 4, 5, 6});
  WriteOnDevice(shaped_.mutable_gpu_diff(), {1, 1, 1, 1, 1, 1});
  SyncedBlob<float> copy{std::vector<int>{2, 3}, BothSides()};
  copy.mutable_gpu_data();
  auto waits = [before = CountingDevice::Get(0).counts().waits]() mutable {
    const int64_t now = CountingDevice::Get(0).counts().waits;
    return now - std::exchange(before, now);
  };
  shaped_.scale_data(2);
  EXPECT_EQ(waits(), 1);
  shaped_.scale_diff(3);
  EXPECT_EQ(waits(), 1);
  shaped_.Update();
  EXPECT_EQ(waits(), 1);
  copy.CopyFrom(shaped_);
  EXPECT_EQ(waits(), 1);
  EXPECT_EQ(OnDevice(copy.gpu_data(), 6), (std::vector<float>{-1, 1, 3, 5, 7, 9}));
}

TEST_F(SyncedBlobMathTest, SumsWhereTheHeadIs) {
  const std::vector<float> values = {1, -2, 3, -4, 5, -6};
  FillCpu(shaped_.mutable_cpu_data(), values);
  WriteOnDevice(shaped_.mutable_gpu_diff(), values);
  CopyCounter counter;
  int asked = g_device_math;
  EXPECT_EQ(shaped_.asum_data(), 21.f);
  EXPECT_EQ(shaped_.sumsq_data(), 91.f);
  EXPECT_EQ(g_device_math, asked);
  EXPECT_EQ(shaped_.asum_diff(), 21.f);
  EXPECT_EQ(shaped_.sumsq_diff(), 91.f);
  EXPECT_EQ(g_device_math, asked + 2);
  EXPECT_EQ(counter.Take(), kNone);
  shaped_.gpu_data();  // both sides agree, so the device is used
  EXPECT_EQ(shaped_.asum_data(), 21.f);
  EXPECT_EQ(g_device_math, asked + 3);
  EXPECT_EQ(shaped_.data()->head(), SyncedMemory::SYNCED);
}

TEST_F(SyncedBlobMathTest, SumsOfNothingAreZero) {
  EXPECT_EQ(blob_.asum_data(), 0.f);
  EXPECT_EQ(blob_.sumsq_diff(), 0.f);
  EXPECT_EQ(shaped_.asum_diff(), 0.f);
  EXPECT_EQ(shaped_.sumsq_data(), 0.f);
  blob_.scale_data(2);
  shaped_.scale_diff(2);
  EXPECT_EQ(shaped_.diff()->head(), SyncedMemory::UNINITIALIZED);
}

TEST_F(SyncedBlobMathTest, SumsCountAloneOfALargerCapacity) {
  FillCpu(shaped_.mutable_cpu_data(), {1, 1, 1, 1, 1, 1});
  shaped_.Reshape({2});
  EXPECT_EQ(shaped_.asum_data(), 2.f);
  shaped_.scale_data(5);
  EXPECT_EQ(shaped_.sumsq_data(), 50.f);
  shaped_.Reshape({6});
  EXPECT_EQ(shaped_.cpu_data()[2], 1.f);
}

TEST_F(SyncedBlobMathTest, ScalesWhereTheHeadIs) {
  const std::vector<float> values = {1, -2, 3, -4, 5, -6};
  FillCpu(shaped_.mutable_cpu_data(), values);
  WriteOnDevice(shaped_.mutable_gpu_diff(), values);
  CopyCounter counter;
  const int asked = g_device_math;
  shaped_.scale_data(2);
  EXPECT_EQ(g_device_math, asked);
  shaped_.scale_diff(-1);
  EXPECT_EQ(g_device_math, asked + 1);
  EXPECT_EQ(counter.Take(), kNone);
  EXPECT_EQ(shaped_.cpu_data()[5], -12.f);
  EXPECT_EQ(shaped_.diff()->head(), SyncedMemory::HEAD_AT_GPU);
  EXPECT_EQ(shaped_.cpu_diff()[5], 6.f);
  shaped_.scale_diff(10);  // was SYNCED, so it is done on the device
  EXPECT_EQ(shaped_.diff()->head(), SyncedMemory::HEAD_AT_GPU);
  EXPECT_EQ(shaped_.asum_diff(), 210.f);
}

TEST_F(SyncedBlobMathTest, UpdateSubtractsDiffWhereDataIs) {
  FillCpu(shaped_.mutable_cpu_data(), {1, 2, 3, 4, 5, 6});
  FillCpu(shaped_.mutable_cpu_diff(), {6, 5, 4, 3, 2, 1});
  CopyCounter counter;
  shaped_.Update();
  EXPECT_EQ(counter.Take(), kNone);
  EXPECT_EQ(shaped_.data()->head(), SyncedMemory::HEAD_AT_CPU);
  EXPECT_EQ(std::vector<float>(shaped_.cpu_data(), shaped_.cpu_data() + 6),
            (std::vector<float>{-5, -3, -1, 1, 3, 5}));
  shaped_.gpu_data();
  const int asked = g_device_math;
  shaped_.Update();  // SYNCED, so it is done on the device, and diff is moved there
  EXPECT_EQ(g_device_math, asked + 1);
  EXPECT_EQ(shaped_.data()->head(), SyncedMemory::HEAD_AT_GPU);
  EXPECT_EQ(OnDevice(shaped_.gpu_data(), 6), (std::vector<float>{-11, -8, -5, -2, 1, 4}));
}

TEST_F(SyncedBlobMathTest, UpdateNeedsData) {
  ExpectThrows([&] { blob_.Update(); }, "call Reshape first");
  ExpectThrows([&] { shaped_.Update(); }, "never written");
}

TEST_F(SyncedBlobMathTest, WithoutADeviceEverythingIsOnTheCpu) {
  SyncedBlob<double> blob({3}, CpuAlone());
  FillCpu(blob.mutable_cpu_data(), {1, -2, 3});
  FillCpu(blob.mutable_cpu_diff(), {0.5, 0.5, 0.5});
  blob.Update();
  blob.scale_data(2);
  EXPECT_EQ(blob.asum_data(), 11.0);
  EXPECT_EQ(blob.sumsq_diff(), 0.75);
  ExpectThrows([&] { blob.gpu_data(); }, "no device side");
}

template <class T>
class SyncedIntegerBlobTest : public testing::Test {};
using Integers = testing::Types<int, unsigned int>;
TYPED_TEST_SUITE(SyncedIntegerBlobTest, Integers);

TYPED_TEST(SyncedIntegerBlobTest, MovesDataButDoesNoArithmetic) {
  SyncedBlob<TypeParam> blob({2}, BothSides());
  blob.mutable_cpu_data()[1] = 7;
  EXPECT_EQ(OnDevice(blob.gpu_data(), 2), (std::vector<TypeParam>{0, 7}));
  ExpectThrows([&] { blob.Update(); }, "want float or double");
  ExpectThrows([&] { blob.asum_data(); }, "want float or double");
  ExpectThrows([&] { blob.asum_diff(); }, "want float or double");
  ExpectThrows([&] { blob.sumsq_data(); }, "want float or double");
  ExpectThrows([&] { blob.sumsq_diff(); }, "want float or double");
  ExpectThrows([&] { blob.scale_data(2); }, "want float or double");
  ExpectThrows([&] { blob.scale_diff(2); }, "want float or double");
  caffe::BlobProto proto;
  ExpectThrows([&] { blob.ToProto(&proto); }, "want float or double");
  ExpectThrows([&] { blob.FromProto(proto); }, "want float or double");
}

}  // namespace
}  // namespace caffe2rt::test::synced_blob_math_test
