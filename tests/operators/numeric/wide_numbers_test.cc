// Numbers that a detour through a narrower type would change: integers of more than 53 bits, unsigned
// ones of the upper half, and doubles between two floats. Expected values are by hand.

#include <cmath>
#include <limits>

#include "tests/support/operator_test.h"

namespace caffe2rt::wide_numbers_test {
namespace {

using test::ExpectTensor;
using test::Feed;
using test::RunOp;

constexpr int64_t kOdd = (int64_t{1} << 53) + 1;  // no double
constexpr uint64_t kTop = std::numeric_limits<uint64_t>::max();
constexpr int64_t kLow = std::numeric_limits<int64_t>::min();
constexpr double kTiny = 0x1p-40;  // 1 + kTiny is no float

// Runs `type` on vectors A, B and C, and compares Y.
template <class T, class Y = T>
void ExpectWide(const std::string& type, const std::vector<std::vector<T>>& inputs,
                const std::vector<Y>& want, const std::vector<int64_t>& dims,
                double tolerance = 0) {
  SCOPED_TRACE(type);
  Workspace ws;
  std::string op;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string name(1, static_cast<char>('A' + i));
    Feed<T>(&ws, name, {static_cast<int64_t>(inputs[i].size())}, inputs[i]);
    op += " input: '" + name + "'";
  }
  const size_t space = type.find(' ');
  RunOp(&ws, "type: '" + type.substr(0, space) + "'" + op + " output: 'Y'" +
                 (space == std::string::npos ? "" : type.substr(space)) + " device_option {}");
  ExpectTensor<Y>(ws, "Y", dims, want, tolerance);
}
template <class T, class Y = T>
void ExpectWide(const std::string& type, const std::vector<std::vector<T>>& inputs,
                const std::vector<Y>& want) {
  ExpectWide<T, Y>(type, inputs, want, {static_cast<int64_t>(want.size())});
}

TEST(WideNumbersTest, HaveExactRemainders) {
  ExpectWide<int64_t>("ONNXMod", {{kOdd, -kOdd, kLow}, {2, 2, -1}}, {1, 1, 0});
  ExpectWide<int64_t>("ONNXMod arg { name: 'fmod' i: 1 }", {{kOdd, -kOdd}, {2, 2}}, {1, -1});
  // 2^64 - 1 = 10 * 1844674407370955161 + 5; as int64 it is -1.
  ExpectWide<uint64_t>("ONNXMod", {{kTop, 7}, {10, kTop}}, {5, 7});
  ExpectWide<uint64_t>("ONNXMod arg { name: 'fmod' i: 1 }", {{kTop}, {10}}, {5});
  // 2^32 = 7 * 613566756 + 4.
  ExpectWide<uint32_t>("ONNXMod", {{UINT32_MAX, 5}, {7, UINT32_MAX}}, {3, 5});
  ExpectWide<double>("ONNXMod", {{1 + kTiny, -1 - kTiny}, {1, 1}}, {kTiny, 1 - kTiny});
}

TEST(WideNumbersTest, HaveExactPowers) {
  ExpectWide<int64_t>("ONNXPow", {{3, kOdd, 2, 2, -2, kLow}, {39, 1, 62, 64, 63, 0}},
                      {4052555153018976267, kOdd, int64_t{1} << 62, 0, kLow, 1});
  ExpectWide<uint64_t>("ONNXPow", {{3, kTop, 2}, {40, 1, 63}},
                       {12157665459056928801u, kTop, uint64_t{1} << 63});
  ExpectWide<uint32_t>("ONNXPow", {{3, UINT32_MAX, 65536}, {20, 1, 2}},
                       {3486784401u, UINT32_MAX, 0});
  // 4 ^ (1/2 + d) = 2 * 2 ^ (2 d), where 2 ^ e = 1 + e ln 2 for a small e.
  ExpectWide<double>("ONNXPow", {{4}, {0.5 + kTiny}}, {2 * (1 + 2 * kTiny * std::log(2.0))}, {1},
                     1e-15);
  ExpectWide<double>("ONNXPow", {{1 + kTiny}, {1}}, {1 + kTiny});
}

TEST(WideNumbersTest, HavePowersOfOtherTypesOfExponents) {
  const auto expect = [](auto base, auto exponent, auto want) {
    SCOPED_TRACE(want);
    Workspace ws;
    Feed<decltype(base)>(&ws, "A", {1}, {base});
    Feed<decltype(exponent)>(&ws, "B", {1}, {exponent});
    RunOp(&ws, "type: 'ONNXPow' input: 'A' input: 'B' output: 'Y'");
    ExpectTensor<decltype(base)>(ws, "Y", {1}, {want});
  };
  // 2^24 + 1 is odd; the nearest float is even.
  expect(-1.0f, 16777217.0, -1.0f);
  expect(-1.0f, int32_t{16777217}, -1.0f);
  expect(-1.0, kOdd, 1.0);  // as a double it is even
  expect(-1.0, uint32_t{16777217}, -1.0);
  // An integer's power by a float is cut to its range.
  expect(int64_t{2}, 62.0f, int64_t{1} << 62);
  expect(int64_t{2}, 63.0, std::numeric_limits<int64_t>::max());
  expect(int64_t{-2}, 65.0, kLow);
  expect(int32_t{46341}, 2.0f, std::numeric_limits<int32_t>::max());
  expect(int32_t{-46341}, 3.0, std::numeric_limits<int32_t>::min());
  expect(int32_t{46341}, int64_t{2}, int32_t{-2147479015});  // 2147488281 - 2^32
  expect(uint8_t{2}, -1.0f, uint8_t{0});
  expect(uint8_t{2}, 9.0f, uint8_t{255});
  expect(uint8_t{2}, int8_t{9}, uint8_t{0});
  expect(int32_t{-8}, 0.5, int32_t{0});  // NaN
}

TEST(WideNumbersTest, AddUpExactly) {
  for (const bool of_int32 : {false, true}) {
    SCOPED_TRACE(of_int32);
    Workspace ws;
    Feed<int64_t>(&ws, "A", {3}, {kOdd - 1, 1, 1});
    Feed<int64_t>(&ws, "M", {2}, {kOdd, 3});
    Feed<double>(&ws, "D", {2}, {1, kTiny});
    if (of_int32) {
      Feed<int32_t>(&ws, "axis", {}, {0});
    } else {
      Feed<int64_t>(&ws, "axis", {1}, {-1});
    }
    const auto run = [&](const std::string& type, const std::string& input) {
      RunOp(&ws, "type: '" + type + "' input: '" + input + "' input: 'axis' output: 'Y'");
    };
    run("CumSum", "A");
    ExpectTensor<int64_t>(ws, "Y", {3}, {kOdd - 1, kOdd, kOdd + 1});
    run("CumProd", "M");
    ExpectTensor<int64_t>(ws, "Y", {2}, {kOdd, 3 * kOdd});
    run("CumSum", "D");
    ExpectTensor<double>(ws, "Y", {2}, {1, 1 + kTiny});
    run("CumProd", "D");
    ExpectTensor<double>(ws, "Y", {2}, {1, kTiny});
  }
}

TEST(WideNumbersTest, AreComparedExactly) {
  ExpectWide<int64_t>("ONNXClip", {{kOdd + 1, kOdd - 1, -kOdd}, {-kOdd + 1}, {kOdd}},
                      {kOdd, kOdd - 1, -kOdd + 1}, {3});
  ExpectWide<uint64_t>("ONNXClip", {{kTop, 7, 0}, {5}, {kTop - 1}}, {kTop - 1, 7, 5}, {3});
  ExpectWide<uint32_t>("ONNXClip", {{UINT32_MAX, 7}, {5}, {4000000000u}}, {4000000000u, 7}, {2});
  ExpectWide<double>("ONNXClip", {{1, 2}, {1 + kTiny}, {1 + 2 * kTiny}}, {1 + kTiny, 1 + 2 * kTiny},
                     {2});
  ExpectWide<int64_t>("ONNXMax", {{kOdd, kOdd - 1}, {kOdd - 1, kOdd}}, {kOdd, kOdd});
  ExpectWide<int64_t>("ONNXMin", {{kOdd, kOdd - 1}, {kOdd - 1, kOdd}}, {kOdd - 1, kOdd - 1});
  ExpectWide<uint64_t>("ONNXMax", {{kTop, 1}, {1, kTop}}, {kTop, kTop});
  ExpectWide<uint64_t>("ONNXMin", {{kTop, 1}, {1, kTop}}, {1, 1});
  ExpectWide<uint32_t>("ONNXMax", {{UINT32_MAX, 1}, {1, UINT32_MAX}}, {UINT32_MAX, UINT32_MAX});
  ExpectWide<double>("ONNXMax", {{1, 1}, {1 + kTiny, 1 - kTiny}}, {1 + kTiny, 1});
  ExpectWide<double>("ONNXMin", {{1, 1}, {1 + kTiny, 1 - kTiny}}, {1, 1 - kTiny});
  ExpectWide<int64_t, int64_t>("ONNXArgMax", {{kOdd - 1, kOdd}}, {1});
  ExpectWide<int64_t, int64_t>("ONNXArgMin", {{kOdd, kOdd - 1}}, {1});
  ExpectWide<uint64_t, int64_t>("ONNXArgMax", {{1, kTop, 2}}, {1});
  ExpectWide<uint64_t, int64_t>("ONNXArgMin", {{kTop, 1, 2}}, {1});
  ExpectWide<double, int64_t>("ONNXArgMax", {{1, 1 + kTiny}}, {1});
  ExpectWide<double, int64_t>("ONNXArgMin", {{1, 1 - kTiny}}, {1});
  ExpectWide<double>("Hardmax", {{1, 1 + kTiny}}, {0, 1});
  ExpectWide<uint64_t>("BitShift arg { name: 'direction' s: 'LEFT' }", {{1, kTop, 3}, {63, 1, 64}},
                       {uint64_t{1} << 63, kTop - 1, 0});
  ExpectWide<uint64_t>("BitShift arg { name: 'direction' s: 'RIGHT' }",
                       {{kTop, kTop, kTop}, {63, 1, 64}}, {1, kTop >> 1, 0});
  ExpectWide<int64_t>("BitShift arg { name: 'direction' s: 'RIGHT' }",
                      {{kLow, kLow, -1, 5}, {62, 64, -1, -1}}, {-2, -1, -1, 0});
  ExpectWide<int64_t>("BitShift arg { name: 'direction' s: 'LEFT' }", {{1, 1, -1}, {63, 64, 62}},
                      {kLow, 0, kLow / 2});
}

// Sums of products: of 1-D operands, and of four terms, for which Einsum multiplies matrices.
TEST(WideNumbersTest, HaveExactProductsOfMatrices) {
  ExpectWide<int64_t>("ONNXMatMul", {{kOdd - 1, 1}, {1, 1}}, {kOdd}, {});
  ExpectWide<uint64_t>("ONNXMatMul", {{kTop, 2}, {1, 1}}, {1}, {});
  ExpectWide<uint32_t>("ONNXMatMul", {{UINT32_MAX, 3}, {1, 1}}, {2}, {});
  ExpectWide<double>("ONNXMatMul", {{1, kTiny}, {1, 1}}, {1 + kTiny}, {});
  const std::string dot = "Einsum arg { name: 'equation' s: 'i,i->' }";
  ExpectWide<int64_t>(dot, {{kOdd, 2}, {1, 1}}, {kOdd + 2}, {});
  ExpectWide<int64_t>(dot, {{kOdd - 1, 1, 1, 1}, {1, 1, 1, 1}}, {kOdd + 2}, {});
  ExpectWide<int32_t>(dot, {{65536, 1, 1, 1}, {65536, 1, 1, 1}}, {3}, {});
  ExpectWide<double>(dot, {{1, kTiny}, {1, 1}}, {1 + kTiny}, {});
  ExpectWide<double>(dot, {{1, kTiny, 0, 0}, {1, 1, 1, 1}}, {1 + kTiny}, {});
  Workspace ws;
  Feed<double>(&ws, "A", {2, 2}, {1, 1, 1, 1 + kTiny});
  RunOp(&ws, "type: 'Det' input: 'A' output: 'Y'");
  ExpectTensor<double>(ws, "Y", {}, {kTiny});
  // A pivot of the third row, and one that is 0.
  Feed<double>(&ws, "A", {2, 3, 3}, {0, 2, 1, 1, 0, 0, 4, 0, 3, 1, 2, 3, 0, 0, 5, 0, 0, 7});
  RunOp(&ws, "type: 'Det' input: 'A' output: 'Y'");
  ExpectTensor<double>(ws, "Y", {2}, {-6, 0}, 1e-12);
}

TEST(WideNumbersTest, PassThroughDropout) {
  Workspace ws;
  Feed<double>(&ws, "X", {2}, {1 + kTiny, -kTiny});
  Feed<double>(&ws, "ratio", {}, {0});
  Feed<bool>(&ws, "training", {}, {true});
  RunOp(&ws,
        "type: 'ONNXDropout' input: 'X' input: 'ratio' input: 'training' output: 'Y' output: 'M'");
  ExpectTensor<double>(ws, "Y", {2}, {1 + kTiny, -kTiny});
  ExpectTensor<bool>(ws, "M", {2}, {true, true});
  // Without a ratio, half of the elements stay, twice as large.
  Feed<double>(&ws, "X", {400}, std::vector<double>(400, 1 + kTiny));
  RunOp(&ws,
        "type: 'ONNXDropout' input: 'X' input: 'training' output: 'Y' output: 'M' "
        "arg { name: 'omitted_inputs' ints: 1 }");
  int kept = 0;
  const std::vector<double> y = test::Fetch<double>(ws, "Y");
  for (size_t i = 0; i < y.size(); ++i) {
    EXPECT_TRUE(y[i] == 0 || y[i] == 2 + 2 * kTiny) << y[i];
    EXPECT_EQ(ws.GetBlob("M")->Get<Tensor>().data<bool>()[i], y[i] != 0);
    kept += y[i] != 0;
  }
  EXPECT_NEAR(kept, 200, 70);  // seven standard deviations
}

}  // namespace
}  // namespace caffe2rt::wide_numbers_test
