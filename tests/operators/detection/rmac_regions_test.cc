#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::rmac_regions_test {
namespace {

TEST(RMACRegionsTest, CoversImagesAtEachScale) {
  ExpectResults({
      // Squares of 4 pixels, then of 2: a half further each.
      {"RMACRegions X -> R scales=2", "X f 1,1,4,4",
       "R f 5,5 = 0,0,0,3,3,0,0,0,1,1,0,0,2,1,3,0,2,0,3,1,0,2,2,3,3"},
      // The longer side has one region more: two that are two pixels apart overlap by a half.
      {"RMACRegions X -> R scales=1", "X f 2,1,4,6",
       "R f 4,5 = 0,0,0,3,3,0,2,0,5,3,1,0,0,3,3,1,2,0,5,3"},
      {"RMACRegions X -> R scales=0", "X f 1,1,4,6", "R f 0,5"},
      {"RMACRegions X -> R", "X i 1,2,1,1", "R f 1,5 = 0"},
      {"RMACRegions X -> R", "X f 0,1,4,4", "R f 0,5"},
      {"RMACRegions X -> R", "X f 1,1,0,4", "R f 0,5"},
  });
  ExpectInferred({{"RMACRegions X -> R", "X f 1,1,4,4", "float ?"}});
}

// Recorded from Caffe2.
TEST(RMACRegionsTest, ChoosesTheOverlapAsCaffe2) {
  ExpectResults({
      {"RMACRegions X -> R", "X f 1,1,1,5",
       "R f 7,5 = 0,0,0,0,0,0,0,0,0,0,0,1,0,1,0,0,2,0,2,0,0,2,0,2,0,0,3,0,3,0,0,4,0,4,0"},
      {"RMACRegions X -> R scales=1", "X f 1,1,9,3",
       "R f 4,5 = 0,0,0,2,2,0,0,2,2,4,0,0,4,2,6,0,0,6,2,8"},
      {"RMACRegions X -> R scales=1 overlap=1.0", "X f 1,1,8,16",
       "R f 7,5 = 0,0,0,7,7,0,1,0,8,7,0,2,0,9,7,0,4,0,11,7,0,5,0,12,7,0,6,0,13,7,0,8,0,15,7"},
      {"RMACRegions X -> R scales=1 overlap=-1.0", "X f 1,1,8,16",
       "R f 2,5 = 0,0,0,7,7,0,8,0,15,7"},
  });
}

TEST(RMACRegionsTest, RejectsMatrices) {
  ExpectRejected({{"RMACRegions X -> R", "X f 4,4",
                   "rank of input 0 (X) of shape [4, 4]: got 2, want at least 4"}});
}

}  // namespace
}  // namespace caffe2rt::test::rmac_regions_test
