#include "caffe2_core/base/release_pages.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace caffe2rt::release_pages_test {
namespace {

constexpr size_t kPage = 4096, kBytes = 8 * kPage;

// Anonymous memory, which reads as zeros where its pages were released.
TEST(ReleasePagesTest, ReleasesWholePagesOnly) {
  void* const memory =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const bytes = static_cast<unsigned char*>(memory);
  const auto expect_pages = [&](size_t first, size_t end) {
    for (size_t i = 0; i < kBytes; ++i) {
      const bool released = i / kPage >= first && i / kPage < end;
      ASSERT_EQ(bytes[i], released ? 0 : 1) << i;
    }
  };
  struct Case {
    size_t offset, size, first_page, end_page;
  };
  for (const Case& c : {Case{0, kBytes, 0, 8}, Case{64, kBytes - 128, 1, 7}, Case{1, kPage, 0, 0},
                        Case{kPage - 1, kPage + 1, 1, 2}, Case{kPage, 0, 0, 0}}) {
    std::fill_n(bytes, kBytes, 1);
    ReleasePages(bytes + c.offset, c.size);
    expect_pages(c.first_page, c.end_page);
  }
  munmap(memory, kBytes);
}

TEST(ReleasePagesTest, AcceptsNoMemory) {
  ReleasePages(nullptr, 0);
  MapPages(nullptr, 0);
  ZeroPages(nullptr, 0);
}

// New memory without huge pages, which would map the pages around one that is used.
void* MemoryOfSmallPages() {
  void* const memory =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) (void)madvise(memory, kBytes, MADV_NOHUGEPAGE);
  return memory;
}

// The pages of the memory that are mapped, in order.
std::vector<bool> Mapped(void* memory) {
  std::vector<unsigned char> states(kBytes / kPage);
  if (mincore(memory, kBytes, states.data()) != 0) states.clear();
  std::vector<bool> mapped;
  for (const unsigned char state : states) mapped.push_back((state & 1) != 0);
  return mapped;
}

// Memory from the middle of a page to the middle of another one: the bytes around it stay.
TEST(ZeroPagesTest, SetsNewAndUsedMemoryToZeros) {
  struct Case {
    const char* what;
    size_t offset, size;
    size_t first_used, end_used;  // pages that were written before
  };
  for (const Case& c :
       {Case{"new", 64, kBytes - 128, 0, 0}, Case{"used", 64, kBytes - 128, 0, 8},
        Case{"used at its edges", 64, kBytes - 128, 0, 1},
        Case{"used in its middle", 64, kBytes - 128, 3, 5},
        Case{"used behind its middle", 64, kBytes - 128, 5, 8},
        Case{"within a page", 64, 100, 0, 1}, Case{"over an edge", kPage - 8, 16, 0, 2},
        Case{"whole pages", kPage, 2 * kPage, 1, 2}, Case{"none", 64, 0, 0, 1}}) {
    SCOPED_TRACE(c.what);
    void* const memory =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    auto* const bytes = static_cast<unsigned char*>(memory);
    std::fill(bytes + c.first_used * kPage, bytes + c.end_used * kPage, 1);
    ZeroPages(bytes + c.offset, c.size);
    for (size_t i = 0; i < kBytes; ++i) {
      const bool used = i / kPage >= c.first_used && i / kPage < c.end_used;
      const bool inside = i >= c.offset && i < c.offset + c.size;
      ASSERT_EQ(bytes[i], used && !inside ? 1 : 0) << i;
    }
    munmap(memory, kBytes);
  }
}

TEST(ZeroPagesTest, DoesNotMapNewPages) {
  void* const memory = MemoryOfSmallPages();
  ASSERT_NE(memory, MAP_FAILED);
  ZeroPages(static_cast<char*>(memory) + 64,
            kBytes - 128);  // its edges are on the first page and the last one
  EXPECT_EQ(Mapped(memory),
            (std::vector<bool>{true, false, false, false, false, false, false, true}));
  munmap(memory, kBytes);
}

// The system releases no pages that are locked, though they may be unmapped.
TEST(ZeroPagesTest, SetsLockedMemoryToZeros) {
  void* const memory =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const bytes = static_cast<unsigned char*>(memory);
  std::fill_n(bytes, kPage, 1);
  if (mlock2(memory, kBytes, MLOCK_ONFAULT) != 0) GTEST_SKIP() << "memory cannot be locked";
  ZeroPages(memory, kBytes);
  for (size_t i = 0; i < kBytes; ++i) ASSERT_EQ(bytes[i], 0) << i;
  munmap(memory, kBytes);
}

// The code runs as before, and less of it is mapped.
TEST(ReleaseCodePagesTest, KeepsTheCode) {
  ReleaseCodePages();
  ReleaseFreedMemory();
  std::vector<int> numbers(1000);
  for (int i = 0; i < 1000; ++i) numbers[static_cast<size_t>(i)] = 7 * i % 1000;
  std::sort(numbers.begin(), numbers.end());
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(numbers[static_cast<size_t>(i)], i);
}

// A page of code that was written to, as by a debugger.
TEST(ReleaseCodePagesTest, KeepsChangedPages) {
  const auto address = reinterpret_cast<uintptr_t>(&ReleaseCodePages) / kPage * kPage;
  auto* const page = reinterpret_cast<unsigned char*>(address);
  ASSERT_EQ(mprotect(page, kPage, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
  // The same value makes a copy, too. The system writes it: tools that watch writes know no code.
  const int memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
  unsigned char byte = 0;
  ASSERT_EQ(pread(memory, &byte, 1, static_cast<off_t>(address)), 1);
  ASSERT_EQ(pwrite(memory, &byte, 1, static_cast<off_t>(address)), 1);
  close(memory);
  const auto is_copy = [&] {
    uint64_t entry = 0;
    FILE* const pagemap = std::fopen("/proc/self/pagemap", "rb");
    if (pagemap == nullptr) return false;
    const bool read =
        std::fseek(pagemap, static_cast<long>(address / kPage * sizeof(entry)), SEEK_SET) == 0 &&
        std::fread(&entry, sizeof(entry), 1, pagemap) == 1;
    std::fclose(pagemap);
    return read && (entry >> 61 & 1) == 0 && (entry >> 63 & 1) == 1;
  };
  EXPECT_TRUE(is_copy());
  ReleaseCodePages();
  EXPECT_TRUE(is_copy());
  ASSERT_EQ(mprotect(page, kPage, PROT_READ | PROT_EXEC), 0);
}

struct Mapping {
  const char* name;
  int advice;  // MADV_POPULATE_READ, MADV_POPULATE_WRITE
  void (*map)(void* data, size_t nbytes);
};

class MapPagesTest : public testing::TestWithParam<Mapping> {};

TEST_P(MapPagesTest, MapsWholePagesAndKeepsTheirContent) {
  void* const memory = MemoryOfSmallPages();
  ASSERT_NE(memory, MAP_FAILED);
  auto* const bytes = static_cast<unsigned char*>(memory);
  bytes[3 * kPage] = 7;
  const bool can_map = madvise(bytes, kPage, GetParam().advice) == 0;
  GetParam().map(bytes + kPage + 1, 4 * kPage);
  EXPECT_EQ(Mapped(memory),
            std::vector<bool>({can_map, false, can_map, true, can_map, false, false, false}));
  EXPECT_EQ(bytes[3 * kPage], 7);
  EXPECT_EQ(bytes[2 * kPage], 0);
  munmap(memory, kBytes);
}

INSTANTIATE_TEST_SUITE_P(Uses, MapPagesTest,
                         testing::Values(Mapping{"Writing", 23, &MapPages},
                                         Mapping{"Reading", 22,
                                                 [](void* data, size_t nbytes) {
                                                   MapPagesForReading(data, nbytes);
                                                 }}),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace caffe2rt::release_pages_test
