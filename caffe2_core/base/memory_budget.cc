#include "caffe2_core/base/memory_budget.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>
#include <string>

#include "caffe2_core/base/byte_size.h"

namespace caffe2rt {
namespace {

// Constant-initialized, because operator new uses them before any constructor has run.
constinit std::atomic<size_t> g_in_use{0};
// The most that was in use before a release: what is in use now may be more. Most programs allocate more often than they
// release at a new peak.
constinit std::atomic<size_t> g_peak{0};
constinit CPUMemoryOptions g_options;
constinit std::atomic<size_t> g_half_of_machine{0};

size_t LimitBytes() noexcept {
  if (g_options.limit_bytes != 0) return g_options.limit_bytes;
  size_t half = g_half_of_machine.load(std::memory_order_relaxed);
  if (half == 0) {
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    half = pages > 0 && page > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(page) / 2
                                 : SIZE_MAX;
    g_half_of_machine.store(half, std::memory_order_relaxed);
  }
  return half;
}

std::string UsageText() {
  const CPUMemoryUsage usage = GetCPUMemoryUsage();
  return MakeString("in use ", ByteSizeText(usage.in_use_bytes), ", limit ",
                    ByteSizeText(usage.limit_bytes), ", peak ", ByteSizeText(usage.peak_bytes),
                    "; raise the limit (--memory-limit) or use smaller inputs");
}

[[noreturn]] void ThrowBeyondLimit(size_t nbytes) {
  throw OutOfMemory(
      __FILE__, __LINE__, "",
      MakeString("out of CPU memory: asked ", ByteSizeText(nbytes), ", ", UsageText()));
}

}  // namespace

CPUMemoryOptions& GlobalCPUMemoryOptions() { return g_options; }

CPUMemoryUsage GetCPUMemoryUsage() {
  const size_t in_use = g_in_use.load();
  return {.in_use_bytes = in_use,
          .peak_bytes = std::max(g_peak.load(), in_use),
          .limit_bytes = LimitBytes()};
}

void ResetCPUMemoryPeak() { g_peak.store(g_in_use.load()); }

bool TryReserveCPUBytes(size_t nbytes, size_t headroom_bytes) noexcept {
  size_t limit = LimitBytes();
  if (__builtin_add_overflow(limit, headroom_bytes, &limit)) limit = SIZE_MAX;
  size_t used = g_in_use.load(std::memory_order_relaxed);
  do {
    if (nbytes > limit || used > limit - nbytes) return false;
  } while (!g_in_use.compare_exchange_weak(used, used + nbytes, std::memory_order_relaxed));
  return true;
}

void ReserveCPUBytes(size_t nbytes) {
  if (!TryReserveCPUBytes(nbytes)) ThrowBeyondLimit(nbytes);
}

void ReleaseCPUBytes(size_t nbytes) noexcept {
  const size_t used = g_in_use.fetch_sub(nbytes, std::memory_order_relaxed);
  size_t peak = g_peak.load(std::memory_order_relaxed);
  while (used > peak && !g_peak.compare_exchange_weak(peak, used, std::memory_order_relaxed)) {
  }
}

void CheckCPUBytes(size_t nbytes) {
  const size_t limit = LimitBytes(), used = g_in_use.load(std::memory_order_relaxed);
  if (nbytes > limit || used > limit - nbytes) ThrowBeyondLimit(nbytes);
}

OutOfMemory OutOfMemoryNow() noexcept {
  std::string text = "out of memory";  // short enough to need no allocation
  try {
    text = MakeString("out of memory: ", UsageText());
  } catch (const std::bad_alloc&) {
    // Keep the short text.
  }
  return OutOfMemory(__FILE__, __LINE__, "", std::move(text));
}

void ThrowOutOfMemory() { throw OutOfMemoryNow(); }

}  // namespace caffe2rt
