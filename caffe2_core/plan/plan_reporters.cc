#include "caffe2_core/plan/plan_reporters.h"

#include <system_error>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/logging.h"

namespace caffe2rt {

void Turns::Begin(bool report) {
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

void Turns::EndNet() {
  const MutexLock lock(mutex_);
  --nets_;
  changed_.NotifyAll();
}

void Turns::EndReport() {
  const MutexLock lock(mutex_);
  reporting_ = false;
  changed_.NotifyAll();
}

constinit thread_local const TurnsTaken* TurnsTaken::innermost_ = nullptr;

TurnsTaken::TurnsTaken(const TurnsAround* around) : around_(around), before_(innermost_) {
  Take(around);
  innermost_ = this;
}

TurnsTaken::~TurnsTaken() {
  innermost_ = before_;
  GiveBack(around_);
}

void TurnsTaken::PauseInnermost() {
  if (innermost_ != nullptr) GiveBack(innermost_->around_);
}

void TurnsTaken::ResumeInnermost() {
  if (innermost_ != nullptr) Take(innermost_->around_);
}

void TurnsTaken::Take(const TurnsAround* around) {
  if (around == nullptr) return;
  Take(around->outer);
  if (around->reports) {
    around->turns->BeginReport();
  } else {
    around->turns->BeginNet();
  }
}

void TurnsTaken::GiveBack(const TurnsAround* around) {
  for (const TurnsAround* taken = around; taken != nullptr; taken = taken->outer) {
    if (taken->reports) {
      taken->turns->EndReport();
    } else {
      taken->turns->EndNet();
    }
  }
}

WaitingThread::WaitingThread() { TurnsTaken::PauseInnermost(); }

WaitingThread::~WaitingThread() { TurnsTaken::ResumeInnermost(); }

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
  const StopScope scope([this] { return MustStop(); }, scope_);
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
