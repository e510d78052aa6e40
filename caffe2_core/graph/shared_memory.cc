#include "caffe2_core/graph/shared_memory.h"

#include <map>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt {
namespace {

using Function = NamePairs (*)(const OperatorDef&);

struct Declarations {
  Mutex mutex;
  std::map<std::string, Function> by_type ABSL_GUARDED_BY(mutex);
};

Declarations& AllDeclarations() {
  static Declarations* const declarations = new Declarations;
  return *declarations;
}

}  // namespace

void DeclareSharedMemory(const std::string& type, NamePairs (*pairs)(const OperatorDef&)) {
  Declarations& declarations = AllDeclarations();
  const MutexLock lock(declarations.mutex);
  declarations.by_type.try_emplace(type, pairs);
}

NamePairs SharedNamesOf(const OperatorDef& def) {
  const OpSchema* const schema = OpSchemaRegistry::Schema(def.type());  // registers built-in types
  if (schema == nullptr) return {};
  NamePairs names;
  for (const auto& [input, output] : schema->shared_memory()) {
    if (input >= def.input_size() || output >= def.output_size()) continue;
    names.emplace_back(def.input(input), def.output(output));
  }
  Function pairs = nullptr;
  {
    Declarations& declarations = AllDeclarations();
    const MutexLock lock(declarations.mutex);
    const auto found = declarations.by_type.find(def.type());
    if (found != declarations.by_type.end()) pairs = found->second;
  }
  if (pairs == nullptr) return names;
  try {
    const NamePairs more = pairs(def);
    names.insert(names.end(), more.begin(), more.end());
  } catch (const EnforceNotMet&) {  // invalid arguments, which the constructor will reject as well
  }
  return names;
}

}  // namespace caffe2rt
