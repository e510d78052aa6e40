#include "caffe2_core/graph/net_check.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <new>
#include <unordered_set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/nested_nets.h"
#include "caffe2_core/graph/net_blobs.h"
#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt {
namespace {

// "; operator 3 writes it later", or "" if no operator after `op` writes the blob. REQUIRES: no
// operator before it does.
std::string LaterWriter(const NetBlobs& blobs, uint32_t blob, uint32_t op) {
  const uint32_t writer = blobs.first_writer(blob);
  if (writer == NetBlobs::kNone || writer == op) return "";
  return MakeString("; operator ", writer, " writes it later");
}

// "; add external_input: "w", "b" to net "n", ...": the remedy for inputs that it does not declare.
std::string UndeclaredInputsRemedy(const NetDef& net, const std::vector<std::string>& undeclared) {
  constexpr size_t kMost = 20;
  std::vector<std::string> shown;
  for (size_t i = 0; i < std::min(undeclared.size(), kMost); ++i)
    shown.push_back(MakeString("\"", Shortened(undeclared[i]), "\""));
  const size_t others = undeclared.size() - shown.size();
  return MakeString("; add external_input: ", absl::StrJoin(shown, ", "),
                    others > 0 ? MakeString(" and ", others, " more") : "", " to net \"",
                    Shortened(net.name()), "\", which must list all of its inputs or none");
}

bool ReadsUnlistedBlobs(const OperatorDef& op) {
  const OpSchema* const schema = OpSchemaRegistry::Schema(op.type());
  return schema != nullptr && schema->accesses_unlisted_blobs(op);
}

}  // namespace

std::vector<NetProblem> CheckNetDataflow(const NetDef& net) try {
  std::vector<NetProblem> problems;
  const NetBlobs blobs(net);
  const std::unordered_set<std::string> declared(net.external_input().begin(),
                                                 net.external_input().end());
  std::vector<std::string> undeclared;  // without those that an operator writes later
  std::unordered_set<std::string> seen;
  size_t first_undeclared = 0;  // the problem that states the remedy for all of them
  for (int i = 0; i < net.op_size(); ++i) {
    const OperatorDef& op = net.op(i);
    if (!op.device_option().node_name().empty()) {
      problems.push_back({i, "node_name must be empty for all operators at execution time."});
    }
    const auto position = static_cast<uint32_t>(i);
    const auto writers = blobs.input_writers(position);
    for (int k = 0; k < op.input_size() && !declared.empty(); ++k) {
      const std::string& input = op.input(k);
      if (writers[static_cast<size_t>(k)] != NetBlobs::kNone || declared.contains(input)) continue;
      const std::string later =
          LaterWriter(blobs, blobs.inputs(position)[static_cast<size_t>(k)], position);
      if (undeclared.empty()) first_undeclared = problems.size();
      if (later.empty() && seen.insert(input).second) undeclared.push_back(input);
      problems.push_back(
          {i, MakeString("op ", Shortened(op.type()), ": Source for input ", input,
                         " is unknown for net ", Shortened(net.name()), ", operator ", i, later)});
    }
  }
  if (!undeclared.empty())
    problems[first_undeclared].text += UndeclaredInputsRemedy(net, undeclared);
  for (const std::string& output : net.external_output()) {
    if (blobs.Writes(output) || declared.contains(output)) continue;
    problems.push_back(
        {-1, MakeString("Some of the blobs are declared as output but never produced by "
                        "the net ",
                        net.name(), ", the first one is ", output)});
    break;
  }
  return problems;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::vector<OverwrittenOutput> OverwrittenOutputsOf(const NetDef& net) try {
  const NetBlobs blobs(net);
  std::vector<OverwrittenOutput> found;
  // By blob: the operator whose value has not been read yet. Positions before `all_read` do not
  // count.
  std::vector<uint32_t> unread(blobs.size(), NetBlobs::kNone);
  uint32_t all_read = 0;
  for (int i = 0; i < net.op_size(); ++i) {
    const OperatorDef& op = net.op(i);
    const auto position = static_cast<uint32_t>(i);
    for (const uint32_t blob : blobs.inputs(position)) unread[blob] = NetBlobs::kNone;
    if (HasNestedNets(op)) {
      for (const std::string& name : NestedBlobsOf(op).read) {
        const uint32_t blob = blobs.Find(name);
        if (blob != NetBlobs::kNone) unread[blob] = NetBlobs::kNone;
      }
    }
    if (ReadsUnlistedBlobs(op)) all_read = position;
    for (const uint32_t blob : blobs.outputs(position)) {
      const uint32_t lost = unread[blob];
      if (lost != NetBlobs::kNone && lost >= all_read && lost != position) {
        found.push_back({.op = static_cast<int>(lost), .by = i, .output = blobs.name(blob)});
      }
      unread[blob] = position;
    }
  }
  return found;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::vector<std::string> InputsOf(const NetDef& net) try {
  std::vector<std::string> inputs(net.external_input().begin(), net.external_input().end());
  const std::unordered_set<std::string> declared(inputs.begin(), inputs.end());
  const NetBlobs blobs(net);
  for (const uint32_t blob : blobs.read_first()) {
    if (!declared.contains(blobs.name(blob))) inputs.push_back(blobs.name(blob));
  }
  return inputs;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::vector<std::string> UnfilledInputsOf(const NetDef& net,
                                          const std::vector<const NetDef*>& init_nets) try {
  std::unordered_set<std::string> filled;
  for (const NetDef* init : init_nets) {
    for (std::string& name : NamesWrittenBy(*init)) filled.insert(std::move(name));
  }
  std::vector<std::string> unfilled;
  for (std::string& input : InputsOf(net)) {
    if (!filled.contains(input)) unfilled.push_back(std::move(input));
  }
  return unfilled;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::vector<std::string> OutputsOf(const NetDef& net) try {
  if (net.external_output_size() > 0) {
    return {net.external_output().begin(), net.external_output().end()};
  }
  const NetBlobs blobs(net);
  std::vector<std::string> outputs;
  for (const uint32_t blob : blobs.unread()) outputs.push_back(blobs.name(blob));
  return outputs;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::vector<std::string> NamesWrittenBy(const NetDef& net) try {
  const NetBlobs blobs(net);
  std::vector<std::string> names;
  for (const uint32_t blob : blobs.written()) names.push_back(blobs.name(blob));
  return names;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
