#include "tests/operators/elementwise/unary_cases.h"

namespace caffe2rt::unary_math_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::RunOp;
using test::UnaryCase;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Functions that are defined for all numbers.
const UnaryCase kCases[] = {
    {"Abs", "", [](double x) { return std::abs(x); }, false},
    {"Sign", "", [](double x) { return x > 0   ? 1.0
                                       : x < 0 ? -1.0
                                               : 0.0; }, false, 4e-7, false},
    {"Negative", "", [](double x) { return -x; }, true},
    {"Floor", "", [](double x) { return std::floor(x); }, true, 4e-7, false},
    {"Ceil", "", [](double x) { return std::ceil(x); }, true, 4e-7, false},
    {"Round", "", [](double x) { return std::nearbyint(x); }, true, 4e-7, false},
    {"Asinh", "", [](double x) { return std::asinh(x); }, false},
    {"Scale", "arg { name: \"scale\" f: -2.5 }", [](double x) { return -2.5 * x; }, true},
    {"Scale", "", [](double x) { return x; }, true},
    {"Sqr", "", [](double x) { return x * x; }, true},
    {"Cube", "", [](double x) { return x * x * x; }, false},
    {"Cbrt", "", [](double x) { return std::cbrt(x); }, true},
    {"Reciprocal", "", [](double x) { return 1 / x; }, true},
    {"Exp", "", [](double x) { return std::exp(x); }, true},
    {"Erf", "", [](double x) { return std::erf(x); }, false},
    {"Sin", "", [](double x) { return std::sin(x); }, false},
    {"Cos", "", [](double x) { return std::cos(x); }, false},
    {"Tan", "", [](double x) { return std::tan(x); }, false, 2e-6},
    {"Atan", "", [](double x) { return std::atan(x); }, false},
    {"Sinh", "", [](double x) { return std::sinh(x); }, false},
    {"Cosh", "", [](double x) { return std::cosh(x); }, false},
};
// Functions that are tested with numbers above 0 and up to 1.
const UnaryCase kPositiveCases[] = {
    {"Sqrt", "", [](double x) { return std::sqrt(x); }, true},
    {"Rsqrt", "", [](double x) { return 1 / std::sqrt(x); }, true},
    {"Log", "", [](double x) { return std::log(x); }, true},
    {"Asin", "", [](double x) { return std::asin(x); }, false},
    {"Acos", "", [](double x) { return std::acos(x); }, false},
};

// Inside of (-1, 1), and above 1.
const UnaryCase kAtanh = {"Atanh", "", [](double x) { return std::atanh(x); }, false};
const UnaryCase kAcosh = {"Acosh", "", [](double x) { return std::acosh(x); }, false};
TEST(InverseHyperbolicTest, FollowsItsFormula) {
  std::vector<float> inside, above;
  for (int i = 0; i < 77; ++i) {
    inside.push_back(-0.95f + 0.025f * static_cast<float>(i));
    above.push_back(1.1f + 0.125f * static_cast<float>(i));
  }
  test::ExpectUnaryBehaviour(kAtanh, inside);
  test::ExpectUnaryGradient(kAtanh, inside);
  test::ExpectUnaryBehaviour(kAcosh, above);
  test::ExpectUnaryGradient(kAcosh, above);
}

class UnaryMathTest : public testing::TestWithParam<UnaryCase> {};
TEST_P(UnaryMathTest, FollowsItsFormulaForEveryNumberOfElements) {
  std::vector<float> values;
  for (int i = 0; i < 77; ++i) values.push_back(-4.3f + 0.125f * static_cast<float>(i));
  test::ExpectUnaryBehaviour(GetParam(), values);
  if (GetParam().has_gradient) test::ExpectUnaryGradient(GetParam(), values);
}
INSTANTIATE_TEST_SUITE_P(All, UnaryMathTest, testing::ValuesIn(kCases), test::NameOfUnaryCase);

class PositiveUnaryTest : public testing::TestWithParam<UnaryCase> {};
TEST_P(PositiveUnaryTest, FollowsItsFormulaForEveryNumberOfElements) {
  std::vector<float> values;
  for (int i = 1; i <= 77; ++i) values.push_back(static_cast<float>(i) / 77.0f);
  test::ExpectUnaryBehaviour(GetParam(), values);
  if (GetParam().has_gradient) test::ExpectUnaryGradient(GetParam(), values);
}
INSTANTIATE_TEST_SUITE_P(All, PositiveUnaryTest, testing::ValuesIn(kPositiveCases),
                         test::NameOfUnaryCase);

template <class T>
void ExpectUnary(const std::string& op, const std::vector<T>& x, const std::vector<T>& want) {
  Workspace ws;
  const std::vector<int64_t> dims = {static_cast<int64_t>(x.size())};
  Feed<T>(&ws, "X", dims, x);
  const std::string text = op + R"( input: "X" output: "Y")";
  RunOp(&ws, text);
  ExpectTensor<T>(ws, "Y", dims, want);
  ExpectShapeInferred(&ws, text);
}

TEST(SignTest, AcceptsIntegersAndReturnsZeroForNaN) {
  ExpectUnary<float>(R"(type: "Sign")", {kNaN, -kInfinity, -0.0f}, {0, -1, 0});
  ExpectUnary<int32_t>(R"(type: "Sign")", {-7, 0, 9}, {-1, 0, 1});
  ExpectUnary<int64_t>(R"(type: "Sign")", {-7, 0, 9}, {-1, 0, 1});
  ExpectUnary<double>(R"(type: "Sign")", {-0.5, 0, 9}, {-1, 0, 1});
}

TEST(NegativeTest, WrapsTheSmallestInteger) {
  constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
  ExpectUnary<int32_t>(R"(type: "Negative")", {kMin, 3}, {kMin, -3});
  ExpectUnary<int64_t>(R"(type: "Negative")", {5, -6}, {-5, 6});
}

TEST(RoundTest, RoundsHalvesToEvenNumbers) {
  ExpectUnary<float>(R"(type: "Round")", {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, kInfinity, 1e9f},
                     {0, 2, 2, 0, -2, -2, kInfinity, 1e9f});
  ExpectUnary<double>(R"(type: "Round")", {-4.5, 3.5, 1e300}, {-4, 4, 1e300});
}

TEST(BitwiseNotTest, InvertsTheBitsOfEveryType) {
  ExpectUnary<int32_t>(R"(type: "BitwiseNot")", {0, -8}, {-1, 7});
  ExpectUnary<int64_t>(R"(type: "BitwiseNot")", {int64_t{1} << 40}, {-(int64_t{1} << 40) - 1});
  ExpectUnary<int8_t>(R"(type: "BitwiseNot")", {-128, 5}, {127, -6});
  ExpectUnary<int16_t>(R"(type: "BitwiseNot")", {300}, {-301});
  ExpectUnary<uint8_t>(R"(type: "BitwiseNot")", {0, 200}, {255, 55});
  ExpectUnary<uint16_t>(R"(type: "BitwiseNot")", {1}, {65534});
}

TEST(IsInfTest, DetectsTheSignsThatAreWanted) {
  Workspace ws;
  Feed<float>(&ws, "X", {4}, {kInfinity, -kInfinity, kNaN, 3});
  RunOp(&ws, R"(type: "IsInf" input: "X" output: "Y")");
  ExpectTensor<bool>(ws, "Y", {4}, {true, true, false, false});
  RunOp(&ws, R"(type: "IsInf" input: "X" output: "Y" arg { name: "detect_negative" i: 0 })");
  ExpectTensor<bool>(ws, "Y", {4}, {true, false, false, false});
  RunOp(&ws, R"(type: "IsInf" input: "X" output: "Y" arg { name: "detect_positive" i: 0 })");
  ExpectTensor<bool>(ws, "Y", {4}, {false, true, false, false});
}

TEST(AbsTest, AcceptsIntegersAndKeepsTheSmallest) {
  ExpectUnary<int32_t>(R"(type: "ONNXAbs")", {-7, 5}, {7, 5});
  ExpectUnary<int8_t>(R"(type: "ONNXAbs")", {-128, -5}, {-128, 5});
  ExpectUnary<uint8_t>(R"(type: "ONNXAbs")", {200}, {200});
  ExpectUnary<double>(R"(type: "ONNXAbs")", {-1e300}, {1e300});
}

TEST(UnaryMathDoubleTest, KeepsThePrecision) {
  ExpectUnary<double>(R"(type: "ONNXExp")", {1, -2}, {std::exp(1.0), std::exp(-2.0)});
  ExpectUnary<double>(R"(type: "ONNXLog")", {3}, {std::log(3.0)});
  ExpectUnary<double>(R"(type: "ONNXFloor")", {1e15 + 0.5, -0.5}, {1e15, -1});
  ExpectUnary<double>(R"(type: "ONNXCeil")", {1e15 + 0.5, -0.5}, {1e15 + 1, 0});
}

TEST(CubeTest, WrapsIntegers) {
  ExpectUnary<int32_t>(R"(type: "Cube")", {-3, 2000},
                       {-27, static_cast<int32_t>(8000000000LL - 2 * 4294967296LL)});
  ExpectUnary<int64_t>(R"(type: "Cube")", {2000}, {8000000000LL});
}

TEST(CubeGradientTest, AcceptsIntegersOfOneType) {
  Workspace ws;
  Feed<int64_t>(&ws, "X", {2}, {-3, 2});
  Feed<int64_t>(&ws, "dY", {2}, {1, 5});
  RunOp(&ws, R"(type: "CubeGradient" input: "dY" input: "X" output: "dX")");
  ExpectTensor<int64_t>(ws, "dX", {2}, {27, 60});
  Feed<float>(&ws, "dY", {2}, {1, 5});
  ExpectThrows([&] { RunOp(&ws, R"(type: "CubeGradient" input: "dY" input: "X" output: "dX")"); },
               "input 1 has elements of type int64, want float as input 0 (dY)");
}

TEST(AbsGradientTest, IsZeroAtZero) {
  Workspace ws;
  Feed<float>(&ws, "X", {4}, {0, -0.0f, -3, 3});
  Feed<float>(&ws, "dY", {4}, {2, 2, 2, 2});
  RunOp(&ws, R"(type: "AbsGradient" input: "X" input: "dY" output: "dX")");
  ExpectTensor<float>(ws, "dX", {4}, {0, 0, -2, 2});
}

TEST(SqrtTest, AcceptsDoubles) {
  ExpectUnary<double>(R"(type: "Sqrt")", {0.25, 9, -0.0}, {0.5, 3, -0.0});
}

// Bits of halves and floats, from the definition of IEEE 754 binary16.
TEST(FloatToHalfTest, RoundsToNearestEven) {
  const std::pair<float, uint16_t> cases[] = {
      {0.0f, 0x0000},      {-0.0f, 0x8000},        {1, 0x3c00},        {-2, 0xc000},
      {65504, 0x7bff},     {65519, 0x7bff},        {65520, 0x7c00},    {-1e9f, 0xfc00},
      {kInfinity, 0x7c00}, {kNaN, 0x7fff},         {2049, 0x6800},     {2051, 0x6802},
      {0x1p-14f, 0x0400},  {0x1p-24f, 0x0001},     {0x1p-25f, 0x0000}, {0x1.8p-24f, 0x0002},
      {-0x1p-15f, 0x8200}, {0x1.ff8p-15f, 0x03ff}, {1e-8f, 0x0000},    {0x1.ffcp-15f, 0x0400},
  };
  Workspace ws;
  std::vector<float> x;
  for (const auto& [value, bits] : cases) x.push_back(value);
  const std::vector<int64_t> dims = {static_cast<int64_t>(x.size())};
  Feed<float>(&ws, "X", dims, x);
  const std::string op = R"(type: "FloatToHalf" input: "X" output: "H")";
  RunOp(&ws, op);
  ExpectShapeInferred(&ws, op);
  const std::vector<float16> halves = test::Fetch<float16>(ws, "H");
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(halves[i].x, cases[i].second) << x[i];
  // Back again, all of these numbers but the rounded ones are the same.
  RunOp(&ws, R"(type: "HalfToFloat" input: "H" output: "X")");
  const std::vector<float> back = test::Fetch<float>(ws, "X");
  for (size_t i = 0; i < x.size(); ++i) {
    const float want = static_cast<float>(float16::FromBits(cases[i].second));
    EXPECT_TRUE(back[i] == want || (std::isnan(want) && std::isnan(back[i]))) << x[i];
    EXPECT_EQ(std::signbit(back[i]), std::signbit(want)) << x[i];
  }
  RunOp(&ws, R"(type: "FloatToHalf" input: "X" output: "H" arg { name: "clip" i: 1 })");
  const std::vector<float16> clipped = test::Fetch<float16>(ws, "H");
  EXPECT_EQ(clipped[6].x, 0x7bff);
  EXPECT_EQ(clipped[7].x, 0xfbff);
  EXPECT_EQ(clipped[8].x, 0x7bff);
  EXPECT_EQ(clipped[9].x, 0x7fff);
}

// Every half has the same bits again; a NaN stays one.
TEST(HalfToFloatTest, IsExact) {
  Workspace ws;
  Tensor* half = ws.CreateBlob("H")->GetMutableTensor(CPU);
  half->Resize(1 << 16);
  for (int i = 0; i < 1 << 16; ++i) {
    half->mutable_data<float16>()[i] = float16::FromBits(static_cast<uint16_t>(i));
  }
  RunOp(&ws, R"(type: "HalfToFloat" input: "H" output: "X")");
  RunOp(&ws, R"(type: "FloatToHalf" input: "X" output: "Y")");
  const std::vector<float> x = test::Fetch<float>(ws, "X");
  const std::vector<float16> y = test::Fetch<float16>(ws, "Y");
  int wrong = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const int exponent = static_cast<int>(i >> 10 & 31), mantissa = static_cast<int>(i & 1023);
    if (exponent == 31) {
      wrong += (mantissa == 0 ? std::isinf(x[i]) : std::isnan(x[i])) ? 0 : 1;
      continue;
    }
    const double size =
        exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
    wrong += x[i] == static_cast<float>(i >> 15 ? -size : size) && y[i].x == i ? 0 : 1;
  }
  EXPECT_EQ(wrong, 0);
}

TEST(ScaleTest, AcceptsDoubles) {
  ExpectUnary<double>(R"(type: "Scale" arg { name: "scale" f: 0.5 })", {3, -1}, {1.5, -0.5});
}

TEST(NotTest, InvertsBools) {
  ExpectUnary<bool>(R"(type: "Not")", {true, false, true}, {false, true, false});
}

TEST(NotTest, RejectsNumbers) {
  Workspace ws;
  Feed<int32_t>(&ws, "X", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, R"(type: "Not" input: "X" output: "Y")"); },
               "input 0 (X) has elements of type int32, want bool");
}

TEST(ModTest, HasTheSignOfItsInputOrOfTheDivisor) {
  constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
  ExpectUnary<int32_t>(R"(type: "Mod" arg { name: "divisor" i: 3 })", {-7, 7, kMin}, {-1, 1, -2});
  ExpectUnary<int64_t>(
      R"(type: "Mod" arg { name: "divisor" i: -3 } arg { name: "sign_follow_divisor" i: 1 })",
      {-7, 7, 6}, {-1, -2, 0});
  ExpectUnary<int32_t>(R"(type: "Mod" arg { name: "divisor" i: -1 })", {kMin, 7}, {0, 0});
  // The divisor is a 64-bit number for both types.
  ExpectUnary<int32_t>(R"(type: "Mod" arg { name: "divisor" i: 4294967298 })", {-7, 7}, {-7, 7});
}

TEST(ModTest, RejectsADivisorOfZero) {
  Workspace ws;
  Feed<int32_t>(&ws, "X", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, R"(type: "Mod" input: "X" output: "Y")"); },
               "argument \"divisor\" is required but missing");
  ExpectThrows(
      [&] { RunOp(&ws, R"(type: "Mod" input: "X" output: "Y" arg { name: "divisor" i: 0 })"); },
      "argument \"divisor\" is 0, want not 0");
}

TEST(IsNaNTest, GivesOnesAsBytes) {
  Workspace ws;
  Feed<float>(&ws, "X", {3}, {kNaN, 0, kInfinity});
  RunOp(&ws, R"(type: "IsNaN" input: "X" output: "Y")");
  ExpectTensor<uint8_t>(ws, "Y", {3}, {1, 0, 0});
  ExpectShapeInferred(&ws, R"(type: "IsNaN" input: "X" output: "Y")");
}

TEST(ReplaceNaNTest, PutsItsValueInPlaceOfNaN) {
  ExpectUnary<float>(R"(type: "ReplaceNaN")", {kNaN, -kInfinity, 2}, {0, -kInfinity, 2});
  ExpectUnary<double>(R"(type: "ReplaceNaN" arg { name: "value" f: 3 })",
                      {std::numeric_limits<double>::quiet_NaN(), 2}, {3, 2});
}

TEST(ExpTest, ReachesInfinityAndZero) {
  ExpectUnary<float>(R"(type: "Exp")", {kNaN, kInfinity, -kInfinity, 89, -104, 0},
                     {kNaN, kInfinity, 0, kInfinity, 0, 1});
}

TEST(LogTest, ReturnsNaNBelowZeroAndAcceptsDenormals) {
  Workspace ws;
  Feed<float>(&ws, "X", {6}, {kNaN, kInfinity, -1, 0, -0.0f, 1e-40f});
  RunOp(&ws, R"(type: "Log" input: "X" output: "Y")");
  ExpectTensor<float>(ws, "Y", {6}, {kNaN, kInfinity, kNaN, -kInfinity, -kInfinity, -92.10341f},
                      1e-6);
}

}  // namespace
}  // namespace caffe2rt::unary_math_test
