#include <cmath>
#include <string>
#include <vector>

#include "tests/support/operator_test.h"

namespace caffe2rt::test::prior_box_test {
namespace {

std::string PriorBox(const std::string& args) {
  return R"(type: "PriorBox" input: "X" input: "image" output: "Y" )" + args;
}
void FeedMaps(Workspace* ws, int64_t height, int64_t width, int64_t image_h, int64_t image_w) {
  Feed<float>(ws, "X", {1, 1, height, width},
              std::vector<float>(static_cast<size_t>(height * width)));
  Feed<float>(ws, "image", {1, 1, image_h, image_w},
              std::vector<float>(static_cast<size_t>(image_h * image_w)));
}

TEST(PriorBoxTest, MakesTheBoxesOfAPositionInTheirOrder) {
  Workspace ws;
  FeedMaps(&ws, 1, 1, 100, 200);
  // Sizes are truncated: 20 and 45, whose mean is 30. The ratio 1 and the second 4 have no effect.
  const std::string op = PriorBox(R"(
      arg { name: "min_size" floats: 20.7 } arg { name: "max_size" floats: 45.9 }
      arg { name: "aspect_ratio" floats: 1 floats: 4 floats: 4 }
      arg { name: "variance" floats: 0.1 floats: 0.2 floats: 0.3 floats: 0.4 })");
  RunOp(&ws, op);
  ExpectTensor<float>(
      ws, "Y", {1, 2, 16},
      {0.45f, 0.4f,   0.55f, 0.6f,   0.425f, 0.35f, 0.575f, 0.65f, 0.4f, 0.45f, 0.6f,
       0.55f, 0.475f, 0.3f,  0.525f, 0.7f,   0.1f,  0.2f,   0.3f,  0.4f, 0.1f,  0.2f,
       0.3f,  0.4f,   0.1f,  0.2f,   0.3f,   0.4f,  0.1f,   0.2f,  0.3f, 0.4f},
      1e-6);
  ExpectShapeInferred(&ws, op);
}

TEST(PriorBoxTest, StepsOverThePositionsOfTheMap) {
  Workspace ws;
  FeedMaps(&ws, 1, 2, 10, 20);
  // Without a step the image is divided: centres at x = 5 and 15, y = 5.
  RunOp(&ws, PriorBox(R"(arg { name: "min_size" floats: 10 })"));
  ExpectTensor<float>(
      ws, "Y", {1, 2, 8},
      {0, 0, 0.5f, 1, 0.5f, 0, 1, 1, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f}, 1e-6);
  // Centres at x = 0 and 4, y = 0; the image has 40 x 20 pixels.
  RunOp(&ws, PriorBox(R"(arg { name: "min_size" floats: 8 } arg { name: "offset" f: 0 }
      arg { name: "step_h" f: 2 } arg { name: "step_w" f: 4 } arg { name: "image_h" i: 20 }
      arg { name: "image_w" i: 40 } arg { name: "variance" floats: 1 })"));
  ExpectTensor<float>(ws, "Y", {1, 2, 8},
                      {-0.1f, -0.2f, 0.1f, 0.2f, 0, -0.2f, 0.2f, 0.2f, 1, 1, 1, 1, 1, 1, 1, 1},
                      1e-6);
  RunOp(&ws, PriorBox(R"(arg { name: "min_size" floats: 8 } arg { name: "offset" f: 0 }
      arg { name: "step_h" f: 2 } arg { name: "step_w" f: 4 } arg { name: "image_h" i: 20 }
      arg { name: "image_w" i: 40 } arg { name: "variance" floats: 1 }
      arg { name: "clip" i: 1 })"));
  ExpectTensor<float>(ws, "Y", {1, 2, 8},
                      {0, 0, 0.1f, 0.2f, 0, 0, 0.2f, 0.2f, 1, 1, 1, 1, 1, 1, 1, 1}, 1e-6);
}

TEST(PriorBoxTest, RatiosAreFlippedIfAsked) {
  Workspace ws;
  FeedMaps(&ws, 1, 1, 100, 100);
  RunOp(&ws, PriorBox(R"(arg { name: "min_size" floats: 20 } arg { name: "flip" i: 0 }
      arg { name: "aspect_ratio" floats: 4 })"));
  EXPECT_EQ(DimsOf(ws, "Y"), (std::vector<int64_t>{1, 2, 8}));
  // A ratio that flipping made already is left out.
  RunOp(&ws, PriorBox(R"(arg { name: "min_size" floats: 20 }
      arg { name: "aspect_ratio" floats: 4 floats: 0.25 })"));
  EXPECT_EQ(DimsOf(ws, "Y"), (std::vector<int64_t>{1, 2, 12}));
  // 36 x 36, 72 x 18, 18 x 72, 108 x 12 and 12 x 108 pixels around the centre.
  RunOp(&ws, PriorBox(R"(arg { name: "min_size" floats: 36 } arg { name: "variance" floats: 2 }
      arg { name: "aspect_ratio" floats: 4 floats: 9 })"));
  std::vector<float> want = {0.32f, 0.32f, 0.68f, 0.68f,  0.14f, 0.41f,  0.86f,
                             0.59f, 0.41f, 0.14f, 0.59f,  0.86f, -0.04f, 0.44f,
                             1.04f, 0.56f, 0.44f, -0.04f, 0.56f, 1.04f};
  want.resize(40, 2);
  ExpectTensor<float>(ws, "Y", {1, 2, 20}, want, 1e-6);
}

// More boxes at a position than one launch on CUDA takes.
TEST(PriorBoxTest, MakesManyBoxesOfEachPosition) {
  Workspace ws;
  FeedMaps(&ws, 1, 2, 64, 128);
  std::string args;
  std::vector<float> want;
  constexpr int kSizes = 70;
  for (int i = 1; i <= kSizes; ++i) args += " floats: " + std::to_string(2 * i);
  for (const float center : {32.0f, 96.0f}) {
    for (int i = 1; i <= kSizes; ++i) {
      const auto half = static_cast<float>(i);
      want.insert(want.end(), {(center - half) / 128, (32 - half) / 64, (center + half) / 128,
                               (32 + half) / 64});
    }
  }
  want.resize(want.size() * 2, 0.5f);
  RunOp(&ws,
        PriorBox("arg { name: \"min_size\"" + args + " } arg { name: \"variance\" floats: 0.5 }"));
  ExpectTensor<float>(ws, "Y", {1, 2, 2 * kSizes * 4}, want, 1e-6);
}

TEST(PriorBoxTest, AnEmptyMapHasNoBoxes) {
  Workspace ws;
  FeedMaps(&ws, 0, 3, 10, 10);
  RunOp(&ws, PriorBox(R"(arg { name: "min_size" floats: 8 })"));
  ExpectTensor<float>(ws, "Y", {1, 2, 0}, {});
}

TEST(PriorBoxTest, RejectsInvalidArguments) {
  Workspace ws;
  FeedMaps(&ws, 1, 1, 10, 10);
  const auto expect = [&](const std::string& args, const std::string& part) {
    ExpectThrows([&] { RunOp(&ws, PriorBox(args)); }, part);
  };
  expect("", "argument min_size is missing");
  expect(R"(arg { name: "min_size" floats: 0.5 })", "min_size has value 0.5, want at least 1");
  expect(R"(arg { name: "min_size" floats: 8 } arg { name: "max_size" floats: 8 })",
         "max_size has value 8, want more than min_size 8");
  expect(R"(arg { name: "min_size" floats: 8 } arg { name: "max_size" floats: 9 floats: 10 })",
         "max_size has 2 values, want one for each of the 1 of min_size");
  expect(R"(arg { name: "min_size" floats: 8 } arg { name: "aspect_ratio" floats: 0 })",
         "aspect_ratio has value 0, want more than 0");
  expect(R"(arg { name: "min_size" floats: 8 } arg { name: "variance" floats: 1 floats: 2 })",
         "variance has 2 values, want 1 or 4");
}

}  // namespace
}  // namespace caffe2rt::test::prior_box_test
