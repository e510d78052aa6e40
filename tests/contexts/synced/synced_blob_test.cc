#include "contexts/synced/synced_blob.h"

#include <climits>
#include <numeric>

#include "caffe2rt/caffe.pb.h"
#include "tests/contexts/synced/synced_device.h"

namespace caffe2rt::test::synced_blob_test {
namespace {

using Copies = CopyCounter::Copies;

class SyncedBlobTest : public testing::Test {
 protected:
  SyncedBlob<float> blob_{BothSides()};
  SyncedBlob<float> shaped_{std::vector<int>{2, 3}, BothSides()};
};

// --- shape ---

TEST_F(SyncedBlobTest, BeginsWithoutShapeAndMemory) {
  EXPECT_EQ(blob_.num_axes(), 0);
  EXPECT_EQ(blob_.count(), 0);
  EXPECT_EQ(blob_.shape_string(), "(0)");
  ExpectThrows([&] { blob_.cpu_data(); }, "call Reshape first");
  ExpectThrows([&] { blob_.mutable_gpu_diff(); }, "call Reshape first");
  ExpectThrows([&] { blob_.gpu_shape(); }, "call Reshape first");
  float value = 0;
  ExpectThrows([&] { blob_.set_cpu_data(&value); }, "call Reshape first");
  const SyncedBlob<float> four(2, 3, 4, 5, BothSides());
  EXPECT_EQ(four.num_axes(), 4);
  EXPECT_EQ(four.count(), 120);
  const SyncedBlob<float> listed({0, 0}, BothSides());
  EXPECT_EQ(listed.num_axes(), 2);
}

TEST_F(SyncedBlobTest, ShapingTouchesNoMemory) {
  const CountingCounts before = CountingDevice::Get(0).counts();
  SyncedBlob<float> large({INT_MAX}, BothSides());
  EXPECT_EQ(large.count(), INT_MAX);
  EXPECT_EQ(large.data()->head(), SyncedMemory::UNINITIALIZED);
  EXPECT_EQ(CountingDevice::Get(0).counts().allocations, before.allocations);
}

TEST_F(SyncedBlobTest, ShapesAreReadFromBothEnds) {
  blob_.Reshape({2, 3, 4});
  EXPECT_EQ(blob_.shape_string(), "2 3 4 (24)");
  EXPECT_EQ(blob_.shape(0), 2);
  EXPECT_EQ(blob_.shape(-1), 4);
  EXPECT_EQ(blob_.CanonicalAxisIndex(-3), 0);
  ExpectThrows([&] { blob_.CanonicalAxisIndex(3); },
               "axis 3 of a blob with 3 axes and shape 2 3 4");
  ExpectThrows([&] { blob_.shape(-4); }, "axis -4");
  EXPECT_EQ(blob_.count(1), 12);
  EXPECT_EQ(blob_.count(0, 2), 6);
  EXPECT_EQ(blob_.count(3), 1);
  EXPECT_EQ(blob_.count(1, 1), 1);
  ExpectThrows([&] { blob_.count(2, 1); }, "0 <= start <= end");
  ExpectThrows([&] { blob_.count(-1, 1); }, "0 <= start <= end");
  ExpectThrows([&] { blob_.count(0, 4); }, "0 <= start <= end");
}

TEST_F(SyncedBlobTest, ScalarHasOneElementAndAZeroDimensionNone) {
  blob_.Reshape(std::vector<int>());
  EXPECT_EQ(blob_.count(), 1);
  EXPECT_EQ(*blob_.cpu_data(), 0.f);
  blob_.Reshape({0, 5});
  EXPECT_EQ(blob_.count(), 0);
  EXPECT_EQ(blob_.shape_string(), "0 5 (0)");
  blob_.Reshape({0, INT_MAX, INT_MAX});  // the product remains 0
  EXPECT_EQ(blob_.count(), 0);
  SyncedBlob<float> empty({0, 5}, BothSides());
  empty.gpu_data();
  EXPECT_EQ(empty.asum_data(), 0.f);
}

TEST_F(SyncedBlobTest, RejectsShapesOutsideTheLimits) {
  blob_.Reshape(std::vector<int>(32, 1));
  ExpectThrows([&] { blob_.Reshape(std::vector<int>(33, 1)); }, "axes of a blob");
  ExpectThrows([&] { blob_.Reshape({2, -1}); }, "dimension of a blob");
  ExpectThrows([&] { blob_.Reshape({65536, 32768}); }, "elements of a blob");
  EXPECT_EQ(blob_.num_axes(), 32);  // the previous shape is kept
  caffe::BlobShape file;
  file.add_dim(int64_t{1} << 32);
  ExpectThrows([&] { blob_.Reshape(file); }, "dimension of a blob");
}

TEST_F(SyncedBlobTest, AcceptsShapesOfEveryKind) {
  blob_.Reshape(2, 3, 4, 5);
  EXPECT_EQ(blob_.shape(), (std::vector<int>{2, 3, 4, 5}));
  caffe::BlobShape file;
  file.add_dim(7);
  file.add_dim(8);
  blob_.Reshape(file);
  EXPECT_EQ(blob_.shape(), (std::vector<int>{7, 8}));
  blob_.ReshapeLike(shaped_);
  EXPECT_EQ(blob_.shape(), (std::vector<int>{2, 3}));
}

TEST_F(SyncedBlobTest, KeepsMemoryAndContentsWithinTheCapacity) {
  FillCpu(shaped_.mutable_cpu_data(), {1, 2, 3, 4, 5, 6});
  const float* data = shaped_.cpu_data();
  shaped_.Reshape({2});
  shaped_.Reshape({6});
  EXPECT_EQ(shaped_.cpu_data(), data);
  EXPECT_EQ(shaped_.cpu_data()[5], 6.f);
  shaped_.Reshape({7});
  EXPECT_EQ(shaped_.data()->head(), SyncedMemory::UNINITIALIZED);
  EXPECT_EQ(shaped_.cpu_data()[5], 0.f);
}

TEST_F(SyncedBlobTest, LegacyShapeFillsWithOnes) {
  blob_.Reshape({5, 6});
  EXPECT_EQ(blob_.num(), 5);
  EXPECT_EQ(blob_.channels(), 6);
  EXPECT_EQ(blob_.height(), 1);
  EXPECT_EQ(blob_.width(), 1);
  EXPECT_EQ(blob_.LegacyShape(-1), 6);
  EXPECT_EQ(blob_.LegacyShape(-3), 1);
  ExpectThrows([&] { blob_.LegacyShape(4); }, "axis 4 of a legacy shape");
  ExpectThrows([&] { blob_.LegacyShape(-5); }, "axis -5 of a legacy shape");
  blob_.Reshape({1, 1, 1, 1, 1});
  ExpectThrows([&] { blob_.num(); }, "want at most 4");
}

TEST_F(SyncedBlobTest, OffsetsCountInTheLastDimensionFirst) {
  blob_.Reshape(2, 3, 4, 5);
  EXPECT_EQ(blob_.offset(1, 2, 3, 4), 119);
  EXPECT_EQ(blob_.offset(1), 60);
  EXPECT_EQ(blob_.offset(2), 120);  // one past the end
  ExpectThrows([&] { blob_.offset(3); }, "index 0 is 3, want 0 to 2");
  ExpectThrows([&] { blob_.offset(0, -1); }, "index 1 is -1");
  EXPECT_EQ(blob_.offset({1, 2, 3, 4}), 119);
  EXPECT_EQ(blob_.offset({1, 2}), 100);
  ExpectThrows([&] { blob_.offset(std::vector<int>{2}); }, "index 0 is 2, want 0 to 1");
  ExpectThrows([&] { blob_.offset({0, 0, 0, 0, 0}); }, "indices into a blob");
}

TEST_F(SyncedBlobTest, ShapeLiesOnTheDeviceToo) {
  blob_.Reshape({4, 7, 9});
  EXPECT_EQ(OnDevice(blob_.gpu_shape(), 3), (std::vector<int>{4, 7, 9}));
  CopyCounter counter;
  blob_.Reshape({4, 7, 9});
  blob_.gpu_shape();
  EXPECT_EQ(counter.Take(), kNone);
  blob_.Reshape({8, 1});
  EXPECT_EQ(OnDevice(blob_.gpu_shape(), 2), (std::vector<int>{8, 1}));
}

// --- memory ---

TEST_F(SyncedBlobTest, DataAndDiffAreApart) {
  FillCpu(shaped_.mutable_cpu_data(), {1, 2, 3, 4, 5, 6});
  WriteOnDevice(shaped_.mutable_gpu_diff(), {6.f, 5.f, 4.f, 3.f, 2.f, 1.f});
  EXPECT_EQ(OnDevice(shaped_.gpu_data(), 6), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(shaped_.cpu_diff()[0], 6.f);
  EXPECT_EQ(shaped_.data_at({1, 0}), 4.f);
  EXPECT_EQ(shaped_.diff_at({1, 0}), 3.f);
  EXPECT_EQ(shaped_.data_at(1, 2, 0, 0), 6.f);
  EXPECT_EQ(shaped_.diff_at(0, 1, 0, 0), 5.f);
}

TEST_F(SyncedBlobTest, SharesDataAndDiffWithABlobOfAnotherShape) {
  SyncedBlob<float> other({6}, BothSides());
  FillCpu(shaped_.mutable_cpu_data(), {1, 2, 3, 4, 5, 6});
  FillCpu(shaped_.mutable_cpu_diff(), {9, 9, 9, 9, 9, 9});
  other.ShareData(shaped_);
  other.ShareDiff(shaped_);
  EXPECT_EQ(other.data(), shaped_.data());
  other.mutable_cpu_data()[0] = 7;
  EXPECT_EQ(shaped_.cpu_data()[0], 7.f);
  EXPECT_EQ(other.cpu_diff()[5], 9.f);
  other.Reshape({3});
  EXPECT_EQ(other.data(), shaped_.data());
  other.Reshape({100});  // grows, which ends the sharing
  EXPECT_NE(other.data(), shaped_.data());
  EXPECT_EQ(shaped_.cpu_data()[0], 7.f);
  ExpectThrows([&] { other.ShareData(shaped_); }, "whose data is shared");
  ExpectThrows([&] { other.ShareDiff(shaped_); }, "whose diff is shared");
}

TEST_F(SyncedBlobTest, GrowingWithinTheCapacityDoesNotOutgrowSharedMemory) {
  SyncedBlob<float> large({100}, BothSides());
  large.Reshape({6});
  large.ShareData(shaped_);
  large.Reshape({100});
  EXPECT_GE(large.data()->size(), 400u);
  EXPECT_EQ(large.cpu_data()[99], 0.f);
  large.Reshape({6});
  large.ShareDiff(shaped_);
  large.Reshape({100});
  EXPECT_NE(large.diff(), shaped_.diff());
  EXPECT_GE(large.diff()->size(), 400u);
  EXPECT_EQ(large.cpu_diff()[99], 0.f);
}

TEST_F(SyncedBlobTest, UsesTheCallersMemory) {
  std::vector<float> mine = {1, 2, 3, 4, 5, 6};
  shaped_.mutable_cpu_diff()[0] = 8;
  shaped_.set_cpu_data(mine.data());
  EXPECT_EQ(shaped_.cpu_data(), mine.data());
  EXPECT_EQ(shaped_.cpu_diff()[0], 8.f);  // the capacity suffices, so diff is kept
  EXPECT_EQ(OnDevice(shaped_.gpu_data(), 6), mine);
  const DataPtr device(TheCountingStaticContext()->New(24));
  shaped_.set_gpu_data(static_cast<float*>(device.get()));
  EXPECT_EQ(shaped_.gpu_data(), device.get());
  ExpectThrows([&] { shaped_.set_cpu_data(nullptr); }, "set_cpu_data of null");
  ExpectThrows([&] { shaped_.set_gpu_data(nullptr); }, "set_gpu_data of null");
}

TEST_F(SyncedBlobTest, CallersDeviceMemoryOfASmallerShapeRenewsDataAndDiff) {
  shaped_.mutable_cpu_diff()[0] = 8;
  shaped_.Reshape({2});
  const DataPtr device(TheCountingStaticContext()->New(8));
  WriteOnDevice(static_cast<float*>(device.get()), {3, 4});
  shaped_.set_gpu_data(static_cast<float*>(device.get()));
  EXPECT_EQ(shaped_.data()->size(), 8u);
  EXPECT_EQ(shaped_.cpu_diff()[0], 0.f);
  EXPECT_EQ(shaped_.cpu_data()[1], 4.f);
  shaped_.Reshape({6});  // more than the caller's two elements
  EXPECT_NE(shaped_.gpu_data(), device.get());
  EXPECT_EQ(shaped_.cpu_data()[5], 0.f);
}

TEST_F(SyncedBlobTest, CallersMemoryOfASmallerShapeRenewsDataAndDiff) {
  shaped_.mutable_cpu_diff()[0] = 8;
  shaped_.Reshape({2});
  std::vector<float> mine = {1, 2};
  shaped_.set_cpu_data(mine.data());
  EXPECT_EQ(shaped_.data()->size(), 8u);
  EXPECT_EQ(shaped_.cpu_diff()[0], 0.f);
  shaped_.Reshape({6});  // more than the caller's two elements
  EXPECT_NE(shaped_.cpu_data(), mine.data());
  EXPECT_EQ(shaped_.cpu_data()[5], 0.f);
}

// --- copies ---

TEST_F(SyncedBlobTest, CopiesOnTheCpuIfTheHeadIsAtTheCpu) {
  SyncedBlob<float> target({2, 3}, BothSides());
  FillCpu(shaped_.mutable_cpu_data(), {1, 2, 3, 4, 5, 6});
  CopyCounter counter;
  target.CopyFrom(shaped_);
  EXPECT_EQ(counter.Take(), kNone);
  EXPECT_EQ(target.data()->head(), SyncedMemory::HEAD_AT_CPU);
  EXPECT_EQ(target.cpu_data()[5], 6.f);
  EXPECT_EQ(target.diff()->head(), SyncedMemory::UNINITIALIZED);
}

TEST_F(SyncedBlobTest, CopiesOnTheDeviceIfTheHeadIsAtTheDeviceOrBothAgree) {
  WriteOnDevice(shaped_.mutable_gpu_diff(), {1.f, 2.f, 3.f, 4.f, 5.f, 6.f});
  for (int synced = 0; synced < 2; ++synced) {
    SyncedBlob<float> target({2, 3}, BothSides());
    target.mutable_gpu_diff();
    CopyCounter counter;
    target.CopyFrom(shaped_, true);
    EXPECT_EQ(counter.Take(), (Copies{0, 0, 1}));
    EXPECT_EQ(target.diff()->head(), SyncedMemory::HEAD_AT_GPU);
    EXPECT_EQ(target.cpu_diff()[5], 6.f);
    shaped_.cpu_diff();
    EXPECT_EQ(shaped_.diff()->head(), SyncedMemory::SYNCED);
  }
}

TEST_F(SyncedBlobTest, CopiesZerosOfABlobThatWasNeverWritten) {
  SyncedBlob<float> target({2, 3}, BothSides());
  target.mutable_cpu_data()[0] = 5;
  target.CopyFrom(shaped_);
  EXPECT_EQ(target.cpu_data()[0], 0.f);
}

TEST_F(SyncedBlobTest, CopiesZerosOfADiffThatWasNeverWritten) {
  shaped_.mutable_cpu_data()[0] = 3;
  SyncedBlob<float> target({2, 3}, BothSides()), on_device({2, 3}, BothSides());
  target.mutable_cpu_diff()[5] = 5;
  target.mutable_cpu_data()[5] = 6;
  target.CopyFrom(shaped_, true);
  EXPECT_EQ(target.cpu_diff()[5], 0.f);
  EXPECT_EQ(target.cpu_data()[5], 6.f);  // the data stays
  WriteOnDevice(on_device.mutable_gpu_diff(), {1.f, 2.f, 3.f, 4.f, 5.f, 6.f});
  on_device.CopyFrom(SyncedBlob<float>({2, 3}, BothSides()), true);
  EXPECT_EQ(OnDevice(on_device.gpu_diff(), 6), std::vector<float>(6, 0.f));
}

TEST_F(SyncedBlobTest, CopiesToABlobWithoutADeviceThroughTheCpu) {
  SyncedBlob<float> target({2, 3}, CpuAlone());
  WriteOnDevice(shaped_.mutable_gpu_data(), {1.f, 2.f, 3.f, 4.f, 5.f, 6.f});
  target.CopyFrom(shaped_);
  EXPECT_EQ(target.cpu_data()[5], 6.f);
}

TEST_F(SyncedBlobTest, CopyOfAnotherShapeNeedsReshape) {
  SyncedBlob<float> target({6}, BothSides());
  FillCpu(shaped_.mutable_cpu_data(), {1, 2, 3, 4, 5, 6});
  ExpectThrows([&] { target.CopyFrom(shaped_); },
               "copying a blob of shape 2 3 (6) into one of shape 6 (6)");
  target.CopyFrom(shaped_, false, true);
  EXPECT_EQ(target.shape(), shaped_.shape());
  EXPECT_EQ(target.cpu_data()[5], 6.f);
  SyncedBlob<float> scalar(std::vector<int>(), BothSides());
  scalar.mutable_cpu_data()[0] = 3;
  blob_.CopyFrom(scalar, false, true);  // a blob that was never shaped is not a scalar
  EXPECT_EQ(blob_.cpu_data()[0], 3.f);
  shaped_.CopyFrom(shaped_);
  EXPECT_EQ(shaped_.cpu_data()[5], 6.f);
}

}  // namespace
}  // namespace caffe2rt::test::synced_blob_test
