#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::integral_image_test {
namespace {

TEST(IntegralImageTest, AddsUpThePixelsBefore) {
  ExpectResults({
      {"IntegralImage X -> Y", "X f 1,1,2,3 = 1,2,3,4,5,6",
       "Y f 1,1,3,4 = 0,0,0,0,0,1,3,6,0,5,12,21"},
      {"IntegralImage X -> Y", "X f 2,1,1,1 = 7,8", "Y f 2,1,2,2 = 0,0,0,7,0,0,0,8"},
      {"IntegralImage X -> Y", "X f 1,1,0,2", "Y f 1,1,1,3 = 0"},
      {"IntegralImage X -> Y", "X f 1,1,2,0", "Y f 1,1,3,1 = 0"},
      {"IntegralImage X -> Y", "X f 0,1,2,3", "Y f 0,1,3,4"},
      // X[0][0] is a part of all sums but those of row 0 and column 0.
      {"IntegralImageGradient X G -> D", "X f 1,1,2,2; G f 1,1,3,3 = 9,9,9,9,1,2,9,3,4",
       "D f 1,1,2,2 = 10,6,7,4"},
      {"IntegralImageGradient X G -> D", "X f 2,1,1,1; G f 2,1,2,2 = 1,2,3,4,5,6,7,8",
       "D f 2,1,1,1 = 4,8"},
      {"IntegralImageGradient X G -> D", "X f 1,1,0,2; G f 1,1,1,3", "D f 1,1,0,2"},
  });
  ExpectInferred({{"IntegralImage X -> Y", "X f 2,3,4,5", "float [2, 3, 5, 6]"},
                  {"IntegralImage X -> Y", "X f ?", "? ?"}});
  EXPECT_EQ(DescribeGradient(R"(type: "IntegralImage" input: "X" output: "Y")"),
            "IntegralImageGradient(X,Y_grad)->X_grad | X_grad");
}

TEST(IntegralImageTest, RejectsOtherShapes) {
  const std::string want = ", want one row and one column more than input 0 (X) of shape ";
  ExpectRejected({
      {"IntegralImage X -> Y", "X f 1,3,4",
       "rank of input 0 (X) of shape [1, 3, 4]: got 3, want 4"},
      {"IntegralImage X -> Y", "X f -", "rank of input 0 (X) of shape []: got 0, want 4"},
      {"IntegralImageGradient X G -> D", "X f 1,1,3,4; G f 1,1,4,4",
       "input 1 (dY) has shape [1, 1, 4, 4]" + want + "[1, 1, 3, 4]"},
      {"IntegralImageGradient X G -> D", "X f 1,1,3,4; G f 1,2,4,5",
       "input 1 (dY) has shape [1, 2, 4, 5]" + want + "[1, 1, 3, 4]"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::integral_image_test
