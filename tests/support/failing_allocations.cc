#include "tests/support/failing_allocations.h"

#include <link.h>

#include <atomic>
#include <cstring>

namespace caffe2rt::test {
namespace {

// The code of the libraries whose own allocations never fail.
struct CodeRange {
  uintptr_t begin;
  uintptr_t end;
  bool malloc_alone;
};
struct Library {
  const char* name;
  bool malloc_alone;  // only its calls of malloc are spared; operator new may fail
};
constexpr Library kSpared[] = {{"libdnnl", false},
                               {"libgomp", false},
                               {"libc.so", true},
                               {"libstdc++", true},
                               {"ld-linux", true}};
constexpr int kMaxRanges = 16;
CodeRange ranges[kMaxRanges];
std::atomic<int> num_ranges{0};

constinit std::atomic<bool> armed{false};
constinit std::atomic<bool> one{false};
constinit std::atomic<int64_t> first_to_fail{0};
constinit std::atomic<int64_t> asked_for{0};

int CollectRanges(dl_phdr_info* info, size_t, void*) {
  const Library* spared = nullptr;
  for (const Library& library : kSpared) {
    if (std::strstr(info->dlpi_name, library.name) != nullptr) spared = &library;
  }
  for (int i = 0; spared != nullptr && i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    const int n = num_ranges.load();
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0 || n == kMaxRanges) continue;
    const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    ranges[n] = {begin, begin + segment.p_memsz, spared->malloc_alone};
    num_ranges.store(n + 1);
  }
  return 0;
}

bool IsSpared(const void* caller, bool from_malloc) {
  const auto address = reinterpret_cast<uintptr_t>(caller);
  const int n = num_ranges.load(std::memory_order_relaxed);
  for (int i = 0; i < n; ++i) {
    if (address < ranges[i].begin || address >= ranges[i].end) continue;
    return from_malloc || !ranges[i].malloc_alone;
  }
  return false;
}

}  // namespace

FailingAllocations::FailingAllocations(int64_t first, Mode mode) {
  static const int collected = dl_iterate_phdr(CollectRanges, nullptr);
  (void)collected;
  first_to_fail = first;
  one = mode == Mode::kOne;
  asked_for = 0;
  armed = true;
}

FailingAllocations::~FailingAllocations() { armed = false; }

int64_t FailingAllocations::asked() const { return asked_for; }

bool AllocationFails(const void* caller, bool from_malloc) {
  if (__builtin_expect(!armed.load(std::memory_order_relaxed), 1)) return false;
  if (IsSpared(caller, from_malloc)) return false;
  const int64_t number = asked_for.fetch_add(1);
  return one ? number == first_to_fail : number >= first_to_fail;
}

}  // namespace caffe2rt::test
