#pragma once
// A net while its graph is made: its blobs and blocks, and the nodes that stand for its operators.

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "caffe2_core/graph/drawing/flow_graph.h"
#include "caffe2_core/graph/drawing/repeated_blocks.h"
#include "caffe2_core/graph/net_blobs.h"

namespace caffe2rt {

struct NetParts {
  // `drawn` must outlive the object.
  NetParts(const DrawnNet& drawn, bool fold);

  // Whether the operator has no inputs, and no operator of the net reads its outputs.
  bool IsLonelyFill(size_t op) const;
  // Whether the net updates a blob that it also reads, and lists no outputs. REQUIRES: the nodes of
  // the net's inputs are known.
  bool IsUpdatedWeight(uint32_t blob) const;

  const NetDef& net;
  const NetSummary& summary;
  const NetBlobs blobs;
  std::vector<RepeatedBlock> blocks;
  std::vector<FoldedPosition> positions;  // of each operator
  // Whether an operator is in the backward half, which consists of the gradient operators, the
  // operators that fill the gradients that a backward pass starts from, and all operators that read
  // from them.
  std::vector<bool> backward;
  std::vector<bool> read_first;  // for each blob, whether its value comes from outside of the net

  // Set while nodes are added.
  std::vector<size_t> block_groups;  // of each block; FlowGroup::kNone at first
  size_t backward_group = FlowGroup::kNone;
  std::vector<size_t> node_of_op;
  std::map<uint32_t, size_t> node_of_input;  // by blob
};

}  // namespace caffe2rt
