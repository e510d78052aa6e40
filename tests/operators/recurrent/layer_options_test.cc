// LSTM, GRU and RNN with every combination of their options, against the formulas in doubles.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/operator_test.h"

namespace caffe2rt::test::layer_options_test {
namespace {

constexpr int kSteps = 3, kBatch = 4, kInputs = 3, kHidden = 2;
constexpr int kLengths[kBatch] = {3, 2, 0, 1};

struct LayerOptions {
  std::string type, direction;
  bool batch_first, clipped, input_forget, linear_before_reset, peepholes;
  int gates() const { return type == "LSTM" ? 4 : type == "GRU" ? 3 : 1; }
  int directions() const { return direction == "bidirectional" ? 2 : 1; }
};

using Numbers = std::vector<float>;
constexpr float kClip = 0.4f;

struct LayerData {
  Numbers x, w, r, b, h, c, p;
};
struct LayerResults {
  Numbers y, h, c;
};

// The positions in tensors of states, and in Y.
size_t StateAt(const LayerOptions& o, int d, int n, int k) {
  const int row = o.batch_first ? n * o.directions() + d : d * kBatch + n;
  return static_cast<size_t>(row * kHidden + k);
}
size_t OutputAt(const LayerOptions& o, int t, int d, int n, int k) {
  const int row =
      o.batch_first ? (n * kSteps + t) * o.directions() + d : (t * o.directions() + d) * kBatch + n;
  return static_cast<size_t>(row * kHidden + k);
}

// The steps of one sequence in one direction.
void RunSequence(const LayerOptions& o, const LayerData& in, int d, int n, LayerResults* out) {
  const int gates = o.gates();
  const auto clip = [&](double v) {
    return o.clipped ? std::clamp(v, -double{kClip}, double{kClip}) : v;
  };
  const auto sigmoid = [&](double v) { return 1 / (1 + std::exp(-clip(v))); };
  const auto tanh = [&](double v) { return std::tanh(clip(v)); };
  std::vector<double> h(kHidden), c(kHidden);
  for (int k = 0; k < kHidden; ++k) {
    h[static_cast<size_t>(k)] = in.h[StateAt(o, d, n, k)];
    c[static_cast<size_t>(k)] = in.c[StateAt(o, d, n, k)];
  }
  for (int step = 0; step < kLengths[n]; ++step) {
    const int t = o.direction == "reverse" || d == 1 ? kLengths[n] - 1 - step : step;
    // Of gate g: the product of the inputs, or of a state, with their bias.
    const auto from_inputs = [&](int g, int k) {
      const int row = (d * gates + g) * kHidden + k;
      double sum = in.b[static_cast<size_t>((2 * d * gates + g) * kHidden + k)];
      const int first = o.batch_first ? n * kSteps + t : t * kBatch + n;
      for (int i = 0; i < kInputs; ++i)
        sum += double{in.w[static_cast<size_t>(row * kInputs + i)]} *
               in.x[static_cast<size_t>(first * kInputs + i)];
      return sum;
    };
    const auto from_state = [&](int g, int k, const std::vector<double>& state) {
      const int row = (d * gates + g) * kHidden + k;
      double sum = in.b[static_cast<size_t>(((2 * d + 1) * gates + g) * kHidden + k)];
      for (int i = 0; i < kHidden; ++i)
        sum += in.r[static_cast<size_t>(row * kHidden + i)] * state[static_cast<size_t>(i)];
      return sum;
    };
    const auto both = [&](int g, int k) { return from_inputs(g, k) + from_state(g, k, h); };
    const auto peephole = [&](int g, int k) {
      return o.peepholes ? in.p[static_cast<size_t>((d * 3 + g) * kHidden + k)] : 0.f;
    };
    std::vector<double> next = h, reset = h;
    if (o.type == "GRU") {
      for (int k = 0; k < kHidden; ++k) reset[static_cast<size_t>(k)] *= sigmoid(both(1, k));
    }
    for (int k = 0; k < kHidden; ++k) {
      const auto at = static_cast<size_t>(k);
      if (o.type == "RNN") {
        next[at] = tanh(both(0, k));
      } else if (o.type == "GRU") {
        const double update = sigmoid(both(0, k));
        const double product = o.linear_before_reset ? sigmoid(both(1, k)) * from_state(2, k, h)
                                                     : from_state(2, k, reset);
        next[at] = (1 - update) * tanh(from_inputs(2, k) + product) + update * h[at];
      } else {
        const double input = sigmoid(both(0, k) + peephole(0, k) * c[at]);
        const double forget =
            o.input_forget ? 1 - input : sigmoid(both(2, k) + peephole(2, k) * c[at]);
        c[at] = forget * c[at] + input * tanh(both(3, k));
        next[at] = sigmoid(both(1, k) + peephole(1, k) * c[at]) * tanh(c[at]);
      }
    }
    h = next;
    for (int k = 0; k < kHidden; ++k)
      out->y[OutputAt(o, t, d, n, k)] = static_cast<float>(h[static_cast<size_t>(k)]);
  }
  for (int k = 0; k < kHidden; ++k) {
    out->h[StateAt(o, d, n, k)] = static_cast<float>(h[static_cast<size_t>(k)]);
    out->c[StateAt(o, d, n, k)] = static_cast<float>(c[static_cast<size_t>(k)]);
  }
}

void ExpectLayer(const LayerOptions& o) {
  SCOPED_TRACE(MakeString(o.type, " ", o.direction, o.batch_first ? " batch first" : "",
                          o.clipped ? " clipped" : "", o.input_forget ? " input_forget" : "",
                          o.linear_before_reset ? " linear_before_reset" : "",
                          o.peepholes ? " peepholes" : ""));
  const int64_t d = o.directions(), gates = o.gates() * kHidden;
  const auto order = [&](int64_t first, int64_t second) {
    return o.batch_first ? std::vector<int64_t>{second, first, kHidden}
                         : std::vector<int64_t>{first, second, kHidden};
  };
  Workspace ws;
  FeedRandom(&ws, "X",
             o.batch_first ? std::vector<int64_t>{kBatch, kSteps, kInputs}
                           : std::vector<int64_t>{kSteps, kBatch, kInputs},
             -1, 1, 1);
  FeedRandom(&ws, "W", {d, gates, kInputs}, -1, 1, 2);
  FeedRandom(&ws, "R", {d, gates, kHidden}, -1, 1, 3);
  FeedRandom(&ws, "B", {d, 2 * gates}, -1, 1, 4);
  Feed<int32_t>(&ws, "L", {kBatch}, {std::begin(kLengths), std::end(kLengths)});
  FeedRandom(&ws, "H0", order(d, kBatch), -1, 1, 5);
  FeedRandom(&ws, "C0", order(d, kBatch), -1, 1, 6);
  FeedRandom(&ws, "P", {d, 3 * kHidden}, -1, 1, 7);
  const LayerData in = {Fetch<float>(ws, "X"), Fetch<float>(ws, "W"),  Fetch<float>(ws, "R"),
                        Fetch<float>(ws, "B"), Fetch<float>(ws, "H0"), Fetch<float>(ws, "C0"),
                        Fetch<float>(ws, "P")};
  LayerResults want;
  want.y.resize(static_cast<size_t>(kSteps * kBatch * kHidden * d));
  want.h.resize(static_cast<size_t>(kBatch * kHidden * d));
  want.c = want.h;
  for (int i = 0; i < d; ++i) {
    for (int n = 0; n < kBatch; ++n) RunSequence(o, in, i, n, &want);
  }
  const bool lstm = o.type == "LSTM";
  const std::string op = MakeString(
      "type: '", o.type, "' input: 'X' input: 'W' input: 'R' input: 'B' input: 'L' input: 'H0' ",
      lstm ? "input: 'C0' " : "", o.peepholes ? "input: 'P' " : "", "output: 'Y' output: 'H' ",
      lstm ? "output: 'C' " : "", "arg { name: 'direction' s: '", o.direction,
      "' } arg { name: 'layout' i: ", o.batch_first ? 1 : 0,
      " } arg { name: 'clip' f: ", o.clipped ? kClip : 0.f, " } ",
      o.input_forget ? "arg { name: 'input_forget' i: 1 }" : "",
      o.linear_before_reset ? "arg { name: 'linear_before_reset' i: 1 }" : "");
  ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(op)));
  const std::vector<int64_t> states = order(d, kBatch);
  ExpectTensor<float>(ws, "Y",
                      o.batch_first ? std::vector<int64_t>{kBatch, kSteps, d, kHidden}
                                    : std::vector<int64_t>{kSteps, d, kBatch, kHidden},
                      want.y, 2e-6);
  ExpectTensor<float>(ws, "H", states, want.h, 2e-6);
  if (lstm) ExpectTensor<float>(ws, "C", states, want.c, 2e-6);
}

TEST(LayerOptionsTest, AgreeWithTheFormulasInEveryCombination) {
  for (const char* const direction : {"forward", "reverse", "bidirectional"}) {
    for (int bits = 0; bits < 16; ++bits) {
      const bool batch_first = bits & 1, clipped = bits & 2, more = bits & 4, peepholes = bits & 8;
      ExpectLayer({"LSTM", direction, batch_first, clipped, more, false, peepholes});
      if (peepholes) continue;
      ExpectLayer({"GRU", direction, batch_first, clipped, false, more, false});
      if (!more) ExpectLayer({"RNN", direction, batch_first, clipped, false, false, false});
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::layer_options_test
