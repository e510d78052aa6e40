// TimerBegin, TimerEnd, TimerGet, TimerGetAndEnd: measure the time between operators.
//
//   TimerBegin                  ->  timer, which runs
//   TimerGet        timer       ->  nanoseconds since TimerBegin, int64 scalar
//   TimerGetAndEnd  timer       ->  the same, [1]; stops the timer
//   TimerEnd        timer       ->  nothing; stops the timer
// A timer that is stopped adds its time to the statistics NAME/time_ns/sum and NAME/time_ns/count.
#include <chrono>
#include <memory>
#include <string>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/stat_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<std::string> kTimerCounterName{
    "counter_name", "", "name of the timer in statistics; default: that of the output"};

class TimerInstance {
 public:
  explicit TimerInstance(const std::string& name) : times_(name + "/time_ns") {}

  void Begin() {
    CAFFE_ENFORCE(!running_, "output 0 (timer) is already running, want it to be ended first");
    running_ = true;
    start_ = std::chrono::steady_clock::now();
  }
  void End() {
    CAFFE_ENFORCE(running_,
                  "input 0 (timer) is not running, want it between its begin and its end");
    times_.Add(Nanoseconds());
    running_ = false;
  }
  int64_t Nanoseconds() const {
    CAFFE_ENFORCE(running_,
                  "input 0 (timer) is not running, want it between its begin and its end");
    return std::chrono::nanoseconds(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  bool running_ = false;
  std::chrono::steady_clock::time_point start_;
  const AverageStat times_;
};

// The content of the blob. Shared with the operator that begins the timer in each run.
using TimerBlob = std::shared_ptr<TimerInstance>;

class TimerOp : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;

 protected:
  TimerInstance& TheTimer() const {
    const auto& timer = OperatorBase::Input<TimerBlob>(0);
    CAFFE_ENFORCE(timer != nullptr, "input 0 (timer) holds no timer");
    return *timer;
  }
};

class TimerBeginOp final : public Operator<CPUContext> {
 public:
  TimerBeginOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), timer_(std::make_shared<TimerInstance>(NameOf(def))) {}
  bool RunOnDevice() override {
    timer_->Begin();
    *OperatorBase::Output<TimerBlob>(0) = timer_;
    return true;
  }

 private:
  std::string NameOf(const OperatorDef& def) const {
    const std::string name = ReadArgument(kTimerCounterName);
    return name.empty() ? def.output(0) : name;
  }

  const TimerBlob timer_;
};

class TimerEndOp final : public TimerOp {
 public:
  using TimerOp::TimerOp;
  bool RunOnDevice() override {
    TheTimer().End();
    return true;
  }
};

class TimerGetOp final : public TimerOp {
 public:
  using TimerOp::TimerOp;
  bool RunOnDevice() override {
    *OutputData<int64_t>(0, {}) = TheTimer().Nanoseconds();
    return true;
  }
};

class TimerGetAndEndOp final : public TimerOp {
 public:
  using TimerOp::TimerOp;
  bool RunOnDevice() override {
    const int64_t nanoseconds = TheTimer().Nanoseconds();
    TheTimer().End();
    *OutputData<int64_t>(0, {1}) = nanoseconds;
    return true;
  }
};

// Operators before and after a timer stay there, because it measures those between.
OpSchema& TimerSchema(const char* type) {
  return RegisterSchema(type, __FILE__)
      .NumInputs(1)
      .NumOutputs(0)
      .Input(0, "timer", "a timer from TimerBegin")
      .ModifiesInputs({0})
      .HasEffect(Effect::kEverything);
}

}  // namespace

void RegisterTimer() {
  RegisterSchema("TimerBegin", __FILE__)
      .NumInputs(0)
      .NumOutputs(1)
      .Arg(kTimerCounterName)
      .Output(0, "timer", "a timer that runs")
      .HasEffect(Effect::kEverything)
      .SetDoc("Starts a timer.");
  RegisterCpuOperator<TimerBeginOp>("TimerBegin", __FILE__);
  // As in Caffe2, timers have no gradient makers: times do not depend on tensors.
  TimerSchema("TimerEnd").SetDoc("Stops a timer.");
  RegisterCpuOperator<TimerEndOp>("TimerEnd", __FILE__);
  TimerSchema("TimerGet")
      .NumOutputs(1)
      .Output(0, "nanos", "nanoseconds since TimerBegin, int64 scalar")
      .ScalarType(TensorProto_DataType_INT64)
      .SetDoc("Returns the time since TimerBegin.");
  RegisterCpuOperator<TimerGetOp>("TimerGet", __FILE__);
  TimerSchema("TimerGetAndEnd")
      .NumOutputs(1)
      .Output(0, "nanos", "nanoseconds since TimerBegin, int64 [1]")
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>&) {
        return std::vector{CreateTensorShape(std::vector<int64_t>{1}, TensorProto_DataType_INT64)};
      })
      .SetDoc("Returns the time since TimerBegin and stops the timer.");
  RegisterCpuOperator<TimerGetAndEndOp>("TimerGetAndEnd", __FILE__);
}

}  // namespace caffe2rt
