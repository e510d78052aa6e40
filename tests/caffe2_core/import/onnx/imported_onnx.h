#pragma once
// Models of ONNX in protobuf's text format, and runs of imported models.

#include <string>
#include <vector>

#include "caffe2_core/import/onnx/onnx_import.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2rt/onnx.pb.h"

namespace caffe2rt::test {

// The bytes of a model. `graph` is the text of a GraphProto; `more` of a ModelProto.
std::string OnnxBytes(const std::string& graph, int64_t opset = 17, const std::string& more = "");

// "input { ... }" or "output { ... }" with an element type (onnx::TensorProto::DataType) and dims; a
// dim is a number or a symbol.
std::string OnnxValue(const std::string& field, const std::string& name,
                      const std::vector<std::string>& dims, int type = 1);

// Runs an imported model once in the workspace.
void RunOnnx(OnnxModel model, const NamedTensors& inputs, Workspace* ws);
// The same for bytes; returns an output.
Tensor RunOnnxBytes(const std::string& bytes, const NamedTensors& inputs, const std::string& output,
                    const OnnxImportOptions& options = {});

// The message of the error of an import; "" if there is none.
std::string OnnxImportError(const std::string& bytes, const OnnxImportOptions& options = {});

Tensor FloatTensor(const std::vector<int64_t>& dims, const std::vector<float>& values);
Tensor IntTensor(const std::vector<int64_t>& dims, const std::vector<int64_t>& values);
std::vector<float> FloatsOf(const Tensor& tensor);
std::vector<int64_t> IntsOf(const Tensor& tensor);

}  // namespace caffe2rt::test
