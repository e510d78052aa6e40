#include "caffe2_core/graph/passes/net_values.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/builtin_operators.h"
#include "caffe2_core/graph/nested_nets.h"

namespace caffe2rt {
namespace {

bool HasDuplicates(std::span<const uint32_t> blobs) {
  std::unordered_set<uint32_t> seen;
  for (const uint32_t blob : blobs) {
    if (!seen.insert(blob).second) return true;
  }
  return false;
}

bool HasEffects(const OpSchema& schema, const OperatorDef& op) {
  for (const Effect effect : {Effect::kFiles, Effect::kOutput, Effect::kRandom, Effect::kEverything,
                              Effect::kCommunication}) {
    if (schema.has_effect(effect, op)) return true;
  }
  return schema.accesses_unlisted_blobs(op);
}

// The values of fills, which have no inputs, may be large, and are not read.
bool HasValidArguments(const OpSchema& schema, const OperatorDef& op) {
  if (op.input_size() > 0) return schema.ArgumentProblems(op).empty();
  try {
    (void)ArgumentHelper(op);
    return true;
  } catch (const EnforceNotMet&) {
    return false;
  }
}

bool UsesEngine(const OperatorDef& op, const DeviceOption& device, const PassContext& context) {
  if (context.uses_engine == nullptr) return !op.engine().empty();
  OperatorDef only_names;  // without the arguments, which may be large
  only_names.set_type(op.type());
  only_names.set_engine(op.engine());
  *only_names.mutable_device_option() = device;
  return context.uses_engine(only_names);
}

bool IsPlainOperator(const NetDef& net, const NetBlobs& blobs, const PassContext& context,
                     size_t position) {
  const OperatorDef& op = net.op(static_cast<int>(position));
  const OpSchema* const schema = OpSchemaRegistry::Schema(op.type());
  if (schema == nullptr || !IsBuiltinOperator(op.type())) return false;
  if (op.control_input_size() > 0) return false;
  const DeviceOption device = MergeDeviceOption(net.device_option(), op.device_option());
  if (device.device_type() != CPU || !device.node_name().empty()) return false;
  if (UsesEngine(op, device, context)) return false;
  if (HasNestedNets(op) || !HasValidArguments(*schema, op) || !schema->Verify(op)) return false;
  if (HasEffects(*schema, op) || HasDuplicates(blobs.outputs(position))) return false;
  for (int i = 0; i < op.input_size(); ++i) {
    if (schema->modifies_input(i)) return false;
  }
  return true;
}

}  // namespace

NetValues::NetValues(const NetDef& net, const PassContext& context) : blobs_(net) {
  FindValues();
  FindReaders();
  FindUses(net);
  FindObservable(net, context.kept);
  for (size_t op = 0; op < num_operators(); ++op) {
    plain_.push_back(IsPlainOperator(net, blobs_, context, op));
  }
}

// Each write of a blob begins a new value, and so does the first read of a blob that was not
// written before. accesses_ holds the values that each operator reads, then those that it writes.
void NetValues::FindValues() {
  last_.assign(blobs_.size(), kNone);
  const auto add = [this](uint32_t blob, uint32_t writer) {
    last_[blob] = static_cast<Value>(values_.size());
    values_.push_back({.blob = blob, .writer = writer, .sight = 0});
    return last_[blob];
  };
  ends_.push_back(0);
  for (size_t op = 0; op < blobs_.num_operators(); ++op) {
    for (const uint32_t blob : blobs_.inputs(op)) {
      accesses_.push_back(last_[blob] == kNone ? add(blob, kNone) : last_[blob]);
    }
    ends_.push_back(accesses_.size());
    for (const uint32_t blob : blobs_.outputs(op)) {
      accesses_.push_back(add(blob, static_cast<uint32_t>(op)));
    }
    ends_.push_back(accesses_.size());
  }
}

// A counting sort by value, in linear time: reads_[read_ends_[v]] to reads_[read_ends_[v + 1] - 1]
// are the reads of value v, in the order of the net.
void NetValues::FindReaders() {
  read_ends_.assign(values_.size() + 1, 0);
  for (size_t op = 0; op < num_operators(); ++op) {
    for (size_t i = 0; i < num_inputs(op); ++i) ++read_ends_[input(op, i) + 1];
  }
  for (size_t v = 0; v < values_.size(); ++v) read_ends_[v + 1] += read_ends_[v];
  reads_.resize(read_ends_.back());
  std::vector<size_t> next(read_ends_.begin(), read_ends_.end() - 1);
  for (size_t op = 0; op < num_operators(); ++op) {
    for (size_t i = 0; i < num_inputs(op); ++i) {
      reads_[next[input(op, i)]++] = {static_cast<uint32_t>(op), static_cast<uint32_t>(i)};
    }
  }
}

void NetValues::FindUses(const NetDef& net) {
  std::vector<std::pair<uint32_t, uint32_t>> written, used;
  for (size_t op = 0; op < num_operators(); ++op) {
    const auto position = static_cast<uint32_t>(op);
    const OperatorDef& def = net.op(static_cast<int>(op));
    const OpSchema* const schema = OpSchemaRegistry::Schema(def.type());
    const std::span<const uint32_t> inputs = blobs_.inputs(op);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (schema == nullptr || !schema->modifies_input(static_cast<int>(i))) continue;
      written.emplace_back(blobs_.memory(inputs[i]), position);
    }
    for (const uint32_t blob : blobs_.outputs(op)) {
      written.emplace_back(blobs_.memory(blob), position);
    }
    for (const uint32_t blob : blobs_.all(op)) used.emplace_back(blobs_.memory(blob), position);
    if (!HasNestedNets(def)) continue;
    // The nets may write the operator's inputs too.
    for (const uint32_t blob : blobs_.all(op)) written.emplace_back(blobs_.memory(blob), position);
    for (const uint32_t blob : blobs_.nested(op)) {
      written.emplace_back(blobs_.memory(blob), position);
      used.emplace_back(blobs_.memory(blob), position);
    }
  }
  writes_.Build(blobs_.size(), std::move(written));
  uses_.Build(blobs_.size(), std::move(used));
}

void NetValues::FindObservable(const NetDef& net, const std::set<std::string>& kept) {
  std::vector<uint8_t> sight(blobs_.size(), 0);
  std::vector<uint32_t> sharers(blobs_.size(), 0);  // by memory
  for (uint32_t blob = 0; blob < blobs_.size(); ++blob) ++sharers[blobs_.memory(blob)];
  for (uint32_t blob = 0; blob < blobs_.size(); ++blob) {
    if (sharers[blobs_.memory(blob)] > 1) sight[blob] |= kShared;
  }
  for (size_t op = 0; op < num_operators(); ++op) {
    const OperatorDef& def = net.op(static_cast<int>(op));
    const OpSchema* const schema = OpSchemaRegistry::Schema(def.type());
    for (const uint32_t blob : blobs_.control_inputs(op)) sight[blob] |= kNamed;
    for (size_t i = 0; i < num_inputs(op); ++i) {
      if (schema != nullptr && schema->modifies_input(static_cast<int>(i))) {
        sight[blobs_.inputs(op)[i]] |= kNamed;
      }
    }
    if (!HasNestedNets(def)) continue;
    for (const uint32_t blob : blobs_.all(op)) sight[blob] |= kNamed;
    for (const uint32_t blob : blobs_.nested(op)) sight[blob] |= kNamed;
  }
  for (ValueState& value : values_) value.sight = sight[value.blob];
  for (uint32_t blob = 0; blob < blobs_.size(); ++blob) {
    if (last_[blob] != kNone && kept.contains(blobs_.name(blob))) {
      values_[last_[blob]].sight |= kKept;
    }
  }
  // The next run reads the last value of a blob that is read first.
  for (const uint32_t blob : blobs_.read_first()) {
    if (last_[blob] != kNone) values_[last_[blob]].sight |= kKept;
  }
}

uint32_t NetValues::SoleReader(Value value) const {
  const std::span<const Read> all = readers(value);
  return all.size() == 1 && !is_observable(value) ? all[0].op : kNone;
}

bool NetValues::IsWrittenBetween(uint32_t blob, size_t first, size_t last) const {
  return writes_.HasBetween(blobs_.memory(blob), first, last);
}

bool NetValues::IsUsedBetween(uint32_t blob, size_t first, size_t last) const {
  return uses_.HasBetween(blobs_.memory(blob), first, last);
}

bool NetValues::InputsLastUntil(size_t op, size_t later) const {
  const std::span<const uint32_t> inputs = blobs_.inputs(op);
  return std::none_of(inputs.begin(), inputs.end(),
                      [&](uint32_t blob) { return IsWrittenBetween(blob, op, later); });
}

void NetValues::Positions::Build(size_t memories,
                                 std::vector<std::pair<uint32_t, uint32_t>> memory_and_op) {
  ends_.assign(memories + 1, 0);
  for (const auto& [memory, op] : memory_and_op) ++ends_[memory + 1];
  for (size_t m = 0; m < memories; ++m) ends_[m + 1] += ends_[m];
  ops_.resize(ends_.back());
  std::vector<size_t> next(ends_.begin(), ends_.end() - 1);
  for (const auto& [memory, op] : memory_and_op) ops_[next[memory]++] = op;  // ascending already
}

bool NetValues::Positions::HasBetween(uint32_t memory, size_t first, size_t last) const {
  const auto begin = ops_.begin() + static_cast<ptrdiff_t>(ends_[memory]);
  const auto end = ops_.begin() + static_cast<ptrdiff_t>(ends_[memory + 1]);
  const auto next = std::upper_bound(begin, end, first);
  return next != end && *next < last;
}

}  // namespace caffe2rt
