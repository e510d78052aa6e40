// Operators that move elements, next to the bounds of their arguments, with whole messages, and in a later run on
// other sizes. Expected values are by hand.
#include <gtest/gtest.h>

#include "caffe2_core/runtime/net.h"
#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::shape_calls_test {
namespace {

TEST(ShapeCallsTest, SplitsIntoPiecesOfAnySize) {
  ExpectResults({
      {"Split X -> A B C axis=0 uneven=1", "X i 7 = 1,2,3,4,5,6,7",
       "A i 3 = 1,2,3; B i 3 = 4,5,6; C i 1 = 7"},
      {"Split X -> A B C axis=0 uneven=1", "X i 6 = 1,2,3,4,5,6",
       "A i 2 = 1,2; B i 2 = 3,4; C i 2 = 5,6"},
      {"Split X -> A B C axis=0 uneven=1", "X i 4 = 1,2,3,4", "A i 2 = 1,2; B i 2 = 3,4; C i 0"},
      {"Split X -> A B C axis=0 uneven=1", "X i 1 = 1", "A i 1 = 1; B i 0; C i 0"},
      {"Split X -> A B C uneven=1", "X f 2,5 = 1,2,3,4,5,6,7,8,9,10",
       "A f 2,2 = 1,2,6,7; B f 2,2 = 3,4,8,9; C f 2,1 = 5,10"},
      {"Split X s -> A B axis=0 uneven=1", "X i 4 = 1,2,3,4; s i 2 = 1,3",
       "A i 1 = 1; B i 3 = 2,3,4"},
      {"Split X -> A B axis=-1 add_axis=1", "X f 2,2 = 1,2,3,4", "A f 2 = 1,3; B f 2 = 2,4"},
      {"Split X -> A B axis=-2 add_axis=1", "X f 2,2 = 1,2,3,4", "A f 2 = 1,2; B f 2 = 3,4"},
      {"Split X -> A B split=0,2", "X f 1,2 = 1,2", "A f 1,0; B f 1,2 = 1,2"},
  });
  const std::string removed = "size of the dimension to remove, want the number of outputs (got ";
  ExpectRejected({
      {"Split X -> A B C axis=1 add_axis=1", "X f 2,2", removed + "2, want 3)"},
      {"Split X -> A axis=1 add_axis=1", "X f 2,2", removed + "2, want 1)"},
      {"Split X -> A axis=1 add_axis=1", "X f 2,0", removed + "0, want 1)"},
      {"Split X -> A B", "X f 2,5",
       "dimension of size 5 cannot be divided into 2 equal outputs: set argument split: got 1, "
       "want 0"},
      {"Split X -> A B split=2,", "X f 1,2",
       "split has 1 sizes, want one for each of the 2 outputs"},
  });
  ExpectInferred({
      {"Split X s -> A B axis=1 add_axis=1", "X f 3,2; s i 2", "float [3]; float [3]"},
      {"Split X s -> A B axis=1", "X f 3,2; s i 2", "float ?; float ?"},
      {"Split X -> A B C axis=0 uneven=1", "X u 4", "uint8 [2]; uint8 [2]; uint8 [0]"},
      {"DepthSplit X -> A B", "X d 1,4,2,2", "double [1, 2, 2, 2]; double [1, 2, 2, 2]"},
  });
}

TEST(ShapeCallsTest, SlicesBackwardsAndInLongSteps) {
  const auto slice = [](const char* arguments) {
    return std::string("ONNXSlice X -> Y ") + arguments;
  };
  const char* const x = "X i 3 = 1,2,3";
  ExpectResults({
      {slice("starts=0, ends=-9, steps=-1,"), x, "Y i 1 = 1"},
      {slice("starts=1, ends=-9, steps=-1,"), x, "Y i 2 = 2,1"},
      {slice("starts=-3, ends=-9, steps=-1,"), x, "Y i 1 = 1"},
      {slice("starts=-4, ends=-9, steps=-1,"), x, "Y i 0"},
      {slice("starts=-5, ends=-9, steps=-2,"), x, "Y i 0"},
      {slice("starts=9, ends=-9, steps=-1,"), x, "Y i 3 = 3,2,1"},
      {slice("starts=2, ends=0, steps=-1,"), x, "Y i 2 = 3,2"},
      {slice("starts=0, ends=3, steps=2,"), x, "Y i 2 = 1,3"},
      {slice("starts=0, ends=3, steps=3,"), x, "Y i 1 = 1"},
      {slice("starts=0, ends=3, steps=1000,"), x, "Y i 1 = 1"},
      {slice("starts=2, ends=-9, steps=-2,"), x, "Y i 2 = 3,1"},
      {slice("starts=2, ends=-9, steps=-3,"), x, "Y i 1 = 3"},
      {slice("starts=1, ends=-9, steps=-1000,"), x, "Y i 1 = 2"},
      {slice("starts=0, ends=9, steps=-1,"), "X i 0", "Y i 0"},
      {slice("starts=-9, ends=9,"), x, "Y i 3 = 1,2,3"},
      {slice("starts=3, ends=9,"), x, "Y i 0"},
      {"ONNXSliceGradient X G -> D starts=0, ends=-9, steps=-1,", "X f 3; G f 1 = 7",
       "D f 3 = 7,0,0"},
      {"ONNXSliceGradient X G -> D starts=-1, ends=-9, steps=-2,", "X f 3; G f 2 = 7,8",
       "D f 3 = 8,0,7"},
      {"ONNXSliceGradient X s e G -> D", "X f 2,2; s l 1 = 1; e l 1 = 9; G d 1,2 = 5,6",
       "D d 2,2 = 0,0,5,6"},
      {"SliceGradient X s e G -> D", "X f 2,2; s i 2 = 1,0; e i 2 = -1,-1; G d 1,2 = 5,6",
       "D d 2,2 = 0,0,5,6"},
  });
  ExpectRejected({
      {"ONNXSliceGradient X G -> D starts=0, ends=2,", "X f 4,2; G f 4",
       "input 1 (dY) has shape [4], want that of the slice [2, 2]"},
      {"ONNXSliceGradient X G -> D starts=0, ends=2,", "X f 4,2; G f 1,4",
       "input 1 (dY) has shape [1, 4], want that of the slice [2, 2]"},
      {"ONNXSlice X -> Y starts=0,", x, "starts and ends are neither arguments nor inputs 1 and 2"},
      {"ONNXSlice X -> Y ends=1,", x, "starts and ends are neither arguments nor inputs 1 and 2"},
      {"Slice X s e -> Y", "X i 3; s l 1 = 0; e i 1 = 1",
       "input 2 (ends) has elements of type int32, want int64 as input 1 (starts)"},
      {"Slice X s e -> Y", "X i 3; s l 1 = 0; e l 1,1 = 1",
       "rank of input 2 (ends), want a vector (got 2, want 1)"},
      {"Slice X s e -> Y", "X i 3; s l - = 0; e l 1 = 1",
       "rank of input 1 (starts), want a vector (got 0, want 1)"},
  });
}

TEST(ShapeCallsTest, GathersFromBatches) {
  const char* const x =
      "X i 2,3,4 = 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23; ";
  const auto with = [&](const char* indices) { return std::string(x) + indices; };
  ExpectResults({
      {"GatherND X I -> Y batch_dims=1", with("I l 2,1,2 = 1,2,2,-1"), "Y i 2,1 = 6,23"},
      {"GatherND X I -> Y batch_dims=1", with("I i 2,2,1 = 0,-3,2,1"),
       "Y i 2,2,4 = 0,1,2,3,0,1,2,3,20,21,22,23,16,17,18,19"},
      {"GatherND X I -> Y batch_dims=2", with("I l 2,3,1 = 0,1,2,3,-4,-1"),
       "Y i 2,3 = 0,5,10,15,16,23"},
      {"GatherND X I -> Y", with("I l 2,3 = 1,2,3,0,-3,-4"), "Y i 2 = 23,0"},
      {"GatherND X I -> Y", with("I l 1,2 = -2,1"), "Y i 1,4 = 4,5,6,7"},
      {"ScatterND X I U -> Y", "X f 2,2 = 1,2,3,4; I l 0,1; U f 0,2", "Y f 2,2 = 1,2,3,4"},
      {"ScatterND X I U -> Y", "X f 2,2 = 1,2,3,4; I i 1,2 = -1,-2; U f 1 = 9",
       "Y f 2,2 = 1,2,9,4"},
      {"ScatterND X I U -> X reduction=mul", "X d 3 = 1,2,3; I l 2,1 = 2,2; U d 2 = 5,7",
       "X d 3 = 1,2,105"},
      {"GatherElements X I -> Y axis=1", "X u 1,4 = 1,2,3,4; I l 1,2 = -1,-4", "Y u 1,2 = 4,1"},
      {"ScatterElements X I U -> Y axis=0", "X c 3,2 = 1,2,3,4,5,6; I i 1,2 = -1,0; U c 1,2 = 8,9",
       "Y c 3,2 = 1,9,3,4,8,6"},
  });
  ExpectRejected({
      {"GatherND X I -> Y", "X f 3,2; I l 1,1 = 3",
       "row 0 of input 1 (indices) has index 3 for a dimension of size 3"},
      {"GatherND X I -> Y", "X f 3,2; I l 2,2 = 2,1,-4,0",
       "row 1 of input 1 (indices) has index -4 for a dimension of size 3"},
      {"ScatterND X I U -> Y", "X f 3,2; I l 1,2 = 0,-3; U f 1",
       "row 0 of input 1 (indices) has index -3 for a dimension of size 2"},
      {"GatherND X I -> Y batch_dims=2", "X f 2,3,4; I l 2,4,1 = 0",
       "dim 1 of input 1 (indices), a batch dimension: got 4, want 3"},
      {"GatherND X I -> Y batch_dims=1", "X f 2,3,4; I l 3,3,1 = 0",
       "dim 0 of input 1 (indices), a batch dimension: got 3, want 2"},
      {"ScatterND X I U -> Y", "X f 3,2; I l 1,1 = 0; U f 2",
       "input 2 (updates) has shape [2], want [1, 2]: the rows of input 1 (indices), then a slice "
       "of input 0"},
      {"ScatterND X I U -> Y", "X f 3,2; I l 1,1 = 0; U d 1,2",
       "input 2 (updates) has elements of type double, want float as input 0 (data)"},
  });
  ExpectInferred({
      {"GatherND X I -> Y batch_dims=1", "X d 2,3,4; I l 2,5,1", "double [2, 5, 4]"},
      {"GatherND X I -> Y batch_dims=2", "X d 2,3,4; I l 2,3,1", "double [2, 3]"},
      {"GatherND X I -> Y", "X d 2,3,4; I l 2,5,1", "double [2, 5, 3, 4]"},
  });
}

TEST(ShapeCallsTest, PadsAndCrops) {
  ExpectResults({
      {"Pad X -> Y pads=2,1 mode=reflect", "X i 1 = 7", "Y i 4 = 7"},
      {"Pad X -> Y pads=2,1 mode=wrap", "X i 1 = 7", "Y i 4 = 7"},
      {"Pad X -> Y pads=7,0 mode=reflect", "X i 3 = 1,2,3", "Y i 10 = 2,3,2,1,2,3,2,1,2,3"},
      {"Pad X -> Y pads=0,6 mode=wrap", "X i 2 = 1,2", "Y i 8 = 1,2,1,2,1,2,1,2"},
      // Elements that are cropped are not repeated.
      {"Pad X -> Y pads=2,-1 mode=edge", "X i 3 = 1,2,3", "Y i 4 = 1,1,1,2"},
      {"Pad X -> Y pads=-1,2 mode=edge", "X i 3 = 1,2,3", "Y i 4 = 2,3,3,3"},
      {"Pad X -> Y pads=-1,2 mode=wrap", "X i 3 = 1,2,3", "Y i 4 = 2,3,2,3"},
      {"Pad X -> Y pads=2,-1 mode=reflect", "X i 3 = 1,2,3", "Y i 4 = 1,2,1,2"},
      {"Pad X -> Y pads=-1,0,1,-1 value=9.0", "X i 3,3 = 1,2,3,4,5,6,7,8,9",
       "Y i 3,2 = 4,5,7,8,9,9"},
      {"Pad X -> Y pads=0,-2,0,1 value=9.0", "X i 2,3 = 1,2,3,4,5,6", "Y i 2,2 = 3,9,6,9"},
      {"Pad X -> Y pads=-1,-1 mode=wrap", "X i 2 = 1,2", "Y i 0"},
      {"Pad X p v a -> Y", "X f 2,2 = 1,2,3,4; p l 2 = 1,0; v f 1 = -5; a i 1 = -1",
       "Y f 2,3 = -5,1,2,-5,3,4"},
      {"CenterCropPad X -> Y shape=2,", "X i 5 = 1,2,3,4,5", "Y i 2 = 2,3"},
      {"CenterCropPad X -> Y shape=4,", "X i 3 = 1,2,3", "Y i 4 = 1,2,3,0"},
      {"CenterCropPad X -> Y shape=6,", "X i 3 = 1,2,3", "Y i 6 = 0,1,2,3,0,0"},
      {"CenterCropPad X -> Y shape=1,3 axes=-1,0", "X i 2,2 = 1,2,3,4", "Y i 3,1 = 1,3,0"},
  });
  ExpectRejected({
      {"Pad X p v -> Y", "X f 2; p l 2 = 1; v f 2",
       "elements of input 2 (value), want one (got 2, want 1)"},
      {"Pad X p v -> Y", "X f 2; p l 2 = 1; v d 1",
       "input 2 (value) has elements of type double, want float as input 0 (X)"},
      {"Pad X -> Y pads=1,0 mode=edge", "X f 0",
       "dim 0 of input 0 of shape [0] padded by 1 and 0 has no elements that could be repeated"},
      {"Pad X -> Y pads=0,1 mode=wrap", "X f 0",
       "dim 0 of input 0 of shape [0] padded by 0 and 1 has no elements that could be repeated"},
      {"Pad X -> Y pads=-2,1 mode=reflect", "X f 2",
       "dim 0 of input 0 of shape [2] padded by -2 and 1 has no elements that could be repeated"},
      {"Pad X -> Y", "X f 2", "argument pads is missing, and input 1 is not given either"},
  });
  ExpectInferred({
      {"Pad X p v a -> Y", "X d 2,3; p l 4; v d 1; a l 2", "double ?"},
      {"Pad X p v a -> Y pads=1,1", "X d 2,3; p l 0; v d 0; a l 1", "double ?"},
      {"Pad X p v a -> Y pads=1,0,0,2", "X d 2,3; p l 0; v d 0; a l 0", "double [3, 5]"},
      {"Pad X -> Y pads=1,2 axes=-1,", "X d 2,3", "double [2, 6]"},
  });
}

TEST(ShapeCallsTest, KeepsTrianglesAndBlocks) {
  const char* const x = "X i 2,2 = 1,2,3,4";
  ExpectResults({
      {"Trilu X -> Y k=-1 upper=0", x, "Y i 2,2 = 0,0,3,0"},
      {"Trilu X -> Y k=-2 upper=0", x, "Y i 2,2 = 0"},
      {"Trilu X -> Y k=-9 upper=0", x, "Y i 2,2 = 0"},
      {"Trilu X -> Y k=1 upper=0", x, "Y i 2,2 = 1,2,3,4"},
      {"Trilu X -> Y k=9 upper=0", x, "Y i 2,2 = 1,2,3,4"},
      {"Trilu X -> Y k=1", x, "Y i 2,2 = 0,2,0,0"},
      {"Trilu X -> Y k=2", x, "Y i 2,2 = 0"},
      {"Trilu X -> Y k=-1", x, "Y i 2,2 = 1,2,3,4"},
      {"Trilu X K -> Y upper=0 k=1", "X i 2,2 = 1,2,3,4; K l 1 = -1", "Y i 2,2 = 0,0,3,0"},
      {"Trilu X -> Y k=-2 upper=0", "X u 3,1 = 1,2,3", "Y u 3,1 = 0,0,3"},
      {"Trilu X -> Y k=-3 upper=0", "X u 3,1 = 1,2,3", "Y u 3,1 = 0"},
      {"Trilu X -> Y k=2", "X u 1,3 = 1,2,3", "Y u 1,3 = 0,0,3"},
      {"Trilu X -> Y k=3", "X u 1,3 = 1,2,3", "Y u 1,3 = 0"},
      {"ONNXSqueeze X -> Y", "X f 1,2,1 = 1,2", "Y f 2 = 1,2"},
      {"ONNXSqueeze X -> Y", "X f 1,1 = 5", "Y f - = 5"},
      {"ONNXSqueeze X A -> Y", "X f 1,2,1 = 1,2; A l 1 = -1", "Y f 1,2 = 1,2"},
      {"Unsqueeze X A -> Y", "X f 2 = 1,2; A i 2 = 0,-1", "Y f 1,2,1 = 1,2"},
  });
  ExpectRejected({
      {"SpaceToDepth X -> Y blocksize=2", "X f 1,1,2,3",
       "input 0 (X) has shape [1, 1, 2, 3], want height and width that are multiples of blocksize "
       "2"},
      {"SpaceToDepth X -> Y blocksize=2", "X f 1,1,3,2",
       "input 0 (X) has shape [1, 1, 3, 2], want height and width that are multiples of blocksize "
       "2"},
      {"DepthToSpace X -> Y blocksize=2", "X f 1,6,1,1",
       "channels of input 0 (X) of shape [1, 6, 1, 1], want a multiple of blocksize * blocksize "
       "(got 2, want 0)"},
  });
}

TEST(ShapeCallsTest, MovesBlocksOfOtherBatchesInALaterRun) {
  for (const char* const type : {"DepthToSpace", "SpaceToDepth"}) {
    SCOPED_TRACE(type);
    Workspace ws;
    const std::string op = MakeString("type: '", type,
                                      "' input: 'X' output: 'Y' arg { name: 'blocksize' i: 2 } "
                                      "device_option {}");
    FeedRange<float>(&ws, "X", {1, 4, 2, 2});
    NetBase* const net = ws.CreateNet(ParseNet("name: 'n' op { " + op + " }"));
    for (const std::vector<int64_t>& dims : std::vector<std::vector<int64_t>>{
             {1, 4, 2, 2}, {3, 4, 2, 2}, {0, 4, 2, 2}, {2, 4, 2, 2}, {2, 8, 2, 2}, {2, 4, 2, 4}}) {
      FeedRange<float>(&ws, "X", dims, 1);
      ASSERT_TRUE(net->Run());
      const std::vector<float> got = Fetch<float>(ws, "Y");
      const std::vector<int64_t> got_dims = DimsOf(ws, "Y");
      RunOp(&ws, op);
      ExpectTensor<float>(ws, "Y", got_dims, got);
    }
  }
}

TEST(ShapeCallsTest, FillsAColumnForEachIdOfARow) {
  ExpectResults({
      {"SparseToDenseMask I V D L -> Y P mask=5,7 return_presence_mask=1",
       "I i 3 = 7,5,5; V f 3 = 1,2,3; D f - = 9; L i 3 = 1,0,2",
       "Y f 3,2 = 9,1,9,9,3,9; P b 3,2 = 0,1,0,0,1,0"},
      {"SparseToDenseMask I V D L -> Y P mask=5,7 return_presence_mask=1",
       "I l 1 = 5; V i 1,2 = 1,2; D i 2 = 8,9; L i 2 = 0,1",
       "Y i 2,2,2 = 8,9,8,9,1,2,8,9; P b 2,2 = 0,0,1,0"},
      {"SparseToDenseMask I V D -> Y P mask=5,7 return_presence_mask=1", "I i 0; V f 0; D f - = 9",
       "Y f 2 = 9; P b 2 = 0"},
      {"SparseToDenseMaskGradient I G L -> D mask=5,7",
       "I l 4 = 5,5,7,5; G f 3,2 = 1,2,3,4,5,6; L i 3 = 1,0,3", "D f 4 = 1,0,6,5"},
  });
}

TEST(ShapeCallsTest, GathersAndAddsSlicesOfOddShapes) {
  ExpectResults({
      {"BatchGatherGradient X I G -> D", "X f 2,3; I i 0; G f 2,0", "D f 2,3 = 0"},
      {"BatchGatherGradient X I G -> D axis=-1", "X f 1,1,3; I l 2 = 2,2; G f 1,1,2 = 4,5",
       "D f 1,1,3 = 0,0,9"},
      {"SparseToDense I V -> Y output_first_dim=1", "I i 0; V f 0,2", "Y f 1,2 = 0"},
      {"SparseToDense I V -> Y output_first_dim=2", "I l 2 = 1,1; V i 2 = 3,4", "Y i 2 = 0,7"},
      {"SparseToDense I V -> Y", "I i 2 = 2,0; V f 2,1 = 3,4", "Y f 3,1 = 4,0,3"},
      {"SparseToDense I V L -> Y", "I i 1 = 1; V f 1,2 = 3,4; L f 3,5", "Y f 3,2 = 0,0,3,4,0,0"},
      {"CopyRowsToTensor X I R -> X", "X i 3,1 = 1,2,3; I l 2 = 2,0; R i 1 = 9", "X i 3,1 = 9,2,9"},
      {"CopyRowsToTensor X I R -> X", "X i 2,2 = 1,2,3,4; I l 2 = 1,1; R i 2 = 8,9",
       "X i 2,2 = 1,2,8,9"},
      {"CopyRowsToTensor X I R -> X", "X f 2,0; I l 1 = 1; R f 0", "X f 2,0"},
      {"TensorScatter X U -> Y axis=-1", "X i 1,2,3 = 1,2,3,4,5,6; U i 1,2,3 = 7,8,9,10,11,12",
       "Y i 1,2,3 = 7,8,9,10,11,12"},
      {"TensorScatter X U S -> Y axis=1 mode=linear",
       "X i 2,3 = 1,2,3,4,5,6; U i 2,1 = 8,9; S l 2 = 2,0", "Y i 2,3 = 1,2,8,9,5,6"},
      {"TensorScatter X U S -> Y axis=1 mode=circular",
       "X i 2,3 = 1,2,3,4,5,6; U i 2,2 = 7,8,9,10; S l 2 = 2,4", "Y i 2,3 = 8,2,7,4,9,10"},
      {"SplitByLengths X L -> A B C axis=0 use_scaling_lengths=1",
       "X i 9 = 1,2,3,4,5,6,7,8,9; L i 3 = 1,0,2", "A i 3 = 1,2,3; B i 0; C i 6 = 4,5,6,7,8,9"},
  });
  ExpectRejected({
      {"BatchGatherGradient X I G -> D", "X f 2,3; I i 2 = 0; G f 2,0",
       "elements of input 2 (the gradient) of shape [2, 0], want 2 slices of 1 for each outer "
       "index of input 0 (DATA) of shape [2, 3] (got 0, want 4)"},
      {"TensorScatter X U -> Y axis=-1", "X f 1,2,3; U f 1,2,4",
       "input 1 (update) has shape [1, 2, 4], want that of input 0 (cache) [1, 2, 3] with at most "
       "the steps of dim 2"},
      {"TensorScatter X U -> Y axis=1", "X f 1,2,3; U f 1,3,3",
       "input 1 (update) has shape [1, 3, 3], want that of input 0 (cache) [1, 2, 3] with at most "
       "the steps of dim 1"},
      {"TensorScatter X U S -> Y axis=1", "X f 2,3; U f 2,2; S l 2 = 1,2",
       "element of input 2 (start) is 2, want at least 0 and at most 1: 2 of 3 steps are written"},
      {"SparseToDense I V -> Y output_first_dim=1", "I i 1 = 1; V f 1,2",
       "index 1 is out of range, want at least 0 and below 1"},
      {"SplitByLengths X L -> A B axis=0 use_scaling_lengths=1", "X i 5; L i 2 = 1,2",
       "size of the dimension, 5, modulo the sum of the lengths, 3: got 2, want 0"},
  });
}

TEST(ShapeCallsTest, ExpandsToShapesOfMoreDimensions) {
  ExpectResults({
      {"Expand X S -> Y", "X f 2 = 1,2; S l 2 = -1,-1", "Y f 1,2 = 1,2"},
      {"Expand X S -> Y", "X f 2,1 = 1,2; S l 3 = 2,-1,2", "Y f 2,2,2 = 1,1,2,2,1,1,2,2"},
      {"Expand X S -> Y", "X i - = 7; S l 1 = 2", "Y i 2 = 7"},
      {"Expand X S -> Y", "X i 2,1 = 7,8; S l 1 = 0", "Y i 2,0"},
      {"ExpandGradient G X -> D", "G f 2,2 = 1,2,3,4; X f 2", "D f 2 = 4,6"},
      {"ExpandGradient G X -> D", "G f 1,3 = 1,2,4; X f 1,1", "D f 1,1 = 7"},
  });
  ExpectRejected({
      {"Expand X S -> Y", "X f 2; S l 1,1 = 2",
       "rank of input 1 (shape) of shape [1, 1]: got 2, want at most 1"},
      {"Expand X S -> Y", "X f 2; S l 1 = -2",
       "X has shape [2], which cannot be broadcast with shape [-2]"},
      {"ExpandGradient G X -> D", "G f 3; X f 1,1",
       "input 0 (dY) has shape [3], want that of X of shape [1, 1] repeated"},
      {"ExpandGradient G X -> D", "G f 1; X f 3",
       "input 0 (dY) has shape [1], want that of X of shape [3] repeated"},
  });
}

TEST(ShapeCallsTest, TransposesOtherShapesInLaterRuns) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3});
  NetBase* const net = ws.CreateNet(
      ParseNet("name: 'n' op { type: 'Transpose' input: 'X' output: 'Y' device_option {} }"));
  for (const std::vector<int64_t>& dims : std::vector<std::vector<int64_t>>{
           {2, 3}, {3, 2}, {6, 1}, {1, 6}, {2, 3}, {0, 6}, {3, 4}, {2, 6}}) {
    SCOPED_TRACE(testing::PrintToString(dims));
    FeedRange<float>(&ws, "X", dims);
    ASSERT_TRUE(net->Run());
    std::vector<float> want;
    for (int64_t j = 0; j < dims[1]; ++j) {
      for (int64_t i = 0; i < dims[0]; ++i) want.push_back(static_cast<float>(i * dims[1] + j));
    }
    ExpectTensor<float>(ws, "Y", {dims[1], dims[0]}, want);
  }
}

TEST(ShapeCallsTest, ScattersFromTheFirstStepWhereNoStartIsGiven) {
  Workspace ws;
  Feed<int32_t>(&ws, "X", {2, 3}, {1, 2, 3, 4, 5, 6});
  Feed<int32_t>(&ws, "U", {2, 1}, {8, 9});
  Feed<int64_t>(&ws, "S", {2}, {2, 1});
  NetBase* const net = ws.CreateNet(
      ParseNet("name: 'n' op { type: 'TensorScatter' input: 'X' input: 'U' input: 'S' output: 'Y' "
               "arg { name: 'axis' i: 1 } device_option {} }"));
  ASSERT_TRUE(net->Run());
  ExpectTensor<int32_t>(ws, "Y", {2, 3}, {1, 2, 8, 4, 9, 6});
  Feed<int64_t>(&ws, "S", {0}, {});
  ASSERT_TRUE(net->Run());
  ExpectTensor<int32_t>(ws, "Y", {2, 3}, {8, 2, 3, 9, 5, 6});
}

TEST(ShapeCallsTest, DifferentiatesByTheInputsThatHoldArguments) {
  EXPECT_EQ(DescribeGradient("type: 'Trilu' input: 'X' input: 'K' output: 'Y'"),
            "Trilu(Y_grad,K)->X_grad | X_grad -");
  EXPECT_EQ(DescribeGradient("type: 'Trilu' input: 'X' output: 'Y'"),
            "Trilu(Y_grad)->X_grad | X_grad");
  EXPECT_EQ(DescribeGradient("type: 'ONNXSqueeze' input: 'X' input: 'A' output: 'Y'"),
            "Unsqueeze(Y_grad,A)->X_grad | X_grad -");
  EXPECT_EQ(DescribeGradient("type: 'Unsqueeze' input: 'X' input: 'A' output: 'Y'"),
            "ONNXSqueeze(Y_grad,A)->X_grad | X_grad -");
  EXPECT_EQ(
      DescribeGradient("type: 'ONNXSqueeze' input: 'X' output: 'Y' arg { name: 'axes' ints: 0 }"),
      "Unsqueeze(Y_grad)->X_grad axes=\"\" | X_grad");
  EXPECT_EQ(DescribeGradient("type: 'Slice' input: 'X' input: 's' input: 'e' output: 'Y'"),
            "SliceGradient(X,s,e,Y_grad)->X_grad | X_grad - -");
  for (const char* const axis : {"-1", "1"}) {
    EXPECT_EQ(DescribeGradient(MakeString("type: 'Gather' input: 'X' input: 'I' output: 'Y' "
                                          "arg { name: 'axis' i: ",
                                          axis, " } arg { name: 'dense_gradient' i: 1 }")),
              MakeString("BatchGatherGradient(X,I,Y_grad)->X_grad axis=", axis,
                         " dense_gradient=1 | X_grad -"));
  }
  for (const char* const type : {"Split", "SplitByLengths"}) {
    const std::string op = MakeString("type: '", type, "' input: 'X'",
                                      type == std::string("Split") ? "" : " input: 'L'",
                                      " output: 'A' output: 'B' output: 'C'");
    const std::string others = type == std::string("Split") ? "" : " -";
    EXPECT_EQ(DescribeGradient(op, {{.dense_ = "a"}, {}, {.dense_ = "c"}}),
              "Concat(a,c)->X_grad,_X_grad_dims | X_grad" + others);
    EXPECT_EQ(DescribeGradient(op, {{}, {.dense_ = "b"}, {}}),
              "Concat(b)->X_grad,_X_grad_dims | X_grad" + others);
  }
}

}  // namespace
}  // namespace caffe2rt::test::shape_calls_test
