#pragma once
// Runs imported models of Caffe on given inputs.

#include <string>
#include <vector>

#include "caffe2_core/import/caffe/caffe_import.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt::test {

// Runs the model in the workspace once. `inputs` are by blob.
void RunImported(CaffeModel model, const NamedTensors& inputs, Workspace* ws);

// A net in text with weights in text; returns blob `top` of a run on `inputs`.
Tensor RunCaffeText(const std::string& net, const std::string& weights, const NamedTensors& inputs,
                    const std::string& top);

// A tensor of floats.
Tensor Floats(const std::vector<int64_t>& dims, const std::vector<float>& values);

// The largest difference, divided by the larger of 1 and the largest absolute value that is wanted;
// 1e30 if the shapes differ or for NaN.
double Difference(const Tensor& got, const Tensor& want);

}  // namespace caffe2rt::test
