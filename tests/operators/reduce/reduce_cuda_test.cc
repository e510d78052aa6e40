// Compares reductions on CUDA with the CPU: every access pattern of the kernels, and NaN.

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/device_run.h"
#include "tests/support/devices_agree.h"

namespace caffe2rt::test::reduce_cuda_test {
namespace {

using ReduceOnCudaTest = OnDeviceTest;
using SumElementsOnCudaTest = OnDeviceTest;
using ReduceFrontBackOnCudaTest = OnDeviceTest;
using RowMaxOnCudaTest = OnDeviceTest;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::string Reduce(const std::string& type, const std::vector<int>& axes) {
  std::string text = "type: \"" + type + "\" input: \"X\" output: \"Y\" arg { name: \"axes\"";
  for (const int axis : axes) text += " ints: " + std::to_string(axis);
  return text + " }";
}

TEST_F(ReduceOnCudaTest, AgreesOverAnyAxes) {
  // Few and many outputs, whose inputs are adjacent or far apart.
  const std::vector<std::vector<int64_t>> shapes = {{5},          {3, 257},   {257, 3},  {2, 5, 3},
                                                    {2, 3, 4, 5}, {40, 4099}, {4, 0, 3}, {1, 1}};
  for (const auto& shape : shapes) {
    Workspace ws;
    FeedRandom(&ws, "X", shape);
    const int rank = static_cast<int>(shape.size());
    for (int mask = 1; mask < 1 << rank; ++mask) {
      std::vector<int> axes;
      for (int i = 0; i < rank; ++i) {
        if (mask >> i & 1) axes.push_back(i);
      }
      for (const char* type :
           {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2"}) {
        ExpectDevicesAgree(&ws, Reduce(type, axes), {.tolerance = 1e-4});
      }
    }
  }
}

TEST_F(ReduceOnCudaTest, KeepsAFirstNaNAndPassesLaterOnes) {
  Workspace ws;
  std::vector<float> values = RandomValues(3 * 300);
  values[0] = values[310] = values[899] = kNaN;
  Feed<float>(&ws, "X", {3, 300}, values);
  for (const char* type : {"ReduceMax", "ReduceMin", "ReduceSum"}) {
    ExpectDevicesAgree(&ws, Reduce(type, {1}), {.tolerance = 1e-5});
    ExpectDevicesAgree(&ws, Reduce(type, {0}), {.tolerance = 1e-5});
    ExpectDevicesAgree(&ws, Reduce(type, {0, 1}), {.tolerance = 1e-5});
  }
  RunOperatorOn(CUDA, ParseOp(Reduce("ReduceMax", {1})), &ws);
  EXPECT_TRUE(std::isnan(Fetch<float>(ws, "Y")[0]));
  EXPECT_FALSE(std::isnan(Fetch<float>(ws, "Y")[1]));
}

// The sizes cover one block, many blocks, and CUB.
TEST_F(SumElementsOnCudaTest, AddsAnyNumberOfElements) {
  for (const int64_t n : {0, 1, 1000, 10007, 65535, 65536, 200003}) {
    Workspace ws;
    FeedRandom(&ws, "X", {n});
    for (const char* type : {"SumElements", "SumSqrElements"}) {
      const std::string text = std::string("type: \"") + type + "\" input: \"X\" output: \"Y\"";
      ExpectDevicesAgree(&ws, text, {.tolerance = 1e-4});
      ExpectDevicesAgree(&ws, text + "arg { name: \"average\" i: 1 }", {.tolerance = 1e-6});
    }
    std::vector<int32_t> numbers;  // the sum of these numbers wraps around
    for (int64_t i = 0; i < n; ++i) {
      numbers.push_back(static_cast<int32_t>((1u << 20) + 12345u * static_cast<uint32_t>(i)));
    }
    Feed<int32_t>(&ws, "X", {n}, numbers);
    ExpectDevicesAgree(&ws, R"(type: "SumElementsInt" input: "X" output: "Y")");
  }
}

TEST_F(ReduceFrontBackOnCudaTest, CountsLengths) {
  for (const char* type : {"ReduceFrontSum", "ReduceFrontMean", "ReduceFrontMax", "ReduceBackSum",
                           "ReduceBackMean", "ReduceBackMax"}) {
    Workspace ws;
    FeedRandom(&ws, "X", {4, 4});
    Feed<int32_t>(&ws, "L", {4}, {4, 1, 2, 3});
    const std::string text = std::string("type: \"") + type + "\" output: \"Y\" input: \"X\"";
    ExpectDevicesAgree(&ws, text, {.tolerance = 1e-6});
    ExpectDevicesAgree(&ws, text + "input: \"L\"", {.tolerance = 1e-6});
    ExpectDevicesAgree(&ws, text + "arg { name: \"num_reduce_dim\" i: 2 }", {.tolerance = 1e-6});
  }
}

// The host cannot read the lengths. The kernel reports invalid ones, and reads nothing beyond the
// row.
TEST_F(ReduceFrontBackOnCudaTest, ReportsInvalidLengthsAndContinues) {
  Workspace ws;
  Feed<int32_t>(&ws, "X", {3, 2}, {1, 2, 3, 4, 5, 6});
  const OperatorDef mean = ParseOp(R"(type: "ReduceBackMean" input: "X" input: "L" output: "Y")");
  const auto run = [&] { RunOperatorOn(CUDA, mean, &ws); };
  Feed<int32_t>(&ws, "L", {3}, {1, 1000000, 2});
  ExpectThrows(run, "element 1 of input 1 (lengths) is 1000000, want at most 2");
  Feed<int32_t>(&ws, "L", {3}, {1, 2, 0});
  ExpectThrows(run, "element 2 of input 1 (lengths) is 0, want another number");
  Feed<int32_t>(&ws, "L", {3}, {1, 2, -2});
  run();
  ExpectTensor<int32_t>(ws, "Y", {3}, {1, 3, -2});
}

TEST_F(RowMaxOnCudaTest, AgreesWithTheCpu) {
  Workspace ws;
  FeedRandom(&ws, "X", {3, 37, 41});
  ExpectDevicesAgree(&ws, R"(type: "RowwiseMax" input: "X" output: "Y")");
  ExpectDevicesAgree(&ws, R"(type: "ColwiseMax" input: "X" output: "Y")");
  FeedRandom(&ws, "B", {37});
  ExpectDevicesAgree(&ws, R"(type: "SumReduceLike" input: "X" input: "B" output: "Y"
                             arg { name: "axis" i: 1 })",
                     {.tolerance = 1e-5});
}

TEST_F(ReduceOnCudaTest, GradientsAgreeOverAnyAxes) {
  const std::vector<std::vector<int64_t>> shapes = {{5},          {3, 257},  {2, 5, 3},
                                                    {2, 3, 4, 5}, {4, 0, 3}, {1, 1}};
  for (const auto& shape : shapes) {
    Workspace ws;
    FeedRandom(&ws, "X", shape);
    const int rank = static_cast<int>(shape.size());
    for (int mask = 1; mask < 1 << rank; ++mask) {
      std::vector<int> axes;
      for (int i = 0; i < rank; ++i) {
        if (mask >> i & 1) axes.push_back(i);
      }
      for (const std::string type :
           {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2"}) {
        RunOp(&ws, "device_option {} " + Reduce(type, axes));
        FeedRandom(&ws, "dY", DimsOf(ws, "Y"), -1, 1, 7);
        std::string gradient = Reduce(type + "Gradient", axes);
        gradient.replace(gradient.find(R"(input: "X" output: "Y")"), 22,
                         R"(input: "dY" input: "X" input: "Y" output: "dX")");
        ExpectDevicesAgree(&ws, gradient, {.tolerance = 1e-6});
      }
    }
  }
}

TEST_F(ReduceFrontBackOnCudaTest, GradientsAgreeWithAndWithoutLengths) {
  Workspace ws;
  FeedRandom(&ws, "X", {5, 7});
  FeedRandom(&ws, "dY", {7}, -1, 1, 7);
  Feed<int32_t>(&ws, "L", {7}, {4, 1, 0, 3, 5, 9, 2});
  const auto expect = [&](const std::string& type) {
    const std::string text = "type: \"" + type + R"(" output: "dX" input: "dY" input: "X")";
    ExpectDevicesAgree(&ws, text, {.tolerance = 1e-6});
    ExpectDevicesAgree(&ws, text + R"( input: "L")", {.tolerance = 1e-6});
  };
  expect("ReduceFrontSumGradient");
  expect("ReduceFrontMeanGradient");
  FeedRandom(&ws, "X", {7, 5});
  expect("ReduceBackSumGradient");
  expect("ReduceBackMeanGradient");
  RunOp(&ws, R"(device_option {} type: "ReduceBackMax" input: "X" output: "Y")");
  const std::string largest =
      R"(type: "ReduceBackMaxGradient" output: "dX" input: "dY" input: "X" input: "Y")";
  ExpectDevicesAgree(&ws, largest);
  ExpectDevicesAgree(&ws, largest + R"( input: "L")");
}

}  // namespace
}  // namespace caffe2rt::test::reduce_cuda_test
