// What the schemas of image operators state without running them: shapes of inputs that do not fit or
// are partly known, arguments, and memory.
#include <gmock/gmock.h>

#include "caffe2_core/graph/op_schema.h"
#include "operators/image/pad_image.h"
#include "operators/image/upsample_nearest.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::image_inference_test {
namespace {

using namespace test;  // used throughout this file

const OpSchema& SchemaByType(const std::string& type) { return *OpSchemaRegistry::Schema(type); }

std::vector<TensorShape> Inferred(const std::string& op, const std::vector<TensorShape>& in) {
  const OperatorDef def = ParseOp(op);
  return SchemaByType(def.type()).InferTensor(def, in);
}
TensorShape Shape(const std::vector<int64_t>& dims,
                  TensorProto::DataType type = TensorProto::FLOAT) {
  return CreateTensorShape(dims, type);
}
std::string ImageOp(const std::string& type, const std::string& inputs, const std::string& more = "") {
  return "type: '" + type + "' " + inputs + " output: 'Y' " + more;
}
const std::string kX = "input: 'X' ", kXAndB = "input: 'X' input: 'b' ";

TEST(ImageInferenceTest, NamesTheRankThatAnInputLacks) {
  const struct {
    std::string op;
    std::vector<int64_t> dims;
    std::string message;
  } rows[] = {
      {ImageOp("ResizeNearest", kX), {2, 3, 4}, "rank of input 0 (X), want 4 (got 3, want 4)"},
      {ImageOp("UpsampleBilinear", kX), {2, 3}, "rank of input 0 (X), want 4 (got 2, want 4)"},
      {ImageOp("UpsampleNearest", kX), {2, 3}, "rank of input 0 (X), want at least 3"},
      {ImageOp("SpaceToBatch", kX), {2, 3}, "rank of input 0 (X) of shape [2, 3], want 4"},
      {ImageOp("BatchToSpace", kX), {2, 3}, "rank of input 0 (X) of shape [2, 3], want 4"},
      {ImageOp("PackedInt8BGRANHWCToNCHWCStylizerPreprocess", kXAndB),
       {1, 2, 3, 3},
       "input 0 (X), want shape [N, H, W, 4]"},
      {ImageOp("PackedInt8BGRANHWCToNCHWCStylizerPreprocess", kXAndB),
       {2, 3, 4},
       "input 0 (X), want shape [N, H, W, 4]"},
      {ImageOp("BRGNCHWCToPackedInt8BGRAStylizerDeprocess", kXAndB),
       {1, 4, 2, 2},
       "input 0 (X), want shape [N, 3, H, W]"},
      {ImageOp("BRGNCHWCToPackedInt8BGRAStylizerDeprocess", kXAndB),
       {3, 2, 2},
       "input 0 (X), want shape [N, 3, H, W]"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.op);
    ExpectThrows([&] { Inferred(row.op, {Shape(row.dims), UnknownShape()}); }, row.message);
  }
  ExpectThrows(
      [&] {
        Inferred(ImageOp("PackedInt8BGRANHWCToNCHWCStylizerPreprocess", kXAndB),
                 {Shape({1, 2, 2, 4}, TensorProto::UINT8), Shape({4})});
      },
      "elements of input 1 (mean): got 4, want 3");
}

// The first input suffices, if the second one does not change the shape.
TEST(ImageInferenceTest, NeedsOnlyTheInputsThatMakeTheShape) {
  const auto expect = [](const std::string& op, const TensorShape& x, const TensorShape& b,
                         const std::vector<int64_t>& dims, TensorProto::DataType type) {
    SCOPED_TRACE(op);
    const std::vector<TensorShape> got = Inferred(op, {x, b});
    ASSERT_EQ(got.size(), 1u);
    EXPECT_FALSE(got[0].unknown_shape());
    EXPECT_EQ(GetDimsVector(got[0]), dims);
    EXPECT_EQ(got[0].data_type(), type);
  };
  expect(ImageOp("PackedInt8BGRANHWCToNCHWCStylizerPreprocess", kXAndB),
         Shape({2, 5, 7, 4}, TensorProto::UINT8), UnknownShape(), {2, 3, 5, 7}, TensorProto::FLOAT);
  expect(ImageOp("BRGNCHWCToPackedInt8BGRAStylizerDeprocess", kXAndB), Shape({2, 3, 5, 7}),
         UnknownShape(), {2, 5, 7, 4}, TensorProto::UINT8);
  expect(ImageOp("GridSample", kXAndB), Shape({2, 3, 5, 7}, TensorProto::DOUBLE),
         Shape({2, 8, 9, 2}, TensorProto::DOUBLE), {2, 3, 8, 9}, TensorProto::DOUBLE);
  const auto expect_unknown = [](const std::string& op, const TensorShape& x,
                                 const TensorShape& b) {
    SCOPED_TRACE(op);
    EXPECT_TRUE(Inferred(op, {x, b})[0].unknown_shape());
  };
  const TensorShape x = Shape({2, 3, 5, 7});
  expect_unknown(ImageOp("GridSample", kXAndB), x, UnknownShape());
  expect_unknown(ImageOp("GridSample", kXAndB), UnknownShape(), Shape({2, 8, 9, 2}));
  expect_unknown(ImageOp("GridSample", kXAndB), Shape({2, 3}), Shape({2, 1}));
  expect_unknown(ImageOp("GridSample", kXAndB), x, Shape({2, 8, 2}));
  expect_unknown(ImageOp("ResizeNearest", kXAndB), x, Shape({2}));
  expect_unknown(ImageOp("UpsampleBilinear", kXAndB), x, Shape({2}));
  expect_unknown(ImageOp("Resize", kXAndB + "input: 'c' "), x, Shape({0}));
}

TEST(ImageInferenceTest, StatesTheMemoryOfTheNoise) {
  const OperatorDef def =
      ParseOp(ImageOp("PackedInt8BGRANHWCToNCHWCStylizerPreprocess", kXAndB,
                 "arg { name: 'noise_size' i: 1000 }"));
  const MemoryTraits::Extra extra = SchemaByType(def.type()).memory().extra(def, {}, {});
  // The noise, and three times as much by channel; each may begin a cache line later.
  EXPECT_EQ(extra.prepared_bytes, (1000 + 3 * 1000) * 4 + 2 * 64);
  EXPECT_EQ(extra.scratch_bytes, 0);
}

TEST(ImageInferenceTest, DeclaresTheWindowArgumentsOfThePads) {
  for (const char* type : {"PadImage", "PadImageGradient"}) {
    std::vector<std::string> names;
    for (const auto& arg : SchemaByType(type).args()) names.push_back(arg.name);
    EXPECT_THAT(names, testing::IsSupersetOf({"mode", "value", "pads", "pad", "pad_t", "pad_l",
                                              "pad_b", "pad_r", "order"}))
        << type;
  }
  std::vector<std::string> names;
  for (const auto& arg : SchemaByType("ChannelShuffleGradient").args()) names.push_back(arg.name);
  EXPECT_THAT(names, testing::IsSupersetOf({"group", "order", "kernel", "pads", "legacy_pad"}));
}

TEST(ImageInferenceTest, SizesThatAnIndexCannotHoldAreRejected) {
  std::vector<int64_t> dims;
  ExpectThrows([&] { UpsampledDims({1, 2, 3}, 1 << 30, &dims); },
               "dim 1 of the output has size 2147483648, want at most 2147483647");
  ExpectThrows([&] { UpsampledDims({1, 0, 3}, 1 << 30, &dims); },
               "dim 2 of the output has size 3221225472, want at most 2147483647");
  UpsampledDims({1 << 30, 4, 1, 0}, INT32_MAX, &dims);
  EXPECT_EQ(dims, (std::vector<int64_t>{1 << 30, 4, INT32_MAX, 0}));
  std::vector<int32_t> sources;
  ExpectThrows(
      [&] {
        PadSources({.in = 1, .out = int64_t{1} << 31, .pad_head = 0}, PadMode::kEdge, &sources);
      },
      "axis of size 1 is padded to 2147483648, want at most 2147483647");
}

TEST(ImageInferenceTest, PadsBelongToTheAxesOfTheOrder) {
  const auto geometry_of = [](const std::string& order) {
    const WindowArguments window = ParseWindowArguments(
        ArgumentHelper(ParseOp(ImageOp("PadImageGradient", kX,
                                  "arg { name: 'pads' ints: 1 ints: 2 ints: 3 ints: -4 }"
                                  "arg { name: 'order' s: '" + order + "' }"))),
        WindowUse::kPad);
    return PadGeometryOfOutput(window, {5, 20, 30, 40});
  };
  const WindowGeometry nchw = geometry_of("NCHW"), nhwc = geometry_of("NHWC");
  EXPECT_EQ(nchw.axes, 2);
  EXPECT_EQ(nchw.batch, 5);
  EXPECT_EQ(nchw.channels, 20);
  EXPECT_EQ(nchw.axis[0].in, 30 - 4);
  EXPECT_EQ(nchw.axis[0].out, 30);
  EXPECT_EQ(nchw.axis[1].in, 40 + 2);
  EXPECT_EQ(nhwc.channels, 40);
  EXPECT_EQ(nhwc.axis[0].in, 20 - 4);
  EXPECT_EQ(nhwc.axis[1].in, 30 + 2);
}

}  // namespace
}  // namespace caffe2rt::image_inference_test
