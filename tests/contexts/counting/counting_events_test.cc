// Waits for several readers of a blob, and the events of operators on the device.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/contexts/counting/counting_context.h"
#include "tests/contexts/counting/planned_net.h"

namespace caffe2rt::test::counting_events_test {
namespace {

// Operator 3 reads x again, after the host has waited for the stream that had read it before.
TEST(DeviceWaitsTest, AWriterWaitsForTheLastReaderOfAStream) {
  const std::string up = R"(type: "CopyFromCPUInput" input: "x" output: )";
  const std::string net = Op(up + R"("d")") +
                          Op(R"(type: "EnsureCPUOutput" input: "d" output: "y")") +
                          OnCPU(R"(type: "Relu" input: "y" output: "z")") + Op(up + R"("e")") +
                          OnCPU(R"(type: "ConstantFill" output: "x")");
  EXPECT_EQ(PlanText(net, InOrderOfNet(5)), "2: 0-1; 4: 3-3");
  // On other streams, each reader counts.
  const std::vector<size_t> positions = {0, 1, 2, 3, 4};
  EXPECT_EQ(PlanText(net, {positions, {0, 0, 0, 1, 0}}), "2: 0-1; 4: 3-3");
  EXPECT_EQ(PlanText(Op(up + R"("d")") + Op(up + R"("e")") + Op(up + R"("f")") +
                         OnCPU(R"(type: "ConstantFill" output: "x")"),
                     {{0, 1, 2, 3}, {0, 1, 0, 0}}),
            "3: 0-2; 3: 1-1");
}

TEST(DeviceWaitsTest, EventsAreThoseOfOperatorsOnADeviceUnlessTheyAreDisabled) {
  const PlannedNet net(Op(R"(type: "Relu" input: "a" output: "b")") +
                       Op(R"(type: "Relu" input: "b" output: "c")") +
                       OnCPU(R"(type: "Relu" input: "x" output: "y")"));
  OperatorBase *const device = net.operators->all()[0], *const other = net.operators->all()[1],
                      *const cpu = net.operators->all()[2];
  EXPECT_TRUE(HasDeviceEvent(*device));
  EXPECT_FALSE(HasDeviceEvent(*cpu));
  EXPECT_TRUE(WaitsOnDevice(*device, *other));
  EXPECT_FALSE(WaitsOnDevice(*device, *cpu));
  EXPECT_FALSE(WaitsOnDevice(*cpu, *device));
  EXPECT_FALSE(WaitsOnDevice(*cpu, *cpu));
  device->DisableEvent();
  EXPECT_FALSE(HasDeviceEvent(*device));
  EXPECT_FALSE(WaitsOnDevice(*device, *other));
  EXPECT_TRUE(WaitsOnDevice(*other, *device));  // that of the one that waits is not needed
}

}  // namespace
}  // namespace caffe2rt::test::counting_events_test
