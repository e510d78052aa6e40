#include "caffe2_core/io/tensor_file.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "caffe2_core/base/byte_size.h"
#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/caffe_datum.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/int8_serializer.h"
#include "caffe2_core/tensor/int8_tensor.h"

namespace caffe2rt {
namespace {

namespace fs = std::filesystem;

// Passes the blobs of a file on. Joins the records of one blob, and checks that names are distinct.
class BlobReader {
 public:
  BlobReader(const std::string& path, const NamedBlobAcceptor& accept)
      : path_(path), accept_(accept) {}

  void AddTensor(const std::string& name, Tensor tensor) {
    Finish();
    Blob blob;
    *blob.GetMutable<Tensor>() = std::move(tensor);
    Accept(name, &blob);
  }
  void AddTensor(const std::string& name, TensorProto* proto) {
    Tensor tensor(CPU);
    TensorDeserializer().Deserialize(*proto, &tensor);
    TensorProto().Swap(proto);  // gives up its memory
    AddTensor(name, std::move(tensor));
  }
  // A record of the blob `name`: all of it, or a chunk of a tensor.
  void AddRecord(const std::string& name, BlobProto* proto) {
    const std::string& type = proto->type();
    CAFFE_ENFORCE(proto->has_tensor() || type == kInt8TensorBlobType || type == kStringBlobType,
                  "blob \"", name, "\" of \"", path_, "\" is a \"", type,
                  "\", want a tensor or a string");
    if (!open_ || name != name_) {
      Finish();
      open_ = true;
      name_ = name;
      total_ = proto->has_tensor() ? CheckedProduct(proto->tensor().dims()) : 0;
    }
    if (!proto->has_tensor()) {
      DeserializeBlob(*proto, &blob_);
      return Finish();
    }
    const TensorProto& tensor = proto->tensor();
    CAFFE_ENFORCE_EQ(CheckedProduct(tensor.dims()), total_, "elements of tensor \"", name,
                     "\" of \"", path_, "\" in one record, want as many as in the first");
    TensorDeserializer().Deserialize(tensor, blob_.GetMutableTensor(CPU));
    read_ += tensor.has_segment() ? tensor.segment().end() - tensor.segment().begin() : total_;
    CAFFE_ENFORCE_LE(read_, total_, "elements in the records of tensor \"", name, "\" of \"", path_,
                     "\"");
  }
  // Passes the last blob on. THROWS if a part of it is missing.
  void Finish() {
    if (!open_) return;
    open_ = false;
    CAFFE_ENFORCE_EQ(read_, total_, "elements of tensor \"", name_, "\" in \"", path_, "\"");
    read_ = 0;
    Blob blob = std::move(blob_);
    blob_ = Blob();
    Accept(name_, &blob);
  }

 private:
  void Accept(const std::string& name, Blob* blob) {
    CAFFE_ENFORCE(names_.insert(name).second, "file \"", path_, "\" contains two tensors named \"",
                  name, "\"");
    accept_(name, blob);
  }

  const std::string path_;
  const NamedBlobAcceptor& accept_;
  std::set<std::string> names_;
  Blob blob_;  // whose records are being read
  std::string name_;
  bool open_ = false;
  int64_t total_ = 0, read_ = 0;  // elements
};

void ReadDatabase(const std::string& path, FileKind kind, BlobReader* reader) {
  const std::unique_ptr<db::DB> source = db::OpenDB(DBTypeOfKind(kind), path, db::READ);
  const std::unique_ptr<db::Cursor> cursor = source->NewCursor();
  for (; cursor->Valid(); cursor->Next()) {
    const std::string key = cursor->key(), value = cursor->value();
    if (BlobProto blob; blob.ParseFromString(value) && blob.has_type()) {
      reader->AddRecord(BlobNameFromKey(key), &blob);
      continue;
    }
    TensorProtos tensors;
    CaffeDatum datum;
    const bool is_datum = ParseDatum(value, &datum);
    if (is_datum) tensors = DatumToTensorProtos(datum);
    CAFFE_ENFORCE(is_datum || (tensors.ParseFromString(value) && tensors.protos_size() > 0),
                  "record \"", key, "\" of \"", path, "\" has ", ByteSizeText(value.size()),
                  " that are neither a blob nor TensorProtos");
    for (int i = 0; i < tensors.protos_size(); ++i) {
      TensorProto* const proto = tensors.mutable_protos(i);
      const std::string name = proto->name().empty() ? MakeString(i) : proto->name();
      reader->AddTensor(MakeString(key, "/", name), proto);
    }
  }
}

bool IsDatabase(FileKind kind) {
  return kind == FileKind::kMiniDB || kind == FileKind::kLevelDB || kind == FileKind::kLMDB;
}

Tensor TakeTensor(const std::string& path, const std::string& name, Blob* blob) {
  const Tensor* const tensor = FindTensor(*blob);
  CAFFE_ENFORCE(tensor != nullptr, "blob \"", name, "\" of \"", path,
                "\" is a string, want a tensor");
  return *tensor;
}

// The .npy files of a folder, sorted. Links to files that do not exist are among them, so that
// reading them reports their names.
std::vector<fs::path> FilesOfFolder(const std::string& path) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
    std::error_code ignored;
    const bool dangling = entry.is_symlink(ignored) && !entry.exists(ignored);
    if (entry.path().extension() == ".npy" && (dangling || entry.is_regular_file(ignored)))
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

bool HoldsTensors(FileKind kind) {
  return kind == FileKind::kNpy || kind == FileKind::kNpz || kind == FileKind::kTensorProto ||
         kind == FileKind::kTensorProtos || kind == FileKind::kBlobProto || IsDatabase(kind);
}

bool IsFolderOfTensors(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) && DetectFileKind(path).kind == FileKind::kUnknown &&
         !FilesOfFolder(path).empty();
}

void ReadTensorFile(const std::string& path, FileKind kind, ProtoKindCheck check,
                    const NamedBlobAcceptor& accept) {
  BlobReader reader(path, accept);
  if (kind == FileKind::kUnknown && IsFolderOfTensors(path)) {
    for (const fs::path& file : FilesOfFolder(path)) {
      reader.AddTensor(file.stem().string(), ReadNpy(file.string()));
    }
  } else if (kind == FileKind::kNpy) {
    reader.AddTensor("", ReadNpy(path));
  } else if (kind == FileKind::kNpz) {
    for (auto& [name, tensor] : ReadNpz(path)) reader.AddTensor(name, std::exchange(tensor, {}));
  } else if (kind == FileKind::kTensorProto) {
    TensorProto proto;
    LoadProto(path, &proto, check);
    const std::string name = proto.name();
    reader.AddTensor(name, &proto);
  } else if (kind == FileKind::kTensorProtos) {
    TensorProtos protos;
    LoadProto(path, &protos, check);
    for (TensorProto& proto : *protos.mutable_protos()) {
      const std::string name = proto.name();
      reader.AddTensor(name, &proto);
    }
  } else if (kind == FileKind::kBlobProto) {
    for (BlobProto& proto : LoadBlobProtos(path)) {
      reader.AddRecord(BlobNameFromKey(proto.name()), &proto);
    }
  } else {
    CAFFE_ENFORCE(IsDatabase(kind), "file \"", path, "\" is ", FileKindDescription(kind),
                  ", want .npy, .npz, TensorProto(s), BlobProto or a database");
    ReadDatabase(path, kind, &reader);
  }
  reader.Finish();
}

NamedTensors LoadNamedTensors(const std::string& path) {
  const FileKindResult found = DetectFileKind(path);
  CAFFE_ENFORCE(found.kind != FileKind::kUnknown || IsFolderOfTensors(path), "cannot read \"", path,
                "\": ", found.reason);
  NamedTensors tensors;
  ReadTensorFile(path, found.kind, ProtoKindCheck::kByContent,
                 [&](const std::string& name, Blob* blob) {
                   tensors.emplace_back(name, TakeTensor(path, name, blob));
                 });
  return tensors;
}

}  // namespace caffe2rt
