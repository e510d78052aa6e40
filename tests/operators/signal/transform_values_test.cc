// Transforms of complex signals of every kind of length along inner axes, by the sum that defines them; mel weights
// by the formula of their triangles; and operators that run again with other sizes.
#include <cmath>
#include <complex>

#include "caffe2_core/runtime/net.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::transform_values_test {
namespace {

using Complex = std::complex<double>;
constexpr double kPi = 3.14159265358979323846;

// `n` terms of the definition, of a signal that is cut or followed by zeros.
std::vector<Complex> Transformed(const std::vector<Complex>& x, int64_t n, bool inverse) {
  std::vector<Complex> y;
  for (int64_t k = 0; k < n; ++k) {
    Complex sum = 0;
    for (int64_t i = 0; i < std::min<int64_t>(n, static_cast<int64_t>(x.size())); ++i) {
      const double angle =
          (inverse ? 2 : -2) * kPi * static_cast<double>(i * k % n) / static_cast<double>(n);
      sum += x[static_cast<size_t>(i)] * std::polar(1.0, angle);
    }
    y.push_back(inverse ? sum / static_cast<double>(n) : sum);
  }
  return y;
}

// X is [2, in, 3, 2], transformed along axis 1.
std::vector<float> WantedTransform(const std::vector<float>& x, int64_t in, int64_t n,
                                   bool inverse) {
  std::vector<float> y(static_cast<size_t>(2 * n * 3 * 2));
  for (int64_t outer = 0; outer < 2; ++outer) {
    for (int64_t inner = 0; inner < 3; ++inner) {
      std::vector<Complex> row;
      for (int64_t i = 0; i < in; ++i) {
        const size_t at = static_cast<size_t>(((outer * in + i) * 3 + inner) * 2);
        row.emplace_back(x[at], x[at + 1]);
      }
      const std::vector<Complex> result = Transformed(row, n, inverse);
      for (int64_t k = 0; k < n; ++k) {
        const size_t at = static_cast<size_t>(((outer * n + k) * 3 + inner) * 2);
        y[at] = static_cast<float>(result[static_cast<size_t>(k)].real());
        y[at + 1] = static_cast<float>(result[static_cast<size_t>(k)].imag());
      }
    }
  }
  return y;
}

// One operator for all lengths: powers of two and others, cut and padded.
TEST(TransformValuesTest, DftOfComplexSignalsAlongAnInnerAxis) {
  for (const bool inverse : {false, true}) {
    Workspace ws;
    Feed<int64_t>(&ws, "axis", {}, {1});
    FeedRandom(&ws, "x", {2, 1, 3, 2});
    Feed<int64_t>(&ws, "n", {}, {1});
    NetBase* const net = ws.CreateNet(ParseNet(MakeString(
        "name: 'n' op { type: 'DFT' input: 'x' input: 'n' input: 'axis' output: 'y' arg { name: "
        "'inverse' i: ",
        inverse, " } }")));
    for (const auto& [in, n] : {std::pair<int64_t, int64_t>{5, 5},
                                {8, 8},
                                {6, 4},
                                {3, 7},
                                {7, 3},
                                {2, 8},
                                {9, 6},
                                {1, 1}}) {
      SCOPED_TRACE(MakeString(in, " to ", n));
      FeedRandom(&ws, "x", {2, in, 3, 2}, -1, 1, static_cast<uint32_t>(in));
      Feed<int64_t>(&ws, "n", {}, {n});
      ASSERT_TRUE(net->Run());
      ExpectTensor<float>(ws, "y", {2, n, 3, 2},
                          WantedTransform(Fetch<float>(ws, "x"), in, n, inverse), 1e-5);
    }
  }
}

// The first half of the spectrum of a real signal, and the signal of the half.
TEST(TransformValuesTest, HalvesOfSpectraGoBothWays) {
  for (const int64_t n : {2, 3, 6, 7, 8}) {
    SCOPED_TRACE(n);
    Workspace ws;
    FeedRandom(&ws, "x", {1, n, 1});
    Feed<int64_t>(&ws, "n", {}, {n});
    RunOp(&ws, "type: 'DFT' input: 'x' output: 'half' arg { name: 'onesided' i: 1 }");
    RunOp(&ws, "type: 'DFT' input: 'x' output: 'all'");
    std::vector<float> first = Fetch<float>(ws, "all");
    first.resize(static_cast<size_t>(2 * (n / 2 + 1)));
    ExpectTensor<float>(ws, "half", {1, n / 2 + 1, 2}, first, 1e-6);
    RunOp(&ws,
          "type: 'DFT' input: 'half' input: 'n' output: 'back' arg { name: 'onesided' i: 1 } "
          "arg { name: 'inverse' i: 1 }");
    ExpectTensor<float>(ws, "back", {1, n, 1}, Fetch<float>(ws, "x"), 1e-6);
    RunOp(&ws, "type: 'DFT' input: 'all' output: 'again' arg { name: 'inverse' i: 1 }");
    std::vector<float> complex;
    for (const float value : Fetch<float>(ws, "x")) complex.insert(complex.end(), {value, 0.0f});
    ExpectTensor<float>(ws, "again", {1, n, 2}, complex, 1e-6);
  }
}

TEST(TransformValuesTest, StepsOfFramesAreOneNumber) {
  Workspace ws;
  Feed<float>(&ws, "x", {1, 4, 1}, {1, 2, 3, 4});
  Feed<float>(&ws, "w", {2}, {1, 1});
  const char* const op = "type: 'STFT' input: 'x' input: 'step' input: 'w' output: 'y'";
  Feed<int32_t>(&ws, "step", {2}, {1, 2});
  ExpectThrows([&] { RunOp(&ws, op); }, "input 1 (frame_step)");
  Feed<int32_t>(&ws, "step", {0}, {});
  ExpectThrows([&] { RunOp(&ws, op); }, "input 1 (frame_step)");
}

// Frames of `length` at a distance of `step`, weighted, of each signal.
TEST(TransformValuesTest, StftOfSignalsByTheDefinition) {
  for (const auto& [length, step] : {std::pair<int64_t, int64_t>{4, 1}, {5, 3}, {6, 2}, {9, 4}}) {
    for (const bool onesided : {false, true}) {
      SCOPED_TRACE(MakeString(length, " by ", step));
      Workspace ws;
      FeedRandom(&ws, "x", {2, 9, 1}, -1, 1, 1);
      FeedRandom(&ws, "w", {length}, 0, 1, 2);
      Feed<int32_t>(&ws, "step", {}, {static_cast<int32_t>(step)});
      RunOp(&ws,
            MakeString("type: 'STFT' input: 'x' input: 'step' input: 'w' output: 'y' arg { name: "
                       "'onesided' i: ",
                       onesided, " }"));
      const std::vector<float> x = Fetch<float>(ws, "x"), w = Fetch<float>(ws, "w");
      const int64_t frames = (9 - length) / step + 1, bins = onesided ? length / 2 + 1 : length;
      std::vector<float> want;
      for (int64_t signal = 0; signal < 2; ++signal) {
        for (int64_t frame = 0; frame < frames; ++frame) {
          std::vector<Complex> part;
          for (int64_t i = 0; i < length; ++i) {
            part.emplace_back(x[static_cast<size_t>(signal * 9 + frame * step + i)] *
                              static_cast<double>(w[static_cast<size_t>(i)]));
          }
          const std::vector<Complex> spectrum = Transformed(part, length, false);
          for (int64_t k = 0; k < bins; ++k) {
            want.push_back(static_cast<float>(spectrum[static_cast<size_t>(k)].real()));
            want.push_back(static_cast<float>(spectrum[static_cast<size_t>(k)].imag()));
          }
        }
      }
      ExpectTensor<float>(ws, "y", {2, frames, bins, 2}, want, 1e-5);
    }
  }
}

// The points are equal steps on the mel scale; each triangle rises from the first of three to the second.
TEST(TransformValuesTest, MelWeightsAreTriangles) {
  constexpr int64_t kBins = 3, kLength = 256, kRate = 8000;
  const double low = 200, high = 3500;
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  std::vector<int64_t> points;
  for (int64_t i = 0; i < kBins + 2; ++i) {
    const double at = mel(low) + static_cast<double>(i) * (mel(high) - mel(low)) / (kBins + 2);
    const double hertz = 700 * (std::pow(10, at / 2595) - 1);
    points.push_back(static_cast<int64_t>(std::floor((kLength + 1) * hertz / kRate)));
  }
  std::vector<float> want;
  for (int64_t row = 0; row <= kLength / 2; ++row) {
    for (size_t bin = 0; bin < kBins; ++bin) {
      const auto left = static_cast<double>(points[bin]),
                 peak = static_cast<double>(points[bin + 1]),
                 right = static_cast<double>(points[bin + 2]), r = static_cast<double>(row);
      const double weight = r <= left || r >= right ? 0
                            : r <= peak             ? (r - left) / (peak - left)
                                                    : (right - r) / (right - peak);
      want.push_back(static_cast<float>(weight));
    }
  }
  ASSERT_GT(points[1] - points[0], 3);  // slopes of several rows
  Workspace ws;
  Feed<int64_t>(&ws, "bins", {}, {kBins});
  Feed<int32_t>(&ws, "length", {}, {kLength});
  Feed<int64_t>(&ws, "rate", {}, {kRate});
  Feed<double>(&ws, "low", {}, {low});
  Feed<float>(&ws, "high", {}, {static_cast<float>(high)});
  RunOp(&ws,
        "type: 'MelWeightMatrix' input: 'bins' input: 'length' input: 'rate' input: 'low' input: "
        "'high' "
        "output: 'y'");
  ExpectTensor<float>(ws, "y", {kLength / 2 + 1, kBins}, want, 1e-6);
}

TEST(TransformValuesTest, WindowsByTheirFormula) {
  const struct {
    const char* type;
    double a0, a1, a2;
  } rows[] = {{"HannWindow", 0.5, 0.5, 0},
              {"HammingWindow", 25.0 / 46, 21.0 / 46, 0},
              {"BlackmanWindow", 0.42, 0.5, 0.08}};
  for (const auto& row : rows) {
    for (const int64_t size : {2, 5, 8}) {
      for (const bool periodic : {true, false}) {
        SCOPED_TRACE(MakeString(row.type, " ", size));
        std::vector<double> want;
        for (int64_t k = 0; k < size; ++k) {
          const double angle =
              2 * kPi * static_cast<double>(k) / static_cast<double>(periodic ? size : size - 1);
          want.push_back(row.a0 - row.a1 * std::cos(angle) + row.a2 * std::cos(2 * angle));
        }
        Workspace ws;
        Feed<int64_t>(&ws, "n", {}, {size});
        RunOp(&ws, MakeString("type: '", row.type,
                              "' input: 'n' output: 'y' arg { name: 'periodic' i: ", periodic,
                              " } arg { name: 'output_datatype' i: 13 }"));
        ExpectTensor<double>(ws, "y", {size}, want, 1e-12);
      }
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::transform_values_test
