#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::space_to_batch_test {
namespace {

using namespace test;  // used throughout this file

std::string Op(const std::string& type, int block, int pad, const std::string& more = "") {
  return "type: \"" + type + R"(" input: "X" output: "Y" arg { name: "block_size" i: )" +
         std::to_string(block) + R"( } arg { name: "pad" i: )" + std::to_string(pad) + " } " + more;
}

TEST(SpaceToBatchTest, MovesEverySecondRowAndColumn) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 4, 4}, 1);
  RunOp(&ws, Op("SpaceToBatch", 2, 0));
  ExpectTensor<float>(ws, "Y", {4, 1, 2, 2},
                      {1, 3, 9, 11, 2, 4, 10, 12, 5, 7, 13, 15, 6, 8, 14, 16});
  ExpectShapeInferred(&ws, Op("SpaceToBatch", 2, 0));
}

TEST(SpaceToBatchTest, PadsWithZerosAndCropsWithNegativePads) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 2, 2}, 1);
  RunOp(&ws, Op("SpaceToBatch", 2, 1));
  ExpectTensor<float>(ws, "Y", {4, 1, 2, 2}, {0, 0, 0, 4, 0, 0, 3, 0, 0, 2, 0, 0, 1, 0, 0, 0});
  FeedRange<float>(&ws, "X", {1, 1, 4, 4}, 1);
  RunOp(&ws, Op("SpaceToBatch", 2, -1));
  ExpectTensor<float>(ws, "Y", {4, 1, 1, 1}, {6, 7, 10, 11});
}

TEST(SpaceToBatchTest, PadTOverridesTheTopAlone) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {4, 1, 1, 1}, 1);
  const std::string op = Op("BatchToSpace", 2, 0, R"(arg { name: "pad_t" i: 1 })");
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {1, 1, 1, 2}, {3, 4});
  ExpectShapeInferred(&ws, op);
}

TEST(SpaceToBatchTest, BatchToSpacePutsTogetherAgain) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 3, 7, 4});
  const std::vector<float> x = Fetch<float>(ws, "X");
  RunOp(&ws, Op("SpaceToBatch", 3, 1));
  EXPECT_EQ(DimsOf(ws, "Y"), (std::vector<int64_t>{18, 3, 3, 2}));
  Feed<float>(&ws, "X", {18, 3, 3, 2}, Fetch<float>(ws, "Y"));
  RunOp(&ws, Op("BatchToSpace", 3, 1));
  ExpectTensor<float>(ws, "Y", {2, 3, 7, 4}, x);
}

TEST(SpaceToBatchTest, EmptyTensorsStayEmpty) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 1, 4, 4}, {});
  RunOp(&ws, Op("SpaceToBatch", 2, 0));
  ExpectTensor<float>(ws, "Y", {0, 1, 2, 2}, {});
  RunOp(&ws, Op("BatchToSpace", 2, 0));
  ExpectTensor<float>(ws, "Y", {0, 1, 8, 8}, {});
  Feed<float>(&ws, "X", {int64_t{1} << 40, 0, 2, 2}, {});
  RunOp(&ws, Op("SpaceToBatch", 2, 0));
  RunOp(&ws, Op("BatchToSpace", 2, 0));
}

TEST(SpaceToBatchTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 5, 5});
  ExpectThrows([&] { RunOp(&ws, Op("SpaceToBatch", 2, 0)); }, "want multiples of block_size 2");
  ExpectThrows([&] { RunOp(&ws, Op("BatchToSpace", 2, 0)); }, "divided by block_size squared");
  ExpectThrows([&] { RunOp(&ws, Op("SpaceToBatch", 0, 0)); },
               "argument \"block_size\" is 0, want above 0");
  ExpectThrows([&] { RunOp(&ws, Op("SpaceToBatch", 1, 0, R"(arg { name: "order" s: "NHWC" })")); },
               "argument \"order\" is \"NHWC\", want NCHW");
  FeedRange<float>(&ws, "X", {4, 1, 1, 1});
  ExpectThrows([&] { RunOp(&ws, Op("BatchToSpace", 2, 3)); }, "after cropping");
  FeedRange<float>(&ws, "X", {4, 2, 2});
  ExpectThrows([&] { RunOp(&ws, Op("SpaceToBatch", 2, 0)); }, "[4, 2, 2]");
}

TEST(SpaceToBatchTest, EachIsTheGradientOfTheOther) {
  Workspace ws;
  FeedRandom(&ws, "X", {1, 2, 4, 6});
  ExpectGradientMatches(&ws, Op("SpaceToBatch", 2, 1));
  FeedRandom(&ws, "X", {4, 2, 3, 3});
  ExpectGradientMatches(&ws, Op("BatchToSpace", 2, 1));
  EXPECT_EQ(DescribeGradient(Op("SpaceToBatch", 3, 1)),
            "BatchToSpace(Y_grad)->X_grad block_size=3 pad=1 | X_grad");
  EXPECT_EQ(DescribeGradient(Op("BatchToSpace", 3, 1)),
            "SpaceToBatch(Y_grad)->X_grad block_size=3 pad=1 | X_grad");
}

}  // namespace
}  // namespace caffe2rt::space_to_batch_test
