// Random plans with concurrent steps. A legal plan produces the same results as when its steps run
// sequentially; any other plan is rejected. A brute-force check over threads, names and scopes
// decides which plans are legal.

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <set>

#include "caffe2_core/plan/plan_executor.h"
#include "tests/caffe2_core/plan/plan_operators.h"
#include "tests/caffe2_core/plan/sharing_plans.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::plan_random_test {
namespace {

const std::vector<std::string> kFed = {"a", "b", "c", "d", "e", "f"};
const std::vector<std::string> kNew = {"p", "q", "r", "s", "t", "u"};

class RandomPlan {
 public:
  explicit RandomPlan(unsigned seed) : random_(seed) {}

  PlanDef Make() {
    PlanDef plan;
    plan.set_name("random");
    for (int i = 0; i < 6; ++i) AddNet(i, plan.add_network());
    const int steps = 1 + Below(2);
    for (int i = 0; i < steps; ++i) AddStep(2, plan.add_execution_step());
    return plan;
  }

 private:
  int Below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool OneIn(int n) { return Below(n) == 0; }

  // The net reads blobs that were fed or that it wrote before. It mostly writes a blob that no
  // other net writes.
  void AddNet(int own, NetDef* net) {
    net->set_name("n" + std::to_string(own));
    std::vector<std::string> readable = kFed;
    const int ops = 1 + Below(2);
    for (int i = 0; i < ops; ++i) {
      OperatorDef* op = net->add_op();
      op->set_type("Add");
      const auto pick = static_cast<size_t>(OneIn(6) ? Below(6) : own);
      op->add_input(readable[static_cast<size_t>(Below(static_cast<int>(readable.size())))]);
      op->add_input(readable[static_cast<size_t>(Below(static_cast<int>(readable.size())))]);
      op->add_output(OneIn(8) ? kFed[pick] : kNew[pick]);
      readable.push_back(op->output(0));
    }
  }

  void AddStep(int depth, ExecutionStep* step) {
    if (OneIn(3)) step->set_num_iter(2);
    if (OneIn(2)) step->set_create_workspace(true);
    if (depth == 0 || OneIn(3)) {
      const int nets = 1 + Below(2);
      for (int i = 0; i < nets; ++i) step->add_network("n" + std::to_string(Below(6)));
      return;
    }
    const int substeps = 1 + Below(3);
    for (int i = 0; i < substeps; ++i) AddStep(depth - 1, step->add_substep());
    step->set_concurrent_substeps(OneIn(2));
    if (OneIn(4)) step->set_num_concurrent_instances(2 + Below(2));
  }

  std::mt19937 random_;
};

// Simulates a plan on scopes of names to decide whether it is legal.
class Oracle {
 public:
  explicit Oracle(const PlanDef& plan) {
    for (const NetDef& net : plan.network()) nets_[net.name()] = &net;
  }
  bool IsLegal(const PlanDef& plan) {
    Scope* const top = NewScope(nullptr);
    top->names.insert(kFed.begin(), kFed.end());
    for (const ExecutionStep& step : plan.execution_step()) Enter(step, top);
    return legal_;
  }

 private:
  struct Scope {
    Scope* parent;
    std::set<std::string> names;
  };
  struct Access {
    Scope* scope;
    std::string name;
    bool writes;
  };
  Scope* NewScope(Scope* parent) { return &scopes_.emplace_back(Scope{parent, {}}); }
  static Scope* Owner(Scope* scope, const std::string& name) {
    while (scope != nullptr && !scope->names.contains(name)) scope = scope->parent;
    return scope;
  }

  // Enters a step whose blobs are not created yet.
  std::vector<Access> Enter(const ExecutionStep& step, Scope* scope) {
    if (step.create_workspace()) scope = NewScope(scope);
    CreateBlobs(step, scope);
    return Play(step, scope);
  }
  void CreateBlobs(const ExecutionStep& step, Scope* scope) {
    for (const std::string& net : step.network()) {
      for (const OperatorDef& op : nets_.at(net)->op()) {
        if (Owner(scope, op.output(0)) == nullptr) scope->names.insert(op.output(0));
      }
    }
    for (const ExecutionStep& substep : step.substep()) {
      if (!substep.create_workspace()) CreateBlobs(substep, scope);
    }
  }
  std::vector<Access> Play(const ExecutionStep& step, Scope* scope) {
    std::vector<Access> all;
    for (const std::string& net : step.network()) {
      for (const OperatorDef& op : nets_.at(net)->op()) {
        for (const std::string& name : op.input()) all.push_back({Owner(scope, name), name, false});
        all.push_back({Owner(scope, op.output(0)), op.output(0), true});
      }
    }
    std::vector<std::vector<Access>> threads;
    for (int copy = 0; copy < std::max(1, step.num_concurrent_instances()); ++copy) {
      for (const ExecutionStep& substep : step.substep()) {
        threads.push_back(substep.create_workspace() ? Enter(substep, scope)
                                                     : Play(substep, scope));
        all.insert(all.end(), threads.back().begin(), threads.back().end());
      }
    }
    if (!step.concurrent_substeps() && step.num_concurrent_instances() < 2) return all;
    for (size_t i = 0; i < threads.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        for (const Access& a : threads[i]) {
          for (const Access& b : threads[j]) {
            if (a.scope == b.scope && a.name == b.name && (a.writes || b.writes)) legal_ = false;
          }
        }
      }
    }
    return all;
  }

  std::map<std::string, const NetDef*> nets_;
  std::deque<Scope> scopes_;
  bool legal_ = true;
};

void FeedAll(Workspace* ws) {
  for (size_t i = 0; i < kFed.size(); ++i) {
    test::Feed<float>(ws, kFed[i], {2}, {static_cast<float>(i + 1), static_cast<float>(10 * i)});
  }
}

// Returns dimensions and values by name, and an empty vector for a blob without a tensor.
std::map<std::string, std::vector<float>> Values(const Workspace& ws) {
  std::map<std::string, std::vector<float>> values;
  for (const std::string& name : ws.Blobs()) {
    const std::shared_ptr<Blob> blob = ws.FindBlob(name);
    values[name] = blob->IsEmpty() ? std::vector<float>() : test::Fetch<float>(ws, name);
  }
  return values;
}

bool IsConcurrent(const ExecutionStep& step) {
  return (step.concurrent_substeps() && step.substep_size() > 1) ||
         step.num_concurrent_instances() > 1 ||
         std::any_of(step.substep().begin(), step.substep().end(), IsConcurrent);
}

TEST(PlanRandomTest, LegalPlansMatchSequentialRunsAndOthersAreRejected) {
  constexpr int kWanted = 100;  // legal plans, and rejected ones
  int legal = 0, refused = 0;
  for (unsigned seed = 1; legal < kWanted || refused < kWanted; ++seed) {
    ASSERT_LT(seed, 10000u) << "legal: " << legal << ", refused: " << refused;
    const PlanDef plan = RandomPlan(seed).Make();
    if (std::none_of(plan.execution_step().begin(), plan.execution_step().end(), IsConcurrent)) {
      continue;
    }
    const bool is_legal = Oracle(plan).IsLegal(plan);
    if (++(is_legal ? legal : refused) > kWanted) continue;
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + plan.ShortDebugString());
    Workspace ws;
    FeedAll(&ws);
    if (!is_legal) {
      test::ExpectThrows([&] { ws.RunPlan(plan); }, "--allow-races");
      continue;
    }
    ASSERT_TRUE(ws.RunPlan(plan));
    PlanDef sequential = plan;
    for (ExecutionStep& step : *sequential.mutable_execution_step()) test::MakeSequential(&step);
    Workspace twin;
    FeedAll(&twin);
    ASSERT_TRUE(twin.RunPlan(sequential));
    ASSERT_EQ(Values(ws), Values(twin));
  }
}

}  // namespace
}  // namespace caffe2rt::plan_random_test
