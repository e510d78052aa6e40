// Writes models: the weights follow the fields of their initializers straight from their tensors.

#include <cstring>
#include <filesystem>

#include "caffe2_core/base/byte_size.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/export/onnx_export.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/io/standard_streams.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {
namespace {

constexpr int64_t kExternalAlignment = 4096;

int64_t WeightBytes(const OnnxExport& model) {
  int64_t bytes = 0;
  for (const Tensor* weight : model.weights) {
    if (weight != nullptr) bytes += static_cast<int64_t>(weight->nbytes());
  }
  return bytes;
}

void SetRawData(const Tensor& weight, onnx::TensorProto* tensor) {
  if (weight.IsType<std::string>()) {
    for (int64_t i = 0; i < weight.numel(); ++i)
      tensor->add_string_data(weight.data<std::string>()[i]);
    return;
  }
  tensor->set_raw_data(weight.numel() == 0 ? "" : weight.raw_data(), weight.nbytes());
}

void SetEntry(const char* key, const std::string& value, onnx::TensorProto* tensor) {
  auto* entry = tensor->add_external_data();
  entry->set_key(key);
  entry->set_value(value);
}

// Appends the weight to the file at the next multiple of 4 KiB and states the place.
void SetExternalData(const Tensor& weight, const std::string& location, int64_t* end,
                     AtomicFile* file, onnx::TensorProto* tensor) {
  const int64_t padding = (kExternalAlignment - *end % kExternalAlignment) % kExternalAlignment;
  file->Write(std::string(static_cast<size_t>(padding), '\0'));
  const int64_t offset = *end + padding;
  file->Write({static_cast<const char*>(weight.raw_data()), weight.nbytes()});
  *end = offset + static_cast<int64_t>(weight.nbytes());
  tensor->set_data_location(onnx::TensorProto::EXTERNAL);
  SetEntry("location", location, tensor);
  SetEntry("offset", MakeString(offset), tensor);
  SetEntry("length", MakeString(weight.nbytes()), tensor);
}

}  // namespace

std::vector<std::string> WriteOnnx(const OnnxExport& model, const std::string& path,
                                   int64_t max_inline_bytes) {
  onnx::ModelProto proto = model.model;
  const bool is_external = WeightBytes(model) > max_inline_bytes;
  CAFFE_ENFORCE(
      !is_external || !IsStandardStream(path), "the model has ",
      ByteSizeText(static_cast<uint64_t>(WeightBytes(model))),
      " of weights, which go into a second file: it cannot be written to standard output");
  const std::string data_path = path + ".data";
  std::unique_ptr<AtomicFile> data;
  if (is_external) data = std::make_unique<AtomicFile>(data_path);
  const std::string location = std::filesystem::path(data_path).filename().string();
  int64_t end = 0;
  for (size_t i = 0; i < model.weights.size(); ++i) {
    const Tensor* weight = model.weights[i];
    if (weight == nullptr) continue;
    auto* tensor = proto.mutable_graph()->mutable_initializer(static_cast<int>(i));
    if (is_external && weight->nbytes() > 0 && !weight->IsType<std::string>()) {
      SetExternalData(*weight, location, &end, data.get(), tensor);
    } else {
      SetRawData(*weight, tensor);
    }
  }
  if (is_external) data->Commit();
  WriteFileAtomically(path, ProtoToBinary(proto));
  if (!is_external) return {path};
  return {data_path, path};
}

}  // namespace caffe2rt
