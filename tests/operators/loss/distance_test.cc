#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::distance_test {
namespace {

const char* const kTypes[] = {"SquaredL2Distance", "L1Distance", "DotProduct", "CosineSimilarity"};

std::string Forward(const std::string& type) {
  return "type: \"" + type + R"(" input: "X" input: "Y" output: "Z")";
}
std::string Gradient(const std::string& type) {
  return "type: \"" + type +
         R"(Gradient" input: "X" input: "Y" input: "dZ" output: "dX" output: "dY")";
}

// X - Y = [-3 4] and [2 0], |X| = |Y| = 5 in the first row, 2 and 0 in the second.
struct Case {
  const char* type;
  std::vector<float> z, dx, dy;  // for dZ = [10 -1]
};
const Case kCases[] = {
    {"SquaredL2Distance", {1, 10}, {10, -10, -2, -4}, {-10, 10, 2, 4}},
    {"L1Distance", {2, 6}, {10, -10, -1, -1}, {-10, 10, 1, 1}},
    {"DotProduct", {24, 0}, {30, 40, 0, 0}, {40, 30, -2, -4}},
};

TEST(DistanceTest, ComparesEachPairOfRows) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.type);
    Workspace ws;
    Feed<float>(&ws, "X", {2, 2}, {4, 3, 2, 4});
    Feed<float>(&ws, "Y", {2, 2}, {3, 4, 0, 0});
    Feed<float>(&ws, "dZ", {2}, {10, -1});
    RunOp(&ws, Forward(c.type));
    ExpectTensor<float>(ws, "Z", {2}, c.z);
    ExpectShapeInferred(&ws, Forward(c.type));
    RunOp(&ws, Gradient(c.type));
    ExpectTensor<float>(ws, "dX", {2, 2}, c.dx);
    ExpectTensor<float>(ws, "dY", {2, 2}, c.dy);
    ExpectShapeInferred(&ws, Gradient(c.type));
  }
}

// cos = 24 / 25 for |X| = |Y| = 5; the gradient of X is Y / 25 - cos X / 25.
TEST(CosineSimilarityTest, IsTheCosineAndZeroForZeroVectors) {
  Workspace ws;
  Feed<float>(&ws, "X", {3, 2}, {4, 3, 0, 0, -2, 0});
  Feed<float>(&ws, "Y", {3, 2}, {3, 4, 1, 2, 5, 0});
  Feed<float>(&ws, "dZ", {3}, {625, 1, 1});
  RunOp(&ws, Forward("CosineSimilarity"));
  ExpectTensor<float>(ws, "Z", {3}, {0.96f, 0, -1}, 1e-6);
  RunOp(&ws, Gradient("CosineSimilarity"));
  const float big = 1e6f / std::sqrt(5.0f);  // the norm of a zero vector counts as 1e-6
  ExpectTensor<float>(ws, "dX", {3, 2}, {-21, 28, big, 2 * big, 0, 0}, 1e-5);
  ExpectTensor<float>(ws, "dY", {3, 2}, {28, -21, 0, 0, 0, 0}, 1e-5);
}

TEST(DistanceTest, AcceptsScalarsVectorsAndEmptyRows) {
  for (const char* type : kTypes) {
    SCOPED_TRACE(type);
    Workspace ws;
    for (const std::vector<int64_t>& dims :
         std::vector<std::vector<int64_t>>{{}, {5}, {3, 1, 2}, {0, 4}, {3, 0}, {2, 3, 0}}) {
      FeedRandom(&ws, "X", dims, 0.5f, 1, 1);
      FeedRandom(&ws, "Y", dims, -1, -0.5f, 2);
      RunOp(&ws, Forward(type));
      const bool none = std::string(type) == "DotProduct" && dims.size() > 1 && dims.back() == 0;
      const int64_t rows = dims.empty() ? 1 : none ? 0 : dims[0];
      EXPECT_EQ(DimsOf(ws, "Z"), std::vector<int64_t>{rows});
      ExpectShapeInferred(&ws, Forward(type));
      FeedRandom(&ws, "dZ", {rows});
      RunOp(&ws, Gradient(type));
      EXPECT_EQ(DimsOf(ws, "dX"), dims);
      EXPECT_EQ(DimsOf(ws, "dY"), dims);
      ExpectShapeInferred(&ws, Gradient(type));
    }
  }
  Workspace ws;
  Feed<float>(&ws, "X", {2, 0}, {});
  Feed<float>(&ws, "Y", {2, 0}, {});
  RunOp(&ws, Forward("DotProduct"));
  ExpectTensor<float>(ws, "Z", {0}, {});
  RunOp(&ws, Forward("L1Distance"));
  ExpectTensor<float>(ws, "Z", {2}, {0, 0});
}

// Rows of 37 elements use vectors and single elements.
TEST(DistanceTest, HasTheDerivativeAsGradient) {
  for (const char* type : kTypes) {
    SCOPED_TRACE(type);
    Workspace ws;
    FeedRandom(&ws, "X", {2, 37}, 0.25f, 1, 1);
    FeedRandom(&ws, "Y", {2, 37}, -1, 0.125f, 2);
    ExpectGradientMatches(&ws, Forward(type));
    EXPECT_EQ(DescribeGradient(Forward(type)),
              std::string(type) + "Gradient(X,Y,Z_grad)->X_grad,Y_grad | X_grad Y_grad");
  }
}

TEST(L1DistanceTest, HasNoSlopeAtEqualElements) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 3}, {1, 1e-13f, 2});
  Feed<float>(&ws, "Y", {1, 3}, {1, 0, 3});
  Feed<float>(&ws, "dZ", {1}, {5});
  RunOp(&ws, Gradient("L1Distance"));
  ExpectTensor<float>(ws, "dX", {1, 3}, {0, 0, -5});
}

TEST(DistanceTest, RejectsWhatDoesNotFit) {
  for (const char* type : kTypes) {
    SCOPED_TRACE(type);
    Workspace ws;
    FeedRandom(&ws, "X", {3, 4});
    FeedRandom(&ws, "Y", {3, 5});
    ExpectThrows([&] { RunOp(&ws, Forward(type)); },
                 "input 1 (Y) has shape [3, 5], want [3, 4] as input 0 (X)");
    FeedRandom(&ws, "Y", {3, 4});
    FeedRandom(&ws, "dZ", {1, 3});
    ExpectThrows([&] { RunOp(&ws, Gradient(type)); },
                 "input 2 (dZ) has shape [1, 3], want [3], the rows of input 0 (X)");
    FeedRange<double>(&ws, "Y", {3, 4});
    ExpectThrows([&] { RunOp(&ws, Forward(type)); }, "double");
  }
}

}  // namespace
}  // namespace caffe2rt::test::distance_test
