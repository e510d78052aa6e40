#pragma once
// Finds the blocks of operators that repeat in a net, such as the bottlenecks of a ResNet or the
// steps of an unrolled LSTM, so that a drawing can show each of them once.
//
// A block is a range of consecutive operators. It repeats if the ranges directly after it are
// equal to it, operator by operator:
//   - the types, arguments, engines, devices, and numbers of inputs and outputs are equal,
//   - an input that the operators of this or the previous range write is written by the operator at
//     the same distance, as the same output,
//   - each range but the first reads an output of the range before it; the first range may read
//     another value in its place, the same one for all of its operators,
//   - every other input comes from outside of the net in all ranges, or from operators before the
//     first range in all ranges.
// Names, and the shapes of weights and outputs, may differ.
//
// Short blocks are found first. A longer block may contain shorter ones, but does not begin or end
// within them: the five and the three bottlenecks of two stages of a ResNet are two blocks. A
// repetition that hides fewer than kLeastHidden operators is ignored.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "caffe2_core/graph/net_blobs.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

inline constexpr size_t kLeastHidden = 3;

// The operators [begin, begin + length) are the first of `count` equal ranges.
struct RepeatedBlock {
  size_t begin = 0, length = 0, count = 0;
  size_t end() const { return begin + length * count; }
};

// The blocks, sorted so that a block follows the block that contains it. A contained block lies in
// the first range of its container. Time is bounded: in very large nets only short blocks are
// found. `blobs` are those of `net`.
std::vector<RepeatedBlock> FindRepeatedBlocks(const NetDef& net, const NetBlobs& blobs);

// Where operator `op` is in the blocks.
struct FoldedPosition {
  size_t first = 0;  // the operator of the first ranges that represents `op`
  struct Step {
    size_t block;  // index of the block
    size_t range;  // the range of this block that contains the operator
  };
  std::vector<Step> steps;  // from the outermost block to the innermost
};
FoldedPosition PositionIn(const std::vector<RepeatedBlock>& blocks, size_t op);

}  // namespace caffe2rt
