#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::resize_nearest_3d_test {
namespace {

TEST(ResizeNearest3dTest, RepeatsFramesAndPixels) {
  const std::string frames = "X f 1,1,2,1,2 = 1,2,3,4";
  ExpectResults({
      {"ResizeNearest3D X -> Y temporal_scale=2.0 height_scale=2.0 width_scale=2.0", frames,
       "Y f 1,1,4,2,4 = 1,1,2,2,1,1,2,2,1,1,2,2,1,1,2,2,3,3,4,4,3,3,4,4,3,3,4,4,3,3,4,4"},
      {"ResizeNearest3D X -> Y height_scale=2.0 width_scale=2.0", frames,
       "Y f 1,1,2,2,4 = 1,1,2,2,1,1,2,2,3,3,4,4,3,3,4,4"},
      {"ResizeNearest3D X -> Y height_scale=2.0 width_scale=2.0", "X f 0,1,2,2,3", "Y f 0,1,2,4,6"},
      // Recorded with Caffe2.
      {"ResizeNearest3DGradient G X -> D temporal_scale=1.5 height_scale=2.0 width_scale=0.7",
       "G f 1,1,3,4,2 = 1; X f 1,1,2,2,3", "D f 1,1,2,2,3 = 4,4,0,4,4,0,2,2,0,2,2,0"},
      {"ResizeNearest3DGradient G X -> D height_scale=2.0 width_scale=2.0",
       "G f 1,1,1,2,4 = 1,2,3,4,5,6,7,8; X f 1,1,1,1,2", "D f 1,1,1,1,2 = 14,22"},
      {"ResizeNearest3DGradient G X -> D", "G f 0,1,2,2,3; X f 0,1,2,2,3", "D f 0,1,2,2,3"},
      {"ResizeNearest3DGradient G X -> D temporal_scale=0.5 width_scale=1000000000.0",
       "G f 1,1,0,1,1000000000; X f 1,1,1,1,1", "D f 1,1,1,1,1 = 0"},
  });
  ExpectInferred({{"ResizeNearest3D X -> Y temporal_scale=1.5 height_scale=2.0", "X f 2,3,3,5,7",
                   "float [2, 3, 4, 10, 7]"},
                  {"ResizeNearest3D X -> Y", "X f ?", "? ?"}});
  EXPECT_EQ(DescribeGradient(R"(type: "ResizeNearest3D" input: "X" output: "Y")"),
            "ResizeNearest3DGradient(Y_grad,X)->X_grad | X_grad");
}

TEST(ResizeNearest3dTest, RejectsOtherShapesAndScales) {
  ExpectRejected({
      {"ResizeNearest3D X -> Y temporal_scale=1.5 height_scale=2.0 width_scale=2.0",
       "X f 1,1,2,1,1", "argument temporal_scale is 1.5, want 1 or 2, as in Caffe2"},
      {"ResizeNearest3D X -> Y height_scale=2.0", "X f 1,1,2,1,1",
       "arguments height_scale and width_scale are 2 and 1, want 2 for both, as in Caffe2"},
      {"ResizeNearest3D X -> Y width_scale=2.0", "X f 1,1,2,1,1",
       "arguments height_scale and width_scale are 1 and 2, want 2 for both, as in Caffe2"},
      {"ResizeNearest3D X -> Y height_scale=2.0 width_scale=2.0", "X f 1,2,2,3",
       "rank of input 0 (X) of shape [1, 2, 2, 3]: got 4, want 5"},
      {"ResizeNearest3D X -> Y temporal_scale=0.0", "X f 1,1,1,1,1",
       "argument \"temporal_scale\" is 0, want above 0"},
      {"ResizeNearest3DGradient G X -> D temporal_scale=1000000000000000019884624838656.0",
       "G f 1; X f 1,1,2,1,1", "size of 2 pixels scaled by 1e+30 is 2e+30, want 0 to 2147483647"},
      {"ResizeNearest3D X -> Y order=NHWC", "X f 1,1,1,1,1",
       "argument order is NHWC, want NCHW: videos are [N, C, T, H, W]"},
      {"ResizeNearest3DGradient G X -> D", "G f 1,2,1,1,1; X f 1,1,1,1,1",
       "input 0 (dY) has shape [1, 2, 1, 1, 1], want [1, 1, 1, 1, 1] for input 1 (X) of shape [1, "
       "1, "
       "1, 1, 1]"},
      {"ResizeNearest3DGradient G X -> D", "G f 1,1,1,1,1; X f 1,1,1,1",
       "rank of input 1 (X) of shape [1, 1, 1, 1]: got 4, want 5"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::resize_nearest_3d_test
