#include "caffe2_core/tensor/plain_forms.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace caffe2rt::plain_forms_test {
namespace {

std::shared_ptr<const void> Number(int n) { return std::make_shared<int>(n); }
int Value(const std::shared_ptr<const void>& form) { return *static_cast<const int*>(form.get()); }

class PlainFormsTest : public ::testing::Test {
 protected:
  PlainForms::View Forms() { return PlainForms::Of(&storage_); }

  float data_ = 0;
  Storage storage_{&data_, 4, nullptr, CPU, TypeMeta::Make<float>(), 1};
};

TEST_F(PlainFormsTest, AreMadeOncePerKeyAndListed) {
  int made = 0;
  const auto make = [&] { return Number(++made); };
  EXPECT_EQ(Value(Forms().Get("a", 4, make)), 1);
  EXPECT_EQ(Value(Forms().Get("a", 4, make)), 1);
  EXPECT_EQ(Value(Forms().Get("b", 4, make)), 2);
  const auto listed = Forms().List();
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_EQ(listed.at("a").nbytes, 4u);
}

TEST_F(PlainFormsTest, AreApartFromOtherDerivedForms) {
  EXPECT_EQ(Value(Forms().Get("a", 4, [] { return Number(1); })), 1);
  EXPECT_EQ(Value(storage_.Derived("a", [] { return Number(2); })), 2);
}

TEST_F(PlainFormsTest, DieWhenTheDataChange) {
  (void)Forms().Get("a", 4, [] { return Number(1); });
  storage_.MoveVersion();
  EXPECT_TRUE(Forms().List().empty());
  EXPECT_EQ(Value(Forms().Get("a", 4, [] { return Number(2); })), 2);
}

TEST_F(PlainFormsTest, AddedFormsAreUsedIfTheirSizeFits) {
  const auto make = [] { return Number(7); };
  Forms().Add("a", {.data = Number(1), .nbytes = 4});
  Forms().Add("b", {.data = Number(2), .nbytes = 3});
  EXPECT_EQ(Value(Forms().Get("a", 4, make)), 1);
  EXPECT_EQ(Value(Forms().Get("b", 4, make)), 7) << "one that is too short";
  Forms().Add("a", {.data = Number(3), .nbytes = 4});
  EXPECT_EQ(Value(Forms().Get("a", 4, make)), 1) << "there was one already";
}

TEST_F(PlainFormsTest, FailedMakersLeaveNoForm) {
  EXPECT_THROW(
      Forms().Get("a", 4,
                  []() -> std::shared_ptr<const void> { throw std::runtime_error("failed"); }),
      std::runtime_error);
  EXPECT_TRUE(Forms().List().empty());
  EXPECT_EQ(Value(Forms().Get("a", 4, [] { return Number(1); })), 1);
}

TEST_F(PlainFormsTest, ThreadsShareOneForm) {
  std::atomic<int> made{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { (void)Forms().Get("a", 4, [&] { return Number(++made); }); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
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
TEST(PlainFormsOfFilesTest, ReleaseThePagesOnceAFormIsMade) {
  constexpr size_t kBytes = 8 * 4096;
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* bytes = static_cast<unsigned char*>(memory);
  std::fill_n(bytes, kBytes, 1);
  ASSERT_EQ(ResidentPages(memory, kBytes), 8u);
  // Begins and ends within a page: these two stay, because they may hold other data.
  Storage storage(bytes + 64, kBytes - 128, nullptr, CPU, TypeMeta::Make<uint8_t>(), 1);
  const auto forms = PlainForms::Of(&storage);
  forms.SetFromFile();
  (void)forms.Get("a", 4, [] { return Number(1); });
  EXPECT_EQ(bytes[4096], 1) << "the memory is not read-only yet";
  storage.set_read_only();
  (void)forms.Get("b", 4, [] { return Number(1); });
  EXPECT_EQ(bytes[4095], 1);
  EXPECT_EQ(bytes[4096], 0);
  EXPECT_EQ(bytes[7 * 4096 - 1], 0);
  EXPECT_EQ(bytes[7 * 4096], 1);
  munmap(memory, kBytes);
}

}  // namespace
}  // namespace caffe2rt::plain_forms_test
