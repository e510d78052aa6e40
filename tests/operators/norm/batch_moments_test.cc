#include "tests/support/operator_test.h"

namespace caffe2rt::test::batch_moments_test {
namespace {

std::string Moments(const char* order) {
  return std::string(
             R"(type: "BatchMoments" input: "X" output: "M" output: "V" arg { name: "order" s: ")") +
         order + R"(" })";
}

TEST(BatchMomentsTest, AveragesEachChannel) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  RunOp(&ws, Moments("NCHW"));
  // Channels {1, 2, 5, 6} and {3, 4, 7, 8}; squares 66 and 138.
  ExpectTensor<float>(ws, "M", {2}, {3.5f, 5.5f});
  ExpectTensor<float>(ws, "V", {2}, {16.5f, 34.5f});
  ExpectShapeInferred(&ws, Moments("NCHW"));
  RunOp(&ws, Moments("NHWC"));
  // Channels {1, 3, 5, 7} and {2, 4, 6, 8}; squares 84 and 120.
  ExpectTensor<float>(ws, "M", {2}, {4, 5});
  ExpectTensor<float>(ws, "V", {2}, {21, 30});
  ExpectShapeInferred(&ws, Moments("NHWC"));
}

TEST(BatchMomentsTest, SpreadsTheGradients) {
  const char* const gradient =
      R"(type: "BatchMomentsGradient" input: "dM" input: "dV" input: "X" output: "dX")";
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2}, {1, 2, 3, 4});
  Feed<float>(&ws, "dM", {2}, {2, 4});
  Feed<float>(&ws, "dV", {2}, {1, 2});
  RunOp(&ws, gradient);
  // (dM + 2 * dV * X) / 2
  ExpectTensor<float>(ws, "dX", {2, 2}, {2, 6, 4, 10});
  Feed<float>(&ws, "dM", {1}, {2});
  ExpectThrows([&] { RunOp(&ws, gradient); }, "elements of input 0, want the channels of input 2");
}

TEST(BatchMomentsTest, RejectsVectors) {
  Workspace ws;
  Feed<float>(&ws, "X", {2}, {1, 2});
  ExpectThrows([&] { RunOp(&ws, Moments("NCHW")); }, "rank of input 0 (X) of shape [2]");
}

}  // namespace
}  // namespace caffe2rt::test::batch_moments_test
