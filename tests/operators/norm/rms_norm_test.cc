#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::rms_norm_test {
namespace {

TEST(RmsNormTest, DividesByTheRootMeanSquare) {
  ExpectResults({
      // The mean of the squares is 4 and 1 - 0.25; eps makes the second 1.
      {"RMSNorm X g b -> Y r", "X f 1,4 = 2,-2,2,-2; g f 4 = 1,2,3,4; b f 4 = 0,0,1,1",
       "Y f 1,4 = 1,-2,4,-3; r f 1 = 0.5"},
      {"RMSNorm X g b -> Y r eps=0.25", "X d 1,4 = 1,1,1,0; g d 4 = 1; b d 4 = 0.5",
       "Y d 1,4 = 1.5,1.5,1.5,0.5; r d 1 = 1"},
      // Rows of two dimensions. Caffe2 does not read epsilon.
      {"RMSNorm X g b -> Y r axis=-2 epsilon=7.0",
       "X f 2,2,2 = 3,4,0,0,6,8,0,0; g f 2,2 = 1; b f 4 = 0",
       "Y f 2,2,2 = 1.2,1.6,0,0,1.2,1.6,0,0; r f 2 = 0.4,0.2"},
      {"RMSNorm X g b -> Y r axis=0", "X f 1,2 = 3,3; g f 2 = 2; b f 2 = 0",
       "Y f 1,2 = 2,2; r f - = 0.33333333"},
      {"RMSNorm X g b -> Y r", "X f 0,4; g f 4 = 1; b f 4 = 1", "Y f 0,4; r f 0"},
      {"RMSNorm X g b -> Y r eps=4.0", "X f 2,0; g f 0; b f 0", "Y f 2,0; r f 2 = 0.5"},
      // Recorded with Caffe2.
      {"RMSNorm X g b -> Y r eps=1.0",
       "X f 3,4 = -5,-4,-3,-2,-1,0,1,2,3,4,5,6; g f 4 = 1,2,3,0.5; b f 4 = 0,1,0,-1",
       "Y f 3,4 = -1.3130642,-1.1009028,-2.3635159,-1.2626128,-0.6324555,1,1.8973665,-0.36754447,"
       "0.6324555,2.6865482,3.1622777,-0.36754447; r f 3 = 0.26261285,0.6324555,0.21081851"},
  });
}

TEST(RmsNormTest, RejectsInputsThatDoNotFit) {
  ExpectRejected({
      {"RMSNorm X g b -> Y r axis=0", "X f 4; g f 4; b f 4",
       "rank of input 0 (X) of shape [4], want at least 2 (got 1, want at least 2)"},
      {"RMSNorm X g b -> Y r", "X f 3,4; g f 3; b f 4",
       "elements of input 1 (gamma), want those of input 0 (X) of shape [3, 4] from axis 1 (got 3, "
       "want 4)"},
      {"RMSNorm X g b -> Y r", "X f 3,4; g f 4; b f 5",
       "elements of input 2 (beta), want those of input 0 (X) of shape [3, 4] from axis 1 (got 5, "
       "want 4)"},
      {"RMSNorm X g b -> Y r eps=-1.0", "X f 3,4; g f 4; b f 4",
       "argument \"eps\" is -1, want at least 0"},
      {"RMSNormGradient G X g r -> D E F", "G f 3,4; X f 3,4; g f 4; r f 2",
       "elements of input 3 (rrms) of shape [2], for input 1 (X) of shape [3, 4] and axis 1: got "
       "2, want 3"},
      {"RMSNormGradient G X g r -> D E F", "G f 2,4; X f 3,4; g f 4; r f 3",
       "elements of input 0 (dY) of shape [2, 4], for input 1 (X) of shape [3, 4] and axis 1: got "
       "8, want 12"},
  });
}

TEST(RmsNormTest, InfersShapes) {
  ExpectInferred({
      {"RMSNorm X g b -> Y r", "X d 2,3,4; g d 12; b d 12", "double [2, 3, 4]; double [2]"},
      {"RMSNorm X g b -> Y r axis=-1", "X f 2,3,4; g f 4; b f 4", "float [2, 3, 4]; float [2, 3]"},
      {"RMSNorm X g b -> Y r", "X f ?", "? ?; ? ?"},
      {"RMSNormGradient G X g r -> D E F", "G f 3,4; X f 3,4; g f 4; r f 3",
       "float [3, 4]; float [4]; float [4]"},
  });
}

TEST(RmsNormGradientTest, IsThatOfBothFactors) {
  ExpectResults({
      // r = 1: dX = g dY - X mean(g dY X) = {2, 0} - {1, 1} * 1.
      {"RMSNormGradient G X g r -> D E F", "G f 1,2 = 1,0; X f 1,2 = 1,1; g f 2 = 2,3; r f 1 = 1",
       "D f 1,2 = 1,-1; E f 2 = 1,0; F f 2 = 1,0"},
      {"RMSNormGradient G X g r -> D E F", "G f 0,2; X f 0,2; g f 2 = 2,3; r f 0",
       "D f 0,2; E f 2 = 0; F f 2 = 0"},
      // Recorded with Caffe2.
      {"RMSNormGradient G X g r -> D E F",
       "G f 1,4 = -5,-4,-3,-2; X f 1,4 = -5,-4,-3,-2; g f 4 = 1,2,3,0.5; r f 1 = 0.27216554",
       "D f 1,4 = 0.80641675,-0.44352877,-1.1491432,0.5947322; E f 4 = "
       "6.8041385,4.3546486,2.4494898,1.0886622; F f 4 = -5,-4,-3,-2"},
  });
  EXPECT_EQ(DescribeGradient(
                R"(type: "RMSNorm" input: "X" input: "g" input: "b" output: "Y" output: "r")"),
            "RMSNormGradient(Y_grad,X,g,r)->X_grad,g_grad,b_grad | X_grad g_grad b_grad");
}

}  // namespace
}  // namespace caffe2rt::test::rms_norm_test
