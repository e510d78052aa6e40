#include <cmath>

#include "tests/support/operator_test.h"

namespace caffe2rt::test::ftrl_test {
namespace {

constexpr char kArguments[] = R"( arg { name: "alpha" f: 0.5 } arg { name: "beta" f: 1 }
    arg { name: "lambda1" f: 2 } arg { name: "lambda2" f: 4 })";
constexpr char kBlobs[] = R"( input: "W" input: "S" input: "G" output: "W" output: "S")";

// n' = 9 + 16 = 25, z' = z + 4 - (5 - 3) / 0.5 * w; the divisor is (1 + 5) / 0.5 + 4 = 16.
TEST(FtrlTest, ShrinksSmallSumsToZero) {
  Workspace ws;
  Feed<float>(&ws, "W", {3}, {1, 1, 2});
  Feed<float>(&ws, "S", {3, 2}, {9, 10, 9, 2, 9, -16});
  Feed<float>(&ws, "G", {3}, {4, 4, 4});
  const std::string op = std::string(R"(type: "Ftrl")") + kBlobs + kArguments;
  RunOp(&ws, op);
  // z' is 10, 2 and -20.
  ExpectTensor<float>(ws, "S", {3, 2}, {25, 10, 25, 2, 25, -20}, 1e-6);
  ExpectTensor<float>(ws, "W", {3}, {-0.5f, 0, 1.125f}, 1e-6);
  ExpectShapeInferred(&ws, op);
}

TEST(FtrlTest, ReadsAlphaFromAnInput) {
  Workspace ws;
  Feed<float>(&ws, "W", {1}, {1});
  Feed<float>(&ws, "S", {1, 2}, {9, 10});
  Feed<float>(&ws, "G", {1}, {4});
  Feed<float>(&ws, "A", {1}, {0.5f});
  const std::string op = R"(type: "Ftrl" input: "W" input: "S" input: "G" input: "A" output: "W"
      output: "S" arg { name: "lambda1" f: 2 } arg { name: "lambda2" f: 4 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "W", {1}, {-0.5f}, 1e-6);
  ExpectThrows([&] { RunOp(&ws, op + R"( arg { name: "alpha" f: 0.5 })"); },
               "alpha is given by both the argument and input 3");
  Feed<float>(&ws, "A", {2}, {1, 1});
  ExpectThrows([&] { RunOp(&ws, op); }, "elements of input 3 (alpha) of shape [2]");
  Feed<float>(&ws, "S", {3}, {9, 10, 1});
  ExpectThrows([&] { RunOp(&ws, op); }, "elements of input 1 (nz) of shape [3]");
  Feed<float>(&ws, "G", {2}, {4, 4});
  ExpectThrows([&] { RunOp(&ws, op); }, "elements of input 2 (grad) of shape [2]");
}

TEST(SparseFtrlTest, UpdatesARowOnceForEachOfItsIndices) {
  Workspace ws;
  Feed<float>(&ws, "W", {2, 1}, {7, 1});
  Feed<float>(&ws, "S", {2, 1, 2}, {1, 1, 9, 10});
  Feed<int32_t>(&ws, "I", {2}, {1, 1});
  Feed<float>(&ws, "G", {2, 1}, {4, 12});
  const std::string op = std::string(R"(type: "SparseFtrl" input: "W" input: "S" input: "I"
      input: "G" output: "W" output: "S")") +
                         kArguments;
  RunOp(&ws, op);
  // First 25, 10, w = -1/2; then n = 169, z = 10 + 12 + 8 / 0.5 / 2 = 30, divisor 28 + 4.
  ExpectTensor<float>(ws, "S", {2, 1, 2}, {1, 1, 169, 30}, 1e-6);
  ExpectTensor<float>(ws, "W", {2, 1}, {7, -0.875f}, 1e-6);
  ExpectShapeInferred(&ws, op);
  Feed<int64_t>(&ws, "I", {2}, {1, 2});
  ExpectThrows([&] { RunOp(&ws, op); }, "index 2 at position 1 is out of range");
  Feed<float>(&ws, "G", {1}, {4});
  ExpectThrows([&] { RunOp(&ws, op); }, "elements of input 3 (grad) of shape [1], want 1, as in");
}

TEST(GFtrlTest, ShrinksAColumnByItsNorm) {
  Workspace ws;
  Feed<float>(&ws, "W", {2, 3}, {1, 1, 1, 1, 1, 1});
  Feed<float>(&ws, "S", {2, 3, 2}, {9, 3, 9, 1, 9, 0, 9, 4, 9, 2, 9, 2});
  Feed<float>(&ws, "G", {2, 3}, {4, 4, 4, 4, 4, 4});
  const std::string op = std::string(R"(type: "GFtrl")") + kBlobs + kArguments;
  RunOp(&ws, op);
  // z' = z; the norms of the columns are 5, sqrt(5) and 2, the least norm is 2 sqrt(2).
  const float factor = (2 * std::sqrt(2.0f) / 5 - 1) / 16;
  ExpectTensor<float>(ws, "W", {2, 3}, {3 * factor, 0, 0, 4 * factor, 0, 0}, 1e-6);
  ExpectTensor<float>(ws, "S", {2, 3, 2}, {25, 3, 25, 1, 25, 0, 25, 4, 25, 2, 25, 2}, 1e-6);
  ExpectShapeInferred(&ws, op);
}

TEST(FtrlTest, AcceptsEmptyTensors) {
  for (const char* type : {"Ftrl", "GFtrl"}) {
    Workspace ws;
    Feed<float>(&ws, "W", {0}, {});
    Feed<float>(&ws, "S", {0, 2}, {});
    Feed<float>(&ws, "G", {0}, {});
    RunOp(&ws, MakeString("type: \"", type, "\"", kBlobs));
    ExpectTensor<float>(ws, "W", {0}, {});
  }
}

}  // namespace
}  // namespace caffe2rt::test::ftrl_test
