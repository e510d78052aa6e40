#include "caffe2_core/tensor/storage.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace caffe2rt {
namespace {

Storage Plain(float* data) { return Storage(data, 4, nullptr, CPU, TypeMeta::Make<float>(), 1); }

std::shared_ptr<const void> Number(int n) { return std::make_shared<int>(n); }
int Value(const std::shared_ptr<const void>& form) { return *static_cast<const int*>(form.get()); }

TEST(StorageTest, DerivedFormIsMadeOncePerKey) {
  float data = 0;
  Storage storage = Plain(&data);
  int made = 0;
  const auto make = [&] { return Number(++made); };
  EXPECT_EQ(Value(storage.Derived("a", make)), 1);
  EXPECT_EQ(Value(storage.Derived("a", make)), 1);
  EXPECT_EQ(Value(storage.Derived("b", make)), 2);
}

TEST(StorageTest, DerivedFormsDieWhenTheVersionMoves) {
  float data = 0;
  Storage storage = Plain(&data);
  int made = 0;
  const auto make = [&] { return Number(++made); };
  const std::weak_ptr<const void> first = storage.Derived("a", make);
  storage.MoveVersion();
  EXPECT_TRUE(first.expired());
  EXPECT_EQ(Value(storage.Derived("a", make)), 2);
}

TEST(StorageTest, ThreadsShareOneForm) {
  float data = 0;
  Storage storage = Plain(&data);
  std::atomic<int> made{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] { storage.Derived("a", [&] { return Number(++made); }); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
}

TEST(StorageTest, ExposedMemoryIsComparedBeforeAFormIsKept) {
  float data[2] = {1, 2};
  Storage storage(data, sizeof(data), nullptr, CPU, TypeMeta::Make<float>(), 2);
  EXPECT_FALSE(storage.exposed());
  {
    const TransientWrites scope;
    storage.MoveVersion();
  }
  EXPECT_FALSE(storage.exposed());
  const uint64_t unexposed = storage.version();
  data[1] = 3;
  EXPECT_EQ(storage.VerifiedVersion(sizeof(data)), unexposed);

  storage.MoveVersion();
  EXPECT_TRUE(storage.exposed());
  const uint64_t first = storage.VerifiedVersion(sizeof(data));
  EXPECT_EQ(storage.VerifiedVersion(sizeof(data)), first);
  data[1] = 4;
  EXPECT_NE(storage.VerifiedVersion(sizeof(data)), first);
  storage.set_read_only();
  EXPECT_FALSE(storage.exposed());
}

TEST(StorageTest, FailedMakerLeavesNoForm) {
  float data = 0;
  Storage storage = Plain(&data);
  EXPECT_THROW(storage.Derived("a", []() -> std::shared_ptr<const void> { throw 1; }), int);
  EXPECT_EQ(Value(storage.Derived("a", [] { return Number(5); })), 5);
}

}  // namespace
}  // namespace caffe2rt
