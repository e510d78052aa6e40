#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::percentile_test {
namespace {

TEST(PercentileTest, InterpolatesBetweenRowsOfTheTable) {
  ExpectResults({
      // Recorded with Caffe2.
      {"Percentile X M L -> Y",
       "X f 4,2 = 1,5,2,8,10,0,-1,3; M f 5,2 = 1,0,2,0.5,3,1,4,0,6,0.8; L i 2 = 3,2",
       "Y f 4,2 = 0,0.4,0.5,1,1,0,0,0"},
      {"Percentile X M L -> Y", "X f 3,1 = 2.5,nan,3; M f 3,2 = 2,0.5,3,1,3,0; L i 1 = 3",
       "Y f 3,1 = 0.75,0,1"},
      {"Percentile X M L -> Y", "X f 1,2 = 1,5; M f 2,2 = 4,0,6,0.8; L i 1,2 = 0,2",
       "Y f 1,2 = 1,0.4"},
      {"Percentile X M L -> Y", "X f 4,1 = 2.5,2,3,1; M f 1,2 = 2,0.5; L i 1 = 1",
       "Y f 4,1 = 1,0.5,1,0"},
      {"Percentile X M L -> Y", "X f 0,1; M f 1,2 = 2,0.5; L i 1 = 1", "Y f 0,1"},
      {"Percentile X M L -> Y", "X f 3,0; M f 0,2; L i 0", "Y f 3,0"},
  });
  ExpectInferred({{"Percentile X M L -> Y", "X f 4,2; M f 5,2; L i 2", "float [4, 2]"}});
}

TEST(PercentileTest, RejectsTablesThatDoNotFit) {
  ExpectRejected({
      {"Percentile X M L -> Y", "X f 4; M f 5,2; L i 2",
       "rank of input 0 (original_values) of shape [4]: got 1, want 2"},
      {"Percentile X M L -> Y", "X f 4,1; M f 1,3; L i 1 = 1",
       "input 1 (value_to_pct) has shape [1, 3], want [*, 2]"},
      {"Percentile X M L -> Y", "X f 4,2; M f 5,2; L i 1 = 5",
       "elements of input 2 (lengths), want the columns of input 0 (original_values) of shape [4, "
       "2] (got 1, want 2)"},
      {"Percentile X M L -> Y", "X f 4,2; M f 5,2; L i 2 = 3,1",
       "rows of input 1 (value_to_pct), want the sum of the lengths (got 5, want 4)"},
      {"Percentile X M L -> Y", "X f 4,2; M f 5,2; L i 2 = -1,6",
       "element 0 of input 2 (lengths), want at least 0 (got -1, want at least 0)"},
      {"Percentile X M L -> Y", "X f 1,1; M f 2,2 = 3,0,2,1; L i 1 = 2",
       "row 1 of input 1 (value_to_pct) has value 2, want ascending values for column 0"},
      {"Percentile X M L -> Y", "X f 1,1; M f 1,2 = nan,0; L i 1 = 1",
       "row 0 of input 1 (value_to_pct) has value nan, want ascending values for column 0"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::percentile_test
