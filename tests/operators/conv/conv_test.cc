#include <array>
#include <map>

#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/runtime/net.h"
#include "operators/conv/conv_tuning.h"
#include "tests/operators/conv/naive_conv.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::conv_test {

namespace {

TEST(ConvTest, SlidesTheFilterOverTheImage) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 3, 3}, 1);
  Feed<float>(&ws, "W", {1, 1, 2, 2}, {1, 0, 0, -1});
  Feed<float>(&ws, "b", {1}, {10});
  RunOp(&ws,
        R"(type: "Conv" input: "X" input: "W" input: "b" output: "Y" arg { name: "kernel" i: 2 })");
  ExpectTensor<float>(ws, "Y", {1, 1, 2, 2}, {6, 6, 6, 6});
}

// The input is large enough for an algorithm that prepares the filter.
TEST(ConvTest, SeesFiltersWrittenThroughPointersOfTheUsers) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 16, 20, 20}, std::vector<float>(6400, 1));
  Feed<float>(&ws, "W", {16, 16, 3, 3}, std::vector<float>(2304, 1));
  const NetDef def = ParseNet(R"(name: "n" op { type: "Conv" input: "X" input: "W" output: "Y"
      arg { name: "kernel" i: 3 } })");
  NetBase* net = ws.CreateNet(def);
  const auto first = [&] { return ws.GetBlob("Y")->Get<Tensor>().data<float>()[0]; };
  Tensor* W = ws.GetBlob("W")->GetMutable<Tensor>();
  float* kept = W->mutable_data<float>();
  for (int run = 0; run < 3; ++run) ASSERT_TRUE(net->Run());
  EXPECT_EQ(first(), 144);
  kept[0] = 11;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(first(), 154);

  std::vector<float> external(2304, 2);
  W->ShareExternalPointer(external.data());
  for (int run = 0; run < 3; ++run) ASSERT_TRUE(net->Run());
  EXPECT_EQ(first(), 288);
  external[1] = 7;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(first(), 293);
}

TEST(ConvTest, GoesOverOneAxis) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1, 5}, {1, 2, 3, 4, 5});
  Feed<float>(&ws, "W", {2, 1, 2}, {1, 1, 1, -1});
  const char* op =
      R"(type: "Conv1D" input: "X" input: "W" output: "Y" arg { name: "kernels" ints: 2 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {1, 2, 4}, {3, 5, 7, 9, -1, -1, -1, -1});
  ExpectShapeInferred(&ws, op);
}

TEST(ConvTest, GoesOverThreeAndFourAxes) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 2, 2, 2}, 1);
  Feed<float>(&ws, "W", {1, 1, 2, 2, 2}, std::vector<float>(8, 1));
  const char* op = R"(type: "Conv3D" input: "X" input: "W" output: "Y"
                      arg { name: "kernels" ints: 2 ints: 2 ints: 2 } arg { name: "pads" ints: 0 ints: 0 ints: 0 ints: 0 ints: 0 ints: 1 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {1, 1, 1, 1, 2}, {36, 20});
  ExpectShapeInferred(&ws, op);
  FeedRange<float>(&ws, "X", {1, 1, 2, 2, 2, 2}, 1);
  Feed<float>(&ws, "W", {1, 1, 2, 2, 2, 2}, std::vector<float>(16, 1));
  RunOp(
      &ws,
      R"(type: "Conv" input: "X" input: "W" output: "Y" arg { name: "kernels" ints: 2 ints: 2 ints: 2 ints: 2 })");
  ExpectTensor<float>(ws, "Y", {1, 1, 1, 1, 1, 1}, {136});
}

TEST(ConvTest, ReadsChannelsLast) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 2, 2, 2}, {1, 10, 2, 20, 3, 30, 4, 40});
  Feed<float>(&ws, "W", {1, 2, 2, 2}, {1, 0, 1, 0, 1, 0, 0, 1});
  const char* op =
      R"(type: "Conv" input: "X" input: "W" output: "Y" arg { name: "kernel" i: 2 } arg { name: "order" s: "NHWC" })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {1, 1, 1, 1}, {46});
  ExpectShapeInferred(&ws, op);
}

TEST(ConvTest, ConvolvesGroupsOnTheirOwn) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 2, 1, 2}, {1, 2, 3, 4});
  Feed<float>(&ws, "W", {2, 1, 1, 1}, {10, 100});
  RunOp(
      &ws,
      R"(type: "Conv" input: "X" input: "W" output: "Y" arg { name: "kernel" i: 1 } arg { name: "group" i: 2 })");
  ExpectTensor<float>(ws, "Y", {1, 2, 1, 2}, {10, 20, 300, 400});
}

struct Padding {
  const char* args;
  std::vector<int64_t> out;
};
class ConvPaddingTest : public testing::TestWithParam<Padding> {};

TEST_P(ConvPaddingTest, GivesTheSizeThatIsInferred) {
  Workspace ws;
  FeedRandom(&ws, "X", {1, 2, 6, 6});
  FeedRandom(&ws, "W", {3, 2, 3, 3});
  const std::string op =
      std::string(R"(type: "Conv" input: "X" input: "W" output: "Y" )") + GetParam().args;
  RunOp(&ws, op);
  EXPECT_EQ(DimsOf(ws, "Y"), GetParam().out);
  ExpectShapeInferred(&ws, op);
}

INSTANTIATE_TEST_SUITE_P(
    Forms, ConvPaddingTest,
    testing::Values(
        Padding{R"(arg { name: "kernel" i: 3 })", {1, 3, 4, 4}},
        Padding{R"(arg { name: "kernel" i: 3 } arg { name: "pad" i: 1 })", {1, 3, 6, 6}},
        Padding{R"(arg { name: "kernel" i: 3 } arg { name: "pad" i: -1 })", {1, 3, 2, 2}},
        Padding{
            R"(arg { name: "kernel" i: 3 } arg { name: "pads" ints: 1 ints: 0 ints: 0 ints: 2 })",
            {1, 3, 5, 6}},
        Padding{R"(arg { name: "kernel" i: 3 } arg { name: "pad_t" i: 1 })", {1, 3, 4, 4}},
        Padding{
            R"(arg { name: "kernel_h" i: 3 } arg { name: "kernel_w" i: 3 } arg { name: "stride_h" i: 2 })",
            {1, 3, 4, 4}},
        Padding{R"(arg { name: "kernels" ints: 3 } arg { name: "kernel" i: 3 })", {1, 3, 4, 4}},
        Padding{
            R"(arg { name: "kernel" i: 3 } arg { name: "legacy_pad" i: 1 } arg { name: "stride" i: 2 })",
            {1, 3, 2, 2}},
        Padding{
            R"(arg { name: "kernel" i: 3 } arg { name: "legacy_pad" i: 2 } arg { name: "stride" i: 2 })",
            {1, 3, 3, 3}},
        Padding{
            R"(arg { name: "kernel" i: 3 } arg { name: "legacy_pad" i: 3 } arg { name: "stride" i: 2 })",
            {1, 3, 3, 3}},
        Padding{R"(arg { name: "kernel" i: 3 } arg { name: "dilation" i: 2 })", {1, 3, 2, 2}},
        Padding{R"(arg { name: "kernel" i: 3 } arg { name: "dilation" i: 0 })", {1, 3, 6, 6}}));

TEST(ConvTest, LegacyPaddingReadsZerosBeyondTheEnd) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1, 4, 4}, std::vector<float>(16, 1));
  Feed<float>(&ws, "W", {1, 1, 3, 3}, std::vector<float>(9, 1));
  RunOp(&ws, R"(type: "Conv" input: "X" input: "W" output: "Y" arg { name: "kernel" i: 3 }
                arg { name: "stride" i: 2 } arg { name: "legacy_pad" i: 3 })");
  ExpectTensor<float>(ws, "Y", {1, 1, 2, 2}, {9, 6, 6, 4});
}

TEST(ConvTest, SamePaddingCutsBothSidesWhereStepsLeavePixelsOut) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1, 5}, {1, 2, 3, 4, 5});
  Feed<float>(&ws, "W", {1, 1, 1}, {1});
  const char* op = R"(type: "Conv" input: "X" input: "W" output: "Y" arg { name: "kernels" ints: 1 }
                      arg { name: "strides" ints: 5 } arg { name: "legacy_pad" i: 2 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {1, 1, 1}, {3});
  ExpectShapeInferred(&ws, op);
}

TEST(ConvTest, ValidPaddingLetsOneWindowReachBeyondAShortAxis) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1, 3}, {1, 2, 3});
  Feed<float>(&ws, "W", {1, 1, 5}, {1, 1, 1, 1, 1});
  const char* op = R"(type: "Conv" input: "X" input: "W" output: "Y" arg { name: "kernels" ints: 5 }
                      arg { name: "strides" ints: 3 } arg { name: "legacy_pad" i: 1 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {1, 1, 1}, {6});
  ExpectShapeInferred(&ws, op);
}

TEST(ConvTest, GivesAnEmptyResultForAnEmptyBatch) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 2, 5, 5}, {});
  FeedRandom(&ws, "W", {4, 2, 3, 3});
  const char* op = R"(type: "Conv" input: "X" input: "W" output: "Y" arg { name: "kernel" i: 3 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {0, 4, 3, 3}, {});
  ExpectShapeInferred(&ws, op);
}

struct Wrong {
  std::vector<int64_t> x, w;
  const char* args;
  const char* text;
};
class ConvErrorTest : public testing::TestWithParam<Wrong> {};

TEST_P(ConvErrorTest, ReportsIncompatibleShapes) {
  Workspace ws;
  FeedRandom(&ws, "X", GetParam().x);
  FeedRandom(&ws, "W", GetParam().w);
  const std::string op =
      std::string(R"(type: "Conv" input: "X" input: "W" output: "Y" )") + GetParam().args;
  ExpectThrows([&] { RunOp(&ws, op); }, GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    Reasons, ConvErrorTest,
    testing::Values(
        Wrong{{1, 3, 8, 8},
              {4, 5, 3, 3},
              R"(arg { name: "kernel" i: 3 })",
              "channels of input 1 (filter)"},
        Wrong{{1, 3, 8, 8},
              {4, 3, 3, 3},
              R"(arg { name: "kernel" i: 2 })",
              "want the kernel argument"},
        Wrong{{1, 3, 8, 8}, {4, 3, 3, 3}, "", "kernel of axis 0"},
        Wrong{{1, 3, 8, 8},
              {4, 3, 3, 3},
              R"(arg { name: "kernel" i: 3 } arg { name: "stride" i: 0 })",
              "stride of axis 0"},
        Wrong{{1, 3, 8, 8},
              {4, 3, 3, 3},
              R"(arg { name: "kernel" i: 3 } arg { name: "group" i: 0 })",
              R"(argument "group" is 0, want above 0)"},
        Wrong{{1, 4, 8, 8},
              {3, 2, 3, 3},
              R"(arg { name: "kernel" i: 3 } arg { name: "group" i: 2 })",
              "multiple of group"},
        Wrong{{1, 3, 2, 8}, {4, 3, 3, 3}, R"(arg { name: "kernel" i: 3 })", "dilated kernel"},
        Wrong{{1, 3, 8}, {4, 3, 3, 3}, R"(arg { name: "kernel" i: 3 })", "spatial axes"},
        Wrong{{1, 3, 8, 8}, {4, 27}, R"(arg { name: "kernel" i: 3 })", "rank of input 1"},
        Wrong{{1, 0, 8, 8}, {4, 0, 3, 3}, R"(arg { name: "kernel" i: 3 })", "want at least 1"},
        Wrong{{1, 3, 8, 8},
              {4, 3, 3, 3},
              R"(arg { name: "kernel" i: 3 } arg { name: "order" s: "CHWN" })",
              "CHWN"},
        Wrong{{1, 3, 8, 8},
              {4, 3, 3, 3},
              R"(arg { name: "kernel" i: 3 } arg { name: "legacy_pad" i: 9 })",
              "legacy_pad"},
        Wrong{
            {1, 3, 8, 8},
            {4, 3, 3, 3},
            R"(arg { name: "kernel" i: 3 } arg { name: "legacy_pad" i: 2 } arg { name: "pad" i: 0 })",
            "no pad arguments"},
        Wrong{{1, 3, 8, 8},
              {4, 3, 3, 3},
              R"(arg { name: "kernel" i: 3 } arg { name: "strides" ints: 1 })",
              "strides"},
        Wrong{{1, 3, 8, 8},
              {4, 3, 3, 3},
              R"(arg { name: "kernel" i: 3 } arg { name: "pad" i: 2147483647 })",
              ""}));

TEST(ConvTest, NamesTheBiasThatDoesNotFit) {
  Workspace ws;
  FeedRandom(&ws, "X", {1, 3, 8, 8});
  FeedRandom(&ws, "W", {4, 3, 3, 3});
  FeedRandom(&ws, "b", {5});
  ExpectThrows(
      [&] {
        RunOp(
            &ws,
            R"(type: "Conv" input: "X" input: "W" input: "b" output: "Y" arg { name: "kernel" i: 3 })");
      },
      "input 2 (bias) has shape [5], want [4]");
}

TEST(ConvTest, RejectsDoubles) {
  Workspace ws;
  FeedRange<double>(&ws, "X", {1, 1, 3, 3});
  FeedRandom(&ws, "W", {1, 1, 2, 2});
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "Conv" input: "X" input: "W" output: "Y" arg { name: "kernel" i: 2 })");
      },
      "double");
}

// A scalar has no dimensions, like the tensor of an operator that has not run yet.
TEST(ConvTest, RejectsScalars) {
  Workspace ws;
  Feed<float>(&ws, "X", {}, {1});
  Feed<float>(&ws, "W", {}, {1});
  Feed<float>(&ws, "B", {1}, {1});
  for (const char* inputs : {R"(input: "X" input: "W")", R"(input: "X" input: "W" input: "B")"}) {
    const std::string op = std::string(R"(type: "Conv" output: "Y" arg { name: "kernel" i: 1 } )");
    ExpectThrows([&] { RunOp(&ws, op + inputs); }, "input 0 (X)");
  }
}

TEST(ConvTest, FollowsAFilterThatIsWrittenBetweenRuns) {
  Workspace ws;
  FeedRandom(&ws, "X", {1, 16, 20, 20});
  FeedRandom(&ws, "W", {16, 16, 3, 3});
  ws.CreateNet(ParseNet(
      R"(name: "n" op { type: "Conv" input: "X" input: "W" output: "Y" arg { name: "kernel" i: 3 } })"));
  ASSERT_TRUE(ws.RunNet("n"));
  Feed<float>(&ws, "W", {16, 16, 3, 3}, std::vector<float>(16 * 16 * 9, 0));
  ASSERT_TRUE(ws.RunNet("n"));
  for (const float value : Fetch<float>(ws, "Y")) ASSERT_EQ(value, 0);
}

TEST(ConvTest, FollowsAnInputThatChangesItsShape) {
  Workspace ws;
  FeedRandom(&ws, "W", {8, 3, 3, 3});
  FeedRandom(&ws, "X", {1, 3, 10, 10});
  ws.CreateNet(ParseNet(
      R"(name: "n" op { type: "Conv" input: "X" input: "W" output: "Y" arg { name: "kernel" i: 3 } })"));
  for (const int64_t size : {10, 40, 5, 10}) {
    FeedRandom(&ws, "X", {2, 3, size, size});
    ASSERT_TRUE(ws.RunNet("n"));
    const NaiveImage p{.batch = 2,
                       .channels = 3,
                       .height = size,
                       .width = size,
                       .filters = 8,
                       .kernel_h = 3,
                       .kernel_w = 3};
    ExpectTensor<float>(ws, "Y", {2, 8, size - 2, size - 2},
                        NaiveConv(p, Fetch<float>(ws, "X"), Fetch<float>(ws, "W"), {}), 1e-4);
  }
}

// Covers the convolutions with built-in kernels, and the matrix multiplication behind FC.
// Allocations made by oneDNN are counted separately.
TEST(ConvTest, AllocatesNothingOnceWarm) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer counts allocations here";
  Workspace ws;
  FeedRandom(&ws, "X", {1, 3, 20, 20});
  FeedRandom(&ws, "W", {10, 3, 3, 3});
  FeedRandom(&ws, "W1", {16, 10, 1, 1});
  FeedRandom(&ws, "F", {5, 16 * 20 * 20});
  FeedRandom(&ws, "b", {5});
  NetBase* net = ws.CreateNet(ParseNet(R"(name: "n"
      op { type: "Conv" input: "X" input: "W" output: "Y" arg { name: "kernel" i: 3 } arg { name: "pad" i: 1 } }
      op { type: "Conv" input: "Y" input: "W1" output: "Z" arg { name: "kernel" i: 1 } }
      op { type: "FC" input: "Z" input: "F" input: "b" output: "out" })"));
  for (int run = 0; run < 3; ++run) ASSERT_TRUE(net->Run());
  const AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
}

// As in training: each run changes the filters, whose prepared forms must follow. The shapes use
// built-in kernels and oneDNN.
TEST(ConvTest, AllocatesNothingOnceWarmIfFiltersChange) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer counts allocations here";
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1, 28, 28}, std::vector<float>(784, 1));
  Feed<float>(&ws, "X2", {2, 32, 14, 14}, std::vector<float>(12544, 1));
  Feed<float>(&ws, "W", {20, 1, 5, 5}, std::vector<float>(500, 1));
  Feed<float>(&ws, "W2", {32, 32, 3, 3}, std::vector<float>(9216, 1));
  NetBase* net = ws.CreateNet(ParseNet(R"(name: "n"
      op { type: "Conv" input: "X" input: "W" output: "Y" arg { name: "kernel" i: 5 } }
      op { type: "Conv" input: "X2" input: "W2" output: "Y2" arg { name: "kernel" i: 3 } }
      op { type: "Scale" input: "W" output: "W" arg { name: "scale" f: 2 } }
      op { type: "Scale" input: "W2" output: "W2" arg { name: "scale" f: 2 } })"));
  for (int run = 0; run < 3; ++run) ASSERT_TRUE(net->Run());
  const AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
  ExpectTensor<float>(ws, "Y", {1, 20, 24, 24}, std::vector<float>(20 * 576, 25 * 8), 1e-5);
  ExpectTensor<float>(ws, "Y2", {2, 32, 12, 12}, std::vector<float>(64 * 144, 288 * 8), 1e-5);
}

TEST(ConvTest, GivesTheSameOnSeveralThreads) {
  for (const auto& [batch, width, group] : std::vector<std::array<int64_t, 3>>{
           {1, 8, 1}, {1, 60, 1}, {3, 8, 1}, {3, 60, 1}, {1, 8, 2}, {1, 60, 4}, {3, 60, 2}}) {
    Workspace ws;
    FeedRandom(&ws, "X", {batch, 32, 24, width});
    FeedRandom(&ws, "W", {48, 32 / group, 3, 3}, -1, 1, 2);
    FeedRandom(&ws, "b", {48}, -1, 1, 3);
    const std::string op = MakeString(
        R"(type: "Conv" input: "X" input: "W" input: "b" output: "Y" arg { name: "kernel" i: 3 }
             arg { name: "pad" i: 1 } arg { name: "group" i: )",
        group, " }");
    SetNumThreads(3);
    RunOp(&ws, op);
    SetNumThreads(1);
    const NaiveImage p{.batch = batch,
                       .channels = 32,
                       .height = 24,
                       .width = width,
                       .filters = 48,
                       .kernel_h = 3,
                       .kernel_w = 3,
                       .top = 1,
                       .left = 1,
                       .bottom = 1,
                       .right = 1,
                       .group = group};
    ExpectTensor<float>(
        ws, "Y", {batch, 48, 24, width},
        NaiveConv(p, Fetch<float>(ws, "X"), Fetch<float>(ws, "W"), Fetch<float>(ws, "b")), 1e-4);
  }
}

// The names and defaults are those of Caffe2's operators, except the limit of the workspace, which
// follows the memory of the device. Windows are tested in conv_geometry_test.cc.
TEST(ConvTest, DeclaresCudnnsArgumentsAndTheHints) {
  const std::map<std::string, std::string> want{{"ws_nbytes_limit", "-1"},
                                                {"exhaustive_search", "0"},
                                                {"force_algo", ""},
                                                {"force_algo_fwd", "-1"},
                                                {"force_algo_dgrad", "-1"},
                                                {"force_algo_wgrad", "-1"},
                                                {"cudnn_state", "0"},
                                                {"enable_tensor_core", "1"},
                                                {"algo", "AUTO"},
                                                {"kts", "TUPLE"},
                                                {"convolution_transform_strategy", "COMPUTE"},
                                                {"deterministic", "0"},
                                                {"order", "NCHW"}};
  for (const char* type : {"Conv", "Conv1D", "Conv2D", "Conv3D", "ConvTranspose"}) {
    SCOPED_TRACE(type);
    const OpSchema* schema = OpSchemaRegistry::Schema(type);
    ASSERT_NE(schema, nullptr);
    std::map<std::string, std::string> found;
    for (const OpSchema::Argument& argument : schema->args()) {
      if (want.contains(argument.name)) found[argument.name] = argument.default_value;
    }
    EXPECT_EQ(found, want);
  }
}

}  // namespace
}  // namespace caffe2rt::test::conv_test
