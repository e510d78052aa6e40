#include "caffe2_core/base/thread_pool.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::spatial_bn_fusion_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRandom;
using test::Fetch;
using test::RunOp;

std::string Fusion(const std::string& activation, const std::string& y = "Y", int is_test = 1) {
  return R"(type: "SpatialBNFusion" input: "X" input: "s" input: "b" input: "m" input: "v"
            arg { name: "epsilon" f: 1 } output: ")" +
         y + R"(" arg { name: "activation" s: ")" + activation +
         MakeString(R"(" } arg { name: "is_test" i: )", is_test, " } ");
}
const std::string kRelu = Fusion("Relu");

// With these parameters, the outputs of the two channels before the activation are
// (x - 1) / sqrt(3 + 1) * 2 + 10 = x + 9 and (x - 2) / sqrt(15 + 1) * 4 - 1 = x - 3.
void FeedParameters(Workspace* ws) {
  Feed<float>(ws, "s", {2}, {2, 4});
  Feed<float>(ws, "b", {2}, {10, -1});
  Feed<float>(ws, "m", {2}, {1, 2});
  Feed<float>(ws, "v", {2}, {3, 15});
}

TEST(SpatialBNFusionTest, AppliesTheActivationToTheNormalizedValues) {
  Workspace ws;
  FeedParameters(&ws);
  Feed<float>(&ws, "X", {1, 2, 1, 3}, {-10, -9, 1, 2, 3, 5});
  RunOp(&ws, kRelu);
  ExpectTensor<float>(ws, "Y", {1, 2, 1, 3}, {0, 0, 10, 0, 0, 2}, 1e-6);
  ExpectShapeInferred(&ws, kRelu);
  RunOp(&ws, Fusion("LeakyRelu") + R"(arg { name: "activation_alpha" f: 0.5 })");
  ExpectTensor<float>(ws, "Y", {1, 2, 1, 3}, {-0.5f, 0, 10, -0.5f, 0, 2}, 1e-6);
  RunOp(&ws, Fusion("Relu", "X"));  // in place
  ExpectTensor<float>(ws, "X", {1, 2, 1, 3}, {0, 0, 10, 0, 0, 2}, 1e-6);
}

TEST(SpatialBNFusionTest, TreatsTheLastAxisAsChannelsInNhwc) {
  Workspace ws;
  FeedParameters(&ws);
  Feed<float>(&ws, "X", {1, 3, 2}, {-10, 2, -9, 3, 1, 5});
  RunOp(&ws, kRelu + R"(arg { name: "order" s: "NHWC" })");
  ExpectTensor<float>(ws, "Y", {1, 3, 2}, {0, 0, 0, 0, 10, 2}, 1e-6);
}

TEST(SpatialBNFusionTest, ReturnsAnEmptyResultForAnEmptyBatch) {
  Workspace ws;
  FeedParameters(&ws);
  Feed<float>(&ws, "X", {0, 2, 4, 4}, {});
  RunOp(&ws, kRelu);
  ExpectTensor<float>(ws, "Y", {0, 2, 4, 4}, {});
}

TEST(SpatialBNFusionTest, ReturnsTheSameBitsOnTwoThreads) {
  Workspace ws;
  for (const char* name : {"s", "b", "m"}) FeedRandom(&ws, name, {19}, -1, 1, 2);
  FeedRandom(&ws, "v", {19}, 0.5f, 2, 3);
  FeedRandom(&ws, "X", {3, 19, 31, 33}, -2, 2, 4);
  RunOp(&ws, Fusion("Elu"));
  const std::vector<float> want = Fetch<float>(ws, "Y");
  SetNumThreads(2);
  RunOp(&ws, Fusion("Elu"));
  SetNumThreads(1);
  ExpectTensor<float>(ws, "Y", {3, 19, 31, 33}, want);
}

TEST(SpatialBNFusionTest, RejectsWhatItCannotCompute) {
  Workspace ws;
  FeedParameters(&ws);
  FeedRandom(&ws, "X", {1, 2, 4, 4});
  ExpectThrows([&] { RunOp(&ws, Fusion("Relu", "Y", 0)); }, "is_test");
  ExpectThrows([&] { RunOp(&ws, Fusion("Rely")); }, "activation");
  FeedRandom(&ws, "X", {1, 3, 4, 4});
  ExpectThrows([&] { RunOp(&ws, kRelu); }, "input 1 (scale)");
}

}  // namespace
}  // namespace caffe2rt::spatial_bn_fusion_test
