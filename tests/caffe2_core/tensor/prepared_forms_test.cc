#include "caffe2_core/tensor/prepared_forms.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace caffe2rt::prepared_forms_test {
namespace {

PreparedForms::Form Form(int n, size_t nbytes) {
  return {.data = std::make_shared<int>(n), .nbytes = nbytes};
}
// The form under `key`, which is made of `n` if there is none.
int Get(PreparedForms* forms, const std::string& key, int n) {
  const auto form = forms->Get(key, sizeof(int), [n](void* to) { *static_cast<int*>(to) = n; });
  return *static_cast<const int*>(form.get());
}

TEST(PreparedFormsTest, AreMadeOncePerKeyAndListed) {
  PreparedForms forms;
  EXPECT_FALSE(forms.any());
  EXPECT_EQ(Get(&forms, "a", 1), 1);
  EXPECT_EQ(Get(&forms, "a", 2), 1);
  EXPECT_EQ(Get(&forms, "b", 3), 3);
  EXPECT_TRUE(forms.any());
  const auto listed = forms.List();
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_EQ(listed.at("a").nbytes, sizeof(int));
}

TEST(PreparedFormsTest, ListsWhatCanRestoreData) {
  PreparedForms forms;
  EXPECT_EQ(Get(&forms, "a", 1), 1);  // cannot
  forms.Add("b", Form(2, sizeof(int)));
  EXPECT_TRUE(forms.Restorable().empty());
  forms.Get("c", 8, [](void*) {},
            {.offset = 16, .nbytes = 4, .restore = [](const void*, void*) {}});
  const std::vector<RestorablePart> parts = forms.Restorable();
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].restorer.offset, 16u);
  EXPECT_EQ(parts[0].restorer.nbytes, 4u);
  EXPECT_EQ(parts[0].form, forms.List().at("c").data);
}

TEST(PreparedFormsTest, ClearRemovesThem) {
  PreparedForms forms;
  EXPECT_EQ(Get(&forms, "a", 1), 1);
  const std::weak_ptr<const void> form = forms.List().at("a").data;
  forms.Clear();
  EXPECT_TRUE(form.expired());
  EXPECT_FALSE(forms.any());
  EXPECT_EQ(Get(&forms, "a", 2), 2);
}

TEST(PreparedFormsTest, AddedFormsAreUsedIfTheirSizeFits) {
  PreparedForms forms;
  forms.Add("a", Form(1, sizeof(int)));
  forms.Add("b", Form(2, sizeof(int) - 1));
  EXPECT_EQ(Get(&forms, "a", 7), 1);
  EXPECT_EQ(Get(&forms, "b", 7), 7) << "one that is too short";
  forms.Add("a", Form(3, sizeof(int)));
  EXPECT_EQ(Get(&forms, "a", 7), 1) << "there was one already";
}

TEST(PreparedFormsTest, AddedFormsGoWithTheDataTheyWereMadeOf) {
  PreparedForms forms;
  EXPECT_FALSE(forms.any());
  forms.Add("a", Form(1, sizeof(int)));
  EXPECT_TRUE(forms.any());
  EXPECT_EQ(forms.List().size(), 1u);
  forms.Clear();
  EXPECT_EQ(Get(&forms, "a", 7), 7);
}

TEST(PreparedFormsTest, FailedMakersLeaveNoForm) {
  PreparedForms forms;
  EXPECT_THROW(forms.Get("a", 4, [](void*) { throw std::runtime_error("failed"); }),
               std::runtime_error);
  EXPECT_TRUE(forms.List().empty());
  EXPECT_EQ(Get(&forms, "a", 1), 1);
}

TEST(PreparedFormsTest, ThreadsShareOneForm) {
  PreparedForms forms;
  std::atomic<int> made{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { (void)forms.Get("a", 4, [&](void*) { ++made; }); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
}

TEST(PreparedFormsTest, CountsWhatIsMadeAndWhatIsUsedFromFiles) {
  PreparedForms forms;
  const PreparedForms::Counts before = PreparedForms::Count();
  const auto expect_since = [&](int64_t made, int64_t mapped) {
    EXPECT_EQ(PreparedForms::Count().made - before.made, made);
    EXPECT_EQ(PreparedForms::Count().mapped - before.mapped, mapped);
  };
  forms.Add("a", Form(1, sizeof(int)));
  forms.Add("never used", Form(1, sizeof(int)));
  expect_since(0, 0);
  (void)Get(&forms, "a", 1);
  (void)Get(&forms, "a", 1);
  expect_since(0, 1);
  (void)Get(&forms, "b", 1);
  (void)Get(&forms, "b", 1);
  expect_since(1, 1);
}

TEST(PreparedFormsTest, MemoryIsAligned) {
  EXPECT_EQ(reinterpret_cast<uintptr_t>(PreparedForms::NewMemory(100).get()) % 64, 0u);
}

// The number of resident pages of a mapping.
size_t ResidentPages(void* memory, size_t nbytes) {
  std::vector<unsigned char> pages(nbytes / 4096);
  if (mincore(memory, nbytes, pages.data()) != 0) return SIZE_MAX;
  size_t count = 0;
  for (const unsigned char page : pages) count += page & 1;
  return count;
}

// Anonymous memory shows that pages are released: their content is then zero.
TEST(PreparedFormsTest, ReleasePagesOfAFileOnceAFormIsMade) {
  constexpr size_t kBytes = 8 * 4096;
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* bytes = static_cast<unsigned char*>(memory);
  PreparedForms forms;
  const auto expect_released = [&] {
    EXPECT_EQ(bytes[4095], 1);
    EXPECT_EQ(bytes[4096], 0);
    EXPECT_EQ(bytes[7 * 4096 - 1], 0);
    EXPECT_EQ(bytes[7 * 4096], 1);
  };
  std::fill_n(bytes, kBytes, 1);
  ASSERT_EQ(ResidentPages(memory, kBytes), 8u);
  (void)Get(&forms, "a", 1);
  forms.ReleasePages();
  EXPECT_EQ(bytes[4096], 1) << "the memory is not mapped from a file";
  // Begins and ends within a page: these two stay, because they may hold other data.
  forms.SetMapping(bytes + 64, kBytes - 128);
  (void)Get(&forms, "b", 1);
  expect_released();
  std::fill_n(bytes, kBytes, 1);
  forms.ReleasePages();
  expect_released();
  // Without forms too, and after they have been removed.
  forms.Clear();
  std::fill_n(bytes, kBytes, 1);
  forms.ReleasePages();
  expect_released();
  munmap(memory, kBytes);
}

}  // namespace
}  // namespace caffe2rt::prepared_forms_test
