#include "tests/support/operator_test.h"

namespace caffe2rt::ensure_dense_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::FeedRange;
using test::RunOp;

TEST(EnsureDenseTest, CopiesItsInput) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 1});
  const char* op = R"(type: "EnsureDense" input: "X" output: "Y")";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {2, 1}, {0, 1});
  ExpectShapeInferred(&ws, op);
  RunOp(&ws, R"(type: "EnsureDense" input: "X" output: "X")");
  ExpectTensor<float>(ws, "X", {2, 1}, {0, 1});
}

TEST(EnsureDenseTest, TakesEmptyTensorsAndRefusesScalars) {
  Workspace ws;
  FeedRange<float>(&ws, "E", {0, 3});
  FeedRange<float>(&ws, "S", {});
  RunOp(&ws, R"(type: "EnsureDense" input: "E" output: "Y")");
  ExpectTensor<float>(ws, "Y", {0, 3}, {});
  ExpectThrows([&] { RunOp(&ws, R"(type: "EnsureDense" input: "S" output: "Y")"); },
               "want at least 1");
}

}  // namespace
}  // namespace caffe2rt::ensure_dense_test
