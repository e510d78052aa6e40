// Values recorded from the original, unless they are worked out by hand.
#include <string>

#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::im2col_test {
namespace {

std::string Arg(const std::string& name, int value) {
  return "arg { name: \"" + name + "\" i: " + std::to_string(value) + " } ";
}

std::string Columns(const std::string& args) {
  return R"(type: "Im2Col" input: "X" output: "Y" )" + args;
}
std::string Images(const std::string& args) {
  return R"(type: "Col2Im" input: "C" input: "X" output: "Y" )" + args;
}
const char* const kNhwc = R"(arg { name: "order" s: "NHWC" } )";

TEST(Im2ColTest, CopiesTheElementsOfEachWindow) {
  Workspace ws;
  const auto expect = [&](const std::string& args, const std::vector<int64_t>& dims,
                          const std::vector<float>& want) {
    RunOp(&ws, Columns(args));
    ExpectTensor<float>(ws, "Y", dims, want);
    ExpectShapeInferred(&ws, Columns(args));
  };
  FeedRange<float>(&ws, "X", {1, 1, 3, 3}, 1);
  expect(Arg("kernel", 2), {1, 4, 2, 2}, {1, 2, 4, 5, 2, 3, 5, 6, 4, 5, 7, 8, 5, 6, 8, 9});
  expect(Arg("kernel", 3) + Arg("pad", 1) + Arg("stride", 2), {1, 9, 2, 2},
         {0, 0, 0, 5, 0, 0, 4, 6, 0, 0, 5, 0, 0, 2, 0, 8, 1, 3,
          7, 9, 2, 0, 8, 0, 0, 5, 0, 0, 4, 6, 0, 0, 5, 0, 0, 0});
  expect(Arg("kernel", 2) + Arg("dilation", 2), {1, 4, 1, 1}, {1, 3, 7, 9});
  expect(Arg("kernel_h", 1) + Arg("kernel_w", 3) + Arg("stride_h", 2), {1, 3, 2, 1},
         {1, 7, 2, 8, 3, 9});
  FeedRange<float>(&ws, "X", {1, 3, 3, 2}, 1);
  expect(Arg("kernel", 2) + kNhwc, {1, 2, 2, 8},
         {1, 2, 3, 4,  7,  8,  9,  10, 3, 4,  5,  6,  9,  10, 11, 12,
          7, 8, 9, 10, 13, 14, 15, 16, 9, 10, 11, 12, 15, 16, 17, 18});
  Feed<float>(&ws, "X", {0, 1, 3, 3}, {});
  expect(Arg("kernel", 2), {0, 4, 2, 2}, {});
  FeedRange<float>(&ws, "X", {2, 2, 1, 2}, 1);
  expect(Arg("kernel", 1), {2, 2, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
}

TEST(Col2ImTest, AddsTheElementsOfEachWindow) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 4, 4}, 1);
  FeedRange<float>(&ws, "C", {1, 4, 3, 3}, 0);
  RunOp(&ws, Images(Arg("kernel", 2)));
  const std::vector<float> sums = Fetch<float>(ws, "Y");
  EXPECT_EQ(std::vector<float>(sums.begin(), sums.begin() + 8),
            (std::vector<float>{0, 10, 12, 11, 21, 62, 66, 43}));
  ExpectShapeInferred(&ws, Images(Arg("kernel", 2)));
  FeedRange<float>(&ws, "X", {1, 4, 4, 1}, 1);
  FeedRange<float>(&ws, "C", {1, 3, 3, 4}, 0);
  RunOp(&ws, Images(Arg("kernel", 2) + kNhwc));
  const std::vector<float> last = Fetch<float>(ws, "Y");
  EXPECT_EQ(std::vector<float>(last.begin(), last.begin() + 8),
            (std::vector<float>{0, 5, 13, 9, 14, 38, 54, 32}));
  Feed<float>(&ws, "X", {0, 1, 3, 3}, {});
  Feed<float>(&ws, "C", {0, 4, 2, 2}, {});
  RunOp(&ws, Images(Arg("kernel", 2)));
  ExpectTensor<float>(ws, "Y", {0, 1, 3, 3}, {});
}

// Windows of two rows that are 2 apart and two columns, at every second column.
TEST(Im2ColTest, HasStridesAndDilationsOfEachAxis) {
  const std::string args = Arg("kernel", 2) + Arg("dilation_h", 2) + Arg("dilation_w", 1) +
                           Arg("stride_h", 1) + Arg("stride_w", 2);
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 3, 4}, 1);
  RunOp(&ws, Columns(args));
  ExpectTensor<float>(ws, "Y", {1, 4, 1, 2}, {1, 3, 2, 4, 9, 11, 10, 12});
  FeedRange<float>(&ws, "C", {1, 4, 1, 2}, 1);
  RunOp(&ws, Images(args));
  ExpectTensor<float>(ws, "Y", {1, 1, 3, 4}, {1, 3, 2, 4, 0, 0, 0, 0, 5, 7, 6, 8});
  FeedRange<float>(&ws, "X", {1, 3, 4, 1}, 1);
  RunOp(&ws, Columns(args + kNhwc));
  ExpectTensor<float>(ws, "Y", {1, 1, 2, 4}, {1, 2, 9, 10, 3, 4, 11, 12});
  FeedRange<float>(&ws, "C", {1, 1, 2, 4}, 1);
  RunOp(&ws, Images(args + kNhwc));
  ExpectTensor<float>(ws, "Y", {1, 3, 4, 1}, {1, 2, 5, 6, 0, 0, 0, 0, 3, 4, 7, 8});
  FeedRange<float>(&ws, "X", {1, 1, 3, 2}, 1);
  FeedRange<float>(&ws, "C", {1, 1, 2, 2}, 1);
  RunOp(&ws, Images(Arg("kernel", 1) + Arg("stride_h", 2) + Arg("stride_w", 1)));
  ExpectTensor<float>(ws, "Y", {1, 1, 3, 2}, {1, 2, 0, 0, 3, 4});
  // Each element of the image is in a corner of one window.
  FeedRange<float>(&ws, "X", {1, 1, 2, 2}, 1);
  FeedRange<float>(&ws, "C", {1, 4, 2, 2}, 0);
  RunOp(&ws, Images(Arg("kernel", 2) + Arg("pad", 1) + Arg("stride", 2)));
  ExpectTensor<float>(ws, "Y", {1, 1, 2, 2}, {12, 9, 6, 3});
}

TEST(Im2ColTest, RejectsOtherShapesAndArguments) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 3, 4});
  const auto columns = [&](const std::string& args) {
    return [&ws, args] { RunOp(&ws, Columns(args)); };
  };
  ExpectThrows(columns(""), "argument kernel (kernel_h)");
  ExpectThrows(columns(Arg("kernel", 2) + Arg("stride", 0)), "argument stride (stride_h)");
  ExpectThrows(columns(Arg("kernel", 2) + Arg("pad", -1)),
               "argument \"pad\" is -1, want 0 or more");
  ExpectThrows(columns(Arg("kernel", 4)),
               "dim 2 of X of shape [1, 1, 3, 4] with its padding, want at least the extent of the "
               "window (got 3, want at least 4)");
  FeedRange<float>(&ws, "C", {1, 4, 2, 2});
  ExpectThrows(
      [&] { RunOp(&ws, Images(Arg("kernel", 2))); },
      "input 0 (columns) has shape [1, 4, 2, 2], want [1, 4, 2, 3]: the windows of input 1 "
      "(X) of shape [1, 1, 3, 4]");
  FeedRange<float>(&ws, "X", {1, 3, 4});
  ExpectThrows(columns(Arg("kernel", 2)), "rank of X of shape [1, 3, 4], want images");
}

TEST(Im2ColTest, IsTheGradientOfCol2Im) {
  EXPECT_EQ(DescribeGradient(Columns(Arg("kernel", 2))),
            "Col2Im(Y_grad,X)->X_grad kernel=2 | X_grad");
  EXPECT_EQ(DescribeGradient(Images(Arg("kernel", 2))),
            "Im2Col(Y_grad)->C_grad kernel=2 | C_grad -");
}

}  // namespace
}  // namespace caffe2rt::test::im2col_test
