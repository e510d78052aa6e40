#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "caffe2_core/runtime/net.h"
#include "tests/operators/common/call_tables.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::inference_lstm_test {
namespace {

struct Stack {
  int64_t steps, batch, inputs, hidden, layers, directions;
  bool biases, batch_first;
};

struct Lstm {
  Stack sizes;
  std::vector<double> x, h, c;  // x is [steps, batch, inputs]
  std::vector<std::vector<double>> weights;
};

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// One layer in one direction, by the definition. `x` is [steps, batch, inputs]; the result is
// [steps, batch, hidden]; `h` and `c` are the states of this layer.
std::vector<double> NaiveLayer(const Stack& s, const std::vector<double>& x, int64_t inputs,
                               const std::vector<double>* weights, bool reverse, double* h,
                               double* c) {
  std::vector<double> y(static_cast<size_t>(s.steps * s.batch * s.hidden));
  for (int64_t step = 0; step < s.steps; ++step) {
    const int64_t t = reverse ? s.steps - 1 - step : step;
    for (int64_t n = 0; n < s.batch; ++n) {
      std::vector<double> gates;
      for (int64_t g = 0; g < 4 * s.hidden; ++g) {
        double sum =
            s.biases ? weights[2][static_cast<size_t>(g)] + weights[3][static_cast<size_t>(g)] : 0;
        for (int64_t i = 0; i < inputs; ++i) {
          sum += weights[0][static_cast<size_t>(g * inputs + i)] *
                 x[static_cast<size_t>((t * s.batch + n) * inputs + i)];
        }
        for (int64_t i = 0; i < s.hidden; ++i) {
          sum += weights[1][static_cast<size_t>(g * s.hidden + i)] * h[n * s.hidden + i];
        }
        gates.push_back(sum);
      }
      for (int64_t k = 0; k < s.hidden; ++k) {
        const auto gate = [&](int64_t g) { return gates[static_cast<size_t>(g * s.hidden + k)]; };
        double& cell = c[n * s.hidden + k];
        cell = Sigmoid(gate(1)) * cell + Sigmoid(gate(0)) * std::tanh(gate(2));
        h[n * s.hidden + k] = Sigmoid(gate(3)) * std::tanh(cell);
        y[static_cast<size_t>((t * s.batch + n) * s.hidden + k)] = h[n * s.hidden + k];
      }
    }
  }
  return y;
}

// Returns the outputs [steps, batch, directions * hidden], and leaves the last states in h and c.
std::vector<double> NaiveLstm(Lstm* lstm) {
  const Stack& s = lstm->sizes;
  const int64_t count = s.biases ? 4 : 2, state = s.batch * s.hidden;
  std::vector<double> x = lstm->x;
  int64_t inputs = s.inputs;
  for (int64_t layer = 0; layer < s.layers; ++layer) {
    std::vector<double> joined(static_cast<size_t>(s.steps * s.batch * s.directions * s.hidden));
    for (int64_t d = 0; d < s.directions; ++d) {
      const int64_t i = layer * s.directions + d;
      const std::vector<double> y =
          NaiveLayer(s, x, inputs, lstm->weights.data() + i * count, d == 1,
                     lstm->h.data() + i * state, lstm->c.data() + i * state);
      for (size_t k = 0; k < y.size(); ++k) {
        const size_t h = static_cast<size_t>(s.hidden);
        joined[(k / h * static_cast<size_t>(s.directions) + static_cast<size_t>(d)) * h + k % h] =
            y[k];
      }
    }
    x = joined;
    inputs = s.directions * s.hidden;
  }
  return x;
}

// Exchanges the first two dims.
std::vector<double> Swapped(const std::vector<double>& x, int64_t first, int64_t second) {
  const size_t row = x.size() / static_cast<size_t>(first * second);
  std::vector<double> y;
  for (int64_t j = 0; j < second; ++j) {
    for (int64_t i = 0; i < first; ++i) {
      const auto from = x.begin() + (i * second + j) * static_cast<int64_t>(row);
      y.insert(y.end(), from, from + static_cast<int64_t>(row));
    }
  }
  return y;
}

std::vector<float> Floats(const std::vector<double>& x) { return {x.begin(), x.end()}; }

Lstm RandomLstm(const Stack& s) {
  std::mt19937 random(7);
  const auto draw = [&](int64_t count) {
    std::vector<double> x(static_cast<size_t>(count));
    for (double& v : x) v = static_cast<double>(random() % 33) / 16 - 1;
    return x;
  };
  Lstm lstm{s,
            draw(s.steps * s.batch * s.inputs),
            draw(s.layers * s.directions * s.batch * s.hidden),
            draw(s.layers * s.directions * s.batch * s.hidden),
            {}};
  for (int64_t i = 0; i < s.layers * s.directions; ++i) {
    lstm.weights.push_back(
        draw(4 * s.hidden * (i < s.directions ? s.inputs : s.directions * s.hidden)));
    lstm.weights.push_back(draw(4 * s.hidden * s.hidden));
    for (int k = 0; k < (s.biases ? 2 : 0); ++k) lstm.weights.push_back(draw(4 * s.hidden));
  }
  return lstm;
}

// Feeds the inputs and returns the operator.
std::string FeedLstm(const Lstm& lstm, Workspace* ws) {
  const Stack& s = lstm.sizes;
  const std::vector<int64_t> states = {s.layers * s.directions, s.batch, s.hidden};
  if (s.batch_first) {
    Feed<float>(ws, "X", {s.batch, s.steps, s.inputs}, Floats(Swapped(lstm.x, s.steps, s.batch)));
  } else {
    Feed<float>(ws, "X", {s.steps, s.batch, s.inputs}, Floats(lstm.x));
  }
  Feed<float>(ws, "h", states, Floats(lstm.h));
  Feed<float>(ws, "c", states, Floats(lstm.c));
  std::string op = R"(type: "InferenceLSTM" input: "X" input: "h" input: "c")";
  for (size_t k = 0; k < lstm.weights.size(); ++k) {
    const std::string name = MakeString("w", k);
    const int64_t size = static_cast<int64_t>(lstm.weights[k].size()), gates = 4 * s.hidden;
    const bool bias = s.biases && k % 4 >= 2;
    Feed<float>(ws, name,
                bias ? std::vector<int64_t>{gates} : std::vector<int64_t>{gates, size / gates},
                Floats(lstm.weights[k]));
    op += " input: \"" + name + "\"";
  }
  const auto arg = [](const char* name, int64_t value) {
    return MakeString(" arg { name: \"", name, "\" i: ", value, " }");
  };
  return op + R"( output: "Y" output: "H" output: "C")" + arg("num_layers", s.layers) +
         arg("has_biases", s.biases) + arg("batch_first", s.batch_first) +
         arg("bidirectional", s.directions - 1);
}

class InferenceLSTMTest : public testing::TestWithParam<Stack> {};
INSTANTIATE_TEST_SUITE_P(
    Stacks, InferenceLSTMTest,
    testing::Values(Stack{3, 2, 4, 5, 1, 1, true, false}, Stack{3, 2, 4, 5, 1, 1, false, true},
                    Stack{4, 3, 2, 3, 1, 2, true, false}, Stack{4, 3, 2, 3, 3, 1, false, false},
                    Stack{2, 3, 5, 2, 3, 2, true, true}, Stack{1, 1, 1, 1, 2, 2, false, true}));

TEST_P(InferenceLSTMTest, ComputesTheDefinition) {
  const Stack s = GetParam();
  Lstm lstm = RandomLstm(s);
  Workspace ws;
  const std::string op = FeedLstm(lstm, &ws);
  RunOp(&ws, op);
  const std::vector<double> y = NaiveLstm(&lstm);
  const int64_t outputs = s.directions * s.hidden;
  const std::vector<int64_t> states = {s.layers * s.directions, s.batch, s.hidden};
  if (s.batch_first) {
    ExpectTensor<float>(ws, "Y", {s.batch, s.steps, outputs}, Floats(Swapped(y, s.steps, s.batch)),
                        1e-5);
  } else {
    ExpectTensor<float>(ws, "Y", {s.steps, s.batch, outputs}, Floats(y), 1e-5);
  }
  ExpectTensor<float>(ws, "H", states, Floats(lstm.h), 1e-5);
  ExpectTensor<float>(ws, "C", states, Floats(lstm.c), 1e-5);
  ExpectShapeInferred(&ws, op);
}

const std::string kLstm = "InferenceLSTM X h c W R -> Y H C has_biases=0";

TEST(InferenceLSTMCallsTest, ReturnsTheFirstStatesOfEmptySequences) {
  ExpectResults({
      {kLstm, "X f 0,1,2; h f 1,1,1 = 3; c f 1,1,1 = 4; W f 4,2; R f 4,1",
       "Y f 0,1,1; H f 1,1,1 = 3; C f 1,1,1 = 4"},
      {kLstm, "X f 3,0,2; h f 1,0,1; c f 1,0,1; W f 4,2; R f 4,1",
       "Y f 3,0,1; H f 1,0,1; C f 1,0,1"},
      {kLstm, "X f 3,2,2; h f 1,2,0; c f 1,2,0; W f 0,2; R f 0,0",
       "Y f 3,2,0; H f 1,2,0; C f 1,2,0"},
      // Without inputs and with weights of 0, the new cell is half of the old one, which is 0.
      {kLstm, "X f 2,1,0; h f 1,1,1; c f 1,1,1 = 0; W f 4,0; R f 4,1 = 0",
       "Y f 2,1,1 = 0; H f 1,1,1 = 0; C f 1,1,1 = 0"},
  });
}

TEST(InferenceLSTMCallsTest, InfersShapes) {
  ExpectInferred(
      {{"InferenceLSTM X h c W R V S -> Y H C has_biases=0 bidirectional=1",
        "X f 3,2,4; h f 2,2,5; c f 2,2,5; W f 20,4; R f 20,5; V f 20,4; S f 20,5",
        "float [3, 2, 10]; float [2, 2, 5]; float [2, 2, 5]"},
       {kLstm, "X f ?; h f 1,2,5; c f 1,2,5; W f 20,4; R f 20,5", "float ?; float ?; float ?"}});
}

TEST(InferenceLSTMCallsTest, RejectsInvalidCalls) {
  const std::string x = "X f 3,2,4; h f 1,2,5; c f 1,2,5; ", w = "W f 20,4; R f 20,5";
  const std::string biased = "InferenceLSTM X h c W R b B -> Y H C";
  ExpectRejected({
      {"InferenceLSTM X -> Y H C", "X f 3,2,4",
       "number of inputs, want X, hidden_0 and cell_0 (got 1, want at least 3)"},
      {"InferenceLSTM X h c W R -> Y H C", x + w,
       "number of inputs, want X, hidden_0, cell_0 and the weights of 1 layers (got 5, want 7)"},
      {kLstm + " num_layers=2", x + w,
       "number of inputs, want X, hidden_0, cell_0 and the weights of 2 layers (got 5, want 7)"},
      {kLstm + " num_layers=0", x + w, "argument \"num_layers\" is 0, want at least 1"},
      {kLstm, "X f 3,4; h f 1,2,5; c f 1,2,5; " + w,
       "rank of input 0 (X) of shape [3, 4]: got 2, want 3"},
      {kLstm, "X f 3,2,4; h f 2,5; c f 2,5; " + w,
       "rank of input 1 (hidden_0) of shape [2, 5]: got 2, want 3"},
      {kLstm, "X f 3,2,4; h f 1,3,5; c f 1,3,5; " + w,
       "input 1 (hidden_0) has shape [1, 3, 5], want [1, 2, H]: one for each layer and direction, "
       "and the sequences of X"},
      {kLstm + " batch_first=1", "X f 3,2,4; h f 1,2,5; c f 1,2,5; " + w,
       "input 1 (hidden_0) has shape [1, 2, 5], want [1, 3, H]: one for each layer and direction, "
       "and the sequences of X"},
      {kLstm, "X f 3,2,4; h f 1,2,5; c f 1,2,4; " + w,
       "input 2 (cell_0) has shape [1, 2, 4], want that of input 1 (hidden_0), [1, 2, 5]"},
      {kLstm, x + "W f 19,4; R f 20,5",
       "input 3 has shape [19, 4], want [20, 4]: weight 0 of layer 0"},
      {kLstm, x + "W f 20,4; R f 20,4",
       "input 4 has shape [20, 4], want [20, 5]: weight 1 of layer 0"},
      {biased, x + w + "; b f 19; B f 20",
       "input 5 has shape [19], want [20]: weight 2 of layer 0"},
      {biased, x + w + "; b f 20; B f 20,1",
       "input 6 has shape [20, 1], want [20]: weight 3 of layer 0"},
      {kLstm, "X d 3,2,4; h f 1,2,5; c f 1,2,5; " + w,
       "the tensor holds elements of type double, want float"},
      {kLstm, x + "W f 20,4; R d 20,5", "the tensor holds elements of type double, want float"},
  });
}

TEST(InferenceLSTMCallsTest, HasNoGradient) {
  EXPECT_EQ(DescribeGradient(R"(type: "InferenceLSTM" input: "X" input: "h" input: "c" input: "W"
                                output: "Y" output: "H" output: "C")"),
            " | - - - -");
}

TEST(InferenceLSTMCallsTest, AllocatesNothingOnceWarm) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer replaces malloc";
  Workspace ws;
  NetBase* const net = ws.CreateNet(ParseNet(
      "name: \"n\" op { " + FeedLstm(RandomLstm({4, 3, 2, 5, 2, 2, true, true}), &ws) + " }"));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(net->Run());
  const AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
}

}  // namespace
}  // namespace caffe2rt::test::inference_lstm_test
