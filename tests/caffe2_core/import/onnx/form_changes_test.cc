// Nodes at the last opset that has a form and at the first that has another, defaults of ONNX Runtime's
// operators, and bodies that scan several inputs: values worked out by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/caffe2_core/import/onnx/imported_onnx.h"
#include "tests/caffe2_core/import/onnx/node_forms.h"

namespace caffe2rt::test::form_changes_test {
namespace {

using namespace node_forms;  // used throughout this file

struct Given {
  std::string name;
  std::vector<int64_t> dims;
  std::vector<float> values;
};
struct Case {
  std::string nodes;  // and constants; they write y
  Given x;
  std::vector<int64_t> dims;
  std::vector<double> want;
  int64_t opset = 18;
  std::string output = "y";
  std::vector<Given> more = {};
};

void Check(const std::vector<Case>& cases) {
  for (const Case& row : cases) {
    SCOPED_TRACE(MakeString(row.nodes, " of opset ", row.opset));
    std::string graph = row.nodes + "output { name: '" + row.output + "' } ";
    NamedTensors inputs;
    std::vector<Given> all = row.more;
    all.push_back(row.x);
    for (const Given& given : all) {
      std::vector<std::string> dims;
      for (const int64_t dim : given.dims) dims.push_back(MakeString(dim));
      graph += OnnxValue("input", given.name, dims);
      inputs.emplace_back(given.name, FloatTensor(given.dims, given.values));
    }
    const std::string bytes =
        OnnxBytes(graph, row.opset, "opset_import { domain: 'com.microsoft' version: 1 } ");
    EXPECT_EQ(OnnxImportError(bytes), "");
    if (!OnnxImportError(bytes).empty()) continue;
    const Tensor got = RunOnnxBytes(bytes, inputs, row.output);
    EXPECT_EQ(got.dims(), row.dims);
    ASSERT_EQ(got.numel(), static_cast<int64_t>(row.want.size()));
    for (size_t i = 0; i < row.want.size(); ++i) {
      const double value = got.IsType<float>() ? static_cast<double>(got.data<float>()[i])
                                               : static_cast<double>(got.data<int64_t>()[i]);
      EXPECT_NEAR(value, row.want[i], 2e-5) << i;
    }
  }
}

std::string Contrib(std::string node) {
  return node.insert(node.find("op_type"), "domain: 'com.microsoft' ");
}
std::string Reals(const std::string& name, const std::vector<int64_t>& dims,
                  const std::vector<double>& values) {
  return Constant(name, kFloat, dims, values);
}

TEST(FormChangesTest, ReductionsHadTheirAxesAsAttributes) {
  const Given x = {"x", {2, 3}, {1, 2, 3, 4, 5, 6}};
  const double sums = std::log(std::exp(1) + std::exp(2) + std::exp(3));
  const struct {
    const char* type;
    int64_t last;
    std::vector<double> want;
  } rows[] = {{"ReduceL1", 17, {6, 15}},
              {"ReduceL2", 17, {std::sqrt(14.0), std::sqrt(77.0)}},
              {"ReduceLogSum", 17, {std::log(6.0), std::log(15.0)}},
              {"ReduceLogSumExp", 17, {sums, sums + 3}},
              {"ReduceMax", 17, {3, 6}},
              {"ReduceMean", 17, {2, 5}},
              {"ReduceMin", 17, {1, 4}},
              {"ReduceProd", 17, {6, 120}},
              {"ReduceSum", 12, {6, 15}},
              {"ReduceSumSquare", 17, {14, 77}}};
  for (const auto& row : rows) {
    const std::string drop = Int("keepdims", 0);
    Check({{Node(row.type, "x", Ints("axes", {-1}) + drop), x, {2}, row.want, row.last},
           {List("a", {1}) + Node(row.type, "xa", drop), x, {2}, row.want, row.last + 1}});
  }
}

TEST(FormChangesTest, AttributesBecameInputs) {
  const Given x = {"x", {2, 3}, {1, 2, 3, 4, 5, 6}}, image = {"x", {1, 1, 1, 2}, {1, 3}};
  const std::vector<double> same = {1, 2, 3, 4, 5, 6}, twice = {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6};
  const std::string bounds = Number("l", 2) + Number("h", 4),
                    pads = List("p", {0, 1, 0, 0}) + Number("v", 9);
  Check(
      {{Node("Clip", "x", Float("min", 2) + Float("max", 4)), x, {2, 3}, {2, 2, 3, 4, 4, 4}, 10},
       {bounds + Node("Clip", "xlh"), x, {2, 3}, {2, 2, 3, 4, 4, 4}, 11},
       {Node("Pad", "x", Ints("pads", {0, 1, 0, 0}) + Float("value", 9)),
        x,
        {2, 4},
        {9, 1, 2, 3, 9, 4, 5, 6},
        10},
       {pads + Node("Pad", "xpv"), x, {2, 4}, {9, 1, 2, 3, 9, 4, 5, 6}, 11},
       {Node("Reshape", "x", Ints("shape", {3, -1})), x, {3, 2}, same, 4},
       {List("s", {3, -1}) + Node("Reshape", "xs"), x, {3, 2}, same, 5},
       {Node("Split", "x", Ints("split", {1, 2}) + Int("axis", 1), "zy"),
        x,
        {2, 2},
        {2, 3, 5, 6},
        12},
       {List("s", {1, 2}) + Node("Split", "xs", Int("axis", 1), "zy"), x, {2, 2}, {2, 3, 5, 6}, 13},
       {List("t", {2}, true) + List("a", {0}, true) + Node("Tile", "xta"), x, {4, 3}, twice, 5},
       {List("t", {2, 1}) + Node("Tile", "xt"), x, {4, 3}, twice, 6},
       {Node("TopK", "x", Int("k", 1) + Int("axis", 0), "yi"), x, {1, 3}, {4, 5, 6}, 9},
       {List("k", {1}) + Node("TopK", "xk", "", "yi"), x, {2, 1}, {3, 6}, 10},
       {Node("Cast", "x", Text("to", "INT64")), x, {2, 3}, same, 5},
       {Node("Cast", "x", Int("to", kInt64)), x, {2, 3}, same, 6},
       {Node("Concat", "xx"), x, {2, 6}, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}, 3},
       {Reals("s", {4}, {1, 1, 1, 2}) + Node("Resize", "xs", Text("mode", "linear")),
        image,
        {1, 1, 1, 4},
        {1, 2, 3, 3},
        10},
       {Reals("s", {4}, {1, 1, 1, 2}) + Node("Resize", "x-s", Text("mode", "linear")),
        image,
        {1, 1, 1, 4},
        {1, 1.5, 2.5, 3},
        11}});
}

// The mean of the batch is 4 and its variance 1, the stored ones are 1 and 4.
TEST(FormChangesTest, MoreOutputsOfOldNormalizationsMeanTraining) {
  const std::string channel =
      Reals("s", {1}, {2}) + Reals("b", {1}, {10}) + Reals("m", {1}, {1}) + Reals("v", {1}, {4});
  const Given x = {"x", {1, 1, 1, 2}, {3, 5}};
  const std::string epsilon = Float("epsilon", 5);
  const std::vector<double> of_batch = {10 - 2 / std::sqrt(6.0), 10 + 2 / std::sqrt(6.0)};
  const std::vector<double> stored = {10 + 4.0 / 3, 10 + 8.0 / 3};
  const auto node = [&](const std::string& more, const char* outputs) {
    return channel + Node("BatchNormalization", "xsbmv", epsilon + more, outputs);
  };
  Check({{node("", "ypqrt"), x, {1, 1, 1, 2}, of_batch, 13},
         {node("", "ypq"), x, {1, 1, 1, 2}, of_batch, 9},
         {node("", "y"), x, {1, 1, 1, 2}, stored, 13},
         {node(Int("is_test", 1), "ypqrt"), x, {1, 1, 1, 2}, stored, 6}});
}

TEST(FormChangesTest, TrainingOutputsOfOldModelsAreNotWritten) {
  const std::string drops = Node("Cast", "m", Int("to", kFloat));
  const Given x = {"x", {2, 3}, {1, 2, 3, 4, 5, 6}};
  const std::vector<double> ones(6, 1);
  Check({{Node("Dropout", "x", Float("ratio", 0.5f), "zm") + drops, x, {2, 3}, ones, 11},
         {Reals("r", {}, {0.5}) + Node("Dropout", "xr", "", "zm") + drops, x, {2, 3}, ones, 12}});
}

// --- operators of ONNX Runtime ---

TEST(FormChangesTest, DefaultsOfRuntime) {
  const std::string table = Constant("i", kInt32, {1, 1}, {0}) + Reals("w", {1, 2}, {1e-6, -1e-6}) +
                            Reals("p", {1, 2}, {0, 0}) + Reals("g", {2}, {1, 1}) +
                            Reals("b", {2}, {0, 0});
  const double half = std::sqrt(0.5);  // of variances of 1e-12, as large as the default of epsilon
  const Given x = {"x", {1, 2}, {1e-6f, -1e-6f}}, one = {"x", {1}, {0.5f}};
  const std::vector<double> pair = {half, -half};
  const std::string ones = Reals("g", {2}, {1, 1}) + Reals("k", {2}, {0, 0});
  const std::string quantized = Constant("l", kUint8, {1}, {0}) + Reals("s", {}, {1}) +
                                Constant("z", kUint8, {}, {200}) + Reals("q", {}, {0.25}) +
                                Constant("t", kUint8, {}, {20});
  Check({{ones + Contrib(Node("SkipLayerNormalization", "xkg")), x, {1, 2}, pair},
         {ones + Contrib(Node("SkipSimplifiedLayerNormalization", "xkg")), x, {1, 2}, pair},
         {table + Contrib(Node("EmbedLayerNormalization", "i-wp-gb")), x, {1, 1, 2}, pair},
         {Reals("g", {1}, {1}) + Node("SimplifiedLayerNormalization", "xg"),
          {"x", {1, 1}, {0.001f}},
          {1, 1},
          {0.001 / std::sqrt(1.1e-5)}},
         {Reals("g", {1}, {1}) +
              Node("SimplifiedLayerNormalization", "xg", Int("axis", 0) + Float("epsilon", 0)),
          {"x", {2, 2}, {1, 1, 3, 5}},
          {2, 2},
          {1.0 / 3, 1.0 / 3, 1, 5.0 / 3}},
         // A slope of 0.01: -200 becomes -2, in steps of 0.25 from 20.
         {quantized + Contrib(Node("QLinearLeakyRelu", "lszqt", "", "h")) +
              Node("Cast", "h", Int("to", kFloat)),
          x,
          {1},
          {12}},
         {Node("ScaledTanh"), one, {1}, {std::tanh(0.5)}},
         {Node("ParametricSoftplus"), one, {1}, {std::log1p(std::exp(0.5))}},
         {Node("ImageScaler", "x", "attribute { name: 'bias' type: FLOATS floats: [1, 10] } "),
          {"x", {1, 2, 1, 1}, {3, 4}},
          {1, 2, 1, 1},
          {4, 14}},
         // A column times a row.
         {Constant("a", kUint8, {1, 2}, {1, 3}) + Reals("s", {}, {0.5}) +
              Constant("b", kUint8, {1, 2}, {2, 4}) + Reals("t", {}, {2}) +
              Contrib(Node("QGemm", "as-bt", Int("transA", 1))),
          x,
          {2, 2},
          {2, 4, 6, 12}}});
}

// The bias of the keys shows in the keys that are given, behind those of the past.
TEST(FormChangesTest, BiasesOfKeysAndValues) {
  const std::string parts = Reals("k", {1, 1, 2}, {1, 1}) + Reals("v", {1, 1, 2}, {1, 10}) +
                            Reals("b", {6}, {0, 0, 3, 4, 5, 6}) + Reals("p", {1, 2, 1, 1}, {7, 8});
  const Given x = {"x", {1, 1, 2}, {0, 0}};
  const std::string two = Int("num_heads", 2);
  const std::string plain = parts + Contrib(Node("MultiHeadAttention", "xkvb", two, "ymn")),
                    behind = parts + Contrib(Node("MultiHeadAttention", "xkvb--pp", two, "ymn"));
  Check({{plain, x, {1, 1, 2}, {6, 16}},
         {plain, x, {1, 2, 1, 1}, {4, 5}, 18, "m"},
         {plain, x, {1, 2, 1, 1}, {6, 16}, 18, "n"},
         {behind, x, {1, 1, 2}, {6.5, 12}},
         {behind, x, {1, 2, 2, 1}, {7, 4, 8, 5}, 18, "m"},
         {behind, x, {1, 2, 2, 1}, {7, 6, 8, 16}, 18, "n"}});
}

// --- scans ---

// The state grows by both elements; their sums and products are items.
std::string Scan(const std::string& inputs, const std::string& outputs, const std::string& more) {
  return Node("Scan", inputs,
              Int("num_scan_inputs", 2) + more +
                  "attribute { name: 'body' type: GRAPH g { input { name: 'a' } input { name: 'b' "
                  "} input { name: 'c' } " +
                  Node("Add", "bc", "", "e") + Node("Add", "ae", "", "s") +
                  Node("Identity", "s", "", "i") + Node("Mul", "bc", "", "m") +
                  "output { name: 's' } output { name: 'i' } output { name: 'm' } } } ",
              outputs);
}

// Steps of x are (1, 2), (3, 4), (5, 6), and of z the columns from the last to the first: (30, 60),
// (20, 50), (10, 40).
TEST(FormChangesTest, ScansHaveAxesAndDirectionsOfTheirOwn) {
  const std::string more = Ints("scan_input_axes", {0, 1}) + Ints("scan_input_directions", {0, 1}) +
                           Ints("scan_output_axes", {0, 1}) +
                           Ints("scan_output_directions", {0, 1});
  const Given x = {"x", {3, 2}, {1, 2, 3, 4, 5, 6}};
  const std::vector<Given> others = {{"t", {2}, {100, 200}},
                                     {"z", {2, 3}, {10, 20, 30, 40, 50, 60}}};
  const std::string all = Scan("txz", "fyp", more);
  const std::vector<double> products = {50, 60, 30, 240, 200, 120};
  Check({{all, x, {2}, {169, 362}, 18, "f", others},
         {all, x, {3, 2}, {131, 262, 154, 316, 169, 362}, 18, "y", others},
         {all, x, {2, 3}, products, 18, "p", others},
         {Scan("txz", "f-p", more), x, {2, 3}, products, 18, "p", others},
         // One step of each.
         {Scan("txz", "fyp", ""),
          {"x", {1, 2}, {1, 2}},
          {1, 2},
          {111, 222},
          18,
          "y",
          {{"t", {2}, {100, 200}}, {"z", {1, 2}, {10, 20}}}}});
}

// --- sequences ---

TEST(FormChangesTest, SequencesCountFromBothEnds) {
  const Given x = {"x", {3, 2}, {1, 2, 3, 4, 5, 6}};
  const std::string rows = Node("SplitToSequence", "x", Int("keepdims", 0), "s");
  const auto at = [](int64_t i) { return List("i", {i}, true); };
  const std::string none = Reals("b", {2}, {7, 8});
  Check({// Before the last row, or at the end.
         {rows + none + at(-1) + Node("SequenceInsert", "sbi", "", "q") +
              Node("ConcatFromSequence", "q", Int("axis", 0)),
          x,
          {8},
          {1, 2, 3, 4, 7, 8, 5, 6}},
         {rows + none + at(3) + Node("SequenceInsert", "sbi", "", "q") +
              Node("ConcatFromSequence", "q", Int("axis", -1)),
          x,
          {8},
          {1, 2, 3, 4, 5, 6, 7, 8}},
         {rows + at(0) + Node("SequenceErase", "si", "", "q") +
              Node("ConcatFromSequence", "q", Int("axis", 0) + Int("new_axis", 1)),
          x,
          {2, 2},
          {3, 4, 5, 6}},
         {rows + at(-2) + Node("SequenceErase", "si", "", "q") +
              Node("ConcatFromSequence", "q", Int("axis", -1) + Int("new_axis", 1)),
          x,
          {2, 2},
          {1, 5, 2, 6}},
         {rows + at(-3) + Node("SequenceAt", "si"), x, {2}, {1, 2}},
         // Parts of two rows and of the rest keep their axis.
         {List("p", {2}, true) + Node("SplitToSequence", "xp", Int("keepdims", 0), "s") + at(1) +
              Node("SequenceAt", "si"),
          x,
          {1, 2},
          {5, 6}},
         {List("p", {2}, true) + Node("SplitToSequence", "xp", "", "s") + at(0) +
              Node("SequenceAt", "si"),
          x,
          {2, 2},
          {1, 2, 3, 4}},
         {Node("SplitToSequence", "x", Int("axis", -1) + Int("keepdims", 0), "s") + at(1) +
              Node("SequenceAt", "si"),
          x,
          {3},
          {2, 4, 6}},
         {Node("SequenceEmpty", "", "", "s") + Node("SequenceLength", "s"), x, {}, {0}},
         {Node("SequenceConstruct", "xxx", "", "s") + Node("SequenceLength", "s"), x, {}, {3}}});
}

}  // namespace
}  // namespace caffe2rt::test::form_changes_test
