#include <cstring>
#include <string>
#include <vector>

#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/operators/common/call_tables.h"
#include "tests/operators/conv/conv_combinations.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::lc_test {
namespace {

TEST(LCTest, MultipliesEachWindowByItsFilter) {
  ExpectResults({
      // 1 * 1 + 2 * 10 and 2 * 100 + 3 * 1000.
      {"LC X w -> Y kernels=2,", "X f 1,1,3 = 1,2,3; w f 2,1,1,2 = 1,10,100,1000",
       "Y f 1,1,2 = 21,3200"},
      {"LC1D X w b -> Y kernels=2,",
       "X f 2,1,3 = 1,2,3,4,5,6; w f 2,1,1,2 = 1,10,100,1000; b f 2,1 = 5,6",
       "Y f 2,1,2 = 26,3206,59,6506"},
      // The window is multiplied by 1 to 4 for channel 0 and by 5 to 8 for channel 1 of Y.
      {"LC X w b -> Y kernels=2,",
       "X f 1,2,2 = 1,2,3,4; w f 1,2,2,2 = 1,2,3,4,5,6,7,8; b f 1,2 = 100,200",
       "Y f 1,2,1 = 130,270"},
      {"LC X w b -> Y kernels=2, order=NHWC",
       "X f 1,2,2 = 1,3,2,4; w f 1,2,2,2 = 1,3,2,4,5,7,6,8; b f 1,2 = 100,200",
       "Y f 1,1,2 = 130,270"},
      // Each window holds one pixel: under tap 3 of filter 0, tap 2 of filter 1, and so on.
      {"LC2D X w -> Y kernel=2 stride=2 pad=1",
       "X f 1,1,2,2 = 1,2,3,4; w f 2,2,1,1,2,2 = 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16",
       "Y f 1,1,2,2 = 4,14,30,52"},
      {"LC2D X w -> Y kernel=2 stride=2 pad=1 order=NHWC",
       "X f 1,2,2,1 = 1,2,3,4; w f 2,2,1,2,2,1 = 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16",
       "Y f 1,2,2,1 = 4,14,30,52"},
      {"LC X w -> Y kernels=2, dilations=3,", "X f 1,1,5 = 1,2,3,4,5; w f 2,1,1,2 = 1,1,1,-1",
       "Y f 1,1,2 = 5,-3"},
      {"LC X w -> Y kernels=1, pads=-1,0", "X f 1,1,3 = 1,2,3; w f 2,1,1,1 = 5,7",
       "Y f 1,1,2 = 10,21"},
      {"LC3D X w b -> Y kernels=2,2,2",
       "X f 1,1,2,2,2 = 1,2,3,4,5,6,7,8; w f 1,1,1,1,1,2,2,2 = 1; b f 1,1,1,1 = 1",
       "Y f 1,1,1,1,1 = 37"},
      {"LC X w -> Y kernels=2,", "X f 0,1,3; w f 2,4,1,2", "Y f 0,4,2"},
      {"LC X w -> Y kernels=2,", "X f 2,1,3; w f 2,0,1,2", "Y f 2,0,2"},
  });
  ExpectInferred(
      {{"LC X w -> Y kernel=2", "X f 3,2,4,5; w f 3,4,6,2,2,2", "float [3, 6, 3, 4]"},
       {"LC X w -> Y kernel=2", "X f 3,2,4,5; w f ?", "float ?"},
       {"LC X w -> Y kernel=2 order=NHWC", "X f 3,4,5,2; w f 3,4,6,2,2,2", "float [3, 3, 4, 6]"}});
}

TEST(LCGradientTest, IsThatOfEachFilter) {
  const std::string inputs = "X f 2,1,3 = 1,2,3,4,5,6; w f 2,1,1,2 = 1,10,100,1000; ";
  ExpectResults({
      // The filters meet the windows [1, 2], [4, 5] and [2, 3], [5, 6].
      {"LCGradient X w dY -> dw db dX kernels=2,", inputs + "dY f 2,1,2 = 1,2,3,4",
       "dw f 2,1,1,2 = 13,17,24,30; db f 2,1 = 4,6; dX f 2,1,3 = 1,210,2000,3,430,4000"},
      {"LC1DGradient X w dY -> dw dX kernels=2, no_bias=1", inputs + "dY f 2,1,2 = 1,0,0,0",
       "dw f 2,1,1,2 = 1,2,0,0; dX f 2,1,3 = 1,10,0,0,0,0"},
      {"LCGradient X w dY -> dw db kernels=2,", inputs + "dY f 2,1,2 = 1,2,3,4",
       "dw f 2,1,1,2 = 13,17,24,30; db f 2,1 = 4,6"},
      {"LCGradient X w dY -> dw db dX kernels=2,", "X f 0,1,3; w f 2,1,1,2; dY f 0,1,2",
       "dw f 2,1,1,2 = 0; db f 2,1 = 0; dX f 0,1,3"},
  });
  ExpectInferred({{"LCGradient X w dY -> dw db dX kernels=2,", "X f 3,2,4; w f 3,5,2,2; dY f 3,5,3",
                   "float [3, 5, 2, 2]; float [3, 5]; float [3, 2, 4]"},
                  {"LCGradient X w dY -> dw dX kernels=2, no_bias=1", "X f ?; w f ?; dY f 3,5,3",
                   "float ?; float ?"}});
}

TEST(LCGradientTest, HasTheOutputsOfAGradientOfConv) {
  EXPECT_EQ(DescribeGradient(R"(type: "LC2D" input: "X" input: "W" input: "b" output: "Y")"),
            "LC2DGradient(X,W,Y_grad)->W_grad,b_grad,X_grad | X_grad W_grad b_grad");
  EXPECT_EQ(DescribeGradient(R"(type: "LC" input: "X" input: "W" output: "Y"
                                arg { name: "no_gradient_to_input" i: 1 })"),
            "LCGradient(X,W,Y_grad)->W_grad no_bias=1 no_gradient_to_input=1 | - W_grad");
}

// With the same filter at each place, a locally connected layer is a convolution, and the gradient
// of the convolution's filter is the sum of the gradients of all filters.
class LCOfEqualFiltersTest : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Orders, LCOfEqualFiltersTest, testing::Values("NCHW", "NHWC"));

TEST_P(LCOfEqualFiltersTest, IsAConvolutionWithThreads) {
  const std::string order = GetParam();
  const bool last = order == "NHWC";
  const ThreadsOfTest threads(3);
  constexpr int64_t kPlaces = 6 * 5, kFilter = 4 * 9 * 3;
  Workspace ws;
  FeedRandom(&ws, "X",
             last ? std::vector<int64_t>{19, 11, 9, 3} : std::vector<int64_t>{19, 3, 11, 9});
  FeedRandom(&ws, "dY",
             last ? std::vector<int64_t>{19, 6, 5, 4} : std::vector<int64_t>{19, 4, 6, 5});
  FeedRandom(&ws, "w", last ? std::vector<int64_t>{4, 3, 3, 3} : std::vector<int64_t>{4, 3, 3, 3},
             -1, 1, 7);
  FeedRandom(&ws, "b", {4}, -1, 1, 8);
  std::vector<float> filters, biases;
  const std::vector<float> w = Fetch<float>(ws, "w"), b = Fetch<float>(ws, "b");
  for (int64_t place = 0; place < kPlaces; ++place) {
    filters.insert(filters.end(), w.begin(), w.end());
    biases.insert(biases.end(), b.begin(), b.end());
  }
  Feed<float>(&ws, "W", {6, 5, 4, 3, 3, 3}, filters);
  Feed<float>(&ws, "B", {6, 5, 4}, biases);
  const std::string arguments =
      R"( arg { name: "kernel" i: 3 } arg { name: "stride" i: 2 } arg { name: "pad" i: 1 }
          arg { name: "order" s: ")" +
      order + "\" }";
  RunOp(&ws, R"(type: "Conv" input: "X" input: "w" input: "b" output: "y")" + arguments);
  RunOp(&ws, R"(type: "LC" input: "X" input: "W" input: "B" output: "Y")" + arguments);
  ExpectTensor<float>(ws, "Y",
                      last ? std::vector<int64_t>{19, 6, 5, 4} : std::vector<int64_t>{19, 4, 6, 5},
                      Fetch<float>(ws, "y"), 1e-4);
  RunOp(&ws, R"(type: "ConvGradient" input: "X" input: "w" input: "dY"
                output: "dw" output: "db" output: "dx")" +
                 arguments);
  RunOp(&ws, R"(type: "LCGradient" input: "X" input: "W" input: "dY"
                output: "dW" output: "dB" output: "dX")" +
                 arguments);
  std::vector<float> sums(kFilter), bias_sums(4);
  const std::vector<float> dW = Fetch<float>(ws, "dW"), dB = Fetch<float>(ws, "dB");
  ASSERT_EQ(dW.size(), size_t{kPlaces * kFilter});
  for (size_t i = 0; i < dW.size(); ++i) sums[i % kFilter] += dW[i];
  for (size_t i = 0; i < dB.size(); ++i) bias_sums[i % 4] += dB[i];
  ExpectTensor<float>(ws, "dw", {4, 3, 3, 3}, sums, 1e-3);
  ExpectTensor<float>(ws, "db", {4}, bias_sums, 1e-3);
  ExpectTensor<float>(ws, "dX", ws.GetBlob("X")->Get<Tensor>().dims(), Fetch<float>(ws, "dx"),
                      1e-3);
}

TEST(LCTest, GivesTheSameBitsWithThreads) {
  Workspace ws;
  FeedRandom(&ws, "X", {21, 4, 10, 9}, -1, 1, 1);
  FeedRandom(&ws, "W", {10, 9, 5, 4, 3, 3}, -1, 1, 2);
  FeedRandom(&ws, "Y", {21, 5, 10, 9}, -1, 1, 3);
  std::vector<std::vector<float>> of_one;
  for (const int threads : {1, 3}) {
    const ThreadsOfTest scope(threads);
    RunOp(&ws, R"(type: "LC" input: "X" input: "W" output: "y"
                  arg { name: "kernel" i: 3 } arg { name: "pad" i: 1 })");
    RunOp(&ws, R"(type: "LCGradient" input: "X" input: "W" input: "Y" output: "w" output: "b"
                  output: "x" arg { name: "kernel" i: 3 } arg { name: "pad" i: 1 })");
    std::vector<std::vector<float>> results;
    for (const char* name : {"y", "w", "b", "x"}) results.push_back(Fetch<float>(ws, name));
    if (threads == 1) of_one = results;
    for (size_t i = 0; i < results.size(); ++i) {
      ASSERT_EQ(results[i].size(), of_one[i].size());
      EXPECT_EQ(std::memcmp(results[i].data(), of_one[i].data(), results[i].size() * sizeof(float)),
                0);
    }
  }
}

TEST(LCTest, AllocatesNothingOnceWarm) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer replaces malloc";
  Workspace ws;
  FeedRandom(&ws, "X", {2, 3, 5, 4});
  FeedRandom(&ws, "W", {3, 2, 2, 3, 3, 3});
  FeedRandom(&ws, "b", {3, 2, 2});
  NetBase* const net = ws.CreateNet(ParseNet(R"(
      name: "n"
      op { type: "LC" input: "X" input: "W" input: "b" output: "Y" arg { name: "kernel" i: 3 } }
      op { type: "LCGradient" input: "X" input: "W" input: "Y" output: "dW" output: "db"
           output: "dX" arg { name: "kernel" i: 3 } })"));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(net->Run());
  const AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
}

TEST(LCTest, CountsTheMultiplicationsOfAllFilters) {
  const auto cost = [](const char* text, const std::vector<std::vector<int64_t>>& inputs) {
    const OperatorDef def = ParseOp(text);
    std::vector<TensorShape> shapes;
    for (const auto& dims : inputs) shapes.push_back(CreateTensorShape(dims, TensorProto::FLOAT));
    return OpSchemaRegistry::Schema(def.type())->InferCost(def, shapes);
  };
  EnsureBuiltinOperators();
  // Y has 3 * 4 * 2 elements, each of 2 * 2 products.
  const auto forward = cost(
      R"(type: "LC" input: "X" input: "W" input: "b" output: "Y" arg { name: "kernels" ints: 2 })",
      {{3, 2, 3}, {2, 4, 2, 2}, {2, 4}});
  EXPECT_EQ(forward.flops, 24 * (2 * 4 + 1));
  EXPECT_EQ(forward.params_bytes, (32 + 8) * 4);
  EXPECT_EQ(forward.bytes_read, (18 + 32 + 8) * 4);
  EXPECT_EQ(forward.bytes_written, 24 * 4);
  const auto gradient = cost(
      R"(type: "LCGradient" input: "X" input: "W" input: "dY" output: "dW" output: "db"
         output: "dX" arg { name: "kernels" ints: 2 })",
      {{3, 2, 3}, {2, 4, 2, 2}, {3, 4, 2}});
  EXPECT_EQ(gradient.flops, 24 * 2 * (2 * 4));
  EXPECT_EQ(gradient.bytes_read, (18 + 32 + 24) * 4);
  EXPECT_EQ(gradient.bytes_written, (32 + 8 + 18) * 4);
}

TEST(LCTest, RejectsInvalidCalls) {
  const std::string lc = "LC X w -> Y kernel=3", x = "X f 2,3,5,4; ";
  const std::string want =
      ", want [3, 2, 2, 3, 3, 3]: the output's axes and channels, then a filter";
  ExpectRejected({
      {lc + " group=3", x + "w f 3,2,2,1,3,3",
       "argument group of a locally connected layer: got 3, want 1"},
      {lc, x + "w f 2,3,3,3",
       "rank of input 1 (filter) of shape [2, 3, 3, 3], want that of input 0 (X) and one dim for "
       "each axis of the output (got 4, want 6)"},
      {lc, x + "w f 2,3,2,3,3,3", "input 1 (filter) has shape [2, 3, 2, 3, 3, 3]" + want},
      {lc, x + "w f 3,2,2,3,3,2", "input 1 (filter) has shape [3, 2, 2, 3, 3, 2]" + want},
      {lc, x + "w f 3,2,2,2,3,3", "input 1 (filter) has shape [3, 2, 2, 2, 3, 3]" + want},
      {lc + " order=NHWC", "X f 2,5,4,3; w f 3,2,2,3,3,2",
       "input 1 (filter) has shape [3, 2, 2, 3, 3, 2]" + want},
      {"LC X w b -> Y kernel=3", x + "w f 3,2,2,3,3,3; b f 12",
       "input 2 (bias) has shape [12], want [3, 2, 2]: the output's axes and channels"},
      {lc, "X d 2,3,5,4; w f 3,2,2,3,3,3", "the tensor holds elements of type double, want float"},
      {lc, x + "w d 3,2,2,3,3,3", "the tensor holds elements of type double, want float"},
      {"LC X w b -> Y kernel=3", x + "w f 3,2,2,3,3,3; b d 3,2,2",
       "the tensor holds elements of type double, want float"},
      {lc, "X f 2,3,5; w f 3,2,3,3",
       "spatial axes of input 0 (X) of shape [2, 3, 5], want one for each of kernels (got 1, want "
       "2)"},
      {"LCGradient X w d -> dw db kernel=3", x + "w f 3,2,2,3,3,3; d f 1,2,3,2",
       "input 2 (dY) has shape [1, 2, 3, 2], want [2, 2, 3, 2]: the shape of the output of the "
       "forward operator"},
      {"LCGradient X w d -> dw db kernel=3", x + "w f 3,2,2,3,3,3; d d 2,2,3,2",
       "the tensor holds elements of type double, want float"},
      {"LCGradient X w d -> dw kernel=3", x + "w f 3,2,2,3,3,3; d f 2,2,3,2",
       "number of outputs is 1, want 2 or 3 without no_bias: dfilter, dbias and dX"},
      {"LCGradient X w -> dw db kernel=3", x + "w f 3,2,2,3,3,3",
       "number of inputs, want X, filter and dY (got 2, want 3)"},
  });
  ExpectShapesRejected(
      {{lc, x + "w f 2,3,2,3,3,3", "input 1 (filter) has shape [2, 3, 2, 3, 3, 3]" + want}});
}

}  // namespace
}  // namespace caffe2rt::test::lc_test
