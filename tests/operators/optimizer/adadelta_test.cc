#include <cmath>

#include "tests/support/operator_test.h"

namespace caffe2rt::test::adadelta_test {
namespace {

constexpr char kArguments[] = R"( arg { name: "epsilon" f: 4 } arg { name: "decay" f: 0.75 })";
const std::string kDense = std::string(R"(type: "Adadelta" input: "P" input: "M" input: "D"
    input: "G" input: "L" output: "P" output: "M" output: "D")") +
                           kArguments;
const std::string kSparse = std::string(R"(type: "SparseAdadelta" input: "P" input: "M" input: "D"
    input: "I" input: "G" input: "L" output: "P" output: "M" output: "D")") +
                            kArguments;

TEST(AdadeltaTest, ScalesTheGradientByTheRatioOfTheRoots) {
  Workspace ws;
  Feed<float>(&ws, "P", {2}, {10, 20});
  Feed<float>(&ws, "M", {2}, {16, 0});
  Feed<float>(&ws, "D", {2}, {60, 0});
  Feed<float>(&ws, "G", {2}, {4, 0});
  Feed<float>(&ws, "L", {1}, {0.5f});
  RunOp(&ws, kDense);
  // The moment is 12 + 4, the step sqrt(64 / 20) * 4, its square 51.2.
  ExpectTensor<float>(ws, "M", {2}, {16, 0}, 1e-6);
  ExpectTensor<float>(ws, "D", {2}, {45 + 12.8f, 0}, 1e-6);
  ExpectTensor<float>(ws, "P", {2}, {10 + std::sqrt(3.2f) * 2, 20}, 1e-6);
  ExpectShapeInferred(&ws, kDense);
  Feed<float>(&ws, "D", {1}, {0});
  ExpectThrows([&] { RunOp(&ws, kDense); }, "elements of input 2 (moment_delta) of shape [1]");
}

TEST(AdadeltaTest, RejectsArgumentsOutOfRange) {
  Workspace ws;
  for (const char* name : {"P", "M", "D", "G", "L"}) Feed<float>(&ws, name, {1}, {1});
  for (const char* decay : {"0", "1", "-0.5", "nan"}) {
    const std::string text =
        std::string(R"(type: "Adadelta" input: "P" input: "M" input: "D" input: "G" input: "L"
                       output: "P" output: "M" output: "D" arg { name: "decay" f: )") +
        decay + " }";
    ExpectThrows([&] { RunOp(&ws, text); }, "argument \"decay\" is");
  }
  Feed<int32_t>(&ws, "I", {1}, {0});
  for (const char* epsilon : {"-0.5", "nan"}) {
    for (const char* op :
         {"type: 'Adadelta' input: 'P' input: 'M' input: 'D' input: 'G' input: 'L'",
          "type: 'SparseAdadelta' input: 'P' input: 'M' input: 'D' input: 'I' input: 'G' input: "
          "'L'"}) {
      const std::string text =
          std::string(op) +
          " output: 'P' output: 'M' output: 'D' arg { name: 'epsilon' f: " + epsilon + " }";
      ExpectThrows([&] { RunOp(&ws, text); }, "argument \"epsilon\" is");
    }
  }
}

TEST(SparseAdadeltaTest, UpdatesARowOnceForEachOfItsIndices) {
  Workspace ws;
  Feed<float>(&ws, "P", {2, 1}, {10, 20});
  Feed<float>(&ws, "M", {2, 1}, {5, 16});
  Feed<float>(&ws, "D", {2, 1}, {5, 60});
  Feed<int32_t>(&ws, "I", {2}, {1, 1});
  Feed<float>(&ws, "G", {2, 1}, {4, 2});
  Feed<float>(&ws, "L", {1}, {0.5f});
  RunOp(&ws, kSparse);
  // Second step: moment 12 + 1, step sqrt((57.8 + 4) / 17) * 2.
  const float first = std::sqrt(3.2f) * 4, second = std::sqrt(61.8f / 17) * 2;
  ExpectTensor<float>(ws, "M", {2, 1}, {5, 13}, 1e-6);
  ExpectTensor<float>(ws, "D", {2, 1}, {5, 0.75f * 57.8f + second * second / 4}, 1e-6);
  ExpectTensor<float>(ws, "P", {2, 1}, {10, 20 + (first + second) / 2}, 1e-6);
  ExpectShapeInferred(&ws, kSparse);
  Feed<int64_t>(&ws, "I", {2}, {1, -2});
  ExpectThrows([&] { RunOp(&ws, kSparse); }, "index -2 at position 1 is out of range");
  Feed<float>(&ws, "L", {2}, {1, 2});
  ExpectThrows([&] { RunOp(&ws, kSparse); }, "elements of input 5 (lr) of shape [2]");
}

}  // namespace
}  // namespace caffe2rt::test::adadelta_test
