#include "binaries/commands/file_argument.h"

#include <absl/strings/ascii.h>

#include <algorithm>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/int8_serializer.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2rt/predictor_consts.pb.h"

namespace caffe2rt {
namespace {

bool IsNamed(const std::string& name, const std::string& lower_case) {
  return absl::AsciiStrToLower(name) == lower_case;
}

// A counter is stored with a tensor, too, but is none.
bool IsStoredTensor(const BlobProto& blob) {
  if (!blob.has_tensor() || !blob.has_type()) return blob.has_tensor();
  for (const char* type : {kTensorBlobType, "TensorCPU", "TensorCUDA", kInt8TensorBlobType}) {
    if (blob.type() == type) return true;
  }
  return false;
}

// Moves the nets out of found->meta.
void TakeMetaNets(const std::string& stem, NetsOfFile* found) {
  for (NetsMap& entry : *found->meta.mutable_nets()) {
    TitledNet net{.title = "", .role = entry.key(), .net = std::move(*entry.mutable_value())};
    NameNet(&net.net, stem);
    net.title = MakeString(entry.key(), ": net \"", net.net.name(), "\"");
    found->nets.push_back(std::move(net));
  }
}

}  // namespace

FileKind KindOfFile(const CommandLine& line, const std::string& path) {
  if (line.Has("as")) {
    const std::string name = line.Text("as");
    if (IsNamed(name, "db")) {
      const FileKind kind = DetectFileKind(path).kind;
      return DBTypeOfKind(kind).empty() ? FileKind::kMiniDB : kind;
    }
    if (IsNamed(name, "protodb")) return FileKind::kTensorProtos;
    const FileKind kind = FileKindFromName(name);
    if (kind == FileKind::kUnknown) {
      throw UsageError("option --as is \"" + name + "\", which is not a kind of file" +
                       DidYouMean(name, FileKindNames()));
    }
    return kind;
  }
  const FileKindResult found = DetectFileKind(path);
  CAFFE_ENFORCE(found.kind != FileKind::kUnknown, "cannot read \"", path, "\": ", found.reason);
  return found.kind;
}

ShapeMap ShapesInDatabase(const std::string& path, const std::string& type) {
  ShapeMap shapes;
  const std::unique_ptr<db::DB> source = db::OpenDB(type, path, db::READ);
  const std::unique_ptr<db::Cursor> cursor = source->NewCursor();
  for (; cursor->Valid(); cursor->Next()) {
    BlobProto blob;
    if (!blob.ParseFromString(cursor->value()) || !(blob.has_type() || blob.has_tensor())) continue;
    TensorShape& shape = shapes[BlobNameFromKey(cursor->key())];
    if (!IsStoredTensor(blob)) {
      shape = UnknownShape();
      continue;
    }
    *shape.mutable_dims() = blob.tensor().dims();
    shape.set_data_type(blob.tensor().data_type());
  }
  return shapes;
}

ShapeMap ShapesOf(const PackedModel& model) {
  ShapeMap shapes;
  for (const PackedTensor& tensor : model.index().tensor()) {
    TensorShape& shape = shapes[tensor.name()];
    *shape.mutable_dims() = tensor.dims();
    shape.set_data_type(static_cast<TensorProto_DataType>(tensor.data_type()));
  }
  return shapes;
}

ShapeMap LoadedShapes(const OperatorDef& op, const FileAccess& access) {
  const Argument *path = GetArgumentPtr(op, "db"), *type = GetArgumentPtr(op, "db_type");
  if (op.type() != "Load" || op.input_size() > 0 || path == nullptr || type == nullptr) return {};
  return ShapesInDatabase(access.CheckRead(path->s()), type->s());
}

bool IsPredictorDatabase(const std::string& path, FileKind kind) {
  const std::string type = DBTypeOfKind(kind);
  if (type.empty() || kind == FileKind::kTensorProtos) return false;
  const std::string mark = PredictorConsts::default_instance().meta_net_def();
  const std::unique_ptr<db::DB> source = db::OpenDB(type, path, db::READ);
  const std::unique_ptr<db::Cursor> cursor = source->NewCursor();
  for (; cursor->Valid(); cursor->Next()) {
    if (cursor->key().starts_with(mark)) return true;
  }
  return false;
}

ProtoKindCheck KindCheckOf(const CommandLine& line) {
  return line.Has("as") ? ProtoKindCheck::kAsTold : ProtoKindCheck::kByContent;
}

NetsOfFile LoadNets(const std::string& path, FileKind kind, ProtoKindCheck check) {
  NetsOfFile found;
  const std::string stem = FileStem(path);
  if (kind == FileKind::kNetDef) {
    NetDef net = LoadNet(path, check);
    const std::string title = MakeString("net \"", net.name(), "\"");
    found.nets.push_back({.title = title, .role = "", .net = std::move(net)});
  } else if (kind == FileKind::kPlanDef) {
    LoadProto(path, &found.plan, check);
    for (const NetDef& net : found.plan.network()) {
      found.nets.push_back(
          {.title = MakeString("net \"", net.name(), "\""), .role = "", .net = net});
    }
  } else if (kind == FileKind::kMetaNetDef) {
    LoadProto(path, &found.meta, check);
    TakeMetaNets(stem, &found);
  } else if (kind == FileKind::kPackedModel) {
    found.packed = PackedModel::Open(path);
    NetDef net = found.packed->predict_net();
    NameNet(&net, stem);
    const std::string title = MakeString("net \"", net.name(), "\"");
    found.nets.push_back({.title = title, .role = "", .net = std::move(net)});
  } else if (IsPredictorDatabase(path, kind)) {
    found.meta = LoadMetaNetDef(path, DBTypeOfKind(kind));
    TakeMetaNets(stem, &found);
  }
  return found;
}

bool NamesTextFormat(const std::string& path) {
  return path.ends_with(".pbtxt") || path.ends_with(".prototxt") || path.ends_with(".txt");
}

void ThrowUnwantedKind(const std::string& path, FileKind kind, const char* wanted) {
  CAFFE_THROW("file \"", path, "\" is ", FileKindDescription(kind), ", want ", wanted,
              "; --as specifies the kind");
}

}  // namespace caffe2rt
