// How concurrent calls of a predictor share its instances: the limit, waiting, waking up, and the
// state after an instance could not be created.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <fstream>
#include <functional>
#include <mutex>
#include <thread>

#include "caffe2_core/model/predictor.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/waiting.h"
#include "caffe2_core/tensor/storage.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::predictor_waiting_test {
namespace {

using test::ExpectThrows;
using test::ParseNet;

// Controls the operator below, and counts the threads inside its constructor and its run.
struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  bool closed = false;         // runs wait
  bool making_closed = false;  // constructors wait
  int failures = 0;            // number of constructors that throw after waiting
  int running = 0, most_running = 0, making = 0;

  void Set(const std::function<void(Gate*)>& change) {
    const std::lock_guard<std::mutex> lock(mutex);
    change(this);
    changed.notify_all();
  }
  void WaitUntil(const std::function<bool(const Gate&)>& holds) {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return holds(*this); });
  }
};
Gate* g_gate = nullptr;

// Y = X + 1. The run waits until the gate is open.
class PredictorTestGatedOp final : public Operator<CPUContext> {
 public:
  PredictorTestGatedOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {
    std::unique_lock<std::mutex> lock(g_gate->mutex);
    ++g_gate->making;
    g_gate->changed.notify_all();
    g_gate->changed.wait(lock, [] { return !g_gate->making_closed; });
    --g_gate->making;
    CAFFE_ENFORCE(g_gate->failures-- <= 0, "this instance cannot be made");
  }
  bool RunOnDevice() override {
    {
      std::unique_lock<std::mutex> lock(g_gate->mutex);
      g_gate->most_running = std::max(g_gate->most_running, ++g_gate->running);
      g_gate->changed.notify_all();
      g_gate->changed.wait(lock, [] { return !g_gate->closed; });
      --g_gate->running;
    }
    Tensor* Y = Output(0);
    Y->ResizeLike(Input(0));
    Y->mutable_data<float>()[0] = Input(0).data<float>()[0] + 1;
    return true;
  }
};
REGISTER_CPU_OPERATOR(PredictorTestGated, PredictorTestGatedOp);
OPERATOR_SCHEMA(PredictorTestGated).NumInputs(1).NumOutputs(1);

class PredictorWaitingTest : public testing::Test {
 protected:
  PredictorWaitingTest() { g_gate = &gate_; }
  ~PredictorWaitingTest() override {
    for (std::thread& thread : threads_) thread.join();
    g_gate = nullptr;
  }

  static Predictor Make(int max_instances) {
    return Predictor(NetDef(), ParseNet(R"(name: "gated"
        op { type: "PredictorTestGated" input: "x" output: "y" })"),
                     nullptr, PredictorOptions{.max_instances = max_instances});
  }

  // Returns the net's output for `value`.
  static float Call(Predictor* predictor, float value) {
    Tensor x(std::vector<int64_t>{1}, CPU);
    x.mutable_data<float>()[0] = value;
    std::vector<Tensor> out;
    (*predictor)({x}, &out);
    return out.at(0).data<float>()[0];
  }

  // Makes one call on a new thread.
  void Start(Predictor* predictor, float value) {
    threads_.emplace_back([this, predictor, value] {
      ids_[static_cast<size_t>(started_.fetch_add(1))] = static_cast<pid_t>(syscall(SYS_gettid));
      if (Call(predictor, value) == value + 1) ++right_;
      ++finished_;
    });
  }
  void JoinAll() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  // Returns a line of /proc/self/task/<id>/status without its name.
  static std::string Status(pid_t id, const std::string& name) {
    std::ifstream file("/proc/self/task/" + std::to_string(id) + "/status");
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with(name + ":")) return line.substr(name.size() + 1);
    }
    return "";
  }
  // Returns whether the kernel has nothing to run in any of the started threads.
  bool AllSleep(int count) const {
    if (started_ != count) return false;
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      if (Status(ids_[i], "State").find('S') == std::string::npos) return false;
    }
    return true;
  }

  Gate gate_;
  std::vector<std::thread> threads_;
  std::atomic<int> started_{0}, finished_{0}, right_{0};
  std::atomic<pid_t> ids_[16] = {};
};

TEST_F(PredictorWaitingTest, NeverMoreThanMaxInstancesRunAtOnce) {
  Predictor predictor = Make(2);
  gate_.Set([](Gate* gate) { gate->closed = true; });
  for (int i = 0; i < 5; ++i) Start(&predictor, static_cast<float>(i));
  gate_.WaitUntil([](const Gate& gate) { return gate.running >= 2; });
  while (!AllSleep(5)) sched_yield();
  gate_.Set([](Gate* gate) { gate->closed = false; });
  JoinAll();
  EXPECT_EQ(right_, 5);
  EXPECT_EQ(gate_.most_running, 2);
  EXPECT_EQ(predictor.num_instances(), 2);
}

// Weights of which operators have made other forms are released behind the first run, but not while
// another instance is created from them.
TEST_F(PredictorWaitingTest, WeightsStayWhileAnInstanceIsCreated) {
  for (const bool grows : {false, true}) {
    SCOPED_TRACE(grows);
    Predictor predictor(
        ParseNet(R"(op { type: "UniformFill" output: "w" arg { name: "shape" ints: [200, 300] } }
                    op { type: "UniformFill" output: "b" arg { name: "shape" ints: 200 } })"),
        ParseNet(R"(op { type: "PredictorTestGated" input: "x" output: "y" }
                    op { type: "ExpandDims" input: "x" output: "m" arg { name: "dims" ints: 0 } }
                    op { type: "Tile" input: "m" output: "r" arg { name: "tiles" i: 300 }
                         arg { name: "axis" i: 1 } }
                    op { type: "Tile" input: "r" output: "z" arg { name: "tiles" i: 64 }
                         arg { name: "axis" i: 0 } }
                    op { type: "FC" input: ["z", "w", "b"] output: "f" }
                    external_input: ["x", "w", "b"] external_output: ["y", "f"])"),
        nullptr, PredictorOptions{.max_instances = 2});
    ASSERT_EQ(predictor.num_instances(), 1);
    gate_.Set([](Gate* gate) { gate->closed = true; });
    Start(&predictor, 1);
    gate_.WaitUntil([](const Gate& gate) { return gate.running == 1; });
    if (grows) {
      gate_.Set([](Gate* gate) { gate->making_closed = true; });
      Start(&predictor, 2);
      gate_.WaitUntil([](const Gate& gate) { return gate.making == 1; });
    }
    gate_.Set([](Gate* gate) { gate->closed = false; });
    threads_[0].join();
    threads_.erase(threads_.begin());
    gate_.Set([](Gate* gate) { gate->making_closed = false; });
    JoinAll();
    EXPECT_EQ(predictor.ws()->GetBlob("w")->Get<Tensor>().storage()->released(), !grows);
  }
  EXPECT_EQ(right_, 3);
}

TEST_F(PredictorWaitingTest, AllInstancesAreUsedBeforeACallWaits) {
  Predictor predictor = Make(3);
  gate_.Set([](Gate* gate) { gate->closed = true; });
  for (int i = 0; i < 3; ++i) Start(&predictor, static_cast<float>(i));
  gate_.WaitUntil([](const Gate& gate) { return gate.running == 3; });
  gate_.Set([](Gate* gate) { gate->closed = false; });
  JoinAll();
  EXPECT_EQ(right_, 3);
}

TEST_F(PredictorWaitingTest, ACallThatWaitsSleepsUntilAnInstanceComesBack) {
  Predictor predictor = Make(1);
  gate_.Set([](Gate* gate) { gate->closed = true; });
  Start(&predictor, 1);
  gate_.WaitUntil([](const Gate& gate) { return gate.running == 1; });
  Start(&predictor, 2);
  while (!AllSleep(2)) sched_yield();
  // The count grows by one each time that the thread wakes up and sleeps again. Reading the count
  // this often takes many times longer than any plausible polling period.
  const std::string before = Status(ids_[1], "voluntary_ctxt_switches");
  int changes = 0;
  std::string last = before;
  for (int i = 0; i < 1000; ++i) {
    const std::string now = Status(ids_[1], "voluntary_ctxt_switches");
    changes += now != last;
    last = now;
  }
  EXPECT_LE(changes, 5) << "from" << before << " to" << last;
  gate_.Set([](Gate* gate) { gate->closed = false; });
  JoinAll();
  EXPECT_EQ(right_, 2);
}

// Without that, the call would wait for ever.
TEST_F(PredictorWaitingTest, CancelEndsCallsThatWait) {
  Predictor predictor = Make(1);
  gate_.Set([](Gate* gate) { gate->closed = true; });
  Start(&predictor, 1);
  gate_.WaitUntil([](const Gate& gate) { return gate.running == 1; });
  std::atomic<bool> ended{false};
  std::thread waits([&] {
    EXPECT_THROW(Call(&predictor, 2), RunStopped);
    ended = true;
  });
  while (!ended) predictor.Cancel();
  waits.join();
  gate_.Set([](Gate* gate) { gate->closed = false; });
  JoinAll();
  EXPECT_EQ(right_, 1);
  EXPECT_EQ(Call(&predictor, 3), 4);
}

TEST_F(PredictorWaitingTest, CancelEndsCallsWhoseInstanceIsBeingMade) {
  Predictor predictor = Make(2);
  gate_.Set([](Gate* gate) { gate->closed = true; });
  Start(&predictor, 1);
  gate_.WaitUntil([](const Gate& gate) { return gate.running == 1; });
  Tensor x(std::vector<int64_t>{1}, CPU);
  x.mutable_data<float>()[0] = 2;
  const std::function<void()> calls[] = {[&] { Call(&predictor, 2); },  // makes a second instance
                                         [&] {
                                           Predictor::TensorVector out;
                                           predictor.run({&x}, &out);
                                         }};
  for (const auto& call : calls) {
    gate_.Set([](Gate* gate) { gate->making_closed = true; });
    std::thread caller([&] { EXPECT_THROW(call(), RunStopped); });
    gate_.WaitUntil([](const Gate& gate) { return gate.making == 1; });
    predictor.Cancel();
    gate_.Set([](Gate* gate) { gate->closed = gate->making_closed = false; });
    caller.join();
  }
  JoinAll();
  EXPECT_EQ(right_, 1);
  for (const auto& call : calls) EXPECT_NO_THROW(call());
}

TEST_F(PredictorWaitingTest, NoWakeUpIsLost) {
  for (const int max_instances : {1, 2, 3}) {
    Predictor predictor = Make(max_instances);
    std::atomic<int> right{0};
    std::vector<std::thread> callers;
    for (int t = 0; t < 8; ++t) {
      callers.emplace_back([&, t] {
        for (int i = 0; i < 100; ++i) {
          const float value = static_cast<float>(1000 * t + i);
          right += Call(&predictor, value) == value + 1;
        }
      });
    }
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(right, 800);
    EXPECT_LE(predictor.num_instances(), max_instances);
  }
  EXPECT_LE(gate_.most_running, 3);
}

TEST_F(PredictorWaitingTest, AnInstanceThatCannotBeMadeLeavesItsPlaceToTheNextCall) {
  Predictor predictor = Make(2);
  gate_.Set([](Gate* gate) {
    gate->closed = true;
    gate->failures = 3;
  });
  Start(&predictor, 1);
  gate_.WaitUntil([](const Gate& gate) { return gate.running == 1; });
  for (int i = 0; i < 3; ++i) {
    ExpectThrows([&] { Call(&predictor, 2); }, "this instance cannot be made");
  }
  EXPECT_EQ(predictor.num_instances(), 1);
  Start(&predictor, 2);
  gate_.WaitUntil([](const Gate& gate) { return gate.running == 2; });
  EXPECT_EQ(predictor.num_instances(), 2);
  gate_.Set([](Gate* gate) { gate->closed = false; });
  JoinAll();
  EXPECT_EQ(right_, 2);
}

// While a second instance is being created, calls take turns on the first one.
TEST_F(PredictorWaitingTest, CallsGoOnWhileAnInstanceIsMade) {
  Predictor predictor = Make(2);
  gate_.Set([](Gate* gate) { gate->closed = gate->making_closed = true; });
  Start(&predictor, 1);
  gate_.WaitUntil([](const Gate& gate) { return gate.running == 1; });
  Start(&predictor, 2);
  gate_.WaitUntil([](const Gate& gate) { return gate.making == 1; });
  Start(&predictor, 3);
  while (!AllSleep(3)) sched_yield();
  gate_.Set([](Gate* gate) { gate->closed = false; });
  while (finished_ != 2) sched_yield();
  EXPECT_EQ(predictor.num_instances(), 1);
  gate_.Set([](Gate* gate) { gate->making_closed = false; });
  JoinAll();
  EXPECT_EQ(right_, 3);
}

// A call waits while another call creates the last instance. The creation fails while the first
// instance is still in use.
TEST_F(PredictorWaitingTest, AFailureToMakeAnInstanceWakesACallThatWaits) {
  Predictor predictor = Make(2);
  gate_.Set([](Gate* gate) {
    gate->closed = gate->making_closed = true;
    gate->failures = 1;
  });
  Start(&predictor, 1);
  gate_.WaitUntil([](const Gate& gate) { return gate.running == 1; });
  std::thread failing(
      [&] { ExpectThrows([&] { Call(&predictor, 2); }, "this instance cannot be made"); });
  gate_.WaitUntil([](const Gate& gate) { return gate.making == 1; });
  Start(&predictor, 3);
  while (!AllSleep(2)) sched_yield();
  gate_.Set([](Gate* gate) { gate->making_closed = false; });
  failing.join();
  gate_.WaitUntil([](const Gate& gate) { return gate.running == 2; });
  gate_.Set([](Gate* gate) { gate->closed = false; });
  JoinAll();
  EXPECT_EQ(right_, 2);
}

TEST_F(PredictorWaitingTest, WarmCallsAllocateAndLockNothing) {
  if (!test::AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer replaces the locks";
  Predictor predictor(NetDef(), ParseNet(R"(op { type: "Relu" input: "x" output: "y" })"));
  Tensor x(std::vector<int64_t>{1}, CPU);
  x.mutable_data<float>()[0] = 3;
  const std::vector<Tensor> in{x};
  std::vector<Tensor> out;
  for (int i = 0; i < 3; ++i) predictor(in, &out);
  const test::AllocationCounter counter;
  predictor(in, &out);
  EXPECT_EQ(counter.Counts().locks, 0);
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(out.at(0).data<float>()[0], 3);
}

}  // namespace
}  // namespace caffe2rt::predictor_waiting_test
