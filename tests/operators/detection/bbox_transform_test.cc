#include <cmath>
#include <limits>

#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::bbox_transform_test {
namespace {

constexpr float kPi = 3.14159265f;

std::string Transform(const std::string& args) {
  return R"(type: "BBoxTransform" input: "R" input: "D" input: "I" output: "Y" output: "S" )" +
         args;
}
const char* const kRotated = R"(arg { name: "rotated" i: 1 } )";

TEST(BBoxTransformTest, AppliesTheDeltasOfEachClass) {
  Workspace ws;
  // 10 wide, 20 high, with the center (15, 30).
  Feed<float>(&ws, "R", {1, 4}, {10, 20, 19, 39});
  const float twice = std::log(2.0f);
  Feed<float>(&ws, "D", {1, 8}, {0, 0, 0, 0, 0.1f, -0.5f, twice, twice});
  Feed<float>(&ws, "I", {1, 3}, {100, 200, 1});
  RunOp(&ws, Transform(""));
  // The second center is (16, 20), the size 20 x 40.
  ExpectTensor<float>(ws, "Y", {1, 8}, {10, 20, 19, 39, 6, 0, 25, 39}, 1e-5);
  ExpectTensor<float>(ws, "S", {1}, {1});
  ExpectShapeInferred(&ws, Transform(""));
  // The deltas count half: the center is (15.5, 25), the factors sqrt(2).
  RunOp(&ws, Transform(R"(arg { name: "weights" floats: 2 floats: 2 floats: 2 floats: 2 })"));
  const float w = 5 * std::sqrt(2.0f);
  ExpectTensor<float>(ws, "Y", {1, 8},
                      {10, 20, 19, 39, 15.5f - w, 25 - 2 * w, 14.5f + w, 24 + 2 * w}, 1e-5);
  // Without the plus one the box is 9 x 19, with the center (14.5, 29.5).
  RunOp(&ws, Transform(R"(arg { name: "legacy_plus_one" i: 0 })"));
  ExpectTensor<float>(ws, "Y", {1, 8}, {10, 20, 19, 39, 6.4f, 1, 24.4f, 39}, 1e-5);
}

TEST(BBoxTransformTest, ScalesAndClipsToTheImage) {
  Workspace ws;
  Feed<float>(&ws, "R", {3, 5}, {0, -8, 4, 30, 90, 0, 2, 2, 4, 4, 2, 1, 2, 3, 4});
  Feed<float>(&ws, "D", {3, 4}, std::vector<float>(12, 0));
  Feed<float>(&ws, "I", {3, 3}, {40, 20, 2, 10, 10, 1, 10, 10, 1});  // the first image is 20 x 10
  RunOp(&ws, Transform(""));
  ExpectTensor<float>(ws, "Y", {3, 4}, {0, 4, 18, 38, 2, 2, 4, 4, 1, 2, 3, 4}, 1e-5);
  ExpectTensor<float>(ws, "S", {3}, {2, 0, 1});
  RunOp(&ws, Transform(R"(arg { name: "apply_scale" i: 0 })"));
  ExpectTensor<float>(ws, "Y", {3, 4}, {0, 2, 9, 19, 1, 1, 2, 2, 1, 2, 3, 4}, 1e-5);
}

TEST(BBoxTransformTest, LimitsTheGrowthOfABox) {
  Workspace ws;
  Feed<float>(&ws, "R", {1, 4}, {1000, 1000, 1000, 1000});
  Feed<float>(&ws, "D", {1, 4}, {0, 0, 50, 0});
  Feed<float>(&ws, "I", {1, 3}, {5000, 5000, 1});
  RunOp(&ws, Transform(""));
  // At most 1000 / 16 times as wide.
  ExpectTensor<float>(ws, "Y", {1, 4}, {1000.5f - 31.25f, 1000, 999.5f + 31.25f, 1000}, 1e-5);
}

TEST(BBoxTransformTest, TurnsRotatedBoxes) {
  Workspace ws;
  Feed<float>(&ws, "R", {4, 6}, {0, 50, 40, 10, 20, 80,   0, 50, 40, 10, 20, -80,
                                 0, 2,  3,  10, 20, 0.5f, 0, 2,  3,  10, 20, 2});
  Feed<float>(&ws, "D", {4, 5},
              {0.1f, 0, 0, 0, kPi / 9, 0, 0.1f, 0, 0, -kPi / 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  Feed<float>(&ws, "I", {1, 3}, {100, 100, 1});
  RunOp(&ws, Transform(kRotated));
  // 100 degrees become -80. The third box is clipped: from (0, 0) to (6.5, 12.5).
  ExpectTensor<float>(ws, "Y", {4, 5}, {51,    40,    10,   20,    -80,  50, 42, 10, 20, 80,
                                        3.25f, 6.25f, 7.5f, 13.5f, 0.5f, 2,  3,  10, 20, 2},
                      1e-5);
  RunOp(&ws, Transform(std::string(kRotated) + R"(arg { name: "angle_bound_on" i: 0 }
                                                  arg { name: "clip_angle_thresh" f: -1 })"));
  ExpectTensor<float>(
      ws, "Y", {4, 5},
      {51, 40, 10, 20, 100, 50, 42, 10, 20, -100, 2, 3, 10, 20, 0.5f, 2, 3, 10, 20, 2}, 1e-5);
}

TEST(BBoxTransformTest, ScalesRotatedBoxesButNotTheirAngles) {
  Workspace ws;
  Feed<float>(&ws, "R", {1, 6}, {0, 40, 30, 20, 10, 30});
  Feed<float>(&ws, "D", {1, 10}, {0, 0, 0, 0, 0, 0.5f, 0, 0, 0, kPi / 6});
  Feed<float>(&ws, "I", {1, 3}, {200, 200, 2});
  // In the image that is not scaled, the box is 10 x 5 at (20, 15); the second class moves it by 5.
  RunOp(&ws, Transform(kRotated));
  ExpectTensor<float>(ws, "Y", {1, 10}, {40, 30, 20, 10, 30, 50, 30, 20, 10, 60}, 1e-5);
  RunOp(&ws, Transform(std::string(kRotated) + R"(arg { name: "apply_scale" i: 0 })"));
  ExpectTensor<float>(ws, "Y", {1, 10}, {20, 15, 10, 5, 30, 25, 15, 10, 5, 60}, 1e-5);
}

TEST(BBoxTransformTest, AcceptsNoBoxes) {
  Workspace ws;
  Feed<float>(&ws, "R", {0, 5}, {});
  Feed<float>(&ws, "D", {0, 8}, {});
  Feed<float>(&ws, "I", {2, 3}, {1, 1, 1, 1, 1, 1});
  RunOp(&ws, Transform(""));
  ExpectTensor<float>(ws, "Y", {0, 8}, {});
  ExpectTensor<float>(ws, "S", {2}, {0, 0});
}

TEST(BBoxTransformTest, NamesWhatDoesNotFit) {
  Workspace ws;
  const auto expect = [&](const std::vector<int64_t>& rois, const std::vector<int64_t>& deltas,
                          const std::vector<int64_t>& info, const std::string& args,
                          const std::string& part) {
    FeedRandom(&ws, "R", rois, 0, 0.5f);
    FeedRandom(&ws, "D", deltas);
    FeedRandom(&ws, "I", info);
    ExpectThrows([&] { RunOp(&ws, Transform(args)); }, part);
  };
  expect({1, 3}, {1, 4}, {1, 3}, "", "input 0 (rois) has shape [1, 3], want [R, 4] or [R, 5]");
  expect({2, 4}, {1, 4}, {1, 3}, "", "input 1 (deltas) has shape [1, 4]");
  expect({1, 4}, {1, 6}, {1, 3}, "", "a multiple of 4 columns");
  expect({1, 4}, {1, 4}, {1, 2}, "", "input 2 (im_info) has shape [1, 2]");
  expect({1, 4}, {1, 4}, {2, 3}, "", "names no images");
  expect({1, 4}, {1, 4}, {1, 3}, R"(arg { name: "weights" floats: 1 })", "want 4 numbers");
  expect({1, 6}, {1, 5}, {1, 3}, std::string(kRotated) + R"(arg { name: "angle_bound_lo" i: 0 })",
         "are 0 and 90, want a difference that is a positive multiple of 180");
  FeedRandom(&ws, "R", {1, 5});
  FeedRandom(&ws, "D", {1, 4});
  FeedRandom(&ws, "I", {2, 3});
  for (const float image : {2.0f, -1.0f, std::numeric_limits<float>::quiet_NaN()}) {
    Feed<float>(&ws, "R", {1, 5}, {image, 0, 0, 1, 1});
    ExpectThrows([&] { RunOp(&ws, Transform("")); }, "want at least 0 and below 2");
  }
  ExpectThrows([&] { DescribeGradient(Transform("")); }, "BBoxTransform");
}

}  // namespace
}  // namespace caffe2rt::test::bbox_transform_test
