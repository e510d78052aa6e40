#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::heatmap_max_keypoint_test {
namespace {

// The maximum 2 of the first map has gradient (-0.5, 0.25) and second derivatives -3 and -3.5: it
// is 1/6 to the left and 1/14 below. Pixels of the box are 5 wide and 10 high. The maximum of the
// second map is at a corner.
TEST(HeatmapMaxKeypointTest, RefinesMaximaInsideTheMap) {
  const std::string inputs =
      "H f 1,2,4,4 = 0,0,0,0,0,1,2,0,0,0,0.5,0,0,0,0,0,3,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0;"
      "B f 1,4 = 10,20,30,60";
  ExpectResults({
      {"HeatmapMaxKeypoint H B -> Y", inputs,
       "Y f 1,4,2 = 21.6666667,12.5,35.7142857,25,2.0505952,3,0,0"},
      // 1 / (1 + exp(-1) + exp(-1.5) + 13 exp(-2)) and 1 / (1 + 15 exp(-3))
      {"HeatmapMaxKeypoint H B -> Y should_output_softmax=1", inputs,
       "Y f 1,4,2 = 21.6666667,12.5,35.7142857,25,2.0505952,3,0.29847467,0.5724734"},
      // Recorded with Caffe2. The maximum is at the left edge; a surface that is flat; one with a
      // ridge.
      {"HeatmapMaxKeypoint H B -> Y", "H f 1,1,3,3 = 0,1,0,3,2,0,1,0,0; B f 1,4 = 0,0,3,3",
       "Y f 1,4,1 = 0.5,1.6,3.025,0"},
      {"HeatmapMaxKeypoint H B -> Y", "H f 1,1,3,3 = 1,1,1,2,2,2,1,1,1; B f 1,4 = 0,0,3,3",
       "Y f 1,4,1 = 0.5,1.5,2,0"},
      {"HeatmapMaxKeypoint H B -> Y",
       "H f 1,1,3,3 = 4.9,4.9,0,4.9,5,4.9,0,4.5,4.95; B f 1,4 = 0,0,3,3",
       "Y f 1,4,1 = 1.582858,1.5067296,4.9993267,0"},
      // A box is at least 1 wide and high; columns after the fourth are not read.
      {"HeatmapMaxKeypoint H B -> Y", "H f 1,1,2,2 = 1,2,3,4.5; B f 1,5 = 10,20,10.5,5,9",
       "Y f 1,4,1 = 10.75,20.75,4.5,0"},
      {"HeatmapMaxKeypoint H B -> Y", "H f 0,2,4,4; B f 0,4", "Y f 0,4,2"},
      {"HeatmapMaxKeypoint H B -> Y", "H f 1,0,4,4; B f 1,4", "Y f 1,4,0"},
      // Caffe2 reads outside of a map without numbers.
      {"HeatmapMaxKeypoint H B -> Y", "H f 1,1,2,2 = nan; B f 1,4 = 0,0,2,2",
       "Y f 1,4,1 = 0.5,0.5,nan,0"},
  });
  ExpectInferred({{"HeatmapMaxKeypoint H B -> Y", "H f 3,2,4,4; B f 3,4", "float [3, 4, 2]"}});
}

TEST(HeatmapMaxKeypointTest, RejectsOtherShapes) {
  const std::string maps = "input 0 (heatmaps) has shape ";
  const std::string want = ", want [N, K, S, S] with S at least 2";
  ExpectRejected({
      {"HeatmapMaxKeypoint H B -> Y", "H f 2,4,4; B f 2,4", maps + "[2, 4, 4]" + want},
      {"HeatmapMaxKeypoint H B -> Y", "H f 1,2,4,5; B f 1,4", maps + "[1, 2, 4, 5]" + want},
      {"HeatmapMaxKeypoint H B -> Y", "H f 1,2,1,1; B f 1,4", maps + "[1, 2, 1, 1]" + want},
      {"HeatmapMaxKeypoint H B -> Y", "H f 1,2,4,4; B f 2,4",
       "input 1 (bboxes) has shape [2, 4], want 1 rows of at least 4 elements"},
      {"HeatmapMaxKeypoint H B -> Y", "H f 1,2,4,4; B f 1,3",
       "input 1 (bboxes) has shape [1, 3], want 1 rows of at least 4 elements"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::heatmap_max_keypoint_test
