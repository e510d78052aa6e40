#include "caffe2_core/graph/arguments.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/operator_test.h"

namespace caffe2rt::arguments_test {
namespace {

using test::ExpectThrows;
using test::ParseOp;

const char kOp[] = R"(type: "Op"
  arg { name: "f" f: 1.5 } arg { name: "i" i: 300 } arg { name: "s" s: "text" }
  arg { name: "floats" floats: 1 floats: 2 } arg { name: "ints" ints: 3 ints: 400 }
  arg { name: "strings" strings: "a" strings: "b" } arg { name: "n" n { name: "net" } })";

TEST(ArgumentHelperTest, ReadsEveryKind) {
  const OperatorDef def = ParseOp(kOp);
  const ArgumentHelper args(def);
  EXPECT_EQ(args.GetSingleArgument<float>("f", 0), 1.5f);
  EXPECT_EQ(args.GetSingleArgument<int>("i", 0), 300);
  EXPECT_TRUE(args.GetSingleArgument<bool>("i", false));
  EXPECT_EQ(args.GetSingleArgument<std::string>("s", ""), "text");
  EXPECT_EQ(args.GetSingleArgument<NetDef>("n", NetDef()).name(), "net");
  EXPECT_EQ(args.GetRepeatedArgument<float>("floats"), (std::vector<float>{1, 2}));
  EXPECT_EQ(args.GetRepeatedArgument<int64_t>("ints"), (std::vector<int64_t>{3, 400}));
  EXPECT_EQ(args.GetRepeatedArgument<std::string>("strings"), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(args.HasArgument("f"));
  EXPECT_FALSE(args.HasArgument("g"));
}

TEST(ArgumentHelperTest, MissingArgumentsGetTheirDefaults) {
  const OperatorDef def = ParseOp(kOp);
  const ArgumentHelper args(def);
  EXPECT_EQ(args.GetSingleArgument<int>("none", 7), 7);
  EXPECT_EQ(args.GetRepeatedArgument<int>("none", {1, 2}), (std::vector<int>{1, 2}));
}

TEST(ArgumentHelperTest, AnEmptyListIsNotMissing) {
  const OperatorDef def = ParseOp(R"(type: "Op" arg { name: "empty" })");
  const ArgumentHelper args(def);
  EXPECT_TRUE(args.GetRepeatedArgument<int>("empty", {1, 2}).empty());
  EXPECT_TRUE(args.GetRepeatedArgument<int64_t>("empty", {1, 2}).empty());
  EXPECT_TRUE(args.GetRepeatedArgument<float>("empty", {1.5f}).empty());
  EXPECT_TRUE(args.GetRepeatedArgument<std::string>("empty", {"a"}).empty());
}

TEST(ArgumentHelperTest, WrongFieldThrowsForSingleAndIsEmptyForRepeated) {
  const OperatorDef def = ParseOp(kOp);
  const ArgumentHelper args(def);
  ExpectThrows([&] { args.GetSingleArgument<float>("i", 0); },
               "Argument i does not have the right field: expected field f");
  ExpectThrows([&] { args.GetSingleArgument<int>("f", 0); }, "expected field i");
  ExpectThrows([&] { args.GetSingleArgument<std::string>("f", ""); }, "expected field s");
  EXPECT_TRUE(args.GetRepeatedArgument<float>("ints").empty());
  EXPECT_TRUE(args.GetRepeatedArgument<int>("i").empty());
  EXPECT_TRUE(args.HasSingleArgumentOfType<float>("f"));
  EXPECT_FALSE(args.HasSingleArgumentOfType<int>("f"));
}

TEST(ArgumentHelperTest, IntegersThatDoNotFitThrow) {
  const OperatorDef def = ParseOp(kOp);
  const ArgumentHelper args(def);
  ExpectThrows([&] { args.GetSingleArgument<int8_t>("i", 0); }, "Value 300 of argument i");
  ExpectThrows([&] { args.GetRepeatedArgument<uint8_t>("ints"); }, "Value 400 of argument ints");
}

TEST(ArgumentHelperTest, AcceptsEqualDuplicatesAndThrowsForOthers) {
  OperatorDef def = ParseOp(R"(type: "Op" arg { name: "axis" i: 1 } arg { name: "axis" i: 1 })");
  EXPECT_EQ(ArgumentHelper(def).GetSingleArgument<int>("axis", 0), 1);
  def.mutable_arg(1)->set_i(2);
  ExpectThrows([&] { ArgumentHelper args(def); }, "Found argument of the same name axis");
  NetDef net;
  net.add_arg()->set_name("a");
  net.add_arg()->set_name("a");
  ExpectThrows([&] { ArgumentHelper args(net); }, "twice");
}

TEST(ArgumentHelperTest, ReadsMessagesFromStrings) {
  NetDef inner;
  inner.set_name("inner");
  OperatorDef def;
  AddArgument("net", inner.SerializeAsString(), &def);
  AddArgument("nets", std::vector<std::string>{inner.SerializeAsString()}, &def);
  AddArgument("bad", std::string("\xff\xff"), &def);
  const ArgumentHelper args(def);
  EXPECT_EQ(args.GetMessageArgument<NetDef>("net").name(), "inner");
  EXPECT_EQ(args.GetRepeatedMessageArgument<NetDef>("nets").at(0).name(), "inner");
  ExpectThrows([&] { args.GetMessageArgument<NetDef>("bad"); }, "does not hold a");
  ExpectThrows([&] { args.GetMessageArgument<NetDef>("none"); }, "cannot find argument");
}

TEST(MakeArgumentTest, FillsTheFieldOfItsType) {
  EXPECT_EQ(MakeArgument("a", 1.5f).f(), 1.5f);
  EXPECT_EQ(MakeArgument("a", 3).i(), 3);
  EXPECT_EQ(MakeArgument("a", std::string("s")).s(), "s");
  EXPECT_EQ(MakeArgument("a", std::vector<int>{1, 2}).ints_size(), 2);
  EXPECT_EQ(MakeArgument("a", std::vector<float>{1}).floats_size(), 1);
  const Argument zeros = MakeArgument("a", std::vector<float>{0.0f, -0.0f});
  EXPECT_FALSE(std::signbit(zeros.floats(0)));
  EXPECT_TRUE(std::signbit(zeros.floats(1)));
  EXPECT_TRUE(std::signbit(MakeArgument("a", -0.0f).f()));
  EXPECT_EQ(MakeArgument("a", std::vector<std::string>{"x"}).strings(0), "x");
  EXPECT_EQ(MakeArgument("a", NetDef()).has_n(), true);
}

TEST(TextNetTest, IsANetInAStringArgumentForAStepNet) {
  Argument arg = MakeArgument("backward_step_net", std::string("name: 'n' op { type: 'Relu' }"));
  NetDef net;
  ASSERT_TRUE(ParseTextNet(arg, &net));
  EXPECT_EQ(net.name(), "n");
  ReplaceTextNet(&arg);
  EXPECT_FALSE(arg.has_s());
  EXPECT_EQ(arg.n().op(0).type(), "Relu");
}

TEST(TextNetTest, LeavesOtherArgumentsAlone) {
  NetDef net;
  Argument other = MakeArgument("then_net", std::string("name: 'n'"));
  EXPECT_FALSE(ParseTextNet(other, &net));
  Argument invalid = MakeArgument("step_net", std::string("name ="));
  EXPECT_FALSE(ParseTextNet(invalid, &net));
  ReplaceTextNet(&invalid);
  EXPECT_EQ(invalid.s(), "name =");
}

TEST(OperatorDefTest, IsBuiltFromItsParts) {
  DeviceOption option;
  option.set_random_seed(3);
  const OperatorDef def = CreateOperatorDef("FC", "fc1", {"x", "w", "b"}, {"y"},
                                            {MakeArgument<int>("axis", 1)}, option, "ENGINE");
  EXPECT_EQ(def.type(), "FC");
  EXPECT_TRUE(HasInput(def, "w"));
  EXPECT_FALSE(HasInput(def, "y"));
  EXPECT_TRUE(HasOutput(def, "y"));
  EXPECT_EQ(GetArgument(def, "axis").i(), 1);
  EXPECT_EQ(GetArgumentPtr(def, "none"), nullptr);
  EXPECT_EQ(def.device_option().random_seed(), 3u);
  EXPECT_EQ(def.engine(), "ENGINE");
  ExpectThrows([&] { GetArgument(def, "none"); }, "\"none\" does not exist");
}

TEST(OperatorDefTest, ArgumentsCanBeChanged) {
  OperatorDef def;
  EXPECT_EQ(GetMutableArgument("a", false, &def), nullptr);
  GetMutableArgument("a", true, &def)->set_i(1);
  EXPECT_TRUE(GetFlagArgument(def, "a"));
  EXPECT_TRUE(GetFlagArgument(def, "b", true));
  // An argument without a value is the same argument.
  GetMutableArgument("c", true, &def);
  GetMutableArgument("c", true, &def)->set_i(1);
  EXPECT_EQ(def.arg_size(), 2);
  EXPECT_TRUE(GetFlagArgument(def, "c"));
  NetDef net;
  GetMutableArgument("a", true, &net)->set_i(1);
  EXPECT_TRUE(GetFlagArgument(net, "a"));
  EXPECT_EQ(GetArgument(net, "a").i(), 1);
}

TEST(DeviceOptionTest, MergesFieldByField) {
  DeviceOption base, over;
  base.set_random_seed(1);
  base.set_device_id(2);
  over.set_random_seed(5);
  const DeviceOption merged = MergeDeviceOption(base, over);
  EXPECT_EQ(merged.random_seed(), 5u);
  EXPECT_EQ(merged.device_id(), 2);
  EXPECT_TRUE(IsSameDevice(merged, base));  // the seed does not matter
  over.set_device_type(1);
  EXPECT_FALSE(IsSameDevice(over, base));
}

}  // namespace
}  // namespace caffe2rt::arguments_test
