#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::ps_roi_pool_test {
namespace {

const std::string kPool =
    R"(type: "PSRoIPool" input: "X" input: "R" output: "Y" output: "C"
       arg { name: "group_size" i: 2 } arg { name: "output_dim" i: 2 } )";

// Each bin has the average of its own channel.
TEST(PSRoIPoolTest, AveragesTheChannelOfEachBin) {
  Workspace ws;
  Tensor* const x = FeedRange<float>(&ws, "X", {1, 8, 4, 4});
  // Channel c is 100 c + 4 y + x.
  for (int i = 0; i < 128; ++i)
    x->mutable_data<float>()[i] = static_cast<float>(100 * (i / 16) + i % 16);
  // 4 x 4 pixels, in bins of 2 x 2. Then one pixel, (3, 3), in bins of half a pixel.
  Feed<float>(&ws, "R", {2, 5}, {0, 0, 0, 3, 3, 0, 3, 3, 3, 3});
  RunOp(&ws, kPool);
  ExpectTensor<int32_t>(ws, "C", {2, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7});
  ExpectTensor<float>(ws, "Y", {2, 2, 2, 2},
                      {2.5, 104.5, 210.5, 312.5, 402.5, 504.5, 610.5, 712.5,  //
                       15, 115, 215, 315, 415, 515, 615, 715},
                      1e-6);
  ExpectShapeInferred(&ws, kPool);
}

TEST(PSRoIPoolTest, RoundsBeforeItScalesAndClips) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 1, 4, 4});
  // 2.6 is rounded to 3: from 1.5 to (4 + 1) / 2 = 2.5, which touches pixels 1 and 2 of image 1.
  // Outside. Beyond the edge: only pixel (3, 3) is left. Inverted: 0.1 pixels at (1, 1).
  Feed<float>(&ws, "R", {4, 5},
              {1, 2.6f, 2.6f, 4, 4, 0, 80, 80, 90, 90, 0, 6, 6, 40, 40, 0, 2, 2, 0, 0});
  RunOp(
      &ws,
      R"(type: "PSRoIPool" input: "X" input: "R" output: "Y" output: "C" arg { name: "spatial_scale" f: 0.5 })");
  ExpectTensor<float>(ws, "Y", {4, 1, 1, 1}, {16 + (5 + 6 + 9 + 10) / 4.0f, 0, 15, 5});
}

TEST(PSRoIPoolTest, GradientMatchesDifferences) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 8, 4, 5});
  Feed<float>(&ws, "R", {4, 5}, {1, 0, 0, 3, 3, 0, 3, 2, 9, 9, 0, 1, 1, 1, 1, 1, 70, 70, 80, 80});
  ExpectGradientMatches(&ws, kPool, {.inputs = {"X"}});
  EXPECT_EQ(DescribeGradient(kPool),
            "PSRoIPoolGradient(X,R,C,Y_grad)->X_grad group_size=2 output_dim=2 | X_grad -");
}

TEST(PSRoIPoolTest, TakesNoRoIs) {
  Workspace ws;
  FeedRandom(&ws, "X", {1, 8, 2, 2});
  Feed<float>(&ws, "R", {0, 5}, {});
  RunOp(&ws, kPool);
  ExpectTensor<float>(ws, "Y", {0, 2, 2, 2}, {});
  ExpectTensor<int32_t>(ws, "C", {0, 2, 2, 2}, {});
}

TEST(PSRoIPoolTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedRandom(&ws, "X", {1, 7, 2, 2});
  Feed<float>(&ws, "R", {1, 5}, {0, 0, 0, 1, 1});
  ExpectThrows([&] { RunOp(&ws, kPool); }, "channels of input 0 (X)");
  FeedRandom(&ws, "X", {1, 8, 2, 2});
  Feed<float>(&ws, "R", {1, 5}, {1, 0, 0, 1, 1});
  ExpectThrows([&] { RunOp(&ws, kPool); }, "of an image that does not exist");
  Feed<float>(&ws, "R", {1, 4}, {0, 0, 1, 1});
  ExpectThrows([&] { RunOp(&ws, kPool); }, "want 5 columns");
  ExpectThrows(
      [&] {
        RunOp(
            &ws,
            R"(type: "PSRoIPool" input: "X" input: "R" output: "Y" output: "C" arg { name: "group_size" i: 0 })");
      },
      "want above 0");
  Feed<float>(&ws, "R", {1, 5}, {0, 0, 0, 1, 1});
  Feed<int32_t>(&ws, "C", {1, 2, 2, 2}, std::vector<int32_t>(8));
  FeedRandom(&ws, "dY", {1, 8});
  ExpectThrows(
      [&] {
        RunOp(&ws,
              R"(type: "PSRoIPoolGradient" input: "X" input: "R" input: "C" input: "dY" output: "dX"
                      arg { name: "group_size" i: 2 } arg { name: "output_dim" i: 2 })");
      },
      "input 3 (dY) has shape [1, 8]");
}

}  // namespace
}  // namespace caffe2rt::test::ps_roi_pool_test
