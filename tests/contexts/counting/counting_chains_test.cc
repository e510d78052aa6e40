// Nets with devices whose chains on the CPU run on several threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <thread>

#include "caffe2_core/base/mutex.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/contexts/counting/counting_context.h"
#include "tests/contexts/counting/gate.h"
#include "tests/contexts/mixed_nets.h"
#include "tests/support/operator_test.h"
#include "tests/support/wait_for.h"

namespace caffe2rt::test::counting_chains_test {
namespace {

// By the names of the operators. Do not change it while nets run.
std::map<std::string, std::function<void()>>& Calls() {
  static std::map<std::string, std::function<void()>> calls;
  return calls;
}

// The names and threads of the operators on the device, in the order in which they start.
struct Starts {
  Mutex mutex;
  std::vector<std::string> names ABSL_GUARDED_BY(mutex);
  std::set<std::thread::id> threads ABSL_GUARDED_BY(mutex);

  static Starts& Get() {
    static auto* const starts = new Starts;
    return *starts;
  }
  void Add(const std::string& name) {
    const MutexLock lock(mutex);
    names.push_back(name);
    threads.insert(std::this_thread::get_id());
  }
  std::vector<std::string> Take() {
    const MutexLock lock(mutex);
    return std::move(names);
  }
  std::set<std::thread::id> TakeThreads() {
    const MutexLock lock(mutex);
    return std::move(threads);
  }
};

// Calls the function with its name; the output is the input, in place.
class ChainsCallOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const auto call = Calls().find(debug_def().name());
    if (call != Calls().end()) call->second();
    return true;
  }
};
REGISTER_CPU_OPERATOR(ChainsCall, ChainsCallOp);
OPERATOR_SCHEMA(ChainsCall).AllowInplace({{0, 0}});

// Copies, and notes its name and thread when it starts.
class ChainsStartOp final : public Operator<CountingContext> {
 public:
  using Operator<CountingContext>::Operator;
  bool RunOnDevice() override {
    Starts::Get().Add(debug_def().name());
    Output(0)->CopyFrom(Input(0), &context_);
    if (debug_def().name() == "fails") {
      context_.Launch([] { CAFFE_THROW("the device failed later"); });
    }
    return true;
  }
};
REGISTER_DEVICE_OPERATOR(20, ChainsStart, ChainsStartOp);
OPERATOR_SCHEMA(ChainsStart).NumInputs(1).NumOutputs(1).AllowInplace({{0, 0}});

// Copies, and records no event.
class ChainsQuietOp final : public Operator<CountingContext> {
 public:
  ChainsQuietOp(const OperatorDef& def, Workspace* ws) : Operator<CountingContext>(def, ws) {
    DisableEvent();
  }
  bool RunOnDevice() override {
    Output(0)->CopyFrom(Input(0), &context_);
    if (debug_def().name() == "fails") context_.Launch([] { CAFFE_THROW("the device failed"); });
    return true;
  }
};
REGISTER_DEVICE_OPERATOR(20, ChainsQuiet, ChainsQuietOp);
OPERATOR_SCHEMA(ChainsQuiet).NumInputs(1).NumOutputs(1);

class CountingChainsTest : public testing::Test {
 protected:
  CountingChainsTest() { SetThreads(3); }
  ~CountingChainsTest() override {
    SetThreadPool({});
    Calls().clear();
    Starts::Get().Take();
    Starts::Get().TakeThreads();
  }
  static void SetThreads(int threads) {
    SetThreadPool({.num_threads = threads, .back_off = false});
  }
  NetBase* Make(const std::string& operators, const std::string& type = "async_scheduling") {
    return ws_.CreateNet(ParseNet("name: \"n\" type: \"" + type +
                                  "\" arg { name: \"inject_copies\" i: 0 } " + operators),
                         true);
  }

  Workspace ws_;
};

std::string OnDevice(const std::string& rest) {
  return "op { " + rest + " device_option { device_type: 20 } } ";
}
std::string Start(const std::string& name, const std::string& in, const std::string& out) {
  return OnDevice("type: \"ChainsStart\" name: \"" + name + "\" input: \"" + in + "\" output: \"" +
                  out + "\"");
}
std::string Up(const std::string& in, const std::string& out) {
  return OnDevice("type: \"CopyFromCPUInput\" input: \"" + in + "\" output: \"" + out + "\"");
}
std::string Down(const std::string& in, const std::string& out) {
  return OnDevice("type: \"EnsureCPUOutput\" input: \"" + in + "\" output: \"" + out + "\"");
}
std::string Call(const std::string& name, const std::string& blob) {
  return "op { type: \"ChainsCall\" name: \"" + name + "\" input: \"" + blob + "\" output: \"" +
         blob + "\" } ";
}

// Two operators of the CPU meet while the device is held; then they release it.
TEST_F(CountingChainsTest, ChainsOfTheCpuRunTogetherWhileTheDeviceWorks) {
  Feed<float>(&ws_, "x", {2}, {-1, 2});
  for (const char* blob : {"a", "b"}) Feed<float>(&ws_, blob, {1}, {0});
  CountingContext context;
  const auto release = Hold(context);
  std::atomic<int> arrived{0};
  std::atomic<bool> released{false};
  const auto meet = [&] {
    ++arrived;
    EXPECT_TRUE(WaitFor([&] { return arrived == 2; }));
    if (!released.exchange(true)) release();
  };
  Calls()["a"] = Calls()["b"] = meet;
  NetBase* const net = Make(Up("x", "d") + Down("d", "y") + Call("a", "a") + Call("b", "b") +
                            R"(op { type: "Add" input: "y" input: "y" output: "z" })");
  EXPECT_TRUE(net->Run());
  ExpectTensor<float>(ws_, "z", {2}, {-2, 4});
}

TEST_F(CountingChainsTest, OneThreadStartsTheOperatorsOfDevicesInAFixedOrder) {
  Feed<float>(&ws_, "x", {2}, {-1, 2});
  for (const char* blob : {"p", "q"}) Feed<float>(&ws_, blob, {2}, {1, 2});
  std::atomic<int> calls{0};
  Calls()["p"] = Calls()["q"] = [&] {  // of different length from run to run
    if (calls++ % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
  };
  NetBase* const net = Make(Up("x", "d") + Start("one", "d", "e") + Start("two", "d", "f") +
                            Call("p", "p") + Call("q", "q") + Up("p", "dp") + Up("q", "dq") +
                            Start("three", "dp", "gp") + Start("four", "dq", "gq"));
  std::vector<std::string> first;
  for (int run = 0; run < 30; ++run) {
    EXPECT_TRUE(net->Run());
    const std::vector<std::string> names = Starts::Get().Take();
    if (run == 0) first = names;
    EXPECT_EQ(names, first);
    EXPECT_EQ(Starts::Get().TakeThreads().size(), 1u);
  }
  EXPECT_THAT(first, testing::UnorderedElementsAre("one", "two", "three", "four"));
}

// The operator of the CPU that writes what the device reads is slow.
TEST_F(CountingChainsTest, AChainOfADeviceStartsAfterTheChainOfTheCpuThatItNeeds) {
  Feed<float>(&ws_, "x", {2}, {-1, 2});
  Feed<float>(&ws_, "other", {1}, {1});
  Calls()["slow"] = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ws_.GetBlob("x")->GetMutableTensor(CPU)->mutable_data<float>()[0] = 7;
  };
  NetBase* const net =
      Make(Call("slow", "x") + Up("x", "d") + Down("d", "y") + Call("other", "other"));
  EXPECT_TRUE(net->Run());
  ExpectTensor<float>(ws_, "y", {2}, {7, 2});
}

// One thread runs the pieces one after the other: it must not wait for the held device before it has
// run the operator that releases it.
class InTurn final : public PieceRunner {
 public:
  int num_threads() const override { return 3; }
  void Run(int pieces, PieceFunction function) override {
    if (backwards) {
      for (int i = pieces; i-- > 0;) function(i);
    } else {
      for (int i = 0; i < pieces; ++i) function(i);
    }
  }
  bool backwards = false;
};

TEST_F(CountingChainsTest, TheCallerFinishesAloneOnAnEmbeddersPool) {
  InTurn runner;
  Feed<float>(&ws_, "x", {2}, {-1, 2});
  Feed<float>(&ws_, "r", {1}, {1});
  NetBase* const net = Make(Up("x", "d") + Down("d", "y") +
                            R"(op { type: "Relu" input: "y" output: "z" })" + Call("release", "r"));
  for (const bool backwards : {false, true}) {
    runner.backwards = backwards;
    SetThreadPool({.runner = &runner});
    CountingContext context;
    Calls()["release"] = Hold(context);
    EXPECT_TRUE(net->Run());
    ExpectTensor<float>(ws_, "z", {2}, {0, 2});
  }
}

// All pieces run on threads other than the caller's.
class Elsewhere final : public PieceRunner {
 public:
  int num_threads() const override { return 2; }
  void Run(int pieces, PieceFunction function) override {
    std::vector<std::jthread> threads;
    for (int i = 0; i < pieces; ++i) threads.emplace_back([=] { function(i); });
  }
};

TEST_F(CountingChainsTest, OneThreadOfAnEmbeddersPoolStartsTheOperatorsOfDevices) {
  Elsewhere runner;
  SetThreadPool({.runner = &runner});
  Feed<float>(&ws_, "x", {2}, {-1, 2});
  Feed<float>(&ws_, "r", {1}, {1});
  NetBase* const net = Make(Up("x", "d") + Start("one", "d", "e") + Start("two", "d", "f") +
                            Down("e", "y") + Call("r", "r"));
  for (int run = 0; run < 5; ++run) {
    EXPECT_TRUE(net->Run());
    EXPECT_EQ(Starts::Get().TakeThreads().size(), 1u);
    ExpectTensor<float>(ws_, "y", {2}, {-1, 2});
  }
}

TEST_F(CountingChainsTest, AnErrorOfTheDeviceReachesTheChainThatReadsItsWork) {
  Feed<float>(&ws_, "x", {2}, {-1, 2});
  Feed<float>(&ws_, "r", {1}, {1});
  std::atomic<bool> read{false};
  Calls()["reads"] = [&] { read = true; };
  NetBase* const net = Make(Up("x", "d") + Start("fails", "d", "e") + Down("e", "y") +
                            Call("reads", "y") + Call("r", "r"));
  for (int run = 0; run < 2; ++run) {
    ExpectThrows([&] { net->Run(); }, "the device failed later");
    ExpectThrows([&] { net->Run(); }, "net \"n\": work of operators 0 to 2 (EnsureCPUOutput");
  }
  EXPECT_FALSE(read);
}

// At the end, the work of a stream begins with its first chain.
TEST_F(CountingChainsTest, AnErrorAtTheEndNamesAllChainsOfItsStream) {
  Feed<float>(&ws_, "x", {2}, {-1, 2});
  Feed<float>(&ws_, "r", {1}, {1});
  NetBase* const net =
      Make(Up("x", "d") + Start("fails", "d", "e") + Start("two", "d", "f") + Call("r", "r"));
  for (int run = 0; run < 2; ++run) {
    ExpectThrows([&] { net->Run(); }, "net \"n\": work of operators 0 to 1 (ChainsStart \"fails\"");
  }
  NetBase* const later =
      Make(Up("x", "d") + Start("two", "d", "e") + Start("fails", "d", "f") + Call("r", "r"));
  ExpectThrows([&] { later->Run(); }, "net \"n\": work of operator 2 (ChainsStart \"fails\"");
}

// The chain itself is finished before those begin that need its work on another stream.
TEST_F(CountingChainsTest, AChainWithoutAnEventIsFinishedByTheHost) {
  Feed<float>(&ws_, "x", {2}, {-1, 2});
  Feed<float>(&ws_, "r", {1}, {1});
  NetBase* const net =
      Make(Up("x", "d") + OnDevice(R"(type: "ChainsQuiet" input: "d" output: "e")") +
           Start("one", "e", "f") + Start("two", "e", "g") + Call("r", "r"));
  const int64_t waits = CountingDevice::Get(0).counts().waits;
  for (int run = 1; run <= 3; ++run) {
    EXPECT_TRUE(net->Run());
    EXPECT_GT(CountingDevice::Get(0).counts().waits, waits + run);  // more than that at the end
    for (const char* name : {"f", "g"}) {
      const Tensor got(ws_.GetBlob(name)->Get<Tensor>(), CPU);
      EXPECT_EQ(got.data<float>()[0], -1);
      EXPECT_EQ(got.data<float>()[1], 2);
    }
  }
}

// The operators have returned, so that none of them is blamed.
TEST_F(CountingChainsTest, AnErrorOfAChainWithoutAnEventNamesItsOperators) {
  Feed<float>(&ws_, "x", {2}, {-1, 2});
  Feed<float>(&ws_, "r", {1}, {1});
  NetBase* const net =
      Make(Up("x", "d") + OnDevice(R"(type: "ChainsQuiet" name: "fails" input: "d" output: "e")") +
           Start("one", "e", "f") + Start("two", "e", "g") + Call("r", "r"));
  for (int run = 0; run < 2; ++run) {
    ExpectThrows([&] { net->Run(); }, "net \"n\": work of operators 0 to 1 (ChainsQuiet \"fails\"");
    EXPECT_THAT(Starts::Get().Take(), testing::IsEmpty());
  }
}

TEST_F(CountingChainsTest, AnErrorOfTheCpuDrainsTheDevice) {
  Feed<float>(&ws_, "x", {2}, {-1, 2});
  Feed<float>(&ws_, "r", {1}, {1});
  NetBase* const net =
      Make(Up("x", "d") + Start("one", "d", "e") + Call("r", "r") + Down("e", "y"));
  Calls()["r"] = [] { CAFFE_THROW("no luck"); };
  ExpectThrows([&] { net->Run(); }, "net \"n\", operator 2 (ChainsCall \"r\"");
  EXPECT_TRUE(CountingContext::IsStreamFree(
      ParseNet("device_option { device_type: 20 }").device_option(), 0));
  Calls()["r"] = [] {};
  EXPECT_TRUE(net->Run());
  ExpectTensor<float>(ws_, "y", {2}, {-1, 2});
}

TEST_F(CountingChainsTest, CancelStopsTheStartsOnDevices) {
  Feed<float>(&ws_, "x", {2}, {-1, 2});
  Feed<float>(&ws_, "r", {2}, {1, 1});
  NetBase* const net = Make(Up("x", "d") + Start("one", "d", "e") + Call("r", "r") + Up("r", "f") +
                            Start("two", "f", "g"));
  Calls()["r"] = [&] { net->Cancel(); };
  ExpectThrows([&] { net->Run(); }, "stopped");
  EXPECT_THAT(Starts::Get().Take(), testing::Not(testing::Contains("two")));
  Calls()["r"] = [] {};
  EXPECT_TRUE(net->Run());
  EXPECT_THAT(Starts::Get().Take(), testing::Contains("two"));
}

// The producer waits for nobody; the consumer waits on a thread of its own.
TEST_F(CountingChainsTest, OperatorsThatWaitHaveThreadsOfTheirOwn) {
  SetThreads(1);
  Feed<float>(&ws_, "x", {2}, {-1, 2});
  RunOp(&ws_, R"(type: "CreateBlobsQueue" output: "q")");
  NetBase* const net = Make(R"(op { type: "DequeueBlobs" input: "q" output: "in" })" +
                            Up("in", "din") + Down("din", "z") + Up("x", "d") + Down("d", "y") +
                            R"(op { type: "EnqueueBlobs" input: "q" input: "y" output: "y" })");
  EXPECT_TRUE(net->Run());
  ExpectTensor<float>(ws_, "z", {2}, {-1, 2});
}

// The net inside If is on the device.
TEST_F(CountingChainsTest, NetsInArgumentsRunOnTheThreadThatStartsDevices) {
  Feed<float>(&ws_, "x", {2}, {-1, 2});
  Feed<bool>(&ws_, "yes", {}, {true});
  for (const char* blob : {"p", "q"}) Feed<float>(&ws_, blob, {1}, {1});
  NetBase* const net = Make(Call("p", "p") + Call("q", "q") + Up("x", "d") +
                            R"(op { type: "If" input: "yes" arg { name: "then_net" n { )" +
                            Start("in", "d", "e") + "} } } " + Down("e", "y"));
  for (int run = 0; run < 10; ++run) {
    EXPECT_TRUE(net->Run());
    EXPECT_EQ(Starts::Get().TakeThreads().size(), 1u);
    ExpectTensor<float>(ws_, "y", {2}, {-1, 2});
  }
}

// Both streams are held together, and the host waits for one of them.
TEST_F(CountingChainsTest, StreamsOverlapAndTheHostWaitsOnce) {
  Feed<float>(&ws_, "r", {1}, {1});
  Tensor host({2}, CPU);
  host.mutable_data<float>()[0] = 1;
  host.mutable_data<float>()[1] = 2;
  ws_.CreateBlob("x")->GetMutableTensor(kCounting)->CopyFrom(host);
  NetBase* const net =
      Make(Start("one", "x", "a") + Start("two", "x", "b") +
           OnDevice(R"(type: "Add" input: "a" input: "b" output: "c")") + Call("release", "r"));
  CountingContext zero, one;
  zero.SwitchToDevice(0);
  one.SwitchToDevice(1);
  const auto release_zero = Hold(zero), release_one = Hold(one);
  Calls()["release"] = [&] {  // both streams have work, so neither waits for the other
    EXPECT_FALSE(CountingContext::IsStreamFree(
        ParseNet("device_option { device_type: 20 }").device_option(), 1));
    release_one();
    release_zero();
  };
  const int64_t waits = CountingDevice::Get(0).counts().waits;
  EXPECT_TRUE(net->Run());
  EXPECT_EQ(CountingDevice::Get(0).counts().waits, waits + 1);
  const Tensor c(ws_.GetBlob("c")->Get<Tensor>(), CPU);
  EXPECT_EQ(c.data<float>()[1], 4);
}

// The device copies from x after x has moved to the device.
TEST_F(CountingChainsTest, ACopyReadsMemoryOfTheCpuAfterItsBlobHasMoved) {
  Tensor host({4}, CPU);
  for (int i = 0; i < 4; ++i) host.mutable_data<float>()[i] = 5;
  ws_.CreateBlob("e")->GetMutableTensor(kCounting)->CopyFrom(host);
  Feed<float>(&ws_, "c", {4}, {1, 1, 1, 1});
  for (const char* type : {"simple", "async_scheduling"}) {
    Feed<float>(&ws_, "x", {4}, {0, 0, 0, 0});
    NetBase* const net = Make(Up("x", "d") + Start("one", "e", "x") + Call("release", "c"), type);
    for (int run = 0; run < 2; ++run) {
      Feed<float>(&ws_, "x", {4}, {1, 2, 3, 4});
      CountingContext context;
      const auto release = Hold(context);
      Calls()["release"] = [&] {
        // Until the operator that moves x has started.
        EXPECT_TRUE(WaitFor([&] { return Starts::Get().Take().size() == 1; }));
        release();
      };
      EXPECT_TRUE(net->Run());
      ws_.RunNetOnce(ParseNet(Down("d", "y")));
      ExpectTensor<float>(ws_, "y", {4}, {1, 2, 3, 4});
      EXPECT_EQ(ws_.GetBlob("x")->Get<Tensor>().GetDeviceType(), kCounting);
    }
  }
}

TEST_F(CountingChainsTest, RandomNetsGiveTheBytesOfSimple) {
  ExpectMixedNetsGiveTheBytesOfSimple(kCounting, kCountingDevices);
  CountingDevice::SetCurrent(0);
}

TEST_F(CountingChainsTest, RandomNetsWhoseBlobsMoveGiveTheBytesOfSimple) {
  ExpectMixedNetsGiveTheBytesOfSimple(kCounting, kCountingDevices, /*blobs_move=*/true);
  CountingDevice::SetCurrent(0);
}

}  // namespace
}  // namespace caffe2rt::test::counting_chains_test
