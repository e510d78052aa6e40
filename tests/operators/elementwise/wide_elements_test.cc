// Elements that a detour through a narrower type would change: integers of more than 53 bits and
// doubles between two floats. Expected values are by hand.

#include <cmath>
#include <limits>

#include "tests/support/operator_test.h"

namespace caffe2rt::wide_elements_test {
namespace {

using test::ExpectTensor;
using test::Feed;
using test::RunOp;

constexpr int64_t kOdd = (int64_t{1} << 53) + 1;  // no double
constexpr int64_t kLow = std::numeric_limits<int64_t>::min();
constexpr int64_t kHigh = std::numeric_limits<int64_t>::max();
constexpr double kTiny = 0x1p-40;  // 1 + kTiny is no float

// Feeds A, B, C, ... and runs `op`, which has its inputs, on the CPU.
template <class T>
void RunWide(Workspace* ws, const std::string& op, const std::vector<std::vector<T>>& inputs) {
  std::string text;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string name(1, static_cast<char>('A' + i));
    Feed<T>(ws, name, {static_cast<int64_t>(inputs[i].size())}, inputs[i]);
    text += " input: '" + name + "'";
  }
  const size_t space = op.find(' ');
  RunOp(ws, "type: '" + op.substr(0, space) + "'" + text + " output: 'Y'" +
                (space == std::string::npos ? "" : op.substr(space)) + " device_option {}");
}

template <class T, class Y = T>
void ExpectWide(const std::string& op, const std::vector<std::vector<T>>& inputs,
                const std::vector<Y>& want, double tolerance = 0) {
  SCOPED_TRACE(op);
  Workspace ws;
  RunWide(&ws, op, inputs);
  ExpectTensor<Y>(ws, "Y", {static_cast<int64_t>(want.size())}, want, tolerance);
}

TEST(WideElementsTest, AreAddedAndMultipliedExactly) {
  ExpectWide<int64_t>("Add", {{kOdd, kHigh, kOdd}, {1, 1, -kOdd}}, {kOdd + 1, kLow, 0});
  ExpectWide<int64_t>("Sub", {{kOdd, kLow, kOdd}, {2, 1, -2}}, {kOdd - 2, kHigh, kOdd + 2});
  ExpectWide<int64_t>("Mul", {{kOdd, kHigh, 3}, {3, 2, -kOdd}}, {3 * kOdd, -2, -3 * kOdd});
  ExpectWide<int64_t>("Div", {{kOdd, kLow, -kOdd, 7}, {1, -1, 2, kOdd}},
                      {kOdd, kLow, -(kOdd - 1) / 2, 0});
  ExpectWide<double>("Add", {{1, 1}, {kTiny, -kTiny}}, {1 + kTiny, 1 - kTiny});
  ExpectWide<double>("Sub", {{1, 1}, {kTiny, -kTiny}}, {1 - kTiny, 1 + kTiny});
  ExpectWide<double>("Mul", {{1 + kTiny}, {1 + kTiny}}, {1 + 2 * kTiny + kTiny * kTiny}, 1e-16);
  ExpectWide<double>("Div", {{2 + 2 * kTiny}, {2}}, {1 + kTiny});
  ExpectWide<int64_t>("Sum", {{kOdd, kHigh}, {1, 1}, {1, 1}}, {kOdd + 2, kLow + 1});
  ExpectWide<double>("Sum", {{1}, {kTiny}, {kTiny}}, {1 + 2 * kTiny});
  ExpectWide<double>("Mean", {{1}, {1 + 2 * kTiny}}, {1 + kTiny});
}

// One operand has a single element: other loops.
TEST(WideElementsTest, AreBroadcastExactly) {
  ExpectWide<int64_t>("Sub", {{kOdd, 1, 2, 3, 4, 5}, {1}}, {kOdd - 1, 0, 1, 2, 3, 4});
  ExpectWide<int64_t>("Sub", {{kOdd}, {1, 2, 3, 4, 5, 6}},
                      {kOdd - 1, kOdd - 2, kOdd - 3, kOdd - 4, kOdd - 5, kOdd - 6});
  ExpectWide<double>("Sub", {{1, 2}, {kTiny}}, {1 - kTiny, 2 - kTiny});
  ExpectWide<int64_t, bool>("LT", {{kOdd, kOdd - 1}, {kOdd}}, {false, true});
  ExpectWide<int64_t, bool>("LT", {{kOdd}, {kOdd, kOdd + 1}}, {false, true});
  // A column and rows: each row of A has its own element.
  Workspace ws;
  Feed<int64_t>(&ws, "A", {3, 1}, {kOdd, 20, 30});
  Feed<int64_t>(&ws, "B", {3, 2}, {1, 2, 3, 4, 5, 6});
  RunOp(&ws, "type: 'Sub' input: 'A' input: 'B' output: 'Y' device_option {}");
  ExpectTensor<int64_t>(ws, "Y", {3, 2}, {kOdd - 1, kOdd - 2, 17, 16, 25, 24});
  RunOp(&ws, "type: 'Sub' input: 'B' input: 'A' output: 'Y' device_option {}");
  ExpectTensor<int64_t>(ws, "Y", {3, 2}, {1 - kOdd, 2 - kOdd, -17, -16, -25, -24});
}

TEST(WideElementsTest, AreComparedExactly) {
  const std::vector<std::vector<int64_t>> wide = {{kOdd - 1, kOdd, kOdd}, {kOdd, kOdd, kOdd - 1}};
  const std::vector<std::vector<double>> fine = {{1, 1 + kTiny, 1 + kTiny},
                                                 {1 + kTiny, 1 + kTiny, 1}};
  const struct {
    const char* type;
    std::vector<bool> want;
  } rows[] = {
      {"LT", {true, false, false}}, {"LE", {true, true, false}},  {"GT", {false, false, true}},
      {"GE", {false, true, true}},  {"EQ", {false, true, false}}, {"NE", {true, false, true}},
  };
  for (const auto& row : rows) {
    ExpectWide<int64_t, bool>(row.type, wide, row.want);
    ExpectWide<double, bool>(row.type, fine, row.want);
  }
  // NaN is unequal to everything, and in no order.
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& row : rows) {
    const bool want = std::string(row.type) == "NE";
    ExpectWide<double, bool>(row.type, {{nan, 1, nan}, {1, nan, nan}}, {want, want, want});
  }
  ExpectWide<int64_t>("BitwiseAnd", {{kOdd, -1}, {kOdd - 1, kLow}}, {kOdd - 1, kLow});
  ExpectWide<int64_t>("BitwiseOr", {{kOdd - 1, kLow}, {1, kHigh}}, {kOdd, -1});
  ExpectWide<int64_t>("BitwiseXor", {{kOdd, -1}, {1, kLow}}, {kOdd - 1, kHigh});
  ExpectWide<int64_t>("BitwiseNot", {{kOdd, kLow}}, {-kOdd - 1, kHigh});
}

TEST(WideElementsTest, KeepTheirDigitsInFunctions) {
  ExpectWide<int64_t>("Negative", {{kOdd, kLow}}, {-kOdd, kLow});
  ExpectWide<int64_t>("ONNXAbs", {{-kOdd, kLow, kOdd}}, {kOdd, kLow, kOdd});
  ExpectWide<int64_t>("Sign", {{-kOdd, kHigh}}, {-1, 1});
  ExpectWide<double>("Sign", {{0x1p-1074, -0x1p-1074, 0}}, {1, -1, 0});
  // (2^21 + 1)^3 = 2^63 + 3 * 2^42 + 3 * 2^21 + 1.
  ExpectWide<int64_t>("Cube", {{(int64_t{1} << 21) + 1, 208063}},
                      {kLow + 3 * (int64_t{1} << 42) + 3 * (int64_t{1} << 21) + 1,
                       208063 * int64_t{208063} * 208063});
  ExpectWide<double>("Cube", {{1 + kTiny}}, {1 + 3 * kTiny}, 1e-15);
  ExpectWide<int64_t>("Mod arg { name: 'divisor' i: 2 }", {{kOdd, -kOdd}}, {1, -1});
  ExpectWide<int64_t>("Mod arg { name: 'divisor' i: 9007199254740993 }", {{kOdd, kOdd - 1}},
                      {0, kOdd - 1});
  ExpectWide<int32_t>(
      "Mod arg { name: 'divisor' i: 9007199254740993 } "
      "arg { name: 'sign_follow_divisor' i: 1 }",
      {{5}}, {5});
  ExpectWide<double>("Negative", {{1 + kTiny}}, {-1 - kTiny});
  ExpectWide<double>("ReplaceNaN", {{1 + kTiny}}, {1 + kTiny});
  ExpectWide<double>("Scale arg { name: 'scale' f: 0.5 }", {{1 + kTiny}}, {0.5 + kTiny / 2});
  ExpectWide<double>("Sqrt", {{2}}, {std::sqrt(2.0)});
  ExpectWide<double>("Round", {{0x1p51 + 0.5, 0x1p51 + 1.5, -0.5 - kTiny}},
                     {0x1p51, 0x1p51 + 2, -1});
  ExpectWide<double>("ONNXFloor", {{1 - kTiny, -kTiny}}, {0, -1});
  ExpectWide<double>("ONNXCeil", {{1 + kTiny, kTiny}}, {2, 1});
  ExpectWide<double>("ONNXExp", {{1, 700}}, {2.718281828459045, std::exp(700.0)}, 1e-15);
  ExpectWide<double>("ONNXLog", {{2, 1e300}}, {0.6931471805599453, 690.7755278982137}, 1e-15);
  ExpectWide<double>("ONNXAbs", {{-1 - kTiny}}, {1 + kTiny});
  ExpectWide<double, bool>("IsInf", {{1e300, -1e300}}, {false, false});
  ExpectWide<double, uint8_t>("IsNaN", {{1e300}}, {0});
}

TEST(WideElementsTest, AreCastWithoutADetour) {
  const auto cast = [](const char* to) {
    return std::string("Cast arg { name: 'to' s: '") + to + "' }";
  };
  ExpectWide<int64_t, std::string>(cast("string"), {{kOdd, kLow}},
                                   {"9007199254740993", "-9223372036854775808"});
  ExpectWide<uint16_t, std::string>(cast("string"), {{65535}}, {"65535"});
  ExpectWide<double, std::string>(cast("string"), {{1e15 + 0.5}}, {"1000000000000000.500000"});
  ExpectWide<int64_t>(cast("int64"), {{kOdd}}, {kOdd});
  ExpectWide<int64_t, uint64_t>(cast("uint64"), {{kOdd, -1}}, {kOdd, UINT64_MAX});
  ExpectWide<uint64_t, int64_t>(cast("int64"), {{kOdd, UINT64_MAX}}, {kOdd, -1});
  ExpectWide<uint32_t, int64_t>(cast("int64"), {{UINT32_MAX}}, {4294967295});
  ExpectWide<int64_t, uint32_t>(cast("uint32"), {{kOdd}}, {1});
  ExpectWide<int32_t, uint64_t>(cast("uint64"), {{-2}}, {UINT64_MAX - 1});
  ExpectWide<double>(cast("double"), {{1 + kTiny}}, {1 + kTiny});
  ExpectWide<uint32_t, double>(cast("double"), {{UINT32_MAX}}, {4294967295.0});
  ExpectWide<int32_t, double>(cast("double"), {{2147483647}}, {2147483647.0});
  ExpectWide<double, bool>(cast("bool"), {{0x1p-1074, 1e-300, 0}}, {true, true, false});
}

TEST(WideElementsTest, AreCheckedAsDoubles) {
  Workspace ws;
  Feed<double>(&ws, "X", {6}, {1, 1e300, -1e300, 2, 3, 4});
  RunOp(&ws, "type: 'EnforceFinite' input: 'X' device_option {}");
  Feed<double>(&ws, "X", {6}, {1, 2, 3, 4, 5, std::numeric_limits<double>::infinity()});
  test::ExpectThrows([&] { RunOp(&ws, "type: 'EnforceFinite' input: 'X' device_option {}"); },
                     "inf");
}

// Gradients of a broadcast add up elements.
TEST(WideElementsTest, HaveExactGradients) {
  Workspace ws;
  const auto run = [&](const std::string& op) { RunOp(&ws, op + " device_option {}"); };
  Feed<double>(&ws, "dY", {2, 2}, {1, 2, kTiny, 2 * kTiny});
  Feed<double>(&ws, "A", {2, 2}, {1, 1, 1, 1});
  Feed<double>(&ws, "B", {2}, {1 + kTiny, 3});
  run("type: 'AddGradient' input: 'dY' input: 'A' input: 'B' output: 'dA' output: 'dB'");
  ExpectTensor<double>(ws, "dA", {2, 2}, {1, 2, kTiny, 2 * kTiny});
  ExpectTensor<double>(ws, "dB", {2}, {1 + kTiny, 2 + 2 * kTiny});
  run("type: 'SubGradient' input: 'dY' input: 'A' input: 'B' output: 'dA' output: 'dB'");
  ExpectTensor<double>(ws, "dB", {2}, {-1 - kTiny, -2 - 2 * kTiny});
  run("type: 'MulGradient' input: 'dY' input: 'A' input: 'B' output: 'dA' output: 'dB'");
  ExpectTensor<double>(ws, "dA", {2, 2}, {1 + kTiny, 6, kTiny + kTiny * kTiny, 6 * kTiny});
  ExpectTensor<double>(ws, "dB", {2}, {1 + kTiny, 2 + 2 * kTiny});
  Feed<int64_t>(&ws, "dY", {2, 2}, {kOdd - 1, 7, 1, -7});
  Feed<int64_t>(&ws, "A", {2, 2}, {1, kOdd, 1, 2});
  Feed<int64_t>(&ws, "B", {2}, {1, 3});
  run("type: 'AddGradient' input: 'dY' input: 'A' input: 'B' output: 'dA' output: 'dB'");
  ExpectTensor<int64_t>(ws, "dB", {2}, {kOdd, 0});
  run("type: 'MulGradient' input: 'dY' input: 'A' input: 'B' output: 'dA' output: 'dB'");
  ExpectTensor<int64_t>(ws, "dA", {2, 2}, {kOdd - 1, 21, 1, -21});
  ExpectTensor<int64_t>(ws, "dB", {2}, {kOdd, 7 * kOdd - 14});
  Feed<double>(&ws, "dY", {3}, {2, 2 + 2 * kTiny, 6});
  run("type: 'MeanGradient' input: 'dY' output: 'dA' output: 'dB'");
  for (const char* out : {"dA", "dB"}) ExpectTensor<double>(ws, out, {3}, {1, 1 + kTiny, 3});
  Feed<int64_t>(&ws, "dY", {1}, {1});
  Feed<int64_t>(&ws, "X", {1}, {(int64_t{1} << 27) + 1});
  run("type: 'CubeGradient' input: 'dY' input: 'X' output: 'dA'");
  // 3 (2^27 + 1)^2 = 3 (2^54 + 2^28 + 1)
  ExpectTensor<int64_t>(ws, "dA", {1}, {3 * ((int64_t{1} << 54) + (int64_t{1} << 28) + 1)});
}

}  // namespace
}  // namespace caffe2rt::wide_elements_test
