// The arguments of recurrent networks: lists, defaults and renamed blobs, the device of step nets,
// and the device of what a derived backward step net adds.
#include "operators/recurrent/step_arguments.h"

#include <gmock/gmock.h>

#include "operators/recurrent/backward_step.h"
#include "tests/operators/recurrent/recurrent_nets.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::step_arguments_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Two links and two outputs. The names of "time", "s", "prev", "x", "all" and "g" may be replaced.
const std::string kArguments = R"(type: "RecurrentNetwork" input: "x" input: "init" input: "w"
  output: "all" output: "last" output: "steps"
  arg { name: "timestep" s: "time" } arg { name: "recurrent_states" strings: "s" }
  arg { name: "initial_recurrent_state_ids" ints: 1 }
  arg { name: "link_internal" strings: "prev" strings: "x_t" }
  arg { name: "link_external" strings: "s" strings: "x" }
  arg { name: "link_offset" ints: 0 ints: 2 } arg { name: "link_window" ints: 3 ints: 1 }
  arg { name: "alias_src" strings: "s" strings: "s" }
  arg { name: "alias_dst" strings: "all" strings: "last" }
  arg { name: "alias_offset" ints: 1 ints: -1 }
  arg { name: "outputs_with_grads" ints: 1 ints: 0 } arg { name: "param" ints: 2 }
  arg { name: "param_grads" strings: "g" }
  arg { name: "recompute_blobs_on_backward" strings: "g" strings: "x" }
  arg { name: "backward_link_internal" strings: "prev" strings: "d" }
  arg { name: "backward_link_external" strings: "x" strings: "s" }
  arg { name: "backward_link_offset" ints: 4 ints: 5 } )";

std::string Rename(const std::string& from, const std::string& to) {
  return "arg { name: '" + from + ".rename' s: '" + to + "' } ";
}
std::vector<std::string> TextsOf(const std::vector<StepLink>& links) {
  std::vector<std::string> texts;
  for (const StepLink& link : links)
    texts.push_back(
        MakeString(link.internal, " = ", link.external, " ", link.offset, " ", link.window));
  return texts;
}

TEST(StepArgumentsTest, HoldTheListsOfTheOperator) {
  const StepArguments got = ReadStepArguments(ParseOp(kArguments));
  EXPECT_EQ(got.timestep, "time");
  EXPECT_THAT(got.states, ElementsAre("s"));
  EXPECT_THAT(got.initial_ids, ElementsAre(1));
  EXPECT_THAT(TextsOf(got.links), ElementsAre("prev = s 0 3", "x_t = x 2 1"));
  ASSERT_EQ(got.aliases.size(), 2u);
  EXPECT_EQ(got.aliases[0].source + got.aliases[0].target, "sall");
  EXPECT_EQ(got.aliases[1].source + got.aliases[1].target, "slast");
  EXPECT_EQ(got.aliases[0].offset, 1);
  EXPECT_EQ(got.aliases[1].offset, -1);
  EXPECT_THAT(got.outputs_with_grads, ElementsAre(1, 0));
  EXPECT_THAT(got.params, ElementsAre(2));
  EXPECT_THAT(got.param_grads, ElementsAre("g"));
  EXPECT_THAT(got.recomputed, ElementsAre("g", "x"));
  EXPECT_THAT(TextsOf(ReadBackwardLinks(ParseOp(kArguments))),
              ElementsAre("prev = x 4 1", "d = s 5 1"));
}

TEST(StepArgumentsTest, AreEmptyByDefault) {
  const StepArguments got = ReadStepArguments(ParseOp("type: 'RecurrentNetwork'"));
  EXPECT_EQ(got.timestep, "timestep");
  EXPECT_THAT(got.states, IsEmpty());
  EXPECT_THAT(got.links, IsEmpty());
  EXPECT_TRUE(got.aliases.empty());
  EXPECT_THAT(got.outputs_with_grads, IsEmpty());
  EXPECT_THAT(got.param_grads, IsEmpty());
  EXPECT_THAT(ReadBackwardLinks(ParseOp("type: 'RecurrentNetwork'")), IsEmpty());
  // Links have one row if no windows are given.
  OperatorDef def = ParseOp(kArguments);
  for (Argument& arg : *def.mutable_arg()) {
    if (arg.name() == "link_window") arg.clear_ints();
  }
  EXPECT_THAT(TextsOf(ReadStepArguments(def).links), ElementsAre("prev = s 0 1", "x_t = x 2 1"));
}

// Each name has its own replacement; recomputed blobs are those of the step net.
TEST(StepArgumentsTest, NamesAreReplacedInEachList) {
  const OperatorDef def =
      ParseOp(kArguments + Rename("time", "T") + Rename("s", "S") + Rename("prev", "P") +
              Rename("x", "X") + Rename("all", "A") + Rename("g", "G") + Rename("d", "D") +
              "arg { name: 'last.rename' i: 3 } arg { name: 'x_t' s: 'none' } ");
  const StepArguments got = ReadStepArguments(def);
  EXPECT_EQ(got.timestep, "T");
  EXPECT_THAT(got.states, ElementsAre("S"));
  EXPECT_THAT(TextsOf(got.links), ElementsAre("P = S 0 3", "x_t = X 2 1"));
  EXPECT_EQ(got.aliases.at(0).source + got.aliases.at(0).target, "SA");
  EXPECT_EQ(got.aliases.at(1).source + got.aliases.at(1).target, "Slast");
  EXPECT_THAT(got.param_grads, ElementsAre("G"));
  EXPECT_THAT(got.recomputed, ElementsAre("g", "x"));
  EXPECT_THAT(TextsOf(ReadBackwardLinks(def)), ElementsAre("P = X 4 1", "D = S 5 1"));
}

TEST(StepArgumentsTest, BackwardListsOfSeveralLengthsAreNamed) {
  const auto error = [](const std::string& name) {
    OperatorDef def = ParseOp(kArguments);
    for (Argument& arg : *def.mutable_arg()) {
      if (arg.name() == name) arg.add_strings("more"), arg.add_ints(1);
    }
    return MessageOf([&] { (void)ReadBackwardLinks(def); });
  };
  const std::string want = ", want those of argument backward_link_internal (got ";
  EXPECT_EQ(error("backward_link_external"),
            "entries of argument backward_link_external" + want + "3, want 2)");
  EXPECT_EQ(error("backward_link_offset"),
            "entries of argument backward_link_offset" + want + "3, want 2)");
  EXPECT_EQ(error("backward_link_internal"),
            "entries of argument backward_link_external" + want + "2, want 3)");
  OperatorDef def = ParseOp(kArguments);
  for (Argument& arg : *def.mutable_arg()) {
    if (arg.name() == "backward_link_offset") arg.set_ints(1, -1);
  }
  EXPECT_EQ(MessageOf([&] { (void)ReadBackwardLinks(def); }),
            "link of blob \"d\" has offset -1 and window 1, want at least 0");
}

// Linked blobs, and what the net has written before, keep their names.
TEST(StepNetArgumentTest, NamesThatTheNetReadsFromTheWorkspaceAreReplaced) {
  const OperatorDef def =
      ParseOp(kArguments + Rename("w", "W") + Rename("sum", "SUM") + Rename("prev", "P") +
              Rename("d", "D") + Rename("v", "V") +
              R"(arg { name: "step_net" n { name: "step" external_input: "w" external_input: "prev"
           external_input: "d" external_input: "other" external_input: "v"
           op { type: "Sum" input: "sum" input: "prev" input: "w" output: "sum" }
           op { type: "Sum" input: "sum" input: "d" input: "other" output: "w" }
           op { type: "Sum" input: "w" input: "v" output: "v" } } })");
  const NetDef net = ReadStepNet(def, kStepNet);
  EXPECT_THAT(net.op(0).input(), ElementsAre("SUM", "prev", "W"));
  EXPECT_THAT(net.op(0).output(), ElementsAre("sum"));
  EXPECT_THAT(net.op(1).input(), ElementsAre("sum", "d", "other"));
  EXPECT_THAT(net.op(1).output(), ElementsAre("w"));
  EXPECT_THAT(net.op(2).input(), ElementsAre("w", "V"));
  EXPECT_THAT(net.op(2).output(), ElementsAre("v"));
  EXPECT_THAT(net.external_input(), ElementsAre("W", "prev", "d", "other", "V"));
}

TEST(StepNetArgumentTest, IsAMessageOrText) {
  const auto def = [](const std::string& value) {
    return ParseOp("type: 'RecurrentNetwork' arg { name: 'step_net' " + value + " } " +
                   "arg { name: 'backward_step_net' n { name: 'other' } }");
  };
  for (const char* value : {"n { name: 'net' }", "s: 'name: \"net\"'"}) {
    EXPECT_TRUE(HasStepNet(def(value), kStepNet));
    EXPECT_EQ(ReadStepNet(def(value), kStepNet).name(), "net");
    EXPECT_EQ(ReadStepNet(def(value), kBackwardStepNet).name(), "other");
  }
  const auto error = [&](const std::string& value) {
    return MessageOf([&] { (void)ReadStepNet(def(value), kStepNet); });
  };
  for (const char* value : {"", "s: ''", "i: 1"}) {
    EXPECT_FALSE(HasStepNet(def(value), kStepNet));
    EXPECT_EQ(error(value), "argument \"step_net\" is missing, want a net");
  }
  EXPECT_TRUE(HasStepNet(def("s: 'nonsense'"), kStepNet));
  EXPECT_EQ(error("s: 'nonsense'"), "argument \"step_net\" is text that does not parse as a net");
  EXPECT_EQ(error("n { type: 'simple' }"),
            "the net in argument \"step_net\" has no name. Net definition should have a name.");
}

// The device of the operator is that of a net which names none.
TEST(StepNetArgumentTest, GetsTheDeviceOfTheOperatorIfItNamesNone) {
  struct DeviceRow {
    const char* device;  // of the operator
    const char* net;     // more of the net
    int type, id;        // -1: none
  };
  const DeviceRow rows[] = {
      {"device_type: 1 device_id: 3", "", 1, 3},
      {"device_type: 1", "", 1, -1},
      {"device_type: 1 device_id: 0", "", 1, 0},
      {"device_type: 0 device_id: 3", "", -1, -1},
      {"device_type: 1 device_id: 3", "device_option { device_type: 0 }", 0, -1},
      {"device_type: 1 device_id: 3", "device_option { device_type: 1 device_id: 2 }", 1, 2},
      {"device_type: 1", "op { type: 'A' } op { type: 'B' device_option { } }", -1, -1},
      {"device_type: 1", "op { type: 'A' } op { type: 'B' }", 1, -1}};
  for (const DeviceRow& row : rows) {
    const NetDef net =
        ReadStepNet(ParseOp(MakeString("type: 'RecurrentNetwork' device_option { ", row.device,
                                       " random_seed: 9 } arg { name: 'step_net' n { name: 'n' ",
                                       row.net, " } }")),
                    kStepNet);
    SCOPED_TRACE(MakeString(row.device, " ", row.net));
    EXPECT_EQ(net.has_device_option(), row.type >= 0);
    if (row.type < 0) continue;
    EXPECT_EQ(net.device_option().device_type(), row.type);
    EXPECT_EQ(net.device_option().has_device_id(), row.id >= 0);
    EXPECT_EQ(net.device_option().device_id(), std::max(row.id, 0));
    EXPECT_FALSE(net.device_option().has_random_seed());
  }
}

NetDef DerivedNet(const std::string& ops) {
  OperatorDef def = ParseOp(SumMulNetwork());
  for (Argument& arg : *def.mutable_arg()) {
    if (arg.name() != "step_net") continue;
    *arg.mutable_n() = ParseNet("name: 'step' " + ops);
  }
  for (const Argument& arg : DeriveBackwardStep(def)) {
    if (arg.name() == kBackwardStepNet.name) return arg.n();
  }
  ADD_FAILURE() << "no net";
  return {};
}

// All operators of the step have a device option, and so have the copies that are added.
TEST(DerivedStepNetTest, CopiesAreOnTheDeviceOfTheStep) {
  const std::string mul = "op { type: 'Mul' input: 'input_t' input: 'prev' output: 'cur' ";
  const std::string seed = "device_option { random_seed: 7 } } ";
  // "cur" is read again, which takes a copy at the end of the step.
  const NetDef placed =
      DerivedNet(mul + seed + "op { type: 'Tanh' input: 'cur' output: 'side' " + seed);
  ASSERT_GT(placed.op_size(), 1);
  for (const OperatorDef& op : placed.op())
    EXPECT_EQ(op.device_option().random_seed(), 7u) << op.DebugString();
  const NetDef free = DerivedNet(mul + "} op { type: 'Tanh' input: 'cur' output: 'side' }");
  EXPECT_EQ(free.op_size(), placed.op_size());
  for (const OperatorDef& op : free.op()) EXPECT_FALSE(op.has_device_option());
  // The gradient of a sum is that of all its terms, each of which needs its own blob.
  const std::string sum =
      "op { type: 'Sum' input: 't' input: 'prev' input: 'input_t' output: 'cur' ";
  const NetDef sums = DerivedNet("op { type: 'Sqr' input: 'prev' output: 't' " + seed + sum + seed);
  int copies = 0;
  for (const OperatorDef& op : sums.op()) {
    EXPECT_EQ(op.device_option().random_seed(), 7u) << op.DebugString();
    copies += op.type() == "Copy" ? 1 : 0;
  }
  EXPECT_GE(copies, 1);
}

TEST(DerivedStepNetTest, HasTheNameTypeAndDeviceOfTheStepNet) {
  const NetDef net = DerivedNet(
      "device_option { random_seed: 3 } op { type: 'Mul' input: 'input_t' input: 'prev' output: "
      "'cur' }");
  EXPECT_EQ(net.name(), "step_backward");
  EXPECT_EQ(net.type(), "simple");
  EXPECT_EQ(net.device_option().random_seed(), 3u);
  EXPECT_FALSE(DerivedNet("op { type: 'Mul' input: 'input_t' input: 'prev' output: 'cur' }")
                   .has_device_option());
}

}  // namespace
}  // namespace caffe2rt::test::step_arguments_test
