// Operators that write into their input leave it as it was when they reject an index, a shape or a type, also if the
// indices before it are good.
#include <gtest/gtest.h>

#include "tests/operators/common/failed_runs.h"

namespace caffe2rt::test::failed_scatters_test {
namespace {

TEST(FailedScattersTest, OfSlicesLeaveTheData) {
  ExpectLeftAsTheyWere(
      {"ScatterAssign X I S -> X",
       "X f 4,2; I i 3 = 0,1,3; S f 3,2",
       {{"I i 3 = 0,1,4", "index 4 in input 1 (INDICES) is out of range"},
        {"I l 3 = 0,3,-1", "index -1 in input 1 (INDICES) is out of range"},
        {"S f 2,2", "elements of input 2 (SLICES) of shape [2, 2], want 3 slices of 2"},
        {"S i 3,2", "input 2 (SLICES) has elements of type int32, want float as input 0 (DATA)"},
        {"I f 3", "input 1 (INDICES) has elements of type float"},
        {"X b 4,2; S b 3,2", "input 0 (DATA) has elements of type bool"},
        {"X f -; S f 3", "rank of input 0 (DATA)"}}});
  ExpectLeftAsTheyWere({"ScatterWeightedSum X W I S V T U -> X",
                        "X f 4,2; W f 1 = 2; I i 3 = 0,1,3; S f 3,2; V f 1 = 3; T f 3,2; U f 1 = 4",
                        {{"I i 3 = 0,1,4", "is out of range, want at least 0 and below 4"},
                         {"I l 3 = 0,3,-1", "is out of range, want at least 0 and below 4"},
                         {"T f 2,2", "elements of input 5 of shape [2, 2], want 3 slices of 2"},
                         {"U f 2", "elements of input 6 (a weight) of shape [2]"},
                         {"W f 0", "elements of input 1 (a weight) of shape [0]"},
                         {"T i 3,2", "elements of type int32"},
                         {"U d 1", "elements of type double"}}});
}

TEST(FailedScattersTest, OfRowsOfIndicesLeaveTheData) {
  for (const char* const op : {"ScatterND X I U -> X", "ScatterND X I U -> X reduction=add"}) {
    ExpectLeftAsTheyWere(
        {op,
         "X f 3,2; I l 2,1 = 0,2; U f 2,2",
         {{"I l 2,1 = 0,3", "row 1 of input 1 (indices) has index 3 for a dimension of size 3"},
          {"I i 2,1 = 0,-4", "row 1 of input 1 (indices) has index -4 for a dimension of size 3"},
          {"I l 2,3 = 0", "last dim of input 1 (indices) of shape [2, 3]"},
          {"U f 2,3", "input 2 (updates) has shape [2, 3], want [2, 2]"},
          {"U i 2,2", "input 2 (updates) has elements of type int32, want float"},
          {"I f 2,1", "input 1 (indices) has elements of type float"}}});
  }
}

TEST(FailedScattersTest, OfElementsLeaveTheData) {
  ExpectLeftAsTheyWere(
      {"ScatterElements X I U -> X axis=1",
       "X f 2,3; I l 2,2 = 0,2,-1,0; U f 2,2",
       {{"I l 2,2 = 0,2,1,3", "input 1 (indices)"},
        {"I i 2,2 = 0,2,1,-4", "input 1 (indices)"},
        {"I l 3,2 = 0; U f 3,2", "input 1 (indices) has shape [3, 2]"},
        {"U f 2,1", "input 2 has shape [2, 1], want that of input 1 (indices) [2, 2]"},
        {"U d 2,2", "input 2 (updates) has elements of type double, want float"},
        {"U i 2,2", "input 2 (updates) has elements of type int32, want float"}}});
  ExpectLeftAsTheyWere(
      {"TensorScatter X U s -> X",
       "X f 2,3,2; U f 2,2,2; s l 2 = 0,1",
       {{"s l 2 = 0,2", "element of input 2 (start) is 2, want at least 0 and at most 1"},
        {"s i 2 = 1,-1", "element of input 2 (start) is -1"},
        {"s l 1 = 0", "elements of input 2 (start), want one for each sequence"},
        {"U f 2,4,2", "input 1 (update) has shape [2, 4, 2]"},
        {"U f 1,2,2", "input 1 (update) has shape [1, 2, 2]"},
        {"U d 2,2,2", "input 1 (update) has elements of type double, want float"},
        {"U i 2,2,2", "input 1 (update) has elements of type int32, want float"}}});
}

}  // namespace
}  // namespace caffe2rt::test::failed_scatters_test
