// Nets inside operators on the device: which device their operators get, and lists of nets in
// arguments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/executors/device_order.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/control/inner_net.h"
#include "tests/contexts/counting/counting_context.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::counting_control_test {
namespace {

constexpr NetArgument kInner{"inner", "the net", true};

// Runs its net. On the device, this is what If and While on a device do.
class CountingInnerNetOp final : public Operator<CountingContext> {
 public:
  CountingInnerNetOp(const OperatorDef& def, Workspace* ws)
      : Operator<CountingContext>(def, ws), net_(CreateInnerNet(*this, kInner, ws)) {}
  bool HasAsyncPart() const override { return false; }
  bool RunOnDevice() override { return net_->Run(); }
  std::vector<OperatorBase*> Inner() const { return net_->GetOperators(); }

 private:
  const std::unique_ptr<NetBase> net_;
};
REGISTER_DEVICE_OPERATOR(20, CountingInnerNet, CountingInnerNetOp);

// "20:1" for each operator of the net: its device, and its number if it has one.
std::vector<std::string> PlacesOfInner(const std::string& device, const std::string& net) {
  Workspace ws;
  for (const char* name : {"x", "y", "z", "w"}) ws.CreateBlob(name);
  const auto op =
      CreateOperator(ParseOp(MakeString("type: 'CountingInnerNet' device_option { ", device,
                                        " } arg { name: 'inner' n { name: 'n' ", net, " } }")),
                     &ws);
  std::vector<std::string> places;
  for (const OperatorBase* inner : dynamic_cast<CountingInnerNetOp&>(*op).Inner()) {
    const DeviceOption& option = inner->device_option();
    places.push_back(MakeString(option.device_type(), ":",
                                option.has_device_id() ? MakeString(option.device_id()) : "",
                                option.has_random_seed() ? " seed" : ""));
  }
  CountingDevice::SetCurrent(0);
  return places;
}

std::string ReluOn(const std::string& device, const std::string& blobs = "input: 'x' output: 'y'") {
  return "op { type: 'Relu' " + blobs + " " +
         (device.empty() ? "" : "device_option { " + device + " } ") + "} ";
}

// For a second operator, which then needs no copies.
constexpr char kOthers[] = "input: 'z' output: 'w'";

TEST(CountingControlTest, OperatorsWithoutADeviceGetThatOfTheOperatorAround) {
  using testing::ElementsAre;
  const std::string one = "device_type: 20 device_id: 1 random_seed: 5";
  EXPECT_THAT(PlacesOfInner(one, ReluOn("") + ReluOn("", kOthers)), ElementsAre("20:1", "20:1"));
  EXPECT_THAT(PlacesOfInner("device_type: 20", ReluOn("")), ElementsAre("20:"));
  EXPECT_THAT(PlacesOfInner("device_type: 20 device_id: 0", ReluOn("")), ElementsAre("20:0"));
  // The net's own device goes first, and then that of the operator inside.
  EXPECT_THAT(PlacesOfInner(one, "device_option { device_type: 20 device_id: 0 } " + ReluOn("")),
              ElementsAre("20:0"));
  // What comes from outside is taken for the device's, so that its copy goes before the operator.
  EXPECT_THAT(PlacesOfInner(one, ReluOn("device_type: 20 device_id: 0") + ReluOn("", kOthers)),
              ElementsAre("20:0", "20:0", "20:1"));
}

// A net whose operators all name the CPU stays there, without copies; one that names none for an
// operator gets the device.
TEST(CountingControlTest, ANetThatNamesTheCpuStaysOnIt) {
  using testing::ElementsAre;
  const std::string one = "device_type: 20 device_id: 1";
  EXPECT_THAT(PlacesOfInner(one, ReluOn("device_type: 0") + ReluOn("device_type: 0", kOthers)),
              ElementsAre("0:", "0:"));
  EXPECT_THAT(PlacesOfInner(one, ReluOn("device_type: 0") + ReluOn("", kOthers)),
              ElementsAre("20:1", "0:1", "20:1"));
}

TEST(CountingControlTest, AnUnknownTypeOfTheInnerNetIsNamedWithThoseNearBy) {
  Workspace ws;
  const auto error = [&](const std::string& type) {
    return MessageOf([&] {
      (void)CreateOperator(
          ParseOp("type: 'CountingInnerNet' device_option { device_type: 20 } arg { name: 'inner' "
                  "n { name: 'n' type: '" +
                  type + "' } }"),
          &ws);
    });
  };
  EXPECT_THAT(error("simpel"),
              testing::EndsWith("the net in argument \"inner\" has type \"simpel\", which is not "
                                "known; close: simple"));
  EXPECT_THAT(error("zzzzzzzzzzzzzz"),
              testing::EndsWith("has type \"zzzzzzzzzzzzzz\", which is not known"));
  EXPECT_THAT(MessageOf([&] {
                (void)CreateOperator(
                    ParseOp("type: 'CountingInnerNet' device_option { device_type: 20 }"), &ws);
              }),
              testing::EndsWith("argument \"inner\" is missing, want a net"));
  EXPECT_THAT(MessageOf([&] {
                (void)CreateOperator(
                    ParseOp("type: 'CountingInnerNet' device_option { device_type: "
                            "20 } arg { name: 'inner' s: 'text' }"),
                    &ws);
              }),
              testing::EndsWith("argument \"inner\" holds no net, want a net"));
}

// An operator on the CPU that has a list of nets.
class CountingNetListOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override { return true; }
};
REGISTER_CPU_OPERATOR(CountingNetList, CountingNetListOp);
OPERATOR_SCHEMA(CountingNetList).AcceptsAnyArgument();

TEST(CountingControlTest, NetsInListsUseDevicesToo) {
  using testing::ElementsAre;
  using testing::IsEmpty;
  const auto devices = [](const std::string& argument) {
    Workspace ws;
    for (const char* name : {"x", "y", "z", "w"}) ws.CreateBlob(name);
    const NetOperators operators(
        std::make_shared<const NetDef>(ParseNet(
            "name: 'n' op { type: 'CountingNetList' arg { name: 'list' " + argument + " } }")),
        &ws);
    CountingDevice::SetCurrent(0);
    return DevicesOf(operators);
  };
  const std::string on_cpu = "{ " + ReluOn("") + "} ",
                    on_device = "{ " + ReluOn("device_type: 20") + "} ";
  EXPECT_THAT(devices("nets " + on_cpu), IsEmpty());
  EXPECT_THAT(devices("nets " + on_device), ElementsAre(kUsesDevices));
  EXPECT_THAT(devices("nets " + on_cpu + "nets " + on_device), ElementsAre(kUsesDevices));
  EXPECT_THAT(devices("nets " + on_device + "nets " + on_cpu), ElementsAre(kUsesDevices));
  EXPECT_THAT(devices("n " + on_device), ElementsAre(kUsesDevices));
  EXPECT_THAT(devices("n " + on_cpu + "nets " + on_device), ElementsAre(kUsesDevices));
  // Operators of IDEEP end when they return.
  EXPECT_THAT(devices("nets { " + ReluOn("device_type: 5") + "}"), IsEmpty());
}

}  // namespace
}  // namespace caffe2rt::test::counting_control_test
