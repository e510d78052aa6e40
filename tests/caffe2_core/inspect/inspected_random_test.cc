// Random nets and numbers, searched and measured by simple programs as well: where a NaN began,
// which values of two nets belong together, and which range represents numbers best.
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

#include "caffe2_core/inspect/blob_watch.h"
#include "caffe2_core/inspect/nan_search.h"
#include "caffe2_core/inspect/net_comparison.h"
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

// The operator on one element. All of them are rounded once, so that the nets have the same floats.
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

std::string NetText(const std::vector<RandomOp>& ops) {
  std::string net = "name: 'n' ";
  for (const RandomOp& op : ops) {
    net += "op { type: '" + op.type + "' ";
    for (const std::string& input : op.inputs) net += "input: '" + input + "' ";
    net += op.output.empty() ? "} " : "output: '" + op.output + "' } ";
  }
  return net;
}

TEST(RandomNaNSearchTest, OriginsAreThoseOfASimpleSearch) {
  std::mt19937 random(3);
  const std::vector<float> numbers = {-3e38f, -2, -1, -0.5f, 0, 0.5f, 1, 2, 3e38f};
  int found = 0, in_later_runs = 0, from_outside = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const std::vector<RandomOp> ops = RandomOps(&random);
    const std::string net = NetText(ops);
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

// --- two nets ---

// The values of each blob, one after the other, with the positions of their operators; -1: from
// outside.
using History = std::map<std::string, std::vector<std::pair<int, Pair>>>;

History HistoryOf(const std::vector<RandomOp>& ops, const std::map<std::string, Pair>& inputs) {
  History history;
  for (size_t i = 0; i < ops.size(); ++i) {
    std::vector<Pair> from;
    for (const std::string& input : ops[i].inputs) {
      auto& values = history[input];
      if (values.empty()) values.emplace_back(-1, inputs.at(input));
      from.push_back(values.back().second);
    }
    Pair result(2);
    for (size_t k = 0; k < 2; ++k) result[k] = Result(ops[i].type, from[0][k], from.back()[k]);
    history[ops[i].output].emplace_back(static_cast<int>(i), result);
  }
  return history;
}

// The place of a value among those of its blob, counted from the last one.
using Place = std::pair<std::string, size_t>;

std::map<Place, std::pair<int, Pair>> PlacesOf(const History& history) {
  std::map<Place, std::pair<int, Pair>> places;
  for (const auto& [blob, values] : history) {
    for (size_t i = 0; i < values.size(); ++i) places[{blob, values.size() - 1 - i}] = values[i];
  }
  return places;
}

std::string LineOf(const std::string& blob, int first, int second, bool last, bool equal) {
  return MakeString(blob, " ", first, " ", second, last ? " last" : "", equal ? " =" : "");
}

TEST(RandomComparisonTest, ValuesAreMatchedFromTheLastOne) {
  std::mt19937 random(11);
  const std::vector<std::string> types = {"Add", "Sub", "Negative", "Copy"};
  int different = 0, only_first = 0, only_second = 0;
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<RandomOp> first = RandomOps(&random);
    for (RandomOp& op : first) {
      if (op.output.empty()) op.output = op.inputs[0] == "a" ? "b" : "a";
      op.type = op.inputs.size() == 2       ? types[random() % 2]
                : op.output == op.inputs[0] ? "Negative"
                                            : types[2 + random() % 2];
    }
    // One of the nets lacks an operator, has one of another type, or begins with another number.
    std::vector<RandomOp> second = first;
    const size_t at = random() % second.size();
    if (trial % 3 == 0) second.erase(second.begin() + static_cast<std::ptrdiff_t>(at));
    if (trial % 3 == 1) second[at].type = second[at].inputs.size() == 2 ? "Add" : "Negative";
    if (trial % 2 == 0) std::swap(first, second);
    Workspace a, b;
    std::map<std::string, Pair> inputs[2];
    for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
      const Pair pair = {static_cast<float>(random() % 7 + 1), static_cast<float>(random() % 5)};
      inputs[0][name] = inputs[1][name] = pair;
    }
    if (trial % 3 == 2) inputs[1]["c"][1] += 1;
    for (const auto& [name, pair] : inputs[0]) Feed<float>(&a, name, {2}, pair);
    for (const auto& [name, pair] : inputs[1]) Feed<float>(&b, name, {2}, pair);
    std::vector<std::string> want, got;
    const auto places = PlacesOf(HistoryOf(first, inputs[0]));
    const auto others = PlacesOf(HistoryOf(second, inputs[1]));
    for (const auto& [place, value] : places) {
      const auto other = others.find(place);
      const bool both = other != others.end();
      const bool equal = both && other->second.second == value.second;
      if (equal && value.first < 0 && other->second.first < 0) continue;
      want.push_back(LineOf(place.first, value.first, both ? other->second.first : -1,
                            place.second == 0, equal));
      different += both && !equal;
      only_first += !both;
    }
    for (const auto& [place, value] : others) {
      if (places.contains(place)) continue;
      want.push_back(LineOf(place.first, -1, value.first, place.second == 0, false));
      ++only_second;
    }
    const NetDef nets[] = {NetToWatch(ParseNet(NetText(first))),
                           NetToWatch(ParseNet(NetText(second)))};
    SCOPED_TRACE(NetText(first) + "\n" + NetText(second));
    for (const ComparedValue& value : CompareNets({nets[0], &a}, {nets[1], &b}, {}))
      got.push_back(LineOf(value.blob, value.first, value.second, value.last, value.within()));
    std::sort(want.begin(), want.end());
    std::sort(got.begin(), got.end());
    ASSERT_EQ(got, want);
  }
  EXPECT_GT(different, 100);
  EXPECT_GT(only_first, 30);
  EXPECT_GT(only_second, 3);
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
