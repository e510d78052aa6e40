// Corners of graph functions: statements that throw, declarations of several kinds, blobs that one
// operator writes twice, and what is reported only once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/graph/accepted_inputs.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/backward_pass.h"
#include "caffe2_core/graph/blob_values.h"
#include "caffe2_core/graph/blob_versions.h"
#include "caffe2_core/graph/dependencies.h"
#include "caffe2_core/graph/device_copies.h"
#include "caffe2_core/graph/device_inference.h"
#include "caffe2_core/graph/gradient_origins.h"
#include "caffe2_core/graph/input_types.h"
#include "caffe2_core/graph/memory_demand.h"
#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/shared_memory.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::graph_corners_test {
namespace {

using test::ExpectRefusals;
using test::ParseNet;
using test::ParseOp;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

OPERATOR_SCHEMA(GraphCornersThrows).AccessesUnlistedBlobs([](const OperatorDef& def) -> bool {
  CAFFE_THROW("no ", def.type());
});
OPERATOR_SCHEMA(GraphCornersTypes)
    .Input(2, "C", "")
    .TypesOfInput(0, {.accepted = {TensorProto::FLOAT, TensorProto::INT32}})
    .TypesOfInput(1, {.accepted = {TensorProto::FLOAT}})
    .TypesOfInput(2, {.accepted = {TensorProto::FLOAT, TensorProto::INT32}, .like_first = true});
OPERATOR_SCHEMA(GraphCornersShares)
    .NumInputs(2)
    .NumOutputs(2)
    .OutputSharesInput(0, 1)
    .OutputSharesInput(2, 0);
OPERATOR_SCHEMA(GraphCornersThird).NumInputs(2, 3).NumOutputs(2).OutputSharesInput(2, 0);
OPERATOR_SCHEMA(GraphCornersInputs).DeviceInferenceFunction([](const OperatorDef& def) {
  return std::pair(std::vector<DeviceOption>(1),
                   std::vector<DeviceOption>(static_cast<size_t>(def.output_size())));
});
OPERATOR_SCHEMA(GraphCornersOutputs).DeviceInferenceFunction([](const OperatorDef& def) {
  return std::pair(std::vector<DeviceOption>(static_cast<size_t>(def.input_size())),
                   std::vector<DeviceOption>(3));
});

// An operator with invalid arguments may do anything; its constructor reports them.
TEST(GraphCornersTest, StatementsThatThrowCountAsMade) {
  OpSchema schema("T", "t.cc");
  schema.HasEffect(Effect::kRandom, [](const OperatorDef&) -> bool { CAFFE_THROW("no"); });
  schema.HasEffect(Effect::kOutput, [](const OperatorDef&) { return false; });
  EXPECT_TRUE(schema.has_effect(Effect::kRandom, OperatorDef()));
  EXPECT_FALSE(schema.has_effect(Effect::kOutput, OperatorDef()));
  EXPECT_FALSE(schema.has_effect(Effect::kFiles, OperatorDef()));
  EnsureBuiltinOperators();
  const NetDef net = ParseNet(R"(op { type: "Relu" input: "x" output: "a" }
      op { type: "GraphCornersThrows" } op { type: "Relu" input: "a" output: "y" })");
  const NetDependencies blobs(net);
  EXPECT_THAT(blobs.predecessors(1), ElementsAre(0));
  EXPECT_THAT(blobs.predecessors(2), testing::Contains(1));
  ShapeMap shapes = {{"x", CreateTensorShape(std::vector<int64_t>{2}, TensorProto::FLOAT)}};
  const std::vector<OpShapes> inferred = InferOpShapes({&net}, &shapes);
  const MemoryDemand demand(net, blobs, MemoryOfShapes(net, blobs, inferred), {}, inferred);
  EXPECT_THAT(demand.request().items, IsEmpty());
}

TEST(GraphCornersTest, ConflictsAreReportedOnce) {
  RegisterSchema("GraphCornersConflict", "a.cc");
  RegisterSchema("GraphCornersConflict", "b.cc");
  test::ExpectThrows([] { OpSchemaRegistry::ThrowConflicts(); }, "in a.cc and in b.cc");
  EXPECT_NO_THROW(OpSchemaRegistry::ThrowConflicts());
}

TEST(GraphCornersTest, RangesOfRanksEndAtTheHighest) {
  const struct {
    std::vector<int> ranks;
    const char* text;
  } rows[] = {{{0}, "rank 0"},
              {{6}, "rank 6"},
              {{5, 6}, "rank 5 and more"},
              {{4, 6}, "rank 4 or 6"},
              {{1, 3}, "rank 1 or 3"},
              {{1, 2, 4, 6}, "rank 1 or 2, 4 or 6"},
              {{0, 1, 2, 3, 4, 5}, "rank 0 to 5"},
              {{1, 2, 3, 4, 5, 6}, "rank 1 and more"}};
  for (const auto& row : rows) EXPECT_EQ(RanksText({{}, row.ranks}), row.text);
}

TEST(GraphCornersTest, UnknownTypesHideNoWrongOnes) {
  const auto wrong = [](const std::vector<TensorProto_DataType>& types) {
    std::vector<TensorShape> shapes;
    for (const TensorProto_DataType type : types) {
      shapes.push_back(type == TensorProto::UNDEFINED
                           ? UnknownShape()
                           : CreateTensorShape(std::vector<int64_t>{2}, type));
    }
    return WrongInputType(ParseOp(R"(type: "GraphCornersTypes")"), shapes);
  };
  constexpr auto kFloat = TensorProto::FLOAT, kInt = TensorProto::INT32, kLong = TensorProto::INT64,
                 kNone = TensorProto::UNDEFINED;
  EXPECT_EQ(wrong({kFloat, kFloat, kFloat}), "");
  EXPECT_EQ(wrong({kNone, kInt, kFloat}), "input 1 has elements of type int32, want float");
  EXPECT_EQ(wrong({kFloat, kNone, kLong}),
            "input 2 (C) has elements of type int64, want float as input 0");
  EXPECT_EQ(wrong({kNone, kNone, kLong}),
            "input 2 (C) has elements of type int64, want float, int32");
  EXPECT_EQ(wrong({kNone, kNone, kInt}), "");
  EXPECT_EQ(wrong({kInt, kFloat, kInt, kLong}), "");  // nothing is stated about input 3
  EXPECT_EQ(wrong({kLong, kInt}), "input 0 has elements of type int64, want float, int32");
}

TEST(GraphCornersTest, EachNumberOfDevicesIsChecked) {
  const auto infer = [](const std::string& type) {
    return [type] {
      (void)InferOpInputOutputDevice(
          ParseOp("type: \"GraphCorners" + type + R"(" input: "a" input: "b" output: "c")"));
    };
  };
  ExpectRefusals({
      {infer("Inputs"),
       "device inference of operator type \"GraphCornersInputs\" returns 1 devices for inputs and "
       "1 for outputs, want 2 and 1"},
      {infer("Outputs"),
       "device inference of operator type \"GraphCornersOutputs\" returns 2 devices for inputs "
       "and 3 for outputs, want 2 and 1"},
  });
}

// The pairs of the schema, then those that a function finds in the arguments.
TEST(GraphCornersTest, DeclarationsOfSharedMemoryAddUp) {
  const OperatorDef def =
      ParseOp(R"(type: "GraphCornersShares" input: "a" input: "b" output: "c" output: "d")");
  DeclareSharedMemory("GraphCornersShares", [](const OperatorDef& op) -> NamePairs {
    if (op.name() == "invalid") CAFFE_THROW("no");
    return {{op.input(1), op.output(0)}, {"s", "t"}};
  });
  DeclareSharedMemory("GraphCornersShares", [](const OperatorDef&) { return NamePairs(); });
  EXPECT_THAT(SharedNamesOf(def), ElementsAre(Pair("a", "d"), Pair("b", "c"), Pair("s", "t")));
  OperatorDef invalid = def;
  invalid.set_name("invalid");
  EXPECT_THAT(SharedNamesOf(invalid), ElementsAre(Pair("a", "d")));
  EXPECT_THAT(SharedNamesOf(ParseOp(R"(type: "NoSuchOperator" input: "a" output: "b")")),
              IsEmpty());
}

// Output 0 shares the memory of input 2, if there is one.
TEST(GraphCornersTest, OutputsAreWrittenIfTheirInputIsMissing) {
  for (const bool third : {false, true}) {
    const NetDef net = ParseNet(MakeString(
        R"(op { type: "GraphCornersThird" input: "a" input: "b" output: "c" output: "d" )",
        third ? "input: \"e\" }" : "}"));
    const NetDependencies blobs(net);
    EXPECT_EQ(blobs.is_memory_written(blobs.Find("c")), !third);
    EXPECT_TRUE(blobs.is_memory_written(blobs.Find("d")));
    EXPECT_FALSE(blobs.is_memory_written(blobs.Find("a")));
    EXPECT_EQ(blobs.same_memory().size(), third ? 1u : 0u);
    if (third) {
      EXPECT_EQ(blobs.memory(blobs.Find("c")), blobs.memory(blobs.Find("e")));
    }
  }
}

TEST(GraphCornersTest, ValuesThatOneOperatorWritesTwiceHaveTheirOwnKeys) {
  const std::vector<BlobValue> values =
      ListBlobValues(ParseNet(R"(op { type: "Split" input: "x" output: "a" output: "a" }
                                 op { type: "Relu" input: "a" output: "a" })"));
  std::vector<std::string> keys;
  for (const BlobValue& value : values) keys.push_back(value.key);
  EXPECT_THAT(keys, ElementsAre("x", "a after operator 0", "a after operator 0_", "a"));
  EXPECT_EQ(values[1].from_last, 2);
  EXPECT_EQ(values[2].from_last, 1);
  EXPECT_EQ(values[3].from_last, 0);
  EXPECT_TRUE(values[0].only);
  EXPECT_FALSE(values[3].only);
}

// What the net does not declare itself stays undeclared.
TEST(GraphCornersTest, OnlyCopiesOfEarlierNetsAreDeclared) {
  const NetDef first = ParseNet(R"(op { type: "ConstantFill" output: "w" }
      op { type: "Relu" input: "w" output: "a" device_option { device_type: 1 } })");
  const NetDef second = ParseNet(R"(external_input: "w" device_option { device_type: 1 }
      op { type: "Sum" input: "w" input: "v" output: "y" }
      op { type: "Relu" input: "u" output: "z" device_option { device_type: 0 } })");
  const NetDef copied = InjectDeviceCopiesAmongNets({first, second}).at(1);
  EXPECT_THAT(copied.external_input(), ElementsAre("w", "w_gpu_0"));
}

TEST(GraphCornersTest, GradientsAreThoseOfTheirOutput) {
  const std::vector<OperatorDef> ops = {CreateOperatorDef("First", "", {}, {"g", "h"}),
                                        CreateOperatorDef("Second", "", {}, {"i", "h"}),
                                        CreateOperatorDef("Third", "", {"g", "h"}, {"g"})};
  const auto check = [&](const std::string& name, GradientOrigins::Origin origin) {
    return [&ops, name, origin] {
      GradientOrigins origins;
      origins.Expect(2, name, origin);
      origins.Check(ops);
    };
  };
  const std::string end =
      " overwrites it before; write the outputs of operators that work in place to other blobs";
  const auto other = [&](const std::string& name, const std::string& writer) {
    return "Third needs the gradient \"" + name + "\", but " + writer + end;
  };
  ExpectRefusals({
      {check("g", GradientOutput{0, 0}), "(nothing was thrown)"},
      {check("g", GradientOutput{0, 1}), other("g", "First")},
      {check("g", GradientOutput{1, 0}), other("g", "First")},
      {check("g", std::nullopt), other("g", "First")},
      {check("h", GradientOutput{1, 1}), "(nothing was thrown)"},
      {check("h", GradientOutput{0, 1}), other("h", "Second")},
      {check("i", GradientOutput{1, 0}), "(nothing was thrown)"},
      {check("j", std::nullopt), "(nothing was thrown)"},
      {check("j", GradientOutput{0, 0}), "(nothing was thrown)"},  // nothing wrote it
  });
  GradientOrigins origins;
  EXPECT_FALSE(origins.Get(3, "g").has_value());
  origins.Set(3, "g", GradientOutput{1, 2});
  EXPECT_EQ(origins.Get(3, "g")->op, 1u);
  EXPECT_EQ(origins.Get(3, "g")->index, 2);
  EXPECT_FALSE(origins.Get(4, "g").has_value());
}

TEST(GraphCornersTest, AFinalUseIsNotTheFirstOne) {
  const NetDef net = ParseNet(R"(op { input: "x" output: "a" } op { input: "a" output: "b" })");
  BlobVersions versions(net.op());
  const auto a = versions.AddFinalUse("a"), b = versions.AddFinalUse("b");
  EXPECT_TRUE(versions.IsFirstOfSeveralUses(a, 1));
  EXPECT_FALSE(versions.IsFirstOfSeveralUses(a, 2));
  EXPECT_FALSE(versions.HasSeveralUses(b));
  versions.AddFinalUse("b");
  EXPECT_TRUE(versions.IsFirstOfSeveralUses(b, 2));
  const auto other = versions.AddFinalUse("z");
  EXPECT_FALSE(versions.writer(other).has_value());
  EXPECT_FALSE(versions.HasSeveralUses(other));
}

// A step that reads the value of the one before twice, as its first and its last input.
class GraphCornersTwiceMaker : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    return {CreateOperatorDef("Step1", "", {GO(0)}, {GI(0)}),
            CreateOperatorDef("Step2", "", {GI(0), O(0), GI(0)}, {GI(0)})};
  }
};
class GraphCornersSumMaker : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    return {CreateOperatorDef("SumGradient", "", {GO(0)}, {GI(0), GI(1)})};
  }
};
REGISTER_GRADIENT(GraphCornersTwice, GraphCornersTwiceMaker);
REGISTER_GRADIENT(GraphCornersSum, GraphCornersSumMaker);

class GraphCornersLateMaker : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    return {CreateOperatorDef("GraphCornersFirst", "", {GO(0)}, {GI(0)}),
            CreateOperatorDef("GraphCornersLast", "", {O(0), GI(0)}, {GI(0)})};
  }
};
REGISTER_GRADIENT(GraphCornersLate, GraphCornersLateMaker);

class GraphCornersSparseMaker : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    return {CreateOperatorDef("GraphCornersFirst", "", {GO(0)}, {GI_I(0), GI_V(0)}),
            CreateOperatorDef("GraphCornersLast", "", {GI_V(0)}, {GI_V(0)})};
  }
};
REGISTER_GRADIENT(GraphCornersSparse, GraphCornersSparseMaker);

TEST(GraphCornersTest, StepsAreRenamedIfTheyAreNotTheFirstInput) {
  NetDef net = ParseNet(R"(op { type: "GraphCornersLate" input: "x" output: "y" }
                           op { type: "GraphCornersSum" input: "x" input: "y" output: "z" })");
  AddGradientOperators(&net, {{"z", {}}});
  ASSERT_EQ(net.op_size(), 7);
  EXPECT_THAT(net.op(4).output(), ElementsAre("_x_grad_autogen_step"));
  EXPECT_THAT(net.op(5).input(), ElementsAre("y", "_x_grad_autogen_step"));
  EXPECT_THAT(net.op(5).output(), ElementsAre("_x_grad_autosplit_0"));
}

// Of values that are written twice, the last ones count; the indices stay those of the first operator.
TEST(GraphCornersTest, SumsOfSparseGradientsTakeTheLastValues) {
  NetDef net = ParseNet(R"(op { type: "GraphCornersSparse" input: "x" output: "y" }
                           op { type: "GraphCornersSparse" input: "x" output: "w" }
                           op { type: "GraphCornersSum" input: "w" input: "y" output: "z" })");
  AddGradientOperators(&net, {{"z", {}}});
  std::vector<std::string> indices, values, joined;
  for (const OperatorDef& op : net.op()) {
    if (op.type() == "GraphCornersFirst") indices.push_back(op.output(0));
    if (op.type() == "GraphCornersLast") values.push_back(op.output(0));
    if (op.type() == "Concat") joined.insert(joined.end(), op.input().begin(), op.input().end());
  }
  ASSERT_EQ(indices.size(), 2u);
  ASSERT_EQ(values.size(), 2u);
  EXPECT_THAT(joined, ElementsAre(indices[0], indices[1], values[0], values[1]));
  EXPECT_NE(indices[0], indices[1]);
  EXPECT_NE(values[0], values[1]);
}

TEST(GraphCornersTest, StepsAreRenamedWhereverTheyAreRead) {
  NetDef net = ParseNet(R"(op { type: "GraphCornersTwice" input: "x" output: "y" }
                           op { type: "GraphCornersSum" input: "x" input: "y" output: "z" })");
  AddGradientOperators(&net, {{"z", {}}});
  ASSERT_EQ(net.op_size(), 7);
  EXPECT_THAT(net.op(4).output(), ElementsAre("_x_grad_autogen_step"));
  EXPECT_THAT(net.op(5).input(), ElementsAre("_x_grad_autogen_step", "y", "_x_grad_autogen_step"));
  EXPECT_THAT(net.op(5).output(), ElementsAre("_x_grad_autosplit_0"));
  EXPECT_THAT(net.op(6).input(), ElementsAre("x_grad", "_x_grad_autosplit_0"));
}

// Databases of operators in a list of nets are found, too.
TEST(GraphCornersTest, DatabasesOfNestedNetsAreFound) {
  const test::TempDir dir;
  dir.Write("nets/near", "");
  const std::string load = R"(op { type: "Load" arg { name: "db" s: "near" } })";
  NetDef net = ParseNet("op { type: \"T\" arg { name: \"n\" nets { } nets { " + load +
                        " } } arg { name: \"m\" n { " + load + " } } }");
  FindDatabases(&net, dir.path("root"), dir.path("nets"));
  for (const NetDef& inner : {net.op(0).arg(0).nets(1), net.op(0).arg(1).n()}) {
    EXPECT_EQ(GetArgument(inner.op(0), "db").s(), dir.path("nets/near"));
    EXPECT_TRUE(GetFlagArgument(inner.op(0), "absolute_path"));
  }
}

}  // namespace
}  // namespace caffe2rt::graph_corners_test
