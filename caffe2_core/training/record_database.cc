#include "caffe2_core/training/record_database.h"

#include <array>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/new_database.h"
#include "caffe2_core/io/record_checksum.h"

namespace caffe2rt {
namespace {

// A protodb holds single tensors.
constexpr std::array kTypes = {"lmdb", "leveldb", "minidb"};

std::unique_ptr<db::DB> OpenNew(const std::string& type, const std::string& path) {
  db::CheckNewDatabase(type, path);
  return db::OpenDB(type, path, db::NEW);
}

}  // namespace

std::string RecordKey(int64_t number, int digits) {
  std::string key = MakeString(number);
  const auto width = static_cast<size_t>(digits);
  if (key.size() < width) key.insert(0, width - key.size(), '0');
  return key;
}

void AddLabel(int32_t label, LabelDims dims, TensorProtos* tensors) {
  TensorProto* const proto = tensors->add_protos();
  proto->set_data_type(TensorProto::INT32);
  if (dims == LabelDims::kOne) proto->add_dims(1);
  proto->add_int32_data(label);
}

RecordDatabase::RecordDatabase(const std::string& type, const std::string& path)
    : path_(path), db_(OpenNew(type, path)), transaction_(db_->NewTransaction()) {}

RecordDatabase::~RecordDatabase() = default;

void RecordDatabase::Put(const std::string& key, const std::string& value) {
  transaction_->Put(key, value);
  ++records_;
}

RecordAcceptor RecordDatabase::Acceptor() {
  return [this](const TrainingRecord& record) {
    Put(record.key, WithChecksum(record.tensors.SerializeAsString()));
  };
}

void RecordDatabase::Finish() {
  CAFFE_ENFORCE_GT(records_, 0, "records of the new database \"", path_, "\"");
  transaction_->Commit();
  transaction_.reset();
  db_->Close();
}

std::string NewDatabaseType(const std::string& type, const std::string& path) {
  for (const char* const known : kTypes) {
    if (type.empty() ? path.ends_with(std::string(".") + known) : type == known) return known;
  }
  CAFFE_ENFORCE(type.empty(), "database type \"", type,
                "\" is not known, want lmdb, leveldb or minidb");
  CAFFE_THROW("the name \"", path,
              "\" states no type of database, want one that ends in .lmdb, .leveldb or .minidb, or "
              "--db-type");
}

}  // namespace caffe2rt
