// What reports on nets find in narrow cases: operators with several inputs or outputs that count,
// engines in a list, steps beside each other, gradients below 0, values that are loaded, numbers at
// the end of a histogram.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/passes/user_operators.h"
#include "caffe2_core/inspect/blob_watch.h"
#include "caffe2_core/inspect/gradient_check.h"
#include "caffe2_core/inspect/input_check.h"
#include "caffe2_core/inspect/model_check.h"
#include "caffe2_core/inspect/nan_search.h"
#include "caffe2_core/inspect/net_comparison.h"
#include "caffe2_core/inspect/net_profile.h"
#include "caffe2_core/inspect/range_histogram.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::narrow_findings_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Texts = std::vector<std::string>;

TensorShape ShapeWith(TensorProto_DataType type, const std::vector<int64_t>& dims) {
  return CreateTensorShape(dims, type);
}

Texts LinesFor(const std::vector<NetFinding>& findings) {
  Texts texts;
  for (const NetFinding& finding : findings) {
    std::string text = NetFindingKindName(finding.kind);
    for (const int op : finding.ops) text += MakeString(" ", op);
    texts.push_back(text + ": " + finding.path + finding.text);
  }
  return texts;
}

// --- inputs and weights of models ---

ModelToCheck ModelWithData() {
  ModelToCheck model{.has_surroundings = true};
  model.given["x"] = ShapeWith(TensorProto::FLOAT, {1, 2, 5, 5});
  return model;
}

// The offsets between the filter and the bias are computed, and no weights.
TEST(NarrowModelTest, AnInputBehindAWeightIsNoWeight) {
  EXPECT_EQ(
      LinesFor(ValidateModel(
          ParseNet(R"(op { type: "ONNXDeformConv" input: "x" input: "w" input: "o" output: "y" })"),
          ModelWithData())),
      (Texts{"error 0: no init net fills the weights \"w\" of ONNXDeformConv",
             "error 0: input \"o\" was not given"}));
  // Those of two operators are two findings, also if the first one ends with a weight.
  EXPECT_EQ(LinesFor(ValidateModel(
                ParseNet(R"(op { type: "FC" input: "x" input: "w" input: "b" output: "y" }
                            op { type: "Add" input: "y" input: "o" output: "z" })"),
                ModelWithData())),
            (Texts{"error 0: no init net fills the weights \"w\", \"b\" of FC",
                   "error 1: input \"o\" was not given"}));
}

// Each output of an operator hides the value that its blob had, not only the first one.
TEST(NarrowModelTest, EveryWrittenBlobLosesItsKnownValue) {
  Workspace ws;
  ModelToCheck model{.has_surroundings = true};
  model.given = {{"x", ShapeWith(TensorProto::FLOAT, {6, 2})},
                 {"l", ShapeWith(TensorProto::INT32, {2})},
                 {"c", ShapeWith(TensorProto::INT32, {6})}};
  model.values["l"] = Feed<int32_t>(&ws, "l", {2}, {4, 1});
  const std::string sum = R"(op { type: "LengthsSum" input: "x" input: "l" output: "y" } )";
  const struct {
    const char* outputs;
    bool rejects;
  } rows[] = {{"output: 'p' output: 'q' output: 'r'", true},
              {"output: 'l' output: 'p' output: 'q'", false},
              {"output: 'p' output: 'l' output: 'q'", false},
              {"output: 'p' output: 'q' output: 'l'", false}};
  for (const auto& row : rows) {
    const std::string split =
        MakeString("op { type: 'Split' input: 'c' ", row.outputs, " arg { name: 'axis' i: 0 } } ");
    const Texts texts = LinesFor(ValidateModel(ParseNet(split + sum), model));
    const bool rejects =
        testing::Matches(testing::Contains(HasSubstr("LengthsSum rejects its inputs")))(texts);
    EXPECT_EQ(rejects, row.rejects) << row.outputs;
  }
}

// What is given counts as given, also without a shape.
TEST(NarrowModelTest, GivenInputsNeedNoShape) {
  const NetDef net = ParseNet(R"(op { type: "Relu" input: "q" output: "y" })");
  ModelToCheck model{.has_surroundings = true};
  EXPECT_THAT(LinesFor(ValidateModel(net, model)),
              ElementsAre("error 0: input \"q\" was not given"));
  model.given["q"] = UnknownShape();
  EXPECT_THAT(LinesFor(ValidateModel(net, model)), IsEmpty());
}

// --- tries of operators ---

OperatorDef QuantizedOp(const std::string& type, const std::string& args = "") {
  return ParseOp("type: '" + type + "' input: 'x' input: 'w' input: 'b' output: 'y' " +
                 "arg { name: 'Y_scale' f: 0.5 } arg { name: 'Y_zero_point' i: 3 } " + args);
}

// The bias of a quantized operator has 32 bits, and is quantized as well.
TEST(NarrowInputTest, QuantizedOperatorsTakeABiasOf32Bits) {
  EnsureBuiltinOperators();
  const auto problem = [](const OperatorDef& op, const std::vector<int64_t>& x,
                          const std::vector<int64_t>& w, const std::vector<int64_t>& b,
                          TensorProto_DataType bias) {
    return InputProblem(op, {ShapeWith(TensorProto::UINT8, x), ShapeWith(TensorProto::UINT8, w),
                             ShapeWith(bias, b)});
  };
  const OperatorDef fc = QuantizedOp("Int8FC");
  const OperatorDef conv =
      QuantizedOp("Int8Conv", "arg { name: 'kernel' i: 1 } arg { name: 'order' s: 'NHWC' }");
  EXPECT_EQ(problem(fc, {2, 3}, {4, 3}, {4}, TensorProto::INT32), "");
  EXPECT_EQ(problem(conv, {1, 2, 2, 3}, {4, 1, 1, 3}, {4}, TensorProto::INT32), "");
  EXPECT_NE(problem(fc, {2, 3}, {4, 3}, {5}, TensorProto::INT32), "");
  EXPECT_NE(problem(fc, {2, 3}, {4, 3}, {4}, TensorProto::FLOAT), "");
  EXPECT_NE(problem(conv, {1, 2, 2, 3}, {4, 1, 1, 3}, {3}, TensorProto::INT32), "");
}

// --- nets and plans ---

TEST(NarrowValidationTest, EveryEngineOfAListIsLookedUp) {
  const auto lines = [](const std::string& more) {
    return LinesFor(
        ValidateNet(ParseNet("op { type: 'Relu' input: 'x' output: 'y' " + more + " }")));
  };
  const auto note = [](const char* engine) {
    return MakeString("note 0: engine \"", engine,
                      "\" has no implementation on the device CPU: another one runs");
  };
  EXPECT_THAT(lines("engine: 'DEFAULT'"), IsEmpty());
  EXPECT_THAT(lines("engine: 'NOSUCH'"), ElementsAre(note("NOSUCH")));
  EXPECT_THAT(lines("engine: 'NOSUCH,OTHER'"), ElementsAre(note("NOSUCH"), note("OTHER")));
  EXPECT_THAT(lines("engine: 'DEFAULT,OTHER'"), ElementsAre(note("OTHER")));
  // Another device that is not available has no engines, and its number does not matter on the CPU.
  EXPECT_THAT(lines("engine: 'NOSUCH' device_option { device_type: 31 device_id: 5 }"),
              ElementsAre("note 0: asks for the device device type 31, which is not available: it "
                          "runs on the CPU (--device auto)"));
}

// The device of an operator is checked beside that of its net.
TEST(NarrowValidationTest, DevicesOfNetsAndOperatorsAreChecked) {
  const auto lines = [](const std::string& net, const std::string& op) {
    return LinesFor(
        ValidateNet(ParseNet(net + " op { type: 'Relu' input: 'x' output: 'y' " + op + " }")));
  };
  const std::string at_net = "device_option { device_type: 31 }",
                    at_op = "device_option { device_type: 32 }";
  const std::string note =
      "asks for the device device type 31, which is not available: it runs "
      "on the CPU (--device auto)";
  EXPECT_THAT(lines(at_net, ""), ElementsAre("note: " + note));
  EXPECT_THAT(lines("", at_net), ElementsAre("note 0: " + note));
  EXPECT_THAT(
      lines(at_net, at_op),
      testing::IsSupersetOf(
          {std::string("error 0: device type 32 is not known, want 0 to 31"), "note: " + note}));
}

TEST(NarrowValidationTest, OperatorsWithArgumentsOfAnyNameGiveNoWarning) {
  const auto lines = [](const std::string& type) {
    return LinesFor(ValidateNet(
        ParseNet("op { type: '" + type +
                 "' input: 'i' output: 'r' arg { name: 'policy' s: 'fixed' } "
                 "arg { name: 'base_lr' f: 1 } arg { name: 'sub_policy_0_power' f: 1 } }")));
  };
  EXPECT_THAT(lines("LearningRate"), IsEmpty());
  EXPECT_THAT(lines("Copy"),
              testing::Contains(HasSubstr("argument \"sub_policy_0_power\" is not known")));
}

Texts PlanLines(const std::string& text) {
  PlanDef plan;
  ParseTextProto("network { name: 'a' } network { name: 'b' } " + text, "plan", &plan);
  return LinesFor(ValidatePlan(plan));
}

TEST(NarrowPlanTest, EachOfSeveralStepsIsChecked) {
  const std::string missing = "error: step \"s\": net \"unlike_all\" is not in the plan";
  const struct {
    const char* steps;
    Texts lines;
  } rows[] = {
      {"execution_step { network: 'a' } execution_step { name: 's' network: 'unlike_all' }",
       {missing}},
      {"execution_step { name: 's' network: 'unlike_all' } execution_step { network: 'a' }",
       {missing}},
      {"execution_step { substep { name: 's' network: 'unlike_all' } }", {missing}},
      {"execution_step { substep { network: 'a' } substep { name: 's' network: 'unlike_all' } }",
       {missing}},
      {"execution_step { substep { name: 's' network: 'unlike_all' } substep { network: 'b' } }",
       {missing}},
      {"execution_step { substep { substep { network: 'a' } substep { name: 's' network: "
       "'unlike_all' } } }",
       {missing}},
      {"execution_step { name: 's' network: 'b' network: 'unlike_all' }", {missing}},
      {"execution_step { name: 's' network: 'a' network: 'b' }", {}},
  };
  for (const auto& row : rows) EXPECT_EQ(PlanLines(row.steps), row.lines) << row.steps;
}

// A field that is given counts, whatever its value is.
TEST(NarrowPlanTest, FieldsThatAreGivenCountWithAnyValue) {
  const std::string once =
      "error: step \"s\": only_once is given without should_stop_blob, which is not supported";
  const std::string both =
      "error: step \"s\": num_iter is given with should_stop_blob, want one of them";
  const std::string report = "error: step \"s\": report_net without report_interval";
  const struct {
    const char* fields;
    Texts lines;
  } rows[] = {
      {"only_once: true", {once}},
      {"only_once: false", {once}},
      {"only_once: false should_stop_blob: 'b'", {}},
      {"only_once: true should_stop_blob: 'b'", {}},
      {"num_iter: 2 should_stop_blob: 'b'", {both}},
      {"num_iter: 0 should_stop_blob: 'b'", {both}},
      {"num_iter: 0", {}},
      {"report_net: 'b'", {report}},
      {"report_net: 'b' report_interval: 1", {}},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(PlanLines(MakeString("execution_step { name: 's' network: 'a' ", row.fields, " }")),
              row.lines)
        << row.fields;
  }
}

// --- gradients ---

// y = 2 x. The gradient is input 1 instead of 2.
class NarrowFindingsTwiceOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const Tensor& x = Input(0);
    float* const y = Output(0, x.sizes(), TypeMeta::Make<float>())->mutable_data<float>();
    for (int64_t i = 0; i < x.numel(); ++i) y[i] = 2 * x.data<float>()[i];
    return true;
  }
};
class NarrowFindingsTwiceGradient final : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("Mul", "", std::vector<std::string>{I(1), GO(0)},
                             std::vector<std::string>{GI(0)});
  }
};
REGISTER_CPU_OPERATOR(NarrowFindingsTwice, NarrowFindingsTwiceOp);
OPERATOR_SCHEMA(NarrowFindingsTwice).NumInputs(2).NumOutputs(1);
REGISTER_GRADIENT(NarrowFindingsTwice, NarrowFindingsTwiceGradient);

// The weights of three elements are 0.71, -0.43 and 0.89. Element 0 is 0.071 beside its value: more
// than 0.01 of 1.78, the largest of right gradients, and less than 0.01 of 42.7, which one element
// of 100 has with either sign.
TEST(NarrowGradientTest, TheLargestElementCountsWithEitherSign) {
  const struct {
    std::vector<float> gradient;
    int64_t wrong;
  } rows[] = {{{2, 2, 2}, 0},          {{2.1f, 2, 2}, 1},   {{2.1f, 100, 2}, 1},
              {{2.1f, -100, 2}, 1},    {{2.1f, 2, 100}, 1}, {{2.1f, 2, -100}, 1},
              {{2.1f, INFINITY, 2}, 2}};
  for (const auto& row : rows) {
    SCOPED_TRACE(testing::PrintToString(row.gradient));
    Workspace ws;
    Feed<float>(&ws, "x", {3}, {1, -0.5f, 0.25f});
    Feed<float>(&ws, "g", {3}, row.gradient);
    const auto checked = CheckGradients(
        ParseNet(
            R"(name: "n" op { type: "NarrowFindingsTwice" input: "x" input: "g" output: "y" })"),
        {"y"}, {.wrt = {"x"}}, &ws);
    ASSERT_EQ(checked.size(), 1u);
    EXPECT_EQ(checked[0].wrong, row.wrong);
  }
}

// The fills at the beginning of a net run as in the net: its device option seeds them.
TEST(NarrowGradientTest, FillsHaveTheDeviceOptionOfTheNet) {
  const auto filled = [](int seed) {
    Workspace ws;
    Feed<float>(&ws, "x", {4}, {1, 2, 3, 4});
    const auto checked = CheckGradients(
        ParseNet(
            MakeString("name: 'n' device_option { random_seed: ", seed,
                       " } op { type: 'UniformFill' output: 'w' arg { name: 'shape' ints: 4 } } "
                       "op { type: 'Mul' input: 'x' input: 'w' output: 'y' }")),
        {"y"}, {}, &ws);
    EXPECT_EQ(checked.size(), 2u);
    return Fetch<float>(ws, "w");
  };
  const std::vector<float> five = filled(5);
  EXPECT_EQ(filled(5), five);
  EXPECT_NE(filled(6), five);
}

// --- origins of NaNs ---

TEST(NarrowNaNTest, AnOperatorThatLoadsIsRun) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  const TempDir dir;
  const std::string db = "arg { name: 'db' s: '" + dir.path("w.minidb") +
                         "' } arg { name: 'db_type' s: 'minidb' } "
                         "arg { name: 'absolute_path' i: 1 } ";
  Workspace ws;
  Feed<float>(&ws, "w", {1}, {kNaN});
  RunOp(&ws, "type: 'Save' input: 'w' " + db);
  Feed<float>(&ws, "w", {1}, {0});
  Feed<float>(&ws, "x", {1}, {1});
  const auto origin =
      FindNaNOrigin(ParseNet("name: 'n' op { type: 'Load' output: 'w' " + db +
                             "} op { type: 'Add' input: 'x' input: 'w' output: 'y' }"),
                    "y", 1, &ws);
  ASSERT_TRUE(origin.has_value());
  EXPECT_EQ(origin->Text(), "blob \"w\", written by operator 0 (Load)");
  EXPECT_EQ(origin->run, 1);
}

// The output may be a blob that no operator of the net knows.
TEST(NarrowNaNTest, AnOutputBesideTheNetIsLookedAt) {
  Workspace ws;
  Feed<float>(&ws, "x", {1}, {1});
  Feed<float>(&ws, "other", {2}, {1, std::numeric_limits<float>::quiet_NaN()});
  const NetDef net = ParseNet(R"(name: "n" op { type: "Relu" input: "x" output: "y" })");
  const auto search = [&](const std::string& output) {
    ws.DeleteNet("n");
    return FindNaNOrigin(net, output, 2, &ws);
  };
  ASSERT_TRUE(search("other").has_value());
  EXPECT_EQ(search("other")->Text(), "blob \"other\", before the net runs");
  EXPECT_FALSE(search("x").has_value());
  EXPECT_FALSE(search("y").has_value());
  EXPECT_FALSE(search("nowhere").has_value());
}

// --- comparisons ---

// Without marks, an operator stands for the one in its place if that has its type.
TEST(NarrowComparisonTest, OperatorsWithoutMarksStandForThoseOfTheirType) {
  const NetDef written = ParseNet(R"(name: "n" op { type: "Relu" input: "x" output: "t" }
                                     op { type: "Copy" input: "t" output: "y" })");
  const auto with = [](const std::string& type, const std::string& output) {
    return ParseNet("name: 'n' op { type: '" + type + "' input: 'x' output: '" + output +
                    "' } op { type: 'Copy' input: '" + output + "' output: 'y' }");
  };
  using Values = std::set<NetValue>;
  using Counts = std::map<NetValue, int>;
  EXPECT_EQ(ValuesOfPasses(written, with("Relu", "t")), Values());
  EXPECT_EQ(ValuesOfPasses(written, with("Relu", "q")), (Values{{0, "q"}}));
  EXPECT_EQ(ValuesOfPasses(written, with("Abs", "q")), Values());
  EXPECT_EQ(CountsFromLast(written, with("Relu", "t")),
            (Counts{{{-1, "x"}, 0}, {{0, "t"}, 0}, {{1, "y"}, 0}}));
  EXPECT_EQ(CountsFromLast(written, with("Abs", "t")), (Counts{{{-1, "x"}, 0}, {{1, "y"}, 0}}));
}

// The second of two values that claim the place of one is compared with nothing.
TEST(NarrowComparisonTest, AValueIsComparedOnce) {
  Workspace a, b;
  Feed<float>(&a, "x", {1}, {-3});
  Feed<float>(&b, "x", {1}, {-3});
  const NetDef two = NetToWatch(ParseNet(R"(name: "n" op { type: "Abs" input: "x" output: "y" }
                                            op { type: "Negative" input: "y" output: "y" })"));
  const NetDef one = NetToWatch(ParseNet(R"(name: "n" op { type: "Abs" input: "x" output: "y" })"));
  const auto found = CompareNets(
      {.net = two, .ws = &a, .left_out = {}, .from_last = {{{0, "y"}, 0}, {{1, "y"}, 0}}},
      {.net = one, .ws = &b}, {});
  using Presence = ComparedValue::Presence;
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].presence, Presence::kBoth);
  EXPECT_EQ(found[0].first, 0);
  EXPECT_EQ(found[0].second, 0);
  EXPECT_TRUE(found[0].within());
  EXPECT_EQ(found[1].presence, Presence::kFirstOnly);
  EXPECT_EQ(found[1].first, 1);
}

// --- profiles ---

class NarrowFindingsEngineOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override { return true; }
};
REGISTER_CPU_OPERATOR(NarrowFindingsEngine, NarrowFindingsEngineOp);
REGISTER_CPU_OPERATOR_WITH_ENGINE(NarrowFindingsEngine, NARROW, NarrowFindingsEngineOp);
OPERATOR_SCHEMA(NarrowFindingsEngine).NumInputs(0).NumOutputs(0);

TEST(NarrowProfileTest, EachOperatorHasItsKernel) {
  Workspace ws;
  NetBase* const net = ws.CreateNet(ParseNet(R"(name: "n" op { type: "NarrowFindingsEngine" }
      op { type: "NarrowFindingsEngine" engine: "NARROW" } op { type: "NarrowFindingsEngine" }
      op { type: "NarrowFindingsEngine" engine: "NARROW" })"));
  const NetProfile profile =
      ProfileNet(net, [&] { return net->Run(); }, {.warmup_runs = 0, .timed_runs = 1});
  ASSERT_EQ(profile.operators.size(), 4u);
  for (const OperatorProfile& op : profile.operators) {
    EXPECT_EQ(op.kernel.has_value(), op.index % 2 == 1) << op.index;
    EXPECT_EQ(op.engine, op.index % 2 == 1 ? "NARROW" : "") << op.index;
  }
}

// Of a schema that states only the moved bytes, the products count as the operations.
REGISTER_CPU_OPERATOR(NarrowFindingsMoves, NarrowFindingsEngineOp);
OPERATOR_SCHEMA(NarrowFindingsMoves)
    .NumInputs(2)
    .NumOutputs(1)
    .Traits({.multiply_adds = MultiplyAddCount::kFC})
    .CostInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>&) {
      return OpSchema::Cost{.flops = def.name() == "all" ? 7u : 0u, .bytes_moved = 5};
    });

TEST(NarrowProfileTest, OperationsOfASchemaCountIfThereAreAny) {
  Workspace ws;
  FeedRange<float>(&ws, "x", {2, 3});
  FeedRange<float>(&ws, "w", {4, 3});
  FeedRange<float>(&ws, "y", {2, 4});
  NetBase* const net = ws.CreateNet(ParseNet(R"(name: "n"
      op { type: "NarrowFindingsMoves" input: "x" input: "w" output: "y" }
      op { type: "NarrowFindingsMoves" input: "x" input: "w" output: "y" name: "all" })"));
  const NetProfile profile =
      ProfileNet(net, [&] { return net->Run(); }, {.warmup_runs = 0, .timed_runs = 1});
  ASSERT_EQ(profile.operators.size(), 2u);
  for (const OperatorProfile& op : profile.operators) {
    EXPECT_EQ(op.multiply_adds, 2 * 4 * 3);
    EXPECT_EQ(op.bytes, 5u);
  }
  EXPECT_EQ(profile.operators[0].flops, 2u * 2 * 4 * 3);
  EXPECT_EQ(profile.operators[1].flops, 7u);
}

// A transpose computes nothing, and reads and writes each of 6 floats.
TEST(NarrowProfileTest, AnOperatorThatOnlyMovesHasBytes) {
  Workspace ws;
  FeedRange<float>(&ws, "x", {2, 3});
  FeedRange<float>(&ws, "w", {4, 2});
  FeedRange<float>(&ws, "b", {4});
  NetBase* const net = ws.CreateNet(ParseNet(
      R"(name: "n" op { type: "Transpose" input: "x" output: "y" }
         op { type: "FC" input: "y" input: "w" input: "b" output: "z" })"));
  const NetProfile profile =
      ProfileNet(net, [&] { return net->Run(); }, {.warmup_runs = 0, .timed_runs = 1});
  ASSERT_EQ(profile.operators.size(), 2u);
  EXPECT_EQ(profile.operators[0].multiply_adds, 0);
  EXPECT_EQ(profile.operators[0].flops, 0u);
  EXPECT_EQ(profile.operators[0].bytes, 2u * 6 * 4);
  EXPECT_EQ(profile.operators[1].multiply_adds, 3 * 4 * 2);
}

// --- ranges ---

// Bins of width 1 reach to 2048, which is outside of them: it doubles the width, so that 2048 lies
// in the bin from 2048 to 2050, whose middle is 3 beyond 2046. Below 0 the first bin begins with
// -2048 itself, but is doubled as well: its numbers count as -2047.
TEST(NarrowRangeTest, NumbersAtTheEndDoubleTheWidth) {
  const auto error = [](float number, RangeHistogram::Range range) {
    RangeHistogram histogram;
    histogram.Add(&number, 1);
    return histogram.SquaredError(range);
  };
  EXPECT_EQ(error(2048, {0, 2046}), 9);
  EXPECT_EQ(error(2047.5f, {0, 2046}), 2.25);
  EXPECT_EQ(error(-2048, {-2040, 0}), 49);
  EXPECT_EQ(error(-2047.5f, {-2040, 0}), 7.5 * 7.5);
}

}  // namespace
}  // namespace caffe2rt::test::narrow_findings_test
