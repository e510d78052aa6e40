#include "caffe2_core/training/data_parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/training/training_plan.h"
#include "tests/caffe2_core/training/small_run.h"

namespace caffe2rt::test::data_parallel_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TrainingPlan PlanOf(const RankOptions& ranks, int64_t iteration = 0) {
  TrainingPlanOptions options{.ranks = ranks, .folder = "out"};
  if (iteration > 0) options.checkpoint = "run/checkpoint";
  options.iteration = iteration;
  return MakeTrainingPlan(SmallRun(), {Pixels(20), Pixels(18)}, options);
}

RankOptions Rank(int rank, int size) {
  return {.rank = rank, .size = size, .store = "store", .run_id = "id"};
}

const OperatorDef& OpOf(const NetDef& net, const std::string& type) {
  for (const OperatorDef& op : net.op()) {
    if (op.type() == type) return op;
  }
  CAFFE_THROW("no operator ", type);
}

TEST(DataParallelTest, UpdatesWaitForTheLastCollective) {
  const NetDef train = NetNamed(PlanOf(Rank(1, 2)).plan, "net_train");
  std::vector<std::string> sums;
  bool updates = false;
  for (const OperatorDef& op : train.op()) {
    if (op.type().starts_with("Allreduce")) {
      EXPECT_FALSE(updates);
      EXPECT_EQ(op.engine(), "GLOO");
      EXPECT_TRUE(std::equal(op.output().begin(), op.output().end(), op.input().begin() + 1));
      sums.insert(sums.end(), op.output().begin(), op.output().end());
    }
    updates = updates || op.type() == "Iter" || op.type() == "MomentumSGDUpdate";
  }
  EXPECT_EQ(sums.size(), 7u);  // six parameters and the votes
  const OperatorDef& iter = OpOf(train, "Iter");
  EXPECT_THAT(std::vector<std::string>(iter.control_input().begin(), iter.control_input().end()),
              ::testing::UnorderedElementsAreArray(sums));
}

TEST(DataParallelTest, OnlyTheCountOfIterationsWaits) {
  const NetDef train = NetNamed(PlanOf(Rank(1, 2)).plan, "net_train");
  for (const OperatorDef& op : train.op()) {
    EXPECT_EQ(op.control_input_size(), op.type() == "Iter" ? 7 : 0) << op.type();
  }
}

// Of the parameters, only the first layer's 64 * 1024 weights are as many as kLargeGradient.
TEST(DataParallelTest, LargeGradientsAreSentWhileOthersAreComputed) {
  ModelBuilder model("net");
  const std::string x = model.FC("data", "wide", 1024, 64);
  model.SoftmaxLoss(model.FC(model.FC(x, "fc", 64, 8), "last", 8, 2), "label");
  NetDef net = MakeTrainingNets(model.def(), Rank(0, 2)).train;
  std::vector<std::string> types;
  for (const OperatorDef& op : net.op()) types.push_back(op.type());
  ASSERT_EQ(std::count(types.begin(), types.end(), "Allreduce"), 1);
  ASSERT_EQ(std::count(types.begin(), types.end(), "AllreduceCoalesced"), 1);
  EXPECT_EQ(OpOf(net, "Allreduce").output(0), "wide_w_grad");
  EXPECT_EQ(OpOf(net, "AllreduceCoalesced").output_size(), 6);
  EXPECT_EQ(NetNamed(PlanOf(Rank(0, 2)).plan, "net_train").type(), "dag");
}

// 8 records on 3 ranks: 3, 3 and 2.
TEST(DataParallelTest, ScalesByTheShareOfTheBatch) {
  for (const auto& [rank, share] : {std::pair{0, 0.375f}, {1, 0.375f}, {2, 0.25f}}) {
    const NetDef train = NetNamed(PlanOf(Rank(rank, 3)).plan, "net_train");
    for (const OperatorDef& op : train.op()) {
      if (op.output(0) == "loss_autogen_grad") {
        EXPECT_EQ(ArgumentHelper(op).GetSingleArgument<float>("value", 0), share);
      }
      if (op.type() == "Scale" && op.output(0) == "loss_vote") {
        EXPECT_EQ(ArgumentHelper(op).GetSingleArgument<float>("scale", 0), share);
      }
    }
    EXPECT_EQ(
        ArgumentHelper(OpOf(train, "TensorProtosDBInput")).GetSingleArgument<int>("batch_size", 0),
        rank == 2 ? 2 : 3);
  }
}

TEST(DataParallelTest, KeepsWhatTheForwardPassChanges) {
  const TrainingPlan made = PlanOf(Rank(0, 2));
  EXPECT_THAT(made.changed_early, ::testing::UnorderedElementsAre("bn_rm", "bn_riv"));
  EXPECT_THAT(made.state, ::testing::Not(Contains("train_world")));
  EXPECT_THAT(made.state, ::testing::Not(Contains("train_stop")));
  EXPECT_EQ(NetNamed(made.plan, "net_train").op(0).type(), "TensorProtosDBInput");
  EXPECT_THAT(OpOf(NetNamed(made.plan, "net_train"), "Copy").output(0), HasSubstr("_before_step"));
}

TEST(DataParallelTest, ReadsOnBehindTheStepsThatAreDone) {
  const OperatorDef open = OpOf(NetNamed(PlanOf(Rank(1, 3), 4).plan, "net_init"), "CreateDB");
  const ArgumentHelper args(open);
  EXPECT_EQ(args.GetSingleArgument<int>("num_shards", 0), 3);
  EXPECT_EQ(args.GetSingleArgument<int>("shard_id", 0), 1);
  EXPECT_EQ(args.GetSingleArgument<int>("block", 0), 8);
  EXPECT_EQ(args.GetSingleArgument<int>("first_block", 0), 4);
}

TEST(DataParallelTest, OnlyRankZeroSaves) {
  EXPECT_EQ(PlanOf(Rank(0, 2)).checkpoint_net, "net_checkpoint");
  EXPECT_EQ(PlanOf(Rank(1, 2)).checkpoint_net, "");
}

struct ErrorCase {
  const char* name;
  void (*change)(RunDef* run, RankOptions* ranks);
  const char* text;
};

class RankErrorTest : public ::testing::TestWithParam<ErrorCase> {};

TEST_P(RankErrorTest, NamesTheProblem) {
  RunDef run = SmallRun();
  RankOptions ranks = Rank(0, 2);
  GetParam().change(&run, &ranks);
  try {
    (void)MakeTrainingPlan(run, {Pixels(20), Pixels(18)}, {.ranks = ranks});
    FAIL();
  } catch (const EnforceNotMet& error) {
    EXPECT_THAT(error.message(), HasSubstr(GetParam().text));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, RankErrorTest,
    ::testing::Values(
        ErrorCase{"NoStore", [](RunDef*, RankOptions* ranks) { ranks->store.clear(); },
                  "has no store, want --store"},
        ErrorCase{"MoreRanksThanRecords", [](RunDef*, RankOptions* ranks) { ranks->size = 9; },
                  "a batch of 8 records is divided among 9 ranks"},
        ErrorCase{"Skip", [](RunDef* run, RankOptions*) { run->set_on_error("skip"); },
                  "--on-error skip does not apply"},
        ErrorCase{"Device", [](RunDef* run, RankOptions*) { run->set_device("cuda:0"); },
                  "--device cuda:0 does not apply to several ranks yet"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace caffe2rt::test::data_parallel_test
