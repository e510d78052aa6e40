#pragma once
// Element types and dims of the inputs of a net, and dims of its outputs, as arguments of the net. NetDef
// has no fields for them; nets that were imported from ONNX state them, so that they can be exported again.

#include <map>
#include <string>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct StatedInput {
  TensorProto_DataType type = TensorProto::FLOAT;
  bool has_dims = false;
  std::vector<int64_t> dims = {};  // -1 if a dimension has no number
};

// Adds the arguments `input_type:NAME` (a number of TensorProto::DataType) and `input_dims:NAME`.
void StateInput(const std::string& name, const StatedInput& input, NetDef* net);
// Adds the argument `output_dims:NAME`.
void StateOutput(const std::string& name, const std::vector<int64_t>& dims, NetDef* net);

// Adds the argument `output_format:NAME`: the numbers of the output are those of a format of files
// (base/narrow_number.h), in which it is to be written.
void StateOutputFormat(const std::string& name, const std::string& format, NetDef* net);

// What the arguments of the net state, by name. Arguments that no StateInput writes, such as unknown types
// and dims below -1, have no effect.
std::map<std::string, StatedInput> StatedInputs(const NetDef& net);
std::map<std::string, std::vector<int64_t>> StatedOutputs(const NetDef& net);
std::map<std::string, std::string> StatedOutputFormats(const NetDef& net);

}  // namespace caffe2rt
#pragma GCC visibility pop
