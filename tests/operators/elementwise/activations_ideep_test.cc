#include "tests/operators/common/onednn_run.h"

namespace caffe2rt::activations_ideep_test {
namespace {

using namespace test;  // used throughout this file

class OnednnActivationTest : public OnednnTest {};

TEST_P(OnednnActivationTest, ComputesTheFunctionInAnyLayout) {
  FeedImage("X");
  const double kUlps = 1e-6;
  for (const char* type : {"Relu", "LeakyRelu", "Clip", "ReluN"}) {
    ExpectSameAsCpu(std::string("type: \"") + type + R"(" input: "X" output: "Y")");
  }
  for (const char* type : {"Sigmoid", "Tanh", "Elu", "Softplus", "Swish", "HardSigmoid", "Gelu"}) {
    ExpectSameAsCpu(std::string("type: \"") + type + R"(" input: "X" output: "Y")", kUlps);
  }
}

TEST_P(OnednnActivationTest, AcceptsAnOutputInPlace) {
  FeedImage("X");
  ExpectSameAsCpu(R"(type: "Relu" input: "X" output: "X")", 0, "X");
  FeedImage("X", 3);
  ExpectSameAsCpu(R"(type: "Sigmoid" input: "X" output: "X")", 1e-6, "X");
}

TEST_P(OnednnActivationTest, ReadsItsArguments) {
  FeedImage("X");
  ExpectSameAsCpu(R"(type: "Clip" input: "X" output: "Y" arg { name: "min" f: 0.25 }
                     arg { name: "max" f: 0.5 })");
  ExpectSameAsCpu(R"(type: "LeakyRelu" input: "X" output: "Y" arg { name: "alpha" f: 0.5 })");
}

INSTANTIATE_TEST_SUITE_P(Layouts, OnednnActivationTest, testing::ValuesIn(OnednnCases()));

}  // namespace
}  // namespace caffe2rt::activations_ideep_test
