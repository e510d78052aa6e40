// Errors of the reports on nets, whole, and what they leave behind.
#include <absl/strings/str_replace.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "caffe2_core/inspect/blob_watch.h"
#include "caffe2_core/inspect/calibration.h"
#include "caffe2_core/inspect/gradient_check.h"
#include "caffe2_core/inspect/nan_search.h"
#include "caffe2_core/inspect/net_comparison.h"
#include "caffe2_core/inspect/net_profile.h"
#include "caffe2_core/inspect/precision_search.h"
#include "caffe2_core/inspect/receipt.h"
#include "caffe2_core/inspect/shape_inference_workspace.h"
#include "caffe2_core/inspect/time_observer.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::inspect_refusals_test {
namespace {

constexpr char kTwo[] = R"(name: "n" op { type: "Relu" input: "x" output: "y" }
                           op { type: "Split" input: "y" output: "a" output: "b"
                                arg { name: "axis" i: 0 } })";

TEST(InspectRefusalsTest, OfNullArguments) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {1, 2});
  const NetDef def = NetToWatch(ParseNet(kTwo));
  NetBase* const net = ws.CreateNet(def);
  Workspace* const none = nullptr;
  const auto feed = [](size_t) {};
  const std::string search = "PrecisionSearch wants a workspace and at least one example";
  ExpectRefusals({
      {[&] { BlobWatch(def, nullptr, [](const BlobWrite&) {}); },
       "an argument of BlobWatch is null"},
      {[&] { BlobWatch(def, net, nullptr); }, "an argument of BlobWatch is null"},
      {[&] { CopyBlobToCpu(*ws.GetBlob("x"), nullptr); }, "argument to of CopyBlobToCpu is null"},
      {[&] { Calibration(def, nullptr); }, "argument net of Calibration is null"},
      {[&] { (void)CheckGradients(def, {"y"}, {}, none); },
       "argument ws of CheckGradients is null, want the workspace of the inputs"},
      {[&] { (void)CheckGradients(def, {}, {}, &ws); },
       "argument losses of CheckGradients is empty"},
      {[&] { (void)FindNaNOrigin(def, "y", 1, none); }, "argument ws of FindNaNOrigin is null"},
      {[&] {
         (void)CompareNets({def, none}, {def, &ws}, {});
       },
       "a workspace of a net to compare is null"},
      {[&] {
         (void)CompareNets({def, &ws}, {def, none}, {});
       },
       "a workspace of a net to compare is null"},
      {[&] { ReceiptRecorder(nullptr, nullptr); }, "argument net of ReceiptRecorder is null"},
      {[&] { (void)InferBlobShapesAndTypesFromWorkspace(none, {}); },
       "argument ws of InferBlobShapesAndTypesFromWorkspace is null"},
      {[&] { (void)ProfileNet(nullptr, [] { return true; }, {}); },
       "argument net or run of ProfileNet is null"},
      {[&] { (void)ProfileNet(net, nullptr, {}); }, "argument net or run of ProfileNet is null"},
      {[&] { (void)ProfileNet(net, [] { return true; }, {.warmup_runs = -1}); },
       "runs of ProfileNet are -1 and 20, want at least 0 and 1"},
      {[&] { (void)ProfileNet(net, [] { return true; }, {.timed_runs = 0}); },
       "runs of ProfileNet are 5 and 0, want at least 0 and 1"},
      {[&] { (void)ProfileNet(net, [] { return false; }, {}); }, "net \"n\" failed"},
      {[&] { PrecisionSearch({}, none, {.count = 1, .feed = feed}); }, search},
      {[&] { PrecisionSearch({}, &ws, {.count = 0, .feed = feed}); }, search},
      {[&] { PrecisionSearch({}, &ws, {.count = 1}); }, search},
  });
  EXPECT_NO_THROW(PrecisionSearch({}, &ws, {.count = 1, .feed = feed}));
  EXPECT_NO_THROW((void)ProfileNet(net, [] { return true; }, {.warmup_runs = 0, .timed_runs = 1}));
}

// A watch that is refused observes no operator.
TEST(InspectRefusalsTest, OfNetsFromAnotherDef) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {1, 2});
  NetBase* const net = ws.CreateNet(NetToWatch(ParseNet(kTwo)));
  int calls = 0;
  const auto watch = [&](const std::string& operators) {
    const NetDef other = NetToWatch(ParseNet("name: \"n\" " + operators));
    return MessageOf([&] { BlobWatch(other, net, [&](const BlobWrite&) { ++calls; }); });
  };
  const std::string relu = R"(op { type: "Relu" input: "x" output: "y" } )";
  const std::string wrong = "net \"n\" was not created from the def that is watched";
  EXPECT_EQ(watch(relu), wrong);
  EXPECT_EQ(watch(relu + relu), wrong);
  net->Run();
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(watch(relu + R"(op { type: "Split" input: "y" output: "c" output: "d" })"),
            "(nothing was thrown)");
  net->Run();
  EXPECT_EQ(calls, 0);  // that watch has ended
}

TEST(InspectRefusalsTest, OfRangesThatAreNone) {
  Workspace ws;
  Feed<float>(&ws, "w", {1, 1, 1, 1}, {2});
  Feed<float>(&ws, "x", {1, 1, 1, 3}, {1, NAN, INFINITY});
  NetDef written = ParseNet(
      R"(name: "n" op { type: "Conv" name: "c" input: "x" input: "w" output: "y"
                        arg { name: "kernel" i: 1 } })");
  const NetDef def = NetToWatch(written);
  NetBase* const net = ws.CreateNet(def);
  const Calibration calibration(def, net);
  net->Run();
  net->Run();
  EXPECT_EQ(
      MessageOf([&] { calibration.StateRanges(&written); }),
      "elements of input 0 (\"x\") of operator 0 (Conv \"c\") that are not finite, so it has no "
      "range: got 4, want 0");
  EXPECT_EQ(written.op(0).arg_size(), 1);
  const InputRange range = calibration.ranges().at(0);
  EXPECT_EQ(range.elements, 6);
  EXPECT_EQ(range.not_finite, 4);
  EXPECT_EQ(range.seen_max, 1);
  EXPECT_EQ(range.seen_min, 0);
}

TEST(InspectRefusalsTest, OfLabels) {
  Workspace ws;
  const auto begin = [&](const std::string& operators, std::vector<int64_t> labels,
                         const std::vector<int64_t>& dims = {1, 3}) {
    const NetDef net = ParseNet("name: \"n\" external_input: \"x\" " + operators);
    return MessageOf([&] {
      PrecisionSearch search({.inputs = {"x"}}, &ws,
                             {.count = 2,
                              .feed =
                                  [&](size_t) {
                                    Feed<float>(&ws, "x", dims, {1, 2, 3});
                                  },
                              .labels = std::move(labels)});
      search.Begin(net);
    });
  };
  const std::string copy = R"(op { type: "Copy" input: "x" output: "y" } external_output: "y")";
  const std::string shape = R"(op { type: "Shape" input: "x" output: "s" } external_output: "s")";
  EXPECT_EQ(begin(shape, {}),
            "net \"n\" has no output of floats or bytes by which precisions could be compared");
  EXPECT_EQ(begin(shape, {0, 0}), "labels are given for a net without outputs of floats");
  EXPECT_EQ(begin(copy, {2, 3}), "label 2 is 3, want a class below 3, the columns of output \"y\"");
  EXPECT_EQ(begin(copy, {0}, {3}),
            "output \"y\" has shape [3], want a row of numbers for each label");
  EXPECT_EQ(begin(copy, {0, 1, 2}),
            "labels, of which the examples need one for each row of the output: got 3, want 2");
  EXPECT_EQ(begin(copy, {0}),
            "labels, of which the examples need one for each row of the output: got 1, want 2");
  EXPECT_EQ(begin(copy, {2, 2}), "(nothing was thrown)");
}

TEST(InspectRefusalsTest, OfReceipts) {
  const Receipt receipt = {.net = "n",
                           .inputs = {{.blob = "x", .type = "float", .shape = {2}, .sum = 0xab}}};
  const std::string json = ReceiptAsJson(receipt);
  const auto error = [&](const std::string& from, const std::string& to) {
    EXPECT_NE(json.find(from), std::string::npos) << from;
    return MessageOf([&] { (void)ReceiptFromJson(absl::StrReplaceAll(json, {{from, to}}), "f"); });
  };
  const std::string none = "f is not a receipt of `caffe2 run --receipt`: ";
  const std::string sum = "00000000000000ab";
  EXPECT_EQ(error(sum, "00000000000000a"),
            none + "hash \"00000000000000a\", want 16 hexadecimal digits");
  EXPECT_EQ(error(sum, "00000000000000abc"),
            none + "hash \"00000000000000abc\", want 16 hexadecimal digits");
  EXPECT_EQ(error(sum, "000000000000000g"),
            none + "hash \"000000000000000g\", want 16 hexadecimal digits");
  EXPECT_EQ(error(sum, ""), none + "hash \"\", want 16 hexadecimal digits");
  EXPECT_EQ(error("\"outputs\": []", "\"outputs\": {}"),
            none + "a list of blobs is object, want an array");
  EXPECT_EQ(error("\"outputs\": []", "\"outputs\": \"y\""),
            none + "a list of blobs is string, want an array");
  EXPECT_EQ(error("\"receipt\": 1", "\"receipt\": 2"),
            none + "format of the receipt: got 2, want 1");
  EXPECT_EQ(error("\"receipt\": 1", "\"recipe\": 1"), none + "it has no field \"receipt\"");
  EXPECT_EQ(error(sum, "fedcba9876543210"), "(nothing was thrown)");
}

TEST(InspectRefusalsTest, OfRandomNets) {
  Workspace ws;
  std::vector<float> powers;  // each mask has another sum
  for (int i = 0; i < 22; ++i) powers.push_back(static_cast<float>(1 << i));
  Feed<float>(&ws, "x", {22}, powers);
  const std::string message = MessageOf([&] {
    (void)CheckGradients(
        ParseNet(R"(name: "n" op { type: "Dropout" input: "x" output: "y" output: "m"
                                       arg { name: "is_test" i: 0 } })"),
        {"y"}, {}, &ws);
  });
  EXPECT_EQ(message.find("two runs of net \"n_forward\" give the losses "), 0u) << message;
  EXPECT_NE(message.find(", want the same: random operators cannot be checked"), std::string::npos);
  const auto options = [&](const GradientCheckOptions& options) {
    return MessageOf([&] { (void)CheckGradients(ParseNet(kTwo), {"a"}, options, &ws); });
  };
  const std::string begin = "step, tolerance and most_elements of CheckGradients are ";
  EXPECT_EQ(options({.step = 0}), begin + "0, 0.01 and 100, want more than 0");
  EXPECT_EQ(options({.tolerance = 0}), begin + "0.015625, 0 and 100, want more than 0");
  EXPECT_EQ(options({.most_elements = 0}), begin + "0.015625, 0.01 and 0, want more than 0");
}

// What a callback keeps of a blob, and what is left in a blob that had another value.
TEST(CopiedBlobTest, HoldsTensorsStringsAndQuantizedTensors) {
  Blob from, to;
  *to.GetMutable<std::string>() = "before";
  EXPECT_FALSE(CopyBlobToCpu(from, &to));
  EXPECT_FALSE(to.meta().IsSet());
  *to.GetMutable<std::string>() = "before";
  from.GetMutableTensor(CPU)->Resize(2);
  EXPECT_FALSE(CopyBlobToCpu(from, &to));  // without data
  EXPECT_FALSE(to.meta().IsSet());
  *from.GetMutable<std::vector<int>>() = {1};
  EXPECT_FALSE(CopyBlobToCpu(from, &to));
  *from.GetMutable<std::string>() = "text";
  EXPECT_TRUE(CopyBlobToCpu(from, &to));
  EXPECT_EQ(to.Get<std::string>(), "text");
  auto* const quantized = from.GetMutable<Int8TensorCPU>();
  quantized->scale = 0.5f;
  quantized->zero_point = 3;
  quantized->t.Resize(2);
  std::fill_n(quantized->t.mutable_data<uint8_t>(), 2, uint8_t{7});
  EXPECT_TRUE(CopyBlobToCpu(from, &to));
  std::fill_n(quantized->t.mutable_data<uint8_t>(), 2, uint8_t{8});
  const auto& copy = to.Get<Int8TensorCPU>();
  EXPECT_EQ(copy.scale, 0.5f);
  EXPECT_EQ(copy.zero_point, 3);
  EXPECT_EQ(copy.t.data<uint8_t>()[1], 7);  // not shared
  OperatorDef op;
  op.set_type("Conv");
  EXPECT_EQ(OperatorText(op), "Conv");
  op.set_name("c1");
  EXPECT_EQ(OperatorText(op), "Conv \"c1\"");
}

TEST(TimeObserverTest, ObserversNeedANet) {
  EXPECT_EQ(MessageOf([] { RunCountNetObserver observer(nullptr); }),
            "argument net of RunCountNetObserver is null");
}

TEST(TimeObserverTest, CountsRunsOfTheNetAndItsOperators) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {1, 2});
  NetBase* const net = ws.CreateNet(ParseNet(kTwo));
  auto* const times =
      dynamic_cast<const TimeObserver*>(net->AttachObserver(std::make_unique<TimeObserver>(net)));
  auto* const counts = dynamic_cast<const RunCountNetObserver*>(
      net->AttachObserver(std::make_unique<RunCountNetObserver>(net)));
  ASSERT_TRUE(times != nullptr && counts != nullptr);
  for (int i = 0; i < 3; ++i) net->Run();
  EXPECT_GE(times->average_time(), times->average_time_children());
  EXPECT_EQ(const_cast<RunCountNetObserver*>(counts)->debugInfo(),
            "3 runs of net \"n\", 6 runs of its operators");
  const std::string text = const_cast<TimeObserver*>(times)->debugInfo();
  EXPECT_EQ(text.find("3 runs of net \"n\", "), 0u) << text;
}

}  // namespace
}  // namespace caffe2rt::test::inspect_refusals_test
