#include <cmath>

#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/runtime/net.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::resize_nearest_test {
namespace {

using namespace test;  // used throughout this file

std::string Resize(float height, float width, const std::string& order = "NCHW") {
  return R"(type: "ResizeNearest" input: "X" output: "Y" arg { name: "height_scale" f: )" +
         std::to_string(height) + R"( } arg { name: "width_scale" f: )" + std::to_string(width) +
         R"( } arg { name: "order" s: ")" + order + "\" }";
}

TEST(ResizeNearestTest, RepeatsAndLeavesOut) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 2, 2});
  RunOp(&ws, Resize(1, 2));
  ExpectTensor<float>(ws, "Y", {1, 1, 2, 4}, {0, 0, 1, 1, 2, 2, 3, 3});
  RunOp(&ws, Resize(1.5f, 1));
  ExpectTensor<float>(ws, "Y", {1, 1, 3, 2}, {0, 1, 0, 1, 2, 3});
  RunOp(&ws, Resize(0.5f, 0.5f));
  ExpectTensor<float>(ws, "Y", {1, 1, 1, 1}, {0});
  ExpectShapeInferred(&ws, Resize(1.5f, 2));
}

// Recorded from the original: 5 * 1.7 gives 8.
TEST(ResizeNearestTest, TruncatesInFloat) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 1, 5});
  RunOp(&ws, Resize(1, 1.7f));
  ExpectTensor<float>(ws, "Y", {1, 1, 1, 8}, {0, 0, 1, 1, 2, 2, 3, 4});
}

// In float, 17 / 1.7 is 10, but 17 multiplied by the rounded value of 1 / 1.7 is less than 10.
TEST(ResizeNearestTest, DividesByTheScale) {
  Workspace ws;
  const std::vector<float> want{0, 0, 1, 1, 2, 2, 3, 4, 4, 5, 5, 6, 7, 7, 8, 8, 9, 10};
  FeedRange<float>(&ws, "X", {1, 1, 1, 11});
  RunOp(&ws, Resize(1, 1.7f));
  ExpectTensor<float>(ws, "Y", {1, 1, 1, 18}, want);
  FeedRange<float>(&ws, "X", {1, 1, 11, 1});
  RunOp(&ws, Resize(1.7f, 1));
  ExpectTensor<float>(ws, "Y", {1, 1, 18, 1}, want);
  FeedRange<float>(&ws, "X", {1, 1, 11, 1});
  RunOp(&ws, Resize(1, 1.7f, "NHWC"));
  ExpectTensor<float>(ws, "Y", {1, 1, 18, 1}, want);
  Feed<float>(&ws, "scales", {2}, {1, 1.7f});
  FeedRange<float>(&ws, "X", {1, 1, 1, 11});
  RunOp(&ws, R"(type: "ResizeNearest" input: "X" input: "scales" output: "Y")");
  ExpectTensor<float>(ws, "Y", {1, 1, 1, 18}, want);
}

TEST(ResizeNearestTest, ScalesEveryPlaneOfAWideImage) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 3, 5, 37});
  const std::vector<float> x = Fetch<float>(ws, "X");
  for (const float scale : {2.0f, 3.0f, 0.7f}) {
    RunOp(&ws, Resize(scale, scale));
    const int height = static_cast<int>(5 * scale), width = static_cast<int>(37 * scale);
    std::vector<float> want;
    for (int p = 0; p < 6; ++p) {
      for (int y = 0; y < height; ++y) {
        for (int i = 0; i < width; ++i) {
          const int row = std::min(static_cast<int>(y / scale), 4);
          const int column = std::min(static_cast<int>(i / scale), 36);
          want.push_back(x[(p * 5 + row) * 37 + column]);
        }
      }
    }
    ExpectTensor<float>(ws, "Y", {2, 3, height, width}, want);
  }
}

TEST(ResizeNearestTest, MovesWholePixelsInNhwc) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 2, 2});
  RunOp(&ws, Resize(2, 1, "NHWC"));
  ExpectTensor<float>(ws, "Y", {1, 2, 2, 2}, {0, 1, 2, 3, 0, 1, 2, 3});
  ExpectShapeInferred(&ws, Resize(2, 1, "NHWC"));
  RunOp(&ws, Resize(1, 2, "NHWC"));
  ExpectTensor<float>(ws, "Y", {1, 1, 4, 2}, {0, 1, 0, 1, 2, 3, 2, 3});
}

TEST(ResizeNearestTest, TheInputOfScalesGoesBeforeTheArguments) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 1, 2});
  Feed<float>(&ws, "scales", {2}, {2, 3});
  const std::string op = R"(type: "ResizeNearest" input: "X" input: "scales" output: "Y"
                            arg { name: "width_scale" f: 7 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {1, 1, 2, 6}, {0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1});
  ExpectShapeInferred(&ws, op, /*may_be_unknown=*/true);
}

TEST(ResizeNearestTest, EmptyImagesStayEmpty) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 2, 3, 3}, {});
  RunOp(&ws, Resize(2, 2));
  ExpectTensor<float>(ws, "Y", {0, 2, 6, 6}, {});
  FeedRange<float>(&ws, "X", {1, 1, 2, 2});
  RunOp(&ws, Resize(1, 0.1f));
  ExpectTensor<float>(ws, "Y", {1, 1, 2, 0}, {});
}

TEST(ResizeNearestTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 2, 2});
  ExpectThrows([&] { RunOp(&ws, Resize(1, 0)); }, "argument \"width_scale\" is 0, want above 0");
  ExpectThrows([&] { RunOp(&ws, Resize(-1, 1)); }, "argument \"height_scale\" is -1, want above 0");
  ExpectThrows([&] { RunOp(&ws, Resize(1, 1e30f)); }, "size of 2 pixels scaled by 1e+30");
  ExpectThrows([&] { RunOp(&ws, Resize(1, 1, "NCH")); },
               "argument \"order\" is \"NCH\", want NCHW or NHWC");
  const std::string with = R"(type: "ResizeNearest" input: "X" input: "s" output: "Y")";
  Feed<float>(&ws, "s", {3}, {1, 1, 1});
  ExpectThrows([&] { RunOp(&ws, with); }, "input 1 (scales) has shape [3], want [2]");
  Feed<float>(&ws, "s", {2}, {-1, 1});
  ExpectThrows([&] { RunOp(&ws, with); }, "scaled by -1");
  FeedRange<float>(&ws, "X", {1, 2, 2});
  ExpectThrows([&] { RunOp(&ws, Resize(1, 1)); }, "rank of input 0 (X) of shape [1, 2, 2]");
  FeedRange<double>(&ws, "X", {1, 1, 2, 2});
  ExpectThrows([&] { RunOp(&ws, Resize(1, 1)); }, "double");
}

constexpr char kGradient[] =
    R"(type: "ResizeNearestGradient" input: "dY" input: "X" output: "dX" )";

TEST(ResizeNearestGradientTest, AddsUpTheCopiesOfEachPixel) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 1, 5});
  Feed<float>(&ws, "dY", {1, 1, 1, 8}, {1, 2, 4, 8, 16, 32, 64, 128});
  const std::string op = std::string(kGradient) + R"(arg { name: "width_scale" f: 1.7 })";
  RunOp(&ws, op);  // the pixels of Y are 0 0 1 1 2 2 3 4 of X
  ExpectTensor<float>(ws, "dX", {1, 1, 1, 5}, {3, 12, 48, 64, 128});
  ExpectShapeInferred(&ws, op);
  Feed<float>(&ws, "dY", {1, 1, 2, 10}, std::vector<float>(20, 1.0f));
  RunOp(&ws, std::string(kGradient) +
                 R"(arg { name: "width_scale" f: 2 } arg { name: "height_scale" f: 2 })");
  ExpectTensor<float>(ws, "dX", {1, 1, 1, 5}, {4, 4, 4, 4, 4});
  Feed<float>(&ws, "dY", {1, 1, 1, 2}, {1, 2});
  Feed<float>(&ws, "scales", {2}, {1, 0.5f});
  RunOp(&ws,
        R"(type: "ResizeNearestGradient" input: "dY" input: "X" input: "scales" output: "dX")");
  ExpectTensor<float>(ws, "dX", {1, 1, 1, 5}, {1, 0, 2, 0, 0});
}

// Scales near 2 double a short row without repeating every pixel twice, or repeat each pixel but the
// last one twice.
TEST(ResizeNearestTest, RowsThatAlmostDoubleFollowTheirScale) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 1, 1, 3}, 1);
  RunOp(&ws, Resize(1, 2.1f));
  ExpectTensor<float>(ws, "Y", {2, 1, 1, 6}, {1, 1, 1, 2, 2, 3, 4, 4, 4, 5, 5, 6});
  RunOp(&ws, Resize(1, 1.9f));
  ExpectTensor<float>(ws, "Y", {2, 1, 1, 5}, {1, 1, 2, 2, 3, 4, 4, 5, 5, 6});
  Feed<float>(&ws, "dY", {2, 1, 1, 6}, {1, 2, 4, 8, 16, 32, 1, 2, 4, 8, 16, 32});
  RunOp(&ws, std::string(kGradient) + R"(arg { name: "width_scale" f: 2.1 })");
  ExpectTensor<float>(ws, "dX", {2, 1, 1, 3}, {7, 24, 32, 7, 24, 32});
  Feed<float>(&ws, "dY", {2, 1, 1, 5}, {1, 2, 4, 8, 16, 1, 2, 4, 8, 16});
  RunOp(&ws, std::string(kGradient) + R"(arg { name: "width_scale" f: 1.9 })");
  ExpectTensor<float>(ws, "dX", {2, 1, 1, 3}, {3, 12, 16, 3, 12, 16});
}

// Both axes, three channels and two images: pixel (y, x) of X is repeated by its own scales.
TEST(ResizeNearestTest, ScalesBothAxesOfNhwc) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 2, 2, 3});
  for (const float scale : {2.0f, 1.5f}) {
    RunOp(&ws, Resize(scale, 2, "NHWC"));
    const int height = static_cast<int>(2 * scale);
    std::vector<float> want;
    for (int n = 0; n < 2; ++n) {
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < 4; ++x) {
          const int row = static_cast<int>(static_cast<float>(y) / scale);
          for (int c = 0; c < 3; ++c) {
            want.push_back(static_cast<float>(((n * 2 + row) * 2 + x / 2) * 3 + c));
          }
        }
      }
    }
    ExpectTensor<float>(ws, "Y", {2, height, 4, 3}, want);
    ExpectShapeInferred(&ws, Resize(scale, 2, "NHWC"));
  }
}

// A net that was made for one size is run with others.
TEST(ResizeNearestTest, LaterRunsFollowTheirShapes) {
  Workspace ws;
  Feed<float>(&ws, "s", {2}, {2, 1});
  NetDef def;
  def.set_name("resize");
  *def.add_op() = ParseOp(R"(type: "ResizeNearest" input: "X" input: "s" output: "Y")");
  *def.add_op() = ParseOp(
      R"(type: "ResizeNearestGradient" input: "Y" input: "X" input: "s" output: "dX")");
  FeedRange<float>(&ws, "X", {1, 1, 1, 3}, 1);
  NetBase* const net = ws.CreateNet(def);
  ASSERT_TRUE(net->Run());
  ExpectTensor<float>(ws, "Y", {1, 1, 2, 3}, {1, 2, 3, 1, 2, 3});
  ExpectTensor<float>(ws, "dX", {1, 1, 1, 3}, {2, 4, 6});
  Feed<float>(&ws, "s", {2}, {1, 2});
  FeedRange<float>(&ws, "X", {2, 1, 1, 2}, 1);
  ASSERT_TRUE(net->Run());
  ExpectTensor<float>(ws, "Y", {2, 1, 1, 4}, {1, 1, 2, 2, 3, 3, 4, 4});
  ExpectTensor<float>(ws, "dX", {2, 1, 1, 2}, {2, 4, 6, 8});
}

TEST(ResizeNearestGradientTest, AddsWholePixelsInNhwc) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 2, 3});
  Feed<float>(&ws, "dY", {1, 1, 4, 3}, {1, 2, 3, 10, 20, 30, 4, 5, 6, 40, 50, 60});
  const std::string op = std::string(kGradient) + R"(arg { name: "order" s: "NHWC" } )";
  RunOp(&ws, op + R"(arg { name: "width_scale" f: 2 })");
  ExpectTensor<float>(ws, "dX", {1, 1, 2, 3}, {11, 22, 33, 44, 55, 66});
  Feed<float>(&ws, "dY", {1, 2, 2, 3}, {1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60});
  RunOp(&ws, op + R"(arg { name: "height_scale" f: 2 })");
  ExpectTensor<float>(ws, "dX", {1, 1, 2, 3}, {11, 22, 33, 44, 55, 66});
}

TEST(ResizeNearestGradientTest, AgreesWithDifferences) {
  Workspace ws;
  for (const char* order : {"NCHW", "NHWC"}) {
    for (const float scale : {2.0f, 1.0f, 1.7f, 0.4f}) {
      FeedRandom(&ws, "X", {1, 3, 4, 2});
      ExpectGradientMatches(&ws, Resize(scale, 2 * scale, order));
    }
  }
  EXPECT_EQ(DescribeGradient(R"(type: "ResizeNearest" input: "X" input: "s" output: "Y")"),
            "ResizeNearestGradient(Y_grad,X,s)->X_grad | X_grad -");
}

TEST(ResizeNearestGradientTest, AcceptsEmptyTensorsAndReportsIncompatibleShapes) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 2, 3, 3}, {});
  Feed<float>(&ws, "dY", {0, 2, 6, 6}, {});
  RunOp(&ws, kGradient);
  ExpectTensor<float>(ws, "dX", {0, 2, 3, 3}, {});
  FeedRange<float>(&ws, "X", {1, 1, 2, 2});
  Feed<float>(&ws, "dY", {1, 1, 0, 2}, {});
  RunOp(&ws, kGradient);
  ExpectTensor<float>(ws, "dX", {1, 1, 2, 2}, {0, 0, 0, 0});
  FeedRange<float>(&ws, "dY", {1, 2, 2, 2});
  ExpectThrows([&] { RunOp(&ws, kGradient); },
               "input 0 (dY) has shape [1, 2, 2, 2], want the batch and the channels of input 1");
  FeedRange<float>(&ws, "dY", {2, 2});
  ExpectThrows([&] { RunOp(&ws, kGradient); }, "rank of input 0 (dY) of shape [2, 2]");
  FeedRange<float>(&ws, "dY", {1, 1, 2, 2});
  Feed<float>(&ws, "scales", {2}, {-1, 1});
  const std::string with =
      R"(type: "ResizeNearestGradient" input: "dY" input: "X" input: "scales" output: "dX")";
  ExpectThrows([&] { RunOp(&ws, with); }, "input 2 (scales) is -1 and 1, want values above 0");
  Feed<float>(&ws, "scales", {2}, {2, 0});
  ExpectThrows([&] { RunOp(&ws, with); }, "input 2 (scales) is 2 and 0, want values above 0");
  Feed<float>(&ws, "scales", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, with); }, "input 2 (scales) has shape [1], want [2]");
  FeedRange<float>(&ws, "X", {1, 2});
  ExpectThrows([&] { RunOp(&ws, kGradient); }, "rank of input 1 (X) of shape [1, 2]");
}

// Regression: a position beyond int64 was converted to an index.
TEST(ResizeNearestGradientTest, AcceptsScalesNearZeroAndInfinity) {
  Workspace ws;
  Feed<float>(&ws, "dY", {1, 1, 2, 2}, {1, 2, 3, 4});
  Feed<float>(&ws, "X", {1, 1, 2, 2}, {0, 0, 0, 0});
  Feed<float>(&ws, "scales", {2}, {1e-40f, 3e38f});
  RunOp(&ws, "type: 'ResizeNearestGradient' input: 'dY' input: 'X' input: 'scales' output: 'dX'");
  ExpectTensor<float>(ws, "dX", {1, 1, 2, 2}, {3, 0, 7, 0});
}

TEST(ImageGradientTest, DoesNotDependOnTheNumberOfThreads) {
  Workspace ws;
  // Seven planes, which three threads cannot share evenly.
  FeedRandom(&ws, "X", {1, 7, 40, 50});
  FeedRandom(&ws, "dY", {1, 7, 80, 100});
  for (const char* op :
       {R"(type: "ResizeNearestGradient" input: "dY" input: "X" output: "dX"
           arg { name: "height_scale" f: 2 } arg { name: "width_scale" f: 2 })",
        R"(type: "UpsampleBilinearGradient" input: "dY" input: "X" output: "dX")",
        R"(type: "PadImageGradient" input: "dY" output: "dX" arg { name: "pad" i: 3 }
           arg { name: "mode" s: "edge" })"}) {
    const auto run = [&](int threads) {
      SetNumThreads(threads);
      RunOp(&ws, op);
      SetNumThreads(1);
      return Fetch<float>(ws, "dX");
    };
    EXPECT_EQ(run(3), run(1)) << op;
  }
}

}  // namespace
}  // namespace caffe2rt::resize_nearest_test
