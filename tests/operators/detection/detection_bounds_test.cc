// Defaults and bounds of the operators of this folder: what counts at a threshold, at the edge of an
// image, and without an argument. Expected values are by hand.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/operators/common/call_tables.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::detection_bounds_test {
namespace {

// Priors [0, 0, 1, 2], [0, 0, 1, 1]: their overlap is exactly 1/2.
TEST(DetectionOutputBoundsTest, KeepsBoxesThatOverlapByTheThreshold) {
  const char* const inputs =
      "L f 1,8 = 0; C f 1,4 = 0,0.75,0,0.5; P f 1,2,8 = 0,0,1,2,0,0,1,1,1,1,1,1,1,1,1,1";
  const char* const both = "Y f 1,1,2,7 = 0,1,0.75,0,0,1,2,0,1,0.5,0,0,1,1";
  const char* const first = "Y f 1,1,1,7 = 0,1,0.75,0,0,1,2";
  const char* const none = "Y f 1,1,1,7 = 0,-1,-1,-1,-1,-1,-1";
  ExpectResults({
      {"DetectionOutput L C P -> Y num_classes=2 nms_threshold=0.5", inputs, both},
      {"DetectionOutput L C P -> Y num_classes=2 nms_threshold=0.4990", inputs, first},
      {"DetectionOutput L C P -> Y num_classes=2", inputs, first},
      // A threshold of 0.5 or less does not shrink; one above does, from 0.625 to 0.3125.
      {"DetectionOutput L C P -> Y num_classes=2 nms_threshold=0.5 nms_eta=0.5", inputs, both},
      {"DetectionOutput L C P -> Y num_classes=2 nms_threshold=0.625 nms_eta=0.5", inputs, first},
      {"DetectionOutput L C P -> Y num_classes=2 nms_threshold=0.625 nms_eta=1.0", inputs, both},
      {"DetectionOutput L C P -> Y num_classes=2 nms_top_k=0", inputs, none},
      {"DetectionOutput L C P -> Y num_classes=2 keep_top_k=0", inputs, none},
      {"DetectionOutput L C P -> Y num_classes=2 nms_top_k=1 nms_threshold=0.5", inputs, first},
      {"DetectionOutput L C P -> Y num_classes=2 keep_top_k=2 nms_threshold=0.5", inputs, both},
      {"DetectionOutput L C P -> Y num_classes=2 background_label=1", inputs,
       "Y f 1,1,1,7 = 0,0,0,0,0,1,2"},
  });
}

// Overlaps of 1/4 and 1/3 of the first box of a pair, on both sides of the default threshold.
TEST(DetectionOutputBoundsTest, DefaultsAreThoseOfCaffe2) {
  ExpectResults({
      {"DetectionOutput L C P -> Y num_classes=2",
       "L f 1,16 = 0; C f 1,8 = 9,0.75,9,0.5,9,0.625,9,0.25; "
       "P f 1,2,16 = 0,0,1,4,0,0,1,1,10,0,11,3,10,0,11,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
       "Y f 1,1,3,7 = 0,1,0.75,0,0,1,4,0,1,0.625,10,0,11,3,0,1,0.5,0,0,1,1"},
      // No score is too low, but NaN is none.
      {"DetectionOutput L C P -> Y num_classes=2",
       "L f 1,8 = 0; C f 1,4 = 0,-1e30,0,nan; P f 1,2,8 = 0,0,1,1,5,5,6,6,1,1,1,1,1,1,1,1",
       "Y f 1,1,1,7 = 0,1,-1e30,0,0,1,1"},
  });
}

// Only images with detections have rows if one has any; without images there is none.
TEST(DetectionOutputBoundsTest, RowsAreThoseOfImagesWithDetections) {
  ExpectResults({
      {"DetectionOutput L C P -> Y num_classes=2 confidence_threshold=0.5",
       "L f 3,4 = 0; C f 3,2 = 0,0.25,0,0.75,0,0.5; P f 1,2,4 = 0,0,1,1,1,1,1,1",
       "Y f 1,1,1,7 = 1,1,0.75,0,0,1,1"},
      {"DetectionOutput L C P -> Y num_classes=2", "L f 0,4; C f 0,2; P f 1,2,4 = 0,0,1,1,1,1,1,1",
       "Y f 1,1,0,7"},
      // Boxes that only touch, and a box without area, overlap nothing.
      {"DetectionOutput L C P -> Y num_classes=2 nms_threshold=0.0",
       "L f 1,12 = 0; C f 1,6 = 0,0.75,0,0.5,0,0.25; "
       "P f 1,2,12 = 0,0,1,1,1,0,2,1,0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
       "Y f 1,1,3,7 = 0,1,0.75,0,0,1,1,0,1,0.5,1,0,2,1,0,1,0.25,0,1,1,1"},
  });
}

// A map of 2 x 2 on an image of 8 x 16: steps of 4 and 8, unless both are given.
TEST(PriorBoxBoundsTest, StepsAndSizesCountOnlyInPairs) {
  const std::string inputs = "X f 1,1,2,2; I f 1,1,8,16",
                    boxes =
                        "Y f 1,2,16 = 0.125,0,0.375,0.5,0.625,0,0.875,0.5,0.125,0.5,0.375,1,0.625,"
                        "0.5,0.875,1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,"
                        "0.1";
  ExpectResults({
      {"PriorBox X I -> Y min_size=4.,", inputs, boxes},
      {"PriorBox X I -> Y min_size=4., step_h=2.0", inputs, boxes},
      {"PriorBox X I -> Y min_size=4., step_w=2.0", inputs, boxes},
      {"PriorBox X I -> Y min_size=4., image_h=80", inputs, boxes},
      {"PriorBox X I -> Y min_size=4., image_w=160", inputs, boxes},
  });
}

TEST(PriorBoxBoundsTest, RatiosAreFlippedButBoxesNotClippedByDefault) {
  // The ratio 4 makes 16 x 4, its flip 4 x 16, around the middle of an image of 8 x 8.
  ExpectResults({
      {"PriorBox X I -> Y min_size=8., aspect_ratio=4.,", "X f 1,1,1,1; I f 1,1,8,8",
       "Y f 1,2,12 = 0,0,1,1,-0.5,0.25,1.5,0.75,0.25,-0.5,0.75,1.5,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,"
       "0.1,0.1,0.1,0.1"},
      {"PriorBox X I -> Y min_size=8., aspect_ratio=4., flip=0 clip=1", "X f 1,1,1,1; I f 1,1,8,8",
       "Y f 1,2,8 = 0,0,1,1,0,0.25,1,0.75,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1"},
      // Each of the smallest sizes is followed by its larger one and its ratios.
      {"PriorBox X I -> Y min_size=2.,4. max_size=8.,16. variance=0.5,", "X f 1,1,1,1; I f 1,1,8,8",
       "Y f 1,2,16 = 0.375,0.375,0.625,0.625,0.25,0.25,0.75,0.75,0.25,0.25,0.75,0.75,0,0,1,1,0.5,"
       "0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5"},
  });
}

TEST(GenerateProposalsBoundsTest, DefaultsAreThoseOfCaffe2) {
  const char* const op = "GenerateProposals S D I A -> R P";
  ExpectResults({
      // A box of 16 pixels is large enough; positions are 16 pixels apart.
      {op, "S f 1,1,1,2 = 0.5,0.25; D f 1,4,1,2 = 0; I f 1,3 = 64,64,1; A f 1,4 = 0,0,15,15",
       "R f 2,5 = 0,0,0,15,15,0,16,0,31,15; P f 2 = 0.5,0.25"},
      {op, "S f 1,1,1,2 = 0.5,0.25; D f 1,4,1,2 = 0; I f 1,3 = 64,64,1; A f 1,4 = 0,0,15,14",
       "R f 0,5; P f 0"},
      {op, "S f 1,1,1,2 = 0.5,0.25; D f 1,4,1,2 = 0; I f 1,3 = 64,64,1; A f 1,4 = 0,0,14,15",
       "R f 0,5; P f 0"},
      // Overlaps with the best: 22/32 and 23/32 of its rows, on both sides of 0.7.
      {op,
       "S f 1,3,1,1 = 0.75,0.5,0.25; D f 1,12,1,1 = 0; I f 1,3 = 64,64,1; "
       "A f 3,4 = 0,0,31,31,0,0,31,21,0,0,31,22",
       "R f 2,5 = 0,0,0,31,31,0,0,0,31,21; P f 2 = 0.75,0.5"},
      // The size of an image is truncated before boxes are clipped.
      {"GenerateProposals S D I A -> R P min_size=1.0",
       "S f 1,1,1,1 = 0.5; D f 1,4,1,1 = 0; I f 1,3 = 20.9,24.9,1; A f 1,4 = 0,0,40,40",
       "R f 1,5 = 0,0,0,23,19; P f 1 = 0.5"},
  });
}

// Upright boxes are clipped, so only turned ones can have their center outside.
TEST(GenerateProposalsBoundsTest, CentersAreInsideOfTheirImage) {
  ExpectResults({
      // The image is 32 high and 64 wide; boxes do not compete.
      {"GenerateProposals S D I A -> R P nms_thresh=1.0",
       "S f 1,4,1,1 = 0.75,0.5,0.25,0.125; D f 1,20,1,1 = 0; I f 1,3 = 32,64,1; "
       "A f 4,5 = 63,8,16,16,45,64,8,16,16,45,8,31,16,16,45,8,32,16,16,45",
       "R f 2,6 = 0,63,8,16,16,45,0,8,31,16,16,45; P f 2 = 0.75,0.25"},
      {"GenerateProposals S D I A -> R P nms_thresh=1.0",
       "S f 1,2,1,1 = 0.75,0.5; D f 1,10,1,1 = 0; I f 1,3 = 32,64,1; "
       "A f 2,5 = 63.9,31.9,16,16,45,64,32,16,16,45",
       "R f 1,6 = 0,63.9,31.9,16,16,45; P f 1 = 0.75"},
      {"GenerateProposals S D I A -> R P nms_thresh=1.0",
       "S f 1,2,1,1 = 0.75,0.5; D f 1,10,1,1 = 0; I f 1,3 = 32,64,1; "
       "A f 2,5 = -90,8,16,16,45,8,-90,16,16,45",
       "R f 2,6 = 0,-90,8,16,16,45,0,8,-90,16,16,45; P f 2 = 0.75,0.5"},
      {"GenerateProposals S D I A -> R P",
       "S f 1,4,1,1 = 0.75,0.5,0.25,0.125; D f 1,20,1,1 = 0; I f 1,3 = 32,64,1; "
       "A f 4,5 = 63,8,16,16,45,64,8,16,16,45,8,31,16,16,45,8,32,16,16,45",
       "R f 2,6 = 0,63,8,16,16,45,0,8,31,16,16,45; P f 2 = 0.75,0.25"},
      {"GenerateProposals S D I A -> R P",
       "S f 1,3,1,1 = 0.75,0.5,0.25; D f 1,15,1,1 = 0; I f 1,3 = 64,64,1; "
       "A f 3,5 = 32,32,15,20,45,32,32,20,15,45,32,32,16,16,45",
       "R f 1,6 = 0,32,32,16,16,45; P f 1 = 0.25"},
      // With a scale of 2 a box needs 32 pixels.
      {"GenerateProposals S D I A -> R P",
       "S f 1,2,1,1 = 0.75,0.5; D f 1,10,1,1 = 0; I f 1,3 = 64,64,2; "
       "A f 2,5 = 32,32,31,32,45,32,32,32,32,45",
       "R f 1,6 = 0,32,32,32,32,45; P f 1 = 0.5"},
  });
}

// Positions in a row, whose boxes only touch.
TEST(GenerateProposalsBoundsTest, LimitsTheNumberOfBoxes) {
  struct Row {
    const char* args;
    size_t boxes;
  };
  for (const Row& row : {Row{"", 300}, Row{"arg { name: 'post_nms_topN' i: 0 }", 6000},
                         Row{"arg { name: 'post_nms_topN' i: -1 } arg { name: 'pre_nms_topN' i: 0 "
                             "}",
                             6002},
                         Row{"arg { name: 'pre_nms_topN' i: 7 }", 7}}) {
    SCOPED_TRACE(row.args);
    Workspace ws;
    FeedRange<float>(&ws, "S", {1, 1, 1, 6002});
    Feed<float>(&ws, "D", {1, 4, 1, 6002}, std::vector<float>(4 * 6002));
    Feed<float>(&ws, "I", {1, 3}, {16, 1e6, 1});
    Feed<float>(&ws, "A", {1, 4}, {0, 0, 15, 15});
    RunOp(&ws, std::string("type: 'GenerateProposals' input: 'S' input: 'D' input: 'I' input: 'A' "
                           "output: 'R' output: 'P' ") +
                   row.args);
    const std::vector<float> scores = Fetch<float>(ws, "P");
    ASSERT_EQ(scores.size(), row.boxes);
    EXPECT_EQ(scores.front(), 6001);
    EXPECT_EQ(scores.back(), 6002 - static_cast<float>(row.boxes));
  }
}

TEST(BBoxTransformBoundsTest, EachDeltaHasItsWeight) {
  ExpectResults({
      // 10 x 20 at (15, 30): moved by 0.1 of the width and -0.5 / 2 of the height, twice as large.
      {"BBoxTransform R D I -> Y weights=1.,2.,4.,8.",
       "R f 1,4 = 10,20,19,39; D f 1,4 = 0.1,-0.5,2.7725887,5.5451774; I f 1,3 = 100,200,1",
       "Y f 1,4 = 6,5,25,44", 1e-4},
      // Sizes of 22.5 and 16.25 without the scale are rounded to 23 and 16.
      {"BBoxTransform R D I -> Y", "R f 1,4 = 0,0,90,90; D f 1,4 = 0; I f 1,3 = 45,32.5,2",
       "Y f 1,4 = 0,0,30,44"},
      // The image of a row is truncated, so that -0.5 and 0.75 are image 0.
      {"BBoxTransform R D I -> Y S",
       "R f 3,5 = -0.5,1,1,2,2,0.75,1,1,2,2,1.5,1,1,2,2; D f 3,4 = 0; I f 2,3 = 9,9,1,9,9,1",
       "Y f 3,4 = 1,1,2,2; S f 2 = 2,1"},
  });
}

TEST(BBoxTransformBoundsTest, AnglesAtTheBoundsStay) {
  const std::string image = "; I f 1,3 = 100,100,1";
  ExpectResults({
      {"BBoxTransform R D I -> Y rotated=1",
       "R f 4,5 = 50,40,10,20,90,50,40,10,20,-90,50,40,10,20,91,50,40,10,20,-91; D f 4,5 = 0" +
           image,
       "Y f 4,5 = 50,40,10,20,90,50,40,10,20,-90,50,40,10,20,-89,50,40,10,20,89"},
      {"BBoxTransform R D I -> Y rotated=1 angle_bound_lo=0 angle_bound_hi=180",
       "R f 2,5 = 50,40,10,20,-10,50,40,10,20,190; D f 2,5 = 0" + image,
       "Y f 2,5 = 50,40,10,20,170,50,40,10,20,10"},
      {"BBoxTransform R D I -> Y rotated=1 angle_bound_lo=-180 angle_bound_hi=180",
       "R f 2,5 = 50,40,10,20,-190,50,40,10,20,190; D f 2,5 = 0" + image,
       "Y f 2,5 = 50,40,10,20,170,50,40,10,20,-170"},
      // Boxes turned by up to one degree are clipped, to the side of the nearest corner.
      {"BBoxTransform R D I -> Y rotated=1",
       "R f 3,5 = 2,50,10,20,1,2,50,10,20,-1,2,50,10,20,1.25; D f 3,5 = 0" + image,
       "Y f 3,5 = 3.25,50,7.5,20,1,3.25,50,7.5,20,-1,2,50,10,20,1.25"},
      {"BBoxTransform R D I -> Y rotated=1",
       "R f 2,5 = 2,50,10,20,-1.25,2,50,10,20,-45; D f 2,5 = 0" + image,
       "Y f 2,5 = 2,50,10,20,-1.25,2,50,10,20,-45"},
      {"BBoxTransform R D I -> Y rotated=1 clip_angle_thresh=0.0",
       "R f 2,5 = 2,50,10,20,0,2,50,10,20,1; D f 2,5 = 0" + image,
       "Y f 2,5 = 3.25,50,7.5,20,0,2,50,10,20,1"},
  });
}

// Boxes of 10 x 10 pixels and 10 x 3, 10 x 4 of them: overlaps of 0.3 and 0.4.
TEST(BoxWithNmsLimitBoundsTest, DefaultsAreThoseOfCaffe2) {
  const std::string scores = "S f 3,2 = 0,0.75,0,0.5,0,0.25; ";
  const std::string whole = "B f 3,8 = 0,0,0,0,0,0,9,9,0,0,0,0,0,0,9,2,0,0,0,0,0,0,9,3";
  const std::string sizes = "B f 3,8 = 0,0,0,0,0,0,10,10,0,0,0,0,0,0,10,3,0,0,0,0,0,0,10,4";
  ExpectResults({
      {"BoxWithNMSLimit S B -> s b c", scores + whole,
       "s f 2 = 0.75,0.5; b f 2,4 = 0,0,9,9,0,0,9,2; c f 2 = 1,1"},
      {"BoxWithNMSLimit S B -> s b c legacy_plus_one=0", scores + sizes,
       "s f 2 = 0.75,0.5; b f 2,4 = 0,0,10,10,0,0,10,3; c f 2 = 1,1"},
      // A score of score_thresh is too low.
      {"BoxWithNMSLimit S B -> s b c n",
       "S f 2,2 = 0,0.05,0,0.0625; B f 2,8 = 0,0,0,0,11,11,12,12,0,0,0,0,1,1,2,2",
       "s f 1 = 0.0625; b f 1,4 = 1,1,2,2; c f 1 = 1; n f 1 = 1"},
      {"BoxWithNMSLimit S B -> s b c n score_thresh=0.5 soft_nms_enabled=1",
       "S f 3,2 = 0,0.5,0,0.5000001,0,0.4999999; "
       "B f 3,8 = 0,0,0,0,11,11,12,12,0,0,0,0,1,1,2,2,0,0,0,0,21,21,22,22",
       "s f 1 = 0.5000001; b f 1,4 = 1,1,2,2; c f 1 = 1; n f 1 = 1"},
      // 0.5 * exp(-0.3^2 / 0.5)
      {"BoxWithNMSLimit S B -> s b c soft_nms_enabled=1 soft_nms_method=gaussian",
       "S f 2,2 = 0,0.75,0,0.5; B f 2,8 = 0,0,0,0,0,0,9,9,0,0,0,0,0,0,9,2",
       "s f 2 = 0.75,0.4176351; b f 2,4 = 0,0,9,9,0,0,9,2; c f 2 = 1,1"},
      // An overlap of nms takes nothing; above it, 1 - overlap is left.
      {"BoxWithNMSLimit S B -> s b c soft_nms_enabled=1",
       "S f 2,2 = 0,0.75,0,0.5; B f 2,8 = 0,0,0,0,0,0,9,9,0,0,0,0,0,0,9,2",
       "s f 2 = 0.75,0.5; b f 2,4 = 0,0,9,9,0,0,9,2; c f 2 = 1,1"},
      {"BoxWithNMSLimit S B -> s b c soft_nms_enabled=1",
       "S f 2,2 = 0,0.75,0,0.5; B f 2,8 = 0,0,0,0,0,0,9,9,0,0,0,0,0,0,9,3",
       "s f 2 = 0.75,0.3; b f 2,4 = 0,0,9,9,0,0,9,3; c f 2 = 1,1"},
      // The same box twice leaves a score of 0, which is below the least one.
      {"BoxWithNMSLimit S B -> s b c soft_nms_enabled=1", "S f 2,2 = 0,0.75; B f 2,8 = 0,0,9,9",
       "s f 1 = 0.75; b f 1,4 = 0,0,9,9; c f 1 = 1"},
      {"BoxWithNMSLimit S B -> s b c soft_nms_enabled=1 soft_nms_min_score_thres=0.0",
       "S f 2,2 = 0,0.75; B f 2,8 = 0,0,9,9", "s f 2 = 0.75,0; b f 2,4 = 0,0,9,9; c f 2 = 1,1"},
  });
}

TEST(BoxWithNmsLimitBoundsTest, KeepsTheBestOfEachImage) {
  ExpectResults({
      // Two images of two rows and two classes each; the boxes of a row are apart from the others.
      {"BoxWithNMSLimit S B N -> s b c n k z detections_per_im=3",
       "S f 4,3 = 0,0.5,0.25,0,0.75,0.125,0,0.25,0.5,0,0.125,0.75; N i 2 = 2,2; "
       "B f 4,12 = 0,0,1,1,0,0,1,1,0,0,1,1,9,9,9,9,9,9,9,9,9,9,9,9",
       "s f 6 = 0.75,0.5,0.25,0.25,0.75,0.5; c f 6 = 1,1,2,1,2,2; n f 2 = 3,3; "
       "k i 6 = 1,0,0,0,1,0; z i 2,3 = 0,2,1,0,1,2"},
      // As many as the limit are left in the order in which they were found.
      {"BoxWithNMSLimit S B -> s b c detections_per_im=2",
       "S f 1,3 = 0,0.25,0.5; B f 1,12 = 0,0,1,1", "s f 2 = 0.25,0.5; c f 2 = 1,2"},
  });
  Workspace ws;
  std::vector<float> scores, boxes;
  for (int i = 0; i < 102; ++i) {
    scores.insert(scores.end(), {0, 0.25f + static_cast<float>(i) / 256});
    for (int c = 0; c < 2; ++c)
      boxes.insert(boxes.end(),
                   {10.0f * static_cast<float>(i), 0, 10.0f * static_cast<float>(i), 0});
  }
  Feed<float>(&ws, "S", {102, 2}, scores);
  Feed<float>(&ws, "B", {102, 8}, boxes);
  RunOp(&ws,
        "type: 'BoxWithNMSLimit' input: 'S' input: 'B' output: 's' output: 'b' output: 'c' "
        "output: 'n'");
  ExpectTensor<float>(ws, "n", {1}, {100});
  EXPECT_EQ(Fetch<float>(ws, "s").back(), 0.25f + 2.0f / 256);
}

TEST(FpnProposalsBoundsTest, DefaultsAreThoseOfCaffe2) {
  ExpectResults({
      // Sizes 224, 448, 112, 56, 1000 and 10; levels are 2 to 5.
      {"DistributeFpnProposals R -> A B C D P",
       "R f 6,4 = 0,0,223,223,0,0,447,447,0,0,111,111,0,0,55,55,0,0,999,999,0,0,9,9",
       "A f 2,5 = 0,0,0,55,55,0,0,0,9,9; B f 1,5 = 0,0,0,111,111; C f 1,5 = 0,0,0,223,223; "
       "D f 2,5 = 0,0,0,447,447,0,0,0,999,999; P i 6 = 3,4,2,0,5,1"},
      // A box of infinite area belongs to the first level, as in Caffe2.
      {"DistributeFpnProposals R -> A B C D P", "R f 1,5 = 2,0,0,1e30,1e30",
       "A f 1,5 = 2,0,0,1e30,1e30; B f 0,5; C f 0,5; D f 0,5; P i 1 = 0"},
      // Levels 2 to 6; equal scores stay in the order of the levels.
      {"CollectRpnProposals A B C D E a b c d e -> R",
       "A f 1,5 = 0,1,1,2,2; B f 1,5 = 1,1,1,3,3; C f 0,5; D f 1,5 = 2,1,1,4,4; "
       "E f 1,5 = 3,1,1,5,5; a f 1 = 0.25; b f 1 = 0.5; c f 0; d f 1 = 0.5; e f 1 = 0.75",
       "R f 4,5 = 3,1,1,5,5,1,1,1,3,3,2,1,1,4,4,0,1,1,2,2"},
  });
  Workspace ws;
  FeedRange<float>(&ws, "R", {2002, 5}, 0, 0);
  FeedRange<float>(&ws, "S", {2002});
  const std::string collect =
      "type: 'CollectRpnProposals' input: 'R' input: 'S' output: 'Y' "
      "arg { name: 'rpn_min_level' i: 2 } arg { name: 'rpn_max_level' i: 2 } ";
  RunOp(&ws, collect);
  EXPECT_EQ(DimsOf(ws, "Y"), (std::vector<int64_t>{2000, 5}));
  RunOp(&ws, collect + "arg { name: 'rpn_post_nms_topN' i: 0 }");
  EXPECT_EQ(DimsOf(ws, "Y"), (std::vector<int64_t>{2002, 5}));
}

TEST(NonMaxSuppressionBoundsTest, ReadsCentersAndSizesOfBothAxes) {
  // Boxes 2 wide and 1 high at x = 1 and 2: a third of the union is common.
  const std::string boxes = "B f 1,2,4 = 1,0,2,1,2,0,2,1; S f 1,1,2 = 0.75,0.5; M l 1 = 2; ";
  const char* const op = "NonMaxSuppression B S M O -> Y center_point_box=1";
  ExpectResults({
      {op, boxes + "O f 1 = 0.25", "Y l 1,3 = 0,0,0"},
      {op, boxes + "O f 1 = 0.375", "Y l 2,3 = 0,0,0,0,0,1"},
      // The same box twice: an overlap of 1 is not above 1.
      {"NonMaxSuppression B S -> Y max_output_boxes_per_class=5 iou_threshold=1.0",
       "B f 1,2,4 = 0,0,1,1; S f 1,1,2 = 0.75,0.5", "Y l 2,3 = 0,0,0,0,0,1"},
      {"NonMaxSuppression B S -> Y max_output_boxes_per_class=5",
       "B f 1,2,4 = 0,0,1,1; S f 1,1,2 = 0.75,0.5", "Y l 1,3 = 0,0,0"},
  });
}

TEST(NonMaxSuppressionBoundsTest, EachImageHasItsBoxesAndScores) {
  ExpectResults({
      // Apart in image 0, the same in image 1; class 1 prefers the second box.
      {"NonMaxSuppression B S -> Y max_output_boxes_per_class=2 iou_threshold=0.5",
       "B f 2,2,4 = 0,0,1,1,5,5,6,6,0,0,1,1,0,0,1,1; S f 2,2,2 = 0.75,0.5,0.25,0.5",
       "Y l 6,3 = 0,0,0,0,0,1,0,1,1,0,1,0,1,0,0,1,1,1"},
      // An input without elements counts as not given; NaN is no score; -inf is one by default.
      {"NonMaxSuppression B S M O T -> Y max_output_boxes_per_class=3",
       "B f 1,3,4 = 0,0,1,1,5,5,6,6,8,8,9,9; S f 1,1,3 = -inf,nan,0.5; M l 0; O f 0; T f 0",
       "Y l 2,3 = 0,0,2,0,0,0"},
      {"NonMaxSuppression B S M O T -> Y",
       "B f 1,3,4 = 0,0,1,1,5,5,6,6,8,8,9,9; S f 1,1,3 = -inf,0.25,0.5; M i 1 = 3; O f 1 = 0; "
       "T f 1 = 0.25",
       "Y l 1,3 = 0,0,2"},
      {"NonMaxSuppression B S M -> Y", "B f 1,1,4 = 0,0,1,1; S f 1,1,1 = 1; M l 1 = -1", "Y l 0,3"},
      {"NonMaxSuppression B S M -> Y", "B f 1,0,4; S f 1,1,0; M l 1 = 1", "Y l 0,3"},
  });
  ExpectRejected({
      {"NonMaxSuppression B S M O -> Y",
       "B f 1,1,4 = 0,0,1,1; S f 1,1,1 = 1; M l 1 = 1; O f 2 = 0.5",
       "elements of input 3 (iou_threshold), want one (got 2, want 1)"},
      {"NonMaxSuppression B S M O -> Y",
       "B f 1,1,4 = 0,0,1,1; S f 1,1,1 = 1; M l 1 = 1; O f 1 = -0.5",
       "input 3 (iou_threshold) is -0.5, want 0 to 1"},
      {"NonMaxSuppression B S -> Y", "B f 1,1,5; S f 1,1,1 = 1",
       "input 0 (boxes) has shape [1, 1, 5], want [images, boxes, 4]"},
  });
}

TEST(OnnxRoiAlignBoundsTest, TheLargestPartMayBeNegative) {
  const char* const op =
      "ONNXRoiAlign X R I -> Y mode=max coordinate_transformation_mode=output_half_pixel";
  ExpectResults({
      // A sample between four pixels, a quarter of each; then all four samples of a bin.
      {std::string(op) + " sampling_ratio=1", "X f 1,1,4,4 = -1; R f 1,4 = 1,1,2,2; I l 1 = 0",
       "Y f 1,1,1,1 = -0.25"},
      {std::string(op) + " sampling_ratio=2", "X f 1,2,4,4 = -1; R f 1,4 = 0,0,2,2; I l 1 = 0",
       "Y f 1,2,1,1 = -0.25"},
      // A sample outside counts as 0.
      {std::string(op) + " sampling_ratio=1", "X f 1,1,2,2 = -1; R f 1,4 = 5,5,6,6; I i 1 = 0",
       "Y f 1,1,1,1 = 0"},
  });
}

TEST(OnnxRoiAlignBoundsTest, EachRegionHasItsImageAndSize) {
  const std::string images = "X f 2,1,2,2 = 1,1,1,1,5,5,5,5; ";
  // X[y, x] = 4 y + x.
  const std::string ramp = "X f 1,1,4,4 = 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15; ";
  ExpectResults({
      {"ONNXRoiAlign X R I -> Y", images + "R f 2,4 = 0,0,1,1; I l 2 = 1,0", "Y f 2,1,1,1 = 5,1"},
      // Without the shift a region has at least one pixel, whose middle is at 1.5.
      {"ONNXRoiAlign X R I -> Y coordinate_transformation_mode=output_half_pixel",
       ramp + "R f 1,4 = 1,1,1,1; I l 1 = 0", "Y f 1,1,1,1 = 7.5"},
      // A bin of 1.5 pixels has two samples along an axis; three rows of one column.
      {"ONNXRoiAlign X R I -> Y coordinate_transformation_mode=output_half_pixel output_height=3",
       ramp + "R f 1,4 = 0,0,1.5,3; I l 1 = 0", "Y f 1,1,3,1 = 2.75,6.75,10.75"},
      // Scaled by a half: from 0.5 to 1.5 after the shift.
      {"ONNXRoiAlign X R I -> Y spatial_scale=0.5", ramp + "R f 1,4 = 2,2,4,4; I l 1 = 0",
       "Y f 1,1,1,1 = 5"},
      {"ONNXRoiAlign X R I -> Y", "X f 1,2,2,2 = 1; R f 0,4; I l 0", "Y f 0,2,1,1"},
      {"ONNXRoiAlign X R I -> Y output_width=2", "X f 1,0,2,2; R f 1,4 = 0,0,1,1; I l 1 = 0",
       "Y f 1,0,1,2"},
  });
  ExpectInferred(
      {{"ONNXRoiAlign X R I -> Y output_height=3 output_width=2", "X f 2,5,4,4; R f 7,4; I l 7 = 0",
        "float [7, 5, 3, 2]"},
       {"ONNXRoiAlign X R I -> Y", "X f 2,5,4,4; R f 7,4; I l 7 = 0", "float [7, 5, 1, 1]"}});
}

// Channels last in whole blocks of 16: no gathered copy of the image.
TEST(RoiAlignBoundsTest, ReadsImagesWithManyChannelsInPlace) {
  for (const int64_t channels : {32, 48, 40}) {
    SCOPED_TRACE(channels);
    Workspace ws;
    std::vector<float> x, want;
    for (int64_t p = 0; p < 12; ++p) {  // 3 x 4 pixels
      for (int64_t c = 0; c < channels; ++c)
        x.push_back(static_cast<float>(100 * c + 10 * (p / 4) + p % 4));
    }
    // The middle of pixels (0, 0) to (1, 1), then (1, 2) to (2, 3).
    for (const float middle : {5.5f, 17.5f}) {
      for (int64_t c = 0; c < channels; ++c) want.push_back(static_cast<float>(100 * c) + middle);
    }
    Feed<float>(&ws, "X", {1, 3, 4, channels}, x);
    Feed<float>(&ws, "R", {2, 4}, {0, 0, 1, 1, 2, 1, 3, 2});
    RunOp(&ws,
          "type: 'RoIAlign' input: 'X' input: 'R' output: 'Y' arg { name: 'order' s: 'NHWC' }");
    ExpectTensor<float>(ws, "Y", {2, 1, 1, channels}, want, 1e-5);
  }
}

TEST(RoiPoolBoundsTest, ABinOutsideOfOneAxisIsEmpty) {
  const char* const op = "RoIPool X R -> Y A";
  ExpectResults({
      // Columns inside and rows outside, then the other way round; both at the last pixel.
      {op, "X f 1,1,2,2 = -1,-2,-3,-4; R f 3,5 = 0,0,2,1,5,0,2,0,5,1,0,1,1,5,5",
       "Y f 3,1,1,1 = 0,0,-4; A i 3,1,1,1 = -1,-1,3"},
      {op, "X f 1,1,2,2 = -1,-2,-3,-4; R f 2,5 = 0,0,-5,1,-1,0,-5,0,-1,1",
       "Y f 2,1,1,1 = 0; A i 2,1,1,1 = -1"},
      {"PSRoIPool X R -> Y A", "X f 1,1,2,2 = -1,-2,-3,-4; R f 2,5 = 0,0,2,1,5,0,2,0,5,1",
       "Y f 2,1,1,1 = 0; A i 2,1,1,1 = 0"},
  });
}

// A region smaller than a pixel is one pixel large, unless it is aligned.
TEST(RoiAlignRotatedBoundsTest, RegionsAreOfAPixelAtLeast) {
  const std::string ramp = "X f 1,1,4,4 = 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15; ";
  ExpectResults({
      {"RoIAlignRotated X R -> Y pooled_h=1 pooled_w=2", ramp + "R f 1,5 = 1.5,1.5,0.5,0.5,0",
       "Y f 1,1,1,2 = 7.25,7.75"},
      {"RoIAlignRotated X R -> Y pooled_h=2 pooled_w=1", ramp + "R f 1,5 = 1.5,1.5,0.5,0.5,0",
       "Y f 1,1,2,1 = 6.5,8.5"},
      {"RoIAlignRotated X R -> Y pooled_h=1 pooled_w=2 aligned=1", ramp + "R f 1,5 = 2,2,0.5,0.5,0",
       "Y f 1,1,1,2 = 7.375,7.625"},
      {"RoIAlignRotated X R -> Y spatial_scale=0.5", ramp + "R f 1,5 = 3,3,4,4,0",
       "Y f 1,1,1,1 = 7.5"},
  });
  ExpectRejected({
      {"RoIAlignRotatedGradient X R D -> E", ramp + "R f 1,5 = 1,1,1,1,0; D f 1,1,1,2",
       "input 2 (dY) has shape [1, 1, 1, 2], want that of the output [1, 1, 1, 1]"},
      {"RoIAlign X R -> Y", "X d 1,1,2,2; R f 1,4 = 0",
       "the tensor holds elements of type double, want float"},
  });
}

// Bins whose number no integer holds.
TEST(RoiOutputBoundsTest, AreIntegers) {
  const std::string large = "pooled_h=2147483647 pooled_w=2147483647";
  const std::string message = "size overflow: 8589934588 * 2147483647 does not fit into 64 bits";
  const auto rejected = [&](const std::string& type, const std::string& outputs, int columns) {
    const std::string call = type + " X R -> " + outputs + " " + large;
    const std::string inputs = MakeString("X f 1,1,2,2 = 1; R f 4,", columns, " = 0");
    ExpectRejected({{call, inputs, message}});
    ExpectShapesRejected({{call, inputs, message}});
  };
  rejected("RoIAlign", "Y", 5);
  rejected("RoIAlign", "Y", 4);
  rejected("RoIAlignRotated", "Y", 6);
  rejected("RoIPool", "Y A", 5);
}

}  // namespace
}  // namespace caffe2rt::test::detection_bounds_test
