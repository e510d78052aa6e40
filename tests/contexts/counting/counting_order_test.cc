// Which operators of a net belong to devices, and the memory that is kept when a blob moves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/executors/device_order.h"
#include "caffe2_core/executors/replaced_memory.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/contexts/counting/counting_context.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::counting_order_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<uint32_t> DevicesOfNet(const std::string& ops) {
  Workspace ws;
  for (const char* name : {"x", "c"}) ws.CreateBlob(name);
  const NetOperators operators(std::make_shared<const NetDef>(ParseNet("name: \"n\" " + ops)), &ws);
  CountingDevice::SetCurrent(0);  // the operators may have selected another one
  return DevicesOf(operators);
}

constexpr char kCpu[] = R"(op { type: "Relu" input: "x" output: "x" } )";
constexpr char kDevice[] =
    R"(op { type: "Relu" input: "x" output: "x" device_option { device_type: 20 } } )";

std::string IfOf(const std::string& net) {
  return R"(op { type: "If" input: "c" arg { name: "then_net" n { name: "inner" )" + net +
         " } } } ";
}

TEST(DevicesOfTest, AreNumberedInTheOrderOfTheNet) {
  const std::string second =
      R"(op { type: "Relu" input: "x" output: "x"
              device_option { device_type: 20 device_id: 1 } } )";
  EXPECT_THAT(DevicesOfNet(kCpu + second + kDevice + kCpu + second + kDevice),
              ElementsAre(kAnyThread, 1, 2, kAnyThread, 1, 2));
  EXPECT_THAT(DevicesOfNet(std::string("device_option { device_type: 20 } ") + kCpu + kDevice),
              ElementsAre(1, 1));
}

TEST(DevicesOfTest, AreNoneOfANetOnTheCpu) {
  EXPECT_THAT(DevicesOfNet(""), IsEmpty());
  EXPECT_THAT(DevicesOfNet(std::string(kCpu) + kCpu), IsEmpty());
  EXPECT_THAT(DevicesOfNet(kCpu + IfOf(kCpu)), IsEmpty());
}

TEST(DevicesOfTest, OperatorsWhoseNetsUseDevicesAreMarked) {
  EXPECT_THAT(DevicesOfNet(kCpu + IfOf(kDevice)), ElementsAre(kAnyThread, kUsesDevices));
  EXPECT_THAT(DevicesOfNet(IfOf(IfOf(kCpu) + IfOf(kDevice)) + IfOf(kCpu)),
              ElementsAre(kUsesDevices, kAnyThread));
  EXPECT_THAT(DevicesOfNet(IfOf(std::string("device_option { device_type: 20 } ") + kCpu)),
              ElementsAre(kUsesDevices));
  EXPECT_THAT(DevicesOfNet(kDevice + IfOf(kDevice)), ElementsAre(1, kUsesDevices));
}

// A device writes x, which the CPU held and from which a copy to the device may still read.
TEST(ReplacedMemoryTest, KeepsWhatADeviceMayReadUntilItIsFreed) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {1, 2});
  Feed<float>(&ws, "other", {2}, {1, 2});
  const NetOperators operators(std::make_shared<const NetDef>(ParseNet(R"(name: "n"
        op { type: "CopyFromCPUInput" input: "x" output: "d" device_option { device_type: 20 } }
        op { type: "Relu" input: "d" output: "other" device_option { device_type: 20 } }
        op { type: "Relu" input: "d" output: "x" device_option { device_type: 20 } })")),
                               &ws);
  ReplacedMemory replaced(operators.all());
  ASSERT_FALSE(replaced.empty());
  const std::weak_ptr<Storage> of_x = ws.GetBlob("x")->Get<Tensor>().storage(),
                               of_other = ws.GetBlob("other")->Get<Tensor>().storage();
  for (size_t position = 0; position < 3; ++position) replaced.Keep(position);
  ws.GetBlob("x")->Reset();
  ws.GetBlob("other")->Reset();
  EXPECT_FALSE(of_x.expired());
  EXPECT_TRUE(of_other.expired()) << "no device reads it from the CPU";
  replaced.Free();
  EXPECT_TRUE(of_x.expired());
  // Of a blob that is on the device by now, nothing is kept.
  ws.GetBlob("x")->GetMutableTensor(kCounting);
  replaced.Keep(2);
  replaced.Free();
}

TEST(ReplacedMemoryTest, IsNoneIfNoBlobMoves) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {1, 2});
  const auto is_empty = [&](const std::string& ops) {
    const NetOperators operators(std::make_shared<const NetDef>(ParseNet("name: \"n\" " + ops)),
                                 &ws);
    return ReplacedMemory(operators.all()).empty();
  };
  EXPECT_TRUE(is_empty(kCpu));
  EXPECT_TRUE(is_empty(kDevice));
  EXPECT_TRUE(is_empty(
      R"(op { type: "CopyFromCPUInput" input: "x" output: "d" device_option { device_type: 20 } }
         op { type: "Relu" input: "d" output: "y" device_option { device_type: 20 } })"));
  EXPECT_FALSE(is_empty(
      R"(op { type: "CopyFromCPUInput" input: "x" output: "d" device_option { device_type: 20 } }
         op { type: "Relu" input: "d" output: "x" device_option { device_type: 20 } })"));
}

}  // namespace
}  // namespace caffe2rt::test::counting_order_test
