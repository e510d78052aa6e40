#pragma once
// Functions that build nets, and transform::Graph, a net as nodes and edges.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "caffe2/core/common.h"
#include "caffe2/core/logging.h"
#include "caffe2/proto/caffe2_pb.h"
#include "caffe2/utils/proto_utils.h"
#include "caffe2/utils/string_utils.h"
#include "caffe2_core/graph/arguments.h"

namespace caffe2 {
namespace transform {

// An operator. `parents` are the nodes that made its inputs, and `children` those that read its
// outputs: each with the names of the blobs.
struct Node {
  Node() = default;
  Node(const OperatorDef& op, bool active, std::map<int, std::vector<string>> parents,
       std::map<int, std::vector<string>> children)
      : op(op), active(active), parents(std::move(parents)), children(std::move(children)) {}

  OperatorDef op;
  bool active = true;
  std::map<int, std::vector<string>> parents;
  std::map<int, std::vector<string>> children;
};

// THROWS std::out_of_range for an index that is not one of a node.
struct Graph {
  explicit Graph(const NetDef& net)
      : net_(net),
        external_input_(net.external_input().begin(), net.external_input().end()),
        external_output_(net.external_output().begin(), net.external_output().end()) {
    std::unordered_map<string, int> writers;
    for (const OperatorDef& op : net.op()) {
      const int index = static_cast<int>(nodes_.size());
      nodes_.emplace_back(op, true, std::map<int, std::vector<string>>(),
                          std::map<int, std::vector<string>>());
      for (const string& blob : op.input()) {
        const auto writer = writers.find(blob);
        if (writer == writers.end()) continue;
        node(writer->second).children[index].push_back(blob);
        node(index).parents[writer->second].push_back(blob);
      }
      for (const string& blob : op.output()) writers[blob] = index;
    }
  }

  // The blobs that the subgraph reads from outside with the node that makes each, and the blobs that
  // are read outside with the node that reads each. The node is -1 for an external input or output.
  // Sorted, without duplicates.
  const std::vector<std::pair<string, int>> GetSubgraphInput(const std::vector<int>& subgraph) {
    return Border(
        subgraph, &Node::parents, external_input_,
        [](const OperatorDef& op) -> auto& { return op.input(); });
  }
  const std::vector<std::pair<string, int>> GetSubgraphOutput(const std::vector<int>& subgraph) {
    return Border(
        subgraph, &Node::children, external_output_,
        [](const OperatorDef& op) -> auto& { return op.output(); });
  }

  // The net of the active nodes: parents come first, otherwise the order is that of the nodes.
  // THROWS if the graph has a cycle.
  NetDef GetNetDef() {
    NetDef net = net_;
    net.clear_op();
    std::vector<int> waiting(size(), 0);
    std::set<int> ready;
    size_t active = 0;
    for (size_t i = 0; i < size(); ++i) {
      if (!node(i).active) continue;
      ++active;
      for (const auto& [parent, blobs] : node(i).parents)
        waiting[i] += node(static_cast<size_t>(parent)).active ? 1 : 0;
      if (waiting[i] == 0) ready.insert(static_cast<int>(i));
    }
    while (!ready.empty()) {
      const auto first = static_cast<size_t>(*ready.begin());
      ready.erase(ready.begin());
      *net.add_op() = node(first).op;
      for (const auto& [child, blobs] : node(first).children)
        if (is_node_active(static_cast<size_t>(child)) &&
            --waiting[static_cast<size_t>(child)] == 0)
          ready.insert(child);
    }
    CAFFE_ENFORCE_EQ(static_cast<size_t>(net.op_size()), active,
                     "operators outside of cycles, and active operators");
    return net;
  }

  // Removes the edges of these nodes, and the nodes from the net.
  void DeactivateSubgraph(std::vector<int> subgraph) {
    for (const int index : subgraph) {
      Node& removed = node(static_cast<size_t>(index));
      for (const auto& [parent, blobs] : removed.parents)
        node(static_cast<size_t>(parent)).children.erase(index);
      for (const auto& [child, blobs] : removed.children)
        node(static_cast<size_t>(child)).parents.erase(index);
      removed.parents.clear();
      removed.children.clear();
      removed.active = false;
    }
  }

  size_t size() const { return nodes_.size(); }
  void push_node(const Node& new_node) { nodes_.push_back(new_node); }
  void resize_nodes(size_t new_size) { nodes_.resize(new_size); }
  const Node& node(size_t index) const { return nodes_.at(index); }
  Node& node(size_t index) { return nodes_.at(index); }
  bool is_node_active(size_t index) { return node(index).active; }
  const std::set<string>& external_input() const { return external_input_; }
  const std::set<string>& external_output() const { return external_output_; }

 private:
  template <class BlobsOf>
  std::vector<std::pair<string, int>> Border(const std::vector<int>& subgraph,
                                             std::map<int, std::vector<string>> Node::*edges,
                                             const std::set<string>& external, BlobsOf blobs_of) {
    const std::set<int> inside(subgraph.begin(), subgraph.end());
    std::set<std::pair<string, int>> border;
    for (const int index : subgraph) {
      const Node& member = node(static_cast<size_t>(index));
      for (const auto& [neighbor, blobs] : member.*edges)
        if (!inside.contains(neighbor))
          for (const string& blob : blobs) border.emplace(blob, neighbor);
      for (const string& blob : blobs_of(member.op))
        if (external.contains(blob)) border.emplace(blob, -1);
    }
    return {border.begin(), border.end()};
  }

  NetDef net_;
  std::set<string> external_input_;
  std::set<string> external_output_;
  std::vector<Node> nodes_;
};

}  // namespace transform

inline OperatorDef* AddOp(NetDef* net, string op_type, std::vector<string> inputs,
                          std::vector<string> outputs) {
  CAFFE_ENFORCE(net != nullptr, "AddOp to a null net");
  OperatorDef* op = net->add_op();
  *op = CreateOperatorDef(op_type, "", inputs, outputs);
  return op;
}

// Whether `s` is one of the alternatives of the pattern, "a|b|c"; "*" is every string.
inline bool MatchStrings(string p, string s) {
  if (p == "*") return true;
  const std::vector<string> alternatives = split('|', p);
  return std::find(alternatives.begin(), alternatives.end(), s) != alternatives.end();
}

// Whether each argument of p_op is one of g_op. String values of p_op are patterns.
inline bool MatchArguments(const OperatorDef& p_op, const OperatorDef& g_op) {
  return std::all_of(p_op.arg().begin(), p_op.arg().end(), [&g_op](const Argument& wanted) {
    return std::any_of(g_op.arg().begin(), g_op.arg().end(), [&wanted](const Argument& found) {
      if (wanted.name() != found.name()) return false;
      if (wanted.has_s() && found.has_s()) return MatchStrings(wanted.s(), found.s());
      return wanted.SerializeAsString() == found.SerializeAsString();
    });
  });
}

}  // namespace caffe2
