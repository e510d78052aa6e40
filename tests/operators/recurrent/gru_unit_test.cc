#include "operators/recurrent/gru_unit.h"

#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::gru_unit_test {
namespace {

std::vector<float> Reference(int64_t n, int64_t d, const std::vector<float>& h_before,
                             const std::vector<float>& gates) {
  std::vector<float> h;
  for (int64_t row = 0; row < n; ++row) {
    for (int64_t i = 0; i < d; ++i) {
      const float* x = gates.data() + row * 3 * d + i;
      const float update = 1 / (1 + std::exp(-x[d]));
      const float old = h_before[static_cast<size_t>(row * d + i)];
      h.push_back(update * old + (1 - update) * std::tanh(x[2 * d]));
    }
  }
  return h;
}

constexpr char kUnit[] = R"(type: "GRUUnit" input: "h0" input: "gates" input: "lengths" input: "t"
    output: "h" )";
constexpr char kWithoutLengths[] = R"(type: "GRUUnit" input: "h0" input: "gates" input: "t"
    output: "h" arg { name: "sequence_lengths" i: 0 } )";

class GRUUnitTest : public testing::Test {
 protected:
  void FeedAll(int64_t n, int64_t d) {
    FeedRandom(&ws_, "h0", {1, n, d}, -1, 1, 1);
    FeedRandom(&ws_, "gates", {1, n, 3 * d}, -3, 3, 2);
    Feed<int32_t>(&ws_, "t", {1}, {1});
  }
  Workspace ws_;
};

TEST_F(GRUUnitTest, ComputesOneElementByHand) {
  Feed<float>(&ws_, "h0", {1, 1, 1}, {2});
  Feed<float>(&ws_, "gates", {1, 1, 3}, {99, 0, 0.5f});
  Feed<int32_t>(&ws_, "t", {1}, {0});
  RunOp(&ws_, kWithoutLengths);
  // 0.5 * 2 + 0.5 * tanh(0.5)
  ExpectTensor<float>(ws_, "h", {1, 1, 1}, {1.2310586f}, 1e-6);
}

TEST_F(GRUUnitTest, AgreesWithTheFormulas) {
  for (const int64_t d : {1, 3, 16, 37}) {
    FeedAll(5, d);
    RunOp(&ws_, kWithoutLengths);
    ExpectTensor<float>(ws_, "h", {1, 5, d},
                        Reference(5, d, Fetch<float>(ws_, "h0"), Fetch<float>(ws_, "gates")), 1e-6);
  }
}

TEST_F(GRUUnitTest, InfersTheShapeOfTheState) {
  FeedAll(3, 2);
  ExpectShapeInferred(&ws_, kWithoutLengths);
}

TEST_F(GRUUnitTest, KeepsOrDropsTheStatesOfSequencesThatHaveEnded) {
  FeedAll(2, 2);
  Feed<int32_t>(&ws_, "lengths", {2}, {1, 2});
  const std::vector<float> h0 = Fetch<float>(ws_, "h0");
  const std::vector<float> all = Reference(2, 2, h0, Fetch<float>(ws_, "gates"));
  RunOp(&ws_, kUnit);
  ExpectTensor<float>(ws_, "h", {1, 2, 2}, {h0[0], h0[1], all[2], all[3]}, 1e-6);
  RunOp(&ws_, MakeString(kUnit, "arg { name: 'drop_states' i: 1 }"));
  ExpectTensor<float>(ws_, "h", {1, 2, 2}, {0, 0, all[2], all[3]}, 1e-6);
}

TEST_F(GRUUnitTest, AcceptsAnEmptyBatch) {
  FeedAll(0, 3);
  RunOp(&ws_, kWithoutLengths);
  ExpectTensor<float>(ws_, "h", {1, 0, 3}, {});
  Feed<float>(&ws_, "h0", {2, 0, 2}, {});
  Feed<float>(&ws_, "gates", {2, 0, 6}, {});
  RunOp(&ws_, kWithoutLengths);
  ExpectTensor<float>(ws_, "h", {2, 0, 2}, {});
}

TEST_F(GRUUnitTest, HasTheGradientOfTheFormulas) {
  FeedAll(3, 2);
  Feed<int32_t>(&ws_, "lengths", {3}, {2, 1, 3});
  ExpectGradientMatches(&ws_, kUnit);
  ExpectGradientMatches(&ws_, MakeString(kUnit, "arg { name: 'drop_states' i: 1 }"));
  ExpectGradientMatches(&ws_, kWithoutLengths);
}

TEST_F(GRUUnitTest, NamesWhatDoesNotFit) {
  FeedAll(2, 3);
  Feed<int32_t>(&ws_, "lengths", {2}, {1, 2});
  FeedRandom(&ws_, "gates", {1, 2, 8});
  ExpectThrows([&] { RunOp(&ws_, kUnit); },
               "dim 2 of input 1 (gates) of shape [1, 2, 8], want 3 times dim 2 of input 0");
  FeedAll(2, 3);
  FeedRandom(&ws_, "h0", {2, 3});
  ExpectThrows([&] { RunOp(&ws_, kUnit); }, "rank of input 0 (hidden_prev) of shape [2, 3]");
  FeedRandom(&ws_, "h0", {2, 2, 3});
  ExpectThrows([&] { RunOp(&ws_, kUnit); }, "elements of input 0 (hidden_prev) of shape [2, 2, 3]");
  FeedAll(2, 3);
  Feed<int32_t>(&ws_, "lengths", {1}, {1});
  ExpectThrows([&] { RunOp(&ws_, kUnit); }, "elements of input 2 (seq_lengths)");
}

}  // namespace
}  // namespace caffe2rt::test::gru_unit_test
