// Whole messages of the operators of this folder, and shapes next to the bounds.
#include <gtest/gtest.h>

#include "tests/operators/common/call_tables.h"

namespace caffe2rt::test::detection_calls_test {
namespace {

TEST(DetectionRefusalsTest, OfPriorBoxesNameSizesAndVariances) {
  const char* const inputs = "X f 1,1,1,1; I f 1,1,2,2";
  ExpectRejected({
      {"PriorBox X I -> Y", inputs, "argument min_size is missing"},
      {"PriorBox X I -> Y min_size=0.5,", inputs,
       "argument min_size has value 0.5, want at least 1"},
      {"PriorBox X I -> Y min_size=4.,5. max_size=6.,", inputs,
       "argument max_size has 1 values, want one for each of the 2 of min_size"},
      {"PriorBox X I -> Y min_size=4., max_size=4.,", inputs,
       "argument max_size has value 4, want more than min_size 4"},
      {"PriorBox X I -> Y min_size=4., aspect_ratio=2.,0.", inputs,
       "argument aspect_ratio has value 0, want more than 0"},
      {"PriorBox X I -> Y min_size=4., variance=0.5,1.,2.", inputs,
       "argument variance has 3 values, want 1 or 4"},
  });
  // 1 is truncated from 1.5; the ratio 1 adds no box, 4 adds itself and 1/4.
  ExpectInferred({
      {"PriorBox X I -> Y min_size=1.5,", "X f 1,1,2,3; I f 1,1,2,2", "float [1, 2, 24]"},
      {"PriorBox X I -> Y min_size=1., max_size=2., aspect_ratio=1.,4.,4.",
       "X f 1,1,2,3; I f 1,1,2,2", "float [1, 2, 96]"},
  });
}

TEST(DetectionRefusalsTest, OfBoxesNameShapesAndImages) {
  ExpectRejected({
      {"BBoxTransform R D I -> B", "R f 2,3; D f 2,4; I f 1,3",
       "input 0 (rois) has shape [2, 3], want [R, 4] or [R, 5]"},
      {"BBoxTransform R D I -> B", "R f 2,5; D f 2,6; I f 1,3",
       "input 1 (deltas) has shape [2, 6], want a row for each row of input 0 (rois) of shape [2, "
       "5], and a multiple of 4 columns"},
      {"BBoxTransform R D I -> B", "R f 2,4; D f 2,4; I f 1,2",
       "input 2 (im_info) has shape [1, 2], want [N, 3]: height, width and scale of each image"},
      {"BBoxTransform R D I -> B", "R f 2,4; D f 2,4; I f 2,3",
       "input 2 (im_info) has shape [2, 3], want [1, 3], because input 0 (rois) of shape [2, 4] "
       "names no images"},
      {"BBoxTransform R D I -> B", "R f 2,5 = 1,0,0,1,1,2,0,0,1,1; D f 2,4; I f 2,3 = 4,4,1",
       "row 1 of input 0 (rois) is of image 2, want at least 0 and below 2, the number of rows of "
       "input 2 (im_info)"},
      {"BoxWithNMSLimit S B -> s b c", "S f 2; B f 2,8",
       "rank of input 0 (scores) of shape [2]: got 1, want 2"},
      {"BoxWithNMSLimit S B -> s b c", "S f 2,3; B f 2,8",
       "input 1 (boxes) has shape [2, 8], want [2, 12] for input 0 (scores) of shape [2, 3]"},
      {"BoxWithNMSLimit S B N -> s b c", "S f 2,2; B f 2,8; N f 1,2 = 1.",
       "rank of input 2 (batch_splits) of shape [1, 2]: got 2, want 1"},
      {"BoxWithNMSLimit S B N -> s b c", "S f 2,2; B f 2,8; N i 2 = 3,-1",
       "input 2 (batch_splits) has value 3, want 0 to 2, the rows of input 0 (scores)"},
      {"BoxWithNMSLimit S B N -> s b c", "S f 2,2; B f 2,8; N i 2 = 0,1",
       "sum of input 2 (batch_splits), want the rows of input 0 (scores) (got 1, want 2)"},
      {"BoxWithNMSLimit S B -> s b c soft_nms_method=cubic", "S f 2,2; B f 2,8",
       "argument \"soft_nms_method\" is \"cubic\", want linear or gaussian"},
  });
}

TEST(DetectionRefusalsTest, OfDetectionsAndProposalsNameShapes) {
  const char* const output = "DetectionOutput L C P -> Y num_classes=2";
  const char* const proposals = "GenerateProposals S D I A -> R P";
  ExpectRejected({
      {output, "L f 1,8; C f 1,4; P f 1,2,7",
       "input 2 (prior) has shape [1, 2, 7], want [1, 2, P * 4]"},
      {output, "L f 1,8; C f 1,4; P f 2,8", "input 2 (prior) has shape [2, 8], want [1, 2, P * 4]"},
      {output, "L f 1,8; C f 2,2; P f 1,2,8",
       "inputs 0 (loc) and 1 (conf) have shapes [1, 8] and [2, 2], want the same number of images"},
      {output, "L f 1,8; C f 1,5; P f 1,2,8",
       "input 1 (conf) has shape [1, 5], want [1, 2 * 2]"},
      {output, "L f 1,9; C f 1,4; P f 1,2,8",
       "input 0 (loc) has shape [1, 9], want [1, 2 * 1 * 4]"},
      {"DetectionOutput L C P -> Y num_classes=2 share_location=0", "L f 1,8; C f 1,4; P f 1,2,8",
       "input 0 (loc) has shape [1, 8], want [1, 2 * 2 * 4]"},
      {"DetectionOutput L C P -> Y num_classes=0", "L f 1,8; C f 1,4; P f 1,2,8",
       "argument num_classes is 0, want at least 1"},
      {"DetectionOutput L C P -> Y num_classes=2 nms_eta=0.", "L f 1,8; C f 1,4; P f 1,2,8",
       "argument nms_eta is 0, want 0 to 1"},
      {proposals, "S f 1,2,3; D f 1,8,3,3; I f 1,3; A f 2,4",
       "rank of input 0 (scores) of shape [1, 2, 3]: got 3, want 4"},
      {proposals, "S f 1,2,3,3; D f 1,8,3,3; I f 1,3; A f 2,6",
       "input 3 (anchors) has shape [2, 6], want [2, 4], or [2, 5] with rotated anchors"},
      {proposals, "S f 1,2,3,3; D f 1,8,3,3; I f 1,3; A f 2,5",
       "input 1 (bbox_deltas) has shape [1, 8, 3, 3], want 5 times the channels of input 0 "
       "(scores) of shape [1, 2, 3, 3]"},
      {proposals, "S f 1,2,3,3; D f 1,8,3,3; I f 2,3; A f 2,4",
       "input 2 (im_info) has shape [2, 3], want [1, 3]: height, width and scale of each image"},
      {proposals, "S f 1,2,0,3; D f 1,8,0,3; I f 1,3; A f 2,4",
       "input 0 (scores) has shape [1, 2, 0, 3], want at least one score for each image, and less "
       "than 2147483647"},
      {"NonMaxSuppression B S -> Y", "B f 1,3,4; S f 1,2,4",
       "input 1 (scores) has shape [1, 2, 4], want [images, classes, boxes] for input 0 (boxes) of "
       "shape [1, 3, 4]"},
      {"NonMaxSuppression B S -> Y iou_threshold=1.5", "B f 1,3,4; S f 1,2,3",
       "argument \"iou_threshold\" is 1.5, want 0 to 1"},
      {"NonMaxSuppression B S M T -> Y", "B f 1,3,4; S f 1,2,3; M l 1 = 1; T f 1 = 1.5",
       "input 3 (iou_threshold) is 1.5, want 0 to 1"},
  });
}

TEST(DetectionRefusalsTest, OfRegionsNameImagesAndSamples) {
  const char* const align = "ONNXRoiAlign X R I -> Y";
  ExpectRejected({
      {align, "X f 1,1,2,2; R f 2,4; I l 1 = 0",
       "elements of input 2 (images), want one for each of the rois (got 1, want 2)"},
      {align, "X f 1,1,0,2; R f 1,4 = 0,0,1,1; I l 1 = 0",
       "pixels of input 0 (X) of shape [1, 1, 0, 2]: got 0, want more than 0"},
      {align, "X f 2,1,2,2; R f 1,4 = 0,0,1,1; I l 1 = 2",
       "element 0 of input 2 (images) is 2, want an image of input 0 (X) of shape [2, 1, 2, 2]"},
      {align, "X f 1,1,2,2; R f 1,4 = 0,0,1048576,1; I l 1 = 0",
       "row 0 of input 1 (rois) has an axis from 0 to 1.04858e+06, want finite bins of at most "
       "1048576 pixels"},
      {align, "X f 1,1,2,2; R f 1,4 = 0,0,2048,1024; I l 1 = 0",
       "samples of a bin of row 0 of input 1 (rois): got 2097152, want at most 1048576"},
      {"PSRoIPool X R -> Y C output_dim=2 group_size=2", "X f 1,7,2,2; R f 1,5 = 0",
       "channels of input 0 (X) of shape [1, 7, 2, 2], want output_dim * group_size * group_size "
       "(got 7, want 8)"},
      {"RoIPool X R -> Y A order=NHWC", "X f 1,1,2,2; R f 1,5 = 0",
       "argument order is NHWC, want NCHW"},
      {"RoIPool X R -> Y A is_test=1", "X f 1,1,2,2; R f 1,5 = 0",
       "number of outputs is 2, want 1 with argument is_test"},
      {"RoIPool X R -> Y", "X f 1,1,2,2; R f 1,5 = 0",
       "number of outputs is 1, want 2 without argument is_test"},
      {"RoIPoolGradient X R A D -> E", "X f 1,1,2,3; R f 1,5 = 0; A i 1,1,1,1 = 6; D f 1,1,1,1",
       "input 2 (argmaxes) has value 6, want -1 to 5"},
      {"AffineChannel X S B -> X is_learnable=1", "X f 2,3; S f 3; B f 3",
       "output 0 (Y) is input 0 (X), want another blob because argument is_learnable is 1: the "
       "gradient needs X"},
      {"AffineChannelGradient D X S -> E is_learnable=1", "D f 2,3; X f 2,3; S f 3",
       "the operator has 3 inputs and 1 output, want 3 and 3 because argument is_learnable is 1"},
      {"AffineChannelGradient D S -> E F", "D f 2,3; S f 3",
       "the operator has 2 outputs, want 1, or 3 with argument is_learnable"},
      {"AffineChannelGradient D X S -> E F G is_learnable=1", "D f 2,3; X f 2,3; S f 4",
       "elements of input 2 (scale) of shape [4], want one for each channel of input 0 (dY) (got "
       "4, want 3)"},
  });
}

TEST(DetectionRefusalsTest, OfGradientsNameEachOtherInput) {
  const char* const pool = "RoIPoolGradient X R A D -> E pooled_h=1 pooled_w=2";
  const char* const plain = "RoIPoolFGradient X R A D -> E pooled_h=1 pooled_w=2";
  const char* const position = "PSRoIPoolGradient X R A D -> E output_dim=2 group_size=1";
  const char* const align = "RoIAlignGradient X R D -> E pooled_h=2 pooled_w=1";
  const char* const last = "RoIAlignGradient X R D -> E pooled_h=2 pooled_w=1 order=NHWC";
  const char* const rotated = "RoIAlignRotatedGradient X R D -> E pooled_h=2 pooled_w=1";
  const std::string image = "X f 1,2,3,3; R f 2,5 = 0,0,0,1,1; ";
  const std::string want = ", want that of the output [2, 2, ";
  for (const char* const op : {pool, plain}) {
    ExpectRejected({
        {op, image + "A i 2,2,2,1 = 0; D f 2,2,1,2",
         "input 2 (argmaxes) has shape [2, 2, 2, 1]" + want + "1, 2]"},
        {op, image + "A i 1,2,1,2 = 0; D f 2,2,1,2",
         "input 2 (argmaxes) has shape [1, 2, 1, 2]" + want + "1, 2]"},
        {op, image + "A i 2,2,1,2 = 0; D f 2,1,1,2",
         "input 3 (dY) has shape [2, 1, 1, 2]" + want + "1, 2]"},
        {op, "X f 1,2,3,3; R f 2,4 = 0; A i 2,2,1,2 = 0; D f 2,2,1,2",
         "input 1 (RoIs) has shape [2, 4], want 5 columns"},
    });
    ExpectResults({{op, image + "A i 2,2,1,2 = 0,-1,8,8; D f 2,2,1,2 = 1,2,3,4,5,6,7,8",
                    "E f 1,2,3,3 = 6,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,22"}});
  }
  ExpectRejected({
      {position, image + "A i 2,1,1,1; D f 2,2,1,1",
       "input 2 (channels) has shape [2, 1, 1, 1]" + want + "1, 1]"},
      {position, image + "A i 2,2,1,1; D f 1,2,1,1",
       "input 3 (dY) has shape [1, 2, 1, 1]" + want + "1, 1]"},
      {align, image + "D f 2,2,1,2", "input 2 (dY) has shape [2, 2, 1, 2]" + want + "2, 1]"},
      {align, image + "D f 2,2,0,1", "input 2 (dY) has shape [2, 2, 0, 1]" + want + "2, 1]"},
      {last, "X f 1,3,3,2; R f 2,5 = 0,0,0,1,1; D f 2,2,2,1",
       "input 2 (dY) has shape [2, 2, 2, 1], want that of the output [2, 2, 1, 2]"},
      {rotated, "X f 1,2,3,3; R f 2,6 = 0,1,1,1,1,0; D f 2,2,1,2",
       "input 2 (dY) has shape [2, 2, 1, 2]" + want + "2, 1]"},
      {"BatchPermutationGradient I D -> E", "I i 2 = 0,1; D f 3,2",
       "input 0 (indices) has shape [2], want one index for each row of input 1 (dY) of shape [3, "
       "2]"},
      {"BatchPermutationGradient I D -> E", "I i 0; D f 1,2",
       "input 0 (indices) has shape [0], want one index for each row of input 1 (dY) of shape [1, "
       "2]"},
      {"BatchPermutation X I -> Y", "X f 3,2; I i 2 = 0,1",
       "input 1 (indices) has shape [2], want one index for each row of input 0 (X) of shape [3, "
       "2]"},
      {"BatchPermutation X I -> Y", "X f 3,2; I i 3,1 = 0,1,2",
       "input 1 (indices) has shape [3, 1], want one index for each row of input 0 (X) of shape "
       "[3, 2]"},
  });
  // Further indices are ignored, and they may have any shape.
  ExpectResults(
      {{"BatchPermutationGradient I D -> E", "I i 2,2 = 1,1,0,7; D f 3,1 = 1,2,4",
        "E f 3,1 = 4,3,0"},
       {"BatchPermutation X I -> Y", "X f 0,2; I i 0", "Y f 0,2"},
       {"RoIAlignGradient X R D -> E", "X f 1,1,2,2; R f 0,5; D f 0,1,1,1", "E f 1,1,2,2 = 0"}});
}

// Indices of elements are int32, so planes have a limit, also without images.
TEST(DetectionRefusalsTest, OfPooledRegionsNameTheSizeOfAPlane) {
  const std::string want =
                        "planes of input 0 (X) have 2147483648 elements, want at most 2147483647",
                    beyond = "X f 0,1,65536,32768; R f 0,5", most = "X f 0,1,1,2147483647; R f 0,5",
                    gradients = "; A i 0,1,1,1; D f 0,1,1,1";
  for (const std::string type : {"RoIPool", "RoIPoolF"}) {
    ExpectRejected({{type + " X R -> Y A", beyond, want},
                    {type + "Gradient X R A D -> E", beyond + gradients, want}});
    ExpectResults({{type + " X R -> Y A", most, "Y f 0,1,1,1; A i 0,1,1,1"},
                   {type + "Gradient X R A D -> E", most + gradients, "E f 0,1,1,2147483647"}});
  }
}

TEST(DetectionRefusalsTest, OfAffineChannelsNameTheVector) {
  const char* const op = "AffineChannel X S B -> Y";
  ExpectRejected({
      {op, "X f 2,3; S f 2; B f 3",
       "elements of input 1 (scale) of shape [2], want one for each channel of input 0 (got 2, "
       "want at least 3)"},
      {op, "X f 2,3; S f 3; B f 1,2",
       "elements of input 2 (bias) of shape [1, 2], want one for each channel of input 0 (got 2, "
       "want at least 3)"},
      {"AffineChannel X S B -> Y order=NHWC", "X f 2,2,2,3; S f 2; B f 3",
       "elements of input 1 (scale) of shape [2], want one for each channel of input 0 (got 2, "
       "want at least 3)"},
      {"AffineChannelGradient D S -> E", "D f 2,3; S f 2",
       "elements of input 1 (scale) of shape [2], want one for each channel of input 0 (got 2, "
       "want at least 3)"},
      {"AffineChannelGradient D X S -> E F G is_learnable=1", "D f 2,3; X f 3,2; S f 3",
       "input 1 (X) has shape [3, 2], want that of input 0 (dY) [2, 3]"},
  });
}

TEST(DetectionCallsTest, InfersShapesAndTypes) {
  ExpectInferred({
      {"BBoxTransform R D I -> B", "R f 7,5; D f 7,8; I f 3,3", "float [7, 8]"},
      {"BBoxTransform R D I -> B N", "R f 7,5; D f 7,8; I f 3,3", "float [7, 8]; float [3]"},
      {"BBoxTransform R D I -> B N", "R f 7,5; D f 7,8; I f ?", "? ?; ? ?"},
      {"BatchPermutation X I -> Y", "X f 3,4; I i 3", "float [3, 4]"},
      {"BatchPermutation X I -> Y", "X f ?; I i 3", "? ?"},
      {"BatchPermutationGradient I D -> E", "I i 3; D f 3,4", "float [3, 4]"},
      {"AffineChannelGradient D X S -> E F G is_learnable=1", "D f 2,3; X f 2,3; S f 3",
       "float [2, 3]; float [3]; float [3]"},
      {"AffineChannelGradient D X S -> E F G is_learnable=1", "D f ?; X f 2,3; S f 3",
       "? ?; float [3]; float [3]"},
      {"AffineChannelGradient D S -> E", "D f 2,3; S f 3", "float [2, 3]"},
      {"RoIPool X R -> Y A pooled_h=2 pooled_w=3", "X f 1,4,5,6; R f 7,5",
       "float [7, 4, 2, 3]; int32 [7, 4, 2, 3]"},
      {"RoIPool X R -> Y pooled_h=2 pooled_w=3 is_test=1", "X f 1,4,5,6; R f 7,5",
       "float [7, 4, 2, 3]"},
      {"PSRoIPool X R -> Y A output_dim=2 group_size=3", "X f 1,18,5,6; R f 7,5",
       "float [7, 2, 3, 3]; int32 [7, 2, 3, 3]"},
      {"RoIAlign X R -> Y pooled_h=2 pooled_w=3", "X f 1,4,5,6; R f 7,4", "float [7, 4, 2, 3]"},
      {"RoIAlign X R -> Y pooled_h=2 pooled_w=3 order=NHWC", "X f 1,4,5,6; R f 7,5",
       "float [7, 2, 3, 6]"},
      {"RoIAlignRotated X R -> Y pooled_h=2 pooled_w=3", "X f 1,4,5,6; R f 7,6",
       "float [7, 4, 2, 3]"},
      // RoIs without elements may have any shape.
      {"RoIAlignRotated X R -> Y pooled_h=2 pooled_w=3", "X f 1,4,5,6; R f 0",
       "float [0, 4, 2, 3]"},
      {"RoIAlignRotated X R -> Y pooled_h=2 pooled_w=3", "X f 1,4,5,6; R f 3,0",
       "float [0, 4, 2, 3]"},
      {"RoIAlignRotated X R -> Y pooled_h=2 pooled_w=3 order=NHWC", "X f 1,4,5,6; R f 0,7,2",
       "float [0, 2, 3, 6]"},
      {"RoIAlignRotated X R -> Y", "X f 1,4,5,6; R f ?", "? ?"},
  });
  ExpectShapesRejected({{"RoIAlignRotated X R -> Y", "X f 1,4,5,6; R f 3",
                         "rank of input 1 (RoIs) of shape [3]: got 1, want 2"},
                        {"RoIAlign X R -> Y", "X f 1,4,5,6; R f 0",
                         "rank of input 1 (RoIs) of shape [0]: got 1, want 2"}});
  ExpectResults(
      {{"RoIAlignRotated X R -> Y pooled_h=2 pooled_w=3", "X f 1,4,5,6; R f 0", "Y f 0,4,2,3"},
       {"RoIAlignRotated X R -> Y pooled_h=2 pooled_w=3 order=NHWC", "X f 1,4,5,6; R f 3,0",
        "Y f 0,2,3,6"}});
}

// Two turned boxes that are far apart, and one that is nearly the first one.
TEST(DetectionCallsTest, RotatedProposalsAreLimitedBeforeAndAfterTheSuppression) {
  const std::string inputs =
      "S f 1,3,1,1 = 0.75,0.5,0.25; D f 1,15,1,1 = 0; I f 1,3 = 64,64,1; "
      "A f 3,5 = 10,10,8,8,30,10,10,8,8,31,40,40,8,8,30";
  const std::string op = "GenerateProposals S D I A -> R P min_size=1.0";
  const char* const first = "R f 1,6 = 0,10,10,8,8,30; P f 1 = 0.75";
  const char* const apart = "R f 2,6 = 0,10,10,8,8,30,0,40,40,8,8,30; P f 2 = 0.75,0.25";
  ExpectResults({
      {op, inputs, apart},
      {op + " post_nms_topN=2", inputs, apart},
      {op + " post_nms_topN=1", inputs, first},
      {op + " post_nms_topN=0", inputs, apart},
      {op + " pre_nms_topN=1", inputs, first},
      {op + " pre_nms_topN=2", inputs, first},
      {op + " pre_nms_topN=3", inputs, apart},
      {op + " nms_thresh=1.0 post_nms_topN=2", inputs,
       "R f 2,6 = 0,10,10,8,8,30,0,10,10,8,8,31; P f 2 = 0.75,0.5"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::detection_calls_test
