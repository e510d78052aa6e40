#include <string>

#include "tests/operators/common/call_tables.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::self_binning_histogram_test {
namespace {

TEST(SelfBinningHistogramTest, CountsElementsBetweenTheirLeastAndLargest) {
  const std::string op = "SelfBinningHistogram X -> V C num_bins=",
                    two = "SelfBinningHistogram X Z -> V C num_bins=";
  const std::string x = "X d 11 = -2,-2,0,0,0,1,2,3,4,6,9",
                    z = "; Z d 11 = -5,-3,7,7,0,1,2,-3,4,6,9";
  ExpectResults({
      // From Caffe2's own tests. The last edge is a ten thousandth of the range above the largest element.
      {op + "5", x, "V d 6 = -2,0.20022,2.40044,4.60066,6.80088,9.0011; C l 6 = 5,2,2,1,1,0"},
      {op + "5 abs=1", x, "V d 6 = 0,1.80018,3.60036,5.40054,7.20072,9.0009; C l 6 = 4,4,1,1,1,0"},
      {two + "5", x + z, "V d 6 = -5,-2.19972,0.60056,3.40084,6.20112,9.0014; C l 6 = 3,6,5,4,4,0"},
      {two + "5 abs=1", x + z,
       "V d 6 = 0,1.80018,3.60036,5.40054,7.20072,9.0009; C l 6 = 6,7,3,4,2,0"},
      {op + "1 bin_spacing=logarithmic", x, "V d 2 = 1e-24,9.0009; C l 2 = 11,0"},
      {op + "5 bin_spacing=logarithmic abs=1", x,
       "V d 6 = 0,0,0,0,0.000091924,9.0009; C l 6 = 3,0,0,0,8,0"},
      {op + "3", "X f 5 = 1", "V f 4 = 1; C l 4 = 5,0,0,0"},
      {op + "3", "X f 0", "V f 4 = 0; C l 4 = 0"},
      // Recorded with Caffe2.
      {op + "2 bin_spacing=logarithmic", "X f 3 = 1,2,3",
       "V f 3 = 1,1.7321086,3.0002; C l 3 = 1,2,0"},
      {op + "2 bin_spacing=logarithmic logspace_start=2.0", "X f 3 = 1,2,3",
       "V f 3 = 2,2.4495306,3.0001; C l 3 = 2,1,0"},
      {op + "2 bin_spacing=logarithmic logspace_start=5.0", "X f 3 = 1,2,3",
       "V f 3 = 5; C l 3 = 3,0,0"},
  });
  ExpectInferred({{op + "4", "X f 3", "float [5]; int64 [5]"}});
}

TEST(SelfBinningHistogramTest, RejectsInvalidArgumentsAndElements) {
  const std::string op = "SelfBinningHistogram X -> V C num_bins=";
  ExpectRejected({
      {op + "0", "X f 3", "argument \"num_bins\" is 0, want at least 1"},
      {op + "1 bin_spacing=square", "X f 3",
       "argument \"bin_spacing\" is \"square\", want linear or logarithmic"},
      {op + "1 logspace_start=0.0", "X f 3", "argument \"logspace_start\" is 0, want above 0"},
      {op + "1", "X f 3 = 1,nan,2", "element 1 of input 0 is nan, want finite numbers"},
      {op + "1", "X f 2 = 1,-inf", "element 1 of input 0 is -inf, want finite numbers"},
      {op + "1", "X f 2 = -3e38,3e38",
       "the range of the elements is from -3e+38 to 3e+38, want a finite width"},
      {"SelfBinningHistogram X Z -> V C num_bins=1", "X f 1; Z d 1",
       "input 1 has elements of type double, want those of input 0, float"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::self_binning_histogram_test
