#include "caffe2_core/runtime/net.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::pad_image_test {
namespace {

using namespace test;  // used throughout this file

std::string Pad(const std::string& mode, const std::vector<int>& pads,
                const std::string& more = "") {
  std::string text =
      R"(type: "PadImage" input: "X" output: "Y" arg { name: "mode" s: ")" + mode + "\" }";
  text += " arg { name: \"pads\"";
  for (const int pad : pads) text += " ints: " + std::to_string(pad);
  return text + " } " + more;
}

// The input is 1 2 3 / 4 5 6. One row is added above, two columns on the left, one on the right.
TEST(PadImageTest, FillsMirrorsOrRepeats) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 2, 3}, 1);
  const std::vector<int> pads{1, 2, 0, 1};
  RunOp(&ws, Pad("constant", pads, R"(arg { name: "value" f: 9 })"));
  ExpectTensor<float>(ws, "Y", {1, 1, 3, 6},
                      {9, 9, 9, 9, 9, 9, 9, 9, 1, 2, 3, 9, 9, 9, 4, 5, 6, 9});
  RunOp(&ws, Pad("reflect", pads));
  ExpectTensor<float>(ws, "Y", {1, 1, 3, 6},
                      {6, 5, 4, 5, 6, 5, 3, 2, 1, 2, 3, 2, 6, 5, 4, 5, 6, 5});
  RunOp(&ws, Pad("edge", pads));
  ExpectTensor<float>(ws, "Y", {1, 1, 3, 6},
                      {1, 1, 1, 2, 3, 3, 1, 1, 1, 2, 3, 3, 4, 4, 4, 5, 6, 6});
  ExpectShapeInferred(&ws, Pad("edge", pads));
}

TEST(PadImageTest, MovesWholePixelsInNhwc) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 2, 2}, 1);
  const std::string op = Pad("edge", {0, 1, 1, 0}, R"(arg { name: "order" s: "NHWC" })");
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {1, 2, 3, 2}, {1, 2, 1, 2, 3, 4, 1, 2, 1, 2, 3, 4});
  ExpectShapeInferred(&ws, op);
}

TEST(PadImageTest, NegativePadsCrop) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 3, 3}, 1);
  RunOp(&ws, Pad("constant", {-1, 1, 0, -2}));
  ExpectTensor<float>(ws, "Y", {1, 1, 2, 2}, {0, 4, 0, 7});
  RunOp(&ws, Pad("edge", {-4, 0, 2, 0}));  // past the end, so the last row is repeated
  ExpectTensor<float>(ws, "Y", {1, 1, 1, 3}, {7, 8, 9});
  RunOp(&ws, Pad("reflect", {-2, 0, 1, 0}));
  ExpectTensor<float>(ws, "Y", {1, 1, 2, 3}, {7, 8, 9, 4, 5, 6});
}

TEST(PadImageTest, GlobalPoolingLeavesTheFirstPixel) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 2, 2, 2}, 1);
  const std::string op =
      R"(type: "PadImage" input: "X" output: "Y" arg { name: "global_pooling" i: 1 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {1, 2, 1, 1}, {1, 5});
  ExpectShapeInferred(&ws, op);
}

TEST(PadImageTest, AnEmptyBatchGivesNothing) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 1, 3, 3}, {});
  for (const char* mode : {"constant", "reflect", "edge"}) {
    RunOp(&ws, Pad(mode, {1, 1, 1, 1}));
    ExpectTensor<float>(ws, "Y", {0, 1, 5, 5}, {});
  }
}

TEST(PadImageTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 2, 2});
  ExpectThrows(
      [&] {
        RunOp(&ws, Pad("mirror", {1, 1, 1, 1}));
      },
      "argument \"mode\" is \"mirror\", want constant, reflect or edge");
  ExpectThrows(
      [&] {
        RunOp(&ws, Pad("reflect", {3, 0, 0, 0}));
      },
      "want pads smaller than the axis");
  ExpectThrows([&] { RunOp(&ws, Pad("constant", {1, 1})); }, "pads");
  ExpectThrows([&] { RunOp(&ws, Pad("constant", {-1, 0, -1, 0})); }, "pads -1 and -1");
  ExpectThrows(
      [&] {
        RunOp(&ws, Pad("constant", {1, 1, 1, 1}, R"(arg { name: "stride" i: 2 })"));
      },
      "stride");
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "PadImage" input: "X" output: "Y" arg { name: "legacy_pad" i: 3 })");
      },
      "legacy_pad");
  ExpectThrows([&] { RunOp(&ws, Pad("edge", {2000000000, 0, 2000000000, 0})); }, "");
  FeedRange<float>(&ws, "X", {1, 2, 2});
  ExpectThrows([&] { RunOp(&ws, Pad("edge", {1, 1, 1, 1})); }, "[1, 2, 2]");
  FeedRange<float>(&ws, "X", {});
  ExpectThrows([&] { RunOp(&ws, Pad("edge", {1, 1, 1, 1})); }, "input 0 (X)");
  FeedRange<double>(&ws, "X", {1, 1, 2, 2});
  ExpectThrows([&] { RunOp(&ws, Pad("edge", {1, 1, 1, 1})); }, "double");
}

std::string PadGradient(const std::string& forward) {
  const std::string in = R"("PadImage" input: "X" output: "Y")";
  std::string text = forward;
  return text.replace(text.find(in), in.size(), R"("PadImageGradient" input: "dY" output: "dX")");
}

// The columns of Y are, by mode, (none, none, 0, 1, 2, none), (2, 1, 0, 1, 2, 1) and
// (0, 0, 0, 1, 2, 2) of X.
TEST(PadImageGradientTest, AddsUpTheCopiesOfEachPixel) {
  Workspace ws;
  Feed<float>(&ws, "dY", {1, 1, 1, 6}, {1, 10, 100, 1000, 10000, 100000});
  const auto run = [&](const std::string& mode, const std::vector<float>& want) {
    const std::string op = PadGradient(Pad(mode, {0, 2, 0, 1}));
    RunOp(&ws, op);
    ExpectTensor<float>(ws, "dX", {1, 1, 1, 3}, want);
    ExpectShapeInferred(&ws, op);
  };
  run("constant", {100, 1000, 10000});
  run("reflect", {100, 101010, 10001});
  run("edge", {111, 1000, 110000});
}

TEST(PadImageGradientTest, PixelsThatAreCroppedGetNothing) {
  Workspace ws;
  Feed<float>(&ws, "dY", {1, 1, 1, 2}, {1, 10});
  RunOp(&ws, PadGradient(Pad("edge", {0, -4, 0, 3})));  // Y is column 2 of X, twice
  ExpectTensor<float>(ws, "dX", {1, 1, 1, 3}, {0, 0, 11});
  RunOp(&ws, PadGradient(Pad("reflect", {0, -2, 0, 1})));
  ExpectTensor<float>(ws, "dX", {1, 1, 1, 3}, {0, 10, 1});
  RunOp(&ws, PadGradient(Pad("constant", {0, -1, 0, 0})));
  ExpectTensor<float>(ws, "dX", {1, 1, 1, 3}, {0, 1, 10});
}

TEST(PadImageGradientTest, AgreesWithDifferences) {
  Workspace ws;
  for (const char* mode : {"constant", "reflect", "edge"}) {
    for (const char* order : {"NCHW", "NHWC"}) {
      FeedRandom(&ws, "X", {1, 3, 3, 3});
      ExpectGradientMatches(
          &ws, Pad(mode, {2, 1, -1, 2}, MakeString("arg { name: \"order\" s: \"", order, "\" }")));
    }
  }
  EXPECT_EQ(DescribeGradient(R"(type: "PadImage" input: "X" output: "Y" arg { name: "pad" i: 1 })"),
            "PadImageGradient(Y_grad)->X_grad pad=1 | X_grad");
}

TEST(PadImageGradientTest, AnEmptyBatchGivesNothingAndErrorsNameTheShape) {
  Workspace ws;
  Feed<float>(&ws, "dY", {0, 1, 5, 5}, {});
  RunOp(&ws, PadGradient(Pad("reflect", {1, 1, 1, 1})));
  ExpectTensor<float>(ws, "dX", {0, 1, 3, 3}, {});
  ExpectThrows(
      [&] {
        RunOp(&ws, PadGradient(Pad("edge", {2, 1, 3, 1})));
      },
      "axis 0 of input 0 (dY) of shape [0, 1, 5, 5] has pads 2 and 3, want less");
  FeedRange<float>(&ws, "dY", {1, 1, 5, 5});
  ExpectThrows(
      [&] {
        RunOp(&ws, PadGradient(Pad("reflect", {0, 2, 0, 2})));
      },
      "want pads smaller than the axis");
  FeedRange<float>(&ws, "dY", {5, 5});
  ExpectThrows(
      [&] {
        RunOp(&ws, PadGradient(Pad("edge", {1, 1, 1, 1})));
      },
      "input 0 (dY) has shape [5, 5]");
}

// Padding before the input that is as long as the input is reflected at both of its ends.
TEST(PadImageTest, ReflectsLongPaddingTwice) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 1, 3}, 1);
  RunOp(&ws, Pad("reflect", {0, 4, 0, 2}));
  ExpectTensor<float>(ws, "Y", {1, 1, 1, 9}, {1, 2, 3, 2, 1, 2, 3, 2, 1});
  ExpectThrows([&] { RunOp(&ws, Pad("reflect", {0, 5, 0, 0})); },
               "axis of size 3 with pads 5 and 0 in mode reflect");
  ExpectThrows([&] { RunOp(&ws, Pad("reflect", {0, 0, 0, 3})); },
               "axis of size 3 with pads 0 and 3 in mode reflect");
  Feed<float>(&ws, "dY", {1, 1, 1, 9}, {1, 2, 4, 8, 16, 32, 64, 128, 256});
  RunOp(&ws, PadGradient(Pad("reflect", {0, 4, 0, 2})));
  ExpectTensor<float>(ws, "dX", {1, 1, 1, 3}, {1 + 16 + 256, 2 + 8 + 32 + 128, 4 + 64});
}

// The plan of the last shape is used again only for that shape.
TEST(PadImageTest, PlansAgainForEveryShape) {
  Workspace ws;
  NetDef def;
  def.set_name("pads");
  *def.add_op() = ParseOp(Pad("reflect", {0, 1, 0, 1}));
  *def.add_op() = ParseOp(PadGradient(Pad("reflect", {0, 2, 0, 1})));
  const auto feed = [&](int64_t x, int64_t dy) {
    FeedRange<float>(&ws, "X", {1, 1, 1, x}, 1);
    FeedRange<float>(&ws, "dY", {1, 1, 1, dy}, 1);
  };
  feed(3, 6);
  NetBase* const net = ws.CreateNet(def);
  const auto expect = [&] {
    feed(3, 6);
    ASSERT_TRUE(net->Run());
    ExpectTensor<float>(ws, "Y", {1, 1, 1, 5}, {2, 1, 2, 3, 2});
    ExpectTensor<float>(ws, "dX", {1, 1, 1, 3}, {3, 2 + 4 + 6, 1 + 5});
  };
  expect();
  feed(2, 5);  // dX has two elements, too few for its padding of 3 on the left
  ASSERT_TRUE(net->Run());
  ExpectTensor<float>(ws, "Y", {1, 1, 1, 4}, {2, 1, 2, 1});
  ExpectTensor<float>(ws, "dX", {1, 1, 1, 2}, {1 + 3 + 5, 2 + 4});
  expect();
  feed(1, 6);  // too short for X
  ExpectThrows([&] { net->Run(); }, "axis of size 1 with pads 1 and 1 in mode reflect");
  expect();
  feed(3, 4);  // too short for dX
  ExpectThrows([&] { net->Run(); }, "axis of size 1 with pads 2 and 1 in mode reflect");
  expect();
}

TEST(PadImageGradientTest, RejectsAxesThatArePaddingAlone) {
  Workspace ws;
  FeedRange<float>(&ws, "dY", {1, 1, 2, 3});
  ExpectThrows([&] { RunOp(&ws, PadGradient(Pad("constant", {1, 0, 1, 0}))); },
               "axis 0 of input 0 (dY) of shape [1, 1, 2, 3] has pads 1 and 1");
  ExpectThrows([&] { RunOp(&ws, PadGradient(Pad("constant", {0, 3, 0, 0}))); },
               "axis 1 of input 0 (dY) of shape [1, 1, 2, 3] has pads 3 and 0");
  RunOp(&ws, PadGradient(Pad("constant", {1, 1, 0, 1})));
  ExpectTensor<float>(ws, "dX", {1, 1, 1, 1}, {4});
  // In NHWC the axes are dimensions 1 and 2.
  const std::string nhwc = R"(arg { name: "order" s: "NHWC" })";
  RunOp(&ws, PadGradient(Pad("edge", {0, 1, 0, 0}, nhwc)));
  ExpectTensor<float>(ws, "dX", {1, 1, 1, 3}, {3, 5, 7});
  ExpectShapeInferred(&ws, PadGradient(Pad("edge", {0, 1, 0, 0}, nhwc)));
}

}  // namespace
}  // namespace caffe2rt::pad_image_test
