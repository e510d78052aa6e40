// A thread remembers the net that it ran last: it must not run one that is gone or was replaced.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::workspace_nets_test {
namespace {

// Fills "x" with the number.
NetDef Fill(int value) {
  return ParseNet(MakeString(R"(name: "n" op { type: "ConstantFill" output: "x"
                                arg { name: "shape" ints: 1 } arg { name: "value" f: )",
                             value, " } }"));
}
float Value(const Workspace& ws) { return ws.GetBlob("x")->Get<Tensor>().data<float>()[0]; }

TEST(WorkspaceNetsTest, DeletedNetsDoNotRun) {
  Workspace ws;
  ws.CreateNet(Fill(1));
  ASSERT_TRUE(ws.RunNet("n"));
  ws.DeleteNet("other");
  ASSERT_TRUE(ws.RunNet("n"));
  ws.DeleteNet("n");
  EXPECT_FALSE(ws.RunNet("n"));
  EXPECT_EQ(ws.GetNet("n"), nullptr);
  ws.CreateNet(Fill(2));
  ASSERT_TRUE(ws.RunNet("n"));
  EXPECT_EQ(Value(ws), 2);
}

TEST(WorkspaceNetsTest, ReplacedNetsDoNotRun) {
  Workspace ws;
  ws.CreateNet(Fill(1));
  ASSERT_TRUE(ws.RunNet("n"));
  EXPECT_EQ(Value(ws), 1);
  ws.CreateNet(Fill(2), true);
  ASSERT_TRUE(ws.RunNet("n"));
  EXPECT_EQ(Value(ws), 2);
  NetDef unknown = Fill(3);
  unknown.set_type("no_such_type");
  EXPECT_EQ(ws.CreateNet(unknown, true), nullptr);
  EXPECT_FALSE(ws.RunNet("n"));
}

// A net that uses its workspace when it ends, as those of users may.
class WorkspaceNetsNet final : public NetBase {
 public:
  WorkspaceNetsNet(const std::shared_ptr<const NetDef>& def, Workspace* ws)
      : NetBase(def, ws), ws_(ws) {}
  ~WorkspaceNetsNet() override { ws_->CreateBlob(MakeString("end", ws_->Nets().size())); }
  std::vector<OperatorBase*> GetOperators() const override { return {}; }

 protected:
  bool DoRun() override { return true; }

 private:
  Workspace* const ws_;
};
REGISTER_NET(workspace_nets_test_type, WorkspaceNetsNet);

TEST(WorkspaceNetsTest, NetsThatEndMayUseTheirWorkspace) {
  Workspace ws;
  const NetDef def = ParseNet(R"(name: "n" type: "workspace_nets_test_type")");
  ws.CreateNet(def);
  ws.DeleteNet("n");
  EXPECT_TRUE(ws.HasBlob("end0"));
  ws.CreateNet(def);
  ws.CreateNet(def, true);
  EXPECT_TRUE(ws.HasBlob("end0") || ws.HasBlob("end1"));
  ws.DeleteNet("n");
  EXPECT_EQ(ws.Nets(), std::vector<std::string>());
}

// A net that deletes itself, as another thread may do during its run.
class WorkspaceNetsDeleted final : public NetBase {
 public:
  WorkspaceNetsDeleted(const std::shared_ptr<const NetDef>& def, Workspace* ws)
      : NetBase(def, ws), ws_(ws) {}
  ~WorkspaceNetsDeleted() override { ws_->CreateBlob("end"); }
  std::vector<OperatorBase*> GetOperators() const override { return {}; }

 protected:
  bool DoRun() override {
    Workspace* const ws = ws_;
    ws->DeleteNet("n");
    return !ws->HasBlob("end");
  }

 private:
  Workspace* const ws_;
};
REGISTER_NET(workspace_nets_test_deleted, WorkspaceNetsDeleted);

TEST(WorkspaceNetsTest, NetsThatAreDeletedDuringARunEndAfterIt) {
  Workspace ws;
  const NetDef def = ParseNet(R"(name: "n" type: "workspace_nets_test_deleted")");
  for (int run = 0; run < 2; ++run) {
    ws.CreateNet(def);
    EXPECT_TRUE(ws.RunNet("n"));
    EXPECT_TRUE(ws.RemoveBlob("end"));
    EXPECT_FALSE(ws.RunNet("n"));
  }
}

// A net that runs one of its own name, which replaces it.
class WorkspaceNetsReplaced final : public NetBase {
 public:
  WorkspaceNetsReplaced(const std::shared_ptr<const NetDef>& def, Workspace* ws)
      : NetBase(def, ws), ws_(ws) {}
  std::vector<OperatorBase*> GetOperators() const override { return {}; }

 protected:
  bool DoRun() override {
    if (runs_++ > 0) return false;
    Workspace* const ws = ws_;
    ws->CreateNet(Fill(7), true);
    return ws->RunNet("n");
  }

 private:
  Workspace* const ws_;
  int runs_ = 0;
};
REGISTER_NET(workspace_nets_test_replaced, WorkspaceNetsReplaced);

TEST(WorkspaceNetsTest, NetsThatAreReplacedDuringARunDoNotRunAgain) {
  Workspace ws;
  ws.CreateNet(ParseNet(R"(name: "n" type: "workspace_nets_test_replaced")"));
  EXPECT_TRUE(ws.RunNet("n"));
  EXPECT_EQ(Value(ws), 7);
}

// A net whose constructor creates one of the same name, as another thread may do meanwhile.
class WorkspaceNetsTwin final : public NetBase {
 public:
  WorkspaceNetsTwin(const std::shared_ptr<const NetDef>& def, Workspace* ws) : NetBase(def, ws) {
    ws->CreateNet(ParseNet(R"(name: "n" type: "workspace_nets_test_type")"));
  }
  std::vector<OperatorBase*> GetOperators() const override { return {}; }

 protected:
  bool DoRun() override { return false; }
};
REGISTER_NET(workspace_nets_test_twin, WorkspaceNetsTwin);

TEST(WorkspaceNetsTest, NetsThatWereCreatedMeanwhileAreOverwrittenOnlyIfAsked) {
  Workspace ws;
  const NetDef def = ParseNet(R"(name: "n" type: "workspace_nets_test_twin")");
  ExpectThrows([&] { ws.CreateNet(def); }, "overwrite an existing net of the same name \"n\"");
  EXPECT_FALSE(ws.HasBlob("end1"));
  EXPECT_TRUE(ws.RunNet("n"));
  ws.DeleteNet("n");
  NetBase* const net = ws.CreateNet(def, true);
  EXPECT_EQ(ws.GetNet("n"), net);
  EXPECT_TRUE(ws.HasBlob("end1"));  // its destructor uses the workspace
  EXPECT_FALSE(ws.RunNet("n"));
}

// In turns, and in a workspace that may have the address of an earlier one.
TEST(WorkspaceNetsTest, NetsOfOtherWorkspacesDoNotRun) {
  Workspace a, b;
  a.CreateNet(Fill(1));
  b.CreateNet(Fill(2));
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(a.RunNet("n"));
    ASSERT_TRUE(b.RunNet("n"));
  }
  EXPECT_EQ(Value(a), 1);
  EXPECT_EQ(Value(b), 2);
  for (int i = 0; i < 3; ++i) {
    const auto ws = std::make_unique<Workspace>();
    EXPECT_FALSE(ws->RunNet("n"));
    ws->CreateNet(Fill(i));
    ASSERT_TRUE(ws->RunNet("n"));
    EXPECT_EQ(Value(*ws), static_cast<float>(i));
  }
}

}  // namespace
}  // namespace caffe2rt::test::workspace_nets_test
