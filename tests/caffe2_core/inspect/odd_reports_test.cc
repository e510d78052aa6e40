// What checks, comparisons, calibrations and drawings report of odd nets: names that begin like others, several losses,
// nets in lists and in texts, blobs written three times, times beyond that of the net.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/inspect/argument_problems.h"
#include "caffe2_core/inspect/blob_watch.h"
#include "caffe2_core/inspect/calibration.h"
#include "caffe2_core/inspect/gradient_check.h"
#include "caffe2_core/inspect/model_check.h"
#include "caffe2_core/inspect/net_comparison.h"
#include "caffe2_core/inspect/net_profile.h"
#include "caffe2_core/inspect/precision_search.h"
#include "caffe2_core/inspect/profile_drawing.h"
#include "caffe2_core/inspect/range_histogram.h"
#include "caffe2_core/inspect/receipt.h"
#include "caffe2_core/inspect/shape_inference_workspace.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::odd_reports_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Lines = std::vector<std::string>;

Lines OddLines(const std::vector<NetFinding>& findings) {
  Lines lines;
  for (const NetFinding& finding : findings) {
    std::string line = NetFindingKindName(finding.kind);
    for (const int op : finding.ops) line += MakeString(" ", op);
    lines.push_back(line + ": " + finding.path + finding.text);
  }
  return lines;
}
Lines OfNet(const std::string& net) { return OddLines(ValidateNet(ParseNet(net))); }
Lines OfPlan(const std::string& text) {
  PlanDef plan;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &plan)) << text;
  return OddLines(ValidatePlan(plan));
}

// --- arguments ---

bool IsOther(const OperatorDef& op, const std::string& name) {
  const Argument* const arg = GetArgumentPtr(op, name);
  return arg == nullptr || arg->i() != 7;
}

// The error mentions one argument, whose name begins or ends like that of the other one.
TEST(OddArgumentTest, APartOfANameIsNoMention) {
  for (const char* const other : {"stride", "rides", "trid", "strides_2", "strides2"}) {
    for (const bool other_first : {true, false}) {
      SCOPED_TRACE(other);
      const std::string first = other_first ? other : "strides";
      const std::string second = other_first ? "strides" : other;
      const auto create = [&](const OperatorDef& op) {
        const bool a = IsOther(op, other), b = IsOther(op, "strides"), d = IsOther(op, "d");
        CAFFE_ENFORCE(a || b, "argument strides is wrong");
        CAFFE_ENFORCE(b || !a, "the size is odd");
        CAFFE_ENFORCE(d, "argument d is wrong");
      };
      const OperatorDef op =
          ParseOp("type: 'Any' arg { name: '" + first + "' i: 7 } arg { name: '" + second +
                  "' i: 7 } arg { name: 'd' i: 7 }");
      EXPECT_THAT(ArgumentProblems().Of(nullptr, op, "argument strides is wrong", create),
                  ElementsAre("argument strides is wrong", "argument d is wrong"));
    }
  }
}

// --- nets and plans ---

TEST(OddNetTest, TypesThatRunAsSimpleAreNotedForAnyNumberOfOperators) {
  const std::string op = " op { type: 'Relu' input: 'x' output: 'y' }";
  const std::string note = "note: net type \"rnn\" runs as simple: one operator after the other";
  EXPECT_EQ(OfNet("type: 'rnn'"), Lines{note});
  EXPECT_EQ(OfNet("type: 'rnn'" + op), Lines{note});
  EXPECT_EQ(OfNet("type: 'rnn'" + op + " op { type: 'Relu' input: 'y' output: 'z' }"), Lines{note});
  EXPECT_THAT(OfNet("type: 'simple'" + op), IsEmpty());
  EXPECT_THAT(OfNet("type: 'dag'" + op), IsEmpty());
}

TEST(OddNetTest, OutputsNeedAWriterOrAnInput) {
  const std::string missing = "error: external_output \"b\" is not written by any operator";
  const std::string relu = " op { type: 'Relu' input: 'a' output: 'c' }";
  EXPECT_EQ(OfNet("external_output: 'b'"), Lines{missing});
  EXPECT_EQ(OfNet("external_input: 'a' external_output: 'b'"), Lines{missing});
  EXPECT_EQ(OfNet("external_input: 'a' external_output: 'a' external_output: 'b'"), Lines{missing});
  EXPECT_EQ(OfNet("external_input: 'a' external_output: 'b' external_output: 'c'" + relu),
            Lines{missing});
  EXPECT_EQ(OfNet("external_output: 'b'" + relu), Lines{missing});
  EXPECT_THAT(OfNet("external_input: 'b' external_output: 'b'"), IsEmpty());
}

TEST(OddNetTest, ThreeCloseNamesAreNamed) {
  PlanDef plan;
  for (const char* name : {"net_a", "net_b", "net_c", "net_d"}) plan.add_network()->set_name(name);
  plan.add_execution_step()->add_network("net_x");
  const std::vector<NetFinding> findings = ValidatePlan(plan);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings[0].text, HasSubstr("; close: net_a, net_b, net_c"));
  EXPECT_THAT(findings[0].text, Not(HasSubstr("net_d")));
}

// Nets of a list, nets in texts, and nets in these.
TEST(OddNetTest, EveryNestedNetIsLookedAt) {
  const auto net = [](const std::string& name) { return "op { type: 'Nosuch" + name + "' }"; };
  const std::string list = "op { type: 'NoList' arg { name: 'a' nets { " + net("P") + " } nets { " +
                           net("Q") + " } nets { " + net("R") + " } n { " + net("S") + " } } }";
  const Lines lines = OfNet(list);
  for (const char* name : {"P", "Q", "R", "S"})
    EXPECT_THAT(lines,
                Contains(HasSubstr(MakeString("operator 0 (NoList), argument a: operator type "
                                              "\"Nosuch",
                                              name, "\""))));
  const std::string step =
      "op { type: 'RecurrentNetwork' arg { name: 'step_net' s: 'op { type: \\\"NoStep\\\" }' } }";
  EXPECT_THAT(OfNet(step), Contains(HasSubstr("argument step_net: operator type \"NoStep\"")));
  EXPECT_THAT(OfNet("op { type: 'NoList' arg { name: 'a' n { " + step + " } } }"),
              Contains(HasSubstr("operator 0 (NoList), argument a: operator 0 (RecurrentNetwork), "
                                 "argument step_net: operator type \"NoStep\"")));
  EXPECT_THAT(OfNet(step + " op { type: 'NoList' arg { name: 'a' nets { " + step + " } } }"),
              Contains(HasSubstr("operator 1 (NoList), argument a: operator 0 (RecurrentNetwork), "
                                 "argument step_net: operator type \"NoStep\"")));
}

// What a branch reads from outside is there when its operator is created.
TEST(OddNetTest, BranchesMayReadWhatIsOutside) {
  for (const char* const inputs : {"", "external_input: 'c' external_input: 'w' "}) {
    EXPECT_THAT(OfNet(std::string(inputs) +
                      "op { type: 'If' input: 'c' output: 'r' arg { name: 'then_net' n { name: 't' "
                      "external_input: 'w' op { type: 'Relu' input: 'w' output: 'r' } } } }"),
                IsEmpty());
  }
}

// An argument that is given with two contents hides no wrong one, of which the first content counts.
TEST(OddNetTest, AnArgumentThatIsGivenTwiceHidesNoOthers) {
  const auto lines = [](const std::string& args) {
    return OfNet("op { type: 'Softmax' input: 'x' output: 'y' " + args + " }");
  };
  const std::string twice = "arg { name: 'a' i: 1 } arg { name: 'a' i: 2 } ",
                    wrong = "arg { name: 'axis' s: 'b' } ", right = "arg { name: 'axis' i: 1 } ";
  const auto found = HasSubstr("Found argument of the same name a but with different contents");
  const Lines alone = lines(wrong);
  ASSERT_EQ(alone.size(), 1u);
  EXPECT_THAT(alone[0], HasSubstr("axis"));
  EXPECT_THAT(lines(twice + wrong), Contains(found));
  EXPECT_THAT(lines(twice + wrong), Contains(alone[0]));
  EXPECT_THAT(lines(wrong + twice), Contains(alone[0]));
  EXPECT_THAT(lines(wrong + right), Contains(alone[0]));
  EXPECT_THAT(lines(right + wrong), Not(Contains(alone[0])));
  EXPECT_THAT(lines(twice + right), Not(Contains(alone[0])));
}

TEST(OddPlanTest, ReportsNeedAnIntervalInEveryStep) {
  const std::string nets = "network { name: 'a' } ";
  const std::string report = "error: step \"s\": report_net without report_interval";
  EXPECT_EQ(OfPlan(nets + "execution_step { name: 's' report_net: 'a' substep { network: 'a' } }"),
            Lines{report});
  EXPECT_EQ(OfPlan(nets + "execution_step { name: 's' report_net: 'a' }"), Lines{report});
  EXPECT_EQ(OfPlan(nets + "execution_step { name: 's' network: 'a' report_net: 'a' }"),
            Lines{report});
  EXPECT_THAT(OfPlan(nets + "execution_step { name: 's' report_net: 'a' report_interval: 0 "
                            "substep { network: 'a' } }"),
              IsEmpty());
  for (const int count : {0, 1, 2}) {
    EXPECT_EQ(
        OfPlan(nets + MakeString("execution_step { name: 's' network: 'a' num_iter: ", count,
                                 " should_stop_blob: 'b' }")),
        Lines{"error: step \"s\": num_iter is given with should_stop_blob, want one of them"});
  }
}

TEST(OddPlanTest, NetsNeedNamesOfTheirOwn) {
  const std::string step = "execution_step { }";
  EXPECT_EQ(OfPlan("network { } network { } " + step), Lines{"error: two nets are named \"\""});
  EXPECT_EQ(OfPlan("network { } network { name: 'a' } network { } " + step),
            Lines{"error: two nets are named \"\""});
  EXPECT_THAT(OfPlan("network { } network { name: 'a' } " + step), IsEmpty());
}

TEST(OddModelTest, AnOperatorThatReadsItsOwnOutputReadsTooEarly) {
  ModelToCheck model{.has_surroundings = true};
  model.given["x"] = CreateTensorShape(std::vector<int64_t>{2}, TensorProto::FLOAT);
  const auto lines = [&](const std::string& net) {
    return OddLines(ValidateModel(ParseNet(net), model));
  };
  EXPECT_EQ(lines("op { type: 'Add' input: 'x' input: 'y' output: 'y' }"),
            Lines{"error 0: operator Add reads \"y\" before operator 0 writes it"});
  EXPECT_EQ(lines("op { type: 'Relu' input: 'x' output: 'z' } "
                  "op { type: 'Relu' input: 'y' output: 'y' }"),
            Lines{"error 1: operator Relu reads \"y\" before operator 1 writes it"});
  EXPECT_THAT(lines("op { type: 'Relu' input: 'x' output: 'x' }"), IsEmpty());
}

// --- blobs ---

TEST(OddBlobTest, TextsOfOperatorsHaveTheirNames) {
  EXPECT_EQ(OperatorText(ParseOp("type: 'Relu'")), "Relu");
  EXPECT_EQ(OperatorText(ParseOp("type: 'Relu' name: 'Relu'")), "Relu \"Relu\"");
  EXPECT_EQ(OperatorText(ParseOp("type: 'Relu' name: 'r'")), "Relu \"r\"");
}

TEST(OddBlobTest, ASecondCopyHasTheScaleOfItsTime) {
  Blob from, to;
  auto* const content = from.GetMutable<Int8TensorCPU>();
  for (const int step : {1, 2, 3}) {
    content->scale = 0.5f * static_cast<float>(step);
    content->zero_point = 10 * step;
    content->t.Resize(step);
    std::fill_n(content->t.mutable_data<uint8_t>(), step, static_cast<uint8_t>(step));
    ASSERT_TRUE(CopyBlobToCpu(from, &to));
    const auto& copy = to.Get<Int8TensorCPU>();
    EXPECT_EQ(copy.scale, 0.5f * static_cast<float>(step));
    EXPECT_EQ(copy.zero_point, 10 * step);
    EXPECT_EQ(copy.t.numel(), step);
    EXPECT_EQ(copy.t.data<uint8_t>()[0], step);
  }
  *from.GetMutable<std::string>() = "text";
  ASSERT_TRUE(CopyBlobToCpu(from, &to));
  EXPECT_EQ(to.Get<std::string>(), "text");
  *from.GetMutable<std::string>() = "";
  ASSERT_TRUE(CopyBlobToCpu(from, &to));
  EXPECT_EQ(to.Get<std::string>(), "");
}

TEST(OddBlobTest, TensorsOfStringsHaveShapes) {
  Workspace ws;
  Feed<std::string>(&ws, "s", {2, 1}, {"a", ""});
  const ShapeMap shapes = ShapesOfWorkspace(ws);
  ASSERT_TRUE(shapes.contains("s"));
  EXPECT_EQ(shapes.at("s").data_type(), TensorProto::STRING);
  EXPECT_EQ(GetDimsVector(shapes.at("s")), (std::vector<int64_t>{2, 1}));
}

// --- ranges ---

TEST(OddRangeTest, ASecondCalibrationStatesItsOwnRange) {
  Workspace ws;
  Feed<float>(&ws, "w", {1, 1, 1, 1}, {2});
  Feed<float>(&ws, "x", {1, 1, 1, 2}, {-1, 1});
  const NetDef net =
      NetToWatch(ParseNet("name: 'n' op { type: 'Conv' input: 'x' input: 'w' output: 'y' arg { "
                          "name: 'kernel' i: 1 } }"));
  NetBase* const runnable = ws.CreateNet(net);
  NetDef stated = net;
  for (const float most : {4.f, 9.f, 2.f}) {
    Calibration calibration(net, runnable);
    Feed<float>(&ws, "x", {1, 1, 1, 2}, {-most, 2 * most});
    runnable->Run();
    calibration.StateRanges(&stated);
    const ArgumentHelper args(stated.op(0));
    EXPECT_EQ(args.GetSingleArgument<float>("input_min", 0), -most);
    EXPECT_EQ(args.GetSingleArgument<float>("input_max", 0), 2 * most);
    EXPECT_EQ(stated.op(0).arg_size(), net.op(0).arg_size() + 2);
  }
}

TEST(OddRangeTest, OutliersOfEitherSideAreLeftOut) {
  for (const float sign : {1.f, -1.f}) {
    std::vector<float> numbers;
    for (int i = 0; i < 1000000; ++i) numbers.push_back(static_cast<float>(i % 201 - 100) / 100);
    numbers.push_back(6 * sign);
    RangeHistogram histogram;
    histogram.Add(numbers.data(), static_cast<int64_t>(numbers.size()));
    const RangeHistogram::Range best = histogram.BestRange();
    EXPECT_EQ(sign > 0 ? best.min : best.max, -sign);
    EXPECT_LT(sign > 0 ? best.max : -best.min, 6);
    EXPECT_GE(sign > 0 ? best.max : -best.min, 1);
  }
}

TEST(OddPrecisionTest, OperatorsForInt8MayHaveAnEngine) {
  const std::string conv =
      "type: 'Conv' input: 'x' input: 'w' output: 'y' arg { name: 'kernel' i: 1 "
      "} arg { name: 'input_min' f: 0 } ";
  const std::string most = "arg { name: 'input_max' f: 1 } ";
  EXPECT_THAT(
      OperatorsForInt8(ParseNet("op { " + conv + most + "} op { " + conv + "} op { " + conv + most +
                                "engine: 'MKLDNN' } op { " + conv + "engine: 'MKLDNN' }")),
      ElementsAre(0, 2));
}

// --- gradients ---

// A loss of two outputs is the sum of both.
TEST(OddGradientTest, EveryLossCounts) {
  Workspace ws;
  Feed<float>(&ws, "x", {3}, {0.5f, -1, 2});
  const NetDef net = ParseNet(
      "name: 'n' op { type: 'Sqr' input: 'x' output: 'a' } "
      "op { type: 'Tanh' input: 'x' output: 'b' } "
      "op { type: 'Negative' input: 'x' output: 'c' }");
  for (const Lines& losses : {Lines{"a"}, Lines{"a", "b"}, Lines{"b", "a"}, Lines{"c", "a", "b"}}) {
    const auto checked = CheckGradients(net, losses, {}, &ws);
    ASSERT_EQ(checked.size(), 1u);
    EXPECT_EQ(checked[0].elements, 3);
    EXPECT_EQ(checked[0].wrong, 0) << losses.size();
    EXPECT_EQ(checked[0].not_smooth, 0);
    ExpectTensor<float>(ws, "x", {3}, {0.5f, -1, 2});
  }
}

TEST(OddGradientTest, ElementsThatAreNotSmoothAreElements) {
  Workspace ws;
  Feed<float>(&ws, "x", {4}, {0.003f, 2, -0.003f, -3});
  const auto checked = CheckGradients(
      ParseNet("name: 'n' op { type: 'Relu' input: 'x' output: 'y' }"), {"y"}, {}, &ws);
  ASSERT_EQ(checked.size(), 1u);
  EXPECT_EQ(checked[0].elements, 4);
  EXPECT_EQ(checked[0].not_smooth, 2);
  EXPECT_EQ(checked[0].wrong, 0);
}

// Rows of tables of one, two and three axes, some of which are read twice.
TEST(OddGradientTest, RowsOfTablesOfAnyRank) {
  for (const std::vector<int64_t>& dims :
       {std::vector<int64_t>{4}, {4, 3}, {4, 2, 3}, {4, 3, 2, 2}}) {
    SCOPED_TRACE(dims.size());
    Workspace ws;
    FeedRandom(&ws, "table", dims);
    Feed<int32_t>(&ws, "ids", {3}, {2, 0, 2});
    const auto checked = CheckGradients(
        ParseNet("name: 'n' op { type: 'Gather' input: 'table' input: 'ids' output: 'y' }"), {"y"},
        {.wrt = {"table"}}, &ws);
    ASSERT_EQ(checked.size(), 1u);
    EXPECT_EQ(checked[0].elements, ws.GetBlob("table")->Get<Tensor>().numel());
    EXPECT_EQ(checked[0].wrong, 0);
  }
}

// --- comparisons and receipts ---

TEST(OddComparisonTest, AllTensorsOfTheSecondListAlone) {
  Workspace values;
  const Tensor one = *Feed<float>(&values, "a", {1}, {1});
  const auto names = [&](const NamedTensors& first, const NamedTensors& second) {
    Lines found;
    for (const ComparedValue& value : CompareTensorLists(first, second, {}))
      found.push_back(MakeString(value.name, static_cast<int>(value.presence)));
    return found;
  };
  EXPECT_EQ(names({{"a", one}}, {{"d", one}, {"c", one}, {"a", one}, {"b", one}}),
            (Lines{"a0", "d2", "c2", "b2"}));
  EXPECT_EQ(names({{"a", one}, {"e", one}}, {{"c", one}, {"b", one}}),
            (Lines{"a1", "e1", "c2", "b2"}));
  EXPECT_EQ(names({}, {{"c", one}, {"b", one}}), (Lines{"c2", "b2"}));
}

TEST(OddReceiptTest, BlobsMayBeWrittenAnyNumberOfTimes) {
  const auto receipt = [](const std::vector<uint64_t>& sums) {
    Receipt made = {.net = "n"};
    for (const uint64_t sum : sums)
      made.outputs.push_back({.blob = "y", .type = "float", .shape = {1}, .sum = sum});
    return made;
  };
  const struct {
    std::vector<uint64_t> first, second;
    Lines want;
  } rows[] = {{{1, 2, 3}, {1, 2, 3}, {}},       {{1, 2, 3}, {1, 2, 4}, {"3 4"}},
              {{1, 2, 3}, {1, 5, 3}, {"2 5"}},  {{1, 2, 3, 4}, {1, 2, 6, 4}, {"3 6"}},
              {{1, 2, 3}, {1, 2}, {"3 -"}},     {{1, 2}, {1, 2, 3}, {"- 3"}},
              {{1}, {1, 2, 3}, {"- 2", "- 3"}}, {{}, {1, 2}, {"- 1", "- 2"}}};
  for (const auto& row : rows) {
    const Receipt first = receipt(row.first), second = receipt(row.second);
    Lines got;
    for (const ReceiptDifference& difference : CompareReceipts(first, second).outputs) {
      const auto text = [](const ReceiptRow* at) {
        return at == nullptr ? std::string("-") : MakeString(*at->sum);
      };
      got.push_back(text(difference.first) + " " + text(difference.second));
    }
    EXPECT_EQ(got, row.want);
  }
}

TEST(OddReceiptTest, SeedsAndFormatsAtTheirBounds) {
  Receipt receipt = {.net = "n"};
  for (const uint64_t seed : {uint64_t{0}, uint64_t{1}, UINT64_MAX}) {
    receipt.seed = seed;
    EXPECT_EQ(ReceiptFromJson(ReceiptAsJson(receipt), "f").seed, seed);
  }
  receipt.seed = 0;
  const Receipt none = {.net = "n"};
  EXPECT_THAT(CompareReceipts(receipt, none).conditions, ElementsAre("seed: 0 and none"));
  for (const char* format : {"0", "2", "-1", "99"}) {
    std::string json = ReceiptAsJson(receipt);
    json.replace(json.find("\"receipt\": 1"), 12, MakeString("\"receipt\": ", format));
    EXPECT_THAT(MessageOf([&] { (void)ReceiptFromJson(json, "f"); }),
                HasSubstr("format of the receipt"))
        << format;
  }
}

// Each output of an operator in a loop depends on all of its runs.
TEST(OddReceiptTest, EveryOutputOfALoopDependsOnEachRun) {
  const auto sums = [](float first) {
    Workspace ws;
    Feed<bool>(&ws, "more", {}, {true});
    Feed<float>(&ws, "x", {2, 1}, {first, 1});
    Feed<float>(&ws, "limit", {2, 1}, {50, 50});
    NestedReceipts nested;
    NetBase* const net = ws.CreateNet(ParseNet(R"(name: "n"
        op { type: "While" input: "more" output: "x" arg { name: "loop_net" n { name: "l"
          op { type: "Split" input: "x" output: "a" output: "b" arg { name: "axis" i: 0 } }
          op { type: "Add" input: "limit" input: "x" output: "x" }
          op { type: "ConstantFill" output: "more" arg { name: "dtype" i: 5 }
               arg { name: "value" i: 0 } } } } })"));
    ReceiptRecorder recorder(net, &nested);
    net->Run();
    std::map<std::string, std::optional<uint64_t>> found;
    for (const ReceiptRow& row : recorder.Take()) found[row.op + " " + row.blob] = row.sum;
    return found;
  };
  const auto one = sums(1), two = sums(2);
  EXPECT_EQ(one, sums(1));
  EXPECT_NE(one.at("0.0 Split a"), two.at("0.0 Split a"));
  EXPECT_EQ(one.at("0.0 Split b"), two.at("0.0 Split b"));
}

// --- profiles ---

TEST(OddProfileTest, OperatorsAreNamedByTheirFirstOutputAndCountWithoutTime) {
  Workspace ws;
  FeedRange<float>(&ws, "x", {4, 2});
  NetBase* const net = ws.CreateNet(ParseNet(
      "name: 'n' op { type: 'Split' input: 'x' output: 'a' output: 'b' arg { name: 'axis' i: 0 } } "
      "op { type: 'Relu' input: 'b' output: 'c' }"));
  const NetProfile profile =
      ProfileNet(net, [&] { return net->Run(); }, {.warmup_runs = 0, .timed_runs = 2});
  ASSERT_EQ(profile.operators.size(), 2u);
  EXPECT_EQ(profile.operators[0].output, "a");
  EXPECT_EQ(profile.operators[1].output, "c");
  NetProfile still{.net = "s", .warm = {.median_ms = 1}};
  for (const char* type : {"A", "B", "A", "A"}) still.operators.push_back({.type = type});
  const auto totals = still.ByType();
  ASSERT_EQ(totals.size(), 2u);
  EXPECT_EQ(totals[0].operators, 3);
  EXPECT_EQ(totals[1].operators, 1);
}

// Operators that take longer one by one than in the net, and bars of less than a pixel beside each other.
TEST(OddProfileTest, DrawingsHaveNegativeRestsAndNarrowBars) {
  NetProfile profile{.net = "n", .warm = {.median_ms = 2}};
  for (int i = 0; i < 5; ++i)
    profile.operators.push_back({.index = static_cast<size_t>(i),
                                 .type = "T",
                                 .output = "y",
                                 .warm_ms = i == 4 ? 2.96 : 0.001});
  const std::string svg = ProfileAsSvg(profile, 5);
  const double sum = 2.964;
  const size_t rest = svg.find(">net minus its operators</text>");
  ASSERT_NE(rest, std::string::npos);
  EXPECT_THAT(svg.substr(rest, 300), HasSubstr(">-0.964 ms</text>"));
  EXPECT_THAT(svg.substr(rest, 300), HasSubstr(">-48.2 %</text>"));
  for (int i = 0; i < 5; ++i) {
    char x[32];
    std::snprintf(x, sizeof(x), "<rect x=\"%.2f\" y=\"50\"", 20 + i * 860 * 0.001 / sum);
    EXPECT_THAT(svg, HasSubstr(x)) << i;
  }
}

}  // namespace
}  // namespace caffe2rt::test::odd_reports_test
