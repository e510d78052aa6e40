#include "caffe2_core/model/released_weights.h"

#include "caffe2_core/base/release_pages.h"
#include "caffe2_core/graph/dependencies.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "caffe2_core/tensor/storage.h"

namespace caffe2rt {
namespace {

// From this size of a model on, its runs take so long that a millisecond before one does not count.
constexpr size_t kLargeModelBytes = size_t{32} << 20;

}  // namespace

size_t ReleaseStorages(const std::unordered_set<Storage*>& weights) {
  size_t released = 0, prepared = 0;
  for (Storage* const storage : weights) {
    released += storage->ReleaseData();
    // Those of a mapped file, of which the operators read the forms, may have been read by somebody else.
    if (!storage->forms().any()) continue;
    storage->forms().ReleasePages();
    prepared += storage->capacity_bytes();
  }
  if (prepared >= kLargeModelBytes) {
    ReleaseFreedMemory();
    ReleaseCodePages();
  }
  return released;
}

size_t ReleaseWeights(const NetDef& net, const std::set<std::string>& kept, Workspace* ws) {
  const NetDependencies blobs(net);
  const std::unordered_set<std::string> outputs(net.external_output().begin(),
                                                net.external_output().end());
  // Blobs may share memory, of which all must be weights.
  std::unordered_set<const Storage*> others;
  std::unordered_set<Storage*> weights;
  for (const std::string& name : ws->LocalBlobs()) {
    Blob* const blob = ws->GetBlob(name);
    const Tensor* const tensor = FindTensor(*blob);
    if (tensor == nullptr || tensor->storage() == nullptr) continue;
    const uint32_t in_net = blobs.Find(name);
    const bool is_weight = blob->IsType<Tensor>() && in_net != NetBlobs::kNone &&
                           !blobs.is_changed(in_net) && !kept.contains(name) &&
                           !outputs.contains(name) && tensor->storage()->forms().any();
    if (is_weight) {
      weights.insert(tensor->storage().get());
    } else {
      others.insert(tensor->storage().get());
    }
  }
  std::erase_if(weights, [&](const Storage* storage) { return others.contains(storage); });
  for (Storage* const storage : weights) storage->set_read_only();
  return ReleaseStorages(weights);
}

}  // namespace caffe2rt
