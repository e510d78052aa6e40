// Einsum and ONNXMatMul on random equations and shapes, compared with loops over all indices. The numbers are small
// integers, so that every sum is exact.

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/support/operator_test.h"

namespace caffe2rt::random_products_test {
namespace {

using test::ExpectTensor;
using test::Feed;
using Dims = std::vector<int64_t>;

class RandomProductsTest : public testing::Test {
 protected:
  int64_t Int(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  template <class T>
  std::vector<T> Values(const Dims& dims) {
    int64_t n = 1;
    for (const int64_t dim : dims) n *= dim;
    std::vector<T> values(static_cast<size_t>(n));
    for (T& value : values) value = static_cast<T>(Int(-4, 4));
    return values;
  }
  // Multiplies tensors whose dimensions have letters, and sums over the letters that are not in `output`.
  template <class T>
  void ExpectEinsum(const std::vector<std::string>& terms, const std::string& output,
                    const Dims& sizes, const std::string& equation) {
    SCOPED_TRACE(equation);
    std::vector<std::vector<T>> operands;
    std::string op = "type: 'Einsum' output: 'Y' arg { name: 'equation' s: '" + equation + "' }";
    for (size_t t = 0; t < terms.size(); ++t) {
      Dims dims;
      for (const char c : terms[t]) dims.push_back(sizes[static_cast<size_t>(c - 'a')]);
      operands.push_back(Values<T>(dims));
      const std::string name = "X" + std::to_string(t);
      Feed<T>(&ws_, name, dims, operands.back());
      op += " input: '" + name + "'";
    }
    Dims want_dims;
    int64_t count = 1, all = 1;
    for (const char c : output) {
      want_dims.push_back(sizes[static_cast<size_t>(c - 'a')]);
      count *= want_dims.back();
    }
    std::string used = output;
    for (const std::string& term : terms) {
      for (const char c : term) {
        if (used.find(c) == std::string::npos) used += c;
      }
    }
    for (const char c : used) all *= sizes[static_cast<size_t>(c - 'a')];
    std::vector<T> want(static_cast<size_t>(count), 0);
    Dims index(sizes.size(), 0);
    const auto place = [&](const std::string& letters) {
      int64_t at = 0;
      for (const char c : letters) {
        const auto label = static_cast<size_t>(c - 'a');
        at = at * sizes[label] + index[label];
      }
      return static_cast<size_t>(at);
    };
    for (int64_t i = 0; i < all; ++i) {
      int64_t rest = i;
      for (const char c : used) {
        const auto label = static_cast<size_t>(c - 'a');
        index[label] = rest % sizes[label];
        rest /= sizes[label];
      }
      T product = 1;
      for (size_t t = 0; t < terms.size(); ++t) product *= operands[t][place(terms[t])];
      want[place(output)] += product;
    }
    test::RunOp(&ws_, op);
    ExpectTensor<T>(ws_, "Y", want_dims, want);
  }
  template <class T>
  void ExpectMatMul(const Dims& a_dims, const Dims& b_dims, const Dims& batch, int64_t m, int64_t n,
                    int64_t k) {
    SCOPED_TRACE(MakeString(IntArrayRef(a_dims), " ", IntArrayRef(b_dims)));
    const std::vector<T> a = Values<T>(a_dims), b = Values<T>(b_dims);
    // The offset of a matrix: dimensions of 1 are repeated.
    const auto matrix = [&](const Dims& dims, int64_t i) {
      int64_t at = 0, step = 1;
      for (size_t d = 0; d < batch.size(); ++d) {
        const size_t back = batch.size() - 1 - d;
        const int64_t from = i % batch[back];
        i /= batch[back];
        if (d + 2 >= dims.size()) continue;
        const int64_t size = dims[dims.size() - 3 - d];
        at += (size == 1 ? 0 : from) * step;
        step *= size;
      }
      return at;
    };
    int64_t count = 1;
    for (const int64_t dim : batch) count *= dim;
    std::vector<T> want;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t a_at = matrix(a_dims, i) * m * k, b_at = matrix(b_dims, i) * k * n;
      for (int64_t r = 0; r < m; ++r) {
        for (int64_t c = 0; c < n; ++c) {
          T sum = 0;
          for (int64_t l = 0; l < k; ++l)
            sum +=
                a[static_cast<size_t>(a_at + r * k + l)] * b[static_cast<size_t>(b_at + l * n + c)];
          want.push_back(sum);
        }
      }
    }
    Dims dims = batch;
    if (a_dims.size() > 1) dims.push_back(m);
    if (b_dims.size() > 1) dims.push_back(n);
    Feed<T>(&ws_, "A", a_dims, a);
    Feed<T>(&ws_, "B", b_dims, b);
    test::RunOp(&ws_, "type: 'ONNXMatMul' input: 'A' input: 'B' output: 'Y'");
    ExpectTensor<T>(ws_, "Y", dims, want);
  }

  std::mt19937 random_{19};
  Workspace ws_;
};

TEST_F(RandomProductsTest, FollowTheEquation) {
  for (int i = 0; i < 100; ++i) {
    const Dims sizes = {Int(1, 5), Int(1, 4), Int(1, 5), Int(1, 3), Int(1, 4)};
    std::vector<std::string> terms(static_cast<size_t>(i % 5 == 0 ? 3 : i % 5 == 1 ? 1 : 2));
    std::string letters, equation;
    for (std::string& term : terms) {
      for (int64_t n = Int(1, 3); n > 0; --n) term += static_cast<char>('a' + Int(0, 4));
      letters += term;
      equation += (equation.empty() ? "" : ",") + term;
    }
    std::string once = letters, output;
    std::sort(once.begin(), once.end());
    once.erase(std::unique(once.begin(), once.end()), once.end());
    for (const char c : once) {
      if (Int(0, 1) == 0) output += c;
    }
    std::shuffle(output.begin(), output.end(), random_);
    const std::string given = equation + "->" + output;
    ExpectEinsum<float>(terms, output, sizes, given);
    ExpectEinsum<int64_t>(terms, output, sizes, given);
    ExpectEinsum<double>(terms, output, sizes, given);
    // Without an output: the letters that occur once, sorted.
    std::string implicit;
    for (const char c : once) {
      if (std::count(letters.begin(), letters.end(), c) == 1) implicit += c;
    }
    ExpectEinsum<int32_t>(terms, implicit, sizes, equation);
  }
}

TEST_F(RandomProductsTest, MultiplyBatchesOfMatrices) {
  for (int i = 0; i < 100; ++i) {
    const int64_t m = Int(1, 5), n = Int(1, 5), k = Int(1, 6);
    Dims batch, a, b;
    for (int64_t d = Int(0, 3); d > 0; --d) batch.push_back(Int(1, 3));
    a.assign(batch.begin(), batch.end());
    b.assign(batch.begin() + Int(0, static_cast<int64_t>(batch.size())), batch.end());
    for (size_t d = 0; d < b.size(); ++d) {  // at most one of both repeats a dimension
      const size_t in_a = a.size() - b.size() + d;
      if (Int(0, 2) == 0) (Int(0, 1) == 0 ? a[in_a] : b[d]) = 1;
    }
    if (Int(0, 1) == 0) std::swap(a, b);
    a.insert(a.end(), {m, k});
    b.insert(b.end(), {k, n});
    ExpectMatMul<float>(a, b, batch, m, n, k);
    ExpectMatMul<int32_t>(a, b, batch, m, n, k);
    // Vectors: a row before the matrices of B, a column behind those of A.
    const Dims row = {k}, of_a(a.begin(), a.end() - 2), of_b(b.begin(), b.end() - 2);
    ExpectMatMul<double>(row, b, of_b, 1, n, k);
    ExpectMatMul<float>(a, row, of_a, m, 1, k);
  }
}

}  // namespace
}  // namespace caffe2rt::random_products_test
