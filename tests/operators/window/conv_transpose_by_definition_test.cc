// ONNXConvTranspose on random shapes, compared with a loop over all pairs of an element and a tap.
#include <array>
#include <random>
#include <string>
#include <vector>

#include "tests/support/operator_test.h"

namespace caffe2rt::test::conv_transpose_by_definition_test {
namespace {

struct TransposedAxis {
  int64_t in = 1, kernel = 1, stride = 1, dilation = 1, head = 0, tail = 0, more = 0;
  int64_t out() const {
    return (in - 1) * stride + (kernel - 1) * dilation + 1 + more - head - tail;
  }
};

struct TransposedCall {
  std::array<TransposedAxis, 3> axes;
  int64_t batch, groups, from, to;  // channels of X and of Y in a group
};

std::vector<float> ByDefinition(const TransposedCall& call, const std::vector<float>& x,
                                const std::vector<float>& w, const std::vector<float>& bias) {
  const auto& [d, h, v] = call.axes;
  const int64_t batch = call.batch, groups = call.groups, from = call.from, to = call.to;
  const int64_t plane = d.out() * h.out() * v.out();
  std::vector<double> sums(static_cast<size_t>(batch * groups * to * plane));
  for (size_t k = 0; k < sums.size(); ++k) {
    const int64_t channel = static_cast<int64_t>(k) / plane % (groups * to);
    sums[k] = bias[static_cast<size_t>(channel)];
  }
  for (int64_t n = 0; n < batch * groups * from; ++n) {  // a plane of X
    const int64_t image = n / (groups * from), c = n % (groups * from), g = c / from;
    for (int64_t p = 0; p < d.in * h.in * v.in; ++p) {
      for (int64_t m = 0; m < to; ++m) {
        for (int64_t t = 0; t < d.kernel * h.kernel * v.kernel; ++t) {
          const int64_t z =
              p / (h.in * v.in) * d.stride - d.head + t / (h.kernel * v.kernel) * d.dilation;
          const int64_t y =
              p / v.in % h.in * h.stride - h.head + t / v.kernel % h.kernel * h.dilation;
          const int64_t u = p % v.in * v.stride - v.head + t % v.kernel * v.dilation;
          if (z < 0 || z >= d.out() || y < 0 || y >= h.out() || u < 0 || u >= v.out()) continue;
          const int64_t at =
              (((image * groups + g) * to + m) * d.out() + z) * h.out() * v.out() + y * v.out() + u;
          const int64_t tap = (c * to + m) * d.kernel * h.kernel * v.kernel + t;
          sums[static_cast<size_t>(at)] +=
              static_cast<double>(x[static_cast<size_t>(n * d.in * h.in * v.in + p)]) *
              w[static_cast<size_t>(tap)];
        }
      }
    }
  }
  return {sums.begin(), sums.end()};
}

class ConvTransposeByDefinitionTest : public testing::Test {
 protected:
  int64_t Int(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }

  // The last `rank` of three axes.
  std::array<TransposedAxis, 3> Axes(size_t rank) {
    std::array<TransposedAxis, 3> axes;
    for (size_t i = 3 - rank; i < 3; ++i) {
      do {
        axes[i] = {Int(1, 5), Int(1, 3), Int(1, 3), Int(1, 2), Int(0, 2), Int(0, 2)};
        axes[i].more = Int(0, axes[i].stride - 1);
      } while (axes[i].out() < 1);
    }
    return axes;
  }

  std::mt19937 random_{7};
};

std::string Ints(const std::string& name, const std::vector<int64_t>& values) {
  std::string text = " arg { name: '" + name + "'";
  for (const int64_t value : values) text += MakeString(" ints: ", value);
  return text + " }";
}

TEST_F(ConvTransposeByDefinitionTest, OfBatchesGroupsAndBiases) {
  for (int i = 0; i < 150; ++i) {
    const size_t rank = static_cast<size_t>(i % 3 + 1);
    const std::array<TransposedAxis, 3> axes = Axes(rank);
    const int64_t batch = Int(1, 3), groups = Int(1, 3), from = Int(1, 3), to = Int(1, 4);
    const bool has_bias = i % 4 != 0;
    std::vector<int64_t> x_dims = {batch, groups * from}, w_dims = {groups * from, to},
                         y_dims = {batch, groups * to}, strides, dilations, pads, tails, more;
    for (size_t a = 3 - rank; a < 3; ++a) {
      x_dims.push_back(axes[a].in);
      w_dims.push_back(axes[a].kernel);
      y_dims.push_back(axes[a].out());
      strides.push_back(axes[a].stride);
      dilations.push_back(axes[a].dilation);
      pads.push_back(axes[a].head);
      tails.push_back(axes[a].tail);
      more.push_back(axes[a].more);
    }
    pads.insert(pads.end(), tails.begin(), tails.end());
    Workspace ws;
    FeedRandom(&ws, "X", x_dims, -1, 1, 1);
    FeedRandom(&ws, "W", w_dims, -1, 1, 2);
    FeedRandom(&ws, "B", {groups * to}, -5, 5, 3);
    const TransposedCall call{axes, batch, groups, from, to};
    const std::vector<float> want = ByDefinition(
        call, Fetch<float>(ws, "X"), Fetch<float>(ws, "W"),
        has_bias ? Fetch<float>(ws, "B") : std::vector<float>(static_cast<size_t>(groups * to)));
    const std::string op = MakeString(
        "type: 'ONNXConvTranspose' input: 'X' input: 'W' ", has_bias ? "input: 'B' " : "",
        "output: 'Y' arg { name: 'group' i: ", groups, " }", Ints("strides", strides),
        Ints("dilations", dilations), Ints("pads", pads), Ints("output_padding", more));
    SCOPED_TRACE(op);
    RunOp(&ws, op);
    ExpectTensor<float>(ws, "Y", y_dims, want, 1e-4);
    ExpectShapeInferred(&ws, op);
  }
}

}  // namespace
}  // namespace caffe2rt::test::conv_transpose_by_definition_test
