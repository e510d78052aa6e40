#include "caffe2_core/executors/scheduled_net.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "caffe2_core/base/condition_variable.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/base/piece_helpers.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/base/timer.h"
#include "caffe2_core/executors/chain_runner.h"
#include "caffe2_core/executors/device_order.h"
#include "caffe2_core/executors/in_order_run.h"
#include "caffe2_core/executors/net_schedule.h"
#include "caffe2_core/executors/run_statistics.h"
#include "caffe2_core/executors/waiting_threads.h"
#include "caffe2_core/graph/device_inference.h"
#include "caffe2_core/graph/nested_nets.h"

namespace caffe2rt {
namespace {

void WarnOfWorkers(const NetDef& net, int threads) {
  static std::atomic<bool> warned{false};
  if (warned.exchange(true)) return;
  LOG(WARNING) << "net \"" << net.name() << "\" asks for " << net.num_workers()
               << " workers, and gets the " << threads
               << " threads of the pool; SetNumThreads or --threads sets their number";
}

class ScheduledNet final : public NetBase {
 public:
  ScheduledNet(const std::shared_ptr<const NetDef>& def, Workspace* ws, const NetPolicy& policy)
      : NetBase(def, ws),
        policy_(policy),
        operators_(def, ws),
        in_order_(debug_def(), operators_, cancelled(), OrderOnOneThread()),
        async_([this](uint32_t) { RunAndKeepResult(); }, 1) {
    if (policy.order == NetOrder::kByDependencies && !operators_.HasAsyncPart()) PlanChains();
    const bool collects = def->type() == "dag" && GlobalDebugOptions().collect_dag_statistics;
    if (policy.logs_statistics || collects) statistics_.emplace(operators_.all());
  }
  ~ScheduledNet() override {
    if (statistics_.has_value() && statistics_->runs() > 0) {
      LOG(INFO) << statistics_->Text(Name());
    }
  }

  std::vector<OperatorBase*> GetOperators() const override { return operators_.all(); }
  bool SupportsAsync() override { return true; }

  bool Run() override {
    Claim();
    const Release release(*this);
    return NetBase::Run();
  }
  bool RunAsync() override;
  void Wait() override;

 protected:
  bool DoRun() override;

 private:
  // Lets the next run begin.
  class Release {
   public:
    explicit Release(ScheduledNet& net) : net_(net) {}
    ~Release() { net_.running_.store(false); }
    Release(const Release&) = delete;
    Release& operator=(const Release&) = delete;

   private:
    ScheduledNet& net_;
  };

  void Claim() {
    CAFFE_ENFORCE(!running_.exchange(true), "net \"", Name(),
                  "\" is running, want one run at a time: each thread needs a net of its own");
    cancelled().store(false, std::memory_order_relaxed);
  }
  NetSchedule Schedule(std::span<const uint32_t> devices) const;
  ExecutionOrder OrderOnOneThread() const;
  void PlanChains();
  bool HasLimit() const { return debug_def().has_num_workers() && debug_def().num_workers() > 0; }
  int NumThreads() const;
  void RunAndKeepResult();
  void RunOperators();

  const NetPolicy policy_;
  NetOperators operators_;
  InOrderRun in_order_;
  std::unique_ptr<const NetSchedule> schedule_;  // null: always in the order of the net
  std::unique_ptr<ChainRunner> runner_;          // made by the first run that needs it
  std::optional<RunStatistics> statistics_;
  std::atomic<bool> running_{false};

  // Of RunAsync.
  Mutex mutex_;
  ConditionVariable ended_;
  bool is_async_ ABSL_GUARDED_BY(mutex_) = false;  // between RunAsync and Wait
  bool has_ended_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<CarriedState> carried_;  // of the thread that called RunAsync
  bool success_ = false;
  std::exception_ptr error_;
  WaitingThreads async_;  // the last member, because its thread uses those above
};

// `devices` is empty if all operators are on the CPU.
NetSchedule ScheduledNet::Schedule(std::span<const uint32_t> devices) const {
  std::vector<ScheduledOperator> scheduled;
  scheduled.reserve(operators_.size());
  for (size_t i = 0; i < operators_.size(); ++i) {
    scheduled.push_back(
        {.device = devices.empty() ? 0 : devices[i], .waits = MayWait(operators_[i]->debug_def())});
  }
  return NetSchedule(operators_.FindDependencies(), scheduled);
}

// A net on devices that runs by dependencies starts its chains on several streams.
ExecutionOrder ScheduledNet::OrderOnOneThread() const {
  if (policy_.order != NetOrder::kByDependencies || !operators_.HasAsyncPart()) {
    return InOrderOfNet(operators_.size());
  }
  std::map<DevicePlace, uint32_t> numbers;
  std::vector<uint32_t> devices;
  for (const OperatorBase* op : operators_.all()) {
    if (!op->HasAsyncPart() || op->device_option().device_type() == CPU) {
      devices.push_back(0);
      continue;
    }
    const auto next = static_cast<uint32_t>(numbers.size() + 1);
    devices.push_back(numbers.try_emplace(PlaceOf(op->device_option()), next).first->second);
  }
  const NetSchedule schedule = Schedule(devices);
  // One thread runs operators that wait for each other only in the order of the net.
  if (schedule.any_waits()) return InOrderOfNet(operators_.size());
  return DeviceOrder(schedule, devices);
}

void ScheduledNet::PlanChains() {
  schedule_ = std::make_unique<const NetSchedule>(Schedule({}));
  if (HasLimit() && debug_def().num_workers() > GetNumThreads()) {
    WarnOfWorkers(debug_def(), GetNumThreads());
  }
}

int ScheduledNet::NumThreads() const {
  const int most = GetNumThreads();
  if (HasLimit()) return std::min<int>(debug_def().num_workers(), most);
  return policy_.threads == NetThreads::kOne ? 1 : most;
}

bool ScheduledNet::DoRun() {
  if (!statistics_.has_value()) {
    RunOperators();
    return true;
  }
  const Timer timer;
  RunOperators();
  statistics_->EndRun(timer.MilliSeconds());
  return true;
}

void ScheduledNet::RunOperators() {
  const int threads = schedule_ == nullptr ? 1 : NumThreads();
  const bool is_limited = schedule_ != nullptr && HasLimit() && threads < GetNumThreads();
  std::optional<PieceHelpers::Scope> alone;
  if (is_limited && threads == 1) alone.emplace(nullptr, 0);
  if (schedule_ == nullptr ||
      (!schedule_->any_waits() && (threads == 1 || (!schedule_->has_branches() && !is_limited)))) {
    return in_order_.Run();
  }
  if (runner_ == nullptr || runner_->num_threads() != threads) {
    runner_ = std::make_unique<ChainRunner>(Name(), operators_, *schedule_, cancelled(), threads);
  }
  size_t running = kNoPosition;
  try {
    runner_->Run(&running);
  } catch (...) {
    operators_.Fail(running, [] { return std::string(); });
  }
}

bool ScheduledNet::RunAsync() {
  Claim();
  try {
    const MutexLock lock(mutex_);
    is_async_ = true;
    has_ended_ = false;
    carried_.emplace();
    async_.Start(0);
  } catch (...) {
    {
      const MutexLock lock(mutex_);
      is_async_ = false;
    }
    running_.store(false);
    throw;
  }
  return true;
}

void ScheduledNet::RunAndKeepResult() {
  error_ = nullptr;
  success_ = true;
  try {
    const CarriedState::Scope scope(*carried_);
    success_ = NetBase::Run();
  } catch (...) {
    error_ = std::current_exception();
  }
  {
    const MutexLock lock(mutex_);
    has_ended_ = true;
  }
  ended_.NotifyAll();
}

void ScheduledNet::Wait() {
  {
    const MutexLock lock(mutex_);
    if (!is_async_) return;
    while (!has_ended_) ended_.Wait(mutex_);
    is_async_ = false;
  }
  const Release release(*this);
  if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
  CAFFE_ENFORCE(success_, "net \"", Name(), "\" reports a failure");
}

}  // namespace

std::unique_ptr<NetBase> NewScheduledNet(const std::shared_ptr<const NetDef>& def, Workspace* ws,
                                         const NetPolicy& policy) {
  return std::make_unique<ScheduledNet>(def, ws, policy);
}

}  // namespace caffe2rt
