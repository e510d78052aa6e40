// Numbers and texts of reports: what counts as noise, shares and rates, ends of ranges, origins.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "caffe2_core/inspect/calibration.h"
#include "caffe2_core/inspect/model_check.h"
#include "caffe2_core/inspect/nan_search.h"
#include "caffe2_core/inspect/net_comparison.h"
#include "caffe2_core/inspect/net_profile.h"
#include "caffe2_core/inspect/precision_search.h"
#include "caffe2_core/inspect/range_histogram.h"
#include "caffe2_core/inspect/receipt.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::report_values_test {
namespace {

// Measures a net in float, with other inputs than at Begin: what differs counts as noise.
class NoiseTest : public ::testing::Test {
 protected:
  double Snr(const std::string& operators, std::set<std::string> kept = {"y"}) {
    const NetDef net =
        ParseNet("name: \"n\" external_input: \"x\" external_input: \"z\" " + operators);
    std::vector<float> x = {300, 0};
    PrecisionSearch search({.inputs = {"x", "z"}, .kept = std::move(kept)}, &ws_,
                           {.count = 1, .feed = [&](size_t) {
                              Feed<float>(&ws_, "x", {1, 2}, x);
                              Feed<float>(&ws_, "z", {1, 2}, {1, 2});
                            }});
    search.Begin(net);
    x[0] = after_;
    return search.Measure(net, Precision::kFloat32).snr_db;
  }
  Workspace ws_;
  float after_ = 400;
};

// Each result is exactly equal for 300 and 400. The ratio of what is read is 300^2 to 100^2.
TEST_F(NoiseTest, OfWhatSaturatingOperatorsRead) {
  const double read = 10 * std::log10(9.0);
  const auto op = [](const std::string& type, const std::string& from, const std::string& to) {
    return "op { type: \"" + type + "\" input: \"" + from + "\" output: \"" + to + "\" } ";
  };
  const std::string x_to_t = op("Copy", "x", "t");
  const std::string shape = R"(op { type: "Reshape" input: "s" output: "y" output: "old"
                                    arg { name: "shape" ints: 2 } } )";
  const std::string joined = R"(op { type: "Concat" input: "z" input: "s" output: "y" output: "old"
                                     arg { name: "axis" i: 1 } } )";
  for (const char* type : {"Softmax", "Sigmoid", "Tanh", "HardSigmoid"})
    EXPECT_NEAR(Snr(op(type, "x", "y")), read, 1e-5) << type;
  EXPECT_NEAR(Snr(op("Softmax", "x", "s") + shape), read, 1e-5);
  EXPECT_NEAR(Snr(op("Softmax", "x", "s") + joined), read, 1e-5);
  // What is no output, or no result of such an operator, does not count.
  EXPECT_EQ(Snr(op("Softmax", "x", "s") + op("Copy", "z", "y")), HUGE_VAL);
  EXPECT_EQ(Snr(op("Softmax", "z", "y") + op("Softmax", "x", "s")), HUGE_VAL);
  // Nor what is overwritten, in place or later.
  EXPECT_EQ(Snr(x_to_t + op("Sigmoid", "t", "t"), {"t"}), HUGE_VAL);
  EXPECT_EQ(Snr(x_to_t + op("Softmax", "t", "y") + op("Copy", "z", "t")), HUGE_VAL);
  // Nor an output of the same name that was overwritten.
  EXPECT_EQ(Snr(op("Softmax", "x", "y") + op("Copy", "z", "y")), HUGE_VAL);
}

TEST_F(NoiseTest, IsThatOfTheWorstOutput) {
  const std::string both = R"(op { type: "Copy" input: "x" output: "a" }
                              op { type: "Scale" input: "x" output: "b" arg { name: "scale" f: 2 } }
                              op { type: "Copy" input: "z" output: "c" } )";
  after_ = 330;
  EXPECT_NEAR(Snr(both, {"a", "b", "c"}), 20, 1e-4);
  const std::string worse = R"(op { type: "Copy" input: "z" output: "a" }
                               op { type: "Add" input: "x" input: "z" output: "b" } )";
  // 301^2 + 2^2 to 30^2.
  EXPECT_NEAR(Snr(worse, {"a", "b"}), 10 * std::log10(90605.0 / 900), 1e-4);
  after_ = NAN;
  EXPECT_EQ(Snr(both, {"a", "c"}), -HUGE_VAL);
  EXPECT_EQ(Snr(both, {"c"}), HUGE_VAL);
}

// Outputs of the first sixteen examples are compared; with labels, all are classified.
TEST_F(NoiseTest, IsThatOfSixteenExamples) {
  const NetDef net = ParseNet(R"(name: "n" external_input: "x" external_output: "y"
                                 op { type: "Copy" input: "x" output: "y" })");
  const auto snr = [&](size_t changed, std::vector<int64_t> labels) {
    bool is_changed = false;
    PrecisionSearch search({.inputs = {"x"}}, &ws_,
                           {.count = 18,
                            .feed =
                                [&](size_t i) {
                                  const bool other = is_changed && i == changed;
                                  Feed<float>(&ws_, "x", {1, 2}, {3, other ? 4.0f : 2.0f});
                                },
                            .labels = std::move(labels)});
    search.Begin(net);
    is_changed = true;
    return search.Measure(net, Precision::kFloat32);
  };
  EXPECT_TRUE(std::isfinite(snr(15, {}).snr_db));
  EXPECT_TRUE(std::isinf(snr(16, {}).snr_db));
  EXPECT_FALSE(snr(16, {}).accuracy.has_value());
  std::vector<int64_t> labels(18, 0);
  EXPECT_EQ(*snr(18, labels).accuracy, 100);
  EXPECT_NEAR(*snr(17, labels).accuracy, 100.0 * 17 / 18, 1e-9);
  EXPECT_TRUE(std::isinf(snr(17, labels).snr_db));
}

// Layers are the operators that may have another precision.
TEST_F(NoiseTest, LayersAreCounted) {
  Feed<float>(&ws_, "w", {1, 1, 1, 1}, {2});
  const NetDef net = ParseNet(R"(name: "n"
      op { type: "Conv" input: "x" input: "w" output: "a" arg { name: "kernel" i: 1 } }
      op { type: "Abs" input: "a" output: "b" }
      op { type: "Conv" input: "b" input: "w" output: "y" arg { name: "kernel" i: 1 } })");
  PrecisionSearch search({.optimize = false, .inputs = {"x"}, .kept = {"y"}}, &ws_,
                         {.count = 1, .feed = [&](size_t) {
                            Feed<float>(&ws_, "x", {1, 1, 1, 1}, {3});
                          }});
  search.Begin(net);
  EXPECT_EQ(search.exact().layers, 2);
  EXPECT_EQ(search.exact().int8_layers, 0);
  EXPECT_EQ(search.exact().bf16_layers, 0);
  EXPECT_EQ(search.Measure(net, Precision::kFloat32).layers, 2);
}

TEST(ProfileValuesTest, SharesAndRates) {
  NetProfile profile{.net = "n", .warm = {.median_ms = 0.5}};
  EXPECT_EQ(profile.ShareOf(0.25), 50);
  EXPECT_EQ(profile.ShareOf(0.75), 150);
  profile.warm.median_ms = 0;
  EXPECT_EQ(profile.ShareOf(1), 0);
  OperatorProfile op{.warm_ms = 0.5, .flops = 4000000, .bytes = 3000000};
  EXPECT_EQ(op.GigaflopsPerSecond(), 8);
  EXPECT_EQ(op.GigabytesPerSecond(), 6);
  op.warm_ms = 0;
  EXPECT_EQ(op.GigaflopsPerSecond(), 0);
  EXPECT_EQ(op.GigabytesPerSecond(), 0);
  const RunTimes times = SummarizeTimes({4, 1, 7});
  EXPECT_EQ(times.median_ms, 4);
  EXPECT_EQ(times.least_ms, 1);
  EXPECT_NEAR(times.mean_ms, 4, 1e-12);
  EXPECT_EQ(SummarizeTimes({}).median_ms, 0);
  EXPECT_EQ(SummarizeTimes({3}).median_ms, 3);
}

// Bins of width 1, the last one from 2047 on and the first one up to -2047: their numbers count as
// those in their middle, 2047.5, which is 1.5 beyond 2046.
TEST(RangeEndsTest, HaveBinsOfTheirOwn) {
  for (const float sign : {1.0f, -1.0f}) {
    RangeHistogram histogram;
    const float number = 2047.5f * sign;
    histogram.Add(&number, 1);
    EXPECT_EQ(histogram.SquaredError(sign > 0 ? RangeHistogram::Range{0, 2046}
                                              : RangeHistogram::Range{-2046, 0}),
              2.25);
    // Within the width of a bin, only rounding counts: a step of 255 numbers.
    const double step = 2047.0 / 255;
    EXPECT_NEAR(histogram.SquaredError(sign > 0 ? RangeHistogram::Range{0, 2047}
                                                : RangeHistogram::Range{-2047, 0}),
                step * step / 12, 1e-9);
  }
  EXPECT_EQ(HeadroomFor(1), 0.25f);
  EXPECT_EQ(HeadroomFor(4), 0.25f);
  EXPECT_EQ(HeadroomFor(16), 0.125f);
  EXPECT_EQ(HeadroomFor(100), 0.05f);
}

TEST(OriginTextTest, NamesThreeInfiniteInputs) {
  NaNOrigin origin{.blob = "y", .position = 3, .op = "Sub \"s\""};
  const std::string written = "blob \"y\", written by operator 3 (Sub \"s\")";
  EXPECT_EQ(origin.Text(), written);
  origin.infinite_inputs = {"a"};
  EXPECT_EQ(origin.Text(), written + " from infinities in \"a\"");
  origin.infinite_inputs = {"a", "b", "c", "d"};
  EXPECT_EQ(origin.Text(), written + " from infinities in \"a\", \"b\", \"c\"");
  origin.position = 0;
  EXPECT_EQ(origin.Text().find("blob \"y\", written by operator 0"), 0u);
  origin.position = -1;
  EXPECT_EQ(origin.Text(), "blob \"y\", before the net runs");
}

TEST(MergedRowsTest, DependOnNamesShapesOrderAndSums) {
  const ReceiptRow a = {.blob = "a", .type = "float", .shape = {2}, .sum = 1};
  const ReceiptRow b = {.blob = "b", .type = "float", .shape = {3}, .sum = 2};
  const ReceiptRow merged = MergedReceiptRows("w", {a, b});
  EXPECT_EQ(merged.blob, "w");
  EXPECT_EQ(merged.type, "2 blobs");
  EXPECT_EQ(merged.position, -1);
  const auto differs = [&](ReceiptRow first, const ReceiptRow& second) {
    return MergedReceiptRows("w", {std::move(first), second}).sum != merged.sum;
  };
  EXPECT_FALSE(differs(a, b));
  EXPECT_TRUE(differs(b, a));
  ReceiptRow changed = a;
  changed.blob = "c";
  EXPECT_TRUE(differs(changed, b));
  changed = a;
  changed.type = "int";
  EXPECT_TRUE(differs(changed, b));
  changed = a;
  changed.shape = {1, 2};
  EXPECT_TRUE(differs(changed, b));
  changed = a;
  changed.sum = 3;
  EXPECT_TRUE(differs(changed, b));
  EXPECT_NE(MergedReceiptRows("w", {}).sum, MergedReceiptRows("w", {a}).sum);
}

std::vector<std::string> TextsOf(const std::vector<NetFinding>& findings) {
  std::vector<std::string> texts;
  for (const NetFinding& finding : findings)
    texts.push_back(
        MakeString(NetFindingKindName(finding.kind), " ", finding.ops, " ", finding.text));
  return texts;
}

TEST(ModelFindingsTest, NameWeightsThatNothingFills) {
  const NetDef init =
      ParseNet(R"(op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 2 } })");
  ModelToCheck model{.init_nets = {&init}, .has_surroundings = true};
  model.given["x"] = CreateTensorShape(std::vector<int64_t>{1, 2}, TensorProto::FLOAT);
  using Texts = std::vector<std::string>;
  EXPECT_EQ(TextsOf(ValidateModel(
                ParseNet(R"(op { type: "FC" input: "x" input: "w" input: "b" output: "y" }
                            op { type: "FC" input: "y" input: "v" input: "c" output: "z" })"),
                model)),
            (Texts{"error [0] no init net fills the weights \"w\" of FC",
                   "error [1] no init net fills the weights \"v\", \"c\" of FC"}));
  // Inputs of operators with any number of them are no weights.
  EXPECT_EQ(
      TextsOf(ValidateModel(
                  ParseNet(R"(op { type: "Sum" input: "x" input: "p" input: "q" output: "y" })"),
                  model))
          .size(),
      1u);
  // An operator with a wrong argument is reported for that alone.
  const std::vector<NetFinding> wrong = ValidateModel(
      ParseNet(R"(external_input: "x" op { type: "Split" input: "x" output: "y" output: "z"
                  arg { name: "axis" s: "a" } })"),
      model);
  ASSERT_EQ(wrong.size(), 1u) << TextsOf(wrong)[1];
  EXPECT_EQ(wrong[0].ops, std::vector<int>{0});
}

}  // namespace
}  // namespace caffe2rt::test::report_values_test
