#pragma once
// The order that data dependencies impose on the operators of a net.
//
//   operator                                   predecessors
//   0: FC    x w b -> y                        none
//   1: Relu  y -> y                            0      reads and writes the output of 0
//   2: Copy  x -> z                            none
//   3: Fill  -> x                              0, 2   overwrites a blob that they read
//   4: Copy  z -> u, control_input: "y"        1, 2
//
// Operator B must run after an earlier operator A if
//   - B reads or writes a blob, and A is the last operator before B that writes it, or
//   - B writes a blob, A reads it, and no operator between A and B writes it.
// Control inputs count as reads. Two operators that have no blob in common, or that only read the
// blobs that they have in common, are not ordered by these rules.
//
// State that no blob shows counts as a blob that every operator with this effect writes: files,
// what is printed, and other processes (Effect in op_schema.h). The effects of the nets in an operator's arguments are
// effects of the operator. Random numbers impose no order: each operator draws from a generator of its
// own (base/random_stream.h). An operator whose effect is
// kEverything, or that accesses blobs that it does not list, runs after all earlier and before all
// later operators.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "caffe2_core/graph/net_blobs.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// The predecessors of each operator, and the blobs that may share memory. Immutable after
// construction, and therefore thread safe.
//
// Schemas are taken into account: an input that its operator modifies (OpSchema::ModifiesInputs)
// counts as read and written, except for queues (OperatorTraits::queue_use): those that put records
// into a queue, or close it, keep their order, and so do those that take records, but neither wait
// for the others. Blobs that share memory (shared_memory.h) are ordered as if
// they were one blob. A net in an argument counts as reading and writing the blobs that its names
// denote (nested_nets.h).
//
// Memory is linear in the size of the net, and time is linear up to a logarithmic factor: an access
// has at most one write directly before it and at most one directly after it, so the lists of
// predecessors have at most two entries in total for each input, control input, output and effect.
class NetDependencies : public NetBlobs {
 public:
  using BlobPair = std::pair<uint32_t, uint32_t>;

  // Parameters, requirements and exceptions are those of the NetBlobs constructors.
  explicit NetDependencies(const NetDef& net);
  NetDependencies(const NetDef& net, std::span<const BoundBlobs> bound);
  explicit NetDependencies(const NetDef&& net) = delete;
  NetDependencies(const NetDef&& net, std::span<const BoundBlobs> bound) = delete;

  // The operators that must run before operator `op`: distinct, in ascending order. Redundant
  // entries are possible: in the chain 0 -> 1 -> 2, the list of operator 2 may contain 0 as well.
  std::span<const uint32_t> predecessors(size_t op) const {
    return {predecessors_.data() + predecessor_ends_[op],
            predecessor_ends_[op + 1] - predecessor_ends_[op]};
  }

  // The blobs of this net that only the nets in the arguments of operator `op` use: not inputs,
  // outputs or control inputs of `op`, but of another operator. Without duplicates.
  std::span<const uint32_t> nested(size_t op) const {
    return {nested_.data() + nested_ends_[op], nested_ends_[op + 1] - nested_ends_[op]};
  }

  // The index of the blob's memory, below size(). Blobs that may share memory have the same index.
  uint32_t memory(uint32_t blob) const { return memory_[blob]; }
  // The pairs of blobs that schemas declare to share memory, in the order of the operators. memory()
  // is the transitive closure of these pairs and of those with blobs that no operator lists.
  const std::vector<BlobPair>& same_memory() const { return same_memory_; }
  // Whether any operator writes an output into the blob's memory. Outputs that share the memory of
  // an input do not count, and neither do inputs that are modified.
  bool is_memory_written(uint32_t blob) const { return memory_written_[memory_[blob]]; }
  // Whether the net may change what the blob holds: an operator, or a net in an argument, writes or
  // modifies the blob or other memory that it may share. A blob for which this is false is constant
  // while the net runs. Graph passes, packed models and Predictor ask this function.
  bool is_changed(uint32_t blob) const {
    const uint32_t memory = memory_[blob];
    return first_writer(blob) != kNone || memory_written_[memory] ||
           memory_written_[memory_.size() + memory];
  }

  // THROWS unless `order` contains the position of every operator exactly once, after the positions
  // of all of its predecessors.
  void CheckOrder(std::span<const size_t> order) const;

 private:
  void Build(const NetDef& net);
  void AddNested(size_t op, std::span<const uint32_t> read, std::span<const uint32_t> written);

  std::vector<BlobPair> same_memory_;
  std::vector<uint32_t> memory_;  // indexed by blob, then by names that only nested nets use
  // Indexed by memory: whether it is written. Then, for all memories again: whether an operator
  // modifies an input in it.
  std::vector<bool> memory_written_;
  // The lists of all operators, concatenated. The list of operator `op` is the range
  // [predecessor_ends_[op], predecessor_ends_[op + 1]).
  std::vector<uint32_t> predecessors_;
  std::vector<size_t> predecessor_ends_;
  std::vector<uint32_t> nested_;  // the same for the lists of nested(), with nested_ends_
  std::vector<size_t> nested_ends_;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
