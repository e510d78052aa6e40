#include <cmath>
#include <limits>

#include "tests/support/onnx_case.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::dft_test {
namespace {

using namespace test;

// Inputs drawn by numpy, outputs computed by ONNX's reference evaluator (onnx 1.23).
const OnnxCase kCases[] = {
    {"DFT",
     R"()",
     {F32({1, 6, 1}, {0.28, 1.79, 1.92, -2.27, 0.61, 0.15})},
     {F32({1, 6, 2}, {2.48, 0, 2.2549999, -2.5547748, -4.225, -0.2857884, 3.1399999,
                      2.220446049250313e-16, -4.225, 0.2857884, 2.2549999, 2.5547748})},
     1e-05},
    {"DFT",
     R"(arg { name: "onesided" i: 1 } arg { name: "omitted_inputs" ints: 1 })",
     {F32({1, 6, 1}, {0.28, 1.79, 1.92, -2.27, 0.61, 0.15}), I64({}, {1})},
     {F32({1, 4, 2},
          {2.48, 0, 2.2549999, -2.5547748, -4.225, -0.2857884, 3.1399999, 2.220446049250313e-16})},
     1e-05},
    {"DFT",
     R"()",
     {F32({2, 5, 2}, {-0.22, -0.17, 0.8,  2.55, 1.89,  2.67, 2.52, -0.51, 1.95,  2.68,
                      0.77,  -1.49, 0.55, 2.16, -2.71, 2.13, 1.32, -1.22, -0.09, 2.07}),
      I64({}, {7})},
     {F32({2, 7, 2},
          {6.94,       7.2200003, -0.9564649, -3.844727,  4.5077906,  -1.3043005, -4.8481545,
           -0.7107775, 3.3340588, -1.8604689, -3.1354876, -2.2757843, -7.3817425, 1.5860581,
           -0.16,      3.65,      2.9456346,  0.21721621, 7.610029,   -3.9693956, -5.624516,
           -6.02925,   2.246734,  1.4348456,  0.10223411, -2.75009,   -1.7301158, -2.9833262})},
     1e-05},
    {"DFT",
     R"(arg { name: "inverse" i: 1 })",
     {F32({1, 8, 2}, {0.61, -2.06, 0.16, -1.87, 1.02, 0.29, -2.06, 2.59, 0.26, 0.92, 1.03, 1.91,
                      -2.92, 2.09, -0.39, -0.14}),
      I64({}, {4})},
     {F32({1, 4, 2}, {-0.067499995, -0.26250002, 1.0125, -0.03249997, 0.8825, -0.62249994, -1.2175,
                      -1.1424999})},
     1e-05},
    {"DFT",
     R"(arg { name: "omitted_inputs" ints: 1 })",
     {F32({1, 4, 3, 1},
          {1.29, 2.04, -2.32, 0.67, -1.67, -2.76, -1.32, -1.24, -2.2, 1.34, -1.78, 1.75}),
      I64({}, {-3})},
     {F32({1, 4, 3, 2}, {1.98,         0,
                         -2.65,        0,
                         -5.5299997,   0,
                         2.6100001,    0.67,
                         3.28,         -0.110000014,
                         -0.119999886, 4.51,
                         -2.0400002,   0,
                         4.25,         0,
                         -3.51,        0,
                         2.6100001,    -0.67,
                         3.28,         0.110000014,
                         -0.119999886, -4.51})},
     1e-05},
    {"DFT",
     R"(arg { name: "inverse" i: 1 } arg { name: "onesided" i: 1 })",
     {F32({1, 4, 2}, {1.34, -0.92, -1.68, -1.59, -2.34, 2.64, 0.25, 2.37})},
     {F32({1, 6, 1}, {-1.075, -0.011442244, 2.156096, -0.038333297, -0.2860958, 0.59477556})},
     1e-05},
    {"DFT",
     R"(arg { name: "inverse" i: 1 } arg { name: "onesided" i: 1 })",
     {F64({1, 3, 2}, {2.319999933242798, -2.9200000762939453, 2.2100000381469727,
                      -1.190000057220459, 2.690000057220459, -2.9000000953674316}),
      I64({}, {5})},
     {F64({1, 5, 1}, {2.4240000247955322, 1.0012025485328113, -0.7421085573409836,
                      0.9047710459345185, -1.2678651286790807})},
     1e-12},
};

TEST(DftTest, AgreesWithTheReference) {
  for (const OnnxCase& c : kCases) ExpectOnnxCase(c);
}

// Feeds the inputs of a case and expects that the operator throws.
void ExpectCaseThrows(const OnnxCase& c, const std::string& error) {
  SCOPED_TRACE(OnnxCaseOp(c));
  Workspace ws;
  FeedOnnxCase(&ws, c);
  ExpectThrows([&] { RunOp(&ws, OnnxCaseOp(c)); }, error);
}

// The transform of a shifted impulse has known values for every length.
TEST(DftTest, TransformsEveryLength) {
  for (const int n : {1, 2, 3, 8, 12, 17, 64, 97}) {
    std::vector<double> x(static_cast<size_t>(n), 0), y;
    x[static_cast<size_t>(n / 2)] = 1;
    for (int k = 0; k < n; ++k) {
      const double angle = -2 * 3.14159265358979323846 * k * (n / 2) / n;
      y.push_back(std::cos(angle));
      y.push_back(std::sin(angle));
    }
    ExpectOnnxCase({"DFT", "", {F64({1, n, 1}, x)}, {F64({1, n, 2}, y)}, 1e-12});
  }
}

// The elements 0 and n / 2 of the spectrum of a real signal are real. Whatever stands as their
// imaginary parts is not read: {4, 2, -4} is the spectrum of {1, 2, -1, 2}.
TEST(DftTest, ReadsNoImaginaryPartsThatARealSignalDoesNotHave) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double first : {0., 7., infinity}) {
    for (const double last : {0., -3., infinity}) {
      ExpectOnnxCase({"DFT",
                      R"(arg { name: "inverse" i: 1 } arg { name: "onesided" i: 1 })",
                      {F64({1, 3, 2}, {4, first, 2, 0, -4, last})},
                      {F64({1, 4, 1}, {1, 2, -1, 2})},
                      1e-12});
    }
  }
}

TEST(DftTest, RejectsOtherShapes) {
  ExpectCaseThrows({"DFT", "", {F32({2, 3}, {1, 2, 3, 4, 5, 6})}, {F32({}, {})}},
                   "the last of size 1 (real) or 2 (complex)");
  ExpectCaseThrows({"DFT", "", {F32({1, 2, 1}, {1, 2}), I64({}, {0})}, {F32({}, {})}},
                   "length of a Fourier transform is 0");
  ExpectCaseThrows({"DFT", "", {F32({1, 2, 1}, {1, 2}), I64({}, {2}), I64({}, {2})}, {F32({}, {})}},
                   "input 2 (axis) is 2");
}

}  // namespace
}  // namespace caffe2rt::dft_test
