#include "caffe2_core/graph/dependencies.h"

#include <algorithm>
#include <new>
#include <numeric>
#include <set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt {
namespace {

constexpr uint32_t kNone = NetBlobs::kNone;

// The effects of operators that their inputs and outputs do not show, as declared by their schemas.
//
// Effects on anything but blobs (files, the state of a random generator, blobs that are found by
// name when the operator runs) are not tracked. To add one, give it a memory index after those of
// the blobs: operators with the effect write that memory, and operators that must not be reordered
// with them read it.
struct Effects {
  std::vector<uint32_t> modified;  // the modified inputs of all operators, concatenated
  std::vector<size_t> ends = {0};  // those of `op` are the range [ends[op], ends[op + 1])
  std::vector<NetDependencies::BlobPair> same_memory;
  std::vector<uint32_t> written;  // outputs that do not merely share an input's memory

  std::span<const uint32_t> modified_by(size_t op) const {
    return {modified.data() + ends[op], ends[op + 1] - ends[op]};
  }
};

Effects EffectsOf(const NetDef& net, const NetBlobs& blobs) {
  Effects effects;
  for (size_t op = 0; op < blobs.num_operators(); ++op) {
    const std::string& type = net.op(static_cast<int>(op)).type();
    const OpSchema* const schema = OpSchemaRegistry::Schema(type);
    const std::span<const uint32_t> inputs = blobs.inputs(op), outputs = blobs.outputs(op);
    std::set<size_t> sharing;  // positions of outputs
    if (schema != nullptr) {
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (schema->modifies_input(static_cast<int>(i))) effects.modified.push_back(inputs[i]);
      }
      for (const auto& [input, output] : schema->shared_memory()) {
        const size_t in = static_cast<size_t>(input), out = static_cast<size_t>(output);
        if (in >= inputs.size() || out >= outputs.size()) continue;
        effects.same_memory.emplace_back(inputs[in], outputs[out]);
        sharing.insert(out);
      }
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!sharing.contains(i)) effects.written.push_back(outputs[i]);
    }
    effects.ends.push_back(effects.modified.size());
  }
  return effects;
}

// The sets of blobs that share memory, as the transitive closure of `pairs`. The result maps each
// blob to the lowest index in its set. Union-find with path halving; the root of a set is its
// lowest index. Takes logarithmic amortized time per pair and blob.
std::vector<uint32_t> MergedMemory(size_t blobs,
                                   const std::vector<NetDependencies::BlobPair>& pairs) {
  std::vector<uint32_t> memory(blobs);
  std::iota(memory.begin(), memory.end(), 0u);
  const auto find = [&memory](uint32_t blob) {
    while (memory[blob] != blob) blob = memory[blob] = memory[memory[blob]];
    return blob;
  };
  for (const auto& [a, b] : pairs) {
    const auto [first, second] = std::minmax({find(a), find(b)});
    memory[second] = first;
  }
  for (uint32_t blob = 0; blob < blobs; ++blob) memory[blob] = find(blob);
  return memory;
}

// Finds the predecessors of each operator in one pass over the net. For each memory it keeps the
// last writer and the readers since that write. A read depends on that writer; a write depends on
// that writer and on those readers, and then replaces them all. Later accesses need no dependency
// on the replaced operators, because they depend on the new writer. Each entry in a list of readers
// is visited by at most one write, so all calls together take linear time, apart from sorting.
//
// Call Read and Write for the accesses of one operator, reads first, and then Take.
class Ordering {
 public:
  explicit Ordering(size_t memories) : memories_(memories) {}

  void Read(uint32_t memory, uint32_t op) {
    Memory& state = memories_[memory];
    if (state.writer != kNone) found_.push_back(state.writer);
    if (state.readers != kNone && readers_[state.readers].op == op) return;  // already listed
    readers_.push_back({.op = op, .next = state.readers});
    state.readers = static_cast<uint32_t>(readers_.size() - 1);
  }
  void Write(uint32_t memory, uint32_t op) {
    Memory& state = memories_[memory];
    if (state.writer != kNone && state.writer != op) found_.push_back(state.writer);
    for (uint32_t i = state.readers; i != kNone; i = readers_[i].next) {
      if (readers_[i].op != op) found_.push_back(readers_[i].op);
    }
    state = {.writer = op};
  }
  // Appends the predecessors of the current operator: distinct, in ascending order.
  void Take(std::vector<uint32_t>* predecessors) {
    std::sort(found_.begin(), found_.end());
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    predecessors->insert(predecessors->end(), found_.begin(), found_.end());
    found_.clear();
  }

 private:
  struct Memory {
    uint32_t writer = kNone;
    uint32_t readers = kNone;  // head of the list of readers since the last write, in readers_
  };
  struct Reader {
    uint32_t op;
    uint32_t next;  // index in readers_, or kNone
  };
  std::vector<Memory> memories_;
  std::vector<Reader> readers_;  // nodes of all lists; never removed
  std::vector<uint32_t> found_;  // predecessors of the current operator, with duplicates
};

}  // namespace

NetDependencies::NetDependencies(const NetDef& net) : NetBlobs(net) { Build(net); }

NetDependencies::NetDependencies(const NetDef& net, std::span<const BoundBlobs> bound)
    : NetBlobs(net, bound) {
  Build(net);
}

void NetDependencies::Build(const NetDef& net) try {
  Effects effects = EffectsOf(net, *this);
  memory_ = MergedMemory(size(), effects.same_memory);
  memory_written_.resize(size());
  for (const uint32_t blob : effects.written) memory_written_[memory_[blob]] = true;
  Ordering ordering(size());
  predecessor_ends_ = {0};
  for (uint32_t op = 0; op < num_operators(); ++op) {
    for (const uint32_t blob : inputs(op)) ordering.Read(memory_[blob], op);
    for (const uint32_t blob : control_inputs(op)) ordering.Read(memory_[blob], op);
    for (const uint32_t blob : effects.modified_by(op)) ordering.Write(memory_[blob], op);
    for (const uint32_t blob : outputs(op)) ordering.Write(memory_[blob], op);
    ordering.Take(&predecessors_);
    predecessor_ends_.push_back(predecessors_.size());
  }
  same_memory_ = std::move(effects.same_memory);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void NetDependencies::CheckOrder(std::span<const size_t> order) const {
  CAFFE_ENFORCE_EQ(order.size(), num_operators(), "operators in the order of a net");
  std::vector<bool> started(num_operators());
  for (const size_t op : order) {
    CAFFE_ENFORCE(op < started.size() && !started[op], "the order of a net has operator ", op,
                  op < started.size() ? " twice" : "", ", want each of ", started.size(), " once");
    for (const uint32_t before : predecessors(op)) {
      CAFFE_ENFORCE(started[before], "the order of a net has operator ", op, " before operator ",
                    before, ", want it after");
    }
    started[op] = true;
  }
}

}  // namespace caffe2rt
