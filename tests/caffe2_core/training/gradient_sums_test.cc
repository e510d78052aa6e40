// Where the sums of gradients over ranks stand in a net: each large one behind its last writer, all others at the end.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/training/data_parallel.h"
#include "tests/caffe2_core/training/operator_line.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::gradient_sums_test {
namespace {

using Lines = std::vector<std::string>;

// The seed of the gradients, and two writers of the gradient of a.
constexpr char kBackward[] = R"(name: "n"
    op { type: "ConstantFill" input: "l" output: "l_autogen_grad" arg { name: "value" f: 1 } }
    op { type: "Copy" input: "l_autogen_grad" output: "a_grad" }
    op { type: "Split" input: "a_grad" output: "b_grad" output: "c_grad" }
    op { type: "Relu" input: "a_grad" output: "a_grad" }
    op { type: "Copy" input: "b_grad" output: "d_grad" }
    op { type: "Copy" input: "c_grad" output: "e_grad" })";

std::vector<TrainedParameter> ParametersNamed(const std::string& names) {
  std::vector<TrainedParameter> parameters;
  for (const char name : names) {
    TrainedParameter parameter;
    parameter.name = name;
    parameter.gradient.dense_ = parameter.name + "_grad";
    parameters.push_back(parameter);
  }
  return parameters;
}

// 65536 elements are many; the number of d is not stated, and nothing fills e.
constexpr char kFills[] = R"(
    op { type: "XavierFill" output: "a" arg { name: "shape" ints: [256, 256] } }
    op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 65536 } }
    op { type: "ConstantFill" output: "c" arg { name: "shape" ints: [1, 32768, 2] } }
    op { type: "Copy" input: "a" output: "d" })";

Lines SumsOf(const std::string& fills, const std::string& names, const std::string& accuracy) {
  const NetDef init = ParseNet(fills);
  NetDef net = ParseNet(kBackward);
  AddGradientSums({.ranks = {.rank = 0, .size = 2},
                   .share = 0.5f,
                   .loss = "l",
                   .accuracy = accuracy,
                   .init = &init},
                  ParametersNamed(names), &net);
  EXPECT_EQ(net.name(), "n");
  Lines lines;
  for (const OperatorDef& op : net.op()) {
    if (!op.type().starts_with("Allreduce")) {
      EXPECT_EQ(op.engine(), "") << op.type();
    } else {
      EXPECT_EQ(op.engine(), "GLOO");
      EXPECT_EQ(op.name(), op.type() == "Allreduce" ? op.output(0) : "train_sums");
    }
    lines.push_back(OperatorLine(op, true));
  }
  return lines;
}

TEST(GradientSumsTest, LargeOnesFollowTheirLastWriter) {
  const std::string first = "ConstantFill l -> l_autogen_grad value=0.5",
                    sum = "Allreduce train_world ";
  const Lines votes = {"Reshape l -> l_vote l_vote_dims shape=1,",
                       "Scale l_vote -> l_vote scale=0.5",
                       "Concat l_vote train_stop -> train_votes train_votes_dims axis=0"};
  Lines want = {first,
                "Copy l_autogen_grad -> a_grad",
                "Split a_grad -> b_grad c_grad",
                sum + "c_grad -> c_grad",
                sum + "b_grad -> b_grad",
                "Relu a_grad -> a_grad",
                sum + "a_grad -> a_grad",
                "Copy b_grad -> d_grad",
                "Copy c_grad -> e_grad"};
  want.insert(want.end(), votes.begin(), votes.end());
  Lines with_all = want;
  with_all.push_back(
      "AllreduceCoalesced train_world e_grad d_grad train_votes -> e_grad d_grad train_votes");
  EXPECT_EQ(SumsOf(kFills, "ecdab", ""), with_all) << "in the order of the parameters";
  // Without small ones, the votes are exchanged alone.
  want.push_back("AllreduceCoalesced train_world train_votes -> train_votes");
  EXPECT_EQ(SumsOf(kFills, "cab", ""), want);
}

// One element less is small; a scalar has one element.
TEST(GradientSumsTest, SmallOnesAreExchangedTogether) {
  const std::string fills = R"(
      op { type: "XavierFill" output: "a" arg { name: "shape" ints: [257, 255] } }
      op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 65537 } }
      op { type: "ConstantFill" output: "c" }
      op { type: "ConstantFill" output: "d" arg { name: "shape" ints: [65536, 0] } })";
  const Lines lines = SumsOf(fills, "abcd", "acc");
  EXPECT_EQ(lines[3], "Allreduce train_world b_grad -> b_grad");
  EXPECT_EQ(lines.size(), 13u);
  EXPECT_EQ(Lines(lines.begin() + 7, lines.end()),
            (Lines{"Reshape l -> l_vote l_vote_dims shape=1,", "Scale l_vote -> l_vote scale=0.5",
                   "Reshape acc -> acc_vote acc_vote_dims shape=1,",
                   "Scale acc_vote -> acc_vote scale=0.5",
                   "Concat l_vote acc_vote train_stop -> train_votes train_votes_dims axis=0",
                   "AllreduceCoalesced train_world a_grad c_grad d_grad train_votes -> a_grad "
                   "c_grad d_grad train_votes"}));
}

// --- the order of updates ---

TEST(UpdateOrderTest, TheCountOfIterationsWaitsForAllSums) {
  NetDef net = ParseNet(R"(name: "n" op { type: "Copy" input: "x" output: "m" }
      op { type: "Iter" input: "other" output: "other" }
      op { type: "Iter" input: "optimizer_iteration" output: "optimizer_iteration" }
      op { type: "Copy" input: "x" output: "w" })");
  EXPECT_EQ(ChangedBeforeUpdates(net, {"w", "other", "m", "x", "optimizer_iteration"}),
            (Lines{"other", "m"}))
      << "what is written before the updates, in the order of the state";
  OrderUpdates(ParametersNamed("ab"), {"m", "other"}, &net);
  ASSERT_EQ(net.op_size(), 6);
  EXPECT_EQ(OperatorLine(net.op(0), false), "Copy m -> m_before_step");
  EXPECT_EQ(OperatorLine(net.op(1), false), "Copy other -> other_before_step");
  for (int i = 0; i < net.op_size(); ++i) {
    const auto& waits = net.op(i).control_input();
    EXPECT_EQ(Lines(waits.begin(), waits.end()),
              i == 4 ? (Lines{"a_grad", "b_grad", "train_votes"}) : Lines())
        << i;
  }
  // Without changes, nothing is kept.
  NetDef alone = ParseNet(R"(op { type: "Iter" input: "i" output: "optimizer_iteration" })");
  OrderUpdates({}, {}, &alone);
  ASSERT_EQ(alone.op_size(), 1);
  EXPECT_EQ(alone.op(0).control_input(0), "train_votes");
}

// --- the operators that connect ranks ---

TEST(ConnectedRanksTest, MeetInTheStoreAndShareTheirState) {
  Lines lines;
  for (const OperatorDef& op : ConnectOperators({.rank = 2,
                               .size = 3,
                               .store = "/keys",
                               .run_id = "nightly",
                               .interface = "eth1",
                               .timeout_ms = 1234},
                                                {"w", "m"})) {
    const bool is_gloo = op.type() == "CreateCommonWorld" || op.type() == "Broadcast";
    EXPECT_EQ(op.engine(), is_gloo ? "GLOO" : "") << op.type();
    lines.push_back(OperatorLine(op, true));
  }
  EXPECT_EQ(lines, (Lines{"FileStoreHandlerCreate -> train_store path=/keys prefix=nightly",
                          "CreateCommonWorld train_store -> train_world rank=2 size=3 "
                          "timeout_ms=1234 interface=eth1",
                          "Broadcast train_world w -> w", "Broadcast train_world m -> m",
                          "ConstantFill -> train_stop shape=1, value=0"}));
}

}  // namespace
}  // namespace caffe2rt::test::gradient_sums_test
