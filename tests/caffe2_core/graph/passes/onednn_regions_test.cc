#include "caffe2_core/graph/passes/onednn_regions.h"

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/passes/conv_layouts.h"
#include "caffe2_core/graph/passes/onednn_placement.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/model/workspace_constants.h"
#include "caffe2_core/runtime/net.h"
#include "contexts/onednn/onednn_tensor.h"
#include "tests/caffe2_core/graph/passes/pass_run.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::onednn_regions_test {
namespace {

using test::PassRun;
using test::Replaced;
using ::testing::ElementsAre;

// A convolution of 3x3 with padding. `more` holds more inputs and arguments.
std::string Conv(const std::string& x, const std::string& w, const std::string& y,
                 const std::string& more = "") {
  return "op { type: \"Conv\" input: \"" + x + "\" input: \"" + w + "\" output: \"" + y +
         "\" arg { name: \"kernel\" i: 3 } arg { name: \"pad\" i: 1 } " + more + "} ";
}

class OnednnRegionsTest : public testing::Test {
 protected:
  OnednnRegionsTest() {
    test::FeedRandom(&run_.ws, "w1", {64, 3, 3, 3}, -0.2f, 0.2f, 1);
    test::FeedRandom(&run_.ws, "w2", {64, 64, 3, 3}, -0.04f, 0.04f, 2);
    test::FeedRandom(&run_.ws, "w3", {64, 64, 3, 3}, -0.04f, 0.04f, 3);
    test::FeedRandom(&run_.ws, "odd", {10, 3, 3, 3}, -0.2f, 0.2f, 4);
    test::FeedRandom(&run_.ws, "f", {4, 64 * 8 * 8}, -0.01f, 0.01f, 5);
    test::FeedRandom(&run_.ws, "b", {4}, -1, 1, 6);
  }

  std::vector<std::string> Lines(const std::string& text) { return run_(PlaceOnednnRegions, text); }
  const OperatorDef& Op(int i) const { return run_.net.op(i); }
  bool IsOnIdeep(int i) const { return Op(i).device_option().device_type() == IDEEP; }
  std::string LayoutOf(int i) const {
    return ArgumentHelper(Op(i)).GetSingleArgument<std::string>("layout", "");
  }

  PassRun run_;
};

TEST_F(OnednnRegionsTest, PlacesConvolutionsAndTheirNeighbours) {
  const std::string net =
      Conv("x", "w1", "c") + R"(op { type: "Relu" input: "c" output: "c" })" +
      Conv("c", "w2", "d") +
      R"(op { type: "MaxPool" input: "d" output: "p" arg { name: "kernel" i: 2 } arg { name: "stride" i: 2 } }
         op { type: "FC" input: "p" input: "f" input: "b" output: "y" })";
  EXPECT_THAT(Lines(net), ElementsAre("CopyFromCPUInput(x) -> x_ideep",
                                      "Conv(x_ideep w1) -> c_ideep", "Relu(c_ideep) -> c_ideep",
                                      "Conv(c_ideep w2) -> d_ideep", "MaxPool(d_ideep) -> p_ideep",
                                      "EnsureCPUOutput(p_ideep) -> p", "FC(p f b) -> y"));
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(IsOnIdeep(i)) << i;
  EXPECT_FALSE(IsOnIdeep(6));
  EXPECT_NE(LayoutOf(1), "");
  EXPECT_EQ(LayoutOf(1), LayoutOf(3));
}

TEST_F(OnednnRegionsTest, ComputesTheSameValues) {
  const std::string net =
      R"(name: "n" external_input: "x" external_input: "w1" external_input: "w2"
         external_input: "f" external_input: "b" external_output: "y" external_output: "c" )" +
      Conv("x", "w1", "c") + R"(op { type: "Relu" input: "c" output: "c" })" +
      Conv("c", "w2", "d") + R"(op { type: "Sum" input: "d" input: "c" output: "s" })" +
      R"(op { type: "MaxPool" input: "s" output: "p" arg { name: "kernel" i: 2 } arg { name: "stride" i: 2 } }
         op { type: "FC" input: "p" input: "f" input: "b" output: "y" })";
  test::FeedRandom(&run_.ws, "x", {1, 3, 16, 16}, -1, 1, 9);
  ASSERT_TRUE(run_.ws.RunNetOnce(test::ParseNet(net)));
  const std::vector<float> y = test::Fetch<float>(run_.ws, "y");
  const std::vector<float> c = test::Fetch<float>(run_.ws, "c");
  for (const char* name : {"x", "y", "c", "d", "s", "p"}) run_.ws.RemoveBlob(name);
  run_.kept = {"y", "c"};
  (void)Lines(net);
  EXPECT_TRUE(IsOnIdeep(1));
  test::FeedRandom(&run_.ws, "x", {1, 3, 16, 16}, -1, 1, 9);
  NetBase* placed = run_.ws.CreateNet(run_.net);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(placed->Run());
    test::ExpectTensor<float>(run_.ws, "y", {1, 4}, y, 1e-4);
    test::ExpectTensor<float>(run_.ws, "c", {1, 64, 16, 16}, c, 1e-4);
  }
}

TEST_F(OnednnRegionsTest, ComputesInBlocksWhatIsJoinedInPlace) {
  test::FeedRandom(&run_.ws, "w4", {64, 128, 3, 3}, -0.04f, 0.04f, 7);
  const std::string convs = Conv("x", "w1", "c") + Conv("c", "w2", "a") + Conv("c", "w3", "b");
  (void)Lines(convs + R"(op { type: "Concat" input: "a" input: "b" output: "j" output: "sizes" })" +
              Conv("j", "w4", "y"));
  EXPECT_EQ(LayoutOf(1), "nChw16c");
  (void)Lines(convs + R"(op { type: "Sum" input: "a" input: "b" output: "s" })" +
              Conv("s", "w2", "y"));
  EXPECT_EQ(LayoutOf(1), "nhwc");
}

TEST_F(OnednnRegionsTest, ReturnsKeptBlobsToTheCpu) {
  run_.kept = {"c", "d"};
  EXPECT_THAT(Lines(Conv("x", "w1", "c") + Conv("c", "w2", "d")),
              ElementsAre("CopyFromCPUInput(x) -> x_ideep", "Conv(x_ideep w1) -> c_ideep",
                          "EnsureCPUOutput(c_ideep) -> c", "Conv(c_ideep w2) -> d_ideep",
                          "EnsureCPUOutput(d_ideep) -> d"));
}

TEST_F(OnednnRegionsTest, AddsInPlaceIfTheTensorIsNotUsedLater) {
  const std::string net = Conv("x", "w1", "c") + Conv("c", "w2", "d") +
                          R"(op { type: "ConvFusion" input: "d" input: "w3" input: "c" output: "s"
              arg { name: "kernel" i: 3 } arg { name: "pad" i: 1 } arg { name: "sum" i: 1 } }
         op { type: "Relu" input: "s" output: "y" })";
  EXPECT_THAT(Lines(net), ElementsAre("CopyFromCPUInput(x) -> x_ideep",
                                      "Conv(x_ideep w1) -> c_ideep", "Conv(c_ideep w2) -> d_ideep",
                                      "ConvFusion(d_ideep w3 c_ideep) -> c_ideep",
                                      "Relu(c_ideep) -> y_ideep", "EnsureCPUOutput(y_ideep) -> y"));
  const std::string later = net + Conv("c", "w2", "z");
  run_.kept = {"y", "z"};
  EXPECT_EQ(Lines(later)[3], "ConvFusion(d_ideep w3 c_ideep) -> s_ideep");
}

TEST_F(OnednnRegionsTest, LeavesSmallNetsOnTheCpu) {
  EXPECT_THAT(Lines(Conv("x", "odd", "y")), ElementsAre("Conv(x odd) -> y"));
  EXPECT_THAT(Lines(R"(op { type: "Relu" input: "x" output: "y" })"), ElementsAre("Relu(x) -> y"));
}

TEST_F(OnednnRegionsTest, LeavesUnsupportedArgumentsOnTheCpu) {
  const auto stays = [&](const std::string& conv) {
    return Lines(conv) == std::vector<std::string>{"Conv(x w2) -> y"};
  };
  EXPECT_TRUE(stays(Conv("x", "w2", "y", R"(arg { name: "order" s: "NHWC" })")));
  EXPECT_TRUE(stays(Conv("x", "w2", "y", "device_option { device_type: 1 } ")));
  EXPECT_TRUE(stays(Conv("x", "w2", "y", R"(engine: "CUDNN" )")));
  EXPECT_TRUE(stays(
      R"(op { type: "Conv" input: "x" input: "w2" output: "y" arg { name: "kernels" ints: 3 } })"));
  // The filter is not constant.
  EXPECT_THAT(Lines(Conv("x", "v", "y")), ElementsAre("Conv(x v) -> y"));
}

TEST_F(OnednnRegionsTest, SplitsRegionsAtOperatorsOfTheCpu) {
  const std::string net = Conv("x", "w1", "a") + Conv("a", "w2", "b1") +
                          R"(op { type: "Transpose" input: "b1" output: "t" })" +
                          Conv("t", "w2", "c") + Conv("c", "w3", "y");
  EXPECT_THAT(Lines(net),
              ElementsAre("CopyFromCPUInput(x) -> x_ideep", "Conv(x_ideep w1) -> a_ideep",
                          "Conv(a_ideep w2) -> b1_ideep", "EnsureCPUOutput(b1_ideep) -> b1",
                          "Transpose(b1) -> t", "CopyFromCPUInput(t) -> t_ideep",
                          "Conv(t_ideep w2) -> c_ideep", "Conv(c_ideep w3) -> y_ideep",
                          "EnsureCPUOutput(y_ideep) -> y"));
}

// A pool passes on bf16. A convolution that must not round reads floats.
TEST_F(OnednnRegionsTest, NamesThePrecisionOfConvolutions) {
  const std::string keeps = R"(arg { name: "least_precision" s: "f32" })";
  const std::string asks = R"(arg { name: "precision" s: "bf16" })";
  const std::string net =
      Conv("x", "w1", "a", asks) + Conv("a", "w2", "b1") + Conv("b1", "w2", "c", keeps + asks) +
      Conv("c", "w3", "d") +
      R"(op { type: "MaxPool" input: "d" output: "p" arg { name: "kernel" i: 2 } })" +
      Conv("p", "w3", "y");
  const auto precisions = [&] {
    (void)Lines(net);
    std::vector<std::string> found;
    for (const OperatorDef& op : run_.net.op()) {
      if (op.type() != "Conv") continue;
      const ArgumentHelper args(op);
      found.push_back(args.GetSingleArgument<std::string>("precision", "f32") + " " +
                      args.GetSingleArgument<std::string>("output_precision", "f32"));
    }
    return found;
  };
  EXPECT_THAT(precisions(), ElementsAre("f32 f32", "f32 f32", "f32 f32", "f32 f32", "f32 f32"));
  run_.precision = Precision::kBfloat16;
  EXPECT_THAT(precisions(),
              ElementsAre("bf16 bf16", "bf16 f32", "f32 f32", "bf16 bf16", "bf16 f32"));
}

// The copy of an input to IDEEP is of bf16 if only convolutions that round it read it there.
TEST_F(OnednnRegionsTest, CopiesInBf16WhatIsRounded) {
  const auto copies = [&](const std::string& net) {
    (void)Lines(net);
    return ArgumentHelper(Op(0)).GetSingleArgument<std::string>("output_precision", "f32");
  };
  const std::string keeps = R"(arg { name: "least_precision" s: "f32" })";
  const std::string next = Conv("a", "w2", "b1") + Conv("b1", "w2", "y");
  const std::string plain = Conv("x", "w1", "a") + next;
  EXPECT_EQ(copies(plain), "f32");
  run_.precision = Precision::kBfloat16;
  EXPECT_EQ(copies(plain), "bf16");
  EXPECT_EQ(copies(Conv("x", "w1", "a", keeps) + next), "f32");
  EXPECT_EQ(copies(Conv("x", "w1", "a") + Conv("x", "w1", "c", keeps) + next), "f32");
}

// If all that reads the output of a pool or join rounds, and all that it joins may be rounded.
TEST_F(OnednnRegionsTest, KeepsValuesInBf16BetweenConvolutions) {
  const auto precisions = [&](const std::string& b, const std::string& y) {
    (void)Lines(Conv("x", "w1", "a") + Conv("a", "w2", "b1", b) + Conv("a", "w3", "c") +
                R"(op { type: "Concat" input: "b1" input: "c" output: "j" output: "i" })" +
                R"(op { type: "AveragePool" input: "j" output: "p" arg { name: "kernel" i: 2 } })" +
                Conv("p", "w128", "y", y));
    std::string found;
    for (const OperatorDef& op : run_.net.op()) {
      if (op.type().starts_with("Copy") || op.type().starts_with("Ensure")) continue;
      found += ArgumentHelper(op).GetSingleArgument<std::string>("output_precision", "f32") + " ";
    }
    return found;
  };
  test::FeedRandom(&run_.ws, "w128", {64, 128, 3, 3}, -0.04f, 0.04f, 7);
  run_.precision = Precision::kBfloat16;
  const std::string keeps = R"(arg { name: "least_precision" s: "f32" })";
  EXPECT_EQ(precisions("", ""), "bf16 bf16 bf16 bf16 bf16 f32 ");
  EXPECT_EQ(precisions("", keeps), "bf16 f32 f32 f32 f32 f32 ");
  EXPECT_EQ(precisions(keeps, ""), "f32 f32 f32 f32 f32 f32 ");
  run_.bf16_convs = false;  // as on a machine that multiplies bf16 only in fully connected layers
  EXPECT_EQ(precisions("", ""), "f32 f32 f32 f32 f32 f32 ");
}

// Operators without the argument output_precision read and write floats.
TEST_F(OnednnRegionsTest, OperatorsThatKeepNoBf16ReadFloats) {
  run_.precision = Precision::kBfloat16;
  (void)Lines(Conv("x", "w1", "a") + R"(op { type: "Relu" input: "a" output: "s" } )" +
              Conv("s", "w2", "y"));
  EXPECT_TRUE(IsOnIdeep(2));
  for (const OperatorDef& op : run_.net.op()) {
    if (op.type() != "Conv") continue;
    const ArgumentHelper args(op);
    EXPECT_EQ(args.GetSingleArgument<std::string>("precision", "f32"), "bf16");
    EXPECT_EQ(args.GetSingleArgument<std::string>("output_precision", "f32"), "f32");
  }
}

// It reads floats, and writes what the convolution behind it rounds or quantizes anyway.
TEST_F(OnednnRegionsTest, NormalizesFloatsToTheElementsOfTheNextConvolution) {
  for (const char* name : {"s", "m", "v"}) test::FeedRandom(&run_.ws, name, {64}, 0.5f, 1, 8);
  test::FeedRandom(&run_.ws, "b64", {64}, -1, 1, 9);
  const auto arguments = [&](const std::string& last) {
    (void)Lines(Conv("x", "w1", "a") + Conv("a", "w2", "c") +
                R"(op { type: "SpatialBNFusion" input: "c" input: "s" input: "b64" input: "m"
                        input: "v" output: "n" arg { name: "is_test" i: 1 }
                        arg { name: "activation" s: "Relu" } })" +
                Conv("n", "w3", "y", last));
    std::string found;
    for (const OperatorDef& op : run_.net.op()) {
      if (op.type().starts_with("Copy") || op.type().starts_with("Ensure")) continue;
      const ArgumentHelper args(op);
      found += args.GetSingleArgument<std::string>("output_precision", "f32") + " ";
      if (op.type() != "Conv") {
        found += MakeString("(", args.GetSingleArgument<float>("output_max", 0), ") ");
      }
    }
    return found;
  };
  const std::string range = R"(arg { name: "input_min" f: 0 } arg { name: "input_max" f: 3 })";
  EXPECT_EQ(arguments(""), "f32 f32 f32 (0) f32 ");
  run_.precision = Precision::kBfloat16;
  EXPECT_EQ(arguments(""), "bf16 f32 bf16 (0) f32 ");
  EXPECT_EQ(arguments(R"(arg { name: "least_precision" s: "f32" })"), "bf16 f32 f32 (0) f32 ");
  if (!WhyNoInt8Convs().empty() || !MultipliesWholeBytes()) return;  // bytes do not pay
  run_.precision = Precision::kInt8;
  EXPECT_EQ(arguments(range), "bf16 f32 int8 (3) f32 ");
  EXPECT_EQ(arguments(""), "bf16 f32 bf16 (0) f32 ");
}

std::string Range(float min, float max) {
  return MakeString("arg { name: \"input_min\" f: ", min, " } arg { name: \"input_max\" f: ", max,
                    " } ");
}

// Pools and joins pass on bytes if all that read them want the same ones, and all inputs are in them.
TEST_F(OnednnRegionsTest, KeepsValuesInBytesBetweenConvolutionsOfBytes) {
  if (!WhyNoInt8Convs().empty()) GTEST_SKIP() << WhyNoInt8Convs();
  if (!MultipliesWholeBytes()) GTEST_SKIP() << "without VNNI, bytes do not pay with 64 channels";
  const std::string pool = R"(op { type: "MaxPool" input: "a" output: "p"
                                   arg { name: "kernel" i: 2 } arg { name: "stride" i: 2 } })";
  const std::string join =
      R"(op { type: "Concat" input: "b1" input: "c" output: "j" output: "i" })";
  const auto net = [&](const std::string& c, const std::string& d) {
    return Conv("x", "w1", "a", Range(0, 1)) + pool + Conv("p", "w2", "b1", Range(0, 2)) +
           Conv("p", "w3", "c", c) + join + Conv("j", "w128", "d", d) + Conv("d", "w2", "y");
  };
  test::FeedRandom(&run_.ws, "w128", {64, 128, 3, 3}, -0.04f, 0.04f, 7);
  const auto precisions = [&](const std::string& text) {
    (void)Lines(text);
    std::vector<std::string> found;
    for (const OperatorDef& op : run_.net.op()) {
      const ArgumentHelper args(op);
      if (op.type() != "Conv" && op.type() != "MaxPool" && op.type() != "Concat") continue;
      found.push_back(MakeString(op.type(), " ",
                                 args.GetSingleArgument<std::string>("precision", "f32"), " ",
                                 args.GetSingleArgument<std::string>("output_precision", "f32"),
                                 " ", args.GetSingleArgument<float>("output_max", 0)));
    }
    return found;
  };
  run_.precision = Precision::kInt8;
  EXPECT_THAT(
      precisions(net(Range(0, 2), Range(0, 3))),
      ElementsAre("Conv int8 int8 2", "MaxPool f32 int8 0", "Conv int8 int8 3", "Conv int8 int8 3",
                  "Concat f32 int8 0", "Conv int8 bf16 0", "Conv bf16 f32 0"));
  // Another range of one reader of the pool.
  EXPECT_THAT(
      precisions(net(Range(0, 1), Range(0, 3))),
      ElementsAre("Conv int8 bf16 0", "MaxPool f32 bf16 0", "Conv int8 int8 3", "Conv int8 int8 3",
                  "Concat f32 int8 0", "Conv int8 bf16 0", "Conv bf16 f32 0"));
  // One input of the join stays in float.
  EXPECT_THAT(
      precisions(net(R"(arg { name: "least_precision" s: "f32" })", Range(0, 3))),
      ElementsAre("Conv int8 f32 0", "MaxPool f32 f32 0", "Conv int8 f32 0", "Conv f32 f32 0",
                  "Concat f32 f32 0", "Conv int8 bf16 0", "Conv bf16 f32 0"));
}

// A mean has a smaller range than what it is made of: it reads the bytes that others read, in any range.
TEST_F(OnednnRegionsTest, GivesMeansInBytesARangeOfTheirOwn) {
  if (!WhyNoInt8Convs().empty()) GTEST_SKIP() << WhyNoInt8Convs();
  if (!MultipliesWholeBytes()) GTEST_SKIP() << "without VNNI, bytes do not pay with 64 channels";
  const std::string mean =
      R"(op { type: "AveragePool" input: "a" output: "p" arg { name: "kernel" i: 2 } })";
  const auto results = [&](const std::string& more) {
    (void)Lines(Conv("x", "w1", "a", Range(0, 1)) + mean + Conv("p", "w2", "y", Range(0, 2)) +
                more);
    std::string found;
    for (const OperatorDef& op : run_.net.op()) {
      const ArgumentHelper args(op);
      if (op.type() != "AveragePool" && op.output(0) != "a_ideep") continue;
      found += args.GetSingleArgument<std::string>("output_precision", "f32") + " ";
      found += MakeString(args.GetSingleArgument<float>("output_max", 0), " ",
                          args.GetSingleArgument<float>("pooled_max", 0), " ");
    }
    return found;
  };
  run_.precision = Precision::kInt8;
  EXPECT_EQ(results(Conv("a", "w3", "z", Range(0, 3))), "int8 3 0 int8 0 2 ");
  EXPECT_EQ(results(""), "bf16 0 0 bf16 0 0 ");
}

TEST_F(OnednnRegionsTest, ComputesNearlyTheSameValuesInBytes) {
  if (!WhyNoInt8Convs().empty()) GTEST_SKIP() << WhyNoInt8Convs();
  test::FeedRandom(&run_.ws, "w128", {64, 128, 3, 3}, -0.04f, 0.04f, 7);
  const auto conv = [](const char* x, const char* w, const char* y, float max) {
    return Replaced(Conv(x, w, y, Range(0, max) + R"(arg { name: "activation" s: "Relu" })"),
                    "\"Conv\"", "\"ConvFusion\"");
  };
  const std::string text =
      R"(name: "n" external_input: "x" external_input: "w1" external_input: "w2"
         external_input: "w3" external_input: "w128" external_output: "y" )" +
      conv("x", "w1", "a", 1) +
      R"(op { type: "MaxPool" input: "a" output: "p" arg { name: "kernel" i: 3 }
              arg { name: "stride" i: 2 } arg { name: "pad" i: 1 } })" +
      conv("p", "w2", "b1", 3) + conv("p", "w3", "c", 3) +
      R"(op { type: "Concat" input: "b1" input: "c" output: "j" output: "i" })" +
      conv("j", "w128", "y", 3);
  test::FeedRandom(&run_.ws, "x", {1, 3, 17, 16}, 0, 1, 9);
  ASSERT_TRUE(run_.ws.RunNetOnce(test::ParseNet(text)));
  const std::vector<float> exact = test::Fetch<float>(run_.ws, "y");
  for (const char* name : {"a", "p", "b1", "c", "j", "i", "y"}) run_.ws.RemoveBlob(name);
  run_.precision = Precision::kInt8;
  (void)Lines(text);
  NetBase* const placed = run_.ws.CreateNet(run_.net);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(placed->Run());
  for (const char* name : {"a_ideep", "p_ideep", "b1_ideep", "c_ideep", "j_ideep"}) {
    EXPECT_TRUE(IsQuantized(run_.ws.GetBlob(name)->Get<Tensor>())) << name;
  }
  const std::vector<float> y = test::Fetch<float>(run_.ws, "y");
  ASSERT_EQ(y.size(), exact.size());
  double signal = 0, noise = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    signal += exact[i] * exact[i];
    noise += (y[i] - exact[i]) * (y[i] - exact[i]);
  }
  EXPECT_LT(noise, 1e-3 * signal);  // above 30 dB
}

struct NoConstants final : NetConstants {
  const Tensor* Find(std::string_view) const override { return nullptr; }
  std::string Add(const std::string& name, Tensor) override { return name; }
  std::vector<Tensor> Evaluate(const OperatorDef&) override { return {}; }
};

TEST_F(OnednnRegionsTest, LeavesANetWhoseOperatorsAreNotKnown) {
  NoConstants constants;
  PassContext context{constants};
  const NetDef net = test::ParseNet(R"(op { type: "Conv" input: "x" input: "w" output: "y" })");
  EXPECT_EQ(PlaceOnednnRegions(net, context).SerializeAsString(), net.SerializeAsString());
}

// What the pass makes, for a machine with AVX-512, of two convolutions of an image whose outputs are
// joined, and one of 1x1 behind them. In blocks of channels, Concat costs nothing; the last convolution
// is estimated as faster in NHWC. How both compare depends on the number of threads.
std::string PlacedFor(int threads, bool deterministic, int64_t channels) {
  PassRun run;
  test::FeedRandom(&run.ws, "w", {64, 3, 3, 3}, -0.2f, 0.2f, 1);
  test::FeedRandom(&run.ws, "v", {channels, 128, 1, 1}, -0.1f, 0.1f, 2);
  const NetDef net =
      test::ParseNet(Conv("x", "w", "a") + Conv("x", "w", "b") +
                     R"(op { type: "Concat" input: "a" input: "b" output: "j" output: "sizes" }
                        op { type: "Conv" input: "j" input: "v" output: "y"
                             arg { name: "kernel" i: 1 } })");
  WorkspaceConstants constants(net, {"x"}, run.kept, &run.ws);
  PassContext context{.constants = constants};
  context.kept = run.kept;
  context.has_operator = [](const std::string&, DeviceType) { return true; };
  context.deterministic = deterministic;
  context.machine = {.isa = Isa::kAvx512, .threads = threads};
  const auto shape = [](const std::vector<int64_t>& dims) {
    return CreateTensorShape(dims, TensorProto::FLOAT);
  };
  context.input_shapes = {{"x", shape({1, 3, 28, 28})},
                          {"w", shape({64, 3, 3, 3})},
                          {"v", shape({channels, 128, 1, 1})}};
  return PlaceOnednnRegions(net, context).SerializeAsString();
}

// Without `deterministic` the number of threads counts, or the comparison would say nothing.
TEST(OnednnThreadsTest, DeterministicNetsDoNotDependOnThreads) {
  int differ = 0;
  for (int64_t channels = 768; channels <= 1280; channels += 16) {
    EXPECT_EQ(PlacedFor(2, true, channels), PlacedFor(1, true, channels)) << channels;
    if (PlacedFor(2, false, channels) != PlacedFor(1, false, channels)) ++differ;
  }
  EXPECT_GT(differ, 0);
}

TEST(OnednnPlacementTest, ReportsWhyAnOperatorStays) {
  PassRun run;
  NoConstants constants;
  PassContext context{constants};
  context.has_operator = [](const std::string& type, DeviceType) { return type != "LRN"; };
  const auto reason = [&](const std::string& text) {
    return PlaceOnOnednn(test::ParseOp(text), context).reason;
  };
  EXPECT_EQ(reason(R"(type: "Conv" arg { name: "kernel" i: 3 })"), "");
  EXPECT_EQ(reason(R"(type: "Conv" arg { name: "kernels" ints: 3 })"), "windows of 1 axes");
  EXPECT_EQ(reason(R"(type: "MaxPool" arg { name: "order" s: "NHWC" })"), "order is NHWC");
  EXPECT_EQ(reason(R"(type: "SpatialBN")"), "is_test is 0");
  EXPECT_EQ(reason(R"(type: "Concat" arg { name: "axis" i: 2 })"), "axis is 2");
  for (const std::string type : {"Concat", "Split"}) {
    const auto reason_with = [&](const std::string& args) {
      return reason("type: \"" + type + "\" " + args);
    };
    EXPECT_EQ(reason_with(""), "") << type;
    EXPECT_EQ(reason_with(R"(arg { name: "axis" i: -3 })"), "") << type;  // 1 of 4
    EXPECT_EQ(reason_with(R"(arg { name: "order" s: "NHWC" } arg { name: "axis" i: -3 })"),
              "order is NHWC")
        << type;
    EXPECT_EQ(reason_with(R"(arg { name: "axis" i: -1 })"), "axis is -1") << type;
    EXPECT_EQ(reason_with(R"(arg { name: "axis" i: 0 })"), "axis is 0") << type;
    EXPECT_EQ(reason_with(R"(arg { name: "add_axis" i: 1 })"), "add_axis is 1") << type;
    EXPECT_EQ(reason_with(R"(arg { name: "order" s: "NHWC" } arg { name: "axis" i: 1 })"),
              "order is NHWC")
        << type;
  }
  EXPECT_EQ(reason(R"(type: "LRN")"), "LRN has no IDEEP implementation");
  EXPECT_THAT(reason(R"(type: "Conv" arg { name: "kernel" s: "3" })"),
              testing::HasSubstr("kernel"));
  EXPECT_EQ(reason(R"(type: "FC")"), "FC is not an operator on images");
  context.has_operator = nullptr;  // nothing is known to be available
  EXPECT_EQ(reason(R"(type: "Conv" arg { name: "kernel" i: 3 })"),
            "Conv has no IDEEP implementation");
}

}  // namespace
}  // namespace caffe2rt::onednn_regions_test
