#include "caffe2_core/tensor/storage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <thread>
#include <vector>

namespace caffe2rt::storage_test {
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

// Long enough for every path of the checksum: blocks of 512 bytes, the remaining words, and the
// bytes after the last word.
TEST(StorageTest, EveryByteOfExposedMemoryCounts) {
  std::vector<unsigned char> data(2 * 512 + 131);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<unsigned char>(i * 7);
  Storage storage(data.data(), data.size(), nullptr, CPU, TypeMeta::Make<uint8_t>(), 1);
  storage.set_exposed();
  uint64_t version = storage.VerifiedVersion(data.size());
  for (size_t i = 0; i < data.size(); ++i) {
    for (const unsigned char bit : {0x01, 0x80}) {
      data[i] = static_cast<unsigned char>(data[i] ^ bit);
      const uint64_t moved = storage.VerifiedVersion(data.size());
      ASSERT_NE(moved, version) << i;
      ASSERT_EQ(storage.VerifiedVersion(data.size()), moved) << i;
      version = moved;
    }
  }
}

// Changes that a weak checksum would miss: signs, values that are swapped, the same change
// everywhere.
TEST(StorageTest, PairsOfChangesDoNotCancel) {
  std::vector<float> data(1024);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i + 1);
  Storage storage(data.data(), 4096, nullptr, CPU, TypeMeta::Make<float>(), 1);
  storage.set_exposed();
  uint64_t version = storage.VerifiedVersion(4096);
  const auto expect_change = [&](size_t i, const char* what) {
    const uint64_t moved = storage.VerifiedVersion(4096);
    EXPECT_NE(moved, version) << what << " " << i;
    version = moved;
  };
  for (const size_t first : {0, 1, 2, 500}) {
    for (size_t distance = 1; first + distance < data.size(); ++distance) {
      float &a = data[first], &b = data[first + distance];
      a = -a;
      b = -b;
      expect_change(distance, "signs");
      std::swap(a, b);
      expect_change(distance, "swapped");
    }
  }
  for (float& value : data) value = -value;
  expect_change(0, "all signs");
  for (float& value : data) value *= 2;
  expect_change(0, "doubled");
  std::reverse(data.begin(), data.end());
  expect_change(0, "reversed");
  std::fill(data.begin(), data.end(), 0.f);
  expect_change(0, "zeroed");
}

// Bytes beyond those that the tensor uses may change: they may belong to another tensor of a larger
// capacity.
TEST(StorageTest, OnlyTheBytesThatAreUsedCount) {
  float data[4] = {1, 2, 3, 4};
  Storage storage(data, sizeof(data), nullptr, CPU, TypeMeta::Make<float>(), 1);
  storage.set_exposed();
  const uint64_t version = storage.VerifiedVersion(12);
  data[3] = 5;
  EXPECT_EQ(storage.VerifiedVersion(12), version);
  data[2] = 5;
  EXPECT_NE(storage.VerifiedVersion(12), version);
  EXPECT_NE(storage.VerifiedVersion(16), version);
  // Limited to the size of the memory.
  EXPECT_EQ(storage.VerifiedVersion(1000), storage.VerifiedVersion(16));
}

// A derived form that the checksum shows to be stale is dropped. It is created again only when
// needed.
TEST(StorageTest, WritesThroughKeptPointersDropDerivedForms) {
  float data[2] = {1, 2};
  Storage storage(data, sizeof(data), nullptr, CPU, TypeMeta::Make<float>(), 2);
  storage.set_exposed();
  int made = 0;
  const auto make = [&] { return Number(++made); };
  (void)storage.VerifiedVersion(sizeof(data));
  EXPECT_EQ(Value(storage.Derived("a", make)), 1);
  (void)storage.VerifiedVersion(sizeof(data));
  EXPECT_EQ(Value(storage.Derived("a", make)), 1);
  data[0] = 7;
  (void)storage.VerifiedVersion(sizeof(data));
  EXPECT_EQ(Value(storage.Derived("a", make)), 2);
}

TEST(StorageTest, ReadOnlyMemoryIsNotCompared) {
  float data[2] = {1, 2};
  Storage storage(data, sizeof(data), nullptr, CPU, TypeMeta::Make<float>(), 2);
  storage.set_exposed();
  storage.set_read_only();
  const uint64_t version = storage.VerifiedVersion(sizeof(data));
  data[0] = 7;
  EXPECT_EQ(storage.VerifiedVersion(sizeof(data)), version);
}

TEST(StorageTest, FreesElementsThenMemoryOnce) {
  static int freed;
  freed = 0;
  const auto counted = std::make_shared<int>(5);
  using Element = std::shared_ptr<int>;
  alignas(Element) unsigned char memory[2 * sizeof(Element)];
  auto* elements = reinterpret_cast<Element*>(memory);
  new (elements) Element(counted);
  new (elements + 1) Element(counted);
  {
    Storage storage(memory, sizeof(memory), MemoryDeleter([](void*) { ++freed; }), CPU,
                    TypeMeta::Make<Element>(), 2);
    EXPECT_EQ(storage.constructed(), 2);
    EXPECT_EQ(counted.use_count(), 3);
  }
  EXPECT_EQ(counted.use_count(), 1);
  EXPECT_EQ(freed, 1);
  {
    Storage none(nullptr, 0, MemoryDeleter([](void*) { ++freed; }), CPU, TypeMeta::Make<float>(),
                 0);
  }
  EXPECT_EQ(freed, 1);
}

TEST(StorageTest, FailedMakerLeavesNoForm) {
  float data = 0;
  Storage storage = Plain(&data);
  EXPECT_THROW(storage.Derived("a", []() -> std::shared_ptr<const void> { throw 1; }), int);
  EXPECT_EQ(Value(storage.Derived("a", [] { return Number(5); })), 5);
}

}  // namespace
}  // namespace caffe2rt::storage_test
