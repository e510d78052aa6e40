// The passes for transformers at the edges of what they replace: exponents and scales in other
// operators, other axes and types, and machines that must all give the same bytes.
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/passes/fuse_fc.h"
#include "caffe2_core/graph/passes/fuse_gelu.h"
#include "caffe2_core/graph/passes/fuse_layer_norm.h"
#include "caffe2_core/graph/passes/matmul_precisions.h"
#include "tests/caffe2_core/graph/passes/pass_run.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::transformer_edges_test {
namespace {

using test::Replaced;
using ::testing::ElementsAre;

class LayerNormEdgesTest : public testing::Test {
 protected:
  LayerNormEdgesTest() {
    test::Feed<float>(&run_.ws, "eps", {}, {0.125f});
    test::Feed<float>(&run_.ws, "two", {}, {2});
    test::Feed<float>(&run_.ws, "three", {}, {3});
    test::Feed<float>(&run_.ws, "half", {1}, {0.5f});
    test::Feed<float>(&run_.ws, "minus", {}, {-0.5f});
    test::FeedRandom(&run_.ws, "g", {6}, 0.5f, 2, 1);
    test::FeedRandom(&run_.ws, "b", {6}, -1, 1, 2);
  }
  std::vector<std::string> Lines(const std::string& text) { return run_(FuseLayerNorm, text); }
  static constexpr char kNet[] = R"(
    op { type: "ReduceMean" input: "x" output: "m" arg { name: "axes" ints: -1 } }
    op { type: "Sub" input: "x" input: "m" output: "d" }
    op { type: "Sqr" input: "d" output: "s" }
    op { type: "ReduceMean" input: "s" output: "v" arg { name: "axes" ints: -1 } }
    op { type: "Add" input: "v" input: "eps" output: "e" }
    op { type: "Sqrt" input: "e" output: "f" }
    op { type: "Div" input: "d" input: "f" output: "n" }
    op { type: "Mul" input: "n" input: "g" output: "o" }
    op { type: "Add" input: "o" input: "b" output: "y" })";
  test::PassRun run_;
};

// The exponent of Pow is an argument or a constant.
TEST_F(LayerNormEdgesTest, ExponentsMayBeConstants) {
  const std::string square = R"("Sqr" input: "d")", root = R"("Sqrt" input: "e")",
                    div = R"("Div" input: "d" input: "f")", mul = R"("Mul" input: "d" input: "f")";
  const auto pow = [](const std::string& x, const std::string& exponent) {
    return R"("Pow" arg { name: "broadcast" i: 1 } input: ")" + x + R"(" input: ")" + exponent +
           "\"";
  };
  const std::string exponent = R"( arg { name: "exponent" f: )";
  for (const std::string& text :
       {Replaced(kNet, square, pow("d", "two")), Replaced(kNet, root, pow("e", "half")),
        Replaced(Replaced(kNet, root, pow("e", "minus")), div, mul),
        Replaced(Replaced(kNet, root, R"("Pow" input: "e")" + exponent + "-0.5 }"), div, mul)}) {
    EXPECT_THAT(Lines(text), ElementsAre("LayerNormFusion(x g b) -> y")) << text;
    test::FeedRandom(&run_.ws, "x", {2, 3, 6}, -2, 3, 5);
    run_.ws.RunNetOnce(test::ParseNet(text));
    const auto want = test::Fetch<float>(run_.ws, "y");
    run_.ws.RunNetOnce(run_.net);
    test::ExpectTensor<float>(run_.ws, "y", {2, 3, 6}, want, 1e-5);
    for (const char* name : {"x", "m", "d", "s", "v", "e", "f", "n", "o", "y"}) {
      run_.ws.RemoveBlob(name);
    }
  }
  for (const std::string& text :
       {Replaced(kNet, square, pow("d", "three")), Replaced(kNet, square, pow("d", "unknown")),
        Replaced(kNet, square, pow("d", "three") + exponent + "2 }"),
        Replaced(kNet, root, pow("e", "two")), Replaced(kNet, root, pow("e", "minus")),
        Replaced(kNet, root, pow("e", "unknown") + exponent + "0.5 }"),
        Replaced(Replaced(kNet, root, pow("e", "half")), div, mul)}) {
    EXPECT_EQ(Lines(text).size(), 9u) << text;
  }
}

TEST_F(LayerNormEdgesTest, EpsilonMayBeTheFirstOperand) {
  for (const char* sum : {R"(input: "v" input: "eps")", R"(input: "eps" input: "v")"}) {
    EXPECT_EQ(Lines(Replaced(kNet, R"(input: "v" input: "eps")", sum)).size(), 1u);
    EXPECT_EQ(ArgumentHelper(run_.net.op(0)).GetSingleArgument<float>("epsilon", 0), 0.125f) << sum;
  }
}

// What is divided is centered by the mean that the deviation is of.
TEST_F(LayerNormEdgesTest, BothCentersAreTheSame) {
  const auto other = [](const std::string& mean, const std::string& x) {
    return Replaced(kNet, R"(op { type: "Div" input: "d")",
                    mean + R"(op { type: "Sub" input: ")" + x +
                        R"(" input: "m2" output: "d2" } op { type: "Div" input: "d2")");
  };
  const auto mean = [](const std::string& x, int axis) {
    return MakeString(R"(op { type: "ReduceMean" input: ")", x,
                      R"(" output: "m2" arg { name: "axes" ints: )", axis, " } } ");
  };
  EXPECT_THAT(Lines(other(mean("x", -1), "x")), ElementsAre("LayerNormFusion(x g b) -> y"));
  EXPECT_EQ(Lines(other(mean("x", 2), "x")).size(), 11u);
  EXPECT_EQ(Lines(other(mean("z", -1), "x")).size(), 11u);
  EXPECT_EQ(Lines(other(mean("z", -1), "z")).size(), 11u);
  EXPECT_EQ(Lines(other(mean("x", -1), "z")).size(), 11u);
}

TEST_F(LayerNormEdgesTest, OlderBroadcastsAreAlongTheRows) {
  const std::string older = R"( arg { name: "broadcast" i: 1 })",
                    first = older + R"( arg { name: "axis" i: 0 })";
  for (const char* output : {"\"e\"", "\"n\"", "\"o\"", "\"y\"", "\"d\""}) {
    const std::string what = MakeString("output: ", output);
    EXPECT_EQ(Lines(Replaced(kNet, what, what + older)).size(), 1u) << output;
    EXPECT_EQ(Lines(Replaced(kNet, what, what + first)).size(), 9u) << output;
  }
  // A mean that drops its dimension is over the last one, and ReduceMean is not taken for it.
  EXPECT_EQ(
      Lines(Replaced(kNet, "ints: -1 }", R"(ints: -1 } arg { name: "keepdims" i: 1 })")).size(),
      1u);
}

TEST_F(LayerNormEdgesTest, OperatorsHaveTheDefaultsOfLayerNorm) {
  EXPECT_THAT(Lines(R"(op { type: "LayerNorm" input: "x" input: "g" input: "b" output: "y"
                            output: "m" output: "s" arg { name: "elementwise_affine" i: 1 } })"),
              ElementsAre("LayerNormFusion(x g b) -> y"));
  const ArgumentHelper args(run_.net.op(0));
  EXPECT_EQ(args.GetSingleArgument<int>("axis", 0), 1);
  EXPECT_EQ(args.GetSingleArgument<float>("epsilon", 0), 1e-5f);
  EXPECT_FALSE(args.HasArgument("single_axis"));
  // Only the last dimension has a counterpart that counts from the end.
  for (const int axis : {-2, -3}) {
    std::string other = kNet;
    for (int i = 0; i < 2; ++i) other = Replaced(other, "ints: -1", MakeString("ints: ", axis));
    EXPECT_EQ(Lines(other).size(), 9u) << axis;
  }
  // The last dimension of a mean may be counted from either end; only one is for every rank.
  std::string third = kNet;
  for (int i = 0; i < 2; ++i) third = Replaced(third, "ints: -1", "ints: 2");
  EXPECT_EQ(Lines(third).size(), 1u);
  EXPECT_EQ(ArgumentHelper(run_.net.op(0)).GetSingleArgument<int>("axis", 0), 2);
  EXPECT_EQ(ArgumentHelper(run_.net.op(0)).GetSingleArgument<int>("single_axis", 0), 1);
  EXPECT_EQ(ArgumentHelper(run_.net.op(0)).GetSingleArgument<float>("epsilon", 0), 0.125f);
  EXPECT_EQ(Lines(kNet).size(), 1u);
  EXPECT_EQ(ArgumentHelper(run_.net.op(0)).GetSingleArgument<int>("axis", 0), -1);
  EXPECT_FALSE(ArgumentHelper(run_.net.op(0)).HasArgument("single_axis"));
}

class GeluEdgesTest : public testing::Test {
 protected:
  GeluEdgesTest() {
    for (const auto& [name, value] :
         std::vector<std::pair<std::string, float>>{{"root", 1.41421354f},
                                                    {"one", 1},
                                                    {"half", 0.5f},
                                                    {"quarter", 0.25f},
                                                    {"two", 2},
                                                    {"minus", -0.5f}}) {
      test::Feed<float>(&run_.ws, name, {}, {value});
    }
  }
  // The operators that remain of 1 + erf(x / sqrt(2)), followed by multiplications.
  size_t Left(const std::vector<std::pair<std::string, std::string>>& factors) {
    std::string text = R"(
      op { type: "Div" input: "x" input: "root" output: "a" }
      op { type: "Erf" input: "a" output: "b" }
      op { type: "Add" input: "b" input: "one" output: "p0" } )";
    for (size_t i = 0; i < factors.size(); ++i) {
      text += MakeString("op { type: \"Mul\" input: \"", factors[i].first, "\" input: \"",
                         factors[i].second, "\" output: \"",
                         i + 1 < factors.size() ? MakeString("p", i + 1) : "y", "\" } ");
    }
    return run_(FuseGelu, text).size();
  }
  test::PassRun run_;
};

TEST_F(GeluEdgesTest, AnyNumbersThatMultiplyToOneHalfCount) {
  EXPECT_EQ(Left({{"x", "p0"}, {"p1", "half"}}), 1u);
  EXPECT_EQ(Left({{"quarter", "p0"}, {"p1", "x"}, {"two", "p2"}}), 1u);
  EXPECT_EQ(Left({{"x", "p0"}, {"p1", "quarter"}, {"p2", "two"}}), 1u);
  EXPECT_EQ(Left({{"x", "p0"}, {"p1", "quarter"}}), 5u);
  EXPECT_EQ(Left({{"x", "p0"}, {"p1", "minus"}}), 5u);
  // x must be a factor once.
  EXPECT_EQ(Left({{"p0", "half"}}), 4u);
  EXPECT_EQ(Left({{"x", "p0"}, {"p1", "x"}, {"p2", "half"}}), 6u);
  EXPECT_EQ(Left({{"p0", "p0"}, {"p1", "half"}}), 5u);
}

// The root of a half in float precision, and its neighbours in fewer digits.
TEST_F(GeluEdgesTest, TheFactorInErfIsTheRootOfAHalf) {
  const auto left = [&](const char* scale) {
    return run_(FuseGelu, MakeString(R"(
      op { type: "Scale" input: "x" output: "a" arg { name: "scale" f: )",
                                     scale, R"( } }
      op { type: "Erf" input: "a" output: "b" }
      op { type: "Add" input: "b" input: "one" output: "c" }
      op { type: "Mul" input: "x" input: "c" output: "d" }
      op { type: "Mul" input: "d" input: "half" output: "y" })"))
        .size();
  };
  EXPECT_EQ(left("0.70710678"), 1u);
  EXPECT_EQ(left("0.7071067"), 1u);
  for (const char* other : {"0.7071", "0.70711", "0.7072", "-0.70710678"}) {
    EXPECT_EQ(left(other), 5u) << other;
  }
}

// Gelu of x would work in place, which the operators for which it stands do not.
TEST_F(GeluEdgesTest, TheResultOverwritesNoInput) {
  const std::string net = R"(
      op { type: "Div" input: "x" input: "root" output: "a" }
      op { type: "Erf" input: "a" output: "b" }
      op { type: "Add" input: "b" input: "one" output: "c" }
      op { type: "Mul" input: "x" input: "c" output: "d" }
      op { type: "Mul" input: "d" input: "half" output: "y" })";
  run_.kept = {"x"};
  EXPECT_EQ(run_(FuseGelu, Replaced(net, "\"y\"", "\"x\"")).size(), 5u);
  run_.kept = {"y"};
  EXPECT_EQ(run_(FuseGelu, net).size(), 1u);
}

class FCEdgesTest : public testing::Test {
 protected:
  FCEdgesTest() {
    test::FeedRandom(&run_.ws, "w", {3, 4});
    test::FeedRandom(&run_.ws, "v", {2, 3});
    test::FeedRandom(&run_.ws, "cube", {2, 3, 4});
    test::FeedRandom(&run_.ws, "b", {4});
    test::Feed<double>(&run_.ws, "doubles", {3, 4}, std::vector<double>(12, 1));
    test::Feed<int>(&run_.ws, "ints", {4}, {1, 2, 3, 4});
    test::Feed<float>(&run_.ws, "scalar", {}, {1});
  }
  bool Fuses(const std::string& op) {
    run_(FuseFC, "op { " + op + R"( output: "y" })");
    return run_.net.op(0).type() == "FCFusion";
  }
  test::PassRun run_;
};

TEST_F(FCEdgesTest, WeightsAreConstantFloatsAndTheOtherOperandIsNot) {
  const std::string axis_b = R"( arg { name: "axis_b" i: )";
  EXPECT_TRUE(Fuses(R"(type: "MatMul" input: "x" input: "w")"));
  for (const char* type : {"MatMul", "BatchMatMul"}) {
    const std::string begin = MakeString("type: \"", type, "\" input: ");
    EXPECT_FALSE(Fuses(begin + R"("v" input: "w")")) << type;  // both constant
    EXPECT_FALSE(Fuses(begin + R"("x" input: "doubles")")) << type;
    EXPECT_FALSE(Fuses(begin + R"("x" input: "scalar")")) << type;
    EXPECT_FALSE(Fuses(begin + R"("x" input: "w" arg { name: "trans_b" s: "no" })")) << type;
  }
  for (const char* type : {"FC", "FCTransposed"}) {
    const std::string begin = MakeString("type: \"", type, R"(" input: "x" input: )");
    EXPECT_TRUE(Fuses(begin + R"("w" input: "b")")) << type;
    EXPECT_FALSE(Fuses(begin + R"("doubles" input: "b")")) << type;
    EXPECT_FALSE(Fuses(begin + R"("w" input: "b" arg { name: "axis" s: "no" })")) << type;
  }
  for (const int axis : {-3, -1, 0, 2}) {
    EXPECT_TRUE(Fuses(MakeString(R"(type: "MatMul" input: "x" input: "cube")", axis_b, axis, " }")))
        << axis;
  }
  for (const int axis : {-4, 3}) {
    EXPECT_FALSE(
        Fuses(MakeString(R"(type: "MatMul" input: "x" input: "cube")", axis_b, axis, " }")))
        << axis;
  }
  // The bias is of floats too, and FC has one already.
  const auto biases = [&](const std::string& layer, const char* bias) {
    return run_(FuseFC, MakeString("op { ", layer, R"( output: "a" }
        op { type: "Add" input: "a" input: ")",
                                   bias, R"(" output: "y" })"))
               .size() == 1;
  };
  const std::string product = R"(type: "MatMul" input: "x" input: "w")";
  EXPECT_TRUE(biases(product, "b"));
  EXPECT_FALSE(biases(product, "ints"));
  EXPECT_FALSE(biases(R"(type: "FCTransposed" input: "x" input: "w" input: "b")", "b"));
}

NetDef ChooseDeterministically(NetDef net, PassContext& context) {
  context.deterministic = true;
  return ChooseMatMulPrecisions(std::move(net), context);
}

class SameBytesTest : public testing::Test {
 protected:
  std::string PrecisionOf(Precision asked, bool deterministic, const std::string& text) {
    run_.precision = asked;
    run_(deterministic ? ChooseDeterministically : ChooseMatMulPrecisions, text);
    const Argument* const argument = GetArgumentPtr(run_.net.op(0), "precision");
    return argument == nullptr ? "" : argument->s();
  }
  test::PassRun run_;
};

// The estimates differ between a machine's own products of bytes and those of all machines.
TEST_F(SameBytesTest, LayersAreChosenForTheirSizes) {
  for (const int64_t k : {16, 64, 256}) {
    for (const int64_t n : {16, 64, 256, 1024}) {
      test::Feed<float>(&run_.ws, "w", {n, k}, std::vector<float>(static_cast<size_t>(n * k), 1));
      for (const bool deterministic : {false, true}) {
        for (const Precision asked : {Precision::kBfloat16, Precision::kInt8}) {
          const Precision want = FastestFCPrecision(k, n, asked, deterministic);
          EXPECT_EQ(PrecisionOf(asked, deterministic,
                                R"(op { type: "FCFusion" input: "x" input: "w" output: "y" })"),
                    PrecisionName(want))
              << k << " " << n;
          // The matrix that stands for the transposed weights is [n, k].
          EXPECT_EQ(PrecisionOf(asked, deterministic,
                                R"(op { type: "FCFusion" input: "x" input: "w" output: "y"
                                        arg { name: "transposed" i: 1 } })"),
                    PrecisionName(FastestFCPrecision(n, k, asked, deterministic)));
        }
      }
    }
  }
}

// Regression: a layer that must not use bytes was computed in bf16, which only some machines have,
// although all machines should give the same bytes.
TEST_F(SameBytesTest, NothingIsRoundedIfAllMachinesGiveTheSameBytes) {
  test::Feed<float>(&run_.ws, "w", {512, 256}, std::vector<float>(512 * 256, 1));
  const std::string layer = R"(op { type: "FCFusion" input: "x" input: "w" output: "y" )",
                    attention = R"(op { type: "MultiHeadAttention" input: "x" input: "x"
                                        input: "x" output: "y" )",
                    bf16 = R"(arg { name: "least_precision" s: "bf16" } })";
  const std::string rounded = WhyNoProductsIn(Precision::kBfloat16).empty() ? "bf16" : "f32";
  for (const std::string& text : {layer + bf16, attention + "}", attention + bf16}) {
    EXPECT_EQ(PrecisionOf(Precision::kInt8, true, text), "f32") << text;
    EXPECT_EQ(PrecisionOf(Precision::kInt8, false, text), rounded) << text;
    EXPECT_EQ(PrecisionOf(Precision::kBfloat16, true, text), rounded) << text;
  }
  const std::string f32 = R"(arg { name: "least_precision" s: "f32" } })";
  EXPECT_EQ(PrecisionOf(Precision::kBfloat16, false, attention + f32), "f32");
  EXPECT_NE(PrecisionOf(Precision::kInt8, true, layer + "}"), "bf16");
}

}  // namespace
}  // namespace caffe2rt::transformer_edges_test
