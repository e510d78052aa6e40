// Recipes for recurrent nets and their units.

#include "tests/operators/gradients/draft.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test {
namespace {

// The state, the gates, the lengths of the sequences and the time step.
struct UnitInputs {
  std::vector<std::string> names;
  bool has_lengths = false;
};
UnitInputs FeedUnit(Draft& draft, const std::vector<std::string>& states, int64_t gates) {
  const int64_t n = draft.Int(1, 3), d = draft.Int(1, 3);
  UnitInputs inputs{.names = states, .has_lengths = draft.Coin()};
  for (const std::string& state : states) draft.FeedSmooth(state, {1, n, d});
  draft.FeedSmooth("gates", {1, n, gates * d}, -2, 2);
  inputs.names.push_back("gates");
  if (inputs.has_lengths) {
    std::vector<int32_t> lengths;
    for (int64_t i = 0; i < n; ++i) lengths.push_back(static_cast<int32_t>(draft.Int(1, 3)));
    draft.FeedInt32("lengths", {n}, lengths);
    inputs.names.push_back("lengths");
  }
  draft.FeedInt32("timestep", {1}, {static_cast<int32_t>(draft.Int(0, 2))});
  inputs.names.push_back("timestep");
  return inputs;
}

void DraftLSTMUnit(Draft& draft, const std::string& type) {
  const UnitInputs inputs = FeedUnit(draft, {"h0", "c0"}, 4);
  draft.SetOperator(type, inputs.names, {"h", "c"})
      .Argument("sequence_lengths", inputs.has_lengths)
      .Argument("drop_states", draft.Coin())
      .Argument("forget_bias", draft.Real(-1, 1));
}

void DraftGRUUnit(Draft& draft, const std::string& type) {
  const UnitInputs inputs = FeedUnit(draft, {"h0"}, 3);
  draft.SetOperator(type, inputs.names, {"h"})
      .Argument("sequence_lengths", inputs.has_lengths)
      .Argument("drop_states", draft.Coin());
}

void AddStrings(OperatorDef* op, const std::string& name, const std::vector<std::string>& values) {
  AddArgument(name, values, op);
}

// h = tanh(x w + h' u + b), without a backward step net.
void DraftRecurrentNetwork(Draft& draft, const std::string& type) {
  const int64_t t = draft.Int(1, 4), n = draft.Int(1, 3), d = draft.Int(1, 3);
  draft.FeedSmooth("x", {t, n, d});
  draft.FeedSmooth("h0", draft.Coin() ? std::vector<int64_t>{1, n, d} : std::vector<int64_t>{d});
  draft.FeedSmooth("u", {d, d});
  draft.FeedSmooth("b", {d});
  const bool all = draft.Coin();
  draft.check.outputs_without_gradient = {"steps", all ? "last" : "all"};
  draft.SetOperator(type, {"x", "h0", "u", "b"}, {"all", "last", "steps"});
  OperatorDef op = draft.op();
  AddStrings(&op, "recurrent_states", {"states"});
  AddArgument("initial_recurrent_state_ids", std::vector<int>{1}, &op);
  AddStrings(&op, "alias_src", {"states", "states"});
  AddStrings(&op, "alias_dst", {"all", "last"});
  AddArgument("alias_offset", std::vector<int>{1, -1}, &op);
  AddStrings(&op, "link_internal", {"prev", "h", "x_t"});
  AddStrings(&op, "link_external", {"states", "states", "x"});
  AddArgument("link_offset", std::vector<int>{0, 1, 0}, &op);
  AddArgument("outputs_with_grads", std::vector<int>{all ? 0 : 1}, &op);
  AddArgument("step_net", ParseNet(R"(name: "step"
      op { type: "FC" input: "prev" input: "u" input: "b" output: "uh" arg { name: "axis" i: 2 } }
      op { type: "Sum" input: "uh" input: "x_t" output: "sum" }
      op { type: "Tanh" input: "sum" output: "h" })"),
              &op);
  draft.SetOperator(op);
}

}  // namespace

std::vector<Recipe> RecurrentRecipes() {
  return {
      {"LSTMUnit", "", DraftLSTMUnit},
      {"GRUUnit", "", DraftGRUUnit},
      {"RecurrentNetwork", "", DraftRecurrentNetwork},
  };
}

}  // namespace caffe2rt::test
