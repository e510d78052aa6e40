#include <string>

#include "tests/operators/common/call_tables.h"

namespace caffe2rt::test::sparse_lengths_sum_sparse_lookup_test {
namespace {

const std::string kLookup = "SparseLengthsSumSparseLookup I L M -> i l",
                  kWeighted = "SparseLengthsSumSparseLookup I L M W -> i l w";

TEST(SparseLengthsSumSparseLookupTest, LeavesRemovedRowsOut) {
  ExpectResults({
      // Indices 0 and 3 were removed.
      {kLookup, "I l 5 = 1,0,2,3,1; L i 4 = 2,0,1,2; M i 4 = -1,1,0,-1",
       "i l 3 = 1,0,1; l i 4 = 1,0,1,1"},
      {kWeighted, "I i 5 = 1,0,2,3,1; L i 4 = 2,0,1,2; M i 4 = -1,1,0,-1; W f 5 = 1,2,0.5,3,4",
       "i i 3 = 1,0,1; l i 4 = 1,0,1,1; w f 3 = 1,0.5,4"},
      // The mapping [0] maps here.
      {kLookup, "I l 2 = 0; L i 1 = 2; M i 1 = 0", "i l 2 = 0; l i 1 = 2"},
      // Only -1 is removed. Indices beyond the lengths are not used.
      {kLookup, "I l 3 = 0,1,9; L i 1 = 2; M i 2 = -5,100", "i l 2 = -5,100; l i 1 = 2"},
      {kLookup, "I l 0; L i 2 = 0; M i 2 = 0", "i l 0; l i 2 = 0"},
      {kWeighted, "I i 0; L i 0; M i 0; W f 0", "i i 0; l i 0; w f 0"},
  });
}

TEST(SparseLengthsSumSparseLookupTest, InfersShapes) {
  ExpectInferred({
      {kLookup, "I l 5; L i 4; M i 3", "int64 ?; int32 [4]"},
      {kWeighted, "I i 5; L i 4; M i 3; W f 5", "int32 ?; int32 [4]; float ?"},
  });
}

TEST(SparseLengthsSumSparseLookupTest, RejectsInvalidCalls) {
  const std::string range =
      ", want at least 0 and less than 2, the elements of COMPRESSED_INDICES_MAPPING";
  ExpectRejected({
      {kLookup, "I l 1 = 2; L i 1 = 1; M i 2", "element 0 of input 0 (INDICES) is 2" + range},
      {kLookup, "I l 2 = 0,-1; L i 1 = 2; M i 2", "element 1 of input 0 (INDICES) is -1" + range},
      {kLookup, "I l 1,1; L i 1 = 1; M i 2",
       "rank of input 0 (INDICES) of shape [1, 1]: got 2, want 1"},
      {kLookup, "I l 1; L i 1,1 = 1; M i 2",
       "rank of input 1 (LENGTHS) of shape [1, 1]: got 2, want 1"},
      {kLookup, "I l 1; L i 1 = 1; M i 2,1",
       "rank of input 2 (COMPRESSED_INDICES_MAPPING) of shape [2, 1]: got 2, want 1"},
      {kLookup, "I l 1; L i 1 = 2; M i 2",
       "sum of the lengths, want at most the elements of INDICES (got 2, want at most 1)"},
      {kLookup, "I l 2; L i 2 = 3,-1; M i 2",
       "element 1 of input 1 (LENGTHS), want at least 0 (got -1, want at least 0)"},
      {kLookup, "I f 1; L i 1 = 1; M i 2",
       "Unsupported type of tensor: input 0 (INDICES) has elements of type float, want int32, "
       "int64"},
      {kLookup, "I l 1; L i 1 = 1; M l 2", "the tensor holds elements of type int64, want int32"},
      {kWeighted, "I l 1; L i 1 = 1; M i 2; W f 2",
       "input 3 (WEIGHTS) has shape [2], want one for each of the 1 elements of INDICES"},
      {"SparseLengthsSumSparseLookup I L M W -> i l", "I l 1; L i 1 = 1; M i 2; W f 1",
       "outputs: got 2, want 3 as there are weights"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::sparse_lengths_sum_sparse_lookup_test
