// Operators on images whose sizes, numbers and scales change from run to run. Each run gives what a new operator gives.
#include <gtest/gtest.h>

#include "tests/operators/common/changed_runs.h"

namespace caffe2rt::test::changed_images_test {
namespace {

TEST(ChangedImagesTest, PadsAndChannels) {
  for (const char* mode : {"constant", "edge", "reflect"}) {
    for (const char* order : {"NCHW", "NHWC"}) {
      const std::string args =
          MakeString(" pads=1,2,0,1 value=3.5 mode=", mode, " order=", order);
      ExpectRunsAsNew({{"PadImage X -> Y" + args,
                        {"X f 2,3,4,5", "X f 2,4,3,5", "X f 3,4,5,3", "X f 1,3,4,3", "X f 0,3,4,5"}},
                       {"PadImageGradient D -> E" + args,
                        {"D f 2,5,8,6", "D f 2,6,8,5", "D f 2,8,5,6", "D f 1,5,6,7"}}});
    }
  }
  for (const char* type : {"ChannelShuffle", "ChannelShuffleGradient"}) {
    ExpectRunsAsNew({{MakeString(type, " X -> Y group=2"),
                      {"X f 2,4,3,5", "X f 2,6,2,5", "X f 1,4,1,1", "X f 3,8", "X f 0,4,2,2"}},
                     {MakeString(type, " X -> Y group=3 order=NHWC"),
                      {"X f 2,3,5,6", "X f 2,5,3,6", "X f 1,2,2,9", "X f 0,2,2,3"}}});
  }
}

TEST(ChangedImagesTest, Blocks) {
  for (const std::string args : {"", " pad=1", " block_size=3 pad=1 pad_t=-1"}) {
    const bool three = args.find("3") != std::string::npos;
    ExpectRunsAsNew(
        {{"SpaceToBatch X -> Y" + args,
          three ? std::vector<std::string>{"X f 2,1,6,4", "X f 1,2,3,4", "X f 1,1,3,1"}
                : std::vector<std::string>{"X f 2,3,4,6", "X f 2,3,6,4", "X f 1,2,2,2"}},
         {"BatchToSpace X -> Y" + args,
          three ? std::vector<std::string>{"X f 9,2,2,3", "X f 9,2,3,2", "X f 18,1,1,1"}
                : std::vector<std::string>{"X f 8,3,2,3", "X f 8,3,3,2", "X f 4,1,1,1"}}});
  }
}

TEST(ChangedImagesTest, ScaledImages) {
  for (const char* type : {"ResizeNearest", "UpsampleBilinear"}) {
    ExpectRunsAsNew(
        {{MakeString(type, " X -> Y height_scale=1.5 width_scale=2.0"),
          {"X f 2,3,4,5", "X f 2,3,5,4", "X f 1,2,3,3", "X f 0,3,4,5", "X f 1,1,1,1"}},
         {MakeString(type, " X S -> Y"),
          {"X f 2,3,4,5; S f 2 = 1.5,2", "X f 2,3,4,5; S f 2 = 2,1.5", "X f 2,3,5,4; S f 2 = 0.5,1",
           "X f 1,1,3,3; S f 2 = 3,3"}},
         {MakeString(type, "Gradient D X -> E"),
          {"D f 2,3,6,10; X f 2,3,4,5", "D f 2,3,10,6; X f 2,3,5,4", "D f 2,3,6,10; X f 2,3,3,5",
           "D f 1,1,2,2; X f 1,1,1,1"}}});
  }
  ExpectRunsAsNew(
      {{"ResizeNearest X -> Y height_scale=2.0 width_scale=0.5 order=NHWC",
        {"X f 2,3,4,5", "X f 2,4,3,5", "X f 1,2,2,1"}},
       {"ResizeNearestGradient D X -> E order=NHWC",
        {"D f 2,6,2,5; X f 2,3,4,5", "D f 2,8,2,5; X f 2,4,3,5", "D f 1,2,2,1; X f 1,1,1,1"}},
       {"UpsampleNearest X -> Y scale=2", {"X f 2,3,4,5", "X f 2,3,5,4", "X f 7,1,1", "X f 0,2,2"}},
       {"UpsampleNearestGradient X D -> E scale=2",
        {"X f 2,3,4,5; D f 2,3,8,10", "X f 2,3,5,4; D f 2,3,10,8", "X f 7,1,1; D f 7,2,2"}}});
}

TEST(ChangedImagesTest, ResizedTensors) {
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* place : {"half_pixel", "align_corners", "asymmetric"}) {
      const std::string args =
          MakeString(" mode=", mode, " coordinate_transformation_mode=", place);
      ExpectRunsAsNew(
          {{"Resize X r S z -> Y" + args,
            {"X f 2,3,4; r f 0; S f 3 = 1,2,1.5; z l 0", "X f 2,4,3; r f 0; S f 3 = 1,2,1.5; z l 0",
             "X f 2,4,3; r f 0; S f 0; z l 3 = 2,8,4", "X f 2,4,3; r f 0; S f 0; z l 3 = 4,4,4",
             "X f 5; r f 0; S f 1 = 0.5; z l 0", "X u 5; r f 0; S f 1 = 0.5; z l 0",
             "X u 4; r f 0; S f 1 = 0.5; z l 0", "X d 2,4,3; r f 0; S f 0; z i 3 = 4,4,3",
             "X f 2,2; r f 0; S f 2 = 1; z l 0"}}});
    }
  }
  ExpectRunsAsNew(
      {"Resize X r S z -> Y mode=linear coordinate_transformation_mode=tf_crop_and_resize "
       "extrapolation_value=9.0",
       {"X f 4; r f 2 = 0,1; S f 0; z l 1 = 3", "X f 4; r f 2 = 0.5,1; S f 0; z l 1 = 3",
        "X f 4; r f 2 = 0.5,2; S f 0; z l 1 = 3", "X f 4; r f 2 = 0,1; S f 1 = 0.75; z l 0",
        "X f 4; r f 2 = 0,1; S f 1 = 1; z l 0"}});
}

TEST(ChangedImagesTest, SampledAndPackedImages) {
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* padding : {"zeros", "border", "reflection"}) {
      ExpectRunsAsNew({MakeString("GridSample X G -> Y mode=", mode, " padding_mode=", padding),
                       {"X f 2,3,4,5; G f 2,2,3,2", "X f 2,3,5,4; G f 2,3,2,2", "X f 1,2,6; G f 1,4,1",
                        "X d 1,1,2,3,2; G d 1,2,2,1,3", "X f 0,1,2,2; G f 0,1,1,2"}});
    }
  }
  ExpectRunsAsNew({{"BRGNCHWCToPackedInt8BGRAStylizerDeprocess X m -> Y",
                    {"X f 2,3,4,5; m f 3 = 100,128,200", "X f 2,3,5,4; m f 3 = 1,2,3",
                     "X f 0,3,2,2; m f 3 = 1", "X f 1,3,1,1; m f 3 = 7"}}});
}

}  // namespace
}  // namespace caffe2rt::test::changed_images_test
