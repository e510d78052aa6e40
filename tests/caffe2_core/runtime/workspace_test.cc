#include "caffe2_core/runtime/workspace.h"

#include <csignal>
#include <thread>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::workspace_test {
namespace {

using test::ExpectThrows;
using test::ParseNet;
using test::ParseOp;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Depending on its argument, returns false, throws an exception, or succeeds.
class WorkspaceTestOp final : public Operator<CPUContext> {
 public:
  WorkspaceTestOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), mode_(GetSingleArgument<std::string>("mode", "")) {
    CAFFE_ENFORCE_NE(mode_, "refuse", "argument mode");
  }
  bool RunOnDevice() override {
    CAFFE_ENFORCE_NE(mode_, "throw", "argument mode");
    if (mode_ == "foreign") throw std::runtime_error("of another library");
    if (mode_ == "number") throw 5;  // NOLINT: users may throw anything
    if (mode_ == "signal") std::raise(SIGINT);
    for (int i = 0; i < OutputSize(); ++i) Output(i)->Resize(1);
    return mode_ != "false";
  }

 private:
  const std::string mode_;
};
REGISTER_CPU_OPERATOR(WorkspaceTest, WorkspaceTestOp);
OPERATOR_SCHEMA(WorkspaceTest);

TEST(WorkspaceTest, KeepsBlobsByNameAtAStableAddress) {
  Workspace ws;
  EXPECT_FALSE(ws.HasBlob("x"));
  EXPECT_EQ(ws.GetBlob("x"), nullptr);
  Blob* const x = ws.CreateBlob("x");
  EXPECT_EQ(ws.CreateBlob("x"), x);
  EXPECT_EQ(ws.GetBlob("x"), x);
  EXPECT_THAT(ws.Blobs(), ElementsAre("x"));
  EXPECT_TRUE(ws.RemoveBlob("x"));
  EXPECT_FALSE(ws.RemoveBlob("x"));
  EXPECT_EQ(ws.RootFolder(), ".");
}

TEST(WorkspaceTest, SeesBlobsOfItsParentUntilItHasItsOwn) {
  Workspace parent("root");
  Blob* const x = parent.CreateBlob("x");
  Workspace child(&parent);
  EXPECT_EQ(child.GetBlob("x"), x);
  EXPECT_EQ(child.CreateBlob("x"), x);
  EXPECT_THAT(child.LocalBlobs(), IsEmpty());
  EXPECT_THAT(child.Blobs(), ElementsAre("x"));
  EXPECT_NE(child.CreateLocalBlob("x"), x);
  EXPECT_EQ(child.CreateLocalBlob("x"), child.GetBlob("x"));
  EXPECT_TRUE(child.RemoveBlob("x"));
  EXPECT_EQ(child.GetBlob("x"), x);
  EXPECT_FALSE(child.RemoveBlob("x"));
  EXPECT_EQ(parent.GetBlob("y"), nullptr);
}

TEST(WorkspaceTest, RenamesLocalBlobsOnly) {
  Workspace parent;
  parent.CreateBlob("p");
  Workspace ws(&parent);
  Blob* const x = ws.CreateBlob("x");
  EXPECT_EQ(ws.RenameBlob("x", "y"), x);
  EXPECT_FALSE(ws.HasBlob("x"));
  ExpectThrows([&] { ws.RenameBlob("missing", "z"); }, "missing");
  ExpectThrows([&] { ws.RenameBlob("p", "z"); }, "p");
  ExpectThrows([&] { ws.RenameBlob("y", "p"); }, "p");
}

TEST(WorkspaceTest, ForwardsNamesToBlobsOfAParent) {
  Workspace parent;
  Blob* const a = parent.CreateBlob("a");
  Workspace ws(&parent, std::unordered_map<std::string, std::string>{{"inner", "a"}});
  EXPECT_EQ(ws.GetBlob("inner"), a);
  EXPECT_EQ(ws.CreateBlob("inner"), a);
  EXPECT_THAT(ws.Blobs(), ElementsAre("inner"));
  ExpectThrows([&] { ws.AddBlobMapping(&parent, {{"other", "none"}}); }, "none");
  ExpectThrows([&] { ws.AddBlobMapping(&parent, {{"inner", "a"}}); }, "inner");
  ws.AddBlobMapping(&parent, {{"inner", "a"}}, true);
  ws.CreateLocalBlob("own");
  ExpectThrows([&] { ws.AddBlobMapping(&parent, {{"own", "a"}}); }, "own");
  ASSERT_TRUE(parent.RemoveBlob("a"));
  EXPECT_THROW(ws.CreateBlob("inner"), EnforceNotMet);
}

TEST(WorkspaceTest, SharesBlobsWithOtherWorkspaces) {
  Workspace ws;
  ws.CreateBlob("old");
  {
    Workspace owner;
    owner.CreateBlob("a");
    ws.ShareBlob("inner", owner.FindBlob("a"));
    ws.ShareBlob("old", owner.FindBlob("a"));
    EXPECT_EQ(ws.GetBlob("inner"), owner.GetBlob("a"));
    EXPECT_EQ(ws.GetBlob("old"), owner.GetBlob("a"));
  }
  *ws.GetBlob("inner")->GetMutable<int>() = 3;
  EXPECT_EQ(ws.GetBlob("old")->Get<int>(), 3);
  ExpectThrows([&] { ws.ShareBlob("none", nullptr); }, "argument blob of ShareBlob is null");
}

TEST(WorkspaceTest, CopiesForwardedTensorsOnRequest) {
  Workspace parent;
  test::Feed<float>(&parent, "a", {2}, {1, 2});
  Workspace ws(&parent, std::unordered_map<std::string, std::string>{{"inner", "a"}});
  ws.CopyForwardedTensors({"inner"});
  EXPECT_THAT(ws.LocalBlobs(), ElementsAre("inner"));
  test::Feed<float>(&parent, "a", {2}, {3, 4});
  test::ExpectTensor<float>(ws, "inner", {2}, {1, 2});
}

TEST(WorkspaceTest, MakesRunsReplacesAndDeletesNets) {
  Workspace ws;
  const NetDef net = ParseNet(R"(name: "n" op { type: "WorkspaceTest" output: "y" })");
  NetBase* const made = ws.CreateNet(net);
  EXPECT_EQ(ws.GetNet("n"), made);
  EXPECT_THAT(ws.Nets(), ElementsAre("n"));
  EXPECT_TRUE(ws.RunNet("n"));
  ExpectThrows([&] { ws.CreateNet(net); },
               "I respectfully refuse to overwrite an existing net of the same name \"n\"");
  EXPECT_NE(ws.CreateNet(std::make_shared<const NetDef>(net), true), nullptr);
  ws.DeleteNet("n");
  EXPECT_EQ(ws.GetNet("n"), nullptr);
  EXPECT_FALSE(ws.RunNet("n"));
  ExpectThrows([&] { ws.CreateNet(NetDef()); }, "Net definition should have a name.");
  NetDef odd = net;
  odd.set_type("no such type");
  EXPECT_EQ(ws.CreateNet(odd), nullptr);
}

// As SqueezeNet in Caffe2's model zoo.
TEST(WorkspaceTest, AcceptsANetWhoseNameIsEmpty) {
  Workspace ws;
  const NetDef net = ParseNet(R"(name: "" op { type: "WorkspaceTest" output: "y" })");
  NetBase* const made = ws.CreateNet(net);
  EXPECT_EQ(ws.GetNet(""), made);
  EXPECT_TRUE(ws.RunNet(""));
  EXPECT_TRUE(ws.HasBlob("y"));
  ExpectThrows([&] { ws.CreateNet(net); },
               "I respectfully refuse to overwrite an existing net of the same name \"\"");
}

TEST(WorkspaceTest, RunsOperatorsAndNetsOnce) {
  Workspace ws;
  EXPECT_TRUE(ws.RunOperatorOnce(ParseOp(R"(type: "WorkspaceTest" output: "y")")));
  EXPECT_TRUE(ws.HasBlob("y"));
  EXPECT_FALSE(
      ws.RunOperatorOnce(ParseOp(R"(type: "WorkspaceTest" arg { name: "mode" s: "false" })")));
  EXPECT_TRUE(ws.RunNetOnce(ParseNet(R"(name: "n" op { type: "WorkspaceTest" input: "y" })")));
  EXPECT_THAT(ws.Nets(), IsEmpty());
}

TEST(WorkspaceTest, RemembersThePositionOfTheOperatorThatFailed) {
  Workspace ws;
  EXPECT_EQ(ws.last_failed_op_net_position, -1);
  for (const char* mode : {"throw", "false", "foreign", "number"}) {
    ws.last_failed_op_net_position = -1;
    const std::string text =
        std::string(R"(name: "n" op { type: "WorkspaceTest" } op { type: "WorkspaceTest"
        output: "y" arg { name: "mode" s: ")") +
        mode + "\" } }";
    ExpectThrows([&] { ws.RunNetOnce(ParseNet(text)); }, "net \"n\", operator 1 (WorkspaceTest");
    EXPECT_EQ(ws.last_failed_op_net_position, 1) << mode;
  }
  ExpectThrows(
      [&] {
        ws.RunNetOnce(ParseNet(R"(name: "n" op { type: "WorkspaceTest" }
                       op { type: "WorkspaceTest" arg { name: "mode" s: "refuse" } })"));
      },
      "operator 1");
}

TEST(WorkspaceTest, NetsKeepBlobsWhoseNamesAreRemoved) {
  Workspace ws;
  ws.CreateBlob("x");
  ws.CreateNet(ParseNet(R"(name: "n" op { type: "WorkspaceTest" input: "x" output: "y" })"));
  ASSERT_TRUE(ws.RemoveBlob("x") && ws.RemoveBlob("y"));
  EXPECT_TRUE(ws.RunNet("n"));
  EXPECT_FALSE(ws.HasBlob("y"));
}

TEST(WorkspaceTest, ManyThreadsMakeBlobsAndRunTheirNets) {
  Workspace ws;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&ws, t] {
      const std::string name = "net" + std::to_string(t);
      NetDef net = ParseNet(R"(op { type: "WorkspaceTest" })");
      net.set_name(name);
      net.mutable_op(0)->add_output("y" + std::to_string(t));
      ws.CreateNet(net);
      for (int i = 0; i < 50; ++i) {
        ws.CreateBlob("blob" + std::to_string(i));
        EXPECT_TRUE(ws.RunNet(name));
        ws.Blobs();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ws.Blobs().size(), 54u);
}

TEST(WorkspaceTest, PlansStopOnSignalsByDefault) {
  Workspace ws;
  PlanDef plan;
  *plan.add_network() =
      ParseNet(R"(name: "n" op { type: "WorkspaceTest" arg { name: "mode" s: "signal" } })");
  ExecutionStep* step = plan.add_execution_step();
  step->add_network("n");
  step->set_num_iter(1000000000);
  EXPECT_TRUE(ws.RunPlan(plan));  // stops because of its own first signal
}

TEST(WorkspaceTest, PrintsTheSizesOfItsTensors) {
  Workspace ws;
  test::Feed<float>(&ws, "large", {8}, std::vector<float>(8));
  ws.CreateBlob("empty");
  ::testing::internal::CaptureStderr();
  ws.PrintBlobSizes();
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "capacity bytes, bytes in use, blob\n32;32;large\n");
  std::string text;
  SetLogSink([&](const LogEntry& entry) {
    text = entry.text;
    ws.Blobs();  // the workspace is not locked
  });
  ws.PrintBlobSizes();
  SetLogSink(nullptr);
  EXPECT_EQ(text, "capacity bytes, bytes in use, blob\n32;32;large");
  EXPECT_NE(ws.GetThreadPool(), nullptr);
}

TEST(WorkspaceTest, FollowsThePolicyForFilesOfItsParent) {
  Workspace parent;
  parent.CreateBlob("x");
  EXPECT_TRUE(parent.file_access().is_free());
  const Workspace child(&parent), grandchild("elsewhere", &child);
  EXPECT_TRUE(grandchild.file_access().is_free());
  parent.SetFileAccess(FileAccess::Off());
  EXPECT_TRUE(child.file_access().is_off());
  EXPECT_TRUE(grandchild.file_access().is_off());
  const Workspace forwarded(&parent, {{"y", "x"}}), of_child(&grandchild, {{"z", "x"}});
  EXPECT_TRUE(forwarded.file_access().is_off());
  EXPECT_TRUE(of_child.file_access().is_off());
}

TEST(WorkspaceTest, AChildMayHaveAPolicyOfItsOwn) {
  Workspace parent;
  Workspace child(&parent);
  child.SetFileAccess(FileAccess::Off());
  EXPECT_TRUE(parent.file_access().is_free());
  EXPECT_TRUE(child.file_access().is_off());
}

TEST(WorkspaceTest, PlansRunUnderTheFilePolicyOfTheirWorkspace) {
  PlanDef plan;
  *plan.add_network() = ParseNet(R"(name: "n" op { type: "DBExists" output: "exists"
      arg { name: "db_type" s: "minidb" } arg { name: "db_name" s: "nowhere" } })");
  for (const int instances : {1, 2}) {
    ExecutionStep* step = plan.add_execution_step();
    step->set_create_workspace(true);
    step->set_num_concurrent_instances(instances);
    step->add_network("n");
    Workspace ws;
    ws.SetFileAccess(FileAccess::Off());
    ExpectThrows([&] { ws.RunPlan(plan); }, "nets may not access any file");
    plan.clear_execution_step();
  }
}

}  // namespace
}  // namespace caffe2rt::workspace_test
