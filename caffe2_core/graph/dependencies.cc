#include "caffe2_core/graph/dependencies.h"

#include <algorithm>
#include <map>
#include <new>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/graph/nested_nets.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/shared_memory.h"

namespace caffe2rt {
namespace {

constexpr uint32_t kNone = NetBlobs::kNone;

// The effects of operators that their inputs and outputs do not show, as declared by their schemas.
struct Effects {
  std::vector<uint32_t> modified;  // the modified inputs of all operators, concatenated
  std::vector<size_t> ends = {0};  // those of `op` are the range [ends[op], ends[op + 1])
  std::vector<uint32_t> written;   // outputs that do not merely share an input's memory
  std::vector<QueueUse> queue_uses;  // by operator: what it does with its modified inputs

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
        sharing.insert(out);
      }
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!sharing.contains(i)) effects.written.push_back(outputs[i]);
    }
    effects.ends.push_back(effects.modified.size());
    effects.queue_uses.push_back(TraitsOf(type).queue_use);
  }
  return effects;
}

// What the nets in the arguments of operators access, and which blobs share memory. Names that no
// operator lists get indices after those of the blobs.
class NestedAccesses {
 public:
  NestedAccesses(const NetDef& net, const NetBlobs& blobs) : blobs_(blobs) {
    for (int i = 0; i < net.op_size(); ++i) {
      AddShared(net.op(i), static_cast<size_t>(i));
      if (!HasNestedNets(net.op(i))) continue;
      const NestedBlobs names = NestedBlobsOf(net.op(i));
      Accesses& accesses = by_operator_[static_cast<size_t>(i)];
      for (const std::string& name : names.read) accesses.read.push_back(IndexOf(name));
      for (const std::string& name : names.written) accesses.written.push_back(IndexOf(name));
      for (const auto& [name, use] : names.queues) accesses.queues.emplace_back(IndexOf(name), use);
      for (const auto& [a, b] : names.same_memory) {
        same_memory_.emplace_back(IndexOf(a), IndexOf(b));
      }
    }
  }

  struct Accesses {
    bool IsQueue(uint32_t blob) const {
      return std::any_of(queues.begin(), queues.end(),
                         [blob](const auto& queue) { return queue.first == blob; });
    }
    std::vector<uint32_t> read, written;
    std::vector<std::pair<uint32_t, QueueUse>> queues;  // of `written`
  };
  // Null if the operator has no nets.
  const Accesses* Of(size_t op) const {
    const auto found = by_operator_.find(op);
    return found == by_operator_.end() ? nullptr : &found->second;
  }
  // The number of blobs and of names that no operator lists.
  size_t size() const { return blobs_.size() + extra_.size(); }
  // The pairs that schemas declare to share memory, in the order of the operators.
  const std::vector<NetDependencies::BlobPair>& same_memory() const { return same_memory_; }

 private:
  void AddShared(const OperatorDef& op, size_t position) {
    for (const auto& [a, b] : SharedNamesOf(op)) {
      same_memory_.emplace_back(IndexIn(op, position, a), IndexIn(op, position, b));
    }
  }
  // The blob that a name of operator `op` denotes. Two operators may be bound to different blobs of
  // one name.
  uint32_t IndexIn(const OperatorDef& op, size_t position, const std::string& name) {
    for (int i = 0; i < op.output_size(); ++i) {
      if (op.output(i) == name) return blobs_.outputs(position)[static_cast<size_t>(i)];
    }
    for (int i = 0; i < op.input_size(); ++i) {
      if (op.input(i) == name) return blobs_.inputs(position)[static_cast<size_t>(i)];
    }
    return IndexOf(name);
  }
  uint32_t IndexOf(const std::string& name) {
    const uint32_t blob = blobs_.Find(name);
    if (blob != kNone) return blob;
    const auto next = static_cast<uint32_t>(size());
    return extra_.try_emplace(name, next).first->second;
  }

  const NetBlobs& blobs_;
  std::map<std::string, uint32_t> extra_;
  std::map<size_t, Accesses> by_operator_;
  std::vector<NetDependencies::BlobPair> same_memory_;
};

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
    queues_.erase(memory);
  }
  // A use of a queue counts as a read of its blob, for the queue orders records itself. Besides,
  // operators with the same use keep their order, and so do closing and putting.
  void UseQueue(uint32_t memory, QueueUse use, uint32_t op) {
    Read(memory, op);
    Queue& queue = queues_[memory];
    const auto after = [&](uint32_t last) {
      if (last != kNone && last != op) found_.push_back(last);
    };
    if (use == QueueUse::kTakes) {
      after(std::exchange(queue.take, op));
    } else {
      after(std::exchange(queue.put_or_close, op));
    }
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
  struct Queue {  // the last operators that used it
    uint32_t put_or_close = kNone;
    uint32_t take = kNone;
  };
  std::vector<Memory> memories_;
  std::unordered_map<uint32_t, Queue> queues_;  // by memory, since its last write
  std::vector<Reader> readers_;  // nodes of all lists; never removed
  std::vector<uint32_t> found_;  // predecessors of the current operator, with duplicates
};

// The effects of operators on state that no blob shows. Each kind of state is a memory like those
// of blobs, with an index after theirs. The first one is written by operators that depend on
// everything, and read by all others.
class HiddenState {
 public:
  HiddenState(const NetDef& net, uint32_t first) : everything_(first), next_(first + 1) {
    for (int i = 0; i < net.op_size(); ++i) {
      AddOperator(net.op(i));
      writes_.insert(writes_.end(), found_.begin(), found_.end());
      has_barrier_ = has_barrier_ || found_.contains(everything_);
      found_.clear();
      ends_.push_back(writes_.size());
    }
  }
  // One more than the highest index of a memory.
  size_t end() const { return next_; }
  uint32_t everything() const { return everything_; }
  // Whether any operator depends on everything.
  bool has_barrier() const { return has_barrier_; }
  std::span<const uint32_t> written_by(size_t op) const {
    return {writes_.data() + ends_[op], ends_[op + 1] - ends_[op]};
  }

 private:
  // Collects the effects of an operator, and of the operators in the nets in its arguments, in
  // found_. Uses a list instead of recursion, because nets may be nested deeply.
  void AddOperator(const OperatorDef& outermost) {
    std::vector<const NetDef*> nets;
    AddOne(outermost, &nets);
    while (!nets.empty()) {
      const NetDef& inner = *nets.back();
      nets.pop_back();
      for (const OperatorDef& op : inner.op()) AddOne(op, &nets);
    }
  }

  void AddOne(const OperatorDef& op, std::vector<const NetDef*>* nets) {
    if (const OpSchema* const schema = OpSchemaRegistry::Schema(op.type()); schema != nullptr) {
      if (schema->has_effect(Effect::kFiles, op)) Found(Effect::kFiles);
      if (schema->has_effect(Effect::kOutput, op)) Found(Effect::kOutput);
      if (schema->has_effect(Effect::kCommunication, op)) Found(Effect::kCommunication);
      if (schema->has_effect(Effect::kEverything, op) || AccessesUnlisted(*schema, op)) {
        found_.insert(everything_);
      }
    }
    for (const Argument& arg : op.arg()) {
      if (arg.has_n()) nets->push_back(&arg.n());
      for (const NetDef& net : arg.nets()) nets->push_back(&net);
    }
  }

  static bool AccessesUnlisted(const OpSchema& schema, const OperatorDef& op) {
    try {
      return schema.accesses_unlisted_blobs(op);
    } catch (...) {  // invalid arguments, which the constructor will reject as well
      return true;
    }
  }

  void Found(Effect effect) {
    const auto [known, is_new] = memories_.try_emplace(effect, next_);
    if (is_new) ++next_;
    found_.insert(known->second);
  }

  const uint32_t everything_;
  uint32_t next_;
  std::map<Effect, uint32_t> memories_;
  std::set<uint32_t> found_;        // of the current operator
  std::vector<uint32_t> writes_;    // of all operators, concatenated
  std::vector<size_t> ends_ = {0};  // those of `op` are the range [ends_[op], ends_[op + 1])
  bool has_barrier_ = false;
};

}  // namespace

NetDependencies::NetDependencies(const NetDef& net) : NetBlobs(net) { Build(net); }

NetDependencies::NetDependencies(const NetDef& net, std::span<const BoundBlobs> bound)
    : NetBlobs(net, bound) {
  Build(net);
}

void NetDependencies::Build(const NetDef& net) try {
  const Effects effects = EffectsOf(net, *this);
  const NestedAccesses nested(net, *this);
  memory_ = MergedMemory(nested.size(), nested.same_memory());
  memory_written_.resize(2 * nested.size());
  for (const uint32_t blob : effects.written) memory_written_[memory_[blob]] = true;
  for (const uint32_t blob : effects.modified) {
    memory_written_[memory_.size() + memory_[blob]] = true;
  }
  const HiddenState hidden(net, static_cast<uint32_t>(nested.size()));
  Ordering ordering(hidden.end());
  predecessor_ends_ = nested_ends_ = {0};
  for (uint32_t op = 0; op < num_operators(); ++op) {
    for (const uint32_t blob : inputs(op)) ordering.Read(memory_[blob], op);
    for (const uint32_t blob : control_inputs(op)) ordering.Read(memory_[blob], op);
    if (hidden.has_barrier()) ordering.Read(hidden.everything(), op);
    const NestedAccesses::Accesses* const inner = nested.Of(op);
    if (inner != nullptr) {
      for (const uint32_t blob : inner->read) ordering.Read(memory_[blob], op);
      for (const uint32_t blob : inner->written) {
        if (!inner->IsQueue(blob)) ordering.Write(memory_[blob], op);
      }
      for (const auto& [blob, use] : inner->queues) ordering.UseQueue(memory_[blob], use, op);
      AddNested(op, inner->read, inner->written);
    }
    nested_ends_.push_back(nested_.size());
    for (const uint32_t blob : effects.modified_by(op)) {
      if (effects.queue_uses[op] == QueueUse::kNone) {
        ordering.Write(memory_[blob], op);
      } else {
        ordering.UseQueue(memory_[blob], effects.queue_uses[op], op);
      }
    }
    for (const uint32_t blob : outputs(op)) ordering.Write(memory_[blob], op);
    for (const uint32_t state : hidden.written_by(op)) ordering.Write(state, op);
    ordering.Take(&predecessors_);
    predecessor_ends_.push_back(predecessors_.size());
  }
  for (const BlobPair& pair : nested.same_memory()) {
    if (pair.first < size() && pair.second < size()) same_memory_.push_back(pair);
  }
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

// Appends the blobs of operator `op` to the lists of nested().
void NetDependencies::AddNested(size_t op, std::span<const uint32_t> read,
                                std::span<const uint32_t> written) {
  const std::span<const uint32_t> listed = all(op);
  std::set<uint32_t> known(listed.begin(), listed.end());
  for (const std::span<const uint32_t> blobs : {read, written}) {
    for (const uint32_t blob : blobs) {
      if (blob < size() && known.insert(blob).second) nested_.push_back(blob);
    }
  }
  for (const uint32_t blob : written) memory_written_[memory_[blob]] = true;
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
