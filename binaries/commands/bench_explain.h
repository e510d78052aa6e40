#pragma once
// `caffe2 bench --explain`: the kernels among which the operators of a net chose, and why.

#include "binaries/json_output.h"
#include "caffe2_core/inspect/net_profile.h"

namespace caffe2rt {

// Prints a table with the candidates of each operator that chooses among kernels.
void PrintKernels(const NetProfile& profile);
// Adds "kernel" and "candidates" to the entries of these operators in what WriteProfile wrote.
void WriteKernels(const NetProfile& profile, Json* json);

}  // namespace caffe2rt
