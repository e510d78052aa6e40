// Operators that work along axes, on random shapes and axes, compared with loops over all indices. Most numbers are
// small integers, so that every sum is exact.

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/support/operator_test.h"

namespace caffe2rt::random_axes_test {
namespace {

using test::ExpectTensor;
using test::Feed;
using Dims = std::vector<int64_t>;

int64_t CountOf(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

class RandomAxesTest : public testing::Test {
 protected:
  int64_t Int(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  // A shape, and values for it.
  void Draw(int64_t low_rank, int64_t high_rank, int64_t high) {
    dims_.assign(static_cast<size_t>(Int(low_rank, high_rank)), 1);
    for (int64_t& dim : dims_) dim = Int(1, Int(0, 5) == 0 ? 3 * high : high);
    x_.resize(static_cast<size_t>(CountOf(dims_)));
    for (float& value : x_) value = static_cast<float>(Int(-4, 4));
    Feed<float>(&ws_, "X", dims_, x_);
  }
  int64_t Either(size_t axis) {
    return static_cast<int64_t>(axis) - (Int(0, 1) == 0 ? 0 : static_cast<int64_t>(dims_.size()));
  }
  static std::string Number(const std::string& name, int64_t value) {
    return " arg { name: '" + name + "' i: " + std::to_string(value) + " }";
  }
  void Run(const std::string& op) { test::RunOp(&ws_, op + " device_option {}"); }
  // The elements along `axis`, for each position beside it: the places in x_.
  std::vector<std::vector<size_t>> LinesOf(size_t axis) const {
    const Dims before(dims_.begin(), dims_.begin() + static_cast<std::ptrdiff_t>(axis));
    const Dims behind(dims_.begin() + static_cast<std::ptrdiff_t>(axis) + 1, dims_.end());
    const int64_t outer = CountOf(before), inner = CountOf(behind), size = dims_[axis];
    std::vector<std::vector<size_t>> lines;
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        lines.emplace_back();
        for (int64_t k = 0; k < size; ++k)
          lines.back().push_back(static_cast<size_t>((o * size + k) * inner + i));
      }
    }
    return lines;
  }

  std::mt19937 random_{5};
  Workspace ws_;
  Dims dims_;
  std::vector<float> x_;
};

TEST_F(RandomAxesTest, ReduceAndSpreadGradients) {
  for (int i = 0; i < 100; ++i) {
    Draw(1, 5, 4);
    const size_t rank = dims_.size();
    Dims kept = dims_, removed;
    std::string axes = " arg { name: 'axes'";
    int64_t reduced = 1;
    bool any = false;
    for (size_t d = 0; d < rank; ++d) {
      if (Int(0, 1) == 0 || (!any && d + 1 == rank)) {
        axes += " ints: " + std::to_string(Either(d));
        reduced *= dims_[d];
        kept[d] = 1;
        any = true;
      } else {
        removed.push_back(dims_[d]);
      }
    }
    axes += " }";
    const auto n = static_cast<size_t>(CountOf(kept));
    std::vector<float> sum(n, 0), l1(n, 0), squares(n, 0), max(n, -99), min(n, 99);
    std::vector<size_t> to(x_.size());
    for (size_t k = 0; k < x_.size(); ++k) {
      int64_t rest = static_cast<int64_t>(k), at = 0, step = 1;
      for (size_t d = rank; d-- > 0;) {
        const int64_t index = rest % dims_[d];
        rest /= dims_[d];
        at += (kept[d] == 1 ? 0 : index) * step;
        step *= kept[d];
      }
      to[k] = static_cast<size_t>(at);
      sum[to[k]] += x_[k];
      l1[to[k]] += std::abs(x_[k]);
      squares[to[k]] += x_[k] * x_[k];
      max[to[k]] = std::max(max[to[k]], x_[k]);
      min[to[k]] = std::min(min[to[k]], x_[k]);
    }
    std::vector<float> mean = sum, l2 = squares;
    for (float& value : mean) value /= static_cast<float>(reduced);
    for (float& value : l2) value = std::sqrt(value);
    std::vector<float> dy(n);
    for (float& value : dy) value = static_cast<float>(Int(-4, 4));
    Feed<float>(&ws_, "G", kept, dy);
    // As in Caffe2, the gradient of a norm of 0 is passed on.
    const struct {
      const char* type;
      const std::vector<float>* want;
      std::function<float(float x, float y, float dy)> gradient;
    } rows[] = {
        {"ReduceSum", &sum, [](float, float, float g) { return g; }},
        {"ReduceMean", &mean,
         [&](float, float, float g) { return g / static_cast<float>(reduced); }},
        {"ReduceMax", &max, [](float x, float y, float g) { return x == y ? g : 0; }},
        {"ReduceMin", &min, [](float x, float y, float g) { return x == y ? g : 0; }},
        {"ReduceL1", &l1, [](float x, float, float g) { return x > 0   ? g
                                                               : x < 0 ? -g
                                                                       : 0; }},
        {"ReduceL2", &l2, [](float x, float y, float g) { return y == 0 ? g : g * x / y; }},
        {"ReduceSumSquare", &squares, nullptr},
    };
    for (const auto& row : rows) {
      SCOPED_TRACE(row.type + axes);
      const std::string type = row.type;
      Run("type: '" + type + "' input: 'X' output: 'Z'" + axes + Number("keepdims", 0));
      ExpectTensor<float>(ws_, "Z", removed, *row.want, 1e-6);
      Run("type: '" + type + "' input: 'X' output: 'Y'" + axes);
      ExpectTensor<float>(ws_, "Y", kept, *row.want, 1e-6);
      if (!row.gradient) continue;
      std::vector<float> want(x_.size());
      for (size_t k = 0; k < x_.size(); ++k)
        want[k] = row.gradient(x_[k], (*row.want)[to[k]], dy[to[k]]);
      Run("type: '" + type + "Gradient' input: 'G' input: 'X' input: 'Y' output: 'D'" + axes);
      ExpectTensor<float>(ws_, "D", dims_, want, 1e-6);
    }
  }
}

TEST_F(RandomAxesTest, ReduceTheFrontOrTheBack) {
  for (int i = 0; i < 60; ++i) {
    Draw(1, 4, 5);
    const auto count = static_cast<size_t>(Int(0, static_cast<int64_t>(dims_.size())));
    for (const bool front : {true, false}) {
      const auto split = static_cast<std::ptrdiff_t>(front ? count : dims_.size() - count);
      const Dims head(dims_.begin(), dims_.begin() + split),
          tail(dims_.begin() + split, dims_.end());
      const int64_t rows = CountOf(head), columns = CountOf(tail);
      const Dims& want_dims = front ? tail : head;
      const int64_t outputs = CountOf(want_dims), reduced = front ? rows : columns;
      std::vector<float> sum(static_cast<size_t>(outputs), 0), max(sum.size(), -99), mean;
      for (int64_t k = 0; k < rows * columns; ++k) {
        const auto to = static_cast<size_t>(front ? k % columns : k / columns);
        sum[to] += x_[static_cast<size_t>(k)];
        max[to] = std::max(max[to], x_[static_cast<size_t>(k)]);
      }
      for (const float value : sum) mean.push_back(value / static_cast<float>(reduced));
      const std::string prefix = front ? "ReduceFront" : "ReduceBack";
      const std::string args = Number("num_reduce_dim", static_cast<int64_t>(count));
      for (const auto& [type, want] : {std::pair{"Sum", &sum}, {"Mean", &mean}, {"Max", &max}}) {
        SCOPED_TRACE(prefix + type + args);
        Run("type: '" + prefix + type + "' input: 'X' output: 'Y'" + args);
        ExpectTensor<float>(ws_, "Y", want_dims, *want, 1e-6);
      }
      if (count != 1) continue;
      // Only the first elements of each output count.
      std::vector<int32_t> lengths(static_cast<size_t>(outputs));
      std::vector<float> some(lengths.size(), 0), average, dy(lengths.size());
      for (size_t k = 0; k < lengths.size(); ++k) {
        lengths[k] = static_cast<int32_t>(Int(1, reduced));
        dy[k] = static_cast<float>(Int(-4, 4));
      }
      std::vector<float> spread(x_.size(), 0);
      for (int64_t k = 0; k < rows * columns; ++k) {
        const auto to = static_cast<size_t>(front ? k % columns : k / columns);
        if ((front ? k / columns : k % columns) >= lengths[to]) continue;
        some[to] += x_[static_cast<size_t>(k)];
        spread[static_cast<size_t>(k)] = dy[to];
      }
      for (size_t k = 0; k < some.size(); ++k)
        average.push_back(some[k] / static_cast<float>(lengths[k]));
      Feed<int32_t>(&ws_, "L", {outputs}, lengths);
      Feed<float>(&ws_, "G", want_dims, dy);
      Run("type: '" + prefix + "Sum' input: 'X' input: 'L' output: 'Y'");
      ExpectTensor<float>(ws_, "Y", want_dims, some);
      Run("type: '" + prefix + "Mean' input: 'X' input: 'L' output: 'Y'");
      ExpectTensor<float>(ws_, "Y", want_dims, average, 1e-6);
      Run("type: '" + prefix + "SumGradient' input: 'G' input: 'X' input: 'L' output: 'D'");
      ExpectTensor<float>(ws_, "D", dims_, spread);
    }
  }
}

TEST_F(RandomAxesTest, FindAndAddUpAlongAnAxis) {
  for (int i = 0; i < 120; ++i) {
    Draw(1, 4, 5);
    const auto axis = static_cast<size_t>(Int(0, static_cast<int64_t>(dims_.size()) - 1));
    const std::string arg = Number("axis", Either(axis));
    SCOPED_TRACE(MakeString(IntArrayRef(dims_), arg));
    const std::string from_front =
        Number("axis", static_cast<int64_t>(axis));  // ArgMax has no others
    const int64_t size = dims_[axis], k = Int(0, size);
    Dims one = dims_, few = dims_;
    one[axis] = 1;
    few[axis] = k;
    std::vector<int64_t> first_max, last_max, first_min;
    std::vector<float> sums(x_.size()), before(x_.size()), back(x_.size()), hard(x_.size(), 0);
    const auto lines = LinesOf(axis);
    const auto inner = static_cast<size_t>(
        CountOf(Dims(dims_.begin() + static_cast<std::ptrdiff_t>(axis) + 1, dims_.end())));
    std::vector<float> best(lines.size() * static_cast<size_t>(k));
    std::vector<int64_t> places(best.size());
    for (size_t l = 0; l < lines.size(); ++l) {
      const std::vector<size_t>& line = lines[l];
      std::vector<int64_t> order(line.size());
      std::iota(order.begin(), order.end(), int64_t{0});
      const auto at = [&](int64_t place) { return x_[line[static_cast<size_t>(place)]]; };
      std::stable_sort(order.begin(), order.end(),
                       [&](int64_t a, int64_t b) { return at(a) > at(b); });
      first_max.push_back(order[0]);
      hard[line[static_cast<size_t>(order[0])]] = 1;
      int64_t last = order[0], least = 0;
      for (int64_t j = 0; j < size; ++j) {
        if (at(j) == at(order[0])) last = j;
        if (at(j) < at(least)) least = j;
      }
      last_max.push_back(last);
      first_min.push_back(least);
      for (int64_t j = 0; j < k; ++j) {
        const size_t to =
            (l / inner * static_cast<size_t>(k) + static_cast<size_t>(j)) * inner + l % inner;
        places[to] = order[static_cast<size_t>(j)];
        best[to] = at(order[static_cast<size_t>(j)]);
      }
      float sum = 0;
      for (size_t j = 0; j < line.size(); ++j) {
        before[line[j]] = sum;
        sums[line[j]] = sum += x_[line[j]];
      }
      sum = 0;
      for (size_t j = line.size(); j-- > 0;) back[line[j]] = sum += x_[line[j]];
    }
    for (const char* type : {"ArgMax", "ONNXArgMax"}) {
      Run(std::string("type: '") + type + "' input: 'X' output: 'I'" + from_front);
      ExpectTensor<int64_t>(ws_, "I", one, first_max);
    }
    for (const char* type : {"ArgMin", "ONNXArgMin"}) {
      Run(std::string("type: '") + type + "' input: 'X' output: 'I'" + from_front);
      ExpectTensor<int64_t>(ws_, "I", one, first_min);
    }
    Run("type: 'ONNXArgMax' input: 'X' output: 'I'" + arg + Number("select_last_index", 1));
    ExpectTensor<int64_t>(ws_, "I", one, last_max);
    Run("type: 'ONNXTopK' input: 'X' output: 'V' output: 'I'" + arg + Number("k", k));
    ExpectTensor<float>(ws_, "V", few, best);
    ExpectTensor<int64_t>(ws_, "I", few, places);
    Run("type: 'Hardmax' input: 'X' output: 'Y'" + arg);
    ExpectTensor<float>(ws_, "Y", dims_, hard);
    Feed<int64_t>(&ws_, "A", {}, {Either(axis)});
    const std::string cumulate = "type: 'CumSum' input: 'X' input: 'A' output: 'Y'";
    Run(cumulate);
    ExpectTensor<float>(ws_, "Y", dims_, sums);
    Run(cumulate + Number("exclusive", 1));
    ExpectTensor<float>(ws_, "Y", dims_, before);
    Run(cumulate + Number("reverse", 1));
    ExpectTensor<float>(ws_, "Y", dims_, back);
  }
}

TEST_F(RandomAxesTest, NormalizeAlongAnAxis) {
  for (int i = 0; i < 80; ++i) {
    Draw(1, 4, 6);
    const auto axis = static_cast<size_t>(Int(0, static_cast<int64_t>(dims_.size()) - 1));
    const std::string arg = Number("axis", Either(axis));
    SCOPED_TRACE(MakeString(IntArrayRef(dims_), arg));
    std::vector<float> l2(x_.size()), l1(x_.size()), soft(x_.size()), dx(x_.size()), g(x_.size());
    for (float& value : g) value = static_cast<float>(Int(-4, 4));
    for (const std::vector<size_t>& line : LinesOf(axis)) {
      double squares = 0, sizes = 0, product = 0;
      for (const size_t at : line) {
        squares += x_[at] * x_[at];
        sizes += std::abs(x_[at]);
        product += x_[at] * g[at];
      }
      const double norm = std::max(std::sqrt(squares), 1e-12);
      for (const size_t at : line) {
        l2[at] = static_cast<float>(x_[at] / norm);
        l1[at] = static_cast<float>(sizes == 0 ? x_[at] : x_[at] / sizes);
        // The derivative of x / |x|; of zeros, the divisor is constant.
        dx[at] = static_cast<float>(
            squares == 0 ? g[at] / norm : g[at] / norm - x_[at] * product / (norm * norm * norm));
      }
    }
    Feed<float>(&ws_, "G", dims_, g);
    Run("type: 'Normalize' input: 'X' output: 'Y'" + arg);
    ExpectTensor<float>(ws_, "Y", dims_, l2, 1e-6);
    Run("type: 'NormalizeL1' input: 'X' output: 'Y'" + arg);
    ExpectTensor<float>(ws_, "Y", dims_, l1, 1e-6);
    Run("type: 'NormalizeGradient' input: 'X' input: 'G' output: 'D'" + arg);
    ExpectTensor<float>(ws_, "D", dims_, dx, 1e-5);
    // Softmax normalizes all dimensions from the axis on.
    const auto rest = static_cast<size_t>(
        CountOf(Dims(dims_.begin() + static_cast<std::ptrdiff_t>(axis), dims_.end())));
    for (size_t first = 0; first < x_.size(); first += rest) {
      double sum = 0;
      for (size_t k = first; k < first + rest; ++k) sum += std::exp(x_[k]);
      for (size_t k = first; k < first + rest; ++k)
        soft[k] = static_cast<float>(std::exp(x_[k]) / sum);
    }
    Run("type: 'Softmax' input: 'X' output: 'Y'" + arg);
    ExpectTensor<float>(ws_, "Y", dims_, soft, 1e-6);
  }
}

}  // namespace
}  // namespace caffe2rt::random_axes_test
