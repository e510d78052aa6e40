#include "tests/support/operator_test.h"

namespace caffe2rt::test::storm_test {
namespace {

constexpr char kArguments[] = R"( arg { name: "momentum" f: 2 } arg { name: "beta" f: 1 })";

// The sum of squares becomes 2 + 5, so the rate is 1 / 8^(1/3) and alpha is 2 / 4.
TEST(StormTest, MixesTheMomentAndTheGradient) {
  Workspace ws;
  Feed<float>(&ws, "P", {2}, {10, 20});
  Feed<float>(&ws, "M", {2}, {5, -6});
  Feed<float>(&ws, "S", {1}, {2});
  Feed<float>(&ws, "G", {2}, {1, 2});
  Feed<float>(&ws, "L", {1}, {1});
  const std::string op = std::string(R"(type: "Storm" input: "P" input: "M" input: "S" input: "G"
      input: "L" output: "P" output: "M" output: "S")") +
                         kArguments;
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "S", {1}, {7});
  ExpectTensor<float>(ws, "M", {2}, {3, -2}, 1e-6);
  ExpectTensor<float>(ws, "P", {2}, {11.5f, 19}, 1e-6);
  ExpectShapeInferred(&ws, op);
  Feed<float>(&ws, "S", {2}, {1, 1});
  ExpectThrows([&] { RunOp(&ws, op); }, "elements of input 2 (grad_sq_sum) of shape [2]");
  Feed<float>(&ws, "M", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, op); }, "elements of input 1 (moment) of shape [1]");
}

TEST(SparseStormTest, UpdatesARowOnceForEachOfItsIndices) {
  Workspace ws;
  Feed<float>(&ws, "P", {2, 1}, {10, 20});
  Feed<float>(&ws, "M", {2, 1}, {5, -6});
  Feed<float>(&ws, "S", {1}, {2});
  Feed<float>(&ws, "G", {2, 1}, {1, 2});
  Feed<int32_t>(&ws, "I", {2}, {0, 0});
  Feed<float>(&ws, "L", {1}, {1});
  const std::string op = std::string(R"(type: "SparseStorm" input: "P" input: "M" input: "S"
      input: "G" input: "I" input: "L" output: "P" output: "M" output: "S")") +
                         kArguments;
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "S", {1}, {7});
  ExpectTensor<float>(ws, "M", {2, 1}, {2.5f, -6}, 1e-6);  // 3, then 2.5
  ExpectTensor<float>(ws, "P", {2, 1}, {12.75f, 20}, 1e-6);
  ExpectShapeInferred(&ws, op);
  Feed<int64_t>(&ws, "I", {2}, {0, 2});
  ExpectThrows([&] { RunOp(&ws, op); }, "index 2 at position 1 is out of range");
}

}  // namespace
}  // namespace caffe2rt::test::storm_test
