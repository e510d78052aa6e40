// Operators on lists and lengths: several lists, bounds of each limit, and whole messages. Expected values are by hand.
#include <gtest/gtest.h>

#include "tests/operators/common/call_tables.h"
#include "tests/operators/common/failed_runs.h"

namespace caffe2rt::test::list_calls_test {
namespace {

TEST(ListCallsTest, GathersAndPadsListsOfRows) {
  ExpectResults({
      {"LengthsGather X L I -> Y", "X d 4,2 = 1,2,3,4,5,6,7,8; L i 3 = 1,0,3; I i 3 = 2,0,2",
       "Y d 7,2 = 3,4,5,6,7,8,1,2,3,4,5,6,7,8"},
      {"LengthsGather X L I -> Y", "X i 4 = 1,2,3,4; L i 3 = 1,0,3; I l 2 = 1,1", "Y i 0"},
      {"LengthsGather X L I -> Y", "X f 0,2; L i 2 = 0; I l 2 = 1,0", "Y f 0,2"},
      {"LengthsGather X L I -> Y", "X u 3,0; L i 2 = 1,2; I l 2 = 1,1", "Y u 4,0"},
      // A list may be as long as the others become.
      {"LengthsPad X L -> Y target_length=4 padding_value=-2.5", "X d 5 = 1,2,3,4,5; L i 2 = 4,1",
       "Y d 8 = 1,2,3,4,5,-2.5,-2.5,-2.5"},
      {"LengthsPad X L -> Y target_length=2 padding_value=-2.5", "X i 2 = 1,2; L i 2 = 1,1",
       "Y i 4 = 1,-2,2,-2"},
      {"LengthsPad X L -> Y target_length=2", "X l 1,3 = 7,8,9; L i 1 = 1",
       "Y l 2,3 = 7,8,9,-1,-1,-1"},
      {"LengthsPad X L -> Y target_length=2", "X d 0; L i 2 = 0", "Y d 4 = -1"},
      {"LengthsPad X L -> Y target_length=3", "X l 0,2; L i 0", "Y l 0,2"},
      {"LengthsPad X L -> Y target_length=1", "X f 2,0; L i 2 = 1", "Y f 2,0"},
  });
  for (const char* const target : {"2", "3", "4", "7"}) {
    const std::string n = target, more = std::to_string(std::stoi(n) + 1);
    ExpectRejected({{"LengthsPad X L -> Y target_length=" + n, "X f " + more + "; L i 1 = " + more,
                     "longest of input 1 (LENGTHS), want at most target_length (got " + more +
                         ", want at most " + n + ")"}});
  }
  ExpectRejected({{"LengthsGather X L I -> Y", "X f 3; L i 3 = 1; I l 2 = 0,3",
                   "element 1 of input 2 (INDICES) is 3, want at least 0 and less than 3, the "
                   "elements of LENGTHS"},
                  {"LengthsGather X L I -> Y", "X f 3; L i 3 = 1; I i 1 = -1",
                   "element 0 of input 2 (INDICES) is -1, want at least 0 and less than 3, the "
                   "elements of LENGTHS"},
                  {"LengthsGather X L I -> Y", "X f 0; L i 0; I i 1 = 0",
                   "element 0 of input 2 (INDICES) is 0, want at least 0 and less than 0, the "
                   "elements of LENGTHS"}});
}

TEST(ListCallsTest, MergesAnyNumberOfLists) {
  ExpectResults({
      {"MergeIdLists L X K Z M W -> N Y",
       "L i 3 = 1,0,2; X l 3 = 5,9,7; K i 3 = 0,1,1; Z l 2 = 4,7; M i 3 = 2,1,0; W l 3 = 5,1,4",
       "N i 3 = 2,1,2; Y l 5 = 1,5,4,7,9"},
      // The third list alone has numbers in the first and the last place.
      {"MergeIdLists L X K Z M W -> N Y",
       "L i 2 = 0; X i 0; K i 2 = 0,1; Z i 1 = 3; M i 2 = 1,2; W i 3 = 8,-9,3",
       "N i 2 = 1,2; Y i 3 = 8,-9,3"},
      {"MergeIdLists L X -> N Y", "L i 3 = 3,0,1; X i 4 = 2,-1,2,2",
       "N i 3 = 2,0,1; Y i 3 = -1,2,2"},
      {"MergeIdLists L X K Z -> N Y", "L i 0; X l 0; K i 0; Z l 0", "N i 0; Y l 0"},
      {"MergeIdLists L X K Z M W K Z -> N Y",
       "L i 1 = 1; X l 1 = 5; K i 1 = 1; Z l 1 = 3; M i 1 = 1; W l 1 = 4",
       "N i 1 = 3; Y l 3 = 3,4,5"},
  });
  const char* const inputs =
      "L i 2 = 1,1; X l 2 = 5,6; K i 2 = 0,1; Z l 1 = 4; M i 2 = 1,1; W l 2 = 1,2";
  ExpectLeftAsTheyWere(
      {"MergeIdLists L X K Z M W -> N Y",
       inputs,
       {{"M i 3 = 1,1,0", "elements of input 4 (lengths), want those of input 0"},
        {"M i 2 = 1,2", "sum of the lengths of input 4, want the elements of input 5"},
        {"M i 2,1 = 1", "rank of input 4 (lengths) of shape [2, 1]"},
        {"W l 2,1", "rank of input 5 (values) of shape [2, 1]"},
        {"W i 2", "int32"}}});
}

TEST(ListCallsTest, ConvertsLengthsAndIds) {
  ExpectResults({
      {"LengthsToShape L -> Y", "L i 3 = 4", "Y i 2 = 3,4"},
      {"LengthsToWeights L -> Y power=0.0", "L i 3 = 2,0,1", "Y f 3 = 1"},
      {"LengthsToWeights L -> Y power=2.0", "L l 3 = 2,0,1", "Y f 3 = 0.25,0.25,1"},
      {"LengthsToWeights L -> Y", "L l 0", "Y f 0"},
      {"LengthsToRanges L -> Y", "L i 3 = 0,0,2", "Y i 3,2 = 0,0,0,0,0,2"},
      {"LengthsToOffsets L -> Y include_last_offset=1", "L i 2 = 3,0", "Y i 3 = 0,3,3"},
      {"LengthsToSegmentIds L -> Y", "L i 4 = 0,2,0,1", "Y i 3 = 1,1,3"},
      // As many segments as rows of the second input, whatever else its shape is.
      {"SegmentIdsToLengths A D -> Y", "A l 3,1 = 0,0,2; D f 4,3", "Y i 4 = 2,0,1,0"},
      {"SegmentIdsToRanges A D -> Y", "A i 1,3 = 0,0,2; D f 4,3", "Y i 4,2 = 0,2,2,0,2,1,0,0"},
      {"SegmentIdsToLengths A D -> Y", "A i 2 = 0,1; D f 2,0", "Y i 2 = 1"},
      {"SegmentIdsToLengths A -> Y", "A i 1,1 = 1", "Y i 2 = 0,1"},
      {"SegmentIdsToRanges A -> Y", "A l 3 = 0,3,3", "Y i 4,2 = 0,1,1,0,1,0,1,2"},
      {"SegmentIdsToLengths A -> Y", "A i 0,1", "Y i 0"},
  });
  ExpectRejected({
      {"LengthsToShape L -> Y", "L i 3 = 7,7,6",
       "element 2 of input 0 (lengths), want all to be equal (got 6, want 7)"},
      {"LengthsToShape L -> Y", "L i 4 = 7,6,7,7",
       "element 1 of input 0 (lengths), want all to be equal (got 6, want 7)"},
      {"LengthsToWeights L -> Y", "L l 2 = 1,2147483648",
       "rows of all segments: got 2147483648, want at most 2147483647"},
      {"LengthsToWeights L -> Y", "L l 2 = 1,4294967297",
       "rows of all segments: got 4294967297, want at most 2147483647"},
      {"LengthsToWeights L -> Y", "L l 2 = 1,2147483647",
       "rows of all segments: got 2147483648, want at most 2147483647"},
      {"LengthsToWeights L -> Y", "L l 2 = 1,-1",
       "element 1 of input 0 (lengths), want at least 0 (got -1, want at least 0)"},
      {"LengthsToOffsets L -> Y", "L i 1,2 = 1",
       "rank of input 0 (lengths) of shape [1, 2]: got 2, want 1"},
      {"SegmentIdsToLengths A -> Y", "A i 2,2 = 0",
       "input 0 (segment_ids) has shape [2, 2], want a vector"},
      {"SegmentIdsToRanges A -> Y", "A i - = 0",
       "input 0 (segment_ids) has shape [], want a vector"},
      {"SegmentIdsToRanges A -> Y", "A l 1,1,1 = 0",
       "input 0 (segment_ids) has shape [1, 1, 1], want a vector"},
      {"SegmentIdsToLengths A D -> Y", "A i 2 = 0,2; D f 2,3",
       "segments of input 0 (segment_ids), want at most the rows of input 1 (data) (got 3, want at "
       "most 2)"},
      {"SegmentIdsToLengths A D -> Y", "A i 1 = 0; D f -",
       "rank of input 1 (data): got 0, want at least 1"},
      {"SegmentIdsToLengths A -> Y", "A l 3 = 0,2,1",
       "element 2 of input 0 (segment_ids) is 1, want sorted numbers that are at least 0"},
      {"SegmentIdsToLengths A -> Y", "A l 1 = -1",
       "element 0 of input 0 (segment_ids) is -1, want sorted numbers that are at least 0"},
  });
}

TEST(ListCallsTest, PacksAndEndsSequences) {
  ExpectResults({
      {"VariableLengthSequencePadding X L -> Y", "X f 1,3,2 = 1,2,3,4,5,6; L i 3 = 1,0,2",
       "Y f 1,3,2 = 1,2,0,0,5,6"},
      {"VariableLengthSequencePadding X L -> X", "X f 3,1,1 = 1,2,3; L i 1 = 2",
       "X f 3,1,1 = 1,2,0"},
      {"VariableLengthSequencePadding X L -> Y", "X f 2,0,3; L i 0", "Y f 2,0,3"},
      {"PackSegments L X -> Y M max_length=1 return_presence_mask=1",
       "L l 3 = 2,0,1; X i 3,2 = 1,2,3,4,5,6", "Y i 3,1,2 = 1,2,0,0,5,6; M b 3,1 = 1,0,1"},
      {"PackSegments L X -> Y M max_length=2 return_presence_mask=1 pad_minf=1",
       "L i 2 = 1,0; X i 1 = 7", "Y i 2,2 = 7,0,0,0; M b 2,2 = 1,0,0,0"},
      {"PackSegments L X -> Y max_length=2 pad_minf=1", "L i 2 = 1,0; X f 1 = 7",
       "Y f 2,2 = 7,-inf,-inf,-inf"},
      {"UnpackSegments L X -> Y max_length=2", "L i 2 = 2,1; X l 2,2,1 = 1,2,3,4",
       "Y l 3,1 = 1,2,3"},
      {"UnpackSegments L X -> Y", "L l 2 = 0,2; X i 2,2 = 1,2,3,4", "Y i 2 = 3,4"},
  });
  ExpectRejected({
      {"UnpackSegments L X -> Y max_length=3", "L i 2 = 1; X f 2,2",
       "argument max_length is 3, want 2, dim 1 of input 1 (packed_tensor) of shape [2, 2]"},
      {"UnpackSegments L X -> Y max_length=1", "L i 2 = 1; X f 2,2",
       "argument max_length is 1, want 2, dim 1 of input 1 (packed_tensor) of shape [2, 2]"},
      {"UnpackSegments L X -> Y", "L i 2 = 3,1; X f 2,2",
       "an element of input 0 (lengths) is 3, want at most 2, dim 1 of input 1 (packed_tensor)"},
      {"VariableLengthSequencePadding X L -> Y", "X f 2,3; L i 3 = 1",
       "rank of input 0 (X) of shape [2, 3], want [steps, batch, inner] (got 2, want at least 3)"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::list_calls_test
