#include "caffe2_core/graph/device_fallback.h"

#include "caffe2_core/device/context.h"
#include "caffe2_core/device/device_descriptor.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::device_fallback_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(DeviceFallbackTest, SendsOperatorsOfAbsentDevicesToTheCpuAndNamesThem) {
  NetDef net = test::ParseNet(R"(
    device_option { device_type: 1 random_seed: 7 }
    op { type: "A" device_option { device_type: 1 device_id: 3 } }
    op { type: "B" device_option { device_type: 1 random_seed: 9 } }
    op { type: "C" })");
  EXPECT_THAT(FallBackToCPU(&net), ElementsAre("CUDA"));
  for (const OperatorDef& op : net.op()) EXPECT_EQ(op.device_option().device_type(), 0);
  EXPECT_EQ(net.device_option().device_type(), 0);
  EXPECT_EQ(net.device_option().random_seed(), 7u);
  EXPECT_EQ(net.op(1).device_option().random_seed(), 9u);
}

TEST(DeviceFallbackTest, LeavesNetsOfPresentDevicesAlone) {
  NetDef net =
      test::ParseNet(R"(op { type: "A" device_option { device_type: 0 random_seed: 1 } })");
  const std::string before = net.SerializeAsString();
  EXPECT_THAT(FallBackToCPU(&net), IsEmpty());
  EXPECT_EQ(net.SerializeAsString(), before);
}

TEST(DeviceFallbackTest, CopiesWithinTheCpuWhatWouldGoToAGpu) {
  NetDef net = test::ParseNet(R"(
    device_option { device_type: 1 }
    op { type: "CopyCPUToGPU" input: "a" output: "b" }
    op { type: "CopyGPUToCPU" input: "b" output: "c" }
    op { type: "CopyFromCPUInput" input: "a" output: "d" })");
  FallBackToCPU(&net);
  EXPECT_EQ(net.op(0).type(), "Copy");
  EXPECT_EQ(net.op(1).type(), "Copy");
  EXPECT_EQ(net.op(2).type(), "CopyFromCPUInput");
}

TEST(DeviceFallbackTest, EachCopyBetweenDevicesIsACopyOnTheCpu) {
  static const bool once = [] {
    RegisterDeviceDescriptor({.type = static_cast<DeviceType>(23),
                              .name = "FLINT",
                              .copy_from_cpu = "CopyFromCpuToFlint",
                              .copy_to_cpu = "CopyFromFlint"});
    return true;
  }();
  ASSERT_TRUE(once);
  for (const char* const type :
       {"CopyCPUToGPU", "CopyGPUToCPU", "CopyFromCpuToFlint", "CopyFromFlint", "Copy"}) {
    EXPECT_EQ(OperatorTypeOnCPU(type), "Copy") << type;
  }
  for (const char* const type : {"Relu", "CopyFrom", "CopyFromFlints", ""}) {
    EXPECT_EQ(OperatorTypeOnCPU(type), type);
  }
}

TEST(DeviceFallbackTest, LeavesTheCopiesOfAPresentDeviceAlone) {
  constexpr auto kPresent = static_cast<DeviceType>(22);
  RegisterStaticContext(kPresent, "SLATE", GetStaticContext(CPU));  // no operator runs on it
  RegisterDeviceDescriptor({.type = kPresent, .name = "SLATE", .copy_from_cpu = "CopyCPUToSlate"});
  NetDef net = test::ParseNet(R"(op { type: "CopyCPUToSlate" device_option { device_type: 22 } })");
  EXPECT_THAT(FallBackToCPU(&net), IsEmpty());
  EXPECT_EQ(net.op(0).type(), "CopyCPUToSlate");
}

TEST(MoveToCPUTest, ReplacesEveryDeviceAlsoAnAvailableOne) {
  constexpr auto kPresent = static_cast<DeviceType>(29);
  RegisterStaticContext(kPresent, "CHALK", GetStaticContext(CPU));
  RegisterDeviceDescriptor({.type = kPresent, .name = "CHALK", .copy_from_cpu = "CopyCPUToChalk"});
  NetDef net = test::ParseNet(R"(
    device_option { device_type: 29 device_id: 1 random_seed: 7 }
    op { type: "A" device_option { device_type: 29 device_id: 2 random_seed: 9 } }
    op { type: "CopyCPUToChalk" device_option { device_type: 1 } }
    op { type: "If" arg { name: "then_net" n { op { type: "B" device_option { device_type: 3 } } } } })");
  EXPECT_THAT(FallBackToCPU(&net), ElementsAre("CUDA", "OPENGL"));  // CHALK is available
  MoveToCPU(&net);
  EXPECT_EQ(net.device_option().device_type(), CPU);
  EXPECT_FALSE(net.device_option().has_device_id());
  EXPECT_EQ(net.device_option().random_seed(), 7u);
  EXPECT_EQ(net.op(0).device_option().device_type(), CPU);
  EXPECT_EQ(net.op(0).device_option().random_seed(), 9u);
  EXPECT_EQ(net.op(1).type(), "Copy");
  EXPECT_EQ(net.op(2).arg(0).n().op(0).device_option().device_type(), CPU);
}

TEST(MoveToCPUTest, KeepsTheLayoutsOfOneDNNWhichAreOnTheCpu) {
  NetDef net = test::ParseNet(R"(
    op { type: "Relu" device_option { device_type: 5 } }
    op { type: "Relu" device_option { device_type: 40 } })");
  const std::string before = net.SerializeAsString();
  MoveToCPU(&net);
  EXPECT_EQ(net.SerializeAsString(), before);  // also a device type that does not exist
}

TEST(DeviceFallbackTest, GoesIntoNestedNets) {
  NetDef net = test::ParseNet(R"(
    op { type: "If" arg { name: "then_net" n { op { type: "A" device_option { device_type: 1 } } } } })");
  EXPECT_THAT(FallBackToCPU(&net), ElementsAre("CUDA"));
  EXPECT_EQ(net.op(0).arg(0).n().op(0).device_option().device_type(), 0);
}

TEST(DeviceFallbackTest, ReplacesStepNetsThatAreText) {
  NetDef net = test::ParseNet(R"(
    op { type: "RecurrentNetwork"
         arg { name: "step_net" s: "op { type: 'A' device_option { device_type: 1 } }" } })");
  EXPECT_THAT(FallBackToCPU(&net), ElementsAre("CUDA"));
  EXPECT_EQ(net.op(0).arg(0).n().op(0).device_option().device_type(), 0);
}

}  // namespace
}  // namespace caffe2rt::device_fallback_test
