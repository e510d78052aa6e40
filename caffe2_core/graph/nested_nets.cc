#include "caffe2_core/graph/nested_nets.h"

#include <algorithm>
#include <new>
#include <unordered_set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/stack_limit.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/shared_memory.h"

namespace caffe2rt {
namespace {

class Collector {
 public:
  explicit Collector(NestedBlobs* blobs) : blobs_(*blobs) {}

  void AddNetsOf(const OperatorDef& op, const NestedNames& around, int depth) {
    const NestedNames names(op, around);
    for (const Argument& arg : op.arg()) {
      if (arg.has_n()) Add(arg.n(), names, depth);
      for (const NetDef& net : arg.nets()) Add(net, names, depth);
    }
  }

  // Call it at the end.
  void KeepQueues() {
    std::erase_if(blobs_.queues,
                  [this](const auto& queue) { return replaced_.contains(queue.first); });
  }

  void Add(const NetDef& net, const NestedNames& names, int depth) {
    if (depth > kMaxNetDepth) return;
    for (const OperatorDef& op : net.op()) {
      for (const std::string& name : op.input()) AddUse(names.Find(name), &read_, &blobs_.read);
      for (const std::string& name : op.control_input()) {
        AddUse(names.Find(name), &read_, &blobs_.read);
      }
      for (const std::string& name : op.output()) AddWrite(names.Find(name), QueueUse::kNone);
      AddEffects(op, names);
      if (HasNestedNets(op)) AddNetsOf(op, names, depth + 1);
    }
  }

 private:
  // What the schema declares.
  void AddEffects(const OperatorDef& op, const NestedNames& names) {
    const OpSchema* const schema = OpSchemaRegistry::Schema(op.type());
    if (schema == nullptr) return;
    for (int i = 0; i < op.input_size(); ++i) {
      if (!schema->modifies_input(i)) continue;
      AddWrite(names.Find(op.input(i)), schema->traits().queue_use);
    }
    for (const auto& [a, b] : SharedNamesOf(op)) {
      std::string first = names.Find(a).name, second = names.Find(b).name;
      if (first != second) blobs_.same_memory.emplace_back(std::move(first), std::move(second));
    }
  }

  void AddWrite(const NestedName& blob, QueueUse use) {
    AddUse(blob, &written_, &blobs_.written);
    if (blob.is_held) return;
    if (use == QueueUse::kNone) {
      replaced_.insert(blob.name);
    } else if (std::pair queue(blob.name, use);
               std::find(blobs_.queues.begin(), blobs_.queues.end(), queue) ==
               blobs_.queues.end()) {
      blobs_.queues.push_back(std::move(queue));
    }
  }

  static void AddUse(const NestedName& blob, std::unordered_set<std::string>* known,
                     std::vector<std::string>* uses) {
    if (!blob.is_held && known->insert(blob.name).second) uses->push_back(blob.name);
  }

  NestedBlobs& blobs_;
  std::unordered_set<std::string> read_, written_;
  std::unordered_set<std::string> replaced_;  // the written blobs that are not only used as queues
};

bool Lists(const google::protobuf::RepeatedPtrField<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void Replace(google::protobuf::RepeatedPtrField<std::string>* names, const std::string& from,
             const std::string& to) {
  for (std::string& name : *names) {
    if (name == from) name = to;
  }
}

// Whether an operator of the net, or of the nets in their arguments, may wait.
bool AnyMayWait(const NetDef& net, int depth);

bool MayWaitAt(const OperatorDef& op, int depth) {
  if (TraitsOf(op.type()).waits) return true;
  if (depth > kMaxNetDepth) return false;
  return std::any_of(op.arg().begin(), op.arg().end(), [depth](const Argument& arg) {
    return (arg.has_n() && AnyMayWait(arg.n(), depth + 1)) ||
           std::any_of(arg.nets().begin(), arg.nets().end(),
                       [depth](const NetDef& net) { return AnyMayWait(net, depth + 1); });
  });
}

bool AnyMayWait(const NetDef& net, int depth) {
  return std::any_of(net.op().begin(), net.op().end(),
                     [depth](const OperatorDef& op) { return MayWaitAt(op, depth); });
}

// Whether the operator runs its nets on the blobs of its own workspace.
bool SharesBlobs(const OperatorDef& op) {
  return TraitsOf(op.type()).nested_scope == NestedScope::kShared;
}

// Replaces all uses of a name.
void ReplaceIn(OperatorDef* op, const std::string& from, const std::string& to, int depth) {
  Replace(op->mutable_input(), from, to);
  Replace(op->mutable_output(), from, to);
  if (!SharesBlobs(*op) || depth > kMaxNetDepth) return;
  for (Argument& arg : *op->mutable_arg()) {
    if (!arg.has_n()) continue;
    for (OperatorDef& inner : *arg.mutable_n()->mutable_op())
      ReplaceIn(&inner, from, to, depth + 1);
  }
}

// The position of the operator from whose outputs on the name is replaced, or -1 if all uses are.
int FirstToRename(const NetDef& net, const std::string& from) {
  int last_write = net.op_size();
  bool written = false, reads_outside = false;
  for (int i = 0; i < net.op_size(); ++i) {
    if (Lists(net.op(i).input(), from) && !written) reads_outside = true;
    if (!Lists(net.op(i).output(), from)) continue;
    written = true;
    last_write = i;
  }
  return reads_outside ? last_write : -1;
}

// Renames what the nets of the operator write.
void RenameInNetsOf(OperatorDef* op, const std::string& from, const std::string& to, int depth) {
  if (!SharesBlobs(*op) || depth > kMaxNetDepth) return;
  for (Argument& arg : *op->mutable_arg()) {
    if (!arg.has_n()) continue;
    NetDef* const net = arg.mutable_n();
    const int first = FirstToRename(*net, from);
    for (int i = std::max(first, 0); i < net->op_size(); ++i) {
      OperatorDef* const inner = net->mutable_op(i);
      if (i != first) {
        ReplaceIn(inner, from, to, depth + 1);
      } else if (Lists(inner->output(), from)) {
        Replace(inner->mutable_output(), from, to);
        RenameInNetsOf(inner, from, to, depth + 1);
      }
    }
    Replace(net->mutable_external_output(), from, to);
  }
}

}  // namespace

NestedNames::NestedNames(const OperatorDef& op, const NestedNames& around) : NestedNames(around) {
  if (TraitsOf(op.type()).nested_scope != NestedScope::kBound || op.input_size() == 0) return;
  scope_ = around.Find(op.input(op.input_size() - 1)).name;
  bound_.clear();
  const Argument* const inner = GetArgumentPtr(op, "inner_blobs");
  const Argument* const indices = GetArgumentPtr(op, "outer_blobs_idx");
  if (inner == nullptr || indices == nullptr) return;
  // An index counts the inputs and then the outputs, both without the scope.
  const int inputs = op.input_size() - 1, outputs = std::max(op.output_size() - 1, 0);
  for (int i = 0; i < std::min(inner->strings_size(), indices->ints_size()); ++i) {
    const int64_t index = indices->ints(i);
    if (index < 0 || index >= int64_t{inputs} + outputs) continue;
    const int position = static_cast<int>(index);
    const std::string& outer =
        position < inputs ? op.input(position) : op.output(position - inputs);
    bound_[inner->strings(i)] = around.Find(outer);
  }
}

NestedName NestedNames::Find(const std::string& name) const {
  if (!scope_.has_value()) return {name, false};
  const auto found = bound_.find(name);
  return found != bound_.end() ? found->second : NestedName{*scope_, true};
}

bool HasNestedNets(const OperatorDef& op) {
  return std::any_of(op.arg().begin(), op.arg().end(),
                     [](const Argument& arg) { return arg.has_n() || arg.nets_size() > 0; });
}

NestedBlobs NestedBlobsOf(const OperatorDef& op) try {
  NestedBlobs blobs;
  Collector collector(&blobs);
  collector.AddNetsOf(op, NestedNames(), 1);
  collector.KeepQueues();
  return blobs;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

NestedBlobs BlobsOf(const NetDef& net) try {
  NestedBlobs blobs;
  Collector collector(&blobs);
  collector.Add(net, NestedNames(), 0);
  collector.KeepQueues();
  return blobs;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

bool MayWait(const OperatorDef& op) { return MayWaitAt(op, 0); }

int NestingDepthOf(const NetDef& net, int limit) {
  if (limit <= 1) return 1;
  int depth = 1;
  for (const OperatorDef& op : net.op()) {
    for (const Argument& arg : op.arg()) {
      if (arg.has_n()) depth = std::max(depth, 1 + NestingDepthOf(arg.n(), limit - 1));
      for (const NetDef& inner : arg.nets()) {
        depth = std::max(depth, 1 + NestingDepthOf(inner, limit - 1));
      }
      if (depth >= limit) return depth;
    }
  }
  return depth;
}

void CheckStackForNets(int depth) {
  const size_t levels = StackLevels(kStackBytesPerNet);
  CAFFE_ENFORCE(depth <= 1 || static_cast<size_t>(depth) <= levels, "nets are nested ", depth,
                " deep, want at most ", levels, StackRemedy());
}

void CheckStackForNestedRun() {
  CAFFE_ENFORCE(StackLevels(kStackBytesPerNet) > 0, "there is no room for a nested net",
                StackRemedy());
}

void RenameOutput(OperatorDef* op, int index, const std::string& name) {
  const std::string from = op->output(index);
  if (from == name) return;
  op->set_output(index, name);
  RenameInNetsOf(op, from, name, 1);
}

}  // namespace caffe2rt
