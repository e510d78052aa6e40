#pragma once
// The fixture that the tests of the THC pool share.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "contexts/pool/thc_pool.h"
#include "tests/support/fake_allocator.h"

namespace caffe2rt::test {

using Call = FakeAllocator::Call;
inline constexpr size_t kKiB = size_t{1} << 10;
inline constexpr size_t kMiB = size_t{1} << 20;

class ThcPoolTest : public testing::Test {
 protected:
  void SetUp() override { Make({}); }
  void TearDown() override {
    pool_->CheckInvariants();
    for (const PoolBlock& block : in_use_) pool_->Free(block, kNoStream);
    pool_->CheckInvariants();
  }
  void Make(ThcPoolOptions options) {
    pool_.reset();
    pool_ = NewThcPool(device_, options);
  }
  PoolBlock New(size_t nbytes, StreamIndex stream) {
    in_use_.push_back(pool_->Allocate(nbytes, stream));
    return in_use_.back();
  }
  void Free(const PoolBlock& block, StreamIndex stream) {
    pool_->Free(block, stream);
    std::erase_if(in_use_, [&](const PoolBlock& b) { return b.token == block.token; });
  }
  static size_t Offset(const PoolBlock& a, const PoolBlock& b) {
    return reinterpret_cast<uintptr_t>(b.data) - reinterpret_cast<uintptr_t>(a.data);
  }
  // Puts a segment of `nbytes` into the cache of the stream.
  PoolBlock Cached(size_t nbytes, StreamIndex stream) {
    const PoolBlock block = New(nbytes, stream);
    Free(block, stream);
    return block;
  }

  FakeAllocator device_;
  std::unique_ptr<Pool> pool_;
  std::vector<PoolBlock> in_use_;  // freed when the test ends
};

}  // namespace caffe2rt::test
