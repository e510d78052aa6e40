// Compares the CUDA implementations of the losses with those of the CPU.

#include "tests/support/devices_agree.h"

namespace caffe2rt::test::softmax_with_loss_cuda_test {
namespace {

using SoftmaxWithLossOnCudaTest = OnDeviceTest;

std::string Text(const std::string& type, bool weights, bool gradient, const std::string& args) {
  return "type: \"" + type + (gradient ? "Gradient" : "") + R"(" input: "X" input: "L" )" +
         (weights ? R"(input: "W" )" : "") +
         (gradient ? R"(input: "P" input: "dL" output: "dX" )" : R"(output: "P" output: "Z" )") +
         args;
}

TEST_F(SoftmaxWithLossOnCudaTest, SoftmaxLossesAgree) {
  const std::string prob = R"(arg { name: "label_prob" i: 1 })";
  const std::string args = R"(arg { name: "scale" f: 0.5 })";
  for (const int64_t classes : {3, 700}) {
    Workspace ws;
    constexpr int64_t kRows = 37;
    FeedRandom(&ws, "X", {kRows, classes}, -5, 5);
    FeedRandom(&ws, "P", {kRows, classes}, 0.01f, 1, 2);
    FeedRandom(&ws, "W", {kRows}, 0.1f, 1, 3);
    FeedRandom(&ws, "dL", {}, 1, 2, 4);
    std::vector<int32_t> labels;
    for (int32_t i = 0; i < kRows; ++i) labels.push_back(i * 5 % static_cast<int32_t>(classes));
    for (const bool weights : {false, true}) {
      for (const bool gradient : {false, true}) {
        Feed<int32_t>(&ws, "L", {kRows}, labels);
        ExpectDevicesAgree(&ws, Text("SoftmaxWithLoss", weights, gradient, args),
                           {.tolerance = 1e-5});
        Feed<float>(&ws, "L", {kRows, classes},
                    std::vector<float>(static_cast<size_t>(kRows * classes),
                                       1 / static_cast<float>(classes)));
        ExpectDevicesAgree(&ws, Text("SoftmaxWithLoss", weights, gradient, args + prob),
                           {.tolerance = 1e-5});
      }
    }
  }
}

TEST_F(SoftmaxWithLossOnCudaTest, SpatialSoftmaxLossesAgree) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 3, 5, 7}, -5, 5);
  FeedRandom(&ws, "P", {2, 3, 5, 7}, 0.01f, 1, 2);
  FeedRandom(&ws, "W", {2, 5, 7}, 0.1f, 1, 3);
  FeedRandom(&ws, "dL", {}, 1, 2, 4);
  std::vector<int32_t> labels;
  for (int32_t i = 0; i < 70; ++i) labels.push_back(i % 4 - 1);
  Feed<int32_t>(&ws, "L", {2, 5, 7}, labels);
  for (const bool weights : {false, true}) {
    for (const bool gradient : {false, true}) {
      ExpectDevicesAgree(&ws, Text("SpatialSoftmaxWithLoss", weights, gradient, ""),
                         {.tolerance = 1e-5});
    }
  }
}

TEST_F(SoftmaxWithLossOnCudaTest, ReportsInvalidLabels) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 3}, -1, 1);
  Feed<int32_t>(&ws, "L", {2}, {0, 3});
  ExpectDeviceThrows(&ws, Text("SoftmaxWithLoss", false, false, ""),
                     "a label is 3, want 0 to below 3 classes");
  Feed<float>(&ws, "L", {2, 3}, {0, 0, 1, 0.5f, 0.6f, -0.1f});
  ExpectDeviceThrows(&ws,
                     Text("SoftmaxWithLoss", false, false, R"(arg { name: "label_prob" i: 1 })"),
                     "the label probabilities of row 1 do not add up to 1");
}

}  // namespace
}  // namespace caffe2rt::test::softmax_with_loss_cuda_test
