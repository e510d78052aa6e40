// Memonger: lets blobs of a net share memory, by giving them one name.
//
// Two blobs may share a name if every operator that uses the first ends before any operator that uses
// the second begins, in every order that the dependencies of the net allow. Whether that holds is read
// from the sets of predecessors of the operators, so that the result is right for executors that run
// branches at the same time, too.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2rt/caffe2.pb.h"
#include "python/engine/frontend_operators.h"
#include "python/engine/text.h"

namespace caffe2rt {
namespace {

namespace nb = nanobind;

using Bits = std::vector<uint64_t>;

bool Has(const Bits& bits, int i) {
  return (bits[static_cast<size_t>(i) / 64] >> (i % 64) & 1) != 0;
}
void Set(Bits* bits, int i) { (*bits)[static_cast<size_t>(i) / 64] |= uint64_t{1} << (i % 64); }
void Unite(Bits* bits, const Bits& other) {
  for (size_t i = 0; i < bits->size(); ++i) (*bits)[i] |= other[i];
}

// For each operator the operators that must end before it begins.
std::vector<Bits> Predecessors(const NetDef& net) {
  struct Users {
    int writer = -1;
    std::vector<int> readers;
  };
  const auto words = (static_cast<size_t>(net.op_size()) + 63) / 64;
  std::vector<Bits> before(static_cast<size_t>(net.op_size()), Bits(words));
  std::unordered_map<std::string, Users> users;
  for (int i = 0; i < net.op_size(); ++i) {
    Bits& mine = before[static_cast<size_t>(i)];
    const auto after = [&](int other) {
      if (other < 0 || other == i) return;
      Set(&mine, other);
      Unite(&mine, before[static_cast<size_t>(other)]);
    };
    const auto read = [&](const std::string& blob) {
      Users& of = users[blob];
      after(of.writer);
      of.readers.push_back(i);
    };
    for (const std::string& blob : net.op(i).input()) read(blob);
    for (const std::string& blob : net.op(i).control_input()) read(blob);
    for (const std::string& blob : net.op(i).output()) {
      Users& of = users[blob];
      after(of.writer);
      for (const int reader : of.readers) after(reader);
      of = {i, {}};
    }
  }
  return before;
}

// For executors that run the operators in the order of the net.
std::vector<Bits> PredecessorsInOrder(const NetDef& net) {
  const auto count = static_cast<size_t>(net.op_size());
  std::vector<Bits> before(count, Bits((count + 63) / 64));
  for (int i = 1; i < net.op_size(); ++i) {
    before[static_cast<size_t>(i)] = before[static_cast<size_t>(i) - 1];
    Set(&before[static_cast<size_t>(i)], i - 1);
  }
  return before;
}

struct BlobUse {
  std::string name;
  std::vector<int> operators;  // that use it, in order
  int64_t size = 0;            // in elements; 0 if not known
  int device_type = 0;
  int device_id = 0;
};

// What the caller says about the blobs.
struct Request {
  std::set<int> operators;  // that may be renamed
  std::set<std::string> shareable;
  std::set<std::string> kept;  // names that stay
  std::map<std::string, std::vector<int>> shapes;
  std::string prefix;  // of new names
};

// Names that the operators do not only use as inputs and outputs: those of arguments, which may
// denote blobs of nested nets, and those of operators with nested nets.
std::set<std::string> FixedNames(const NetDef& net) {
  std::set<std::string> fixed(net.external_input().begin(), net.external_input().end());
  fixed.insert(net.external_output().begin(), net.external_output().end());
  for (const OperatorDef& op : net.op()) {
    bool nested = false;
    for (const Argument& arg : op.arg()) {
      nested = nested || arg.has_n() || arg.nets_size() > 0;
      fixed.insert(arg.strings().begin(), arg.strings().end());
      if (arg.has_s()) fixed.insert(arg.s());
    }
    fixed.insert(op.control_input().begin(), op.control_input().end());
    if (!nested) continue;
    fixed.insert(op.input().begin(), op.input().end());
    fixed.insert(op.output().begin(), op.output().end());
  }
  return fixed;
}

void CheckEnforcedInPlace(const OperatorDef& op) {
  const OpSchema* const schema = OpSchemaRegistry::Schema(op.type());
  if (schema == nullptr) return;
  for (int in = 0; in < op.input_size(); ++in) {
    for (int out = 0; out < op.output_size(); ++out) {
      CAFFE_ENFORCE(!schema->inplace_enforced(in, out) || op.input(in) == op.output(out),
                    "operator ", op.type(), " must write output ", out, " (\"", op.output(out),
                    "\") in place of input ", in, " (\"", op.input(in), "\")");
    }
  }
}

int64_t SizeOf(const Request& request, const std::string& blob) {
  const auto found = request.shapes.find(blob);
  if (found == request.shapes.end()) return 0;
  int64_t size = 1;
  for (const int dim : found->second) size *= dim;
  return size;
}

// The blobs that may get another name, in the order in which they are written first.
std::vector<BlobUse> Candidates(const NetDef& net, const Request& request) {
  const std::set<std::string> fixed = FixedNames(net);
  std::map<std::string, size_t> positions;
  std::vector<BlobUse> uses;
  std::set<std::string> excluded(request.kept);
  for (int i = 0; i < net.op_size(); ++i) {
    const OperatorDef& op = net.op(i);
    const bool may_change = request.operators.count(i) != 0;
    if (may_change) CheckEnforcedInPlace(op);
    const auto use = [&](const std::string& blob, bool is_output) {
      auto found = positions.find(blob);
      if (found == positions.end()) {
        if (!is_output) excluded.insert(blob);  // it has a value before the net runs
        found = positions.emplace(blob, uses.size()).first;
        uses.push_back({blob,
                        {},
                        SizeOf(request, blob),
                        op.device_option().device_type(),
                        op.device_option().device_id()});
      }
      BlobUse& of = uses[found->second];
      if (of.operators.empty() || of.operators.back() != i) of.operators.push_back(i);
      if (!may_change || of.device_type != op.device_option().device_type() ||
          of.device_id != op.device_option().device_id()) {
        excluded.insert(blob);
      }
    };
    for (const std::string& blob : op.input()) use(blob, false);
    for (const std::string& blob : op.output()) use(blob, true);
  }
  std::erase_if(uses, [&](const BlobUse& of) {
    return excluded.count(of.name) != 0 || fixed.count(of.name) != 0 ||
           request.shareable.count(of.name) == 0;
  });
  return uses;
}

bool EndsBefore(const BlobUse& old, const BlobUse& fresh, const std::vector<Bits>& before) {
  return std::all_of(fresh.operators.begin(), fresh.operators.end(), [&](int user) {
    const Bits& predecessors = before[static_cast<size_t>(user)];
    return std::all_of(old.operators.begin(), old.operators.end(),
                       [&](int other) { return Has(predecessors, other); });
  });
}

// The slots: lists of blobs that may have one name. Each blob takes the free slot of the nearest
// size.
std::vector<std::vector<BlobUse>> Slots(std::vector<BlobUse> blobs,
                                        const std::vector<Bits>& before) {
  std::vector<std::vector<BlobUse>> slots;
  for (BlobUse& blob : blobs) {
    std::vector<BlobUse>* best = nullptr;
    int64_t best_difference = 0;
    for (std::vector<BlobUse>& slot : slots) {
      const BlobUse& last = slot.back();
      if (last.device_type != blob.device_type || last.device_id != blob.device_id ||
          !EndsBefore(last, blob, before)) {
        continue;
      }
      const int64_t difference = std::abs(last.size - blob.size);
      if (best != nullptr && difference >= best_difference) continue;
      best = &slot;
      best_difference = difference;
    }
    if (best == nullptr) best = &slots.emplace_back();
    best->push_back(std::move(blob));
  }
  return slots;
}

std::set<std::string> AllNames(const NetDef& net) {
  std::set<std::string> names = FixedNames(net);
  for (const OperatorDef& op : net.op()) {
    names.insert(op.input().begin(), op.input().end());
    names.insert(op.output().begin(), op.output().end());
  }
  return names;
}

NetDef WithSharedBlobs(NetDef net, const Request& request, const std::vector<Bits>& before) {
  std::set<std::string> used = AllNames(net);
  std::map<std::string, std::string> renamed;
  int number = 0;
  for (const std::vector<BlobUse>& slot : Slots(Candidates(net, request), before)) {
    if (slot.size() < 2) continue;
    std::string name;
    do {
      name = MakeString(request.prefix, "__m", number++, "_shared");
    } while (!used.insert(name).second);
    for (const BlobUse& blob : slot) renamed[blob.name] = name;
  }
  const auto rename = [&](std::string& blob) {
    const auto found = renamed.find(blob);
    if (found != renamed.end()) blob = found->second;
  };
  for (OperatorDef& op : *net.mutable_op()) {
    for (std::string& blob : *op.mutable_input()) rename(blob);
    for (std::string& blob : *op.mutable_output()) rename(blob);
  }
  return net;
}

std::set<std::string> StringSet(const std::set<Text>& texts) {
  std::set<std::string> strings;
  for (const Text& text : texts) strings.insert(text.str());
  return strings;
}

// `heads` are the blobs at which the original begins its search; the predecessors are known without
// them.
nb::bytes RecycleForDag(const Text& net, const std::vector<Text>& /*heads*/,
                        const std::vector<int>& operators, const std::set<Text>& shareable,
                        const Text& namescope, const std::set<Text>& kept,
                        const std::map<Text, std::vector<int>>& shapes) {
  NetDef def = Parsed<NetDef>(net, "net");
  Request request{{operators.begin(), operators.end()},
                  StringSet(shareable),
                  StringSet(kept),
                  {},
                  namescope.str()};
  for (const auto& [blob, dims] : shapes) request.shapes[blob.str()] = dims;
  const std::vector<Bits> before = Predecessors(def);
  return Serialized(WithSharedBlobs(std::move(def), request, before));
}

nb::bytes OptimizeInferenceNet(const Text& net, const std::vector<Text>& static_blobs) {
  NetDef def = Parsed<NetDef>(net, "net");
  Request request;
  for (const Text& blob : static_blobs) request.kept.insert(blob.str());
  for (int i = 0; i < def.op_size(); ++i) {
    request.operators.insert(i);
    request.shareable.insert(def.op(i).output().begin(), def.op(i).output().end());
  }
  const bool in_order = def.type().empty() || def.type() == "simple";
  const std::vector<Bits> before = in_order ? PredecessorsInOrder(def) : Predecessors(def);
  return Serialized(WithSharedBlobs(std::move(def), request, before));
}

}  // namespace

void BindFrontendMemonger(nb::module_& m) {
  m.def("memonger_compute_blob_recycling_for_dag", &RecycleForDag);
  m.def("memonger_optimize_inference_net", &OptimizeInferenceNet);
}

}  // namespace caffe2rt
