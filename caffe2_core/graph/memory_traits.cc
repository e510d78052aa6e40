#include "caffe2_core/graph/memory_traits.h"

#include <map>
#include <string_view>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt {
namespace {

struct Traits {
  Mutex mutex;
  std::map<std::string, MemoryTraits> by_type ABSL_GUARDED_BY(mutex);
};
Traits& AllTraits() {
  static Traits* const traits = new Traits;
  return *traits;
}

// Whether the schema was registered by a file of this library. Both paths have the same form,
// because the same build compiles the files.
bool IsBuiltIn(const OpSchema& schema) {
  constexpr std::string_view kThisFile = "caffe2_core/graph/memory_traits.cc";
  constexpr std::string_view kFile = __FILE__;
  static_assert(kFile.ends_with(kThisFile));
  const std::string root(kFile.substr(0, kFile.size() - kThisFile.size()));
  return schema.file().rfind(root + "operators/", 0) == 0;
}

}  // namespace

MemoryTraits& DeclareMemoryTraits(const std::string& type) {
  Traits& traits = AllTraits();
  const MutexLock lock(traits.mutex);
  return traits.by_type[type];
}

const MemoryTraits& MemoryTraitsOf(const std::string& type) {
  static const MemoryTraits* const plain = new MemoryTraits;
  static const MemoryTraits* const foreign = new MemoryTraits{.keeps_memory = true};
  const OpSchema* const schema = OpSchemaRegistry::Schema(type);  // registers the built-in types
  if (schema == nullptr || !IsBuiltIn(*schema)) return *foreign;
  Traits& traits = AllTraits();
  const MutexLock lock(traits.mutex);
  const auto found = traits.by_type.find(type);
  return found == traits.by_type.end() ? *plain : found->second;
}

MemoryTraits::Extra ExtraMemoryOf(const OperatorDef& def, const std::vector<TensorShape>& inputs,
                                  const std::vector<TensorShape>& outputs) {
  const MemoryTraits& traits = MemoryTraitsOf(def.type());
  if (!traits.extra) return {};
  for (const auto* shapes : {&inputs, &outputs}) {
    for (const TensorShape& shape : *shapes) {
      if (shape.unknown_shape()) return {};
    }
  }
  try {
    return traits.extra(def, inputs, outputs);
  } catch (const EnforceNotMet&) {  // the operator will report the problem
    return {};
  }
}

}  // namespace caffe2rt
