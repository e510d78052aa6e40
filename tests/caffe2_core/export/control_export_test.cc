// Branches and loops become graphs inside nodes.
#include <absl/strings/str_replace.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/caffe2_core/export/exported_graph.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::control_export_test {
namespace {

using ::testing::HasSubstr;
using Lines = std::vector<std::string>;

// "Type(inputs) outputs" for each node.
Lines LinesOf(const onnx::GraphProto& graph) {
  Lines lines;
  for (const onnx::NodeProto& node : graph.node()) {
    std::string line = node.op_type() + "(";
    for (const std::string& input : node.input()) line += input + " ";
    line += ")";
    for (const std::string& output : node.output()) line += " " + output;
    lines.push_back(line);
  }
  return lines;
}

constexpr char kIf[] = R"(
  op { type: "Relu" input: "x" output: "z" }
  op { type: "If" input: "c" input: "z" output: "y"
       arg { name: "then_net" n { op { type: "Relu" input: "z" output: "t" }
                                  op { type: "Mul" input: "t" input: "w" output: "y" } } }
       arg { name: "else_net" n { op { type: "Copy" input: "z" output: "y" } } } }
  op { type: "Relu" input: "y" output: "r" })";

ExportedNet IfNet(const std::string& what = "", const std::string& with = "") {
  return {what.empty() ? kIf : absl::StrReplaceAll(kIf, {{what, with}}),
          {{"x", {{2}}}, {"c", {{}, TensorProto::BOOL}}},
          {{"w", FloatWeight({2})}},
          {"r"}};
}

TEST(ControlExportTest, WritesBranchesThatReadValuesOutside) {
  const OnnxExport exported = Export(IfNet());
  const onnx::GraphProto& graph = exported.model.graph();
  EXPECT_EQ(LinesOf(graph), (Lines{"Relu(x ) z", "If(c ) y", "Relu(y ) r"}));
  const onnx::NodeProto& node = graph.node(1);
  EXPECT_EQ(node.attribute(0).name(), "then_branch");
  EXPECT_EQ(LinesOf(node.attribute(0).g())[0], "Relu(z ) t");
  EXPECT_THAT(LinesOf(node.attribute(0).g())[1], HasSubstr("Mul(t w )"));
  EXPECT_EQ(node.attribute(1).name(), "else_branch");
  EXPECT_THAT(LinesOf(node.attribute(1).g())[0], HasSubstr("Identity(z )"));
  // The output of a branch is a value that one of its nodes writes.
  for (const onnx::AttributeProto& branch : node.attribute()) {
    const std::string result = branch.g().output(0).name();
    EXPECT_EQ(branch.g().node(branch.g().node_size() - 1).output(0), result);
    EXPECT_NE(result, "y");
  }
  // The weight is one of the main graph; the shape of both branches is that of the output.
  ASSERT_EQ(graph.initializer_size(), 1);
  EXPECT_EQ(graph.output(0).type().tensor_type().shape().dim(0).dim_value(), 2);
}

// Adds w in each iteration, and lists the sums.
constexpr char kLoop[] = R"(
  op { type: "ONNXWhile" input: "n" input: "c" input: "x" output: "y" output: "list"
       arg { name: "has_trip_count" i: 1 } arg { name: "has_cond" i: 0 }
       arg { name: "disable_scopes" i: 1 }
       arg { name: "body" n { external_input: "i" external_input: "on" external_input: "v"
                              op { type: "Add" input: "v" input: "w" output: "next" }
                              op { type: "Copy" input: "on" output: "go" }
                              op { type: "ExpandDims" input: "next" output: "item"
                                   arg { name: "dims" ints: 0 } }
                              external_output: "go" external_output: "next"
                              external_output: "item" } } })";

TEST(ControlExportTest, WritesALoopWithCarriedValuesAndLists) {
  const ExportedNet net = {
      kLoop,
      {{"n", {{}, TensorProto::INT64}}, {"c", {{}, TensorProto::BOOL}}, {"x", {{2}}}},
      {{"w", FloatWeight({2})}},
      {"y"}};
  const OnnxExport exported = Export(net);
  const onnx::GraphProto& graph = exported.model.graph();
  EXPECT_EQ(LinesOf(graph), (Lines{"Loop(n  x ) y list"}));
  const onnx::GraphProto& body = graph.node(0).attribute(0).g();
  ASSERT_EQ(body.input_size(), 3);
  EXPECT_EQ(body.input(0).type().tensor_type().elem_type(), onnx::TensorProto::INT64);
  EXPECT_TRUE(body.input(0).type().tensor_type().has_shape());
  EXPECT_EQ(body.output_size(), 3);
  EXPECT_EQ(LinesOf(body)[0], "Add(v w ) next");
  // The items are stacked by Loop itself.
  EXPECT_THAT(LinesOf(body).back(), HasSubstr("Identity(next )"));
}

ExportedNet LoopNet(const std::vector<std::pair<std::string, std::string>>& changes,
                    TensorProto_DataType condition = TensorProto::BOOL) {
  return {absl::StrReplaceAll(kLoop, changes),
          {{"n", {{}, TensorProto::INT64}}, {"c", {{}, condition}}, {"x", {{2}}}},
          {{"w", FloatWeight({2})}},
          {"y"}};
}

TEST(ControlExportTest, WritesTheInputsThatALoopHas) {
  const std::string limit = "arg { name: \"has_trip_count\" i: 1 }", flag = "\"has_cond\" i: 0";
  const auto lines = [](const ExportedNet& net) { return LinesOf(Export(net).model.graph()); };
  EXPECT_EQ(lines(LoopNet({{flag, "\"has_cond\" i: 1"}})), (Lines{"Loop(n c x ) y list"}));
  EXPECT_EQ(lines(LoopNet({{limit, ""}, {flag, "\"has_cond\" i: 1"}})),
            (Lines{"Loop( c x ) y list"}));
  // A condition that is a number becomes a bool.
  EXPECT_EQ(lines(LoopNet({{flag, "\"has_cond\" i: 1"}}, TensorProto::INT32)),
            (Lines{"Cast(c ) y_Cast", "Loop(n y_Cast x ) y list"}));
}

TEST(ControlExportTest, RejectsLoopsThatOnnxDoesNotHave) {
  ExpectThrows(
      [] {
        Export(LoopNet({{"\"v\"", "\"x\""}}));
      },
      "input \"x\" of the body has the name of a blob outside, want another name");
  const char items[] =
      "the items \"item\" of a list are not the result of an ExpandDims of axis 0, as ONNX's Loop "
      "makes them";
  ExpectThrows([&] { Export(LoopNet({{"ExpandDims", "Copy"}})); }, items);
  ExpectThrows([&] { Export(LoopNet({{"ints: 0", "ints: 1"}})); }, items);
  ExpectThrows(
      [] {
        Export(LoopNet({{"external_output: \"next\"", ""}, {"external_output: \"item\"", ""}}));
      },
      "the body has 3 inputs and 1 output, which do not fit 1 carried value");
  ExpectThrows(
      [] {
        Export(LoopNet({{"external_input: \"v\"", ""}}));
      },
      "the body has 2 inputs and 3 outputs, which do not fit 1 carried value");
  ExpectThrows(
      [] {
        Export(LoopNet({{"\"body\"", "\"other\""}}));
      },
      "argument \"body\" is missing, want a net");
}

TEST(ControlExportTest, RejectsWhatGraphsCannotDo) {
  ExpectThrows(
      [] { Export(IfNet("\"t\"", "\"x\"")); },
      "a net inside writes \"x\" of the net around it, which is not an output of the operator; "
      "ONNX's graphs cannot do that");
  ExpectThrows([] { Export(IfNet("else_net", "other_net")); },
               "argument \"else_net\" is missing, want a net");
  ExpectThrows([] { Export(IfNet("\"Copy\"", "\"GenerateProposals\"")); },
               "GenerateProposals (\"y\")");
}

}  // namespace
}  // namespace caffe2rt::test::control_export_test
