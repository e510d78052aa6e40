// Errors of synced memory, blobs and their arithmetic, whole.
#include <climits>

#include "caffe2rt/caffe.pb.h"
#include "contexts/synced/synced_blob.h"
#include "contexts/synced/synced_math.h"
#include "tests/contexts/synced/synced_device.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::synced_refusals_test {
namespace {

class SyncedRefusalsTest : public testing::Test {
 protected:
  SyncedBlob<float> none_{BothSides()};
  SyncedBlob<float> six_{std::vector<int>{2, 3}, BothSides()};
};

TEST_F(SyncedRefusalsTest, OfShapes) {
  caffe::BlobShape wide, deep, negative;
  wide.add_dim(int64_t{1} << 31);
  for (int i = 0; i < 33; ++i) deep.add_dim(1);
  negative.add_dim(-1);
  ExpectRefusals({
      {[&] { none_.Reshape(std::vector<int>(33, 1)); }, "axes of a blob: got 33, want at most 32"},
      {[&] { none_.Reshape(deep); }, "axes of a blob: got 33, want at most 32"},
      {[&] {
         none_.Reshape({2, -1});
       },
       "dimension of a blob of shape [2, -1]: got -1, want at least 0"},
      {[&] { none_.Reshape(negative); },
       "dimension of a blob of shape [-1]: got -1, want at least 0"},
      {[&] {
         none_.Reshape({65536, 32768});
       },
       "elements of a blob of shape [65536, 32768]: got 2147483648, want at most 2147483647"},
      {[&] { none_.Reshape(wide); },
       "dimension of a blob is 2147483648, want at most 2147483647 and at least -2147483648"},
      {[&] { (void)none_.gpu_shape(); }, "the blob has no shape yet: call Reshape first"},
  });
  EXPECT_EQ(none_.shape_string(), "(0)");
}

TEST_F(SyncedRefusalsTest, OfAxesAndIndices) {
  SyncedBlob<float> five({1, 1, 1, 1, 1}, BothSides());
  ExpectRefusals({
      {[&] { (void)six_.CanonicalAxisIndex(2); },
       "axis 2 of a blob with 2 axes and shape 2 3 (6), want -2 to 1"},
      {[&] { (void)six_.CanonicalAxisIndex(-3); },
       "axis -3 of a blob with 2 axes and shape 2 3 (6), want -2 to 1"},
      {[&] { (void)six_.count(2, 1); },
       "axes [2, 1) of a blob of shape 2 3 (6), want 0 <= start <= end <= 2"},
      {[&] { (void)six_.count(-1, 1); },
       "axes [-1, 1) of a blob of shape 2 3 (6), want 0 <= start <= end <= 2"},
      {[&] { (void)six_.count(0, 3); },
       "axes [0, 3) of a blob of shape 2 3 (6), want 0 <= start <= end <= 2"},
      {[&] { (void)six_.LegacyShape(4); }, "axis 4 of a legacy shape, want -4 to 3"},
      {[&] { (void)six_.LegacyShape(-5); }, "axis -5 of a legacy shape, want -4 to 3"},
      {[&] { (void)five.num(); }, "legacy shape of a blob with 5 axes, want at most 4"},
      {[&] { (void)six_.offset(3, 0); }, "index 0 is 3, want 0 to 2 in a blob of shape 2 3 (6)"},
      {[&] { (void)six_.offset(0, 0, 0, 2); },
       "index 3 is 2, want 0 to 1 in a blob of shape 2 3 (6)"},
      {[&] {
         (void)six_.offset({0, 3});
       },
       "index 1 is 3, want 0 to 2 in a blob of shape 2 3 (6)"},
      {[&] {
         (void)six_.offset({-1, 0});
       },
       "index 0 is -1, want 0 to 1 in a blob of shape 2 3 (6)"},
      {[&] {
         (void)six_.offset({0, 0, 0});
       },
       "indices into a blob of shape 2 3 (6): got 3, want at most 2"},
  });
  EXPECT_EQ(six_.CanonicalAxisIndex(-2), 0);
  EXPECT_EQ(six_.CanonicalAxisIndex(1), 1);
  EXPECT_EQ(six_.count(2, 2), 1);
  EXPECT_EQ(six_.LegacyShape(3), 1);
  EXPECT_EQ(six_.LegacyShape(-4), 1);
  EXPECT_EQ(six_.offset(1, 2, 1, 1), 7);  // ((1 * 3 + 2) * 1 + 1) * 1 + 1; one past is accepted
  EXPECT_EQ(six_.offset(std::vector<int>()), 0);
  EXPECT_EQ(six_.offset(std::vector<int>{1}), 3);
}

TEST_F(SyncedRefusalsTest, OfMemoryThatDoesNotFit) {
  SyncedBlob<float> other({2, 2}, BothSides());
  ExpectRefusals({
      {[&] { (void)none_.data(); }, "the blob has no data yet: call Reshape first"},
      {[&] { (void)none_.diff(); }, "the blob has no diff yet: call Reshape first"},
      {[&] { other.ShareData(six_); }, "elements of the blob whose data is shared: got 6, want 4"},
      {[&] { other.ShareDiff(six_); }, "elements of the blob whose diff is shared: got 6, want 4"},
      {[&] { six_.set_cpu_data(nullptr); }, "set_cpu_data of null, want a buffer of 6 elements"},
      {[&] { six_.set_gpu_data(nullptr); }, "set_gpu_data of null, want a buffer of 6 elements"},
      {[&] { other.CopyFrom(six_); },
       "copying a blob of shape 2 3 (6) into one of shape 2 2 (4), want equal shapes, or reshape = "
       "true"},
      {[&] { six_.Update(); }, "Update of a blob whose data was never written"},
  });
  EXPECT_EQ(six_.data()->head(), SyncedMemory::UNINITIALIZED);
  EXPECT_EQ(other.shape_string(), "2 2 (4)");
}

TEST_F(SyncedRefusalsTest, OfFilesOfOtherShapes) {
  caffe::BlobProto file;
  file.mutable_shape()->add_dim(3);
  file.add_data(1);
  file.add_data(2);
  const auto read = [&](bool reshape) {
    return [this, &file, reshape] { six_.FromProto(file, reshape); };
  };
  ExpectRefusals({
      {read(false),
       "the blob in the file has another shape than 2 3 (6), want the same, or reshape = true"},
      {read(true), "values of a blob of shape [3] in a file: got 2, want 3"},
  });
  file.add_data(3);
  file.add_diff(1);
  ExpectRefusals({{read(true), "a blob of shape [3] in a file has 1 diff values, want 3 or none"}});
  EXPECT_EQ(six_.shape_string(), "2 3 (6)");
  EXPECT_EQ(six_.data()->head(), SyncedMemory::UNINITIALIZED);
}

// Each function states its own name.
TEST_F(SyncedRefusalsTest, OfArithmeticOnIntegers) {
  SyncedBlob<int> blob(std::vector<int>{2}, BothSides());
  SyncedBlob<unsigned int> natural(std::vector<int>{2}, BothSides());
  caffe::BlobProto file;
  const auto text = [](const std::string& what, const std::string& type = "int32") {
    return what + " of a blob of " + type + ", want float or double";
  };
  ExpectRefusals({
      {[&] { blob.Update(); }, text("Update")},
      {[&] { (void)blob.asum_data(); }, text("asum_data")},
      {[&] { (void)blob.asum_diff(); }, text("asum_diff")},
      {[&] { (void)blob.sumsq_data(); }, text("sumsq_data")},
      {[&] { (void)blob.sumsq_diff(); }, text("sumsq_diff")},
      {[&] { blob.scale_data(2); }, text("scale_data")},
      {[&] { blob.scale_diff(2); }, text("scale_diff")},
      {[&] { blob.FromProto(file); }, text("FromProto")},
      {[&] { blob.ToProto(&file); }, text("ToProto")},
      {[&] { natural.Update(); }, text("Update", "uint32")},
  });
}

TEST_F(SyncedRefusalsTest, OfMathOfTypesAndDevices) {
  CountingContext context;
  const SyncedMath math;
  const TypeMeta type = TypeMeta::Make<int>();
  const std::string text = "arithmetic on synced memory is for float and double, not for int32";
  int x = 1, y = 1;
  ExpectRefusals({
      {[&] { (void)math.Asum(context, type, 1, &x); }, text},
      {[&] { (void)math.Sumsq(context, type, 1, &x); }, text},
      {[&] { math.Scale(context, type, 1, 2, &x); }, text},
      {[&] { math.Subtract(context, type, 1, &x, &y); }, text},
      {[&] { (void)internal::HostAsum(type, 1, &x); }, text},
      {[&] { internal::HostScale(type, 1, 2, &x); }, text},
      {[&] { internal::HostSubtract(type, 1, &x, &y); }, text},
      {[] { RegisterSyncedMath(static_cast<DeviceType>(32), std::make_unique<SyncedMath>()); },
       "device type of the math is 32, want 0 to 31"},
      {[] { RegisterSyncedMath(OPENGL, nullptr); }, "no math is given for device OPENGL"},
      {[] {
         RegisterSyncedMath(OPENGL, std::make_unique<SyncedMath>());
         RegisterSyncedMath(OPENGL, std::make_unique<SyncedMath>());
       },
       "device OPENGL already has math for synced memory"},
  });
  EXPECT_EQ(x, 1);
  EXPECT_EQ(y, 1);
}

TEST_F(SyncedRefusalsTest, OfBuffersAndPushes) {
  SyncedMemory memory(2048, BothSides());
  SyncedMemory alone(10, CpuAlone());
  alone.mutable_cpu_data();
  const std::unique_ptr<BaseContext> cpu = GetStaticContext(CPU)->CreateContext();
  char buffer[10] = {};
  const std::string no_device =
      "this synced memory has no device side: use the CPU data, or construct it with a device";
  const auto state = [](const std::string& name) {
    return "async_gpu_push of memory whose state is " + name +
           ", want HEAD_AT_CPU: write it through mutable_cpu_data first";
  };
  CountingContext device;
  ExpectRefusals({
      {[] { SyncedMemory none(10, SyncedContexts{}); },
       "synced memory has no context for the CPU side"},
      {[&] { memory.set_cpu_data(nullptr); }, "set_cpu_data of null, want a buffer of 2 KiB"},
      {[&] { memory.set_gpu_data(nullptr); }, "set_gpu_data of null, want a buffer of 2 KiB"},
      {[&] { (void)alone.gpu_data(); }, no_device},
      {[&] { alone.set_gpu_data(buffer); }, no_device},
      {[&] { (void)alone.NewDeviceContext(); }, no_device},
      {[&] { alone.async_gpu_push(device); }, no_device},
      {[&] { memory.async_gpu_push(device); }, state("UNINITIALIZED")},
      {[&] { InState(SyncedMemory::HEAD_AT_GPU)->async_gpu_push(device); }, state("HEAD_AT_GPU")},
      {[&] { InState(SyncedMemory::SYNCED)->async_gpu_push(device); }, state("SYNCED")},
      {[&] { InState(SyncedMemory::HEAD_AT_CPU)->async_gpu_push(*cpu); },
       "async_gpu_push on a context of CPU, want one of COUNTING"},
  });
  EXPECT_EQ(alone.head(), SyncedMemory::HEAD_AT_CPU);
  EXPECT_EQ(memory.head(), SyncedMemory::UNINITIALIZED);
}

}  // namespace
}  // namespace caffe2rt::test::synced_refusals_test
