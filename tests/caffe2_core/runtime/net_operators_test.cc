#include "caffe2_core/runtime/net_operators.h"

#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::net_operators_test {
namespace {

using test::ExpectThrows;
using test::ParseNet;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// The operators' positions, in the order in which the net waited for them.
std::vector<int>& Finished() {
  static std::vector<int> positions;
  return positions;
}

// With argument `async` the operator leaves work pending, and with `fail_late` that work fails.
class NetOperatorsTestOp final : public Operator<CPUContext> {
 public:
  NetOperatorsTestOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {
    CAFFE_ENFORCE(!GetSingleArgument<bool>("refuse", false), "it refuses");
  }
  bool RunOnDevice() override { return !GetSingleArgument<bool>("fail", false); }
  bool HasAsyncPart() const override { return GetSingleArgument<bool>("async", false); }
  void FinishDevice() override {
    Finished().push_back(net_position());
    CAFFE_ENFORCE(!GetSingleArgument<bool>("fail_late", false), "it failed late");
  }
};
REGISTER_CPU_OPERATOR(NetOperatorsTest, NetOperatorsTestOp);
OPERATOR_SCHEMA(NetOperatorsTest).AllowInplace([](int, int) { return true; });

std::shared_ptr<const NetDef> Def(const std::string& text) {
  return std::make_shared<const NetDef>(ParseNet(text));
}

constexpr char kAsyncArg[] = R"(arg { name: "async" i: 1 } )";
constexpr char kFailLate[] = R"(arg { name: "fail_late" i: 1 } )";

std::string TestOp(const std::string& rest) {
  return R"(op { type: "NetOperatorsTest" )" + rest + " } ";
}

TEST(NetOperatorsTest, BuildsEachOperatorOnceInOrder) {
  Workspace ws;
  NetOperators operators(Def(TestOp(R"(output: "a")") + TestOp(R"(input: "a" output: "b")")), &ws);
  ASSERT_EQ(operators.size(), 2u);
  EXPECT_EQ(operators.all().size(), 2u);
  EXPECT_EQ(operators.all()[1], operators[1]);
  EXPECT_EQ(operators[0]->net_position(), 0);
  EXPECT_EQ(operators[1]->net_position(), 1);
  EXPECT_EQ(operators[1]->Inputs()[0], operators[0]->Outputs()[0]);
  EXPECT_FALSE(operators.HasAsyncPart());
  EXPECT_TRUE(NetOperators(Def(TestOp("") + TestOp(kAsyncArg)), &ws).HasAsyncPart());
  EXPECT_EQ(NetOperators(Def(""), &ws).size(), 0u);
}

TEST(NetOperatorsTest, MergesTheDeviceOptionOfTheNetIntoItsOperators) {
  Workspace ws;
  NetOperators operators(Def("device_option { random_seed: 1 numa_node_id: 0 } " + TestOp("") +
                             TestOp("device_option { random_seed: 2 }")),
                         &ws);
  EXPECT_EQ(operators[0]->device_option().random_seed(), 1u);
  EXPECT_EQ(operators[1]->device_option().random_seed(), 2u);
  EXPECT_TRUE(operators[1]->device_option().has_numa_node_id());
  NetOperators alone(Def(TestOp("")), &ws);
  EXPECT_EQ(alone[0]->device_option().ByteSizeLong(), 0u);
}

// The last note of a device option counts.
TEST(NetOperatorsTest, AllowTf32OfAnOperatorComesAfterThatOfItsNet) {
  Workspace ws;
  const NetOperators operators(
      Def(R"(arg { name: "allow_tf32" i: 1 } )" +
          TestOp(R"(device_option { extra_info: "allow_tf32:0" })") + TestOp("")),
      &ws);
  EXPECT_THAT(operators[0]->device_option().extra_info(),
              ElementsAre("allow_tf32:1", "allow_tf32:0"));
  EXPECT_THAT(operators[1]->device_option().extra_info(), ElementsAre("allow_tf32:1"));
}

TEST(NetOperatorsTest, ErrorsNameAtMostEightOperatorsOfTheUser) {
  const auto error_of = [](int users) -> std::string {
    std::string marks;
    for (int i = 0; i < users; ++i) marks += MakeString(" strings: \"", i, " Op\"");
    Workspace ws;
    try {
      NetOperators(
          Def(TestOp(R"(arg { name: "refuse" i: 1 } arg { name: "user_operators")" + marks + " }")),
          &ws);
    } catch (const EnforceNotMet& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(error_of(8), HasSubstr("6 Op, 7 Op (run as"));
  EXPECT_THAT(error_of(9), HasSubstr("6 Op, 7 Op and 1 more (run as"));
}

TEST(NetOperatorsTest, NamesTheOperatorThatCannotBeBuilt) {
  Workspace ws;
  const std::string bad = R"(arg { name: "refuse" i: 1 })";
  const auto build = [&](const std::string& op) {
    NetOperators(Def(R"(name: "n" )" + TestOp("") + TestOp(op)), &ws);
  };
  ExpectThrows([&] { build(bad); }, "it refuses");
  ExpectThrows([&] { build(bad); }, "net \"n\", operator 1 (NetOperatorsTest)");
  ExpectThrows([&] { build(bad + R"( output: "y" output: "z")"); },
               "net \"n\", operator 1 (NetOperatorsTest, output \"y\")");
  EXPECT_EQ(ws.last_failed_op_net_position, 1);
  ExpectThrows([&] { NetOperators(nullptr, &ws); }, "argument def of a net's operators is null");
}

// One that stands for operators of the user's net has the position of the first of them.
TEST(NetOperatorsTest, PositionsAreThoseOfTheNetOfTheUser) {
  const std::string one = R"(arg { name: "user_operators" strings: "5 Relu" } )";
  const std::string two = R"(arg { name: "user_operators" strings: "3 Conv" strings: "4 Relu" } )";
  const std::string bad = R"(arg { name: "refuse" i: 1 } )";
  Workspace ws;
  const NetOperators operators(Def(TestOp("") + TestOp(two) + TestOp(one)), &ws);
  EXPECT_EQ(operators[0]->net_position(), 0);
  EXPECT_EQ(operators[1]->net_position(), 3);
  EXPECT_EQ(operators[2]->net_position(), 5);
  ExpectThrows([&] { NetOperators(Def(TestOp("") + TestOp(two + bad)), &ws); }, "3 Conv, 4 Relu");
  EXPECT_EQ(ws.last_failed_op_net_position, 3);
  ExpectThrows([&] { NetOperators(Def(TestOp("") + TestOp(one + bad)), &ws); }, "5 Relu");
  EXPECT_EQ(ws.last_failed_op_net_position, 5);
}

TEST(NetOperatorsTest, StartsOperatorsAndThrowsWhenTheyReportAFailure) {
  Workspace ws;
  NetOperators operators(Def(TestOp("") + TestOp(R"(arg { name: "fail" i: 1 })")), &ws);
  StartOperator(operators[0], 0);
  ExpectThrows([&] { StartOperator(operators[1], 0); }, "the operator reports a failure");
}

TEST(NetOperatorsTest, FramesNameTheOperatorOrTheNetAlone) {
  Workspace ws;
  const NetOperators operators(Def(R"(name: "n" )" + TestOp(R"(output: "y")")), &ws);
  EXPECT_EQ(operators.FrameOf(0), "net \"n\", operator 0 (NetOperatorsTest, output \"y\")");
  EXPECT_EQ(operators.FrameOf(1), "net \"n\"");
  EXPECT_EQ(operators.FrameOf(kNoPosition), "net \"n\"");
}

TEST(NetOperatorsTest, DrainsAllThatLeaveWorkWhateverFails) {
  Workspace ws;
  const std::string async = kAsyncArg, fails_late = kFailLate;
  Finished().clear();
  NetOperators good(Def(TestOp(async) + TestOp(fails_late) + TestOp(async)), &ws);
  EXPECT_TRUE(good.Drain());
  EXPECT_THAT(Finished(), ElementsAre(0, 2));
  Finished().clear();
  NetOperators bad(Def(TestOp(async) + TestOp(async + fails_late) + TestOp(async)), &ws);
  EXPECT_FALSE(bad.Drain());
  EXPECT_THAT(Finished(), ElementsAre(0, 1, 2));
}

// Returns the error that Fail throws for a failure at `position`.
std::string MessageOf(NetOperators* operators, size_t position,
                      const std::function<void()>& failure, const std::string& cause) {
  try {
    try {
      failure();
    } catch (...) {
      operators->Fail(position, [&] { return cause; });
    }
  } catch (const EnforceNotMet& error) {
    return error.what();
  }
  return "nothing";
}

TEST(NetOperatorsTest, FailurePassesOnWithFramesOnceAllIsDrained) {
  Workspace ws;
  const std::string async = kAsyncArg;
  NetOperators operators(Def(R"(name: "n" )" + TestOp("") + TestOp(async)), &ws);
  Finished().clear();
  const auto failure = [] { CAFFE_THROW("it broke"); };
  const std::string at = MessageOf(&operators, 1, failure, "the cause");
  EXPECT_THAT(at, HasSubstr("it broke"));
  EXPECT_THAT(at, HasSubstr("net \"n\", operator 1 (NetOperatorsTest"));
  EXPECT_THAT(at, Not(HasSubstr("the cause")));  // no device has failed
  EXPECT_THAT(Finished(), ElementsAre(1));
  EXPECT_EQ(ws.last_failed_op_net_position, 1);

  ws.last_failed_op_net_position = -1;
  const std::string nowhere = MessageOf(&operators, kNoPosition, failure, "the cause");
  EXPECT_THAT(nowhere, HasSubstr("net \"n\""));
  EXPECT_THAT(nowhere, Not(HasSubstr("operator 1")));
  EXPECT_EQ(ws.last_failed_op_net_position, -1);

  const std::string foreign = MessageOf(
      &operators, 0, [] { throw std::runtime_error("foreign"); }, "");
  EXPECT_THAT(foreign, HasSubstr("foreign"));
  EXPECT_THAT(foreign, HasSubstr("net \"n\", operator 0 (NetOperatorsTest"));
}

TEST(NetOperatorsTest, FailureOfADeviceNamesItsCauseIfKnown) {
  Workspace ws;
  NetOperators operators(Def(TestOp(std::string(kAsyncArg) + kFailLate)), &ws);
  const auto failure = [] { CAFFE_THROW("it broke"); };
  EXPECT_THAT(MessageOf(&operators, 0, failure, "the cause"), HasSubstr("the cause"));
  const std::string without = MessageOf(&operators, 0, failure, "");
  EXPECT_THAT(without, HasSubstr("it broke"));
  EXPECT_THAT(without, Not(HasSubstr("it failed late")));
  const std::string foreign = MessageOf(
      &operators, 0, [] { throw std::runtime_error("foreign"); }, "the cause");
  EXPECT_THAT(foreign, HasSubstr("foreign"));
  EXPECT_THAT(foreign, Not(HasSubstr("the cause")));
}

TEST(NetOperatorsTest, DependenciesFollowBlobsNotNames) {
  Workspace parent;
  parent.CreateBlob("theirs");
  Workspace ws(&parent, {{"mine", "theirs"}, {"too", "theirs"}});
  NetOperators operators(Def(TestOp(R"(output: "too")") + TestOp(R"(input: "mine" output: "y")") +
                             TestOp(R"(input: "too")")),
                         &ws);
  const NetDependencies dependencies = operators.FindDependencies();
  EXPECT_EQ(dependencies.size(), 2u);
  EXPECT_THAT(dependencies.predecessors(1), ElementsAre(0));
  EXPECT_THAT(dependencies.predecessors(2), ElementsAre(0));
}

TEST(ExecutionOrderTest, OfANetIsItsLineOnStreamZero) {
  const ExecutionOrder order = InOrderOfNet(3);
  EXPECT_THAT(order.positions, ElementsAre(0, 1, 2));
  EXPECT_EQ(order.size(), 3u);
  EXPECT_EQ(order.stream(2), 0);
  const ExecutionOrder streams = {.positions = {1, 0}, .streams = {4, 5}};
  EXPECT_EQ(streams.stream(0), 4);
}

}  // namespace
}  // namespace caffe2rt::net_operators_test
