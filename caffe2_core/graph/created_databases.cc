#include "caffe2_core/graph/created_databases.h"

#include <map>
#include <utility>

#include "caffe2_core/base/mutex.h"
#include "caffe2_core/graph/builtin_operators.h"

namespace caffe2rt {
namespace {

using FindDatabase = std::function<CreatedDatabase(const OperatorDef&)>;

struct DatabaseDeclarations {
  Mutex mutex;
  std::map<std::string, FindDatabase> by_type ABSL_GUARDED_BY(mutex);
};

DatabaseDeclarations& AllDatabaseDeclarations() {
  static DatabaseDeclarations declared;
  return declared;
}

}  // namespace

void DeclareCreatedDatabase(const std::string& type, FindDatabase find) {
  DatabaseDeclarations& declared = AllDatabaseDeclarations();
  const MutexLock lock(declared.mutex);
  declared.by_type[type] = std::move(find);
}

std::optional<CreatedDatabase> FindCreatedDatabase(const OperatorDef& op) {
  RegisterBuiltinOperatorsOnce();
  FindDatabase find;
  {
    DatabaseDeclarations& declared = AllDatabaseDeclarations();
    const MutexLock lock(declared.mutex);
    const auto found = declared.by_type.find(op.type());
    if (found == declared.by_type.end()) return std::nullopt;
    find = found->second;
  }
  return find(op);
}

}  // namespace caffe2rt
