#include "caffe2_core/inspect/time_observer.h"

#include "caffe2_core/base/text.h"

namespace caffe2rt {

namespace {

class OperatorTimer final : public ObserverBase<OperatorBase> {
 public:
  OperatorTimer(OperatorBase* op, std::shared_ptr<TimeObserver::Times> times)
      : ObserverBase<OperatorBase>(op), times_(std::move(times)) {}
  void Start() override { timer_.Start(); }
  void Stop() override {
    times_->total_ms += timer_.MilliSeconds();
    ++times_->runs;
  }

 private:
  Timer timer_;
  const std::shared_ptr<TimeObserver::Times> times_;  // shared with the net's observer
};

class OperatorRunCounter final : public ObserverBase<OperatorBase> {
 public:
  OperatorRunCounter(OperatorBase* op, std::shared_ptr<std::atomic<int>> count)
      : ObserverBase<OperatorBase>(op), count_(std::move(count)) {}
  void Start() override { ++*count_; }
  // The operators of step nets count, too.
  std::unique_ptr<ObserverBase<OperatorBase>> rnnCopy(OperatorBase* op, int) const override {
    return std::make_unique<OperatorRunCounter>(op, count_);
  }

 private:
  // Shared with the net's observer, which may be gone.
  const std::shared_ptr<std::atomic<int>> count_;
};

}  // namespace

TimeObserver::TimeObserver(NetBase* net) : ObserverBase<NetBase>(net) {
  CAFFE_ENFORCE(net != nullptr, "argument net of TimeObserver is null");
  for (OperatorBase* op : net->GetOperators()) {
    operators_.push_back(std::make_shared<Times>());
    op->AttachObserver(std::make_unique<OperatorTimer>(op, operators_.back()));
  }
}

void TimeObserver::Stop() {
  times_.total_ms += timer_.MilliSeconds();
  ++times_.runs;
}

float TimeObserver::average_time_children() const {
  if (operators_.empty()) return 0;
  float sum = 0;
  for (const auto& times : operators_) sum += times->Average();
  return sum / static_cast<float>(operators_.size());
}

std::string TimeObserver::debugInfo() {
  return MakeString(CountText(times_.runs, "run"), " of net \"", subject_->Name(), "\", ",
                    average_time(), " ms each, ", average_time_children(), " ms an operator");
}

RunCountNetObserver::RunCountNetObserver(NetBase* net)
    : ObserverBase<NetBase>(net), operator_runs_(std::make_shared<std::atomic<int>>(0)) {
  CAFFE_ENFORCE(net != nullptr, "argument net of RunCountNetObserver is null");
  for (OperatorBase* op : net->GetOperators()) {
    op->AttachObserver(std::make_unique<OperatorRunCounter>(op, operator_runs_));
  }
}

std::string RunCountNetObserver::debugInfo() {
  return MakeString(CountText(runs_, "run"), " of net \"", subject_->Name(), "\", ",
                    CountText(operator_runs_->load(), "run"), " of its operators");
}

}  // namespace caffe2rt
