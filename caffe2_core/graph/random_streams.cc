#include "caffe2_core/graph/random_streams.h"

#include <algorithm>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt {
namespace {

// Operators without a schema are a user's, and may draw.
bool MayDraw(const OperatorDef& op) {
  const OpSchema* const schema = OpSchemaRegistry::Schema(op.type());
  if (schema == nullptr || schema->has_effect(Effect::kRandom, op)) return true;
  return std::any_of(op.arg().begin(), op.arg().end(),
                     [](const Argument& arg) { return arg.has_n() || arg.nets_size() > 0; });
}

const Argument* GivenName(const OperatorDef& op) {
  const Argument* const given = GetArgumentPtr(op, kRandomStream);
  return given != nullptr && given->has_s() ? given : nullptr;
}

void RemoveName(OperatorDef* op) {
  auto* const args = op->mutable_arg();
  args->erase(std::remove_if(args->begin(), args->end(),
                             [](const Argument& arg) { return arg.name() == kRandomStream; }),
              args->end());
}

// The name that the operator has without the argument. `writers` counts the operators before it by
// their first output.
std::string DefaultName(const OperatorDef& op, std::unordered_map<std::string, int>* writers) {
  const std::string& name = op.output_size() > 0 ? op.output(0) : op.type();
  const int earlier = (*writers)[name]++;
  return earlier == 0 ? name : MakeString(name, "#", earlier);
}

}  // namespace

std::string RandomStreamNames::Next(const OperatorDef& op) {
  std::string name = DefaultName(op, &writers_);
  const Argument* const given = GivenName(op);
  return given != nullptr ? given->s() : name;
}

void NameRandomStreams(NetDef* net) {
  RandomStreamNames names;
  for (OperatorDef& op : *net->mutable_op()) {
    const std::string name = names.Next(op);
    if (MayDraw(op)) GetMutableArgument(kRandomStream, true, &op)->set_s(name);
  }
}

void RemoveNeedlessStreamNames(NetDef* net) {
  std::unordered_map<std::string, int> writers;
  for (OperatorDef& op : *net->mutable_op()) {
    const std::string name = DefaultName(op, &writers);
    const Argument* const given = GivenName(op);
    if (given != nullptr && given->s() == name) RemoveName(&op);
  }
}

}  // namespace caffe2rt
