// Losses of more positions and rows than a block of the kernels, by formulas in double; and operators that run
// again with other shapes.
#include <cmath>

#include "caffe2_core/runtime/net.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::many_positions_test {
namespace {

constexpr int64_t kImages = 2, kClasses = 3;

struct SpatialCase {
  int64_t height, width;
  bool weights;
  std::string args;
  double scale;
};

// The images, labels from -1 to 2, weights, and what the operators make of them.
class SpatialLoss {
 public:
  SpatialLoss(Workspace* ws, const SpatialCase& c) : positions_(c.height * c.width) {
    FeedRandom(ws, "X", {kImages, kClasses, c.height, c.width}, -2, 2, 1);
    FeedRandom(ws, "W", {kImages, c.height, c.width}, 0.5f, 2, 2);
    x_ = Fetch<float>(*ws, "X");
    w_ = Fetch<float>(*ws, "W");
    if (!c.weights) std::fill(w_.begin(), w_.end(), 1.0f);
    for (int64_t i = 0; i < kImages * positions_; ++i)
      labels_.push_back(static_cast<int32_t>(i * 7 % 4) - 1);
    Feed<int32_t>(ws, "L", {kImages, c.height, c.width}, labels_);
    Feed<float>(ws, "dZ", {}, {2});
  }
  double Probability(int64_t image, int64_t k, int64_t position) const {
    double sum = 0;
    for (int64_t j = 0; j < kClasses; ++j) sum += std::exp(x_[At(image, j, position)]);
    return std::exp(x_[At(image, k, position)]) / sum;
  }
  double Loss() const {
    double sum = 0;
    ForEachLabel([&](int64_t image, int64_t position, int32_t label, double weight) {
      sum -= weight * std::log(Probability(image, label, position));
    });
    return sum / Total();
  }
  std::vector<float> Gradient(double scale) const {
    std::vector<float> dx(x_.size(), 0.0f);
    ForEachLabel([&](int64_t image, int64_t position, int32_t label, double weight) {
      for (int64_t k = 0; k < kClasses; ++k) {
        dx[At(image, k, position)] = static_cast<float>(
            (Probability(image, k, position) - (k == label)) * weight * scale * 2 / Total());
      }
    });
    return dx;
  }

 private:
  size_t At(int64_t image, int64_t k, int64_t position) const {
    return static_cast<size_t>((image * kClasses + k) * positions_ + position);
  }
  template <class F>
  void ForEachLabel(const F& function) const {
    for (int64_t i = 0; i < kImages * positions_; ++i) {
      const size_t at = static_cast<size_t>(i);
      if (labels_[at] >= 0) function(i / positions_, i % positions_, labels_[at], w_[at]);
    }
  }
  double Total() const {
    double total = 0;
    ForEachLabel([&](int64_t, int64_t, int32_t, double weight) { total += weight; });
    return total;
  }

  const int64_t positions_;
  std::vector<float> x_, w_;
  std::vector<int32_t> labels_;
};

TEST(ManyPositionsTest, SpatialLossesOfEverySize) {
  const std::string half = " arg { name: 'scale' f: 0.5 }";
  const SpatialCase rows[] = {{1, 3, false, "", 1},
                              {1, 3, true, half, 0.5},
                              {16, 32, true, "", 1},
                              {1, 513, false, half, 0.5},
                              {31, 41, true, half, 0.5}};
  for (const SpatialCase& c : rows) {
    SCOPED_TRACE(MakeString(c.height, " x ", c.width));
    Workspace ws;
    const SpatialLoss want(&ws, c);
    const std::string inputs =
        std::string("input: 'X' input: 'L' ") + (c.weights ? "input: 'W' " : "");
    RunOp(&ws, "type: 'SpatialSoftmaxWithLoss' " + inputs + "output: 'P' output: 'Z'" + c.args);
    ExpectTensor<float>(ws, "Z", {}, {static_cast<float>(want.Loss())}, 1e-5);
    RunOp(&ws, "type: 'SpatialSoftmaxWithLossGradient' " + inputs +
                   "input: 'P' input: 'dZ' output: 'dX'" + c.args);
    ExpectTensor<float>(ws, "dX", {kImages, kClasses, c.height, c.width}, want.Gradient(c.scale),
                        1e-5);
  }
}

TEST(ManyPositionsTest, LossesRunAgainWithOtherShapes) {
  Workspace ws;
  const float log2 = std::log(2.0f), log3 = std::log(3.0f);
  Feed<float>(&ws, "X", {1, 3}, {0, 0, log2});
  Feed<int32_t>(&ws, "L", {1}, {2});
  NetBase* const net = ws.CreateNet(ParseNet(
      "name: 'n' op { type: 'SoftmaxWithLoss' input: 'X' input: 'L' output: 'P' output: 'Z' } "
      "op { type: 'SoftmaxWithLossGradient' input: 'X' input: 'L' input: 'P' input: 'Z' output: "
      "'dX' }"));
  ASSERT_TRUE(net->Run());
  ExpectTensor<float>(ws, "Z", {}, {log2}, 1e-6);
  ExpectTensor<float>(ws, "dX", {1, 3}, {log2 / 4, log2 / 4, -log2 / 2}, 1e-6);
  Feed<float>(&ws, "X", {2, 2}, {0, log3, 0, 0});
  Feed<int32_t>(&ws, "L", {2}, {1, 0});
  ASSERT_TRUE(net->Run());
  const float loss = (std::log(4.0f / 3) + log2) / 2;
  ExpectTensor<float>(ws, "P", {2, 2}, {0.25f, 0.75f, 0.5f, 0.5f}, 1e-6);
  ExpectTensor<float>(ws, "Z", {}, {loss}, 1e-6);
  ExpectTensor<float>(ws, "dX", {2, 2}, {loss / 8, -loss / 8, -loss / 4, loss / 4}, 1e-6);
}

// One row of a vector: inference, result and gradient have a row.
TEST(ManyPositionsTest, AVectorIsOneRow) {
  Workspace ws;
  Feed<float>(&ws, "X", {4}, {0.5f, 0.25f, 0.25f, 0});
  Feed<float>(&ws, "T", {1, 4}, {1, 0, 0, 0});
  Feed<float>(&ws, "dY", {1}, {2});
  const char* const op = "type: 'CrossEntropy' input: 'X' input: 'T' output: 'Y'";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {1}, {std::log(2.0f)}, 1e-6);
  ExpectShapeInferred(&ws, op);
  const char* const gradient =
      "type: 'CrossEntropyGradient' input: 'X' input: 'T' input: 'dY' output: 'dX'";
  RunOp(&ws, gradient);
  ExpectTensor<float>(ws, "dX", {4}, {-4, 0, 0, 0});
  ExpectShapeInferred(&ws, gradient);
}

TEST(ManyPositionsTest, LabelsHaveTheAxesBeforeTheClasses) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 1, 2}, {0, 0, 0, 0});
  const char* const op =
      "type: 'SoftmaxWithLoss' input: 'X' input: 'L' output: 'P' output: 'Z' arg { name: 'axis' i: "
      "2 "
      "}";
  Feed<int32_t>(&ws, "L", {2}, {0, 1});
  ExpectThrows([&] { RunOp(&ws, op); }, "rank of input 1 (labels) of shape");
  Feed<int32_t>(&ws, "L", {2, 1}, {0, 1});
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Z", {}, {std::log(2.0f)}, 1e-6);
}

TEST(ManyPositionsTest, ASoftmaxOfAnotherSizeIsAnError) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 3, 1, 1}, {0, 0, 0, 0, 0, 0});
  Feed<int32_t>(&ws, "L", {2, 1, 1}, {0, 1});
  Feed<float>(&ws, "dZ", {1}, {1});
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{1, 3, 1, 1}, {3, 3, 1, 1}}) {
    FeedRandom(&ws, "P", dims, 0, 1);
    ExpectThrows(
        [&] {
          RunOp(&ws,
                "type: 'SpatialSoftmaxWithLossGradient' input: 'X' input: 'L' input: 'P' input: "
                "'dZ' output: 'dX'");
        },
        MakeString("elements of input 2 (softmax) of shape [", dims[0],
                   ", 3, 1, 1], want as many as input 0 (X)"));
  }
}

}  // namespace
}  // namespace caffe2rt::test::many_positions_test
