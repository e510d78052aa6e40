#include <string>

#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::append_test {
namespace {

const char* const kAppend = R"(type: "Append" input: "A" input: "B" output: "A")";

TEST(AppendTest, AppendsRows) {
  Workspace ws;
  Feed<float>(&ws, "A", {1, 2}, {1, 2});
  Feed<float>(&ws, "B", {2, 2}, {3, 4, 5, 6});
  RunOp(&ws, kAppend);
  ExpectTensor<float>(ws, "A", {3, 2}, {1, 2, 3, 4, 5, 6});
  Feed<float>(&ws, "B", {0, 2}, {});
  RunOp(&ws, kAppend);
  ExpectTensor<float>(ws, "A", {3, 2}, {1, 2, 3, 4, 5, 6});
  Feed<std::string>(&ws, "A", {1}, {"a"});
  Feed<std::string>(&ws, "B", {2}, {"b", "c"});
  RunOp(&ws, kAppend);
  ExpectTensor<std::string>(ws, "A", {3}, {"a", "b", "c"});
  ExpectShapeInferred(&ws, kAppend, true);
}

// Recorded from Caffe2.
TEST(AppendTest, CountsRowsWithoutElements) {
  Workspace ws;
  Feed<float>(&ws, "A", {2, 0}, {});
  Feed<float>(&ws, "B", {3, 0}, {});
  RunOp(&ws, kAppend);
  ExpectTensor<float>(ws, "A", {5, 0}, {});
  Feed<float>(&ws, "B", {1, 1}, {1});
  ExpectThrows([&] { RunOp(&ws, kAppend); },
               "input 1 has shape [1, 1], want that of input 0, [5, 0], except in dimension 0");
  Feed<double>(&ws, "B", {1, 0}, {});
  ExpectThrows([&] { RunOp(&ws, kAppend); }, "input 1 is double, want float, as input 0");
}

// Recorded from Caffe2: a tensor without rows takes any rows.
TEST(AppendTest, CopiesRowsToATensorWithoutRows) {
  Workspace ws;
  Feed<float>(&ws, "A", {0, 3}, {});
  Feed<double>(&ws, "B", {1, 2}, {3, 4});
  RunOp(&ws, kAppend);
  ExpectTensor<double>(ws, "A", {1, 2}, {3, 4});
}

TEST(AppendTest, RejectsOtherRows) {
  Workspace ws;
  Feed<float>(&ws, "A", {1, 2}, {1, 2});
  Feed<double>(&ws, "B", {1, 2}, {3, 4});
  ExpectThrows([&] { RunOp(&ws, kAppend); }, "input 1 is double, want float, as input 0");
  Feed<float>(&ws, "B", {1, 3}, {3, 4, 5});
  ExpectThrows([&] { RunOp(&ws, kAppend); },
               "input 1 has shape [1, 3], want that of input 0, [1, 2], except in dimension 0");
  Feed<float>(&ws, "B", {2}, {3, 4});
  ExpectThrows([&] { RunOp(&ws, kAppend); }, "input 1 has shape [2], want that of input 0");
  Feed<float>(&ws, "B", {}, {3});
  ExpectThrows([&] { RunOp(&ws, kAppend); }, "dimensions of input 1 (rows to append)");
  ExpectTensor<float>(ws, "A", {1, 2}, {1, 2});
  ExpectThrows([&] { RunOp(&ws, R"(type: "Append" input: "A" input: "B" output: "C")"); },
               "must be the same blob");
  ExpectThrows([] { DescribeGradient(kAppend); },
               "One should not call gradient for operator Append.");
}

}  // namespace
}  // namespace caffe2rt::test::append_test
