#include <cmath>

#include "tests/support/operator_test.h"

namespace caffe2rt::test::adagrad_test {
namespace {

constexpr char kSparseBlobs[] = R"( input: "P" input: "M" input: "I" input: "G" input: "L"
                                    output: "P" output: "M" arg { name: "epsilon" f: 1 })";
std::string Sparse(const char* type) { return MakeString("type: \"", type, "\"", kSparseBlobs); }

TEST(AdagradTest, UpdatesTheParameterAndReturnsTheStep) {
  Workspace ws;
  Feed<float>(&ws, "P", {2}, {10, 20});
  Feed<float>(&ws, "M", {2}, {9, 16});
  Feed<float>(&ws, "G", {2}, {4, -3});
  Feed<float>(&ws, "L", {1}, {-3});
  // The moments become 25, so the effective rate is -3 / (5 + 1).
  const char* op = R"(type: "Adagrad" input: "P" input: "M" input: "G" input: "L" output: "Q"
                      output: "N" output: "E" output: "U" arg { name: "epsilon" f: 1 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Q", {2}, {8, 21.5f}, 1e-6);
  ExpectTensor<float>(ws, "N", {2}, {25, 25}, 1e-6);
  ExpectTensor<float>(ws, "E", {2}, {-0.5f, -0.5f}, 1e-6);
  ExpectTensor<float>(ws, "U", {2}, {-2, 1.5f}, 1e-6);
  ExpectShapeInferred(&ws, op);
}

TEST(AdagradTest, DecaysMomentsAndWeightsInPlace) {
  Workspace ws;
  Feed<float>(&ws, "P", {1}, {10});
  Feed<float>(&ws, "M", {1}, {18});
  Feed<float>(&ws, "G", {1}, {3});
  Feed<float>(&ws, "L", {1}, {-3});
  // d = 3 + 0.1 * 10 = 4, the moment is 0.5 * 18 + 16 = 25.
  RunOp(&ws, R"(type: "Adagrad" input: "P" input: "M" input: "G" input: "L" output: "P" output: "M"
                arg { name: "epsilon" f: 1 } arg { name: "decay" f: 0.5 }
                arg { name: "weight_decay" f: 0.1 })");
  ExpectTensor<float>(ws, "P", {1}, {8}, 1e-6);
  ExpectTensor<float>(ws, "M", {1}, {25}, 1e-6);
}

TEST(SparseAdagradTest, UpdatesARowOnceForEachOfItsIndices) {
  Workspace ws;
  Feed<float>(&ws, "P", {3, 1}, {10, 20, 30});
  Feed<float>(&ws, "M", {3, 1}, {9, 5, 0});
  Feed<int64_t>(&ws, "I", {3}, {0, 2, 0});
  Feed<float>(&ws, "G", {3, 1}, {4, 1, 12});
  Feed<float>(&ws, "L", {1}, {6});
  // Row 0: 25, + 4 * 6 / 6; then 169, + 12 * 6 / 14. Row 2: 1, + 6 / 2.
  RunOp(&ws, Sparse("SparseAdagrad"));
  ExpectTensor<float>(ws, "M", {3, 1}, {169, 5, 1}, 1e-6);
  ExpectTensor<float>(ws, "P", {3, 1}, {14 + 36.0f / 7, 20, 33}, 1e-6);
  ExpectShapeInferred(&ws, Sparse("SparseAdagrad"));
}

TEST(SparseAdagradTest, RejectsIndicesOutOfRangeAndADecay) {
  Workspace ws;
  Feed<float>(&ws, "P", {2, 1}, {10, 20});
  Feed<float>(&ws, "M", {2, 1}, {9, 5});
  Feed<int32_t>(&ws, "I", {1}, {2});
  Feed<float>(&ws, "G", {1, 1}, {4});
  Feed<float>(&ws, "L", {1}, {6});
  const std::string op = Sparse("SparseAdagrad");
  ExpectThrows([&] { RunOp(&ws, op); }, "index 2 at position 0 is out of range");
  ExpectThrows([&] { RunOp(&ws, op + R"( arg { name: "decay" f: 0.5 })"); },
               "argument \"decay\" is 0.5, want 1");
  Feed<float>(&ws, "M", {1}, {9});
  ExpectThrows([&] { RunOp(&ws, op); }, "elements of input 1 (moment) of shape [1]");
  Feed<float>(&ws, "G", {2}, {4, 4});
  ExpectThrows([&] { RunOp(&ws, op); }, "input 3 (grad) has shape [2], want 1 elements");
}

TEST(RowWiseSparseAdagradTest, AddsTheMeanOfTheSquaresOfARow) {
  Workspace ws;
  Feed<float>(&ws, "P", {2, 2}, {10, 20, 30, 40});
  Feed<float>(&ws, "M", {2}, {3, 24});
  Feed<int32_t>(&ws, "I", {3}, {1, 0, 1});
  Feed<float>(&ws, "G", {3, 2}, {7, 1, 3, -3, 8, 0});
  Feed<float>(&ws, "L", {1}, {6});
  // Row 1: 24 + 25 = 49, factor 6 / 8; then 49 + 32 = 81, factor 6 / 10. Row 0: 12.
  RunOp(&ws, Sparse("RowWiseSparseAdagrad"));
  const float first = 6 / (std::sqrt(12.0f) + 1);
  ExpectTensor<float>(ws, "M", {2}, {12, 81}, 1e-6);
  ExpectTensor<float>(ws, "P", {2, 2},
                      {10 + 3 * first, 20 - 3 * first, 30 + 5.25f + 4.8f, 40 + 0.75f}, 1e-6);
  Feed<float>(&ws, "M", {3}, {1, 2, 3});
  ExpectThrows([&] { RunOp(&ws, Sparse("RowWiseSparseAdagrad")); },
               "elements of input 1 (moment) of shape [3], want one for each row");
}

TEST(SparseAdagradTest, AcceptsNoIndicesAndEmptyRows) {
  for (const char* type : {"SparseAdagrad", "RowWiseSparseAdagrad"}) {
    Workspace ws;
    Feed<float>(&ws, "P", {1, 1}, {10});
    Feed<float>(&ws, "M", {1}, {9});
    Feed<int64_t>(&ws, "I", {0}, {});
    Feed<float>(&ws, "G", {0, 1}, {});
    Feed<float>(&ws, "L", {1}, {6});
    RunOp(&ws, Sparse(type));
    ExpectTensor<float>(ws, "P", {1, 1}, {10});
    Feed<float>(&ws, "P", {1, 0}, {});
    Feed<float>(&ws, "M", type[0] == 'S' ? std::vector<int64_t>{0} : std::vector<int64_t>{1},
                std::vector<float>(type[0] == 'S' ? 0 : 1));
    Feed<int64_t>(&ws, "I", {1}, {0});
    Feed<float>(&ws, "G", {1, 0}, {});
    RunOp(&ws, Sparse(type));
    ExpectTensor<float>(ws, "P", {1, 0}, {});
  }
}

}  // namespace
}  // namespace caffe2rt::test::adagrad_test
