#include "caffe2_core/tensor/storage.h"

#include <algorithm>

#include "caffe2_core/base/content_sum.h"

namespace caffe2rt {

constinit thread_local int TransientWrites::depth_ = 0;

Storage::Storage(void* data, size_t capacity_bytes, MemoryDeleter deleter, DeviceType device,
                 TypeMeta meta, int64_t count)
    : data_(data),
      capacity_bytes_(capacity_bytes),
      device_(device),
      deleter_(deleter),
      meta_(meta),
      constructed_(meta.dtor() != nullptr ? count : 0) {}

Storage::~Storage() {
  if (data_ == nullptr) return;
  if (constructed_ > 0) meta_.dtor()(data_, static_cast<size_t>(constructed_));
  deleter_(data_);
}

void Storage::VerifyContent(size_t nbytes) {
  const uint64_t sum = ContentSum(data_, std::min(nbytes, capacity_bytes_));
  if (content_sum_.load(std::memory_order_acquire) == sum) return;
  // Increment the version first: a thread that reads the new checksum must also read the new
  // version.
  MoveVersion();
  content_sum_.store(sum, std::memory_order_release);
}

}  // namespace caffe2rt
