#include "operators/fill/filler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "caffe2_core/graph/op_schema.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::filler_test {
namespace {

TEST(FillerTest, FillsOfOneInputDeclareTheirShapeArguments) {
  for (const char* type :
       {"DiagonalFill", "GaussianFill", "GivenTensorFill", "GivenTensorInt64Fill",
        "GivenTensorByteStringToUInt8Fill", "MSRAFill", "RangeFill", "XavierFill"}) {
    SCOPED_TRACE(type);
    Workspace ws;
    Feed<float>(&ws, "a", {2, 2}, {1, 2, 3, 4});
    ExpectThrows(
        [&] {
          RunOp(&ws, MakeString("type: \"", type, "\" input: \"a\" input: \"a\" output: \"y\""));
        },
        "2 inputs, want 0 to 1");
    const OpSchema* const schema = OpSchemaRegistry::Schema(type);
    ASSERT_NE(schema, nullptr);
    for (const std::string name : {"shape", "extra_shape", "input_as_shape"}) {
      EXPECT_TRUE(std::any_of(schema->args().begin(), schema->args().end(), [&](const auto& arg) {
        return arg.name == name;
      })) << name;
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::filler_test
