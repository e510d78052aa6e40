#include "tests/operators/common/call_tables.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::find_test {
namespace {

TEST(FindTest, FindsTheLastPositionOfEachQuery) {
  ExpectResults({
      {"Find X Q -> Y missing_value=-7", "X l 3 = 5,3,7; Q l 2,2 = 7,5,9,3", "Y l 2,2 = 2,0,-7,1"},
      {"Find X Q -> Y", "X i 5 = 5,-1,5,0,-1; Q i 4 = 5,-1,0,1", "Y i 4 = 2,4,3,-1"},
      {"Find X Q -> Y", "X i 1,2 = 1,2; Q i - = 2", "Y i - = 1"},
      {"Find X Q -> Y", "X i 0; Q i 1 = 0", "Y i 1 = -1"},
      {"Find X Q -> Y", "X l 1 = 4; Q l 0,3", "Y l 0,3"},
  });
}

TEST(FindTest, RejectsInvalidCalls) {
  ExpectRejected({
      {"Find X Q -> Y", "X f 1; Q f 1",
       "Unsupported type of tensor: input 0 (index) has elements of type float, want int32, int64"},
      {"Find X Q -> Y", "X i 1; Q l 1", "the tensor holds elements of type int64, want int32"},
      {"Find X Q -> Y", "X l 1; Q i 1", "the tensor holds elements of type int32, want int64"},
  });
  ExpectInferred({{"Find X Q -> Y", "X l 3; Q l 2,4", "int64 [2, 4]"}});
}

}  // namespace
}  // namespace caffe2rt::test::find_test
