#pragma once
// ControlGroup: how the ranks of a world and its clones agree on operations, and notice that one of them is
// lost. It has a connection to each other rank, and a thread that reads them (the monitor).
//
// Agreement. A rank that starts a collective sends its signature to all others and waits for theirs. If
// all are equal the data may flow; otherwise every rank has seen one that differs from its own, and
// throws. Signatures of one world are compared in the order in which they were sent; those of different
// clones do not wait for each other.
//
// Loss. A world fails as a whole, once, for one of these reasons:
//
//   the connection to a rank closes      its process has ended: the rank is lost. The kernel closes the
//                                        connection in milliseconds
//   an operation takes the timeout       halfway, the monitor asks all ranks for a sign of life, which their
//                                        monitors give whatever their operators do. Ranks that gave none
//                                        are lost. If all did, those are named that have not started the
//                                        operation and wait for nobody else. If there are none, the ranks
//                                        wait for each other, and none is lost
//   a rank says that the world failed    with the ranks that it has lost. Every rank that notices a failure
//                                        says so to all others before anything else, so that the end of its
//                                        process is not taken for a loss
//   a rank left, or gave up a run        if this rank waits for it
//
// The monitor then calls the engine's Abort, which ends the operations under way.
//
// Thread safe. The number of threads that wait is not limited.

#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "caffe2_core/base/condition_variable.h"
#include "caffe2_core/base/mutex.h"
#include "operators/distributed/collective_engine.h"
#include "operators/distributed/rendezvous.h"

namespace caffe2rt {

class ControlGroup final : public TransportBootstrap {
 public:
  static constexpr int kAnyRank = -1;
  static constexpr int kAllRanks = -2;
  static constexpr int kCreation = -3;  // all ranks; one that has left has done its part

  // Takes the connections over.
  ControlGroup(const GroupOptions& options, Meeting meeting);
  // Leaves first.
  ~ControlGroup();
  ControlGroup(const ControlGroup&) = delete;
  ControlGroup& operator=(const ControlGroup&) = delete;

  const GroupOptions& options() const { return options_; }

  // An operation that is under way, from its start until the destructor.
  class Operation {
   public:
    // `waits_for` is a rank, kAnyRank, kAllRanks or kCreation. `text` describes it: "Allreduce \"w\" of world \"cw\"".
    // `tag` is that of the message that it waits for (-1: any), if it does. THROWS RanksLost if the group has failed.
    Operation(ControlGroup* group, std::string text, int waits_for, uint64_t world,
              std::optional<int> tag = std::nullopt);
    ~Operation();
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;

   private:
    friend class ControlGroup;
    ControlGroup& group_;
    const std::string text_;
    const int waits_for_;
    const uint64_t world_;
    const std::optional<int> tag_;
    const ControlClock::time_point start_ = ControlClock::now();
    bool moves_data_ = false;                        // the ranks have agreed
    std::optional<ControlClock::time_point> asked_;  // for signs of life
  };

  // Waits until all ranks have started an operation on the world of the signature. THROWS EnforceNotMet if
  // their signatures differ, RanksLost, or RunStopped; after a stop the group has failed.
  void Agree(Operation* operation, const Signature& signature, const std::string& world);
  // Throws what an operation whose engine failed should throw: the loss of ranks, or `why`.
  [[noreturn]] void ThrowEngineFailure(const Operation& operation, const std::string& why);

  // Tells a rank that the data of a message follow.
  void Announce(const Operation& operation, int rank, const MessageHeader& header);
  // Waits for a message from a rank (or any, kAnyRank) with a tag (or any, -1). Returns its source. THROWS as
  // Agree does.
  int WaitForMessage(Operation* operation, int source, int tag, MessageHeader* header);

  std::vector<std::string> Exchange(const std::vector<std::string>& messages) override;
  void OnLoss(std::function<void()> abort) override;

  std::vector<int> lost_ranks() const;
  // Says goodbye, and waits up to a second until no rank needs this one for data. Does nothing the second time.
  void Leave();

 private:
  struct Peer {
    UniqueFd fd;
    std::string received;  // the beginning of a frame
    bool closed = false;
    bool left = false;     // said goodbye
    bool gave_up = false;  // said that the world failed
    bool acked = false;    // our goodbye
    bool wants_ack = false;
    ControlClock::time_point heard = ControlClock::now();
    std::string state;  // what it was doing when it gave the last sign of life; "" if nothing
    std::map<uint64_t, std::deque<Signature>> signatures;
    std::deque<MessageHeader> messages;
    std::deque<std::string> blobs;
    Mutex sending;  // frames are sent as a whole
  };

  void Monitor();
  void ReadPeer(int rank);
  void HandleFrame(int rank, FrameKind kind, std::string_view body)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void HandleClosed(int rank) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CheckTimes() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CheckOperation(Operation* operation) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // When all ranks answer: names those that `operation` waits for, unless they wait themselves.
  void FailMissing(const Operation& operation, const std::string& patience)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AckGoodbyes() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::string State() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<int> MissingRanks(const Operation& operation) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Records the first failure; ranks that are lost soon after it are added.
  void Fail(std::vector<int> lost, const std::string& reason) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Sends what Fail and HandleFrame have queued, and aborts the engine. Called without the lock.
  void SendQueued();
  void SendFrame(int rank, FrameKind kind, std::string_view body);
  void SendToAll(FrameKind kind, std::string_view body);
  void Queue(int rank, FrameKind kind, std::string body) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Waits until `ready` returns true. THROWS if the group has failed or the run is stopped.
  void WaitUntil(const Operation& operation, const std::function<bool()>& ready);
  [[noreturn]] void ThrowFailure(const std::string& text);
  void ThrowIfFailed(const std::string& text);

  const GroupOptions options_;
  const int self_;
  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::vector<std::unique_ptr<Peer>>
      peers_;  // null for this rank; what is in them is guarded by mutex_
  std::vector<Operation*> operations_ ABSL_GUARDED_BY(mutex_);
  std::optional<GroupFailure> failure_ ABSL_GUARDED_BY(mutex_);
  ControlClock::time_point failed_at_ ABSL_GUARDED_BY(mutex_);
  bool settled_ ABSL_GUARDED_BY(mutex_) = false;  // no more ranks are added to the failure
  bool aborted_ ABSL_GUARDED_BY(mutex_) = false;
  bool leaving_ ABSL_GUARDED_BY(mutex_) = false;
  struct QueuedFrame {
    int rank;
    FrameKind kind;
    std::string body;
  };
  std::vector<QueuedFrame> queued_ ABSL_GUARDED_BY(mutex_);
  Mutex abort_mutex_;  // before mutex_
  std::function<void()> abort_ ABSL_GUARDED_BY(abort_mutex_);
  UniqueFd wake_;  // readable when the monitor is to end
  std::atomic<bool> stop_{false};
  std::thread monitor_;
};

}  // namespace caffe2rt
