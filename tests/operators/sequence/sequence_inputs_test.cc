// Operators on sequences, with inputs and arguments that differ from good ones in one thing: each is rejected, names
// it, and leaves nothing that a later run on the good inputs would see.
#include <gtest/gtest.h>

#include "tests/operators/common/failed_runs.h"

namespace caffe2rt::test::sequence_inputs_test {
namespace {

TEST(SequenceInputsTest, OfMasks) {
  for (const char* const op :
       {"SequenceMask X L -> Y mode=sequence", "SequenceMask X L -> Y mode=window radius=1"}) {
    ExpectLeftAsTheyWere({op,
                          "X f 2,3; L i 2 = 1,2",
                          {{"L i 1", "input 1 (sequence_lengths) has 1 elements, want 2"},
                           {"L i 0", "input 1 (sequence_lengths) has 0 elements, want 2"},
                           {"X f 3,3", "input 1 (sequence_lengths) has 2 elements, want 3"},
                           {"L l 2 = 1,2", "int64"},
                           {"X d 2,3", "input 0 (input) has elements of type double"}}});
  }
  const char* const x = "X f 2,3";
  const char* const both = "X f 2,3; L i 2 = 1,2";
  ExpectRejectedWith({
      {"SequenceMask X -> Y mode=sequence", x, "want input 1 (sequence_lengths) in the modes"},
      {"SequenceMask X -> Y mode=window", x, "want input 1 (sequence_lengths) in the modes"},
      {"SequenceMask X -> Y mode=upper batch=1", x, "argument batch, want a dimension before axis"},
      {"SequenceMask X -> Y mode=upper batch=-1", x,
       "argument batch, want a dimension before axis"},
      {"SequenceMask X -> Y mode=lower axis=0 batch=0", x,
       "argument batch, want a dimension before axis"},
      {"SequenceMask X L -> Y mode=sequence repeat_from_axis=0", both,
       "argument repeat_from_axis, want axis or a later dimension"},
      {"SequenceMask X L -> Y mode=sequence repeat_from_axis=-2", both,
       "argument repeat_from_axis, want axis or a later dimension"},
      {"SequenceMask X L -> Y mode=window repeat_from_axis=1", both,
       "argument repeat_from_axis is given, want mode sequence"},
      {"SequenceMask X -> Y mode=upper repeat_from_axis=1", x,
       "argument repeat_from_axis is given, want mode sequence"},
      {"SequenceMask X L -> Y mode=sequence batch=0 repeat_from_axis=1", both,
       "arguments batch and repeat_from_axis are both given: remove one"},
      {"SequenceMask X -> Y mode=diagonal", x, "diagonal"},
      {"SequenceMask X -> Y mode=upper axis=2", x, "2"},
  });
}

TEST(SequenceInputsTest, OfPaddings) {
  ExpectLeftAsTheyWere(
      {"AddPadding X L s e -> Y M padding_width=1 end_padding_width=2",
       "X f 3,2; L i 2 = 1,2; s f 2; e f 2,1",
       {{"s f 3", "elements of input 2 (start_padding) of shape [3]"},
        {"s f 1", "elements of input 2 (start_padding) of shape [1]"},
        {"e f 3", "elements of input 3 (end_padding) of shape [3]"},
        {"e f -", "elements of input 3 (end_padding) of shape []"},
        {"s d 2", "input 2 (start_padding) has elements of type double, want float"},
        {"e i 2", "input 3 (end_padding) has elements of type int32, want float"},
        {"X u 3,2; s u 2; e u 2", "input 0 (data_in) has elements of type uint8"},
        {"L i 2 = 1,3", "sum of input 1 (lengths), want at most dim 0 of input 0 (data_in)"},
        {"L i 2 = 4,-1", "lengths"},
        {"L l 2 = 1,2", "int64"}}});
  ExpectLeftAsTheyWere(
      {"GatherPadding X L -> s e padding_width=1 end_padding_width=2",
       "X f 5,2; L i 2 = 3,2",
       {{"L i 2 = 1,4", "length of segment 0 is 1, want at least padding_width and end_padding_"},
        {"L i 2 = 5,0", "length of segment 1 is 0, want at least padding_width and end_padding_"},
        {"L i 2 = 3,3", "sum of input 1 (lengths), want at most dim 0 of input 0 (data_in)"},
        {"X u 5,2", "input 0 (data_in) has elements of type uint8"}}});
  ExpectLeftAsTheyWere({"RemovePadding X L -> Y M padding_width=1 end_padding_width=2",
                        "X f 7,2; L i 2 = 4,3",
                        {{"L i 2 = 5,2", "length"},
                         {"L i 2 = 4,4", "sum of input 1 (lengths), want at most"},
                         {"L l 2 = 4,3", "int64"}}});
}

TEST(SequenceInputsTest, OfListsAndPacks) {
  ExpectLeftAsTheyWere(
      {"LengthsGather X L I -> Y",
       "X f 4,2; L i 3 = 2,0,2; I l 2 = 2,1",
       {{"I l 2 = 2,3", "element 1 of input 2 (INDICES) is 3, want at least 0 and less than 3"},
        {"I i 2 = -1,0", "element 0 of input 2 (INDICES) is -1"},
        {"L i 3 = 2,0,1", "sum of the lengths, want the rows of input 0 (ITEMS)"},
        {"L i 3 = 3,-1,2", "LENGTHS"},
        {"I f 2", "float"}}});
  ExpectLeftAsTheyWere(
      {"LengthsTile X L -> Y",
       "X f 3,2; L i 3 = 2,0,1",
       {{"L i 2 = 1,1", "elements of input 1 (lengths), want the rows of input 0 (data)"},
        {"L i 3,1 = 1", "rank of input 1 (lengths) of shape [3, 1]"},
        {"L i 3 = 1,-1,1", "lengths"},
        {"X f -", "rank of input 0 (data)"}}});
  ExpectLeftAsTheyWere(
      {"MergeIdLists L X K Z -> N Y",
       "L i 2 = 2,1; X l 3 = 9,1,5; K i 2 = 2,0; Z l 2 = 4,9",
       {{"Z i 2 = 4,9", "int32"},
        {"K i 1 = 2", "elements of input 2 (lengths), want those of input 0"},
        {"K i 2 = 1,0", "sum of the lengths of input 2, want the elements of input 3"},
        {"L i 2 = 1,1", "sum of the lengths of input 0, want the elements of input 1"},
        {"Z l 2,1 = 4", "rank of input 3 (values) of shape [2, 1]"},
        {"K i 2,1 = 1", "rank of input 2 (lengths) of shape [2, 1]"},
        {"X f 3; Z f 2", "input 1 (values_0) has elements of type float"}}});
  ExpectLeftAsTheyWere(
      {"VariableLengthSequencePadding X L -> X",
       "X f 3,2,2; L i 2 = 1,2",
       {{"L i 1 = 1", "elements of input 1 (lengths), want dim 1 of input 0 (X)"},
        {"X f 3,2", "rank of input 0 (X) of shape [3, 2], want [steps, batch, inner]"},
        {"X d 3,2,2", "double"},
        {"L l 2 = 1", "int64"}}});
  ExpectLeftAsTheyWere(
      {"PackSegments L X -> Y M max_length=2 return_presence_mask=1",
       "L i 2 = 3,1; X f 4,2",
       {{"L i 2 = 3,2", "sum of input 0 (lengths), want dim 0 of input 1 (tensor)"},
        {"L i 2 = 5,-1", "lengths"},
        {"L i 2,1 = 2", "rank of input 0 (lengths) of shape [2, 1], want a vector"},
        {"L f 2 = 2", "input 0 (lengths) has elements of type float"},
        {"X f -", "rank of input 1 (tensor)"},
        {"X d 4,2", "double"}}});
  ExpectLeftAsTheyWere({"UnpackSegments L X -> Y",
                        "L l 2 = 3,1; X f 2,3,2",
                        {{"L i 2 = 4,1", "4"},
                         {"L i 3 = 1", "number of lengths, want dim 0 of input 1 (packed_tensor)"},
                         {"X f 2", "rank of input 1 (packed_tensor) of shape [2]"},
                         {"X d 2,3,2", "double"}}});
  ExpectRejectedWith({{"UnpackSegments L X -> Y max_length=2", "L i 2 = 1; X f 2,3,2",
                       "argument max_length is 2, want 3, dim 1 of input 1 (packed_tensor)"},
                      {"PackSegments L X -> Y return_presence_mask=1", "L i 1 = 1; X f 1",
                       "argument return_presence_mask is 1, want a second output"}});
}

}  // namespace
}  // namespace caffe2rt::test::sequence_inputs_test
