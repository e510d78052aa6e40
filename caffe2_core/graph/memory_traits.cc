#include "caffe2_core/graph/memory_traits.h"

#include <string_view>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt {
namespace {

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

const MemoryTraits& MemoryTraitsOf(const std::string& type) {
  static const MemoryTraits* const foreign = new MemoryTraits{.keeps_memory = true};
  const OpSchema* const schema = OpSchemaRegistry::Schema(type);
  return schema != nullptr && IsBuiltIn(*schema) ? schema->memory() : *foreign;
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
