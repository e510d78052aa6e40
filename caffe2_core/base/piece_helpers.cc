#include "caffe2_core/base/piece_helpers.h"

#include <sched.h>

#include <algorithm>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/pool_workers.h"

namespace caffe2rt {
namespace {

// Threads spin only if each of them can have a CPU.
std::chrono::microseconds SpinOf(int threads) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  const bool known = sched_getaffinity(0, sizeof(cpus), &cpus) == 0;
  return std::chrono::microseconds(known && threads <= CPU_COUNT(&cpus) ? 50 : 0);
}

}  // namespace

PieceHelpers::PieceHelpers(int threads)
    : jobs_(static_cast<size_t>(threads)), spin_(SpinOf(threads)) {}

PieceHelpers::Scope::Scope(PieceHelpers* helpers, int seat)
    : helpers_before_(PieceScope::helpers()),
      seat_before_(PieceScope::seat()),
      active_before_(PieceScope::IsActive()) {
  PieceScope::Set(true, helpers, seat);
}

PieceHelpers::Scope::~Scope() { PieceScope::Set(active_before_, helpers_before_, seat_before_); }

PieceHelpers* PieceHelpers::OfThisThread() { return PieceScope::helpers(); }

bool PieceHelpers::AreOffered() const {
  return std::any_of(jobs_.begin(), jobs_.end(), [](const Job& job) { return !job.left.empty(); });
}

uint32_t PieceHelpers::TakePieces(Job& job, bool from_front) {
  uint32_t ended = 0;
  for (int piece; (piece = from_front ? job.left.TakeFirst() : job.left.TakeLast()) >= 0; ++ended) {
    try {
      (*job.function)(piece);
    } catch (...) {
      job.error.KeepCurrent();
    }
  }
  return ended;
}

void PieceHelpers::Run(int pieces, const PieceFunction& function) {
  const int seat = PieceScope::seat();
  Job& job = jobs_[static_cast<size_t>(seat)];
  const Scope alone(nullptr, 0);
  job.function = &function;
  job.remaining.store(static_cast<uint32_t>(pieces), std::memory_order_relaxed);
  job.left.Set(0, static_cast<uint64_t>(pieces));
  Notify(pieces - 1);
  const uint32_t ended = TakePieces(job, TakesFirst(seat));
  if (job.remaining.fetch_sub(ended) != ended) Join(job);
  if (const std::exception_ptr first = job.error.Take()) std::rethrow_exception(first);
}

void PieceHelpers::Join(Job& job) {
  if (SpinUntil([&] { return job.remaining.load(std::memory_order_acquire) == 0; }, 1)) return;
  job.owner_asleep.store(true);
  for (uint32_t left; (left = job.remaining.load()) != 0;) FutexWait(job.remaining, left);
  job.owner_asleep.store(false, std::memory_order_relaxed);
}

bool PieceHelpers::Help(int seat) {
  const Scope alone(nullptr, 0);
  bool helped = false;
  for (size_t i = 1; i < jobs_.size(); ++i) {
    Job& job = jobs_[(static_cast<size_t>(seat) + i) % jobs_.size()];
    const uint32_t ended = TakePieces(job, TakesFirst(seat));
    if (ended == 0) continue;
    helped = true;
    // From here on, the job may have ended and the next one of the seat may have begun.
    if (job.remaining.fetch_sub(ended) == ended && job.owner_asleep.load()) {
      FutexWake(job.remaining);
    }
  }
  return helped;
}

void PieceHelpers::Wake(int threads) {
  signal_.fetch_add(1);
  FutexWake(signal_, threads);
}

}  // namespace caffe2rt
