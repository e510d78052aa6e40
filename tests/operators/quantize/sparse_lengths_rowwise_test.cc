#include <string>

#include "tests/operators/common/call_tables.h"

namespace caffe2rt::test::sparse_lengths_rowwise_test {
namespace {

// Rows 3 4 5 6 and 1.5 6.5 -1 -1 in codes of 4 bits.
const std::string kRows4 = "X u 2,6 = 33,67,0,60,0,64,245,0,0,56,0,188; ";
// Rows 2 3 4 5 and -0.5 0.5 -1 0.5 in codes of 2 bits.
const std::string kRows2 = "X u 2,5 = 228,0,60,0,64,205,0,56,0,188; ";
// Rows 3 5 and 7 11 in bytes.
const std::string kRows8 = "X u 2,10 = 3,5,0,0,128,63,0,0,0,0,4,6,0,0,0,64,0,0,128,191; ";

TEST(SparseLengthsRowwiseTest, AddsRowsOfPackedCodes) {
  const std::string segments = "I l 3 = 1,0,1; L i 3 = 2,0,1";
  ExpectResults({
      {"SparseLengthsSumFused4BitRowwise X I L -> Y", kRows4 + segments,
       "Y f 3,4 = 4.5,10.5,4,5,0,0,0,0,1.5,6.5,-1,-1"},
      {"SparseLengthsMeanFused4BitRowwise X I L -> Y", kRows4 + segments,
       "Y f 3,4 = 2.25,5.25,2,2.5,0,0,0,0,1.5,6.5,-1,-1"},
      {"SparseLengthsWeightedSumFused4BitRowwise X w I L -> Y",
       kRows4 + "w f 3 = 1,2,-2; " + segments, "Y f 3,4 = 7.5,14.5,9,11,0,0,0,0,-3,-13,2,2"},
      {"SparseLengthsSumFused2BitRowwise X I L -> Y", kRows2 + "I i 2 = 1,0; L i 1 = 2",
       "Y f 1,4 = 1.5,3.5,3,5.5"},
      {"SparseLengthsMeanFused2BitRowwise X I L -> Y", kRows2 + "I i 2 = 1,0; L i 1 = 2",
       "Y f 1,4 = 0.75,1.75,1.5,2.75"},
      {"SparseLengthsWeightedSumFused2BitRowwise X w I L -> Y",
       kRows2 + "w f 2 = 2,1; I i 2 = 1,0; L i 1 = 2", "Y f 1,4 = 1,4,2,6"},
      {"SparseLengthsSumFused4BitRowwise X I L -> Y", "X u 0,6; I l 0; L i 1 = 0", "Y f 1,4 = 0"},
  });
}

TEST(SparseLengthsRowwiseTest, RemovedRowsCountAsZeros) {
  // Indices 0 and 3 were removed, 1 and 2 are the rows 1 and 0.
  const std::string segments = "I l 5 = 1,0,2,3,1; L i 4 = 2,0,1,2; M i 4 = -1,1,0,-1";
  ExpectResults({
      {"SparseLengthsSum8BitRowwiseSparse X I L M -> Y", kRows8 + segments,
       "Y f 4,2 = 7,11,0,0,3,5,7,11"},
      {"SparseLengthsMean8BitRowwiseSparse X I L M -> Y", kRows8 + segments,
       "Y f 4,2 = 3.5,5.5,0,0,3,5,3.5,5.5"},
      {"SparseLengthsWeightedSum8BitRowwiseSparse X w I L M -> Y",
       kRows8 + "w f 5 = 1,2,0.5,3,4; " + segments, "Y f 4,2 = 7,11,0,0,1.5,2.5,28,44"},
      {"SparseLengthsSum4BitRowwiseSparse X I L M -> Y", kRows4 + segments,
       "Y f 4,4 = 1.5,6.5,-1,-1,0,0,0,0,3,4,5,6,1.5,6.5,-1,-1"},
      {"SparseLengthsMean4BitRowwiseSparse X I L M -> Y",
       kRows4 + "I i 2 = 1,0; L i 1 = 2; M i 4 = -1,1,0,-1", "Y f 1,4 = 0.75,3.25,-0.5,-0.5"},
      {"SparseLengthsWeightedSum4BitRowwiseSparse X w I L M -> Y",
       kRows4 + "w f 2 = 2,9; I i 2 = 1,0; L i 1 = 2; M i 4 = -1,1,0,-1", "Y f 1,4 = 3,13,-2,-2"},
      {"SparseLengthsSum2BitRowwiseSparse X I L M -> Y",
       kRows2 + "I i 2 = 2,0; L i 1 = 2; M i 4 = -1,1,0,-1", "Y f 1,4 = 2,3,4,5"},
      {"SparseLengthsMean2BitRowwiseSparse X I L M -> Y",
       kRows2 + "I i 2 = 2,0; L i 1 = 2; M i 4 = -1,1,0,-1", "Y f 1,4 = 1,1.5,2,2.5"},
      {"SparseLengthsWeightedSum2BitRowwiseSparse X w I L M -> Y",
       kRows2 + "w f 2 = 3,9; I i 2 = 2,0; L i 1 = 2; M i 4 = -1,1,0,-1", "Y f 1,4 = 6,9,12,15"},
  });
}

TEST(SparseLengthsRowwiseTest, AMappingOfOneZeroIsNone) {
  ExpectResults({
      {"SparseLengthsSum8BitRowwiseSparse X I L M -> Y",
       kRows8 + "I l 2 = 0,1; L i 1 = 2; M i 1 = 0", "Y f 1,2 = 10,16"},
      // A mapping of one other number maps.
      {"SparseLengthsSum8BitRowwiseSparse X I L M -> Y", kRows8 + "I l 2 = 0; L i 1 = 2; M i 1 = 1",
       "Y f 1,2 = 14,22"},
      {"SparseLengthsSum4BitRowwiseSparse X I L M -> Y",
       kRows4 + "I l 2 = 0; L i 1 = 2; M i 1 = -1", "Y f 1,4 = 0"},
  });
}

TEST(SparseLengthsRowwiseTest, InfersShapes) {
  ExpectInferred({
      {"SparseLengthsSumFused4BitRowwise X I L -> Y", "X u 2,6; I i 3; L i 4", "float [4, 4]"},
      {"SparseLengthsSumFused2BitRowwise X I L -> Y", "X u 2,6; I i 3; L i 4", "float [4, 8]"},
      {"SparseLengthsSumFused4BitRowwise X I L -> Y", "X u 2,3; I i 3; L i 4", "? ?"},
      {"SparseLengthsMeanFused2BitRowwise X I L -> Y", "X u 2,6,1; I i 3; L i 4", "? ?"},
      {"SparseLengthsWeightedSumFused4BitRowwise X w I L -> Y", "X u 2,6; w f 3; I i 3; L i 4",
       "float [4, 4]"},
      {"SparseLengthsWeightedSum8BitRowwiseSparse X w I L M -> Y",
       "X u 2,9; w f 3; I i 3; L i 4; M i 5", "float [4, 1]"},
      {"SparseLengthsMean2BitRowwiseSparse X I L M -> Y", "X u 2,9; I i 3; L i 4; M i 5",
       "float [4, 20]"},
  });
}

TEST(SparseLengthsRowwiseTest, RejectsInvalidCalls) {
  const std::string sparse = "SparseLengthsSum4BitRowwiseSparse X I L M -> Y";
  ExpectRejected({
      {"SparseLengthsSumFused4BitRowwise X I L -> Y", kRows4 + "I l 1 = 2; L i 1 = 1",
       "element 0 of INDICES is 2, want at least 0 and less than 2, the rows of input 0 (DATA)"},
      {"SparseLengthsSumFused2BitRowwise X I L -> Y", "X u 2,3; I l 1 = 0; L i 1 = 1",
       "bytes of a row of input 0, want at least those of scale and bias (got 3, want at least 4)"},
      {"SparseLengthsSum8BitRowwiseSparse X I L M -> Y",
       "X u 2,6; I l 1 = 0; L i 1 = 1; M i 2 = 0,1",
       "bytes of a row of input 0, want at least those of scale and bias (got 6, want at least 8)"},
      {"SparseLengthsMeanFused4BitRowwise X I L -> Y", "X u 2,6,1; I l 1 = 0; L i 1 = 1",
       "input 0 (DATA) has shape [2, 6, 1], want a matrix"},
      {"SparseLengthsWeightedSumFused4BitRowwise X w I L -> Y",
       kRows4 + "w f 2; I l 1 = 0; L i 1 = 1",
       "input 1 (weights) has shape [2], want one for each of the 1 elements of INDICES"},
      {"SparseLengthsMean2BitRowwiseSparse X I L M -> Y",
       kRows2 + "I l 1,1 = 0; L i 1 = 1; M i 1 = 0",
       "rank of input 1 (INDICES) of shape [1, 1]: got 2, want 1"},
      {sparse, kRows4 + "I l 1 = 4; L i 1 = 1; M i 4 = 0",
       "element 0 of INDICES is 4, want at least 0 and less than 4, the elements of "
       "COMPRESSED_INDICES_MAPPING"},
      {sparse, kRows4 + "I l 1 = -1; L i 1 = 1; M i 4 = 0",
       "element 0 of INDICES is -1, want at least 0 and less than 4, the elements of "
       "COMPRESSED_INDICES_MAPPING"},
      {sparse, kRows4 + "I l 2 = 1; L i 1 = 2; M i 2 = 0,2",
       "the row of element 0 of INDICES is 2, want at least 0 and less than 2, the rows of input 0 "
       "(DATA)"},
      {sparse, kRows4 + "I l 1 = 0; L i 1 = 1; M i 1 = -2",
       "the row of element 0 of INDICES is -2, want at least 0 and less than 2, the rows of input "
       "0 (DATA)"},
      {sparse, kRows4 + "I l 1 = 2; L i 1 = 1; M i 1 = 0",
       "element 0 of INDICES is 2, want at least 0 and less than 2, the rows of input 0 (DATA)"},
      {sparse, kRows4 + "I l 1 = 0; L i 1 = 1; M i 1,1 = 1",
       "rank of input 3 (COMPRESSED_INDICES_MAPPING) of shape [1, 1]: got 2, want 1"},
      {sparse, kRows4 + "I l 1 = 0; L i 1 = 1; M l 1 = 1",
       "the tensor holds elements of type int64, want int32"},
      {sparse, kRows4 + "I l 1 = 0; L i 1 = 2; M i 1 = 0",
       "sum of the lengths, want the elements of INDICES (got 2, want 1)"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::sparse_lengths_rowwise_test
