#include "tests/support/operator_test.h"

namespace caffe2rt::test::wngrad_test {
namespace {

TEST(WngradTest, DividesByTheState) {
  Workspace ws;
  Feed<float>(&ws, "P", {2}, {10, 20});
  Feed<float>(&ws, "B", {1}, {3});
  Feed<float>(&ws, "G", {2}, {2, -4});
  Feed<float>(&ws, "L", {1}, {2});
  const char* op = R"(type: "Wngrad" input: "P" input: "B" input: "G" input: "L" output: "Q"
                      output: "C" output: "E" output: "U" arg { name: "epsilon" f: 1 })";
  RunOp(&ws, op);
  // The rate is 2 / (3 + 1), the state 3 + 20 / (3 + 1).
  ExpectTensor<float>(ws, "Q", {2}, {11, 18});
  ExpectTensor<float>(ws, "C", {1}, {8});
  ExpectTensor<float>(ws, "E", {1}, {0.5f});
  ExpectTensor<float>(ws, "U", {2}, {1, -2});
  ExpectShapeInferred(&ws, op);
  Feed<float>(&ws, "G", {1}, {2});
  ExpectThrows([&] { RunOp(&ws, op); }, "elements of input 2 (grad) of shape [1]");
}

TEST(SparseWngradTest, UpdatesRows) {
  Workspace ws;
  Feed<float>(&ws, "P", {2, 1}, {10, 20});
  Feed<float>(&ws, "B", {1}, {4});
  Feed<int64_t>(&ws, "I", {2}, {1, 1});
  Feed<float>(&ws, "G", {2, 1}, {2, -4});
  Feed<float>(&ws, "L", {1}, {10});
  const std::string op = R"(type: "SparseWngrad" input: "P" input: "B" input: "I" input: "G"
      input: "L" output: "P" output: "B" arg { name: "epsilon" f: 1 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "P", {2, 1}, {10, 16});
  ExpectTensor<float>(ws, "B", {1}, {9});  // 4 + 20 / 4
  ExpectShapeInferred(&ws, op);
  Feed<float>(&ws, "B", {1}, {9});
  Feed<int32_t>(&ws, "I", {2}, {0, 2});
  ExpectThrows([&] { RunOp(&ws, op); }, "index 2 at position 1 is out of range");
  ExpectTensor<float>(ws, "B", {1}, {9});
  Feed<float>(&ws, "B", {2}, {1, 1});
  ExpectThrows([&] { RunOp(&ws, op); }, "elements of input 1 (seq_b) of shape [2]");
}

// There is no gradient to add, so the state is not a divisor.
TEST(SparseWngradTest, NoRowsLeaveTheStateEvenIfItIsZero) {
  Workspace ws;
  Feed<float>(&ws, "P", {2, 1}, {10, 20});
  Feed<int64_t>(&ws, "I", {0}, {});
  Feed<float>(&ws, "G", {0, 1}, {});
  Feed<float>(&ws, "L", {1}, {10});
  for (const float state : {0.0f, 4.0f}) {
    Feed<float>(&ws, "B", {1}, {state});
    RunOp(&ws, R"(type: "SparseWngrad" input: "P" input: "B" input: "I" input: "G" input: "L"
                  output: "P" output: "B")");
    ExpectTensor<float>(ws, "P", {2, 1}, {10, 20});
    ExpectTensor<float>(ws, "B", {1}, {state});
  }
}

}  // namespace
}  // namespace caffe2rt::test::wngrad_test
