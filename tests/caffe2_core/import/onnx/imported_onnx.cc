#include "tests/caffe2_core/import/onnx/imported_onnx.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/model/init_net.h"
#include "caffe2_core/runtime/net.h"

namespace caffe2rt::test {

std::string OnnxBytes(const std::string& graph, int64_t opset, const std::string& more) {
  const std::string text = "ir_version: 8 opset_import { version: " + std::to_string(opset) +
                           " } " + more + " graph { name: 'g' " + graph + " }";
  onnx::ModelProto model;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &model)) << text;
  return model.SerializeAsString();
}

std::string OnnxValue(const std::string& field, const std::string& name,
                      const std::vector<std::string>& dims, int type) {
  std::string text = field + " { name: '" + name +
                     "' type { tensor_type { elem_type: " + std::to_string(type) + " shape {";
  for (const std::string& dim : dims) {
    const bool number =
        std::all_of(dim.begin(), dim.end(), [](char c) { return c >= '0' && c <= '9'; });
    text += number ? " dim { dim_value: " + dim + " }" : " dim { dim_param: '" + dim + "' }";
  }
  return text + " } } } } ";
}

void RunOnnx(OnnxModel model, const NamedTensors& inputs, Workspace* ws) {
  RunInitNet(NetWithWeights{.net = std::move(model.init_net), .weights = std::move(model.weights)},
             ws);
  for (const auto& [name, tensor] : inputs) *ws->CreateBlob(name)->GetMutableTensor(CPU) = tensor;
  ASSERT_TRUE(ws->RunNetOnce(model.predict_net));
}

Tensor RunOnnxBytes(const std::string& bytes, const NamedTensors& inputs, const std::string& output,
                    const OnnxImportOptions& options) {
  Workspace ws;
  RunOnnx(ImportOnnxFromMemory(bytes, options), inputs, &ws);
  return ws.GetBlob(output)->Get<Tensor>();
}

std::string OnnxImportError(const std::string& bytes, const OnnxImportOptions& options) try {
  (void)ImportOnnxFromMemory(bytes, options);
  return "";
} catch (const EnforceNotMet& error) {
  return error.message();
}

Tensor FloatTensor(const std::vector<int64_t>& dims, const std::vector<float>& values) {
  Tensor tensor(dims, CPU);
  EXPECT_EQ(tensor.numel(), static_cast<int64_t>(values.size()));
  std::copy(values.begin(), values.end(), tensor.mutable_data<float>());
  return tensor;
}

Tensor IntTensor(const std::vector<int64_t>& dims, const std::vector<int64_t>& values) {
  Tensor tensor(dims, CPU);
  EXPECT_EQ(tensor.numel(), static_cast<int64_t>(values.size()));
  std::copy(values.begin(), values.end(), tensor.mutable_data<int64_t>());
  return tensor;
}

std::vector<float> FloatsOf(const Tensor& tensor) {
  return {tensor.data<float>(), tensor.data<float>() + tensor.numel()};
}

std::vector<int64_t> IntsOf(const Tensor& tensor) {
  return {tensor.data<int64_t>(), tensor.data<int64_t>() + tensor.numel()};
}

}  // namespace caffe2rt::test
