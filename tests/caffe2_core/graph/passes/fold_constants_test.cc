#include "caffe2_core/graph/passes/fold_constants.h"

#include <algorithm>

#include "caffe2_core/graph/op_schema.h"
#include "tests/caffe2_core/graph/passes/pass_run.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::fold_constants_test {
namespace {

using ::testing::ElementsAre;

class FoldConstantsTest : public testing::Test {
 protected:
  FoldConstantsTest() {
    test::Feed<float>(&run_.ws, "w", {2}, {2, 3});
    test::Feed<float>(&run_.ws, "s", {1}, {10});
  }
  std::vector<std::string> Lines(const std::string& text) { return run_(FoldConstants, text); }
  test::PassRun run_;
};

TEST_F(FoldConstantsTest, ComputesChainsOnce) {
  EXPECT_THAT(Lines(R"(
    op { type: "Mul" input: "w" input: "s" output: "t" }
    op { type: "Add" input: "t" input: "w" output: "u" }
    op { type: "Add" input: "x" input: "u" output: "y" })"),
              ElementsAre("Add(x u_3) -> y"));
  EXPECT_THAT(test::Fetch<float>(run_.ws, "u_3"), ElementsAre(22, 33));
  EXPECT_FALSE(run_.ws.HasBlob("t_2"));
}

TEST_F(FoldConstantsTest, ComputesFillsOnce) {
  EXPECT_THAT(Lines(R"(
    op { type: "ConstantFill" output: "c" arg { name: "shape" ints: 2 }
         arg { name: "value" f: 0.5 } }
    op { type: "Add" input: "x" input: "c" output: "y" })"),
              ElementsAre("Add(x c_2) -> y"));
  EXPECT_THAT(test::Fetch<float>(run_.ws, "c_2"), ElementsAre(0.5f, 0.5f));
}

TEST_F(FoldConstantsTest, KeepsWhatIsReadAfterTheRun) {
  EXPECT_THAT(Lines(R"(op { type: "Mul" input: "w" input: "s" output: "y" })"),
              ElementsAre("Mul(w s) -> y"));
}

TEST_F(FoldConstantsTest, KeepsWhatTheNetWrites) {
  EXPECT_THAT(Lines(R"(
    op { type: "Relu" input: "w" output: "t" }
    op { type: "Add" input: "x" input: "t" output: "y" }
    op { type: "Add" input: "w" input: "s" output: "w" })"),
              ElementsAre("Relu(w) -> t", "Add(x t) -> y", "Add(w s) -> w"));
}

TEST_F(FoldConstantsTest, KeepsWhatANestedNetWrites) {
  EXPECT_EQ(Lines(R"(
    op { type: "Relu" input: "w" output: "t" }
    op { type: "Add" input: "x" input: "t" output: "y" }
    op { type: "If" input: "c"
         arg { name: "then_net" n { op { type: "Copy" input: "x" output: "w" } } } })")
                .size(),
            3u);
}

// The nested net reads t under its name.
TEST_F(FoldConstantsTest, KeepsWhatANestedNetReads) {
  EXPECT_THAT(Lines(R"(
    op { type: "Relu" input: "w" output: "t" }
    op { type: "Add" input: "x" input: "t" output: "y" }
    op { type: "If" input: "c"
         arg { name: "then_net" n { op { type: "Copy" input: "t" output: "u" } } } })"),
              ElementsAre("Relu(w) -> t", "Add(x t) -> y", "If(c) ->"));
}

// The pass changes no operator with an engine or with a control input, so that these read t too.
TEST_F(FoldConstantsTest, KeepsWhatOtherOperatorsRead) {
  for (const char* how : {R"(engine: "FAST")", R"(control_input: "x")"}) {
    EXPECT_THAT(Lines(MakeString(R"(
        op { type: "Relu" input: "w" output: "t" }
        op { type: "Add" input: "x" input: "t" output: "y" )",
                                 how, " }")),
                ElementsAre("Relu(w) -> t", "Add(x t) -> y"))
        << how;
  }
}

// Every output counts, not only the first one.
TEST_F(FoldConstantsTest, LooksAtAllOutputs) {
  const std::string split = R"(
      op { type: "Split" input: "w" output: "a" output: "z" arg { name: "axis" i: 0 } }
      op { type: "Add" input: "x" input: "a" output: "y" })";
  EXPECT_THAT(Lines(split), ElementsAre("Add(x a_2) -> y"));
  EXPECT_THAT(test::Fetch<float>(run_.ws, "a_2"), ElementsAre(2));
  EXPECT_FALSE(run_.ws.HasBlob("z_2"));  // nothing reads it
  run_.kept = {"y", "z"};
  EXPECT_THAT(Lines(split), ElementsAre("Split(w) -> a z", "Add(x a) -> y"));
  run_.kept = {"y"};
  EXPECT_EQ(Lines(split + R"(op { type: "Relu" input: "z" output: "u" engine: "FAST" })").size(),
            3u);
  EXPECT_EQ(Lines(split + R"(op { type: "Mul" input: "z" input: "x" output: "u" })").size(), 2u);
  EXPECT_THAT(test::Fetch<float>(run_.ws, run_.net.op(0).input(1)), ElementsAre(2));
  EXPECT_THAT(test::Fetch<float>(run_.ws, run_.net.op(1).input(0)), ElementsAre(3));
}

// One of several inputs is computed from what the caller gives.
TEST_F(FoldConstantsTest, NeedsAllInputsToBeConstant) {
  const char* const text = R"(
      op { type: "Sum" input: "w" input: "s" input: "x" output: "t" }
      op { type: "Sum" input: "t" input: "w" output: "u" }
      op { type: "Relu" input: "u" output: "y" })";
  EXPECT_EQ(Lines(text), test::LinesOf(test::ParseNet(text)));
}

TEST_F(FoldConstantsTest, KeepsRandomNumbersAndErrors) {
  test::Feed<float>(&run_.ws, "v", {3}, {1, 2, 3});
  EXPECT_EQ(Lines(R"(
    op { type: "UniformFill" output: "r" arg { name: "shape" ints: 2 } }
    op { type: "Dropout" input: "w" output: "d" output: "m" arg { name: "is_test" i: 0 } }
    op { type: "Mul" input: "w" input: "v" output: "e" }
    op { type: "Sum" input: "r" input: "d" input: "e" output: "y" })")
                .size(),
            4u);
}

// Each run counts the elements once more.
TEST_F(FoldConstantsTest, KeepsOperatorsThatRememberEarlierRuns) {
  EXPECT_EQ(Lines(R"(
    op { type: "AccumulateHistogram" input: "w" output: "now" output: "y"
         arg { name: "num_buckets" i: 2 } arg { name: "upper_bound" f: 1 } })")
                .size(),
            1u);
}

TEST_F(FoldConstantsTest, KeepsInputsThatMustBeOverwritten) {
  EXPECT_THAT(
      Lines(R"(
    op { type: "ConstantFill" output: "ITER" arg { name: "shape" ints: 1 } arg { name: "dtype" i: 2 } }
    op { type: "Iter" input: "ITER" output: "ITER" }
    op { type: "LearningRate" input: "ITER" output: "y" arg { name: "policy" s: "fixed" } })"),
      ElementsAre("ConstantFill() -> ITER", "Iter(ITER) -> ITER", "LearningRate(ITER) -> y"));
}

// An operator that may be in place, but need not.
TEST_F(FoldConstantsTest, FoldsInputsThatMayBeOverwritten) {
  EXPECT_THAT(Lines(R"(
    op { type: "ConstantFill" output: "c" arg { name: "shape" ints: 2 } }
    op { type: "Add" input: "c" input: "x" output: "c" }
    op { type: "Relu" input: "c" output: "y" })"),
              ElementsAre("Add(c_2 x) -> c", "Relu(c) -> y"));
}

// The smallest operator of the type with pairs that must be in place, and with these in place. Its
// type is empty if there is none.
OperatorDef SmallestInPlace(const std::string& type) {
  const OpSchema& schema = *OpSchemaRegistry::Schema(type);
  OperatorDef op;
  for (int size = 2; size <= 20; ++size) {
    const int in = std::min(size, schema.max_input()), out = std::min(size, schema.max_output());
    op.Clear();
    op.set_type(type);
    for (int i = 0; i < in; ++i) op.add_input(MakeString("in", i));
    for (int o = 0; o < out; ++o) op.add_output(MakeString("out", o));
    bool enforced = false;
    for (int i = 0; i < in; ++i) {
      for (int o = 0; o < out; ++o) {
        if (!schema.inplace_enforced(i, o)) continue;
        op.set_output(o, op.input(i));
        enforced = true;
      }
    }
    if (enforced && schema.Verify(op)) return op;
  }
  return OperatorDef();
}

// All inputs are constants that the net itself fills.
TEST_F(FoldConstantsTest, AllPassesKeepEveryTypeThatMustBeInPlace) {
  int tested = 0;
  for (const std::string& type : OpSchemaRegistry::Types()) {
    const OperatorDef op = SmallestInPlace(type);
    if (op.type().empty()) continue;
    ++tested;
    NetDef net;
    for (const std::string& input : op.input()) {
      *net.add_op() = test::ParseOp(MakeString(
          R"(type: "ConstantFill" arg { name: "shape" ints: 2 } output: ")", input, "\""));
    }
    *net.add_op() = op;
    for (const std::string& output : op.output()) {
      *net.add_op() = test::ParseOp(
          MakeString(R"(type: "Relu" output: "y)", output, R"(" input: ")", output, "\""));
      run_.kept.insert("y" + output);
    }
    for (const NetPassInfo& pass : NetPasses()) {
      run_(pass.run, net.DebugString());
      for (const OperatorDef& changed : run_.net.op()) {
        std::string why;
        EXPECT_TRUE(OpSchemaRegistry::Schema(changed.type())->Verify(changed, &why))
            << pass.name << ", " << changed.type() << ": " << why;
      }
    }
  }
  EXPECT_GE(tested, 15);
}

// Each result has 400 times as many numbers as its input.
TEST_F(FoldConstantsTest, LimitsTheGrowthOfConstants) {
  test::FeedRandom(&run_.ws, "big", {1000, 50});
  std::string text;
  for (int i = 0; i < 3; ++i) {
    const std::string n = std::to_string(i);
    text += R"(op { type: "Tile" input: "big" output: "t)" + n +
            R"(" arg { name: "tiles" i: 200 } arg { name: "axis" i: 1 } }
               op { type: "Add" input: "x" input: "t)" +
            n + R"(" output: "y)" + n + "\" }";
  }
  EXPECT_EQ(Lines(text).size(), 5u);  // one of three 40 MB tensors fits
}

// The net writes a blob that had the values of a constant before.
TEST_F(FoldConstantsTest, LeavesConstantsThatWereOverwritten) {
  const std::string first = R"(op { type: "Negative" input: "s" output: "t" } )",
                    second = R"(op { type: "Relu" input: "x" output: "s" } )",
                    last = R"(op { type: "Add" input: "x" input: "t" output: "y" })";
  EXPECT_EQ(Lines(first + last).size(), 1u);
  EXPECT_EQ(Lines(second + first + last).size(), 3u);
}

// What only the folded operator reads is removed, so that nothing grows.
TEST_F(FoldConstantsTest, ReplacesConstantsOfAnySize) {
  test::FeedRandom(&run_.ws, "row", {1 << 16});
  test::RunOp(&run_.ws, R"(type: "Tile" input: "row" output: "big" arg { name: "tiles" i: 260 }
                           arg { name: "axis" i: 0 })");  // 65 MiB
  EXPECT_EQ(Lines(R"(op { type: "Concat" input: "big" input: "s" output: "t" output: "sizes"
                          arg { name: "axis" i: 0 } }
                     op { type: "Add" input: "x" input: "t" output: "y" })")
                .size(),
            1u);
  // Another operator reads it, so that there would be two of that size.
  run_.kept.insert("z");
  EXPECT_EQ(Lines(R"(op { type: "Concat" input: "big" input: "s" output: "t" output: "sizes"
                          arg { name: "axis" i: 0 } }
                     op { type: "Add" input: "x" input: "t" output: "y" }
                     op { type: "Add" input: "x" input: "big" output: "z" })")
                .size(),
            3u);
}

}  // namespace
}  // namespace caffe2rt::fold_constants_test
