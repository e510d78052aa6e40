// Calls at a bound, with an option that is seldom combined, or with inputs that differ from good ones in one thing.
#include <gtest/gtest.h>

#include <string>

#include "tests/operators/common/call_tables.h"
#include "tests/operators/common/failed_runs.h"

namespace caffe2rt::test::rare_calls_test {
namespace {

TEST(RareCallsTest, MoveElements) {
  ExpectResults({
      {"Split X -> A B axis=0 uneven=1 split=1,3", "X f 4 = 1,2,3,4", "A f 1 = 1; B f 3 = 2,3,4"},
      {"Split X -> A B C axis=0 uneven=1", "X f 4 = 1,2,3,4", "A f 2 = 1,2; B f 2 = 3,4; C f 0"},
      {"SplitByLengths X L -> A B axis=0 use_scaling_lengths=1", "X f 3 = 1,2,3; L i 2 = 1,0",
       "A f 3 = 1,2,3; B f 0"},
      {"SplitByLengths X L -> A B axis=0 use_scaling_lengths=1",
       "X f 6 = 1,2,3,4,5,6; L i 4 = 1,0,1,1", "A f 2 = 1,2; B f 4 = 3,4,5,6"},
      {"SparseToDense I V -> Y output_first_dim=1", "I i 2 = 0; V f 2,2 = 1,2,3,4",
       "Y f 1,2 = 4,6"},
      {"CenterCropPad X -> Y shape=2,", "X f 5 = 1,2,3,4,5", "Y f 2 = 2,3"},
      {"CenterCropPad X -> Y shape=4,", "X f 5 = 1,2,3,4,5", "Y f 4 = 1,2,3,4"},
      {"CenterCropPad X -> Y shape=6,", "X f 5 = 1,2,3,4,5", "Y f 6 = 1,2,3,4,5,0"},
      {"CenterCropPad X -> Y shape=7,", "X f 2 = 1,2", "Y f 7 = 0,0,1,2,0,0,0"},
      {"CenterCropPad X -> Y shape=0,", "X f 5", "Y f 0"},
      {"Trilu X -> Y k=-9", "X f 2,2 = 1,2,3,4", "Y f 2,2 = 1,2,3,4"},
      {"Trilu X -> Y k=9", "X f 2,2 = 1,2,3,4", "Y f 2,2 = 0"},
      {"Trilu X -> Y upper=0 k=-9", "X f 2,2 = 1,2,3,4", "Y f 2,2 = 0"},
      {"Trilu X -> Y upper=0 k=9", "X f 2,2 = 1,2,3,4", "Y f 2,2 = 1,2,3,4"},
      {"Trilu X -> Y upper=0 k=-2", "X f 2,3 = 1,2,3,4,5,6", "Y f 2,3 = 0"},
      {"Trilu X -> Y upper=0 k=-1", "X f 2,3 = 1,2,3,4,5,6", "Y f 2,3 = 0,0,0,4,0,0"},
      {"Trilu X -> Y k=2", "X f 2,3 = 1,2,3,4,5,6", "Y f 2,3 = 0,0,3,0,0,0"},
      {"TensorScatter c u s -> Y axis=1 mode=circular",
       "c f 1,3,1 = 1,2,3; u f 1,2,1 = 8,9; s l 1 = 2", "Y f 1,3,1 = 9,2,8"},
      // Each sequence has its start, for all of its heads.
      {"TensorScatter c u s -> Y", "c i 2,2,3,1 = 0; u i 2,2,1,1 = 5,6,7,8; s l 2 = 2,0",
       "Y i 2,2,3,1 = 0,0,5,0,0,6,7,0,0,8,0,0"},
      {"TensorScatter c u s -> Y mode=circular",
       "c i 2,2,3,1 = 0; u i 2,2,2,1 = 1,2,3,4,5,6,7,8; s i 2 = 3,5",
       "Y i 2,2,3,1 = 1,2,0,3,4,0,6,0,5,8,0,7"},
      // Without updates the data stay, without dY the gradient is 0.
      {"ScatterND X I U -> Y", "X f 3,2 = 1,2,3,4,5,6; I l 0,1; U f 0,2; Y f 3,2 = 9",
       "Y f 3,2 = 1,2,3,4,5,6"},
      {"ScatterElements X I U -> Y", "X f 3 = 1,2,3; I l 0; U f 0; Y f 3 = 9", "Y f 3 = 1,2,3"},
      {"ONNXSliceGradient X G -> D starts=1, ends=1,", "X f 3; G f 0; D f 3 = 9", "D f 3 = 0"},
      {"GatherElementsGradient X I G -> D", "X f 3; I l 0; G f 0; D f 3 = 9", "D f 3 = 0"},
      // Of the data only the shape counts.
      {"GatherElementsGradient X I G -> D", "X i 3; I l 2 = 0,2; G f 2 = 5,6", "D f 3 = 5,0,6"},
      // Without rows nothing is read, as in Caffe2.
      {"SparseToDense I V X -> Y", "I i 1 = 5; V f 1,2 = 1,2; X f 0,3", "Y f 0,2"},
      {"Pad X -> Y pads=-1,1 mode=edge", "X f 3 = 1,2,3", "Y f 3 = 2,3,3"},
      {"Pad X -> Y pads=-1,2 mode=wrap", "X f 3 = 1,2,3", "Y f 4 = 2,3,2,3"},
      {"Pad X -> Y pads=2,-1 mode=reflect", "X f 4 = 1,2,3,4", "Y f 5 = 3,2,1,2,3"},
      {"Pad X -> Y pads=-1,2 mode=reflect", "X f 4 = 1,2,3,4", "Y f 5 = 2,3,4,3,2"},
      {"Shape X -> Y start=0 end=-1", "X f 2,3,4", "Y l 2 = 2,3"},
      {"Shape X -> Y start=-2 end=-1", "X f 2,3,4", "Y l 1 = 3"},
      {"Shape X -> Y start=-9 end=9", "X f 2,3,4", "Y l 3 = 2,3,4"},
      {"Shape X -> Y start=2 end=1", "X f 2,3,4", "Y l 0"},
      {"Pad X -> Y pads=1,0 value=-1.0", "X b 1 = 0", "Y b 2 = 1,0"},
      {"Pad X -> Y pads=1,0 value=-3.0", "X i 1 = 7", "Y i 2 = -3,7"},
      {"SliceGradient X G -> D starts=1, ends=3,", "X f 3; G f 2 = 5,6; D f 3 = 9",
       "D f 3 = 0,5,6"},
      {"SliceGradient X G -> D starts=0, ends=2,", "X f 3; G f 2 = 5,6; D f 3 = 9",
       "D f 3 = 5,6,0"},
      {"ONNXWhere C X Y -> Z", "C b 1 = 1; X f 2,0; Y f 1,1", "Z f 2,0"},
      {"OneHot I n -> Y", "I l 2 = 0,1; n l 1 = 0", "Y f 2,0"},
      {"Where C X Z -> Y broadcast_on_rows=1",
       "C b 2 = 1,0; X f 2,1,2 = 1,2,3,4; Z f 2,1,2 = 5,6,7,8", "Y f 2,1,2 = 1,2,7,8"},
      {"Cast X -> Y to=int32", "X f 2 = 1.5,-2", "Y i 2 = 1,-2"},
      {"Cast X -> Y to=Double", "X f 2 = 1.5,-2", "Y d 2 = 1.5,-2"},
      {"BooleanMask X M -> Y I", "X f 3 = 1,2,3; M b 3 = 1,0,1", "Y f 2 = 1,3; I l 2 = 0,2"},
  });
}

// The elements are 0 to 31: element [a, b, c, d, e] is 16 a + 8 b + 4 c + 2 d + e.
TEST(RareCallsTest, ReduceAlternatingDimensions) {
  const std::string x =
      "X f 2,2,2,2,2 = 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,"
      "28,29,30,31";
  ExpectResults({
      {"ReduceSum X -> Y axes=0,2,4 keepdims=0", x, "Y f 2,2 = 84,100,148,164"},
      {"ReduceSum X -> Y axes=1,3 keepdims=0", x, "Y f 2,2,2 = 20,24,36,40,84,88,100,104"},
      {"ReduceMax X -> Y axes=0,2,4", x, "Y f 1,2,1,2,1 = 21,23,29,31"},
      {"ReduceMin X -> Y axes=1,3", x, "Y f 2,1,2,1,2 = 0,1,4,5,16,17,20,21"},
      {"ReduceMean X -> Y axes=1,3 keepdims=0", x, "Y f 2,2,2 = 5,6,9,10,21,22,25,26"},
      {"SumReduceLike A B -> Y", "A f 3 = 1,2,3; B f -; Y f 2 = 9", "Y f - = 6"},
      {"CumProd X a -> Y exclusive=1", "X f 3 = 2,3,4; a i - = 0", "Y f 3 = 1,2,6"},
      {"CumProd X a -> Y exclusive=1 reverse=1", "X f 3 = 2,3,4; a i - = 0", "Y f 3 = 12,4,1"},
      {"CumSum X a -> Y exclusive=1 reverse=1", "X l 3 = 2,3,4; a i - = 0", "Y l 3 = 7,4,0"},
      {"ONNXPow A B -> Y", "A f 2 = -2,-3; B d 1 = 3", "Y f 2 = -8,-27"},
      {"ONNXPow A B -> Y", "A f 2 = -2,-3; B f 1 = 3", "Y f 2 = -8,-27"},
      // A block of the sum has 2048 elements.
      {"WeightedSum A u B v C w -> Y",
       "A f 5000 = 1; u f 1 = 1; B f 5000 = 2; v f 1 = 2; C f 5000 = 3; w f 1 = 3",
       "Y f 5000 = 14"},
  });
}

TEST(RareCallsTest, LossesWithWeightsAndIgnoredLabels) {
  ExpectResults({
      {"SoftmaxWithLoss X T W -> S L", "X f 1,2 = 0; T i 1 = 0; W f 1 = 1e-9",
       "S f 1,2 = 0.5; L f - = 0.69314718"},
      {"SoftmaxWithLoss X T W -> S L", "X f 1,2 = 0; T i 1 = 0; W f 1 = 0", "L f - = 0"},
      // Without a positive sum of weights there is no gradient.
      {"SoftmaxWithLossGradient X T W S G -> D",
       "X f 1,2 = 0; T i 1 = 0; W f 1 = -1; S f 1,2 = 0.5; G f - = 1", "D f 1,2 = 0"},
      {"SoftmaxWithLossGradient X T W S G -> D average_by_batch_size=1",
       "X f 2,2 = 0; T i 2 = 0; W f 2 = 3; S f 2,2 = 0.5; G f - = 1", "D f 2,2 = -0.75,0.75"},
      {"SpatialSoftmaxWithLossGradient X T S G -> D",
       "X f 1,2,1,2 = 0; T i 1,1,2 = -1,0; S f 1,2,1,2 = 0.5; G f - = 1",
       "D f 1,2,1,2 = 0,-0.5,0,0.5"},
      // At the margin the loss is 0, and still has a gradient.
      {"MarginRankingCriterionGradient A B S G -> D E margin=1.0",
       "A f 3 = 1,2,0; B f 3 = 0; S i 3 = 1; G f 3 = 5", "D f 3 = -5,0,-5; E f 3 = 5,0,5"},
      {"MarginRankingCriterion A B S -> Y margin=1.0", "A f 3 = 1,2,0; B f 3 = 0; S i 3 = 1",
       "Y f 3 = 0,0,1"},
  });
  ExpectRejectedWith({
      {"SoftmaxWithLoss X T -> S L label_prob=1", "X f 1,2 = 0; T f 1,2 = -0.5,1.5",
       "element 0 of input 1 (labels) is -0.5"},
      {"SoftmaxWithLoss X T -> S L label_prob=1", "X f 1,2 = 0; T f 1,2 = 0.5,0.4995",
       "the label probabilities of row 0 do not add up to 1"},
      {"SpatialSoftmaxWithLoss X T -> S L", "X f 1,2,1,1 = 0; T i 1,1,1 = -2",
       "element 0 of input 1 (labels) is -2, want 0 to below 2 classes, or -1 to ignore it"},
      {"SpatialSoftmaxWithLossGradient X T S G -> D",
       "X f 1,2,1,1 = 0; T i 1,1,1 = -2; S f 1,2,1,1 = 0.5; G f - = 1",
       "element 0 of input 1 (labels) is -2"},
      {"LabelCrossEntropyGradient X T G -> D", "X f 2,3; T i 2 = 0; G f 2,1", "[2, 1]"},
      {"SigmoidCrossEntropyWithLogitsGradient G X T -> D", "G f 3; X f 2,2; T f 2,2",
       "elements of input 0 (dY) of shape [3]"},
  });
}

TEST(RareCallsTest, ListsAndSegments) {
  ExpectResults({
      {"GatherPadding X L -> P Q padding_width=0", "X f 3; L i 1 = 3; P l - = 9; Q l - = 9",
       "P l - = 0; Q l - = 0"},
      {"ReversePackedSegs X L -> Y", "X f 2,2,1 = 1,2,3,4; L i 2 = -1,2", "Y f 2,2,1 = 1,4,3,2"},
      {"AddPadding X L -> Y", "X f 3 = 1,2,3; L i 1 = 2; Y f 5 = 9", "Y f 5 = 0,1,2,0,0"},
      {"AddPadding X L -> Y M padding_width=2 end_padding_width=0", "X f 2 = 1,2; L i 2 = 1",
       "Y f 6 = 0,0,1,0,0,2; M i 2 = 3"},
      {"RemovePadding X L -> Y", "X f 5 = 1,2,3,4,5; L i 1 = 3; Y f 3 = 9", "Y f 3 = 2,0,0"},
      {"LengthsToWeights L -> Y power=0.0", "L i 2 = 2,3", "Y f 5 = 1"},
      {"SequenceMask X L -> Y mode=sequence fill_val=-1.0", "X f 1,1 = 5; L i 1 = 0",
       "Y f 1,1 = -1"},
      {"SequenceMask X L -> Y mode=sequence fill_val=-1.0", "X f 1,1 = 5; L i 1 = 1",
       "Y f 1,1 = 5"},
      {"Range a b s -> Y", "a i - = 0; b i - = 5; s i - = -2", "Y i 0"},
      {"Range a b s -> Y", "a i - = 5; b i - = 0; s i - = 2", "Y i 0"},
      {"Range a b s -> Y", "a l - = 5; b l - = 0; s l - = -2", "Y l 3 = 5,3,1"},
      {"Range a b s -> Y", "a i - = 1; b i - = 6; s i - = 5", "Y i 1 = 1"},
      {"EyeLike X -> Y k=-2", "X f 2,2; Y f 2,2 = 9", "Y f 2,2 = 0"},
      {"EyeLike X -> Y k=-1", "X f 2,2", "Y f 2,2 = 0,0,1,0"},
      {"EyeLike X -> Y k=2", "X f 2,3", "Y f 2,3 = 0,0,1,0,0,0"},
      {"ConstantFill -> Y shape=2, value=3", "", "Y l 2 = 3"},
      {"ConstantFill -> Y shape=2, value=3.0", "", "Y f 2 = 3"},
      {"ConstantFill -> Y shape=2,", "", "Y f 2 = 0"},
      {"UniformFill X a b -> Y", "X f 3; a f 1 = 2; b f 1 = 2", "Y f 3 = 2"},
      {"UniformFill X a b -> Y", "X f 3,2; a f 1 = 2; b f 1 = 1", "Y f 0,2"},
  });
  ExpectRejectedWith({
      {"SortedSegmentSum X I -> Y", "X f 3,2; I i 3 = 0,1,0", "element 2"},
      {"SortedSegmentSum X I -> Y", "X f 3,2; I i 3 = 0,2,2", "element 1"},
      {"SparseUnsortedSegmentSum X I S -> Y", "X f 3,0; I l 1 = 5; S i 1 = 0",
       "element 0 of input INDICES is 5"},
      {"AddPadding X L -> Y", "X f 2; L i 1 = 3", "sum of input 1 (lengths), want at most dim 0"},
      {"RemovePadding X L -> Y", "X f 2; L i 1 = 3",
       "sum of input 1 (lengths), want at most dim 0"},
      {"LengthsRangeFill L -> Y", "L i 1,2 = 1", "rank of input 0 (lengths), want a vector"},
      {"VariableLengthSequencePadding X L -> Y", "X f 2,2; L i 2 = 1", "rank of input 0 (X)"},
      {"ConstantFill -> Y input_as_shape=1", "x f 1",
       "argument input_as_shape is set but there is no input"},
      {"GivenTensorIntFill -> Y shape=1, values=3000000000,", "x f 1",
       "element of argument values"},
      {"Iter n -> n", "n l 1 = -1", "the previous iteration"},
      {"EnsureClipped P I G -> P", "P f 3,2; I i 1 = 0; G f 1,3",
       "elements in a row of input 2 (grad)"},
      {"Adam P M N G L T -> P M N", "P f 2; M f 2; N f 3; G f 2; L f 1; T l 1 = 0",
       "elements of input 2 (moment_2)"},
  });
}

TEST(RareCallsTest, RejectInputsThatDoNotFit) {
  ExpectRejectedWith({
      {"ResizeLike X L -> Y", "X f 2; L f 0", "elements of input 0 of shape [2]"},
      {"Split X -> A B axis=0 split=-1,5", "X f 4", "size in split, want at least 0"},
      {"TileGradient G -> D tiles=0 axis=0", "G f 2", "tiles, want at least 1"},
      {"Squeeze X -> Y dims=1,", "X f 2", "want more than the largest of argument dims"},
      {"Pad X -> Y pads=1,0 value=0.5", "X i 1", "argument value is 0.5, want a number of type"},
      {"CenterCropPad X -> Y shape=-1,", "X f 5", "element 0 of shape"},
      {"SliceGradient X G -> D starts=1, ends=3,", "X f 3; G f 3",
       "elements of input 1 (dY) of shape [3]"},
      {"RowwiseMax X -> Y", "X f 1,2,0", "want at least one element in each row or column"},
      {"ColwiseMax X -> Y", "X f 1,0,2", "want at least one element in each row or column"},
      {"ONNXWhere C X Y -> Z", "C b 1 = 1; X f 1; Y i 1 = 1", "input 2 (Y) has elements of type"},
      {"TopKGradient G I X -> D", "G f 2,1; I l 1,2 = 0; X f 2,3",
       "input 1 (Indices) has shape [1, 2], want that of input 0 (dY) [2, 1]"},
      {"Conditional C X Z -> Y", "C b 2 = 1; X f 2,3; Z f 3,2", "input 2 (Z) has shape [3, 2]"},
      {"NanCheck X -> Y", "X f 2 = 1,-inf", "holds -inf at element 1"},
      {"ElementwiseLinear X w b -> Y", "X f 2,3; w f 3; b f 4", "(b)"},
      {"PRelu X W -> Y", "X f 1,3,2; W f 5", "want 3 slopes"},
      {"PRelu X W -> Y", "X f 3; W f 1", "rank of input 0 (X)"},
      {"Pow A B -> Y axis=0", "A f 2; B f 2", "argument axis is 0"},
      {"Pow A B -> Y", "A f 2,3; B f 3", "or the argument broadcast"},
      {"WeightedSumGradient G A w -> D E grad_on_w=1", "G f 2; A f 3; w f 1",
       "elements of input 1 of shape [3]"},
      {"SparseToDense I V X -> Y output_first_dim=3", "I i 1 = 0; V f 1,2; X f 3",
       "output_first_dim"},
  });
}

TEST(RareCallsTest, InferShapes) {
  ExpectInferred({
      {"Reshape X -> Y o shape=0,3 allowzero=1", "X f 5,0", "float [0, 3]; int64 [2]"},
      {"UnsortedSegmentSum X I -> Y num_segments=0", "X f 3,2; I i 3 = 0", "float [0, 2]"},
      {"PackSegments L X -> Y M max_length=2", "L i 1 = 1; X f 1,3", "float [1, 2, 3]; ? ?"},
      {"PackSegments L X -> Y", "L i 1 = 1; X f 1,3", "? ?"},
      {"AddPadding X L -> Y", "X f 3; L i ?", "? ?"},
      {"AddPadding X -> Y", "X f 3", "float [5]"},
      {"ConstantFill X -> Y input_as_shape=1", "X l 2 = 3", "float ?"},
      {"ConstantFill X -> Y extra_shape=4,", "X l 2 = 3", "float [2, 4]"},
      {"WeightedSumGradient G A v B w -> C D E F grad_on_w=1", "G f 2; A f 2; v f 1; B f 2; w f 1",
       "float [2]; float [2]; float [1]; float [1]"},
      {"WeightedSumGradient G A v B w -> C D", "G f 2; A f 2; v f 1; B f 2; w f 1",
       "float [2]; float [2]"},
      {"MultiClassAccuracy P L -> A N", "P f 4,3; L i 4 = 0", "float [3]; int32 [3]"},
      {"LengthsToOffsets L -> O include_last_offset=1", "L i 3 = 1", "int32 [4]"},
      {"LengthsToOffsets L -> O", "L i 3 = 1", "int32 [3]"},
      {"Split X s -> A B axis=0 add_axis=1", "X f 2,3; s i 2 = 1", "float [3]; float [3]"},
  });
}

TEST(RareCallsTest, LearningRates) {
  const std::string alter =
      "LearningRate n -> r policy=alter active_first=0 active_period=2 inactive_period=3 "
      "base_lr=1.0";
  ExpectResults({
      {alter, "n l 1 = 2", "r f - = 0"},
      {alter, "n l 1 = 3", "r f - = 1"},
      {alter, "n l 1 = 4", "r f - = 1"},
      {alter, "n l 1 = 5", "r f - = 0"},
      {"LearningRate n -> r policy=hill num_iter=1 start_multiplier=0.5 gamma=1.0 power=1.0 "
       "end_multiplier=0.25 base_lr=1.0",
       "n l 1 = 100", "r f - = 0.25"},
      {"LearningRate n -> r policy=hill num_iter=1 start_multiplier=0.5 gamma=1.0 power=1.0 "
       "end_multiplier=0.25 base_lr=1.0",
       "n l 1 = 2", "r f - = 0.5"},
      // The divisor is 1 + 1.
      {"Wngrad P B G L -> P B epsilon=1.0", "P f 1 = 1; B f 1 = 1; G f 1 = 1; L f 1 = 4",
       "P f 1 = 3; B f 1 = 1.5"},
      {"WeightScale w n -> v stepsize=2 scale=3.0", "w f 2 = 1,2; n l 1 = 0", "v f 2 = 1,2"},
      {"WeightScale w n -> v stepsize=2 scale=3.0", "w f 2 = 1,2; n l 1 = 1", "v f 2 = 3,6"},
      // The step has the shape of the gradient: 2 / sqrt(4).
      {"Adam P M N G L T -> Q R S U beta1=0.0 beta2=0.0 epsilon=0.0",
       "P f 4 = 1; M f 1,4 = 0; N f 4,1 = 0; G f 2,2 = 2; L f 1 = 1; T l 1 = 0",
       "Q f 4 = 2; R f 1,4 = 2; S f 4,1 = 4; U f 2,2 = 1"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::rare_calls_test
