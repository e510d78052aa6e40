#include "tests/fuzz/mutate_bytes.h"

#include <algorithm>
#include <cstring>

namespace caffe2rt::test {
namespace {

constexpr size_t kMaxGrowth = 1 << 16;

struct Range {
  size_t begin;
  size_t size;
};

// Mostly short ranges. Half of them are within the first 512 bytes, where big files have their
// structure.
Range PickRange(const std::string& bytes, Random* random) {
  const size_t span = random->OneIn(2) ? std::min<size_t>(bytes.size(), 512) : bytes.size();
  const size_t begin = random->Below(span);
  const size_t longest =
      random->OneIn(8) ? bytes.size() - begin : std::min<size_t>(bytes.size() - begin, 64);
  return {begin, 1 + random->Below(longest)};
}

void PlantEdge(Random* random, std::string* bytes) {
  static const uint64_t kEdges[] = {0,          1,          0x7f,       0x80,       0xff,
                                    0x7fff,     0xffff,     0x7fffffff, 0x80000000, 0xffffffff,
                                    UINT64_MAX, 1ull << 62, 1ull << 63, 0x10000,    0x40000000};
  const uint64_t value = kEdges[random->Below(std::size(kEdges))];
  const size_t size = size_t{1} << random->Below(4);
  if (bytes->size() < size) return;
  const size_t at = random->Below(bytes->size() - size + 1);
  std::memcpy(bytes->data() + at, &value, size);
}

void MutateOnce(const std::string& other, Random* random, std::string* bytes) {
  const Range range = PickRange(*bytes, random);
  switch (random->Below(9)) {
    case 0:
      bytes->resize(range.begin + 1);
      break;
    case 1:
    case 2:
      (*bytes)[range.begin] = static_cast<char>((*bytes)[range.begin] ^ (1 << random->Below(8)));
      break;
    case 3:
      for (size_t i = 0; i < range.size; ++i)
        (*bytes)[range.begin + i] = static_cast<char>(random->Next());
      break;
    case 4:
      if (range.size < bytes->size()) bytes->erase(range.begin, range.size);
      break;
    case 5:
      bytes->insert(range.begin, bytes->substr(range.begin, std::min(range.size, kMaxGrowth / 8)));
      break;
    case 6:
      std::fill_n(bytes->begin() + static_cast<std::ptrdiff_t>(range.begin), range.size, '\0');
      break;
    case 7:
      PlantEdge(random, bytes);
      break;
    default: {
      if (other.empty()) break;
      const Range part = PickRange(other, random);
      bytes->replace(range.begin, std::min<size_t>(range.size, 64), other, part.begin,
                     std::min(part.size, kMaxGrowth / 8));
    }
  }
}

}  // namespace

void MutateBytes(const std::string& other, Random* random, std::string* bytes) {
  if (bytes->empty()) bytes->push_back('\0');
  const int count = 1 + static_cast<int>(random->Below(random->OneIn(4) ? 8 : 2));
  for (int i = 0; i < count; ++i) MutateOnce(other, random, bytes);
}

}  // namespace caffe2rt::test
