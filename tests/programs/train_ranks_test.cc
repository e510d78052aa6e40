// `caffe2 train` on several ranks: the launcher, and what is left when a rank is lost.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <thread>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/training/checkpoint_files.h"
#include "tests/programs/points_training.h"
#include "tests/programs/program_runner.h"
#include "tests/programs/started_ranks.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::train_ranks_test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

namespace fs = std::filesystem;

const char kDefinition[] = R"(name: "points"
    net { op { type: "FC" input: ["data", "w1", "b1"] output: "h" }
          op { type: "Relu" input: "h" output: "h" }
          op { type: "FC" input: ["h", "w2", "b2"] output: "scores" }
          op { type: "SoftmaxWithLoss" input: ["scores", "label"] output: ["softmax", "loss"] }
          op { type: "Accuracy" input: ["softmax", "label"] output: "accuracy" } }
    param { name: "w1" dims: [64, 2] fill: "XavierFill" } param { name: "b1" dims: 64 }
    param { name: "w2" dims: [2, 64] fill: "XavierFill" } param { name: "b2" dims: 2 }
    accuracy: "accuracy" input { batch_size: 8 }
    optimizer { rate: 0.05 momentum: 0.9 })";

class TrainRanksTest : public PointsTraining {
 protected:
  void SetUp() override {
#ifndef CAFFE2RT_HAS_GLOO
    GTEST_SKIP() << "this build has no engine for collectives: libgloo-dev is not installed";
#endif
    MakePoints(kDefinition, 101);  // no number of ranks divides it
  }

  // The losses of the log, of training and test.
  std::vector<double> Losses(const std::string& folder) const {
    const std::string log = ReadWholeFile(dir_.path(folder + "/log.jsonl"));
    const std::regex loss("loss\":([-+.e0-9]+)");
    std::vector<double> losses;
    for (auto at = std::sregex_iterator(log.begin(), log.end(), loss); at != std::sregex_iterator();
         ++at)
      losses.push_back(std::stod((*at)[1]));
    return losses;
  }
};

TEST_F(TrainRanksTest, AnyNumberOfRanksTrainsTheSameNet) {
  ASSERT_EQ(RunCaffe2(Command("one", "4", {"--shuffle"})).code, 0);
  const std::vector<double> want = Losses("one");
  for (const std::string ranks : {"2", "3"}) {
    const std::string folder = "ranks" + ranks;
    const ProgramResult result = RunCaffe2(Command(folder, "4", {"--shuffle", "--ranks", ranks}));
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.out,
                AllOf(HasSubstr("[0] epoch 4/4  test loss 0."), HasSubstr("[0] trained 52 steps")));
    EXPECT_THAT(result.out, testing::Not(HasSubstr("[1]")));
    const std::vector<double> losses = Losses(folder);
    ASSERT_EQ(losses.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i)
      EXPECT_NEAR(losses[i], want[i], 1e-5) << ranks << " ranks, number " << i;
  }
}

// LeNet on noise. Its greatest gradient has an Allreduce of its own, all others have one together.
TEST_F(TrainRanksTest, LeNetOfTwoRanksReachesTheLossesOfOne) {
  constexpr int64_t kImages = 640;
  Tensor x({kImages, 28, 28, 1}, CPU), y({kImages}, CPU);
  std::mt19937 random(7);
  for (int64_t i = 0; i < x.numel(); ++i)
    x.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(random() % 256);
  for (int64_t i = 0; i < kImages; ++i)
    y.mutable_data<int32_t>()[i] = static_cast<int32_t>(random() % 10);
  WriteNpy(dir_.path("images.npy"), x);
  WriteNpy(dir_.path("labels.npy"), y);
  const std::string images = dir_.path("images.minidb");
  ASSERT_EQ(RunCaffe2({"db", "make", "arrays", dir_.path("images.npy"), dir_.path("labels.npy"),
                       "--output", images})
                .code,
            0);
  for (const std::string ranks : {"1", "2"}) {
    const ProgramResult result =
        RunCaffe2({"train", SourcePath("binaries/demo/lenet.pbtxt"), "--data", images, "--output",
                   dir_.path("lenet" + ranks), "--ranks", ranks});
    ASSERT_EQ(result.code, 0) << result.err;
  }
  const std::vector<double> one = Losses("lenet1"), two = Losses("lenet2");
  ASSERT_EQ(one.size(), 10u);  // steps of 64
  ASSERT_EQ(two.size(), one.size());
  for (size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one[i], two[i], 1e-5) << "step " << i;
}

// The loss has a random number in it, and the weights stay as they are: each rank draws its own, and rank 0 those of a
// training on one rank.
TEST_F(TrainRanksTest, RanksDrawNumbersOfTheirOwn) {
  MakePoints(R"(name: "points"
      net { op { type: "FC" input: ["data", "w", "b"] output: "scores" }
            op { type: "SoftmaxWithLoss" input: ["scores", "label"] output: ["softmax", "mean"] }
            op { type: "UniformFill" output: "noise" }
            op { type: "Add" input: ["mean", "noise"] output: "loss" } }
      param { name: "w" dims: [2, 2] } param { name: "b" dims: 2 }
      input { batch_size: 8 } optimizer { rate: 1e-20 })",
             24);
  for (const std::string ranks : {"1", "2"}) {
    const ProgramResult result =
        RunCaffe2({"train", definition_, "--data", data_, "--epochs", "2", "--output",
                   dir_.path("noise" + ranks), "--ranks", ranks});
    ASSERT_EQ(result.code, 0) << result.err;
  }
  const std::vector<double> one = Losses("noise1"), two = Losses("noise2");
  ASSERT_EQ(one.size(), 6u);
  ASSERT_EQ(two.size(), one.size());
  const double of_weights = std::log(2);  // two classes, as likely
  for (size_t i = 0; i < one.size(); ++i) {
    const double first = one[i] - of_weights, second = 2 * (two[i] - of_weights) - first;
    EXPECT_TRUE(first >= 0 && first < 1) << one[i];
    EXPECT_TRUE(second > -1e-4 && second < 1.0001) << two[i];
    EXPECT_GT(std::fabs(first - second), 1e-4) << "step " << i;
  }
}

TEST_F(TrainRanksTest, GoesOnWithAnotherNumberOfRanks) {
  ASSERT_EQ(RunCaffe2(Command("whole", "4", {})).code, 0);
  // Ends with a checkpoint in the middle of epoch 2.
  ASSERT_EQ(
      RunCaffe2(Command("part", "4", {"--ranks", "2", "--checkpoint-every", "20", "--keep", "9"}))
          .code,
      0);
  for (const char* name : {"26", "39", "40", "52"})
    fs::remove(dir_.path(std::string("part/checkpoint-") + name));
  for (const std::string ranks : {"1", "3"}) {
    const std::string folder = "part" + ranks;
    fs::copy(dir_.path("part"), dir_.path(folder));
    const ProgramResult result =
        RunCaffe2({"train", "--resume", dir_.path(folder), "--ranks", ranks});
    EXPECT_EQ(result.code, 0) << result.err;
    const std::vector<double> want = Losses("whole"), losses = Losses(folder);
    ASSERT_EQ(losses.size(), want.size());
    EXPECT_NEAR(losses.back(), want.back(), 1e-5);
  }
}

void AwaitCheckpoint(pid_t launcher, const std::string& folder, int64_t iteration) {
  int status = 0;
  while (waitpid(launcher, &status, WNOHANG) == 0) {
    const auto files = fs::exists(folder) ? CheckpointsOf(folder) : std::vector<CheckpointFile>{};
    if (!files.empty() && files.back().iteration >= iteration) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  FAIL() << "the training ended before checkpoint " << iteration;
}

TEST_F(TrainRanksTest, SurvivorsOfALostRankSaveTheLastStep) {
  for (const int victim : {0, 2}) {
    const std::string name = "lost" + std::to_string(victim), folder = dir_.path(name);
    const StartedRanks started = StartRanks(Command(name, "4000", {"--ranks", "3", "--keep", "2"}));
    AwaitCheckpoint(started.launcher, folder, 26);
    const pid_t rank = RankOf(started.launcher, victim);
    ASSERT_GT(rank, 0);  // kill(-1) would end all processes
    kill(rank, SIGKILL);
    const auto [err, code] = EndOfRanks(started);
    EXPECT_EQ(code, 1);
    EXPECT_THAT(err, HasSubstr("[" + std::to_string(victim) + "] ended by signal 9"));
    EXPECT_THAT(err, HasSubstr(std::to_string(victim) + " is lost; the state after step "));
    EXPECT_THAT(err, HasSubstr("caffe2 train --resume " + folder));
    // Two runs that go on from it leave the same bytes: the last epoch, on two ranks.
    const std::string run = ReadWholeFile(folder + "/run.pbtxt");
    const int64_t last = CheckpointsOf(folder).back().iteration;
    const std::string epochs = std::to_string(last / 13 + 2);
    std::ofstream(folder + "/run.pbtxt")
        << std::regex_replace(run, std::regex("epochs: 4000"), "epochs: " + epochs);
    fs::copy(folder, folder + "b");
    for (const std::string& copy : {folder, folder + "b"}) {
      const ProgramResult result = RunCaffe2({"train", "--resume", copy, "--ranks", "2"});
      EXPECT_EQ(result.code, 0) << result.err;
    }
    EXPECT_EQ(Model(name), Model(name + "b"));
  }
}

// Without the launcher's word, they would wait for the whole timeout.
TEST_F(TrainRanksTest, OthersDoNotWaitForARankThatEndsBeforeTheyMeet) {
  const StartedRanks started = StartRanks(Command("early", "4000", {"--ranks", "3"}));
  pid_t victim = -1;
  while (victim < 0) victim = RankOf(started.launcher, 1);
  kill(victim, SIGKILL);
  const auto [err, code] = EndOfRanks(started);
  EXPECT_EQ(code, 1);
  EXPECT_THAT(err, HasSubstr("[1] ended by signal 9"));
  for (const std::string rank : {"[0] ", "[2] "})
    EXPECT_THAT(err, ContainsRegex("\\" + rank + ".*rank 1 did not answer.*ended"));
}

TEST_F(TrainRanksTest, StopsAllRanksBehindOneStep) {
  const std::string stores = dir_.path("stores");
  fs::create_directory(stores);
  Environment environment;
  environment.Set("TMPDIR", stores);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const std::string name = "stopped" + std::to_string(signal);
    const StartedRanks started = StartRanks(Command(name, "4000", {"--ranks", "2"}));
    AwaitCheckpoint(started.launcher, dir_.path(name), 13);
    EXPECT_FALSE(fs::is_empty(stores));
    kill(started.launcher, signal);
    const auto [err, code] = EndOfRanks(started);
    EXPECT_EQ(code, 1);
    EXPECT_EQ(err, "");
    EXPECT_EQ(RankOf(started.launcher, 0), -1);
    EXPECT_TRUE(fs::is_empty(stores)) << "the store is removed at the end";
  }
}

TEST_F(TrainRanksTest, NamesWhatContradictsEachOther) {
  const auto expect = [&](const std::vector<std::string>& more, const std::string& text) {
    const ProgramResult result = RunCaffe2(Command("never", "1", more));
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(text));
    EXPECT_FALSE(fs::exists(dir_.path("never")));
  };
  expect({"--ranks", "2", "--rank", "0", "--size", "2"},
         "option --ranks, which starts processes, does not go with --rank");
  expect({"--rank", "0"}, "option --rank is given without --size");
  expect({"--rank", "0", "--size", "2"},
         "--rank and --size state 2 ranks, which need --store file:DIR");
  expect({"--rank", "0", "--size", "2", "--store", "tcp:host"},
         "option --store is \"tcp:host\", want file:DIR");
  Environment environment;
  environment.Set("RANK", "1");
  environment.Set("WORLD_SIZE", "2");
  expect({"--ranks", "2"}, "RANK and WORLD_SIZE state that a launcher has started 2 processes");
}

}  // namespace
}  // namespace caffe2rt::test::train_ranks_test
