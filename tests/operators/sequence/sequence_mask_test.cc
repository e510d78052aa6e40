#include <functional>
#include <limits>
#include <string>

#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::sequence_mask_test {
namespace {

// Kept elements keep their number, from 1 on; others become 0.
std::string Mask(const std::string& mode, int axis, const std::string& args = "") {
  const std::string lengths = mode == "sequence" || mode == "window" ? R"( input: "L")" : "";
  return MakeString(R"(type: "SequenceMask" input: "X")", lengths, R"( output: "Y"
                       arg { name: "fill_val" f: 0 } arg { name: "mode" s: ")",
                    mode, R"(" } arg { name: "axis" i: )", axis, " } ", args);
}
std::string Number(const std::string& name, int value) {
  return MakeString(R"( arg { name: ")", name, R"(" i: )", value, " }");
}

// Compares Y with X where kept(row, column) holds, for X of `rows` rows.
void ExpectKept(const Workspace& ws, int rows, const std::function<bool(int, int)>& kept) {
  const std::vector<float> x = Fetch<float>(ws, "X"), y = Fetch<float>(ws, "Y");
  ASSERT_EQ(x.size(), y.size());
  const int columns = static_cast<int>(x.size()) / rows;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const size_t i = static_cast<size_t>(row * columns + column);
      EXPECT_EQ(y[i], kept(row, column) ? x[i] : 0) << row << ", " << column;
    }
  }
}

TEST(SequenceMaskTest, KeepsThePositionsBelowTheLength) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {3, 4}, 1);
  Feed<int32_t>(&ws, "L", {3}, {1, 9, -2});
  RunOp(&ws, Mask("sequence", 1));
  ExpectTensor<float>(ws, "Y", {3, 4}, {1, 0, 0, 0, 5, 6, 7, 8, 0, 0, 0, 0});
  ExpectShapeInferred(&ws, Mask("sequence", 1));
  RunOp(&ws, Mask("sequence", -1));
  ExpectTensor<float>(ws, "Y", {3, 4}, {1, 0, 0, 0, 5, 6, 7, 8, 0, 0, 0, 0});
}

TEST(SequenceMaskTest, FillsWithMinusInfinityByDefault) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  Workspace ws;
  Feed<float>(&ws, "X", {2}, {1, kInf});
  Feed<int32_t>(&ws, "L", {1}, {1});
  const std::string op = R"(type: "SequenceMask" input: "X" input: "L" output: "Y"
                            arg { name: "mode" s: "sequence" } arg { name: "axis" i: 0 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {2}, {1, -kInf});
  RunOp(&ws, op + R"( arg { name: "grad" i: 1 } arg { name: "fill_val" f: 3 })");
  ExpectTensor<float>(ws, "Y", {2}, {1, 0});
}

TEST(SequenceMaskTest, KeepsAWindow) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {4, 5}, 1);
  Feed<int32_t>(&ws, "L", {4}, {2, -1, 5, 2147483647});
  RunOp(&ws, Mask("window", 1, Number("radius", 1)));
  ExpectKept(ws, 4, [](int row, int column) {
    const int64_t center[] = {2, -1, 5, 2147483647};
    return std::abs(column - center[row]) <= 1;
  });
  RunOp(&ws, Mask("window", 1, Number("radius", -1)));
  ExpectKept(ws, 4, [](int, int) { return false; });
}

TEST(SequenceMaskTest, KeepsTriangles) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {3, 2, 2}, 1);
  for (const int axis : {0, 1, 2}) {
    const int rows = axis == 0 ? 1 : axis == 1 ? 3 : 6;
    RunOp(&ws, Mask("upper", axis));
    ExpectKept(ws, rows, [](int i, int j) { return j <= i; });
    RunOp(&ws, Mask("lower", axis));
    ExpectKept(ws, rows, [](int i, int j) { return j >= i; });
    RunOp(&ws, Mask("upperdiag", axis));
    ExpectKept(ws, rows, [](int i, int j) { return j < i; });
    RunOp(&ws, Mask("lowerdiag", axis));
    ExpectKept(ws, rows, [](int i, int j) { return j > i; });
  }
}

TEST(SequenceMaskTest, RepeatsTheMaskInABatch) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3, 4}, 1);
  Feed<int32_t>(&ws, "L", {3}, {1, 0, 3});
  RunOp(&ws, Mask("sequence", 2, Number("batch", 0)));
  ExpectKept(ws, 6, [](int row, int j) {
    const int lengths[] = {1, 0, 3};
    return j < lengths[row % 3];
  });
  RunOp(&ws, Mask("lower", 2, Number("batch", -3)));
  ExpectKept(ws, 6, [](int row, int j) { return j >= row % 3; });
  RunOp(&ws, Mask("sequence", 2, Number("batch", 1)));
  ExpectKept(ws, 6, [](int, int j) { return j < 1; });
}

TEST(SequenceMaskTest, RepeatsThePositionsOfInnerDimensions) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3, 2}, 1);
  Feed<int32_t>(&ws, "L", {2}, {1, 2});
  const auto kept = [](int row, int j) { return j / 2 < row + 1; };
  RunOp(&ws, Mask("sequence", 1, Number("repeat_from_axis", 2)));
  ExpectKept(ws, 2, kept);
  RunOp(&ws, Mask("sequence", 1, Number("repeat_from_axis", -1)));
  ExpectKept(ws, 2, kept);
  Feed<int32_t>(&ws, "L", {2}, {0, 1});
  RunOp(&ws, Mask("sequence", 1, Number("repeat_from_axis", 1)));
  ExpectKept(ws, 2, [](int row, int) { return row == 1; });
}

TEST(SequenceMaskTest, AcceptsEmptyTensors) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 3}, {});
  Feed<int32_t>(&ws, "L", {0}, {});
  RunOp(&ws, Mask("sequence", 1));
  ExpectTensor<float>(ws, "Y", {0, 3}, {});
  Feed<float>(&ws, "X", {3, 0}, {});
  RunOp(&ws, Mask("sequence", 1));
  ExpectTensor<float>(ws, "Y", {3, 0}, {});
  Feed<float>(&ws, "X", {3, 2, 0}, {});
  RunOp(&ws, Mask("sequence", 1, Number("repeat_from_axis", 2)));
  ExpectTensor<float>(ws, "Y", {3, 2, 0}, {});
}

TEST(SequenceMaskTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  const auto run = [&](const std::string& op) { return [&ws, op] { RunOp(&ws, op); }; };
  FeedRange<float>(&ws, "X", {2, 3});
  Feed<int32_t>(&ws, "L", {1}, {1});
  ExpectThrows(run(Mask("sequence", 1)), "input 1 (sequence_lengths) has 1 elements, want 2");
  ExpectThrows(run(Mask("diagonal", 1)),
               "argument \"mode\" is \"diagonal\", want sequence, window");
  ExpectThrows(run(R"(type: "SequenceMask" input: "X" output: "Y")"), "mode");
  ExpectThrows(
      run(R"(type: "SequenceMask" input: "X" output: "Y" arg { name: "mode" s: "window" })"),
      "want input 1 (sequence_lengths)");
  ExpectThrows(run(Mask("upper", 2)), "2");
  ExpectThrows(run(Mask("upper", 1, Number("batch", 1))),
               "argument batch, want a dimension before axis");
  ExpectThrows(run(Mask("upper", 1, Number("repeat_from_axis", 1))), "want mode sequence");
  ExpectThrows(run(Mask("sequence", 1, Number("repeat_from_axis", 1) + Number("batch", 0))),
               "arguments batch and repeat_from_axis are both given");
  ExpectThrows(run(Mask("sequence", 1, Number("repeat_from_axis", 0))),
               "argument repeat_from_axis, want axis or a later dimension");
  FeedRange<double>(&ws, "X", {2, 3});
  ExpectThrows(run(Mask("upper", 1)), "has elements of type double, want float");
}

TEST(SequenceMaskTest, IsItsOwnGradient) {
  const std::string upper =
      R"(type: "SequenceMask" input: "X" output: "Y" arg { name: "mode" s: "upper" })";
  EXPECT_EQ(DescribeGradient(upper), "SequenceMask(Y_grad)->X_grad grad=1 mode=\"upper\" | X_grad");
  EXPECT_EQ(DescribeGradient(upper + Number("grad", 0)),
            "SequenceMask(Y_grad)->X_grad grad=1 mode=\"upper\" | X_grad");
  EXPECT_EQ(DescribeGradient(R"(type: "SequenceMask" input: "X" input: "L" output: "Y"
                                arg { name: "mode" s: "window" })"),
            "SequenceMask(Y_grad,L)->X_grad grad=1 mode=\"window\" | X_grad -");
}

}  // namespace
}  // namespace caffe2rt::test::sequence_mask_test
