#include "caffe2_core/graph/net_check.h"

#include <algorithm>
#include <map>
#include <new>
#include <unordered_set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/utf8.h"

namespace caffe2rt {

std::vector<NetProblem> CheckNetDataflow(const NetDef& net) try {
  std::vector<NetProblem> problems;
  const bool declared = net.external_input_size() > 0;
  std::unordered_set<std::string> known(net.external_input().begin(), net.external_input().end());
  for (int i = 0; i < net.op_size(); ++i) {
    const OperatorDef& op = net.op(i);
    if (!op.device_option().node_name().empty()) {
      problems.push_back({i, "node_name must be empty for all operators at execution time."});
    }
    for (const std::string& input : op.input()) {
      if (!declared || known.contains(input)) continue;
      problems.push_back(
          {i, MakeString("op ", Shortened(op.type()), ": Source for input ", input,
                         " is unknown for net ", Shortened(net.name()), ", operator ", i)});
    }
    known.insert(op.output().begin(), op.output().end());
  }
  for (const std::string& output : net.external_output()) {
    if (known.contains(output)) continue;
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

std::vector<std::string> InputsOf(const NetDef& net) try {
  std::vector<std::string> inputs(net.external_input().begin(), net.external_input().end());
  std::unordered_set<std::string> seen(inputs.begin(), inputs.end());
  for (const OperatorDef& op : net.op()) {
    for (const std::string& input : op.input()) {
      if (seen.insert(input).second) inputs.push_back(input);
    }
    seen.insert(op.output().begin(), op.output().end());
  }
  return inputs;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::vector<std::string> OutputsOf(const NetDef& net) try {
  if (net.external_output_size() > 0) {
    return {net.external_output().begin(), net.external_output().end()};
  }
  std::vector<std::string> order;
  std::map<std::string, bool> unread;  // written and not read since
  for (const OperatorDef& op : net.op()) {
    for (const std::string& input : op.input()) {
      if (const auto it = unread.find(input); it != unread.end()) it->second = false;
    }
    for (const std::string& output : op.output()) {
      if (!unread.contains(output)) order.push_back(output);
      unread[output] = true;
    }
  }
  std::vector<std::string> outputs;
  for (const std::string& name : order) {
    if (unread[name]) outputs.push_back(name);
  }
  return outputs;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
