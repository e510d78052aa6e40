#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::histogram_test {
namespace {

TEST(HistogramTest, CountsBetweenEdges) {
  ExpectResults({
      // Recorded with Caffe2. An upper edge is in the bin above it.
      {"Histogram X -> Y bin_edges=0.0,1.0,2.0", "X f 3,3 = -1,0,0.5,1,1.5,3,nan,inf,-inf",
       "Y l 2 = 2,2"},
      {"Histogram X Z -> Y bin_edges=0.0,1.0,2.0", "X f 5 = -1,0,0.5,1,1.5; Z f 2,2 = 0,1,2,1.99",
       "Y l 2 = 3,4"},
      {"Histogram X -> Y bin_edges=1.0,2.0", "X d 2 = 1,2", "Y l 1 = 1"},
      {"Histogram X Z -> Y bin_edges=1.0,2.0", "X d 0; Z d - = 1.5", "Y l 1 = 1"},
      {"Histogram X -> Y bin_edges=1.0,2.0", "X f 0", "Y l 1 = 0"},
  });
  ExpectInferred({{"Histogram X -> Y bin_edges=1.0,2.0,4.0", "X f ?", "int64 [2]"}});
}

TEST(HistogramTest, RejectsEdgesThatDoNotAscend) {
  const std::string want = ", want at least 2 strictly ascending numbers";
  ExpectRejected({
      {"Histogram X -> Y bin_edges=1.0,", "X f 2", "argument \"bin_edges\" is [1]" + want},
      {"Histogram X -> Y bin_edges=1.0,1.0", "X f 2", "argument \"bin_edges\" is [1, 1]" + want},
      {"Histogram X -> Y bin_edges=1.0,nan,2.0", "X f 2",
       "argument \"bin_edges\" is [1, nan, 2]" + want},
      {"Histogram X Z -> Y bin_edges=1.0,2.0", "X f 2; Z d 2",
       "input 1 has elements of type double, want those of input 0, float"},
      {"Histogram X -> Y bin_edges=1.0,2.0", "X i 2",
       "Unsupported type of tensor: input 0 has elements of type int32, want float, double"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::histogram_test
