#pragma once

// The arithmetic of recurrent nets, on dense arrays.

#include <cudnn.h>

#include "cudnn/layout.h"

namespace fakecuda {

// A net over sequences of equal lengths. A pseudo-layer is one direction of a layer; there are
// layers * directions of them, the directions of a layer one after the other. A transform is a
// matrix and a bias: those of the input of a layer come first, one for each gate, then those of its
// hidden state.
struct Rnn {
  cudnnRNNMode_t mode = CUDNN_LSTM;
  bool skips_input = false;
  size_t directions = 1, layers = 1;
  size_t input = 1, hidden = 1;
  size_t steps = 1, batch = 1;
  double dropout = 0;
  unsigned long long seed = 0;

  size_t gates() const { return mode == CUDNN_LSTM ? 4 : mode == CUDNN_GRU ? 3 : 1; }
  size_t pseudo_layers() const { return layers * directions; }
  size_t width() const { return directions * hidden; }  // of the output of a layer
  size_t rows() const { return steps * batch; }
  size_t state_size() const { return pseudo_layers() * batch * hidden; }
  // Columns of a matrix; 0 for an input that is added without a matrix.
  size_t ColumnsOf(size_t pseudo_layer, size_t transform) const;
  // Where parameters are: all matrices, then all biases.
  size_t MatrixAt(size_t pseudo_layer, size_t transform) const;
  size_t BiasAt(size_t pseudo_layer, size_t transform) const;
  size_t weights_size() const { return BiasAt(pseudo_layers(), 0); }

  // What the forward run writes for the backward run (the reserve space).
  size_t OutputAt(size_t layer) const { return layer * rows() * width(); }
  size_t MaskAt(size_t layer) const { return OutputAt(layers) + layer * rows() * width(); }
  size_t GatesAt(size_t p) const { return MaskAt(layers) + p * rows() * gates() * hidden; }
  // The cell state of an LSTM; the transformed hidden state of a GRU.
  size_t CellsAt(size_t p) const { return GatesAt(pseudo_layers()) + p * rows() * hidden; }
  // The gradients of the gates before their activation, which the backward run writes.
  size_t SlopesAt(size_t p) const {
    return CellsAt(pseudo_layers()) + p * rows() * gates() * hidden;
  }
  size_t tape_size() const { return SlopesAt(pseudo_layers()); }
};

// States are [pseudo-layers, batch, hidden]; an empty array stands for zeros.
struct RnnStates {
  Values h, c;
};

// Returns y and sets `last` and `tape`.
Values RnnForward(const Rnn& rnn, const Values& weights, const Values& x, const RnnStates& first,
                  RnnStates* last, Values* tape);
// Returns dx, and sets `dfirst` and the slopes of `tape`.
Values RnnBackwardData(const Rnn& rnn, const Values& weights, const RnnStates& first,
                       const Values& dy, const RnnStates& dlast, RnnStates* dfirst, Values* tape);
// Returns the gradient of the weights.
Values RnnBackwardWeights(const Rnn& rnn, const Values& x, const RnnStates& first,
                          const Values& tape);

}  // namespace fakecuda
