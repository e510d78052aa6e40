#include "caffe2_core/graph/op_schema.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/operator_test.h"

OPERATOR_SCHEMA(OpSchemaTestMacro).NumInputs(1).NumOutputs(1).SetDoc("by macro");
OPERATOR_SCHEMA(OpSchemaTestTraits)
    .Traits({.family = caffe2rt::OperatorFamily::kMatMul, .has_weights = true})
    .Memory({.same_blob_in_place = true});

namespace caffe2rt::op_schema_test {
namespace {

using test::ParseOp;

std::string Reason(const OpSchema& schema, const std::string& op) {
  std::string why;
  return schema.Verify(ParseOp(op), &why) ? "fits" : why;
}

std::vector<int64_t> Dims(const TensorShape& shape) { return GetDimsVector(shape); }

TEST(OpSchemaTest, CountsInputsAndOutputs) {
  OpSchema schema("T", "t.cc");
  schema.NumInputs(1, 2).NumOutputs(1);
  EXPECT_EQ(Reason(schema, R"(input: "a" output: "y")"), "fits");
  EXPECT_EQ(Reason(schema, R"(output: "y")"), "it has 0 inputs, want 1 to 2");
  EXPECT_EQ(Reason(schema, R"(input: "a" input: "b" input: "c" output: "y")"),
            "it has 3 inputs, want 1 to 2");
  EXPECT_EQ(Reason(schema, R"(input: "a")"), "it has 0 outputs, want 1");
}

TEST(OpSchemaTest, AcceptsSetsAndPredicates) {
  OpSchema schema;
  schema.NumInputs({2, 4}).NumOutputs([](int n) { return n % 2 == 1; });
  EXPECT_NE(Reason(schema, R"(input: "a" output: "y")"), "fits");
  EXPECT_EQ(Reason(schema, R"(input: "a" input: "b" output: "y")"), "fits");
  EXPECT_NE(Reason(schema, R"(input: "a" input: "b" output: "y" output: "z")"), "fits");
  OpSchema both;
  both.NumInputsOutputs([](int in, int out) { return in == out + 1; });
  EXPECT_NE(Reason(both, R"(input: "a" output: "y")"), "fits");
  EXPECT_EQ(Reason(both, R"(input: "a" input: "b" output: "y")"), "fits");
}

TEST(OpSchemaTest, CalculatesOutputs) {
  OpSchema schema;
  EXPECT_EQ(schema.CalculateOutput(3), OpSchema::kCannotComputeNumOutputs);
  schema.OutputCalculator([](int n) { return n * 2; });
  EXPECT_EQ(schema.CalculateOutput(3), 6);
  EXPECT_EQ(Reason(schema, R"(input: "a" output: "y")"), "it has 1 output, want 2 for 1 input");
  schema.OutputCalculator([](int) { return OpSchema::kCannotComputeNumOutputs; });
  EXPECT_EQ(Reason(schema, R"(input: "a" output: "y")"), "fits");
  EXPECT_EQ(OpSchema().SameNumberOfOutput().CalculateOutput(4), 4);
  EXPECT_EQ(OpSchema().NumOutputs(2).CalculateOutput(9), 2);
}

TEST(OpSchemaTest, AllowsInPlaceWhereDeclared) {
  const char kInPlace[] = R"(input: "a" input: "b" output: "b")";
  EXPECT_NE(Reason(OpSchema(), kInPlace), "fits");
  EXPECT_EQ(Reason(OpSchema().AllowInplace({{1, 0}}), kInPlace), "fits");
  EXPECT_NE(Reason(OpSchema().AllowInplace({{0, 0}}), kInPlace), "fits");
  EXPECT_EQ(Reason(OpSchema().AllowOneToOneInplace(), R"(input: "a" output: "a")"), "fits");
}

TEST(OpSchemaTest, EnforcesInPlaceWhereDeclared) {
  OpSchema schema;
  schema.EnforceInplace({{0, 0}});
  EXPECT_EQ(Reason(schema, R"(input: "a" output: "a")"), "fits");
  EXPECT_NE(Reason(schema, R"(input: "a" output: "y")"), "fits");
  EXPECT_NE(Reason(OpSchema().EnforceOneToOneInplace(), R"(input: "a" output: "y")"), "fits");
  schema.EnforceInplace({{0, 2}});
  EXPECT_EQ(Reason(schema, R"(input: "a" output: "x" output: "y" output: "z")"),
            "input 0 (\"a\") and output 2 (\"z\") must be the same blob");
  EXPECT_EQ(Reason(schema, R"(input: "a" output: "x" output: "y" output: "a")"), "fits");
}

TEST(OpSchemaTest, EnforcesInPlaceAtEveryPosition) {
  std::string inputs, outputs;
  for (int i = 0; i < 100; ++i) inputs += MakeString("input: \"", i, "\" ");
  for (int i = 0; i < 100; ++i) outputs += MakeString("output: \"", i < 99 ? i : 100, "\" ");
  EXPECT_EQ(Reason(OpSchema().EnforceOneToOneInplace(), inputs + outputs),
            "input 99 (\"99\") and output 99 (\"100\") must be the same blob");
}

TEST(OpSchemaTest, FindsInputsThatMustBeInPlace) {
  OpSchema schema;
  EXPECT_FALSE(schema.input_is_enforced_in_place(0, 1));
  schema.AllowInplace({{0, 0}}).EnforceInplace({{1, 0}, {2, 3}});
  EXPECT_FALSE(schema.input_is_enforced_in_place(0, 4));
  EXPECT_TRUE(schema.input_is_enforced_in_place(1, 1));
  EXPECT_TRUE(schema.input_is_enforced_in_place(2, 4));
  EXPECT_FALSE(schema.input_is_enforced_in_place(2, 3));  // there is no output 3
}

TEST(OpSchemaTest, AsksForRequiredArguments) {
  OpSchema schema;
  schema.Arg("group", "groups", 1).ArgIsTest("test mode").Arg("order", "layout", "NCHW");
  EXPECT_EQ(Reason(schema, R"(arg { name: "group" i: 2 })"),
            "argument \"is_test\" is required but missing");
  EXPECT_EQ(Reason(schema, R"(arg { name: "is_test" i: 1 })"), "fits");
  EXPECT_EQ(schema.args()[0].default_value, "1");
  EXPECT_EQ(schema.args()[2].default_value, "NCHW");
}

TEST(OpSchemaTest, IsWrittenAsText) {
  OpSchema schema("T", "folder/t.cc", 12);
  schema.NumInputs(1).NumOutputs(1, 2).Arg("k", "how many", true).Arg("axis", "which", 1);
  schema.Input(0, "X", "the data").Output(1, "Z", "").SetDoc("Does it.");
  std::ostringstream text;
  text << schema;
  EXPECT_EQ(text.str(),
            "Arguments:\n  k : how many (required)\n  axis : which (default 1)\n"
            "Inputs:\n  0, X : the data\n"
            "Outputs:\n  0, (unnamed) : (not documented)\n  1, Z : (not documented)\n"
            "\nDoes it.\n\nDefined at folder/t.cc:12\n");
  std::ostringstream bare;
  bare << OpSchema().NumInputs(0).NumOutputs(1);
  EXPECT_EQ(bare.str(), "Outputs:\n  (not documented)\n\n(not documented)\n");
}

TEST(OpSchemaTest, InfersShapes) {
  const OperatorDef def = ParseOp(R"(input: "a" input: "b" output: "y" output: "z")");
  const std::vector<TensorShape> in = {
      CreateTensorShape(std::vector<int64_t>{2, 3}, TensorProto_DataType_FLOAT),
      CreateTensorShape(std::vector<int>{4}, TensorProto_DataType_INT64)};
  EXPECT_TRUE(OpSchema().InferTensor(def, in).at(1).unknown_shape());
  EXPECT_EQ(OpSchema().IdenticalTypeAndShape().InferTensor(def, in).size(), 2u);
  const auto second = OpSchema().IdenticalTypeAndShapeOfInput(1).InferTensor(def, in);
  EXPECT_EQ(Dims(second[0]), std::vector<int64_t>{4});
  EXPECT_EQ(second[0].data_type(), TensorProto_DataType_INT64);
  // Inputs without a shape are unknown.
  EXPECT_TRUE(
      OpSchema().IdenticalTypeAndShapeOfInput(1).InferTensor(def, {in[0]})[0].unknown_shape());
  EXPECT_EQ(OpSchema().IdenticalTypeAndShape().InferTensor(def, {in[0]}).size(), 2u);
  EXPECT_EQ(Dims(OpSchema().IdenticalTypeAndShapeOfInputDim(0, 1).InferTensor(def, in)[0]),
            std::vector<int64_t>{3});
  EXPECT_TRUE(
      OpSchema().IdenticalTypeAndShapeOfInputDim(0, 2).InferTensor(def, in)[0].unknown_shape());
  const auto scalar = OpSchema().ScalarType(TensorProto_DataType_BOOL).InferTensor(def, in);
  EXPECT_EQ(Dims(scalar[0]), std::vector<int64_t>{});
  EXPECT_EQ(scalar[0].data_type(), TensorProto_DataType_BOOL);
}

TEST(OpSchemaTest, InfersNothingWhileOneShapeOfAnyInputIsUnknown) {
  const OperatorDef def = ParseOp(R"(input: "a" input: "b" input: "c" output: "y" output: "z")");
  const TensorShape known =
      CreateTensorShape(std::vector<int64_t>{2, 3}, TensorProto_DataType_FLOAT);
  OpSchema schema;
  schema.TensorInferenceFunction(
      OpSchema::NeedsAllInputShapes([](const OperatorDef&, const std::vector<TensorShape>& in) {
        return std::vector<TensorShape>{in[2], in[0]};
      }));
  EXPECT_EQ(Dims(schema.InferTensor(def, {known, known, known})[1]), (std::vector<int64_t>{2, 3}));
  for (size_t i = 0; i < 3; ++i) {
    std::vector<TensorShape> in(3, known);
    in[i].set_unknown_shape(true);
    const std::vector<TensorShape> out = schema.InferTensor(def, in);
    ASSERT_EQ(out.size(), 2u);
    EXPECT_TRUE(out[0].unknown_shape() && out[1].unknown_shape()) << "input " << i;
  }
}

TEST(OpSchemaTest, InfersCostAndDevices) {
  OperatorDef def = ParseOp(R"(input: "a" output: "y" output: "z")");
  def.mutable_device_option()->set_device_type(1);
  const std::vector<TensorShape> in = {
      CreateTensorShape(std::vector<int64_t>{2, 3}, TensorProto_DataType_FLOAT)};
  OpSchema schema;
  EXPECT_FALSE(schema.HasCostInferenceFunction());
  EXPECT_THROW(schema.InferCost(def, in), EnforceNotMet);
  schema.CostInferenceFunction(PointwiseCostInference<2>);
  EXPECT_EQ(schema.InferCost(def, in).flops, 12u);
  EXPECT_EQ(schema.InferDevice(def).first.at(0).device_type(), 1);
  EXPECT_EQ(schema.InferDevice(def).second.size(), 2u);
}

TEST(OpSchemaRegistryTest, KnowsMacroAndExplicitSchemas) {
  ASSERT_NE(OpSchemaRegistry::Schema("OpSchemaTestMacro"), nullptr);
  EXPECT_STREQ(OpSchemaRegistry::Schema("OpSchemaTestMacro")->doc(), "by macro");
  EXPECT_EQ(OpSchema().doc(), nullptr);
  RegisterSchema("OpSchemaTestExplicit", "x.cc");
  EXPECT_EQ(OpSchemaRegistry::Schema("OpSchemaTestExplicit")->file(), "x.cc");
  EXPECT_EQ(OpSchemaRegistry::Schema("OpSchemaTestNone"), nullptr);
}

TEST(OpSchemaRegistryTest, ReturnsTheTraitsThatASchemaStates) {
  EXPECT_EQ(TraitsOf("OpSchemaTestTraits").family, OperatorFamily::kMatMul);
  EXPECT_TRUE(TraitsOf("OpSchemaTestTraits").has_weights);
  EXPECT_FALSE(TraitsOf("OpSchemaTestTraits").same_shape);
  for (const char* type : {"OpSchemaTestMacro", "OpSchemaTestNone"}) {  // one has no schema
    EXPECT_FALSE(TraitsOf(type).family.has_value());
    EXPECT_FALSE(TraitsOf(type).has_weights);
    EXPECT_EQ(TraitsOf(type).multiply_adds, MultiplyAddCount::kNotCounted);
  }
}

TEST(OpSchemaRegistryTest, PlansNoMemoryOfUsersTypes) {
  EXPECT_TRUE(OpSchemaRegistry::Schema("OpSchemaTestTraits")->memory().same_blob_in_place);
  for (const char* type : {"OpSchemaTestTraits", "OpSchemaTestNone"}) {
    EXPECT_TRUE(MemoryTraitsOf(type).keeps_memory);
  }
  EXPECT_FALSE(MemoryTraitsOf("Concat").keeps_memory);
  EXPECT_TRUE(MemoryTraitsOf("Int8Add").quantized_outputs);
}

TEST(OpSchemaRegistryTest, SecondSchemaNamesBothFiles) {
  RegisterSchema("OpSchemaTestTwice", "a.cc");
  RegisterSchema("OpSchemaTestTwice", "b.cc");  // is recorded and does not throw
  test::ExpectThrows([] { OpSchemaRegistry::ThrowConflicts(); }, "in a.cc and in b.cc");
  OpSchemaRegistry::NewSchema("OpSchemaTestTwice", "c.cc", 7);  // as the macro does; does not throw
  test::ExpectThrows([] { OpSchemaRegistry::ThrowConflicts(); }, "in a.cc and in c.cc:7");
}

}  // namespace
}  // namespace caffe2rt::op_schema_test
