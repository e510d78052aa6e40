// Storage::ReleaseData, and how tensors restore what it released.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "caffe2_core/tensor/storage.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt::released_data_test {
namespace {

constexpr size_t kCount = 100000, kBytes = kCount * sizeof(float);

// 0, 1, 2, ...
Tensor Weight() {
  Tensor weight(std::vector<int64_t>{static_cast<int64_t>(kCount)}, CPU);
  const TransientWrites scope;
  std::iota(weight.mutable_data<float>(), weight.mutable_data<float>() + kCount, 0.f);
  weight.MarkReadOnly();
  return weight;
}

// Adds a form that restores a part of the weight: its elements, each plus 1.
void AddForm(const Tensor& weight, const std::string& key, size_t offset, size_t nbytes) {
  const size_t first = offset / sizeof(float), count = nbytes / sizeof(float);
  weight.storage()->forms().Get(
      key, nbytes,
      [&](void* to) {
        for (size_t i = 0; i < count; ++i)
          static_cast<float*>(to)[i] = weight.data<float>()[first + i] + 1;
      },
      {.offset = offset, .nbytes = nbytes, .restore = [count](const void* form, void* data) {
         for (size_t i = 0; i < count; ++i)
           static_cast<float*>(data)[i] = static_cast<const float*>(form)[i] - 1;
       }});
}

void ExpectCounting(const float* values) {
  for (size_t i = 0; i < kCount; ++i) ASSERT_EQ(values[i], static_cast<float>(i)) << i;
}

// The released bytes in memory are not the data any more: whole pages read as zeros.
bool IsGone(const Tensor& weight) {
  return static_cast<const float*>(weight.storage()->data())[kCount / 2] == 0;
}

TEST(ReleasedDataTest, NeedsReadOnlyMemoryThatFormsCover) {
  struct Case {
    const char* name;
    std::function<Tensor()> make;
    size_t released;
  };
  const auto covered = [](const std::vector<std::pair<size_t, size_t>>& parts) {
    return [parts] {
      Tensor weight = Weight();
      for (const auto& [begin, end] : parts)
        AddForm(weight, std::to_string(begin) + " to " + std::to_string(end), begin, end - begin);
      return weight;
    };
  };
  const auto whole = covered({{0, kBytes}});
  const Case cases[] = {
      {"no form", [] { return Weight(); }, 0},
      {"one form", whole, kBytes},
      {"two halves", covered({{0, 200000}, {200000, kBytes}}), kBytes},
      {"parts that overlap", covered({{0, 240000}, {200000, 260000}, {220000, kBytes}}), kBytes},
      {"a gap", covered({{0, 200000}, {200004, kBytes}}), 0},
      {"the beginning is missing", covered({{4, kBytes}}), 0},
      {"the end is missing", covered({{0, kBytes - 4}}), 0},
      {"a part twice, once with more", covered({{0, 200000}, {0, kBytes}}), kBytes},
      {"a form of more than the data",
       [] {
         Tensor weight = Weight();
         weight.storage()->forms().Get(
             "more", kBytes + 4, [](void*) {},
             {.offset = 0, .nbytes = kBytes + 4, .restore = [](const void*, void*) {}});
         return weight;
       },
       0},
      {"a form behind the data",
       [&] {
         Tensor weight = whole();
         weight.storage()->forms().Get(
             "behind", 4, [](void*) {},
             {.offset = kBytes, .nbytes = 4, .restore = [](const void*, void*) {}});
         return weight;
       },
       0},
      {"a form that cannot restore",
       [] {
         Tensor weight = Weight();
         weight.storage()->forms().Get("rounded", kBytes, [](void*) {});
         return weight;
       },
       0},
      {"may be written",
       [&] {
         Tensor weight = Weight().Clone();
         AddForm(weight, "all", 0, kBytes);
         return weight;
       },
       0},
      {"a pointer was handed out",
       [&] {
         Tensor weight = whole();
         weight.storage()->set_exposed();
         return weight;
       },
       0},
      {"little memory",
       [] {
         Tensor weight(std::vector<int64_t>{16000}, CPU);
         {
           const TransientWrites scope;
           weight.mutable_data<float>();
         }
         weight.MarkReadOnly();
         AddForm(weight, "all", 0, 64000);
         return weight;
       },
       0},
  };
  for (const Case& c : cases) {
    const Tensor weight = c.make();
    EXPECT_EQ(weight.storage()->ReleaseData(), c.released) << c.name;
    EXPECT_EQ(weight.storage()->released(), c.released > 0) << c.name;
    EXPECT_EQ(weight.storage()->ReleaseData(), 0u) << c.name << ", again";
    if (c.released > 0) {
      EXPECT_TRUE(IsGone(weight)) << c.name;
      ExpectCounting(weight.data<float>());
    }
  }
}

TEST(ReleasedDataTest, EveryAccessRestores) {
  struct Case {
    const char* name;
    std::function<const void*(Tensor*)> read;
  };
  Tensor copy(CPU);
  const Case cases[] = {
      {"data", [](Tensor* weight) { return weight->data<float>(); }},
      {"raw_data", [](Tensor* weight) { return weight->raw_data(); }},
      {"opaque_data", [](Tensor* weight) { return weight->opaque_data(); }},
      {"a write copies", [](Tensor* weight) { return weight->mutable_data<float>(); }},
      {"Clone",
       [&](Tensor* weight) {
         copy = weight->Clone();
         return copy.raw_data();
       }},
      {"CopyFrom",
       [&](Tensor* weight) {
         copy.CopyFrom(*weight);
         return copy.raw_data();
       }},
      {"another tensor",
       [&](Tensor* weight) {
         copy = Tensor(*weight);
         return copy.raw_data();
       }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Tensor weight = Weight();
    AddForm(weight, "all", 0, kBytes);
    const uint64_t version = weight.storage()->version();
    const std::shared_ptr<Storage> storage = weight.storage();
    ASSERT_GT(storage->ReleaseData(), 0u);
    weight.CheckData<float>();
    ASSERT_TRUE(storage->released()) << "checking restores nothing";
    ExpectCounting(static_cast<const float*>(c.read(&weight)));
    EXPECT_FALSE(storage->released());
    EXPECT_EQ(storage->version(), version) << "prepared forms stay valid";
    EXPECT_EQ(storage->forms().List().size(), 1u);
    ExpectCounting(static_cast<const float*>(storage->data()));
  }
}

// The old value of the target is not needed.
TEST(ReleasedDataTest, IsNotRestoredToBeOverwrittenByACopy) {
  const Tensor weight = Weight();
  AddForm(weight, "all", 0, kBytes);
  ASSERT_GT(weight.storage()->ReleaseData(), 0u);
  Tensor source(weight.sizes(), CPU);
  std::fill_n(source.mutable_data<float>(), source.numel(), 7.0f);
  Tensor user = weight;
  user.CopyFrom(source);
  EXPECT_TRUE(weight.storage()->released());
  EXPECT_EQ(user.data<float>()[0], 7);
  ExpectCounting(weight.data<float>());
}

TEST(ReleasedDataTest, IsReleasedAgainAndUsedForANewForm) {
  const Tensor weight = Weight();
  AddForm(weight, "all", 0, kBytes);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(weight.storage()->ReleaseData(), kBytes) << i;
    AddForm(weight, "another " + std::to_string(i), 0, kBytes);  // its maker reads the weight
    EXPECT_FALSE(weight.storage()->released());
    ExpectCounting(weight.data<float>());
  }
}

// Restored data do not keep the forms they were made from.
TEST(ReleasedDataTest, FormsAreFreedOnceTheDataAreRestored) {
  const Tensor weight = Weight();
  AddForm(weight, "all", 0, kBytes);
  const std::weak_ptr<const void> form = weight.storage()->forms().List().at("all").data;
  ASSERT_GT(weight.storage()->ReleaseData(), 0u);
  weight.storage()->forms().Clear();
  EXPECT_FALSE(form.expired()) << "it is the only copy of the data";
  ExpectCounting(weight.data<float>());
  EXPECT_TRUE(form.expired());
}

TEST(ReleasedDataTest, WrongTypesAreErrorsAsBefore) {
  const Tensor weight = Weight();
  AddForm(weight, "all", 0, kBytes);
  ASSERT_GT(weight.storage()->ReleaseData(), 0u);
  EXPECT_THROW((void)weight.data<int>(), EnforceNotMet);
  EXPECT_THROW(weight.CheckData<int>(), EnforceNotMet);
  EXPECT_TRUE(weight.storage()->released());
}

TEST(ReleasedDataTest, ThreadsRestoreItOnce) {
  const Tensor weight = Weight();
  std::atomic<int> restored{0};
  weight.storage()->forms().Get(
      "all", kBytes, [&](void* to) { std::memcpy(to, weight.raw_data(), kBytes); },
      {.offset = 0, .nbytes = kBytes, .restore = [&restored](const void* form, void* data) {
         restored.fetch_add(1);
         std::memcpy(data, form, kBytes);
       }});
  ASSERT_GT(weight.storage()->ReleaseData(), 0u);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { ExpectCounting(weight.data<float>()); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(restored.load(), 1);
}

TEST(ReleasedDataTest, MemoryFrom64KilobytesOnIsReleased) {
  for (const int64_t count : {16383, 16384}) {
    Tensor weight(std::vector<int64_t>{count}, CPU);
    {
      const TransientWrites scope;
      std::fill_n(weight.mutable_data<float>(), count, 3.f);
    }
    weight.MarkReadOnly();
    const auto three = [count](const void*, void* data) {
      std::fill_n(static_cast<float*>(data), count, 3.f);
    };
    weight.storage()->forms().Get("form", 1, [](void*) {},
                                  {.offset = 0, .nbytes = weight.nbytes(), .restore = three});
    EXPECT_EQ(weight.storage()->ReleaseData(), count == 16384 ? 65536u : 0u);
    EXPECT_EQ(weight.data<float>()[count - 1], 3.f);
  }
}

// Pages of objects are never given back, whatever forms claim.
TEST(ReleasedDataTest, ObjectsStay) {
  Tensor names(std::vector<int64_t>{4096}, CPU);
  {
    const TransientWrites scope;
    std::fill_n(names.mutable_data<std::string>(), 4096, std::string(40, 'x'));
  }
  names.MarkReadOnly();
  ASSERT_GE(names.nbytes(), size_t{64} << 10);
  names.storage()->forms().Get(
      "form", 1, [](void*) {},
      {.offset = 0, .nbytes = names.nbytes(), .restore = [](const void*, void*) {}});
  EXPECT_EQ(names.storage()->ReleaseData(), 0u);
  EXPECT_EQ(names.data<std::string>()[2048], std::string(40, 'x'));
}

}  // namespace
}  // namespace caffe2rt::released_data_test
