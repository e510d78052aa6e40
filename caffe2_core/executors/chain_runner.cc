#include "caffe2_core/executors/chain_runner.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "caffe2_core/base/futex.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/runtime/running_net.h"
#include "caffe2_core/runtime/waiting.h"

namespace caffe2rt {
namespace {

using Clock = std::chrono::steady_clock;

size_t CountWaiting(const NetSchedule& schedule) {
  size_t count = 0;
  for (size_t chain = 0; chain < schedule.num_chains(); ++chain) count += schedule.waits(chain);
  return count;
}

}  // namespace

ChainRunner::ChainRunner(const std::string& name, const NetOperators& operators,
                         const NetSchedule& schedule, DeviceChains* devices,
                         std::atomic<bool>& cancelled, int threads)
    : name_(name),
      operators_(operators),
      schedule_(schedule),
      devices_(devices),
      cancelled_(cancelled),
      ready_(schedule.num_chains()),
      ready_waiting_(devices != nullptr ? schedule.num_chains() : 0),
      chooses_(threads > 1 && devices == nullptr && !schedule.any_waits()),
      helpers_(threads),
      predecessors_left_(schedule.num_chains()),
      threads_([this](uint32_t chain) { RunWaiting(chain); }, CountWaiting(schedule)) {}

void ChainRunner::Run(size_t* running) {
  const TransientWrites scope;
  const StopScope stop(cancelled_);
  const StopScope stop_after_failure(failed_);
  std::optional<SharedTurn> turn;
  if (t_thread_state.turn != nullptr) turn.emplace();
  turn_ = turn.has_value() ? &*turn : nullptr;
  carried_.emplace();
  caller_ = &t_thread_state;
  Begin();
  if (chooses_ && choice_.measures()) {
    const auto start = Clock::now();
    RunPieces();
    if (!failed_.load()) choice_.Ran(Clock::now() - start);
  } else {
    RunPieces();
    if (chooses_ && !failed_.load()) choice_.Ran();
  }
  AwaitWaiting();
  carried_.reset();
  if (!failed_.load()) {
    if (devices_ != nullptr) devices_->FinishRun();
    return;
  }
  *running = failed_position_;
  std::rethrow_exception(std::exchange(error_, nullptr));
}

void ChainRunner::RunPieces() {
  if (helpers_.num_threads() == 1) return RunPiece(0);
  auto piece = [this](int seat) { RunPiece(seat); };
  ProcessThreadPool().Run(helpers_.num_threads(), PieceFunction(piece));
}

void ChainRunner::Begin() {
  helps_first_ = choice_.helps_first();
  running_threads_.store(CountsFirstSeat() ? 1 : 0);
  failed_.store(false);
  error_ = nullptr;
  ready_.Clear();
  ready_waiting_.Clear();
  starts_claimed_.store(false);
  any_piece_starts_ = devices_ != nullptr && IsPoolOfEmbedder();
  next_start_ = 0;
  chains_left_.store(static_cast<uint32_t>(schedule_.num_chains()));
  for (size_t chain = 0; chain < schedule_.num_chains(); ++chain) {
    predecessors_left_[chain].store(schedule_.num_predecessors(chain), std::memory_order_relaxed);
  }
  // Operators that wait start last, because they may end at once and start others.
  for (const bool waits : {false, true}) {
    for (uint32_t chain = 0; chain < schedule_.num_chains(); ++chain) {
      if (schedule_.num_predecessors(chain) != 0 || schedule_.waits(chain) != waits) continue;
      if (IsOfDevice(chain)) continue;
      if (waits) {
        StartWaiting(chain);
      } else {
        AddReady(chain);
      }
    }
  }
}

void ChainRunner::RunPiece(int seat) {
  std::optional<CarriedState::Scope> carried;
  if (caller_ != &t_thread_state) carried.emplace(*carried_);
  // A single thread may use the pool for the loops of its operators.
  std::optional<PieceHelpers::Scope> helped;
  if (helpers_.num_threads() > 1) helped.emplace(&helpers_, seat);
  size_t running = kNoPosition;
  const RunningNet running_net(name_, operators_.all(), running);
  const bool starts = ClaimStarts(seat);
  bool runs = seat == 0 && CountsFirstSeat();
  uint32_t chain = ReadyChains::kNone;
  while (!IsDone()) {
    if (starts) StartOnDevices(&running);
    if (chain == ReadyChains::kNone) chain = NextChain(seat, starts, &runs);
    if (chain == ReadyChains::kNone) continue;
    if (!RunChain(chain, &running)) return;
    chain = Finish(chain, !starts);
  }
}

// Returns a chain for a thread that has none to go on with, or kNone if it should look again. `*runs`
// is whether running_threads_ counts the thread. The last thread that is counted takes a chain at once:
// nobody would offer pieces.
uint32_t ChainRunner::NextChain(int seat, bool starts, bool* runs) {
  if (*runs) {
    if (running_threads_.load() == 1) {
      const uint32_t chain = TakeReady();
      if (chain != ReadyChains::kNone) return chain;
    }
    *runs = false;
    running_threads_.fetch_sub(1);
  }
  if (helpers_.Help(seat)) return ReadyChains::kNone;
  const uint32_t chain = AwaitChain(seat, starts);
  if (chain != ReadyChains::kNone && !starts) {
    *runs = true;
    running_threads_.fetch_add(1);
  }
  return chain;
}

// Waits for pieces of other threads, and for a chain. An idle thread prefers the pieces. An operator
// offers its pieces a short time after it has started; so a chain that another thread has added is
// taken if it is still there after several looks, or, if the choice says so, after a long time without
// pieces. The thread that has added it takes it at once. The long time has an end because operators may
// wait for each other without a mark.
uint32_t ChainRunner::AwaitChain(int seat, bool starts) {
  constexpr int kLooks = 10;
  constexpr std::chrono::milliseconds kLongWithoutPieces{1};
  const auto nobody_runs = [&] { return !starts && running_threads_.load() == 0; };
  int looks = 0;
  const bool waited = helpers_.Await(
      [&](bool last) {
        if (IsDone()) return true;
        if (starts && CanStart()) return true;
        if (!AnyReady()) return false;
        return nobody_runs() || (!helps_first_ && (++looks >= kLooks || last));
      },
      [&] { return AnyReady() ? kLongWithoutPieces : std::chrono::nanoseconds::zero(); });
  if (helpers_.Help(seat) || (starts && CanStart())) return ReadyChains::kNone;
  return helps_first_ && !waited && !nobody_runs() ? ReadyChains::kNone : TakeReady();
}

// Piece 0 of a job of the library's pool begins at once, almost always on the calling thread: a thread
// takes it before it runs any piece, or after its own one, and then the net has ended. An embedder's
// pool may run the pieces in any order, so there it is the first piece to begin. Either way no piece
// waits for another one to begin.
// For the same reason, seat 0 counts as one that runs chains from the beginning of the run.
bool ChainRunner::CountsFirstSeat() const { return devices_ == nullptr && !IsPoolOfEmbedder(); }

bool ChainRunner::ClaimStarts(int seat) {
  return devices_ != nullptr && (seat == 0 || any_piece_starts_) && !starts_claimed_.exchange(true);
}

uint32_t ChainRunner::TakeReady() {
  const uint32_t chain = ready_.Take();
  return chain == ReadyChains::kNone ? ready_waiting_.Take() : chain;
}

bool ChainRunner::AnyReady() const {
  return ready_.First() != ReadyChains::kNone || ready_waiting_.First() != ReadyChains::kNone;
}

bool ChainRunner::CanStart() const {
  return next_start_ < devices_->order().size() &&
         predecessors_left_[devices_->order()[next_start_]].load(std::memory_order_acquire) == 0;
}

void ChainRunner::StartOnDevices(size_t* running) {
  while (CanStart() && !failed_.load()) {
    const uint32_t chain = devices_->order()[next_start_++];
    if (!RunChain(chain, running)) return;
    Finish(chain, false);
  }
}

bool ChainRunner::RunChain(uint32_t chain, size_t* running) {
  if (turn_ != nullptr) turn_->Begin();
  bool success = true;
  try {
    if (devices_ != nullptr) {
      RunChainWithDevices(chain, running);
    } else {
      for (const uint32_t position : schedule_.operators(chain)) {
        *running = position;
        ThrowIfStoppedBetweenOperators();
        StartOperator(operators_[position], 0);
      }
    }
  } catch (...) {
    FailWithCurrent(*running);
    success = false;
  }
  *running = kNoPosition;
  if (turn_ != nullptr) turn_->End();
  return success;
}

// The same, for nets with devices.
void ChainRunner::RunChainWithDevices(uint32_t chain, size_t* running) {
  ThrowIfStoppedBetweenOperators();
  devices_->Begin(chain);
  for (const uint32_t position : schedule_.operators(chain)) {
    *running = position;
    ThrowIfStoppedBetweenOperators();
    devices_->BeforeOperator(position);
    StartOperator(operators_[position], devices_->stream(chain));
    devices_->AfterOperator(position);
  }
  *running = kNoPosition;
  devices_->End(chain);
}

uint32_t ChainRunner::Finish(uint32_t chain, bool keep) {
  uint32_t next = ReadyChains::kNone;
  int added = 0;
  bool can_start = false;
  for (const uint32_t successor : schedule_.successors(chain)) {
    if (predecessors_left_[successor].fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
    if (IsOfDevice(successor)) {
      can_start = true;
    } else if (schedule_.waits(successor)) {
      StartWaiting(successor);
    } else if (keep && next == ReadyChains::kNone && !WaitsOnHost(successor)) {
      next = successor;
    } else {
      AddReady(successor);
      ++added;
    }
  }
  const bool done = chains_left_.fetch_sub(1) == 1;
  if (done || can_start) {
    helpers_.Notify(helpers_.num_threads());
  } else if (added > 0) {
    helpers_.Notify(added);
  }
  return next;
}

void ChainRunner::StartWaiting(uint32_t chain) {
  waiting_left_.fetch_add(1);
  try {
    threads_.Start(chain);
  } catch (...) {
    FailWithCurrent(schedule_.operators(chain).front());
    waiting_left_.fetch_sub(1);
  }
}

void ChainRunner::RunWaiting(uint32_t chain) {
  {
    const CarriedState::Scope carried(*carried_);
    const PieceHelpers::Scope alone(nullptr, 0);
    size_t running = kNoPosition;
    const RunningNet running_net(name_, operators_.all(), running);
    if (!IsDone() && RunChain(chain, &running)) Finish(chain, false);
  }
  // From here on, the run may end.
  if (waiting_left_.fetch_sub(1) == 1) FutexWake(waiting_left_);
}

void ChainRunner::FailWithCurrent(size_t position) {
  if (!failed_.exchange(true)) {
    error_ = std::current_exception();
    failed_position_ = position;
  }
  helpers_.Notify(helpers_.num_threads());
}

void ChainRunner::AwaitWaiting() {
  for (uint32_t left; (left = waiting_left_.load()) != 0;) FutexWait(waiting_left_, left);
}

}  // namespace caffe2rt
