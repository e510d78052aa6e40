#include "tests/operators/common/call_tables.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::stump_func_index_test {
namespace {

// Recorded with Caffe2.
TEST(StumpFuncIndexTest, SplitsIndicesAtTheThreshold) {
  ExpectResults({
      {"StumpFuncIndex X -> L H threshold=0.5", "X f 5 = 1,0,-1,nan,0.5",
       "L l 3 = 1,2,4; H l 2 = 0,3"},
      {"StumpFuncIndex X -> L H", "X f 2,2 = 1,0,-1,4", "L l 2 = 1,2; H l 2 = 0,3"},
      {"StumpFuncIndex X -> L H", "X f 0", "L l 0; H l 0"},
      {"StumpFuncIndex X -> L H", "X f - = 2", "L l 0; H l 1 = 0"},
  });
  ExpectInferred({{"StumpFuncIndex X -> L H", "X f 3", "int64 ?; int64 ?"}});
  ExpectRejected({{"StumpFuncIndex X -> L H", "X l 3",
                   "the tensor holds elements of type int64, want float"}});
}

}  // namespace
}  // namespace caffe2rt::test::stump_func_index_test
