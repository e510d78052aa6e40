#include "caffe2_core/graph/nested_nets.h"

#include <algorithm>
#include <new>
#include <string_view>
#include <unordered_set>

#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/graph/arguments.h"

namespace caffe2rt {
namespace {

class Collector {
 public:
  explicit Collector(NestedBlobs* blobs) : blobs_(*blobs) {}

  void AddNetsOf(const OperatorDef& op, int depth) {
    for (const Argument& arg : op.arg()) {
      if (arg.has_n()) Add(arg.n(), depth);
      for (const NetDef& net : arg.nets()) Add(net, depth);
    }
  }

 private:
  void Add(const NetDef& net, int depth) {
    if (depth > kMaxNetDepth) return;
    for (const OperatorDef& op : net.op()) {
      for (const std::string& name : op.input()) {
        if (read_.insert(name).second) blobs_.read.push_back(name);
      }
      for (const std::string& name : op.control_input()) {
        if (read_.insert(name).second) blobs_.read.push_back(name);
      }
      for (const std::string& name : op.output()) {
        if (written_.insert(name).second) blobs_.written.push_back(name);
      }
      AddNetsOf(op, depth + 1);
    }
  }

  NestedBlobs& blobs_;
  std::unordered_set<std::string_view> read_, written_;
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

// Whether the operator runs its nets on the blobs of its own workspace.
bool SharesBlobs(const OperatorDef& op) { return op.type() == "If" || op.type() == "While"; }

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

bool HasNestedNets(const OperatorDef& op) {
  return std::any_of(op.arg().begin(), op.arg().end(),
                     [](const Argument& arg) { return arg.has_n() || arg.nets_size() > 0; });
}

NestedBlobs NestedBlobsOf(const OperatorDef& op) try {
  NestedBlobs blobs;
  Collector(&blobs).AddNetsOf(op, 1);
  return blobs;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

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

void RenameOutput(OperatorDef* op, int index, const std::string& name) {
  const std::string from = op->output(index);
  if (from == name) return;
  op->set_output(index, name);
  RenameInNetsOf(op, from, name, 1);
}

}  // namespace caffe2rt
