// Fills on CUDA: random numbers are compared with their definition, and shapes come from both the
// CPU and the device.

#include <gtest/gtest.h>

#include <cmath>

#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/primitives/philox.h"
#include "tests/support/devices_agree.h"

namespace caffe2rt::test::fill_cuda_test {
namespace {

using RandomFillOnCudaTest = OnDeviceTest;
using FillOnCudaTest = OnDeviceTest;

OperatorDef OnCuda(const std::string& text, uint32_t seed = 9) {
  OperatorDef def = ParseOp(text);
  def.mutable_device_option()->set_device_type(CUDA);
  def.mutable_device_option()->set_random_seed(seed);
  return def;
}

// Returns the outputs of `runs` consecutive runs of the operator.
template <class T>
std::vector<T> Draw(const std::string& text, int runs = 1, uint32_t seed = 9) {
  Workspace ws;
  const std::unique_ptr<OperatorBase> op = CreateOperator(OnCuda(text, seed), &ws);
  std::vector<T> all;
  for (int i = 0; i < runs; ++i) {
    EXPECT_TRUE(op->Run());
    const Tensor on_host(ws.GetBlob("Y")->Get<Tensor>(), CPU);
    all.insert(all.end(), on_host.data<T>(), on_host.data<T>() + on_host.numel());
  }
  return all;
}

constexpr const char* kUniform = R"(type: "UniformFill" output: "Y" arg { name: "shape" ints: 7 }
                                    arg { name: "min" f: -1 } arg { name: "max" f: 2 })";

// Seven numbers use two blocks of four. The next run begins with the third block.
TEST_F(RandomFillOnCudaTest, UniformFloatsAreThoseOfTheCounter) {
  const std::vector<float> got = Draw<float>(kUniform, 2);
  ASSERT_EQ(got.size(), 14u);
  for (size_t i = 0; i < got.size(); ++i) {
    const size_t place = i % 7;
    const uint32_t word = math::Philox(9, i / 7 * 2 + place / 4).word[place % 4];
    EXPECT_EQ(got[i], math::UnitFloat(word) * 3.0f - 1.0f) << i;
  }
}

TEST_F(RandomFillOnCudaTest, EqualSeedsDrawEqualNumbersAndOthersDoNot) {
  EXPECT_EQ(Draw<float>(kUniform, 2, 3), Draw<float>(kUniform, 2, 3));
  EXPECT_NE(Draw<float>(kUniform, 2, 3), Draw<float>(kUniform, 2, 4));
}

TEST_F(RandomFillOnCudaTest, SeedsOfWorkspacesGiveEachRunAStreamOfItsOwn) {
  const auto draw = [](const char* type, uint64_t seed, uint64_t first) {
    Workspace ws;
    ws.SetRandomSeed(seed);
    NetDef def = ParseNet(R"(name: "n" device_option { device_type: 1 }
      op { type: "UniformFill" output: "a" arg { name: "shape" ints: 7 } }
      op { type: "GaussianFill" output: "b" arg { name: "shape" ints: 7 } }
      op { type: "UniformFill" output: "a" arg { name: "shape" ints: 7 } })");
    def.set_type(type);
    const auto net = CreateNet(def, &ws);
    net->SetNextRun(first);
    std::vector<std::vector<float>> runs;
    for (int run = 0; run < 2; ++run) {
      EXPECT_TRUE(net->Run());
      std::vector<float>& all = runs.emplace_back();
      for (const char* name : {"a", "b"}) {
        const Tensor on_host(ws.GetBlob(name)->Get<Tensor>(), CPU);
        all.insert(all.end(), on_host.data<float>(), on_host.data<float>() + on_host.numel());
      }
    }
    return runs;
  };
  const auto want = draw("simple", 1, 0);
  EXPECT_NE(want[0], want[1]);
  EXPECT_EQ(draw("simple", 1, 0), want);
  EXPECT_EQ(draw("async_scheduling", 1, 0), want);
  EXPECT_EQ(draw("simple", 1, 1)[0], want[1]);
  EXPECT_NE(draw("simple", 2, 0)[0], want[0]);
}

TEST_F(RandomFillOnCudaTest, IntegersReachBothEnds) {
  const std::vector<int32_t> got = Draw<int32_t>(
      R"(type: "UniformIntFill" output: "Y" arg { name: "shape" ints: 6000 }
         arg { name: "min" i: -2 } arg { name: "max" i: 3 })");
  std::vector<int> count(6);
  for (const int32_t value : got) {
    ASSERT_GE(value, -2);
    ASSERT_LE(value, 3);
    ++count[static_cast<size_t>(value + 2)];
  }
  // The tolerance is five standard deviations.
  for (const int n : count) EXPECT_NEAR(n, 1000, 5 * std::sqrt(6000 * (1 / 6.0) * (5 / 6.0)));
}

void ExpectMoments(const std::vector<float>& values, double mean, double std, double std_error) {
  double sum = 0, squares = 0;
  for (const float value : values) sum += value;
  const double n = static_cast<double>(values.size()), got_mean = sum / n;
  for (const float value : values) squares += (value - got_mean) * (value - got_mean);
  EXPECT_NEAR(got_mean, mean, 5 * std / std::sqrt(n));
  EXPECT_NEAR(std::sqrt(squares / n), std, 5 * std_error * std / std::sqrt(n));
}

TEST_F(RandomFillOnCudaTest, DistributionsHaveTheirMoments) {
  ExpectMoments(Draw<float>(R"(type: "GaussianFill" output: "Y" arg { name: "shape" ints: 40001 }
                               arg { name: "mean" f: 2 } arg { name: "std" f: 3 })"),
                2, 3, std::sqrt(0.5));
  ExpectMoments(Draw<float>(R"(type: "MSRAFill" output: "Y"
                               arg { name: "shape" ints: 200 ints: 200 })"),
                0, std::sqrt(2.0 / 200), std::sqrt(0.5));
  // A uniform distribution over [-a, a] has the standard deviation a / sqrt(3).
  ExpectMoments(Draw<float>(R"(type: "XavierFill" output: "Y"
                               arg { name: "shape" ints: 100 ints: 400 })"),
                0, std::sqrt(1.0 / 400), std::sqrt(0.2));
}

TEST_F(FillOnCudaTest, AcceptsShapesAndValuesFromBothDevices) {
  for (const bool on_device : {false, true}) {
    SCOPED_TRACE(on_device ? "inputs on the device" : "inputs on the CPU");
    Workspace ws;
    Feed<int64_t>(&ws, "shape_cpu", {2}, {2, 3});
    Feed<int32_t>(&ws, "value_cpu", {1}, {7});
    Feed<int32_t>(&ws, "stop_cpu", {}, {4});
    for (const char* name : {"shape", "value", "stop"}) {
      ws.RunOperatorOnce(
          OnCuda(MakeString("type: \"", on_device ? "CopyCPUToGPU" : "EnsureCPUOutput",
                            "\" input: \"", name, "_cpu\" output: \"", name, '"')));
    }
    ws.RunOperatorOnce(OnCuda(R"(type: "ConstantFill" input: "shape" input: "value" output: "Y"
                                 arg { name: "input_as_shape" i: 1 } arg { name: "dtype" i: 2 }
                                 arg { name: "extra_shape" ints: 1 })"));
    ws.RunOperatorOnce(OnCuda(R"(type: "CopyGPUToCPU" input: "Y" output: "Y_cpu")"));
    ExpectTensor<int32_t>(ws, "Y_cpu", {2, 3, 1}, {7, 7, 7, 7, 7, 7});
    ws.RunOperatorOnce(OnCuda(R"(type: "Range" input: "stop" output: "R")"));
    ws.RunOperatorOnce(OnCuda(R"(type: "CopyGPUToCPU" input: "R" output: "R_cpu")"));
    ExpectTensor<int32_t>(ws, "R_cpu", {4}, {0, 1, 2, 3});
  }
}

TEST_F(FillOnCudaTest, AgreesWithTheCpuOnOddShapes) {
  Workspace ws;
  for (const char* shape :
       {"ints: 0", "ints: 1 ints: 1", "ints: 5 ints: 3", "ints: 3 ints: 3 ints: 3"}) {
    const std::string tail = std::string(R"( output: "Y" arg { name: "shape" )") + shape + " }";
    ExpectDevicesAgree(&ws, R"(type: "ConstantFill")" + tail + R"(arg { name: "value" f: 2.5 })");
    ExpectDevicesAgree(&ws, R"(type: "RangeFill")" + tail);
    if (std::string(shape) == "ints: 0") continue;
    ExpectDevicesAgree(&ws, R"(type: "DiagonalFill")" + tail + R"(arg { name: "value" i: 3 })");
  }
  Feed<int32_t>(&ws, "L", {4}, {2, 0, 3, 1});
  ExpectDevicesAgree(&ws, R"(type: "LengthsRangeFill" input: "L" output: "Y")");
}

}  // namespace
}  // namespace caffe2rt::test::fill_cuda_test
