// Nets with collectives, on ranks that are processes, and what operators check.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/graph/dependencies.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "operators/distributed/collective_engine.h"
#include "tests/operators/distributed/rank_processes.h"
#include "tests/support/operator_test.h"

extern "C" const caffe2rt::CollectiveEngine* caffe2rt_gloo_engine();

namespace caffe2rt::test::collective_nets_test {
namespace {

using testing::HasSubstr;

constexpr char kInitNet[] = R"(
  name: "init"
  op { type: "FileStoreHandlerCreate" output: "store" arg { name: "path" s: "@FOLDER@" } arg { name: "prefix" s: "run" } }
  op { type: "CreateCommonWorld" name: "cw_op" input: "store" output: "cw" engine: "GLOO"
       arg { name: "size" i: @SIZE@ } arg { name: "rank" i: @RANK@ } arg { name: "timeout_ms" i: @TIMEOUT@ }
       arg { name: "transport" s: "tcp" } arg { name: "interface" s: "" } arg { name: "status_blob" s: "cw_status" } }
  op { type: "CloneCommonWorld" name: "cw_1_op" input: "cw" output: "cw_1" engine: "GLOO" }
)";

NetDef NetOf(const std::string& text) {
  NetDef net;
  ParseTextProto(text, "net", &net);
  return net;
}

TEST(CollectiveNetsTest, RunOnTwoRanks) {
  const TempDir files;
  const std::string init = files.Write("init.pbtxt", kInitNet);
  const std::string run = files.Write("run.pbtxt", R"(
    name: "run" type: "dag" num_workers: 2
    op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 3 } arg { name: "value" f: @RANK@ } }
    op { type: "ConstantFill" output: "y" arg { name: "shape" ints: 3 } arg { name: "value" f: 2 } }
    op { type: "ConstantFill" output: "z" arg { name: "shape" ints: 2 } arg { name: "value" f: @RANK@ } }
    op { type: "GivenTensorIntFill" output: "counts" arg { name: "shape" ints: 2 } arg { name: "values" ints: 2 ints: 1 } }
    op { type: "Copy" input: "x" output: "r" }
    op { type: "Allreduce" input: "cw" input: "x" input: "y" output: "x" output: "y" engine: "GLOO" }
    op { type: "Broadcast" input: "cw_1" input: "z" output: "z" arg { name: "root" i: 1 } engine: "GLOO" }
    op { type: "Barrier" input: "cw" engine: "GLOO" }
    op { type: "Allgather" input: "cw_1" input: "z" input: "z" output: "g" engine: "GLOO" }
    op { type: "ReduceScatter" input: "cw" input: "r" input: "counts" output: "r" engine: "GLOO" }
    op { type: "Reduce" input: "cw" input: "y" output: "sum" }
    op { type: "StoreAdd" input: "store" output: "n" arg { name: "blob_name" s: "n" } }
    op { type: "Barrier" input: "cw" engine: "GLOO" }
    op { type: "StoreAdd" input: "store" output: "m" arg { name: "blob_name" s: "n" } arg { name: "add_value" i: 0 } }
    op { type: "DestroyCommonWorld" input: "cw" output: "cw" }
  )");
  RankProcesses ranks("nets", 2, 20000, {init, run, "x", "y", "z", "g", "m", "cw_status"});
  // x is rank + 2, summed over the ranks: 0 + 2 + 1 + 2.
  for (const RankResult& result : ranks.Wait()) {
    EXPECT_EQ(result.out, "x 5 5 5\ny 5 5 5\nz 1 1\ng 1 1 1 1 1 1 1 1\nm 2\ncw_status 0\n");
  }
}

TEST(CollectiveNetsTest, AddTensorsOfSeveralSizesInOneExchange) {
  const TempDir files;
  const std::string init = files.Write("init.pbtxt", kInitNet);
  const std::string run = files.Write("run.pbtxt", R"(
    name: "run"
    op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 3 } arg { name: "value" f: @RANK@ } }
    op { type: "ConstantFill" output: "none" arg { name: "shape" ints: 0 } arg { name: "value" f: 7 } }
    op { type: "ConstantFill" output: "y" arg { name: "shape" ints: 2 } arg { name: "value" f: 4 } }
    op { type: "AllreduceCoalesced" input: "cw" input: "x" input: "none" input: "y"
         output: "x" output: "none" output: "y" engine: "GLOO" }
  )");
  RankProcesses ranks("nets", 3, 20000, {init, run, "x", "none", "y"});
  for (const RankResult& result : ranks.Wait()) EXPECT_EQ(result.out, "x 3 3 3\nnone\ny 12 12\n");
}

// Both ranks have four elements, but 1 + 3 and 2 + 2.
TEST(CollectiveNetsTest, RejectTensorsOfDifferentSizesInOneExchange) {
  const TempDir files;
  const std::string init = files.Write("init.pbtxt", kInitNet);
  const auto write = [&](const char* name, int x, int y) {
    return files.Write(name, MakeString(R"(name: "run"
      op { type: "ConstantFill" output: "x" arg { name: "shape" ints: )",
                                        x, R"( } }
      op { type: "ConstantFill" output: "y" arg { name: "shape" ints: )",
                                        y, R"( } }
      op { type: "AllreduceCoalesced" input: "cw" input: "x" input: "y" output: "x" output: "y" })"));
  };
  RankProcesses ranks;
  ranks.Start("nets", 0, 2, 20000, {init, write("a.pbtxt", 1, 3)});
  ranks.Start("nets", 1, 2, 20000, {init, write("b.pbtxt", 2, 2)});
  for (const RankResult& result : ranks.Wait()) {
    EXPECT_EQ(result.code, 4);
    EXPECT_THAT(result.out,
                HasSubstr("of 4 elements of type float, with other numbers of elements"));
  }
}

TEST(CollectiveNetsTest, HandBlobsOnThroughTheStore) {
  const TempDir files;
  const std::string net = files.Write("net.pbtxt", R"(
    name: "stores"
    op { type: "FileStoreHandlerCreate" output: "store" arg { name: "path" s: "@FOLDER@" } arg { name: "prefix" s: "blobs" } }
    op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 2 } arg { name: "value" f: @RANK@ } }
    op { type: "StoreSet" input: "store" input: "x" arg { name: "blob_name" s: "of @RANK@" } }
    op { type: "StoreWait" input: "store" arg { name: "blob_names" strings: "of 0" strings: "of 1" } }
    op { type: "StoreGet" input: "store" output: "a" arg { name: "blob_name" s: "of 0" } }
    op { type: "StoreGet" input: "store" output: "b" arg { name: "blob_name" s: "of 1" } }
  )");
  RankProcesses ranks("nets", 2, 20000, {net, "a", "b"});
  for (const RankResult& result : ranks.Wait()) EXPECT_EQ(result.out, "a 0 0\nb 1 1\n");
}

TEST(CollectiveNetsTest, AddTheFramesOfTheNetToTheLossOfARank) {
  const TempDir files;
  const std::string init = files.Write("init.pbtxt", kInitNet);
  const std::string run = files.Write("run.pbtxt", R"(
    name: "training" op { type: "Barrier" name: "first" input: "cw" engine: "GLOO" })");
  RankProcesses ranks;
  ranks.Start("nets", 0, 2, 20000, {init, run, run});
  ranks.Start("nets", 1, 2, 20000, {init, run});
  const std::vector<RankResult> results = ranks.Wait();
  EXPECT_THAT(results[0].out, HasSubstr("lost 1: net \"training\", operator 0 (Barrier"));
  EXPECT_THAT(
      results[0].out,
      HasSubstr("Barrier \"first\" of world \"cw_op\": rank 1 did not answer: it has left"));
  EXPECT_EQ(results[1].code, 0) << results[1].out;
}

TEST(CollectiveNetsTest, KeepTheirOrderOnDifferentWorlds) {
  const NetDef net = NetOf(R"(
    op { type: "Allreduce" input: "cw_0" input: "a" output: "a" }
    op { type: "Relu" input: "x" output: "y" }
    op { type: "Allreduce" input: "cw_1" input: "b" output: "b" }
    op { type: "Barrier" input: "cw_2" }
  )");
  const NetDependencies dependencies(net);
  EXPECT_THAT(dependencies.predecessors(2), testing::ElementsAre(0));
  EXPECT_THAT(dependencies.predecessors(3), testing::ElementsAre(2));
  EXPECT_TRUE(dependencies.predecessors(1).empty());
}

TEST(CollectiveNetsTest, RejectWhatOperatorsCannotDo) {
  const struct {
    const char* net;
    const char* error;
  } cases[] = {
      {R"(op { type: "CreateCommonWorld" name: "a" output: "cw" arg { name: "size" i: 2 } arg { name: "rank" i: 0 } })",
       "the operator names no engine, want one that connects processes, such as GLOO"},
      {R"(op { type: "CreateCommonWorld" output: "cw" arg { name: "size" i: 1 } arg { name: "rank" i: 0 } })",
       "the operator has no name, want one: it is the prefix of the world's keys"},
      {R"(op { type: "CreateCommonWorld" name: "a" output: "cw" engine: "NCCL" arg { name: "size" i: 1 } arg { name: "rank" i: 0 } })",
       "engine NCCL: libcaffe2_nccl.so is not in "},
      {R"(op { type: "CreateCommonWorld" name: "a" output: "cw" arg { name: "size" i: 1 } arg { name: "rank" i: 1 } })",
       "has rank 1 and size 1, want a rank from 0 to size - 1"},
      {R"(op { type: "CreateCommonWorld" name: "a" output: "cw" arg { name: "size" i: 1 } arg { name: "rank" i: 0 } }
          op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 3 } }
          op { type: "ConstantFill" output: "y" arg { name: "shape" ints: 2 } }
          op { type: "Allreduce" input: "cw" input: "x" input: "y" output: "x" output: "y" })",
       "elements of input 2, want as many as input 1 has"},
      {R"(op { type: "CreateCommonWorld" name: "a" output: "cw" arg { name: "size" i: 1 } arg { name: "rank" i: 0 } }
          op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 3 } }
          op { type: "GivenTensorIntFill" output: "y" arg { name: "shape" ints: 1 } arg { name: "values" ints: 1 } }
          op { type: "AllreduceCoalesced" input: "cw" input: "x" input: "y" output: "x" output: "y" })",
       "input 2 is of type int32, want float, the type of input 1"},
      {R"(op { type: "CreateCommonWorld" name: "a" output: "cw" arg { name: "size" i: 1 } arg { name: "rank" i: 0 } }
          op { type: "DestroyCommonWorld" input: "cw" output: "cw" }
          op { type: "Barrier" input: "cw" })",
       "cw"},
      {R"(op { type: "FileStoreHandlerCreate" output: "s" arg { name: "path" s: "/no/such/folder" } })",
       "want an existing folder that all ranks see"},
  };
  for (const auto& one : cases) {
    Workspace ws;
    ExpectThrows([&] { ws.RunNetOnce(NetOf(MakeString("name: \"n\" ", one.net))); }, one.error);
  }
}

TEST(CollectiveNetsTest, RejectATransportThatTheirEngineDoesNotHave) {
  RegisterCollectiveEngine("GLOO", caffe2rt_gloo_engine());
  Workspace ws;
  const NetDef net = NetOf(R"(name: "n"
    op { type: "CreateCommonWorld" name: "a" output: "cw" engine: "GLOO" arg { name: "size" i: 1 }
         arg { name: "rank" i: 0 } arg { name: "transport" s: "ibverbs" } })");
  ExpectThrows([&] { ws.RunNetOnce(net); },
               "world \"a\" has transport \"ibverbs\", which engine GLOO does not have");
}

TEST(CollectiveNetsTest, WriteTheirFailureToTheStatusBlob) {
  Workspace ws;
  ASSERT_TRUE(ws.RunNetOnce(NetOf(R"(name: "init"
    op { type: "CreateCommonWorld" name: "a" output: "cw" arg { name: "size" i: 1 } arg { name: "rank" i: 0 } }
    op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 3 } })")));
  const NetDef run = NetOf(R"(name: "run"
    op { type: "Broadcast" input: "cw" input: "x" output: "x" arg { name: "root" i: 1 }
         arg { name: "status_blob" s: "status" } })");
  const auto status = [&ws] { return ws.GetBlob("status")->Get<Tensor>().data<int32_t>()[0]; };
  NetBase* const net = ws.CreateNet(run);
  EXPECT_EQ(status(), 0);
  ExpectThrows([&] { net->Run(); }, "the operator reports a failure");
  EXPECT_EQ(status(), 1);
}

TEST(CollectiveNetsTest, MayNotCreateStoresOutsideOfTheFilePolicy) {
  const TempDir allowed, forbidden;
  Workspace ws;
  ws.SetFileAccess(FileAccess::Below({allowed.path()}));
  const auto create = [&ws](const std::string& path) {
    return ws.RunNetOnce(
        NetOf(MakeString(R"(name: "n" op { type: "FileStoreHandlerCreate" output: "s"
      arg { name: "prefix" s: "../run" } arg { name: "path" s: ")",
                         path, "\" } }")));
  };
  EXPECT_TRUE(create(allowed.path()));
  ExpectThrows([&] { create(forbidden.path()); }, forbidden.path());
}

}  // namespace
}  // namespace caffe2rt::test::collective_nets_test
