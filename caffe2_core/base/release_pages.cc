#include "caffe2_core/base/release_pages.h"

#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace caffe2rt {
namespace {

// MADV_POPULATE_READ and MADV_POPULATE_WRITE, which older headers do not have.
constexpr int kPopulateRead = 22, kPopulateWrite = 23;

uintptr_t PageBytes() {
  static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  return page;
}

// The whole pages in [data, data + nbytes). Empty if there are none.
std::span<char> WholePages(const void* data, size_t nbytes) {
  const uintptr_t page = PageBytes();
  const auto address = reinterpret_cast<uintptr_t>(data);
  const uintptr_t begin = (address + page - 1) / page * page;
  const uintptr_t end = (address + nbytes) / page * page;
  if (begin >= end) return {};
  return {reinterpret_cast<char*>(begin), end - begin};
}

// Returns whether the system took the advice.
bool AdvisePages(std::span<char> pages, int advice) {
  return !pages.empty() && madvise(pages.data(), pages.size(), advice) == 0;
}

// Whether the page in the middle is mapped: a sign of whether the memory has been used before.
bool IsMapped(std::span<char> pages) {
  const uintptr_t page = PageBytes();
  unsigned char mapped = 0;
  char* const middle = pages.data() + pages.size() / page / 2 * page;
  return mincore(middle, page, &mapped) != 0 || (mapped & 1) != 0;
}

// Releases the pages in [begin, end) that are mapped to a file. `pagemap` is /proc/self/pagemap, which has a number for
// each page: bit 61 is set if it is a page of a file, bit 63 if it is mapped.
void ReleaseFilePages(int pagemap, uintptr_t begin, uintptr_t end) {
  constexpr uint64_t kMappedFile = uint64_t{1} << 61 | uint64_t{1} << 63;
  const uintptr_t page = PageBytes();
  std::vector<uint64_t> entries((end - begin) / page);
  const size_t bytes = entries.size() * sizeof(uint64_t);
  const auto offset = static_cast<off_t>(begin / page * sizeof(uint64_t));
  if (pread(pagemap, entries.data(), bytes, offset) != static_cast<ssize_t>(bytes)) return;
  for (size_t first = 0, last; first < entries.size(); first = last + 1) {
    last = first;
    while (last < entries.size() && (entries[last] & kMappedFile) == kMappedFile) ++last;
    if (last > first) {
      (void)madvise(reinterpret_cast<void*>(begin + first * page), (last - first) * page,
                    MADV_DONTNEED);
    }
  }
}

int ReleaseCodeOf(dl_phdr_info* object, size_t /*size*/, void* pagemap) {
  const uintptr_t page = PageBytes();
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    const bool is_code =
        segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 && (segment.p_flags & PF_W) == 0;
    if (!is_code) continue;
    const uintptr_t begin = (object->dlpi_addr + segment.p_vaddr + page - 1) / page * page;
    const uintptr_t end = (object->dlpi_addr + segment.p_vaddr + segment.p_memsz) / page * page;
    if (begin < end) ReleaseFilePages(*static_cast<int*>(pagemap), begin, end);
  }
  return 0;
}

}  // namespace

void ReleasePages(const void* data, size_t nbytes) {
  (void)AdvisePages(WholePages(data, nbytes), MADV_DONTNEED);
}

void MapPages(void* data, size_t nbytes) {
  (void)AdvisePages(WholePages(data, nbytes), kPopulateWrite);
}

void MapPagesForReading(const void* data, size_t nbytes) {
  (void)AdvisePages(WholePages(data, nbytes), kPopulateRead);
}

// Released pages are zeros, too, if some of them were mapped after all, or stored elsewhere by the system.
void ZeroPages(void* data, size_t nbytes) {
  if (nbytes == 0) return;
  const std::span<char> pages = WholePages(data, nbytes);
  if (pages.empty() || IsMapped(pages) || !AdvisePages(pages, MADV_DONTNEED)) {
    std::memset(data, 0, nbytes);
    return;
  }
  char* const begin = static_cast<char*>(data);
  char* const behind = pages.data() + pages.size();
  std::memset(begin, 0, static_cast<size_t>(pages.data() - begin));
  std::memset(behind, 0, static_cast<size_t>(begin + nbytes - behind));
}

void ReleaseFreedMemory() {
#ifdef __GLIBC__
  (void)malloc_trim(0);
#endif
}

void ReleaseCodePages() {
  int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (pagemap < 0) return;
  dl_iterate_phdr(ReleaseCodeOf, &pagemap);
  close(pagemap);
}

}  // namespace caffe2rt
