#pragma once
// The fuzzer's random numbers. They depend only on the seed and are the same on every machine.

#include <cstdint>
#include <string_view>
#include <vector>

namespace caffe2rt::test {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  // SplitMix64 (Steele, Lea, Flood 2014).
  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // In [0, n); 0 for n = 0.
  uint64_t Below(uint64_t n) { return n == 0 ? 0 : Next() % n; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }
  template <class T>
  const T& Pick(const std::vector<T>& items) {
    return items[Below(items.size())];
  }

 private:
  uint64_t state_;
};

// FNV-1a.
inline uint64_t HashOf(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace caffe2rt::test
