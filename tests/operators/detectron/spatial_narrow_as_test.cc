#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::spatial_narrow_as_test {
namespace {

const std::string kNarrow = R"(type: "SpatialNarrowAs" input: "A" input: "B" output: "C")";
const std::string kNarrowGradient =
    R"(type: "SpatialNarrowAsGradient" input: "A" input: "B" input: "dC" output: "dA")";

TEST(SpatialNarrowAsTest, RemovesRowsAndColumns) {
  Workspace ws;
  FeedRange<float>(&ws, "A", {1, 2, 2, 3});
  FeedRandom(&ws, "B", {1, 2, 1, 2});
  RunOp(&ws, kNarrow);
  ExpectTensor<float>(ws, "C", {1, 2, 1, 2}, {0, 1, 6, 7});
  ExpectShapeInferred(&ws, kNarrow);
  Feed<float>(&ws, "dC", {1, 2, 1, 2}, {1, 2, 3, 4});
  RunOp(&ws, kNarrowGradient);
  ExpectTensor<float>(ws, "dA", {1, 2, 2, 3}, {1, 2, 0, 0, 0, 0, 3, 4, 0, 0, 0, 0});
  ExpectShapeInferred(&ws, kNarrowGradient);
}

TEST(SpatialNarrowAsTest, AcceptsImagesWithoutChannels) {
  Workspace ws;
  FeedRange<int32_t>(&ws, "A", {2, 2, 2});
  FeedRandom(&ws, "B", {2, 5, 2, 1});
  RunOp(&ws, kNarrow);
  ExpectTensor<int32_t>(ws, "C", {2, 2, 1}, {0, 2, 4, 6});
  ExpectShapeInferred(&ws, kNarrow);
  Feed<int32_t>(&ws, "dC", {2, 2, 1}, {1, 2, 3, 4});
  RunOp(&ws, kNarrowGradient);
  ExpectTensor<int32_t>(ws, "dA", {2, 2, 2}, {1, 0, 2, 0, 3, 0, 4, 0});
  FeedRandom(&ws, "B", {2, 1, 1});
  FeedRange<float>(&ws, "A", {2, 3, 1, 2});
  RunOp(&ws, kNarrow);
  ExpectTensor<float>(ws, "C", {2, 3, 1, 1}, {0, 2, 4, 6, 8, 10});
}

// Every size of a window, against loops.
TEST(SpatialNarrowAsTest, CopiesTheWindowOfEveryPlane) {
  constexpr int64_t kPlanes = 6, kHeight = 3, kWidth = 4;
  Workspace ws;
  FeedRandom(&ws, "A", {2, 3, kHeight, kWidth});
  const std::vector<float> a = Fetch<float>(ws, "A");
  for (int64_t height = 0; height <= kHeight; ++height) {
    for (int64_t width = 0; width <= kWidth; ++width) {
      FeedRandom(&ws, "B", {2, 3, height, width});
      RunOp(&ws, kNarrow);
      std::vector<float> c, da;
      for (int64_t plane = 0; plane < kPlanes; ++plane) {
        for (int64_t y = 0; y < kHeight; ++y) {
          for (int64_t x = 0; x < kWidth; ++x) {
            const float value = a[static_cast<size_t>((plane * kHeight + y) * kWidth + x)];
            const bool is_kept = y < height && x < width;
            if (is_kept) c.push_back(value);
            da.push_back(is_kept ? value : 0);
          }
        }
      }
      ExpectTensor<float>(ws, "C", {2, 3, height, width}, c);
      Feed<float>(&ws, "dC", {2, 3, height, width}, c);
      RunOp(&ws, kNarrowGradient);
      ExpectTensor<float>(ws, "dA", {2, 3, kHeight, kWidth}, da);
    }
  }
}

TEST(SpatialNarrowAsTest, AcceptsEmptyTensors) {
  Workspace ws;
  for (const std::vector<int64_t>& dims :
       std::vector<std::vector<int64_t>>{{0, 3, 2, 2}, {2, 0, 2, 2}, {2, 3, 0, 2}, {2, 3, 2, 0}}) {
    Feed<float>(&ws, "A", dims, {});
    Feed<float>(&ws, "B", dims, {});
    RunOp(&ws, kNarrow);
    ExpectTensor<float>(ws, "C", dims, {});
    Feed<float>(&ws, "dC", dims, {});
    RunOp(&ws, kNarrowGradient);
    ExpectTensor<float>(ws, "dA", dims, {});
  }
}

TEST(SpatialNarrowAsTest, HasTheDerivativeAsGradient) {
  Workspace ws;
  FeedRandom(&ws, "A", {2, 2, 3, 2});
  FeedRandom(&ws, "B", {2, 2, 2, 1});
  ExpectGradientMatches(&ws, kNarrow);
  EXPECT_EQ(DescribeGradient(kNarrow), "SpatialNarrowAsGradient(A,B,C_grad)->A_grad | A_grad -");
}

TEST(SpatialNarrowAsTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  FeedRandom(&ws, "A", {2, 3, 4, 5});
  for (const std::vector<int64_t>& dims :
       std::vector<std::vector<int64_t>>{{1, 3, 4, 5}, {2, 3, 5, 5}, {2, 3, 4, 6}}) {
    FeedRandom(&ws, "B", dims);
    ExpectThrows([&] { RunOp(&ws, kNarrow); },
                 "want the same N and images that are not larger than those of A");
  }
  FeedRandom(&ws, "B", {2, 3, 1, 1});
  FeedRandom(&ws, "dC", {2, 3, 1, 2});
  ExpectThrows([&] { RunOp(&ws, kNarrowGradient); },
               "input 2 (dC) has shape [2, 3, 1, 2], want [2, 3, 1, 1]");
  FeedRandom(&ws, "B", {2, 3, 2, 3});
  for (const std::vector<int64_t>& dims :  // as many elements
       std::vector<std::vector<int64_t>>{{2, 3, 3, 2}, {3, 2, 2, 3}, {2, 3, 6}, {36}}) {
    FeedRandom(&ws, "dC", dims);
    ExpectThrows([&] { RunOp(&ws, kNarrowGradient); },
                 MakeString("input 2 (dC) has shape ", IntArrayRef(dims), ", want [2, 3, 2, 3]"));
  }
  FeedRandom(&ws, "B", {2, 3});
  ExpectThrows([&] { RunOp(&ws, kNarrow); }, "input 1 (B) has shape [2, 3], want [N, C, H, W]");
  FeedRandom(&ws, "A", {2, 3});
  ExpectThrows([&] { RunOp(&ws, kNarrow); }, "input 0 (A) has shape [2, 3], want [N, C, H, W]");
  Feed<int64_t>(&ws, "A", {1, 1, 1}, {1});
  ExpectThrows([&] { RunOp(&ws, kNarrow); }, "Unsupported type of tensor: input 0 (A)");
}

}  // namespace
}  // namespace caffe2rt::test::spatial_narrow_as_test
