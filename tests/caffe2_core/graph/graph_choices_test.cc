// Nets inside of nets, blobs that are read twice, and sums over several nets or operators.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/graph/device_fallback.h"
#include "caffe2_core/graph/drawing/argument_text.h"
#include "caffe2_core/graph/memory_report.h"
#include "caffe2_core/graph/net_blobs.h"
#include "caffe2_core/graph/net_drawing.h"
#include "caffe2_core/graph/net_summary.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/stated_inputs.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::graph_choices_test {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(GraphChoicesTest, FormatsOfOutputsAreTexts) {
  NetDef net;
  StateOutputFormat("y", "image", &net);
  StateOutputFormat("z", "", &net);
  ASSERT_EQ(net.arg_size(), 2);
  EXPECT_EQ(net.arg(0).name(), "output_format:y");
  EXPECT_EQ(net.arg(0).s(), "image");
  Argument* const number = net.add_arg();
  number->set_name("output_format:n");
  number->set_i(3);
  net.add_arg()->set_name("output_format:none");
  EXPECT_THAT(StatedOutputFormats(net), ElementsAre(Pair("y", "image"), Pair("z", "")));
  EXPECT_THAT(StatedOutputFormats(NetDef()), ElementsAre());
}

// A list of 32 dims is the longest that counts.
TEST(GraphChoicesTest, ListsOfManyDimsDoNotCount) {
  for (const int dims : {31, 32, 33}) {
    NetDef net;
    StateInput("x", {TensorProto::FLOAT, true, std::vector<int64_t>(dims, 1)}, &net);
    StateOutput("y", std::vector<int64_t>(dims, 1), &net);
    EXPECT_EQ(StatedInputs(net).at("x").has_dims, dims <= 32) << dims;
    EXPECT_EQ(StatedOutputs(net).size(), dims <= 32 ? 1u : 0u) << dims;
  }
}

TEST(GraphChoicesTest, NetsInsideHaveDevicesOfTheirOwn) {
  const char* const text = R"(op { type: "If"
      arg { name: "then_net" n { device_option { device_type: 1 device_id: 2 random_seed: 5 }
              op { type: "If" arg { name: "else_net" n { device_option { device_type: 1 } } } } } }
      arg { name: "nets" nets { device_option { device_type: 1 } } } })";
  for (const bool falls_back : {true, false}) {
    NetDef net = ParseNet(text);
    if (falls_back) {
      EXPECT_THAT(FallBackToCPU(&net), ElementsAre("CUDA"));
    } else {
      MoveToCPU(&net);
    }
    const NetDef& inner = net.op(0).arg(0).n();
    EXPECT_EQ(inner.device_option().device_type(), CPU);
    EXPECT_FALSE(inner.device_option().has_device_id());
    EXPECT_EQ(inner.device_option().random_seed(), 5u);
    EXPECT_EQ(inner.op(0).arg(0).n().device_option().device_type(), CPU);
    EXPECT_EQ(net.op(0).arg(1).nets(0).device_option().device_type(), CPU);
  }
}

TEST(GraphChoicesTest, BlobsReadTwiceAreOneInput) {
  const NetDef net = ParseNet(R"(
      op { type: "Mul" input: "x" input: "x" output: "a" }
      op { type: "Sum" input: "a" input: "x" input: "w" output: "x" }
      op { type: "Sum" input: "x" input: "w" output: "y" })");
  const NetBlobs blobs(net);
  std::vector<std::string> names;
  for (const uint32_t blob : blobs.read_first()) names.push_back(blobs.name(blob));
  EXPECT_THAT(names, ElementsAre("x", "w"));
  names.clear();
  for (const uint32_t blob : blobs.written()) names.push_back(blobs.name(blob));
  EXPECT_THAT(names, ElementsAre("a", "x", "y"));
}

TEST(GraphChoicesTest, WindowsOfOneAxisHaveOneNumber) {
  const auto text = [](const std::string& args) {
    return DetailText(ParseOp("type: \"Conv\" " + args));
  };
  const std::string kernel = "arg { name: 'kernels' ints: 5 } ";
  EXPECT_EQ(text(kernel), "5");
  EXPECT_EQ(text(kernel + "arg { name: 'strides' ints: 2 }"), "5, stride 2");
  EXPECT_EQ(text(kernel + "arg { name: 'strides' ints: 1 }"), "5");
  EXPECT_EQ(text(kernel + "arg { name: 'pads' ints: 3 ints: 3 }"), "5, pad 3");
  EXPECT_EQ(text(kernel + "arg { name: 'pads' ints: 3 ints: 4 }"), "5, pad 3/4");
  EXPECT_EQ(text(kernel + "arg { name: 'dilations' ints: 4 }"), "5, dilation 4");
  EXPECT_EQ(text(kernel + "arg { name: 'group' i: 0 }"), "5, group 0");
}

TEST(GraphChoicesTest, DrawingsCountTheOperatorsOfAllNets) {
  const NetDef two = ParseNet(R"(name: "n" op { type: "Relu" input: "x" output: "y" }
                                 op { type: "Relu" input: "y" output: "z" })");
  const NetSummary summary = SummarizeNet({}, two, {});
  const std::vector<DrawnNet> nets = {{&two, &summary, "a"}, {&two, &summary, "b"}};
  EXPECT_NO_THROW(NetDrawing(nets, {.max_svg_ops = 4}));
  ExpectThrows([&] { NetDrawing(nets, {.max_svg_ops = 3}); },
               "operators of net \"n\" to draw: got 4, want at most 3");
  const NetDrawing drawing(nets, {});
  const NetDrawingLayout layout = drawing.PlainLayout();
  EXPECT_NO_THROW((void)drawing.Svg(layout));
  for (const int list : {0, 1, 2}) {
    NetDrawingLayout other = layout;
    if (list == 0) other.nodes.emplace_back();
    if (list == 1) other.edges.emplace_back();
    if (list == 2) other.groups.emplace_back();
    ExpectThrows([&] { (void)drawing.Svg(other); }, "the layout belongs to another drawing");
  }
}

// What an init net writes counts where a net reads it; a net of fills counts what it writes alone.
TEST(GraphChoicesTest, NetsOfFillsCountWithoutInitNetsOnly) {
  EnsureBuiltinOperators();
  const NetDef init =
      ParseNet(R"(op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 6 } })");
  const NetDef fills = ParseNet(R"(
      op { type: "ConstantFill" output: "a" arg { name: "shape" ints: 4 } }
      op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 3 } })");
  EXPECT_EQ(SummarizeNet({}, fills, {}).parameters, 7);
  EXPECT_EQ(SummarizeNet({&init}, fills, {}).parameters, 0);
  EXPECT_EQ(SummarizeNet({&init}, fills, {}).parameter_bytes, 0);
  const NetDef reads = ParseNet(R"(op { type: "Relu" input: "w" output: "y" })");
  EXPECT_EQ(SummarizeNet({&init}, reads, {}).parameters, 6);
}

// Operators run one after the other: the largest scratch memory counts, wherever it is.
TEST(GraphChoicesTest, TheLargestScratchMemoryMayBeThatOfAnyOperator) {
  EnsureBuiltinOperators();
  const std::string conv =
      R"(op { type: "Conv" input: "x" input: "f" output: "y" arg { name: "kernel" i: 3 } } )";
  const std::string relu = R"(op { type: "Relu" input: "x" output: "z" } )";
  const auto scratch = [](const std::string& text) {
    const ShapeMap seeds = {
        {"x", CreateTensorShape(std::vector<int64_t>{1, 16, 30, 30}, TensorProto::FLOAT)},
        {"f", CreateTensorShape(std::vector<int64_t>{16, 16, 3, 3}, TensorProto::FLOAT)}};
    return ReportMemory({}, ParseNet(text), seeds, {"f"}, {}, 2).scratch_bytes;
  };
  const int64_t want = scratch(conv);
  EXPECT_GT(want, 0);
  EXPECT_EQ(scratch(relu), 0);
  EXPECT_EQ(scratch(conv + relu), want);
  EXPECT_EQ(scratch(relu + conv), want);
}

}  // namespace
}  // namespace caffe2rt::test::graph_choices_test
