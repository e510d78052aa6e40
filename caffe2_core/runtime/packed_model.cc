#include "caffe2_core/runtime/packed_model.h"

#include <algorithm>
#include <new>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/isa.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/io/standard_streams.h"
#include "caffe2_core/runtime/model_file.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "caffe2_core/tensor/plain_forms.h"
#include "caffe2rt/predictor_consts.pb.h"

namespace caffe2rt {
namespace {

template <class Names>
std::vector<std::string> ListOf(const Names& names) {
  return {names.begin(), names.end()};
}

bool IsPackable(const Tensor& tensor) {
  return tensor.IsShaped() && tensor.dtype().IsSet() && tensor.dtype().IsPlainData() &&
         TypeMetaToDataType(tensor.dtype()) != TensorProto_DataType_UNDEFINED && tensor.HasData();
}

}  // namespace

bool IsPackedModel(const std::string& path) try {
  // Opening a pipe that is not kept would break it for its writer.
  if (!CanReadAgain(path)) return false;
  std::string begin(kPackSignature.size(), '\0');
  try {
    const FileDescriptor file = OpenForReading(path);
    if (FileSize(file, path) < static_cast<int64_t>(begin.size())) return false;
    ReadAt(file, path, 0, begin.data(), begin.size());
  } catch (const EnforceNotMet&) {  // reported by the reader that is used instead
    return false;
  }
  return begin == kPackSignature;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

PackedModel::PackedModel(std::shared_ptr<const PackFile> file)
    : file_(std::move(file)),
      inputs_(ListOf(index().input())),
      outputs_(ListOf(index().output())),
      placeholders_(ListOf(index().placeholder())) {}

std::shared_ptr<const PackedModel> PackedModel::Open(const std::string& path) try {
  return std::shared_ptr<const PackedModel>(new PackedModel(PackFile::Open(path)));
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::string PackedModel::Note() const {
  const std::string& packed_for = index().instruction_set();
  if (packed_for.empty() || packed_for == IsaName(CpuIsa())) return "";
  return MakeString("packed model \"", file_->path(), "\" has weights prepared for ",
                    Shortened(packed_for), ", this machine runs ", IsaName(CpuIsa()),
                    ": they are prepared again when the net first runs");
}

Tensor PackedModel::MappedTensor(const PackedTensor& packed) const {
  Tensor tensor(CPU);
  tensor.Resize(std::vector<int64_t>(packed.dims().begin(), packed.dims().end()));
  const TypeMeta type = DataTypeToTypeMeta(static_cast<int64_t>(packed.data_type()));
  // The memory is never written: it is marked read-only before anyone else can have the tensor.
  tensor.ShareExternalPointer(const_cast<void*>(file_->data(packed.block())), type,
                              packed.block().size(), [file = file_](void*) {});
  tensor.MarkReadOnly();
  const PlainForms::View forms = PlainForms::Of(tensor.storage().get());
  forms.SetFromFile();
  if (index().instruction_set() != IsaName(CpuIsa())) return tensor;
  for (const PackedForm& form : packed.form()) {
    forms.Add(form.key(), {.data = std::shared_ptr<const void>(file_, file_->data(form.block())),
                           .nbytes = form.block().size()});
  }
  return tensor;
}

void PackedModel::CreateBlobs(Workspace* ws) const try {
  CAFFE_ENFORCE(ws != nullptr, "argument ws of PackedModel::CreateBlobs is null");
  EnsureBuiltinOperators();  // they register the serializers of their blobs
  for (const PackedTensor& packed : index().tensor()) {
    Blob* const blob = ws->CreateBlob(packed.name());
    if (packed.has_scale()) {
      blob->Reset(new Int8TensorCPU{
          .scale = packed.scale(), .zero_point = packed.zero_point(), .t = MappedTensor(packed)});
    } else {
      blob->Reset(new Tensor(MappedTensor(packed)));
    }
  }
  const FileAccess access = ws->file_access();
  const FileAccessScope scope(access);
  for (const BlobProto& proto : index().blob()) {
    DeserializeBlob(proto, ws->CreateBlob(proto.name()));
  }
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void ModelPacker::AddTensor(const std::string& name, const Tensor& tensor) {
  NamedTensor& added = tensors_.emplace_back();
  added.packed.set_name(name);
  added.packed.set_data_type(TypeMetaToDataType(tensor.dtype()));
  for (const int64_t dim : tensor.dims()) added.packed.add_dims(dim);
  added.tensor = tensor;
  added.tensor.MarkReadOnly();
}

ModelPacker::ModelPacker(const Model& model, const Workspace& ws) try {
  *index_.mutable_predict_net() = model.predict_net;
  for (const std::string& name : model.inputs) index_.add_input(name);
  for (const std::string& name : model.outputs) index_.add_output(name);
  for (const std::string& name : model.placeholders) index_.add_placeholder(name);
  for (const std::string& name : ws.LocalBlobs()) {
    // The reader of the database from which the weights were loaded.
    if (name == PredictorConsts::default_instance().predictor_dbreader()) continue;
    const Blob& blob = *ws.GetBlob(name);
    if (blob.IsEmpty()) continue;
    const Tensor* const tensor = FindTensor(blob);
    CAFFE_ENFORCE(tensor == nullptr || tensor->GetDeviceType() == CPU, "blob \"", Shortened(name),
                  "\" is on device ",
                  tensor != nullptr ? DeviceTypeName(tensor->GetDeviceType()) : "",
                  ", and a packed model holds CPU tensors only; want --device cpu");
    if (tensor != nullptr && IsPackable(*tensor)) {
      AddTensor(name, *tensor);
      if (blob.IsType<Int8TensorCPU>()) {
        tensors_.back().packed.set_scale(blob.Get<Int8TensorCPU>().scale);
        tensors_.back().packed.set_zero_point(blob.Get<Int8TensorCPU>().zero_point);
      }
    } else if (tensor == nullptr || tensor->HasData()) {
      CAFFE_ENFORCE(index_.add_blob()->ParseFromString(SerializeBlob(blob, name)), "blob \"",
                    Shortened(name), "\" of type ", blob.meta().name(),
                    " is not serialized as a BlobProto");
    }
  }
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

size_t ModelPacker::num_forms() const {
  size_t count = 0;
  for (const NamedTensor& named : tensors_) {
    if (named.tensor.storage() != nullptr)
      count += PlainForms::Of(named.tensor.storage().get()).List().size();
  }
  return count;
}

void ModelPacker::Write(const std::string& path) const try {
  PackedIndex index = index_;
  PackWriter writer(path);
  for (const NamedTensor& named : tensors_) {
    PackedTensor* const packed = index.add_tensor();
    *packed = named.packed;
    *packed->mutable_block() = writer.Add(named.tensor.raw_data(), named.tensor.nbytes());
  }
  // Behind all elements, so that the pages of both are apart.
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (tensors_[i].tensor.storage() == nullptr) continue;
    for (const auto& [key, form] : PlainForms::Of(tensors_[i].tensor.storage().get()).List()) {
      PackedForm* const packed = index.mutable_tensor(static_cast<int>(i))->add_form();
      packed->set_key(key);
      *packed->mutable_block() = writer.Add(form.data.get(), form.nbytes);
      index.set_instruction_set(IsaName(CpuIsa()));
    }
  }
  writer.Finish(index);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
