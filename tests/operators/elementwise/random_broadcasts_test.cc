// Operators on broadcast operands, and their gradients, on random shapes, compared with loops over all indices. The
// numbers are small integers, so that every sum is exact.

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/support/operator_test.h"

namespace caffe2rt::random_broadcasts_test {
namespace {

using test::ExpectTensor;
using test::Feed;
using Dims = std::vector<int64_t>;

int64_t CountOf(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

// Two shapes and that of their result; for each element of the result, the elements that it comes from.
struct Pairing {
  Dims a, b, y;
  std::vector<size_t> from_a, from_b;

  // Aligns `b` with the dimensions of y from `shift` on; all of y's dimensions are known.
  void Pair(size_t a_shift, size_t b_shift) {
    for (int64_t i = 0; i < CountOf(y); ++i) {
      int64_t rest = i, at_a = 0, at_b = 0, step_a = 1, step_b = 1;
      for (size_t d = y.size(); d-- > 0;) {
        const int64_t index = rest % y[d];
        rest /= y[d];
        if (d >= a_shift && d < a_shift + a.size()) {
          const int64_t size = a[d - a_shift];
          at_a += (size == 1 ? 0 : index) * step_a;
          step_a *= size;
        }
        if (d >= b_shift && d < b_shift + b.size()) {
          const int64_t size = b[d - b_shift];
          at_b += (size == 1 ? 0 : index) * step_b;
          step_b *= size;
        }
      }
      from_a.push_back(static_cast<size_t>(at_a));
      from_b.push_back(static_cast<size_t>(at_b));
    }
  }
};

class RandomBroadcastsTest : public testing::Test {
 protected:
  int64_t Int(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  // By numpy's rules. Now and then, the last dimension is long enough for vectors.
  Pairing RandomPairing() {
    Pairing p;
    const auto rank = static_cast<size_t>(Int(1, 4));
    for (size_t d = 0; d < rank; ++d)
      p.y.push_back(Int(1, d + 1 == rank && Int(0, 3) == 0 ? 40 : 4));
    p.a.assign(p.y.begin() + static_cast<std::ptrdiff_t>(Int(0, 1) == 0 ? 0 : Int(0, rank)),
               p.y.end());
    p.b.assign(p.y.begin() + static_cast<std::ptrdiff_t>(p.a.size() < rank ? 0 : Int(0, rank)),
               p.y.end());
    for (size_t d = 0; d < rank; ++d) {  // at most one of both repeats a dimension
      const size_t back = rank - d;
      const bool in_a = back <= p.a.size(), in_b = back <= p.b.size();
      if (in_a && in_b && Int(0, 2) == 0) {
        Dims& one = Int(0, 1) == 0 ? p.a : p.b;
        one[one.size() - back] = 1;
      }
    }
    p.Pair(rank - p.a.size(), rank - p.b.size());
    return p;
  }
  template <class T>
  std::vector<T> Values(const Dims& dims, int64_t low, int64_t high) {
    std::vector<T> values(static_cast<size_t>(CountOf(dims)));
    for (T& value : values) {
      do value = static_cast<T>(Int(low, high));
      while (low > 0 && value == T(0));
    }
    return values;
  }
  template <class T, class Y, class F>
  void Expect(const std::string& type, const Pairing& p, const std::vector<T>& a,
              const std::vector<T>& b, const F& f, const std::string& args = "") {
    SCOPED_TRACE(MakeString(type, " ", IntArrayRef(p.a), " ", IntArrayRef(p.b), args));
    Feed<T>(&ws_, "A", p.a, a);
    Feed<T>(&ws_, "B", p.b, b);
    std::vector<Y> want;
    for (size_t i = 0; i < p.from_a.size(); ++i) want.push_back(f(a[p.from_a[i]], b[p.from_b[i]]));
    test::RunOp(&ws_, "type: '" + type + "' input: 'A' input: 'B' output: 'Y'" + args +
                          " device_option {}");
    ExpectTensor<Y>(ws_, "Y", p.y, want);
  }
  // The sums of the gradients of the elements of A and of B.
  template <class T>
  void ExpectGradients(const std::string& type, const Pairing& p, const std::vector<T>& a,
                       const std::vector<T>& b, const std::string& args = "") {
    SCOPED_TRACE(MakeString(type, "Gradient ", IntArrayRef(p.a), " ", IntArrayRef(p.b), args));
    const std::vector<T> dy = Values<T>(p.y, -3, 3);
    std::vector<T> da(a.size(), 0), db(b.size(), 0);
    for (size_t i = 0; i < dy.size(); ++i) {
      const size_t i_a = p.from_a[i], i_b = p.from_b[i];
      da[i_a] += type == "Mul" ? dy[i] * b[i_b] : dy[i];
      db[i_b] += type == "Mul" ? dy[i] * a[i_a] : type == "Sub" ? -dy[i] : dy[i];
    }
    Feed<T>(&ws_, "A", p.a, a);
    Feed<T>(&ws_, "B", p.b, b);
    Feed<T>(&ws_, "G", p.y, dy);
    test::RunOp(&ws_, "type: '" + type +
                          "Gradient' input: 'G' input: 'A' input: 'B' output: 'dA' output: 'dB'" +
                          args + " device_option {}");
    ExpectTensor<T>(ws_, "dA", p.a, da);
    ExpectTensor<T>(ws_, "dB", p.b, db);
  }
  template <class T>
  void ExpectArithmetic(const Pairing& p, const std::string& args) {
    const std::vector<T> a = Values<T>(p.a, -9, 9), b = Values<T>(p.b, -9, 9);
    Expect<T, T>(
        "Add", p, a, b, [](T x, T y) { return x + y; }, args);
    Expect<T, T>(
        "Sub", p, a, b, [](T x, T y) { return x - y; }, args);
    Expect<T, T>(
        "Mul", p, a, b, [](T x, T y) { return x * y; }, args);
    Expect<T, bool>(
        "LT", p, a, b, [](T x, T y) { return x < y; }, args);
    Expect<T, bool>(
        "GE", p, a, b, [](T x, T y) { return x >= y; }, args);
    Expect<T, bool>(
        "EQ", p, a, b, [](T x, T y) { return x == y; }, args);
    const std::vector<T> divisors = Values<T>(p.b, 1, 4);
    Expect<T, T>(
        "Div", p, a, divisors, [](T x, T y) { return static_cast<T>(x / y); }, args);
    for (const char* type : {"Add", "Sub", "Mul"}) ExpectGradients<T>(type, p, a, b, args);
  }

  std::mt19937 random_{11};
  Workspace ws_;
};

TEST_F(RandomBroadcastsTest, FollowNumpy) {
  for (int i = 0; i < 60; ++i) {
    const Pairing p = RandomPairing();
    ExpectArithmetic<float>(p, "");
    ExpectArithmetic<double>(p, "");
    ExpectArithmetic<int32_t>(p, "");
    ExpectArithmetic<int64_t>(p, "");
  }
}

// Caffe2's older rules: B lies within A from the axis on, and sizes of 1 at its ends have no effect.
TEST_F(RandomBroadcastsTest, FollowTheOlderRules) {
  for (int i = 0; i < 80; ++i) {
    Pairing p;
    const auto rank = static_cast<size_t>(Int(1, 4));
    for (size_t d = 0; d < rank; ++d) p.a.push_back(Int(2, d + 1 == rank && i % 4 == 0 ? 33 : 4));
    p.y = p.a;
    const auto size = static_cast<size_t>(Int(1, rank)),
               axis = static_cast<size_t>(Int(0, rank - size));
    p.b.assign(p.a.begin() + static_cast<std::ptrdiff_t>(axis),
               p.a.begin() + static_cast<std::ptrdiff_t>(axis + size));
    p.Pair(0, axis);
    std::string args = " arg { name: 'broadcast' i: 1 }";
    if (axis + size < rank || i % 2 == 0)
      args += " arg { name: 'axis' i: " + std::to_string(axis) + " }";
    ExpectArithmetic<float>(p, args);
    ExpectArithmetic<int64_t>(p, args);
    // The gradient alone: the sums of A over what B repeats.
    const std::vector<float> a = Values<float>(p.a, -9, 9);
    std::vector<float> sums(static_cast<size_t>(CountOf(p.b)), 0);
    for (size_t k = 0; k < a.size(); ++k) sums[p.from_b[k]] += a[k];
    Feed<float>(&ws_, "A", p.a, a);
    Feed<float>(&ws_, "B", p.b, sums);
    test::RunOp(&ws_, "type: 'SumReduceLike' input: 'A' input: 'B' output: 'Y'" + args +
                          " device_option {}");
    ExpectTensor<float>(ws_, "Y", p.b, sums);
  }
}

TEST_F(RandomBroadcastsTest, OfFurtherOperators) {
  for (int i = 0; i < 60; ++i) {
    const Pairing p = RandomPairing();
    const std::vector<int32_t> a = Values<int32_t>(p.a, -9, 9), b = Values<int32_t>(p.b, -9, 9),
                               positive = Values<int32_t>(p.b, 1, 5);
    const auto max = [](int32_t x, int32_t y) { return std::max(x, y); };
    const auto min = [](int32_t x, int32_t y) { return std::min(x, y); };
    Expect<int32_t, int32_t>("ONNXMax", p, a, b, max);
    Expect<int32_t, int32_t>("ONNXMin", p, a, b, min);
    Expect<int32_t, int32_t>("ONNXMod", p, a, positive,
                             [](int32_t x, int32_t y) { return ((x % y) + y) % y; });
    Expect<int32_t, int32_t>(
        "BitShift", p, a, positive,
        [](int32_t x, int32_t y) { return static_cast<int32_t>(static_cast<uint32_t>(x) << y); },
        " arg { name: 'direction' s: 'LEFT' }");
    Expect<int32_t, int32_t>("ONNXPow", p, a, positive, [](int32_t x, int32_t y) {
      int32_t power = 1;
      for (int32_t k = 0; k < y; ++k) power *= x;
      return power;
    });
    Expect<int32_t, int32_t>("BitwiseXor", p, a, b, [](int32_t x, int32_t y) { return x ^ y; });
    const std::vector<bool> c = [&] {
      std::vector<bool> flags(a.size());
      for (size_t k = 0; k < a.size(); ++k) flags[k] = a[k] % 2 != 0;
      return flags;
    }();
    // A condition of A's shape, B, and a number.
    Feed<bool>(&ws_, "C", p.a, c);
    Feed<int32_t>(&ws_, "B", p.b, b);
    Feed<int32_t>(&ws_, "N", {}, {77});
    std::vector<int32_t> want;
    for (size_t k = 0; k < p.from_a.size(); ++k)
      want.push_back(c[p.from_a[k]] ? b[p.from_b[k]] : 77);
    test::RunOp(&ws_,
                "type: 'ONNXWhere' input: 'C' input: 'B' input: 'N' output: 'Y' device_option {}");
    ExpectTensor<int32_t>(ws_, "Y", p.y, want);
  }
}

}  // namespace
}  // namespace caffe2rt::random_broadcasts_test
