// The memory of a predictor's weights: it is shared by the instances, and released where prepared forms suffice.

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "caffe2_core/model/predictor_instances.h"
#include "caffe2_core/model/released_weights.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "caffe2_core/tensor/storage.h"

namespace caffe2rt {

void Predictor::Instances::MarkWeights() {
  for (const std::string& name : weights.LocalBlobs()) {
    Blob* blob = weights.GetBlob(name);
    if (blob->IsType<Tensor>()) blob->GetMutable<Tensor>()->MarkReadOnly();
    if (blob->IsType<Int8TensorCPU>()) blob->GetMutable<Int8TensorCPU>()->t.MarkReadOnly();
  }
}

void Predictor::Instances::FindWeightsOfOthers() {
  std::unordered_map<const Storage*, long> held;
  for (const std::string& name : weights.LocalBlobs()) {
    const Tensor* const weight = FindTensor(*weights.GetBlob(name));
    if (weight != nullptr && weight->storage() != nullptr) ++held[weight->storage().get()];
  }
  for (const std::string& name : weights.LocalBlobs()) {
    const Tensor* const weight = FindTensor(*weights.GetBlob(name));
    if (weight == nullptr || weight->storage() == nullptr) continue;
    const std::shared_ptr<Storage>& storage = weight->storage();
    if (storage.use_count() > held[storage.get()]) others_hold_.insert(storage.get());
  }
}

bool Predictor::Instances::MustStayExact(const std::string& name, const Storage* storage) const {
  const bool is_output =
      std::find(output_names.begin(), output_names.end(), name) != output_names.end();
  return is_output || options.kept_blobs.contains(name) || others_hold_.contains(storage);
}

void Predictor::Instances::ReleaseWeights() {
  // Others may use the weights of a parent, and what an init net made of them.
  if (!options.release_weights || parent_ != nullptr) return;
  const bool rounds = preparation.options.precision != Precision::kFloat32;
  std::unordered_set<Storage*> released;
  for (const std::string& name : weights.LocalBlobs()) {
    const Tensor* const weight = FindTensor(*weights.GetBlob(name));
    if (weight == nullptr || weight->storage() == nullptr) continue;
    if (rounds && MustStayExact(name, weight->storage().get())) continue;
    released.insert(weight->storage().get());
  }
  (void)ReleaseStorages(released);
}

void Predictor::Instances::ReleaseWeightsAfterFirstRun() {
  const MutexLock lock(mutex_);
  if (has_run_.exchange(true)) return;
  // The caller leases the only instance, so nothing else runs until the mutex is released.
  if (all_.size() == 1 && !growing_ && !has_own_) ReleaseWeights();
}

}  // namespace caffe2rt
