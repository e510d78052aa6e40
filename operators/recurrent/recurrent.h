#pragma once
// What Recurrent, its gradient and the operators on its parameters share: arguments and sizes. All
// run on CUDA by cuDNN only.
//
// Recurrent: a recurrent net of several layers over whole sequences.
//   X [T, N, C], h0 [L, N, H], c0 [L, N, H], weights
//   ->  Y [T, N, D * H], h_last [L, N, H], c_last [L, N, H], scratch, dropout states
// D is 2 for both directions, else 1, and L is num_layers * D. Only an LSTM uses c0; the c_last of
// other nets is 0. Weights are one tensor in cuDNN's order, which RecurrentParamSet fills.
//
// RecurrentGradient: X, h0, c0, weights, scratch, Y, dY
//   ->  dX, dh0, dc0, dweights, dropout states, scratch (may be the input). As in Caffe2, h_last and
// c_last have no gradient.

#include <array>
#include <string>

#include "caffe2_core/graph/argument_spec.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kRecurrentHiddenSize{
    .name = "hidden_size",
    .doc = "units of a layer, above 0",
    .check = {[](int size) { return size > 0; }, "above 0"},
    .required = true};
inline constexpr ArgumentSpec<int> kRecurrentNumLayers{
    .name = "num_layers",
    .doc = "number of layers, above 0",
    .check = {[](int layers) { return layers > 0 && layers <= 1024; }, "from 1 to 1024"},
    .required = true};
inline constexpr ArgumentSpec<bool> kRecurrentBidirectional{
    "bidirectional", false, "1: each layer also runs backward, and its outputs are concatenated"};
inline constexpr ArgumentSpec<std::string> kRecurrentMode{
    .name = "rnn_mode",
    .doc = "lstm or gru; relu and tanh (not in Caffe2) are nets without gates",
    .check = {[](const std::string& mode) {
                return mode == "lstm" || mode == "gru" || mode == "relu" || mode == "tanh";
              },
              "lstm, gru, relu or tanh"},
    .required = true};
inline constexpr ArgumentSpec<std::string> kRecurrentInputMode{
    .name = "input_mode",
    .doc = "linear: the first layer has input weights; skip: it adds X, which has H columns",
    .check = {[](const std::string& mode) { return mode == "linear" || mode == "skip"; },
              "linear or skip"},
    .required = true};
inline constexpr ArgumentSpec<float> kRecurrentDropout{
    "dropout",
    1.0f,
    "the probability of keeping an output between two layers",
    {[](float keep) { return keep > 0 && keep <= 1; }, "above 0 and at most 1"}};
inline constexpr ArgumentSpec<int> kRecurrentSeed{"seed", 0, "of the dropout"};
inline constexpr ArgumentSpec<bool> kRecurrentIsTest{
    "is_test", false, "1: no dropout, and the scratch output is empty"};

// The arguments and the sizes of the inputs.
struct RecurrentSizes {
  std::string mode;
  bool skips_input = false;
  int64_t layers = 0, directions = 1, hidden = 0;
  float keep = 1;
  int seed = 0;
  int64_t steps = 0, batch = 0, input = 0;  // of X

  bool has_cells() const { return mode == "lstm"; }
  int64_t gates() const { return mode == "lstm" ? 4 : mode == "gru" ? 3 : 1; }
  bool drops() const { return keep < 1 && layers > 1; }
  using Dims = std::array<int64_t, 3>;
  Dims StateDims() const { return {layers * directions, batch, hidden}; }
  Dims OutputDims() const { return {steps, batch, directions * hidden}; }
  bool operator==(const RecurrentSizes&) const = default;
};

inline IntArrayRef DimsRef(const RecurrentSizes::Dims& dims) { return {dims.data(), dims.size()}; }

#pragma GCC visibility push(default)  // for libcaffe2_cuda
RecurrentSizes ReadRecurrent(const ArgumentHelper& args);
// Sets the sizes of X. THROWS unless X has rank 3, fits the input mode, and the sizes fit int32.
void SetRecurrentSizes(IntArrayRef x, RecurrentSizes* sizes);
// THROWS unless input `i` has the shape.
void CheckRecurrentInput(int i, const char* name, IntArrayRef dims, IntArrayRef want);
// The matrix or bias that the arguments of RecurrentParamGet and RecurrentParamSet name: the number
// of cuDNN's linear transform, and whether it is a bias. THROWS if the net has no such parameter.
struct RecurrentParameter {
  int layer = 0;
  int transform = 0;
  bool is_bias = false;
};
RecurrentParameter ReadRecurrentParameter(const ArgumentHelper& args, const RecurrentSizes& sizes);
#pragma GCC visibility pop

}  // namespace caffe2rt
