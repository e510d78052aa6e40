#include <cmath>

#include "tests/support/operator_test.h"

namespace caffe2rt::test::adam_test {
namespace {

// With these arguments and iteration 1 (the second one), the correction of the bias is
// sqrt(1 - 0.75^2) / (1 - 0.5^2).
constexpr char kArguments[] = R"( arg { name: "beta1" f: 0.5 } arg { name: "beta2" f: 0.75 }
                                  arg { name: "epsilon" f: 1 })";
const double kCorrection = std::sqrt(1 - 0.5625) / 0.75;

std::string Sparse(const char* type) {
  return MakeString("type: \"", type, R"(" input: "P" input: "M1" input: "M2" input: "I" input: "G"
      input: "L" input: "N" output: "P" output: "M1" output: "M2" output: "S")",
                    kArguments);
}

TEST(AdamTest, UpdatesTheParameterAndBothMoments) {
  Workspace ws;
  Feed<float>(&ws, "P", {2}, {10, 20});
  Feed<float>(&ws, "M1", {2}, {2, -4});
  Feed<float>(&ws, "M2", {2}, {0, 12});
  Feed<float>(&ws, "G", {2}, {4, 0});
  Feed<float>(&ws, "L", {1}, {-0.5f});
  Feed<int64_t>(&ws, "N", {1}, {1});
  const std::string op = std::string(R"(type: "Adam" input: "P" input: "M1" input: "M2" input: "G"
      input: "L" input: "N" output: "Q" output: "N1" output: "N2" output: "S")") +
                         kArguments;
  RunOp(&ws, op);
  const std::vector<double> step = {kCorrection * 3 / (2 + 1), kCorrection * -2 / (3 + 1)};
  ExpectTensor<float>(ws, "N1", {2}, {3, -2}, 1e-6);
  ExpectTensor<float>(ws, "N2", {2}, {4, 9}, 1e-6);
  ExpectTensor<float>(ws, "S", {2}, {float(step[0]), float(step[1])}, 1e-6);
  ExpectTensor<float>(ws, "Q", {2}, {float(10 - step[0] / 2), float(20 - step[1] / 2)}, 1e-6);
  ExpectShapeInferred(&ws, op);
}

TEST(AdamTest, RejectsOtherSizesAndTypes) {
  Workspace ws;
  const char* op = R"(type: "Adam" input: "P" input: "M" input: "M" input: "G" input: "L" input: "N"
                      output: "Q" output: "N1" output: "N2")";
  Feed<float>(&ws, "P", {2}, {10, 20});
  Feed<float>(&ws, "M", {2}, {2, -4});
  Feed<float>(&ws, "G", {2}, {4, 0});
  Feed<float>(&ws, "L", {1}, {1});
  Feed<int32_t>(&ws, "N", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, op); }, "int");
  Feed<int64_t>(&ws, "N", {0}, {});
  ExpectThrows([&] { RunOp(&ws, op); }, "elements of input 5 (iter)");
  Feed<float>(&ws, "L", {2}, {1, 2});
  ExpectThrows([&] { RunOp(&ws, op); }, "elements of input 4 (lr) of shape [2]");
  Feed<float>(&ws, "M", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, op); }, "elements of input 1 (moment_1) of shape [1]");
  Feed<float>(&ws, "P", {3}, {1, 2, 3});
  ExpectThrows([&] { RunOp(&ws, op); }, "elements of input 0 (param) of shape [3]");
}

TEST(SparseAdamTest, UpdatesARowOnceForEachOfItsIndices) {
  Workspace ws;
  Feed<float>(&ws, "P", {2, 1}, {10, 20});
  Feed<float>(&ws, "M1", {2, 1}, {2, -4});
  Feed<float>(&ws, "M2", {2, 1}, {0, 12});
  Feed<int32_t>(&ws, "I", {2}, {0, 0});
  Feed<float>(&ws, "G", {2, 1}, {4, 1});
  Feed<float>(&ws, "L", {1}, {-0.5f});
  Feed<int64_t>(&ws, "N", {1}, {1});
  RunOp(&ws, Sparse("SparseAdam"));
  // First moments 3 and 2, second moments 4 and 3.25.
  const double first = kCorrection, second = kCorrection * 2 / (std::sqrt(3.25) + 1);
  ExpectTensor<float>(ws, "M1", {2, 1}, {2, -4}, 1e-6);
  ExpectTensor<float>(ws, "M2", {2, 1}, {3.25f, 12}, 1e-6);
  ExpectTensor<float>(ws, "S", {2, 1}, {float(first), float(second)}, 1e-6);
  ExpectTensor<float>(ws, "P", {2, 1}, {float(10 - (first + second) / 2), 20}, 1e-6);
  ExpectShapeInferred(&ws, Sparse("SparseAdam"));

  Feed<int64_t>(&ws, "I", {2}, {0, 2});
  ExpectThrows([&] { RunOp(&ws, Sparse("SparseAdam")); }, "index 2 at position 1 is out of range");
  Feed<float>(&ws, "M2", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, Sparse("SparseAdam")); },
               "elements of input 2 (moment_2) of shape [1], want as many as input 0 (param)");
}

// Worked out in Python with the formulas of the paper; the moving average is long enough from t = 6.
TEST(SparseAdamTest, RectifiesTheRate) {
  struct Case {
    int64_t iteration;
    float step;
  };
  for (const Case& c : {Case{0, 27.3f}, Case{4, 6.6665f}, Case{5, 0.618322f}, Case{8, 0.944603f}}) {
    Workspace ws;
    Feed<float>(&ws, "P", {1, 1}, {0});
    Feed<float>(&ws, "M1", {1, 1}, {3});
    Feed<float>(&ws, "M2", {1, 1}, {3});
    Feed<int64_t>(&ws, "I", {1}, {0});
    Feed<float>(&ws, "G", {1, 1}, {0.3f});
    Feed<float>(&ws, "L", {1}, {1});
    Feed<int64_t>(&ws, "N", {1}, {c.iteration});
    RunOp(&ws, R"(type: "SparseAdam" input: "P" input: "M1" input: "M2" input: "I" input: "G"
        input: "L" input: "N" output: "P" output: "M1" output: "M2"
        arg { name: "beta2" f: 0.9 } arg { name: "enableRAdam" i: 1 })");
    ExpectTensor<float>(ws, "P", {1, 1}, {c.step}, 1e-5);
  }
}

TEST(RowWiseSparseAdamTest, UsesTheMeanOfTheSquaresOfARow) {
  Workspace ws;
  Feed<float>(&ws, "P", {2, 2}, {10, 20, 30, 40});
  Feed<float>(&ws, "M1", {2, 2}, {0, 0, 1, -1});
  Feed<float>(&ws, "M2", {2}, {7, 12});
  Feed<int64_t>(&ws, "I", {1}, {1});
  Feed<float>(&ws, "G", {1, 2}, {7, 1});
  Feed<float>(&ws, "L", {1}, {1});
  Feed<int64_t>(&ws, "N", {1}, {1});
  RunOp(&ws, Sparse("RowWiseSparseAdam"));
  // The second moment is 0.75 * 12 + 0.25 * 25.
  const double factor = kCorrection / (std::sqrt(15.25) + 1);
  ExpectTensor<float>(ws, "M1", {2, 2}, {0, 0, 4, 0}, 1e-6);
  ExpectTensor<float>(ws, "M2", {2}, {7, 15.25f}, 1e-6);
  ExpectTensor<float>(ws, "S", {1, 2}, {float(4 * factor), 0}, 1e-6);
  ExpectTensor<float>(ws, "P", {2, 2}, {10, 20, float(30 + 4 * factor), 40}, 1e-6);
  ExpectShapeInferred(&ws, Sparse("RowWiseSparseAdam"));
}

}  // namespace
}  // namespace caffe2rt::test::adam_test
