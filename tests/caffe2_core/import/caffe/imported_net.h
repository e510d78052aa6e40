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

// A layer of the type Input in text. Its shape is not stated if `dims` is "".
inline std::string Input(const std::string& name, const std::string& dims) {
  return "layer { name: '" + name + "' type: 'Input' top: '" + name + "' " +
         (dims.empty() ? "" : "input_param { shape { dim: [" + dims + "] } }") + " }\n";
}

// A layer in text that reads the blob x.
inline std::string Layer(const std::string& type, const std::string& more,
                         const std::string& name = "y") {
  return "layer { name: '" + name + "' type: '" + type + "' bottom: 'x' top: '" + name + "' " +
         more + " }\n";
}

// Weights in text, of no layer.
inline constexpr const char* kNoWeights = "name: 'none'";

// A tensor of floats.
Tensor Floats(const std::vector<int64_t>& dims, const std::vector<float>& values);

// The largest difference, divided by the larger of 1 and the largest absolute value that is wanted;
// 1e30 if the shapes differ or for NaN.
double Difference(const Tensor& got, const Tensor& want);

}  // namespace caffe2rt::test
