// The operators on worlds, on ranks that are threads: several tensors of one rank, second runs on other sizes, the
// root, and what they check.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/operators/distributed/thread_ranks.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::collective_operators_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using Floats = std::vector<float>;

class CollectiveOperatorsTest : public testing::Test {
 protected:
  void SetUp() override { UseThreadEngine(); }
  void TearDown() override { UseThreadEngine(); }
};

// Runs `act` on each rank, in whose workspace "cw" is the world. The ranks end together.
void RunInWorlds(int size, const std::function<void(int rank, Workspace* ws)>& act) {
  const ThreadRanks ranks(size);
  RunRanks(size, [&](int rank) {
    const CommonWorldBlob world = ranks.World(rank);
    {
      Workspace ws;
      *ws.CreateBlob("cw")->GetMutable<CommonWorldBlob>() = world;
      act(rank, &ws);
    }
    world->Barrier({"the end"});
  });
}

NetBase* NetOfOp(Workspace* ws, const std::string& op) {
  NetDef def;
  def.set_name("n" + std::to_string(ws->Blobs().size()) + "_" + std::to_string(op.size()));
  *def.add_op() = ParseOp(op);
  return ws->CreateNet(def);
}

void FeedFloats(Workspace* ws, const std::string& name, const Floats& values) {
  Feed<float>(ws, name, {static_cast<int64_t>(values.size())}, values);
}
void ExpectFloats(const Workspace& ws, const std::string& name, const Floats& want) {
  ExpectTensor<float>(ws, name, {static_cast<int64_t>(want.size())}, want);
}

// Of two ranks; each adds its two tensors first. The second run has fewer elements, the third none, the fourth more.
TEST_F(CollectiveOperatorsTest, AllreduceAddsAllTensorsOfAllRanksInEachRun) {
  RunInWorlds(2, [](int rank, Workspace* ws) {
    const float r = static_cast<float>(rank);
    FeedFloats(ws, "x", {});
    FeedFloats(ws, "y", {});
    FeedFloats(ws, "z", {});
    NetBase* const net =
        NetOfOp(ws, R"(type: "Allreduce" input: "cw" input: "x" input: "y" input: "z"
        output: "x" output: "y" output: "z")");
    for (const size_t n : {3u, 2u, 0u, 5u}) {
      Floats x, y, z, sum;
      for (size_t i = 0; i < n; ++i) {
        const float k = static_cast<float>(i + n);
        x.push_back(k + r);
        y.push_back(10 * k);
        z.push_back(100 * r);
        sum.push_back(22 * k + 101);
      }
      FeedFloats(ws, "x", x);
      FeedFloats(ws, "y", y);
      FeedFloats(ws, "z", z);
      ASSERT_TRUE(net->Run());
      for (const char* name : {"x", "y", "z"}) ExpectFloats(*ws, name, sum);
    }
  });
}

// Ranks may give their devices different numbers; blobs of other names behind the scope disagree.
TEST_F(CollectiveOperatorsTest, RanksAgreeOnNamesBehindTheScope) {
  RunInWorlds(2, [](int rank, Workspace* ws) {
    const std::string x = "gpu_" + std::to_string(rank) + "/x";
    FeedFloats(ws, x, {1, static_cast<float>(rank)});
    RunOp(ws, "type: 'Allreduce' input: 'cw' input: '" + x + "' output: '" + x + "'");
    ExpectFloats(*ws, x, {2, 1});
  });
}

TEST_F(CollectiveOperatorsTest, AllreduceCoalescedAddsEachTensorInEachRun) {
  RunInWorlds(3, [](int rank, Workspace* ws) {
    const float r = static_cast<float>(rank);
    for (const char* name : {"x", "none", "y"}) FeedFloats(ws, name, {});
    const std::string op = R"(type: "AllreduceCoalesced" input: "cw" input: "x" input: "none"
        input: "y" output: "x" output: "none" output: "y")";
    NetBase* const net = NetOfOp(ws, op);
    struct Row {
      Floats x, y, sum_x, sum_y;
    };
    for (const Row& row :
         {Row{{r, 1}, {2, r, 3}, {3, 3}, {6, 3, 9}}, Row{{5 * r}, {7}, {15}, {21}},
          Row{{}, {r, r}, {}, {3, 3}}, Row{{1, 2, 3}, {4, 5}, {3, 6, 9}, {12, 15}}}) {
      FeedFloats(ws, "x", row.x);
      FeedFloats(ws, "y", row.y);
      // One rank makes its operator for each run.
      ASSERT_TRUE(rank == 2 ? ws->RunOperatorOnce(ParseOp(op)) : net->Run());
      ExpectFloats(*ws, "x", row.sum_x);
      ExpectFloats(*ws, "y", row.sum_y);
      ExpectFloats(*ws, "none", {});
    }
  });
}

TEST_F(CollectiveOperatorsTest, BroadcastCopiesTheFirstTensorOfTheRoot) {
  RunInWorlds(3, [](int rank, Workspace* ws) {
    const float r = static_cast<float>(rank);
    for (const int root : {0, 1, 2}) {
      const std::string op =
          MakeString(R"(type: "Broadcast" input: "cw" input: "x" input: "y" output: "x"
          output: "y" arg { name: "root" i: )",
                     root, " }");
      FeedFloats(ws, "x", {r, 2 * r});
      FeedFloats(ws, "y", {-1, -2});
      ASSERT_TRUE(ws->RunOperatorOnce(ParseOp(op)));
      const float from = static_cast<float>(root);
      ExpectFloats(*ws, "x", {from, 2 * from});
      ExpectFloats(*ws, "y", {from, 2 * from});
      Feed<int64_t>(ws, "x", {0, 3}, {});
      Feed<int64_t>(ws, "y", {0, 3}, {});
      ASSERT_TRUE(ws->RunOperatorOnce(ParseOp(op)));
      ExpectTensor<int64_t>(*ws, "y", {0, 3}, {});
    }
    FeedFloats(ws, "x", {r});
    FeedFloats(ws, "y", {-1});
    ASSERT_TRUE(ws->RunOperatorOnce(
        ParseOp(R"(type: "Broadcast" input: "cw" input: "x" input: "y" output: "x" output: "y")")));
    ExpectFloats(*ws, "x", {0});
  });
}

TEST_F(CollectiveOperatorsTest, ReduceGivesTheRootTheSumAndLeavesTheInput) {
  RunInWorlds(3, [](int rank, Workspace* ws) {
    FeedRange<int32_t>(ws, "x", {1});
    for (const int root : {0, 2}) {
      SCOPED_TRACE(root);
      NetBase* const net =
          NetOfOp(ws, MakeString(R"(type: "Reduce" input: "cw" input: "x" output: "y)", root,
                                 R"(" arg { name: "root" i: )", root, " }"));
      const std::string y = MakeString("y", root);
      Feed<int32_t>(ws, "x", {2, 1}, {rank, 10});
      ASSERT_TRUE(net->Run());
      EXPECT_EQ(DimsOf(*ws, y), std::vector<int64_t>({2, 1}));
      if (rank == root) ExpectTensor<int32_t>(*ws, y, {2, 1}, {3, 30});
      ExpectTensor<int32_t>(*ws, "x", {2, 1}, {rank, 10});
      Feed<int32_t>(ws, "x", {0}, {});
      ASSERT_TRUE(net->Run());
      ExpectTensor<int32_t>(*ws, y, {0}, {});
      Feed<int32_t>(ws, "x", {3}, {1, 2, rank});
      ASSERT_TRUE(net->Run());
      if (rank == root) ExpectTensor<int32_t>(*ws, y, {3}, {3, 6, 3});
    }
    Feed<int32_t>(ws, "x", {1}, {rank + 5});
    ASSERT_TRUE(
        ws->RunOperatorOnce(ParseOp(R"(type: "Reduce" input: "cw" input: "x" output: "y")")));
    if (rank == 0) ExpectTensor<int32_t>(*ws, "y", {1}, {18});
  });
}

TEST_F(CollectiveOperatorsTest, AllgatherCollectsTheTensorsOfEachRankInTheirOrder) {
  RunInWorlds(2, [](int rank, Workspace* ws) {
    const float r = static_cast<float>(rank);
    FeedFloats(ws, "x", {});
    FeedFloats(ws, "y", {});
    NetBase* const net =
        NetOfOp(ws, R"(type: "Allgather" input: "cw" input: "x" input: "y" output: "z")");
    FeedFloats(ws, "x", {r, 1});
    FeedFloats(ws, "y", {2, r + 3});
    ASSERT_TRUE(net->Run());
    ExpectFloats(*ws, "z", {0, 1, 2, 3, 1, 1, 2, 4});
    FeedFloats(ws, "x", {r});
    FeedFloats(ws, "y", {7});
    ASSERT_TRUE(net->Run());
    ExpectFloats(*ws, "z", {0, 7, 1, 7});
    FeedFloats(ws, "x", {});
    FeedFloats(ws, "y", {});
    ASSERT_TRUE(net->Run());
    ExpectFloats(*ws, "z", {});
    Feed<int64_t>(ws, "x", {3, 1}, {rank, 5, 6});
    ASSERT_TRUE(
        ws->RunOperatorOnce(ParseOp(R"(type: "Allgather" input: "cw" input: "x" output: "z")")));
    ExpectTensor<int64_t>(*ws, "z", {6}, {0, 5, 6, 1, 5, 6});
  });
}

// The sum of the four tensors is 5, 9, 13.
TEST_F(CollectiveOperatorsTest, ReduceScatterAddsTheTensorsOfARankFirst) {
  RunInWorlds(2, [](int rank, Workspace* ws) {
    const std::string op =
        R"(type: "ReduceScatter" input: "cw" input: "x" input: "y" input: "counts"
        output: "x" output: "y")";
    const float r = static_cast<float>(rank);
    FeedFloats(ws, "x", {r, 1, r});
    FeedFloats(ws, "y", {2, 3 + r, 6});
    Feed<int32_t>(ws, "counts", {2}, {1, 2});
    ASSERT_TRUE(ws->RunOperatorOnce(ParseOp(op)));
    for (const char* name : {"x", "y"}) {
      const Floats got = Fetch<float>(*ws, name);
      if (rank == 0) EXPECT_EQ(got[0], 5) << name;
      if (rank == 1) EXPECT_EQ(Floats(got.begin(), got.begin() + 2), Floats({9, 13})) << name;
    }
    FeedFloats(ws, "x", {});
    FeedFloats(ws, "y", {});
    Feed<int32_t>(ws, "counts", {2}, {0, 0});
    ASSERT_TRUE(ws->RunOperatorOnce(ParseOp(op)));
    ExpectFloats(*ws, "x", {});
  });
}

TEST_F(CollectiveOperatorsTest, MessagesNameTheirPeerByArgumentsOrByInputs) {
  RunInWorlds(3, [](int rank, Workspace* ws) {
    FeedFloats(ws, "x", {static_cast<float>(rank), 8});
    Feed<int64_t>(ws, "z", {1, 0}, {});
    Feed<int32_t>(ws, "to", {1}, {1});
    Feed<int32_t>(ws, "tag", {1}, {6});
    FeedFloats(ws, "y", {});
    const auto run = [ws](const std::string& op) { ASSERT_TRUE(ws->RunOperatorOnce(ParseOp(op))); };
    const std::string receive =
        R"(type: "ReceiveTensor" input: "cw" input: "y" output: "y" output: "from" output: "tagged" )";
    const auto expect = [ws](const Floats& values, int from, int tag) {
      ExpectFloats(*ws, "y", values);
      ExpectTensor<int32_t>(*ws, "from", {1}, {from});
      ExpectTensor<int32_t>(*ws, "tagged", {1}, {tag});
    };
    if (rank == 0) {
      run(R"(type: "SendTensor" input: "cw" input: "x" arg { name: "dst" i: 1 } arg { name: "tag" i: 4 })");
      // The inputs count, not the arguments.
      run(R"(type: "SendTensor" input: "cw" input: "x" input: "to" input: "tag" arg { name: "dst" i: 2 }
             arg { name: "tag" i: 5 })");
      run(R"(type: "SendTensor" input: "cw" input: "z" input: "to" input: "tag")");
      run(receive + R"(arg { name: "src" i: -1 } arg { name: "tag" i: 0 })");
      expect({2, 8}, 2, 0);
    } else if (rank == 1) {
      run(receive + R"(arg { name: "tag" i: 4 })");
      expect({0, 8}, 0, 4);
      run(receive + R"(arg { name: "src" i: 0 } arg { name: "tag" i: -1 })");
      expect({0, 8}, 0, 6);
      Feed<int32_t>(ws, "src", {1}, {0});
      run(R"(type: "ReceiveTensor" input: "cw" input: "y" input: "src" input: "tag" output: "y" output: "src"
             output: "tag" arg { name: "src" i: 2 } arg { name: "tag" i: 9 })");
      ExpectTensor<int64_t>(*ws, "y", {1, 0}, {});
      ExpectTensor<int32_t>(*ws, "src", {1}, {0});
      ExpectTensor<int32_t>(*ws, "tag", {1}, {6});
    } else {
      run(R"(type: "SendTensor" input: "cw" input: "x")");
    }
  });
}

// No rank comes to an exchange, so that the check of each is its own.
TEST_F(CollectiveOperatorsTest, InputsAreCheckedBeforeTheExchange) {
  RunInWorlds(2, [](int, Workspace* ws) {
    FeedFloats(ws, "x", {1, 2});
    FeedFloats(ws, "y", {3});
    FeedFloats(ws, "w", {3, 4});
    Feed<int64_t>(ws, "i", {2}, {1, 2});
    Feed<bool>(ws, "b", {2}, {true, false});
    Feed<bool>(ws, "c", {2}, {true, false});
    Feed<int32_t>(ws, "counts", {2}, {2, 1});
    const auto in_place = [](const std::string& type, const std::string& a, const std::string& b) {
      return MakeString("type: '", type, "' input: 'cw' input: '", a, "' input: '", b,
                        "' output: '", a, "' output: '", b, "'");
    };
    const auto expect = [ws](const std::string& op, const std::string& part) {
      ExpectThrows([&] { (void)ws->RunOperatorOnce(ParseOp(op)); }, part);
    };
    for (const char* type : {"Allreduce", "Broadcast"}) {
      expect(in_place(type, "x", "y"),
             "elements of input 2, want as many as input 1 has (got 1, want 2)");
      expect(in_place(type, "x", "i"), "input 2 is of type ");
    }
    expect(in_place("AllreduceCoalesced", "x", "i"), "input 2 is of type ");
    expect(in_place("Allreduce", "b", "c"),
           "cannot be added, want float, double, float16, bfloat16, or ");
    expect("type: 'Allgather' input: 'cw' input: 'x' input: 'y' output: 'z'",
           "input 2 has 1 elements of type float, want 2 of type float, as input 1");
    expect("type: 'Allgather' input: 'cw' input: 'x' input: 'i' output: 'z'",
           "input 2 has 2 elements of type ");
    const std::string scatter = "type: 'ReduceScatter' input: 'cw' input: 'x' ";
    expect(scatter + "input: 'counts' output: 'x'",
           "sum of the last input (counts), want the elements of input 1 (got 3, want 2)");
    expect(scatter + "input: 'w' output: 'x'", "int");
    expect("type: 'SendTensor' input: 'cw' input: 'x' input: 'counts' input: 'counts'",
           "elements of input 2 (dst)");
    ExpectFloats(*ws, "x", {1, 2});
    ExpectFloats(*ws, "y", {3});
  });
}

TEST_F(CollectiveOperatorsTest, WorldsNeedANameAndAnEngine) {
  const auto message = [](const std::string& rest) {
    return MessageOf([&] {
      Workspace ws;
      (void)ws.RunOperatorOnce(
          ParseOp("type: 'CreateCommonWorld' output: 'cw' arg { name: 'rank' i: 0 } " + rest));
    });
  };
  const std::string no_engine =
      "the operator names no engine, want one that connects processes, such as GLOO";
  EXPECT_THAT(message("name: 'w' arg { name: 'size' i: 2 }"), EndsWith(no_engine));
  EXPECT_THAT(message("arg { name: 'size' i: 1 }"),
              EndsWith("the operator has no name, want one: it is the prefix of the world's keys"));
  EXPECT_THAT(
      message("name: 'w' arg { name: 'size' i: 1 } arg { name: 'mpi_rendezvous' i: 1 }"),
      EndsWith("argument mpi_rendezvous is true, but MPI is not available: give the operator a "
               "store handler"));
  EXPECT_EQ(MessageOf([] { (void)EnforceCollectiveEngine(""); }), no_engine);
  for (const std::string name : {"NO SUCH", "../GLOO"}) {
    EXPECT_EQ(MessageOf([&] { (void)EnforceCollectiveEngine(name); }),
              "engine \"" + name +
                  "\" of collectives, want letters, digits and underscores, such as GLOO");
  }
  EXPECT_THAT(MessageOf([] { (void)EnforceCollectiveEngine("ABSENT_7"); }),
              HasSubstr("libcaffe2_absent_7"));
}

// Engines that are registered are listed with their descriptions, and those that were not found are not.
TEST_F(CollectiveOperatorsTest, EnginesAreListedWithWhatTheyAre) {
  static constexpr CollectiveEngine kSilent{};
  RegisterCollectiveEngine("SILENT", &kSilent);
  EXPECT_EQ(&EnforceCollectiveEngine("SILENT"), &kSilent);
  EXPECT_THROW((void)EnforceCollectiveEngine("ABSENT_8"), EnforceNotMet);
  std::map<std::string, CollectiveEnginePresence> engines;
  for (const CollectiveEnginePresence& engine : FindCollectiveEngines()) {
    EXPECT_TRUE(engines.emplace(engine.name, engine).second) << engine.name;
  }
  EXPECT_FALSE(engines.contains("ABSENT_8"));
  ASSERT_TRUE(engines.contains("THREADS"));
  EXPECT_TRUE(engines.at("THREADS").available);
  EXPECT_EQ(engines.at("THREADS").detail, "memory of the process");
  ASSERT_TRUE(engines.contains("SILENT"));
  EXPECT_TRUE(engines.at("SILENT").available);
  EXPECT_EQ(engines.at("SILENT").detail, "");
  ASSERT_TRUE(engines.contains("GLOO"));
  EXPECT_NE(engines.at("GLOO").detail, "");
  RegisterCollectiveEngine("SILENT", nullptr);
  EXPECT_THROW((void)EnforceCollectiveEngine("SILENT"), EnforceNotMet);
}

TEST_F(CollectiveOperatorsTest, AFailureIsInTheStatusIfItIsGiven) {
  RunInWorlds(2, [](int rank, Workspace* ws) {
    FeedFloats(ws, "x", {static_cast<float>(rank)});
    FeedFloats(ws, "y", {3, 4});
    Feed<int32_t>(ws, "state", {2}, {7, 7});
    NetBase* const net =
        NetOfOp(ws, R"(type: "Allreduce" input: "cw" input: "x" input: "y" output: "x"
        output: "y" arg { name: "status_blob" s: "state" })");
    ExpectTensor<int32_t>(*ws, "state", {1}, {0});
    FeedFloats(ws, "y", {3});
    ASSERT_TRUE(net->Run());
    ExpectTensor<int32_t>(*ws, "state", {1}, {0});
    ExpectFloats(*ws, "x", {7});
    FeedFloats(ws, "y", {3, 4});
    EXPECT_THROW(
        {
          if (!net->Run()) CAFFE_THROW("the operator returned false");
        },
        EnforceNotMet);
    ExpectTensor<int32_t>(*ws, "state", {1}, {1});
    ws->CreateBlob("none")->GetMutable<CommonWorldBlob>();
    ExpectThrows([&] { (void)ws->RunOperatorOnce(ParseOp("type: 'Barrier' input: 'none'")); },
                 "input 0 (comm_world) has been destroyed");
  });
}

}  // namespace
}  // namespace caffe2rt::test::collective_operators_test
