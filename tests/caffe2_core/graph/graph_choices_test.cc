// Nets inside of nets, blobs that are read twice, and sums over several nets or operators.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/graph/device_fallback.h"
#include "caffe2_core/graph/drawing/argument_text.h"
#include "caffe2_core/graph/drawing/repeated_blocks.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/gradient_sums.h"
#include "caffe2_core/graph/memory_report.h"
#include "caffe2_core/graph/net_blobs.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/graph/net_drawing.h"
#include "caffe2_core/graph/net_summary.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/graph/stated_inputs.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::graph_choices_test {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TensorShape FloatsOf(const std::vector<int64_t>& dims) {
  return CreateTensorShape(dims, TensorProto::FLOAT);
}

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
      R"(op { type: "ConvTranspose" input: "x" input: "f" output: "y" arg { name: "kernel" i: 3 } } )";
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

// What an operator writes of which nothing is known has not the shape of the value before.
TEST(GraphChoicesTest, UnknownValuesReplaceKnownShapes) {
  EnsureBuiltinOperators();
  ShapeMap shapes = {{"x", FloatsOf({2, 3})}};
  const NetDef net = ParseNet(R"(op { type: "Copy" input: "x" output: "y" }
      op { type: "NoSuchOperator" input: "y" output: "y" }
      op { type: "Copy" input: "y" output: "z" } op { type: "Copy" input: "x" output: "u" })");
  const std::vector<OpShapes> found = InferOpShapes({&net}, &shapes);
  EXPECT_FALSE(found[0].outputs[0].unknown_shape());
  EXPECT_TRUE(found[2].inputs[0].unknown_shape());
  EXPECT_TRUE(found[2].outputs[0].unknown_shape());
  EXPECT_FALSE(shapes.contains("y"));
  EXPECT_FALSE(found[3].outputs[0].unknown_shape());
}

TEST(GraphChoicesTest, GradientsOfComputedReshapesHaveTheOldShape) {
  EnsureBuiltinOperators();
  ShapeMap shapes = {{"x", FloatsOf({2, 3})},
                     {"s", CreateTensorShape(std::vector<int64_t>{1}, TensorProto::INT64)}};
  const NetDef net = ParseNet(R"(
      op { type: "Reshape" input: "x" input: "s" output: "y" output: "old" }
      op { type: "Reshape" input: "y" input: "old" output: "dx" is_gradient_op: true })");
  (void)InferOpShapes({&net}, &shapes);
  ASSERT_TRUE(shapes.contains("dx"));
  EXPECT_THAT(shapes.at("dx").dims(), ElementsAre(2, 3));
}

// One number may be added to tensors of any shape: it does not say what the others have.
TEST(GraphChoicesTest, SumsSpreadShapesWithDims) {
  EnsureBuiltinOperators();
  ShapeMap shapes = {{"one", FloatsOf({})}, {"pair", FloatsOf({2})}, {"u", UnknownShape()}};
  const NetDef net = ParseNet(R"(
      op { type: "Sum" input: "one" input: "pair" input: "u" output: "y" }
      op { type: "Copy" input: "u" output: "z" })");
  (void)InferOpShapes({&net}, &shapes);
  ASSERT_TRUE(shapes.contains("z"));
  EXPECT_THAT(shapes.at("z").dims(), ElementsAre(2));
}

std::string PositionText(const std::vector<RepeatedBlock>& blocks, size_t op) {
  const FoldedPosition position = PositionIn(blocks, op);
  std::string text = MakeString(position.first);
  for (const FoldedPosition::Step& step : position.steps)
    text += MakeString(" ", step.block, ":", step.range);
  return text;
}

// Three ranges of 2 operators from 0 on, one operator, four of 1, and two of 4, in which the last
// three are alike.
TEST(GraphChoicesTest, PositionsAreThoseOfTheFirstRanges) {
  const std::vector<RepeatedBlock> blocks = {{0, 2, 3}, {7, 1, 4}, {11, 4, 2}, {12, 1, 3}};
  const std::pair<size_t, const char*> rows[] = {
      {0, "0 0:0"},       {1, "1 0:0"},       {2, "0 0:1"},   {5, "1 0:2"},   {6, "6"},
      {7, "7 1:0"},       {10, "7 1:3"},      {11, "11 2:0"}, {15, "11 2:1"}, {12, "12 2:0 3:0"},
      {14, "12 2:0 3:2"}, {18, "12 2:1 3:2"}, {19, "19"}};
  for (const auto& [op, want] : rows) EXPECT_EQ(PositionText(blocks, op), want) << op;
}

TEST(GraphChoicesTest, FramesSayHowOftenTheyRepeat) {
  EnsureBuiltinOperators();
  std::string text =
      R"(name: "n" external_output: "d" op { type: "Copy" input: "x" output: "a" } )";
  for (const auto& [in, out] : {std::pair("a", "b"), {"b", "c"}}) {
    text += MakeString("op { type: 'Conv' input: '", in, "' input: 'w", out, "' output: '", out,
                       "c' arg { name: 'kernel' i: 3 } } op { type: 'Relu' input: '", out,
                       "c' output: '", out, "r' } op { type: 'Sum' input: '", out, "r' input: '",
                       in, "' output: '", out, "' } ");
  }
  const NetDef net = ParseNet(text + R"(op { type: "Softmax" input: "c" output: "d" })");
  const NetSummary summary = SummarizeNet({}, net, {});
  const NetDrawing drawing({{&net, &summary, "n"}}, {.fold = true});
  NetDrawingLayout layout = drawing.PlainLayout();
  for (NetDrawingLayout::Box& box : layout.groups) box = {0, 0, 50, 50};
  const std::string svg = drawing.Svg(layout);
  EXPECT_NE(svg.find("<title>repeated 2 times</title>"), std::string::npos);
  EXPECT_NE(svg.find("class=\"frame repeated\""), std::string::npos);
  EXPECT_NE(svg.find("class=\"frame net\""), std::string::npos);
}

TEST(GraphChoicesTest, OperatorsOfOneNodeAreNamedByTheirFirstOutputs) {
  const NetDef net = ParseNet(R"(name: "n"
      op { type: "NoSuchFill" name: "first" output: "a" output: "b" }
      op { type: "NoSuchFill" name: "second" output: "c" output: "d" })");
  const NetSummary summary = SummarizeNet({}, net, {});
  const NetDrawing drawing({{&net, &summary, "n"}}, {});
  const std::string page = drawing.Html(drawing.PlainLayout());
  EXPECT_NE(page.find(R"("others":[["a","first"],["c","second"]])"), std::string::npos);
}

// The remedy belongs to the first input that no operator writes later.
TEST(GraphChoicesTest, RemediesFollowTheFirstInputWithoutAWriter) {
  const std::vector<NetProblem> problems = CheckNetDataflow(ParseNet(R"(
      name: "n" external_input: "q"
      op { type: "Sum" input: "a" input: "b" input: "c" input: "d" input: "c" output: "y" }
      op { type: "Copy" input: "q" output: "b" } op { type: "Copy" input: "q" output: "a" })"));
  const auto text = [](const char* input) {
    return MakeString("op Sum: Source for input ", input, " is unknown for net n, operator 0");
  };
  ASSERT_EQ(problems.size(), 5u);
  EXPECT_EQ(problems[0].text, text("a") + "; operator 2 writes it later");
  EXPECT_EQ(problems[1].text, text("b") + "; operator 1 writes it later");
  EXPECT_EQ(problems[2].text,
            text("c") +
                "; add external_input: \"c\", \"d\" to net \"n\", which must list all of "
                "its inputs or none");
  EXPECT_EQ(problems[3].text, text("d"));
  EXPECT_EQ(problems[4].text, text("c"));
}

TEST(GraphChoicesTest, EachGradientBelongsToItsParameter) {
  EXPECT_THAT(GradientMakerBase::MatchGradsToParams(ParseOp(
                  "type: 'A' output: 'w_grad' output: 'y' output: 'b_grad' output: 'c_grad' "
                  "output: '_grad' output: 'd_grads' output: 'e_grad_values'")),
              ElementsAre(Pair("b_grad", "b"), Pair("c_grad", "c"), Pair("w_grad", "w")));
}

// Operators with nets may write names such as those of terms: these are passed over.
TEST(GraphChoicesTest, TermsOfSumsHaveFreeNames) {
  std::vector<OperatorDef> ops = {
      ParseOp("type: 'If' output: 'x_grad' output: '_x_grad_autosplit_0' "
              "arg { name: 'then_net' n { op { type: 'Copy' input: 'q' output: 'x_grad' } } }"),
      ParseOp("type: 'CopyGradient' output: 'x_grad'")};
  std::vector<GradientPart> parts(2);
  for (size_t i = 0; i < 2; ++i) {
    parts[i].gradient.dense_ = "x_grad";
    parts[i].dense = GradientOutput{i, 0};
  }
  EXPECT_EQ(AddUpGradients("x", parts, &ops).dense_, "x_grad");
  ASSERT_EQ(ops.size(), 3u);
  EXPECT_EQ(ops[0].output(0), "x_grad");
  EXPECT_EQ(ops[1].output(0), "_x_grad_autosplit_1");
  EXPECT_EQ(ops[2].type(), "Sum");
  EXPECT_THAT(ops[2].input(), ElementsAre("x_grad", "_x_grad_autosplit_1"));
  EXPECT_THAT(ops[2].output(), ElementsAre("x_grad"));
}

// A total of which operators make the values alone is named after these.
TEST(GraphChoicesTest, SparseTotalsAreNamedAfterTheirParts) {
  std::vector<OperatorDef> ops = {ParseOp("type: 'A' output: 'v_grad_values'"),
                                  ParseOp("type: 'A' output: 'v_grad_values'")};
  std::vector<GradientPart> parts(2);
  for (size_t i = 0; i < 2; ++i) {
    parts[i].gradient.indices_ = i == 0 ? "first" : "second";
    parts[i].gradient.values_ = "v_grad_values";
    parts[i].values = GradientOutput{i, 0};
  }
  const GradientWrapper total = AddUpGradients("w", parts, &ops);
  EXPECT_EQ(total.indices_, "v_grad_indices_concat");
  EXPECT_EQ(total.values_, "v_grad_values_concat");
  ASSERT_EQ(ops.size(), 4u);
  EXPECT_THAT(ops[2].input(), ElementsAre("first", "second"));
  EXPECT_THAT(ops[3].input(),
              ElementsAre("_v_grad_values_autosplit_0", "_v_grad_values_autosplit_1"));
  EXPECT_EQ(ops[1].output(0), "_v_grad_values_autosplit_1");
}

}  // namespace
}  // namespace caffe2rt::test::graph_choices_test
