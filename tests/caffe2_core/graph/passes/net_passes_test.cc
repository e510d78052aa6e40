// Each pass on a small net, whose results are worked out by hand: the net before the pass and the
// net after it compute them.
#include <functional>

#include "caffe2_core/graph/passes/net_pass.h"
#include "tests/caffe2_core/graph/passes/pass_run.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::net_passes_test {
namespace {

using test::Feed;
using Lines = std::vector<std::string>;
using Floats = std::vector<float>;

struct PassCase {
  const char* pass;
  std::string net;
  std::function<void(Workspace*)> feed_constants, feed_inputs;
  Lines after;
  std::vector<int64_t> dims;
  Floats y;
  double tolerance = 0;
};

// y = [1 2; 3 4] x + [100, -30], as a convolution: [105, -19] for x = [1, 2].
void FeedConvolution(Workspace* ws) {
  Feed<float>(ws, "w", {2, 1, 1, 2}, {1, 2, 3, 4});
  Feed<float>(ws, "b", {2}, {100, -30});
}
void FeedImage(Workspace* ws) { Feed<float>(ws, "x", {1, 1, 1, 2}, {1, 2}); }
constexpr char kConv[] = R"(op { type: "Conv" input: "x" input: "w" input: "b" output: "t"
    arg { name: "kernels" ints: [1, 2] } } )";

void FeedVector(Workspace* ws) { Feed<float>(ws, "x", {2}, {1, -2}); }
void FeedNothing(Workspace*) {}

// Splits the columns into one head.
std::string Head(const std::string& name, const char* axes) {
  return "op { type: \"Reshape\" input: \"" + name + "\" output: \"" + name + "4\" output: \"" +
         name +
         "_old\" arg { name: \"shape\" ints: [0, 0, 1, 2] } } op { type: \"Transpose\" input: \"" +
         name + "4\" output: \"" + name + "t\" arg { name: \"axes\" ints: " + axes + " } } ";
}

// Two convolutions of ones over an image of ones, with padding. The first gives a(i) a(j) with
// a = 2, 3, ..., 3, 2, because a window at the edge has two rows. The second gives b(i) b(j) with the
// sums of three neighbours, b = 5, 8, 9, ..., 9, 8, 5.
constexpr int64_t kImageSize = 12;
Floats TwoConvolutionsOfOnes() {
  const Floats b = {5, 8, 9, 9, 9, 9, 9, 9, 9, 9, 8, 5};
  Floats values;
  for (int channel = 0; channel < 64; ++channel) {
    for (const float row : b) {
      for (const float column : b) values.push_back(row * column);
    }
  }
  return values;
}
std::string ConvOfOnes(const std::string& x, const std::string& y) {
  return "op { type: \"Conv\" input: \"" + x + "\" input: \"w\" output: \"" + y +
         "\" arg { name: \"kernel\" i: 3 } arg { name: \"pad\" i: 1 } } ";
}

std::vector<PassCase> Cases() {
  return {
      {"remove_copies",
       R"(op { type: "Copy" input: "x" output: "t" } op { type: "StopGradient" input: "t" output: "u" }
          op { type: "Scale" input: "u" output: "y" arg { name: "scale" f: 2 } })",
       FeedNothing,
       FeedVector,
       {"Scale(x) -> y"},
       {2},
       {2, -4}},
      {"remove_dead_operators",
       R"(op { type: "Scale" input: "x" output: "unused" } op { type: "Relu" input: "x" output: "y" })",
       FeedNothing,
       FeedVector,
       {"Relu(x) -> y"},
       {2},
       {1, 0}},
      {"fold_constants",
       R"(op { type: "Scale" input: "c" output: "d" arg { name: "scale" f: 3 } }
          op { type: "Add" input: "x" input: "d" output: "y" })",
       [](Workspace* ws) {
         Feed<float>(ws, "c", {2}, {1, 2});
       },
       FeedVector,
       {"Add(x d_2) -> y"},
       {2},
       {4, 4}},
      // Channel 0: (105 - 5) * 3 / sqrt(2 + 0.25) + 1. Channel 1: (-19 - 4) * -1.5 / 0.5 + 2.
      {"fold_batch_norm",
       std::string(kConv) + R"(op { type: "SpatialBN" input: "t" input: "scale" input: "bias"
          input: "mean" input: "var" output: "y" arg { name: "is_test" i: 1 }
          arg { name: "epsilon" f: 0.25 } })",
       [](Workspace* ws) {
         FeedConvolution(ws);
         Feed<float>(ws, "scale", {2}, {3, -1.5f});
         Feed<float>(ws, "bias", {2}, {1, 2});
         Feed<float>(ws, "mean", {2}, {5, 4});
         Feed<float>(ws, "var", {2}, {2, 0});
       },
       FeedImage,
       {"Conv(x w_2 b_3) -> y"},
       {1, 2, 1, 1},
       {201, 71}},
      // x times the normal distribution function: 0.8413447 at 1.
      {"fuse_gelu",
       R"(op { type: "Div" input: "x" input: "root" output: "a" }
          op { type: "Erf" input: "a" output: "b" }
          op { type: "Add" input: "b" input: "one" output: "c" }
          op { type: "Mul" input: "x" input: "c" output: "d" }
          op { type: "Mul" input: "d" input: "half" output: "y" })",
       [](Workspace* ws) {
         Feed<float>(ws, "root", {}, {1.41421354f});
         Feed<float>(ws, "one", {}, {1});
         Feed<float>(ws, "half", {}, {0.5f});
       },
       [](Workspace* ws) {
         Feed<float>(ws, "x", {3}, {1, 0, -1});
       },
       {"Gelu(x) -> y"},
       {3},
       {0.8413447f, 0, -0.1586553f},
       1e-6},
      {"fuse_fc",
       R"(op { type: "MatMul" input: "x" input: "w" output: "t" }
          op { type: "Add" input: "t" input: "b" output: "y" })",
       [](Workspace* ws) {
         Feed<float>(ws, "w", {3, 2}, {1, 0, 0, 1, 1, 1});
         Feed<float>(ws, "b", {2}, {10, 20});
       },
       [](Workspace* ws) {
         Feed<float>(ws, "x", {1, 3}, {1, 2, 3});
       },
       {"FCFusion(x w b) -> y"},
       {1, 2},
       {14, 25}},
      // Means 2 and 0, variances 1 and 6; the deviations are divided by 2 and 3.
      {"fuse_layer_norm",
       R"(op { type: "ReduceMean" input: "x" output: "m" arg { name: "axes" ints: -1 } }
          op { type: "Sub" input: "x" input: "m" output: "d" }
          op { type: "Sqr" input: "d" output: "s" }
          op { type: "ReduceMean" input: "s" output: "v" arg { name: "axes" ints: -1 } }
          op { type: "Add" input: "v" input: "eps" output: "e" }
          op { type: "Sqrt" input: "e" output: "f" }
          op { type: "Div" input: "d" input: "f" output: "n" }
          op { type: "Mul" input: "n" input: "g" output: "o" }
          op { type: "Add" input: "o" input: "b" output: "y" })",
       [](Workspace* ws) {
         Feed<float>(ws, "eps", {}, {3});
         Feed<float>(ws, "g", {3}, {2, 4, 6});
         Feed<float>(ws, "b", {3}, {1, 1, 1});
       },
       [](Workspace* ws) {
         Feed<float>(ws, "x", {1, 3}, {-3, 0, 3});
       },
       {"LayerNormFusion(x g b) -> y"},
       {1, 3},
       {-1, 1, 7},
       1e-6},
      // The scores are 0 and log 3, so that the weights of the rows of v are 1/4 and 3/4.
      {"fuse_attention",
       Head("q", "[0, 2, 1, 3]") + Head("k", "[0, 2, 3, 1]") + Head("v", "[0, 2, 1, 3]") +
           R"(op { type: "BatchMatMul" input: "qt" input: "kt" output: "scores" }
              op { type: "Div" input: "scores" input: "root" output: "scaled" }
              op { type: "Softmax" input: "scaled" output: "p" arg { name: "axis" i: 3 } }
              op { type: "BatchMatMul" input: "p" input: "vt" output: "c" }
              op { type: "Transpose" input: "c" output: "ct" arg { name: "axes" ints: [0, 2, 1, 3] } }
              op { type: "Reshape" input: "ct" output: "y" output: "y_old"
                   arg { name: "shape" ints: [0, 0, 2] } })",
       [](Workspace* ws) { Feed<float>(ws, "root", {}, {2}); },
       [](Workspace* ws) {
         Feed<float>(ws, "q", {1, 1, 2}, {2, 5});
         Feed<float>(ws, "k", {1, 2, 2}, {0, 0, 1.0986123f, 0});
         Feed<float>(ws, "v", {1, 2, 2}, {1, 2, 3, 4});
       },
       {"MultiHeadAttention(q k v) -> y"},
       {1, 1, 2},
       {2.5f, 3.5f},
       1e-6},
      {"fuse_sum",
       std::string(kConv) + R"(op { type: "Sum" input: "t" input: "r" output: "y" })",
       FeedConvolution,
       [](Workspace* ws) {
         FeedImage(ws);
         Feed<float>(ws, "r", {1, 2, 1, 1}, {1, 2});
       },
       {"ConvFusion(x w b r) -> y"},
       {1, 2, 1, 1},
       {106, -17}},
      {"fuse_activation",
       std::string(kConv) + R"(op { type: "Clip" input: "t" output: "y" arg { name: "min" f: -4 }
                                    arg { name: "max" f: 90 } })",
       FeedConvolution,
       FeedImage,
       {"ConvFusion(x w b) -> y"},
       {1, 2, 1, 1},
       {90, -4}},
      // Numbers that bytes represent exactly. What the file states is not what was asked for.
      {"matmul_precisions",
       R"(op { type: "FCFusion" input: "x" input: "w" output: "y"
               arg { name: "precision" s: "int8" } })",
       [](Workspace* ws) {
         Feed<float>(ws, "w", {1, 2}, {127, -1});
       },
       [](Workspace* ws) {
         Feed<float>(ws, "x", {1, 2}, {255, 2});
       },
       {"FCFusion(x w) -> y"},
       {1, 1},
       {32383}},
      {"onednn_regions",
       ConvOfOnes("x", "c") + ConvOfOnes("c", "y"),
       [](Workspace* ws) {
         Feed<float>(ws, "w", {64, 64, 3, 3}, Floats(64 * 64 * 9, 1.0f / 64));
       },
       [](Workspace* ws) {
         Feed<float>(ws, "x", {1, 64, kImageSize, kImageSize},
                     Floats(64 * kImageSize * kImageSize, 1));
       },
       {"CopyFromCPUInput(x) -> x_ideep", "Conv(x_ideep w) -> c_ideep",
        "Conv(c_ideep w) -> y_ideep", "EnsureCPUOutput(y_ideep) -> y"},
       {1, 64, kImageSize, kImageSize},
       TwoConvolutionsOfOnes(),
       1e-5},
      {"reshape_in_place",
       R"(op { type: "Relu" input: "x" output: "t" }
          op { type: "Reshape" input: "t" output: "y" output: "old" arg { name: "shape" ints: [2, 1] } })",
       FeedNothing,
       FeedVector,
       {"Relu(x) -> y", "Reshape(y) -> y old"},
       {2, 1},
       {1, 0}},
  };
}

TEST(NetPassesTest, KeepResultsThatAreWorkedOutByHand) {
  const std::vector<PassCase> cases = Cases();
  ASSERT_EQ(cases.size(), NetPasses().size());
  for (size_t i = 0; i < cases.size(); ++i) {
    const PassCase& c = cases[i];
    SCOPED_TRACE(c.pass);
    ASSERT_STREQ(c.pass, NetPasses()[i].name);
    test::PassRun run;
    c.feed_constants(&run.ws);
    EXPECT_EQ(run(NetPasses()[i].run, c.net), c.after);
    c.feed_inputs(&run.ws);
    ASSERT_TRUE(run.ws.RunNetOnce(test::ParseNet(c.net)));
    test::ExpectTensor<float>(run.ws, "y", c.dims, c.y, c.tolerance);
    run.ws.RemoveBlob("y");
    ASSERT_TRUE(run.ws.RunNetOnce(run.net));
    test::ExpectTensor<float>(run.ws, "y", c.dims, c.y, c.tolerance);
  }
}

}  // namespace
}  // namespace caffe2rt::net_passes_test
