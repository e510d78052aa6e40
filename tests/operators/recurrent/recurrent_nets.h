#pragma once
// Recurrent networks for the tests, as text protos of the operator.

#include <string>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt::test {

// cur = input_t * (input_t + prev), from x [T, N, D] and init.
inline std::string SumMulNetwork(const std::string& more = "") {
  return R"(type: "RecurrentNetwork" input: "x" input: "init" output: "all" output: "last"
    output: "steps"
    arg { name: "recurrent_states" strings: "states" }
    arg { name: "initial_recurrent_state_ids" ints: 1 }
    arg { name: "alias_src" strings: "states" strings: "states" }
    arg { name: "alias_dst" strings: "all" strings: "last" }
    arg { name: "alias_offset" ints: 1 ints: -1 }
    arg { name: "link_internal" strings: "prev" strings: "cur" strings: "input_t" }
    arg { name: "link_external" strings: "states" strings: "states" strings: "x" }
    arg { name: "link_offset" ints: 0 ints: 1 ints: 0 }
    arg { name: "step_net" n { name: "step"
      op { type: "Sum" input: "input_t" input: "prev" output: "sum" }
      op { type: "Mul" input: "input_t" input: "sum" output: "cur" } } } )" +
         more;
}

// The arguments for the gradient of SumMulNetwork.
inline std::string SumMulBackward() {
  return R"(arg { name: "outputs_with_grads" ints: 0 }
    arg { name: "backward_link_internal" strings: "cur_grad" strings: "sum_grad" strings: "input_t_grad" }
    arg { name: "backward_link_external" strings: "states_grad" strings: "states_grad" strings: "x_grad" }
    arg { name: "backward_link_offset" ints: 1 ints: 0 ints: 0 }
    arg { name: "backward_step_net" n { name: "backward"
      op { type: "MulGradient" input: "cur_grad" input: "input_t" input: "sum"
           output: "input_t_grad" output: "sum_grad" }
      op { type: "Sum" input: "input_t_grad" input: "sum_grad" output: "input_t_grad" } } } )";
}

// A long short-term memory over x [T, N, 4 * D] with h0, c0 [1, N, D], w [4 * D, D], b and lengths.
// Without `more`, there is no gradient.
inline std::string LstmNetwork(const std::string& more = "") {
  return R"(type: "RecurrentNetwork" input: "x" input: "h0" input: "c0" input: "w" input: "b"
    input: "lengths" output: "h_all" output: "h_last" output: "c_all" output: "c_last"
    output: "steps"
    arg { name: "recurrent_states" strings: "h_states" strings: "c_states" }
    arg { name: "initial_recurrent_state_ids" ints: 1 ints: 2 }
    arg { name: "alias_src" strings: "h_states" strings: "h_states" strings: "c_states" strings: "c_states" }
    arg { name: "alias_dst" strings: "h_all" strings: "h_last" strings: "c_all" strings: "c_last" }
    arg { name: "alias_offset" ints: 1 ints: -1 ints: 1 ints: -1 }
    arg { name: "link_internal" strings: "h_prev" strings: "h" strings: "c_prev" strings: "c" strings: "x_t" }
    arg { name: "link_external" strings: "h_states" strings: "h_states" strings: "c_states" strings: "c_states" strings: "x" }
    arg { name: "link_offset" ints: 0 ints: 1 ints: 0 ints: 1 ints: 0 }
    arg { name: "step_net" n { name: "lstm"
      op { type: "FC" input: "h_prev" input: "w" input: "b" output: "gates" arg { name: "axis" i: 2 } }
      op { type: "Sum" input: "gates" input: "x_t" output: "gates" }
      op { type: "LSTMUnit" input: "h_prev" input: "c_prev" input: "gates" input: "lengths"
           input: "timestep" output: "h" output: "c" } } } )" +
         more;
}

}  // namespace caffe2rt::test
