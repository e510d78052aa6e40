#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::tile_test {
namespace {

using test::ExpectGradientMatches;
using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRange;
using test::RunOp;

TEST(TileTest, RepeatsAlongEachAxis) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 2});
  const char* rows =
      R"(type: "Tile" input: "X" output: "Y" arg { name: "tiles" i: 2 } arg { name: "axis" i: 0 })";
  RunOp(&ws, rows);
  ExpectTensor<float>(ws, "Y", {4, 2}, {0, 1, 2, 3, 0, 1, 2, 3});
  ExpectShapeInferred(&ws, rows);
  const char* columns =
      R"(type: "Tile" input: "X" output: "Y" arg { name: "tiles" i: 3 } arg { name: "axis" i: -1 })";
  RunOp(&ws, columns);
  ExpectTensor<float>(ws, "Y", {2, 6}, {0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3});
  ExpectShapeInferred(&ws, columns);
}

TEST(TileTest, RepeatsZeroTimesAndStrings) {
  Workspace ws;
  Feed<std::string>(&ws, "X", {2, 1}, {"a", "b"});
  RunOp(
      &ws,
      R"(type: "Tile" input: "X" output: "Y" arg { name: "tiles" i: 2 } arg { name: "axis" i: 1 })");
  ExpectTensor<std::string>(ws, "Y", {2, 2}, {"a", "a", "b", "b"});
  RunOp(
      &ws,
      R"(type: "Tile" input: "X" output: "Y" arg { name: "tiles" i: 0 } arg { name: "axis" i: 0 })");
  ExpectTensor<std::string>(ws, "Y", {0, 1}, {});
}

TEST(TileTest, PrefersCountsOfInputsToArguments) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 2});
  Feed<int32_t>(&ws, "T", {1}, {2});
  Feed<int64_t>(&ws, "A", {1}, {-2});
  const char* op =
      R"(type: "Tile" input: "X" input: "T" input: "A" output: "Y" arg { name: "tiles" i: 9 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {2, 2}, {0, 1, 0, 1});
  ExpectShapeInferred(&ws, op, true);
}

// A peculiarity of Caffe2 that nets may rely on.
TEST(TileTest, TilesAxisZeroWithInt64TilesAndNoAxisInput) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 2});
  Feed<int64_t>(&ws, "T", {1}, {2});
  RunOp(&ws, R"(type: "Tile" input: "X" input: "T" output: "Y" arg { name: "axis" i: 1 })");
  ExpectTensor<float>(ws, "Y", {2, 2}, {0, 1, 0, 1});
}

TEST(TileTest, RejectsMissingAndInvalidCounts) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 2});
  FeedRange<int16_t>(&ws, "S", {2});
  Feed<int32_t>(&ws, "T", {2}, {1, 2});
  const std::string head = R"(type: "Tile" input: "X" output: "Y" )";
  ExpectThrows([&] { RunOp(&ws, head + R"(arg { name: "tiles" i: 2 })"); },
               "argument axis is missing");
  ExpectThrows([&] { RunOp(&ws, head + R"(arg { name: "axis" i: 0 })"); },
               "argument tiles is missing");
  ExpectThrows(
      [&] { RunOp(&ws, head + R"(arg { name: "axis" i: 0 } arg { name: "tiles" i: -1 })"); },
      "tiles, want at least 0");
  EXPECT_THROW(RunOp(&ws, head + R"(arg { name: "axis" i: 2 } arg { name: "tiles" i: 1 })"),
               EnforceNotMet);
  ExpectThrows([&] { RunOp(&ws, head + R"(input: "T" arg { name: "axis" i: 0 })"); },
               "input 1 (tiles) has shape [2], want [1]");
  ExpectThrows(
      [&] {
        RunOp(
            &ws,
            R"(type: "Tile" input: "S" output: "Y" arg { name: "tiles" i: 2 } arg { name: "axis" i: 0 })");
      },
      "input 0 (X) has elements of type int16");
}

std::string Gradient(int tiles, int axis) {
  return MakeString(R"(type: "TileGradient" input: "dY" output: "dX" arg { name: "tiles" i: )",
                    tiles, R"( } arg { name: "axis" i: )", axis, " }");
}

TEST(TileGradientTest, AddsTheRepetitions) {
  Workspace ws;
  FeedRange<float>(&ws, "dY", {2, 4}, 1);
  RunOp(&ws, Gradient(2, 0));
  ExpectTensor<float>(ws, "dX", {1, 4}, {6, 8, 10, 12});
  ExpectShapeInferred(&ws, Gradient(2, 0));
  RunOp(&ws, Gradient(2, 1));
  ExpectTensor<float>(ws, "dX", {2, 2}, {4, 6, 12, 14});
  RunOp(&ws, Gradient(4, -1));
  ExpectTensor<float>(ws, "dX", {2, 1}, {10, 26});
  ExpectShapeInferred(&ws, Gradient(4, -1));
  Feed<float>(&ws, "dY", {0, 4}, {});
  RunOp(&ws, Gradient(2, 1));
  ExpectTensor<float>(ws, "dX", {0, 2}, {});
}

TEST(TileGradientTest, AcceptsElementsOfFourTypes) {
  Workspace ws;
  FeedRange<double>(&ws, "dY", {4}, 0.5);
  RunOp(&ws, Gradient(2, 0));
  ExpectTensor<double>(ws, "dX", {2}, {3, 5});
  Feed<int32_t>(&ws, "dY", {2}, {2147483647, 1});
  RunOp(&ws, Gradient(2, 0));
  ExpectTensor<int32_t>(ws, "dX", {1}, {-2147483648});  // wraps around
  FeedRange<int64_t>(&ws, "dY", {4}, 1);
  RunOp(&ws, Gradient(2, 0));
  ExpectTensor<int64_t>(ws, "dX", {2}, {4, 6});
  FeedRange<uint8_t>(&ws, "dY", {4});
  ExpectThrows([&] { RunOp(&ws, Gradient(2, 0)); }, "input 0 (dY) has elements of type");
}

// Recorded from the original: unlike Tile, int64 tiles do not change the axis.
TEST(TileGradientTest, ReadsCountsFromInputs) {
  Workspace ws;
  FeedRange<float>(&ws, "dY", {2, 4});
  Feed<int64_t>(&ws, "T", {1}, {2});
  Feed<int32_t>(&ws, "A", {1}, {1});
  const char* op =
      R"(type: "TileGradient" input: "dY" input: "T" output: "dX" arg { name: "axis" i: 1 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "dX", {2, 2}, {2, 4, 10, 12});
  ExpectShapeInferred(&ws, op, true);
  RunOp(&ws, R"(type: "TileGradient" input: "dY" input: "T" input: "A" output: "dX")");
  ExpectTensor<float>(ws, "dX", {2, 2}, {2, 4, 10, 12});
}

TEST(TileGradientTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  FeedRange<float>(&ws, "dY", {2, 4});
  ExpectThrows([&] { RunOp(&ws, Gradient(3, 1)); },
               "dim 1 of input 0 (dY) of shape [2, 4], want a multiple of tiles 3");
  ExpectThrows([&] { RunOp(&ws, Gradient(0, 1)); }, "tiles, want at least 1");
  ExpectThrows([&] { RunOp(&ws, R"(type: "TileGradient" input: "dY" output: "dX")"); },
               "argument tiles is missing");
}

TEST(TileTest, HasTheSumOfTheRepetitionsAsGradient) {
  Workspace ws;
  test::FeedRandom(&ws, "X", {2, 3});
  Feed<int32_t>(&ws, "T", {1}, {3});
  ExpectGradientMatches(
      &ws,
      R"(type: "Tile" input: "X" output: "Y" arg { name: "tiles" i: 2 } arg { name: "axis" i: 0 })");
  ExpectGradientMatches(
      &ws, R"(type: "Tile" input: "X" input: "T" output: "Y" arg { name: "axis" i: -1 })");
}

TEST(NumpyTileTest, RepeatsAllDimensions) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 2});
  Feed<int64_t>(&ws, "R", {2}, {2, 3});
  const std::string op = R"(type: "NumpyTile" input: "X" input: "R" output: "Y")";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {4, 6}, {0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3,  //
                                        0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3});
  Feed<int64_t>(&ws, "R", {2}, {0, 2});
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {0, 4}, {});
  Feed<int64_t>(&ws, "R", {2}, {-1, 2});
  ExpectThrows([&] { RunOp(&ws, op); }, "element 0 of repeats: got -1, want at least 0");
  Feed<int64_t>(&ws, "R", {1}, {2});
  ExpectThrows([&] { RunOp(&ws, op); },
               "elements of repeats, want the rank of input 0 (X) of shape [2, 2] (got 1, want 2)");
  Feed<int64_t>(&ws, "R", {2}, {int64_t{1} << 62, 4});
  ExpectThrows([&] { RunOp(&ws, op); }, "size overflow");
  Feed<int32_t>(&ws, "R", {2}, {1, 2});
  ExpectThrows([&] { RunOp(&ws, op); }, "int64");
  Feed<bool>(&ws, "X", {}, {true});
  Feed<int64_t>(&ws, "R", {0}, {});
  RunOp(&ws, op);
  ExpectTensor<bool>(ws, "Y", {}, {true});
  EXPECT_THROW(test::DescribeGradient(op), EnforceNotMet);
}

}  // namespace
}  // namespace caffe2rt::tile_test
