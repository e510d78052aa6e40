// Quantized operators with two arguments for one thing, scales at the ends of their ranges and results without
// elements.
#include <gtest/gtest.h>

#include "caffe2_core/graph/memory_traits.h"
#include "caffe2_core/runtime/net.h"
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

TEST(Int8EdgesTest, ConvolutionsSkipPixelsBetweenTheirTaps) {
  const auto conv = [](const std::string& window) {
    return FromX(
        "Int8Quantize W -> w Y_scale=0.5 | Int8GivenIntTensorFill -> b shape=1, values=0, | "
        "Int8Conv x w b -> y order=NHWC Y_scale=0.5" +
        window);
  };
  const std::string row = " kernel_h=1 kernel_w=2 dilation_h=1 dilation_w=2";
  const std::string column = " kernel_h=2 kernel_w=1 dilation_h=2 dilation_w=1";
  ExpectResults({
      // 1 + 2 * 3, 2 + 2 * 4
      {conv(row), "X f 1,1,4,1 = 1,2,3,4; W f 1,1,2,1 = 1,2", "Y f 1,1,2,1 = 7,10"},
      {conv(column), "X f 1,4,1,1 = 1,2,3,4; W f 1,2,1,1 = 1,2", "Y f 1,2,1,1 = 7,10"},
      {conv(row + " pads=0,1,0,2"), "X f 1,1,3,1 = 1,2,3; W f 1,1,2,1 = 1,2",
       "Y f 1,1,4,1 = 4,7,2,3"},
      {conv(row), "X f 1,1,3,2 = 1,2,3,4,5,6; W f 1,1,2,2 = 1,0,0,1", "Y f 1,1,1,1 = 7"},
      {conv(" kernel_h=1 kernel_w=3 dilation_h=1 dilation_w=2"),
       "X f 1,1,5,1 = 1,2,3,4,5; W f 1,1,3,1 = 1,2,3", "Y f 1,1,1,1 = 22"},
  });
}

// Each channel adds its own taps, of which an odd one remains.
TEST(Int8EdgesTest, DepthwiseConvolutionsAddAllTapsOfLongWindows) {
  const std::string conv = FromX(
      "Int8Quantize W -> w Y_scale=0.5 | Int8GivenIntTensorFill -> b shape=2, values=0,0 | "
      "Int8Conv x w b -> y order=NHWC kernel_h=1 kernel_w=11 group=2 Y_scale=0.5");
  ExpectResults({
      // 1 + 2 + .. + 11, and the even ones of them.
      {conv,
       "X f 1,1,11,2 = 1,1,2,2,3,3,4,4,5,5,6,6,7,7,8,8,9,9,10,10,11,11; "
       "W f 2,1,11,1 = 1,1,1,1,1,1,1,1,1,1,1,0,1,0,1,0,1,0,1,0,1,0",
       "Y f 1,1,1,2 = 66,30"},
  });
}

// Two operators read one filter of 64 outputs: one for all channels of X, the other with a group for each half
// of twice as many.
TEST(Int8EdgesTest, OperatorsOfOneFilterDivideItAsTheirGroups) {
  Workspace ws;
  std::vector<uint8_t> filter, want_one, want_two;
  for (int o = 0; o < 64; ++o) {
    filter.insert(filter.end(), 3, static_cast<uint8_t>(o % 7));
    want_one.push_back(static_cast<uint8_t>(3 * (o % 7)));                 // of ones
    want_two.push_back(static_cast<uint8_t>((o < 32 ? 3 : 6) * (o % 7)));  // of ones and twos
  }
  FeedInt8(&ws, "w", {64, 1, 1, 3}, filter, 0.5f, 0);
  FeedInt8<int32_t>(&ws, "b", {64}, std::vector<int32_t>(64), 0.5f, 0);
  FeedInt8(&ws, "x", {1, 1, 1, 3}, {1, 1, 1}, 1, 0);
  FeedInt8(&ws, "x2", {1, 1, 1, 6}, {1, 1, 1, 2, 2, 2}, 1, 0);
  // The products have scale 0.5, that of Y is 1: half of what is above.
  for (const bool two_first : {false, true}) {
    NetDef def;
    def.set_name(two_first ? "two" : "one");
    const auto add = [&def](const char* x, const char* y, int group) {
      *def.add_op() = ParseOp(
          MakeString(R"(type: "Int8Conv" input: ")", x, R"(" input: "w" input: "b" output: ")", y,
                     R"(" arg { name: "order" s: "NHWC" } arg { name: "kernel" i: 1 })",
                     R"( arg { name: "Y_scale" f: 1 } arg { name: "group" i: )", group, " }"));
    };
    if (two_first) add("x2", "y2", 2);
    add("x", "y", 1);
    if (!two_first) add("x2", "y2", 2);
    ws.CreateNet(def);
    for (int run = 0; run < 2; ++run) {
      ASSERT_TRUE(ws.RunNet(def.name()));
      const std::vector<uint8_t> one = FetchInt8(ws, "y"), two = FetchInt8(ws, "y2");
      ASSERT_EQ(one.size(), 64u);
      ASSERT_EQ(two.size(), 64u);
      for (size_t o = 0; o < 64; ++o) {
        EXPECT_NEAR(one[o], want_one[o] / 2.0, 0.5) << o;
        EXPECT_NEAR(two[o], want_two[o] / 2.0, 0.5) << o;
      }
    }
    ws.DeleteNet(def.name());
  }
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
