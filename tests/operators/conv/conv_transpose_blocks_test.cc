// Transposed convolutions that are computed a block of input rows at a time, windows that lie
// beside the output, and axes with different arguments, against the definition. All values are
// small integers: the sums are exact.
#include <string>
#include <vector>

#include "tests/support/operator_test.h"

namespace caffe2rt::test::conv_transpose_blocks_test {
namespace {

struct TransposedCase {
  const char* what;
  int64_t batch, channels, filters, group;
  int64_t in[2], kernel[2], stride[2], adj[2];
  int64_t pads[4];  // top, left, bottom, right

  int64_t Out(int axis) const {
    return (in[axis] - 1) * stride[axis] + kernel[axis] + adj[axis] - pads[axis] - pads[axis + 2];
  }
};

// The index of an element of an image, with the channels in front of the axes or behind them.
size_t PlaceOf(bool last, int64_t n, int64_t c, int64_t h, int64_t w, int64_t channels,
               int64_t height, int64_t width) {
  return static_cast<size_t>(last ? ((n * height + h) * width + w) * channels + c
                                  : ((n * channels + c) * height + h) * width + w);
}

std::vector<float> SmallIntegers(int64_t count, int64_t factor) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i * factor % 7 - 3));
  return values;
}

// y[o] is the bias and the sum of x[i] * w[k] over all i and k with i * stride + k - pad == o.
std::vector<float> ByDefinition(const TransposedCase& c, bool last, const std::vector<float>& x,
                                const std::vector<float>& w, const std::vector<float>& b) {
  const int64_t of_group = c.filters / c.group, height = c.Out(0), width = c.Out(1);
  std::vector<float> y(static_cast<size_t>(c.batch * c.filters * height * width));
  for (int64_t n = 0; n < c.batch; ++n) {
    for (int64_t m = 0; m < c.filters; ++m) {
      for (int64_t h = 0; h < height; ++h) {
        for (int64_t v = 0; v < width; ++v) {
          y[PlaceOf(last, n, m, h, v, c.filters, height, width)] = b[static_cast<size_t>(m)];
        }
      }
    }
    for (int64_t channel = 0; channel < c.channels; ++channel) {
      for (int64_t row = 0; row < c.in[0]; ++row) {
        for (int64_t column = 0; column < c.in[1]; ++column) {
          const float value =
              x[PlaceOf(last, n, channel, row, column, c.channels, c.in[0], c.in[1])];
          for (int64_t i = 0; i < c.kernel[0]; ++i) {
            for (int64_t j = 0; j < c.kernel[1]; ++j) {
              const int64_t h = row * c.stride[0] + i - c.pads[0];
              const int64_t v = column * c.stride[1] + j - c.pads[1];
              if (h < 0 || h >= height || v < 0 || v >= width) continue;
              for (int64_t m = 0; m < of_group; ++m) {
                const int64_t filter = channel / (c.channels / c.group) * of_group + m;
                y[PlaceOf(last, n, filter, h, v, c.filters, height, width)] +=
                    value * w[PlaceOf(last, channel, m, i, j, of_group, c.kernel[0], c.kernel[1])];
              }
            }
          }
        }
      }
    }
  }
  return y;
}

std::vector<int64_t> ImageDims(bool last, int64_t n, int64_t c, int64_t h, int64_t w) {
  return last ? std::vector<int64_t>{n, h, w, c} : std::vector<int64_t>{n, c, h, w};
}

std::string IntsArgument(const char* name, const int64_t* values, int count) {
  std::string text = MakeString(" arg { name: '", name, "'");
  for (int i = 0; i < count; ++i) text += MakeString(" ints: ", values[i]);
  return text + " }";
}

void ExpectByDefinition(const TransposedCase& c, bool last, bool bias) {
  SCOPED_TRACE(MakeString(c.what, last ? ", NHWC" : ", NCHW", bias ? ", bias" : ""));
  const std::vector<float> x = SmallIntegers(c.batch * c.channels * c.in[0] * c.in[1], 5);
  const std::vector<float> w =
      SmallIntegers(c.channels * c.filters / c.group * c.kernel[0] * c.kernel[1], 4);
  std::vector<float> b = SmallIntegers(c.filters, 3);
  if (!bias) b.assign(b.size(), 0.0f);
  Workspace ws;
  Feed<float>(&ws, "X", ImageDims(last, c.batch, c.channels, c.in[0], c.in[1]), x);
  Feed<float>(&ws, "W", ImageDims(last, c.channels, c.filters / c.group, c.kernel[0], c.kernel[1]),
              w);
  Feed<float>(&ws, "b", {c.filters}, b);
  RunOp(&ws, MakeString("type: 'ConvTranspose' input: 'X' input: 'W'", bias ? " input: 'b'" : "",
                        " output: 'Y'", IntsArgument("kernels", c.kernel, 2),
                        IntsArgument("strides", c.stride, 2), IntsArgument("adjs", c.adj, 2),
                        IntsArgument("pads", c.pads, 4), " arg { name: 'group' i: ", c.group,
                        " } arg { name: 'order' s: '", last ? "NHWC" : "NCHW", "' }"));
  ExpectTensor<float>(ws, "Y", ImageDims(last, c.batch, c.filters, c.Out(0), c.Out(1)),
                      ByDefinition(c, last, x, w, b));
}

// The columns of one row are filters / group * kernel * width floats; 2^18 floats are computed at a
// time.
TEST(ConvTransposeBlocksTest, AddsTheRowsOfEveryBlock) {
  const TransposedCase cases[] = {
      {"16 rows at a time", 2, 1, 8, 1, {20, 340}, {2, 3}, {2, 1}, {0, 0}, {0, 0, 0, 0}},
      {"blocks that overlap in Y", 1, 1, 4, 1, {30, 512}, {3, 3}, {1, 2}, {0, 1}, {1, 0, 0, 2}},
      {"blocks of two groups", 1, 2, 8, 2, {22, 640}, {3, 3}, {1, 1}, {0, 0}, {2, 1, 1, 2}},
      {"rows above the budget", 1, 1, 64, 1, {2, 1100}, {2, 2}, {1, 3}, {0, 2}, {0, 0, 1, 0}}};
  for (const TransposedCase& c : cases) {
    for (const bool last : {false, true}) ExpectByDefinition(c, last, true);
  }
}

TEST(ConvTransposeBlocksTest, CutsWindowsThatLieBesideTheOutput) {
  const TransposedCase cases[] = {
      {"one column of a wide window", 1, 2, 3, 1, {2, 1}, {1, 5}, {1, 1}, {0, 0}, {0, 4, 0, 0}},
      {"its first column", 1, 2, 3, 1, {2, 1}, {1, 5}, {1, 1}, {0, 0}, {0, 0, 0, 4}},
      {"one row of a high window", 1, 2, 3, 1, {1, 2}, {5, 1}, {1, 1}, {0, 0}, {3, 0, 1, 0}},
      {"whole inputs in the padding", 1, 1, 2, 1, {5, 6}, {2, 2}, {2, 2}, {0, 0}, {3, 5, 2, 4}},
      {"steps of three", 2, 2, 2, 2, {4, 5}, {2, 2}, {3, 3}, {0, 0}, {2, 4, 3, 1}},
      {"steps above the kernel", 1, 1, 1, 1, {3, 4}, {1, 2}, {2, 5}, {2, 3}, {1, 1, 0, 3}}};
  for (const TransposedCase& c : cases) {
    for (const bool last : {false, true}) {
      for (const bool bias : {false, true}) ExpectByDefinition(c, last, bias);
    }
  }
}

TEST(ConvTransposeBlocksTest, TreatsEachAxisAndGroupByItself) {
  const TransposedCase cases[] = {
      {"high kernel", 2, 3, 2, 1, {3, 5}, {4, 2}, {1, 2}, {0, 1}, {1, 0, 2, 1}},
      {"three groups", 2, 6, 9, 3, {4, 3}, {2, 3}, {2, 1}, {1, 0}, {0, 1, 1, 1}},
      {"a group for each channel", 1, 4, 4, 4, {3, 4}, {3, 2}, {1, 3}, {0, 2}, {1, 1, 0, 0}},
      {"more filters than channels", 2, 2, 6, 2, {2, 3}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}}};
  for (const TransposedCase& c : cases) {
    for (const bool last : {false, true}) {
      for (const bool bias : {false, true}) ExpectByDefinition(c, last, bias);
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::conv_transpose_blocks_test
