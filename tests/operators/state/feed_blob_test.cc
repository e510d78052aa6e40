#include "tests/support/operator_test.h"

namespace caffe2rt::test::feed_blob_test {
namespace {

TEST(FeedBlobTest, PutsAStringIntoTheBlob) {
  Workspace ws;
  RunOp(&ws, "type: 'FeedBlob' output: 'x' arg { name: 'value' s: 'text' }");
  EXPECT_EQ(ws.GetBlob("x")->Get<std::string>(), "text");
  RunOp(&ws, "type: 'FeedBlob' output: 'x' arg { name: 'value' s: '' }");
  EXPECT_EQ(ws.GetBlob("x")->Get<std::string>(), "");
}

TEST(FeedBlobTest, RejectsAMissingValueAndOneOfAnotherType) {
  Workspace ws;
  ExpectThrows([&] { RunOp(&ws, "type: 'FeedBlob' output: 'x'"); }, "value");
  ExpectThrows([&] { RunOp(&ws, "type: 'FeedBlob' output: 'x' arg { name: 'value' i: 3 }"); },
               "value");
}

}  // namespace
}  // namespace caffe2rt::test::feed_blob_test
