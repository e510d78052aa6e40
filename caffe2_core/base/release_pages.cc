#include "caffe2_core/base/release_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace caffe2rt {
namespace {

constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, which older headers do not have

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

}  // namespace caffe2rt
