#include "tests/support/operator_test.h"

namespace caffe2rt::has_elements_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::Feed;
using test::RunOp;

TEST(HasElementsTest, ReportsWhetherAnyInputHasAnElement) {
  Workspace ws;
  Feed<float>(&ws, "E", {0, 3}, {});
  Feed<int32_t>(&ws, "X", {}, {1});
  const char* none = R"(type: "HasElements" input: "E" input: "E" output: "Y")";
  RunOp(&ws, none);
  ExpectTensor<bool>(ws, "Y", {}, {false});
  ExpectShapeInferred(&ws, none);
  RunOp(&ws, R"(type: "HasElements" input: "E" input: "X" output: "Y")");
  ExpectTensor<bool>(ws, "Y", {}, {true});
}

}  // namespace
}  // namespace caffe2rt::has_elements_test
