#include <limits>

#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::roi_pool_test {
namespace {

constexpr float kLowest = std::numeric_limits<float>::lowest();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::string Pool(const std::string& type, const std::string& args) {
  return "type: \"" + type + R"(" input: "X" input: "R" output: "Y" output: "A" )" + args;
}
const char* const kBins = R"(arg { name: "pooled_h" i: 2 } arg { name: "pooled_w" i: 2 } )";

class RoIPoolTypesTest : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Types, RoIPoolTypesTest, testing::Values("RoIPool", "RoIPoolF"));

TEST_P(RoIPoolTypesTest, TakesTheLargestElementOfEachBin) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 2, 4, 5}, 19, -1);  // descending: the first element of a bin
  // 3 x 3 pixels from (1, 0): bins of 1.5 pixels, which touch 2 each. Then one pixel.
  Feed<float>(&ws, "R", {2, 5}, {0, 1, 0, 3, 2, 0, 4, 3, 4, 3});
  RunOp(&ws, Pool(GetParam(), kBins));
  ExpectTensor<int32_t>(ws, "A", {2, 2, 2, 2},
                        {1, 2, 6, 7, 1, 2, 6, 7, 19, 19, 19, 19, 19, 19, 19, 19});
  ExpectTensor<float>(ws, "Y", {2, 2, 2, 2},
                      {18, 17, 13, 12, -2, -3, -7, -8, 0, 0, 0, 0, -20, -20, -20, -20});
  ExpectShapeInferred(&ws, Pool(GetParam(), kBins));
}

TEST_P(RoIPoolTypesTest, RoundsRoIsAndClipsBins) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 1, 4, 4});
  // Scaled by 0.5 and rounded away from 0: (1, 1) to (2, 2) of image 1; inverted; outside; huge.
  Feed<float>(&ws, "R", {4, 5}, {1, 1,  1,  4.9f, 4.9f, 0, 6,      6,      1,     1,
                                 0, 90, 90, 95,   95,   0, -1e30f, -1e30f, 1e30f, 1e30f});
  RunOp(&ws, Pool(GetParam(), R"(arg { name: "spatial_scale" f: 0.5 })"));
  ExpectTensor<float>(ws, "Y", {4, 1, 1, 1}, {26, 15, 0, 15});
  ExpectTensor<int32_t>(ws, "A", {4, 1, 1, 1}, {10, 15, -1, 15});
}

TEST_P(RoIPoolTypesTest, IgnoresNaN) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 2, 1, 2}, {kNaN, -3, kNaN, kNaN});
  Feed<float>(&ws, "R", {1, 5}, {0, 0, 0, 1, 0});
  RunOp(&ws, Pool(GetParam(), ""));
  ExpectTensor<float>(ws, "Y", {1, 2, 1, 1}, {-3, kLowest});
  ExpectTensor<int32_t>(ws, "A", {1, 2, 1, 1}, {1, -1});
}

TEST_P(RoIPoolTypesTest, TakesEmptyTensors) {
  Workspace ws;
  FeedRandom(&ws, "X", {1, 2, 3, 3});
  Feed<float>(&ws, "R", {0, 5}, {});
  RunOp(&ws, Pool(GetParam(), kBins));
  ExpectTensor<float>(ws, "Y", {0, 2, 2, 2}, {});
  ExpectTensor<int32_t>(ws, "A", {0, 2, 2, 2}, {});
  Feed<float>(&ws, "X", {1, 2, 0, 3}, {});
  Feed<float>(&ws, "R", {1, 5}, {0, 0, 0, 1, 1});
  RunOp(&ws, Pool(GetParam(), ""));
  ExpectTensor<float>(ws, "Y", {1, 2, 1, 1}, {0, 0});
  ExpectTensor<int32_t>(ws, "A", {1, 2, 1, 1}, {-1, -1});
}

TEST_P(RoIPoolTypesTest, GradientGoesToTheLargestElements) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 1, 2, 3});
  Feed<float>(&ws, "R", {3, 5}, {1, 0, 0, 2, 1, 1, 2, 1, 2, 1, 0, 0, 0, 0, 0});
  Feed<int32_t>(&ws, "A", {3, 1, 1, 2}, {4, 5, 5, -1, 0, 0});
  Feed<float>(&ws, "dY", {3, 1, 1, 2}, {1, 2, 3, 4, 5, 6});
  const std::string gradient =
      std::string("type: \"") + GetParam() +
      R"(Gradient" input: "X" input: "R" input: "A" input: "dY" output: "dX" arg { name: "pooled_w" i: 2 })";
  RunOp(&ws, gradient);
  ExpectTensor<float>(ws, "dX", {2, 1, 2, 3}, {11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 5});
  ExpectShapeInferred(&ws, gradient);
  EXPECT_EQ(DescribeGradient(Pool(GetParam(), "")),
            std::string(GetParam()) + "Gradient(X,R,A,Y_grad)->X_grad | X_grad -");
}

TEST_P(RoIPoolTypesTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedRandom(&ws, "X", {1, 1, 2, 2});
  const auto expect = [&](const std::vector<float>& roi, const std::string& args,
                          const std::string& part) {
    Feed<float>(&ws, "R", {1, static_cast<int64_t>(roi.size())}, roi);
    ExpectThrows([&] { RunOp(&ws, Pool(GetParam(), args)); }, part);
  };
  expect({1, 0, 0, 1, 1}, "", "of an image that does not exist, want at least 0 and below 1");
  expect({0, 0, kNaN, 1, 1}, "", "is not finite");
  expect({0, 0, 1, 1}, "", "input 1 (RoIs) has shape [1, 4], want 5 columns");
  expect({0, 0, 0, 1, 1}, R"(arg { name: "pooled_w" i: 0 })", "want above 0");
  expect({0, 0, 0, 1, 1}, R"(arg { name: "spatial_scale" f: 0 })", "want finite and above 0");
  FeedRandom(&ws, "X", {1, 2, 2});
  expect({0, 0, 0, 1, 1}, "", "rank of input 0 (X)");
}

TEST(RoIPoolTest, RejectsArgmaxesOutOfRange) {
  Workspace ws;
  FeedRandom(&ws, "X", {1, 1, 2, 2});
  Feed<float>(&ws, "R", {1, 5}, {0, 0, 0, 1, 1});
  FeedRandom(&ws, "dY", {1, 1, 1, 1});
  for (const int32_t argmax : {-2, 4}) {
    Feed<int32_t>(&ws, "A", {1, 1, 1, 1}, {argmax});
    ExpectThrows(
        [&] {
          RunOp(
              &ws,
              R"(type: "RoIPoolGradient" input: "X" input: "R" input: "A" input: "dY" output: "dX")");
        },
        "want -1 to 3");
  }
}

TEST(RoIPoolTest, HasNoArgmaxesInTests) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 2, 2});
  Feed<float>(&ws, "R", {1, 5}, {0, 0, 0, 1, 1});
  const std::string one = R"(type: "RoIPool" input: "X" input: "R" output: "Y" )";
  RunOp(&ws, one + R"(arg { name: "is_test" i: 1 })");
  ExpectTensor<float>(ws, "Y", {1, 1, 1, 1}, {3});
  ExpectShapeInferred(&ws, one + R"(arg { name: "is_test" i: 1 })");
  ExpectThrows([&] { RunOp(&ws, one); }, "number of outputs is 1, want 2 without argument is_test");
  ExpectThrows([&] { RunOp(&ws, Pool("RoIPool", R"(arg { name: "is_test" i: 1 })")); },
               "number of outputs is 2, want 1 with argument is_test");
  ExpectThrows([&] { RunOp(&ws, Pool("RoIPool", R"(arg { name: "order" s: "NHWC" })")); },
               "argument order is NHWC, want NCHW");
}

}  // namespace
}  // namespace caffe2rt::test::roi_pool_test
