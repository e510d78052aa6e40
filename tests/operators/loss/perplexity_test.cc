#include "tests/support/operator_test.h"

namespace caffe2rt::test::perplexity_test {
namespace {

const char* const kPerplexity = R"(type: "Perplexity" input: "P" output: "Y")";

TEST(PerplexityTest, IsTheInverseGeometricMean) {
  Workspace ws;
  Feed<float>(&ws, "P", {2}, {0.5f, 0.125f});
  RunOp(&ws, kPerplexity);
  ExpectTensor<float>(ws, "Y", {}, {4});  // 1 / sqrt(1/16)
  ExpectShapeInferred(&ws, kPerplexity);
  Feed<float>(&ws, "P", {0}, {});
  RunOp(&ws, kPerplexity);
  ExpectTensor<float>(ws, "Y", {}, {1});
}

TEST(PerplexityTest, RejectsScalarsAndOtherTypes) {
  Workspace ws;
  Feed<float>(&ws, "P", {}, {0.5f});
  ExpectThrows([&] { RunOp(&ws, kPerplexity); },
               "rank of input 0 (probabilities), want at least 1");
  Feed<double>(&ws, "P", {1}, {0.5});
  ExpectThrows([&] { RunOp(&ws, kPerplexity); }, "double");
}

}  // namespace
}  // namespace caffe2rt::test::perplexity_test
