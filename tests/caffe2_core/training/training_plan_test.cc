#include "caffe2_core/training/training_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/graph/arguments.h"
#include "tests/caffe2_core/training/small_run.h"

namespace caffe2rt::test::training_plan_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

// The steps as text: "name(substeps)*iterations".
std::string StepText(const ExecutionStep& step) {
  std::string text = step.name();
  if (step.substep_size() > 0) {
    text += "(";
    for (const ExecutionStep& substep : step.substep()) {
      text += (text.back() == '(' ? "" : " ") + StepText(substep);
    }
    text += ")";
  }
  return step.has_num_iter() ? text + "*" + std::to_string(step.num_iter()) : text;
}

std::string StepsOf(const TrainingPlan& made) {
  std::string text;
  for (const ExecutionStep& step : made.plan.execution_step())
    text += (text.empty() ? "" : " ") + StepText(step);
  return text;
}

TEST(TrainingPlanTest, HasAnEpochForAllRecordsAndATestForTheRest) {
  const TrainingPlan made = MakeTrainingPlan(SmallRun(), {Pixels(20), Pixels(18)});
  EXPECT_EQ(made.steps_per_epoch, 3);
  EXPECT_EQ(StepsOf(made), "init epoch(train*3 test_begin test*2 test_rest epoch_end)*3");
}

struct ResumeCase {
  int64_t iteration, epoch;
  const char* steps;
};

class ResumedPlanTest : public ::testing::TestWithParam<ResumeCase> {};

TEST_P(ResumedPlanTest, DoesWhatIsMissing) {
  const TrainingPlan made = MakeTrainingPlan(SmallRun(), {Pixels(24), Pixels(16)},
                                             {.checkpoint = "run/checkpoint-1",
                                              .iteration = GetParam().iteration,
                                              .epoch = GetParam().epoch});
  EXPECT_EQ(StepsOf(made), GetParam().steps);
  const NetDef& init = NetNamed(made.plan, "net_init");
  ASSERT_EQ(init.op_size(), 1);
  EXPECT_EQ(init.op(0).type(), "Load");
  EXPECT_THAT(init.op(0).output(), ::testing::ElementsAreArray(made.state));
}

INSTANTIATE_TEST_SUITE_P(
    States, ResumedPlanTest,
    ::testing::Values(ResumeCase{0, 0, "init epoch(train*3 test_begin test*2 epoch_end)*3"},
                      ResumeCase{1, 0,
                                 "init epoch_rest(train*2 test_begin test*2 epoch_end) "
                                 "epoch(train*3 test_begin test*2 epoch_end)*2"},
                      ResumeCase{3, 0,
                                 "init epoch_rest(test_begin test*2 epoch_end) "
                                 "epoch(train*3 test_begin test*2 epoch_end)*2"},
                      ResumeCase{6, 2, "init epoch(train*3 test_begin test*2 epoch_end)"},
                      ResumeCase{8, 2, "init epoch_rest(train test_begin test*2 epoch_end)"},
                      ResumeCase{9, 3, "init"}));

TEST(TrainingPlanTest, KeepsAllThatTheNextStepReads) {
  const TrainingPlan made = MakeTrainingPlan(SmallRun(), {Pixels(20), std::nullopt});
  EXPECT_THAT(made.state,
              UnorderedElementsAre("train_reader", "conv_w", "conv_b", "bn_s", "bn_b", "bn_rm",
                                   "bn_riv", "fc_w", "fc_b", "optimizer_iteration",
                                   "conv_w_momentum", "conv_b_momentum", "bn_s_momentum",
                                   "bn_b_momentum", "fc_w_momentum", "fc_b_momentum"));
}

TEST(TrainingPlanTest, PreparesPixels) {
  RunDef run = SmallRun();
  run.mutable_train()->mutable_input()->set_scale(0.5f);
  run.mutable_train()->mutable_input()->add_mean(3);
  const TrainingPlan made = MakeTrainingPlan(run, {Pixels(20), std::nullopt});
  std::vector<std::string> types;
  for (int i = 0; i < 6; ++i) types.push_back(NetNamed(made.plan, "net_train").op(i).type());
  EXPECT_THAT(types, ElementsAre("TensorProtosDBInput", "Cast", "NHWC2NCHW", "Scale", "Add",
                                 "FlattenToVec"));
}

TEST(TrainingPlanTest, SetsRatesInEpochs) {
  RunDef run = SmallRun();
  OptimizerDef& optimizer = *run.mutable_train()->mutable_optimizer();
  optimizer.set_policy("step");
  optimizer.set_step_epochs(2.5f);
  const NetDef net = NetNamed(MakeTrainingPlan(run, {Pixels(80), std::nullopt}).plan, "net_train");
  for (const OperatorDef& op : net.op()) {
    if (op.type() != "LearningRate") continue;
    EXPECT_EQ(ArgumentHelper(op).GetSingleArgument<int>("stepsize", 0), 25);
    return;
  }
  FAIL() << "no LearningRate";
}

TEST(TrainingPlanTest, SavesByItself) {
  const TrainingPlan made =
      MakeTrainingPlan(SmallRun(), {Pixels(20), std::nullopt}, {.folder = "out"});
  EXPECT_EQ(made.checkpoint_net, "net_checkpoint");
  EXPECT_EQ(StepsOf(made), "init epoch(train*3 epoch_end)*3 save");
  const OperatorDef& checkpoint = NetNamed(made.plan, "net_checkpoint").op(0);
  EXPECT_EQ(checkpoint.input(0), "optimizer_iteration");
  EXPECT_EQ(static_cast<size_t>(checkpoint.input_size()), made.state.size());
}

// Caffe2's input operators read ahead, so that a second one on the same reader would disturb it.
TEST(TrainingPlanTest, ReadsTheTestSetInBatchesOfOneSizeForCaffe2) {
  const TrainingPlan made =
      MakeTrainingPlan(SmallRun(), {Pixels(20), Pixels(18)}, {.folder = "out", .for_caffe2 = true});
  EXPECT_EQ(StepsOf(made), "init epoch(train*3 test_begin test epoch_end)*3 save");
}

// 18 records in batches of 8: two whole batches and a rest of 2.
TEST(TestPlanTest, LoadsWhatTheTestReadsAndTestsAllRecords) {
  const RunDef run = SmallRun();
  TrainingPlan made;
  made.plan = MakeTestPlan(run.train(), Pixels(18), "run/checkpoint");
  EXPECT_EQ(made.plan.name(), "net_test");
  EXPECT_EQ(StepsOf(made), "init test_begin test*2 test_rest");
  const NetDef& init = NetNamed(made.plan, "net_init");
  ASSERT_GT(init.op_size(), 0);
  EXPECT_EQ(init.op(0).type(), "Load");
  EXPECT_EQ(ArgumentHelper(init.op(0)).GetSingleArgument<std::string>("db", ""), "run/checkpoint");
  EXPECT_THAT(init.op(0).output(), UnorderedElementsAre("conv_w", "conv_b", "bn_s", "bn_b", "bn_rm",
                                                        "bn_riv", "fc_w", "fc_b"));
}

struct ErrorCase {
  TensorProto::DataType type;
  int tensors;
  const char* text;
};

class PlanErrorTest : public ::testing::TestWithParam<ErrorCase> {};

TEST_P(PlanErrorTest, NamesTheProblem) {
  DataFacts facts = Pixels(20);
  facts.tensors.resize(static_cast<size_t>(GetParam().tensors));
  facts.tensors[0].type = GetParam().type;
  try {
    (void)MakeTrainingPlan(SmallRun(), {facts, std::nullopt});
    FAIL();
  } catch (const EnforceNotMet& error) {
    EXPECT_THAT(error.message(), HasSubstr(GetParam().text));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Data, PlanErrorTest,
    ::testing::Values(
        ErrorCase{TensorProto::BYTE, 1, "have 1 tensor, but the input has 2 blobs: data, label"},
        ErrorCase{TensorProto::STRING, 2, "are encoded images: set the size of the net's input"}));

}  // namespace
}  // namespace caffe2rt::test::training_plan_test
