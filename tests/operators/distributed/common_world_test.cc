#include "operators/distributed/common_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <thread>

#include "tests/operators/distributed/rank_processes.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::common_world_test {
namespace {

using testing::AnyOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr int kTimeoutMs = 20000;
// For tests that wait until the time is over. In half of it all processes must start, meet and
// answer, on a busy machine too.
constexpr int kShortTimeoutMs = 10000;

int FromEnvironment(const char* name, int otherwise) {
  const char* const value = std::getenv(name);
  return value != nullptr ? std::atoi(value) : otherwise;
}

void ExpectNoKeysLeft(const RankProcesses& ranks) {
  EXPECT_FALSE(std::filesystem::exists(ranks.folder().path("run")))
      << "the store's folder is removed at the end";
}

std::string KeyFile(size_t rank) { return MakeString("run/world%2fgeneration_0%2frank_", rank); }

class CommonWorldTest : public testing::TestWithParam<int> {};

// The program compares with a plain sum, and prints hashes of sums that depend on the order.
TEST_P(CommonWorldTest, CollectivesEqualPlainSumsAndGiveAllRanksTheSameBytes) {
  std::string first;
  for (int run = 0; run < (GetParam() == 3 ? 2 : 1); ++run) {
    RankProcesses ranks("types", GetParam(), kTimeoutMs);
    for (const RankResult& result : ranks.Wait()) {
      EXPECT_EQ(result.code, 0) << result.out;
      EXPECT_THAT(result.out, Not(HasSubstr("WRONG")));
      EXPECT_THAT(result.out, HasSubstr("done"));
      if (first.empty()) first = result.out;
      EXPECT_EQ(result.out, first);
    }
    ExpectNoKeysLeft(ranks);
  }
}
INSTANTIATE_TEST_SUITE_P(Ranks, CommonWorldTest, testing::Values(1, 2, 3, 4, 5));

TEST(CommonWorldTest, ClonesRunAtTheSameTimeInAnyOrder) {
  RankProcesses ranks("clones", 3, kTimeoutMs);
  for (const RankResult& result : ranks.Wait()) EXPECT_EQ(result.out, "done\n");
}

TEST(CommonWorldTest, RunsTheCollectivesOfSeveralThreadsOneAtATime) {
  RankProcesses ranks("threads", 2, kTimeoutMs);
  for (const RankResult& result : ranks.Wait()) EXPECT_EQ(result.out, "done\n");
}

TEST(CommonWorldTest, CanBeLeftWhileOthersCreateIt) {
  RankProcesses ranks("brief", 3, kTimeoutMs);
  for (const RankResult& result : ranks.Wait()) EXPECT_EQ(result.out, "done\n");
}

// Nobody is lost: each rank waits for the other one, which is in an operation of another clone.
TEST(CommonWorldTest, StatesWhereRanksAreThatWaitForEachOther) {
  RankProcesses ranks("crossed", 2, kShortTimeoutMs);
  for (const RankResult& result : ranks.Wait()) {
    EXPECT_EQ(result.code, 3);
    EXPECT_THAT(result.out, StartsWith("lost : world \"world\""));
    EXPECT_THAT(result.out, HasSubstr(MakeString("the ranks wait for each other for ",
                                                 kShortTimeoutMs, " ms (timeout_ms): rank ")));
    EXPECT_THAT(result.out, HasSubstr("rank 0 is in Barrier \"b\" of world \"world\""));
    EXPECT_THAT(result.out, HasSubstr("rank 1 is in Barrier \"b\" of world \"clone\""));
  }
}

TEST(CommonWorldTest, StatesBothSidesIfOperationsDifferAndGoesOn) {
  const struct {
    const char* words[2];
    const char* wanted[2];
  } cases[] = {
      {{"sum:10", "sum:11"}, {"of 10 elements of type float", "of 11 elements of type float"}},
      {{"sum:10", "sum:0"}, {"of 10 elements of type float", "of 0 elements of type float"}},
      {{"sum:10", "double:10"}, {"of 10 elements of type float", "of 10 elements of type double"}},
      {{"label:a", "label:b"}, {"Allreduce \"a\"", "Allreduce \"b\""}},
      {{"root:0", "root:1"}, {"with root 0", "with root 1"}},
      {{"barrier:", "sum:3"}, {"Barrier \"x\"", "Allreduce \"x\" of 3"}},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.words[1]);
    RankProcesses ranks("different", 2, kTimeoutMs, {one.words[0], one.words[1]});
    const std::vector<RankResult> results = ranks.Wait();
    for (size_t rank = 0; rank < 2; ++rank) {
      EXPECT_THAT(results[rank].out,
                  StartsWith("error: world \"world\": the ranks started different operations as "
                             "number 0: rank "));
      EXPECT_THAT(results[rank].out, HasSubstr(one.wanted[0]));
      EXPECT_THAT(results[rank].out, HasSubstr(one.wanted[1]));
      EXPECT_THAT(results[rank].out, HasSubstr("after 2\n"));
    }
  }
}

TEST(CommonWorldTest, NamesRanksThatDoNotCome) {
  RankProcesses ranks;
  ranks.Start("meet", 0, 3, kShortTimeoutMs);
  ranks.Start("meet", 2, 3, kShortTimeoutMs);
  for (const RankResult& result : ranks.Wait()) {
    EXPECT_THAT(result.out, StartsWith("lost 1: world \"world\" (rank "));
    EXPECT_THAT(result.out, HasSubstr("rank 1 did not"));
  }
  ExpectNoKeysLeft(ranks);
}

TEST(CommonWorldTest, RejectsARankTooMany) {
  RankProcesses ranks;
  ranks.Start("meet", 0, 3, kTimeoutMs);
  ranks.Start("meet", 1, 2, kTimeoutMs);
  const std::vector<RankResult> results = ranks.Wait();
  const std::string out = results[0].out + results[1].out;
  EXPECT_THAT(out, HasSubstr("world \"world\" has size "));
  for (const RankResult& result : results) EXPECT_NE(result.code, 0);
}

TEST(CommonWorldTest, RejectsARankThatExistsTwice) {
  RankProcesses ranks;
  ranks.Start("meet", 0, 2, kTimeoutMs);
  ranks.WaitForKeyOrOutput(0, KeyFile(0), "\n");
  ranks.Start("meet", 0, 2, kTimeoutMs);
  ranks.WaitForKeyOrOutput(1, "", "\n");  // it fails while rank 0 waits
  ranks.Start("meet", 1, 2, kTimeoutMs);
  const std::vector<RankResult> results = ranks.Wait();
  EXPECT_EQ(results[0].out, "done\n");
  EXPECT_THAT(
      results[1].out,
      StartsWith("error: world \"world\" cannot be created: key \"world/generation_0/rank_0\" "
                 "exists in the store in folder "));
  EXPECT_THAT(results[1].out, HasSubstr("written by process "));
  EXPECT_EQ(results[2].out, "done\n");
}

// The others may have been stopped with it.
TEST(CommonWorldTest, TheTimeInWhichAProcessIsStoppedDoesNotCount) {
  constexpr int kLimitMs = 5000;
  RankProcesses ranks;
  ranks.Start("meet", 0, 2, kLimitMs);
  while (!std::filesystem::exists(ranks.folder().path(KeyFile(0)))) std::this_thread::yield();
  kill(ranks.pid(0), SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(kLimitMs + 200));
  kill(ranks.pid(0), SIGCONT);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // it would give up first
  ranks.Start("meet", 1, 2, kLimitMs);
  for (const RankResult& result : ranks.Wait()) EXPECT_EQ(result.code, 0) << result.out;
}

TEST(CommonWorldTest, NamesTheKeysOfAnEarlierRun) {
  RankProcesses ranks;
  ranks.Start("meet", 0, 2, kTimeoutMs);
  while (!std::filesystem::exists(ranks.folder().path(KeyFile(0)))) std::this_thread::yield();
  ranks.Signal(0, SIGKILL);
  ranks.Wait();
  RankProcesses later;
  std::filesystem::copy(ranks.folder().path("run"), later.folder().path("run"));
  later.Start("meet", 0, 2, kTimeoutMs);
  later.Start("meet", 1, 2, kTimeoutMs);
  const std::vector<RankResult> results = later.Wait();
  EXPECT_THAT(results[0].out,
              HasSubstr("which has ended: an earlier run with the same id left it"));
  EXPECT_THAT(results[1].out, HasSubstr("which wrote key \"world/generation_0/rank_0\""));
  EXPECT_THAT(results[1].out,
              HasSubstr("if an earlier run with the same id left the key, use another id"));
}

// Ends ranks at random moments: while they meet, or in operations. CAFFE2_TEST_RANK_KILLS and
// CAFFE2_TEST_RANK_STOPS say how often.
void ExpectSurvivorsNameTheLostRank(int signal, int times, int timeout_ms) {
  std::mt19937 random(40);
  for (int i = 0; i < times; ++i) {
    RankProcesses ranks("loop", 3, timeout_ms);
    const size_t victim = random() % 3;
    // Half of them while they meet: a rank without a key is one that does not come.
    const bool meets = i % 2 == 1;
    ranks.WaitForKeyOrOutput(victim, meets ? KeyFile(victim) : "", "running");
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % (meets ? 30 : 200)));
    ranks.Signal(victim, signal);
    const std::vector<RankResult> results = ranks.Wait();
    for (size_t rank = 0; rank < 3; ++rank) {
      if (rank == victim) continue;
      EXPECT_EQ(results[rank].code, 3) << "rank " << rank << ", signal " << results[rank].signal;
      EXPECT_THAT(results[rank].out,
                  HasSubstr(MakeString("lost ", victim, ": world \"world\" (rank ", rank)));
    }
  }
}

TEST(CommonWorldTest, NamesARankWhoseProcessEnds) {
  ExpectSurvivorsNameTheLostRank(SIGKILL, FromEnvironment("CAFFE2_TEST_RANK_KILLS", 4), kTimeoutMs);
}

TEST(CommonWorldTest, NamesARankThatIsStopped) {
  ExpectSurvivorsNameTheLostRank(SIGSTOP, FromEnvironment("CAFFE2_TEST_RANK_STOPS", 1),
                                 kShortTimeoutMs);
}

TEST(CommonWorldTest, SurvivorsMakeSmallerWorlds) {
  RankProcesses ranks("survivors", 4, kTimeoutMs);
  EXPECT_EQ(ranks.Wait()[0].out, "generation 3\n");
  ExpectNoKeysLeft(ranks);
}

TEST(CommonWorldTest, OfOneRankNeedsNoEngineAndNoStore) {
  const CommonWorldBlob world = CommonWorld::Create({.name = "alone"}, nullptr);
  float values[] = {1, 2};
  world->Allreduce({"x"}, values, 2, TypeMeta::Make<float>());
  EXPECT_THAT(values, testing::ElementsAre(1, 2));
  ExpectThrows([&] { world->Allreduce({"x"}, values, 1, TypeMeta::Make<bool>()); },
               "elements of type bool cannot be added, want float");
  EXPECT_NO_THROW(world->Clone("clone"));
  EXPECT_NO_THROW(world->Clone("clone")) << "the first one is gone";
}

TEST(CommonWorldTest, ReportsAnEngineThatIsNotAvailable) {
  for (const int size : {1, 2}) {
    ExpectThrows(
        [size] { CommonWorld::Create({.engine = "MPI", .name = "w", .size = size}, nullptr); },
        "engine MPI: libcaffe2_mpi.so is not in ");
  }
}

}  // namespace
}  // namespace caffe2rt::test::common_world_test
