#pragma once
// Keeps the outputs of an operator from overwriting integers that it reads.
//
// Two blobs may share memory under different names: Alias makes such blobs, and so do the links of
// RecurrentNetwork. Integers may be indices, which an operator checks before it writes its outputs;
// if an output shared their memory, it could change them after the check.

#include <memory>
#include <mutex>

#include "caffe2_core/runtime/operator.h"

namespace caffe2rt {

namespace internal {
// Gives the output memory of its own if it overlaps that of such an input.
void SeparateOutput(OperatorBase* op, Blob* output);
}  // namespace internal

// Gives an output memory of its own, with the same contents, if it shares that of an input that holds
// int32 or int64 and is another blob. To be called before each run. Does nothing for operators whose
// first input is a mutex: other threads may change their tensors until they hold it.
inline void SeparateOutputs(OperatorBase* op) {
  if (!op->Inputs().empty() && op->Inputs()[0]->IsType<std::unique_ptr<std::mutex>>()) return;
  for (Blob* const blob : op->Outputs()) {
    if (!blob->IsType<Tensor>()) continue;
    const Tensor& tensor = *static_cast<const Tensor*>(blob->GetRaw());
    const bool may_share = tensor.shares_data() || tensor.storage().use_count() > 1;
    if (__builtin_expect(may_share, 0)) internal::SeparateOutput(op, blob);
  }
}

}  // namespace caffe2rt
