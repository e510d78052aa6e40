// Int8Flatten, Int8Reshape, Int8Slice, Int8Transpose, Int8Concat, Int8ChannelShuffle,
// Int8ResizeNearest: operators that only move elements.
#include <limits>
#include <memory>

#include "caffe2_core/runtime/operator_registry.h"
#include "tests/operators/int8/int8_blobs.h"

namespace caffe2rt::int8_shape_test {
namespace {

using namespace test;  // used throughout this file

constexpr float kScale = 0.5f;
constexpr int kZero = 100;

std::vector<uint8_t> Count(int64_t size, int first = 0) {
  std::vector<uint8_t> bytes(static_cast<size_t>(size));
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<uint8_t>(first + static_cast<int>(i));
  return bytes;
}

void FeedCount(Workspace* ws, const std::string& name, const std::vector<int64_t>& dims,
               int first = 0) {
  FeedInt8(ws, name, dims, Count(CheckedProduct(dims), first), kScale, kZero);
}

std::string Move(const std::string& type, const std::string& more = "",
                 const std::string& inputs = "X", const std::string& outputs = "Y") {
  return Int8Op(type, inputs, outputs, kScale, kZero, more);
}

// Runs the operator, compares shape and elements of Y, and compares the inferred shape.
void ExpectMoved(Workspace* ws, const std::string& op, const std::vector<int64_t>& dims,
                 const std::vector<uint8_t>& want) {
  const std::vector<TensorShape> shapes = InferShapes(*ws, ParseOp(op));
  RunOp(ws, op);
  ExpectInt8(*ws, "Y", dims, want, kScale, kZero);
  EXPECT_EQ(GetDimsVector(shapes.at(0)), dims);
  EXPECT_EQ(shapes.at(0).data_type(), TensorProto::UINT8);
}

void ExpectMoveThrows(Workspace* ws, const std::string& op, const std::string& part) {
  ExpectThrows([&] { RunOp(ws, op); }, part);
}

// Y_scale and Y_zero_point must repeat those of the input.
void ExpectRepeatsQuantization(const std::string& type, const std::string& more,
                               const std::string& outputs) {
  Workspace ws;
  FeedCount(&ws, "X", {1, 2, 2, 2});
  ExpectThrows([&] { RunOp(&ws, Int8Op(type, "X", outputs, 0.25f, kZero, more)); },
               "argument Y_scale is 0.25, want 0.5");
  ExpectThrows([&] { RunOp(&ws, Int8Op(type, "X", outputs, kScale, 3, more)); },
               "argument Y_zero_point is 3, want 100");
}

void ExpectKeepsQuantization(const std::string& type, const std::string& more = "") {
  ExpectRepeatsQuantization(type, more, "Y");
  Workspace ws;
  ExpectChecksInt8Input(&ws, Int8Op(type, "X", "Y", kScale, kZero, more));
}

// As in Caffe2, the quantization may be one in which no operator calculates. One element is moved.
void ExpectKeepsAnyQuantization(const std::string& type, const std::string& more = "",
                                const std::string& outputs = "Y") {
  ExpectRepeatsQuantization(type, more, outputs);
  Workspace ws;
  ExpectChecksInt8Elements(&ws, Int8Op(type, "X", outputs, kScale, kZero, more));
  for (const float scale : {0.0f, -0.25f}) {
    for (const int zero_point : {-1, 300}) {
      FeedInt8(&ws, "X", {1, 1, 1, 1}, {7}, scale, zero_point);
      RunOp(&ws, Int8Op(type, "X", outputs, scale, zero_point, more));
      EXPECT_EQ(FetchInt8(ws, "Y"), std::vector<uint8_t>{7});
      EXPECT_EQ(Int8Of(ws, "Y").scale, scale);
      EXPECT_EQ(Int8Of(ws, "Y").zero_point, zero_point);
    }
  }
}

TEST(Int8FlattenTest, MakesAMatrix) {
  Workspace ws;
  FeedCount(&ws, "X", {2, 3, 4});
  ExpectMoved(&ws, Move("Int8Flatten"), {2, 12}, Count(24));
  ExpectMoved(&ws, Move("Int8Flatten", IntArg("axis", 0)), {1, 24}, Count(24));
  ExpectMoved(&ws, Move("Int8Flatten", IntArg("axis", 3)), {24, 1}, Count(24));
  ExpectMoveThrows(&ws, Move("Int8Flatten", IntArg("axis", 4)), "want at most its rank");
  ExpectMoveThrows(&ws, Move("Int8Flatten", IntArg("axis", -1)), "want at least 0");
  FeedCount(&ws, "X", {0, 3, 4});
  ExpectMoved(&ws, Move("Int8Flatten"), {0, 12}, {});
  ExpectKeepsAnyQuantization("Int8Flatten");
}

TEST(Int8ReshapeTest, ChangesTheShapeAndReturnsTheOldOne) {
  Workspace ws;
  FeedCount(&ws, "X", {2, 3});
  ExpectMoved(&ws, Move("Int8Reshape", IntsArg("shape", {0, -1, 1}), "X", "Y old"), {2, 3, 1},
              Count(6));
  ExpectTensor<int64_t>(ws, "old", {2}, {2, 3});
  Feed<int32_t>(&ws, "shape", {1}, {-1});
  RunOp(&ws, Move("Int8Reshape", "", "X shape", "Y old"));
  ExpectInt8(ws, "Y", {6}, Count(6), kScale, kZero);
  ExpectTensor<int32_t>(ws, "old", {2}, {2, 3});
  RunOp(&ws, Move("Int8Reshape", IntsArg("shape", {3, 2}), "X", "X old"));
  ExpectInt8(ws, "X", {3, 2}, Count(6), kScale, kZero);
  FeedCount(&ws, "X", {0, 3});
  ExpectMoved(&ws, Move("Int8Reshape", IntsArg("shape", {0, -1}), "X", "Y old"), {0, 0}, {});
}

TEST(Int8ReshapeTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedCount(&ws, "X", {2, 3});
  Feed<int64_t>(&ws, "shape", {1, 1}, {6});
  ExpectMoveThrows(&ws, Move("Int8Reshape", "", "X", "Y old"), "argument shape is missing");
  ExpectMoveThrows(&ws, Move("Int8Reshape", IntsArg("shape", {6}), "X shape", "Y old"),
                   "both given");
  ExpectMoveThrows(&ws, Move("Int8Reshape", "", "X shape", "Y old"), "want a vector");
  ExpectMoveThrows(&ws, Move("Int8Reshape", IntsArg("shape", {5}), "X", "Y old"),
                   "want those of input 0");
  ExpectKeepsAnyQuantization("Int8Reshape", IntsArg("shape", {-1}), "Y old");
}

TEST(Int8SliceTest, CopiesARangeOfOneDimension) {
  Workspace ws;
  FeedCount(&ws, "X", {3, 4});
  const auto slice = [](std::vector<int64_t> starts, std::vector<int64_t> ends) {
    return Move("Int8Slice", IntsArg("starts", starts) + IntsArg("ends", ends));
  };
  ExpectMoved(&ws, slice({1, 0}, {2, -1}), {1, 4}, {4, 5, 6, 7});
  ExpectMoved(&ws, slice({0, 1}, {-1, -2}), {3, 2}, {1, 2, 5, 6, 9, 10});
  ExpectMoved(&ws, slice({0, 2}, {-1, 2}), {3, 0}, {});
  ExpectMoved(&ws, slice({1}, {9}), {2, 4}, Count(8, 4));
  ExpectMoved(&ws,
              Move("Int8Slice", IntArg("dim", 1) + IntArg("start_idx", 3) + IntArg("end_idx", -1)),
              {3, 1}, {3, 7, 11});
  Feed<int32_t>(&ws, "starts", {2}, {2, 0});
  Feed<int32_t>(&ws, "ends", {2}, {3, -1});
  RunOp(&ws, Move("Int8Slice", "", "X starts ends"));
  ExpectInt8(ws, "Y", {1, 4}, {8, 9, 10, 11}, kScale, kZero);
  ExpectMoveThrows(&ws, slice({0, 3}, {-1, 2}), "cannot be sliced from 3 to 2");
  ExpectMoveThrows(&ws, slice({1, 1}, {2, 2}), "slice 2 dimensions, want one");
  ExpectMoveThrows(&ws, slice({0, 0, 0}, {1, 1, 1}), "want at most the rank");
  ExpectMoveThrows(&ws, Move("Int8Slice"), "argument starts is missing");
  ExpectMoveThrows(&ws, Move("Int8Slice", IntsArg("starts", {0})), "argument ends is missing");
  ExpectMoveThrows(&ws, Move("Int8Slice", "", "X starts"), "inputs");
  FeedCount(&ws, "X", {0, 4});
  ExpectMoved(&ws, slice({0, 1}, {-1, 3}), {0, 2}, {});
  ExpectKeepsAnyQuantization("Int8Slice", IntsArg("starts", {0}) + IntsArg("ends", {1}));
}

TEST(Int8TransposeTest, PermutesDimensions) {
  Workspace ws;
  FeedCount(&ws, "X", {2, 3});
  ExpectMoved(&ws, Move("Int8Transpose"), {3, 2}, {0, 3, 1, 4, 2, 5});
  FeedCount(&ws, "X", {2, 2, 2});
  ExpectMoved(&ws, Move("Int8Transpose", IntsArg("axes", {1, 0, 2})), {2, 2, 2},
              {0, 1, 4, 5, 2, 3, 6, 7});
  ExpectMoveThrows(&ws, Move("Int8Transpose", IntsArg("axes", {0, 1})), "want the rank of input 0");
  ExpectMoveThrows(&ws, Move("Int8Transpose", IntsArg("axes", {0, 1, 1})), "want a permutation");
  ExpectMoveThrows(&ws, Move("Int8Transpose", IntsArg("axes", {0, 1, -1})), "want a permutation");
  FeedCount(&ws, "X", {0, 2, 3});
  ExpectMoved(&ws, Move("Int8Transpose"), {3, 2, 0}, {});
  ExpectKeepsAnyQuantization("Int8Transpose");
}

TEST(Int8ConcatTest, JoinsAlongTheAxis) {
  Workspace ws;
  FeedCount(&ws, "A", {2, 1, 1, 2});
  FeedCount(&ws, "B", {2, 1, 1, 1}, 10);
  const std::string nhwc = StringArg("order", "NHWC");
  ExpectMoved(&ws, Move("Int8Concat", nhwc, "A B", "Y info"), {2, 1, 1, 3}, {0, 1, 10, 2, 3, 11});
  ExpectMoved(&ws, Move("Int8Concat", IntArg("axis", 3), "B A B"), {2, 1, 1, 4},
              {10, 0, 1, 10, 11, 2, 3, 11});
  ExpectMoved(&ws, Move("Int8Concat", "", "A A"), {4, 1, 1, 2}, {0, 1, 2, 3, 0, 1, 2, 3});
  ExpectMoved(&ws, Move("Int8Concat", StringArg("order", "NCHW"), "A A"), {2, 2, 1, 2},
              {0, 1, 0, 1, 2, 3, 2, 3});
  ExpectMoveThrows(&ws, Move("Int8Concat", IntArg("axis", 0), "A B"), "only dim 0 may differ");
  ExpectMoveThrows(&ws, Move("Int8Concat", IntArg("axis", 4), "A B"), "want below its rank");
  ExpectMoveThrows(&ws, Move("Int8Concat", IntArg("axis", -1), "A B"), "want at least 0");
  FeedCount(&ws, "C", {2, 1});
  ExpectMoveThrows(&ws, Move("Int8Concat", "", "A C"), "rank of input 1");
  FeedCount(&ws, "A", {2, 0});
  ExpectMoved(&ws, Move("Int8Concat", IntArg("axis", 1), "A C"), {2, 1}, {0, 1});
  ExpectKeepsQuantization("Int8Concat");
}

TEST(Int8ChannelShuffleTest, InterleavesGroups) {
  Workspace ws;
  const std::string nhwc = StringArg("order", "NHWC") + IntArg("kernel", 1);
  FeedCount(&ws, "X", {1, 1, 2, 6});
  ExpectMoved(&ws, Move("Int8ChannelShuffle", nhwc + IntArg("group", 2)), {1, 1, 2, 6},
              {0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11});
  ExpectMoved(&ws, Move("Int8ChannelShuffle", nhwc + IntArg("group", 3)), {1, 1, 2, 6},
              {0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11});
  ExpectMoveThrows(&ws, Move("Int8ChannelShuffle", nhwc + IntArg("group", 4)),
                   "want a multiple of argument group 4");
  ExpectMoveThrows(&ws, Move("Int8ChannelShuffle", IntArg("kernel", 1)), "want NHWC");
  FeedCount(&ws, "X", {0, 1, 2, 6});
  ExpectMoved(&ws, Move("Int8ChannelShuffle", nhwc + IntArg("group", 2)), {0, 1, 2, 6}, {});
  FeedCount(&ws, "X", {2, 6});
  ExpectMoveThrows(&ws, Move("Int8ChannelShuffle", nhwc), "want [N, H, W, C]");
  ExpectKeepsQuantization("Int8ChannelShuffle", nhwc);
}

TEST(Int8ResizeNearestTest, CopiesTheNearestPixel) {
  Workspace ws;
  FeedCount(&ws, "X", {1, 2, 2, 2});
  const auto resize = [](float height, float width) {
    return Move("Int8ResizeNearest",
                FloatArg("height_scale", height) + FloatArg("width_scale", width));
  };
  ExpectMoved(&ws, resize(2, 1), {1, 4, 2, 2}, {0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7});
  ExpectMoved(&ws, resize(0.5f, 1.5f), {1, 1, 3, 2}, {0, 1, 0, 1, 2, 3});
  ExpectMoved(&ws, resize(0.1f, 1), {1, 0, 2, 2}, {});
  ExpectMoved(&ws, Move("Int8ResizeNearest", IntsArg("output_size", {2, 5})), {1, 2, 4, 2},
              {0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7, 6, 7});
  // A size without numbers is as none.
  ExpectMoved(&ws, resize(1, 0.5f) + IntsArg("output_size", {}), {1, 2, 1, 2}, {0, 1, 4, 5});
  for (const float scale : {0.0f, -1.0f, std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
    ExpectMoveThrows(&ws, resize(scale, 1), "\"height_scale\" is");
    ExpectMoveThrows(&ws, resize(1, scale), "\"width_scale\" is");
    ExpectMoveThrows(&ws, resize(1, scale), "want above 0 and finite");
  }
  ExpectMoveThrows(&ws, resize(1e20f, 1), "pixels, want at least 0 and below");
  ExpectMoveThrows(&ws, Move("Int8ResizeNearest", IntsArg("output_size", {2})), "two numbers");
  FeedCount(&ws, "X", {0, 2, 2, 2});
  ExpectMoved(&ws, resize(1e6f, 1e6f), {0, 2000000, 2000000, 2}, {});
  FeedCount(&ws, "X", {2, 2, 2});
  ExpectMoveThrows(&ws, resize(1, 1), "want [N, H, W, C]");
  ExpectKeepsAnyQuantization("Int8ResizeNearest");
}

// An operator that has run on another shape moves the elements as a new one does.
TEST(Int8ShapeTest, OperatorsFollowTheShapesOfTheirInputs) {
  for (const std::string& op :
       {Move("Int8Flatten"), Move("Int8Reshape", IntsArg("shape", {0, -1}), "X", "Y old"),
        Move("Int8Slice", IntsArg("starts", {0, 1, 0, 0}) + IntsArg("ends", {-1, -1, -1, -1})),
        Move("Int8Transpose"), Move("Int8Concat", IntArg("axis", 3), "X X"),
        Move("Int8ChannelShuffle",
             IntArg("group", 2) + IntArg("kernel", 1) + StringArg("order", "NHWC")),
        Move("Int8ResizeNearest", FloatArg("width_scale", 2) + FloatArg("height_scale", 2))}) {
    SCOPED_TRACE(op);
    Workspace used;
    FeedCount(&used, "X", {1, 2, 3, 4});
    const std::unique_ptr<OperatorBase> reused = CreateOperator(ParseOp(op), &used);
    const std::vector<std::vector<int64_t>> shapes = {
        {1, 2, 3, 4}, {2, 3, 1, 2}, {1, 2, 3, 4}, {3, 2, 2, 4}};
    for (const std::vector<int64_t>& shape : shapes) {
      FeedCount(&used, "X", shape, 5);
      ASSERT_TRUE(reused->Run());
      Workspace fresh;
      FeedCount(&fresh, "X", shape, 5);
      RunOp(&fresh, op);
      ExpectInt8(used, "Y", Int8Of(fresh, "Y").t.dims(), FetchInt8(fresh, "Y"), kScale, kZero);
    }
  }
}

// A shape that is rejected leaves no plan: neither for it nor for the shape before it.
TEST(Int8TransposeTest, PlansAgainAfterARejectedShape) {
  Workspace ws;
  const std::string text = Move("Int8Transpose", IntsArg("axes", {1, 0, 2}));
  FeedCount(&ws, "X", {2, 3, 1});
  const std::unique_ptr<OperatorBase> op = CreateOperator(ParseOp(text), &ws);
  for (int round = 0; round < 2; ++round) {
    FeedCount(&ws, "X", {2, 3, 1});
    ASSERT_TRUE(op->Run());
    ExpectInt8(ws, "Y", {3, 2, 1}, {0, 3, 1, 4, 2, 5}, kScale, kZero);
    FeedCount(&ws, "X", {3, 2});
    for (int run = 0; run < 2; ++run) ExpectThrows([&] { (void)op->Run(); }, "axes");
  }
  FeedCount(&ws, "X", {3, 2, 1});
  ASSERT_TRUE(op->Run());
  ExpectInt8(ws, "Y", {2, 3, 1}, {0, 2, 4, 1, 3, 5}, kScale, kZero);
}

}  // namespace
}  // namespace caffe2rt::int8_shape_test
