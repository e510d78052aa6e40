#include "caffe2_core/io/db.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_join.h>

#include <new>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/suggest.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/io/db_backends.h"
#include "caffe2_core/io/file_kind.h"

namespace caffe2rt {
namespace db {
namespace {

// Moves the cursor to the first record with this key.
void FindKey(const DBReaderProto& proto, Cursor* cursor) {
  for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
    if (cursor->key() == proto.key()) return;
  }
  CAFFE_THROW("reader \"", proto.name(), "\" stood at the record with the key \"",
              Shortened(proto.key()), "\", which database \"", proto.source(), "\" of type ",
              proto.db_type(), " does not contain");
}

// THROWS if the database is of another type, which explains why it could not be opened.
void CheckTypeIsThatOf(const std::string& source, const std::string& type) {
  const FileKind kind = DetectFileKind(source).kind;
  const std::string found = DBTypeOfKind(kind);
  if (found.empty() || found == absl::AsciiStrToLower(type) || kind == FileKind::kTensorProtos)
    return;
  CAFFE_THROW("cannot open \"", source, "\" as ", type, ": it is ", FileKindDescription(kind),
              "; want the type ", found);
}

}  // namespace

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

std::unique_ptr<DB> CreateDB(const std::string& type, const std::string& source, Mode mode) try {
  try {
    return Caffe2DBRegistry().Create(type, source, mode);
  } catch (const OutOfMemory&) {
    throw;
  } catch (const EnforceNotMet&) {
    if (mode != NEW) CheckTypeIsThatOf(source, type);
    throw;
  }
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::unique_ptr<DB> OpenDB(const std::string& type, const std::string& source, Mode mode) try {
  std::unique_ptr<DB> db = CreateDB(type, source, mode);
  CAFFE_ENFORCE(db != nullptr, "Cannot open db: ", source, " of type ", type, ": database type \"",
                type,
                "\" is not known; known types: ", absl::StrJoin(Caffe2DBRegistry().Keys(), ", "));
  return db;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

bool DBExists(const std::string& type, const std::string& source) try {
  try {
    return CreateDB(type, source, READ) != nullptr;
  } catch (const OutOfMemory&) {
    throw;  // the answer is unknown, and a caller might overwrite an existing database
  } catch (const EnforceNotMet&) {
    return false;
  }
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

DBReader::DBReader(const DBReaderProto& proto) try {
  Open(proto.db_type(), proto.source());
  if (!proto.has_key()) return;
  cursor_->SupportsSeek() ? cursor_->Seek(proto.key()) : FindKey(proto, cursor_.get());
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void DBReader::Open(const std::string& type, const std::string& source, int num_shards,
                    int shard_id) try {
  cursor_.reset();
  db_.reset();
  type_ = type;
  source_ = source;
  Open(OpenDB(type, source, READ), num_shards, shard_id);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void DBReader::Open(std::unique_ptr<DB>&& db, int num_shards, int shard_id) try {
  CAFFE_ENFORCE(db != nullptr, "a DBReader needs a database, got null");
  CAFFE_ENFORCE_GE(num_shards, 1, "num_shards of a DBReader");
  CAFFE_ENFORCE(shard_id >= 0 && shard_id < num_shards, "shard_id of a DBReader is ", shard_id,
                ", want at least 0 and less than num_shards ", num_shards);
  cursor_.reset();
  db_ = std::move(db);
  num_shards_ = num_shards;
  shard_id_ = shard_id;
  cursor_ = db_->NewCursor();
  SeekToFirst();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void DBReader::Read(std::string* key, std::string* value) const try {
  CAFFE_ENFORCE(key != nullptr && value != nullptr, "argument key or value of Read is null");
  CAFFE_ENFORCE(cursor_ != nullptr, "Reader not initialized.");
  const MutexLock lock(mutex_);
  CAFFE_ENFORCE(cursor_->Valid(), "database \"", source_, "\" of type ", type_, " has no records");
  *key = cursor_->key();
  *value = cursor_->value();
  for (int i = 0; i < num_shards_; ++i) {
    cursor_->Next();
    if (!cursor_->Valid()) return MoveToBeginning();
  }
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void DBReader::SeekToFirst() const try {
  CAFFE_ENFORCE(cursor_ != nullptr, "Reader not initialized.");
  const MutexLock lock(mutex_);
  MoveToBeginning();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void DBReader::MoveToBeginning() const {
  cursor_->SeekToFirst();
  for (int i = 0; i < shard_id_; ++i) {
    cursor_->Next();
    CAFFE_ENFORCE(cursor_->Valid(), "the database has ", i + 1, " records, want more than ",
                  shard_id_, ": the shard id");
  }
}

DBReaderProto DBReader::ToProto(const std::string& name) const try {
  DBReaderProto proto;
  proto.set_name(name);
  proto.set_source(source_);
  proto.set_db_type(type_);
  const MutexLock lock(mutex_);
  if (cursor_ != nullptr && cursor_->Valid()) proto.set_key(cursor_->key());
  return proto;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
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
