// Which blob a name denotes, what a workspace prints and logs, and what it leaves as it was.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::workspace_values_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

// What is logged while the object exists.
class Log {
 public:
  Log() {
    SetLogThreshold(internal::kLogWarning);
    SetLogSink([this](const LogEntry& entry) { texts_.emplace_back(entry.text); });
  }
  ~Log() {
    SetLogSink(nullptr);
    SetLogThreshold(threshold_);
  }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  const int threshold_ = LogThreshold();
  std::vector<std::string> texts_;
};

TEST(WorkspaceValuesTest, ANameDenotesTheNearestBlob) {
  Workspace source, parent;
  Blob* const forwarded = source.CreateBlob("target");
  Blob* const inherited = parent.CreateBlob("x");
  parent.CreateBlob("b");
  Workspace ws("folder", &parent);
  EXPECT_EQ(ws.RootFolder(), "folder");
  ws.CreateBlob("c");
  EXPECT_EQ(ws.FindBlob("x").get(), inherited);
  ws.AddBlobMapping(&source, {{"x", "target"}, {"a", "target"}});
  EXPECT_EQ(ws.FindBlob("x").get(), forwarded);
  EXPECT_EQ(ws.CreateBlob("x"), forwarded);
  EXPECT_FALSE(ws.RemoveBlob("x"));  // a mapping is not a blob of the workspace
  EXPECT_EQ(ws.FindBlob("x").get(), forwarded);
  EXPECT_THAT(ws.Blobs(), ElementsAre("a", "b", "c", "x"));
  EXPECT_THAT(ws.LocalBlobs(), ElementsAre("c"));
  Blob* const own = ws.CreateLocalBlob("x");
  EXPECT_NE(own, forwarded);
  EXPECT_EQ(ws.FindBlob("x").get(), own);
  EXPECT_THAT(ws.Blobs(), ElementsAre("a", "b", "c", "x"));
  EXPECT_TRUE(ws.RemoveBlob("x"));
  EXPECT_EQ(ws.FindBlob("x").get(), forwarded);
  EXPECT_EQ(parent.FindBlob("x").get(), inherited);
}

TEST(WorkspaceValuesTest, SkippedMappingsLeaveTheNameAndMakeTheOthers) {
  Workspace parent, ws;
  Blob* const a = parent.CreateBlob("a");
  Blob* const b = parent.CreateBlob("b");
  Blob* const own = ws.CreateBlob("own");
  ws.AddBlobMapping(&parent, {{"inner", "a"}});
  ws.AddBlobMapping(&parent, {{"inner", "b"}, {"own", "b"}, {"new", "b"}}, true);
  EXPECT_EQ(ws.FindBlob("inner").get(), a);
  EXPECT_EQ(ws.FindBlob("own").get(), own);
  EXPECT_EQ(ws.FindBlob("new").get(), b);
}

TEST(WorkspaceValuesTest, RenamingKeepsTheBlobAndRefusalsKeepItsName) {
  Workspace parent, ws;
  parent.CreateBlob("p");
  ws.AddBlobMapping(&parent, {{"mapped", "p"}});
  Feed<float>(&ws, "x", {2}, {1, 2});
  for (const char* taken : {"x", "mapped"}) {
    ExpectThrows([&] { ws.RenameBlob("x", taken); },
                 MakeString("cannot rename blob \"x\" to \"", taken, "\": that name is taken"));
    ExpectTensor<float>(ws, "x", {2}, {1, 2});
  }
  ws.RenameBlob("x", "y");
  ExpectTensor<float>(ws, "y", {2}, {1, 2});
  EXPECT_THAT(ws.LocalBlobs(), ElementsAre("y"));
}

TEST(WorkspaceValuesTest, CopiesTheNamedForwardedTensorsOnly) {
  Workspace parent;
  Feed<float>(&parent, "a", {2}, {1, 2});
  Feed<float>(&parent, "b", {1}, {3});
  Workspace ws(&parent, {{"x", "a"}, {"y", "b"}});
  Feed<float>(&ws, "own", {1}, {5});
  ws.CopyForwardedTensors({"missing", "own", "x"});
  EXPECT_FALSE(ws.HasBlob("missing"));
  ExpectTensor<float>(ws, "own", {1}, {5});
  ExpectTensor<float>(ws, "x", {2}, {1, 2});
  EXPECT_NE(ws.FindBlob("x"), parent.FindBlob("a"));
  EXPECT_EQ(ws.FindBlob("y"), parent.FindBlob("b"));
  // The mapping is gone, so the copy is the only blob of that name.
  EXPECT_TRUE(ws.RemoveBlob("x"));
  EXPECT_FALSE(ws.HasBlob("x"));
}

// A tensor that shares memory has no capacity of its own. Tensors of the same size are listed in
// descending order of their names.
TEST(WorkspaceValuesTest, PrintsTheLargestTensorsFirst) {
  Workspace ws;
  Feed<float>(&ws, "small", {1}, {1});
  Feed<float>(&ws, "a", {2}, {1, 2});
  Feed<float>(&ws, "b", {2}, {1, 2});
  Feed<double>(&ws, "large", {3}, {1, 2, 3});
  Feed<float>(&ws, "shrunk", {4}, {1, 2, 3, 4});
  ws.GetBlob("shrunk")->GetMutableTensor(CPU)->Resize(1);
  Tensor* const view = ws.CreateBlob("view")->GetMutableTensor(CPU);
  view->ResizeLike(ws.GetBlob("a")->Get<Tensor>());
  view->ShareData(ws.GetBlob("a")->Get<Tensor>());
  *ws.CreateBlob("number")->GetMutable<int>() = 1;
  const Log log;
  ws.PrintBlobSizes();
  EXPECT_THAT(log.texts(),
              ElementsAre("capacity bytes, bytes in use, blob\n24;24;large\n16;4;shrunk\n8;8;b\n"
                          "8;8;a\n4;4;small\n0;8;view"));
}

TEST(WorkspaceValuesTest, LogsWhatItDoesNotKnow) {
  Workspace ws;
  ws.CreateBlob("weights");
  const Log log;
  EXPECT_EQ(ws.GetBlob("weight"), nullptr);
  EXPECT_FALSE(ws.RunNet("n"));
  EXPECT_EQ(ws.CreateNet(ParseNet(R"(name: "n" type: "simpel")")), nullptr);
  EXPECT_EQ(ws.FindBlob("weight"), nullptr);
  EXPECT_EQ(ws.GetNet("n"), nullptr);
  EXPECT_THAT(
      log.texts(),
      ElementsAre("blob \"weight\" is not in the workspace; close: weights",
                  "net \"n\" is not in the workspace",
                  StartsWith("net \"n\" has type \"simpel\", which is not known; close: simple")));
}

// The numbers depend on the seed and on the output, and not on what ran before.
TEST(WorkspaceValuesTest, ASingleOperatorDrawsTheNumbersOfTheSeed) {
  const auto draw = [](std::optional<uint64_t> seed, const std::string& output, int runs = 1) {
    Workspace ws;
    ws.SetRandomSeed(seed);
    for (int run = 0; run < runs; ++run) {
      EXPECT_TRUE(ws.RunOperatorOnce(
          ParseOp("type: 'UniformFill' arg { name: 'shape' ints: 8 } output: '" + output + "'")));
    }
    return Fetch<float>(ws, output);
  };
  const std::vector<float> want = draw(5, "x");
  EXPECT_EQ(draw(5, "x"), want);
  EXPECT_EQ(draw(5, "x", 3), want);
  EXPECT_NE(draw(6, "x"), want);
  EXPECT_NE(draw(5, "y"), want);
  EXPECT_NE(draw(std::nullopt, "x"), draw(std::nullopt, "x"));
}

TEST(WorkspaceValuesTest, NetsGoWithoutTheirBlobs) {
  Workspace ws;
  for (const char* name : {"a", "b"}) {
    NetDef net =
        ParseNet(R"(op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 1 } })");
    net.set_name(name);
    net.mutable_op(0)->set_output(0, MakeString("of ", name));
    ASSERT_NE(ws.CreateNet(net), nullptr);
  }
  ASSERT_TRUE(ws.RunNet("a"));
  NetBase* const b = ws.GetNet("b");
  ws.DeleteNet("a");
  EXPECT_THAT(ws.Nets(), ElementsAre("b"));
  EXPECT_EQ(ws.GetNet("b"), b);
  EXPECT_TRUE(ws.RunNet("b"));
  ExpectTensor<float>(ws, "of a", {1}, {0});
  ws.DeleteNet("b");
  EXPECT_THAT(ws.Nets(), IsEmpty());
}

}  // namespace
}  // namespace caffe2rt::test::workspace_values_test
