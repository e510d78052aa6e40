#include "caffe2_core/model/device_placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/device/context.h"
#include "caffe2_core/device/device_descriptor.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::device_placement_test {
namespace {

using ::testing::ElementsAre;

constexpr auto kStub = static_cast<DeviceType>(23);

// A device that no operator runs on.
class StubStaticContext : public BaseStaticContext {
 public:
  std::pair<void*, MemoryDeleter> New(size_t nbytes) const override {
    return GetCPUStaticContext()->New(nbytes);
  }
  std::unique_ptr<BaseContext> CreateContext() override { return nullptr; }
  std::unique_ptr<BaseContext> CreateContext(const DeviceOption&) override { return nullptr; }
  DeviceType GetDeviceType() override { return kStub; }
};

void RegisterStub() {
  static const bool once = [] {
    RegisterStaticContext(kStub, "PLACEMENT", new StubStaticContext);
    OperatorRegistryOf(kStub)->Register(
        "Relu", [](const OperatorDef&, Workspace*) { return nullptr; }, __FILE__);
    return true;
  }();
  (void)once;
}

DeviceOption Stub(int id) {
  RegisterStub();
  DeviceOption option;
  option.set_device_type(kStub);
  option.set_device_id(id);
  return option;
}

TEST(DevicePlacementTest, PlacesSupportedOperatorsOnTheDeviceAndLeavesTheRest) {
  NetDef net = test::ParseNet(R"(
      op { type: "Relu" input: "x" output: "y" }
      op { type: "Softmax" input: "y" output: "z" }
      op { type: "Relu" input: "z" output: "z" device_option { device_type: 0 } })");
  EXPECT_THAT(PlaceNet(&net, Stub(2)), ElementsAre("Softmax"));
  EXPECT_EQ(net.op(0).device_option().device_type(), kStub);
  EXPECT_EQ(net.op(0).device_option().device_id(), 2);
  EXPECT_EQ(net.op(1).device_option().device_type(), CPU);
  EXPECT_FALSE(net.op(1).device_option().has_device_id());
  EXPECT_EQ(net.op(2).device_option().device_type(), kStub);
}

TEST(DevicePlacementTest, KeepsDevicesThatAreNamed) {
  NetDef net = test::ParseNet(R"(
      device_option { device_type: 1 device_id: 1 }
      op { type: "Relu" input: "x" output: "y" }
      op { type: "Relu" input: "y" output: "z" device_option { device_type: 5 } })");
  EXPECT_THAT(PlaceNet(&net, Stub(0)), ElementsAre());
  EXPECT_EQ(net.op(0).device_option().device_type(), CUDA);
  EXPECT_EQ(net.op(0).device_option().device_id(), 1);
  EXPECT_EQ(net.op(1).device_option().device_type(), 5);
}

// Options that name no device, such as a seed, leave the operator on the device of the net.
TEST(DevicePlacementTest, KeepsTheNetsDeviceOfOperatorsWithOtherOptions) {
  NetDef net = test::ParseNet(R"(
      device_option { device_type: 1 device_id: 2 }
      op { type: "Relu" input: "x" output: "y" device_option { random_seed: 7 } }
      op { type: "Relu" input: "y" output: "z" device_option { device_id: 3 } }
      op { type: "Relu" input: "z" output: "w" device_option { device_type: 0 random_seed: 8 } })");
  EXPECT_THAT(PlaceNet(&net, Stub(4)), ElementsAre());
  const auto expect_device = [&](int op, int type, int id) {
    const DeviceOption& device = net.op(op).device_option();
    EXPECT_EQ(device.device_type(), type) << op;
    EXPECT_EQ(device.device_id(), id) << op;
  };
  expect_device(0, CUDA, 2);
  EXPECT_EQ(net.op(0).device_option().random_seed(), 7u);
  expect_device(1, CUDA, 3);
  expect_device(2, kStub, 4);
  EXPECT_EQ(net.op(2).device_option().random_seed(), 8u);
}

TEST(DevicePlacementTest, PlacesNetsInArguments) {
  NetDef net = test::ParseNet(R"(
      op { type: "If" input: "c" output: "y"
           arg { name: "then_net" n { op { type: "Relu" input: "x" output: "y" } } } })");
  EXPECT_THAT(PlaceNet(&net, Stub(1)), ElementsAre("If"));
  EXPECT_EQ(net.op(0).arg(0).n().op(0).device_option().device_type(), kStub);
}

TEST(DevicePlacementTest, PlacesStepNetsThatAreText) {
  NetDef net = test::ParseNet(R"(
      op { type: "RecurrentNetwork" input: "x" output: "y"
           arg { name: "step_net" s: "op { type: 'Relu' input: 'x' output: 'y' }" } })");
  EXPECT_THAT(PlaceNet(&net, Stub(1)), ElementsAre("RecurrentNetwork"));
  EXPECT_EQ(net.op(0).arg(0).n().op(0).device_option().device_type(), kStub);
}

TEST(DevicePlacementTest, RequestsCopiesForEachNet) {
  NetDef net = test::ParseNet(R"(
      op { type: "If" input: "c" output: "y"
           arg { name: "then_net" n { op { type: "Relu" input: "x" output: "y" } } }
           arg { name: "else_net" n { arg { name: "inject_copies" i: 0 } } } })");
  PlaceNet(&net, Stub(1));
  EXPECT_EQ(net.arg(0).i(), 1);
  EXPECT_EQ(net.op(0).arg(0).n().arg(0).i(), 1);
  EXPECT_EQ(net.op(0).arg(1).n().arg(0).i(), 0);
}

TEST(DevicePlacementTest, KeepsTheSeedOfTheNet) {
  NetDef net = test::ParseNet(R"(device_option { random_seed: 3 } op { type: "Relu" })");
  PlaceNet(&net, Stub(0));
  EXPECT_EQ(net.device_option().random_seed(), 3u);
  EXPECT_FALSE(net.op(0).device_option().has_random_seed());
}

// IDEEP is the CPU: with the device CPU, operators that name it stay there unless only the CPU has them.
TEST(DevicePlacementTest, TheCpuRunsWhatIdeepLacks) {
  const test::TempDir dir;
  const std::string net = dir.Write("net.pbtxt", R"(device_option { device_type: 5 }
      op { type: "Relu" input: "x" output: "y" } op { type: "Det" input: "y" output: "z" })");
  DeviceOption cpu;
  cpu.set_device_type(CPU);
  const Model model = LoadModel({.predict_net = net, .device = cpu});
  EXPECT_EQ(model.predict_net.device_option().device_type(), IDEEP);
  EXPECT_FALSE(model.predict_net.op(0).has_device_option());
  EXPECT_TRUE(model.predict_net.op(1).device_option().has_device_type());
  EXPECT_EQ(model.predict_net.op(1).device_option().device_type(), CPU);
  EXPECT_EQ(model.predict_net.arg(0).name(), "inject_copies");
  EXPECT_THAT(model.warnings, ElementsAre());
}

// Operators that name an available device run on the CPU if only the CPU has them.
TEST(DevicePlacementTest, MovesWhatTheNamedDeviceLacksToTheCpu) {
  RegisterStub();
  const std::string text = R"(
      device_option { device_type: 23 device_id: 1 }
      op { type: "Relu" input: "x" output: "y" }
      op { type: "Softmax" input: "y" output: "z" }
      op { type: "Nowhere" input: "z" output: "z" }
      op { type: "Softmax" input: "z" output: "z" device_option { device_type: 1 } }
      op { type: "If" input: "c" output: "y" device_option { device_type: 0 }
           arg { name: "then_net" n { op { type: "Sigmoid" input: "x" output: "y"
                                           device_option { device_type: 23 } } } } })";
  for (const bool place : {false, true}) {
    NetDef net = test::ParseNet(text);
    const std::vector<std::string> moved =
        place ? PlaceNet(&net, Stub(0)) : MoveUnsupportedToCPU(&net);
    std::vector<std::string> want = {"Sigmoid", "Softmax"};
    if (place) want.insert(want.begin(), "If");
    EXPECT_EQ(moved, want);
    EXPECT_EQ(net.op(1).device_option().device_type(), CPU);
    EXPECT_FALSE(net.op(1).device_option().has_device_id());
    // Nothing has it: the error of creating it names its device.
    EXPECT_EQ(MergeDeviceOption(net.device_option(), net.op(2).device_option()).device_type(),
              kStub);
    EXPECT_EQ(net.op(3).device_option().device_type(), CUDA);  // it is not available
    EXPECT_EQ(net.op(4).arg(0).n().op(0).device_option().device_type(), CPU);
  }
}

TEST(DevicePlacementTest, FindsDevicesThatNetsName) {
  const auto names = [](const char* text) { return NamesADevice(test::ParseNet(text)); };
  EXPECT_FALSE(names(R"(device_option { random_seed: 1 } op { type: "Relu" })"));
  EXPECT_FALSE(names(R"(op { type: "If" arg { name: "then_net" n { op { type: "A" } } } })"));
  EXPECT_TRUE(names("device_option { device_type: 1 }"));
  EXPECT_TRUE(names(R"(op { type: "Relu" device_option { device_type: 1 } })"));
  EXPECT_TRUE(names(R"(op { type: "If" arg { name: "then_net"
                            n { op { type: "A" device_option { device_type: 1 } } } } })"));
  EXPECT_TRUE(names(R"(op { type: "RecurrentNetwork" arg { name: "step_net"
                            s: "op { type: 'A' device_option { device_type: 1 } }" } })"));
}

TEST(DevicePlacementTest, RequestsCopiesWithoutMovingOperators) {
  NetDef net = test::ParseNet(R"(
      op { type: "Relu" input: "x" output: "y" device_option { device_type: 1 } }
      op { type: "If" input: "c" output: "y" arg { name: "then_net" n { name: "inner" } }
           arg { name: "else_net" n { arg { name: "inject_copies" i: 0 } } } })");
  RequestDeviceCopies(&net);
  EXPECT_EQ(net.arg(0).i(), 1);
  EXPECT_EQ(net.op(0).device_option().device_type(), CUDA);
  EXPECT_EQ(net.op(1).arg(0).n().arg(0).i(), 1);
  EXPECT_EQ(net.op(1).arg(1).n().arg(0).i(), 0);
}

// The body exchanges values with ONNXWhile, which runs on the CPU.
TEST(DevicePlacementTest, LeavesTheBodyOfOnnxWhileOnTheCpu) {
  NetDef net = test::ParseNet(R"(
      op { type: "ONNXWhile" input: "m" input: "c"
           arg { name: "body" n { op { type: "Relu" input: "x" output: "y" } } } })");
  PlaceNet(&net, Stub(1));
  EXPECT_FALSE(net.op(0).arg(0).n().op(0).has_device_option());
}

TEST(DevicePlacementTest, ThrowsForAMissingDevice) {
  NetDef net;
  DeviceOption option;
  option.set_device_type(31);
  EXPECT_THROW(PlaceNet(&net, option), EnforceNotMet);
}

TEST(DevicePlacementTest, ReadsDevicesByNameAndAlias) {
  DeviceOption option;
  EXPECT_TRUE(ParseDevice("cuda:3", &option));
  EXPECT_EQ(option.device_type(), CUDA);
  EXPECT_EQ(option.device_id(), 3);
  EXPECT_TRUE(ParseDevice("gpu", &option));
  EXPECT_EQ(option.device_id(), 0);
  EXPECT_EQ(option.device_type(), CUDA);
  EXPECT_TRUE(ParseDevice("cuda:99999", &option));
  EXPECT_EQ(option.device_id(), 99999);
  test::ExpectThrows([&] { ParseDevice("gpu:x", &option); },
                     "device \"gpu:x\" does not end in a number, want a device such as gpu:0");
  RegisterDeviceDescriptor({.type = static_cast<DeviceType>(25), .name = "QUIPU"});
  EXPECT_TRUE(ParseDevice("quipu:1", &option));
  EXPECT_EQ(option.device_type(), 25);
  EXPECT_EQ(option.device_id(), 1);
  EXPECT_FALSE(ParseDevice("QUIPU", &option));
  EXPECT_FALSE(ParseDevice("", &option));
  EXPECT_FALSE(ParseDevice("cpu", &option));
  EXPECT_FALSE(ParseDevice("cuda1", &option));
  EXPECT_THROW(ParseDevice("cuda:", &option), EnforceNotMet);
  EXPECT_THROW(ParseDevice("cuda:-1", &option), EnforceNotMet);
  EXPECT_THROW(ParseDevice("cuda:100000", &option), EnforceNotMet);
  EXPECT_THROW(ParseDevice("cuda:4294967296", &option), EnforceNotMet);
}

// A number without a type in the option of the operator goes with the type of the net.
TEST(DevicePlacementTest, FindsTheDeviceOfTheOperatorThatReadsABlobFirst) {
  const NetDef net = test::ParseNet(R"(
      device_option { device_type: 1 device_id: 2 }
      op { type: "Relu" input: "x" output: "y" }
      op { type: "Relu" input: "c" output: "d" device_option { device_type: 0 } }
      op { type: "Add" input: "c" input: "w" output: "e" device_option { device_id: 3 } })");
  const auto text = [&](const std::string& blob) -> std::string {
    const std::optional<DeviceOption> device = DeviceOfFirstReader(net, blob);
    if (!device.has_value()) return "none";
    return MakeString(device->device_type(), ":", device->device_id());
  };
  EXPECT_EQ(text("x"), "1:2");
  EXPECT_EQ(text("c"), "0:2");  // the first of two readers, whose number is that of the net
  EXPECT_EQ(text("w"), "1:3");
  EXPECT_EQ(text("y"), "none");
  EXPECT_EQ(text("d"), "none");
  EXPECT_EQ(text(""), "none");
}

// A tensor on the CPU moves; what is there already, what is no tensor and what does not exist stays.
TEST(DevicePlacementTest, BlobsMoveToDevicesOnce) {
  Workspace ws;
  test::Feed<float>(&ws, "x", {1, 2, 1, 2}, {1, 2, 3, 4});
  const Blob* const blob = ws.GetBlob("x");
  const void* const memory = blob->Get<Tensor>().raw_data();
  DeviceOption device;
  MoveBlobToDevice("x", device, &ws);
  EXPECT_EQ(ws.GetBlob("x")->Get<Tensor>().raw_data(), memory);
  device.set_device_type(IDEEP);
  *ws.CreateBlob("text")->GetMutable<std::string>() = "abc";
  MoveBlobToDevice("text", device, &ws);
  EXPECT_EQ(ws.GetBlob("text")->Get<std::string>(), "abc");
  MoveBlobToDevice("absent", device, &ws);
  EXPECT_FALSE(ws.HasBlob("absent"));
  MoveBlobToDevice("x", device, &ws);
  EXPECT_EQ(ws.GetBlob("x"), blob);
  ASSERT_TRUE(blob->IsTensor(IDEEP));
  const void* const moved = blob->GetRaw();
  MoveBlobToDevice("x", device, &ws);
  EXPECT_EQ(blob->GetRaw(), moved);
  EXPECT_FALSE(ws.HasBlob("x_moved"));
  // Back on the CPU, the elements are the same.
  EXPECT_TRUE(ws.RunOperatorOnce(test::ParseOp(
      R"(type: "EnsureCPUOutput" input: "x" output: "y" device_option { device_type: 5 })")));
  test::ExpectTensor<float>(ws, "y", {1, 2, 1, 2}, {1, 2, 3, 4});
}

TEST(DevicePlacementTest, InputsOfOneOperatorMayBeOnOtherDevices) {
  OpSchemaRegistry::NewSchema("DevicePlacementMixed", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .DeviceInferenceFunction([](const OperatorDef& def) {
        const DeviceOption cpu;
        return std::pair(std::vector<DeviceOption>{def.device_option(), cpu, def.device_option()},
                         std::vector<DeviceOption>{def.device_option()});
      });
  const NetDef net = test::ParseNet(R"(
      op { type: "DevicePlacementMixed" input: "x" input: "shape" input: "w" output: "y"
           device_option { device_type: 1 } })");
  EXPECT_EQ(DeviceOfFirstReader(net, "x")->device_type(), CUDA);
  EXPECT_EQ(DeviceOfFirstReader(net, "shape")->device_type(), CPU);
  EXPECT_EQ(DeviceOfFirstReader(net, "w")->device_type(), CUDA);
}

// Relu in `levels` nets, each in an argument of an operator of the net around it.
NetDef NestedRelu(int levels, const std::string& relu = "") {
  NetDef net = test::ParseNet("op { type: 'Relu' input: 'x' output: 'y' " + relu + " }");
  for (int i = 0; i < levels; ++i) {
    NetDef outer;
    OperatorDef* const op = outer.add_op();
    op->set_type("If");
    // In turns, an argument with a net and one with several, of which it is the second.
    if (i % 2 == 0) {
      *op->add_arg() = MakeArgument("then_net", net);
    } else {
      Argument* const nets = op->add_arg();
      nets->set_name("nets");
      nets->add_nets()->set_name("first");
      *nets->add_nets() = net;
    }
    net = outer;
  }
  return net;
}

const NetDef& InnermostOf(const NetDef& net) {
  if (net.op(0).arg_size() == 0) return net;
  const Argument& arg = net.op(0).arg(0);
  return InnermostOf(arg.has_n() ? arg.n() : arg.nets(1));
}

TEST(DevicePlacementTest, ReachesNetsOfListsUpToADepth) {
  RegisterStub();
  const std::string too_deep = "nesting depth of nets";
  for (const int levels : {1, 2, 3, kMaxNetDepth - 1, kMaxNetDepth}) {
    SCOPED_TRACE(levels);
    NetDef placed = NestedRelu(levels), requested = placed;
    NetDef moved = NestedRelu(levels, "device_option { device_type: 23 }");
    if (levels == kMaxNetDepth) {
      test::ExpectThrows([&] { PlaceNet(&placed, Stub(1)); }, too_deep);
      test::ExpectThrows([&] { RequestDeviceCopies(&requested); }, too_deep);
      test::ExpectThrows([&] { MoveUnsupportedToCPU(&moved); }, too_deep);
      continue;
    }
    EXPECT_THAT(PlaceNet(&placed, Stub(1)), ElementsAre("If"));
    EXPECT_EQ(InnermostOf(placed).op(0).device_option().device_type(), kStub);
    EXPECT_EQ(GetArgumentPtr(InnermostOf(placed), "inject_copies")->i(), 1);
    RequestDeviceCopies(&requested);
    EXPECT_EQ(GetArgumentPtr(InnermostOf(requested), "inject_copies")->i(), 1);
    EXPECT_FALSE(InnermostOf(requested).op(0).has_device_option());
    const_cast<NetDef&>(InnermostOf(moved)).mutable_op(0)->set_type("Softmax");
    EXPECT_THAT(MoveUnsupportedToCPU(&moved), ElementsAre("Softmax"));
    EXPECT_EQ(InnermostOf(moved).op(0).device_option().device_type(), CPU);
  }
  EXPECT_FALSE(NamesADevice(NestedRelu(2)));
  for (const int levels : {1, 2, 5, kMaxNetDepth})
    EXPECT_TRUE(NamesADevice(NestedRelu(levels, "device_option { device_type: 23 }"))) << levels;
  EXPECT_FALSE(NamesADevice(NestedRelu(kMaxNetDepth + 1, "device_option { device_type: 23 }")));
}

// The number of a device belongs to its type: a placed operator has that of the new device, if any.
TEST(DevicePlacementTest, NumbersOfDevicesGoWithTheirTypes) {
  const char* const text = R"(
      name: "n" device_option { device_type: 0 device_id: 4 random_seed: 9 }
      op { type: "Relu" device_option { device_type: 0 device_id: 3 } }
      op { type: "Softmax" device_option { device_id: 3 random_seed: 8 } }
      op { type: "Relu" device_option { random_seed: 7 } })";
  NetDef net = test::ParseNet(text);
  DeviceOption device = Stub(0);
  device.clear_device_id();
  EXPECT_THAT(PlaceNet(&net, device), ElementsAre("Softmax"));
  for (const int op : {0, 1, 2}) {
    EXPECT_FALSE(net.op(op).device_option().has_device_id()) << op;
    EXPECT_EQ(net.op(op).device_option().device_type(), op == 1 ? CPU : kStub) << op;
  }
  EXPECT_EQ(net.op(1).device_option().random_seed(), 8u);
  EXPECT_EQ(net.op(2).device_option().random_seed(), 7u);
  EXPECT_EQ(net.device_option().device_type(), CPU);
  EXPECT_FALSE(net.device_option().has_device_id());
  EXPECT_EQ(net.device_option().random_seed(), 9u);
  NetDef second = test::ParseNet(text);
  PlaceNet(&second, Stub(2));
  EXPECT_EQ(second.op(0).device_option().device_id(), 2);
  EXPECT_EQ(second.op(2).device_option().device_id(), 2);
  NetDef bare = test::ParseNet(R"(op { type: "Relu" })");
  PlaceNet(&bare, Stub(2));
  EXPECT_FALSE(bare.has_device_option());
  // An option of an operator that names no type goes with the net's.
  NetDef unsupported = test::ParseNet(R"(device_option { device_type: 23 device_id: 1 }
      op { type: "Softmax" device_option { device_id: 3 } }
      op { type: "Sigmoid" device_option { device_type: 0 device_id: 3 } })");
  EXPECT_THAT(MoveUnsupportedToCPU(&unsupported), ElementsAre("Softmax"));
  EXPECT_TRUE(unsupported.op(0).device_option().has_device_type());
  EXPECT_FALSE(unsupported.op(0).device_option().has_device_id());
  EXPECT_EQ(unsupported.op(1).device_option().device_id(), 3) << "it is on the CPU";
  EXPECT_EQ(unsupported.device_option().device_type(), kStub);
}

}  // namespace
}  // namespace caffe2rt::device_placement_test
