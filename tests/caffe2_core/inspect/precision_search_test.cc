#include "caffe2_core/inspect/precision_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/passes/conv_layouts.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::precision_search_test {
namespace {

// A row of three numbers for each of two images, which a division by 1 gives as they are.
constexpr char kRows[] = R"(
name: "rows" external_input: "x" external_output: "y"
op { type: "Copy" input: "x" output: "y" })";

class PrecisionSearchTest : public testing::Test {
 protected:
  // Example i is one row with the largest number in column i.
  PrecisionExamples Examples(std::vector<int64_t> labels) {
    return {.count = 3,
            .feed =
                [this](size_t i) {
                  std::vector<float> row(3);
                  row[i] = 1;
                  Feed<float>(&ws_, "x", {1, 3}, row);
                },
            .labels = std::move(labels)};
  }
  Workspace ws_;
};

TEST_F(PrecisionSearchTest, MeasuresAccuracyByLabels) {
  const NetDef net = ParseNet(kRows);
  PrecisionSearch search({.inputs = {"x"}}, &ws_, Examples({0, 1, 0}));
  search.Begin(net);
  ASSERT_TRUE(search.exact().accuracy.has_value());
  EXPECT_NEAR(*search.exact().accuracy, 100.0 * 2 / 3, 1e-9);
  EXPECT_TRUE(std::isinf(search.exact().snr_db));
}

TEST_F(PrecisionSearchTest, RejectsLabelsThatDoNotFit) {
  const NetDef net = ParseNet(kRows);
  PrecisionSearch few({.inputs = {"x"}}, &ws_, Examples({0, 1}));
  ExpectThrows([&] { few.Begin(net); }, "one for each row of the output");
  PrecisionSearch high({.inputs = {"x"}}, &ws_, Examples({0, 3, 1}));
  ExpectThrows([&] { high.Begin(net); }, "label 2 is 3, want a class below 3");
}

TEST_F(PrecisionSearchTest, RejectsANetWithoutFloats) {
  const NetDef net = ParseNet(R"(name: "n" external_input: "x" external_output: "s"
op { type: "Shape" input: "x" output: "s" })");
  PrecisionSearch search({.inputs = {"x"}}, &ws_, Examples({}));
  ExpectThrows([&] { search.Begin(net); }, "has no output of floats or bytes");
}

TEST_F(PrecisionSearchTest, ComparesImagesOfBytes) {
  const NetDef net = ParseNet(R"(name: "n" external_input: "x" external_output: "y"
op { type: "Copy" input: "x" output: "y" })");
  uint8_t shown = 200;
  PrecisionSearch search({.inputs = {"x"}}, &ws_, {.count = 1, .feed = [&](size_t) {
                                                     Feed<uint8_t>(&ws_, "x", {1, 2}, {shown, 0});
                                                   }});
  search.Begin(net);
  shown = 220;  // stands for what another precision changes: a tenth of the signal
  EXPECT_NEAR(search.Measure(net, Precision::kBfloat16).snr_db, 20, 1e-5);
}

TEST_F(PrecisionSearchTest, LeavesOutOutputsThatAreNoFloats) {
  const NetDef net = ParseNet(
      std::string(kRows) + R"(op { type: "Shape" input: "x" output: "s" } external_output: "s")");
  PrecisionSearch search({.inputs = {"x"}}, &ws_, Examples({0, 1, 2}));
  search.Begin(net);
  EXPECT_NEAR(*search.exact().accuracy, 100, 1e-9);
  EXPECT_TRUE(std::isinf(search.exact().snr_db));
}

TEST_F(PrecisionSearchTest, CountsAResultOfAnotherShapeAsNoise) {
  const NetDef net = ParseNet(kRows);
  std::vector<float> row = {3, 4};
  PrecisionSearch search({.inputs = {"x"}}, &ws_,
                         {.count = 1, .feed = [&](size_t) {
                            Feed<float>(&ws_, "x", {1, static_cast<int64_t>(row.size())}, row);
                          }});
  search.Begin(net);
  row = {3, 4, 5};  // stands for another number of detections
  EXPECT_EQ(search.Measure(net, Precision::kBfloat16).snr_db, 0);
}

TEST_F(PrecisionSearchTest, FindsOperatorsWithRanges) {
  const NetDef net = ParseNet(R"(
op { type: "Conv" input: "x" input: "w" output: "a" arg { name: "kernel" i: 1 }
     arg { name: "input_min" f: 0 } arg { name: "input_max" f: 1 } }
op { type: "Relu" input: "a" output: "r" }
op { type: "Conv" input: "r" input: "w" output: "b" arg { name: "kernel" i: 1 } })");
  const std::vector<int> positions = OperatorsForInt8(net);
  ASSERT_FALSE(positions.empty());
  EXPECT_EQ(positions[0], 0);
  for (const int position : positions) {
    EXPECT_NE(position, 1);
    EXPECT_NE(position, 2);
  }
}

TEST_F(PrecisionSearchTest, StatesWhatWasMeasuredInTheNet) {
  NetDef net;
  StateSnr(&net, 31.5, 29.0, HUGE_VAL);
  EXPECT_EQ(GetArgumentPtr(net, kInt8SnrArgument)->f(), 31.5f);
  EXPECT_EQ(GetArgumentPtr(net, kPairLimitedSnrArgument)->f(), 29.0f);
  EXPECT_EQ(GetArgumentPtr(net, kBf16SnrArgument)->f(), 200.0f);
  StateSnr(&net, std::nullopt, 28.0, std::nullopt);
  ASSERT_EQ(net.arg_size(), 1);
  EXPECT_EQ(GetArgumentPtr(net, kPairLimitedSnrArgument)->f(), 28.0f);
}

// The preparation of each trial folds v, which the workspace does not keep.
TEST_F(PrecisionSearchTest, LeavesNoConstantsBehind) {
  const NetDef net = ParseNet(R"(name: "n" external_input: "x" external_input: "w"
      external_output: "y" op { type: "Sqr" input: "w" output: "v" }
      op { type: "Mul" input: "x" input: "v" output: "y" })");
  Feed<float>(&ws_, "w", {1, 3}, {1, 2, 3});
  PrecisionSearch search({.inputs = {"x"}}, &ws_, Examples({}));
  search.Begin(net);
  for (const Precision precision : {Precision::kBfloat16, Precision::kInt8})
    EXPECT_TRUE(std::isinf(search.Measure(net, precision).snr_db));
  std::vector<std::string> left = ws_.LocalBlobs();
  std::erase_if(left, [](const std::string& name) { return name == "v"; });
  EXPECT_EQ(left, (std::vector<std::string>{"w", "x", "y"}));
  ExpectTensor<float>(ws_, "w", {1, 3}, {1, 2, 3});
}

// Two convolutions with 64 channels: bytes pay for both.
constexpr char kConvs[] = R"(
name: "convs" external_input: "x" external_input: "w" external_output: "y"
op { type: "Conv" input: "x" input: "w" output: "t" arg { name: "kernel" i: 3 }
     arg { name: "input_min" f: 0 } arg { name: "input_max" f: 1 } }
op { type: "Conv" input: "t" input: "w" output: "y" arg { name: "kernel" i: 3 }
     arg { name: "input_min" f: -20 } arg { name: "input_max" f: 20 } })";

void FeedConvs(Workspace* ws) {
  std::vector<float> w(64 * 64 * 9), x(64 * 28 * 28);
  for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i * 37 % 101) / 1000 - 0.05f;
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 53 % 997) / 997;
  Feed<float>(ws, "w", {64, 64, 3, 3}, w);
  Feed<float>(ws, "x", {1, 64, 28, 28}, x);
}

// The bias makes all results 0 or 1 (-1 or 1), whatever the noise is.
TEST_F(PrecisionSearchTest, MeasuresWhatSaturatingOperatorsRead) {
  if (!WhyNoInt8Convs().empty()) GTEST_SKIP() << WhyNoInt8Convs();
  FeedConvs(&ws_);
  std::vector<float> bias(64, 200);
  for (size_t i = 0; i < 64; i += 2) bias[i] = -200;
  bias[1] = 500;
  Feed<float>(&ws_, "b", {64}, bias);
  const std::string conv = R"(
name: "classes" external_input: "x" external_input: "w" external_input: "b" external_output: "y"
op { type: "Conv" input: "x" input: "w" input: "b" output: "t" arg { name: "kernel" i: 3 }
     arg { name: "input_min" f: 0 } arg { name: "input_max" f: 1 } }
op { type: "AveragePool" input: "t" output: "p" arg { name: "global_pooling" i: 1 } })";
  const auto snr = [&](const std::string& last, const std::set<std::string>& kept) {
    const NetDef net = ParseNet(conv + last);
    PrecisionSearch search({.inputs = {"x"}, .kept = kept}, &ws_,
                           {.count = 1, .feed = [](size_t) {}});
    search.Begin(net);
    return search.Measure(net, Precision::kInt8).snr_db;
  };
  const char softmax[] =
      R"(op { type: "Softmax" input: "p" output: "y" arg { name: "axis" i: 1 } })";
  const double of_logits = snr(softmax, {"p"});
  EXPECT_LT(of_logits, 150);
  EXPECT_EQ(snr(softmax, {}), of_logits);
  EXPECT_EQ(snr(softmax, {"y"}), of_logits);
  const char* const others[] = {
      R"(op { type: "Softmax" input: "p" output: "s" arg { name: "axis" i: 1 } }
         op { type: "Reshape" input: "s" output: "y" output: "shape" arg { name: "shape" ints: [1, -1] } })",
      R"(op { type: "Sigmoid" input: "p" output: "y" })",
      R"(op { type: "HardSigmoid" input: "p" output: "y" })",
      R"(op { type: "Tanh" input: "p" output: "y" })",
      R"(op { type: "Sigmoid" input: "p" output: "s" } op { type: "Tanh" input: "p" output: "u" }
         op { type: "Concat" input: "s" input: "u" output: "y" output: "split" arg { name: "axis" i: 1 } })"};
  for (const char* const last : others) EXPECT_NEAR(snr(last, {}), of_logits, 1e-9) << last;
  // The results alone.
  EXPECT_EQ(
      snr(R"(op { type: "Sigmoid" input: "p" output: "p" } op { type: "Copy" input: "p" output: "y" })",
          {}),
      HUGE_VAL);
}

TEST_F(PrecisionSearchTest, PutsBackTheFewestThatReachTheGoal) {
  if (!WhyNoInt8Convs().empty()) GTEST_SKIP() << WhyNoInt8Convs();
  if (!MultipliesWholeBytes()) GTEST_SKIP() << "without VNNI, bytes do not pay with 64 channels";
  FeedConvs(&ws_);
  NetDef net = ParseNet(kConvs);
  const PreparationOptions options{.inputs = {"x"}};
  PrecisionSearch search(options, &ws_, {.count = 1, .feed = [](size_t) {}});
  search.Begin(net);
  const PrecisionMeasured both = search.Measure(net, Precision::kInt8);
  ASSERT_EQ(both.int8_layers, 2);
  NetDef kept = net;
  const PrecisionFound none = search.Find(&kept, {.min_snr_db = both.snr_db - 1});
  EXPECT_TRUE(none.put_back.empty());
  EXPECT_EQ(none.alone_snr_db.size(), 2u);
  // More than all convolutions in bytes have: one at least goes back, and the result reaches it.
  const PrecisionFound some = search.Find(&net, {.min_snr_db = both.snr_db + 1});
  EXPECT_FALSE(some.put_back.empty());
  EXPECT_GE(some.measured.snr_db, both.snr_db + 1);
  for (const auto& [position, least] : some.put_back) {
    const Argument* const argument = GetArgumentPtr(net.op(position), "least_precision");
    ASSERT_NE(argument, nullptr);
    EXPECT_EQ(argument->s(), PrecisionName(least));
  }
}

}  // namespace
}  // namespace caffe2rt::test::precision_search_test
