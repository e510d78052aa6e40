#include <cmath>

#include "tests/operators/common/onednn_run.h"

namespace caffe2rt::lrn_ideep_test {
namespace {

using namespace test;  // used throughout this file

class OnednnLRNTest : public OnednnTest {
 protected:
  // The formula, one element at a time.
  std::vector<float> Normalize(int size, double alpha, double beta, double bias) const {
    const OnednnCase& c = GetParam();
    const std::vector<float> x = Fetch<float>(cpu_, "X");
    std::vector<float> y;
    const int64_t pixels = c.height * c.width;
    for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
      const int64_t channel = i / pixels % c.channels;
      double sum = 0;
      for (int64_t j = channel - (size - 1) / 2; j <= channel + size / 2; ++j) {
        if (j < 0 || j >= c.channels) continue;
        const double value = x[i + (j - channel) * pixels];
        sum += value * value;
      }
      y.push_back(static_cast<float>(x[i] * std::pow(bias + alpha / size * sum, -beta)));
    }
    return y;
  }
};

TEST_P(OnednnLRNTest, DividesByThePowerOfTheSumOfSquares) {
  FeedImage("X");
  for (const int size : {1, 2, 5, 9, 70}) {
    for (const float beta : {0.75f, 0.5f, 1.0f, 0.6f}) {
      Feed<float>(&cpu_, "Y", dims(), Normalize(size, 1.5, beta, 2));
      RunOnednn(MakeString(R"(type: "LRN" input: "X" output: "Y" arg { name: "size" i: )", size,
                           R"( } arg { name: "alpha" f: 1.5 } arg { name: "bias" f: 2 }
                               arg { name: "beta" f: )",
                           beta, " }"));
      ExpectSame("Y", 2e-6);
    }
  }
}

TEST_P(OnednnLRNTest, AgreesWithTheCpu) {
  FeedImage("X");
  const std::string two =
      R"(type: "LRN" input: "X" output: "Y" output: "Z" arg { name: "size" i: 3 }
                             arg { name: "alpha" f: 0.5 } arg { name: "beta" f: 0.75 })";
  ExpectSameAsCpu(two, 1e-6);
  ExpectSameAsCpu(two, 1e-6, "Z");
  ExpectSameAsCpu(R"(type: "LRN" input: "X" output: "Y" arg { name: "size" i: 5 }
                     arg { name: "alpha" f: 0.0001 } arg { name: "beta" f: 0.75 })",
                  1e-6);
}

TEST_P(OnednnLRNTest, RejectsChannelsLast) {
  FeedImage("X");
  ExpectThrows(
      [&] {
        RunOnednn(R"(type: "LRN" input: "X" output: "Y" arg { name: "size" i: 3 }
                     arg { name: "order" s: "NHWC" })");
      },
      "argument order is NHWC");
}

INSTANTIATE_TEST_SUITE_P(Layouts, OnednnLRNTest, testing::ValuesIn(OnednnCases()));

}  // namespace
}  // namespace caffe2rt::lrn_ideep_test
