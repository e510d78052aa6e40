#include "caffe2_core/model/packed_model.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <optional>
#include <set>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/isa.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/dependencies.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/io/standard_streams.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/packed_preparation.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "caffe2_core/tensor/memory_range.h"
#include "caffe2_core/tensor/prepared_forms.h"
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

// Whether the net may change the blob.
bool IsChanged(const NetDependencies& blobs, const std::string& name) {
  const uint32_t blob = blobs.Find(name);
  return blob != NetBlobs::kNone && blobs.is_changed(blob);
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
  if (packed.has_stored_type()) {
    file_->Verify(packed);
    float* const y = tensor.mutable_data<float>();
    const void* const elements = file_->data(packed.block());
    if (packed.has_row_scales()) {
      WidenInt8(elements, file_->data(packed.row_scales()), packed.dims(0), tensor.numel(), y);
    } else {
      WidenFloat16(elements, tensor.numel(), y);
    }
    tensor.MarkReadOnly();
    return tensor;
  }
  const TypeMeta type = DataTypeToTypeMeta(static_cast<int64_t>(packed.data_type()));
  // The memory is never written: it is marked read-only before anyone else can have the tensor.
  tensor.ShareExternalPointer(const_cast<void*>(file_->data(packed.block())), type,
                              packed.block().size(), [file = file_](void*) {});
  tensor.MarkReadOnly();
  PreparedForms& forms = tensor.storage()->forms();
  forms.SetMapping(tensor.raw_data(), tensor.nbytes());
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
  const NetDependencies blobs(index().predict_net());
  for (const PackedTensor& packed : index().tensor()) {
    Blob* const blob = ws->CreateBlob(packed.name());
    Tensor tensor = MappedTensor(packed);
    // What the net changes gets writable memory. Other blobs of the net may share it, so it must
    // not be copied when it is written first.
    if (IsChanged(blobs, packed.name())) {
      file_->Verify(packed);
      tensor = tensor.Clone();
    }
    if (packed.has_scale()) {
      blob->Reset(new Int8TensorCPU{
          .scale = packed.scale(), .zero_point = packed.zero_point(), .t = std::move(tensor)});
    } else {
      blob->Reset(new Tensor(std::move(tensor)));
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

ModelPacker::NamedTensor ModelPacker::Named(const std::string& name, const Tensor& tensor) {
  NamedTensor named;
  named.packed.set_name(name);
  named.packed.set_data_type(TypeMetaToDataType(tensor.dtype()));
  for (const int64_t dim : tensor.dims()) named.packed.add_dims(dim);
  named.tensor = tensor;
  named.tensor.MarkReadOnly();
  return named;
}

namespace {

// THROWS if the net changes a tensor that shares memory with another one: the file would hold both,
// and a change of one would not change the other.
void CheckChangedAreSeparate(const NetDef& net, const Workspace& ws) {
  const NetDependencies blobs(net);
  std::vector<std::pair<MemoryRange, std::string>> ranges;
  for (const std::string& name : ws.LocalBlobs()) {
    const Tensor* const tensor = FindTensor(*ws.GetBlob(name));
    if (tensor == nullptr) continue;
    const MemoryRange range = RangeOf(tensor->storage().get());
    if (!range.empty()) ranges.emplace_back(range, name);
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const auto& a, const auto& b) { return a.first.begin < b.first.begin; });
  // Of the ranges so far, the one that ends last.
  for (size_t i = 1, last = 0; i < ranges.size(); ++i) {
    const auto& [range, name] = ranges[i];
    const std::string& other = ranges[last].second;
    CAFFE_ENFORCE(range.begin >= ranges[last].first.end ||
                      (!IsChanged(blobs, name) && !IsChanged(blobs, other)),
                  "blobs \"", Shortened(other), "\" and \"", Shortened(name),
                  "\" share memory that the net changes, and a packed model keeps them apart; want "
                  "blobs with memory of their own");
    if (range.end > ranges[last].first.end) last = i;
  }
}

}  // namespace

ModelPacker::ModelPacker(const Model& model, const Workspace& ws, WeightStorage storage) try
    : storage_(storage) {
  CheckChangedAreSeparate(model.predict_net, ws);
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
      tensors_.push_back(Named(name, *tensor));
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

Preparation ModelPacker::Prepare(const PreparationOptions& options, Workspace* ws) {
  CAFFE_ENFORCE(
      storage_ == WeightStorage::kFull,
      "the net is prepared, but its weights are stored with fewer bits; want one of both");
  Preparation preparation = PrepareNet(index_.predict_net(), options, ws);
  *index_.mutable_preparation() = StorePreparation(preparation);
  constants_.clear();
  for (const std::string& name : preparation.new_constants) {
    constants_.push_back(Named(name, std::as_const(*ws).GetBlob(name)->Get<Tensor>()));
  }
  return preparation;
}

size_t ModelPacker::num_forms() const {
  size_t count = 0;
  for (const std::vector<NamedTensor>* list : {&tensors_, &constants_}) {
    for (const NamedTensor& named : *list) {
      if (named.tensor.storage() != nullptr) count += named.tensor.storage()->forms().List().size();
    }
  }
  return count;
}

void ModelPacker::AddElements(const std::vector<NamedTensor>& tensors, PackWriter* writer,
                              PackedTensors* list) {
  for (const NamedTensor& named : tensors) {
    PackedTensor* const packed = list->Add();
    *packed = named.packed;
    *packed->mutable_block() = writer->Add(named.tensor.raw_data(), named.tensor.nbytes());
  }
}

// The same for the tensors of the packed net, of which the weights may be stored with fewer bits.
ModelPacker::Summary ModelPacker::AddWeights(PackWriter* writer, PackedTensors* list) const {
  Summary summary;
  summary.worst_snr_db = HUGE_VAL;
  const std::set<std::string> weights = WeightBlobsOf(index_.predict_net());
  for (const NamedTensor& named : tensors_) {
    std::optional<ReducedWeights> reduced;
    if (weights.contains(named.packed.name())) reduced = ReduceWeights(named.tensor, storage_);
    if (!reduced.has_value()) {
      AddElements({named}, writer, list);
      continue;
    }
    PackedTensor* const packed = list->Add();
    *packed = named.packed;
    *packed->mutable_block() = writer->Add(reduced->bytes.data(), reduced->bytes.size());
    const std::vector<float>& scales = reduced->row_scales;
    packed->set_stored_type(scales.empty() ? TensorProto_DataType_FLOAT16
                                           : TensorProto_DataType_INT8);
    if (!scales.empty()) {
      *packed->mutable_row_scales() = writer->Add(scales.data(), scales.size() * sizeof(float));
    }
    ++summary.reduced;
    if (summary.worst.empty() || reduced->snr_db < summary.worst_snr_db) {
      summary.worst = named.packed.name();
      summary.worst_snr_db = reduced->snr_db;
    }
  }
  return summary;
}

// `list` has the tensors in the same order. What the net changes has no forms in the file.
void ModelPacker::AddForms(const std::vector<NamedTensor>& tensors, const NetDependencies& blobs,
                           PackWriter* writer, PackedTensors* list) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    const NamedTensor& named = tensors[i];
    if (named.tensor.storage() == nullptr || IsChanged(blobs, named.packed.name())) continue;
    for (const auto& [key, form] : named.tensor.storage()->forms().List()) {
      PackedForm* const packed = list->Mutable(static_cast<int>(i))->add_form();
      packed->set_key(key);
      *packed->mutable_block() = writer->Add(form.data.get(), form.nbytes);
    }
  }
}

ModelPacker::Summary ModelPacker::Write(const std::string& path) const try {
  PackedIndex index = index_;
  PackWriter writer(path);
  PackedTensors* const tensors = index.mutable_tensor();
  PackedTensors* const constants =
      index.has_preparation() ? index.mutable_preparation()->mutable_tensor() : nullptr;
  Summary summary;
  if (storage_ == WeightStorage::kFull) {
    AddElements(tensors_, &writer, tensors);
  } else {
    summary = AddWeights(&writer, tensors);
  }
  if (constants != nullptr) AddElements(constants_, &writer, constants);
  // Behind all elements, so that the pages of both are apart.
  const NetDependencies blobs(index.predict_net());
  if (storage_ == WeightStorage::kFull) AddForms(tensors_, blobs, &writer, tensors);
  if (constants != nullptr) AddForms(constants_, blobs, &writer, constants);
  ForEachTensor(index, [&](const PackedTensor& tensor) {
    if (tensor.form_size() > 0) index.set_instruction_set(IsaName(CpuIsa()));
  });
  writer.Finish(index);
  return summary;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
