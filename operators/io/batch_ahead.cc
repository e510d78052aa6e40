#include "operators/io/batch_ahead.h"

#include <chrono>
#include <system_error>
#include <utility>

#include "caffe2_core/base/work_scope.h"
#include "caffe2_core/runtime/waiting.h"

namespace caffe2rt {

BatchAhead::BatchAhead(std::function<void(BatchRecords&)> fill, bool enabled)
    : fill_(std::move(fill)), enabled_(enabled) {}

BatchAhead::~BatchAhead() {
  Cancel();
  if (!thread_.joinable()) return;
  SetPhase(Phase::kEnd);
  thread_.join();
}

void BatchAhead::SetPhase(Phase phase) {
  {
    const MutexLock lock(mutex_);
    phase_ = phase;
  }
  changed_.NotifyAll();
}

void BatchAhead::Read(db::DBRecord* record) {
  if (!reads_ahead_) return records_.ReadNow(record);
  if (is_void_.load(std::memory_order_relaxed) || !records_.Read(record)) throw Void();
}

void BatchAhead::Await(const db::DBReader& reader) {
  if (!records_.IsAttachedTo(reader)) {
    Cancel();
    records_.Attach(reader);
    runs_ = 0;
  }
  if (AwaitReady()) {
    if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
    return;
  }
  fill_(source_);
}

bool BatchAhead::TakeReady() {
  const MutexLock lock(mutex_);
  if (phase_ != Phase::kReady) return false;
  phase_ = Phase::kIdle;
  return true;
}

bool BatchAhead::AwaitReady() {
  if (!reads_ahead_) return false;
  while (!TakeReady()) {
    ThrowIfStopped();
    // No lock is held here, because taking turns again may wait for others.
    const WaitingThread waiting;
    const auto deadline = std::chrono::steady_clock::now() + kLongestWait;
    const MutexLock lock(mutex_);
    while (phase_ != Phase::kReady && changed_.WaitUntil(mutex_, deadline)) {
    }
  }
  reads_ahead_ = false;
  const bool is_void = is_void_.exchange(false);
  if (!is_void && records_.HandOut(&end_)) return true;
  error_ = nullptr;
  return false;
}

void BatchAhead::FillAhead() {
  if (!enabled_ || ++runs_ < 2 || !records_.Begin()) return;
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { Work(); });
    } catch (const std::system_error&) {
      enabled_ = false;  // the system allows no more threads
      return;
    }
  }
  reads_ahead_ = true;
  SetPhase(Phase::kWanted);
}

void BatchAhead::Cancel() noexcept {
  if (reads_ahead_) {
    is_void_ = true;
    const MutexLock lock(mutex_);
    while (phase_ != Phase::kReady) changed_.Wait(mutex_);
    phase_ = Phase::kIdle;
  }
  reads_ahead_ = false;
  is_void_ = false;
  error_ = nullptr;
  records_.Release();
}

void BatchAhead::Work() {
  // The threads of the pool belong to the net.
  const WorkScope scope({.threads = 1});
  while (true) {
    {
      const MutexLock lock(mutex_);
      while (phase_ != Phase::kWanted && phase_ != Phase::kEnd) changed_.Wait(mutex_);
      if (phase_ == Phase::kEnd) return;
    }
    try {
      fill_(source_);
    } catch (const Void&) {
      is_void_ = true;
    } catch (...) {
      error_ = std::current_exception();
    }
    try {
      records_.End(&end_);
    } catch (...) {
      if (error_ == nullptr) error_ = std::current_exception();
    }
    SetPhase(Phase::kReady);
  }
}

}  // namespace caffe2rt
