#include "tests/support/operator_test.h"

namespace caffe2rt::is_empty_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::Feed;
using test::RunOp;

TEST(IsEmptyTest, ReportsWhetherATensorIsEmpty) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 3}, {});
  const char* op = R"(type: "IsEmpty" input: "X" output: "Y")";
  RunOp(&ws, op);
  ExpectTensor<bool>(ws, "Y", {}, {true});
  ExpectShapeInferred(&ws, op);
  Feed<std::string>(&ws, "X", {}, {""});
  RunOp(&ws, op);
  ExpectTensor<bool>(ws, "Y", {}, {false});
}

}  // namespace
}  // namespace caffe2rt::is_empty_test
