#include <limits>

#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::flexible_top_k_test {
namespace {

const char* const kFlexible =
    R"(type: "FlexibleTopK" input: "X" input: "K" output: "V" output: "I")";

TEST(FlexibleTopKTest, SelectsAsManyElementsAsEachRowAsksFor) {
  ExpectResults({
      {"FlexibleTopK X K -> V I", "X f 2,4 = 1,3,2,3,4,4,0,1; K l 2 = 2,3",
       "V f 5 = 3,3,4,4,1; I l 5 = 1,3,0,1,3"},
      {"FlexibleTopK X K -> V I", "X f 1,2,2 = 1,2,4,3; K l 2,1 = 1,2",
       "V f 3 = 2,4,3; I l 3 = 1,0,1"},
      {"FlexibleTopK X K -> V I", "X f 4 = 1,3,2,3; K l - = 2", "V f 2 = 3,3; I l 2 = 1,3"},
      {"FlexibleTopK X K -> V I", "X f 0,4; K l 0", "V f 0; I l 0"},
  });
  ExpectInferred(
      {{"FlexibleTopK X K -> V I", "X f 2,4; K l 2", "float ?; int64 ?"},
       {"FlexibleTopKGradient X K G I -> Y", "X f 2,4; K l 2; G f 3; I l 3", "float [2, 4]"}});
}

// Recorded from Caffe2.
TEST(FlexibleTopKTest, OrdersNaNAsCaffe2) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  Workspace ws;
  Feed<float>(&ws, "X", {5}, {1, kNaN, 3, kNaN, 2});
  Feed<int64_t>(&ws, "K", {1}, {3});
  RunOp(&ws, kFlexible);
  ExpectTensor<int64_t>(ws, "I", {3}, {2, 1, 4});
  Feed<float>(&ws, "X", {4}, {kNaN, 1, 2, 3});
  Feed<int64_t>(&ws, "K", {1}, {2});
  RunOp(&ws, kFlexible);
  ExpectTensor<int64_t>(ws, "I", {2}, {1, 0});
}

TEST(FlexibleTopKTest, RejectsInvalidCalls) {
  ExpectRejected({
      {"FlexibleTopK X K -> V I", "X f -; K l 1 = 1",
       "rank of input 0 (X): got 0, want at least 1"},
      {"FlexibleTopK X K -> V I", "X f 2,4; K l 3 = 1",
       "elements of input 1 (K), want one for each row of input 0 (X) of shape [2, 4] (got 3, want "
       "2)"},
      {"FlexibleTopK X K -> V I", "X f 2,4; K l 2 = 1,5",
       "element 1 of input 1 (K) is 5, want 1 to 4"},
      {"FlexibleTopK X K -> V I", "X f 2,4; K l 2 = 0,1",
       "element 0 of input 1 (K) is 0, want 1 to 4"},
      {"FlexibleTopK X K -> V I", "X f 2,4; K i 2 = 1",
       "the tensor holds elements of type int32, want int64"},
  });
}

TEST(FlexibleTopKGradientTest, PutsGradientsAtTheirIndices) {
  ExpectResults({{"FlexibleTopKGradient X K G I -> Y",
                  "X f 2,3; K l 2 = 1,2; G f 3 = 5,6,7; I l 3 = 2,1,0", "Y f 2,3 = 0,0,5,7,6,0"},
                 {"FlexibleTopKGradient X K G I -> Y", "X f 0,3; K l 0; G f 0; I l 0", "Y f 0,3"}});
  EXPECT_EQ(DescribeGradient(kFlexible), "FlexibleTopKGradient(X,K,V_grad,I)->X_grad | X_grad -");
  ExpectRejected({
      {"FlexibleTopKGradient X K G I -> Y", "X f 2,3; K l 2 = 1,2; G f 2; I l 3",
       "elements of input 2 (dValues), want the sum of input 1 (K) (got 2, want 3)"},
      {"FlexibleTopKGradient X K G I -> Y", "X f 2,3; K l 2 = 1,2; G f 3; I l 2",
       "elements of input 3 (Indices), want the sum of input 1 (K) (got 2, want 3)"},
      {"FlexibleTopKGradient X K G I -> Y", "X f 2,3; K l 1 = 1; G f 1; I l 1",
       "elements of input 1 (K), want one for each row of input 0 (X) of shape [2, 3] (got 1, want "
       "2)"},
      {"FlexibleTopKGradient X K G I -> Y", "X f 1,3; K l 1 = 1; G f 1; I l 1 = -1",
       "element 0 of input 3 (Indices) is -1, want 0 to 2"},
      {"FlexibleTopKGradient X K G I -> Y", "X f 1,3; K l 1 = 2; G f 2; I l 2 = 0,3",
       "element 1 of input 3 (Indices) is 3, want 0 to 2"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::flexible_top_k_test
