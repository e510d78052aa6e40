// The arguments of the operators that create worlds and clones, as the engine and the store see them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <mutex>

#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/operators/distributed/thread_ranks.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::world_options_test {
namespace {

using std::chrono::milliseconds;

class WorldOptionsTest : public testing::Test {
 protected:
  void SetUp() override { UseThreadEngine(); }
  void TearDown() override { UseThreadEngine(); }

  // The options that the engine of both ranks gets. Each rank runs the operator `runs` times.
  std::vector<TransportOptions> Connect(const std::string& arguments, int runs = 1) {
    std::mutex mutex;
    std::vector<TransportOptions> seen;
    UseThreadEngine({.connecting = [&](const TransportOptions& options, TransportBootstrap&) {
      const std::lock_guard<std::mutex> lock(mutex);
      seen.push_back(options);
    }});
    const ThreadRanks ranks(2);
    RunRanks(2, [&](int rank) {
      Workspace ws;
      *ws.CreateBlob("store")->GetMutable<StoreBlob>() = ranks.Store();
      NetDef def;
      def.set_name("n");
      *def.add_op() = ParseOp(MakeString(
          "type: 'CreateCommonWorld' name: 'cw' engine: 'THREADS' input: 'store' output: 'world' "
          "arg { name: 'size' i: 2 } arg { name: 'rank' i: ",
          rank, " } ", arguments));
      NetBase* const net = ws.CreateNet(def);
      for (int run = 0; run < runs; ++run) {
        ASSERT_TRUE(net->Run());
        const CommonWorldBlob& world = ws.GetBlob("world")->Get<CommonWorldBlob>();
        EXPECT_EQ(world->name(), "cw");
        EXPECT_EQ(world->rank(), rank);
        generations_[rank] = world->generation();
        world->Barrier({"b"});
      }
    });
    EXPECT_TRUE(std::filesystem::is_empty(ranks.folder()));
    return seen;
  }
  int generations_[2] = {-1, -1};
};

TEST_F(WorldOptionsTest, TimeoutsAboveZeroCountAndOthersAreHalfAMinute) {
  const std::pair<std::string, int> rows[] = {{"", 30000},
                                              {"arg { name: 'timeout_ms' i: 0 }", 30000},
                                              {"arg { name: 'timeout_ms' i: -1 }", 30000},
                                              {"arg { name: 'timeout_ms' i: 900 }", 900},
                                              {"arg { name: 'timeout_ms' i: 60001 }", 60001}};
  for (const auto& [argument, want] : rows) {
    const std::vector<TransportOptions> seen = Connect(argument);
    ASSERT_EQ(seen.size(), 2u);
    for (const TransportOptions& options : seen) EXPECT_EQ(options.timeout, milliseconds(want));
  }
}

TEST_F(WorldOptionsTest, TransportAddressAndGenerationAreThoseOfTheArguments) {
  for (const TransportOptions& options : Connect("")) {
    EXPECT_EQ(options.transport, "tcp");
    EXPECT_EQ(options.address, "127.0.0.1");
    EXPECT_EQ(options.world, "cw");
    EXPECT_EQ(options.size, 2);
  }
  EXPECT_EQ(generations_[0], 0);
  EXPECT_EQ(generations_[1], 0);
  for (const TransportOptions& options :
       Connect("arg { name: 'transport' s: 'memory' } arg { name: 'interface' s: '127.0.0.2' } "
               "arg { name: 'generation' i: 3 }")) {
    EXPECT_EQ(options.transport, "memory");
    EXPECT_EQ(options.address, "127.0.0.2");
  }
  EXPECT_EQ(generations_[0], 3);
  EXPECT_EQ(generations_[1], 3);
}

// The earlier world is left first, because its keys have the same names.
TEST_F(WorldOptionsTest, AWorldIsReplacedByTheNextRun) { EXPECT_EQ(Connect("", 3).size(), 6u); }

// No other rank comes: the error has the time that was waited, and the key is gone.
TEST_F(WorldOptionsTest, ARankThatIsAloneNamesItsTimeout) {
  const ThreadRanks ranks(2);
  for (int rank = 0; rank < 2; ++rank) {
    Workspace ws;
    *ws.CreateBlob("store")->GetMutable<StoreBlob>() = ranks.Store();
    const std::string got = MessageOf([&] {
      (void)ws.RunOperatorOnce(ParseOp(MakeString(
          "type: 'CreateCommonWorld' name: 'cw' engine: 'THREADS' input: 'store' output: 'world' "
          "arg { name: 'size' i: 2 } arg { name: 'timeout_ms' i: 40 } arg { name: 'rank' i: ",
          rank, " }")));
    });
    EXPECT_TRUE(got.ends_with(MakeString("world \"cw\" (rank ", rank,
                                         " of 2) cannot be created: rank ", 1 - rank,
                                         " did not come within 40 ms: no key in the "
                                         "store in folder \"",
                                         ranks.folder(), "\"")))
        << got;
    EXPECT_TRUE(std::filesystem::is_empty(ranks.folder()));
  }
}

// A clone has the name of its operator, or that of its output, in each run.
TEST_F(WorldOptionsTest, ClonesAreNamedAfterTheirOperator) {
  Workspace ws;
  const auto run = [&](const std::string& op) {
    NetDef def;
    def.set_name("n");
    *def.add_op() = ParseOp(op);
    NetBase* const net = ws.CreateNet(def, /*overwrite=*/true);
    for (int times = 0; times < 2; ++times) ASSERT_TRUE(net->Run());
  };
  const auto name_of = [&](const std::string& blob) {
    return ws.GetBlob(blob)->Get<CommonWorldBlob>()->name();
  };
  run("type: 'CreateCommonWorld' name: 'cw' output: 'world' arg { name: 'size' i: 1 } "
      "arg { name: 'rank' i: 0 }");
  run("type: 'CloneCommonWorld' input: 'world' output: 'scope/copy'");
  EXPECT_EQ(name_of("scope/copy"), "scope/copy");
  run("type: 'CloneCommonWorld' name: 'named' input: 'scope/copy' output: 'other'");
  EXPECT_EQ(name_of("other"), "named");
  EXPECT_EQ(name_of("world"), "cw");
  const std::string taken =
      MessageOf([&] { run("type: 'CloneCommonWorld' name: 'named' input: 'world' output: 'x'"); });
  EXPECT_TRUE(taken.ends_with(
      "world \"cw\" has a clone with the name \"named\" already, want another name"))
      << taken;
  ws.RemoveBlob("other");
  run("type: 'CloneCommonWorld' name: 'named' input: 'world' output: 'x'");
  EXPECT_EQ(name_of("x"), "named");
}

}  // namespace
}  // namespace caffe2rt::test::world_options_test
