// Reductions of numbers that a detour through a narrower type would change, of NaN and infinities, and
// the dimensions that they keep. Expected values are by hand.

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::wide_reductions_test {
namespace {

using test::ExpectTensor;
using test::Feed;
using test::RunOp;

constexpr int64_t kOdd = (int64_t{1} << 53) + 1;  // no double
constexpr int64_t kLow = std::numeric_limits<int64_t>::min();
constexpr int64_t kHigh = std::numeric_limits<int64_t>::max();
constexpr double kTiny = 0x1p-40;  // 1 + kTiny is no float
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Reduces `values`, of shape `dims`, on the CPU.
template <class T>
void ExpectReduced(const std::string& op, const std::vector<int64_t>& dims,
                   const std::vector<T>& values, const std::vector<int64_t>& want_dims,
                   const std::vector<T>& want, double tolerance = 0) {
  SCOPED_TRACE(op);
  Workspace ws;
  Feed<T>(&ws, "X", dims, values);
  const size_t space = op.find(' ');
  RunOp(&ws, "type: '" + op.substr(0, space) + "' input: 'X' output: 'Y'" +
                 (space == std::string::npos ? "" : op.substr(space)) + " device_option {}");
  ExpectTensor<T>(ws, "Y", want_dims, want, tolerance);
}
// Reduces all elements to a scalar. The argument of ONNX's operators admits further types.
template <class T>
void ExpectWhole(const std::string& op, const std::vector<T>& values, T want,
                 double tolerance = 0) {
  ExpectReduced<T>(op + " arg { name: 'keepdims' i: 0 } arg { name: 'noop_with_empty_axes' i: 0 }",
                   {static_cast<int64_t>(values.size())}, values, {}, {want}, tolerance);
}

TEST(WideReductionsTest, OfLongIntegersAreExact) {
  ExpectWhole<int64_t>("ReduceSum", {kOdd, 1, 1}, kOdd + 2);
  ExpectWhole<int64_t>("ReduceSum", {kHigh, 1}, kLow);
  ExpectWhole<int64_t>("ReduceMean", {kOdd, kOdd}, kOdd);
  ExpectWhole<int64_t>("ReduceMean", {-3, -4}, -3);
  ExpectWhole<int64_t>("ReduceMax", {kOdd - 1, kOdd, kLow}, kOdd);
  ExpectWhole<int64_t>("ReduceMax", {kLow, kLow + 1}, kLow + 1);
  ExpectWhole<int64_t>("ReduceMin", {kOdd, kOdd - 1, kHigh}, kOdd - 1);
  ExpectWhole<int64_t>("ReduceMin", {kHigh, kHigh - 1}, kHigh - 1);
  ExpectWhole<int64_t>("ReduceL1", {-kOdd, 1}, kOdd + 1);
  ExpectWhole<int64_t>("ReduceProd", {kOdd, -3}, -3 * kOdd);
  ExpectWhole<int64_t>("ReduceProd", {int64_t{1} << 62, 2}, kLow);
  // 94906267^2 = 9007199515875289, which is odd and above 2^53.
  ExpectWhole<int64_t>("ReduceSumSquare", {94906267, -1}, 9007199515875290);
  ExpectWhole<int64_t>("ReduceL2", {3, -4}, 5);
  ExpectWhole<int64_t>("ReduceL2", {1, 1}, 1);  // the root is cut off
  ExpectWhole<int64_t>("ReduceLogSum", {7, 1}, 2);
  ExpectWhole<int64_t>("ReduceLogSum", {1, -2}, 0);  // NaN
  ExpectWhole<int64_t>("ReduceLogSum", {1, -1}, kLow);
  ExpectWhole<int64_t>("ReduceLogSumExp", {100, 100}, 100);
  ExpectWhole<int32_t>("ReduceSum", {2147483647, 1}, std::numeric_limits<int32_t>::min());
  ExpectWhole<int32_t>("ReduceMean", {2147483647, 2147483645}, 2147483646);
  ExpectWhole<int32_t>("ReduceMean", {-2147483647, -2}, -1073741824);
  ExpectReduced<int64_t>("ReduceFrontSum", {2, 2}, {kOdd - 1, 5, 1, -7}, {2}, {kOdd, -2});
  ExpectReduced<int64_t>("ReduceBackSum", {2, 2}, {kOdd - 1, 1, 5, -7}, {2}, {kOdd, -2});
  ExpectReduced<int64_t>("ReduceFrontMean", {2, 1}, {kOdd, kOdd}, {1}, {kOdd});
  ExpectReduced<int64_t>("ReduceBackMean", {1, 2}, {kOdd, kOdd - 4}, {1}, {kOdd - 2});
}

// 2^63 and 2^31 are the first numbers above the ranges.
TEST(WideReductionsTest, StayInTheRangeOfTheirIntegers) {
  constexpr int32_t kLow32 = std::numeric_limits<int32_t>::min();
  constexpr int32_t kHigh32 = std::numeric_limits<int32_t>::max();
  ExpectWhole<int64_t>("ReduceL2", {kLow}, kHigh);
  ExpectWhole<int64_t>("ReduceL2", {kLow, kLow, 3}, kHigh);
  ExpectWhole<int64_t>("ReduceL2", {int64_t{3} << 60, int64_t{4} << 60}, int64_t{5} << 60);
  ExpectWhole<int64_t>("ReduceLogSumExp", {kHigh}, kHigh);
  ExpectWhole<int64_t>("ReduceLogSumExp", {kLow}, kLow);
  ExpectWhole<int64_t>("ReduceLogSumExp", {kLow, 5}, 5);
  ExpectWhole<int32_t>("ReduceL2", {kLow32}, kHigh32);
  ExpectWhole<int32_t>("ReduceL2", {kHigh32}, kHigh32);
  ExpectWhole<int32_t>("ReduceL2", {kHigh32, 1000}, kHigh32);
  ExpectWhole<int32_t>("ReduceL2", {kHigh32 - 1}, kHigh32 - 1);
  ExpectWhole<int32_t>("ReduceLogSumExp", {kHigh32, kHigh32}, kHigh32);
  ExpectWhole<int32_t>("ReduceLogSumExp", {kLow32}, kLow32);
  ExpectWhole<int32_t>("ReduceLogSumExp", {kLow32 + 1}, kLow32 + 1);
}

TEST(WideReductionsTest, OfDoublesAreExact) {
  ExpectWhole<double>("ReduceSum", {1, kTiny, kTiny}, 1 + 2 * kTiny);
  ExpectWhole<double>("ReduceMean", {1, 1 + 2 * kTiny}, 1 + kTiny);
  ExpectWhole<double>("ReduceMax", {1, 1 + kTiny}, 1 + kTiny);
  ExpectWhole<double>("ReduceMin", {1, 1 - kTiny}, 1 - kTiny);
  ExpectWhole<double>("ReduceL1", {-1, kTiny}, 1 + kTiny);
  ExpectWhole<double>("ReduceL2", {1, 1}, std::sqrt(2.0));
  ExpectWhole<double>("ReduceProd", {1 + kTiny, -1}, -1 - kTiny);
  ExpectWhole<double>("ReduceSumSquare", {0x1p-20, -1}, 1 + kTiny);
  ExpectWhole<double>("ReduceLogSum", {1, 1}, 0.6931471805599453, 1e-15);
  ExpectWhole<double>("ReduceLogSumExp", {-1000, -1000}, -1000 + 0.6931471805599453, 1e-15);
  ExpectReduced<double>("ReduceFrontSum", {2, 1}, {1, kTiny}, {1}, {1 + kTiny});
  ExpectReduced<double>("ReduceBackSum", {1, 2}, {1, kTiny}, {1}, {1 + kTiny});
  ExpectReduced<double>("ReduceFrontMean", {2, 1}, {1, 1 + 2 * kTiny}, {1}, {1 + kTiny});
  ExpectReduced<double>("ReduceBackMean", {1, 2}, {1, 1 + 2 * kTiny}, {1}, {1 + kTiny});
  ExpectReduced<double>("SumSqrElements", {2}, {1, 0x1p-20}, {}, {1 + kTiny});
}

// What ReduceLogSumExp does at the ends of the range, and what the extremes do with NaN.
TEST(WideReductionsTest, KeepInfinitiesAndNaN) {
  ExpectWhole<double>("ReduceLogSumExp", {kInf, 1}, kInf);
  ExpectWhole<double>("ReduceLogSumExp", {-kInf, 1}, 1);
  ExpectWhole<double>("ReduceLogSumExp", {-kInf, -kInf}, -kInf);
  ExpectWhole<double>("ReduceLogSumExp", {kNaN, 1}, kNaN);
  ExpectWhole<float>("ReduceLogSumExp", {1, std::numeric_limits<float>::quiet_NaN()},
                     std::numeric_limits<float>::quiet_NaN());
  ExpectWhole<double>("ReduceL1", {-kInf, 1}, kInf);
  ExpectWhole<double>("ReduceL2", {-kInf, 1}, kInf);
  ExpectWhole<double>("ReduceProd", {kInf, 0}, kNaN);
  ExpectWhole<double>("ReduceLogSum", {0, 0}, -kInf);
  ExpectWhole<double>("ReduceLogSum", {-1, 0}, kNaN);
  // Of bytes, and of bools.
  ExpectWhole<int8_t>("ReduceMin", {5, -128, 127}, -128);
  ExpectWhole<int8_t>("ReduceMax", {-5, -128, -7}, -5);
  ExpectWhole<uint8_t>("ReduceMin", {200, 129}, 129);
  ExpectWhole<uint8_t>("ReduceMax", {127, 128}, 128);
  ExpectWhole<bool>("ReduceMin", {true, false}, false);
  ExpectWhole<bool>("ReduceMin", {true, true}, true);
  ExpectWhole<bool>("ReduceMax", {false, true}, true);
  ExpectWhole<bool>("ReduceMax", {false, false}, false);
}

// On request, the extreme of no elements is an infinity, as in ONNX; integers have none.
TEST(WideReductionsTest, OfNoElementsAreInfiniteOnRequest) {
  const std::string infinite = " arg { name: 'infinite_if_empty' i: 1 }";
  for (const std::string type : {"ReduceMax", "ReduceMin"}) {
    const double end = type == "ReduceMax" ? -kInf : kInf;
    ExpectWhole<double>(type + infinite, {end, end}, end);
    ExpectReduced<double>(type + infinite, {0}, {}, {1}, {end});
    ExpectReduced<float>(type + infinite, {2, 0}, {}, {1, 1}, {static_cast<float>(end)});
    ExpectReduced<int32_t>(type + infinite, {0}, {}, {1},
                           {type == "ReduceMax" ? std::numeric_limits<int32_t>::min()
                                                : std::numeric_limits<int32_t>::max()});
  }
  ExpectReduced<double>("ReduceMax", {0}, {}, {1}, {std::numeric_limits<double>::lowest()});
  ExpectReduced<double>("ReduceMin", {0}, {}, {1}, {std::numeric_limits<double>::max()});
  ExpectReduced<int64_t>("ReduceMax", {0}, {}, {1}, {kLow});
  ExpectReduced<int64_t>("ReduceMin", {0}, {}, {1}, {kHigh});
  ExpectReduced<float>("ReduceMean", {0}, {}, {1}, {0});
}

// Every pattern of three axes, kept and removed, for an operator with vectorized loops and for one without.
TEST(WideReductionsTest, ReduceEachSetOfAxes) {
  const std::vector<int64_t> dims = {2, 3, 4};
  std::vector<float> x(24);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>((i * 7) % 24);
  for (int mask = 1; mask < 8; ++mask) {
    std::string axes;
    std::vector<int64_t> kept, removed;
    for (int d = 0; d < 3; ++d) {
      const bool reduced = (mask >> d & 1) != 0;
      // The axes of odd dimensions count from the end.
      if (reduced) axes += " ints: " + std::to_string(d == 1 ? d - 3 : d);
      kept.push_back(reduced ? 1 : dims[static_cast<size_t>(d)]);
      if (!reduced) removed.push_back(dims[static_cast<size_t>(d)]);
    }
    const size_t size = static_cast<size_t>(kept[0] * kept[1] * kept[2]);
    std::vector<float> sums(size, 0), squares(size, 0);
    std::vector<float> largest(size, -1);
    for (int64_t i = 0; i < 24; ++i) {
      const int64_t at[] = {i / 12, i / 4 % 3, i % 4};
      int64_t to = 0;
      for (size_t d = 0; d < 3; ++d) to = to * kept[d] + (kept[d] == 1 ? 0 : at[d]);
      const float value = x[static_cast<size_t>(i)];
      const auto place = static_cast<size_t>(to);
      sums[place] += value;
      squares[place] += value * value;
      largest[place] = std::max(largest[place], value);
    }
    const std::string list = " arg { name: 'axes'" + axes + " }";
    ExpectReduced<float>("ReduceSum" + list, dims, x, kept, sums);
    ExpectReduced<float>("ReduceMax" + list, dims, x, kept, largest);
    ExpectReduced<float>("ReduceSumSquare" + list, dims, x, kept, squares);
    const std::string flat = list + " arg { name: 'keepdims' i: 0 }";
    ExpectReduced<float>("ReduceSum" + flat, dims, x, removed, sums);
    ExpectReduced<float>("ReduceSumSquare" + flat, dims, x, removed, squares);
  }
}

// The second run sees other axes and another shape; the axes of an input win over the argument.
TEST(WideReductionsTest, FollowTheAxesOfTheInput) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2}, {1, 2, 3, 4});
  Feed<int64_t>(&ws, "axes", {1}, {0});
  const std::unique_ptr<OperatorBase> op =
      CreateOperator(test::ParseOp("type: 'ReduceProd' input: 'X' input: 'axes' output: 'Y'"), &ws);
  const std::unique_ptr<OperatorBase> sum = CreateOperator(
      test::ParseOp("type: 'ReduceSum' input: 'X' input: 'axes' output: 'Z' "
                    "arg { name: 'noop_with_empty_axes' i: 1 } arg { name: 'keepdims' i: 0 }"),
      &ws);
  op->Run();
  sum->Run();
  ExpectTensor<float>(ws, "Y", {1, 2}, {3, 8});
  ExpectTensor<float>(ws, "Z", {2}, {4, 6});
  Feed<int64_t>(&ws, "axes", {0}, {});
  op->Run();
  sum->Run();
  ExpectTensor<float>(ws, "Y", {1, 1}, {24});
  ExpectTensor<float>(ws, "Z", {2, 2}, {1, 2, 3, 4});
  Feed<float>(&ws, "X", {3, 1}, {2, 5, 7});
  Feed<int64_t>(&ws, "axes", {2}, {-1, 0});
  op->Run();
  sum->Run();
  ExpectTensor<float>(ws, "Y", {1, 1}, {70});
  ExpectTensor<float>(ws, "Z", {}, {14});
}

}  // namespace
}  // namespace caffe2rt::wide_reductions_test
