// The functions of flow_graph.h that work on a graph as a whole.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <deque>

#include "caffe2_core/graph/drawing/flow_graph.h"

namespace caffe2rt {

void AssignLayers(FlowGraph* graph) {
  std::vector<std::vector<size_t>> next(graph->nodes.size());
  std::vector<size_t> waiting(graph->nodes.size(), 0);
  for (const FlowEdge& edge : graph->edges) {
    if (edge.kind == FlowEdge::Kind::kCarried) continue;
    next[edge.from].push_back(edge.to);
    ++waiting[edge.to];
  }
  std::deque<size_t> ready;
  for (size_t i = 0; i < waiting.size(); ++i) {
    if (waiting[i] == 0) ready.push_back(i);
  }
  for (; !ready.empty(); ready.pop_front()) {
    const int layer = graph->nodes[ready.front()].layer + 1;
    for (const size_t to : next[ready.front()]) {
      graph->nodes[to].layer = std::max(graph->nodes[to].layer, layer);
      if (--waiting[to] == 0) ready.push_back(to);
    }
  }
}

bool IsSkip(const FlowGraph& graph, const FlowEdge& edge) {
  return edge.kind == FlowEdge::Kind::kFlow &&
         graph.nodes[edge.to].layer - graph.nodes[edge.from].layer > 1 &&
         graph.nodes[edge.from].kind == FlowNode::Kind::kOperator &&
         graph.nodes[edge.to].kind == FlowNode::Kind::kOperator;
}

std::string BlobNames(const FlowEdge& edge) {
  std::string text = absl::StrJoin(edge.blobs, ", ");
  if (edge.num_blobs > edge.blobs.size())
    absl::StrAppend(&text, " and ", edge.num_blobs - edge.blobs.size(), " more");
  return text;
}

}  // namespace caffe2rt
