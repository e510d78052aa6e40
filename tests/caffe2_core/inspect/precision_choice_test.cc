// On what a search for precisions decides: which blobs and examples are compared, which operators go back
// first, and what it reports meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/passes/conv_layouts.h"
#include "caffe2_core/inspect/precision_search.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::precision_choice_test {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

class PrecisionChoiceTest : public testing::Test {
 protected:
  // The SNR if p changes from 200 to 300 behind the float run. Both saturate, so that a result shows nothing.
  double SnrOfChange(const std::string& ops) {
    float p = 200;
    const NetDef net =
        ParseNet("name: 'n' external_input: 'p' external_input: 'z' external_output: 'y' " + ops);
    PrecisionSearch search({.inputs = {"p", "z"}}, &ws_, {.count = 1, .feed = [&](size_t) {
                                                            Feed<float>(&ws_, "p", {1, 2}, {p, 0});
                                                            Feed<float>(&ws_, "z", {1, 2}, {1, 2});
                                                          }});
    search.Begin(net);
    p = 300;
    return search.Measure(net, Precision::kFloat32).snr_db;
  }
  Workspace ws_;
};

// With p: squares of 200 and of the difference, 100.
TEST_F(PrecisionChoiceTest, WhatTheLastSaturatingOperatorReadsIsCompared) {
  const double of_change = 10 * std::log10(4.0);
  const std::string tanh = "op { type: 'Tanh' input: 'p' output: 't' } ";
  const struct {
    std::string ops;
    bool shows;
  } rows[] = {
      {"op { type: 'Tanh' input: 'p' output: 'y' }", true},
      {"op { type: 'Sigmoid' input: 'p' output: 'y' }", true},
      {"op { type: 'HardSigmoid' input: 'p' output: 'y' }", true},
      {"op { type: 'Softmax' input: 'p' output: 'y' }", true},
      {tanh + "op { type: 'Copy' input: 't' output: 'y' }", true},
      {tanh + "op { type: 'Reshape' input: 't' output: 'y' output: 'o' "
              "arg { name: 'shape' ints: 2 } }",
       true},
      {tanh + "op { type: 'Concat' input: 'z' input: 't' output: 'y' output: 'o' }", true},
      {tanh + "op { type: 'Concat' input: 't' input: 'z' output: 'u' output: 'o' } "
              "op { type: 'Copy' input: 'u' output: 'y' }",
       true},
      // Another operator computes with the result.
      {tanh + "op { type: 'Add' input: 't' input: 'z' output: 'y' }", false},
      {tanh + "op { type: 'Tanh' input: 't' output: 'y' }", false},
      // Another operator writes the blob behind it, as its first or its second output.
      {"op { type: 'Tanh' input: 'p' output: 'y' } op { type: 'Tanh' input: 'z' output: 'y' }",
       false},
      {"op { type: 'Tanh' input: 'p' output: 'y' } "
       "op { type: 'Split' input: 'z' output: 'q' output: 'y' arg { name: 'axis' i: 1 } }",
       false},
      // What it reads is overwritten.
      {"op { type: 'Tanh' input: 'p' output: 'p' } op { type: 'Copy' input: 'p' output: 'y' }",
       false},
      {"op { type: 'Copy' input: 'p' output: 'h' } op { type: 'Tanh' input: 'h' output: 'y' } "
       "op { type: 'Negative' input: 'p' output: 'h' }",
       false},
      {"op { type: 'Copy' input: 'p' output: 'h' } op { type: 'Tanh' input: 'h' output: 'y' } "
       "op { type: 'Negative' input: 'p' output: 'other' }",
       true},
      // Nothing reads the result.
      {tanh + "op { type: 'Copy' input: 'z' output: 'y' }", false},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.ops);
    if (row.shows) {
      EXPECT_NEAR(SnrOfChange(row.ops), of_change, 1e-5);
    } else {
      EXPECT_EQ(SnrOfChange(row.ops), HUGE_VAL);
    }
  }
}

// Example `i` is a row of three numbers.
class PrecisionExamplesTest : public testing::Test {
 protected:
  std::vector<size_t> FedBy(size_t count, std::vector<int64_t> labels) {
    std::vector<size_t> fed;
    PrecisionSearch search({.inputs = {"x"}}, &ws_,
                           {.count = count,
                            .feed =
                                [&](size_t i) {
                                  fed.push_back(i);
                                  Row(i % 3);
                                },
                            .labels = std::move(labels)});
    search.Begin(net_);
    return fed;
  }
  void Row(size_t column) {
    std::vector<float> row(3);
    row[column] = 1;
    Feed<float>(&ws_, "x", {1, 3}, row);
  }
  const NetDef net_ = ParseNet(
      "name: 'n' external_input: 'x' external_output: 'y' op { type: 'Copy' input: 'x' output: 'y' "
      "}");
  Workspace ws_;
};

TEST_F(PrecisionExamplesTest, AtMostSixteenAreComparedAndAllOfThemLabelled) {
  std::vector<size_t> want = {0};  // the first one guides the preparation
  for (size_t i = 0; i < 16; ++i) want.push_back(i);
  EXPECT_EQ(FedBy(20, {}), want);
  EXPECT_EQ(FedBy(16, {}), want);
  want.pop_back();
  EXPECT_EQ(FedBy(15, {}), want);
  want = {0};
  for (size_t i = 0; i < 20; ++i) want.push_back(i);
  EXPECT_EQ(FedBy(20, std::vector<int64_t>(20, 1)), want);
  // A change of the seventeenth does not count as noise, but as a wrong class.
  for (const size_t changed : {15u, 16u}) {
    bool is_second = false;
    std::vector<int64_t> labels;
    for (int64_t i = 0; i < 20; ++i) labels.push_back(i % 3);
    PrecisionSearch search(
        {.inputs = {"x"}}, &ws_,
        {.count = 20,
         .feed = [&](size_t i) { Row(is_second && i == changed ? (i + 1) % 3 : i % 3); },
         .labels = labels});
    search.Begin(net_);
    EXPECT_EQ(*search.exact().accuracy, 100);
    is_second = true;
    const PrecisionMeasured measured = search.Measure(net_, Precision::kFloat32);
    EXPECT_EQ(*measured.accuracy, 95);
    if (changed == 16) {
      EXPECT_EQ(measured.snr_db, HUGE_VAL);
    } else {
      EXPECT_NEAR(measured.snr_db, 10 * std::log10(16 / 2.0), 1e-5);  // 16 ones, two differences
    }
  }
}

TEST_F(PrecisionExamplesTest, LabelsNeedRows) {
  const auto message = [&](const std::vector<int64_t>& dims) {
    PrecisionSearch search(
        {.inputs = {"x"}}, &ws_,
        {.count = 1, .feed = [&](size_t) { FeedRange<float>(&ws_, "x", dims); }, .labels = {0}});
    return MessageOf([&] { search.Begin(net_); });
  };
  EXPECT_EQ(message({1, 3}), "(nothing was thrown)");
  EXPECT_EQ(message({1, 3, 2}), "(nothing was thrown)");
  EXPECT_EQ(message({3}), "output \"y\" has shape [3], want a row of numbers for each label");
  EXPECT_EQ(message({0, 3}), "output \"y\" has shape [0, 3], want a row of numbers for each label");
  EXPECT_EQ(message({3, 0}), "output \"y\" has shape [3, 0], want a row of numbers for each label");
  EXPECT_EQ(message({2, 3}),
            "labels, of which the examples need one for each row of the output: got 1, want 2");
  EXPECT_EQ(MessageOf([&] { PrecisionSearch({}, &ws_, {.count = 0, .feed = [](size_t) {}}); }),
            "PrecisionSearch wants a workspace and at least one example");
}

// Of several rows, each has its class: the largest number of all axes behind the first.
TEST_F(PrecisionExamplesTest, EachRowHasItsClass) {
  const auto accuracy = [&](const std::vector<int64_t>& labels) {
    PrecisionSearch search({.inputs = {"x"}}, &ws_,
                           {.count = 1,
                            .feed =
                                [&](size_t) {
                                  Feed<float>(&ws_, "x", {2, 2, 2}, {1, 2, 9, 2, -1, -2, -3, -4});
                                },
                            .labels = labels});
    search.Begin(net_);
    return *search.exact().accuracy;
  };
  EXPECT_EQ(accuracy({2, 0}), 100);
  EXPECT_EQ(accuracy({0, 2}), 0);
  EXPECT_EQ(accuracy({2, 3}), 50);
}

TEST_F(PrecisionExamplesTest, LabelsAreClasses) {
  const auto message = [&](int64_t label) { return MessageOf([&] { FedBy(2, {0, label}); }); };
  EXPECT_EQ(message(2), "(nothing was thrown)");
  EXPECT_EQ(message(3), "label 2 is 3, want a class below 3, the columns of output \"y\"");
  EXPECT_EQ(message(-1), "label 2 is -1, want a class below 3, the columns of output \"y\"");
}

// What a saturating operator reads is compared, but has no labels, although its name comes first.
TEST_F(PrecisionExamplesTest, LabelsAreThoseOfTheFirstOutput) {
  const NetDef net = ParseNet(
      "name: 'n' external_input: 'x' external_output: 'c' external_output: 'b' "
      "op { type: 'Negative' input: 'x' output: 'a' } op { type: 'Tanh' input: 'a' output: 'c' } "
      "op { type: 'Copy' input: 'x' output: 'b' }");
  PrecisionSearch search({.inputs = {"x"}}, &ws_,
                         {.count = 3, .feed = [&](size_t i) { Row(i); }, .labels = {0, 1, 2}});
  search.Begin(net);
  EXPECT_EQ(*search.exact().accuracy, 100);
}

// Four rows of six are right, and then one: 66.7 % less 50 is 16.7 %, apart from rounding.
TEST_F(PrecisionExamplesTest, ADropThatIsAllowedExactlyIsReachedDespiteRounding) {
  bool is_second = false;
  int feeds = 0;
  PrecisionSearch search({.inputs = {"x"}}, &ws_,
                         {.count = 6,
                          .feed =
                              [&](size_t i) {
                                ++feeds;
                                Row(is_second && i > 0 ? 2 : i < 4 ? 1 : 2);
                              },
                          .labels = {1, 1, 1, 1, 0, 0}});
  search.Begin(net_);
  is_second = true;
  const PrecisionMeasured measured = search.Measure(net_, Precision::kInt8);
  EXPECT_NEAR(*measured.accuracy, 100.0 / 6, 1e-9);
  ASSERT_NE(*search.exact().accuracy - 50, *measured.accuracy) << "rounded";
  for (const auto& [drop, trials] : {std::pair(50.0, 0), {49.99, 1}}) {
    NetDef net = net_;
    feeds = 0;
    search.Find(&net, {.max_drop = drop});
    EXPECT_EQ(feeds > 7, trials > 0) << drop;  // one for the preparation, and six examples
  }
}

// A goal that is met exactly is met: no more trials run. What else is tried feeds the examples
// again.
TEST_F(PrecisionExamplesTest, GoalsAreReachedWhereTheyAreMetExactly) {
  bool is_second = false;
  int feeds = 0;
  PrecisionSearch search({.inputs = {"x"}}, &ws_,
                         {.count = 2,
                          .feed =
                              [&](size_t i) {
                                ++feeds;
                                Row(is_second && i == 1 ? 0 : i);
                              },
                          .labels = {0, 1}});
  search.Begin(net_);
  EXPECT_EQ(*search.exact().accuracy, 100);
  is_second = true;
  const PrecisionMeasured half = search.Measure(net_, Precision::kInt8);
  EXPECT_EQ(*half.accuracy, 50);
  EXPECT_NEAR(half.snr_db, 0, 1e-6);  // two ones, and two elements that differ by 1
  const struct {
    PrecisionGoal goal;
    bool reached;
  } rows[] = {{{.min_snr_db = half.snr_db}, true},
              {{.min_snr_db = half.snr_db + 1e-9}, false},
              {{.min_snr_db = half.snr_db - 1}, true},
              {{.max_drop = 50.0}, true},
              {{.max_drop = 49.5}, false},
              {{.max_drop = 100.0}, true},
              {{.min_snr_db = half.snr_db, .max_drop = 50.0}, true},
              {{.min_snr_db = half.snr_db + 1, .max_drop = 50.0}, false},
              {{.min_snr_db = half.snr_db, .max_drop = 49.0}, false},
              {{}, true}};
  for (const auto& row : rows) {
    SCOPED_TRACE(&row - rows);
    NetDef net = net_;
    feeds = 0;
    const PrecisionFound found = search.Find(&net, row.goal);
    EXPECT_EQ(feeds == 3, row.reached) << feeds;  // one for the preparation, and two examples
    EXPECT_TRUE(found.put_back.empty());
    EXPECT_EQ(*found.measured.accuracy, 50);
  }
}

// Two convolutions with 64 channels, for which bytes pay. The range of one is thirty times too wide.
NetDef TwoConvs(int wide) {
  std::string text = "name: 'convs' external_input: 'x' external_input: 'w' external_output: 'y' ";
  for (int i = 0; i < 2; ++i) {
    const float most = (i == 0 ? 1.f : 2.f) * (i == wide ? 30.f : 1.f);
    text += MakeString("op { type: 'Conv' input: '", i == 0 ? "x" : "t", "' input: 'w' output: '",
                       i == 0 ? "t" : "y",
                       "' arg { name: 'kernel' i: 3 } arg { name: 'input_min' f: ", -most,
                       " } arg { name: 'input_max' f: ", most, " } } ");
  }
  return ParseNet(text);
}

class PutBackTest : public testing::Test {
 protected:
  PutBackTest() {
    std::vector<float> w(64 * 64 * 9), x(64 * 28 * 28);
    for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i * 37 % 101) / 1000 - 0.05f;
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 53 % 997) / 997;
    Feed<float>(&ws_, "w", {64, 64, 3, 3}, w);
    Feed<float>(&ws_, "x", {1, 64, 28, 28}, x);
  }
  Workspace ws_;
};

TEST_F(PutBackTest, TheOperatorWithTheMostNoiseGoesFirst) {
  if (!WhyNoInt8Convs().empty()) GTEST_SKIP() << WhyNoInt8Convs();
  if (!MultipliesWholeBytes()) GTEST_SKIP() << "without VNNI, bytes do not pay with 64 channels";
  for (const int wide : {0, 1}) {
    SCOPED_TRACE(wide);
    const NetDef net = TwoConvs(wide);
    PrecisionSearch search({.inputs = {"x"}}, &ws_, {.count = 1, .feed = [](size_t) {}});
    search.Begin(net);
    NetDef without = net;  // what is left if the wide one is put back
    *without.mutable_op(wide)->add_arg() =
        MakeArgument("least_precision", std::string(PrecisionName(Precision::kFloat32)));
    const double goal = search.Measure(without, Precision::kInt8).snr_db;
    NetDef changed = net;
    const PrecisionFound found = search.Find(&changed, {.min_snr_db = goal - 3});
    EXPECT_LT(found.alone_snr_db.at(wide), found.alone_snr_db.at(1 - wide));
    EXPECT_EQ(found.alone_snr_db.at(1 - wide), goal);
    ASSERT_EQ(found.put_back.size(), 1u);
    EXPECT_EQ(found.put_back.begin()->first, wide);
    EXPECT_GE(found.measured.snr_db, goal - 3);
    EXPECT_EQ(found.measured.int8_layers, 1);
    // Only the operator that was put back has the argument.
    EXPECT_NE(GetArgumentPtr(changed.op(wide), "least_precision"), nullptr);
    EXPECT_EQ(GetArgumentPtr(changed.op(1 - wide), "least_precision"), nullptr);
  }
}

TEST_F(PutBackTest, AGoalThatNoPrecisionReachesPutsAllBackToFloat) {
  if (!WhyNoInt8Convs().empty()) GTEST_SKIP() << WhyNoInt8Convs();
  if (!MultipliesWholeBytes()) GTEST_SKIP() << "without VNNI, bytes do not pay with 64 channels";
  NetDef net = TwoConvs(0);
  std::vector<std::pair<int64_t, int64_t>> progress;
  PrecisionSearch search({.inputs = {"x"}}, &ws_, {.count = 1, .feed = [](size_t) {}},
                         [&](int64_t done, int64_t total) { progress.emplace_back(done, total); });
  search.Begin(net);
  EXPECT_EQ(search.exact().layers, 2);
  EXPECT_EQ(search.exact().int8_layers, 0);
  EXPECT_EQ(search.exact().bf16_layers, 0);
  const PrecisionFound found = search.Find(&net, {.min_snr_db = 1e9});
  EXPECT_THAT(found.put_back,
              ElementsAre(Pair(0, Precision::kFloat32), Pair(1, Precision::kFloat32)));
  EXPECT_EQ(found.measured.int8_layers, 0);
  EXPECT_GT(found.measured.snr_db, 1e9);
  // Two operators alone; then, of two, one is tried.
  EXPECT_THAT(progress, ElementsAre(Pair(1, 2), Pair(2, 2), Pair(1, 0)));
  if (!WhyNoBf16Convs().empty()) return;
  const PrecisionMeasured bf16 = search.Measure(TwoConvs(0), Precision::kBfloat16);
  EXPECT_EQ(bf16.bf16_layers, 2);
  EXPECT_EQ(bf16.int8_layers, 0);
  EXPECT_EQ(search.Measure(TwoConvs(0), Precision::kInt8).bf16_layers, 0);
}

}  // namespace
}  // namespace caffe2rt::test::precision_choice_test
