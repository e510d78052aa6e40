// Operators of detectors on inputs that change from run to run: as many elements in another shape, fewer and more
// boxes, other images. Each run gives what a new operator gives.
#include <gtest/gtest.h>

#include "tests/operators/common/changed_runs.h"

namespace caffe2rt::test::changed_detections_test {
namespace {

TEST(ChangedDetectionsTest, PoolsOfRegions) {
  const std::string large = "R f 3,5 = 0,1,1,9,8,0,3,2,20,21,0,-4,-3,2,5",
                    small = "R f 1,5 = 1,0,0,6,6";
  for (const char* args :
       {"pooled_h=2 pooled_w=3 spatial_scale=0.5", "pooled_h=3 pooled_w=2 sampling_ratio=2",
        "pooled_h=2 pooled_w=2 aligned=1"}) {
    ExpectRunsAsNew({MakeString("RoIAlign X R -> Y ", args),
                     {"X f 1,3,11,13;" + large, "X f 1,3,13,11;" + large, "X f 2,17,5,4;" + small,
                      "X f 2,3,5,4; R f 0,5", "X f 1,3,7,8; R f 2,4 = 1,1,4,5,0,0,9,3"}});
    ExpectRunsAsNew({MakeString("RoIAlign X R -> Y order=NHWC ", args),
                     {"X f 1,11,13,3;" + large, "X f 1,13,11,3;" + large, "X f 2,5,4,33;" + small,
                      "X f 2,5,4,16;" + small}});
  }
  for (const char* args : {"pooled_h=2 pooled_w=3 spatial_scale=0.5", "pooled_h=3 pooled_w=2"}) {
    for (const char* type : {"RoIPool", "RoIPoolF"}) {
      ExpectRunsAsNew({MakeString(type, " X R -> Y A ", args),
                       {"X f 1,3,11,13;" + large, "X f 1,3,13,11;" + large, "X f 2,4,5,4;" + small,
                        "X f 2,3,5,4; R f 0,5"}});
    }
  }
  ExpectRunsAsNew({"RoIPool X R -> Y pooled_h=40 pooled_w=41 is_test=1",
                   {"X f 1,3,11,13;" + large, "X f 2,1,5,4;" + small}});
  ExpectRunsAsNew({"PSRoIPool X R -> Y A output_dim=2 group_size=2 spatial_scale=0.5",
                   {"X f 1,8,11,13;" + large, "X f 1,8,13,11;" + large, "X f 2,8,5,4;" + small,
                    "X f 2,8,5,4; R f 0,5"}});
  for (const char* args : {"pooled_h=2 pooled_w=3 spatial_scale=0.5",
                           "pooled_h=2 pooled_w=2 sampling_ratio=2 aligned=1"}) {
    ExpectRunsAsNew(
        {MakeString("RoIAlignRotated X R -> Y ", args),
         {"X f 1,3,11,13; R f 2,6 = 0,5,5,6,4,30,0,2,3,9,9,-60",
          "X f 1,3,13,11; R f 2,6 = 0,5,5,6,4,30,0,2,3,9,9,-60", "X f 2,5,4,6; R f 1,6 = 1,2,2,3,2,10",
          "X f 1,3,9,9; R f 1,5 = 4,4,6,2,45"}});
  }
}

TEST(ChangedDetectionsTest, GradientsOfPoolsOfRegions) {
  const std::string two = "; R f 2,5 = 0,1,1,9,8,0,3,2,7,12; ", one = "; R f 1,5 = 1,0,0,6,6; ";
  for (const char* args : {"spatial_scale=0.5", "sampling_ratio=2 aligned=1"}) {
    ExpectRunsAsNew({MakeString("RoIAlignGradient X R D -> E pooled_h=2 pooled_w=3 ", args),
                     {"X f 1,3,11,13" + two + "D f 2,3,2,3", "X f 1,3,13,11" + two + "D f 2,3,2,3",
                      "X f 2,17,5,4" + one + "D f 1,17,2,3", "X f 1,3,4,4; R f 0,5; D f 0,3,2,3"}});
  }
  ExpectRunsAsNew({"RoIAlignGradient X R D -> E pooled_h=2 pooled_w=3 order=NHWC",
                   {"X f 1,11,13,3" + two + "D f 2,2,3,3", "X f 2,5,4,17" + one + "D f 1,2,3,17"}});
  ExpectRunsAsNew({"RoIAlignRotatedGradient X R D -> E pooled_h=2 pooled_w=3",
                   {"X f 1,3,11,13; R f 1,6 = 0,5,5,6,4,30; D f 1,3,2,3",
                    "X f 1,3,13,11; R f 1,6 = 0,5,5,6,4,30; D f 1,3,2,3",
                    "X f 2,2,5,4; R f 1,6 = 1,2,2,3,2,10; D f 1,2,2,3"}});
  for (const char* type : {"RoIPoolGradient", "RoIPoolFGradient"}) {
    ExpectRunsAsNew(
        {MakeString(type, " X R A D -> E pooled_h=2 pooled_w=3"),
         {"X f 1,3,4,5" + two + "A i 2,3,2,3 <20; D f 2,3,2,3",
          "X f 1,3,5,4" + two + "A i 2,3,2,3 <20; D f 2,3,2,3",
          "X f 2,2,3,3" + one + "A i 1,2,2,3 = -1,8; D f 1,2,2,3"}});
  }
  ExpectRunsAsNew({"PSRoIPoolGradient X R A D -> E output_dim=2 group_size=2",
                   {"X f 1,8,4,5" + two + "A i 2,2,2,2 = 0; D f 2,2,2,2",
                    "X f 1,8,5,4" + two + "A i 2,2,2,2 = 0; D f 2,2,2,2",
                    "X f 2,8,3,3" + one + "A i 1,2,2,2 = 0; D f 1,2,2,2"}});
  ExpectRunsAsNew({{"BatchPermutation X I -> Y",
                    {"X f 3,4; I i 3 = 2,0,1", "X f 4,3; I i 4 = 3,1,0,2", "X f 0,2; I i 0"}},
                   {"BatchPermutationGradient I D -> E",
                    {"I i 3 = 2,2,1; D f 3,4", "I i 4 = 3,1,0,3; D f 4,3", "I i 1 = 0; D f 1,2"}}});
  for (const char* order : {"NCHW", "NHWC"}) {
    ExpectRunsAsNew({{MakeString("AffineChannel X S B -> Y order=", order),
                      {"X f 2,3,3,3; S f 3; B f 3", "X f 1,6,3,6; S f 6; B f 6",
                       "X f 1,1,1,1; S f 1; B f 1"}},
                     {MakeString("AffineChannelGradient D S -> E order=", order),
                      {"D f 2,3,3,3; S f 3", "D f 1,6,3,6; S f 6", "D f 1,1,1,1; S f 1"}},
                     {MakeString("AffineChannelGradient D X S -> E F G is_learnable=1 order=", order),
                      {"D f 2,3,3,3; X f 2,3,3,3; S f 3", "D f 1,6,3,6; X f 1,6,3,6; S f 6",
                       "D f 0,2,2,2; X f 0,2,2,2; S f 2", "D f 1,1,1,1; X f 1,1,1,1; S f 1"}}});
  }
}

TEST(ChangedDetectionsTest, BoxesAndProposals) {
  const std::string near = "= 0,0,9,9,2,0,11,9,1,1,8,9,30,30,39,39";
  for (const std::string args :
       {"", "detections_per_im=1", "soft_nms_enabled=1",
        "soft_nms_enabled=1 soft_nms_method=gaussian detections_per_im=2", "nms=0.9"}) {
    ExpectRunsAsNew({"BoxWithNMSLimit S B N -> s b c n k z " + args,
                     {"S p 4,2; B f 4,8 " + near + "; N i 2 = 3,1",
                      "S p 2,4; B f 2,16 " + near + "; N i 1 = 2",
                      "S p 6,2; B f 6,8 " + near + "; N f 3 = 0,2,4", "S f 0,2; B f 0,8; N i 1 = 0",
                      "S p 1,3; B f 1,12 " + near + "; N i 1 = 1"}});
  }
  ExpectRunsAsNew({"BoxWithNMSLimit S B -> s b c rotated=1 cls_agnostic_bbox_reg=1",
                   {"S p 3,2; B f 3,5 = 0,0,9,9,10,1,0,9,9,20,40,40,5,5,0",
                    "S p 2,3; B f 2,5 = 0,0,9,9,10,40,40,5,5,0"}});
  for (const std::string args : {"", "apply_scale=0", "legacy_plus_one=0"}) {
    ExpectRunsAsNew({"BBoxTransform R D I -> B N " + args,
                     {"R f 2,5 = 0,1,2,9,8,1,3,3,7,12; D f 2,8; I f 2,3 = 20,30,2,9,9,1",
                      "R f 3,4 = 1,2,9,8,3,3,7,12; D f 3,4; I f 1,3 = 15,14,1",
                      "R f 0,5; D f 0,8; I f 3,3 = 4,4,1"}});
  }
  ExpectRunsAsNew(
      {{"CollectRpnProposals A B a b -> R rpn_min_level=2 rpn_max_level=3 rpn_post_nms_topN=3",
        {"A f 2,5; B f 3,5; a p 2; b p 3", "A f 1,5; B f 1,5; a p 1; b p 1",
         "A f 0; B f 4,5; a f 0; b p 4", "A f 0,5; B f 0,5; a f 0; b f 0"}},
       {"DistributeFpnProposals R -> A B P roi_min_level=3 roi_max_level=4",
        {"R f 3,5 = 0,0,0,500,500,1,0,0,9,9", "R f 2,4 = 0,0,400,300", "R f 0,5",
         "R f 1,5 = 0,0,0,9,9"}},
       {"CollectAndDistributeFpnRpnProposals A a -> R B C P rpn_min_level=2 rpn_max_level=2 "
        "roi_min_level=3 roi_max_level=4",
        {"A f 3,5 = 0,0,0,500,500,1,0,0,9,9; a p 3", "A f 1,5 = 0,0,0,9,9; a p 1",
         "A f 0,5; a f 0"}},
       {"GenerateProposals S D I A -> R P min_size=1.0",
        {"S p 1,2,2,3; D f 1,8,2,3; I f 1,3 = 64,64,1; A f 2,4 = 0,0,15,15,-4,-4,9,9",
         "S p 1,2,3,2; D f 1,8,3,2; I f 1,3 = 40,64,1; A f 2,4 = 0,0,15,15,-4,-4,9,9",
         "S p 2,1,1,1; D f 2,5,1,1; I f 2,3 = 64,64,1; A f 1,5 = 8,8,9,9,30",
         "S f 0,1,1,1; D f 0,4,1,1; I f 0,3; A f 1,4 = 0,0,15,15"}},
       {"DetectionOutput L C P -> Y num_classes=2 nms_top_k=2 keep_top_k=3",
        {"L f 2,8; C p 2,4; P f 1,2,8 = 0,0,1,1,5,5,6,6", "L f 1,16; C p 1,8; P f 1,2,16 = 0,0,1,1",
         "L f 0,4; C f 0,2; P f 1,2,4 = 0,0,1,1", "L f 1,4; C p 1,2; P f 1,2,4 = 0,0,1,1"}},
       {"PriorBox X I -> Y min_size=4., max_size=6., aspect_ratio=2., flip=1 clip=1",
        {"X f 1,1,2,3; I f 1,1,20,30", "X f 1,1,3,2; I f 1,1,20,30", "X f 1,1,3,2; I f 1,1,30,20",
         "X f 2,4,1,1; I f 2,3,9,9"}},
       {"NonMaxSuppression B S M O T -> Y",
        {"B f 1,3,4 = 0,0,1,1,0,0,1,2,5,5,6,6; S p 1,2,3; M l 1 = 2; O f 1 = 0.25; T f 0",
         "B f 2,2,4 = 0,0,1,1,0,0,1,2; S p 2,1,2; M i 1 = 9; O f 0; T f 1 = 0.75",
         "B f 1,0,4; S f 1,2,0; M l 1 = 2; O f 0; T f 0",
         "B f 1,1,4 = 0,0,1,1; S p 1,1,1; M l 1 = 1; O f 1 = 1; T f 0"}}});
  for (const char* args : {"mode=avg", "mode=max", "mode=max sampling_ratio=2",
                           "coordinate_transformation_mode=output_half_pixel"}) {
    ExpectRunsAsNew({MakeString("ONNXRoiAlign X R I -> Y output_height=2 output_width=3 ", args),
                     {"X f 1,3,5,7; R f 2,4 = 0,0,5,5,-9,-9,-8,-7; I l 2 = 0",
                      "X f 1,3,7,5; R f 2,4 = 0,0,5,5,1,2,3,9; I l 2 = 0",
                      "X f 2,1,3,3; R f 1,4 = 0,1,2,3; I i 1 = 1", "X f 2,1,3,3; R f 0,4; I l 0"}});
  }
}

}  // namespace
}  // namespace caffe2rt::test::changed_detections_test
