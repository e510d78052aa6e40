#include "caffe2_core/graph/net_check.h"

#include <gtest/gtest.h>

#include "caffe2_core/graph/device_fallback.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::net_check_test {
namespace {

using test::ParseNet;
using Names = std::vector<std::string>;

TEST(NetCheckTest, DeclaredAndMadeInputsPass) {
  EXPECT_TRUE(CheckNetDataflow(ParseNet(R"(external_input: "x" external_output: "z"
    op { type: "Relu" input: "x" output: "y" } op { type: "Relu" input: "y" output: "z" })"))
                  .empty());
}

TEST(NetCheckTest, WithoutDeclarationsAnyInputPasses) {
  EXPECT_TRUE(CheckNetDataflow(ParseNet(R"(op { type: "Relu" input: "x" output: "y" })")).empty());
}

TEST(NetCheckTest, ReportsEveryProblem) {
  const auto problems = CheckNetDataflow(ParseNet(R"(name: "n" external_input: "x"
    external_output: "w"
    op { type: "Relu" input: "a" output: "y" }
    op { type: "Relu" input: "b" output: "z" device_option { node_name: "host" } })"));
  ASSERT_EQ(problems.size(), 4u);
  EXPECT_EQ(problems[0].text,
            "op Relu: Source for input a is unknown for net n, operator 0; add external_input: "
            "\"a\", \"b\" to net \"n\", which must list all of its inputs or none");
  EXPECT_EQ(problems[2].text, "op Relu: Source for input b is unknown for net n, operator 1");
  EXPECT_EQ(problems[1].text, "node_name must be empty for all operators at execution time.");
  EXPECT_EQ(problems[2].op, 1);
  EXPECT_EQ(problems[3].text,
            "Some of the blobs are declared as output but never produced by the net n, the first "
            "one is w");
}

TEST(NetCheckTest, InputsAreDeclaredOnesThenThoseReadFirst) {
  EXPECT_EQ(
      InputsOf(ParseNet(R"(external_input: "w" op { type: "FC" input: "x" input: "w" input: "x"
    output: "y" } op { type: "Relu" input: "y" output: "z" })")),
      (Names{"w", "x"}));
}

TEST(NetCheckTest, OutputsAreDeclaredOnesOrUnreadOnes) {
  EXPECT_EQ(
      OutputsOf(ParseNet(R"(external_output: "q" op { type: "Relu" input: "x" output: "y" })")),
      Names{"q"});
  EXPECT_EQ(OutputsOf(ParseNet(R"(op { type: "Relu" input: "x" output: "y" }
    op { type: "Split" input: "y" output: "a" output: "b" }
    op { type: "Relu" input: "b" output: "b" })")),
            (Names{"a", "b"}));
}

TEST(NetCheckTest, DeclaredInputsMayBeOutputsWithoutAnOperator) {
  EXPECT_TRUE(CheckNetDataflow(ParseNet(R"(external_input: "x" external_output: "x")")).empty());
}

TEST(NetCheckTest, AnOperatorDoesNotMakeItsOwnInput) {
  const auto problems = CheckNetDataflow(ParseNet(
      R"(name: "n" external_input: "x" op { type: "Relu" input: "y" output: "y" }
         op { type: "Relu" input: "y" output: "z" control_input: "nowhere" })"));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].op, 0);
  EXPECT_EQ(problems[0].text.find("later"), std::string::npos) << problems[0].text;
}

// The remedy is part of the first problem that it solves, whatever problems come before.
TEST(NetCheckTest, TheRemedyFollowsOtherProblems) {
  const std::string end = R"(op { type: "Sum" input: "a" input: "b" input: "a" output: "z" }
                             op { type: "Relu" input: "a" output: "late" })";
  const std::string remedy = "; add external_input: \"a\", \"b\" to net \"n\", which must list";
  for (const char* const begin :
       {"", R"(op { type: "Relu" input: "x" output: "y" device_option { node_name: "host" } } )",
        R"(op { type: "Relu" input: "late" output: "y" } )"}) {
    const auto problems =
        CheckNetDataflow(ParseNet(MakeString("name: \"n\" external_input: \"x\" ", begin, end)));
    const size_t first = *begin == '\0' ? 0 : 1;
    ASSERT_EQ(problems.size(), first + 4) << begin;
    for (size_t i = 0; i < problems.size(); ++i) {
      EXPECT_EQ(problems[i].text.find(remedy) != std::string::npos, i == first) << problems[i].text;
    }
  }
}

TEST(NetCheckTest, NamesTheOperatorThatMakesAnInputTooLate) {
  const auto problems = CheckNetDataflow(ParseNet(R"(name: "n" external_input: "x"
      op { type: "Relu" input: "y" output: "z" } op { type: "Relu" input: "x" output: "y" })"));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].text,
            "op Relu: Source for input y is unknown for net n, operator 0; operator 1 writes it "
            "later");
}

TEST(NetCheckTest, FindsOutputsThatAreOverwrittenUnread) {
  const auto found = OverwrittenOutputsOf(ParseNet(R"(
      op { type: "Relu" input: "x" output: "a" } op { type: "Relu" input: "x" output: "b" }
      op { type: "Relu" input: "a" output: "a" } op { type: "Relu" input: "x" output: "b" }
      op { type: "Relu" input: "b" output: "b" } op { type: "Relu" input: "x" output: "a" })"));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].op, 1);
  EXPECT_EQ(found[0].by, 3);
  EXPECT_EQ(found[0].output, "b");
  EXPECT_EQ(found[1].op, 2);
  EXPECT_EQ(found[1].by, 5);
}

TEST(NetCheckTest, OutputsThatAnInnerNetReadsAreNotUnread) {
  const std::string end = R"( op { type: "Relu" input: "x" output: "a" })";
  const auto found = [&](const std::string& inner) {
    return OverwrittenOutputsOf(ParseNet(R"(op { type: "Relu" input: "x" output: "a" }
        op { type: "If" input: "c" output: "b" arg { name: "then_net" n { op { type: "Relu" input: ")" +
                                         inner + R"(" output: "b" } } } })" + end))
        .size();
  };
  EXPECT_EQ(found("a"), 0u);
  EXPECT_EQ(found("x"), 1u);
}

TEST(NetCheckTest, UnfilledInputsAreThoseThatNoInitNetWrites) {
  const NetDef net = ParseNet(R"(external_input: "w" external_input: "x"
    op { type: "FC" input: "x" input: "w" input: "b" output: "y" } op { type: "Relu" input: "z" })");
  const NetDef weights = ParseNet(R"(op { type: "Fill" output: "w" output: "y" })");
  const NetDef biases = ParseNet(R"(op { type: "Fill" input: "z" output: "b" })");
  EXPECT_EQ(UnfilledInputsOf(net, {&weights, &biases}), (Names{"x", "z"}));
  EXPECT_EQ(UnfilledInputsOf(net, {}), (Names{"w", "x", "b", "z"}));
}

TEST(NetCheckTest, WrittenNamesAreInOrderOfTheirFirstWrites) {
  EXPECT_EQ(NamesWrittenBy(ParseNet(R"(op { type: "Split" input: "x" output: "b" output: "a" }
    op { type: "Relu" input: "b" output: "b" } op { type: "Relu" input: "b" output: "c" })")),
            (Names{"b", "a", "c"}));
}

TEST(DeviceFallbackTest, SendsMissingDevicesToTheCPUInNestedNetsToo) {
  NetDef net = ParseNet(R"(device_option { device_type: 1 device_id: 3 random_seed: 5 }
    op { type: "Relu" device_option { device_type: 0 } }
    op { type: "If" device_option { device_type: 6 }
         arg { name: "then_net" n { op { type: "Relu" device_option { device_type: 1 } } } } })");
  EXPECT_EQ(FallBackToCPU(&net), (Names{"CUDA", "HIP"}));
  EXPECT_EQ(net.device_option().device_type(), 0);
  EXPECT_FALSE(net.device_option().has_device_id());
  EXPECT_EQ(net.device_option().random_seed(), 5u);
  EXPECT_EQ(net.op(1).arg(0).n().op(0).device_option().device_type(), 0);
  EXPECT_TRUE(FallBackToCPU(&net).empty());
}

}  // namespace
}  // namespace caffe2rt::net_check_test
