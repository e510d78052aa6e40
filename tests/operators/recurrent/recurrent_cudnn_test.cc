// Recurrent and its gradient by cuDNN, compared with the definition and with central differences.
#include <cmath>
#include <map>

#include "tests/support/devices_agree.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::recurrent_cudnn_test {
namespace {

std::string Arguments(const std::string& mode, int hidden, int layers,
                      const std::string& more = "") {
  return MakeString(
      " arg { name: 'rnn_mode' s: '", mode, "' } arg { name: 'hidden_size' i: ", hidden,
      " } arg { name: 'num_layers' i: ", layers, " } ",
      more.find("input_mode") == std::string::npos ? "arg { name: 'input_mode' s: 'linear' } " : "",
      more);
}
std::string Net(const std::string& arguments) {
  return "type: 'Recurrent' input: 'X' input: 'H' input: 'C' input: 'W' output: 'Y' output: 'HL' "
         "output: 'CL' output: 'S' output: 'D' engine: 'CUDNN' " +
         arguments;
}
const char* const kBoth = "arg { name: 'bidirectional' i: 1 } ";

class RecurrentCudnnTest : public OnDeviceTest {
 protected:
  // Copies a parameter into W, and returns its values.
  std::vector<float> SetParameter(const std::string& arguments, int layer, const std::string& type,
                                  const std::string& input, const std::vector<int64_t>& dims,
                                  uint32_t seed) {
    FeedRandom(&ws_, "P", dims, -1, 1, seed);
    const std::string of =
        MakeString(" arg { name: 'layer' i: ", layer, " } arg { name: 'param_type' s: '", type,
                   "' } arg { name: 'input_type' s: '", input, "' }");
    RunOp(&ws_, "type: 'RecurrentParamSet' input: 'X' input: 'W' input: 'P' output: 'W' " +
                    arguments + of);
    RunOp(&ws_, "type: 'RecurrentParamGet' input: 'X' input: 'W' output: 'G' " + arguments + of);
    const std::vector<float> values = Fetch<float>(ws_, "P");
    ExpectTensor<float>(ws_, "G", {1, dims[0], dims[1]}, values);
    return values;
  }
};

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// One layer in one direction, written from the equations of its gates.
struct NaiveLayer {
  int64_t columns, hidden;
  std::map<std::string, std::vector<float>> parameters;  // "input_gate_w input", ...

  double Sum(const std::string& gate, const std::string& of, const std::vector<double>& row,
             int64_t j) const {
    const std::vector<float>& w = parameters.at(gate + "_w " + of);
    double sum = parameters.at(gate + "_b " + of)[static_cast<size_t>(j)];
    for (size_t k = 0; k < row.size(); ++k)
      sum += w[static_cast<size_t>(j) * row.size() + k] * row[k];
    return sum;
  }
  void Lstm(const std::vector<double>& x, std::vector<double>* h, std::vector<double>* c) const {
    const std::vector<double> before = *h;
    for (int64_t j = 0; j < hidden; ++j) {
      const auto sum = [&](const char* gate) {
        return Sum(gate, "input", x, j) + Sum(gate, "recurrent", before, j);
      };
      double& cell = (*c)[static_cast<size_t>(j)];
      cell =
          Sigmoid(sum("forget_gate")) * cell + Sigmoid(sum("input_gate")) * std::tanh(sum("cell"));
      (*h)[static_cast<size_t>(j)] = Sigmoid(sum("output_gate")) * std::tanh(cell);
    }
  }
  void Gru(const std::vector<double>& x, std::vector<double>* h) const {
    const std::vector<double> before = *h;
    for (int64_t j = 0; j < hidden; ++j) {
      const auto sum = [&](const char* gate) {
        return Sum(gate, "input", x, j) + Sum(gate, "recurrent", before, j);
      };
      const double update = Sigmoid(sum("update_gate"));
      const double value =
          std::tanh(Sum("cell", "input", x, j) +
                    Sigmoid(sum("reset_gate")) * Sum("cell", "recurrent", before, j));
      (*h)[static_cast<size_t>(j)] = (1 - update) * value + update * before[static_cast<size_t>(j)];
    }
  }
};

TEST_F(RecurrentCudnnTest, AgreesWithTheEquations) {
  constexpr int64_t kSteps = 4, kBatch = 2, kColumns = 3, kHidden = 2;
  for (const std::string mode : {"lstm", "gru"}) {
    SCOPED_TRACE(mode);
    const std::string arguments = Arguments(mode, kHidden, 1);
    const std::vector<std::string> gates =
        mode == "lstm"
            ? std::vector<std::string>{"input_gate", "forget_gate", "cell", "output_gate"}
            : std::vector<std::string>{"reset_gate", "update_gate", "cell"};
    const int64_t count = static_cast<int64_t>(gates.size()) * kHidden * (kColumns + kHidden + 2);
    FeedRandom(&ws_, "X", {kSteps, kBatch, kColumns});
    FeedRandom(&ws_, "H", {1, kBatch, kHidden}, -1, 1, 2);
    FeedRandom(&ws_, "C", {1, kBatch, kHidden}, -1, 1, 3);
    Feed<float>(&ws_, "W", {count}, std::vector<float>(static_cast<size_t>(count)));
    NaiveLayer layer{kColumns, kHidden, {}};
    uint32_t seed = 10;
    for (const std::string& gate : gates) {
      for (const std::string of : {"input", "recurrent"}) {
        const int64_t columns = of == "input" ? kColumns : kHidden;
        layer.parameters[gate + "_w " + of] =
            SetParameter(arguments, 0, gate + "_w", of, {kHidden, columns}, ++seed);
        layer.parameters[gate + "_b " + of] =
            SetParameter(arguments, 0, gate + "_b", of, {kHidden, 1}, ++seed);
      }
    }
    RunOp(&ws_, Net(arguments));
    const std::vector<float> x = Fetch<float>(ws_, "X"), h0 = Fetch<float>(ws_, "H"),
                             c0 = Fetch<float>(ws_, "C");
    std::vector<float> y(static_cast<size_t>(kSteps * kBatch * kHidden)), h_last, c_last;
    for (int64_t n = 0; n < kBatch; ++n) {
      std::vector<double> h(h0.begin() + n * kHidden, h0.begin() + (n + 1) * kHidden);
      std::vector<double> c(c0.begin() + n * kHidden, c0.begin() + (n + 1) * kHidden);
      for (int64_t t = 0; t < kSteps; ++t) {
        const auto at = x.begin() + (t * kBatch + n) * kColumns;
        const std::vector<double> row(at, at + kColumns);
        if (mode == "lstm") {
          layer.Lstm(row, &h, &c);
        } else {
          layer.Gru(row, &h);
        }
        for (int64_t j = 0; j < kHidden; ++j) {
          y[static_cast<size_t>((t * kBatch + n) * kHidden + j)] =
              static_cast<float>(h[static_cast<size_t>(j)]);
        }
      }
      for (const double value : h) h_last.push_back(static_cast<float>(value));
      for (const double value : c) c_last.push_back(mode == "lstm" ? static_cast<float>(value) : 0);
    }
    ExpectTensor<float>(ws_, "Y", {kSteps, kBatch, kHidden}, y, 1e-5);
    ExpectTensor<float>(ws_, "HL", {1, kBatch, kHidden}, h_last, 1e-5);
    ExpectTensor<float>(ws_, "CL", {1, kBatch, kHidden}, c_last, 1e-5);
  }
}

TEST_F(RecurrentCudnnTest, GradientMatchesDifferences) {
  const struct {
    const char* mode;
    const char* more;
    int64_t layers, states, weights;
  } cases[] = {{"lstm", "", 1, 1, 4 * 2 * (3 + 2 + 2)},
               {"gru", kBoth, 1, 2, 2 * 3 * 2 * (3 + 2 + 2)},
               {"tanh", "", 2, 2, 2 * (3 + 2 + 2) + 2 * (2 + 2 + 2)}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.mode);
    FeedRandom(&ws_, "X", {3, 2, 3});
    FeedRandom(&ws_, "H", {c.states, 2, 2}, -1, 1, 2);
    FeedRandom(&ws_, "C", {c.states, 2, 2}, -1, 1, 3);
    FeedRandom(&ws_, "W", {c.weights}, -1, 1, 4);
    std::vector<std::string> inputs = {"X", "H", "W"};
    if (std::string(c.mode) == "lstm") inputs.push_back("C");
    ExpectGradientMatches(&ws_, Net(Arguments(c.mode, 2, static_cast<int>(c.layers), c.more)),
                          {.inputs = inputs, .outputs_without_gradient = {"HL", "CL", "S", "D"}});
  }
  EXPECT_EQ(DescribeGradient(Net(Arguments("lstm", 2, 1, ""))),
            "RecurrentGradient(X,H,C,W,S,Y,Y_grad)->X_grad,H_grad,C_grad,W_grad,D,S "
            "rnn_mode=\"lstm\" hidden_size=2 num_layers=1 input_mode=\"linear\" | "
            "X_grad H_grad C_grad W_grad");
}

TEST_F(RecurrentCudnnTest, HasShapesOfLayersAndDirections) {
  FeedRandom(&ws_, "X", {3, 2, 2});
  FeedRandom(&ws_, "H", {4, 2, 2}, -1, 1, 2);
  FeedRandom(&ws_, "C", {4, 2, 2}, -1, 1, 3);
  // Without input matrices of the first layer: recurrent ones, then those of four columns.
  FeedRandom(&ws_, "W", {2 * 4 * 2 * (2 + 2) + 2 * 4 * 2 * (4 + 2 + 2)}, -1, 1, 4);
  const std::string arguments =
      Arguments("lstm", 2, 2, kBoth + std::string("arg { name: 'input_mode' s: 'skip' } "));
  RunOp(&ws_, Net(arguments));
  EXPECT_EQ(DimsOf(ws_, "Y"), (std::vector<int64_t>{3, 2, 4}));
  EXPECT_EQ(DimsOf(ws_, "HL"), (std::vector<int64_t>{4, 2, 2}));
  EXPECT_EQ(DimsOf(ws_, "D"), (std::vector<int64_t>{0}));
  ExpectShapeInferred(&ws_, Net(arguments), /*may_be_unknown=*/true);
  const std::vector<float> y = Fetch<float>(ws_, "Y");
  RunOp(&ws_, Net(arguments + "arg { name: 'is_test' i: 1 }"));
  ExpectTensor<float>(ws_, "Y", {3, 2, 4}, y, 1e-6);
  EXPECT_EQ(DimsOf(ws_, "S"), (std::vector<int64_t>{0}));
  // Half of the outputs of the first layer are dropped, except in tests.
  const std::string drops = arguments + "arg { name: 'dropout' f: 0.5 }";
  RunOp(&ws_, Net(drops));
  EXPECT_NE(Fetch<float>(ws_, "Y"), y);
  EXPECT_GT(DimsOf(ws_, "D")[0], 0);
  RunOp(&ws_, Net(drops + "arg { name: 'is_test' i: 1 }"));
  ExpectTensor<float>(ws_, "Y", {3, 2, 4}, y, 1e-6);
}

TEST_F(RecurrentCudnnTest, AcceptsNoStepsAndNoSequences) {
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{0, 2, 3}, {2, 0, 3}}) {
    Feed<float>(&ws_, "X", dims, {});
    FeedRandom(&ws_, "H", {1, dims[1], 1});
    FeedRandom(&ws_, "C", {1, dims[1], 1}, -1, 1, 2);
    FeedRandom(&ws_, "W", {4 * (3 + 1 + 2)});
    Feed<float>(&ws_, "dY", {dims[0], dims[1], 1}, {});
    RunOp(&ws_, Net(Arguments("lstm", 1, 1)));
    ExpectTensor<float>(ws_, "Y", {dims[0], dims[1], 1}, {});
    ExpectTensor<float>(ws_, "HL", {1, dims[1], 1}, Fetch<float>(ws_, "H"));
    ExpectTensor<float>(ws_, "CL", {1, dims[1], 1}, Fetch<float>(ws_, "C"));
    RunOp(&ws_,
          "type: 'RecurrentGradient' input: 'X' input: 'H' input: 'C' input: 'W' input: 'S' "
          "input: 'Y' input: 'dY' output: 'dX' output: 'dH' output: 'dC' output: 'dW' output: 'D' "
          "output: 'S' " +
              Arguments("lstm", 1, 1));
    ExpectTensor<float>(ws_, "dX", dims, {});
    ExpectTensor<float>(ws_, "dW", {24}, std::vector<float>(24));
  }
}

TEST_F(RecurrentCudnnTest, RejectsWhatDoesNotFit) {
  FeedRandom(&ws_, "X", {3, 2, 3});
  FeedRandom(&ws_, "H", {1, 2, 2});
  FeedRandom(&ws_, "C", {1, 2, 2});
  FeedRandom(&ws_, "W", {56});
  const auto expect = [&](const std::string& arguments, const std::string& part) {
    ExpectThrows([&] { RunOp(&ws_, Net(arguments)); }, part);
  };
  RunOp(&ws_, Net(Arguments("lstm", 2, 1)));
  expect(Arguments("rnn", 2, 1), "want lstm, gru, relu or tanh");
  expect(Arguments("lstm", 0, 1), "want above 0");
  expect(Arguments("lstm", 2, 2), "input 1 (hidden_input) has shape [1, 2, 2], want [2, 2, 2]");
  expect(Arguments("gru", 2, 1), "want the number of parameters of the net");
  expect(Arguments("lstm", 2, 1, "arg { name: 'dropout' f: 0 }"), "want above 0 and at most 1");
  expect(Arguments("lstm", 2, 1, "arg { name: 'input_mode' s: 'skip' }"),
         "input 0 (X) has shape [3, 2, 3], want 2 columns");
  const std::string get = "type: 'RecurrentParamGet' input: 'X' input: 'W' output: 'G' " +
                          Arguments("lstm", 2, 1) + "arg { name: 'input_type' s: 'input' } ";
  ExpectThrows([&] { RunOp(&ws_, get + "arg { name: 'param_type' s: 'reset_gate_w' }"); },
               "want one of input_gate_w, forget_gate_w, cell_w, output_gate_w");
  ExpectThrows(
      [&] {
        RunOp(&ws_, get + "arg { name: 'param_type' s: 'cell_w' } arg { name: 'layer' i: 1 }");
      },
      "argument layer is 1, want at least 0 and below 1");
  FeedRandom(&ws_, "P", {5});
  ExpectThrows(
      [&] {
        RunOp(&ws_,
              "type: 'RecurrentParamSet' input: 'X' input: 'W' input: 'P' output: 'W' " +
                  Arguments("lstm", 2, 1) +
                  "arg { name: 'input_type' s: 'input' } arg { name: 'param_type' s: 'cell_w' }");
      },
      "elements of input 2 (param) of shape [5]");
  FeedRandom(&ws_, "X", {3, 2});
  expect(Arguments("lstm", 2, 1), "rank of input 0 (X)");
}

}  // namespace
}  // namespace caffe2rt::test::recurrent_cudnn_test
