// Outputs whose memory holds the numbers of an earlier run, of operators that have nothing to add to them: no indices,
// no rows, or an empty gradient. All elements are written. Each output is fed before the run.
#include <gtest/gtest.h>

#include "tests/operators/common/call_tables.h"

namespace caffe2rt::test::stale_outputs_test {
namespace {

TEST(StaleOutputsTest, OfGradientsWithoutElementsBecomeZero) {
  ExpectResults({
      {"GatherElementsGradient X I G -> D", "X f 2,3; I l 0,3; G f 0,3; D f 2,3 = 9",
       "D f 2,3 = 0"},
      {"GatherElementsGradient X I G -> D axis=1", "X d 2,3; I i 2,0; G d 2,0; D d 2,3 = 9",
       "D d 2,3 = 0"},
      {"BatchGatherGradient X I G -> D", "X f 2,3; I l 0; G f 2,0; D f 2,3 = 9", "D f 2,3 = 0"},
      {"ONNXSliceGradient X G -> D starts=2, ends=1,", "X f 3,2; G f 0,2; D f 3,2 = 9",
       "D f 3,2 = 0"},
      {"ONNXSliceGradient X G -> D starts=0, ends=2, steps=-1,", "X i 3; G i 0; D i 3 = 9",
       "D i 3 = 0"},
      {"SliceGradient X G -> D starts=1,0 ends=1,2", "X f 3,2; G f 0,2; D f 3,2 = 9",
       "D f 3,2 = 0"},
      {"SparseToDense I V X -> Y", "I i 0; V f 0,2; X f 3; Y f 3,2 = 9", "Y f 3,2 = 0"},
      {"ExpandGradient G X -> D", "G f 0,3; X f 1,3; D f 1,3 = 9", "D f 1,3 = 0"},
      {"AddGradient G A B -> D E", "G f 0,3; A f 0,3; B f 3; E f 3 = 9", "D f 0,3; E f 3 = 0"},
      {"SubGradient G A B -> D E", "G f 0,3; A f 1,3; B f 0,3; D f 1,3 = 9",
       "D f 1,3 = 0; E f 0,3"},
      {"MulGradient G A B -> D E", "G d 0,3; A d 0,3; B d -; E d - = 9", "D d 0,3; E d - = 0"},
      {"DivGradient G A B Y -> D E", "G f 2,0; A f 2,1; B f 0; Y f 2,0; D f 2,1 = 9",
       "D f 2,1 = 0; E f 0"},
      {"BooleanMaskGradient M G -> D", "M b 3 = 0; G f 0,2; D f 3,2 = 9", "D f 3,2 = 0"},
      {"TTSparseLengthsSumGradient a b c L p q i g -> x y z",
       "a f 2,1,1,1; b f 2,1,3,1; c f 1,1,2,1; L i 1 = 0; p f 0,1,1; q f 0,3,1; i l 0,3; g f 1,6; "
       "x f 2,1,1,1 = 9; y f 2,1,3,1 = 9; z f 1,1,2,1 = 9",
       "x f 2,1,1,1 = 0; y f 2,1,3,1 = 0; z f 1,1,2,1 = 0"},
      {"PReluGradient Y G X W -> D E", "Y f 0,3; G f 0,3; X f 0,3; W f 3; E f 3 = 9",
       "D f 0,3; E f 3 = 0"},
      {"ElementwiseLinearGradient G X w -> D E F", "G f 0,3; X f 0,3; w f 3; E f 3 = 9; F f 3 = 9",
       "D f 0,3; E f 3 = 0; F f 3 = 0"},
      {"SumReduceLike A B -> Y", "A f 0,3; B f 3; Y f 3 = 9", "Y f 3 = 0"},
      {"ScatterElements X I U -> Y", "X f 2,2 = 1,2,3,4; I l 0,2; U f 0,2; Y f 2,2 = 9",
       "Y f 2,2 = 1,2,3,4"},
  });
}

TEST(StaleOutputsTest, OfEmptySumsBecomeZero) {
  ExpectResults({
      {"LengthsSum X L -> Y", "X f 0,2; L i 3 = 0; Y f 3,2 = 9", "Y f 3,2 = 0"},
      {"LengthsMean X L -> Y", "X f 0,2; L i 3 = 0; Y f 3,2 = 9", "Y f 3,2 = 0"},
      {"LengthsMax X L -> Y", "X f 0,2; L i 3 = 0; Y f 3,2 = 9", "Y f 3,2 = 0"},
      {"LengthsWeightedSum X S L -> Y", "X f 0,2; S f 0; L i 2 = 0; Y f 2,2 = 9", "Y f 2,2 = 0"},
      {"SparseLengthsSum X I L -> Y", "X f 4,2; I l 0; L i 2 = 0; Y f 2,2 = 9", "Y f 2,2 = 0"},
      {"SparseLengthsMean X I L -> Y", "X f 4,2; I i 0; L i 2 = 0; Y f 2,2 = 9", "Y f 2,2 = 0"},
      {"UnsortedSegmentSum X I -> Y num_segments=2", "X f 0,2; I i 0; Y f 2,2 = 9", "Y f 2,2 = 0"},
      {"UnsortedSegmentMean X I -> Y num_segments=2", "X f 1,2 = 3; I i 1 = 1; Y f 2,2 = 9",
       "Y f 2,2 = 0,0,3,3"},
      {"ReduceSum X -> Y axes=0,", "X f 0,2; Y f 1,2 = 9", "Y f 1,2 = 0"},
      {"SumElements X -> Y", "X f 0; Y f - = 9", "Y f - = 0"},
      {"SumSqrElements X -> Y", "X f 0; Y f - = 9", "Y f - = 0"},
      {"AveragedLoss X -> Y", "X f 0; Y f - = 9", "Y f - = 0"},
      {"SegmentOneHot L I n -> Y", "L i 2 = 0; I l 0; n l 1 = 3; Y f 2,3 = 9", "Y f 2,3 = 0"},
      {"MultiClassAccuracy P L -> A N", "P f 0,3; L i 0; A f 3 = 9; N i 3 = 9",
       "A f 3 = 0; N i 3 = 0"},
      {"AccumulateHistogram X -> C A num_buckets=2", "X f 0; C l 4 = 9; A l 4 = 9",
       "C l 4 = 0; A l 4 = 0"},
      {"SquaredL2Distance X Y -> Z", "X f 2,0; Y f 2,0; Z f 2 = 9", "Z f 2 = 0"},
      {"L1Distance X Y -> Z", "X f 2,0; Y f 2,0; Z f 2 = 9", "Z f 2 = 0"},
      {"ONNXMatMul A B -> Y", "A f 2,0; B f 0,3; Y f 2,3 = 9", "Y f 2,3 = 0"},
      {"Einsum A B -> Y equation=ij,jk->ik", "A f 2,0; B f 0,3; Y f 2,3 = 9", "Y f 2,3 = 0"},
      {"GatherPadding X L -> P Q", "X f 0,2; L i 0; P f 2 = 9; Q f 2 = 9", "P f 2 = 0; Q f 2 = 0"},
      {"Pad X -> Y pads=1,2", "X f 0; Y f 3 = 9", "Y f 3 = 0"},
  });
}

// Shapes and lists that became empty.
TEST(StaleOutputsTest, BecomeEmptyWithTheirInputs) {
  ExpectResults({
      {"Unique I -> U R", "I i 0; U i 3 = 9; R i 3 = 9", "U i 0; R i 0"},
      {"FindDuplicateElements X -> I", "X l 0; I l 2 = 9", "I l 0"},
      {"NonZero X -> I", "X f 0; I l 1,2 = 9", "I l 1,0"},
      {"BooleanMask X M -> Y I", "X f 2,3; M b 2 = 0; Y f 2,3 = 9; I l 2 = 9", "Y f 0,3; I l 0"},
      {"BooleanMask X M -> Y I", "X f 3,0; M b 3 = 1,0,1; Y f 3,0; I l 3 = 9",
       "Y f 2,0; I l 2 = 0,2"},
      {"DropoutGrad G -> D is_test=1", "G f 0,2; D f 3,2 = 9", "D f 0,2"},
      {"MeanGradient G -> D E", "G f 0,2; D f 3,2 = 9; E f 3,2 = 9", "D f 0,2; E f 0,2"},
      {"LengthsToSegmentIds L -> I", "L i 2 = 0; I i 2 = 9", "I i 0"},
      {"AddPadding X L -> Y M", "X f 3,0; L i 2 = 1,2; Y f 3,0; M i 2 = 9", "Y f 7,0; M i 2 = 3,4"},
      {"RemovePadding X L -> Y M", "X f 7,0; L i 2 = 3,4; M i 2 = 9", "Y f 3,0; M i 2 = 1,2"},
      {"AddPadding X L -> Y M", "X f 0,2; L i 0; M i 2 = 9", "Y f 0,2; M i 0"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::stale_outputs_test
