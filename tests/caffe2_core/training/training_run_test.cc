// Training of a small net on a small database: that it learns, and that a run which ends and goes on
// reaches the same weights, byte for byte.
#include "caffe2_core/training/training_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <numeric>
#include <random>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/training/checkpoint_files.h"
#include "caffe2_core/training/model_builder.h"
#include "caffe2_core/training/record_database.h"
#include "caffe2_core/training/training_log.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::training_run_test {
namespace {

using ::testing::AllOf;
using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pointwise;
using ::testing::SizeIs;

constexpr int kRecords = 50;

// Points of a plane; the label is 1 above a line.
void WritePoints(const std::string& type, const std::string& path) {
  RecordDatabase database(type, path);
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (int i = 0; i < kRecords; ++i) {
    TrainingRecord record{.key = RecordKey(i, 8), .tensors = {}};
    const float x = uniform(random), y = uniform(random);
    TensorProto* point = record.tensors.add_protos();
    point->add_dims(2);
    point->set_data_type(TensorProto::FLOAT);
    point->add_float_data(x);
    point->add_float_data(y);
    AddLabel(y > x / 2 ? 1 : 0, LabelDims::kOne, &record.tensors);
    database.Acceptor()(record);
  }
  database.Finish();
}

RunDef PointsRun(const TempDir& dir, const std::string& type) {
  ModelBuilder model("points");
  std::string x = model.Op("Relu", {model.FC("data", "fc1", 2, 16)}, "relu");
  x = model.Dropout(x, "drop", 0.1f);
  model.SoftmaxLoss(model.FC(x, "fc2", 16, 2), "label");
  model.Input().set_batch_size(8);
  model.Optimizer().set_rate(0.1f);
  model.Optimizer().set_momentum(0.9f);
  RunDef run;
  *run.mutable_train() = model.def();
  run.mutable_data()->set_path(dir.path("points." + type));
  run.mutable_data()->set_type(type);
  *run.mutable_test() = run.data();
  run.set_epochs(3);
  return run;
}

// Stops after `steps` steps; -1: does not.
TrainingEnd RunFor(TrainingRun run, int steps) {
  TrainingCallbacks callbacks;
  int done = 0;
  callbacks.on_step = [&](const TrainingProgress&) { ++done; };
  callbacks.should_stop = [&] { return done == steps; };
  return run.Run(callbacks);
}

TEST(TrainingRunTest, LearnsAndLeavesAPredictor) {
  const TempDir dir;
  WritePoints("minidb", dir.path("points.minidb"));
  RunDef run = PointsRun(dir, "minidb");
  run.set_epochs(30);
  std::vector<EpochResult> epochs;
  TrainingCallbacks callbacks;
  callbacks.on_epoch = [&](const EpochResult& result) { epochs.push_back(result); };
  const TrainingEnd end = TrainingRun(dir.path("run"), run).Run(callbacks);
  EXPECT_EQ(end.iteration, 30 * 7);  // 50 records, 8 in a step
  ASSERT_THAT(epochs, SizeIs(30));
  EXPECT_GE(epochs.back().accuracy, 0.9);
  // The test has six full batches and a rest of two.
  const TestResult test = TestRun(dir.path("run"), {"minidb", dir.path("points.minidb")});
  EXPECT_EQ(test.records, kRecords);
  EXPECT_FLOAT_EQ(static_cast<float>(test.accuracy), static_cast<float>(epochs.back().accuracy));
  EXPECT_FLOAT_EQ(static_cast<float>(test.loss), static_cast<float>(epochs.back().loss));
  EXPECT_NEAR(test.accuracy * kRecords, std::round(test.accuracy * kRecords), 1e-4);

  Predictor predictor(LoadModel({.predictor_db = dir.path("run/model.minidb")}));
  Tensor point({2, 2}, CPU);
  const std::vector<float> values = {0, 0.9f, 0, -0.9f};
  std::copy(values.begin(), values.end(), point.mutable_data<float>());
  std::vector<Tensor> out;
  ASSERT_TRUE(predictor(Predictor::TensorList{point}, &out));
  ASSERT_THAT(out, SizeIs(1));
  EXPECT_GT(out[0].data<float>()[1], 0.8f);
  EXPECT_GT(out[0].data<float>()[2], 0.8f);
}

// Of 7 steps in an epoch. The second run goes on where the first one has stopped.
TEST(TrainingRunTest, ReportsInEachStepWhatIsDoneAndWhatIsLeft) {
  const TempDir dir;
  WritePoints("minidb", dir.path("points.minidb"));
  RunDef run = PointsRun(dir, "minidb");
  run.clear_test();
  int64_t steps = 0;
  TrainingCallbacks callbacks;
  callbacks.on_step = [&](const TrainingProgress& progress) {
    SCOPED_TRACE(++steps);
    EXPECT_EQ(progress.iteration, steps);
    EXPECT_EQ(progress.epoch, (steps - 1) / 7 + 1);
    EXPECT_DOUBLE_EQ(progress.share, static_cast<double>((steps - 1) % 7 + 1) / 7);
    EXPECT_FLOAT_EQ(static_cast<float>(progress.rate), 0.1f);
    EXPECT_GT(progress.loss, 0);
    EXPECT_TRUE(progress.has_accuracy);
    EXPECT_GE(progress.accuracy, 0);
    EXPECT_LE(progress.accuracy, 1);
    EXPECT_GT(progress.images_per_second, 0);
    // Steps of 8 images.
    EXPECT_NEAR(progress.seconds_left * progress.images_per_second / 8,
                static_cast<double>(21 - steps), 1e-3);
  };
  callbacks.should_stop = [&] { return steps == 10; };
  TrainingEnd end = TrainingRun(dir.path("run"), run).Run(callbacks);
  EXPECT_EQ(end.iteration, steps);
  EXPECT_EQ(end.reason, TrainingEnd::Reason::kStopped);
  callbacks.should_stop = nullptr;
  end = TrainingRun(dir.path("run")).Run(callbacks);
  EXPECT_EQ(end.iteration, 21);
  EXPECT_EQ(end.reason, TrainingEnd::Reason::kDone);
  EXPECT_EQ(steps, 21);
}

TEST(TrainingRunTest, FindsRecordsOfTheTestThatTheNetRejectsBeforeItTrains) {
  const TempDir dir;
  WritePoints("minidb", dir.path("points.minidb"));
  RecordDatabase database("minidb", dir.path("other.minidb"));
  TrainingRecord record{.key = RecordKey(0, 8), .tensors = {}};
  TensorProto* point = record.tensors.add_protos();
  point->add_dims(3);
  point->set_data_type(TensorProto::FLOAT);
  for (int i = 0; i < 3; ++i) point->add_float_data(1);
  AddLabel(0, LabelDims::kOne, &record.tensors);
  database.Acceptor()(record);
  database.Finish();
  RunDef run = PointsRun(dir, "minidb");
  run.mutable_test()->set_path(dir.path("other.minidb"));
  int steps = 0;
  TrainingCallbacks callbacks;
  callbacks.on_step = [&](const TrainingProgress&) { ++steps; };
  ExpectThrows(
      [&] { TrainingRun(dir.path("run"), run).Run(callbacks); },
      "other.minidb\", are FLOAT [3], INT32 [1], those of the training FLOAT [2], INT32 [1]");
  EXPECT_EQ(steps, 0);
  EXPECT_FALSE(std::filesystem::exists(dir.path("run")));
}

TEST(TrainingRunTest, KeepsTheLastCheckpointsAndTheBest) {
  const TempDir dir;
  WritePoints("minidb", dir.path("points.minidb"));
  RunDef run = PointsRun(dir, "minidb");
  run.set_checkpoint_every(5);
  run.set_keep(2);
  RunFor(TrainingRun(dir.path("run"), run), -1);
  std::vector<int64_t> iterations;
  for (const CheckpointFile& file : CheckpointsOf(dir.path("run")))
    iterations.push_back(file.iteration);
  EXPECT_THAT(iterations, ElementsAre(20, 21));
  EXPECT_TRUE(std::filesystem::exists(BestCheckpointPath(dir.path("run"))));
  EXPECT_THAT(ReadWholeFile(dir.path("run/curves.svg")), HasSubstr("<polyline"));
}

class ResumedRunTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ResumedRunTest, ReachesTheSameWeights) {
  const std::string type = GetParam();
  const TempDir dir;
  WritePoints(type, dir.path("points." + type));
  const RunDef run = PointsRun(dir, type);
  RunFor(TrainingRun(dir.path("whole"), run), -1);
  // In an epoch, at its end, twice, and before the first step.
  const std::vector<std::vector<int>> cases = {{3}, {7}, {14}, {2, 9}, {0, 1, 1}};
  for (size_t i = 0; i < cases.size(); ++i) {
    const std::string folder = dir.path("parts" + std::to_string(i));
    TrainingEnd end = RunFor(TrainingRun(folder, run), cases[i][0]);
    EXPECT_EQ(end.reason, TrainingEnd::Reason::kStopped);
    for (size_t k = 1; k < cases[i].size(); ++k) RunFor(TrainingRun(folder), cases[i][k]);
    SetNumThreads(2);
    end = RunFor(TrainingRun(folder), -1);
    SetNumThreads(1);
    EXPECT_EQ(end.iteration, 21);
    EXPECT_EQ(ReadWholeFile(folder + "/model.minidb"),
              ReadWholeFile(dir.path("whole/model.minidb")))
        << i;
    const TrainingLog log(folder + "/log.jsonl",
                          static_cast<int64_t>(ReadWholeFile(folder + "/log.jsonl").size()));
    const TrainingLog whole(
        dir.path("whole/log.jsonl"),
        static_cast<int64_t>(ReadWholeFile(dir.path("whole/log.jsonl")).size()));
    ASSERT_EQ(log.lines().size(), whole.lines().size()) << i;
    for (size_t k = 0; k < log.lines().size(); ++k) {
      EXPECT_EQ(log.lines()[k].loss, whole.lines()[k].loss) << i << " line " << k;
      EXPECT_EQ(log.lines()[k].test_loss, whole.lines()[k].test_loss) << i << " line " << k;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Databases, ResumedRunTest, ::testing::Values("minidb", "leveldb", "lmdb"),
                         [](const auto& info) { return std::string(info.param); });

TEST(TrainingRunTest, WithoutATestTakesTheMeansOfAnEpochsSteps) {
  const TempDir dir;
  WritePoints("minidb", dir.path("points.minidb"));
  RunDef run = PointsRun(dir, "minidb");
  run.clear_test();
  // Of the steps of an epoch. Each step has a line in the log.
  std::vector<double> losses, accuracies;
  std::vector<double> want, got;
  TrainingCallbacks callbacks;
  callbacks.on_step = [&](const TrainingProgress& progress) {
    losses.push_back(progress.loss);
    accuracies.push_back(progress.accuracy);
  };
  callbacks.on_epoch = [&](const EpochResult& result) {
    for (std::vector<double>* values : {&losses, &accuracies}) {
      ASSERT_THAT(*values, SizeIs(7));
      want.push_back(std::accumulate(values->begin(), values->end(), 0.0) / 7);
      values->clear();
    }
    got.push_back(result.loss);
    got.push_back(result.accuracy);
  };
  // Stopped in the first epoch, and in the second one.
  callbacks.should_stop = [&] { return losses.size() == 3; };
  TrainingRun(dir.path("run"), run).Run(callbacks);
  EXPECT_THAT(got, SizeIs(0));
  callbacks.should_stop = [&] { return got.size() == 2 && losses.size() == 4; };
  TrainingRun(dir.path("run")).Run(callbacks);
  EXPECT_THAT(got, SizeIs(2));
  callbacks.should_stop = {};
  EXPECT_EQ(TrainingRun(dir.path("run")).Run(callbacks).iteration, 21);
  EXPECT_THAT(got, Pointwise(DoubleEq(), want));
  EXPECT_THAT(got, SizeIs(6));
}

TEST(TrainingRunTest, EndsWithoutGain) {
  const TempDir dir;
  WritePoints("minidb", dir.path("points.minidb"));
  RunDef run = PointsRun(dir, "minidb");
  // Nothing is learned with this rate, so that only the first epoch is a gain.
  run.mutable_train()->mutable_optimizer()->set_rate(1e-30f);
  run.set_epochs(10);
  run.set_stop_after(2);
  const TrainingEnd end = RunFor(TrainingRun(dir.path("run"), run), -1);
  EXPECT_EQ(end.reason, TrainingEnd::Reason::kNoGain);
  EXPECT_EQ(end.iteration, 3 * 7);
  // It has ended: nothing is left to do, but a net that could not be written.
  std::filesystem::remove(dir.path("run/model.minidb"));
  const TrainingEnd again = RunFor(TrainingRun(dir.path("run")), -1);
  EXPECT_EQ(again.reason, TrainingEnd::Reason::kNoGain);
  EXPECT_EQ(again.iteration, 3 * 7);
  EXPECT_TRUE(std::filesystem::exists(dir.path("run/model.minidb")));
}

TEST(TrainingRunTest, GoesOnWhenNothingCanBeWritten) {
  const TempDir dir;
  WritePoints("minidb", dir.path("points.minidb"));
  TrainingRun run(dir.path("run"), PointsRun(dir, "minidb"));
  std::vector<std::string> warnings;
  TrainingCallbacks callbacks;
  callbacks.on_warning = [&](const std::string& text) { warnings.push_back(text); };
  callbacks.on_step = [&](const TrainingProgress& progress) {
    // No file can be created in place of a folder that has files.
    if (progress.iteration == 1)
      std::filesystem::create_directories(dir.path("run/checkpoint-7/x"));
  };
  EXPECT_EQ(run.Run(callbacks).iteration, 21);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("checkpoint-7")));
}

TEST(TrainingRunTest, StatesThatTheTrainedNetIsMissing) {
  const TempDir dir;
  WritePoints("minidb", dir.path("points.minidb"));
  TrainingRun run(dir.path("run"), PointsRun(dir, "minidb"));
  TrainingCallbacks callbacks;
  callbacks.on_step = [&](const TrainingProgress&) {
    std::filesystem::create_directories(dir.path("run/model.minidb/x"));
  };
  EXPECT_TRUE(run.Run(callbacks).model_is_missing);
  // Nothing is left to train, but to write.
  std::filesystem::remove_all(dir.path("run/model.minidb"));
  const TrainingEnd end = RunFor(TrainingRun(dir.path("run")), -1);
  EXPECT_FALSE(end.model_is_missing);
  EXPECT_EQ(end.iteration, 21);
  RunFor(TrainingRun(dir.path("whole"), PointsRun(dir, "minidb")), -1);
  EXPECT_EQ(ReadWholeFile(dir.path("run/model.minidb")),
            ReadWholeFile(dir.path("whole/model.minidb")));
}

TEST(TrainingRunTest, StartsWithGivenWeights) {
  const TempDir dir;
  WritePoints("minidb", dir.path("points.minidb"));
  RunDef run = PointsRun(dir, "minidb");
  RunFor(TrainingRun(dir.path("first"), run), -1);
  run.set_init(dir.path("first/model.minidb"));
  run.mutable_train()->mutable_optimizer()->set_rate(1e-30f);
  run.mutable_train()->mutable_optimizer()->clear_momentum();
  TrainingRun second(dir.path("second"), run);
  EXPECT_THAT(second.missing_weights(), ElementsAre());
  RunFor(std::move(second), -1);
  const auto test = [&](const char* folder) {
    return TestRun(dir.path(folder), {"minidb", dir.path("points.minidb")}).loss;
  };
  EXPECT_FLOAT_EQ(static_cast<float>(test("second")), static_cast<float>(test("first")));

  ModelBuilder other("points");
  other.SoftmaxLoss(other.FC(other.FC("data", "fc1", 2, 16), "fc2", 16, 3), "label");
  *run.mutable_train()->mutable_net() = other.def().net();
  *run.mutable_train()->mutable_param() = other.def().param();
  EXPECT_THAT(TrainingRun(dir.path("third"), run).missing_weights(),
              ElementsAre("fc2_w (has [2, 16], want [3, 16])", "fc2_b (has [2], want [3])"));
}

TEST(TrainingRunTest, RejectsFoldersThatAreNotFree) {
  const TempDir dir;
  WritePoints("minidb", dir.path("points.minidb"));
  dir.Write("run/notes.txt", "mine");
  const RunDef run = PointsRun(dir, "minidb");
  try {
    TrainingRun made(dir.path("run"), run);
    FAIL();
  } catch (const EnforceNotMet& error) {
    EXPECT_THAT(error.message(),
                AllOf(HasSubstr("exists; choose another folder"), Not(HasSubstr("--resume"))));
  }
  TrainingRun made(dir.path("made"), run);
  try {
    TrainingRun again(dir.path("made"), run);
    FAIL();
  } catch (const EnforceNotMet& error) {
    EXPECT_THAT(error.message(), HasSubstr("or go on with caffe2 train --resume"));
  }
  try {
    TrainingRun resumed(dir.path("run"));
    FAIL();
  } catch (const EnforceNotMet& error) {
    EXPECT_THAT(error.message(), HasSubstr("it has no run.pbtxt"));
  }
}

TEST(TrainingRunTest, LeavesNoFolderIfTheFirstStepFails) {
  const TempDir dir;
  WritePoints("minidb", dir.path("points.minidb"));
  const RunDef run = PointsRun(dir, "minidb");
  RunDef wrong = run;
  wrong.mutable_train()->mutable_param(0)->set_dims(1, 3);  // the points have two coordinates
  EXPECT_THROW(RunFor(TrainingRun(dir.path("run"), wrong), -1), EnforceNotMet);
  EXPECT_FALSE(std::filesystem::exists(dir.path("run")));
  RunFor(TrainingRun(dir.path("run"), run), -1);
  EXPECT_TRUE(std::filesystem::exists(dir.path("run/model.minidb")));
}

TEST(TrainingRunTest, AFolderThatExistedStaysIfTheFirstStepFails) {
  const TempDir dir;
  WritePoints("minidb", dir.path("points.minidb"));
  RunDef wrong = PointsRun(dir, "minidb");
  wrong.clear_test();
  wrong.mutable_train()->mutable_param(0)->set_dims(1, 3);
  EXPECT_EQ(RunFor(TrainingRun(dir.path("run"), wrong), 0).iteration, 0);
  EXPECT_THROW(RunFor(TrainingRun(dir.path("run")), -1), EnforceNotMet);
  EXPECT_TRUE(std::filesystem::exists(dir.path("run/run.pbtxt")));
}

TEST(TrainingRunTest, StopsAtALossThatIsNoNumber) {
  const TempDir dir;
  WritePoints("minidb", dir.path("points.minidb"));
  RunDef run = PointsRun(dir, "minidb");
  run.mutable_train()->mutable_optimizer()->set_rate(1e30f);
  try {
    RunFor(TrainingRun(dir.path("run"), run), -1);
    FAIL();
  } catch (const EnforceNotMet& error) {
    EXPECT_THAT(error.message(), AllOf(HasSubstr("the loss of step "), HasSubstr("a lower rate")));
  }
  EXPECT_THAT(CheckpointsOf(dir.path("run")), SizeIs(1));
}

}  // namespace
}  // namespace caffe2rt::test::training_run_test
