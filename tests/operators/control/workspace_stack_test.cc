#include "operators/control/workspace_stack.h"

#include "caffe2_core/io/file_access.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::workspace_stack_test {
namespace {

TEST(WorkspaceStackTest, GivesAnOperatorItsWorkspaceBackAtTheSameDepth) {
  Workspace parent;
  WorkspaceStack stack;
  EXPECT_TRUE(stack.empty());
  const auto first = stack.Push(1, parent);
  const auto second = stack.Push(1, parent);
  EXPECT_NE(first->ws, second->ws);
  EXPECT_EQ(first->owner, 1u);
  EXPECT_EQ(stack.depth(), 2u);
  EXPECT_EQ(stack.Top(), second);
  EXPECT_EQ(stack.Pop(), second);
  EXPECT_EQ(stack.Top(), first);
  EXPECT_EQ(stack.Push(1, parent), second);
  stack.Clear();
  EXPECT_TRUE(stack.empty());
  EXPECT_EQ(stack.Push(1, parent), first);
  EXPECT_EQ(stack.Push(1, parent), second);
}

TEST(WorkspaceStackTest, GivesAnotherOperatorANewWorkspace) {
  Workspace parent;
  WorkspaceStack stack;
  const auto first = stack.Push(1, parent);
  (void)first->ws->CreateBlob("old");
  first->bound["x"] = nullptr;
  EXPECT_EQ(stack.Pop(), first);
  const auto other = stack.Push(2, parent);
  EXPECT_NE(other, first);
  EXPECT_NE(other->ws, first->ws);
  EXPECT_EQ(other->owner, 2u);
  EXPECT_FALSE(other->ws->HasBlob("old"));
  EXPECT_TRUE(other->bound.empty());
  EXPECT_TRUE(first->ws->HasBlob("old"));  // an operator may still use it
  EXPECT_EQ(stack.Pop(), other);
  EXPECT_NE(stack.Push(1, parent), first);
}

TEST(WorkspaceStackTest, InheritsFolderAndFilePolicyButNoBlobs) {
  Workspace parent("some/folder");
  parent.SetFileAccess(FileAccess::Off("ask somebody"));
  (void)parent.CreateBlob("outside");
  WorkspaceStack stack;
  const Workspace& inner = *stack.Push(1, parent)->ws;
  EXPECT_EQ(inner.RootFolder(), parent.RootFolder());
  EXPECT_TRUE(inner.file_access().is_off());
  EXPECT_FALSE(inner.HasBlob("outside"));
  Workspace free;
  EXPECT_EQ(stack.Push(1, free)->ws->file_access().is_off(), free.file_access().is_off());
}

TEST(WorkspaceStackTest, VisitsTheBlobsOfAllWorkspacesExceptBoundOnes) {
  Workspace parent;
  WorkspaceStack stack;
  const auto names = [&] {
    std::vector<int> found;
    stack.VisitOwnBlobs([&](const Blob& blob) { found.push_back(blob.Get<int>()); });
    return found;
  };
  EXPECT_TRUE(names().empty());
  const auto put = [](WorkspaceStack::Scope& scope, const std::string& name, int value) {
    *scope.ws->CreateBlob(name)->GetMutable<int>() = value;
  };
  const auto first = stack.Push(1, parent);
  put(*first, "a", 1);
  put(*first, "b", 2);
  first->bound["b"] = first->ws->GetBlob("b");
  const auto second = stack.Push(1, parent);
  put(*second, "a", 3);
  EXPECT_EQ(names(), (std::vector<int>{1, 3}));
  stack.Clear();  // the workspaces are kept
  EXPECT_EQ(names(), (std::vector<int>{1, 3}));
  first->bound.clear();
  EXPECT_THAT(names(), testing::UnorderedElementsAre(1, 2, 3));
}

// Through Do: a scope is a holder of blobs, and its nets open files as the outer workspace allows.
TEST(WorkspaceStackTest, IsVisitedThroughTheBlobOfTheScope) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {1, 2});
  ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(R"(type: "CreateScope" output: "S")")));
  ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(R"(type: "Do" input: "x" input: "S" output: "y"
    output: "S" arg { name: "inner_blobs" strings: "in" strings: "out" }
    arg { name: "outer_blobs_idx" ints: 0 ints: 1 }
    arg { name: "net" n { name: "n" op { type: "Scale" input: "in" output: "own"
      arg { name: "scale" f: 5 } } op { type: "Copy" input: "own" output: "out" } } })")));
  EXPECT_TRUE(IsBlobHolder(*ws.GetBlob("S")));
  std::vector<float> seen;
  VisitHeldBlobs(*ws.GetBlob("S"), [&](const Blob& blob) {
    const Tensor& tensor = blob.Get<Tensor>();
    seen.insert(seen.end(), tensor.data<float>(), tensor.data<float>() + tensor.numel());
  });
  EXPECT_EQ(seen, (std::vector<float>{5, 10}));  // "own", but neither "in" nor "out"
}

}  // namespace
}  // namespace caffe2rt::test::workspace_stack_test
