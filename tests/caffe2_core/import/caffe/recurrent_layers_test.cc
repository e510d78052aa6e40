// Recurrent layers compute the recurrences of their definitions.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/caffe2_core/import/caffe/imported_net.h"

namespace caffe2rt::test::recurrent_layers_test {
namespace {

using Values = std::vector<double>;

constexpr int kSteps = 3, kBatch = 2, kInputs = 2, kOutputs = 2;

// Values that differ, between -1 and 1.
Values Spread(int count, double step) {
  Values values;
  for (int i = 0; i < count; ++i) values.push_back(std::sin(step * (i + 1)));
  return values;
}

std::string BlobText(const std::vector<int>& dims, const Values& values) {
  std::string text = " blobs { shape {";
  for (const int dim : dims) text += " dim: " + std::to_string(dim);
  text += " }";
  for (const double value : values) text += " data: " + std::to_string(value);
  return text + " }";
}

Tensor TensorOf(const std::vector<int64_t>& dims, const Values& values) {
  return Floats(dims, {values.begin(), values.end()});
}

// W x for row-major W [rows, columns].
Values Times(const Values& w, const Values& x, int rows) {
  const auto columns = static_cast<int>(x.size());
  Values y(static_cast<size_t>(rows));
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      y[static_cast<size_t>(r)] +=
          w[static_cast<size_t>(r * columns + c)] * x[static_cast<size_t>(c)];
    }
  }
  return y;
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// A rounding as std::to_string writes it, so that both sides have the same weights.
Values Rounded(Values values) {
  for (double& value : values) value = std::stod(std::to_string(value));
  return values;
}

const Values kX = Rounded(Spread(kSteps * kBatch * kInputs, 0.7));
// The second sequence starts again at the last step.
const Values kCont = {0, 1, 1, 1, 1, 0};

Values RowOf(const Values& values, int row, int size) {
  return {values.begin() + row * size, values.begin() + (row + 1) * size};
}

std::string NetText(const std::string& type, const std::string& more_inputs,
                    const std::string& more_ends, const std::string& param) {
  return "layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 3 dim: 2 dim: 2 } } }"
         "layer { name: 'cont' type: 'Input' top: 'cont' input_param { shape { dim: 3 dim: 2 } } "
         "}" +
         more_inputs + "layer { name: 'y' type: '" + type + "' bottom: 'x' bottom: 'cont'" +
         more_ends + " top: 'y' recurrent_param { num_output: 2 " + param + "} }";
}

struct LstmWeights {
  Values x = Rounded(Spread(8 * kInputs, 1.1)), b = Rounded(Spread(8, 0.3)),
         fixed = Rounded(Spread(8 * 3, 0.9)), h = Rounded(Spread(8 * kOutputs, 1.7));
};

// All h, and the last c. `fixed` is empty without a static input.
Values RunLstm(const LstmWeights& w, const Values& fixed, Values h, Values c, Values* last_c) {
  Values all;
  for (int t = 0; t < kSteps; ++t) {
    for (int n = 0; n < kBatch; ++n) {
      const auto row = static_cast<size_t>(t * kBatch + n);
      Values kept = RowOf(h, n, kOutputs);
      for (double& value : kept) value *= kCont[row];
      Values gates = Times(w.x, RowOf(kX, t * kBatch + n, kInputs), 8);
      const Values from_h = Times(w.h, kept, 8);
      const Values from_fixed = fixed.empty() ? Values(8) : Times(w.fixed, RowOf(fixed, n, 3), 8);
      for (size_t i = 0; i < 8; ++i) gates[i] += from_h[i] + w.b[i] + from_fixed[i];
      for (size_t d = 0; d < 2; ++d) {
        const size_t at = static_cast<size_t>(n) * 2 + d;
        c[at] = kCont[row] * Sigmoid(gates[2 + d]) * c[at] +
                Sigmoid(gates[d]) * std::tanh(gates[6 + d]);
        h[at] = Sigmoid(gates[4 + d]) * std::tanh(c[at]);
        all.push_back(h[at]);
      }
    }
  }
  *last_c = c;
  return all;
}

TEST(CaffeRecurrentLayersTest, LstmComputesItsGatesInOrder) {
  const LstmWeights w;
  const std::string weights = "layer { name: 'y' type: 'LSTM'" + BlobText({8, 2}, w.x) +
                              BlobText({8}, w.b) + BlobText({8, 2}, w.h) + "}";
  Values last;
  const Values want = RunLstm(w, {}, Values(4), Values(4), &last);
  const Tensor got =
      RunCaffeText(NetText("LSTM", "", "", ""), weights,
                   {{"x", TensorOf({3, 2, 2}, kX)}, {"cont", TensorOf({3, 2}, kCont)}}, "y");
  EXPECT_LT(Difference(got, TensorOf({3, 2, 2}, want)), 1e-5);
}

TEST(CaffeRecurrentLayersTest, LstmTakesAStaticInputAndShowsItsStates) {
  const LstmWeights w;
  const std::string weights = "layer { name: 'y' type: 'LSTM'" + BlobText({8, 2}, w.x) +
                              BlobText({8}, w.b) + BlobText({8, 3}, w.fixed) +
                              BlobText({8, 2}, w.h) + "}";
  const std::string inputs =
      "layer { name: 's' type: 'Input' top: 's' input_param { shape { dim: 2 dim: 3 } } }"
      "layer { name: 'h' type: 'Input' top: 'h0' top: 'c0' "
      "input_param { shape { dim: 1 dim: 2 dim: 2 } } }";
  std::string net =
      NetText("LSTM", inputs, " bottom: 's' bottom: 'h0' bottom: 'c0'", "expose_hidden: true ");
  net.replace(net.find("top: 'y'"), 8, "top: 'y' top: 'hT' top: 'cT'");
  const Values fixed = Rounded(Spread(6, 0.4)), h = {0.1, 0.2, 0.3, 0.4}, c = {0.5, -0.5, 0.25, 1};
  Workspace ws;
  RunImported(ImportCaffeFromMemory(net, weights, {}),
              {{"x", TensorOf({3, 2, 2}, kX)},
               {"cont", TensorOf({3, 2}, kCont)},
               {"s", TensorOf({2, 3}, fixed)},
               {"h0", TensorOf({1, 2, 2}, h)},
               {"c0", TensorOf({1, 2, 2}, c)}},
              &ws);
  Values last_c;
  const Values want = RunLstm(w, fixed, h, c, &last_c);
  EXPECT_LT(Difference(ws.GetBlob("y")->Get<Tensor>(), TensorOf({3, 2, 2}, want)), 1e-5);
  EXPECT_LT(Difference(ws.GetBlob("hT")->Get<Tensor>(),
                       TensorOf({1, 2, 2}, Values(want.end() - 4, want.end()))),
            1e-5);
  EXPECT_LT(Difference(ws.GetBlob("cT")->Get<Tensor>(), TensorOf({1, 2, 2}, last_c)), 1e-5);
}

TEST(CaffeRecurrentLayersTest, RnnHasAnOutputLayer) {
  const Values wx = Rounded(Spread(4, 1.1)), b = {0.1, -0.2}, wh = Rounded(Spread(4, 1.7)),
               wo = Rounded(Spread(4, 0.6)), bo = {0.3, 0.4};
  const std::string weights = "layer { name: 'y' type: 'RNN'" + BlobText({2, 2}, wx) +
                              BlobText({2}, b) + BlobText({2, 2}, wh) + BlobText({2, 2}, wo) +
                              BlobText({2}, bo) + "}";
  Values h(4), want;
  for (int t = 0; t < kSteps; ++t) {
    for (int n = 0; n < kBatch; ++n) {
      Values kept = RowOf(h, n, 2);
      for (double& value : kept) value *= kCont[static_cast<size_t>(t * kBatch + n)];
      const Values from_x = Times(wx, RowOf(kX, t * kBatch + n, 2), 2), from_h = Times(wh, kept, 2);
      Values state(2);
      for (size_t d = 0; d < 2; ++d) {
        state[d] = std::tanh(from_x[d] + from_h[d] + b[d]);
        h[static_cast<size_t>(n) * 2 + d] = state[d];
      }
      const Values out = Times(wo, state, 2);
      for (size_t d = 0; d < 2; ++d) want.push_back(std::tanh(out[d] + bo[d]));
    }
  }
  const Tensor got =
      RunCaffeText(NetText("RNN", "", "", ""), weights,
                   {{"x", TensorOf({3, 2, 2}, kX)}, {"cont", TensorOf({3, 2}, kCont)}}, "y");
  EXPECT_LT(Difference(got, TensorOf({3, 2, 2}, want)), 1e-5);
}

}  // namespace
}  // namespace caffe2rt::test::recurrent_layers_test
