#include <string>

#include "tests/operators/common/call_tables.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::rowwise_rand_test {
namespace {

TEST(RowwiseRandTest, RoundsToNearestWithoutRandom) {
  const std::string type = "FloatToFusedRandRowwiseQuantized X -> Y random=0 bitwidth=",
                    x = "X f 1,9 = 0,0.5,1.5,2.5,15,7,3,1,4.4";
  ExpectResults({
      // Bits 0 0 0 0 1 0 0 0 0 in two bytes, alternately; 7 codes are unused.
      {type + "1", x, "Y u 1,12 = 1,7,0,0,0,0,0,0,112,65,4,0"},
      // Codes 0 0 0 0 3 1 1 0 1 of a step of 5, in three bytes.
      {type + "2", x, "Y u 1,13 = 2,3,0,0,0,0,0,0,112,65,16,12,20"},
      // Codes 0 0 2 2 15 7 3 1 4 of a step of 1, in five bytes.
      {type + "4", x, "Y u 1,15 = 4,1,0,0,0,0,0,0,112,65,112,48,18,66,15"},
      {type + "8", "X f 2,2 = 0,255,3,3",
       "Y u 2,12 = 8,0,0,0,0,0,0,0,127,67,0,255,8,0,0,0,64,64,0,0,64,64,0,0"},
      {type + "2", "X f 0,3", "Y u 0,11"},
  });
}

TEST(RowwiseRandTest, ReadsRowsOfEveryBitwidth) {
  const std::string type = "FusedRandRowwiseQuantizedToFloat X -> Y";
  ExpectResults({
      // From 1 to 7: steps of 2. The codes 0 3 | 1 2 | 2 of bytes 228 and 27, of which three are unused.
      {type, "X u 1,12 = 2,3,0,0,128,63,0,0,224,64,228,27", "Y f 1,5 = 1,7,3,5,5"},
      {type, "X u 1,11 = 1,6,0,0,128,63,0,0,224,64,2", "Y f 1,2 = 1,7"},
      {type, "X u 2,11 = 4,0,0,0,0,0,0,0,112,65,46,4,0,0,0,0,0,0,0,112,65,209",
       "Y f 2,2 = 14,2,1,13"},
      {type, "X u 1,12 = 8,0,0,0,0,0,0,0,127,67,9,200", "Y f 1,2 = 9,200"},
      {type, "X u 1,10 = 8,0,0,0,0,0,0,0,127,67", "Y f 1,0"},
  });
}

// 0.25 of a step is rounded up in a quarter of the draws.
TEST(RowwiseRandTest, RoundsUpWithTheProbabilityOfTheFraction) {
  constexpr int64_t kElements = 40000;
  std::vector<float> x(kElements, 0.25f);
  x[0] = 0;
  x[1] = 1;
  Workspace ws;
  Feed<float>(&ws, "X", {1, kElements}, x);
  RunOp(&ws, R"(type: "FloatToFusedRandRowwiseQuantized" input: "X" output: "Y"
                arg { name: "bitwidth" i: 1 } device_option { random_seed: 7 })");
  RunOp(&ws, R"(type: "FusedRandRowwiseQuantizedToFloat" input: "Y" output: "Z")");
  const Tensor& z = ws.GetBlob("Z")->Get<Tensor>();
  ASSERT_EQ(z.numel(), kElements);
  EXPECT_EQ(z.data<float>()[0], 0);
  EXPECT_EQ(z.data<float>()[1], 1);
  double sum = 0;
  for (int64_t i = 0; i < kElements; ++i) sum += z.data<float>()[i];
  // Five standard deviations.
  EXPECT_NEAR(sum / kElements, 0.25, 0.011);
}

// Recorded from Caffe2.
TEST(RowwiseRandTest, CodesOddRowsAsCaffe2) {
  const std::string type = "FloatToFusedRandRowwiseQuantized X -> Y random=0 bitwidth=8";
  ExpectResults({
      {type, "X f 1,3 = nan,1,2", "Y u 1,13 = 8,0,0,0,128,63,0,0,0,64,255,0,255"},
      {type, "X f 1,3 = inf,1,2", "Y u 1,13 = 8,0,0,0,128,63,0,0,128,127,255,0,0"},
      {type, "X f 1,3 = -inf,1,2", "Y u 1,13 = 8,0,0,0,128,255,0,0,0,64,255,255,255"},
  });
}

TEST(RowwiseRandTest, InfersShapes) {
  ExpectInferred({
      {"FloatToFusedRandRowwiseQuantized X -> Y", "X f 2,9", "uint8 [2, 19]"},
      {"FloatToFusedRandRowwiseQuantized X -> Y bitwidth=2", "X f 2,9", "uint8 [2, 13]"},
      {"FloatToFusedRandRowwiseQuantized X -> Y", "X f 9", "? ?"},
      {"FusedRandRowwiseQuantizedToFloat X -> Y", "X u 2,19", "float ?"},
  });
}

TEST(RowwiseRandTest, RejectsInvalidCalls) {
  const std::string from = "FusedRandRowwiseQuantizedToFloat X -> Y";
  ExpectRejected({
      {"FloatToFusedRandRowwiseQuantized X -> Y bitwidth=3", "X f 1,1",
       "argument \"bitwidth\" is 3, want 1, 2, 4 or 8"},
      {"FloatToFusedRandRowwiseQuantized X -> Y", "X f 3",
       "rank of input 0 (input) of shape [3]: got 1, want 2"},
      {"FloatToFusedRandRowwiseQuantized X -> Y", "X f 3,0",
       "size of the last dimension of input 0 (input): got 0, want at least 1"},
      {"FloatToFusedRandRowwiseQuantized X -> Y", "X d 1,1",
       "the tensor holds elements of type double, want float"},
      {from, "X u 12", "rank of input 0 (quantized_input) of shape [12]: got 1, want 2"},
      {from, "X u 1,9",
       "input 0 (quantized_input) has shape [1, 9], want at least one row of at least 10 bytes"},
      {from, "X u 0,12",
       "input 0 (quantized_input) has shape [0, 12], want at least one row of at least 10 bytes"},
      {from, "X u 1,11 = 3,0,0,0,0,0,0,0,0,0,0",
       "bitwidth in row 0 of input 0 (quantized_input) is 3, want 1, 2, 4 or 8"},
      {from, "X u 1,11 = 4,3,0,0,0,0,0,0,0,0,0",
       "elements of a row of input 0 (quantized_input) of shape [1, 11] with 3 unused codes: got "
       "-1, "
       "want at least 0"},
      {from, "X u 2,11 = 4,0,0,0,0,0,0,0,0,0,0,8,0,0,0,0,0,0,0,0,0,0",
       "bitwidth in row 1 of input 0 (quantized_input), want that of row 0 (got 8, want 4)"},
      {from, "X u 2,11 = 4,0,0,0,0,0,0,0,0,0,0,4,1,0,0,0,0,0,0,0,0,0",
       "unused codes of row 1 of input 0 (quantized_input), want those of row 0 (got 1, want 0)"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::rowwise_rand_test
