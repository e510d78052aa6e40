#pragma once
// The values that the operators of a net pass to each other. A blob that is written several times
// holds several values. Passes use this class to find operators that they may merge or remove.
//
//   operator               reads       writes
//   0: Conv  x w b -> y    0 1 2       3
//   1: Relu  y -> y        3           4
//   2: Sum   y x -> z      4 0         5        with z kept:
//
//   values.SoleReader(3)   1: nothing else sees the result of Conv, so Relu may become part of it
//   values.SoleReader(4)   2
//   values.SoleReader(5)   kNone: it is read after the run
//
// A value is observable if something besides the readers that readers() lists may see it:
//   - kept: it is the last value of a blob in PassContext::kept, or of a blob that the next run reads
//     before it writes it;
//   - named: its blob is a control input, is used by a net in an operator's argument, or is modified
//     as an input;
//   - shared: its blob shares memory with another blob (OpSchema::OutputSharesInput).

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "caffe2_core/graph/dependencies.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/passes/net_pass.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// Time and memory are linear in the size of the net. Immutable after construction.
class NetValues {
 public:
  using Value = uint32_t;
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Read {
    uint32_t op = kNone;
    uint32_t input = 0;
  };

  // REQUIRES: `net` outlives this object and does not change.
  NetValues(const NetDef& net, const PassContext& context);
  NetValues(const NetDef&& net, const PassContext& context) = delete;

  const NetDependencies& blobs() const { return blobs_; }
  size_t num_operators() const { return blobs_.num_operators(); }
  size_t num_values() const { return values_.size(); }

  // Whether a pass may replace the operator, and may run it later: it is built in, on the CPU
  // with the default engine, conforms to its schema, and accesses nothing but its inputs and outputs.
  bool is_plain(size_t op) const { return plain_[op]; }

  Value input(size_t op, size_t i) const { return accesses_[ends_[2 * op] + i]; }
  Value output(size_t op, size_t i) const { return accesses_[ends_[2 * op + 1] + i]; }
  size_t num_inputs(size_t op) const { return ends_[2 * op + 1] - ends_[2 * op]; }
  size_t num_outputs(size_t op) const { return ends_[2 * op + 2] - ends_[2 * op + 1]; }

  uint32_t blob(Value value) const { return values_[value].blob; }
  // The operator that writes the value, or kNone if it comes from outside.
  uint32_t writer(Value value) const { return values_[value].writer; }
  // The inputs that read the value, in order of operators.
  std::span<const Read> readers(Value value) const {
    return {reads_.data() + read_ends_[value], read_ends_[value + 1] - read_ends_[value]};
  }
  bool is_observable(Value value) const { return values_[value].sight != 0; }
  // Whether the value is observable, but only because it is kept.
  bool is_only_kept(Value value) const { return values_[value].sight == kKept; }
  // Whether the value is observable, but only because its memory is shared.
  bool is_only_shared(Value value) const { return values_[value].sight == kShared; }
  // The only operator that sees the value, through one input, or kNone.
  uint32_t SoleReader(Value value) const;

  // Whether an operator between `first` and `last`, without these, writes the memory of the blob.
  bool IsWrittenBetween(uint32_t blob, size_t first, size_t last) const;
  // Whether an operator between `first` and `last`, without these, uses the memory of the blob.
  bool IsUsedBetween(uint32_t blob, size_t first, size_t last) const;
  // Whether all inputs of operator `op` still have their values when operator `later` runs.
  bool InputsLastUntil(size_t op, size_t later) const;

 private:
  struct ValueState {
    uint32_t blob = 0;
    uint32_t writer = kNone;
    uint8_t sight = 0;  // the reasons for which it is observable
  };
  enum Sight : uint8_t { kKept = 1, kNamed = 2, kShared = 4 };
  // Positions of operators, ascending, by memory.
  class Positions {
   public:
    void Build(size_t memories, std::vector<std::pair<uint32_t, uint32_t>> memory_and_op);
    bool HasBetween(uint32_t memory, size_t first, size_t last) const;

   private:
    std::vector<uint32_t> ops_;
    std::vector<size_t> ends_;
  };

  void FindValues();
  void FindReaders();
  void FindUses(const NetDef& net);
  void FindObservable(const NetDef& net, const std::set<std::string>& kept);

  const NetDependencies blobs_;
  std::vector<bool> plain_;
  std::vector<Value> accesses_;  // inputs, then outputs of operator 0, then those of operator 1
  std::vector<size_t> ends_;
  std::vector<ValueState> values_;
  std::vector<Value> last_;  // by blob: its last value, or kNone
  std::vector<Read> reads_;  // by value
  std::vector<size_t> read_ends_;
  Positions writes_, uses_;
};

}  // namespace caffe2rt
