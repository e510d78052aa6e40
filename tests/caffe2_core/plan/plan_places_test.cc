// Where steps run: stop blobs that only a child workspace has, positions of reporters, and nets that
// steps keep or replace.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/waiting.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/caffe2_core/plan/plan_operators.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::plan_places_test {
namespace {

using test::ExpectTensor;
using test::Feed;
using test::MessageOf;

bool RunCounting(Workspace* ws, const std::string& steps, const PlanOptions& options = {}) {
  return test::RunPlanText(ws, std::string(test::kCountingNets) + steps, options);
}

// The nets of the child workspace make its stop blob, which the workspace around does not have.
TEST(PlanPlacesTest, AStopBlobBelongsToTheWorkspaceOfItsStep) {
  const std::string child = R"(name: "child" create_workspace: true network: "init" network: "step"
                               network: "count" should_stop_blob: "stop" )";
  for (const std::string& step :
       {child, "substep { " + child + "}", "substep { substep { " + child + "} }"}) {
    SCOPED_TRACE(step);
    Workspace ws;
    test::ResetPlanCounts();
    PlanOptions options;
    options.should_continue = [](int i) { return i < 4; };
    EXPECT_TRUE(RunCounting(&ws, "execution_step { " + step + "}", options));
    EXPECT_EQ(test::PlanRuns(), 4);  // n is 1 again in each iteration
    EXPECT_FALSE(ws.HasBlob("stop"));
    // What no net makes does not exist there either.
    const std::string none = "execution_step { " + step + "}";
    std::string other = none;
    other.replace(other.find("\"stop\""), 6, "\"none\"");
    EXPECT_EQ(MessageOf([&] { RunCounting(&ws, other); }),
              "should_stop_blob \"none\" of step \"child\" does not exist");
  }
}

// A blob of the workspace around stops a step in a child workspace, too.
TEST(PlanPlacesTest, AStopBlobAroundStopsAChildWorkspace) {
  Workspace ws;
  Feed<bool>(&ws, "stop", {1}, {true});
  test::ResetPlanCounts();
  EXPECT_TRUE(RunCounting(&ws, R"(execution_step { num_iter: 2
      substep { create_workspace: true network: "count" network: "count"
                should_stop_blob: "stop" } })"));
  EXPECT_EQ(test::PlanRuns(), 2);
}

// A reporter, and what is below it, is not an iteration of the plan.
TEST(PlanPlacesTest, PositionsOfReportersAreNotReported) {
  Workspace ws;
  Mutex mutex;
  std::vector<std::string> positions;
  PlanOptions options;
  options.on_iteration = [&](const PlanPosition& position) {
    const MutexLock lock(mutex);
    positions.push_back(PlanPositionText(position));
  };
  test::ResetPlanCounts();
  EXPECT_TRUE(RunCounting(&ws, R"(execution_step { name: "all" report_net: "count"
      report_interval: 3600
      substep { name: "work" network: "count" num_iter: 2 }
      substep { name: "report" run_every_ms: 3600000 num_iter: 2
        substep { name: "below" network: "count" }
        substep { name: "apart" create_workspace: true substep { name: "deep" network: "count" } }
        substep { name: "together" num_concurrent_instances: 2
          substep { name: "instance" network: "count" } } } })",
                          options));
  EXPECT_EQ(test::PlanRuns(), 2 + 1 + 2 * 4);
  EXPECT_EQ(positions, (std::vector<std::string>{"step \"all\"",
                                                 "step \"all\", step \"work\", iteration 1 of 2",
                                                 "step \"all\", step \"work\", iteration 2 of 2"}));
}

TEST(PlanPlacesTest, PositionsOfInstancesAndChildWorkspacesAreReported) {
  Workspace ws;
  Mutex mutex;
  std::vector<std::string> positions;
  PlanOptions options;
  options.on_iteration = [&](const PlanPosition& position) {
    const MutexLock lock(mutex);
    positions.push_back(PlanPositionText(position));
  };
  EXPECT_TRUE(RunCounting(&ws, R"(execution_step { name: "top" create_workspace: true num_iter: 2
      substep { name: "all" num_concurrent_instances: 2
        substep { name: "one" create_workspace: true network: "count" } } })",
                          options));
  std::sort(positions.begin(), positions.end());
  std::vector<std::string> want;
  for (const char* top : {"step \"top\", iteration 1 of 2", "step \"top\", iteration 2 of 2"}) {
    want.push_back(top);
    want.push_back(MakeString(top, ", step \"all\""));
    for (int i = 0; i < 2; ++i) want.push_back(MakeString(top, ", step \"all\", step \"one\""));
  }
  EXPECT_EQ(positions, want);
}

// The first use in a plan replaces a net of that name; later uses, also in the same plan, keep it.
TEST(PlanPlacesTest, ANetThatExistedBeforeIsReplacedOnce) {
  Workspace ws;
  NetDef old;
  old.set_name("count");
  ASSERT_NE(ws.CreateNet(old), nullptr);
  test::ResetPlanCounts();
  EXPECT_TRUE(RunCounting(&ws, R"(execution_step { network: "count" num_iter: 2 }
      execution_step { substep { network: "count" } }
      execution_step { num_concurrent_instances: 1 substep { network: "count" } })"));
  EXPECT_EQ(test::PlanRuns(), 4);
  EXPECT_EQ(test::PlanOperators(), 1);
  EXPECT_EQ(ws.GetNet("count")->GetOperators().size(), 1u);
  // Another run of the plan makes the net again.
  EXPECT_TRUE(RunCounting(&ws, R"(execution_step { network: "count" })"));
  EXPECT_EQ(test::PlanOperators(), 2);
}

// Instances that run one after the other use the net of the workspace, which each gives back.
TEST(PlanPlacesTest, ConcurrentStepsInTurnBorrowTheSameNet) {
  Workspace ws;
  test::ResetPlanCounts();
  const std::string together = R"(execution_step { concurrent_substeps: true
      substep { network: "count" } substep { network: "inner" } } )";
  Feed<float>(&ws, "n", {1}, {0});
  Feed<float>(&ws, "one", {1}, {1});
  EXPECT_TRUE(RunCounting(&ws, together + together + together));
  EXPECT_EQ(test::PlanRuns(), 3);
  EXPECT_EQ(test::PlanOperators(), 1);
  ExpectTensor<float>(ws, "n", {1}, {3});
}

// Each child workspace has its own number; that of a workspace inside comes after it.
TEST(PlanPlacesTest, AChildWorkspaceInsideAnotherHasItsOwnId) {
  Workspace ws;
  Feed<int32_t>(&ws, "NODE_ID", {1}, {1});
  for (const char* name : {"x", "y", "z"}) ws.CreateBlob(name);
  const auto copies = [](const std::string& to) {
    return test::Net(to, "op { type: 'Copy' input: 'GLOBAL_WORKSPACE_ID' output: '" + to + "' }");
  };
  EXPECT_TRUE(test::RunPlanText(&ws, copies("x") + copies("y") + copies("z") +
                                         R"(execution_step { create_workspace: true
      substep { network: "x" } substep { create_workspace: true network: "y" }
      substep { network: "z" } })"));
  ExpectTensor<int32_t>(ws, "x", {}, {65536});
  ExpectTensor<int32_t>(ws, "y", {}, {65537});
  ExpectTensor<int32_t>(ws, "z", {}, {65536});
  EXPECT_FALSE(ws.HasBlob("GLOBAL_WORKSPACE_ID"));
}

// A user's net whose first two runs fail, without an exception or with one.
class PlanPlacesFailingNet final : public NetBase {
 public:
  using NetBase::NetBase;
  std::vector<OperatorBase*> GetOperators() const override { return {}; }
  static std::atomic<int>& Runs() {
    static std::atomic<int> runs{0};
    return runs;
  }

 protected:
  bool DoRun() override {
    const int run = ++Runs();
    CAFFE_ENFORCE(run != 1, "the first run");
    return run > 2;
  }
};
REGISTER_NET(plan_places_failing, PlanPlacesFailingNet);

// A report that fails is logged; the step goes on, and the next report runs as if nothing had been.
TEST(PlanPlacesTest, AReporterRunsAgainAfterItHasFailed) {
  for (const char* reporter :
       {"num_concurrent_instances: 2 substep { network: 'failing' }",
        "concurrent_substeps: true substep { network: 'failing' } substep { network: 'idle' }",
        "network: 'failing'", "create_workspace: true network: 'failing'"}) {
    SCOPED_TRACE(reporter);
    PlanPlacesFailingNet::Runs() = 0;
    Workspace ws;
    PlanOptions options;
    options.should_continue = [](int) { return PlanPlacesFailingNet::Runs() < 6; };
    EXPECT_TRUE(test::RunPlanText(
        &ws,
        MakeString("network { name: 'failing' type: 'plan_places_failing' } network { name: 'idle' "
                   "} execution_step { substep { network: 'idle' num_iter: 100000000 } substep { "
                   "run_every_ms: 1 ",
                   reporter, " } }"),
        options));
    EXPECT_GE(PlanPlacesFailingNet::Runs(), 6);
  }
}

// A net that cannot be created yet is made in the workspace when it can, as it would have been before.
TEST(PlanPlacesTest, ANetThatCouldNotBeCreatedIsLentLater) {
  Workspace ws;
  std::atomic<int> failures{0};
  const int threshold = LogThreshold();
  SetLogThreshold(1);
  SetLogSink([&](const LogEntry&) { ++failures; });
  test::ResetPlanCounts();
  PlanOptions options;
  options.should_continue = [&](int) {
    if (failures > 0) ws.CreateBlob("late");
    return test::PlanRuns() == 0;
  };
  const bool ran = test::RunPlanText(
      &ws,
      "network { name: 'needs' op { type: 'PlanTestCount' input: 'late' } } network { name: 'idle' "
      "} execution_step { substep { network: 'idle' num_iter: 4000000 } substep { run_every_ms: 1 "
      "network: 'needs' } }",
      options);
  SetLogSink(nullptr);
  SetLogThreshold(threshold);
  EXPECT_TRUE(ran);
  EXPECT_GE(failures, 1);
  EXPECT_GE(test::PlanRuns(), 1);
  EXPECT_NE(ws.GetNet("needs"), nullptr);
}

// Nets that wait for records of the queues q and r, which stay empty, in a workspace that has them.
class PlanStopTest : public testing::Test {
 protected:
  PlanStopTest() {
    nets_ = test::Net("raise", "op { type: 'PlanTestRaise' }");
    for (const std::string name : {"q", "r"}) {
      nets_ += test::Net("read_" + name, "op { type: 'DequeueBlobs' input: '" + name +
                                             "' output: 'y" + name + "' }");
      EXPECT_TRUE(
          ws_.RunOperatorOnce(test::ParseOp("type: 'CreateBlobsQueue' output: '" + name + "'")));
    }
  }
  PlanDef Plan(const std::string& steps) const { return test::ParsePlan(nets_ + steps); }
  std::string nets_;
  Workspace ws_;
};

// A signal ends the wait of a concurrent step without a failure.
TEST_F(PlanStopTest, ASignalEndsConcurrentStepsThatWaitWithoutAFailure) {
  EXPECT_TRUE(ws_.RunPlan(Plan(R"(execution_step { concurrent_substeps: true
      substep { network: "read_q" } substep { network: "read_r" } substep { network: "raise" } })"),
                          PlanOptions()));
}

// Stopped from outside, the plan has not done what it should.
TEST_F(PlanStopTest, APlanThatIsStoppedFromOutsideFails) {
  const std::atomic<bool> stopped = true;
  const StopScope scope(stopped);
  const auto go_on = [](int) { return true; };
  EXPECT_FALSE(ws_.RunPlan(Plan(R"(execution_step { concurrent_substeps: true
      substep { network: "read_q" } substep { network: "read_r" } })"),
                           go_on));
  EXPECT_THROW(ws_.RunPlan(Plan("execution_step { network: 'read_q' }"), go_on), RunStopped);
}

// Before anything runs, as for the nets of steps.
TEST(PlanPlacesTest, AReportNetThatThePlanDoesNotHaveIsNamed) {
  Workspace ws;
  test::ResetPlanCounts();
  for (const char* more : {"", "num_concurrent_instances: 2 ", "create_workspace: true "}) {
    EXPECT_EQ(MessageOf([&] {
                RunCounting(&ws, MakeString(R"(execution_step { substep { network: "count" }
                    substep { report_net: "coun" report_interval: 1 )",
                                            more, "substep { network: \"count\" } } }"));
              }),
              "network \"coun\" not found in the plan; close: count");
  }
  EXPECT_EQ(test::PlanRuns(), 0);
}

// Intervals are seconds, and at least one, or milliseconds: the only report is that at the end.
TEST(PlanPlacesTest, ReportsAreMadeOncePerInterval) {
  for (const char* reporter :
       {"report_net: 'count' report_interval: 0", "report_net: 'count' report_interval: -5",
        "report_net: 'count' report_interval: 1",
        "substep { run_every_ms: 3600000 network: 'count' }"}) {
    SCOPED_TRACE(reporter);
    Workspace ws;
    Feed<float>(&ws, "n", {1}, {0});
    Feed<float>(&ws, "one", {1}, {1});
    test::ResetPlanCounts();
    EXPECT_TRUE(RunCounting(&ws, MakeString("execution_step { ", reporter,
                                            " substep { network: 'inner' num_iter: 40000 } }")));
    EXPECT_GE(test::PlanRuns(), 1);
    EXPECT_LE(test::PlanRuns(), 8);
  }
}

TEST(PlanPlacesTest, AStepOfOneIterationIsNamedWithoutIt) {
  ExecutionStep one, around;
  one.set_name("one");
  one.set_num_iter(1);
  around.set_num_iter(1);
  EXPECT_EQ(PlanPositionText({.step = &one}), "step \"one\"");
  const PlanPosition outer = {.step = &around};
  EXPECT_EQ(PlanPositionText({.step = &one, .outer = &outer}), "step \"one\"");
  around.set_num_iter(2);
  EXPECT_EQ(PlanPositionText({.step = &one, .outer = &outer}),
            "a step, iteration 1 of 2, step \"one\"");
}

// However deep it is, and whether it runs alone.
TEST(PlanPlacesTest, FilesOfAChildWorkspaceLieInTheFolderOfItsParent) {
  const test::TempDir dir;
  const std::string child = "substep { create_workspace: true network: 'save' } ";
  int files = 0;
  for (const std::string& step :
       {std::string("create_workspace: true network: 'save'"), child,
        "create_workspace: true substep { " + child + "}",
        "concurrent_substeps: true " + child + "substep { network: 'idle' }",
        "create_workspace: true num_concurrent_instances: 1 " + child}) {
    SCOPED_TRACE(step);
    Workspace ws(dir.path());
    Feed<float>(&ws, "x", {1}, {1});
    const std::string file = MakeString("file", ++files);
    EXPECT_TRUE(test::RunPlanText(
        &ws, test::Net("save", "op { type: 'Save' input: 'x' arg { name: 'db' s: '" + file +
                                   "' } arg { name: 'db_type' s: 'minidb' } }") +
                 test::Net("idle", "") + "execution_step { " + step + " }"));
    EXPECT_TRUE(std::filesystem::exists(dir.path(file)));
  }
}

// Two steps write blobs of the workspace around, which become one blob after the first iteration. Nets
// in child workspaces look their names up again; others keep the blobs that they have.
TEST(PlanPlacesTest, NamesOfChildWorkspacesAreLookedUpInEachIteration) {
  for (const std::string child : {"", "create_workspace: true "}) {
    Workspace ws;
    Feed<float>(&ws, "x", {1}, {3});
    for (const char* name : {"p", "q"}) Feed<float>(&ws, name, {1}, {0});
    const std::shared_ptr<Blob> q = ws.FindBlob("q");
    PlanOptions options;
    int iterations = 0;
    options.on_iteration = [&](const PlanPosition& position) {
      if (position.step->name() != "outer") return;
      if (++iterations == 2) ws.ShareBlob("q", ws.FindBlob("p"));
    };
    const auto run = [&] {
      EXPECT_TRUE(test::RunPlanText(
          &ws,
          test::Net("a", test::Op("Copy", "x", "p")) + test::Net("b", test::Op("Copy", "x", "q")) +
              "execution_step { name: 'outer' num_iter: 3 substep { concurrent_substeps: true "
              "substep { name: 'a' network: 'a' " +
              child + "} substep { name: 'b' network: 'b' " + child + "} } }",
          options));
    };
    if (child.empty()) {
      run();
      EXPECT_EQ(iterations, 3);
    } else {
      const std::string message = MessageOf(run);
      EXPECT_TRUE(message.starts_with(
          "blob \"p\" is written by step \"a\" (net \"a\") while \"q\", which is the same, is "
          "written by step \"b\" (net \"b\")"))
          << message;
      EXPECT_EQ(iterations, 2);
    }
    EXPECT_EQ(q->Get<Tensor>().data<float>()[0], 3);
  }
}

}  // namespace
}  // namespace caffe2rt::plan_places_test
