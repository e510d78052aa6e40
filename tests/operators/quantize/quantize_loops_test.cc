// Operators on quantized numbers agree with plain loops over many shapes, axes and types. All numbers
// are exact in floats.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/tensor/data_type.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::quantize_loops_test {
namespace {

int64_t CountOf(const std::vector<int64_t>& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  return count;
}

// Numbers of a fixed sequence from `least` on, below `least` + `range`.
template <class T>
std::vector<T> Drawn(int64_t count, int least, int range, uint32_t seed) {
  std::vector<T> values(static_cast<size_t>(count));
  uint32_t state = seed * 2654435761u + 1;
  for (T& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<T>(least + static_cast<int>((state >> 8) % static_cast<uint32_t>(range)));
  }
  return values;
}

std::string IntOf(const std::string& name, int64_t value) {
  return MakeString(" arg { name: \"", name, "\" i: ", value, " }");
}
std::string IntsOf(const std::string& name, const std::vector<int64_t>& values) {
  std::string text = " arg { name: \"" + name + "\"";
  for (const int64_t value : values) text += MakeString(" ints: ", value);
  return text + " }";
}

// For each element of a tensor [2, 5, 3], the position of its scale, and the shape of the scales.
struct ScalePlaces {
  std::vector<int64_t> dims;
  std::vector<size_t> of_element;
};
const std::vector<int64_t> kDims = {2, 5, 3};
ScalePlaces PlacesOf(int axis, int64_t block) {
  const auto at = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
  ScalePlaces places;
  places.dims = block == 0 ? std::vector<int64_t>{kDims[at]} : kDims;
  if (block > 0) places.dims[at] = (kDims[at] + block - 1) / block;
  for (int64_t i = 0; i < 30; ++i) {
    int64_t index[] = {i / 15, i / 3 % 5, i % 3};
    if (block == 0) {
      places.of_element.push_back(static_cast<size_t>(index[at]));
      continue;
    }
    index[at] /= block;
    places.of_element.push_back(
        static_cast<size_t>((index[0] * places.dims[1] + index[1]) * places.dims[2] + index[2]));
  }
  return places;
}

template <class X, class Y>
void ExpectLinear(int axis, int64_t block, bool has_zeros) {
  const ScalePlaces places = PlacesOf(axis, block);
  const int64_t count = CountOf(places.dims);
  const std::string args = IntOf("axis", axis) + IntOf("block_size", block);
  const std::vector<X> x = Drawn<X>(30, -40, 80, 3);
  std::vector<float> scales;
  for (const int power : Drawn<int>(count, -2, 3, 5)) scales.push_back(std::ldexp(1.0f, power));
  const std::vector<Y> zeros = Drawn<Y>(count, 1, 9, 7);
  Workspace ws;
  Feed<X>(&ws, "X", kDims, x);
  Feed<float>(&ws, "s", places.dims, scales);
  Feed<Y>(&ws, "z", places.dims, zeros);
  std::vector<Y> quantized;
  std::vector<float> back;
  for (size_t i = 0; i < 30; ++i) {
    const size_t p = places.of_element[i];
    const double zero = has_zeros ? static_cast<double>(zeros[p]) : 0;
    const double steps = std::nearbyint(static_cast<double>(x[i]) / double{scales[p]}) + zero;
    quantized.push_back(
        static_cast<Y>(std::clamp(steps, static_cast<double>(std::numeric_limits<Y>::min()),
                                  static_cast<double>(std::numeric_limits<Y>::max()))));
    back.push_back(
        static_cast<float>((static_cast<double>(quantized[i]) - zero) * double{scales[p]}));
  }
  const std::string inputs = std::string("input: \"s\"") + (has_zeros ? " input: \"z\"" : "");
  const std::string type =
      has_zeros ? "" : IntOf("output_dtype", TypeMetaToDataType(TypeMeta::Make<Y>()));
  RunOp(&ws, "type: \"QuantizeLinear\" input: \"X\" " + inputs + " output: \"Y\"" + args + type);
  ExpectTensor<Y>(ws, "Y", kDims, quantized);
  RunOp(&ws, "type: \"DequantizeLinear\" input: \"Y\" " + inputs + " output: \"Z\"" + args);
  ExpectTensor<float>(ws, "Z", kDims, back);
}

TEST(QuantizeLoopsTest, LinearOperatorsFollowAxesAndBlocks) {
  for (const int axis : {-3, -1, 0, 1, 2}) {
    for (const int64_t block : {0, 2, 5, 9}) {
      SCOPED_TRACE(MakeString("axis ", axis, " block ", block));
      ExpectLinear<float, uint8_t>(axis, block, true);
      ExpectLinear<int32_t, uint16_t>(axis, block, true);
      ExpectLinear<float, int16_t>(axis, block, false);
      ExpectLinear<int32_t, int8_t>(axis, block, false);
    }
  }
}

struct ConvCase {
  std::vector<int64_t> x, kernel;  // x: [N, C, spatial...]
  int64_t outputs, group;
  std::vector<int64_t> strides, dilations, begin, end;
};

// The sums of a convolution of any number of axes, without zero points.
template <class X, class W>
std::vector<int32_t> ConvSums(const ConvCase& c, const std::vector<X>& x, const std::vector<W>& w,
                              int x_zero, const std::vector<int>& w_zeros,
                              std::vector<int64_t>* y_dims) {
  const size_t axes = c.kernel.size();
  *y_dims = {c.x[0], c.outputs};
  for (size_t a = 0; a < axes; ++a) {
    const int64_t extent = c.dilations[a] * (c.kernel[a] - 1) + 1;
    y_dims->push_back((c.x[a + 2] + c.begin[a] + c.end[a] - extent) / c.strides[a] + 1);
  }
  const int64_t taps = CountOf(c.kernel), in_group = c.x[1] / c.group;
  const int64_t pixels = CountOf({y_dims->begin() + 2, y_dims->end()});
  const int64_t in_pixels = CountOf({c.x.begin() + 2, c.x.end()});
  std::vector<int32_t> sums;
  for (int64_t i = 0; i < CountOf(*y_dims); ++i) {
    const int64_t n = i / pixels / c.outputs, m = i / pixels % c.outputs;
    int32_t sum = 0;
    for (int64_t k = 0; k < in_group; ++k) {
      const int64_t channel = m / (c.outputs / c.group) * in_group + k;
      for (int64_t t = 0; t < taps; ++t) {
        int64_t pixel = i % pixels, tap = t, at = 0, stride = 1;
        bool inside = true;
        for (size_t a = axes; a-- > 0;) {
          const int64_t place = pixel % (*y_dims)[a + 2] * c.strides[a] - c.begin[a] +
                                tap % c.kernel[a] * c.dilations[a];
          inside = inside && place >= 0 && place < c.x[a + 2];
          at += place * stride;
          stride *= c.x[a + 2];
          pixel /= (*y_dims)[a + 2];
          tap /= c.kernel[a];
        }
        if (!inside) continue;
        sum += (x[static_cast<size_t>((n * c.x[1] + channel) * in_pixels + at)] - x_zero) *
               (w[static_cast<size_t>((m * in_group + k) * taps + t)] -
                w_zeros[static_cast<size_t>(m)]);
      }
    }
    sums.push_back(sum);
  }
  return sums;
}

template <class X, class W, class Y>
void ExpectConv(const ConvCase& c) {
  std::vector<int64_t> w_dims = {c.outputs, c.x[1] / c.group}, y_dims;
  w_dims.insert(w_dims.end(), c.kernel.begin(), c.kernel.end());
  const int least_x = std::is_signed_v<X> ? -128 : 0, least_w = std::is_signed_v<W> ? -128 : 0;
  const std::vector<X> x = Drawn<X>(CountOf(c.x), least_x, 256, 1);
  const std::vector<W> w = Drawn<W>(CountOf(w_dims), least_w, 256, 2);
  const std::vector<int> w_zeros = Drawn<int>(c.outputs, 3, 90, 3);
  const std::vector<int32_t> bias = Drawn<int32_t>(c.outputs, -3000, 6000, 4);
  const std::vector<int> powers = Drawn<int>(c.outputs, 0, 3, 5);
  const int x_zero = 21, y_zero = 33;
  const std::vector<int32_t> sums = ConvSums(c, x, w, x_zero, w_zeros, &y_dims);
  std::vector<float> scales;
  for (const int power : powers) scales.push_back(std::ldexp(1.0f, power));
  Workspace ws;
  Feed<X>(&ws, "X", c.x, x);
  Feed<W>(&ws, "W", w_dims, w);
  Feed<X>(&ws, "xz", {}, {static_cast<X>(x_zero)});
  Feed<W>(&ws, "wz", {c.outputs}, std::vector<W>(w_zeros.begin(), w_zeros.end()));
  Feed<float>(&ws, "xs", {}, {0.5f});
  Feed<float>(&ws, "ws", {c.outputs}, scales);
  Feed<float>(&ws, "ys", {1}, {1024});
  Feed<Y>(&ws, "yz", {}, {static_cast<Y>(y_zero)});
  Feed<int32_t>(&ws, "b", {c.outputs}, bias);
  std::vector<int64_t> pads = c.begin;
  pads.insert(pads.end(), c.end.begin(), c.end.end());
  const std::string args = IntOf("group", c.group) + IntsOf("strides", c.strides) +
                           IntsOf("dilations", c.dilations) + IntsOf("pads", pads);
  std::vector<Y> want;
  const int64_t pixels = CountOf({y_dims.begin() + 2, y_dims.end()});
  for (size_t i = 0; i < sums.size(); ++i) {
    const auto m = i / static_cast<size_t>(pixels) % static_cast<size_t>(c.outputs);
    const double steps =
        std::nearbyint((sums[i] + bias[m]) * double{scales[m]} * 0.5 / 1024) + y_zero;
    want.push_back(static_cast<Y>(
        std::clamp<double>(steps, std::numeric_limits<Y>::min(), std::numeric_limits<Y>::max())));
  }
  for (const int threads : {1, 3}) {
    SetNumThreads(threads);
    RunOp(&ws,
          "type: \"ConvInteger\" input: \"X\" input: \"W\" input: \"xz\" input: \"wz\" "
          "output: \"I\"" +
              args);
    ExpectTensor<int32_t>(ws, "I", y_dims, sums);
    RunOp(&ws,
          "type: \"QLinearConv\" input: \"X\" input: \"xs\" input: \"xz\" input: \"W\" "
          "input: \"ws\" input: \"wz\" input: \"ys\" input: \"yz\" input: \"b\" output: \"Q\"" +
              args);
    ExpectTensor<Y>(ws, "Q", y_dims, want);
  }
  SetNumThreads(1);
}

TEST(QuantizeLoopsTest, ConvolutionsAgreeForAllAxesGroupsAndTypes) {
  const ConvCase cases[] = {
      {{2, 4, 9}, {3}, 6, 2, {2}, {1}, {2}, {0}},
      {{1, 2, 7}, {2}, 2, 2, {1}, {3}, {0}, {1}},
      {{2, 3, 5, 6}, {2, 3}, 4, 1, {1, 2}, {2, 1}, {1, 0}, {0, 2}},
      {{1, 4, 6, 5}, {3, 2}, 8, 4, {2, 1}, {1, 2}, {0, 2}, {1, 1}},  // two outputs of each channel
      {{1, 3, 12, 11}, {1, 1}, 5, 1, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
      {{1, 2, 4, 3, 5}, {2, 1, 3}, 3, 1, {1, 1, 2}, {1, 1, 1}, {1, 0, 0}, {0, 0, 2}},
  };
  for (const ConvCase& c : cases) {
    SCOPED_TRACE(MakeString("x ", c.x, " outputs ", c.outputs));
    ExpectConv<uint8_t, uint8_t, uint8_t>(c);
    ExpectConv<uint8_t, int8_t, int8_t>(c);
    ExpectConv<int8_t, uint8_t, uint8_t>(c);
    ExpectConv<int8_t, int8_t, int8_t>(c);
  }
}

// [2, 1, m, k] times [3, k, n], with a zero point and a scale for each row of A and column of B.
template <class A, class B, class Y>
void ExpectProducts(int64_t m, int64_t k, int64_t n) {
  const int least_a = std::is_signed_v<A> ? -128 : 0, least_b = std::is_signed_v<B> ? -128 : 0;
  const std::vector<A> a = Drawn<A>(2 * m * k, least_a, 256, 1);
  const std::vector<B> b = Drawn<B>(3 * k * n, least_b, 256, 2);
  const std::vector<A> a_zeros = Drawn<A>(m, 1, 60, 3);
  const std::vector<B> b_zeros = Drawn<B>(n, 1, 60, 4);
  std::vector<float> a_scales, b_scales;
  for (const int power : Drawn<int>(m, 0, 3, 5)) a_scales.push_back(std::ldexp(1.0f, power));
  for (const int power : Drawn<int>(n, -1, 3, 6)) b_scales.push_back(std::ldexp(1.0f, power));
  const int y_zero = 17;
  std::vector<int32_t> sums;
  std::vector<Y> want;
  for (int64_t i = 0; i < 6 * m * n; ++i) {
    const int64_t row = i / n % m, column = i % n;
    const int64_t a_matrix = i / (3 * m * n), b_matrix = i / (m * n) % 3;
    int32_t sum = 0;
    for (int64_t p = 0; p < k; ++p) {
      sum += (a[static_cast<size_t>((a_matrix * m + row) * k + p)] -
              a_zeros[static_cast<size_t>(row)]) *
             (b[static_cast<size_t>((b_matrix * k + p) * n + column)] -
              b_zeros[static_cast<size_t>(column)]);
    }
    sums.push_back(sum);
    const double steps = std::nearbyint(sum * double{a_scales[static_cast<size_t>(row)]} *
                                        double{b_scales[static_cast<size_t>(column)]} / 2048) +
                         y_zero;
    want.push_back(static_cast<Y>(
        std::clamp<double>(steps, std::numeric_limits<Y>::min(), std::numeric_limits<Y>::max())));
  }
  Workspace ws;
  Feed<A>(&ws, "A", {2, 1, m, k}, a);
  Feed<B>(&ws, "B", {3, k, n}, b);
  Feed<A>(&ws, "az", {m}, a_zeros);
  Feed<B>(&ws, "bz", {n}, b_zeros);
  Feed<float>(&ws, "as", {m}, a_scales);
  Feed<float>(&ws, "bs", {n}, b_scales);
  Feed<float>(&ws, "ys", {}, {2048});
  Feed<Y>(&ws, "yz", {}, {static_cast<Y>(y_zero)});
  for (const int threads : {1, 3}) {
    SetNumThreads(threads);
    RunOp(&ws,
          R"(type: "MatMulInteger" input: "A" input: "B" input: "az" input: "bz" output: "I")");
    ExpectTensor<int32_t>(ws, "I", {2, 3, m, n}, sums);
    RunOp(&ws, R"(type: "QLinearMatMul" input: "A" input: "as" input: "az" input: "B" input: "bs"
                  input: "bz" input: "ys" input: "yz" output: "Q")");
    ExpectTensor<Y>(ws, "Q", {2, 3, m, n}, want);
  }
  SetNumThreads(1);
}

TEST(QuantizeLoopsTest, ProductsAgreeForWideAndTallMatricesAndAllTypes) {
  const int64_t sizes[][3] = {{1, 1, 1}, {3, 70, 35}, {50, 9, 5}, {4, 5, 1}, {2, 3, 9}};
  for (const auto& [m, k, n] : sizes) {
    SCOPED_TRACE(MakeString(m, " ", k, " ", n));
    ExpectProducts<uint8_t, uint8_t, uint8_t>(m, k, n);
    ExpectProducts<uint8_t, int8_t, int8_t>(m, k, n);
    ExpectProducts<int8_t, uint8_t, int8_t>(m, k, n);
    ExpectProducts<int8_t, int8_t, uint8_t>(m, k, n);
  }
}

// The seven look-ups of rows that are stored as byte * scale + bias, with indices of both types.
template <class Index>
void ExpectLookUps() {
  const std::vector<uint8_t> bytes = Drawn<uint8_t>(12, 0, 256, 1);  // 4 rows of 3
  const std::vector<float> scales = {0.5f, -1, 2, 3, 0.25f, 0, 1, 7};
  std::vector<uint8_t> fused;
  for (size_t row = 0; row < 4; ++row) {
    fused.insert(fused.end(), bytes.begin() + static_cast<int64_t>(row) * 3,
                 bytes.begin() + static_cast<int64_t>(row) * 3 + 3);
    const auto* tail = reinterpret_cast<const uint8_t*>(&scales[2 * row]);
    fused.insert(fused.end(), tail, tail + 8);
  }
  const std::vector<Index> indices = {3, 0, 2, 2, 1};
  const std::vector<int32_t> lengths = {2, 0, 3};
  const std::vector<float> weights = {1, 2, -0.5f, 4, 8};
  Workspace ws;
  Feed<uint8_t>(&ws, "fused", {4, 11}, fused);
  Feed<uint8_t>(&ws, "rows", {4, 3, 1}, bytes);
  Feed<float>(&ws, "s", {4, 2}, scales);
  Feed<Index>(&ws, "I", {5}, indices);
  Feed<int32_t>(&ws, "L", {3}, lengths);
  Feed<float>(&ws, "w", {5}, weights);
  const struct {
    const char* type;
    bool is_fused, weighted, mean;
  } rows[] = {{"SparseLengthsSumFused8BitRowwise", true, false, false},
              {"SparseLengthsMeanFused8BitRowwise", true, false, true},
              {"SparseLengthsWeightedSumFused8BitRowwise", true, true, false},
              {"SparseLengthsSum8BitsRowwise", false, false, false},
              {"SparseLengthsMean8BitsRowwise", false, false, true},
              {"SparseLengthsWeightedSum8BitsRowwise", false, true, false},
              {"SparseLengthsWeightedMean8BitsRowwise", false, true, true}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.type);
    std::vector<float> want;
    for (size_t s = 0, first = 0; s < 3; first += static_cast<size_t>(lengths[s++])) {
      for (size_t j = 0; j < 3; ++j) {
        double sum = 0;
        for (size_t i = first; i < first + static_cast<size_t>(lengths[s]); ++i) {
          const auto from = static_cast<size_t>(indices[i]);
          sum += (bytes[from * 3 + j] * double{scales[2 * from]} + double{scales[2 * from + 1]}) *
                 (row.weighted ? double{weights[i]} : 1);
        }
        want.push_back(static_cast<float>(row.mean && lengths[s] > 0 ? sum / lengths[s] : sum));
      }
    }
    RunOp(&ws, MakeString("type: \"", row.type, "\" input: \"", row.is_fused ? "fused" : "rows",
                          "\"", row.weighted ? " input: \"w\"" : "", " input: \"I\" input: \"L\"",
                          row.is_fused ? "" : " input: \"s\"", " output: \"Y\""));
    ExpectTensor<float>(ws, "Y",
                        row.is_fused ? std::vector<int64_t>{3, 3} : std::vector<int64_t>{3, 3, 1},
                        want, 1e-5);
  }
}

TEST(QuantizeLoopsTest, LookUpsAgreeForBothTypesOfIndices) {
  ExpectLookUps<int32_t>();
  ExpectLookUps<int64_t>();
}

}  // namespace
}  // namespace caffe2rt::test::quantize_loops_test
