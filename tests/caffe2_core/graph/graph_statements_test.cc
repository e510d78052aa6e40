// Statements about operators and nets that a later one replaces or adds to: declarations of schemas,
// checks of arguments, shapes that a sum spreads, and the names of random streams.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/random_streams.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::graph_statements_test {
namespace {

using test::ExpectRefusals;
using test::ParseNet;
using test::ParseOp;
using testing::ElementsAre;

OPERATOR_SCHEMA(GraphStatementsTestUnknown).NumInputs(1).NumOutputs(1);

constexpr ArgumentSpec<float> kTenth{"tenth", 0.1f, "a float"};
constexpr ArgumentSpec<bool> kFlag{"flag", true, "a flag"};
constexpr ArgumentSpec<std::string> kLetter{
    "letter", "z", "a letter", {[](const std::string& text) { return text == "a"; }, "a"}};
constexpr ArgumentSpec<int> kAboveZero{
    "size", -1, "a number", {[](int size) { return size > 0; }, "above 0"}};
constexpr ArgumentSpec<int64_t> kNeeded{.name = "needed", .required = true};
constexpr RepeatedArgumentSpec<int64_t> kList{
    "list", "a list", {[](const std::vector<int64_t>& list) { return !list.empty(); }, "numbers"}};
constexpr RepeatedArgumentSpec<std::string> kNeededList{
    .name = "texts", .doc = "", .check = {}, .required = true};

TEST(SchemaStatementsTest, TheLastOneOfAKindHolds) {
  OpSchema schema("T", "t.cc");
  schema.FillUsing([](OpSchema& filled) { filled.SetDoc("filled").NumInputs(7); });
  EXPECT_STREQ(schema.doc(), "filled");
  schema.SetDoc("first").SetDoc("second");
  EXPECT_STREQ(schema.doc(), "second");
  schema.SetDoc("");
  EXPECT_EQ(schema.doc(), nullptr);
  EXPECT_EQ(schema.min_input(), 7);
  schema.NumInputs(2, 3).NumOutputs(4).NumOutputs(1, OpSchema::inf());
  EXPECT_EQ(schema.min_input(), 2);
  EXPECT_EQ(schema.max_input(), 3);
  EXPECT_EQ(schema.min_output(), 1);
  EXPECT_EQ(schema.max_output(), OpSchema::inf());
  schema.AllowInplace({{0, 1}}).AllowInplace({{1, 0}, {2, 2}});
  EXPECT_FALSE(schema.inplace_allowed(0, 1));
  EXPECT_TRUE(schema.inplace_allowed(1, 0));
  EXPECT_TRUE(schema.inplace_allowed(2, 2));
  EXPECT_FALSE(schema.inplace_enforced(1, 0));
  schema.EnforceInplace({{0, 1}}).EnforceInplace({{1, 0}});
  EXPECT_FALSE(schema.inplace_enforced(0, 1));
  EXPECT_TRUE(schema.inplace_enforced(1, 0));
  schema.AllowOneToOneInplace().EnforceOneToOneInplace();
  EXPECT_TRUE(schema.inplace_allowed(5, 5));
  EXPECT_FALSE(schema.inplace_allowed(1, 0));
  EXPECT_TRUE(schema.inplace_enforced(3, 3));
  EXPECT_FALSE(schema.inplace_enforced(1, 0));
  schema.Traits({.same_shape = true}).Traits({.writes_float = true});
  EXPECT_FALSE(schema.traits().same_shape);
  EXPECT_TRUE(schema.traits().writes_float);
  schema.Memory({.keeps_memory = true}).Memory({.same_blob_in_place = true});
  EXPECT_FALSE(schema.memory().keeps_memory);
  EXPECT_TRUE(schema.memory().same_blob_in_place);
  schema.SynchronizedInputs({0}).SynchronizedInputs({1}).SynchronizedOutputs({2});
  EXPECT_FALSE(schema.input_is_synchronized(0));
  EXPECT_TRUE(schema.input_is_synchronized(1));
  EXPECT_TRUE(schema.output_is_synchronized(2));
  EXPECT_FALSE(schema.output_is_synchronized(1));
  schema.ModifiesInputs({0, 1}).ModifiesInputs({2});
  EXPECT_FALSE(schema.modifies_input(0));
  EXPECT_TRUE(schema.modifies_input(2));
  schema.Input(2, "C", "third").Input(0, "A", "first").Input(0, "B", "other");
  ASSERT_EQ(schema.input_docs().size(), 3u);
  EXPECT_EQ(schema.input_docs()[0].name, "B");
  EXPECT_EQ(schema.input_docs()[1].name, "");
  EXPECT_EQ(schema.input_docs()[2].doc, "third");
}

TEST(SchemaStatementsTest, OthersAddUp) {
  OpSchema schema("T", "t.cc", 3);
  const OperatorDef op = ParseOp(R"(type: "T" name: "off")");
  EXPECT_EQ(schema.type(), "T");
  EXPECT_EQ(schema.file(), "t.cc");
  EXPECT_EQ(schema.line(), 3);
  EXPECT_FALSE(schema.is_private() || schema.accepts_any_argument() || schema.accesses_files() ||
               schema.inputs_can_cross_devices() || schema.accesses_unlisted_blobs(op));
  EXPECT_TRUE(schema.missing().empty());
  schema.OutputSharesInput(0, 1).OutputSharesInput(2, 0);
  EXPECT_THAT(schema.shared_memory(), ElementsAre(std::pair(0, 1), std::pair(2, 0)));
  schema.HasEffect(Effect::kOutput, [](const OperatorDef& def) { return def.name() == "on"; });
  EXPECT_FALSE(schema.has_effect(Effect::kOutput, op));
  schema.HasEffect(Effect::kOutput, [](const OperatorDef& def) { return def.name() == "off"; });
  EXPECT_TRUE(schema.has_effect(Effect::kOutput, op));
  EXPECT_FALSE(schema.has_effect(Effect::kCommunication, op));
  schema.Private().AcceptsAnyArgument().InputsCanCrossDevices().NotAvailable("a printer");
  EXPECT_TRUE(schema.is_private() && schema.accepts_any_argument() &&
              schema.inputs_can_cross_devices());
  EXPECT_EQ(schema.missing(), "a printer");
  EXPECT_FALSE(schema.accesses_files());
  schema.AccessesUnlistedBlobs([](const OperatorDef& def) { return def.name() == "off"; });
  EXPECT_TRUE(schema.accesses_unlisted_blobs(op));
  EXPECT_FALSE(schema.accesses_unlisted_blobs(ParseOp(R"(type: "T")")));
  EXPECT_EQ(schema.InheritOnnxSchema().onnx_schema(), "T");
  EXPECT_EQ(schema.InheritOnnxSchema("U").onnx_schema(), "U");
  EXPECT_EQ(schema.types_of_input(0), nullptr);
  schema.FloatInputs(2).TypesOfInput(1, {.accepted = {TensorProto::INT64}});
  EXPECT_THAT(schema.types_of_input(0)->accepted, ElementsAre(TensorProto::FLOAT));
  EXPECT_THAT(schema.types_of_input(1)->accepted, ElementsAre(TensorProto::INT64));
  EXPECT_EQ(schema.types_of_input(2), nullptr);
}

TEST(SchemaStatementsTest, ArgumentsStateTheirTypesAndDefaults) {
  OpSchema schema("T", "t.cc");
  schema.Args(kTenth, kFlag, kLetter, kAboveZero, kNeeded, kList).Arg(kNeededList);
  schema.Arg("half", "a number", 0.5).Arg("bare", "no default");
  std::string text;
  for (const OpSchema::Argument& arg : schema.args()) {
    text += MakeString(arg.name, " ", arg.type, " ", arg.default_value,
                       arg.required ? " required" : "", arg.read == nullptr ? "" : " read", "\n");
  }
  EXPECT_EQ(text,
            "tenth float 0.1 read\nflag bool 1 read\nletter string z read\nsize int -1 read\n"
            "needed int  required read\nlist ints  read\ntexts strings  required read\n"
            "half  0.5\nbare  \n");
  // Each problem once, in the order of the declarations. Defaults are not checked.
  EXPECT_THAT(
      schema.ArgumentProblems(ParseOp(
          R"(arg { name: "size" i: 0 } arg { name: "letter" s: "" } arg { name: "list" }
                     arg { name: "needed" i: 0 } arg { name: "flag" f: 1 })")),
      ElementsAre("Argument flag does not have the right field: expected field i",
                  "argument \"letter\" is \"\", want a", "argument \"size\" is 0, want above 0",
                  "argument \"list\" is [], want numbers",
                  "argument \"texts\" is required but missing"));
  EXPECT_THAT(
      schema.ArgumentProblems(ParseOp(R"(arg { name: "size" i: 1 } arg { name: "size" i: 2 })")),
      ElementsAre("Found argument of the same name size but with different contents in "
                  "operator of type \"\""));
}

TEST(SchemaStatementsTest, ChecksHoldForEveryGivenValueButNoDefault) {
  const OperatorDef none, empty = ParseOp(R"(arg { name: "letter" s: "" } arg { name: "list" })"),
                          valid = ParseOp(R"(arg { name: "letter" s: "a" } arg { name: "size" i: 1 }
                                             arg { name: "list" ints: 0 })"),
                          zero = ParseOp(R"(arg { name: "size" i: 0 })");
  const ArgumentHelper defaults(none), given(valid);
  EXPECT_EQ(defaults.Read(kLetter), "z");
  EXPECT_EQ(defaults.Read(kAboveZero), -1);
  EXPECT_TRUE(defaults.Read(kList).empty());
  EXPECT_EQ(given.Read(kLetter), "a");
  EXPECT_EQ(given.Read(kAboveZero), 1);
  EXPECT_THAT(given.Read(kList), ElementsAre(0));
  EXPECT_TRUE(given.HasArgument(kList));
  EXPECT_FALSE(defaults.HasArgument(kList));
  ExpectRefusals({
      {[&] { (void)ArgumentHelper(empty).Read(kLetter); }, "argument \"letter\" is \"\", want a"},
      {[&] { (void)ArgumentHelper(empty).Read(kList); }, "argument \"list\" is [], want numbers"},
      {[&] { (void)ArgumentHelper(zero).Read(kAboveZero); },
       "argument \"size\" is 0, want above 0"},
      {[&] { (void)defaults.Read(kNeeded); }, "argument \"needed\" is required but missing"},
      {[&] { (void)defaults.Read(kNeededList); }, "argument \"texts\" is required but missing"},
  });
}

TensorShape FloatsOf(const std::vector<int64_t>& dims) {
  return CreateTensorShape(dims, TensorProto::FLOAT);
}

// All unknown inputs take the shape of the known one, wherever it stands, for later operators.
TEST(ShapeStatementsTest, ASumGivesAllItsInputsTheKnownShape) {
  EnsureBuiltinOperators();
  for (const char* sum :
       {R"(input: "u" input: "v" input: "x")", R"(input: "u" input: "x" input: "v")",
        R"(input: "x" input: "u" input: "v")"}) {
    SCOPED_TRACE(sum);
    const NetDef net = ParseNet(MakeString(R"(
        op { type: "GraphStatementsTestUnknown" input: "x" output: "u" }
        op { type: "GraphStatementsTestUnknown" input: "x" output: "v" }
        op { type: "Sum" output: "s" )",
                                           sum, R"( }
        op { type: "Relu" input: "u" output: "a" } op { type: "Relu" input: "v" output: "b" })"));
    ShapeMap shapes = {{"x", FloatsOf({2, 3})}};
    InferBlobShapesAndTypes({&net}, &shapes);
    for (const char* blob : {"u", "v", "a", "b"}) {
      EXPECT_THAT(GetDimsVector(shapes.at(blob)), ElementsAre(2, 3)) << blob;
    }
    ShapeMap by_operator = {{"x", FloatsOf({2, 3})}};
    const std::vector<OpShapes> ops = InferOpShapes({&net}, &by_operator);
    EXPECT_THAT(GetDimsVector(ops[3].outputs[0]), ElementsAre(2, 3));
    EXPECT_THAT(GetDimsVector(ops[4].outputs[0]), ElementsAre(2, 3));
  }
}

// The links from sums end with their net.
TEST(ShapeStatementsTest, ASumOfAnEarlierNetTakesNoShapeOfALaterOne) {
  EnsureBuiltinOperators();
  const NetDef first = ParseNet(R"(
      op { type: "GraphStatementsTestUnknown" input: "x" output: "u" }
      op { type: "Sum" input: "u" output: "s" })");
  const NetDef second = ParseNet(R"(op { type: "Relu" input: "x" output: "s" })");
  ShapeMap shapes = {{"x", FloatsOf({2, 3})}};
  InferBlobShapesAndTypes({&first, &second}, &shapes);
  EXPECT_TRUE(shapes.at("u").unknown_shape());
  EXPECT_THAT(GetDimsVector(shapes.at("s")), ElementsAre(2, 3));
}

// "x" is the name that operator 0 has without an argument; operator 1 would be "x#1".
TEST(RandomStreamStatementsTest, OperatorsWithoutANameCountToo) {
  NetDef net = ParseNet(R"(
      op { type: "Relu" output: "x" }
      op { type: "Dropout" output: "x" arg { name: "random_stream" s: "x" } }
      op { type: "Dropout" output: "x" arg { name: "random_stream" s: "x#2" } }
      op { type: "Dropout" output: "y" arg { name: "random_stream" i: 1 } }
      op { type: "Dropout" output: "z" arg { name: "k" i: 1 } arg { name: "random_stream" s: "z" } })");
  RemoveNeedlessStreamNames(&net);
  std::string left;
  for (const OperatorDef& op : net.op()) {
    for (const Argument& arg : op.arg()) {
      left += MakeString(op.output(0), ":", arg.name(), "=", arg.s(), " ");
    }
  }
  EXPECT_EQ(left, "x:random_stream=x y:random_stream= z:k= ");
}

TEST(RandomStreamStatementsTest, OperatorsWithNetsMayDraw) {
  NetDef net = ParseNet(R"(
      op { type: "Relu" output: "a" arg { name: "nets" nets { } nets { } } }
      op { type: "Relu" output: "b" arg { name: "net" n { } } }
      op { type: "Relu" output: "c" arg { name: "s" s: "text" } })");
  NameRandomStreams(&net);
  const auto name = [&](int i) {
    return ArgumentHelper(net.op(i)).GetSingleArgument<std::string>(kRandomStream, "none");
  };
  EXPECT_EQ(name(0), "a");
  EXPECT_EQ(name(1), "b");
  EXPECT_EQ(name(2), "none");
}

}  // namespace
}  // namespace caffe2rt::graph_statements_test
