#include "caffe2_core/graph/passes/fold_constants.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "caffe2_core/graph/passes/net_edits.h"
#include "caffe2_core/graph/passes/net_values.h"

namespace caffe2rt {
namespace {

using Value = NetValues::Value;

class ConstantFolder {
 public:
  ConstantFolder(NetDef* net, PassContext* context)
      : context_(*context), values_(*net, *context), edits_(net) {}

  void Run() {
    for (size_t op = 0; op < values_.num_operators(); ++op) {
      UseFolded(op);
      if (MayFold(op)) Fold(op);
    }
    edits_.Apply();
  }

 private:
  // Replaces the inputs that were folded by the names of their constants.
  void UseFolded(size_t op) {
    if (!values_.is_plain(op)) return;
    for (size_t i = 0; i < values_.num_inputs(op); ++i) {
      const auto folded = folded_.find(values_.input(op, i));
      if (folded == folded_.end()) continue;
      *edits_.Change(op)->mutable_input(static_cast<int>(i)) = folded->second;
    }
  }

  const Tensor* ConstantInput(size_t op, size_t i) const {
    const Value value = values_.input(op, i);
    if (values_.writer(value) != NetValues::kNone && !folded_.contains(value)) return nullptr;
    return context_.constants.Find(edits_.op(op).input(static_cast<int>(i)));
  }

  // Whether the input may have another name: the operator may be changed, and does not have to write
  // the blob that it reads, as Iter and the optimizers do.
  bool MayRename(const NetValues::Read& read) const {
    return values_.is_plain(read.op) &&
           !OpSchemaRegistry::Schema(edits_.op(read.op).type())
                ->input_is_enforced_in_place(static_cast<int>(read.input),
                                             static_cast<int>(values_.num_outputs(read.op)));
  }

  bool MayRenameInReaders(Value value) const {
    const auto readers = values_.readers(value);
    return std::all_of(readers.begin(), readers.end(),
                       [&](const NetValues::Read& read) { return MayRename(read); });
  }

  bool MayFold(size_t op) const {
    if (!values_.is_plain(op) || values_.num_outputs(op) == 0) return false;
    if (values_.num_inputs(op) == 0 && TraitsOf(edits_.op(op).type()).fill == FillForm::kNone) {
      return false;
    }
    for (size_t i = 0; i < values_.num_inputs(op); ++i) {
      if (ConstantInput(op, i) == nullptr) return false;
    }
    for (size_t i = 0; i < values_.num_outputs(op); ++i) {
      const Value value = values_.output(op, i);
      if (values_.is_observable(value) || !MayRenameInReaders(value)) return false;
    }
    return true;
  }

  // The bytes of the inputs that nothing else reads.
  uint64_t ReplacedBytes(size_t op) const {
    uint64_t bytes = 0;
    for (size_t i = 0; i < values_.num_inputs(op); ++i) {
      if (values_.readers(values_.input(op, i)).size() == 1) {
        bytes += ConstantInput(op, i)->nbytes();
      }
    }
    return bytes;
  }

  void Fold(size_t op) {
    const uint64_t replaced = ReplacedBytes(op);
    std::vector<Tensor> results = context_.constants.Evaluate(edits_.op(op));
    if (results.size() != values_.num_outputs(op)) return;
    uint64_t bytes = 0;
    for (const Tensor& result : results) bytes += result.nbytes();
    const uint64_t growth = bytes > replaced ? bytes - replaced : 0;
    if (growth > kMaxGrowthOfConstants - grown_) return;
    grown_ += growth;
    for (size_t i = 0; i < results.size(); ++i) {
      const Value value = values_.output(op, i);
      if (values_.readers(value).empty()) continue;
      folded_[value] =
          context_.constants.Add(edits_.op(op).output(static_cast<int>(i)), std::move(results[i]));
    }
    edits_.Remove(op);
  }

  PassContext& context_;
  const NetValues values_;
  NetEdits edits_;
  std::unordered_map<Value, std::string> folded_;  // the constants that hold the values
  uint64_t grown_ = 0;
};

}  // namespace

NetDef FoldConstants(NetDef net, PassContext& context) {
  ConstantFolder(&net, &context).Run();
  return net;
}

}  // namespace caffe2rt
