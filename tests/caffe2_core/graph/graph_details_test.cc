// Details of graph functions that show with rare arguments only: the last of several names, types of
// the highest rank, values that share memory, engines of several gradient operators.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/graph/accepted_inputs.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/backward_pass.h"
#include "caffe2_core/graph/declared_arguments.h"
#include "caffe2_core/graph/dependencies.h"
#include "caffe2_core/graph/element_types.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/random_streams.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::graph_details_test {
namespace {

using test::ExpectRefusals;
using test::ParseNet;
using test::ParseOp;
using ::testing::ElementsAre;

// Their inputs have exactly five, or six, dims. Output 0 is int32, output 1 of the type of the input.
std::vector<TensorShape> OfRank(int rank, const std::vector<TensorShape>& in) {
  CAFFE_ENFORCE_EQ(in[0].dims_size(), rank, "rank");
  return {CreateTensorShape(std::vector<int64_t>{1}, TensorProto::INT32), in[0]};
}
OPERATOR_SCHEMA(GraphDetailsFive)
    .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>& in) {
      return OfRank(5, in);
    });
OPERATOR_SCHEMA(GraphDetailsSix)
    .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>& in) {
      return OfRank(6, in);
    });
OPERATOR_SCHEMA(GraphDetailsDefaults).Arg("a", "", "7 ").Arg("b", "", "7x").Arg("c", "", "07");

TEST(GraphDetailsTest, FlagsOfNetsHaveDefaultsToo) {
  const NetDef net = ParseNet(R"(arg { name: "on" i: -1 } arg { name: "off" i: 0 })");
  const OperatorDef op = ParseOp(R"(arg { name: "on" i: -1 } arg { name: "off" i: 0 })");
  for (const bool value : {false, true}) {
    EXPECT_EQ(GetFlagArgument(net, "none", value), value);
    EXPECT_EQ(GetFlagArgument(op, "none", value), value);
    EXPECT_TRUE(GetFlagArgument(net, "on", value));
    EXPECT_TRUE(GetFlagArgument(op, "on", value));
    EXPECT_FALSE(GetFlagArgument(net, "off", value));
    EXPECT_FALSE(GetFlagArgument(op, "off", value));
  }
}

// An option that states the CPU overrides that of a net.
TEST(GraphDetailsTest, OperatorsKeepEveryStatedDevice) {
  const auto made = [](const std::string& option) {
    return CreateOperatorDef("T", "n", {}, {}, {}, ParseOp(option).device_option());
  };
  for (const char* field : {"device_type: 0", "device_type: 5", "device_id: 0", "random_seed: 0",
                            "node_name: ''", "numa_node_id: 0"}) {
    const std::string option = MakeString("device_option { ", field, " }");
    EXPECT_TRUE(made(option).has_device_option()) << field;
    EXPECT_EQ(made(option).device_option().DebugString(),
              ParseOp(option).device_option().DebugString());
  }
  EXPECT_FALSE(made("device_option { }").has_device_option());
  EXPECT_FALSE(made("").has_engine());
}

// A message of no bytes is valid.
TEST(GraphDetailsTest, OnlyListsOfStringsHoldSeveralMessages) {
  const OperatorDef op = ParseOp(R"(arg { name: "two" strings: "" strings: "" }
      arg { name: "none" } arg { name: "text" s: "" } arg { name: "number" i: 1 })");
  const ArgumentHelper args(op);
  EXPECT_EQ(args.GetRepeatedMessageArgument<NetDef>("two").size(), 2u);
  for (const char* name : {"none", "text", "missing"}) {
    EXPECT_EQ(args.GetRepeatedMessageArgument<NetDef>(name).size(), 0u) << name;
  }
  EXPECT_EQ(args.GetMessageArgument<NetDef>("text").op_size(), 0);
  ExpectRefusals({{[&] { (void)args.GetMessageArgument<NetDef>("two"); },
                   "argument \"two\" does not hold a caffe2rt.NetDef"},
                  {[&] { (void)args.GetMessageArgument<NetDef>("number"); },
                   "argument \"number\" does not hold a caffe2rt.NetDef"}});
}

TEST(GraphDetailsTest, DefaultsAreWholeNumbers) {
  const OperatorDef op = ParseOp(R"(type: "GraphDetailsDefaults")");
  const auto get = [&](const char* name) {
    return [&op, name] { (void)DeclaredArguments(op).Get<int>(name); };
  };
  const auto message = [](const char* name, const char* text) {
    return MakeString("argument \"", name, "\" of operator type \"GraphDetailsDefaults\" has the ",
                      "default ", text, ", want a number");
  };
  ExpectRefusals({{get("a"), message("a", "7 ")}, {get("b"), message("b", "7x")}});
  EXPECT_EQ(DeclaredArguments(op).Get<int>("c"), 7);
}

TEST(GraphDetailsTest, AllTypesButOneAreListed) {
  std::vector<TensorProto_DataType> types = TriedTypes();
  EXPECT_EQ(TypesText({types, {}}), "any type");
  types.pop_back();
  EXPECT_EQ(TypesText({types, {}}),
            "float, int32, string, bool, uint8, int8, uint16, int16, int64, float16");
  types.resize(1);
  EXPECT_EQ(TypesText({types, {}}), "float");
}

// b has the memory of a: what waits for b stands between the writes of a.
TEST(GraphDetailsTest, ControlInputsWaitForTheirMemory) {
  EnsureBuiltinOperators();
  const NetDef net = ParseNet(R"(op { type: "Relu" input: "x" output: "a" }
      op { type: "Alias" input: "a" output: "b" }
      op { type: "Relu" input: "x" output: "c" control_input: "b" }
      op { type: "Relu" input: "x" output: "a" }
      op { type: "Relu" input: "x" output: "d" control_input: "none" })");
  const NetDependencies blobs(net);
  EXPECT_THAT(blobs.predecessors(1), ElementsAre(0));
  EXPECT_THAT(blobs.predecessors(2), ElementsAre(1));
  EXPECT_THAT(blobs.predecessors(3), ElementsAre(1, 2));
  EXPECT_THAT(blobs.predecessors(4), ElementsAre());
}

TEST(GraphDetailsTest, ElementTypesAreFoundForUpToFiveDims) {
  using Types = std::vector<TensorProto::DataType>;
  const auto types = [](const char* type, const TensorShape& input) {
    return InferElementTypes(
        ParseOp(MakeString("type: \"GraphDetails", type,
                           R"(" input: "x" output: "y" output: "z" output: "u")")),
        {input});
  };
  TensorShape half = UnknownShape();
  half.set_data_type(TensorProto::FLOAT16);
  EXPECT_EQ(types("Five", half),
            (Types{TensorProto::INT32, TensorProto::FLOAT16, TensorProto::UNDEFINED}));
  EXPECT_EQ(types("Five", UnknownShape()),
            (Types{TensorProto::INT32, TensorProto::UNDEFINED, TensorProto::UNDEFINED}));
  EXPECT_EQ(types("Six", half), Types());
}

class GraphDetailsTwoMaker : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    return {CreateOperatorDef("First", "", {GO(0)}, {"between"}),
            CreateOperatorDef("Second", "", {"between"}, {GI(0)})};
  }
};
REGISTER_GRADIENT(GraphDetailsTwo, GraphDetailsTwoMaker);

TEST(GraphDetailsTest, AllGradientOperatorsHaveEngineDeviceAndArguments) {
  const GradientOpsMeta plain = GetGradientForOp(
      ParseOp(R"(type: "GraphDetailsTwo" input: "x" output: "y")"), {{"dy", "", ""}});
  const GradientOpsMeta stated =
      GetGradientForOp(ParseOp(R"(type: "GraphDetailsTwo" input: "x" output: "y" engine: "E"
                 device_option { device_id: 2 } arg { name: "k" i: 3 })"),
                       {{"dy", "", ""}});
  ASSERT_EQ(plain.ops_.size(), 2u);
  ASSERT_EQ(stated.ops_.size(), 2u);
  for (const OperatorDef& op : plain.ops_) {
    EXPECT_FALSE(op.has_engine() || op.has_device_option());
    EXPECT_EQ(op.arg_size(), 0);
    EXPECT_TRUE(op.is_gradient_op());
  }
  for (const OperatorDef& op : stated.ops_) {
    EXPECT_EQ(op.engine(), "E");
    EXPECT_EQ(op.device_option().device_id(), 2);
    EXPECT_EQ(GetArgument(op, "k").i(), 3);
  }
}

// Each fill of ones is where its blob was written.
TEST(GraphDetailsTest, EachBlobToDifferentiateHasItsDevice) {
  NetDef net = ParseNet(R"(
      op { type: "GraphDetailsTwo" input: "x" output: "y" device_option { device_id: 1 } }
      op { type: "GraphDetailsTwo" input: "u" output: "v" device_option { device_id: 2 } }
      op { type: "GraphDetailsTwo" input: "s" output: "t" })");
  AddGradientOperators(&net, {{"v", {}}, {"y", {}}, {"t", {}}, {"outside", {}}});
  ASSERT_EQ(net.op_size(), 3 + 4 + 6);
  EXPECT_EQ(net.op(3).device_option().device_id(), 2);
  EXPECT_EQ(net.op(4).device_option().device_id(), 1);
  EXPECT_FALSE(net.op(5).has_device_option());
  EXPECT_FALSE(net.op(6).has_device_option());
  EXPECT_THAT(net.op(6).output(), ElementsAre("outside_autogen_grad"));
}

TEST(GraphDetailsTest, RemediesShortenLongNames) {
  const std::string input(300, 'i'), name(250, 'n');
  const std::vector<NetProblem> problems = CheckNetDataflow(
      ParseNet("name: '" + name + "' external_input: 'x' op { type: 'Relu' input: '" + input +
               "' output: 'y' } op { type: 'Relu' input: 'z' output: 'u' }"));
  ASSERT_EQ(problems.size(), 2u);
  const std::string net = std::string(197, 'n') + "...";
  EXPECT_EQ(problems[0].text, "op Relu: Source for input " + input + " is unknown for net " + net +
                                  ", operator 0; add external_input: \"" + std::string(197, 'i') +
                                  "...\", \"z\" to net \"" + net +
                                  "\", which must list all of its inputs or none");
  EXPECT_EQ(problems[1].text,
            "op Relu: Source for input z is unknown for net " + net + ", operator 1");
}

TEST(GraphDetailsTest, OnlyTheDefaultNameOfAStreamIsNeedless) {
  for (const char* name : {"x", "xy", "x#1", "x#", "X", ""}) {
    NetDef net = ParseNet(MakeString(
        R"(op { type: "Dropout" output: "x" arg { name: "random_stream" s: ")", name, R"(" } })"));
    RemoveNeedlessStreamNames(&net);
    EXPECT_EQ(net.op(0).arg_size(), std::string(name) == "x" ? 0 : 1) << name;
  }
}

}  // namespace
}  // namespace caffe2rt::graph_details_test
