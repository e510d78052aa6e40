// What a training of a line reports and leaves, with values by hand: y = w x with x = 1, w = 0 at first and the label
// 4. The loss is (y - 4)^2 / 2 and its gradient y - 4.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/training/checkpoint_files.h"
#include "caffe2_core/training/record_database.h"
#include "caffe2_core/training/training_log.h"
#include "caffe2_core/training/training_run.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::run_results_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RunResultsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Write("data", {1, 1}, 4);
    Write("test", {1, 1, 1}, 2);
  }
  // Records of a number and its label.
  void Write(const std::string& name, const std::vector<float>& numbers, float label) {
    RecordDatabase database("minidb", dir_.path(name));
    for (size_t i = 0; i < numbers.size(); ++i) {
      TrainingRecord record{.key = RecordKey(static_cast<int64_t>(i), 8), .tensors = {}};
      for (const float number : {numbers[i], label}) {
        TensorProto* const tensor = record.tensors.add_protos();
        tensor->add_dims(1);
        tensor->set_data_type(TensorProto::FLOAT);
        tensor->add_float_data(number);
      }
      database.Acceptor()(record);
    }
    database.Finish();
  }
  // One step in each epoch.
  RunDef Line(float rate, int epochs, const std::string& more = "") const {
    RunDef run;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(R"(train { name: "line"
        net { op { type: "FC" input: ["data", "w", "b"] output: "y" }
              op { type: "SquaredL2Distance" input: ["y", "label"] output: "d" }
              op { type: "AveragedLoss" input: "d" output: "loss" }
              op { type: "AveragedLoss" input: "y" output: "mean" }
              op { type: "Negative" input: "mean" output: "minus" } }
        param { name: "w" dims: [1, 1] } param { name: "b" dims: 1 trained: false }
        input { batch_size: 2 } } )" + more,
                                                              &run));
    run.mutable_train()->mutable_optimizer()->set_rate(rate);
    run.mutable_data()->set_path(dir_.path("data"));
    run.mutable_data()->set_type("minidb");
    run.set_epochs(epochs);
    return run;
  }
  // "epoch loss accuracy flags" for each epoch.
  std::string Epochs(const RunDef& run) {
    std::string text;
    TrainingCallbacks callbacks;
    callbacks.on_epoch = [&](const EpochResult& r) {
      text += MakeString(r.epoch, " ", r.loss, " ", r.accuracy, r.has_test ? " test" : "",
                         r.has_accuracy ? " accuracy" : "", r.is_best ? " best\n" : "\n");
    };
    fs::remove_all(dir_.path("run"));
    end_ = TrainingRun(dir_.path("run"), run).Run(callbacks);
    return text;
  }
  // The frame that a run of several ranks puts in front of an error: up to the folder of the run.
  std::string FrameOfRank(const std::string& message) const {
    const std::string folder = dir_.path("run");
    const size_t end = message.find(folder + ": ");
    if (!message.starts_with("rank ") || end == std::string::npos) return "(none)";
    return message.substr(0, end + folder.size());
  }
  TrainState Best() const { return ReadTrainState(dir_.path("run/checkpoint-best")); }
  const TempDir dir_;
  TrainingEnd end_;
};

// With a rate of 3 the distance to 4 doubles and turns: y is 0, 12, -12, 36.
TEST_F(RunResultsTest, TheBestEpochHasTheLeastLossOrTheGreatestAccuracy) {
  EXPECT_EQ(Epochs(Line(3, 4)), "1 8 0 best\n2 32 0\n3 128 0\n4 512 0\n");
  EXPECT_EQ(Best().best(), 8);
  EXPECT_EQ(Best().best_epoch(), 1);
  EXPECT_EQ(Best().iteration(), 1);
  EXPECT_EQ(Best().epoch(), 1);
  EXPECT_EQ(end_.checkpoint, dir_.path("run/checkpoint-4"));
  EXPECT_EQ(end_.iteration, 4);
  EXPECT_FALSE(end_.model_is_missing);
  // The accuracy decides, whatever the loss is.
  RunDef mean = Line(3, 4);
  mean.mutable_train()->set_accuracy("mean");
  EXPECT_EQ(Epochs(mean),
            "1 8 0 accuracy best\n2 32 12 accuracy best\n3 128 -12 accuracy\n"
            "4 512 36 accuracy best\n");
  EXPECT_EQ(Best().best(), 36);
  EXPECT_EQ(Best().best_epoch(), 4);
  RunDef minus = Line(0.5f, 3);
  minus.mutable_train()->set_accuracy("minus");
  EXPECT_EQ(Epochs(minus), "1 8 0 accuracy best\n2 2 -2 accuracy\n3 0.5 -3 accuracy\n");
  EXPECT_EQ(Best().best_epoch(), 1);
  // As good as the best is not better: a rate of 2 turns the distance, and a rate of 1 ends at 4.
  EXPECT_EQ(Epochs(Line(2, 3)), "1 8 0 best\n2 8 0\n3 8 0\n");
  EXPECT_EQ(Epochs(Line(1, 3)), "1 8 0 best\n2 0 0 best\n3 0 0\n");
}

// Behind each epoch: y is 2 and 3, the label of the test 2.
TEST_F(RunResultsTest, TheTestReplacesTheMeansOfTheEpoch) {
  RunDef run = Line(0.5f, 2, "test { type: 'minidb' path: '" + dir_.path("test") + "' }");
  EXPECT_EQ(Epochs(run), "1 0 0 test best\n2 0.5 0 test\n");
  run.mutable_train()->set_accuracy("mean");
  EXPECT_EQ(Epochs(run), "1 0 2 test accuracy best\n2 0.5 3 test accuracy best\n");
  EXPECT_EQ(Best().best(), 3);
  const std::string text = ReadWholeFile(dir_.path("run/log.jsonl"));
  const TrainingLog log(dir_.path("run/log.jsonl"), static_cast<int64_t>(text.size()));
  ASSERT_EQ(log.lines().size(), 4u);
  EXPECT_EQ(log.lines()[1].test_loss, 0);
  EXPECT_EQ(log.lines()[1].test_accuracy, 2);
  EXPECT_EQ(log.lines()[3].test_accuracy, 3);
  EXPECT_FALSE(log.lines()[1].loss || log.lines()[0].test_loss);
  // The drawing has all lines of the log, the last ones, too.
  EXPECT_EQ(ReadWholeFile(dir_.path("run/curves.svg")), CurvesAsSvg("line", log.lines()));
}

TEST_F(RunResultsTest, StepsReportTheirMeansAndTheAccuracyIfThereIsOne) {
  for (const bool accuracy : {false, true}) {
    RunDef run = Line(0.5f, 2);
    if (accuracy) run.mutable_train()->set_accuracy("mean");
    run.mutable_train()->mutable_input()->set_batch_size(1);  // two steps in an epoch
    std::string text;
    TrainingCallbacks callbacks;
    callbacks.on_step = [&](const TrainingProgress& p) {
      text += MakeString(p.iteration, " ", p.epoch, " ", p.share, " ", p.loss, " ", p.accuracy, " ",
                         p.has_accuracy, " ", p.rate, "\n");
    };
    TrainingRun training(dir_.path(accuracy ? "with" : "without"), run);
    EXPECT_EQ(training.first_iteration(), 0);
    EXPECT_EQ(training.plan().steps_per_epoch, 2);
    EXPECT_EQ(training.def().epochs(), 2);
    training.Run(callbacks);
    EXPECT_EQ(text, accuracy ? "1 1 0.5 8 0 1 0.5\n2 1 1 2 2 1 0.5\n3 2 0.5 0.5 3 1 0.5\n"
                               "4 2 1 0.125 3.5 1 0.5\n"
                             : "1 1 0.5 8 0 0 0.5\n2 1 1 2 0 0 0.5\n3 2 0.5 0.5 0 0 0.5\n"
                               "4 2 1 0.125 0 0 0.5\n");
  }
}

// The last checkpoint, not the best: y is -12 after two steps with a rate of 3, and the label of the test 2.
TEST_F(RunResultsTest, EvaluationsUseTheLastCheckpoint) {
  RunDef run = Line(3, 2);
  Epochs(run);
  const DatabasePlace test = {"minidb", dir_.path("test")};
  TestResult result = TestRun(dir_.path("run"), test);
  EXPECT_EQ(result.loss, 98);
  EXPECT_EQ(result.accuracy, 0);
  EXPECT_FALSE(result.has_accuracy);
  EXPECT_EQ(result.records, 3);
  EXPECT_EQ(result.checkpoint, dir_.path("run/checkpoint-2"));
  run.mutable_train()->set_accuracy("mean");
  Epochs(run);
  result = TestRun(dir_.path("run"), {"", test.path});
  EXPECT_EQ(result.loss, 98);
  EXPECT_EQ(result.accuracy, -12);
  EXPECT_TRUE(result.has_accuracy);
  EXPECT_THAT(MessageOf([&] { TestRun(dir_.path("run"), test, FileAccess::Off("a remedy")); }),
              HasSubstr("a remedy"));
}

TEST_F(RunResultsTest, ReadsOnlyFilesThatItMayRead) {
  TrainingRun run(dir_.path("run"), Line(0.5f, 2));
  EXPECT_THAT(MessageOf([&] { run.Run({}, FileAccess::Off("a remedy")); }), HasSubstr("a remedy"));
  EXPECT_FALSE(fs::exists(dir_.path("run")));
}

// Stopped before the first step, there is no checkpoint yet; behind it, the last one is returned.
TEST_F(RunResultsTest, StoppedRunsReturnTheirCheckpoint) {
  const RunDef run = Line(0.5f, 3);
  int64_t done = 0, stop_at = 0;
  TrainingCallbacks callbacks;
  callbacks.on_step = [&](const TrainingProgress& progress) { done = progress.iteration; };
  callbacks.should_stop = [&] { return done == stop_at; };
  TrainingEnd end = TrainingRun(dir_.path("run"), run).Run(callbacks);
  EXPECT_EQ(end.reason, TrainingEnd::Reason::kStopped);
  EXPECT_EQ(end.checkpoint, "");
  EXPECT_EQ(end.iteration, 0);
  EXPECT_THAT(CheckpointsOf(dir_.path("run")), IsEmpty());
  stop_at = 1;
  TrainingRun first(dir_.path("run"));
  EXPECT_EQ(first.first_iteration(), 0);
  end = first.Run(callbacks);
  EXPECT_EQ(end.reason, TrainingEnd::Reason::kStopped);
  EXPECT_EQ(end.checkpoint, dir_.path("run/checkpoint-1"));
  EXPECT_EQ(end.iteration, 1);
  stop_at = 9;
  TrainingRun second(dir_.path("run"));
  EXPECT_EQ(second.first_iteration(), 1);
  end = second.Run(callbacks);
  EXPECT_EQ(end.reason, TrainingEnd::Reason::kDone);
  EXPECT_EQ(end.checkpoint, dir_.path("run/checkpoint-3"));
  EXPECT_EQ(end.iteration, 3);
  // The state that is left: three epochs, their sums at 0.
  const TrainState state = ReadTrainState(end.checkpoint);
  EXPECT_EQ(state.iteration(), 3);
  EXPECT_EQ(state.epoch(), 3);
  EXPECT_EQ(state.best(), 0.5);
  EXPECT_EQ(state.best_epoch(), 3);
  EXPECT_EQ(state.log_bytes(), static_cast<int64_t>(fs::file_size(dir_.path("run/log.jsonl"))));
  EXPECT_EQ(
      state.loss_sum() + state.epoch_loss_sum() + state.accuracy_sum() + state.epoch_accuracy_sum(),
      0);
  EXPECT_EQ(state.steps() + state.epoch_steps(), 0);
}

TEST_F(RunResultsTest, FoldersOfRunsThatCannotBeMadeAreRemoved) {
  RunDef run = Line(0.5f, 1);
  const auto error = [&] { return MessageOf([&] { TrainingRun made(dir_.path("run"), run); }); };
  run.set_init(dir_.path("missing.minidb"));
  EXPECT_THAT(error(), HasSubstr("missing.minidb"));
  EXPECT_FALSE(fs::exists(dir_.path("run")));
  // The weights were collected; then the plan cannot be made.
  run.set_init(dir_.Write("init.pbtxt", R"(op { type: "GivenTensorFill" output: "w"
      arg { name: "shape" ints: [1, 1] } arg { name: "values" floats: 3 } })"));
  run.set_epochs(0);
  EXPECT_EQ(error(), "the number of epochs is 0, want at least 1");
  EXPECT_FALSE(fs::exists(dir_.path("run")));
  // w is 3: the loss is 0.5, and the run names its own copy of the weights.
  run.set_epochs(1);
  TrainingRun made(dir_.path("run"), run);
  EXPECT_THAT(made.missing_weights(), ElementsAre("b"));
  EXPECT_EQ(made.def().init(), dir_.path("run/init.minidb"));
  double loss = 0;
  TrainingCallbacks callbacks;
  callbacks.on_step = [&](const TrainingProgress& progress) { loss = progress.loss; };
  made.Run(callbacks);
  EXPECT_EQ(loss, 0.5);
}

// No other rank comes, so that the first operator that connects them fails. What that means is up to the caller.
TEST_F(RunResultsTest, ErrorsOfLostRanksNameThemAndTheCheckpoint) {
  const RunDef run = Line(0.5f, 2);
  const auto message = [&](TrainingRun training, std::optional<std::vector<int>> lost) {
    TrainingCallbacks callbacks;
    callbacks.lost_ranks = [&](const EnforceNotMet&) { return lost; };
    return FrameOfRank(MessageOf([&] { training.Run(callbacks); }));
  };
  const std::string folder = dir_.path("run");
  const auto ranks = [&](int rank, int size) {
    return RankOptions{.rank = rank, .size = size, .store = dir_.path(), .timeout_ms = 20};
  };
  const std::string next = "; continue with any number of ranks: caffe2 train --resume " + folder;
  EXPECT_EQ(message(TrainingRun(folder, run, ranks(0, 2)), std::vector<int>{1}),
            "rank 0 of 2: 1 is lost; there is no checkpoint yet" + next);
  EXPECT_TRUE(fs::exists(folder + "/run.pbtxt")) << "other ranks may use it";
  EXPECT_EQ(message(TrainingRun(folder, run, ranks(1, 2)), std::nullopt), "(none)");
  EXPECT_EQ(message(TrainingRun(folder, run, ranks(1, 2)), std::vector<int>{}), "(none)");
  EXPECT_EQ(message(TrainingRun(folder, ranks(1, 2)), std::vector<int>{0}),
            "rank 1 of 2: 0 is lost; there is no checkpoint yet" + next);
  // The state of one rank, with which two go on.
  TrainingCallbacks callbacks;
  int64_t done = 0;
  callbacks.on_step = [&](const TrainingProgress& progress) { done = progress.iteration; };
  callbacks.should_stop = [&] { return done == 1; };
  TrainingRun(folder).Run(callbacks);
  EXPECT_EQ(message(TrainingRun(folder, ranks(0, 2)), std::vector<int>{1}),
            "rank 0 of 2: 1 is lost; the state after step 1 is in \"" + folder + "/checkpoint-1\"" +
                next);
}

TEST_F(RunResultsTest, TheLowestRankThatIsLeftWritesTheCheckpoint) {
  RunDef run = Line(0.5f, 2);
  run.mutable_train()->mutable_input()->set_batch_size(5);
  const std::string folder = dir_.path("run");
  const auto message = [&](int rank, const std::vector<int>& lost) {
    TrainingCallbacks callbacks;
    callbacks.lost_ranks = [&](const EnforceNotMet&) { return std::optional(lost); };
    TrainingRun training(
        folder, run, RankOptions{.rank = rank, .size = 5, .store = dir_.path(), .timeout_ms = 20});
    return FrameOfRank(MessageOf([&] { training.Run(callbacks); }));
  };
  const std::string next = "; continue with any number of ranks: caffe2 train --resume " + folder;
  EXPECT_EQ(message(3, {2}),
            "rank 3 of 5: 2 is lost; rank 0, the lowest one left, writes a checkpoint" + next);
  EXPECT_EQ(message(3, {0, 1}),
            "rank 3 of 5: 0, 1 are lost; rank 2, the lowest one left, writes a checkpoint" + next);
  EXPECT_EQ(message(3, {4, 1, 0, 2}),
            "rank 3 of 5: 4, 1, 0, 2 are lost; there is no checkpoint yet" + next);
  EXPECT_FALSE(fs::exists(folder)) << "only rank 0 makes it";
}

// y has a number for each of the two records.
TEST_F(RunResultsTest, AccuraciesAreOneNumber) {
  RunDef run = Line(0.5f, 1);
  run.mutable_train()->set_accuracy("y");
  EXPECT_EQ(MessageOf([&] { TrainingRun(dir_.path("run"), run).Run({}); }),
            "blob \"y\" of the training has 2 elements, want one number");
  EXPECT_FALSE(fs::exists(dir_.path("run")));
  run.mutable_train()->mutable_input()->set_batch_size(1);
  EXPECT_EQ(TrainingRun(dir_.path("run"), run).Run({}).iteration, 2);
}

// A folder that has files stands where the checkpoint should be.
TEST_F(RunResultsTest, TheCheckpointIsTheLastThatCouldBeWritten) {
  const std::string folder = dir_.path("run");
  const auto run_without = [&](const std::vector<int>& blocked) {
    fs::remove_all(folder);
    TrainingRun training(folder, Line(0.5f, 3));
    for (const int step : blocked) fs::create_directories(CheckpointPath(folder, step) + "/x");
    std::vector<std::string> warnings;
    TrainingCallbacks callbacks;
    callbacks.on_warning = [&](const std::string& text) { warnings.push_back(text); };
    const TrainingEnd end = training.Run(callbacks);
    EXPECT_EQ(end.reason, TrainingEnd::Reason::kDone);
    EXPECT_EQ(end.iteration, 3);
    EXPECT_FALSE(end.model_is_missing);
    EXPECT_EQ(warnings.size(), blocked.size());
    for (size_t i = 0; i < std::min(warnings.size(), blocked.size()); ++i)
      EXPECT_THAT(warnings[i], HasSubstr(CheckpointPath(folder, blocked[i]) + "\""));
    return end.checkpoint;
  };
  EXPECT_EQ(run_without({}), CheckpointPath(folder, 3));
  EXPECT_EQ(run_without({1, 2}), CheckpointPath(folder, 3));
  EXPECT_EQ(run_without({0, 1, 2, 3}), "");
  EXPECT_EQ(run_without({3}), CheckpointPath(folder, 2));
  // It goes on from there.
  fs::remove_all(CheckpointPath(folder, 3));
  TrainingRun second(folder);
  EXPECT_EQ(second.first_iteration(), 2);
  EXPECT_EQ(second.Run({}).checkpoint, CheckpointPath(folder, 3));
}

// Each file that cannot be written is a warning each time, and the others are written.
TEST_F(RunResultsTest, WarnsOfEachFileThatCannotBeWritten) {
  const std::string folder = dir_.path("run");
  const std::vector<std::string> files = {"checkpoint-best", "checkpoint-3", "curves.svg",
                                          "log.jsonl", "model.minidb"};
  struct Row {
    const char* blocked;
    size_t warnings;
  };
  // Three epochs, each the best; a line of the log for each step and each epoch.
  for (const Row& row : {Row{"checkpoint-best", 3}, Row{"curves.svg", 3}, Row{"model.minidb", 3},
                         Row{"log.jsonl", 6}}) {
    SCOPED_TRACE(row.blocked);
    fs::remove_all(folder);
    const std::string blocked = dir_.path(std::string("run/") + row.blocked);
    TrainingRun training(folder, Line(0.5f, 3));
    size_t warnings = 0;
    TrainingCallbacks callbacks;
    callbacks.on_warning = [&](const std::string& text) {
      EXPECT_THAT(text, HasSubstr(blocked));
      ++warnings;
    };
    callbacks.on_step = [&](const TrainingProgress& progress) {
      if (progress.iteration > 1) return;
      fs::remove(blocked);
      if (row.warnings == 3) fs::create_directories(blocked + "/x");
    };
    const TrainingEnd end = training.Run(callbacks);
    EXPECT_EQ(warnings, row.warnings);
    EXPECT_EQ(end.iteration, 3);
    EXPECT_EQ(end.checkpoint, CheckpointPath(folder, 3));
    EXPECT_EQ(end.model_is_missing, std::string("model.minidb") == row.blocked);
    for (const std::string& file : files)
      EXPECT_EQ(fs::is_regular_file(dir_.path("run/" + file)), file != row.blocked) << file;
    EXPECT_EQ(ReadTrainState(end.checkpoint).best_epoch(), 3);
  }
}

// Rates are those of the epoch so far, whatever was before it: within a factor that a busy machine does not reach in
// each of five epochs. Without the division by the steps, or from the start of the run, it would be 200 or more.
TEST_F(RunResultsTest, RatesAreThoseOfTheEpochSoFar) {
  constexpr int64_t kSteps = 200;
  Write("many", std::vector<float>(kSteps, 1), 4);
  RunDef run = Line(0.5f, 6);
  run.mutable_data()->set_path(dir_.path("many"));
  run.mutable_train()->mutable_input()->set_batch_size(1);
  double first = 0, last = 0;  // the largest at the beginning of a later epoch; at the end of one
  TrainingCallbacks callbacks;
  callbacks.on_step = [&](const TrainingProgress& progress) {
    if (progress.iteration > kSteps && progress.iteration % kSteps == 1)
      first = std::max(first, progress.images_per_second);
    if (progress.iteration % kSteps == 0) last = std::max(last, progress.images_per_second);
    EXPECT_GE(progress.seconds_left * progress.images_per_second * 1.001,
              static_cast<double>(6 * kSteps - progress.iteration));
  };
  EXPECT_EQ(TrainingRun(dir_.path("run"), run).Run(callbacks).iteration, 6 * kSteps);
  EXPECT_GT(first, 0);
  EXPECT_LT(last, 100 * first);
  EXPECT_LT(first, 100 * last);
}

// The seed of the run decides what fills draw.
TEST_F(RunResultsTest, WeightsAreDrawnBySeed) {
  const auto loss_of = [&](uint64_t seed) {
    RunDef run = Line(0.5f, 1);
    run.mutable_train()->mutable_param(0)->set_fill("GaussianFill");
    run.set_seed(seed);
    double loss = 0;
    TrainingCallbacks callbacks;
    callbacks.on_step = [&](const TrainingProgress& progress) { loss = progress.loss; };
    fs::remove_all(dir_.path("run"));
    TrainingRun(dir_.path("run"), run).Run(callbacks);
    return loss;
  };
  const double one = loss_of(1), two = loss_of(2);
  EXPECT_NE(one, two);
  EXPECT_EQ(loss_of(1), one);
  EXPECT_EQ(loss_of(2), two);
}

}  // namespace
}  // namespace caffe2rt::test::run_results_test
