#include "python/engine/net_graph.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {
namespace {

const char* KindOf(const NetNode& node) { return node.is_operator ? "operator" : "tensor"; }

void EnsureKind(const NetNode& node, bool is_operator) {
  CAFFE_ENFORCE(node.is_operator == is_operator, "node \"", node.name, "\" is of kind ",
                KindOf(node), ", want ", is_operator ? "operator" : "tensor");
}

void RemoveOne(std::vector<NetNode*>* list, const NetNode* node) {
  const auto found = std::find(list->begin(), list->end(), node);
  if (found != list->end()) list->erase(found);
}

void Append(std::vector<NetNode*>* list, const std::vector<NetNode*>& more) {
  list->insert(list->end(), more.begin(), more.end());
}

// For each position of an operator the positions that come after it.
class Order {
 public:
  explicit Order(size_t count) : next_(count), waits_(count) {}
  void Before(size_t first, size_t second) {
    if (first != second && next_[first].insert(second).second) ++waits_[second];
  }
  // The least position first. Shorter than the count if positions wait for each other.
  std::vector<size_t> Sorted() {
    std::set<size_t> ready;
    for (size_t i = 0; i < waits_.size(); ++i) {
      if (waits_[i] == 0) ready.insert(i);
    }
    std::vector<size_t> sorted;
    while (!ready.empty()) {
      const size_t i = *ready.begin();
      ready.erase(ready.begin());
      sorted.push_back(i);
      for (const size_t after : next_[i]) {
        if (--waits_[after] == 0) ready.insert(after);
      }
    }
    return sorted;
  }

 private:
  std::vector<std::set<size_t>> next_;
  std::vector<size_t> waits_;
};

bool Contains(const std::vector<NetNode*>& list, const NetNode* node) {
  return std::find(list.begin(), list.end(), node) != list.end();
}

}  // namespace

NetGraph::NetGraph(const NetDef& net)
    : external_inputs_(net.external_input().begin(), net.external_input().end()),
      external_outputs_(net.external_output().begin(), net.external_output().end()) {
  std::unordered_map<std::string, NetNode*> values;
  for (const OperatorDef& op : net.op()) {
    NetNode* const node = AddOperator(op);
    for (const std::string& blob : op.input()) {
      NetNode*& value = values[blob];
      if (value == nullptr) value = AddTensor(blob);
      Connect(value, node);
    }
    for (const std::string& blob : op.output()) {
      NetNode* const value = AddTensor(blob);
      values[blob] = value;
      Connect(node, value);
    }
  }
  for (const std::string& blob : external_inputs_) {
    if (values.emplace(blob, nullptr).second) AddTensor(blob);
  }
}

NetNode* NetGraph::Add(bool is_operator, const std::string& name) {
  nodes_.push_back(std::make_shared<NetNode>());
  NetNode* const node = nodes_.back().get();
  node->is_operator = is_operator;
  node->name = name;
  return node;
}

NetNode* NetGraph::AddOperator(const OperatorDef& op) {
  NetNode* const node = Add(true, op.type());
  node->annotation->op = op;
  node->annotation->device_type = op.device_option().device_type();
  return node;
}

NetNode* NetGraph::AddTensor(const std::string& name) { return Add(false, name); }

NetNode* NetGraph::AddUniqueTensor(const std::string& prefix) {
  std::set<std::string> used;
  for (const auto& node : nodes_) {
    if (!node->is_operator) used.insert(node->name);
  }
  std::string name = prefix;
  for (int i = 0; used.count(name) != 0; ++i) name = MakeString(prefix, "_", i);
  return AddTensor(name);
}

void NetGraph::Delete(NetNode* node) {
  for (NetNode* const from : node->inputs) std::erase(from->outputs, node);
  for (NetNode* const to : node->outputs) std::erase(to->inputs, node);
  node->inputs.clear();
  node->outputs.clear();
  node->is_deleted = true;
  std::erase_if(nodes_,
                [node](const std::shared_ptr<NetNode>& other) { return other.get() == node; });
}

void NetGraph::Connect(NetNode* from, NetNode* to) {
  CAFFE_ENFORCE(from->is_operator != to->is_operator, "an edge joins an operator and a tensor; \"",
                from->name, "\" and \"", to->name, "\" are both of kind ", KindOf(*from));
  from->outputs.push_back(to);
  to->inputs.push_back(from);
}

void NetGraph::Disconnect(NetNode* from, NetNode* to) {
  RemoveOne(&from->outputs, to);
  RemoveOne(&to->inputs, from);
}

void NetGraph::Replace(NetNode* old, NetNode* fresh) {
  EnsureKind(*fresh, old->is_operator);
  if (old == fresh) return;
  for (NetNode* const from : old->inputs)
    std::replace(from->outputs.begin(), from->outputs.end(), old, fresh);
  for (NetNode* const to : old->outputs)
    std::replace(to->inputs.begin(), to->inputs.end(), old, fresh);
  Append(&fresh->inputs, std::exchange(old->inputs, {}));
  Append(&fresh->outputs, std::exchange(old->outputs, {}));
}

void NetGraph::ReplaceUses(NetNode* old, NetNode* fresh) {
  EnsureKind(*old, false);
  EnsureKind(*fresh, false);
  if (old == fresh) return;
  for (NetNode* const to : old->outputs)
    std::replace(to->inputs.begin(), to->inputs.end(), old, fresh);
  Append(&fresh->outputs, std::exchange(old->outputs, {}));
}

void NetGraph::ReplaceReader(NetNode* old, NetNode* fresh) {
  EnsureKind(*old, true);
  EnsureKind(*fresh, true);
  if (old == fresh) return;
  for (NetNode* const from : old->inputs)
    std::replace(from->outputs.begin(), from->outputs.end(), old, fresh);
  Append(&fresh->inputs, std::exchange(old->inputs, {}));
}

void NetGraph::ReplaceWriter(NetNode* tensor, NetNode* fresh) {
  EnsureKind(*tensor, false);
  EnsureKind(*fresh, true);
  CAFFE_ENFORCE(!tensor->inputs.empty(), "no operator writes tensor \"", tensor->name,
                "\": use createEdge");
  Disconnect(tensor->inputs.front(), tensor);
  Connect(fresh, tensor);
}

void NetGraph::ReplaceNodes(const std::vector<NetNode*>& removed, NetNode* fresh,
                            const std::vector<NetNode*>& inputs,
                            const std::vector<NetNode*>& outputs) {
  EnsureKind(*fresh, true);
  for (const NetNode* const tensor : inputs) EnsureKind(*tensor, false);
  for (const NetNode* const tensor : outputs) EnsureKind(*tensor, false);
  for (NetNode* const node : removed) {
    if (node != fresh && !Contains(inputs, node) && !Contains(outputs, node)) Delete(node);
  }
  for (NetNode* const tensor : inputs) Connect(tensor, fresh);
  for (NetNode* const tensor : outputs) Connect(fresh, tensor);
}

void NetGraph::AddDeclarations(const std::vector<std::pair<std::string, DeviceOption>>& devices) {
  std::map<std::string, DeviceOption> unused(devices.begin(), devices.end());
  const auto add = [&](const char* type, const std::string& blob) {
    OperatorDef op;
    op.set_type(type);
    const auto found = unused.find(blob);
    if (found != unused.end()) {
      *op.mutable_device_option() = found->second;
      unused.erase(found);
    }
    return AddOperator(op);
  };
  std::vector<NetNode*> tensors;
  for (const auto& node : nodes_) {
    if (!node->is_operator) tensors.push_back(node.get());
  }
  for (NetNode* const tensor : tensors) {
    if (tensor->inputs.empty() && !tensor->outputs.empty())
      Connect(add("Declare", tensor->name), tensor);
  }
  for (const std::string& blob : external_outputs_) {
    const auto last = std::find_if(tensors.rbegin(), tensors.rend(),
                                   [&](const NetNode* node) { return node->name == blob; });
    if (last != tensors.rend()) Connect(*last, add("Export", blob));
  }
  external_outputs_.clear();
  std::string names;
  for (const auto& [name, device] : unused) names += MakeString(" \"", name, "\"");
  CAFFE_ENFORCE(unused.empty(),
                "the device map has names that are no inputs or outputs of the net:", names);
}

std::vector<NetNode*> NetGraph::ExecutionOrder() const {
  std::vector<NetNode*> operators;
  std::unordered_map<const NetNode*, size_t> positions;
  std::map<std::string, std::vector<NetNode*>> values;  // by blob, in the order of creation
  for (const auto& node : nodes_) {
    if (node->is_operator) {
      positions[node.get()] = operators.size();
      operators.push_back(node.get());
    } else {
      values[node->name].push_back(node.get());
    }
  }
  Order order(operators.size());
  for (const auto& [blob, versions] : values) {
    for (size_t i = 0; i < versions.size(); ++i) {
      for (const NetNode* const writer : versions[i]->inputs) {
        for (const NetNode* const reader : versions[i]->outputs)
          order.Before(positions[writer], positions[reader]);
        if (i == 0) continue;
        for (const NetNode* const user : versions[i - 1]->inputs)
          order.Before(positions[user], positions[writer]);
        for (const NetNode* const user : versions[i - 1]->outputs)
          order.Before(positions[user], positions[writer]);
      }
    }
  }
  std::vector<NetNode*> sorted;
  for (const size_t i : order.Sorted()) sorted.push_back(operators[i]);
  CAFFE_ENFORCE_EQ(
      sorted.size(), operators.size(),
      "operators that can be put in an order: the others wait for each other's outputs");
  return sorted;
}

NetDef NetGraph::ToNet(NetDef base) const {
  base.clear_op();
  base.clear_external_input();
  base.clear_external_output();
  for (const NetNode* const node : ExecutionOrder()) {
    OperatorDef& op = *base.add_op();
    if (node->annotation->op) {
      op = *node->annotation->op;
    } else {
      op.set_type(node->name);
    }
    op.clear_input();
    op.clear_output();
    for (const NetNode* const tensor : node->inputs) op.add_input(tensor->name);
    for (const NetNode* const tensor : node->outputs) op.add_output(tensor->name);
  }
  std::set<std::string> given;
  std::set<std::string> all;
  for (const auto& node : nodes_) {
    if (node->is_operator) continue;
    all.insert(node->name);
    if (node->inputs.empty()) given.insert(node->name);
  }
  for (const std::string& blob : external_inputs_) {
    if (given.count(blob) != 0) base.add_external_input(blob);
  }
  for (const std::string& blob : external_outputs_) {
    if (all.count(blob) != 0) base.add_external_output(blob);
  }
  return base;
}

// --- subgraphs ---

void InduceEdges(NetSubgraph* subgraph) {
  const std::set<const NetNode*> inside(subgraph->nodes.begin(), subgraph->nodes.end());
  subgraph->edges.clear();
  for (NetNode* const from : subgraph->nodes) {
    for (NetNode* const to : from->outputs) {
      if (inside.count(to) != 0) subgraph->edges.emplace_back(from, to);
    }
  }
}

std::string ToDot(const NetSubgraph& subgraph) {
  std::unordered_map<const NetNode*, size_t> numbers;
  std::string dot = "digraph G {\nrankdir=LR\n";
  for (const NetNode* const node : subgraph.nodes) {
    std::string label;
    for (const char c : node->name) {
      if (c == '"' || c == '\\') label += '\\';
      label += c;
    }
    const size_t number = numbers.emplace(node, numbers.size()).first->second;
    dot += MakeString("n", number, " [label=\"", label, "\"",
                      node->is_operator ? ", shape=box" : "", "];\n");
  }
  for (const auto& [from, to] : subgraph.edges)
    dot += MakeString("n", numbers[from], " -> n", numbers[to], ";\n");
  return dot + "}\n";
}

// --- patterns ---

namespace {

class Matcher {
 public:
  explicit Matcher(const NetPattern& pattern) : pattern_(pattern), found_(pattern.nodes.size()) {}

  // Whether the pairs of pattern nodes and nodes fit together with those found already. Backtracks over
  // the orders of outputs.
  bool Match(std::vector<std::pair<size_t, NetNode*>> pairs) {
    if (pairs.empty()) return true;
    const auto [wanted, node] = pairs.back();
    pairs.pop_back();
    if (found_[wanted] != nullptr) return found_[wanted] == node && Match(std::move(pairs));
    if (Contains(found_, node) || !Accepts(pattern_.nodes[wanted], *node)) return false;
    found_[wanted] = node;
    if (MatchOutputs(wanted, node, std::move(pairs))) return true;
    found_[wanted] = nullptr;
    return false;
  }

  NetSubgraph Found() const {
    NetSubgraph subgraph;
    for (NetNode* const node : found_) {
      if (node != nullptr) subgraph.nodes.push_back(node);
    }
    InduceEdges(&subgraph);
    return subgraph;
  }

 private:
  static bool Accepts(const NetPattern::Node& wanted, const NetNode& node) {
    if (!wanted.is_operator) return true;
    return *wanted.is_operator == node.is_operator &&
           (!node.is_operator || wanted.name == node.name);
  }

  bool MatchOutputs(size_t wanted, const NetNode* node,
                    std::vector<std::pair<size_t, NetNode*>> pairs) {
    const NetPattern::Node& pattern = pattern_.nodes[wanted];
    if (!pattern.is_strict) return Match(std::move(pairs));
    if (pattern.outputs.size() != node->outputs.size()) return false;
    return MatchRest(pattern.outputs, 0, node->outputs, std::move(pairs));
  }

  bool MatchRest(const std::vector<size_t>& wanted, size_t begin, const std::vector<NetNode*>& left,
                 const std::vector<std::pair<size_t, NetNode*>>& pairs) {
    if (begin == wanted.size()) return Match(pairs);
    for (size_t i = 0; i < left.size(); ++i) {
      if (!Accepts(pattern_.nodes[wanted[begin]], *left[i])) continue;
      std::vector<NetNode*> rest = left;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      std::vector<std::pair<size_t, NetNode*>> more = pairs;
      more.emplace_back(wanted[begin], left[i]);
      const std::vector<NetNode*> before = found_;
      if (MatchRest(wanted, begin + 1, rest, more)) return true;
      found_ = before;
    }
    return false;
  }

  const NetPattern& pattern_;
  std::vector<NetNode*> found_;  // by pattern node
};

}  // namespace

std::optional<NetSubgraph> MatchPattern(NetNode* start, const NetPattern& pattern) {
  CAFFE_ENFORCE(!pattern.nodes.empty(), "the pattern has no nodes");
  size_t root = pattern.nodes.size() - 1;
  for (size_t i = 0; i < pattern.nodes.size(); ++i) {
    if (!pattern.nodes[i].has_inputs) root = i;
  }
  Matcher matcher(pattern);
  if (!matcher.Match({{root, start}})) return std::nullopt;
  return matcher.Found();
}

}  // namespace caffe2rt
