// What a backward pass keeps, names and places: requested gradients of tables, values that gradient
// operators pass on, sums of slices, and operators that work in place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/backward_pass.h"
#include "tests/caffe2_core/graph/gradient_makers.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::backward_pass_rules_test {
namespace {

using test::ExpectRefusals;
using ::testing::ElementsAre;

class ThreeStepsMaker : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    return {CreateOperatorDef("Step1", "", {GO(0)}, {GI(0)}),
            CreateOperatorDef("Step2", "", {GI(0)}, {GI(0)}),
            CreateOperatorDef("Step3", "", {GI(0)}, {GI(0)})};
  }
};
// The slices have names that the maker chooses.
class NamedSlicesMaker : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    SetSparse(0, "i_of_" + I(0), "v_of_" + I(0));
    return SingleGradientDef("SlicesGradient", "", std::vector<std::string>{GO(0)},
                             std::vector<std::string>{"i_of_" + I(0), "v_of_" + I(0)});
  }
};
// Makes the indices of the slices, and passes the gradient of the output on as their values.
class MadeIndicesMaker : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    const std::string indices = GradientSliceIndices(I(0));
    SetSparse(0, indices, GO(0));
    return SingleGradientDef("IndicesGradient", "", std::vector<std::string>{I(1)},
                             std::vector<std::string>{indices});
  }
};
// Reads the values of a sparse gradient after it wrote those of the input.
class TwoReadsOfSlicesMaker : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    return {CreateOperatorDef("First", "", {GO_V(0)}, {GI_V(0)}),
            CreateOperatorDef("Second", "", {GO_I(0), GO_V(0)}, {GI_I(0)})};
  }
};
// Has an argument of its own, besides those of the operator.
class OwnArgumentMaker : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("OwnGradient", "named", std::vector<std::string>{GO(0)},
                             std::vector<std::string>{GI(0)},
                             std::vector<Argument>{MakeArgument<int>("own", 7)});
  }
};
// The slices of input 1 are input 0 and the gradient of the output, in one order or the other.
class InputAsIndicesMaker : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override { return SetSparse(1, I(0), GO(0)), Ops(); }
  using Ops = std::vector<OperatorDef>;
};
class InputAsValuesMaker : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override { return SetSparse(1, GO(0), I(0)), Ops(); }
  using Ops = std::vector<OperatorDef>;
};

REGISTER_GRADIENT(RulesPassOn, test::PassOnMaker);
REGISTER_GRADIENT(RulesDirect, test::DirectMaker);
REGISTER_GRADIENT(RulesLookup, test::LookupMaker);
REGISTER_GRADIENT(RulesLookupValues, test::LookupValuesMaker);
REGISTER_GRADIENT(RulesThreeSteps, ThreeStepsMaker);
REGISTER_GRADIENT(RulesNamedSlices, NamedSlicesMaker);
REGISTER_GRADIENT(RulesMadeIndices, MadeIndicesMaker);
REGISTER_GRADIENT(RulesTwoReadsOfSlices, TwoReadsOfSlicesMaker);
REGISTER_GRADIENT(RulesOwnArgument, OwnArgumentMaker);
REGISTER_GRADIENT(RulesInputAsIndices, InputAsIndicesMaker);
REGISTER_GRADIENT(RulesInputAsValues, InputAsValuesMaker);

// A net from lines such as "Direct x w -> y", whose types all begin with "Rules".
NetDef RulesNet(const std::vector<std::string>& lines) {
  NetDef net;
  for (const std::string& line : lines) {
    std::istringstream words(line);
    std::string type;
    words >> type;
    OperatorDef* const op = net.add_op();
    op->set_type("Rules" + type);
    bool outputs = false;
    for (std::string word; words >> word;) {
      if (word == "->") {
        outputs = true;
      } else {
        (outputs ? op->add_output(word) : op->add_input(word));
      }
    }
  }
  return net;
}

// The operators after the first `skip`, without "Rules" at the beginning of their types.
std::vector<std::string> LinesAfter(const NetDef& net, int skip) {
  std::vector<std::string> lines;
  for (int i = skip; i < net.op_size(); ++i) {
    const OperatorDef& op = net.op(i);
    std::string line = op.type().starts_with("Rules") ? op.type().substr(5) : op.type();
    for (const std::string& name : op.input()) line += " " + name;
    line += " ->";
    for (const std::string& name : op.output()) line += " " + name;
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> BackwardOf(const std::vector<std::string>& forward,
                                    const std::string& loss,
                                    const std::vector<std::string>& wrt = {}) {
  NetDef net = RulesNet(forward);
  AddGradientOperators(&net, {{loss, {}}}, {.wrt = wrt});
  return LinesAfter(net, static_cast<int>(forward.size()));
}

// The slices of both lookups are joined along the first axis, which is not the default of Concat.
TEST(BackwardPassRulesTest, RequestedTablesKeepTheirIndicesAndValues) {
  NetDef net = RulesNet({"Lookup table i -> a", "LookupValues table j -> b", "Direct a b -> y",
                         "Direct w -> c", "Direct y c -> loss"});
  const GradientMap gradients = AddGradientOperators(&net, {{"loss", {}}}, {.wrt = {"table"}});
  EXPECT_THAT(
      LinesAfter(net, 5),
      ElementsAre("ConstantFill loss -> loss_autogen_grad",
                  "DirectGradient loss_autogen_grad -> y_grad c_grad",
                  "DirectGradient y_grad -> a_grad b_grad",
                  "LookupValuesGradient j b_grad -> _table_grad_values_autosplit_0",
                  "Concat j i -> table_grad_indices_concat table_grad_indices_concat_split",
                  "Concat _table_grad_values_autosplit_0 a_grad -> table_grad_values_concat "
                  "table_grad_values_concat_split"));
  for (int op = 9; op < 11; ++op) {
    ASSERT_EQ(net.op(op).arg_size(), 1);
    EXPECT_EQ(net.op(op).arg(0).name(), "axis");
    EXPECT_TRUE(net.op(op).arg(0).has_i());
    EXPECT_EQ(net.op(op).arg(0).i(), 0);
  }
  ASSERT_EQ(gradients.size(), 1u);
  EXPECT_EQ(gradients.at("table").indices_, "table_grad_indices_concat");
  EXPECT_EQ(gradients.at("table").values_, "table_grad_values_concat");
  EXPECT_THAT(BackwardOf({"NamedSlices table -> a", "Direct a w -> loss"}, "loss", {"table"}),
              ElementsAre("ConstantFill loss -> loss_autogen_grad",
                          "DirectGradient loss_autogen_grad -> a_grad w_grad",
                          "SlicesGradient a_grad -> i_of_table v_of_table"));
}

// The sum is in the place of the only gradient that may be renamed, wherever that is: the others are
// the caller's. Sum writes in place of its first input.
TEST(BackwardPassRulesTest, SumsAreInPlaceOfTheirFirstTerm) {
  for (const size_t own : {0u, 1u, 2u, 3u}) {
    std::vector<std::string> forward;
    GradientStart start;
    for (size_t i = 0; i < 4; ++i) {
      forward.push_back(MakeString(i == own ? "Direct" : "PassOn", " x -> y", i));
      start.push_back({MakeString("y", i), {MakeString("d", i), "", ""}});
    }
    NetDef net = RulesNet(forward);
    const GradientMap gradients = AddGradientOperators(&net, start);
    EXPECT_EQ(gradients.at("x").dense_, "x_grad");
    const OperatorDef& sum = net.op(net.op_size() - 1);
    ASSERT_EQ(sum.type(), "Sum") << own;
    ASSERT_EQ(sum.input_size(), 4) << own;
    EXPECT_EQ(sum.input(0), "x_grad") << own;
    EXPECT_EQ(sum.output(0), "x_grad") << own;
    std::set<std::string> others(sum.input().begin() + 1, sum.input().end()), want;
    for (size_t i = 0; i < 4; ++i) {
      if (i != own) want.insert(MakeString("d", i));
    }
    EXPECT_EQ(others, want) << own;
  }
}

// x_grad is first the gradient of what u gave x, and later of what w gave it.
TEST(BackwardPassRulesTest, EarlierValuesOfAGradientAreNotRequested) {
  const std::vector<std::string> forward = {"Direct w -> x", "Direct x -> a", "Direct u -> x",
                                            "Direct x -> b", "Direct a b -> y"};
  EXPECT_THAT(BackwardOf(forward, "y", {"w"}),
              ElementsAre("ConstantFill y -> y_autogen_grad",
                          "DirectGradient y_autogen_grad -> a_grad b_grad",
                          "DirectGradient a_grad -> x_grad", "DirectGradient x_grad -> w_grad"));
  EXPECT_THAT(BackwardOf(forward, "y", {"u"}),
              ElementsAre("ConstantFill y -> y_autogen_grad",
                          "DirectGradient y_autogen_grad -> a_grad b_grad",
                          "DirectGradient b_grad -> x_grad", "DirectGradient x_grad -> u_grad"));
  EXPECT_EQ(BackwardOf(forward, "y").size(), 6u);
}

// Only the last step is a gradient of x, if it is one of several.
TEST(BackwardPassRulesTest, AllButTheLastStepAreRenamed) {
  EXPECT_THAT(BackwardOf({"ThreeSteps x -> y", "Direct x y -> z"}, "z"),
              ElementsAre("ConstantFill z -> z_autogen_grad",
                          "DirectGradient z_autogen_grad -> x_grad y_grad",
                          "Step1 y_grad -> _x_grad_autogen_step",
                          "Step2 _x_grad_autogen_step -> _x_grad_autogen_step",
                          "Step3 _x_grad_autogen_step -> _x_grad_autosplit_0",
                          "Sum x_grad _x_grad_autosplit_0 -> x_grad"));
  EXPECT_THAT(BackwardOf({"ThreeSteps x -> z"}, "z"),
              ElementsAre("ConstantFill z -> z_autogen_grad", "Step1 z_autogen_grad -> x_grad",
                          "Step2 x_grad -> x_grad", "Step3 x_grad -> x_grad"));
}

// Each step reads what the one before it wrote, and the first one the gradient of the output.
TEST(BackwardPassRulesTest, StepsOfAnOperatorInPlaceFollowEachOther) {
  NetDef net = RulesNet({"ThreeSteps x -> x", "Direct x -> y"});
  AddGradientOperators(&net, {{"y", {}}});
  EXPECT_THAT(
      LinesAfter(net, 2),
      ElementsAre("ConstantFill y -> y_autogen_grad", "DirectGradient y_autogen_grad -> x_grad",
                  "Step1 x_grad -> x_grad", "Step2 x_grad -> x_grad", "Step3 x_grad -> x_grad"));
  EXPECT_FALSE(net.op(2).is_gradient_op());
  for (int i = 3; i < 7; ++i) EXPECT_TRUE(net.op(i).is_gradient_op()) << i;
}

TEST(BackwardPassRulesTest, GradientOperatorsKeepTheirOwnArgumentsAndNames) {
  OperatorDef op = RulesNet({"OwnArgument x -> y"}).op(0);
  AddArgument("k", 3, &op);
  op.set_name("forward");
  const GradientOpsMeta meta = GetGradientForOp(op, {{"dy", "", ""}});
  ASSERT_EQ(meta.ops_.size(), 1u);
  EXPECT_EQ(meta.ops_[0].name(), "named");
  ASSERT_EQ(meta.ops_[0].arg_size(), 2);
  EXPECT_EQ(GetArgument(meta.ops_[0], "own").i(), 7);
  EXPECT_EQ(GetArgument(meta.ops_[0], "k").i(), 3);
}

// A blob with a sparse gradient is among those that are known.
TEST(BackwardPassRulesTest, NamesOfTablesAreSuggestedToo) {
  ExpectRefusals({{[] { (void)BackwardOf({"NamedSlices table -> y"}, "y", {"tabel"}); },
                   "blob \"tabel\" has no gradient; close: table"}});
}

TEST(BackwardPassRulesTest, SumsOfSlicesAreNamedByTheFirstOne) {
  EXPECT_THAT(
      BackwardOf({"NamedSlices table -> a", "NamedSlices table -> b", "Direct a b -> y"}, "y"),
      ElementsAre("ConstantFill y -> y_autogen_grad",
                  "DirectGradient y_autogen_grad -> a_grad b_grad",
                  "SlicesGradient b_grad -> _i_of_table_autosplit_0 _v_of_table_autosplit_0",
                  "SlicesGradient a_grad -> _i_of_table_autosplit_1 _v_of_table_autosplit_1",
                  "Concat _i_of_table_autosplit_0 _i_of_table_autosplit_1 -> "
                  "i_of_table_indices_concat i_of_table_indices_concat_split",
                  "Concat _v_of_table_autosplit_0 _v_of_table_autosplit_1 -> "
                  "i_of_table_values_concat i_of_table_values_concat_split"));
}

// What no operator makes is on the device of the operator that passes it on.
TEST(BackwardPassRulesTest, SumsOfWhatIsPassedOnHaveADevice) {
  NetDef net = RulesNet({"PassOn x -> y", "PassOn x -> z", "Direct y z -> loss"});
  for (int i = 0; i < 2; ++i) net.mutable_op(i)->mutable_device_option()->set_device_id(2);
  AddGradientOperators(&net, {{"loss", {}}});
  EXPECT_THAT(LinesAfter(net, 3), ElementsAre("ConstantFill loss -> loss_autogen_grad",
                                              "DirectGradient loss_autogen_grad -> y_grad z_grad",
                                              "Sum z_grad y_grad -> x_grad"));
  EXPECT_EQ(net.op(5).device_option().device_id(), 2);
  net = RulesNet({"PassOn x -> y", "PassOn x -> z", "Direct y z -> loss"});
  net.mutable_op(0)->mutable_device_option()->set_device_id(2);
  ExpectRefusals({{[&] {
                     (void)AddGradientOperators(&net, {{"loss", {}}});
                   },
                   "the gradients of blob \"x\" are on different devices and cannot be added up; "
                   "copy the blob to one of the devices first"}});
  // Both operators of a sum of slices.
  NetDef slices =
      RulesNet({"LookupValues table i -> a", "LookupValues table j -> b", "Direct a b -> y"});
  for (OperatorDef& op : *slices.mutable_op()) op.mutable_device_option()->set_device_id(3);
  AddGradientOperators(&slices, {{"y", {}}});
  ASSERT_EQ(slices.op_size(), 9);
  for (const OperatorDef& op : slices.op()) EXPECT_EQ(op.device_option().device_id(), 3);
}

// A table that the net is given has a gradient, although it is sparse.
TEST(BackwardPassRulesTest, TablesComeFromOutsideToo) {
  const auto outside = [](const std::vector<std::string>& lines) {
    return GetBackwardPass(RulesNet(lines).op(), {{"y", {}}}).from_outside;
  };
  EXPECT_THAT(outside({"Lookup table i -> y"}), ElementsAre("table"));
  EXPECT_THAT(outside({"Direct w -> a", "LookupValues table i -> b", "Direct a b -> y"}),
              ElementsAre("table", "w"));
}

// Each lookup is one part of the total, although no operator makes its values.
TEST(BackwardPassRulesTest, SlicesWithMadeIndicesCountOnce) {
  EXPECT_THAT(
      BackwardOf({"MadeIndices table i -> a", "MadeIndices table j -> b", "Direct a b -> y"}, "y"),
      ElementsAre("ConstantFill y -> y_autogen_grad",
                  "DirectGradient y_autogen_grad -> a_grad b_grad",
                  "IndicesGradient j -> _table_grad_indices_autosplit_0",
                  "IndicesGradient i -> _table_grad_indices_autosplit_1",
                  "Concat _table_grad_indices_autosplit_0 _table_grad_indices_autosplit_1 -> "
                  "table_grad_indices_concat table_grad_indices_concat_split",
                  "Concat b_grad a_grad -> table_grad_values_concat "
                  "table_grad_values_concat_split"));
  EXPECT_THAT(
      BackwardOf({"MadeIndices table i -> y"}, "y"),
      ElementsAre("ConstantFill y -> y_autogen_grad", "IndicesGradient i -> table_grad_indices"));
}

// The type and the id tell devices apart. A sum has the options of the first term that has any.
TEST(BackwardPassRulesTest, SumsAreOnTheDeviceOfTheirTerms) {
  NetDef net = RulesNet({"Direct x -> y", "Direct x -> z", "Direct y z -> loss"});
  net.mutable_op(0)->mutable_device_option()->set_random_seed(5);
  AddGradientOperators(&net, {{"loss", {}}});
  ASSERT_EQ(net.op_size(), 8);
  EXPECT_EQ(net.op(7).type(), "Sum");
  EXPECT_EQ(net.op(7).device_option().random_seed(), 5u);
  EXPECT_FALSE(net.op(5).has_device_option());
  NetDef both = RulesNet({"Direct x -> y", "Direct x -> z", "Direct y z -> loss"});
  both.mutable_op(0)->mutable_device_option()->set_random_seed(5);
  both.mutable_op(1)->mutable_device_option()->set_random_seed(6);
  AddGradientOperators(&both, {{"loss", {}}});
  EXPECT_EQ(both.op(7).device_option().random_seed(), 6u);
  // What starts the backward pass is where the loss is.
  NetDef loss = RulesNet({"Direct x -> y", "Direct y -> loss"});
  loss.mutable_op(1)->mutable_device_option()->set_device_id(3);
  AddGradientOperators(&loss, {{"loss", {}}});
  EXPECT_EQ(loss.op(2).type(), "ConstantFill");
  EXPECT_EQ(loss.op(2).device_option().device_id(), 3);
  EXPECT_EQ(loss.op(3).device_option().device_id(), 3);
  EXPECT_FALSE(loss.op(4).has_device_option());
}

TEST(BackwardPassRulesTest, SlicesOfOperatorsInPlaceAreCheckedToo) {
  const auto gradient = [](const std::string& line, const std::vector<GradientWrapper>& given) {
    return [=] { (void)GetGradientForOp(RulesNet({line}).op(0), given); };
  };
  const std::vector<GradientWrapper> slices = {{"", "x_grad_indices", "x_grad_values"}};
  ExpectRefusals({
      {gradient("TwoReadsOfSlices x -> x", slices),
       "Second needs \"x_grad_values\", the gradient of an output of RulesTwoReadsOfSlices, but "
       "First overwrites it with that of an input; write the output of RulesTwoReadsOfSlices to "
       "another blob"},
      {gradient("TwoReadsOfSlices x -> y", {{"", "y_grad_indices", "y_grad_values"}}),
       "(nothing was thrown)"},
      {gradient("InputAsIndices x t -> x", {{"x_grad", "", ""}}),
       "RulesInputAsIndices needs the value of blob \"x\" that the operator read, but "
       "RulesInputAsIndices overwrites it; write the output of RulesInputAsIndices to another "
       "blob"},
      {gradient("InputAsValues x t -> x", {{"x_grad", "", ""}}),
       "RulesInputAsValues needs the value of blob \"x\" that the operator read, but "
       "RulesInputAsValues overwrites it; write the output of RulesInputAsValues to another blob"},
      {gradient("InputAsIndices x t -> t", {{"t_grad", "", ""}}), "(nothing was thrown)"},
      {gradient("InputAsValues x t -> t", {{"t_grad", "", ""}}), "(nothing was thrown)"},
  });
}

}  // namespace
}  // namespace caffe2rt::backward_pass_rules_test
