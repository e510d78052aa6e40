// What checks, comparisons and profiles decide at their bounds: missing inputs, values that match,
// when a smaller range is better, and the order of equal costs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <string>
#include <vector>

#include "caffe2_core/graph/passes/user_operators.h"
#include "caffe2_core/inspect/blob_watch.h"
#include "caffe2_core/inspect/model_check.h"
#include "caffe2_core/inspect/net_comparison.h"
#include "caffe2_core/inspect/net_profile.h"
#include "caffe2_core/inspect/range_histogram.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::inspected_values_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Texts = std::vector<std::string>;

TensorShape ShapeOfFloats(const std::vector<int64_t>& dims) {
  return CreateTensorShape(dims, TensorProto::FLOAT);
}
TensorShape ShapeOfInts(const std::vector<int64_t>& dims) {
  return CreateTensorShape(dims, TensorProto::INT32);
}

// "error 0,2 TEXT".
Texts FindingTexts(const std::vector<NetFinding>& findings) {
  Texts texts;
  for (const NetFinding& finding : findings) {
    std::string text = NetFindingKindName(finding.kind);
    for (size_t i = 0; i < finding.ops.size(); ++i)
      text += MakeString(i == 0 ? " " : ",", finding.ops[i]);
    texts.push_back(text + " " + finding.text);
  }
  return texts;
}

Texts ModelTexts(const std::string& net, const ModelToCheck& model) {
  return FindingTexts(ValidateModel(ParseNet(net), model));
}

TEST(MissingInputsTest, TenAreNamed) {
  const auto net_of = [](int count) {
    std::string inputs;
    for (int i = 0; i < count; ++i) inputs += MakeString(" input: \"a", i, "\"");
    return "op { type: \"Sum\"" + inputs + " output: \"y\" }";
  };
  const std::string ten =
      R"(error nothing fills "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9")";
  const std::string end =
      ", and the net declares no external_input; --init-net and --input fill inputs";
  EXPECT_EQ(ModelTexts(net_of(10), {}), Texts{ten + end});
  EXPECT_EQ(ModelTexts(net_of(11), {}), Texts{ten + " and 1 more" + end});
  EXPECT_EQ(ModelTexts(net_of(12), {}), Texts{ten + " and 2 more" + end});
}

TEST(MissingInputsTest, AreNotesIfTheyMayStillBeGiven) {
  const std::string declared = R"(external_input: "x" external_input: "z" )";
  const std::string two = R"(op { type: "Add" input: "x" input: "z" output: "y" }
                             op { type: "Mul" input: "y" input: "z" output: "y" })";
  const std::string text = R"( inputs "x", "z" were not given)";
  ModelToCheck model{.has_surroundings = true};
  EXPECT_EQ(ModelTexts(declared + two, model), Texts{"note 0" + text});
  EXPECT_EQ(ModelTexts(two, model), Texts{"error 0" + text}) << "cannot be given";
  model.given_is_complete = true;
  EXPECT_EQ(ModelTexts(declared + two, model), Texts{"error 0" + text});
  model.given["z"] = ShapeOfFloats({2});
  EXPECT_EQ(ModelTexts(declared + two, model), Texts{R"(error 0 input "x" was not given)"});
  model.filled["x"] = ShapeOfFloats({2});
  EXPECT_THAT(ModelTexts(declared + two, model), IsEmpty());
  // An operator is listed once, at the first read of an input.
  EXPECT_EQ(ModelTexts(R"(op { type: "Relu" input: "a" output: "y" }
                          op { type: "Add" input: "a" input: "b" output: "y" }
                          op { type: "Add" input: "b" input: "c" output: "y" })",
                       {.has_surroundings = true})[0],
            R"(error 0,1,2 inputs "a", "b", "c" were not given)");
}

TEST(MissingInputsTest, ZerosOfAnInitNetAreNoData) {
  const NetDef init = ParseNet(R"(op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 2
                                       ints: 4 } })");
  const std::string net = R"(external_input: "x" op { type: "Relu" input: "x" output: "y" })";
  ModelToCheck model{.init_nets = {&init}, .has_surroundings = true};
  EXPECT_THAT(ModelTexts(net, model), IsEmpty());
  model.zero_placeholders = {{.name = "x", .dims = {2, 4}}};
  EXPECT_EQ(ModelTexts(net, model),
            Texts{R"(note 0 input "x" was not given; the net suggests the shape float [2, 4])"});
  model.zero_placeholders = {{.name = "x", .dims = {1, 1}}};
  EXPECT_EQ(ModelTexts(net, model), Texts{R"(note 0 input "x" was not given)"});
  model.zero_placeholders = {{.name = "other", .dims = {2}}};
  EXPECT_THAT(ModelTexts(net, model), IsEmpty());
  model.zero_placeholders = {{.name = "x", .dims = {2, 4}}};
  model.filled["x"] = ShapeOfFloats({2, 4});
  EXPECT_THAT(ModelTexts(net, model), IsEmpty());
}

// The shape of a placeholder counts if it can be that of an input. A given shape counts more.
TEST(MissingInputsTest, ShapesOfPlaceholdersAndOfGivenInputs) {
  const auto init_of = [](const char* dims) {
    return ParseNet(MakeString(
        "op { type: \"ConstantFill\" output: \"x\" arg { name: \"shape\" ints: ", dims, " } }"));
  };
  const std::string net = R"(op { type: "FC" input: "x" input: "w" input: "b" output: "y" })";
  const auto rejected = [&](ModelToCheck model) {
    model.filled["w"] = ShapeOfFloats({2, 3});
    model.filled["b"] = ShapeOfFloats({2});
    model.has_surroundings = true;
    int count = 0;
    for (const std::string& text : ModelTexts(net, model))
      count += text.find("rejects the shapes of its inputs") != std::string::npos;
    return count == 1;
  };
  const NetDef one = init_of("[1, 1]"), wrong = init_of("[1, 4]"), right = init_of("[1, 3]");
  EXPECT_TRUE(rejected({.init_nets = {&one}}));
  EXPECT_FALSE(rejected({.init_nets = {&one}, .zero_placeholders = {{"x", {1, 1}}}}));
  EXPECT_TRUE(rejected({.init_nets = {&wrong}, .zero_placeholders = {{"x", {1, 4}}}}));
  EXPECT_FALSE(rejected({.init_nets = {&wrong}, .given = {{"x", ShapeOfFloats({1, 3})}}}));
  EXPECT_TRUE(rejected({.init_nets = {&right}, .given = {{"x", ShapeOfFloats({1, 4})}}}));
  EXPECT_TRUE(rejected({.init_nets = {&wrong}, .given = {{"x", UnknownShape()}}}));
  EXPECT_FALSE(rejected({.init_nets = {&wrong}, .filled = {{"x", ShapeOfFloats({1, 3})}}}));
  EXPECT_TRUE(rejected({.init_nets = {&right, &wrong}}));
  EXPECT_FALSE(rejected({.init_nets = {&wrong, &right}}));
}

TEST(MissingInputsTest, ABlobReadTooEarlyIsReportedOnce) {
  const std::string ops = R"(op { type: "Relu" input: "y" output: "z" }
                             op { type: "Relu" input: "q" output: "y" }
                             op { type: "Relu" input: "y" output: "z2" })";
  EXPECT_EQ(ModelTexts(ops, {.given = {{"q", ShapeOfFloats({2})}}, .has_surroundings = true}),
            Texts{R"(error 0 operator Relu reads "y" before operator 1 writes it)"});
  // With external_input, the net itself is wrong.
  const Texts declared = ModelTexts(R"(external_input: "q" )" + ops, {.has_surroundings = true});
  ASSERT_EQ(declared.size(), 2u);
  EXPECT_TRUE(declared[0].starts_with("error 0 op Relu: Source for input y is unknown"))
      << declared[0];
  EXPECT_EQ(declared[1], R"(note 1 input "q" was not given)");
  // A blob that is declared may have a value before.
  EXPECT_EQ(
      ModelTexts(R"(external_input: "q" external_input: "y" )" + ops, {.has_surroundings = true}),
      Texts{R"(note 0,1 inputs "y", "q" were not given)"});
}

// Lengths of 5 rows for an input of 6.
TEST(KnownValuesTest, CountUntilAnOperatorWritesTheBlob) {
  Workspace ws;
  ModelToCheck model{.has_surroundings = true};
  model.given = {{"x", ShapeOfFloats({6, 2})}, {"l", ShapeOfInts({2})}, {"c", ShapeOfInts({2})}};
  model.given["yes"] = CreateTensorShape(std::vector<int64_t>{}, TensorProto::BOOL);
  model.values["l"] = Feed<int32_t>(&ws, "l", {2}, {4, 1});
  const std::string sum = R"(op { type: "LengthsSum" input: "x" input: "l" output: "y" } )";
  const std::string copy = R"(op { type: "Copy" input: "c" output: "l" } )";
  const std::string nested = R"(op { type: "If" input: "yes" output: "r" arg { name: "then_net" n {
      name: "t" op { type: "Copy" input: "c" output: "r" } } } } )";
  const std::string other = R"(op { type: "Copy" input: "c" output: "d" } )";
  const auto rejects = [&](const std::string& net) {
    for (const std::string& text : ModelTexts(net, model))
      if (text.find("operator LengthsSum rejects its inputs: ") != std::string::npos) return true;
    return false;
  };
  EXPECT_TRUE(rejects(sum));
  EXPECT_TRUE(rejects(other + sum));
  EXPECT_TRUE(rejects(sum + copy));
  EXPECT_FALSE(rejects(copy + sum));
  EXPECT_FALSE(rejects(nested + sum)) << "a net may write any blob";
  model.types_are_known = false;
  EXPECT_FALSE(rejects(sum));
  model.types_are_known = true;
  model.values["l"] = Feed<int32_t>(&ws, "m", {2}, {4, 2});
  EXPECT_FALSE(rejects(sum));
}

TEST(KnownValuesTest, TypesCountIfTheyAreKnown) {
  ModelToCheck model{.given = {{"x", ShapeOfInts({2, 2})}}, .has_surroundings = true};
  const std::string net = R"(op { type: "Softmax" input: "x" output: "y" })";
  ASSERT_EQ(ModelTexts(net, model).size(), 1u);
  EXPECT_TRUE(ModelTexts(net, model)[0].starts_with("error 0 operator Softmax rejects the types"))
      << ModelTexts(net, model)[0];
  model.types_are_known = false;
  EXPECT_THAT(ModelTexts(net, model), IsEmpty());
}

TEST(KnownValuesTest, InitNetsListShapesFirst) {
  const Texts texts = FindingTexts(ValidateInitNet(ParseNet(R"(
      op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 2 ints: 3 } }
      op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 1 ints: 4 } }
      op { type: "MatMul" input: "x" input: "w" output: "y" }
      op { type: "Relu" input: "from_another_net" output: "z" arg { name: "axes" i: 1 } })")));
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_TRUE(texts[0].starts_with("error 2 operator MatMul rejects the shapes")) << texts[0];
  EXPECT_TRUE(texts[1].starts_with("warning 3 operator Relu: argument \"axes\"")) << texts[1];
}

using Presence = ComparedValue::Presence;

TEST(ComparedTensorsTest, AreUsedOnce) {
  Workspace values;
  const Tensor one = *Feed<float>(&values, "a", {1}, {1});
  const Tensor two = *Feed<float>(&values, "b", {1}, {2});
  const auto found = CompareTensorLists({{"a", one}, {"a", two}}, {{"a", one}, {"c", two}}, {});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].presence, Presence::kBoth);
  EXPECT_EQ(found[1].presence, Presence::kFirstOnly);
  EXPECT_EQ(found[2].presence, Presence::kSecondOnly);
  EXPECT_EQ(found[0].type, "float [1]");
  EXPECT_EQ(found[2].blob, "c");
  EXPECT_THAT(CompareTensorLists({}, {}, {}), IsEmpty());
}

TEST(ComparedTensorsTest, AnObjectIsNoTensor) {
  Workspace ws;
  const Tensor one = *Feed<float>(&ws, "a", {1}, {1});
  const NetDef net = NetToWatch(ParseNet(
      R"(name: "n" op { type: "CreateCounter" output: "n" }
         op { type: "Copy" input: "a" output: "b" })"));
  const auto found = CompareWithTensors({net, &ws}, {{"n", one}, {"a", one}}, {});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "a");
  EXPECT_EQ(found[0].first, -1);
  EXPECT_TRUE(found[0].within());
  EXPECT_EQ(found[1].name, "n");
  EXPECT_EQ(found[1].difference.mismatch, "no tensor instead of a tensor");
  EXPECT_FALSE(found[1].within());
}

// A pass removed the copy: the operator before it writes the output.
TEST(ComparedTensorsTest, AValueThatWasOnlyCopiedIsTheCopy) {
  const NetDef written = ParseNet(R"(name: "n" op { type: "Relu" input: "x" output: "t" }
                                     op { type: "Copy" input: "t" output: "y" })");
  NetDef optimized = written;
  MarkUserOperators(&optimized);
  optimized.mutable_op(0)->set_output(0, "y");
  optimized.mutable_op()->RemoveLast();
  EXPECT_TRUE(ValuesOfPasses(written, optimized).empty());
  EXPECT_EQ(CountsFromLast(written, optimized),
            (std::map<NetValue, int>{{{-1, "x"}, 0}, {{0, "y"}, 0}}));
  // It is not if a later operator writes the blob again.
  NetDef again = optimized;
  *again.add_op() = ParseOp(R"(type: "Abs" input: "x" output: "y")");
  EXPECT_EQ(ValuesOfPasses(written, again), std::set<NetValue>({{0, "y"}}));
  // Nor is an output that the written net makes no more after the operator.
  NetDef other = optimized;
  other.mutable_op(0)->set_output(0, "z");
  EXPECT_EQ(ValuesOfPasses(written, other), std::set<NetValue>({{0, "z"}}));
}

RangeHistogram HistogramOfCopies(float number, int count, float outlier) {
  RangeHistogram histogram;
  const std::vector<float> numbers(1000, number);
  for (int i = 0; i < count / 1000; ++i) histogram.Add(numbers.data(), 1000);
  histogram.Add(&outlier, 1);
  return histogram;
}

// n numbers of 0.9 and one of 1.8, so by n * (r / 255)^2 / 12 + (1.8 - r)^2 at a bound of r:
//   n = 100,000: 0.415 at 1.8, 0.371 at 1.65, 0.913 at 0.9: never the half
//   n = 1,000,000: 4.15 at 1.8, 1.85 at 0.9, and below that all numbers are clipped
TEST(BestRangeTest, HasAtMostHalfOfTheError) {
  for (const float sign : {1.f, -1.f}) {
    const RangeHistogram kept = HistogramOfCopies(0.9f * sign, 100000, 1.8f * sign);
    EXPECT_EQ(kept.BestRange().max, sign > 0 ? 1.8f : 0);
    EXPECT_EQ(kept.BestRange().min, sign > 0 ? 0 : -1.8f);
    const RangeHistogram cut = HistogramOfCopies(0.9f * sign, 1000000, 1.8f * sign);
    EXPECT_EQ(cut.BestRange().max, sign > 0 ? 0.9f : 0);
    EXPECT_EQ(cut.BestRange().min, sign > 0 ? 0 : -0.9f);
    EXPECT_EQ(cut.elements(), 1000001);
  }
}

TEST(BestRangeTest, IsThatOfTheSmallestAndLargestFloats) {
  for (const float largest : {FLT_MAX, FLT_TRUE_MIN * 16, 1.f}) {
    RangeHistogram histogram;
    const float numbers[] = {largest, 0, -largest, largest / 2};
    histogram.Add(numbers, 4);
    const RangeHistogram::Range range = histogram.BestRange();
    EXPECT_EQ(range.min, -largest);
    EXPECT_EQ(range.max, largest);
    const double step = 2 * static_cast<double>(largest) / 255;
    EXPECT_NEAR(histogram.SquaredError(range) / (3 * step * step / 12), 1, 1e-9);
  }
  RangeHistogram none;
  none.Add(nullptr, 0);
  EXPECT_EQ(none.elements(), 0);
  EXPECT_EQ(none.BestRange().max, 0);
}

TEST(ProfileOrderTest, EqualCostsKeepTheirOrder) {
  NetProfile profile{.net = "n"};
  for (const char* type : {"C", "B", "A", "B"})
    profile.operators.push_back(
        {.index = profile.operators.size(), .type = type, .warm_ms = type[0] == 'B' ? 1.0 : 2.0});
  std::vector<size_t> indices;
  for (const OperatorProfile* op : profile.ByCost()) indices.push_back(op->index);
  EXPECT_THAT(indices, ElementsAre(0, 2, 1, 3));
  Texts types;
  for (const NetProfile::TypeTotal& total : profile.ByType())
    types.push_back(MakeString(total.type, total.operators));
  EXPECT_EQ(types, (Texts{"A1", "B2", "C1"})) << "2 ms each, by name";
  EXPECT_EQ(profile.SumOfOperators(), 6);
}

}  // namespace
}  // namespace caffe2rt::test::inspected_values_test
