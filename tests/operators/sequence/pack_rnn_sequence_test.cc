#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::pack_rnn_sequence_test {
namespace {

TEST(PackRNNSequenceTest, PutsStepsOutside) {
  ExpectResults({
      // Rows 1 to 6 are steps 0, 1 of sequence 0, none of 1, and 0, 1, 2 of 2; row 7 is left over.
      {"PackRNNSequence X L -> Y", "X f 6,1 = 1,2,3,4,5,6; L i 3 = 2,0,3",
       "Y f 3,3,1 = 1,0,3,2,0,4,0,0,5"},
      {"PackRNNSequence X L -> Y", "X i 3,2 = 1,2,3,4,5,6; L i 2 = 1,2",
       "Y i 2,2,2 = 1,2,3,4,0,0,5,6"},
      {"PackRNNSequence X L -> Y", "X d 2,1,2 = 1,2,3,4; L i 1 = 2", "Y d 2,1,1,2 = 1,2,3,4"},
      {"PackRNNSequence X L -> Y", "X l 2,1 = 7,8; L i 2 = 0", "Y l 0,2,1"},
      {"PackRNNSequence X L -> Y", "X f 0,2; L i 0", "Y f 0,0,2"},
      {"PackRNNSequence X L -> Y", "X f 3,0; L i 2 = 1,2", "Y f 2,2,0"},
  });
}

TEST(UnpackRNNSequenceTest, PutsSequencesOneAfterTheOther) {
  ExpectResults({
      {"UnpackRNNSequence X L -> Y", "X f 2,3,1 = 1,2,3,4,5,6; L i 3 = 2,0,1", "Y f 3,1 = 1,4,3"},
      {"UnpackRNNSequence X L -> Y", "X d 2,2,2 = 1,2,3,4,5,6,7,8; L i 2 = 1,1",
       "Y d 2,2 = 1,2,3,4"},
      {"UnpackRNNSequence X L -> Y", "X i 1,1,2,1 = 1,2; L i 1 = 1", "Y i 1,2,1 = 1,2"},
      {"UnpackRNNSequence X L -> Y", "X l 0,2,3; L i 2 = 0", "Y l 0,3"},
  });
}

TEST(PackRNNSequenceTest, IsTheGradientOfUnpackRNNSequence) {
  EXPECT_EQ(DescribeGradient(R"(type: "PackRNNSequence" input: "X" input: "L" output: "Y")"),
            "UnpackRNNSequence(Y_grad,L)->X_grad | X_grad -");
  EXPECT_EQ(DescribeGradient(R"(type: "UnpackRNNSequence" input: "X" input: "L" output: "Y")"),
            "PackRNNSequence(Y_grad,L)->X_grad | X_grad -");
  ExpectInferred({{"PackRNNSequence X L -> Y", "X d 6,2; L i 3", "double ?"},
                  {"UnpackRNNSequence X L -> Y", "X l 6,3,2; L i 3", "int64 ?"}});
}

TEST(PackRNNSequenceTest, RejectsInvalidCalls) {
  ExpectRejected({
      {"PackRNNSequence X L -> Y", "X u 3,1; L i 1 = 3",
       "Unsupported type of tensor: input 0 (values) has elements of type uint8, want float, "
       "double, int32, int64"},
      {"PackRNNSequence X L -> Y", "X f 3; L i 1 = 3",
       "rank of input 0 (values) of shape [3]: got 1, want more than 1"},
      {"PackRNNSequence X L -> Y", "X f 3,1; L i 1,1 = 3",
       "rank of input 1 (lengths) of shape [1, 1]: got 2, want 1"},
      {"PackRNNSequence X L -> Y", "X f 3,1; L i 2 = 2,2",
       "sum of the lengths, want at most dim 0 of input 0 (values) of shape [3, 1] (got 4, want at "
       "most 3)"},
      {"PackRNNSequence X L -> Y", "X f 3,1; L i 2 = 4,-1",
       "element 1 of input 1 (lengths), want at least 0 (got -1, want at least 0)"},
      {"UnpackRNNSequence X L -> Y", "X f 3,1; L i 1 = 3",
       "rank of input 0 (values) of shape [3, 1]: got 2, want more than 2"},
      {"UnpackRNNSequence X L -> Y", "X f 2,2,1; L i 3 = 1",
       "elements of input 1 (lengths), want dim 1 of input 0 (values) of shape [2, 2, 1] (got 3, "
       "want 2)"},
      {"UnpackRNNSequence X L -> Y", "X f 2,2,1; L i 2 = 1,3",
       "longest of input 1 (lengths), want at most dim 0 of input 0 (values) of shape [2, 2, 1] "
       "(got 3, want at most 2)"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::pack_rnn_sequence_test
