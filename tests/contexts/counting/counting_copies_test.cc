// Nets that mix devices without any explicit copies.
#include <gtest/gtest.h>

#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/runtime/net.h"
#include "tests/contexts/counting/counting_context.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::counting_copies_test {
namespace {

CountingCounts Counts() { return CountingDevice::Get(0).counts(); }

std::vector<std::string> TypesOf(const NetDef& net) {
  std::vector<std::string> types;
  for (const OperatorDef& op : net.op()) types.push_back(op.type());
  return types;
}

// z = relu(x) + w, with the Relu on the device.
constexpr const char* kMixed = R"(
  name: "mixed" external_input: "x" external_input: "w" external_output: "z"
  op { type: "Relu" input: "x" output: "y" device_option { device_type: 20 } }
  op { type: "Add" input: "y" input: "w" output: "z" })";

TEST(CountingCopiesTest, NetThatMixesDevicesRunsUnedited) {
  Workspace ws;
  Feed<float>(&ws, "x", {3}, {-1, 2, 3});
  Feed<float>(&ws, "w", {3}, {10, 20, 30});
  NetBase* const net = ws.CreateNet(ParseNet(kMixed));
  EXPECT_EQ(net->Name(), "mixed");
  EXPECT_THAT(TypesOf(net->debug_def()),
              testing::ElementsAre("CopyFromCPUInput", "Relu", "EnsureCPUOutput", "Add"));
  EXPECT_TRUE(ws.HasBlob("x_counting_0"));
  EXPECT_TRUE(ws.HasBlob("y_cpu"));
  ASSERT_TRUE(ws.RunNet("mixed"));
  ExpectTensor<float>(ws, "z", {3}, {10, 22, 33});
  Feed<float>(&ws, "x", {3}, {7, 0, -1});
  ASSERT_TRUE(ws.RunNet("mixed"));
  ExpectTensor<float>(ws, "z", {3}, {17, 20, 30});
}

TEST(CountingCopiesTest, AllocatesNothingFromTheSecondRunOn) {
  Workspace ws;
  Feed<float>(&ws, "x", {3}, {-1, 2, 3});
  Feed<float>(&ws, "w", {3}, {10, 20, 30});
  ws.CreateNet(ParseNet(kMixed));
  ASSERT_TRUE(ws.RunNet("mixed"));
  const CountingCounts before = Counts();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(ws.RunNet("mixed"));
  const CountingCounts after = Counts();
  EXPECT_EQ(after.allocations, before.allocations);
  EXPECT_EQ(after.waits, before.waits + 3);
  EXPECT_EQ(after.copies_from_cpu, before.copies_from_cpu + 3);
  EXPECT_EQ(after.copies_to_cpu, before.copies_to_cpu + 3);
}

TEST(CountingCopiesTest, RunNetOnceMixesDevicesToo) {
  Workspace ws;
  Feed<float>(&ws, "x", {3}, {-1, 2, 3});
  Feed<float>(&ws, "w", {3}, {10, 20, 30});
  ASSERT_TRUE(ws.RunNetOnce(ParseNet(kMixed)));
  ExpectTensor<float>(ws, "z", {3}, {10, 22, 33});
}

TEST(CountingCopiesTest, ReadsABlobWhereTheWorkspaceHasIt) {
  Workspace ws;
  Feed<float>(&ws, "w", {3}, {10, 20, 30});
  CountingDevice::SetCurrent(1);
  ws.CreateBlob("x")->GetMutableTensor(kCounting)->CopyFrom(std::vector<float>({-1, 2, 3}));
  CountingDevice::SetCurrent(0);
  NetBase* const net = ws.CreateNet(ParseNet(kMixed));
  EXPECT_THAT(TypesOf(net->debug_def()),
              testing::ElementsAre("Copy", "Relu", "EnsureCPUOutput", "Add"));
  ASSERT_TRUE(ws.RunNet("mixed"));
  ExpectTensor<float>(ws, "z", {3}, {10, 22, 33});
}

TEST(CountingCopiesTest, InPlaceUpdateElsewhereComesBack) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {1, 2});
  ws.CreateNet(ParseNet(R"(
    name: "doubles"
    op { type: "Add" input: "x" input: "x" output: "x" device_option { device_type: 20 } }
    op { type: "Relu" input: "x" output: "y" })"));
  ASSERT_TRUE(ws.RunNet("doubles"));
  ASSERT_TRUE(ws.RunNet("doubles"));
  ExpectTensor<float>(ws, "x", {2}, {4, 8});
  ExpectTensor<float>(ws, "y", {2}, {4, 8});
}

TEST(CountingCopiesTest, InPlaceUpdateComesBackToABlobThatTheNetDoesNotList) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {1, 2});
  Feed<float>(&ws, "w", {2}, {1, 2});
  ws.CreateNet(ParseNet(R"(
    name: "doubles" external_output: "y"
    op { type: "Add" input: "x" input: "x" output: "x" device_option { device_type: 20 } }
    op { type: "Relu" input: "w" output: "y" })"));
  ASSERT_TRUE(ws.RunNet("doubles"));
  ASSERT_TRUE(ws.RunNet("doubles"));
  ExpectTensor<float>(ws, "x", {2}, {4, 8});
}

// The workspace has the blob on one device, and the net writes it on another.
TEST(CountingCopiesTest, OutputMovesToTheDeviceThatMakesIt) {
  const auto feed = [](Workspace* ws, int device, const std::vector<float>& values) {
    if (device < 0) {
      Feed<float>(ws, "x", {3}, values);
      return;
    }
    CountingDevice::SetCurrent(device);
    ws->CreateBlob("x")->Reset();
    ws->CreateBlob("x")->GetMutableTensor(kCounting)->CopyFrom(values);
    CountingDevice::SetCurrent(0);
  };
  const auto option = [](int device) {
    return device < 0 ? std::string("device_type: 0")
                      : "device_type: 20 device_id: " + std::to_string(device);
  };
  // -1 is the CPU.
  for (const auto& [from, to] : {std::pair(-1, 0), {-1, 1}, {0, -1}, {1, -1}}) {
    Workspace ws;
    feed(&ws, from, {-1, 2, 3});
    ws.CreateNet(ParseNet("name: 'moves' op { type: 'Relu' input: 'x' output: 'z' device_option {" +
                          option(from) + "} } op { type: 'Relu' input: 'z' output: 'x' " +
                          "device_option {" + option(to) + "} }"));
    for (const float sign : {1.f, -1.f}) {
      feed(&ws, from, {-sign, 2, 3 * sign});
      ASSERT_TRUE(ws.RunNet("moves")) << from << " to " << to;
      const auto& x = ws.GetBlob("x")->Get<Tensor>();
      EXPECT_EQ(CountingDevice::Of(x.raw_data()), to) << from << " to " << to;
      const Tensor host(x, CPU);
      EXPECT_THAT(std::vector<float>(host.data<float>(), host.data<float>() + 3),
                  sign > 0 ? testing::ElementsAre(0, 2, 3) : testing::ElementsAre(1, 2, 0));
    }
  }
  CountingDevice::SetCurrent(0);
}

TEST(CountingCopiesTest, GoesFromOneDeviceToAnother) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {-1, 2});
  ws.CreateNet(ParseNet(R"(
    name: "two"
    op { type: "Relu" input: "x" output: "a" device_option { device_type: 20 device_id: 0 } }
    op { type: "Add" input: "a" input: "x" output: "b" device_option { device_type: 20 device_id: 1 } }
    op { type: "Add" input: "a" input: "b" output: "c" })"));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(ws.RunNet("two"));
  ExpectTensor<float>(ws, "c", {2}, {-1, 6});
  EXPECT_TRUE(ws.HasBlob("a_counting_1"));
  CountingDevice::SetCurrent(0);
}

TEST(CountingCopiesTest, NetArgumentSwitchesItOff) {
  Workspace ws;
  Feed<float>(&ws, "x", {3}, {-1, 2, 3});
  Feed<float>(&ws, "w", {3}, {10, 20, 30});
  NetDef net = ParseNet(kMixed);
  Argument* wish = net.add_arg();
  wish->set_name("inject_copies");
  wish->set_i(0);
  ws.CreateNet(net);
  ExpectThrows([&] { ws.RunNet("mixed"); }, "is a tensor on CPU, want one on COUNTING");
  net.mutable_arg(0)->set_i(2);
  ExpectThrows([&] { ws.CreateNet(net, true); }, "argument inject_copies is");
}

TEST(CountingCopiesTest, NetThatNeedsNoCopiesIsTheSame) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {1, 2});
  const auto def = std::make_shared<const NetDef>(ParseNet(R"(
    name: "has_its_own" external_input: "x"
    op { type: "CopyFromCPUInput" input: "x" output: "d" device_option { device_type: 20 } }
    op { type: "EnsureCPUOutput" input: "d" output: "y" device_option { device_type: 20 } }
    op { type: "Relu" input: "y" output: "z" })"));
  EXPECT_EQ(&ws.CreateNet(def)->debug_def(), def.get());
}

TEST(CountingCopiesTest, NetOfOneDeviceIsLeftAloneUnlessAsked) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {-1, 2});
  NetDef net = ParseNet(R"(
    name: "one" device_option { device_type: 20 } op { type: "Relu" input: "x" output: "y" })");
  EXPECT_EQ(ws.CreateNet(net)->debug_def().op_size(), 1);
  Argument* wish = net.add_arg();
  wish->set_name("inject_copies");
  wish->set_i(1);
  EXPECT_EQ(ws.CreateNet(net, true)->debug_def().op_size(), 2);
  ASSERT_TRUE(ws.RunNet("one"));
  EXPECT_TRUE(ws.GetBlob("y")->IsTensor(kCounting));
}

TEST(CountingCopiesTest, ReportsThePositionOfAnOperatorOnAMissingDevice) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {-1, 2});
  for (const char* const asked : {"", R"(arg { name: "inject_copies" i: 1 })"}) {
    ExpectThrows(
        [&] {
          ws.CreateNet(ParseNet(std::string(R"(
            name: "absent"
            op { type: "Relu" input: "x" output: "y" }
            op { type: "Relu" input: "y" output: "z" device_option { device_type: 21 } })") +
                                asked));
        },
        "net \"absent\", operator 1 (Relu");
  }
}

TEST(CountingCopiesTest, WhatIsNoTensorIsNotCopied) {
  Workspace ws;
  *ws.CreateBlob("name")->GetMutable<std::string>() = "text";
  Feed<float>(&ws, "x", {2}, {-1, 2});
  const NetBase* const net = ws.CreateNet(ParseNet(R"(
    name: "reads_text"
    op { type: "Relu" input: "name" output: "y" device_option { device_type: 20 } }
    op { type: "Relu" input: "x" output: "z" })"));
  EXPECT_EQ(net->debug_def().op_size(), 2);
}

TEST(CountingCopiesTest, PredictorMixesDevices) {
  const NetDef init = ParseNet(R"(
    op { type: "GivenTensorFill" output: "w"
         arg { name: "shape" ints: 3 } arg { name: "values" floats: 10 floats: 20 floats: 30 } })");
  // The weight is read on the device, therefore each instance copies it there.
  const NetDef predict = ParseNet(R"(
    name: "predict" external_input: "x" external_input: "w" external_output: "z"
    op { type: "Add" input: "x" input: "w" output: "y" device_option { device_type: 20 } }
    op { type: "Relu" input: "y" output: "z" })");
  Predictor predictor(init, predict);
  EXPECT_EQ(predictor.def().op_size(), 2);
  EXPECT_THAT(predictor.input_names(), testing::ElementsAre("x", "w"));
  Tensor x({3}, CPU);
  for (int i = 0; i < 3; ++i) x.mutable_data<float>()[i] = static_cast<float>(-15 * i);
  for (int run = 0; run < 2; ++run) {
    Predictor::TensorList out;
    ASSERT_TRUE(predictor({x}, &out));
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].data<float>()[0], 10.f);
    EXPECT_EQ(out[0].data<float>()[1], 5.f);
    EXPECT_EQ(out[0].data<float>()[2], 0.f);
  }
}

// Inputs may be on the CPU or on the device, also from call to call.
TEST(CountingCopiesTest, PredictorCopiesInputsToTheDeviceThatReadsThem) {
  const NetDef predict = ParseNet(R"(
    name: "predict" external_input: "x" external_output: "z"
    op { type: "Add" input: "x" input: "x" output: "y" device_option { device_type: 20 } }
    op { type: "Relu" input: "y" output: "z" device_option { device_type: 20 } })");
  Tensor x({2}, CPU);
  x.mutable_data<float>()[0] = -1;
  x.mutable_data<float>()[1] = 4;
  const Tensor there(x, kCounting);
  Predictor predictor(NetDef(), predict);
  for (const Tensor& input : {x, x, there, x, there}) {
    Predictor::TensorList out;
    ASSERT_TRUE(predictor({input}, &out));
    const Tensor z(out.at(0), CPU);
    EXPECT_EQ(z.data<float>()[0], 0.f);
    EXPECT_EQ(z.data<float>()[1], 8.f);
    Predictor::TensorVector pointers;
    Tensor copy = input;
    ASSERT_TRUE(predictor.run({&copy}, &pointers));
    EXPECT_EQ(Tensor(*pointers.at(0), CPU).data<float>()[1], 8.f);
  }
  EXPECT_EQ(predictor.def().op_size(), 2);
}

TEST(CountingCopiesTest, PredictorInsertsNoCopiesIfTheNetForbidsThem) {
  const NetDef predict = ParseNet(R"(
    name: "predict" external_input: "x" external_output: "z" arg { name: "inject_copies" i: 0 }
    op { type: "Relu" input: "x" output: "z" device_option { device_type: 20 } })");
  Predictor predictor(NetDef(), predict);
  Predictor::TensorList out;
  Tensor x({2}, CPU);
  x.mutable_data<float>();
  ExpectThrows([&] { predictor({x}, &out); }, "input 0 (\"x\") is a tensor on CPU");
}

// A model whose nets name a device for all of their operators, as nets trained on a GPU do.
TEST(CountingCopiesTest, PredictorOfAModelTakesInputsFromTheCpu) {
  constexpr const char* kInit = R"(
    op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 2 } arg { name: "value" f: 3 }
         device_option { device_type: 20 } })";
  for (const char* const of_net : {"", "device_option { device_type: 20 }"}) {
    Predictor predictor(
        LoadModelFromMemory({kInit}, MakeString(of_net, R"( external_input: "x" external_input: "w"
          op { type: "Add" input: "x" input: "w" output: "z" device_option { device_type: 20 } })")));
    Tensor x({2}, CPU);
    x.mutable_data<float>()[0] = x.mutable_data<float>()[1] = 1;
    for (int i = 0; i < 2; ++i) {
      Predictor::TensorList out;
      ASSERT_TRUE(predictor({x}, &out));
      EXPECT_EQ(Tensor(out.at(0), CPU).data<float>()[1], 4.f);
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::counting_copies_test
