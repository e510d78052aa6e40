// Convolutions of one axis and their gradients in both orders, with groups, dilation and uneven
// padding, against the definition. All numbers are small integers, so that results are exact.
#include "tests/support/operator_test.h"

namespace caffe2rt::test::conv_lines_test {
namespace {

struct Line {
  int64_t length, kernel, stride = 1, dilation = 1, head = 0, tail = 0;
  int64_t channels = 2, filters = 3, group = 1, batch = 2;

  int64_t out() const { return (length + head + tail - dilation * (kernel - 1) - 1) / stride + 1; }
};

const Line kLines[] = {
    {7, 3},
    {7, 1},
    {9, 1, 4},
    {8, 3, 2, 1, 1, 0},
    {5, 2, 3, 1, 0, 2},
    {9, 3, 1, 2, 3, 1},
    {11, 3, 2, 4},
    {8, 4, 3, 2, 5, 2},
    {6, 3, 1, 1, -1, 0},
    {9, 2, 2, 3, 2, -3},
    {3, 5, 1, 1, 2, 2},
    {1, 1, 1, 1, 0, 0, 5, 7},
    {8, 3, 1, 1, 1, 1, 4, 6, 2},
    {8, 3, 2, 2, 0, 3, 6, 4, 2},
    {10, 3, 1, 2, 2, 2, 5, 5, 5},
    {10, 2, 1, 3, 1, 0, 3, 6, 3},
    {40, 3, 1, 1, 1, 1, 16, 32, 1, 1},
    {33, 5, 2, 2, 4, 3, 32, 16, 2, 3},
    {70, 1, 1, 1, 0, 0, 8, 8},
};

// From -3 to 3, in no order.
std::vector<float> SmallNumbers(int64_t count, uint32_t state) {
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) {
    state = state * 1664525 + 1013904223;
    value = static_cast<float>(static_cast<int>((state >> 16) % 7) - 3);
  }
  return values;
}

// Calls function(x, filter, y) with the indices of every product.
template <class Function>
void ForEachLineProduct(const Line& p, bool last, const Function& function) {
  const auto index = [&](int64_t outer, int64_t channels, int64_t channel, int64_t size,
                         int64_t at) {
    return static_cast<size_t>(last ? (outer * size + at) * channels + channel
                                    : (outer * channels + channel) * size + at);
  };
  const int64_t in_group = p.channels / p.group, out_group = p.filters / p.group;
  for (int64_t n = 0; n < p.batch; ++n) {
    for (int64_t m = 0; m < p.filters; ++m) {
      for (int64_t out = 0; out < p.out(); ++out) {
        for (int64_t tap = 0; tap < p.kernel; ++tap) {
          const int64_t in = out * p.stride + tap * p.dilation - p.head;
          if (in < 0 || in >= p.length) continue;
          for (int64_t c = 0; c < in_group; ++c) {
            function(index(n, p.channels, m / out_group * in_group + c, p.length, in),
                     index(m, in_group, c, p.kernel, tap), index(n, p.filters, m, p.out(), out));
          }
        }
      }
    }
  }
}

class ConvLinesTest : public testing::TestWithParam<bool> {
 protected:
  static std::vector<int64_t> Dims(int64_t outer, int64_t channels, int64_t size) {
    return GetParam() ? std::vector<int64_t>{outer, size, channels}
                      : std::vector<int64_t>{outer, channels, size};
  }
  static std::string Arguments(const Line& p) {
    return MakeString(
        "arg { name: 'kernels' ints: ", p.kernel, " } arg { name: 'strides' ints: ", p.stride,
        " } arg { name: 'dilations' ints: ", p.dilation, " } arg { name: 'pads' ints: ", p.head,
        " ints: ", p.tail, " } arg { name: 'group' i: ", p.group, " } arg { name: 'order' s: '",
        GetParam() ? "NHWC" : "NCHW", "' }");
  }
};

TEST_P(ConvLinesTest, AddProductsOfEveryTap) {
  for (const Line& p : kLines) {
    const std::string args = Arguments(p);
    SCOPED_TRACE(args);
    const auto x = SmallNumbers(p.batch * p.channels * p.length, 1);
    const auto w = SmallNumbers(p.filters * p.channels / p.group * p.kernel, 2);
    const auto b = SmallNumbers(p.filters, 3);
    std::vector<float> want(static_cast<size_t>(p.batch * p.filters * p.out()));
    ForEachLineProduct(p, GetParam(),
                       [&](size_t from, size_t tap, size_t to) { want[to] += x[from] * w[tap]; });
    Workspace ws;
    Feed(&ws, "X", Dims(p.batch, p.channels, p.length), x);
    Feed(&ws, "W", Dims(p.filters, p.channels / p.group, p.kernel), w);
    Feed(&ws, "b", {p.filters}, b);
    const std::vector<int64_t> dims = Dims(p.batch, p.filters, p.out());
    for (const char* const type : {"Conv", "Conv1D"}) {
      const std::string op = MakeString("type: '", type, "' input: 'X' input: 'W' ", args);
      RunOp(&ws, op + " output: 'Y'");
      ExpectTensor<float>(ws, "Y", dims, want, 1e-3);
      ExpectShapeInferred(&ws, op + " output: 'Y'");
      RunOp(&ws, op + " input: 'b' output: 'Z'");
      std::vector<float> biased = want;
      for (size_t i = 0; i < biased.size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        biased[i] += b[static_cast<size_t>(GetParam() ? at % p.filters : at / p.out() % p.filters)];
      }
      ExpectTensor<float>(ws, "Z", dims, biased, 1e-3);
    }
  }
}

TEST_P(ConvLinesTest, HaveGradientsOfEveryTap) {
  for (const Line& p : kLines) {
    const std::string args = Arguments(p);
    SCOPED_TRACE(args);
    const auto x = SmallNumbers(p.batch * p.channels * p.length, 1);
    const auto w = SmallNumbers(p.filters * p.channels / p.group * p.kernel, 2);
    const auto dy = SmallNumbers(p.batch * p.filters * p.out(), 4);
    std::vector<float> dx(x.size()), dw(w.size()), db(static_cast<size_t>(p.filters));
    ForEachLineProduct(p, GetParam(), [&](size_t from, size_t tap, size_t to) {
      dx[from] += dy[to] * w[tap];
      dw[tap] += dy[to] * x[from];
    });
    for (size_t i = 0; i < dy.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      db[static_cast<size_t>(GetParam() ? at % p.filters : at / p.out() % p.filters)] += dy[i];
    }
    Workspace ws;
    Feed(&ws, "X", Dims(p.batch, p.channels, p.length), x);
    Feed(&ws, "W", Dims(p.filters, p.channels / p.group, p.kernel), w);
    Feed(&ws, "dY", Dims(p.batch, p.filters, p.out()), dy);
    for (const char* const type : {"ConvGradient", "Conv1DGradient"}) {
      RunOp(&ws, MakeString("type: '", type, "' input: 'X' input: 'W' input: 'dY' ", args,
                            " output: 'dW' output: 'db' output: 'dX'"));
      ExpectTensor<float>(ws, "dW", DimsOf(ws, "W"), dw, 1e-3);
      ExpectTensor<float>(ws, "db", {p.filters}, db, 1e-3);
      ExpectTensor<float>(ws, "dX", DimsOf(ws, "X"), dx, 1e-3);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, ConvLinesTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "NHWC" : "NCHW"; });

}  // namespace
}  // namespace caffe2rt::test::conv_lines_test
