// Segments of rows without elements, single numbers, and inputs that are checked even if nothing is computed. Expected
// values are by hand.
#include <gtest/gtest.h>

#include "caffe2_core/runtime/net.h"
#include "tests/operators/common/call_tables.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::segment_calls_test {
namespace {

TEST(SegmentCallsTest, FindsTheNumbersOfAnyVector) {
  ExpectResults({
      // What the output held before is overwritten.
      {"Unique X -> U R", "X l 1 = 5; R i 1 = 7", "U l 1 = 5; R i 1 = 0"},
      {"Unique X -> U R", "X i 2 = 5,5; R i 2 = 7", "U i 1 = 5; R i 2 = 0"},
      {"Unique X -> U R", "X i 2 = 6,5; R i 2 = 7", "U i 2 = 5,6; R i 2 = 1,0"},
      {"Unique X -> U R", "X l 0; R i 2 = 7", "U l 0; R i 0"},
  });
  ExpectInferred({{"Unique X -> U R", "X i 1", "int32 [1]; int32 [1]"},
                  {"Unique X -> U R", "X i 0", "int32 [0]; int32 [0]"},
                  {"Unique X -> U R", "X l 2", "? ?; int32 [2]"},
                  {"Unique X -> U", "X l 1", "int64 [1]"}});
}

TEST(SegmentCallsTest, ChecksIndicesOfRowsWithoutElements) {
  const std::string index =
      "element 1 of input INDICES is 2, want at least 0 and below 2, the rows of DATA";
  const std::string id =
      "element 1 of input SEGMENT_IDS is 2, want at least 0 and below the number of segments, 2";
  ExpectRejected({
      {"SparseLengthsSum D I L -> Y", "D f 2,0; I i 2 = 0,2; L i 1 = 2", index},
      {"SparseLengthsMean D I L -> Y", "D f 2,0; I l 2 = 0,2; L i 2 = 1", index},
      {"SparseLengthsWeightedSum D W I L -> Y", "D f 2,0; W f 2; I l 2 = 0,2; L i 2 = 1", index},
      {"SparseSortedSegmentSum D I S -> Y", "D f 2,0; I i 2 = 0,2; S i 2 = 0,1", index},
      {"SparseUnsortedSegmentSum D I S -> Y", "D f 2,0; I i 2 = 0,2; S i 2 = 1,0", index},
      {"UnsortedSegmentSum D S -> Y num_segments=2", "D f 2,0; S i 2 = 0,2", id},
      {"UnsortedSegmentMean D S -> Y num_segments=2", "D f 2,3; S i 2 = 0,2", id},
  });
  ExpectResults({
      {"SparseLengthsSum D I L -> Y", "D f 2,0; I i 2 = 0,1; L i 1 = 2", "Y f 1,0"},
      {"SparseLengthsSum D I L -> Y", "D f 2,3; I i 0; L i 2 = 0", "Y f 2,3 = 0"},
      {"UnsortedSegmentSum D S -> Y num_segments=3", "D f 2,1 = 4,5; S i 2 = 2,2",
       "Y f 3,1 = 0,0,9"},
      {"UnsortedSegmentSum D S -> Y", "D f 2,0; S i 2 = 0,2", "Y f 3,0"},
      {"SparseLengthsPositionalWeightedSum D W I L -> Y",
       "D f 2,1 = 3,5; W f 2 = 10,100; I i 3 = 1,0,1; L i 2 = 2,1", "Y f 2,1 = 350,50"},
  });
  ExpectRejected({
      {"SparseLengthsPositionalWeightedSum D W I L -> Y",
       "D f 2,1; W f 1; I i 3 = 1,0,1; L i 2 = 2,1",
       "elements of input 1 (WEIGHT), want those of the longest segment (got 1, want at least 2)"},
  });
}

TEST(SegmentCallsTest, SpreadsTheGradientOfOneRow) {
  const char* const op = "LengthsWeightedSumWithMainInputGradient W G L D -> A B";
  ExpectResults({
      {op, "W f 1 = 3; G f 1,2 = 10,100; L i 1 = 1; D f 1,2 = 4,5",
       "A f 1,2 = 30,300; B f 1 = 540"},
      {op, "W f 2 = 3,2; G f 2,1 = 10,100; L i 2 = 0,2; D f 2,1 = 4,5",
       "A f 2,1 = 300,200; B f 2 = 400,500"},
      {op, "W f 0; G f 1,2; L i 1 = 0; D f 0,2", "A f 0,2; B f 0"},
  });
  ExpectRejected({
      {op, "W f 1; G f 1,2; L i 1 = 1; D f 1,3",
       "input 3 (DATA) has shape [1, 3], want rows of 2 elements, as in SEGMENT_GRADS"},
      {op, "W f 2; G f 1,2; L i 1 = 1; D f 2,2",
       "input 3 (DATA) has 2 rows, want 1, those of all segments"},
  });
}

// The segments have 1 and 3 rows, then 2 and 0.
TEST(SegmentCallsTest, CountsTheRowsOfEachRun) {
  Workspace ws;
  Feed<float>(&ws, "G", {2, 1}, {6, 12});
  Feed<int32_t>(&ws, "S", {4}, {1, 0, 1, 1});
  NetBase* const net = ws.CreateNet(
      ParseNet("name: 'n' op { type: 'UnsortedSegmentMeanGradient' input: 'G' input: 'S' output: "
               "'D' device_option {} }"));
  ASSERT_TRUE(net->Run());
  ExpectTensor<float>(ws, "D", {4, 1}, {4, 6, 4, 4});
  Feed<int32_t>(&ws, "S", {2}, {0, 0});
  ASSERT_TRUE(net->Run());
  ExpectTensor<float>(ws, "D", {2, 1}, {3, 3});
}

}  // namespace
}  // namespace caffe2rt::test::segment_calls_test
