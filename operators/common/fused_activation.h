#pragma once
// The arguments of operators that apply an activation to their results. `activation` is the type of the
// activation's operator; `activation_a` is the argument `a` of that operator:
//
//   op { type: "FCFusion" ... arg { name: "activation" s: "LeakyRelu" }
//        arg { name: "activation_alpha" f: 0.1 } }
//
// Thread safe.

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"
#include "operators/primitives/activation.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Declares the arguments, also those of all activations.
void DeclareActivation(OpSchema& schema);

// No activation if `activation` is empty or not given. "FastGelu" is Gelu with fast_gelu: 1. THROWS if
// there is no such activation, or if one of its arguments fails its check.
Activation ReadActivation(const ArgumentHelper& args);

}  // namespace caffe2rt
#pragma GCC visibility pop
