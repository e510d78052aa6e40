#include "contexts/pool/free_lists.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace caffe2rt::internal::free_lists_test {
namespace {

class FreeListsTest : public testing::Test {
 protected:
  BlockRecord* Insert(size_t bytes) {
    blocks_.push_back(std::make_unique<BlockRecord>());
    blocks_.back()->bytes = bytes;
    lists_.Insert(blocks_.back().get());
    return blocks_.back().get();
  }
  std::vector<std::unique_ptr<BlockRecord>> blocks_;
  FreeLists lists_;
};

TEST_F(FreeListsTest, IsEmptyAtFirst) {
  EXPECT_EQ(lists_.FindBestFit(512), nullptr);
  EXPECT_EQ(lists_.Largest(), nullptr);
  EXPECT_EQ(lists_.CheckInvariants(), 0u);
}

TEST_F(FreeListsTest, FindsTheSmallestBlockThatFits) {
  BlockRecord* const large = Insert(100 * 512);
  BlockRecord* const small = Insert(98 * 512);  // in the same list
  Insert(5 * 512);
  EXPECT_EQ(lists_.FindBestFit(97 * 512), small);
  EXPECT_EQ(lists_.FindBestFit(99 * 512), large);
  EXPECT_EQ(lists_.FindBestFit(6 * 512), small);
  EXPECT_EQ(lists_.FindBestFit(101 * 512), nullptr);
  EXPECT_EQ(lists_.Largest(), large);
}

TEST_F(FreeListsTest, PrefersTheBlockFreedLastAmongEquals) {
  Insert(4096);
  BlockRecord* const last = Insert(4096);
  EXPECT_EQ(lists_.FindBestFit(4096), last);
}

TEST_F(FreeListsTest, AcceptsSizesBeyondItsLastList) {
  BlockRecord* const huge = Insert(size_t{1} << 60);
  Insert(size_t{1} << 50);
  EXPECT_EQ(lists_.FindBestFit((size_t{1} << 50) + 512), huge);
  EXPECT_EQ(lists_.CheckInvariants(), 2u);
}

TEST_F(FreeListsTest, AgreesWithASearchThroughAll) {
  std::mt19937_64 random(7);
  std::vector<BlockRecord*> free;
  for (int i = 0; i < 5000; ++i) {
    const size_t bytes = (1 + random() % (size_t{1} << (random() % 24))) * 512;
    if (free.size() < 60 || random() % 2 == 0) {
      free.push_back(Insert(bytes));
    } else {
      const size_t victim = random() % free.size();
      lists_.Remove(free[victim]);
      free.erase(free.begin() + static_cast<ptrdiff_t>(victim));
    }
    size_t best = SIZE_MAX;
    for (const BlockRecord* block : free) {
      if (block->bytes >= bytes) best = std::min(best, block->bytes);
    }
    const BlockRecord* const found = lists_.FindBestFit(bytes);
    ASSERT_EQ(found != nullptr ? found->bytes : SIZE_MAX, best);
    const BlockRecord* const odd = lists_.FindBestFit(
        bytes, [](const BlockRecord& block) { return block.bytes / 512 % 2 == 1; });
    best = SIZE_MAX;
    for (const BlockRecord* block : free) {
      if (block->bytes >= bytes && block->bytes / 512 % 2 == 1) best = std::min(best, block->bytes);
    }
    ASSERT_EQ(odd != nullptr ? odd->bytes : SIZE_MAX, best);
    ASSERT_EQ(lists_.CheckInvariants(), free.size());
  }
}

}  // namespace
}  // namespace caffe2rt::internal::free_lists_test
