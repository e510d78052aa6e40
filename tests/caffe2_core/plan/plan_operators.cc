#include "tests/caffe2_core/plan/plan_operators.h"

#include <google/protobuf/text_format.h>

#include <csignal>
#include <mutex>
#include <set>
#include <thread>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/tensor/synchronized_types.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt::test {
namespace {

struct Counts {
  std::mutex mutex;
  int runs = 0;
  int overlaps = 0;
  std::set<int> operators;
};
Counts& TheCounts() {
  static Counts* const counts = new Counts;
  return *counts;
}

class CountOp final : public Operator<CPUContext> {
 public:
  CountOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {
    static std::atomic<int> next{0};
    number_ = next++;
  }
  bool RunOnDevice() override {
    const bool overlaps = inside_.exchange(true);
    {
      Counts& counts = TheCounts();
      const std::lock_guard<std::mutex> lock(counts.mutex);
      ++counts.runs;
      if (overlaps) ++counts.overlaps;
      counts.operators.insert(number_);
    }
    for (int i = 0; i < 10; ++i) std::this_thread::yield();
    inside_ = false;
    return true;
  }

 private:
  int number_ = 0;  // identifies the object, because an address may be reused
  std::atomic<bool> inside_{false};
};

template <class T>
class TallyOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    ++OperatorBase::Output<T>(0)->count;
    return true;
  }
};

class GuardedOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override { return true; }
};

class ReadKeyOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    std::string key, value;
    OperatorBase::Input<db::DBReader>(0).Read(&key, &value);
    return true;
  }
};

class RaiseOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override { return std::raise(SIGINT) == 0; }
};

REGISTER_CPU_OPERATOR(PlanTestCount, CountOp);
REGISTER_CPU_OPERATOR_STR("PlanTestTally", TallyOp<Tally>);
REGISTER_CPU_OPERATOR_STR("PlanTestPlainTally", TallyOp<PlainTally>);
REGISTER_CPU_OPERATOR(PlanTestGuarded, GuardedOp);
REGISTER_CPU_OPERATOR_STR("PlanTestReadKey", ReadKeyOp);
REGISTER_CPU_OPERATOR_STR("PlanTestRaise", RaiseOp);
SYNCHRONIZED_BLOB_TYPE(Tally);

}  // namespace

void ResetPlanCounts() {
  Counts& counts = TheCounts();
  const std::lock_guard<std::mutex> lock(counts.mutex);
  counts.runs = counts.overlaps = 0;
  counts.operators.clear();
}
int PlanRuns() {
  const std::lock_guard<std::mutex> lock(TheCounts().mutex);
  return TheCounts().runs;
}
int PlanOperators() {
  const std::lock_guard<std::mutex> lock(TheCounts().mutex);
  return static_cast<int>(TheCounts().operators.size());
}
int PlanOverlaps() {
  const std::lock_guard<std::mutex> lock(TheCounts().mutex);
  return TheCounts().overlaps;
}

std::string Net(const std::string& name, const std::string& ops) {
  return "network { name: \"" + name + "\" " + ops + " }\n";
}
std::string Op(const std::string& type, const std::string& inputs, const std::string& outputs,
               const std::string& rest) {
  std::string text = "op { type: \"" + type + "\" ";
  for (const char c : inputs) text += std::string("input: \"") + c + "\" ";
  for (const char c : outputs) text += std::string("output: \"") + c + "\" ";
  return text + rest + " }\n";
}

PlanDef ParsePlan(const std::string& text) {
  PlanDef plan;
  CAFFE_ENFORCE(google::protobuf::TextFormat::ParseFromString(text, &plan),
                "the plan of the test does not parse");
  return plan;
}

bool RunPlanText(Workspace* ws, const std::string& text, const PlanOptions& options) {
  return ws->RunPlan(ParsePlan(text), options);
}

}  // namespace caffe2rt::test

// Registered at namespace scope, as in a user's module.
OPERATOR_SCHEMA(PlanTestCount)
    .NumInputs(0, INT32_MAX)
    .NumOutputs(0, INT32_MAX)
    .AllowInplace([](int, int) { return true; });
OPERATOR_SCHEMA(PlanTestGuarded)
    .NumInputs(1, 2)
    .NumOutputs(0, 1)
    .AllowInplace({{0, 0}})
    .SynchronizedInputs({0})
    .SynchronizedOutputs({0});
