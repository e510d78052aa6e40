#include "caffe2_core/device/device_descriptor.h"

#include "tests/support/operator_test.h"

namespace caffe2rt::device_descriptor_test {
namespace {

using test::ExpectThrows;
using ::testing::Contains;

DeviceType Number(int number) { return static_cast<DeviceType>(number); }

TEST(DeviceDescriptorTest, IsFoundByTypeNameAndAlias) {
  RegisterDeviceDescriptor({.type = Number(24), .name = "Abacus_2", .aliases = {"beads"}});
  const DeviceDescriptor* const device = FindDeviceDescriptor(Number(24));
  ASSERT_NE(device, nullptr);
  EXPECT_EQ(device->name, "Abacus_2");
  EXPECT_EQ(FindDeviceDescriptor("abacus_2"), device);
  EXPECT_EQ(FindDeviceDescriptor("beads"), device);
  // The names that --device accepts are lower case.
  EXPECT_EQ(FindDeviceDescriptor("Abacus_2"), nullptr);
  EXPECT_EQ(FindDeviceDescriptor(""), nullptr);
  EXPECT_THAT(DeviceDescriptors(), Contains(device));
  EXPECT_EQ(DeviceTypeName(24), "Abacus_2");
}

TEST(DeviceDescriptorTest, FillsInWhatItsNameStates) {
  RegisterDeviceDescriptor({.type = Number(25), .name = "LEDGER"});
  const DeviceDescriptor& plain = *FindDeviceDescriptor(Number(25));
  EXPECT_EQ(plain.module_file, "libcaffe2_ledger.so");
  EXPECT_EQ(plain.blob_suffix, "ledger");
  EXPECT_EQ(plain.copy_from_cpu, "");
  EXPECT_EQ(FindDeviceOfCopy(""), nullptr);  // although its operators have no names
  RegisterDeviceDescriptor({.type = Number(26),
                            .name = "SLATE",
                            .module_file = "libslate.so.1",
                            .blob_suffix = "chalk"});
  EXPECT_EQ(FindDeviceDescriptor(Number(26))->module_file, "libslate.so.1");
  EXPECT_EQ(FindDeviceDescriptor(Number(26))->blob_suffix, "chalk");
}

TEST(DeviceDescriptorTest, KnowsTheDeviceOfACopyOperator) {
  RegisterDeviceDescriptor({.type = Number(27),
                            .name = "QUIPU",
                            .copy_from_cpu = "CopyCPUToQuipu",
                            .copy_to_cpu = "CopyQuipuToCPU"});
  EXPECT_EQ(FindDeviceOfCopy("CopyCPUToQuipu")->type, 27);
  EXPECT_EQ(FindDeviceOfCopy("CopyQuipuToCPU")->type, 27);
  EXPECT_EQ(FindDeviceOfCopy("CopyFromCPUInput"), nullptr);
  EXPECT_EQ(FindDeviceOfCopy(""), nullptr);
}

TEST(DeviceDescriptorTest, RejectsNumbersAndNamesInUse) {
  RegisterDeviceDescriptor({.type = Number(28), .name = "FIRST", .aliases = {"one"}});
  ExpectThrows([] { RegisterDeviceDescriptor({.type = Number(28), .name = "SECOND"}); },
               "device type 28 is described twice: as \"FIRST\" and as \"SECOND\"");
  ExpectThrows([] { RegisterDeviceDescriptor({.type = Number(29), .name = "First"}); },
               "cannot have the name \"first\": it is a name of \"FIRST\"");
  ExpectThrows(
      [] { RegisterDeviceDescriptor({.type = Number(29), .name = "THIRD", .aliases = {"one"}}); },
      "cannot have the name \"one\": it is a name of \"FIRST\"");
  EXPECT_EQ(FindDeviceDescriptor(Number(29)), nullptr);
}

TEST(DeviceDescriptorTest, RejectsTypesAndNamesThatCannotBe) {
  ExpectThrows([] { RegisterDeviceDescriptor({.type = CPU, .name = "HOST"}); }, "want 1 to 31");
  ExpectThrows([] { RegisterDeviceDescriptor({.type = Number(32), .name = "FAR"}); },
               "want 1 to 31");
  for (const char* name : {"", "CPU", "Auto", "a/b", "a b", "a.so"}) {
    ExpectThrows([name] { RegisterDeviceDescriptor({.type = Number(30), .name = name}); },
                 "cannot have the name");
  }
  ExpectThrows(
      [] { RegisterDeviceDescriptor({.type = Number(30), .name = "X", .aliases = {"Loud"}}); },
      "cannot have the name \"Loud\"");
  EXPECT_EQ(FindDeviceDescriptor(Number(30)), nullptr);
  EXPECT_EQ(FindDeviceDescriptor(CPU), nullptr);
  EXPECT_EQ(FindDeviceDescriptor(Number(-1)), nullptr);
  EXPECT_EQ(FindDeviceDescriptor(Number(99)), nullptr);
}

}  // namespace
}  // namespace caffe2rt::device_descriptor_test
