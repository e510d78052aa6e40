#include "caffe2_core/tensor/storage.h"

#include <algorithm>
#include <cstring>

namespace caffe2rt {

namespace {

// Any single change alters the sum: each step is a bijection of its lane. Eight lanes hide the
// latency of the multiplication.
uint64_t SumOf(const void* data, size_t nbytes) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15ull;
  constexpr size_t kLanes = 8;
  uint64_t lanes[kLanes] = {1, 2, 3, 4, 5, 6, 7, 8};
  const auto* bytes = static_cast<const unsigned char*>(data);
  size_t i = 0;
  for (; i + sizeof(lanes) <= nbytes; i += sizeof(lanes)) {
    uint64_t words[kLanes];
    std::memcpy(words, bytes + i, sizeof(words));
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] = (lanes[lane] ^ words[lane]) * kOdd;
  }
  for (; i < nbytes; ++i) lanes[0] = (lanes[0] ^ bytes[i]) * kOdd;
  uint64_t sum = nbytes;
  for (const uint64_t lane : lanes) sum = ((sum ^ lane) * kOdd) ^ (sum >> 29);
  return sum;
}

}  // namespace

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

std::shared_ptr<const void> Storage::Derived(const std::string& key, const DerivedMaker& make) {
  std::lock_guard<std::mutex> lock(derived_mutex_);
  std::shared_ptr<const void>& form = derived_[key];
  if (form == nullptr) {
    form = make();
    has_derived_.store(true, std::memory_order_relaxed);
  }
  return form;
}

void Storage::VerifyContent(size_t nbytes) {
  const uint64_t sum = SumOf(data_, std::min(nbytes, capacity_bytes_));
  if (content_sum_.exchange(sum, std::memory_order_relaxed) != sum) MoveVersion();
}

void Storage::DropDerived() {
  std::lock_guard<std::mutex> lock(derived_mutex_);
  derived_.clear();
  has_derived_.store(false, std::memory_order_relaxed);
}

}  // namespace caffe2rt
