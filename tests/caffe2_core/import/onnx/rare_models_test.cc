// What models rarely have: sizes of scalars, nodes of several outputs, defaults of functions' attributes, pads that are
// as wide as their window, scans with fewer axes than inputs, initializers with a given shape. Values worked out by hand.
#include <gtest/gtest.h>

#include "tests/caffe2_core/import/onnx/imported_onnx.h"
#include "tests/caffe2_core/import/onnx/node_forms.h"

namespace caffe2rt::test::rare_models_test {
namespace {

using namespace node_forms;  // used throughout this file

const std::string kRareY = "output { name: 'y' } ";

// --- sizes ---

TEST(RareModelsTest, SizesOfScalarsAndOfEmptyTensors) {
  const struct {
    std::vector<std::string> dims;
    std::vector<int64_t> shape;
    int64_t size;
  } rows[] = {{{}, {}, 1}, {{"1"}, {1}, 1}, {{"5"}, {5}, 5}, {{"2", "3"}, {2, 3}, 6}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.size);
    const auto run = [&](const std::string& nodes) {
      return RunOnnxBytes(
          OnnxBytes(OnnxValue("input", "x", row.dims) + nodes + kRareY, 18),
          {{"x", FloatTensor(row.shape, std::vector<float>(static_cast<size_t>(row.size), 2))}},
          "y");
    };
    const Tensor size = run(Node("Size"));
    EXPECT_EQ(size.dims(), std::vector<int64_t>{});
    EXPECT_EQ(IntsOf(size), std::vector<int64_t>{row.size});
    EXPECT_EQ(IntsOf(run(Node("Shape"))), row.shape);
    // The size of a value that a node writes, and of the shape itself.
    EXPECT_EQ(IntsOf(run(Node("Neg", "x", "", "a") + Node("Size", "a"))),
              std::vector<int64_t>{row.size});
    EXPECT_EQ(IntsOf(run(Node("Shape", "x", "", "a") + Node("Size", "a"))),
              std::vector<int64_t>{static_cast<int64_t>(row.shape.size())});
    // As many as the size.
    const Tensor filled = run(Node("Size", "x", "", "a") + List("m", {-1}) +
                              Node("Reshape", "am", "", "b") + Node("ConstantOfShape", "b"));
    EXPECT_EQ(filled.dims(), std::vector<int64_t>{row.size});
  }
  const auto constant = [](const std::string& tensor) {
    return IntsOf(RunOnnxBytes(OnnxBytes(tensor + Node("Size", "t") + kRareY, 18), {}, "y"));
  };
  EXPECT_EQ(constant(Constant("t", kFloat, {0, 3}, {})), std::vector<int64_t>{0});
  EXPECT_EQ(constant(Constant("t", kFloat, {}, {7})), std::vector<int64_t>{1});
  EXPECT_EQ(constant(List("t", {7}, true)), std::vector<int64_t>{1});
  // Without a shape, the run knows.
  for (const int64_t rows : {1, 3}) {
    const std::string bytes =
        OnnxBytes(OnnxValue("input", "x", {"n", "2"}) + Node("Size") + kRareY, 18);
    EXPECT_EQ(
        IntsOf(RunOnnxBytes(
            bytes,
            {{"x", FloatTensor({rows, 2}, std::vector<float>(static_cast<size_t>(2 * rows), 1))}},
            "y")),
        std::vector<int64_t>{2 * rows});
  }
}

// --- names of nodes ---

TEST(RareModelsTest, ANodeOfSeveralOutputsHasTheBlobOfTheFirst) {
  const auto blobs = [](const std::string& graph, const std::string& more = "") {
    return ImportOnnxFromMemory(
               OnnxBytes(OnnxValue("input", "x", {"2", "2"}) + graph + kRareY, 18, more), {})
        .node_blobs;
  };
  using Blobs = std::map<std::string, std::string>;
  const std::string halves = Int("num_outputs", 2) + Int("axis", 0);
  EXPECT_EQ(blobs(Node("Split", "x", halves, "ay") + Node("Neg", "a", "", "b")),
            (Blobs{{"n", "a"}}));
  EXPECT_EQ(blobs(Node("Split", "x", halves, "ya")), (Blobs{{"n", "y"}}));
  EXPECT_EQ(blobs(List("k", {1}) + Node("TopK", "xk", "", "yi")), (Blobs{{"n", "y"}}));
  EXPECT_EQ(blobs(List("k", {1}) + Node("TopK", "xk", "", "iy")), (Blobs{{"n", "i"}}));
  // The first one is absent.
  EXPECT_EQ(blobs(Node("Split", "x", halves, "-y")), Blobs{});
  const std::string function =
      "opset_import { domain: 'own' version: 1 } functions { name: 'F' domain: 'own' input: 'a' "
      "output: 'b' output: 'c' opset_import { version: 17 } node { op_type: 'Exp' name: 'e' input: "
      "'a' output: 'b' } node { op_type: 'Neg' name: 'g' input: 'a' output: 'c' } } ";
  const Blobs called =
      blobs("node { op_type: 'F' domain: 'own' name: 'call' input: 'x' output: 'z' output: 'y' } ",
            function);
  EXPECT_EQ(called.at("call"), called.at("call/e"));
  EXPECT_NE(called.at("call"), called.at("call/g"));
}

// --- functions ---

std::string Defaulted(const std::string& defaults, const std::string& nodes) {
  return "opset_import { domain: 'own' version: 1 } functions { name: 'F' domain: 'own' input: 'a' "
         "output: 'b' " +
         defaults + "opset_import { version: 17 } " + nodes + "} ";
}
std::string Default(std::string attribute) {
  return attribute.replace(0, std::string("attribute").size(), "attribute_proto");
}
std::string Reference(const std::string& name, const char* type, const std::string& own) {
  return MakeString("attribute { name: '", name, "' type: ", type, " ref_attr_name: '", own,
                    "' } ");
}
std::vector<float> CallDefaulted(const std::string& function, const std::string& attributes) {
  return FloatsOf(
      RunOnnxBytes(OnnxBytes(OnnxValue("input", "x", {"2", "2"}) +
                                 "node { op_type: 'F' domain: 'own' input: 'x' output: 'y' " +
                                 attributes + "} " + kRareY,
                             17, function),
                   {{"x", FloatTensor({2, 2}, {1, -2, 3, -4})}}, "y"));
}

// (1, -2 | 3, -4)
TEST(RareModelsTest, AttributesOfFunctionsOfEachKindHaveDefaults) {
  using Values = std::vector<float>;
  const std::string joins = Defaulted(Default(Int("side", 1)),
                                      Node("Concat", "aa", Reference("axis", "INT", "side"), "b"));
  EXPECT_EQ(CallDefaulted(joins, ""), (Values{1, -2, 1, -2, 3, -4, 3, -4}));
  EXPECT_EQ(CallDefaulted(joins, Int("side", 0)), (Values{1, -2, 3, -4, 1, -2, 3, -4}));
  EXPECT_EQ(CallDefaulted(joins, Int("side", -2)), (Values{1, -2, 3, -4, 1, -2, 3, -4}));
  // An attribute of another name is not it.
  EXPECT_EQ(CallDefaulted(joins, Int("axis", 0)), (Values{1, -2, 1, -2, 3, -4, 3, -4}));

  const std::string turns =
      Defaulted(Default(Ints("order", {0, 1})),
                Node("Transpose", "a", Reference("perm", "INTS", "order"), "b"));
  EXPECT_EQ(CallDefaulted(turns, ""), (Values{1, -2, 3, -4}));
  EXPECT_EQ(CallDefaulted(turns, Ints("order", {1, 0})), (Values{1, 3, -2, -4}));

  const std::string leaks =
      Defaulted(Default(Float("slope", 0.5)),
                Node("LeakyRelu", "a", Reference("alpha", "FLOAT", "slope"), "b"));
  EXPECT_EQ(CallDefaulted(leaks, ""), (Values{1, -1, 3, -2}));
  EXPECT_EQ(CallDefaulted(leaks, Float("slope", 0.25)), (Values{1, -0.5, 3, -1}));

  const std::string adds =
      Defaulted(Default("attribute { name: 'more' type: FLOATS floats: 10 floats: 20 } "),
                Node("Constant", "", Reference("value_floats", "FLOATS", "more"), "c") +
                    Node("Add", "ac", "", "b"));
  EXPECT_EQ(CallDefaulted(adds, ""), (Values{11, 18, 13, 16}));
  EXPECT_EQ(CallDefaulted(adds, "attribute { name: 'more' type: FLOATS floats: 5 floats: 6 } "),
            (Values{6, 4, 8, 2}));

  // A text: "max" adds up to the greatest, "none" overwrites.
  const std::string puts =
      Defaulted(Default(Text("how", "add")),
                Node("Constant", "",
                     "attribute { name: 'value' type: TENSOR t { data_type: 7 dims: 1 dims: 1 "
                     "int64_data: 1 } } ",
                     "i") +
                    Node("Constant", "",
                         "attribute { name: 'value' type: TENSOR t { data_type: 1 dims: 1 dims: "
                         "2 float_data: 100 float_data: 200 } } ",
                         "u") +
                    Node("ScatterND", "aiu", Reference("reduction", "STRING", "how"), "b"));
  EXPECT_EQ(CallDefaulted(puts, ""), (Values{1, -2, 103, 196}));
  EXPECT_EQ(CallDefaulted(puts, Text("how", "none")), (Values{1, -2, 100, 200}));
}

TEST(RareModelsTest, DefaultsOfFunctionsReachTheFunctionsInside) {
  const std::string inner = "functions { name: 'G' domain: 'own' input: 'a' output: 'b' " +
                            Default(Int("side", 0)) + "opset_import { version: 17 } " +
                            Node("Concat", "aa", Reference("axis", "INT", "side"), "b") + "} ";
  const auto outer = [&](const std::string& attributes) {
    return Defaulted(
               Default(Int("way", 1)) + "opset_import { domain: 'own' version: 1 } ",
               "node { op_type: 'G' domain: 'own' input: 'a' output: 'b' " + attributes + "} ") +
           inner;
  };
  using Values = std::vector<float>;
  const Values rows = {1, -2, 3, -4, 1, -2, 3, -4}, columns = {1, -2, 1, -2, 3, -4, 3, -4};
  EXPECT_EQ(CallDefaulted(outer(""), ""), rows);
  EXPECT_EQ(CallDefaulted(outer(Int("side", 1)), ""), columns);
  EXPECT_EQ(CallDefaulted(outer(Reference("side", "INT", "way")), ""), columns);
  EXPECT_EQ(CallDefaulted(outer(Reference("side", "INT", "way")), Int("way", 0)), rows);
}

// --- windows ---

// Caffe2's pools have pads less than the window of their axis, and of the same axis at its end.
TEST(RareModelsTest, PoolsAreThoseOfCaffe2WhereEachPadIsLessThanItsWindow) {
  const struct {
    std::vector<int64_t> kernel, pads;
    bool plain;
  } rows[] = {
      {{3, 3}, {2, 2, 2, 2}, true},  {{3, 3}, {3, 0, 0, 0}, false}, {{3, 3}, {0, 3, 0, 0}, false},
      {{3, 3}, {0, 0, 3, 0}, false}, {{3, 3}, {0, 0, 0, 3}, false}, {{3, 1}, {2, 0, 2, 0}, true},
      {{3, 1}, {0, 1, 0, 0}, false}, {{3, 1}, {0, 0, 0, 1}, false}, {{1, 3}, {0, 2, 0, 2}, true},
      {{1, 3}, {1, 0, 0, 0}, false}, {{1, 3}, {0, 0, 1, 0}, false}, {{2, 3}, {1, 2, 1, 2}, true},
      {{2, 3}, {2, 0, 0, 0}, false}, {{2, 3}, {0, 0, 2, 0}, false}};
  for (const char* type : {"MaxPool", "AveragePool", "LpPool"}) {
    for (const auto& row : rows) {
      const std::string node =
          Node(type, "x", Ints("kernel_shape", row.kernel) + Ints("pads", row.pads));
      SCOPED_TRACE(node);
      const OnnxModel model = ImportOnnxFromMemory(
          OnnxBytes(OnnxValue("input", "x", {"1", "2", "5", "6"}) + node + kRareY, 18), {});
      ASSERT_EQ(model.predict_net.op_size(), 1);
      EXPECT_EQ(model.predict_net.op(0).type(), row.plain ? type : MakeString("ONNX", type));
    }
  }
}

// The greatest of each window of (1, 2 | 3, 4), which has columns of padding alone.
TEST(RareModelsTest, WindowsMayLieInThePaddingAlone) {
  const auto run = [](const char* type, const std::string& more) {
    return RunOnnxBytes(OnnxBytes(OnnxValue("input", "x", {"1", "1", "2", "2"}) +
                                      Node(type, "x", Ints("kernel_shape", {2, 1}) + more) + kRareY,
                                  18),
                        {{"x", FloatTensor({1, 1, 2, 2}, {1, 2, 3, 4})}}, "y");
  };
  const Tensor sums = run("LpPool", Ints("pads", {0, 1, 0, 1}) + Int("p", 1));
  EXPECT_EQ(sums.dims(), (std::vector<int64_t>{1, 1, 1, 4}));
  EXPECT_EQ(FloatsOf(sums), (std::vector<float>{0, 4, 6, 0}));
  const Tensor means = run("AveragePool", Ints("pads", {0, 1, 0, 0}) + Int("count_include_pad", 1));
  EXPECT_EQ(means.dims(), (std::vector<int64_t>{1, 1, 1, 3}));
  EXPECT_EQ(FloatsOf(means), (std::vector<float>{0, 2, 3}));
  const Tensor most = run("MaxPool", Ints("pads", {1, 0, 1, 0}));
  EXPECT_EQ(most.dims(), (std::vector<int64_t>{1, 1, 3, 2}));
  EXPECT_EQ(FloatsOf(most), (std::vector<float>{1, 2, 3, 4, 3, 4}));
}

// --- scans ---

// Lists that are shorter than the scanned inputs go on with zeros.
TEST(RareModelsTest, ScansWithoutAnAxisForEachListTakeTheFirst) {
  const auto scan = [](const std::string& more) {
    return Node("Scan", "x",
                Int("num_scan_inputs", 1) + more +
                    "attribute { name: 'body' type: GRAPH g { input { name: 'a' } " +
                    Node("Neg", "a", "", "b") + Node("Add", "aa", "", "c") +
                    "output { name: 'b' } output { name: 'c' } } } ",
                "zy");
  };
  const auto run = [&](const std::string& more, const char* output = "y") {
    return RunOnnxBytes(OnnxBytes(OnnxValue("input", "x", {"2", "3"}) + scan(more) +
                                      "output { name: 'z' } " + kRareY,
                                  18),
                        {{"x", FloatTensor({2, 3}, {1, 2, 3, 4, 5, 6})}}, output);
  };
  using Values = std::vector<float>;
  const Values plain = {2, 4, 6, 8, 10, 12}, turned = {2, 8, 4, 10, 6, 12};
  EXPECT_EQ(FloatsOf(run("")), plain);
  EXPECT_EQ(FloatsOf(run(Ints("scan_output_directions", {1}))), plain);
  EXPECT_EQ(FloatsOf(run(Ints("scan_output_directions", {1}), "z")),
            (Values{-4, -5, -6, -1, -2, -3}));
  EXPECT_EQ(FloatsOf(run(Ints("scan_output_directions", {0, 1}))), (Values{8, 10, 12, 2, 4, 6}));
  EXPECT_EQ(FloatsOf(run(Ints("scan_output_directions", {0, 1}), "z")),
            (Values{-1, -2, -3, -4, -5, -6}));
  EXPECT_EQ(FloatsOf(run(Ints("scan_output_axes", {1}))), plain);
  for (const int64_t last : {1, -1}) {
    const Tensor y = run(Ints("scan_output_axes", {0, last}));
    EXPECT_EQ(y.dims(), (std::vector<int64_t>{3, 2}));
    EXPECT_EQ(FloatsOf(y), turned);
    EXPECT_EQ(run(Ints("scan_output_axes", {0, last}), "z").dims(), (std::vector<int64_t>{2, 3}));
  }
  EXPECT_EQ(FloatsOf(run(Ints("scan_input_axes", {-1}))), turned);
  EXPECT_EQ(FloatsOf(run(Ints("scan_input_axes", {1}) + Ints("scan_output_axes", {-1, -1}))),
            plain);
}

// --- inputs ---

TEST(RareModelsTest, InitializersAreInputsWhereTheirShapeIsGiven) {
  const std::string bytes =
      OnnxBytes(OnnxValue("input", "x", {"2"}) + OnnxValue("input", "w", {"2"}) +
                    Constant("w", kFloat, {2}, {10, 20}) + Node("Add", "xw") + kRareY,
                18);
  const auto names = [&](const OnnxImportOptions& options) {
    std::vector<std::string> found;
    for (const OnnxInput& input : ImportOnnxFromMemory(bytes, options).inputs)
      found.push_back(input.name);
    return found;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names({}), Names{"x"});
  EXPECT_EQ(names({.input_shapes = {{"w", {2}}}}), (Names{"x", "w"}));
  EXPECT_EQ(names({.given_shapes = {{"w", {2}}}}), (Names{"x", "w"}));
  EXPECT_EQ(names({.input_shapes = {{"x", {2}}}}), Names{"x"});
  const NamedTensors x = {{"x", FloatTensor({2}, {1, 2})}};
  NamedTensors both = x;
  both.emplace_back("w", FloatTensor({2}, {5, 6}));
  EXPECT_EQ(FloatsOf(RunOnnxBytes(bytes, x, "y")), (std::vector<float>{11, 22}));
  EXPECT_EQ(FloatsOf(RunOnnxBytes(bytes, both, "y", {.given_shapes = {{"w", {2}}}})),
            (std::vector<float>{6, 8}));
  // The shape that is stated goes before the one of given data.
  const OnnxModel model =
      ImportOnnxFromMemory(OnnxBytes(OnnxValue("input", "x", {"n"}) + Node("Neg") + kRareY, 18),
                           {.input_shapes = {{"x", {3}}}, .given_shapes = {{"x", {4}}}});
  EXPECT_EQ(model.inputs[0].dims, std::vector<int64_t>{3});
  EXPECT_EQ(model.output_dims.at("y"), std::vector<int64_t>{3});
}

// --- dropout ---

TEST(RareModelsTest, DropoutInTrainingThatDropsNothing) {
  const auto graph = [](const std::string& ratio, const char* inputs) {
    return OnnxBytes(OnnxValue("input", "x", {"2"}) + ratio + Constant("t", kBool, {}, {1}) +
                         Constant("f", kBool, {}, {0}) + Node("Dropout", inputs, "", "ym") +
                         kRareY + "output { name: 'm' } ",
                     18);
  };
  const NamedTensors x = {{"x", FloatTensor({2}, {3, -4})}};
  const std::string none = Constant("r", kFloat, {}, {0}), half = Constant("r", kFloat, {}, {0.5});
  for (const std::string& bytes : {graph(none, "xrt"), graph(none, "xrf"), graph(half, "xrf"),
                                   graph(half, "xr"), graph("", "x")}) {
    EXPECT_EQ(FloatsOf(RunOnnxBytes(bytes, x, "y")), (std::vector<float>{3, -4}));
    const Tensor mask = RunOnnxBytes(bytes, x, "m");
    ASSERT_TRUE(mask.IsType<bool>());
    EXPECT_TRUE(mask.data<bool>()[0] && mask.data<bool>()[1]);
  }
  for (const std::string& bytes : {graph(half, "xrt"), graph("", "x-t")}) {
    EXPECT_NE(OnnxImportError(bytes).find("training_mode is true, want false"), std::string::npos);
  }
}

}  // namespace
}  // namespace caffe2rt::test::rare_models_test
