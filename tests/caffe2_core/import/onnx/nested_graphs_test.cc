// Functions, branches and loops: opsets and attributes of functions, names and constants of graphs inside
// of others, shapes that branches and iterations change. Values worked out by hand.
#include <gtest/gtest.h>

#include "caffe2_core/graph/stated_inputs.h"
#include "tests/caffe2_core/import/onnx/imported_onnx.h"

namespace caffe2rt::test::nested_graphs_test {
namespace {

constexpr int kFloat = 1, kInt64 = 7, kBool = 9;

std::string Int(const std::string& name, int64_t value) {
  return MakeString("attribute { name: '", name, "' type: INT i: ", value, " } ");
}
std::string Float(const std::string& name, float value) {
  return MakeString("attribute { name: '", name, "' type: FLOAT f: ", value, " } ");
}
std::string Graph(const std::string& name, const std::string& content) {
  return "attribute { name: '" + name + "' type: GRAPH g { name: 'inside' " + content + " } } ";
}
std::string Floats(const std::string& name, const std::vector<float>& values) {
  std::string text =
      MakeString("initializer { name: '", name, "' data_type: 1 dims: ", values.size(), " ");
  for (const float value : values) text += MakeString("float_data: ", value, " ");
  return text + "} ";
}
std::string Whole(const std::string& name, int64_t value) {
  return MakeString("initializer { name: '", name, "' data_type: 7 dims: 1 int64_data: ", value,
                    " } ");
}
// Names are one word each; "-" is an absent one.
std::string Names(const std::string& field, const std::string& names) {
  std::string text;
  for (size_t begin = 0; begin < names.size();) {
    const size_t end = std::min(names.find(' ', begin), names.size());
    const std::string name = names.substr(begin, end - begin);
    text += field + ": '" + (name == "-" ? "" : name) + "' ";
    begin = end + 1;
  }
  return text;
}
std::string Node(const std::string& type, const std::string& inputs, const std::string& outputs,
                 const std::string& attributes = "", const std::string& domain = "") {
  return "node { op_type: '" + type + "' domain: '" + domain + "' name: 'n_" + outputs + "' " +
         Names("input", inputs) + Names("output", outputs) + attributes + "} ";
}
// A function of the domain "own".
std::string Function(const std::string& name, const std::string& inputs, const std::string& outputs,
                     int64_t opset, const std::string& content) {
  return "functions { name: '" + name + "' domain: 'own' " + Names("input", inputs) +
         Names("output", outputs) +
         MakeString("opset_import { version: ", opset,
                    " } opset_import { domain: 'own' version: 1 } ") +
         content + " } ";
}
std::string Model(const std::string& graph, const std::string& functions = "", int64_t opset = 17) {
  return OnnxBytes(graph, opset, "opset_import { domain: 'own' version: 1 } " + functions);
}
std::string Output(const std::string& name) { return "output { name: '" + name + "' } "; }

Tensor BoolOf(bool value) {
  Tensor tensor(std::vector<int64_t>{}, CPU);
  *tensor.mutable_data<bool>() = value;
  return tensor;
}

const std::string kX = OnnxValue("input", "x", {"2", "2"}), kY = Output("y");
const NamedTensors kFour = {{"x", FloatTensor({2, 2}, {1, -2, 3, -4})}};

// --- functions ---

// Softmax of opset 12 has rows from axis 1 on; from opset 13 on it has the last axis alone.
TEST(NestedGraphsTest, FunctionsHaveTheirOwnOpsets) {
  const std::string content = Node("Softmax", "a", "b");
  const std::string graph =
      OnnxValue("input", "x", {"1", "2", "2"}) + Node("F", "x", "y", "", "own") + kY;
  const NamedTensors zeros = {{"x", FloatTensor({1, 2, 2}, {0, 0, 0, 0})}};
  EXPECT_EQ(FloatsOf(RunOnnxBytes(Model(graph, Function("F", "a", "b", 12, content)), zeros, "y")),
            std::vector<float>(4, 0.25f));
  EXPECT_EQ(
      FloatsOf(RunOnnxBytes(Model(graph, Function("F", "a", "b", 13, content), 12), zeros, "y")),
      std::vector<float>(4, 0.5f));
  const std::string error = OnnxImportError(Model(graph, Function("F", "a", "b", 99, content)));
  EXPECT_NE(error.find("Softmax of opset 99, known are up to"), std::string::npos) << error;
  // The opset of the model does not count inside.
  EXPECT_EQ(OnnxImportError(Model(graph, Function("F", "a", "b", 13, content), 99)), "");
}

TEST(NestedGraphsTest, OperatorsInsideOfFunctionsAndBranchesAreListedWhenTheyAreMissing) {
  const std::string wonder = Node("Wonder", "a", "b");
  EXPECT_NE(
      OnnxImportError(Model(kX + Node("Relu", "x", "y") + kY, Function("F", "a", "b", 17, wonder)))
          .find("1 operator of the model is not supported: Wonder (node \"n_b\")"),
      std::string::npos);
  const std::string branch = Graph("then_branch", Node("Wonder", "x", "t") + Output("t"));
  EXPECT_NE(
      OnnxImportError(Model(kX + OnnxValue("input", "c", {}, kBool) +
                            Node("If", "c", "y", branch + Graph("else_branch", Output("x"))) + kY))
          .find("Wonder (node \"n_t\")"),
      std::string::npos);
  // A domain that is not known, without a function of the name.
  EXPECT_NE(OnnxImportError(Model(kX + Node("G", "x", "y", "", "own") + kY))
                .find("own::G (node \"n_y\")"),
            std::string::npos);
}

TEST(NestedGraphsTest, FunctionsMayLeaveOutInputsOutputsAndAttributes) {
  const std::string scale = "attribute { name: 'alpha' type: FLOAT ref_attr_name: 'slope' } ";
  const std::string functions =
      // The second input and output may be absent.
      Function("Bound", "a low", "b c", 17, Node("Clip", "a low", "b") + Node("Neg", "a", "c")) +
      // Without a slope the default of the node counts.
      Function("Leak", "a", "b", 17, "attribute: 'slope' " + Node("LeakyRelu", "a", "b", scale)) +
      Function("Both", "a", "b", 17,
               "attribute: 'slope' " +
                   Node("Leak", "a", "t",
                        "attribute { name: 'slope' type: FLOAT ref_attr_name: 'slope' } ", "own") +
                   Node("Add", "t t", "b"));
  const auto run = [&](const std::string& nodes) {
    return FloatsOf(RunOnnxBytes(Model(kX + nodes + kY, functions), kFour, "y"));
  };
  using Values = std::vector<float>;
  EXPECT_EQ(run(Node("Bound", "x", "y", "", "own")), (Values{1, -2, 3, -4}));
  EXPECT_EQ(run("initializer { name: 'l' data_type: 1 float_data: 0 } " +
                Node("Bound", "x l", "y z", "", "own")),
            (Values{1, 0, 3, 0}));
  EXPECT_EQ(run(Node("Bound", "x -", "- y", "", "own")), (Values{-1, 2, -3, 4}));
  EXPECT_EQ(run(Node("Leak", "x", "y", Float("slope", 0.5f), "own")), (Values{1, -1, 3, -2}));
  const Values plain = run(Node("Leak", "x", "y", "", "own"));
  EXPECT_FLOAT_EQ(plain[1], -0.02f);
  EXPECT_EQ(run(Node("Both", "x", "y", Float("slope", 0.25f), "own")), (Values{2, -1, 6, -2}));
}

// Two calls of a function, whose inner values have the same names.
TEST(NestedGraphsTest, CallsKeepTheirValuesApart) {
  const std::string function = Function("F", "a", "b", 17,
                                        Node("Constant", "", "one", Float("value_float", 1)) +
                                            Node("Add", "a one", "t") + Node("Mul", "t t", "b"));
  const std::string graph = kX + Node("F", "x", "t", "", "own") + Node("F", "t", "u", "", "own") +
                            Node("Add", "t u", "y") + kY;
  // (x + 1)^2 is 4, 1, 16, 9; again 25, 4, 289, 100.
  EXPECT_EQ(FloatsOf(RunOnnxBytes(Model(graph, function), kFour, "y")),
            (std::vector<float>{29, 5, 305, 109}));
}

// --- branches ---

std::string Branches(const std::string& then_graph, const std::string& else_graph,
                     const std::string& outputs = "y") {
  return OnnxValue("input", "c", {}, kBool) +
         Node("If", "c", outputs,
              Graph("then_branch", then_graph) + Graph("else_branch", else_graph));
}

void ExpectBranches(const std::string& graph, const std::vector<float>& then_values,
                    const std::vector<float>& else_values) {
  for (const bool condition : {true, false}) {
    NamedTensors inputs = kFour;
    inputs.emplace_back("c", BoolOf(condition));
    EXPECT_EQ(FloatsOf(RunOnnxBytes(Model(graph), inputs, "y")),
              condition ? then_values : else_values);
  }
}

TEST(NestedGraphsTest, BranchesSeeTheirOwnAndOuterNames) {
  // w is a constant outside and another one in a branch; t is a value of each branch.
  const std::string then_graph =
      Floats("w", {10, 10}) + Node("Mul", "x w", "t") + Node("Add", "t outer", "u") + Output("u");
  const std::string else_graph = Node("Mul", "x w", "t") + Output("t");
  ExpectBranches(
      kX + Floats("w", {2, 3}) + Node("Neg", "x", "outer") + Branches(then_graph, else_graph) + kY,
      {9, -18, 27, -36}, {2, -6, 6, -12});
}

TEST(NestedGraphsTest, BranchesMayHandOnOuterValuesAndConstants) {
  ExpectBranches(kX + Branches(Output("x"), Floats("k", {7, 8}) + Output("k")) + kY, {1, -2, 3, -4},
                 {7, 8});
  ExpectBranches(
      kX +
          Branches(Node("Neg", "x", "a") + Node("Abs", "x", "b") + Output("a") + Output("b"),
                   Node("Abs", "x", "a") + Node("Neg", "x", "b") + Output("a") + Output("b"),
                   "z y") +
          kY,
      {1, 2, 3, 4}, {-1, 2, -3, 4});
}

TEST(NestedGraphsTest, BranchesInsideOfBranches) {
  const std::string inner = Node("If", "d", "t",
                                 Graph("then_branch", Node("Neg", "x", "p") + Output("p")) +
                                     Graph("else_branch", Node("Add", "x x", "p") + Output("p"))) +
                            Output("t");
  const std::string graph = kX + OnnxValue("input", "d", {}, kBool) +
                            Branches(inner, Node("Abs", "x", "p") + Output("p")) + kY;
  const struct {
    bool c, d;
    std::vector<float> want;
  } rows[] = {{true, true, {-1, 2, -3, 4}},
              {true, false, {2, -4, 6, -8}},
              {false, true, {1, 2, 3, 4}},
              {false, false, {1, 2, 3, 4}}};
  for (const auto& row : rows) {
    NamedTensors inputs = kFour;
    inputs.emplace_back("c", BoolOf(row.c));
    inputs.emplace_back("d", BoolOf(row.d));
    EXPECT_EQ(FloatsOf(RunOnnxBytes(Model(graph), inputs, "y")), row.want);
  }
}

// What is stated of the output holds for both branches: a dim that differs is open, and so is a rank.
TEST(NestedGraphsTest, ShapesOfBranchesAreJoined) {
  const auto stated = [](const std::string& then_graph, const std::string& else_graph) {
    const OnnxModel model =
        ImportOnnxFromMemory(Model(kX + Branches(then_graph, else_graph) + kY), {});
    const auto found = model.output_dims.find("y");
    return found == model.output_dims.end() ? std::vector<int64_t>{-9} : found->second;
  };
  using Dims = std::vector<int64_t>;
  const std::string same = Node("Neg", "x", "p") + Output("p");
  const std::string rows = Node("Concat", "x x", "p", Int("axis", 0)) + Output("p");
  const std::string columns = Node("Concat", "x x x", "p", Int("axis", 1)) + Output("p");
  const std::string list =
      Node("Flatten", "x", "f") + Whole("m", -1) + Node("Reshape", "f m", "p") + Output("p");
  EXPECT_EQ(stated(same, same), (Dims{2, 2}));
  EXPECT_EQ(stated(same, rows), (Dims{-1, 2}));
  EXPECT_EQ(stated(columns, same), (Dims{2, -1}));
  EXPECT_EQ(stated(columns, rows), (Dims{-1, -1}));
  EXPECT_EQ(stated(same, list), (Dims{-9}));
}

// A shape behind an If is not folded as if one branch had run.
TEST(NestedGraphsTest, ShapesBehindBranchesAreThoseOfTheRun) {
  const std::string graph = kX +
                            Branches(Node("Concat", "x x", "p", Int("axis", 0)) + Output("p"),
                                     Node("Neg", "x", "p") + Output("p"), "t") +
                            Node("Shape", "t", "s") + Node("Cast", "s", "y", Int("to", kFloat)) +
                            kY;
  ExpectBranches(graph, {4, 2}, {2, 2});
}

// --- loops ---

// The body has the inputs i, k and the carried values.
std::string Loop(const std::string& inputs, const std::string& outputs, const std::string& carried,
                 const std::string& nodes, const std::string& results) {
  std::string body;
  for (const std::string field : {"i", "k"}) body += "input { name: '" + field + "' } ";
  for (size_t i = 0; i < carried.size(); i += 2)
    body += std::string("input { name: '") + carried[i] + "' } ";
  body += nodes;
  for (size_t i = 0; i < results.size(); i += 2)
    body += std::string("output { name: '") + results[i] + "' } ";
  return Node("Loop", inputs, outputs, Graph("body", body));
}

// a keeps its shape, and b grows by a row in each iteration.
TEST(NestedGraphsTest, CarriedValuesMayGrow) {
  const std::string keep = Node("Identity", "k", "q");
  const std::string grown = Node("Concat", "b x", "r", Int("axis", 0));
  const auto graph = [&](const std::string& carried, const std::string& results,
                         const std::string& inputs, const std::string& outputs) {
    return kX + OnnxValue("input", "n", {}, kInt64) + Floats("one", {1}) +
           Loop("n - " + inputs, outputs, carried, keep + Node("Add", "a one", "p") + grown,
                results) +
           Node("Shape", "y", "s") + Node("Cast", "s", "z", Int("to", kFloat)) + Output("z") + kY;
  };
  NamedTensors inputs = kFour;
  inputs.emplace_back("n", IntTensor({}, {3}));
  for (const std::string& bytes :
       {Model(graph("a b", "q p r", "x x", "t y")), Model(graph("b a", "q r p", "x x", "y t"))}) {
    EXPECT_EQ(FloatsOf(RunOnnxBytes(bytes, inputs, "z")), (std::vector<float>{8, 2}));
    const Tensor y = RunOnnxBytes(bytes, inputs, "y");
    EXPECT_EQ(y.dims(), (std::vector<int64_t>{8, 2}));
    EXPECT_EQ(FloatsOf(y)[7], -4);
  }
}

// Inside of the body, too, the shape of a value that grows is that of the iteration.
TEST(NestedGraphsTest, BodiesSeeTheShapeOfTheIteration) {
  const std::string nodes = Node("Identity", "k", "q") +
                            Node("Concat", "b x", "r", Int("axis", 0)) + Node("Shape", "b", "s") +
                            Node("Cast", "s", "e", Int("to", kFloat));
  const std::string graph =
      kX + OnnxValue("input", "n", {}, kInt64) + Loop("n - x", "t y", "b", nodes, "q r e") + kY;
  NamedTensors inputs = kFour;
  inputs.emplace_back("n", IntTensor({}, {3}));
  const Tensor y = RunOnnxBytes(Model(graph), inputs, "y");
  EXPECT_EQ(y.dims(), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(FloatsOf(y), (std::vector<float>{2, 2, 4, 2, 6, 2}));
}

TEST(NestedGraphsTest, LoopsEndByTheirConditionOrTheirCount) {
  // v doubles while it is below 50.
  const std::string nodes =
      Node("Add", "v v", "w") + Node("Less", "w limit", "q") + Node("Identity", "w", "e");
  const std::string head = OnnxValue("input", "x", {}) + OnnxValue("input", "n", {}, kInt64) +
                           OnnxValue("input", "c", {}, kBool) +
                           "initializer { name: 'limit' data_type: 1 float_data: 50 } ";
  const auto run = [&](const std::string& inputs, int64_t n, bool c, const char* output = "y") {
    return RunOnnxBytes(Model(head + Loop(inputs, "y z", "v", nodes, "q w e") + kY + Output("z")),
                        {{"x", FloatTensor({}, {1})}, {"n", IntTensor({}, {n})}, {"c", BoolOf(c)}},
                        output);
  };
  EXPECT_EQ(FloatsOf(run("- c x", 0, true)), (std::vector<float>{64}));
  EXPECT_EQ(FloatsOf(run("n c x", 3, true)), (std::vector<float>{8}));
  EXPECT_EQ(FloatsOf(run("n c x", 99, true)), (std::vector<float>{64}));
  // Without a condition at the beginning, that of the body has no effect.
  EXPECT_EQ(FloatsOf(run("n - x", 8, false)), (std::vector<float>{256}));
  EXPECT_EQ(FloatsOf(run("n c x", 3, false)), (std::vector<float>{1}));
  EXPECT_EQ(FloatsOf(run("n - x", 0, true)), (std::vector<float>{1}));
  EXPECT_EQ(FloatsOf(run("n c x", 3, true, "z")), (std::vector<float>{2, 4, 8}));
  EXPECT_EQ(FloatsOf(run("- c x", 0, true, "z")), (std::vector<float>{2, 4, 8, 16, 32, 64}));
}

// The counter, a constant of the body, and a value outside.
TEST(NestedGraphsTest, BodiesReadTheCounterAndOuterValues) {
  const std::string nodes = Floats("w", {100, 200}) + Node("Cast", "i", "f", Int("to", kFloat)) +
                            Node("Mul", "f w", "g") + Node("Add", "v g", "h") +
                            Node("Add", "h outer", "r") + Node("Identity", "k", "q");
  const std::string graph = kX + OnnxValue("input", "n", {}, kInt64) + Node("Neg", "x", "outer") +
                            Loop("n - x", "y", "v", nodes, "q r") + kY;
  NamedTensors inputs = kFour;
  inputs.emplace_back("n", IntTensor({}, {3}));
  // x - 3 x + 3 w
  EXPECT_EQ(FloatsOf(RunOnnxBytes(Model(graph), inputs, "y")),
            (std::vector<float>{298, 604, 294, 608}));
}

// The loop adds x and its counter, or doubles v by a loop of two iterations.
TEST(NestedGraphsTest, LoopsInsideOfBranchesAndLoops) {
  const std::string counted = Node("Cast", "i", "f", Int("to", kFloat)) + Node("Add", "v f", "g") +
                              Node("Add", "g x", "r") + Node("Identity", "k", "q");
  const std::string doubled =
      Whole("two", 2) +
      Loop("two - v", "r", "b", Node("Add", "b b", "c") + Node("Identity", "k", "d"), "d c") +
      Node("Identity", "k", "q");
  const std::string head = kX + OnnxValue("input", "n", {}, kInt64);
  const auto run = [&](const std::string& then_graph, bool condition) {
    NamedTensors inputs = kFour;
    inputs.emplace_back("n", IntTensor({}, {3}));
    inputs.emplace_back("c", BoolOf(condition));
    const std::string graph =
        head + Branches(then_graph + Output("p"), Node("Neg", "x", "p") + Output("p")) + kY;
    return FloatsOf(RunOnnxBytes(Model(graph), inputs, "y"));
  };
  EXPECT_EQ(run(Loop("n - x", "p", "v", counted, "q r"), true),
            (std::vector<float>{7, -5, 15, -13}));
  EXPECT_EQ(run(Loop("n - x", "p", "v", counted, "q r"), false),
            (std::vector<float>{-1, 2, -3, 4}));
  EXPECT_EQ(run(Loop("n - x", "p", "v", doubled, "q r"), true),
            (std::vector<float>{64, -128, 192, -256}));
}

TEST(NestedGraphsTest, ItemsHaveTheShapeOfAnIterationBehindTheirNumber) {
  const std::string nodes = Node("Identity", "k", "q") + Node("Neg", "v", "r") +
                            Node("Flatten", "v", "e", Int("axis", 0));
  const OnnxModel model =
      ImportOnnxFromMemory(Model(kX + OnnxValue("input", "n", {}, kInt64) +
                                 Loop("n - x", "t y", "v", nodes, "q r e") + Output("t") + kY),
                           {});
  EXPECT_EQ(model.output_dims.at("t"), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(model.output_dims.at("y"), (std::vector<int64_t>{-1, 1, 4}));
  EXPECT_EQ(StatedOutputs(model.predict_net).at("y"), (std::vector<int64_t>{-1, 1, 4}));
}

}  // namespace
}  // namespace caffe2rt::test::nested_graphs_test
