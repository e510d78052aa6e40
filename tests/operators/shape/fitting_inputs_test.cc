// Operators that move elements, with inputs that differ from good ones in one thing: each is rejected, names the input,
// and leaves nothing that a later run on the good inputs would see.
#include <gtest/gtest.h>

#include "tests/operators/common/failed_runs.h"

namespace caffe2rt::test::fitting_inputs_test {
namespace {

void ExpectEach(const std::vector<FailedRun>& rows) {
  for (const FailedRun& row : rows) ExpectLeftAsTheyWere(row);
}

TEST(FittingInputsTest, OfGathers) {
  ExpectEach({
      {"GatherND X I -> Y batch_dims=2",
       "X f 2,3,4; I l 2,3,1 = 0,1,3",
       {{"I l 2,2,1 = 0", "dim 1 of input 1 (indices), a batch dimension"},
        {"I l 3,3,1 = 0", "dim 0 of input 1 (indices), a batch dimension"},
        {"I l 2,3 = 0", "want ranks above batch_dims 2"},
        {"X f 2,3", "want ranks above batch_dims 2"},
        {"I l 2,3,2 = 0", "last dim of input 1 (indices) of shape [2, 3, 2]"},
        {"I i 2,3,1 = 0,4", "row 1 of input 1 (indices) has index 4 for a dimension of size 4"},
        {"I i 2,3,1 = 0,-5", "row 1 of input 1 (indices) has index -5"}}},
      {"GatherElements X I -> Y axis=1",
       "X f 2,3; I l 2,5 = 0,2,-3",
       {{"I l 3,5 = 0", "and no larger sizes except for dim 1"},
        {"I l 2 = 0", "want the rank of input 0 (data)"},
        {"I l 2,5 = 0,3", "element 1 of input 1 (indices) is 3, want at least -3 and below 3"},
        {"I i 2,5 = 0,0,-4", "element 2 of input 1 (indices) is -4"}}},
      {"GatherElements X I -> Y", "X f 3,4; I i 2,2 = 0,2", {{"I i 2,5 = 0", "except for dim 0"}}},
      {"Gather X I -> Y axis=1 match_outer=1",
       "X f 2,3,4; I l 2,5 = 0,2",
       {{"I l 3,5 = 0", "want its first dimensions to be [2]"},
        {"I l - = 0", "want its first dimensions to be [2]"},
        {"I l 2,5 = 0,3", "out of DATA bounds, id=3 axis_dim=3"},
        {"I i 2,5 = 0,-1", "out of DATA bounds, id=-1 axis_dim=3"}}},
      {"Gather X I -> Y",
       "X f 3,4; I l 5 = 0,-3,2",
       {{"I l 5 = 0,3", "out of DATA bounds, id=3 axis_dim=3"},
        {"I l 5 = 0,-4", "out of DATA bounds, id=-1 axis_dim=3"},
        {"X f -", "input 0 (DATA) is a scalar"}}},
      {"BatchGatherGradient X I G -> D",
       "X f 2,3,4; I l 5 = 0,2; G f 2,5,4",
       {{"G f 3,5,4", "has shape [3, 5, 4], want its first dimensions to be [2]"},
        {"G f -", "has shape [], want its first dimensions to be [2]"},
        {"G f 2,4,4", "elements of input 2 (the gradient) of shape [2, 4, 4]"},
        {"I l 5 = 0,-1", "index -1"},
        {"I i 5 = 0,3", "index 3"},
        {"X f 24", "rank of input 0 (DATA)"},
        {"X d 2,3,4", "input 0 (DATA) has elements of type double"},
        {"G d 2,5,4", "double"}}},
  });
}

TEST(FittingInputsTest, OfDenseMasks) {
  ExpectEach({
      {"SparseToDenseMask I V D L -> Y mask=5,7",
       "I i 3 = 5,7,9; V f 3,2; D f 2; L i 2 = 1,2",
       {{"V f -", "input 1 (values) has shape [], want 3 rows"},
        {"V f 2,2", "input 1 (values) has shape [2, 2], want 3 rows"},
        {"D d 2", "input 2 (default_value) has shape [2] and type double"},
        {"D f 1,2", "input 2 (default_value) has shape [1, 2]"},
        {"D f 3", "input 2 (default_value) has shape [3]"},
        {"D f -", "input 2 (default_value) has shape []"},
        {"I i 3,1 = 5", "rank of input 0 (indices) of shape [3, 1]"},
        {"I f 3", "input 0 (indices) has elements of type float, want int32 or int64"},
        {"L i 2 = 1,1", "sum of input 3 (lengths), want the elements of input 0 (indices)"},
        {"L i 2 = 4,-1", "an element of input 3 (lengths), want at least 0"},
        {"L i 1,2 = 1,2", "rank of input 3 (lengths)"},
        {"L l 2 = 1,2", "int64"}}},
      {"SparseToDenseMaskGradient I G L -> D mask=5,7",
       "I i 3 = 5,7,9; G f 2,2,3; L i 2 = 1,2",
       {{"G f 2,3,3", "want the first dimensions to be [2, 2]"},
        {"G f 3,2,3", "want the first dimensions to be [2, 2]"},
        {"G f 2", "want the first dimensions to be [2, 2]"},
        {"L i 3 = 1", "want the first dimensions to be [3, 2]"},
        {"L i 2 = 1,3", "sum of input 2 (lengths)"},
        {"G d 2,2,3", "double"}}},
      {"SparseToDenseMaskGradient I G -> D mask=5,7",
       "I l 3 = 5,7,9; G f 2,3",
       {{"G f 3,3", "want the first dimensions to be [2]"}}},
  });
}

TEST(FittingInputsTest, OfSlices) {
  ExpectEach({
      {"ONNXSlice X s e a t -> Y",
       "X f 4,5; s l 2 = 1,0; e l 2 = 3,4; a l 2 = 0,1; t l 2 = 1,2",
       {{"e l 1 = 3", "elements of ends, want as many as of starts"},
        {"a l 1 = 0", "axes are [0], want as many as 2 starts"},
        {"a l 3 = 0,1,0", "axes are [0, 1, 0], want as many as 2 starts"},
        {"t l 3 = 1", "steps are [1, 1, 1], want as many as 2 starts"},
        {"t l 1 = 1", "steps are [1], want as many as 2 starts"},
        {"t l 2 = 1,0", "element 1 of steps is 0"},
        {"t l 2 = 0,1", "element 0 of steps is 0"},
        {"s l 3 = 0; e l 3 = 1; a l 0; t l 0", "elements of starts, want at most the rank"},
        {"s f 2", "float"}}},
      {"ONNXSliceGradient X s e a t G -> D",
       "X f 4,5; s l 2 = 1,0; e l 2 = 3,4; a l 2 = 0,1; t l 2 = 1,2; G f 2,2",
       {{"G f 2,3", "input 5 (dY) has shape [2, 3], want that of the slice [2, 2]"},
        {"t l 2 = 1,1", "input 5 (dY) has shape [2, 2], want that of the slice [2, 4]"},
        {"s l 2 = 2,0", "want that of the slice [1, 2]"},
        {"e l 2 = 3,5", "want that of the slice [2, 3]"}}},
      {"Split X s -> A B axis=1",
       "X f 2,5; s i 2 = 2,3",
       {{"s i 2 = 2,2", "sum of the sizes in split, want the size of the dimension"},
        {"s i 2 = 6,-1", "size in split, want at least 0"},
        {"s i 3 = 1,2,2", "elements of input 1 (split), want one for each output"},
        {"s l 1 = 5", "elements of input 1 (split), want one for each output"},
        {"s l 2 = 2,4294967299", "element of input 1 (split)"}}},
      {"Concat A B -> Y s axis=1",
       "A f 2,3; B f 2,4,1",
       {{"B f 3,4", "input 1 has shape [3, 4], want [2, 3] as input 0 except for dim 1"},
        {"B f 2", "input 1 has shape [2], want [2, 3]"},
        {"B f 2,4,2", "input 1 has shape [2, 4, 2], want [2, 3]"},
        {"B d 2,4", "input 1 has elements of type double, want float as input 0"}}},
      {"Concat A B -> Y s axis=1 add_axis=1",
       "A f 2,3; B f 2,3,1",
       {{"B f 2,4", "input 1 has shape [2, 4], want [2, 3] as input 0"},
        {"B f 2,3,2", "input 1 has shape [2, 3, 2], want [2, 3] as input 0"}}},
  });
}

TEST(FittingInputsTest, OfRepeatedAndReversedRows) {
  ExpectEach({
      {"ReverseSequence X L -> Y batch_axis=0 time_axis=1",
       "X f 4,2,3; L l 4 = 0,1,2,2",
       {{"L l 4 = 0,1,2,3", "element of input 1 (lengths) is 3, want at least 0 and at most 2"},
        {"L i 4 = 0,-1,2,2", "element of input 1 (lengths) is -1"},
        {"L l 2 = 1", "elements of input 1 (lengths), want dim 0 of input 0 (X)"},
        {"X f 4", "rank of input 0 (X)"},
        {"L f 4", "float"}}},
      {"ReverseSequence X L -> Y",
       "X f 2,4; L l 4 = 0,1,2,2",
       {{"L l 4 = 0,1,2,3", "element of input 1 (lengths) is 3, want at least 0 and at most 2"},
        {"L l 2 = 1", "elements of input 1 (lengths), want dim 1 of input 0 (X)"}}},
      {"Tile X t a -> Y",
       "X f 2,3; t l 1 = 2; a i 1 = 1",
       {{"t l - = 2", "input 1 (tiles) has shape [], want [1]"},
        {"t l 2 = 2", "input 1 (tiles) has shape [2], want [1]"},
        {"t l 1,1 = 2", "input 1 (tiles) has shape [1, 1], want [1]"},
        {"a i - = 1", "input 2 (axis) has shape [], want [1]"},
        {"t l 1 = -1", "tiles, want at least 0"},
        {"a l 1 = 2", "2"},
        {"t f 1 = 2", "float"}}},
      {"TileGradient G t a -> D",
       "G f 2,6; t l 1 = 2; a i 1 = 1",
       {{"t l 1 = 0", "tiles, want at least 1"},
        {"t l 1 = -2", "tiles, want at least 1"},
        {"t l 1 = 4", "dim 1 of input 0 (dY) of shape [2, 6], want a multiple of tiles 4"}}},
      {"ONNXExpand X S -> Y",
       "X f 2,1; S l 2 = 2,3",
       {{"S l 2 = 2,-1", "which cannot be broadcast with shape [2, -1]"},
        {"S l 2 = -1,3", "which cannot be broadcast with shape [-1, 3]"},
        {"S l 2 = 3,3", "which cannot be broadcast with shape [3, 3]"},
        {"S l 2 = 0,3", "which cannot be broadcast with shape [0, 3]"},
        {"S f 2 = 2", "float"}}},
      {"ONNXTile X S -> Y",
       "X f 2,1; S l 2 = 2,3",
       {{"S l 1 = 2", "elements of repeats, want the rank of input 0 (X)"},
        {"S l 2 = 2,-1", "element 1 of repeats"}}},
  });
}

TEST(FittingInputsTest, OfNewShapes) {
  ExpectEach({
      {"Reshape X s -> Y o",
       "X f 2,3; s l 2 = 3,-1",
       {{"s l - = 6", "rank of input 1 (shape), want a vector"},
        {"s l 1,1 = 6", "rank of input 1 (shape), want a vector"},
        {"s l 0", "input 1 (shape) has no elements, want at least one"},
        {"s l 2 = 4,2", "[2, 3]"},
        {"s l 2 = -1,-1", "-1"},
        {"s i 2 = 4,-1", "[2, 3]"},
        {"s f 2 = 3,2", "input 1 (shape) has elements of type float"}}},
      {"ResizeLike X Z -> Y", "X f 2,3; Z i 6", {{"Z i 5", "5"}, {"Z i 2,4", "[2, 4]"}}},
      {"SplitByLengths X L -> A B axis=0 use_scaling_lengths=1",
       "X f 4; L i 2 = 1,0",
       {{"L i 2 = 1,2", "size of the dimension, 4, modulo the sum of the lengths, 3"},
        {"L i 2 = 3,-1", "element 1 of input 1 (lengths), want at least 0"},
        {"L i 3 = 1", "elements of input 1 (lengths), 3, modulo the outputs, 2"},
        {"L i 2,1 = 1", "rank of input 1 (lengths) of shape [2, 1]"},
        {"L i 2 = 0,0", "sum of the lengths, want the size of the dimension"}}},
  });
}

TEST(FittingInputsTest, OfBlocks) {
  ExpectEach({
      {"SpaceToDepth X -> Y blocksize=2",
       "X f 1,2,4,6",
       {{"X f 1,2,4,5", "want height and width that are multiples of blocksize 2"},
        {"X f 1,2,3,6", "want height and width that are multiples of blocksize 2"},
        {"X f 2,4,6", "rank of input 0 (X) of shape [2, 4, 6]"}}},
      {"DepthToSpace X -> Y blocksize=2",
       "X f 1,8,2,3",
       {{"X f 1,6,2,3", "want a multiple of blocksize * blocksize"},
        {"X f 1,8,2,3,1", "rank of input 0 (X)"}}},
      {"ONNXCol2Im X S B -> Y",
       "X f 1,4,16; S l 2 = 5,5; B l 2 = 2,2",
       {{"X f 1,5,16", "want [N, a multiple of 4, 16] for image [5, 5] and blocks [2, 2]"},
        {"X f 1,4,15", "want [N, a multiple of 4, 16]"},
        {"X f 4,16", "rank of input 0 (columns)"},
        {"X i 1,4,16", "int32"},
        {"S l 1 = 5", "image_shape is [5] and block_shape [2, 2]"},
        {"B l 3 = 2", "block_shape [2, 2, 2], want one number for each axis"},
        {"S l 0; B l 0", "image_shape is [] and block_shape []"},
        {"S l 2 = 5,-1", "axis 1 has image size -1"},
        {"B l 2 = 2,0", "axis 1 has image size 5, block size 0"}}},
      {"BitCast X -> Y to=2",
       "X f 3",
       {{"X d 3", "input 0 (X) has elements of type double, want 4 bytes"},
        {"X u 3", "want 4 bytes"}}},
  });
  const char* const columns = "X f 1,4,16";
  constexpr char kLists[] = "dilations, strides or pads do not have the 2 axes of image_shape";
  ExpectRejectedWith({
      {"ONNXCol2Im X -> Y image_shape=5,5 block_shape=2,2 dilations=1,", columns, kLists},
      {"ONNXCol2Im X -> Y image_shape=5,5 block_shape=2,2 strides=1,1,1", columns, kLists},
      {"ONNXCol2Im X -> Y image_shape=5,5 block_shape=2,2 pads=0,0", columns, kLists},
      {"ONNXCol2Im X -> Y image_shape=5,5 block_shape=2,2 dilations=1,0", columns,
       "axis 1 has image size 5, block size 2, dilation 0, stride 1 and pads 0 and 0"},
      {"ONNXCol2Im X -> Y image_shape=5,5 block_shape=2,2 strides=0,1", columns,
       "axis 0 has image size 5, block size 2, dilation 1, stride 0 and pads 0 and 0"},
      {"ONNXCol2Im X -> Y image_shape=5,5 block_shape=2,2 pads=0,-1,0,0", columns,
       "axis 1 has image size 5, block size 2, dilation 1, stride 1 and pads -1 and 0"},
      {"ONNXCol2Im X -> Y image_shape=5,5 block_shape=2,2 pads=0,0,-2,0", columns,
       "axis 0 has image size 5, block size 2, dilation 1, stride 1 and pads 0 and -2"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::fitting_inputs_test
