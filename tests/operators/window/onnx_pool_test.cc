#include <cmath>

#include "tests/support/onnx_case.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::onnx_pool_test {
namespace {

using namespace test;

// Inputs drawn by numpy, outputs computed by ONNX's reference evaluator (onnx 1.23).
const OnnxCase kCases[] = {
    {"ONNXMaxPool",
     R"(arg { name: "kernel_shape" ints: 2 ints: 2 } arg { name: "strides" ints: 1 ints: 2 } arg { name: "dilations" ints: 2 ints: 1 })",
     {F32({1, 2, 4, 5}, {0.28,  1.79, 1.92,  -2.27, 0.61,  0.15, -0.22, -0.17, 0.8,   2.55,
                         1.89,  2.67, 2.52,  -0.51, 1.95,  2.68, 0.77,  -1.49, 0.55,  2.16,
                         -2.71, 2.13, 1.32,  -1.22, -0.09, 2.07, 0.61,  -2.06, 0.16,  -1.87,
                         1.02,  0.29, -2.06, 2.59,  0.26,  0.92, 1.03,  1.91,  -2.92, 2.09})},
     {F32({1, 2, 2, 2}, {2.67, 2.52, 2.68, 0.8, 2.13, 2.59, 2.07, 1.91}),
      I64({1, 2, 2, 2}, {11, 12, 15, 8, 21, 33, 25, 37})}},
    {"ONNXMaxPool",
     R"(arg { name: "kernel_shape" ints: 3 ints: 3 } arg { name: "strides" ints: 2 ints: 2 } arg { name: "ceil_mode" i: 1 })",
     {F32({1, 2, 4, 5}, {0.28,  1.79, 1.92,  -2.27, 0.61,  0.15, -0.22, -0.17, 0.8,   2.55,
                         1.89,  2.67, 2.52,  -0.51, 1.95,  2.68, 0.77,  -1.49, 0.55,  2.16,
                         -2.71, 2.13, 1.32,  -1.22, -0.09, 2.07, 0.61,  -2.06, 0.16,  -1.87,
                         1.02,  0.29, -2.06, 2.59,  0.26,  0.92, 1.03,  1.91,  -2.92, 2.09})},
     {F32({1, 2, 2, 2}, {2.67, 2.55, 2.68, 2.52, 2.13, 2.59, 1.91, 2.59})}},
    {"ONNXMaxPool",
     R"(arg { name: "kernel_shape" ints: 3 ints: 2 } arg { name: "auto_pad" s: "SAME_UPPER" } arg { name: "strides" ints: 2 ints: 2 })",
     {F32({1, 2, 4, 5}, {0.28,  1.79, 1.92,  -2.27, 0.61,  0.15, -0.22, -0.17, 0.8,   2.55,
                         1.89,  2.67, 2.52,  -0.51, 1.95,  2.68, 0.77,  -1.49, 0.55,  2.16,
                         -2.71, 2.13, 1.32,  -1.22, -0.09, 2.07, 0.61,  -2.06, 0.16,  -1.87,
                         1.02,  0.29, -2.06, 2.59,  0.26,  0.92, 1.03,  1.91,  -2.92, 2.09})},
     {F32({1, 2, 2, 3}, {2.67, 2.52, 2.55, 2.68, 2.52, 2.16, 2.13, 2.59, 0.26, 1.03, 2.59, 2.09})}},
    {"ONNXMaxPool",
     R"(arg { name: "kernel_shape" ints: 3 ints: 2 } arg { name: "auto_pad" s: "SAME_LOWER" })",
     {F32({1, 2, 4, 5}, {0.28,  1.79, 1.92,  -2.27, 0.61,  0.15, -0.22, -0.17, 0.8,   2.55,
                         1.89,  2.67, 2.52,  -0.51, 1.95,  2.68, 0.77,  -1.49, 0.55,  2.16,
                         -2.71, 2.13, 1.32,  -1.22, -0.09, 2.07, 0.61,  -2.06, 0.16,  -1.87,
                         1.02,  0.29, -2.06, 2.59,  0.26,  0.92, 1.03,  1.91,  -2.92, 2.09})},
     {F32({1, 2, 4, 5},
          {0.28, 1.79, 1.92, 1.92, 2.55, 1.89, 2.67, 2.67, 2.52, 2.55, 2.68, 2.68, 2.67, 2.52,
           2.55, 2.68, 2.68, 2.67, 2.52, 2.16, 2.07, 2.13, 2.13, 1.32, 0.16, 2.07, 2.13, 2.13,
           2.59, 2.59, 2.07, 2.07, 1.91, 2.59, 2.59, 1.02, 1.03, 1.91, 2.59, 2.59})}},
    {"ONNXMaxPool",
     R"(arg { name: "kernel_shape" ints: 3 } arg { name: "pads" ints: 1 ints: 1 })",
     {F32({2, 1, 5}, {-0.39, -0.14, 1.29, 2.04, -2.32, 0.67, -1.67, -2.76, -1.32, -1.24})},
     {F32({2, 1, 5}, {-0.14, 1.29, 2.04, 2.04, 2.04, 0.67, 0.67, -1.32, -1.24, -1.24})}},
    {"ONNXMaxPool",
     R"(arg { name: "kernel_shape" ints: 2 ints: 2 ints: 2 })",
     {F32({1, 1, 2, 3, 3}, {-2.2, 1.34, -1.78, 1.75, 1.34, -0.92, -1.68, -1.59, -2.34, 2.64, 0.25,
                            2.37, 2.32, -2.92, 2.21, -1.19, 2.69, -2.9})},
     {F32({1, 1, 1, 2, 2}, {2.64, 2.37, 2.69, 2.69})}},
    {"ONNXMaxPool",
     R"(arg { name: "kernel_shape" ints: 2 ints: 2 } arg { name: "strides" ints: 2 ints: 2 })",
     {U8({1, 1, 2, 4}, {1, 200, 3, 4, 5, 6, 7, 8})},
     {U8({1, 1, 1, 2}, {200, 8})}},
    {"ONNXMaxPool",
     R"(arg { name: "kernel_shape" ints: 2 } arg { name: "pads" ints: 1 ints: 0 })",
     {I8({1, 1, 4}, {-3, -7, -128, 5})},
     {I8({1, 1, 4}, {-3, -3, -7, 5})}},
    {"ONNXMaxPool",
     R"(arg { name: "kernel_shape" ints: 2 ints: 2 } arg { name: "storage_order" i: 1 })",
     {F32({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})},
     {F32({1, 1, 2, 2}, {5, 6, 8, 9}), I64({1, 1, 2, 2}, {4, 7, 5, 8})}},
    {"ONNXMaxPool",
     R"(arg { name: "kernel_shape" ints: 2 ints: 2 })",
     {F64({1, 1, 3, 3}, {2.859999895095825, 1.8899999856948853, -1.090000033378601,
                         -1.2100000381469727, -0.5299999713897705, -0.9599999785423279,
                         2.700000047683716, -0.3700000047683716, -1.149999976158142})},
     {F64({1, 1, 2, 2},
          {2.859999895095825, 1.8899999856948853, 2.700000047683716, -0.3700000047683716})}},
    {"ONNXAveragePool",
     R"(arg { name: "kernel_shape" ints: 3 ints: 3 } arg { name: "pads" ints: 1 ints: 1 ints: 1 ints: 1 } arg { name: "strides" ints: 2 ints: 2 } arg { name: "ceil_mode" i: 1 })",
     {F32({1, 2, 4, 5}, {0.28,  1.79, 1.92,  -2.27, 0.61,  0.15, -0.22, -0.17, 0.8,   2.55,
                         1.89,  2.67, 2.52,  -0.51, 1.95,  2.68, 0.77,  -1.49, 0.55,  2.16,
                         -2.71, 2.13, 1.32,  -1.22, -0.09, 2.07, 0.61,  -2.06, 0.16,  -1.87,
                         1.02,  0.29, -2.06, 2.59,  0.26,  0.92, 1.03,  1.91,  -2.92, 2.09})},
     {F32({1, 2, 3, 3}, {0.5, 0.30833337, 0.4225, 1.3233334, 0.5466667, 1.25, 1.725, -0.056666672,
                         1.355, 0.525, 0.1566667, -0.755, 0.98999995, -0.050000004, 0.051666617,
                         0.975, 0.0066666603, -0.41500008})},
     1e-06},
    {"ONNXAveragePool",
     R"(arg { name: "kernel_shape" ints: 3 ints: 3 } arg { name: "pads" ints: 1 ints: 1 ints: 1 ints: 1 } arg { name: "strides" ints: 2 ints: 2 } arg { name: "ceil_mode" i: 1 } arg { name: "count_include_pad" i: 1 })",
     {F32({1, 2, 4, 5}, {0.28,  1.79, 1.92,  -2.27, 0.61,  0.15, -0.22, -0.17, 0.8,   2.55,
                         1.89,  2.67, 2.52,  -0.51, 1.95,  2.68, 0.77,  -1.49, 0.55,  2.16,
                         -2.71, 2.13, 1.32,  -1.22, -0.09, 2.07, 0.61,  -2.06, 0.16,  -1.87,
                         1.02,  0.29, -2.06, 2.59,  0.26,  0.92, 1.03,  1.91,  -2.92, 2.09})},
     {F32({1, 2, 3, 3}, {0.22222222, 0.20555554, 0.18777779, 0.8822222, 0.5466667, 0.8333333, 0.575,
                         -0.028333336, 0.45166668, 0.23333332, 0.10444447, -0.33555555, 0.65999997,
                         -0.050000004, 0.03444441, 0.32500002, 0.0033333302, -0.13833337})},
     1e-06},
    {"ONNXAveragePool",
     R"(arg { name: "kernel_shape" ints: 2 ints: 2 } arg { name: "dilations" ints: 2 ints: 2 })",
     {F32({1, 2, 4, 5}, {0.28,  1.79, 1.92,  -2.27, 0.61,  0.15, -0.22, -0.17, 0.8,   2.55,
                         1.89,  2.67, 2.52,  -0.51, 1.95,  2.68, 0.77,  -1.49, 0.55,  2.16,
                         -2.71, 2.13, 1.32,  -1.22, -0.09, 2.07, 0.61,  -2.06, 0.16,  -1.87,
                         1.02,  0.29, -2.06, 2.59,  0.26,  0.92, 1.03,  1.91,  -2.92, 2.09})},
     {F32({1, 2, 2, 3}, {1.6525, 0.42000002, 1.75, 0.29250002, 0.47500002, 0.7625, -0.60749996,
                         0.9475, -0.14249998, 0.71, -0.28000003, 0.017499983})},
     1e-06},
    {"ONNXAveragePool",
     R"(arg { name: "kernel_shape" ints: 2 ints: 2 ints: 1 } arg { name: "count_include_pad" i: 1 } arg { name: "pads" ints: 0 ints: 1 ints: 0 ints: 0 ints: 0 ints: 1 })",
     {F32({1, 1, 2, 3, 3}, {1.14, -2.46, 2.7, 2, 1.31, 1.33, -2.31, -0.11, 0.41, -1.15, 1.78, 2.29,
                            1.22, 2.72, -0.59, 0.13, 1.67, -2.93})},
     {F32({1, 1, 1, 3, 4}, {-0.0024999976, -0.17000002, 1.2475, 0, 0.8025, 0.8375, 1.4325, 0,
                            0.26000002, 1.3975, -0.445, 0})},
     1e-06},
    {"ONNXAveragePool",
     R"(arg { name: "kernel_shape" ints: 2 } arg { name: "auto_pad" s: "SAME_LOWER" })",
     {F32({1, 2, 5}, {0.38, -0.04, 0.88, 2.22, 0.58, -0.94, -1.03, 1.84, 2.43, 0.9})},
     {F32({1, 2, 5}, {0.38, 0.17, 0.42, 1.55, 1.4, -0.94, -0.985, 0.40500003, 2.135, 1.665})},
     1e-06},
    {"ONNXAveragePool",
     R"(arg { name: "kernel_shape" ints: 2 } arg { name: "auto_pad" s: "VALID" })",
     {F64({1, 2, 5},
          {-1.3799999952316284, -2.799999952316284, -2.7100000381469727, -0.2199999988079071,
           -1.9900000095367432, 2.5399999618530273, 0.3799999952316284, -2.049999952316284,
           -0.8399999737739563, -2.7200000286102295})},
     {F64({1, 2, 4},
          {-2.0899999737739563, -2.7549999952316284, -1.4650000184774399, -1.1050000041723251,
           1.4599999785423279, -0.8349999785423279, -1.4449999630451202, -1.780000001192093})},
     1e-12},
    {"ONNXLpPool",
     R"(arg { name: "kernel_shape" ints: 2 ints: 2 } arg { name: "p" i: 3 })",
     {F32({1, 2, 4, 5}, {0.28,  1.79, 1.92,  -2.27, 0.61,  0.15, -0.22, -0.17, 0.8,   2.55,
                         1.89,  2.67, 2.52,  -0.51, 1.95,  2.68, 0.77,  -1.49, 0.55,  2.16,
                         -2.71, 2.13, 1.32,  -1.22, -0.09, 2.07, 0.61,  -2.06, 0.16,  -1.87,
                         1.02,  0.29, -2.06, 2.59,  0.26,  0.92, 1.03,  1.91,  -2.92, 2.09})},
     {F32({1, 2, 3, 4},
          {1.7937348, 2.3409665, 2.6819966, 3.0729325, 2.9548595, 3.2727084, 2.5536444, 2.9099498,
           3.5697777, 3.3854525, 2.6966572, 2.6105878, 3.3814106, 2.755959,  2.3429685, 2.029551,
           2.1674492, 2.6078167, 3.2667522, 2.8818867, 1.4353275, 2.5625196, 3.8704484, 3.718533})},
     1e-05},
    {"ONNXLpPool",
     R"(arg { name: "kernel_shape" ints: 3 } arg { name: "p" i: 2 } arg { name: "pads" ints: 1 ints: 1 })",
     {F32({1, 2, 5}, {-0.61, 2.65, 1.57, -0.64, 1.72, -0.99, -1.98, 1.07, 2.07, -0.68})},
     {F32({1, 2, 5}, {2.7193015, 3.1399841, 3.14595, 2.4151397, 1.8352112, 2.2137074, 2.4587398,
                      3.0578096, 2.4273853, 2.17883})},
     1e-05},
    {"ONNXLpPool",
     R"(arg { name: "kernel_shape" ints: 2 ints: 2 ints: 2 } arg { name: "p" i: 1 })",
     {F32({1, 1, 2, 3, 3}, {-1.95, 0.4, 2.9, 0.17, -0.37, 2.48, 1.39, -2.12, -1.8, -0.47, -2.38,
                            0.61, -1.53, 2.89, -2.52, 0.81, -2.32, -1.46})},
     {F32({1, 1, 1, 2, 2}, {10.160001, 14.549999, 11.6, 15.959999})},
     1e-05},
};

TEST(OnnxPoolTest, AgreesWithTheReference) {
  for (const OnnxCase& c : kCases) ExpectOnnxCase(c);
}

// Feeds the inputs of a case and expects that the operator throws.
void ExpectCaseThrows(const OnnxCase& c, const std::string& error) {
  SCOPED_TRACE(OnnxCaseOp(c));
  Workspace ws;
  FeedOnnxCase(&ws, c);
  ExpectThrows([&] { RunOp(&ws, OnnxCaseOp(c)); }, error);
}

TEST(OnnxPoolTest, AcceptsNoImagesAndGivesNaN) {
  const char* two = R"(arg { name: "kernel_shape" ints: 2 })";
  ExpectOnnxCase({"ONNXMaxPool", two, {F32({0, 1, 3}, {})}, {F32({0, 1, 2}, {})}});
  ExpectOnnxCase({"ONNXMaxPool", two, {F32({1, 1, 3}, {1, NAN, 2})}, {F32({1, 1, 2}, {NAN, NAN})}});
}

// Windows begin at -1, 2 and 5 of 4 elements with one of padding at each end: the third one, which
// ceil_mode would add, begins in the padding behind them.
TEST(OnnxPoolTest, CountsNoWindowThatBeginsInThePaddingBehindTheElements) {
  const char* args = R"(arg { name: "kernel_shape" ints: 2 } arg { name: "strides" ints: 3 }
                        arg { name: "pads" ints: 1 ints: 1 } arg { name: "ceil_mode" i: 1 })";
  const OnnxCaseTensor x = F32({1, 1, 4}, {5, 2, 3, 4});
  ExpectOnnxCase({"ONNXMaxPool", args, {x}, {F32({1, 1, 2}, {5, 4})}});
  ExpectOnnxCase({"ONNXAveragePool", args, {x}, {F32({1, 1, 2}, {5, 3.5f})}});
}

// Taps 3 apart from 0 and 2 of 5 elements: the second one of the second window lies behind them, and counts only if
// there is padding.
TEST(OnnxPoolTest, CountsTheTapsOfDilatedWindowsInThePadding) {
  const std::string args = R"(arg { name: "kernel_shape" ints: 2 } arg { name: "dilations" ints: 3 }
      arg { name: "strides" ints: 2 } arg { name: "ceil_mode" i: 1 } )",
                    include = R"(arg { name: "count_include_pad" i: 1 } )",
                    pad = R"(arg { name: "pads" ints: 0 ints: 1 })";
  const OnnxCaseTensor x = F32({1, 1, 5}, {1, 2, 3, 4, 5});
  for (const std::string& counts : {args, args + include})
    ExpectOnnxCase({"ONNXAveragePool", counts.c_str(), {x}, {F32({1, 1, 2}, {2.5f, 3})}});
  ExpectOnnxCase({"ONNXAveragePool", (args + pad).c_str(), {x}, {F32({1, 1, 2}, {2.5f, 3})}});
  ExpectOnnxCase(
      {"ONNXAveragePool", (args + include + pad).c_str(), {x}, {F32({1, 1, 2}, {2.5f, 1.5f})}});
}

// Two windows of one element begin at 0 and 3: the elements behind them need no padding, and none is cut off.
TEST(OnnxPoolTest, PadsNothingIfWindowsLeaveElementsOut) {
  const OnnxCaseTensor x = F32({1, 1, 6}, {5, 2, 3, 4, 1, 7});
  for (const char* pad : {"SAME_UPPER", "SAME_LOWER"}) {
    const std::string args =
        MakeString("arg { name: 'kernel_shape' ints: 1 } arg { name: 'strides' ints: 3 } ",
                   "arg { name: 'auto_pad' s: '", pad, "' }");
    for (const char* type : {"ONNXMaxPool", "ONNXAveragePool"})
      ExpectOnnxCase({type, args.c_str(), {x}, {F32({1, 1, 2}, {5, 4})}});
  }
}

TEST(OnnxPoolTest, RejectsWindowsThatDoNotFit) {
  const OnnxCaseTensor x = F32({1, 1, 3}, {1, 2, 3});
  ExpectCaseThrows({"ONNXMaxPool", "", {x}, {F32({}, {})}}, "sizes of the window");
  ExpectCaseThrows({"ONNXMaxPool", R"(arg { name: "kernel_shape" ints: 4 })", {x}, {F32({}, {})}},
                   "span 4 elements");
  ExpectCaseThrows({"ONNXLpPool",
                    R"(arg { name: "kernel_shape" ints: 2 } arg { name: "p" i: 0 })",
                    {x},
                    {F32({}, {})}},
                   "above 0");
  ExpectCaseThrows({"ONNXAveragePool",
                    R"(arg { name: "kernel_shape" ints: 2 })",
                    {F32({1, 3}, {1, 2, 3})},
                    {F32({}, {})}},
                   "one to three spatial axes");
  ExpectCaseThrows(
      {"ONNXMaxPool", R"(arg { name: "kernel_shape" ints: 1 })", {F32({}, {1})}, {F32({}, {})}},
      "one to three spatial axes");
}

TEST(OnnxPoolTest, GivesTheSameBitsOnAllThreads) {
  Workspace ws;
  FeedRandom(&ws, "A", {4, 8, 40, 40});
  ExpectSameBitsForAllThreads(
      &ws,
      R"(type: "ONNXAveragePool" input: "A" output: "Y" arg { name: "kernel_shape" ints: 3 ints: 3 })");
}

}  // namespace
}  // namespace caffe2rt::onnx_pool_test
