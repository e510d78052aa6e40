#include "caffe2_core/runtime/net.h"
#include "tests/operators/int8/int8_blobs.h"
#include "tests/support/allocation_counter.h"

namespace caffe2rt::int8_steady_state_test {
namespace {

using namespace test;  // used throughout this file

TEST(Int8OperatorsTest, AllocateNothingOnceWarm) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer replaces malloc";
  Workspace ws;
  FeedRange<float>(&ws, "F", {1, 4, 4, 6});
  FeedInt8(&ws, "W", {8, 3, 3, 6}, RandomBytes(432, 1), 0.1f, 120);
  FeedInt8(&ws, "D", {8, 3, 3, 1}, RandomBytes(72, 2), 0.1f, 120);
  FeedInt8(&ws, "T", {8, 2, 2, 3}, RandomBytes(96, 3), 0.1f, 120);
  FeedInt8(&ws, "V", {5, 48}, RandomBytes(240, 4), 0.1f, 120);
  FeedInt8<int32_t>(&ws, "b", {8}, RandomBiases(8, 100, 5), 1, 0);
  FeedInt8<int32_t>(&ws, "b3", {3}, RandomBiases(3, 100, 5), 1, 0);
  FeedInt8<int32_t>(&ws, "b5", {5}, RandomBiases(5, 100, 5), 1, 0);
  Feed<float>(&ws, "R", {1, 4}, {0, 0, 3, 3});
  const std::string nhwc = StringArg("order", "NHWC");
  const std::string pad = nhwc + IntArg("kernel", 3) + IntArg("pad", 1);
  const std::string pair = nhwc + IntArg("kernel", 2) + IntArg("stride", 2);
  const std::vector<std::string> ops = {
      Int8Op("Int8Quantize", "F", "X", 1, 3),
      Int8Op("Int8Conv", "X W b", "Y", 1, 3, pad),
      Int8Op("Int8ConvRelu", "Y D b", "Z", 1, 3, pad + IntArg("group", 8)),
      Int8Op("Int8Sum", "Y Z", "S", 1, 3),
      Int8Op("Int8Relu", "S", "S", 1, 3),
      Int8Op("Int8LeakyRelu", "S", "L", 1, 3),
      Int8Op("Int8MaxPool", "S", "M", 1, 3, pair),
      Int8Op("Int8AveragePool", "S", "A", 1, 3, pair),
      Int8Op("Int8ConvTranspose", "A T b3", "U", 1, 3, pair),
      Int8Op("Int8Flatten", "U", "flat", 1, 3),
      Int8Op("Int8FC", "flat V b5", "fc", 20, 3),
      Int8Op("Int8Softmax", "fc", "p", 0.00390625f, 0),
      Int8Op("Int8Sigmoid", "fc", "g", 0.00390625f, 0),
      Int8Op("Int8Transpose", "U", "t", 1, 3),
      Int8Op("Int8Reshape", "U", "r old", 1, 3, IntsArg("shape", {-1, 3})),
      Int8Op("Int8Slice", "r", "s", 1, 3, IntsArg("starts", {1}) + IntsArg("ends", {3})),
      Int8Op("Int8Concat", "r s", "c", 1, 3),
      Int8Op("Int8ChannelShuffle", "Y", "h", 1, 3, nhwc + IntArg("group", 2) + IntArg("kernel", 1)),
      Int8Op("Int8ResizeNearest", "U", "n", 1, 3, FloatArg("width_scale", 2)),
      Int8Op("Int8RoIAlign", "Y R", "roi", 1, 3, IntArg("pooled_h", 2)),
      R"(type: "Int8Dequantize" input: "p" output: "out")",
      Int8Op("Int8GivenTensorFill", "", "fill", 1, 3, StringArg("values", "A")),
  };
  std::string net_text = "name: \"int8\"";
  for (const std::string& op : ops) net_text += " op { " + op + " }";
  NetBase* net = ws.CreateNet(ParseNet(net_text));
  ASSERT_TRUE(net->Run());
  ASSERT_TRUE(net->Run());
  AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
}

}  // namespace
}  // namespace caffe2rt::int8_steady_state_test
