#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::quantile_test {
namespace {

// All but the last rows are recorded with Caffe2.
TEST(QuantileTest, BisectsTheRangeOfAllElements) {
  const std::string five = "X f 5 = 1,5,-3,2,8";
  const std::string powers = "X f 8 = 1,2,4,8,16,32,64,128";
  ExpectResults({
      // Of the 3 lesser ones of 1, 2, 3, 5, 8: the middle of 1 and 8 has 3 below it.
      {"Quantile X -> Y quantile=0.5", five, "Y f 1 = 4.5"},
      {"Quantile X -> Y quantile=0.0", five, "Y f 1 = 1"},
      {"Quantile X -> Y quantile=1.0", five, "Y f 1 = 8"},
      {"Quantile X -> Y quantile=0.5 abs=0", five, "Y f 1 = 2.5"},
      {"Quantile X -> Y quantile=0.1 abs=0", five, "Y f 1 = -3"},
      {"Quantile X -> Y quantile=0.8 abs=0", five, "Y f 1 = 5.25"},
      {"Quantile X -> Y quantile=0.126", powers, "Y f 1 = 2.984375"},
      {"Quantile X -> Y quantile=0.501", powers, "Y f 1 = 16.875"},
      {"Quantile X -> Y quantile=0.7 tol=0.9", powers, "Y f 1 = 32.75"},
      {"Quantile X -> Y quantile=0.7 tol=1.1", powers, "Y f 1 = 128"},
      {"Quantile X Z -> Y quantile=0.2 tol=0.1", "X f 1 = 1; Z f 5 = -3,-4,3,4,-4", "Y f 1 = 3.25"},
      {"Quantile X Z -> Y quantile=0.5", "X d 0; Z d 2,3 = 1,2,2,2,2,3", "Y d 1 = 2"},
      {"Quantile X -> Y quantile=0.5", "X f 5 = 1,5,nan,2,8", "Y f 1 = 6.25"},
      {"Quantile X -> Y quantile=0.9", "X f 2 = inf,1", "Y f 1 = inf"},
      {"Quantile X -> Y quantile=0.5 abs=0", "X f 2 = -inf,inf", "Y f 1 = -inf"},
      // Caffe2 gives up at the least double.
      {"Quantile X -> Y quantile=0.5 abs=0", "X d 6 = -1,0,0,0,0,1", "Y d 1 = 0"},
      // Caffe2's middle overflows.
      {"Quantile X -> Y quantile=0.75 abs=0", "X f 4 = 3e38,-3e38,1e38,2e38", "Y f 1 = 2.25e38"},
  });
  ExpectInferred({{"Quantile X -> Y quantile=0.5", "X d 2,3", "double [1]"},
                  {"Quantile X -> Y quantile=0.5", "X f ?", "? ?"}});
}

TEST(QuantileTest, RejectsFractionsAndInputsWithoutNumbers) {
  ExpectRejected({
      {"Quantile X -> Y quantile=1.5", "X f 2", "argument \"quantile\" is 1.5, want 0 to 1"},
      {"Quantile X -> Y quantile=0.5 tol=0.0", "X f 2", "argument \"tol\" is 0, want above 0"},
      {"Quantile X -> Y quantile=0.5", "X f 0", "elements of all inputs: got 0, want more than 0"},
      {"Quantile X -> Y quantile=0.5", "X f 2 = nan",
       "all elements of the inputs are NaN, want a number"},
      {"Quantile X Z -> Y quantile=0.5", "X f 2; Z d 2",
       "input 1 has elements of type double, want those of input 0, float"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::quantile_test
