#include "caffe2_core/plan/plan_reporters.h"

#include <system_error>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/logging.h"

namespace caffe2rt {

void ReportLock::Begin(bool report) {
  const MutexLock lock(mutex_);
  const uint64_t ticket = next_ticket_++;
  while (admitted_ != ticket || reporting_ || (report && nets_ > 0)) changed_.Wait(mutex_);
  ++admitted_;
  if (report) {
    reporting_ = true;
  } else {
    ++nets_;
  }
  changed_.NotifyAll();  // if the next ticket belongs to a net, it may start as well
}

void ReportLock::EndNet() {
  const MutexLock lock(mutex_);
  --nets_;
  changed_.NotifyAll();
}

void ReportLock::EndReport() {
  const MutexLock lock(mutex_);
  reporting_ = false;
  changed_.NotifyAll();
}

ReportLocksHeld::ReportLocksHeld(const ReportLocks* locks) : locks_(locks) { Lock(locks); }

ReportLocksHeld::~ReportLocksHeld() { Unlock(locks_); }

void ReportLocksHeld::Lock(const ReportLocks* locks) {
  if (locks == nullptr) return;
  Lock(locks->outer);
  if (locks->reports) {
    locks->lock->BeginReport();
  } else {
    locks->lock->BeginNet();
  }
}

void ReportLocksHeld::Unlock(const ReportLocks* locks) {
  for (const ReportLocks* held = locks; held != nullptr; held = held->outer) {
    if (held->reports) {
      held->lock->EndReport();
    } else {
      held->lock->EndNet();
    }
  }
}

Reporter::Reporter(std::chrono::milliseconds period, std::function<void()> report)
    : report_(std::move(report)), scope_(StopScope::Innermost()) {
  try {
    thread_ = std::thread([this, period] { Run(period); });
  } catch (const std::system_error& error) {
    CAFFE_THROW("cannot start the thread of a reporter: ", error.what());
  }
}

Reporter::~Reporter() {
  {
    const MutexLock lock(mutex_);
    stop_ = true;
  }
  stopped_.NotifyAll();
  thread_.join();
}

void Reporter::Run(std::chrono::milliseconds period) {
  const StopScope scope([this] { return MustStop(); }, scope_, StopScope::Ends::kWaits);
  while (!WaitForStop(std::chrono::steady_clock::now() + period)) Report();
  Report();
}

bool Reporter::WaitForStop(std::chrono::steady_clock::time_point deadline) {
  const MutexLock lock(mutex_);
  while (!stop_ && stopped_.WaitUntil(mutex_, deadline)) {
  }
  return stop_;
}

bool Reporter::MustStop() {
  const MutexLock lock(mutex_);
  return stop_;
}

void Reporter::Report() const {
  try {
    report_();
  } catch (...) {
    LOG(WARNING) << "a reporter failed: " << CurrentExceptionMessage();
  }
}

}  // namespace caffe2rt
