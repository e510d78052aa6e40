// The backward step nets that the gradient maker derives, compared with central differences.
#include "operators/recurrent/backward_step.h"

#include <set>

#include "caffe2_core/graph/backward_pass.h"
#include "caffe2_core/runtime/net.h"
#include "tests/operators/recurrent/recurrent_nets.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::backward_step_test {
namespace {

class BackwardStepTest : public testing::Test {
 protected:
  void FeedLstm(int64_t t, int64_t n, int64_t d) {
    FeedRandom(&ws_, "x", {t, n, 4 * d}, -1, 1, 1);
    FeedRandom(&ws_, "h0", {1, n, d}, -1, 1, 2);
    FeedRandom(&ws_, "c0", {1, n, d}, -1, 1, 3);
    FeedRandom(&ws_, "w", {4 * d, d}, -1, 1, 4);
    FeedRandom(&ws_, "b", {4 * d}, -1, 1, 5);
    std::vector<int32_t> lengths;
    for (int64_t i = 0; i < n; ++i) lengths.push_back(static_cast<int32_t>(t - i % t));
    Feed<int32_t>(&ws_, "lengths", {n}, lengths);
  }
  // Compares the gradients of all inputs of SumMulNetwork with another step net.
  void CheckStep(const std::string& ops, const std::string& more = "",
                 const std::vector<std::string>& inputs = {}) {
    std::string network =
        SumMulNetwork("arg { name: 'outputs_with_grads' ints: 0 ints: 1 } " + more);
    const std::string old = R"(op { type: "Sum" input: "input_t" input: "prev" output: "sum" }
      op { type: "Mul" input: "input_t" input: "sum" output: "cur" })";
    const size_t at = network.find(old);
    ASSERT_NE(at, std::string::npos);
    network.replace(at, old.size(), ops);
    const std::string heads = R"(input: "x" input: "init")";
    for (const std::string& input : inputs) {
      network.insert(network.find(heads) + heads.size(), " input: \"" + input + "\"");
    }
    ExpectGradientMatches(&ws_, network, {.outputs_without_gradient = {"steps"}});
  }

  Workspace ws_;
};

TEST_F(BackwardStepTest, OfALongShortTermMemory) {
  FeedLstm(3, 2, 2);
  for (const std::string outputs : {"ints: 0", "ints: 0 ints: 1 ints: 2 ints: 3", "ints: 3"}) {
    GradientCheck check{.outputs_without_gradient = {"steps"}};
    for (const auto& [name, number] :
         {std::pair("h_all", "0"), {"h_last", "1"}, {"c_all", "2"}, {"c_last", "3"}}) {
      if (outputs.find(number) == std::string::npos) check.outputs_without_gradient.push_back(name);
    }
    ExpectGradientMatches(&ws_, LstmNetwork("arg { name: 'outputs_with_grads' " + outputs + " }"),
                          check);
  }
}

TEST_F(BackwardStepTest, IsThatOfTheArgumentsThatCaffe2Derives) {
  FeedLstm(3, 2, 2);
  FeedRandom(&ws_, "h_all_grad", {3, 2, 2}, -1, 1, 6);
  const auto run = [&](const std::string& args) {
    const OperatorDef def = ParseOp(LstmNetwork(args));
    RunOp(&ws_, def);
    for (const OperatorDef& op :
         GetGradientForOp(def, {{.dense_ = "h_all_grad"}, {}, {}, {}, {}}).ops_) {
      RunOp(&ws_, op);
    }
    std::vector<std::vector<float>> gradients;
    for (const char* name : {"x_grad", "w_grad", "b_grad", "h0_grad", "c0_grad"}) {
      gradients.push_back(Fetch<float>(ws_, name));
    }
    return gradients;
  };
  using testing::FloatNear;
  using testing::Pointwise;
  const auto derived = run("arg { name: 'outputs_with_grads' ints: 0 }");
  // With axis_w, the gradients of the weights are computed in each step.
  const auto given = run(R"(arg { name: "outputs_with_grads" ints: 0 }
      arg { name: "param" ints: 3 ints: 4 } arg { name: "param_grads" strings: "w_grad" strings: "b_grad" }
      arg { name: "backward_link_internal" strings: "h_grad" strings: "h_prev_grad" strings: "c_grad" strings: "c_prev_grad" strings: "gates_grad" }
      arg { name: "backward_link_external" strings: "h_states_grad" strings: "h_states_grad" strings: "c_states_grad" strings: "c_states_grad" strings: "x_grad" }
      arg { name: "backward_link_offset" ints: 1 ints: 0 ints: 1 ints: 0 ints: 0 }
      arg { name: "backward_step_net" n { name: "backward"
        op { type: "LSTMUnitGradient" input: "h_prev" input: "c_prev" input: "gates" input: "lengths" input: "timestep"
             input: "h" input: "c" input: "h_grad" input: "c_grad" output: "h_prev_grad" output: "c_prev_grad" output: "gates_grad" }
        op { type: "FCGradient" input: "h_prev" input: "w" input: "gates_grad" output: "w_grad" output: "b_grad" output: "h_prev_grad_split" arg { name: "axis" i: 2 } arg { name: "axis_w" i: 1 } }
        op { type: "Sum" input: "h_prev_grad" input: "h_prev_grad_split" output: "h_prev_grad" } } })");
  for (size_t i = 0; i < given.size(); ++i) {
    EXPECT_THAT(derived[i], Pointwise(FloatNear(1e-5f), given[i])) << i;
  }
}

TEST_F(BackwardStepTest, RunsOnTheDeviceOfTheStepNet) {
  const auto derive = [](const std::string& device) {
    std::string network = SumMulNetwork("arg { name: 'outputs_with_grads' ints: 0 }");
    const std::string name = R"(n { name: "step")";
    network.insert(network.find(name) + name.size(), " " + device);
    OperatorDef derived;
    for (const Argument& argument : DeriveBackwardStep(ParseOp(network)))
      *derived.add_arg() = argument;
    return ArgumentHelper(derived).GetSingleArgument<NetDef>("backward_step_net", NetDef());
  };
  const NetDef placed = derive("device_option { random_seed: 7 }");
  EXPECT_EQ(placed.device_option().random_seed(), 7u);
  EXPECT_EQ(placed.name(), "step_backward");
  EXPECT_EQ(placed.type(), "simple");
  const NetDef free = derive("");
  EXPECT_FALSE(free.has_device_option());
  EXPECT_EQ(free.op_size(), placed.op_size());
}

TEST_F(BackwardStepTest, SharesBlobsThatAreComputedAgain) {
  FeedLstm(3, 2, 2);
  ExpectGradientMatches(&ws_, LstmNetwork(R"(arg { name: "outputs_with_grads" ints: 0 }
                                             arg { name: "recompute_blobs_on_backward" strings: "gates" })"),
                        {.outputs_without_gradient = {"steps", "h_last", "c_all", "c_last"}});
}

TEST_F(BackwardStepTest, OfSumsAndProducts) {
  FeedRandom(&ws_, "x", {3, 2, 2}, -1, 1, 1);
  FeedRandom(&ws_, "init", {1, 2, 2}, -1, 1, 2);
  CheckStep(R"(op { type: "Sum" input: "input_t" input: "prev" output: "sum" }
               op { type: "Mul" input: "input_t" input: "sum" output: "cur" })");
  // Both inputs have the gradient of the output.
  CheckStep(R"(op { type: "Sum" input: "input_t" input: "prev" output: "cur" })");
  // The result is used again in the step.
  CheckStep(R"(op { type: "Mul" input: "input_t" input: "prev" output: "cur" }
               op { type: "Tanh" input: "cur" output: "unused" })");
  // Neither the state nor the input is used.
  CheckStep(R"(op { type: "Tanh" input: "input_t" output: "cur" })");
  CheckStep(R"(op { type: "Tanh" input: "prev" output: "cur" })");
}

TEST_F(BackwardStepTest, OfParametersThatShareAGradient) {
  FeedRandom(&ws_, "x", {3, 2, 2}, -1, 1, 1);
  FeedRandom(&ws_, "init", {1, 2, 2}, -1, 1, 2);
  FeedRandom(&ws_, "p", {1, 2, 2}, -1, 1, 3);
  FeedRandom(&ws_, "q", {1, 2, 2}, -1, 1, 4);
  CheckStep(R"(op { type: "Tanh" input: "prev" output: "squashed" }
               op { type: "Sum" input: "input_t" input: "squashed" input: "p" input: "q" output: "cur" })",
            "", {"p", "q"});
  CheckStep(R"(op { type: "Mul" input: "prev" input: "q" output: "product" }
               op { type: "Sum" input: "input_t" input: "product" input: "p" output: "cur" })",
            "arg { name: 'param' ints: 2 ints: 3 }", {"p", "q"});
}

TEST_F(BackwardStepTest, OfAParameterThatIsListedTwice) {
  FeedRandom(&ws_, "x", {3, 2, 2}, -1, 1, 1);
  FeedRandom(&ws_, "init", {1, 2, 2}, -1, 1, 2);
  FeedRandom(&ws_, "p", {1, 2, 2}, -1, 1, 3);
  CheckStep(R"(op { type: "Mul" input: "prev" input: "p" output: "product" }
               op { type: "Sum" input: "input_t" input: "product" input: "p" output: "cur" })",
            "", {"p", "p"});
}

// Each of two layers uses the state of the other, so gradients meet in the middle of a step.
TEST_F(BackwardStepTest, OfTwoLayers) {
  FeedRandom(&ws_, "x", {3, 2, 2}, -1, 1, 1);
  FeedRandom(&ws_, "a0", {1, 2, 2}, -1, 1, 2);
  FeedRandom(&ws_, "b0", {1, 2, 2}, -1, 1, 3);
  const std::string network =
      R"(type: "RecurrentNetwork" input: "x" input: "a0" input: "b0" output: "a_all" output: "b_all" output: "steps"
      arg { name: "recurrent_states" strings: "a_states" strings: "b_states" }
      arg { name: "initial_recurrent_state_ids" ints: 1 ints: 2 }
      arg { name: "alias_src" strings: "a_states" strings: "b_states" }
      arg { name: "alias_dst" strings: "a_all" strings: "b_all" }
      arg { name: "alias_offset" ints: 1 ints: 1 }
      arg { name: "link_internal" strings: "a_prev" strings: "a" strings: "b_prev" strings: "b" strings: "x_t" }
      arg { name: "link_external" strings: "a_states" strings: "a_states" strings: "b_states" strings: "b_states" strings: "x" }
      arg { name: "link_offset" ints: 0 ints: 1 ints: 0 ints: 1 ints: 0 }
      arg { name: "step_net" n { name: "layers"
        op { type: "Mul" input: "a_prev" input: "x_t" output: "ax" }
        op { type: "Tanh" input: "ax" output: "a" }
        op { type: "Mul" input: "a" input: "b_prev" output: "ab" }
        op { type: "Sum" input: "ab" input: "a" output: "b" } } })";
  ExpectGradientMatches(&ws_, network + "arg { name: 'outputs_with_grads' ints: 0 ints: 1 }",
                        {.outputs_without_gradient = {"steps"}});
  ExpectGradientMatches(&ws_, network + "arg { name: 'outputs_with_grads' ints: 1 }",
                        {.outputs_without_gradient = {"steps", "a_all"}});
}

TEST_F(BackwardStepTest, NeedsAGivenNetForWhatItCannotDerive) {
  const auto fails = [](const std::string& args, const std::string& part) {
    ExpectThrows(
        [&] {
          GetGradientForOp(
              ParseOp(SumMulNetwork("arg { name: 'outputs_with_grads' ints: 0 } " + args)),
              {{.dense_ = "all_grad"}, {}, {}});
        },
        part);
  };
  fails("arg { name: 'link_window' ints: 2 ints: 1 ints: 1 }",
        "window of the link of blob \"prev\"");
  fails("arg { name: 'param' ints: 5 }", "argument param contains 5, want an input, at most 1");
  fails("arg { name: 'param' ints: 0 }",
        "contains 0, but the step net gives input \"x\" no gradient");
}

TEST_F(BackwardStepTest, NamesTheBlobThatNeedsAGivenNet) {
  const auto fails = [](const std::vector<std::pair<std::string, std::string>>& changes,
                        const std::string& part) {
    std::string network = SumMulNetwork("arg { name: 'outputs_with_grads' ints: 0 }");
    for (const auto& [from, to] : changes) {
      const size_t at = network.find(from);
      ASSERT_NE(at, std::string::npos) << from;
      network.replace(at, from.size(), to);
    }
    ExpectThrows(
        [&] {
          GetGradientForOp(ParseOp(network), {{.dense_ = "all_grad"}, {}, {}});
        },
        part);
  };
  fails({{R"(output: "sum" })", R"(output: "prev" })"},
         {R"(input: "sum" output: "cur")", R"(input: "prev" output: "cur")"}},
        "the step net reads and then overwrites the linked blob \"prev\"");
  fails({{R"(strings: "input_t" })", R"(strings: "input_t" strings: "again" })"},
         {R"(strings: "x" })", R"(strings: "x" strings: "x" })"},
         {"ints: 0 ints: 1 ints: 0 }", "ints: 0 ints: 1 ints: 0 ints: 0 }"},
         {R"(input: "input_t" input: "sum" output)", R"(input: "again" input: "sum" output)"}},
        "the step net reads blob \"x\" through two links");
  fails({{R"(input: "init")", R"(input: "init" input: "p" input: "ids")"},
         {R"(op { type: "Sum" input: "input_t" input: "prev")",
          R"(op { type: "Gather" input: "p" input: "ids" output: "g" }
             op { type: "Sum" input: "input_t" input: "prev" input: "g")"}},
        "the gradient of blob \"p\" of the step net is sparse, want a dense one");
}

// A linked blob, and an initial value, have the gradient of their links only.
TEST_F(BackwardStepTest, NeedsAGivenNetForDirectReadsOfLinkedBlobs) {
  const std::string mul = R"(input: "input_t" input: "sum" output: "cur")";
  const auto message = [&](const std::string& more, const std::string& factor) {
    std::string network = SumMulNetwork("arg { name: 'outputs_with_grads' ints: 0 }");
    const size_t at = network.find(mul);
    CAFFE_ENFORCE(at != std::string::npos, "the step net has changed");
    network.replace(at, mul.size(), R"(input: "sum" input: ")" + factor + R"(" output: "cur")");
    const std::string head = R"(n { name: "step")";
    network.insert(network.find(head) + head.size(), " " + more);
    try {
      (void)GetGradientForOp(ParseOp(network), {{.dense_ = "all_grad"}, {}, {}});
    } catch (const EnforceNotMet& error) {
      return error.message();
    }
    return std::string("none");
  };
  for (const char* name : {"x", "init", "states"}) {
    EXPECT_THAT(message("", name), testing::EndsWith(MakeString(
                                       "the step net reads blob \"", name,
                                       "\", which has a link or is an initial value, under "
                                       "its own name as well; it needs a backward_step_net")));
    // Without a gradient it may be read, and so may a blob that the step net writes before.
    EXPECT_EQ(
        message(MakeString("op { type: 'Shape' input: '", name, "' output: 'unused' }"), "input_t"),
        "none");
    EXPECT_EQ(
        message(MakeString("op { type: 'Tanh' input: 'input_t' output: '", name, "' }"), name),
        "none");
  }
  EXPECT_EQ(message("", "input_t"), "none");
  EXPECT_EQ(message("", "prev"), "none");
}

TEST_F(BackwardStepTest, ReplacesTheArgumentsThatItDerives) {
  GradientWrapper given;
  given.dense_ = "dy";
  const OperatorDef network = ParseOp(LstmNetwork(
      "arg { name: 'outputs_with_grads' ints: 0 } arg { name: 'backward_link_offset' ints: 7 }"));
  const std::vector<GradientWrapper> of_outputs(static_cast<size_t>(network.output_size()), given);
  const GradientOpsMeta gradient = GetGradientForOp(network, of_outputs);
  ASSERT_EQ(gradient.ops_.size(), 1u);
  std::set<std::string> names;
  for (const Argument& arg : gradient.ops_[0].arg())
    EXPECT_TRUE(names.insert(arg.name()).second) << arg.name() << " is there twice";
  EXPECT_TRUE(names.contains("backward_step_net"));
}

// The net of a model learns: gradients reach the weights through two operators.
TEST_F(BackwardStepTest, IsAddedToTheBackwardPassOfANet) {
  FeedLstm(4, 3, 2);
  FeedRandom(&ws_, "data", {4, 3, 5}, -1, 1, 7);
  FeedRandom(&ws_, "wx", {8, 5}, -1, 1, 8);
  FeedRandom(&ws_, "bx", {8}, -1, 1, 9);
  NetDef net = ParseNet(R"(name: "train"
      op { type: "FC" input: "data" input: "wx" input: "bx" output: "x" arg { name: "axis" i: 2 } })");
  *net.add_op() = ParseOp(LstmNetwork("arg { name: 'outputs_with_grads' ints: 0 }"));
  *net.add_op() = ParseOp("type: 'Sqr' input: 'h_all' output: 'squares'");
  *net.add_op() = ParseOp("type: 'AveragedLoss' input: 'squares' output: 'loss'");
  const GradientMap gradients = AddGradientOperators(&net, {{"loss", {}}});
  for (const char* parameter : {"w", "b", "wx", "bx"}) {
    const GradientWrapper gradient = gradients.at(parameter);
    *net.add_op() =
        ParseOp(MakeString("type: 'WeightedSum' input: '", parameter, "' input: 'one' input: '",
                           gradient.dense_, "' input: 'rate' output: '", parameter, "'"));
  }
  Feed<float>(&ws_, "one", {1}, {1});
  Feed<float>(&ws_, "rate", {1}, {-0.5f});
  NetBase* const train = ws_.CreateNet(net);
  ASSERT_TRUE(train->Run());
  const float before = Fetch<float>(ws_, "loss")[0];
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(train->Run());
  EXPECT_LT(Fetch<float>(ws_, "loss")[0], 0.7f * before);
}

}  // namespace
}  // namespace caffe2rt::test::backward_step_test
