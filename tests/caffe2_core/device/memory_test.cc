#include "caffe2_core/device/memory.h"

#include <gtest/gtest.h>

namespace caffe2rt::memory_test {
namespace {

int g_plain_frees = 0;

TEST(MemoryDeleterTest, CallsAFunctionWithItsState) {
  int freed = 0;
  const MemoryDeleter deleter([](void*, void* state) { ++*static_cast<int*>(state); }, &freed);
  int data = 0;
  deleter(&data);
  EXPECT_EQ(freed, 1);
}

TEST(MemoryDeleterTest, AcceptsPlainFunctionsAndNull) {
  const MemoryDeleter plain = +[](void*) { ++g_plain_frees; };
  int data = 0;
  plain(&data);
  EXPECT_EQ(g_plain_frees, 1);
  EXPECT_TRUE(plain);
  const MemoryDeleter nothing = nullptr;
  nothing(&data);
  EXPECT_FALSE(nothing);
  EXPECT_FALSE(MemoryDeleter(static_cast<void (*)(void*)>(nullptr)));
  NoDelete(&data);
}

TEST(DataPtrTest, FreesWhatItOwnsOnce) {
  int freed = 0;
  const MemoryDeleter deleter([](void*, void* state) { ++*static_cast<int*>(state); }, &freed);
  int data = 0;
  {
    DataPtr owner(&data, deleter);
    DataPtr moved(std::move(owner));
    EXPECT_FALSE(owner);  // NOLINT: a moved-from DataPtr is empty
    EXPECT_EQ(moved.get(), &data);
    DataPtr assigned;
    assigned = std::move(moved);
    EXPECT_EQ(freed, 0);
  }
  EXPECT_EQ(freed, 1);
  DataPtr released(std::pair<void*, MemoryDeleter>(&data, deleter));
  EXPECT_EQ(released.Release().first, &data);
  released.Reset();
  EXPECT_EQ(freed, 1);
}

TEST(DataPtrTest, AssignmentFreesWhatItOwnedBefore) {
  int freed = 0;
  const MemoryDeleter deleter([](void*, void* state) { ++*static_cast<int*>(state); }, &freed);
  int data[2] = {};
  DataPtr owner(&data[0], deleter), other(&data[1], deleter);
  owner = std::move(other);
  EXPECT_EQ(freed, 1);
  EXPECT_EQ(owner.get(), &data[1]);
  DataPtr& same = owner;
  owner = std::move(same);
  EXPECT_EQ(freed, 1);
  EXPECT_EQ(owner.get(), &data[1]);
  owner.Reset();
  EXPECT_EQ(freed, 2);
  EXPECT_EQ(owner.get(), nullptr);
  EXPECT_FALSE(owner.Release().second);
  owner.Reset();
  EXPECT_EQ(freed, 2);
}

TEST(MemoryDeleterTest, OwnsACallableUntilItIsCalled) {
  const auto token = std::make_shared<int>(1);
  void* seen = nullptr;
  const MemoryDeleter once = MemoryDeleter::Once([token, &seen](void* data) { seen = data; });
  EXPECT_EQ(token.use_count(), 2);
  int data = 0;
  once(&data);
  EXPECT_EQ(seen, &data);
  EXPECT_EQ(token.use_count(), 1);
}

}  // namespace
}  // namespace caffe2rt::memory_test
