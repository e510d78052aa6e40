#include "caffe2_core/graph/passes/remove_copies.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/passes/merging.h"
#include "caffe2_core/graph/passes/net_edits.h"
#include "caffe2_core/graph/passes/net_values.h"

namespace caffe2rt {
namespace {

using Value = NetValues::Value;

class NoOpRemover {
 public:
  NoOpRemover(NetDef* net, const PassContext& context)
      : net_(*net),
        values_(*net, context),
        edits_(net),
        origin_(values_.num_values()),
        observed_(values_.num_values()),
        reads_(values_.num_values()),
        read_later_(values_.blobs().size()) {
    std::iota(origin_.begin(), origin_.end(), Value{0});
    for (Value v = 0; v < reads_.size(); ++v) reads_[v] = values_.readers(v).size();
  }

  void Run() {
    for (size_t op = 0; op < values_.num_operators(); ++op) {
      if (IsNoOp(op) && Remove(op)) edits_.Remove(op);
    }
    edits_.Apply();
  }

 private:
  const OperatorDef& Def(size_t op) const { return net_.op(static_cast<int>(op)); }

  bool IsNoOp(size_t op) const try {
    if (!values_.is_plain(op) || values_.num_inputs(op) != 1) return false;
    for (size_t i = 1; i < values_.num_outputs(op); ++i) {  // a mask, or the sizes of a Concat
      const Value other = values_.output(op, i);
      if (!values_.readers(other).empty() || values_.is_observable(other)) return false;
    }
    const PassesOnRule passes_on = TraitsOf(Def(op).type()).passes_on;
    if (passes_on == nullptr) return false;
    const PassesOn found = passes_on(Def(op));
    return found == PassesOn::kAlways || (found == PassesOn::kFloats && ReadsFloats(op));
  } catch (const EnforceNotMet&) {  // an argument has the wrong type, which the operator reports
    return false;
  }

  // Whether an operator computes input 0 as output 0, and that is of type float.
  bool ReadsFloats(size_t op) const {
    const Value input = values_.input(op, 0);
    const uint32_t writer = values_.writer(input);
    return writer != NetValues::kNone && input == values_.output(writer, 0) &&
           TraitsOf(Def(writer).type()).writes_float;
  }

  // The value that the operator passes on, which other removed operators may have passed on to it.
  Value Origin(size_t op) const { return origin_[values_.input(op, 0)]; }

  bool Remove(size_t op) {
    const Value result = values_.output(op, 0), origin = Origin(op);
    const bool in_place = values_.blob(result) == values_.blob(origin);
    if (in_place && IsObserved(result)) observed_[origin] = true;
    if (in_place || UseOrigin(op, origin, result)) {
      origin_[result] = origin;
      reads_[origin] += reads_[result];
      --reads_[origin];
      return true;
    }
    return WriteResult(op, origin, result);
  }

  // Whether code outside the net may read the value under the name of its blob.
  bool IsObserved(Value value) const { return values_.is_observable(value) || observed_[value]; }

  // Whether the result is a view of the input without which the net computes the same: nothing else
  // writes the result, which in the next run would be the memory of the origin, and nothing writes
  // the memory later.
  bool IsPlainView(size_t op, uint32_t origin_blob, Value result) const {
    const uint32_t blob = values_.blob(result);
    const OpSchema& schema = *OpSchemaRegistry::Schema(Def(op).type());
    return schema.shared_memory().contains({0, 0}) && values_.is_only_shared(result) &&
           values_.blobs().first_writer(blob) == op && values_.blobs().last_writer(blob) == op &&
           !values_.IsWrittenBetween(origin_blob, op, values_.num_operators());
  }

  // Lets the readers of the result read the origin instead.
  bool UseOrigin(size_t op, Value origin, Value result) {
    const uint32_t blob = values_.blob(origin);
    if (values_.is_observable(result) && !IsPlainView(op, blob, result)) return false;
    for (const NetValues::Read& read : values_.readers(result)) {
      if (!MayRead(op, read, blob)) return false;
    }
    const std::string& name = values_.blobs().name(blob);
    for (const NetValues::Read& read : values_.readers(result)) {
      edits_.Change(read.op)->set_input(static_cast<int>(read.input), name);
    }
    read_later_[values_.blobs().memory(blob)] = true;
    return true;
  }

  // Whether the reader of the result of `op` may read the blob instead: the blob still has its
  // value then, and the reader does not become one that works in place.
  bool MayRead(size_t op, const NetValues::Read& read, uint32_t blob) const {
    if (!values_.is_plain(read.op) || values_.IsWrittenBetween(blob, op, read.op)) return false;
    const NetDependencies& blobs = values_.blobs();
    for (const uint32_t output : blobs.outputs(read.op)) {
      if (blobs.memory(output) == blobs.memory(blob)) return false;
    }
    OperatorDef changed = edits_.op(read.op);
    changed.set_input(static_cast<int>(read.input), blobs.name(blob));
    return OpSchemaRegistry::Schema(changed.type())->Verify(changed);
  }

  // Lets the operator that computes the origin write the result, if nothing else reads the origin.
  bool WriteResult(size_t op, Value origin, Value result) {
    const uint32_t writer = values_.writer(origin), blob = values_.blob(result);
    if (!values_.is_only_kept(result) || IsObserved(origin) || reads_[origin] != 1 ||
        writer == NetValues::kNone || !values_.is_plain(writer) ||
        values_.IsUsedBetween(blob, writer, op) || read_later_[values_.blobs().memory(blob)]) {
      return false;
    }
    OperatorDef changed = edits_.op(writer);
    if (UsesMemory(changed, blob)) return false;
    for (size_t i = 0; i < values_.num_outputs(writer); ++i) {
      if (values_.output(writer, i) != origin) continue;
      changed.set_output(static_cast<int>(i), values_.blobs().name(blob));
    }
    if (!OpSchemaRegistry::Schema(changed.type())->Verify(changed)) return false;
    edits_.Put(writer, std::move(changed));
    return true;
  }

  bool UsesMemory(const OperatorDef& op, uint32_t blob) const {
    const NetDependencies& blobs = values_.blobs();
    const auto uses = [&](const std::string& name) {
      return blobs.memory(blobs.Find(name)) == blobs.memory(blob);
    };
    return std::any_of(op.input().begin(), op.input().end(), uses) ||
           std::any_of(op.output().begin(), op.output().end(), uses);
  }

  const NetDef& net_;
  const NetValues values_;
  NetEdits edits_;
  std::vector<Value> origin_;  // by value: the value that holds the same after the removals
  // By value: whether a removed operator that worked in place passed it on to an observed value.
  std::vector<bool> observed_;
  std::vector<size_t> reads_;  // by value: the inputs that read it after the removals
  // By memory: whether operators read it that did not before, so that it must not be written
  // earlier.
  std::vector<bool> read_later_;
};

}  // namespace

NetDef RemoveCopies(NetDef net, PassContext& context) {
  NoOpRemover(&net, context).Run();
  return net;
}

}  // namespace caffe2rt
