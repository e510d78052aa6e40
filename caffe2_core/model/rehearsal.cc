#include "caffe2_core/model/rehearsal.h"

#include <algorithm>
#include <iterator>

#include "caffe2_core/graph/builtin_operators.h"
#include "caffe2_core/graph/net_summary.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/reads_unlisted.h"

namespace caffe2rt {
namespace {

constexpr Effect kEffects[] = {Effect::kFiles, Effect::kOutput, Effect::kRandom,
                               Effect::kEverything, Effect::kCommunication};

bool HasNets(const OperatorDef& def) {
  return std::any_of(def.arg().begin(), def.arg().end(), [](const Argument& arg) {
    return arg.has_n() || arg.nets_size() > 0 || arg.name().ends_with("step_net");
  });
}

bool ChangesInput(const OpSchema& schema, const OperatorDef& def) {
  for (int i = 0; i < def.input_size(); ++i) {
    if (schema.modifies_input(i)) return true;
  }
  return false;
}

}  // namespace

bool OnlyComputes(const OperatorDef& def, const OperatorBase* object) {
  const OpSchema* const schema = OpSchemaRegistry::Schema(def.type());
  if (schema == nullptr || !IsBuiltinOperator(def.type())) return false;
  const OperatorTraits& traits = schema->traits();
  return !traits.waits && traits.queue_use == QueueUse::kNone && !HasNets(def) &&
         !ChangesInput(*schema, def) &&
         (!schema->accesses_unlisted_blobs(def) ||
          dynamic_cast<const ReadsUnlisted*>(object) != nullptr) &&
         std::none_of(std::begin(kEffects), std::end(kEffects),
                      [&](Effect effect) { return schema->has_effect(effect, def); });
}

void RehearsalCost::Add(const OperatorDef& def, const std::vector<TensorShape>& inputs,
                        const std::vector<TensorShape>& outputs) {
  // Numbers above the limit do not matter, and must not overflow.
  multiply_adds_ += std::min(MultiplyAdds(def, inputs, outputs), kMostMultiplyAdds + 1);
  for (const TensorShape& shape : outputs) bytes_ += std::min(BytesOf(shape), kMostBytes + 1);
}

}  // namespace caffe2rt
