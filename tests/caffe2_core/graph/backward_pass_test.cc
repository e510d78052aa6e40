#include "caffe2_core/graph/backward_pass.h"

#include <sstream>

#include "tests/caffe2_core/graph/gradient_makers.h"
#include "tests/support/operator_test.h"

// Expected operators were worked out by hand from the description in backward_pass.h; the rows
// marked "Caffe2" are what Caffe2 itself returns for these nets.
namespace caffe2rt::backward_pass_test {
namespace {

using namespace test;  // used throughout this file
using ::testing::ElementsAreArray;

REGISTER_GRADIENT(Direct, DirectMaker);
REGISTER_GRADIENT(UseOutput, UseOutputMaker);
REGISTER_GRADIENT(UseInput, UseInputMaker);
REGISTER_GRADIENT(PassOn, PassOnMaker);
REGISTER_GRADIENT(Lookup, LookupMaker);
REGISTER_GRADIENT(LookupValues, LookupValuesMaker);
REGISTER_GRADIENT(LookupBoth, LookupBothMaker);
REGISTER_GRADIENT(TwoStep, TwoStepMaker);
REGISTER_GRADIENT(StepInPlace, StepInPlaceMaker);
REGISTER_GRADIENT(TwoReads, TwoReadsMaker);
REGISTER_GRADIENT(Stray, StrayMaker);
NO_GRADIENT(NoGradientTest);

// A net from lines such as "FC x w b -> y".
NetDef Net(const std::vector<std::string>& lines) {
  NetDef net;
  for (const std::string& line : lines) {
    OperatorDef* const op = net.add_op();
    std::istringstream words(line);
    std::string word;
    words >> *op->mutable_type();
    bool outputs = false;
    while (words >> word) {
      if (word == "->") {
        outputs = true;
      } else {
        (outputs ? op->add_output(word) : op->add_input(word));
      }
    }
  }
  return net;
}

std::string Line(const OperatorDef& op) {
  std::string line = op.type();
  for (const std::string& name : op.input()) line += " " + name;
  line += " ->";
  for (const std::string& name : op.output()) line += " " + name;
  return line;
}

// The gradients as "x: x_grad" and "table: indices + values".
std::vector<std::string> Lines(const GradientMap& gradients) {
  std::vector<std::string> lines;
  for (const auto& [blob, gradient] : gradients) {
    lines.push_back(
        blob + ": " +
        (gradient.IsDense() ? gradient.dense_ : gradient.indices_ + " + " + gradient.values_));
  }
  return lines;
}

GradientWrapper Dense(const std::string& name) { return {name, "", ""}; }

struct Case {
  std::string name;
  std::vector<std::string> forward;
  GradientStart start;
  std::vector<std::string> backward;
  std::vector<std::string> gradients;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class BackwardPassTest : public ::testing::TestWithParam<Case> {};

TEST_P(BackwardPassTest, AppendsGradientOperators) {
  NetDef net = Net(GetParam().forward);
  const GradientMap gradients = AddGradientOperators(&net, GetParam().start);
  std::vector<std::string> got;
  for (int i = static_cast<int>(GetParam().forward.size()); i < net.op_size(); ++i) {
    got.push_back(Line(net.op(i)));
  }
  EXPECT_THAT(got, ElementsAreArray(GetParam().backward));
  EXPECT_THAT(Lines(gradients), ElementsAreArray(GetParam().gradients));
}

const Case kCases[] = {
    {"Nothing", {"Direct in -> out"}, {}, {}, {}},  // Caffe2
    {"Chain",                                       // Caffe2
     {"UseOutput in -> hidden", "UseOutput hidden -> out", "Direct out -> sink"},
     {{"sink", Dense("sink_grad")}},
     {"DirectGradient sink_grad -> out_grad", "UseOutputGradient out out_grad -> hidden_grad",
      "UseOutputGradient hidden hidden_grad -> in_grad"},
     {"hidden: hidden_grad", "in: in_grad", "out: out_grad", "sink: sink_grad"}},
    {"OnesForAMissingGradient",
     {"Direct x -> loss"},
     {{"loss", {}}},
     {"ConstantFill loss -> loss_autogen_grad", "DirectGradient loss_autogen_grad -> x_grad"},
     {"loss: loss_autogen_grad", "x: x_grad"}},
    {"StartInTheOrderGiven",
     {"Direct x -> b", "Direct y -> a"},
     {{"b", {}}, {"a", {}}},
     {"ConstantFill b -> b_autogen_grad", "ConstantFill a -> a_autogen_grad",
      "DirectGradient a_autogen_grad -> y_grad", "DirectGradient b_autogen_grad -> x_grad"},
     {"a: a_autogen_grad", "b: b_autogen_grad", "x: x_grad", "y: y_grad"}},
    {"SumsOfEachVersion",  // Caffe2
     {"Direct in -> in", "Direct in -> hidden1", "Direct in -> hidden2",
      "Direct hidden1 hidden2 -> in", "Direct in -> hidden3", "Direct in -> hidden4",
      "Direct in -> hidden5", "Direct hidden3 hidden4 hidden5 -> out"},
     {{"out", Dense("out_grad")}},
     {"DirectGradient out_grad -> hidden3_grad hidden4_grad hidden5_grad",
      "DirectGradient hidden5_grad -> in_grad",
      "DirectGradient hidden4_grad -> _in_grad_autosplit_0",
      "DirectGradient hidden3_grad -> _in_grad_autosplit_1",
      "Sum in_grad _in_grad_autosplit_0 _in_grad_autosplit_1 -> in_grad",
      "DirectGradient in_grad -> hidden1_grad hidden2_grad",
      "DirectGradient hidden2_grad -> in_grad",
      "DirectGradient hidden1_grad -> _in_grad_autosplit_0",
      "Sum in_grad _in_grad_autosplit_0 -> in_grad", "DirectGradient in_grad -> in_grad"},
     {"hidden1: hidden1_grad", "hidden2: hidden2_grad", "hidden3: hidden3_grad",
      "hidden4: hidden4_grad", "hidden5: hidden5_grad", "in: in_grad", "out: out_grad"}},
    {"ABlobThatIsReadTwiceByOneOperator",
     {"Direct x x -> y"},
     {{"y", Dense("dy")}},
     {"DirectGradient dy -> x_grad _x_grad_autosplit_0",
      "Sum x_grad _x_grad_autosplit_0 -> x_grad"},
     {"x: x_grad", "y: dy"}},
    {"AStartThatIsReadAsWell",
     {"Direct x -> h", "Direct h -> y"},
     {{"y", {}}, {"h", {}}},
     {"ConstantFill y -> y_autogen_grad", "ConstantFill h -> h_autogen_grad",
      "DirectGradient y_autogen_grad -> _h_grad_autosplit_0",
      "Sum h_autogen_grad _h_grad_autosplit_0 -> h_autogen_grad",
      "DirectGradient h_autogen_grad -> x_grad"},
     {"h: h_autogen_grad", "x: x_grad", "y: y_autogen_grad"}},
    {"GradientsPassedOnWithoutAnOperator",
     {"PassOn x1 x2 -> x4", "PassOn x2 x3 -> x5", "PassOn x4 x5 -> x6"},
     {{"x6", Dense("x6_grad")}},
     {"Sum x6_grad x6_grad -> x2_grad"},
     {"x1: x6_grad", "x2: x2_grad", "x3: x6_grad", "x4: x6_grad", "x5: x6_grad", "x6: x6_grad"}},
    {"AnInputWithoutAGradientKeepsThatOfALaterReader",
     {"Lookup table i -> a", "Direct i -> b"},
     {{"a", Dense("da")}, {"b", Dense("db")}},
     {"DirectGradient db -> i_grad"},
     {"a: da", "b: db", "i: i_grad", "table: i + da"}},
    // The gradient made by an operator comes first, because Sum writes to its first input.
    {"OneGradientPassedOnAndOneMade",
     {"Direct x -> y", "PassOn x y -> z"},
     {{"z", Dense("dz")}},
     {"DirectGradient dz -> x_grad", "Sum x_grad dz -> x_grad"},
     {"x: x_grad", "y: dz", "z: dz"}},
    {"SparsePassedOn",
     {"Lookup table i -> a", "Lookup table j -> b", "Direct a b -> y"},
     {{"y", Dense("dy")}},
     {"DirectGradient dy -> a_grad b_grad",
      "Concat j i -> table_grad_indices_concat table_grad_indices_concat_split",
      "Concat b_grad a_grad -> table_grad_values_concat table_grad_values_concat_split"},
     {"a: a_grad", "b: b_grad", "table: table_grad_indices_concat + table_grad_values_concat",
      "y: dy"}},
    {"SparseValuesMade",
     {"LookupValues table i -> a", "LookupValues table j -> b", "Direct a b -> y"},
     {{"y", Dense("dy")}},
     {"DirectGradient dy -> a_grad b_grad",
      "LookupValuesGradient j b_grad -> _table_grad_values_autosplit_0",
      "LookupValuesGradient i a_grad -> _table_grad_values_autosplit_1",
      "Concat j i -> table_grad_indices_concat table_grad_indices_concat_split",
      "Concat _table_grad_values_autosplit_0 _table_grad_values_autosplit_1 -> "
      "table_grad_values_concat table_grad_values_concat_split"},
     {"a: a_grad", "b: b_grad", "table: table_grad_indices_concat + table_grad_values_concat",
      "y: dy"}},
    {"SparseIndicesAndValuesMade",
     {"LookupBoth table i -> a", "Lookup table j -> b", "Direct a b -> y"},
     {{"y", Dense("dy")}},
     {"DirectGradient dy -> a_grad b_grad",
      "LookupBothGradient a_grad -> _table_grad_indices_autosplit_0 _table_grad_values_autosplit_0",
      "Concat j _table_grad_indices_autosplit_0 -> table_grad_indices_concat "
      "table_grad_indices_concat_split",
      "Concat b_grad _table_grad_values_autosplit_0 -> table_grad_values_concat "
      "table_grad_values_concat_split"},
     {"a: a_grad", "b: b_grad", "table: table_grad_indices_concat + table_grad_values_concat",
      "y: dy"}},
    {"OneSparseGradientKeepsItsNames",
     {"LookupBoth table i -> y"},
     {{"y", Dense("dy")}},
     {"LookupBothGradient dy -> table_grad_indices table_grad_values"},
     {"table: table_grad_indices + table_grad_values", "y: dy"}},
    // The second read has no gradient, which must not take away that of the first.
    {"ABlobThatIsReadTwiceAndOverwritten",
     {"LookupBoth table table -> table"},
     {{"table", Dense("dy")}},
     {"LookupBothGradient dy -> table_grad_indices table_grad_values"},
     {"table: table_grad_indices + table_grad_values"}},
    {"NothingBeforeAStop",
     {"Direct in -> hidden", "NoGradientTest hidden -> hidden2", "Direct hidden2 -> out"},
     {{"out", Dense("out_grad")}},
     {"DirectGradient out_grad -> hidden2_grad"},
     {"hidden2: hidden2_grad", "out: out_grad"}},
    {"NothingBeforeAStopInPlace",
     {"Direct in -> hidden", "NoGradientTest hidden -> hidden", "Direct hidden -> out"},
     {{"out", Dense("out_grad")}},
     {"DirectGradient out_grad -> hidden_grad"},
     {"out: out_grad"}},
    {"AGradientThatAReaderLeavesOut",
     {"Direct x -> y", "NoGradientTest x -> unused"},
     {{"y", Dense("dy")}, {"unused", Dense("du")}},
     {"DirectGradient dy -> x_grad"},
     {"unused: du", "x: x_grad", "y: dy"}},
    {"BlobsBetweenTheOperatorsOfOneMaker",
     {"TwoStep x -> y"},
     {{"y", Dense("dy")}},
     {"Step1 dy -> between", "Step2 between -> x_grad"},
     {"x: x_grad", "y: dy"}},
    // What Step1 writes is no gradient of x, and must not be added to it.
    {"AGradientMadeInPlaceAndAnother",
     {"StepInPlace x -> y", "Direct x y -> z"},
     {{"z", Dense("dz")}},
     {"DirectGradient dz -> x_grad y_grad", "Step1 y_grad -> _x_grad_autogen_step",
      "Step2 _x_grad_autogen_step -> _x_grad_autosplit_0",
      "Sum x_grad _x_grad_autosplit_0 -> x_grad"},
     {"x: x_grad", "y: y_grad", "z: dz"}},
    {"InPlaceOperatorsThatUseTheirOutput",
     {"Direct x -> y", "UseOutput y -> y", "Direct y -> z"},
     {{"z", Dense("dz")}},
     {"DirectGradient dz -> y_grad", "UseOutputGradient y y_grad -> y_grad",
      "DirectGradient y_grad -> x_grad"},
     {"x: x_grad", "y: y_grad", "z: dz"}},
};
INSTANTIATE_TEST_SUITE_P(Nets, BackwardPassTest, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

struct ErrorCase {
  std::string name;
  std::vector<std::string> forward;
  GradientStart start;
  std::string message;
};
void PrintTo(const ErrorCase& r, std::ostream* out) { *out << r.name; }

class BackwardPassErrorTest : public ::testing::TestWithParam<ErrorCase> {};

TEST_P(BackwardPassErrorTest, ExplainsTheErrorAndLeavesTheNetUnchanged) {
  const NetDef before = Net(GetParam().forward);
  NetDef net = before;
  ExpectThrows([&] { AddGradientOperators(&net, GetParam().start); }, GetParam().message);
  EXPECT_EQ(net.SerializeAsString(), before.SerializeAsString());
}

const ErrorCase kErrors[] = {
    {"OutputOverwritten",
     {"UseOutput in -> hidden", "Direct hidden -> hidden", "UseOutput hidden -> out",
      "Direct out -> sink"},
     {{"sink", Dense("sink_grad")}},
     "gradient of operator 0 (UseOutput): UseOutputGradient needs the value of blob \"hidden\" "
     "that "
     "the operator wrote, but operator 1 (Direct) overwrites it"},
    {"InputOverwritten",
     {"UseInput in -> out", "Direct in -> in"},
     {{"out", Dense("out_grad")}},
     "UseInputGradient needs the value of blob \"in\" that the operator read, but operator 1 "
     "(Direct) overwrites it"},
    {"InputOverwrittenByTheOperatorItself",
     {"Direct x -> h", "UseInput h -> h"},
     {{"h", Dense("h_grad")}},
     "gradient of operator 1 (UseInput): UseInputGradient needs the value of blob \"h\" that the "
     "operator read, but UseInput overwrites it; write the output of UseInput to another blob"},
    {"IndicesOverwritten",
     {"Lookup table i -> y", "Direct j -> i"},
     {{"y", Dense("dy")}},
     "gradient of operator 0 (Lookup): Lookup needs the value of blob \"i\" that the operator "
     "read, "
     "but operator 1 (Direct) overwrites it"},
    {"GradientOverwrittenByTheOperatorItself",
     {"TwoReads h -> h"},
     {{"h", Dense("h_grad")}},
     "Second needs \"h_grad\", the gradient of an output of TwoReads, but First overwrites it"},
    // PassOn gives both inputs the gradient a_grad, and the gradient of Direct a -> a overwrites it.
    {"GradientOverwrittenByThatOfAnotherBlob",
     {"Direct x -> b", "Direct w -> a", "Direct a -> a", "PassOn a b -> a"},
     {{"a", Dense("a_grad")}},
     "DirectGradient needs the gradient \"a_grad\", but DirectGradient overwrites it before"},
    {"TermOfASumOverwritten",
     {"Direct b -> c", "Direct a -> a", "PassOn a b -> a"},
     {{"a", Dense("a_grad")}, {"c", Dense("dc")}},
     "Sum needs the gradient \"a_grad\", but DirectGradient overwrites it before"},
    {"GradientOfAnotherVersion",
     {"Direct x -> x", "Direct y -> x", "Direct x -> y"},
     {{"y", Dense("y_grad")}},
     "gradient of operator 0 (Direct): \"x_grad\" is the gradient of the value of blob \"x\" that "
     "operator 1 (Direct) wrote, want the gradient of the value that operator 0 (Direct) wrote"},
    {"SparseAndDense",
     {"Lookup table i -> a", "Direct table -> b", "Direct a b -> y"},
     {{"y", Dense("dy")}},
     "blob \"table\" has dense and sparse gradients"},
    {"NameOfTheTotal",
     {"Direct x -> y", "PassOn x -> z"},
     {{"y", Dense("dy")}, {"z", Dense("x_grad")}},
     "gradient \"x_grad\" would be overwritten by the sum that it is a part of"},
    {"UnknownMaker",
     {"Dirrect x -> y"},
     {{"y", {}}},
     "gradient of operator 0 (Dirrect): Gradient maker for operator Dirrect not implemented"},
    {"MissingGradientOfAnOutput",
     {"Direct x -> y z"},
     {{"y", {}}},
     "the gradient of output z is not given"},
    {"BlobFromNowhere",
     {"Stray x -> y"},
     {{"y", {}}},
     "StrayGradient uses blob \"stray\", which is not an input, an output or a gradient"},
    {"OrphanedStopGradient",
     {"Direct x -> y", "StopGradient y -> z"},
     {{"y", {}}},
     "output \"z\" of StopGradient is not an input of any operator"},
    {"BlobGivenTwice", {"Direct x -> y"}, {{"y", {}}, {"y", {}}}, "blob \"y\" is given twice"},
    {"HalfOfASparseGradient",
     {"Direct x -> y"},
     {{"y", {"", "i", ""}}},
     "has indices \"i\" and values \"\", want both"},
};
INSTANTIATE_TEST_SUITE_P(Nets, BackwardPassErrorTest, ::testing::ValuesIn(kErrors),
                         [](const auto& info) { return info.param.name; });

TEST(AddGradientOperatorsTest, CarriesDevicesOver) {
  NetDef net = Net({"Direct x -> y", "Direct x -> z", "Direct y z -> loss"});
  for (OperatorDef& op : *net.mutable_op()) op.mutable_device_option()->set_device_type(1);
  AddGradientOperators(&net, {{"loss", {}}});
  ASSERT_EQ(net.op_size(), 8);
  for (const OperatorDef& op : net.op()) EXPECT_EQ(op.device_option().device_type(), 1) << Line(op);
}

TEST(AddGradientOperatorsTest, SetsNoDeviceThatNoOperatorHas) {
  NetDef net = Net({"Direct x -> y", "Direct x -> z", "Direct y z -> loss"});
  AddGradientOperators(&net, {{"loss", {}}});
  for (const OperatorDef& op : net.op()) EXPECT_FALSE(op.has_device_option()) << Line(op);
}

TEST(AddGradientOperatorsTest, DoesNotAddUpAcrossDevices) {
  NetDef net = Net({"Direct x -> y", "Direct x -> z", "Direct y z -> loss"});
  net.mutable_op(0)->mutable_device_option()->set_device_type(1);
  ExpectThrows(
      [&] {
        AddGradientOperators(&net, {{"loss", {}}});
      },
      "the gradients of blob \"x\" are on different devices");
}

TEST(AddGradientOperatorsTest, IgnoresControlInputs) {
  NetDef net = Net({"Direct x -> y", "UseInput y -> z", "Direct w -> w"});
  net.mutable_op(1)->add_control_input("w");
  AddGradientOperators(&net, {{"z", {}}});
  EXPECT_EQ(Line(net.op(4)), "UseInputGradient y z_autogen_grad -> y_grad");
  EXPECT_EQ(net.op(4).control_input_size(), 0);
}

TEST(AddGradientOperatorsTest, SkipsTheFirstOperators) {
  NetDef net = Net({"Unknown -> x", "Direct x -> y", "Direct y -> loss"});
  EXPECT_THAT(Lines(AddGradientOperators(&net, {{"loss", {}}}, {.skip = 1})),
              ElementsAreArray({"loss: loss_autogen_grad", "x: x_grad", "y: y_grad"}));
  EXPECT_EQ(net.op_size(), 6);
  ExpectThrows([&] { AddGradientOperators(&net, {}, {.skip = 7}); },
               "operators to skip in net \"\"");
}

TEST(AddGradientOperatorsTest, OmitsWhatTheRequestedGradientsDoNotNeed) {
  const NetDef forward = Net({"Direct x -> h", "UseInput h w -> y", "Direct y v -> loss"});
  NetDef net = forward;
  EXPECT_THAT(Lines(AddGradientOperators(&net, {{"loss", {}}}, {.wrt = {"w", "y"}})),
              ElementsAreArray({"w: w_grad", "y: y_grad"}));
  ASSERT_EQ(net.op_size(), 6);
  EXPECT_EQ(Line(net.op(4)), "DirectGradient loss_autogen_grad -> y_grad v_grad");
  EXPECT_EQ(Line(net.op(5)), "UseInputGradient h w y_grad -> h_grad w_grad");
  net = forward;
  ExpectThrows(
      [&] {
        AddGradientOperators(&net, {{"loss", {}}}, {.wrt = {"labels"}});
      },
      "blob \"labels\" has no gradient");
  ExpectThrows(
      [&] {
        AddGradientOperators(&net, {{"loss", {}}}, {.wrt = {"los"}});
      },
      "blob \"los\" has no gradient; close: loss");
  EXPECT_EQ(net.SerializeAsString(), forward.SerializeAsString());
}

// The first operator's gradient passes through a blob that a later one overwrites in place.
TEST(AddGradientOperatorsTest, KeepsOperatorsThatWriteInPlace) {
  NetDef net = Net({"Direct x -> y", "Direct y -> y", "Direct y -> loss", "Direct x -> z"});
  AddGradientOperators(&net, {{"loss", {}}, {"z", {}}}, {.wrt = {"x"}});
  std::vector<std::string> lines;
  for (int i = 4; i < net.op_size(); ++i) lines.push_back(Line(net.op(i)));
  EXPECT_THAT(
      lines,
      ElementsAreArray(
          {"ConstantFill loss -> loss_autogen_grad", "ConstantFill z -> z_autogen_grad",
           "DirectGradient z_autogen_grad -> x_grad", "DirectGradient loss_autogen_grad -> y_grad",
           "DirectGradient y_grad -> y_grad", "DirectGradient y_grad -> _x_grad_autosplit_0",
           "Sum x_grad _x_grad_autosplit_0 -> x_grad"}));
}

// Its gradient is 1, as that of any blob to differentiate.
TEST(AddGradientOperatorsTest, AcceptsABlobOfAnotherNet) {
  NetDef net = Net({"Direct x -> loss"});
  AddGradientOperators(&net, {{"loss", {}}, {"other", {}}});
  ASSERT_EQ(net.op_size(), 4);
  EXPECT_EQ(Line(net.op(2)), "ConstantFill other -> other_autogen_grad");
  EXPECT_EQ(Line(net.op(3)), "DirectGradient loss_autogen_grad -> x_grad");
}

TEST(AddGradientOperatorsTest, FillsAConstantOfOne) {
  NetDef net = Net({"Direct x -> loss"});
  AddGradientOperators(&net, {{"loss", {}}});
  EXPECT_EQ(net.op(1).arg(0).name(), "value");
  EXPECT_EQ(net.op(1).arg(0).f(), 1.0f);
  EXPECT_FALSE(net.op(1).is_gradient_op());
  EXPECT_TRUE(net.op(2).is_gradient_op());
}

// The blobs with a gradient that no operator wrote before they are read.
TEST(BackwardPassOutsideTest, KnowsWhatComesFromOutside) {
  const auto outside = [](const std::vector<std::string>& lines, const GradientStart& start) {
    return GetBackwardPass(Net(lines).op(), start).from_outside;
  };
  using Names = std::set<std::string>;
  EXPECT_EQ(outside({"Direct x -> h", "UseInput h w -> y"}, {{"y", {}}}), (Names{"w", "x"}));
  EXPECT_EQ(outside({"Direct x -> y"}, {{"y", {}}, {"other", {}}}), (Names{"other", "x"}));
  // The gradient is that of what the net was given, before it is overwritten.
  EXPECT_EQ(outside({"Direct x -> x", "Direct x -> y"}, {{"y", {}}}), (Names{"x"}));
  EXPECT_EQ(outside({"NoGradientTest i -> x", "Direct x -> x", "Direct x -> y"}, {{"y", {}}}),
            Names());
}

}  // namespace
}  // namespace caffe2rt::backward_pass_test
