// Calls of normalizations with tensors without elements, zeros along an axis, other exponents and shapes of
// parameters, and what their gradients read then.
#include <gtest/gtest.h>

#include <string>

#include "tests/operators/common/call_tables.h"
#include "tests/operators/common/run_rows.h"
#include "tests/support/gradient_test.h"

namespace caffe2rt::test::norm_rare_calls_test {
namespace {

// Mean 0 and variance 0, also where the memory held others: 1 / sqrt(0.25).
TEST(NormRareCallsTest, GroupsWithoutElementsHaveMeanAndVarianceZero) {
  const std::string weights = "; s f 2 = 1; b f 2 = 0";
  for (const std::string order : {"NCHW", "NHWC"}) {
    const bool last = order == "NHWC";
    const std::string two = last ? "X f 1,2,2 = 1,5,3,7" : "X f 1,2,2 = 1,3,5,7";
    const std::string none = last ? "X f 1,0,2" : "X f 1,2,0";
    // Variances of 1 and an epsilon of 0.25: 1 / sqrt(1.25).
    ExpectRuns(("InstanceNorm X s b -> Y m i epsilon=0.25 order=" + order).c_str(),
               {{two + weights, "m f 1,2 = 2,6; i f 1,2 = 0.894427"},
                {none, "m f 1,2 = 0; i f 1,2 = 2"},
                {"X f 0,2,2", "Y f 0,2,2; m f 0,2; i f 0,2"},
                {two, "m f 1,2 = 2,6; i f 1,2 = 0.894427"}});
    // All four elements: mean 4 and variance 5.
    ExpectRuns(("GroupNorm X s b -> Y m i group=1 epsilon=0.25 order=" + order).c_str(),
               {{two + weights, "m f 1,1 = 4; i f 1,1 = 0.436436"},
                {none, "m f 1,1 = 0; i f 1,1 = 2"},
                {"X f 0,2,2", "Y f 0,2,2; m f 0,1; i f 0,1"},
                {two, "m f 1,1 = 4; i f 1,1 = 0.436436"}});
  }
}

TEST(NormRareCallsTest, ZerosAlongAnAxisStayZeros) {
  ExpectResults({
      {"Normalize X -> Y axis=0", "X f 2,2 = 0,3,0,4", "Y f 2,2 = 0,0.6,0,0.8"},
      {"Normalize X -> Y axis=1", "X f 1,2,2 = 0,-3,0,4", "Y f 1,2,2 = 0,-0.6,0,0.8"},
      {"Normalize X -> Y", "X f 2,2 = 0,0,3,4", "Y f 2,2 = 0,0,0.6,0.8"},
      {"NormalizeL1 X -> Y axis=0", "X f 2,2 = 0,1,0,-3", "Y f 2,2 = 0,0.25,0,-0.75"},
      {"NormalizeL1 X -> Y axis=-2", "X f 1,2,2 = 0,1,0,3", "Y f 1,2,2 = 0,0.25,0,0.75"},
      {"Normalize X -> Y axis=1", "X f 2,0,3", "Y f 2,0,3"},
      {"NormalizeL1 X -> Y axis=0", "X f 2,0", "Y f 2,0"},
      // 1e-12 is the least norm: below it, the elements are divided by that.
      {"Normalize X -> Y axis=0", "X f 2,2 = 3e-14,0,4e-14,1", "Y f 2,2 = 0.03,0,0.04,1"},
  });
}

// 16 to the powers of -beta.
TEST(NormRareCallsTest, LocalNormalizationHasAnyExponent) {
  for (const std::string order : {"NCHW", "NHWC"}) {
    const std::string op = "LRN X -> Y S size=1 alpha=15. bias=1. order=" + order;
    const std::string x = "X f 1,1,1,1 = 1", scale = "; S f 1,1,1,1 = 16";
    ExpectResults({
        {op, x, "Y f 1,1,1,1 = 1" + scale},  // beta is 0
        {op + " beta=0.25", x, "Y f 1,1,1,1 = 0.5" + scale},
        {op + " beta=0.5", x, "Y f 1,1,1,1 = 0.25" + scale},
        {op + " beta=0.75", x, "Y f 1,1,1,1 = 0.125" + scale},
        {op + " beta=1.", x, "Y f 1,1,1,1 = 0.0625" + scale},
        {op + " beta=1.75", x, "Y f 1,1,1,1 = 0.0078125" + scale},
        {op + " beta=-0.5", x, "Y f 1,1,1,1 = 4" + scale},
        // Without alpha, the bias alone.
        {"LRN X -> Y S size=3 beta=0.5 bias=4. order=" + order, "X f 1,1,1,1 = 6",
         "Y f 1,1,1,1 = 3; S f 1,1,1,1 = 4"},
        {"LRN X -> Y size=3 order=" + order, "X f 0,2,2,3", "Y f 0,2,2,3"},
    });
  }
}

// gamma, and so its gradient, may have any shape of as many elements.
TEST(NormRareCallsTest, GradientsOfParametersHaveTheirShape) {
  ExpectResults({
      // Rows of 1 and 3 around the mean 2 with deviation 1.
      {"LayerNormGradient G Y m s X g -> D E F elementwise_affine=1",
       "G f 2,2 = 1,10,100,1000; Y f 2,2; m f 2 = 2; s f 2 = 1; X f 2,2 = 1,3; g f 1,2 = 1",
       "E f 1,2 = -101,1010; F f 1,2 = 101,1010"},
      {"LayerNormGradient G Y m s X g -> D E F elementwise_affine=1 axis=2",
       "G f 1,2,2 = 1,10,100,1000; Y f 1; m f 2,1 = 2; s f 1,2 = 1; X f 1,2,2 = 1,3; g f 2,1,1 = 1",
       "E f 2,1,1 = -101,1010; F f 2,1,1 = 101,1010"},
      {"InstanceNormGradient X s b G m i -> D E F",
       "X f 1,2,1 = 1,3; s f 2,1 = 1; b f 2 = 0; G f 1,2,1 = 5,7; m f 2 = 0,1; i f 2,1 = 2,3",
       "E f 2,1 = 10,42; F f 2,1 = 5,7"},
      {"GroupNormGradient G X g b m i -> D E F group=2",
       "X f 1,2,1 = 1,3; g f 2,1 = 1; b f 1,2 = 0; G f 1,2,1 = 5,7; m f 1,2 = 0,1; i f 1,2 = 2,3",
       "E f 2,1 = 10,42; F f 1,2 = 5,7"},
      {"SpatialBNGradient X s G m i -> D E F is_test=0",
       "X f 1,2,1 = 1,3; s f 2,1 = 1; G f 1,2,1 = 5,7; m f 2 = 0,1; i f 2 = 2,3",
       "E f 2,1 = 10,42; F f 2,1 = 5,7"},
  });
}

TEST(NormRareCallsTest, MakersPassTheArgumentsAndInputsOfEachMode) {
  const std::string layer =
      R"(type: "LayerNorm" input: "X" input: "g" input: "b" output: "Y" output: "m" output: "s" )";
  const std::string bn =
      R"(type: "SpatialBN" input: "X" input: "s" input: "b" input: "m" input: "v" )";
  const std::string five = R"(output: "Y" output: "m" output: "v" output: "d" output: "e" )";
  const auto arg = [](const char* name, int value) {
    return MakeString("arg { name: \"", name, "\" i: ", value, " } ");
  };
  const std::string sums = R"(input: "p" input: "q" )";
  const struct {
    std::string op, gradient;
  } rows[] = {
      // gamma and beta are there, but not used.
      {layer, "LayerNormGradient(Y_grad,Y,m,s,X)->X_grad | X_grad - -"},
      {layer + arg("elementwise_affine", 0),
       "LayerNormGradient(Y_grad,Y,m,s,X)->X_grad elementwise_affine=0 | X_grad - -"},
      {layer + arg("elementwise_affine", 1) + arg("axis", 2),
       "LayerNormGradient(Y_grad,Y,m,s,X,g)->X_grad,g_grad,b_grad elementwise_affine=1 axis=2 | "
       "X_grad g_grad b_grad"},
      {R"(type: "InstanceNorm" input: "X" input: "s" input: "b" output: "Y" )",
       "InstanceNormGradient(X,s,b,Y_grad)->X_grad,s_grad,b_grad | X_grad s_grad b_grad"},
      {R"(type: "InstanceNorm" input: "X" input: "s" input: "b" output: "Y" output: "m" )",
       "InstanceNormGradient(X,s,b,Y_grad,m)->X_grad,s_grad,b_grad | X_grad s_grad b_grad"},
      // In testing the number of batches has no effect.
      {bn + R"(output: "Y" )" + arg("is_test", 1) + arg("num_batches", 2),
       "SpatialBNGradient(X,s,Y_grad,m,v)->X_grad,s_grad,b_grad is_test=1 num_batches=2 | X_grad "
       "s_grad b_grad - -"},
      {bn + sums + five + arg("is_test", 0) + arg("num_batches", 2),
       "SpatialBNGradient(X,s,Y_grad,d,e,s_grad,b_grad)->X_grad,s_grad,b_grad is_test=0 "
       "num_batches=2 | X_grad s_grad b_grad - - - -"},
      {bn + five + arg("is_test", 0) + arg("num_batches", 1),
       "SpatialBNGradient(X,s,Y_grad,d,e)->X_grad,s_grad,b_grad is_test=0 num_batches=1 | X_grad "
       "s_grad b_grad - -"},
  };
  for (const auto& row : rows) EXPECT_EQ(DescribeGradient(row.op), row.gradient);
}

TEST(NormRareCallsTest, InfersTheChannelsOfBothOrders) {
  ExpectInferred({
      {"BatchMoments X -> m v order=NHWC", "X f 2,3,4", "float [4]; float [4]"},
      {"BatchMoments X -> m v", "X f 2,3", "float [3]; float [3]"},
      {"BatchMomentsGradient m v X -> D", "m f 3; v f 3; X f 2,3", "float [2, 3]"},
      {"ChannelStats X -> s q", "X f 2,3,4", "float [3]; float [3]"},
      {"ChannelStats X -> s q order=NHWC", "X f 2,3", "float [3]; float [3]"},
      {"ChannelBackpropStats X m i G -> s b", "X f 2,3; m f 3; i f 3; G f 2,3",
       "float [3]; float [3]"},
      {"ChannelBackpropStats X m i G -> s b", "X f 2,3,4,5; m f 3; i f 3; G f 2,3",
       "float [3]; float [3]"},
      {"ChannelBackpropStats X m i G -> s b", "X f 2; m f 3; i f 3; G f 2,3", "? ?; ? ?"},
      {"InstanceNorm X s b -> Y", "X f 3,4", "float [3, 4]"},
      {"GroupNorm X s b -> Y m i group=2 order=NHWC", "X f 3,5,4",
       "float [3, 5, 4]; float [3, 2]; float [3, 2]"},
      {"LpNormGradient X G -> D", "X f 2,3; G f 1", "float [2, 3]"},
      {"NormalizeL1 X -> Y axis=0", "X f 2,3", "float [2, 3]"},
      {"SparseNormalize X I -> X", "X f 2,3; I i 1", "float [2, 3]"},
      {"SpatialBNFusion X s b m v -> Y is_test=1", "X f 2,3,4", "float [2, 3, 4]"},
      {"LayerNormFusion X g b R -> Y S", "X f 3,1,2; g f 2; b f 2; R f 5,1",
       "float [3, 5, 2]; float [3, 5, 2]"},
      {"LayerNormFusion X g b R -> Y S", "X f 3,2; g f 2; b f 2; R f ?", "? ?; ? ?"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::norm_rare_calls_test
