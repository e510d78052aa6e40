// Losses and products of rows, with rows of no elements, at the bounds of arguments, and inferred shapes. Expected
// values are by hand.
#include <gtest/gtest.h>

#include "tests/operators/common/call_tables.h"
#include "tests/operators/common/failed_runs.h"

namespace caffe2rt::test::loss_calls_test {
namespace {

TEST(LossCallsTest, MultipliesRowsOfOtherLengths) {
  ExpectResults({
      {"DotProductWithPadding X Y -> Z", "X f 2,3 = 1,2,3,4,5,6; Y f 2,2 = 1,1,2,2",
       "Z f 2 = 3,18"},
      {"DotProductWithPadding X Y -> Z pad_value=2.0", "X f 2,3 = 1,2,3,4,5,6; Y f 2,2 = 1,1,2,2",
       "Z f 2 = 9,30"},
      {"DotProductWithPadding X Y -> Z pad_value=2.0", "X f 2,1 = 3,4; Y f 2,2 = 1,2,3,4",
       "Z f 2 = 7,20"},
      {"DotProductWithPadding X Y -> Z replicate=1", "X f 1,2 = 2,3; Y f 1,4 = 1,2,3,4",
       "Z f 1 = 26"},
      // The rest of a row that is no multiple is not used.
      {"DotProductWithPadding X Y -> Z replicate=1 pad_value=9.0",
       "X f 1,2 = 2,3; Y f 1,5 = 1,2,3,4,5", "Z f 1 = 26"},
      {"DotProductWithPadding X Y -> Z pad_value=9.0", "X f 2,2 = 1,2,3,4; Y f 2,2 = 1,1,1,1",
       "Z f 2 = 3,7"},
      {"DotProductWithPadding X Y -> Z", "X f 2 = 2,3; Y f 2 = 4,5", "Z f 2 = 8,15"},
      {"DotProductWithPadding X Y -> Z pad_value=3.0", "X f 2,3 = 1,2,3,4,5,6; Y f 2,0",
       "Z f 2 = 18,45"},
      // There are no rows if those of X have no elements.
      {"DotProductWithPadding X Y -> Z pad_value=3.0", "X f 2,0; Y f 2,3", "Z f 0"},
      {"DotProductWithPadding X Y -> Z", "X f 0,3; Y f 0,2", "Z f 0"},
      {"DotProductWithPaddingGradient X Y G -> D E pad_value=2.0",
       "X f 1,3 = 1,2,3; Y f 1,2 = 4,5; G f 1 = 10", "D f 1,3 = 40,50,20; E f 1,2 = 10,20"},
      {"DotProductWithPaddingGradient X Y G -> D E pad_value=2.0",
       "X f 2,1 = 1,2; Y f 2,2 = 3,4,5,6; G f 2 = 1,10", "D f 2,1 = 3,50; E f 2,2 = 1,2,20,20"},
      {"DotProductWithPaddingGradient X Y G -> D E replicate=1",
       "X f 1,2 = 2,3; Y f 1,4 = 1,2,3,4; G f 1 = 10", "D f 1,2 = 40,60; E f 1,4 = 20,30,20,30"},
      {"DotProductWithPaddingGradient X Y G -> D E", "X f 2,0; Y f 2,3; G f 0; E f 2,3 = 7",
       "D f 2,0; E f 2,3 = 0"},
      {"DotProductWithPaddingGradient X Y G -> D E pad_value=2.0",
       "X f 2,1 = 7; Y f 2,0; G f 2 = 1,2", "D f 2,1 = 2,4; E f 2,0"},
  });
  ExpectRejected({
      {"DotProductWithPaddingGradient X Y G -> D E replicate=1", "X f 1,2; Y f 1,5; G f 1",
       "rows of inputs 0 (X) and 1 (Y) have 5 and 2 elements, want a multiple with argument "
       "replicate"},
      {"DotProductWithPaddingGradient X Y G -> D E", "X f 2,0; Y f 2,3; G f 2",
       "input 2 (dZ) has shape [2], want [0], the rows of input 0 (X) of shape [2, 0]"},
  });
  ExpectInferred({{"DotProductWithPadding X Y -> Z", "X f 2,3; Y f 2,4", "float [2]"},
                  {"DotProductWithPadding X Y -> Z", "X f 2,0; Y f 2,4", "float [0]"}});
}

TEST(LossCallsTest, ComparesRows) {
  ExpectResults({
      {"SquaredL2Distance X Y -> Z", "X f 2,2 = 1,2,3,4; Y f 2,2 = 3,2,0,0", "Z f 2 = 2,12.5"},
      {"L1Distance X Y -> Z", "X f 2,2 = 1,2,3,4; Y f 2,2 = 3,2,0,5", "Z f 2 = 2,4"},
      {"L1DistanceGradient X Y G -> D E", "X f 1,3 = 1,2,3; Y f 1,3 = 2,2,1; G f 1 = 5",
       "D f 1,3 = -5,0,5; E f 1,3 = 5,0,-5"},
      {"DotProduct X Y -> Z", "X f 3 = 1,2,3; Y f 3 = 4,5,6", "Z f 3 = 4,10,18"},
      {"SquaredL2Distance X Y -> Z", "X f 2,0; Y f 2,0", "Z f 2 = 0"},
      {"MarginRankingCriterion A B Y -> L margin=0.5",
       "A f 4 = 1,1,1,1; B f 4 = 0,0.5,1.5,1; Y i 4 = 1,1,-1,0", "L f 4 = 0,0,0,0.5"},
      // The loss is 0 in the second place, where it begins to grow.
      {"MarginRankingCriterionGradient A B Y G -> D E margin=0.5",
       "A f 4 = 1,1,1,1; B f 4 = 0,0.5,1.25,1; Y i 4 = 1,1,-1,0; G f 4 = 2,3,4,5",
       "D f 4 = 0,-3,4,0; E f 4 = 0,3,-4,0"},
      {"CrossEntropy X L -> Y", "X f 1,2 = 0.5,0.5; L f 1,2 = 0,1", "Y f 1 = 0.6931472"},
      {"CrossEntropy X L -> Y", "X f 2 = 0.5,0.5; L f 1,2 = 1,0", "Y f 1 = 0.6931472"},
  });
  ExpectRejected({
      {"CrossEntropy X L -> Y", "X f 1,2 = 0.5; L f 1,2 = 0,1.0001",
       "input 1 (label) is 1.0001 in row 0, want probabilities from 0 to 1"},
      {"CrossEntropy X L -> Y", "X f 2,1 = 0.5; L f 2,1 = 1,-0.5",
       "input 1 (label) is -0.5 in row 1, want probabilities from 0 to 1"},
  });
  ExpectInferred({{"CrossEntropy X L -> Y", "X f 3; L f 1,3", "float [1]"},
                  {"CrossEntropy X L -> Y", "X f 4,3; L f 4,3", "float [4]"},
                  {"LabelCrossEntropy X L -> Y", "X f 3; L i 1", "float [1]"},
                  {"LabelCrossEntropy X L -> Y", "X f 4,3; L i 4", "float [4]"}});
}

// Two equal logits have a loss of log 2 each.
TEST(LossCallsTest, WeighsRowsAndPositions) {
  const std::string x = "X f 2,2 = 0; L i 2 = 0,1; W f 2 = ";
  const std::string spatial = "X f 1,2,1,2 = 0; L i 1,1,2 = 0,1; W f 1,1,2 = 1,3";
  ExpectResults({
      {"SoftmaxWithLoss X L W -> P l", x + "-1,-3", "P f 2,2 = 0.5; l f - = 0.6931472"},
      {"SoftmaxWithLoss X L W -> P l", x + "1,-1", "P f 2,2 = 0.5; l f - = 0"},
      {"SoftmaxWithLoss X L W -> P l scale=3.0", x + "0,2", "P f 2,2 = 0.5; l f - = 2.0794415"},
      {"SoftmaxWithLoss X L W -> P l average_by_batch_size=1", x + "1,2",
       "P f 2,2 = 0.5; l f - = 1.0397208"},
      {"SoftmaxWithLoss X L -> P l label_prob=1", "X f 1,2 = 0; L f 1,2 = 0.5,0.500005",
       "P f 1,2 = 0.5; l f - = 0.6931472"},
      // The positions have neither a scale nor another axis nor another divisor.
      {"SpatialSoftmaxWithLoss X L W -> P l scale=5.0", spatial,
       "P f 1,2,1,2 = 0.5; l f - = 0.6931472"},
      {"SpatialSoftmaxWithLoss X L W -> P l average_by_batch_size=1 axis=2 label_prob=1", spatial,
       "P f 1,2,1,2 = 0.5; l f - = 0.6931472"},
      {"SigmoidCrossEntropyWithLogits X T -> Y", "X f 2 = 0; T f 2 = 0,1", "Y f - = 0.6931472"},
      {"SigmoidCrossEntropyWithLogits X T -> Y", "X f - = 0; T f - = 1", "Y f - = 0.6931472"},
      {"SigmoidCrossEntropyWithLogits X T -> Y", "X f 2,0; T f 2,0", "Y f 2 = 0"},
      {"WeightedSigmoidCrossEntropyWithLogits X T W -> Y", "X f 2,0; T f 2,0; W f 2,0",
       "Y f 2 = 0"},
      {"WeightedSigmoidCrossEntropyWithLogits X T W -> Y",
       "X f 1,2 = 0; T f 1,2 = 0,1; W f 1,2 = 3,5", "Y f 1 = 2.7725887"},
  });
  ExpectRejectedWith({
      {"SoftmaxWithLoss X L -> P l label_prob=1", "X f 1,2; L f 1,2 = 0.5,0.4999",
       "the label probabilities of row 0 do not add up to 1 but to 0.9999"},
      {"SoftmaxWithLoss X L -> P l label_prob=1", "X f 1,2; L f 1,2 = 0.5,0.50002",
       "the label probabilities of row 0 do not add up to 1 but to 1.00002"},
      {"SoftmaxWithLossGradient X L P d -> D", "X f 1,2; L i 1 = 0; P f 1,2; d f 2",
       "elements of input 3 (gradient of the loss): got 2, want 1"},
      {"SpatialSoftmaxWithLossGradient X L P d -> D",
       "X f 1,2,1,1; L i 1,1,1 = -2; P f 1,2,1,1; d f 1",
       "element 0 of input 1 (labels) is -2, want 0 to below 2 classes, or -1 to ignore it"},
  });
  ExpectInferred({{"SigmoidCrossEntropyWithLogits X T -> Y", "X f 3; T f 3", "float []"},
                  {"SigmoidCrossEntropyWithLogits X T -> Y", "X f -; T f -", "float []"},
                  {"SigmoidCrossEntropyWithLogits X T -> Y", "X f 4,3; T f 4,3", "float [4]"}});
}

}  // namespace
}  // namespace caffe2rt::test::loss_calls_test
