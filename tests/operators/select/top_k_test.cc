#include <limits>
#include <string>
#include <vector>

#include "caffe2_core/graph/shape_inference.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::top_k_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::RunOp;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(TopKTest, GivesTheLargestInDescendingOrderTiesByIndex) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 4}, {3, 1, 2, 3, 1, 1, 1, 1});
  const char* op =
      R"(type: "TopK" input: "X" output: "V" output: "I" output: "F" arg { name: "k" i: 3 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "V", {2, 3}, {3, 3, 2, 1, 1, 1});
  ExpectTensor<int64_t>(ws, "I", {2, 3}, {0, 3, 2, 0, 1, 2});
  ExpectTensor<int64_t>(ws, "F", {6}, {0, 3, 2, 4, 5, 6});
  ExpectShapeInferred(&ws, op);
}

TEST(TopKTest, RunsAlongAnotherAxis) {
  Workspace ws;
  Feed<float>(&ws, "X", {3, 2}, {1, 6, 5, 2, 3, 4});
  const char* op =
      R"(type: "TopK" input: "X" output: "V" output: "I" output: "F" arg { name: "k" i: 2 }
                      arg { name: "axis" i: 0 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "V", {2, 2}, {5, 6, 3, 4});
  ExpectTensor<int64_t>(ws, "I", {2, 2}, {1, 0, 2, 2});
  ExpectTensor<int64_t>(ws, "F", {4}, {2, 1, 4, 5});
  ExpectShapeInferred(&ws, op);
}

TEST(TopKTest, FillsUpWhereTheAxisIsShorter) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 1}, {4, 5});
  RunOp(&ws,
        R"(type: "TopK" input: "X" output: "V" output: "I" output: "F" arg { name: "k" i: 2 })");
  ExpectTensor<float>(ws, "V", {2, 2}, {4, 0, 5, 0});
  ExpectTensor<int64_t>(ws, "I", {2, 2}, {0, -1, 0, -1});
  ExpectTensor<int64_t>(ws, "F", {4}, {0, -1, 1, -1});
}

TEST(TopKTest, ReadsKFromAnInputUnlessTheArgumentIsGiven) {
  Workspace ws;
  Feed<float>(&ws, "X", {3}, {1, 3, 2});
  Feed<int64_t>(&ws, "K", {1}, {2});
  const char* op = R"(type: "TopK" input: "X" input: "K" output: "V" output: "I")";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "V", {2}, {3, 2});
  ExpectShapeInferred(&ws, op, true);
  RunOp(&ws,
        R"(type: "TopK" input: "X" input: "K" output: "V" output: "I" arg { name: "k" i: 1 })");
  ExpectTensor<float>(ws, "V", {1}, {3});
}

TEST(TopKTest, LetsNoNaNInThatComesLate) {
  Workspace ws;
  Feed<float>(&ws, "X", {5}, {1, 2, kNaN, 4, kNaN});
  RunOp(&ws, R"(type: "TopK" input: "X" output: "V" output: "I" arg { name: "k" i: 2 })");
  ExpectTensor<int64_t>(ws, "I", {2}, {3, 1});
  Feed<float>(&ws, "X", {3}, {kNaN, 2, 1});
  RunOp(&ws, R"(type: "TopK" input: "X" output: "V" output: "I" arg { name: "k" i: 1 })");
  ExpectTensor<int64_t>(ws, "I", {1}, {0});
}

TEST(TopKTest, AcceptsEmptyTensors) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 3}, {});
  RunOp(&ws, R"(type: "TopK" input: "X" output: "V" output: "I" arg { name: "k" i: 2 })");
  ExpectTensor<float>(ws, "V", {0, 2}, {});
  Feed<float>(&ws, "X", {0, 2}, {});
  RunOp(
      &ws,
      R"(type: "TopK" input: "X" output: "V" output: "I" arg { name: "k" i: 1 } arg { name: "axis" i: 0 })");
  ExpectTensor<int64_t>(ws, "I", {1, 2}, {-1, -1});
}

TEST(TopKTest, RejectsInvalidKAxesTypesAndScalars) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2}, {1, 2, 3, 4});
  Feed<float>(&ws, "S", {}, {1});
  Feed<int32_t>(&ws, "N", {2}, {1, 2});
  Feed<int64_t>(&ws, "E", {0}, {});
  const std::string outputs = R"( output: "V" output: "I" )";
  ExpectThrows([&] { RunOp(&ws, R"(type: "TopK" input: "X")" + outputs); },
               "argument k is -1, want at least 1");
  ExpectThrows([&] { RunOp(&ws, R"(type: "TopK" input: "X" input: "E")" + outputs); },
               "elements of input 1 (k)");
  for (const char* axis : {"-2", "2"}) {
    ExpectThrows(
        [&] {
          RunOp(&ws, R"(type: "TopK" input: "X")" + outputs +
                         R"(arg { name: "k" i: 1 } arg { name: "axis" i: )" + axis + "}");
        },
        "below the rank of input 0 of shape [2, 2]");
  }
  ExpectThrows(
      [&] { RunOp(&ws, R"(type: "TopK" input: "S")" + outputs + R"(arg { name: "k" i: 1 })"); },
      "argument axis");
  ExpectThrows(
      [&] { RunOp(&ws, R"(type: "TopK" input: "N")" + outputs + R"(arg { name: "k" i: 1 })"); },
      "float");
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "TopK" input: "X" output: "V" output: "V" arg { name: "k" i: 1 })");
      },
      "is listed twice");
}

TEST(TopKTest, InfersShapesOnlyFromAKOfOneOrMore) {
  Workspace ws;
  Feed<float>(&ws, "X", {4, 3}, std::vector<float>(12, 1));
  Feed<int64_t>(&ws, "K", {1}, {2});
  const auto infer = [&](const std::string& rest) {
    return test::InferShapes(ws, test::ParseOp("type: 'TopK' input: 'X' " + rest));
  };
  const std::string two = "output: 'V' output: 'I' ";
  ExpectThrows([&] { infer(two); }, "argument k: got -1, want at least 1");
  for (const char* k : {"-1", "0", "-2"}) {
    ExpectThrows([&] { infer(two + "arg { name: 'k' i: " + k + " }"); },
                 MakeString("argument k: got ", k, ", want at least 1"));
  }
  ExpectThrows([&] { infer("input: 'K' " + two + "arg { name: 'k' i: 0 }"); },
               "argument k: got 0, want at least 1");
  for (const char* k : {"", "arg { name: 'k' i: -1 }"}) {
    for (const TensorShape& shape : infer("input: 'K' " + two + k))
      EXPECT_TRUE(shape.unknown_shape()) << k;
  }
  const std::vector<TensorShape> known =
      infer(two + "output: 'F' arg { name: 'k' i: 5 } arg { name: 'axis' i: 0 }");
  ASSERT_EQ(known.size(), 3u);
  EXPECT_EQ(GetDimsVector(known[1]), (std::vector<int64_t>{5, 3}));
  EXPECT_EQ(GetDimsVector(known[2]), (std::vector<int64_t>{15}));
}

const char* const kGradient =
    R"(type: "TopKGradient" input: "dV" input: "I" input: "X" output: "dX")";

TEST(TopKGradientTest, PutsTheGradientsAtTheirIndices) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 3}, {9, 9, 9, 9, 9, 9});
  Feed<int64_t>(&ws, "I", {2, 2}, {2, 0, 1, -1});
  Feed<float>(&ws, "dV", {2, 2}, {1, 2, 3, 4});
  RunOp(&ws, kGradient);
  ExpectTensor<float>(ws, "dX", {2, 3}, {2, 0, 1, 0, 3, 0});
  ExpectShapeInferred(&ws, kGradient);

  Feed<int64_t>(&ws, "I", {1, 3}, {1, 0, 1});
  Feed<float>(&ws, "dV", {1, 3}, {1, 2, 3});
  const std::string first = std::string(kGradient) + R"( arg { name: "axis" i: 0 })";
  RunOp(&ws, first);
  ExpectTensor<float>(ws, "dX", {2, 3}, {0, 2, 0, 1, 0, 3});
  ExpectShapeInferred(&ws, first);
}

TEST(TopKGradientTest, AcceptsTensorsWithoutElements) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 3}, {});
  Feed<int64_t>(&ws, "I", {0, 2}, {});
  Feed<float>(&ws, "dV", {0, 2}, {});
  RunOp(&ws, kGradient);
  ExpectTensor<float>(ws, "dX", {0, 3}, {});
  Feed<float>(&ws, "X", {1, 0}, {});
  Feed<int64_t>(&ws, "I", {1, 2}, {-1, -1});
  Feed<float>(&ws, "dV", {1, 2}, {1, 1});
  RunOp(&ws, kGradient);
  ExpectTensor<float>(ws, "dX", {1, 0}, {});
}

TEST(TopKGradientTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 3}, {1, 2, 3});
  Feed<int64_t>(&ws, "I", {1, 2}, {0, 3});
  Feed<float>(&ws, "dV", {1, 2}, {1, 2});
  const auto run = [&] { RunOp(&ws, kGradient); };
  ExpectThrows(run, "of input 1 (Indices)");
  Feed<int64_t>(&ws, "I", {2}, {0, 1});
  ExpectThrows(run, "input 1 (Indices) has shape [2], want that of input 0 (dY) [1, 2]");
  Feed<float>(&ws, "dV", {2, 2}, {1, 2, 3, 4});
  ExpectThrows(run,
               "input 0 (dY) has shape [2, 2], want that of input 2 (X) [1, 3] except for dim 1");
}

TEST(TopKTest, PassesTheGradientToTheLargest) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 4}, {3, 1, -2, 5, 4, -1, 0.5f, 2});
  const std::string op = R"(type: "TopK" input: "X" output: "V" output: "I" )";
  test::ExpectGradientMatches(&ws, op + R"(arg { name: "k" i: 2 })");
  test::ExpectGradientMatches(&ws, op + R"(arg { name: "k" i: 3 } arg { name: "axis" i: 0 })");
}

}  // namespace
}  // namespace caffe2rt::top_k_test
