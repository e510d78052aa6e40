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

size_t ReleaseWeightsOf(const Workspace& ws, const std::vector<std::string>& names,
                        const std::function<bool(const std::string&, const Storage&)>& stays) {
  size_t bytes = 0, prepared_bytes = 0;
  for (const std::string& name : names) {
    const std::shared_ptr<Blob> blob = ws.FindBlob(name);
    const Tensor* const weight = blob == nullptr ? nullptr : FindTensor(*blob);
    if (weight == nullptr || weight->storage() == nullptr) continue;
    if (stays(name, *weight->storage())) continue;
    bytes += weight->storage()->ReleaseData();
    // Those of a mapped file, of which the operators read the forms, may have been read by somebody else.
    if (!weight->storage()->forms().any()) continue;
    weight->storage()->forms().ReleasePages();
    prepared_bytes += weight->storage()->capacity_bytes();
  }
  if (prepared_bytes >= kLargeModelBytes) {
    ReleaseFreedMemory();
    ReleaseCodePages();
  }
  return bytes;
}

size_t ReleaseConstants(const NetDef& net, const PreparationOptions& how,
                        const std::set<std::string>& kept, Workspace* ws) {
  std::vector<std::string> constants;
  const NetDependencies blobs(net);
  for (const uint32_t blob : blobs.read_first()) {
    const std::string& name = blobs.name(blob);
    if (blobs.is_changed(blob) || how.inputs.contains(name) || !ws->HasBlob(name)) continue;
    Blob* const object = ws->GetBlob(name);
    if (object->IsType<Tensor>()) object->GetMutable<Tensor>()->MarkReadOnly();
    constants.push_back(name);
  }
  const bool rounds = how.precision == Precision::kInt8;
  return ReleaseWeightsOf(*ws, constants, [&](const std::string& name, const Storage&) {
    return rounds && kept.contains(name);
  });
}

}  // namespace caffe2rt
