#include "tests/support/onnx_round_trip.h"

#include <string_view>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/export/onnx_export.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/import/onnx/onnx_import.h"
#include "caffe2_core/model/init_net.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/tensor/data_type.h"

namespace caffe2rt::test {
namespace {

// The bytes of the model with the data of its weights.
std::string BytesOf(OnnxExport model) {
  onnx::GraphProto* const graph = model.model.mutable_graph();
  for (int i = 0; i < graph->initializer_size(); ++i) {
    const Tensor* const weight = model.weights[static_cast<size_t>(i)];
    if (weight == nullptr) continue;
    graph->mutable_initializer(i)->set_raw_data(
        std::string(static_cast<const char*>(weight->raw_data()), weight->nbytes()));
  }
  return model.model.SerializeAsString();
}

OnnxExport Export(const OperatorDef& def, const std::set<std::string>& weights, const Workspace& ws,
                  int opset) {
  NetDef net;
  net.set_name("operator");
  *net.add_op() = def;
  OnnxExportOptions options = {.opset = opset};
  for (const std::string& name : def.input()) {
    net.add_external_input(name);
    const Tensor& tensor = ws.FindBlob(name)->Get<Tensor>();
    if (weights.contains(name)) {
      options.weights[name] = &tensor;
    } else {
      options.inputs[name] = CreateTensorShape(tensor.dims(), TypeMetaToDataType(tensor.dtype()));
    }
  }
  for (const std::string& name : def.output()) {
    net.add_external_output(name);
    options.outputs.push_back(name);
  }
  return ExportOnnx(net, options);
}

// What the import states of an output must hold; -1 stands for a dim that it does not know.
void CheckStatedDims(const std::string& name, const std::vector<int64_t>& stated,
                     const Tensor& tensor) {
  bool fits = stated.size() == tensor.dims().size();
  for (size_t i = 0; fits && i < stated.size(); ++i)
    fits = stated[i] == -1 || stated[i] == tensor.dims()[i];
  CAFFE_ENFORCE(fits, "output \"", name, "\" has shape ", tensor.sizes(),
                ", but the import states ", IntArrayRef(stated));
}

}  // namespace

std::optional<std::string> RunThroughOnnx(const OperatorDef& def,
                                          const std::set<std::string>& weights, Workspace* ws,
                                          int opset) {
  std::string bytes;
  try {
    bytes = BytesOf(Export(def, weights, *ws, opset));
  } catch (const EnforceNotMet& error) {
    return error.message();
  }
  OnnxModel model = ImportOnnxFromMemory(bytes, {});
  RunInitNet(NetWithWeights{.net = std::move(model.init_net), .weights = std::move(model.weights)},
             ws);
  CAFFE_ENFORCE(ws->RunNetOnce(model.predict_net), "the imported net did not run");
  for (const auto& [name, dims] : model.output_dims)
    CheckStatedDims(name, dims, ws->FindBlob(name)->Get<Tensor>());
  return std::nullopt;
}

}  // namespace caffe2rt::test
