#include "operators/recurrent/recurrent_network_gradient.h"

#include "tests/operators/recurrent/recurrent_nets.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::recurrent_network_gradient_test {
namespace {

// The operator that the maker returns for SumMulNetwork.
std::string GradientOperator(const std::string& args = SumMulBackward(),
                             const std::string& given = R"(input: "all_grad")") {
  std::string network = SumMulNetwork(args);
  const std::string head =
      R"(type: "RecurrentNetwork" input: "x" input: "init" output: "all" output: "last"
    output: "steps")";
  CAFFE_ENFORCE(network.starts_with(head), "the head of the operator has changed");
  return R"(type: "RecurrentNetworkGradient" )" + given +
         R"( input: "x" input: "init" input: "all" input: "last" input: "steps"
            output: "x_grad" output: "init_grad" )" +
         network.substr(head.size());
}

class RecurrentNetworkGradientTest : public testing::Test {
 protected:
  void SetUp() override {
    FeedRange<float>(&ws_, "x", {3, 2, 2}, 1);
    Feed<float>(&ws_, "init", {1, 2, 2}, {1, 1, 1, 1});
    Feed<float>(&ws_, "all_grad", {3, 2, 2}, std::vector<float>(12, 1));
    Feed<float>(&ws_, "last_grad", {1, 2, 2}, std::vector<float>(4, 10));
  }
  void ExpectFailure(const std::string& gradient, const std::string& part) {
    RunOp(&ws_, SumMulNetwork(SumMulBackward()));
    ExpectThrows([&] { RunOp(&ws_, gradient); }, part);
  }
  static std::string Replaced(std::string text, const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    CAFFE_ENFORCE(at != std::string::npos, "\"", from, "\" is not in the text");
    return text.replace(at, from.size(), to);
  }

  Workspace ws_;
};

// state[t + 1] = x (x + state[t]), so dstate[t] = dstate[t + 1] x and dx = dstate[t + 1] (2 x + state[t]).
TEST_F(RecurrentNetworkGradientTest, FollowsTheChainRule) {
  RunOp(&ws_, SumMulNetwork(SumMulBackward()));
  RunOp(&ws_, GradientOperator());
  const std::vector<float> x = Fetch<float>(ws_, "x"), states = Fetch<float>(ws_, "states");
  std::vector<float> dx(12), slope(4, 0);
  for (size_t i = 12; i-- > 0;) {
    float& d = slope[i % 4];
    d += 1;  // all_grad
    dx[i] = d * (2 * x[i] + states[i]);
    d *= x[i];
  }
  ExpectTensor<float>(ws_, "x_grad", {3, 2, 2}, dx);
  ExpectTensor<float>(ws_, "init_grad", {1, 2, 2}, slope);
}

TEST_F(RecurrentNetworkGradientTest, InfersTheShapesOfItsOutputs) {
  RunOp(&ws_, SumMulNetwork(SumMulBackward()));
  ExpectShapeInferred(&ws_, GradientOperator());
}

TEST_F(RecurrentNetworkGradientTest, AddsTheGradientsOfAllOutputs) {
  const std::string both = Replaced(SumMulBackward(), "ints: 0 }", "ints: 0 ints: 1 }");
  RunOp(&ws_, SumMulNetwork(both));
  RunOp(&ws_, GradientOperator(both, R"(input: "all_grad" input: "last_grad")"));
  ExpectTensor<float>(ws_, "init_grad", {1, 2, 2}, {501, 1334, 2565, 4260});
  RunOp(&ws_, GradientOperator(Replaced(SumMulBackward(), "ints: 0 }", "ints: 1 }"),
                               R"(input: "last_grad")"));
  ExpectTensor<float>(ws_, "init_grad", {1, 2, 2}, {450, 1200, 2310, 3840});
}

TEST_F(RecurrentNetworkGradientTest, HasTheShapeOfTheInitialValue) {
  Feed<float>(&ws_, "init", {2}, {1, 1});
  RunOp(&ws_, SumMulNetwork(SumMulBackward()));
  RunOp(&ws_, GradientOperator());
  ExpectTensor<float>(ws_, "init_grad", {2}, {306, 554});  // the sum over the batch
  Feed<float>(&ws_, "init", {2, 2}, {1, 1, 1, 1});
  RunOp(&ws_, SumMulNetwork(SumMulBackward()));
  RunOp(&ws_, GradientOperator());
  ExpectTensor<float>(ws_, "init_grad", {2, 2}, {51, 134, 255, 420});
  Feed<float>(&ws_, "init", {2, 2, 2}, std::vector<float>(8, 1));
  RunOp(&ws_, SumMulNetwork(SumMulBackward()));
  RunOp(&ws_, GradientOperator());
  ExpectTensor<float>(ws_, "init_grad", {2, 2, 2}, {51, 134, 255, 420, 51, 67, 85, 105});
}

TEST_F(RecurrentNetworkGradientTest, WritesTheInputsGradientUnderTheNameOfTheOutput) {
  RunOp(&ws_, SumMulNetwork(SumMulBackward()));
  RunOp(&ws_, Replaced(GradientOperator(), R"(output: "x_grad")", R"(output: "renamed")"));
  ExpectTensor<float>(ws_, "renamed", {3, 2, 2},
                      {153, 335, 595, 945, 120, 198, 312, 468, 53, 92, 155, 248});
}

TEST_F(RecurrentNetworkGradientTest, IsZeroWithoutALink) {
  const std::string text =
      Replaced(Replaced(Replaced(SumMulBackward(), R"( strings: "input_t_grad")", ""),
                        R"( strings: "x_grad")", ""),
               "ints: 1 ints: 0 ints: 0", "ints: 1 ints: 0");
  RunOp(&ws_, SumMulNetwork(text));
  RunOp(&ws_, GradientOperator(text));
  ExpectTensor<float>(ws_, "x_grad", {3, 2, 2}, std::vector<float>(12));
}

TEST_F(RecurrentNetworkGradientTest, MakerReturnsTheOperator) {
  const GradientOpsMeta gradient =
      GetGradientForOp(ParseOp(SumMulNetwork(SumMulBackward())), {{.dense_ = "all_grad"}, {}, {}});
  ASSERT_EQ(gradient.ops_.size(), 1u);
  OperatorDef got = gradient.ops_[0], want = ParseOp(GradientOperator());
  got.clear_is_gradient_op();
  EXPECT_EQ(got.DebugString(), want.DebugString());
  EXPECT_EQ(gradient.g_input_[0].dense_, "x_grad");
  EXPECT_EQ(gradient.g_input_[1].dense_, "init_grad");
}

TEST_F(RecurrentNetworkGradientTest, MakerNeedsTheOutputsThatHaveGradients) {
  ExpectThrows(
      [] {
        GetGradientForOp(ParseOp(SumMulNetwork()), {{.dense_ = "all_grad"}, {}, {}});
      },
      "argument outputs_with_grads is empty");
  ExpectThrows(
      [] {
        GetGradientForOp(ParseOp(SumMulNetwork(SumMulBackward())), {{}, {}, {}});
      },
      "all");
}

TEST_F(RecurrentNetworkGradientTest, NamesWhatDoesNotFit) {
  ExpectFailure(GradientOperator(Replaced(SumMulBackward(), "ints: 0 }", "ints: 5 }")),
                "outputs_with_grads contains 5, want an output that is a part of a state, below 2");
  ExpectFailure(Replaced(GradientOperator(), R"(arg { name: "alias_offset" ints: 1)",
                         R"(arg { name: "alias_offset" ints: 2)"),
                "argument alias_offset is 2 for output 0, which has a gradient; want 1");
  ExpectFailure(Replaced(GradientOperator(), R"(output: "init_grad")", ""),
                "outputs, want one for");
  ExpectFailure(GradientOperator(SumMulBackward() + "arg { name: 'param' ints: 7 }"),
                "argument param contains 7, want an input of RecurrentNetwork");
  ExpectFailure(GradientOperator(Replaced(SumMulBackward(), "ints: 1 ints: 0 ints: 0",
                                          "ints: 2 ints: 0 ints: 0")),
                "end of the rows of blob \"states_grad\"");
  ExpectFailure(GradientOperator("arg { name: 'outputs_with_grads' ints: 0 }"),
                "argument \"backward_step_net\" is missing");
  ExpectFailure(Replaced(GradientOperator(), R"(arg { name: "alias_src" strings: "states")",
                         R"(arg { name: "alias_src" strings: "x")"),
                "argument alias_src contains \"x\", want one of the argument recurrent_states");
  ExpectFailure(
      GradientOperator(SumMulBackward() + "arg { name: 'param_grads' strings: 'a' strings: 'b' }"),
      "argument param_grads has 2 entries, want 0, as argument param");
  Feed<float>(&ws_, "all_grad", {2, 2, 2}, std::vector<float>(8));
  ExpectFailure(GradientOperator(), "elements of input 0 of shape [2, 2, 2]");
}

TEST_F(RecurrentNetworkGradientTest, NeedsTheStepsOfTheForwardRun) {
  RunOp(&ws_, SumMulNetwork());
  ExpectThrows([&] { RunOp(&ws_, GradientOperator()); }, "workspaces of time steps in input 5");
  RunOp(&ws_, SumMulNetwork(SumMulBackward()));
  Workspace child(&ws_);
  ExpectThrows([&] { RunOp(&child, GradientOperator()); }, "not from a RecurrentNetwork of this");
  ws_.RemoveBlob("states");
  ExpectThrows([&] { RunOp(&ws_, GradientOperator()); },
               "the state \"states\" holds no tensor on CPU: RecurrentNetwork must run before");
  Workspace other;
  Feed<float>(&other, "x", {1, 1, 1}, {1});
  for (const char* name : {"init", "all", "last", "all_grad", "steps"}) {
    Feed<float>(&other, name, {1, 1, 1}, {1});
  }
  ExpectThrows([&] { RunOp(&other, GradientOperator()); }, "input 5 (\"steps\") holds");
}

}  // namespace
}  // namespace caffe2rt::test::recurrent_network_gradient_test
