#pragma once
// Nets in text exported to graphs in text.

#include <map>
#include <string>
#include <vector>

#include "caffe2_core/export/onnx_export.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt::test {

// The shape of an input: float unless the type is stated.
struct ExportedInput {
  std::vector<int64_t> dims;
  TensorProto_DataType type = TensorProto::FLOAT;
};

struct ExportedNet {
  std::string net;  // in text
  std::map<std::string, ExportedInput> inputs;
  std::map<std::string, Tensor> weights = {};
  std::vector<std::string> outputs = {"y"};
  int opset = 17;
};

// `output_dims`: of OnnxExportOptions.
OnnxExport Export(const ExportedNet& net,
                  const std::map<std::string, std::vector<int64_t>>& output_dims = {});

// A line for each node: "y = Gemm(x, w, b) transB=1". Names of initializers with integers, and of single
// floats, are replaced by their values: "Reshape(x, [0, -1])". Weights have their names.
std::string GraphText(const OnnxExport& exported);

Tensor IntWeight(const std::vector<int64_t>& values);
// Elements 0, 1, 2, ...
Tensor FloatWeight(const std::vector<int64_t>& dims);

}  // namespace caffe2rt::test
