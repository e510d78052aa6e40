#pragma once
// Which operators of a net must come before which.
//
//   0: FC    x w b -> y          predecessors: -
//   1: Relu  y -> y              0        reads and writes what 0 wrote
//   2: Copy  x -> z              -
//   3: Fill  -> x                0, 2     writes what they read
//   4: Copy  z -> u, control_input: "y"     1, 2
//
// An operator comes after the one that wrote what it reads (control inputs count as reads), after
// the one before it that wrote what it writes, and after those that have read that since. What is
// neither read nor written by two operators, or is only read by both, does not order them.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "caffe2_core/graph/net_blobs.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// Time and memory are linear in the size of the net: a read is behind at most one write and ahead
// of at most one, so that all operators together have at most 2 predecessors for each input,
// control input and output. Immutable, and so thread safe.
//
// What schemas declare is taken into account: an input that its operator modifies
// (OpSchema::ModifiesInputs) is written, and blobs that share memory (OpSchema::OutputSharesInput)
// are ordered as one.
class NetDependencies : public NetBlobs {
 public:
  using BlobPair = std::pair<uint32_t, uint32_t>;

  // See NetBlobs, also for what they REQUIRE and THROW.
  explicit NetDependencies(const NetDef& net);
  NetDependencies(const NetDef& net, std::span<const BoundBlobs> bound);
  explicit NetDependencies(const NetDef&& net) = delete;
  NetDependencies(const NetDef&& net, std::span<const BoundBlobs> bound) = delete;

  // Distinct, in ascending order. Those that follow from others may be among them: of 0 -> 1 -> 2,
  // operator 2 may name 0 too.
  std::span<const uint32_t> predecessors(size_t op) const {
    return {predecessors_.data() + predecessor_ends_[op],
            predecessor_ends_[op + 1] - predecessor_ends_[op]};
  }

  // The memory of a blob: an index below size(), the same for blobs that may share memory.
  uint32_t memory(uint32_t blob) const { return memory_[blob]; }
  // The pairs from which that follows, in the order of the operators.
  const std::vector<BlobPair>& same_memory() const { return same_memory_; }
  // Whether an operator writes an output into the blob's memory. An output that shares the memory
  // of an input is not written by that, and an input that is modified is no output.
  bool is_memory_written(uint32_t blob) const { return memory_written_[memory_[blob]]; }

  // THROWS unless `order` has the position of every operator once, after all of its predecessors.
  void CheckOrder(std::span<const size_t> order) const;

 private:
  void Build(const NetDef& net);

  std::vector<BlobPair> same_memory_;
  std::vector<uint32_t> memory_;       // by blob
  std::vector<bool> memory_written_;  // by memory
  std::vector<uint32_t> predecessors_;
  std::vector<size_t> predecessor_ends_;  // of each operator's, after a 0
};

}  // namespace caffe2rt
