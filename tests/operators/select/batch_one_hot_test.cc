#include "tests/support/operator_test.h"

namespace caffe2rt::batch_one_hot_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::RunOp;

TEST(BatchOneHotTest, ComparesEachColumnWithItsValues) {
  Workspace ws;
  Feed<int32_t>(&ws, "X", {2, 2}, {1, 2, 3, 4});
  Feed<int32_t>(&ws, "L", {2}, {2, 1});
  Feed<int32_t>(&ws, "V", {3}, {1, 3, 2});
  const char* op = R"(type: "BatchOneHot" input: "X" input: "L" input: "V" output: "Y")";
  RunOp(&ws, op);
  ExpectTensor<int32_t>(ws, "Y", {2, 3}, {1, 0, 1, 0, 1, 0});
  ExpectShapeInferred(&ws, op);
  Feed<int32_t>(&ws, "X", {0, 2}, {});
  RunOp(&ws, op);
  ExpectTensor<int32_t>(ws, "Y", {0, 3}, {});
}

TEST(BatchOneHotTest, RejectsInvalidLengths) {
  Workspace ws;
  Feed<int64_t>(&ws, "X", {1, 2}, {1, 2});
  Feed<int32_t>(&ws, "One", {1}, {2});
  Feed<int32_t>(&ws, "Negative", {2}, {-1, 4});
  Feed<int32_t>(&ws, "Long", {2}, {2, 2});
  Feed<int64_t>(&ws, "V", {3}, {1, 3, 2});
  Feed<float>(&ws, "F", {1, 2}, {1, 2});
  const auto run = [&](const std::string& data, const std::string& lengths) {
    RunOp(&ws, R"(type: "BatchOneHot" output: "Y" input: ")" + data + R"(" input: ")" + lengths +
                   R"(" input: "V")");
  };
  ExpectThrows([&] { run("X", "One"); }, "want the columns of input 0");
  ExpectThrows([&] { run("X", "Negative"); }, "want at least 0");
  ExpectThrows([&] { run("X", "Long"); }, "want the sum of the lengths");
  ExpectThrows([&] { run("F", "Long"); }, "input 0 (data) has elements of type float");
}

}  // namespace
}  // namespace caffe2rt::batch_one_hot_test
