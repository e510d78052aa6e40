#include "caffe2_core/executors/scheduled_net.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/condition_variable.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/base/piece_helpers.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/base/timer.h"
#include "caffe2_core/executors/chain_runner.h"
#include "caffe2_core/executors/device_chains.h"
#include "caffe2_core/executors/device_order.h"
#include "caffe2_core/executors/in_order_run.h"
#include "caffe2_core/executors/net_schedule.h"
#include "caffe2_core/executors/net_types.h"
#include "caffe2_core/executors/run_statistics.h"
#include "caffe2_core/executors/waiting_threads.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/nested_nets.h"

namespace caffe2rt {
namespace {

void WarnOfWorkers(const NetDef& net) {
  static std::atomic<bool> warned{false};
  const std::string problem = TooManyWorkers(net, net.type());
  if (!problem.empty() && !warned.exchange(true)) LOG(WARNING) << problem;
}

class ScheduledNet final : public NetBase {
 public:
  ScheduledNet(const std::shared_ptr<const NetDef>& def, Workspace* ws, const NetPolicy& policy)
      : NetBase(def, ws),
        policy_(policy),
        operators_(def, ws),
        devices_(DevicesOf(operators_)),
        schedule_(Schedule()),
        in_order_(debug_def(), operators_, cancelled(), OrderOnOneThread()),
        async_([this](uint32_t) { RunAndKeepResult(); }, 1) {
    PlanThreads();
    const bool collects = def->type() == "dag" && GlobalDebugOptions().collect_dag_statistics;
    if (policy.logs_statistics || collects) statistics_.emplace(operators_.all());
  }
  ~ScheduledNet() override {
    EndAsyncRun();
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
  std::unique_ptr<const NetSchedule> Schedule() const;
  ExecutionOrder OrderOnOneThread() const;
  bool NeedsOneThread() const;
  void PlanThreads();
  bool HasLimit() const { return debug_def().has_num_workers() && debug_def().num_workers() > 0; }
  int NumThreads() const;
  void RunAndKeepResult();
  void EndAsyncRun();
  void RunOperators();

  const NetPolicy policy_;
  NetOperators operators_;
  const std::vector<uint32_t> devices_;          // by operator; empty if none uses a device
  std::unique_ptr<const NetSchedule> schedule_;  // null: always on one thread
  InOrderRun in_order_;
  std::unique_ptr<DeviceChains> device_chains_;  // null if no operator uses a device
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

std::unique_ptr<const NetSchedule> ScheduledNet::Schedule() const {
  if (policy_.order != NetOrder::kByDependencies) return nullptr;
  std::vector<ScheduledOperator> scheduled;
  scheduled.reserve(operators_.size());
  for (size_t i = 0; i < operators_.size(); ++i) {
    scheduled.push_back({.device = devices_.empty() ? kAnyThread : devices_[i],
                         .waits = MayWait(operators_[i]->debug_def())});
  }
  return std::make_unique<const NetSchedule>(operators_.FindDependencies(), scheduled);
}

// A net on devices that runs by dependencies starts its chains on several streams. One thread runs
// operators that wait for each other only in the order of the net.
ExecutionOrder ScheduledNet::OrderOnOneThread() const {
  if (schedule_ == nullptr || devices_.empty() || !operators_.HasAsyncPart() ||
      schedule_->any_waits()) {
    return InOrderOfNet(operators_.size());
  }
  return DeviceOrder(*schedule_, devices_);
}

// Whether one thread runs all operators, although they run by dependencies: because of what only that
// thread knows how to do, or because no other thread has anything to do.
bool ScheduledNet::NeedsOneThread() const {
  if (devices_.empty()) return operators_.HasAsyncPart();
  if (GetFlagArgument(debug_def(), "cuda_sync") || GetFlagArgument(debug_def(), "cuda_graph")) {
    return true;
  }
  bool any_on_pool = false;
  for (size_t i = 0; i < operators_.size(); ++i) {
    const bool on_pool = devices_[i] == kAnyThread;
    if (on_pool ? operators_[i]->HasAsyncPart() : MayWait(operators_[i]->debug_def())) return true;
    any_on_pool = any_on_pool || on_pool;
  }
  return !any_on_pool;
}

void ScheduledNet::PlanThreads() {
  if (schedule_ == nullptr) return;
  if (NeedsOneThread()) {
    schedule_.reset();
    return;
  }
  if (!devices_.empty()) {
    device_chains_ = std::make_unique<DeviceChains>(operators_, *schedule_, devices_);
  }
  WarnOfWorkers(debug_def());
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
    runner_ = std::make_unique<ChainRunner>(Name(), operators_, *schedule_, device_chains_.get(),
                                            cancelled(), threads);
  }
  size_t running = kNoPosition;
  try {
    runner_->Run(&running);
  } catch (...) {
    operators_.Fail(running, [&] {
      return device_chains_ == nullptr ? std::string() : device_chains_->WorkUnderWay(running);
    });
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

// For a net that is destroyed between RunAsync and Wait.
void ScheduledNet::EndAsyncRun() {
  try {
    Wait();
  } catch (const std::exception& error) {
    LOG(ERROR) << "net \"" << Name() << "\" was destroyed before Wait: " << error.what();
  }
}

}  // namespace

std::unique_ptr<NetBase> NewScheduledNet(const std::shared_ptr<const NetDef>& def, Workspace* ws,
                                         const NetPolicy& policy) {
  return std::make_unique<ScheduledNet>(def, ws, policy);
}

}  // namespace caffe2rt
