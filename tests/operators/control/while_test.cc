#include <google/protobuf/text_format.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "caffe2_core/base/signal_handler.h"
#include "caffe2_core/plan/plan_executor.h"
#include "caffe2_core/runtime/waiting.h"
#include "tests/support/operator_test.h"
#include "tests/support/wait_for.h"

namespace caffe2rt::test::while_test {
namespace {

constexpr char kLoop[] = R"(arg { name: "loop_net" n { name: "count"
  op { type: "Add" input: "i" input: "one" output: "i" } } } )";
constexpr char kLoopWithTest[] = R"(arg { name: "loop_net" n { name: "count"
  op { type: "Add" input: "i" input: "one" output: "i" }
  op { type: "LT" input: "i" input: "limit" output: "c" } } } )";
constexpr char kTest[] = R"(arg { name: "cond_net" n { name: "test"
  op { type: "LT" input: "i" input: "limit" output: "c" } } } )";

std::string While(const std::string& args) {
  return R"(type: "While" input: "c" input: "i" input: "one" input: "limit" output: "i" output: "c" )" +
         args;
}

class WhileTest : public testing::Test {
 protected:
  WhileTest() {
    Feed<float>(&ws_, "i", {1}, {0});
    Feed<float>(&ws_, "one", {1}, {1});
    Feed<float>(&ws_, "limit", {1}, {5});
    Feed<bool>(&ws_, "c", {1}, {true});
  }
  Workspace ws_;
};

TEST_F(WhileTest, RepeatsUntilTheConditionIsFalse) {
  RunOp(&ws_, While(kLoopWithTest));
  ExpectTensor<float>(ws_, "i", {1}, {5});
  ExpectTensor<bool>(ws_, "c", {1}, {false});
  RunOp(&ws_, While(kLoopWithTest));  // the condition is false already
  ExpectTensor<float>(ws_, "i", {1}, {5});
}

TEST_F(WhileTest, RunsCondNetBeforeEachTest) {
  Feed<bool>(&ws_, "c", {1}, {false});
  RunOp(&ws_, While(std::string(kLoop) + kTest));
  ExpectTensor<float>(ws_, "i", {1}, {5});
  Feed<float>(&ws_, "limit", {1}, {2});
  Feed<bool>(&ws_, "c", {1}, {true});
  RunOp(&ws_, While(std::string(kLoop) + kTest));  // i is 5: no iteration
  ExpectTensor<float>(ws_, "i", {1}, {5});
}

TEST_F(WhileTest, CountsToTenThousandAndNests) {
  Feed<float>(&ws_, "limit", {1}, {10000});
  RunOp(&ws_, While(std::string(kLoop) + kTest));
  ExpectTensor<float>(ws_, "i", {1}, {10000});

  Feed<float>(&ws_, "i", {1}, {0});
  Feed<float>(&ws_, "limit", {1}, {3});
  Feed<float>(&ws_, "j", {1}, {0});
  Feed<float>(&ws_, "total", {1}, {0});
  RunOp(&ws_, R"(type: "While" input: "c" input: "i" input: "j" input: "one" input: "limit"
    input: "total" output: "i" output: "j" output: "c" output: "total"
    arg { name: "cond_net" n { op { type: "LT" input: "i" input: "limit" output: "c" } } }
    arg { name: "loop_net" n {
      op { type: "Add" input: "i" input: "one" output: "i" }
      op { type: "Sub" input: "j" input: "j" output: "j" }
      op { type: "LT" input: "j" input: "i" output: "inner" }
      op { type: "While" input: "inner" input: "j" input: "one" input: "i" input: "total"
        output: "j" output: "inner" output: "total"
        arg { name: "loop_net" n {
          op { type: "Add" input: "j" input: "one" output: "j" }
          op { type: "Add" input: "total" input: "one" output: "total" }
          op { type: "LT" input: "j" input: "i" output: "inner" } } } } } })");
  ExpectTensor<float>(ws_, "total", {1}, {6});  // 1 + 2 + 3
}

TEST_F(WhileTest, RejectsInvalidConditionsAndNets) {
  ExpectThrows([&] { RunOp(&ws_, While(kTest)); }, "loop_net");
  ExpectThrows([&] { RunOp(&ws_, While(R"(arg { name: "loop_net" i: 1 })")); },
               "argument \"loop_net\" holds no net");
  ExpectThrows([&] { RunOp(&ws_, While(std::string(kLoop) + R"(arg { name: "cond_net" i: 1 })")); },
               "argument \"cond_net\" holds no net");
  Feed<bool>(&ws_, "c", {2}, {true, true});
  ExpectThrows([&] { RunOp(&ws_, While(std::string(kLoop) + kTest)); },
               "input 0 (condition) has shape [2], want one element");
  Feed<int32_t>(&ws_, "c", {1}, {1});
  ExpectThrows([&] { RunOp(&ws_, While(kLoopWithTest)); },
               "input 0 (condition) has elements of type");
}

TEST_F(WhileTest, EndsWithAnErrorAfterASignal) {
  const SignalHandler handled;  // as a program that runs a plan
  // The loop asks in each iteration, an executor at most once before it.
  std::atomic<int> asked{0};
  const StopScope scope([&asked] {
    ++asked;
    return false;
  });
  std::thread interrupt([&asked] {
    EXPECT_TRUE(WaitFor([&asked] { return asked > 3; }));
    std::raise(SIGINT);
  });
  Feed<bool>(&ws_, "c", {1}, {true});
  ExpectThrows([&] { RunOp(&ws_, While(kLoop)); }, "the loop was interrupted by a signal after");
  interrupt.join();
}

TEST_F(WhileTest, EndsWhenItsRunIsStopped) {
  for (const std::string loop : {kLoop, "arg { name: 'loop_net' n { name: 'nothing' } }"}) {
    std::atomic<int> asked{0};
    const StopScope scope([&] { return ++asked > 3; });
    ExpectThrows([&] { RunOp(&ws_, While(loop)); }, "the run was stopped");
    EXPECT_EQ(asked, 4);
  }
}

TEST_F(WhileTest, EndsWhenAConcurrentStepFails) {
  PlanDef plan;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(R"(
    network { name: "endless" op { type: "While" input: "c"
      arg { name: "loop_net" n { name: "nothing" } } } }
    network { name: "fail" op { type: "ConstantFill" output: "w"
      arg { name: "shape" ints: -1 } } }
    execution_step { concurrent_substeps: true
      substep { network: "endless" } substep { network: "fail" } })",
                                                            &plan));
  ExpectThrows([&] { ws_.RunPlan(plan, PlanOptions()); }, "operator 0 (ConstantFill");
}

}  // namespace
}  // namespace caffe2rt::test::while_test
