// What receipts, ranges, comparisons and checks find in rare states: after a run that failed, with one receipt that has
// operators, with an outlier on one side, with a blob that only one of two nets computes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/inspect/blob_watch.h"
#include "caffe2_core/inspect/calibration.h"
#include "caffe2_core/inspect/gradient_check.h"
#include "caffe2_core/inspect/model_check.h"
#include "caffe2_core/inspect/net_comparison.h"
#include "caffe2_core/inspect/precision_search.h"
#include "caffe2_core/inspect/range_histogram.h"
#include "caffe2_core/inspect/receipt.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::rare_findings_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// --- receipts ---

Receipt ReceiptWith(std::vector<ReceiptRow> operators) {
  Receipt receipt = {.net = "n"};
  receipt.outputs = {{.blob = "y", .type = "float", .shape = {2}, .sum = 0xab}};
  receipt.operators = std::move(operators);
  return receipt;
}

TEST(RareReceiptTest, HashesHaveSixteenDigits) {
  const std::string json = ReceiptAsJson(ReceiptWith({}));
  const auto with = [&](const std::string& hash) {
    std::string text = json;
    text.replace(text.find("00000000000000ab"), 16, hash);
    return text;
  };
  for (const char* hash :
       {"", "ab", "0000000000000ab", "000000000000000ab", "0000000000000xab", "00000000000000a ",
        " 0000000000000ab", "-000000000000ab0", "0x000000000000ab"}) {
    EXPECT_THAT(
        MessageOf([&] { (void)ReceiptFromJson(with(hash), "file \"a\""); }),
        HasSubstr(MakeString("file \"a\" is not a receipt of `caffe2 run --receipt`: hash \"", hash,
                             "\", want 16 hexadecimal digits")));
  }
  EXPECT_EQ(ReceiptFromJson(with("fedcba9876543210"), "f").outputs[0].sum, 0xfedcba9876543210u);
}

TEST(RareReceiptTest, OperatorsAreComparedIfBothReceiptsHaveThem) {
  const ReceiptRow row = {.blob = "h", .type = "float", .sum = 3, .position = 0, .op = "0 Relu"};
  ReceiptRow other = row;
  other.sum = 4;
  const struct {
    std::vector<ReceiptRow> first, second;
    bool has_operators;
    size_t different;
  } rows[] = {{{}, {}, false, 0},
              {{row}, {}, false, 0},
              {{}, {row}, false, 0},
              {{row}, {row}, true, 0},
              {{row}, {other}, true, 1},
              {{row, other}, {row}, true, 1},
              {{row}, {row, other}, true, 1}};
  for (const auto& [first, second, has_operators, different] : rows) {
    const Receipt a = ReceiptWith(first), b = ReceiptWith(second);
    const ReceiptComparison found = CompareReceipts(a, b);
    EXPECT_EQ(found.has_operators, has_operators) << first.size() << " " << second.size();
    EXPECT_EQ(found.operators.size(), different) << first.size() << " " << second.size();
    EXPECT_TRUE(found.outputs.empty());
  }
}

// The nested Copy has run when Relu, which is for floats, fails.
TEST(RareReceiptTest, NestedOperatorsOfAFailedRunAreNoneOfTheNext) {
  Workspace ws;
  Feed<bool>(&ws, "yes", {}, {true});
  FeedRange<int32_t>(&ws, "x", {2});
  NestedReceipts nested;
  NetBase* const net = ws.CreateNet(ParseNet(R"(name: "n"
      op { type: "If" input: "yes" output: "a" arg { name: "then_net" n { name: "t"
        op { type: "Copy" input: "x" output: "a" } op { type: "Relu" input: "x" output: "b" } } } })"));
  ReceiptRecorder recorder(net, &nested);
  const auto written = [&] {
    std::vector<std::string> words;
    for (const ReceiptRow& row : recorder.Take()) words.push_back(row.op + " -> " + row.blob);
    return words;
  };
  EXPECT_ANY_THROW(net->Run());
  Feed<bool>(&ws, "yes", {}, {false});
  net->Run();
  EXPECT_THAT(written(), ElementsAre("0 If -> a"));
  Feed<bool>(&ws, "yes", {}, {true});
  FeedRange<float>(&ws, "x", {2});
  net->Run();
  EXPECT_THAT(written(), ElementsAre("0.0 Copy -> a", "0.1 Relu -> b", "0 If -> a"));
}

// --- gradients ---

// y = 2 x. The gradient is `scale` instead of 2.
class RareFindingsTwiceOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const Tensor& x = Input(0);
    float* const y = Output(0, x.sizes(), TypeMeta::Make<float>())->mutable_data<float>();
    for (int64_t i = 0; i < x.numel(); ++i) y[i] = 2 * x.data<float>()[i];
    return true;
  }
};
class RareFindingsTwiceGradient final : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("Mul", "", std::vector<std::string>{I(1), GO(0)},
                             std::vector<std::string>{GI(0)});
  }
};
REGISTER_CPU_OPERATOR(RareFindingsTwice, RareFindingsTwiceOp);
OPERATOR_SCHEMA(RareFindingsTwice).NumInputs(2).NumOutputs(1);
REGISTER_GRADIENT(RareFindingsTwice, RareFindingsTwiceGradient);

// An element that is not finite is wrong, and does not hide that others are.
TEST(RareGradientTest, ElementsThatAreNotFiniteAreWrong) {
  const struct {
    std::vector<float> gradient;
    int64_t wrong, worst;
  } rows[] = {{{2, 2, 2}, 0, -1},        {{2, NAN, 2}, 1, 1}, {{2, 2, INFINITY}, 1, 2},
              {{-INFINITY, 2, 2}, 1, 0}, {{2, 3, 2}, 1, 1},   {{3, INFINITY, 2}, 2, 1},
              {{NAN, INFINITY, 1}, 3, 0}};
  for (const auto& row : rows) {
    SCOPED_TRACE(testing::PrintToString(row.gradient));
    Workspace ws;
    Feed<float>(&ws, "x", {3}, {1, -0.5f, 0.25f});
    Feed<float>(&ws, "g", {3}, row.gradient);
    const auto checked = CheckGradients(
        ParseNet(R"(name: "n" op { type: "RareFindingsTwice" input: "x" input: "g" output: "y" })"),
        {"y"}, {.wrt = {"x"}}, &ws);
    ASSERT_EQ(checked.size(), 1u);
    EXPECT_EQ(checked[0].elements, 3);
    EXPECT_EQ(checked[0].not_smooth, 0);
    EXPECT_EQ(checked[0].wrong, row.wrong);
    if (row.worst >= 0) {
      EXPECT_EQ(checked[0].worst.index, row.worst);
    }
  }
}

// A second check in a workspace begins with the values that it has then.
TEST(RareGradientTest, EachCheckIsOfTheValuesOfItsTime) {
  Workspace ws;
  const NetDef net =
      ParseNet(R"(name: "n" op { type: "RareFindingsTwice" input: "x" input: "g" output: "y" })");
  const struct {
    std::vector<float> x, gradient;
    int64_t wrong;
  } rows[] = {{{1, 2}, {2, 2}, 0}, {{3, 4}, {3, 3}, 2}, {{5, 6, 7}, {2, 3, 2}, 1}};
  for (const auto& row : rows) {
    const auto size = static_cast<int64_t>(row.x.size());
    Feed<float>(&ws, "x", {size}, row.x);
    Feed<float>(&ws, "g", {size}, row.gradient);
    const auto checked = CheckGradients(net, {"y"}, {.wrt = {"x"}}, &ws);
    ASSERT_EQ(checked.size(), 1u);
    EXPECT_EQ(checked[0].elements, size);
    EXPECT_EQ(checked[0].wrong, row.wrong);
    ExpectTensor<float>(ws, "x", {size}, row.x);
    ExpectTensor<float>(ws, "g", {size}, row.gradient);
  }
}

// --- precisions ---

// Outputs are compared with those of the last net that was begun with: x instead of 2 x is a quarter of the signal's power.
TEST(RarePrecisionTest, ASecondNetIsComparedWithItself) {
  Workspace ws;
  const auto scaled = [](int factor) {
    return ParseNet(
        MakeString("name: 'n' external_input: 'x' external_output: 'y' op { type: "
                   "'Scale' input: 'x' output: 'y' arg { name: 'scale' f: ",
                   factor, " } }"));
  };
  PrecisionSearch search({.inputs = {"x"}}, &ws, {.count = 2, .feed = [&](size_t i) {
                                                    const float x = static_cast<float>(i) + 1;
                                                    Feed<float>(&ws, "x", {1, 2}, {x, -x});
                                                  }});
  const double quarter = 10 * std::log10(4.0);
  search.Begin(scaled(1));
  EXPECT_EQ(search.Measure(scaled(1), Precision::kFloat32).snr_db, HUGE_VAL);
  EXPECT_NEAR(search.Measure(scaled(2), Precision::kFloat32).snr_db, 0, 1e-6);
  search.Begin(scaled(2));
  EXPECT_EQ(search.Measure(scaled(2), Precision::kFloat32).snr_db, HUGE_VAL);
  EXPECT_NEAR(search.Measure(scaled(1), Precision::kFloat32).snr_db, quarter, 1e-6);
  EXPECT_EQ(search.exact().snr_db, HUGE_VAL);
}

// --- ranges ---

// What one calibration has seen is not known to the next.
TEST(RareRangeTest, EachCalibrationSeesItsOwnRuns) {
  Workspace ws;
  Feed<float>(&ws, "w", {1, 1, 1, 1}, {2});
  Feed<float>(&ws, "x", {1, 1, 1, 2}, {-7, 9});
  const NetDef net = NetToWatch(ParseNet(R"(name: "n"
      op { type: "Conv" input: "x" input: "w" output: "y" arg { name: "kernel" i: 1 } })"));
  NetBase* const runnable = ws.CreateNet(net);
  for (const float most : {9.f, 3.f, 5.f}) {
    Calibration calibration(net, runnable);
    EXPECT_TRUE(calibration.ranges().empty());
    Feed<float>(&ws, "x", {1, 1, 1, 2}, {-1, most});
    runnable->Run();
    const InputRange range = calibration.ranges(0.5f).at(0);
    EXPECT_EQ(range.min, -1.5f);
    EXPECT_EQ(range.max, 1.5f * most);
    EXPECT_EQ(range.elements, 2);
    Calibration second(net, runnable);
    runnable->Run();
    EXPECT_EQ(calibration.ranges().at(0).elements, 4);
    EXPECT_EQ(second.ranges().at(0).elements, 2);
  }
}

// An end of what was seen gets headroom, the end that leaves an outlier out does not.
TEST(RareRangeTest, EachEndHasItsOwnHeadroom) {
  std::vector<float> numbers;
  for (int i = 0; i < 1000000; ++i) numbers.push_back(static_cast<float>(i % 201 - 100) / 100);
  numbers.push_back(-6);
  RangeHistogram histogram;
  histogram.Add(numbers.data(), static_cast<int64_t>(numbers.size()));
  const RangeHistogram::Range best = histogram.BestRange();
  EXPECT_GT(best.min, -6);
  Workspace ws;
  Feed<float>(&ws, "w", {1, 1, 1, 1}, {2});
  Feed<float>(&ws, "x", {1, 1, 1, static_cast<int64_t>(numbers.size())}, numbers);
  const NetDef net = NetToWatch(ParseNet(R"(name: "n"
      op { type: "Conv" input: "x" input: "w" output: "y" arg { name: "kernel" i: 1 } })"));
  NetBase* const runnable = ws.CreateNet(net);
  Calibration calibration(net, runnable);
  runnable->Run();
  const InputRange range = calibration.ranges(0.25f).at(0);
  EXPECT_EQ(range.min, best.min);
  EXPECT_EQ(range.max, 1.25f);
}

// --- comparisons and checks ---

TEST(RareComparisonTest, AnInputThatTheOtherNetComputesIsListed) {
  Workspace a, b;
  Feed<float>(&a, "y", {2}, {1, 2});
  Feed<float>(&b, "x", {2}, {-1, 2});
  const NetDef copy =
      NetToWatch(ParseNet(R"(name: "n" op { type: "Copy" input: "y" output: "z" })"));
  const NetDef both = NetToWatch(ParseNet(R"(name: "n" op { type: "Abs" input: "x" output: "y" }
      op { type: "Copy" input: "y" output: "z" })"));
  using Presence = ComparedValue::Presence;
  const auto found = CompareNets({copy, &a}, {both, &b}, {});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].blob, "y");
  EXPECT_EQ(found[0].presence, Presence::kBoth);
  EXPECT_EQ(found[0].first, -1);
  EXPECT_EQ(found[0].second, 0);
  EXPECT_TRUE(found[0].within());
  EXPECT_EQ(found[1].blob, "z");
  EXPECT_EQ(found[2].blob, "x");
  EXPECT_EQ(found[2].presence, Presence::kSecondOnly);
  Workspace c, d;
  Feed<float>(&c, "y", {2}, {1, 2});
  Feed<float>(&d, "x", {2}, {-1, 2});
  const auto reverse = CompareNets({both, &d}, {copy, &c}, {});
  ASSERT_EQ(reverse.size(), 3u);
  EXPECT_EQ(reverse[0].blob, "x");
  EXPECT_EQ(reverse[0].presence, Presence::kFirstOnly);
  EXPECT_EQ(reverse[1].blob, "y");
  EXPECT_EQ(reverse[1].first, 0);
  EXPECT_EQ(reverse[1].second, -1);
}

// Operator 0 of the inner net is another one than operator 0 of the outer net.
TEST(RareModelCheckTest, ErrorsOfInnerNetsDoNotHideWrongShapes) {
  ModelToCheck model{.has_surroundings = true};
  model.given["x"] = CreateTensorShape(std::vector<int64_t>{2, 3}, TensorProto::FLOAT);
  model.given["w"] = CreateTensorShape(std::vector<int64_t>{4, 5}, TensorProto::FLOAT);
  model.given["yes"] = CreateTensorShape(std::vector<int64_t>{}, TensorProto::BOOL);
  const auto texts = [&](const std::string& first) {
    std::vector<std::string> found;
    for (const NetFinding& finding :
         ValidateModel(ParseNet(first + R"(op { type: "If" input: "yes" output: "r"
             arg { name: "then_net" n { op { type: "Nosuch2" output: "r" } } } })"),
                       model))
      found.push_back(finding.path + finding.text);
    return found;
  };
  const auto shapes = HasSubstr("operator MatMul rejects the shapes of its inputs: ");
  EXPECT_THAT(texts(R"(op { type: "MatMul" input: "x" input: "w" output: "y" } )"),
              testing::AllOf(testing::Contains(shapes),
                             testing::Contains(HasSubstr("operator type \"Nosuch2\""))));
  // An error of the operator itself does: its shapes follow from it.
  EXPECT_THAT(texts(R"(op { type: "MatMul" input: "x" input: "w" output: "y"
                            arg { name: "trans_a" s: "a" } } )"),
              testing::Not(testing::Contains(shapes)));
}

}  // namespace
}  // namespace caffe2rt::test::rare_findings_test
