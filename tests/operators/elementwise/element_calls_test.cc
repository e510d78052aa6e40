// Operators on elements: shapes of types that are converted elsewhere, nothing to compute, and whole messages. Expected
// values are by hand.
#include <gtest/gtest.h>

#include <string>

#include "tests/operators/common/call_tables.h"

namespace caffe2rt::test::element_calls_test {
namespace {

TEST(ElementCallsTest, KeepShapesOfWideTypes) {
  ExpectResults({
      {"Cast X -> U to=UINT32 | Cast U -> Y to=DOUBLE", "X i 2,2 = 1,2,3,4", "Y d 2,2 = 1,2,3,4"},
      {"Cast X -> U to=uint64 | Cast U -> Y to=float", "X l 1,3,1 = 7,0,9", "Y f 1,3,1 = 7,0,9"},
      {"Cast X -> U to=BFLOAT16 | Cast U -> Y to=INT64", "X f 3,1 = 1,-2.5,300",
       "Y l 3,1 = 1,-2,300"},
      {"Cast X -> U to=Uint64 | Cast U -> Y to=INT32", "X u - = 200", "Y i - = 200"},
      {"Cast X -> U to=UINT32 | Cast U -> Y to=BOOL", "X i 2,1,2 = 0,5,0,1", "Y b 2,1,2 = 0,1,0,1"},
      {"Cast X -> U to=UINT32 | Cast U -> Y to=FLOAT", "X i 0,3", "Y f 0,3"},
      {"Cast X -> Y to=int8", "X i 1,2 = -1,7", "Y c 1,2 = -1,7"},
      {"Cast X -> Y", "X d 2,1 = 0.5,-3", "Y f 2,1 = 0.5,-3"},
  });
  ExpectInferred({
      {"Cast X -> Y to=UINT64", "X i 2,3", "uint64 [2, 3]"},
      {"Cast X -> Y to=bfloat16", "X i 2,3", "bfloat16 [2, 3]"},
      {"Cast X -> Y", "X d 3,0", "float [3, 0]"},
      {"Cast X -> Y to=NUMBER", "X d 3", "? ?"},
      {"Cast X -> Y to=FLOAT16", "X d 3", "? ?"},
  });
  const std::string wanted =
      ", want FLOAT, DOUBLE, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, BFLOAT16, "
      "BOOL or STRING";
  ExpectRejected({
      {"Cast X -> Y to=NUMBER", "X f 1", "argument to is \"NUMBER\"" + wanted},
      {"Cast X -> Y to=0", "X f 1", "argument to is 0" + wanted},
      {"Cast X -> Y to=99", "X f 1", "argument to is 99" + wanted},
      {"Cast X -> Y to=FLOAT16", "X f 1", "argument to is FLOAT16, but half floats cannot be cast"},
      {"Cast X -> Y to=12", "X f 1", "argument to is FLOAT16, but half floats cannot be cast"},
      {"Cast X -> U to=UINT32 | Cast U -> Y to=STRING", "X i 1",
       "input 0 (X) is of type uint32, which is not cast to strings"},
  });
}

TEST(ElementCallsTest, CopyAndDropNothing) {
  ExpectResults({
      {"Dropout X -> Y is_test=1", "X f 0,3", "Y f 0,3"},
      {"Dropout X -> Y is_test=1 ratio=0.75", "X f 1,2 = 3,4", "Y f 1,2 = 3,4"},
      {"Dropout X -> Y M is_test=0 ratio=0.0", "X f 1,2 = 3,4", "Y f 1,2 = 3,4; M b 1,2 = 1"},
      {"Dropout X -> Y M is_test=0", "X f 2,0", "Y f 2,0; M b 2,0"},
      {"DropoutGrad G -> D is_test=1", "G f 2,0", "D f 2,0"},
      {"DropoutGrad G -> D is_test=1", "G f 2,1 = 5,6", "D f 2,1 = 5,6"},
      {"DropoutGrad G M -> D ratio=0.75", "G f 3 = 1,2,3; M b 3 = 1,0,1", "D f 3 = 4,0,12"},
      {"DropoutGrad G M -> D", "G f 1,2 = 1,2; M b 2 = 0,1", "D f 1,2 = 0,4"},
      {"Copy X -> Y", "X f 3,0", "Y f 3,0"},
      {"Copy X -> Y", "X l - = 8", "Y l - = 8"},
      {"CopyOnDeviceLike X Z -> Y", "X u 2 = 8,9; Z f 0", "Y u 2 = 8,9"},
      {"NanCheck X Z -> Y", "X f 0,2; Z f 1", "Y f 0,2"},
      {"Where C X Z -> Y", "C b 0,2; X d 0,2; Z d 0,2", "Y d 0,2"},
      {"Where C X Z -> Y broadcast_on_rows=1", "C b 2 = 0,1; X i 2,2 = 1,2,3,4; Z i 2,2 = 5,6,7,8",
       "Y i 2,2 = 5,6,3,4"},
      {"Where C X Z -> Y broadcast_on_rows=1", "C b 3 = 0,1,0; X i 3,0; Z i 3,0", "Y i 3,0"},
      {"ElementwiseLinear X w b -> Y", "X f 1,1 = 3; w f 1 = 2; b f 1 = 5", "Y f 1,1 = 11"},
      {"ElementwiseLinear X w b -> Y axis=0", "X f 1,2 = 3,4; w f 2 = 2,3; b f 2 = 5,6",
       "Y f 1,2 = 11,18"},
  });
  ExpectRejected({
      {"Dropout X -> Y is_test=0", "X f 2",
       "outputs of Dropout in training (is_test 0), want Y and mask (got 1, want 2)"},
      {"DropoutGrad G -> D", "G f 2",
       "inputs of DropoutGrad in training (is_test 0), want dY and mask"},
      {"DropoutGrad G M -> D", "G f 3; M b 2",
       "elements of input 1 (mask) of shape [2], want as many as input 0 (dY) of shape [3] (got 2, "
       "want 3)"},
      {"Where C X Z -> Y broadcast_on_rows=1", "C b 2,1; X i 2,2; Z i 2,2",
       "input 0 (C) has shape [2, 1], want one element for each row of input 1 (X) of shape [2, "
       "2]"},
      {"Where C X Z -> Y", "C b 2; X i 2,2; Z i 2,2",
       "input 0 (C) has shape [2], want [2, 2] as input 1 (X), or the argument broadcast_on_rows"},
      {"Where C X Z -> Y", "C b 2,2; X i 2,2; Z i 4",
       "input 2 (Z) has shape [4], want [2, 2] as input 1 (X)"},
  });
}

TEST(ElementCallsTest, OverwriteOnlyInputsOfTheShapeOfTheResult) {
  ExpectResults({
      {"Add A B -> A", "A f 1,3 = 1,2,3; B f 3 = 10,20,30", "A f 1,3 = 11,22,33"},
      {"Sub A B -> B", "A f 3 = 10,20,30; B f 1,3 = 1,2,3", "B f 1,3 = 9,18,27"},
      {"Mul A B -> Y", "A f 3 = 1,2,3; B f 1,3 = 1,10,100", "Y f 1,3 = 1,20,300"},
      {"Add A B -> A", "A i 2,2 = 1,2,3,4; B i 2,1 = 10,20", "A i 2,2 = 11,12,23,24"},
  });
  const auto other = [](const char* shape, const char* result) {
    return std::string("output 0 (Y) is an input of shape ") + shape +
           ", but the result has shape " + result + ": use another blob";
  };
  ExpectRejected({
      {"Add A B -> A", "A f 3; B f 1,3", other("[3]", "[1, 3]")},
      {"Mul A B -> B", "A f 1,3; B f 3", other("[3]", "[1, 3]")},
      {"Add A B -> A", "A f 3,1; B f 3", other("[3, 1]", "[3, 3]")},
      {"Add A B -> A", "A f 0; B f 1,0", other("[0]", "[1, 0]")},
      {"DivGradient G A B Y -> D E", "G f 2; A f 2; B f 2; Y d 2",
       "Y has elements of type double, want float as dY"},
      {"DivGradient G A B Y -> D E", "G f 2; A f 2; B d 2; Y f 2",
       "B has elements of type double, want float as dY"},
      {"DivGradient G A B Y -> D E", "G f 2; A f 2; B f 2; Y f 3",
       "dY has shape [2] and Y [3], want [2]"},
      {"DivGradient G A B Y -> D E", "G f 3; A f 2; B f 2; Y f 2",
       "dY has shape [3] and Y [2], want [2]"},
  });
}

TEST(ElementCallsTest, AddWeightedTensorsAndTheirGradients) {
  ExpectResults({
      {"WeightedSum X W -> Y", "X f 2,2 = 1,2,3,4; W f 1 = 3", "Y f 2,2 = 3,6,9,12"},
      {"WeightedSum X W Z V U T -> Y",
       "X f 2 = 1,2; W f 1 = 3; Z f 2 = 10,20; V f 1 = -1; U f 2 = 5,7; T f 1 = 100",
       "Y f 2 = 493,686"},
      {"WeightedSum X W Z V U T -> X",
       "X f 2 = 1,2; W f 1 = 3; Z f 2 = 10,20; V f 1 = -1; U f 2 = 5,7; T f 1 = 100",
       "X f 2 = 493,686"},
      {"WeightedSumGradient G X W Z V U T -> A B C D E F grad_on_w=1",
       "G f 2 = 1,10; X f 2 = 1,2; W f 1 = 3; Z f 2 = 10,20; V f 1 = -1; U f 2 = 5,7; T f 1 = 100",
       "A f 2 = 3,30; B f 2 = -1,-10; C f 2 = 100,1000; D f 1 = 21; E f 1 = 210; F f 1 = 75"},
      {"WeightedSumGradient G X W Z V -> A B", "G f 2 = 1,10; X f 2; W f 1 = 3; Z f 2; V f 1 = -1",
       "A f 2 = 3,30; B f 2 = -1,-10"},
  });
  ExpectInferred({
      {"WeightedSumGradient G X W Z V U T -> A B C D E F grad_on_w=1",
       "G f 2,3; X f 2,3; W f 1; Z f 2,3; V f 1; U f 6; T f 1",
       "float [2, 3]; float [2, 3]; float [2, 3]; float [1]; float [1]; float [1]"},
      {"WeightedSumGradient G X W -> A", "G f 2,3; X f 2,3; W f 1", "float [2, 3]"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::element_calls_test
