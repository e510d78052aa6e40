#include "caffe2_core/graph/gradient.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::lengths_tile_test {
namespace {

const char* const kTile = R"(type: "LengthsTile" input: "X" input: "L" output: "Y")";

TEST(LengthsTileTest, RepeatsRows) {
  Workspace ws;
  Feed<float>(&ws, "X", {3, 2}, {1, 2, 3, 4, 5, 6});
  Feed<int32_t>(&ws, "L", {3}, {2, 0, 1});
  RunOp(&ws, kTile);
  ExpectTensor<float>(ws, "Y", {3, 2}, {1, 2, 1, 2, 5, 6});
  ExpectShapeInferred(&ws, kTile, true);
}

TEST(LengthsTileTest, RepeatsStrings) {
  Workspace ws;
  Feed<std::string>(&ws, "X", {2}, {"a", "b"});
  Feed<int32_t>(&ws, "L", {2}, {1, 2});
  RunOp(&ws, kTile);
  ExpectTensor<std::string>(ws, "Y", {3}, {"a", "b", "b"});
}

TEST(LengthsTileTest, ReturnsNoRowsForLengthsOfZero) {
  Workspace ws;
  Feed<int64_t>(&ws, "X", {2}, {1, 2});
  Feed<int32_t>(&ws, "L", {2}, {0, 0});
  RunOp(&ws, kTile);
  ExpectTensor<int64_t>(ws, "Y", {0}, {});
  Feed<float>(&ws, "X", {0, 3}, {});
  Feed<int32_t>(&ws, "L", {0}, {});
  RunOp(&ws, kTile);
  ExpectTensor<float>(ws, "Y", {0, 3}, {});
}

TEST(LengthsTileTest, RejectsLengthsThatDoNotFit) {
  Workspace ws;
  Feed<float>(&ws, "X", {2}, {1, 2});
  const auto rejects = [&](const char* part) { ExpectThrows([&] { RunOp(&ws, kTile); }, part); };
  Feed<int32_t>(&ws, "L", {1}, {2});
  rejects("elements of input 1 (lengths), want the rows of input 0 (data) of shape");
  Feed<int32_t>(&ws, "L", {2}, {2, -1});
  rejects("element 1 of input 1 (lengths), want at least 0");
  Feed<int32_t>(&ws, "L", {1, 2}, {2, 1});
  rejects("rank of input 1 (lengths) of shape");
  Feed<float>(&ws, "X", {}, {1});
  rejects("rank of input 0 (data)");
}

TEST(LengthsTileTest, SumsTheGradientsOfRepeatedRows) {
  Workspace ws;
  Feed<float>(&ws, "X", {3}, {1, 2, 3});
  Feed<int32_t>(&ws, "L", {3}, {2, 0, 1});
  const GradientOpsMeta made = GetGradientForOp(ParseOp(kTile), {{.dense_ = "dY"}});
  ASSERT_EQ(made.ops_.size(), 1u);
  Feed<float>(&ws, "dY", {3}, {1, 10, 100});
  ws.RunOperatorOnce(made.ops_[0]);
  ExpectTensor<float>(ws, made.g_input_[0].dense_, {3}, {11, 0, 100});
}

}  // namespace
}  // namespace caffe2rt::test::lengths_tile_test
