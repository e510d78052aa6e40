#include "caffe2_core/graph/drawing/flow_graph.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/drawing/argument_text.h"
#include "caffe2_core/graph/drawing/merged_inputs.h"
#include "caffe2_core/graph/drawing/net_parts.h"
#include "caffe2_core/graph/drawing/node_text.h"
#include "caffe2_core/graph/drawing/weight_inputs.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt {
namespace {

constexpr size_t kMostParts = 200'000;  // nodes and edges
constexpr size_t kNoNode = SIZE_MAX;

// Whether operator `to` is in a later range of a block than `from`, whose output it reads.
bool IsCarried(const FoldedPosition& from, const FoldedPosition& to) {
  const size_t depth = std::min(from.steps.size(), to.steps.size());
  for (size_t i = 0; i < depth; ++i) {
    if (from.steps[i].block != to.steps[i].block) return false;
    if (from.steps[i].range != to.steps[i].range) return true;
  }
  return false;
}

class GraphMaker {
 public:
  GraphMaker(const std::vector<DrawnNet>& nets, const NetDrawingOptions& options)
      : options_(options) {
    for (const DrawnNet& net : nets) {
      parts_.emplace_back(net, options.fold);
      AddUses(parts_.size() - 1);
    }
    for (size_t n = 0; n < nets.size(); ++n) {
      graph_.net_groups.push_back(graph_.groups.size());
      graph_.groups.push_back({.title = nets[n].title, .framed = nets.size() > 1});
      AddNet(n);
    }
    for (const auto& [blob, to] : read_from_others_) {
      const auto writer = writers_.find(blob);
      if (writer != writers_.end())
        AddEdge(writer->second, to, FlowEdge::Kind::kCarried, std::string(blob));
    }
    for (size_t n = 0; n < nets.size(); ++n) AddOutputs(n);
    for (FlowNode& node : graph_.nodes) {
      if (node.kind == FlowNode::Kind::kOperator) FinishText(&node);
    }
    if (options.fold) MergeInputs(&graph_);
    AssignLayers(&graph_);
  }

  FlowGraph Take() { return std::move(graph_); }

 private:
  void AddNet(size_t n) {
    NetParts& part = parts_[n];
    std::map<std::string, size_t> fill_nodes;  // by type
    for (size_t op = 0; op < part.blobs.num_operators(); ++op) {
      const OperatorDef& def = part.net.op(static_cast<int>(op));
      size_t& node = part.node_of_op[op];
      if (part.IsLonelyFill(op)) {
        const auto [fill, added] = fill_nodes.emplace(def.type(), kNoNode);
        if (added) fill->second = AddOperator(n, op);
        node = fill->second;
      } else {
        const size_t first = part.positions[op].first;
        node = first == op ? AddOperator(n, op) : part.node_of_op[first];
      }
      graph_.nodes[node].ops.push_back(static_cast<uint32_t>(op));
      AddInputs(n, op);
    }
    // Nets that run later read the last values.
    for (const uint32_t blob : part.blobs.written()) {
      const std::string& name = part.blobs.name(blob);
      writers_[name] = part.node_of_op[part.blobs.last_writer(blob)];
    }
  }

  size_t AddOperator(size_t n, size_t op) {
    const OperatorDef& def = parts_[n].net.op(static_cast<int>(op));
    const size_t group = GroupOf(n, op);
    graph_.nodes.push_back({.kind = FlowNode::Kind::kOperator,
                            .net = n,
                            .group = group,
                            .title = Shortened(def.type(), 100),
                            .family = FamilyOf(def.type())});
    return graph_.nodes.size() - 1;
  }

  // The group of the innermost block of the operator, or else of its backward pass or net.
  size_t GroupOf(size_t n, size_t op) {
    NetParts& part = parts_[n];
    size_t group = graph_.net_groups[n];
    if (part.backward[op]) {
      if (part.backward_group == FlowGroup::kNone) {
        part.backward_group = graph_.groups.size();
        graph_.groups.push_back({.title = "backward pass", .parent = group});
      }
      group = part.backward_group;
    }
    for (const FoldedPosition::Step& step : part.positions[op].steps) {
      size_t& of_block = part.block_groups[step.block];
      if (of_block == FlowGroup::kNone) {
        of_block = graph_.groups.size();
        const size_t count = part.blocks[step.block].count;
        graph_.groups.push_back(
            {.title = absl::StrCat("\xC3\x97 ", count), .parent = group, .repeats = count});
      }
      group = of_block;
    }
    return group;
  }

  void AddInputs(size_t n, size_t op) {
    const NetParts& part = parts_[n];
    const size_t to = part.node_of_op[op];
    for (size_t k = 0; k < part.blobs.inputs(op).size(); ++k) {
      const uint32_t writer = part.blobs.input_writers(op)[k];
      if (writer != NetBlobs::kNone) {
        AddInnerEdge(part, writer, op, FlowEdge::Kind::kFlow, part.blobs.inputs(op)[k]);
      } else {
        AddInput(n, op, k, to);
      }
    }
    for (const uint32_t blob : part.blobs.control_inputs(op)) {
      const uint32_t writer = part.blobs.first_writer(blob);
      if (writer != NetBlobs::kNone && writer < op)
        AddInnerEdge(part, writer, op, FlowEdge::Kind::kControl, blob);
    }
  }

  void AddInnerEdge(const NetParts& part, uint32_t writer, size_t op, FlowEdge::Kind kind,
                    uint32_t blob) {
    if (IsCarried(part.positions[writer], part.positions[op])) kind = FlowEdge::Kind::kCarried;
    AddEdge(part.node_of_op[writer], part.node_of_op[op], kind, part.blobs.name(blob));
  }

  // Adds input `k` of an operator, which no operator of its net wrote before.
  void AddInput(size_t n, size_t op, size_t k, size_t to) {
    NetParts& part = parts_[n];
    const uint32_t blob = part.blobs.inputs(op)[k];
    const std::string& name = part.blobs.name(blob);
    const bool is_weight = IsWeightInput(part.net, part.blobs, options_.parameters, op, k);
    const auto writer = writers_.find(name);
    if (writer != writers_.end()) {
      // One edge stands for all weights that an operator of another net fills.
      const std::pair source(writer->second, n);
      if (is_weight) {
        AddEdge(writer->second, weight_targets_.emplace(source, to).first->second,
                FlowEdge::Kind::kWeights, name);
      } else {
        AddEdge(writer->second, to, FlowEdge::Kind::kFlow, name);
      }
      return;
    }
    auto node = part.node_of_input.find(blob);
    if (node == part.node_of_input.end()) {
      if (is_weight) return;
      if (uses_.at(name).last_writer > n) {
        read_from_others_.emplace_back(name, to);
        return;
      }
      graph_.nodes.push_back({.kind = FlowNode::Kind::kInput,
                              .net = n,
                              .group = graph_.net_groups[n],
                              .ops = {},
                              .title = Shortened(name),
                              .detail = "",
                              .lines = ShapeLine("input", part.summary.ops[op].inputs[k])});
      node = part.node_of_input.emplace(blob, graph_.nodes.size() - 1).first;
    }
    AddEdge(node->second, to, FlowEdge::Kind::kFlow, name, k);
  }

  static std::vector<std::string> ShapeLine(const std::string& what, const TensorShape& shape) {
    return {shape.unknown_shape() ? what : absl::StrCat(what, ": ", ShapeText(shape))};
  }

  // Adds a node for the outputs that each node writes and no other net reads.
  void AddOutputs(size_t n) {
    const NetParts& part = parts_[n];
    std::map<size_t, std::vector<std::string>> outputs;  // by writer
    for (const std::string& name : OutputsOf(part.net)) {
      const uint32_t blob = part.blobs.Find(name);
      if (blob == NetBlobs::kNone || part.blobs.last_writer(blob) == NetBlobs::kNone) continue;
      if (part.IsUpdatedWeight(blob) || IsReadElsewhere(n, name)) continue;
      outputs[part.node_of_op[part.blobs.last_writer(blob)]].push_back(name);
    }
    for (const auto& [writer, names] : outputs) {
      FlowNode node{.kind = FlowNode::Kind::kOutput,
                    .net = n,
                    .group = graph_.net_groups[n],
                    .ops = {},
                    .title = Shortened(names[0])};
      if (names.size() == 1) {
        const auto shape = part.summary.shapes.find(names[0]);
        node.lines = ShapeLine("output",
                               shape == part.summary.shapes.end() ? UnknownShape() : shape->second);
      } else {
        node.title = CountText(names.size(), "output");
        node.lines = NameLines(names);
        node.names = names;
      }
      graph_.nodes.push_back(std::move(node));
      for (const std::string& name : names)
        AddEdge(writer, graph_.nodes.size() - 1, FlowEdge::Kind::kFlow, name);
    }
  }

  // Notes which nets read and write each blob.
  void AddUses(size_t n) {
    const NetBlobs& blobs = parts_[n].blobs;
    for (uint32_t blob = 0; blob < blobs.size(); ++blob) {
      const std::string& name = blobs.name(blob);
      NetUses& uses = uses_[name];
      if (blobs.Reads(name)) {
        uses.first_reader = std::min(uses.first_reader, n);
        uses.last_reader = n;
      }
      if (blobs.Writes(name)) uses.last_writer = n;
    }
  }

  bool IsReadElsewhere(size_t n, const std::string& name) const {
    const NetUses& uses = uses_.at(name);
    return uses.first_reader != SIZE_MAX && (uses.first_reader != n || uses.last_reader != n);
  }

  void AddEdge(size_t from, size_t to, FlowEdge::Kind kind, const std::string& blob,
               size_t input = 0) {
    CAFFE_ENFORCE_LT(graph_.nodes.size() + graph_.edges.size(), kMostParts,
                     "nodes and arrows of the drawing of net \"", parts_[0].net.name(), "\"");
    if (from == to && kind != FlowEdge::Kind::kCarried) return;
    const auto [it, added] = edges_.emplace(std::tuple(from, to, kind), graph_.edges.size());
    if (added) graph_.edges.push_back({.from = from, .to = to, .kind = kind, .input = input});
    FlowEdge& edge = graph_.edges[it->second];
    if (!names_.emplace(it->second, blob).second) return;
    ++edge.num_blobs;
    if (edge.blobs.size() < kMostEdgeBlobs) edge.blobs.push_back(Shortened(blob));
  }

  // Writes what depends on all operators of the node.
  void FinishText(FlowNode* node) const {
    const NetParts& part = parts_[node->net];
    const uint32_t first = node->ops.front();
    if (node->ops.size() > 1 && part.positions[first].steps.empty()) {
      node->detail = absl::StrCat("\xC3\x97 ", node->ops.size());
      std::vector<std::string> names;
      for (const uint32_t op : node->ops) {
        const std::vector<std::string>& outputs = part.summary.ops[op].output_names;
        names.insert(names.end(), outputs.begin(), outputs.end());
      }
      node->lines = NameLines(names);
    } else {
      node->detail = DetailText(part.net.op(static_cast<int>(first)));
      node->lines = OutputLines(part.summary, node->ops);
    }
  }

  struct NetUses {
    size_t first_reader = SIZE_MAX, last_reader = 0, last_writer = 0;
  };

  const NetDrawingOptions& options_;
  std::deque<NetParts> parts_;
  FlowGraph graph_;
  std::map<std::tuple<size_t, size_t, FlowEdge::Kind>, size_t> edges_;
  std::set<std::pair<size_t, std::string>> names_;  // of blobs, by edge
  std::unordered_map<std::string, size_t>
      writers_;  // the node that last wrote a blob, over all nets
  std::unordered_map<std::string, NetUses> uses_;
  std::map<std::pair<size_t, size_t>, size_t> weight_targets_;  // by writer and net
  std::vector<std::pair<std::string, size_t>> read_from_others_;
};

}  // namespace

FlowGraph MakeFlowGraph(const std::vector<DrawnNet>& nets, const NetDrawingOptions& options) {
  return GraphMaker(nets, options).Take();
}

}  // namespace caffe2rt
