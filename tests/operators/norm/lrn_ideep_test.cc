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

// Sums of squares that are so small or large that estimates of their roots do not hold, among others.
TEST(OnednnLRNBoundsTest, KeepsPowersOfTinyAndHugeSums) {
  const float numbers[] = {1e-20f, 3, -1e-20f, 1e19f, 0.5f, -1e19f, 1e-10f, -7};
  for (const int tiny :
       {0, 1, 2, 8}) {  // which lanes are beyond the bounds: all, every second one ...
    Workspace ws;
    Tensor* const x = ws.CreateBlob("X")->GetMutableTensor(IDEEP);
    float* const values = PrepareOutput(x, {1, 48, 1, 1}, nullptr);
    for (int i = 0; i < 48; ++i)
      values[i] = tiny == 8 || i % 16 < tiny ? numbers[i % 8] : numbers[1];
    for (const float beta : {0.75f, 0.5f, 0.25f}) {
      SCOPED_TRACE(MakeString(tiny, " with beta ", beta));
      RunOp(&ws, MakeString(R"(type: "LRN" input: "X" output: "Y" arg { name: "size" i: 1 }
                               arg { name: "alpha" f: 1 } arg { name: "bias" f: 0 }
                               device_option { device_type: 5 } arg { name: "beta" f: )",
                            beta, " }"));
      const Tensor y(ws.GetBlob("Y")->Get<Tensor>(), CPU);
      for (int i = 0; i < 48; ++i) {
        // x / (x^2)^beta
        const double want =
            std::copysign(std::pow(std::abs(double{values[i]}), 1 - 2.0 * beta), double{values[i]});
        ASSERT_NEAR(y.data<float>()[i] / want, 1, 1e-4) << i << ": " << values[i];
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, OnednnLRNTest, testing::ValuesIn(OnednnCases()));

}  // namespace
}  // namespace caffe2rt::lrn_ideep_test
