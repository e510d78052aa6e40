#include <string>

#include "tests/operators/common/call_tables.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::bisect_percentile_test {
namespace {

std::string BisectTable(const std::string& raw, const std::string& mapping,
                        const std::string& lower, const std::string& upper,
                        const std::string& lengths) {
  return "BisectPercentile X -> Y percentile_raw=" + raw + " percentile_mapping=" + mapping +
         " percentile_lower=" + lower + " percentile_upper=" + upper + " lengths=" + lengths;
}

TEST(BisectPercentileTest, InterpolatesBetweenTheSidesOfValues) {
  ExpectResults({
      // From Caffe2's own tests.
      {BisectTable("1.0,2.0,3.0,2.0,7.0", "0.1,0.5,0.95,0.25,0.75", "0.1,0.8,1.0,0.4,1.0",
                   "0.1,0.2,0.9,0.1,0.5", "3,2"),
       "X f 10,2 = 1,1,2,2,3,3,3,1,9,10,1.5,5,1.32,2.4,2.9,5.7,-1,-1,3,7",
       "Y f 10,2 = 0.1,0,0.5,0.25,0.95,0.28,0.95,0,1,1,0.45,0.64,0.324,0.172,0.92,0.766,0,0,0.95,"
       "0.75"},
      // Recorded with Caffe2: of equal values, the last one counts.
      {BisectTable("1.0,2.0,2.0,3.0", "0.1,0.5,0.6,0.9", "0.2,0.6,0.7,0.95", "0.05,0.4,0.5,0.8",
                   "4,"),
       "X f 6,1 = 1.5,2,2.5,nan,inf,-inf", "Y f 6,1 = 0.325,0.6,0.725,nan,1,0"},
      {BisectTable("1.0,", "0.5,", "0.5,", "0.5,", "1,"), "X f 3,1 = 0,1,2", "Y f 3,1 = 0,0.5,1"},
      {"BisectPercentile X -> Y", "X f 3,0", "Y f 3,0"},
  });
  ExpectInferred({{"BisectPercentile X -> Y", "X f 3,0", "float [3, 0]"}});
}

TEST(BisectPercentileTest, RejectsTablesThatDoNotFit) {
  ExpectRejected({
      {BisectTable("1.0,", "0.5,0.5", "0.5,", "0.5,", "1,"), "X f 1,1",
       "values of argument percentile_mapping, want those of argument percentile_raw (got 2, want "
       "1)"},
      {BisectTable("1.0,2.0", "0.5,0.5", "0.5,0.5", "0.5,0.5", "1,"), "X f 1,1",
       "values of argument percentile_raw, want the sum of argument lengths (got 2, want 1)"},
      {BisectTable("1.0,", "0.5,", "0.5,", "0.5,", "1,0"), "X f 1,2",
       "argument \"lengths\" is [1, 0], want at least 1 each"},
      {BisectTable("2.0,1.0", "0.5,0.5", "0.5,0.5", "0.5,0.5", "2,"), "X f 1,1",
       "value 1 of argument percentile_raw is 1, want ascending values for each column"},
      {BisectTable("1.0,", "0.5,", "0.5,", "0.5,", "1,"), "X f 1,2",
       "dim 1 of input 0 (raw_values) of shape [1, 2], want the values of argument lengths (got 2, "
       "want 1)"},
      {BisectTable("1.0,", "0.5,", "0.5,", "0.5,", "1,"), "X f 1",
       "rank of input 0 (raw_values) of shape [1]: got 1, want 2"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::bisect_percentile_test
