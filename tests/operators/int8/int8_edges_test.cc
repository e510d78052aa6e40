// Quantized operators with two arguments for one thing, scales at the ends of their ranges and results without
// elements.
#include <gtest/gtest.h>

#include "caffe2_core/graph/memory_traits.h"
#include "operators/int8/int8_gemm.h"
#include "tests/operators/common/call_tables.h"
#include "tests/operators/int8/int8_blobs.h"

namespace caffe2rt::test::int8_edges_test {
namespace {

// Quantizes X to x with scale 0.5 and zero point 10, and the result of the operator back.
std::string FromX(const std::string& op) {
  return "Int8Quantize X -> x Y_scale=0.5 Y_zero_point=10 | " + op + " | Int8Dequantize y -> Y";
}
const std::string kSameAsX = " Y_scale=0.5 Y_zero_point=10";

TEST(Int8EdgesTest, TheAxisOfAConcatWinsOverItsOrder) {
  const std::string x = "X f 1,2,1,2 = 1,2,3,4";
  ExpectResults({
      {FromX("Int8Concat x x -> y axis=1 order=NHWC" + kSameAsX), x,
       "Y f 1,4,1,2 = 1,2,3,4,1,2,3,4"},
      {FromX("Int8Concat x x -> y axis=3 order=NCHW" + kSameAsX), x,
       "Y f 1,2,1,4 = 1,2,1,2,3,4,3,4"},
      {FromX("Int8Concat x x -> y axis=0 order=NHWC" + kSameAsX), x,
       "Y f 2,2,1,2 = 1,2,3,4,1,2,3,4"},
      {FromX("Int8Concat x x -> y order=NHWC add_axis=1" + kSameAsX), x,
       "Y f 1,2,1,4 = 1,2,1,2,3,4,3,4"},
      {FromX("Int8Concat x x -> y order=NCHW" + kSameAsX), x, "Y f 1,4,1,2 = 1,2,3,4,1,2,3,4"},
      {FromX("Int8Concat x x -> y" + kSameAsX), x, "Y f 2,2,1,2 = 1,2,3,4,1,2,3,4"},
      {FromX("Int8Concat x -> y axis=1" + kSameAsX), x, "Y f 1,2,1,2 = 1,2,3,4"},
  });
  ExpectInferred({
      {"Int8Concat x x -> y axis=1 order=NHWC", "x u 1,2,1,3", "uint8 [1, 4, 1, 3]"},
      {"Int8Concat x x -> y axis=3 order=NCHW", "x u 1,2,1,3", "uint8 [1, 2, 1, 6]"},
      {"Int8Concat x x -> y order=NHWC", "x u 1,2,1,3", "uint8 [1, 2, 1, 6]"},
      {"Int8Concat x x -> y order=NCHW", "x u 1,2,1,3", "uint8 [1, 4, 1, 3]"},
      {"Int8Concat x x -> y", "x u 1,2,1,3", "uint8 [2, 2, 1, 3]"},
  });
}

TEST(Int8EdgesTest, ScalesOfMeansMayDifferBy256) {
  const std::string pool =
      "Int8AveragePool x -> y order=NHWC kernel_h=1 kernel_w=2 Y_zero_point=3 Y_scale=";
  ExpectResults({
      // The largest steps of 0.5 are 122.5, which is 0.957 steps of 128.
      {FromX(pool + "128."), "X f 1,1,2,1 = 122.5", "Y f 1,1,1,1 = 128"},
      {FromX(pool + "0.0019550323"), "X f 1,1,2,1 = 0", "Y f 1,1,1,1 = 0"},
  });
  ExpectRejected({
      {"Int8Quantize X -> x Y_scale=0.5 Y_zero_point=10 | " + pool + "129.", "X f 1,1,2,1 = 0",
       "scale 0.5 of input 0 (X) divided by argument Y_scale 129 is 0.00387597, want 0.00390625 to "
       "less than 256"},
  });
}

TEST(Int8EdgesTest, ImagesMayBeResizedToNothing) {
  const std::string x = "X f 1,2,2,1 = 1,2,3,4", resize = "Int8ResizeNearest x -> y output_size=";
  ExpectResults({
      {FromX(resize + "0,2" + kSameAsX), x, "Y f 1,0,2,1"},
      {FromX(resize + "2,0" + kSameAsX), x, "Y f 1,2,0,1"},
      // Less than the image is no multiple of it.
      {FromX(resize + "1,4" + kSameAsX), x, "Y f 1,0,4,1"},
      // The factors are not read then.
      {FromX(resize + "2,4 height_scale=3. width_scale=3." + kSameAsX), x,
       "Y f 1,2,4,1 = 1,1,2,2,3,3,4,4"},
  });
  ExpectInferred({
      {resize + "0,2", "x u 1,2,2,1", "uint8 [1, 0, 2, 1]"},
      {resize + "5,7 height_scale=3.", "x u 1,2,2,1", "uint8 [1, 4, 6, 1]"},
  });
}

// The sum of 2^31 - 256 and 256 is no integer of 32 bits; that of 2^31 - 384 is.
TEST(Int8EdgesTest, ZeroPointsBeyondTheBytesAreAddedToIntegers) {
  ExpectResults({
      {"Int8Quantize X -> x Y_zero_point=256 | Int8Dequantize x -> Y",
       "X f 4 = 2147483392,2147483264,-1,-300", "Y f 4 = -256,-1,-1,-256"},
      {"Int8Quantize X -> x Y_zero_point=255 | Int8Dequantize x -> Y",
       "X f 4 = 2147483392,2147483520,-1,-300", "Y f 4 = 0,-255,-1,-255"},
      {"Int8Quantize X -> x Y_zero_point=-1 | Int8Dequantize x -> Y", "X f 3 = 0,1,257",
       "Y f 3 = 1,1,256"},
  });
}

// As many bytes as the packed form has, also of one output or one input.
TEST(Int8EdgesTest, LayersStateTheMemoryOfTheirWeights) {
  const OperatorDef def = ParseOp(Int8Op("Int8FC", "X W b", "Y", 1, 0));
  const auto shape = [](const std::vector<int64_t>& dims) {
    return CreateTensorShape(dims, TensorProto::UINT8);
  };
  for (const auto& [n, k] :
       std::vector<std::pair<int64_t, int64_t>>{{1, 70}, {3, 1}, {1, 1}, {17, 5}, {0, 5}, {3, 0}}) {
    const MemoryTraits::Extra extra =
        ExtraMemoryOf(def, {shape({2, k}), shape({n, k}), shape({n})}, {shape({2, n})});
    const size_t want = n * k == 0 ? 0 : Int8WeightBytes(BestInt8Isa(), n, k);
    EXPECT_EQ(extra.prepared_bytes, static_cast<int64_t>(want)) << n << " x " << k;
    EXPECT_EQ(extra.prepared_bytes > 0, n * k > 0);
    EXPECT_FALSE(extra.prepared_unknown);
  }
}

}  // namespace
}  // namespace caffe2rt::test::int8_edges_test
