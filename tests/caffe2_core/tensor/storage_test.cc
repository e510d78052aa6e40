#include "caffe2_core/tensor/storage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <string>
#include <vector>

namespace caffe2rt::storage_test {
namespace {

Storage Plain(float* data) { return Storage(data, 4, nullptr, CPU, TypeMeta::Make<float>(), 1); }

// The form under `key`, as a number that increases with each that is made.
int FormOf(Storage* storage, const std::string& key) {
  static int made = 0;
  const auto form =
      storage->forms().Get(key, sizeof(int), [](void* to) { *static_cast<int*>(to) = ++made; });
  return *static_cast<const int*>(form.get());
}

TEST(StorageTest, PreparedFormsDieWhenTheVersionMoves) {
  float data = 0;
  Storage storage = Plain(&data);
  const int first = FormOf(&storage, "a");
  EXPECT_EQ(FormOf(&storage, "a"), first);
  storage.MoveVersion();
  EXPECT_TRUE(storage.forms().List().empty());
  EXPECT_NE(FormOf(&storage, "a"), first);
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

// A form that the checksum shows to be stale is dropped. It is made again only when needed.
TEST(StorageTest, WritesThroughKeptPointersDropPreparedForms) {
  float data[2] = {1, 2};
  Storage storage(data, sizeof(data), nullptr, CPU, TypeMeta::Make<float>(), 2);
  storage.set_exposed();
  (void)storage.VerifiedVersion(sizeof(data));
  const int first = FormOf(&storage, "a");
  (void)storage.VerifiedVersion(sizeof(data));
  EXPECT_EQ(FormOf(&storage, "a"), first);
  data[0] = 7;
  (void)storage.VerifiedVersion(sizeof(data));
  EXPECT_NE(FormOf(&storage, "a"), first);
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

}  // namespace
}  // namespace caffe2rt::storage_test
