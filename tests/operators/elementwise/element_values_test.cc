// Operators on single elements at their bounds, kinks and default arguments, and with types and
// shapes that other tests leave out. Expected values are by hand.

#include <cstdint>
#include <limits>

#include "tests/support/operator_case.h"

namespace caffe2rt::element_values_test {
namespace {

using test::ExpectTensor;
using test::Feed;
using test::NameOfCase;
using test::OperatorCase;
using test::RunOp;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kFloatMax = std::numeric_limits<float>::max();

class ElementValuesTest : public testing::TestWithParam<OperatorCase> {};

TEST_P(ElementValuesTest, AreExactAtBoundsAndDefaults) {
  test::ExpectCase(GetParam(), /*may_be_unknown=*/false);
}

INSTANTIATE_TEST_SUITE_P(
    Activations, ElementValuesTest,
    testing::ValuesIn(std::vector<OperatorCase>{
        {"ReluNOfSix",
         "type: 'ReluN' input: 'a' output: 'x'",
         {{"float", {5}, {-1, 0, 6, 7, kNaN}}},
         {{"float", {5}, {0, 0, 6, 6, kNaN}}}},
        {"LeakyReluOfOnePercent",
         "type: 'LeakyRelu' input: 'a' output: 'x'",
         {{"float", {3}, {-100, 0, 100}}},
         {{"float", {3}, {-1, 0, 100}}}},
        {"ThresholdOfOne",
         "type: 'ThresholdedRelu' input: 'a' output: 'x'",
         {{"float", {4}, {0.5, 1, 1.5, kNaN}}},
         {{"float", {4}, {0, 0, 1.5, 0}}}},
        {"EluOfOne",
         "type: 'Elu' input: 'a' output: 'x'",
         {{"float", {3}, {-kInf, 0, 5}}},
         {{"float", {3}, {-1, 0, 5}}}},
        {"SeluOfItsConstants",
         "type: 'Selu' input: 'a' output: 'x'",
         {{"float", {3}, {-kInf, 0, 1}}},
         {{"float", {3}, {-1.7580993, 0, 1.0507010}}}},
        {"HardSigmoidOfOneFifth",
         "type: 'HardSigmoid' input: 'a' output: 'x'",
         {{"float", {5}, {-3, -2.5, 0, 2.5, 3}}},
         {{"float", {5}, {0, 0, 0.5, 1, 1}}}},
        {"ClipToFiniteNumbers",
         "type: 'Clip' input: 'a' output: 'x'",
         {{"float", {4}, {-kInf, -7, kInf, kNaN}}},
         {{"float", {4}, {-kFloatMax, -7, kFloatMax, kNaN}}}},
        {"StumpAtItsThreshold",
         "type: 'StumpFunc' input: 'a' output: 'x' arg { name: 'threshold' f: 0.25 } "
         "arg { name: 'low_value' f: -2 } arg { name: 'high_value' f: 7 }",
         {{"float", {3}, {0, 0.25, 0.5}}},
         {{"float", {3}, {-2, -2, 7}}}},
        {"StumpOfZeros",
         "type: 'StumpFunc' input: 'a' output: 'x'",
         {{"float", {2}, {-1, 1}}},
         {{"float", {2}, {0, 0}}}},
        {"ReluGradientAtZero",
         "type: 'ReluGradient' input: 'a' input: 'b' output: 'x'",
         {{"float", {3}, {0, 1, -1}}, {"float", {3}, {5, 6, 7}}},
         {{"float", {3}, {0, 6, 0}}}},
        {"ReluNGradientAtSix",
         "type: 'ReluNGradient' input: 'a' input: 'b' output: 'x'",
         {{"float", {3}, {0, 3, 6}}, {"float", {3}, {5, 6, 7}}},
         {{"float", {3}, {0, 6, 0}}}},
        {"LeakyReluGradientAtZero",
         "type: 'LeakyReluGradient' input: 'a' input: 'b' output: 'x'",
         {{"float", {2}, {0, -1}}, {"float", {2}, {5, 100}}},
         {{"float", {2}, {5, 1}}}},
        {"ThresholdedReluGradientBelowZero",
         "type: 'ThresholdedReluGradient' input: 'a' input: 'b' output: 'x'",
         {{"float", {3}, {0, -0.5, 2}}, {"float", {3}, {5, 6, 7}}},
         {{"float", {3}, {0, 6, 7}}}},
        {"EluGradientAtZero",
         "type: 'EluGradient' input: 'a' input: 'b' output: 'x'",
         {{"float", {2}, {-0.5, 0}}, {"float", {2}, {4, 5}}},
         {{"float", {2}, {2, 5}}}},
        {"SeluGradientAtZero",
         "type: 'SeluGradient' input: 'a' input: 'b' output: 'x' arg { name: 'alpha' f: 0.5 } "
         "arg { name: 'scale' f: 3 }",
         {{"float", {3}, {0, 1, -1}}, {"float", {3}, {4, 4, 4}}},
         {{"float", {3}, {6, 12, 2}}}},
        {"HardSigmoidGradientAtItsBounds",
         "type: 'HardSigmoidGradient' input: 'a' input: 'b' output: 'x'",
         {{"float", {3}, {0, 0.5, 1}}, {"float", {3}, {5, 5, 5}}},
         {{"float", {3}, {0, 1, 0}}}},
        {"MishGradientAtZero",
         "type: 'MishGradient' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"float", {1}, {0}}, {"float", {1}, {0}}, {"float", {1}, {5}}},
         {{"float", {1}, {3}}}},
        {"LogitGradientAtEps",
         "type: 'LogitGradient' input: 'a' input: 'b' output: 'x' arg { name: 'eps' f: 0.25 }",
         {{"float", {4}, {0.125, 0.25, 0.75, 0.875}}, {"float", {4}, {3, 3, 3, 3}}},
         {{"float", {4}, {0, 16, 16, 0}}}},
        {"AbsGradientAtZero",
         "type: 'AbsGradient' input: 'a' input: 'b' output: 'x'",
         {{"float", {3}, {0, 2, -2}}, {"float", {3}, {5, 6, 7}}},
         {{"float", {3}, {0, 6, -7}}}},
        {"PReluOfTheLastDimension",
         "type: 'PRelu' input: 'a' input: 'b' output: 'x' arg { name: 'order' s: 'NHWC' }",
         {{"float", {1, 2, 3}, {-1, -1, -1, 2, -2, 0}}, {"float", {3}, {1, 2, 3}}},
         {{"float", {1, 2, 3}, {-1, -2, -3, 2, -4, 0}}}},
        {"PReluOfTheSecondDimension",
         "type: 'PRelu' input: 'a' input: 'b' output: 'x'",
         {{"float", {2, 2, 2}, {-1, -1, -1, -1, 3, -3, -3, 3}}, {"float", {2}, {0.5, 2}}},
         {{"float", {2, 2, 2}, {-0.5, -0.5, -2, -2, 3, -1.5, -6, 3}}}},
        {"PReluGradientOfTheLastDimension",
         "type: 'PReluGradient' input: 'a' input: 'b' input: 'c' input: 'd' output: 'x' output: "
         "'y' "
         "arg { name: 'order' s: 'NHWC' }",
         {{"float", {2, 2}, {0, 0, 0, 0}},
          {"float", {2, 2}, {1, 2, 3, 4}},
          {"float", {2, 2}, {-1, 5, -2, -3}},
          {"float", {2}, {10, 20}}},
         {{"float", {2, 2}, {10, 2, 30, 80}}, {"float", {2}, {-7, -12}}}},
        {"PReluGradientOfOneSlope",
         "type: 'PReluGradient' input: 'a' input: 'b' input: 'c' input: 'd' output: 'x' output: "
         "'y'",
         {{"float", {1, 3}, {0, 0, 0}},
          {"float", {1, 3}, {1, 2, 3}},
          {"float", {1, 3}, {-1, 5, -2}},
          {"float", {1}, {10}}},
         {{"float", {1, 3}, {10, 2, 30}}, {"float", {1}, {-7}}}},
        {"DropoutInTestMode",
         "type: 'Dropout' input: 'a' output: 'x' arg { name: 'is_test' i: 1 }",
         {{"float", {2}, {1, 2}}},
         {{"float", {2}, {1, 2}}}},
        {"DropoutGradientOfHalf",
         "type: 'DropoutGrad' input: 'a' input: 'b' output: 'x'",
         {{"float", {2}, {1, 2}}, {"bool", {2}, {1, 0}}},
         {{"float", {2}, {2, 0}}}},
        {"DropoutGradientOfThreeQuarters",
         "type: 'DropoutGrad' input: 'a' input: 'b' output: 'x' arg { name: 'ratio' f: 0.75 }",
         {{"float", {2}, {1, 2}}, {"bool", {2}, {0, 1}}},
         {{"float", {2}, {0, 8}}}},
        {"DropoutGradientInTestMode",
         "type: 'DropoutGrad' input: 'a' output: 'x' arg { name: 'is_test' i: 1 }",
         {{"float", {2}, {1, 2}}},
         {{"float", {2}, {1, 2}}}},
    }),
    NameOfCase);

INSTANTIATE_TEST_SUITE_P(
    Numbers, ElementValuesTest,
    testing::ValuesIn(std::vector<OperatorCase>{
        {"BothInfinities",
         "type: 'IsInf' input: 'a' output: 'x'",
         {{"double", {4}, {kInf, -kInf, 1e308, kNaN}}},
         {{"bool", {4}, {1, 1, 0, 0}}}},
        {"OnlyPositiveInfinity",
         "type: 'IsInf' input: 'a' output: 'x' arg { name: 'detect_negative' i: 0 }",
         {{"float", {2}, {kInf, -kInf}}},
         {{"bool", {2}, {1, 0}}}},
        {"OnlyNegativeInfinity",
         "type: 'IsInf' input: 'a' output: 'x' arg { name: 'detect_positive' i: 0 }",
         {{"float", {2}, {kInf, -kInf}}},
         {{"bool", {2}, {0, 1}}}},
        {"RemainderHasTheSignOfX",
         "type: 'Mod' input: 'a' output: 'x' arg { name: 'divisor' i: -3 }",
         {{"int32", {5}, {-4, 4, -3, 0, 2}}},
         {{"int32", {5}, {-1, 1, 0, 0, 2}}}},
        {"RemainderHasTheSignOfTheDivisor",
         "type: 'Mod' input: 'a' output: 'x' arg { name: 'divisor' i: -3 } "
         "arg { name: 'sign_follow_divisor' i: 1 }",
         {{"int64", {5}, {-4, 4, -3, 0, 2}}},
         {{"int64", {5}, {-1, -2, 0, 0, -1}}}},
        {"RemainderOfAPositiveDivisor",
         "type: 'Mod' input: 'a' output: 'x' arg { name: 'divisor' i: 3 } "
         "arg { name: 'sign_follow_divisor' i: 1 }",
         {{"int32", {4}, {-4, 4, -3, 2}}},
         {{"int32", {4}, {2, 1, 0, 2}}}},
        {"RemainderOfMinusOne",
         "type: 'Mod' input: 'a' output: 'x' arg { name: 'divisor' i: -1 }",
         {{"int32", {2}, {-2147483648.0, 7}}},
         {{"int32", {2}, {0, 0}}}},
        {"NaNBecomesZero",
         "type: 'ReplaceNaN' input: 'a' output: 'x'",
         {{"double", {3}, {kNaN, kInf, 2}}},
         {{"double", {3}, {0, kInf, 2}}}},
        {"NaNBecomesTheValue",
         "type: 'ReplaceNaN' input: 'a' output: 'x' arg { name: 'value' f: -1.5 }",
         {{"float", {2}, {kNaN, 2}}},
         {{"float", {2}, {-1.5, 2}}}},
        {"NaNIsOne",
         "type: 'IsNaN' input: 'a' output: 'x'",
         {{"double", {3}, {kNaN, kInf, 0}}},
         {{"uint8", {3}, {1, 0, 0}}}},
        {"ScaleOfOne",
         "type: 'Scale' input: 'a' output: 'x'",
         {{"double", {2}, {3, -4}}},
         {{"double", {2}, {3, -4}}}},
        {"SignOfIntegersAndZero",
         "type: 'Sign' input: 'a' output: 'x'",
         {{"int64", {3}, {-7, 0, 9}}},
         {{"int64", {3}, {-1, 0, 1}}}},
        {"SignOfNaN",
         "type: 'Sign' input: 'a' output: 'x'",
         {{"double", {3}, {kNaN, -0.5, kInf}}},
         {{"double", {3}, {0, -1, 1}}}},
        {"HalvesRoundToEven",
         "type: 'Round' input: 'a' output: 'x'",
         {{"double", {5}, {0.5, 1.5, 2.5, -1.5, 0.75}}},
         {{"double", {5}, {0, 2, 2, -2, 1}}}},
        {"TheLeastIntegersStay",
         "type: 'ONNXAbs' input: 'a' output: 'x'",
         {{"int8", {3}, {-128, -127, 5}}},
         {{"int8", {3}, {-128, 127, 5}}}},
        {"BytesHaveNoSign",
         "type: 'ONNXAbs' input: 'a' output: 'x'",
         {{"uint8", {2}, {200, 3}}},
         {{"uint8", {2}, {200, 3}}}},
        {"NegativeOfTheLeastInteger",
         "type: 'Negative' input: 'a' output: 'x'",
         {{"int32", {2}, {-2147483648.0, 5}}},
         {{"int32", {2}, {-2147483648.0, -5}}}},
        {"InvertedBits",
         "type: 'BitwiseNot' input: 'a' output: 'x'",
         {{"uint16", {2}, {0, 65280}}},
         {{"uint16", {2}, {65535, 255}}}},
        {"CubesOfIntegers",
         "type: 'Cube' input: 'a' output: 'x'",
         {{"int32", {2}, {-3, 5}}},
         {{"int32", {2}, {-27, 125}}}},
        {"CubeGradientOfIntegers",
         "type: 'CubeGradient' input: 'a' input: 'b' output: 'x'",
         {{"int64", {2}, {1, 2}}, {"int64", {2}, {-3, 5}}},
         {{"int64", {2}, {27, 150}}}},
        {"Squares",
         "type: 'Pow' input: 'a' output: 'x' arg { name: 'exponent' f: 2 }",
         {{"float", {2}, {-3, -kInf}}},
         {{"float", {2}, {9, kInf}}}},
        {"ThirdPowers",
         "type: 'Pow' input: 'a' output: 'x' arg { name: 'exponent' f: 3 }",
         {{"float", {2}, {-2, -kInf}}},
         {{"float", {2}, {-8, -kInf}}}},
        {"Inverses",
         "type: 'Pow' input: 'a' output: 'x' arg { name: 'exponent' f: -1 }",
         {{"float", {3}, {4, 0, -0.0}}},
         {{"float", {3}, {0.25, kInf, -kInf}}}},
        {"Roots",
         "type: 'Pow' input: 'a' output: 'x' arg { name: 'exponent' f: 0.5 }",
         {{"float", {4}, {4, -kInf, -1, kInf}}},
         {{"float", {4}, {2, kInf, kNaN, kInf}}}},
        {"PowersOfZero",
         "type: 'Pow' input: 'a' output: 'x' arg { name: 'exponent' f: 0 }",
         {{"float", {3}, {4, 0, kNaN}}},
         {{"float", {3}, {1, 1, 1}}}},
        {"ExponentsOfAnInput",
         "type: 'Pow' input: 'a' input: 'b' output: 'x'",
         {{"float", {2, 2}, {2, 3, 4, -2}}, {"float", {2, 2}, {3, 0, 0.5, 2}}},
         {{"float", {2, 2}, {8, 1, 2, 4}}}},
        {"ExponentsOfTheFirstDimension",
         "type: 'Pow' input: 'a' input: 'b' output: 'x' arg { name: 'broadcast' i: 1 } "
         "arg { name: 'axis' i: 0 }",
         {{"float", {2, 2}, {2, 3, 4, 5}}, {"float", {2}, {1, 2}}},
         {{"float", {2, 2}, {2, 3, 16, 25}}}},
        {"CastsCutOffFractions",
         "type: 'Cast' input: 'a' output: 'x' arg { name: 'to' s: 'int16' }",
         {{"float", {3}, {-1.9, 1.9, 300.5}}},
         {{"int16", {3}, {-1, 1, 300}}}},
        {"CastsToBoolsKeepFractions",
         "type: 'Cast' input: 'a' output: 'x' arg { name: 'to' i: 5 }",
         {{"double", {3}, {0.25, 0, -1}}},
         {{"bool", {3}, {1, 0, 1}}}},
        {"CastsGiveFloatsByDefault",
         "type: 'Cast' input: 'a' output: 'x'",
         {{"uint16", {2}, {65535, 1}}},
         {{"float", {2}, {65535, 1}}}},
        {"CastsOfBytesToTexts",
         "type: 'Cast' input: 'a' output: 'x' arg { name: 'to' s: 'STRING' }",
         {{"int8", {2}, {65, -3}}},
         {{"text", {2}, {65, -3}}}},
    }),
    NameOfCase);

struct HalfRow {
  float value;
  bool clip;
  uint16_t bits;
};

TEST(FloatToHalfTest, RoundsToTheNearestEvenHalf) {
  constexpr float kFloatInf = std::numeric_limits<float>::infinity();
  const HalfRow rows[] = {
      {1.0f, false, 0x3c00},
      {1.0f + 0x1p-11f, false, 0x3c00},  // halfway: even
      {1.0f + 0x1p-11f + 0x1p-20f, false, 0x3c01},
      {1.0f + 3 * 0x1p-11f, false, 0x3c02},  // halfway: even
      {65504.0f, false, 0x7bff},             // the largest
      {65519.0f, false, 0x7bff},
      {65520.0f, false, 0x7c00},
      {65520.0f, true, 0x7bff},
      {-kFloatInf, false, 0xfc00},
      {-kFloatInf, true, 0xfbff},
      {0x1p-14f, false, 0x0400},      // the least normal one
      {0x1p-24f, false, 0x0001},      // the least one
      {0x1p-25f, false, 0x0000},      // halfway: even
      {3 * 0x1p-25f, false, 0x0002},  // halfway: even
      {-0.0f, false, 0x8000},
      {std::numeric_limits<float>::quiet_NaN(), true, 0x7fff},
  };
  for (const HalfRow& row : rows) {
    SCOPED_TRACE(row.value);
    Workspace ws;
    Feed<float>(&ws, "a", {1}, {row.value});
    RunOp(&ws, std::string("type: 'FloatToHalf' input: 'a' output: 'x' arg { name: 'clip' i: ") +
                   (row.clip ? "1 }" : "0 }"));
    EXPECT_EQ(test::Fetch<float16>(ws, "x").at(0).x, row.bits);
  }
}

TEST(HalfToFloatTest, KeepsHalvesOfAllKinds) {
  Workspace ws;
  std::vector<float16> halves(6);
  const uint16_t bits[] = {0x0001, 0x83ff, 0x0400, 0x7bff, 0xfc00, 0x8000};
  for (size_t i = 0; i < halves.size(); ++i) halves[i].x = bits[i];
  Feed<float16>(&ws, "a", {6}, halves);
  RunOp(&ws, "type: 'HalfToFloat' input: 'a' output: 'x'");
  ExpectTensor<float>(ws, "x", {6},
                      {0x1p-24f, -1023 * 0x1p-24f, 0x1p-14f, 65504.0f,
                       -std::numeric_limits<float>::infinity(), -0.0f});
}

}  // namespace
}  // namespace caffe2rt::element_values_test
