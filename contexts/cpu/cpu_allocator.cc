#include "contexts/cpu/cpu_allocator.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "caffe2_core/base/byte_size.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/overwritten_memory.h"
#include "caffe2_core/base/release_pages.h"
#include "contexts/cpu/numa.h"

namespace caffe2rt {
namespace {

struct AllocatorSlot {
  Mutex mutex;
  std::atomic<CPUAllocator*> current{nullptr};
  // Memory of replaced allocators may be in use.
  std::vector<std::unique_ptr<CPUAllocator>> all ABSL_GUARDED_BY(mutex);
};

AllocatorSlot& Slot() {
  static AllocatorSlot* const slot = new AllocatorSlot;
  return *slot;
}

MemoryAllocationReporter& Reporter() {
  static MemoryAllocationReporter* const reporter = new MemoryAllocationReporter;
  return *reporter;
}

// What is needed to free an allocation. It is the deleter's state, so freeing needs no look-up.
struct Allocation {
  MemoryDeleter deleter;
  size_t nbytes;
  bool reported;
};

void FreeAllocation(void* data, void* state) {
  const std::unique_ptr<Allocation> allocation(static_cast<Allocation*>(state));
  if (allocation->reported) Reporter().Delete(data);
  allocation->deleter(data);
  ReleaseCPUBytes(allocation->nbytes);
}

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kLargeBytes = 2 * kHugePage;

void Fill(const CPUAllocator& allocator, void* data, size_t nbytes) {
  switch (GlobalCPUMemoryOptions().fill) {
    case CPUMemoryFill::kZero:
      if (nbytes >= kLargeBytes && dynamic_cast<const DefaultCPUAllocator*>(&allocator) != nullptr)
        ZeroPages(data, nbytes);
      else
        std::memset(data, 0, nbytes);
      break;
    case CPUMemoryFill::kJunk: {
      const uint32_t junk = 0x7fa00000u;  // a signaling NaN
      auto* bytes = static_cast<unsigned char*>(data);
      for (size_t i = 0; i < nbytes; i += sizeof(junk)) {
        std::memcpy(bytes + i, &junk, std::min(sizeof(junk), nbytes - i));
      }
      break;
    }
    case CPUMemoryFill::kNone:
      break;
  }
}

}  // namespace

CPUAllocator* GetCPUAllocator() {
  CPUAllocator* allocator = Slot().current.load(std::memory_order_acquire);
  if (allocator == nullptr) {
    auto first = std::make_unique<DefaultCPUAllocator>();
    const MutexLock lock(Slot().mutex);
    allocator = Slot().current.load();
    if (allocator == nullptr) {
      allocator = first.get();
      Slot().all.push_back(std::move(first));
      Slot().current.store(allocator, std::memory_order_release);
    }
  }
  return allocator;
}

void SetCPUAllocator(CPUAllocator* allocator) {
  CAFFE_ENFORCE(allocator != nullptr, "the CPU allocator cannot be null");
  const MutexLock lock(Slot().mutex);
  Slot().all.emplace_back(allocator);
  Slot().current.store(allocator, std::memory_order_release);
}

// Large memory is aligned to huge pages and asks the kernel for them: they need 512 times fewer page
// faults and entries of the address cache. Only whole huge pages inside the memory are requested, so
// that it occupies no more than before. The kernel may ignore the request.
std::pair<void*, MemoryDeleter> DefaultCPUAllocator::New(size_t nbytes) {
  const bool is_large = nbytes >= kLargeBytes;
  void* data = nullptr;
  const int failed =
      posix_memalign(&data, is_large ? kHugePage : kCPUAlignment, std::max<size_t>(nbytes, 1));
  if (failed == 0 && data != nullptr) {
    if (is_large) madvise(data, nbytes / kHugePage * kHugePage, MADV_HUGEPAGE);
    return {data, GetDeleter()};
  }
  const CPUMemoryUsage usage = GetCPUMemoryUsage();
  throw OutOfMemory(
      __FILE__, __LINE__, "",
      MakeString("out of CPU memory: the system could not allocate ", ByteSizeText(nbytes),
                 ", in use ", ByteSizeText(usage.in_use_bytes), ", limit ",
                 ByteSizeText(usage.limit_bytes), ", peak ", ByteSizeText(usage.peak_bytes)));
}

MemoryDeleter DefaultCPUAllocator::GetDeleter() { return MemoryDeleter(&std::free); }

void MemoryAllocationReporter::New(void* pointer, size_t nbytes) {
  size_t allocated = 0, peak = 0;
  {
    const MutexLock lock(mutex_);
    sizes_[pointer] = nbytes;
    allocated_ += nbytes;
    peak_ = std::max(peak_, allocated_);
    allocated = allocated_;
    peak = peak_;
  }
  // A log sink may allocate memory.
  VLOG(1) << "CPU memory: +" << nbytes << " bytes, in use " << allocated << ", peak " << peak;
}

void MemoryAllocationReporter::Delete(void* pointer) {
  size_t nbytes = 0, allocated = 0;
  {
    const MutexLock lock(mutex_);
    const auto it = sizes_.find(pointer);
    CAFFE_ENFORCE(it != sizes_.end(), "release of memory that was never reported: ", pointer);
    nbytes = it->second;
    allocated_ -= nbytes;
    allocated = allocated_;
    sizes_.erase(it);
  }
  VLOG(1) << "CPU memory: -" << nbytes << " bytes, in use " << allocated;
}

size_t MemoryAllocationReporter::allocated() const {
  const MutexLock lock(mutex_);
  return allocated_;
}

size_t MemoryAllocationReporter::peak() const {
  const MutexLock lock(mutex_);
  return peak_;
}

std::pair<void*, MemoryDeleter> NewCPUMemory(size_t nbytes) try {
  ReserveCPUBytes(nbytes);
  struct Reservation {  // released unless the allocation succeeds
    size_t nbytes;
    ~Reservation() { ReleaseCPUBytes(nbytes); }
  } reservation{nbytes};
  auto state = std::make_unique<Allocation>();
  CPUAllocator* const allocator = GetCPUAllocator();
  DataPtr memory(allocator->New(nbytes));
  const CPUMemoryOptions& options = GlobalCPUMemoryOptions();
  if (options.numa_enabled) NUMAMove(memory.get(), nbytes, GetCurrentNUMANode());
  if (!OverwrittenMemory::active()) Fill(*allocator, memory.get(), nbytes);
  // After memory.Release() nothing may throw.
  if (options.report_usage) Reporter().New(memory.get(), nbytes);
  const auto [data, deleter] = memory.Release();
  *state = {.deleter = deleter, .nbytes = nbytes, .reported = options.report_usage};
  reservation.nbytes = 0;
  return {data, MemoryDeleter(&FreeAllocation, state.release())};
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
