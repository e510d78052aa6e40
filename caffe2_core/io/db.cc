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

void Cursor::SeekToOffset(int64_t /*offset*/) {
  CAFFE_THROW("a cursor of this type of database has no offsets");
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
