#include "tests/support/operator_test.h"

namespace caffe2rt::test::learning_rate_adaption_test {
namespace {

constexpr char kAdapt[] = R"(type: "LearningRateAdaption" input: "L" input: "G" input: "E"
                             output: "L" arg { name: "lr_alpha" f: 0.5 })";

TEST(LearningRateAdaptionTest, FollowsTheCosineOrTheDotProduct) {
  Workspace ws;
  Feed<float>(&ws, "L", {1}, {2});
  Feed<float>(&ws, "G", {2}, {3, 4});
  Feed<float>(&ws, "E", {2}, {4, 3});
  // The dot product is 24, the cosine 24 / 25.
  RunOp(&ws, kAdapt);
  ExpectTensor<float>(ws, "L", {1}, {1.04f}, 1e-6);
  RunOp(&ws, std::string(kAdapt) + R"( arg { name: "normalized_lr_adaption" i: 0 })");
  ExpectTensor<float>(ws, "L", {1}, {1.04f - 12}, 1e-6);
  ExpectShapeInferred(&ws, kAdapt);
}

TEST(LearningRateAdaptionTest, AcceptsZerosAndRejectsOtherSizes) {
  Workspace ws;
  Feed<float>(&ws, "L", {1}, {2});
  Feed<float>(&ws, "G", {0}, {});
  Feed<float>(&ws, "E", {0}, {});
  RunOp(&ws, kAdapt);
  ExpectTensor<float>(ws, "L", {1}, {2});
  Feed<float>(&ws, "E", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, kAdapt); }, "elements of input 2 (effgrad) of shape [1]");
  Feed<float>(&ws, "L", {2}, {2, 2});
  ExpectThrows([&] { RunOp(&ws, kAdapt); }, "elements of input 0 (lr) of shape [2]");
}

}  // namespace
}  // namespace caffe2rt::test::learning_rate_adaption_test
