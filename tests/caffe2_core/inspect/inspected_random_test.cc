// Random nets and numbers, searched and measured by simple programs as well: where a NaN began, and which range
// represents numbers best.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "caffe2_core/inspect/nan_search.h"
#include "caffe2_core/inspect/range_histogram.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::inspected_random_test {
namespace {

// --- NaN ---

using Pair = std::vector<float>;  // the two elements of a blob

struct RandomOp {
  std::string type;
  std::vector<std::string> inputs;
  std::string output;  // "" for Print
};

// One operator for each element; all of them are exact in float.
float Result(const std::string& type, float a, float b) {
  if (type == "Add") return a + b;
  if (type == "Sub") return a - b;
  if (type == "Mul") return a * b;
  if (type == "Div") return a / b;
  if (type == "Sqrt") return std::sqrt(a);
  if (type == "Negative") return -a;
  return a;  // Copy
}

bool HasNaN(const Pair& pair) { return std::isnan(pair[0]) || std::isnan(pair[1]); }
bool HasInfinity(const Pair& pair) { return std::isinf(pair[0]) || std::isinf(pair[1]); }

// A value of a blob, and those that it was computed from.
struct Value {
  std::string blob;
  Pair pair;
  int position = -1;
  std::vector<const Value*> from = {};
};

struct WantedOrigin {
  std::string blob, op;
  int position = -1;
  int64_t run = 1;
  std::vector<std::string> infinite_inputs = {};
};

void CollectOrigins(const Value& value, std::vector<const Value*>* origins) {
  bool begins = true;
  for (const Value* from : value.from) {
    if (!HasNaN(from->pair)) continue;
    begins = false;
    CollectOrigins(*from, origins);
  }
  if (begins) origins->push_back(&value);
}

std::optional<WantedOrigin> OriginByHand(const std::vector<RandomOp>& ops,
                                         const std::string& output, int64_t runs,
                                         std::map<std::string, Pair> blobs) {
  for (int64_t run = 1; run <= runs; ++run) {
    std::vector<std::unique_ptr<Value>> values;
    std::map<std::string, const Value*> now;
    const auto add = [&](Value value) {
      values.push_back(std::make_unique<Value>(std::move(value)));
      now[values.back()->blob] = values.back().get();
    };
    for (const auto& [name, pair] : blobs) add({.blob = name, .pair = pair});
    for (size_t i = 0; i < ops.size(); ++i) {
      if (ops[i].output.empty()) continue;
      Value value{.blob = ops[i].output, .pair = {0, 0}, .position = static_cast<int>(i)};
      for (const std::string& input : ops[i].inputs) value.from.push_back(now.at(input));
      for (size_t k = 0; k < 2; ++k)
        value.pair[k] = Result(ops[i].type, value.from[0]->pair[k], value.from.back()->pair[k]);
      add(std::move(value));
    }
    for (const auto& [name, value] : now) blobs[name] = value->pair;
    if (!HasNaN(blobs.at(output))) continue;
    std::vector<const Value*> origins;
    CollectOrigins(*now.at(output), &origins);
    const Value* const first =
        *std::min_element(origins.begin(), origins.end(), [](const Value* a, const Value* b) {
          return std::tie(a->position, a->blob) < std::tie(b->position, b->blob);
        });
    WantedOrigin origin{.blob = first->blob, .op = "", .position = first->position, .run = run};
    if (first->position >= 0) {
      const RandomOp& op = ops[static_cast<size_t>(first->position)];
      origin.op = op.type;
      for (size_t i = 0; i < op.inputs.size(); ++i) {
        if (HasInfinity(first->from[i]->pair)) origin.infinite_inputs.push_back(op.inputs[i]);
      }
    }
    return origin;
  }
  return std::nullopt;
}

std::vector<RandomOp> RandomOps(std::mt19937* random) {
  const std::vector<std::string> types = {"Add",  "Sub",      "Mul",  "Div",
                                          "Sqrt", "Negative", "Copy", "Print"};
  const auto blob = [&] { return std::string(1, static_cast<char>('a' + (*random)() % 6)); };
  std::vector<RandomOp> ops;
  for (int i = 0; i < 9; ++i) {
    RandomOp op{.type = types[(*random)() % types.size()], .inputs = {blob()}, .output = ""};
    if (op.type == "Add" || op.type == "Sub" || op.type == "Mul" || op.type == "Div")
      op.inputs.push_back(blob());
    // In place of the first input, or in another blob than the inputs.
    while (op.type != "Print" && (op.output.empty() || op.output == op.inputs.back()))
      op.output = blob();
    if (op.type == "Sqrt" && (*random)() % 2 == 0) op.output = op.inputs[0];
    ops.push_back(op);
  }
  return ops;
}

TEST(RandomNaNSearchTest, OriginsAreThoseOfASimpleSearch) {
  std::mt19937 random(3);
  const std::vector<float> numbers = {-3e38f, -2, -1, -0.5f, 0, 0.5f, 1, 2, 3e38f};
  int found = 0, in_later_runs = 0, from_outside = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const std::vector<RandomOp> ops = RandomOps(&random);
    std::string net = "name: 'n' ";
    for (const RandomOp& op : ops) {
      net += "op { type: '" + op.type + "' ";
      for (const std::string& input : op.inputs) net += "input: '" + input + "' ";
      net += op.output.empty() ? "} " : "output: '" + op.output + "' } ";
    }
    SCOPED_TRACE(net);
    Workspace ws;
    std::map<std::string, Pair> blobs;
    for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
      blobs[name] = {numbers[random() % numbers.size()], numbers[random() % numbers.size()]};
      if (random() % 40 == 0) blobs[name][1] = std::numeric_limits<float>::quiet_NaN();
      Feed<float>(&ws, name, {2}, blobs[name]);
    }
    const std::string output = ops.back().output.empty() ? "a" : ops.back().output;
    const std::optional<WantedOrigin> want = OriginByHand(ops, output, 3, blobs);
    const std::optional<NaNOrigin> got = FindNaNOrigin(ParseNet(net), output, 3, &ws);
    ASSERT_EQ(got.has_value(), want.has_value());
    if (!want.has_value()) continue;
    ++found;
    in_later_runs += want->run > 1;
    from_outside += want->position < 0;
    EXPECT_EQ(got->blob, want->blob);
    EXPECT_EQ(got->position, want->position);
    EXPECT_EQ(got->op, want->op);
    EXPECT_EQ(got->run, want->run);
    EXPECT_EQ(got->infinite_inputs, want->infinite_inputs);
  }
  EXPECT_GT(found, 50);
  EXPECT_GT(in_later_runs, 5);
  EXPECT_GT(from_outside, 5);
}

// --- ranges ---

// The sum of the squared errors, number by number: those of rounding on average.
double ErrorByHand(const std::vector<float>& numbers, double min, double max) {
  const double scale = (max - min) / 255;
  double sum = 0;
  for (const float number : numbers) {
    const double x = double{number}, beyond = std::max({min - x, x - max, 0.0});
    if (x != 0) sum += beyond > 0 ? beyond * beyond : scale * scale / 12;
  }
  return sum;
}

// Numbers within 1 and some outliers on one side, the other, both or none.
TEST(RandomRangeTest, BestRangesAreThoseOfAllNumbers) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 24; ++trial) {
    const int low = trial % 3, high = trial / 3 % 4;
    SCOPED_TRACE(MakeString("trial ", trial, ", outliers ", low, " and ", high));
    std::vector<float> numbers = RandomValues(1000, trial % 2 == 0 ? -1 : 0.01f, 1, random());
    for (int i = 0; i < low; ++i)
      numbers.insert(numbers.begin(), -static_cast<float>(5 + random() % 60));
    for (int i = 0; i < high; ++i) numbers.push_back(static_cast<float>(5 + random() % 60));
    RangeHistogram histogram;
    const auto half = static_cast<int64_t>(numbers.size() / 2);
    histogram.Add(numbers.data(), half);
    histogram.Add(numbers.data() + half, static_cast<int64_t>(numbers.size()) - half);
    const float min = std::min(0.0f, *std::min_element(numbers.begin(), numbers.end()));
    const float max = std::max(0.0f, *std::max_element(numbers.begin(), numbers.end()));
    const double whole = ErrorByHand(numbers, min, max);
    double least = whole;
    for (int i = 1; i < 128; ++i) {
      const double factor = std::exp2(-i / 8.0);
      least = std::min({least, ErrorByHand(numbers, min * factor, max * factor),
                        ErrorByHand(numbers, min, max * factor),
                        ErrorByHand(numbers, min * factor, max)});
    }
    const RangeHistogram::Range best = histogram.BestRange();
    const double got = ErrorByHand(numbers, double{best.min}, double{best.max});
    // Near a half, the widths of bins decide.
    if (least > 0.55 * whole) {
      EXPECT_EQ(best.min, min);
      EXPECT_EQ(best.max, max);
    } else if (least < 0.45 * whole) {
      EXPECT_LE(got, 1.05 * least) << best.min << " to " << best.max;
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::inspected_random_test
