#pragma once
// The arguments and sizes of ONNX's recurrent layers (lstm.cc).

#include <cstdint>
#include <string>
#include <vector>

#include "caffe2_core/base/array_ref.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"
#include "operators/recurrent/layer_activations.h"

namespace caffe2rt {

struct LayerArguments {
  int directions = 1;
  bool reverse = false;  // of the only direction
  bool batch_first = false;
  float clip = 0;  // 0: none
  bool input_forget = false;
  bool linear_before_reset = false;
  int64_t hidden_size = 0;                   // 0: that of R
  std::vector<LayerActivation> activations;  // `functions` for each direction

  // `functions`: activations of a direction; `defaults` are their names. THROWS if an argument is
  // invalid.
  LayerArguments(const ArgumentHelper& args, int functions, const char* const* defaults);
};

struct LayerSizes {
  int directions = 1;
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0;
  int64_t gates = 0;  // gates of the cell times `hidden`
};

// THROWS if the shapes of X, W and R do not fit together.
LayerSizes MakeLayerSizes(const LayerArguments& arguments, int gates, IntArrayRef x, IntArrayRef w,
                          IntArrayRef r);
// The shape of output 0 (all states), 1 or 2 (last states).
void LayerOutputDims(const LayerArguments& arguments, const LayerSizes& sizes, int output,
                     std::vector<int64_t>* dims);

// Declares the arguments of `type`: LSTM, GRU or RNN.
void DeclareLayerArguments(OpSchema& schema, const std::string& type);

}  // namespace caffe2rt
