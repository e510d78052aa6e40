#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::sample_as_test {
namespace {

const std::string kSample = R"(type: "SampleAs" input: "X" input: "L" output: "Y")";
const std::string kSampleGradient =
    R"(type: "SampleAsGradient" input: "X" input: "L" input: "dY" output: "dX")";

TEST(SampleAsTest, SelectsItemsWhoseLabelIsAboveZero) {
  Workspace ws;
  Feed<float>(&ws, "X", {6, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  Feed<int32_t>(&ws, "L", {6}, {0, 1, 80, -1, 0, 2});
  RunOp(&ws, kSample);
  ExpectTensor<float>(ws, "Y", {3, 2}, {3, 4, 5, 6, 11, 12});
  ExpectShapeInferred(&ws, kSample, true);
  Feed<float>(&ws, "dY", {3, 2}, {1, 2, 3, 4, 5, 6});
  RunOp(&ws, kSampleGradient);
  ExpectTensor<float>(ws, "dX", {6, 2}, {0, 0, 1, 2, 3, 4, 0, 0, 0, 0, 5, 6});
  ExpectShapeInferred(&ws, kSampleGradient);
  // Other labels in the same operator's blobs.
  Feed<int32_t>(&ws, "L", {6}, {5, 5, 5, 5, 5, 5});
  RunOp(&ws, kSample);
  ExpectTensor<float>(ws, "Y", {6, 2}, Fetch<float>(ws, "X"));
}

TEST(SampleAsTest, MaySelectNothing) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 3});
  Feed<int32_t>(&ws, "L", {2}, {0, -1});
  RunOp(&ws, kSample);
  ExpectTensor<float>(ws, "Y", {0, 3}, {});
  Feed<float>(&ws, "dY", {0, 3}, {});
  RunOp(&ws, kSampleGradient);
  ExpectTensor<float>(ws, "dX", {2, 3}, {0, 0, 0, 0, 0, 0});
  for (const std::vector<int64_t>& dims : std::vector<std::vector<int64_t>>{{0, 3}, {2, 0}}) {
    Feed<float>(&ws, "X", dims, {});
    FeedRange<int32_t>(&ws, "L", {dims[0]}, 1);
    RunOp(&ws, kSample);
    ExpectTensor<float>(ws, "Y", dims, {});
    Feed<float>(&ws, "dY", dims, {});
    RunOp(&ws, kSampleGradient);
    ExpectTensor<float>(ws, "dX", dims, {});
  }
}

TEST(SampleAsTest, SelectsItemsOfAnyType) {
  Workspace ws;
  Feed<int32_t>(&ws, "L", {3}, {1, 0, 1});
  Feed<std::string>(&ws, "X", {3, 2}, {"a", "b", "c", "d", "e", "f"});
  RunOp(&ws, kSample);
  ExpectTensor<std::string>(ws, "Y", {2, 2}, {"a", "b", "e", "f"});
  Feed<uint8_t>(&ws, "X", {3}, {7, 8, 9});
  RunOp(&ws, kSample);
  ExpectTensor<uint8_t>(ws, "Y", {2}, {7, 9});
}

TEST(SampleAsTest, HasTheDerivativeAsGradient) {
  Workspace ws;
  FeedRandom(&ws, "X", {4, 2, 1});
  Feed<int32_t>(&ws, "L", {4}, {0, 1, 0, 2});
  ExpectGradientMatches(&ws, kSample);
  EXPECT_EQ(DescribeGradient(kSample), "SampleAsGradient(X,L,Y_grad)->X_grad | X_grad -");
}

TEST(SampleAsTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  FeedRandom(&ws, "X", {3, 2});
  Feed<int32_t>(&ws, "L", {2}, {1, 1});
  ExpectThrows([&] { RunOp(&ws, kSample); },
               "elements of input 1 (labels) of shape [2], want one for each item of input 0 (X) "
               "of shape [3, 2]");
  Feed<int32_t>(&ws, "L", {3}, {1, 0, 1});
  FeedRandom(&ws, "dY", {3, 2});
  ExpectThrows([&] { RunOp(&ws, kSampleGradient); }, "input 2 (dY) has shape [3, 2], want [2, 2]");
  FeedRandom(&ws, "X", {});
  ExpectThrows([&] { RunOp(&ws, kSample); }, "rank of input 0 (X)");
  FeedRandom(&ws, "X", {3});
  FeedRandom(&ws, "L", {3});
  ExpectThrows([&] { RunOp(&ws, kSample); }, "int");
}

}  // namespace
}  // namespace caffe2rt::test::sample_as_test
