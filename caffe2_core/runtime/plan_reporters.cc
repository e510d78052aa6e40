#include "caffe2_core/runtime/plan_reporters.h"

#include <system_error>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/logging.h"

namespace caffe2rt {

void Turns::Begin(bool report) {
  std::unique_lock<std::mutex> lock(mutex_);
  const uint64_t ticket = next_ticket_++;
  changed_.wait(lock,
                [&] { return admitted_ == ticket && !reporting_ && (!report || nets_ == 0); });
  ++admitted_;
  if (report) {
    reporting_ = true;
  } else {
    ++nets_;
  }
  changed_.notify_all();  // if the next ticket belongs to a net, it may start as well
}

void Turns::EndNet() {
  const std::lock_guard<std::mutex> lock(mutex_);
  --nets_;
  changed_.notify_all();
}

void Turns::EndReport() {
  const std::lock_guard<std::mutex> lock(mutex_);
  reporting_ = false;
  changed_.notify_all();
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

TurnsTaken::~TurnsTaken() {
  for (const TurnsAround* taken = around_; taken != nullptr; taken = taken->outer) {
    if (taken->reports) {
      taken->turns->EndReport();
    } else {
      taken->turns->EndNet();
    }
  }
}

Reporter::Reporter(std::chrono::milliseconds period, std::function<void()> report)
    : report_(std::move(report)) {
  try {
    thread_ = std::thread([this, period] { Run(period); });
  } catch (const std::system_error& error) {
    CAFFE_THROW("cannot start the thread of a reporter: ", error.what());
  }
}

Reporter::~Reporter() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_all();
  thread_.join();
}

void Reporter::Run(std::chrono::milliseconds period) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopped_.wait_for(lock, period, [this] { return stop_; })) {
    lock.unlock();
    Report();
    lock.lock();
  }
  lock.unlock();
  Report();
}

void Reporter::Report() const {
  try {
    report_();
  } catch (...) {
    LOG(WARNING) << "a reporter failed: " << CurrentExceptionMessage();
  }
}

}  // namespace caffe2rt
