// Pools and their gradients for all combinations of odd axes: of size 1, covered by one window or by
// all, with padding, gaps and columns behind the last window. The reference adds up in double.
#include <cmath>

#include "tests/operators/pool/naive_pool.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::gradient_axes_test {
namespace {

using namespace test;  // used throughout this file

constexpr int kBatch = 2, kChannels = 2;

// in, kernel, stride, pads.
const std::vector<NaiveAxis>& OddAxes() {
  static const std::vector<NaiveAxis> axes = {
      {1, 1, 1, 0, 0},   // nothing slides
      {1, 2, 1, 1, 1},   // two windows over the same element
      {4, 4, 1, 0, 0},   // one window covers the axis
      {3, 3, 2, 1, 1},   // each element is in other windows
      {2, 4, 1, 2, 2},   // every window but the outer ones covers the axis
      {5, 2, 2, 0, 0},   // an element behind the last window
      {5, 1, 2, 0, 0},   // elements between the windows
      {4, 2, 1, -1, 1},  // the first element is cut off
  };
  return axes;
}

// All heights, with some depths and widths.
std::vector<std::vector<NaiveAxis>> ThreeOddAxes() {
  const std::vector<NaiveAxis> depths = {{1, 1, 1, 0, 0}, {4, 3, 2, 1, 1}, {3, 1, 2, 0, 0}};
  const std::vector<NaiveAxis> widths = {
      {1, 1, 1, 0, 0},
      {5, 2, 2, 0, 0},
      {20, 3, 2, 1, 1},   // whole vectors and a rest
      {19, 2, 17, 1, 0},  // windows far apart
  };
  std::vector<std::vector<NaiveAxis>> all;
  for (const NaiveAxis& depth : depths) {
    for (const NaiveAxis& height : OddAxes()) {
      for (const NaiveAxis& width : widths) all.push_back({depth, height, width});
    }
  }
  return all;
}

struct PoolValues {
  std::vector<float> x, y, dy, dx;  // NCHW
};

std::vector<float> Ordered(const std::vector<float>& values, bool last) {
  return last ? ToChannelsLast(values, kBatch, kChannels) : values;
}

// Runs the pool and its gradient in both layouts.
void ExpectPool(Workspace* ws, const std::string& type, const std::vector<NaiveAxis>& axes,
                const std::string& more, const PoolValues& values) {
  for (const bool last : {false, true}) {
    const std::string op = PoolOp(type, axes, last ? "NHWC" : "NCHW") + more;
    SCOPED_TRACE(op);
    const auto in = PoolDims(axes, kBatch, kChannels, last, false);
    const auto out = PoolDims(axes, kBatch, kChannels, last, true);
    Feed<float>(ws, "X", in, Ordered(values.x, last));
    RunOp(ws, op);
    ExpectTensor<float>(*ws, "Y", out, Ordered(values.y, last), 1e-5);
    Feed<float>(ws, "dY", out, Ordered(values.dy, last));
    RunOp(ws, GradientOf(op));
    ExpectTensor<float>(*ws, "dX", in, Ordered(values.dx, last), 1e-5);
  }
}

int Elements(const std::vector<NaiveAxis>& axes, bool out) {
  int n = kBatch * kChannels;
  for (const NaiveAxis& axis : axes) n *= out ? axis.out() : axis.in;
  return n;
}

void ExpectNaivePool(const std::string& type, bool mean, bool include_pad) {
  Workspace ws;
  uint32_t seed = 1;
  const std::string more = include_pad ? R"( arg { name: "count_include_pad" i: 1 })" : "";
  for (const std::vector<NaiveAxis>& axes : ThreeOddAxes()) {
    constexpr int kPlanes = kBatch * kChannels;
    const NaiveAxis &d = axes[0], &h = axes[1], &w = axes[2];
    PoolValues values;
    values.x = RandomValues(Elements(axes, false), -1, 1, ++seed);
    values.dy = RandomValues(Elements(axes, true), -1, 1, ++seed);
    values.y = NaivePool(values.x, kPlanes, d, h, w, mean, include_pad);
    values.dx = NaivePoolGradient(values.x, values.dy, kPlanes, d, h, w, mean, include_pad);
    ExpectPool(&ws, type, axes, more, values);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(PoolGradientAxesTest, MeansOverThreeAxes) {
  ExpectNaivePool("AveragePool", /*mean=*/true, /*include_pad=*/false);
}

TEST(PoolGradientAxesTest, MeansThatIncludePaddingOverThreeAxes) {
  ExpectNaivePool("AveragePool", /*mean=*/true, /*include_pad=*/true);
}

TEST(PoolGradientAxesTest, MaximaOverThreeAxes) {
  ExpectNaivePool("MaxPool", /*mean=*/false, /*include_pad=*/false);
}

// y = (sum of |x|^p)^(1/p), and dx the sum of dy x |x|^(p - 2) / y^(p - 1).
PoolValues NaiveNorms(const NaiveAxis& h, const NaiveAxis& w, double p, uint32_t seed) {
  PoolValues values;
  values.x = RandomValues(Elements({h, w}, false), -1, 1, seed);
  for (float& x : values.x) x += x < 0 ? -0.25f : 0.25f;  // at 0, p = 1 has no gradient
  values.dy = RandomValues(Elements({h, w}, true), -1, 1, seed + 1);
  std::vector<double> dx(values.x.size());
  for (int i = 0; i < Elements({h, w}, true); ++i) {
    const int plane = i / w.out() / h.out();
    const int top = i / w.out() % h.out() * h.stride - h.head;
    const int left = i % w.out() * w.stride - w.head;
    std::vector<size_t> inside;
    double sum = 0;
    for (int r = std::max(top, 0); r < std::min(top + h.kernel, h.in); ++r) {
      for (int c = std::max(left, 0); c < std::min(left + w.kernel, w.in); ++c) {
        inside.push_back(static_cast<size_t>((plane * h.in + r) * w.in + c));
        sum += std::pow(std::abs(static_cast<double>(values.x[inside.back()])), p);
      }
    }
    const double y = std::pow(sum, 1 / p);
    values.y.push_back(static_cast<float>(y));
    for (const size_t at : inside) {
      const double x = values.x[at];
      dx[at] +=
          values.dy[static_cast<size_t>(i)] * x * std::pow(std::abs(x), p - 2) / std::pow(y, p - 1);
    }
  }
  values.dx.assign(dx.begin(), dx.end());
  return values;
}

TEST(PoolGradientAxesTest, NormsOverTwoAxes) {
  Workspace ws;
  uint32_t seed = 1;
  for (const std::vector<NaiveAxis>& axes : ThreeOddAxes()) {
    if (axes[0].kernel != 1 || axes[0].in != 1) continue;  // each pair of height and width once
    for (const double p : {1.0, 2.0, 3.5}) {
      seed += 2;
      ExpectPool(&ws, "LpPool", {axes[1], axes[2]}, MakeString(" arg { name: \"p\" f: ", p, " }"),
                 NaiveNorms(axes[1], axes[2], p, seed));
    }
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace caffe2rt::gradient_axes_test
