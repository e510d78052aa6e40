#include <limits>
#include <string>

#include "tests/operators/common/call_tables.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::rowwise_4bit_test {
namespace {

// A float16 is written as its low and high byte: 1 is 0,60; 0.5 is 0,56; 5 is 0,69; 0 is 0,0.
TEST(Rowwise4BitTest, PacksCodesAndRoundsTiesToEven) {
  ExpectResults({
      // Codes 0 0 2 2 15 8 3 1: two in a byte, the first one in the low bits.
      {"FloatToFused4BitRowwiseQuantized X -> Y", "X f 1,8 = 0,0.5,1.5,2.5,15,7.5,3,1",
       "Y u 1,8 = 0,34,143,19,0,60,0,0"},
      // Codes 0 0 1 2 | 3 2 0 1 of the scale 5.
      {"FloatToFused2BitRowwiseQuantized X -> Y", "X f 8 = 0,2.5,7,7.5,15,12,1,5",
       "Y u 6 = 144,75,0,69,0,0"},
      {"FloatToFused4BitRowwiseQuantized X -> Y", "X f 2,1,2 = -1,14,3,3",
       "Y u 2,1,5 = 240,0,60,0,188,0,0,60,0,66"},
      {"FloatToFused4BitFakeRowwiseQuantized X -> Y", "X f 1,5 = 0,0.5,1.5,2.5,15",
       "Y u 1,13 = 0,0,2,2,15,0,0,128,63,0,0,0,0"},
      {"FloatToFused2BitFakeRowwiseQuantized X -> Y", "X f 1,3 = 0,7.5,15",
       "Y u 1,11 = 0,2,3,0,0,160,64,0,0,0,0"},
      {"FloatToFused4BitRowwiseQuantized X -> Y", "X f 0,4", "Y u 0,6"},
      {"FloatToFused2BitFakeRowwiseQuantized X -> Y", "X f 0,3", "Y u 0,11"},
  });
}

TEST(Rowwise4BitTest, ReadsPackedCodes) {
  ExpectResults({
      // Scale 1, bias 2; scale 0.5, bias -1.
      {"Fused4BitRowwiseQuantizedToFloat X -> Y", "X u 2,6 = 33,67,0,60,0,64,245,0,0,56,0,188",
       "Y f 2,4 = 3,4,5,6,1.5,6.5,-1,-1"},
      {"Fused2BitRowwiseQuantizedToFloat X -> Y", "X u 6 = 228,27,0,60,0,64",
       "Y f 8 = 2,3,4,5,5,4,3,2"},
      {"Fused4BitRowwiseQuantizedToFloat X -> Y", "X u 2,4", "Y f 2,0"},
      {"Fused2BitRowwiseQuantizedToFloat X -> Y", "X u 0,5", "Y f 0,4"},
      // Fake rows are read as rows of bytes.
      {"FloatToFused2BitFakeRowwiseQuantized X -> x | Fused8BitRowwiseQuantizedToFloat x -> Y",
       "X f 1,3 = 1,8.5,16", "Y f 1,3 = 1,11,16"},
  });
}

TEST(Rowwise4BitTest, HalfRowsAreThoseOfTheirFloats) {
  Workspace ws;
  Feed<float16>(&ws, "X", {1, 4}, {float16(0.0f), float16(1.5f), float16(15.0f), float16(3.0f)});
  RunOp(&ws, R"(type: "HalfToFused4BitRowwiseQuantized" input: "X" output: "Y")");
  ExpectTensor<uint8_t>(ws, "Y", {1, 6}, {32, 63, 0, 60, 0, 0});
  RunOp(&ws, R"(type: "Fused4BitRowwiseQuantizedToHalf" input: "Y" output: "Z")");
  ExpectTensor<float16>(ws, "Z", {1, 4},
                        {float16(0.0f), float16(2.0f), float16(15.0f), float16(3.0f)});
  RunOp(&ws, R"(type: "HalfToFused2BitRowwiseQuantized" input: "X" output: "Y")");
  ExpectTensor<uint8_t>(ws, "Y", {1, 5}, {112, 0, 69, 0, 0});
  RunOp(&ws, R"(type: "Fused2BitRowwiseQuantizedToHalf" input: "Y" output: "Z")");
  ExpectTensor<float16>(ws, "Z", {1, 4},
                        {float16(0.0f), float16(0.0f), float16(15.0f), float16(5.0f)});
  RunOp(&ws, R"(type: "HalfToFused4BitFakeRowwiseQuantized" input: "X" output: "Y")");
  ExpectTensor<uint8_t>(ws, "Y", {1, 12}, {0, 2, 15, 3, 0, 0, 128, 63, 0, 0, 0, 0});
  RunOp(&ws, R"(type: "HalfToFused2BitFakeRowwiseQuantized" input: "X" output: "Y")");
  ExpectTensor<uint8_t>(ws, "Y", {1, 12}, {0, 0, 3, 1, 0, 0, 160, 64, 0, 0, 0, 0});
}

// Recorded from Caffe2: float16 scales that are 0, tiny or infinite, and numbers that have no code.
TEST(Rowwise4BitTest, CodesOddRowsAsCaffe2) {
  ExpectResults({
      // The float16 of 0.1 is less: what is left is the range.
      {"FloatToFused4BitRowwiseQuantized X -> Y", "X f 4 = 0.1", "Y u 6 = 255,255,27,0,102,46"},
      {"FloatToFused4BitRowwiseQuantized X -> Y", "X f 4 = 0,1e-7,1e-6,1e-7",
       "Y u 6 = 32,47,1,0,0,0"},
      {"FloatToFused4BitRowwiseQuantized X -> Y", "X f 4 = 0,1e7,1e6,1e7", "Y u 6 = 0,0,0,124,0,0"},
      {"FloatToFused4BitFakeRowwiseQuantized X -> Y", "X f 1,1 = 0",
       "Y u 1,9 = 0,0,0,128,63,0,0,0,0"},
      {"FloatToFused2BitFakeRowwiseQuantized X -> Y", "X f 1,1 = -0.0004505554388742894",
       "Y u 1,9 = 0,0,0,0,0,0,64,236,185"},
      {"FloatToFused2BitRowwiseQuantized X -> Y", "X f 4 = -inf,2,1,3", "Y u 5 = 0,0,124,0,252"},
      {"FloatToFused2BitRowwiseQuantized X -> Y", "X f 4 = 1,2,nan,3", "Y u 5 = 200,85,57,0,60"},
  });
}

// Recorded from Caffe2.
TEST(Rowwise4BitTest, GreedyEngineNarrowsTheRange) {
  const auto expect = [](const char* type, const std::vector<uint8_t>& want) {
    SCOPED_TRACE(type);
    Workspace ws;
    Feed<float>(&ws, "X", {1, 8}, {0, 0.5f, 1.5f, 2.5f, 15, 7.5f, 3, 1});
    RunOp(&ws, MakeString("type: \"", type, "\" input: \"X\" output: \"Y\" engine: \"GREEDY\""));
    ExpectTensor<uint8_t>(ws, "Y", {1, static_cast<int64_t>(want.size())}, want);
  };
  expect("FloatToFused4BitRowwiseQuantized", {0, 33, 127, 19, 215, 59, 205, 52});
  expect("FloatToFused2BitRowwiseQuantized", {0, 7, 122, 68, 77, 62});
  expect("FloatToFused4BitFakeRowwiseQuantized",
         {0, 0, 1, 2, 15, 7, 3, 1, 0, 224, 122, 63, 0, 160, 153, 62});
  expect("FloatToFused2BitFakeRowwiseQuantized",
         {0, 0, 0, 0, 3, 1, 0, 0, 0, 64, 143, 64, 0, 160, 201, 63});
}

// Steps of a 200th of such a range are no floats.
TEST(Rowwise4BitTest, GreedyEngineEndsForNarrowRangesAndInfinities) {
  for (const float last : {1.0000001f, 1.0000005f, std::numeric_limits<float>::infinity(),
                           std::numeric_limits<float>::quiet_NaN()}) {
    Workspace ws;
    Feed<float>(&ws, "X", {1, 2}, {1, last});
    RunOp(&ws, R"(type: "FloatToFused4BitFakeRowwiseQuantized" input: "X" output: "Y"
                  engine: "GREEDY")");
    EXPECT_EQ(ws.GetBlob("Y")->Get<Tensor>().numel(), 10);
  }
}

TEST(Rowwise4BitTest, InfersShapes) {
  ExpectInferred({
      {"FloatToFused4BitRowwiseQuantized X -> Y", "X f 2,3,8", "uint8 [2, 3, 8]"},
      {"FloatToFused2BitRowwiseQuantized X -> Y", "X f 8", "uint8 [6]"},
      {"FloatToFused2BitRowwiseQuantized X -> Y", "X f 6", "? ?"},
      {"FloatToFused2BitRowwiseQuantized X -> Y", "X f -", "? ?"},
      {"FloatToFused2BitFakeRowwiseQuantized X -> Y", "X f 2,6", "uint8 [2, 14]"},
      {"FloatToFused2BitFakeRowwiseQuantized X -> Y", "X f 6", "? ?"},
      {"Fused4BitRowwiseQuantizedToFloat X -> Y", "X u 2,6", "float [2, 4]"},
      {"Fused2BitRowwiseQuantizedToHalf X -> Y", "X u 2,6", "float16 [2, 8]"},
      {"Fused2BitRowwiseQuantizedToHalf X -> Y", "X u 2,3", "? ?"},
  });
}

TEST(Rowwise4BitTest, RejectsInvalidRows) {
  ExpectRejected({
      {"FloatToFused4BitRowwiseQuantized X -> Y", "X f -",
       "rank of input 0 (input): got 0, want at least 1"},
      {"FloatToFused4BitRowwiseQuantized X -> Y", "X f 2,0",
       "size of the last dimension of input 0 (input): got 0, want at least 1"},
      {"FloatToFused4BitRowwiseQuantized X -> Y", "X f 2,3",
       "size 3 of the last dimension of input 0 (input) modulo 2, the codes of a byte: got 1, want "
       "0"},
      {"FloatToFused2BitRowwiseQuantized X -> Y", "X f 6",
       "size 6 of the last dimension of input 0 (input) modulo 4, the codes of a byte: got 2, want "
       "0"},
      {"FloatToFused4BitFakeRowwiseQuantized X -> Y", "X f 6",
       "rank of input 0 (input) of shape [6]: got 1, want 2"},
      {"FloatToFused4BitRowwiseQuantized X -> Y", "X d 2",
       "the tensor holds elements of type double, want float"},
      {"Fused4BitRowwiseQuantizedToFloat X -> Y", "X u 2,3",
       "bytes of a row of input 0, want at least those of scale and bias (got 3, want at least 4)"},
      {"Fused2BitRowwiseQuantizedToFloat X -> Y", "X u -",
       "rank of input 0 (scale_bias_quantized_input): got 0, want at least 1"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::rowwise_4bit_test
