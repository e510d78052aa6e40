#include "caffe2_core/graph/dependencies.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::if_test {
namespace {

constexpr char kThen[] = R"(arg { name: "then_net" n { name: "double" op {
  type: "Scale" input: "x" output: "y" arg { name: "scale" f: 2 } } } } )";
constexpr char kElse[] = R"(arg { name: "else_net" n { name: "negate" op {
  type: "Negative" input: "x" output: "y" } } } )";

std::string If(const std::string& args) {
  return R"(type: "If" input: "c" input: "x" output: "y" )" + args;
}

class IfTest : public testing::Test {
 protected:
  IfTest() { Feed<float>(&ws_, "x", {2}, {1, -3}); }
  void Condition(bool value) { Feed<bool>(&ws_, "c", {1}, {value}); }

  Workspace ws_;
};

TEST_F(IfTest, RunsOneOfItsNets) {
  Condition(true);
  RunOp(&ws_, If(std::string(kThen) + kElse));
  ExpectTensor<float>(ws_, "y", {2}, {2, -6});
  Condition(false);
  RunOp(&ws_, If(std::string(kThen) + kElse));
  ExpectTensor<float>(ws_, "y", {2}, {-1, 3});
}

TEST_F(IfTest, RunsNothingWithoutElseNet) {
  Feed<float>(&ws_, "y", {1}, {7});
  Condition(false);
  RunOp(&ws_, If(kThen));
  ExpectTensor<float>(ws_, "y", {1}, {7});
}

TEST_F(IfTest, AcceptsOneElementOfAnyRank) {
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{}, {1}, {1, 1}}) {
    Feed<bool>(&ws_, "c", dims, {true});
    RunOp(&ws_, If(kThen));
    ExpectTensor<float>(ws_, "y", {2}, {2, -6});
  }
}

TEST_F(IfTest, RunsEmptyNets) {
  Feed<float>(&ws_, "y", {1}, {7});
  Condition(true);
  RunOp(&ws_, If(R"(arg { name: "then_net" n { } })"));
  ExpectTensor<float>(ws_, "y", {1}, {7});
}

TEST_F(IfTest, MayWriteItsCondition) {
  Condition(true);
  RunOp(&ws_, R"(type: "If" input: "c" output: "c" arg { name: "then_net" n {
    op { type: "Not" input: "c" output: "d" } op { type: "Copy" input: "d" output: "c" } } })");
  ExpectTensor<bool>(ws_, "c", {1}, {false});
}

TEST_F(IfTest, RejectsConditionsThatAreNotOneBool) {
  Feed<bool>(&ws_, "c", {2}, {true, true});
  ExpectThrows([&] { RunOp(&ws_, If(kThen)); },
               "input 0 (condition) has shape [2], want one element");
  Feed<bool>(&ws_, "c", {0}, {});
  ExpectThrows([&] { RunOp(&ws_, If(kThen)); },
               "input 0 (condition) has shape [0], want one element");
  Feed<int32_t>(&ws_, "c", {1}, {1});
  ExpectThrows([&] { RunOp(&ws_, If(kThen)); }, "input 0 (condition) has elements of type");
  ws_.CreateBlob("c")->Reset();
  ExpectThrows([&] { RunOp(&ws_, If(kThen)); }, "holds nothing");
}

TEST_F(IfTest, RejectsMissingAndUnusableNets) {
  Condition(true);
  ExpectThrows([&] { RunOp(&ws_, If(kElse)); }, "then_net");
  ExpectThrows([&] { RunOp(&ws_, If(R"(arg { name: "then_net" s: "double" })")); },
               "argument \"then_net\" holds no net");
  ExpectThrows([&] { RunOp(&ws_, If(R"(arg { name: "then_net" n { type: "simpel" } })")); },
               "the net in argument \"then_net\" has type \"simpel\", which is not known; close: "
               "simple");
  ExpectThrows([&] { RunOp(&ws_, R"(type: "If" output: "y" )" + std::string(kThen)); }, "input");
}

TEST_F(IfTest, NamesTheInnerNetAndOperatorOfAnError) {
  Condition(true);
  const std::string reshape = If(R"(arg { name: "then_net" n { name: "inner"
    op { type: "Copy" input: "x" output: "y" }
    op { type: "Reshape" input: "x" output: "y" output: "old" arg { name: "shape" ints: 3 } } } })");
  try {
    RunOp(&ws_, reshape);
    FAIL() << "no error";
  } catch (const EnforceNotMet& error) {
    EXPECT_THAT(std::string(error.what()),
                testing::HasSubstr("net \"inner\", operator 1 (Reshape"));
  }
  ExpectThrows(
      [&] {
        RunOp(&ws_, If(R"(arg { name: "then_net" n { name: "inner"
          op { type: "Copy" input: "missing" output: "y" } } })"));
      },
      "missing");
}

// The nets of "op" may use blobs that it does not list.
TEST(IfDependenciesTest, OrdersUsesOfUnlistedBlobs) {
  const NetDef net = ParseNet(R"(
    op { type: "Copy" input: "a" output: "unlisted" }
    op { type: "Copy" input: "a" output: "other" }
    op { type: "If" input: "c" output: "y" arg { name: "then_net" n {
      op { type: "If" input: "c" output: "y" arg { name: "then_net" n {
        op { type: "Add" input: "unlisted" input: "d" output: "hidden" } } } } } } }
    op { type: "Copy" input: "a" output: "unlisted" }
    op { type: "If" input: "c" output: "z" arg { name: "then_net" n {
      op { type: "Copy" input: "hidden" output: "z" } } } })");
  const NetDependencies dependencies(net);
  const auto predecessors = [&](size_t op) {
    return std::vector<uint32_t>(dependencies.predecessors(op).begin(),
                                 dependencies.predecessors(op).end());
  };
  EXPECT_EQ(predecessors(2), std::vector<uint32_t>({0}));
  EXPECT_EQ(predecessors(3), std::vector<uint32_t>({0, 2}));
  EXPECT_EQ(predecessors(4), std::vector<uint32_t>({2}));
  ASSERT_EQ(dependencies.nested(2).size(), 1u);
  EXPECT_EQ(dependencies.name(dependencies.nested(2)[0]), "unlisted");
  EXPECT_TRUE(dependencies.nested(0).empty());
}

}  // namespace
}  // namespace caffe2rt::test::if_test
