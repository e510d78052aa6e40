// Compares selection operators on CUDA with the CPU: ties, NaN, and every algorithm for the largest
// values.

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/device_run.h"
#include "tests/support/devices_agree.h"

namespace caffe2rt::test::select_cuda_test {
namespace {

using TopKOnCudaTest = OnDeviceTest;
using ArgMaxOnCudaTest = OnDeviceTest;
using AccuracyOnCudaTest = OnDeviceTest;
using OneHotOnCudaTest = OnDeviceTest;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Returns values with few distinct numbers, so that there are ties.
std::vector<float> Coarse(int64_t count, uint32_t seed) {
  std::vector<float> values = RandomValues(count, -4, 4, seed);
  for (float& value : values) value = std::trunc(value);  // may give -0
  return values;
}

void ExpectTopKAgrees(Workspace* ws, int k, int axis) {
  ExpectDevicesAgree(ws, MakeString(R"(type: "TopK" input: "X" output: "V" output: "I" output: "F"
                                       arg { name: "k" i: )",
                                    k, " } arg { name: \"axis\" i: ", axis, " }"));
}

// Up to 64 values are searched one by one. For more, the row is sorted.
TEST_F(TopKOnCudaTest, AgreesForAnyCount) {
  for (const int k : {1, 2, 5, 63, 64, 65, 100, 299, 300, 400}) {
    Workspace ws;
    Feed<float>(&ws, "X", {3, 300}, Coarse(900, static_cast<uint32_t>(k)));
    ExpectTopKAgrees(&ws, k, -1);
    FeedRandom(&ws, "X", {2, 300, 3});
    ExpectTopKAgrees(&ws, k, 1);
  }
  Workspace ws;
  FeedRandom(&ws, "X", {3, 0});
  ExpectTopKAgrees(&ws, 2, 1);
  ExpectTopKAgrees(&ws, 70, 1);
}

TEST_F(TopKOnCudaTest, AgreesWithNaN) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const int size = 1 + static_cast<int>(seed * 5);
    Workspace ws;
    std::vector<float> values = Coarse(2 * size, seed);
    for (size_t i = seed % 7; i < values.size(); i += 3 + seed % 11) values[i] = kNaN;
    Feed<float>(&ws, "X", {2, size}, values);
    for (const int k : {1, 4, size / 2 + 1, size, size + 3, 80}) ExpectTopKAgrees(&ws, k, -1);
  }
}

TEST_F(ArgMaxOnCudaTest, ReturnsTheFirstOfEqualsAndALeadingNaN) {
  for (const auto& [shape, axis] : std::vector<std::pair<std::vector<int64_t>, int>>{
           {{4, 1000}, 1}, {{1000, 4}, 0}, {{3, 20, 5}, 1}, {{2, 40, 5000}, 1}, {{7, 1}, 1}}) {
    Workspace ws;
    std::vector<float> values = Coarse(size_from_dim_(0, shape), 3);
    for (const size_t i : {size_t{0}, values.size() / 2 + 3, values.size() - 1}) values[i] = kNaN;
    Feed<float>(&ws, "X", shape, values);
    for (const char* type : {"ArgMax", "ArgMin"}) {
      ExpectDevicesAgree(
          &ws, MakeString("type: \"", type, R"(" input: "X" output: "Y" arg { name: "axis" i: )",
                          axis, " }"));
    }
  }
}

// Includes more rows than one block sums up.
TEST_F(AccuracyOnCudaTest, CountsManyRows) {
  for (const int64_t rows : {1, 3, 9001}) {
    Workspace ws;
    Feed<float>(&ws, "P", {rows, 5}, Coarse(rows * 5, 1));
    FeedRange<int32_t>(&ws, "L", {rows}, 0, 0);
    int32_t* const labels = ws.GetBlob("L")->GetMutableTensor(CPU)->mutable_data<int32_t>();
    for (int64_t i = 0; i < rows; ++i) labels[i] = static_cast<int32_t>(i % 7) - 1;  // -1 to 5
    for (const char* k : {"1", "3", "5"}) {
      ExpectDevicesAgree(&ws, std::string(R"(type: "Accuracy" input: "P" input: "L" output: "A"
                                             arg { name: "top_k" i: )") +
                                  k + " }");
    }
  }
}

TEST_F(OneHotOnCudaTest, ReportsAnInvalidIndexAndContinues) {
  Workspace ws;
  Feed<int64_t>(&ws, "I", {4}, {1, 0, 3, 0});
  Feed<int64_t>(&ws, "S", {1}, {3});
  const OperatorDef one_hot = ParseOp(R"(type: "OneHot" input: "I" input: "S" output: "Y")");
  ExpectThrows([&] { RunOperatorOn(CUDA, one_hot, &ws); },
               "element 2 of input 0 (indices) is 3, want at least 0 and below index_size 3");
  Feed<int64_t>(&ws, "I", {2}, {1, 0});
  RunOperatorOn(CUDA, one_hot, &ws);
  ExpectTensor<float>(ws, "Y", {2, 3}, {0, 1, 0, 1, 0, 0});
}

TEST_F(TopKOnCudaTest, GradientAgreesAndReportsIndicesBeyondTheDimension) {
  Workspace ws;
  FeedRandom(&ws, "X", {3, 20, 5});
  for (const int axis : {0, 1, 2}) {
    const std::string axis_text = MakeString(" arg { name: \"axis\" i: ", axis, " }");
    RunOp(&ws, R"(device_option {} type: "TopK" input: "X" output: "V" output: "I"
                  arg { name: "k" i: 4 })" +
                   axis_text);
    ExpectDevicesAgree(
        &ws, R"(type: "TopKGradient" input: "V" input: "I" input: "X" output: "dX")" + axis_text);
  }
  Feed<float>(&ws, "X", {1, 2}, {1, 2});
  Feed<float>(&ws, "V", {1, 1}, {1});
  Feed<int64_t>(&ws, "I", {1, 1}, {2});
  ExpectDeviceThrows(&ws, R"(type: "TopKGradient" input: "V" input: "I" input: "X" output: "dX")",
                     "an element of input 1 (Indices) is 2, want less than 2");
}

}  // namespace
}  // namespace caffe2rt::test::select_cuda_test
