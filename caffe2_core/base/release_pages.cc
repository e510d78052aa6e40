#include "caffe2_core/base/release_pages.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace caffe2rt {
namespace {

// MADV_POPULATE_READ and MADV_POPULATE_WRITE, which older headers do not have.
constexpr int kPopulateRead = 22, kPopulateWrite = 23;

void AdvisePages(const void* data, size_t nbytes, int advice) {
  static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<uintptr_t>(data);
  const uintptr_t begin = (address + page - 1) / page * page;
  const uintptr_t end = (address + nbytes) / page * page;
  if (begin < end) (void)madvise(reinterpret_cast<void*>(begin), end - begin, advice);
}

}  // namespace

void ReleasePages(const void* data, size_t nbytes) { AdvisePages(data, nbytes, MADV_DONTNEED); }

void MapPages(void* data, size_t nbytes) { AdvisePages(data, nbytes, kPopulateWrite); }

void MapPagesForReading(const void* data, size_t nbytes) {
  AdvisePages(data, nbytes, kPopulateRead);
}

void ReleaseFreedMemory() {
#ifdef __GLIBC__
  (void)malloc_trim(0);
#endif
}

}  // namespace caffe2rt
