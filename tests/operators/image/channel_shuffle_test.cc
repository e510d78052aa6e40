#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::channel_shuffle_test {
namespace {

using namespace test;  // used throughout this file

std::string Shuffle(int group, const std::string& order = "NCHW") {
  return R"(type: "ChannelShuffle" input: "X" output: "Y" arg { name: "group" i: )" +
         std::to_string(group) + R"( } arg { name: "order" s: ")" + order + "\" }";
}

TEST(ChannelShuffleTest, InterleavesGroupsOfPlanes) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 6, 1, 2});
  RunOp(&ws, Shuffle(2));
  ExpectTensor<float>(ws, "Y", {1, 6, 1, 2}, {0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11});
  RunOp(&ws, Shuffle(3));
  ExpectTensor<float>(ws, "Y", {1, 6, 1, 2}, {0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11});
  ExpectShapeInferred(&ws, Shuffle(3));
}

TEST(ChannelShuffleTest, InterleavesTheLastAxisInNhwc) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 2, 6});
  RunOp(&ws, Shuffle(2, "NHWC"));
  ExpectTensor<float>(ws, "Y", {1, 1, 2, 6}, {0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11});
  RunOp(&ws, Shuffle(3, "NHWC"));
  ExpectTensor<float>(ws, "Y", {1, 1, 2, 6}, {0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11});
}

TEST(ChannelShuffleTest, OneOrAllGroupsChangeNothing) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 4});
  const std::vector<float> x = Fetch<float>(ws, "X");
  for (const int group : {1, 4}) {
    RunOp(&ws, Shuffle(group));
    ExpectTensor<float>(ws, "Y", {2, 4}, x);
  }
}

TEST(ChannelShuffleTest, EmptyTensorsStayEmpty) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 4, 2, 2}, {});
  RunOp(&ws, Shuffle(2));
  ExpectTensor<float>(ws, "Y", {0, 4, 2, 2}, {});
}

TEST(ChannelShuffleTest, DeclaresTheArgumentsOfTheOriginalOnce) {
  std::vector<std::string> names;
  for (const auto& arg : OpSchemaRegistry::Schema("ChannelShuffle")->args()) {
    names.push_back(arg.name);
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre(
                         "group", "order", "kernels", "kernel", "kernel_h", "kernel_w", "strides",
                         "stride", "stride_h", "stride_w", "pads", "pad", "pad_t", "pad_l", "pad_b",
                         "pad_r", "dilations", "dilation", "dilation_h", "dilation_w", "legacy_pad",
                         "global_pooling", "shared_buffer", "float16_compute", "deterministic"));
}

TEST(ChannelShuffleTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 6, 1, 1});
  ExpectThrows([&] { RunOp(&ws, Shuffle(4)); }, "divided by argument group 4, want 0");
  ExpectThrows([&] { RunOp(&ws, Shuffle(0)); }, "argument \"group\" is 0, want above 0");
  ExpectThrows([&] { RunOp(&ws, Shuffle(2, "HW")); },
               "argument \"order\" is \"HW\", want NCHW or NHWC");
  FeedRange<float>(&ws, "X", {6});
  ExpectThrows([&] { RunOp(&ws, Shuffle(2)); }, "rank of input 0 (X) of shape [6]");
  FeedRange<int32_t>(&ws, "X", {1, 6});
  ExpectThrows([&] { RunOp(&ws, Shuffle(2)); }, "int");
}

TEST(ChannelShuffleGradientTest, MovesTheChannelsBack) {
  Workspace ws;
  for (const char* order : {"NCHW", "NHWC"}) {
    for (const int group : {1, 2, 3, 6}) {
      const std::vector<int64_t> dims = std::string(order) == "NCHW"
                                            ? std::vector<int64_t>{2, 6, 2}
                                            : std::vector<int64_t>{2, 2, 6};
      FeedRange<float>(&ws, "X", dims);
      const std::vector<float> x = Fetch<float>(ws, "X");
      RunOp(&ws, Shuffle(group, order));
      const std::string op = MakeString(
          R"(type: "ChannelShuffleGradient" input: "Y" output: "X" arg { name: "order" s: ")",
          order, "\" } arg { name: \"group\" i: ", group, " }");
      RunOp(&ws, op);
      ExpectTensor<float>(ws, "X", dims, x);
      ExpectShapeInferred(&ws, op);
    }
  }
  EXPECT_EQ(DescribeGradient(R"(type: "ChannelShuffle" input: "X" output: "Y"
                                arg { name: "group" i: 2 })"),
            "ChannelShuffleGradient(Y_grad)->X_grad group=2 | X_grad");
}

TEST(ChannelShuffleGradientTest, AgreesWithDifferencesAndNamesWhatDoesNotFit) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 6, 2});
  ExpectGradientMatches(&ws, Shuffle(3));
  Feed<float>(&ws, "dY", {0, 4, 2}, {});
  const std::string op =
      R"(type: "ChannelShuffleGradient" input: "dY" output: "dX" arg { name: "group" i: 2 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "dX", {0, 4, 2}, {});
  FeedRange<float>(&ws, "dY", {1, 3, 2});
  ExpectThrows([&] { RunOp(&ws, op); },
               "remainder of the channels of input 0 (dY) of shape [1, 3, 2] divided by");
}

TEST(ChannelShuffleTest, ThreadsDoNotChangeTheResult) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 30, 41, 30});
  for (const char* order : {"NCHW", "NHWC"}) {
    ExpectSameBitsForAllThreads(&ws, MakeString(R"(type: "ChannelShuffle" input: "X" output: "Y"
                           arg { name: "group" i: 3 } arg { name: "order" s: ")",
                                                order, "\" }"));
  }
}

}  // namespace
}  // namespace caffe2rt::channel_shuffle_test
