// Normalizations over groups of channels, over single channels and over batches, in both orders, on random shapes, and
// their gradients, compared with the definition in double.

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/support/operator_test.h"

namespace caffe2rt::random_norms_test {
namespace {

using test::ExpectTensor;
using test::Feed;

constexpr double kEpsilon = 0.0625;

// The elements of X by image, channel and position; each belongs to a set whose mean and variance are computed.
class RandomNormsTest : public testing::Test {
 protected:
  struct Result {
    std::vector<float> y, dx, dgamma, dbeta;
    std::vector<float> mean, inverse;  // of each set
    std::vector<double> variance;
  };

  int64_t Int(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  std::vector<float> Values(int64_t n) {
    std::vector<float> values(static_cast<size_t>(n));
    for (float& value : values) value = static_cast<float>(Int(-16, 16)) / 8;
    return values;
  }
  void Draw(int64_t channels) {
    batch_ = Int(1, 3);
    channels_ = channels;
    const int64_t height = Int(1, 5), width = Int(1, Int(0, 3) == 0 ? 40 : 6);
    positions_ = height * width;
    last_ = Int(0, 1) == 1;
    dims_ = last_ ? std::vector<int64_t>{batch_, height, width, channels_}
                  : std::vector<int64_t>{batch_, channels_, height, width};
    x_ = Values(batch_ * channels_ * positions_);
    dy_ = Values(batch_ * channels_ * positions_);
    gamma_ = Values(channels_);
    beta_ = Values(channels_);
    Feed<float>(&ws_, "X", dims_, x_);
    Feed<float>(&ws_, "G", dims_, dy_);
    Feed<float>(&ws_, "s", {channels_}, gamma_);
    Feed<float>(&ws_, "b", {channels_}, beta_);
  }
  size_t At(int64_t n, int64_t c, int64_t p) const {
    return static_cast<size_t>(last_ ? (n * positions_ + p) * channels_ + c
                                     : (n * channels_ + c) * positions_ + p);
  }
  void ForEach(const std::function<void(size_t at, int64_t n, int64_t c)>& f) const {
    for (int64_t n = 0; n < batch_; ++n) {
      for (int64_t c = 0; c < channels_; ++c) {
        for (int64_t p = 0; p < positions_; ++p) f(At(n, c, p), n, c);
      }
    }
  }
  // `set_of(n, c)`: one of `sets`, each of `size` elements.
  Result Normalize(int64_t sets, const std::function<int64_t(int64_t, int64_t)>& set_of) const {
    const auto count = static_cast<size_t>(sets);
    const double size = static_cast<double>(x_.size()) / static_cast<double>(sets);
    std::vector<double> mean(count), variance(count), inverse, g(count), g_hat(count);
    const auto place = [&](int64_t n, int64_t c) { return static_cast<size_t>(set_of(n, c)); };
    ForEach([&](size_t at, int64_t n, int64_t c) { mean[place(n, c)] += x_[at] / size; });
    ForEach([&](size_t at, int64_t n, int64_t c) {
      const double d = x_[at] - mean[place(n, c)];
      variance[place(n, c)] += d * d / size;
    });
    for (const double v : variance) inverse.push_back(1 / std::sqrt(v + kEpsilon));
    std::vector<double> dgamma(gamma_.size()), dbeta(gamma_.size());
    const auto hat = [&](size_t at, size_t set) { return (x_[at] - mean[set]) * inverse[set]; };
    ForEach([&](size_t at, int64_t n, int64_t c) {
      const size_t set = place(n, c), channel = static_cast<size_t>(c);
      g[set] += dy_[at] * gamma_[channel] / size;
      g_hat[set] += dy_[at] * gamma_[channel] * hat(at, set) / size;
      dgamma[channel] += dy_[at] * hat(at, set);
      dbeta[channel] += dy_[at];
    });
    Result result;
    result.y.resize(x_.size());
    result.dx.resize(x_.size());
    ForEach([&](size_t at, int64_t n, int64_t c) {
      const size_t set = place(n, c), channel = static_cast<size_t>(c);
      result.y[at] = static_cast<float>(hat(at, set) * gamma_[channel] + beta_[channel]);
      result.dx[at] = static_cast<float>(
          inverse[set] * (dy_[at] * gamma_[channel] - g[set] - hat(at, set) * g_hat[set]));
    });
    result.mean.assign(mean.begin(), mean.end());
    result.inverse.assign(inverse.begin(), inverse.end());
    result.dgamma.assign(dgamma.begin(), dgamma.end());
    result.dbeta.assign(dbeta.begin(), dbeta.end());
    result.variance = variance;
    return result;
  }
  std::string Arguments() const {
    return std::string(" arg { name: 'epsilon' f: 0.0625 } arg { name: 'order' s: '") +
           (last_ ? "NHWC" : "NCHW") + "' }";
  }
  void Run(const std::string& op) { test::RunOp(&ws_, op + " device_option {}"); }
  void Expect(const std::string& name, const std::vector<int64_t>& dims,
              const std::vector<float>& want) {
    ExpectTensor<float>(ws_, name, dims, want, 1e-4);
  }
  void ExpectGradients(const Result& want) {
    Expect("dX", dims_, want.dx);
    Expect("ds", {channels_}, want.dgamma);
    Expect("db", {channels_}, want.dbeta);
  }

  std::mt19937 random_{13};
  Workspace ws_;
  int64_t batch_ = 0, channels_ = 0, positions_ = 0;
  bool last_ = false;
  std::vector<int64_t> dims_;
  std::vector<float> x_, dy_, gamma_, beta_;
};

TEST_F(RandomNormsTest, OfGroupsOfChannels) {
  for (int i = 0; i < 50; ++i) {
    const int64_t groups = Int(1, 4), each = Int(1, Int(0, 2) == 0 ? 20 : 4);
    Draw(groups * each);
    SCOPED_TRACE(MakeString(IntArrayRef(dims_), " ", groups, Arguments()));
    const Result want =
        Normalize(batch_ * groups, [&](int64_t n, int64_t c) { return n * groups + c / each; });
    const std::string args =
        Arguments() + " arg { name: 'group' i: " + std::to_string(groups) + " }";
    Run("type: 'GroupNorm' input: 'X' input: 's' input: 'b' output: 'Y' output: 'm' output: 'i'" +
        args);
    Expect("Y", dims_, want.y);
    Expect("m", {batch_, groups}, want.mean);
    Expect("i", {batch_, groups}, want.inverse);
    Run("type: 'GroupNormGradient' input: 'G' input: 'X' input: 's' input: 'b' input: 'm' "
        "input: 'i' output: 'dX' output: 'ds' output: 'db'" +
        args);
    ExpectGradients(want);
  }
}

TEST_F(RandomNormsTest, OfTheChannelsOfAnImage) {
  for (int i = 0; i < 50; ++i) {
    Draw(Int(1, Int(0, 2) == 0 ? 40 : 6));
    SCOPED_TRACE(MakeString(IntArrayRef(dims_), Arguments()));
    const Result want =
        Normalize(batch_ * channels_, [&](int64_t n, int64_t c) { return n * channels_ + c; });
    Run("type: 'InstanceNorm' input: 'X' input: 's' input: 'b' output: 'Y' output: 'm' "
        "output: 'i'" +
        Arguments());
    Expect("Y", dims_, want.y);
    Expect("m", {batch_, channels_}, want.mean);
    Expect("i", {batch_, channels_}, want.inverse);
    const std::string gradient =
        "type: 'InstanceNormGradient' input: 'X' input: 's' input: 'b' input: 'G'";
    const std::string outputs = " output: 'dX' output: 'ds' output: 'db'" + Arguments();
    Run(gradient + " input: 'm' input: 'i'" + outputs);
    ExpectGradients(want);
    Run(gradient + outputs);  // which computes the statistics again
    ExpectGradients(want);
  }
}

TEST_F(RandomNormsTest, OfTheChannelsOfABatch) {
  for (int i = 0; i < 50; ++i) {
    Draw(Int(1, Int(0, 2) == 0 ? 40 : 6));
    if (batch_ * positions_ < 2) continue;  // no unbiased variance
    SCOPED_TRACE(MakeString(IntArrayRef(dims_), Arguments()));
    const Result want = Normalize(channels_, [](int64_t, int64_t c) { return c; });
    const std::vector<int64_t> of_channels = {channels_};
    std::vector<float> sums, squares, mean(want.mean.size()), variance(mean.size());
    const double n = static_cast<double>(batch_ * positions_);
    for (size_t c = 0; c < mean.size(); ++c) {
      const double m = want.mean[c];
      sums.push_back(static_cast<float>(m * n));
      squares.push_back(static_cast<float>((want.variance[c] + m * m) * n));
      mean[c] = static_cast<float>(0.75 * 4 + 0.25 * m);
      variance[c] = static_cast<float>(0.75 * 8 + 0.25 * want.variance[c] * n / (n - 1));
    }
    Feed<float>(&ws_, "m", of_channels, std::vector<float>(mean.size(), 4));
    Feed<float>(&ws_, "v", of_channels, std::vector<float>(mean.size(), 8));
    Run("type: 'SpatialBN' input: 'X' input: 's' input: 'b' input: 'm' input: 'v' output: 'Y' "
        "output: 'm' output: 'v' output: 'sm' output: 'sv' arg { name: 'momentum' f: 0.75 } "
        "arg { name: 'is_test' i: 0 }" +
        Arguments());
    Expect("Y", dims_, want.y);
    Expect("m", of_channels, mean);
    Expect("v", of_channels, variance);
    Expect("sm", of_channels, want.mean);
    Expect("sv", of_channels, want.inverse);
    Run("type: 'SpatialBNGradient' input: 'X' input: 's' input: 'G' input: 'sm' input: 'sv' "
        "output: 'dX' output: 'ds' output: 'db' arg { name: 'is_test' i: 0 }" +
        Arguments());
    ExpectGradients(want);
    if (!last_) {
      Run("type: 'ChannelBackpropStats' input: 'X' input: 'sm' input: 'sv' input: 'G' "
          "output: 'es' output: 'eb'");
      Expect("es", of_channels, want.dgamma);
      Expect("eb", of_channels, want.dbeta);
    }
    // With given statistics.
    std::vector<float> given(x_.size());
    ForEach([&](size_t at, int64_t, int64_t c) {
      const auto channel = static_cast<size_t>(c);
      given[at] = static_cast<float>((x_[at] - mean[channel]) /
                                         std::sqrt(variance[channel] + kEpsilon) * gamma_[channel] +
                                     beta_[channel]);
    });
    Run("type: 'SpatialBN' input: 'X' input: 's' input: 'b' input: 'm' input: 'v' output: 'Y' "
        "arg { name: 'is_test' i: 1 }" +
        Arguments());
    Expect("Y", dims_, given);
    Run("type: 'ChannelStats' input: 'X' output: 'S' output: 'Q'" + Arguments());
    Expect("S", of_channels, sums);
    Expect("Q", of_channels, squares);
    for (float& value : squares) value = static_cast<float>(value / n);
    Run("type: 'BatchMoments' input: 'X' output: 'M' output: 'V'" + Arguments());
    Expect("M", of_channels, want.mean);
    Expect("V", of_channels, squares);
  }
}

}  // namespace
}  // namespace caffe2rt::random_norms_test
