#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::bucketize_test {
namespace {

TEST(BucketizeTest, CountsTheBoundariesBelow) {
  ExpectResults({
      // Recorded with Caffe2.
      {"Bucketize X -> Y boundaries=0.0,1.0,2.0", "X f 3,3 = -1,0,0.5,1,1.5,3,nan,inf,-inf",
       "Y i 3,3 = 0,0,1,1,2,3,0,3,0"},
      {"Bucketize X -> Y boundaries=1.0,1.0,2.0", "X f 4 = 1,1.5,2,3", "Y i 4 = 0,2,2,3"},
      {"Bucketize X -> Y", "X f 2 = -1,7", "Y i 2 = 0,0"},
      {"Bucketize X -> Y boundaries=0.0,1.0", "X f 0,2", "Y i 0,2"},
  });
  ExpectInferred({{"Bucketize X -> Y boundaries=0.0,1.0", "X f 2,3", "int32 [2, 3]"},
                  {"Bucketize X -> Y boundaries=0.0,1.0", "X f ?", "int32 ?"}});
}

TEST(BucketizeTest, RejectsBoundariesThatDoNotAscend) {
  ExpectRejected({
      {"Bucketize X -> Y boundaries=2.0,1.0", "X f 2",
       "argument \"boundaries\" is [2, 1], want ascending numbers"},
      {"Bucketize X -> Y boundaries=1.0,nan", "X f 2",
       "argument \"boundaries\" is [1, nan], want ascending numbers"},
      {"Bucketize X -> Y boundaries=0.0,1.0", "X f -",
       "rank of input 0 (data), want at least 1 (got 0, want at least 1)"},
  });
}

TEST(BucketizeTest, HasNoGradientAsInCaffe2) {
  EXPECT_THROW(DescribeGradient(R"(type: "Bucketize" input: "X" output: "Y")"), EnforceNotMet);
}

}  // namespace
}  // namespace caffe2rt::test::bucketize_test
