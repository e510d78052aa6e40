#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::viterbi_path_test {
namespace {

TEST(ViterbiPathTest, FindsThePathWithTheGreatestSum) {
  ExpectResults({
      // Label 1 is best at both steps, but 0 before 1 is worth more than that: 0 + 5 + 2.
      {"ViterbiPath P T -> Y", "P f 2,2 = 0,3,0,2; T f 2,2 = 0,5,0,0", "Y i 2 = 0,1"},
      {"ViterbiPath P T -> Y", "P f 3,2 = 1,0,0,1,1,0; T f 2,2 = 0", "Y i 3 = 0,1,0"},
      // Among equal paths the lower labels count.
      {"ViterbiPath P T -> Y", "P f 2,3 = 0; T f 3,3 = 0,1,1,1,0,1,1,1,1", "Y i 2 = 1,0"},
      {"ViterbiPath P T -> Y", "P f 1,3 = 1,4,2; T f 3,3 = 0", "Y i 1 = 1"},
  });
  ExpectInferred({{"ViterbiPath P T -> Y", "P f 4,3; T f 3,3", "int32 [4]"},
                  {"ViterbiPath P T -> Y", "P f ?; T f 3,3", "int32 ?"}});
  EXPECT_EQ(DescribeGradient(R"(type: "ViterbiPath" input: "P" input: "T" output: "Y")"), " | - -");
}

TEST(ViterbiPathTest, RejectsInvalidCalls) {
  ExpectRejected({
      {"ViterbiPath P T -> Y", "P f 0,2; T f 2,2",
       "input 0 (predictions) has shape [0, 2], want a matrix that is not empty"},
      {"ViterbiPath P T -> Y", "P f 2; T f 2,2",
       "input 0 (predictions) has shape [2], want a matrix that is not empty"},
      {"ViterbiPath P T -> Y", "P f 1,2; T f 2,3",
       "input 1 (transitions) has shape [2, 3], want [2, 2], as input 0 (predictions) has 2 "
       "columns"},
      {"ViterbiPath P T -> Y", "P d 1,2; T f 2,2",
       "the tensor holds elements of type double, want float"},
  });
}

TEST(SwapBestPathTest, ExchangesTheGreatestScoreOfEachRow) {
  ExpectResults({
      {"SwapBestPath P B -> Y", "P f 3,3 = 1,5,2,7,8,9,3,2,1; B i 3 = 0,1,0",
       "Y f 3,3 = 5,1,2,7,9,8,3,2,1"},
      // The first of equal scores is exchanged.
      {"SwapBestPath P B -> Y", "P f 2,3 = 1,1,0,0,1,1; B i 2 = 2,0", "Y f 2,3 = 0,1,1,1,0,1"},
      {"SwapBestPath P B -> Y", "P f 0,3; B i 0", "Y f 0,3"},
  });
  ExpectInferred({{"SwapBestPath P B -> Y", "P f 4,3; B i 4", "float [4, 3]"}});
  ExpectRejected({
      {"SwapBestPath P B -> Y", "P f 3; B i 3",
       "rank of input 0 (predictions) of shape [3]: got 1, want 2"},
      {"SwapBestPath P B -> Y", "P f 3,2; B i 2",
       "input 1 (bestPath) has shape [2], want [3], the rows of input 0 (predictions)"},
      {"SwapBestPath P B -> Y", "P f 2,2; B i 2 = 1,2",
       "element 1 of input 1 (bestPath) is 2, want 0 to 1"},
      {"SwapBestPath P B -> Y", "P f 2,2; B i 2 = -1,0",
       "element 0 of input 1 (bestPath) is -1, want 0 to 1"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::viterbi_path_test
