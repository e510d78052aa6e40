// Compares losses and distances on CUDA with the CPU, and checks labels out of range.

#include "tests/support/devices_agree.h"

namespace caffe2rt::test::loss_cuda_test {
namespace {

using LossOnCudaTest = OnDeviceTest;

TEST_F(LossOnCudaTest, AveragesAgree) {
  for (const int64_t n : {0, 1, 700, 9000}) {
    Workspace ws;
    FeedRandom(&ws, "X", {n}, 0, 1);
    Feed<float>(&ws, "dY", {}, {3});
    ExpectDevicesAgree(&ws, R"(type: "AveragedLoss" input: "X" output: "Y")", {.tolerance = 1e-6});
    ExpectDevicesAgree(&ws, R"(type: "AveragedLossGradient" input: "X" input: "dY" output: "dX")",
                       {.tolerance = 1e-6});
  }
}

TEST_F(LossOnCudaTest, LossesOfRowsAgree) {
  const Agreement close = {.tolerance = 1e-5};
  for (const auto& [rows, cols] :
       std::vector<std::pair<int64_t, int64_t>>{{5, 1}, {3, 300}, {0, 4}}) {
    Workspace ws;
    FeedRandom(&ws, "X", {rows, cols}, 0, 1, 1);
    FeedRandom(&ws, "T", {rows, cols}, 0, 1, 2);
    FeedRandom(&ws, "W", {rows, cols}, 0, 1, 3);
    FeedRandom(&ws, "dY", {rows}, -1, 1, 4);
    FeedRange<int32_t>(&ws, "label", {rows}, 0, cols > 1 ? 1 : 0);
    for (const char* type : {"CrossEntropy", "SquaredL2Distance", "L1Distance", "DotProduct",
                             "CosineSimilarity", "SigmoidCrossEntropyWithLogits"}) {
      ExpectDevicesAgree(
          &ws, std::string("type: \"") + type + R"(" input: "X" input: "T" output: "Y")", close);
    }
    for (const char* type : {"SquaredL2Distance", "L1Distance", "DotProduct", "CosineSimilarity"}) {
      ExpectDevicesAgree(
          &ws,
          std::string("type: \"") + type +
              R"(Gradient" input: "X" input: "T" input: "dY" output: "dX" output: "dT")",
          close);
    }
    for (
        const char* text :
        {R"(type: "LabelCrossEntropy" input: "X" input: "label" output: "Y")",
         R"(type: "LabelCrossEntropyGradient" input: "X" input: "label" input: "dY" output: "dX")",
         R"(type: "CrossEntropyGradient" input: "X" input: "T" input: "dY" output: "dX")",
         R"(type: "WeightedSigmoidCrossEntropyWithLogits" input: "X" input: "T" input: "W" output: "Y")",
         R"(type: "WeightedSigmoidCrossEntropyWithLogitsGradient" input: "dY" input: "X" input: "T"
             input: "W" output: "dX")",
         R"(type: "MakeTwoClass" input: "X" output: "Y")"}) {
      ExpectDevicesAgree(&ws, text, close);
    }
  }
}

TEST_F(LossOnCudaTest, ReportsLabelsOutOfRange) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 3}, 0, 1);
  FeedRandom(&ws, "dY", {2});
  Feed<int32_t>(&ws, "label", {2}, {0, 3});
  ExpectDeviceThrows(&ws, R"(type: "LabelCrossEntropy" input: "X" input: "label" output: "Y")",
                     "input 1 (label) is 3 in row 1, want at least 0 and below 3");
  Feed<int32_t>(&ws, "label", {2}, {-1, 0});
  ExpectDeviceThrows(
      &ws,
      R"(type: "LabelCrossEntropyGradient" input: "X" input: "label" input: "dY" output: "dX")",
      "input 1 (label) is -1 in row 0");
}

}  // namespace
}  // namespace caffe2rt::test::loss_cuda_test
