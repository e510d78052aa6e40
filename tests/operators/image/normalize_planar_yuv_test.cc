#include "tests/operators/common/call_tables.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::normalize_planar_yuv_test {
namespace {

TEST(NormalizePlanarYUVTest, NormalizesEachChannel) {
  ExpectResults({
      {"NormalizePlanarYUV X M S -> Y",
       "X f 2,3,1,2 = 0,1,4,6,7,11,1,2,2,4,3,5; M f 1,3 = 1,2,3; S f 1,3 = 1,2,4",
       "Y f 2,3,1,2 = -1,0,1,2,1,2,0,1,0,1,0,0.5"},
      // Row 0 counts for both images.
      {"NormalizePlanarYUV X M S -> X", "X f 2,1,1,1 = 4,6; M f 2,1 = 2,0; S f 2,1 = 2,0",
       "X f 2,1,1,1 = 1,2"},
      {"NormalizePlanarYUV X M S -> Y", "X f 0,3,2,2; M f 0,3; S f 0,3", "Y f 0,3,2,2"},
  });
  ExpectInferred(
      {{"NormalizePlanarYUV X M S -> Y", "X f 2,3,1,2; M f 1,3; S f 1,3", "float [2, 3, 1, 2]"}});
}

TEST(NormalizePlanarYUVTest, RejectsInvalidCalls) {
  ExpectRejected({
      {"NormalizePlanarYUV X M S -> Y", "X f 3,1,2; M f 1,3; S f 1,3",
       "rank of input 0 (X) of shape [3, 1, 2]: got 3, want 4"},
      {"NormalizePlanarYUV X M S -> Y", "X f 1,3,1,2; M f 3; S f 1,3",
       "input 1 (mean) has shape [3], want [1, 3]: the channels of input 0 (X) of shape [1, 3, 1, "
       "2]"},
      {"NormalizePlanarYUV X M S -> Y", "X f 1,3,1,2; M f 1,2; S f 1,3",
       "input 1 (mean) has shape [1, 2], want [1, 3]: the channels of input 0 (X) of shape [1, 3, "
       "1, "
       "2]"},
      {"NormalizePlanarYUV X M S -> Y", "X f 1,3,1,2; M f 1,3; S f 0,3",
       "input 2 (deviation) has shape [0, 3], want [1, 3]: the channels of input 0 (X) of shape "
       "[1, 3, 1, 2]"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::normalize_planar_yuv_test
