// Operators on IDEEP that run again, on images of another shape or layout, compute what the CPU computes: no plan,
// layout or copy of an earlier run remains.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/operators/common/onednn_run.h"

namespace caffe2rt::reused_onednn_test {
namespace {

using namespace test;  // used throughout this file

// Operators over the images X and Z, which have the same shape, and the weights W1 ([C]) and W2 ([C]).
constexpr const char* kOperators[] = {
    R"(type: "Relu" input: "X" output: "Y")",
    R"(type: "Sigmoid" input: "X" output: "Y")",
    R"(type: "LeakyRelu" input: "X" output: "Y" arg { name: "alpha" f: 0.3 })",
    R"(type: "Add" input: "X" input: "Z" output: "Y")",
    R"(type: "Mul" input: "X" input: "W1" output: "Y" arg { name: "broadcast" i: 1 } arg { name: "axis" i: 1 })",
    R"(type: "Sum" input: "X" input: "Z" input: "X" output: "Y")",
    R"(type: "PRelu" input: "X" input: "W1" output: "Y")",
    R"(type: "Copy" input: "X" output: "Y")",
    R"(type: "Dropout" input: "X" output: "Y" arg { name: "is_test" i: 1 })",
    R"(type: "ResizeNearest" input: "X" output: "Y" arg { name: "width_scale" f: 1.5 }
       arg { name: "height_scale" f: 2.7 })",
    R"(type: "UpsampleNearest" input: "X" output: "Y" arg { name: "scale" i: 2 })",
    R"(type: "LRN" input: "X" output: "Y" arg { name: "size" i: 3 } arg { name: "alpha" f: 0.1 }
       arg { name: "beta" f: 0.75 })",
    R"(type: "SpatialBN" input: "X" input: "W1" input: "W2" input: "W2" input: "V" output: "Y"
       arg { name: "is_test" i: 1 })",
    R"(type: "Softmax" input: "X" output: "Y" arg { name: "axis" i: 1 })",
    R"(type: "MaxPool" input: "X" output: "Y" arg { name: "kernel" i: 3 } arg { name: "pad" i: 1 }
       arg { name: "stride" i: 2 })",
    R"(type: "AveragePool" input: "X" output: "Y" arg { name: "kernel" i: 3 } arg { name: "pad" i: 1 }
       arg { name: "stride" i: 2 })",
    R"(type: "MaxPool" input: "X" output: "Y" arg { name: "global_pooling" i: 1 })",
    R"(type: "Concat" input: "X" input: "Z" output: "Y" output: "S" arg { name: "axis" i: 1 })",
    R"(type: "Split" input: "D" output: "Y" output: "E" arg { name: "axis" i: 1 })",
    R"(type: "Flatten" input: "X" output: "Y")",
    R"(type: "Conv" input: "X" input: "F" output: "Y" arg { name: "kernel" i: 3 } arg { name: "pad" i: 1 })",
    R"(type: "Conv" input: "X" input: "P" input: "B" output: "Y" arg { name: "kernel" i: 1 })",
    R"(type: "ConvFusion" input: "X" input: "Q" input: "Z" output: "Y" arg { name: "kernel" i: 1 }
       arg { name: "sum" i: 1 } arg { name: "activation" s: "Relu" })",
    R"(type: "FC" input: "X" input: "U" input: "T" output: "Y")",
    R"(type: "FCTransposed" input: "X" input: "R" input: "T" output: "Y")",
};

class ReusedOnednnTest : public OnednnTest {
 protected:
  void FeedCase(const OnednnCase& c, const char* layout_of_z, uint32_t seed) {
    const std::vector<int64_t> dims = {c.batch, c.channels, c.height, c.width};
    FeedImage("X", dims, c.layout, seed);
    FeedImage("Z", dims, layout_of_z, seed + 1);
    FeedImage("D", {c.batch, 2 * c.channels, c.height, c.width}, c.layout, seed + 2);
    FeedWeights("W1", {c.channels}, -1, 1, seed + 3);
    FeedWeights("W2", {c.channels}, -1, 1, seed + 4);
    FeedWeights("V", {c.channels}, 0.5f, 2, seed + 5);
    FeedWeights("F", {21, c.channels, 3, 3}, -1, 1, seed + 6);
    FeedWeights("P", {32, c.channels, 1, 1}, -1, 1, seed + 7);
    FeedWeights("B", {32}, -1, 1, seed + 8);
    FeedWeights("Q", {c.channels, c.channels, 1, 1}, -1, 1, seed + 9);
    const int64_t row = c.channels * c.height * c.width;
    FeedWeights("U", {7, row}, -1, 1, seed + 10);
    FeedWeights("R", {row, 7}, -1, 1, seed + 11);
    FeedWeights("T", {7}, -1, 1, seed + 12);
  }
  // Runs that most operators reject: they must leave no part of a plan.
  void RunOnUnfitInputs(const OnednnCase& c, OperatorBase* op) {
    const std::vector<int64_t> dims = {c.batch, c.channels, c.height * c.width};
    for (const char* const name : {"X", "D"}) {
      Tensor* const tensor = onednn_.GetBlob(name)->GetMutableTensor(IDEEP);
      std::fill_n(PrepareOutput(tensor, dims, nullptr), tensor->numel(), 1.0f);
    }
    RunOrReject(op);
    FeedCase(c, "nchw", 1);
    for (const char* const name : {"W1", "V", "B"}) FeedWeights(name, {c.channels + 1});
    FeedWeights("F", {21, c.channels + 1, 3, 3});
    FeedWeights("P", {32, c.channels + 1, 1, 1});
    FeedWeights("Q", {c.channels + 1, c.channels, 1, 1});
    FeedWeights("T", {8});
    RunOrReject(op);
  }
  static void RunOrReject(OperatorBase* op) {
    try {
      (void)op->Run();
    } catch (const EnforceNotMet&) {
    }
  }
};

TEST_P(ReusedOnednnTest, ComputesWhatTheCpuComputes) {
  std::vector<OnednnCase> cases = OnednnCases();
  for (const char* const text : kOperators) {
    SCOPED_TRACE(text);
    OperatorDef def = ParseOp(text);
    def.mutable_device_option()->set_device_type(IDEEP);
    FeedCase(cases[0], "nchw", 1);
    const std::unique_ptr<OperatorBase> op = CreateOperator(def, &onednn_);
    // Forwards, backwards, and each case twice: after another shape, after another layout and after itself.
    for (size_t i = 0; i < 2 * cases.size(); ++i) {
      const OnednnCase& c =
          cases[i < cases.size() ? i * 7 % cases.size() : 2 * cases.size() - 1 - i];
      if (c.batch * c.channels * c.height * c.width > 6000)
        continue;  // the divided ones are tested elsewhere
      SCOPED_TRACE(testing::PrintToString(c));
      FeedCase(c, i % 2 == 0 ? "nhwc" : "nChw16c", static_cast<uint32_t>(10 * i + 1));
      RunOp(&cpu_, text);
      ASSERT_TRUE(op->Run());
      ExpectSame("Y", 1e-4);
      RunOnUnfitInputs(c, op.get());
      FeedCase(c, i % 2 == 0 ? "nhwc" : "nChw16c", static_cast<uint32_t>(10 * i + 1));
      ASSERT_TRUE(op->Run());
      ExpectSame("Y", 1e-4);
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, ReusedOnednnTest,
                         testing::Values(OnednnCase{"nchw", 1, 1, 1, 1, 1},
                                         OnednnCase{"nchw", 1, 1, 1, 1, 2}));

}  // namespace
}  // namespace caffe2rt::reused_onednn_test
