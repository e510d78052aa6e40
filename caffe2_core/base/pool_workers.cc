// How the pool works.
//
// Every participating thread has a seat: the caller has seat 0, worker t seat t. A job assigns each
// seat a contiguous range of pieces, packed into one atomic word. A thread first takes pieces from
// the front of its own range, so that piece i stays on one core (and in its cache) from job to job.
// Then it takes pieces from the back of other ranges. A claim is one compare-and-swap. Everything
// that a piece needs to know about its job is read after the claim. A job cannot end while a
// claimed piece runs; so a successful claim always belongs to the current job, even if the worker
// was called for an earlier one.
//
// A worker waits on a word of its own seat: it spins, then sleeps in futex(). The caller waits in
// the same way on the number of remaining pieces. A thread that goes to sleep sets its flag first
// and then reads the word again; a thread that changes the word reads the flag afterwards. All four
// accesses are sequentially consistent, so at least one of the two threads sees the other's write.
//
// Linux tends to wake a thread on the core of the thread that wakes it, which is the one core that
// is about to be busy. Therefore a sleeping worker is excluded from the caller's core before it is
// woken. This costs one more system call, but only when the caller has moved to another core.
//
// If another process occupies a worker's core, a piece waits there for a time slice, and two
// threads are slower than one. A join counts as stalled if the wait is long compared to the
// caller's own work, no worker used the processor for most of it, and the job took longer than the
// caller would have needed alone, judged by the pieces that it ran. The second condition
// distinguishes a stall from pieces of unequal length. PoolChoice (pool_choice.h) decides from the
// stalls and times of jobs which of the next ones the caller runs alone.
#include "caffe2_core/base/pool_workers.h"

#include <pthread.h>

#include <algorithm>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/futex.h"

namespace caffe2rt {

namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

// Shorter waits do not count as stalls: the kernel's time slices are longer.
constexpr nanoseconds kShortestStall = microseconds(300);
constexpr int kPausesPerClockRead = 32;

// A counter that each forked child increments. The worker threads do not exist in the child.
std::atomic<uint32_t>& Forks() {
  static std::atomic<uint32_t>* const forks = [] {
    static std::atomic<uint32_t> count{0};
    pthread_atfork(nullptr, nullptr, [] { count.fetch_add(1); });
    return &count;
  }();
  return *forks;
}

// The chosen CPUs, or those of the calling thread if none are chosen; empty if they cannot be
// determined.
cpu_set_t ChosenCpus(const std::vector<int>& chosen) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (const int cpu : chosen) {
    CAFFE_ENFORCE(cpu >= 0 && cpu < CPU_SETSIZE, "CPU of a thread pool is ", cpu, ", want 0 to ",
                  CPU_SETSIZE - 1);
    CPU_SET(static_cast<size_t>(cpu), &cpus);
  }
  if (chosen.empty() && sched_getaffinity(0, sizeof(cpus), &cpus) != 0) CPU_ZERO(&cpus);
  return cpus;
}

}  // namespace

PoolWorkers::PoolWorkers(const ThreadPoolOptions& options)
    : cpus_(ChosenCpus(options.cpus)),
      has_core_for_each_(options.num_threads - (options.cpus.empty() ? 0 : 1) <= CPU_COUNT(&cpus_)),
      backs_off_(options.back_off && has_core_for_each_),
      spin_(has_core_for_each_ ? options.spin_us : 0),
      forks_(Forks().load()),
      seats_(options.runner != nullptr ? 1 : static_cast<size_t>(options.num_threads)),
      processor_times_(seats_.size()) {
  try {
    for (size_t i = 1; i < seats_.size(); ++i) {
      seats_[i].worker = std::thread([this, i] { WorkerLoop(i); });
      CAFFE_ENFORCE(options.cpus.empty() || pthread_setaffinity_np(seats_[i].worker.native_handle(),
                                                                   sizeof(cpus_), &cpus_) == 0,
                    "the workers of a thread pool cannot run on the CPUs ", options.cpus,
                    ", want CPUs that this process may use");
    }
  } catch (...) {
    Stop();
    throw;
  }
}

void PoolWorkers::Stop() {
  stop_.store(true);
  for (Seat& seat : seats_) {
    if (!seat.worker.joinable()) continue;
    if (forks_ != Forks().load()) {
      new std::thread(std::move(seat.worker));  // leaked: the thread exists only in the parent
    } else {
      Call(seat);
      seat.worker.join();
    }
  }
}

template <class Condition>
bool PoolWorkers::SpinUntil(Condition condition) const {
  if (condition()) return true;
  if (!has_core_for_each_) return false;
  const Clock::time_point end = Clock::now() + spin_;
  do {
    for (int i = 0; i < kPausesPerClockRead; ++i) {
      Pause();
      if (condition()) return true;
    }
  } while (Clock::now() < end);
  return false;
}

void PoolWorkers::WorkerLoop(size_t seat) {
  const PieceScope scope;  // a worker runs only pieces
  uint32_t seen = 0;
  while (true) {
    seen = WaitForCall(seats_[seat], seen);
    if (stop_.load()) return;
    TakePieces(seat);
  }
}

uint32_t PoolWorkers::WaitForCall(Seat& own, uint32_t seen) {
  const auto called = [&] { return own.calls.load(std::memory_order_acquire) != seen; };
  if (!SpinUntil(called)) {
    own.asleep.store(uint64_t{1} + seen);
    while (own.calls.load() == seen) FutexWait(own.calls, seen);
    own.asleep.store(0, std::memory_order_relaxed);
  }
  return own.calls.load(std::memory_order_acquire);
}

// Runs pieces until none is left to claim, beginning with those of its own range.
uint32_t PoolWorkers::TakePieces(size_t seat) {
  uint32_t ended = 0;
  const auto run = [&](int piece) {
    try {
      (*function_)(piece);
    } catch (...) {
      error_.KeepCurrent();
    }
    ++ended;
  };
  for (int piece; (piece = seats_[seat].left.TakeFirst()) >= 0;) run(piece);
  const size_t in_use = seats_in_use_.load(std::memory_order_relaxed);
  for (size_t i = 1; i < in_use; ++i) {
    Seat& other = seats_[(seat + i) % in_use];
    for (int piece; (piece = other.left.TakeLast()) >= 0;) run(piece);
  }
  // From here on, the job may have ended and the next one may have begun.
  if (ended == 0) return 0;
  if (remaining_.fetch_sub(ended) == ended && caller_asleep_.load()) FutexWake(remaining_);
  return ended;
}

void PoolWorkers::Call(Seat& seat) {
  const uint64_t behind_this = uint64_t{1} + (seat.calls.fetch_add(1) + 1);
  uint64_t asleep = seat.asleep.load();
  // If the worker went to sleep after it had seen this call, it already waits for the next one, and
  // clearing its flag now would lose that wakeup. Otherwise clear the flag, so that calls in quick
  // succession wake the worker only once.
  if (asleep == 0 || asleep == behind_this) return;
  if (!seat.asleep.compare_exchange_strong(asleep, 0)) return;
  PlaceAway(seat);
  FutexWake(seat.calls);
}

void PoolWorkers::PlaceAway(Seat& seat) {
  const int cpu = sched_getcpu();
  if (!has_core_for_each_ || cpu == seat.away_from || cpu < 0 || cpu >= CPU_SETSIZE) return;
  cpu_set_t others = cpus_;
  CPU_CLR(static_cast<size_t>(cpu), &others);
  if (static_cast<size_t>(CPU_COUNT(&others)) + 1 < seats_.size()) others = cpus_;
  if (pthread_setaffinity_np(seat.worker.native_handle(), sizeof(others), &others) == 0) {
    seat.away_from = cpu;
  }
}

bool PoolWorkers::TryRun(int pieces, const PieceFunction& function) {
  if (seats_.size() == 1 || forks_ != Forks().load(std::memory_order_relaxed) ||
      taken_.exchange(true, std::memory_order_acquire)) {
    return false;
  }
  bool runs = true;
  std::exception_ptr first;
  if (!backs_off_) {
    (void)Join({}, {}, RunTogether(pieces, function));
    first = error_.Take();
  } else {
    const uint64_t key = RunningOperatorKey() + static_cast<uint64_t>(pieces);
    const Clock::time_point start = Clock::now();
    const PoolChoice::Way way = choice_.Next(key, start);
    runs = way != PoolChoice::Way::kAlone;
    if (way == PoolChoice::Way::kTogether) {
      RunMeasured(pieces, function, key, start);
      first = error_.Take();
    } else if (way == PoolChoice::Way::kAloneMeasured) {
      try {
        for (int piece = 0; piece < pieces; ++piece) function(piece);
        choice_.RanAlone(key, Clock::now() - start);
      } catch (...) {
        first = std::current_exception();
      }
    }
  }
  taken_.store(false, std::memory_order_release);
  if (first != nullptr) std::rethrow_exception(first);
  return runs;
}

void PoolWorkers::RunMeasured(int pieces, const PieceFunction& function, uint64_t key,
                              Clock::time_point start) {
  const Share share = RunTogether(pieces, function);
  const Clock::time_point own_end = Clock::now();
  const bool at_once = remaining_.load(std::memory_order_acquire) == 0;
  const bool stalled = !at_once && Join(start, own_end, share);
  choice_.RanTogether(key, {.start = start,
                            .end = at_once ? own_end : Clock::now(),
                            .own_end = own_end,
                            .own = share.own,
                            .pieces = share.pieces,
                            .stalled = stalled});
}

// Distributes the pieces, calls the workers, and runs pieces on the caller until none is left to
// claim. Workers may still be running some when this returns.
PoolWorkers::Share PoolWorkers::RunTogether(int pieces, const PieceFunction& function) {
  const size_t in_use = std::min(static_cast<size_t>(pieces), seats_.size());
  function_ = &function;
  seats_in_use_.store(in_use, std::memory_order_relaxed);
  remaining_.store(static_cast<uint32_t>(pieces), std::memory_order_relaxed);
  for (size_t i = 0; i < in_use; ++i) {
    const auto cut = [&](size_t seat) { return static_cast<uint64_t>(pieces) * seat / in_use; };
    seats_[i].left.Set(cut(i), cut(i + 1));
  }
  for (size_t i = 1; i < in_use; ++i) Call(seats_[i]);
  const PieceScope scope;
  return {.own = TakePieces(0), .pieces = static_cast<uint32_t>(pieces)};
}

// Waits until all pieces have ended. Returns whether the wait was a stall.
bool PoolWorkers::Join(Clock::time_point start, Clock::time_point wait_start, const Share& share) {
  const auto joined = [&] { return remaining_.load(std::memory_order_acquire) == 0; };
  return !SpinUntil(joined) && SleepUntilJoined(start, wait_start, share);
}

// Sleeps until all pieces have ended. If the wait lasts at least kShortestStall, compares the
// workers' processor times at that point with those at the end. Returns whether the wait was a
// stall: it was longer than kShortestStall plus half of the caller's own work, the job was slower
// than the caller alone, and no worker used the processor for three quarters of the sampled time.
bool PoolWorkers::SleepUntilJoined(Clock::time_point start, Clock::time_point wait_start,
                                   const Share& share) {
  const size_t in_use = seats_in_use_.load(std::memory_order_relaxed);
  Clock::time_point sampled_at{};
  caller_asleep_.store(true);
  for (uint32_t left; (left = remaining_.load()) != 0;) {
    if (!backs_off_ || sampled_at != Clock::time_point()) {
      FutexWait(remaining_, left);
      continue;
    }
    const Clock::time_point now = Clock::now();
    if (now - wait_start < kShortestStall) {
      FutexWait(remaining_, left, kShortestStall - (now - wait_start));
      continue;
    }
    for (size_t i = 1; i < in_use; ++i) {
      processor_times_[i] = ProcessorTime(seats_[i].worker.native_handle());
    }
    sampled_at = now;
  }
  caller_asleep_.store(false, std::memory_order_relaxed);
  if (sampled_at == Clock::time_point()) return false;
  const Clock::time_point end = Clock::now();
  if (end - wait_start < kShortestStall + (wait_start - start) / 2) return false;
  if (share.own > 0 && end - start <= (wait_start - start) / share.own * share.pieces) return false;
  nanoseconds longest{0};
  for (size_t i = 1; i < in_use; ++i) {
    longest =
        std::max(longest, ProcessorTime(seats_[i].worker.native_handle()) - processor_times_[i]);
  }
  return longest < (end - sampled_at) * 3 / 4;
}

}  // namespace caffe2rt
