#include "caffe2_core/runtime/running_net.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::running_net_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> lines;
std::vector<size_t> positions;

void ReadLines() {
  lines.clear();
  positions = RunningNet::Positions();
  RunningNet::Describe([](const char* line) { lines.push_back(line); });
}

// Runs the net of its argument, if it has one; the innermost operator describes what runs.
class RunningNetTestOp final : public Operator<CPUContext> {
 public:
  RunningNetTestOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {
    const ArgumentHelper arguments(def);
    if (arguments.HasArgument("net")) {
      net_ = ws->CreateNet(arguments.GetSingleArgument<NetDef>("net", NetDef()));
    }
  }
  bool RunOnDevice() override {
    if (net_ != nullptr) return net_->Run();
    ReadLines();
    return OutputSize() > 0;
  }

 private:
  NetBase* net_ = nullptr;
};
REGISTER_CPU_OPERATOR(RunningNetTest, RunningNetTestOp);
OPERATOR_SCHEMA(RunningNetTest).NumInputs(0).NumOutputs(0, 1);

TEST(RunningNetTest, NamesTheOperatorsOfNestedNets) {
  Workspace ws;
  const NetDef net = ParseNet(R"(
      name: "outer"
      op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 1 } }
      op { type: "RunningNetTest"
           arg { name: "net" n { name: "inner" op { type: "RunningNetTest" output: "y" } } } })");
  EXPECT_TRUE(ws.RunNetOnce(net));
  EXPECT_THAT(
      lines,
      ElementsAre("while running operator 0 (RunningNetTest, output \"y\") of net \"inner\"\n",
                  "while running operator 1 (RunningNetTest) of net \"outer\"\n"));
}

// From the outermost net to the innermost one, whichever positions they have.
TEST(RunningNetTest, PositionsBeginWithTheOutermostNet) {
  Workspace ws;
  const std::string fill = "op { type: 'ConstantFill' output: 'x' arg { name: 'shape' ints: 1 } } ",
                    look = "op { type: 'RunningNetTest' output: 'y' } ";
  const auto nested = [](const std::string& name, const std::string& ops) {
    return "op { type: 'RunningNetTest' arg { name: 'net' n { name: '" + name + "' " + ops +
           "} } } ";
  };
  EXPECT_TRUE(ws.RunNetOnce(ParseNet(
      "name: 'outer' " + nested("middle", fill + fill + nested("inner", fill + look) + fill))));
  EXPECT_THAT(positions, ElementsAre(0u, 2u, 1u));
  EXPECT_TRUE(ws.RunNetOnce(ParseNet("name: 'n' " + fill + fill + fill + look)));
  EXPECT_THAT(positions, ElementsAre(3u));
  EXPECT_TRUE(ws.RunOperatorOnce(ParseOp("type: 'RunningNetTest' output: 'y'")));
  EXPECT_THAT(positions, IsEmpty());
  EXPECT_THAT(lines, IsEmpty());
}

TEST(RunningNetTest, NamesNothingAfterARun) {
  Workspace ws;
  for (const char* output : {R"(output: "y")", ""}) {  // the second one fails
    NetDef net = ParseNet(std::string("name: \"n\" op { type: \"RunningNetTest\" ") + output + "}");
    NetBase* const created = ws.CreateNet(net, true);
    if (*output != '\0') {
      EXPECT_TRUE(created->Run());
    } else {
      EXPECT_THROW(created->Run(), EnforceNotMet);
    }
    EXPECT_EQ(lines.size(), 1u);
    ReadLines();
    EXPECT_THAT(lines, IsEmpty());
  }
}

TEST(RunningNetTest, ShortensNamesAndReplacesControlCharacters) {
  Workspace ws;
  NetDef net = ParseNet(R"(op { type: "RunningNetTest" output: "y" })");
  net.set_name("a\x1b[2J\nb\x7f");
  net.mutable_op(0)->set_output(0, std::string(100000, 'y'));
  EXPECT_TRUE(ws.RunNetOnce(net));
  EXPECT_THAT(lines, ElementsAre("while running operator 0 (RunningNetTest, output \"" +
                                 std::string(100, 'y') + "\") of net \"a?[2J?b?\"\n"));
}

}  // namespace
}  // namespace caffe2rt::test::running_net_test
