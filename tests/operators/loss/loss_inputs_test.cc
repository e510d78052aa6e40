// Losses and distances, with inputs that differ from good ones in one thing: each is rejected, names it, and leaves
// nothing that a later run on the good inputs would see.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/operators/common/failed_runs.h"

namespace caffe2rt::test::loss_inputs_test {
namespace {

void ExpectEach(const std::vector<FailedRun>& rows) {
  for (const FailedRun& row : rows) ExpectLeftAsTheyWere(row);
}

TEST(LossInputsTest, OfSoftmaxWithLoss) {
  ExpectEach({
      {"SoftmaxWithLoss X L W -> P l",
       "X f 2,3; L i 2 = 0,2; W f 2 = 1",
       {{"L i 3 = 0", "input 1 (labels) has shape [3], input 0 (X) [2, 3], want one label for"},
        {"L i 2,2 = 0", "input 1 (labels) has shape [2, 2], input 0 (X) [2, 3], want one label"},
        {"L i 2 = 0,3", "element 1 of input 1 (labels) is 3, want 0 to below 3 classes"},
        {"L i 2 = -1,0", "element 0 of input 1 (labels) is -1, want 0 to below 3 classes"},
        {"L l 2 = 0", "int64"},
        {"W f 3 = 1", "elements of input 2 (weights) of shape [3], want one for each label"},
        {"W d 2 = 1", "double"},
        {"X d 2,3", "double"}}},
      {"SoftmaxWithLoss X L -> P l label_prob=1",
       "X f 2,2; L f 2,2 = 0.25,0.75",
       {{"L f 2,2 = 0.25,0.5", "the label probabilities of row 0 do not add up to 1 but to 0.75"},
        {"L f 2,2 = 0.5,0.75", "the label probabilities of row 0 do not add up to 1 but to 1.25"},
        {"L f 2,2 = 0.25,0.75,0,0", "the label probabilities of row 1 do not add up to 1 but to 0"},
        {"L f 2,2 = -0.25,1.25", "element 0 of input 1 (labels) is -0.25, want a probability"},
        {"L f 2 = 1", "want a probability for each class"},
        {"L f 2,3 = 0.5", "input 1 (labels) has shape [2, 3]"},
        {"L i 2,2 = 0,1", "int32"}}},
      {"SpatialSoftmaxWithLoss X L W -> P l",
       "X f 2,3,2,4; L i 2,2,4 = 0,1,2,-1; W f 2,2,4 = 1",
       {{"L i 1,2,4 = 0", "want the same N, H and W"},
        {"L i 2,3,4 = 0", "want the same N, H and W"},
        {"L i 2,2,3 = 0", "want the same N, H and W"},
        {"L i 2,8 = 0", "rank of input 1 (labels) of shape [2, 8], want 3: [N, H, W]"},
        {"L i 2,2,4 = 0,-2",
         "element 1 of input 1 (labels) is -2, want 0 to below 3 classes, or -1"},
        {"L i 2,2,4 = 0,3", "element 1 of input 1 (labels) is 3, want 0 to below 3 classes, or -1"},
        {"X f 2,3,8", "rank of input 0 (X) of shape [2, 3, 8], want 4"},
        {"W f 2,2 = 1", "elements of input 2 (weights) of shape [2, 2], want one for each label"}}},
  });
}

TEST(LossInputsTest, OfCrossEntropies) {
  ExpectEach({
      {"LabelCrossEntropy X L -> Y",
       "X f 2,3 = 0.5; L i 2,1 = 0,2",
       {{"L i 2 = 0,3", "input 1 (label) is 3 in row 1, want at least 0 and below 3"},
        {"L i 2 = -1,0", "input 1 (label) is -1 in row 0, want at least 0 and below 3"},
        {"L i 2,2 = 0", "input 1 (label) has shape [2, 2], want 1 label for each row"},
        {"L i 3 = 0", "dim 0 of input 1 (label) of shape [3], want the rows of input 0 (X)"},
        {"L i - = 0", "input 1 (label) has shape []"},
        {"X d 2,3", "double"}}},
      {"LabelCrossEntropyGradient X L G -> D",
       "X f 2,3 = 0.5; L i 2 = 0,2; G f 2",
       {{"G f 3", "input 2 (dY) has shape [3], want [2], the rows of input 0 (X)"},
        {"G f 2,1", "input 2 (dY) has shape [2, 1], want [2]"},
        {"L i 2 = 3,0", "input 1 (label) is 3 in row 0"}}},
      {"CrossEntropy X L -> Y",
       "X f 2,3 = 0.5; L f 2,3 = 0,1,0.5",
       {{"L f 2,3 = 0,1.5,0", "input 1 (label) is 1.5 in row 0, want probabilities from 0 to 1"},
        {"L f 2,3 = 0,0,0,0,-0.5,0", "input 1 (label) is -0.5 in row 1, want probabilities"},
        {"L f 2,2 = 0", "input 1 (label) has shape [2, 2], want 3 probabilities for each row"},
        {"L f 3,3 = 0", "dim 0 of input 1 (label) of shape [3, 3]"},
        {"L f 2 = 0", "elements of input 1 (label) of shape [2], want one for each element"}}},
      {"CrossEntropyGradient X L G -> D",
       "X f 2,3 = 0.5; L f 2,3 = 0,1,0.5; G f 2",
       {{"G f 1,2", "input 2 (dY) has shape [1, 2], want [2]"},
        {"L f 2,2 = 0", "input 1 (label) has shape [2, 2]"}}},
      {"SigmoidCrossEntropyWithLogits X T -> Y",
       "X f 2,3; T f 2,3",
       {{"T f 3,2", "input 1 (targets) has shape [3, 2], want [2, 3] as input 0 (logits)"},
        {"T f 6", "input 1 (targets) has shape [6], want [2, 3] as input 0 (logits)"}}},
      {"WeightedSigmoidCrossEntropyWithLogits X T W -> Y",
       "X f 2,3; T f 2,3; W f 2,3",
       {{"W f 3,2", "input 2 (weights) has shape [3, 2], want [2, 3] as input 0 (logits)"},
        {"W f 6", "input 2 (weights) has shape [6], want [2, 3]"},
        {"W f -", "input 2 (weights) has shape [], want [2, 3]"}}},
      {"WeightedSigmoidCrossEntropyWithLogitsGradient G X T W -> D",
       "G f 2; X f 2,3; T f 2,3; W f 2,3",
       {{"G f 3", "elements of input 0 (dY) of shape [3], want one for each row of input 1"},
        {"T f 3,2", "input 2 (targets) has shape [3, 2], want [2, 3] as input 1 (logits)"},
        {"W f 3,2", "input 3 (weights) has shape [3, 2], want [2, 3] as input 1 (logits)"}}},
  });
}

TEST(LossInputsTest, OfDistances) {
  for (const std::string type :
       {"SquaredL2Distance", "L1Distance", "DotProduct", "CosineSimilarity"}) {
    ExpectEach({
        {(type + " X Y -> Z").c_str(),
         "X f 2,3; Y f 2,3",
         {{"Y f 3,2", "input 1 (Y) has shape [3, 2], want [2, 3] as input 0 (X)"},
          {"Y f 6", "input 1 (Y) has shape [6], want [2, 3]"},
          {"Y f 2,3,1", "input 1 (Y) has shape [2, 3, 1], want [2, 3]"},
          {"Y d 2,3", "double"}}},
        {(type + "Gradient X Y G -> D E").c_str(),
         "X f 2,3; Y f 2,3; G f 2",
         {{"G f 3", "input 2 (dZ) has shape [3], want [2], the rows of input 0 (X)"},
          {"G f 2,1", "input 2 (dZ) has shape [2, 1], want [2]"},
          {"Y f 3,2", "input 1 (Y) has shape [3, 2], want [2, 3] as input 0 (X)"}}},
    });
  }
  ExpectEach({
      {"DotProductWithPadding X Y -> Z",
       "X f 2,4; Y f 2,3",
       {{"Y f 3,3", "input 1 (Y) has shape [3, 3], want rank 2 and 2 rows as input 0 (X)"},
        {"Y f 2", "input 1 (Y) has shape [2], want rank 2 and 2 rows"},
        {"Y f 2,3,1", "input 1 (Y) has shape [2, 3, 1], want rank 2 and 2 rows"},
        {"X f -; Y f -", "input 0 (X) is a scalar, want rank 1 or more"}}},
      {"DotProductWithPaddingGradient X Y G -> D E replicate=1",
       "X f 2,4; Y f 2,2; G f 2",
       {{"Y f 2,3", "have 4 and 3 elements, want a multiple with argument replicate"},
        {"X f 2,3", "have 3 and 2 elements, want a multiple with argument replicate"},
        {"G f 3", "input 2 (dZ) has shape [3], want [2]"},
        {"G f 2,1", "input 2 (dZ) has shape [2, 1], want [2]"}}},
      {"MakeTwoClassGradient G -> D",
       "G f 3,2",
       {{"G f 3", "input 0 (dY) has shape [3], want 2 as the last dimension"},
        {"G f 2,3", "input 0 (dY) has shape [2, 3], want 2 as the last dimension"},
        {"G f -", "input 0 (dY) has shape [], want 2 as the last dimension"}}},
      {"MarginRankingCriterion X Z Y -> l",
       "X f 3; Z f 3; Y i 3 = 1,-1",
       {{"Z f 2", "elements of input 1, want those of input 0 (X1) of shape [3]"},
        {"Y i 2 = 1", "elements of input 2, want those of input 0 (X1) of shape [3]"},
        {"Y f 3", "float"},
        {"Z d 3", "double"}}},
      {"MarginRankingCriterionGradient X Z Y G -> D E",
       "X f 3; Z f 3; Y i 3 = 1,-1; G f 3",
       {{"G f 2", "elements of input 3, want those of input 0 (X1) of shape [3]"}}},
  });
}

}  // namespace
}  // namespace caffe2rt::test::loss_inputs_test
