// Operators that select, on numbers that a detour through a narrower type would make equal, on strings,
// and on second runs with other shapes. Expected values are by hand.

#include <limits>
#include <memory>

#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::wide_choices_test {
namespace {

using test::ExpectTensor;
using test::Feed;
using test::RunOp;

constexpr int64_t kOdd = (int64_t{1} << 53) + 1;  // no double
constexpr uint64_t kTop = std::numeric_limits<uint64_t>::max();
constexpr double kTiny = 0x1p-40;  // 1 + kTiny is no float

std::string OnCpu(const std::string& op) { return op + " device_option {}"; }

template <class T>
void ExpectBest(const std::string& args, const std::vector<T>& x, const std::vector<T>& values,
                const std::vector<int64_t>& places) {
  SCOPED_TRACE(args);
  Workspace ws;
  Feed<T>(&ws, "X", {static_cast<int64_t>(x.size())}, x);
  RunOp(&ws, OnCpu("type: 'ONNXTopK' input: 'X' output: 'Y' output: 'I' " + args));
  const std::vector<int64_t> dims = {static_cast<int64_t>(values.size())};
  ExpectTensor<T>(ws, "Y", dims, values);
  ExpectTensor<int64_t>(ws, "I", dims, places);
}

TEST(WideChoicesTest, OrderNumbersExactly) {
  const std::string two = "arg { name: 'k' i: 2 }", least = two + " arg { name: 'largest' i: 0 }";
  ExpectBest<int64_t>(two, {kOdd - 1, kOdd, -kOdd}, {kOdd, kOdd - 1}, {1, 0});
  ExpectBest<int64_t>(least, {-kOdd, -kOdd - 1, 0}, {-kOdd - 1, -kOdd}, {1, 0});
  ExpectBest<uint64_t>(two, {1, kTop, kTop - 1}, {kTop, kTop - 1}, {1, 2});
  ExpectBest<uint64_t>(least, {kTop, 1, kTop - 1}, {1, kTop - 1}, {1, 2});
  ExpectBest<uint32_t>(two, {1, UINT32_MAX, 2}, {UINT32_MAX, 2}, {1, 2});
  ExpectBest<uint16_t>(two, {65535, 1, 32768}, {65535, 32768}, {0, 2});
  ExpectBest<uint8_t>(least, {255, 1, 128}, {1, 128}, {1, 2});
  ExpectBest<int8_t>(two, {-1, 1, -128}, {1, -1}, {1, 0});
  ExpectBest<int32_t>(two, {-1, 2147483647, -2147483647}, {2147483647, -1}, {1, 0});
  ExpectBest<double>(two, {1, 1 + kTiny, 1 - kTiny}, {1 + kTiny, 1}, {1, 0});
  ExpectBest<double>(least, {1, 1 + kTiny, 1 - kTiny}, {1 - kTiny, 1}, {2, 0});
  ExpectBest<int64_t>("arg { name: 'k' i: 0 }", {3, 4}, {}, {});
  ExpectBest<int64_t>("arg { name: 'k' i: 3 }", {3, 5, 4}, {5, 4, 3}, {1, 2, 0});
}

// More than 16 of more elements are found by another algorithm than a few or all; equal ones keep their order.
TEST(WideChoicesTest, KeepTheOrderOfEqualElements) {
  std::vector<int64_t> x(60);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int64_t>(i * 7 % 6);
  // Value v is at the places i with 7 i = i = v modulo 6: v, v + 6, v + 12, ...; ten of each.
  for (const int64_t k : {1, 10, 15, 16, 17, 18, 25, 59, 60}) {
    std::vector<int64_t> most, most_places, least, least_places;
    for (int64_t rank = 0; rank < k; ++rank) {
      most.push_back(5 - rank / 10);
      most_places.push_back(5 - rank / 10 + rank % 10 * 6);
      least.push_back(rank / 10);
      least_places.push_back(rank / 10 + rank % 10 * 6);
    }
    const std::string args = "arg { name: 'k' i: " + std::to_string(k) + " }";
    ExpectBest<int64_t>(args, x, most, most_places);
    ExpectBest<int64_t>(args + " arg { name: 'largest' i: 0 }", x, least, least_places);
  }
}

TEST(WideChoicesTest, FindTheLargestExactly) {
  Workspace ws;
  const auto expect = [&](const char* type, int64_t want) {
    SCOPED_TRACE(type);
    RunOp(&ws, OnCpu(std::string("type: '") + type + "' input: 'X' output: 'I'"));
    ExpectTensor<int64_t>(ws, "I", {1}, {want});
  };
  Feed<int64_t>(&ws, "X", {3}, {kOdd - 1, kOdd, kOdd - 1});
  expect("ArgMax", 1);
  Feed<int64_t>(&ws, "X", {3}, {kOdd, kOdd - 1, kOdd});
  expect("ArgMin", 1);
  Feed<double>(&ws, "X", {3}, {1, 1 + kTiny, 1});
  expect("ArgMax", 1);
  Feed<double>(&ws, "X", {3}, {1, 1 - kTiny, 1});
  expect("ArgMin", 1);
}

TEST(WideChoicesTest, TellNumbersApart) {
  Workspace ws;
  const std::string unique =
      OnCpu("type: 'ONNXUnique' input: 'X' output: 'Y' output: 'I' output: 'V' output: 'N'");
  Feed<int64_t>(&ws, "X", {4}, {kOdd, kOdd - 1, kOdd, kOdd + 1});
  RunOp(&ws, unique);
  ExpectTensor<int64_t>(ws, "Y", {3}, {kOdd - 1, kOdd, kOdd + 1});
  ExpectTensor<int64_t>(ws, "I", {3}, {1, 0, 3});
  ExpectTensor<int64_t>(ws, "V", {4}, {1, 0, 1, 2});
  ExpectTensor<int64_t>(ws, "N", {3}, {1, 2, 1});
  RunOp(&ws, OnCpu("type: 'ONNXUnique' input: 'X' output: 'Y' output: 'I' output: 'V' "
                   "output: 'N' arg { name: 'sorted' i: 0 }"));
  ExpectTensor<int64_t>(ws, "Y", {3}, {kOdd, kOdd - 1, kOdd + 1});
  ExpectTensor<int64_t>(ws, "I", {3}, {0, 1, 3});
  ExpectTensor<int64_t>(ws, "V", {4}, {0, 1, 0, 2});
  ExpectTensor<int64_t>(ws, "N", {3}, {2, 1, 1});
  Feed<double>(&ws, "X", {3}, {1 + kTiny, 1, 1 + kTiny});
  RunOp(&ws, unique);
  ExpectTensor<double>(ws, "Y", {2}, {1, 1 + kTiny});
  // Columns that differ in their last element alone.
  Feed<int32_t>(&ws, "X", {2, 3}, {1, 1, 1, 5, 4, 5});
  RunOp(&ws, OnCpu("type: 'ONNXUnique' input: 'X' output: 'Y' output: 'I' output: 'V' "
                   "output: 'N' arg { name: 'axis' i: -1 }"));
  ExpectTensor<int32_t>(ws, "Y", {2, 2}, {1, 1, 4, 5});
  ExpectTensor<int64_t>(ws, "I", {2}, {1, 0});
  ExpectTensor<int64_t>(ws, "V", {3}, {1, 0, 1});
  ExpectTensor<int64_t>(ws, "N", {2}, {1, 2});
  const std::string twice = OnCpu("type: 'FindDuplicateElements' input: 'X' output: 'Y'");
  Feed<int64_t>(&ws, "X", {4}, {kOdd, kOdd - 1, kOdd, kOdd});
  RunOp(&ws, twice);
  ExpectTensor<int64_t>(ws, "Y", {2}, {2, 3});
  Feed<double>(&ws, "X", {3}, {1, 1 + kTiny, 1});
  RunOp(&ws, twice);
  ExpectTensor<int64_t>(ws, "Y", {1}, {2});
  Feed<std::string>(&ws, "X", {4}, {"a", "A", "", ""});
  RunOp(&ws, twice);
  ExpectTensor<int64_t>(ws, "Y", {1}, {3});
}

TEST(WideChoicesTest, FindWhatIsNotZero) {
  Workspace ws;
  const std::string op = OnCpu("type: 'NonZero' input: 'X' output: 'Y'");
  Feed<double>(&ws, "X", {4}, {0, 0x1p-1074, -0.0, std::numeric_limits<double>::quiet_NaN()});
  RunOp(&ws, op);
  ExpectTensor<int64_t>(ws, "Y", {1, 2}, {1, 3});
  Feed<int64_t>(&ws, "X", {2, 2}, {int64_t{1} << 32, 0, 0, std::numeric_limits<int64_t>::min()});
  RunOp(&ws, op);
  ExpectTensor<int64_t>(ws, "Y", {2, 2}, {0, 1, 0, 1});
  Feed<float16>(&ws, "X", {3}, {float16(-0.0f), float16(0x1p-24f), float16(-1.0f)});
  RunOp(&ws, op);
  ExpectTensor<int64_t>(ws, "Y", {1, 2}, {1, 2});
  Feed<uint16_t>(&ws, "X", {2}, {256, 0});
  RunOp(&ws, op);
  ExpectTensor<int64_t>(ws, "Y", {1, 1}, {0});
}

// An index that is no whole number, or is beyond the depth at either end, sets nothing.
TEST(WideChoicesTest, EncodeWholeNumbersInRange) {
  Workspace ws;
  const std::string op = OnCpu("type: 'ONNXOneHot' input: 'I' input: 'D' input: 'V' output: 'Y'");
  Feed<int32_t>(&ws, "D", {}, {3});
  Feed<int64_t>(&ws, "V", {2}, {kOdd, -kOdd});
  Feed<int64_t>(&ws, "I", {5}, {-3, -4, 2, 3, int64_t{1} << 32});
  RunOp(&ws, op);
  ExpectTensor<int64_t>(
      ws, "Y", {5, 3},
      {-kOdd, kOdd, kOdd, kOdd, kOdd, kOdd, kOdd, kOdd, -kOdd, kOdd, kOdd, kOdd, kOdd, kOdd, kOdd});
  // The new dimension before, between and behind.
  Feed<uint8_t>(&ws, "I", {2, 1}, {2, 0});
  Feed<float>(&ws, "D", {1}, {3});
  Feed<double>(&ws, "V", {2}, {0, 1 + kTiny});
  for (const int axis : {0, -3}) {
    RunOp(&ws, op + " arg { name: 'axis' i: " + std::to_string(axis) + " }");
    ExpectTensor<double>(ws, "Y", {3, 2, 1}, {0, 1 + kTiny, 0, 0, 1 + kTiny, 0});
  }
  for (const int axis : {1, -2}) {
    RunOp(&ws, op + " arg { name: 'axis' i: " + std::to_string(axis) + " }");
    ExpectTensor<double>(ws, "Y", {2, 3, 1}, {0, 0, 1 + kTiny, 1 + kTiny, 0, 0});
  }
  RunOp(&ws, op);
  ExpectTensor<double>(ws, "Y", {2, 1, 3}, {0, 0, 1 + kTiny, 1 + kTiny, 0, 0});
}

// A second run clears what the first one left in the same memory, also where fewer rows come.
TEST(WideChoicesTest, ClearWhatAnEarlierRunLeft) {
  Workspace ws;
  Feed<bool>(&ws, "M", {4}, {true, true, false, true});
  Feed<float>(&ws, "dY", {3, 2}, {1, 2, 3, 4, 5, 6});
  const std::unique_ptr<OperatorBase> op = CreateOperator(
      test::ParseOp("type: 'BooleanMaskGradient' input: 'M' input: 'dY' output: 'dX'"), &ws);
  op->Run();
  ExpectTensor<float>(ws, "dX", {4, 2}, {1, 2, 3, 4, 0, 0, 5, 6});
  Feed<bool>(&ws, "M", {4}, {false, false, true, false});
  Feed<float>(&ws, "dY", {1, 2}, {7, 8});
  op->Run();
  ExpectTensor<float>(ws, "dX", {4, 2}, {0, 0, 0, 0, 7, 8, 0, 0});
  Feed<bool>(&ws, "M", {4}, {false, false, false, false});
  Feed<float>(&ws, "dY", {0, 2}, {});
  op->Run();
  ExpectTensor<float>(ws, "dX", {4, 2}, {0, 0, 0, 0, 0, 0, 0, 0});
  // Counts of classes begin at 0 again.
  Feed<float>(&ws, "P", {3, 2}, {1, 0, 1, 0, 0, 1});
  Feed<int32_t>(&ws, "L", {3}, {0, 1, 1});
  const std::unique_ptr<OperatorBase> accuracy = CreateOperator(
      test::ParseOp("type: 'MultiClassAccuracy' input: 'P' input: 'L' output: 'A' output: 'N'"),
      &ws);
  for (int run = 0; run < 2; ++run) {
    accuracy->Run();
    ExpectTensor<float>(ws, "A", {2}, {1, 0.5f});
    ExpectTensor<int32_t>(ws, "N", {2}, {1, 2});
  }
}

TEST(WideChoicesTest, HashWholeNumbers) {
  Workspace ws;
  // hash = hash * 65537 + byte for the four bytes 1, 0, 0, 0 is 65537^3 modulo 2^32. The powers of
  // 2^16 above the first vanish: (1 + 2^16)^3 = 1 + 3 * 2^16 = 196609.
  Feed<int32_t>(&ws, "X", {2}, {1, 0});
  RunOp(&ws, OnCpu("type: 'IndexHash' input: 'X' output: 'Y' arg { name: 'modulo' i: 1000 }"));
  ExpectTensor<int32_t>(ws, "Y", {2}, {609, 0});
  // Eight bytes, modulo 2^64, with s = 2^16: (1 + s)^7 = 1 + 7 s + 21 s^2 + 35 s^3.
  Feed<int64_t>(&ws, "X", {1}, {1});
  RunOp(&ws, OnCpu("type: 'IndexHash' input: 'X' output: 'Y' "
                   "arg { name: 'modulo' i: 9223372036854775807 }"));
  ExpectTensor<int64_t>(
      ws, "Y", {1},
      {1 + 7 * (int64_t{1} << 16) + 21 * (int64_t{1} << 32) + 35 * (int64_t{1} << 48)});
  // The byte 255 counts as -1: -(1 + 3 * 2^16), as a remainder of 1000.
  Feed<int32_t>(&ws, "X", {1}, {255});
  RunOp(&ws, OnCpu("type: 'IndexHash' input: 'X' output: 'Y' arg { name: 'modulo' i: 1000 }"));
  ExpectTensor<int32_t>(ws, "Y", {1}, {391});
}

}  // namespace
}  // namespace caffe2rt::wide_choices_test
