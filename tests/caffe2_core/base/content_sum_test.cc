#include "caffe2_core/base/content_sum.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace caffe2rt::content_sum_test {
namespace {

// The definition in the header, word by word.
uint64_t SlowSum(std::vector<unsigned char> bytes) {
  uint64_t sum = bytes.size();
  bytes.resize((bytes.size() + 511) / 512 * 512);
  uint32_t lanes[128];
  for (uint32_t i = 0; i < 128; ++i) lanes[i] = i;
  for (size_t at = 0; at < bytes.size(); at += 4) {
    uint32_t word;
    std::memcpy(&word, bytes.data() + at, 4);
    uint32_t& lane = lanes[at / 4 % 128];
    lane = (lane ^ word) * 0x9e3779b1u;
    lane = lane << 15 | lane >> 17;
  }
  for (const uint32_t lane : lanes) {
    sum = (sum ^ lane) * 0x9e3779b97f4a7c15u;
    sum ^= sum >> 29;
  }
  return sum;
}

TEST(ContentSumTest, ReturnsWhatItsDefinitionStates) {
  for (size_t size = 0; size < 1300; ++size) {
    std::vector<unsigned char> bytes(size);
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<unsigned char>(i * 37 + size);
    ASSERT_EQ(ContentSum(bytes.data(), size), SlowSum(bytes)) << size;
  }
}

TEST(ContentSumTest, EveryBitAndTheSizeCount) {
  std::vector<unsigned char> bytes(700, 1);
  const uint64_t sum = ContentSum(bytes.data(), bytes.size());
  EXPECT_NE(ContentSum(bytes.data(), bytes.size() - 1), sum);
  for (size_t i = 0; i < bytes.size() * 8; ++i) {
    bytes[i / 8] ^= static_cast<unsigned char>(1 << i % 8);
    ASSERT_NE(ContentSum(bytes.data(), bytes.size()), sum) << "bit " << i;
    bytes[i / 8] ^= static_cast<unsigned char>(1 << i % 8);
  }
}

}  // namespace
}  // namespace caffe2rt::content_sum_test
