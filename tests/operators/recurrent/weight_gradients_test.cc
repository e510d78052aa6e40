#include "operators/recurrent/weight_gradients.h"

#include <functional>

#include "tests/support/operator_test.h"

namespace caffe2rt::test::weight_gradients_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// What TakeWeightGradients looks at: the gradient of h[t + 1] = FC(h[t], w, b) + x[t], which it
// takes out.
struct Step {
  OperatorDef def = ParseOp(R"(type: "RecurrentNetworkGradient" input: "all_grad" input: "x"
      input: "init" input: "w" input: "b" input: "all" input: "last" input: "steps"
      output: "dx" output: "dw" output: "db" output: "dinit")");
  StepArguments arguments{.states = {"states"},
                          .links = {{"prev", "states", 0}, {"cur", "states", 1}, {"x_t", "x", 0}},
                          .outputs_with_grads = {0},
                          .params = {2, 3}};
  std::vector<StepLink> links = {
      {"cur_grad", "states_grad", 1}, {"prev_grad", "states_grad", 0}, {"x_t_grad", "dx", 0}};
  std::vector<std::string> grads = {"w_grad", "b_grad"};
  NetDef net = ParseNet(R"(name: "step"
      op { type: "Copy" input: "cur_grad" output: "x_t_grad" }
      op { type: "FCGradient" input: "prev" input: "w" input: "x_t_grad" output: "w_grad"
           output: "b_grad" output: "prev_grad" arg { name: "axis" i: 2 } })");
  DeviceType device = CPU;

  OperatorDef* gradient() { return net.mutable_op(1); }
  void Add(const std::string& op) { *net.add_op() = ParseOp(op); }
  std::vector<WeightGradient> Take() {
    return TakeWeightGradients(
        {.def = &def, .arguments = &arguments, .links = &links, .grads = &grads, .device = device},
        &net);
  }
};

TEST(WeightGradientsTest, TakesTheGradientsOfTheWeightsOutOfTheStep) {
  Step step;
  step.net.add_external_input("w");
  step.arguments.links[0].offset = 4;
  const std::vector<WeightGradient> taken = step.Take();
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].weight_param, 0u);
  EXPECT_EQ(taken[0].bias_param, 1u);
  EXPECT_EQ(taken[0].state, "states");
  EXPECT_EQ(taken[0].offset, 4);
  EXPECT_EQ(taken[0].rows, "w_all_steps");
  EXPECT_EQ(taken[0].zero, "w_zero_bias");
  const auto text = [](const OperatorDef& op) {
    OperatorDef plain = op;
    plain.clear_device_option();
    return plain.DebugString();
  };
  const OperatorDef all_steps = ParseOp(R"(type: "FCGradient" input: "w_all_steps" input: "w"
      input: "dx" output: "dw" output: "db" arg { name: "axis" i: 2 })");
  EXPECT_EQ(text(taken[0].op), text(all_steps));
  ASSERT_EQ(step.net.op_size(), 2);
  const OperatorDef left = ParseOp(R"(type: "FCTransposed" input: "x_t_grad" input: "w"
      input: "w_zero_bias" output: "prev_grad" arg { name: "axis" i: 2 })");
  EXPECT_EQ(text(step.net.op(1)), text(left));
  EXPECT_THAT(step.net.external_input(), ElementsAre("w", "w_zero_bias"));
}

TEST(WeightGradientsTest, LeavesNothingInTheStepWithoutTheGradientOfItsInput) {
  Step step;
  step.gradient()->mutable_output()->RemoveLast();
  std::swap(step.grads[0], step.grads[1]);
  std::swap(step.arguments.params[0], step.arguments.params[1]);
  const std::vector<WeightGradient> taken = step.Take();
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].weight_param, 1u);
  EXPECT_EQ(taken[0].bias_param, 0u);
  EXPECT_EQ(taken[0].zero, "");
  EXPECT_THAT(taken[0].op.output(), ElementsAre("db", "dw"));
  ASSERT_EQ(step.net.op_size(), 1);
  EXPECT_EQ(step.net.op(0).type(), "Copy");
  EXPECT_THAT(step.net.external_input(), IsEmpty());
}

TEST(WeightGradientsTest, TakesOutOperatorsThatFollowEachOther) {
  Step step;
  step.def = ParseOp(R"(type: "RecurrentNetworkGradient" input: "all_grad" input: "x"
      input: "init" input: "w" input: "b" input: "v" input: "c" input: "all" input: "last"
      input: "steps" output: "dx" output: "dw" output: "db" output: "dv" output: "dc"
      output: "dinit")");
  step.arguments.params = {2, 3, 4, 5};
  step.grads = {"w_grad", "b_grad", "v_grad", "c_grad"};
  step.Add(R"(type: "FCGradient" input: "prev" input: "v" input: "x_t_grad" output: "v_grad"
      output: "c_grad" arg { name: "axis" i: 2 })");
  step.gradient()->mutable_output()->RemoveLast();
  const std::vector<WeightGradient> taken = step.Take();
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_THAT(taken[0].op.output(), ElementsAre("dw", "db"));
  EXPECT_THAT(taken[1].op.output(), ElementsAre("dv", "dc"));
  EXPECT_EQ(step.net.op_size(), 1);
}

struct Change {
  const char* name;
  std::function<void(Step*)> apply;
};

// Changes after which the gradient of all steps would not be that of each step, or could not be
// computed.
const Change kRefused[] = {
    {"another operator", [](Step* s) { s->gradient()->set_type("FCTransposedGradient"); }},
    {"2 inputs", [](Step* s) { s->gradient()->mutable_input()->RemoveLast(); }},
    {"4 inputs", [](Step* s) { s->gradient()->add_input("more"); }},
    {"1 output", [](Step* s) { s->gradient()->mutable_output()->DeleteSubrange(1, 2); }},
    {"4 outputs", [](Step* s) { s->gradient()->add_output("more"); }},
    {"control input", [](Step* s) { s->gradient()->add_control_input("cur_grad"); }},
    {"no axis", [](Step* s) { s->gradient()->clear_arg(); }},
    {"another axis", [](Step* s) { s->gradient()->mutable_arg(0)->set_i(1); }},
    {"another argument", [](Step* s) { s->gradient()->mutable_arg(0)->set_name("axes"); }},
    {"an axis of the weight",
     [](Step* s) {
       Argument* const arg = s->gradient()->add_arg();
       arg->set_name("axis_w");
       arg->set_i(2);
     }},

    {"the weight's gradient is that of no parameter", [](Step* s) { s->grads[0] = "other"; }},
    {"the weight's gradient is that of two parameters",
     [](Step* s) {
       s->grads.push_back("w_grad");
       s->arguments.params.push_back(1);
     }},
    {"the weight's gradient is written twice",
     [](Step* s) { s->Add(R"(type: "Copy" input: "w" output: "w_grad")"); }},
    {"the weight's gradient is read",
     [](Step* s) { s->Add(R"(type: "Copy" input: "w_grad" output: "copy")"); }},
    {"the bias's gradient is that of no parameter", [](Step* s) { s->grads[1] = "other"; }},
    {"the bias's gradient is that of two parameters",
     [](Step* s) {
       s->grads.push_back("b_grad");
       s->arguments.params.push_back(1);
     }},
    {"the bias's gradient is written twice",
     [](Step* s) { s->Add(R"(type: "Copy" input: "b" output: "b_grad")"); }},
    {"the bias's gradient is read",
     [](Step* s) { s->Add(R"(type: "Copy" input: "b_grad" output: "copy")"); }},
    {"another blob is the weight", [](Step* s) { s->gradient()->set_input(1, "v"); }},
    {"the weight is another parameter",
     [](Step* s) { std::swap(s->arguments.params[0], s->arguments.params[1]); }},

    {"X is no row", [](Step* s) { s->gradient()->set_input(0, "other"); }},
    {"X is a row of an input", [](Step* s) { s->gradient()->set_input(0, "x_t"); }},
    {"X is two rows", [](Step* s) { s->arguments.links[0].window = 2; }},
    {"the state has two names", [](Step* s) { s->arguments.states.push_back("states"); }},
    {"X is changed before",
     [](Step* s) {
       s->net.mutable_op(0)->set_type("Split");
       s->net.mutable_op(0)->add_output("prev");
     }},
    {"X is changed after", [](Step* s) { s->Add(R"(type: "Copy" input: "w" output: "prev")"); }},
    {"another row of the state is changed",
     [](Step* s) { s->Add(R"(type: "Copy" input: "w" output: "cur")"); }},

    {"dY is no row", [](Step* s) { s->links[2].internal = "other"; }},
    {"dY is a row of another blob", [](Step* s) { s->links[2].external = "y"; }},
    {"dY is another row", [](Step* s) { s->links[2].offset = 1; }},
    {"dY is two rows", [](Step* s) { s->links[2].window = 2; }},
    {"two blobs are rows of the input's gradient",
     [](Step* s) {
       s->links.push_back({"more", "dx", 0});
     }},
    {"dY is not computed", [](Step* s) { s->net.mutable_op(0)->set_output(0, "other"); }},
    {"dY is changed after",
     [](Step* s) { s->Add(R"(type: "Scale" input: "x_t_grad" output: "x_t_grad")"); }},
    {"dY is computed after", [](Step* s) { s->net.mutable_op()->SwapElements(0, 1); }},
    {"dY is changed by the operator", [](Step* s) { s->gradient()->set_output(2, "x_t_grad"); }},

    {"the operator's device",
     [](Step* s) { s->gradient()->mutable_device_option()->set_device_type(CUDA); }},
    {"the net's device", [](Step* s) { s->net.mutable_device_option()->set_device_type(CUDA); }},
    {"the states' device", [](Step* s) { s->device = CUDA; }},
};

TEST(WeightGradientsTest, LeavesStepsAloneThatItCannotTakeOut) {
  for (const Change& change : kRefused) {
    SCOPED_TRACE(change.name);
    Step step;
    change.apply(&step);
    const std::string before = step.net.DebugString();
    EXPECT_EQ(step.Take().size(), 0u);
    EXPECT_EQ(step.net.DebugString(), before);
  }
}

// Changes that make no difference.
const Change kAccepted[] = {
    {"rows of other blobs",
     [](Step* s) {
       s->arguments.links.push_back({"y_t", "y", 0, 2});
       s->links.push_back({"y_t_grad", "y_grad", 0, 2});
     }},
    {"other states", [](Step* s) { s->arguments.states.push_back("c"); }},
    {"dY is read after",
     [](Step* s) { s->Add(R"(type: "Copy" input: "x_t_grad" output: "copy")"); }},
    {"dY is written twice before",
     [](Step* s) {
       s->Add(R"(type: "Scale" input: "x_t_grad" output: "x_t_grad")");
       s->net.mutable_op()->SwapElements(1, 2);
     }},
    {"X is read elsewhere", [](Step* s) { s->Add(R"(type: "Copy" input: "prev" output: "p")"); }},
    {"the operator and the net on one device",
     [](Step* s) {
       s->device = CUDA;
       s->net.mutable_device_option()->set_device_type(CUDA);
     }},
};

TEST(WeightGradientsTest, TakesOutWhatOtherPartsOfTheStepDoNotAffect) {
  for (const Change& change : kAccepted) {
    SCOPED_TRACE(change.name);
    Step step;
    change.apply(&step);
    EXPECT_EQ(step.Take().size(), 1u);
  }
}

// h[t + 1] = w h[t] + b + x[t] with w = 1 and x = 1, 1, 1 from 0: h = 1, 2, 3. The gradients of h
// are 3, 2, 1. The step net given by the user returns ten times the gradient of x.
struct ScaledGradients {
  Workspace ws;
  std::string forward, gradient;  // the operators
  ScaledGradients();
};

ScaledGradients::ScaledGradients() {
  const std::string network = R"(output: "all" output: "last" output: "steps"
    arg { name: "recurrent_states" strings: "states" }
    arg { name: "initial_recurrent_state_ids" ints: 1 }
    arg { name: "alias_src" strings: "states" strings: "states" }
    arg { name: "alias_dst" strings: "all" strings: "last" }
    arg { name: "alias_offset" ints: 1 ints: -1 }
    arg { name: "link_internal" strings: "prev" strings: "cur" strings: "x_t" }
    arg { name: "link_external" strings: "states" strings: "states" strings: "x" }
    arg { name: "link_offset" ints: 0 ints: 1 ints: 0 }
    arg { name: "step_net" n { name: "step"
      op { type: "FC" input: "prev" input: "w" input: "b" output: "fc" arg { name: "axis" i: 2 } }
      op { type: "Sum" input: "fc" input: "x_t" output: "cur" } } } )";
  const std::string backward = R"(arg { name: "outputs_with_grads" ints: 0 }
    arg { name: "param" ints: 2 ints: 3 }
    arg { name: "param_grads" strings: "w_grad" strings: "b_grad" }
    arg { name: "backward_link_internal" strings: "cur_grad" strings: "prev_grad"
          strings: "x_t_grad" }
    arg { name: "backward_link_external" strings: "states_grad" strings: "states_grad"
          strings: "x_grad" }
    arg { name: "backward_link_offset" ints: 1 ints: 0 ints: 0 }
    arg { name: "backward_step_net" n { name: "backward"
      op { type: "Copy" input: "cur_grad" output: "x_t_grad" }
      op { type: "FCGradient" input: "prev" input: "w" input: "x_t_grad" output: "w_grad"
           output: "b_grad" output: "prev_grad" arg { name: "axis" i: 2 } }
      op { type: "Scale" input: "x_t_grad" output: "x_t_grad" arg { name: "scale" f: 10 } } } })";
  Feed<float>(&ws, "x", {3, 1, 1}, {1, 1, 1});
  Feed<float>(&ws, "init", {1, 1, 1}, {0});
  Feed<float>(&ws, "w", {1, 1}, {1});
  Feed<float>(&ws, "b", {1}, {0});
  Feed<float>(&ws, "all_grad", {3, 1, 1}, {1, 1, 1});
  const std::string inputs = R"(input: "x" input: "init" input: "w" input: "b" )";
  forward = R"(type: "RecurrentNetwork" )" + inputs + network + backward;
  RunOp(&ws, forward);
  ExpectTensor<float>(ws, "all", {3, 1, 1}, {1, 2, 3});
  gradient = R"(type: "RecurrentNetworkGradient" input: "all_grad" )" + inputs +
             R"(input: "all" input: "last" input: "steps" output: "x_grad"
                output: "dw" output: "db" output: "dinit" )" +
             network.substr(network.find("arg")) + backward;
}

TEST(WeightGradientsTest, GivesTheGradientsOfAStepThatChangesTheInputsGradientLater) {
  ScaledGradients run;
  Workspace& ws = run.ws;
  RunOp(&ws, run.gradient);
  ExpectTensor<float>(ws, "x_grad", {3, 1, 1}, {30, 20, 10});
  ExpectTensor<float>(ws, "db", {1}, {6});
  ExpectTensor<float>(ws, "dw", {1, 1}, {3 * 0 + 2 * 1 + 1 * 2});
  ExpectTensor<float>(ws, "dinit", {1, 1, 1}, {3});
}

// Without the last operator, the gradient of w is computed after all steps.
TEST(WeightGradientsTest, NameStepsOfOthersAndWeightsWithoutRows) {
  ScaledGradients run;
  Workspace& ws = run.ws;
  const std::string scale =
      R"(op { type: "Scale" input: "x_t_grad" output: "x_t_grad" arg { name: "scale" f: 10 } })";
  std::string taken = run.gradient;
  ASSERT_NE(taken.find(scale), std::string::npos);
  taken.erase(taken.find(scale), scale.size());
  RunOp(&ws, taken);
  ExpectTensor<float>(ws, "x_grad", {3, 1, 1}, {3, 2, 1});
  ExpectTensor<float>(ws, "dw", {1, 1}, {4});
  // The steps of another workspace, and none.
  const auto steps = ws.GetBlob("steps")->Get<ScratchWorkspaces>().steps;
  Workspace other;
  for (const auto& wrong : {std::make_shared<StepWorkspaces>(&other), decltype(steps)()}) {
    ws.GetBlob("steps")->GetMutable<ScratchWorkspaces>()->steps = wrong;
    ExpectThrows([&] { (void)ws.RunOperatorOnce(ParseOp(taken)); },
                 "input 7 (steps) is not from a RecurrentNetwork of this workspace");
  }
  ws.GetBlob("steps")->GetMutable<ScratchWorkspaces>()->steps = steps;
  // The gradients of an operator that ran with other steps before.
  NetDef net;
  net.set_name("gradients");
  *net.add_op() = ParseOp(taken);
  NetBase* const gradients = ws.CreateNet(net);
  ASSERT_TRUE(gradients->Run());
  ws.GetBlob("steps")->GetMutable<ScratchWorkspaces>()->steps = nullptr;
  RunOp(&ws, run.forward);
  Feed<float>(&ws, "dw", {1, 1}, {0});
  ASSERT_TRUE(gradients->Run());
  ExpectTensor<float>(ws, "x_grad", {3, 1, 1}, {3, 2, 1});
  ExpectTensor<float>(ws, "dw", {1, 1}, {4});
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{0, 1}, {0}}) {
    Feed<float>(&ws, "w", dims, {});
    ExpectThrows([&] { RunOp(&ws, taken); },
                 MakeString("the weight \"w\" has shape ", IntArrayRef(dims), ", want rows"));
  }
}

}  // namespace
}  // namespace caffe2rt::test::weight_gradients_test
