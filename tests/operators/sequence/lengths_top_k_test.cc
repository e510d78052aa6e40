#include <limits>
#include <string>

#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::lengths_top_k_test {
namespace {

const char* const kTop = R"(type: "LengthsTopK" input: "X" input: "L" output: "V" output: "I")";

TEST(LengthsTopKTest, SelectsTheLargestElementsOfEachSegment) {
  ExpectResults({
      // The second segment has one element, the third none.
      {"LengthsTopK X L -> V I k=2", "X f 6 = 2,7,5,-1,4,9; L i 4 = 3,1,0,2",
       "V f 4,2 = 7,5,-1,0,0,0,9,4; I i 4,2 = 1,2,0,-1,-1,-1,1,0"},
      // Among equal elements the first ones count.
      {"LengthsTopK X L -> V I k=2", "X f 5 = 1,3,3,2,3; L i 1 = 5",
       "V f 1,2 = 3,3; I i 1,2 = 1,2"},
      {"LengthsTopK X L -> V I k=1", "X f 4,1 = -3,-2,-1,-4; L i 2 = 2,2",
       "V f 2,1 = -2,-1; I i 2,1 = 1,0"},
      {"LengthsTopK X L -> V I k=3", "X f 0; L i 0", "V f 0,3; I i 0,3"},
      {"LengthsTopK X L -> V I k=1", "X f 0; L i 2 = 0", "V f 2,1 = 0; I i 2,1 = -1"},
  });
}

// Recorded from Caffe2.
TEST(LengthsTopKTest, OrdersNaNAsCaffe2) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  Workspace ws;
  Feed<float>(&ws, "X", {5}, {1, kNaN, 3, kNaN, 2});
  Feed<int32_t>(&ws, "L", {1}, {5});
  RunOp(&ws, std::string(kTop) + R"( arg { name: "k" i: 3 })");
  ExpectTensor<int32_t>(ws, "I", {1, 3}, {2, 1, 4});
  Feed<float>(&ws, "X", {4}, {kNaN, 1, 2, 3});
  Feed<int32_t>(&ws, "L", {1}, {4});
  RunOp(&ws, std::string(kTop) + R"( arg { name: "k" i: 2 })");
  ExpectTensor<float>(ws, "V", {1, 2}, {1, kNaN});
}

TEST(LengthsTopKTest, InfersShapes) {
  ExpectInferred({{"LengthsTopK X L -> V I k=4", "X f 5; L i 3", "float [3, 4]; int32 [3, 4]"},
                  {"LengthsTopK X L -> V I k=4", "X f 5; L i ?", "float ?; int32 ?"},
                  {"LengthsTopKGradient L I G -> Y k=2", "L i 3; I i 3,2; G f 3,2", "float ?"}});
}

TEST(LengthsTopKTest, RejectsInvalidCalls) {
  ExpectRejected({
      {"LengthsTopK X L -> V I", "X f 1; L i 1 = 1", "argument k: got -1, want at least 1"},
      {"LengthsTopK X L -> V I k=0", "X f 1; L i 1 = 1", "argument \"k\" is 0, want at least 1"},
      {"LengthsTopK X L -> V I k=1", "X f -; L i 1 = 1",
       "rank of input 0 (DATA): got 0, want at least 1"},
      {"LengthsTopK X L -> V I k=1", "X f 1; L i 1,1 = 1",
       "rank of input 1 (LENGTHS) of shape [1, 1]: got 2, want 1"},
      {"LengthsTopK X L -> V I k=1", "X d 1; L i 1 = 1",
       "the tensor holds elements of type double, want float"},
      {"LengthsTopK X L -> V I k=1", "X f 1; L l 1 = 1",
       "the tensor holds elements of type int64, want int32"},
      {"LengthsTopK X L -> V I k=1", "X f 3; L i 2 = 4,-1",
       "element 1 of input 1 (LENGTHS), want at least 0 (got -1, want at least 0)"},
      {"LengthsTopK X L -> V I k=1", "X f 3; L i 2 = 1,1",
       "sum of the lengths, want the elements of input 0 (DATA) of shape [3] (got 2, want 3)"},
  });
}

TEST(LengthsTopKGradientTest, PutsGradientsAtTheirPositions) {
  ExpectResults(
      {{"LengthsTopKGradient L I G -> Y k=2",
        "L i 3 = 3,0,1; I i 3,2 = 2,0,-1,-1,0,-1; G f 3,2 = 1,2,3,4,5,6", "Y f 4 = 2,0,1,5"},
       {"LengthsTopKGradient L I G -> Y k=2", "L i 0; I i 0,2; G f 0,2", "Y f 0"}});
  EXPECT_EQ(DescribeGradient(std::string(kTop) + R"( arg { name: "k" i: 2 })"),
            "LengthsTopKGradient(L,I,V_grad)->X_grad k=2 | X_grad -");
}

TEST(LengthsTopKGradientTest, RejectsInvalidCalls) {
  ExpectRejected({
      {"LengthsTopKGradient L I G -> Y k=1", "L i 1,1; I i 1,1; G f 1,1",
       "rank of input 0 (LENGTHS) of shape [1, 1]: got 2, want 1"},
      {"LengthsTopKGradient L I G -> Y k=2", "L i 1 = 2; I i 1,1; G f 1,2",
       "input 1 (TopKIndices) has shape [1, 1], want [1, 2]: a row of k for each of LENGTHS"},
      {"LengthsTopKGradient L I G -> Y k=1", "L i 1 = 2; I i 1,1; G f 2,1",
       "input 2 (dTopKValue) has shape [2, 1], want [1, 1]: a row of k for each of LENGTHS"},
      // Within the tensor, but not within the segment.
      {"LengthsTopKGradient L I G -> Y k=1", "L i 2 = 1,2; I i 2,1 = 1,0; G f 2,1",
       "element 0 of input 1 (TopKIndices), want less than the length of the segment (got 1, want "
       "less than 1)"},
      {"LengthsTopKGradient L I G -> Y k=1", "L i 1 = 1; I l 1,1; G f 1,1",
       "the tensor holds elements of type int64, want int32"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::lengths_top_k_test
