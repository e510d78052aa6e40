#include "tests/operators/common/call_tables.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::batch_bucketize_test {
namespace {

TEST(BatchBucketizeTest, CountsTheBoundariesBelow) {
  ExpectResults({
      // Recorded with Caffe2.
      {"BatchBucketize X I B L -> Y",
       "X f 2,4 = -0.5,0.1,1.1,0.3,-1.5,3,-1,1.3; I i 2 = 0,2; B f 4 = -1,0,0.5,1; L i 2 = 2,2",
       "Y i 2,2 = 1,2,0,0"},
      {"BatchBucketize X I B L -> Y",
       "X f 2,4 = -0.5,0.1,1.1,0.3,-1.5,3,-1,1.3; I i 2 = 3,3; B f 4 = -1,0,0.5,1; L i 2 = 4,0",
       "Y i 2,2 = 2,0,4,0"},
      {"BatchBucketize X I B L -> Y",
       "X f 4,1 = nan,inf,-inf,1; I i 1 = 0; B f 4 = 0,0,1,1; L i 1 = 4", "Y i 4,1 = 4,4,0,2"},
      {"BatchBucketize X I B L -> Y", "X f 2,4; I i 0; B f 0; L i 0", "Y i 2,0"},
      {"BatchBucketize X I B L -> Y", "X f 0,4; I i 1 = 1; B f 1; L i 1 = 1", "Y i 0,1"},
  });
  ExpectInferred({{"BatchBucketize X I B L -> Y", "X f 2,4; I i 3; B f 5; L i 3", "int32 [2, 3]"},
                  {"BatchBucketize X I B L -> Y", "X f ?; I i 3; B f 5; L i 3", "int32 ?"}});
}

TEST(BatchBucketizeTest, RejectsInputsThatDoNotFit) {
  const char* const op = "BatchBucketize X I B L -> Y";
  ExpectRejected({
      {op, "X f 4; I i 1; B f 1; L i 1 = 1",
       "rank of input 0 (feature) of shape [4]: got 1, want 2"},
      {op, "X f 1,4; I i 1,1; B f 1; L i 1 = 1", "rank of input 1 of shape [1, 1]: got 2, want 1"},
      {op, "X f 1,4; I i 2; B f 1; L i 1 = 1",
       "elements of input 3 (lengths), want those of input 1 (indices) (got 1, want 2)"},
      {op, "X f 1,4; I i 1; B f 3; L i 1 = 2",
       "elements of input 2 (boundaries), want the sum of the lengths (got 3, want 2)"},
      {op, "X f 1,4; I i 2; B f 1; L i 2 = 2,-1",
       "element 1 of input 3 (lengths), want at least 0 (got -1, want at least 0)"},
      {op, "X f 1,4; I i 1 = 4; B f 1; L i 1 = 1",
       "element 0 of input 1 (indices) is 4, want at least 0 and below 4"},
      {op, "X f 1,4; I i 1 = -1; B f 1; L i 1 = 1",
       "element 0 of input 1 (indices) is -1, want at least 0 and below 4"},
      {op, "X f 1,4; I i 1 = 0; B f 2 = 1,0; L i 1 = 2",
       "element 1 of input 2 (boundaries) is 0, want ascending numbers for element 0 of input 1 "
       "(indices)"},
      {op, "X f 1,4; I i 1 = 0; B f 1 = nan; L i 1 = 1",
       "element 0 of input 2 (boundaries) is nan, want ascending numbers for element 0 of input 1 "
       "(indices)"},
      {op, "X d 1,4; I i 1; B f 1; L i 1 = 1",
       "the tensor holds elements of type double, want float"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::batch_bucketize_test
