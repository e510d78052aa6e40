// The shapes that schemas infer for operators that move elements: negative axes, sizes of 0 and 1,
// other types than float, and what only a run can know.
#include <gtest/gtest.h>

#include "tests/operators/common/call_tables.h"

namespace caffe2rt::test::inferred_moves_test {
namespace {

TEST(InferredMovesTest, JoinAndSplitAlongAnAxis) {
  ExpectInferred({
      {"Concat A B -> Y S", "A f 2,3,4; B f 2,5,4", "float [2, 8, 4]; int32 [2]"},
      {"Concat A B -> Y S order=NHWC", "A d 2,3,4,5; B d 2,3,4,1",
       "double [2, 3, 4, 6]; int32 [2]"},
      {"Concat A B C -> Y S axis=-2", "A l 2,3; B l 0,3; C l 1,3", "int64 [3, 3]; int32 [3]"},
      {"Concat A B -> Y S axis=0 add_axis=1", "A u 2,3; B u 2,3", "uint8 [2, 2, 3]; int32 [2]"},
      {"Concat A B C -> Y S axis=-1 add_axis=1", "A f 2; B f 2; C f 2", "float [2, 3]; int32 [3]"},
      {"Concat A -> Y S axis=1 add_axis=1", "A f 4", "float [4, 1]; int32 [1]"},
      {"Concat A B -> Y S", "A f 2,3; B f ?", "? ?; int32 [2]"},
      {"DepthConcat A B -> Y S", "A f 1,2,3,3; B f 1,0,3,3", "float [1, 2, 3, 3]; int32 [2]"},
      {"Split X -> A B", "X f 2,6,4", "float [2, 3, 4]; float [2, 3, 4]"},
      {"Split X -> A B order=NHWC", "X d 2,3,3,4", "double [2, 3, 3, 2]; double [2, 3, 3, 2]"},
      {"Split X -> A B C axis=-1 split=1,0,3", "X i 2,4",
       "int32 [2, 1]; int32 [2, 0]; int32 [2, 3]"},
      {"Split X -> A B axis=0 add_axis=1", "X f 2,3,4", "float [3, 4]; float [3, 4]"},
      {"Split X -> A B C axis=-1 add_axis=1", "X f 2,3", "float [2]; float [2]; float [2]"},
      {"Split X L -> A B axis=0 add_axis=1", "X f 2,3; L i 2", "float [3]; float [3]"},
      {"Split X L -> A B axis=0", "X d 2,3; L i 2", "double ?; double ?"},
      {"Split X -> A B axis=0", "X f ?", "? ?; ? ?"},
      {"SplitByLengths X L -> A B axis=0", "X u 4; L i 2", "uint8 ?; uint8 ?"},
  });
}

TEST(InferredMovesTest, ReshapeOneInput) {
  ExpectInferred({
      {"Reshape X -> Y S shape=0,-1", "X f 2,3,4", "float [2, 12]; int64 [3]"},
      {"Reshape X -> Y S shape=-1,2", "X u 4", "uint8 [2, 2]; int64 [1]"},
      {"Reshape X -> Y S shape=1,", "X d -", "double [1]; int64 [0]"},
      {"Reshape X -> Y S shape=0,0,5", "X f 0,3", "float [0, 0, 5]; int64 [2]"},
      {"Reshape X -> Y S shape=-1,3", "X f 0,3", "float [0, 3]; int64 [2]"},
      {"Reshape X N -> Y S", "X d 2,3; N i 2", "double ?; int32 [2]"},
      {"Reshape X N -> Y S", "X d 2,3; N l 2", "double ?; int64 [2]"},
      {"Reshape X -> Y S shape=1,", "X f ?", "? ?; ? ?"},
      {"ResizeLike X L -> Y", "X l 6; L f 2,3", "int64 [2, 3]"},
      {"ResizeLike X L -> Y", "X l 6; L f ?", "? ?"},
      {"Flatten X -> Y", "X d 2,3,4", "double [2, 12]"},
      {"Flatten X -> Y axis=0", "X i 2,3,4", "int32 [1, 24]"},
      {"Flatten X -> Y axis=3", "X f 2,3,4", "float [24, 1]"},
      {"Flatten X -> Y", "X f 0,3", "float [0, 3]"},
      {"Flatten X -> Y axis=2", "X f 2,0,3", "float [0, 3]"},
      {"FlattenToVec X -> Y", "X u 2,3", "uint8 [6]"},
      {"FlattenToVec X -> Y", "X f 2,0", "float [0]"},
      {"ExpandDims X -> Y dims=0,2,2", "X l 5", "int64 [1, 5, 1]"},
      {"ExpandDims X -> Y dims=1,", "X f 0,4", "float [0, 1, 4]"},
      {"ExpandDims X -> Y dims=0,", "X f -", "float [1]"},
      {"Squeeze X -> Y dims=2,0", "X u 1,5,1", "uint8 [5]"},
      {"Squeeze X -> Y dims=1,", "X f 0,1,1", "float [0, 1]"},
      {"Unsqueeze X -> Y axes=-1,0", "X l 5,6", "int64 [1, 5, 6, 1]"},
      {"Unsqueeze X a -> Y axes=1,", "X f 5; a l 0", "float [5, 1]"},
      {"Unsqueeze X a -> Y", "X d 5; a l 1", "double ?"},
      {"ONNXSqueeze X -> Y", "X f 1,0,1,2", "float [0, 2]"},
      {"ONNXSqueeze X -> Y axes=-1,", "X l 1,5,1", "int64 [1, 5]"},
      {"ONNXSqueeze X a -> Y", "X f 1,5; a l 1", "float ?"},
      {"MergeDim X -> Y", "X l 2,3,4", "int64 [6, 4]"},
      {"MergeDim X -> Y", "X f 0,3", "float [0]"},
      {"PrependDim X -> Y dim_size=2", "X d 6,5", "double [2, 3, 5]"},
      {"PrependDim X -> Y dim_size=3", "X d 0", "double [3, 0]"},
      {"BitCast X -> Y to=2", "X f 2,3", "int32 [2, 3]"},
      {"BitCast X -> Y to=13", "X l -", "double []"},
      {"EnsureDense X -> Y", "X d 2,3", "double [2, 3]"},
  });
}

TEST(InferredMovesTest, PermuteAndRepeat) {
  ExpectInferred({
      {"Transpose X -> Y", "X l 2,3,4", "int64 [4, 3, 2]"},
      {"Transpose X -> Y axes=1,2,0", "X u 2,3,4", "uint8 [3, 4, 2]"},
      {"Transpose X -> Y axes=1,0", "X f 0,3", "float [3, 0]"},
      {"Transpose X -> Y", "X f ?", "? ?"},
      {"NCHW2NHWC X -> Y", "X f 2,3,4,5", "float [2, 4, 5, 3]"},
      {"NCHW2NHWC X -> Y", "X f 2,3,4", "float [2, 4, 3]"},
      {"NHWC2NCHW X -> Y", "X f 2,3,4,5,6", "float [2, 6, 3, 4, 5]"},
      {"NHWC2NCHW X -> Y", "X f 0,3,4", "float [0, 4, 3]"},
      {"DepthToSpace X -> Y blocksize=2", "X u 2,12,1,5", "uint8 [2, 3, 2, 10]"},
      {"SpaceToDepth X -> Y blocksize=3", "X d 2,1,6,9", "double [2, 9, 2, 3]"},
      {"SpaceToDepth X -> Y blocksize=2", "X f 0,3,4,0", "float [0, 12, 2, 0]"},
      {"Tile X -> Y tiles=3 axis=1", "X l 2,5", "int64 [2, 15]"},
      {"Tile X -> Y tiles=0 axis=-2", "X f 2,5", "float [0, 5]"},
      {"Tile X t -> Y axis=0", "X f 2,5; t i 1", "? ?"},
      {"TileGradient X -> Y tiles=3 axis=-1", "X d 2,6", "double [2, 2]"},
      {"TileGradient X t -> Y axis=0", "X f 2,5; t i 1", "? ?"},
      {"ONNXTile X -> Y repeats=2,0,3", "X u 2,5,1", "uint8 [4, 0, 3]"},
      {"ONNXTile X r -> Y", "X u 2,5; r l 2", "uint8 ?"},
      {"ONNXExpand X -> Y shape=3,1,4", "X l 2,1", "int64 [3, 2, 4]"},
      {"ONNXExpand X -> Y shape=1,", "X f 2,3", "float [2, 3]"},
      {"ONNXExpand X -> Y shape=0,3", "X f 1,3", "float [0, 3]"},
      {"ONNXExpand X -> Y shape=2,1", "X f -", "float [2, 1]"},
      {"ONNXExpand X s -> Y", "X d 2,1; s l 2", "double ?"},
      {"Expand X s -> Y", "X d 2,1; s l 2", "double ?"},
      {"ExpandGradient G X -> D", "G d 4,2,3; X f 2,1", "double [2, 1]"},
      {"Trilu X -> Y", "X u 2,3", "uint8 [2, 3]"},
      {"Trilu X k -> Y", "X l 2,3; k ?", "int64 [2, 3]"},
      {"ReverseSequence X L -> Y", "X d 2,3; L l 3", "double [2, 3]"},
  });
}

TEST(InferredMovesTest, CutAndPad) {
  ExpectInferred({
      {"Slice X -> Y starts=1,0 ends=-1,2", "X u 4,2,3", "uint8 [3, 2, 3]"},
      {"Slice X -> Y starts=-3,0 ends=-2,-1", "X f 4,2", "float [1, 2]"},
      {"Slice X -> Y starts=0, ends=0,", "X f 4,2", "float [0, 2]"},
      {"Slice X s e -> Y", "X f 4; s i 1; e i 1", "? ?"},
      {"SliceGradient X G -> D", "X l 4,2; G d 1,2", "double [4, 2]"},
      {"SliceGradient X s e G -> D", "X l 4,2; s i 2; e i 2; G d 1,2", "double [4, 2]"},
      {"ONNXSlice X -> Y starts=1, ends=9, axes=-1, steps=2,", "X l 3,6", "int64 [3, 3]"},
      {"ONNXSlice X -> Y starts=-1, ends=-9, steps=-4,", "X f 6,2", "float [2, 2]"},
      {"ONNXSlice X -> Y starts=-1, ends=-1,", "X u 6", "uint8 [0]"},
      {"ONNXSlice X -> Y starts=0,1 ends=2,-1 axes=2,0", "X f 4,5,6", "float [2, 5, 2]"},
      {"ONNXSlice X s e -> Y", "X l 3,6; s l 1; e l 1", "int64 ?"},
      {"ONNXSliceGradient X G -> D starts=1, ends=2,", "X i 3,6; G d 1,6", "double [3, 6]"},
      {"ONNXSliceGradient X s e G -> D", "X i 3,6; s l 1; e l 1; G d 1,6", "double [3, 6]"},
      {"Pad X -> Y pads=1,-1,2,0", "X l 2,3", "int64 [5, 2]"},
      {"Pad X -> Y pads=2,-3 axes=-2,", "X u 4,3", "uint8 [3, 3]"},
      {"Pad X p -> Y pads=1,1", "X f 4; p l 0", "float [6]"},
      {"Pad X p -> Y", "X f 4; p l 2", "float ?"},
      {"Pad X p v a -> Y pads=1,1", "X d 4,4; p l 0; v d 1; a l 1", "double ?"},
      {"CenterCropPad X -> Y shape=5,0", "X l 2,3", "int64 [5, 0]"},
      {"CenterCropPad X -> Y shape=7,1 axes=-1,0", "X u 2,3,4", "uint8 [1, 3, 7]"},
      {"CenterCropPad X s -> Y", "X u 2,3; s l 2", "uint8 ?"},
      {"ONNXCol2Im X -> Y image_shape=5,4 block_shape=2,3", "X d 2,12,8", "double [2, 2, 5, 4]"},
      {"ONNXCol2Im X -> Y image_shape=5, block_shape=5,", "X f 0,5,1", "float [0, 1, 5]"},
      {"ONNXCol2Im X s b -> Y", "X f 2,12,8; s l 2; b l 2", "float ?"},
  });
}

TEST(InferredMovesTest, SelectAndWriteSlices) {
  ExpectInferred({
      {"Gather X I -> Y", "X u 5,2,3; I i 4,1", "uint8 [4, 1, 2, 3]"},
      {"Gather X I -> Y axis=-1", "X l 5,2; I l -", "int64 [5]"},
      {"Gather X I -> Y axis=1", "X f 5,0,3; I l 7", "float [5, 0, 3]"},
      {"Gather X I -> Y axis=1 match_outer=1", "X d 2,5,3; I i 2,4", "double [2, 4, 3]"},
      {"Gather X I -> Y", "X f 5,2; I ?", "? ?"},
      {"BatchGather X I -> Y", "X i 2,5,3; I l 4,6", "int32 [2, 4, 6, 3]"},
      {"BatchGather X I -> Y match_outer=1", "X i 2,5,3; I l 2,6,1", "int32 [2, 6, 1, 3]"},
      {"BatchGatherGradient X I G -> D", "X f 2,5; I i 3; G f 2,3", "float [2, 5]"},
      {"GatherElements X I -> Y axis=1", "X u 2,5; I l 2,7", "uint8 [2, 7]"},
      {"GatherElementsGradient X I G -> D", "X u 2,5; I l 2,7; G d 2,7", "double [2, 5]"},
      {"ScatterElements X I U -> Y", "X l 2,5; I l 1,2; U l 1,2", "int64 [2, 5]"},
      {"GatherND X I -> Y", "X l 2,3,4; I i 5,6,2", "int64 [5, 6, 4]"},
      {"GatherND X I -> Y batch_dims=1", "X d 2,3,4; I l 2,1", "double [2, 4]"},
      {"GatherND X I -> Y", "X d 2,3; I l 2", "double []"},
      {"GatherND X I -> Y", "X d 2,3; I l 0,2", "double [0]"},
      {"GatherND X I -> Y", "X d 2,3; I ?", "double ?"},
      {"ScatterND X I U -> Y", "X i 2,5; I l 1,2; U i 1", "int32 [2, 5]"},
      {"TensorScatter X U -> Y", "X u 2,5,3; U u 2,1,3", "uint8 [2, 5, 3]"},
      {"ScatterAssign X I U -> X", "X d 2,5; I l 1; U d 1,5", "double [2, 5]"},
      {"ScatterWeightedSum X w I U v -> X", "X f 2,5; w f 1; I l 1; U f 1,5; v f 1",
       "float [2, 5]"},
      {"CopyRowsToTensor X I r -> X", "X l 2,5; I l 1; r l 5", "int64 [2, 5]"},
      {"CopyRowsToTensorGradient G -> D", "G d 2,5", "double [2, 5]"},
      {"SparseToDense I V -> Y output_first_dim=7", "I l 2; V l 2,3", "int64 [7, 3]"},
      {"SparseToDense I V D -> Y", "I l 2; V d 2,3; D u 9,1", "double [9, 3]"},
      {"SparseToDense I V D -> Y output_first_dim=7", "I l 2; V d 2; D ?", "? ?"},
      {"SparseToDense I V D -> Y output_first_dim=7", "I l 2; V d 2; D f -", "? ?"},
      {"SparseToDense I V -> Y", "I l 2; V f 2,3", "? ?"},
      {"SparseToDenseMask I V D -> Y mask=7,3,5", "I l 2; V d 2,4; D d 4", "double [3, 4]"},
      {"SparseToDenseMask I V D L -> Y P mask=7,3", "I l 2; V l 2; D l -; L i 5",
       "int64 [5, 2]; bool [5, 2]"},
      {"SparseToDenseMask I V D L -> Y P mask=7,3", "I l 2; V l 2; D ?; L i 5", "? ?; bool [5, 2]"},
      {"SparseToDenseMask I V D L -> Y P mask=7,3", "I l 2; V l 2; D l -; L ?", "? ?; ? ?"},
      {"SparseToDenseMask I V D L -> Y mask=7,3", "I l 2; V l 2; D l -; L i 5,1", "? ?"},
      {"SparseToDenseMaskGradient I G -> D mask=7,3", "I l 6; G f 2,4", "float [6, 4]"},
      {"SparseToDenseMaskGradient I G L -> D mask=7,3", "I l 6; G f 5,2,4; L i 5", "float [6, 4]"},
      {"SparseToDenseMaskGradient I G L -> D mask=7,3", "I l 6; G f 5; L i 5", "? ?"},
      {"SparseToDenseMaskGradient I G -> D mask=7,3", "I l 6,1; G f 2", "? ?"},
  });
}

TEST(InferredMovesTest, OfShapesDependOnTheRank) {
  ExpectInferred({
      {"Shape X -> Y", "X f 2,3,4", "int64 [3]"},
      {"Shape X -> Y", "X f -", "int64 [0]"},
      {"Shape X -> Y start=1", "X f 2,3,4", "int64 [2]"},
      {"Shape X -> Y start=-2 end=-1", "X f 2,3,4", "int64 [1]"},
      {"Shape X -> Y start=2 end=1", "X f 2,3,4", "int64 [0]"},
      {"Shape X -> Y start=-9 end=9", "X f 2,3", "int64 [2]"},
      {"Shape X -> Y axes=1,1,0", "X f ?", "int64 [3]"},
      {"Shape X -> Y", "X f ?", "? ?"},
      {"Size X -> Y", "X f ?", "int64 []"},
      {"Size X -> Y", "X f 2,3", "int64 []"},
  });
}

TEST(InferredMovesTest, AreRejectedLikeTheRun) {
  ExpectShapesRejected({
      {"Tile X -> Y tiles=2", "X f 2", "argument axis is missing"},
      {"Tile X -> Y axis=0", "X f 2", "argument tiles is missing"},
      {"Slice X -> Y starts=0,", "X f 2", "argument ends is missing"},
      {"Slice X -> Y ends=0,", "X f 2", "argument starts is missing"},
      {"Reshape X N -> Y S shape=2,", "X f 2; N l 1",
       "argument shape and input 1 are both given: remove one"},
      {"Reshape X -> Y S", "X f 2", "argument shape is missing, and input 1 is not given either"},
      {"Squeeze X -> Y dims=0,", "X f 2",
       "dim 0 of input 0 of shape [2] is in argument dims, want size 1 (got 2, want 1)"},
      {"Flatten X -> Y axis=-1", "X f 2,3",
       "argument axis is -1, want 0 to the rank of input 0 of shape [2, 3]"},
      {"Flatten X -> Y axis=3", "X f 2,3",
       "argument axis is 3, want 0 to the rank of input 0 of shape [2, 3]"},
      {"MergeDim X -> Y", "X f 2", "rank of input 0, want at least 2 (got 1, want at least 2)"},
      {"NCHW2NHWC X -> Y", "X f 2,3", "rank of input 0, want at least 3 (got 2, want at least 3)"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::inferred_moves_test
