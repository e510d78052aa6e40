#pragma once
// Imports models of ONNX: a file becomes an init net, whose weights are read straight into their
// tensors, and a predict net.
//
//   OnnxModel model = ImportOnnx({.net = "model.onnx", .dims = {{"batch", 8}}});
//
// Nothing of the file is run. Files that it names (external data) are read if they lie below its
// folder. README.md of this folder lists the operators.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "caffe2_core/base/narrow_number.h"
#include "caffe2_core/io/net_weights.h"
#include "caffe2_core/tensor/tensor.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct OnnxImportOptions {
  std::string net = {};  // the file
  // The shapes of inputs, by name. They replace those in the file.
  std::map<std::string, std::vector<int64_t>> input_shapes = {};
  // The same for blobs that need not be inputs: other names have no effect.
  std::map<std::string, std::vector<int64_t>> given_shapes = {};
  // Numbers for the dimensions that the file names.
  std::map<std::string, int64_t> dims = {};
  // Accepts operators of opsets that are newer than the library, as if they were the newest it knows.
  bool tolerant = false;
};

struct OnnxInput {
  std::string name;
  std::vector<int64_t> dims = {};  // -1 if a dimension has no number; meaningless without rank
  std::vector<std::string> symbols = {};  // of the dimensions, "" if they have none
  bool has_rank = false;
  TensorProto::DataType type = TensorProto::FLOAT;
};

// Whether every dimension has a number.
bool HasFixedDims(const OnnxInput& input);

struct OnnxModel {
  NetDef init_net, predict_net;
  std::vector<OperatorWeights> weights;  // of init_net
  std::vector<OnnxInput> inputs;         // without initializers
  std::vector<std::string> outputs;
  // The dims of outputs whose rank is known, -1 for those without a number.
  std::map<std::string, std::vector<int64_t>> output_dims;
  std::map<std::string, std::string> node_blobs;  // the blob that each node writes first
  std::vector<std::string> notes;                 // what was assumed, a line each
  // A node whose operators fit only the shapes for which the model was imported; "" if there is none.
  std::string fixed_size_node;
};

// THROWS an error with the name of the node if the model cannot be imported. An error about operators
// that are not supported lists all of them.
OnnxModel ImportOnnx(const OnnxImportOptions& options);
// The same for a file in memory. External data is an error.
OnnxModel ImportOnnxFromMemory(std::string_view bytes, const OnnxImportOptions& options);

// The tensor in a file with one TensorProto of ONNX. THROWS if the file is not one.
Tensor ReadOnnxTensor(const std::string& path);
// Writes the tensor as a TensorProto of ONNX.
void WriteOnnxTensor(const std::string& path, const std::string& name, const Tensor& tensor);
// The same for a tensor of float, int8 or uint8 whose elements are numbers of the format.
void WriteNarrowOnnxTensor(const std::string& path, const std::string& name, const Tensor& tensor,
                           NarrowFormat format);

}  // namespace caffe2rt
#pragma GCC visibility pop
