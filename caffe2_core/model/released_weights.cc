#include "caffe2_core/model/released_weights.h"

#include <unordered_set>

#include "caffe2_core/graph/dependencies.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "caffe2_core/tensor/storage.h"

namespace caffe2rt {

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
  size_t released = 0;
  for (Storage* const storage : weights) {
    if (others.contains(storage)) continue;
    storage->set_read_only();
    released += storage->ReleaseData();
  }
  return released;
}

}  // namespace caffe2rt
