#pragma once
// BatchAhead: fills the batches of an input operator on a thread of its own, one batch ahead of the
// net.
//
//   BatchAhead ahead_{[this](BatchRecords& records) { FillBuffers(records); }, true};
//   ahead_.Next(reader, [this] { std::swap(filled_, taken_); });       // in each run
//   CopyToOutputs(taken_);                                             // while filled_ is filled
//
// The batches, their order and the reader's position are those of an operator that reads in its runs:
// a batch counts as read when a run takes it, and the error of a batch is thrown by the run that would
// have taken it. The first two runs read on the thread of the net, because a net that runs once has
// no use for a thread. There is no reading ahead if the database cannot return to a record, and
// none once two readers take turns (caffe2_core/io/records_ahead.h).
//
// In the steady state, a run allocates no memory.

#include <atomic>
#include <exception>
#include <functional>
#include <thread>

#include "caffe2_core/base/condition_variable.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/records_ahead.h"

namespace caffe2rt {

// Where a batch gets its records from.
class [[gnu::visibility("default")]] BatchRecords {
 public:
  virtual ~BatchRecords() = default;
  // THROWS as DBReader::Read, and what must not be caught, if the batch is no longer needed.
  virtual void Read(db::DBRecord * record) = 0;
  // Of the next record.
  virtual db::DBReaderPosition position() = 0;
};

// Used by the threads that run the operator, one at a time.
class [[gnu::visibility("default")]] BatchAhead final {
 public:
  // `fill` reads a batch into buffers of the operator. It is called by one thread at a time, not while
  // `take` runs, which takes the buffers away. Its objects must outlive this one. If `enabled` is false, nothing is read ahead.
  BatchAhead(std::function<void(BatchRecords&)> fill, bool enabled);
  // Ends the thread.
  ~BatchAhead();
  BatchAhead(const BatchAhead&) = delete;
  BatchAhead& operator=(const BatchAhead&) = delete;

  // Calls `take` when the next batch is in the buffers, then begins to read the one behind it. THROWS
  // the error of the batch, RunStopped (runtime/waiting.h), or what `take` throws.
  template <class Take>
  void Next(const db::DBReader& reader, const Take& take) {
    Await(reader);
    take();
    FillAhead();
  }

 private:
  enum class Phase {
    kIdle,    // nothing is read; the buffers belong to the operator
    kWanted,  // the thread fills the buffers
    kReady,   // they hold a batch, or error_ is set
    kEnd,     // the thread ends
  };
  struct Void {};  // thrown by Read if the batch is no longer needed

  // An object of its own: the thread calls its virtual functions while ~BatchAhead waits for it.
  class Records final : public BatchRecords {
   public:
    explicit Records(BatchAhead* owner) : owner_(owner) {}
    void Read(db::DBRecord* record) override { owner_->Read(record); }
    db::DBReaderPosition position() override { return owner_->records_.position(); }

   private:
    BatchAhead* const owner_;
  };

  void Read(db::DBRecord * record);
  // Returns when the next batch is in the buffers.
  void Await(const db::DBReader& reader);
  // Waits for the batch that is being read. THROWS RunStopped. Returns whether it is valid.
  bool AwaitReady();
  // Returns whether the batch is ready, and makes the phase kIdle then.
  bool TakeReady();
  void FillAhead();
  void Cancel() noexcept;
  void Work();
  void SetPhase(Phase phase);

  const std::function<void(BatchRecords&)> fill_;
  Records source_{this};
  bool enabled_;
  int runs_ = 0;  // with the current reader
  db::RecordsAhead records_;
  std::atomic<bool> is_void_ = false;  // what is being read is no longer needed

  Mutex mutex_;
  ConditionVariable changed_;
  Phase phase_ ABSL_GUARDED_BY(mutex_) = Phase::kIdle;
  // Of the batch: where it ends, and what reading it threw. Used by the thread while the phase is
  // kWanted, and by the operator otherwise.
  db::RecordPlace end_;
  std::exception_ptr error_;
  bool reads_ahead_ = false;
  std::thread thread_;
};

}  // namespace caffe2rt
