#pragma once
// Removes operators that only pass a tensor on.
//
//   Dropout  x -> t   is_test: 1       becomes      Relu  x -> y
//   Relu     t -> y
//
// These are the operators with the trait passes_on, such as Dropout in test mode, Cast of a float
// result to float, and Sum of one input. If the result is read after the run, the operator that
// computes x writes it directly.

#include "caffe2_core/graph/passes/net_pass.h"

namespace caffe2rt {

NetDef RemoveCopies(NetDef net, PassContext& context);

}  // namespace caffe2rt
