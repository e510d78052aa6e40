// Batch normalization in training, run after run: each run has the moments of its own batch, and moves the running ones.
#include <cmath>
#include <string>
#include <vector>

#include "caffe2_core/runtime/net.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::spatial_bn_runs_test {
namespace {

// The batches of a test: [batch, channels, height, width] or, with NHWC, [batch, height, width, channels].
struct Batch {
  int64_t batch, height, width;
};

class SpatialBnRunsTest : public testing::TestWithParam<const char*> {};

TEST_P(SpatialBnRunsTest, HaveTheMomentsOfTheirOwnBatch) {
  const std::string order = GetParam();
  constexpr int64_t kChannels = 5;
  Workspace ws;
  const std::vector<float> scale = {1, -0.5f, 2, 0.25f, 3}, bias = {0, 1, -2, 3, 0.5f};
  Feed<float>(&ws, "s", {kChannels}, scale);
  Feed<float>(&ws, "b", {kChannels}, bias);
  std::vector<float> mean = {1, 2, 3, 4, 5}, var = {5, 4, 3, 2, 1};
  Feed<float>(&ws, "m", {kChannels}, mean);
  Feed<float>(&ws, "v", {kChannels}, var);
  NetBase* net = nullptr;
  uint32_t seed = 1;
  for (const Batch& size : {Batch{2, 3, 4}, {2, 3, 4}, {1, 2, 7}, {3, 4, 3}, {2, 1, 1}}) {
    SCOPED_TRACE(seed);
    const int64_t positions = size.height * size.width;
    const std::vector<int64_t> dims =
        order == "NCHW" ? std::vector<int64_t>{size.batch, kChannels, size.height, size.width}
                        : std::vector<int64_t>{size.batch, size.height, size.width, kChannels};
    FeedRandom(&ws, "X", dims, -3, 2, seed++);
    if (net == nullptr) {
      net = ws.CreateNet(ParseNet(MakeString(
          "name: 'n' op { type: 'SpatialBN' input: 'X' input: 's' input: 'b' input: 'm' input: 'v' "
          "output: 'Y' output: 'm' output: 'v' output: 'd' output: 'e' arg { name: 'is_test' i: 0 "
          "} "
          "arg { name: 'momentum' f: 0.75 } arg { name: 'epsilon' f: 0.5 } "
          "arg { name: 'order' s: '",
          order, "' } }")));
    }
    ASSERT_TRUE(net->Run());
    const std::vector<float> x = Fetch<float>(ws, "X");
    const auto at = [&](int64_t i, int64_t c, int64_t p) {
      return static_cast<size_t>(order == "NCHW" ? (i * kChannels + c) * positions + p
                                                 : (i * positions + p) * kChannels + c);
    };
    std::vector<float> y(x.size()), saved_mean, saved_scale;
    const auto count = static_cast<double>(size.batch * positions);
    for (int64_t c = 0; c < kChannels; ++c) {
      double sum = 0, squares = 0;
      for (int64_t i = 0; i < size.batch; ++i) {
        for (int64_t p = 0; p < positions; ++p) sum += x[at(i, c, p)] / count;
      }
      for (int64_t i = 0; i < size.batch; ++i) {
        for (int64_t p = 0; p < positions; ++p) squares += std::pow(x[at(i, c, p)] - sum, 2);
      }
      const double factor = 1 / std::sqrt(squares / count + 0.5);
      const auto k = static_cast<size_t>(c);
      for (int64_t i = 0; i < size.batch; ++i) {
        for (int64_t p = 0; p < positions; ++p) {
          y[at(i, c, p)] = static_cast<float>((x[at(i, c, p)] - sum) * factor * scale[k] + bias[k]);
        }
      }
      saved_mean.push_back(static_cast<float>(sum));
      saved_scale.push_back(static_cast<float>(factor));
      mean[k] = static_cast<float>(0.75 * mean[k] + 0.25 * sum);
      var[k] = static_cast<float>(0.75 * var[k] + 0.25 * squares / (count - 1));
    }
    ExpectTensor<float>(ws, "Y", dims, y, 1e-5);
    ExpectTensor<float>(ws, "d", {kChannels}, saved_mean, 1e-5);
    ExpectTensor<float>(ws, "e", {kChannels}, saved_scale, 1e-5);
    ExpectTensor<float>(ws, "m", {kChannels}, mean, 1e-5);
    ExpectTensor<float>(ws, "v", {kChannels}, var, 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, SpatialBnRunsTest, testing::Values("NCHW", "NHWC"));

}  // namespace
}  // namespace caffe2rt::test::spatial_bn_runs_test
