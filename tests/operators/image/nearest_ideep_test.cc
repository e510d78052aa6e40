// Operators on images on IDEEP that run several times, with scales as an input, and with nothing to
// write.

#include <utility>

#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/plans_ahead.h"
#include "tests/operators/common/onednn_run.h"

namespace caffe2rt::nearest_ideep_test {
namespace {

using namespace test;  // used throughout this file

class NearestOnednnTest : public OnednnTest {
 protected:
  void FeedScales(const std::vector<float>& scales) {
    Feed<float>(&cpu_, "s", {static_cast<int64_t>(scales.size())}, scales);
    Feed<float>(&onednn_, "s", {static_cast<int64_t>(scales.size())}, scales);
  }
};

constexpr const char* kImageOps[] = {
    ("type: 'ResizeNearest' input: 'X' input: 's' output: 'resized' "
     "arg { name: 'width_scale' f: 9 }"),
    "type: 'UpsampleNearest' input: 'X' output: 'large' arg { name: 'scale' i: 3 }",
    "type: 'ChannelShuffle' input: 'X' output: 'shuffled' arg { name: 'group' i: 2 }"};

TEST_P(NearestOnednnTest, LaterRunsFollowSizesLayoutsAndScales) {
  NetDef def;
  def.set_name("images");
  for (const char* op : kImageOps) *def.add_op() = ParseOp(op);
  const auto add = [&](Workspace* ws, DeviceTypeProto device) {
    for (OperatorDef& op : *def.mutable_op()) op.mutable_device_option()->set_device_type(device);
    return ws->CreateNet(def);
  };
  const std::string layout = GetParam().layout, other = layout == "nchw" ? "nChw16c" : "nchw";
  FeedImage("X", {2, 20, 3, 5}, layout);
  FeedScales({2, 1.5f});
  NetBase* const on_cpu = add(&cpu_, PROTO_CPU);
  NetBase* const on_ideep = add(&onednn_, PROTO_IDEEP);
  const auto expect = [&](const std::string& trace) {
    SCOPED_TRACE(trace);
    ASSERT_TRUE(on_cpu->Run());
    ASSERT_TRUE(on_ideep->Run());
    for (const char* output : {"resized", "large", "shuffled"}) ExpectSame(output, 0);
  };
  expect("first");
  FeedScales({1, 0.6f});
  expect("other scales");
  FeedImage("X", {2, 20, 5, 3}, layout, 2);
  expect("height and width exchanged");
  FeedImage("X", {2, 20, 5, 3}, other, 3);
  expect("another layout");
  FeedImage("X", {1, 38, 5, 3}, other, 4);
  expect("other channels");
  FeedImage("X", {0, 20, 3, 5}, layout);
  expect("nothing");
  FeedImage("X", {2, 20, 3, 5}, layout, 5);
  FeedScales({0.1f, 3});
  expect("no rows");
  FeedScales({2, 1.5f});
  expect("as first");
}

TEST_P(NearestOnednnTest, NamesWhatDoesNotFit) {
  FeedImage("X", {1, 3, 2, 2}, GetParam().layout);
  FeedScales({1, 2, 3});
  ExpectThrows([&] { RunOnednn(kImageOps[0]); }, "input 1 (scales) has shape [3], want [2]");
  FeedScales({1, -2});
  ExpectThrows([&] { RunOnednn(kImageOps[0]); }, "size of 2 pixels scaled by -2 is -4");
  ExpectThrows(
      [&] {
        RunOnednn(
            "type: 'UpsampleNearest' input: 'X' output: 'Y' arg { name: 'scale' i: 2000000000 }");
      },
      "dim 2 of the output has size 4000000000, want at most 2147483647");
  Tensor* const flat = onednn_.CreateBlob("flat")->GetMutableTensor(IDEEP);
  flat->Resize(2, 4, 3);
  flat->mutable_data<float>();
  for (const char* type : {"ResizeNearest", "UpsampleNearest", "ChannelShuffle"}) {
    ExpectThrows([&] { RunOnednn(MakeString("type: '", type, "' input: 'flat' output: 'Y'")); },
                 "rank of input 0 (X) of shape [2, 4, 3], want 4 (got 3, want 4)");
  }
  ExpectThrows([&] { RunOnednn(kImageOps[2]); },
               "remainder of the channels of input 0 (X) of shape [1, 3, 2, 2] divided by argument "
               "group 2, want 0 (got 1, want 0)");
}

// The outputs have the shape, the layout and the memory of the runs before the first one.
TEST_P(NearestOnednnTest, PlanningAheadMakesTheOutputs) {
  FeedImage("X", {2, 20, 3, 5}, GetParam().layout);
  FeedScales({2, 1.5f});
  const auto create = [&](const std::string& text) {
    OperatorDef def = ParseOp(text);
    def.mutable_device_option()->set_device_type(IDEEP);
    return CreateOperator(def, &onednn_);
  };
  const auto plan = [](OperatorBase* op, std::vector<bool> constant) {
    dynamic_cast<PlansAhead&>(*op).PlanAhead(AheadInputs(std::move(constant)));
  };
  const std::pair<const char*, std::vector<int64_t>> outputs[] = {
      {"resized", {2, 20, 6, 7}}, {"large", {2, 20, 9, 15}}, {"shuffled", {2, 20, 3, 5}}};
  for (int i = 0; i < 3; ++i) {
    const auto& [name, dims] = outputs[i];
    SCOPED_TRACE(name);
    const auto op = create(kImageOps[i]);
    plan(op.get(), {false, true});
    const Tensor& output = onednn_.GetBlob(name)->Get<Tensor>();
    ASSERT_EQ(output.dims(), dims);
    EXPECT_TRUE(output.IsType<float>());
    ASSERT_TRUE(output.storage_initialized());
    const OnednnFormat format = FormatOfOutput(name);
    const void* const memory = output.opaque_data();
    RunOp(&cpu_, kImageOps[i]);
    for (int run = 0; run < 2; ++run) {
      ASSERT_TRUE(op->Run());
      ExpectSame(name, 0);
      EXPECT_EQ(FormatOfOutput(name), format);
      EXPECT_EQ(output.opaque_data(), memory);
    }
  }
  ExpectThrows(
      [&] {
        plan(create(kImageOps[0]).get(), {false, false});
      },
      "input 1 (scales) is known when the net runs, want a constant");
  // Without that input, the arguments are known.
  plan(
      create("type: 'ResizeNearest' input: 'X' output: 'z' arg { name: 'width_scale' f: 3 }").get(),
      {false});
  EXPECT_EQ(DimsOf(onednn_, "z"), (std::vector<int64_t>{2, 20, 3, 15}));
  ExpectThrows(
      [&] {
        plan(create("type: 'UpsampleNearest' input: 'X' output: 'Y' arg { name: 'scale' i: "
                    "1000000000 }")
                 .get(),
             {false});
      },
      "dim 2 of the output has size 3000000000, want at most 2147483647");
  ExpectThrows(
      [&] {
        plan(create("type: 'ChannelShuffle' input: 'X' output: 'Y' arg { name: 'group' i: 3 }")
                 .get(),
             {false});
      },
      "divided by argument group 3, want 0");
}

INSTANTIATE_TEST_SUITE_P(Layouts, NearestOnednnTest,
                         testing::Values(OnednnCase{"nchw", 1, 16, 9, 7, 1},
                                         OnednnCase{"nhwc", 1, 16, 9, 7, 1},
                                         OnednnCase{"nChw16c", 1, 16, 9, 7, 1}));

}  // namespace
}  // namespace caffe2rt::nearest_ideep_test
