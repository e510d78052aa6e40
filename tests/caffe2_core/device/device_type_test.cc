#include "caffe2_core/device/device_type.h"

#include "tests/support/operator_test.h"

namespace caffe2rt::device_type_test {
namespace {

TEST(DeviceTypeTest, KeepsCaffe2sNumbers) {
  EXPECT_EQ(static_cast<int>(CPU), 0);
  EXPECT_EQ(static_cast<int>(CUDA), 1);
  EXPECT_EQ(static_cast<int>(IDEEP), 5);
  EXPECT_EQ(static_cast<int>(HIP), 6);
}

TEST(DeviceTypeTest, AcceptsNumbersFromZeroTo31AndNamesOthers) {
  EXPECT_EQ(CheckedDeviceType(31), 31);
  test::ExpectThrows([] { CheckedDeviceType(32); }, "32");
  test::ExpectThrows([] { CheckedDeviceType(-1); }, "-1");
  test::ExpectThrows([] { CheckedDeviceType(20901701); }, "20901701");
}

TEST(DeviceTypeTest, HasANameForEveryNumber) {
  EXPECT_EQ(DeviceTypeName(CPU), "CPU");
  EXPECT_EQ(DeviceTypeName(CUDA), "CUDA");
  EXPECT_EQ(DeviceTypeName(29), "device type 29");
  EXPECT_EQ(DeviceTypeName(32), "device type 32");
  EXPECT_EQ(DeviceTypeName(-1), "device type -1");
}

// Also without a context for them.
TEST(DeviceTypeTest, HasCaffe2sNames) {
  const char* const names[] = {"CPU", "CUDA", "MKLDNN", "OPENGL", "OPENCL", "IDEEP",
                               "HIP", "FPGA", "MSNPU",  "XLA",    "MLC"};
  for (size_t type = 0; type < std::size(names); ++type) {
    EXPECT_EQ(DeviceTypeName(static_cast<int64_t>(type)), names[type]);
  }
  EXPECT_EQ(DeviceTypeName(static_cast<int64_t>(std::size(names))), "device type 11");
}

}  // namespace
}  // namespace caffe2rt::device_type_test
