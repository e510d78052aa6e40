#include "caffe2_core/tensor/data_source.h"

#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/tensor/storage.h"

namespace caffe2rt {
namespace {

// The state of the deleter: what owns the memory, and its source.
struct Sourced {
  Tensor values;
  std::shared_ptr<DataSource> source;  // shared with the storages that have been released
};

void FreeSourced(void*, void* state) { delete static_cast<Sourced*>(state); }

}  // namespace

Tensor WithSource(Tensor values, std::shared_ptr<DataSource> source) {
  CAFFE_ENFORCE(source != nullptr && values.GetDeviceType() == CPU && values.HasData() &&
                    values.dtype().IsPlainData(),
                "a tensor gets a source of its data, want one on the CPU with plain data");
  auto owner = std::make_unique<Sourced>();
  Tensor tensor(values.sizes(), CPU);
  const TypeMeta type = values.dtype();
  const size_t nbytes = values.nbytes();
  void* data = nullptr;
  {
    const TransientWrites scope;
    data = values.raw_mutable_data();
  }
  *owner = {.values = std::move(values), .source = std::move(source)};
  tensor.ShareExternalPointer(data, type, nbytes, MemoryDeleter(&FreeSourced, owner.release()));
  return tensor;
}

// The first write increments the version.
std::shared_ptr<DataSource> SourceOf(const Storage& storage) {
  if (!IsSourced(storage.deleter()) || storage.version() != 0) return nullptr;
  return static_cast<const Sourced*>(storage.deleter().state())->source;
}

void NoRestore::operator()(const void*, void*) const {
  CAFFE_THROW("data are restored from a form that cannot restore them");
}

bool IsSourced(const MemoryDeleter& deleter) { return deleter.function() == &FreeSourced; }

}  // namespace caffe2rt
