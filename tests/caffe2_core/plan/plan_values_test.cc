// What plans ask and report as they run: stop blobs, ids of workspaces, questions whether to go on,
// positions; and what happens if no thread can be started.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "caffe2_core/plan/plan_executor.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/caffe2_core/plan/plan_operators.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"
#include "tests/support/sanitizers.h"

namespace caffe2rt::plan_values_test {
namespace {

using test::ExpectTensor;
using test::Feed;
using test::kCountingNets;
using test::kInitStep;
using test::MessageOf;
using test::Net;
using test::Op;

std::string Counting(const std::string& steps) {
  return std::string(kCountingNets) + kInitStep + steps;
}

TEST(PlanValuesTest, OnlyATrueBoolStops) {
  const std::string step = R"(execution_step { network: "inner" network: "inner"
                              should_stop_blob: "stop" only_once: true })";
  const auto run = [&](const std::function<void(Blob*)>& fill) {
    Workspace ws;
    fill(ws.CreateBlob("stop"));
    const std::string error = MessageOf([&] { test::RunPlanText(&ws, Counting(step)); });
    if (error != "(nothing was thrown)") return error;
    return MakeString(ws.GetBlob("n")->Get<Tensor>().data<float>()[0], " runs");
  };
  const auto bools = [](std::vector<int64_t> dims, bool value) {
    return [dims = std::move(dims), value](Blob* blob) {
      Tensor* const tensor = blob->GetMutableTensor(CPU);
      tensor->Resize(dims);
      std::fill_n(tensor->mutable_data<bool>(), tensor->numel(), value);
    };
  };
  EXPECT_EQ(run([](Blob*) {}), "2 runs");
  EXPECT_EQ(run([](Blob* blob) { *blob->GetMutable<std::string>() = "true"; }), "2 runs");
  EXPECT_EQ(run([](Blob* blob) { blob->GetMutableTensor(CPU); }), "2 runs");
  EXPECT_EQ(run([](Blob* blob) { blob->GetMutableTensor(CPU)->Resize(1); }), "2 runs");
  EXPECT_EQ(run(bools({1}, false)), "2 runs");
  EXPECT_EQ(run(bools({1}, true)), "1 runs");
  EXPECT_EQ(run(bools({}, true)), "1 runs");
  EXPECT_EQ(run(bools({1, 1}, true)), "1 runs");
  EXPECT_EQ(run(bools({2}, true)), "should_stop_blob \"stop\" is bool [2], want one bool");
  EXPECT_EQ(run(bools({0}, true)), "should_stop_blob \"stop\" is bool [0], want one bool");
  EXPECT_EQ(run([](Blob* blob) {
              blob->GetMutableTensor(CPU)->Resize(1);
              *blob->GetMutableTensor(CPU)->mutable_data<float>() = 1;
            }),
            "should_stop_blob \"stop\" is float [1], want one bool");
}

TEST(PlanValuesTest, NetsHaveDifferentNames) {
  Workspace ws;
  EXPECT_EQ(MessageOf([&] {
              test::RunPlanText(&ws, "name: 'p' " + Net("a", "") + Net("b", "") + Net("a", "") +
                                         "execution_step { network: 'b' }");
            }),
            "plan \"p\" has two nets named \"a\"");
}

// The number of the node in the upper 16 bits, that of the child workspace in the lower.
TEST(PlanValuesTest, ChildWorkspacesAreNumbered) {
  const std::string plan =
      R"(network { name: "id" op { type: "Copy" input: "GLOBAL_WORKSPACE_ID" output: "z" } }
         execution_step { num_iter: 3 substep { create_workspace: true network: "id" } })";
  for (const auto& [node, id] : std::vector<std::pair<int32_t, int32_t>>{
           {0, 2}, {5, (5 << 16) + 2}, {1, 65538}, {-1, -65534}}) {
    Workspace ws;
    ws.CreateBlob("z");
    Feed<int32_t>(&ws, "NODE_ID", {1}, {node});
    EXPECT_TRUE(test::RunPlanText(&ws, plan));
    ExpectTensor<int32_t>(ws, "z", {}, {id});
    EXPECT_FALSE(ws.HasBlob("GLOBAL_WORKSPACE_ID"));
    EXPECT_TRUE(test::RunPlanText(&ws, plan));  // counts from 0 again
    ExpectTensor<int32_t>(ws, "z", {}, {id});
  }
}

TEST(PlanValuesTest, EveryIterationIsAskedFor) {
  const auto asked = [](const std::string& steps, size_t most = 100) {
    Workspace ws;
    Feed<bool>(&ws, "stop", {1}, {false});
    std::vector<int> calls;
    PlanOptions options;
    options.should_continue = [&](int iteration) {
      calls.push_back(iteration);
      return calls.size() < most;
    };
    EXPECT_TRUE(test::RunPlanText(&ws, std::string(kCountingNets) + steps, options));
    return calls;
  };
  using Calls = std::vector<int>;
  EXPECT_EQ(asked(R"(execution_step { network: "count" })"), (Calls{0}));
  EXPECT_EQ(asked(R"(execution_step { network: "count" num_iter: 3 })"), (Calls{0, 1, 2}));
  EXPECT_EQ(asked(R"(execution_step { network: "count" num_iter: 0 })"), Calls{});
  EXPECT_EQ(asked(R"(execution_step { network: "count" num_iter: 9 })", 2), (Calls{0, 1}));
  EXPECT_EQ(asked(R"(execution_step { num_iter: 2 substep { network: "count" num_iter: 2 } })"),
            (Calls{0, 0, 1, 1, 0, 1}));
  EXPECT_EQ(
      asked(R"(execution_step { network: "count" should_stop_blob: "stop" only_once: true })"),
      (Calls{0}));
  EXPECT_EQ(asked(R"(execution_step { network: "count" should_stop_blob: "stop" })", 4),
            (Calls{0, 1, 2, 3}));
}

TEST(PlanValuesTest, PositionsOfIterationsAreReported) {
  Workspace ws;
  std::vector<std::string> positions;
  PlanOptions options;
  options.on_iteration = [&](const PlanPosition& position) {
    positions.push_back(PlanPositionText(position));
  };
  EXPECT_TRUE(test::RunPlanText(&ws, Counting(R"(
      execution_step { name: "outer" num_iter: 2 substep { name: "first" network: "inner" }
                       substep { network: "count" num_iter: 2 } })"),
                                options));
  const std::string net = "the step of net \"count\", iteration ";
  std::vector<std::string> want = {"the step of net \"init\""};
  for (const std::string outer :
       {"step \"outer\", iteration 1 of 2", "step \"outer\", iteration 2 of 2"}) {
    want.push_back(outer);
    want.push_back(outer + ", step \"first\"");
    want.push_back(outer + ", " + net + "1 of 2");
    want.push_back(outer + ", " + net + "2 of 2");
  }
  EXPECT_EQ(positions, want);
}

// Leaves no memory for the stack of another thread, and ends the process with 0 if the plan fails with
// this message.
[[noreturn]] void RunWithoutThreads(const std::string& plan, const std::string& message) {
  Workspace ws;
  const PlanDef parsed = test::ParsePlan(plan);
  const PlanDef first = test::ParsePlan(Counting(R"(execution_step { network: "count" })"));
  if (!ws.RunPlan(first)) std::exit(1);
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t bytes = pages * 4096 + (1 << 20);
  const rlimit limit = {bytes, bytes};
  setrlimit(RLIMIT_AS, &limit);
  const std::string got = MessageOf([&] { ws.RunPlan(parsed); });
  if (got.find(message) == 0) std::exit(0);
  std::fprintf(stderr, "%s\n", got.c_str());
  std::exit(1);
}

TEST(PlanThreadsTest, MissingOnesAreErrors) {
  if (test::kHasAddressSanitizer || test::kHasThreadSanitizer)
    GTEST_SKIP() << "a sanitizer needs more memory than the limit";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      RunWithoutThreads(std::string(kCountingNets) +
                            R"(execution_step { name: "s" concurrent_substeps: true
                                       substep { network: "count" } substep { network: "count" } })",
                        "cannot start thread 0 of step \"s\": Resource temporarily unavailable"),
      ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(
      RunWithoutThreads(std::string(kCountingNets) +
                            R"(execution_step { network: "count" report_net: "count"
                               report_interval: 1 })",
                        "cannot start the thread of a reporter: Resource temporarily unavailable"),
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace caffe2rt::plan_values_test
