// Plans of trainings where the definition leaves a choice: lengths of a policy, seeds, nets without
// accuracy, tests that change state, and the plan of a test alone.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/training/training_plan.h"
#include "tests/caffe2_core/training/operator_line.h"
#include "tests/caffe2_core/training/small_run.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::plan_choices_test {
namespace {

std::string PlannedLine(const OperatorDef& op) { return OperatorLine(op, false) + "\n"; }

std::string PlannedLines(const NetDef& net) {
  std::string text;
  for (const OperatorDef& op : net.op()) text += PlannedLine(op);
  return text;
}

std::string NetNames(const PlanDef& plan) {
  std::string names;
  for (const NetDef& net : plan.network()) names += net.name() + " ";
  return names;
}

const OperatorDef& Planned(const NetDef& net, const std::string& type) {
  for (const OperatorDef& op : net.op()) {
    if (op.type() == type) return op;
  }
  CAFFE_THROW("no operator ", type);
}

// 80 records in batches of 8: 10 steps in each of 3 epochs.
TEST(PlannedPolicyTest, LengthsFollowFromTheEpochsUnlessTheyAreGiven) {
  struct Row {
    const char* optimizer;
    const char* want;
  };
  for (const Row& row : std::vector<Row>{
           {"", "policy=fixed base_lr=0.01"},
           {"policy: 'poly'", "max_iter=30 policy=poly base_lr=0.01"},
           {"policy: 'poly' policy_arg { name: 'power' f: 2 }",
            "power=2 max_iter=30 policy=poly base_lr=0.01"},
           {"policy: 'poly' policy_arg { name: 'max_iter' i: 7 }",
            "max_iter=7 policy=poly base_lr=0.01"},
           {"policy: 'cosine'", "period=30 policy=cosine base_lr=0.01"},
           {"policy: 'cosine' policy_arg { name: 'period' i: 4 }",
            "period=4 policy=cosine base_lr=0.01"},
           {"policy: 'step' policy_arg { name: 'stepsize' i: 9 }",
            "stepsize=9 policy=step base_lr=0.01"},
           {"policy: 'step' step_epochs: 2 policy_arg { name: 'stepsize' i: 9 }",
            "stepsize=9 policy=step base_lr=0.01"},
           {"policy: 'step' step_epochs: 2", "stepsize=20 policy=step base_lr=0.01"},
           {"policy: 'step' step_epochs: 0.25", "stepsize=2 policy=step base_lr=0.01"},
           {"policy: 'step' step_epochs: 0.01", "stepsize=1 policy=step base_lr=0.01"}}) {
    RunDef run = SmallRun();
    ASSERT_TRUE(google::protobuf::TextFormat::MergeFromString(
        row.optimizer, run.mutable_train()->mutable_optimizer()));
    const NetDef net =
        NetNamed(MakeTrainingPlan(run, {Pixels(80), std::nullopt}).plan, "net_train");
    EXPECT_EQ(PlannedLine(Planned(net, "LearningRate")),
              MakeString("LearningRate optimizer_iteration -> learning_rate ", row.want, "\n"));
  }
}

// An argument holds 31 bits of a seed of 64.
TEST(PlannedSeedTest, ShufflesBySeedsOf31Bits) {
  constexpr uint64_t kMost = 2147483647;
  struct Row {
    uint64_t seed, want;
  };
  for (const Row& row : {Row{0, 0}, Row{5, 5}, Row{kMost - 1, kMost - 1}, Row{kMost, 0},
                         Row{kMost + 4, 4}, Row{2 * kMost + 1, 1}}) {
    RunDef run = SmallRun();
    run.set_seed(row.seed);
    const auto open = [&](const RankOptions& ranks) {
      return PlannedLine(
          Planned(NetNamed(MakeTrainingPlan(run, {Pixels(80), std::nullopt}, {.ranks = ranks}).plan,
                           "net_init"),
                  "CreateDB"));
    };
    const std::string database = "CreateDB -> train_reader db_type=minidb db=pixels.minidb";
    EXPECT_EQ(open({}), database + "\n");
    run.set_shuffle(true);
    const std::string shuffle = MakeString(" shuffle=1 shuffle_seed=", row.want, "\n");
    EXPECT_EQ(open({}), database + shuffle);
    EXPECT_EQ(open({.rank = 1, .size = 2, .store = "s"}),
              database + " num_shards=2 shard_id=1 block=8 first_block=0" + shuffle);
  }
}

// y = data w + b, with b fixed, in batches of 4.
RunDef LineRun() {
  RunDef run;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(R"(
      train { name: "line"
        net { op { type: "FC" input: ["data", "w", "b"] output: "y" }
              op { type: "SquaredL2Distance" input: ["y", "label"] output: "d" }
              op { type: "AveragedLoss" input: "d" output: "loss" } }
        param { name: "w" dims: [1, 2] fill: "XavierFill" }
        param { name: "b" dims: 1 trained: false }
        input { batch_size: 4 } optimizer { rate: 0.5 } }
      epochs: 2)",
                                                            &run));
  return run;
}

DataFacts Points(int64_t records) {
  return {.place = {"lmdb", "points"},
          .records = records,
          .tensors = {{TensorProto::FLOAT, {2}}, {TensorProto::FLOAT, {1}}}};
}

// The first of two ranks starts with given weights, and saves; there is no accuracy to vote on. Of the 9 records of
// the test it has five, in batches of two.
TEST(PlanWithoutAccuracyTest, RanksExchangeOnlyTheLoss) {
  RunDef run = LineRun();
  run.set_init("first.minidb");
  const RankOptions ranks = {.rank = 0,
                             .size = 2,
                             .store = "file:/s",
                             .run_id = "r",
                             .interface = "eth0",
                             .timeout_ms = 50};
  const TrainingPlan made =
      MakeTrainingPlan(run, {Points(12), Points(9)}, {.ranks = ranks, .folder = "out"});
  EXPECT_EQ(NetNames(made.plan),
            "line_init line_train line_test_begin line_test line_test_rest line_test_sum "
            "line_checkpoint line_save ");
  EXPECT_EQ(PlannedLines(NetNamed(made.plan, "line_init")),
            "XavierFill -> w shape=\n"
            "ConstantFill -> b shape=\n"
            "ConstantFill -> optimizer_iteration shape= dtype=10 value=0\n"
            "ConstantFill -> optimizer_one shape= value=1\n"
            "CreateDB -> train_reader db_type=lmdb db=points num_shards=2 shard_id=0 block=4 "
            "first_block=0\n"
            "Load -> db=first.minidb db_type=minidb absolute_path=1 load_all=1\n"
            "FileStoreHandlerCreate -> train_store path=file:/s prefix=r\n"
            "CreateCommonWorld train_store -> train_world rank=0 size=2 timeout_ms=50 "
            "interface=eth0\n"
            "Broadcast train_world w -> w\n"
            "Broadcast train_world b -> b\n"
            "Broadcast train_world optimizer_iteration -> optimizer_iteration\n"
            "Broadcast train_world optimizer_one -> optimizer_one\n"
            "ConstantFill -> train_stop shape= value=0\n");
  EXPECT_EQ(PlannedLines(NetNamed(made.plan, "line_train")),
            "TensorProtosDBInput train_reader -> data label batch_size=2\n"
            "FC data w b -> y\n"
            "SquaredL2Distance y label -> d\n"
            "AveragedLoss d -> loss\n"
            "ConstantFill loss -> loss_autogen_grad value=0.5\n"
            "AveragedLossGradient d loss_autogen_grad -> d_grad\n"
            "SquaredL2DistanceGradient y label d_grad -> y_grad label_grad\n"
            "FCGradient data w y_grad -> w_grad b_grad data_grad\n"
            "Reshape loss -> loss_vote loss_vote_dims shape=\n"
            "Scale loss_vote -> loss_vote scale=0.5\n"
            "Concat loss_vote train_stop -> train_votes train_votes_dims axis=0\n"
            "AllreduceCoalesced train_world w_grad train_votes -> w_grad train_votes\n"
            "Iter optimizer_iteration -> optimizer_iteration\n"
            "LearningRate optimizer_iteration -> learning_rate policy=fixed base_lr=-0.5\n"
            "WeightedSum w optimizer_one w_grad learning_rate -> w\n");
  EXPECT_EQ(PlannedLines(NetNamed(made.plan, "line_test_begin")),
            "CreateDB -> test_reader db_type=lmdb db=points num_shards=2 shard_id=0\n"
            "ConstantFill -> test_one shape= value=1\n"
            "ConstantFill -> test_loss_mean shape= value=0\n"
            "ConstantFill -> test_weight_2 shape= value=0.222222\n"
            "ConstantFill -> test_weight_1 shape= value=0.111111\n");
  EXPECT_EQ(PlannedLines(NetNamed(made.plan, "line_test_sum")),
            "Allreduce train_world test_loss_mean -> test_loss_mean\n");
  EXPECT_EQ(PlannedLines(NetNamed(made.plan, "line_checkpoint")),
            "Checkpoint optimizer_iteration train_reader w b optimizer_one -> "
            "db=out/checkpoint-%d every=1 db_type=minidb absolute_path=1\n");
  EXPECT_EQ(PlannedLines(NetNamed(made.plan, "line_save")),
            "Save w b -> db=out/weights.minidb db_type=minidb absolute_path=1\n");
}

// A test starts with the states of the training and leaves them as they are: it works on copies. Names of the
// training's own blobs stay.
TEST(PlanOfATestThatChangesStateTest, CopiesTheStateFirst) {
  RunDef run = LineRun();
  ASSERT_TRUE(google::protobuf::TextFormat::MergeFromString(R"(
      net { op { type: "Add" input: ["sum", "loss"] output: "sum" } }
      param { name: "sum" dims: 1 trained: false } accuracy: "sum")",
                                                            run.mutable_train()));
  const TrainingPlan made = MakeTrainingPlan(run, {Points(12), Points(8)});
  EXPECT_EQ(NetNames(made.plan), "line_init line_train line_test_begin line_test ");
  EXPECT_EQ(PlannedLines(NetNamed(made.plan, "line_test_begin")),
            "CreateDB -> test_reader db_type=lmdb db=points\n"
            "ConstantFill -> test_one shape= value=1\n"
            "ConstantFill -> test_loss_mean shape= value=0\n"
            "ConstantFill -> test_weight_4 shape= value=0.5\n"
            "ConstantFill -> test_accuracy_mean shape= value=0\n"
            "Copy sum -> test_sum\n");
  const std::string test =
      "TensorProtosDBInput test_reader -> test_data test_label batch_size=4\n"
      "FC test_data w b -> test_y\n"
      "SquaredL2Distance test_y test_label -> test_d\n"
      "AveragedLoss test_d -> test_loss\n"
      "Add test_sum test_loss -> test_sum\n"
      "WeightedSum test_loss_mean test_one test_loss test_weight_4 -> test_loss_mean\n"
      "WeightedSum test_accuracy_mean test_one test_sum test_weight_4 -> test_accuracy_mean\n";
  EXPECT_EQ(PlannedLines(NetNamed(made.plan, "line_test")), test);
  EXPECT_EQ(made.state, (std::vector<std::string>{"train_reader", "w", "b", "sum",
                                                  "optimizer_iteration", "optimizer_one"}));
  // The plan of a test alone loads what it reads, but not what an optimizer needs.
  const PlanDef alone = MakeTestPlan(run.train(), Points(10), "run/checkpoint-7");
  EXPECT_EQ(alone.name(), "line_test");
  EXPECT_EQ(NetNames(alone), "line_init line_test_begin line_test line_test_rest ");
  EXPECT_EQ(PlannedLines(NetNamed(alone, "line_init")),
            "Load -> w b sum db=run/checkpoint-7 db_type=minidb absolute_path=1 keep_device=1\n");
  EXPECT_EQ(PlannedLines(NetNamed(alone, "line_test")), test);
  EXPECT_EQ(PlannedLines(NetNamed(alone, "line_test_begin")),
            "CreateDB -> test_reader db_type=lmdb db=points\n"
            "ConstantFill -> test_one shape= value=1\n"
            "ConstantFill -> test_loss_mean shape= value=0\n"
            "ConstantFill -> test_weight_4 shape= value=0.4\n"
            "ConstantFill -> test_accuracy_mean shape= value=0\n"
            "ConstantFill -> test_weight_2 shape= value=0.2\n"
            "Copy sum -> test_sum\n");
  std::string steps;
  for (const ExecutionStep& step : alone.execution_step())
    steps += MakeString(step.name(), ":", step.network(0), "*", step.num_iter(), " ");
  EXPECT_EQ(steps,
            "init:line_init*0 test_begin:line_test_begin*0 test:line_test*2 "
            "test_rest:line_test_rest*0 ");
}

// A test of fewer records than a batch is one batch of them; one of exactly as many has no rest.
TEST(PlanOfATestTest, BatchesHaveAtMostAllRecords) {
  const struct {
    int64_t records;
    const char* begin;  // the weights
    const char* nets;
    int64_t steps;
  } rows[] = {
      {1, "test_weight_1=1 ", "line_init line_train line_test_begin line_test ", 0},
      {3, "test_weight_3=1 ", "line_init line_train line_test_begin line_test ", 0},
      {4, "test_weight_4=1 ", "line_init line_train line_test_begin line_test ", 0},
      {5, "test_weight_4=0.8 test_weight_1=0.2 ",
       "line_init line_train line_test_begin line_test line_test_rest ", 0},
      {8, "test_weight_4=0.5 ", "line_init line_train line_test_begin line_test ", 2},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.records);
    const PlanDef plan = MakeTrainingPlan(LineRun(), {Points(12), Points(row.records)}).plan;
    EXPECT_EQ(NetNames(plan), row.nets);
    std::string weights;
    for (const OperatorDef& op : NetNamed(plan, "line_test_begin").op()) {
      if (op.output(0).starts_with("test_weight_"))
        weights += MakeString(op.output(0), "=",
                              ArgumentHelper(op).GetSingleArgument<float>("value", 0), " ");
    }
    EXPECT_EQ(weights, row.begin);
    const ExecutionStep& test = plan.execution_step(1).substep(2);
    EXPECT_EQ(test.name(), "test");
    EXPECT_EQ(test.num_iter(), row.steps);
  }
}

TEST(PlanOfATestTest, RecordsOfTheTestFitTheInput) {
  DataFacts other = Points(3);
  other.place.path = "other";
  other.tensors.resize(1);
  const std::string want =
      "the records of \"other\" have 1 tensor, but the input has 2 blobs: data, label; `input { "
      "blob: ... }` (--blobs) names one for each tensor";
  EXPECT_EQ(MessageOf([&] { (void)MakeTrainingPlan(LineRun(), {Points(12), other}); }), want);
  EXPECT_EQ(MessageOf([&] { (void)MakeTestPlan(LineRun().train(), other, "c"); }), want);
}

// A blob is filled by init_net or as a parameter.
TEST(PlannedFillsTest, BlobsAreFilledOnce) {
  RunDef run = LineRun();
  ASSERT_TRUE(google::protobuf::TextFormat::MergeFromString(
      R"(init_net { op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 1 } } })",
      run.mutable_train()));
  EXPECT_EQ(MessageOf([&] { (void)MakeTrainingNets(run.train()); }),
            "parameter \"b\" is filled twice");
  run.mutable_train()->mutable_param()->RemoveLast();
  const TrainingNets nets = MakeTrainingNets(run.train());
  // Fills of init_net come first, and what only they fill is trained.
  EXPECT_EQ(nets.init.op(0).output(0), "b");
  EXPECT_EQ(nets.init.op(1).output(0), "w");
  EXPECT_EQ(nets.trained, (std::vector<std::string>{"w", "b"}));
}

}  // namespace
}  // namespace caffe2rt::test::plan_choices_test
