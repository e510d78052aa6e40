#include "caffe2_core/tensor/storage.h"

namespace caffe2rt {

Storage::Storage(void* data, size_t capacity_bytes, MemoryDeleter deleter, DeviceType device,
                 TypeMeta meta, int64_t count)
    : data_(data),
      capacity_bytes_(capacity_bytes),
      deleter_(deleter),
      device_(device),
      meta_(meta),
      constructed_(meta.dtor() != nullptr ? count : 0) {}

Storage::~Storage() {
  if (data_ == nullptr) return;
  if (constructed_ > 0) meta_.dtor()(data_, static_cast<size_t>(constructed_));
  deleter_(data_);
}

std::shared_ptr<const void> Storage::Derived(const std::string& key, const DerivedMaker& make) {
  std::lock_guard<std::mutex> lock(derived_mutex_);
  std::shared_ptr<const void>& form = derived_[key];
  if (form == nullptr) {
    form = make();
    has_derived_.store(true, std::memory_order_relaxed);
  }
  return form;
}

void Storage::DropDerived() {
  std::lock_guard<std::mutex> lock(derived_mutex_);
  derived_.clear();
  has_derived_.store(false, std::memory_order_relaxed);
}

}  // namespace caffe2rt
