#include "caffe2_core/base/content_sum.h"

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

}  // namespace

uint64_t ContentSum(const void* data, size_t nbytes) {
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

}  // namespace caffe2rt
