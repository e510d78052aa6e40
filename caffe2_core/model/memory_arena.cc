#include "caffe2_core/model/memory_arena.h"

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/release_pages.h"
#include "caffe2_core/device/context.h"

namespace caffe2rt {

void MemoryArena::Reserve(size_t bytes) {
  if (bytes <= bytes_) return;
  Free();
  static std::atomic<uint64_t> last_id{0};
  memory_ = DataPtr(GetStaticContext(CPU)->New(bytes));
  bytes_ = bytes;
  id_ = last_id.fetch_add(1, std::memory_order_relaxed) + 1;
}

// The allocator may keep freed memory for later. Its pages must not stay: many instances would hold
// the activations that they do not need.
void MemoryArena::Free() {
  ReleasePages(memory_.get(), bytes_);
  memory_ = DataPtr();
  bytes_ = 0;
  id_ = 0;
}

MemoryArena* ArenaStock::Lease(const MemoryArena* preferred) {
  leased_.fetch_add(1);
  if (preferred != nullptr) {
    if (MemoryArena* arena = idle_[preferred->slot()].exchange(nullptr)) return arena;
  }
  const int count = count_.load(std::memory_order_acquire);
  for (int slot = 0; slot < count; ++slot) {
    if (idle_[slot].load() == nullptr) continue;
    if (MemoryArena* arena = idle_[slot].exchange(nullptr)) return arena;
  }
  const MutexLock lock(mutex_);
  try {
    if (all_.size() >= size_t{kMostArenas}) CAFFE_THROW("all ", kMostArenas, " arenas are leased");
    all_.push_back(std::make_unique<MemoryArena>(static_cast<int>(all_.size())));
  } catch (...) {
    leased_.fetch_sub(1);
    throw;
  }
  count_.store(static_cast<int>(all_.size()), std::memory_order_release);
  return all_.back().get();
}

void ArenaStock::Return(MemoryArena* arena) {
  idle_[arena->slot()].store(arena);
  if (leased_.fetch_sub(1) == 1 && count_.load() > idle_arenas_) FreeSurplus();
}

// Another thread may lease arenas at the same time. It finds those that are being looked at here
// leased, and gets another one. Two threads that looked for surplus at once would each overlook the
// arena that the other one looks at, and keep one more.
void ArenaStock::FreeSurplus() {
  const MutexLock lock(mutex_);
  int kept = 0;
  const int count = count_.load(std::memory_order_acquire);
  for (int slot = 0; slot < count; ++slot) {
    MemoryArena* const arena = idle_[slot].exchange(nullptr);
    if (arena == nullptr) continue;
    if (arena->bytes() > 0 && ++kept > idle_arenas_) arena->Free();
    idle_[slot].store(arena);
  }
}

size_t ArenaStock::bytes() const {
  const MutexLock lock(mutex_);
  size_t sum = 0;
  for (const auto& arena : all_) sum += arena->bytes();
  return sum;
}

}  // namespace caffe2rt
