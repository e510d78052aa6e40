// Logs on a full disk, tests of plans for Caffe2, and what data parallel nets and first tests check.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/training/data_file.h"
#include "caffe2_core/training/data_parallel.h"
#include "caffe2_core/training/test_trial.h"
#include "caffe2_core/training/training_log.h"
#include "caffe2_core/training/training_plan.h"
#include "tests/caffe2_core/training/small_run.h"
#include "tests/support/file_limit.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::training_details_test {
namespace {

using testing::HasSubstr;

LogLine LossLine(int64_t iteration) {
  LogLine line{.epoch = 1, .iteration = iteration};
  line.loss = 0.5;
  return line;
}

TEST(TrainingLogOnAFullDiskTest, HasWholeLinesOnly) {
  const TempDir dir;
  const std::string path = dir.path("log.jsonl");
  TrainingLog log(path, 0);
  log.Add(LossLine(1));
  const std::string first = ReadWholeFile(path);
  const int64_t bytes = log.bytes();
  EXPECT_EQ(bytes, static_cast<int64_t>(first.size()));
  const std::string what = "cannot write to the log \"" + path + "\": ";
  {
    const FileLimit limit(bytes + 7);  // a part of the line fits
    EXPECT_EQ(MessageOf([&] { log.Add(LossLine(2)); }), what + "no space left");
    EXPECT_EQ(ReadWholeFile(path), first);
  }
  {
    const FileLimit limit(bytes);
    EXPECT_EQ(MessageOf([&] { log.Add(LossLine(2)); }), what + "File too large");
  }
  EXPECT_EQ(ReadWholeFile(path), first);
  EXPECT_EQ(log.bytes(), bytes);
  EXPECT_EQ(log.lines().size(), 1u);
  log.Add(LossLine(2));
  EXPECT_EQ(ReadWholeFile(path), first + LogLineAsJson(LossLine(2)) + "\n");
  EXPECT_EQ(TrainingLog(path, log.bytes()).lines().size(), 2u);
}

// A file of two bytes may be the beginning of a compressed one, whose end is missing.
TEST(DataFileDetailsTest, ShortFilesAreCompressedIfTheyBeginSo) {
  const TempDir dir;
  char bytes[2] = {};
  DataFile plain(dir.Write("plain", "ab"));
  EXPECT_TRUE(plain.Read(bytes, 1, "a letter"));
  EXPECT_EQ(bytes[0], 'a');
  DataFile one(dir.Write("one", "\x1f"));
  EXPECT_NO_THROW((void)one.Read(bytes, 1, "a byte"));
  EXPECT_EQ(bytes[0], '\x1f');
  const std::string path = dir.Write("two", "\x1f\x8b");
  DataFile two(path);
  EXPECT_THROW(
      {
        if (!two.Read(bytes, 2, "two bytes")) CAFFE_THROW("the file has ended");
      },
      EnforceNotMet);
}

const ExecutionStep* FindStep(const google::protobuf::RepeatedPtrField<ExecutionStep>& steps,
                              const std::string& name) {
  for (const ExecutionStep& step : steps) {
    if (step.name() == name) return &step;
    if (const ExecutionStep* const found = FindStep(step.substep(), name)) return found;
  }
  return nullptr;
}

// Caffe2's reader makes no smaller batch at the end, so that the batch must divide the records.
TEST(PlanForCaffe2Test, BatchesOfTestsDivideTheRecordsAndAreAsLargeAsPossible) {
  struct Row {
    int64_t records, batches;
  };
  for (const Row& row : {Row{1, 1}, Row{7, 1}, Row{256, 1}, Row{257, 257}, Row{258, 2}, Row{300, 2},
                         Row{514, 257}, Row{1000, 4}}) {
    SCOPED_TRACE(row.records);
    const TrainingPlan made =
        MakeTrainingPlan(SmallRun(), {Pixels(24), Pixels(row.records)}, {.for_caffe2 = true});
    const ExecutionStep* const step = FindStep(made.plan.execution_step(), "test");
    ASSERT_NE(step, nullptr);
    EXPECT_EQ(std::max<int64_t>(1, step->num_iter()), row.batches);
    EXPECT_EQ(FindStep(made.plan.execution_step(), "test_rest"), nullptr);
  }
}

NetDef NetOfGradients() {
  return ParseNet(R"(name: "n"
    op { type: "ConstantFill" input: "loss" output: "loss_autogen_grad" arg { name: "value" f: 1 } }
    op { type: "Copy" input: "loss_autogen_grad" output: "w_grad" })");
}

TEST(DataParallelDetailsTest, GradientsNeedAnOperatorAndAStart) {
  const NetDef init =
      ParseNet(R"(op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 2 } })");
  const DataParallelNet def{.share = 0.25f, .loss = "loss", .accuracy = "", .init = &init};
  NetDef net = NetOfGradients();
  AddGradientSums(def, {{"w", {.dense_ = "w_grad"}}}, &net);
  ASSERT_EQ(net.op(0).type(), "ConstantFill");
  ASSERT_EQ(net.op(0).arg_size(), 1);
  EXPECT_EQ(net.op(0).arg(0).f(), 0.25f);
  net = NetOfGradients();
  EXPECT_EQ(MessageOf([&] {
              AddGradientSums(def, {{"w", {.dense_ = "v_grad"}}}, &net);
            }),
            "no operator of net \"n\" writes the gradient \"v_grad\"");
  net = NetOfGradients();
  net.mutable_op(0)->set_output(0, "other");
  EXPECT_EQ(MessageOf([&] { AddGradientSums(def, {}, &net); }),
            "net \"n\" has no operator that fills the gradient of the loss \"loss\"");
  EXPECT_EQ(
      MessageOf([] {
        CheckForRanks({{"w", {.indices_ = "i", .values_ = "v"}}});
      }),
      "parameter \"w\" has a gradient of rows, which several ranks cannot add; train on one rank");
}

TEST(TestTrialDetailsTest, ReadsOnlyWhatTheRunMayRead) {
  DataFacts other = Pixels(18);
  other.tensors[0].dims = {5, 5, 1};
  const TrainingData data{Pixels(20), other};
  const TrainingPlan plan = MakeTrainingPlan(SmallRun(), data);
  std::string message = MessageOf([&] { TryTest(plan, data, FileAccess::Off("a remedy")); });
  EXPECT_THAT(message, HasSubstr("a remedy"));
  EXPECT_THAT(
      message,
      HasSubstr("the records of the test, \"pixels.minidb\", are BYTE [5, 5, 1], INT32 [1], "
                "those of the training BYTE [4, 4, 1], INT32 [1]"));
  message = MessageOf([&] { TryTest(plan, data, FileAccess::Free()); });
  EXPECT_THAT(message, testing::Not(HasSubstr("a remedy")));
  // The records of both are alike, so that there is nothing to try; nor is there without a test.
  EXPECT_NO_THROW(TryTest(plan, {Pixels(20), Pixels(18)}, FileAccess::Off("a remedy")));
  EXPECT_NO_THROW(TryTest(plan, {Pixels(20), std::nullopt}, FileAccess::Off("a remedy")));
}

}  // namespace
}  // namespace caffe2rt::test::training_details_test
