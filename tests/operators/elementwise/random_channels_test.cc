// Operators whose parameters belong to channels or columns, on random shapes in both orders, compared with loops over
// all elements. The numbers are small integers, so that every sum is exact.

#include <random>
#include <string>
#include <vector>

#include "tests/support/operator_test.h"

namespace caffe2rt::random_channels_test {
namespace {

using test::ExpectTensor;
using test::Feed;

class RandomChannelsTest : public testing::Test {
 protected:
  int64_t Int(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  std::vector<float> Values(int64_t n) {
    std::vector<float> values(static_cast<size_t>(n));
    for (float& value : values) value = static_cast<float>(Int(-4, 4));
    return values;
  }
  void Run(const std::string& op) { test::RunOp(&ws_, op + " device_option {}"); }

  std::mt19937 random_{29};
  Workspace ws_;
};

TEST_F(RandomChannelsTest, HaveTheirOwnSlopes) {
  for (int i = 0; i < 100; ++i) {
    const int64_t n = Int(1, 3), c = Int(1, Int(0, 3) == 0 ? 40 : 5), p = Int(1, 20);
    const bool last = Int(0, 1) == 1, one = Int(0, 3) == 0;
    const std::vector<int64_t> dims =
        last ? std::vector<int64_t>{n, p, c} : std::vector<int64_t>{n, c, p};
    const std::vector<float> x = Values(n * c * p), dy = Values(n * c * p),
                             slope = Values(one ? 1 : c);
    std::vector<float> y, dx, dslope(slope.size(), 0);
    for (size_t k = 0; k < x.size(); ++k) {
      const auto at = static_cast<int64_t>(k);
      const auto channel = static_cast<size_t>(one ? 0 : last ? at % c : at / p % c);
      const bool below = x[k] <= 0;
      y.push_back(below ? x[k] * slope[channel] : x[k]);
      dx.push_back(below ? dy[k] * slope[channel] : dy[k]);
      if (below) dslope[channel] += dy[k] * x[k];
    }
    const std::vector<int64_t> of_slopes = {static_cast<int64_t>(slope.size())};
    Feed<float>(&ws_, "X", dims, x);
    Feed<float>(&ws_, "G", dims, dy);
    Feed<float>(&ws_, "W", of_slopes, slope);
    const std::string order = last ? " arg { name: 'order' s: 'NHWC' }" : "";
    SCOPED_TRACE(MakeString(IntArrayRef(dims), order, one));
    Run("type: 'PRelu' input: 'X' input: 'W' output: 'Y'" + order);
    ExpectTensor<float>(ws_, "Y", dims, y);
    Run("type: 'PReluGradient' input: 'Y' input: 'G' input: 'X' input: 'W' output: 'D' "
        "output: 'E'" +
        order);
    ExpectTensor<float>(ws_, "D", dims, dx);
    ExpectTensor<float>(ws_, "E", of_slopes, dslope);
  }
}

TEST_F(RandomChannelsTest, AreScaledAndMoved) {
  for (int i = 0; i < 100; ++i) {
    std::vector<int64_t> dims(static_cast<size_t>(Int(2, 4)));
    for (int64_t& dim : dims) dim = Int(1, Int(0, 3) == 0 ? 20 : 4);
    const int64_t axis = Int(0, static_cast<int64_t>(dims.size()) - 1);
    int64_t rows = 1, columns = 1;
    for (int64_t d = 0; d < static_cast<int64_t>(dims.size()); ++d)
      (d < axis ? rows : columns) *= dims[static_cast<size_t>(d)];
    const std::vector<float> x = Values(rows * columns), g = Values(rows * columns),
                             scale = Values(columns), bias = Values(columns);
    std::vector<float> y, dx, dscale(scale.size(), 0), dbias(scale.size(), 0);
    for (size_t k = 0; k < x.size(); ++k) {
      const size_t column = k % static_cast<size_t>(columns);
      y.push_back(x[k] * scale[column] + bias[column]);
      dx.push_back(g[k] * scale[column]);
      dscale[column] += g[k] * x[k];
      dbias[column] += g[k];
    }
    Feed<float>(&ws_, "X", dims, x);
    Feed<float>(&ws_, "G", dims, g);
    Feed<float>(&ws_, "s", {columns}, scale);
    Feed<float>(&ws_, "b", {columns}, bias);
    const std::string args = " arg { name: 'axis' i: " + std::to_string(axis) + " }";
    SCOPED_TRACE(MakeString(IntArrayRef(dims), args));
    Run("type: 'ElementwiseLinear' input: 'X' input: 's' input: 'b' output: 'Y'" + args);
    ExpectTensor<float>(ws_, "Y", dims, y);
    Run("type: 'ElementwiseLinearGradient' input: 'G' input: 'X' input: 's' output: 'D' "
        "output: 'E' output: 'F'" +
        args);
    ExpectTensor<float>(ws_, "D", dims, dx);
    ExpectTensor<float>(ws_, "E", {columns}, dscale);
    ExpectTensor<float>(ws_, "F", {columns}, dbias);
  }
}

// A row is taken from one of two tensors as a whole, or each element on its own.
TEST_F(RandomChannelsTest, ComeFromOneOfTwoTensors) {
  for (int i = 0; i < 60; ++i) {
    const int64_t rows = Int(1, 6), block = Int(1, 5);
    const std::vector<int64_t> dims = {rows, block};
    const std::vector<float> x = Values(rows * block), y = Values(rows * block);
    std::vector<bool> row(static_cast<size_t>(rows)), each(x.size());
    for (size_t r = 0; r < row.size(); ++r) row[r] = Int(0, 1) == 1;
    for (size_t k = 0; k < each.size(); ++k) each[k] = Int(0, 1) == 1;
    std::vector<float> by_row, by_element;
    for (size_t k = 0; k < x.size(); ++k) {
      by_row.push_back(row[k / static_cast<size_t>(block)] ? x[k] : y[k]);
      by_element.push_back(each[k] ? x[k] : y[k]);
    }
    Feed<float>(&ws_, "X", dims, x);
    Feed<float>(&ws_, "Y", dims, y);
    Feed<bool>(&ws_, "R", {rows}, row);
    Feed<bool>(&ws_, "C", dims, each);
    Run("type: 'Conditional' input: 'R' input: 'X' input: 'Y' output: 'Z'");
    ExpectTensor<float>(ws_, "Z", dims, by_row);
    Run("type: 'Where' input: 'R' input: 'X' input: 'Y' output: 'Z' "
        "arg { name: 'broadcast_on_rows' i: 1 }");
    ExpectTensor<float>(ws_, "Z", dims, by_row);
    Run("type: 'Where' input: 'C' input: 'X' input: 'Y' output: 'Z'");
    ExpectTensor<float>(ws_, "Z", dims, by_element);
  }
}

}  // namespace
}  // namespace caffe2rt::random_channels_test
