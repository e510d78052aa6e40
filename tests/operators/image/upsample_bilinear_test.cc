#include "tests/support/operator_test.h"

namespace caffe2rt::upsample_bilinear_test {
namespace {

using namespace test;  // used throughout this file

std::string Upsample(float height, float width) {
  return R"(type: "UpsampleBilinear" input: "X" output: "Y" arg { name: "height_scale" f: )" +
         std::to_string(height) + R"( } arg { name: "width_scale" f: )" + std::to_string(width) +
         " }";
}

// The corners keep their values, and the other pixels are evenly spaced in between, in steps of
// 1/3.
TEST(UpsampleBilinearTest, InterpolatesBetweenTheCorners) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 2, 2}, 0, 3);
  RunOp(&ws, Upsample(1, 2));
  ExpectTensor<float>(ws, "Y", {1, 1, 2, 4}, {0, 1, 2, 3, 6, 7, 8, 9}, 1e-6);
  RunOp(&ws, Upsample(2, 1));
  ExpectTensor<float>(ws, "Y", {1, 1, 4, 2}, {0, 3, 2, 5, 4, 7, 6, 9}, 1e-6);
  ExpectShapeInferred(&ws, Upsample(2, 1));
}

TEST(UpsampleBilinearTest, OnePixelIsTheFirst) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 1, 4}, 5);
  RunOp(&ws, Upsample(1, 0.26f));
  ExpectTensor<float>(ws, "Y", {1, 1, 1, 1}, {5});
}

TEST(UpsampleBilinearTest, TheInputOfScalesGoesBeforeTheArguments) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 1, 2}, 0, 2);
  Feed<float>(&ws, "s", {2}, {2, 1.5f});
  RunOp(&ws, R"(type: "UpsampleBilinear" input: "X" input: "s" output: "Y")");
  ExpectTensor<float>(ws, "Y", {1, 1, 2, 3}, {0, 1, 2, 0, 1, 2}, 1e-6);
}

TEST(UpsampleBilinearTest, EmptyPicturesStayEmpty) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 1, 2, 2}, {});
  RunOp(&ws, Upsample(2, 2));
  ExpectTensor<float>(ws, "Y", {0, 1, 4, 4}, {});
}

TEST(UpsampleBilinearTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 2, 2});
  ExpectThrows([&] { RunOp(&ws, Upsample(1, 1)); }, "rank of input 0 (X) of shape [1, 2, 2]");
  ExpectThrows([&] { RunOp(&ws, Upsample(1, -2)); },
               "argument \"width_scale\" is -2, want above 0");
}

}  // namespace
}  // namespace caffe2rt::upsample_bilinear_test
