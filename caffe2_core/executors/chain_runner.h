#pragma once
// ChainRunner: runs the chains of a net on several threads, as their dependencies allow.
//
// A run is one job of the pool (ThreadPool::Run) with a piece for each thread. A piece helps the
// operators of the others with the pieces of their loops (base/piece_helpers.h), and takes ready chains
// when there are no pieces, until the net has ended. How long it waits for pieces first is measured
// (chain_choice.h). Whichever thread runs a piece can finish the net
// alone, so the run ends even if the pool gives it a single thread, or an embedder's pool calls the
// pieces one after the other. Operators that wait for others run on threads of their own
// (waiting_threads.h).
//
// Devices: one thread starts the chains of devices, in a fixed order (device_chains.h): that of piece 0,
// which is the caller as a rule, or, on an embedder's pool, of the piece that begins first. It takes
// other chains only if no other thread does.
//
// Errors: after the first one, no operator starts any more; those that wait are stopped, and those
// that compute are awaited.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "caffe2_core/base/piece_helpers.h"
#include "caffe2_core/executors/chain_choice.h"
#include "caffe2_core/executors/device_chains.h"
#include "caffe2_core/executors/net_schedule.h"
#include "caffe2_core/executors/ready_chains.h"
#include "caffe2_core/executors/shared_turn.h"
#include "caffe2_core/executors/waiting_threads.h"
#include "caffe2_core/runtime/carried_state.h"
#include "caffe2_core/runtime/net_operators.h"

namespace caffe2rt {

// One run at a time. Steady state: allocates nothing and takes no lock, except for operators that
// wait.
class ChainRunner {
 public:
  // `threads` is the number of threads that compute. `devices` is null if no operator uses devices. All
  // references must outlive this object.
  ChainRunner(const std::string& name, const NetOperators& operators, const NetSchedule& schedule,
              DeviceChains* devices, std::atomic<bool>& cancelled, int threads);
  ChainRunner(const ChainRunner&) = delete;
  ChainRunner& operator=(const ChainRunner&) = delete;

  int num_threads() const { return helpers_.num_threads(); }
  // Runs all chains. THROWS the first error; `*running` is then the position of its operator.
  void Run(size_t* running);

 private:
  void Begin();
  void RunPieces();
  void RunPiece(int seat);
  uint32_t NextChain(int seat, bool starts, bool* runs);
  uint32_t AwaitChain(int seat, bool starts);
  void RunWaiting(uint32_t chain);
  // Returns false if an operator failed, or the run was stopped.
  bool RunChain(uint32_t chain, size_t* running);
  void RunChainWithDevices(uint32_t chain, size_t* running);
  // Starts the chains that only waited for this one. Returns one that the calling thread should run,
  // or kNone; with `keep` false, always kNone.
  uint32_t Finish(uint32_t chain, bool keep);
  void StartWaiting(uint32_t chain);
  bool IsOfDevice(uint32_t chain) const {
    return devices_ != nullptr && devices_->is_of_device(chain);
  }
  bool WaitsOnHost(uint32_t chain) const {
    return devices_ != nullptr && devices_->WaitsOnHost(chain);
  }
  // Of chains that any thread may run. Those that have to wait for a device first are taken last.
  void AddReady(uint32_t chain) { (WaitsOnHost(chain) ? ready_waiting_ : ready_).Add(chain); }
  uint32_t TakeReady();
  bool AnyReady() const;
  // Makes the calling thread, which begins the piece of the seat, the one that starts chains of
  // devices. Returns false if another one does.
  bool ClaimStarts(int seat);
  bool CountsFirstSeat() const;
  bool CanStart() const;
  void StartOnDevices(size_t* running);
  void FailWithCurrent(size_t position);
  bool IsDone() const { return failed_.load() || chains_left_.load() == 0; }
  void AwaitWaiting();

  const std::string& name_;
  const NetOperators& operators_;
  const NetSchedule& schedule_;
  DeviceChains* const devices_;
  std::atomic<bool>& cancelled_;
  ReadyChains ready_, ready_waiting_;
  const bool chooses_;  // whether choice_ has an effect
  ChainChoice choice_;
  PieceHelpers helpers_;
  std::vector<std::atomic<uint32_t>> predecessors_left_;  // by chain

  // Of the current run.
  std::optional<CarriedState> carried_;
  const ThreadState* caller_ = nullptr;  // its address tells the threads apart
  SharedTurn* turn_ = nullptr;           // null if the caller has none
  bool helps_first_ = false;
  alignas(64) std::atomic<uint32_t> chains_left_{0};
  std::atomic<int> running_threads_{0};  // that run chains, apart from the one that starts devices
  std::atomic<uint32_t> waiting_left_{0};  // chains on threads_
  std::atomic<bool> failed_{false};
  std::atomic<bool> starts_claimed_{false};
  bool any_piece_starts_ = false;
  size_t next_start_ = 0;     // of devices_->order(), used by the thread that starts them
  std::exception_ptr error_;  // written by the thread that sets failed_, read after all have ended
  size_t failed_position_ = kNoPosition;
  WaitingThreads threads_;  // the last member, because its threads use those above
};

}  // namespace caffe2rt
