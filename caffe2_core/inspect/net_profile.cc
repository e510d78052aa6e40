#include "caffe2_core/inspect/net_profile.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/net_summary.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/inspect/shape_inference_workspace.h"

namespace caffe2rt {
namespace {

class Stopwatch {
 public:
  double Milliseconds() const {
    return std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
  }
  void Restart() { start_ = Clock::now(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

struct OperatorSamples {
  std::vector<double> milliseconds;
  std::vector<TensorShape> inputs, outputs;  // of the second run, so that the first is not delayed
  std::string engine;                        // of the last run
};

class ProfilingObserver final : public ObserverBase<OperatorBase> {
 public:
  ProfilingObserver(OperatorBase* op, OperatorSamples* samples)
      : ObserverBase<OperatorBase>(op), samples_(samples) {}

  void Start() override {
    if (samples_->milliseconds.size() == 1) samples_->inputs = subject_->InputTensorShapes();
    stopwatch_.Restart();
  }
  void Stop() override {
    const double ms = stopwatch_.Milliseconds();
    if (samples_->milliseconds.size() == 1) {
      for (const Blob* blob : subject_->Outputs())
        samples_->outputs.push_back(GetTensorShapeOfBlob(blob));
    }
    if (!samples_->milliseconds.empty()) samples_->engine = subject_->engine();
    samples_->milliseconds.push_back(ms);
  }

 private:
  OperatorSamples* const samples_;
  Stopwatch stopwatch_;
};

// While it lives, the runs of the operators add to `samples`.
class Observation {
 public:
  Observation(const std::vector<OperatorBase*>& operators, std::vector<OperatorSamples>* samples)
      : operators_(operators) {
    for (size_t i = 0; i < operators_.size(); ++i) {
      auto observer = std::make_unique<ProfilingObserver>(operators_[i], &(*samples)[i]);
      // Before the first run, so that what it measures is not the first use of this code.
      if ((*samples)[i].milliseconds.empty()) {
        observer->Start();
        observer->Stop();
        (*samples)[i].milliseconds.clear();
      }
      observers_.push_back(operators_[i]->AttachObserver(std::move(observer)));
    }
  }
  ~Observation() {
    for (size_t i = 0; i < observers_.size(); ++i) operators_[i]->DetachObserver(observers_[i]);
  }
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;

 private:
  const std::vector<OperatorBase*>& operators_;
  std::vector<const ObserverBase<OperatorBase>*> observers_;
};

double TimedRun(const NetBase& net, const std::function<bool()>& run) {
  const Stopwatch stopwatch;
  CAFFE_ENFORCE(run(), "net \"", net.Name(), "\" failed");
  return stopwatch.Milliseconds();
}

void AddCost(const OperatorDef& def, const OperatorSamples& samples, OperatorProfile* profile) {
  profile->multiply_adds = MultiplyAdds(def, samples.inputs, samples.outputs);
  profile->flops = 2 * static_cast<uint64_t>(profile->multiply_adds);
  const OpSchema* const schema = OpSchemaRegistry::Schema(def.type());
  if (schema == nullptr || !schema->HasCostInferenceFunction()) return;
  try {
    const OpSchema::Cost cost = schema->InferCost(def, samples.inputs);
    if (cost.flops > 0) profile->flops = cost.flops;
    profile->bytes = cost.bytes_moved;
  } catch (const EnforceNotMet&) {  // the cost stays unknown
  }
}

OperatorProfile ProfileOf(size_t index, const OperatorDef& def, const OperatorSamples& samples) {
  OperatorProfile profile{.index = index,
                          .type = def.type(),
                          .name = def.name(),
                          .output = def.output_size() > 0 ? def.output(0) : "",
                          .engine = samples.engine,
                          .cold_ms = samples.milliseconds.empty() ? 0 : samples.milliseconds[0]};
  if (samples.milliseconds.size() > 1) {
    profile.warm_ms =
        SummarizeTimes({samples.milliseconds.begin() + 1, samples.milliseconds.end()}).median_ms;
  }
  AddCost(def, samples, &profile);
  return profile;
}

double PerSecond(double count, double ms) { return ms > 0 ? count / (ms * 1e6) : 0; }

}  // namespace

RunTimes SummarizeTimes(std::vector<double> milliseconds) {
  if (milliseconds.empty()) return {};
  std::sort(milliseconds.begin(), milliseconds.end());
  const size_t half = milliseconds.size() / 2;
  RunTimes times{.median_ms = milliseconds.size() % 2 == 1
                                  ? milliseconds[half]
                                  : (milliseconds[half - 1] + milliseconds[half]) / 2,
                 .least_ms = milliseconds[0]};
  for (const double ms : milliseconds) {
    times.mean_ms += ms / static_cast<double>(milliseconds.size());
  }
  return times;
}

double OperatorProfile::GigaflopsPerSecond() const {
  return PerSecond(static_cast<double>(flops), warm_ms);
}

double OperatorProfile::GigabytesPerSecond() const {
  return PerSecond(static_cast<double>(bytes), warm_ms);
}

double NetProfile::SumOfOperators() const {
  double sum = 0;
  for (const OperatorProfile& op : operators) sum += op.warm_ms;
  return sum;
}

double NetProfile::ShareOf(double ms) const {
  return warm.median_ms > 0 ? 100 * ms / warm.median_ms : 0;
}

std::vector<const OperatorProfile*> NetProfile::ByCost() const {
  std::vector<const OperatorProfile*> sorted;
  for (const OperatorProfile& op : operators) sorted.push_back(&op);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto* a, const auto* b) { return a->warm_ms > b->warm_ms; });
  return sorted;
}

std::vector<NetProfile::TypeTotal> NetProfile::ByType() const {
  std::map<std::string, TypeTotal> totals;
  for (const OperatorProfile& op : operators) {
    TypeTotal& total = totals[op.type];
    total.type = op.type;
    total.warm_ms += op.warm_ms;
    ++total.operators;
  }
  std::vector<TypeTotal> sorted;
  for (auto& [type, total] : totals) sorted.push_back(std::move(total));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const TypeTotal& a, const TypeTotal& b) { return a.warm_ms > b.warm_ms; });
  return sorted;
}

NetProfile ProfileNet(NetBase* net, const std::function<bool()>& run,
                      const ProfileOptions& options) {
  CAFFE_ENFORCE(net != nullptr && run != nullptr, "argument net or run of ProfileNet is null");
  CAFFE_ENFORCE(options.warmup_runs >= 0 && options.timed_runs >= 1, "runs of ProfileNet are ",
                options.warmup_runs, " and ", options.timed_runs, ", want at least 0 and 1");
  const std::vector<OperatorBase*> operators = net->GetOperators();
  std::vector<OperatorSamples> samples(operators.size());
  for (OperatorSamples& of_operator : samples)
    of_operator.milliseconds.reserve(
        static_cast<size_t>(std::min<int64_t>(options.timed_runs, 1000)) + 1);
  NetProfile profile{.net = net->Name(), .timed_runs = options.timed_runs};
  {
    const Observation observation(operators, &samples);
    profile.cold_ms = TimedRun(*net, run);
  }
  for (int64_t i = 0; i < options.warmup_runs; ++i) TimedRun(*net, run);
  // In turns, so that a load that comes and goes affects both.
  std::vector<double> times, observed;
  for (int64_t i = 0; i < options.timed_runs; ++i) {
    times.push_back(TimedRun(*net, run));
    const Observation observation(operators, &samples);
    observed.push_back(TimedRun(*net, run));
  }
  profile.warm = SummarizeTimes(std::move(times));
  // The operators of the first run were timed, too; in a net of microseconds that is a part that counts.
  const double timing_ms = SummarizeTimes(std::move(observed)).least_ms - profile.warm.least_ms;
  profile.cold_ms -= std::clamp(timing_ms, 0.0, profile.cold_ms / 2);
  for (size_t i = 0; i < operators.size(); ++i) {
    profile.operators.push_back(ProfileOf(i, operators[i]->debug_def(), samples[i]));
    profile.operators.back().kernel = KernelOf(*operators[i]);
  }
  return profile;
}

}  // namespace caffe2rt
