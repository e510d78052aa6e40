#include "caffe2_core/training/data_facts.h"

#include <memory>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/file_kind.h"

namespace caffe2rt {
namespace {

std::string TypeOf(const DatabasePlace& place) {
  if (!place.type.empty()) return place.type;
  const FileKindResult found = DetectFileKind(place.path);
  const std::string type = DBTypeOfKind(found.kind);
  CAFFE_ENFORCE(
      !type.empty(), "cannot read \"", place.path, "\" as a database: ",
      found.kind == FileKind::kUnknown ? found.reason : "it is " + FileKindDescription(found.kind));
  return type;
}

}  // namespace

bool TensorFacts::is_integer() const {
  return type == TensorProto::INT32 || type == TensorProto::INT64 || type == TensorProto::UINT8 ||
         type == TensorProto::BYTE || type == TensorProto::INT8 || type == TensorProto::UINT16 ||
         type == TensorProto::INT16 || type == TensorProto::BOOL;
}

DataFacts ReadDataFacts(const DatabasePlace& place) {
  DataFacts facts;
  facts.place = {TypeOf(place), place.path};
  const std::unique_ptr<db::DB> database = db::OpenDB(facts.place.type, place.path, db::READ);
  const std::unique_ptr<db::Cursor> cursor = database->NewCursor();
  CAFFE_ENFORCE(cursor->Valid(), "database \"", place.path, "\" has no record");
  TensorProtos record;
  CAFFE_ENFORCE(record.ParseFromString(cursor->value()) && record.protos_size() > 0, "record \"",
                cursor->key(), "\" of database \"", place.path,
                "\" is not a TensorProtos with tensors, as caffe2 db make writes them");
  for (const TensorProto& tensor : record.protos()) {
    facts.tensors.push_back({tensor.data_type(), {tensor.dims().begin(), tensor.dims().end()}});
  }
  for (; cursor->Valid(); cursor->Next()) ++facts.records;
  return facts;
}

}  // namespace caffe2rt
