#pragma once
// A net as a graph that can be changed: nodes for operators and for tensors, edges between them. Behind
// nomnigraph, which the front end uses to rewrite nets.
//
//   NetGraph graph(net);
//   NetNode* relu = graph.AddOperator(op);
//   graph.Connect(tensor, relu);
//   NetDef changed = graph.ToNet({});
//
// A tensor node is one value of a blob: an operator that writes a blob again makes another node of the
// same name. An operator's edges are in the order of its inputs and outputs. Errors are EnforceNotMet.
// Not thread safe.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

struct NetNode;

// What is noted at a node besides its edges.
struct NetAnnotation {
  std::optional<OperatorDef>
      op;  // type, arguments, device, engine; its inputs and outputs do not count
  std::string device;
  int device_type = 0;
  std::vector<std::string> component_levels;
  std::weak_ptr<NetNode> key_node;
  std::weak_ptr<NetNode> length_node;
};

struct NetNode : std::enable_shared_from_this<NetNode> {
  bool is_operator = false;
  bool is_deleted = false;
  std::string name;               // of the blob, or the operator's type
  std::vector<NetNode*> inputs;   // of a tensor: what writes it, at most one in a net that can run
  std::vector<NetNode*> outputs;  // of a tensor: what reads it, once for each edge
  std::shared_ptr<NetAnnotation> annotation = std::make_shared<NetAnnotation>();
};

class NetGraph {
 public:
  NetGraph() = default;
  explicit NetGraph(const NetDef& net);
  NetGraph(const NetGraph&) = delete;
  NetGraph& operator=(const NetGraph&) = delete;

  // In the order of their creation.
  const std::vector<std::shared_ptr<NetNode>>& nodes() const { return nodes_; }

  // An operator without edges, whatever inputs and outputs `op` has.
  NetNode* AddOperator(const OperatorDef& op);
  NetNode* AddTensor(const std::string& name);
  // Named `prefix`, or, if there is such a tensor, with the first number that is free: "a", "a_0".
  NetNode* AddUniqueTensor(const std::string& prefix);
  // With its edges. The node stays readable while somebody owns it.
  void Delete(NetNode* node);

  // THROWS if both are operators or both are tensors.
  void Connect(NetNode* from, NetNode* to);
  // Removes one edge, if there is one.
  void Disconnect(NetNode* from, NetNode* to);
  // Moves all edges of `old` to `fresh`, a node of the same kind. An edge keeps its place at its other
  // end.
  void Replace(NetNode* old, NetNode* fresh);
  // Moves the edges to the readers of a tensor.
  void ReplaceUses(NetNode* old, NetNode* fresh);
  // Moves the inputs of an operator.
  void ReplaceReader(NetNode* old, NetNode* fresh);
  // Makes the operator write the tensor instead of the one that does.
  void ReplaceWriter(NetNode* tensor, NetNode* fresh);
  // Deletes `removed`, but for the nodes that `inputs` and `outputs` name, and connects the operator.
  void ReplaceNodes(const std::vector<NetNode*>& removed, NetNode* fresh,
                    const std::vector<NetNode*>& inputs, const std::vector<NetNode*>& outputs);

  // Adds an operator Declare for each input that the net reads and an operator Export for each external
  // output, on the devices that `devices` names for blobs. The net then has no external inputs and
  // outputs. THROWS if a name of `devices` is neither.
  void AddDeclarations(const std::vector<std::pair<std::string, DeviceOption>>& devices);

  // The operators in an order in which they can run: that of their creation, as far as values allow. A
  // value is read before its blob is written again. THROWS if operators wait for each other.
  std::vector<NetNode*> ExecutionOrder() const;
  // `base` with these operators and with the external inputs and outputs that are left.
  NetDef ToNet(NetDef base) const;

 private:
  NetNode* Add(bool is_operator, const std::string& name);

  std::vector<std::shared_ptr<NetNode>> nodes_;
  std::vector<std::string> external_inputs_;
  std::vector<std::string> external_outputs_;
};

// Nodes of one graph, and edges between them.
struct NetSubgraph {
  std::vector<NetNode*> nodes;
  std::vector<std::pair<NetNode*, NetNode*>> edges;
};

// All edges of the graph between the nodes.
void InduceEdges(NetSubgraph* subgraph);

// The nodes and edges in Graphviz's language.
std::string ToDot(const NetSubgraph& subgraph);

// A pattern of nodes. Of a strict node all outputs must be in the pattern; at other nodes the search
// ends.
struct NetPattern {
  struct Node {
    std::optional<bool> is_operator;  // no value: any node
    std::string name;                 // of an operator; any tensor matches a tensor
    bool is_strict = false;
    std::vector<size_t> outputs;
    bool has_inputs = false;
  };
  std::vector<Node> nodes;
};

// The nodes that match the pattern if `start` is its node without inputs (the one created last, if there
// are several). No value if they do not. THROWS if the pattern is empty.
std::optional<NetSubgraph> MatchPattern(NetNode* start, const NetPattern& pattern);

}  // namespace caffe2rt
