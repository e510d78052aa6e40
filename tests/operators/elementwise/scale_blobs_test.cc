#include "tests/operators/common/call_tables.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::scale_blobs_test {
namespace {

TEST(ScaleBlobsTest, ScalesEachInput) {
  ExpectResults({
      {"ScaleBlobs X Z -> Y W scale=2.0", "X f 2 = 1,2; Z f - = 3", "Y f 2 = 2,4; W f - = 6"},
      {"ScaleBlobs X Z -> X Z scale=-0.5", "X f 2,1 = 1,2; Z f 0", "X f 2,1 = -0.5,-1; Z f 0"},
      {"ScaleBlobs X -> Y", "X f 2 = 1,2", "Y f 2 = 1,2"},
  });
  ExpectInferred(
      {{"ScaleBlobs X Z -> Y W scale=2.0", "X f 2; Z f 3,4", "float [2]; float [3, 4]"}});
  ExpectRejected({{"ScaleBlobs X Z -> Y W scale=2.0", "X f 2; Z d 2",
                   "the tensor holds elements of type double, want float"}});
}

}  // namespace
}  // namespace caffe2rt::test::scale_blobs_test
