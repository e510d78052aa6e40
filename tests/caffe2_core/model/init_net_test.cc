#include "caffe2_core/model/init_net.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "contexts/onednn/onednn_context.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::init_net_test {
namespace {

using test::ExpectTensor;
using test::ExpectThrows;
using test::ParseNet;
using ::testing::ElementsAre;

// Counts the census operators: how many are alive now, and how many were alive when each ran. Also
// records where the weights of each were at that time.
struct Census {
  int alive = 0;
  std::vector<int> seen;
  std::vector<const float*> weights;
};
Census& TheCensus() {
  static Census census;
  return census;
}

template <class Context>
class CensusOp final : public Operator<Context> {
 public:
  CensusOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {
    ++TheCensus().alive;
  }
  ~CensusOp() override { --TheCensus().alive; }
  bool RunOnDevice() override {
    TheCensus().seen.push_back(TheCensus().alive);
    for (const Argument& arg : this->debug_def().arg())
      TheCensus().weights.push_back(arg.floats().data());
    return !this->HasArgument("fail");
  }
};

// Starts work on the CPU that is still pending when RunOnDevice returns.
class AsyncOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  ~AsyncOp() override { abandoned += working_ ? 1 : 0; }
  bool RunOnDevice() override {
    working_ = true;
    return !HasArgument("fail");
  }
  bool HasAsyncPart() const override { return true; }
  void FinishDevice() override {
    working_ = false;
    if (HasArgument("break")) CAFFE_THROW("the work failed");
  }
  static inline int abandoned = 0;

 private:
  bool working_ = false;
};

class InitNetTest : public ::testing::Test {
 protected:
  InitNetTest() {
    static const bool once = [] {
      RegisterSchema("InitNetCensus", __FILE__);
      RegisterCpuOperator<CensusOp<CPUContext>>("InitNetCensus", __FILE__);
      RegisterOperator<CensusOp<IDEEPContext>>(IDEEP, "InitNetCensus", __FILE__);
      RegisterSchema("InitNetAsync", __FILE__);
      RegisterCpuOperator<AsyncOp>("InitNetAsync", __FILE__);
      return true;
    }();
    (void)once;
    TheCensus() = {};
    AsyncOp::abandoned = 0;
  }
  static NetDef ThreeOps() {
    return ParseNet(R"(name: "init" op { type: "InitNetCensus" } op { type: "InitNetCensus" }
        op { type: "InitNetCensus" })");
  }
  // Checks that RunNetOnce and RunInitNet throw the same error.
  static void ExpectSameError(const std::string& text, const std::string& part) {
    const auto error_of = [](const std::function<void()>& act) -> std::string {
      try {
        act();
      } catch (const EnforceNotMet& error) {
        return error.message();
      }
      return "";
    };
    const NetDef net = ParseNet(text);
    Workspace once, released;
    const std::string want = error_of([&] { once.RunNetOnce(net); });
    EXPECT_THAT(want, ::testing::HasSubstr(part));
    EXPECT_EQ(error_of([&] { RunInitNet(NetDef(net), &released); }), want);
    EXPECT_EQ(released.last_failed_op_net_position.load(), once.last_failed_op_net_position.load());
    EXPECT_EQ(released.Blobs(), once.Blobs());
  }
  Workspace ws_;
};

TEST_F(InitNetTest, FillsBlobsInOrder) {
  RunInitNet(ParseNet(R"(name: "init"
      op { type: "GivenTensorFill" output: "w"
           arg { name: "shape" ints: 2 } arg { name: "values" floats: 3 floats: 4 } }
      op { type: "Copy" input: "w" output: "v" }
      op { type: "GivenTensorFill" output: "w"
           arg { name: "shape" ints: 1 } arg { name: "values" floats: 5 } })"),
             &ws_);
  ExpectTensor<float>(ws_, "v", {2}, {3, 4});
  ExpectTensor<float>(ws_, "w", {1}, {5});
}

TEST_F(InitNetTest, DestroysEachOperatorOnceItHasRun) {
  RunInitNet(ThreeOps(), &ws_);
  EXPECT_THAT(TheCensus().seen, ElementsAre(3, 2, 1));
  EXPECT_EQ(TheCensus().alive, 0);
}

TEST_F(InitNetTest, WaitsForTheWorkOfAnOperatorBeforeItGoes) {
  RunInitNet(ParseNet(R"(op { type: "InitNetAsync" } op { type: "InitNetAsync" })"), &ws_);
  EXPECT_EQ(AsyncOp::abandoned, 0);
  ExpectThrows(
      [&] {
        RunInitNet(ParseNet(R"(name: "init" op { type: "InitNetAsync" arg { name: "fail" } })"),
                   &ws_);
      },
      "reports a failure");
  EXPECT_EQ(AsyncOp::abandoned, 0);
  ExpectThrows(
      [&] {
        RunInitNet(ParseNet(R"(name: "init" op { type: "InitNetAsync" arg { name: "break" } })"),
                   &ws_);
      },
      "the work failed");
}

TEST_F(InitNetTest, NothingCopiesTheWeights) {
  NetDef net = ThreeOps();
  std::vector<const float*> weights;
  for (OperatorDef& op : *net.mutable_op()) {
    op.add_arg()->set_name("values");
    op.mutable_arg(0)->mutable_floats()->Resize(100, 1.f);
    weights.push_back(op.arg(0).floats().data());
  }
  net.mutable_device_option()->set_random_seed(1);
  RunInitNet(std::move(net), &ws_);
  EXPECT_EQ(TheCensus().weights, weights);
}

TEST_F(InitNetTest, MakesAllOperatorsBeforeOneRuns) {
  NetDef net = ThreeOps();
  net.add_op()->set_type("NoSuchOperator");
  ExpectThrows([&] { RunInitNet(std::move(net), &ws_); }, "operator 3 (NoSuchOperator)");
  EXPECT_THAT(TheCensus().seen, ElementsAre());
  EXPECT_EQ(TheCensus().alive, 0);
}

TEST_F(InitNetTest, LeavesNoDefBehind) {
  NetDef net = ThreeOps();
  for (OperatorDef& op : *net.mutable_op()) op.set_debug_info("bytes");
  RunInitNet(std::move(net), &ws_);
  for (const OperatorDef& op : net.op()) EXPECT_EQ(op.debug_info(), "");
}

TEST_F(InitNetTest, FailsAsTheNetWould) {
  ExpectSameError(R"(name: "init" op { type: "InitNetCensus" }
      op { type: "InitNetCensus" output: "y" arg { name: "fail" i: 1 } })",
                  "net \"init\", operator 1 (InitNetCensus, output \"y\")");
  ExpectSameError(R"(name: "init" op { type: "GivenTensorFill" output: "w"
      arg { name: "shape" ints: 3 } arg { name: "values" floats: 1 } })",
                  "net \"init\", operator 0 (GivenTensorFill, output \"w\")");
  ExpectSameError(R"(name: "init" op { type: "GivenTensorFill" output: "w" })",
                  "argument \"values\" is required but missing");
  ExpectSameError(R"(name: "init" op { type: "Relu" input: "x" output: "y" }
      external_input: "z")",
                  "is unknown for net init");
  ExpectSameError(R"(name: "init" op { type: "Relu" input: "x" output: "y" })", "non-existing");
  ExpectSameError(R"(name: "init" type: "no such type")", "which is not known");
}

// The net's device option is the default of its operators' options.
TEST_F(InitNetTest, OperatorsHaveTheNetsSeed) {
  const NetDef net = ParseNet(R"(name: "init" device_option { random_seed: 7 }
      op { type: "UniformFill" output: "a" arg { name: "shape" ints: 4 } }
      op { type: "UniformFill" output: "b" arg { name: "shape" ints: 4 }
           device_option { random_seed: 8 } }
      op { type: "UniformFill" output: "c" arg { name: "shape" ints: 4 }
           device_option { numa_node_id: 0 } })");
  Workspace want;
  ASSERT_TRUE(want.RunNetOnce(net));
  RunInitNet(NetDef(net), &ws_);
  for (const char* name : {"a", "b", "c"}) {
    const float* values = want.GetBlob(name)->Get<Tensor>().data<float>();
    ExpectTensor<float>(ws_, name, {4}, {values, values + 4});
  }
  EXPECT_EQ(test::Fetch<float>(ws_, "a"), test::Fetch<float>(ws_, "c"));
  EXPECT_NE(test::Fetch<float>(ws_, "a"), test::Fetch<float>(ws_, "b"));
}

// Other nets are run by their executor, which keeps the operators until the end.
TEST_F(InitNetTest, LeavesOtherNetsToTheirExecutor) {
  const std::function<void(NetDef*)> changes[] = {
      [](NetDef* net) { net->set_type("dag"); },
      [](NetDef* net) { net->mutable_op(1)->add_control_input("init_0"); },
      [](NetDef* net) { net->add_arg()->set_name("of the net"); },
      [](NetDef* net) {  // an option without a device does not replace the net's device
        net->mutable_device_option()->set_device_type(IDEEP);
        for (OperatorDef& op : *net->mutable_op()) op.mutable_device_option()->set_random_seed(1);
      },
  };
  for (const auto& change : changes) {
    TheCensus() = {};
    NetDef net = ThreeOps();
    change(&net);
    RunInitNet(std::move(net), &ws_);
    EXPECT_THAT(TheCensus().seen, ElementsAre(3, 3, 3)) << net.ShortDebugString();
    EXPECT_EQ(TheCensus().alive, 0);
  }
}

TEST_F(InitNetTest, GlobalObserversSeeTheNet) {
  class Counter : public ObserverBase<NetBase> {
   public:
    Counter(NetBase* net, int* runs) : ObserverBase<NetBase>(net), runs_(runs) {}
    void Start() override { ++*runs_; }

   private:
    int* const runs_;
  };
  int runs = 0;
  AddGlobalNetObserverCreator([&](NetBase* net) { return std::make_unique<Counter>(net, &runs); });
  RunInitNet(ThreeOps(), &ws_);
  ClearGlobalNetObservers();
  EXPECT_EQ(runs, 1);
  RunInitNet(ThreeOps(), &ws_);
  EXPECT_EQ(runs, 1);
}

TEST_F(InitNetTest, RejectsNull) {
  ExpectThrows([] { RunInitNet(NetDef(), nullptr); }, "argument ws of RunInitNet is null");
}

// A user's implementation of a built-in type, which reads its argument.
class CountingFill final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const auto values = GetRepeatedArgument<float>("values");
    Tensor* output = Output(0);
    output->Resize(1);
    *output->mutable_data<float>() = static_cast<float>(values.size());
    return true;
  }
};

TEST(GivenWeightsTest, OperatorsThatReadTheirArgumentFindTheWeights) {
  static const bool once = [] {
    RegisterCpuOperator<CountingFill>("GivenTensorFill", __FILE__, "COUNTING");
    return true;
  }();
  ASSERT_TRUE(once);
  NetWithWeights net = {.net = ParseNet(R"(name: "init" op { type: "GivenTensorFill" output: "w"
      engine: "COUNTING" arg { name: "values" } })")};
  Tensor values(std::vector<int64_t>{3}, CPU);
  std::fill_n(values.mutable_data<float>(), 3, 1.f);
  net.weights.push_back({.op = 0, .arg = 0, .values = values});
  Workspace ws;
  RunInitNet(std::move(net), &ws);
  ExpectTensor<float>(ws, "w", {1}, {3});
}

}  // namespace
}  // namespace caffe2rt::init_net_test
