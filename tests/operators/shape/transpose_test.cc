#include "caffe2_core/graph/gradient.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::transpose_test {
namespace {

using test::ExpectGradientMatches;
using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::FeedRange;
using test::RunOp;

struct Case {
  std::vector<int64_t> dims;
  std::vector<int> axes;
};

class TransposeTest : public testing::TestWithParam<Case> {};

// Returns the expected values, computed one by one: y at index (i0, i1, ...) is x at the index
// whose dimension axes[d] is i_d.
std::vector<int32_t> Transposed(const Case& c, std::vector<int64_t>* dims) {
  const size_t rank = c.dims.size();
  dims->clear();
  int64_t total = 1;
  for (const int axis : c.axes) dims->push_back(c.dims[axis]), total *= c.dims[axis];
  std::vector<int32_t> y;
  for (int64_t flat = 0; flat < total; ++flat) {
    std::vector<int64_t> index(rank);
    int64_t rest = flat;
    for (size_t d = rank; d-- > 0; rest /= (*dims)[d]) index[c.axes[d]] = rest % (*dims)[d];
    int64_t source = 0;
    for (size_t d = 0; d < rank; ++d) source = source * c.dims[d] + index[d];
    y.push_back(static_cast<int32_t>(source));
  }
  return y;
}

TEST_P(TransposeTest, PutsEveryElementInItsPlace) {
  Workspace ws;
  FeedRange<int32_t>(&ws, "X", GetParam().dims);
  FeedRange<double>(&ws, "D", GetParam().dims);
  std::string axes = "arg { name: \"axes\" ";
  for (const int axis : GetParam().axes) axes += "ints: " + std::to_string(axis) + " ";
  const std::string op = R"(type: "Transpose" input: "X" output: "Y" )" + axes + "}";
  RunOp(&ws, op);
  std::vector<int64_t> dims;
  const std::vector<int32_t> want = Transposed(GetParam(), &dims);
  ExpectTensor<int32_t>(ws, "Y", dims, want);
  ExpectShapeInferred(&ws, op);
  RunOp(&ws, R"(type: "Transpose" input: "D" output: "Y" )" + axes + "}");
  ExpectTensor<double>(ws, "Y", dims, std::vector<double>(want.begin(), want.end()));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, TransposeTest,
    testing::Values(Case{{3, 5}, {1, 0}}, Case{{40, 33}, {1, 0}}, Case{{2, 3, 4}, {0, 1, 2}},
                    Case{{2, 3, 4}, {2, 1, 0}}, Case{{2, 3, 4}, {1, 0, 2}},
                    Case{{2, 3, 4}, {0, 2, 1}}, Case{{2, 3, 4, 5}, {0, 3, 1, 2}},
                    Case{{2, 3, 4, 5}, {0, 2, 3, 1}}, Case{{2, 3, 4, 5}, {3, 1, 0, 2}},
                    Case{{1, 4, 1, 3}, {3, 2, 1, 0}},
                    Case{{2, 2, 2, 2, 2, 2, 2}, {6, 1, 4, 3, 2, 5, 0}}, Case{{1, 1}, {1, 0}},
                    Case{{7}, {0}}, Case{{3, 0, 2}, {2, 0, 1}}));

TEST(TransposeDefaultTest, ReversesTheDimensions) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3});
  const char* op = R"(type: "Transpose" input: "X" output: "Y")";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {3, 2}, {0, 3, 1, 4, 2, 5});
  FeedRange<int64_t>(&ws, "X", {}, 7);
  RunOp(&ws, op);
  ExpectTensor<int64_t>(ws, "Y", {}, {7});
}

TEST(TransposeDefaultTest, FollowsAShapeThatChanges) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 2});
  NetDef def = test::ParseNet(R"(name: "n" op { type: "Transpose" input: "X" output: "Y" })");
  ws.CreateNet(def);
  ASSERT_TRUE(ws.RunNet("n"));
  FeedRange<float>(&ws, "X", {1, 3, 2});
  ASSERT_TRUE(ws.RunNet("n"));
  ExpectTensor<float>(ws, "Y", {2, 3, 1}, {0, 2, 4, 1, 3, 5});
}

TEST(TransposeDefaultTest, RejectsAxesThatAreNotAPermutationOfTheInputs) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3});
  FeedRange<uint8_t>(&ws, "B", {2, 3});
  const auto run = [&](const std::string& axes) {
    RunOp(&ws, R"(type: "Transpose" input: "X" output: "Y" arg { name: "axes" )" + axes + "}");
  };
  ExpectThrows([&] { run("ints: 0 ints: 0"); },
               "argument \"axes\" is [0, 0], want a permutation of the dimensions");
  for (const char* axes : {"ints: -1 ints: 0", "ints: 0 ints: 2"}) {
    ExpectThrows([&] { run(axes); }, "want a permutation of the dimensions");
  }
  ExpectThrows([&] { run("ints: 0 ints: 1 ints: 2"); }, "want the rank of input 0 of shape [2, 3]");
  ExpectThrows([&] { RunOp(&ws, R"(type: "Transpose" input: "B" output: "Y")"); },
               "input 0 (X) has elements of type");
}

TEST(TransposeGradientTest, TransposesTheGradientBack) {
  Workspace ws;
  test::FeedRandom(&ws, "X", {2, 3, 4});
  ExpectGradientMatches(&ws, R"(type: "Transpose" input: "X" output: "Y")");
  ExpectGradientMatches(
      &ws,
      R"(type: "Transpose" input: "X" output: "Y" arg { name: "axes" ints: 2 ints: 0 ints: 1 })");
}

// Recorded from the original.
TEST(TransposeGradientTest, IgnoresInvalidAxesInTheGradient) {
  const OperatorDef def = test::ParseOp(
      R"(type: "Transpose" input: "X" output: "Y" arg { name: "order" s: "NCHW" }
         arg { name: "axes" ints: -1 ints: 0 })");
  const GradientOpsMeta meta = GetGradientForOp(def, {{.dense_ = "Y_grad"}});
  ASSERT_EQ(meta.ops_.size(), 1u);
  ASSERT_EQ(meta.ops_[0].arg_size(), 2);
  EXPECT_EQ(meta.ops_[0].arg(0).s(), "NCHW");
  EXPECT_THAT(meta.ops_[0].arg(1).ints(), testing::ElementsAre(1, 0));
}

TEST(TransposeTest, ThreadsDoNotChangeTheResult) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 37, 41, 43});
  for (const char* axes : {"ints: 0 ints: 2 ints: 3 ints: 1", "ints: 0 ints: 2 ints: 1 ints: 3",
                           "ints: 3 ints: 2 ints: 1 ints: 0"}) {
    test::ExpectSameBitsForAllThreads(
        &ws,
        MakeString(R"(type: "Transpose" input: "X" output: "Y" arg { name: "axes" )", axes, " }"));
  }
}

}  // namespace
}  // namespace caffe2rt::transpose_test
