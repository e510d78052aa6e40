// Local response normalization of planes with more positions than are processed together, by the definition.
#include <cmath>
#include <string>
#include <vector>

#include "tests/support/operator_test.h"

namespace caffe2rt::test::lrn_planes_test {
namespace {

struct LrnPlanesCase {
  int64_t batch, channels, height, width;
  int size;
  const char* order;
};

class LrnPlanesTest : public testing::TestWithParam<LrnPlanesCase> {
 protected:
  // The place of channel c of position p of image i.
  size_t At(int64_t i, int64_t c, int64_t p) const {
    const LrnPlanesCase& row = GetParam();
    const int64_t positions = row.height * row.width;
    return static_cast<size_t>(std::string(row.order) == "NCHW"
                                   ? (i * row.channels + c) * positions + p
                                   : (i * positions + p) * row.channels + c);
  }
};

TEST_P(LrnPlanesTest, AreNormalizedByTheDefinition) {
  const LrnPlanesCase& row = GetParam();
  const int64_t positions = row.height * row.width, half = row.size / 2;
  const double alpha = 0.75, beta = 0.6, bias = 1.5;
  const bool first = std::string(row.order) == "NCHW";
  const std::vector<int64_t> dims =
      first ? std::vector<int64_t>{row.batch, row.channels, row.height, row.width}
            : std::vector<int64_t>{row.batch, row.height, row.width, row.channels};
  Workspace ws;
  FeedRandom(&ws, "X", dims, -2, 2, 1);
  FeedRandom(&ws, "G", dims, -1, 1, 2);
  const std::vector<float> x = Fetch<float>(ws, "X"), g = Fetch<float>(ws, "G");
  std::vector<double> scale(x.size()), ratio(x.size());
  std::vector<float> y(x.size()), dx(x.size());
  const auto for_each = [&](const auto& f) {
    for (int64_t i = 0; i < row.batch; ++i) {
      for (int64_t p = 0; p < positions; ++p) {
        for (int64_t c = 0; c < row.channels; ++c) f(i, c, p);
      }
    }
  };
  const auto window = [&](int64_t i, int64_t c, int64_t p, const auto& f) {
    double sum = 0;
    for (int64_t k = std::max<int64_t>(c - half, 0); k <= std::min(c + half, row.channels - 1); ++k)
      sum += f(At(i, k, p));
    return sum;
  };
  for_each([&](int64_t i, int64_t c, int64_t p) {
    const double squares = window(i, c, p, [&](size_t k) { return double{x[k]} * x[k]; });
    const size_t at = At(i, c, p);
    scale[at] = bias + alpha / row.size * squares;
    y[at] = static_cast<float>(x[at] * std::pow(scale[at], -beta));
    ratio[at] = g[at] * x[at] * std::pow(scale[at], -beta - 1);
  });
  for_each([&](int64_t i, int64_t c, int64_t p) {
    const size_t at = At(i, c, p);
    const double sum = window(i, c, p, [&](size_t k) { return ratio[k]; });
    dx[at] = static_cast<float>(g[at] * std::pow(scale[at], -beta) -
                                2 * alpha * beta / row.size * x[at] * sum);
  });
  const std::string arguments =
      MakeString("arg { name: 'size' i: ", row.size, " } arg { name: 'alpha' f: ", alpha,
                 " } arg { name: 'beta' f: ", beta, " } arg { name: 'bias' f: ", bias,
                 " } arg { name: 'order' s: '", row.order, "' }");
  RunOp(&ws, "type: 'LRN' input: 'X' output: 'Y' " + arguments);
  ExpectTensor<float>(ws, "Y", dims, y, 1e-5);
  RunOp(&ws, "type: 'LRNGradient' input: 'X' input: 'Y' input: 'G' output: 'D' " + arguments);
  ExpectTensor<float>(ws, "D", dims, dx, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(
    Planes, LrnPlanesTest,
    testing::Values(LrnPlanesCase{2, 5, 27, 20, 3, "NCHW"}, LrnPlanesCase{1, 3, 32, 33, 5, "NCHW"},
                    LrnPlanesCase{1, 2, 16, 32, 1, "NCHW"}, LrnPlanesCase{2, 7, 1, 513, 3, "NCHW"},
                    LrnPlanesCase{2, 6, 27, 20, 3, "NHWC"}, LrnPlanesCase{1, 19, 5, 7, 7, "NHWC"}));

}  // namespace
}  // namespace caffe2rt::test::lrn_planes_test
