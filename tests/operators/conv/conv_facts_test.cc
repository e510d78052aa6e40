// Facts about convolutions that others plan with (costs, memory, shapes), and operators that run
// again on other inputs or after an error.
#include <gtest/gtest.h>

#include "caffe2_core/graph/memory_traits.h"
#include "operators/common/conv_geometry.h"
#include "operators/conv/conv_checks.h"
#include "operators/conv/conv_plan.h"
#include "operators/conv/conv_shape.h"
#include "tests/operators/common/run_rows.h"

namespace caffe2rt::test::conv_facts_test {
namespace {

using Dims = std::vector<int64_t>;

std::vector<TensorShape> FloatShapes(const std::vector<Dims>& all) {
  std::vector<TensorShape> shapes;
  for (const Dims& dims : all) shapes.push_back(CreateTensorShape(dims, TensorProto::FLOAT));
  return shapes;
}

TEST(ConvCostsOfCallsTest, CountTheGradientsThatAreComputed) {
  EnsureBuiltinOperators();
  struct CostRow {
    const char* op;
    std::vector<Dims> inputs;
    uint64_t flops, params, read, written;
  };
  const std::vector<Dims> gradient = {{2, 4, 5, 5}, {6, 2, 3, 3}, {2, 6, 3, 3}};
  const std::vector<Dims> transposed = {{1, 4, 3, 3}, {4, 3, 2, 2}, {1, 6, 6, 6}};
  const CostRow rows[] = {
      // 108 elements of dY with 2 * 3 * 3 products each, for dW and for dX.
      {"ConvGradient X w G -> D E F kernel=3 group=2", gradient, 108 * 36 * 2 + 108, 432,
       (200 + 108) * 4 + 432, (108 + 6 + 200) * 4},
      {"ConvGradient X w G -> D E kernel=3 group=2", gradient, 108 * 36 + 108, 432,
       (200 + 108) * 4 + 432, (108 + 6) * 4},
      {"ConvGradient X w G -> D F kernel=3 group=2 no_bias=1", gradient, 108 * 36 * 2, 432,
       (200 + 108) * 4 + 432, (108 + 200) * 4},
      {"ConvGradient X w G -> D kernel=3 group=2 no_bias=1", gradient, 108 * 36, 432,
       (200 + 108) * 4 + 432, 108 * 4},
      // 36 elements of X with 3 * 2 * 2 products each.
      {"ConvTransposeGradient X w G -> D E F kernel=2 stride=2 group=2", transposed,
       36 * 24 * 2 + 216, 192, (36 + 216) * 4 + 192, (48 + 6 + 36) * 4},
      {"ConvTransposeGradient X w G -> D E kernel=2 stride=2 group=2 order=NHWC",
       {{1, 3, 3, 4}, {4, 2, 2, 3}, {1, 6, 6, 6}},
       36 * 24 + 216,
       192,
       (36 + 216) * 4 + 192,
       (48 + 6) * 4},
      // The number of channels that the filter wants decides, in both orders.
      {"Conv X w -> Y kernel=3 group=2", {{1, 5, 4, 4}, {6, 2, 3, 3}}, 24 * 36, 432, 320 + 432, 96},
      {"Conv X w -> Y kernels=3, group=2", {{1, 5, 4}, {6, 2, 3}}, 12 * 12, 144, 80 + 144, 48},
      {"Conv X w b -> Y kernel=3 group=2 order=NHWC",
       {{1, 4, 4, 5}, {6, 3, 3, 2}, {6}},
       24 * 37,
       456,
       320 + 456,
       96},
      {"Conv X w -> Y kernel=3 group=2 order=nhwc",
       {{1, 4, 4, 5}, {6, 3, 3, 2}},
       24 * 36,
       432,
       320 + 432,
       96},
      {"ConvFusion X w b S -> Y kernel=3 sum=1",
       {{1, 2, 4, 4}, {3, 2, 3, 3}, {3}, {1, 3, 2, 2}},
       12 * 38,
       228,
       128 + 228 + 48,
       48},
      {"ConvFusion X w b -> Y kernel=3",
       {{1, 2, 4, 4}, {3, 2, 3, 3}, {3}},
       12 * 37,
       228,
       128 + 228,
       48},
  };
  for (const CostRow& row : rows) {
    SCOPED_TRACE(row.op);
    const OperatorDef def = OperatorsOf({row.op, ""})[0];
    const OpSchema::Cost cost =
        OpSchemaRegistry::Schema(def.type())->InferCost(def, FloatShapes(row.inputs));
    EXPECT_EQ(cost.flops, row.flops);
    EXPECT_EQ(cost.params_bytes, row.params);
    EXPECT_EQ(cost.bytes_read, row.read);
    EXPECT_EQ(cost.bytes_written, row.written);
    EXPECT_EQ(cost.bytes_moved, row.read + row.written);
  }
}

// That of a convolution follows from the filter.
TEST(ConvCostsOfCallsTest, CountNoTransposedBiasOfUnknownShape) {
  EnsureBuiltinOperators();
  for (const std::string type : {"Conv", "ConvTranspose", "ConvFusion"}) {
    SCOPED_TRACE(type);
    const std::string text = type + " X w b -> Y kernel=3";
    const OperatorDef def = OperatorsOf({text.c_str(), ""})[0];
    std::vector<TensorShape> in = FloatShapes({{1, 2, 4, 4}, {2, 2, 3, 3}, {2}});
    const OpSchema* const schema = OpSchemaRegistry::Schema(type);
    EXPECT_EQ(schema->InferCost(def, in).params_bytes, 38 * 4);
    in[2].Clear();
    in[2].set_unknown_shape(true);
    EXPECT_EQ(schema->InferCost(def, in).params_bytes, type == "ConvTranspose" ? 36 * 4 : 38 * 4);
  }
}

ConvShape ShapeFor(const std::string& arguments, const Dims& x, const Dims& filter,
                   bool bias = false) {
  const std::string text = "Conv X w -> Y " + arguments;
  const OperatorDef def = OperatorsOf({text.c_str(), ""})[0];
  return MakeConvShape(ParseWindowArguments(ArgumentHelper(def), WindowUse::kConv), x, filter,
                       bias);
}

TEST(ConvMemoryTest, IsThatOfThePlan) {
  EnsureBuiltinOperators();
  const Dims x = {2, 16, 12, 11}, w = {32, 16, 3, 3}, y = {2, 32, 12, 11};
  const auto memory = [&](const std::string& text, const std::vector<Dims>& in,
                          DeviceTypeProto device = PROTO_CPU) {
    OperatorDef def = OperatorsOf({text.c_str(), ""})[0];
    def.mutable_device_option()->set_device_type(device);
    return ExtraMemoryOf(def, FloatShapes(in), FloatShapes({y}));
  };
  const ConvPlan plan(ShapeFor("kernel=3 pad=1", x, w), {});
  const auto conv = memory("Conv X w -> Y kernel=3 pad=1", {x, w});
  EXPECT_EQ(conv.scratch_bytes, plan.ScratchBytes());
  EXPECT_EQ(conv.prepared_bytes, plan.PreparedBytes());
  EXPECT_FALSE(conv.prepared_unknown);
  EXPECT_GT(conv.scratch_bytes + conv.prepared_bytes, 0);
  // S is no bias.
  for (const std::vector<Dims>& in : {std::vector<Dims>{x, w, y}, {x, w, {32}, y}}) {
    const std::string inputs = in.size() == 3 ? "X w S" : "X w b S";
    const auto fused = memory("ConvFusion " + inputs + " -> Y kernel=3 pad=1 sum=1", in);
    EXPECT_EQ(fused.scratch_bytes, conv.scratch_bytes) << inputs;
    EXPECT_EQ(fused.prepared_bytes, conv.prepared_bytes) << inputs;
  }
  const auto ideep = memory("Conv X w -> Y kernel=3 pad=1", {x, w}, PROTO_IDEEP);
  EXPECT_TRUE(ideep.prepared_unknown);
  EXPECT_EQ(ideep.scratch_bytes + ideep.prepared_bytes, 0);
  // Shapes that do not fit are not planned.
  const auto unfit = memory("Conv X w -> Y kernel=3 pad=1", {x, {32, 15, 3, 3}});
  EXPECT_EQ(unfit.scratch_bytes + unfit.prepared_bytes, 0);
}

// Most machines convolve an image of one of these sizes in another way if the result may not depend on the number
// of threads.
TEST(ConvMemoryTest, OfDeterministicOnesIsThatOfTheirPlan) {
  EnsureBuiltinOperators();
  bool differs = false;
  for (const int64_t size : {4, 12, 24, 56}) {
    for (const int64_t channels : {16, 64}) {
      const Dims x = {1, channels, size, size}, w = {64, channels, 3, 3}, y = {1, 64, size, size};
      int64_t bytes[2];
      for (const int deterministic : {0, 1}) {
        const ConvPlan plan(ShapeFor("kernel=3 pad=1", x, w),
                            {.deterministic = deterministic != 0});
        const std::string arguments = MakeString("kernel=3 pad=1 deterministic=", deterministic);
        for (const char* const type : {"Conv", "ConvFusion"}) {
          const std::string text = MakeString(type, " X w -> Y ", arguments);
          const auto memory = ExtraMemoryOf(OperatorsOf({text.c_str(), ""})[0], FloatShapes({x, w}),
                                            FloatShapes({y}));
          EXPECT_EQ(memory.scratch_bytes, plan.ScratchBytes()) << text << " at " << size;
          EXPECT_EQ(memory.prepared_bytes, plan.PreparedBytes()) << text << " at " << size;
        }
        bytes[deterministic] = plan.ScratchBytes() + plan.PreparedBytes();
      }
      differs = differs || bytes[0] != bytes[1];
    }
  }
  if (!differs) GTEST_SKIP() << "this machine convolves them in the same way";
}

// The gradient of X of a transposed convolution is a convolution of dY, by the algorithm that one has.
TEST(ConvTransposeGradientTest, ConvolvesAsDeterministicAsItIsAsked) {
  Workspace ws;
  FeedRandom(&ws, "X", {1, 64, 28, 28}, -1, 1, 1);
  FeedRandom(&ws, "w", {64, 64, 3, 3}, -1, 1, 2);
  FeedRandom(&ws, "G", {1, 64, 28, 28}, -1, 1, 3);
  for (const char* const asked : {"0", "1"}) {
    for (const std::string op : {"ConvTransposeGradient X w G -> D E F", "Conv G w -> Y"}) {
      OperatorDef def =
          OperatorsOf({(op + " kernel=3 pad=1 deterministic=" + asked).c_str(), ""})[0];
      def.mutable_device_option()->set_device_type(PROTO_CPU);
      ASSERT_TRUE(ws.RunOperatorOnce(def));
    }
    EXPECT_EQ(Fetch<float>(ws, "F"), Fetch<float>(ws, "Y")) << "deterministic " << asked;
  }
}

TEST(ConvShapeTest, TransposedExchangesChannelsAndSizes) {
  const ConvShape shape = ShapeFor("kernels=3,2 strides=2,1 pads=1,0,2,1 dilations=2,1 group=2",
                                   {5, 4, 9, 7}, {6, 2, 3, 2}, true);
  // (9 + 3 - 5) / 2 + 1 and 7 + 1 - 2 + 1.
  ASSERT_EQ(shape.window.axis[0].out, 4);
  ASSERT_EQ(shape.window.axis[1].out, 7);
  EXPECT_EQ(shape.in_group(), 2);
  EXPECT_EQ(shape.out_group(), 3);
  EXPECT_EQ(shape.MultiplyAdds(), 5. * 6 * 2 * (4 * 3) * (7 * 2));
  const ConvTransposeShape other = Transposed(shape);
  EXPECT_EQ(other.window.batch, 5);
  EXPECT_EQ(other.window.channels, 6);
  EXPECT_EQ(other.out_channels, 4);
  EXPECT_EQ(other.group, 2);
  EXPECT_EQ(other.in_group(), 3);
  EXPECT_EQ(other.out_group(), 2);
  EXPECT_FALSE(other.bias);
  EXPECT_EQ(other.window.axis[0].in, 4);
  EXPECT_EQ(other.window.axis[0].out, 9);
  EXPECT_EQ(other.window.axis[1].in, 7);
  EXPECT_EQ(other.window.axis[1].out, 7);
  EXPECT_EQ(other.window.axis[0].kernel, 3);
  EXPECT_EQ(other.window.axis[0].stride, 2);
  EXPECT_EQ(other.window.axis[0].pad_head, 1);
  EXPECT_EQ(other.window.axis[0].dilation, 2);
  ConvShape back = Transposed(other);
  back.bias = true;
  EXPECT_EQ(back, shape);
}

TEST(ConvShapeTest, APointwiseOneReadsEachPixelOnce) {
  struct PointwiseRow {
    const char* arguments;
    Dims x, filter;
    bool pointwise;
  };
  const PointwiseRow rows[] = {
      {"kernel=1", {1, 2, 3, 4}, {5, 2, 1, 1}, true},
      {"kernel=1 order=NHWC", {1, 3, 4, 2}, {5, 1, 1, 2}, true},
      {"kernels=1,", {1, 2, 3}, {5, 2, 1}, true},
      {"kernel=1 dilation=2 group=2", {1, 2, 3, 4}, {4, 1, 1, 1}, true},
      {"kernels=1,2", {1, 2, 3, 4}, {5, 2, 1, 2}, false},
      {"kernels=2,1", {1, 2, 3, 4}, {5, 2, 2, 1}, false},
      {"kernel=1 strides=1,2", {1, 2, 3, 4}, {5, 2, 1, 1}, false},
      // One window, but a stride.
      {"kernel=1 strides=2,1", {1, 2, 1, 4}, {5, 2, 1, 1}, false},
      {"kernel=1 pads=0,1,0,0", {1, 2, 3, 4}, {5, 2, 1, 1}, false},
      {"kernel=1 pads=0,0,0,1", {1, 2, 3, 4}, {5, 2, 1, 1}, false},
      {"kernel=1 pads=0,0,-1,0", {1, 2, 3, 4}, {5, 2, 1, 1}, false},
      {"kernel=1 pads=1,0,-1,0", {1, 2, 3, 4}, {5, 2, 1, 1}, false},
  };
  for (const PointwiseRow& row : rows) {
    EXPECT_EQ(ShapeFor(row.arguments, row.x, row.filter).IsPointwise(), row.pointwise)
        << row.arguments;
  }
}

TEST(ConvRunsTest, FollowTheirInputsAndRecoverFromErrors) {
  const char* const two = "X f 1,1,3 = 1,2,3; w f 2,1,2 = 1,10,2,20; b f 2 = 100,200";
  ExpectRuns("Conv X w b -> Y kernels=2,",
             {{"X f 1,1,3 = 1,2,3; w f 1,1,2 = 1,10; b f 1 = 100", "Y f 1,1,2 = 121,132"},
              {two, "Y f 1,2,2 = 121,132,242,264"},
              {"b f 1", "", "input 2 (bias) has shape [1], want [2]"},
              {"w f 2,2,2", "", "channels of input 1 (filter)"},
              {two, "Y f 1,2,2 = 121,132,242,264"},
              {"X f 2,1,2 = 1,2,3,4", "Y f 2,2,1 = 121,242,143,286"},
              {"X f 2,1,1 = 1", "", "want at least its dilated kernel"},
              {"X f 0,1,2", "Y f 0,2,1"},
              {"X f 1,1,2 = 5,6", "Y f 1,2,1 = 165,330"},
              // The same shapes, another filter and bias.
              {"w f 2,1,2 = 2,1,0,1; b f 2 = 1,2", "Y f 1,2,1 = 17,8"}});
  const char* const one = "X f 1,1,3 = 1,2,3; w f 1,1,2 = 1,10; G f 1,1,2 = 5,7";
  const char* const both = "X f 1,1,3 = 1,2,3; w f 2,1,2 = 1,10,2,20; G f 1,2,2 = 5,7,1,2";
  ExpectRuns("ConvGradient X w G -> D E F kernels=2,",
             {{one, "D f 1,1,2 = 19,31; E f 1 = 12; F f 1,1,3 = 5,57,70"},
              {both, "D f 2,1,2 = 19,31,5,8; E f 2 = 12,3; F f 1,1,3 = 7,81,110"},
              {"G f 1,2,3", "", "input 2"},
              {both, "D f 2,1,2 = 19,31,5,8; E f 2 = 12,3; F f 1,1,3 = 7,81,110"},
              {"X f 0,1,3; G f 0,2,2", "D f 2,1,2 = 0; E f 2 = 0; F f 0,1,3"},
              {one, "D f 1,1,2 = 19,31; E f 1 = 12; F f 1,1,3 = 5,57,70"}});
  ExpectRuns(
      "ConvFusion X w S -> Y kernel=1 sum=1 activation=Relu",
      {{"X f 1,1,1,2 = 1,2; w f 1,1,1,1 = 3; S f 1,1,1,2 = -5,2", "Y f 1,1,1,2 = 0,8"},
       {"S f 1,1,2,1", "", "input 2 (S) has shape [1, 1, 2, 1], want that of the convolution"},
       {"X f 1,1,2,1 = 1,2; S f 1,1,2,1 = 1,-7", "Y f 1,1,2,1 = 4,0"},
       {"w f 2,1,1,1 = 1,-1; S f 1,2,2,1 = 0,0,3,1", "Y f 1,2,2,1 = 1,2,2,0"}});
}

}  // namespace
}  // namespace caffe2rt::test::conv_facts_test
