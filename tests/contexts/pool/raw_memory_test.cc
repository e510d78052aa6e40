#include "contexts/pool/raw_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_allocator.h"

namespace caffe2rt::test::raw_memory_test {
namespace {

using testing::HasSubstr;

class RawMemoryTest : public testing::Test {
 protected:
  std::string ErrorOfFree(void* data) {
    try {
      raw_.Free(data, 0);
    } catch (const EnforceNotMet& error) {
      return error.message();
    }
    return "";
  }
  FakeAllocator device_;
  const std::unique_ptr<Pool> pool_ = NewThcPool(device_, {});
  RawMemory raw_{*pool_};
};

TEST_F(RawMemoryTest, FreesByAddress) {
  void* const data = raw_.Allocate(1000, 0);
  EXPECT_EQ(pool_->Statistics().requested_bytes, 1000u);
  raw_.Free(data, 0);
  EXPECT_EQ(pool_->Statistics().blocks_in_use, 0u);
}

TEST_F(RawMemoryTest, AcceptsNullAndZeroBytes) {
  EXPECT_EQ(raw_.Allocate(0, 0), nullptr);
  raw_.Free(nullptr, 0);
}

TEST_F(RawMemoryTest, FindsAPointerThatIsFreedTwice) {
  void* const data = raw_.Allocate(1000, 0);
  raw_.Free(data, 0);
  EXPECT_THAT(ErrorOfFree(data),
              HasSubstr("lies in the pool and is not the start of memory in use: it was freed"));
  raw_.Free(raw_.Allocate(1000, 0), 0);  // perhaps at the same address
}

TEST_F(RawMemoryTest, RejectsPointersIntoABlock) {
  char* const data = static_cast<char*>(raw_.Allocate(1000, 0));
  EXPECT_THAT(ErrorOfFree(data + 16), HasSubstr("not the start of memory in use"));
  raw_.Free(data, 0);
}

TEST_F(RawMemoryTest, RejectsForeignPointers) {
  int variable = 0;
  EXPECT_THAT(ErrorOfFree(&variable), HasSubstr("does not belong to this pool"));
  void* const data = raw_.Allocate(1000, 0);
  EXPECT_THAT(ErrorOfFree(static_cast<char*>(data) + (64 << 20)),
              HasSubstr("does not belong to this pool"));
  raw_.Free(data, 0);
}

}  // namespace
}  // namespace caffe2rt::test::raw_memory_test
