// What the launcher of `caffe2 train --ranks` gives its ranks, and what it copies of their output;
// ranks that another launcher has started.

#include <absl/strings/str_split.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/programs/points_training.h"
#include "tests/programs/program_runner.h"
#include "tests/programs/started_ranks.h"
#include "tests/support/json.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::launched_ranks_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;
namespace fs = std::filesystem;

class LaunchedRanksTest : public PointsTraining {
 protected:
  void SetUp() override {
#ifndef CAFFE2RT_HAS_GLOO
    GTEST_SKIP() << "this build has no engine for collectives: libgloo-dev is not installed";
#endif
    MakePoints(R"(name: "points"
        net { op { type: "FC" input: ["data", "w", "b"] output: "scores" }
              op { type: "SoftmaxWithLoss" input: ["scores", "label"] output: ["p", "loss"] } }
        param { name: "w" dims: [2, 2] fill: "XavierFill" } param { name: "b" dims: 2 }
        input { batch_size: 8 } optimizer { rate: 0.05 })",
               20);
    fs::create_directory(dir_.path("keys"));
  }
  // Without a test behind each epoch.
  Words Train(const std::string& folder, const std::string& epochs, const Words& more) const {
    Words words = {"train",    definition_, "--data",   data_,
                   "--epochs", epochs,      "--output", dir_.path(folder)};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

// The rank's process once it has begun, or -1 if the launcher ends before.
pid_t AwaitRank(const StartedRanks& started, int rank) {
  siginfo_t ended = {};
  while (ended.si_pid == 0) {
    if (const pid_t found = RankOf(started.launcher, rank); found > 0) return found;
    waitid(P_PID, static_cast<id_t>(started.launcher), &ended, WEXITED | WNOHANG | WNOWAIT);
  }
  return -1;
}

// The CPUs that a process may use, lowest first.
std::vector<int> CpusOf(pid_t pid) {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(pid, sizeof(set), &set);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<size_t>(cpu), &set)) cpus.push_back(cpu);
  }
  return cpus;
}

TEST_F(LaunchedRanksTest, ARankHasTheOptionsOfTheRun) {
  const std::string store = dir_.path("keys");
  const StartedRanks started = StartRanks(
      Train("run", "100000",
            {"--ranks", "2", "--run-id", "nightly", "--store", "file:" + dir_.path("x/../keys"),
             "--timeout", "9", "--interface", "127.0.0.1", "--threads", "5", "--memory-limit", "1G",
             "--seed", "3", "--allow-files-anywhere", "--json"}));
  for (const int rank : {0, 1}) {
    const pid_t pid = AwaitRank(started, rank);
    ASSERT_GT(pid, 0);
    EXPECT_EQ(WordsOfProcess(pid), (Words{"caffe2",         "train",
                                          "--resume",       dir_.path("run"),
                                          "--rank",         std::to_string(rank),
                                          "--size",         "2",
                                          "--store",        "file:" + store,
                                          "--run-id",       "nightly",
                                          "--interface",    "127.0.0.1",
                                          "--timeout",      "9",
                                          "--memory-limit", "1G",
                                          "--threads",      "2",
                                          "--json",         "--allow-files-anywhere"}));
    EXPECT_EQ(getpgid(pid), pid) << "signals of the terminal come from the launcher alone";
    EXPECT_EQ(fs::read_symlink("/proc/" + std::to_string(pid) + "/fd/0"), "/dev/null");
  }
  while (kill(started.launcher, 0) == 0 && !fs::exists(store + "/nightly"))
    std::this_thread::yield();
  kill(started.launcher, SIGINT);
  EXPECT_EQ(EndOfRanks(started).second, 1);
  EXPECT_TRUE(fs::exists(store)) << "a folder that is given stays";
}

// Five threads among two ranks are two for each; one thread is the least.
TEST_F(LaunchedRanksTest, WithoutOptionsARankHasTheStoreAlone) {
  const std::string stores = dir_.path("temporary");
  fs::create_directory(stores);
  Environment environment;
  environment.Set("TMPDIR", stores);
  const StartedRanks started =
      StartRanks(Train("run", "100000", {"--ranks", "2", "--threads", "1"}));
  const pid_t pid = AwaitRank(started, 1);
  ASSERT_GT(pid, 0);
  const Words words = WordsOfProcess(pid);
  ASSERT_EQ(words.size(), 12u);
  EXPECT_EQ((Words{words.begin() + 4, words.begin() + 9}),
            (Words{"--rank", "1", "--size", "2", "--store"}));
  EXPECT_TRUE(words[9].starts_with("file:" + stores + "/caffe2-ranks-")) << words[9];
  EXPECT_EQ((Words{words.begin() + 10, words.end()}), (Words{"--threads", "1"}));
  kill(started.launcher, SIGTERM);
  EXPECT_EQ(EndOfRanks(started).second, 1);
  EXPECT_TRUE(fs::is_empty(stores));
}

// What ranks have left in it is removed with it.
TEST_F(LaunchedRanksTest, TheTemporaryStoreIsRemovedAfterRanksThatDie) {
  const std::string stores = dir_.path("temporary");
  fs::create_directory(stores);
  Environment environment;
  environment.Set("TMPDIR", stores);
  const StartedRanks started = StartRanks(Train("run", "100000", {"--ranks", "2"}));
  const pid_t first = AwaitRank(started, 0), second = AwaitRank(started, 1);
  ASSERT_GT(first, 0);
  ASSERT_GT(second, 0);
  // As if a rank had been ended while it wrote its key.
  for (const auto& store : fs::directory_iterator(stores))
    WriteFileAtomically(store.path().string() + "/half", "");
  // Stopped first, so that neither sees the end of the other one and ends by itself.
  for (const int number : {SIGSTOP, SIGKILL}) {
    kill(first, number);
    kill(second, number);
  }
  const auto [err, code] = EndOfRanks(started);
  EXPECT_EQ(code, 1);
  EXPECT_THAT(err, AllOf(HasSubstr("[0] ended by signal 9 (Killed)\n"),
                         HasSubstr("[1] ended by signal 9 (Killed)\n")));
  EXPECT_TRUE(fs::is_empty(stores));
}

// A rate that changes no weight gives no gain. The last two lines are printed at once.
TEST_F(LaunchedRanksTest, EveryLineOfARankIsPrinted) {
  const ProgramResult result = RunCaffe2(Train(
      "run", "9", {"--ranks", "2", "--stop-after", "2", "--rate", "1e-20", "--batch-size", "20"}));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, ::testing::ContainsRegex(
                              "^\\[0\\] epoch 1/9  loss [0-9.]+  best so far\n"
                              "\\[0\\] epoch 2/9  loss [0-9.]+\n"
                              "\\[0\\] epoch 3/9  loss [0-9.]+\n"
                              "\\[0\\] ended: no gain\n"
                              "\\[0\\] trained 3 steps; the net is in [^\n]*/model\\.minidb, "
                              "its curves in [^\n]*/curves\\.svg\n$"));
}

// CPU i of n belongs to rank i * ranks / n, if there is one for each.
TEST_F(LaunchedRanksTest, EachRankHasItsPartOfTheCpus) {
  const std::vector<int> all = CpusOf(0);
  const auto count = static_cast<int>(all.size());
  for (const int size : {2, 3}) {
    const std::string folder = "cpus" + std::to_string(size);
    const StartedRanks started =
        StartRanks(Train(folder, "100000", {"--ranks", std::to_string(size)}));
    std::vector<int> used;
    for (int rank = 0; rank < size; ++rank) {
      const pid_t pid = AwaitRank(started, rank);
      ASSERT_GT(pid, 0);
      const std::vector<int> cpus = CpusOf(pid);
      if (count < size) {
        EXPECT_EQ(cpus, all);
        continue;
      }
      EXPECT_GE(static_cast<int>(cpus.size()), count / size);
      EXPECT_LE(static_cast<int>(cpus.size()), (count + size - 1) / size);
      used.insert(used.end(), cpus.begin(), cpus.end());
    }
    if (count >= size) EXPECT_EQ(used, all) << "in the order of the ranks, each once";
    kill(started.launcher, SIGINT);
    EXPECT_EQ(EndOfRanks(started).second, 1);
  }
}

TEST_F(LaunchedRanksTest, RanksEndWithTheirLauncher) {
  const StartedRanks started = StartRanks(Train("run", "100000", {"--ranks", "2"}));
  const pid_t ranks[] = {AwaitRank(started, 0), AwaitRank(started, 1)};
  ASSERT_GT(std::min(ranks[0], ranks[1]), 0);
  kill(started.launcher, SIGKILL);
  EXPECT_EQ(EndOfRanks(started).second, -1);
  for (const pid_t pid : ranks) {
    // One whose new parent does not wait for it has no command line any more.
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!WordsOfProcess(pid).empty() && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(WordsOfProcess(pid), Words());
  }
}

// A run of the same name may follow: nothing in the store states that a rank is lost. A rank that was killed
// after it came leaves its own key.
TEST_F(LaunchedRanksTest, TheLossOfARankIsErasedAtTheEnd) {
  for (const Words& run_id : {Words{}, Words{"--run-id", "nightly"}}) {
    Words more = {"--ranks", "3", "--store", "file:" + dir_.path("keys")};
    more.insert(more.end(), run_id.begin(), run_id.end());
    const StartedRanks started =
        StartRanks(Train("lost" + std::to_string(more.size()), "100000", more));
    const pid_t victim = AwaitRank(started, 1);
    ASSERT_GT(victim, 0);
    kill(victim, SIGKILL);
    const auto [err, code] = EndOfRanks(started);
    EXPECT_EQ(code, 1);
    EXPECT_THAT(err, HasSubstr("[1] ended by signal 9 (Killed)\n"));
    for (const auto& entry : fs::recursive_directory_iterator(dir_.path("keys"))) {
      if (entry.is_directory()) continue;
      EXPECT_THAT(ReadWholeFile(entry.path().string()), Not(HasSubstr("ended before it met")));
    }
  }
}

TEST_F(LaunchedRanksTest, LinesBeginWithTheRankThatPrintsThem) {
  const ProgramResult json = RunCaffe2(Train("json", "2", {"--ranks", "2", "--json"}));
  EXPECT_EQ(json.code, 0) << json.err;
  EXPECT_EQ(json.err, "");
  // The document of rank 0 is the whole output.
  EXPECT_EQ(json.out, "{\"run\": \"" + dir_.path("json") + "\", \"steps\": 6, \"checkpoint\": \"" +
                          dir_.path("json/checkpoint-6") + "\", \"model\": \"" +
                          dir_.path("json/model.minidb") + "\", \"interrupted\": false}\n");
  const ProgramResult text = RunCaffe2(Train("text", "2", {"--ranks", "2"}));
  EXPECT_EQ(text.code, 0) << text.err;
  const Words lines = absl::StrSplit(text.out, '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), 3u) << text.out;
  for (size_t i = 0; i < 2; ++i)
    EXPECT_THAT(lines[i], HasSubstr("[0] epoch " + std::to_string(i + 1) + "/2  loss "));
  EXPECT_THAT(lines[2], HasSubstr("[0] trained 6 steps; the net is in "));
  // Errors of all ranks.
  const ProgramResult wrong =
      RunCaffe2(Train("wrong", "2", {"--ranks", "2", "--interface", "nosuch0", "--json"}));
  EXPECT_EQ(wrong.code, 1);
  EXPECT_EQ(wrong.out, "");
  Words errors = absl::StrSplit(wrong.err, '\n', absl::SkipEmpty());
  ASSERT_EQ(errors.size(), 2u) << wrong.err;
  std::sort(errors.begin(), errors.end());
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(errors[i].starts_with("[" + std::to_string(i) + "] caffe2: ")) << errors[i];
    EXPECT_THAT(errors[i], HasSubstr("interface is \"nosuch0\", want the name or IPv4 address of"));
  }
}

// What other launchers give a process: options, or variables.
TEST_F(LaunchedRanksTest, RanksOfAnotherLauncherMeetInTheStore) {
  const Words common = {"--store", "file:" + dir_.path("keys")};
  for (const bool by_options : {true, false}) {
    const std::string folder = by_options ? "options" : "variables";
    const auto words = [&](int rank) {
      Words more = common;
      if (by_options) more.insert(more.end(), {"--rank", std::to_string(rank), "--size", "2"});
      return Train(folder, "2", more);
    };
    Environment environment;
    if (!by_options) environment.Set("WORLD_SIZE", "2");
    if (!by_options) environment.Set("RANK", "1");
    const StartedRanks other = StartRanks(words(1));
    if (!by_options) environment.Set("RANK", "0");
    const ProgramResult first = RunCaffe2(words(0));
    EXPECT_EQ(first.code, 0) << first.err;
    EXPECT_EQ(EndOfRanks(other), (std::pair<std::string, int>("", 0)));
    EXPECT_THAT(first.out, AllOf(HasSubstr("epoch 2/2  loss "), HasSubstr("\ntrained 6 steps"),
                                 Not(HasSubstr("[0]"))));
    EXPECT_TRUE(fs::exists(dir_.path(folder + "/model.minidb")));
  }
}

TEST_F(LaunchedRanksTest, RunsOfOneStoreAreToldApartByTheirName) {
  // Rank 1 of another run does not answer.
  const std::string store = "file:" + dir_.path("keys");
  const StartedRanks other = StartRanks(
      Train("b", "2",
            {"--rank", "1", "--size", "2", "--store", store, "--run-id", "b", "--timeout", "1"}));
  const ProgramResult first = RunCaffe2(
      Train("a", "2",
            {"--rank", "0", "--size", "2", "--store", store, "--run-id", "a", "--timeout", "1"}));
  EXPECT_EQ(first.code, 1);
  EXPECT_THAT(first.err, HasSubstr("rank 1 did not come within 1000 ms: no key in the store in "
                                   "folder \"" +
                                   dir_.path("keys/a")));
  const auto [err, code] = EndOfRanks(other);
  EXPECT_EQ(code, 1);
  EXPECT_THAT(err, HasSubstr(dir_.path("keys/b")));
}

TEST_F(LaunchedRanksTest, OneRankNeedsNoStore) {
  for (const Words& more : {Words{"--rank", "0", "--size", "1"}, Words{"--ranks", "1"}}) {
    const std::string folder = "one" + std::to_string(more.size());
    const ProgramResult result = RunCaffe2(Train(folder, "1", more));
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("epoch 1/1  loss "));
    EXPECT_TRUE(result.out.starts_with("epoch")) << result.out;
  }
}

struct WrongRanks {
  Words more;
  int code;
  const char* error;
};

TEST_F(LaunchedRanksTest, TheLauncherReportsWhatNoRankCanDo) {
  const std::vector<WrongRanks> wrong = {
      {{"--ranks", "9"},
       1,
       "a batch of 8 records is divided among 9 ranks, want at least one record for each; set "
       "--batch-size"},
      {{"--ranks", "0"}, 2, "option --ranks is \"0\", want a number from 1 to 256"},
      {{"--ranks", "257"}, 2, "option --ranks is \"257\", want a number from 1 to 256"},
      {{"--ranks", "2", "--timeout", "0"},
       2,
       "option --timeout is \"0\", want a number from 1 to 86400"},
      {{"--ranks", "2", "--store", "file:"}, 2, "option --store is \"file:\", want file:DIR"},
      {{"--ranks", "2", "--store", "files:x"}, 2, "option --store is \"files:x\", want file:DIR"},
      {{"--ranks", "2", "--size", "2"},
       2,
       "option --ranks, which starts processes, does not go with --size, which numbers this one"},
      {{"--size", "2"}, 2, "option --size is given without --rank"},
      {{"--rank", "2", "--size", "2"},
       2,
       "--rank is 2 and --size is 2, want a rank from 0 to size - 1"},
      {{"--rank", "-1", "--size", "2"},
       2,
       "option --rank is \"-1\", want a number from 0 to 65536"},
      {{"--rank", "0", "--size", "0"}, 2, "option --size is \"0\", want a number from 1 to 65536"},
      {{"--rank", "0", "--size", "65537"},
       2,
       "option --size is \"65537\", want a number from 1 to 65536"}};
  for (const WrongRanks& c : wrong) {
    const ProgramResult result = RunCaffe2(Train("never", "1", c.more));
    EXPECT_EQ(result.code, c.code) << c.error;
    EXPECT_EQ(result.err, std::string("caffe2: ") + c.error + "\n");
    EXPECT_FALSE(fs::exists(dir_.path("never"))) << c.error;
  }
}

}  // namespace
}  // namespace caffe2rt::test::launched_ranks_test
