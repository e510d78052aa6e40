// Whole messages of what the operators share, and values next to the bounds.
#include <gtest/gtest.h>

#include <limits>

#include "caffe2_core/base/thread_pool.h"
#include "operators/common/broadcast.h"
#include "operators/common/channel_functions.h"
#include "operators/common/conv_geometry.h"
#include "operators/common/inference.h"
#include "operators/common/integer_input.h"
#include "operators/common/matrix_batches.h"
#include "operators/common/optional_inputs.h"
#include "operators/common/reshaped_dims.h"
#include "operators/common/slice_plan.h"
#include "tests/operators/common/call_tables.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::common_calls_test {
namespace {

using Dims = std::vector<int64_t>;

TEST(BroadcastRejectionTest, NamesBothShapes) {
  ExpectRejected({
      {"Add A B -> Y broadcast=1 axis=1 axis_str=C", "A f 2,3; B f 3",
       "argument axis together with axis_str \"C\", want only one of them (got 1, want -1)"},
      {"Add A B -> Y broadcast=1 axis_str=CH", "A f 2,3; B f 3",
       "length of argument axis_str \"CH\", want one letter of argument order (got 2, want 1)"},
      {"Add A B -> Y broadcast=1 axis_str=Q", "A f 2,3; B f 3",
       "argument axis_str \"Q\" is not a letter of argument order \"NCHW\""},
      {"Add A B -> Y broadcast=1", "A f 3; B f 2,3",
       "rank of input 0 (A) [3], want at least the rank of input 1 (B) [2, 3] when the argument "
       "broadcast "
       "is set (got 1, want at least 2)"},
      {"Add A B -> Y broadcast=1 axis=2", "A f 2,3; B f 3",
       "argument axis is 2, want 0 to 1: input 1 (B) [3] must lie within input 0 (A) [2, 3]"},
      {"Add A B -> Y broadcast=1 axis=-2", "A f 2,3; B f 3",
       "argument axis is -2, want 0 to 1: input 1 (B) [3] must lie within input 0 (A) [2, 3]"},
      {"Add A B -> Y broadcast=1 axis=0", "A f 2,3; B f 3",
       "input 1 (B) has shape [3], which does not fit into input 0 (A) [2, 3] at axis 0: dim 0 of "
       "A must "
       "equal dim 0 of B: got 2, want 3"},
      {"Add A B -> Y", "A f 2,3; B f 2",
       "input 1 (B) has shape [2], which does not fit input 0 (A) [2, 3]: counted from the end, "
       "dimensions must be equal or 1"},
  });
  ExpectResults({
      {"Add A B -> Y broadcast=1 axis_str=C", "A f 1,2,1,2 = 1,2,3,4; B f 2 = 10,20",
       "Y f 1,2,1,2 = 11,12,23,24"},
      {"Add A B -> Y broadcast=1 axis_str=C order=NHWC", "A f 1,2,1,2 = 1,2,3,4; B f 2 = 10,20",
       "Y f 1,2,1,2 = 11,22,13,24"},
      {"Add A B -> Y broadcast=1 axis=0", "A f 2,2 = 1,2,3,4; B f 2 = 10,20",
       "Y f 2,2 = 11,12,23,24"},
      {"Add A B -> Y broadcast=1 axis=0", "A f 2,2 = 1,2,3,4; B f 2,1 = 10,20",
       "Y f 2,2 = 11,12,23,24"},
      {"Add A B -> Y broadcast=1", "A f 2,2 = 1,2,3,4; B f 1,1,1 = 10", "Y f 2,2 = 11,12,13,14"},
      // Without the argument broadcast the letter has no effect.
      {"Add A B -> Y axis_str=Q", "A f 2 = 1,2; B f 1 = 10", "Y f 2 = 11,12"},
  });
}

TEST(SlicePlanTest, DoesNotDependOnTheLastPlan) {
  SlicePlan slice;
  PlanSlice(Dims{2, 5, 6}, Dims{0, 0, 1}, Dims{2, 5, 3}, &slice);
  EXPECT_EQ(slice.axis, 2);
  PlanSlice(Dims{4}, Dims{0}, Dims{-1}, &slice);
  EXPECT_EQ(slice.dims, Dims{4});
  EXPECT_EQ(slice.axis, -1);
  EXPECT_EQ(slice.start, 0);
}

TEST(SlicePlanTest, CountsNegativeBoundsFromBehindTheEnd) {
  const auto plan = [](Dims dims, Dims starts, Dims ends) {
    SlicePlan slice;
    PlanSlice(dims, starts, ends, &slice);
    return slice;
  };
  const SlicePlan middle = plan({4, 5, 6}, {0, -4, 0}, {-1, -2, 9});
  EXPECT_EQ(middle.dims, (Dims{4, 2, 6}));  // 5 + 1 - 4 = 2 to 5 + 1 - 2 = 4
  EXPECT_EQ(middle.axis, 1);
  EXPECT_EQ(middle.start, 2);
  const SliceRows rows = RowsOfSlice(Dims{4, 5, 6}, middle);
  EXPECT_EQ(rows.outer, 4);
  EXPECT_EQ(rows.all, 30);
  EXPECT_EQ(rows.taken, 12);
  EXPECT_EQ(rows.start, 12);
  const SlicePlan all = plan({4, 5}, {0}, {4});
  EXPECT_EQ(all.axis, -1);
  EXPECT_EQ(RowsOfSlice(Dims{4, 5}, all).taken, 20);
  EXPECT_EQ(RowsOfSlice(Dims{4, 5}, all).outer, 1);
  EXPECT_EQ(plan({4}, {4}, {9}).dims, Dims{0});
  EXPECT_EQ(plan({4}, {-5}, {-5}).dims, Dims{0});
  // A tensor without elements may be cut in several dimensions.
  EXPECT_EQ(plan({0, 4, 5}, {0, 1, 1}, {-1, 2, 3}).dims, (Dims{0, 1, 2}));
  // Bounds of a dimension without elements have no effect.
  EXPECT_EQ(plan({0, 4}, {-5, 0}, {-7, 2}).dims, (Dims{0, 2}));
  EXPECT_EQ(plan({0, 4}, {3, 1}, {1, -1}).dims, (Dims{0, 3}));
  ExpectRefusals({
      {[&] { plan({4}, {-6}, {1}); },
       "dim 0 of input 0 of shape [4] cannot be sliced from -6 to 1"},
      {[&] { plan({4}, {2}, {1}); }, "dim 0 of input 0 of shape [4] cannot be sliced from 2 to 1"},
      {[&] {
         plan({4, 4}, {1, 1}, {2, 2});
       },
       "starts [1, 1] and ends [2, 2] slice 2 dimensions, want one: use several Slice operators"},
      {[&] {
         plan({4}, {0, 0}, {1, 1});
       },
       "elements of starts, want at most the rank of input 0 (got 2, want at most 1)"},
      {[&] { plan({4}, {0}, {}); }, "elements of starts, want as many as of ends (got 1, want 0)"},
  });
}

TEST(ReshapedDimsTest, ComputesOneDimension) {
  const auto reshaped = [](Dims input, Dims dims, bool allow_zero = false) {
    ReshapedDims(input, &dims, allow_zero);
    return dims;
  };
  EXPECT_EQ(reshaped({2, 6}, {-1, 3}), (Dims{4, 3}));
  EXPECT_EQ(reshaped({2, 6}, {0, -1, 2}), (Dims{2, 3, 2}));
  EXPECT_EQ(reshaped({0, 6}, {0, 5}), (Dims{0, 5}));
  EXPECT_EQ(reshaped({0, 6}, {-1, 5}), (Dims{0, 5}));
  EXPECT_EQ(reshaped({0, 6}, {6, 0}, true), (Dims{6, 0}));
  // Of an empty tensor, 0 is a size, and -1 becomes 0 beside any other.
  EXPECT_EQ(reshaped({6, 0}, {0, 5}), (Dims{0, 5}));
  EXPECT_EQ(reshaped({6, 0}, {5, 0}), (Dims{5, 0}));
  EXPECT_EQ(reshaped({0, 6}, {-1, 0}), (Dims{0, 0}));
  EXPECT_EQ(reshaped({6, 0}, {0, -1}), (Dims{0, 0}));
  EXPECT_EQ(reshaped({3, 0}, {7, -1, 2}), (Dims{7, 0, 2}));
  EXPECT_EQ(reshaped({}, {1, -1}), (Dims{1, 1}));
  EXPECT_EQ(reshaped({1}, {}), Dims{});
  ExpectRefusals({
      {[&] {
         reshaped({2, 6}, {-1, -1});
       },
       "shape [-1, -1] has more than one -1"},
      {[&] {
         reshaped({2, 6}, {-2, 3});
       },
       "dim 0 of shape [-2, 3], want at least -1 (got -2, want at least 0)"},
      {[&] {
         reshaped({2, 6}, {5, -1});
       },
       "input 0 has shape [2, 6], 12 elements, which cannot be divided into shape [5, -1]"},
      {[&] {
         reshaped({2, 6}, {12, 1, 0, -1});
       },
       "input 0 has shape [2, 6], 12 elements, which cannot be divided into shape [12, 1, 0, -1]"},
      {[&] {
         reshaped({2, 6}, {0, 5});
       },
       "elements of shape [2, 5], want those of input 0 of shape [2, 6] (got 10, want 12)"},
      {[&] {
         reshaped({2, 6}, {0, 6}, true);
       },
       "elements of shape [0, 6], want those of input 0 of shape [2, 6] (got 0, want 12)"},
  });
}

TEST(MatrixBatchesTest, LocatesTheMatricesOfBothOperands) {
  MatrixBatches batches;
  const Dims a = {2, 1, 3, 4}, b = {5, 4, 6};
  batches.Make(a, b);
  EXPECT_EQ(batches.m, 3);
  EXPECT_EQ(batches.n, 6);
  EXPECT_EQ(batches.k, 4);
  EXPECT_EQ(batches.y_dims, (Dims{2, 5, 3, 6}));
  batches.Locate(a, b);
  EXPECT_EQ(batches.a_matrix, (Dims{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}));
  EXPECT_EQ(batches.b_matrix, (Dims{0, 1, 2, 3, 4, 0, 1, 2, 3, 4}));
  const Dims row = {4}, column = {4}, matrices = {3, 4, 2};
  batches.Make(row, column);
  EXPECT_EQ(batches.y_dims, Dims{});
  batches.Locate(row, column);
  EXPECT_EQ(batches.a_matrix, Dims{0});
  batches.Make(row, matrices);
  EXPECT_EQ(batches.y_dims, (Dims{3, 2}));
  EXPECT_EQ(batches.m, 1);
  batches.Locate(row, matrices);
  EXPECT_EQ(batches.a_matrix, (Dims{0, 0, 0}));
  EXPECT_EQ(batches.b_matrix, (Dims{0, 1, 2}));
}

TEST(PlaceAxesTest, CountsFromTheEndAndNamesWhatIsTwice) {
  std::vector<int64_t> placed;
  PlaceAxes(Dims{-1, 0}, 3, &placed);
  EXPECT_EQ(placed, (Dims{2, 0}));
  PlaceAxes(Dims{}, 3, &placed);
  EXPECT_EQ(placed, (Dims{0, 1, 2}));
  EXPECT_EQ(PlaceAxis(-3, 3), 0);
  EXPECT_EQ(PlaceAxis(2, 3), 2);
  ExpectRefusals({
      {[] { PlaceAxis(3, 3); }, "axis is 3, want at least -3 and below the rank 3"},
      {[] { PlaceAxis(-4, 3); }, "axis is -4, want at least -3 and below the rank 3"},
      {[] { PlaceAxis(0, 0); }, "axis is 0, want at least 0 and below the rank 0"},
      {[&] {
         PlaceAxes(Dims{1, -2}, 3, &placed);
       },
       "axes are [1, -2], which name dimension 1 twice"},
  });
}

TEST(InputPlacesTest, SkipsThePositionsThatAreOmitted) {
  const auto places = [](const std::string& omitted, int given) {
    const OperatorDef def = ParseOp("type: \"x\" arg { name: \"omitted_inputs\" " + omitted + " }");
    return InputPlaces(ArgumentHelper(def), given);
  };
  const InputPlaces some = places("ints: 1 ints: 3", 3);
  EXPECT_EQ(some[0], 0);
  EXPECT_FALSE(some.Has(1));
  EXPECT_EQ(some[2], 1);
  EXPECT_FALSE(some.Has(3));
  EXPECT_EQ(some[4], 2);
  EXPECT_EQ(some[5], -1);
  EXPECT_TRUE(places("ints: 15", 15).Has(14));
  EXPECT_EQ(places("ints: 0", 15)[15], 14);
  EXPECT_FALSE(places("ints: 15", 16).Has(15));
}

TEST(InferenceHelpersTest, KeepWhatIsKnown) {
  const TensorShape known = CreateTensorShape(Dims{2, 3}, TensorProto::DOUBLE);
  TensorShape partly = known;
  partly.add_unknown_dims(1);
  EXPECT_TRUE(IsKnown(known));
  EXPECT_FALSE(IsKnown(partly));
  EXPECT_FALSE(IsKnown(UnknownShape()));
  EXPECT_TRUE(AreKnown({known, partly}, 1));
  EXPECT_FALSE(AreKnown({known, partly}, 2));
  EXPECT_FALSE(AreKnown({known}, 2));
  EXPECT_TRUE(AreKnown({}, 0));
  OperatorDef def = ParseOp(R"(type: "x" input: "a" input: "b" output: "y")");
  const auto shapes =
      InferShapeAndType(1, 0)(def, {known, CreateTensorShape(Dims{7}, TensorProto::INT32)});
  EXPECT_EQ(GetDimsVector(shapes.at(0)), Dims{7});
  EXPECT_EQ(shapes[0].data_type(), TensorProto::DOUBLE);
  EXPECT_TRUE(InferShapeAndType(1, 0)(def, {known})[0].unknown_shape());
  EXPECT_TRUE(InferShapeAndType(1, 0)(def, {known, partly})[0].unknown_shape());
  const OpSchema::Cost cost = MoveCost({known, partly}, {known, known});
  EXPECT_EQ(cost.bytes_read, 24u);
  EXPECT_EQ(cost.bytes_written, 48u);
  EXPECT_EQ(cost.bytes_moved, 72u);
  EXPECT_EQ(cost.flops, 0u);
  // An input may be given if it is there and is not known to be empty.
  EXPECT_TRUE(MayBeGiven(def, {known, known}, 1));
  EXPECT_TRUE(MayBeGiven(def, {known}, 1));
  EXPECT_TRUE(MayBeGiven(def, {known, partly}, 1));
  EXPECT_FALSE(MayBeGiven(def, {known, CreateTensorShape(Dims{0}, TensorProto::INT64)}, 1));
  EXPECT_FALSE(MayBeGiven(def, {known, known}, 2));
}

WindowGeometry GeometryOf(const std::string& arguments, const Dims& dims, WindowUse use) {
  const OperatorDef def = ParseOp("type: \"x\" " + arguments);
  return MakeWindowGeometry(ParseWindowArguments(ArgumentHelper(def), use), dims);
}

TEST(WindowRejectionTest, NamesWhatPadImageDoesNotHave) {
  const auto pad = [](const std::string& arguments) {
    return [arguments] { GeometryOf(arguments, {1, 1, 2, 2}, WindowUse::kPad); };
  };
  const auto wide = [](const std::string& arguments) {
    return [arguments] { GeometryOf(arguments, {1, 1, 2, 2}, WindowUse::kWidePool); };
  };
  ExpectRefusals({
      {pad("arg { name: 'stride' i: 2 }"),
       "axis 0 has stride 2 and dilation 1, want 1 and 1: PadImage has no sliding window"},
      {pad("arg { name: 'dilations' ints: 1 ints: 2 }"),
       "axis 1 has stride 1 and dilation 2, want 1 and 1: PadImage has no sliding window"},
      {pad("arg { name: 'legacy_pad' i: 1 }"),
       "argument \"legacy_pad\" is 1, want 0 (NOTSET): PadImage accepts explicit pads only"},
      {wide("arg { name: 'kernel' i: 1 } arg { name: 'dilation' i: 2 }"),
       "dilation of axis 0 of a pool, want 1 (got 2, want 1)"},
      {[] {
         GeometryOf(
             "arg { name: 'kernels' ints: 4 } arg { name: 'strides' ints: 9 } "
             "arg { name: 'pads' ints: 2 ints: 2 } arg { name: 'legacy_pad' i: 3 }",
             {1, 1, 5}, WindowUse::kPool);
       },
       "(nothing was thrown)"},
      {[] {
         GeometryOf("arg { name: 'kernel' i: 1 }", {4611686018427387904, 4, 1, 1},
                    WindowUse::kPool);
       },
       MessageOf([] {
         (void)CheckedProduct(Dims{4611686018427387904, 4, 1, 1});
       })},
  });
  // The kernel of PadImage has no effect; negative pads crop.
  const WindowGeometry padded = GeometryOf(
      "arg { name: 'kernel' i: 9 } arg { name: 'pads' ints: 1 ints: 0 ints: -1 ints: 2 }",
      {1, 3, 2, 2}, WindowUse::kPad);
  EXPECT_EQ(padded.OutputDims(3), (Dims{1, 3, 2, 4}));
  EXPECT_EQ(padded.axis[0].kernel, 1);
  // A wide pool may have windows in the padding alone.
  EXPECT_EQ(GeometryOf("arg { name: 'kernel' i: 2 } arg { name: 'pad' i: 2 }", {1, 3, 2, 2},
                       WindowUse::kWidePool)
                .OutputDims(3),
            (Dims{1, 3, 5, 5}));
}

TEST(ChannelPlanesTest, CountsBlocksAndPadding) {
  const ChannelPlanes blocked{.batch = 2, .channels = 20, .height = 3, .width = 5, .blocked = true};
  EXPECT_EQ(blocked.blocks(), 2);
  EXPECT_EQ(blocked.lanes(), 16);
  EXPECT_EQ(blocked.plane_size(), 240);
  EXPECT_EQ(blocked.planes(), 4);
  EXPECT_EQ(blocked.image_size(), 480);
  EXPECT_EQ(blocked.size(), 960);
  EXPECT_EQ(blocked.padded_channels(), 32);
  EXPECT_EQ(blocked.vectors(), 2);
  EXPECT_EQ(blocked.vector_stride(), 240);
  const ChannelPlanes last{.batch = 2, .channels = 20, .height = 3, .width = 5};
  EXPECT_EQ(last.blocks(), 1);
  EXPECT_EQ(last.size(), 600);
  EXPECT_EQ(last.padded_channels(), 20);
  EXPECT_EQ(last.vectors(), 2);
  EXPECT_EQ(last.vector_stride(), 16);
  // Rows if there are enough of them, otherwise lanes in sixteens.
  const auto part = [](const ChannelPlanes& planes, int i, int parts) {
    const PlanesPart p = PlanesPartOf(planes, i, parts);
    return Dims{p.first_row, p.last_row, p.first_lane, p.last_lane};
  };
  EXPECT_EQ(part(blocked, 1, 5), (Dims{2, 4, 0, 16}));
  EXPECT_EQ(part(last, 5, 6), (Dims{5, 6, 0, 20}));
  EXPECT_EQ(part(last, 0, 7), (Dims{0, 6, 0, 0}));
  EXPECT_EQ(part(last, 6, 7), (Dims{0, 6, 16, 20}));
  SetNumThreads(3);
  EXPECT_EQ(CountPlanesParts({.batch = 1, .channels = 32, .height = 32, .width = 32}, 1), 3);
  EXPECT_EQ(CountPlanesParts({.batch = 1, .channels = 32, .height = 32, .width = 31}, 1), 1);
  EXPECT_EQ(CountPlanesParts({.batch = 1, .channels = 32, .height = 32, .width = 31}, 2), 3);
  EXPECT_EQ(CountRanges(2, 32768, 1), 2);
  EXPECT_EQ(CountRanges(9, 32768, 1), 3);
  EXPECT_EQ(CountRanges(9, 3640, 1), 1);
  SetNumThreads(1);
  std::vector<float> x(static_cast<size_t>(blocked.size()), 7);
  ClearPadding(blocked, x.data());
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], i % 480 >= 240 && i % 16 >= 4 ? 0 : 7) << i;
  std::vector<float> y(16, 7);
  ClearPadding({.batch = 1, .channels = 16, .height = 1, .width = 1, .blocked = true}, y.data());
  EXPECT_EQ(y, std::vector<float>(16, 7));
}

// y = x * a + b with a and b of each image, in both layouts.
TEST(MapChannelsTest, AppliesTheParametersOfEachChannel) {
  for (const bool blocked : {false, true}) {
    const ChannelPlanes planes{
        .batch = 2, .channels = 20, .height = 3, .width = 2, .blocked = blocked};
    std::vector<float> values(40), shifts(40), a, b;
    for (size_t i = 0; i < 40; ++i) {
      values[i] = static_cast<float>(i + 1);
      shifts[i] = static_cast<float>(100 * i);
    }
    PadChannels(planes, values.data(), 2, &a);
    PadChannels(planes, shifts.data(), 2, &b);
    ASSERT_EQ(a.size(), blocked ? 64u : 40u);
    if (blocked) {
      EXPECT_EQ(a[20], 0);
      EXPECT_EQ(a[32], 21);
    }
    std::vector<float> x(static_cast<size_t>(planes.size())), y(x.size(), -1);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7);
    for (const int64_t per_image : {int64_t{0}, planes.padded_channels()}) {
      MapChannels(planes, ScaleAndShift{50}, a.data(), b.data(), per_image, x.data(), y.data());
      for (int64_t i = 0; i < planes.size(); ++i) {
        const int64_t n = i / planes.image_size(), at = i % planes.image_size();
        const int64_t c = at / planes.plane_size() * 16 * (blocked ? 1 : 0) + at % planes.lanes();
        if (c >= 20) continue;
        const int64_t p = (per_image == 0 ? 0 : n * 20) + c;
        const float value = x[static_cast<size_t>(i)] * values[static_cast<size_t>(p)] +
                            shifts[static_cast<size_t>(p)];
        ASSERT_EQ(y[static_cast<size_t>(i)], std::max(value, 50.f)) << i;
      }
    }
  }
  EXPECT_TRUE(std::isnan(ScaleAndShift{0}(NAN, 1, 0)));
  EXPECT_EQ(AddChannel()(3, 4, 0), 7);
  EXPECT_EQ(SubtractChannel()(3, 4, 0), -1);
  EXPECT_EQ(MultiplyChannel()(3, 4, 0), 12);
  EXPECT_EQ(SlopeBelowZero()(-3, 4, 0), -12);
  EXPECT_EQ(SlopeBelowZero()(3, 4, 0), 3);
}

}  // namespace
}  // namespace caffe2rt::test::common_calls_test
