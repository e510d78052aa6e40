#include "caffe2_core/tensor/storage.h"

#include <algorithm>
#include <cstring>

#include "caffe2_core/base/simd.h"

namespace caffe2rt {

namespace {

constexpr size_t kLanes = 128;  // enough independent vectors to hide the latency of a step
constexpr size_t kRoundBytes = kLanes * sizeof(uint32_t);

// Mixes `rounds` blocks of kLanes words into the lanes, word i of each block into lane i. For a
// given word, a step is a bijection of the lane, and for a given lane, a bijection of the word; so
// the change of a single word always changes the result. Multiplication moves bits only upwards,
// and a change of the top bit alone would stay there: two changes of sign would then cancel each
// other. The rotation moves the top bits down to prevent this.
CAFFE2RT_SIMD void MixRounds(const unsigned char* bytes, size_t rounds, uint32_t* lanes) {
  constexpr uint32_t kOdd = 0x9e3779b1u;
  for (size_t round = 0; round < rounds; ++round, bytes += kRoundBytes) {
    uint32_t words[kLanes];
    std::memcpy(words, bytes, sizeof(words));
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const uint32_t mixed = (lanes[lane] ^ words[lane]) * kOdd;
      lanes[lane] = (mixed << 15) | (mixed >> 17);
    }
  }
}

// A checksum of the memory, at nearly the speed of reading it. kLanes independent lanes each take
// one 32-bit word of a block; the last block is padded with zeros. The lanes and the length are
// then combined into 64 bits.
uint64_t SumOf(const void* data, size_t nbytes) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15ull;
  const auto* bytes = static_cast<const unsigned char*>(data);
  uint32_t lanes[kLanes];
  for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] = static_cast<uint32_t>(lane);
  const size_t whole = nbytes / kRoundBytes, rest = nbytes % kRoundBytes;
  MixRounds(bytes, whole, lanes);
  if (rest > 0) {
    unsigned char last[kRoundBytes] = {};
    std::memcpy(last, bytes + whole * kRoundBytes, rest);
    MixRounds(last, 1, lanes);
  }
  uint64_t sum = nbytes;
  for (const uint32_t lane : lanes) {
    sum = (sum ^ lane) * kOdd;
    sum ^= sum >> 29;
  }
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
  const MutexLock lock(derived_mutex_);
  std::shared_ptr<const void>& form = derived_[key];
  if (form == nullptr) {
    form = make();
    has_derived_.store(true, std::memory_order_relaxed);
  }
  return form;
}

void Storage::VerifyContent(size_t nbytes) {
  const uint64_t sum = SumOf(data_, std::min(nbytes, capacity_bytes_));
  if (content_sum_.load(std::memory_order_acquire) == sum) return;
  // Increment the version first: a thread that reads the new checksum must also read the new
  // version.
  MoveVersion();
  content_sum_.store(sum, std::memory_order_release);
}

void Storage::DropDerived() {
  const MutexLock lock(derived_mutex_);
  derived_.clear();
  has_derived_.store(false, std::memory_order_relaxed);
}

}  // namespace caffe2rt
