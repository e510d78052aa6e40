// Compares elementwise operators on CUDA with the CPU, for unusual shapes and values.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "caffe2_core/runtime/operator_registry.h"
#include "operators/primitives/activation_functions.h"
#include "operators/elementwise/binary_functions.h"
#include "operators/elementwise/nary_kernels.h"
#include "operators/elementwise/unary_functions.h"
#include "tests/support/device_run.h"
#include "tests/support/devices_agree.h"

namespace caffe2rt::test::elementwise_cuda_test {
namespace {

using BinaryOnCudaTest = OnDeviceTest;
using UnaryOnCudaTest = OnDeviceTest;
using CastOnCudaTest = OnDeviceTest;
using NaryOnCudaTest = OnDeviceTest;
using PowOnCudaTest = OnDeviceTest;
using PReluOnCudaTest = OnDeviceTest;
using WhereOnCudaTest = OnDeviceTest;
using NanCheckOnCudaTest = OnDeviceTest;
using CopiesOnCudaTest = OnDeviceTest;
using DropoutOnCudaTest = OnDeviceTest;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

std::string Binary(const std::string& type, const std::string& rest = "") {
  return "type: \"" + type + "\" input: \"A\" input: \"B\" output: \"Y\" " + rest;
}

TEST(FunctionTableOnCudaTest, HasAnOperatorForEachRow) {
  const auto expect = [](const auto& row) {
    EXPECT_TRUE(HasOperator(CUDA, row.type)) << row.type;
    const std::string gradient = std::string(row.type) + "Gradient";
    EXPECT_EQ(HasOperator(CUDA, gradient), HasOperator(CPU, gradient)) << gradient;
  };
  kActivations.ForEach(expect);
  kUnaryMath.ForEach(expect);
  kArithmetic.ForEach(expect);
  kComparisons.ForEach(expect);
  kLogic.ForEach(expect);
  kNary.ForEach(expect);
}

TEST_F(BinaryOnCudaTest, AcceptsOddSizesAndNone) {
  for (const int64_t n : {0, 1, 3, 255, 257, 1001}) {
    Workspace ws;
    FeedRandom(&ws, "A", {n}, -2, 2, 1);
    FeedRandom(&ws, "B", {n}, 0.5f, 2, 2);
    for (const char* type : {"Add", "Sub", "Mul", "Div", "LT", "GE", "NE"}) {
      ExpectDevicesAgree(&ws, Binary(type));
    }
  }
}

TEST_F(BinaryOnCudaTest, BroadcastsAsTheCpu) {
  const std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>> shapes = {
      {{3, 5, 7}, {7}},
      {{7}, {3, 5, 7}},
      {{3, 5, 7}, {5, 1}},
      {{3, 1, 7}, {1, 5, 1}},
      {{2, 3, 1, 5}, {3, 4, 1}},
      {{1}, {2, 2}},
      {{0, 3}, {3}},
      {{}, {4}},
      {{2, 1, 3, 1, 2, 1}, {1, 5, 1, 4, 1, 3}},
  };
  for (const auto& [a, b] : shapes) {
    Workspace ws;
    FeedRange<int64_t>(&ws, "A", a, -7, 3);
    FeedRange<int64_t>(&ws, "B", b, 1, 2);
    for (const char* type : {"Add", "Sub", "Div", "GT", "BitwiseXor"}) {
      ExpectDevicesAgree(&ws, Binary(type));
    }
  }
  Workspace ws;
  FeedRandom(&ws, "A", {2, 3, 4, 5});
  FeedRandom(&ws, "B", {3, 4}, 1, 2);
  ExpectDevicesAgree(&ws,
                     Binary("Sub", R"(arg { name: "broadcast" i: 1 } arg { name: "axis" i: 1 })"));
  ExpectDevicesAgree(&ws,
                     Binary("Pow", R"(arg { name: "broadcast" i: 1 } arg { name: "axis" i: 1 })"),
                     {.tolerance = 1e-6});
}

TEST_F(BinaryOnCudaTest, AgreesWithTheCpuInPlaceAndOnNaN) {
  Workspace ws;
  for (const char* output : {"A", "B"}) {
    Feed<float>(&ws, "A", {5}, {1, kNaN, -0.0f, kInf, 2});
    Feed<float>(&ws, "B", {5}, {2, 1, 0.0f, kInf, kNaN});
    ExpectDevicesAgree(
        &ws, std::string(R"(type: "Sub" input: "A" input: "B" output: ")") + output + '"');
  }
  Feed<float>(&ws, "A", {5}, {1, kNaN, -0.0f, kInf, 2});
  Feed<float>(&ws, "B", {5}, {2, 1, 0.0f, kInf, kNaN});
  for (const char* type : {"LT", "LE", "GT", "GE", "EQ", "NE"})
    ExpectDevicesAgree(&ws, Binary(type));
}

// Includes operands with fewer and with more terms than one thread sums.
TEST_F(BinaryOnCudaTest, SumsTheGradientsOfBroadcastOperandsAsTheCpu) {
  const std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>> shapes = {
      {{3, 5, 7}, {3, 5, 7}}, {{3, 5, 7}, {7}},       {{7}, {3, 5, 7}},
      {{3, 5, 7}, {5, 1}},    {{3, 1, 7}, {1, 5, 1}}, {{2, 100, 3}, {1, 3}},
      {{1}, {2, 200}},        {{0, 3}, {3}},          {{}, {}},
  };
  for (const auto& [a, b] : shapes) {
    Workspace ws;
    FeedRandom(&ws, "A", a, -2, 2, 1);
    FeedRandom(&ws, "B", b, 0.5f, 2, 2);
    for (const std::string type : {"Add", "Sub", "Mul", "Div"}) {
      ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(Binary(type))));
      ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(R"(type: "Sin" input: "Y" output: "dY")")));
      ExpectDevicesAgree(&ws,
                         "type: \"" + type + R"(Gradient" input: "dY" input: "A" input: "B" )" +
                             (type == "Div" ? "input: \"Y\" " : "") +
                             R"(output: "dA" output: "dB")",
                         {.tolerance = 1e-4});
    }
  }
}

// Every function with a gradient, on odd sizes, with the kernels for two and for three inputs.
TEST_F(UnaryOnCudaTest, HasTheGradientsOfTheCpu) {
  const auto compare = []<class Function, class... Ts>(const UnaryRow<Function, Ts...>& row) {
    if constexpr (HasGradient<Function>) {
      constexpr GradientInputs kInputs = Function::kGradientInputs;
      for (const int64_t n : {0, 1, 7, 259}) {
        Workspace ws;
        FeedRandom(&ws, "X", {n}, 0.1f, 0.9f, 1);
        FeedRandom(&ws, "Z", {n}, 0.1f, 0.9f, 2);
        FeedRandom(&ws, "dY", {n}, -1, 1, 3);
        const std::string inputs = ReadsXAndY(kInputs)
                                       ? R"(input: "X" input: "Z" input: "dY")"
                                       : (PlaceOfDy(kInputs) == 0 ? R"(input: "dY" input: "X")"
                                                                  : R"(input: "X" input: "dY")");
        ExpectDevicesAgree(
            &ws, std::string("type: \"") + row.type + "Gradient\" " + inputs + " output: \"dX\"",
            {.tolerance = 1e-5});
      }
    }
  };
  kActivations.ForEach(compare);
  kUnaryMath.ForEach(compare);
}

// The memory's address is not a multiple of 16 bytes.
TEST_F(UnaryOnCudaTest, AcceptsMemoryAtAnyAddress) {
  Workspace ws;
  Feed<float>(&ws, "X_cpu", {10}, {-4, -3, -2, -1, 0, 1, 2, 3, 4, 5});
  const auto run = [&](const char* text) {
    OperatorDef def = ParseOp(text);
    def.mutable_device_option()->set_device_type(CUDA);
    ASSERT_TRUE(ws.RunOperatorOnce(def));
  };
  run(R"(type: "CopyCPUToGPU" input: "X_cpu" output: "X")");
  auto* const x = static_cast<float*>(ws.GetBlob("X")->GetMutableTensor(CUDA)->raw_mutable_data());
  Tensor* const part = ws.CreateBlob("part")->GetMutableTensor(CUDA);
  part->Resize(9);
  part->ShareExternalPointer(x + 1, TypeMeta::Make<float>(), 9 * sizeof(float));
  run(R"(type: "Relu" input: "part" output: "part")");
  run(R"(type: "Add" input: "part" input: "part" output: "part")");
  run(R"(type: "CopyGPUToCPU" input: "X" output: "Y")");
  ExpectTensor<float>(ws, "Y", {10}, {-4, 0, 0, 0, 0, 2, 4, 6, 8, 10});
}

TEST_F(BinaryOnCudaTest, ReportsIntegerDivisionByZeroAndContinues) {
  Workspace ws;
  constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();
  Feed<int32_t>(&ws, "A", {2, 2}, {5, -5, kLeast, 0});
  Feed<int32_t>(&ws, "B", {2}, {2, 0});
  ExpectThrows([&] { RunOperatorOn(CUDA, ParseOp(Binary("Div")), &ws); }, "0 at element 1");
  Feed<int32_t>(&ws, "B", {2}, {-1, 2});
  RunOperatorOn(CUDA, ParseOp(Binary("Div")), &ws);
  ExpectTensor<int32_t>(ws, "Y", {2, 2}, {-5, -2, kLeast, 0});
}

TEST_F(CastOnCudaTest, ConvertsEachTypeToEach) {
  const std::vector<std::string> types = {"float", "int32", "int64",  "double", "bool",
                                          "uint8", "int8",  "uint16", "int16"};
  Workspace ws;
  Feed<float>(&ws, "X", {9}, {0, -0.0f, 1.9f, -1.9f, 300.5f, -70000, 3e9f, kNaN, -kInf});
  for (const std::string& from : types) {
    ASSERT_TRUE(ws.RunOperatorOnce(
        ParseOp(R"(type: "Cast" input: "X" output: "F" arg { name: "to" s: ")" + from + "\" }")));
    for (const std::string& to : types) {
      ExpectDevicesAgree(
          &ws, R"(type: "Cast" input: "F" output: "T" arg { name: "to" s: ")" + to + "\" }");
    }
  }
}

// Includes more inputs than one pass can handle.
TEST_F(NaryOnCudaTest, CombinesAnyNumberOfInputs) {
  for (const int count : {1, 2, 7, 8, 9, 15, 16, 23}) {
    Workspace ws;
    std::string inputs;
    for (int i = 0; i < count; ++i) {
      const std::string name = "X" + std::to_string(i);
      FeedRandom(&ws, name, {3, 41}, -1, 1, static_cast<uint32_t>(i));
      inputs += " input: \"" + name + '"';
    }
    for (const char* type : {"Sum", "Mean", "Max", "Min"}) {
      const std::string op = std::string("type: \"") + type + '"' + inputs;
      ExpectDevicesAgree(&ws, op + " output: \"Y\"", {.tolerance = 1e-6});
    }
    ExpectDevicesAgree(&ws, "type: \"Mean\"" + inputs + " output: \"X0\"", {.tolerance = 1e-6});
  }
}

TEST_F(PowOnCudaTest, AcceptsEachExponent) {
  Workspace ws;
  Feed<float>(&ws, "X", {7}, {0, -0.0f, 2, -3, kInf, -kInf, kNaN});
  const auto power = [](const char* exponent) {
    return std::string(R"(type: "Pow" input: "X" output: "Y" arg { name: "exponent" f: )") +
           exponent + " }";
  };
  for (const char* exponent : {"2", "0.5", "-1", "3", "0"})
    ExpectDevicesAgree(&ws, power(exponent));
  // CUDA's pow differs from the host's in its last bits.
  ExpectDevicesAgree(&ws, power("1.7"), {.tolerance = 1e-6});
}

TEST_F(PReluOnCudaTest, HasASlopeForEachChannelInBothOrders) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 3, 5, 3});
  Feed<float>(&ws, "W", {3}, {0.5f, -1, 2});
  for (const char* order : {"NCHW", "NHWC"}) {
    ExpectDevicesAgree(
        &ws,
        std::string(R"(type: "PRelu" input: "X" input: "W" output: "Y" arg { name: "order" s: ")") +
            order + "\" }");
  }
}

TEST_F(PReluOnCudaTest, HasTheGradientsOfTheCpu) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 3, 40, 3});
  FeedRandom(&ws, "dY", {2, 3, 40, 3}, -1, 1, 2);
  for (const std::vector<float>& slopes :
       {std::vector<float>{0.5f, -1, 2}, std::vector<float>{3}}) {
    Feed<float>(&ws, "W", {static_cast<int64_t>(slopes.size())}, slopes);
    for (const char* order : {"NCHW", "NHWC"}) {
      ExpectDevicesAgree(
          &ws,
          std::string(R"(type: "PReluGradient" input: "X" input: "dY" input: "X" input: "W"
                         output: "dX" output: "dW" arg { name: "order" s: ")") +
              order + "\" }",
          {.tolerance = 1e-4});
    }
  }
}

TEST_F(WhereOnCudaTest, ChoosesElementsAndRows) {
  Workspace ws;
  Feed<bool>(&ws, "C", {4}, {true, false, false, true});
  FeedRange<uint8_t>(&ws, "X", {4, 3}, 1);
  FeedRange<uint8_t>(&ws, "Z", {4, 3}, 101);
  ExpectDevicesAgree(&ws, R"(type: "Conditional" input: "C" input: "X" input: "Z" output: "Y")");
  FeedRange<double>(&ws, "X", {4, 3}, 1);
  FeedRange<double>(&ws, "Z", {4, 3}, 101);
  ExpectDevicesAgree(&ws, R"(type: "Conditional" input: "C" input: "X" input: "Z" output: "Y")");
  ExpectDevicesAgree(&ws, R"(type: "Where" input: "C" input: "X" input: "Z" output: "Y"
                             arg { name: "broadcast_on_rows" i: 1 })");
}

TEST_F(NanCheckOnCudaTest, NamesTheFirstOfManyElements) {
  Workspace ws;
  Tensor* const x = FeedRange<float>(&ws, "X", {100003}, 0, 0.5);
  const OperatorDef def = ParseOp(R"(type: "NanCheck" input: "X" output: "Y")");
  RunOperatorOn(CUDA, def, &ws);
  EXPECT_EQ(Fetch<float>(ws, "Y"), Fetch<float>(ws, "X"));
  x->mutable_data<float>()[99999] = kNaN;
  x->mutable_data<float>()[77777] = -kInf;
  ExpectThrows([&] { RunOperatorOn(CUDA, def, &ws); }, "holds -inf at element 77777");
}

TEST_F(CopiesOnCudaTest, CopyInTheDirectionThatTheirNameStates) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3});
  const auto run = [&](const std::string& type, const char* from, const char* to) {
    OperatorDef def =
        ParseOp("type: \"" + type + "\" input: \"" + from + "\" output: \"" + to + '"');
    def.mutable_device_option()->set_device_type(CUDA);
    ASSERT_TRUE(ws.RunOperatorOnce(def)) << type;
  };
  const std::vector<float> want = {0, 1, 2, 3, 4, 5};
  for (const char* there : {"CopyCPUToGPU", "CopyFromCPUInput"}) {
    for (const char* back : {"CopyGPUToCPU", "EnsureCPUOutput"}) {
      run(there, "X", "D");
      EXPECT_EQ(ws.GetBlob("D")->Get<Tensor>().GetDeviceType(), CUDA);
      run("Copy", "D", "E");
      EXPECT_NE(ws.GetBlob("E")->Get<Tensor>().raw_data(),
                ws.GetBlob("D")->Get<Tensor>().raw_data());
      run(back, "E", "Y");
      ExpectTensor<float>(ws, "Y", {2, 3}, want);
    }
  }
  run("EnsureCPUOutput", "X", "Z");
  ExpectTensor<float>(ws, "Z", {2, 3}, want);
  run("Alias", "D", "A");
  EXPECT_EQ(ws.GetBlob("A")->Get<Tensor>().raw_data(), ws.GetBlob("D")->Get<Tensor>().raw_data());
  OperatorDef named =
      ParseOp(R"(type: "AliasWithName" input: "D" output: "B" arg { name: "name" s: "part" })");
  named.mutable_device_option()->set_device_type(CUDA);
  ASSERT_TRUE(ws.RunOperatorOnce(named));
  EXPECT_EQ(ws.GetBlob("B")->Get<Tensor>().raw_data(), ws.GetBlob("D")->Get<Tensor>().raw_data());
}

TEST_F(DropoutOnCudaTest, DropsTheRatioAndDrawsANewMaskInEachRun) {
  constexpr int64_t kCount = 100001;
  Workspace ws;
  FeedRange<float>(&ws, "X_cpu", {kCount}, 1);
  const auto on_cuda = [](const std::string& text) {
    OperatorDef def = ParseOp(text);
    def.mutable_device_option()->set_device_type(CUDA);
    def.mutable_device_option()->set_random_seed(5);
    return def;
  };
  ws.RunOperatorOnce(on_cuda(R"(type: "CopyCPUToGPU" input: "X_cpu" output: "X")"));
  const OperatorDef dropout = on_cuda(R"(type: "Dropout" input: "X" output: "Y" output: "M"
                                         arg { name: "ratio" f: 0.25 } arg { name: "is_test" i: 0 })");
  const auto run = [&](OperatorBase* op) {
    EXPECT_TRUE(op->Run());
    for (const char* name : {"Y", "M"}) {
      ws.RunOperatorOnce(on_cuda(std::string(R"(type: "CopyGPUToCPU" input: ")") + name +
                                 "\" output: \"" + name + "_cpu\""));
    }
    return Fetch<bool>(ws, "M_cpu");
  };
  const std::unique_ptr<OperatorBase> op = CreateOperator(dropout, &ws);
  const std::vector<bool> first = run(op.get());
  const std::vector<float> y = Fetch<float>(ws, "Y_cpu");
  int64_t kept = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    const float x = static_cast<float>(i + 1);
    ASSERT_EQ(y[i], first[i] ? x * (1 / 0.75f) : 0.0f) << "element " << i;
    kept += first[i] ? 1 : 0;
  }
  // Five standard deviations of the binomial distribution.
  EXPECT_NEAR(static_cast<double>(kept), 0.75 * kCount, 5 * std::sqrt(kCount * 0.75 * 0.25));
  EXPECT_NE(run(op.get()), first);
  EXPECT_EQ(run(CreateOperator(dropout, &ws).get()), first) << "one seed, one sequence";
}

}  // namespace
}  // namespace caffe2rt::test::elementwise_cuda_test
