#include "caffe2_core/graph/passes/fuse_layer_norm.h"

#include "tests/caffe2_core/graph/passes/pass_run.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::fuse_layer_norm_test {
namespace {

using ::testing::ElementsAre;

class FuseLayerNormTest : public testing::Test {
 protected:
  FuseLayerNormTest() {
    test::Feed<float>(&run_.ws, "eps", {}, {0.125f});
    test::Feed<float>(&run_.ws, "two", {1}, {2});
    test::FeedRandom(&run_.ws, "g", {6}, 0.5f, 2, 1);
    test::FeedRandom(&run_.ws, "b", {6}, -1, 1, 2);
    test::FeedRandom(&run_.ws, "b5", {5}, -1, 1, 2);
    test::Feed<float>(&run_.ws, "one", {1}, {0.5f});
    test::FeedRandom(&run_.ws, "matrix", {6, 6}, -1, 1, 2);
  }
  std::vector<std::string> Lines(const std::string& text) { return run_(FuseLayerNorm, text); }
  static std::string With(const std::string& what, const std::string& with,
                          const std::string& text = kNet) {
    return test::Replaced(text, what, with);
  }
  // Runs the net and what the pass makes of it, and expects the same values.
  void ExpectSameValues(const std::string& text, const std::vector<int64_t>& dims) {
    SCOPED_TRACE(text);
    for (const char* const name : {"x", "r"}) run_.ws.RemoveBlob(name);
    Lines(text);
    test::FeedRandom(&run_.ws, "x", dims, -2, 3, 5);
    test::FeedRandom(&run_.ws, "r", dims, -2, 3, 6);
    run_.ws.RunNetOnce(test::ParseNet(text));
    const auto want = test::Fetch<float>(run_.ws, "y");
    run_.ws.RunNetOnce(run_.net);
    test::ExpectTensor<float>(run_.ws, "y", dims, want, 1e-5);
  }

  static constexpr char kNet[] = R"(
    op { type: "ReduceMean" input: "x" output: "m" arg { name: "axes" ints: -1 } }
    op { type: "Sub" input: "x" input: "m" output: "d" }
    op { type: "Sqr" input: "d" output: "s" }
    op { type: "ReduceMean" input: "s" output: "v" arg { name: "axes" ints: -1 } }
    op { type: "Add" input: "v" input: "eps" output: "e" }
    op { type: "Sqrt" input: "e" output: "f" }
    op { type: "Div" input: "d" input: "f" output: "n" }
    op { type: "Mul" input: "n" input: "g" output: "o" }
    op { type: "Add" input: "o" input: "b" output: "y" })";
  test::PassRun run_;
};

TEST_F(FuseLayerNormTest, ReplacesEverySpelling) {
  const std::string cases[] = {
      kNet,
      With("\"Sqr\" input: \"d\"", "\"Mul\" input: \"d\" input: \"d\""),
      With("\"Sqr\" input: \"d\" output: \"s\"",
           "\"Pow\" input: \"d\" output: \"s\" arg { name: \"exponent\" f: 2 }"),
      With("\"Sqrt\" input: \"e\" output: \"f\"",
           "\"Pow\" input: \"e\" output: \"f\" arg { name: \"exponent\" f: 0.5 }"),
      With("input: \"v\" input: \"eps\"", "input: \"eps\" input: \"v\""),
      With("input: \"n\" input: \"g\"", "input: \"g\" input: \"n\""),
      With("input: \"o\" input: \"b\"", "input: \"b\" input: \"o\""),
      With("\"Div\" input: \"d\" input: \"f\"", "\"Mul\" input: \"f\" input: \"d\"",
           With("\"Sqrt\"", "\"Rsqrt\"")),
      With("op { type: \"Div\" input: \"d\"",
           "op { type: \"Sub\" input: \"x\" input: \"m\" output: \"d2\" }"
           "op { type: \"Div\" input: \"d2\""),
  };
  for (const std::string& text : cases) {
    ExpectSameValues(text, {2, 3, 6});
    EXPECT_THAT(test::LinesOf(run_.net), ElementsAre("LayerNormFusion(x g b) -> y")) << text;
  }
}

TEST_F(FuseLayerNormTest, AcceptsMeansThatDropTheirDimension) {
  std::string text = kNet;
  for (int i = 0; i < 2; ++i) {
    text = With("\"ReduceMean\"", "\"ReduceBackMean\"", text);
    text = With(" arg { name: \"axes\" ints: -1 }", "", text);
  }
  const std::string rows = " arg { name: \"broadcast\" i: 1 } arg { name: \"axis\" i: 0 }";
  text = With("output: \"d\"", "output: \"d\"" + rows, text);
  EXPECT_EQ(Lines(text).size(), 9u);  // the shapes of Div would not match
  text = With("output: \"n\"", "output: \"n\"" + rows, text);
  ExpectSameValues(text, {2, 3, 6});
  EXPECT_THAT(test::LinesOf(run_.net), ElementsAre("LayerNormFusion(x g b) -> y"));
}

// The rank of x is not known to the pass.
TEST_F(FuseLayerNormTest, AcceptsAPositiveAxisForEveryRank) {
  std::string text = kNet;
  for (int i = 0; i < 2; ++i) text = With("ints: -1", "ints: 2", text);
  for (const auto& dims : std::vector<std::vector<int64_t>>{{2, 3, 6}, {2, 3, 4, 6}}) {
    ExpectSameValues(text, dims);
    EXPECT_EQ(run_.net.op_size(), 1);
  }
  EXPECT_EQ(Lines(With("ints: -1", "ints: 2")).size(), 9u);  // two different axes
}

TEST_F(FuseLayerNormTest, AddsTheResidual) {
  const std::string residual = R"(op { type: "Add" input: "x" input: "r" output: "t" })";
  std::string text = kNet;
  text = With("input: \"x\" output: \"m\"", "input: \"t\" output: \"m\"", text);
  text = With("input: \"x\" input: \"m\"", "input: \"t\" input: \"m\"", text);
  ExpectSameValues(residual + text, {2, 3, 6});
  EXPECT_THAT(test::LinesOf(run_.net), ElementsAre("LayerNormFusion(x g b r) -> y"));
  // The sum is read later.
  run_.kept = {"z"};
  EXPECT_THAT(Lines(residual + text + R"(op { type: "Sum" input: "y" input: "t" output: "z" })"),
              ElementsAre("LayerNormFusion(x g b r) -> y t", "Sum(y t) -> z"));
  // The sum is read before the normalized value exists.
  run_.kept = {"y", "z"};
  EXPECT_THAT(Lines(residual + R"(op { type: "Relu" input: "t" output: "z" })" + text),
              ElementsAre("Add(x r) -> t", "Relu(t) -> z", "LayerNormFusion(t g b) -> y"));
  run_.kept = {"y", "t"};
  EXPECT_THAT(Lines(residual + text), ElementsAre("Add(x r) -> t", "LayerNormFusion(t g b) -> y"));
}

TEST_F(FuseLayerNormTest, ReplacesLayerNormWithoutStatistics) {
  const std::string op = R"(op { type: "LayerNorm" input: "x" input: "g" input: "b" output: "y"
      output: "m" output: "s" arg { name: "elementwise_affine" i: 1 }
      arg { name: "axis" i: 2 } arg { name: "epsilon" f: 0.5 } })";
  ExpectSameValues(op, {2, 3, 6});
  EXPECT_THAT(test::LinesOf(run_.net), ElementsAre("LayerNormFusion(x g b) -> y"));
  run_.kept = {"y", "m"};
  EXPECT_THAT(Lines(op), ElementsAre("LayerNorm(x g b) -> y m s"));
  run_.kept = {"y"};
  EXPECT_EQ(Lines(With("arg { name: \"elementwise_affine\" i: 1 }", "", op))[0],
            "LayerNorm(x g b) -> y m s");
  // LayerNorm computes in double as well, LayerNormFusion does not.
  test::Feed<double>(&run_.ws, "doubles", {6}, {1, 2, 3, 4, 5, 6});
  for (const std::string gamma : {"doubles", "unknown"}) {
    EXPECT_THAT(Lines(With("\"g\"", "\"" + gamma + "\"", op)),
                ElementsAre("LayerNorm(x " + gamma + " b) -> y m s"));
  }
}

TEST_F(FuseLayerNormTest, LeavesOtherArithmetic) {
  const std::string cases[] = {
      With("\"Sqr\" input: \"d\"", "\"Mul\" input: \"d\" input: \"x\""),
      With("\"Sqr\" input: \"d\"", "\"Sqr\" input: \"x\""),
      With("input: \"x\" input: \"m\"", "input: \"m\" input: \"x\""),
      With("input: \"eps\"", "input: \"g\""),
      With("\"Sqrt\"", "\"Rsqrt\""),
      With("input: \"d\" input: \"f\"", "input: \"f\" input: \"d\""),
      With("input: \"d\" input: \"f\"", "input: \"x\" input: \"f\""),
      With("input: \"g\"", "input: \"unknown\""),
      With("input: \"g\"", "input: \"matrix\""),
      With("input: \"b\"", "input: \"b5\""),
      With("ints: -1", "ints: -2"),
      With("ints: -1", "ints: -1 ints: -2"),
      With("ints: -1", "ints: -1 } arg { name: \"keepdims\" i: 0"),
      With("\"Sqr\" input: \"d\" output: \"s\"",
           "\"Pow\" input: \"d\" output: \"s\" arg { name: \"exponent\" f: 3 }"),
  };
  for (const std::string& text : cases) EXPECT_EQ(Lines(text).size(), 9u) << text;
}

// The root is that of other values than the variance and a constant.
TEST_F(FuseLayerNormTest, LeavesOtherRoots) {
  const std::string add = R"(op { type: "Add" input: "v" input: "eps" output: "e" })";
  EXPECT_EQ(Lines(With(R"("Sqrt" input: "e")", R"("Sqrt" input: "v")", With(add, ""))).size(), 8u);
  EXPECT_EQ(Lines(With(R"("Sqrt" input: "e")", R"("Sqrt" input: "z")", With(add, ""))).size(), 8u);
  EXPECT_EQ(Lines(With("input: \"eps\"", "input: \"z\"")).size(), 9u);
  EXPECT_EQ(Lines(With(R"(input: "v" input: "eps")", R"(input: "z" input: "eps")")).size(), 9u);
  EXPECT_EQ(Lines(With("\"Sqr\" input: \"d\"", "\"Sqr\" input: \"x\"")).size(), 9u);
  EXPECT_EQ(Lines(With("\"Sqr\" input: \"d\"", "\"Tanh\" input: \"d\"")).size(), 9u);
}

// One element is broadcast to the row, whose length is not known.
TEST_F(FuseLayerNormTest, LeavesParametersOfOneElement) {
  EXPECT_EQ(
      Lines(With("input: \"b\"", "input: \"one\"", With("input: \"g\"", "input: \"one\""))).size(),
      9u);
}

TEST_F(FuseLayerNormTest, LeavesInvalidOperatorsToReportTheirErrors) {
  const char* const without_gamma =
      R"(op { type: "LayerNorm" input: "x" output: "y" output: "m" output: "s"
           arg { name: "elementwise_affine" i: 1 } })";
  EXPECT_EQ(Lines(without_gamma).size(), 1u);
  EXPECT_EQ(run_.net.op(0).type(), "LayerNorm");
  const char* const wrong_type =
      R"(op { type: "LayerNorm" input: "x" input: "g" input: "b" output: "y" output: "m" output: "s"
           arg { name: "elementwise_affine" i: 1 } arg { name: "epsilon" s: "small" } })";
  EXPECT_EQ(Lines(wrong_type).size(), 1u);
  EXPECT_EQ(run_.net.op(0).type(), "LayerNorm");
}

TEST_F(FuseLayerNormTest, LeavesIntermediateResultsThatAreRead) {
  for (const char* const name : {"m", "d", "s", "v", "e", "f", "n", "o"}) {
    run_.kept = {"y", name};
    EXPECT_EQ(Lines(kNet).size(), 9u) << name;
  }
}

// Means that drop their dimension combine from the first dimension on, and are of one dimension of all rows.
TEST_F(FuseLayerNormTest, LeavesMeansOfOtherDimensions) {
  std::string text = kNet;
  for (int i = 0; i < 2; ++i) {
    text = With("\"ReduceMean\"", "\"ReduceBackMean\"", text);
    text = With(" arg { name: \"axes\" ints: -1 }", "", text);
  }
  const std::string rows = " arg { name: \"broadcast\" i: 1 } arg { name: \"axis\" i: 0 }";
  text = With("output: \"n\"", "output: \"n\"" + rows,
              With("output: \"d\"", "output: \"d\"" + rows, text));
  EXPECT_EQ(Lines(text).size(), 1u);
  for (const std::string& other :
       {With("i: 0", "i: 1", text), With("i: 0", "i: 0 } arg { name: \"axis_str\" s: \"N\"", text),
        With("output: \"m\"", "output: \"m\" arg { name: \"num_reduce_dim\" i: 2 }", text),
        With("input: \"x\" output: \"m\"", "input: \"x\" input: \"lengths\" output: \"m\"", text),
        With("output: \"v\"", "output: \"v\" arg { name: \"num_reduce_dim\" i: 2 }", text),
        // The statistic must be the second operand.
        With("\"Div\" input: \"d\" input: \"f\"", "\"Mul\" input: \"f\" input: \"d\"",
             With("\"Sqrt\"", "\"Rsqrt\"", text)),
        // One mean of each kind.
        With("\"ReduceMean\" input: \"s\"", "\"ReduceBackMean\" input: \"s\"")}) {
    EXPECT_EQ(Lines(other).size(), 9u) << other;
  }
}

TEST_F(FuseLayerNormTest, LeavesOtherParametersAndResiduals) {
  test::Feed<int>(&run_.ws, "ints", {6}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(Lines(With("input: \"g\"", "input: \"ints\"")).size(), 9u);
  EXPECT_EQ(Lines(With("input: \"b\"", "input: \"ints\"")).size(), 9u);
  const std::string add = R"(op { type: "Add" input: "x" input: "r" output: "t" )";
  const std::string norm = R"(op { type: "LayerNormFusion" input: "t" input: "g" input: "b" )";
  EXPECT_THAT(Lines(add + "} " + norm + R"(output: "y" })"),
              ElementsAre("LayerNormFusion(x g b r) -> y"));
  EXPECT_THAT(Lines(add + R"(arg { name: "broadcast" i: 1 } arg { name: "axis" i: 0 } } )" + norm +
                    R"(output: "y" })"),
              ElementsAre("Add(x r) -> t", "LayerNormFusion(t g b) -> y"));
  EXPECT_THAT(Lines(add + "} " + norm + R"(input: "q" output: "y" })"),
              ElementsAre("Add(x r) -> t", "LayerNormFusion(t g b q) -> y"));
}

}  // namespace
}  // namespace caffe2rt::fuse_layer_norm_test
