// Values of arguments and inputs that other tests leave out: exponents, bounds, numbers that stand for "yes", and shapes
// that differ from those of a neighbour with as many elements.
#include <gtest/gtest.h>

#include <string>

#include "tests/operators/common/call_tables.h"

namespace caffe2rt::test::rare_numbers_test {
namespace {

TEST(RareNumbersTest, OfPowersAreComputed) {
  ExpectResults({
      {"ONNXPow A B -> Y", "A f 4 = 2,-4,0.5,1; B f 4 = -2", "Y f 4 = 0.25,0.0625,4,1"},
      {"ONNXPow A B -> Y", "A f 3 = 2,-4,0.5; B d 1 = -2", "Y f 3 = 0.25,0.0625,4"},
      {"ONNXPow A B -> Y", "A f 3 = 2,-4,0.5; B l 1 = -2", "Y f 3 = 0.25,0.0625,4"},
      {"ONNXPow A B -> Y", "A f 3 = 2,-4,0.5; B i 1 = 2", "Y f 3 = 4,16,0.25"},
      {"ONNXPow A B -> Y", "A d 3 = 2,-4,0.5; B d 1 = -2", "Y d 3 = 0.25,0.0625,4"},
      {"ONNXPow A B -> Y", "A d 2 = 4,9; B f 2 = 0.5,-0.5", "Y d 2 = 2,0.33333333"},
      {"ONNXPow A B -> Y", "A f 2 = 4,9; B f 2 = 0.5,-0.5", "Y f 2 = 2,0.33333333"},
      {"ONNXPow A B -> Y", "A f 4 = 3; B f 4 = 0,1,3,-1", "Y f 4 = 1,3,27,0.33333333"},
      {"ONNXPow A B -> Y", "A l 4 = 3,-2,1,-1; B l 1 = 3", "Y l 4 = 27,-8,1,-1"},
      {"ONNXPow A B -> Y", "A i 4 = 1,-1,2,-3; B i 1 = -2", "Y i 4 = 1,1,0,0"},
      {"ONNXPow A B -> Y", "A i 3 = 9,2,7; B f 3 = 0.5,1.5,0", "Y i 3 = 3,2,1"},
  });
}

TEST(RareNumbersTest, OfRangesEndBeforeTheLimit) {
  ExpectResults({
      {"ONNXRange s l d -> Y", "s f - = 5; l f - = 1; d f - = -2", "Y f 2 = 5,3"},
      {"ONNXRange s l d -> Y", "s f - = 5; l f - = 0.5; d f - = -2", "Y f 3 = 5,3,1"},
      {"ONNXRange s l d -> Y", "s f - = 1; l f - = 5; d f - = 2", "Y f 2 = 1,3"},
      {"ONNXRange s l d -> Y", "s f - = 1; l f - = 5.5; d f - = 2", "Y f 3 = 1,3,5"},
      {"ONNXRange s l d -> Y", "s d - = -1; l d - = -4; d d - = -1", "Y d 3 = -1,-2,-3"},
      {"ONNXRange s l d -> Y", "s f - = 2; l f - = 2; d f - = -1", "Y f 0"},
      {"ONNXRange s l d -> Y", "s f - = 2; l f - = 2; d f - = 1", "Y f 0"},
      {"ONNXRange s l d -> Y", "s f - = 1; l f - = 2; d f - = -1", "Y f 0"},
      {"ONNXRange s l d -> Y", "s i - = 5; l i - = 1; d i - = -2", "Y i 2 = 5,3"},
      {"ONNXRange s l d -> Y", "s l - = 5; l l - = 5; d l - = -2", "Y l 0"},
      {"ONNXRange s l d -> Y", "s l - = 5; l l - = 6; d l - = -2", "Y l 0"},
      {"ONNXRange s l d -> Y", "s l - = 5; l l - = 4; d l - = -2", "Y l 1 = 5"},
  });
}

// Any number but 0 means yes.
TEST(RareNumbersTest, OfFlagsMeanYes) {
  for (const char* const axis : {"1", "2", "-1"}) {
    const std::string add = std::string(" axis=0 add_axis=") + axis;
    ExpectResults({
        {"Concat A B -> Y s" + add, "A f 2 = 1,2; B f 2 = 3,4", "Y f 2,2 = 1,2,3,4; s i 2 = 1"},
        {"Split X -> A B" + add, "X f 2,2 = 1,2,3,4", "A f 2 = 1,2; B f 2 = 3,4"},
    });
    const std::string keep = std::string(" axes=0, keepdims=") + axis;
    ExpectResults({{"ReduceSum X -> Y" + keep, "X f 2,2 = 1,2,3,4", "Y f 1,2 = 4,6"}});
  }
  ExpectResults({
      {"Concat A B -> Y s axis=0 add_axis=0", "A f 2 = 1,2; B f 1 = 3",
       "Y f 3 = 1,2,3; s i 2 = 2,1"},
      {"ReduceSum X -> Y axes=0, keepdims=0", "X f 2,2 = 1,2,3,4", "Y f 2 = 4,6"},
  });
}

// The step and the rate have the shape of the gradient, the others that of their inputs.
TEST(RareNumbersTest, OfUpdatesHaveTheShapesOfTheirInputs) {
  ExpectResults({
      // The moment 9 + 16; the rate 10 / 5.
      {"Adagrad P M G L -> Q N E U epsilon=0.0", "P f 4 = 1; M f 1,4 = 9; G f 2,2 = 4; L f 1 = 10",
       "Q f 4 = 9; N f 1,4 = 25; E f 2,2 = 2; U f 2,2 = 8"},
      {"Wngrad P B G L -> Q C E U epsilon=0.0", "P f 2 = 1; B f 1,1 = 2; G f 1,2 = 4; L f 1 = 4",
       "Q f 2 = 9; C f 1,1 = 18; E f 1,1 = 2; U f 1,2 = 8"},
      {"Wngrad P B G L -> Q C E epsilon=0.0", "P f 2 = 1; B f 1,1 = 2; G f 1,2 = 4; L f 1 = 4",
       "Q f 2 = 9; C f 1,1 = 18; E f 1,1 = 2"},
      {"MomentumSGD G M L -> H N momentum=0.5", "G f 2,2 = 4; M f 4 = 2; L f 1 = 0.5",
       "H f 2,2 = 3; N f 4 = 3"},
      {"RmsProp G S M L -> H T N decay=0.0 epsilon=0.0",
       "G f 2,2 = 4; S f 4 = 1; M f 1,4 = 0; L f 1 = 3", "H f 2,2 = 3; T f 4 = 16; N f 1,4 = 3"},
      {"Adadelta P M D G L -> Q N E decay=0.5 epsilon=0.0",
       "P f 4 = 1; M f 2,2 = 0; D f 1,4 = 8; G f 4,1 = 2; L f 1 = 1",
       "Q f 4 = 5; N f 2,2 = 2; E f 1,4 = 12"},
      // Of several rates the first one counts.
      {"Adadelta P M D G L -> Q N E decay=0.5 epsilon=0.0",
       "P f 4 = 1; M f 4 = 0; D f 4 = 8; G f 4 = 2; L f 2 = 1,9",
       "Q f 4 = 5; N f 4 = 2; E f 4 = 12"},
      {"Lars X D w t m -> R",
       "X f 2 = 3,4; D f 2 = 6,-8; w f 2 = 0.5,9; t f 3 = 1.5,9,9; m f 1,2 = 9,0", "R f 1 = 0.5"},
  });
}

// The norm of each column is compared with lambda1 times the root of the number of rows.
TEST(RareNumbersTest, OfRowsAndColumnsOfGftrlAreNotExchanged) {
  ExpectResults({
      // z = g: 2 * (1 / 2 - 1) / (1 + 2), 4 * (1 / 4 - 1) / (1 + 4), and 0.5 is below 1.
      {"GFtrl W S G -> W S alpha=1.0 beta=1.0 lambda1=1.0 lambda2=0.0",
       "W f 1,3 = 0; S f 6 = 0; G f 1,3 = 2,4,0.5",
       "W f 1,3 = -0.33333333,-0.6,0; S f 6 = 4,2,16,4,0.25,0.5"},
      // The norm of the column is 4, the bound 2: 2 * (2 / 4 - 1) / (1 + 2).
      {"GFtrl W S G -> W S alpha=1.0 beta=1.0 lambda1=1.0 lambda2=0.0",
       "W f 4,1 = 0; S f 8 = 0; G f 4,1 = 2", "W f 4,1 = -0.33333333; S f 8 = 4,2"},
      // The norms are 5 and 0.5, the bound root 2: 3 and 4 times (root 2 / 5 - 1) / (1 + g).
      {"GFtrl W S G -> W S alpha=1.0 beta=1.0 lambda1=1.0 lambda2=0.0",
       "W f 2,2 = 0; S f 8 = 0; G f 2,2 = 3,0.3,4,0.4", "W f 2,2 = -0.53786797,0,-0.57372583,0"},
      // Without columns nothing changes.
      {"GFtrl W S G -> W S", "W f 2,0; S f 0; G f 2,0", "W f 2,0; S f 0"},
  });
}

TEST(RareNumbersTest, OfPolicies) {
  ExpectResults({
      {"LearningRate n -> r policy=poly max_iter=0 power=1.0 base_lr=1.0", "n l 1 = 1",
       "r f - = -inf"},
      {"LearningRate n -> r policy=poly max_iter=-1 power=1.0 base_lr=2.0", "n l 1 = 5",
       "r f - = 2"},
      {"LearningRate n -> r policy=poly max_iter=4 power=2.0 base_lr=8.0", "n l 1 = 2",
       "r f - = 2"},
      {"LearningRate n -> r policy=poly max_iter=4 power=2.0 base_lr=8.0", "n l 1 = 4",
       "r f - = 0"},
      {"LearningRate n -> r policy=pieceWarmup m1=1.0 n1=2 m2=2.0 n2=4 m3=3.0 base_lr=1.0",
       "n l 1 = 1", "r f - = 1"},
      {"LearningRate n -> r policy=pieceWarmup m1=1.0 n1=2 m2=2.0 n2=4 m3=3.0 base_lr=1.0",
       "n l 1 = 2", "r f - = 2"},
      {"LearningRate n -> r policy=pieceWarmup m1=1.0 n1=2 m2=2.0 n2=4 m3=3.0 base_lr=1.0",
       "n l 1 = 3", "r f - = 2"},
      {"LearningRate n -> r policy=pieceWarmup m1=1.0 n1=2 m2=2.0 n2=4 m3=3.0 base_lr=1.0",
       "n l 1 = 4", "r f - = 3"},
  });
}

TEST(RareNumbersTest, OfShapesAreRejected) {
  ExpectShapesRejected({
      {"GivenTensorFill -> Y shape=2,-1 values=1.0,2.0", "",
       "dimension of a shape, want at least 0 (got -1, want at least 0)"},
      {"GivenTensorIntFill -> Y shape=-2,-1 values=1,2", "",
       "dimension of a shape, want at least 0 (got -2, want at least 0)"},
      {"GivenTensorFill -> Y shape=3,1 values=1.0,2.0", "",
       "elements of the output of shape [3, 1], want as many as argument values has (got 3, want "
       "2)"},
      {"GivenTensorFill -> Y shape=2,1 values=1.0,", "",
       "elements of the output of shape [2, 1], want as many as argument values has (got 2, want "
       "1)"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::rare_numbers_test
