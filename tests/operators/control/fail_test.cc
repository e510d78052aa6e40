#include "tests/support/operator_test.h"

namespace caffe2rt::test::fail_test {
namespace {

TEST(FailTest, AlwaysFails) {
  Workspace ws;
  ExpectThrows([&] { RunOp(&ws, "type: 'Fail'"); }, "Fail");
}

TEST(ThrowExceptionTest, FailsWithItsMessage) {
  Workspace ws;
  ExpectThrows([&] { RunOp(&ws, "type: 'ThrowException'"); }, "Exception from ThrowExceptionOp");
  ExpectThrows([&] { RunOp(&ws, "type: 'ThrowException' arg { name: 'message' s: 'no data' }"); },
               "no data");
}

// The operator after it does not run, whatever the order of those that could.
TEST(ThrowExceptionTest, EndsTheNet) {
  Workspace ws;
  ExpectThrows(
      [&] {
        ws.RunNetOnce(ParseNet(R"(name: "n" type: "dag" op { type: "ThrowException" }
          op { type: "StatRegistryExport" output: "k" output: "v" output: "t" })"));
      },
      "Exception from ThrowExceptionOp");
  EXPECT_FALSE(ws.HasBlob("k") && ws.GetBlob("k")->IsType<Tensor>());
}

}  // namespace
}  // namespace caffe2rt::test::fail_test
