#pragma once
// The graph that a drawing shows: operators, inputs and outputs of nets as nodes, blobs as edges.
// It knows nothing of positions; layouts are made for it by graphviz_layout.h and
// layered_layout.h.
//
// Weights are not part of the graph. A blob that no operator writes is an input of the net if an
// operator reads it as its first input, or if it is not a weight. It is a weight if
//   - it is one of the parameters given, or
//   - no parameters are given, and an operator reads it whose further inputs are weights by its
//     type, such as Conv, FC, SpatialBN and the optimizers, or which applies it to each channel
//     (Add and Mul with the arguments broadcast and axis).
//
// Operators without inputs whose outputs no operator of their net reads, such as those of an init
// net, share one node for each type.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "caffe2_core/graph/drawing/operator_family.h"
#include "caffe2_core/graph/net_drawing.h"

namespace caffe2rt {

struct FlowNode {
  enum class Kind { kOperator, kInput, kOutput };
  Kind kind = Kind::kOperator;
  size_t net = 0;                  // index in the list of nets
  size_t group = 0;                // index in FlowGraph::groups
  std::vector<uint32_t> ops = {};  // the operator, followed by those that the node also stands for
  std::string title = {};          // the type of the operator, or the name of the blob
  std::string detail = {};         // arguments, on the same line
  std::vector<std::string> lines = {};
  std::vector<std::string> names =
      {};  // all blobs of an input or output node, if there are several
  OperatorFamily family = OperatorFamily::kOther;
  int layer = 0;  // one more than the largest layer of a node before it
};

inline constexpr size_t kMostEdgeBlobs = 8;

struct FlowEdge {
  enum class Kind {
    kFlow,
    kCarried,  // from a repetition of a block to the next one, or from a net to an earlier one
    kControl,  // a control input
    kWeights,  // weights that another net fills, to the first operator that reads one of them
  };
  size_t from = 0, to = 0;
  Kind kind = Kind::kFlow;
  size_t input = 0;  // the position among the inputs of the first operator that reads a blob
  std::vector<std::string> blobs = {};  // at most kMostEdgeBlobs names
  size_t num_blobs = 0;
};

// A frame around nodes: a net of a plan, the backward pass of a net, or a repeated block.
struct FlowGroup {
  static constexpr size_t kNone = SIZE_MAX;
  std::string title;
  size_t parent = kNone;
  bool framed = true;  // the only net of a drawing has no frame
  size_t repeats = 1;
};

struct FlowGraph {
  std::vector<FlowNode> nodes;
  std::vector<FlowEdge> edges;
  std::vector<FlowGroup> groups;   // a group follows its parent
  std::vector<size_t> net_groups;  // the group of each net
};

// The graph of one or more nets, which run in this order and share their blobs. THROWS if
// it has more than 200,000 nodes and edges.
FlowGraph MakeFlowGraph(const std::vector<DrawnNet>& nets, const NetDrawingOptions& options);

// Sets the layers of all nodes. Carried edges do not count. Nodes on a cycle keep layer 0.
void AssignLayers(FlowGraph* graph);

// Whether an edge skips nodes: another path between its ends is longer.
bool IsSkip(const FlowGraph& graph, const FlowEdge& edge);

// The names of the edge's blobs, joined.
std::string BlobNames(const FlowEdge& edge);

}  // namespace caffe2rt
