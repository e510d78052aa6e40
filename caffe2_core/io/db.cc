#include "caffe2_core/io/db.h"

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/suggest.h"
#include "caffe2_core/io/db_backends.h"

namespace caffe2rt {
namespace db {

void RegisterBuiltinDBs(DBRegistryType* registry) {
  for (const char* name : {"minidb", "MiniDB"}) registry->Register(name, &NewMiniDB, __FILE__);
  for (const char* name : {"leveldb", "LevelDB"}) registry->Register(name, &NewLevelDB, __FILE__);
  for (const char* name : {"lmdb", "LMDB"}) registry->Register(name, &NewLMDB, __FILE__);
  for (const char* name : {"protodb", "ProtoDB"}) registry->Register(name, &NewProtoDB, __FILE__);
}

DBRegistryType& Caffe2DBRegistry() {
  static DBRegistryType& registry = [&]() -> DBRegistryType& {
    auto& built = *new DBRegistryType("database type");
    RegisterBuiltinDBs(&built);
    return built;
  }();
  return registry;
}

std::unique_ptr<DB> CreateDB(const std::string& type, const std::string& source, Mode mode) {
  return Caffe2DBRegistry().Create(type, source, mode);
}

std::unique_ptr<DB> OpenDB(const std::string& type, const std::string& source, Mode mode) {
  std::unique_ptr<DB> db = CreateDB(type, source, mode);
  CAFFE_ENFORCE(db != nullptr, "Cannot open db: ", source, " of type ", type, ": database type \"",
                type, "\" is not known; there are: ", Join(", ", Caffe2DBRegistry().Keys()));
  return db;
}

bool DBExists(const std::string& type, const std::string& source) {
  try {
    return CreateDB(type, source, READ) != nullptr;
  } catch (const EnforceNotMet&) {
    return false;
  }
}

DBReader::DBReader(const DBReaderProto& proto) {
  Open(proto.db_type(), proto.source());
  if (!proto.has_key()) return;
  CAFFE_ENFORCE(cursor_->SupportsSeek(),
                "Encountering a proto that needs seeking but the db type \"", proto.db_type(),
                "\" does not support it");
  cursor_->Seek(proto.key());
}

void DBReader::Open(const std::string& type, const std::string& source, int num_shards,
                    int shard_id) {
  cursor_.reset();
  db_.reset();
  type_ = type;
  source_ = source;
  Open(OpenDB(type, source, READ), num_shards, shard_id);
}

void DBReader::Open(std::unique_ptr<DB>&& db, int num_shards, int shard_id) {
  CAFFE_ENFORCE(db != nullptr, "a reader needs a database, got none");
  CAFFE_ENFORCE_GE(num_shards, 1, "num_shards of a reader");
  CAFFE_ENFORCE(shard_id >= 0 && shard_id < num_shards, "shard_id of a reader is ", shard_id,
                ", want at least 0 and less than num_shards ", num_shards);
  cursor_.reset();
  db_ = std::move(db);
  num_shards_ = num_shards;
  shard_id_ = shard_id;
  cursor_ = db_->NewCursor();
  SeekToFirst();
}

void DBReader::Read(std::string* key, std::string* value) const {
  CAFFE_ENFORCE(cursor_ != nullptr, "Reader not initialized.");
  const std::lock_guard<std::mutex> lock(mutex_);
  CAFFE_ENFORCE(cursor_->Valid(), "database \"", source_, "\" of type ", type_, " has no records");
  *key = cursor_->key();
  *value = cursor_->value();
  for (int i = 0; i < num_shards_; ++i) {
    cursor_->Next();
    if (!cursor_->Valid()) return MoveToBeginning();
  }
}

void DBReader::SeekToFirst() const {
  CAFFE_ENFORCE(cursor_ != nullptr, "Reader not initialized.");
  const std::lock_guard<std::mutex> lock(mutex_);
  MoveToBeginning();
}

void DBReader::MoveToBeginning() const {
  cursor_->SeekToFirst();
  for (int i = 0; i < shard_id_; ++i) {
    cursor_->Next();
    CAFFE_ENFORCE(cursor_->Valid(), "Db has less rows than shard id: ", i, " vs ", shard_id_);
  }
}

DBReaderProto DBReader::ToProto(const std::string& name) const {
  DBReaderProto proto;
  proto.set_name(name);
  proto.set_source(source_);
  proto.set_db_type(type_);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (cursor_ != nullptr && cursor_->SupportsSeek() && cursor_->Valid()) {
    proto.set_key(cursor_->key());
  }
  return proto;
}

namespace internal {
void CommitInDestructor(Transaction* transaction, const UnwindingDetector& detector) noexcept {
  if (detector.Unwinding()) return;
  try {
    transaction->Commit();
  } catch (...) {
    LOG(ERROR) << "cannot commit a transaction: " << CurrentExceptionMessage();
  }
}
}  // namespace internal

}  // namespace db
}  // namespace caffe2rt
