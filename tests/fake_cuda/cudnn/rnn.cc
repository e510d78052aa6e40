#include "cudnn/rnn.h"

#include <algorithm>
#include <cmath>

namespace fakecuda {

size_t Rnn::ColumnsOf(size_t pseudo_layer, size_t transform) const {
  if (transform >= gates()) return hidden;
  if (pseudo_layer >= directions) return width();
  return skips_input ? 0 : input;
}

size_t Rnn::MatrixAt(size_t pseudo_layer, size_t transform) const {
  size_t at = 0;
  for (size_t p = 0; p <= pseudo_layer && p < pseudo_layers(); ++p) {
    for (size_t t = 0; t < 2 * gates(); ++t) {
      if (p == pseudo_layer && t == transform) return at;
      at += hidden * ColumnsOf(p, t);
    }
  }
  return at;
}

size_t Rnn::BiasAt(size_t pseudo_layer, size_t transform) const {
  return MatrixAt(pseudo_layers(), 0) + (pseudo_layer * 2 * gates() + transform) * hidden;
}

namespace {

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// The rows of one pseudo-layer in the order of its direction.
struct Walk {
  const Rnn& rnn;
  size_t p;

  size_t layer() const { return p / rnn.directions; }
  size_t direction() const { return p % rnn.directions; }
  // The row of step `s` of sequence `n`.
  size_t Row(size_t s, size_t n) const {
    return (direction() == 0 ? s : rnn.steps - 1 - s) * rnn.batch + n;
  }
  size_t StateAt(size_t n) const { return (p * rnn.batch + n) * rnn.hidden; }
  size_t OutputAt(size_t row) const {
    return rnn.OutputAt(layer()) + row * rnn.width() + direction() * rnn.hidden;
  }
  // The hidden unit j before step s.
  double HiddenBefore(const Values& tape, const RnnStates& first, size_t s, size_t n,
                      size_t j) const {
    if (s > 0) return tape[OutputAt(Row(s - 1, n)) + j];
    return first.h.empty() ? 0 : first.h[StateAt(n) + j];
  }
  double CellBefore(const Values& tape, const RnnStates& first, size_t s, size_t n,
                    size_t j) const {
    if (s > 0) return tape[rnn.CellsAt(p) + Row(s - 1, n) * rnn.hidden + j];
    return first.c.empty() ? 0 : first.c[StateAt(n) + j];
  }
};

// The input of a layer: x, or the outputs of the layer before it, without those that were dropped.
Values InputOf(const Rnn& rnn, size_t layer, const Values& x, const Values& tape) {
  if (layer == 0) return x;
  Values input(rnn.rows() * rnn.width());
  for (size_t i = 0; i < input.size(); ++i) {
    input[i] = tape[rnn.OutputAt(layer - 1) + i] * tape[rnn.MaskAt(layer - 1) + i];
  }
  return input;
}

void DrawMask(const Rnn& rnn, size_t layer, Values* tape) {
  unsigned long long state = rnn.seed * 2654435761u + layer + 1;
  for (size_t i = 0; i < rnn.rows() * rnn.width(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double uniform = static_cast<double>(state >> 11) / 9007199254740992.0;
    const bool keeps = rnn.dropout == 0 || uniform >= rnn.dropout;
    (*tape)[rnn.MaskAt(layer) + i] = keeps ? 1 / (1 - rnn.dropout) : 0;
  }
}

// Element j of a transform of a row, or of x itself where there is no matrix.
double Transform(const Rnn& rnn, const Values& weights, size_t p, size_t transform, size_t j,
                 const std::vector<double>& row) {
  const size_t columns = rnn.ColumnsOf(p, transform), at = rnn.MatrixAt(p, transform) + j * columns;
  double sum = weights[rnn.BiasAt(p, transform) + j];
  if (columns == 0) return sum + row[j];
  for (size_t k = 0; k < columns; ++k) sum += weights[at + k] * row[k];
  return sum;
}

// Writes the activated gates, the cell and the output of unit j.
void RunUnit(const Walk& walk, const double* from_input, const double* from_hidden, double h_before,
             double c_before, size_t row, size_t j, Values* tape) {
  const Rnn& rnn = walk.rnn;
  double* const gates = tape->data() + rnn.GatesAt(walk.p) + (row * rnn.gates()) * rnn.hidden + j;
  double& cell = (*tape)[rnn.CellsAt(walk.p) + row * rnn.hidden + j];
  double& out = (*tape)[walk.OutputAt(row) + j];
  const auto gate = [&](size_t g) -> double& { return gates[g * rnn.hidden]; };
  const auto sum = [&](size_t g) { return from_input[g] + from_hidden[g]; };
  switch (rnn.mode) {
    case CUDNN_LSTM:  // input gate, forget gate, new cell, output gate
      gate(0) = Sigmoid(sum(0));
      gate(1) = Sigmoid(sum(1));
      gate(2) = std::tanh(sum(2));
      gate(3) = Sigmoid(sum(3));
      cell = gate(1) * c_before + gate(0) * gate(2);
      out = gate(3) * std::tanh(cell);
      return;
    case CUDNN_GRU:  // reset gate, update gate, new state
      gate(0) = Sigmoid(sum(0));
      gate(1) = Sigmoid(sum(1));
      cell = from_hidden[2];
      gate(2) = std::tanh(from_input[2] + gate(0) * cell);
      out = (1 - gate(1)) * gate(2) + gate(1) * h_before;
      return;
    case CUDNN_RNN_RELU:
      out = gate(0) = std::max(sum(0), 0.0);
      return;
    default:
      out = gate(0) = std::tanh(sum(0));
  }
}

// Sets the slopes of unit j from the gradients of its output and cell. Returns the part of the
// gradients of the states before it that passes no matrix.
struct Before {
  double dh, dc;
};
Before UnitSlopes(const Walk& walk, double dh, double dc, double h_before, double c_before,
                  size_t row, size_t j, Values* tape) {
  const Rnn& rnn = walk.rnn;
  const size_t at = row * rnn.gates() * rnn.hidden + j;
  const auto gate = [&](size_t g) { return (*tape)[rnn.GatesAt(walk.p) + at + g * rnn.hidden]; };
  const auto slope = [&](size_t g) -> double& {
    return (*tape)[rnn.SlopesAt(walk.p) + at + g * rnn.hidden];
  };
  const double cell = (*tape)[rnn.CellsAt(walk.p) + row * rnn.hidden + j];
  const auto of_sigmoid = [](double y) { return y * (1 - y); };
  const auto of_tanh = [](double y) { return 1 - y * y; };
  switch (rnn.mode) {
    case CUDNN_LSTM: {
      const double t = std::tanh(cell), all = dc + dh * gate(3) * of_tanh(t);
      slope(0) = all * gate(2) * of_sigmoid(gate(0));
      slope(1) = all * c_before * of_sigmoid(gate(1));
      slope(2) = all * gate(0) * of_tanh(gate(2));
      slope(3) = dh * t * of_sigmoid(gate(3));
      return {0, all * gate(1)};
    }
    case CUDNN_GRU:
      slope(2) = dh * (1 - gate(1)) * of_tanh(gate(2));
      slope(1) = dh * (h_before - gate(2)) * of_sigmoid(gate(1));
      slope(0) = slope(2) * cell * of_sigmoid(gate(0));
      return {dh * gate(1), 0};
    case CUDNN_RNN_RELU:
      slope(0) = gate(0) > 0 ? dh : 0;
      return {0, 0};
    default:
      slope(0) = dh * of_tanh(gate(0));
      return {0, 0};
  }
}

// The slope of gate g with respect to the transformed hidden state.
double HiddenSlope(const Rnn& rnn, const Values& tape, size_t p, size_t row, size_t g, size_t j) {
  const size_t at = row * rnn.gates() * rnn.hidden + j;
  const double slope = tape[rnn.SlopesAt(p) + at + g * rnn.hidden];
  const bool is_reset = rnn.mode == CUDNN_GRU && g == 2;
  return is_reset ? slope * tape[rnn.GatesAt(p) + at] : slope;
}

std::vector<double> RowOf(const Values& values, size_t row, size_t columns) {
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(row * columns);
  return {first, first + static_cast<std::ptrdiff_t>(columns)};
}

void RunLayer(const Walk& walk, const Values& weights, const Values& input, const RnnStates& first,
              Values* tape) {
  const Rnn& rnn = walk.rnn;
  for (size_t s = 0; s < rnn.steps; ++s) {
    for (size_t n = 0; n < rnn.batch; ++n) {
      const size_t row = walk.Row(s, n);
      const std::vector<double> x = RowOf(input, row, input.size() / rnn.rows());
      std::vector<double> h(rnn.hidden);
      for (size_t j = 0; j < rnn.hidden; ++j) h[j] = walk.HiddenBefore(*tape, first, s, n, j);
      for (size_t j = 0; j < rnn.hidden; ++j) {
        double from_input[4], from_hidden[4];
        for (size_t g = 0; g < rnn.gates(); ++g) {
          from_input[g] = Transform(rnn, weights, walk.p, g, j, x);
          from_hidden[g] = Transform(rnn, weights, walk.p, rnn.gates() + g, j, h);
        }
        RunUnit(walk, from_input, from_hidden, h[j], walk.CellBefore(*tape, first, s, n, j), row, j,
                tape);
      }
    }
  }
}

// dvector += transpose of the matrix * slopes
void AddTransposed(const Rnn& rnn, const Values& weights, size_t p, size_t transform,
                   const std::vector<double>& slopes, double* dvector) {
  const size_t columns = rnn.ColumnsOf(p, transform), at = rnn.MatrixAt(p, transform);
  for (size_t j = 0; j < rnn.hidden; ++j) {
    if (columns == 0) dvector[j] += slopes[j];
    for (size_t k = 0; k < columns; ++k) dvector[k] += weights[at + j * columns + k] * slopes[j];
  }
}

// The backward run of one pseudo-layer. Adds to `dinput`.
void RunLayerBackward(const Walk& walk, const Values& weights, const RnnStates& first,
                      const Values& dout, const RnnStates& dlast, RnnStates* dfirst, Values* tape,
                      Values* dinput) {
  const Rnn& rnn = walk.rnn;
  const size_t columns = dinput->size() / rnn.rows();
  for (size_t n = 0; n < rnn.batch; ++n) {
    std::vector<double> dh(rnn.hidden), dc(rnn.hidden);
    for (size_t j = 0; j < rnn.hidden; ++j) {
      if (!dlast.h.empty()) dh[j] = dlast.h[walk.StateAt(n) + j];
      if (!dlast.c.empty()) dc[j] = dlast.c[walk.StateAt(n) + j];
    }
    for (size_t s = rnn.steps; s-- > 0;) {
      const size_t row = walk.Row(s, n);
      std::vector<double> dh_before(rnn.hidden);
      for (size_t j = 0; j < rnn.hidden; ++j) {
        const double out = dout[row * rnn.width() + walk.direction() * rnn.hidden + j];
        const Before before =
            UnitSlopes(walk, dh[j] + out, dc[j], walk.HiddenBefore(*tape, first, s, n, j),
                       walk.CellBefore(*tape, first, s, n, j), row, j, tape);
        dh_before[j] = before.dh;
        dc[j] = before.dc;
      }
      for (size_t g = 0; g < rnn.gates(); ++g) {
        std::vector<double> slopes(rnn.hidden), hidden_slopes(rnn.hidden);
        for (size_t j = 0; j < rnn.hidden; ++j) {
          slopes[j] = (*tape)[rnn.SlopesAt(walk.p) + (row * rnn.gates() + g) * rnn.hidden + j];
          hidden_slopes[j] = HiddenSlope(rnn, *tape, walk.p, row, g, j);
        }
        AddTransposed(rnn, weights, walk.p, g, slopes, dinput->data() + row * columns);
        AddTransposed(rnn, weights, walk.p, rnn.gates() + g, hidden_slopes, dh_before.data());
      }
      dh = dh_before;
    }
    for (size_t j = 0; j < rnn.hidden; ++j) {
      dfirst->h[walk.StateAt(n) + j] = dh[j];
      dfirst->c[walk.StateAt(n) + j] = dc[j];
    }
  }
}

}  // namespace

Values RnnForward(const Rnn& rnn, const Values& weights, const Values& x, const RnnStates& first,
                  RnnStates* last, Values* tape) {
  tape->assign(rnn.tape_size(), 0);
  last->h.assign(rnn.state_size(), 0);
  last->c.assign(rnn.state_size(), 0);
  for (size_t layer = 0; layer < rnn.layers; ++layer) {
    const Values input = InputOf(rnn, layer, x, *tape);
    for (size_t d = 0; d < rnn.directions; ++d) {
      const Walk walk{rnn, layer * rnn.directions + d};
      RunLayer(walk, weights, input, first, tape);
      for (size_t i = 0; i < rnn.batch * rnn.hidden; ++i) {
        const size_t n = i / rnn.hidden, j = i % rnn.hidden;
        last->h[walk.StateAt(n) + j] = walk.HiddenBefore(*tape, first, rnn.steps, n, j);
        last->c[walk.StateAt(n) + j] = walk.CellBefore(*tape, first, rnn.steps, n, j);
      }
    }
    DrawMask(rnn, layer, tape);
  }
  const auto y = tape->begin() + static_cast<std::ptrdiff_t>(rnn.OutputAt(rnn.layers - 1));
  return {y, y + static_cast<std::ptrdiff_t>(rnn.rows() * rnn.width())};
}

Values RnnBackwardData(const Rnn& rnn, const Values& weights, const RnnStates& first,
                       const Values& dy, const RnnStates& dlast, RnnStates* dfirst, Values* tape) {
  dfirst->h.assign(rnn.state_size(), 0);
  dfirst->c.assign(rnn.state_size(), 0);
  Values dout = dy;
  for (size_t layer = rnn.layers; layer-- > 0;) {
    Values dinput(rnn.rows() * (layer == 0 ? rnn.input : rnn.width()));
    for (size_t d = 0; d < rnn.directions; ++d) {
      RunLayerBackward({rnn, layer * rnn.directions + d}, weights, first, dout, dlast, dfirst, tape,
                       &dinput);
    }
    if (layer > 0) {
      for (size_t i = 0; i < dinput.size(); ++i) dinput[i] *= (*tape)[rnn.MaskAt(layer - 1) + i];
    }
    dout = dinput;
  }
  return dout;
}

Values RnnBackwardWeights(const Rnn& rnn, const Values& x, const RnnStates& first,
                          const Values& tape) {
  Values dweights(rnn.weights_size());
  for (size_t p = 0; p < rnn.pseudo_layers(); ++p) {
    const Walk walk{rnn, p};
    const Values input = InputOf(rnn, walk.layer(), x, tape);
    const size_t columns = input.size() / rnn.rows();
    for (size_t i = 0; i < rnn.steps * rnn.batch * rnn.gates() * rnn.hidden; ++i) {
      const size_t j = i % rnn.hidden, g = i / rnn.hidden % rnn.gates();
      const size_t n = i / rnn.hidden / rnn.gates() % rnn.batch;
      const size_t s = i / rnn.hidden / rnn.gates() / rnn.batch, row = walk.Row(s, n);
      const double slope = tape[rnn.SlopesAt(p) + (row * rnn.gates() + g) * rnn.hidden + j];
      const double hidden_slope = HiddenSlope(rnn, tape, p, row, g, j);
      dweights[rnn.BiasAt(p, g) + j] += slope;
      dweights[rnn.BiasAt(p, rnn.gates() + g) + j] += hidden_slope;
      for (size_t k = 0; k < rnn.ColumnsOf(p, g); ++k) {
        dweights[rnn.MatrixAt(p, g) + j * columns + k] += slope * input[row * columns + k];
      }
      const size_t matrix = rnn.MatrixAt(p, rnn.gates() + g) + j * rnn.hidden;
      for (size_t k = 0; k < rnn.hidden; ++k) {
        dweights[matrix + k] += hidden_slope * walk.HiddenBefore(tape, first, s, n, k);
      }
    }
  }
  return dweights;
}

}  // namespace fakecuda
