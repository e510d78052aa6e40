// What nets inside of operators read, write and name in an exported graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "caffe2_core/graph/op_schema.h"
#include "tests/caffe2_core/export/exported_graph.h"
#include "tests/caffe2_core/export/operator_text.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::nested_export_test {
namespace {

using namespace operator_text;  // used throughout this file
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kInt64 = TensorProto::INT64, kBool = TensorProto::BOOL;
const ExportedInput kPair = {{2}}, kFlag = {{}, kBool}, kImage = {{1, 3, 2, 2}};

std::string Net(const std::string& name, const std::string& net) {
  return "arg { name: '" + name + "' n { " + net + " } } ";
}
std::string If(const std::string& then_net, const std::string& else_net,
               const std::string& outputs = "y", const std::string& more = "") {
  return Op("If", Net("then_net", then_net) + Net("else_net", else_net) + more, "c", outputs);
}

// Names of nodes, with those of their graphs behind them.
std::vector<std::string> NodeNames(const onnx::GraphProto& graph) {
  std::vector<std::string> names;
  for (const onnx::NodeProto& node : graph.node()) {
    names.push_back(node.name());
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      const std::vector<std::string> inner = NodeNames(attribute.g());
      names.insert(names.end(), inner.begin(), inner.end());
    }
  }
  return names;
}

// "y = Relu(x)" for each node, with those of its graphs, in braces, behind it.
std::string TextOf(const onnx::GraphProto& graph) {
  std::string text;
  for (const onnx::NodeProto& node : graph.node()) {
    std::string line;
    for (const std::string& output : node.output()) line += output + " ";
    line += "= " + node.op_type();
    for (const std::string& input : node.input()) line += " " + (input.empty() ? "-" : input);
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) line += " { " + TextOf(attribute.g()) + "}";
    }
    text += line + "; ";
  }
  for (const onnx::ValueInfoProto& output : graph.output()) {
    if (!output.has_type()) text += "-> " + output.name() + " ";
  }
  return text;
}

std::string TextOf(const ExportedNet& net,
                   const std::map<std::string, std::vector<int64_t>>& output_dims = {}) {
  return TextOf(Export(net, output_dims).model.graph());
}

// --- what is read ---

// LRN's second output has no counterpart: a net inside that reads it counts like one around it.
TEST(NestedExportTest, ReadersInsideCount) {
  const std::map<std::string, ExportedInput> inputs = {
      {"x", kImage}, {"c", kFlag}, {"n", {{}, kInt64}}};
  const std::string lrn = Op("LRN", I("size", 3), "x", "h s");
  const std::string read = "output 1 (\"s\") of LRN has no counterpart in ONNX, and it is read";
  const std::string relu = Op("Relu", "", "h", "y");
  EXPECT_NO_THROW(Export({lrn + If(relu, relu), inputs}));
  const auto message = [&](const std::string& net,
                           const std::vector<std::string>& outputs = {"y"}) {
    return MessageOf([&] { Export({net, inputs, {}, outputs}); });
  };
  EXPECT_THAT(message(lrn + If(Op("Relu", "", "s", "y"), relu)), HasSubstr(read));
  EXPECT_THAT(message(lrn + If(relu, Op("Relu", "", "s", "y"))), HasSubstr(read));
  EXPECT_THAT(message(lrn + If(If(Op("Relu", "", "s", "y"), relu), relu)), HasSubstr(read));
  // An output of a body, and an output of the operator around two branches.
  EXPECT_THAT(message(If(lrn + relu, lrn + relu, "y s")), HasSubstr(read));
  const std::string loop =
      Op("ONNXWhile",
         I("has_trip_count", 1) + I("has_cond", 0) +
             Net("body", "external_input: 'i' external_input: 'o' external_input: 'v' " +
                             Op("LRN", I("size", 3), "v", "h s") +
                             "external_output: 'o' external_output: 's' "),
         "n c x", "y");
  EXPECT_THAT(message(loop), HasSubstr(read));
  // Nothing reads it.
  EXPECT_NO_THROW(Export({If(lrn + relu, lrn + relu), inputs}));
}

// A moment that only a net inside reads is written.
TEST(NestedExportTest, ValuesForReadersInsideAreWritten) {
  const std::string norm = Op("LayerNorm", "", "x", "h m s");
  const std::string branches = If(Op("Relu", "", "m", "y"), Op("Abs", "", "m", "y"));
  EXPECT_THAT(TextOf({norm + branches, {{"x", {{2, 2, 2}}}, {"c", kFlag}}}),
              HasSubstr("m = Squeeze m_rows"));
  const std::string inside = norm + Op("Copy", "", "h", "y");
  EXPECT_THAT(TextOf({If(inside, inside, "y m"), {{"x", {{2, 2, 2}}}, {"c", kFlag}}}),
              HasSubstr("= Squeeze m_rows"));
}

// --- operators without a counterpart ---

TEST(NestedExportTest, AllNetsAreSearchedForOperatorsWithoutACounterpart) {
  const std::string relu = Op("Relu", "", "x", "y"), missing = Op("CreateDB", "name: 'q'", "", "r");
  const std::map<std::string, ExportedInput> inputs = {{"x", kPair}, {"c", kFlag}};
  const auto message = [&](const std::string& net) {
    return MessageOf([&] { Export({"name: 'n' " + net, inputs}); });
  };
  const std::string start = "cannot export net \"n\": these operators have no ONNX form: ";
  EXPECT_EQ(message(If(If(relu, missing), relu)), start + "CreateDB (\"q\")");
  EXPECT_EQ(message(If(missing, Op("CreateDB", "", "", "s")) + Op("CreateDB", "", "", "")),
            start + "CreateDB (3 times, the first is \"q\")");
  EXPECT_EQ(message(Op("CreateDB", "", "", "")), start + "CreateDB (\"without outputs\")");
  EXPECT_EQ(message(relu + missing + Op("GenerateProposals", "", "x", "p") +
                    Op("GenerateProposals", "", "x", "q")),
            start + "CreateDB (\"q\"), GenerateProposals (2 times, the first is \"p\")");
}

TEST(NestedExportTest, ErrorsNameTheOperatorInside) {
  const std::string relu = Op("Relu", "", "x", "y");
  const std::string dropout = "name: 'inner' " + relu + Op("Dropout", "", "y", "y m");
  const std::string message = MessageOf([&] {
    Export({"name: 'outer' " + relu + If(dropout, relu), {{"x", kPair}, {"c", kFlag}}});
  });
  EXPECT_THAT(message, HasSubstr("want argument is_test 1"));
}

// The position of an operator counts from the beginning of its net, also behind one with nets.
TEST(NestedExportTest, ErrorsCountOperatorsOfTheWholeNet) {
  const std::string relu = Op("Relu", "", "x", "y");
  try {
    Export({"name: 'outer' " + relu + If(relu, relu) + Op("Abs", "", "y", "y") +
                Op("Dropout", "", "y", "z m"),
            {{"x", kPair}, {"c", kFlag}}});
    ADD_FAILURE();
  } catch (const EnforceNotMet& error) {
    EXPECT_THAT(std::string(error.what()),
                HasSubstr("export of operator 3 (Dropout) of net \"outer\""));
  }
}

// --- names ---

TEST(NestedExportTest, NodesHaveTheNamesOfTheirOperators) {
  const std::string relu = Op("Relu", "name: 'inner'", "x", "y");
  const OnnxExport exported = Export({If(relu, relu, "y", "name: 'outer' debug_info: 'line 5' ") +
                                          Op("Swish", "name: 'last'", "y", "z"),
                                      {{"x", kPair}, {"c", kFlag}},
                                      {},
                                      {"z"}});
  const onnx::GraphProto& graph = exported.model.graph();
  // The copies of results have the name of the last operator of their branch.
  EXPECT_THAT(NodeNames(graph),
              ElementsAre("outer", "inner", "inner/1", "inner/2", "inner/3", "last", "last/1"));
  EXPECT_EQ(graph.node(0).doc_string(), "line 5");
  EXPECT_EQ(graph.node(1).doc_string(), "");
}

TEST(NestedExportTest, GraphsHaveTheNamesOfTheirNets) {
  const std::string relu = Op("Relu", "", "x", "y");
  const auto names = [](const ExportedNet& net) {
    std::vector<std::string> found;
    const OnnxExport exported = Export(net);
    for (const onnx::AttributeProto& attribute : exported.model.graph().node(0).attribute())
      found.push_back(attribute.name() + " " + attribute.g().name());
    return found;
  };
  const std::map<std::string, ExportedInput> inputs = {
      {"x", kPair}, {"c", kFlag}, {"n", {{}, kInt64}}};
  EXPECT_THAT(names({If("name: 'a' " + relu, "name: 'b' " + relu), inputs}),
              ElementsAre("then_branch a", "else_branch b"));
  EXPECT_THAT(names({If(relu, relu), inputs}),
              ElementsAre("then_branch then_net", "else_branch else_net"));
  const auto loop = [&](const std::string& name) {
    return Op("ONNXWhile",
              I("has_trip_count", 1) +
                  Net("body",
                      name + "external_input: 'i' external_input: 'o' external_input: 'v' " +
                          Op("Relu", "", "v", "w") + "external_output: 'o' external_output: 'w' "),
              "n c x", "y");
  };
  EXPECT_THAT(names({loop(""), inputs}), ElementsAre("body body"));
  EXPECT_THAT(names({loop("name: 'b' "), inputs}), ElementsAre("body b"));
}

// Behind a branch, a name has the value that it had before, unless the operator writes it.
TEST(NestedExportTest, ValuesInsideEndWithTheirNet) {
  const std::string inside =
      Op("Sqr", "", "x", "t") + Op("Sqr", "", "t", "t") + Op("Abs", "", "t", "y");
  const std::string net = If(inside, Op("Relu", "", "x", "y")) + Op("Exp", "", "y", "t") +
                          Op("Negative", "", "t", "t") + Op("Add", "", "t y", "z");
  const OnnxExport exported = Export({net, {{"x", kPair}, {"c", kFlag}}, {}, {"z", "t"}});
  const onnx::GraphProto& graph = exported.model.graph();
  ASSERT_EQ(graph.node_size(), 4);
  // The last value of t in the main graph has its name, and the branch has other names.
  EXPECT_EQ(graph.node(2).op_type(), "Neg");
  EXPECT_EQ(graph.node(2).output(0), "t");
  EXPECT_EQ(graph.node(3).input(0), "t");
  EXPECT_EQ(graph.node(3).input(1), graph.node(0).output(0));
  EXPECT_EQ(graph.node(1).input(0), graph.node(0).output(0));
  const onnx::GraphProto& branch = graph.node(0).attribute(0).g();
  ASSERT_EQ(branch.node_size(), 4);
  EXPECT_EQ(branch.node(1).input(0), branch.node(0).output(0));
  EXPECT_EQ(branch.node(2).input(0), branch.node(1).output(0));
  EXPECT_NE(branch.node(0).output(0), branch.node(1).output(0));
  for (const onnx::NodeProto& node : branch.node()) EXPECT_NE(node.output(0), "t");
}

// A branch does not see what the other one, or a net inside of it, writes.
TEST(NestedExportTest, BranchesDoNotShareValues) {
  const std::map<std::string, ExportedInput> inputs = {{"x", kPair}, {"c", kFlag}};
  const std::string writes = Op("Sqr", "", "x", "t") + Op("Abs", "", "t", "y");
  const std::string reads = Op("Abs", "", "t", "y");
  const std::string message = "blob \"t\" has no value: no input or weight has this name";
  for (const std::string& net : {If(writes, reads), If(If(writes, writes) + reads, writes)}) {
    EXPECT_THAT(MessageOf([&] { Export({net, inputs}); }), HasSubstr(message));
  }
  EXPECT_NO_THROW(Export({If(writes, Op("Exp", "", "x", "t") + reads), inputs}));
}

// Branches of different shapes: the output has their type.
TEST(NestedExportTest, OutputsOfDifferentShapesKeepTheirType) {
  const std::map<std::string, ExportedInput> inputs = {{"x", {{2, 3}, kInt64}}, {"c", kFlag}};
  const std::string copy = Op("Copy", "", "x", "y"), flat = Op("FlattenToVec", "", "x", "y");
  const std::string computed = Op("Reshape", "", "x x", "y o");  // of a shape that is not known
  for (const std::string& net : {If(copy, flat), If(flat, copy), If(computed, copy),
                                 If(copy, computed), If(computed, computed)}) {
    SCOPED_TRACE(net);
    EXPECT_THAT(MessageOf([&] {
                  Export({net, inputs});
                }),
                HasSubstr("the shape of output \"y\" is not known"));
    const OnnxExport exported = Export({net, inputs}, {{"y", {-1}}});
    EXPECT_EQ(exported.model.graph().output(0).type().tensor_type().elem_type(),
              onnx::TensorProto::INT64);
  }
  const OnnxExport same = Export({If(copy, copy), inputs});
  const auto& type = same.model.graph().output(0).type().tensor_type();
  EXPECT_EQ(type.elem_type(), onnx::TensorProto::INT64);
  EXPECT_EQ(type.shape().dim(1).dim_value(), 3);
}

TEST(NestedExportTest, NetsAreNotNestedWithoutEnd) {
  NetDef net = ParseNet(Op("Relu", "", "x", "y"));
  const auto message = [&] {
    return MessageOf([&] {
      OnnxExportOptions options{.outputs = {"y"}};
      options.inputs = {{"x", CreateTensorShape(std::vector<int64_t>{2}, TensorProto::FLOAT)},
                        {"c", CreateTensorShape(std::vector<int64_t>{}, TensorProto::BOOL)}};
      ExportOnnx(net, options);
    });
  };
  for (int depth = 0; depth <= 64; ++depth) {  // one more than kMaxNetDepth
    NetDef outer;
    outer.set_name(MakeString("n", depth));
    OperatorDef* const op = outer.add_op();
    op->set_type("If");
    op->add_input("c");
    op->add_output("y");
    Argument* const then_net = op->add_arg();
    then_net->set_name("then_net");
    *then_net->mutable_n() = net;
    net = std::move(outer);
  }
  EXPECT_EQ(message(), "nets inside of operators of net \"\": got 65, want at most 64");
}

// A weight that only nets inside read, in two shapes: both are initializers of the main graph, made once.
TEST(NestedExportTest, WeightsReadInsideBelongToTheMainGraph) {
  const std::string wide = Op("Add", I("broadcast", 1) + I("axis", 1), "x w", "y");
  const std::map<std::string, ExportedInput> inputs = {{"x", kImage}, {"c", kFlag}};
  const OnnxExport exported = Export(
      {If(wide, wide) + Op("Mul", "", "w w", "z"), inputs, {{"w", FloatWeight({3})}}, {"y", "z"}});
  const onnx::GraphProto& graph = exported.model.graph();
  ASSERT_EQ(graph.initializer_size(), 2);
  EXPECT_THAT(graph.initializer(0).dims(), ElementsAre(3, 1, 1));
  EXPECT_THAT(graph.initializer(1).dims(), ElementsAre(3));
  for (const int i : {0, 1}) {
    const onnx::GraphProto& branch = graph.node(0).attribute(i).g();
    EXPECT_EQ(branch.node(0).input(1), graph.initializer(0).name());
    EXPECT_EQ(branch.initializer_size(), 0);
  }
  EXPECT_EQ(graph.node(1).input(0), graph.initializer(1).name());
}

// --- loops ---

std::string Loop(const std::string& body_ops, const std::string& inputs = "n c x",
                 const std::string& outputs = "y", const std::string& body_inputs = "iov",
                 const std::string& body_outputs = "ow") {
  std::string body;
  for (const char name : body_inputs) body += MakeString("external_input: '", name, "' ");
  body += body_ops;
  for (const char name : body_outputs) body += MakeString("external_output: '", name, "' ");
  return Op("ONNXWhile", I("has_trip_count", 1) + I("has_cond", 0) + Net("body", body), inputs,
            outputs);
}

TEST(NestedExportTest, LoopsCarryEachValueInItsPlace) {
  const std::map<std::string, ExportedInput> inputs = {
      {"n", {{}, kInt64}}, {"c", kFlag}, {"x", {{2, 3}}}, {"z", {{4}, kInt64}}};
  const ExportedNet net = {
      Loop(Op("Relu", "", "v", "w") + Op("Add", "", "u i", "q"), "n c x z", "y p", "iovu", "owq"),
      inputs,
      {},
      {"y", "p"}};
  const OnnxExport exported = Export(net);
  const onnx::GraphProto& graph = exported.model.graph();
  EXPECT_THAT(graph.node(0).input(), ElementsAre("n", "", "x", "z"));
  EXPECT_THAT(graph.node(0).output(), ElementsAre("y", "p"));
  // An iteration changes neither shape: the outputs have those of the values before.
  const auto& y = graph.output(0).type().tensor_type();
  EXPECT_EQ(y.elem_type(), onnx::TensorProto::FLOAT);
  ASSERT_EQ(y.shape().dim_size(), 2);
  EXPECT_EQ(y.shape().dim(1).dim_value(), 3);
  const auto& p = graph.output(1).type().tensor_type();
  EXPECT_EQ(p.elem_type(), onnx::TensorProto::INT64);
  ASSERT_EQ(p.shape().dim_size(), 1);
  EXPECT_EQ(p.shape().dim(0).dim_value(), 4);
  const onnx::GraphProto& body = graph.node(0).attribute(0).g();
  ASSERT_EQ(body.input_size(), 4);
  EXPECT_THAT((std::vector<std::string>{body.input(0).name(), body.input(1).name(),
                                        body.input(2).name(), body.input(3).name()}),
              ElementsAre("i", "o", "v", "u"));
  EXPECT_EQ(body.input(0).type().tensor_type().elem_type(), onnx::TensorProto::INT64);
  EXPECT_EQ(body.input(1).type().tensor_type().elem_type(), onnx::TensorProto::BOOL);
  EXPECT_TRUE(body.input(1).type().tensor_type().has_shape());
  EXPECT_FALSE(body.input(2).has_type());
  EXPECT_FALSE(body.input(3).has_type());
  // The results: the condition, then the values.
  ASSERT_EQ(body.node_size(), 5);
  EXPECT_THAT(body.node(2).input(), ElementsAre("o"));
  EXPECT_THAT(body.node(3).input(), ElementsAre("w"));
  EXPECT_THAT(body.node(4).input(), ElementsAre("q"));
  for (int k = 0; k < 3; ++k) EXPECT_EQ(body.output(k).name(), body.node(2 + k).output(0));
}

// One of two values changes its shape in an iteration, and with it the one that is computed from it.
TEST(NestedExportTest, LoopsForgetShapesThatIterationsChange) {
  const std::map<std::string, ExportedInput> inputs = {
      {"n", {{}, kInt64}}, {"c", kFlag}, {"x", {{2, 3}}}, {"z", {{2, 3}}}};
  const auto dims = [&](const std::string& body, const char* output) {
    const ExportedNet net = {Loop(body, "n c x z", "y p", "iovu", "owq"), inputs, {}, {output}};
    return MessageOf([&] { Export(net); });
  };
  const std::string twice = Op("Concat", I("axis", 0), "v v", "w s");
  EXPECT_THAT(dims(twice + Op("Abs", "", "u", "q"), "y"), HasSubstr("is not known"));
  EXPECT_EQ(dims(twice + Op("Abs", "", "u", "q"), "p"), "(nothing was thrown)");
  EXPECT_THAT(dims(twice + Op("Copy", "", "v", "q"), "p"), HasSubstr("is not known"));
  // Without a shape, an output still has its type.
  const ExportedNet net = {Loop(twice + Op("Abs", "", "u", "q"), "n c x z", "y p", "iovu", "owq"),
                           inputs};
  const OnnxExport exported = Export(net, {{"y", {-1, 3}}});
  const auto& type = exported.model.graph().output(0).type().tensor_type();
  EXPECT_EQ(type.elem_type(), onnx::TensorProto::FLOAT);
  ASSERT_EQ(type.shape().dim_size(), 2);
  EXPECT_FALSE(type.shape().dim(0).has_dim_value());
}

// Without the arguments that state them, a loop has neither a limit nor a condition.
TEST(NestedExportTest, LoopsHaveTheLimitsThatTheyState) {
  const std::map<std::string, ExportedInput> inputs = {
      {"n", {{}, kInt64}}, {"c", kFlag}, {"x", kPair}};
  const auto limits = [&](const std::string& args) {
    const std::string body =
        Net("body", "external_input: 'i' external_input: 'o' external_input: 'v' " +
                        Op("Relu", "", "v", "w") + "external_output: 'o' external_output: 'w' ");
    const OnnxExport exported = Export({Op("ONNXWhile", args + body, "n c x", "y"), inputs});
    const onnx::NodeProto& node = exported.model.graph().node(0);
    return std::vector<std::string>(node.input().begin(), node.input().end());
  };
  EXPECT_THAT(limits(""), ElementsAre("", "", "x"));
  EXPECT_THAT(limits(I("has_trip_count", 1)), ElementsAre("n", "", "x"));
  EXPECT_THAT(limits(I("has_cond", 1)), ElementsAre("", "c", "x"));
  EXPECT_THAT(limits(I("has_cond", 1) + I("has_trip_count", 0)), ElementsAre("", "c", "x"));
}

// A condition that is a number becomes a bool, before the loop and behind each iteration.
TEST(NestedExportTest, ConditionsOfLoopsAreBools) {
  const std::map<std::string, ExportedInput> inputs = {
      {"n", {{}, kInt64}}, {"c", kFlag}, {"x", kPair}, {"k", {{}, kInt64}}};
  const ExportedNet net = {
      Loop(Op("Relu", "", "v", "w") + Op("Copy", "", "k", "g"), "n c x", "y", "iov", "gw"), inputs};
  const OnnxExport exported = Export(net);
  const onnx::GraphProto& body = exported.model.graph().node(0).attribute(0).g();
  ASSERT_EQ(body.node_size(), 5);
  EXPECT_EQ(body.node(2).op_type(), "Cast");
  EXPECT_THAT(body.node(2).input(), ElementsAre("g"));
  EXPECT_EQ(body.node(2).attribute(0).i(), onnx::TensorProto::BOOL);
  EXPECT_EQ(body.node(3).input(0), body.node(2).output(0));
}

// The items of a list are those of the last operator that writes the blob.
TEST(NestedExportTest, ListsHaveTheItemsOfTheirLastWriter) {
  const std::map<std::string, ExportedInput> inputs = {
      {"n", {{}, kInt64}}, {"c", kFlag}, {"x", kPair}};
  const std::string expand = Op("ExpandDims", L("dims", {0}), "w", "l");
  const auto net = [&](const std::string& more) {
    return ExportedNet{Loop(Op("Relu", "", "v", "w") + more, "n c x", "y l", "iov", "owl"), inputs};
  };
  const OnnxExport exported = Export(net(Op("Abs", "", "v", "l") + expand));
  const onnx::GraphProto& body = exported.model.graph().node(0).attribute(0).g();
  EXPECT_THAT(body.node(body.node_size() - 1).input(), ElementsAre("w"));
  ASSERT_EQ(body.output_size(), 3);
  const std::string message =
      "the items \"l\" of a list are not the result of an ExpandDims of axis 0, as ONNX's Loop "
      "makes them";
  EXPECT_THAT(MessageOf([&] { Export(net(expand + Op("Abs", "", "v", "l"))); }),
              HasSubstr(message));
  EXPECT_THAT(MessageOf([&] {
                Export(net(Op("ExpandDims", L("dims", {0, 1}), "w", "l")));
              }),
              HasSubstr(message));
  EXPECT_THAT(MessageOf([&] { Export(net("")); }), HasSubstr(message));
  EXPECT_THAT(MessageOf([&] {
                Export(net(Op("ExpandDims", L("dims", {0}), "w", "q") +
                           Op("Split", I("axis", 0), "w", "e l")));
              }),
              HasSubstr(message));
}

TEST(NestedExportTest, BodiesNameInputsOfTheirOwn) {
  const std::map<std::string, ExportedInput> inputs = {
      {"n", {{}, kInt64}}, {"c", kFlag}, {"x", kPair}};
  const auto message = [&](const std::string& names) {
    return MessageOf([&] {
      Export({Loop(Op("Relu", "", names.substr(2, 1), "w"), "n c x", "y", names,
                   names.substr(1, 1) + "w"),
              inputs,
              {{"k", FloatWeight({2})}}});
    });
  };
  EXPECT_EQ(message("iov"), "(nothing was thrown)");
  for (const char* names : {"xov", "ixv", "iox", "iok"}) {
    const char outside = std::string(names).find('x') == std::string::npos ? 'k' : 'x';
    EXPECT_THAT(message(names), HasSubstr(MakeString("input \"", outside,
                                                     "\" of the body has the name of a blob "
                                                     "outside, want another name")));
  }
}

}  // namespace
}  // namespace caffe2rt::test::nested_export_test
