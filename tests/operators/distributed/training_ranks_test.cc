// Two ranks of a training, each on a thread of this process: y = w x with x = 1, w = 0 at first and the label 4. The
// loss is (y - 4)^2 / 2 and its gradient y - 4. The forward pass doubles a number c, which is 1 at first.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "caffe2_core/io/db.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/training/checkpoint_files.h"
#include "caffe2_core/training/plan_parts.h"
#include "caffe2_core/training/record_database.h"
#include "caffe2_core/training/training_log.h"
#include "caffe2_core/training/training_run.h"
#include "operators/distributed/collective_engine.h"
#include "tests/operators/distributed/thread_ranks.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::training_ranks_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Appended to the names of worlds: what one run leaves in memory is not for the next one.
int g_training = 0;

constexpr CollectiveEngine kEngineOfTrainings{
    .describe = [] { return std::string("that of threads"); },
    .connect =
        [](const TransportOptions& options, TransportBootstrap& bootstrap) {
          TransportOptions named = options;
          named.world += MakeString(" of training ", g_training);
          return EnforceCollectiveEngine("THREADS").connect(named, bootstrap);
        }};

struct RankOutcome {
  std::string epochs;  // "1 loss accuracy flags; ..."
  std::vector<double> losses, accuracies;
  TrainingEnd end;
  std::string error;
};

class TrainingRanksTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Write("data", 4, 4);
    Write("test", 4, 2);
    UseThreadEngine();
    // Trainings name this one. It stays in this program.
    RegisterCollectiveEngine("GLOO", &kEngineOfTrainings);
  }
  // Records of the number 1 and the label.
  void Write(const std::string& name, int records, float label) {
    RecordDatabase database("minidb", dir_.path(name));
    for (int i = 0; i < records; ++i) {
      TrainingRecord record{.key = RecordKey(i, 8), .tensors = {}};
      for (const float number : {1.0f, label}) {
        TensorProto* const tensor = record.tensors.add_protos();
        tensor->add_dims(1);
        tensor->set_data_type(TensorProto::FLOAT);
        tensor->add_float_data(number);
      }
      database.Acceptor()(record);
    }
    database.Finish();
  }
  // Two steps in each epoch. The accuracy is the mean of y.
  RunDef Def(int epochs) const {
    RunDef run;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(R"(train { name: "line"
        net { op { type: "Scale" input: "c" output: "c" arg { name: "scale" f: 2 } }
              op { type: "FC" input: ["data", "w", "b"] output: "y" }
              op { type: "SquaredL2Distance" input: ["y", "label"] output: "d" }
              op { type: "AveragedLoss" input: "d" output: "loss" }
              op { type: "AveragedLoss" input: "y" output: "mean" } }
        param { name: "w" dims: [1, 1] } param { name: "b" dims: 1 trained: false }
        param { name: "c" dims: 1 trained: false arg { name: "value" f: 1 } }
        input { batch_size: 2 } optimizer { rate: 0.5 } accuracy: "mean" } keep: 10)",
                                                              &run));
    run.mutable_data()->set_path(dir_.path("data"));
    run.mutable_data()->set_type("minidb");
    run.set_epochs(epochs);
    return run;
  }
  // Runs both ranks with callbacks that `change` may change. New runs have a def.
  std::array<RankOutcome, 2> Train(
      const std::string& id, const RunDef* def,
      const std::function<void(int rank, RankOutcome*, TrainingCallbacks*)>& change = {}) {
    std::array<RankOutcome, 2> outcomes;
    ++g_training;
    const auto train = [&](int rank) {
      RankOutcome& outcome = outcomes[static_cast<size_t>(rank)];
      const RankOptions ranks{
          .rank = rank, .size = 2, .store = dir_.path(), .run_id = id, .timeout_ms = 20000};
      TrainingCallbacks callbacks;
      callbacks.on_step = [&](const TrainingProgress& progress) {
        outcome.losses.push_back(progress.loss);
        outcome.accuracies.push_back(progress.accuracy);
      };
      callbacks.on_epoch = [&](const EpochResult& r) {
        outcome.epochs +=
            MakeString(r.epoch, " ", r.loss, " ", r.accuracy, r.has_test ? " test" : "",
                       r.has_accuracy ? " accuracy" : "", r.is_best ? " best; " : "; ");
      };
      if (change) change(rank, &outcome, &callbacks);
      outcome.error = MessageOf([&] {
        TrainingRun run =
            def != nullptr ? TrainingRun(Folder(), *def, ranks) : TrainingRun(Folder(), ranks);
        outcome.end = run.Run(callbacks);
      });
    };
    std::thread second(train, 1);
    train(0);
    second.join();
    return outcomes;
  }
  std::string Folder() const { return dir_.path("run"); }
  // "w c" of a checkpoint.
  std::string SavedIn(const std::string& file) const {
    Workspace ws;
    EXPECT_TRUE(ws.RunOperatorOnce(LoadOp(file, {"w", "c"})));
    return MakeString(Fetch<float>(ws, "w").at(0), " ", Fetch<float>(ws, "c").at(0));
  }
  // The same after `steps` steps: the distance of w to 4 halves, and c doubles.
  static std::string State(int64_t steps) {
    const int n = static_cast<int>(steps);
    return MakeString(static_cast<float>(4 - std::ldexp(1, 2 - n)), " ",
                      static_cast<float>(std::ldexp(1, n)));
  }
  std::string Saved(int iteration) const { return SavedIn(CheckpointPath(Folder(), iteration)); }

  // The key of the record that a training which goes on from the checkpoint reads first.
  static std::string NextRecord(const std::string& file) {
    Workspace ws;
    EXPECT_TRUE(ws.RunOperatorOnce(LoadOp(file, {"train_reader"})));
    std::string key, value;
    ws.GetBlob("train_reader")->Get<db::DBReader>().Read(&key, &value);
    return key;
  }

  const TempDir dir_;
};

constexpr char kNoError[] = "(nothing was thrown)";

// w is 0, 2, 3, 3.5 and 3.75.
TEST_F(TrainingRanksTest, LearnWhatOneRankLearns) {
  const RunDef def = Def(2);
  for (const RankOutcome& rank : Train("a", &def)) {
    EXPECT_EQ(rank.error, kNoError);
    EXPECT_EQ(rank.epochs, "1 5 1 accuracy best; 2 0.3125 3.25 accuracy best; ");
    EXPECT_THAT(rank.losses, ElementsAre(8, 2, 0.5, 0.125));
    EXPECT_THAT(rank.accuracies, ElementsAre(0, 2, 3, 3.5));
    EXPECT_EQ(rank.end.reason, TrainingEnd::Reason::kDone);
    EXPECT_EQ(rank.end.iteration, 4);
  }
  EXPECT_EQ(Saved(0), "0 1");
  EXPECT_EQ(Saved(2), "3 4");
  EXPECT_EQ(Saved(4), "3.75 16");
  EXPECT_EQ(SavedIn(BestCheckpointPath(Folder())), "3.75 16");
  const TrainState state = ReadTrainState(CheckpointPath(Folder(), 4));
  EXPECT_EQ(state.iteration(), 4);
  EXPECT_EQ(state.epoch(), 2);
  EXPECT_EQ(TrainingLog(dir_.path("run/log.jsonl"), state.log_bytes()).lines().size(), 6u);
  // Nothing is left to do but the results, which rank 0 alone writes: a folder takes the place of one.
  std::filesystem::remove(dir_.path("run/curves.svg"));
  std::filesystem::create_directories(dir_.path("run/curves.svg/inner"));
  std::array<int, 2> warnings = {};
  const auto count = [&](int rank, RankOutcome*, TrainingCallbacks* callbacks) {
    callbacks->on_warning = [&warnings, rank](const std::string&) {
      ++warnings[static_cast<size_t>(rank)];
    };
  };
  for (const RankOutcome& rank : Train("b", nullptr, count)) {
    EXPECT_EQ(rank.error, kNoError);
    EXPECT_EQ(rank.end.iteration, 4);
    EXPECT_TRUE(rank.losses.empty());
  }
  EXPECT_THAT(warnings, ElementsAre(1, 0));
}

// A test on two ranks does not change what the training has, and its results are those of all records.
TEST_F(TrainingRanksTest, RanksEvaluateAllRecords) {
  RunDef def = Def(2);
  def.mutable_test()->set_path(dir_.path("test"));
  def.mutable_test()->set_type("minidb");
  for (const RankOutcome& rank : Train("a", &def)) {
    EXPECT_EQ(rank.error, kNoError);
    EXPECT_EQ(rank.epochs, "1 0.5 3 test accuracy best; 2 1.53125 3.75 test accuracy best; ");
  }
  EXPECT_EQ(Saved(2), "3 4");
  EXPECT_EQ(Saved(4), "3.75 16");
}

// Either rank may want to stop; both do behind the same step, and go on from there, also on one rank.
TEST_F(TrainingRanksTest, StopTogetherAndGoOn) {
  const RunDef def = Def(10);
  const auto stop_after = [](int rank_that_stops, size_t steps) {
    return [=](int rank, RankOutcome* outcome, TrainingCallbacks* callbacks) {
      if (rank != rank_that_stops) return;
      callbacks->should_stop = [=] { return outcome->losses.size() >= steps; };
    };
  };
  // The step behind which both ranks have stopped.
  const auto stopped_at = [&](const std::array<RankOutcome, 2>& outcomes, int64_t begin) {
    const int64_t step = outcomes[0].end.iteration;
    for (const RankOutcome& rank : outcomes) {
      EXPECT_EQ(rank.error, kNoError);
      EXPECT_EQ(rank.end.reason, TrainingEnd::Reason::kStopped);
      EXPECT_EQ(rank.end.iteration, step);
      EXPECT_EQ(rank.losses.size(), static_cast<size_t>(step - begin));
    }
    const std::string file = CheckpointPath(Folder(), step);
    EXPECT_EQ(outcomes[0].end.checkpoint, file);
    EXPECT_EQ(SavedIn(file), State(step));
    EXPECT_EQ(NextRecord(file), RecordKey(2 * step % 4, 8));
    return step;
  };
  const int64_t first = stopped_at(Train("a", &def, stop_after(1, 1)), 0);
  const int64_t second = stopped_at(Train("b", nullptr, stop_after(0, 2)), first);
  EXPECT_GE(first, 1);
  EXPECT_GE(second, first + 2);
  EXPECT_LT(second, 20);
  TrainingRun alone(Folder());
  EXPECT_EQ(alone.first_iteration(), second);
  const TrainingEnd end = alone.Run({});
  EXPECT_EQ(end.reason, TrainingEnd::Reason::kDone);
  EXPECT_EQ(end.iteration, 20);
  EXPECT_EQ(SavedIn(end.checkpoint), State(20));
}

// A signal is reported once, also while no step runs.
TEST_F(TrainingRanksTest, AStopThatIsReportedOnceIsKept) {
  const RunDef def = Def(10);
  const auto outcomes = Train("a", &def, [](int rank, RankOutcome*, TrainingCallbacks* callbacks) {
    if (rank == 1)
      callbacks->should_stop = [asked = false]() mutable { return !std::exchange(asked, true); };
  });
  for (const RankOutcome& rank : outcomes) {
    EXPECT_EQ(rank.error, kNoError);
    EXPECT_EQ(rank.end.reason, TrainingEnd::Reason::kStopped);
    EXPECT_LT(rank.end.iteration, 20);
  }
}

// Rank 1 ends behind the first step, while rank 0 is in the second one: what that has changed is not saved.
TEST_F(TrainingRanksTest, ALostRankLeavesTheStateOfTheLastStep) {
  const RunDef def = Def(2);
  const auto outcomes = Train("a", &def, [](int rank, RankOutcome*, TrainingCallbacks* callbacks) {
    if (rank == 1) {
      callbacks->on_step = [](const TrainingProgress&) { CAFFE_THROW("rank 1 has enough"); };
    } else {
      callbacks->lost_ranks = [](const EnforceNotMet&) { return std::vector<int>{1}; };
    }
  });
  EXPECT_THAT(outcomes[1].error, HasSubstr("rank 1 has enough"));
  EXPECT_THAT(outcomes[0].losses, ElementsAre(8));
  const std::string file = CheckpointPath(Folder(), 1);
  EXPECT_THAT(
      outcomes[0].error,
      HasSubstr("rank 0 of 2: 1 is lost; the state after step 1 is in \"" + file +
                "\"; continue with any number of ranks: caffe2 train --resume " + Folder()));
  EXPECT_EQ(SavedIn(file), "2 2");
  EXPECT_EQ(NextRecord(file), RecordKey(2, 8));
  const TrainState state = ReadTrainState(file);
  EXPECT_EQ(state.iteration(), 1);
  EXPECT_EQ(state.epoch(), 0);
  EXPECT_EQ(state.epoch_steps(), 1);
  TrainingRun alone(Folder());
  EXPECT_EQ(alone.Run({}).iteration, 4);
  EXPECT_EQ(Saved(4), "3.75 16");
}

}  // namespace
}  // namespace caffe2rt::test::training_ranks_test
