// What schemas answer at the limits of what they declare.
#include <gtest/gtest.h>

#include <climits>
#include <sstream>
#include <string>
#include <vector>

#include "caffe2_core/graph/blob_versions.h"
#include "caffe2_core/graph/memory_traits.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/precision.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::schema_rules_test {
namespace {

using test::ParseNet;

// An operator with the inputs i0, i1, ... and the outputs o0, o1, ...
OperatorDef Op(int inputs, int outputs) {
  OperatorDef def;
  for (int i = 0; i < inputs; ++i) def.add_input(MakeString("i", i));
  for (int i = 0; i < outputs; ++i) def.add_output(MakeString("o", i));
  return def;
}

TEST(SchemaRulesTest, CountsOutsideTheLimitsAreExplained) {
  const OpSchema most = OpSchema("T", "t.cc").NumInputs(2, INT_MAX).NumOutputs(1, 2);
  const OpSchema both =
      OpSchema("T", "t.cc").NumInputsOutputs([](int in, int out) { return in == out; });
  struct Row {
    const OpSchema& schema;
    int inputs, outputs;
    const char* why;
  };
  const Row rows[] = {
      {most, 1, 1, "it has 1 input, want at least 2"},
      {most, 2, 0, "it has 0 outputs, want 1 to 2"},
      {most, 2, 3, "it has 3 outputs, want 1 to 2"},
      {most, 2, 1, ""},
      {most, 99, 2, ""},
      {both, 3, 3, ""},
      {both, 2, 3, "it has 2 inputs and 3 outputs, which is not an allowed combination"}};
  for (const Row& row : rows) {
    std::string why;
    const OperatorDef def = Op(row.inputs, row.outputs);
    const bool conforms = row.schema.Verify(def, &why);
    EXPECT_EQ(why, row.why);
    EXPECT_EQ(conforms, why.empty());
    EXPECT_EQ(row.schema.Verify(def), conforms);  // without a place for the reason
    if (*row.why != '\0')
      test::ExpectRefusals({{[&] { (void)row.schema.InferTensor(def, {}); }, row.why}});
  }
}

TEST(SchemaRulesTest, SharedBlobsAreNamedByPosition) {
  const OpSchema schema = OpSchema("T", "t.cc").AllowInplace({{1, 0}}).EnforceInplace({{0, 1}});
  const auto verify = [&](const std::vector<std::string>& names) {
    OperatorDef def;
    for (int i = 0; i < 2; ++i) def.add_input(names[static_cast<size_t>(i)]);
    for (int i = 2; i < 4; ++i) def.add_output(names[static_cast<size_t>(i)]);
    std::string why;
    (void)schema.Verify(def, &why);
    return why;
  };
  EXPECT_EQ(verify({"a", "b", "b", "a"}), "");
  EXPECT_EQ(verify({"a", "b", "c", "a"}), "");
  EXPECT_EQ(verify({"a", "b", "a", "a"}),
            "input 0 and output 0 (\"a\") are the same blob, but may not be in place");
  EXPECT_EQ(verify({"a", "b", "c", "b"}),
            "input 1 and output 1 (\"b\") are the same blob, but may not be in place");
  EXPECT_EQ(verify({"a", "b", "c", "d"}),
            "input 0 (\"a\") and output 1 (\"d\") must be the same blob");
}

// Each place of a blob that is listed twice is checked.
TEST(SchemaRulesTest, BlobsThatAreListedTwiceAreCheckedTwice) {
  const OpSchema schema = OpSchema("T", "t.cc").AllowInplace({{0, 0}});
  const auto verify = [&](const std::vector<std::string>& inputs) {
    OperatorDef def;
    for (const std::string& input : inputs) def.add_input(input);
    def.add_output("a");
    std::string why;
    (void)schema.Verify(def, &why);
    return why;
  };
  EXPECT_EQ(verify({"a", "b"}), "");
  EXPECT_EQ(verify({"a", "a"}),
            "input 1 and output 0 (\"a\") are the same blob, but may not be in place");
  EXPECT_EQ(verify({"a", "b", "a"}),
            "input 2 and output 0 (\"a\") are the same blob, but may not be in place");
}

TEST(SchemaRulesTest, EveryRequiredArgumentIsChecked) {
  OpSchema schema("T", "t.cc");
  schema.Arg("k", "", true).Arg("axis", "which", 0).Arg("n", "", true);
  const auto verify = [&](const std::string& args) {
    std::string why;
    (void)schema.Verify(test::ParseOp(args), &why);
    return why;
  };
  const std::string k = R"(arg { name: "k" i: 1 })", n = R"( arg { name: "n" i: 1 })";
  EXPECT_EQ(verify(k + n), "");
  EXPECT_EQ(verify(k), "argument \"n\" is required but missing");
  EXPECT_EQ(verify(n), "argument \"k\" is required but missing");
  EXPECT_EQ(verify(""), "argument \"k\" is required but missing");
  std::ostringstream text;
  text << schema;
  EXPECT_NE(text.str().find("  axis : which (default 0)\n"), std::string::npos) << text.str();
}

TEST(SchemaRulesTest, OperatorsThatUseFilesMayHaveOtherEffects) {
  OpSchema schema("T", "t.cc");
  schema.AccessesFiles().HasEffect(Effect::kOutput);
  EXPECT_TRUE(schema.has_effect(Effect::kFiles, Op(1, 0)));
  EXPECT_TRUE(schema.has_effect(Effect::kOutput, Op(1, 0)));
  EXPECT_FALSE(schema.has_effect(Effect::kRandom, Op(1, 0)));
}

TEST(SchemaRulesTest, EffectsWithAConditionHoldIfItFails) {
  OpSchema schema("T", "t.cc");
  schema.HasEffect(Effect::kRandom, [](const OperatorDef& def) { return def.input_size() == 1; })
      .HasEffect(Effect::kOutput,
                 [](const OperatorDef&) -> bool { CAFFE_THROW("no such argument"); });
  EXPECT_TRUE(schema.has_effect(Effect::kRandom, Op(1, 0)));
  EXPECT_FALSE(schema.has_effect(Effect::kRandom, Op(2, 0)));
  EXPECT_TRUE(schema.has_effect(Effect::kOutput, Op(2, 0)));
  EXPECT_FALSE(schema.has_effect(Effect::kFiles, Op(1, 0)));
  EXPECT_FALSE(schema.has_effect(Effect::kEverything, Op(1, 0)));
  EXPECT_TRUE(schema.AccessesFiles().has_effect(Effect::kFiles, Op(1, 0)));
  EXPECT_TRUE(schema.HasEffect(Effect::kEverything).has_effect(Effect::kEverything, Op(1, 0)));
}

TEST(SchemaRulesTest, FailedCostsAreZero) {
  OpSchema schema("T", "t.cc");
  schema.NumInputs(1).CostInferenceFunction(
      [](const OperatorDef&, const std::vector<TensorShape>& in) {
        CAFFE_ENFORCE(!in[0].unknown_shape(), "no shape");
        return OpSchema::Cost{.flops = 7};
      });
  EXPECT_EQ(schema.InferCost(Op(1, 0), {TensorShape()}).flops, 7u);
  EXPECT_EQ(schema.InferCost(Op(1, 0), {UnknownShape()}).flops, 0u);
  test::ExpectRefusals(
      {{[&] { (void)schema.InferCost(Op(2, 0), {}); }, "it has 2 inputs, want 1"}});
}

TEST(SchemaRulesTest, VersionsKnowTheirUsersAndWriters) {
  const NetDef net = ParseNet(R"(
      op { type: "A" input: "x" input: "x" output: "y" }
      op { type: "B" input: "y" output: "y" output: "x" })");
  BlobVersions versions(net.op());
  const auto x = versions.input(0, 0), y = versions.input(1, 0);
  EXPECT_EQ(versions.input(0, 1), x);
  EXPECT_FALSE(versions.writer(x).has_value());
  EXPECT_EQ(versions.overwriter(x), 1u);
  EXPECT_EQ(versions.writer(y), 0u);
  EXPECT_EQ(versions.overwriter(y), 1u);
  EXPECT_TRUE(versions.HasSeveralUses(x));
  EXPECT_TRUE(versions.IsFirstOfSeveralUses(x, 0));
  EXPECT_FALSE(versions.IsFirstOfSeveralUses(x, 1));
  EXPECT_FALSE(versions.HasSeveralUses(y));
  EXPECT_TRUE(versions.IsRead("x"));
  EXPECT_FALSE(versions.IsRead("z"));
  const auto last = versions.AddFinalUse("y");
  EXPECT_EQ(versions.writer(last), 1u);
  EXPECT_FALSE(versions.overwriter(last).has_value());
  EXPECT_FALSE(versions.HasSeveralUses(last));
  EXPECT_TRUE(versions.HasSeveralUses(versions.AddFinalUse("y")));
}

TEST(SchemaRulesTest, PrecisionsHaveNames) {
  for (const char* name : {"f32", "bf16", "int8", "auto"})
    EXPECT_STREQ(PrecisionName(ParsePrecision(name)), name);
  test::ExpectRefusals(
      {{[] { (void)ParsePrecision("F32"); }, "precision \"F32\", want f32, bf16, int8 or auto"}});
}

TEST(SchemaRulesTest, ExtraMemoryNeedsAllShapes) {
  const OperatorDef def = test::ParseOp(R"(type: "Conv" input: "x" input: "w" output: "y"
      arg { name: "kernel" i: 3 })");
  const auto shape = [](const std::vector<int64_t>& dims) {
    return CreateTensorShape(dims, TensorProto::FLOAT);
  };
  const TensorShape x = shape({1, 16, 30, 30}), w = shape({16, 16, 3, 3}),
                    y = shape({1, 16, 28, 28});
  const auto needs = [&](const std::vector<TensorShape>& in, const TensorShape& out) {
    const MemoryTraits::Extra extra = ExtraMemoryOf(def, in, {out});
    return extra.scratch_bytes + extra.prepared_bytes > 0;
  };
  EXPECT_TRUE(needs({x, w}, y));
  EXPECT_FALSE(needs({UnknownShape(), w}, y));
  EXPECT_FALSE(needs({x, UnknownShape()}, y));
  EXPECT_FALSE(needs({x, w}, UnknownShape()));
  EXPECT_FALSE(needs({shape({1, 16, 2, 2}), w}, y));  // the operator would reject it
}

}  // namespace
}  // namespace caffe2rt::schema_rules_test
