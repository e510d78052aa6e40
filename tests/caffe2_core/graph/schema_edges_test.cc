// Schemas, arguments and inferred shapes at the edges of what they declare: positions, counts,
// second outputs, types that replace others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "caffe2_core/graph/accepted_inputs.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/builtin_operators.h"
#include "caffe2_core/graph/element_types.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/graph/shared_memory.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::schema_edges_test {
namespace {

using test::ParseNet;
using test::ParseOp;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

OPERATOR_SCHEMA(SchemaEdgesPair).NumInputs(1).NumOutputs(2);
OPERATOR_SCHEMA(SchemaEdgesThrows)
    .NumInputs(1)
    .NumOutputs(1)
    .TensorInferenceFunction([](const OperatorDef&,
                                const std::vector<TensorShape>&) -> std::vector<TensorShape> {
      CAFFE_THROW("no shape");
    });
OPERATOR_SCHEMA(SchemaEdgesFloats)
    .NumInputs(1)
    .NumOutputs(1)
    .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>& in) {
      CAFFE_ENFORCE_EQ(static_cast<int>(in[0].data_type()), TensorProto::FLOAT, "type");
      return in;
    });
OPERATOR_SCHEMA(SchemaEdgesNoShape)
    .NumInputs(1)
    .NumOutputs(1, 2)
    .Traits({.no_shape_reason = "it reads a file"})
    .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
      return def.name() == "one" ? in : std::vector<TensorShape>();
    });
OPERATOR_SCHEMA(SchemaEdgesShares).OutputSharesInput(3, 0).OutputSharesInput(4, 1);

// An operator with the inputs i0, i1, ... and the outputs o0, o1, ...
OperatorDef Wide(int inputs, int outputs) {
  OperatorDef def;
  for (int i = 0; i < inputs; ++i) def.add_input(MakeString("i", i));
  for (int i = 0; i < outputs; ++i) def.add_output(MakeString("o", i));
  return def;
}

TensorShape Shape(const std::vector<int64_t>& dims,
                  TensorProto_DataType type = TensorProto::FLOAT) {
  return CreateTensorShape(dims, type);
}

// Each line of the text states what is known of an argument, an input or an output.
TEST(SchemaEdgesTest, TextsListWhatIsDeclaredInAnyOrder) {
  OpSchema schema("T", "t.cc");
  schema.Arg("plain", "no default").Arg("given", "one", 2.5).Arg("text", "a name", "x");
  schema.Input(1, "B", "second").Input(0, "A", "").Output(2, "Z", "third").Output(0, "X", "first");
  ASSERT_EQ(schema.output_docs().size(), 3u);
  std::ostringstream text;
  text << schema;
  EXPECT_EQ(text.str(),
            "Arguments:\n  plain : no default\n  given : one (default 2.5)\n"
            "  text : a name (default x)\n"
            "Inputs:\n  0, A : (not documented)\n  1, B : second\n"
            "Outputs:\n  0, X : first\n  1, (unnamed) : (not documented)\n  2, Z : third\n"
            "\n(not documented)\n");
}

// The type of the output is known only if that of the input does not matter.
TEST(SchemaEdgesTest, OperatorsOfOneTypeStateNothingOfUnknownInputs) {
  const OperatorDef op = ParseOp(R"(type: "SchemaEdgesFloats" input: "x" output: "y")");
  EXPECT_THAT(InferElementTypes(op, {UnknownShape()}), IsEmpty());
  TensorShape floats = UnknownShape();
  floats.set_data_type(TensorProto::FLOAT);
  EXPECT_THAT(InferElementTypes(op, {floats}), ElementsAre(TensorProto::FLOAT));
  floats.set_data_type(TensorProto::INT64);
  EXPECT_THAT(InferElementTypes(op, {floats}), IsEmpty());
}

// Pairs that must be in place are found up to 64 positions apart, in both directions.
TEST(SchemaEdgesTest, BlobsThatMustBeSharedAreFoundFarApart) {
  struct Row {
    int input, output;
  };
  for (const Row& row : {Row{64, 0}, Row{0, 64}, Row{100, 36}, Row{36, 100}, Row{63, 0}}) {
    SCOPED_TRACE(MakeString(row.input, " ", row.output));
    const OpSchema schema = OpSchema("T", "t.cc").EnforceInplace({{row.input, row.output}});
    OperatorDef def = Wide(row.input + 1, row.output + 1);
    std::string why;
    EXPECT_FALSE(schema.Verify(def, &why));
    EXPECT_EQ(why, MakeString("input ", row.input, " (\"i", row.input, "\") and output ",
                              row.output, " (\"o", row.output, "\") must be the same blob"));
    def.set_output(row.output, def.input(row.input));
    EXPECT_TRUE(schema.Verify(def));
    EXPECT_TRUE(schema.input_is_enforced_in_place(row.input, row.output + 1));
    EXPECT_FALSE(schema.input_is_enforced_in_place(row.input, row.output));
    EXPECT_FALSE(schema.input_is_enforced_in_place(row.input + 1, row.output + 1));
  }
}

TEST(SchemaEdgesTest, ShapesHaveTheTypeOfTheirInput) {
  const OperatorDef def = ParseOp(R"(input: "a" input: "b" output: "y" output: "z")");
  const std::vector<TensorShape> in = {Shape({2, 3}, TensorProto::INT64), Shape({4})};
  const auto text = [](const std::vector<TensorShape>& shapes) {
    std::string all;
    for (const TensorShape& shape : shapes) {
      all += shape.unknown_shape()
                 ? "? "
                 : MakeString(shape.data_type(), testing::PrintToString(GetDimsVector(shape)), " ");
    }
    return all;
  };
  // The numbers of the types: 1 is float, 4 is string, 10 is int64.
  EXPECT_EQ(text(OpSchema().IdenticalTypeAndShapeOfInputDim(0, 0).InferTensor(def, in)),
            "10{ 2 } ");
  EXPECT_EQ(text(OpSchema().IdenticalTypeAndShapeOfInputDim(1, 0).InferTensor(def, in)), "1{ 4 } ");
  EXPECT_EQ(text(OpSchema().IdenticalTypeAndShapeOfMultipleInputs({1, 0}).InferTensor(def, in)),
            "1{ 4 } 10{ 2, 3 } ");
  EXPECT_EQ(text(OpSchema().ScalarType(TensorProto::STRING).InferTensor(def, in)), "4{} 4{} ");
  TensorShape unknown = Shape({2, 3});
  unknown.set_unknown_shape(true);
  EXPECT_EQ(text(OpSchema().IdenticalTypeAndShapeOfInputDim(0, 1).InferTensor(def, {unknown})),
            "? ");
}

TEST(SchemaEdgesTest, AllInputsAndOutputsAreOnTheOperatorsDevice) {
  OperatorDef def = Wide(2, 3);
  def.mutable_device_option()->set_device_type(1);
  def.mutable_device_option()->set_device_id(2);
  const auto [inputs, outputs] = OpSchema().InferDevice(def);
  ASSERT_EQ(inputs.size(), 2u);
  ASSERT_EQ(outputs.size(), 3u);
  for (const auto* devices : {&inputs, &outputs}) {
    for (const DeviceOption& device : *devices)
      EXPECT_TRUE(IsSameDevice(device, def.device_option()));
  }
}

// Inputs of 4 bytes that are all as large as the first one, and one output.
TEST(SchemaEdgesTest, PointwiseOperatorsMoveAllInputsAndOneOutput) {
  const OperatorDef def = Wide(2, 1);
  const OpSchema::Cost one = PointwiseCostInference<3>(def, {Shape({2, 5})});
  EXPECT_EQ(one.flops, 30u);
  EXPECT_EQ(one.bytes_read, 40u);
  EXPECT_EQ(one.bytes_written, 40u);
  EXPECT_EQ(one.bytes_moved, 80u);
  EXPECT_EQ(one.params_bytes, 0u);
  const OpSchema::Cost two = PointwiseCostInference<1>(def, {Shape({7}), Shape({1})});
  EXPECT_EQ(two.flops, 7u);
  EXPECT_EQ(two.bytes_read, 56u);
  EXPECT_EQ(two.bytes_written, 28u);
  EXPECT_EQ(two.bytes_moved, 84u);
  EXPECT_EQ(PointwiseCostInference<2>(def, {Shape({})}).flops, 2u);
  EXPECT_EQ(PointwiseCostInference<2>(def, {Shape({3, 0})}).bytes_moved, 0u);
  EXPECT_EQ(PointwiseCostInference<2>(def, {}).bytes_moved, 0u);
  EXPECT_EQ(NumElements(Shape({int64_t{1} << 31, 4})), uint64_t{1} << 33);
  EXPECT_THROW(NumElements(Shape({2, -1})), EnforceNotMet);
  EXPECT_THROW(NumElements(Shape({int64_t{1} << 62, 4})), EnforceNotMet);
}

// One number of outputs precedes a calculator.
TEST(SchemaEdgesTest, OneNumberOfOutputsHolds) {
  OpSchema schema("T", "t.cc");
  schema.OutputCalculator([](int n) { return n + 5; });
  EXPECT_EQ(schema.CalculateOutput(1), 6);
  schema.NumOutputs(2);
  EXPECT_EQ(schema.CalculateOutput(1), 2);
  EXPECT_TRUE(schema.Verify(Wide(1, 2)));
  schema.NumOutputs(1, 9);
  EXPECT_FALSE(schema.Verify(Wide(1, 2)));
  EXPECT_TRUE(schema.Verify(Wide(1, 6)));
}

// A type whose implementation is missing may be registered by a user.
TEST(SchemaEdgesTest, TypesThatAreNotAvailableMayBeReplaced) {
  OpSchema& missing = RegisterSchema("SchemaEdgesMissing", "missing.cc").NotAvailable("a printer");
  EXPECT_TRUE(IsBuiltinOperator("SchemaEdgesMissing"));
  OpSchemaRegistry::NewSchema("SchemaEdgesMissing", "user.cc", 7).SetDoc("the user's");
  EXPECT_NO_THROW(OpSchemaRegistry::ThrowConflicts());
  const OpSchema* const schema = OpSchemaRegistry::Schema("SchemaEdgesMissing");
  EXPECT_EQ(schema->file(), "user.cc");
  EXPECT_STREQ(schema->doc(), "the user's");
  EXPECT_EQ(schema->missing(), "");
  EXPECT_FALSE(IsBuiltinOperator("SchemaEdgesMissing"));
  EXPECT_EQ(missing.file(), "missing.cc");  // the reference is valid still
  OpSchemaRegistry::NewSchema("SchemaEdgesMissing", "third.cc");
  test::ExpectThrows([] { OpSchemaRegistry::ThrowConflicts(); }, "in user.cc and in third.cc");
}

// Each pair counts by itself.
TEST(SchemaEdgesTest, SharedMemoryIsThatOfBlobsThatAreThere) {
  OperatorDef def = Wide(5, 1);
  def.set_type("SchemaEdgesShares");
  EXPECT_EQ(SharedNamesOf(def), (NamePairs{{"i3", "o0"}}));
  def.add_output("o1");
  EXPECT_EQ(SharedNamesOf(def), (NamePairs{{"i3", "o0"}, {"i4", "o1"}}));
  def.mutable_input()->RemoveLast();
  EXPECT_EQ(SharedNamesOf(def), (NamePairs{{"i3", "o0"}}));
  OpSchemaRegistry::NewSchema("SchemaEdgesSharesFar", "t.cc")
      .OutputSharesInput(0, 7)
      .OutputSharesInput(1, 0);
  def.set_type("SchemaEdgesSharesFar");
  EXPECT_EQ(SharedNamesOf(def), (NamePairs{{"i1", "o0"}}));
}

TEST(ArgumentEdgesTest, ArgumentsAreChangedWhereTheyStand) {
  OperatorDef def = ParseOp(R"(arg { name: "a" i: 1 } arg { name: "b" i: 2 })");
  NetDef net = ParseNet(R"(arg { name: "a" i: 1 } arg { name: "b" i: 2 })");
  for (const bool create : {false, true}) {
    EXPECT_EQ(GetMutableArgument("b", create, &def), def.mutable_arg(1));
    EXPECT_EQ(GetMutableArgument("b", create, &net), net.mutable_arg(1));
  }
  EXPECT_EQ(def.arg_size(), 2);
  EXPECT_EQ(net.arg_size(), 2);
  EXPECT_EQ(GetMutableArgument("c", true, &def), def.mutable_arg(2));
  EXPECT_EQ(GetMutableArgument("c", true, &net), net.mutable_arg(2));
}

TEST(ArgumentEdgesTest, ListsOfEachKindAreWrittenAndRead) {
  NetDef inner;
  inner.set_name("inner");
  OperatorDef def;
  AddArgument("nets", std::vector<NetDef>{inner, NetDef()}, &def);
  AddArgument("flags", std::vector<bool>{true, false}, &def);
  AddArgument("doubles", std::vector<double>{1.5, -2}, &def);
  AddArgument("texts", std::vector<std::string>{"a", ""}, &def);
  AddArgument("text", std::string("a"), &def);
  AddArgument("net", inner, &def);
  const ArgumentHelper args(def);
  ASSERT_EQ(args.GetRepeatedArgument<NetDef>("nets").size(), 2u);
  EXPECT_EQ(args.GetRepeatedArgument<NetDef>("nets")[0].name(), "inner");
  EXPECT_EQ(args.GetRepeatedArgument<bool>("flags"), (std::vector<bool>{true, false}));
  EXPECT_THAT(args.GetRepeatedArgument<double>("doubles"), ElementsAre(1.5, -2));
  EXPECT_THAT(args.GetRepeatedArgument<std::string>("texts"), ElementsAre("a", ""));
  EXPECT_THAT(args.GetRepeatedMessageArgument<NetDef>("text"), IsEmpty());
  EXPECT_THAT(args.GetRepeatedMessageArgument<NetDef>("none"), IsEmpty());
  EXPECT_TRUE(args.HasSingleArgumentOfType<std::string>("text"));
  EXPECT_FALSE(args.HasSingleArgumentOfType<std::string>("texts"));
  EXPECT_TRUE(args.HasSingleArgumentOfType<NetDef>("net"));
  EXPECT_FALSE(args.HasSingleArgumentOfType<NetDef>("nets"));
  EXPECT_FALSE(args.HasSingleArgumentOfType<bool>("flags"));
  EXPECT_FALSE(args.HasSingleArgumentOfType<int>("none"));
}

// What only one of the options states stays.
TEST(ArgumentEdgesTest, MergedDevicesHaveTheFieldsOfBoth) {
  DeviceOption base, over;
  base.set_device_id(2);
  base.set_random_seed(7);
  base.set_node_name("node");
  over.set_device_type(1);
  DeviceOption merged = MergeDeviceOption(base, over);
  EXPECT_EQ(merged.device_type(), 1);
  EXPECT_EQ(merged.device_id(), 2);
  EXPECT_EQ(merged.random_seed(), 7u);
  EXPECT_EQ(merged.node_name(), "node");
  base.set_device_type(1);
  over.set_device_type(0);  // states the CPU
  merged = MergeDeviceOption(base, over);
  EXPECT_EQ(merged.device_type(), 0);
  EXPECT_EQ(merged.device_id(), 2);
}

TEST(AcceptedInputEdgesTest, RanksAreListedAsRangesAndSingleNumbers) {
  struct Row {
    std::vector<int> ranks;
    const char* text;
  };
  for (const Row& row : std::vector<Row>{{{0}, "rank 0"},
                                         {{6}, "rank 6"},
                                         {{5, 6}, "rank 5 and more"},
                                         {{1, 3}, "rank 1 or 3"},
                                         {{0, 2, 4}, "rank 0, 2 or 4"},
                                         {{0, 1, 2, 3, 4, 5}, "rank 0 to 5"},
                                         {{1, 2, 3, 5}, "rank 1 to 3 or 5"},
                                         {{0, 1, 2, 3, 4, 6}, "rank 0 to 4 or 6"},
                                         {{1, 2, 3, 4, 5, 6}, "rank 1 and more"}}) {
    EXPECT_EQ(RanksText({{}, row.ranks}), row.text);
  }
}

TEST(ShapeEdgesTest, QueuesAndFailuresGiveNoShapes) {
  EnsureBuiltinOperators();
  for (const char* type :
       {"DequeueBlobs", "SafeDequeueBlobs", "EnqueueBlobs", "SafeEnqueueBlobs"}) {
    const NetDef net =
        ParseNet(MakeString("op { type: \"", type, R"(" input: "x" output: "y" output: "x" })"));
    ShapeMap shapes = {{"x", Shape({2})}};
    const std::vector<OpShapes> ops = InferOpShapes({&net}, &shapes);
    EXPECT_EQ(ops[0].problem, "queue operators have no shape inference") << type;
    EXPECT_FALSE(ops[0].failed);
    EXPECT_THAT(shapes, IsEmpty());  // x is no longer what it was
    ShapeMap others = {{"x", Shape({2})}};
    InferBlobShapesAndTypes({&net}, &others);
    EXPECT_EQ(others.size(), 1u) << type;
  }
  // Nothing is inferred after a failure, neither in the net nor in the next one.
  const NetDef failing = ParseNet(R"(op { type: "Relu" input: "x" output: "a" }
      op { type: "SchemaEdgesThrows" input: "x" output: "b" }
      op { type: "Relu" input: "x" output: "c" })");
  const NetDef next = ParseNet(R"(op { type: "Relu" input: "x" output: "d" })");
  ShapeMap shapes = {{"x", Shape({2})}};
  EXPECT_EQ(InferBlobShapesAndTypes({&failing, &next}, &shapes).shapes_size(), 0);
  EXPECT_TRUE(shapes.contains("a"));
  EXPECT_FALSE(shapes.contains("b") || shapes.contains("c") || shapes.contains("d"));
}

// A schema may state why it infers nothing. A wrong number of shapes is an error nevertheless.
TEST(ShapeEdgesTest, ReasonsWithoutShapesAreNoFailures) {
  const NetDef net = ParseNet(R"(
      op { type: "SchemaEdgesNoShape" input: "x" output: "y" output: "z" }
      op { type: "Relu" input: "x" output: "u" } op { type: "Relu" input: "y" output: "v" })");
  ShapeMap shapes = {{"x", Shape({2})}, {"y", Shape({3})}};
  const std::vector<OpShapes> ops = InferOpShapes({&net}, &shapes);
  EXPECT_EQ(ops[0].problem, "it reads a file");
  EXPECT_FALSE(ops[0].failed);
  ASSERT_EQ(ops[0].outputs.size(), 2u);
  EXPECT_TRUE(ops[0].outputs[1].unknown_shape());
  EXPECT_THAT(GetDimsVector(ops[1].outputs[0]), ElementsAre(2));
  EXPECT_EQ(ops[2].problem, "the shape of input \"y\" is not known");
  ShapeMap others = {{"x", Shape({2})}};
  InferBlobShapesAndTypes({&net}, &others);
  EXPECT_TRUE(others.contains("u"));
  EXPECT_FALSE(others.contains("y"));
  const NetDef wrong = ParseNet(R"(
      op { type: "SchemaEdgesNoShape" name: "one" input: "x" output: "y" output: "z" })");
  const OpShapes one = InferOpShapes({&wrong}, &others).at(0);
  EXPECT_TRUE(one.failed);
  EXPECT_EQ(
      one.problem,
      "Invalid shape inference for operator SchemaEdgesNoShape Expected 2 outputs, but got 1");
}

TEST(ShapeEdgesTest, EveryGradientHasTheShapeOfItsVariable) {
  const NetDef net = ParseNet(R"(
      op { type: "SchemaEdgesPair" input: "x" output: "x_grad" output: "w_grad" is_gradient_op: true })");
  ShapeMap shapes = {{"x", Shape({2, 3})}, {"w", Shape({7}, TensorProto::DOUBLE)}};
  InferBlobShapesAndTypes({&net}, &shapes);
  EXPECT_THAT(GetDimsVector(shapes.at("x_grad")), ElementsAre(2, 3));
  EXPECT_THAT(GetDimsVector(shapes.at("w_grad")), ElementsAre(7));
  EXPECT_EQ(shapes.at("w_grad").data_type(), TensorProto::DOUBLE);
}

// Dims of a shape that is not known mean nothing.
TEST(ShapeEdgesTest, SumsTakeNoDimsOfUnknownShapes) {
  EnsureBuiltinOperators();
  const NetDef net = ParseNet(R"(op { type: "Sum" input: "u" input: "x" output: "s" }
                                 op { type: "Relu" input: "u" output: "r" })");
  TensorShape unknown = Shape({5});
  unknown.set_unknown_shape(true);
  ShapeMap shapes = {{"u", unknown}, {"x", Shape({2, 3})}};
  InferBlobShapesAndTypes({&net}, &shapes);
  EXPECT_FALSE(shapes.at("u").unknown_shape());
  EXPECT_THAT(GetDimsVector(shapes.at("u")), ElementsAre(2, 3));
  EXPECT_THAT(GetDimsVector(shapes.at("r")), ElementsAre(2, 3));
}

// The gradient of the last Reshape that wrote the old shape, operator by operator as well.
TEST(ShapeEdgesTest, GradientsOfReshapeFindTheLastReshape) {
  EnsureBuiltinOperators();
  const NetDef net = ParseNet(R"(
      op { type: "Reshape" input: "x" output: "y" output: "old" arg { name: "shape" ints: 6 } }
      op { type: "Reshape" input: "z" output: "u" output: "old" arg { name: "shape" ints: 4 } }
      op { type: "Reshape" input: "u" input: "old" output: "dz" is_gradient_op: true }
      op { type: "Relu" input: "dz" output: "v" })");
  const ShapeMap given = {{"x", Shape({2, 3})}, {"z", Shape({4, 1})}};
  ShapeMap shapes = given;
  InferBlobShapesAndTypes({&net}, &shapes);
  EXPECT_THAT(GetDimsVector(shapes.at("dz")), ElementsAre(4, 1));
  ShapeMap by_operator = given;
  const std::vector<OpShapes> ops = InferOpShapes({&net}, &by_operator);
  EXPECT_EQ(ops[2].problem, "");
  EXPECT_THAT(GetDimsVector(ops[2].outputs[0]), ElementsAre(4, 1));
  EXPECT_THAT(GetDimsVector(ops[3].outputs[0]), ElementsAre(4, 1));
}

}  // namespace
}  // namespace caffe2rt::schema_edges_test
