// Values at the limits of what graph functions accept, and the whole messages of what they reject.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "caffe2_core/graph/backward_pass.h"
#include "caffe2_core/graph/declared_arguments.h"
#include "caffe2_core/graph/device_copies.h"
#include "caffe2_core/graph/device_fallback.h"
#include "caffe2_core/graph/element_types.h"
#include "caffe2_core/graph/memory_plan.h"
#include "caffe2_core/graph/net_summary.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/graph/stated_inputs.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::graph_limits_test {
namespace {

using test::ExpectRefusals;
using test::ParseNet;
using test::ParseOp;

OPERATOR_SCHEMA(GraphLimitsTestText).Arg("k", "a number", "seven").Arg("n", "a number", 7);
OPERATOR_SCHEMA(GraphLimitsTestUnknown).NumInputs(1).NumOutputs(1);

TensorShape Floats(const std::vector<int64_t>& dims) {
  return CreateTensorShape(dims, TensorProto::FLOAT);
}

MemoryRequest OneItem(size_t bytes) {
  return {.operators = 1, .items = {{bytes, {0}, {}}}, .placements = {}, .predecessors = {}};
}

TEST(GraphLimitsTest, MemoryPlansRejectWhatDoesNotFit) {
  constexpr size_t kMost = INT64_MAX / 4;  // 2^61 - 1
  const auto plan = [](const MemoryRequest& request) {
    return [request] { (void)PlanMemory(request); };
  };
  const auto placed = [&](MemoryPlacement placement) {
    MemoryRequest request{.operators = 2,
                          .items = {{8, {0}, {1}}, {16, {1}, {}}},
                          .placements = {placement},
                          .predecessors = {}};
    return plan(request);
  };
  using Kind = MemoryPlacement::Kind;
  const std::string want = ", want items of the request, the first one inside the second one";
  ExpectRefusals({
      {plan(OneItem(kMost + 1)),
       "bytes of item 0 of a memory plan: got 2305843009213693952, want at most "
       "2305843009213693951"},
      {plan(OneItem(kMost)),
       "bytes of all items of a memory plan: got 2305843009213693952, want at most "
       "2305843009213693951"},
      {placed({Kind::kJoin, 2, 0, 1, 0}),
       "a placement of a memory plan has operator 2, items 0 and 1 and offset 0" + want},
      {placed({Kind::kJoin, 1, 2, 1, 0}),
       "a placement of a memory plan has operator 1, items 2 and 1 and offset 0" + want},
      {placed({Kind::kJoin, 1, 0, 2, 0}),
       "a placement of a memory plan has operator 1, items 0 and 2 and offset 0" + want},
      {placed({Kind::kJoin, 1, 0, 1, 9}),
       "a placement of a memory plan has operator 1, items 0 and 1 and offset 9" + want},
      {placed({Kind::kJoin, 1, 0, 1, 17}),
       "a placement of a memory plan has operator 1, items 0 and 1 and offset 17" + want},
      {placed({Kind::kJoin, 1, 0, 1, 8}), "(nothing was thrown)"},
  });
  EXPECT_EQ(PlanMemory(OneItem(kMost - 63)).arena_bytes, kMost - 63);  // a multiple of 64
  EXPECT_EQ(PlanMemory(OneItem(0)).arena_bytes, 0u);
  EXPECT_EQ(PlanMemory(OneItem(1)).arena_bytes, 64u);
  EXPECT_EQ(PlanMemory(OneItem(64)).arena_bytes, 64u);
  EXPECT_EQ(PlanMemory(OneItem(65)).live_bytes, 128u);
}

TEST(GraphLimitsTest, BackwardPassesStateWhatIsWrong) {
  const NetDef forward = ParseNet(R"(name: "n" op { type: "Relu" input: "x" output: "h" }
      op { type: "StopGradient" input: "h" output: "y" })");
  const NetDef square = ParseNet(R"(name: "n" op { type: "Relu" input: "x" output: "h" })");
  const NetDef lookups = ParseNet(R"(
      op { type: "Gather" input: "table" input: "i" output: "a" }
      op { type: "Relu" input: "table" output: "b" }
      op { type: "Sum" input: "a" input: "b" output: "y" })");
  NetDef devices = ParseNet(R"(
      op { type: "Relu" input: "x" output: "a" device_option { device_type: 1 device_id: 1 } }
      op { type: "Relu" input: "x" output: "b" device_option { device_type: 1 device_id: 2 } })");
  const auto add = [](const NetDef& net, const GradientStart& start,
                      const BackwardPassOptions& options = {}) {
    return [net, start, options] {
      NetDef copy = net;
      (void)AddGradientOperators(&copy, start, options);
    };
  };
  ExpectRefusals({
      {add(forward, {{"h", {}}}),
       "output \"y\" of StopGradient is not an input of any operator; remove the operator, or use "
       "its output"},
      {add(square, {{"h", {}}, {"h", {}}}),
       "blob \"h\" is given twice among the blobs to differentiate"},
      {add(square, {{"h", {"", "", "v"}}}),
       "the gradient of blob \"h\" has indices \"\" and values \"v\", want both"},
      {add(square, {{"h", {}}}, {.skip = 2}),
       "operators to skip in net \"n\": got 2, want at most 1"},
      {add(square, {{"h", {}}}, {.skip = 1}), "(nothing was thrown)"},
      {add(lookups, {{"y", {}}}, {.wrt = {"table"}}),
       "blob \"table\" has dense and sparse gradients, which cannot be added up"},
      {add(devices, {{"a", {"da", "", ""}}, {"b", {"db", "", ""}}}),
       "the gradients of blob \"x\" are on different devices and cannot be added up; copy the "
       "blob to one of the devices first"},
  });
  devices.mutable_op(1)->mutable_device_option()->set_device_id(1);
  ExpectRefusals(
      {{add(devices, {{"a", {"da", "", ""}}, {"b", {"db", "", ""}}}), "(nothing was thrown)"}});
}

TEST(GraphLimitsTest, SchemasAndDevicesStateWhatIsWrong) {
  const NetDef moves = ParseNet(R"(name: "moves" op { type: "Relu" input: "x" output: "y" }
      op { type: "ConstantFill" output: "x" device_option { device_type: 1 device_id: 3 } })");
  const OperatorDef op = ParseOp(R"(type: "GraphLimitsTestText")");
  ExpectRefusals({
      {[&] { (void)InjectCrossDeviceCopies(moves); },
       "net \"moves\", operator 1 (ConstantFill): output \"x\" is written on CUDA 3, but the blob "
       "is on CPU: rename the output, or write it on that device and copy it"},
      {[] { MoveToCPU(nullptr); }, "argument net of MoveToCPU is null"},
      {[] { FallBackToCPU(nullptr); }, "argument net of FallBackToCPU is null"},
      {[&] { (void)DeclaredArguments(op).Get<int>("k"); },
       "argument \"k\" of operator type \"GraphLimitsTestText\" has the default seven, want a "
       "number"},
      {[&] { (void)DeclaredArguments(op).Get<int>("m"); },
       "the schema of operator type \"GraphLimitsTestText\" does not declare argument \"m\""},
      {[&] { (void)OpSchema("T", "t.cc").InferCost(op, {}); },
       "operator type \"T\" has no cost inference"},
  });
  EXPECT_EQ(DeclaredArguments(op).Get<int>("n"), 7);
  EXPECT_EQ(DeclaredArguments(op).Get<std::string>("k"), "seven");
}

TEST(GraphLimitsTest, NetsWithoutTheReshapeInferNoShapesOfItsGradient) {
  EnsureBuiltinOperators();
  const NetDef net = ParseNet(R"(
      op { type: "Reshape" input: "dy" input: "old" output: "dx" is_gradient_op: true })");
  ShapeMap shapes = {{"dy", Floats({6})}, {"old", Floats({2})}};
  EXPECT_EQ(InferBlobShapesAndTypes({&net}, &shapes).shapes_size(), 0);
  // Operator by operator, the schema of Reshape answers.
  const std::vector<OpShapes> ops = InferOpShapes({&net}, &shapes);
  EXPECT_TRUE(ops[0].outputs[0].unknown_shape());
  EXPECT_EQ(ops[0].problem, "it has 1 output, want 2");
}

TEST(GraphLimitsTest, SumsGiveTheirInputsTheShapeThatTheirOutputGetsLater) {
  EnsureBuiltinOperators();
  const NetDef net = ParseNet(R"(
      op { type: "GraphLimitsTestUnknown" input: "x" output: "u" }
      op { type: "GraphLimitsTestUnknown" input: "x" output: "v" }
      op { type: "Sum" input: "u" input: "v" output: "s" }
      op { type: "Relu" input: "x" output: "s" })");
  ShapeMap shapes = {{"x", Floats({2, 3})}};
  InferBlobShapesAndTypes({&net}, &shapes);
  EXPECT_EQ(GetDimsVector(shapes.at("u")), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(GetDimsVector(shapes.at("v")), (std::vector<int64_t>{2, 3}));
}

TEST(GraphLimitsTest, OnlyGradientOperatorsTakeShapesOfVariables) {
  EnsureBuiltinOperators();
  const NetDef net = ParseNet(R"(
      op { type: "GraphLimitsTestUnknown" input: "x" output: "x_grad" }
      op { type: "GraphLimitsTestUnknown" input: "x" output: "z_grad" is_gradient_op: true }
      op { type: "Exp" input: "x" output: "y_grad" is_gradient_op: true })");
  ShapeMap shapes = {{"x", Floats({2, 3})}, {"y", Floats({7})}};
  InferBlobShapesAndTypes({&net}, &shapes);
  EXPECT_TRUE(shapes.at("x_grad").unknown_shape());
  EXPECT_TRUE(shapes.at("z_grad").unknown_shape());                             // z is not known
  EXPECT_EQ(GetDimsVector(shapes.at("y_grad")), (std::vector<int64_t>{2, 3}));  // it is inferred
}

TEST(GraphLimitsTest, StatedDimsHaveAtMost32Entries) {
  const std::vector<int64_t> most(32, -1), more(33, 1);
  NetDef net;
  StateInput("a", {TensorProto::FLOAT, true, most}, &net);
  StateInput("b", {TensorProto::FLOAT, true, more}, &net);
  StateOutput("c", most, &net);
  StateOutput("d", more, &net);
  StateOutputFormat("c", "float8e5m2", &net);
  const std::map<std::string, StatedInput> inputs = StatedInputs(net);
  EXPECT_EQ(inputs.at("a").dims, most);
  EXPECT_FALSE(inputs.at("b").has_dims);
  const std::map<std::string, std::vector<int64_t>> outputs = StatedOutputs(net);
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs.at("c"), most);
  EXPECT_EQ(StatedOutputFormats(net), (std::map<std::string, std::string>{{"c", "float8e5m2"}}));
}

TEST(GraphLimitsTest, ElementsAndBytesOfShapesSaturate) {
  EXPECT_EQ(ElementsOf(Floats({2, 3})), 6);
  EXPECT_EQ(ElementsOf(Floats({})), 1);
  EXPECT_EQ(ElementsOf(Floats({2, -1})), 0);
  EXPECT_EQ(ElementsOf(UnknownShape()), 0);
  EXPECT_EQ(BytesOf(Floats({2, 3})), 24);
  EXPECT_EQ(BytesOf(CreateTensorShape(std::vector<int64_t>{5}, TensorProto::UINT8)), 5);
  EXPECT_EQ(BytesOf(CreateTensorShape(std::vector<int64_t>{5}, TensorProto::INT64)), 40);
  EXPECT_EQ(BytesOf(Floats({INT64_MAX / 2})), INT64_MAX);
  EXPECT_EQ(ShapeText(CreateTensorShape(std::vector<int64_t>{}, TensorProto::INT64)), "int64 []");
}

TEST(GraphLimitsTest, MultiplyAddsAreCountedForKnownShapesOnly) {
  struct Row {
    const char* op;
    std::vector<TensorShape> inputs, outputs;
    int64_t count;
  };
  const char* const fc = "type: 'FC'";
  const char* const trans_a = "type: 'BatchMatMul' arg { name: 'trans_a' i: 1 }";
  for (const Row& row : std::vector<Row>{
           {fc, {Floats({2, 5}), Floats({7, 5})}, {Floats({2, 7})}, 70},
           {fc, {Floats({2, 5}), Floats({0, 5})}, {Floats({2, 0})}, 0},
           {fc, {Floats({2, 5})}, {Floats({2, 7})}, 0},
           {fc, {Floats({2, 5}), Floats({7, 5})}, {}, 0},
           {fc, {UnknownShape(), Floats({7, 5})}, {Floats({2, 7})}, 0},
           {fc, {Floats({2, 5}), UnknownShape()}, {Floats({2, 7})}, 0},
           {fc, {Floats({2, 5}), Floats({7, 5})}, {UnknownShape()}, 0},
           {"type: 'Relu'", {Floats({2, 5}), Floats({7, 5})}, {Floats({2, 7})}, 0},
           {"type: 'BatchMatMul'",
            {Floats({3, 2, 5}), Floats({3, 5, 7})},
            {Floats({3, 2, 7})},
            210},
           {trans_a, {Floats({3, 5, 2}), Floats({3, 5, 7})}, {Floats({3, 2, 7})}, 210},
           {trans_a, {Floats({5}), Floats({5, 7})}, {Floats({7})}, 35},
           {trans_a, {Floats({}), Floats({5, 7})}, {Floats({7})}, 0},
       }) {
    EXPECT_EQ(MultiplyAdds(ParseOp(row.op), row.inputs, row.outputs), row.count) << row.op;
  }
}

TEST(GraphLimitsTest, NetsThatFillWeightsConsistOfFillsByMoreThanHalf) {
  const std::string fill = R"(op { type: "ConstantFill" output: "w" } )",
                    scale = R"(op { type: "Relu" input: "w" output: "w" } )";
  EXPECT_TRUE(FillsWeights(ParseNet(fill + fill + scale)));
  EXPECT_FALSE(FillsWeights(ParseNet(fill + scale)));
  EXPECT_FALSE(FillsWeights(ParseNet(scale + fill + fill)));  // reads what is not filled yet
}

TEST(GraphLimitsTest, ElementTypesAreStatedForBlobsOfUnknownShape) {
  EnsureBuiltinOperators();
  const NetDef net = ParseNet(R"(
      op { type: "Cast" input: "x" output: "a" arg { name: "to" i: 10 } }
      op { type: "Negative" input: "a" output: "b" }
      op { type: "GraphLimitsTestUnknown" input: "b" output: "a" })");
  std::vector<OpShapes> ops(3);
  ShapeMap shapes;
  StateElementTypes(net, &ops, &shapes);
  EXPECT_EQ(ops[0].outputs[0].data_type(), TensorProto::INT64);
  EXPECT_EQ(ops[1].inputs[0].data_type(), TensorProto::INT64);
  EXPECT_EQ(ops[1].outputs[0].data_type(), TensorProto::INT64);
  EXPECT_FALSE(ops[2].outputs[0].has_data_type());
  ASSERT_EQ(shapes.size(), 1u);  // a was overwritten by a value of unknown type
  EXPECT_EQ(shapes.at("b").data_type(), TensorProto::INT64);
  ops.resize(2);
  ExpectRefusals({{[&] { StateElementTypes(net, &ops, &shapes); }, "operators: got 2, want 3"}});
}

}  // namespace
}  // namespace caffe2rt::graph_limits_test
