// What recurrent networks plan before they run: the dims of their states, and how a backward step net is
// connected with the inputs and outputs of its operator.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "operators/recurrent/recurrent_network_gradient.h"
#include "tests/operators/recurrent/recurrent_nets.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::recurrent_plans_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using DimsOfState = std::vector<int64_t>;

TEST(RecurrentPlansTest, StatesHaveTheRowsOfTheStepsAndOfTheirInitialValue) {
  struct StateRow {
    int64_t steps, batch;
    DimsOfState initial, want;
  };
  const StateRow rows[] = {{3, 2, {4}, {4, 2, 4}},       {3, 2, {2, 4}, {4, 2, 4}},
                           {3, 2, {1, 2, 4}, {4, 2, 4}}, {3, 2, {5, 2, 4}, {8, 2, 4}},
                           {3, 2, {0, 2, 4}, {3, 2, 4}}, {0, 2, {4}, {1, 2, 4}},
                           {3, 1, {1, 4}, {4, 1, 4}},    {3, 1, {2, 1, 4}, {5, 1, 4}},
                           {3, 0, {0, 4}, {4, 0, 4}},    {3, 2, {2, 0}, {4, 2, 0}}};
  for (const StateRow& row : rows) {
    DimsOfState dims = {9, 9, 9, 9};
    FindStateDims(row.initial, "i", {.steps = row.steps, .batch = row.batch}, &dims);
    EXPECT_EQ(dims, row.want);
  }
}

TEST(RecurrentPlansTest, InitialValuesOfOtherBatchesAreNamed) {
  const auto message = [](const DimsOfState& initial) {
    DimsOfState dims;
    return MessageOf([&] { FindStateDims(initial, "i", {.steps = 3, .batch = 2}, &dims); });
  };
  const auto want = [](const DimsOfState& initial, const std::string& rest) {
    return MakeString("the initial value \"i\" has shape ", IntArrayRef(initial), ", want ", rest);
  };
  for (const DimsOfState& dims : {DimsOfState{}, DimsOfState{1, 1, 2, 4}})
    EXPECT_EQ(message(dims), want(dims, "[D], [N, D] or [1, N, D]"));
  for (const DimsOfState& dims : {DimsOfState{1, 4}, DimsOfState{3, 4}, DimsOfState{4, 2}})
    EXPECT_EQ(message(dims), want(dims, "dim 0 to be 2, as dim 1 of input 0"));
  for (const DimsOfState& dims :
       {DimsOfState{1, 1, 4}, DimsOfState{2, 1, 4}, DimsOfState{1, 3, 4}, DimsOfState{2, 4, 2}})
    EXPECT_EQ(message(dims), want(dims, "dim 1 to be 2, as dim 1 of input 0"));
}

// A gradient with the parameter w, whose gradient in a step is called "g".
struct PlannedGradient {
  std::string output = "x_grad", param_grads = "arg { name: 'param_grads' strings: 'g' }",
              alias_offset = "ints: 1 ints: -1", given = "ints: 0", inputs = "input: 'all_grad'",
              link_external = "x_grad", alias_source = "strings: 's' strings: 's'";
  int link_offset = 0, initial = 1, param = 2;

  BackwardPlan Plan() const {
    const OperatorDef def = ParseOp(MakeString(
        "type: 'RecurrentNetworkGradient' ", inputs,
        " input: 'x' input: 'init' input: 'w' input: 'all' input: 'last' input: 'steps' output: '",
        output, "' output: 'w_total' output: 'init_grad' ", param_grads,
        " arg { name: 'recurrent_states' strings: 's' }"
        " arg { name: 'initial_recurrent_state_ids' ints: ",
        initial, " } arg { name: 'param' ints: ", param, " } arg { name: 'alias_src' ",
        alias_source,
        " } arg { name: 'alias_dst' strings: 'all' strings: 'last' } arg { name: 'alias_offset' ",
        alias_offset, " } arg { name: 'outputs_with_grads' ", given,
        " } arg { name: 'backward_link_internal' strings: 'd' strings: 'd_before' }"
        " arg { name: 'backward_link_external' strings: '",
        link_external,
        "' strings: 's_grad' } arg { name: 'backward_link_offset' ints: ", link_offset,
        " ints: 1 } arg { name: 'backward_step_net' n { name: 'b' external_input: 'w'"
        " external_input: 'g' external_input: 'w_total' external_output: 'g'"
        " external_output: 'd' op { type: 'Mul' input: 'g' input: 'w' output: 'w_total' }"
        " op { type: 'Sum' input: 'w_total' input: 'd_before' output: 'g' output: 'd' } } }"));
    return PlanBackward(def, ReadStepArguments(def), CPU);
  }
  std::string Error() const {
    return MessageOf([this] { (void)Plan(); });
  }
};

// The name is replaced in all lists of the net, and no other one is.
TEST(RecurrentPlansTest, GradientsOfParametersHaveTheirOwnNamesInTheSteps) {
  const BackwardPlan plan = PlannedGradient().Plan();
  EXPECT_THAT(plan.param_grads, ElementsAre("g_tmpstep"));
  EXPECT_THAT(plan.step_params, ElementsAre(0u));
  EXPECT_THAT(plan.net.external_input(), ElementsAre("w", "g_tmpstep", "w_total"));
  EXPECT_THAT(plan.net.external_output(), ElementsAre("g_tmpstep", "d"));
  EXPECT_THAT(plan.net.op(0).input(), ElementsAre("g_tmpstep", "w"));
  EXPECT_THAT(plan.net.op(0).output(), ElementsAre("w_total"));
  EXPECT_THAT(plan.net.op(1).input(), ElementsAre("w_total", "d_before"));
  EXPECT_THAT(plan.net.op(1).output(), ElementsAre("g_tmpstep", "d"));
  // Without the argument, they have the names of the outputs.
  const BackwardPlan usual = PlannedGradient{.param_grads = ""}.Plan();
  EXPECT_THAT(usual.param_grads, ElementsAre("w_total_tmpstep"));
  EXPECT_THAT(usual.net.external_input(), ElementsAre("w", "g", "w_total_tmpstep"));
  EXPECT_THAT(usual.net.op(0).output(), ElementsAre("w_total_tmpstep"));
  EXPECT_THAT(usual.net.op(1).input(), ElementsAre("w_total_tmpstep", "d_before"));
  EXPECT_EQ(PlannedGradient{.param_grads = "arg { name: 'param_grads' strings: 'g' strings: 'h' }"}
                .Error(),
            "argument param_grads has 2 entries, want 1, as argument param");
}

// Output 0 may have another name than the gradient of input 0 usually has.
TEST(RecurrentPlansTest, LinksOfTheInputFollowTheNameOfTheOutput) {
  struct LinkRow {
    std::string output, link_external;
    int link_offset;
    std::string want;
    bool linked;
  };
  for (const LinkRow& row :
       {LinkRow{"x_grad", "x_grad", 0, "x_grad", true}, LinkRow{"dx", "x_grad", 0, "dx", true},
        LinkRow{"dx", "dx", 0, "dx", true}, LinkRow{"dx", "other_grad", 0, "other_grad", false},
        LinkRow{"dx", "x_grad", 1, "dx", false}}) {
    const BackwardPlan plan = PlannedGradient{.output = row.output,
                                              .link_external = row.link_external,
                                              .link_offset = row.link_offset}
                                  .Plan();
    ASSERT_EQ(plan.links.size(), 2u);
    EXPECT_EQ(plan.links[0].external, row.want);
    EXPECT_EQ(plan.links[1].external, "s_grad");
    EXPECT_EQ(plan.is_input_linked, row.linked);
  }
}

// Gradients are given for all steps or for the last one, in the order of the argument.
TEST(RecurrentPlansTest, GivenGradientsBelongToAllStepsOrToTheLast) {
  const auto state = [](const std::string& given, const std::string& inputs,
                        const std::string& offsets = "ints: 1 ints: -1") {
    const BackwardPlan plan =
        PlannedGradient{.alias_offset = offsets, .given = given, .inputs = inputs}.Plan();
    EXPECT_EQ(plan.states.at(0).name, "s");
    EXPECT_EQ(plan.states.at(0).gradient, "s_grad");
    return plan.states.at(0);
  };
  const std::string one = "input: 'a'", two = "input: 'a' input: 'b'";
  EXPECT_THAT(state("ints: 0", one).of_all, ElementsAre(0));
  EXPECT_THAT(state("ints: 0", one).of_last, IsEmpty());
  EXPECT_THAT(state("ints: 1", one).of_all, IsEmpty());
  EXPECT_THAT(state("ints: 1", one).of_last, ElementsAre(0));
  EXPECT_THAT(state("ints: 1 ints: 0", two).of_all, ElementsAre(1));
  EXPECT_THAT(state("ints: 1 ints: 0", two).of_last, ElementsAre(0));
  EXPECT_THAT(state("ints: 0 ints: 1", two, "ints: 1 ints: 1").of_all, ElementsAre(0, 1));
  EXPECT_THAT(state("ints: 0 ints: 1", two, "ints: -1 ints: -1").of_last, ElementsAre(0, 1));
  // The offset of an output without a gradient does not matter.
  EXPECT_THAT(state("ints: 1", one, "ints: 5 ints: -1").of_last, ElementsAre(0));
  for (const int offset : {-3, -2, 0, 2, 3}) {
    EXPECT_EQ(PlannedGradient{.alias_offset = MakeString("ints: ", offset, " ints: -1")}.Error(),
              MakeString(
                  "argument alias_offset is ", offset,
                  " for output 0, which has a gradient; want 1 (all steps) or -1 (the last step)"));
  }
  for (const char* given : {"ints: 2", "ints: -1"}) {
    EXPECT_EQ(PlannedGradient{.given = given}.Error(),
              MakeString("argument outputs_with_grads contains ", given + 6,
                         ", want an output that is a part of a state, below 2"));
  }
  EXPECT_EQ(PlannedGradient{.alias_source = "strings: 'other' strings: 's'"}.Error(),
            "argument alias_src contains \"other\", want one of the argument recurrent_states");
}

// The inputs are those of RecurrentNetwork and its outputs, without the given gradients.
TEST(RecurrentPlansTest, IdsAreThoseOfTheNetwork) {
  for (const int id : {0, 5}) {
    EXPECT_EQ(PlannedGradient{.initial = id}.Error(), "(nothing was thrown)");
    EXPECT_EQ(PlannedGradient{.param = id}.Error(), "(nothing was thrown)");
  }
  for (const int id : {-1, 6, 99}) {
    EXPECT_EQ(PlannedGradient{.initial = id}.Error(),
              MakeString("argument initial_recurrent_state_ids contains ", id,
                         ", want an input of RecurrentNetwork"));
    EXPECT_EQ(PlannedGradient{.param = id}.Error(),
              MakeString("argument param contains ", id, ", want an input of RecurrentNetwork"));
  }
}

}  // namespace
}  // namespace caffe2rt::test::recurrent_plans_test
