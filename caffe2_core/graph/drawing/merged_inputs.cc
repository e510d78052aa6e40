#include "caffe2_core/graph/drawing/merged_inputs.h"

#include <algorithm>
#include <map>

#include "caffe2_core/graph/drawing/node_text.h"

namespace caffe2rt {
namespace {

// For each node, the node that it becomes a part of: itself, or an input before it.
std::vector<size_t> FindTargets(const FlowGraph& graph) {
  using Readers = std::vector<std::pair<size_t, size_t>>;  // nodes, and positions of their inputs
  std::vector<Readers> readers(graph.nodes.size());
  for (const FlowEdge& edge : graph.edges) readers[edge.from].emplace_back(edge.to, edge.input);
  std::map<std::pair<size_t, Readers>, std::vector<size_t>> inputs;  // by net and readers
  std::vector<size_t> target(graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    target[i] = i;
    if (graph.nodes[i].kind != FlowNode::Kind::kInput) continue;
    std::sort(readers[i].begin(), readers[i].end());
    inputs[{graph.nodes[i].net, readers[i]}].push_back(i);
  }
  for (const auto& [key, nodes] : inputs) {
    if (nodes.size() <= kMostSeparateInputs) continue;
    for (const size_t node : nodes) target[node] = nodes[0];
  }
  return target;
}

// Adds the blobs of an edge to those of another.
void AddBlobs(const FlowEdge& from, FlowEdge* to) {
  to->num_blobs += from.num_blobs;
  for (const std::string& blob : from.blobs) {
    if (to->blobs.size() < kMostEdgeBlobs) to->blobs.push_back(blob);
  }
}

}  // namespace

void MergeInputs(FlowGraph* graph) {
  const std::vector<size_t> target = FindTargets(*graph);
  std::map<size_t, std::vector<std::string>> names;  // of the inputs that a node stands for
  std::vector<size_t> place(graph->nodes.size(), 0);
  std::vector<FlowNode> nodes;
  for (size_t i = 0; i < graph->nodes.size(); ++i) {
    if (graph->nodes[i].kind == FlowNode::Kind::kInput)
      names[target[i]].push_back(graph->nodes[i].title);
    place[i] = target[i] == i ? nodes.size() : place[target[i]];
    if (target[i] == i) nodes.push_back(std::move(graph->nodes[i]));
  }
  for (const auto& [node, parts] : names) {
    if (parts.size() == 1) continue;
    nodes[place[node]].title = CountText(parts.size(), "input");
    nodes[place[node]].lines = NameLines(parts);
    nodes[place[node]].names = parts;
  }
  std::vector<FlowEdge> edges;
  std::map<std::pair<size_t, size_t>, size_t> edge_of_input;  // by ends
  for (FlowEdge& edge : graph->edges) {
    const bool is_input = nodes[place[edge.from]].kind == FlowNode::Kind::kInput;
    edge.from = place[edge.from];
    edge.to = place[edge.to];
    const auto [first, added] = edge_of_input.emplace(std::pair(edge.from, edge.to), edges.size());
    if (is_input && !added) {
      AddBlobs(edge, &edges[first->second]);
    } else {
      edges.push_back(std::move(edge));
    }
  }
  graph->nodes = std::move(nodes);
  graph->edges = std::move(edges);
}

}  // namespace caffe2rt
