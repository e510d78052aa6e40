#include "caffe2_core/graph/passes/fuse_fc.h"

#include "caffe2_core/graph/arguments.h"
#include "tests/caffe2_core/graph/passes/pass_run.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::fuse_fc_test {
namespace {

using ::testing::ElementsAre;

class FuseFCTest : public testing::Test {
 protected:
  FuseFCTest() {
    test::FeedRandom(&run_.ws, "w", {3, 4}, -1, 1, 1);  // [K, N]
    test::FeedRandom(&run_.ws, "v", {4, 3}, -1, 1, 2);  // [N, K]
    test::FeedRandom(&run_.ws, "b", {4}, -1, 1, 3);
    test::FeedRandom(&run_.ws, "short", {1}, -1, 1, 3);
    test::FeedRandom(&run_.ws, "cube", {2, 3, 4}, -1, 1, 4);
    test::FeedRandom(&run_.ws, "column", {4, 1}, -1, 1, 6);
    test::FeedRandom(&run_.ws, "number", {}, -1, 1, 7);
  }
  std::vector<std::string> Lines(const std::string& text) { return run_(FuseFC, text); }
  // Runs the net and what the pass makes of it, and expects the same values.
  void ExpectSameValues(const std::string& text, const std::vector<int64_t>& x_dims) {
    SCOPED_TRACE(text);
    run_.ws.RemoveBlob("x");
    Lines(text);
    test::FeedRandom(&run_.ws, "x", x_dims, -1, 1, 5);
    run_.ws.RunNetOnce(test::ParseNet(text));
    const auto want = test::Fetch<float>(run_.ws, "y");
    const auto dims = test::DimsOf(run_.ws, "y");
    run_.ws.RunNetOnce(run_.net);
    test::ExpectTensor<float>(run_.ws, "y", dims, want, 1e-5);
  }
  test::PassRun run_;
};

TEST_F(FuseFCTest, ReplacesEverySpellingOfALayer) {
  struct Case {
    std::string op;
    std::vector<int64_t> x_dims;
  };
  const Case cases[] = {
      {R"(type: "BatchMatMul" input: "x" input: "w" arg { name: "broadcast" i: 1 })", {2, 5, 3}},
      {R"(type: "BatchMatMul" input: "x" input: "w")", {5, 3}},
      {R"(type: "BatchMatMul" input: "x" input: "w")", {3}},
      {R"(type: "BatchMatMul" input: "x" input: "w")", {1, 1, 5, 3}},
      {R"(type: "BatchMatMul" input: "x" input: "v" arg { name: "trans_b" i: 1 }
          arg { name: "broadcast" i: 1 })",
       {2, 2, 5, 3}},
      {R"(type: "MatMul" input: "x" input: "w")", {5, 3}},
      {R"(type: "MatMul" input: "x" input: "v" arg { name: "trans_b" i: 1 })", {5, 3, 1}},
      {R"(type: "MatMul" input: "x" input: "cube" arg { name: "axis_b" i: 2 })", {5, 6}},
      {R"(type: "FCTransposed" input: "x" input: "w" input: "b")", {5, 3}},
      {R"(type: "FC" input: "x" input: "v" input: "b" arg { name: "axis" i: 2 })", {2, 5, 3}},
  };
  for (const Case& c : cases) {
    const bool has_bias = c.op.find("\"b\"") != std::string::npos;
    const std::string layer = "op { " + c.op + R"( output: "a" } )";
    const std::string bias = R"(op { type: "Add" input: "a" input: "b" output: "c" } )";
    const std::string gelu = R"(op { type: "Gelu" input: "a" output: "y" } )";
    for (std::string text :
         {layer + (has_bias ? "" : bias) + gelu, layer + gelu,
          layer + R"(op { type: "Add" input: "b" input: "a" output: "a" } )" + gelu}) {
      if (text.find("\"c\"") != std::string::npos) {
        text.replace(text.find("input: \"a\" output: \"y\""), 10, "input: \"c\"");
      }
      if (has_bias && text.find("Add") != std::string::npos) continue;
      ExpectSameValues(text, c.x_dims);
      EXPECT_EQ(run_.net.op_size(), 1);
      EXPECT_EQ(run_.net.op(0).type(), "FCFusion");
      EXPECT_EQ(GetArgument(run_.net.op(0), "activation").s(), "Gelu");
    }
  }
}

TEST_F(FuseFCTest, AddsTheApproximatedGelu) {
  const char* const text = R"(
    op { type: "FC" input: "x" input: "v" input: "b" output: "a" }
    op { type: "Gelu" input: "a" output: "y" arg { name: "fast_gelu" i: 1 } })";
  ExpectSameValues(text, {5, 3});
  EXPECT_EQ(GetArgument(run_.net.op(0), "activation").s(), "FastGelu");
}

TEST_F(FuseFCTest, LeavesLayersWhoseWeightsMayChange) {
  for (const char* const text :
       {R"(op { type: "FC" input: "x" input: "z" input: "b" output: "y" })",
        R"(op { type: "BatchMatMul" input: "x" input: "z" output: "y" })"}) {
    EXPECT_NE(run_.net.op_size() == 1 ? run_.net.op(0).type() : "", "FCFusion");
    EXPECT_EQ(Lines(text).size(), 1u);
    EXPECT_NE(run_.net.op(0).type(), "FCFusion");
  }
  EXPECT_THAT(Lines(R"(op { type: "Relu" input: "v" output: "v" }
                       op { type: "FC" input: "x" input: "v" input: "b" output: "y" })"),
              ElementsAre("Relu(v) -> v", "FC(x v b) -> y"));
}

TEST_F(FuseFCTest, LeavesOtherProducts) {
  for (
      const char* const text :
      {R"(op { type: "BatchMatMul" input: "x" input: "cube" output: "y" })",
       R"(op { type: "BatchMatMul" input: "w" input: "x" output: "y" })",
       R"(op { type: "BatchMatMul" input: "x" input: "w" output: "y" arg { name: "trans_a" i: 1 } })",
       R"(op { type: "MatMul" input: "x" input: "w" output: "y" arg { name: "axis_a" i: 2 } })",
       R"(op { type: "MatMul" input: "x" input: "w" output: "y" arg { name: "trans_a" i: 1 } })",
       R"(op { type: "MatMul" input: "x" input: "w" output: "y" arg { name: "axis_b" i: 2 } })",
       R"(op { type: "MatMul" input: "x" input: "w" output: "y" arg { name: "axis_b" i: -3 } })",
       R"(op { type: "MatMul" input: "x" input: "number" output: "y" })",
       R"(op { type: "MatMul" input: "x" input: "number" output: "y" arg { name: "axis_b" } })",
       R"(op { type: "FC" input: "x" input: "number" input: "b" output: "y" })",
       R"(op { type: "MatMul" input: "x" input: "w" input: "z" output: "y" })"}) {
    Lines(text);
    EXPECT_NE(run_.net.op(0).type(), "FCFusion") << text;
  }
}

TEST_F(FuseFCTest, LeavesSumsThatAreNoBias) {
  const std::string layer = R"(op { type: "MatMul" input: "x" input: "w" output: "a" } )";
  for (const char* const other : {"z", "short", "w", "column", "number"}) {
    const std::string add =
        std::string(R"(op { type: "Add" input: "a" input: ")") + other + R"(" output: "y" })";
    EXPECT_THAT(Lines(layer + add),
                ElementsAre("FCFusion(x w) -> a", std::string("Add(a ") + other + ") -> y"));
  }
  run_.kept = {"a", "y"};
  EXPECT_THAT(Lines(layer + R"(op { type: "Add" input: "a" input: "b" output: "y" })"),
              ElementsAre("FCFusion(x w) -> a", "Add(a b) -> y"));
}

// With 4 rows and 4 columns, the vector fits both dimensions.
TEST_F(FuseFCTest, LeavesAVectorThatIsAddedToTheRows) {
  const std::string layer = R"(op { type: "MatMul" input: "x" input: "w" output: "a" } )";
  const auto add = [&](const std::string& args) {
    return layer + R"(op { type: "Add" input: "a" input: "b" output: "y"
                           arg { name: "broadcast" i: 1 } )" +
           args + " }";
  };
  for (const char* const args :
       {R"(arg { name: "axis" i: 0 })",
        R"(arg { name: "axis_str" s: "N" } arg { name: "order" s: "NC" })"}) {
    ExpectSameValues(add(args), {4, 3});
    EXPECT_THAT(test::LinesOf(run_.net), ElementsAre("FCFusion(x w) -> a", "Add(a b) -> y"));
  }
  ExpectSameValues(add(""), {4, 3});
  EXPECT_THAT(test::LinesOf(run_.net), ElementsAre("FCFusion(x w b) -> y"));
}

TEST_F(FuseFCTest, LeavesAGeluWhoseInputIsReadElsewhere) {
  run_.kept = {"y", "z"};
  EXPECT_THAT(Lines(R"(
    op { type: "FC" input: "x" input: "v" input: "b" output: "a" }
    op { type: "Gelu" input: "a" output: "y" }
    op { type: "Relu" input: "a" output: "z" })"),
              ElementsAre("FCFusion(x v b) -> a", "Gelu(a) -> y", "Relu(a) -> z"));
}

}  // namespace
}  // namespace caffe2rt::fuse_fc_test
