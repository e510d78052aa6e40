// Losses and products of rows, with rows of no elements, at the bounds of arguments, and inferred shapes. Expected
// values are by hand.
#include <gtest/gtest.h>

#include "tests/operators/common/call_tables.h"

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

}  // namespace
}  // namespace caffe2rt::test::loss_calls_test
