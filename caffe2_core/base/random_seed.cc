#include "caffe2_core/base/random_seed.h"

#include <unistd.h>

#include <atomic>
#include <chrono>

namespace caffe2rt {

uint32_t RandomNumberSeed() {
  static std::atomic<uint32_t> counter{0};
  const auto now = std::chrono::high_resolution_clock::now().time_since_epoch().count();
  uint64_t mixed = static_cast<uint64_t>(now) ^ (static_cast<uint64_t>(getpid()) << 32);
  mixed += 0x9e3779b97f4a7c15ull * (counter.fetch_add(1, std::memory_order_relaxed) + 1);
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ull;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebull;
  return static_cast<uint32_t>(mixed ^ (mixed >> 31));
}

}  // namespace caffe2rt
