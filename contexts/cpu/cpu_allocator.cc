#include "contexts/cpu/cpu_allocator.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/logging.h"
#include "contexts/cpu/numa.h"

namespace caffe2rt {
namespace {

std::atomic<size_t> g_in_use{0};
std::atomic<size_t> g_peak{0};

size_t LimitBytes() {
  static const size_t half_of_machine = [] {
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(page) / 2
                                 : SIZE_MAX;
  }();
  const size_t limit = GlobalCPUMemoryOptions().limit_bytes;
  return limit != 0 ? limit : half_of_machine;
}

struct AllocatorSlot {
  std::mutex mutex;
  std::atomic<CPUAllocator*> current{nullptr};
  std::vector<std::unique_ptr<CPUAllocator>> all;  // memory of replaced ones may be alive
};

AllocatorSlot& Slot() {
  static AllocatorSlot* const slot = new AllocatorSlot;
  return *slot;
}

MemoryAllocationReporter& Reporter() {
  static MemoryAllocationReporter* const reporter = new MemoryAllocationReporter;
  return *reporter;
}

// What a piece of memory needs to be given back: kept beside it, so that nothing is looked up.
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

void Fill(void* data, size_t nbytes) {
  switch (GlobalCPUMemoryOptions().fill) {
    case CPUMemoryFill::kZero:
      std::memset(data, 0, nbytes);
      break;
    case CPUMemoryFill::kJunk: {
      const uint32_t junk = 0x7fa00000u;  // a signalling NaN
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

CPUMemoryOptions& GlobalCPUMemoryOptions() {
  static CPUMemoryOptions options;
  return options;
}

CPUMemoryUsage GetCPUMemoryUsage() {
  return {
      .in_use_bytes = g_in_use.load(), .peak_bytes = g_peak.load(), .limit_bytes = LimitBytes()};
}

void ResetCPUMemoryPeak() { g_peak.store(g_in_use.load()); }

void ReserveCPUBytes(size_t nbytes) {
  const size_t limit = LimitBytes();
  size_t used = g_in_use.load(std::memory_order_relaxed);
  do {
    CAFFE_ENFORCE(nbytes <= limit && used <= limit - nbytes, "out of CPU memory: asked ", nbytes,
                  " bytes, in use ", used, ", limit ", limit, ", peak ", g_peak.load(),
                  "; raise the limit (--memory-limit) or use smaller inputs");
  } while (!g_in_use.compare_exchange_weak(used, used + nbytes, std::memory_order_relaxed));
  const size_t now = used + nbytes;
  size_t peak = g_peak.load(std::memory_order_relaxed);
  while (now > peak && !g_peak.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

void ReleaseCPUBytes(size_t nbytes) { g_in_use.fetch_sub(nbytes, std::memory_order_relaxed); }

CPUAllocator* GetCPUAllocator() {
  CPUAllocator* allocator = Slot().current.load(std::memory_order_acquire);
  if (allocator == nullptr) {
    auto first = std::make_unique<DefaultCPUAllocator>();
    std::lock_guard<std::mutex> lock(Slot().mutex);
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
  std::lock_guard<std::mutex> lock(Slot().mutex);
  Slot().all.emplace_back(allocator);
  Slot().current.store(allocator, std::memory_order_release);
}

std::pair<void*, MemoryDeleter> DefaultCPUAllocator::New(size_t nbytes) {
  void* data = nullptr;
  const int failed = posix_memalign(&data, kCPUAlignment, std::max<size_t>(nbytes, 1));
  CAFFE_ENFORCE(failed == 0 && data != nullptr, "out of CPU memory: the system refused ", nbytes,
                " bytes, in use ", g_in_use.load(), ", limit ", LimitBytes(), ", peak ",
                g_peak.load());
  return {data, GetDeleter()};
}

MemoryDeleter DefaultCPUAllocator::GetDeleter() { return MemoryDeleter(&std::free); }

void MemoryAllocationReporter::New(void* pointer, size_t nbytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  sizes_[pointer] = nbytes;
  allocated_ += nbytes;
  peak_ = std::max(peak_, allocated_);
  VLOG(1) << "CPU memory: +" << nbytes << " bytes, in use " << allocated_ << ", peak " << peak_;
}

void MemoryAllocationReporter::Delete(void* pointer) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = sizes_.find(pointer);
  CAFFE_ENFORCE(it != sizes_.end(), "memory that was never reported is released: ", pointer);
  allocated_ -= it->second;
  VLOG(1) << "CPU memory: -" << it->second << " bytes, in use " << allocated_;
  sizes_.erase(it);
}

size_t MemoryAllocationReporter::allocated() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return allocated_;
}

size_t MemoryAllocationReporter::peak() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return peak_;
}

std::pair<void*, MemoryDeleter> NewCPUMemory(size_t nbytes) {
  ReserveCPUBytes(nbytes);
  struct Reservation {  // given back unless the allocation succeeds
    size_t nbytes;
    ~Reservation() { ReleaseCPUBytes(nbytes); }
  } reservation{nbytes};
  auto state = std::make_unique<Allocation>();
  DataPtr memory(GetCPUAllocator()->New(nbytes));
  const CPUMemoryOptions& options = GlobalCPUMemoryOptions();
  if (options.numa_enabled) NUMAMove(memory.get(), nbytes, GetCurrentNUMANode());
  Fill(memory.get(), nbytes);
  const auto [data, deleter] = memory.Release();
  *state = {.deleter = deleter, .nbytes = nbytes, .reported = options.report_usage};
  if (state->reported) Reporter().New(data, nbytes);
  reservation.nbytes = 0;
  return {data, MemoryDeleter(&FreeAllocation, state.release())};
}

}  // namespace caffe2rt
