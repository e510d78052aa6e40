// Whole messages of the operators of this folder, shapes next to the bounds, and inferred shapes.
#include <gtest/gtest.h>

#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::norm_calls_test {
namespace {

TEST(NormRefusalsTest, OfChannelsNameRanksAndSizes) {
  ExpectRejected({
      {"GroupNorm X g b -> Y", "X f 4; g f 4; b f 4",
       "rank of input 0 (X) of shape [4], want at least 2: batch and channels (got 1, want at "
       "least "
       "2)"},
      {"GroupNorm X g b -> Y group=3", "X f 2,4; g f 4; b f 4",
       "remainder of the channels of input 0 (X) of shape [2, 4] divided by argument group 3, want "
       "0 "
       "(got 1, want 0)"},
      {"GroupNorm X g b -> Y group=0", "X f 2,4; g f 4; b f 4",
       "argument \"group\" is 0, want above 0"},
      {"GroupNorm X g b -> Y group=2", "X f 2,4; g f 3; b f 4",
       "elements of input 1 (gamma) of shape [3], want one for each channel of input 0 (X) (got 3, "
       "want 4)"},
      {"GroupNorm X g b -> Y group=2", "X f 2,4; g f 4; b f 5",
       "elements of input 2 (beta) of shape [5], want one for each channel of input 0 (X) (got 5, "
       "want 4)"},
      {"GroupNorm X g b -> Y group=2", "X f 2,4; g d 4; b f 4",
       "the tensor holds elements of type double, want float"},
      {"GroupNorm X g b -> Y group=2 order=NHWC", "X f 2,4,3; g f 4; b f 4",
       "remainder of the channels of input 0 (X) of shape [2, 4, 3] divided by argument group 2, "
       "want "
       "0 (got 1, want 0)"},
      {"GroupNorm X g b -> Y order=CHWN", "X f 2,4; g f 4; b f 4",
       "argument \"order\" is \"CHWN\", want NCHW or NHWC"},
      {"InstanceNorm X s b -> Y", "X f 2,3,4; s f 4; b f 3",
       "elements of input 1 (scale) of shape [4], want one for each channel of input 0 (X) (got 4, "
       "want 3)"},
      {"InstanceNorm X s b -> Y order=NHWC", "X f 2,3,4; s f 4; b f 3",
       "elements of input 2 (bias) of shape [3], want one for each channel of input 0 (X) (got 3, "
       "want 4)"},
      {"InstanceNorm X s b -> Y epsilon=-0.5", "X f 2,3; s f 3; b f 3",
       "argument \"epsilon\" is -0.5, want at least 0"},
      {"ChannelStats X -> s q", "X f 3",
       "rank of input 0 (X) of shape [3], want at least 2: batch and channels (got 1, want at "
       "least "
       "2)"},
      {"ChannelBackpropStats X m i G -> s b", "X f 2,3; m f 3; i f 3; G f 2,3",
       "rank of input 0 (X) of shape [2, 3], want at least 3 (got 2, want at least 3)"},
      {"ChannelBackpropStats X m i G -> s b", "X f 2,3,1; m f 3; i f 3; G f 2,3,2",
       "elements of input 3 (output_grad) of shape [2, 3, 2], want as many as input 0 (X) of shape "
       "[2, "
       "3, 1] (got 12, want 6)"},
      {"BatchMoments X -> m v", "X f 3",
       "rank of input 0 (X) of shape [3]: got 1, want at least 2"},
      {"BatchMomentsGradient m v X -> D", "m f 3; v f 3; X f 3",
       "rank of input 2 (X) of shape [3]: got 1, want at least 2"},
      {"BatchMomentsGradient m v X -> D", "m f 2; v f 3; X f 2,3",
       "elements of input 0, want the channels of input 2 (X) of shape [2, 3] (got 2, want 3)"},
      {"BatchMomentsGradient m v X -> D order=NHWC", "m f 4; v f 3; X f 2,3,4",
       "elements of input 1, want the channels of input 2 (X) of shape [2, 3, 4] (got 3, want 4)"},
      {"BatchMomentsGradient m v X -> D", "m f 3; v d 3; X f 2,3",
       "the tensor holds elements of type double, want float"},
  });
}

TEST(NormRefusalsTest, OfSpatialBnNameOutputsAndChannels) {
  const char* const test = "SpatialBN X s b m v -> Y is_test=1";
  ExpectRejected({
      {"SpatialBN X s b m v -> Y", "X f 2,3; s f 3; b f 3; m f 3; v f 3",
       "argument \"is_test\" is required but missing"},
      {"SpatialBN X s b m v -> Y m v d e is_test=1", "X f 2,3; s f 3; b f 3; m f 3; v f 3",
       "outputs with is_test 1: 1 in testing, 5 in training: got 5, want 1"},
      {"SpatialBN X s b m v -> Y is_test=0", "X f 2,3; s f 3; b f 3; m f 3; v f 3",
       "outputs with is_test 0: 1 in testing, 5 in training: got 1, want 5"},
      {"SpatialBN X s b m v -> Y m v d e is_test=0 num_batches=2",
       "X f 2,3; s f 3; b f 3; m f 3; v f 3",
       "argument num_batches is 2 and the operator has 5 inputs, want 7: inputs 5 and 6 are the "
       "sums "
       "over the batches"},
      {"SpatialBN X s b m v -> Y is_test=1 epsilon=0.", "X f 2,3; s f 3; b f 3; m f 3; v f 3",
       "argument \"epsilon\" is 0, want above 0"},
      {"SpatialBN X s b m v -> Y is_test=1 momentum=1.5", "X f 2,3; s f 3; b f 3; m f 3; v f 3",
       "argument \"momentum\" is 1.5, want 0 to 1"},
      {"SpatialBN X s b m v -> Y is_test=1 momentum=-0.5", "X f 2,3; s f 3; b f 3; m f 3; v f 3",
       "argument \"momentum\" is -0.5, want 0 to 1"},
      {test, "X f 3; s f 3; b f 3; m f 3; v f 3",
       "rank of input 0 (X) of shape [3], want at least 2: batch and channels (got 1, want at "
       "least "
       "2)"},
      {test, "X f 2,0; s f 0; b f 0; m f 0; v f 0",
       "channels of input 0 (X) of shape [2, 0], want at least 1 (got 0, want more than 0)"},
      {test, "X d 2,3; s f 3; b f 3; m f 3; v f 3",
       "Unsupported type of tensor: input 0 (X) holds double, want float"},
      {test, "X f 2,3; s f 2; b f 3; m f 3; v f 3",
       "elements of input 1 (scale) of shape [2], want one for each channel of input 0 (X) (got 2, "
       "want 3)"},
      {test, "X f 2,3; s f 3; b f 1,4; m f 3; v f 3",
       "elements of input 2 (bias) of shape [1, 4], want one for each channel of input 0 (X) (got "
       "4, "
       "want 3)"},
      {test, "X f 2,3; s f 3; b f 3; m f 2; v f 3",
       "elements of input 3 (mean) of shape [2], want one for each channel of input 0 (X) (got 2, "
       "want "
       "3)"},
      {test, "X f 2,3; s f 3; b f 3; m f 3; v f 0",
       "elements of input 4 (var) of shape [0], want one for each channel of input 0 (X) (got 0, "
       "want "
       "3)"},
      {test, "X f 2,3,0; s f 3; b f 3; m f 2; v f 3",
       "elements of input 3 (mean) of shape [2], want one for each channel of input 0 (X) (got 2, "
       "want 3)"},
      {"SpatialBN X s b m v p q -> Y m v d e is_test=0 num_batches=2",
       "X f 2,3; s f 3; b f 3; m f 3; v f 3; p f 2; q f 3",
       "elements of input 5 (sums) of shape [2], want one for each channel of input 0 (X) (got 2, "
       "want "
       "3)"},
      {"SpatialBN X s b m v p q -> Y m v d e is_test=0 num_batches=2",
       "X f 2,3; s f 3; b f 3; m f 3; v f 3; p f 3; q f 2",
       "elements of input 6 (sumsq) of shape [2], want one for each channel of input 0 (X) (got 2, "
       "want 3)"},
      {"SpatialBNFusion X s b m v -> Y is_test=0", "X f 2,3; s f 3; b f 3; m f 3; v f 3",
       "outputs with is_test 0: 1 in testing, 5 in training: got 1, want 5"},
  });
}

TEST(NormRefusalsTest, OfGradientsNameWhatDoesNotFit) {
  const char* const batch = "SpatialBNGradient X s G m i -> D E F";
  const char* const group = "GroupNormGradient G X g b m i -> D E F group=2";
  ExpectRejected({
      {batch, "X f 2,3; s f 3; G f 2,3; m f 3; i f 3",
       "rank of input 0 (X) of shape [2, 3], want at least 3 (got 2, want at least 3)"},
      {batch, "X f 2,3,1; s f 3; G f 2,3; m f 2; i f 3",
       "elements of input 3 (mean) of shape [2], want one for each channel of input 0 (X) (got 2, "
       "want "
       "3)"},
      {batch, "X f 2,3,1; s f 3; G f 2,2; m f 3; i f 3",
       "elements of input 2 (dY) of shape [2, 2], want as many as input 0 (X) of shape [2, 3, 1] "
       "(got "
       "4, want 6)"},
      {batch, "X f 2,3,1; s f 2; G f 2,3; m f 3; i f 3",
       "elements of input 1 (scale) of shape [2], want one for each channel of input 0 (X) (got 2, "
       "want 3)"},
      {batch, "X f 2,3,1; s f 3; G f 2,3; m f 3; i f 2",
       "elements of input 4 (inv) of shape [2], want one for each channel of input 0 (X) (got 2, "
       "want "
       "3)"},
      {"SpatialBNGradient X s G m v -> D E F is_test=1", "X f 2,3,1; s f 3; G f 2,3; m f 3; v f 2",
       "elements of input 4 (var) of shape [2], want one for each channel of input 0 (X) (got 2, "
       "want "
       "3)"},
      {"SpatialBNGradient X s G m i -> D E F num_batches=3",
       "X f 2,3,1; s f 3; G f 2,3; m f 3; i f 3",
       "argument num_batches is 3 and the operator has 5 inputs, want 7: inputs 5 and 6 are the "
       "sums "
       "over the batches"},
      {"SpatialBNGradient X s G m i p q -> D E F num_batches=3",
       "X f 2,3,1; s f 3; G f 2,3; m f 3; i f 3; p f 2; q f 3",
       "elements of input 5 (dscale_sum) of shape [2], want one for each channel of input 0 (X) "
       "(got "
       "2, want 3)"},
      {"SpatialBNGradient X s G m i p q -> D E F num_batches=3",
       "X f 2,3,1; s f 3; G f 2,3; m f 3; i f 3; p f 3; q f 2",
       "elements of input 6 (dbias_sum) of shape [2], want one for each channel of input 0 (X) "
       "(got 2, "
       "want 3)"},
      {group, "G f 2,4; X f 4; g f 4; b f 4; m f 2,2; i f 2,2",
       "rank of input 1 (X) of shape [4], want at least 2 (got 1, want at least 2)"},
      {group, "G f 2,4; X f 2,5; g f 4; b f 4; m f 2,2; i f 2,2",
       "remainder of the channels of input 1 (X) of shape [2, 5] divided by argument group 2, want "
       "0 "
       "(got 1, want 0)"},
      {group, "G f 2,4; X f 2,4; g f 4; b f 3; m f 2,2; i f 2,2",
       "elements of input 3 (beta) of shape [3], want one for each channel of input 1 (X) (got 3, "
       "want 4)"},
      {group, "G f 2,3; X f 2,4; g f 4; b f 4; m f 2,2; i f 2,2",
       "elements of input 0 (dY) of shape [2, 3], want as many as input 1 (X) of shape [2, 4] (got "
       "6, "
       "want 8)"},
      {group, "G f 2,4; X f 2,4; g f 3; b f 4; m f 2,2; i f 2,2",
       "elements of input 2 (gamma) of shape [3], want one for each channel of input 1 (X) (got 3, "
       "want "
       "4)"},
      {group, "G f 2,4; X f 2,4; g f 4; b f 4; m f 2,3; i f 2,2",
       "elements of input 4 (mean) of shape [2, 3], want 2 for each image of input 1 (X) (got 6, "
       "want "
       "4)"},
      {group, "G f 2,4; X f 2,4; g f 4; b f 4; m f 2,2; i f 2",
       "elements of input 5 (inv_std) of shape [2], want 2 for each image of input 1 (X) (got 2, "
       "want "
       "4)"},
      {"InstanceNormGradient X s b G -> D E F", "X f 2,3; s f 3; b f 3; G f 3",
       "elements of input 3 (dY) of shape [3], want as many as input 0 (X) of shape [2, 3] (got 3, "
       "want "
       "6)"},
      {"InstanceNormGradient X s b G -> D E F", "X f 2,3; s f 2; b f 3; G f 2,3",
       "elements of input 1 (scale) of shape [2], want one for each channel of input 0 (X) (got 2, "
       "want "
       "3)"},
      {"InstanceNormGradient X s b G m i -> D E F",
       "X f 2,3; s f 3; b f 3; G f 2,3; m f 3; i f 2,3",
       "elements of input 4 (saved_mean) of shape [3], want one for each image and channel of "
       "input 0 "
       "(X) (got 3, want 6)"},
      {"InstanceNormGradient X s b G m i -> D E F",
       "X f 2,3; s f 3; b f 3; G f 2,3; m f 2,3; i f 2,3,2",
       "elements of input 5 (saved_inv_stdev) of shape [2, 3, 2], want one for each image and "
       "channel of "
       "input 0 (X) (got 12, want 6)"},
      {"SoftmaxGradient Y G -> D", "Y f 2,3; G f 3",
       "elements of input 1 (dY) of shape [3], want as many as input 0 (Y) of shape [2, 3] (got 3, "
       "want "
       "6)"},
      {"NormalizeGradient X G -> D", "X f 2,3; G f 4",
       "elements of input 1 (dY) of shape [4], want as many as input 0 (X) of shape [2, 3] (got 4, "
       "want "
       "6)"},
      {"LRNGradient X Y G -> D size=1", "X f 1,2,1,1; Y f 3; G f 2",
       "elements of input 1 (Y) of shape [3], want as many as input 0 (X) of shape [1, 2, 1, 1] "
       "(got 3, "
       "want 2)"},
      {"LRNGradient X Y G -> D size=1", "X f 1,2,1,1; Y f 2; G f 3",
       "elements of input 2 (dY) of shape [3], want as many as input 0 (X) of shape [1, 2, 1, 1] "
       "(got "
       "3, want 2)"},
      {"LRNGradient X Y G -> D size=1", "X f 2; Y f 2; G f 2",
       "rank of input 0 (X) of shape [2], want 4 (got 1, want 4)"},
      {"LpNormGradient X G -> D", "X f 2; G f 2",
       "elements of input 1 (dout) of shape [2]: got 2, want 1"},
      {"LpNormGradient X G -> D average=1", "X f 0; G f 1",
       "elements of input 0 (X) of shape [0], want at least 1 with argument average (got 0, want "
       "more "
       "than 0)"},
  });
}

TEST(NormRefusalsTest, OfLayersNameInputsAndAxes) {
  const char* const layer = "LayerNorm X g b -> Y m s elementwise_affine=1";
  const char* const gradient = "LayerNormGradient G Y m s X -> D";
  ExpectRejected({
      {"LayerNorm X -> Y m s elementwise_affine=1", "X f 2,3",
       "the operator has 1 input, want 3 with elementwise_affine: X, gamma, beta"},
      {"LayerNorm X -> Y m s", "X f 3",
       "rank of input 0 (X) of shape [3], want at least 2 (got 1, want at least 2)"},
      {"LayerNorm X -> Y m s", "X i 2,3",
       "Unsupported type of tensor: input 0 (X) has elements of type int32, want float, double"},
      {layer, "X f 2,3; g f 2; b f 3",
       "elements of input 1 (gamma) of shape [2], want those of input 0 (X) from axis on (got 2, "
       "want "
       "3)"},
      {layer, "X f 2,3; g f 3; b f 3,2",
       "elements of input 2 (beta) of shape [3, 2], want those of input 0 (X) from axis on (got 6, "
       "want "
       "3)"},
      {layer, "X d 2,3; g f 3; b d 3", "the tensor holds elements of type float, want double"},
      {"LayerNormGradient G Y m s X -> D elementwise_affine=1",
       "G f 2,3; Y f 2,3; m f 2; s f 2; X f 2,3",
       "the operator has 5 inputs and 1 output, want 6 and 3 with elementwise_affine"},
      {"LayerNormGradient G Y m s X g -> D elementwise_affine=1",
       "G f 2,3; Y f 2,3; m f 2; s f 2; X f 2,3; g f 3",
       "the operator has 6 inputs and 1 output, want 6 and 3 with elementwise_affine"},
      {gradient, "G f 2,2; Y f 1; m f 2; s f 2; X f 2,3",
       "elements of input 0 (dY) of shape [2, 2], for input 4 (X) of shape [2, 3] and axis 1: got "
       "4, "
       "want 6"},
      {gradient, "G f 2,3; Y f 1; m f 3; s f 2; X f 2,3",
       "elements of input 2 (mean) of shape [3], for input 4 (X) of shape [2, 3] and axis 1: got "
       "3, want "
       "2"},
      {gradient, "G f 2,3; Y f 1; m f 2; s f 1; X f 2,3",
       "elements of input 3 (std) of shape [1], for input 4 (X) of shape [2, 3] and axis 1: got 1, "
       "want "
       "2"},
      {"LayerNormGradient G Y m s X g -> D E F elementwise_affine=1 axis=-1",
       "G f 2,3; Y f 1; m f 2; s f 2; X f 2,3; g f 2",
       "elements of input 5 (gamma) of shape [2], for input 4 (X) of shape [2, 3] and axis -1: got "
       "2, "
       "want 3"},
      {"LayerNormFusion X g b -> Y axis=-1", "X f 2,3; g f 2; b f 3",
       "elements of input 1 (gamma) of shape [2], want those of the rows of input 0 (X) of shape "
       "[2, 3] "
       "from axis -1 on (got 2, want 3)"},
      {"LayerNormFusion X g b -> Y", "X f 2,3; g f 3; b f 1",
       "elements of input 2 (beta) of shape [1], want those of the rows of input 0 (X) of shape "
       "[2, 3] "
       "from axis 1 on (got 1, want 3)"},
      {"LayerNormFusion X g b -> Y least_rank=2 axis=0", "X f 3; g f 3; b f 3",
       "rank of input 0 (X) of shape [3]: got 1, want at least 2"},
      {"LayerNormFusion X g b -> Y axis=-1 broadcast_last=1", "X f 2,1; g f 3; b f 2",
       "elements of input 2 (beta) of shape [2], want those of the rows of input 0 (X) of shape "
       "[2, 1] "
       "from axis -1 on (got 2, want 3)"},
      {"LayerNormFusion X g b R -> Y", "X f 2,3; g f 3; b f 3; R f 2",
       "input 1 (B) has shape [2], which does not fit input 0 (A) [2, 3]: counted from the end, "
       "dimensions must be equal or 1"},
      {"LRN X -> Y size=3", "X f 2,3",
       "rank of input 0 (X) of shape [2, 3], want 4 (got 2, want 4)"},
      {"LRN X -> Y size=-1", "X f 1,2,1,1",
       "argument \"size\" is -1, want at least 1, or 0 in order NHWC"},
      {"LRN X -> Y", "X f 1,2,1,1", "argument \"size\" is 0 in order NCHW, want at least 1"},
      {"LpNorm X -> Z p=3", "X f 2", "argument \"p\" is 3, want 1 or 2"},
      {"LpNorm X -> Z average=1", "X f 2,0",
       "elements of input 0 (X) of shape [2, 0], want at least 1 with argument average (got 0, "
       "want more "
       "than 0)"},
      {"SparseNormalize X I -> X", "X f -; I i 1 = 0",
       "rank of input 0 (param) of shape [], want at least 1 (got 0, want at least 1)"},
      {"SparseNormalize X I -> X", "X f 2,3; I i 2 = 0,2",
       "element 1 of input 1 (indices) is 2, want 0 to 1"},
      {"SparseNormalize X I -> X", "X f 2,3; I l 2 = -1,0",
       "element 0 of input 1 (indices) is -1, want 0 to 1"},
      {"SparseNormalize X I -> X", "X f 2,3; I f 1",
       "Unsupported type of tensor: input 1 (indices) has elements of type float, want int32, "
       "int64"},
  });
}

TEST(NormCallsTest, KeepsSmallCasesThatAreWorkedOutByHand) {
  ExpectResults({
      // Groups of two channels with means 1.5 and 4, deviations 0.5 and 1.
      {"GroupNorm X g b -> Y m s group=2 epsilon=0. order=NHWC",
       "X f 1,1,4 = 1,2,3,5; g f 4 = 1,1,1,2; b f 4 = 0,0,0,10",
       "Y f 1,1,4 = -1,1,-1,12; m f 1,2 = 1.5,4; s f 1,2 = 2,1"},
      {"GroupNorm X g b -> Y group=2 epsilon=0.", "X f 2,2 = 1,2,3,4; g f 2 = 1; b f 2 = 7,8",
       "Y f 2,2 = nan"},
      {"InstanceNorm X s b -> Y m i epsilon=0. order=NHWC",
       "X f 1,2,2 = 1,10,3,30; s f 2 = 1,2; b f 2 = 0,5",
       "Y f 1,2,2 = -1,3,1,7; m f 1,2 = 2,20; "
       "i f 1,2 = 1,0.1"},
      {"LayerNorm X -> Y m s axis=-1 epsilon=0.", "X d 2,2 = 1,3,10,30",
       "Y d 2,2 = -1,1,-1,1; m d 2,1 = 2,20; s d 2,1 = 1,10"},
      {"LayerNorm X g b -> Y m s axis=0 epsilon=0. elementwise_affine=1",
       "X f 1,2 = 1,3; g f 2 = 2,3; b f 1,2 = 5,6", "Y f 1,2 = 3,9; m f 1 = 2; s f 1 = 1"},
      // gamma and beta of the last dimension, moments of the one before it.
      {"LayerNormFusion X g b R -> Y S axis=0 single_axis=1 epsilon=0.",
       "X f 2,2 = 0,10,2,30; g f 2 = 1,2; b f 2 = 0,1; R f 1 = 1",
       "Y f 2,2 = -1,-1,1,3; S f 2,2 = 1,11,3,31"},
      {"LayerNormFusion X g b -> Y S axis=0 single_axis=1 epsilon=0.",
       "X f 2,2 = 0,10,2,30; g f 2 = 1,2; b f 2 = 0,1", "Y f 2,2 = -1,-1,1,3; S f 2,2 = 0,10,2,30"},
      {"LayerNormFusion X g b -> Y S epsilon=0.", "X f 1,2 = 1,3; g f 2 = 1; b f 2 = 0",
       "Y f 1,2 = -1,1; S f 1,2 = 1,3"},
      // A last dimension of one element is broadcast after the normalization.
      {"LayerNormFusion X g b -> Y S axis=-1 broadcast_last=1",
       "X f 2,1 = 5,7; g f 3 = 1,2,3; b f 3 = 4,5,6", "Y f 2,3 = 4,5,6,4,5,6; S f 2,1 = 5,7"},
      {"LayerNormFusion X g b R -> Y S axis=0 single_axis=1 epsilon=0. broadcast_last=1",
       "X f 2,1 = 0,10; g f 2 = 1,3; b f 2 = 0,1; R f 1 = 1",
       "Y f 2,2 = -1,-2,1,4; S f 2,1 = 1,11"},
      {"LayerNormFusion X g b -> Y S axis=0 single_axis=1 epsilon=0. broadcast_last=1",
       "X f 2,2,1 = 0,10,2,30; g f 2 = 1,3; b f 2 = 0,1",
       "Y f 2,2,2 = -1,-2,-1,-2,1,4,1,4; S f 2,2,1 = 0,10,2,30"},
      {"LpNorm X -> Z p=1 average=1", "X f 4 = 1,-2,3,-4", "Z f 1 = 2.5"},
      {"LpNorm X -> Z", "X f 2 = 3,4", "Z f 1 = 25"},
      {"LpNormGradient X G -> D average=1", "X f 2 = 3,4; G f 1 = 10", "D f 2 = 30,40"},
      {"LpNormGradient X G -> D p=1", "X f 4 = 3,-4,1e-13,-1e-13; G f 1 = 10",
       "D f 4 = 10,-10,0,0"},
      // Two of size 2: the window is the channel and the next one. beta 1 is not a root.
      {"LRN X -> Y S size=2 alpha=2. beta=1. bias=1.", "X f 1,2,1,1 = 1,2",
       "Y f 1,2,1,1 = 0.1666667,0.4; S f 1,2,1,1 = 6,5"},
      {"LRN X -> Y S size=2 alpha=2. beta=0.5 bias=4. order=NHWC", "X f 1,1,1,2 = 1,0",
       "Y f 1,1,1,2 = 0.4472136,0; S f 1,1,1,2 = 5,4"},
      {"LRN X -> Y size=1 alpha=15. beta=0.75 bias=1.", "X f 1,1,1,1 = 1", "Y f 1,1,1,1 = 0.125"},
      {"SparseNormalize X I -> X norm=5.", "X f 3,2 = 6,8,3,4,30,40; I i 2 = 0,1",
       "X f 3,2 = 3,4,3,4,30,40"},
      {"SparseNormalize X I -> X use_max_norm=0 norm=2.", "X f 2,2 = 0,0,0.3,0.4; I l 2 = 0,1",
       "X f 2,2 = 0,0,1.2,1.6"},
      {"Normalize X -> Y axis=0", "X f 2,1 = 3,4", "Y f 2,1 = 0.6,0.8"},
      // The norm of zeros counts as 1e-12.
      {"NormalizeGradient X G -> D", "X f 1,2 = 0; G f 1,2 = 1e-12,-2", "D f 1,2 = 1,-2e12"},
      {"NormalizeGradient X G -> D axis=0", "X f 2,2 = 0,3,0,4; G f 2,2 = 1e-12,5,-2e-12,0",
       "D f 2,2 = 1,0.64,-2,-0.48"},
      // The mean and the inverse deviation are those that are given.
      {"InstanceNormGradient X s b G m i -> D E F order=NHWC",
       "X f 1,2,1 = 1,3; s f 1 = 1; b f 1 = 0; G f 1,2,1 = 1,0; m f 1,1 = 1; i f 1,1 = 2",
       "D f 1,2,1 = 1,-1; E f 1 = 0; F f 1 = 1"},
      {"InstanceNormGradient X s b G m i -> D E F",
       "X f 1,1,2 = 1,3; s f 1 = 1; b f 1 = 0; G f 1,1,2 = 1,0; m f 1,1 = 1; i f 1,1 = 2",
       "D f 1,1,2 = 1,-1; E f 1 = 0; F f 1 = 1"},
      // Running values of another number of channels start at 0; without images, they are not read in a test.
      {"SpatialBN X s b m v -> Y m v d e is_test=0 momentum=0.75",
       "X f 2,2,1 = 1,2,3,6; s f 2 = 1; b f 2 = 0; m f 3 = 9; v f 3 = 9",
       "m f 2 = 0.5,1; v f 2 = 0.5,2"},
      {"SpatialBN X s b m v -> Y m v d e is_test=0 momentum=0.75",
       "X f 2,2,1 = 1,2,3,6; s f 2 = 1; b f 2 = 0; m f 1 = 9; v f 2 = 4",
       "m f 2 = 0.5,1; v f 2 = 3.5,5"},
      {"SpatialBN X s b m v -> Y is_test=1", "X f 0,3,2; s f 3; b f 3; m f 2; v f 9", "Y f 0,3,2"},
      {"SpatialBN X s b m v -> Y is_test=1", "X f 2,3,0; s f 3; b f 3; m f 3; v f 3", "Y f 2,3,0"},
      {"NormalizeL1 X -> Y", "X f 2,2 = 1,-3,0,0", "Y f 2,2 = 0.25,-0.75,0,0"},
      {"ChannelStats X -> s q order=NHWC", "X f 1,2,2 = 1,2,3,4", "s f 2 = 4,6; q f 2 = 10,20"},
      {"BatchMoments X -> m v order=NHWC", "X f 1,2,2 = 1,2,3,4", "m f 2 = 2,3; v f 2 = 5,10"},
      {"BatchMomentsGradient m v X -> D order=NHWC",
       "m f 2 = 2,4; v f 2 = 1,0; X f 1,2,2 = 1,2,3,4", "D f 1,2,2 = 2,2,4,2"},
      {"BatchMomentsGradient m v X -> D", "m f 2; v f 2; X f 0,2", "D f 0,2"},
  });
}

// What the makers of gradients return: the blobs that the gradient operators read and write.
TEST(NormGradientMakersTest, PassWhatTheGradientReads) {
  const std::string bn =
      R"(type: "SpatialBN" input: "X" input: "s" input: "b" input: "m" input: "v" )";
  const std::string five = R"(output: "Y" output: "m" output: "v" output: "d" output: "e" )";
  const struct {
    std::string op, gradient;
  } rows[] = {
      {bn + R"(output: "Y" arg { name: "is_test" i: 1 })",
       "SpatialBNGradient(X,s,Y_grad,m,v)->X_grad,s_grad,b_grad is_test=1 | X_grad s_grad b_grad - "
       "-"},
      {bn + five + R"(arg { name: "is_test" i: 0 })",
       "SpatialBNGradient(X,s,Y_grad,d,e)->X_grad,s_grad,b_grad is_test=0 | X_grad s_grad b_grad - "
       "-"},
      {R"(type: "InstanceNorm" input: "X" input: "s" input: "b" output: "Y" output: "m" output: "i")",
       "InstanceNormGradient(X,s,b,Y_grad,m,i)->X_grad,s_grad,b_grad | X_grad s_grad b_grad"},
      {R"(type: "InstanceNorm" input: "X" input: "s" input: "b" output: "Y")",
       "InstanceNormGradient(X,s,b,Y_grad)->X_grad,s_grad,b_grad | X_grad s_grad b_grad"},
      {R"(type: "GroupNorm" input: "X" input: "g" input: "b" output: "Y" output: "m" output: "i")",
       "GroupNormGradient(Y_grad,X,g,b,m,i)->X_grad,g_grad,b_grad | X_grad g_grad b_grad"},
      {R"(type: "LayerNorm" input: "X" output: "Y" output: "m" output: "s")",
       "LayerNormGradient(Y_grad,Y,m,s,X)->X_grad | X_grad"},
      {R"(type: "LRN" input: "X" output: "Y" output: "s" arg { name: "size" i: 3 })",
       "LRNGradient(X,Y,Y_grad)->X_grad size=3 | X_grad"},
      {R"(type: "Softmax" input: "X" output: "Y")", "SoftmaxGradient(Y,Y_grad)->X_grad | X_grad"},
      {R"(type: "Normalize" input: "X" output: "Y")",
       "NormalizeGradient(X,Y_grad)->X_grad | X_grad"},
      {R"(type: "LpNorm" input: "X" output: "Y")", "LpNormGradient(X,Y_grad)->X_grad | X_grad"},
      {R"(type: "BatchMoments" input: "X" output: "m" output: "v")",
       "BatchMomentsGradient(m_grad,v_grad,X)->X_grad | X_grad"},
  };
  for (const auto& row : rows) EXPECT_EQ(DescribeGradient(row.op), row.gradient);
  ExpectRefusals({
      {[&] { DescribeGradient(bn + R"(output: "Y" arg { name: "is_test" i: 0 })"); },
       "outputs: 1 in testing, 5 in training: got 1, want 5"},
      {[&] {
         DescribeGradient(bn + five +
                          R"(arg { name: "is_test" i: 0 } arg { name: "num_batches" i: 2 })");
       },
       "inputs, want 7 with num_batches above 1 in training, otherwise 5 (got 5, want 7)"},
  });
}

TEST(NormCallsTest, InfersShapesAndTypes) {
  ExpectInferred({
      {"GroupNorm X g b -> Y m s group=2", "X f 3,4,5",
       "float [3, 4, 5]; float [3, 2]; float [3, 2]"},
      {"GroupNorm X g b -> Y group=5 order=NHWC", "X f 3,4,5", "float [3, 4, 5]"},
      {"GroupNormGradient G X g b m i -> D E F", "G f 3,4; X f 3,4; g f 4; b f 1,4",
       "float [3, 4]; float [4]; float [1, 4]"},
      {"InstanceNorm X s b -> Y m i", "X f 3,4,5", "float [3, 4, 5]; float [3, 4]; float [3, 4]"},
      {"InstanceNorm X s b -> Y m order=NHWC", "X f 3,4,5", "float [3, 4, 5]; float [3, 5]"},
      {"InstanceNormGradient X s b G -> D E F", "X f 3,4; s f 4",
       "float [3, 4]; float [4]; float [4]"},
      {"LayerNorm X -> Y m s axis=2", "X d 3,4,5",
       "double [3, 4, 5]; double [3, 4, 1]; double [3, 4, 1]"},
      {"LayerNorm X -> Y m s axis=-3", "X f 3,4,5", "float [3, 4, 5]; float [1]; float [1]"},
      {"LayerNormGradient G Y m s X -> D", "G f 1; Y f 1; m f 1; s f 1; X f 3,4", "float [3, 4]"},
      {"LayerNormGradient G Y m s X g -> D E F", "G f 1; Y f 1; m f 1; s f 1; X f 3,4; g f 4",
       "float [3, 4]; float [4]; float [4]"},
      {"LayerNormGradient G Y m s X g -> D E F", "G f 1; Y f 1; m f 1; s f 1; X f 3,4; g f ?",
       "? ?; ? ?; ? ?"},
      {"LayerNormFusion X g b R -> Y S", "X f 3,1; g f 4; b f 4; R f 4",
       "float [3, 4]; float [3, 4]"},
      {"LayerNormFusion X g b R -> Y", "X f 3,1; g f 4; b f 4; R f ?", "? ?"},
      {"LayerNormFusion X g b R -> Y S axis=-1 broadcast_last=1",
       "X f 3,1; g f 4; b f 4; R f 2,1,1", "float [2, 3, 4]; float [2, 3, 1]"},
      {"LRN X -> Y S size=1", "X f 1,2,3,4", "float [1, 2, 3, 4]; float [1, 2, 3, 4]"},
      {"LpNorm X -> Z", "X f ?", "float [1]"},
      {"Softmax X -> Y axis=-2", "X f 2,3", "float [2, 3]"},
      {"SpatialBN X s b m v -> Y m v d e order=NHWC", "X f 2,3,4",
       "float [2, 3, 4]; float [4]; float [4]; float [4]; float [4]"},
      {"SpatialBN X s b m v -> Y is_test=1", "X f 2,3,4", "float [2, 3, 4]"},
      {"SpatialBNGradient X s G m i -> D E F", "X f 2,3,4; s f 3",
       "float [2, 3, 4]; float [3]; float [3]"},
      {"ChannelStats X -> s q order=NHWC", "X f 2,3,4", "float [4]; float [4]"},
      {"ChannelStats X -> s q", "X f 3", "? ?; ? ?"},
      {"BatchMoments X -> m v", "X f 2,3,4", "float [3]; float [3]"},
      {"BatchMoments X -> m v", "X f 3", "? ?; ? ?"},
  });
  ExpectShapesRejected({
      {"GroupNorm X g b -> Y", "X f 4",
       "rank of input 0 (X), want at least 2 (got 1, want at least 2)"},
      {"GroupNorm X g b -> Y group=3", "X f 2,4",
       "remainder of the 4 channels of input 0 (X) divided by argument group 3: got 1, want 0"},
      {"InstanceNorm X g b -> Y", "X f 4",
       "rank of input 0 (X), want at least 2 (got 1, want at least 2)"},
      {"LayerNorm X -> Y m s", "X f 4",
       "rank of input 0 (X), want at least 2 (got 1, want at least 2)"},
      {"SpatialBN X s b m v -> Y is_test=1", "X f 4",
       "rank of input 0 (X), want at least 2 (got 1, want at least 2)"},
      {"SpatialBN X s b m v -> Y", "X f 2,4",
       "outputs: 1 in testing, 5 in training: got 1, want 5"},
      {"SpatialBN X s b m v -> Y m v d e is_test=1", "X f 2,4",
       "outputs: 1 in testing, 5 in training: got 5, want 1"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::norm_calls_test
