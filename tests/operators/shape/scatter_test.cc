#include "tests/operators/common/call_tables.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::scatter_test {
namespace {

// Recorded with Caffe2, except the second row of each axis of three: there Caffe2 does not use the
// coordinates of INDICES but their offsets, so these follow its documentation.
TEST(ScatterTest, WritesUpdatesAtIndices) {
  ExpectResults({
      {"Scatter X I U -> Y axis=0",
       "X f 4,3 = 0,1,2,3,4,5,6,7,8,9,10,11; I l 1,3 = 1,0,2; U f 1,3 = 7,8,9",
       "Y f 4,3 = 0,8,2,7,4,5,6,7,9,9,10,11"},
      {"Scatter X I U -> Y",
       "X f 4,3 = 0,1,2,3,4,5,6,7,8,9,10,11; I l 1,3 = 1,0,2; U f 1,3 = 7,8,9",
       "Y f 4,3 = 8,7,9,3,4,5,6,7,8,9,10,11"},
      {"Scatter X I U -> Y axis=-2",
       "X f 4,3 = 0,1,2,3,4,5,6,7,8,9,10,11; I i 2,2 = 1,0,2,3; U f 2,2 = 7,8,9,1",
       "Y f 4,3 = 0,8,2,7,4,5,9,7,8,9,1,11"},
      {"Scatter X I U -> Y axis=0", "X l 2,2,2 = 0,1,2,3,4,5,6,7; I l 1,2,1 = 1,0; U l 1,2,1 = 8,9",
       "Y l 2,2,2 = 0,1,9,3,8,5,6,7"},
      {"Scatter X I U -> Y axis=1",
       "X f 2,2,2 = 0,1,2,3,4,5,6,7; I l 2,1,2 = 1,0,1,0; U f 2,1,2 = 8,9,10,11",
       "Y f 2,2,2 = 0,9,8,3,4,11,10,7"},
      // The last update of an element counts.
      {"Scatter X I U -> X axis=0", "X f 3 = 1,2,3; I l 2 = 1,1; U f 2 = 8,9", "X f 3 = 1,9,3"},
      {"Scatter X I U -> Y axis=0", "X f 3 = 1,2,3; I l 0; U f 0", "Y f 3 = 1,2,3"},
  });
  ExpectInferred({{"Scatter X I U -> Y", "X d 2,3; I l 1,3; U d 1,3", "double [2, 3]"}});
}

TEST(ScatterTest, RejectsInvalidCalls) {
  ExpectRejected({
      {"Scatter X I U -> Y axis=0", "X f 3; I l 1 = -1; U f 1",
       "element 0 of input 1 (indices): got -1, want at least 0"},
      {"Scatter X I U -> Y axis=0", "X f 3; I l 1 = 3; U f 1",
       "element 0 of input 1 (indices) is 3, want at least -3 and below 3"},
      {"Scatter X I U -> Y axis=0", "X f 3; I l 2 = 0; U f 1",
       "input 2 (UPDATES) has shape [1], want that of input 1 (indices) [2]"},
      {"Scatter X I U -> Y axis=0", "X f 3; I l 1 = 0; U d 1",
       "input 2 (UPDATES) has elements of type double, want float as input 0 (DATA)"},
      {"Scatter X I U -> Y axis=0", "X f 3,2; I l 1 = 0; U f 1",
       "input 1 (indices) has shape [1], want the rank of input 0 (data) of shape [3, 2] and no "
       "larger sizes except for dim 0"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::scatter_test
