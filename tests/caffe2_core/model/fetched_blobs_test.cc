#include "caffe2_core/model/fetched_blobs.h"

#include <gtest/gtest.h>

#include "tests/support/operator_test.h"

namespace caffe2rt::test::fetched_blobs_test {
namespace {

TEST(FetchedBlobsTest, NamesThatNothingMakesAreReportedWithCloseOnes) {
  const NetDef net = ParseNet(R"(name: "n" op { type: "Softmax" input: "x" output: "prob" })");
  EXPECT_EQ(WhyNotFetchable({&net}, "porb", {"x"}),
            "net \"n\" does not make blob \"porb\"; close: \"prob\"");
  EXPECT_EQ(WhyNotFetchable({&net, &net}, "weights", {"x"}),
            "the plan's nets do not make blob \"weights\"");
  EXPECT_EQ(WhyNotFetchable({&net}, "prob", {}), "");
  EXPECT_EQ(WhyNotFetchable({&net}, "x", {"x"}), "");
}

// A blob that several operators write is one name, wherever they stand.
TEST(FetchedBlobsTest, CloseNamesAreListedOnce) {
  const NetDef net = ParseNet(R"(name: "n" op { type: "Softmax" input: "x" output: "prob" }
      op { type: "Relu" input: "x" output: "a" } op { type: "Relu" input: "x" output: "prob" }
      op { type: "Relu" input: "x" output: "b" } op { type: "Relu" input: "x" output: "prob" })");
  EXPECT_EQ(WhyNotFetchable({&net}, "porb", {"prob", "x"}),
            "net \"n\" does not make blob \"porb\"; close: \"prob\"");
}

TEST(FetchedBlobsTest, NestedNetsMakeBlobs) {
  const NetDef net = ParseNet(R"(op { type: "If" input: "c" output: "y" arg { name: "then_net"
      n { op { type: "Relu" input: "x" output: "inner" } } } })");
  EXPECT_EQ(WhyNotFetchable({&net}, "inner", {}), "");
}

TEST(FetchedBlobsTest, AllowsAnyNameIfAnOperatorWritesBlobsThatItDoesNotList) {
  const NetDef net = ParseNet(R"(op { type: "Load" arg { name: "load_all" i: 1 } })");
  EXPECT_EQ(WhyNotFetchable({&net}, "y", {}), "");
}

}  // namespace
}  // namespace caffe2rt::test::fetched_blobs_test
