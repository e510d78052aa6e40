#include <cmath>
#include <limits>

#include "tests/operators/int8/int8_blobs.h"

namespace caffe2rt::int8_roi_align_test {
namespace {

using namespace test;  // used throughout this file

std::string Align(const std::string& more = "", float scale = 0.5f) {
  return Int8Op("Int8RoIAlign", "X R", "Y", scale, 20, more);
}

TEST(Int8RoIAlignTest, SamplesAtPixelsCopyThem) {
  Workspace ws;
  FeedInt8(&ws, "X", {2, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, 0.5f,
           0);
  // Regions of one pixel with one sample, in its middle: (0.5, 0.5) less half a pixel.
  Feed<float>(&ws, "R", {2, 5}, {0, -0.5f, -0.5f, 0.5f, 0.5f, 1, 0.5f, 0.5f, 1.5f, 1.5f});
  RunOp(&ws, Align());
  ExpectInt8(ws, "Y", {2, 1, 1, 2}, {21, 22, 35, 36}, 0.5f, 20);
}

TEST(Int8RoIAlignTest, AveragesSamplesInBins) {
  Workspace ws;
  FeedInt8(&ws, "X", {1, 1, 3, 1}, {100, 200, 40}, 0.5f, 0);
  // Two bins of one pixel; two samples each, a quarter and three quarters of a pixel into the bin.
  Feed<float>(&ws, "R", {1, 4}, {0, 0, 2, 1});
  RunOp(&ws, Int8Op("Int8RoIAlign", "X R", "Y", 0.5f, 0,
                    IntArg("pooled_w", 2) + IntArg("sampling_ratio", 2)));
  // 150, and (125 + 175) / 2 beyond the second pixel: 200 - 40 and 200 - 120.
  ExpectInt8(ws, "Y", {1, 1, 2, 1}, {150, 120}, 0.5f, 0);
}

TEST(Int8RoIAlignTest, SamplesOutsideTheImageCountAsStoredZeros) {
  Workspace ws;
  FeedInt8(&ws, "X", {1, 1, 1, 1}, {110}, 0.5f, 10);
  Feed<float>(&ws, "R", {1, 4}, {5, 5, 6, 6});
  RunOp(&ws, Align());
  ExpectInt8(ws, "Y", {1, 1, 1, 1}, {10}, 0.5f, 20);  // -10 steps
}

// A sample from -1 to the size counts as one on the nearest pixel.
TEST(Int8RoIAlignTest, SamplesOnTheBordersCountAndThoseBeyondDoNot) {
  Workspace ws;
  FeedInt8(&ws, "X", {1, 2, 2, 1}, {1, 2, 3, 4}, 0.5f, 0);
  // Regions of one pixel, whose sample is at x, y.
  const float places[][2] = {{-1, 0},     {2, 0},      {0, -1},     {0, 2},     {2, 2},
                             {-1.125, 0}, {2.125f, 0}, {0, -1.125}, {0, 2.125f}};
  std::vector<float> regions;
  for (const auto& [x, y] : places) {
    for (const float at : {x - 0.5f, y - 0.5f, x + 0.5f, y + 0.5f}) regions.push_back(at);
  }
  Feed<float>(&ws, "R", {9, 4}, regions);
  RunOp(&ws, Align());
  ExpectInt8(ws, "Y", {9, 1, 1, 1}, {21, 22, 21, 23, 24, 20, 20, 20, 20}, 0.5f, 20);
}

TEST(Int8RoIAlignTest, RoundsStepsOfALargeScaleToTheZeroPoint) {
  Workspace ws;
  FeedInt8(&ws, "X", {1, 1, 1, 2}, {255, 0}, 0.5f, 7);
  Feed<float>(&ws, "R", {1, 4}, {-0.5f, -0.5f, 0.5f, 0.5f});
  for (const float scale : {1e3f, 1e6f, 1e9f, 1e30f}) {
    SCOPED_TRACE(scale);
    RunOp(&ws, Align("", scale));
    ExpectInt8(ws, "Y", {1, 1, 1, 2}, {20, 20}, scale, 20);
  }
}

TEST(Int8RoIAlignTest, AcceptsImagesWithoutChannels) {
  Workspace ws;
  FeedInt8(&ws, "X", {1, 2, 2, 0}, {}, 0.5f, 0);
  Feed<float>(&ws, "R", {2, 4}, {0, 0, 1, 1, 0, 0, 2, 2});
  RunOp(&ws, Align(IntArg("pooled_w", 3)));
  ExpectInt8(ws, "Y", {2, 1, 3, 0}, {}, 0.5f, 20);
}

TEST(Int8RoIAlignTest, ScalesRegionsAndChoosesTheNumberOfSamples) {
  Workspace ws;
  FeedInt8(&ws, "X", {1, 4, 4, 1}, std::vector<uint8_t>(16, 120), 0.5f, 20);
  Feed<float>(&ws, "R", {1, 4}, {0, 0, 8, 8});
  RunOp(&ws,
        Align(FloatArg("spatial_scale", 0.375f) + IntArg("pooled_h", 2) + IntArg("pooled_w", 1)));
  ExpectInt8(ws, "Y", {1, 2, 1, 1}, {120, 120}, 0.5f, 20);
}

// A bin of 1 x 4 pixels has one row of four samples: in the middle of each pair of pixels, and on the last pixel.
TEST(Int8RoIAlignTest, ChoosesTheNumberOfSamplesOfEachSide) {
  Workspace ws;
  FeedInt8(&ws, "X", {1, 1, 4, 1}, {0, 100, 0, 0}, 0.5f, 0);
  Feed<float>(&ws, "R", {1, 4}, {0, 0, 4, 1});
  RunOp(&ws, Int8Op("Int8RoIAlign", "X R", "Y", 0.5f, 0));
  ExpectInt8(ws, "Y", {1, 1, 1, 1}, {25}, 0.5f, 0);
}

TEST(Int8RoIAlignTest, AcceptsNoRegionsAndInfersTheShape) {
  Workspace ws;
  FeedInt8(&ws, "X", {1, 4, 4, 3}, RandomBytes(48, 1), 0.5f, 20);
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{0, 5}, {0, 4}, {0}}) {
    Feed<float>(&ws, "R", dims, {});
    RunOp(&ws, Align(IntArg("pooled_h", 2)));
    ExpectInt8(ws, "Y", {0, 2, 1, 3}, {}, 0.5f, 20);
  }
  Feed<float>(&ws, "R", {2, 4}, {0, 0, 8, 8, 0, 0, 8, 8});
  const std::vector<TensorShape> shapes = InferShapes(ws, ParseOp(Align(IntArg("pooled_h", 2))));
  EXPECT_EQ(GetDimsVector(shapes.at(0)), (std::vector<int64_t>{2, 2, 1, 3}));
}

TEST(Int8RoIAlignTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedInt8(&ws, "X", {1, 4, 4, 1}, RandomBytes(16, 1), 0.5f, 20);
  const auto expect_throws = [&](const std::string& more, const std::string& part) {
    ExpectThrows([&] { RunOp(&ws, Align(more)); }, part);
  };
  const float inf = std::numeric_limits<float>::infinity();
  for (const float image : {1.0f, -1.0f, NAN, inf}) {
    Feed<float>(&ws, "R", {1, 5}, {image, 0, 0, 1, 1});
    expect_throws("", "image of row 0 of input 1 (RoIs) is");
  }
  for (const float end : {1e9f, NAN, inf}) {
    Feed<float>(&ws, "R", {1, 4}, {0, 0, end, end});
    expect_throws("", "samples in a bin, want at most 32768");
  }
  Feed<float>(&ws, "R", {1, 3}, {0, 0, 0});
  expect_throws("", "input 1 (RoIs) has shape [1, 3]");
  Feed<double>(&ws, "R", {1, 4}, {0, 0, 1, 1});
  expect_throws("", "double");
  Feed<float>(&ws, "R", {1, 4}, {0, 0, 1, 1});
  expect_throws(StringArg("order", "NCHW"), "argument \"order\" is \"NCHW\", want NHWC");
  expect_throws(IntArg("pooled_h", 0), "argument \"pooled_h\" is 0, want above 0");
  expect_throws(IntArg("sampling_ratio", 100000), "samples in a bin");
  ExpectThrows([&] { RunOp(&ws, Align("", 0.001f)); }, "want above 0 and below 1");
  FeedInt8(&ws, "X", {0, 4, 4, 1}, {}, 0.5f, 20);
  expect_throws("", "elements of input 0 (X) of shape [0, 4, 4, 1]");
  FeedInt8(&ws, "X", {4, 4, 1}, RandomBytes(16, 1), 0.5f, 20);
  expect_throws("", "want [N, H, W, C]");
  ExpectChecksInt8Input(&ws, Align());
}

}  // namespace
}  // namespace caffe2rt::int8_roi_align_test
